"""Kills in a cold start, its resumption and its hand-over, with writers.

    SLUICE_SEED         seed of writers and kills (default 1)
    SLUICE_COLD_ROUNDS  kills of the long test (default 30)
"""
import os
import random
import signal

import pytest

from lib import assert_same_rows, make_stream, wait_until
from lib.pairs import database_pair, server_pair
from lib.rounds import arm, check_confirmed, check_equal, fault_points, reachable
from lib.rounds import died_at as rounds_died_at
from lib.writers import FILL, SCHEMA, TABLES, Writers

SEED = os.environ.get("SLUICE_SEED", "1")
ROUNDS = int(os.environ.get("SLUICE_COLD_ROUNDS", "30"))

# A foreign key: built behind the stream when its tables' snapshots differ.
KEYS = """
CREATE TABLE base (id int PRIMARY KEY);
CREATE TABLE leaf (id int PRIMARY KEY, base int REFERENCES base);
INSERT INTO base SELECT generate_series(1, 50);
INSERT INTO leaf SELECT i, i FROM generate_series(1, 50) AS i;
"""
ALL = TABLES + ["base", "leaf"]

# What must have happened before, where the first run does not pass the point.
BEFORE = {"cold_snapshot": ["cold_table_done"], "cold_finish": ["cold_table_done"]}

# Failures are tried again soon; the time limits are the usual ones.
CONF = {"sluice.retry_min": "50ms", "sluice.retry_max": "400ms"}

KILLS = {}


servers = server_pair("coldkill", CONF)
dbs = database_pair("coldkill", SCHEMA + FILL + KEYS)


def count(name):
    KILLS[name] = KILLS.get(name, 0) + 1


def died_at(target, point, mark):
    count(rounds_died_at(target, point, mark, timeout=120))


def back(stream, target, point=""):
    """Look at what is stored while nothing runs, then let it go on."""
    target.start(**{"sluice.fault_point": "", "restart_after_crash": "on",
                    "sluice.autostart": "off"})
    check_confirmed(stream)
    mark = target.log_mark()
    if point:
        mark = arm(target, point)
    target.reload(**{"sluice.autostart": "on"})
    return mark


def die_at(stream, target, points, mark):
    """Die at the first point, armed already, then at each of the others."""
    for n, point in enumerate(points):
        died_at(target, point, mark)
        mark = back(stream, target, points[n + 1] if n + 1 < len(points) else "")


def at_rest(stream, writers):
    """Streaming, equal, and nothing left to build."""
    stream.wait("streaming", "90 s")
    writers.pause()
    check_equal(stream, ALL)
    wait_until(lambda: stream.dst.value("SELECT phase FROM sluice.copy_run") == "done", 60,
               lambda: "%r" % stream.dst.query(
                   "SELECT kind, object_name, note FROM sluice.schema_object WHERE state = 'planned'"))
    assert stream.dst.value("SELECT count(*) FROM pg_constraint WHERE contype = 'f'"
                            " AND convalidated AND conrelid = 'leaf'::regclass") == 1


@pytest.mark.parametrize("point", ["cold_snapshot", "cold_finish", "schema_mid", "schema_done"])
def test_kill_at(servers, dbs, point):
    src, dst = dbs
    target = servers[1]
    points = BEFORE.get(point, []) + [point]
    if point == "schema_mid":       # more than one transaction's worth
        src.execute("DO $$ BEGIN FOR i IN 1 .. 220 LOOP EXECUTE format("
                    "'CREATE TABLE many_%s (id int PRIMARY KEY)', i); END LOOP; END $$")
    with Writers(src, "%s/%s" % (SEED, point)) as writers:
        mark = arm(target, points[0])
        stream = make_stream(src, dst, wait=None)
        die_at(stream, target, points, mark)
        at_rest(stream, writers)


def test_kill_between_two_ranges_of_a_table(servers, dbs):
    """A part of a table is committed: it is copied anew, and nothing twice."""
    src, dst = dbs
    target = servers[1]
    src.execute("CREATE TABLE big (id int, v text) WITH (autovacuum_enabled = off);"
                "ALTER TABLE big ALTER v SET STORAGE PLAIN, REPLICA IDENTITY FULL;"
                "INSERT INTO big SELECT g, rpad(g::text, 3900) FROM generate_series(1, 45000) g")
    mark = arm(target, "copy_range_done")
    stream = make_stream(src, dst, wait=None, include_tables=["big"],
                         options={"copy_workers": 2})
    died_at(target, "copy_range_done", mark)
    back(stream, target)
    src.execute("DELETE FROM big WHERE id % 1000 = 0; INSERT INTO big VALUES (0, 'new')")
    check_equal(stream, ["big"])
    assert dst.value("SELECT count(*) FROM big") == 45000 - 45 + 1


def test_kill_at_the_end_of_a_stream_that_does_not_follow(servers, dbs):
    src, dst = dbs
    target = servers[1]
    mark = arm(target, "cold_once")
    stream = make_stream(src, dst, wait=None, options={"follow": False})
    die_at(stream, target, ["cold_once"], mark)
    stream.wait("stopped")
    assert_same_rows(src, dst, ALL)
    assert src.value("SELECT count(*) FROM pg_replication_slots"
                     " WHERE database = current_database()") == 0


def pids(server, sql):
    return [p for p, in server.query("SELECT pid FROM pg_stat_activity WHERE " + sql)]


def kill_one(server, sql, rng):
    """kill -9 of one such process, if there is one; the server restarts."""
    found = pids(server, sql)
    if not found:
        return False
    mark = server.log_mark()
    try:
        os.kill(rng.choice(found), signal.SIGKILL)
    except ProcessLookupError:
        return False
    server.wait_log("all server processes terminated; reinitializing", mark)
    return True


def kill_leader(source, target, rng):
    return kill_one(target, "backend_type = 'sluice worker' AND application_name LIKE 'sluice stream%'", rng)


def kill_copier(source, target, rng):
    return kill_one(target, "application_name LIKE 'sluice copy%'", rng)


def kill_postmaster(source, target, rng):
    target.kill9()
    target.start()
    return True


def kill_source_backend(source, target, rng):
    return kill_one(source, "usename = 'sluice_src' AND backend_type = 'client backend'", rng)


def kill_walsender(source, target, rng):
    return kill_one(source, "backend_type = 'walsender'", rng)


RANDOM_KILLS = [kill_leader, kill_copier, kill_postmaster, kill_source_backend, kill_walsender]


@pytest.mark.long
@pytest.mark.parametrize("shard", range(3))
def test_seeded_kills(servers, dbs, shard):
    """Cold starts one after the other, each killed at a point or at random."""
    src, dst = dbs
    source, target = servers
    rng = random.Random("cold/%s/%d" % (SEED, shard))
    points = [p for p in fault_points() if p.startswith(("cold_", "copy_", "schema_"))
              and p not in ("cold_once", "cold_finish", "cold_snapshot", "schema_mid",
                            "copy_range_done")]
    with Writers(src, "cold/%s/%d" % (SEED, shard)) as writers:
        for n in range(max(1, ROUNDS // 3)):
            first = rng.choice(points)
            mark = arm(target, first)
            stream = make_stream(src, dst, wait=None, stream_id="r%d" % n)
            died_at(target, first, mark)
            back(stream, target)
            for _ in range(rng.randint(1, 2)):
                kill = rng.choice(RANDOM_KILLS)
                if kill(source, target, rng):
                    count(kill.__name__)
                reachable(target)
                reachable(source)
            at_rest(stream, writers)
            writers.resume()
            stream.stop()
            stream.drop()
            dst.execute("DROP TABLE %s" % ", ".join(reversed(ALL)))


def test_every_point_of_a_copy_had_its_kill():
    """Last of this file; those passed by every copy die in test_crash.py."""
    mine = ["cold_finish", "cold_once", "cold_snapshot", "copy_range_done",
            "schema_done", "schema_mid"]
    assert not set(mine) - set(fault_points()), "points that the code does not have"
    missing = [p for p in mine if not KILLS.get(p)]
    assert not missing, "no kill at %s; kills: %r" % (", ".join(missing), KILLS)
