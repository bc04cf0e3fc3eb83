"""Seeded load on a MySQL or MariaDB source: writers of every kind of transaction, each
of which keeps an account of its own, so that a target can be asked at any moment
whether it stands between two transactions."""
import pymysql

from .writers import Writers

SCHEMA = """
CREATE TABLE acct (id bigint PRIMARY KEY, bal decimal(14,2) NOT NULL, note varchar(200),
    n int unsigned NOT NULL, UNIQUE KEY n (n));
CREATE TABLE items (id bigint AUTO_INCREMENT PRIMARY KEY, v text, at timestamp(6) NULL, KEY at (at));
CREATE TABLE keyless (a int, b varchar(3000), c decimal(10,2));
CREATE TABLE docs (id int PRIMARY KEY, n int NOT NULL, doc longtext, raw longblob);
CREATE TABLE rekeyed (id bigint PRIMARY KEY, v int NOT NULL);
CREATE TABLE words (w varchar(60) NOT NULL, d date NOT NULL, v varchar(60), PRIMARY KEY (w, d));
CREATE TABLE ballast (id bigint PRIMARY KEY, v int NOT NULL, pad varchar(300));
CREATE TABLE base (id int PRIMARY KEY, v int);
CREATE TABLE leaf (id bigint PRIMARY KEY, base int, FOREIGN KEY (base) REFERENCES base (id));
CREATE TABLE ledger (w int PRIMARY KEY, n bigint NOT NULL);
CREATE TABLE entries (w int NOT NULL, n bigint NOT NULL, PRIMARY KEY (w, n));
"""

TABLES = ["acct", "items", "keyless", "docs", "rekeyed", "words", "ballast", "base", "leaf",
          "ledger", "entries"]

ACCOUNTS = 800
BALLAST = 12000     # rows; several megabytes, so that it is copied in ranges
DOCS = 30
BALANCE = 100       # of each account

LOST = (2002, 2003, 2006, 2013, 1053, 1927, 4031)     # the server went away
TROUBLE = (1205, 1213, 1062, 1020, 1451, 1452)        # the writers meet each other


def load(db, ballast=BALLAST):
    """Make the tables and fill them."""
    db.execute(SCHEMA)
    conn = db.connect(autocommit=False)
    with conn.cursor() as cur:
        many = cur.executemany
        many("INSERT INTO acct VALUES (%s, %s, %s, %s)",
             [(i, BALANCE, "a%d" % i, i) for i in range(1, ACCOUNTS + 1)])
        many("INSERT INTO items (v) VALUES (%s)", [("i%d" % i,) for i in range(300)])
        many("INSERT INTO keyless VALUES (%s, %s, %s)",
             [(i % 20, None if i % 7 == 0 else "k" * (i % 30), i % 5) for i in range(400)])
        many("INSERT INTO docs VALUES (%s, 0, repeat(%s, 3000), repeat(unhex(%s), 2000))",
             [(i, "ü€😀%d" % i, "00ff0a5c27%02x" % i) for i in range(1, DOCS + 1)])
        many("INSERT INTO rekeyed VALUES (%s, %s)", [(i, 0) for i in range(1, 201)])
        many("INSERT INTO words VALUES (%s, %s, %s)", [("wörd %d" % i, "2024-02-29", "w") for i in range(500)])
        many("INSERT INTO ballast VALUES (%s, %s, %s)", [(i, 0, "b" * 250) for i in range(1, ballast + 1)])
        many("INSERT INTO base VALUES (%s, %s)", [(i, 0) for i in range(1, 51)])
        many("INSERT INTO leaf VALUES (%s, %s)", [(i, i % 50 + 1) for i in range(1, 201)])
        many("INSERT INTO ledger VALUES (%s, %s)", [(i, 0) for i in range(len(KINDS))])
    conn.commit()
    with conn.cursor() as cur:
        cur.execute("ANALYZE TABLE " + ", ".join(TABLES))
        cur.fetchall()
    conn.close()


def _transfer(cur, rng, ids):
    a, b = rng.sample(range(1, ACCOUNTS + 1), 2)
    x = rng.randint(1, 500) / 100
    cur.execute("UPDATE acct SET bal = bal - %s, note = %s WHERE id = %s",
                (x, rng.choice(["kept", None, "", "ü'\\"]), a))
    cur.execute("UPDATE acct SET bal = bal + %s WHERE id = %s", (x, b))


def _insert_delete(cur, rng, ids):
    for _ in range(rng.randint(1, 6)):
        what = rng.random()
        if what < 0.5:
            cur.execute("INSERT INTO items (v, at) VALUES (%s, now(6))", ("new %d" % next(ids),))
        elif what < 0.8:
            cur.execute("UPDATE items SET v = concat(v, '.') WHERE id = %s", (rng.randint(1, 400),))
        else:
            cur.execute("DELETE FROM items ORDER BY id LIMIT 2")


def _savepoints(cur, rng, ids):
    i = next(ids)
    cur.execute("INSERT INTO items (v) VALUES ('before')")
    cur.execute("SAVEPOINT a")
    cur.execute("UPDATE ballast SET v = -1 WHERE id < %s", (rng.randint(1, 200),))
    cur.execute("INSERT INTO rekeyed VALUES (%s, -1)", (10 ** 6 + i,))
    cur.execute("ROLLBACK TO SAVEPOINT a")
    cur.execute("SAVEPOINT b")
    cur.execute("INSERT INTO items (v) VALUES ('inner')")
    if rng.random() < 0.5:
        cur.execute("RELEASE SAVEPOINT b")
    cur.execute("INSERT INTO items (v) VALUES ('behind')")


def _keyless(cur, rng, ids):
    a = rng.randint(0, 25)
    what = rng.random()
    if what < 0.5:
        cur.execute("INSERT INTO keyless VALUES (%s, %s, %s)",
                    (a, rng.choice(["x", None, "", "y" * 2000]), rng.choice([1, None, "1.00"])))
    elif what < 0.75:
        cur.execute("UPDATE keyless SET c = c + 1, b = left(concat(b, 'z'), 2500) WHERE a = %s LIMIT 2", (a,))
    else:
        cur.execute("DELETE FROM keyless WHERE a = %s LIMIT 2", (a,))


def _docs(cur, rng, ids):
    i = rng.randint(1, DOCS)
    what = rng.random()
    if what < 0.6:
        cur.execute("UPDATE docs SET n = n + 1 WHERE id = %s", (i,))
    elif what < 0.85:
        cur.execute("UPDATE docs SET doc = repeat(sha2(%s, 256), 1000), raw = repeat(unhex(sha2(%s, 256)), 500) WHERE id = %s",
                    (rng.random(), rng.random(), i))
    else:
        cur.execute("UPDATE docs SET id = id + 1000 WHERE id = %s", (i,))
        cur.execute("UPDATE docs SET id = id - 1000 WHERE id = %s", (i + 1000,))


def _large(cur, rng, ids):
    """Larger than a feeder holds in memory, once in a while; a part of it may be taken back."""
    if rng.random() < 0.99:
        cur.execute("UPDATE docs SET n = n + 1 WHERE id <= 3")
        return
    cur.execute("UPDATE docs SET doc = repeat(sha2(%s, 256), 3000), n = n + 1", (rng.random(),))
    cur.execute("SAVEPOINT l")
    cur.execute("UPDATE ballast SET v = v + 1 WHERE id %% 5 = %s", (rng.randint(0, 4),))
    if rng.random() < 0.5:
        cur.execute("ROLLBACK TO SAVEPOINT l")
    cur.execute("UPDATE docs SET n = n + 1 WHERE id <= 3")


def _rekey(cur, rng, ids):
    a, b = rng.sample(range(1, ACCOUNTS + 1), 2)
    cur.execute("SELECT n FROM acct WHERE id IN (%s, %s) ORDER BY id FOR UPDATE", (a, b))
    (m,), (n,) = cur.fetchall()
    for old, new in ((m, 4 * 10 ** 9), (n, m), (4 * 10 ** 9, n)):   # a unique value is exchanged
        cur.execute("UPDATE acct SET n = %s WHERE n = %s", (new, old))
    cur.execute("UPDATE rekeyed SET id = %s, v = v + 1 ORDER BY id LIMIT 1", (10000 + next(ids),))
    if rng.random() < 0.3:      # rows change places
        cur.execute("SELECT id FROM rekeyed ORDER BY id LIMIT 2")
        (a,), (b,) = cur.fetchall()
        for one, two in ((a, -1), (b, a), (-1, b)):
            cur.execute("UPDATE rekeyed SET id = %s WHERE id = %s", (two, one))


def _words(cur, rng, ids):
    """Several rows a statement, and statements that insert or update."""
    i = next(ids)
    cur.execute("INSERT INTO words VALUES (%s, '2024-01-01', 'a'), (%s, '2024-01-02', NULL)", ("n%d" % i, "n%d" % i))
    cur.execute("INSERT INTO words VALUES (%s, '2024-02-29', 'x') ON DUPLICATE KEY UPDATE v = concat(left(v, 40), '+')",
                ("wörd %d" % rng.randint(0, 520),))
    cur.execute("REPLACE INTO words VALUES (%s, '2024-02-29', 'r')", ("wörd %d" % rng.randint(0, 520),))
    if rng.random() < 0.4:
        cur.execute("DELETE FROM words WHERE w LIKE %s", ("n%d%%" % rng.randint(1, 9),))


def _ballast(cur, rng, ids):
    """Rows all over a table that takes long to copy, their keys too."""
    for _ in range(rng.randint(1, 5)):
        i = rng.randint(1, BALLAST)
        what = rng.random()
        if what < 0.6:
            cur.execute("UPDATE ballast SET v = v + 1 WHERE id BETWEEN %s AND %s", (i, i + 3))
        elif what < 0.8:
            cur.execute("UPDATE ballast SET id = %s WHERE id = %s", (10 ** 6 + next(ids), i))
        else:
            cur.execute("DELETE FROM ballast WHERE id = %s", (i,))


def _family(cur, rng, ids):
    i = next(ids)
    # writers of another seed may have been here
    cur.execute("INSERT INTO base VALUES (%s, 1) ON DUPLICATE KEY UPDATE v = v + 1", (1000 + i % 10 ** 6,))
    cur.execute("INSERT INTO leaf VALUES (%s, %s), (%s, NULL)", (1000 + 2 * i, 1000 + i % 10 ** 6, 1001 + 2 * i))
    cur.execute("UPDATE leaf SET base = %s WHERE id = %s", (rng.randint(1, 50), rng.randint(1, 200)))
    cur.execute("DELETE FROM leaf WHERE id > 1000 ORDER BY id LIMIT 1")


KINDS = [_transfer, _insert_delete, _savepoints, _keyless, _docs, _large, _rekey, _words, _ballast, _family]


def write_large(db):
    """One transaction that is larger than a feeder holds in memory."""
    db.execute("UPDATE docs SET doc = repeat(sha2(rand(), 256), 3000), n = n + 1")


def _rolled_back(conn):
    """False where the server went away meanwhile."""
    try:
        conn.rollback()
        return True
    except (pymysql.err.MySQLError, OSError):
        return False


class MyKindWriters(Writers):
    """Writers (writers.py) on a MyDb, one thread per kind above.

    Each transaction is counted in ledger and has a row in entries.
    """

    def __init__(self, src, seed, pace=0.06):
        super().__init__(src, seed, KINDS, pace)

    def _one(self, kind, conn, rng, ids):
        w = KINDS.index(kind)
        try:
            if conn is None or not conn.open:
                conn = self._src.connect(autocommit=False)
            with conn.cursor() as cur:
                kind(cur, rng, ids)
                cur.execute("UPDATE ledger SET n = n + 1 WHERE w = %s", (w,))
                cur.execute("INSERT INTO entries SELECT w, n FROM ledger WHERE w = %s", (w,))
            if rng.random() < 0.1:
                conn.rollback()
            else:
                conn.commit()
            self.done[kind.__name__] += 1
            return conn
        except pymysql.err.MySQLError as e:
            if e.args and e.args[0] in TROUBLE and _rolled_back(conn):
                return conn
            if e.args and e.args[0] not in LOST + TROUBLE + (0,):
                raise
        except OSError:
            pass
        if conn is not None:
            conn._force_close()
        self._stop.wait(0.2)
        return None             # the source restarts: come back

    def more(self, n):
        """What to wait for: n more transactions."""
        want = sum(self.done.values()) + n
        return lambda: self.errors or sum(self.done.values()) >= want


def between_transactions(dst):
    """What a target Db shows of a transaction that is there in part, as texts; by the accounts above."""
    faults = ["writer %s counts %s, and has %s entries" % row for row in dst.query(
        "SELECT l.w, l.n, (SELECT count(*) FROM entries e WHERE e.w = l.w) FROM ledger l"
        " WHERE l.n <> (SELECT count(*) FROM entries e WHERE e.w = l.w)")]
    total = dst.value("SELECT sum(bal) FROM acct")
    if total != ACCOUNTS * BALANCE:
        faults.append("the balances sum up to %s" % total)
    return faults


def counted(db):
    """{writer: transactions} as that side has it."""
    return dict(db.query("SELECT w, n FROM ledger"))
