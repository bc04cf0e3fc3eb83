"""Kills at every named point and at random, with writers of every kind.

After each the target must stand at a source commit boundary, with nothing
confirmed that it does not hold; at rest both sides must hold the same rows.

    SLUICE_SEED          seed of writers and kills (default 1)
    SLUICE_CRASH_ROUNDS  kills of the long test (default 60)
"""
import os
import random

import pytest

from lib import make_stream, wait_until
from lib.pairs import database_pair, server_pair
from lib.rounds import FAST, arm, check_confirmed, check_equal, fault_points
from lib.rounds import died_at as rounds_died_at
from lib.writers import FILL, SCHEMA, TABLES, Writers

SEED = os.environ.get("SLUICE_SEED", "1")
ROUNDS = int(os.environ.get("SLUICE_CRASH_ROUNDS", "60"))

# Points that are passed once in a stream's life; the others come again.
COPY_POINTS = ["cold_published", "cold_slot", "cold_record", "cold_schema",
               "cold_emptied", "copy_task_commit", "copy_task_done",
               "cold_table_copied", "cold_table_done", "cold_copied",
               "cold_sequences", "cold_handover"]
STREAM_POINTS = ["mid_batch", "before_commit", "after_commit", "before_feedback"]

# The source is reported to often: the points around that come often, too.
OFTEN = {"heartbeat_interval": "200 ms"}

KILLS = {}


servers = server_pair("crash", FAST)
dbs = database_pair("crash", SCHEMA + FILL, SCHEMA)


def died_at(target, point, mark):
    name = rounds_died_at(target, point, mark)
    KILLS[name] = KILLS.get(name, 0) + 1


def back(stream, target):
    """Start held back, look at what is stored, then let the streams run."""
    target.start(**{"sluice.fault_point": "", "restart_after_crash": "on",
                    "sluice.autostart": "off"})
    check_confirmed(stream)
    target.reload(**{"sluice.autostart": "on"})


@pytest.mark.parametrize("point", COPY_POINTS)
def test_kill_in_copy(servers, dbs, point):
    src, dst = dbs
    target = servers[1]
    with Writers(src, "%s/%s" % (SEED, point)) as writers:
        mark = arm(target, point)
        stream = make_stream(src, dst, wait=None)
        died_at(target, point, mark)
        back(stream, target)
        stream.wait("streaming", "60 s")
        writers.pause()
        check_equal(stream, TABLES)


@pytest.mark.parametrize("point", STREAM_POINTS)
def test_kill_in_stream(servers, dbs, point):
    src, dst = dbs
    target = servers[1]
    rng = random.Random("%s/%s" % (SEED, point))
    stream = make_stream(src, dst, options=OFTEN)
    with Writers(src, "%s/%s" % (SEED, point)) as writers:
        for _ in range(2):
            stream.wait("streaming", "60 s")
            at = "%s:%d" % (point, rng.randint(1, 12))
            mark = arm(target, at)
            died_at(target, at, mark)
            back(stream, target)
        stream.wait("streaming", "60 s")
        writers.pause()
        check_equal(stream, TABLES)


def kill_worker(stream, target):
    stream.crash_worker()


def kill_postmaster(stream, target):
    target.kill9()
    back(stream, target)


def stop_immediate(stream, target):
    target.stop("immediate")
    back(stream, target)


RANDOM_KILLS = [kill_worker, kill_postmaster, stop_immediate]


def rounds(servers, dbs, seed, count):
    """count random kills on one stream; equal rows at rest after each."""
    src, dst = dbs
    target = servers[1]
    rng = random.Random(seed)
    stream = make_stream(src, dst, options=OFTEN)
    kills = RANDOM_KILLS * (1 + count // len(RANDOM_KILLS))
    rng.shuffle(kills)
    with Writers(src, seed) as writers:
        for n, kill in enumerate(kills[:count]):
            before = sum(writers.done.values())
            want = before + rng.randint(5, 120)
            wait_until(lambda: sum(writers.done.values()) >= want, 60,
                       "the writers write nothing")
            kill(stream, target)
            KILLS[kill.__name__] = KILLS.get(kill.__name__, 0) + 1
            if rng.random() < 0.6:      # else: killed again while it catches up
                writers.pause()
                check_equal(stream, TABLES)
                writers.resume()
        writers.pause()
        check_equal(stream, TABLES)


def test_random_kills(servers, dbs):
    rounds(servers, dbs, SEED, 6)


@pytest.fixture
def late_flush(servers):
    """The target writes commits out late: what is not forced is lost."""
    late = {"wal_writer_delay": "10s", "wal_writer_flush_after": "1GB"}
    servers[1].reload(**late)
    yield
    servers[1].conf.update({"wal_writer_delay": "200ms", "wal_writer_flush_after": "1MB"})


def replies_after(stream, when):
    """Wait until the source has heard from the stream twice since when."""
    for _ in range(2):
        wait_until(lambda: stream.src.value(
            "SELECT max(reply_time) > %s FROM pg_stat_replication WHERE pid = %s",
            when, stream.slot()["active_pid"]), 30, "the stream does not report")
        when = stream.src.value("SELECT clock_timestamp()")


def test_unflushed_commits_are_not_confirmed(servers, dbs, late_flush):
    """Committed here is not yet durable here: the source keeps it."""
    src, dst = dbs
    target = servers[1]
    stream = make_stream(src, dst, options=OFTEN)
    stream.caught_up()
    for n in range(3):
        src.execute("INSERT INTO hist VALUES (%s, 1, 1)", -1 - n)
        wait_until(lambda: dst.value("SELECT count(*) FROM hist WHERE id = %s", -1 - n),
                   30, "the row does not arrive")
        replies_after(stream, src.value("SELECT clock_timestamp()"))
        target.kill9()
        back(stream, target)
        stream.wait("streaming")
        check_equal(stream, TABLES)


def test_caught_up_is_durable(servers, dbs, late_flush):
    """What caught_up has promised is still there after a kill."""
    src, dst = dbs
    target = servers[1]
    stream = make_stream(src, dst)
    for n in range(3):
        src.execute("INSERT INTO hist VALUES (%s, 1, 1)", -1 - n)
        stream.caught_up()
        target.kill9()
        target.start(**{"sluice.autostart": "off"})
        assert dst.value("SELECT count(*) FROM hist WHERE id = %s", -1 - n) == 1
        target.reload(**{"sluice.autostart": "on"})
        stream.wait("streaming")


@pytest.mark.long
def test_many_random_kills(servers, dbs):
    rounds(servers, dbs, "long/%s" % SEED, ROUNDS)


@pytest.mark.long
@pytest.mark.parametrize("shard", range(4))
def test_many_kills_at_points(servers, dbs, shard):
    """The points of the stream in random order and with random counts."""
    src, dst = dbs
    target = servers[1]
    rng = random.Random("points/%s/%d" % (SEED, shard))
    stream = make_stream(src, dst, options=OFTEN)
    with Writers(src, "points/%s/%d" % (SEED, shard)) as writers:
        for _ in range(max(1, ROUNDS // 4)):
            stream.wait("streaming", "60 s")
            at = "%s:%d" % (rng.choice(STREAM_POINTS), rng.randint(1, 60))
            mark = arm(target, at)
            died_at(target, at, mark)
            back(stream, target)
            if rng.random() < 0.5:
                writers.pause()
                check_equal(stream, TABLES)
                writers.resume()
        writers.pause()
        check_equal(stream, TABLES)


def test_every_point_had_its_kill():
    """Last of this file: a point nobody died at was not tested."""
    # the others have their kills in the tests of what they belong to
    others = ("cutover_", "schema_", "cold_snapshot", "cold_finish", "cold_once",
              "copy_range", "feed_", "before_alter", "after_alter", "backfill_")
    points = [p for p in fault_points() if not p.startswith(others)]
    assert sorted(COPY_POINTS + STREAM_POINTS) == points, \
        "points in the code and points in this test differ"
    missing = [p for p in points if not KILLS.get(p)]
    assert not missing, "no kill at %s; kills: %r" % (", ".join(missing), KILLS)
    assert sum(KILLS.values()) >= 10, KILLS
