"""The cold start of MySQL and MariaDB sources: tables are copied while writers
write, and after they have stopped both sides hold the same rows."""
import os
import signal

import pytest

from lib import make_bridged_stream, wait_until
from lib.mycold import (SCHEMA, MyWriters, assert_same_tables, held_commit, held_commit_conf,
                        load)

KINDS = ["mariadb10.11", "mysql"]
GRANTS = ["SELECT, REPLICATION SLAVE, REPLICATION CLIENT, LOCK TABLES, REFERENCES, TRIGGER, EVENT,"
          " SHOW VIEW, EXECUTE ON *.*"]


def login(server, grants=GRANTS):
    """A login with these privileges; the arguments of make_bridged_stream for it."""
    name = "cold%d" % server.value("SELECT count(*) FROM mysql.user")
    server.create_user(name, "pw", grants=grants)
    return {"user": name, "password": "pw"}


def tasks(dst):
    return dst.rows("SELECT * FROM sluice.copy_task WHERE kind = 'rows' ORDER BY table_name, range_id")


def wait_streaming(stream, bridge, timeout=120):
    """Wait for the state; at once over when the stream is refused."""
    row = wait_until(lambda: (lambda h: h if h["state"] in ("streaming", "refused") else None)(stream.health()),
                     timeout, lambda: "%r\n%s" % (stream.health(), bridge.log_text()[-3000:]))
    assert row["state"] == "streaming", "%r\n%s" % (row, bridge.log_text()[-3000:])


# -- all of it ---------------------------------------------------------------

def test_tables_are_copied_while_writers_write(my_server, dst, make_bridge):
    src = my_server.fresh_db("cold")
    load(src)
    with MyWriters(src, seed=7) as writers:
        stream = make_bridged_stream(src, dst, **login(my_server), options={"copy_workers": 10, "accept_keyless": ["keyless"]})
        bridge = make_bridge(dst)
        wait_streaming(stream, bridge)
        writers.more(100)
        writers.stop()
    stream.caught_up("120 s")
    assert_same_tables(src, dst, SCHEMA)
    # the larger ones came in pieces, by keys of every form
    for table in ("acct", "words", "tokens", "prices"):
        assert len([t for t in tasks(dst) if t["table_name"] == table]) > 1, table
    for table in ("keyless", "floats", "empty_one"):
        assert len([t for t in tasks(dst) if t["table_name"] == table]) == 1, table
    src.destroy()


def test_an_identity_without_a_next_value(my_db, dst, make_bridge):
    """AUTO_INCREMENT beyond what the column can hold: the target's has none left either, and the copy comes to its end."""
    my_db.execute("CREATE TABLE wide (id bigint unsigned AUTO_INCREMENT PRIMARY KEY, v int) AUTO_INCREMENT = 9223372036854775808;"
                  "CREATE TABLE far (id bigint unsigned AUTO_INCREMENT PRIMARY KEY, v int) AUTO_INCREMENT = 18446744073709551614;"
                  "CREATE TABLE last (id bigint AUTO_INCREMENT PRIMARY KEY, v int) AUTO_INCREMENT = 9223372036854775807")
    bridge = make_bridge(dst)
    wait_streaming(make_bridged_stream(my_db, dst), bridge)
    for table in ("wide", "far"):
        assert dst.error("SELECT nextval(pg_get_serial_sequence('%s', 'id'))" % table).pgcode == "2200H"
    assert dst.value("SELECT nextval(pg_get_serial_sequence('last', 'id'))") == 9223372036854775807


@pytest.mark.parametrize("kind", KINDS)
def test_a_transaction_between_log_and_engine_is_not_lost(kind, make_mysql, dst, make_bridge):
    """It is in the log and not yet visible while every snapshot is taken."""
    server = make_mysql(kind, **held_commit_conf(kind))
    src = server.fresh_db("gap")
    src.execute("CREATE TABLE t (id int PRIMARY KEY, v varchar(20));"
                "INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')")
    who = login(server)
    with held_commit(src, "START TRANSACTION; INSERT INTO t VALUES (4, 'held');"
                          "UPDATE t SET v = 'held' WHERE id = 1; DELETE FROM t WHERE id = 2;"
                          "UPDATE t SET id = 5 WHERE id = 3; COMMIT"):
        stream = make_bridged_stream(src, dst, **who)
        bridge = make_bridge(dst)
        bridge.wait_log(r"copied 3 rows of gap_\d+\.t", 60)
    stream.caught_up()
    assert_same_tables(src, dst, ["t"])
    assert dst.value("SELECT count(*) FROM t") == 3
    assert dst.value("SELECT count(*) FROM sluice.conflict") == 0
    src.execute("INSERT INTO t VALUES (6, 'after'); UPDATE t SET v = 'x' WHERE id = 4")
    stream.caught_up()
    assert_same_tables(src, dst, ["t"])


# -- what would be wrong ------------------------------------------------------

def events_behind(server, position):
    """Row events of the log behind a position."""
    return [row for row in server.query("SHOW BINLOG EVENTS IN '%s' FROM %d" % position)
            if "write_rows" in row[2].lower()]


def held_gtid(server, file):
    """The last GTID in that file of MySQL's log."""
    return [row[5].split("'")[1] for row in server.query("SHOW BINLOG EVENTS IN '%s'" % file)
            if row[2].lower() == "gtid"][-1]


@pytest.mark.parametrize("kind", KINDS)
def test_the_end_of_the_log_is_no_position_of_a_snapshot(kind, make_mysql):
    """Recipes that would lose or double the row, seen to do so; beside them the one that is used."""
    server = make_mysql(kind, **held_commit_conf(kind))
    src = server.fresh_db("gap")
    src.execute("CREATE TABLE t (id int PRIMARY KEY)")
    server.flush_logs()
    before = server.position()
    with held_commit(src, "INSERT INTO t VALUES (1)"):
        conn = src.connect(autocommit=False)
        cur = conn.cursor()
        cur.execute("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        cur.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT")
        after = server.position()
        if server.is_mariadb:
            cur.execute("SHOW STATUS LIKE 'binlog_snapshot_%'")
            own = dict(cur.fetchall())
            own = own["Binlog_snapshot_file"], int(own["Binlog_snapshot_position"])
    assert src.value("SELECT count(*) FROM t") == 1
    gtid = server.gtid()
    cur.execute("SELECT count(*) FROM t")
    assert cur.fetchone()[0] == 0
    # lost: neither in the snapshot nor behind the log's end, or the set, of after it
    assert events_behind(server, after) == []
    if server.is_mariadb:
        assert len(events_behind(server, own)) == 1
        assert server.value("SELECT BINLOG_GTID_POS(%s, %s)", *own) != gtid
    else:
        assert len(events_behind(server, (before[0], 4))) == 1
        # nor in the set that was executed after it
        assert server.value("SELECT GTID_SUBSET(%s, %s)", held_gtid(server, before[0]), gtid) == 1
    # doubled: in the snapshot, and behind the log's end of before it
    cur.execute("COMMIT")
    cur.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT")
    cur.execute("SELECT count(*) FROM t")
    assert cur.fetchone()[0] == 1
    assert len(events_behind(server, before)) == 1
    conn.close()


# -- kills --------------------------------------------------------------------

def workers(bridge):
    """Pids of the copying processes."""
    return [pid for pid in bridge.tree() if pid != bridge.pid() and pid not in bridge.children()]


def kill_one_worker(bridge):
    os.kill(wait_until(lambda: workers(bridge), 30, "a worker")[0], signal.SIGKILL)


def kill_a_copy_session(dst):
    """kill -9 of a backend that copies: the whole cluster starts again."""
    mark = dst.server.log_mark()
    pid = wait_until(lambda: dst.value("SELECT min(pid) FROM pg_stat_activity"
                                       " WHERE application_name = 'sluice-bridge copy'"), 30, "a session")
    os.kill(pid, signal.SIGKILL)
    dst.server.wait_log("all server processes terminated; reinitializing", mark, 60)
    wait_until(dst.server.answers, 60, "the server")


def begun(dst):
    """Ranges with rows that are committed, and not all."""
    return [t for t in tasks(dst) if t["copy_cursor"] and t["state"] != "done"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_killed_copy_goes_on_behind_its_last_keys(kind, make_mysql, make_pg, make_bridge):
    """At each point something is killed; no row is lost or doubled, and what was committed stays."""
    src = make_mysql(kind).fresh_db("kills")
    dst = make_pg("kills").fresh_db("kills", extension=True)
    load(src, ("acct", "words", "keyless"))
    who = login(src.server)
    with MyWriters(src, seed=3, acts=("move", "rekey", "exchange", "keyless")) as writers:
        # as slow as it must be for a kill to meet a copy half done
        stream = make_bridged_stream(src, dst, **who, options={"copy_workers": 2, "accept_keyless": ["keyless"],
                                                               "copy_bytes_per_second": 200000})
        bridge = make_bridge(dst)
        wait_until(lambda: tasks(dst), 60, "ranges on record")
        bridge.kill_tree()
        assert tasks(dst)
        for kill in (lambda b: b.kill_tree(), kill_one_worker, lambda b: kill_a_copy_session(dst), lambda b: b.kill9()):
            if not bridge.is_running():
                bridge.start()
            have = {(t["table_name"], t["range_id"]): t["copy_cursor"] for t in tasks(dst)}
            wait_until(lambda: [t for t in begun(dst) if
                                t["copy_cursor"] != have.get((t["table_name"], t["range_id"]))],
                       120, lambda: "a cursor; %r\n%s" % (tasks(dst), bridge.log_text()[-2000:]))
            kill(bridge)
            writers.more(5)
        stream.stop(wait=False)
        if not bridge.is_running():
            bridge.start()
        wait_until(lambda: stream.state == "stopped", 60, lambda: "stop: %r" % stream.health())
        stream.start(source=False, options={"copy_bytes_per_second": 0})
        wait_streaming(stream, bridge)
        writers.stop()
    stream.caught_up("120 s")
    assert bridge.log_text().count("goes on behind key") >= 4, bridge.log_text()
    assert_same_tables(src, dst, ("acct", "words", "keyless"))


# -- locks ----------------------------------------------------------------------

def test_a_table_that_stays_locked_is_refused_by_name(mysql9, dst, make_bridge):
    src = mysql9.fresh_db("busy")
    src.execute("CREATE TABLE k (a int); INSERT INTO k VALUES (1)")
    conn = src.connect(autocommit=False)
    conn.cursor().execute("INSERT INTO k VALUES (2)")
    stream = make_bridged_stream(src, dst, **login(mysql9), options={"accept_keyless": ["k"]})
    make_bridge(dst)
    row = stream.wait_refused("PREFLIGHT-FAILED", 90)
    assert '"k"' in row["reason"] and "innodb_trx" in row["hint"], row
    # nobody waits behind it any more
    src.execute("INSERT INTO k VALUES (3)")
    conn.commit()
    stream.start(source=False)
    stream.wait("streaming")
    stream.caught_up()
    assert_same_tables(src, dst, ["k"])
    conn.close()
    src.destroy()


def test_a_login_that_may_not_lock_is_told_what_to_grant(mysql9, dst, make_bridge):
    src = mysql9.fresh_db("denied")
    src.execute("CREATE TABLE k (a int); INSERT INTO k VALUES (1)")
    who = login(mysql9, [GRANTS[0].replace("LOCK TABLES, ", "")])
    stream = make_bridged_stream(src, dst, **who, options={"accept_keyless": ["k"]})
    make_bridge(dst)
    row = stream.wait_refused("PREFLIGHT-FAILED", 60)
    grant = "GRANT LOCK TABLES ON `%s`.* TO `%s`@`%%`;" % (src.name.replace("_", "\\_"), who["user"])
    assert grant in row["hint"], row
    mysql9.execute(grant)
    stream.start(source=False)
    stream.wait("streaming")
    stream.caught_up()
    assert_same_tables(src, dst, ["k"])
    src.destroy()


def test_mysql_without_gtids_is_copied_under_short_locks(make_mysql, dst, make_bridge):
    src = make_mysql("mysql", **{"gtid_mode": "OFF", "enforce_gtid_consistency": "OFF"}).fresh_db("nogtid")
    load(src, ("acct", "keyless"))
    with MyWriters(src, seed=5, acts=("move", "rekey", "keyless")) as writers:
        stream = make_bridged_stream(src, dst, **login(src.server),
                                     options={"copy_workers": 2, "accept_keyless": ["keyless"]})
        bridge = make_bridge(dst)
        wait_streaming(stream, bridge)
        writers.more(20)
        writers.stop()
    stream.caught_up("120 s")
    assert_same_tables(src, dst, ("acct", "keyless"))


# -- values and rows that are there -----------------------------------------------

def test_a_value_that_cannot_be_stored_is_refused_with_its_key(my_db, dst, make_bridge):
    my_db.execute("CREATE TABLE v (id int, part varchar(9), w varchar(20), PRIMARY KEY (id, part));"
                  "INSERT INTO v VALUES (1, 'a', 'good'), (7, 'b', concat('bad', char(0), 'secret'))")
    stream = make_bridged_stream(my_db, dst, **login(my_db.server), options={"check_values": False})
    make_bridge(dst)
    row = stream.wait_refused("VALUE-UNREPRESENTABLE", 60)
    text = row["reason"] + str(stream.refusals())
    assert '"w"' in text and '["7","62"]' in text and "secret" not in text, text
