"""Every type of pg_type, its array, domains and ranges: copied, inserted,
updated and deleted by REPLICA IDENTITY FULL, in binary and as text, from and
to other majors; equal by text form at the end."""
import re

import pytest

from lib import make_stream
from lib.majors import MajorServer
from lib.oracle import PINNED
from lib.typematrix import EXTENSIONS, NO_INPUT, SETUP, TYPES_SQL, Matrix

# Fewer cells than this, and the matrix has lost something.
FLOOR = 15000


@pytest.fixture(scope="module")
def servers(source, target):
    """By name: "15" or "17" to copy from, "15x" or "18x" to copy into."""
    made = {"15": source, "15x": target}

    def get(name):
        if name == "18":            # one server has both parts
            name = "18x"
        if name not in made:
            major = name.rstrip("x")
            made[name] = MajorServer(int(major), name="pg%s-types" % major,
                                     extension=name.endswith("x")).start()
        return made[name]
    yield get
    for name, server in made.items():
        if not name.startswith("15"):
            server.stop()


def available(*dbs):
    found = [{r[0] for r in db.execute("SELECT name FROM pg_available_extensions")} for db in dbs]
    return [x for x in EXTENSIONS if all(x in f for f in found)]


def texts(db, matrix):
    """Table name to its rows as text, sorted."""
    conn = db.connect()
    found = {}
    with conn.cursor() as cur:
        cur.execute(PINNED)
        for t in matrix.tables:
            for kind in ("key", "full"):
                # ROW: the output function; a cast to text may say more (xml)
                columns = ["ROW(%s)::text" % c.name for c in t.columns]
                cur.execute("SELECT %s FROM %s" % (", ".join(
                    (["id::text"] if kind == "key" else []) + columns), matrix.name(kind, t)))
                found[kind, t.name, t.columns[0].type] = sorted(cur.fetchall(), key=repr)
    conn.close()
    return found


def copies(log):
    """(table, format) of each COPY TO that the log tells of."""
    return re.findall(r'COPY [^\n]*?FROM (?:ONLY )?(?:"?\w+"?\.)("[^"]*(?:""[^"]*)*")[^\n]*FORMAT (\w+)|'
                      r'COPY (?:"?\w+"?\.)("[^"]*(?:""[^"]*)*")[^\n]*FORMAT (\w+)', log)


def assert_same(src, dst, matrix):
    a, b = texts(src, matrix), texts(dst, matrix)
    bad = [k for k in a if a[k] != b[k]]
    assert not bad, "\n".join("%s: %d rows there, %d here; only there %r; only here %r" % (
        k, len(a[k]), len(b[k]), [r for r in a[k] if r not in b[k]][:2],
        [r for r in b[k] if r not in a[k]][:2]) for k in bad)
    assert all(len(rows) > 1 for rows in a.values())


@pytest.mark.parametrize("there, here", [
    ("15", "15x"), ("17", "15x"), ("18", "15x"), ("15", "18x"), ("18", "18x")])
def test_every_type(servers, there, here):
    src = servers(there).fresh_db("types")
    dst = servers(here).fresh_db("types", extension=True)
    assert src.server.version() == int(there)
    for name in available(src, dst):
        for db in src, dst:
            db.execute("CREATE EXTENSION %s" % name)
    # a reg... value names another oid on either side
    dst.execute("CREATE TABLE public.shift (x int); CREATE TYPE public.shift2 AS ENUM ()")
    lanes = []
    for db in src, dst:
        db.execute(SETUP)
    for binary in True, False:
        m = Matrix(src, dst, binary)
        lanes.append(m)
        for db in src, dst:
            db.execute(m.ddl())
        src.execute(m.inserts(0))
    src.execute("ALTER DATABASE %s SET log_statement = 'all'" % src.name)
    mark = src.server.log_mark()
    user = "postgres" if there != "15" else "sluice_src"
    streams = [make_stream(src, dst, "s_" + m.schema, user=user, wait=None,
                           include_tables=[m.schema + ".*"]) for m in lanes]
    for st in streams:
        st.wait(timeout="120 s")
    formats = dict((a + c, b + d) for a, b, c, d in copies(src.server.log_text(mark)))
    for m in lanes:
        assert_same(src, dst, m)
        lane = "binary" if m.binary else "text"
        assert not [n for _, n in m.names() if formats['"%s"' % n] != lane]
    sent = [r["query"] for st in streams for r in src.rows(
        "SELECT a.query FROM pg_stat_activity a JOIN pg_replication_slots s ON s.active_pid = a.pid"
        " WHERE s.slot_name = %s", st.health()["slot_name"])]
    assert ["binary" in q for q in sent] == [True, False], sent
    for m in lanes:
        src.execute(m.inserts(1000))
    for st in streams:
        st.caught_up()
    for m in lanes:
        assert_same(src, dst, m)
        src.execute(m.changes())
    for st in streams:
        st.caught_up(timeout="120 s")
    for m in lanes:
        assert_same(src, dst, m)
    odd = [c for st in streams for c in st.conflicts() if c["kind"] != "identity_fallback"]
    assert not odd, odd
    cells = sum(m.cells() for m in lanes)
    print("%s to %s: %d tables, %d cells" % (
        there, here, sum(len(m.names()) for m in lanes), cells))
    assert cells >= FLOOR
    for st in streams:
        assert not [r for r in st.verify() if r["status"] != "equal"]
        st.stop()
        st.drop()
    dst.destroy()
    src.destroy()


def test_infinite_interval_of_17(servers):
    """15 has no such value; in binary it would be taken for a finite one."""
    src = servers("18").fresh_db("itv")
    dst = servers("15x").fresh_db("itv", extension=True)
    src.execute("CREATE TABLE t (id int PRIMARY KEY, i interval); INSERT INTO t VALUES (1, '1 day')")
    st = make_stream(src, dst, user="postgres")
    src.execute("INSERT INTO t VALUES (2, 'infinity')")
    st.wait_refused("VALUE-UNREPRESENTABLE")
    assert dst.execute("SELECT id, i::text FROM t") == [(1, "1 day")]
    dst.destroy()
    src.destroy()


def test_virtual_column_on_both_sides(servers):
    """PT-31: each side computes what pgoutput does not send."""
    src = servers("18").fresh_db("gv")
    dst = servers("18x").fresh_db("gv", extension=True)
    src.execute("CREATE TABLE gv1 (id int PRIMARY KEY, a int, s int GENERATED ALWAYS AS (a+1) STORED,"
                " v int GENERATED ALWAYS AS (a+2) VIRTUAL);"
                "INSERT INTO gv1(id,a) VALUES (1,1)")
    st = make_stream(src, dst, user="postgres")
    src.execute("INSERT INTO gv1(id,a) VALUES (2,2); UPDATE gv1 SET a = 7 WHERE id = 1")
    st.caught_up()
    assert dst.execute("SELECT s, v FROM gv1 ORDER BY id") == [(8, 9), (3, 4)]
    assert not [r for r in st.verify() if r["status"] != "equal"]
    st.stop()
    st.drop()
    dst.destroy()
    src.destroy()


def test_types_without_input(source):
    """What the matrix leaves out cannot be stored by anybody."""
    db = source.fresh_db("noinput")
    for name in available(db):
        db.execute("SET client_min_messages = error; CREATE EXTENSION %s" % name)
    seen = set()
    for schema, name, _, _, _ in db.execute(TYPES_SQL):
        if name in NO_INPUT:
            seen.add(name)
            e = db.error('SELECT %%s::"%s"."%s"' % (schema, name), "1")
            assert e.pgcode in ("0A000", "XX000"), (name, e)      # hstore has no code
    assert seen == NO_INPUT
    db.destroy()
