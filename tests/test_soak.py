"""Random sequences of everything that can happen to a stream, from a seed.

Long only.  SLUICE_SEED (default 1) and SLUICE_SOAK_EVENTS (default 40 a
shard) choose them; a failure names the events so far.
"""
import os
import random

import psycopg2
import pytest

from lib import make_stream, wait_until
from lib.proxy import Proxy
from lib.rounds import FAST, check_confirmed, check_equal, reachable
from lib.writers import FILL, SCHEMA, TABLES, Writers

SEED = os.environ.get("SLUICE_SEED", "1")
EVENTS = int(os.environ.get("SLUICE_SOAK_EVENTS", "40"))


class World:
    """The servers, the link between them, and what can be done to them."""

    def __init__(self, source, target, proxy, stream, rng):
        self.source, self.target, self.proxy = source, target, proxy
        self.stream, self.rng = stream, rng

    def kill_worker(self):
        if (self.stream.health() or {}).get("pid"):
            try:
                self.stream.crash_worker()
            except ProcessLookupError:
                pass

    def term_worker(self):
        pid = (self.stream.health() or {}).get("pid")
        if pid:
            self.stream.dst.execute("SELECT pg_terminate_backend(%s)", pid)

    def kill_target(self):
        self.target.kill9()
        self.target.start(**{"sluice.autostart": "off"})
        check_confirmed(self.stream)
        self.target.reload(**{"sluice.autostart": "on"})

    def restart_target(self):
        self.target.restart(self.rng.choice(["fast", "immediate"]))

    def restart_source(self):
        self.source.restart(self.rng.choice(["fast", "immediate"]))

    def kill_source(self):
        self.source.kill9()
        self.source.start()

    def cut(self):
        self.proxy.cut()

    def freeze(self):
        pid = self.stream.health()["pid"]
        self.proxy.freeze()
        try:
            self._noticed(pid)
        finally:
            self.proxy.thaw()

    def half_open(self):
        pid = self.stream.pid()
        if self.proxy.half_open():
            self._noticed(pid)
        self.proxy.cut()

    def _noticed(self, pid):
        """The worker gave up, or was not connected in the first place."""
        wait_until(lambda: self.stream.health()["state"] == "retrying" or
                   self.stream.health()["pid"] != pid or not self.proxy.links(), 30,
                   lambda: "health is %r" % self.stream.health())

    def stop_start(self):
        try:
            self.stream.stop(timeout="30 s")
        finally:
            self.stream.start()

    def lock(self):
        table = self.rng.choice(TABLES)
        other = self.stream.dst.connect(autocommit=False)
        with other.cursor() as cur:
            cur.execute("SET lock_timeout = '10s'")
            cur.execute("LOCK TABLE %s IN SHARE ROW EXCLUSIVE MODE" % table)
        before = self.stream.stat()["batches"]
        try:
            wait_until(lambda: self.stream.stat()["batches"] != before or
                       self.stream.health()["reason"], 5)
        except AssertionError:
            pass                    # nothing came for that table: no matter
        other.rollback()
        other.close()

    def big_transaction(self):
        self.stream.src.execute(
            "BEGIN; INSERT INTO copied SELECT -i, repeat('b', 100) FROM"
            " generate_series(%s, %s) AS i; SAVEPOINT s; DELETE FROM copied WHERE"
            " id < 0 AND id %% 2 = 0; ROLLBACK TO s; DELETE FROM copied WHERE id < 0"
            " AND id %% 3 = 0; COMMIT" , *self._range())

    def _range(self):
        first = self.rng.randrange(1, 10 ** 8) * 10 ** 6
        return first, first + self.rng.randint(1000, 20000)


EVENTS_OF = ["kill_worker", "term_worker", "kill_target", "restart_target",
             "restart_source", "kill_source", "cut", "cut", "freeze", "half_open",
             "stop_start", "stop_start", "lock", "big_transaction", "big_transaction"]


@pytest.mark.long
@pytest.mark.parametrize("shard", range(4))
def test_random_events(make_pg, shard):
    rng = random.Random("soak/%s/%d" % (SEED, shard))
    source = make_pg("soak-source", preload="")
    target = make_pg("soak-target", conf=FAST)
    src = source.fresh_db("soak")
    dst = target.fresh_db("soak", extension=True)
    src.execute(SCHEMA + FILL)
    dst.execute(SCHEMA)
    done = []
    with Proxy(source.port) as proxy:
        stream = make_stream(src, dst, wait=None, options={"heartbeat_interval": "300 ms"},
                             server_options={"port": str(proxy.port)})
        world = World(source, target, proxy, stream, rng)
        try:
            with Writers(src, "soak/%s/%d" % (SEED, shard)) as writers:
                for _ in range(EVENTS):
                    event = rng.choice(EVENTS_OF)
                    done.append(event)
                    if rng.random() < 0.8 and event != "kill_worker":
                        stream.wait_state("streaming", "copying", timeout=60)
                    getattr(world, event)()
                    if rng.random() < 0.3:
                        done.append("check")
                        writers.pause()
                        settle(stream)
                        check_equal(stream, TABLES)
                        writers.resume()
                done.append("check")
                writers.pause()
                settle(stream)
                check_equal(stream, TABLES)
        except Exception:
            print("seed %s, shard %d, events: %s" % (SEED, shard, " ".join(done)))
            raise
        assert not stream.refusals() and not stream.conflicts(), \
            (stream.refusals(), stream.conflicts())


def settle(stream):
    """Both servers answer and the stream streams."""
    reachable(stream.src.server)
    reachable(stream.dst.server)
    try:
        stream.wait("streaming", "60 s")
    except psycopg2.Error:
        stream.wait_state("streaming")
