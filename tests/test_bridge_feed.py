"""Streams that sluice-bridge feeds, as seen from several sessions and over a
restart.  The feeder is this test: it speaks the wire by sluice.feed_encode."""
import threading

import pytest

from lib import wait_until
from lib.rounds import FAST

HEADER = '{"kind": "header", "server": "mysql", "system_identity": "u1"}'
IDLE = "SELECT sluice.feed(%%s, sluice.feed_encode('[%s]'))" % HEADER


@pytest.fixture
def stream(make_pg):
    server = make_pg("bridged", conf=FAST)
    db = server.fresh_db("bridged", extension=True)
    db.execute("CREATE SERVER my FOREIGN DATA WRAPPER sluice"
               " OPTIONS (driver 'mysql', host 'db1', dbname 'shop')")
    db.execute("CREATE USER MAPPING FOR PUBLIC SERVER my OPTIONS (user 'u', password 'p')")
    db.execute("SELECT sluice.sync_start('s', 'my')")
    return server, db


def health(db):
    return db.rows("SELECT state, desired_state, pid, reason FROM sluice.health")[0]


def open_feed(db):
    con = db.connect()
    cur = con.cursor()
    cur.execute("SELECT token FROM sluice.feed_open('s', 3)")
    return con, cur, cur.fetchone()[0]


def feed(cur, token):
    cur.execute(IDLE, (token,))
    return cur.fetchone()[0]


def test_a_start_survives_a_restart_and_starts_no_worker(stream):
    server, db = stream
    con, cur, token = open_feed(db)
    feed(cur, token)
    assert health(db)["state"] == "copying"
    server.kill9()
    server.start()
    wait_until(lambda: db.value("SELECT count(*) FROM sluice.stream_runtime()") == 1,
               30, "the scout")
    seen = health(db)
    assert (seen["state"], seen["desired_state"], seen["pid"]) == ("copying", "running", None)
    assert seen["reason"] == "no sluice-bridge feeds the stream"
    assert db.value("SELECT count(*) FROM pg_stat_activity"
                    " WHERE backend_type = 'sluice worker'") == 0
    con, cur, token = open_feed(db)
    assert health(db)["pid"] == con.get_backend_pid()
    con.close()
    wait_until(lambda: health(db)["pid"] is None, 30, "the session's end")
    db.execute("SELECT sluice.sync_stop('s')")
    server.restart()
    assert health(db)["state"] == "stopped"


def test_a_waiting_stop_is_confirmed_by_the_feeder(stream):
    _, db = stream
    con, cur, token = open_feed(db)
    caught = []

    def stop():
        try:
            db.execute("SELECT sluice.sync_stop('s', true, '60 s')")
            caught.append(health(db)["state"])
        except Exception as e:
            caught.append(e)
    stopper = threading.Thread(target=stop)
    stopper.start()
    wait_until(lambda: feed(cur, token).get("stop"), 30, "the request to reach the feeder")
    assert not caught
    cur.execute("SELECT sluice.feed_close(%s)", (token,))
    stopper.join()
    assert caught == ["stopped"]


def test_a_stop_of_a_feeder_that_dies_comes_true(stream):
    _, db = stream
    con, cur, token = open_feed(db)
    caught = []
    stopper = threading.Thread(
        target=lambda: caught.append(db.execute("SELECT sluice.sync_stop('s', true, '60 s')")))
    stopper.start()
    wait_until(lambda: feed(cur, token).get("stop"), 30, "the request to reach the feeder")
    db.execute("SELECT pg_terminate_backend(%s)", con.get_backend_pid())
    stopper.join()
    assert health(db)["state"] == "stopped"


def test_caught_up_is_answered_by_the_feeder(stream):
    _, db = stream
    con, cur, token = open_feed(db)
    caught = []

    def wait():
        try:
            db.execute("CALL sluice.sync_wait('s', 'caught_up', '60 s')")
            caught.append(True)
        except Exception as e:
            caught.append(e)
    waiter = threading.Thread(target=wait)
    waiter.start()
    wait_until(lambda: feed(cur, token).get("catch_up"), 30, "the request to reach the feeder")
    ticket = feed(cur, token)["catch_up"]
    assert not caught
    cur.execute("SELECT sluice.feed(%%s, sluice.feed_encode('[%s, %s, %s]'))" % (
        HEADER, '{"kind": "heartbeat", "lsn": "1/4", "position": "x"}',
        '{"kind": "message", "transactional": false, "prefix": "sluice_caught_up", "data": "%d"}'
        % ticket), (token,))
    waiter.join()
    assert caught == [True]
    con.close()
