"""Targets and sources that are not what the stream was started on.

A stream follows its target through promotion.  A copy of the target, or a
source or slot that does not fit, refuses by name: never a silent gap.
"""
import re

import psycopg2
import pytest

from lib import PgServer, make_stream, point_at, wait_until
from lib.pgserver import Db
from lib.rounds import (FAST, check_equal, confirmed, lsn,
                        position, refused_start)
from lib.streams import Stream

TABLE = "CREATE TABLE sl1 (id int PRIMARY KEY, v text)"


@pytest.fixture(scope="module")
def source():
    server = PgServer("moved-source", preload="").start()
    yield server
    server.destroy()


@pytest.fixture
def new_target(make_pg):
    """A target of its own: these tests copy, promote and stop it."""
    return make_pg("moved-target", conf=FAST)


@pytest.fixture(scope="module")
def shared_target():
    server = PgServer("moved-shared", conf=FAST).start()
    yield server
    server.destroy()


def begin(source, target, **args):
    src = source.fresh_db("moved")
    dst = target.fresh_db("moved", extension=True)
    for db in (src, dst):
        db.execute(TABLE)
    src.execute("INSERT INTO sl1 SELECT i, 'copied' FROM generate_series(1, 50) AS i")
    stream = make_stream(src, dst, **args)
    stream.caught_up()
    return stream


@pytest.fixture
def stream(source, shared_target):
    stream = begin(source, shared_target)
    yield stream
    stream.dst.destroy()
    stream.src.destroy()


def add(stream, first, last):
    stream.src.execute("INSERT INTO sl1 SELECT i, 'new' FROM generate_series(%s, %s)"
                       " AS i", first, last)


def elsewhere(stream, server, dbname=None):
    """The same stream as it is found on another server or in another database."""
    return Stream(stream.src, Db(server, dbname or stream.dst.name), stream.id,
                  stream.server)


# -- the target ---------------------------------------------------------------

def test_promoted_target(source, new_target):
    """The standby of the target is promoted: the stream goes on there."""
    stream = begin(source, new_target)
    standby = new_target.standby()
    try:
        add(stream, 100, 200)
        stream.caught_up()
        assert standby.value("SELECT count(*) FROM sluice.health",
                             dbname=stream.dst.name) == 1
        new_target.replayed(standby)
        new_target.stop("fast")
        add(stream, 300, 400)
        standby.promote()
        there = elsewhere(stream, standby)
        row = there.wait_state("streaming")
        assert row["marker"] is None, row
        check_equal(there, ["sl1"])
        standby.restart("immediate")     # and it stays its place
        add(stream, 500, 510)
        there.wait_state("streaming")
        check_equal(there, ["sl1"])
        there.stop()
        there.drop()
    finally:
        standby.destroy()


def test_promoted_target_that_lagged(source, new_target):
    """The standby never got what was confirmed: refused, no gap."""
    stream = begin(source, new_target)
    standby = new_target.standby()
    try:
        new_target.replayed(standby)
        standby.stop("fast")
        before = position(stream)
        add(stream, 100, 200)
        stream.caught_up()
        wait_until(lambda: lsn(confirmed(stream)) > lsn(before), 30,
                   "nothing is confirmed")
        new_target.kill9()
        standby.start()
        standby.promote()
        there = elsewhere(stream, standby)
        row = there.wait_refused("POSITION-BEHIND-SLOT")
        assert row["hint"] and row["fingerprint"], row
        assert there.dst.value("SELECT count(*) FROM sl1 WHERE id > 99") == 0
        assert [r["marker"] for r in there.refusals()] == ["POSITION-BEHIND-SLOT"]
        there.drop()
    finally:
        standby.destroy()


def held_copy(stream, make_copy):
    """Make a copy of the database while its stream should run and does not."""
    target = stream.dst.server
    target.reload(**{"sluice.autostart": "off"})
    stream.dst.execute("SELECT pg_terminate_backend(%s, 10000)", stream.pid())
    wait_until(lambda: not stream.dst.value(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = %s"
        " AND backend_type LIKE '%%sluice%%'", stream.dst.name), 30)
    try:
        make_copy()
    finally:
        target.reload(**{"sluice.autostart": "on"})


def refuses_to_move(copy):
    """The copy's stream: refused, with a way to adopt; returns the fingerprint."""
    row = copy.wait_refused("TARGET-MOVED")
    assert "adopt" in row["hint"] and "sync_drop" in row["hint"], row["hint"]
    assert [r["marker"] for r in copy.refusals()] == ["TARGET-MOVED"]
    with pytest.raises(psycopg2.Error, match="^TARGET-MOVED:") as e:
        copy.start(source=False)
    assert row["fingerprint"] in e.value.diag.message_hint
    with pytest.raises(psycopg2.Error, match="^TARGET-MOVED:"):
        copy.start(source=False, options={"adopt": "0" * 12})
    return row["fingerprint"]


def test_cloned_database(stream, shared_target):
    """CREATE DATABASE … TEMPLATE: the clone refuses, the original goes on."""
    clone = stream.dst.name + "_clone"
    held_copy(stream, lambda: shared_target.execute(
        'CREATE DATABASE "%s" TEMPLATE "%s"' % (clone, stream.dst.name)))
    copy = elsewhere(stream, shared_target, clone)
    try:
        refuses_to_move(copy)
        add(stream, 100, 150)
        check_equal(stream, ["sl1"])
        assert copy.dst.value("SELECT count(*) FROM sl1") == 50
        copy.drop(clean_source=False)
        assert stream.slot()["active"], "dropping the copy touched the slot"
    finally:
        copy.dst.destroy()


def test_cloned_database_of_a_stopped_stream(stream, shared_target):
    """The clone's stream is stopped as well; started, it refuses."""
    clone = stream.dst.name + "_clone"
    stream.stop()
    shared_target.execute('CREATE DATABASE "%s" TEMPLATE "%s"'
                          % (clone, stream.dst.name))
    copy = elsewhere(stream, shared_target, clone)
    try:
        refused_start(copy, "TARGET-MOVED", source=False)
        stream.start()
        add(stream, 100, 150)
        check_equal(stream, ["sl1"])
        copy.drop(clean_source=False)
    finally:
        copy.dst.destroy()


def test_adopted_clone(stream, shared_target):
    """With the fingerprint the clone takes the stream over, without a gap."""
    clone = stream.dst.name + "_clone"
    stream.stop()                   # for good: what it confirms the clone lacks
    shared_target.execute('CREATE DATABASE "%s" TEMPLATE "%s"'
                          % (clone, stream.dst.name))
    copy = elsewhere(stream, shared_target, clone)
    try:
        with pytest.raises(psycopg2.Error, match="^TARGET-MOVED:") as e:
            copy.start(source=False)
        fingerprint = re.search(r'"adopt": "(\w+)"', e.value.diag.message_hint)[1]
        copy.start(source=False, options={"adopt": fingerprint})
        add(stream, 100, 150)
        check_equal(copy, ["sl1"])
        copy.stop()
        copy.start(source=False)    # its own place now, without asking again
        add(stream, 200, 210)
        check_equal(copy, ["sl1"])
        refused_start(stream, "STREAM-BUSY", "POSITION-BEHIND-SLOT", source=False)
        copy.stop()
        stream.drop(clean_source=False)
        copy.drop()
        assert not stream.src.value("SELECT count(*) FROM pg_replication_slots"
                                    " WHERE database = current_database()")
    finally:
        copy.dst.destroy()


def test_restored_dump(stream, make_pg):
    """pg_dump into another cluster: its stream refuses, the original goes on."""
    target = stream.dst.server
    dump = target.run("pg_dump", "-h", target.sockdir, "-p", target.port, "-U",
                      "postgres", stream.dst.name).stdout
    other = make_pg("moved-restore", conf=FAST)
    other.execute('CREATE DATABASE "%s" TEMPLATE template0' % stream.dst.name)
    other.psql(dump, dbname=stream.dst.name)
    copy = elsewhere(stream, other)
    refuses_to_move(copy)
    add(stream, 100, 150)
    check_equal(stream, ["sl1"])
    assert copy.dst.value("SELECT count(*) FROM sl1") == 50
    copy.drop(clean_source=False)


def test_disk_copy_beside_the_original(source, new_target):
    """A copy of the whole cluster comes up while the original runs."""
    stream = begin(source, new_target)
    clone = new_target.clone()
    try:
        copy = elsewhere(stream, clone)
        row = wait_until(lambda: _stands_still(copy), 60,
                         lambda: "the copy's health is %r" % copy.health())
        assert not row["healthy"] and row["reason"], row
        add(stream, 100, 150)
        check_equal(stream, ["sl1"])
        assert copy.dst.value("SELECT count(*) FROM sl1") == 50, "the copy took rows"
        new_target.stop("fast")
        row = wait_until(lambda: _refused(copy), 30,
                         lambda: "the copy's health is %r" % copy.health())
        assert copy.dst.value("SELECT count(*) FROM sl1") == 50
    finally:
        clone.destroy()


def _stands_still(stream):
    row = stream.health()
    ok = row["state"] == "refused" and row["marker"] in (
        "TARGET-MOVED", "POSITION-BEHIND-SLOT")
    return row if ok or row["state"] == "retrying" else None


def _refused(stream):
    row = stream.health()
    return row if row["state"] == "refused" else None


# -- DROP of what a stream needs ----------------------------------------------

def test_drops_refuse_while_a_stream_exists(stream):
    """PX-14: DROP EXTENSION and DROP DATABASE say what they would strand."""
    for stopped in (False, True):
        if stopped:
            stream.stop()
        error = stream.dst.error("DROP EXTENSION sluice")
        assert error.pgcode == "SL004" and str(error).startswith("STREAM-EXISTS:")
        error = stream.dst.error("DROP SCHEMA sluice CASCADE")
        assert error.pgcode, str(error)
        with pytest.raises(psycopg2.Error, match="^STREAM-EXISTS:"):
            stream.dst.server.execute('DROP DATABASE "%s"' % stream.dst.name)
    stream.start()
    add(stream, 100, 110)
    check_equal(stream, ["sl1"])


def test_extension_update_while_running(stream):
    """ALTER EXTENSION UPDATE to the same version disturbs nothing."""
    stream.dst.execute("ALTER EXTENSION sluice UPDATE")
    add(stream, 100, 110)
    check_equal(stream, ["sl1"])


# -- slots and positions --------------------------------------------------------

def test_slot_created_again(stream):
    """PS-01: dropped and created again between two runs."""
    name = stream.slot()["slot_name"]
    stream.stop()
    stream.src.execute("SELECT pg_drop_replication_slot(%s)", name)
    add(stream, 100, 101)
    stream.src.execute("SELECT pg_create_logical_replication_slot(%s, 'pgoutput')", name)
    add(stream, 102, 103)
    refused_start(stream, "POSITION-BEHIND-SLOT")
    assert stream.dst.value("SELECT count(*) FROM sl1") == 50


def test_slot_advanced(stream):
    """PS-05: somebody advanced the slot; the server would skip in silence."""
    name = stream.slot()["slot_name"]
    stream.stop()
    add(stream, 100, 101)
    stream.src.execute("SELECT pg_replication_slot_advance(%s, pg_current_wal_lsn())", name)
    refused_start(stream, "POSITION-BEHIND-SLOT")
    add(stream, 102, 103)
    refused_start(stream, "POSITION-BEHIND-SLOT")
    assert stream.dst.value("SELECT count(*) FROM sl1") == 50


def test_slot_dropped(stream):
    name = stream.slot()["slot_name"]
    stream.stop()
    stream.src.execute("SELECT pg_drop_replication_slot(%s)", name)
    refused_start(stream, "SLOT-MISSING")
    stream.drop()


def test_slot_dropped_while_streaming(stream):
    """The slot goes away under a running stream: a terminal refusal."""
    row = stream.slot()
    stream.src.execute("ALTER ROLE sluice_src CONNECTION LIMIT 0")
    try:
        stream.src.execute("SELECT pg_terminate_backend(%s, 10000)", row["active_pid"])
        stream.src.execute("SELECT pg_drop_replication_slot(%s)", row["slot_name"])
    finally:
        stream.src.execute("ALTER ROLE sluice_src CONNECTION LIMIT -1")
    stream.wait_refused("SLOT-MISSING")


def test_slot_of_another_database(stream, source):
    """The recorded name now is a slot of another database: not ours."""
    name = stream.slot()["slot_name"]
    stream.stop()
    stream.src.execute("SELECT pg_drop_replication_slot(%s)", name)
    source.execute("SELECT pg_create_logical_replication_slot(%s, 'pgoutput')", name)
    try:
        refused_start(stream, "SLOT-MISSING", "POSITION-BEHIND-SLOT")
    finally:
        source.execute("SELECT pg_drop_replication_slot(%s)", name)


def test_lost_slot(make_pg, shared_target):
    """The source removed WAL that the slot needed."""
    source = make_pg("moved-lost", preload="", conf={
        "max_slot_wal_keep_size": "1MB", "max_wal_size": "32MB",
        "min_wal_size": "32MB"})
    stream = begin(source, shared_target)
    try:
        stream.stop()
        source.execute("CREATE TABLE filler (v text)")
        for _ in range(4):
            source.execute("INSERT INTO filler SELECT repeat('x', 1000) FROM"
                           " generate_series(1, 2000); SELECT pg_switch_wal(); CHECKPOINT")
        assert stream.src.value("SELECT wal_status FROM pg_replication_slots"
                                " WHERE slot_name = %s",
                                stream.health()["slot_name"]) == "lost"
        refused_start(stream, "SLOT-LOST")
        assert not stream.health()["healthy"]
        stream.drop()
    finally:
        stream.dst.destroy()


# -- the source ------------------------------------------------------------------

def test_other_source(stream, make_pg):
    """Another system behind the same address."""
    stream.stop()
    other = make_pg("moved-other", preload="")
    other.execute('CREATE DATABASE "%s"' % stream.src.name)
    there = Db(other, stream.src.name)
    there.execute(TABLE)
    point_at(stream, other)
    refused_start(stream, "SOURCE-IDENTITY-CHANGED", source=False)
    assert stream.dst.value("SELECT count(*) FROM sl1") == 50
    point_at(stream, stream.src.server)
    stream.start(source=False)
    add(stream, 100, 110)
    check_equal(stream, ["sl1"])


def test_other_source_while_running(stream, make_pg):
    """The address changes hands under a running stream."""
    other = make_pg("moved-other", preload="")
    other.execute('CREATE DATABASE "%s"' % stream.src.name)
    Db(other, stream.src.name).execute(TABLE)
    point_at(stream, other)
    stream.src.execute("SELECT pg_terminate_backend(%s, 10000)",
                       stream.slot()["active_pid"])
    stream.wait_refused("SOURCE-IDENTITY-CHANGED")


def test_other_database_of_the_source(stream, source):
    """The same system, another database."""
    stream.stop()
    other = source.fresh_db("moved_other")
    other.execute(TABLE)
    stream.dst.execute('ALTER SERVER "%s" OPTIONS (SET dbname \'%s\')'
                       % (stream.server, other.name))
    refused_start(stream, "SOURCE-IDENTITY-CHANGED", source=False)
    other.destroy()


def test_source_restored_from_an_old_copy(source, shared_target, make_pg):
    """PS-02: the source comes back as it was before rows that are here."""
    stream = begin(source, shared_target)
    old = source.clone("moved-old")
    try:
        add(stream, 100, 200)
        stream.caught_up()
        stream.stop()
        name = stream.health()["slot_name"]
        publication = stream.dst.value("SELECT publication_name FROM sluice.stream"
                                       " WHERE stream_id = %s", stream.id)
        there = Db(old, stream.src.name)
        point_at(stream, old)
        refused_start(stream, "SOURCE-BEHIND-POSITION", source=False)
        there.execute("SELECT pg_create_logical_replication_slot(%s, 'pgoutput')", name)
        assert there.value("SELECT count(*) FROM pg_publication WHERE pubname = %s",
                           publication) == 1
        refused_start(stream, "SOURCE-BEHIND-POSITION", source=False)
        assert stream.dst.value("SELECT count(*) FROM sl1") == 151
    finally:
        old.destroy()
        stream.dst.destroy()
        stream.src.destroy()


def test_promoted_source_without_the_slot(make_pg, shared_target):
    """PS-10: the source's standby takes over and has no slot: refused."""
    source = make_pg("moved-primary", preload="")
    stream = begin(source, shared_target)
    standby = source.standby()
    try:
        source.replayed(standby)
        source.stop("fast")
        standby.promote()
        point_at(stream, standby)
        row = wait_until(lambda: _refused(stream), 60,
                         lambda: "health is %r" % stream.health())
        assert row["marker"] in ("SLOT-MISSING", "SOURCE-IDENTITY-CHANGED"), row
        check_rows = stream.dst.value("SELECT count(*) FROM sl1")
        assert check_rows == 50
    finally:
        standby.destroy()
        stream.dst.destroy()
