"""Texts that no catalog would hold, cut and glued together from those that the gate is tested with: whatever
comes, it answers; what passes is whole and passes again as it came out."""
import os
import random
import re

import psycopg2
import pytest

SEED = 20261130
BATCH = 250
SQL = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "sql-tests", "sql", "47_gate.sql")
KINDS = ["expression", "type", "bound", "index", "statistics", "alter table", "policy", "table", "domain", "alter domain",
         "composite"]
ALLOWED = ["r app.t", "r app.u", 'r "My App"."T""x"', "S app.seq", "t app.mood", 't app."Wü"', "c app.de"]
# what ends a text, hides the rest of it, or begins another
SHARP = ["'", '"', "$$", "$a$", ";", "--", "/*", "*/", ")", "(", "]", "[", "\\", "E'", "U&'\\0041'", ",", "::", ".", "*", "%",
         " AS ", " FROM app.t", "SELECT 1", "; DROP TABLE app.t", "pg_sleep(1)", "app.f(a)", "OPERATOR(app.+)", " UESCAPE '!'",
         "(SELECT app.f(1))", "\n", "\x0b", "\u00a0", "é", "NULL", "0", "1e999", "$1", ":x", "@", "é." * 40, "((" * 200]

TOKEN = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|\w+|\s+|::|.""", re.S)


def seeds():
    """{kind: texts} of the calls in the SQL test."""
    with open(SQL, encoding="utf-8") as f:
        text = f.read()
    found = {kind: [] for kind in KINDS}
    for call in re.finditer(r"pg_temp\.gate\('([a-z ]+)',((?:\s*'(?:[^']|'')*',?)+)\s*\)", text):
        found.setdefault(call[1], []).extend(t.replace("''", "'") for t in re.findall(r"'((?:[^']|'')*)'", call[2]))
    return found


def mutated(rnd, texts, everything):
    """A text of that kind, changed in one to four places."""
    tokens = TOKEN.findall(rnd.choice(texts))
    for _ in range(rnd.randint(1, 4)):
        at = rnd.randint(0, len(tokens))
        what = rnd.randrange(7)
        if what == 0:
            del tokens[at:at + rnd.randint(1, 3)]
        elif what == 1:
            tokens.insert(at, rnd.choice(SHARP))
        elif what == 2:
            other = TOKEN.findall(rnd.choice(everything))
            begin = rnd.randrange(len(other) or 1)
            tokens[at:at] = other[begin:begin + rnd.randint(1, 8)]
        elif what == 3 and tokens:
            tokens[at:at] = tokens[rnd.randrange(len(tokens)):][:rnd.randint(1, 6)]
        elif what == 4 and len(tokens) > 1:
            i, j = rnd.randrange(len(tokens)), rnd.randrange(len(tokens))
            tokens[i], tokens[j] = tokens[j], tokens[i]
        elif what == 5 and tokens:
            i = rnd.randrange(len(tokens))
            cut = rnd.randint(0, len(tokens[i]))
            tokens[i] = tokens[i][:cut] + rnd.choice(["", rnd.choice(SHARP)]) + tokens[i][cut:][rnd.randrange(2):]
        else:
            tokens.insert(at, " ")
    return "".join(tokens)[:20000]


@pytest.fixture(scope="module")
def db(target):
    one = target.fresh_db("gate_fuzz", extension=True)
    one.execute("CREATE EXTENSION citext; CREATE EXTENSION pgcrypto")
    yield one
    one.destroy()


def judge(cur, kind, texts):
    """(result, fault) of each text.  One that raises is named."""
    ask = ("SELECT g.result, g.fault FROM unnest(%s::text[]) WITH ORDINALITY AS u (t, n),"
           " LATERAL sluice.gate_check(%s, u.t, %s) AS g ORDER BY u.n")
    try:
        cur.execute(ask, (texts, kind, ALLOWED))
        return cur.fetchall()
    except psycopg2.Error as e:
        if len(texts) == 1:
            raise AssertionError("%s %r raises: %s" % (kind, texts[0], e)) from e
    return [row for text in texts for row in judge(cur, kind, [text])]


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_whatever_comes_is_answered(db, kind):
    rnd = random.Random("%s %s" % (SEED, kind))
    known = seeds()
    everything = [t for texts in known.values() for t in texts]
    assert len(known[kind]) >= 2 and len(everything) > 150
    conn = db.connect()
    passed = 0
    with conn.cursor() as cur:
        for _ in range(60):
            texts = [mutated(rnd, known[kind], everything) for _ in range(BATCH)]
            for text, (result, fault) in zip(texts, judge(cur, kind, texts)):
                assert (result is None) != (fault is None), text
            good = [result for result, _ in judge(cur, kind, texts) if result is not None]
            # what passed is what is run: it means the same once more, and holds nothing else
            for text, (result, fault) in zip(good, judge(cur, kind, good) if good else []):
                assert result == text, (text, result, fault)
            passed += len(good)
        if kind == "expression":
            whole(cur, good)
    conn.close()
    assert passed > 20, passed


def whole(cur, expressions):
    """Each is one expression: between brackets the parser finds nothing that they do not hold."""
    for text in expressions:
        try:
            cur.execute("EXPLAIN SELECT (%s) FROM (SELECT) AS nothing" % text)
        except psycopg2.Error as e:
            assert e.pgcode != "42601", (text, e)
