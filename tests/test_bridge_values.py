"""The bridge's values on real servers: a row read by the binary protocol and the same
row of the binary log become the same bytes, which PostgreSQL's receive functions take,
and which it prints as the source's own SELECT does.

The matrix has every type with its extreme values, and values of a seeded generator."""
import decimal
import ipaddress
import json
import random
import re
import struct
import uuid

import pytest

from lib.crosscheck import Crosscheck, pg_text

SEED = 20250806
RANDOM_ROWS = 60


class Col:
    """A column of the matrix: its type, its values as SQL literals, how PostgreSQL's
    text is compared with MySQL's (same: as they stand)."""

    def __init__(self, ctype, values, make=None, override=None, ours=str, theirs=None, only=None,
                 select="`%s`"):
        self.ctype, self.values, self.make, self.override = ctype, values, make, override
        self.ours, self.theirs, self.only, self.select = ours, theirs or ours, only, select


def quoted(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "''") + "'"


def hexed(data):
    return "x'%s'" % data.hex() if data else "''"


def integers(low, high):
    return [low, low + 1, -1 if low < 0 else 1, 0, 1, high - 1, high], \
        lambda r: r.randint(low, high) >> r.randint(0, 40) if low == 0 else r.randint(low, high)


def integer(ctype, low, high, **kw):
    values, make = integers(low, high)
    return Col(ctype, values, make, **kw)


def decimals(digits, scale):
    top = decimal.Decimal(10) ** digits - 1

    def text(n):
        return "%s%s.%s" % ("-" if n < 0 else "", str(abs(n)).rjust(scale + 1, "0")[:-scale],
                            str(abs(n)).rjust(scale + 1, "0")[-scale:]) if scale else str(n)
    values = [text(int(n)) for n in (top, -top, 0, 1, -1, 10 ** (digits // 2), -(10 ** (digits // 2)))]
    return Col("decimal(%d,%d)" % (digits, scale), values,
               lambda r: text(r.randint(-int(top), int(top)) // 10 ** r.randint(0, digits)))


def float4(v):
    return struct.unpack("f", struct.pack("f", float(v)))[0]


def random_float(r, fmt):
    while True:
        v, = struct.unpack(fmt, bytes(r.randrange(256) for _ in range(struct.calcsize(fmt))))
        if v == v and abs(v) != float("inf"):
            return repr(v)


def micros(r, digits):
    return ".%06d" % (r.randrange(10 ** digits) * 10 ** (6 - digits)) if digits else ""


def moment(r, digits, low, high):
    return "'%04d-%02d-%02d %02d:%02d:%02d%s'" % (
        r.randint(low, high), r.randint(1, 12), r.randint(1, 28), r.randrange(24), r.randrange(60),
        r.randrange(60), micros(r, digits))


def duration(r, digits):
    return "'%s%03d:%02d:%02d%s'" % (r.choice(["", "-"]), r.randint(0, 838), r.randrange(60),
                                     r.randrange(60), micros(r, digits) if r.random() < .8 else "")


def trimmed(text):
    """Fractions of a second without the zeros at their end, as PostgreSQL prints them."""
    return re.sub(r"\.?0+$", "", text) if "." in text else text


def datetimes(name, digits, low, high, extremes):
    clean = lambda t: trimmed(t.replace("+00", ""))       # noqa: E731
    return Col("%s(%d)" % (name, digits), ["'%s'" % v for v in extremes],
               lambda r: moment(r, digits, low, high), ours=clean)


def times(digits):
    return Col("time(%d)" % digits,
               ["'0:0:0'", "'-838:59:59'", "'838:59:59'", "'24:00:00'", "'23:59:59.999999'", "'-00:00:01'",
                "'-00:00:00.000001'", "'-00:00:00.001'", "'-00:00:00.1'", "'-01:00:00.5'", "'-507:48:27'",
                "'256:00:00'", "'-16:08:04.25'", "'-838:59:58.999999'"],
               lambda r: duration(r, digits),
               ours=lambda t: trimmed(t).replace("-00:00:00", "00:00:00") if not t.strip("-0:.") else trimmed(t))


WORDS = "aé€ü測試データ😀 \t\n'\"\\%_,;:{}[]0123456789xyzÄß"


def random_text(r, most):
    return "".join(r.choice(WORDS) for _ in range(r.randint(0, most)))


def text_of(ctype, most, words=WORDS, **kw):
    return Col(ctype, ["''", "'a'", "' lead'", quoted(words[:most]), "'tab\\tnl\\n'"[:most + 2] if most < 7 else "'tab\\tnl\\n'"],
               lambda r: quoted("".join(r.choice(words) for _ in range(r.randint(0, most)))), **kw)


def bytes_of(ctype, most, **kw):
    return Col(ctype, ["''", "x'00'", "x'0000'", hexed(bytes(most)), hexed(b"\xff" * most), "x'6100'", "x'0061'"],
               lambda r: hexed(bytes(r.randrange(256) if r.random() < .6 else 0 for _ in range(r.randint(0, most)))),
               ours=lambda t: t.removeprefix("\\x"), select="lower(hex(`%s`))", **kw)


def bits(n):
    return Col("bit(%d)" % n, [0, 1, 2 ** n - 1, 2 ** (n - 1)], lambda r: r.randrange(2 ** n),
               ours=lambda t: {"true": "1", "false": "0"}.get(t, t),
               select="lpad(bin(`%%s`+0),%d,'0')" % n)


def set_text(t):
    """text[] in PostgreSQL's spelling to the list of MySQL's."""
    return ",".join(re.sub(r'\\(.)', r'\1', a or b) for a, b in
                    re.findall(r'"((?:[^"\\]|\\.)*)"|([^,{}"]+)', t))


def documents(t):
    return json.dumps(json.loads(t, parse_float=decimal.Decimal, parse_int=decimal.Decimal),
                      sort_keys=True, default=lambda d: str(d.normalize() if d else decimal.Decimal(0)))


def random_document(r, depth=0):
    kind = r.randrange(8 if depth < 4 else 6)
    if kind == 0:
        return r.choice(["null", "true", "false"])
    if kind == 1:
        return str(r.choice([0, -1, 65535, 65536, -32769, 2 ** 31, 2 ** 63 - 1, 2 ** 64 - 1, -2 ** 63,
                             r.randint(-10 ** 6, 10 ** 6)]))
    if kind == 2:
        return r.choice(["0.1", "1.0", "1.5", "-2.25", "1e20", "1.7976931348623157e308", "123456.789"])
    if kind < 6:
        return json.dumps(random_text(r, 12), ensure_ascii=r.random() < .5)
    members = [random_document(r, depth + 1) for _ in range(r.randint(0, 4))]
    if kind == 6:
        return "[%s]" % ", ".join(members)
    return "{%s}" % ", ".join('"%s%d": %s' % (r.choice("ké€"), i, m) for i, m in enumerate(members))


ENUM = ["active", "x''y", "ü,ö", "", "D", 'q"q', "back\\\\slash"]
SET = ["x", "y''z", "ü", "back\\\\slash", 'q"q', "NULL", "a b"]


def labels(names):
    return ",".join("'%s'" % n for n in names)


def uuid_values(r):
    return "'%s'" % uuid.UUID(int=r.getrandbits(128) & ~(2 ** r.choice([0, 8, 32, 96]) - 1))


MARIADB, MYSQL = "mariadb", "mysql"

COLUMNS = [
    Col("tinyint(1)", [0, 1], lambda r: r.randint(0, 1), ours=lambda t: {"true": "1", "false": "0"}.get(t, t)),
    integer("tinyint", -128, 127), integer("tinyint unsigned", 0, 255),
    integer("smallint", -2 ** 15, 2 ** 15 - 1), integer("smallint unsigned", 0, 2 ** 16 - 1),
    integer("mediumint", -2 ** 23, 2 ** 23 - 1), integer("mediumint unsigned", 0, 2 ** 24 - 1),
    integer("int", -2 ** 31, 2 ** 31 - 1), integer("int unsigned", 0, 2 ** 32 - 1),
    integer("bigint", -2 ** 63, 2 ** 63 - 1), integer("bigint unsigned", 0, 2 ** 64 - 1),
    integer("int(7) unsigned zerofill", 0, 2 ** 32 - 1, override="text"),
    integer("bigint", -2 ** 63, 2 ** 63 - 1, override="numeric"),
    integer("bigint unsigned", 0, 2 ** 63 - 1, override="bigint"),
    Col("year", [0, 1901, 2155, 2024], lambda r: r.randint(1901, 2155), ours=lambda t: str(int(t))),
    Col("year", [0, 1901, 2155], lambda r: r.randint(1901, 2155), override="text"),
    decimals(10, 2), decimals(65, 30), decimals(65, 0), decimals(30, 30), decimals(1, 0), decimals(1, 1),
    decimals(18, 9), decimals(19, 10), decimals(9, 9), decimals(28, 1),
    Col("decimal(10,2) unsigned zerofill", ["0", "12.3", "99999999.99"], override="text"),
    Col("float", ["0", "-0.0", "16777217", "1.1754943e-38", "3.4028234663852886e38", "-3.4028234663852886e38", "0.1", "1e-45"],
        lambda r: random_float(r, "f"), ours=float4, select="`%s` * 1e0"),
    Col("double", ["0", "0.1", "1.7976931348623157e308", "-1.7976931348623157e308", "2.2250738585072014e-308",
                   "5e-324"], lambda r: random_float(r, "d"), ours=float),
    Col("float", ["0.5", "16777217"], lambda r: random_float(r, "f"), override="double precision", ours=float4,
        select="`%s` * 1e0"),
    Col("double", ["0.1", "5e-324"], lambda r: random_float(r, "d"), override="text", ours=float),
    Col("date", ["'1000-01-01'", "'9999-12-31'", "'0001-01-01'", "'2000-02-29'", "'1970-01-01'", "'1999-12-31'"],
        lambda r: moment(r, 0, 1, 9999)[:11] + "'"),
    *[datetimes("datetime", d, 1, 9999, ["1000-01-01 00:00:00", "9999-12-31 23:59:59", "2026-01-30 12:34:56.123456",
                                         "0001-01-01 00:00:00", "1999-12-31 23:59:59.1"]) for d in range(7)],
    *[datetimes("timestamp", d, 1971, 2037, ["1970-01-01 00:00:01", "2038-01-19 03:14:07", "2025-11-02 05:30:00",
                                             "2025-11-02 06:30:00.654321"]) for d in range(7)],
    Col("timestamp(3)", ["'1970-01-01 00:00:01.5'"], lambda r: moment(r, 3, 1971, 2037), override="text"),
    Col("datetime(6)", ["'0000-00-00 00:00:00'", "'2021-00-15 01:02:03.000004'"], lambda r: moment(r, 6, 1, 9999),
        override="text"),
    Col("date", ["'0000-00-00'", "'2021-11-00'"], lambda r: moment(r, 0, 1, 9999)[:11] + "'", override="text"),
    *[times(d) for d in range(7)],
    Col("time(6)", ["'-838:59:59'", "'-00:00:00.000001'", "'00:00:00'"], lambda r: duration(r, 6), override="text"),
    text_of("char(7)", 7, ours=str.rstrip), text_of("char(255)", 200, ours=str.rstrip),
    text_of("varchar(20)", 20), text_of("varchar(700)", 300), text_of("tinytext", 60), text_of("text", 500),
    text_of("mediumtext", 40), text_of("longtext", 40), text_of("varchar(20)", 20, override="text"),
    text_of("varchar(20) character set latin1", 20, "aéüß ÿ\x81\x8d‚€™"),
    text_of("char(20) character set latin1", 20, "aéüß", ours=str.rstrip),
    text_of("varchar(20) character set ucs2", 20, "aé€測"), text_of("char(9) character set utf16", 9, "aé€😀", ours=str.rstrip),
    text_of("text character set utf32", 20, "aé😀"), text_of("varchar(20) character set gbk", 20, "a测试数据"),
    text_of("varchar(20) character set sjis", 20, "aデータｱ"), text_of("varchar(20) character set utf8mb3", 20, "aé€"),
    text_of("varchar(20) character set ascii", 20, "abc~ "), text_of("varchar(20) character set cp1251", 20, "aЖя"),
    bytes_of("binary(1)", 1), bytes_of("binary(16)", 16), bytes_of("binary(255)", 255),
    bytes_of("varbinary(20)", 20), bytes_of("varbinary(300)", 300), bytes_of("tinyblob", 60), bytes_of("blob", 900),
    bytes_of("mediumblob", 20), bytes_of("longblob", 20),
    *[bits(n) for n in (1, 2, 7, 8, 9, 12, 17, 31, 32, 33, 63, 64)],
    Col("enum(%s)" % labels(ENUM), ["''"] + ["'%s'" % v for v in ENUM], lambda r: "'%s'" % r.choice(ENUM)),
    Col("enum(%s)" % labels("l%d" % i for i in range(300)), ["'l0'", "'l299'"], lambda r: "'l%d'" % r.randrange(300)),
    Col("enum('é','b') character set latin1", ["'é'", "'b'"], lambda r: r.choice(["'é'", "'b'"])),
    Col("set(%s)" % labels(SET), ["''"] + ["'%s'" % v for v in SET] + ["'%s'" % ",".join(SET)],
        lambda r: "'%s'" % ",".join(v for v in SET if r.random() < .5), ours=set_text, theirs=str),
    Col("set(%s)" % labels("s%d" % i for i in range(64)), ["''", "'s0,s63'", 2 ** 64 - 1], lambda r: r.randrange(2 ** 64),
        override="text"),
    Col("set('é','b') character set latin1", ["''", "'é,b'"], override="text"),
    Col("json", ["'null'", "'{}'", "'[]'", "'[0, 1.0, 2.50]'", "'{\"a\": [1, {\"b\": null}]}'", "'\"\\\\u00e9\\\\n\"'"],
        lambda r: quoted(random_document(r)), ours=documents),
    Col("json", ["'{\"a\": 1}'"], lambda r: quoted(random_document(r)), override="json", ours=documents),
    Col("json", ["JSON_OBJECT('t', CAST('2015-01-15 23:24:25' AS DATETIME), 'b', CAST(x'cafe' AS BINARY), "
                 "'n', CAST(105.0000000000 AS DECIMAL(20,10)))", "CAST(-0.05 AS JSON)",
                 "CAST(CAST('-12:00:01.5' AS TIME(6)) AS JSON)", "CAST(DATE '2024-02-29' AS JSON)"],
        ours=documents, only=MYSQL),
    Col("vector(3)", ["STRING_TO_VECTOR('[1,-2.5,0]')", "STRING_TO_VECTOR('[3.4e38,1]')"], only=MYSQL,
        override="bytea", ours=lambda t: t.removeprefix("\\x"), select="lower(hex(`%s`))"),
    Col("uuid", ["'00000000-0000-0000-0000-000000000000'", "'ffffffff-ffff-ffff-ffff-ffffffffffff'",
                 "'123e4567-e89b-12d3-a456-426655440000'", "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'",
                 "'01890a5d-ac96-774b-bcce-b302099a8000'"], uuid_values, only=MARIADB),
    Col("inet4", ["'0.0.0.0'", "'255.255.255.255'", "'10.0.0.1'", "'127.0.0.0'"],
        lambda r: "'%d.%d.%d.%d'" % tuple(r.randrange(256) for _ in range(4)), only=MARIADB,
        ours=lambda t: t.removesuffix("/32")),
    Col("inet6", ["'::'", "'::1'", "'2001:db8::'", "'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'", "'::ffff:1.2.3.4'"],
        lambda r: "'%s'" % ":".join("%x" % (r.randrange(65536) if r.random() < .7 else 0) for _ in range(8)),
        only=MARIADB, ours=lambda t: str(ipaddress.ip_address(t.removesuffix("/128")))),
    text_of("varchar(100) compressed", 90, only=MARIADB), text_of("longtext compressed", 400, only=MARIADB),
    text_of("varchar(50) compressed character set latin1", 40, "aéü", only=MARIADB),
    bytes_of("varbinary(900) compressed", 700, only=MARIADB), bytes_of("blob compressed", 900, only=MARIADB),
]


def columns_for(server):
    family = MARIADB if server.is_mariadb else MYSQL
    return [("c%d" % i, c) for i, c in enumerate(COLUMNS) if c.only in (None, family)]


def rows_of(cols):
    """Literals, row by row: the extreme values first, NULL where a column has no more."""
    r = random.Random(SEED)
    extremes = max(len(c.values) for _, c in cols)
    rows = [[c.values[i] if i < len(c.values) else "NULL" for _, c in cols] for i in range(extremes)]
    for _ in range(RANDOM_ROWS):
        rows.append([c.make(r) if c.make and r.random() < .9 else r.choice(c.values) for _, c in cols])
    return rows


def inserted(my_db, table, rows, session="SET sql_mode = '', time_zone = '+00:00'"):
    """Insert rows of literals with ids from 0; where the log was before."""
    file, pos = my_db.server.position()
    for i, row in enumerate(rows):
        my_db.execute("%s; INSERT INTO %s VALUES (%d, %s)" % (
            session, table, i, ", ".join(str(v) for v in row)))
    return file, pos


def test_matrix(my_db, target):
    """Every type: both protocols, PostgreSQL's receive functions, and the text."""
    cols = columns_for(my_db.server)
    rows = rows_of(cols)
    my_db.execute("SET sql_mode = ''; CREATE TABLE m (id int PRIMARY KEY, %s) ROW_FORMAT = DYNAMIC" % ", ".join(
        "%s %s NULL" % (n, c.ctype) for n, c in cols))
    file, pos = inserted(my_db, "m", rows)
    check = Crosscheck(my_db, "m", file, pos, {n: c.override for n, c in cols if c.override})
    assert len(check.protocol) == len(check.log) == len(rows)
    assert check.differences() == []
    theirs = my_db.execute("SET time_zone = '+00:00'; SELECT id, %s FROM m ORDER BY id" % ", ".join(
        c.select % n for n, c in cols), conv={})
    ours = pg_text(target, check)
    wrong = []
    for i, (mine, its) in enumerate(zip(ours, theirs)):
        for (n, c), a, b in zip(cols, mine[1:], its[1:]):
            a = a if a is None else c.ours(a)
            b = b if b is None else c.theirs(b if isinstance(b, str) else str(
                b.decode() if isinstance(b, bytes) else b))
            if a != b:
                wrong.append("%s row %d: %r is not %r" % (c.ctype, i, a, b))
    assert not wrong, "\n".join(wrong[:60])


ZERO_ROWS = [["'0000-00-00'"] * 4, ["'2021-00-15'", "'2021-00-15 01:02:03.004'", "0", "'00:00:00'"],
             ["'2021-11-00'", "'0000-05-05'", "0", "'00:00:00'"]]


@pytest.mark.parametrize("policy, expected", [
    ("refuse", "!a_zero_or_partly_zero_date"), ("null", "~"),
    ("-946684799000000", (struct.pack(">i", -10957), struct.pack(">q", -946684799000000)))])
def test_zero_dates(my_db, policy, expected):
    """Zero and partly zero dates by each policy, in both protocols alike; a day that no
    calendar has by none of them; times of zero are times."""
    my_db.execute("CREATE TABLE z (id int PRIMARY KEY, d date, dt datetime(3), ts timestamp NULL, t time(2))")
    session = "SET sql_mode = 'ALLOW_INVALID_DATES', time_zone = '+00:00'"
    file, pos = inserted(my_db, "z", ZERO_ROWS + [["'2021-02-31'", "'2021-02-31 00:00:00'", "'2021-02-03'", "'0:0:0'"]],
                         session)
    check = Crosscheck(my_db, "z", file, pos, zero_dates=policy)
    assert check.differences() == []
    assert len(check.log) == 4
    midnight = struct.pack(">qii", 0, 0, 0)
    for row in check.log[:3]:
        if isinstance(expected, tuple):
            assert row[1] == expected[0] and row[2:4] == [expected[1]] * 2
        else:
            assert all(cell.startswith(expected) for cell in row[1:4])
        assert row[4] == midnight
    assert all(cell.startswith("!a_date_that_no_calendar_has") for cell in check.log[3][1:3])


POINTS = ["POINT(35.17 136.88)", "LINESTRING(0 0,1 2,3 4)", "POLYGON((0 0,0 4,4 4,0 0),(1 2,2 3,1 3,1 2))",
          "MULTIPOINT(1 1,2 2)", "MULTILINESTRING((0 0,1 1),(2 2,3 3))", "MULTIPOLYGON(((0 0,0 1,1 1,0 0)))",
          "GEOMETRYCOLLECTION(POINT(1 2),LINESTRING(0 0,1 1))"]


@pytest.mark.parametrize("srid", [0, 3857, 4326])
def test_geometries(my_db, target, srid):
    """PostGIS has the same points with X = longitude, and the SRID."""
    mysql = not my_db.server.is_mariadb
    names = ["point", "linestring", "polygon", "multipoint", "multilinestring", "multipolygon", "geometrycollection"]
    kinds = ["%s%s" % (n, " SRID %d" % srid if mysql else "") for n in names] + ["geometry"]
    my_db.execute("CREATE TABLE g (id int PRIMARY KEY, %s)" % ", ".join(
        "c%d %s" % (i, k) for i, k in enumerate(kinds)))
    file, pos = inserted(my_db, "g", [["ST_GeomFromText('%s', %d)" % (p, srid) for p in POINTS + POINTS[:1]]])
    check = Crosscheck(my_db, "g", file, pos)
    assert check.differences() == []
    ours = pg_text(target, check, "ST_SRID(%s) || ' ' || encode(ST_AsBinary(%s, 'NDR'), 'hex')")
    shown = "ST_AsWKB(c%d, 'axis-order=long-lat')" if mysql else "ST_AsWKB(c%d)"
    theirs = my_db.execute("SELECT %s FROM g" % ", ".join(shown % i for i in range(len(kinds))))
    assert list(ours[0][1:]) == ["%d %s" % (srid, v.hex()) for v in theirs[0]]
    if mysql:
        assert check.columns[1][2] == ("geometry(Point,%d)" % srid if srid else "geometry(Point)")
    if mysql and srid == 4326:
        x, y = struct.unpack("<dd", bytes.fromhex(ours[0][1].split()[1])[5:])
        assert (x, y) == (136.88, 35.17)


@pytest.mark.parametrize("kind", ["mariadb10.11", "mariadb11.8"])
def test_old_temporal_storage(make_mysql, kind):
    """Times as MariaDB stored them before 10.1 are refused by their type, before a row is read."""
    server = make_mysql(kind, mysql56_temporal_format="OFF")
    my_db = server.fresh_db("old")
    for i, ctype in enumerate(["time", "datetime", "timestamp", "time(3)", "datetime(6)"]):
        my_db.execute("CREATE TABLE o%d (id int PRIMARY KEY, a %s NULL)" % (i, ctype))
        with pytest.raises(AssertionError, match="mysql56_temporal_format"):
            Crosscheck(my_db, "o%d" % i, *my_db.server.position())
