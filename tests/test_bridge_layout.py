"""Schema changes of a MySQL or MariaDB source: each is replayed where it stands in the log, however far
behind the stream is and whatever the log says of its rows."""
import pytest

from lib import wait_until
from lib.followed import assert_followed, follow, leave    # noqa: F401
from lib.mycases import set_global

T = "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20), n INT)"


def by_name(db, table="t"):
    """Rows as maps of names: the order of columns may differ."""
    return [dict(row) for row in db.rows("SELECT * FROM %s ORDER BY id" % table)]


def assert_alike(stream, table="t"):
    stream.caught_up()
    assert by_name(stream.src, table) == by_name(stream.dst, table)
    assert not stream.conflicts()


def relids(stream):
    return dict(stream.dst.query("SELECT table_name, relid FROM sluice.source_layout WHERE stream_id = 's1'"))


@pytest.fixture(params=["mariadb11-NO_LOG", "mysql9-MINIMAL", "mysql9-FULL"])
def src(request):
    """A database whose log says of its rows what the parameter says."""
    server, metadata = request.param.split("-")
    my = request.getfixturevalue(server)
    back = set_global(my, "binlog_row_metadata", "'%s'" % metadata)
    db = my.fresh_db("shop")
    yield db
    db.destroy()
    back()


def test_statements_behind_the_head(src, follow):
    """Several between the stream and the head, rows of each shape among them, and the bridge comes back in between."""
    stream = follow(src, T + "; INSERT INTO t VALUES (1, 'a', 1)")
    leave(stream)
    src.execute("INSERT INTO t VALUES (2, 'b', 2);"
                " ALTER TABLE t ADD COLUMN x INT DEFAULT 7; INSERT INTO t VALUES (3, 'c', 3, 30);"
                " ALTER TABLE t RENAME COLUMN x TO y; UPDATE t SET y = 31 WHERE id = 3;"
                " ALTER TABLE t ADD COLUMN z VARCHAR(10) AFTER id; ALTER TABLE t DROP COLUMN n; INSERT INTO t VALUES (4, 'z', 'd', 40)")
    stream.bridge.start()
    assert_alike(stream)
    leave(stream)
    # types alone would not tell
    src.execute("INSERT INTO t VALUES (5, 'p', 'q', 50); ALTER TABLE t RENAME COLUMN z TO tmp; INSERT INTO t VALUES (6, 'p', 'q', 60);"
                " ALTER TABLE t RENAME COLUMN v TO z; INSERT INTO t VALUES (7, 'p', 'q', 70);"
                " ALTER TABLE t RENAME COLUMN tmp TO v; UPDATE t SET y = 71 WHERE id = 7")
    stream.bridge.start()
    assert_alike(stream)
    src.execute("ALTER TABLE t MODIFY v VARCHAR(10) FIRST; INSERT INTO t VALUES ('w', 8, 'u', 80); CREATE INDEX i ON t (y)")
    assert_alike(stream)


def test_a_name_that_holds_another_column(src, follow):
    stream = follow(src, T)
    leave(stream)
    src.execute("INSERT INTO t VALUES (1, 'a', 1); ALTER TABLE t DROP COLUMN n, ADD COLUMN n INT; INSERT INTO t VALUES (2, 'b', 2)")
    stream.bridge.start()
    stream.wait_refused("COLUMN-IDENTITY-CHANGED")
    assert stream.dst.query("SELECT * FROM t") == [(1, "a", 1)]


def test_tables_that_get_other_names(src, follow):
    stream = follow(src, T, "CREATE TABLE u (id INT PRIMARY KEY)")
    was = relids(stream)
    src.execute("INSERT INTO t VALUES (1, 'a', 1); RENAME TABLE t TO t2; INSERT INTO t2 VALUES (2, 'b', 2)")
    assert_alike(stream, "t2")
    assert relids(stream)["t2"] == was["t"]
    src.execute("CREATE TABLE n LIKE t2; INSERT INTO n SELECT * FROM t2; DELETE FROM n WHERE id = 1; INSERT INTO t2 VALUES (3, 'c', 3)")
    assert_alike(stream, "t2")
    wait_until(lambda: stream.dst.query("SELECT name FROM sluice.source_warnings WHERE stream_id = 's1'"
                                        " AND message LIKE '%%.n\"%%'"), 30, "the warning")
    src.execute("RENAME TABLE t2 TO old, n TO t2; INSERT INTO t2 VALUES (4, 'd', 4)")
    stream.wait_refused("TABLE-IDENTITY-CHANGED")
    assert stream.dst.query("SELECT id FROM t2 ORDER BY id") == [(1,), (2,), (3,)]


def test_a_table_that_leaves_the_database(mariadb11, dst, follow):
    src = mariadb11.fresh_db("leaves")
    stream = follow(src, T)
    src.execute("CREATE DATABASE away; RENAME TABLE t TO away.t; DROP DATABASE away")
    stream.wait_refused("TABLE-IDENTITY-CHANGED")


@pytest.fixture
def full(my_db):
    return my_db


def test_rows_that_go_without_events(full, follow):
    stream = follow(full, T, "CREATE TABLE p (id INT PRIMARY KEY, v INT) PARTITION BY HASH (id) PARTITIONS 2")
    setting = "SET STATEMENT max_statement_time = 100 FOR " if full.server.is_mariadb else ""
    full.execute("INSERT INTO t VALUES (1, 'a', 1); " + setting + "/* x */ TRUNCATE t; INSERT INTO t VALUES (2, 'b', 2)")
    assert_followed(stream, "t")
    full.execute("INSERT INTO t VALUES (3, 'a', 1); /*!50000 TRUNCATE TABLE t */; INSERT INTO t VALUES (4, 'b', 2)")
    assert_followed(stream, "t")
    full.execute("INSERT INTO p VALUES (1, 1), (2, 2); ALTER TABLE p TRUNCATE PARTITION p0")
    stream.wait_refused("SCHEMA-CHANGE-REFUSED")
    assert "p0" in stream.refusals()[-1]["detail"]
    assert stream.dst.value("SELECT count(*) FROM p") == 2


def test_statements_that_are_not_in_the_log(full, follow):
    """Found by the catalog where the table is quiet, by the first row where it is not."""
    stream = follow(full, T, "CREATE TABLE u (id INT PRIMARY KEY, v VARCHAR(10))")
    full.execute("SET SESSION sql_log_bin = 0; ALTER TABLE t ADD COLUMN x INT; SET SESSION sql_log_bin = 1;"
                 " CREATE INDEX i ON t (n)")
    row = stream.wait_refused("SLUICE-E-CDC-SCHEMA-REPLAY-MISMATCH")
    assert "4 columns" in row["reason"]


def test_rows_of_another_shape(full, follow):
    stream = follow(full, T)
    full.execute("INSERT INTO t VALUES (1, 'a', 1)")
    stream.caught_up()
    full.execute("SET SESSION sql_log_bin = 0; ALTER TABLE t MODIFY v VARCHAR(20) COLLATE utf8mb4_bin;"
                 " SET SESSION sql_log_bin = 1; INSERT INTO t VALUES (2, 'b', 2)")
    stream.wait_refused("DEFERRED-SCHEMA-CHANGE")
    assert "COLLATION-CHANGE-UNANNOUNCED" in stream.refusals()[-1]["detail"]
    assert stream.dst.query("SELECT id FROM t") == [(1,)]


def test_alter_in_two_phases(mariadb11, dst, follow):
    """It takes effect where it is committed."""
    src = mariadb11.fresh_db("two")
    stream = follow(src, T)
    leave(stream)
    src.execute("SET SESSION binlog_alter_two_phase = 1; INSERT INTO t VALUES (1, 'a', 1); ALTER TABLE t ADD COLUMN x INT DEFAULT 5;"
                " INSERT INTO t VALUES (2, 'b', 2, 3); ALTER TABLE t DROP COLUMN n")
    stream.bridge.start()
    assert_alike(stream)


def test_a_statement_that_is_not_understood(mariadb11, dst, follow):
    """The catalog is asked where it moves no name."""
    src = mariadb11.fresh_db("unread")
    stream = follow(src, T)
    odd = "SET STATEMENT sql_mode = '' FOR ALTER TABLE t "
    src.execute(odd + "ADD COLUMN x INT COMMENT 'a\\\\b'; INSERT INTO t VALUES (1, 'a', 1, 2)")
    assert_alike(stream)
    wait_until(lambda: stream.dst.query("SELECT name FROM sluice.source_warnings WHERE stream_id = 's1'") ==
               [("statement_unread",)], 30, "the warning")
    src.execute(odd + "CHANGE x y INT COMMENT 'a\\\\b'")
    stream.wait_refused("COLUMN-IDENTITY-UNREAD")
