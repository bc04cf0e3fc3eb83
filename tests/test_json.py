"""JSON: MySQL's binary form and its differences against what the server itself
prints, and JSON text against what jsonb holds."""
import decimal
import json
import math
import random
import struct

import pytest

from lib import jsonlog
from lib.programs import convert


@pytest.fixture
def docs(mysql9, request):
    """A table (id, d JSON) in a MySQL database, as Docs."""
    db = mysql9.fresh_db(request.node.name)
    db.execute("CREATE TABLE docs (id INT PRIMARY KEY, d JSON)")
    yield Docs(db)
    db.destroy()


class Docs:
    def __init__(self, db):
        self.db = db
        self.start = db.server.flush_logs(), 4

    def texts(self):
        return dict(self.db.query("SELECT id, CAST(d AS CHAR) FROM docs"))

    def insert(self, expressions):
        """One row for each SQL expression, zero dates allowed."""
        with self.db.connect() as conn, conn.cursor() as cur:
            cur.execute("SET SESSION sql_mode = ''")
            for i, expression in enumerate(expressions):
                cur.execute("INSERT INTO docs SELECT %d, %s" % (i, expression))

    def insert_texts(self, texts):
        with self.db.connect() as conn, conn.cursor() as cur:
            cur.executemany("INSERT INTO docs VALUES (%s, %s)", list(enumerate(texts)))

    def check(self):
        """The log's binary values are the server's text; returns how many."""
        rows = jsonlog.json_rows(self.db.server, self.start)
        texts = self.texts()
        assert sorted(r[0] for r in rows) == sorted(texts)
        ours = convert((r[2].hex() for r in rows), "json")
        wrong = [_first_difference(texts[r[0]], _text(o)) for r, o in zip(rows, ours)
                 if _text(o) != texts[r[0]]]
        assert not wrong, "%d of %d: %s" % (len(wrong), len(rows), wrong[:9])
        return len(rows)


def _text(line):
    return line if line.startswith("!") else bytes.fromhex(line).decode()


def _first_difference(theirs, ours):
    at = next((i for i, (a, b) in enumerate(zip(theirs, ours)) if a != b),
              min(len(theirs), len(ours)))
    return theirs[max(0, at - 25):at + 40], ours[max(0, at - 25):at + 40]


OPAQUE = [
    "JSON_ARRAY(%s)" % value for value in (
        "CAST(0.05 AS DECIMAL(3,2))", "CAST(-0.05 AS DECIMAL(30,20))", "1.0", "2.50", "-12345.678900",
        "CAST(105.0000000000 AS DECIMAL(20,10))", "CAST(0 AS DECIMAL(5,2))", "CAST(-0.0 AS DECIMAL(5,2))",
        "CAST(REPEAT('9', 65) AS DECIMAL(65,0))", "CAST(CONCAT('-', REPEAT('9', 35), '.', REPEAT('1', 30)) "
        "AS DECIMAL(65,30))", "CAST('0.000000000000000000000000000001' AS DECIMAL(65,30))",
        "CAST(123456789 AS DECIMAL(9,0))", "CAST(0.123456789 AS DECIMAL(9,9))", "CAST(1 AS DECIMAL(65,30))",
        "TIME'-838:59:59'", "TIME'838:59:59'", "TIME'00:00:00'", "TIME'-00:00:00.1'", "TIME'00:00:00.000001'",
        "TIME'23:59:59.999999'", "DATE'0000-00-00'", "DATE'2024-02-29'", "DATE'9999-12-31'", "DATE'2024-00-00'",
        "TIMESTAMP'2020-01-02 03:04:05.678'", "TIMESTAMP'0000-00-00 00:00:00'", "TIMESTAMP'9999-12-31 23:59:59.999999'",
        "CAST('2015-01-15 23:24:25' AS DATETIME)", "b'1000000011'", "x'cafe'", "CAST(x'cafe' AS BINARY)",
        "CAST('' AS BINARY)", "x'00'", "CAST(REPEAT('x', 57) AS BINARY)", "CAST(REPEAT('x', 58) AS BINARY)",
        "CAST(REPEAT(x'00ff7f', 50000) AS BINARY)", "POINT(1, 2)", "true", "null", "18446744073709551615",
        "-9223372036854775808", "CAST(1.1 AS FLOAT)", "-0e0", "CAST(2020 AS YEAR)",
    )
]


def test_opaque(docs):
    docs.db.execute("CREATE TABLE src (y YEAR, e ENUM('a','b'), s SET('a','b'), bt BIT(10), bt64 BIT(64), "
                    "g GEOMETRY, ts TIMESTAMP(3) NULL, dt DATETIME, t TIME(2), d DATE, tb TINYBLOB, b BLOB, "
                    "mb MEDIUMBLOB, lb LONGBLOB, vb VARBINARY(5), bi BINARY(3), f FLOAT, n DECIMAL(10,4), "
                    "tt TINYTEXT, i TINYINT UNSIGNED, c CHAR(3) CHARACTER SET latin1)")
    docs.db.execute("INSERT INTO src VALUES (2020, 'b', 'a,b', b'1000000011', 1, POINT(1, 2), "
                    "'2020-01-01 00:00:00.123', '2020-01-01', '-12:34:56.78', '2020-01-01', x'00', x'01ff', x'02', "
                    "x'03', x'04', x'05', 1.1, -0.05, 'xx', 255, 'ü')")
    columns = [row[0] for row in docs.db.query("SHOW COLUMNS FROM src")]
    docs.insert(OPAQUE + ["JSON_OBJECT('%s', %s) FROM src" % (c, c) for c in columns])
    assert docs.check() == len(OPAQUE) + len(columns)


def test_scalars_and_strings(docs):
    texts = ["null", "true", "false", '""', '"x"', "0", "-1", "[]", "{}", '{"": ""}', "[0, 1.0, 2.50]",
             '"%s"' % ("a" * 127), '"%s"' % ("a" * 128), '"%s"' % ("ü" * 9000), '"%s"' % ("x" * 2100000)]
    texts += [str(sign * (1 << bits) + d) for bits in (7, 8, 15, 16, 31, 32, 63) for sign in (1, -1)
              for d in (-1, 0, 1)]
    texts += ["[%s]" % t for t in texts[-42:]]
    texts += [json.dumps("".join(map(chr, range(0, 0x180)))), json.dumps("\U0001f600\u2028\x7f\"\\/")]
    texts += [json.dumps({"".join(map(chr, range(0, 0x180))): 1, "\U0001f600": {"a": None}}, ensure_ascii=False)]
    docs.insert_texts(texts)
    assert docs.check() == len(texts)


def test_added_column(docs):
    """A row that is older than its JSON column has no bytes there."""
    docs.db.execute("DROP TABLE docs; CREATE TABLE docs (id INT PRIMARY KEY); INSERT INTO docs VALUES (1); "
                    "ALTER TABLE docs ADD COLUMN d JSON NOT NULL")
    docs.start = docs.db.server.flush_logs(), 4
    docs.db.execute("UPDATE docs SET id = 2")
    assert docs.texts() == {2: "null"}
    rows = jsonlog.json_rows(docs.db.server, docs.start)
    assert [r[:3] for r in rows] == [(2, b"", b"")]
    assert convert(["", " "], "json") == [b"null".hex()] * 2


def test_doubles(docs):
    """The shortest digits, in the server's form: powers, their neighbours, ties, any bits."""
    rnd = random.Random(20)
    numbers = [math.ldexp(m, e) for e in range(-1074, 1020) for m in (1, -3)]
    numbers += [float("1e%d" % e) for e in range(-323, 309)]
    numbers += [float("%de%d" % (rnd.getrandbits(rnd.randrange(1, 60)), rnd.randrange(-30, 30)))
                for _ in range(3000)]
    numbers += [0.1 + 0.2, 1 / 3, 5e-324, 1.7976931348623157e308, 2.2250738585072014e-308, 9007199254740993.0,
                1e23, 8.41e21, 2.0 ** 53, 123456789012345.6, 1e15, 1e14, 1e-14, 1e-15, 1.5e-15, 1.5e-16]
    while len(numbers) < 12000:
        v = struct.unpack("<d", struct.pack("<Q", rnd.getrandbits(64)))[0]
        if math.isfinite(v):
            numbers.append(v)
    # with an exponent, or the server makes a DECIMAL of it
    texts = ["[%s]" % ", ".join("%.17e" % v for v in numbers[i:i + 100]) for i in range(0, len(numbers), 100)]
    docs.insert_texts(texts)
    assert docs.check() == len(texts)


def any_value(rnd, depth=0):
    kind = rnd.randrange(10 if depth < 6 else 7)
    if kind == 0:
        return rnd.choice([None, True, False])
    if kind == 1:
        return rnd.randrange(-40000, 70000)
    if kind == 2:
        return rnd.getrandbits(rnd.randrange(1, 64)) * rnd.choice([1, -1])
    if kind == 3:
        return rnd.uniform(-1e6, 1e6)
    if kind < 7:
        return any_string(rnd)
    if kind < 9:
        return {any_string(rnd): any_value(rnd, depth + 1) for _ in range(rnd.randrange(8))}
    return [any_value(rnd, depth + 1) for _ in range(rnd.randrange(8))]


def any_string(rnd):
    return "".join(rnd.choice("abc xyz\"\\/\n\0\u00fc\u20ac\U0001f600") for _ in range(rnd.choice([0, 1, 3, 9, 200])))


def test_random_documents(docs):
    rnd = random.Random(7)
    docs.insert_texts([json.dumps(any_value(rnd), ensure_ascii=rnd.random() < 0.5) for _ in range(2000)])
    assert docs.check() == 2000


def exactly(text):
    return json.loads(text, parse_float=decimal.Decimal, parse_int=decimal.Decimal)


def test_documents_as_jsonb(docs, target):
    """jsonb takes every text that has no U+0000, and loses no key of it."""
    rnd = random.Random(17)
    texts = [json.dumps(any_value(rnd)) for _ in range(400)] + ["[1e308, 5e-324, 1e0, -0e0, 1.50]"]
    docs.insert_texts(texts)
    lines = convert((r[2].hex() for r in jsonlog.json_rows(docs.db.server, docs.start)), "json")
    db = target.fresh_db("json_documents")
    zeros = 0
    try:
        with db.connect() as conn, conn.cursor() as cur:
            for line, checked in zip(lines, convert(lines, "json-check")):
                if checked == line:
                    cur.execute("SELECT %s::jsonb::text", (_text(line),))
                    assert exactly(_text(line)) == exactly(cur.fetchone()[0])
                else:
                    zeros += 1
                    db.error("SELECT %s::jsonb", _text(line))
    finally:
        db.destroy()
    assert 20 < zeros < 380


def test_large_format(docs):
    """Documents beyond 64 kB: wide offsets, small containers within large ones, 32-bit numbers in entries."""
    rnd = random.Random(8)
    many = [{"k%d" % i: any_value(rnd, 4) for i in range(20000)},
            [rnd.randrange(-2 ** 31, 2 ** 32) for i in range(30000)],
            {"a": "x" * 70000, "b": [1, 70000, {"c": [2, 3, {"d": "y" * 66000}]}], "e": {}},
            [[[["z" * 65530]]], {"k" * 65535: 1}, [[], {}, None, True, 1.5, -5000000000]]]
    docs.insert_texts([json.dumps(m) for m in many])
    assert docs.check() == len(many)
    assert all(len(r[2]) > 65536 for r in jsonlog.json_rows(docs.db.server, docs.start))


def test_depth(docs):
    """As deep as the server stores, and what it refuses to."""
    deep = ["[" * n + "]" * n for n in (1, 50, 99, 100)] + ['{"a": ' * n + "1" + "}" * n for n in (50, 99)]
    docs.insert_texts(deep)
    docs.db.error("INSERT INTO docs VALUES (1000, %s)", "[" * 101 + "]" * 101)
    assert docs.check() == len(deep)


# -- differences --------------------------------------------------------------

def update(docs, statements):
    """Run UPDATEs of docs in a session with PARTIAL_JSON: [(text after each)]."""
    after = []
    with docs.db.connect() as conn, conn.cursor() as cur:
        cur.execute("SET SESSION binlog_row_value_options = 'PARTIAL_JSON'")
        for key, expression, params in statements:
            if cur.execute("UPDATE docs SET d = %s WHERE id = %d" % (expression, key), params):
                cur.execute("SELECT CAST(d AS CHAR) FROM docs WHERE id = %d" % key)
                after.append(cur.fetchone()[0])
    return after


def check_updates(docs, after):
    """What comes of each difference is what the server had then; how many differences there were."""
    rows = [r for r in jsonlog.json_rows(docs.db.server, docs.start) if r[1] is not None]
    assert len(rows) == len(after)
    partial = [(r, text) for r, text in zip(rows, after) if r[3]]
    ours = convert(("%s %s" % (r[1].hex(), r[2].hex()) for r, _ in partial), "json-apply")
    shown = convert((r[2].hex() for r, _ in partial), "json-diff")
    for (row, text), applied, diff in zip(partial, ours, shown):
        assert not diff.startswith("!"), diff
        assert _text(applied) == text, (convert([row[1].hex()], "json"), _text(diff))
    return [_text(d) for d in shown]


def test_differences(docs):
    docs.insert_texts([
        '{"a": 1, "pad": "%s"}' % ("x" * 40),
        '{"a": [1, 2, 3], "b": "long long long value", "c": {"d": [true, {"e": null}], "%s": 1}}' % ("p" * 60),
        '{"k": "%s", "q\\"k": [5], "": {"x y": 0}, "ü": 1, "1a": 2, "a.b": 3, "a[0]": 4}' % ("z" * 80),
        '[1, [2, [3]], {"a": "%s"}]' % ("v" * 60),
    ])
    after = update(docs, [
        (0, "JSON_SET(d, '$.a', 2)", ()),
        (1, "JSON_REMOVE(JSON_SET(d, '$.a[1]', 9), '$.b')", ()),
        (1, "JSON_SET(d, '$.new', 'added', '$.c.d[7]', 'end', '$.a[last]', 'last', '$.a[last-1]', 8)", ()),
        (1, "JSON_SET(d, '$.c.d[0][1]', 'wrapped')", ()),
        (1, "JSON_REPLACE(d, '$.c.d[1][0].e', 'itself', '$.nothing', 1)", ()),
        (1, "JSON_REMOVE(d, '$.a[0]', '$.a[last]', '$.c.d')", ()),
        (2, "JSON_REPLACE(d, '$.\"q\\\\\"k\"[0]', 'q', '$.\"\".\"x y\"', 'blank', '$.ü', 'ue', '$.\"1a\"', 1.5, "
            "'$.\"a.b\"', CAST('2020-01-01' AS DATE), '$.\"a[0]\"', CAST(x'00' AS BINARY))", ()),
        (2, "JSON_SET(d, '$.\"n\\\\u0001\\\\n\"', 1, '$.k2', JSON_OBJECT('deep', JSON_ARRAY(1, JSON_ARRAY(2))))", ()),
        (2, "JSON_SET(d, '$.k2.deep[1][0]', JSON_OBJECT(), '$.k2.deep[1][1]', 3)", ()),
        (2, "JSON_REMOVE(d, '$.k2.deep[1]', '$.\"\"')", ()),
        (3, "JSON_SET(d, '$[1][1][0]', 'x', '$[2].a', 'w', '$[9]', NULL)", ()),
        (3, "JSON_SET(d, '$[0][0]', 'scalar itself')", ()),
        (3, "JSON_REMOVE(d, '$[0]', '$[0][1]')", ()),
        (0, "JSON_REPLACE(d, '$', JSON_ARRAY(1))", ()),
    ])
    shown = check_updates(docs, after)
    assert len(shown) >= 12
    assert shown[0] == "REPLACE $.a 2"
    for word in ("REPLACE ", "INSERT ", "REMOVE "):
        assert any(word in s for s in shown)


def any_path(rnd, value):
    """A path that mostly leads somewhere in value."""
    path = "$"
    while isinstance(value, (dict, list)) and rnd.random() < 0.85:
        if isinstance(value, dict):
            key = rnd.choice(sorted(value)) if value and rnd.random() < 0.8 else "new" + str(rnd.randrange(5))
            path += "." + json.dumps(key, ensure_ascii=False)
            value = value.get(key)
        else:
            at = rnd.randrange(len(value) + 2)
            path += rnd.choice(["[%d]" % at, "[%d]" % at, "[last-%d]" % at, "[last]"])
            value = value[at] if at < len(value) else None
    return path


def test_random_differences(docs):
    rnd = random.Random(9)
    values = [{"pad": "p" * 300, "v": any_value(rnd, 1), "w": {"o": any_value(rnd, 1)}, "x": [any_value(rnd, 2)] * 3}
              for _ in range(40)]
    docs.insert_texts([json.dumps(v) for v in values])
    statements = []
    for _ in range(2000):
        key = rnd.randrange(len(values))
        function = rnd.choice(["JSON_SET", "JSON_SET", "JSON_REPLACE", "JSON_REMOVE"])
        expression, params = "d", []
        for _ in range(rnd.randrange(1, 4)):
            path = any_path(rnd, values[key])
            if path == "$":
                continue
            if function == "JSON_REMOVE":
                expression, params = "JSON_REMOVE(%s, %%s)" % expression, params + [path]
            else:
                expression = "%s(%s, %%s, CAST(%%s AS JSON))" % (function, expression)
                params += [path, json.dumps(any_value(rnd, 5))]
        if expression != "d":
            statements.append((key, expression, params))
    assert len(check_updates(docs, update(docs, statements))) > 250


# -- JSON text and jsonb ------------------------------------------------------

GOOD = ['null', ' [1, 2.50, -0, 1e5, 0.1E-3] ', '{"a": {"a": 1}, "b": [{"c": 1}, {"c": 2}]}', '"\\u00fc\\ud83d\\ude00\\/"',
        "1e131071", "1e-16383", "0e131072", "-" + "9" * 131072, '{"A": 1, "a": 2, "a ": 3}', '"\x7f"',
        "[" * 1000 + "]" * 1000, "{}", "[]", '{"": 1}']
LOSSES = ['{"k":1,"k":2}', '{"k":1,"\\u006b":1}', '[{"a":{"x":1,"y":2,"x":3}}]', '{"ü":1,"\\u00fc":2}', '{"":1,"":1}']
REFUSED = ['"\\u0000"', '{"a\\u0000": 1}', '"\\ud800"', '"\\ud800\\u0041"', '"\\udc00"', "1e131072", "1e-16384",
           "9" * 131073, "[1e999999999999]", '"\\ud83d\\\\ude00"']
NOT_JSON = ["", "[", "{", '"', "[1", '{"a"', '{"a":', '{"a":1', '{"a":1,}', "[1,]", "01", "1.", ".5", "+1", "-", "1e",
            "tru", "nul", "[1 2]", '{"a" 1}', "{1:1}", '"\n"', '"\\x"', '"\\u12"', "1 2", "'a'", "NaN", "\ufeff1",
            "[1}", "/**/1"]


def test_check_against_jsonb(target):
    """What is let through jsonb holds whole; what is not, jsonb refuses or cuts."""
    db = target.fresh_db("json_check")

    def ours(text):
        return convert([text.encode().hex()], "json-check")[0]
    try:
        for text in GOOD:
            assert ours(text) == text.encode().hex(), text[:60]
            assert db.value("SELECT %s::json::jsonb IS NOT NULL", text)
        for text in LOSSES:
            assert ours(text).startswith("!unsupported"), text
            assert db.value("SELECT length(translate(%s::jsonb::text, ' ', '')) < length(%s)", text, text)
        for text in REFUSED:
            assert ours(text).startswith("!unsupported"), text[:60]
            db.error("SELECT %s::jsonb", text)
        for text in NOT_JSON:
            assert ours(text)[:10] in ("!malformed", "!truncated"), text
            db.error("SELECT %s::jsonb", text)
    finally:
        db.destroy()


def test_mariadb_documents(mariadb11, target):
    """What MariaDB stores as JSON: its text, keys twice included, as jsonb takes it or is refused."""
    my = mariadb11.fresh_db("json_text")
    db = target.fresh_db("json_text")
    my.execute("CREATE TABLE docs (id INT PRIMARY KEY, d JSON)")
    stored = 0
    try:
        for i, text in enumerate(GOOD + LOSSES + REFUSED + NOT_JSON):
            with my.connect() as conn, conn.cursor() as cur:
                try:
                    cur.execute("INSERT INTO docs VALUES (%s, %s)", (i, text))
                except Exception:   # no JSON to the server either
                    continue
                cur.execute("SELECT d FROM docs WHERE id = %s", i)
                assert cur.fetchone()[0] == text
            stored += 1
            ok = not convert([text.encode().hex()], "json-check")[0].startswith("!")
            if ok:
                assert db.value("SELECT %s::jsonb IS NOT NULL", text)
            elif text not in LOSSES:
                db.error("SELECT %s::jsonb", text)
        assert stored > 15
    finally:
        db.destroy()
        my.destroy()
