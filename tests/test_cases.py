"""Inputs that have broken tools like this one, where no other file has them."""
import psycopg2
import pytest

from lib import Stream, assert_same_rows, both, make_server, make_stream, wait_until


def failed_checks(dst, server):
    return [r for r in dst.rows("SELECT * FROM sluice.preflight(%s)", server)
            if not r["ok"]]


def test_unusable_identity_refuses_before_the_publication(pair):
    """PR-11: identity NOTHING and a deferrable key; source writes go on."""
    src, dst = pair
    both(src, dst, "CREATE TABLE ri9 (id int PRIMARY KEY DEFERRABLE, v int);"
         "CREATE TABLE ri10 (id int PRIMARY KEY, v int);"
         "ALTER TABLE ri10 REPLICA IDENTITY NOTHING;")
    src.execute("INSERT INTO ri9 VALUES (1, 1); INSERT INTO ri10 VALUES (1, 1)")
    st = Stream(src, dst, "s1", make_server(src, dst))
    with pytest.raises(psycopg2.Error) as e:
        st.start()
    assert e.value.pgcode == "SL001"
    assert "ri9" in e.value.diag.message_detail
    assert "ri10" in e.value.diag.message_detail
    assert src.value("SELECT count(*) FROM pg_publication") == 0
    src.execute("UPDATE ri9 SET v = 2; UPDATE ri10 SET v = 2")


def test_partition_attached_with_rows(pair):
    """PP-02: ATTACH of a filled table changes the contents without an event."""
    src, dst = pair
    both(src, dst, "CREATE TABLE pa1 (id int, d date, v int, PRIMARY KEY (id, d))"
         " PARTITION BY RANGE (d);"
         "CREATE TABLE pa1_24 PARTITION OF pa1 FOR VALUES FROM ('2024-01-01') TO ('2025-01-01');")
    st = make_stream(src, dst, include_tables=["pa1"])
    src.execute("CREATE TABLE pa1_25 (LIKE pa1 INCLUDING ALL);"
                "INSERT INTO pa1_25 VALUES (2, '2025-02-02', 2), (3, '2025-03-03', 3);"
                "ALTER TABLE pa1 ATTACH PARTITION pa1_25"
                " FOR VALUES FROM ('2025-01-01') TO ('2026-01-01');"
                "INSERT INTO pa1 VALUES (4, '2025-04-04', 4);")
    row = st.wait_state("refused", timeout=60)
    assert row["marker"] in ("TARGET-CONSTRAINT-VIOLATED", "SCHEMA-CHANGE-REFUSED"), row
    assert dst.value("SELECT count(*) FROM pa1") == 0


def test_coarser_key_on_the_target(pair):
    """PA-07: the target's key equates what the source keeps apart."""
    src, dst = pair
    src.execute("CREATE TABLE kc1 (k text PRIMARY KEY, v int);"
                "INSERT INTO kc1 VALUES ('a', 1), ('A', 2), ('a ', 3), ('á', 4)")
    dst.execute("CREATE COLLATION coarse (provider = icu, deterministic = false,"
                " locale = 'und-u-ks-level1');"
                "CREATE TABLE kc1 (k text COLLATE coarse PRIMARY KEY, v int)")
    server = make_server(src, dst)
    bad = failed_checks(dst, server)
    assert [r["side"] for r in bad] == ["target"] and "kc1" in bad[0]["detail"], bad
    dst.execute("DROP TABLE kc1; CREATE TABLE kc1 (k text PRIMARY KEY, v int)")
    st = Stream(src, dst, "s1", server)
    st.start()
    st.caught_up()
    assert_same_rows(src, dst, ["kc1"])


def test_settings_of_the_target_do_not_reach_the_worker(pair):
    """PA-13: timeouts set on database and role; a read-only default refuses."""
    src, dst = pair
    both(src, dst, "CREATE TABLE t (id int PRIMARY KEY, v text)")
    for setting in ("statement_timeout = '1ms'", "lock_timeout = '1ms'",
                    "idle_in_transaction_session_timeout = '1ms'"):
        dst.execute('ALTER DATABASE "%s" SET %s' % (dst.name, setting))
    src.execute("INSERT INTO t SELECT i, repeat('x', 1000) FROM generate_series(1, 20000) i")
    conn = dst.connect(options="-c statement_timeout=0")
    with conn.cursor() as cur:
        cur.execute("SET log_min_error_statement = 'panic'; CREATE SERVER s FOREIGN DATA"
                    " WRAPPER sluice OPTIONS (driver 'postgres', host '127.0.0.1', port '%d',"
                    " dbname '%s', sslmode 'disable'); CREATE USER MAPPING FOR CURRENT_USER"
                    " SERVER s OPTIONS (user 'sluice_src', password '%s')"
                    % (src.server.port, src.name, src.server.secret))
        cur.execute("SELECT * FROM sluice.sync_start('s1', source => 's')")
        cur.execute("CALL sluice.sync_wait('s1', 'caught_up')")
        cur.execute("SELECT state, restarts FROM sluice.health")
        state, restarts = cur.fetchone()
    assert state == "streaming" and restarts <= 1
    conn.close()
    for name in ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"):
        dst.server.execute('ALTER DATABASE "%s" RESET %s' % (dst.name, name))
    assert_same_rows(src, dst, ["t"])
    dst.server.execute('ALTER DATABASE "%s" SET default_transaction_read_only = on' % dst.name)
    bad = failed_checks(dst, "s")
    dst.server.execute('ALTER DATABASE "%s" RESET default_transaction_read_only' % dst.name)
    assert "default_transaction_read_only" in [r["check_name"] for r in bad], bad


def test_acknowledged_only_when_durable(make_pg, source):
    """PA-17: asynchronous commits here; the target dies; nothing is lost."""
    dst = make_pg("async", conf={"wal_writer_delay": "10s", "fsync": "on",
                                 "synchronous_commit": "off"}).fresh_db("a", extension=True)
    src = source.fresh_db("a")
    both(src, dst, "CREATE TABLE t (id int PRIMARY KEY)")
    st = make_stream(src, dst)
    for i in range(0, 1000, 100):
        src.execute("INSERT INTO t SELECT generate_series(%s, %s)", i, i + 99)
    wait_until(lambda: dst.value("SELECT count(*) FROM t") == 1000, 30, "rows do not arrive")
    dst.server.kill9()
    confirmed = src.value("SELECT confirmed_flush_lsn FROM pg_replication_slots"
                          " WHERE database = %s", src.name)
    dst.server.start()
    assert dst.value("SELECT lsn >= %s::pg_lsn FROM sluice.stream_position", confirmed)
    st.wait("streaming")
    st.caught_up()
    assert_same_rows(src, dst, ["t"])


def test_policy_functions_do_not_run(pair):
    """PX-02: row-level security of the source refuses, its code never runs."""
    src, dst = pair
    both(src, dst, "CREATE TABLE rl1 (id int PRIMARY KEY, t text)")
    src.execute("SET log_min_error_statement = 'panic'; DROP ROLE IF EXISTS px02;"
                "CREATE ROLE px02 LOGIN REPLICATION PASSWORD '%s';" % src.server.secret)
    src.execute("CREATE TABLE ran (n int); GRANT ALL ON ran TO PUBLIC;"
                "CREATE FUNCTION spy() RETURNS bool LANGUAGE plpgsql AS"
                " $$BEGIN INSERT INTO ran VALUES (1); RETURN true; END$$;"
                "INSERT INTO rl1 VALUES (1, 'x');"
                "ALTER TABLE rl1 ENABLE ROW LEVEL SECURITY;"
                "CREATE POLICY pol ON rl1 USING (spy());"
                "CREATE PUBLICATION px02 FOR TABLE rl1 WITH (publish_via_partition_root);"
                "GRANT SELECT ON rl1 TO px02")
    server = make_server(src, dst, user="px02")
    st = Stream(src, dst, "s1", server)
    with pytest.raises(psycopg2.Error) as e:
        st.start(include_tables=["rl1"], options={"publication_name": "px02"})
    assert e.value.pgcode == "SL001" and "rl1" in e.value.diag.message_detail
    assert src.value("SELECT count(*) FROM ran") == 0
    src.execute("DROP OWNED BY px02")
    src.execute("DROP ROLE px02")


def test_lost_slot_is_never_healthy(make_pg, target):
    """PS-04: a slot lost while the stream runs; lag that is not known is not 0."""
    src = make_pg("lossy", preload="",
                  conf={"max_slot_wal_keep_size": "1MB", "min_wal_size": "32MB",
                        "max_wal_size": "48MB"}).fresh_db("lossy")
    dst = target.fresh_db("lossy", extension=True)
    both(src, dst, "CREATE TABLE t (id int PRIMARY KEY, v text)")
    st = make_stream(src, dst)
    lock = dst.connect(autocommit=False)
    lock.cursor().execute("LOCK TABLE t IN ACCESS EXCLUSIVE MODE")
    src.execute("INSERT INTO t VALUES (1, 'x')")

    def lost():
        src.execute("SELECT pg_switch_wal()")
        src.execute("INSERT INTO t SELECT max(id) + 1 FROM t")
        src.execute("CHECKPOINT")
        return st.slot()["wal_status"] == "lost"
    wait_until(lost, 60, "the slot is not lost")
    lock.rollback()
    row = st.wait_refused("SLOT-LOST")
    assert not row["healthy"] and row["lag_bytes"] != 0
    assert row["lag"] is None or row["lag"].total_seconds() > 0
    lock.close()


def test_publication_that_an_ended_try_still_makes(pair):
    """A session that was left behind commits the publication while the next try makes it."""
    src, dst = pair
    both(src, dst, "CREATE TABLE a (id int PRIMARY KEY)")
    st = Stream(src, dst, "s1", make_server(src, dst))
    st.start()
    st.stop()
    name = dst.value("SELECT slot_name FROM sluice.health")
    src.execute("DROP PUBLICATION IF EXISTS %s" % name)
    conn = src.connect(autocommit=False)
    conn.cursor().execute("CREATE PUBLICATION %s" % name)
    st.start()
    wait_until(lambda: src.value("SELECT count(*) FROM pg_locks WHERE NOT granted"), 60, "nobody waits")
    conn.commit()
    conn.close()
    st.caught_up()
    assert "is being created by another session" in dst.server.log_text()
    assert_same_rows(src, dst, ["a"])
    st.stop()


def test_same_call_resumes_in_every_phase(pair):
    """PS-23: stop while starting, copying and streaming; the same call again."""
    src, dst = pair
    both(src, dst, "CREATE TABLE a (id int PRIMARY KEY, v text);"
         "CREATE TABLE b (id int PRIMARY KEY, v text)")
    src.execute("INSERT INTO a SELECT i, repeat('x', 500) FROM generate_series(1, 50000) i;"
                "INSERT INTO b SELECT i, 'y' FROM generate_series(1, 1000) i")
    st = Stream(src, dst, "s1", make_server(src, dst))
    st.start()
    st.stop()
    st.start()
    st.wait("copying")
    st.stop()
    st.start()
    st.caught_up()
    src.execute("UPDATE b SET v = 'z'")
    st.stop()
    st.start()
    st.caught_up()
    assert_same_rows(src, dst, ["a", "b"])
    st.stop()
    with pytest.raises(psycopg2.Error) as e:
        st.start(include_tables=["a"])
    assert e.value.pgcode == "SL204"
