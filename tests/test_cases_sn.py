"""Snapshots, copy, hand-over: inputs that have broken tools like this one.

Each test is a case of the field: what failed there, and what must happen here.
"""
import re
import threading

import psycopg2
import pytest

from lib import (PgServer, Stream, assert_same_rows, both, caught_up_same, cold_stream,
                 make_server, make_stream, wait_until)
from lib.proxy import Proxy
from lib.rounds import FAST, check_equal, refused_start

# A rate at which the copy of SLOW_ROWS takes some seconds; lifted by FULL_SPEED.
SLOW = {"copy_bytes_per_second": 200000, "copy_workers": 2}
FULL_SPEED = {"copy_bytes_per_second": None}
SLOW_ROWS = "SELECT i, repeat('x', 100) FROM generate_series(1, 10000) AS i"


@pytest.fixture(scope="module")
def servers():
    """Servers of this file: workers are killed, roles get settings."""
    source = PgServer("sn-source", preload="").start()
    target = PgServer("sn-target", conf=FAST).start()
    yield source, target
    target.destroy()
    source.destroy()


@pytest.fixture
def dbs(servers):
    src = servers[0].fresh_db("sn")
    dst = servers[1].fresh_db("sn", extension=True)
    yield src, dst
    servers[1].reload(**{"sluice.fault_point": ""})
    dst.destroy()
    src.destroy()


def refuses(stream, **args):
    """sync_start that raises PREFLIGHT-FAILED; its detail, nothing left behind."""
    with pytest.raises(psycopg2.Error) as e:
        stream.start(**args)
    assert e.value.pgcode == "SL001", e.value
    assert stream.src.value("SELECT count(*) FROM pg_replication_slots"
                            " WHERE database = current_database()") == 0
    assert stream.health() is None
    return e.value.diag.message_detail


def copying(stream, tables, timeout=60):
    """Wait until rows of every one of these tables are on their way, none complete."""
    def look():
        rows = stream.dst.rows("SELECT c.relname, p.rows_done FROM sluice.progress p"
                               " JOIN pg_class c ON c.oid = p.relid WHERE p.phase = 'copying'")
        return {r["relname"] for r in rows if r["rows_done"]} >= set(tables)
    wait_until(look, timeout, lambda: "copying %s; progress is %r, tables %r" % (
        tables, stream.dst.rows("SELECT * FROM sluice.progress"),
        stream.dst.rows("SELECT * FROM sluice.tables")))


# ---------- what is copied ----------

def test_filter_of_a_publication(pair):
    """SN-01: a publication taken by name that filters rows is not taken."""
    src, dst = pair
    src.execute("CREATE TABLE sf1 (id int PRIMARY KEY, region text);"
                "INSERT INTO sf1 VALUES (1, 'EU'), (2, 'US'), (3, NULL);"
                "ALTER TABLE sf1 REPLICA IDENTITY FULL;"
                "CREATE PUBLICATION pf FOR TABLE sf1 WHERE (region = 'EU')"
                " WITH (publish_via_partition_root)")
    stream = Stream(src, dst, "s1", make_server(src, dst))
    detail = refuses(stream, options={"publication_name": "pf"})
    assert "sf1" in detail and "in part" in detail, detail
    src.execute("ALTER PUBLICATION pf SET TABLE sf1")
    stream.start(options={"publication_name": "pf"})
    stream.wait()
    caught_up_same(stream, "sf1")
    # put on afterwards: the stream would lose rows that the copy has
    stream.stop()
    src.execute("ALTER PUBLICATION pf SET TABLE sf1 WHERE (region = 'EU')")
    assert "sf1" in refused_start(stream, "PUBLICATION-DRIFT")[1]


def test_replica_is_not_copied_from(servers, make_pg):
    """SN-02: a standby is no source for a copy, whatever it has replayed."""
    source = make_pg("sn-primary", preload="")
    src = source.fresh_db("sn")
    src.execute("CREATE TABLE sl1 (id int PRIMARY KEY)")
    standby = source.standby()
    try:
        source.replayed(standby)
        standby.execute("SELECT pg_wal_replay_pause()")
        src.execute("INSERT INTO sl1 VALUES (60)")
        dst = servers[1].fresh_db("sn", extension=True)
        name = make_server(src, dst, port=str(standby.port))
        stream = Stream(src, dst, "s1", name)
        assert "standby" in refuses(stream)
        dst.execute('ALTER SERVER "%s" OPTIONS (SET port \'%d\')' % (name, source.port))
        stream.start()
        caught_up_same(stream, "sl1")
        assert dst.value("SELECT id FROM sl1") == 60
        dst.destroy()
    finally:
        standby.destroy()


def test_load_balancer(servers, make_pg):
    """SN-04: an address that leads to two hosts never gives a mixed copy."""
    source = make_pg("sn-balanced", preload="")
    src = source.fresh_db("sn")
    dst = servers[1].fresh_db("sn", extension=True)
    src.execute("CREATE TABLE a AS SELECT i FROM generate_series(1, 1000) AS i;"
                "ALTER TABLE a ADD PRIMARY KEY (i);"
                "CREATE TABLE b (i int PRIMARY KEY); INSERT INTO b TABLE a")
    standby = source.standby()
    try:
        source.replayed(standby)
        standby.execute("SELECT pg_wal_replay_pause()")
        src.execute("DELETE FROM b WHERE i <= 10; INSERT INTO a VALUES (1001)")
        with Proxy(source.port) as proxy:
            stream = make_stream(src, dst, start=False,
                                 server_options={"port": str(proxy.port)})
            stream.start()
            proxy.balance(standby.port, source.port)
            proxy.cut()

            def told():
                reason = (stream.health()["reason"] or "") + dst.server.log_text(mark)
                return "another server" in reason or "recovery" in reason or \
                    "standby" in reason
            mark = dst.server.log_mark()
            wait_until(told, 60, lambda: "it is told: %r" % stream.health())
            assert stream.state in ("retrying", "starting", "copying", "refused"), \
                stream.health()
            proxy.balance(source.port)
            if stream.state == "refused":
                stream.start()
            stream.wait()
            caught_up_same(stream, "a", "b")
            stream.stop()
            stream.drop()
        dst.destroy()
    finally:
        standby.destroy()


COLLATED = """
CREATE COLLATION linguistic (provider = icu, locale = 'en-US-u-ks-level2', deterministic = false);
CREATE TABLE cc1 (k text COLLATE linguistic PRIMARY KEY, v int);
INSERT INTO cc1 VALUES ('a', 1), ('B', 2), ('c', 3), ('D', 4), ('é', 5), ('Z', 6), ('_', 7);
CREATE TABLE cc2 (k text COLLATE "en-US-x-icu" PRIMARY KEY, v text);
INSERT INTO cc2 SELECT chr(65 + i % 26) || repeat(chr(97 + i % 25), i % 7) || i, repeat('v', 900)
    FROM generate_series(1, 60000) AS i;
"""


def test_keys_in_linguistic_order(pair):
    """SN-05: each row once, however text keys sort; ranges are of blocks."""
    src, dst = pair
    src.execute(COLLATED)
    src.execute("ANALYZE")
    stream = cold_stream(src, dst, options={"copy_workers": 3})
    src.execute("UPDATE cc1 SET v = v + 10 WHERE k = 'A'; INSERT INTO cc1 VALUES ('ß', 8)")
    caught_up_same(stream, "cc1", "cc2")
    assert dst.value("SELECT count(*) FROM cc1") == 8
    assert dst.value("SELECT count(*) FROM cc2") == 60000


def test_row_security_of_values_owed(pair):
    """SN-10: a policy that comes with a column hides rows whose values are to be copied."""
    src, dst = pair
    role = "sn10b_%s" % src.name
    src.execute("SET log_min_error_statement = 'panic'; CREATE ROLE %s LOGIN REPLICATION"
                " PASSWORD '%s'" % (role, src.server.secret))
    src.execute('CREATE TABLE rl2 (id int PRIMARY KEY, t text); ALTER TABLE rl2 OWNER TO %s;'
                "INSERT INTO rl2 VALUES (1, 'a'), (2, 'b'); GRANT CREATE ON DATABASE \"%s\" TO %s"
                % (role, src.name, role))
    stream = Stream(src, dst, "s1", make_server(src, dst, user=role))
    try:
        stream.start(schema_changes="forward")
        caught_up_same(stream, "rl2")
        src.execute("ALTER TABLE rl2 ENABLE ROW LEVEL SECURITY; ALTER TABLE rl2 FORCE ROW LEVEL SECURITY;"
                    " CREATE POLICY p ON rl2 FOR SELECT USING (id > 1);"
                    " ALTER TABLE rl2 ADD d text DEFAULT 'k'; UPDATE rl2 SET t = 'z' WHERE id = 1")
        row = stream.wait_refused("PREFLIGHT-FAILED")
        cure = "ALTER ROLE %s BYPASSRLS;" % role
        way = dst.rows("SELECT * FROM sluice.remedies('s1')")[0]
        assert "[row_security]" in row["reason"] and row["hint"] == cure
        assert (way["run_on"], way["statement"]) == ("source", cure)
        src.execute(cure)
        stream.start()
        # the policy itself is not carried: that is another refusal, once the values are here
        row = stream.wait_refused("UNFORWARDED-SCHEMA-CHANGE")
        assert dst.query("SELECT id, d FROM rl2 ORDER BY id") == [(1, "k"), (2, "k")]
        stream.start(accept_unforwarded_schema_change=row["fingerprint"])
        caught_up_same(stream, "rl2")
        stream.stop()
        stream.drop()
    finally:
        src.execute("DROP OWNED BY %s CASCADE; DROP ROLE %s" % (role, role))


@pytest.mark.parametrize("force", [False, True])
def test_row_security_refuses(pair, force):
    """SN-10: rows that a policy hides from our role are never left out."""
    src, dst = pair
    role = "sn10_%s" % src.name
    src.execute("CREATE TABLE rl1 (id int PRIMARY KEY, t text);"
                "INSERT INTO rl1 VALUES (1, 'a'), (2, 'b');"
                "ALTER TABLE rl1 ENABLE ROW LEVEL SECURITY;")
    src.execute("SET log_min_error_statement = 'panic'; CREATE ROLE %s LOGIN REPLICATION"
                " PASSWORD '%s'" % (role, src.server.secret))
    if force:
        src.execute("ALTER TABLE rl1 FORCE ROW LEVEL SECURITY; ALTER TABLE rl1 OWNER TO %s;"
                    % role)
        src.execute('GRANT CREATE ON DATABASE "%s" TO %s' % (src.name, role))
    else:
        src.execute("CREATE PUBLICATION p FOR TABLE rl1 WITH (publish_via_partition_root);"
                    "GRANT SELECT ON rl1 TO %s" % role)
    stream = Stream(src, dst, "s1", make_server(src, dst, user=role))
    options = {} if force else {"options": {"publication_name": "p"}}
    try:
        assert "rl1" in refuses(stream, **options)
        src.execute("ALTER ROLE %s BYPASSRLS" % role)
        stream.start(**options)
        caught_up_same(stream, "rl1")
        assert dst.value("SELECT count(*) FROM rl1") == 2
        stream.stop()
        stream.drop()
    finally:
        src.execute("DROP OWNED BY %s CASCADE" % role)
        src.execute("DROP ROLE %s" % role)


SF1 = "CREATE TABLE sf1 (id int PRIMARY KEY, region text);"


def test_drifted_target(pair):
    """SN-13: other columns are named one by one; nothing is copied."""
    src, dst = pair
    src.execute(SF1 + "INSERT INTO sf1 SELECT i, 'EU' FROM generate_series(1, 9) AS i")
    dst.execute("CREATE TABLE sf1 (id bigint PRIMARY KEY, regio text, region varchar(1))")
    stream = Stream(src, dst, "s1", make_server(src, dst))
    detail = refuses(stream)
    assert "sf1" in detail and "region" in detail, detail
    assert "character varying(1)" in detail and "text" in detail, detail
    assert dst.value("SELECT count(*) FROM sf1") == 0


def test_target_with_rows(pair):
    """SN-13: rows that are there refuse with their number; each way out asked for."""
    src, dst = pair
    both(src, dst, SF1)
    src.execute("INSERT INTO sf1 SELECT i, 'EU' FROM generate_series(1, 9) AS i")
    dst.execute("INSERT INTO sf1 VALUES (1, 'X'), (77, 'X')")
    stream = Stream(src, dst, "s1", make_server(src, dst))
    detail = refuses(stream)
    assert "sf1 has rows (2)" in detail, detail
    assert dst.query("SELECT * FROM sf1 ORDER BY id") == [(1, "X"), (77, "X")]
    stream.start(options={"existing_rows": "truncate"})
    caught_up_same(stream, "sf1")


def test_rows_adopted(pair):
    """SN-13: rows taken as the copy are not touched, and then followed."""
    src, dst = pair
    both(src, dst, SF1 + "INSERT INTO sf1 SELECT i, 'EU' FROM generate_series(1, 9) AS i")
    dst.execute("CREATE TABLE before AS SELECT ctid AS at, id FROM sf1")
    stream = make_stream(src, dst, include_tables=["sf1"],
                         options={"existing_rows": "adopt"})
    src.execute("UPDATE sf1 SET region = 'US' WHERE id = 3; DELETE FROM sf1 WHERE id = 4")
    caught_up_same(stream, "sf1")
    assert dst.value("SELECT count(*) FROM sf1 JOIN before USING (id) WHERE sf1.ctid = at") == 7
    assert not stream.conflicts()


def test_excluded_in_both_phases(pair):
    """SN-20: what is excluded is in neither copy nor stream, nor is its sequence."""
    src, dst = pair
    src.execute("CREATE SCHEMA audit; CREATE TABLE audit.log (id serial PRIMARY KEY, t text);"
                "CREATE TABLE kept (id serial PRIMARY KEY, t text);"
                "CREATE TABLE audit.child (id int PRIMARY KEY, log int REFERENCES audit.log);"
                "INSERT INTO audit.log (t) VALUES ('copied'); INSERT INTO kept (t) VALUES ('a')")
    stream = Stream(src, dst, "s1", make_server(src, dst))
    detail = refuses(stream, exclude_tables=["audit.logs"])
    assert "audit.logs" in detail, detail
    stream.start(exclude_tables=["audit.*"])
    stream.wait()
    src.execute("INSERT INTO audit.log (t) VALUES ('x'); INSERT INTO kept (t) VALUES ('b');"
                "INSERT INTO audit.child VALUES (1, 1)")
    caught_up_same(stream, "kept")
    assert dst.value("SELECT to_regclass('audit.log')") is None
    assert dst.value("SELECT to_regclass('audit.log_id_seq')") is None
    assert dst.value("SELECT to_regclass('kept_id_seq')") is not None
    # the same of a foreign key that would lead out of scope
    stream.stop()
    stream.drop()


def test_foreign_key_out_of_scope(pair):
    """SN-20: a foreign key to an excluded table is not built, and named."""
    src, dst = pair
    src.execute("CREATE TABLE parent (id int PRIMARY KEY); CREATE TABLE kept (id int PRIMARY KEY,"
                " p int CONSTRAINT out REFERENCES parent);"
                "INSERT INTO parent VALUES (1); INSERT INTO kept VALUES (1, 1)")
    stream = make_stream(src, dst, include_tables=["kept"])
    caught_up_same(stream, "kept")
    assert dst.value("SELECT count(*) FROM pg_constraint WHERE conrelid = 'kept'::regclass"
                     " AND contype = 'f'") == 0
    rows = dst.rows("SELECT * FROM sluice.schema_objects WHERE object_name = 'out'")
    assert [r["state"] for r in rows] == ["not_carried"], rows


# ---------- the copy is disturbed ----------

@pytest.mark.parametrize("point", ["copy_task_commit", "copy_task_done"])
def test_killed_around_the_commit(dbs, point):
    """SN-08: a keyless table whose copy commits or not: its rows once."""
    src, dst = dbs
    src.execute("CREATE TABLE kl1 (a int); ALTER TABLE kl1 REPLICA IDENTITY FULL;"
                "INSERT INTO kl1 SELECT generate_series(1, 1000);"
                "CREATE TABLE kl2 (a int); ALTER TABLE kl2 REPLICA IDENTITY FULL;"
                "INSERT INTO kl2 SELECT 7 FROM generate_series(1, 1000)")
    target = dst.server
    for n in (1, 2):
        mark = target.log_mark()
        target.reload(**{"sluice.fault_point": "%s:%d" % (point, n)})
        if n == 1:
            stream = make_stream(src, dst, wait=None, options={"copy_workers": 1})
        target.wait_log('fault point "%s" reached' % point, mark, timeout=60)
        target.wait_log("all server processes terminated; reinitializing", mark, timeout=60)
        if n == 2:
            target.reload(**{"sluice.fault_point": ""})
        wait_until(target.answers, 60, "the target does not answer")
    stream.wait("streaming", "60 s")
    caught_up_same(stream, "kl1", "kl2")
    assert dst.value("SELECT count(*) FROM kl1") == 1000
    assert dst.value("SELECT count(*) FROM kl2") == 1000


def test_names_that_differ_in_case(dbs):
    """SN-14: Foo and foo are two tables to the resume too."""
    src, dst = dbs
    src.execute('CREATE TABLE "Foo" (id int PRIMARY KEY, v text);'
                'CREATE TABLE foo (id int PRIMARY KEY, v text);'
                "INSERT INTO \"Foo\" SELECT i, repeat('x', 500) FROM generate_series(1, 6000) AS i;"
                'INSERT INTO foo TABLE "Foo"')
    src.execute("DELETE FROM foo WHERE id % 2 = 0; ANALYZE")
    stream = make_stream(src, dst, wait=None,
                         options=dict(SLOW, copy_bytes_per_second=500000))
    copying(stream, ["Foo", "foo"])
    stream.crash_worker()
    stream.wait_state("copying", "retrying", "starting")
    stream.stop()
    src.execute('DELETE FROM "Foo" WHERE id = 1; INSERT INTO foo VALUES (2, \'new\')')
    stream.start(options=FULL_SPEED)
    stream.wait("streaming", "60 s")
    caught_up_same(stream, "Foo", "foo")
    assert dst.value('SELECT count(*) FROM "Foo"') == 5999
    assert dst.value("SELECT count(*) FROM foo") == 3001


def test_reset_with_the_source_away(make_pg, servers):
    """SN-16: a reset that cannot copy anew drops nothing."""
    source = make_pg("sn-away", preload="")
    src = source.fresh_db("sn")
    dst = servers[1].fresh_db("sn", extension=True)
    src.execute("CREATE TABLE t (id int PRIMARY KEY); INSERT INTO t SELECT generate_series(1, 50)")
    stream = cold_stream(src, dst)
    stream.caught_up()
    stream.stop()
    with pytest.raises(psycopg2.Error) as e:
        stream.start(reset_target_data=True)
    fingerprint = confirm_of(e.value)
    source.stop("immediate")
    for _ in range(2):
        with pytest.raises(psycopg2.Error):
            stream.start(reset_target_data=True, confirm=fingerprint)
        assert dst.value("SELECT count(*) FROM t") == 50
    source.start()
    stream.start(reset_target_data=True, confirm=fingerprint)
    caught_up_same(stream, "t")
    dst.destroy()


def confirm_of(error):
    """The fingerprint that a first call asks back as confirm."""
    said = "%s %s" % (error, error.diag.message_hint)
    found = re.search(r"confirm\W+([0-9a-f]{8,})", said)
    assert found, said
    return found.group(1)


def slow_role(src, name, *settings):
    src.execute("SET log_min_error_statement = 'panic'; CREATE ROLE %s SUPERUSER LOGIN"
                " REPLICATION PASSWORD '%s'" % (name, src.server.secret))
    for setting in settings:
        src.execute("ALTER ROLE %s SET %s" % (name, setting))


def test_timeouts_of_the_source_role(dbs):
    """SN-17: settings of the role do not end the snapshot of a long copy."""
    src, dst = dbs
    slow_role(src, "sn17", "idle_in_transaction_session_timeout = '1s'",
              "idle_session_timeout = '1s'", "statement_timeout = '1s'", "lock_timeout = '1ms'",
              "default_transaction_isolation = 'read committed'")
    src.execute("CREATE TABLE t1 (id int PRIMARY KEY, v text);"
                "CREATE TABLE t2 (id int PRIMARY KEY, v text);"
                "INSERT INTO t1 %s; INSERT INTO t2 %s" % (SLOW_ROWS, SLOW_ROWS))
    mark = dst.server.log_mark()
    stream = make_stream(src, dst, user="sn17", options=SLOW, wait=None)
    copying(stream, ["t1"])
    src.execute("UPDATE t2 SET v = 'late' WHERE id = 1")
    stream.wait("streaming", "120 s")
    caught_up_same(stream, "t1", "t2")
    assert "timeout" not in dst.server.log_text(mark)
    assert stream.health()["restarts"] == 0
    stream.stop()
    stream.drop()
    src.execute("DROP ROLE sn17")


def test_exporter_of_the_snapshot_dies(dbs):
    """SN-17: the connection that keeps the snapshot ends: never two snapshots mixed."""
    src, dst = dbs
    src.execute("CREATE TABLE t1 (id int PRIMARY KEY, v text);"
                "CREATE TABLE t2 (id int PRIMARY KEY, v text);"
                "CREATE TABLE t3 (id int PRIMARY KEY, v text);"
                "INSERT INTO t1 %s; INSERT INTO t2 %s; INSERT INTO t3 %s"
                % (SLOW_ROWS, SLOW_ROWS, SLOW_ROWS))
    stream = make_stream(src, dst, options=dict(SLOW, copy_workers=1), wait=None)
    copying(stream, ["t1"])
    src.execute("SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity"
                " WHERE backend_type = 'walsender' AND datname = current_database()")
    src.execute("BEGIN; UPDATE t1 SET v = 'both' WHERE id = 5; UPDATE t3 SET v = 'both'"
                " WHERE id = 5; COMMIT; DELETE FROM t2 WHERE id = 6")
    stream.stop()
    stream.start(options=FULL_SPEED)
    stream.wait("streaming", "120 s")
    caught_up_same(stream, "t1", "t2", "t3")
    assert not stream.conflicts()


def test_ddl_behind_the_lock_of_the_copy(dbs):
    """SN-19: an ALTER waits for the copy of a table that several workers read,
    and they queue behind it: the copy ends, and nothing is lost."""
    src, dst = dbs
    src.execute("CREATE TABLE t1 (id int PRIMARY KEY, v text) WITH (autovacuum_enabled = off);"
                "INSERT INTO t1 %s" % SLOW_ROWS)
    # as if it were large: it is copied in ranges
    src.execute("ANALYZE t1; UPDATE pg_class SET relpages = CASE relname WHEN 't1' THEN 40000"
                " ELSE 1 END WHERE 't1'::regclass IN (oid, (SELECT oid FROM pg_class m WHERE"
                " m.reltoastrelid = pg_class.oid))")
    stream = make_stream(src, dst, options=SLOW, wait=None, schema_changes="forward")
    copying(stream, ["t1"])
    assert dst.value("SELECT count(*) FROM sluice.copy_task WHERE kind = 'rows'") > 1
    alter = threading.Thread(target=src.execute, args=("ALTER TABLE t1 ADD COLUMN z int DEFAULT 5",))
    alter.start()
    wait_until(lambda: not alter.is_alive() or src.value(
        "SELECT count(*) FROM pg_locks WHERE relation = 't1'::regclass AND NOT granted"
        " AND mode = 'AccessExclusiveLock'"), 60, "the ALTER does not wait")
    alter.join(120)
    assert not alter.is_alive()
    src.execute("INSERT INTO t1 VALUES (-1, 'later', 6); DELETE FROM t1 WHERE id = 1")
    row = wait_until(lambda: [r for r in [stream.health()] if r["state"] in ("streaming", "refused")],
                     180, stream.health)[0]
    if row["state"] == "refused":       # the copy had begun again, of the new shape
        dst.execute("ALTER TABLE t1 ADD COLUMN z int DEFAULT 5")
        stream.start(options=FULL_SPEED)
    check_equal(stream, ["t1"])
    assert dst.value("SELECT count(*) FROM t1") == src.value("SELECT count(*) FROM t1")


def test_ddl_while_copying(dbs):
    """SN-19: a table is altered before its turn."""
    src, dst = dbs
    src.execute("CREATE TABLE t1 (id int PRIMARY KEY, v text);"
                "CREATE TABLE t2 (id int PRIMARY KEY, z0 int);"
                "INSERT INTO t1 %s; INSERT INTO t2 SELECT i, i FROM generate_series(1, 100) AS i"
                % SLOW_ROWS)
    src.execute("ANALYZE")
    stream = make_stream(src, dst, options=dict(SLOW, copy_workers=1), wait=None,
                         schema_changes="forward")
    copying(stream, ["t1"])
    src.execute("ALTER TABLE t2 ADD COLUMN z int DEFAULT 3")
    src.execute("UPDATE t2 SET z = 4")
    # the copy is of the shape of its snapshot; then the stream comes to the change
    stream.wait("streaming", "120 s")
    check_equal(stream, ["t1", "t2"])
