"""Streams of MySQL and MariaDB sources that are copied and followed, and whether the target has
what the source has."""
import pytest

from .bridgerun import make_bridged_stream
from .util import wait_until


@pytest.fixture
def follow(dst, make_bridge):
    """follow(src, ddl, ...): a stream of new tables, copied and caught up; .bridge feeds it."""
    def begin(src, *ddl, **args):
        for statement in ddl:
            src.execute(statement)
        # the copy of a table without a key takes a lock
        src.server.execute("GRANT LOCK TABLES ON `%s`.* TO repl@'%%'" % src.name)
        stream = make_bridged_stream(src, dst, **args)
        stream.bridge = make_bridge(dst)
        stream.wait("streaming")
        stream.caught_up()
        return stream
    return begin


def rows(db, table, order):
    return [tuple(r) for r in db.query("SELECT * FROM %s ORDER BY %s" % (table, order))]


def assert_same(stream, *tables, order="1"):
    for table in tables:
        assert rows(stream.src, table, order) == rows(stream.dst, table, order), table


def assert_followed(stream, *tables, **kw):
    stream.caught_up()
    assert_same(stream, *tables, **kw)
    assert not stream.conflicts()


def unfed(stream):
    wait_until(lambda: stream.health()["pid"] is None, 60, "the session's end")


def leave(stream):
    """The bridge goes."""
    assert stream.bridge.stop() == 0
    unfed(stream)
