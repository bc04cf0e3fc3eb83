"""verify finds every planted fault, and none where there is none."""
import subprocess
import threading

import psycopg2
import pytest

from lib import make_stream, wait_until
from lib.util import as_server_user

TABLES = """
CREATE TYPE mood AS ENUM ('sad', 'glad');
CREATE TABLE v (
    id int PRIMARY KEY, n numeric, f float8, s text, c char(8), big text,
    j json, jb jsonb, ts timestamptz, b bytea, e mood, a text[]);
CREATE TABLE v2 (LIKE v INCLUDING ALL);
CREATE TABLE keyless (a int, b text);
CREATE TABLE two (x text, y int, z text, PRIMARY KEY (x, y) INCLUDE (z));
CREATE TABLE parted (id int, r int, t text, PRIMARY KEY (id, r))
    PARTITION BY LIST (r);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES IN (1);
CREATE TABLE parted_2 PARTITION OF parted FOR VALUES IN (2) PARTITION BY HASH (id);
CREATE TABLE parted_2a PARTITION OF parted_2 FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE parted_2b PARTITION OF parted_2 FOR VALUES WITH (MODULUS 2, REMAINDER 1);
CREATE TABLE gen (id int PRIMARY KEY, w int, g int GENERATED ALWAYS AS (w * 2) STORED);
CREATE TABLE "Odd ""name" ("k ""1" int PRIMARY KEY, "select" text);
CREATE TABLE empty (id int PRIMARY KEY);
"""

ROWS = """
ALTER TABLE keyless REPLICA IDENTITY FULL;
INSERT INTO v SELECT i, 1.0, 0.0, NULL, 'x', repeat('ab', 60000) || i,
    '{"a": 1}', '{"a": 1}', '2024-01-01 00:00:00.000001+00', '\\x00ff', 'sad',
    ARRAY['p', NULL, 'q'] FROM generate_series(1, 20) AS i;
INSERT INTO v2 SELECT * FROM v WHERE id < 3;
INSERT INTO v2 SELECT i, 1.5 FROM generate_series(1000, 3999) AS i;
INSERT INTO keyless SELECT i % 7, 'row' FROM generate_series(1, 100) AS i;
INSERT INTO two SELECT 'k,' || i, i, 'z' FROM generate_series(1, 50) AS i;
INSERT INTO parted SELECT i, 1 + i % 2, 't' FROM generate_series(1, 200) AS i;
INSERT INTO gen SELECT i, i FROM generate_series(1, 10) AS i;
INSERT INTO "Odd ""name" SELECT i, E'line\\nend ' FROM generate_series(1, 5) AS i;
"""

# what, statement on the target, table, different rows, a key or None
FAULTS = [
    ("numeric scale", "UPDATE v SET n = 1.00 WHERE id = 1", "v", 1, "1"),
    ("minus zero", "UPDATE v SET f = '-0.0' WHERE id = 2", "v", 1, "2"),
    ("empty for null", "UPDATE v SET s = '' WHERE id = 3", "v", 1, "3"),
    ("one byte out of line",
     "UPDATE v SET big = overlay(big PLACING 'X' FROM 90000) WHERE id = 4",
     "v", 1, "4"),
    ("trailing blank",
     "UPDATE \"Odd \"\"name\" SET \"select\" = rtrim(\"select\", ' ') WHERE \"k \"\"1\" = 5",
     'Odd "name', 1, "5"),
    ("padding", "UPDATE v SET c = 'y' WHERE id = 5", "v", 1, "5"),
    ("json text", "UPDATE v SET j = '{\"a\":1}' WHERE id = 6", "v", 1, "6"),
    ("jsonb", "UPDATE v SET jb = '{\"a\": 1.0}' WHERE id = 7", "v", 1, "7"),
    ("timestamptz",
     "UPDATE v SET ts = ts + interval '1 microsecond' WHERE id = 8", "v", 1, "8"),
    ("bytea", "UPDATE v SET b = '\\x00fe' WHERE id = 9", "v", 1, "9"),
    ("enum", "UPDATE v SET e = 'glad' WHERE id = 10", "v", 1, "10"),
    ("null in an array",
     "UPDATE v SET a = ARRAY['p', 'NULL', 'q'] WHERE id = 11", "v", 1, "11"),
    ("missing", "DELETE FROM v WHERE id = 12", "v", 1, "12"),
    ("missing among many", "DELETE FROM v2 WHERE id = 2345", "v2", 1, "2345"),
    ("all gone", "DELETE FROM v2", "v2", 3002, None),
    ("extra", "INSERT INTO v (id) VALUES (999)", "v", 1, "999"),
    ("extra in an empty table", "INSERT INTO empty VALUES (1)", "empty", 1, "1"),
    ("two faults that even out",
     "DELETE FROM v WHERE id = 13; INSERT INTO v (id) VALUES (14000)",
     "v", 2, "14000"),
    ("key of two columns", "UPDATE two SET z = 'Z' WHERE y = 7", "two", 1,
     '("k,7",7)'),
    ("other key", "UPDATE two SET y = 1000 WHERE y = 8", "two", 2, None),
    ("doubled row", "INSERT INTO keyless SELECT * FROM keyless LIMIT 1",
     "keyless", 1, None),
    ("two doubled rows",
     "INSERT INTO keyless SELECT * FROM keyless LIMIT 1;"
     "INSERT INTO keyless SELECT * FROM keyless LIMIT 1", "keyless", 2, None),
    ("one of equal rows missing",
     "DELETE FROM keyless WHERE ctid = (SELECT min(ctid) FROM keyless)",
     "keyless", 1, None),
    ("changed row without a key",
     "UPDATE keyless SET b = 'other' WHERE ctid = (SELECT min(ctid) FROM keyless)",
     "keyless", 1, "(1,other)"),
    ("misrouted to another table",
     "INSERT INTO v2 SELECT * FROM v WHERE id = 20; DELETE FROM v WHERE id = 20",
     "v", 1, "20"),
    ("generated column",
     "ALTER TABLE gen ALTER g DROP EXPRESSION; UPDATE gen SET g = 5 WHERE id = 1;"
     "ALTER TABLE gen DROP g;"
     "ALTER TABLE gen ADD g int GENERATED ALWAYS AS (w * 2 + (id = 1)::int) STORED",
     "gen", 1, "1"),
]


def _keep(dst):
    """Take copies of the tables, for _restore."""
    dst.execute("""
        CREATE SCHEMA keep;
        DO $$ DECLARE t text; BEGIN
            FOREACH t IN ARRAY ARRAY['v', 'v2', 'keyless', 'two', 'parted', 'gen',
                                     'Odd "name', 'empty'] LOOP
                EXECUTE format('CREATE TABLE keep.%1$I AS TABLE public.%1$I', t);
            END LOOP;
        END $$""")


def _restore(dst, table):
    cols = {"gen": "id, w"}.get(table, "*")
    into = {"gen": "(id, w)"}.get(table, "")
    name = '"%s"' % table.replace('"', '""')
    dst.execute("TRUNCATE public.%s; INSERT INTO public.%s %s SELECT %s FROM keep.%s"
                % (name, name, into, cols, name))


@pytest.fixture
def planted(pair):
    src, dst = pair
    for db in pair:
        db.execute(TABLES)
    src.execute(ROWS)
    stream = make_stream(src, dst, "s1")
    stream.caught_up()
    _keep(dst)
    return src, dst, stream


def _by_table(rows):
    return {r["table_name"]: r for r in rows}


def test_planted_faults(planted):
    src, dst, stream = planted
    assert {r["status"] for r in stream.verify()} == {"equal"}
    for what, sql, table, different, key in FAULTS:
        dst.execute(sql)
        rows = _by_table(stream.verify())
        row = rows[table]
        assert row["status"] == "different", what
        assert row["different_rows"] == different, (what, row)
        assert row["sample_keys"], (what, row)
        if key is not None:
            assert key in row["sample_keys"], (what, row)
        others = {t for t, r in rows.items() if r["status"] != "equal"}
        expected = {table, "v2"} if "another table" in what else {table}
        assert others == expected, (what, rows)
        if what == "generated column":
            dst.execute("ALTER TABLE gen DROP g; ALTER TABLE gen ADD g int "
                        "GENERATED ALWAYS AS (w * 2) STORED")
        for name in expected:
            _restore(dst, name)
        assert {r["status"] for r in stream.verify([table.replace(
            'Odd "name', '"Odd ""name"')])} == {"equal"}, what


def test_misrouted_rows_in_partitions(planted):
    src, dst, stream = planted
    # a row of list 2 in the partition of list 1, put there behind its back
    dst.execute("""
        SET allow_system_table_mods = on;
        UPDATE pg_catalog.pg_class SET relispartition = false
            WHERE oid = 'parted_1'::regclass""")
    conn = dst.connect()
    with conn.cursor() as cur:
        cur.execute("INSERT INTO parted_1 SELECT * FROM parted_2a LIMIT 1 "
                    "RETURNING id")
        moved = cur.fetchone()[0]
        cur.execute("DELETE FROM parted_2a WHERE id = %s", (moved,))
        cur.execute("SET allow_system_table_mods = on; UPDATE pg_catalog.pg_class"
                    " SET relispartition = true WHERE oid = 'parted_1'::regclass")
    conn.close()
    row = _by_table(stream.verify())["parted"]
    assert row["source_rows"] == row["target_rows"] == 200
    assert (row["status"], row["different_rows"]) == ("different", 1), row
    assert row["sample_keys"] == ["(%d,2)" % moved]
    assert "partition" in row["reason"]


def test_count_and_sample(planted):
    src, dst, stream = planted
    dst.execute("DELETE FROM v2 WHERE id = 2345; UPDATE v SET n = 2")
    rows = _by_table(stream.verify(mode="count"))
    assert rows["v2"]["status"] == "different"
    assert rows["v2"]["different_rows"] == 1
    assert rows["v"]["status"] == "equal"       # count sees numbers only
    rows = _by_table(stream.verify(mode="sample"))
    assert rows["v"]["different_rows"] == 20    # few rows: all are in the sample
    assert rows["v2"]["status"] == "different"


def test_sample_of_a_large_table(pair):
    src, dst = pair
    for db in pair:
        db.execute("CREATE TABLE large (id int PRIMARY KEY, x text)")
    src.execute("INSERT INTO large SELECT i, 'x' FROM generate_series(1, 200000) AS i")
    stream = make_stream(src, dst, "s1")
    stream.caught_up()
    (row,) = stream.verify(mode="sample")
    assert (row["status"], row["source_rows"]) == ("equal", 200000)
    dst.execute("UPDATE large SET x = 'y'")
    (row,) = stream.verify(mode="sample")
    assert row["status"] == "different"
    assert 1000 < row["different_rows"] < 100000, row
    assert len(row["sample_keys"]) == 10
    (row,) = stream.verify()
    assert row["different_rows"] == 200000


def test_arguments(planted):
    src, dst, stream = planted
    assert {r["table_name"] for r in stream.verify(["v*"])} == {"v", "v2"}
    assert {r["table_name"] for r in stream.verify(["public.two"])} == {"two"}
    assert dst.error("SELECT * FROM sluice.verify('s1', '{nope}')").pgcode == "42P01"
    assert dst.error("SELECT * FROM sluice.verify('s1', mode => 'x')").pgcode == "22023"
    assert dst.error("SELECT * FROM sluice.verify('nope')").pgcode == "42704"
    err = dst.error("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1;"
                    "SELECT * FROM sluice.verify('s1')")
    assert err.pgcode == "25001"
    stream.stop()
    err = dst.error("SELECT * FROM sluice.verify('s1')")
    assert err.pgcode == "55000" and "sync_start" in err.diag.message_hint


def test_only_members_of_the_owner(planted):
    src, dst, stream = planted
    dst.server.execute("DROP ROLE IF EXISTS verify_stranger;"
                       "CREATE ROLE verify_stranger LOGIN")
    dst.execute("GRANT USAGE ON SCHEMA sluice TO verify_stranger;"
                "GRANT EXECUTE ON FUNCTION sluice.verify TO verify_stranger")
    err = dst.error("SELECT * FROM sluice.verify('s1')", user="verify_stranger")
    assert err.pgcode == "42501"
    dst.execute("DROP OWNED BY verify_stranger")
    dst.server.execute("DROP ROLE verify_stranger")


def test_truncate_while_verify_compares(planted):
    """A TRUNCATE on the source waits for verify and does not spoil it."""
    src, dst, stream = planted
    for _ in range(5):
        done = []
        thread = threading.Thread(target=lambda: done.append(
            src.execute("TRUNCATE two; INSERT INTO two SELECT 'n' || i, i, 'z' "
                        "FROM generate_series(1, 50) AS i")))
        thread.start()
        rows = stream.verify()
        thread.join()
        assert {r["status"] for r in rows} == {"equal"}, rows
        stream.caught_up()


class _Writers:
    """pgbench TPC-B at a rate, in the background."""

    def __init__(self, src, rate):
        server = src.server
        self.proc = subprocess.Popen(
            as_server_user([
                server.program("pgbench"), "-h", server.sockdir, "-p",
                str(server.port), "-U", "postgres", "-n", "-c", "4", "-j", "1",
                "-R", str(rate), "-T", "600", src.name]),
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd="/", text=True)

    def stop(self):
        assert self.proc.poll() is None, self.proc.communicate()[0]
        self.proc.terminate()
        self.proc.communicate()


@pytest.fixture
def loaded(pair):
    src, dst = pair
    src.server.run("pgbench", "-i", "-q", "-s", "1", "-h", src.server.sockdir,
                   "-p", src.server.port, "-U", "postgres", src.name)
    src.execute("ALTER TABLE pgbench_history REPLICA IDENTITY FULL")
    dump = src.server.run("pg_dump", "-s", "-h", src.server.sockdir, "-p",
                          src.server.port, "-U", "postgres", src.name).stdout
    dst.psql(dump)
    stream = make_stream(src, dst, "s1")
    stream.caught_up()
    writers = _Writers(src, 500)
    yield src, dst, stream
    writers.stop()


def test_no_false_alarm_under_load(loaded):
    src, dst, stream = loaded
    before = src.value("SELECT count(*) FROM pgbench_history")
    for _ in range(20):
        rows = stream.verify()
        assert len(rows) == 4
        assert {r["status"] for r in rows} == {"equal"}, rows
    assert src.value("SELECT count(*) FROM pgbench_history") > before + 500
    assert not src.query("SELECT slot_name FROM pg_catalog.pg_replication_slots"
                         " WHERE temporary")


def _applied(dst):
    return dst.value("SELECT count(*) FROM pgbench_history")


def _goes_on(dst):
    have = _applied(dst)
    wait_until(lambda: _applied(dst) > have, 20, "the stream does not go on")


def test_hold_ends_with_its_session(loaded):
    """A verify that waits for its slot is cancelled, then killed."""
    src, dst, stream = loaded
    blocker = src.connect(autocommit=False)
    blocker.cursor().execute("SELECT pg_catalog.pg_current_xact_id()")

    # the open transaction keeps the slot from being made: the stream stands
    def making():
        return src.value("SELECT count(*) FROM pg_catalog.pg_stat_activity "
                         "WHERE query LIKE 'CREATE_REPLICATION_SLOT%%' "
                         "AND datname = %s", src.name)
    for how in ("cancel", "terminate"):
        before = making()
        session = dst.connect()
        pid = session.info.backend_pid
        failed = []

        def run():
            try:
                session.cursor().execute("SELECT * FROM sluice.verify('s1')")
            except psycopg2.Error as e:
                failed.append(e)
        thread = threading.Thread(target=run)
        thread.start()

        wait_until(lambda: making() > before, 20, "verify does not make its slot")
        assert dst.query("SELECT pid, stream_id, phase FROM sluice.progress") == [
            (pid, "s1", "holding")]
        dst.execute("SELECT pg_catalog.pg_%s_backend(%d)" % (how, pid))
        thread.join(20)
        assert not thread.is_alive() and failed, how
        assert not dst.query("SELECT pid FROM sluice.progress")
        _goes_on(dst)
    blocker.rollback()
    blocker.close()
    assert {r["status"] for r in stream.verify()} == {"equal"}
    _goes_on(dst)


def test_partition_bounds_run_as_their_owner(pair):
    """A table's owner gets no other rights by what his bounds call."""
    src, dst = pair
    role = "verify_tenant"
    for db in pair:
        db.execute("DROP ROLE IF EXISTS %s; CREATE ROLE %s" % (role, role))
    src.execute("CREATE TABLE own (id int PRIMARY KEY); INSERT INTO own VALUES (1), (2)")
    dst.execute("""
        CREATE FUNCTION tell(i int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS
            $$ BEGIN RAISE NOTICE 'bounds run as %', current_user; RETURN i; END $$;
        CREATE TABLE own (id int) PARTITION BY RANGE (public.tell(id));
        CREATE TABLE own_1 PARTITION OF own FOR VALUES FROM (0) TO (10);
        CREATE UNIQUE INDEX ON own_1 (id);
        ALTER TABLE own OWNER TO verify_tenant;
        ALTER TABLE own_1 OWNER TO verify_tenant;
        GRANT USAGE ON SCHEMA public TO verify_tenant""")
    stream = make_stream(src, dst, "s1")
    stream.caught_up()
    conn = dst.connect()
    with conn.cursor() as cur:
        cur.execute("SELECT status FROM sluice.verify('s1')")
        assert cur.fetchall() == [("equal",)]
    said = {n.strip() for n in conn.notices}
    conn.close()
    assert said == {"NOTICE:  bounds run as verify_tenant"}, said
    stream.stop()
    stream.drop()
    for db in pair:
        db.execute("DROP OWNED BY verify_tenant; DROP ROLE verify_tenant")
