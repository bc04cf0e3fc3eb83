"""Launcher, workers, requests: starting, stopping, waiting and dropping.

What ends a worker, what starts it again, what a caller is told meanwhile, and
that nothing of it needs more than SQL.
"""
import os
import signal
import threading

import psycopg2
import pytest

from lib import assert_same_rows, follow, make_stream, wait_until
from lib.rounds import FAST, check_equal
from lib.streams import Stream, make_server

TABLE = "CREATE TABLE lc (id int PRIMARY KEY, v text)"


@pytest.fixture(scope="module")
def lc_target():
    """Shared by the tests that do not restart it."""
    from lib import PgServer
    server = PgServer("lifecycle", conf=FAST).start()
    yield server
    server.destroy()


def databases(source, target, *tables):
    src = source.fresh_db("lc")
    dst = target.fresh_db("lc", extension=True)
    for db in (src, dst):
        for table in tables or ("lc",):
            db.execute(TABLE.replace("lc", table))
    return src, dst


@pytest.fixture
def dbs(source, lc_target):
    src, dst = databases(source, lc_target)
    yield src, dst
    dst.destroy()
    src.destroy()


@pytest.fixture
def stream(dbs):
    stream = make_stream(*dbs)
    yield stream


def add(stream, first, last, table="lc"):
    stream.src.execute("INSERT INTO %s SELECT i, 'v' FROM generate_series(%d, %d) AS i"
                       % (table, first, last))


def several(source, target, count=2, **args):
    """A database pair with that many streams, one table each."""
    tables = ["t%d" % i for i in range(1, count + 1)]
    src, dst = databases(source, target, *tables)
    return [make_stream(src, dst, "s%d" % i, include_tables=["public.t%d" % i], **args)
            for i in range(1, count + 1)]


# -- what ends a worker ---------------------------------------------------------

def test_two_databases_with_two_streams_each_survive(source, make_pg):
    """Restart, kill -9 of a worker and of the postmaster: all of them go on."""
    target = make_pg("lifecycle-many", conf=FAST)
    streams = several(source, target) + several(source, target)
    assert len({s.pid() for s in streams}) == 4
    at = 0
    for end in (lambda: target.restart("fast"),
                lambda: target.restart("immediate"),
                lambda: streams[1].crash_worker(),
                lambda: (target.kill9(), target.start())):
        end()
        for s in streams:
            add(s, at + 1, at + 10, "t" + s.id[1])
        at += 10
        for s in streams:
            s.wait_state("streaming")
            check_equal(s, ["t" + s.id[1]])
    for s in streams:
        s.stop()
    target.restart("fast")
    assert [s.state for s in streams] == ["stopped"] * 4
    for s in streams:
        s.start()
        s.wait()
        s.stop()
        s.drop()


@pytest.mark.quick
def test_terminated_worker_comes_back(stream):
    """pg_terminate_backend is no failure of the stream."""
    pid = stream.pid()
    stream.dst.execute("SELECT pg_terminate_backend(%s)", pid)
    wait_until(lambda: stream.pid() != pid, 30, "no new worker")
    add(stream, 1, 10)
    stream.caught_up()
    row = stream.health()
    assert row["restarts"] >= 1 and row["healthy"], row
    assert stream.refusals() == []


def test_terminated_launcher_comes_back(stream, lc_target):
    """A new launcher finds the workers of the old one, and starts new ones."""
    launcher = ("SELECT pid FROM pg_stat_activity WHERE backend_type ="
                " 'sluice launcher'")
    pid, worker = stream.dst.value(launcher), stream.pid()
    stream.dst.execute("SELECT pg_terminate_backend(%s)", pid)
    wait_until(lambda: stream.dst.value(launcher) not in (None, pid), 30)
    assert stream.pid() == worker
    stream.dst.execute("SELECT pg_terminate_backend(%s)", worker)
    wait_until(lambda: stream.pid() != worker, 30, "no new worker")
    add(stream, 1, 5)
    stream.caught_up()


def test_counters_outlive_a_restart(source, make_pg):
    """Stopped in order, the server forgets no counter."""
    target = make_pg("lifecycle-counters", conf=FAST)
    stream = make_stream(*databases(source, target))
    for i in range(3):
        add(stream, 10 * i + 1, 10 * i + 10)
        stream.caught_up()
        target.restart("fast")
        stream.wait()
        row = stream.stat()
        assert (row["inserts"], row["transactions"]) == (10 * i + 10, i + 1), row
    stream.stop()
    target.restart("fast")
    assert stream.stat()["inserts"] == 30
    stream.drop()


def test_worker_shows_itself(stream):
    row = stream.dst.rows("SELECT backend_type, application_name, datname FROM"
                          " pg_stat_activity WHERE pid = %s", stream.pid())[0]
    assert row == {"backend_type": "sluice worker", "datname": stream.dst.name,
                   "application_name": 'sluice stream "s1"'}
    assert stream.dst.value(
        "SELECT count(*) FROM pg_locks WHERE locktype = 'object' AND"
        " classid = 'sluice.stream'::regclass AND pid = %s", stream.pid()) == 1


# -- what keeps a worker from starting --------------------------------------------

def test_no_free_background_worker(source, make_pg):
    """max_worker_processes is exhausted: said in health, and tried again."""
    target = make_pg("lifecycle-few", conf=FAST)
    streams = several(source, target)
    # 3: ours, core's launcher, and one for a stream
    target.restart(max_worker_processes="3")

    def look():
        rows = [s.health() for s in streams]
        waits = [r for r in rows if "max_worker_processes" in (r["reason"] or "")]
        return waits and rows
    rows = wait_until(look, 30, lambda: [s.health() for s in streams])
    waiting = [r["pid"] for r in rows].index(None)
    assert not rows[waiting]["healthy"], rows
    runs = streams[1 - waiting]
    runs.wait_state("streaming")
    runs.stop()
    streams[waiting].wait()
    row = wait_until(lambda: (lambda h: h["healthy"] and h)(streams[waiting].health()),
                     30, lambda: "health is %r" % streams[waiting].health())
    assert row["reason"] is None, row
    streams[waiting].stop()


def test_no_free_place(source, make_pg):
    """sluice.max_streams is reached: sync_start says so, and a drop makes room."""
    target = make_pg("lifecycle-one", conf=dict(FAST, **{"sluice.max_streams": "1"}))
    src, dst = databases(source, target, "t1", "t2")
    first = make_stream(src, dst, "s1", include_tables=["t1"])
    second = make_stream(src, dst, "s2", start=False)
    with pytest.raises(psycopg2.Error, match="max_streams") as e:
        second.start(include_tables=["t2"])
    assert e.value.pgcode in ("53400", "SL001"), str(e.value)
    assert second.health() is None
    first.stop()
    first.drop()
    second.start(include_tables=["t2"])
    second.wait()


def test_fewer_places_than_streams(source, make_pg):
    """max_streams was lowered: one stream is left out, until there is room."""
    target = make_pg("lifecycle-less", conf=FAST)
    first, second = several(source, target)
    mark = target.log_mark()
    target.restart(**{"sluice.max_streams": "1"})
    first.wait()
    target.wait_log('stream "s2" cannot run', mark)
    row = second.health()
    assert row["pid"] is None and not row["healthy"], row
    first.stop()
    first.drop()
    second.wait()


def test_autostart_holds(stream, lc_target):
    """Off: a stream that would be started waits, and health says why."""
    lc_target.reload(**{"sluice.autostart": "off"})
    try:
        stream.dst.execute("SELECT pg_terminate_backend(%s, 10000)", stream.pid())
        row = wait_until(lambda: (lambda h: "autostart" in (h["reason"] or "") and h)(
            stream.health()), 30, lambda: "health is %r" % stream.health())
        assert not row["healthy"] and row["pid"] is None, row
    finally:
        lc_target.reload(**{"sluice.autostart": "on"})
    stream.wait()
    assert stream.health()["reason"] is None


def test_late_loading(source, make_pg):
    """Not preloaded: views answer, everything else says what to do."""
    target = make_pg("lifecycle-late", preload="")
    src, dst = databases(source, target)
    assert dst.value("SELECT count(*) FROM sluice.health") == 0
    assert dst.value("SELECT library FROM sluice.version()")
    stream = make_stream(src, dst, start=False)
    with pytest.raises(psycopg2.Error) as e:
        stream.start()
    assert e.value.pgcode == "55000" and "shared_preload_libraries" in str(e.value)
    target.restart(shared_preload_libraries="sluice")
    stream.start()
    stream.wait()
    # and the other way: known streams on a server that lost the preload
    target.restart(shared_preload_libraries="")
    row = stream.health()
    assert row["state"] == "streaming" and row["pid"] is None and not row["healthy"], row
    target.restart(shared_preload_libraries="sluice")
    stream.wait()


# -- refusals ------------------------------------------------------------------

def test_refusal_names_the_transaction_and_those_before_it_land(stream):
    """Of a group that fails as a whole, what was good is committed first."""
    stream.stop()
    stream.dst.execute("ALTER TABLE lc ADD CHECK (v <> 'bad')")
    for i in range(1, 6):
        stream.src.execute("INSERT INTO lc VALUES (%s, %s)", i, "bad" if i == 4 else "v")
    end = stream.src.lsn()
    stream.start()
    row = stream.wait_refused("TARGET-CONSTRAINT-VIOLATED")
    assert stream.dst.execute("SELECT id FROM lc ORDER BY 1") == [(1,), (2,), (3,)]
    refusal = stream.refusals()
    assert len(refusal) == 1 and refusal[0]["count"] == 1, refusal
    assert row["fingerprint"] == refusal[0]["fingerprint"]
    assert stream.dst.value("SELECT %s::pg_lsn > %s::pg_lsn AND %s::pg_lsn < %s::pg_lsn",
                            refusal[0]["position"], row["position"],
                            refusal[0]["position"], end), (refusal, row, end)
    # asked again without a cure: the same refusal, counted
    stream.start(source=False)
    stream.wait_refused("TARGET-CONSTRAINT-VIOLATED")
    wait_until(lambda: stream.refusals()[0]["count"] == 2, 30, stream.refusals)
    stream.dst.execute("ALTER TABLE lc DROP CONSTRAINT lc_v_check")
    stream.start(source=False)
    check_equal(stream, ["lc"])
    row = stream.health()
    assert row["marker"] is None and row["reason"] is None and row["hint"] is None, row


# -- transient failures -------------------------------------------------------------

def test_source_that_is_away(make_pg, lc_target):
    """Retried with growing waits, told in health, over when it is back."""
    source = make_pg("lifecycle-source", preload="")
    src, dst = databases(source, lc_target)
    stream = make_stream(src, dst)
    source.stop("immediate")
    row = stream.wait_state("retrying")
    assert row["reason"] and not row["healthy"] and row["last_error_at"], row
    lag = row["lag"]
    wait_until(lambda: stream.health()["restarts"] >= 3, 30, "not tried again")
    assert stream.health()["lag"] > lag, "lag does not grow by the clock"
    source.start()
    stream.wait()
    add(stream, 1, 10)
    stream.caught_up()
    assert stream.health()["healthy"], stream.health()
    assert stream.stat()["retries"] >= 1
    # asked to stop while it waits for its source
    source.stop("immediate")
    stream.wait_state("retrying")
    stream.stop()
    assert stream.state == "stopped"
    with pytest.raises(psycopg2.Error) as e:
        stream.drop()
    assert "clean_source => false" in e.value.diag.message_hint, str(e.value)
    assert stream.state == "stopped"
    stream.drop(clean_source=False)
    assert stream.health() is None
    dst.destroy()


def test_retry_limit(make_pg, lc_target):
    """After so many failures in a row the stream has failed."""
    source = make_pg("lifecycle-limit", preload="")
    src, dst = databases(source, lc_target)
    stream = make_stream(src, dst, options={"retry_limit": 2})
    waiter = Waiter(stream, "stopped")
    source.stop("immediate")
    row = stream.wait_state("failed")
    assert row["reason"] and row["desired_state"] == "running" and not row["healthy"], row
    error = waiter.result()
    assert error.pgcode == row_sqlstate(stream), str(error)
    assert row["reason"].splitlines()[0] in str(error)
    source.start()
    stream.start(source=False)
    stream.wait()
    stream.stop()
    stream.drop()
    dst.destroy()


def row_sqlstate(stream):
    return stream.dst.value("SELECT sqlstate FROM sluice.stream_state"
                            " WHERE stream_id = %s", stream.id)


# -- stop -----------------------------------------------------------------------------

class Waiter:
    """CALL sync_wait in a thread of its own; result() is its error or None."""

    def __init__(self, stream, state, timeout="60 s"):
        self.error = None
        conn = stream.dst.connect()
        self.pid = conn.info.backend_pid

        def call():
            try:
                with conn.cursor() as cur:
                    cur.execute("CALL sluice.sync_wait(%s, %s, %s::interval)",
                                (stream.id, state, timeout))
            except psycopg2.Error as e:
                self.error = e
            finally:
                conn.close()
        self.thread = threading.Thread(target=call)
        self.thread.start()

    def result(self):
        self.thread.join(90)
        assert not self.thread.is_alive(), "sync_wait does not return"
        return self.error


@pytest.mark.quick
def test_stop_inside_a_transaction(stream):
    """The request does not wait for a commit, and is not undone by a rollback."""
    conn = stream.dst.connect(autocommit=False)
    with conn.cursor() as cur:
        cur.execute("SELECT 1 FROM lc")
        cur.execute("SELECT sluice.sync_stop('s1', true, '20 s')")
    conn.rollback()
    conn.close()
    row = stream.health()
    assert (row["state"], row["desired_state"], row["pid"]) == ("stopped", "stopped", None)
    stream.start()
    stream.wait()


def test_stop_under_repeatable_read(stream):
    """An old snapshot does not hide the stop from who waits for it."""
    conn = stream.dst.connect(autocommit=False)
    conn.set_session(isolation_level="REPEATABLE READ")
    with conn.cursor() as cur:
        cur.execute("SELECT count(*) FROM sluice.stream_state")
        cur.execute("SELECT sluice.sync_stop('s1', true, '20 s')")
    conn.commit()
    conn.close()
    assert stream.state == "stopped"


def test_stop_that_does_not_come_in_time(stream):
    """A frozen worker: the call ends by its limit, the request stands."""
    pid = stream.pid()
    os.kill(pid, signal.SIGSTOP)
    try:
        with pytest.raises(psycopg2.Error) as e:
            stream.stop(timeout="300 ms")
        assert e.value.pgcode == "55P03", str(e.value)
        with pytest.raises(psycopg2.Error, match="is stopping") as e:
            stream.start()
        assert e.value.pgcode == "55006", str(e.value)
    finally:
        os.kill(pid, signal.SIGCONT)
    stream.wait_state("stopped")
    assert stream.health()["desired_state"] == "stopped"


def test_stop_while_a_table_is_locked(stream):
    """The batch in flight waits for a lock: health names it, stop still ends."""
    conn = stream.dst.connect(autocommit=False)
    with conn.cursor() as cur:
        cur.execute("LOCK TABLE lc")
        add(stream, 1, 10)
        said = wait_until(lambda: stream.health()["reason"], 30,
                          lambda: "health is %r" % stream.health())
        assert "process %d" % conn.info.backend_pid in said, said
        stream.stop(timeout="30 s")
    conn.rollback()
    conn.close()
    assert stream.state == "stopped"
    stream.start()
    check_equal(stream, ["lc"])


def test_stop_drains(stream):
    """Everything that was applied has its position; the rest comes later."""
    stop = threading.Event()

    def write():
        i = 1000
        while not stop.is_set():
            add(stream, i, i + 9)
            i += 10
    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(5):
            stream.stop()
            assert stream.state == "stopped"
            stream.start()
            stream.wait()
    finally:
        stop.set()
        writer.join()
    check_equal(stream, ["lc"])


def test_stop_and_start_at_once_by_many(stream):
    """Sessions that start and stop it meet: one of the two holds at the end."""
    errors = []

    def session(sql):
        conn = stream.dst.connect()
        with conn.cursor() as cur:
            for _ in range(8):
                try:
                    cur.execute(sql)
                except psycopg2.Error as e:
                    errors.append(e)
        conn.close()
    threads = [threading.Thread(target=session, args=(sql,)) for sql in (
        "SELECT sluice.sync_stop('s1', true, '30 s')",
        "SELECT sluice.sync_start('s1')") * 2]
    for t in threads:
        t.start()
    for t in threads:
        t.join(300)
        assert not t.is_alive()
    known = {"55006", "55P03", "SL002"}     # it stops just now, or is being changed
    assert {e.pgcode for e in errors} <= known, [str(e) for e in errors]
    stream.stop()
    stream.start()
    stream.wait()
    add(stream, 1, 10)
    check_equal(stream, ["lc"])
    assert stream.refusals() == []


# -- wait ------------------------------------------------------------------------------

def test_wait_holds_no_snapshot(stream):
    """The caller's session shows no xmin while it waits."""
    waiter = Waiter(stream, "refused", "5 s")
    seen = wait_until(lambda: stream.dst.rows(
        "SELECT backend_xmin, wait_event FROM pg_stat_activity WHERE pid = %s"
        " AND state = 'active' AND wait_event = 'Extension'", waiter.pid), 20)
    assert seen[0]["backend_xmin"] is None, seen
    assert waiter.result().pgcode == "55P03"


def test_wait_shows_progress(stream, lc_target):
    """Now and then it says what the stream does: here it waits for a lock."""
    stream.stop()
    stream.dst.execute("ALTER DATABASE %s SET sluice.lock_timeout = '60 s'" % stream.dst.name)
    stream.start()
    stream.wait()
    lock = stream.dst.connect(autocommit=False)
    lock.cursor().execute("LOCK TABLE lc")
    add(stream, 1, 3)
    conn = stream.dst.connect()
    with conn.cursor() as cur:
        with pytest.raises(psycopg2.Error) as e:
            cur.execute("CALL sluice.sync_wait('s1', 'caught_up', '8 s')")
    assert e.value.pgcode == "55P03", str(e.value)
    assert any("lock" in notice for notice in conn.notices), conn.notices
    conn.close()
    lock.rollback()
    lock.close()
    check_equal(stream, ["lc"])


def test_wait_raises_what_stopped_the_stream(stream):
    """Everybody who waits is told the refusal itself, at once."""
    stream.stop()
    stream.start(schema_changes="refuse")
    waiters = [Waiter(stream, state, "1 h") for state in
               ("stopped", "refused", "failed")]
    wait_until(lambda: stream.dst.value(
        "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'Extension'"
        " AND query LIKE 'CALL%%'") >= 3, 20)
    stream.src.execute("ALTER TABLE lc ADD COLUMN extra int")
    add_extra = "INSERT INTO lc VALUES (1, 'v', 2)"
    stream.src.execute(add_extra)
    row = stream.wait_refused("SCHEMA-CHANGE-REFUSED")
    stopped, refused, failed = [w.result() for w in waiters]
    assert refused is None
    for e in (stopped, failed):
        assert e.pgcode == "SL201" and str(e).startswith("SCHEMA-CHANGE-REFUSED:")
        assert (e.diag.schema_name, e.diag.table_name) == ("public", "lc")
        assert e.diag.message_hint == row["hint"]
    # asked again, it is told again, by stop too
    with pytest.raises(psycopg2.Error, match="^SCHEMA-CHANGE-REFUSED:"):
        stream.wait("streaming")
    stream.stop()
    assert stream.health()["desired_state"] == "stopped"
    assert stream.state == "refused"


def test_wait_inside_a_transaction(stream):
    """In a block it works too, but not for what the block itself has done."""
    conn = stream.dst.connect(autocommit=False)
    with conn.cursor() as cur:
        cur.execute("CALL sluice.sync_wait('s1', 'caught_up', '20 s')")
        add(stream, 1, 3)
        cur.execute("CALL sluice.sync_wait('s1', 'caught_up', '20 s')")
        cur.execute("SELECT count(*) FROM lc")
        assert cur.fetchone()[0] == 3
    conn.rollback()
    stream.stop()
    with conn.cursor() as cur:
        cur.execute("SELECT state FROM sluice.sync_start('s1')")
        assert cur.fetchone()[0] == "starting"
        with pytest.raises(psycopg2.Error, match="not committed") as e:
            cur.execute("CALL sluice.sync_wait('s1', 'streaming', '1 h')")
        assert e.value.pgcode == "55000"
    conn.rollback()
    conn.close()
    assert stream.state == "stopped", "a start that was rolled back"


def test_start_rolled_back_and_savepoints(stream):
    """Only what commits starts a worker."""
    stream.stop()
    stream.dst.execute(
        "BEGIN; SAVEPOINT a; SELECT sluice.sync_start('s1'); ROLLBACK TO a; COMMIT")
    assert stream.state == "stopped" and stream.health()["pid"] is None
    stream.dst.execute(
        "BEGIN; SAVEPOINT a; SELECT sluice.sync_start('s1'); RELEASE a; COMMIT")
    stream.wait()
    stream.stop()
    error = stream.dst.error("BEGIN; SELECT sluice.sync_start('s1');"
                             " PREPARE TRANSACTION 'x'")
    assert error.pgcode in ("0A000", "55000"), str(error)


# -- drop -------------------------------------------------------------------------------

@pytest.mark.quick
def test_drop(stream):
    """Not while it runs; then nothing is left on either side."""
    with pytest.raises(psycopg2.Error) as e:
        stream.drop()
    assert e.value.pgcode == "55006"
    assert "sync_stop" in e.value.diag.message_hint
    slot = stream.health()["slot_name"]
    stream.stop()
    stream.drop()
    assert stream.health() is None
    assert stream.src.value("SELECT count(*) FROM pg_replication_slots"
                            " WHERE slot_name = %s", slot) == 0
    assert stream.src.value("SELECT count(*) FROM pg_publication") == 0
    for table in ("stream_state", "stream_position", "stream_table", "schema_history",
                  "stream_stat", "refusal", "conflict", "schema_event"):
        assert stream.dst.value("SELECT count(*) FROM sluice." + table) == 0, table
    # a new stream of the same name is a new stream
    stream.dst.execute("TRUNCATE lc")
    stream.start()
    stream.wait()
    assert stream.health()["restarts"] == 0


def test_drop_of_another_servers_slot(make_pg, lc_target):
    """The address leads to another server now: nothing is touched there."""
    source = make_pg("lifecycle-a", preload="")
    other = make_pg("lifecycle-b", preload="")
    src, dst = databases(source, lc_target)
    stream = make_stream(src, dst)
    slot = stream.health()["slot_name"]
    stream.stop()
    other.execute("ALTER ROLE sluice_src PASSWORD '%s'" % source.secret)
    other.execute('CREATE DATABASE "%s"' % src.name)
    other.execute("SELECT pg_create_logical_replication_slot(%s, 'pgoutput')", slot,
                  dbname=src.name)
    dst.execute("ALTER SERVER src_s1 OPTIONS (SET port '%d')" % other.port)
    with pytest.raises(psycopg2.Error, match="^SOURCE-IDENTITY-CHANGED:"):
        stream.drop()
    assert other.value("SELECT count(*) FROM pg_replication_slots") == 1
    stream.drop(clean_source=False)
    dst.destroy()


def test_database_is_dropped_after_its_streams(source, lc_target):
    src, dst = databases(source, lc_target)
    stream = make_stream(src, dst)
    with pytest.raises(psycopg2.Error, match="^STREAM-EXISTS:") as e:
        lc_target.execute('DROP DATABASE "%s" WITH (FORCE)' % dst.name)
    assert "sync_drop" in e.value.diag.message_hint
    stream.stop()
    with pytest.raises(psycopg2.Error, match="^STREAM-EXISTS:"):
        lc_target.execute('DROP DATABASE "%s"' % dst.name)
    stream.drop()
    lc_target.execute('DROP DATABASE "%s"' % dst.name)
    src.destroy()


def test_dump_and_restore(stream, lc_target):
    """pg_dump has the streams whole, and new ones can be made beside them."""
    stream.stop()
    dump = lc_target.run("pg_dump", "-h", lc_target.sockdir, "-p", lc_target.port,
                         "-U", "postgres", stream.dst.name).stdout
    assert stream.src.server.secret not in dump.split("CREATE USER MAPPING")[0]
    there = lc_target.fresh_db("lc_restored")
    there.psql(dump)
    tables = there.execute("SELECT c.relname FROM pg_class c WHERE c.relkind = 'r' AND"
                           " c.relnamespace = 'sluice'::regnamespace")
    for (table,) in tables:
        text = "SELECT coalesce(string_agg(t::text, E'\\n' ORDER BY t::text), '')" \
               " FROM sluice.%s t" % table
        assert there.value(text) == stream.dst.value(text), table
    there.execute("SELECT sluice.sync_start('new', options => '{\"feed\": true}')")
    assert there.value("SELECT count(*) FROM sluice.health") == 2
    there.execute("SELECT sluice.sync_stop('new'), sluice.sync_drop('new')")
    there.execute("SELECT sluice.sync_drop('s1', clean_source => false)")
    there.destroy()


def test_server_and_role_are_needed(dbs):
    src, dst = dbs
    dst.execute("DROP ROLE IF EXISTS lc_owner; CREATE ROLE lc_owner SUPERUSER LOGIN")
    server = make_server(src, dst, mapping_for="lc_owner")
    stream = Stream(src, dst, "s1", server)
    stream.start(user="lc_owner")
    stream.wait()
    for sql in ('DROP SERVER "%s"' % server, 'DROP SERVER "%s" CASCADE' % server,
                'ALTER SERVER "%s" RENAME TO other' % server,
                "DROP ROLE lc_owner", "DROP EXTENSION sluice",
                "DROP EXTENSION sluice CASCADE"):
        error = dst.error(sql)
        assert error.pgcode == "SL004", "%s: %s" % (sql, error)
        assert "s1" in error.diag.message_detail
    # from another database too: the role is the cluster's
    assert dst.server.value("SELECT count(*) FROM pg_roles WHERE rolname = 'lc_owner'")
    with pytest.raises(psycopg2.Error, match="^STREAM-EXISTS:"):
        dst.server.execute("DROP ROLE lc_owner")
    stream.stop(user="lc_owner")
    stream.drop(user="lc_owner")
    dst.execute('DROP SERVER "%s" CASCADE; DROP ROLE lc_owner' % server)
    dst.execute("DROP EXTENSION sluice CASCADE")


def test_stop_while_the_catalog_changes(pair):
    """What a worker has forgotten at its end, a change of the catalog must not reach."""
    src, dst = pair
    stream = follow(src, dst, "CREATE TABLE t (id int PRIMARY KEY)")
    halt = threading.Event()

    def change():
        conn = dst.connect()
        with conn.cursor() as cur:
            while not halt.is_set():
                cur.execute("CREATE TABLE x (a int); ALTER TABLE x ADD b int; DROP TABLE x")
        conn.close()
    thread = threading.Thread(target=change)
    mark = dst.server.log_mark()
    thread.start()
    try:
        for i in range(10):
            src.execute("INSERT INTO t VALUES (%s)", i)
            stream.caught_up()
            stream.stop()
            stream.start()
    finally:
        halt.set()
        thread.join(60)
    stream.caught_up()
    assert_same_rows(src, dst, ["t"])
    assert "terminated by signal" not in dst.server.log_text(mark)
