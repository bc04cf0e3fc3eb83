"""Values that are owed, paid under load while the worker and the server are killed.

Kills come at moments that a seed chooses, by how many rows are filled by then,
and not at the named points (test_backfill.py has those).  Meanwhile rows come,
go, change and change their keys, and the source's table is altered once more.
At the end both sides are equal by the outside oracle.
"""
import os
import random
import threading

import psycopg2
import pytest

from lib import assert_same_rows, make_stream, wait_until
from lib.pairs import database_pair, server_pair
from lib.rounds import FAST, check_confirmed, reachable

SEED = os.environ.get("SLUICE_SEED", "1")
ROWS = 30000

servers = server_pair("debtkills", conf=FAST)
dbs = database_pair("debtkills", source_sql="""
CREATE TABLE t (id int PRIMARY KEY, v text, n int NOT NULL, m numeric(10,2));
INSERT INTO t SELECT i, 'v' || i, i %% 1000, i / 100.0 FROM generate_series(1, %d) AS i;
""" % ROWS)


class KeyWriter:
    """Rows of t that come, go, change and change their keys, in the background."""

    def __init__(self, db, seed):
        self.db = db
        self.rng = random.Random("writer/%s" % seed)
        self.halt = threading.Event()
        self.fault = None
        self.thread = threading.Thread(target=self.run, daemon=True)

    def run(self):
        fresh = 10 ** 6
        try:
            conn = self.db.connect()
            while not self.halt.wait(0.01):
                fresh += 1
                with conn.cursor() as cur:
                    cur.execute(self.rng.choice([
                        "INSERT INTO t (id, v, n) VALUES (%(fresh)s, 'new', 7)",
                        "UPDATE t SET v = 'changed', n = n + 1 WHERE id = %(key)s",
                        "UPDATE t SET id = %(fresh)s WHERE id = %(key)s",
                        "DELETE FROM t WHERE id = %(key)s"]),
                        {"fresh": fresh, "key": self.rng.randint(1, ROWS)})
            conn.close()
        except Exception as e:          # shown by stop: a thread cannot fail a test
            self.fault = e

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *args):
        self.halt.set()
        self.thread.join(60)


class Changes:
    """Changes of t that owe values, and some that do not; each can cross."""

    def __init__(self, rng):
        self.rng = rng
        self.extra = []                 # columns that came, which may go again
        self.fresh = 0

    def owing(self):
        if self.rng.random() < 0.3:
            # values that no cast gives
            return self.rng.choice([
                "ALTER TABLE t ALTER m TYPE numeric(12,1) USING m * 3",
                "ALTER TABLE t ALTER m TYPE numeric(10,2) USING 10000 - m"])
        self.fresh += 1
        name = "c%d" % self.fresh
        self.extra.append(name)
        return "ALTER TABLE t ADD %s %s" % (name, self.rng.choice([
            "uuid DEFAULT gen_random_uuid()",
            "uuid NOT NULL DEFAULT gen_random_uuid()",
            "int DEFAULT floor(random() * 1000)::int",
            "text NOT NULL DEFAULT md5(random()::text), ADD %sb int DEFAULT 5" % name]))

    def one_more(self):
        """While the values of the last one are being paid."""
        name = self.extra[-1] if self.extra else None
        choices = ["ALTER TABLE t ADD p%d int" % self.fresh]
        if name:
            choices.append("ALTER TABLE t RENAME %s TO %sx" % (name, name))
        if len(self.extra) > 1:
            choices.append("ALTER TABLE t DROP %s" % self.extra[0])
        change = self.rng.choice(choices)
        self.fresh += 1
        if "RENAME" in change:
            self.extra[-1] += "x"
        elif "DROP" in change:
            del self.extra[0]
        return change


def rows_done(dst):
    """How many rows the open debt has read; None when there is no debt."""
    try:
        return dst.value("SELECT max(rows_done) FROM sluice.debt WHERE until_lsn IS NULL")
    except psycopg2.OperationalError:
        return None


class Killer:
    def __init__(self, stream, rng):
        self.stream = stream
        self.rng = rng
        self.kills = {"worker": 0, "server": 0, "owing": 0}

    def moment(self, marker):
        """Wait until so many rows are filled, or until the round is over."""
        dst = self.stream.dst
        rows = self.rng.randrange(ROWS)
        wait_until(lambda: (rows_done(dst) or 0) >= rows or
                   dst.value("SELECT EXISTS (SELECT FROM t WHERE id = %s)", marker) and
                   rows_done(dst) is None, 120, "the change did not come: %r" % rows, interval=0.002)

    def kill(self):
        server = self.stream.dst.server
        owing = rows_done(self.stream.dst) is not None
        if self.rng.random() < 0.6:
            self.stream.crash_worker()
            self.kills["worker"] += 1
        else:
            server.kill9()
            server.start()
            reachable(server)
            self.kills["server"] += 1
        self.kills["owing"] += owing


def settled(stream, timeout=180):
    dst = stream.dst
    stream.caught_up("%d s" % timeout)
    wait_until(lambda: dst.value("SELECT count(*) FROM sluice.debt") == 0, timeout,
               lambda: "%r %r" % (stream.health(), dst.query("SELECT * FROM sluice.debt")))
    stream.caught_up("%d s" % timeout)


def run(dbs, seed, rounds):
    src, dst = dbs
    rng = random.Random("debt kills/%s" % seed)
    stream = make_stream(src, dst, schema_changes="forward", timeout="120 s",
                         options={"volatile_defaults": "copy"})
    stream.caught_up("120 s")
    changes, killer = Changes(rng), Killer(stream, rng)
    story = []
    try:
        with KeyWriter(src, seed) as writer:
            for n in range(rounds):
                story.append(changes.owing())
                src.execute(story[-1])
                if rng.random() < 0.5:
                    src.execute("INSERT INTO t (id, v, n) VALUES (%s, 'between', 0)", -2 * n - 1)
                    story.append(changes.one_more())
                    src.execute(story[-1])
                src.execute("INSERT INTO t (id, v, n) VALUES (%s, 'marker', 0)", -2 * n - 2)
                for _ in range(rng.choice([1, 1, 2])):
                    killer.moment(-2 * n - 2)
                    killer.kill()
                settled(stream)
        assert writer.fault is None, writer.fault
        settled(stream)
        assert_same_rows(src, dst, ["t"])
        check_confirmed(stream)
        assert stream.conflicts() == []
        assert stream.refusals() == []
    except BaseException as e:
        raise AssertionError("seed %s, kills %r:\n%s\n%s" % (
            seed, killer.kills, ";\n".join(story), e)) from e
    assert killer.kills["worker"] + killer.kills["server"] >= rounds, killer.kills
    print("kills: %r" % killer.kills)
    return killer.kills


def test_kills_at_any_moment(dbs):
    run(dbs, SEED, 5)


@pytest.mark.long
@pytest.mark.parametrize("n", range(6))
def test_kills_at_any_moment_long(dbs, n):
    run(dbs, "%s/%d" % (SEED, n), 12)
