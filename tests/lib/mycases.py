"""Ground for the cases about MySQL and MariaDB sources: a server of each kind, one
target database, one bridge, and a stream in a schema of its own for each case."""
import atexit
import json

import psycopg2
import pytest

from .bridgerun import Bridge, make_bridged_stream
from .mysqlserver import MySqlServer
from .pgserver import PgServer
from .util import wait_until

KINDS = ["mariadb10.11", "mariadb11.8", "mysql"]
MARIADB = KINDS[:2]
ON_ALL = pytest.mark.parametrize("kind", KINDS)
ON_MARIADB = pytest.mark.parametrize("kind", MARIADB)
ON_MYSQL = pytest.mark.parametrize("kind", ["mysql"])


class Ground:
    """Servers are started when the first case asks for them; destroy() ends all, but for a target that was given."""

    def __init__(self, name, target=None):
        self.own = not target
        # a case has a stream or two
        self.target = target or PgServer(name, conf={"sluice.max_streams": "256"}).start()
        self.dst = self.target.fresh_db(name, extension=True)
        self.bridge = Bridge(self.dst).start()
        self._servers = {}
        self._streams = []
        atexit.register(self.destroy)

    def server(self, kind):
        if kind not in self._servers:
            self._servers[kind] = MySqlServer(kind).start()
        return self._servers[kind]

    def prepare(self, kind, name, *ddl, **args):
        """A stream of a new source database, that is not started.  .schema is its target schema;
        args are of sync_start."""
        src = self.server(kind).fresh_db(name)
        # the copy of a table without a key takes a lock; MariaDB shows foreign keys to whom they are granted
        src.server.execute("GRANT LOCK TABLES, REFERENCES ON `%s`.* TO repl@'%%'" % src.name)
        for statement in ddl:
            src.execute(statement)
        schema = "%s_%s" % (src.name, kind.replace(".", "_"))
        stream = make_bridged_stream(src, self.dst, schema, start=False)
        stream.schema = schema
        stream.args = dict(args, target_schema=schema)
        self._streams.append(stream)
        return stream

    def begin(self, kind, name, *ddl, **args):
        """The same, copied and caught up."""
        stream = self.prepare(kind, name, *ddl, **args)
        stream.start(**stream.args)
        stream.wait("streaming")
        stream.caught_up()
        return stream

    def end_streams(self):
        """Stop and drop what the cases have begun since."""
        for stream in self._streams:
            if stream.health() is not None:
                stream.stop()
                stream.drop()
        self._streams.clear()

    def destroy(self):
        self.bridge.destroy()
        for server in self._servers.values():
            server.destroy()
        if self.own:
            self.target.destroy()
        elif self.target.is_running():
            self.dst.destroy()


def make_ground(name):
    """Fixtures (whole_ground, ground): the Ground of a module, and the same for streams that end with their case.
    In a test module: whole_ground, ground = make_ground("mb")."""
    @pytest.fixture(scope="module")
    def whole_ground():
        one = Ground(name)
        yield one
        one.destroy()

    @pytest.fixture
    def ground(whole_ground):
        yield whole_ground
        whole_ground.end_streams()
    return whole_ground, ground


def here(stream, table, what="*", order="1"):
    """Rows on the target."""
    return stream.dst.query("SELECT %s FROM %s.%s ORDER BY %s" % (what, stream.schema, table, order))


def there(stream, table, what="*", order="1"):
    """Rows on the source."""
    return [tuple(r) for r in stream.src.query("SELECT %s FROM %s ORDER BY %s" % (what, table, order))]


def assert_followed(stream, *tables):
    """Once caught up, these tables are the same, and nothing had to be bent for it."""
    stream.caught_up()
    for table in tables:
        assert here(stream, table) == there(stream, table), table
    assert not stream.conflicts()


def again(stream, between=None):
    """Stop the stream, do something, and go on from the stored position."""
    stream.stop()
    if between is not None:
        between()
    stream.start(source=False)


def assert_stands(stream, place):
    """A refused stream's position is not past a place in the log (of MySqlServer.position), and its health says
    that it stands."""
    health = stream.health()
    position = json.loads(health["position"])
    assert (position["file"], position["pos"]) <= tuple(place) and not health["healthy"], (place, health)


def copy_anew(stream):
    """What a stream that cannot go on is told to do, short of dropping it."""
    stream.stop()
    with pytest.raises(psycopg2.Error) as e:
        stream.start(source=False, restart_from_scratch=True)
    word = e.value.diag.message_hint.split("confirm => '")[1].split("'")[0]
    stream.start(source=False, restart_from_scratch=True, confirm=word)
    wait_until(lambda: stream.health()["state"] == "streaming", 60, stream.health)


def set_global(server, name, value):
    """Sets it; a function that sets it back."""
    was = server.value("SELECT @@global.%s" % name)
    server.execute("SET GLOBAL %s = %s" % (name, value))
    return lambda: server.execute("SET GLOBAL %s = %s" % (name, "'%s'" % was if isinstance(was, str) else was))
