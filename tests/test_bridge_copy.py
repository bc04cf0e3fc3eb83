"""Rows of a bridge's cold start from several sessions: who may send them, and
what is here when one of them ends.  The bridge is this test."""
import json
import os
import signal
import struct

import psycopg2
import pytest

from lib import wait_until
from lib.rounds import FAST


def cell(value):
    return struct.pack(">i", -1) if value is None else struct.pack(">i", len(value)) + value


def rows(cursor, last, *keys):
    """A batch of rows (key, "row KEY")."""
    text = cursor.encode()
    return struct.pack(">BI", last, len(text)) + text + b"".join(
        struct.pack(">h", 2) + cell(struct.pack(">i", k)) + cell(b"row %d" % k) for k in keys)


def key_range(part, of=1):
    return json.dumps({
        "id": part, "of": of, "from": "[%d]" % part, "rows": 10, "bytes": 1000,
        "snapshot": {"lsn": "1/C8", "window_lsn": "1/C8"},
        "columns": [{"name": "id", "form": "binary", "typid": 23}, {"name": "v", "form": "text"}]})


class Session:
    """A session that helps the feeder of that token."""

    def __init__(self, db, token):
        self.con = db.connect()
        self.con.autocommit = False
        self.cur = self.con.cursor()
        self.token = token
        self.cur.execute("SELECT pg_backend_pid()")
        self.pid = self.cur.fetchone()[0]
        self.con.commit()

    def open(self, part, of=1):
        self.cur.execute("SELECT sluice.feed_copy_open(%s, 'shop', 't', %s)",
                         (self.token, key_range(part, of)))
        return self.cur.fetchone()[0]

    def copy(self, *args):
        self.cur.execute("SELECT sluice.feed_copy(%s, %s)",
                         (self.token, psycopg2.Binary(rows(*args))))


@pytest.fixture
def copying(make_pg):
    """(server, Db) with a stream whose table t is being copied."""
    server = make_pg("copying", conf=FAST)
    db = server.fresh_db("copying", extension=True)
    db.execute("CREATE TABLE t (id int PRIMARY KEY, v text)")
    db.execute("CREATE SERVER my FOREIGN DATA WRAPPER sluice"
               " OPTIONS (driver 'mysql', host 'db1', dbname 'shop')")
    db.execute("CREATE USER MAPPING FOR PUBLIC SERVER my OPTIONS (user 'u', password 'p')")
    db.execute("SELECT sluice.sync_start('s', 'my')")
    db.execute("INSERT INTO sluice.copy_run (stream_id, start_lsn, phase, last_snapshot)"
               " VALUES ('s', '1/64', 'data', '1/64')")
    db.execute("INSERT INTO sluice.stream_table (stream_id, schema_name, table_name,"
               " target_relid, state) VALUES ('s', 'shop', 't', 't'::regclass, 'copying')")
    return server, db


def lead(db):
    """A session that feeds the stream, and its token."""
    con = db.connect()
    cur = con.cursor()
    cur.execute("SELECT token FROM sluice.feed_open('s', 3)")
    return con, cur.fetchone()[0]


def lives(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def answers(db):
    try:
        return db.value("SELECT 1") == 1
    except psycopg2.OperationalError:
        return False


def test_ranges_are_copied_side_by_side(copying):
    server, db = copying
    leader, token = lead(db)
    one, two = Session(db, token), Session(db, token)
    assert one.open(0, 2) == two.open(1, 2) == {"cursor": None, "done": False}
    one.con.commit()
    with pytest.raises(psycopg2.errors.ObjectInUse):
        two.open(0, 2)
    two.con.rollback()
    two.open(1, 2)
    one.copy("[1]", False, 1)
    two.copy("[11]", False, 10, 11)
    seen = db.rows("SELECT pid, rows_done, rows_total FROM sluice.progress")
    assert {r["pid"]: r["rows_done"] for r in seen} == {one.pid: 1, two.pid: 2}
    two.con.commit()
    one.con.rollback()
    assert db.query("SELECT id FROM t ORDER BY id") == [(10,), (11,)]
    assert one.open(0, 2)["cursor"] is None
    assert two.open(1, 2)["cursor"] == "[11]"
    for s, key in ((one, 1), (two, 12)):
        s.copy("[%d]" % key, True, key)
        s.con.commit()
    assert one.open(0, 2)["done"] and two.open(1, 2)["done"]
    assert db.value("SELECT count(*) FROM t") == 4
    assert db.rows("SELECT pid FROM sluice.progress") == []
    leader.close()


def test_a_copy_ends_with_its_leader(copying):
    server, db = copying
    leader, token = lead(db)
    hand = Session(db, token)
    hand.open(0)
    hand.copy("[1]", False, 1)
    hand.con.commit()
    hand.copy("[2]", False, 2)
    leader.close()
    wait_until(lambda: db.value("SELECT count(*) FROM pg_stat_activity WHERE pid = %d" % hand.pid) == 0,
               30, "the session to end with its leader")
    with pytest.raises(psycopg2.Error):
        hand.con.commit()
    late = Session(db, token)
    with pytest.raises(psycopg2.errors.InvalidParameterValue):
        late.open(0)
    leader, token = lead(db)
    again = Session(db, token)
    assert again.open(0)["cursor"] == "[1]"
    again.copy("[2]", True, 2)
    again.con.commit()
    assert db.query("SELECT id FROM t ORDER BY id") == [(1,), (2,)]
    leader.close()


def test_a_hand_records_what_it_refused(copying):
    server, db = copying
    leader, token = lead(db)
    hand = Session(db, token)
    hand.open(0)
    with pytest.raises(psycopg2.Error):
        hand.copy("[1]", False, 1, 1)
    hand.con.rollback()
    hand.cur.execute("SELECT sluice.feed_close(%s, 'failed')", (token,))
    hand.con.commit()
    assert db.value("SELECT marker FROM sluice.refusals") == "TARGET-CONSTRAINT-VIOLATED"
    with pytest.raises(psycopg2.errors.ObjectNotInPrerequisiteState):
        hand.open(0)
    leader.close()


@pytest.mark.parametrize("who", ["copy", "leader"])
def test_after_a_kill_the_copy_goes_on_behind_its_last_key(copying, who):
    server, db = copying
    leader, token = lead(db)
    hand = Session(db, token)
    hand.open(0)
    hand.copy("[2]", False, 1, 2)
    hand.con.commit()
    hand.copy("[4]", False, 3, 4)
    pids = {"copy": hand.pid, "leader": leader.info.backend_pid}
    os.kill(pids[who], signal.SIGKILL)
    wait_until(lambda: not any(map(lives, pids.values())), 60, "the server to end all sessions")
    with pytest.raises(psycopg2.Error):
        hand.con.commit()
    wait_until(lambda: answers(db), 60, "the server to be back")
    leader, token = lead(db)
    again = Session(db, token)
    assert again.open(0) == {"cursor": "[2]", "done": False}
    again.copy("[4]", True, 3, 4)
    again.con.commit()
    assert db.query("SELECT id FROM t ORDER BY id") == [(1,), (2,), (3,), (4,)]
    leader.close()
