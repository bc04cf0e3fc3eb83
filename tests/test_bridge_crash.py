"""Kills in a stream whose source is MariaDB or MySQL, with writers of every kind: of the
bridge, its copying and building processes, the target, the source, and the
connection; each in short, and at every named point and at random in the long tests.

After each the target must stand between two transactions of the source, with
nothing promised that it does not hold; at rest both sides hold the same rows.

    SLUICE_SEED          seed of writers and kills (default 1)
    SLUICE_CRASH_ROUNDS  kills of each of the long tests (default 60)
"""
import contextlib
import os
import random
import signal

import psycopg2
import pytest

from lib import Bridge, MySqlServer, PgServer, make_bridged_stream, wait_until
from lib.mycold import assert_same_tables
from lib.mywriters import BALLAST, TABLES, MyKindWriters, between_transactions, counted, load, write_large
from lib.myxa import finish, prepare, prepared
from lib.proxy import Proxy
from lib.rounds import FAST, arm, bridge_fault_points, died_at, fault_points, reachable

SEED = os.environ.get("SLUICE_SEED", "1")
ROUNDS = int(os.environ.get("SLUICE_CRASH_ROUNDS", "60"))

# In the order in which a cold start passes them; the same of the target.
COPY_POINTS = ["cold_planned", "cold_ranges", "cold_opened", "cold_sent", "cold_copied",
               "cold_establish", "cold_established", "cold_built", "cold_end", "finish_begun",
               "finish_built"]
TARGET_COPY_POINTS = ["feed_planned", "feed_copy_rows", "feed_copied", "feed_built", "feed_settled"]
# Those that a stream passes again and again.
STREAM_POINTS = ["feed_sent", "feed_answered", "feed_part", "feed_block"]
TARGET_STREAM_POINTS = ["mid_batch", "feed_applied", "feed_committed"]

KILLS = {}


@pytest.fixture(scope="module")
def servers(request):
    """(source, target): of a module's own, since they are killed."""
    source = MySqlServer(getattr(request, "param", "mariadb11.8"), "bcrash").start()
    source.create_user("crash", "pw", grants=["SELECT, REPLICATION SLAVE, REPLICATION CLIENT, LOCK TABLES,"
                                              " REFERENCES, TRIGGER, EVENT, SHOW VIEW, EXECUTE ON *.*"])
    target = PgServer("bcrash-target", conf=FAST).start()
    yield source, target
    target.destroy()
    source.destroy()


class Fed:
    """One stream from src to dst, the link it goes over, and the bridge that feeds it."""

    def __init__(self, servers, ballast=BALLAST):
        self.source, self.target = servers
        self.src = self.source.fresh_db("bcrash")
        self.dst = self.target.fresh_db("bcrash", extension=True)
        self.link = Proxy(self.source.port)
        self.bridge = Bridge(self.dst)
        self.stream = None
        load(self.src, ballast)

    def make(self, stream_id="s1", **options):
        self.stream = make_bridged_stream(self.src, self.dst, stream_id,
                                          options=dict(options, accept_keyless=["keyless"]),
                                          user="crash", password="pw", server_options={"port": self.link.port})
        return self.stream

    def destroy(self):
        self.bridge.destroy()
        self.link.close()
        if not self.target.is_running():
            self.target.start()
        self.target.reload(**{"sluice.fault_point": "", "restart_after_crash": "on"})
        self.dst.destroy()
        for name in prepared(self.src):
            finish(self.src, name, "ROLLBACK")
        self.src.destroy()

    def where(self):
        return "%r\n%s" % (self.stream.health() if self.target.is_running() else "target is down",
                           self.bridge.log_text()[-3000:])

    def together(self):
        """Has the stream passed all snapshots?"""
        return self.dst.value("SELECT p.lsn >= c.last_snapshot FROM sluice.stream_position p"
                              " JOIN sluice.copy_run c USING (stream_id) WHERE stream_id = %s", self.stream.id)

    def look(self):
        """What is stored while nothing feeds: whole transactions only."""
        assert self.dst.value("SELECT count(*) FROM sluice.refusal") == 0, self.where()
        if self.together():
            assert between_transactions(self.dst) == [], self.where()

    def back(self):
        """The target after its death."""
        if not self.target.is_running():
            self.target.start(**{"sluice.fault_point": "", "restart_after_crash": "on"})
        self.target.reload(**{"sluice.fault_point": "", "restart_after_crash": "on"})

    def streams(self, timeout=120):
        row = wait_until(lambda: (lambda h: h if h["state"] in ("streaming", "refused", "failed") else None)(
            self.stream.health()), timeout, self.where)
        assert row["state"] == "streaming", self.where()

    def caught_up(self, timeout="300 s"):
        try:
            self.stream.caught_up(timeout)
        except psycopg2.Error as e:
            raise AssertionError("%s\n%s" % (e, self.where())) from e

    def at_rest(self, writers):
        """Caught up, equal by the outside oracle, and nothing left to build."""
        self.streams()
        writers.pause()
        self.caught_up()
        assert_same_tables(self.src, self.dst, TABLES)
        wait_until(lambda: self.dst.value("SELECT phase FROM sluice.copy_run WHERE stream_id = %s",
                                          self.stream.id) == "done", 60, self.where)
        assert self.stream.conflicts() == []
        assert self.dst.value("SELECT count(*) FROM pg_constraint WHERE contype = 'f' AND convalidated"
                              " AND conrelid = 'leaf'::regclass") == 1
        assert self.dst.value("SELECT count(*) FROM pg_index WHERE indrelid = 'acct'::regclass"
                              " AND indisunique AND indisvalid") == 2
        writers.resume()


@pytest.fixture
def fed(servers):
    one = Fed(servers)
    yield one
    one.destroy()


def count(name):
    KILLS[name] = KILLS.get(name, 0) + 1


def die_in_bridge(fed, point, meanwhile=lambda: None):
    """The bridge, which does not run, is started and dies at point; with it the rest of it."""
    name = point.split(":")[0]
    said = 'fault point "%s" reached' % name
    before = fed.bridge.log_text().count(said)
    fed.bridge.arm(point)
    fed.bridge.start()
    meanwhile()
    wait_until(lambda: fed.bridge.log_text().count(said) > before or fed.stream.state == "refused", 90,
               lambda: "nothing dies at %s: %s" % (point, fed.where()))
    fed.bridge.kill_tree()
    assert fed.bridge.log_text().count(said) > before, fed.where()
    fed.bridge.arm()
    count(name)
    fed.look()


@contextlib.contextmanager
def foreign_key_held_up(fed):
    """There is something left to build behind the copy: rows pass, and the lock of a foreign key does not.

    What it yields lets it pass, once there is a session that builds.
    """
    conn = fed.dst.connect(autocommit=False)

    def let_pass():
        wait_until(lambda: fed.dst.value("SELECT count(*) FROM pg_stat_activity"
                                         " WHERE application_name = 'sluice-bridge build'"), 90, fed.where)
        conn.rollback()
    try:
        conn.cursor().execute("LOCK TABLE base IN ROW EXCLUSIVE MODE")
        yield let_pass
    finally:
        conn.close()


def die_in_target(fed, point):
    """The bridge is started if it does not run; the session of it that reaches point dies, and the target with it."""
    mark = arm(fed.target, point)
    if not fed.bridge.is_running():
        fed.bridge.start()
    count(died_at(fed.target, point, mark, 90))
    fed.back()
    fed.look()


# -- in short ------------------------------------------------------------------

def kill_bridge(fed, rng):
    """The process that feeds and its own, in the middle of what they do."""
    for pid in reversed(fed.bridge.tree()[1:]):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def kill_target(fed, rng):
    fed.target.kill9()
    fed.back()


def kill_source(fed, rng):
    fed.source.kill9()
    fed.source.start()


class TestWhatDiesWhileItFollows:
    """Each transaction of the source is here once, none in part."""

    @pytest.fixture(scope="class")
    def fed(self, servers):
        """One for all of them, with little to copy."""
        one = Fed(servers, ballast=200)
        one.src.execute("CREATE TABLE x (id int PRIMARY KEY, v mediumtext)")
        one.make()
        one.bridge.start()
        one.streams()
        yield one
        one.destroy()

    @pytest.mark.parametrize("kill", [kill_bridge, kill_target, kill_source])
    def test_kill(self, fed, kill):
        with MyKindWriters(fed.src, kill.__name__, pace=0.2) as writers:
            for _ in range(2):
                was = counted(fed.dst)
                wait_until(writers.more(12), 60, "the writers write nothing")
                wait_until(lambda: counted(fed.dst) != was, 60, fed.where)
                kill(fed, None)
                assert between_transactions(fed.dst) == []
            fed.at_rest(writers)

    def test_an_xa_transaction_outlives_all_of_them(self, fed):
        """Each is killed between its PREPARE and its end: it is here once, and what was rolled back is not."""
        prepare(fed.src, "kept", "INSERT INTO x VALUES (1, repeat('x', 100000))", "UPDATE base SET v = 7 WHERE id = 1")
        prepare(fed.src, "gone", "INSERT INTO x VALUES (2, 'gone')")
        fed.src.execute("INSERT INTO x VALUES (3, 'seen')")
        for kill in (kill_bridge, kill_target, kill_source):
            fed.caught_up()
            kill(fed, None)
            assert fed.dst.query("SELECT id FROM x") == [(3,)]
        assert sorted(prepared(fed.src)) == ["gone", "kept"]
        finish(fed.src, "gone", "ROLLBACK")
        finish(fed.src, "kept")
        fed.caught_up()
        assert_same_tables(fed.src, fed.dst, ["x", "base"])
        assert fed.dst.query("SELECT id FROM x ORDER BY id") == [(1,), (3,)] and not fed.stream.conflicts()


# -- each point ----------------------------------------------------------------

@pytest.mark.long
def test_the_bridge_dies_at_every_point(fed):
    """One cold start, which dies at each of its points, then one stream at each of its."""
    fed.make(copy_workers=3)
    with MyKindWriters(fed.src, "%s/bridge" % SEED) as writers:
        for point in COPY_POINTS[:-2]:
            die_in_bridge(fed, point)
        with foreign_key_held_up(fed):
            die_in_bridge(fed, "finish_begun")
        with foreign_key_held_up(fed) as let_pass:
            die_in_bridge(fed, "finish_built", let_pass)
        write_large(fed.src)
        for point in STREAM_POINTS:
            die_in_bridge(fed, point)
        fed.bridge.start()
        fed.at_rest(writers)


@pytest.mark.long
def test_the_target_dies_at_every_point(fed):
    fed.make(copy_workers=3)
    with MyKindWriters(fed.src, "%s/target" % SEED) as writers:
        for point in TARGET_COPY_POINTS + TARGET_STREAM_POINTS:
            die_in_target(fed, point)
            fed.bridge.kill_tree()      # else it waits longer from try to try
        fed.bridge.start()
        fed.at_rest(writers)


# -- at random -----------------------------------------------------------------

def kill_supervisor(fed, rng):
    fed.bridge.kill9()
    fed.look()
    fed.bridge.start()


def kill_child(fed, rng):
    """The process that feeds, or one of its own."""
    found = [pid for pid in fed.bridge.tree() if pid != fed.bridge.pid()]
    if not found:
        return False
    os.kill(rng.choice(found), signal.SIGKILL)
    return True


def kill_session(fed, rng):
    """A backend of the bridge's; the target starts again by itself."""
    pids = [pid for pid, in fed.dst.query("SELECT pid FROM pg_stat_activity"
                                          " WHERE application_name LIKE 'sluice-bridge%%'")]
    if not pids:
        return False
    mark = fed.target.log_mark()
    os.kill(rng.choice(pids), signal.SIGKILL)
    fed.target.wait_log("all server processes terminated; reinitializing", mark, 60)
    reachable(fed.target)
    return True


def cut_link(fed, rng):
    fed.link.cut()


RANDOM_KILLS = [kill_supervisor, kill_child, kill_session, kill_target, kill_source, cut_link]


def rounds(fed, writers, rng, kills, rests=0.6):
    """Kills of one stream, one after the other; equal rows at rest after so many of them, and at the end."""
    for kill in kills:
        wait_until(writers.more(rng.randint(5, 80)), 90, "the writers write nothing")
        if kill(fed, rng) is not False:
            count(kill.__name__)
        if rng.random() < rests:    # else: killed again while it catches up
            fed.at_rest(writers)
    fed.at_rest(writers)


@pytest.mark.long
def test_random_kills(fed):
    fed.make(copy_workers=3)
    rng = random.Random("%s/random" % SEED)
    kills = list(RANDOM_KILLS)
    rng.shuffle(kills)
    fed.bridge.start()
    with MyKindWriters(fed.src, "%s/random" % SEED) as writers:
        rounds(fed, writers, rng, kills, rests=0.2)


@pytest.mark.long
def test_caught_up_is_durable(fed):
    """What caught_up has promised is there after a kill, though commits are written out late."""
    fed.target.reload(**{"wal_writer_delay": "10s", "wal_writer_flush_after": "1GB"})
    fed.make()
    fed.bridge.start()
    try:
        with MyKindWriters(fed.src, "%s/durable" % SEED) as writers:
            for _ in range(2):
                fed.streams()
                wait_until(writers.more(20), 60, "the writers write nothing")
                there = counted(fed.src)
                fed.caught_up()
                fed.target.kill9()
                fed.bridge.kill_tree()
                count("caught_up")
                fed.back()
                here = counted(fed.dst)
                assert all(here[w] >= there[w] for w in there), (here, there)
                fed.look()
                fed.bridge.start()
            fed.at_rest(writers)
    finally:
        for name in ("wal_writer_delay", "wal_writer_flush_after"):
            fed.target.conf.pop(name, None)


# -- many ----------------------------------------------------------------------

KINDS = ["mariadb11.8", "mysql"]


@pytest.mark.long
@pytest.mark.parametrize("servers", KINDS, indirect=True)
def test_many_random_kills(servers, fed):
    fed.make(copy_workers=3)
    rng = random.Random("long/%s" % SEED)
    kills = RANDOM_KILLS * (1 + ROUNDS // len(RANDOM_KILLS))
    rng.shuffle(kills)
    fed.bridge.start()
    with MyKindWriters(fed.src, "long/%s" % SEED) as writers:
        rounds(fed, writers, rng, kills[:ROUNDS])


@pytest.mark.long
@pytest.mark.parametrize("servers", KINDS, indirect=True)
def test_many_kills_at_points(servers, fed):
    """The points of the stream in random order and with random counts."""
    fed.make(copy_workers=3)
    rng = random.Random("points/%s" % SEED)
    fed.bridge.start()
    with MyKindWriters(fed.src, "points/%s" % SEED) as writers:
        for _ in range(ROUNDS):
            fed.streams()
            point = rng.choice(STREAM_POINTS + TARGET_STREAM_POINTS)
            at = "%s:%d" % (point, rng.randint(1, 3 if point in ("feed_part", "feed_block") else 40))
            if point in STREAM_POINTS:
                fed.bridge.kill_tree()
                for _ in range(3 if point in ("feed_part", "feed_block") else 0):
                    write_large(fed.src)
                die_in_bridge(fed, at)
            else:
                die_in_target(fed, at)
                fed.bridge.kill_tree()
            fed.bridge.start()
            if rng.random() < 0.4:
                fed.at_rest(writers)
        fed.at_rest(writers)


@pytest.mark.long
@pytest.mark.parametrize("servers", KINDS, indirect=True)
def test_many_cold_starts(servers, fed):
    """Cold starts one after the other, each killed at points and at random."""
    rng = random.Random("cold/%s" % SEED)
    with MyKindWriters(fed.src, "cold/%s" % SEED) as writers:
        for n in range(max(1, ROUNDS // 4)):
            fed.make("r%d" % n, copy_workers=rng.randint(1, 4))
            for point in sorted(rng.sample(COPY_POINTS[:9], 2), key=COPY_POINTS.index):
                die_in_bridge(fed, point)
            fed.bridge.start()
            for kill in rng.sample(RANDOM_KILLS, 2):
                if kill(fed, rng) is not False:
                    count(kill.__name__)
            fed.at_rest(writers)
            fed.stream.stop()
            fed.stream.drop()
            fed.bridge.kill_tree()
            fed.dst.execute("DROP TABLE %s" % ", ".join(reversed(TABLES)))


@pytest.mark.long
def test_every_point_had_its_kill():
    """Last of this file: a point nobody died at was not tested."""
    # at those of what is owed to rows, test_bridge_backfill.py kills
    points = [p for p in bridge_fault_points() if not p.startswith("debt_")]
    assert sorted(COPY_POINTS + STREAM_POINTS) == points, \
        "points in the bridge and points in this test differ"
    mine = TARGET_COPY_POINTS + TARGET_STREAM_POINTS
    assert sorted(mine) == [p for p in fault_points() if p.startswith("feed_") or p == "mid_batch"], \
        "points in the extension and points in this test differ"
    wanted = points + mine + [kill.__name__ for kill in RANDOM_KILLS]
    missing = [p for p in wanted if not KILLS.get(p)]
    assert not missing, "no kill at %s; kills: %r" % (", ".join(missing), KILLS)
