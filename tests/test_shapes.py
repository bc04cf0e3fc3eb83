"""What is on record of a table's shape, and what the source's catalog proves of
a column when the stream is behind it.
"""
import json
import threading

from lib import caught_up_same, follow, wait_until
from lib.pairs import database_pair, server_pair

servers = server_pair("shapes")
dbs = database_pair("shapes")

FORWARD = {"schema_changes": "forward"}

RECORDED = """
SELECT r FROM sluice.schema_history h, jsonb_array_elements(sluice.feed_decode(h.shape)) r
WHERE h.table_name = %s AND r ->> 'kind' = 'shape' ORDER BY h.id DESC LIMIT 1"""


def recorded(stream, table="t"):
    """The shape on record, as feed_decode shows it."""
    return stream.dst.value(RECORDED, table)


def columns(stream, *keys, table="t"):
    """{column: the keys of it} on record."""
    return {c["name"]: tuple(c.get(k) for k in keys) for c in recorded(stream, table)["cols"]}


def test_defaults_and_attnums(dbs):
    src, dst = dbs
    stream = follow(
        src, dst, "CREATE SCHEMA app", "CREATE TYPE app.mood AS ENUM ('sad', 'ok')",
        "CREATE TABLE t (gone int, id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,"
        " n numeric(6,2) DEFAULT 1 + 0.5, m app.mood DEFAULT 'ok', s serial,"
        " at timestamptz DEFAULT now(), double numeric GENERATED ALWAYS AS (n * 2) STORED,"
        " plain text, late int)",
        "ALTER TABLE t DROP COLUMN gone, DROP COLUMN late", **FORWARD)
    assert recorded(stream)["natts"] == 9
    assert columns(stream, "attnum", "default") == {
        "id": (2, None), "n": (3, "((1)::numeric + 0.5)"), "m": (4, "'ok'::app.mood"),
        "s": (5, "nextval('public.t_s_seq'::regclass)"), "at": (6, "now()"), "plain": (8, None)}
    # and from the catalog as it is at a boundary
    src.execute("ALTER TABLE t ADD COLUMN c text DEFAULT 'it''s'")
    src.execute("INSERT INTO t (plain) VALUES ('x')")
    caught_up_same(stream, "t")
    assert recorded(stream)["natts"] == 10
    assert columns(stream, "attnum", "default")["c"] == (10, "'it''s'::text")


def test_locked_source(dbs):
    """Nothing that is read of a source's table waits for a lock on it."""
    src, dst = dbs
    stream = follow(src, dst, "CREATE TABLE t (id int PRIMARY KEY, v int DEFAULT abs(-1))",
                    **FORWARD)
    stream.stop()
    src.execute("ALTER TABLE t RENAME COLUMN v TO w")
    src.execute("INSERT INTO t (id) VALUES (1)")
    holder = src.connect(autocommit=False)
    try:
        with holder.cursor() as cur:
            cur.execute("LOCK TABLE t IN ACCESS EXCLUSIVE MODE")
        stream.start(source=False)
        stream.caught_up()
        assert dst.rows("SELECT * FROM t") == [{"id": 1, "w": 1}]
        assert columns(stream, "default")["w"] == ("abs('-1'::integer)",)
    finally:
        holder.close()


MODIFIED = ["varchar(5)", "char(5)", "bit(3)", "varbit(5)", "numeric(10,2)", "numeric(10,-2)", "timestamp(3)",
            "timestamptz(0)", "time(3)", "timetz(3)", "interval(3)", "interval day to second(3)", "interval year",
            "varchar(5)[]", "numeric(10,2)[]", "interval(3)[]", "app.mood", "app.mood[]", "app.short", "app.pair",
            "app.pair[]", "app.span"]


def test_no_change(dbs):
    """Of no type does a start, or a look at the catalog, make a change."""
    src, dst = dbs
    types = [r["t"] for r in src.rows(
        "SELECT format_type(oid, -1) AS t FROM pg_type t WHERE typnamespace = 'pg_catalog'::regnamespace"
        " AND typtype IN ('b', 'r', 'm') AND typname !~ '^_?(pg_(node|dep|mcv|ndis|dd|brin)|acl|gtsv|reg)'"
        " AND NOT EXISTS (SELECT FROM pg_type e WHERE e.oid = t.typelem AND e.typtype IN ('c', 'p'))"
        " ORDER BY oid")] + MODIFIED
    assert len(types) > 120
    stream = follow(
        src, dst, "CREATE SCHEMA app", "CREATE TYPE app.mood AS ENUM ('sad', 'ok')",
        "CREATE DOMAIN app.short AS varchar(5) CHECK (value <> '')",
        "CREATE TYPE app.pair AS (n numeric(5,1), m app.mood)", "CREATE TYPE app.span AS RANGE (subtype = app.short)",
        "CREATE TABLE t (id int PRIMARY KEY, %s)" % ", ".join(
            "c%d %s" % (n, t) for n, t in enumerate(types)), **FORWARD)
    src.execute("INSERT INTO t (id) VALUES (1)")
    caught_up_same(stream, "t")
    shape = recorded(stream)
    stream.stop()
    src.execute("INSERT INTO t (id) VALUES (2)")
    stream.start(source=False)
    caught_up_same(stream, "t")
    # the catalog's rows of all columns are written anew, and nothing is changed
    src.execute("ANALYZE t")
    src.execute("ALTER TABLE t %s" % ", ".join("ALTER c%d SET STATISTICS 7" % n for n in range(len(types))))
    src.execute("INSERT INTO t (id) VALUES (3)")
    caught_up_same(stream, "t")
    assert recorded(stream) == shape
    assert dst.value("SELECT count(*) FROM sluice.schema_event") == 0


def test_recorded_by_the_release_before(dbs):
    """A shape that an older release recorded stays the one to go on from."""
    src, dst = dbs
    stream = follow(src, dst, "CREATE TABLE t (id int PRIMARY KEY, x int, v int DEFAULT 1)",
                    "ALTER TABLE t DROP COLUMN x", **FORWARD)
    stream.stop()
    dst.execute("UPDATE sluice.schema_history SET shape = sluice.feed_encode(%s::jsonb)",
                json.dumps([{"kind": "header", "version": 3}, recorded(stream)]))
    assert dst.value("SELECT sluice.feed_decode(shape) -> 0 ->> 'version' FROM sluice.schema_history") == "3"
    stream.start(source=False)
    src.execute("INSERT INTO t VALUES (1, 1)")
    src.execute("ALTER TABLE t ADD COLUMN c int, ADD COLUMN d int")
    src.execute("INSERT INTO t VALUES (2, 2, 2, 2)")
    caught_up_same(stream, "t")
    assert columns(stream, "attnum") == {"id": (1,), "v": (3,), "c": (4,), "d": (5,)}


BEHIND = [
    # what the source does while the stream is stopped, one row after each
    "ALTER TABLE t ADD COLUMN c int",
    "ALTER TABLE t ADD COLUMN d text DEFAULT 'd'",
    "ALTER TABLE t RENAME COLUMN v TO w",
    "ALTER TABLE t ALTER COLUMN x TYPE varchar(40)",
    "ALTER TABLE t DROP COLUMN y",
    "ALTER TABLE t ADD COLUMN v int",
    "ALTER TABLE t RENAME COLUMN x TO z",
]


def test_behind(dbs):
    """Each change is taken for what it was, whatever came after it."""
    src, dst = dbs
    stream = follow(src, dst, "CREATE TABLE t (id int PRIMARY KEY, old int, v int, x varchar(5), y int)",
                    "ALTER TABLE t DROP COLUMN old", **FORWARD)
    src.execute("INSERT INTO t VALUES (0, 0, 'zero', 0)")
    caught_up_same(stream, "t")
    stream.stop()
    for n, ddl in enumerate(BEHIND, 1):
        src.execute(ddl)
        src.execute("INSERT INTO t (id) VALUES (%s)", n)
    stream.start(source=False)
    caught_up_same(stream, "t")
    assert columns(stream, "attnum", "default") == {
        "id": (1, None), "w": (3, None), "z": (4, None), "c": (6, None),
        "d": (7, "'d'::text"), "v": (8, None)}


def test_behind_a_replaced_column(dbs):
    """Two columns of one name: nothing is claimed of the row's, nothing written."""
    src, dst = dbs
    stream = follow(src, dst, "CREATE TABLE t (id int PRIMARY KEY)", **FORWARD)
    src.execute("INSERT INTO t VALUES (0)")
    caught_up_same(stream, "t")
    stream.stop()
    src.execute("ALTER TABLE t ADD COLUMN c int")
    src.execute("INSERT INTO t VALUES (1, 1)")
    src.execute("ALTER TABLE t DROP COLUMN c")
    src.execute("ALTER TABLE t ADD COLUMN c int")
    src.execute("INSERT INTO t VALUES (2, 2)")
    stream.start(source=False)
    stream.wait_refused("RESUME-SCHEMA-DIVERGENCE")
    assert "column" in stream.refusals()[-1]["detail"], stream.refusals()
    assert dst.rows("SELECT * FROM t") == [{"id": 0}]
    assert columns(stream, "attnum") == {"id": (1,)}


def test_replaced_column(dbs):
    """Dropped and added again is seen though the row looks the same, and passes
    once the target has done the same."""
    src, dst = dbs
    stream = follow(src, dst, "CREATE TABLE t (id int PRIMARY KEY, c int)", **FORWARD)
    src.execute("INSERT INTO t VALUES (1, 1)")
    caught_up_same(stream, "t")
    src.execute("ALTER TABLE t DROP COLUMN c, ADD COLUMN c int")
    src.execute("INSERT INTO t VALUES (2, 2)")
    stream.wait_refused("COLUMN-IDENTITY-CHANGED")
    assert dst.rows("SELECT * FROM t") == [{"id": 1, "c": 1}]
    dst.execute("ALTER TABLE t DROP COLUMN c, ADD COLUMN c int")
    stream.start(source=False)
    caught_up_same(stream, "t")
    assert columns(stream, "attnum") == {"id": (1,), "c": (3,)}


def test_contracted_behind(dbs):
    """A column is replaced by way of another name, the stream being behind."""
    src, dst = dbs
    stream = follow(src, dst, "CREATE TABLE t (id int PRIMARY KEY, c int)", **FORWARD)
    src.execute("INSERT INTO t VALUES (0, 0)")
    caught_up_same(stream, "t")
    stream.stop()
    src.execute("INSERT INTO t VALUES (1, 1)")
    for n, ddl in enumerate(["ADD COLUMN c_new bigint", "DROP COLUMN c", "RENAME COLUMN c_new TO c"], 2):
        src.execute("ALTER TABLE t " + ddl)
        src.execute("INSERT INTO t (id) VALUES (%s)", n)
        src.execute("UPDATE t SET %s = id * 2 WHERE id > 1" % ("c" if n == 4 else "c_new"))
    stream.start(source=False)
    caught_up_same(stream, "t")
    assert columns(stream, "attnum") == {"id": (1,), "c": (3,)}


def test_replaced_under_an_open_transaction(dbs):
    """A transaction that is older than the change and writes after it hides it;
    the table's next one does not."""
    src, dst = dbs
    stream = follow(src, dst, "CREATE TABLE other (id int PRIMARY KEY)",
                    "CREATE TABLE t (id int PRIMARY KEY, c int)", **FORWARD)
    src.execute("INSERT INTO t VALUES (1, 1)")
    caught_up_same(stream, "t")
    older = src.connect(autocommit=False)
    try:
        with older.cursor() as cur:
            cur.execute("INSERT INTO other VALUES (1)")
            src.execute("ALTER TABLE t DROP COLUMN c, ADD COLUMN c int")
            cur.execute("INSERT INTO t VALUES (2, 2)")
        older.commit()
    finally:
        older.close()
    src.execute("INSERT INTO t VALUES (3, 3)")
    stream.wait_refused("COLUMN-IDENTITY-CHANGED")
    assert {"id": 3, "c": 3} not in dst.rows("SELECT * FROM t")


def test_replaced_by_a_commit_that_is_not_seen_yet(dbs):
    """Neither the wire nor the catalog shows it then; the table's next transaction
    is looked at once more."""
    src, dst = dbs
    stream = follow(src, dst, "CREATE TABLE t (id int PRIMARY KEY, c int)", **FORWARD)
    src.execute("INSERT INTO t VALUES (1, 1)")
    caught_up_same(stream, "t")
    src.server.reload(synchronous_standby_names="nobody")
    conn = src.connect(autocommit=False)
    waits = threading.Thread(target=conn.commit)
    try:
        with conn.cursor() as cur:
            cur.execute("SET synchronous_commit = on; ALTER TABLE t DROP COLUMN c, ADD COLUMN c int;"
                        " INSERT INTO t VALUES (2, 2)")
        waits.start()
        wait_until(lambda: dst.value("SELECT count(*) FROM t") == 2, 60,
                   lambda: "row 2 is not here: %r" % stream.health())
    finally:
        src.server.reload(synchronous_standby_names="")
        waits.join()
        conn.close()
    src.execute("INSERT INTO t VALUES (3, 3)")
    stream.wait_refused("COLUMN-IDENTITY-CHANGED")
    assert dst.value("SELECT count(*) FROM t") == 2
