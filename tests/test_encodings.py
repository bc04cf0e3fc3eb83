"""Databases of different encodings: text arrives as the same characters, or
the stream stops."""
import psycopg2
import pytest

from lib import Stream, make_stream
from lib.streams import make_server

# All characters are in LATIN1; identifiers are not ASCII either.
TABLES = """
CREATE SCHEMA "schéma";
CREATE TYPE "schéma"."humör" AS ENUM ('glücklich', 'naïf');
CREATE DOMAIN "schéma"."dömäne" AS varchar(4);
CREATE TABLE "schéma"."tàble" (
    "clé" int PRIMARY KEY, t text, v varchar(3), b char(3), n name, c "char", e "schéma"."humör",
    d "schéma"."dömäne", j json, jb jsonb, a text[], ts tsvector, raw bytea %s);
CREATE TABLE "schéma"."füll" (t text, j json, c "char" %s);
ALTER TABLE "schéma"."füll" REPLICA IDENTITY FULL;
"""
TEXT_TOO = (", x xml, q tsquery, ea \"schéma\".\"humör\"[]",
            ", x xml")
ROW = ("(%d, 'çà ÿ', 'éüß', 'é', 'ñame', (-23)::int4::\"char\", 'naïf', 'ßßßß', '{\"é\": \"ü\"}',"
       " '{\"é\": \"\\u00fc\"}', '{é,NULL,\"ü,\"}', '''é'':1A', '\\xe9ff'%s)")
ROW_TEXT = ", '<ä>é</ä>', '''é'' & ü:*', '{naïf,NULL}'"
FULL = "('é', '{\"ü\" : 1}', (-1)::int4::\"char\"%s)"

CONTENTS = """SELECT "clé", t, v, b, n, c::int4, e, d, j::text, jb::text, a, ts::text, raw::text%s
FROM "schéma"."tàble" ORDER BY 1"""


def rows(db, sql):
    conn = db.connect()
    conn.set_client_encoding("UTF8")
    with conn.cursor() as cur:
        cur.execute(sql)
        found = cur.fetchall()
    conn.close()
    return found


def run(db, sql):
    conn = db.connect()
    conn.set_client_encoding("UTF8")
    conn.cursor().execute(sql)
    conn.close()


@pytest.fixture
def make(source, target):
    made = []

    def both(there, here):
        made.append(source.fresh_db("enc", encoding=there))
        made.append(target.fresh_db("enc", extension=True, encoding=here))
        return made
    yield both
    for db in reversed(made):
        db.destroy()


@pytest.mark.parametrize("text", [False, True], ids=["binary", "text"])
@pytest.mark.parametrize("there, here", [
    ("LATIN1", None), (None, "LATIN1"), ("LATIN1", "LATIN1")])
def test_text_is_converted(make, there, here, text):
    src, dst = make(there, here)
    # neither what the target's sessions are told to speak
    dst.server.execute('ALTER DATABASE "%s" SET client_encoding = %s' % (
        dst.name, "UTF8" if here else "LATIN1"))
    dst.server.execute('ALTER DATABASE "%s" SET array_nulls = off' % dst.name)
    extra, extra_full = TEXT_TOO if text else ("", "")
    for db in src, dst:
        run(db, TABLES % (extra, extra_full))
    row = ROW % (1, ROW_TEXT if text else "")
    run(src, 'INSERT INTO "schéma"."tàble" VALUES %s; INSERT INTO "schéma"."füll" VALUES %s'
        % (row, ", ".join([FULL % (", '<é/>'" if text else "")] * 3)))
    contents = CONTENTS % (", x::text, q::text, ea::text" if text else "")
    st = make_stream(src, dst)
    assert rows(src, contents) == rows(dst, contents)
    run(src, 'DELETE FROM "schéma"."füll" WHERE ctid = \'(0,2)\'')
    run(src, 'INSERT INTO "schéma"."tàble" VALUES ' + ROW % (2, ROW_TEXT if text else ""))
    run(src, 'UPDATE "schéma"."tàble" SET t = t || \'é\', n = \'ü\', a = a || t WHERE "clé" = 1')
    st.caught_up()
    assert rows(src, contents) == rows(dst, contents)
    count = 'SELECT count(*), min(t) FROM "schéma"."füll"'
    assert rows(src, count) == rows(dst, count) == [(2, "é")]
    assert not st.conflicts()
    assert not [r for r in st.verify() if r["status"] != "equal"]


# 63 bytes in LATIN1 are 126 in UTF8
LONG = "é" * 63
BEYOND = [(None, "LATIN1", "text", "costs 5 €", text, live)
          for text in (False, True) for live in (False, True)]
BEYOND += [("LATIN1", None, "name", LONG, text, live)
           for text in (False, True) for live in (False, True)]
BEYOND += [(None, "LATIN1", "jsonb", '{"€": 1}', False, False),
           (None, "LATIN1", "text[]", "{a,€}", False, True),
           ("LATIN1", None, "name[]", "{%s}" % LONG, True, False),
           ("LATIN1", None, "name[]", "{%s}" % LONG, True, True)]


@pytest.mark.parametrize("there, here, kind, value, text, live", BEYOND, ids=[
    "%s-%s-%s" % (b[2], "text" if b[4] else "binary", "stream" if b[5] else "copy")
    for b in BEYOND])
def test_what_cannot_be_stored_refuses(make, there, here, kind, value, text, live):
    src, dst = make(there, here)
    for db in src, dst:
        run(db, "CREATE TABLE t (id int PRIMARY KEY, v %s%s)" % (kind, ", x xml" if text else ""))
    insert = "INSERT INTO t (id, v) VALUES (7, '%s')" % value
    if not live:
        run(src, insert)
    st = make_stream(src, dst, wait=None)
    if live:
        st.wait()
        run(src, insert)
    row = st.wait_refused("VALUE-UNREPRESENTABLE")
    assert value not in row["reason"]
    assert rows(dst, "SELECT count(*) FROM t") == [(0,)]
    # the way out: the value is changed, or the target holds it
    assert "sync_start" in row["hint"]


def test_encodings_without_a_conversion(make):
    src, dst = make("LATIN1", "LATIN9")
    with pytest.raises(psycopg2.Error) as e:
        Stream(src, dst, "s1", make_server(src, dst)).start()
    assert e.value.pgcode == "SL001"
    assert "conversion between" in e.value.diag.message_detail


@pytest.mark.parametrize("here", [None, "LATIN1"])
def test_source_without_an_encoding(make, here):
    """SQL_ASCII says nothing of what its bytes mean."""
    src, dst = make("SQL_ASCII", here)
    for db in src, dst:
        db.execute("CREATE TABLE t (id int PRIMARY KEY, v text)")
    with pytest.raises(psycopg2.Error) as e:
        Stream(src, dst, "s1", make_server(src, dst)).start()
    assert e.value.pgcode == "SL001"
    assert "SQL_ASCII" in e.value.diag.message_detail
