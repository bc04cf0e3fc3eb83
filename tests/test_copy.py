"""The copy engine: tasks side by side, ranges, leaves, limits, failures."""
import os
import re
import signal
import time

import psycopg2
import pytest

from lib import PgServer, make_stream, same_rows, wait_until
from lib.pgserver import SOURCE_ROLE
from lib.rounds import FAST

PATIENT = dict(FAST, **{"sluice.lock_timeout": "60s", "sluice.query_timeout": "60s"})


@pytest.fixture(scope="module")
def calm(source):
    """A target whose workers wait for locks: that is how a copy is held."""
    server = PgServer("copy-target", conf=PATIENT).start()
    yield server
    server.destroy()


@pytest.fixture
def dbs(source, calm, request):
    src = source.fresh_db("copy")
    dst = calm.fresh_db("copy", extension=True)
    yield src, dst
    dst.destroy()
    src.destroy()


def both(src, dst, sql):
    src.execute(sql)
    dst.execute(sql)


def copy_workers(dst):
    return dst.value("SELECT count(*) FROM pg_catalog.pg_stat_activity"
                     " WHERE application_name LIKE 'sluice copy%%'")


def copy_sessions(src):
    return src.value("SELECT count(*) FROM pg_catalog.pg_stat_activity WHERE"
                     " application_name LIKE 'sluice %%: source copy'"
                     " AND datname = current_database()")


def tasks(dst, what="state"):
    return dst.query("SELECT kind, stage, table_name, first_block, end_block, %s"
                     " FROM sluice.copy_task ORDER BY id" % what)


def test_many_tables_side_by_side(pair):
    """Tables of many sizes and kinds, by four workers; leaves are tasks."""
    src, dst = pair
    names = ["t%d" % i for i in range(24)]
    both(src, dst, ";".join(
        "CREATE TABLE %s (id int PRIMARY KEY, a text, b numeric, c timestamptz)" % n
        for n in names) + """;
        CREATE TABLE "Odd ""Name" ("a ""col" int PRIMARY KEY, "%s" text);
        CREATE TABLE gen (id int PRIMARY KEY, b int GENERATED ALWAYS AS (id * 2) STORED);
        CREATE TABLE base (id int PRIMARY KEY, v text);
        CREATE TABLE child (extra int, PRIMARY KEY (id)) INHERITS (base);
        CREATE TABLE parted (id int, k text, PRIMARY KEY (id, k)) PARTITION BY LIST (k);
        CREATE TABLE parted_a PARTITION OF parted FOR VALUES IN ('a');
        CREATE TABLE parted_r PARTITION OF parted DEFAULT PARTITION BY RANGE (id);
        CREATE TABLE parted_r1 PARTITION OF parted_r FOR VALUES FROM (MINVALUE) TO (500);
        CREATE TABLE parted_r2 PARTITION OF parted_r DEFAULT;
        CREATE TABLE empty (id int PRIMARY KEY)""")
    dst.execute("ALTER TABLE parted_r1 OWNER TO " + SOURCE_ROLE)
    for i, n in enumerate(names):
        src.execute("INSERT INTO %s SELECT g, repeat('x', g %% 50), g / 7.0,"
                    " now() - g * interval '1 s' FROM generate_series(1, %d) g"
                    % (n, 40 * (i + 1) ** 2))
    src.execute("""INSERT INTO "Odd ""Name" SELECT g, E'a\\tb\\\\' || g FROM generate_series(1, 100) g;
        INSERT INTO gen (id) SELECT generate_series(1, 100);
        INSERT INTO base SELECT g, 'base' FROM generate_series(1, 50) g;
        INSERT INTO child SELECT g, 'child', g FROM generate_series(51, 99) g;
        INSERT INTO parted SELECT g, substr('abcd', 1 + g % 4, 1) FROM generate_series(1, 1000) g""")
    stream = make_stream(src, dst)
    stream.caught_up()
    everything = names + ["gen", "parted", "parted_a", "parted_r1", "parted_r2",
                          ("public", 'Odd "Name'), "child", "empty"]
    assert not same_rows(src, dst, everything)
    assert dst.value("SELECT count(*) FROM ONLY base") == 50
    done = tasks(dst, "target_relid::pg_catalog.regclass::text, rows_done")
    assert {r[5] for r in done if r[2] == "parted"} == {"parted_a", "parted", "parted_r2"}
    assert sum(r[6] for r in done) == sum(40 * (i + 1) ** 2 for i in range(24)) + 1299
    assert dst.value("SELECT count(*) FROM sluice.copy_task WHERE state <> 'done'") == 0
    copied = {r["table_name"]: r["rows_copied"] for r in dst.rows("SELECT * FROM sluice.tables")}
    assert copied["t9"] == 4000 and copied["parted"] == 1000 and copied["base"] == 50
    assert copy_workers(dst) == 0 and copy_sessions(src) == 0
    src.execute("INSERT INTO parted SELECT g, 'z' FROM generate_series(2001, 2010) g; DELETE FROM t3")
    stream.caught_up()
    assert not same_rows(src, dst, ["parted", "t3"])
    stream.stop()
    stream.drop()


HELD = 3
NAMES = ["h%d" % i for i in range(HELD)] + ["t%02d" % i for i in range(20)]


class Held:
    """A copy in the middle: all tables are there but HELD, one worker each
    waits for a lock of ours on them."""

    def __init__(self, src, dst, held=None, **options):
        self.src, self.dst = src, dst
        both(src, dst, ";".join("CREATE TABLE %s (id int PRIMARY KEY, v text)" % n for n in NAMES))
        for n in NAMES:
            src.execute("INSERT INTO %s SELECT g, repeat('%s', 20) FROM generate_series(1, %d) g"
                        % (n, n, 20000 if n[0] == "h" else 500))
        self.lock = dst.connect(autocommit=False)
        for n in NAMES[:HELD]:
            self.lock.cursor().execute("LOCK TABLE %s IN SHARE MODE" % n)
        self.stream = make_stream(src, dst, wait=None, options=dict({"copy_workers": 4}, **options))
        wait_until(lambda: dst.value("SELECT count(*) FROM sluice.copy_task WHERE state = 'done'")
                   == len(NAMES) - HELD and (held or self.waiting)() == HELD, 60,
                   lambda: (self.stream.health(), tasks(dst)))

    def waiting(self):
        return self.dst.value("SELECT count(*) FROM pg_catalog.pg_locks WHERE NOT granted"
                              " AND relation::regclass::text LIKE 'h%%' AND database ="
                              " (SELECT oid FROM pg_database WHERE datname = current_database())")

    def workers(self):
        return [r[0] for r in self.dst.query(
            "SELECT pid FROM pg_catalog.pg_stat_activity WHERE application_name"
            " LIKE 'sluice copy%%' AND datname = current_database()")]

    def release(self):
        self.lock.rollback()
        self.lock.close()

    def finish(self):
        """Everything is there, nothing is left behind."""
        self.stream.caught_up()
        assert not same_rows(self.src, self.dst, NAMES)
        assert not self.workers() and copy_sessions(self.src) == 0
        self.stream.stop()
        self.stream.drop()


def test_progress_is_seen(dbs):
    """A row for each task in hand, and how far the whole is in sync_wait."""
    held = Held(*dbs)
    rows = wait_until(lambda: [r for r in held.dst.rows("SELECT * FROM sluice.progress")
                               if r["phase"] == "copying"], 20)
    assert len(rows) == HELD and {r["stream_id"] for r in rows} == {"s1"}, rows
    assert {r["pid"] for r in rows} <= set(held.workers())
    assert held.dst.query("SELECT DISTINCT relid::regclass::text FROM sluice.progress ORDER BY 1") \
        == [(n,) for n in NAMES[:HELD]]
    assert all(r["bytes_total"] > 0 and r["started_at"] for r in rows), rows
    conn = held.dst.connect()
    with conn.cursor() as cur:
        with pytest.raises(psycopg2.Error) as e:
            cur.execute("CALL sluice.sync_wait('s1', 'streaming', '7 s')")
    assert e.value.pgcode == "55P03", str(e.value)
    want = r"copying: %d of %d tables, \d+ kB of \d+ kB, about \d\d:\d\d:\d\d left" % (
        len(NAMES) - HELD, len(NAMES))
    assert any(re.search(want, n) for n in conn.notices), conn.notices
    conn.close()
    held.release()
    held.finish()
    assert not dbs[1].query("SELECT * FROM sluice.progress")


def test_stop_in_the_middle(dbs):
    """A stop ends the workers at once; what was complete stays."""
    held = Held(*dbs)
    assert len(held.workers()) >= HELD
    held.stream.stop()
    assert held.stream.state == "stopped" and not held.workers()
    assert copy_sessions(held.src) == 0
    assert held.dst.value("SELECT count(*) FROM t05") == 500
    held.release()
    held.src.execute("INSERT INTO t05 VALUES (1000, 'later'); UPDATE h1 SET v = 'x' WHERE id < 10")
    held.stream.start()
    held.finish()


@pytest.mark.parametrize("what", ["worker", "session", "exporter"])
def test_something_dies(dbs, what):
    """The copy goes on by itself, and never under two snapshots."""
    held = Held(*dbs)
    if what == "worker":
        held.dst.execute("SELECT pg_catalog.pg_terminate_backend(%s)", held.workers()[0])
    elif what == "session":
        held.src.execute("SELECT pg_catalog.pg_terminate_backend(pid) FROM pg_stat_activity"
                         " WHERE application_name LIKE 'sluice s1: source copy'"
                         " AND datname = current_database()")
        held.release()
    else:
        held.src.execute("SELECT pg_catalog.pg_terminate_backend(pid) FROM pg_stat_activity"
                         " WHERE backend_type = 'walsender' AND datname = current_database()")
    wait_until(lambda: held.dst.value("SELECT (counters[14]) FROM sluice.stream_runtime()") > 0
               or held.stream.health()["last_error_at"], 60, held.stream.health)
    if what != "session":
        held.release()
    held.src.execute("INSERT INTO h0 VALUES (-1, 'later'); INSERT INTO t01 VALUES (-1, 'later')")
    held.finish()


def test_lock_on_the_target(dbs):
    """A task that cannot lock its table is tried again; the others go on."""
    src, dst = dbs
    dst.execute("ALTER DATABASE %s SET sluice.lock_timeout = '200 ms'" % dst.name)
    held = Held(src, dst, lambda: dst.value("SELECT count(*) FROM sluice.progress"))
    seen = wait_until(lambda: dst.value("SELECT count(*) FROM sluice.progress"
                                        " WHERE phase = 'waiting for a lock'"), 30)
    assert seen > 0
    row = held.stream.health()
    assert row["state"] == "copying" and row["last_error_at"] is None, row
    held.release()
    held.finish()


def test_snapshot_ends_with_the_rows(dbs):
    """While indexes are built nothing of ours holds the source's xmin."""
    src, dst = dbs
    for i in range(20):
        src.execute("CREATE TABLE x%d (id int PRIMARY KEY, v text); INSERT INTO x%d"
                    " SELECT g, 'v' FROM generate_series(1, 300) g" % (i, i))
    dst.execute("""CREATE FUNCTION hold() RETURNS event_trigger LANGUAGE plpgsql
            AS 'BEGIN PERFORM pg_catalog.pg_advisory_xact_lock_shared(42); END';
        CREATE EVENT TRIGGER hold ON ddl_command_start WHEN TAG IN ('CREATE INDEX')
            EXECUTE FUNCTION hold(); ALTER EVENT TRIGGER hold ENABLE ALWAYS""")
    lock = dst.connect()
    lock.cursor().execute("SELECT pg_catalog.pg_advisory_lock(42)")
    stream = make_stream(src, dst, wait=None, options={"copy_workers": 4})
    wait_until(lambda: dst.value("SELECT count(*) FROM sluice.progress WHERE phase = 'building index'") == 4
               or stream.state == "failed", 60, stream.health)
    # rows come first, so there are none left
    wait_until(lambda: copy_sessions(src) == 0 and src.value(
        "SELECT count(*) FROM pg_catalog.pg_stat_activity WHERE backend_xmin IS NOT NULL"
        " AND application_name LIKE 'sluice%%' AND datname = current_database()") == 0, 30,
        lambda: src.query("SELECT application_name, backend_xmin, query FROM pg_stat_activity"
                          " WHERE application_name LIKE 'sluice%%'"))
    assert stream.state == "copying"
    lock.close()
    stream.caught_up()
    assert not same_rows(src, dst, ["x%d" % i for i in range(20)])
    stream.stop()
    stream.drop()


def test_kill_of_a_worker(dbs):
    """kill -9 of a copy worker: the server starts again, and so does the copy."""
    held = Held(*dbs)
    server = held.dst.server
    mark = server.log_mark()
    os.kill(held.workers()[0], signal.SIGKILL)
    server.wait_log("all server processes terminated; reinitializing", mark, 60)
    wait_until(lambda: server.is_running() and server._ready(), 60, "no answer")
    held.lock.close()
    held.stream.wait_state("streaming")
    held.finish()


def test_changed_before_its_turn(dbs):
    """Rewritten, emptied or dropped and made again since the snapshot."""
    src, dst = dbs
    names = ["first", "truncated", "rewritten", "plain"]
    both(src, dst, ";".join("CREATE TABLE %s (id int PRIMARY KEY, v text)" % n for n in names))
    for n in names:
        src.execute("INSERT INTO %s SELECT g, repeat('v', 400) FROM generate_series(1, %d) g"
                    % (n, 12000 if n == "first" else 100))
    lock = dst.connect(autocommit=False)
    lock.cursor().execute("LOCK TABLE first IN SHARE MODE")
    stream = make_stream(src, dst, wait=None, options={"copy_workers": 1})
    wait_until(lambda: dst.value("SELECT count(*) FROM sluice.progress") == 1, 60, stream.health)
    src.execute("TRUNCATE truncated; INSERT INTO truncated VALUES (7, 'seven')")
    src.execute("ALTER TABLE rewritten ADD COLUMN x int; ALTER TABLE rewritten DROP COLUMN x")
    src.execute("CLUSTER rewritten USING rewritten_pkey")
    lock.rollback()
    lock.close()
    stream.caught_up()
    assert not same_rows(src, dst, names)
    stream.stop()
    stream.drop()


def test_ranges_of_one_table(dbs):
    """A large table in ranges of its blocks, while rows move about in it."""
    src, dst = dbs
    both(src, dst, "CREATE TABLE big (id int, v text); CREATE INDEX ON big (id)")
    src.execute("ALTER TABLE big ALTER v SET STORAGE PLAIN; ALTER TABLE big REPLICA IDENTITY FULL")
    src.execute("INSERT INTO big SELECT g, rpad(g::text, 1900) FROM generate_series(1, 90000) g")
    src.execute("DELETE FROM big WHERE id % 100 = 0; UPDATE big SET v = v || '!' WHERE id % 50 = 1")
    stream = make_stream(src, dst, wait=None, options={"copy_workers": 3})
    for i in range(20):
        src.execute("UPDATE big SET v = 'moved' WHERE id BETWEEN %s AND %s", i * 4000, i * 4000 + 20)
        src.execute("INSERT INTO big VALUES (%s, 'new')", 100000 + i)
    stream.caught_up("120 s")
    ranges = tasks(dst, "rows_done")
    assert len(ranges) > 1 and ranges[0][3] == 0 and ranges[-1][4] is None, ranges
    assert [r[4] for r in ranges[:-1]] == [r[3] for r in ranges[1:]], ranges
    assert all(r[5] > 1000 for r in ranges), ranges
    assert not same_rows(src, dst, ["big"])
    stream.stop()
    stream.drop()


def test_rate_is_shared(dbs):
    """All processes together take at least the time that the limit asks for."""
    src, dst = dbs
    names = ["r%d" % i for i in range(18)]
    both(src, dst, ";".join("CREATE TABLE %s (id int PRIMARY KEY, v text)" % n for n in names))
    for n in names:
        src.execute("INSERT INTO %s SELECT g, repeat(md5(g::text), 20) FROM generate_series(1, 600) g" % n)
    since = time.monotonic()
    stream = make_stream(src, dst, options={"copy_workers": 4, "copy_bytes_per_second": "2MB"})
    took = time.monotonic() - since
    got = float(dst.value("SELECT sum(bytes_done) FROM sluice.copy_task"))
    assert took > (got - 4 * 512 * 1024) / (2 * 1024 * 1024.0), (took, got)
    stream.caught_up()
    assert not same_rows(src, dst, names)
    stream.stop()
    stream.drop()


def test_refusal_of_a_worker(dbs):
    """What a worker refuses is the stream's refusal, with its fields."""
    src, dst = dbs
    names = ["c%02d" % i for i in range(20)]
    both(src, dst, ";".join("CREATE TABLE %s (id int PRIMARY KEY, v int)" % n for n in names))
    for n in names:
        src.execute("INSERT INTO %s SELECT g, g + 5000 FROM generate_series(1, 1000) g" % n)
    dst.execute("ALTER TABLE c13 ADD CONSTRAINT small CHECK (v < 5900)")
    stream = make_stream(src, dst, start=False)
    stream.start()
    with pytest.raises(psycopg2.Error) as e:
        stream.wait()
    diag = e.value.diag
    assert e.value.pgcode == "SL402", e.value
    assert (diag.schema_name, diag.table_name) == ("public", "c13")
    assert "violates constraint small" in diag.message_primary
    row = stream.wait_refused("TARGET-CONSTRAINT-VIOLATED")
    assert "c13" in row["reason"] and copy_workers(dst) == 0 and copy_sessions(src) == 0
    assert "5900" not in row["reason"]
    dst.execute("ALTER TABLE c13 DROP CONSTRAINT small")
    stream.start()
    stream.caught_up()
    assert not same_rows(src, dst, names)
    stream.stop()
    stream.drop()


def test_no_background_worker_is_free(source, make_pg):
    """The stream's own worker does it all when there is no room for another."""
    target = make_pg("copy-narrow", conf=dict(PATIENT, max_worker_processes="3"))
    src, dst = source.fresh_db("copy"), target.fresh_db("copy", extension=True)
    names = ["n%02d" % i for i in range(20)]
    both(src, dst, ";".join("CREATE TABLE %s (id int PRIMARY KEY, v text)" % n for n in names))
    for n in names:
        src.execute("INSERT INTO %s SELECT g, 'v' || g FROM generate_series(1, 300) g" % n)
    mark = target.log_mark()
    stream = make_stream(src, dst)
    stream.caught_up()
    target.wait_log("copies with 0 of 4 workers", mark)
    assert not same_rows(src, dst, names)
    stream.stop()
    stream.drop()
    dst.destroy()
    src.destroy()


def test_frozen_where_it_can_be(dbs):
    """A table of our own making, filled by one task, is stored frozen."""
    src, dst = dbs
    src.execute("CREATE TABLE f1 (id int PRIMARY KEY, v text)")
    src.execute("INSERT INTO f1 SELECT g, repeat('f', 300) FROM generate_series(1, 20000) g")
    stream = make_stream(src, dst)
    stream.caught_up()
    assert not same_rows(src, dst, ["f1"])
    dst.execute("CREATE EXTENSION pg_visibility")
    assert dst.value("SELECT all_frozen FROM pg_visibility_map_summary('f1')") > 100
    stream.stop()
    stream.drop()


@pytest.mark.long
def test_large_values(dbs):
    """Values of 100 MB pass through a handful of buffers of their size."""
    src, dst = dbs
    size = 100 * 1024 * 1024
    both(src, dst, "CREATE TABLE huge (id int PRIMARY KEY, b bytea, t text);"
                   "ALTER TABLE huge ALTER b SET STORAGE EXTERNAL, ALTER t SET STORAGE EXTERNAL")
    for i in range(3):
        src.execute("INSERT INTO huge VALUES (%s, CASE WHEN %s < 2 THEN convert_to(repeat(chr(97 + %s), %s),"
                    " 'UTF8') END, CASE WHEN %s = 2 THEN repeat('t', %s) END)", i, i, i, size, i, size)
    peak = []

    def anonymous(pid):
        with open("/proc/%d/status" % pid) as f:
            return int(re.search(r"RssAnon:\s*(\d+)", f.read()).group(1)) * 1024

    def look():
        for pid, in dst.query("SELECT pid FROM pg_catalog.pg_stat_activity"
                              " WHERE application_name LIKE 'sluice%%' AND datname = current_database()"):
            try:
                peak.append(anonymous(pid))
            except OSError:
                pass
        return stream.state == "streaming"
    stream = make_stream(src, dst, wait=None)
    wait_until(look, 240, stream.health)
    assert peak and max(peak) < 8 * size, max(peak)
    stream.caught_up()
    sums = "SELECT id, md5(b), md5(t), length(t) FROM huge ORDER BY id"
    assert src.query(sums) == dst.query(sums)
    stream.stop()
    stream.drop()
