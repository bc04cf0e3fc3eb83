"""What a hostile DBA found: each was wrong once, or never ended."""
import pytest

from lib import assert_same_rows, make_stream

pytestmark = pytest.mark.quick


def both(pair, sql):
    for db in pair:
        db.execute(sql)


def test_table_without_columns(pair):
    src, dst = pair
    both(pair, "CREATE TABLE e (); ALTER TABLE e REPLICA IDENTITY FULL;"
               "CREATE TABLE g (a int GENERATED ALWAYS AS (1) STORED);"
               "ALTER TABLE g REPLICA IDENTITY FULL")
    src.execute("INSERT INTO e DEFAULT VALUES; INSERT INTO g DEFAULT VALUES")
    stream = make_stream(src, dst)
    src.execute("INSERT INTO e DEFAULT VALUES; INSERT INTO e DEFAULT VALUES;"
                "DELETE FROM e WHERE ctid = '(0,1)'; INSERT INTO g DEFAULT VALUES")
    stream.caught_up()
    assert_same_rows(src, dst, ["e", "g"])
    assert {r["status"] for r in stream.verify()} == {"equal"}


def test_null_in_a_domain_that_refuses_it(pair):
    src, dst = pair
    src.execute("CREATE TABLE t (id int PRIMARY KEY, v int)")
    dst.execute("CREATE DOMAIN d AS int NOT NULL;"
                "CREATE TABLE t (id int PRIMARY KEY, v d)")
    src.execute("INSERT INTO t VALUES (1, 1)")
    stream = make_stream(src, dst)
    src.execute("UPDATE t SET v = NULL")
    stream.wait_refused("TARGET-CONSTRAINT-VIOLATED")
    dst.execute("ALTER DOMAIN d DROP NOT NULL")
    stream.start()
    stream.caught_up()
    assert_same_rows(src, dst, ["t"])


def test_domain_of_a_target_column_that_is_not_sent(pair):
    src, dst = pair
    both(pair, "CREATE TABLE t (id int PRIMARY KEY)")
    stream = make_stream(src, dst)
    dst.execute("CREATE DOMAIN d AS int CHECK (VALUE IS NOT NULL);"
                "ALTER TABLE t ADD v d")
    src.execute("INSERT INTO t VALUES (1)")
    stream.wait_refused("TARGET-CONSTRAINT-VIOLATED")
    dst.execute("ALTER TABLE t ALTER v SET DEFAULT 7")
    stream.start()
    stream.caught_up()
    assert dst.query("SELECT * FROM t") == [(1, 7)]
