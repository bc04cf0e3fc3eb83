"""Following a MySQL or MariaDB source: what is done there is done here, once, and
what cannot be carried stops the stream by name."""
import datetime
import os
import signal
import threading
from decimal import Decimal

import pytest

from lib import make_bridged_stream, wait_until
from lib.bridgerun import begin_here
from lib.followed import assert_followed, assert_same, follow, leave, rows, unfed    # noqa: F401
from lib.myxa import finish, prepare, prepared

T = "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20), n INT)"
KEYLESS = "CREATE TABLE k (a INT, b VARCHAR(10))"


@pytest.fixture
def other(my_db):
    """Another database of the same server, that no stream reads."""
    db = my_db.server.fresh_db("other")
    db.execute("CREATE TABLE o (id INT PRIMARY KEY)")
    yield db
    db.destroy()


# -- what is carried -----------------------------------------------------------

def test_changes_of_rows(my_db, follow):
    stream = follow(my_db, T, KEYLESS, options={"accept_keyless": ["k"]})
    my_db.execute("INSERT INTO t VALUES (1, 'a', 1), (2, 'b', NULL), (3, NULL, 3);"
                  "UPDATE t SET n = 10 WHERE id = 1; UPDATE t SET id = 20 WHERE id = 2;"
                  "DELETE FROM t WHERE id = 3")
    my_db.execute("INSERT INTO k VALUES (1, 'x'), (1, 'x'), (1, 'x'), (NULL, NULL), (NULL, NULL);"
                  "DELETE FROM k WHERE a = 1 LIMIT 1; UPDATE k SET b = 'y' WHERE a = 1 LIMIT 1;"
                  "DELETE FROM k WHERE a IS NULL LIMIT 1")
    assert_followed(stream, "t")
    assert_same(stream, "k", order="a IS NULL, b")
    my_db.execute("/* app */ TRUNCATE TABLE t; INSERT INTO t VALUES (7, 'n', 7)")
    assert_followed(stream, "t")


def test_row_in_the_way_of_a_long_run_of_inserts(my_db, follow):
    """Inserts that met no row for long do not look for one any more; the batch of one that meets a row comes again, and looks."""
    stream = follow(my_db, T)
    stream.dst.execute("INSERT INTO t VALUES (500, 'stood here', 0)")
    for first in (1, 1001):
        my_db.execute("INSERT INTO t VALUES " + ", ".join("(%d, 'new', 1)" % i for i in range(first, first + 1000)))
    stream.caught_up()
    assert_same(stream, "t")
    (conflict,) = stream.conflicts()
    assert (conflict["kind"], conflict["count"]) == ("insert_exists", 1)
    assert not stream.refusals()
    assert "is applied once more" in stream.bridge.log_text()


TYPES = """CREATE TABLE ty (id BIGINT PRIMARY KEY, a TINYINT, b SMALLINT UNSIGNED, c MEDIUMINT,
    d INT UNSIGNED, e BIGINT UNSIGNED, f DECIMAL(30, 10), g FLOAT, h DOUBLE, i BIT(10), j YEAR,
    k DATE, l TIME(3), m DATETIME(6), n TIMESTAMP(6) NULL, o CHAR(10), p VARCHAR(300),
    q TEXT CHARACTER SET latin1, r BINARY(4), s VARBINARY(40), t BLOB, u ENUM('x', 'y', 'z'),
    v SET('a', 'b', 'c'), w JSON, bo TINYINT(1))"""
GREATEST = """(1, 127, 65535, 8388607, 4294967295, 18446744073709551615, 12345678901234567890.0123456789,
    16777216, 1.7976931348623157e308, b'1000000011', 2155, '9999-12-31', '838:59:58.999',
    '9999-12-31 23:59:59.999999', '2038-01-19 03:14:07.999999', 'abc', '\u00e9\u20ac\U0001f600', '\u00e9\u20ac',
    x'61000000', x'00ff', x'0001fe', 'z', 'a,c', '{"a": [1, "x", null]}', 1)"""
LEAST = """(2, -128, 0, -8388608, 0, 0, -12345678901234567890.0123456789, -0.5, -1e-300, b'0', 1901,
    '0001-01-01', '-838:59:58.999', '1000-01-01 00:00:00', '1970-01-01 00:00:01', '', '', '', x'', x'',
    x'', 'x', '', '[]', 0)"""
HELD = [
    (1, 127, 65535, 8388607, 4294967295, Decimal("18446744073709551615"),
     Decimal("12345678901234567890.0123456789"), 16777216.0, 1.7976931348623157e308, "1000000011",
     2155, "9999-12-31", "838:59:58.999", "9999-12-31 23:59:59.999999",
     "2038-01-19 03:14:07.999999+00", "abc       ", "\u00e9\u20ac\U0001f600", "\u00e9\u20ac", b"a\0\0\0", b"\0\xff",
     b"\0\x01\xfe", "z", ["a", "c"], {"a": [1, "x", None]}, True),
    (2, -128, 0, -8388608, 0, Decimal(0), Decimal("-12345678901234567890.0123456789"), -0.5,
     -1e-300, "0000000000", 1901, "0001-01-01", "-838:59:58.999", "1000-01-01 00:00:00",
     "1970-01-01 00:00:01+00", " " * 10, "", "", b"\0\0\0\0", b"", b"", "x", [], [], False),
    (3,) + (None,) * 24,
]
LOOK = ("SELECT id, a, b, c, d, e, f, g, h, i::text, j, k::text, l::text, m::text, n::text, o, p, q,"
        " r, s, t, u::text, v, w, bo FROM ty ORDER BY id")


def held(db):
    conn = db.connect()
    with conn.cursor() as cur:
        cur.execute("SET TimeZone = 'UTC'; SET extra_float_digits = 3; SET intervalstyle = 'postgres'")
        cur.execute(LOOK)
        found = [tuple(bytes(v) if isinstance(v, memoryview) else v for v in row)
                 for row in cur.fetchall()]
    conn.close()
    return found


def test_values_of_every_type(my_db, follow):
    """Written before the copy, by inserts behind it, and by updates from nothing and to nothing."""
    my_db.execute(TYPES)
    insert = "SET time_zone = '+00:00'; SET sql_mode = ''; INSERT INTO ty VALUES "
    nothing = "(3%s)" % (", NULL" * 24)
    my_db.execute(insert + ", ".join((GREATEST, LEAST, nothing)))
    stream = follow(my_db)
    assert held(stream.dst) == HELD
    my_db.execute("DELETE FROM ty")
    my_db.execute(insert + ", ".join((GREATEST, LEAST, nothing)))
    stream.caught_up()
    assert held(stream.dst) == HELD
    columns = "abcdefghijklmnopqrstuvw"
    both = ", ".join("x.%s = y.%s" % (c, c) for c in list(columns) + ["bo"])
    my_db.execute("SET time_zone = '+00:00'; UPDATE ty x, (SELECT * FROM ty WHERE id = 1) y"
                  " SET %s WHERE x.id > 1" % both)
    stream.caught_up()
    assert held(stream.dst) == [HELD[0], (2,) + HELD[0][1:], (3,) + HELD[0][1:]]
    my_db.execute("UPDATE ty SET %s WHERE id > 1" % ", ".join(
        "%s = NULL" % c for c in list(columns) + ["bo"]))
    stream.caught_up()
    assert held(stream.dst) == [HELD[0], (2,) + (None,) * 24, HELD[2]]
    assert not stream.conflicts()


def test_differences_of_json_are_applied(mysql9, follow):
    src = mysql9.fresh_db("partial")
    stream = follow(src, "CREATE TABLE j (id INT PRIMARY KEY, d JSON, e JSON, t VARCHAR(10))")
    src.execute("INSERT INTO j VALUES (1, '{\"a\": [1, 2, 3], \"b\": \"a long, long value\"}',"
                " '{\"x\": 1}', 'tail')")
    src.execute("SET SESSION binlog_row_value_options = 'PARTIAL_JSON';"
                " UPDATE j SET d = JSON_REMOVE(JSON_SET(d, '$.a[1]', 9), '$.b'), t = 'tail2'")
    stream.caught_up()
    assert stream.dst.query("SELECT * FROM j") == [(1, {"a": [1, 9, 3]}, {"x": 1}, "tail2")]
    src.destroy()


def test_what_was_rolled_back_is_not_applied(my_db, dst, make_bridge):
    """MariaDB logs it where the transaction cannot be cut from its log: with ROLLBACK behind it."""
    m = "CREATE TABLE m (id INT PRIMARY KEY)"
    my_db.execute(T + "; " + m + " ENGINE=MyISAM")      # which no copy takes
    dst.execute(T + "; " + m)
    stream = make_bridged_stream(my_db, dst)
    begin_here(stream)
    make_bridge(dst)
    stream.wait("streaming")
    my_db.execute("BEGIN; INSERT INTO t VALUES (1, 'a', 1); CREATE TEMPORARY TABLE x (a INT);"
                  " ROLLBACK; INSERT INTO t VALUES (2, 'a', 1)")
    my_db.execute("BEGIN; INSERT INTO t VALUES (3, 'a', 1); SAVEPOINT s; INSERT INTO t VALUES (4, 'a', 1);"
                  " CREATE TEMPORARY TABLE y (a INT); ROLLBACK TO s; INSERT INTO t VALUES (5, 'a', 1); COMMIT")
    if my_db.server.is_mariadb:     # elsewhere GTIDs forbid it
        my_db.execute("BEGIN; INSERT INTO t VALUES (6, 'a', 1); SAVEPOINT s; INSERT INTO t VALUES (7, 'a', 1);"
                      " INSERT INTO m VALUES (1); ROLLBACK TO s; INSERT INTO t VALUES (8, 'a', 1); COMMIT")
        my_db.execute("BEGIN; INSERT INTO t VALUES (9, 'a', 1); INSERT INTO m VALUES (2); ROLLBACK")
    assert_followed(stream, "t", "m")


LARGE = ("INSERT INTO l SELECT %d + a.i + 10 * b.i + 100 * c.i + 1000 * e.i + 10000 * f.i, REPEAT('x', 90), 0"
         " FROM d a, d b, d c, d e, d f WHERE f.i < 5;")


def test_transactions_that_are_too_large_to_be_held(my_db, other, follow):
    """Fed in parts; in one of them most was taken back when parts of it were here."""
    stream = follow(my_db, "CREATE TABLE l (id INT PRIMARY KEY, v VARCHAR(100), n INT)",
                    "CREATE TABLE d (i INT PRIMARY KEY)")
    my_db.execute("INSERT INTO d VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)")
    my_db.execute("BEGIN; INSERT INTO l VALUES (-1, 'a', 1); " + LARGE % 0 + "UPDATE l SET n = id; COMMIT;"
                  "INSERT INTO l VALUES (-2, 'b', 2)")
    my_db.execute("BEGIN; " + LARGE % 100000 + "CREATE TEMPORARY TABLE x (a INT); ROLLBACK;"
                  " INSERT INTO l VALUES (-3, 'c', 3)")
    other.execute("INSERT INTO o VALUES (1)")
    my_db.execute("BEGIN; INSERT INTO l VALUES (-4, 'd', 4); SAVEPOINT s; " + LARGE % 200000 +
                  "CREATE TEMPORARY TABLE y (a INT); ROLLBACK TO s; INSERT INTO l VALUES (-5, 'e', 5); COMMIT;"
                  " INSERT INTO l VALUES (-6, 'f', 6)")
    stream.caught_up("120 s")
    look = "SELECT count(*), sum(id), sum(n), min(id), max(id), min(length(v)) FROM l"
    assert [int(v) for v in my_db.query(look)[0]] == [int(v) for v in stream.dst.query(look)[0]]
    assert stream.dst.value("SELECT count(*) FROM l") == 50006
    again = "without what a savepoint took back" in stream.bridge.log_text()
    assert again == my_db.server.is_mariadb     # MySQL cuts it from its log
    assert not stream.conflicts()


# -- positions -----------------------------------------------------------------

def test_changes_elsewhere_move_the_position(my_db, other, follow):
    stream = follow(my_db, T)
    was = stream.health()["position"]
    other.execute("INSERT INTO o VALUES (1)")
    wait_until(lambda: stream.health()["position"] != was, 60, "the position to move")
    my_db.execute("INSERT INTO t VALUES (1, 'a', 1)")
    assert_followed(stream, "t")


def test_a_kill_behind_changes_elsewhere(my_db, other, follow):
    """The position was further than the last transaction's end: the next process goes on all the same."""
    stream = follow(my_db, T)
    leave(stream)
    my_db.execute("INSERT INTO t VALUES (1, 'a', 1); INSERT INTO `%s`.o VALUES (2)" % other.name)
    stream.bridge.arm("feed_answered:2")
    stream.bridge.start()
    stream.bridge.wait_log('"feed_answered" reached')
    stream.bridge.kill_tree()
    assert stream.dst.value("SELECT count(*) FROM t") == 1
    stream.bridge.arm()
    stream.bridge.start()
    my_db.execute("INSERT INTO t VALUES (2, 'a', 1)")
    assert_followed(stream, "t")


def test_a_bridge_killed_again_and_again(my_db, follow):
    """Each change is there once: n counts the updates, and the keyless table has no other guard."""
    stream = follow(my_db, T, KEYLESS, options={"accept_keyless": ["k"]})
    done = threading.Event()

    def write():
        con = my_db.connect()
        cur = con.cursor()
        n = 0
        while not done.is_set():
            n += 1
            cur.execute("INSERT INTO t VALUES (%d, 'x', 0); UPDATE t SET n = n + 1 WHERE id > %d;"
                        " INSERT INTO k VALUES (%d, 'x')" % (n, n - 20, n % 7))
            while cur.nextset():
                pass
        con.close()

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(5):
            before = stream.dst.value("SELECT count(*) FROM t")
            wait_until(lambda: stream.dst.value("SELECT count(*) FROM t") > before, 60, "changes")
            os.kill(wait_until(stream.bridge.children, 60, "the child")[0], signal.SIGKILL)
    finally:
        done.set()
        writer.join()
    assert_followed(stream, "t")
    count = "SELECT a, count(*) FROM k GROUP BY a ORDER BY a"
    assert [tuple(r) for r in my_db.query(count)] == stream.dst.query(count)


@pytest.mark.parametrize("kind", ["mariadb10.11", "mysql"])
def test_a_source_that_restarts_and_purges(make_mysql, follow, kind):
    my = make_mysql(kind)
    src = my.fresh_db("shop")
    stream = follow(src, T)
    src.execute("INSERT INTO t VALUES (1, 'a', 1)")
    my.restart()
    src.execute("INSERT INTO t VALUES (2, 'a', 1)")
    assert_followed(stream, "t")
    my.purge_logs()             # nothing that is missing here
    leave(stream)
    my.flush_logs()
    src.execute("INSERT INTO t VALUES (3, 'a', 1)")
    stream.bridge.start()
    assert_followed(stream, "t")
    leave(stream)
    src.execute("INSERT INTO t VALUES (4, 'a', 1)")
    my.purge_logs()
    stream.bridge.start()
    row = stream.wait_refused("SOURCE-LOG-PURGED")
    assert "drop the stream" in row["hint"].lower()
    assert stream.dst.value("SELECT count(*) FROM t") == 3


@pytest.mark.parametrize("kind", ["mariadb10.11", "mysql"])
@pytest.mark.parametrize("regrown", [False, True])
def test_a_log_that_was_begun_anew(make_mysql, follow, kind, regrown):
    my = make_mysql(kind)
    src = my.fresh_db("shop")
    stream = follow(src, T)
    src.execute("INSERT INTO t VALUES (1, 'a', 1)")
    stream.caught_up()
    leave(stream)
    my.execute("RESET MASTER" if my.is_mariadb else "RESET BINARY LOGS AND GTIDS")
    for i in range(40 if regrown else 1):
        src.execute("INSERT INTO t VALUES (%d, 'a', 1)" % (i + 2))
    stream.bridge.start()
    stream.wait_refused("SOURCE-BEHIND-POSITION")
    assert stream.dst.query("SELECT id FROM t") == [(1,)]


# -- what stops it ---------------------------------------------------------------

def test_a_value_without_a_form_here(my_db, follow):
    stream = follow(my_db, "CREATE TABLE z (id INT PRIMARY KEY, d DATE)")
    my_db.execute("SET sql_mode = ''; INSERT INTO z VALUES (1, '2020-02-02');"
                  " INSERT INTO z VALUES (77, '0000-00-00')")
    row = stream.wait_refused("VALUE-UNREPRESENTABLE")
    assert "id=77" in row["reason"] and "binlog." in row["reason"]
    assert stream.dst.query("SELECT id FROM z") == [(1,)]


def test_rows_that_were_logged_as_a_statement(my_db, other, follow):
    stream = follow(my_db, T)
    statement = "SET SESSION binlog_format = 'STATEMENT'; INSERT INTO %s"
    other.execute(statement % "o VALUES (1)")
    my_db.execute("INSERT INTO t VALUES (1, 'a', 1)")
    assert_followed(stream, "t")
    my_db.execute(statement % "t VALUES (2, 'a', 1)")
    row = stream.wait_refused("PROTOCOL-VIOLATION")
    assert "INSERT" in row["reason"] and "binlog_format" in row["hint"]
    assert stream.dst.query("SELECT id FROM t") == [(1,)]


@pytest.mark.parametrize("image", ["MINIMAL", "NOBLOB"])
def test_rows_without_all_columns(my_db, follow, image):
    stream = follow(my_db, "CREATE TABLE t (id INT PRIMARY KEY, v TEXT, n INT)")
    my_db.execute("INSERT INTO t VALUES (1, 'a', 1)")
    my_db.execute("SET SESSION binlog_row_image = '%s'; UPDATE t SET n = 2" % image)
    row = stream.wait_refused("SOURCE-REPLICA-IDENTITY")
    assert "binlog_row_image" in row["hint"]
    assert stream.dst.query("SELECT * FROM t") == [(1, "a", 1)]


def test_statements_that_change_tables(my_db, follow):
    stream = follow(my_db, T)
    my_db.execute("CREATE TABLE zz (id INT PRIMARY KEY); CREATE INDEX i ON t (n);"
                  " CREATE VIEW vv AS SELECT * FROM t; DROP VIEW vv; DROP TABLE zz")
    my_db.execute("INSERT INTO t VALUES (4, 'b', 2)")
    assert_followed(stream, "t")
    my_db.execute("ALTER TABLE t ADD COLUMN x INT; INSERT INTO t VALUES (5, 'b', 2, 9)")
    assert_followed(stream, "t")
    my_db.execute("DROP TABLE t")
    stream.wait_refused("TABLE-IDENTITY-CHANGED")


# -- XA ----------------------------------------------------------------------------

@pytest.fixture
def xa_db(my_db):
    """A database in which nothing stays prepared, or it could not be dropped."""
    yield my_db
    for name in prepared(my_db):
        my_db.execute("XA ROLLBACK '%s'" % name)


def test_xa_transactions(other, xa_db, follow):
    """Rows are here when XA COMMIT was logged, wherever in the log they were prepared."""
    xa_db.execute(T + "; INSERT INTO t VALUES (0, 'was', 0), (10, 'was', 0), (20, 'was', 0), (30, 'was', 0)")
    prepare(xa_db, "before", "INSERT INTO t VALUES (1, 'a', 1)")     # before the stream
    stream = follow(xa_db, "CREATE TABLE l (id INT PRIMARY KEY, v LONGTEXT)")

    def ids(table="t"):
        return [r[0] for r in rows(stream.dst, table, "1")]

    assert ids() == [0, 10, 20, 30]
    prepare(other, "other", "INSERT INTO o VALUES (1)")
    xa_db.execute("XA START 'one'; INSERT INTO t VALUES (2, 'a', 1); XA END 'one'; XA COMMIT 'one' ONE PHASE")
    prepare(xa_db, "kept", "INSERT INTO t VALUES (13, 'a', 1)", "UPDATE t SET n = 9 WHERE id = 2", "SAVEPOINT s",
            "INSERT INTO t VALUES (14, 'a', 1)", "ROLLBACK TO s", "INSERT INTO t VALUES (15, 'a', 1)")
    prepare(xa_db, "back", "INSERT INTO t VALUES (26, 'a', 1)")
    prepare(xa_db, "large", "INSERT INTO l VALUES (1, REPEAT('x', 5000000)), (2, 'y')", "INSERT INTO l VALUES (3, 'z')")
    xa_db.execute("INSERT INTO t VALUES (37, 'b', 2)")
    stream.caught_up()
    assert ids() == [0, 2, 10, 20, 30, 37]
    finish(xa_db, "kept")
    finish(xa_db, "back", "ROLLBACK")
    finish(xa_db, "large")
    finish(other, "other")
    finish(xa_db, "before")
    assert_followed(stream, "t", "l")
    assert ids() == [0, 1, 2, 10, 13, 15, 20, 30, 37]
    # names are used again, logs end, and the bridge is away in between
    prepare(xa_db, "kept", "DELETE FROM t WHERE id < 3")
    prepare(xa_db, "large", "INSERT INTO l VALUES (4, REPEAT('x', 5000000)), (5, 'y')")
    prepare(other, "other", "INSERT INTO o VALUES (2)")
    stream.caught_up()
    leave(stream)
    xa_db.server.flush_logs()
    xa_db.execute("INSERT INTO t VALUES (38, 'b', 2)")
    finish(xa_db, "kept")
    xa_db.server.flush_logs()
    stream.bridge.start()
    assert_followed(stream, "t", "l")
    finish(other, "other")
    finish(xa_db, "large")
    assert_followed(stream, "t", "l")
    assert ids() == [10, 13, 15, 20, 30, 37, 38] and ids("l") == [1, 2, 3, 4, 5]


def test_an_xa_transaction_that_ends_while_its_table_is_copied(xa_db, dst, make_bridge):
    """No snapshot says whether it has it."""
    xa_db.execute(T + "; CREATE TABLE big (id INT PRIMARY KEY, v VARCHAR(200)); CREATE TABLE d (i INT PRIMARY KEY);"
                  "INSERT INTO d VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9);"
                  "INSERT INTO big SELECT a.i + 10 * b.i + 100 * c.i, REPEAT('x', 100) FROM d a, d b, d c")
    stream = make_bridged_stream(xa_db, dst, options={"copy_bytes_per_second": 20000, "copy_workers": 1})
    make_bridge(dst)
    wait_until(lambda: dst.value("SELECT count(*) FROM sluice.progress WHERE phase = 'copying' AND rows_done > 0"),
               60, "the copy")
    prepare(xa_db, "x", "INSERT INTO t VALUES (1, 'a', 1)")
    finish(xa_db, "x")
    row = stream.wait_refused("PROTOCOL-VIOLATION")
    assert "XA transaction" in row["reason"] and "while they were copied" in row["reason"]
