"""Changes by pt-online-schema-change, run for real on MariaDB while writers write.

It copies a table into another one, keeps that up by triggers, and exchanges their names at the end.  The stream
does not have the whole of the new table's rows: it is refused at that exchange, with the target as the old table was
in the end, and the copy that it asks for makes both sides equal.
"""
import subprocess
import threading

import pymysql
import pytest

from lib.mycases import Ground, copy_anew
from lib.mycold import differing_rows
from lib.util import scaled

KINDS = [pytest.param("mariadb10.11", marks=pytest.mark.long), "mariadb11.8"]
ROWS = 2000
DEADLOCK = 1213              # with a trigger of the tool: the transaction is to be tried again

# what the tool is asked for, and the same on the target
ALTERS = {
    "add": ("ADD COLUMN c INT NOT NULL DEFAULT 7 AFTER id", "ADD COLUMN c integer NOT NULL DEFAULT 7"),
    "drop": ("DROP COLUMN b", None),
    "modify": ("MODIFY a BIGINT NOT NULL", None),
    "index": ("ADD INDEX (a)", None),
}


@pytest.fixture(scope="module")
def ground():
    one = Ground("osc")
    yield one
    one.destroy()


class Writer:
    """Transactions on a table until it is stopped: two rows exchange a unit, one is added, one goes."""

    def __init__(self, db):
        self.db, self.halt, self.failed, self.count = db, threading.Event(), None, 0
        self.thread = threading.Thread(target=self._run)
        self.thread.start()

    def _run(self):
        conn = self.db.connect(autocommit=False)
        try:
            with conn.cursor() as cur:
                while not self.halt.wait(0.002):
                    self.count += 1
                    try:
                        self._write(cur, self.count)
                        conn.commit()
                    except pymysql.OperationalError as e:
                        if e.args[0] != DEADLOCK:
                            raise
                        conn.rollback()
        except Exception as e:      # shown by stop()
            self.failed = e
        finally:
            conn.close()

    @staticmethod
    def _write(cur, n):
        cur.execute("UPDATE t SET a = a - 1 WHERE id = %s", (n % ROWS + 1,))
        cur.execute("UPDATE t SET a = a + 1 WHERE id = %s", (n * 7 % ROWS + 1,))
        cur.execute("INSERT INTO t (id, a) VALUES (%s, 0)", (ROWS + n,))
        cur.execute("DELETE FROM t WHERE id = %s", (ROWS + n - 20,))

    def stop(self):
        self.halt.set()
        self.thread.join(60)
        assert self.failed is None, self.failed
        assert self.count > 20


def change_online(db, alter):
    done = subprocess.run(
        ["pt-online-schema-change", "--execute", "--alter", alter, "--no-drop-old-table", "--recursion-method", "none",
         "--chunk-size", "100", "--sleep", "0.02", "--critical-load", "Threads_running=500", "--max-load", "Threads_running=400",
         "--user", "root", "--socket", db.server.socket, "D=%s,t=t" % db.name],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=scaled(120))
    assert done.returncode == 0 and "Successfully altered" in done.stdout, done.stdout


@pytest.mark.parametrize("world", KINDS)
@pytest.mark.parametrize("what", [pytest.param(w, marks=[pytest.mark.long] if w == "index" else []) for w in sorted(ALTERS)])
def test_online_schema_change(ground, world, what):
    alter, here = ALTERS[what]
    stream = ground.begin(
        world, what, "CREATE TABLE t (id INT PRIMARY KEY, a INT NOT NULL, b VARCHAR(200)); CREATE TABLE d (i INT PRIMARY KEY);"
        "INSERT INTO d VALUES (0),(1),(2),(3),(4),(5),(6),(7),(8),(9);"
        "INSERT INTO t SELECT 1 + w.i + 10 * x.i + 100 * y.i + 1000 * z.i, 100, REPEAT('b', w.i * 10)"
        " FROM d w, d x, d y, d z WHERE z.i < %d" % (ROWS // 1000))
    src, dst, table = stream.src, stream.dst, "%s.t" % stream.schema
    writer = Writer(src)
    try:
        change_online(src, alter)
    finally:
        writer.stop()
    row = stream.wait_refused("TABLE-IDENTITY-CHANGED")
    assert "anew" in row["hint"], row
    # what it left as the old table is what is here, and nothing of its own tables
    src.execute("RENAME TABLE t TO n, _t_old TO t")
    assert differing_rows(src, dst, "t", stream.schema) == []
    src.execute("RENAME TABLE t TO _t_old, n TO t")
    assert sorted(r[0] for r in dst.query("SELECT tablename FROM pg_tables WHERE schemaname = %s", stream.schema)) == ["d", "t"]
    # refused again, before anything of the new table
    stream.start(source=False)
    stream.wait_refused("TABLE-IDENTITY-CHANGED")
    if what != "add":
        return
    dst.execute("ALTER TABLE %s %s" % (table, here))
    src.execute("DROP TABLE _t_old")
    copy_anew(stream)
    src.execute("INSERT INTO t (id, a) VALUES (-1, 5)")
    stream.caught_up()
    assert differing_rows(src, dst, "t", stream.schema) == []
