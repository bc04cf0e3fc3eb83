"""What a hostile DBA found: each was wrong once, or never ended."""
import psycopg2
import pytest

from lib import assert_same_rows, both, make_stream

pytestmark = pytest.mark.quick


def test_table_without_columns(pair):
    src, dst = pair
    both(*pair, "CREATE TABLE e (); ALTER TABLE e REPLICA IDENTITY FULL;"
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
    both(*pair, "CREATE TABLE t (id int PRIMARY KEY)")
    stream = make_stream(src, dst)
    dst.execute("CREATE DOMAIN d AS int CHECK (VALUE IS NOT NULL);"
                "ALTER TABLE t ADD v d")
    src.execute("INSERT INTO t VALUES (1)")
    stream.wait_refused("TARGET-CONSTRAINT-VIOLATED")
    dst.execute("ALTER TABLE t ALTER v SET DEFAULT 7")
    stream.start()
    stream.caught_up()
    assert dst.query("SELECT * FROM t") == [(1, 7)]


PARTS = """
CREATE TABLE p (id int PRIMARY KEY, v text) PARTITION BY RANGE (id);
CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10);
CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (10) TO (20) PARTITION BY RANGE (id);
CREATE TABLE p2a PARTITION OF p2 FOR VALUES FROM (10) TO (20);
"""


@pytest.mark.parametrize("unsent, same", [
    ("TRUNCATE p1", "TRUNCATE p1"),
    ("TRUNCATE p2", "TRUNCATE p2"),
    ("DROP TABLE p1", "DROP TABLE p1"),
    ("ALTER TABLE p2 DETACH PARTITION p2a", "DROP TABLE p2a"),
    ("CREATE TABLE n (LIKE p INCLUDING ALL); INSERT INTO n VALUES (20, 'n')\\;"
     "ALTER TABLE p ATTACH PARTITION n FOR VALUES FROM (20) TO (30)",
     "CREATE TABLE n PARTITION OF p FOR VALUES FROM (20) TO (30); INSERT INTO n VALUES (20, 'n')"),
], ids=["truncate", "truncate-level", "drop", "detach", "attach"])
def test_partition_changes_that_are_not_sent(pair, unsent, same):
    src, dst = pair
    both(*pair, PARTS)
    src.execute("INSERT INTO p SELECT i, 'x' FROM generate_series(1, 19) AS i")
    stream = make_stream(src, dst, include_tables=["p"])
    stream.stop()
    for part in unsent.split("\\;"):
        src.execute(part)
    stream.start()
    row = stream.wait_refused("PARTITION-CHANGE-UNSENT")
    assert "[partition-" in row["reason"]
    dst.execute(same)
    stream.start()
    src.execute("CREATE TABLE p9 PARTITION OF p FOR VALUES FROM (90) TO (99)")
    dst.execute("CREATE TABLE p9 PARTITION OF p FOR VALUES FROM (90) TO (99)")
    src.execute("INSERT INTO p VALUES (90, 'after')")
    stream.caught_up()
    assert_same_rows(src, dst, ["p"])


def test_partition_changes_that_do_not_refuse(pair):
    src, dst = pair
    both(*pair, PARTS)
    src.execute("INSERT INTO p SELECT i, 'x' FROM generate_series(1, 19) AS i")
    stream = make_stream(src, dst, include_tables=["p"])
    stream.stop()
    src.execute("ALTER TABLE p1 RENAME TO p1_renamed")
    src.execute("VACUUM FULL p1_renamed")
    stream.start()
    stream.caught_up()
    stream.stop()
    assert [r["decision"] for r in dst.rows("SELECT * FROM sluice.schema_events")] == ["warned"]
    src.execute("TRUNCATE p; INSERT INTO p VALUES (1, 'y')")
    both(*pair, "CREATE TABLE p9 PARTITION OF p FOR VALUES FROM (90) TO (99)")
    src.execute("INSERT INTO p VALUES (90, 'z')")
    stream.start()
    stream.caught_up()
    assert_same_rows(src, dst, ["p"])
    stream.stop()
    stream.start()
    stream.caught_up()
    assert stream.state == "streaming"


def test_rewritten_with_the_same_types(pair):
    src, dst = pair
    both(*pair, "CREATE TABLE t (id int PRIMARY KEY, v int); INSERT INTO t VALUES (1, 1)")
    stream = make_stream(src, dst, schema_changes="refuse",
                         options={"existing_rows": "truncate"})
    stream.stop()
    src.execute("ALTER TABLE t ALTER v SET STATISTICS 10")
    src.execute("TRUNCATE t; INSERT INTO t VALUES (2, 2)")
    stream.start()
    stream.caught_up()
    assert_same_rows(src, dst, ["t"])
    stream.stop()
    stream.start()
    stream.caught_up()
    stream.stop()
    src.execute("ALTER TABLE t ALTER v TYPE int USING v + 1")
    stream.start()
    row = stream.wait_refused("SCHEMA-CHANGE-REFUSED")
    assert "[table-rewritten]" in row["reason"]
    dst.execute("UPDATE t SET v = v + 1")
    stream.start()
    src.execute("INSERT INTO t VALUES (3, 3)")
    stream.caught_up()
    assert_same_rows(src, dst, ["t"])


def test_type_of_a_partitioned_table_changed_on_both_sides(pair):
    src, dst = pair
    both(*pair, PARTS + "ALTER TABLE p ADD n int")
    src.execute("INSERT INTO p VALUES (1, 'x', 1)")
    stream = make_stream(src, dst, include_tables=["p"])
    both(*pair, "ALTER TABLE p ALTER n TYPE bigint")
    src.execute("INSERT INTO p VALUES (2, 'x', 5000000000)")
    stream.caught_up()
    stream.stop()
    stream.start()
    stream.caught_up()
    assert_same_rows(src, dst, ["p"])


def test_two_tables_that_land_in_one(pair):
    src, dst = pair
    src.execute("CREATE SCHEMA x; CREATE SCHEMA y;"
                "CREATE TABLE x.t (id int PRIMARY KEY); CREATE TABLE y.t (id int PRIMARY KEY)")
    dst.execute("CREATE SCHEMA q; CREATE TABLE q.t (id int PRIMARY KEY)")
    with pytest.raises(psycopg2.Error) as e:
        make_stream(src, dst, target_schema="q")
    assert "same_target" in str(e.value)
    assert dst.query("SELECT * FROM sluice.health") == []


def test_code_of_a_table_owner_runs_as_that_owner(pair):
    """Index expressions are run by planning, partition keys by verify."""
    src, dst = pair
    role = "app_%s" % dst.name
    dst.execute("CREATE ROLE {0} LOGIN; GRANT ALL ON SCHEMA public TO {0};"
                "CREATE TABLE ran_as (who name); GRANT INSERT ON ran_as TO PUBLIC"
                .format(role))
    src.execute("CREATE TABLE t (id int PRIMARY KEY);"
                "CREATE TABLE p (id int PRIMARY KEY); ALTER TABLE p REPLICA IDENTITY FULL;"
                "INSERT INTO p VALUES (1)")
    conn = dst.connect()
    try:
        with conn.cursor() as cur:
            cur.execute("SET ROLE %s" % role)
            cur.execute("""
                CREATE FUNCTION log_it() RETURNS int LANGUAGE plpgsql AS
                    $$BEGIN INSERT INTO public.ran_as VALUES (current_user); RETURN 1; END$$;
                CREATE FUNCTION f(i int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS
                    $$BEGIN RETURN i * public.log_it(); END$$;
                CREATE TABLE t (id int PRIMARY KEY);
                CREATE INDEX ON t ((public.f(1) + id));
                CREATE TABLE p (id int NOT NULL) PARTITION BY LIST (public.f(id));
                CREATE TABLE p1 PARTITION OF p FOR VALUES IN (1);
                CREATE TABLE p2 PARTITION OF p FOR VALUES IN (2);
            """)
    finally:
        conn.close()
    stream = make_stream(src, dst)
    src.execute("INSERT INTO t VALUES (1); UPDATE p SET id = 2; TRUNCATE t")
    stream.caught_up()
    assert {r["status"] for r in stream.verify()} == {"equal"}
    stream.stop()
    assert dst.query("SELECT DISTINCT who::text FROM ran_as") == [(role,)]
