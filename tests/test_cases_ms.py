"""Changes of tables, made while the stream runs or is behind, that have broken tools like this one.
Each test is named by its case, on every kind of server.

| case | how it is shown |
|---|---|
| MS-01, MS-02, MS-04, MS-13 | with the bridge stopped, once with the names of columns in the log (FULL) and once without (MINIMAL; MariaDB: NO_LOG) |
| MS-11 | there is no option that leaves a column out of a stream; what is tested is that the column that was dropped and added again has the new column's values and none of the old one's |
| MS-03, MS-06, MS-09, MS-12, MS-15, MS-18 | the collection has no such numbers |
"""
import pytest

from lib.mycases import Ground, here, set_global
from lib.mycells import Cell, place_all, restart, settled

KINDS = [pytest.param("mariadb10.11", marks=pytest.mark.long), "mariadb11.8", "mysql"]

BEHIND = {
    "ms_01": Cell(
        "CREATE TABLE {t} (id INT PRIMARY KEY, a INT, b INT)",
        "INSERT INTO {t} VALUES (1,10,20); ALTER TABLE {t} ADD COLUMN x INT DEFAULT 5 AFTER id;"
        "INSERT INTO {t} VALUES (2,50,11,21)",
        shown=("SELECT id, x, a, b FROM {s}.{t} ORDER BY 1", [(1, 5, 10, 20), (2, 50, 11, 21)]), ran=["ADD COLUMN x "]),
    "ms_02": Cell(
        "CREATE TABLE {t} (id INT PRIMARY KEY, a INT, b INT)",
        "INSERT INTO {t} VALUES (1,10,20); ALTER TABLE {t} DROP COLUMN a; INSERT INTO {t} VALUES (2,21)",
        shown=("SELECT id, b FROM {s}.{t} ORDER BY 1", [(1, 20), (2, 21)]), ran=["DROP COLUMN a"]),
    "ms_04": Cell(
        "CREATE TABLE {t} (id INT PRIMARY KEY, a INT)",
        "INSERT INTO {t} VALUES (1,70000); ALTER TABLE {t} MODIFY a BIGINT; INSERT INTO {t} VALUES (2,5000000000)",
        shown=("SELECT id, a FROM {s}.{t} ORDER BY 1", [(1, 70000), (2, 5000000000)]), types={"a": "bigint"}),
    "ms_13": Cell(
        "CREATE TABLE {t} (id INT PRIMARY KEY, s ENUM('x','y')); INSERT INTO {t} VALUES (1,'y')",
        "UPDATE {t} SET s='x' WHERE id=1; ALTER TABLE {t} MODIFY s VARCHAR(10); INSERT INTO {t} VALUES (2,'z')",
        shown=("SELECT id, s::text FROM {s}.{t} ORDER BY 1", [(1, "x"), (2, "z")]), types={"s": "character varying(10)"}),
}

# how the remedy that copies again is put
ANEW = "anew|restart_from_scratch"

SW1 = "CREATE TABLE {t} (id INT PRIMARY KEY, a INT, b INT); INSERT INTO {t} VALUES (1,10,20)"
PT1 = ("CREATE TABLE {t} (id INT, d INT, PRIMARY KEY(id,d)) PARTITION BY RANGE(d)"
       " (PARTITION p0 VALUES LESS THAN (10), PARTITION p1 VALUES LESS THAN (20));"
       "INSERT INTO {t} VALUES (1,5),(2,15)")

LIVE = {
    "ms_05": Cell(
        "CREATE TABLE {t} (id INT PRIMARY KEY, a INT NOT NULL, b INT)",
        "ALTER TABLE {t} DROP COLUMN a; INSERT INTO {t} VALUES (1,2)",
        shown=("SELECT * FROM {s}.{t}", [(1, 2)]), ran=["DROP COLUMN a"]),
    "ms_07": Cell(
        "CREATE TABLE {t} (id INT PRIMARY KEY, a INT)",
        "ALTER TABLE {t} ADD COLUMN b INT; INSERT INTO {t} VALUES (1,1,2);"
        "ALTER TABLE {t} CHANGE a a2 INT; UPDATE {t} SET a2=7 WHERE id=1",
        shown=("SELECT id, a2, b FROM {s}.{t}", [(1, 7, 2)]), ran=["ADD COLUMN b ", "RENAME COLUMN a TO a2"]),
    # the new table's rows came from a query and are not followed: refused, with what is there left alone
    "ms_08": Cell(
        "CREATE TABLE o1 (id INT PRIMARY KEY, a INT); INSERT INTO o1 VALUES (1,1),(2,2)",
        "CREATE TABLE _o1_gho LIKE o1; ALTER TABLE _o1_gho ADD COLUMN b INT DEFAULT 7;"
        "INSERT IGNORE INTO _o1_gho (id,a) SELECT id,a FROM o1;"
        "INSERT INTO o1 VALUES (3,3); REPLACE INTO _o1_gho(id,a) VALUES (3,3);"
        "RENAME TABLE o1 TO _o1_del, _o1_gho TO o1; INSERT INTO o1 VALUES (4,4,40); DROP TABLE _o1_del",
        "TABLE-IDENTITY-CHANGED", late=True),
    "ms_10_swap": Cell(SW1, "ALTER TABLE {t} CHANGE a b INT, CHANGE b a INT; INSERT INTO {t} VALUES (2,20,10)",
                       "COLUMN-ORDER-CHANGED", says=["RENAME COLUMN a TO"]),
    "ms_10_anew": Cell(SW1, "ALTER TABLE {t} CHANGE a b INT, CHANGE b a INT; INSERT INTO {t} VALUES (2,20,10)",
                       "COLUMN-ORDER-CHANGED"),
    # one after the other, each is proven
    "ms_10_chain": Cell(
        SW1, "ALTER TABLE {t} RENAME COLUMN a TO tmp; ALTER TABLE {t} RENAME COLUMN b TO a;"
        "ALTER TABLE {t} RENAME COLUMN tmp TO b; INSERT INTO {t} (id, a, b) VALUES (2,20,10)",
        shown=("SELECT id, a, b FROM {s}.{t} ORDER BY 1", [(1, 20, 10), (2, 20, 10)])),
    "ms_11": Cell(
        "CREATE TABLE {t} (id INT PRIMARY KEY, secret TEXT, v INT); INSERT INTO {t} VALUES (7, 'old', 7)",
        "ALTER TABLE {t} ADD COLUMN n INT; ALTER TABLE {t} DROP COLUMN secret; ALTER TABLE {t} ADD COLUMN secret TEXT;"
        "INSERT INTO {t}(id,secret,v,n) VALUES (1,'s3',1,2)",
        shown=("SELECT id, secret, v, n FROM {s}.{t} ORDER BY 1", [(1, "s3", 1, 2), (7, None, 7, None)]),
        ran=["ADD COLUMN n ", "DROP COLUMN secret", "ADD COLUMN secret "]),
    "ms_14": Cell(
        "CREATE TABLE {t} (id INT PRIMARY KEY, a INT NOT NULL DEFAULT 5)",
        "ALTER TABLE {t} CHANGE a a BIGINT; INSERT INTO {t}(id) VALUES (1); INSERT INTO {t} VALUES (2,NULL)",
        shown=("SELECT * FROM {s}.{t} ORDER BY 1", [(1, None), (2, None)]), types={"a": "bigint"}),
    "ms_16": Cell(
        "CREATE TABLE {t} (id INT PRIMARY KEY, a INT)",
        "ALTER TABLE {t} ADD INDEX (a); ALTER TABLE {t} COMMENT 'x'; ANALYZE TABLE {t}; OPTIMIZE TABLE {t};"
        "ALTER TABLE {t} MODIFY a INT NULL; ALTER TABLE {t} ENGINE=InnoDB; INSERT INTO {t} VALUES (1, 1)",
        shown=("SELECT * FROM {s}.{t}", [(1, 1)]), types={"a": "integer"}),
    "ms_17": Cell(
        "CREATE TABLE {t} (id INT PRIMARY KEY, s ENUM('a','b')); INSERT INTO {t} VALUES (1,'a'),(2,'b')",
        "ALTER TABLE {t} MODIFY s ENUM('b','a'); UPDATE {t} SET s='a' WHERE id=2",
        "SCHEMA-CHANGE-REFUSED", says=[r"\bs\b"]),
    "ms_19": Cell(
        "CREATE TABLE {t} (id INT PRIMARY KEY); INSERT INTO {t} VALUES (1),(2),(3)",
        "ALTER TABLE {t} ADD COLUMN tier VARCHAR(10) NOT NULL DEFAULT 'gold';"
        "ALTER TABLE {t} ALTER COLUMN tier SET DEFAULT 'iron'; INSERT INTO {t}(id) VALUES (4)",
        shown=("SELECT id, tier FROM {s}.{t} ORDER BY 1", [(1, "gold"), (2, "gold"), (3, "gold"), (4, "iron")]),
        types={"tier": "character varying(10) NOT NULL"}),
    "ms_20_truncated": Cell(PT1, "ALTER TABLE {t} TRUNCATE PARTITION p0; INSERT INTO {t} VALUES (3, 15)",
                            "SCHEMA-CHANGE-REFUSED", says=[ANEW]),
    "ms_20_dropped": Cell(PT1, "ALTER TABLE {t} DROP PARTITION p1; INSERT INTO {t} VALUES (3, 5)",
                          "SCHEMA-CHANGE-REFUSED", says=[ANEW]),
    "ms_20_renamed": Cell(
        "CREATE TABLE cd1 (id INT PRIMARY KEY, tier VARCHAR(10)); INSERT INTO cd1 VALUES (1, 'gold')",
        "CREATE TABLE sw LIKE cd1; RENAME TABLE cd1 TO cd1_old, sw TO cd1; INSERT INTO cd1 VALUES (2, 'iron')",
        "TABLE-IDENTITY-CHANGED", says=[ANEW]),
}


@pytest.fixture(scope="module")
def worlds():
    """world(kind): all cases on such a server."""
    made = {}
    ground = Ground("ms")

    def world(kind):
        if kind not in made:
            made[kind] = None           # what could not be made is not tried for each test
            made[kind] = World(ground, kind)
        assert made[kind], "the first test of this server has failed to make it"
        return made[kind]
    yield world
    ground.destroy()


class World:
    def __init__(self, ground, kind):
        self.behind = {}
        modes = ["FULL", "NO_LOG" if kind.startswith("maria") else "MINIMAL"]
        cells = {"%s_%s" % (name, mode.lower()): c for name, c in BEHIND.items() for mode in modes}
        self.cells = place_all(ground, kind, dict(cells, **LIVE))
        ground.bridge.stop()
        for mode in modes:
            back = set_global(ground.server(kind), "binlog_row_metadata", "'%s'" % mode)
            try:
                for name in BEHIND:
                    self.cells["%s_%s" % (name, mode.lower())].change()
            finally:
                back()
        ground.bridge.start()
        for name in LIVE:
            self.cells[name].change()
        for placed in self.cells.values():
            placed.health = settled(placed.stream)
            if placed.cell.markers and placed is not self.cells["ms_17"]:
                restart(placed.stream)


@pytest.mark.parametrize("world", KINDS)
@pytest.mark.parametrize("names", ["with names", "without names"])
@pytest.mark.parametrize("case", sorted(BEHIND))
def test_behind(worlds, world, case, names):
    mode = "full" if names == "with names" else "no_log" if world.startswith("maria") else "minimal"
    placed = worlds(world).cells["%s_%s" % (case, mode)]
    assert placed.health["state"] == "streaming", placed.health
    placed.assert_carried()


ANSWERED = ["ms_10_swap", "ms_10_anew", "ms_16", "ms_17", "ms_19"]


@pytest.mark.parametrize("world", KINDS)
@pytest.mark.parametrize("case", sorted(set(LIVE) - set(ANSWERED)))
def test_live(worlds, world, case):
    placed = worlds(world).cells[case]
    if not placed.cell.markers:
        assert placed.health["state"] == "streaming", placed.health
        placed.assert_carried()
        return
    placed.assert_refused(placed.health)
    # what was refused is again, after a start
    row = placed.stream.wait_refused(placed.health["marker"])
    assert row["fingerprint"] == placed.health["fingerprint"]
    placed.assert_refused(row)


@pytest.mark.parametrize("world", KINDS)
def test_ms_08_target(worlds, world):
    """No ghost on the target, and the table as it was right before the two names were exchanged."""
    placed = worlds(world).cells["ms_08"]
    assert placed.rows() == {"o1": [("(1,1)",), ("(2,2)",), ("(3,3)",)]}


@pytest.mark.parametrize("world", KINDS)
@pytest.mark.parametrize("how", ["swap", "anew"])
def test_ms_10(worlds, world, how):
    """Refused where it stands; what the hint says, or another copy, makes both rows right."""
    placed = worlds(world).cells["ms_10_" + how]
    placed.assert_refused(placed.stream.wait_refused("COLUMN-ORDER-CHANGED"))
    if how == "swap":
        placed.mend()
    else:
        placed.copy_anew()
    placed.stream.caught_up()
    assert here(placed.stream, "t", "id, a, b") == [(1, 20, 10), (2, 10, 20)]


@pytest.mark.parametrize("world", KINDS)
def test_ms_16(worlds, world):
    """None of it stops the stream, and the index is on record."""
    placed = worlds(world).cells["ms_16"]
    assert placed.health["state"] == "streaming", placed.health
    placed.assert_carried()
    warned = [ddl for decision, ddl in placed.events() if decision == "warned"]
    assert any("INDEX" in ddl for ddl in warned), placed.events()


@pytest.mark.parametrize("world", KINDS)
def test_ms_17(worlds, world):
    """Refused where it stands; whoever has compared the column starts it again, and labels stay what they are."""
    placed = worlds(world).cells["ms_17"]
    placed.assert_refused(placed.health)
    placed.stream.start(source=False)
    placed.stream.caught_up()
    assert here(placed.stream, "t", "id, s::text") == [(1, "a"), (2, "a")]


@pytest.mark.parametrize("world", KINDS)
def test_ms_19(worlds, world):
    """The rows that were there have the first default, and the target's is the second."""
    placed = worlds(world).cells["ms_19"]
    assert placed.health["state"] == "streaming", placed.health
    placed.assert_carried()
    assert "'iron'" in placed.stream.dst.value(
        "SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = %s::regclass", placed.here())
