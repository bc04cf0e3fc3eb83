"""Random schema changes and rows of a MariaDB and a MySQL source, with stops and kills of stream and bridge.

The rule of test_random_ddl.py: a sequence of changes that cross ends with both sides equal, however far the
bridge is behind, because the log has each statement in its place.  One that ends with a change that must not cross
ends refused, by a marker that is expected of it, and with nothing wrong written.
"""
import random

import psycopg2
import pytest

from lib.mycases import Ground
from lib.myddl_model import MyAuthor, contents

KINDS = ["mariadb11.8", "mysql"]
STEPS = 12
# what a lag may cost: values that the source does not have any more
GONE = {"ADD-COLUMN-BACKFILL-INCOMPLETE"}


@pytest.fixture(scope="module")
def whole():
    one = Ground("randomddl")
    yield one
    one.destroy()


@pytest.fixture
def ground(whole):
    yield whole
    if not whole.bridge.is_running():
        whole.bridge.start()
    whole.end_streams()


class Run:
    """One sequence: what the author writes, done to the source."""

    def __init__(self, ground, kind, seed):
        self.ground, self.seed = ground, seed
        self.rng = random.Random("run %s" % seed)
        self.author = MyAuthor(seed, kind.startswith("mariadb"))
        self.log = []
        self.kills = 0
        stream = ground.prepare(kind, "random", options={"copy_workers": 1})
        self.stream, self.src = stream, stream.src
        for table in self.author.tables:
            self.do([table.create()])
            for _ in range(4):
                self.do(self.author.rows(table))
        stream.start(**stream.args)
        stream.wait("streaming")
        self.running = True

    def do(self, statements, transaction=True):
        self.log.append(";\n".join(statements))
        text = "; ".join(statements)
        self.src.execute("BEGIN; %s; COMMIT" % text if transaction else text)

    def note(self, what):
        self.log.append("-- " + what)

    def story(self):
        return "seed %s:\n%s;\n" % (self.seed, ";\n".join(self.log))

    def refused(self):
        row = self.stream.health()
        return row if row["state"] in ("refused", "failed") else None

    def stop(self):
        if self.running and not self.refused():
            self.note("stop")
            self.stream.stop()
            self.running = False

    def start(self):
        if not self.ground.bridge.is_running():
            self.note("bridge")
            self.ground.bridge.start()
        if not self.running:
            self.note("start")
            self.stream.start(source=False)
            self.running = True

    def catch_up(self):
        self.start()
        self.note("caught up")
        self.stream.caught_up()

    def disturb(self):
        """Something that happens to streams."""
        what = self.rng.random()
        bridge = self.ground.bridge
        if what < 0.2:
            self.stop()
        elif what < 0.35:
            self.start()
        elif what < 0.65 and bridge.is_running() and self.kills < 3:
            self.note("kill -9")
            self.kills += 1
            bridge.kill_tree()
            if self.rng.random() < 0.7:
                bridge.start()
        elif what < 0.8:
            self.catch_up()

    def step(self):
        table = self.rng.choice(self.author.tables)
        if self.rng.random() < 0.6:
            change = self.author.crossing(table)
            self.note(change.what)
            self.do(change.statements, False)
            if self.rng.random() < 0.3:
                self.disturb()
        if self.rng.random() < 0.9:
            self.do(self.author.rows(table))
        self.disturb()

    def there(self, table):
        return contents(self.src, table)

    def here(self, table):
        return contents(self.stream.dst, table, self.stream.schema)

    def held(self):
        """All rows on the target, as texts."""
        return {t.name: self.stream.dst.query('SELECT t::text FROM %s."%s" t ORDER BY 1' % (self.stream.schema, t.name))
                for t in self.author.tables}

    def equal(self):
        """Caught up, and the same; False where values were asked for that the source has no more."""
        try:
            self.catch_up()
        except psycopg2.DatabaseError as e:
            row = self.stream.health()
            assert row["state"] == "refused" and row["marker"] in GONE and self.lagged, (row, e)
            return False
        for table in self.author.tables:
            assert self.here(table) == self.there(table), table.name
        assert not self.stream.conflicts()
        return True

    lagged = False


def crossing_sequence(ground, kind, seed):
    run = Run(ground, kind, seed)
    try:
        for _ in range(STEPS):
            if not run.running or not ground.bridge.is_running():
                run.lagged = True
            run.step()
        run.equal()
    except BaseException as e:
        raise AssertionError("%s\n%s" % (run.story(), e)) from e


def refused_sequence(ground, kind, seed):
    """Some changes that cross, then one that must not."""
    run = Run(ground, kind, seed)
    try:
        for _ in range(run.rng.randrange(4)):
            run.step()
            assert run.equal()
        table = run.rng.choice(run.author.tables)
        before = run.held()
        if run.rng.random() < 0.4:
            run.stop()
        change = run.author.refused(table)
        run.note(change.what)
        run.do(change.statements, False)
        run.do([run.author.insert_next(table)])
        run.start()
        row = run.stream.wait_state("refused", "failed")
        allowed = change.markers + (("RESUME-SCHEMA-DIVERGENCE",)
                                    if "SCHEMA-CHANGE-REFUSED" in change.markers else ())
        assert row["state"] == "refused" and row["marker"] in allowed, row
        assert row["fingerprint"] and row["hint"], row
        # nothing after the change was written, and nothing before it changed; and it stays so
        assert run.held() == before
        try:
            run.stream.start(source=False)
        except psycopg2.DatabaseError as e:     # what must be acknowledged refuses at once
            assert row["marker"] in str(e)
        again = run.stream.wait_state("refused", "failed")
        assert again["marker"] in allowed, again
        assert run.held() == before
    except BaseException as e:
        raise AssertionError("%s\n%s" % (run.story(), e)) from e


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("world", KINDS)
def test_crossing(ground, world, seed):
    crossing_sequence(ground, world, seed)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("world", KINDS)
def test_refused(ground, world, seed):
    refused_sequence(ground, world, seed)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 150))
@pytest.mark.parametrize("world", KINDS + ["mariadb10.11"])
def test_crossing_long(ground, world, seed):
    crossing_sequence(ground, world, seed)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 150))
@pytest.mark.parametrize("world", KINDS + ["mariadb10.11"])
def test_refused_long(ground, world, seed):
    refused_sequence(ground, world, seed)
