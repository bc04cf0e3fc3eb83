"""verify of a stream that sluice-bridge feeds: every planted fault is found, by its
key, and none where there is none, while the source is written to."""
import os
import signal
import threading

import pytest

from lib import make_bridged_stream, wait_until
from lib.bridgerun import begin_here

BOTH = pytest.mark.parametrize("my_server", ["mariadb10", "mysql9"], indirect=True)

# column, the source's type, the target's, a value for the source, another for the target
TYPES = [
    ("b", "tinyint(1)", "boolean", "1", "false"),
    ("i", "int", "integer", "-7", "8"),
    ("n", "bigint unsigned", "numeric(20,0)", "18446744073709551615", "5"),
    ("d", "decimal(12,4)", "numeric(12,4)", "-1200.5", "-1200.4999"),
    ("f", "double", "double precision", "-2.5e-300", "-2.5000000001e-300"),
    ("r", "float", "real", "1.5", "1.25"),
    ("c", "char(9)", "char(9)", "'ab'", "'abc'"),
    ("v", "varchar(40)", "varchar(40)", "'Ünï 😀'", "'Ünï'"),
    ("t", "text", "text", "'with blank '", "'with blank'"),
    ("x", "varbinary(9)", "bytea", "x'00ff'", "'\\x00'"),
    ("y", "date", "date", "'2024-02-29'", "'2024-03-01'"),
    ("z", "datetime(6)", "timestamp(6)", "'2024-02-29 01:02:03.000004'", "'2024-02-29 01:02:03.000005'"),
    ("w", "timestamp(3) NULL", "timestamptz(3)", "'2024-02-29 01:02:03.004'", "'2024-02-29 01:02:03.004+01'"),
    ("u", "time(2)", "interval(2)", "'-12:00:00.25'", "'-12:00:00.5'"),
    ("e", "enum('one','two')", "mood", "'two'", "'one'"),
    ("s", "set('p','q')", "text[]", "'p,q'", "'{p}'"),
    ("j", "json", "jsonb", """'{"b": [1, 2.50], "a": "\\\\u00e9"}'""", """'{"b": [1, 2.5], "a": "x"}'"""),
    ("k", "bit(10)", "bit(10)", "b'1000000011'", "B'1000000010'"),
]


def comparisons(dst):
    """What the sessions wait for in which bridges read the target for verify."""
    return [r[0] for r in dst.query("SELECT wait_event_type FROM pg_stat_activity WHERE datname = current_database()"
                                    " AND application_name LIKE 'sluice-bridge verify%%'")]


def by_table(rows):
    return {r["table_name"]: r for r in rows}


def followed(src, dst, **args):
    # MySQL's snapshots need it; only here
    src.execute("GRANT LOCK TABLES ON `%s`.* TO repl@'%%'" % src.name)
    stream = make_bridged_stream(src, dst, **args)
    begin_here(stream)
    return stream


def make_types(src, dst):
    dst.execute("CREATE TYPE mood AS ENUM ('one', 'two')")
    src.execute("CREATE TABLE ty (id int PRIMARY KEY, %s) CHARACTER SET utf8mb4" % ", ".join("%s %s" % t[:2] for t in TYPES))
    dst.execute("CREATE TABLE ty (id int PRIMARY KEY, %s)" % ", ".join("%s %s" % (t[0], t[2]) for t in TYPES))


@BOTH
def test_each_type(my_db, dst, make_bridge):
    """A changed value of each type, NULL for a value and '' for NULL, by their keys."""
    make_types(my_db, dst)
    stream = followed(my_db, dst)
    make_bridge(dst)
    names = ", ".join(t[0] for t in TYPES)
    values = ", ".join(t[3] for t in TYPES)
    for n in range(2 * len(TYPES) + 2):
        my_db.execute("INSERT INTO ty (id, %s) VALUES (%d, %s)" % (names, n + 1, values.replace("%", "%%")))
    my_db.execute("INSERT INTO ty (id) VALUES (900)")
    stream.caught_up()
    rows = stream.verify()
    assert [(r["status"], r["source_rows"], r["target_rows"]) for r in rows] == [
        ("equal", 2 * len(TYPES) + 3, 2 * len(TYPES) + 3)], rows
    for first in range(0, len(TYPES), 5):
        planted = [(2 * n + k, TYPES[n]) for n in range(first, min(first + 5, len(TYPES))) for k in (1, 2)]
        for key, (name, _, kind, _, other) in planted:
            dst.execute("UPDATE ty SET %s = %s::%s WHERE id = %d" % (name, other if key % 2 else "NULL", kind, key))
        (row,) = stream.verify()
        assert row["status"] == "different" and row["different_rows"] == len(planted), (row, planted)
        assert set(row["sample_keys"]) == {str(key) for key, _ in planted}, (row, planted)
        assert row["reason"] == "%d rows with other values" % len(planted)
        for key, (name, *_) in planted:
            dst.execute("UPDATE ty SET %s = (SELECT %s FROM ty WHERE id = %d) WHERE id = %d"
                        % (name, name, 2 * len(TYPES) + 1, key))
    dst.execute("UPDATE ty SET v = '' WHERE id = 900")
    (row,) = stream.verify()
    assert row["sample_keys"] == ["900"], row
    dst.execute("UPDATE ty SET v = NULL WHERE id = 900")
    assert [r["status"] for r in stream.verify()] == ["equal"]


@BOTH
def test_rows(my_db, dst, make_bridge):
    """Missing, extra and doubled rows; a key of two columns; no key; other modes."""
    for db in (my_db, dst):
        db.execute("CREATE TABLE two (a varchar(20), b decimal(6,2), v text, PRIMARY KEY (a, b))")
        db.execute("CREATE TABLE bare (v varchar(20), w int)")
    stream = followed(my_db, dst, options={"insert_only": ["bare"]})
    make_bridge(dst)
    for n in range(40):
        my_db.execute("INSERT INTO two VALUES (%s, %s, 'x')", "k%d" % n, n + 0.5)
        my_db.execute("INSERT INTO bare VALUES (%s, %s)", "v%d" % (n // 2), n // 2)
    stream.caught_up()
    assert {r["status"] for r in stream.verify()} == {"equal"}
    dst.execute("DELETE FROM two WHERE a = 'k3'")
    dst.execute("INSERT INTO two VALUES ('K,4', 1.25, 'x'); UPDATE two SET v = 'y' WHERE a = 'k5'")
    dst.execute("UPDATE bare SET w = 99 WHERE ctid = (SELECT min(ctid) FROM bare WHERE v = 'v7')")
    dst.execute("INSERT INTO bare VALUES ('v8', 8)")
    rows = by_table(stream.verify())
    two, bare = rows["two"], rows["bare"]
    assert two["different_rows"] == 3 and set(two["sample_keys"]) == {
        "(k3,3.50)", '("K,4",1.25)', "(k5,5.50)"}, two
    assert two["reason"] == "1 row with other values, 1 row missing on the target, 1 row only on the target"
    assert (bare["source_rows"], bare["target_rows"], bare["different_rows"]) == (40, 41, 2), bare
    assert set(bare["sample_keys"]) == {"(v7,7)", "(v7,99)", "(v8,8)"}, bare
    rows = by_table(stream.verify(mode="count"))
    assert (rows["two"]["status"], rows["bare"]["status"]) == ("equal", "different"), rows
    assert by_table(stream.verify(["*.two"], "sample"))["two"]["different_rows"] == 3
    dst.execute("ALTER TABLE two ALTER v TYPE varchar(9)")
    row = by_table(stream.verify())["two"]
    assert row["status"] == "skipped" and "column \"v\"" in row["reason"], row


@BOTH
def test_while_the_source_is_written(my_db, dst, make_bridge):
    """Equal stays equal at whatever moment it is asked, and the stream goes on."""
    for db in (my_db, dst):
        db.execute("CREATE TABLE a (id int PRIMARY KEY, n int)")
        db.execute("CREATE TABLE b (id int PRIMARY KEY, n int)")
    stream = followed(my_db, dst)
    make_bridge(dst)
    done = threading.Event()
    failed = []

    def write(k):
        conn = my_db.connect()
        n = 0
        try:
            with conn.cursor() as cur:
                while not done.is_set():
                    n += 1
                    cur.execute("BEGIN")
                    cur.execute("INSERT INTO a VALUES (%s, %s)", (10 * n + k, n))
                    cur.execute("UPDATE a SET n = n + 1 WHERE id = %s", (10 * (n // 2) + k,))
                    cur.execute("INSERT INTO b VALUES (%s, %s)", (10 * n + k, n))
                    cur.execute("DELETE FROM b WHERE id = %s", (10 * (n - 5) + k,))
                    cur.execute("COMMIT")
        except Exception as e:
            failed.append(e)
        finally:
            conn.close()

    writers = [threading.Thread(target=write, args=(k,)) for k in range(2)]
    for w in writers:
        w.start()
    try:
        wait_until(lambda: dst.value("SELECT count(*) FROM a") > 50, 60, "rows")
        for _ in range(6):
            rows = stream.verify()
            assert {r["status"] for r in rows} == {"equal"}, rows
            assert by_table(rows)["a"]["source_rows"] > 0
    finally:
        done.set()
        for w in writers:
            w.join()
    assert not failed
    stream.caught_up()
    dst.execute("UPDATE a SET n = -1 WHERE id = 10")
    assert by_table(stream.verify())["a"]["sample_keys"] == ["10"]


@pytest.mark.parametrize("my_server", ["mariadb10"], indirect=True)
def test_ends(my_db, dst, make_bridge):
    """Without a bridge, cancelled, and with what compares killed."""
    for db in (my_db, dst):
        db.execute("CREATE TABLE a (id int PRIMARY KEY, n int)")
    stream = followed(my_db, dst)
    assert "no sluice-bridge feeds" in str(dst.error("SELECT * FROM sluice.verify('s1')"))
    bridge = make_bridge(dst)
    my_db.execute("INSERT INTO a VALUES (1, 1)")
    stream.caught_up()
    assert dst.error("SELECT * FROM sluice.verify('s1', '{nope}')").pgcode == "42P01"
    # a lock of somebody else's: verify waits for it, and can be cancelled
    conn = dst.connect()
    conn.autocommit = False
    with conn.cursor() as cur:
        cur.execute("LOCK TABLE a IN ACCESS EXCLUSIVE MODE")
        err = dst.error("SET statement_timeout = '3s'; SELECT * FROM sluice.verify('s1')")
        assert err.pgcode == "57014"
    conn.rollback()
    wait_until(lambda: not comparisons(dst), 60, "the comparison's end")
    assert {r["status"] for r in stream.verify()} == {"equal"}
    with conn.cursor() as cur:
        cur.execute("LOCK TABLE a IN ACCESS EXCLUSIVE MODE")
        errors = []
        asks = threading.Thread(target=lambda: errors.append(dst.error("SELECT * FROM sluice.verify('s1')")))
        asks.start()
        wait_until(lambda: "Lock" in comparisons(dst), 60, "the comparison")
        os.kill(bridge.tree()[-1], signal.SIGKILL)
        asks.join()
        assert "went away" in str(errors[0])
    conn.rollback()
    conn.close()
    assert {r["status"] for r in stream.verify()} == {"equal"}

