"""What a MySQL or MariaDB schema becomes: every statement runs, and means the same."""
import datetime
import itertools
import random
from decimal import Decimal

import pymysql
import pytest

from lib.planned import build, named, plan_of


@pytest.fixture
def dst(target, request):
    """A database of its own with the extension."""
    db = target.fresh_db(request.node.name, extension=True)
    yield db
    db.destroy()


# ---------- expressions ----------

def base_table(server):
    nopad = "utf8mb4_nopad_bin" if server.is_mariadb else "utf8mb4_0900_bin"
    return """
CREATE TABLE b (
    id int PRIMARY KEY,
    a int, u int unsigned, l bigint, lu bigint unsigned, ti tinyint, f tinyint(1), bi bit(1), z int(6) zerofill,
    s varchar(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
    n varchar(20) CHARACTER SET utf8mb4 COLLATE """ + nopad + """,
    ch char(5) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
    ci varchar(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci,
    la varchar(20) CHARACTER SET latin1 COLLATE latin1_bin,
    x varbinary(8), k binary(16), asc_ varchar(20) CHARACTER SET ascii COLLATE ascii_bin,
    e enum('new','Paid','void'), ec enum('a','A','b') CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
    de decimal(10,2), d4 decimal(6,4), fl float, db double,
    dd date, dt datetime(3), ts timestamp(3) NULL, tm time, y year"""


BASE = ["id", "a", "u", "l", "lu", "ti", "f", "bi", "z", "s", "n", "ch", "ci", "la", "x", "k", "asc_", "e", "ec",
        "de", "d4", "fl", "db", "dd", "dt", "ts", "tm", "y"]

# expressions, and the type of the column: these must be translated
EQUAL = [
    ("a + 1", "bigint"), ("a * 2 - 3", "bigint"), ("a * l", "bigint"), ("-a", "bigint"), ("-(-7)", "int"),
    ("u + 1", "bigint"), ("u * 2", "bigint unsigned"), ("ti + f", "int"), ("a DIV 3", "int"), ("a % 7", "int"),
    ("l DIV 1000", "bigint"), ("l MOD 10", "int"), ("a & 5", "int"), ("u | 8", "bigint"), ("u & ti", "bigint"),
    ("lu > 5", "int"), ("abs(a)", "bigint"), ("sign(de)", "int"), ("floor(de)", "bigint"), ("ceiling(de)", "bigint"),
    ("round(de)", "bigint"), ("round(de, 1)", "decimal(12,1)"), ("truncate(de, 1)", "decimal(12,1)"),
    ("round(d4, 2)", "decimal(8,2)"), ("de * a", "decimal(30,2)"), ("de + 1.005", "decimal(20,3)"),
    ("de * d4", "decimal(20,6)"), ("de", "decimal(12,1)"), ("de", "bigint"), ("a", "double"), ("de", "double"),
    ("greatest(a, ti)", "int"), ("least(a, u, 5)", "bigint"), ("if(a > 0, 1, NULL)", "tinyint"),
    ("if(f, 'yes', 'no')", "varchar(3)"), ("ifnull(a, -1)", "int"), ("ifnull(s, 'none')", "varchar(20)"),
    ("coalesce(a, ti, 0)", "int"), ("nullif(a, 7)", "int"), ("nullif(de, 0)", "decimal(10,2)"),
    ("case when a is null then 1 when a in (1, 7) then 2 else 3 end", "int"),
    ("case a when 1 then 'one' when -1 then 'minus' end", "varchar(5)"),
    ("case when dd is null then NULL else 1 end", "tinyint(1)"),
    ("a > 0 and ti < 0 or not f", "int"), ("a xor f", "int"), ("a <=> ti", "int"), ("a <> u", "int"),
    ("a between -1 and 7", "tinyint(1)"), ("a not between ti and 7", "int"), ("a not in (1, NULL)", "int"),
    ("f is true", "int"), ("a is not true", "int"), ("a is false", "int"), ("f = 1", "int"), ("bi", "tinyint(1)"),
    ("isnull(a)", "int"), ("not a", "int"), ("!f", "int"), ("a and 1", "int"),
    ("fl > 0.1", "int"), ("db <= a", "int"), ("l = db", "int"), ("fl = 0.1", "int"), ("lu >= db", "int"),
    ("s = 'abc'", "int"), ("s <> 'abc  '", "int"), ("n = 'abc'", "int"), ("n = ''", "int"), ("s in ('a', 'abc')", "int"),
    ("ch = 'ab'", "int"), ("ch <=> 'ab'", "int"), ("la = 'abc'", "int"), ("s like 'a%c'", "int"), ("s like 'a\\\\_%'", "int"),
    ("n like '%\\\\%'", "int"), ("ch like 'a_'", "int"),
    ("e = 'new'", "int"), ("e in ('new', 'void')", "int"), ("e <> 'Paid'", "int"), ("e is null", "int"),
    ("concat(s, '-', ch)", "varchar(40)"), ("concat(a, ':', de, ':', lu)", "varchar(60)"), ("concat(s, ch)", "text"),
    ("concat('x', ti, f)", "varchar(50)"), ("char_length(s)", "int"), ("char_length(ch)", "int"),
    ("length(x)", "int"), ("length(asc_)", "int"), ("length(k)", "int"), ("left(s, 2)", "varchar(2)"), ("right(ch, 2)", "char(2)"),
    ("substring(s, 2, 3)", "varchar(3)"), ("substr(ch, 2)", "varchar(5)"), ("substring(x, 2, 2)", "varbinary(8)"),
    ("trim(s)", "varchar(20)"), ("ltrim(s)", "varchar(20)"), ("rtrim(n)", "varchar(20)"),
    ("replace(s, 'b', 'xx')", "varchar(40)"), ("lpad(a, 8, '0')", "varchar(8)"), ("rpad(s, 6, '-+')", "varchar(6)"),
    ("lower(asc_)", "varchar(20)"), ("upper(asc_)", "varchar(20)"), ("hex(x)", "varchar(16)"), ("hex(k)", "char(32)"),
    ("cast(a as char(20))", "varchar(20)"), ("cast(ti as signed)", "bigint"), ("cast(u as unsigned)", "bigint unsigned"),
    ("cast(de as signed)", "bigint"), ("cast(a as decimal(12,2))", "decimal(12,2)"),
    ("cast(de as decimal(12,1))", "decimal(12,1)"), ("cast(dt as date)", "date"), ("cast(dd as datetime)", "datetime"),
    ("date(dt)", "date"), ("year(dd)", "int"), ("month(dt)", "int"), ("dayofmonth(dd)", "int"), ("quarter(dd)", "int"),
    ("dayofyear(dt)", "int"), ("dayofweek(dd)", "int"), ("weekday(dd)", "int"), ("hour(dt)", "int"), ("minute(dt)", "int"),
    ("second(dt)", "int"), ("extract(year from dt)", "int"), ("to_days(dd)", "int"), ("datediff(dd, '2020-02-29')", "int"),
    ("datediff(dt, dd)", "int"), ("dd > '2000-01-01'", "int"), ("dt >= '2000-01-01 12:00:00.5'", "int"),
    ("dt = dd", "int"), ("dd between '1999-12-31' and '2024-02-29'", "int"), ("dt < '2024-02-29'", "int"),
    ("y > 2000", "int"), ("y + 1", "int"), ("y = 1999 or y is null", "int"), ("1 + 2 * 3", "int"), ("'const'", "varchar(9)"),
    ("greatest(dd, date(dt))", "date"), ("ifnull(dt, cast(dd as datetime))", "datetime(3)"), ("z + 1", "bigint"),
]

# these have a corner where they differ, and must stay plain
DIFFERENT = [
    ("a * 2", "int"), ("a / 2", "decimal(14,4)"), ("u - 1", "bigint"), ("a % ti", "int"), ("lu + 1", "bigint unsigned"),
    ("db * 2", "double"), ("db", "float"), ("a DIV 0", "int"), ("de", "decimal(8,2)"), ("a", "tinyint(1)"),
    ("ci = 'abc'", "int"), ("ci > 'abc'", "int"), ("s < 'abc'", "int"), ("ci like 'a%'", "int"), ("ec = 'a'", "int"),
    ("e = 'paid'", "int"), ("e > 'new'", "int"), ("s = a", "int"), ("a = '1'", "int"), ("concat(s, ci)", "varchar(30)"),
    ("concat(dd, '')", "varchar(20)"), ("concat(fl, '')", "varchar(30)"), ("concat(z, '')", "varchar(30)"),
    ("concat(de * 2, '')", "varchar(30)"), ("concat(s, la)", "varchar(60)"), ("s", "varchar(20) CHARACTER SET latin1"),
    ("upper(s)", "varchar(20)"), ("length(s)", "int"), ("substring(s, -2)", "varchar(20)"), ("instr(s, 'b')", "int"),
    ("concat_ws(',', s, ch)", "varchar(60)"), ("cast(s as signed)", "bigint"), ("cast(l as unsigned)", "bigint unsigned"),
    ("cast(s as char(2))", "varchar(2)"), ("x", "binary(8)"), ("dt + interval 1 day", "datetime(3)"),
    ("dt", "datetime"), ("ts > '2000-01-01'", "int"), ("ts > dt", "int"), ("dd > '2000-1-1'", "int"), ("y > ti", "int"),
    ("~a", "bigint unsigned"), ("a << 2", "bigint unsigned"), ("week(dd)", "int"), ("date_format(dd, '%%Y')", "varchar(9)"),
    ("s is true", "int"), ("crc32(s)", "bigint"), ("strcmp(s, 'a')", "int"), ("field(s, 'a', 'b')", "int"),
    ("if(a, s, dd)", "varchar(30)"), ("format(a, 2)", "varchar(30)"), ("a ^ 1", "bigint unsigned"), ("pow(a, 2)", "double"),
    ("(a + 1) + 'x'", "double"), ("s regexp 'a'", "int"), ("greatest(s, 'a')", "varchar(20)"),
]

POOL = {
    "a": [None, 0, 1, -1, 7, -7, 5, 2147483647, -2147483648], "u": [None, 0, 1, 8, 4294967295],
    "l": [None, 0, -1, 12345, 9007199254740993, 4000000000, -4000000000], "lu": [None, 0, 5, 6, 18446744073709551615, 9007199254740993],
    "ti": [None, 0, 1, -1, 127, -128], "f": [None, 0, 1], "bi": [None, b"\0", b"\1"], "z": [None, 0, 42],
    "s": [None, "", " ", "a", "abc", "abc ", "ABC", " a b ", "a_c", "añ𝄞c", "bbbb"], "n": [None, "", " ", "abc", "abc ", "50%"],
    "ch": [None, "", "ab", "AB", "a b", "é"], "ci": [None, "abc", "ABC"], "la": [None, "abc", "abc ", "é"],
    "x": [None, b"", b"\0\1", b"abcdefgh"], "k": [None, b"k" * 16, b"\xff" * 15], "asc_": [None, "", "aBc", "x y"],
    "e": [None, "new", "Paid", "void"], "ec": [None, "a", "A"],
    "de": [None, Decimal("0.00"), Decimal("1.05"), Decimal("-1.05"), Decimal("2.50"), Decimal("-2.50"), Decimal("99999999.99")],
    "d4": [None, Decimal("0.0050"), Decimal("-12.3450"), Decimal("99.9999")], "fl": [None, 0, 0.1, -1.5, 16777216], "db": [None, 0, 0.1, 9007199254740992, -1e300],
    "dd": [None, "1000-01-01", "1999-12-31", "2020-02-29", "2024-02-29", "9999-12-31"],
    "dt": [None, "2000-01-01 00:00:00.000", "2024-02-29 23:59:59.999", "1999-12-31 12:00:00.500"],
    "ts": [None, "2024-02-29 23:59:59.999"], "tm": [None, "-12:30:00"], "y": [None, 0, 1999, 2024, 2155],
}


def rows_of(seed):
    """Every value of every column beside random others."""
    rng = random.Random(seed)
    rows = []
    for column in BASE[1:]:
        for value in POOL[column]:
            for _ in range(2):
                row = {c: rng.choice(POOL[c]) for c in BASE[1:]}
                row[column] = value
                rows.append(row)
    return rows


def same(value):
    """A value of either driver in one form."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, memoryview):
        return bytes(value)
    return value


def for_target(column, value):
    if value is None:
        return None
    if column == "k":
        return value.ljust(16, b"\0")
    if column == "bi":
        return value == b"\1"
    return bool(value) if column == "f" else value


def insert(my, pg, rows):
    """The rows that the source takes, on both sides; how many these are."""
    columns = ", ".join("`%s`" % c for c in BASE)
    holes = ", ".join(["%s"] * len(BASE))
    n = 0
    with my.cursor() as out, pg.cursor() as into:
        for row in rows:
            values = [n + 1] + [row[c] for c in BASE[1:]]
            try:
                out.execute("INSERT INTO b (%s) VALUES (%s)" % (columns, holes), values)
            except (pymysql.err.DataError, pymysql.err.OperationalError, pymysql.err.IntegrityError) as e:
                assert e.args[0] in (1690, 1264, 1365, 1292, 1366, 1406, 3819, 4025), e
                continue
            n += 1
            into.execute("INSERT INTO public.b (%s) VALUES (%s)" % (columns.replace("`", '"'), holes),
                         [values[0]] + [for_target(c, row[c]) for c in BASE[1:]])
    my.commit()
    pg.commit()
    return n


def added(table, first, cells):
    """The statement that adds generated columns g{first}, …"""
    return "ALTER TABLE %s %s" % (table, ", ".join(
        "ADD g%d %s GENERATED ALWAYS AS (%s) VIRTUAL" % (first + i, ctype, expression.replace("%%", "%"))
        for i, (expression, ctype) in enumerate(cells)))


def add_different(my_db):
    """Those that this server has at all, which are nearly all: their numbers."""
    numbers = []
    for i, cell in enumerate(DIFFERENT):
        try:
            my_db.execute(added("d", i, [cell]))
            numbers.append(i)
        except pymysql.err.MySQLError as e:
            assert e.args[0] in (1064, 1305, 3102, 3763, 1901, 1674, 1292), (cell, e)
    assert len(numbers) >= len(DIFFERENT) - 4, numbers
    return numbers


def test_different_expressions_stay_plain(my_db, dst):
    my_db.execute(base_table(my_db.server).replace("TABLE b", "TABLE d") + ")")
    numbers = add_different(my_db)
    objects = plan_of(my_db)
    build(dst, objects)
    assert "generated" not in named(objects, "table", "d")
    for i in numbers:
        note = named(objects, "default", "g%d" % i)["note"]
        assert note.startswith("it is carried as a plain column: its expression "), note


def test_expressions_mean_the_same(my_db, dst):
    my_db.execute(base_table(my_db.server) + ")")
    my_db.execute(added("b", 0, EQUAL))
    objects = plan_of(my_db)
    notes = {o["name"]: o["note"] for o in objects if o["kind"] == "default"}
    assert not notes, notes
    build(dst, objects)
    names = ["g%d" % i for i in range(len(EQUAL))]
    assert named(objects, "table", "b")["generated"] == names
    with my_db.connect() as my, dst.connect() as pg:
        n = insert(my, pg, rows_of(7))
        assert n > 100, n
        with my.cursor(pymysql.cursors.Cursor) as a, pg.cursor() as b:
            for cur, table in ((a, "b"), (b, "public.b")):
                cur.execute("SELECT id, %s FROM %s ORDER BY id" % (", ".join(names), table))
            wrong = [(EQUAL[i], left[0], x, y)
                     for left, right in itertools.zip_longest(a.fetchall(), b.fetchall())
                     for i, (x, y) in enumerate(zip(left[1:], right[1:]))
                     if same(x) != same(trimmed(y, EQUAL[i][1]))]
    assert not wrong, "\n".join(map(str, wrong[:20]))


def trimmed(value, ctype):
    """char(n) of PostgreSQL has the blanks that the source strips."""
    return value.rstrip(" ") if ctype.startswith("char") and isinstance(value, str) else value
