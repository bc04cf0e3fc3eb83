"""Changes of tables under other circumstances: a bridge that dies in their midst, changes that the log does not
have, names that are folded, several at once while the bridge is away."""
import pytest

from lib import MySqlServer, wait_until
from lib.mycases import Ground, assert_followed, here, set_global, there
from lib.mycold import assert_same_tables
from lib.rounds import bridge_fault_points

KINDS = [pytest.param("mariadb10.11", marks=pytest.mark.long), "mariadb11.8", "mysql"]
ON_ALL = pytest.mark.parametrize("world", KINDS)
T = "CREATE TABLE t (id INT PRIMARY KEY, a INT, b VARCHAR(20)); INSERT INTO t VALUES (1,1,'x'),(2,NULL,'y')"

# points of a bridge that follows
POINTS = [p for p in bridge_fault_points() if not p.startswith(("cold_", "finish_"))]


def changes(r):
    """Statements of a round: columns of its own, tables that are renamed from round to round."""
    return [s.format(r=r, was=r - 1, id=10 * r) for s in (
        "INSERT INTO t (id) VALUES ({id})",
        "ALTER TABLE t ADD COLUMN c{r} VARCHAR(10) NOT NULL DEFAULT 'c'",
        "INSERT INTO t (id, c{r}) VALUES ({id} + 1, 'own')",
        "ALTER TABLE t RENAME COLUMN c{r} TO d{r}",
        "UPDATE t SET d{r} = concat(d{r}, id)",
        "ALTER TABLE t MODIFY d{r} VARCHAR(20) NOT NULL DEFAULT 'c'",
        "INSERT INTO t (id, d{r}) VALUES ({id} + 2, 'fourteen chars')",
        "ALTER TABLE t MODIFY d{r} VARCHAR(20) NOT NULL DEFAULT 'c' FIRST",
        "ALTER TABLE t DROP COLUMN d{was}",
        "TRUNCATE TABLE u{was}",
        "INSERT INTO u{was} VALUES ({id})",
        "RENAME TABLE u{was} TO u{r}",
        "INSERT INTO u{r} VALUES ({id} + 1)",
        "ALTER TABLE t ADD COLUMN e{r} INT DEFAULT {r}",
        "INSERT INTO t (id) VALUES ({id} + 3)")]


@pytest.fixture(scope="module")
def ground():
    one = Ground("ddlserver")
    yield one
    one.destroy()


@pytest.fixture
def lone(ground, request):
    """lone(kind, ddl, ...): a stream whose target database and bridge are its own."""
    made = []

    def begin(kind, *ddl, **args):
        own = Ground(request.node.name, ground.target)
        own._servers = ground._servers
        made.append(own)
        stream = own.begin(kind, "lone", *ddl, **args)
        stream.bridge = own.bridge
        return stream
    yield begin
    for own in made:
        own._servers = {}
        own.destroy()


def killed_through(stream, points):
    """At each point a process of the bridge dies while it brings a round of changes, and another goes on."""
    bridge, reached = stream.bridge, 0
    for r, (point, n) in enumerate(points, 1):
        bridge.stop()
        for statement in changes(r):
            stream.src.execute(statement)
        bridge.arm("%s:%d" % (point, n))
        seen = bridge.log_text().count("reached")
        bridge.start()

        def over():
            return [row for row in here(stream, "t", "id") if row[0] == 10 * r + 3]
        wait_until(lambda: bridge.log_text().count("reached") > seen or over() or
                   stream.health()["state"] in ("refused", "failed"), 60, bridge.log_text)
        reached += bridge.log_text().count("reached") > seen
        bridge.kill_tree()
        bridge.arm()
        bridge.start()
        stream.caught_up()
        assert_same_tables(stream.src, stream.dst, ["t", "u%d" % r], stream.schema)
    assert not stream.conflicts()
    return reached


KILLED = (T + "; ALTER TABLE t ADD COLUMN d0 INT", "CREATE TABLE u0 (id INT PRIMARY KEY); INSERT INTO u0 VALUES (1)")


@ON_ALL
def test_killed(lone, world):
    points = [("feed_sent", 1), ("feed_answered", 2), ("feed_sent", 4), ("feed_answered", 5)]
    assert killed_through(lone(world, *KILLED), points) >= 2


@pytest.mark.long
@ON_ALL
def test_killed_everywhere(lone, world):
    assert killed_through(lone(world, *KILLED), [(p, n) for p in POINTS for n in range(1, 9)]) > 0


# -- what the log does not have --------------------------------------------------

UNLOGGED = "SET sql_log_bin = 0; "
# the change that is not in the log, and a row behind it
MISSED = {
    "added": ("ALTER TABLE t ADD COLUMN c INT", "INSERT INTO t VALUES (7, 7, 'z', 9)"),
    "dropped": ("ALTER TABLE t DROP COLUMN a", "INSERT INTO t VALUES (7, 'z')"),
    "retyped": ("ALTER TABLE t MODIFY a BIGINT", "INSERT INTO t VALUES (7, 7000000000, 'z')"),
    "renamed": ("ALTER TABLE t CHANGE a z INT", "INSERT INTO t VALUES (7, 7, 'z')"),
    "swapped": ("ALTER TABLE t CHANGE a b2 INT, CHANGE b a VARCHAR(20)", "INSERT INTO t VALUES (7, 7, 'z')"),
    "collation": ("ALTER TABLE t MODIFY b VARCHAR(20) COLLATE utf8mb4_bin", "INSERT INTO t VALUES (7, 7, 'z')"),
    "charset": ("ALTER TABLE t MODIFY b VARCHAR(80) CHARACTER SET latin1", "INSERT INTO t VALUES (7, 7, 'é')"),
}
# what a row shows where the log has no names
SHOWN = ["added", "dropped", "retyped"]


@pytest.mark.parametrize("full", [True, False], ids=["full", "minimal"])
@ON_ALL
def test_changes_that_were_not_logged(ground, world, full):
    """The rows' own descriptions do not fit what the log has brought: nothing is guessed."""
    server = ground.server(world)
    back = set_global(server, "binlog_row_metadata", "'%s'" % (
        "FULL" if full else "NO_LOG" if server.is_mariadb else "MINIMAL"))
    try:
        streams = {}
        for name in (MISSED if full else SHOWN):
            streams[name] = ground.prepare(world, "missed_" + name, T, options={"copy_workers": 1})
            streams[name].start(**streams[name].args)
        for stream in streams.values():
            stream.wait("streaming")
            stream.caught_up()
        for name, stream in streams.items():
            change, row = MISSED[name]
            stream.src.execute(UNLOGGED + change)
            stream.src.execute(row)
        for name, stream in streams.items():
            row = stream.wait_refused("DEFERRED-SCHEMA-CHANGE")
            assert name != "collation" or "COLLATION-CHANGE-UNANNOUNCED" in row["reason"], row
            assert here(stream, "t") == [(1, 1, "x"), (2, None, "y")], name
    finally:
        back()
        ground.end_streams()


@pytest.mark.long
@ON_ALL
def test_changes_that_no_row_shows(ground, world):
    """Without names in the log the catalog tells of them, within half a minute, whether or not a row follows."""
    server = ground.server(world)
    back = set_global(server, "binlog_row_metadata", "'%s'" % ("NO_LOG" if server.is_mariadb else "MINIMAL"))
    changes = dict(MISSED, shorter=("ALTER TABLE t MODIFY b VARCHAR(19)", None))
    try:
        streams = {}
        for name in ("renamed", "swapped", "collation", "shorter"):
            streams[name] = ground.prepare(world, "unshown_" + name, T, options={"copy_workers": 1})
            streams[name].start(**streams[name].args)
        for stream in streams.values():
            stream.wait("streaming")
            stream.caught_up()
        for name, stream in streams.items():
            stream.src.execute(UNLOGGED + changes[name][0])
        for stream in streams.values():
            stream.wait_refused("SLUICE-E-CDC-SCHEMA-REPLAY-MISMATCH")
    finally:
        back()
        ground.end_streams()


@ON_ALL
def test_a_name_that_is_free_and_taken_later(ground, world):
    """The table is followed under its new name; the other one that has its name is not."""
    stream = ground.begin(world, "freed", T)
    stream.src.execute("CREATE TABLE n LIKE t; RENAME TABLE t TO gone; RENAME TABLE n TO t; INSERT INTO gone (id) VALUES (5);"
                       " INSERT INTO t (id) VALUES (6)")
    stream.caught_up()
    assert here(stream, "gone") == there(stream, "gone")
    assert stream.dst.value("SELECT to_regclass('%s.t')" % stream.schema) is None


@pytest.mark.parametrize("world", ["mariadb11.8"])
def test_folded_names(world, target):
    """lower_case_table_names = 1: a table is the same however its name is spelled."""
    server = MySqlServer(world, "folded", {"lower_case_table_names": "1"}).start()
    own = Ground("folded", target)
    try:
        own._servers[world] = server
        stream = own.begin(world, "Folded", T.replace("t (", "Some_T (").replace("INTO t", "INTO SOME_T"))
        stream.src.execute("ALTER TABLE SOME_t ADD COLUMN c INT DEFAULT 3; INSERT INTO Some_T (id) VALUES (5);"
                           " ALTER TABLE `%s`.sOME_t RENAME COLUMN A TO d; UPDATE some_t SET d = 9" % stream.src.name.upper())
        assert_followed(stream, "some_t")
        stream.src.execute("RENAME TABLE SOME_T TO Other_T; INSERT INTO OTHER_T (id) VALUES (8)")
        assert_followed(stream, "other_t")
        stream.src.execute("ALTER TABLE OTHER_T DROP COLUMN B, ADD COLUMN b VARCHAR(20)")
        stream.wait_refused("COLUMN-IDENTITY-CHANGED")
    finally:
        own.destroy()
