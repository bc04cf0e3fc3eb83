"""The drained runbook, and what a start finds of changes made while stopped."""
import pytest

from lib import assert_same_rows, caught_up_same, make_stream, wait_until
from lib.pairs import database_pair, server_pair
from lib.rounds import FAST, arm, check_equal, died_at

servers = server_pair("runbook", FAST)
dbs = database_pair("runbook")

MODES = ["forward", "refuse"]

# table: (columns, the change, a row of the shape before, one of that after)
CHANGES = {
    "adds": ("id int PRIMARY KEY, a text",
             "ALTER TABLE adds ADD COLUMN b int",
             "INSERT INTO adds (id, a) VALUES (%d, 'before')",
             "INSERT INTO adds VALUES (%d, 'after', 7)"),
    "drops": ("id int PRIMARY KEY, a text, b int",
              "ALTER TABLE drops DROP COLUMN a",
              "INSERT INTO drops VALUES (%d, 'before', 1)",
              "INSERT INTO drops (id, b) VALUES (%d, 2)"),
    "renames": ("id int PRIMARY KEY, label text",
                "ALTER TABLE renames RENAME COLUMN label TO name",
                "INSERT INTO renames VALUES (%d, 'before')",
                "INSERT INTO renames (id, name) VALUES (%d, 'after')"),
    "types": ("id int PRIMARY KEY, n numeric(10,2)",
              "ALTER TABLE types ALTER COLUMN n TYPE numeric(12,2)",
              "INSERT INTO types VALUES (%d, 1.25)",
              "INSERT INTO types VALUES (%d, 1234567890.25)"),
    "swaps": ("id int PRIMARY KEY, a text, b text",
              "ALTER TABLE swaps RENAME COLUMN a TO x; ALTER TABLE swaps RENAME COLUMN b TO a;"
              " ALTER TABLE swaps RENAME COLUMN x TO b",
              "INSERT INTO swaps (id, a, b) VALUES (%d, 'a', 'b')",
              "INSERT INTO swaps (id, a, b) VALUES (%d, 'was b', 'was a')"),
    "checks": ("id int PRIMARY KEY, v int",
               "ALTER TABLE checks ADD CONSTRAINT positive CHECK (v > 0), ALTER v SET NOT NULL",
               "INSERT INTO checks VALUES (%d, 1)",
               "INSERT INTO checks VALUES (%d, 2)"),
}


def both(src, dst, sql, target_first=False):
    for db in (dst, src) if target_first else (src, dst):
        db.execute(sql)


def stream_of(dbs, tables, **args):
    """The tables on both sides, three rows on the source, a stream of them."""
    src, dst = dbs
    for name, columns in tables.items():
        both(src, dst, "CREATE TABLE %s (%s)" % (name, columns))
    return make_stream(src, dst, include_tables=sorted(tables), **args)


def drained(stream):
    """The first step of the runbook: nothing is under way any more."""
    stream.caught_up()
    stream.stop()
    assert stream.state == "stopped"


def resumed(stream, *tables, timeout="60 s"):
    """The last step: it follows, both sides are equal, nothing was refused."""
    stream.start(source=False)
    stream.caught_up(timeout)
    assert_same_rows(stream.src, stream.dst, list(tables))
    assert stream.refusals() == []


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("target_first", [False, True], ids=["source_first", "target_first"])
def test_drained_runbook(dbs, mode, target_first):
    """Stop, the same change on both sides in either order, start: it resumes."""
    src, dst = dbs
    stream = stream_of(dbs, {n: c[0] for n, c in CHANGES.items()}, schema_changes=mode)
    for _, _, before, _ in CHANGES.values():
        src.execute(before % 1)
        src.execute(before % 2)
    drained(stream)
    for _, change, _, after in CHANGES.values():
        both(src, dst, change, target_first)
        src.execute(after % 3)
    resumed(stream, *CHANGES)
    for _, _, _, after in CHANGES.values():
        src.execute(after % 4)
    src.execute("UPDATE renames SET name = 'changed' WHERE id = 1; DELETE FROM drops WHERE id = 1")
    stream.caught_up()
    assert_same_rows(src, dst, list(CHANGES))


def test_refused_stream_resumes_with_the_same_shape(dbs):
    """Refused live, cured on the target as the hint says, started."""
    src, dst = dbs
    stream = stream_of(dbs, {"t": "id int PRIMARY KEY, a text"}, schema_changes="refuse")
    src.execute("INSERT INTO t VALUES (1, 'x')")
    stream.caught_up()
    src.execute("ALTER TABLE t ADD COLUMN b int; INSERT INTO t VALUES (2, 'y', 2)")
    row = stream.wait_refused("SCHEMA-CHANGE-REFUSED")
    assert "[column-added] public.t.b" in row["reason"], row
    assert dst.value("SELECT count(*) FROM t") == 1
    # it stays refused: a start with nothing cured finds the same
    stream.start(source=False)
    again = stream.wait_refused("SCHEMA-CHANGE-REFUSED")
    assert again["fingerprint"] == row["fingerprint"]
    assert [r["count"] for r in stream.refusals()] == [2]
    dst.execute("ALTER TABLE t ADD COLUMN b int")
    stream.start(source=False)
    stream.caught_up()
    assert_same_rows(src, dst, ["t"])


@pytest.mark.parametrize("mode", MODES)
def test_table_renamed_on_both_sides_follows(dbs, mode):
    """The oid proves it: the table goes on under its new name."""
    src, dst = dbs
    both(src, dst, "CREATE TABLE old (id int PRIMARY KEY, v text); CREATE TABLE other (id int PRIMARY KEY)")
    stream = make_stream(src, dst, schema_changes=mode)
    src.execute("INSERT INTO old VALUES (1, 'x')")
    drained(stream)
    both(src, dst, "ALTER TABLE old RENAME TO renamed")
    src.execute("INSERT INTO renamed VALUES (2, 'y')")
    resumed(stream, "renamed", "other")
    assert dst.query("SELECT table_name, state FROM sluice.tables ORDER BY 1") == [
        ("other", "established"), ("renamed", "established")]


def test_tables_swapped_are_refused(dbs):
    src, dst = dbs
    stream = stream_of(dbs, {"a": "id int PRIMARY KEY, v text", "b": "id int PRIMARY KEY, v text"})
    src.execute("INSERT INTO a VALUES (1, 'a'); INSERT INTO b VALUES (1, 'b')")
    drained(stream)
    src.execute("ALTER TABLE a RENAME TO x; ALTER TABLE b RENAME TO a; ALTER TABLE x RENAME TO b")
    src.execute("UPDATE a SET v = 'was b'")
    stream.start(source=False)
    stream.wait_refused("TABLE-IDENTITY-CHANGED")
    assert dst.query("SELECT v FROM a") == [("a",)]


# ---------- made on the source only, while the stream was stopped ----------

# change on the source: (table, change, row afterwards, statement on the target as it is then)
FORWARDED = {
    "add": ("id int PRIMARY KEY, a text", "ALTER TABLE t ADD COLUMN b int DEFAULT 5",
            "INSERT INTO t VALUES (3, 'z', 6)"),
    "add_several": ("id int PRIMARY KEY, a text", "ALTER TABLE t ADD COLUMN b int, ADD COLUMN c text DEFAULT 'c'",
                    "INSERT INTO t VALUES (3, 'z', 6, 'd')"),
    "drop": ("id int PRIMARY KEY, a text, b int", "ALTER TABLE t DROP COLUMN b",
             "INSERT INTO t VALUES (3, 'z')"),
    "rename": ("id int PRIMARY KEY, a text", "ALTER TABLE t RENAME COLUMN a TO b",
               "INSERT INTO t (id, b) VALUES (3, 'z')"),
    "widen": ("id int PRIMARY KEY, a varchar(10)", "ALTER TABLE t ALTER COLUMN a TYPE varchar(20)",
              "INSERT INTO t VALUES (3, 'twelve chars')"),
    # F23: a narrowing is seen, and what the source's ALTER made of the rows comes here
    "narrow": ("id int PRIMARY KEY, a numeric(10,4)", "ALTER TABLE t ALTER COLUMN a TYPE numeric(10,2)",
               "INSERT INTO t VALUES (3, 3.25)"),
}
FIRST = {"narrow": "INSERT INTO t VALUES (1, 1.2345), (2, 2.3456)"}


@pytest.mark.parametrize("what", sorted(FORWARDED))
def test_change_of_the_source_alone_is_forwarded(dbs, what):
    columns, change, after = FORWARDED[what]
    src, dst = dbs
    stream = stream_of(dbs, {"t": columns}, schema_changes="forward")
    src.execute(FIRST.get(what, "INSERT INTO t (id, a) VALUES (1, 'x'), (2, 'y')"))
    drained(stream)
    src.execute(change)
    src.execute(after)
    resumed(stream, "t")
    assert src.query(SHAPE) == dst.query(SHAPE)


SHAPE = """SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute
    WHERE attrelid = 't'::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attname"""

# change: (marker, line of the detail) in mode refuse; in mode forward where it refuses too
REFUSED = {
    "add": ("id int PRIMARY KEY, a text", "ALTER TABLE t ADD COLUMN b int", "[column-added] public.t.b"),
    "drop": ("id int PRIMARY KEY, a text, b int", "ALTER TABLE t DROP COLUMN b", "public.t.b"),
    "rename": ("id int PRIMARY KEY, a text", "ALTER TABLE t RENAME COLUMN a TO b", "public.t.a"),
    "narrow": ("id int PRIMARY KEY, a numeric(10,4)", "ALTER TABLE t ALTER COLUMN a TYPE numeric(10,2)", "public.t.a"),
    "srid": ("id int PRIMARY KEY, a geometry(Point,4326)",      # F16
             "ALTER TABLE t ALTER COLUMN a TYPE geometry(Point,3857) USING ST_SetSRID(a, 3857)", "public.t.a"),
    "interval": ("id int PRIMARY KEY, a interval(6)",           # F20
                 "ALTER TABLE t ALTER COLUMN a TYPE interval(0)", "public.t.a"),
    "again": ("id int PRIMARY KEY, a text, b int",              # F22
              "ALTER TABLE t DROP COLUMN b; ALTER TABLE t ADD COLUMN b int", "public.t.b"),
    "swap": ("id int PRIMARY KEY, a text, b text",
             "ALTER TABLE t RENAME a TO x; ALTER TABLE t RENAME b TO a; ALTER TABLE t RENAME x TO b", "public.t."),
}
IN_FORWARD_TOO = ["again", "swap", "interval"]


def refused_while_stopped(dbs, what, mode):
    columns, change, line = REFUSED[what]
    src, dst = dbs
    if "geometry" in columns:
        both(src, dst, "CREATE EXTENSION postgis")
    stream = stream_of(dbs, {"t": columns}, schema_changes=mode)
    src.execute("INSERT INTO t (id) VALUES (1)")
    drained(stream)
    src.execute(change)
    src.execute("INSERT INTO t (id) VALUES (2)")
    stream.start(source=False)
    row = stream.wait_state("refused", "failed")
    assert row["state"] == "refused" and line in row["reason"], row
    assert dst.query("SELECT id FROM t") == [(1,)]
    return row


@pytest.mark.parametrize("what", sorted(REFUSED))
def test_change_of_the_source_alone_is_refused(dbs, what):
    row = refused_while_stopped(dbs, what, "refuse")
    assert row["marker"] in ("SCHEMA-CHANGE-REFUSED", "COLUMN-IDENTITY-CHANGED",
                             "COLUMN-ORDER-CHANGED"), row


@pytest.mark.parametrize("what", IN_FORWARD_TOO)
def test_change_of_the_source_alone_is_refused_where_it_proves_nothing(dbs, what):
    row = refused_while_stopped(dbs, what, "forward")
    assert row["marker"] in ("SCHEMA-CHANGE-REFUSED", "COLUMN-IDENTITY-CHANGED",
                             "COLUMN-ORDER-CHANGED", "RESUME-SCHEMA-DIVERGENCE"), row


def test_srid_changed_while_stopped_is_seen_in_forward_mode(dbs):
    """F16: forwarded with the source's values, or refused; never kept as it was."""
    src, dst = dbs
    both(src, dst, "CREATE EXTENSION postgis")
    stream = stream_of(dbs, {"t": REFUSED["srid"][0]}, schema_changes="forward")
    src.execute("INSERT INTO t VALUES (1, 'SRID=4326;POINT(1 2)')")
    drained(stream)
    src.execute(REFUSED["srid"][1])
    src.execute("INSERT INTO t VALUES (2, 'SRID=3857;POINT(3 4)')")
    stream.start(source=False)
    row = wait_until(lambda: [r for r in [stream.health()] if r["state"] == "refused" or
                              dst.value("SELECT count(*) FROM t") == 2], 60, stream.health)[0]
    if row["state"] == "refused":
        assert "public.t.a" in row["reason"], row
        assert dst.query("SELECT id, ST_SRID(a) FROM t") == [(1, 4326)]
    else:
        stream.caught_up()
        assert_same_rows(src, dst, ["t"])


def test_columns_of_two_types_exchange_names(dbs):
    """The names are all that has to be exchanged, whatever depends on the columns."""
    src, dst = dbs
    stream = stream_of(dbs, {"t": "id int PRIMARY KEY, a int, b text"})
    both(src, dst, "CREATE POLICY p ON t USING (a > 0 AND b > '')")
    src.execute("INSERT INTO t VALUES (1, 1, 'x')")
    stream.caught_up()
    src.execute("ALTER TABLE t RENAME a TO z; ALTER TABLE t RENAME b TO a; ALTER TABLE t RENAME z TO b;"
                "INSERT INTO t (id, a, b) VALUES (2, 'y', 2)")
    row = stream.wait_refused("COLUMN-ORDER-CHANGED")
    assert row["hint"] == ("ALTER TABLE public.t RENAME COLUMN a TO sluice_spare_0;\n"
                           "ALTER TABLE public.t RENAME COLUMN b TO a;\n"
                           "ALTER TABLE public.t RENAME COLUMN sluice_spare_0 TO b;")
    assert "cannot hold" not in row["reason"]
    dst.execute(row["hint"])
    stream.start(source=False)
    stream.caught_up()
    assert_same_rows(src, dst, ["t"])


def test_several_changes_at_once_are_refused_by_name(dbs):
    """Two structural changes while stopped: each is named, nothing is guessed."""
    src, dst = dbs
    stream = stream_of(dbs, {"t": "id int PRIMARY KEY, a text, b int"}, schema_changes="forward")
    src.execute("INSERT INTO t VALUES (1, 'x', 1)")
    drained(stream)
    src.execute("ALTER TABLE t ADD COLUMN c int; ALTER TABLE t RENAME COLUMN a TO d")
    src.execute("INSERT INTO t VALUES (2, 'y', 2, 3)")
    stream.start(source=False)
    row = stream.wait_refused("RESUME-SCHEMA-DIVERGENCE")
    assert "public.t.c" in row["reason"] and "public.t.d" in row["reason"], row
    assert dst.query("SELECT * FROM t") == [(1, "x", 1)]
    dst.execute("ALTER TABLE t ADD COLUMN c int; ALTER TABLE t RENAME COLUMN a TO d")
    stream.start(source=False)
    stream.caught_up()
    assert_same_rows(src, dst, ["t"])


def test_a_restart_with_no_change_never_refuses(dbs):
    src, dst = dbs
    stream = stream_of(dbs, {n: c[0] for n, c in CHANGES.items()}, schema_changes="refuse")
    for n in range(3):
        for _, _, before, _ in CHANGES.values():
            src.execute(before % (n + 1))
        drained(stream)
        src.execute("ANALYZE")
        stream.start(source=False)
    stream.caught_up()
    assert stream.refusals() == []
    assert_same_rows(src, dst, list(CHANGES))


# ---------- in the middle of a source transaction ----------

# table: (columns, rows before, the change, rows after)
MIXED = {
    "m_add": ("id int PRIMARY KEY, a text", "INSERT INTO m_add VALUES (%d, 'x')",
              "ALTER TABLE m_add ADD COLUMN b int DEFAULT 5", "INSERT INTO m_add VALUES (%d, 'y', 6)"),
    "m_drop": ("id int PRIMARY KEY, a text, b int", "INSERT INTO m_drop VALUES (%d, 'x', 1)",
               "ALTER TABLE m_drop DROP COLUMN b", "INSERT INTO m_drop VALUES (%d, 'y')"),
    "m_rename": ("id int PRIMARY KEY, a text", "INSERT INTO m_rename (id, a) VALUES (%d, 'x')",
                 "ALTER TABLE m_rename RENAME COLUMN a TO b", "INSERT INTO m_rename (id, b) VALUES (%d, 'y')"),
    "m_widen": ("id int PRIMARY KEY, a varchar(5)", "INSERT INTO m_widen VALUES (%d, 'x')",
                "ALTER TABLE m_widen ALTER COLUMN a TYPE varchar(10)",
                "INSERT INTO m_widen VALUES (%d, 'ten chars.')"),
    "m_narrow": ("id int PRIMARY KEY, a numeric(10,4)", "INSERT INTO m_narrow VALUES (%d, 1.2345)",
                 "ALTER TABLE m_narrow ALTER COLUMN a TYPE numeric(10,2)",
                 "INSERT INTO m_narrow VALUES (%d, 2.25)"),
}
CREATED = "; ".join("CREATE TABLE %s (%s)" % (n, c[0]) for n, c in MIXED.items())


def mixed(names, first=10):
    """One source transaction: rows, the change, rows again, of each table."""
    return "BEGIN; %s; COMMIT" % "; ".join(
        "%s; %s; %s" % (MIXED[n][1] % first, MIXED[n][2], MIXED[n][3] % (first + 1)) for n in names)


POINTS = ["before_alter", "after_alter:3", "mid_batch:2", "mid_batch:7", "before_commit",
          "after_commit"]


@pytest.mark.parametrize("point", POINTS)
def test_killed_in_a_transaction_with_changes(servers, dbs, point):
    """Rows, shapes and position commit together: the replay is no other change."""
    src, dst = dbs
    target = servers[1]
    both(src, dst, CREATED)
    stream = make_stream(src, dst, include_tables=sorted(MIXED), schema_changes="forward")
    for name in MIXED:
        src.execute(MIXED[name][1] % 1)
    drained(stream)
    src.execute(mixed(MIXED))
    mark = arm(target, point)
    stream.start(source=False)
    died_at(target, point, mark)
    target.start(**{"sluice.fault_point": "", "restart_after_crash": "on"})
    check_equal(stream, sorted(MIXED))
    assert stream.refusals() == []


@pytest.mark.parametrize("name", sorted(MIXED))
def test_changes_in_a_transaction_of_a_stream_that_forwards_none(servers, dbs, name):
    """What the target can have before the transaction passes; the rest is a
    wedge: terminal, the same at each start, and left by forwarding once."""
    src, dst = dbs
    both(src, dst, "CREATE TABLE %s (%s)" % (name, MIXED[name][0]))
    stream = make_stream(src, dst, include_tables=[name], schema_changes="refuse")
    src.execute(MIXED[name][1] % 1)
    stream.caught_up()
    src.execute(mixed([name]))
    row = stream.wait_refused("SCHEMA-CHANGE-REFUSED")
    assert dst.query("SELECT id FROM %s" % name) == [(1,)]
    wedged = "PRE-ALTER-REPLAY-WEDGE" in row["reason"]
    if name != "m_widen":       # a wider target would do as well
        assert wedged == (name != "m_add"), row
    # F27: nothing but a start brings it back, and finds the same
    restarts = row["restarts"]
    stream.start(source=False)
    again = stream.wait_refused("SCHEMA-CHANGE-REFUSED")
    assert (again["fingerprint"], again["reason"]) == (row["fingerprint"], row["reason"])
    wait_until(lambda: stream.health()["pid"] is None, 30, "the worker stays")
    assert stream.health()["restarts"] <= restarts + 2
    if not wedged:
        dst.execute(MIXED[name][2])
        stream.start(source=False)
    else:
        way = dst.rows("SELECT * FROM sluice.remedies('s1')")
        assert way[0]["statement"] == row["hint"], way
        dst.execute(row["hint"])
    stream.caught_up()
    if wedged:
        dst.execute(way[1]["statement"].split("; ")[1])
        stream.start(source=False, schema_changes="refuse")
    src.execute(MIXED[name][3] % 20)
    stream.caught_up()
    compared = "id, a" if name == "m_add" else "*"      # the drained model fills nothing
    assert sorted(src.query("SELECT %s FROM %s" % (compared, name))) == \
        sorted(dst.query("SELECT %s FROM %s" % (compared, name)))
    assert dst.value("SELECT schema_changes FROM sluice.stream") == "refuse"


# columns, a row before, a change that no stream makes, a row after
NEVER = {
    "swap": ("id int PRIMARY KEY, a text, b text", "INSERT INTO t VALUES (%d, 'a', 'b')",
             "ALTER TABLE t RENAME a TO x; ALTER TABLE t RENAME b TO a; ALTER TABLE t RENAME x TO b",
             "INSERT INTO t (id, a, b) VALUES (%d, 'was b', 'was a')"),
    "again": ("id int PRIMARY KEY, a text, b int", "INSERT INTO t VALUES (%d, 'a', 1)",
              "ALTER TABLE t DROP a; ALTER TABLE t ADD a text", "INSERT INTO t (id, a) VALUES (%d, 'new')"),
    "several": ("id int PRIMARY KEY, a text", "INSERT INTO t (id, a) VALUES (%d, 'a')",
                "ALTER TABLE t ADD b int; ALTER TABLE t RENAME a TO c", "INSERT INTO t (id, c, b) VALUES (%d, 'c', 1)"),
    "zone": ("id int PRIMARY KEY, a timestamptz", "INSERT INTO t VALUES (%d, '2026-01-01 00:00+00')",
             "ALTER TABLE t ALTER a TYPE text", "INSERT INTO t VALUES (%d, 'x')"),
}


@pytest.mark.parametrize("mode, what", [("forward", n) for n in sorted(NEVER)] + [("refuse", "swap")])
def test_what_no_stream_makes_in_a_transaction_with_rows(dbs, mode, what):
    """Made on the target by hand it would shut out the rows before it: copied again."""
    columns, before, change, after = NEVER[what]
    src, dst = dbs
    stream = stream_of(dbs, {"t": columns}, schema_changes=mode)
    src.execute(before % 1)
    stream.caught_up()
    shape = dst.query(SHAPE)
    src.execute("BEGIN; %s; %s; %s; COMMIT" % (before % 2, change, after % 3))
    row = stream.wait_state("refused", "failed")
    assert row["state"] == "refused" and "PRE-ALTER-REPLAY-WEDGE" in row["reason"], row
    assert row["hint"] == "SELECT state FROM sluice.sync_start('s1', restart_from_scratch => true);"
    assert (dst.query("SELECT id FROM t"), dst.query(SHAPE)) == ([(1,)], shape)
    ways = dst.rows("SELECT * FROM sluice.remedies('s1')")
    assert [w["destructive"] for w in ways] == [True] * len(ways)


def test_target_dropped_what_the_source_renamed(dbs):
    """... and added another of the new name: refused.  Without that one it is a
    column to add, which comes with the source's values."""
    src, dst = dbs
    stream = stream_of(dbs, {"t": "id int PRIMARY KEY, a text", "u": "id int PRIMARY KEY, a text"},
                       schema_changes="forward")
    src.execute("INSERT INTO t VALUES (1, 'a'); INSERT INTO u VALUES (1, 'a')")
    drained(stream)
    dst.execute("ALTER TABLE t DROP a; ALTER TABLE t ADD b text; ALTER TABLE u DROP a")
    src.execute("ALTER TABLE t RENAME a TO b; INSERT INTO t VALUES (2, 'b')")
    stream.start(source=False)
    row = stream.wait_refused("COLUMN-IDENTITY-CHANGED")
    assert "[column-moved] public.t.b: the target has dropped the column" in row["reason"]
    assert dst.query("SELECT id FROM t") == [(1,)]
    dst.execute("ALTER TABLE t DROP b")
    stream.start(source=False)
    caught_up_same(stream, "t")
    assert dst.query("SELECT id, b FROM t ORDER BY id") == [(1, "a"), (2, "b")]
