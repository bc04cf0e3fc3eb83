"""Values of MySQL and MariaDB that have broken tools like this one: copied into a target
that has nothing yet, and streamed.  Each test is named by its case.

| case | not, or otherwise, and why |
|---|---|
| MT-08 | MariaDB's log says no signedness without full metadata: it is the catalog's then |
| MT-10 | no server logs an index that has no label: `unit/codec_value_test.c` |
| MT-19 | MySQL has no such storage |
| MT-26 | MariaDB's JSON is text, without opaque values |
| MT-34, MT-52 | a statement that changes a table of the stream refuses where it stands |
| MT-40 | MariaDB has one order of axes |
| MT-41 | MySQL itself keeps other SRIDs out of such a column |
| MT-44 | MariaDB generates no keys; gk2 is followed if option `accept_keyless` names it, insert-only if `insert_only` does |
| MT-53 | MariaDB takes no generated column into a primary key, and in a unique one it may be NULL, as MT-44; 11.8 logs none with an update |
| MT-55, MT-56 | MariaDB does not log what foreign keys change: refused before the start |
"""
import io
import re

import pytest

from lib import Bridge, MySqlServer
from lib.bridgerun import make_my_server
from lib.streams import Stream

KINDS = ["mariadb10.11", "mysql", "mariadb11.8"]
MARIADB, MYSQL = "mariadb", "mysql"

# Eastern time of the United States around the autumn of 2025, for servers without tables of zones.
EASTERN = """SET sql_log_bin = 0; USE mysql;
INSERT INTO time_zone (Use_leap_seconds) VALUES ('N'); SET @id = LAST_INSERT_ID();
INSERT INTO time_zone_name (Name, Time_zone_id) VALUES ('US/Eastern', @id);
INSERT INTO time_zone_transition_type (Time_zone_id, Transition_type_id, `Offset`, Is_DST, Abbreviation)
    VALUES (@id, 0, -18000, 0, 'EST'), (@id, 1, -14400, 1, 'EDT');
INSERT INTO time_zone_transition (Time_zone_id, Transition_time, Transition_type_id)
    VALUES (@id, 1741503600, 1), (@id, 1762063200, 0), (@id, 1772953200, 1)"""


class Case:
    """before and streamed: statements at the source, before the start and behind the copy; query: of the
    target, whose rows as texts are to be expected; only: the family of servers that can produce it."""

    def __init__(self, before, streamed, query, expected, only=None):
        self.before, self.streamed, self.query, self.expected, self.only = before, streamed, query, expected, only

    def tables(self):
        return re.findall(r"CREATE TABLE `?(\w+)", self.before)


def legs(table, columns, rows, expected, show="*", only=None):
    """The same rows, copied with ids from 1 and streamed with ids from 11."""
    def insert(first):
        return "INSERT IGNORE INTO %s VALUES %s" % (
            table, ", ".join("(%d, %s)" % (first + i, row) for i, row in enumerate(rows)))
    names = [c.split()[0] for c in re.split(r", (?=\w+ [A-Z])", columns)] if show == "*" else [show]
    return Case("CREATE TABLE %s (id INT PRIMARY KEY, %s); %s" % (table, columns, insert(1)), insert(11),
                "SELECT %s FROM %s ORDER BY id" % (", ".join(names), table), expected * 2, only)


CHARSETS = ["ucs2", "utf16", "utf32", "latin1", "sjis"]
WORDS = ["日本", "日本", "日本", "été", "日本"]

CARRIED = {
    "MT-04": legs("z4t", "t TIME(2) NOT NULL", ["'00:00:00.00'"], [("00:00:00",)]),
    "MT-05": legs("u1", "v BIGINT UNSIGNED",
                  ["18446744073709551615", "9223372036854775808", "9223372036854775807"],
                  [("18446744073709551615",), ("9223372036854775808",), ("9223372036854775807",)]),
    "MT-07": Case("CREATE TABLE u3 (k BIGINT UNSIGNED PRIMARY KEY);"
                  "INSERT INTO u3 VALUES (1),(9223372036854775809),(18446744073709551615)",
                  "INSERT INTO u3 VALUES (18446744073709551614); DELETE FROM u3 WHERE k = 18446744073709551615",
                  "SELECT k FROM u3 ORDER BY 1",
                  [("1",), ("9223372036854775809",), ("18446744073709551614",)]),
    "MT-08": legs("u4", "y YEAR, a INT UNSIGNED, b INT, e BIGINT UNSIGNED",
                  ["2024, 4294967295, -1, 18446744073709551615"], [("2024", "4294967295", "-1", "18446744073709551615")]),
    "MT-10": Case("CREATE TABLE e2 (id INT PRIMARY KEY, st ENUM('active','dormant')); INSERT INTO e2 VALUES (9, 'dormant')",
                  "INSERT INTO e2 VALUES (1,'active'), (2, 'active'); UPDATE e2 SET st='dormant' WHERE id=1",
                  "SELECT id, st FROM e2 ORDER BY id", [("1", "dormant"), ("2", "active"), ("9", "dormant")]),
    "MT-13": legs("b1", "x BIT(1), y BIT(12), z BIT(64)", ["b'1', b'100000000001', b'%s'" % ("1" * 64)],
                  [("t", "100000000001", "1" * 64)]),
    "MT-14": legs("b2", "m BIT(17)", ["b'10000000000000001'", "b'10'"], [("10000000000000001",), ("00000000000000010",)]),
    "MT-16": legs("t1", "a TIME, b TIME(3), e TIME(6)", ["'-00:00:01', '-16:08:04.250', '-838:59:59.000000'"],
                  [("-00:00:01", "-16:08:04.25", "-838:59:59")]),
    "MT-17": legs("t2", "a TIME", ["'-507:48:27'", "'838:59:59'", "'256:00:00'", "'-838:59:59'"],
                  [("-507:48:27",), ("838:59:59",), ("256:00:00",), ("-838:59:59",)]),
    "MT-20": legs("t5", "a TIME NOT NULL", ["'23:59:59'", "'24:00:00'", "'100:08:04'"],
                  [("23:59:59",), ("24:00:00",), ("100:08:04",)]),
    "MT-22": Case("CREATE TABLE tz1 (id INT PRIMARY KEY, ts TIMESTAMP NOT NULL, dt DATETIME NOT NULL);"
                  "SET time_zone = '+05:30';"
                  "INSERT INTO tz1 VALUES (1,'2026-01-30 12:34:56','2026-01-30 12:34:56'),"
                  " (2,'2026-01-30 12:34:56','2026-01-30 12:34:56')",
                  "SET time_zone = '+05:30'; UPDATE tz1 SET dt=dt WHERE id=1;"
                  "UPDATE tz1 SET dt='2026-01-30 12:34:57' WHERE id=1;"
                  "INSERT INTO tz1 VALUES (3,'2026-01-30 12:34:56','2026-01-30 12:34:56')",
                  "SELECT id, ts, dt FROM tz1 ORDER BY id",
                  [("1", "2026-01-30 07:04:56+00", "2026-01-30 12:34:57"),
                   ("2", "2026-01-30 07:04:56+00", "2026-01-30 12:34:56"),
                   ("3", "2026-01-30 07:04:56+00", "2026-01-30 12:34:56")]),
    "MT-23": legs("tz2", "ts TIMESTAMP NULL", ["'2025-11-02 05:30:00'", "'2025-11-02 06:30:00'"],
                  [("2025-11-02 05:30:00+00",), ("2025-11-02 06:30:00+00",)]),
    "MT-25": Case("CREATE TABLE j2 (id INT PRIMARY KEY, d JSON, x INT);"
                  "INSERT INTO j2 VALUES (1,'[0, 1.0, 2.50]',0), (2,'[0, 1.0, 2.50]',0)",
                  "UPDATE j2 SET x=1 WHERE id=1; INSERT INTO j2 VALUES (3,'[0, 1.0, 2.50]',0)",
                  "SELECT d = '[0, 1, 2.5]', d::text = (SELECT d::text FROM j2 WHERE id = 2), d->>1, x FROM j2"
                  " ORDER BY id",
                  [("t", "t", "1.0", "1"), ("t", "t", "1.0", "0"), ("t", "t", "1.0", "0")]),
    "MT-26": legs("j3", "d JSON", ["JSON_OBJECT('t', CAST('2015-01-15 23:24:25' AS DATETIME), 'b', CAST(x'cafe' AS BINARY),"
                                   " 'n', CAST(105.0000000000 AS DECIMAL(20,10)))"],
                  [('{"b": "base64:type15:yv4=", "n": 105.0000000000, "t": "2015-01-15 23:24:25.000000"}',)], only=MYSQL),
    "MT-26 text": legs("j3", "d JSON", ["JSON_OBJECT('t', CAST('2015-01-15 23:24:25' AS DATETIME),"
                                        " 'n', CAST(105.0000000000 AS DECIMAL(20,10)))"],
                       [('{"n": 105.0000000000, "t": "2015-01-15 23:24:25"}',)], only=MARIADB),
    "MT-28": legs("j5", "doc TEXT", ["'{\"k\":1,\"k\":2}'"], [('{"k":1,"k":2}',)]),
    "MT-29": legs("n1", "s VARCHAR(20), b VARBINARY(20)", ["'ab', x'610062'"], [("ab", "\\x610062")]),
    "MT-31": legs("cs1", "s VARCHAR(50) CHARACTER SET gbk", ["'测试'"], [("测试",)]),
    "MT-32": legs("cs2", "s VARCHAR(50) CHARACTER SET ucs2, " + ", ".join(
        "s%d VARCHAR(50) CHARACTER SET %s" % (i, c) for i, c in enumerate(CHARSETS)),
        ["'测试数据', " + ", ".join("'%s'" % w for w in WORDS)], [("测试数据", *WORDS)]),
    "MT-35": legs("bp1", "u BINARY(16) NOT NULL, w VARBINARY(16)",
                  ["UNHEX('01000000000000000000000000000000'), x'0100'", "UNHEX(REPEAT('00',16)), x''"],
                  [("\\x01" + "00" * 15, "\\x0100"), ("\\x" + "00" * 16, "\\x")]),
    "MT-37": legs("fl1", "f FLOAT, d DOUBLE", ["16777217, 0.1", "1.1754943e-38, 2.2250738585072014e-308"],
                  [("1.6777216e+07", "0.1"), ("1.1754944e-38", "2.2250738585072014e-308")]),
    "MT-38": Case("CREATE TABLE fl2 (a VARBINARY(8), b VARBINARY(8), f FLOAT, PRIMARY KEY(a,b));"
                  "INSERT INTO fl2 VALUES (x'6100',x'62',0.123456789),(x'61',x'0062',0.987654321)",
                  "INSERT INTO fl2 VALUES (x'62',x'',0.123456789),(x'6200',x'00',0.987654321);"
                  "UPDATE fl2 SET f = 0.333333333 WHERE a = x'61'; DELETE FROM fl2 WHERE a = x'6200'",
                  "SELECT a, b, f FROM fl2 ORDER BY a, b",
                  [("\\x61", "\\x0062", "0.33333334"), ("\\x6100", "\\x62", "0.12345679"), ("\\x62", "\\x", "0.12345679")]),
    "MT-40": legs("g1", "p POINT NOT NULL SRID 4326", ["ST_GeomFromText('POINT(35.17 136.88)',4326)"],
                  [("136.88 35.17 4326",)], "ST_X(p) || ' ' || ST_Y(p) || ' ' || ST_SRID(p)", only=MYSQL),
    # MariaDB has no order of axes but this one
    "MT-40 lon lat": legs("g1", "p POINT NOT NULL", ["ST_GeomFromText('POINT(136.88 35.17)',4326)"],
                          [("136.88 35.17 4326",)], "ST_X(p) || ' ' || ST_Y(p) || ' ' || ST_SRID(p)", only=MARIADB),
    "MT-41": Case("CREATE TABLE g2 (id INT PRIMARY KEY, p GEOMETRY /*!80003 SRID 3857 */ /*M! REF_SYSTEM_ID=3857 */ NOT NULL);"
                  "INSERT INTO g2 VALUES (1,ST_GeomFromText('POINT(1 2)',3857)), (2,ST_GeomFromText('POINT(1 2)',3857))",
                  "UPDATE g2 SET p=ST_GeomFromText('POINT(3 4)',3857) WHERE id=1",
                  "SELECT ST_SRID(p), ST_AsText(p) FROM g2 ORDER BY id", [("3857", "POINT(3 4)"), ("3857", "POINT(1 2)")]),
    "MT-43": Case("CREATE TABLE iv1 (a INT PRIMARY KEY DEFAULT 0 INVISIBLE, b INT, e VARCHAR(5) DEFAULT 'x' INVISIBLE);"
                  "INSERT INTO iv1(a,b,e) VALUES (1,10,'p')",
                  "INSERT INTO iv1(a,b,e) VALUES (2,20,'q'), (3,30,'r'); UPDATE iv1 SET e='s' WHERE a = 3",
                  "SELECT a, b, e FROM iv1 ORDER BY a", [("1", "10", "p"), ("2", "20", "q"), ("3", "30", "s")]),
    "MT-44": Case("SET sql_generate_invisible_primary_key=ON; CREATE TABLE gk1 (v INT); INSERT INTO gk1 VALUES (1),(1)",
                  "INSERT INTO gk1 VALUES (1),(1); DELETE FROM gk1 ORDER BY my_row_id DESC LIMIT 1;"
                  "UPDATE gk1 SET v = 2 WHERE my_row_id = 3",
                  "SELECT my_row_id, v FROM gk1 ORDER BY 1", [("1", "1"), ("2", "1"), ("3", "2")], only=MYSQL),
    "MT-47": Case("CREATE TABLE ou1 (id INT PRIMARY KEY, v INT,"
                  " m TIMESTAMP(3) DEFAULT CURRENT_TIMESTAMP(3) ON UPDATE CURRENT_TIMESTAMP(3));"
                  "SET timestamp = 1700000000.125; INSERT INTO ou1(id,v) VALUES (1,1), (2,1)",
                  "SET timestamp = 1700000001.25; UPDATE ou1 SET v=2 WHERE id=1",
                  "SELECT v, m FROM ou1 ORDER BY id",
                  [("2", "2023-11-14 22:13:21.25+00"), ("1", "2023-11-14 22:13:20.125+00")]),
    "MT-52": Case("CREATE TABLE kw1 (`order` INT PRIMARY KEY, `user` INT, `sequence` INT, `a b` INT, `q\"q` INT);"
                  "INSERT INTO kw1 VALUES (1, 2, 3, 4, 5)",
                  "INSERT INTO kw1 VALUES (11, 12, 13, 14, 15), (21, 0, 0, 0, 0);"
                  "UPDATE kw1 SET `q\"q` = 16, `user` = 17 WHERE `order` = 11; DELETE FROM kw1 WHERE `order` = 21",
                  'SELECT "order", "user", "sequence", "a b", "q""q" FROM kw1 ORDER BY 1',
                  [("1", "2", "3", "4", "5"), ("11", "17", "13", "14", "16")]),
    "MT-53": Case("CREATE TABLE gp1 (a INT, g INT GENERATED ALWAYS AS (a*2) STORED, v INT, PRIMARY KEY(a,g));"
                  "INSERT INTO gp1(a,v) VALUES (7,7)",
                  "INSERT INTO gp1(a,v) VALUES (1,1),(2,2); DELETE FROM gp1 WHERE a=1; UPDATE gp1 SET a = 8 WHERE a = 7",
                  "SELECT a, g, v FROM gp1 ORDER BY 1", [("2", "4", "2"), ("8", "16", "7")], only=MYSQL),
    "MT-55": Case("CREATE TABLE pb (id INT PRIMARY KEY);"
                  "CREATE TABLE cb (id INT PRIMARY KEY, p INT NULL, FOREIGN KEY(p) REFERENCES pb(id) ON DELETE SET NULL);"
                  "INSERT INTO pb VALUES (1), (2); INSERT INTO cb VALUES (10,1), (20,2)",
                  "DELETE FROM pb WHERE id=1", "SELECT id, p FROM cb ORDER BY id", [("10", None), ("20", "2")], only=MYSQL),
    "MT-56": Case("CREATE TABLE pa (id INT PRIMARY KEY);"
                  "CREATE TABLE ch (id INT PRIMARY KEY, p INT, FOREIGN KEY(p) REFERENCES pa(id) ON DELETE CASCADE);"
                  "INSERT INTO pa VALUES (1), (2); INSERT INTO ch VALUES (10,1), (20,2), (21,2)",
                  "DELETE pa, ch FROM pa JOIN ch ON ch.p=pa.id WHERE pa.id=2",
                  "SELECT id, p FROM ch UNION ALL SELECT -id, NULL FROM pa ORDER BY 1", [("-1", None), ("10", "1")], only=MYSQL),
}

KEYS = """
CREATE TABLE px1 (id INT PRIMARY KEY, email VARCHAR(100), UNIQUE KEY u (email(10)));
INSERT INTO px1 VALUES (1,'aaaaaaaaaa1');
CREATE TABLE posts (id INT PRIMARY KEY, user_id INT, slug VARCHAR(20), KEY user_id(user_id), UNIQUE KEY posts_user_id(slug))"""


def shown(db, query):
    """Rows of the target as PostgreSQL prints them, NULL as None."""
    out = io.StringIO()
    conn = db.connect()
    try:
        with conn.cursor() as cur:
            cur.execute("SET timezone = 'UTC'; SET datestyle = 'ISO'; SET intervalstyle = 'postgres'")
            cur.copy_expert("COPY (%s) TO STDOUT" % query, out)
    finally:
        conn.close()
    return [tuple(None if v == "\\N" else v.replace("\\\\", "\\") for v in line.split("\t"))
            for line in out.getvalue().splitlines()]


def of_family(kind, cases):
    return {name: c for name, c in cases.items() if c.only in (None, MARIADB if kind != MYSQL else MYSQL)}


def marks(kind):
    """The second MariaDB is for the long run."""
    return [pytest.mark.long] if kind == "mariadb11.8" else []


def on_each(cases):
    """A test's parameters: each kind of server with each case that it can produce."""
    return pytest.mark.parametrize("world, name", [
        pytest.param(kind, name, id="%s-%s" % (kind, name), marks=marks(kind))
        for kind in KINDS for name in of_family(kind, cases)], indirect=["world"], scope="module")


on_all = pytest.mark.parametrize("world", [pytest.param(kind, marks=marks(kind)) for kind in KINDS], indirect=True,
                                 scope="module")


class World:
    """A server of one kind with a database, and a target with a bridge; stream() makes one of either."""

    def __init__(self, kind, target):
        self.kind = kind
        self.server = MySqlServer(kind).start()
        self.server.execute(EASTERN)
        self.server.execute("GRANT LOCK TABLES, REFERENCES ON *.* TO repl@'%'; SET GLOBAL time_zone = 'US/Eastern'")
        self.src = self.server.fresh_db("mt")
        self.dst = target.fresh_db("mt", extension=True)
        self.dst.execute("CREATE EXTENSION postgis")
        self.bridge = Bridge(self.dst)
        make_my_server(self.src, self.dst, "mt")

    def run(self, sql):
        self.src.execute("SET time_zone = '+00:00', sql_mode = 'ALLOW_INVALID_DATES'; " + sql)

    def stream(self, name, tables, **args):
        stream = Stream(self.src, self.dst, name, "mt")
        stream.start(include_tables=tables, **args)
        return stream

    def destroy(self):
        self.bridge.destroy()
        self.dst.destroy()
        self.server.destroy()


@pytest.fixture(scope="module")
def world(request, target):
    one = World(request.param, target)
    yield one
    one.destroy()


# -- what is carried -----------------------------------------------------------

def metadata(server, case):
    """What the log says of columns while that case's rows are written; the rest has all of it."""
    level = ("NO_LOG" if server.is_mariadb else "MINIMAL") if case.startswith("MT-08") else "FULL"
    server.execute("SET GLOBAL binlog_row_metadata = '%s'" % level)


@pytest.fixture(scope="module")
def carried(world):
    """All of CARRIED through one stream; what verify() says of each table."""
    cases = of_family(world.kind, CARRIED)
    for case in cases.values():
        world.run(case.before)
    world.run(KEYS)
    tables = [t for case in cases.values() for t in case.tables()] + ["px1", "posts"]
    stream = world.stream("carried", tables)
    world.bridge.start()
    stream.wait("streaming")
    world.server.execute("SET GLOBAL time_zone = '+05:30'")
    for name, case in cases.items():
        metadata(world.server, name)
        world.run(case.streamed)
    stream.caught_up()
    world.verified = {str(r["table_name"]).rpartition(".")[2]: r["status"] for r in stream.verify()}
    return world


@on_each(CARRIED)
def test_carried(carried, name):
    case = CARRIED[name]
    assert shown(carried.dst, case.query) == case.expected
    for table in case.tables():
        assert carried.verified[table] == "equal"


# -- what the target makes of it ---------------------------------------------------

def definition(world, index):
    return world.dst.value("SELECT pg_get_indexdef(%s::regclass)", index)


@on_all
class TestSchema:
    def test_mt_46(self, carried):
        """The key's prefix stays one: two rows whose first ten characters are the same are not let in."""
        name = carried.dst.value("SELECT indexrelid::regclass::text FROM pg_index"
                                 " WHERE indrelid = 'px1'::regclass AND NOT indisprimary")
        assert re.search(r"^CREATE UNIQUE INDEX .* \(\"left\"\(\(email\)::text, 10\)\)$", definition(carried, name))
        assert carried.dst.error("INSERT INTO px1 VALUES (2, 'aaaaaaaaaa2')").pgcode == "23505"

    def test_mt_47(self, carried):
        """That updates set the column no more is on record, for whoever cuts over."""
        note = carried.dst.value("SELECT note FROM sluice.schema_objects WHERE stream_id = 'carried'"
                                 " AND table_name = 'ou1' AND object_name = 'm'")
        assert "ON UPDATE" in note and "cutover" in note
        said = carried.dst.notices("SELECT * FROM sluice.cutover('carried', 1000, true)")
        assert "WARNING" in said and "column settings m of table ou1: " + note in said, said

    def test_mt_50(self, carried):
        """Both are there, and the unique one is unique."""
        found = dict(carried.dst.query("SELECT pg_get_indexdef(indexrelid) ~ '\\(slug\\)$', indisunique FROM pg_index"
                                       " WHERE indrelid = 'posts'::regclass AND NOT indisprimary"))
        assert found == {True: True, False: False}

    def test_mt_07(self, carried):
        """Ranges of a key whose ends are above 2^63."""
        carried.run("CREATE TABLE u3x (k BIGINT UNSIGNED PRIMARY KEY, v VARCHAR(400)); CREATE TABLE d (i INT PRIMARY KEY);"
                    "INSERT INTO d VALUES (0),(1),(2),(3),(4),(5),(6),(7),(8),(9);"
                    "INSERT INTO u3x SELECT o.k + a.i + 10 * b.i + 100 * c.i, REPEAT('x', 300) FROM d a, d b, d c,"
                    " (SELECT 1 k UNION SELECT 9223372036854775300 UNION SELECT 18446744073709550616"
                    "  UNION SELECT 13835058055282163712 UNION SELECT 4611686018427387904) o; ANALYZE TABLE u3x")
        stream = carried.stream("ranges", ["u3x"])
        stream.caught_up()
        assert carried.dst.value("SELECT count(*) FROM sluice.copy_task WHERE table_name = 'u3x' AND kind = 'rows'") > 1
        assert shown(carried.dst, "SELECT count(*), min(k), max(k) FROM u3x") == [("5000", "1", "18446744073709551615")]


# -- what stops a stream at a row ----------------------------------------------------

class Bad:
    """A column's type, what it holds, what it may not hold, what the refusal says besides, the type that the column
    is to become, and whether the check of values finds it before the copy."""

    def __init__(self, column, good, bad, says, becomes=None, only=None, early=True):
        self.column, self.good, self.bad, self.says = column, good, bad, says
        self.becomes, self.only, self.early = becomes, only, early


BAD = {
    "MT-01": Bad("DATETIME NOT NULL", "'2020-05-05 01:02:03'", "'0000-00-00 00:00:00'", "zero_dates"),
    "MT-02 date": Bad("DATE NOT NULL", "'2020-05-05'", "'0000-00-00'", "zero_dates"),
    "MT-02 datetime": Bad("DATETIME(3) NOT NULL", "'2020-05-05'", "'0000-00-00 00:00:00.000'", "zero_dates"),
    "MT-02 timestamp": Bad("TIMESTAMP NOT NULL", "'2020-05-05'", "'0000-00-00 00:00:00'", "zero_dates"),
    "MT-04 month": Bad("DATE", "'2021-01-15'", "'2021-00-15'", "zero_dates"),
    "MT-04 day": Bad("DATE", "'2021-11-01'", "'2021-11-00'", "zero_dates"),
    "MT-04 calendar": Bad("DATE", "'2021-02-28'", "'2021-02-31'", "calendar"),
    "MT-05": Bad("BIGINT UNSIGNED", "9223372036854775807", "9223372036854775808", "numeric", "bigint"),
    "MT-11": Bad("ENUM('a','b') NOT NULL", "'a'", "'zzz'", "text"),
    "MT-20": Bad("TIME NOT NULL", "'23:59:59'", "'24:00:00'", "interval", "time"),
    "MT-16": Bad("TIME", "'00:00:01'", "'-00:00:01'", "interval", "time"),
    "MT-28": Bad("TEXT", "'{\"k\":1}'", "'{\"k\":1,\"k\":2}'", "key twice", "jsonb", early=False),
    "MT-29": Bad("VARCHAR(20)", "'ab'", "CONCAT('a',CHAR(0),'b')", "bytea", early=False),  # preflight() finds it, a start does not look
    "MT-41": Bad("GEOMETRY /*!80003 SRID 0 */ /*M! REF_SYSTEM_ID=3857 */ NOT NULL", "ST_GeomFromText('POINT(1 2)',3857)",
                 "ST_GeomFromText('POINT(1 2)',4326)", "SRID", only=MARIADB, early=False),
}


def table_of(leg, name):
    return "%s_%s" % (leg, re.sub("[^a-z0-9]", "_", name.lower()))


def make_bad(world, leg, name, *values):
    """A table of that case with these rows, ids from 1; the override of its column, as a dict."""
    table = table_of(leg, name)
    world.run("CREATE TABLE %s (id INT PRIMARY KEY, c %s)" % (table, BAD[name].column))
    fill(world, table, 1, *values)
    return {table + ".c": BAD[name].becomes} if BAD[name].becomes else {}


def fill(world, table, first, *values):
    world.run("INSERT IGNORE INTO %s VALUES %s" % (
        table, ", ".join("(%d, %s)" % (first + i, v) for i, v in enumerate(values))))


def one_table(world, leg, name, *values):
    override = make_bad(world, leg, name, *values)
    return world.stream("%s%d" % (leg, list(BAD).index(name)), [table_of(leg, name)], type_overrides=override or None,
                        options={"check_values": False, "copy_workers": 1})


@pytest.fixture(scope="module")
def refused(carried):
    """A stream for each of BAD whose copy meets the value, one that a change brings it to, and one of all of them
    whose values are looked at before."""
    cases = of_family(carried.kind, BAD)
    carried.refused, overrides = {}, {}
    for name, bad in cases.items():
        carried.refused["s", name] = one_table(carried, "s", name, bad.good)
        carried.refused["c", name] = one_table(carried, "c", name, bad.good, bad.bad)
        if bad.early:
            overrides.update(make_bad(carried, "p", name, bad.good, bad.bad))
    early = carried.stream("early", ["p_*"], type_overrides=overrides)
    early.wait_refused("PREFLIGHT-FAILED")
    carried.early = early.refusals()[-1]["detail"]
    for name, bad in cases.items():
        carried.refused["s", name].caught_up()
        fill(carried, table_of("s", name), 2, bad.good, bad.bad, bad.good)
    return carried


@on_each(BAD)
def test_refused(refused, name):
    """By the check of values, by the copy, and by the stream; what comes before it in the stream is there."""
    if BAD[name].early:
        assert "`%s`.`%s`, column `c`: " % (refused.src.name, table_of("p", name)) in refused.early
    for leg, key in ("c", 2), ("s", 3):
        stream = refused.refused[leg, name]
        row = stream.wait_refused("VALUE-UNREPRESENTABLE")
        said = "%s %s %s" % (row["reason"], row["hint"], stream.refusals()[-1]["detail"])
        assert '"c"' in said and re.search(r'id=%d\b|\["?%d"?\]' % (key, key), said), said
        assert BAD[name].says in said, said
    assert refused.dst.query("SELECT id FROM %s ORDER BY id" % table_of("s", name)) in ([(1,)], [(1,), (2,)])


# -- what stops a stream before its copy, or at a statement ----------------------------

LONG = "a" * 63
OLD = "SET GLOBAL mysql56_temporal_format = %s; "


class Stop:
    """before: statements at the source; check, says: the check that fails, and what it says."""

    def __init__(self, before, check, says, only=None):
        self.before, self.check, self.says, self.only = before, check, says, only


STOPPED = {
    "MT-19": Stop(OLD % "OFF" + "CREATE TABLE x_t4 (id INT PRIMARY KEY, a TIME); " + OLD % "ON", "column_type",
                  ["`x_t4`, column `a`", "mysql56_temporal_format"], MARIADB),
    "MT-44": Stop("CREATE TABLE x_gk2 (v INT); INSERT INTO x_gk2 VALUES (1),(1)", "table_key",
                  ["`x_gk2` has no key"]),
    "MT-53": Stop("CREATE TABLE x_gp1 (a INT NOT NULL, g INT GENERATED ALWAYS AS (a*2) STORED, v INT, UNIQUE KEY(a,g))",
                  "table_key", ["`x_gp1` has no key"], MARIADB),
    "MT-49": Stop("CREATE TABLE x_id1 (id INT PRIMARY KEY, `%s1` INT, `%s2` INT, `%s` INT)" % (LONG, LONG, "表名" * 12),
                  "name", ["`%s1` has 64 bytes" % LONG, "the same as of column `%s2`" % LONG, "`%s` has 72 bytes" % ("表名" * 12)]),
    "MT-55": Stop("CREATE TABLE x_pb (id INT PRIMARY KEY); CREATE TABLE x_cb (id INT PRIMARY KEY, p INT NULL,"
                  " FOREIGN KEY(p) REFERENCES x_pb(id) ON DELETE SET NULL)", "foreign_key_cascade",
                  ["`x_cb`, foreign key ", "ON DELETE SET NULL"], MARIADB),
    "MT-56": Stop("CREATE TABLE x_pa (id INT PRIMARY KEY); CREATE TABLE x_ch (id INT PRIMARY KEY, p INT,"
                  " FOREIGN KEY(p) REFERENCES x_pa(id) ON DELETE CASCADE)", "foreign_key_cascade",
                  ["`x_ch`, foreign key ", "ON DELETE CASCADE"], MARIADB),
}


@pytest.fixture(scope="module")
def stopped(carried):
    """One stream of all of them: what its refusal says."""
    for case in of_family(carried.kind, STOPPED).values():
        carried.run(case.before)
    stream = carried.stream("stopped", ["x_*"])
    stream.wait_refused("PREFLIGHT-FAILED")
    carried.stopped = stream.refusals()[-1]["detail"]
    return carried


@on_each(STOPPED)
def test_stopped(stopped, name):
    case = STOPPED[name]
    lines = [line for line in stopped.stopped.split("\n") if line.startswith(case.check + ": ")]
    for text in case.says:
        assert [line for line in lines if text in line], stopped.stopped
    assert stopped.dst.value("SELECT count(*) FROM pg_class WHERE relname ~ '^x_'") == 0


@on_all
class TestAnswers:
    """What is asked for to go on, and what then becomes of the rows."""

    def test_mt_44(self, carried):
        """A table without a key: refused, insert-only until something else comes, then found by all its columns."""
        carried.run("CREATE TABLE gk2 (v INT); INSERT INTO gk2 VALUES (1),(1)")
        stream = carried.stream("gk2", ["gk2"])
        stream.wait_refused("PREFLIGHT-FAILED")
        assert "accept_keyless" in str(carried.dst.query("SELECT statement FROM sluice.remedies('gk2')"))
        assert carried.dst.value("SELECT to_regclass('gk2')") is None
        stream.start(source=False, options={"insert_only": ["gk2"]})
        stream.caught_up()
        carried.run("INSERT INTO gk2 VALUES (2),(1); DELETE FROM gk2 LIMIT 1")
        assert "accept_keyless" in stream.wait_refused("SOURCE-REPLICA-IDENTITY")["hint"]
        assert "REPLICA IDENTITY" not in str(carried.dst.query("SELECT statement FROM sluice.remedies('gk2')"))
        look = "SELECT v, count(*) FROM gk2 GROUP BY v ORDER BY v"
        assert carried.dst.query(look) == [(1, 3), (2, 1)]
        stream.start(source=False, options={"insert_only": [], "accept_keyless": ["gk2"]})
        stream.caught_up()
        assert carried.dst.query(look) == list(carried.src.query(look)) and len(carried.dst.query(look)) == 2

    @pytest.mark.parametrize("stored", ["STORED", "VIRTUAL"])
    def test_mt_53(self, carried, stored):
        """A unique key with a generated column in it that may be NULL: exactly the row that was meant goes.  MariaDB 11.8
        leaves such columns out of the log's updates: refused."""
        name = "gp_" + stored.lower()
        carried.run("CREATE TABLE %s (a INT NOT NULL, g INT GENERATED ALWAYS AS (a*2) %s, v INT, UNIQUE KEY(a,g));"
                    "INSERT INTO %s(a,v) VALUES (7,7), (8,7)" % (name, stored, name))
        stream = carried.stream(name, [name], options={"accept_keyless": [name]})
        if carried.kind == "mariadb11.8":
            stream.wait_refused("PREFLIGHT-FAILED")
            assert "column `g` is generated there" in stream.refusals()[-1]["detail"]
            return
        stream.caught_up()
        carried.run("INSERT INTO %s(a,v) VALUES (1,1),(2,2),(3,1); DELETE FROM %s WHERE a=1; UPDATE %s SET a = 9 WHERE a = 7"
                    % (name, name, name))
        stream.caught_up()
        assert carried.dst.query("SELECT a, g, v FROM %s ORDER BY a" % name) == [(2, 4, 2), (3, 6, 1), (8, 16, 7), (9, 18, 7)]

    @pytest.mark.parametrize("stored", ["STORED", "VIRTUAL"])
    def test_generated_column_of_a_table_of_inserts(self, carried, stored):
        """Where an update leaves it out, the stream stops there and says why; inserts and deletes arrive."""
        name = "gi_" + stored.lower()
        carried.run("CREATE TABLE %s (a INT PRIMARY KEY, g INT GENERATED ALWAYS AS (a*2) %s, v INT);"
                    "INSERT INTO %s(a,v) VALUES (7,7), (8,7)" % (name, stored, name))
        stream = carried.stream(name, [name], options={"insert_only": [name]})
        stream.caught_up()
        carried.run("INSERT INTO %s(a,v) VALUES (1,1); DELETE FROM %s WHERE a = 8" % (name, name))
        stream.caught_up()
        rows = [(1, 2, 1), (7, 14, 7)]
        assert carried.dst.query("SELECT a, g, v FROM %s ORDER BY a" % name) == rows
        carried.run("UPDATE %s SET v = 9 WHERE a = 7" % name)
        if carried.kind == "mariadb11.8":
            assert "is generated" in stream.wait_refused("SOURCE-REPLICA-IDENTITY")["hint"]
        else:
            stream.caught_up()
            rows[1] = (7, 14, 9)
        assert carried.dst.query("SELECT a, g, v FROM %s ORDER BY a" % name) == rows

    def test_mt_01(self, carried):
        """Nothing is NULL where nothing may be; an instant lets all three rows in."""
        rows = "(1,'2020-05-05 01:02:03'),(2,'0000-00-00 00:00:00'),(3,'2021-06-06 04:05:06')"
        carried.run("CREATE TABLE z1 (id INT PRIMARY KEY, d DATETIME NOT NULL); INSERT INTO z1 VALUES " + rows)
        stream = carried.stream("z1", ["z1"], options={"zero_dates": "null"})
        assert "`z1`, column `d`" in str(stream.wait_refused("PREFLIGHT-FAILED")) + stream.refusals()[-1]["detail"]
        stream.start(source=False, options={"zero_dates": "1970-01-01 00:00:00+00"})
        stream.caught_up()
        assert shown(carried.dst, "SELECT d FROM z1 ORDER BY id") == [
            ("2020-05-05 01:02:03",), ("1970-01-01 00:00:00",), ("2021-06-06 04:05:06",)]
        assert carried.dst.value("SELECT attnotnull FROM pg_attribute WHERE attrelid = 'z1'::regclass AND attname = 'd'")

    def test_mt_01_stream(self, carried):
        """The same where a change brings it to a column that may not be NULL."""
        carried.run("CREATE TABLE z1s (id INT PRIMARY KEY, d DATETIME NOT NULL)")
        stream = carried.stream("z1s", ["z1s"], options={"zero_dates": "null"})
        stream.caught_up()
        carried.run("INSERT INTO z1s VALUES (2, '0000-00-00 00:00:00')")
        row = stream.wait_refused("VALUE-UNREPRESENTABLE")
        assert '"d"' in row["reason"] and re.search(r'id=2\b|\["?2"?\]', str(row)), row
        assert carried.dst.value("SELECT count(*) FROM z1s") == 0

    def test_mt_11_and_29_by_override(self, carried):
        """The empty label as text, and a text with a zero byte as bytea, arrive as they are."""
        carried.run("CREATE TABLE o_e (id INT PRIMARY KEY, c ENUM('a','b') NOT NULL);"
                    "CREATE TABLE o_n (id INT PRIMARY KEY, c VARCHAR(20))")

        def insert(first):
            fill(carried, "o_e", first, "'zzz'", "'b'")
            fill(carried, "o_n", first, "CONCAT('a',CHAR(0),'b')", "'ab'")
        insert(1)
        stream = carried.stream("overridden", ["o_*"], type_overrides={"o_e.c": "text", "o_n.c": "bytea"},
                                options={"copy_workers": 0})
        stream.caught_up()
        insert(11)
        stream.caught_up()
        assert shown(carried.dst, "SELECT c FROM o_e ORDER BY id") == [("",), ("b",)] * 2
        assert shown(carried.dst, "SELECT c FROM o_n ORDER BY id") == [("\\x610062",), ("\\x6162",)] * 2

    @pytest.mark.parametrize("policy, expected", [
        ("null", (None, None, None)),
        ("2000-02-29 12:30:00+00", ("2000-02-29", "2000-02-29 12:30:00", "2000-02-29 12:30:00+00"))])
    def test_mt_02(self, carried, policy, expected):
        """One policy for the copy and the stream; it is on record."""
        name = "z2" + policy[0]
        zeros = "'0000-00-00','0000-00-00 00:00:00.000','0000-00-00 00:00:00'"
        carried.run("CREATE TABLE %s (id INT PRIMARY KEY, d DATE, dt DATETIME(3), ts TIMESTAMP NULL);"
                    "INSERT INTO %s VALUES (1,%s)" % (name, name, zeros))
        stream = carried.stream(name, [name], options={"zero_dates": policy})
        stream.caught_up()
        carried.run("INSERT INTO %s VALUES (2,%s)" % (name, zeros))
        stream.caught_up()
        assert shown(carried.dst, "SELECT d, dt, ts FROM %s" % name) == [expected] * 2
        assert carried.dst.value("SELECT options->>'zero_dates' FROM sluice.stream WHERE stream_id = %s", name) == policy
        note = carried.dst.value("SELECT note FROM sluice.schema_objects WHERE kind = 'table' AND object_name = %s", name)
        for column, value in zip(("d", "dt", "ts"), expected):
            assert re.search(r"\b%s\b[^:]*: zero dates become %s" % (column, value.partition("+")[0] if value else "NULL"), note), note

    def test_mt_02_columns(self, carried):
        """A policy for each column, the same in both legs, and on record; one that is not clear is not taken."""
        zeros = "'0000-00-00','0000-00-00 00:00:00.000','0000-00-00 00:00:00','0000-00-00'"
        carried.run("CREATE TABLE z2c (id INT PRIMARY KEY, d DATE NOT NULL, dt DATETIME(3) NOT NULL, ts TIMESTAMP NOT NULL,"
                    " n DATE); INSERT INTO z2c VALUES (1,%s)" % zeros)
        stream = carried.stream("z2c", ["z2c"], options={
            "zero_dates": "2000-02-29 12:30:00+00",
            "zero_date_columns": {"z2c.d": "null", "z2c.[d]": "1970-01-01", "z2c.id": "null"}})
        stream.wait_refused("PREFLIGHT-FAILED")
        said = stream.refusals()[-1]["detail"]
        assert "column `d`: two entries" in said and '"z2c.id" of option zero_date_columns names no' in said, said
        stream.start(source=False, options={"zero_date_columns": {
            "z2c.d": "1970-01-01", "%s.z2*.ts" % carried.src.name: "1971-02-03 04:05:06+02", "z2c.n": "null"}})
        stream.caught_up()
        carried.run("INSERT INTO z2c VALUES (2,%s)" % zeros)
        stream.caught_up()
        assert shown(carried.dst, "SELECT d, dt, ts, n FROM z2c") == [
            ("1970-01-01", "2000-02-29 12:30:00", "1971-02-03 02:05:06+00", None)] * 2
        assert [r["status"] for r in stream.verify()] == ["equal"]
        note = carried.dst.value("SELECT note FROM sluice.schema_objects WHERE kind = 'table' AND object_name = 'z2c'")
        for text in ("d: zero dates become 1970-01-01;", "dt: zero dates become 2000-02-29 12:30:00",
                     "ts: zero dates become 1971-02-03 02:05:06", "n: zero dates become NULL"):
            assert "column " + text in note + ";", note

    def test_mt_34(self, carried):
        """Bytes of the old character set are never read as the new one's."""
        carried.run("CREATE TABLE cs4 (id INT PRIMARY KEY, s VARCHAR(50)) CHARACTER SET latin1; INSERT INTO cs4 VALUES (1,'é')")
        stream = carried.stream("cs4", ["cs4"])
        stream.caught_up()
        carried.run("INSERT INTO cs4 VALUES (2,'è')")
        stream.caught_up()
        carried.run("INSERT INTO cs4 VALUES (3,'à'); ALTER TABLE cs4 CONVERT TO CHARACTER SET utf8mb4;"
                    " INSERT INTO cs4 VALUES (4,'é🙂')")
        stream.caught_up()
        assert carried.dst.query("SELECT * FROM cs4 ORDER BY id") == [(1, "é"), (2, "è"), (3, "à"), (4, "é🙂")]

    def test_mt_52(self, carried):
        """A column that is named as a keyword comes as any other."""
        carried.run("CREATE TABLE kw2 (`order` INT PRIMARY KEY, `q\"q` INT)")
        stream = carried.stream("kw2", ["kw2"])
        stream.caught_up()
        carried.run("ALTER TABLE kw2 ADD COLUMN `select` INT DEFAULT 7; INSERT INTO kw2 (`order`) VALUES (1)")
        stream.caught_up()
        assert carried.dst.query('SELECT "order", "select" FROM kw2') == [(1, 7)]
