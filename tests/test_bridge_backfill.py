"""Values that a change of the schema owes to rows: read from a MySQL or MariaDB source by key."""
import pytest

from lib import make_bridged_stream, wait_until

T = "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(40), n BIGINT)"


@pytest.fixture
def follow(dst, make_bridge):
    """follow(src, ddl, ...): a stream of new tables, copied and caught up; .bridge feeds it."""
    def begin(src, *ddl, **args):
        for statement in ddl:
            src.execute(statement)
        stream = make_bridged_stream(src, dst, **args)
        stream.bridge = make_bridge(dst)
        stream.wait("streaming")
        stream.caught_up()
        return stream
    return begin


def fill(src, n):
    """Rows 1 to n of t."""
    src.execute("INSERT INTO t (id, v, n) VALUES (1, 'v1', 7)")
    have = 1
    while have < n:
        src.execute("INSERT INTO t (id, v, n) SELECT id + %d, CONCAT('v', id + %d), (id + %d) * 7 FROM t WHERE id <= %d"
                    % (have, have, have, n - have))
        have = min(2 * have, n)


def owe(stream, table, *columns):
    """A debt of these columns, as a change leaves it."""
    stream.dst.execute(
        "WITH d AS (INSERT INTO sluice.debt (stream_id, schema_name, table_name, source_id, target_relid, lsn)"
        " SELECT '%(id)s', t.schema_name, t.table_name, coalesce(t.source_id, 0), t.target_relid, '0/1'"
        " FROM sluice.stream_table t WHERE t.stream_id = '%(id)s' AND t.table_name = '%(table)s' RETURNING id, target_relid)"
        " INSERT INTO sluice.debt_column (debt_id, n, is_key, column_name, source_attnum, source_typid, source_typmod, target_attnum)"
        " SELECT d.id, a.attnum, i.indrelid IS NOT NULL, a.attname, 0, a.atttypid, a.atttypmod, a.attnum FROM d"
        " JOIN pg_attribute a ON a.attrelid = d.target_relid AND a.attnum > 0"
        " LEFT JOIN pg_index i ON i.indrelid = d.target_relid AND i.indisprimary AND a.attnum = ANY (i.indkey)"
        " WHERE i.indrelid IS NOT NULL OR a.attname = ANY ('{%(columns)s}')"
        % {"id": stream.id, "table": table, "columns": ",".join(columns)})


def paid(stream):
    wait_until(lambda: stream.dst.value("SELECT count(*) FROM sluice.debt") == 0, 20,
               lambda: "debts are left: %s\n%s" % (stream.dst.rows("SELECT * FROM sluice.debt"), stream.health()))


def assert_same(stream, table, order="1"):
    mine, theirs = [[tuple(r) for r in db.query("SELECT * FROM %s ORDER BY %s" % (table, order))]
                    for db in (stream.dst, stream.src)]
    assert mine == theirs


def test_values_are_copied(my_db, follow):
    stream = follow(my_db, T)
    fill(my_db, 30000)
    stream.caught_up()
    stream.dst.execute("UPDATE t SET v = NULL, n = -1 WHERE id % 3 = 0")
    owe(stream, "t", "v", "n")
    paid(stream)
    assert_same(stream, "t")
    my_db.execute("UPDATE t SET v = 'later' WHERE id = 3")
    stream.caught_up()
    assert_same(stream, "t")
