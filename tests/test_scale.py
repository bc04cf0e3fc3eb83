"""Thousands of tables and partitions from an empty target, in one stream.

What must not grow with them: locks (settings are the defaults), the leader's
memory beyond some kilobytes a table, and the time for one more table.
"""
import pytest

from lib import Stream, assert_same_rows, caught_up_same, make_server, wait_until


def in_steps(db, statements, step=200):
    """So many a transaction: locks of this session are bounded, too."""
    for i in range(0, len(statements), step):
        db.execute(";".join(statements[i:i + step]))


def own_memory(pid):
    """kB of a process that are its own; 0 when it has gone."""
    try:
        with open("/proc/%d/status" % pid) as f:
            return max(int(line.split()[1]) for line in f if line.startswith("RssAnon"))
    except (FileNotFoundError, ProcessLookupError, ValueError):
        return 0


def cold(src, dst, seconds, kilobytes):
    """A cold start within bounds; the stream, caught up."""
    src.execute("ANALYZE")
    stream = Stream(src, dst, "s1", make_server(src, dst))
    stream.start()
    peak = [0]

    def streams():
        row = stream.health()
        if row["pid"]:
            peak[0] = max(peak[0], own_memory(row["pid"]))
        return row["state"] in ("streaming", "refused", "failed")
    wait_until(streams, seconds, lambda: "no end: %r" % stream.health(), interval=0.5)
    assert stream.state == "streaming", stream.health()
    assert 0 < peak[0] < kilobytes, "the leader takes %d kB" % peak[0]
    stream.caught_up()
    return stream


def many_tables(src, dst, n, seconds):
    in_steps(src, ["CREATE TABLE t%d (id int PRIMARY KEY, a text, b int UNIQUE);"
                   "CREATE INDEX ON t%d (a); INSERT INTO t%d SELECT i, 'v', i FROM"
                   " generate_series(1, 5) AS i" % (i, i, i) for i in range(n)])
    stream = cold(src, dst, seconds, 60000 + 60 * n)
    in_steps(src, ["UPDATE t%d SET a = 'new' WHERE id = 1" % i for i in range(n)])
    names = ["t%d" % i for i in range(n)]
    caught_up_same(stream, *names[::max(1, n // 100)], timeout="%d s" % seconds)
    assert dst.value("SELECT count(*) FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid"
                     " WHERE c.relnamespace = 'public'::regnamespace AND i.indisvalid") == 3 * n
    assert not stream.conflicts()
    stream.stop()
    stream.start()
    stream.wait("streaming", "%d s" % seconds)


def many_partitions(src, dst, n, seconds):
    src.execute("CREATE TABLE p (id int, k int, v text, PRIMARY KEY (id, k)) PARTITION BY LIST (k);"
                "CREATE INDEX ON p (v)")
    in_steps(src, ["CREATE TABLE p%d PARTITION OF p FOR VALUES IN (%d)" % (i, i)
                   for i in range(n)])
    src.execute("INSERT INTO p SELECT i, mod(i, %d), 'v' FROM generate_series(1, %d) AS i"
                % (n, 5 * n))
    stream = cold(src, dst, seconds, 60000 + 60 * n)
    src.execute("UPDATE p SET v = 'new' WHERE mod(id, 5) = 0;"
                "UPDATE p SET k = mod(k + 1, %d) WHERE mod(id, 7) = 0" % n)
    caught_up_same(stream, "p", timeout="%d s" % seconds)
    assert_same_rows(src, dst, ["p%d" % i for i in range(0, n, max(1, n // 50))])
    assert not stream.conflicts()


def test_tables(pair):
    many_tables(*pair, 250, 240)


def test_partitions(pair):
    many_partitions(*pair, 150, 240)


@pytest.mark.long
def test_five_thousand_tables(pair):
    many_tables(*pair, 5000, 1200)


@pytest.mark.long
def test_thousand_partitions(pair):
    many_partitions(*pair, 1000, 600)
