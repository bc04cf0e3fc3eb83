"""What tests of a bridge's cold start need of a MySQL or MariaDB source: tables to
copy, writers that never pause, a transaction held between log and engine, and
an oracle that compares both sides without knowing anything of sluice."""
import contextlib
import datetime
import decimal
import json
import random
import threading

import pymysql

from .util import wait_until

# Tables with keys of every form that a copy in ranges knows, one without a key,
# and one of wide rows.
SCHEMA = {
    "acct": "id bigint NOT NULL AUTO_INCREMENT PRIMARY KEY, bal decimal(14,2) NOT NULL,"
            " n int unsigned NOT NULL, note varchar(120), at timestamp(6) NULL, UNIQUE KEY u (n)",
    "words": "w varchar(40) CHARACTER SET latin1 COLLATE latin1_swedish_ci NOT NULL, d date NOT NULL,"
             " v varchar(200), PRIMARY KEY (w, d)",
    "tokens": "h binary(16) NOT NULL PRIMARY KEY, v varchar(200)",
    "prices": "p decimal(12,3) NOT NULL, t datetime(3) NOT NULL, f double, v varchar(200), PRIMARY KEY (p, t)",
    "floats": "f float NOT NULL PRIMARY KEY, v varchar(40)",
    "keyless": "a int, b varchar(60)",
    "wide": "id int NOT NULL PRIMARY KEY, doc longtext, raw longblob",
    "empty_one": "id int NOT NULL PRIMARY KEY, v int",
}

ROWS = 24000        # of the larger ones: more than a megabyte each


def load(db, tables=tuple(SCHEMA), rows=ROWS):
    """Make these tables and fill them."""
    db.execute("CREATE TABLE seq (i int PRIMARY KEY)")
    conn = db.connect()
    with conn.cursor() as cur:
        cur.executemany("INSERT INTO seq VALUES (%s)", [(i,) for i in range(1, rows + 1)])
        for table in tables:
            cur.execute("CREATE TABLE %s (%s) ENGINE=InnoDB" % (table, SCHEMA[table]))
        fill = {
            "acct": "SELECT i * 3, i / 7, i, concat('account ', i, repeat('.', i % 80)), now(6) FROM seq",
            "words": "SELECT concat(char(65 + i % 26 USING latin1), char(224 + i % 20 USING latin1), i DIV 50),"
                     " date_add('2020-01-01', INTERVAL i % 50 DAY), repeat('w', i % 150) FROM seq",
            "tokens": "SELECT unhex(left(sha2(i, 256), 32)), repeat('t', i % 150) FROM seq",
            "prices": "SELECT (i DIV 100) / 8 - 10, date_add('2021-01-01', INTERVAL i * 1001 MICROSECOND), i / 3,"
                      " repeat('p', i % 150) FROM seq",
            "floats": "SELECT i / 8, i FROM seq WHERE i <= 300",
            "keyless": "SELECT i % 40, repeat('k', i % 50) FROM seq WHERE i <= 2000",
            "wide": "SELECT i, repeat('ü€😀', i * 1000), repeat(unhex('00ff0a'), i * 2000) FROM seq WHERE i <= 20",
        }
        for table in tables:
            if table in fill:
                cur.execute("INSERT INTO %s %s" % (table, fill[table]))
        cur.execute("DROP TABLE seq")
        cur.execute("ANALYZE TABLE " + ", ".join(tables))
        cur.fetchall()
    conn.close()


def _move(cur, rng):
    a, b, x = rng.randint(1, ROWS) * 3, rng.randint(1, ROWS) * 3, rng.randint(1, 99)
    cur.execute("UPDATE acct SET bal = bal - %s, at = now(6) WHERE id = %s", (x, a))
    cur.execute("UPDATE acct SET bal = bal + %s WHERE id = %s", (x, b))


def _rekey(cur, rng):
    """A row to the other end of the key, and back or on later."""
    a = rng.randint(1, ROWS) * 3
    cur.execute("UPDATE acct SET id = %s WHERE id = %s", (ROWS * 3 - a + rng.randint(1, 2), a))


def _exchange(cur, rng):
    """Two rows, which may be of two ranges, exchange a unique value."""
    a = rng.randint(1, 200)
    b = ROWS - a
    cur.execute("UPDATE acct SET n = 4000000000 WHERE n = %s", (a,))
    cur.execute("UPDATE acct SET n = %s WHERE n = %s", (a, b))
    cur.execute("UPDATE acct SET n = %s WHERE n = 4000000000", (b,))


def _grow(cur, rng):
    i = rng.randint(ROWS + 1, ROWS + 500)
    cur.execute("INSERT INTO words VALUES (%s, '2020-02-02', 'new') ON DUPLICATE KEY UPDATE v = concat(v, '+')",
                ("N%d" % i,))
    cur.execute("INSERT IGNORE INTO tokens VALUES (unhex(left(sha2(%s, 256), 32)), 'new')", (i,))
    cur.execute("DELETE FROM tokens WHERE h = unhex(left(sha2(%s, 256), 32))", (rng.randint(1, ROWS),))


def _keyless(cur, rng):
    cur.execute("INSERT INTO keyless VALUES (%s, 'new'), (%s, 'new')", (rng.randint(0, 40),) * 2)
    cur.execute("DELETE FROM keyless WHERE a = %s LIMIT 1", (rng.randint(0, 40),))
    cur.execute("UPDATE keyless SET b = concat(b, '!') WHERE a = %s LIMIT 2", (rng.randint(0, 40),))


def _others(cur, rng):
    cur.execute("UPDATE prices SET f = f + 1, p = p + %s WHERE p = %s LIMIT 3",
                (rng.choice((0, 0.125)), rng.randint(0, 200) / 8))
    cur.execute("UPDATE floats SET v = %s WHERE v = %s", ("x%d" % rng.randint(1, 9), str(rng.randint(1, 300))))
    cur.execute("UPDATE wide SET doc = concat('x', doc) WHERE id = %s", (rng.randint(1, 20),))
    cur.execute("REPLACE INTO empty_one VALUES (%s, 1)", (rng.randint(1, 50),))


class MyWriters:
    """Writers of load()'s tables without a pause; use as a context manager.

    count    writers
    seed     of what they do
    acts     names of what they do: move, rekey, exchange, grow, keyless, others
    """

    ACTS = {"move": _move, "rekey": _rekey, "exchange": _exchange, "grow": _grow, "keyless": _keyless,
            "others": _others}

    def __init__(self, db, count=3, seed=1, acts=tuple(ACTS)):
        self.db = db
        self.acts = [self.ACTS[name] for name in acts]
        self.done = 0               # transactions
        self.error = None
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._run, args=(random.Random(seed * 100 + i),))
                         for i in range(count)]

    def _run(self, rng):
        conn = self.db.connect(autocommit=False)
        acts = [_move] + self.acts
        try:
            while not self._stop.is_set():
                try:
                    with conn.cursor() as cur:
                        for _ in range(rng.randint(1, 3)):
                            rng.choice(acts)(cur, rng)
                    if rng.random() < 0.1:
                        conn.rollback()
                    else:
                        conn.commit()
                    self.done += 1
                except pymysql.err.MySQLError as e:
                    if e.args[0] not in (1205, 1213, 1062, 1020):   # they meet each other
                        raise
                    conn.rollback()
        except Exception as e:      # shown by stop()
            self.error = e
        finally:
            conn.close()

    def __enter__(self):
        for t in self._threads:
            t.start()
        self.more(20)
        return self

    def more(self, n):
        """Wait for n more transactions."""
        want = self.done + n
        wait_until(lambda: self.error or self.done >= want, 60, "the writers")

    def stop(self):
        self._stop.set()
        for t in self._threads:
            t.join()
        assert self.error is None, self.error

    def __exit__(self, *exc):
        self._stop.set()
        for t in self._threads:
            t.join()


@contextlib.contextmanager
def held_commit(db, sql):
    """Run sql in a transaction that is in the log and not in the engine while the block runs.

    It waits for a replica that acknowledges nothing.  The server is the test's
    own; no other commit gets through meanwhile.  On MySQL it needs
    semisync_source.so (held_commit_conf).
    """
    server = db.server
    role = "master" if server.is_mariadb else "source"
    name = "rpl_semi_sync_%s_" % role
    server.execute("SET GLOBAL %swait_point = 'AFTER_SYNC', GLOBAL %stimeout = 600000" % (name, name))
    server.execute("SET GLOBAL %senabled = ON" % name)
    before = server.position()
    thread = threading.Thread(target=lambda: db.execute(sql))
    thread.start()
    try:
        wait_until(lambda: server.position() != before, 30, "the transaction in the log")
        yield
    finally:
        server.execute("SET GLOBAL %senabled = OFF" % name)
        thread.join()


def held_commit_conf(kind):
    """Settings of a server for held_commit."""
    return {} if kind.startswith("mariadb") else {"plugin-load-add": "semisync_source.so"}


# -- the oracle -------------------------------------------------------------

def _plain(value):
    """One value of either driver in a form that both share."""
    if isinstance(value, memoryview):
        return bytes(value)
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        return value.astimezone(datetime.timezone.utc).replace(tzinfo=None)
    if isinstance(value, decimal.Decimal):      # a number without a scale is an int on one side
        return str(value) if value.as_tuple().exponent else int(value)
    return value


def plain_json(value):
    """The same, with JSON texts and truth values that the target has as such."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, str) and value[:1] in "{[":
        try:
            value = json.loads(value)
        except ValueError:
            return value
    return json.dumps(value, sort_keys=True) if isinstance(value, (dict, list)) else _plain(value)


def _count(rows, plain):
    out = {}
    for row in rows:
        key = repr(tuple(plain(v) for v in row))
        out[key] = out.get(key, 0) + 1
    return out


def differing_rows(src, dst, table, schema="public", plain=_plain):
    """Rows of table that one side has and the other has not, as texts; at most ten.  plain: puts a value into a
    form that both sides share."""
    conn = src.connect()
    try:
        with conn.cursor() as cur:
            cur.execute("SET time_zone = '+00:00'")
            cur.execute("SELECT * FROM `%s`" % table)
            names = [d[0] for d in cur.description]
            ours = _count(cur.fetchall(), plain)
    finally:
        conn.close()
    theirs = _count((tuple(row[n] for n in names) for row in dst.rows('SELECT * FROM %s."%s"' % (schema, table))), plain)
    return [("source %d target %d: %s" % (ours.get(k, 0), theirs.get(k, 0), k))[:300]
            for k in ours.keys() | theirs.keys() if ours.get(k, 0) != theirs.get(k, 0)][:10]


def assert_same_tables(src, dst, tables, schema="public"):
    for table in tables:
        assert differing_rows(src, dst, table, schema) == [], table
