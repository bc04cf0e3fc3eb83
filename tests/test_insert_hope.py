"""A long run of inserts stops looking for rows of their keys, and recovers."""
from lib import assert_same_rows, make_stream


def test_row_in_the_way_of_a_long_run_of_inserts(pair):
    src, dst = pair
    for db in pair:
        db.execute("CREATE TABLE t (id int PRIMARY KEY, x text)")
    stream = make_stream(src, dst, "s1")
    dst.execute("INSERT INTO t VALUES (5000, 'stood here')")
    src.execute("INSERT INTO t SELECT i, 'new' FROM generate_series(1, 10000) AS i")
    src.execute("INSERT INTO t SELECT i, 'later' FROM generate_series(10001, 10100) AS i")
    stream.caught_up()
    assert_same_rows(src, dst, ["t"])
    (conflict,) = stream.conflicts()
    assert (conflict["kind"], conflict["count"]) == ("insert_exists", 1)
    assert not stream.refusals()


def test_other_key_in_the_way_is_refused_by_name(pair):
    src, dst = pair
    for db in pair:
        db.execute("CREATE TABLE t (id int PRIMARY KEY, u int)")
    dst.execute("CREATE UNIQUE INDEX t_u ON t (u)")
    stream = make_stream(src, dst, "s1")
    stream.caught_up()
    dst.execute("INSERT INTO t VALUES (-1, 5000)")
    src.execute("INSERT INTO t SELECT i, i FROM generate_series(1, 10000) AS i")
    row = stream.wait_refused("UNIQUE-KEY-CONFLICT-OTHER-ROW")
    assert "t_u" in row["reason"]
    assert dst.value("SELECT count(*) FROM t") == 1
    dst.execute("DELETE FROM t")
    stream.start(source=False)
    stream.caught_up()
    assert_same_rows(src, dst, ["t"])
