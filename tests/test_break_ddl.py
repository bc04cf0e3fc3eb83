"""Schema changes that once broke a stream: each was wrong, stuck or dead before."""
import pytest

from lib import assert_same_rows, caught_up_same, make_stream, wait_until
from lib.pairs import database_pair, server_pair
from lib.rounds import FAST

servers = server_pair("breakddl", conf=FAST)
dbs = database_pair("breakddl")

COPY = {"options": {"volatile_defaults": "copy"}}
T = ("CREATE TABLE t (id int PRIMARY KEY, v text, n int);"
     "INSERT INTO t SELECT i, 'v' || i, i FROM generate_series(1, 50) AS i")
PARENT = """
CREATE TABLE p (id int PRIMARY KEY, v text);
CREATE TABLE c1 (PRIMARY KEY (id)) INHERITS (p);
CREATE TABLE c2 (PRIMARY KEY (id)) INHERITS (p);
INSERT INTO p VALUES (1, 'p'); INSERT INTO c1 VALUES (2, 'c1'), (3, 'c1'); INSERT INTO c2 VALUES (4, 'c2')"""


def stream_of(dbs, create, **args):
    src, dst = dbs
    src.execute(create)
    stream = make_stream(src, dst, **args)
    stream.caught_up()
    return stream


def paid(stream, *tables):
    """Caught up, nothing owed, equal."""
    stream.caught_up()
    wait_until(lambda: stream.dst.value("SELECT count(*) FROM sluice.debt") == 0, 60,
               lambda: "%r" % stream.dst.query("SELECT * FROM sluice.debt"))
    caught_up_same(stream, *tables)


def follow_hint(stream):
    """Run what the last refusal's HINT says on the target, and start."""
    hint = stream.refusals()[-1]["hint"]
    assert hint.endswith(";"), hint
    for statement in hint.split(";\n"):
        stream.dst.execute(statement)
    stream.start()


# ---------- hints ----------

HINTS = {
    "renamed, another added under the name": (
        T, ["ALTER TABLE t RENAME n TO old_n", "ALTER TABLE t ADD n int DEFAULT 7"],
        "(100, 'q', 3, 4)", "COLUMN-IDENTITY-CHANGED", {}),
    "renamed in a chain": (
        "CREATE TABLE t (id int PRIMARY KEY, a int, b int, c int); INSERT INTO t VALUES (1, 2, 3, 4)",
        ["ALTER TABLE t RENAME c TO d", "ALTER TABLE t RENAME b TO c", "ALTER TABLE t RENAME a TO b"],
        "(100, 7, 8, 9)", "COLUMN-IDENTITY-CHANGED", {}),
    "dropped and added again with a default": (
        T, ["ALTER TABLE t DROP n", "ALTER TABLE t ADD n int NOT NULL DEFAULT 7"],
        "(100, 'q', 3)", "COLUMN-IDENTITY-CHANGED", {}),
    "dropped and added again, values of chance": (
        T, ["ALTER TABLE t DROP n", "ALTER TABLE t ADD n float DEFAULT random()"],
        "(100, 'q', 3)", "COLUMN-IDENTITY-CHANGED", COPY),
    "renamed, and another added": (
        T, ["ALTER TABLE t RENAME v TO w", "ALTER TABLE t ADD c uuid NOT NULL DEFAULT gen_random_uuid()"],
        "(100, 'q', 3)", "SCHEMA-CHANGE-REFUSED", COPY),
    "dropped, and another added": (
        T, ["ALTER TABLE t DROP v, ADD c int NOT NULL DEFAULT 8"],
        "(100, 3)", "SCHEMA-CHANGE-REFUSED", {}),
    "renamed to what only the target has": (
        T, ["ALTER TABLE t RENAME v TO own"], "(100, 'q', 3)", "COLUMN-IDENTITY-CHANGED", {}),
    "type of the replica identity": (
        "CREATE TABLE t (id int PRIMARY KEY, code int NOT NULL UNIQUE);"
        "ALTER TABLE t REPLICA IDENTITY USING INDEX t_code_key; INSERT INTO t VALUES (1, 2)",
        ["ALTER TABLE t ALTER code TYPE bigint"], "(100, 3)", "SCHEMA-CHANGE-REFUSED", {}),
    "added again where nothing is forwarded": (
        T, ["ALTER TABLE t DROP n", "ALTER TABLE t ADD n int DEFAULT 7"],
        "(100, 'q', 3)", "COLUMN-IDENTITY-CHANGED", {"schema_changes": "refuse"}),
}


@pytest.mark.parametrize("what", sorted(HINTS))
def test_hint_leads_out(dbs, what):
    """The statements of the HINT run, and afterwards no value differs."""
    create, changes, row, marker, args = HINTS[what]
    stream = stream_of(dbs, create, **args)
    src, dst = dbs
    if "only the target has" in what:
        dst.execute("ALTER TABLE t ADD own int")
    src.execute("BEGIN; %s; COMMIT" % "; ".join(changes))
    src.execute("INSERT INTO t VALUES " + row)
    stream.wait_refused(marker)
    follow_hint(stream)
    paid(stream, "t")


def test_type_that_needs_using(dbs):
    """Nobody knows it: whatever it was given here, the values are the source's."""
    stream = stream_of(dbs, "CREATE TABLE t (id int PRIMARY KEY, a text);"
                       "INSERT INTO t SELECT i, i FROM generate_series(1, 9) i")
    src, dst = dbs
    src.execute("ALTER TABLE t ALTER a TYPE int USING a::int * 2")
    src.execute("INSERT INTO t VALUES (100, 3)")
    stream.wait_refused("SCHEMA-CHANGE-REFUSED")
    dst.execute("ALTER TABLE t ALTER a TYPE int USING 0")
    stream.start()
    paid(stream, "t")


def test_column_lost_on_the_target(dbs):
    """Dropped here by mistake, renamed there: no crash, made again with its values."""
    stream = stream_of(dbs, T)
    src, dst = dbs
    src.execute("ALTER TABLE t RENAME n TO old_n; ALTER TABLE t ADD n int DEFAULT 7")
    src.execute("INSERT INTO t VALUES (100, 'q', 3, 4)")
    stream.wait_refused("COLUMN-IDENTITY-CHANGED")
    dst.execute("ALTER TABLE t DROP n; ALTER TABLE t ADD old_n int")
    stream.start()
    stream.wait_refused("COLUMN-IDENTITY-CHANGED")
    follow_hint(stream)
    paid(stream, "t")


# ---------- inheritance ----------

def test_inherited_column_is_added(dbs):
    """Made on the children by the parent's statement: their values are copied too."""
    stream = stream_of(dbs, PARENT, **COPY)
    src, _ = dbs
    src.execute("ALTER TABLE p ADD x uuid DEFAULT gen_random_uuid()")
    for table in ("p", "c1", "c2"):
        src.execute("INSERT INTO %s (id, v) VALUES (100, 'new')" % table)
    paid(stream, "p", "c1", "c2")


@pytest.mark.parametrize("change", [
    "ALTER TABLE p DROP v", "ALTER TABLE p RENAME v TO w",
    "ALTER TABLE p ALTER v TYPE varchar(30) USING upper(v)"])
@pytest.mark.parametrize("order", [("c1", "p", "c2"), ("p", "c2", "c1")])
def test_inherited_column_is_changed(dbs, change, order):
    """PostgreSQL lets it be changed only where it comes from, whoever's row is first."""
    stream = stream_of(dbs, PARENT)
    src, _ = dbs
    src.execute(change)
    for table in order:
        src.execute("INSERT INTO %s (id) VALUES (100)" % table)
    paid(stream, "p", "c1", "c2")


def test_tree_altered_between_its_rows(dbs):
    stream = stream_of(dbs, PARENT, **COPY)
    src, _ = dbs
    src.execute("BEGIN; INSERT INTO c1 VALUES (20, 'q'); INSERT INTO p VALUES (21, 'q');"
                " ALTER TABLE p RENAME v TO w; INSERT INTO c2 VALUES (13, 'n');"
                " INSERT INTO c1 VALUES (14, 'n'); INSERT INTO p VALUES (15, 'n');"
                " ALTER TABLE p ALTER w TYPE varchar(20) USING upper(w);"
                " INSERT INTO c1 VALUES (31, 'n'); INSERT INTO c2 VALUES (32, 'n');"
                " INSERT INTO p VALUES (33, 'n'); COMMIT")
    paid(stream, "p", "c1", "c2")


# ---------- values of the source's present, constraints of the target's past ----------

FUTURE = {
    "check": ("a numeric(10,2), b int, CHECK (a <= b)", "i, i + 1",
              "UPDATE t SET a = 1000, b = 2000 WHERE id = 5"),
    "unique": ("a numeric(10,2) UNIQUE, b int", "i, 0",
               "DELETE FROM t WHERE id = 50; UPDATE t SET a = 50 WHERE id = 2"),
}


@pytest.mark.parametrize("what", sorted(FUTURE))
def test_value_that_does_not_fit_yet(dbs, what):
    columns, values, later = FUTURE[what]
    stream = stream_of(dbs, "CREATE TABLE t (id int PRIMARY KEY, %s);"
                       "INSERT INTO t SELECT i, %s FROM generate_series(1, 50) AS i" % (columns, values))
    src, _ = dbs
    stream.stop()
    src.execute("ALTER TABLE t ALTER a TYPE int")
    src.execute("INSERT INTO t VALUES (100, 101, 102)")
    src.execute(later)
    stream.start()
    paid(stream, "t")
    assert stream.refusals() == []


@pytest.mark.parametrize("before", ["numeric(10,2)", "int"])
def test_unique_values_exchanged(dbs, before):
    """Every row takes the value of another one."""
    stream = stream_of(dbs, "CREATE TABLE t (id int PRIMARY KEY, a %s UNIQUE);"
                       "INSERT INTO t SELECT i, i FROM generate_series(1, 50) AS i" % before)
    src, _ = dbs
    src.execute("ALTER TABLE t ALTER a TYPE int USING 51 - a")
    src.execute("INSERT INTO t VALUES (100, 100)")
    paid(stream, "t")
    assert stream.refusals() == []


def test_value_that_never_fits(dbs):
    """… ends, with the constraint's name, and the cure cures it."""
    stream = stream_of(dbs, "CREATE TABLE t (id int PRIMARY KEY, a numeric(10,2));"
                       "INSERT INTO t SELECT i, i FROM generate_series(1, 50) AS i")
    src, dst = dbs
    dst.execute("ALTER TABLE t ADD CONSTRAINT mine CHECK (a < 100)")
    src.execute("ALTER TABLE t ALTER a TYPE int USING a * 3")
    src.execute("INSERT INTO t VALUES (100, 1)")
    row = stream.wait_refused("TARGET-CONSTRAINT-VIOLATED")
    assert "mine" in row["reason"], row
    dst.execute("ALTER TABLE t DROP CONSTRAINT mine")
    stream.start()
    paid(stream, "t")


# ---------- both sides have it ----------

BOTH = {
    "wider here before": ("ALTER TABLE t ALTER n TYPE bigint", "ALTER TABLE t ALTER n TYPE bigint USING n + 1"),
    "a column of that name here": ("ALTER TABLE t ADD c bigint DEFAULT 6", "ALTER TABLE t ADD c int DEFAULT 5"),
}


@pytest.mark.parametrize("what", sorted(BOTH))
def test_there_already(dbs, what):
    """The target has the column's shape by a statement of its own, not its values."""
    here, there = BOTH[what]
    stream = stream_of(dbs, T)
    src, dst = dbs
    dst.execute(here)
    src.execute(there)
    src.execute("INSERT INTO t (id) VALUES (100)")
    paid(stream, "t")


# ---------- rewritten, and nothing is sent ----------

def test_cutover_looks_for_what_is_not_sent(dbs):
    stream = stream_of(dbs, T)
    src, dst = dbs
    src.execute("ALTER TABLE t ALTER n TYPE int USING n + 1000")
    dst.query("SELECT * FROM sluice.cutover('s1')")
    assert stream.state == "cut_over"
    assert_same_rows(src, dst, ["t"])


@pytest.mark.parametrize("change", [
    "ALTER TABLE t ADD c int DEFAULT 3, ALTER n TYPE int USING n + 1000",
    "ALTER TABLE t DROP v, ALTER n TYPE int USING n + 1000"])
def test_not_caught_up_before_it_is_copied(dbs, change):
    """A rewrite that came to light at a boundary belongs to it."""
    stream = stream_of(dbs, T)
    src, _ = dbs
    src.execute(change)
    src.execute("INSERT INTO t (id) VALUES (100)")
    caught_up_same(stream, "t")
