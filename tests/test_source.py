"""Slots, positions, fail-over and transactions on a PostgreSQL source.

Each test is a case of the field: what failed there, and what must happen here.
"""
import os
import signal
import threading

import psycopg2
import psycopg2.extras
import pytest

from lib import (Stream, assert_same_rows, both, caught_up_same, follow, make_stream,
                 point_at, wait_until)
from lib.rounds import refused_start

SL1 = "CREATE TABLE sl1 (id int PRIMARY KEY, p text)"
BUSY = "CREATE TABLE busy (id bigserial PRIMARY KEY, p text)"
FAST = {"options": {"heartbeat_interval": "1 s"}}


@pytest.fixture
def crash_target(make_pg):
    """A target of its own: kill -9 of a worker restarts the whole cluster."""
    return make_pg("crashtarget").fresh_db("crash", extension=True)


# ---------- slot and position ----------

def test_slot_of_other_plugin_refuses(pair):
    src, dst = pair
    st = follow(src, dst, SL1)
    st.stop()
    name = st.health()["slot_name"]
    src.execute("SELECT pg_drop_replication_slot(%s)", name)
    src.execute("SELECT pg_create_logical_replication_slot(%s, 'test_decoding')", name)
    assert "test_decoding" in refused_start(st, "SLOT-MISSING")[1]


def test_promoted_behind_us_refuses(make_pg, target):
    """PS-11: the promoted standby never had what we applied."""
    source = make_pg("old", preload="")
    src, dst = source.fresh_db("fo"), target.fresh_db("fo", extension=True)
    st = follow(src, dst, SL1)
    src.execute("INSERT INTO sl1 SELECT generate_series(1, 7)")
    standby = source.standby()
    try:
        lsn = src.lsn()
        wait_until(lambda: standby.value(
            "SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn", lsn), 30, "replay")
        standby.execute("SELECT pg_wal_replay_pause()")
        standby.stop("fast")
        src.execute("INSERT INTO sl1 SELECT generate_series(8, 1000)")
        st.caught_up()
        st.stop()
        source.stop("immediate")
        standby.start()
        standby.promote()
        for i in range(3):      # past our position, on the other timeline
            standby.execute("INSERT INTO sl1 SELECT generate_series(%s, %s)",
                            10000 + i * 5000, 14999 + i * 5000, dbname=src.name)
        point_at(st, standby)
        assert "timeline" in refused_start(st, "SOURCE-BEHIND-POSITION")[1]
    finally:
        standby.destroy()


def test_standby_as_source_waits(make_pg, target):
    """A known source in recovery is waited for, not refused."""
    source = make_pg("prim", preload="")
    src, dst = source.fresh_db("sb"), target.fresh_db("sb", extension=True)
    st = follow(src, dst, SL1)
    st.stop()
    standby = source.standby()
    try:
        point_at(st, standby)
        with pytest.raises(psycopg2.Error) as e:
            st.start()
            st.wait("streaming", "20 s")
        assert "recovery" in str(e.value) or st.health()["state"] == "retrying"
    finally:
        standby.destroy()
    point_at(st, source)


def test_second_consumer_is_named_not_killed(pair):
    """PS-13: the slot is in use; wait, say by whom, then resume."""
    src, dst = pair
    st = follow(src, dst, SL1)
    st.stop()
    name = st.health()["slot_name"]
    other = psycopg2.connect(
        host=src.server.sockdir, port=src.server.port, dbname=src.name,
        user="postgres", application_name="other consumer",
        connection_factory=psycopg2.extras.LogicalReplicationConnection)
    try:
        cur = other.cursor()
        pid = other.info.backend_pid
        pub = src.value("SELECT pubname FROM pg_publication")
        cur.start_replication(slot_name=name, options={
            "proto_version": "1", "publication_names": pub})
        try:
            st.start()
        except psycopg2.Error:
            pass
        else:
            row = wait_until(lambda: (lambda h: h if h["state"] == "retrying" else None)(
                st.health()), 30, lambda: "retrying: %r" % st.health())
            assert str(pid) in row["reason"] and "other consumer" in row["reason"]
            assert not row["healthy"] or row["state"] == "retrying"
        assert src.value("SELECT active_pid FROM pg_replication_slots "
                         "WHERE slot_name = %s", name) == pid
    finally:
        other.close()
    src.execute("INSERT INTO sl1 VALUES (1)")
    if st.health()["state"] == "stopped":
        st.start()
    st.wait("caught_up", "60 s")
    assert_same_rows(src, dst, ["sl1"])


def test_quiet_tables_move_the_slot(pair):
    """PS-07: only tables out of scope are written; the slot must follow."""
    src, dst = pair
    both(src, dst, "CREATE TABLE quiet (id int PRIMARY KEY)")
    src.execute(BUSY)
    st = make_stream(src, dst, include_tables=["quiet"], **FAST)
    st.caught_up()
    name = st.health()["slot_name"]
    for _ in range(5):
        src.execute("INSERT INTO busy(p) SELECT repeat('x', 1000) "
                    "FROM generate_series(1, 10000)")
    end = src.lsn()
    wait_until(lambda: src.value(
        "SELECT confirmed_flush_lsn >= %s::pg_lsn FROM pg_replication_slots "
        "WHERE slot_name = %s", end, name), 60, "confirmed position follows")
    assert st.health()["healthy"]
    src.execute("INSERT INTO quiet VALUES (1)")
    caught_up_same(st, "quiet")


def test_confirmed_never_ahead(crash_target, source):
    """PS-08: apply is blocked by a lock; keepalives must not be confirmed."""
    src, dst = source.fresh_db("ahead"), crash_target
    both(src, dst, SL1)
    st = make_stream(src, dst, **FAST)
    st.caught_up()
    name = st.health()["slot_name"]
    blocker = dst.connect(autocommit=False)
    blocker.cursor().execute("LOCK TABLE sl1 IN ACCESS EXCLUSIVE MODE")
    before = src.lsn()
    src.execute("INSERT INTO sl1 SELECT generate_series(100, 200)")
    src.execute("CREATE TABLE noise AS SELECT generate_series(1, 1000) AS a")
    wait_until(lambda: dst.value(
        "SELECT count(*) FROM pg_locks WHERE NOT granted AND pid IN "
        "(SELECT pid FROM sluice.health)"), 30, "worker waits for the lock")
    confirmed = src.value("SELECT confirmed_flush_lsn <= %s::pg_lsn FROM "
                          "pg_replication_slots WHERE slot_name = %s", before, name)
    assert confirmed
    src.execute("DROP TABLE noise")
    st.crash_worker()
    blocker.close()
    st.wait("caught_up", "60 s")
    assert_same_rows(src, dst, ["sl1"])
    st.stop()
    st.drop()


# ---------- publication ----------

def test_publication_name_in_mixed_case(pair):
    """PS-16: the name must be quoted in the option list."""
    src, dst = pair
    both(src, dst, SL1)
    src.execute('CREATE PUBLICATION "MyPub, it\'s" FOR TABLE sl1 '
                'WITH (publish_via_partition_root = true)')
    st = make_stream(src, dst, options={"publication_name": "MyPub, it's"})
    src.execute("INSERT INTO sl1 VALUES (8)")
    caught_up_same(st, "sl1")
    st.stop()
    st.drop()
    assert src.value("SELECT count(*) FROM pg_publication") == 1


def test_late_publication_refuses(pair):
    """PS-14: publication first, slot second; an old slot is not taken."""
    src, dst = pair
    both(src, dst, SL1)
    src.execute("SELECT pg_create_logical_replication_slot('early', 'pgoutput')")
    src.execute("INSERT INTO sl1 VALUES (6)")
    src.execute("CREATE PUBLICATION late FOR TABLE sl1")
    with pytest.raises(psycopg2.Error) as e:
        st = make_stream(src, dst, options={"publication_name": "late",
                                            "slot_name": "early"})
        st.wait_refused("PREFLIGHT-FAILED")
        raise psycopg2.Error(st.health()["reason"])
    assert "early" in str(e.value)
    assert src.value("SELECT count(*) FROM pg_replication_slots "
                     "WHERE slot_name = 'early'") == 1
    src.execute("SELECT pg_drop_replication_slot('early')")


def test_publication_drift_refuses(pair):
    """PS-17's sibling: somebody changed the stream's publication."""
    src, dst = pair
    st = follow(src, dst, SL1, BUSY)
    st.stop()
    pub = src.value("SELECT pubname FROM pg_publication")
    src.execute('ALTER PUBLICATION "%s" DROP TABLE busy' % pub)
    assert "busy" in refused_start(st, "PUBLICATION-DRIFT")[1]
    src.execute('ALTER PUBLICATION "%s" ADD TABLE busy' % pub)
    src.execute("INSERT INTO busy(p) VALUES ('a')")
    st.start()
    st.wait()
    caught_up_same(st, "busy")


def test_publication_dropped_while_running(pair):
    src, dst = pair
    st = follow(src, dst, SL1, **FAST)
    src.execute('DROP PUBLICATION "%s"' % src.value("SELECT pubname FROM pg_publication"))
    st.wait_refused("PUBLICATION-DRIFT", timeout=60)


def test_table_created_again_refuses(pair):
    src, dst = pair
    st = follow(src, dst, SL1)
    st.stop()
    src.execute("DROP TABLE sl1")
    src.execute(SL1)
    refused_start(st, "TABLE-IDENTITY-CHANGED")


def test_new_table_in_scope(pair):
    """PD-19: nothing of it arrives; said once, and the stream goes on."""
    src, dst = pair
    st = follow(src, dst, SL1)
    st.stop()
    src.execute(BUSY)
    mark = dst.server.log_mark()
    for _ in range(2):
        st.start()
        src.execute("INSERT INTO busy(p) VALUES ('a'); INSERT INTO sl1"
                    " SELECT coalesce(max(id), 0) + 1 FROM sl1")
        caught_up_same(st, "sl1")
        st.stop()
    assert dst.server.log_text(mark).count('"public.busy" is in scope') == 1
    assert st.health()["skipped_tables"] == 1
    assert [(r["table_name"], r["decision"]) for r in dst.rows(
        "SELECT * FROM sluice.schema_events")] == [("busy", "warned")]
    src.execute("DROP TABLE busy")
    st.start()
    st.caught_up()
    assert st.health()["skipped_tables"] == 0


def test_new_table_that_is_asked_for_refuses(pair):
    """An include entry without wildcards names it."""
    src, dst = pair
    st = follow(src, dst, SL1, "CREATE SCHEMA late", include_tables=["sl1"])
    st.stop()
    src.execute("CREATE TABLE late.sl1 (id int PRIMARY KEY)")
    assert "late" in refused_start(st, "INCLUDE-TABLE-SCOPE-DRIFT")[1]


def test_identity_lost_refuses(pair):
    src, dst = pair
    st = follow(src, dst, SL1)
    st.stop()
    src.execute("ALTER TABLE sl1 REPLICA IDENTITY NOTHING")
    refused_start(st, "SOURCE-REPLICA-IDENTITY")
    src.execute("ALTER TABLE sl1 REPLICA IDENTITY DEFAULT")
    src.execute("INSERT INTO sl1 VALUES (1)")
    st.start()
    st.wait()
    caught_up_same(st, "sl1")


# ---------- transactions ----------

def test_logical_messages(pair):
    """PS-19: messages inside and around transactions change nothing."""
    src, dst = pair
    st = follow(src, dst, SL1)
    src.execute("BEGIN; INSERT INTO sl1 VALUES (30); "
                "SELECT pg_logical_emit_message(true, 'app', 'hi'); "
                "INSERT INTO sl1 VALUES (31); COMMIT")
    src.execute("SELECT pg_logical_emit_message(true, 'app', 'only')")
    src.execute("SELECT pg_logical_emit_message(false, 'app', 'now')")
    st.caught_up()
    st.stop()
    src.execute("INSERT INTO sl1 VALUES (32)")
    st.start()
    st.wait()
    caught_up_same(st, "sl1")


def test_kills_with_writers(crash_target, source):
    """PS-20, PS-22: interleaved transactions, worker killed; each row once."""
    src, dst = source.fresh_db("kills"), crash_target
    both(src, dst, SL1, "CREATE TABLE ap1 (v int)")
    st = make_stream(src, dst, options={"insert_only": ["ap1"],
                                        "heartbeat_interval": "1 s"})
    done = threading.Event()
    failures = []

    def write(me):
        try:
            conn = src.connect(autocommit=False)
            cur = conn.cursor()
            i = 0
            while not done.is_set() or i < 100:
                cur.execute("INSERT INTO sl1 VALUES (%s, %s)", (me * 1000000 + i, "x" * me))
                cur.execute("INSERT INTO ap1 VALUES (%s)", (me,))
                if i % 7 == 0:
                    cur.execute("UPDATE sl1 SET p = p || 'y' WHERE id = %s",
                                (me * 1000000 + i // 2,))
                if i % (me + 1) == 0:
                    conn.commit()
                if i % 97 == 0:
                    cur.execute("DELETE FROM sl1 WHERE id = %s", (me * 1000000 + i // 3,))
                    conn.rollback() if i % 2 else conn.commit()
                i += 1
            conn.commit()
            conn.close()
        except psycopg2.Error as e:
            failures.append(e)

    writers = [threading.Thread(target=write, args=(n,)) for n in range(1, 5)]
    for w in writers:
        w.start()
    kills = 0
    try:
        while kills < 6:
            applied = st.health()
            wait_until(lambda: st.state == "streaming" and
                       st.health()["position"] != applied["position"], 60,
                       lambda: "progress: %r" % st.health())
            st.crash_worker()
            kills += 1
    finally:
        done.set()
        for w in writers:
            w.join()
    assert not failures
    st.wait_state("streaming")
    st.wait("caught_up", "120 s")
    assert kills == 6
    assert_same_rows(src, dst, ["sl1", "ap1"])
    st.stop()
    st.drop()


def test_prepared_transactions(make_pg, target):
    """PS-25: prepared before the slot, committed after; and rolled back."""
    source = make_pg("twophase", preload="", conf={"max_prepared_transactions": "10"})
    src, dst = source.fresh_db("tp"), target.fresh_db("tp", extension=True)
    both(src, dst, SL1)
    src.execute("BEGIN; INSERT INTO sl1 VALUES (49); PREPARE TRANSACTION 'g0'")
    with pytest.raises(psycopg2.Error) as e:
        make_stream(src, dst, wait=None)
    assert "g0" in str(e.value)
    src.execute("ROLLBACK PREPARED 'g0'")
    # one that begins after the checks: the slot in the making waits for it
    blocker = src.connect(autocommit=False)
    blocker.cursor().execute("INSERT INTO sl1 VALUES (1)")
    st = Stream(src, dst, "s1", "src_s1")
    st.start()
    wait_until(lambda: "transaction of process" in (st.health()["reason"] or ""), 30,
               lambda: "blocker is named: %r" % st.health())
    src.execute("BEGIN; INSERT INTO sl1 VALUES (50); PREPARE TRANSACTION 'g1'")
    blocker.rollback()
    blocker.close()
    row = wait_until(lambda: (lambda h: h if "g1" in (h["reason"] or "") else None)(
        st.health()), 30, lambda: "reason names g1: %r" % st.health())
    assert row["state"] == "copying"
    src.execute("COMMIT PREPARED 'g1'")
    st.wait()
    src.execute("BEGIN; INSERT INTO sl1 VALUES (51); PREPARE TRANSACTION 'g2'")
    src.execute("ROLLBACK PREPARED 'g2'")
    src.execute("BEGIN; INSERT INTO sl1 VALUES (52); PREPARE TRANSACTION 'g3'")
    src.execute("COMMIT PREPARED 'g3'")
    caught_up_same(st, "sl1")
    assert dst.query("SELECT id FROM sl1 ORDER BY id") == [(50,), (52,)]
    st.stop()
    st.drop()


def test_stop_while_slot_is_blocked(pair):
    """A stop is obeyed also while the source makes us wait for a transaction."""
    src, dst = pair
    both(src, dst, SL1)
    blocker = src.connect(autocommit=False)
    blocker.cursor().execute("INSERT INTO sl1 VALUES (1)")
    st = make_stream(src, dst, wait=None)
    wait_until(lambda: "transaction of process" in (st.health()["reason"] or ""), 30,
               lambda: "blocker is named: %r" % st.health())
    st.stop(timeout="10 s")
    assert st.state == "stopped"
    blocker.commit()
    st.start()
    st.wait()
    caught_up_same(st, "sl1")


def test_large_transactions_with_aborts(pair):
    """PS-26: subtransactions rolled back, a second session that rolls back."""
    src, dst = pair
    st = follow(src, dst, BUSY)
    src.execute("ALTER DATABASE \"%s\" SET logical_decoding_work_mem = '64kB'" % src.name)
    other = src.connect(autocommit=False)
    cur = other.cursor()
    cur.execute("INSERT INTO busy(p) SELECT repeat('c', 200) FROM generate_series(1, 5000)")
    src.execute(
        "BEGIN; INSERT INTO busy(p) SELECT repeat('a',200) FROM generate_series(1,5000);"
        "SAVEPOINT s; INSERT INTO busy(p) SELECT repeat('b',200) FROM generate_series(1,5000);"
        "ROLLBACK TO s; INSERT INTO busy(p) VALUES ('tail'); COMMIT")
    other.rollback()
    other.close()
    caught_up_same(st, "busy")
    assert dst.value("SELECT count(*) FROM busy") == 5001


def test_stop_in_a_large_transaction(pair):
    """The stop comes while a large transaction is applied: none of it or all."""
    src, dst = pair
    st = follow(src, dst, BUSY)
    src.execute("INSERT INTO busy(p) SELECT repeat('a', 100) FROM generate_series(1, 300000)")
    st.stop()
    assert dst.value("SELECT count(*) FROM busy") in (0, 300000)
    st.start()
    st.wait()
    caught_up_same(st, "busy")


# ---------- connection ----------

def test_frozen_source_ends_and_resumes(pair):
    """SIGSTOP of the walsender: the wait ends and health says why."""
    src, dst = pair
    st = follow(src, dst, SL1, **FAST)
    st.stop()
    dst.execute("ALTER SYSTEM SET sluice.receive_timeout = '2 s'")
    dst.execute("SELECT pg_reload_conf()")
    try:
        st.start()
        st.wait()
        pid = src.value("SELECT active_pid FROM pg_replication_slots WHERE slot_name = %s",
                        st.health()["slot_name"])
        os.kill(pid, signal.SIGSTOP)
        try:
            row = wait_until(lambda: (lambda h: h if h["state"] == "retrying" else None)(
                st.health()), 30, lambda: "retrying: %r" % st.health())
            assert "said a word" in row["reason"] or "in use" in row["reason"]
        finally:
            os.kill(pid, signal.SIGCONT)
        src.execute("INSERT INTO sl1 VALUES (1)")
        wait_until(lambda: st.state == "streaming", 60, lambda: "%r" % st.health())
        caught_up_same(st, "sl1")
    finally:
        dst.execute("ALTER SYSTEM RESET sluice.receive_timeout")
        dst.execute("SELECT pg_reload_conf()")


def test_cut_connection_resumes(pair):
    src, dst = pair
    st = follow(src, dst, SL1)
    for i in range(3):
        src.execute("SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots "
                    "WHERE active_pid IS NOT NULL AND slot_name = %s",
                    st.health()["slot_name"])
        src.execute("INSERT INTO sl1 VALUES (%s)", i)
        wait_until(lambda: dst.value("SELECT count(*) FROM sl1") == i + 1, 60,
                   lambda: "%r" % st.health())
    caught_up_same(st, "sl1")


# ---------- left-overs ----------

def test_drop_leaves_nothing(pair):
    """PS-28: sync_drop removes slot and publication, and nothing else."""
    src, dst = pair
    src.execute("SELECT pg_create_logical_replication_slot('not_ours', 'pgoutput')")
    both(src, dst, SL1)
    src.execute("CREATE PUBLICATION not_ours FOR TABLE sl1")
    st = make_stream(src, dst)
    st.stop()
    st.drop()
    assert src.query("SELECT slot_name::text FROM pg_replication_slots "
                     "WHERE database = current_database()") == [("not_ours",)]
    assert src.query("SELECT pubname::text FROM pg_publication") == [("not_ours",)]
    src.execute("SELECT pg_drop_replication_slot('not_ours')")


def test_failed_start_leaves_nothing(pair):
    """PS-28: what refuses before the copy makes nothing on the source."""
    src, dst = pair
    src.execute("CREATE TABLE bare (a int)")
    with pytest.raises(psycopg2.Error) as e:
        make_stream(src, dst)
    assert e.value.pgcode == "SL001" and "replica_identity" in str(e.value)
    assert src.value("SELECT count(*) FROM pg_replication_slots "
                     "WHERE database = current_database()") == 0
    assert src.value("SELECT count(*) FROM pg_publication") == 0


def test_refused_copy_leaves_no_slot(pair):
    """PS-28: a copy that refuses keeps no WAL, and quotes no row."""
    src, dst = pair
    both(src, dst, SL1)
    dst.execute("ALTER TABLE sl1 ADD CONSTRAINT short CHECK (length(p) < 5)")
    src.execute("INSERT INTO sl1 VALUES (1, 'ok'), (2, 'a longer secret value')")
    mark = dst.server.log_mark()
    st = make_stream(src, dst, wait=None)
    row = st.wait_refused("TARGET-CONSTRAINT-VIOLATED")
    assert "short" in row["reason"]
    assert "secret value" not in row["reason"] + dst.server.log_text(mark)
    assert src.value("SELECT count(*) FROM pg_replication_slots "
                     "WHERE database = current_database()") == 0
    assert src.value("SELECT count(*) FROM pg_publication") == 0
    dst.execute("ALTER TABLE sl1 DROP CONSTRAINT short")
    st.start()
    st.wait()
    caught_up_same(st, "sl1")


# ---------- partitions and TRUNCATE ----------

PA1 = """
CREATE TABLE pa1 (id int, d date, v int, PRIMARY KEY (id, d)) PARTITION BY RANGE (d);
CREATE TABLE pa1_24 PARTITION OF pa1 FOR VALUES FROM ('2024-01-01') TO ('2025-01-01');
CREATE TABLE pa1_25 PARTITION OF pa1 FOR VALUES FROM ('2025-01-01') TO ('2026-01-01');
"""
PA1_MONTHS = """
CREATE TABLE pa1 (id int, d date, v int, PRIMARY KEY (id, d)) PARTITION BY RANGE (d);
CREATE TABLE pa1_a PARTITION OF pa1 FOR VALUES FROM ('2024-01-01') TO ('2025-03-01');
CREATE TABLE pa1_b PARTITION OF pa1 FOR VALUES FROM ('2025-03-01') TO ('2026-01-01');
"""


def test_partitioned_through_the_root(pair):
    """PP-01, PP-05: rows under the root; the target stays partitioned."""
    src, dst = pair
    both(src, dst, PA1)
    src.execute("INSERT INTO pa1 VALUES (1, '2024-02-02', 0)")
    st = make_stream(src, dst)
    src.execute("INSERT INTO pa1 VALUES (1, '2024-05-05', 1)")
    caught_up_same(st, "pa1", "pa1_24", "pa1_25")


def test_rows_move_between_leaves(pair):
    """PP-04: an update that moves rows is a delete and an insert."""
    src, dst = pair
    st = follow(src, dst,
                "CREATE TABLE pb1 (id int PRIMARY KEY, v int) PARTITION BY HASH (id);"
                "CREATE TABLE pb1_0 PARTITION OF pb1 FOR VALUES WITH (MODULUS 2, REMAINDER 0);"
                "CREATE TABLE pb1_1 PARTITION OF pb1 FOR VALUES WITH (MODULUS 2, REMAINDER 1)")
    src.execute("INSERT INTO pb1 SELECT i, i FROM generate_series(1, 100) AS i")
    src.execute("UPDATE pb1 SET id = id + 1000 WHERE id <= 50")
    caught_up_same(st, "pb1")
    assert dst.value("SELECT count(*) FROM pb1") == 100


def test_target_partitioned_differently(pair):
    """PP-07: rows end in the right leaf of the target."""
    src, dst = pair
    src.execute(PA1)
    dst.execute(PA1_MONTHS)
    src.execute("INSERT INTO pa1 VALUES (4, '2025-01-04', 4)")
    st = make_stream(src, dst)
    src.execute("UPDATE pa1 SET d = '2025-06-06' WHERE id = 4")
    caught_up_same(st, "pa1")
    assert dst.value("SELECT count(*) FROM pa1_b") == 1


def test_partition_added_with_a_default_leaf(pair):
    """PP-08: a new leaf on the source; the target knows the root."""
    src, dst = pair
    st = follow(src, dst,
                "CREATE TABLE pd1 (id int, k int, PRIMARY KEY (id, k)) PARTITION BY LIST (k);"
                "CREATE TABLE pd1_def PARTITION OF pd1 DEFAULT")
    src.execute("INSERT INTO pd1 VALUES (1, 1)")
    src.execute("CREATE TABLE pd1_2 PARTITION OF pd1 FOR VALUES IN (2)")
    src.execute("INSERT INTO pd1 VALUES (2, 2)")
    caught_up_same(st, "pd1")


def test_truncate_under_replica_role(pair):
    """PP-10: TRUNCATE in replica role is carried like any other."""
    src, dst = pair
    st = follow(src, dst, "CREATE TABLE tc1 (id int PRIMARY KEY)",
                "CREATE TABLE tc2 (id int PRIMARY KEY)")
    src.execute("INSERT INTO tc1 VALUES (1); INSERT INTO tc2 VALUES (1)")
    st.caught_up()
    src.execute("SET session_replication_role = replica; TRUNCATE tc1, tc2")
    caught_up_same(st, "tc1", "tc2")
    assert dst.value("SELECT count(*) FROM tc1") == 0


def test_truncate_never_cascades_out_of_scope(pair):
    """PP-11: a target table that is not ours references the truncated one."""
    src, dst = pair
    st = follow(src, dst, "CREATE TABLE tc1 (id int PRIMARY KEY)")
    src.execute("INSERT INTO tc1 VALUES (1)")
    st.caught_up()
    dst.execute("CREATE TABLE local_child (id int REFERENCES tc1)")
    dst.execute("INSERT INTO local_child VALUES (1)")
    src.execute("TRUNCATE tc1 CASCADE")
    st.wait_refused("TRUNCATE-OUT-OF-SCOPE")
    assert dst.value("SELECT count(*) FROM local_child") == 1


def test_alter_publication_during_open_transaction(pair):
    """PS-17: our own publication never changes; a foreign one changing refuses
    and nothing is lost before."""
    src, dst = pair
    st = follow(src, dst, BUSY)
    one = src.connect(autocommit=False)
    cur = one.cursor()
    cur.execute("INSERT INTO busy(p) VALUES ('a')")
    src.execute("CREATE PUBLICATION p FOR TABLE busy")
    cur.execute("INSERT INTO busy(p) VALUES ('b')")
    one.commit()
    cur.execute("INSERT INTO busy(p) VALUES ('c')")
    one.commit()
    one.close()
    caught_up_same(st, "busy")
    assert dst.value("SELECT count(*) FROM busy") == 3
