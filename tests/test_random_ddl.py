"""Random schema changes and rows, with stops and kills between them.

The rule: a sequence of changes that cross, with rows between them, must end
with both sides equal.  A sequence that ends with one that must not cross ends
refused, by a marker that is expected of it, and with nothing wrong written.  What
was done while the stream was stopped may be refused too, never guessed.
"""
import random

import psycopg2
import pytest

from lib import assert_same_rows, make_stream, same_rows
from lib.ddl_model import Author
from lib.pairs import database_pair, server_pair
from lib.rounds import FAST

COLUMNS = """
SELECT a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod), a.attnotnull
FROM pg_catalog.pg_attribute a WHERE a.attrelid = %s::pg_catalog.regclass
AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attname"""

STEPS = 14


servers = server_pair("randomddl", conf=FAST)
dbs = database_pair("randomddl")


class Run:
    """One sequence: what the author writes, done to the source."""

    def __init__(self, dbs, seed):
        self.src, self.dst = dbs
        self.seed = seed
        self.rng = random.Random("run %s" % seed)
        self.author = Author(seed)
        self.log = []
        self.kills = 0
        for table in self.author.tables:
            self.do([table.create()])
            for _ in range(5):
                self.do(self.author.rows(table))
        self.stream = make_stream(self.src, self.dst, schema_changes="forward")
        self.running = True

    def do(self, statements):
        """One transaction on the source."""
        self.log.append("; ".join(statements))
        self.src.execute("BEGIN; %s; COMMIT" % "; ".join(statements))

    def note(self, what):
        self.log.append("-- " + what)

    def story(self):
        return "seed %s:\n%s" % (self.seed, ";\n".join(self.log))

    def refused(self):
        row = self.stream.health()
        return row if row["state"] in ("refused", "failed") else None

    def stop(self):
        if self.running and not self.refused():
            self.note("stop")
            self.stream.stop()
            self.running = False

    def start(self):
        if not self.running:
            self.note("start")
            self.stream.start()
            self.running = True

    def catch_up(self):
        self.start()
        self.note("caught up")
        self.stream.caught_up()

    def disturb(self):
        """Something that happens to streams."""
        what = self.rng.random()
        if what < 0.25:
            self.stop()
        elif what < 0.5:
            self.start()
        elif what < 0.6 and self.running and self.kills < 2 and not self.refused():
            self.note("kill -9")
            self.kills += 1
            self.stream.crash_worker()
        elif what < 0.8:
            self.catch_up()

    def step(self):
        """Rows, or a schema change and rows after it."""
        table = self.rng.choice(self.author.tables)
        if self.rng.random() < 0.5:
            self.do(self.author.rows(table))
        else:
            # what is behind the stream must be provable from the catalog
            if not self.running:
                self.catch_up()
            change = self.author.crossing(table)
            if self.rng.random() < 0.3:
                # the change within a transaction that writes before it and after it
                self.do(self.before(change) + change.statements + self.author.rows(table))
            else:
                self.do(change.statements)
                if self.rng.random() < 0.3:
                    self.disturb()
                self.do(self.author.rows(table))
            self.catch_up()
        self.disturb()

    def before(self, change):
        """A row of the other table: the transaction has changed something by then."""
        other = [t for t in self.author.tables if t is not change.table]
        return self.author.rows(other[0])

    def equal(self):
        self.catch_up()
        assert_same_rows(self.src, self.dst, [t.name for t in self.author.tables])
        for t in self.author.tables:
            assert self.src.query(COLUMNS, t.name) == self.dst.query(COLUMNS, t.name)

    def unequal_lines(self):
        return same_rows(self.src, self.dst, [t.name for t in self.author.tables])


def crossing_sequence(dbs, seed):
    run = Run(dbs, seed)
    try:
        for _ in range(STEPS):
            run.step()
        run.equal()
        for conflict in run.stream.conflicts():
            assert False, conflict
    except BaseException as e:
        raise AssertionError("%s\n%s" % (run.story(), e)) from e


def refused_sequence(dbs, seed):
    """Some changes that cross, then one that must not."""
    run = Run(dbs, seed)
    try:
        for _ in range(run.rng.randrange(STEPS // 2)):
            run.step()
        run.equal()
        table = run.rng.choice(run.author.tables)
        before = run.dst.query("SELECT * FROM %s ORDER BY 1, 2" % table.name)
        stopped = run.rng.random() < 0.4
        if stopped:
            run.stop()
        change = run.author.refused(table)
        run.note(change.what)
        run.do(change.statements)
        run.do([run.author.insert_next(table)])
        run.start()
        row = run.stream.wait_state("refused", "failed")
        # at the first boundary since a start the same goes by the name of the restart
        allowed = change.markers + (("RESUME-SCHEMA-DIVERGENCE",)
                                    if "SCHEMA-CHANGE-REFUSED" in change.markers else ())
        assert row["state"] == "refused" and row["marker"] in allowed, row
        # nothing after the change was written, and nothing before it changed
        assert run.dst.query("SELECT * FROM %s ORDER BY 1, 2" % table.name) == before
        assert row["fingerprint"] and row["hint"], row
        # and it stays so
        error = run.dst.error("CALL sluice.sync_wait(%s, 'streaming')", run.stream.id)
        assert row["marker"] in str(error)
        try:
            run.stream.start()
        except psycopg2.DatabaseError as e:     # what must be acknowledged refuses at once
            assert row["marker"] in str(e)
        again = run.stream.wait_state("refused", "failed")
        assert again["marker"] in allowed, again
        assert run.dst.query("SELECT * FROM %s ORDER BY 1, 2" % table.name) == before
    except BaseException as e:
        raise AssertionError("%s\n%s" % (run.story(), e)) from e


def contents(db, table):
    """{key: {column: text}} of a table."""
    keys = ", ".join("t.%s::text" % c for c, _ in table.key)
    rows = db.query("SELECT ARRAY[%s], to_jsonb(t) FROM %s t" % (keys, table.name))
    return {tuple(k): v for k, v in rows}


def explained(row, then, now):
    """Are the row's values those of a moment, or (owed ones) those of now?"""
    return all(value == then.get(c, value) or (now is not None and value == now.get(c))
               for c, value in row.items())


def lagging_sequence(dbs, seed):
    """Changes that cross, made while the stream is stopped.

    The catalog is ahead then: what it no longer proves may be refused, but
    must not be guessed: the target is at a moment of the source.
    """
    run = Run(dbs, seed)
    refusals = {"SCHEMA-CHANGE-REFUSED", "RESUME-SCHEMA-DIVERGENCE", "COLUMN-IDENTITY-CHANGED",
                "UNFORWARDED-SCHEMA-CHANGE", "ADD-COLUMN-BACKFILL-INCOMPLETE"}
    try:
        for _ in range(run.rng.randrange(3)):
            run.step()
        run.equal()
        run.stop()
        table = run.rng.choice(run.author.tables)
        moments = [contents(run.src, table)]
        for _ in range(run.rng.randrange(2, 6)):
            statements = run.author.rows(table)
            if run.rng.random() < 0.7:
                run.do(run.author.crossing(table).statements)
                moments.append(contents(run.src, table))
                statements = run.author.rows(table)
            run.do(statements)
            moments.append(contents(run.src, table))
        run.note("start")
        run.stream.start()
        run.running = True
        try:
            run.stream.caught_up()
        except psycopg2.DatabaseError as e:
            row = run.stream.wait_state("refused", "failed")
            assert row["state"] == "refused" and row["marker"] in refusals, row
            print("refused: %s" % row["marker"])
            here, now = contents(run.dst, table), moments[-1]
            assert any(set(here) == set(then) and
                       all(explained(here[k], then[k], now.get(k)) for k in here)
                       for then in moments), "no moment of the source: %s\n%s" % (e, here)
            return
        run.equal()
    except BaseException as e:
        raise AssertionError("%s\n%s" % (run.story(), e)) from e


@pytest.mark.parametrize("seed", range(10))
def test_lagging(dbs, seed):
    lagging_sequence(dbs, seed)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 200))
def test_lagging_long(dbs, seed):
    lagging_sequence(dbs, seed)


@pytest.mark.parametrize("seed", range(10))
def test_crossing(dbs, seed):
    crossing_sequence(dbs, seed)


@pytest.mark.parametrize("seed", range(10))
def test_refused(dbs, seed):
    refused_sequence(dbs, seed)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 200))
def test_crossing_long(dbs, seed):
    crossing_sequence(dbs, seed)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 200))
def test_refused_long(dbs, seed):
    refused_sequence(dbs, seed)
