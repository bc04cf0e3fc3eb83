"""sluice-bridge run: who feeds what, what becomes of faults, and how it ends."""
import hashlib
import itertools
import os
import re
import signal
import struct

import pytest

from lib import Bridge, find_secret, free_port, make_bridged_stream, wait_until
from lib.bridge import login_of, probe, run_bridge
from lib.bridgerun import begin_here, children_of, make_my_server
from lib.rounds import FAST


@pytest.fixture
def src(mariadb10, request):
    """A database of one kind of source, where the kind does not matter."""
    db = mariadb10.fresh_db(request.node.name)
    db.execute("CREATE TABLE t (id int PRIMARY KEY, v varchar(20))")
    yield db
    db.destroy()


def followed(src, dst, **args):
    """A stream of table t, on both sides and empty, that begins now."""
    dst.execute("CREATE TABLE t (id int PRIMARY KEY, v varchar(20))", user=args.get("role", "postgres"))
    stream = make_bridged_stream(src, dst, **args)
    begin_here(stream)
    return stream


_ids = itertools.count(1)


def works(stream, timeout=60):
    """A row arrives: somebody feeds the stream.  The pid of its session."""
    row = next(_ids)
    stream.src.execute("INSERT INTO t VALUES (%s, 'x')", row)
    wait_until(lambda: stream.dst.value("SELECT count(*) FROM t WHERE id = %s", row), timeout,
               lambda: "row %d; health is %r" % (row, stream.health()))
    return stream.pid()


def reason_of(stream, words):
    """Health, once the stream is retrying for a reason with these words."""
    health = stream.health()
    return health if health["state"] == "retrying" and words in (health["reason"] or "") else None


def gone(pid):
    """Has the process ended?"""
    try:
        with open("/proc/%d/stat" % pid) as f:
            return f.read().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def test_quiet_source_is_heard(src, dst, make_bridge):
    """A source that writes nothing is seen all the time, and lags by nothing."""
    stream = followed(src, dst)
    make_bridge(dst)
    works(stream)
    seen = []

    def is_heard():
        health = stream.health()
        if health["source_seen_at"] and health["source_seen_at"] not in seen:
            seen.append(health["source_seen_at"])
        return len(seen) > 2 and health["lag"].total_seconds() == 0

    wait_until(is_heard, 60, lambda: "%r %r" % (seen, stream.health()))
    stream.stop()


# -- life --------------------------------------------------------------------

def test_each_kind_of_source_is_fed_and_stopped(my_db, dst, make_bridge):
    my_db.execute("CREATE TABLE t (id int PRIMARY KEY, v varchar(20))")
    stream = followed(my_db, dst)
    bridge = make_bridge(dst)
    works(stream)
    stream.stop()
    assert stream.state == "stopped"
    wait_until(lambda: not bridge.children(), 30, "the child's end")
    stream.start()
    works(stream)
    assert bridge.stop() == 0
    assert len(re.findall(r" s1: stopped\b", bridge.log_text())) == 2


def test_each_kind_of_source_is_copied_and_then_followed(my_db, dst, make_bridge):
    my_db.execute("CREATE TABLE t (id int PRIMARY KEY, v varchar(20), KEY (v));"
                  "INSERT INTO t VALUES (100000, 'a'), (100001, 'b')")
    make_bridge(dst)
    stream = make_bridged_stream(my_db, dst)
    stream.wait_state("streaming")
    works(stream)
    assert dst.execute("SELECT id, v FROM t WHERE id >= 100000 ORDER BY id") == [
        (100000, "a"), (100001, "b")]
    stream.stop()


def test_a_signal_leaves_the_stream_to_the_next_bridge(src, dst, make_bridge):
    stream = followed(src, dst)
    bridge = make_bridge(dst)
    works(stream)
    assert bridge.stop(signal.SIGINT) == 0
    health = stream.health()
    assert (health["state"], health["desired_state"], health["pid"]) == ("starting", "running", None)
    make_bridge(dst)
    works(stream)


def test_of_two_bridges_one_feeds_and_the_other_takes_over(src, dst, make_bridge):
    stream = followed(src, dst)
    first, second = make_bridge(dst), make_bridge(dst)
    works(stream)
    wait_until(lambda: len(first.children()) + len(second.children()) == 1, 30,
               "one child in all")
    feeds, waits = (first, second) if first.children() else (second, first)
    feeds.stop()
    wait_until(waits.children, 30, "the other's child")
    works(stream)
    assert "could not take" not in first.log_text() + second.log_text()


def test_a_killed_child_is_replaced(src, dst, make_bridge):
    stream = followed(src, dst)
    bridge = make_bridge(dst)
    session = works(stream)
    child = bridge.children()[0]
    os.kill(child, signal.SIGKILL)
    wait_until(lambda: bridge.children() not in ([], [child]), 60, "another child")
    assert works(stream) != session
    assert "ended by signal 9" in bridge.log_text()


def test_a_child_that_advanced_is_tried_again_soon(src, dst, make_bridge):
    """However often it was killed before."""
    stream = followed(src, dst)
    bridge = make_bridge(dst)
    for n in range(1, 4):
        works(stream)
        works(stream)           # by then it has heard of the first
        child = bridge.children()[0]
        os.kill(child, signal.SIGKILL)
        wait_until(lambda: bridge.children() not in ([], [child]), 60, "another child")
        assert re.findall(r"ended by signal 9\n.*stream s1 is tried again in (\d+) s\n", bridge.log_text()) == ["1"] * n


def test_children_end_with_a_killed_supervisor(src, dst, make_bridge):
    stream = followed(src, dst)
    bridge = make_bridge(dst)
    session = works(stream)
    left = bridge.tree()[1:]
    bridge.kill9()
    wait_until(lambda: all(gone(pid) for pid in left), 30, "the children's end")
    wait_until(lambda: stream.health()["pid"] is None, 30, "the session's end")
    make_bridge(dst)
    assert works(stream) != session


def test_a_child_that_hangs_is_killed(src, dst, make_bridge):
    stream = followed(src, dst)
    bridge = make_bridge(dst)
    works(stream)
    child = bridge.children()[0]
    os.kill(child, signal.SIGSTOP)
    assert bridge.stop(timeout=60) == 0
    assert gone(child)


def test_once_ends_when_nothing_is_left(src, dst, make_bridge):
    with Bridge(dst, once=True) as idle:
        assert idle.wait() == 0
    stream = followed(src, dst)
    bridge = make_bridge(dst, once=True)
    works(stream)
    assert bridge.is_running()
    stream.stop()
    assert bridge.wait() == 0


def test_the_target_may_go_away(src, make_pg, make_bridge):
    server = make_pg("bridged")
    dst = server.fresh_db("bridged", extension=True)
    stream = followed(src, dst)
    bridge = make_bridge(dst)
    works(stream)
    server.restart()
    bridge.wait_log("the target cannot be asked for streams")
    works(stream)
    assert bridge.stop() == 0


# -- faults ------------------------------------------------------------------

def test_a_bridge_is_back_before_the_launcher_has_looked(src, make_pg, make_bridge):
    """The server has no room for the process that looks for streams: they have the state that they had all the same."""
    server = make_pg("few", conf={"max_worker_processes": 2})
    dst = server.fresh_db("few", extension=True)
    stream = followed(src, dst)
    make_bridge(dst)
    works(stream)
    server.kill9()
    server.start()
    works(stream, 120)
    stream.caught_up()
    assert stream.state == "streaming"


def test_a_source_that_is_away_is_tried_again(src, dst, make_bridge):
    stream = followed(src, dst, server_options={"port": free_port()})
    make_bridge(dst)
    health = wait_until(lambda: reason_of(stream, "connect"), 60, "the reason")
    assert health["desired_state"] == "running"
    dst.execute("ALTER SERVER src_s1 OPTIONS (SET port '%d')" % src.server.port)
    works(stream, 120)
    stream.stop()
    assert stream.state == "stopped"


def test_a_login_that_is_refused_is_tried_again_and_named(src, dst, make_bridge):
    stream = followed(src, dst, password="wRoNg0123456789")
    bridge = make_bridge(dst)
    health = wait_until(lambda: reason_of(stream, "Access denied"), 60, "the reason")
    bridge.wait_log(r"in 1 s\n(?s:.*) in 2 s\n")
    assert "wRoNg" not in str(health) + bridge.log_text()


def test_a_source_without_a_log_is_refused_once(make_mysql, dst, make_bridge):
    server = make_mysql("mariadb10.11", **{"skip-log-bin": None})
    src = server.fresh_db("nolog")
    src.execute("CREATE TABLE t (id int PRIMARY KEY, v varchar(20))")
    bridge = make_bridge(dst)
    stream = make_bridged_stream(src, dst)
    health = stream.wait_refused("PREFLIGHT-FAILED")
    refusal = stream.refusals()[-1]
    assert "log_bin" in refusal["detail"], refusal
    assert "option file" in refusal["hint"], (refusal, health)
    wait_until(lambda: not bridge.children(), 30, "the child's end")
    assert bridge.log_text().count(": taken") == 1


def test_the_other_driver_is_refused(src, dst, make_bridge):
    make_bridge(dst)
    stream = make_bridged_stream(src, dst, server_options={"driver": "mysql"})
    stream.wait_refused("SOURCE-IDENTITY-CHANGED")


def test_arguments(dst):
    done = run_bridge("run", "--target", "host=h password=sEcReT")
    assert done.returncode == 64 and "PGPASSFILE" in done.stderr
    assert "sEcReT" not in done.stderr
    done = run_bridge("run", "--target", "postgresql://u:sEcReT@h/d")
    assert done.returncode == 64 and "sEcReT" not in done.stderr
    done = run_bridge("run", "--target", "host=h sEcReT")
    assert done.returncode == 64 and "sEcReT" not in done.stderr
    assert run_bridge("run", "--what").returncode == 64
    assert run_bridge("run", "more").returncode == 64


# -- who may, and who knows ----------------------------------------------------

def documented_grants():
    """The statements of docs/bridge.md, "The role"."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../docs/bridge.md")
    with open(path) as f:
        return re.search(r"(?s)## The role\n.*?```sql\n(.*?)```", f.read())[1]


def test_a_role_of_its_own_is_enough(src, make_pg, make_bridge):
    dst = make_pg("bridged").fresh_db("bridged", extension=True)
    dst.execute("CREATE ROLE shop_owner LOGIN")
    dst.execute(documented_grants())
    dst.execute("GRANT USAGE ON FOREIGN DATA WRAPPER sluice TO shop_owner;"
                "GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA sluice TO shop_owner;"
                "GRANT CREATE ON DATABASE \"%s\" TO shop_owner;"
                "GRANT CREATE, USAGE ON SCHEMA public TO shop_owner" % dst.name)
    src.execute("INSERT INTO t VALUES (0, 'copied')")
    stream = make_bridged_stream(src, dst, role="shop_owner")
    make_bridge(dst, user="bridge")
    stream.wait_state("streaming")
    works(stream)
    assert dst.value("SELECT v FROM t WHERE id = 0") == "copied"
    stream.stop()


def test_the_sources_password_stands_nowhere(src, dst, make_bridge):
    stream = followed(src, dst)
    bridge = make_bridge(dst)
    works(stream)
    secret = src.server.repl_password
    assert bridge.children()
    for pid in [bridge.pid()] + bridge.children():
        for part in ("cmdline", "environ"):
            with open("/proc/%d/%s" % (pid, part), "rb") as f:
                assert secret.encode() not in f.read(), part
    bridge.stop()
    assert secret not in bridge.log_text()
    assert find_secret(secret, [dst.server], [dst]) == []


# -- among the source's replicas --------------------------------------------------

def id_of(stream, attempt):
    """The server id that a bridge takes for the stream: of its target database and its name."""
    cluster = stream.dst.value("SELECT concat((pg_control_system()).system_identifier, '/', oid) FROM pg_database"
                               " WHERE datname = current_database()")
    digest = hashlib.sha256(("%s/%s/%d" % (cluster, stream.id, attempt)).encode()).digest()
    return 1 << 31 | int.from_bytes(digest[:4], "big")


def follow_as(server, server_id):
    """Another replica of that id for a moment: the server cuts off the one that has it (which comes again, and does the
    same to this one where it is slow).  What it said."""
    return probe(login_of(server), "--dump", 2, "--server-id", server_id)


def registered(server, server_id):
    """A session that says it is that replica, and reads nothing."""
    conn = server.connect()
    conn._execute_command(0x15, struct.pack("<I", server_id) + bytes(3) + struct.pack("<HII", 0, 0, 0))
    conn._read_packet()
    assert server_id in [row[0] for row in server.query("SHOW REPLICAS")]
    return conn


def test_a_replica_of_its_own(mysql9, dst, make_bridge):
    """It comes with the same id each time, and with the next one where another replica has that."""
    src = mysql9.fresh_db("replica")
    src.execute("CREATE TABLE t (id int PRIMARY KEY, v varchar(20))")
    stream = followed(src, dst)
    for _ in range(2):
        bridge = make_bridge(dst)
        works(stream)
        follow_as(mysql9, id_of(stream, 0))
        bridge.wait_log("same server_")
        bridge.stop()
    taken = registered(mysql9, id_of(stream, 0))
    bridge = make_bridge(dst)
    works(stream)
    assert follow_as(mysql9, id_of(stream, 0)).returncode == 0
    works(stream)
    assert "same server_" not in bridge.log_text()
    follow_as(mysql9, id_of(stream, 1))
    bridge.wait_log("same server_")
    taken.close()
    src.destroy()


# -- by the server itself --------------------------------------------------------

def bridge_pids(server):
    """Pids of the bridges among the children of the server's processes."""
    top = server.postmaster_pid()
    return [pid for launcher in children_of(top) for pid in children_of(launcher)
            if b"sluice-bridge" in cmdline(pid)]


def cmdline(pid):
    try:
        with open("/proc/%d/cmdline" % pid, "rb") as f:
            return f.read()
    except (FileNotFoundError, ProcessLookupError):
        return b""


def test_the_launcher_runs_it_where_it_is_asked_to(src, make_pg):
    server = make_pg("autostart", conf=FAST)
    dst = server.fresh_db("autostart", extension=True)
    stream = followed(src, dst)
    assert bridge_pids(server) == []
    server.reload(**{"sluice.bridge_autostart": "on"})
    works(stream)
    one = wait_until(lambda: bridge_pids(server), 30, "the process")
    assert len(one) == 1 and b"user='postgres'" in cmdline(one[0])

    # a database without a stream has one too, for the time that it asks
    asks = server.fresh_db("asks", extension=True)
    make_my_server(src, asks, "shop")
    assert ("connect", True) in asks.query("SELECT check_name, ok FROM sluice.preflight('shop')")
    wait_until(lambda: len(bridge_pids(server)) == 1, 60, "the end of the one that was asked")
    one = bridge_pids(server)

    # its crash is none of the server's
    mark = server.log_mark()
    os.kill(one[0], signal.SIGKILL)
    wait_until(lambda: bridge_pids(server) not in ([], one), 60, "another process")
    works(stream)
    assert "It was ended by signal 9" in server.log_text(mark)
    assert "terminating any other active server processes" not in server.log_text(mark)

    # nor does it outlive the server, or what asks for it
    left = bridge_pids(server)
    server.restart()
    wait_until(lambda: all(gone(pid) for pid in left), 30, "the old process's end")
    works(stream)
    left = bridge_pids(server)
    server.kill9()
    wait_until(lambda: all(gone(pid) for pid in left), 30, "the end of what a crash left")
    server.start()
    works(stream)
    server.reload(**{"sluice.bridge_autostart": "off"})
    wait_until(lambda: bridge_pids(server) == [], 60, "the process's end")
    assert stream.state == "starting"
