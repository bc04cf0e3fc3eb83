"""Writers of every kind, seeded, that can be stopped between transactions."""
import random
import threading

import psycopg2

SCHEMA = """
CREATE TABLE acct (id bigint PRIMARY KEY, grp int NOT NULL, bal numeric(12,2),
    note text, at timestamptz);
CREATE TABLE hist (id bigint PRIMARY KEY, acct bigint NOT NULL, delta numeric);
CREATE TABLE keyless (a int, b text, c numeric);
ALTER TABLE keyless REPLICA IDENTITY FULL;
CREATE TABLE toasted (id int PRIMARY KEY, n int, big text, raw bytea);
ALTER TABLE toasted ALTER big SET STORAGE EXTERNAL;
CREATE TABLE emptied (id bigint PRIMARY KEY, v text);
CREATE TABLE copied (id bigint PRIMARY KEY, v text);
CREATE TABLE rekeyed (id bigint PRIMARY KEY, v int);
CREATE TABLE parts (id bigint, region int, v text, PRIMARY KEY (id, region))
    PARTITION BY LIST (region);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES IN (1);
CREATE TABLE parts_2 PARTITION OF parts FOR VALUES IN (2);
"""

# Rows to begin with: a copy has something to copy.
FILL = """
INSERT INTO acct SELECT i, i % 7, i, 'acct ' || i, now()
    FROM generate_series(1, 2000) AS i;
INSERT INTO keyless SELECT i % 50, repeat('k', i % 40), i
    FROM generate_series(1, 100) AS i;
INSERT INTO toasted SELECT i, i, repeat(md5(i::text), 400), decode(repeat(md5(i::text), 90), 'hex')
    FROM generate_series(1, 40) AS i;
INSERT INTO rekeyed SELECT i, i FROM generate_series(1, 200) AS i;
INSERT INTO emptied SELECT i, 'e' FROM generate_series(1, 50) AS i;
INSERT INTO parts SELECT i, 1 + i % 2, 'p' FROM generate_series(1, 100) AS i;
"""

TABLES = ["acct", "hist", "keyless", "toasted", "emptied", "copied", "rekeyed",
          "parts"]


def _transfer(cur, rng, ids):
    """Several tables in one transaction."""
    for _ in range(rng.randint(1, 4)):
        a, d = rng.randint(1, 2000), rng.randint(-50, 50)
        cur.execute("UPDATE acct SET bal = bal + %s, at = clock_timestamp() WHERE id = %s", (d, a))
        cur.execute("INSERT INTO hist VALUES (%s, %s, %s)", (next(ids), a, d))


def _insert_delete(cur, rng, ids):
    i = next(ids)
    cur.execute("INSERT INTO hist SELECT %s + i, 0, NULL FROM generate_series(0, %s) AS i",
                (i * 1000, rng.randint(1, 60)))
    if rng.random() < 0.6:
        cur.execute("DELETE FROM hist WHERE id IN (SELECT id FROM hist WHERE acct = 0"
                    " ORDER BY id LIMIT %s)", (rng.randint(1, 60),))


def _savepoints(cur, rng, ids):
    cur.execute("INSERT INTO hist VALUES (%s, 1, 1)", (next(ids),))
    for _ in range(rng.randint(1, 3)):
        cur.execute("SAVEPOINT a")
        cur.execute("UPDATE acct SET note = 'lost' WHERE id = %s", (rng.randint(1, 2000),))
        cur.execute("INSERT INTO copied VALUES (%s, 'lost')", (next(ids),))
        cur.execute("ROLLBACK TO SAVEPOINT a")
        cur.execute("SAVEPOINT b")
        cur.execute("UPDATE acct SET note = %s WHERE id = %s",
                    (rng.choice(["kept", None, ""]), rng.randint(1, 2000)))
        cur.execute("RELEASE SAVEPOINT b")


def _keyless(cur, rng, ids):
    what = rng.random()
    if what < 0.5:
        cur.execute("INSERT INTO keyless VALUES (%s, %s, %s)",
                    (rng.randint(0, 50), rng.choice(["x", None, "", "y" * 3000]),
                     rng.choice([1, None, "1.00"])))
    elif what < 0.8:
        cur.execute("UPDATE keyless SET c = c + 1, b = b || 'z' WHERE ctid ="
                    " (SELECT ctid FROM keyless WHERE a = %s LIMIT 1)", (rng.randint(0, 50),))
    else:
        cur.execute("DELETE FROM keyless WHERE ctid ="
                    " (SELECT ctid FROM keyless WHERE a = %s LIMIT 1)", (rng.randint(0, 50),))


def _toast(cur, rng, ids):
    i = rng.randint(1, 40)
    what = rng.random()
    if what < 0.7:          # the large values stay as they are
        cur.execute("UPDATE toasted SET n = n + 1 WHERE id = %s", (i,))
    elif what < 0.9:
        cur.execute("UPDATE toasted SET big = repeat(md5(%s::text), 300) WHERE id = %s",
                    (rng.random(), i))
    else:
        cur.execute("UPDATE toasted SET id = id + 100 WHERE id = %s", (i,))
        cur.execute("UPDATE toasted SET id = id - 100 WHERE id = %s", (i + 100,))


def _truncate(cur, rng, ids):
    if rng.random() < 0.3:
        cur.execute("TRUNCATE emptied")
    for _ in range(rng.randint(1, 5)):
        cur.execute("INSERT INTO emptied VALUES (%s, 'after')", (next(ids),))
    if rng.random() < 0.1:
        cur.execute("TRUNCATE emptied, copied")


def _copy(cur, rng, ids):
    import io
    i = next(ids) * 1000
    n = rng.randint(1, 300)
    cur.copy_expert("COPY copied FROM STDIN", io.StringIO(
        "".join("%d\tcopied %d\n" % (i + k, k) for k in range(n))))


def _rekey(cur, rng, ids):
    cur.execute("UPDATE rekeyed SET id = %s, v = v + 1 WHERE id ="
                " (SELECT id FROM rekeyed ORDER BY id LIMIT 1)", (10000 + next(ids),))
    if rng.random() < 0.3:      # two rows change places
        cur.execute("SELECT id FROM rekeyed ORDER BY id LIMIT 2")
        (a,), (b,) = cur.fetchall()
        for one, two in ((a, -1), (b, a), (-1, b)):
            cur.execute("UPDATE rekeyed SET id = %s WHERE id = %s", (two, one))


def _partitions(cur, rng, ids):
    i = next(ids)
    cur.execute("INSERT INTO parts VALUES (%s, %s, 'new')", (1000 + i, rng.randint(1, 2)))
    if rng.random() < 0.5:      # a row moves to the other partition
        cur.execute("UPDATE parts SET region = 3 - region, v = 'moved' WHERE id ="
                    " (SELECT min(id) FROM parts)")
    if rng.random() < 0.3:
        cur.execute("DELETE FROM parts WHERE id = (SELECT max(id) FROM parts)")


KINDS = [_transfer, _insert_delete, _savepoints, _keyless, _toast, _truncate,
         _copy, _rekey, _partitions]


# ---------- what a hand-over meets besides ----------

MORE_SCHEMA = """
CREATE TABLE ballast (id bigint PRIMARY KEY, v int NOT NULL, pad text);
CREATE TABLE single (id bigint PRIMARY KEY, v text);
CREATE TABLE twophase (id bigint PRIMARY KEY, v text);
CREATE TABLE numbered (id bigserial PRIMARY KEY, n int GENERATED BY DEFAULT AS IDENTITY, v text);
CREATE TABLE doubles (a int, b text);
ALTER TABLE doubles REPLICA IDENTITY FULL;
"""

MORE_FILL = """
INSERT INTO ballast SELECT i, i, repeat(md5(i::text), 4) FROM generate_series(1, 60000) AS i;
INSERT INTO single SELECT i, 's' FROM generate_series(1, 500) AS i;
INSERT INTO twophase SELECT i, 'p' FROM generate_series(1, 100) AS i;
INSERT INTO numbered (v) SELECT 'n' FROM generate_series(1, 100);
INSERT INTO doubles SELECT i % 3, 'same' FROM generate_series(1, 3000) AS i;
"""

MORE_TABLES = ["ballast", "single", "twophase", "numbered", "doubles"]


def _ballast(cur, rng, ids):
    """Rows all over a table that takes long to copy, their keys too."""
    for _ in range(rng.randint(1, 5)):
        i = rng.randint(1, 60000)
        what = rng.random()
        if what < 0.6:
            cur.execute("UPDATE ballast SET v = v + 1 WHERE id = %s", (i,))
        elif what < 0.8:
            cur.execute("UPDATE ballast SET id = %s WHERE id = %s", (10 ** 6 + next(ids), i))
        else:
            cur.execute("DELETE FROM ballast WHERE id = %s", (i,))


def _single(cur, rng, ids):
    """Every statement is a transaction."""
    for _ in range(rng.randint(1, 6)):
        cur.execute(rng.choice([
            "INSERT INTO single SELECT max(id) + 1, 'new' FROM single",
            "UPDATE single SET v = v || '.' WHERE id = (SELECT min(id) FROM single)",
            "DELETE FROM single WHERE id = (SELECT min(id) FROM single)"]))
        cur.connection.commit()


def _long(cur, rng, ids):
    """Open for a while, with work before and after."""
    i = next(ids)
    cur.execute("INSERT INTO hist VALUES (%s, 2, 2)", (i,))
    cur.execute("UPDATE single SET v = 'long' WHERE id = 400")
    cur.execute("SAVEPOINT a")
    cur.execute("DELETE FROM doubles WHERE ctid IN (SELECT ctid FROM doubles LIMIT 20)")
    cur.execute("SELECT pg_sleep(%s)", (rng.random() * 0.8,))
    if rng.random() < 0.5:
        cur.execute("ROLLBACK TO SAVEPOINT a")
    cur.execute("UPDATE hist SET delta = 3 WHERE id = %s", (i,))
    cur.execute("INSERT INTO hist SELECT %s + g, 2, g FROM generate_series(1, 50) AS g",
                (i * 1000,))


def _twophase(cur, rng, ids):
    """PREPARE TRANSACTION, then either end of it, a moment later."""
    gid = "w%d" % next(ids)
    cur.execute("INSERT INTO twophase VALUES (%s, %s)", (1000 + next(ids), gid))
    cur.execute("UPDATE twophase SET v = %s WHERE id = %s", (gid, rng.randint(1, 100)))
    cur.execute("INSERT INTO doubles VALUES (7, 'prepared')")
    cur.execute("PREPARE TRANSACTION '%s'" % gid)
    cur.connection.rollback()
    cur.execute("SELECT pg_sleep(%s)", (rng.random() * 0.1,))
    cur.connection.rollback()
    cur.connection.autocommit = True
    cur.execute("%s PREPARED '%s'" % (rng.choice(["COMMIT", "COMMIT", "ROLLBACK"]), gid))
    cur.connection.autocommit = False
    cur.execute("SELECT pg_sleep(%s)", (rng.random() * 0.3,))


def _numbered(cur, rng, ids):
    cur.execute("INSERT INTO numbered (v) SELECT 'x' FROM generate_series(1, %s)",
                (rng.randint(1, 5),))


def _doubles(cur, rng, ids):
    """Equal rows come and go: their number is all that tells."""
    if rng.random() < 0.5:
        cur.execute("INSERT INTO doubles SELECT %s, 'same' FROM generate_series(1, %s)",
                    (rng.randint(0, 2), rng.randint(1, 9)))
    else:
        cur.execute("DELETE FROM doubles WHERE ctid IN (SELECT ctid FROM doubles"
                    " WHERE a = %s LIMIT %s)", (rng.randint(0, 2), rng.randint(1, 9)))


MORE_KINDS = [_ballast, _single, _long, _twophase, _numbered, _doubles]


class Writers:
    """One thread per kind in KINDS on Db src, from a seed.

        with Writers(src, seed) as w:   writing
            w.pause()                   every thread stands between transactions
            w.resume()

    A writer's own serialization trouble (deadlock among the writers) is a
    rolled-back transaction and part of the load; anything else fails at exit.
    """

    def __init__(self, src, seed, kinds=None, pace=0.01):
        self._src = src
        self._seed = seed
        self._kinds = kinds or KINDS
        self._pace = pace
        self._stop = threading.Event()
        self._threads = []
        self._turns = [threading.Lock() for _ in self._kinds]
        self._paused = False
        self.done = {k.__name__: 0 for k in self._kinds}
        self.errors = []

    def __enter__(self):
        for n, kind in enumerate(self._kinds):
            t = threading.Thread(target=self._run, args=(n, kind), daemon=True)
            self._threads.append(t)
            t.start()
        return self

    def _run(self, n, kind):
        rng = random.Random("%s/%d" % (self._seed, n))
        ids = iter(range(1 + n * 10 ** 6 + hash_of(self._seed) % 9000 * 10 ** 8,
                         10 ** 15))
        conn = None
        try:
            while not self._stop.is_set():
                with self._turns[n]:
                    conn = self._one(kind, conn, rng, ids)
                self._stop.wait(self._pace * rng.random() * 2)
        except Exception as e:      # shown by __exit__: a thread cannot fail a test
            self.errors.append("%s: %r" % (kind.__name__, e))
        finally:
            if conn is not None:
                conn.close()

    def _one(self, kind, conn, rng, ids):
        """One transaction; returns the connection for the next, or None."""
        try:
            if conn is None or conn.closed:
                conn = self._src.connect(autocommit=False)
            with conn.cursor() as cur:
                kind(cur, rng, ids)
            if rng.random() < 0.1:
                conn.rollback()
            else:
                conn.commit()
            self.done[kind.__name__] += 1
        except (psycopg2.errors.DeadlockDetected,
                psycopg2.errors.SerializationFailure):
            conn.rollback()
        except (psycopg2.DatabaseError, psycopg2.InterfaceError) as e:
            lost = conn is None or conn.closed or isinstance(
                e, (psycopg2.OperationalError, psycopg2.InterfaceError)
            ) or "server closed the connection" in str(e)
            if conn is not None:
                conn.close()
            if not lost:
                raise
            return None             # the source restarts: come back
        return conn

    def pause(self):
        for turn in self._turns:
            assert turn.acquire(timeout=60), "a writer hangs: %r" % self.errors
        self._paused = True

    def resume(self):
        self._paused = False
        for turn in self._turns:
            turn.release()

    def __exit__(self, exc_type, exc, tb):
        self._stop.set()
        if self._paused:
            self.resume()
        for t in self._threads:
            t.join(60)
        if exc_type is None:
            assert not self.errors, self.errors
            assert all(self.done.values()), "a writer wrote nothing: %r" % self.done


def hash_of(seed):
    """The same number in every process, unlike hash()."""
    return random.Random(str(seed)).randrange(10 ** 6)
