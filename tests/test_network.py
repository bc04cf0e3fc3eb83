"""Broken, frozen and slow connections, locks, restarts: every wait ends,
health says why, and the stream goes on by itself afterwards."""
import os
import signal
import threading
import time

import psycopg2
import pytest

from lib import assert_same_rows, make_stream, wait_until
from lib.pairs import server_pair
from lib.proxy import Proxy
from lib.rounds import FAST, check_confirmed, check_equal, lsn, position

TABLE = "CREATE TABLE sl1 (id int PRIMARY KEY, v text)"


servers = server_pair("net", FAST)


@pytest.fixture
def dbs(servers):
    source, target = servers
    src = source.fresh_db("net")
    dst = target.fresh_db("net", extension=True)
    for db in (src, dst):
        db.execute(TABLE)
    yield src, dst
    assert source.is_running() and target.is_running()
    dst.destroy()
    src.destroy()


@pytest.fixture
def link(servers, dbs):
    """(stream, proxy): a stream that reads its source through a proxy."""
    src, dst = dbs
    src.execute("INSERT INTO sl1 SELECT i, 'copied' FROM generate_series(1, 50) AS i")
    with Proxy(servers[0].port) as proxy:
        yield make_stream(src, dst, server_options={"port": str(proxy.port)}), proxy
        proxy.pass_all()


def add(stream, first, last):
    stream.src.execute("INSERT INTO sl1 SELECT i, 'new' FROM generate_series(%s, %s)"
                       " AS i", first, last)


def reason_of(stream, pattern, states=("retrying", "streaming"), timeout=30):
    """Wait until health shows a reason that holds one of the words."""
    def look():
        row = stream.health()
        text = (row["reason"] or "").lower()
        return row if row["state"] in states and any(
            word in text for word in pattern.split("|")) else None
    return wait_until(look, timeout, lambda: "reason %r; health is %r"
                      % (pattern, stream.health()))


def retrying(stream, timeout=30):
    """Wait for state retrying with a reason, not healthy."""
    row = wait_until(lambda: _is_retrying(stream.health()), timeout,
                     lambda: "state retrying; health is %r" % stream.health(),
                     interval=0.01)
    assert row["reason"] and not row["healthy"], row
    return row


def _is_retrying(row):
    return row if row["state"] == "retrying" else None


def walsender(stream, timeout=30):
    def look():
        row = stream.slot()
        return row and row["active_pid"]
    return wait_until(look, timeout, "no walsender")


# -- connections --------------------------------------------------------------

def test_cut_and_refused(link):
    stream, proxy = link
    proxy.refuse()
    proxy.cut()
    add(stream, 100, 200)
    retrying(stream)
    proxy.pass_all()
    check_equal(stream, ["sl1"])
    assert stream.health()["healthy"], stream.health()


def test_cut_again_and_again(link):
    """Links cut at random moments while rows flow."""
    stream, proxy = link
    for n in range(12):
        add(stream, 1000 + n * 100, 1099 + n * 100)
        proxy.cut()
    check_equal(stream, ["sl1"])


def test_frozen_network(link):
    """No FIN, no data: the receive timeout ends the wait."""
    stream, proxy = link
    proxy.freeze()
    add(stream, 100, 150)
    retrying(stream)
    proxy.thaw()
    proxy.cut()
    check_equal(stream, ["sl1"])


def test_frozen_then_thawed(link):
    """What was held back arrives after all: old links must not matter."""
    stream, proxy = link
    proxy.freeze()
    add(stream, 100, 150)
    retrying(stream)
    proxy.thaw()
    check_equal(stream, ["sl1"])


def test_frozen_at_connect(link):
    """The server accepts and says nothing: connect_timeout ends it."""
    stream, proxy = link
    stream.stop()
    proxy.freeze()
    try:
        stream.start()
    except psycopg2.Error as e:
        assert e.pgcode == "SL001" and "source connect" in e.diag.message_detail
    proxy.thaw()
    stream.start()
    check_equal(stream, ["sl1"])


def test_worker_meets_a_silent_source(link):
    """A worker that cannot even connect says so, and can be stopped."""
    stream, proxy = link
    proxy.freeze()
    proxy.cut()
    retrying(stream)
    began = time.monotonic()
    with pytest.raises(psycopg2.Error):
        stream.wait("caught_up", "2 s")
    stream.stop(timeout="20 s")
    assert time.monotonic() - began < 20
    assert stream.state == "stopped"
    proxy.thaw()
    add(stream, 300, 310)
    stream.start()
    check_equal(stream, ["sl1"])


def test_slow_link(link):
    """A slow link is not a dead one."""
    stream, proxy = link
    restarts = stream.health()["restarts"]
    proxy.delay(0.2)
    add(stream, 100, 150)
    stream.caught_up()
    assert stream.health()["restarts"] == restarts
    proxy.pass_all()
    check_equal(stream, ["sl1"])


def test_answers_get_lost(link):
    """The source's data comes, our status does not go: nothing is lost."""
    stream, proxy = link
    proxy.down_only()
    add(stream, 100, 150)
    wait_until(lambda: stream.dst.value("SELECT count(*) FROM sl1") == 101, 30)
    check_confirmed(stream)
    proxy.cut()
    check_equal(stream, ["sl1"])


def test_old_walsender_holds_the_slot(link):
    """PS-13: the link is gone without FIN, the old walsender lives on.

    The slot's holder is named in health, not killed; the stream resumes
    when the source has noticed.
    """
    stream, proxy = link
    old = walsender(stream)
    os.kill(old, signal.SIGSTOP)
    try:
        proxy.half_open()
        add(stream, 100, 150)
        row = reason_of(stream, str(old), ("retrying", "starting", "streaming"))
        assert not row["healthy"], row
    finally:
        os.kill(old, signal.SIGCONT)
    proxy.cut()
    check_equal(stream, ["sl1"])


def test_stopped_walsender(dbs):
    """SIGSTOP of the walsender: a frozen connection without a proxy."""
    stream = make_stream(*dbs)
    pid = walsender(stream)
    os.kill(pid, signal.SIGSTOP)
    try:
        add(stream, 100, 150)
        retrying(stream)
    finally:
        os.kill(pid, signal.SIGCONT)
    check_equal(stream, ["sl1"])


def test_terminated_walsender(dbs):
    stream = make_stream(*dbs)
    for n in range(3):
        add(stream, 1000 * (n + 1), 1000 * (n + 1) + 200)
        stream.src.execute("SELECT pg_terminate_backend(%s, 10000)", walsender(stream))
    check_equal(stream, ["sl1"])


def test_terminated_worker(dbs):
    """pg_terminate_backend on the worker: the launcher starts it again."""
    stream = make_stream(*dbs)
    for n in range(2):
        pid = stream.pid()
        add(stream, 1000 * (n + 1), 1000 * (n + 1) + 200)
        stream.dst.execute("SELECT pg_terminate_backend(%s, 10000)", pid)
        wait_until(lambda: stream.health()["pid"] not in (None, pid), 30,
                   lambda: "a new worker; health is %r" % stream.health())
    check_equal(stream, ["sl1"])


@pytest.mark.parametrize("mode", ["fast", "immediate"])
def test_source_restarts(servers, dbs, mode):
    stream = make_stream(*dbs)
    add(stream, 100, 150)
    servers[0].stop(mode)
    retrying(stream)
    servers[0].start()
    add(stream, 200, 250)
    check_equal(stream, ["sl1"])


def test_refused_login_is_retried(servers, dbs):
    """A password that was rotated away: retrying, not failed."""
    src, dst = dbs
    src.server.execute("CREATE ROLE rotated LOGIN SUPERUSER REPLICATION PASSWORD 'pw-one'")
    try:
        stream = make_stream(src, dst, user="rotated", password="pw-one")
        src.server.execute("ALTER ROLE rotated PASSWORD 'pw-two'")
        src.execute("SELECT pg_terminate_backend(%s, 10000)", walsender(stream))
        row = retrying(stream)
        assert "pw-" not in row["reason"]
        add(stream, 100, 110)
        dst.execute("ALTER USER MAPPING FOR CURRENT_USER SERVER \"%s\""
                    " OPTIONS (SET password 'pw-two')" % stream.server)
        check_equal(stream, ["sl1"])
    finally:
        dst.destroy()
        src.server.execute("DROP ROLE rotated")


def test_retry_limit_ends_in_failed(servers, dbs):
    """options retry_limit: after so many failures in a row the stream fails."""
    src, dst = dbs
    with Proxy(servers[0].port) as proxy:
        stream = make_stream(src, dst, server_options={"port": str(proxy.port)},
                             options={"retry_limit": 2})
        proxy.refuse()
        proxy.cut()
        row = stream.wait_state("failed")
        assert row["reason"] and not row["healthy"], row
        with pytest.raises(psycopg2.Error):
            stream.wait("streaming", "10 s")
        proxy.pass_all()
        add(stream, 100, 110)
        stream.start()
        check_equal(stream, ["sl1"])


# -- the target's own locks -----------------------------------------------------

def test_locked_table(dbs):
    """PA-14: a local session locks the table; health names it; RESUME."""
    stream = make_stream(*dbs)
    other = stream.dst.connect(autocommit=False)
    with other.cursor() as cur:
        cur.execute("LOCK TABLE sl1 IN SHARE ROW EXCLUSIVE MODE")
        cur.execute("SELECT pg_backend_pid()")
        pid = cur.fetchone()[0]
    begun = stream.health()["restarts"]
    add(stream, 92, 92)
    reason_of(stream, str(pid))
    # it gives up waiting and tries again, however often
    wait_until(lambda: stream.health()["restarts"] >= begun + 3, 30,
               lambda: "no retry; health is %r" % stream.health())
    other.rollback()
    other.close()
    check_equal(stream, ["sl1"])


def test_locked_row(dbs):
    """A row lock held by a local session."""
    stream = make_stream(*dbs)
    add(stream, 1, 5)
    stream.caught_up()
    other = stream.dst.connect(autocommit=False)
    with other.cursor() as cur:
        cur.execute("SELECT pg_backend_pid() FROM sl1 WHERE id = 3 FOR UPDATE")
        pid = cur.fetchone()[0]
    stream.src.execute("UPDATE sl1 SET v = 'upd'")
    reason_of(stream, str(pid))
    other.rollback()
    other.close()
    check_equal(stream, ["sl1"])


def test_deadlock(dbs):
    """PA-14: a real deadlock with a local session, whoever is the victim."""
    stream = make_stream(*dbs)
    dst = stream.dst
    add(stream, 1, 2)
    stream.caught_up()
    other = dst.connect(autocommit=False)
    done = []

    def second_row():
        try:
            with other.cursor() as cur:
                cur.execute("UPDATE sl1 SET v = v WHERE id = 1")
            done.append("waited")
        except psycopg2.errors.DeadlockDetected:
            done.append("victim")
        other.rollback()
    with other.cursor() as cur:
        cur.execute("SET deadlock_timeout = '100ms'")
        cur.execute("UPDATE sl1 SET v = v WHERE id = 2")
    stream.src.execute("BEGIN; UPDATE sl1 SET v = 'a' WHERE id = 1;"
                       " UPDATE sl1 SET v = 'a' WHERE id = 2; COMMIT")
    wait_until(lambda: dst.value(
        "SELECT count(*) FROM pg_locks WHERE NOT granted AND pid = %s",
        stream.pid()), 30, "the stream waits for row 2")
    thread = threading.Thread(target=second_row)
    thread.start()
    thread.join(60)
    assert done, "the local session hangs"
    other.close()
    check_equal(stream, ["sl1"])


def test_nothing_is_confirmed_while_locked(servers, dbs):
    """PS-08: keepalives come while apply waits for a lock; then kill -9."""
    src, dst = dbs
    target = servers[1]
    src.execute("CREATE TABLE elsewhere (v text)")
    stream = make_stream(src, dst, include_tables=["sl1"],
                         options={"heartbeat_interval": "200 ms"})
    stream.caught_up()
    other = dst.connect(autocommit=False)
    with other.cursor() as cur:
        cur.execute("LOCK TABLE sl1 IN SHARE ROW EXCLUSIVE MODE")
    add(stream, 100, 200)
    first = src.lsn()
    locked = time.monotonic()
    while time.monotonic() - locked < 3:
        src.execute("INSERT INTO elsewhere SELECT repeat('x', 1000) FROM"
                    " generate_series(1, 100)")
        check_confirmed(stream)
        said = src.value("SELECT confirmed_flush_lsn FROM pg_replication_slots"
                         " WHERE slot_name = %s", stream.slot()["slot_name"])
        assert lsn(said) < lsn(first), "confirmed past rows that are not here"
    stream.crash_worker()
    other.close()
    check_equal(stream, ["sl1"])
    assert dst.value("SELECT count(*) FROM sl1 WHERE id BETWEEN 100 AND 200") == 101


def test_read_only_target(dbs):
    """default_transaction_read_only of the database does not stop a stream,
    or it is retried: once it is off again, everything arrives."""
    stream = make_stream(*dbs)
    dst = stream.dst
    dst.execute('ALTER DATABASE "%s" SET default_transaction_read_only = on' % dst.name)
    dst.execute("SELECT pg_terminate_backend(%s, 10000)", stream.pid())
    add(stream, 100, 110)
    wait_until(lambda: stream.health()["state"] in ("retrying", "streaming"), 30)
    dst.server.execute('ALTER DATABASE "%s" RESET default_transaction_read_only' % dst.name)
    check_equal(stream, ["sl1"])


def test_caught_up_raises_on_its_limit(dbs):
    """sync_wait ends at its time limit while apply is blocked."""
    stream = make_stream(*dbs)
    other = stream.dst.connect(autocommit=False)
    with other.cursor() as cur:
        cur.execute("LOCK TABLE sl1 IN SHARE ROW EXCLUSIVE MODE")
    add(stream, 1, 1)
    began = time.monotonic()
    with pytest.raises(psycopg2.Error):
        stream.wait("caught_up", "1 s")
    assert time.monotonic() - began < 15
    other.rollback()
    other.close()
    check_equal(stream, ["sl1"])


def test_stop_while_blocked(dbs):
    """sync_stop with a time limit while apply waits for a lock: it raises or
    stops, and nothing half done stays behind."""
    stream = make_stream(*dbs)
    before = position(stream)
    other = stream.dst.connect(autocommit=False)
    with other.cursor() as cur:
        cur.execute("LOCK TABLE sl1 IN SHARE ROW EXCLUSIVE MODE")
    add(stream, 1, 5)
    began = time.monotonic()
    try:
        stream.stop(timeout="3 s")
    except psycopg2.Error:
        pass
    assert time.monotonic() - began < 15
    assert stream.dst.value("SELECT count(*) FROM sl1") == 0
    assert before is None or lsn(position(stream)) >= lsn(before)
    other.rollback()
    other.close()
    stream.wait_state("stopped", timeout=30)
    stream.start()
    check_equal(stream, ["sl1"])
    assert_same_rows(stream.src, stream.dst, ["sl1"])
