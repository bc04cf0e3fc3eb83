"""From the copy to the stream without gap or double, while everything writes.

Writers of every kind run before, during and after the copy into an empty
target.  SLUICE_SEED (default 1) seeds them.
"""
import os
import random

import psycopg2
import pytest

from lib import PgServer, Stream, make_server, wait_until
from lib.rounds import FAST, check_equal
from lib.writers import (FILL, KINDS, MORE_FILL, MORE_KINDS, MORE_SCHEMA, MORE_TABLES,
                         SCHEMA, TABLES, Writers)

SEED = os.environ.get("SLUICE_SEED", "1")
ALL = TABLES + MORE_TABLES


@pytest.fixture(scope="module")
def servers():
    source = PgServer("handover-source", preload="",
                      conf={"max_prepared_transactions": "20"}).start()
    target = PgServer("handover-target", conf=FAST).start()
    yield source, target
    target.destroy()
    source.destroy()


@pytest.fixture
def dbs(servers):
    src = servers[0].fresh_db("handover")
    dst = servers[1].fresh_db("handover", extension=True)
    src.execute(SCHEMA + MORE_SCHEMA + FILL + MORE_FILL)
    yield src, dst
    dst.destroy()
    src.destroy()


def start_among(writers, stream, **args):
    """sync_start; preflight refuses while it sees a prepared transaction."""
    def start():
        try:
            return stream.start(**args)
        except psycopg2.Error as e:
            assert "prepared transaction" in str(e), str(e)
    wait_until(start, 60, lambda: "no start between prepared transactions: %r" % writers.done)


def wrote(writers, least, timeout=60):
    """Wait until every writer has done so many more transactions."""
    before = dict(writers.done)
    wait_until(lambda: writers.errors or
               all(n >= before[k] + least for k, n in writers.done.items()), timeout,
               lambda: "writers stand still: %r then %r" % (before, writers.done))
    assert not writers.errors, writers.errors


def ends_equal(writers, stream):
    """At rest: the same rows on both sides, and nothing had to be recorded."""
    writers.pause()
    check_equal(stream, ALL)
    assert not stream.conflicts() and not stream.refusals(), \
        (stream.conflicts(), stream.refusals())
    writers.resume()


def hand_over(dbs, seed, stops=0):
    src, dst = dbs
    rng = random.Random(seed)
    stream = Stream(src, dst, "s1", make_server(src, dst))
    with Writers(src, seed, KINDS + MORE_KINDS) as writers:
        wrote(writers, 1)
        start_among(writers, stream, options={"heartbeat_interval": "300 ms",
                                              "copy_workers": rng.choice([0, 1, 2, 4])})
        for _ in range(stops):
            stream.wait_state("copying", "streaming")
            wrote(writers, 1)
            stream.stop()
            wrote(writers, 1)
            start_among(writers, stream)
        stream.wait("streaming", "120 s")
        ends_equal(writers, stream)
        wrote(writers, 1)
        ends_equal(writers, stream)


@pytest.mark.parametrize("n", range(2))
def test_hand_over(dbs, n):
    hand_over(dbs, "handover/%s/%d" % (SEED, n))


def test_stopped_in_the_copy(dbs):
    hand_over(dbs, "stopped/%s" % SEED, stops=2)


@pytest.mark.long
@pytest.mark.parametrize("n", range(16))
def test_many_hand_overs(dbs, n):
    hand_over(dbs, "many/%s/%d" % (SEED, n), stops=n % 3)
