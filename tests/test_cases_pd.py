"""Schema changes that have broken tools of this kind, one test each.

Cases that other files test: volatile and stable defaults (test_defaults.py), a
crash between the change and its position and changes amid rows of one transaction
(test_forward.py), what the stream does not carry (test_door.py).
"""
import pytest

from lib import assert_same_rows, make_stream


def forward(src, dst, *ddl, **args):
    for statement in ddl:
        src.execute(statement)
    return make_stream(src, dst, schema_changes="forward", **args)


def same(stream, *tables):
    stream.caught_up()
    assert_same_rows(stream.src, stream.dst, list(tables))


def test_a_stop_is_told_once_and_in_a_view(pair):
    """PD-04: a column that the target cannot take stops the stream once, on record."""
    src, dst = pair
    stream = forward(src, dst, "CREATE TABLE sl1 (id int PRIMARY KEY, a int)")
    dst.execute("CREATE VIEW v AS SELECT a FROM sl1")
    src.execute("ALTER TABLE sl1 DROP COLUMN a; INSERT INTO sl1 VALUES (80)")
    row = stream.wait_refused("SCHEMA-CHANGE-REFUSED")
    (refusal,) = stream.refusals()
    assert (refusal["table_name"], refusal["fingerprint"]) == ("sl1", row["fingerprint"])
    assert refusal["position"] is not None and refusal["count"] == 1
    assert "view public.v" in refusal["refusal_text"] + row["reason"], row
    assert row["restarts"] <= 1, row
    assert dst.value("SELECT count(*) FROM sluice.remedies(%s)", stream.id) >= 1
    dst.execute("DROP VIEW v")
    stream.start()
    same(stream, "sl1")


def test_temporary_table_of_the_same_name(pair):
    """PD-07: DDL of a temporary table touches nothing."""
    src, dst = pair
    stream = forward(src, dst, "CREATE TABLE sl1 (id int PRIMARY KEY, a int)", "INSERT INTO sl1 VALUES (1, 1)")
    src.execute("CREATE TEMP TABLE sl1 (id int); INSERT INTO pg_temp.sl1 VALUES (9);"
                " ALTER TABLE pg_temp.sl1 ADD COLUMN z int; DROP TABLE pg_temp.sl1;"
                " INSERT INTO public.sl1 VALUES (2, 2)")
    same(stream, "sl1")
    assert dst.query("SELECT * FROM sl1 ORDER BY id") == [(1, 1), (2, 2)]


def test_dropped_and_added_again(pair):
    """PD-10: one name, another column; then a rename that is one."""
    src, dst = pair
    stream = forward(src, dst, "CREATE TABLE da1 (id int PRIMARY KEY, a int)", "INSERT INTO da1 VALUES (1, 10)")
    src.execute("ALTER TABLE da1 DROP COLUMN a")
    src.execute("ALTER TABLE da1 ADD COLUMN a int")
    src.execute("INSERT INTO da1 VALUES (2, 20)")
    row = stream.wait_refused("COLUMN-IDENTITY-CHANGED")
    assert dst.query("SELECT * FROM da1") == [(1, 10)], row
    dst.execute("ALTER TABLE da1 DROP COLUMN a, ADD COLUMN a int")
    stream.start()
    same(stream, "da1")
    src.execute("ALTER TABLE da1 RENAME a TO b")
    src.execute("INSERT INTO da1 VALUES (3, 30)")
    same(stream, "da1")
    assert dst.query("SELECT id, b FROM da1 ORDER BY id") == [(1, None), (2, 20), (3, 30)]


@pytest.mark.parametrize("apart", [True, False])
def test_dropped_and_added_with_rows_between(pair, apart):
    """PD-10: with a row between the two they are two changes, and both cross."""
    src, dst = pair
    stream = forward(src, dst, "CREATE TABLE da1 (id int PRIMARY KEY, a int)", "INSERT INTO da1 VALUES (1, 10)")
    steps = ["ALTER TABLE da1 DROP COLUMN a", "INSERT INTO da1 VALUES (2)",
             "ALTER TABLE da1 ADD COLUMN a int", "INSERT INTO da1 VALUES (3, 30)"]
    if apart:
        for s in steps:
            src.execute(s)
            stream.caught_up()
    else:
        src.execute("BEGIN; %s; COMMIT" % "; ".join(steps))
    if not apart:
        # the catalog shows the end only; what it cannot prove is refused, not guessed
        row = stream.wait_state("refused", "streaming")
        if row["state"] == "refused":
            assert dst.query("SELECT * FROM da1") == [(1, 10)]
            return
    same(stream, "da1")


@pytest.mark.parametrize("stopped", [False, True])
def test_two_names_swapped(pair, stopped):
    """PD-11: each step is a rename, the end looks like nothing."""
    src, dst = pair
    stream = forward(src, dst, "CREATE TABLE sw2 (id int PRIMARY KEY, a int, b int)",
                     "INSERT INTO sw2 VALUES (1, 10, 20)")
    swap = ["ALTER TABLE sw2 RENAME a TO t", "ALTER TABLE sw2 RENAME b TO a", "ALTER TABLE sw2 RENAME t TO b"]
    if stopped:
        stream.stop()
    src.execute("BEGIN; %s; COMMIT" % "; ".join(swap))
    src.execute("INSERT INTO sw2 (id, a, b) VALUES (2, 200, 100)")
    if stopped:
        stream.start()
    stream.wait_refused("COLUMN-ORDER-CHANGED")
    assert dst.query("SELECT id, a, b FROM sw2") == [(1, 10, 20)]
    for s in swap:
        dst.execute(s)
    stream.start()
    same(stream, "sw2")
    assert dst.query("SELECT id, a, b FROM sw2 ORDER BY id") == [(1, 20, 10), (2, 200, 100)]


def test_create_table_as(pair):
    """PD-16, PD-19: a new table's query is run nowhere; its being new is told."""
    src, dst = pair
    stream = forward(src, dst, "CREATE TABLE sl1 (id int PRIMARY KEY)", "INSERT INTO sl1 VALUES (1)")
    src.execute("CREATE TABLE ct AS SELECT id, random() r FROM sl1")
    src.execute("INSERT INTO sl1 VALUES (2)")
    same(stream, "sl1")
    assert dst.value("SELECT to_regclass('ct') IS NULL")


def test_zone(pair):
    """PD-17: a cast under a session's time zone is never made here."""
    src, dst = pair
    stream = forward(src, dst, "CREATE TABLE tzc (id int PRIMARY KEY, t timestamp)",
                     "INSERT INTO tzc VALUES (1, '2024-03-31 02:30')")
    src.execute("SET timezone = 'Europe/Berlin'; ALTER TABLE tzc ALTER t TYPE timestamptz;"
                " INSERT INTO tzc VALUES (2, '2024-07-01 12:00Z')")
    row = stream.wait_refused("SCHEMA-CHANGE-REFUSED")
    assert "timestamp" in row["reason"]
    assert dst.query("SELECT t::text FROM tzc") == [("2024-03-31 02:30:00",)]


def test_first_statement_after_the_copy(pair):
    """PD-20: the shape under the snapshot is the first one on record."""
    src, dst = pair
    stream = forward(src, dst, "CREATE TABLE sl1 (id int PRIMARY KEY)", "INSERT INTO sl1 VALUES (1)")
    src.execute("ALTER TABLE sl1 ADD COLUMN first int DEFAULT 4; INSERT INTO sl1 VALUES (2, 5)")
    same(stream, "sl1")
    assert dst.query("SELECT * FROM sl1 ORDER BY id") == [(1, 4), (2, 5)]


def test_extension_comes_and_goes(pair):
    """PD-22: an extension that no column depends on is none of the stream's."""
    src, dst = pair
    stream = forward(src, dst, "CREATE TABLE sl1 (id int PRIMARY KEY)")
    src.execute("CREATE EXTENSION hstore; INSERT INTO sl1 VALUES (1)")
    same(stream, "sl1")
    src.execute("ALTER TABLE sl1 ADD COLUMN h hstore; INSERT INTO sl1 VALUES (2, 'a=>1')")
    row = stream.wait_refused("SCHEMA-CHANGE-REFUSED")
    assert "hstore" in row["reason"], row
    dst.execute("CREATE EXTENSION hstore")
    stream.start()
    same(stream, "sl1")
    src.execute("ALTER TABLE sl1 DROP COLUMN h; INSERT INTO sl1 VALUES (3)")
    same(stream, "sl1")
    src.execute("DROP EXTENSION hstore; INSERT INTO sl1 VALUES (4)")
    same(stream, "sl1")
