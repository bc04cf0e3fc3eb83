"""What a stream leaves on its source: nothing, after sync_drop or a start
that was refused."""
import hashlib

import psycopg2
import pytest

from lib import PgServer, make_stream, wait_until
from lib.rounds import FAST, check_equal
from lib.writers import FILL, SCHEMA, TABLES

# Columns that move by themselves: statistics, freezing, positions of storage.
MOVING = """{reltuples,relpages,relallvisible,relallfrozen,relfrozenxid,
    relminmxid,relfilenode,datfrozenxid,datminmxid,reltoastrelid,last_value,
    is_called,stxdndistinct}"""

NOT_LOOKED_AT = ("pg_statistic", "pg_statistic_ext_data", "pg_largeobject")


@pytest.fixture(scope="module")
def servers():
    source = PgServer("clean-source", preload="").start()
    target = PgServer("clean-target", conf=FAST).start()
    yield source, target
    target.destroy()
    source.destroy()


@pytest.fixture
def dbs(servers):
    source, target = servers
    if not source.is_running():
        source.start()
    src = source.fresh_db("clean")
    dst = target.fresh_db("clean", extension=True)
    src.execute(SCHEMA + FILL)
    dst.execute(SCHEMA)
    yield src, dst
    dst.destroy()
    if not source.is_running():
        source.start()
    src.destroy()


def catalogs(db):
    """{catalog: rows as sorted text} of every system catalog, and the slots."""
    out = {}
    names = [r[0] for r in db.execute(
        "SELECT relname FROM pg_catalog.pg_class WHERE relnamespace ="
        " 'pg_catalog'::regnamespace AND relkind = 'r' AND relname <> ALL (%s)"
        " ORDER BY 1", list(NOT_LOOKED_AT))]
    conn = db.connect()
    with conn.cursor() as cur:
        for name in names:
            cur.execute("SELECT (pg_catalog.to_jsonb(t) - %%s::text[])::text AS r"
                        " FROM pg_catalog.%s AS t ORDER BY 1" % name, (MOVING,))
            # schemas of temporary tables stay, whoever made one first
            out[name] = [r[0] for r in cur.fetchall()
                         if '"nspname": "pg_t' not in r[0]]
        cur.execute("SELECT slot_name, plugin, database FROM"
                    " pg_catalog.pg_replication_slots ORDER BY 1")
        out["slots"] = [repr(r) for r in cur.fetchall()]
        cur.execute("SELECT name, setting FROM pg_catalog.pg_settings ORDER BY 1")
        out["settings"] = [repr(r) for r in cur.fetchall()]
    conn.close()
    assert out["pg_publication"] is not None and len(out["pg_class"]) > 300
    return out


def assert_same_catalogs(before, after):
    assert before.keys() == after.keys()
    for name in before:
        gone = set(before[name]) - set(after[name])
        new = set(after[name]) - set(before[name])
        assert not gone and not new, "%s: gone %r, new %r" % (name, gone, new)
        assert before[name] == after[name], name


def test_the_look_sees_changes(dbs):
    """A comparison that misses a publication or a trigger proves nothing."""
    src, _ = dbs
    before = catalogs(src)
    assert_same_catalogs(before, catalogs(src))
    for make, undo in (("CREATE PUBLICATION p FOR TABLE acct", "DROP PUBLICATION p"),
                       ("COMMENT ON TABLE acct IS 'x'", "COMMENT ON TABLE acct IS NULL"),
                       ("ALTER TABLE acct REPLICA IDENTITY FULL",
                        "ALTER TABLE acct REPLICA IDENTITY DEFAULT"),
                       ("SELECT pg_create_logical_replication_slot('x', 'pgoutput')",
                        "SELECT pg_drop_replication_slot('x')")):
        src.execute(make)
        with pytest.raises(AssertionError):
            assert_same_catalogs(before, catalogs(src))
        src.execute(undo)
    assert_same_catalogs(before, catalogs(src))


def test_drop_leaves_the_source_as_it_was(dbs):
    src, dst = dbs
    before = catalogs(src)
    stream = make_stream(src, dst)
    src.execute("INSERT INTO hist SELECT i, 1, 1 FROM generate_series(1, 100) AS i")
    check_equal(stream, TABLES)
    assert stream.slot() and len(catalogs(src)["pg_publication"]) == 1
    error = dst.error("SELECT sluice.sync_drop(%s)", stream.id)
    assert error.pgcode == "55006", (error.pgcode, str(error))
    stream.stop()
    stream.drop()
    assert_same_catalogs(before, catalogs(src))
    assert dst.value("SELECT count(*) FROM sluice.stream") == 0
    assert stream.health() is None
    assert dst.value("SELECT count(*) FROM hist") == 100, "target tables stay"


def test_drop_in_mid_copy(dbs):
    """PS-28: stopped while it copies, then dropped."""
    src, dst = dbs
    before = catalogs(src)
    locker = dst.connect(autocommit=False)
    with locker.cursor() as cur:
        cur.execute("LOCK TABLE rekeyed IN SHARE ROW EXCLUSIVE MODE")
    stream = make_stream(src, dst, wait="copying")
    wait_until(lambda: stream.health()["state"] in ("copying", "retrying"), 30)
    try:
        stream.stop(timeout="20 s")
    finally:
        locker.rollback()
        locker.close()
    stream.wait_state("stopped")
    stream.drop()
    assert_same_catalogs(before, catalogs(src))


def test_drop_keeps_what_is_not_ours(dbs):
    """A publication taken by name, and other slots, stay."""
    src, dst = dbs
    src.execute("CREATE PUBLICATION theirs FOR TABLE %s" % ", ".join(TABLES)
                + " WITH (publish_via_partition_root = true)")
    src.execute("SELECT pg_create_logical_replication_slot('theirs', 'pgoutput')")
    before = catalogs(src)
    stream = make_stream(src, dst, options={"publication_name": "theirs"})
    stream.caught_up()
    stream.stop()
    stream.drop()
    assert_same_catalogs(before, catalogs(src))
    src.execute("SELECT pg_drop_replication_slot('theirs')")


@pytest.mark.parametrize("fault,cure", [
    ("ALTER TABLE keyless REPLICA IDENTITY DEFAULT", "source"),
    ("ALTER TABLE acct ALTER note TYPE varchar(3)", "target"),
    ("ALTER TABLE hist DROP COLUMN delta", "target"),
])
def test_failed_preflight_leaves_nothing(dbs, fault, cure):
    """PS-28: all that is wrong is raised; no slot, publication or record."""
    src, dst = dbs
    (src if cure == "source" else dst).execute(fault)
    before = catalogs(src)
    stream = make_stream(src, dst, start=False)
    with pytest.raises(psycopg2.Error) as e:
        stream.start()
    assert e.value.pgcode == "SL001", (e.value.pgcode, str(e.value))
    assert str(e.value).startswith("PREFLIGHT-FAILED:")
    assert_same_catalogs(before, catalogs(src))
    assert dst.value("SELECT count(*) FROM sluice.stream") == 0
    assert dst.value("SELECT count(*) FROM sluice.refusals") == 0


def test_drop_when_the_source_is_gone(servers, dbs):
    """An error whose hint says how; with clean_source => false it goes."""
    src, dst = dbs
    stream = make_stream(src, dst)
    stream.stop()
    slot = stream.health()["slot_name"]
    servers[0].stop("fast")
    error = dst.error("SELECT sluice.sync_drop(%s)", stream.id)
    assert "clean_source => false" in (error.diag.message_hint or ""), str(error)
    assert stream.health()["state"] == "stopped", "the failed drop forgot it"
    stream.drop(clean_source=False)
    assert stream.health() is None
    servers[0].start()
    assert src.value("SELECT count(*) FROM pg_replication_slots WHERE slot_name = %s",
                     slot) == 1
    rows = dst.rows("SELECT * FROM sluice.slot_list(%s)", stream.server)
    assert slot in [r["slot_name"] for r in rows], rows
    dst.execute("SELECT sluice.slot_drop(%s, %s)", stream.server, slot)
    assert src.value("SELECT count(*) FROM pg_replication_slots WHERE slot_name = %s",
                     slot) == 0


def test_slot_drop_takes_only_ours(dbs):
    src, dst = dbs
    stream = make_stream(src, dst, start=False)
    src.execute("SELECT pg_create_logical_replication_slot('theirs', 'pgoutput')")
    dst.error("SELECT sluice.slot_drop(%s, 'theirs')", stream.server)
    assert src.value("SELECT count(*) FROM pg_replication_slots"
                     " WHERE slot_name = 'theirs'") == 1
    src.execute("SELECT pg_drop_replication_slot('theirs')")


def test_stream_made_again_after_drop(dbs):
    """The same name again: a new stream, a new slot, no memory of the old."""
    src, dst = dbs
    for _ in range(2):
        stream = make_stream(src, dst, server="again%d" % _)
        stream.caught_up()
        stream.stop()
        stream.drop()
        dst.execute("TRUNCATE %s" % ", ".join(TABLES))
    assert not src.value("SELECT count(*) FROM pg_replication_slots"
                         " WHERE database = current_database()")


def test_digest_of_the_catalogs_is_stable(dbs):
    """Twice the same look, without anything done, is the same text."""
    src, _ = dbs
    one, two = (hashlib.sha256(repr(sorted(catalogs(src).items())).encode())
                for _ in range(2))
    assert one.digest() == two.digest()
