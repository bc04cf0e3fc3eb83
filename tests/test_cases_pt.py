"""Values that have broken tools like this one, copied into a target that has
nothing yet, and streamed.  PT-19 needs the extension vector, which Debian 12
does not have; PT-25 is about a MySQL target."""
import psycopg2
import pytest

from lib import Stream, assert_same_rows, make_stream
from lib.majors import MajorServer
from lib.rounds import arm, died_at
from lib.streams import SOURCE_ROLE, make_server

MOOD = "CREATE TYPE mood AS ENUM ('sad', 'ok', 'great', 'blue');"

# id: (DDL and rows before the start, what is streamed, tables)
CARRIED = {
    "PT-01": (
        "CREATE TABLE inf1 (id int PRIMARY KEY, d date, ts timestamp, tz timestamptz);"
        "INSERT INTO inf1 VALUES (1,'-infinity','-infinity','-infinity'),"
        " (2,'infinity','infinity','infinity'),(3,'2024-01-01','2024-01-01','2024-01-01Z');",
        "INSERT INTO inf1 SELECT id + 10, d, ts, tz FROM inf1", ["inf1"]),
    "PT-02": (
        "CREATE TABLE inf2 (id int PRIMARY KEY, tz timestamptz);",
        "INSERT INTO inf2 VALUES (1,'infinity'),(2,'294276-12-31 23:59:59.999999+00'),"
        "(3,'4713-01-01 00:00:00+00 BC');", ["inf2"]),
    "PT-05": (
        "CREATE TABLE ju1 (id int PRIMARY KEY, d date, ts timestamp);"
        "INSERT INTO ju1 VALUES (1,'0001-01-01','0001-01-01'),(2,'1500-02-28','1500-02-28 10:00'),"
        "(3,'1582-10-10','1582-10-10'),(4,'0044-03-15 BC','0044-03-15 BC');",
        "UPDATE ju1 SET ts = ts;", ["ju1"]),
    "PT-11": (
        MOOD + "CREATE TABLE en2 (id int PRIMARY KEY, ms mood[] NOT NULL);"
        "INSERT INTO en2 VALUES (1,'{ok}');",
        "INSERT INTO en2 VALUES (2,'{blue,ok,great}');", ["en2"]),
    "PT-13": (
        "CREATE DOMAIN posint AS int CHECK (VALUE > 0); CREATE DOMAIN addr AS jsonb NOT NULL;"
        "CREATE TABLE dm1 (id int PRIMARY KEY, p posint, a addr, ps posint[]);"
        "INSERT INTO dm1 VALUES (1,1,'{}','{1}');",
        "UPDATE dm1 SET p=2, ps='{3,4}' WHERE id=1;", ["dm1"]),
    "PT-14": (
        "CREATE TABLE ar1 (id int PRIMARY KEY, a int[], t text[], n numeric[], j jsonb[], b bytea[],"
        " z timetz[], m int[][]);"
        "INSERT INTO ar1(id,a,t) VALUES (0,'[0:0]={NULL}','{\"\",NULL,\"null\"}');",
        "INSERT INTO ar1 VALUES (1,'{1,NULL,3}','{\"a,b\",\"NULL\",NULL,\"\"}','{1.10,NaN}',"
        "'{\"{\\\"k\\\":1}\"}','{\"\\\\x00ff\"}','{12:00:00.5+05:30}','{{1,2},{3,4}}');"
        "INSERT INTO ar1(id,a) VALUES (2,'[2:3]={7,8}');", ["ar1"]),
    "PT-16": (
        "CREATE TABLE bt1 (id int PRIMARY KEY, a bit(3), b varbit(20), c bit(64));"
        "INSERT INTO bt1 VALUES (1,B'101',B'',B'1'::bit(64));",
        "UPDATE bt1 SET a=B'010', b=B'0001' WHERE id=1;", ["bt1"]),
    "PT-17": (
        "CREATE TABLE ma1 (id int PRIMARY KEY, m macaddr, m8 macaddr8, a macaddr8[]);"
        "INSERT INTO ma1 VALUES (1,'08:00:2b:01:02:03','08:00:2b:01:02:03','{08:00:2b:ff:fe:01:02:03}');",
        "INSERT INTO ma1 SELECT 2, m, m8, a || m8 FROM ma1;", ["ma1"]),
    "PT-20": (
        "CREATE TABLE tv1 (id int PRIMARY KEY, v tsvector, q tsquery);"
        "INSERT INTO tv1 VALUES (0,'a:1 b','');",
        "INSERT INTO tv1 VALUES (1,$$'it''s':1A 'two words':2 'plain':3$$, $$'two words' & plain:*$$);",
        ["tv1"]),
    "PT-22": (
        "CREATE TABLE js1 (id int PRIMARY KEY, j json, b jsonb);"
        "INSERT INTO js1 VALUES (0,' [ ] ','[]');",
        "INSERT INTO js1 VALUES (1,$$ {\"a\":\"it's \\\"q\\\" \\\\ \\u00e9\",\"a\":2,  \"n\":1.0} $$,"
        "$${\"n\":12345678901234567890.10,\"e\":1e400}$$),(2,'null','null'),(3,NULL,NULL);", ["js1"]),
    "PT-28": (
        "CREATE TABLE gc1 (id int PRIMARY KEY, a int, g int GENERATED ALWAYS AS (a+1) STORED);"
        "INSERT INTO gc1(id,a) VALUES (1,1);",
        "UPDATE gc1 SET a=5 WHERE id=1; INSERT INTO gc1(id,a) VALUES (2,9);", ["gc1"]),
    "PT-34": (
        "CREATE TABLE pu1 (email text NOT NULL, deleted bool NOT NULL);"
        "CREATE UNIQUE INDEX ON pu1(email) WHERE NOT deleted;"
        "ALTER TABLE pu1 REPLICA IDENTITY FULL;"
        "INSERT INTO pu1 VALUES ('a',true),('a',true),('a',false);"
        "CREATE TABLE pu2 (id int PRIMARY KEY, a int, b int, t text,"
        " UNIQUE NULLS NOT DISTINCT (a), UNIQUE (b) INCLUDE (t)); CREATE UNIQUE INDEX ON pu2 (lower(t));"
        "INSERT INTO pu2 VALUES (1,NULL,NULL,'A');",
        "INSERT INTO pu1 VALUES ('a',true); INSERT INTO pu2 VALUES (2,1,NULL,NULL);", ["pu1", "pu2"]),
    "PT-35": (
        "CREATE TABLE fp (a int, b int, PRIMARY KEY(a,b));"
        "CREATE TABLE fc (id int PRIMARY KEY, a int, b int, FOREIGN KEY(a,b) REFERENCES fp MATCH FULL"
        " ON DELETE SET NULL (b) DEFERRABLE INITIALLY DEFERRED);"
        "INSERT INTO fp VALUES (1,1); INSERT INTO fc VALUES (1,1,1),(2,NULL,NULL);",
        "INSERT INTO fp VALUES (2,2); INSERT INTO fc VALUES (3,2,2);", ["fp", "fc"]),
}

DEFINITIONS = """
SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint
WHERE connamespace = 'public'::regnamespace AND conrelid <> 0
UNION ALL SELECT indrelid::regclass::text, indexrelid::regclass::text, pg_get_indexdef(indexrelid)
FROM pg_index WHERE indrelid IN (SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace)
UNION ALL SELECT c.oid::regclass::text, a.attname, format_type(a.atttypid, a.atttypmod)
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace ORDER BY 1, 2, 3"""


@pytest.mark.parametrize("case", sorted(CARRIED))
def test_carried(pair, case):
    src, dst = pair
    before, streamed, tables = CARRIED[case]
    src.execute(before)
    st = make_stream(src, dst)
    assert_same_rows(src, dst, tables)
    src.execute(streamed)
    st.caught_up()
    assert_same_rows(src, dst, tables)
    assert src.execute(DEFINITIONS) == dst.execute(DEFINITIONS)
    assert not st.conflicts()
    assert not [r for r in st.verify() if r["status"] != "equal"]


# id: (settings of the source's role and database, columns, rows)
SETTINGS = {
    "PT-07": (["extra_float_digits = 0"], "f float8, g float4, a float8[]",
              "(3.141592653589793, 0.1::float4 + 0.2::float4, '{0.1,0.30000000000000004}'),"
              "(5e-324, 1e-45, '{-0}')"),
    "PT-08": (["bytea_output = 'escape'"], "b bytea",
              "('\\x5c7834313432'), ('\\x5c78'), ('\\x00ff5c'), ('')"),
    "PT-23": (["timezone = 'Asia/Kolkata'", "datestyle = 'SQL, DMY'", "intervalstyle = 'iso_8601'"],
              "t timestamptz, z timetz, d date, i interval",
              "('2026-02-03 04:05:06.789Z','04:05:06.789+05:45','2026-02-03','1 day'),"
              "('1890-01-01 00:00Z','00:00+00','0099-12-31','0')"),
    "PT-23 St John's": (["timezone = 'America/St_Johns'", "datestyle = 'German'",
                         "intervalstyle = 'sql_standard'"],
                        "t timestamptz, z timetz, d date, i interval",
                        "('2026-07-03 04:05:06.789Z','24:00-15:59:59','1582-10-10','1 mon -1 day'),"
                        "('1890-01-01 00:00Z','00:00+00','0001-12-31 BC','-0.000001 s')"),
}


@pytest.mark.parametrize("text", [False, True], ids=["binary", "text"])
@pytest.mark.parametrize("case", sorted(SETTINGS))
def test_settings_of_the_source(pair, case, text):
    src, dst = pair
    settings, columns, rows = SETTINGS[case]
    names = ", ".join(c.split()[0] for c in columns.split(", "))
    src.execute("CREATE TABLE t (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, %s%s)" % (
        columns, ", x xml" if text else ""))
    insert = "INSERT INTO t (%s) VALUES %s" % (names, rows)
    src.execute(insert)
    for setting in settings:
        src.server.execute('ALTER DATABASE "%s" SET %s' % (src.name, setting))
        src.server.execute('ALTER ROLE %s IN DATABASE "%s" SET %s' % (SOURCE_ROLE, src.name, setting))
        dst.server.execute('ALTER DATABASE "%s" SET %s' % (dst.name, setting))
    st = make_stream(src, dst)
    assert_same_rows(src, dst, ["t"])
    src.execute("SET timezone = 'UTC'; SET datestyle = 'ISO'; " + insert)
    st.caught_up()
    assert_same_rows(src, dst, ["t"])
    if case == "PT-08":
        assert [r[0] for r in dst.execute("SELECT octet_length(b) FROM t ORDER BY id")] == [6, 2, 3, 0] * 2


def test_pt04_key_with_infinity_resumes(source, make_pg):
    """PT-04: the copy of a float key is killed, and begun again."""
    src = source.fresh_db("pt04")
    dst = make_pg("pt04").fresh_db("pt04", extension=True)
    src.execute("CREATE TABLE nn2 (k float8 PRIMARY KEY, v int);"
                "INSERT INTO nn2 VALUES ('-Infinity',1),(0,2),('Infinity',3),('NaN',4);")
    mark = arm(dst.server, "copy_task_commit")
    st = make_stream(src, dst, wait=None)
    died_at(dst.server, "copy_task_commit", mark)
    mark = dst.server.log_mark()
    dst.server.start()
    died_at(dst.server, "copy_task_commit", mark)
    dst.server.start(**{"sluice.fault_point": "", "restart_after_crash": "on"})
    st.wait("streaming", timeout="120 s")
    assert_same_rows(src, dst, ["nn2"])
    src.execute("UPDATE nn2 SET v = v + 10; DELETE FROM nn2 WHERE k = '-Infinity';"
                "UPDATE nn2 SET k = 5e-324 WHERE k = 'NaN'")
    st.caught_up()
    assert_same_rows(src, dst, ["nn2"])
    assert dst.value("SELECT count(*) FROM nn2") == 3
    st.stop()
    st.drop()
    src.destroy()


def test_pt10_enum_labels(pair):
    """PT-10: a label that is new, or renamed, on the source alone."""
    src, dst = pair
    src.execute("CREATE TYPE mood AS ENUM ('sad', 'ok');"
                "CREATE TABLE en1 (id int PRIMARY KEY, m mood); INSERT INTO en1 VALUES (1, 'ok')")
    st = make_stream(src, dst, schema_changes="forward")
    src.execute("ALTER TYPE mood ADD VALUE 'great' BEFORE 'ok'")
    src.execute("INSERT INTO en1(id,m) VALUES (3,'great')")
    st.caught_up()
    assert_same_rows(src, dst, ["en1"])
    src.execute("ALTER TYPE mood RENAME VALUE 'sad' TO 'blue'")
    src.execute("INSERT INTO en1(id,m) VALUES (4,'blue')")
    st.caught_up()
    assert_same_rows(src, dst, ["en1"])
    assert dst.value("SELECT enum_range(NULL::mood)::text") == "{blue,great,ok}"


def test_pt26_large_objects(pair):
    src, dst = pair
    src.execute("CREATE TABLE lo1 (id int PRIMARY KEY, doc oid);"
                "INSERT INTO lo1 VALUES (1, lo_from_bytea(0,'\\xcafe'))")
    server = make_server(src, dst)
    st = Stream(src, dst, "s1", server)
    with pytest.raises(psycopg2.Error) as e:
        st.start()
    assert e.value.pgcode == "SL001"
    assert "lo1" in e.value.diag.message_detail and "large object" in e.value.diag.message_detail
    st.start(options={"accept_large_objects": True})
    st.caught_up()
    assert_same_rows(src, dst, ["lo1"])


def test_pt29_generated_there_plain_here(pair):
    """PT-29: the source does not send what it computes."""
    src, dst = pair
    src.execute("CREATE TABLE gc1 (id int PRIMARY KEY, a int, g int GENERATED ALWAYS AS (a+1) STORED);"
                "INSERT INTO gc1(id,a) VALUES (1,1)")
    dst.execute("CREATE TABLE gc1 (id int PRIMARY KEY, a int, g int)")
    st = Stream(src, dst, "s1", make_server(src, dst))
    with pytest.raises(psycopg2.Error) as e:
        st.start()
    assert e.value.pgcode == "SL001"
    assert "[column-not-sent] public.gc1.g:" in e.value.diag.message_detail
    dst.execute("ALTER TABLE gc1 DROP g, ADD g int GENERATED ALWAYS AS (a+1) STORED")
    st.start()
    st.caught_up()
    src.execute("UPDATE gc1 SET a=5 WHERE id=1; INSERT INTO gc1(id,a) VALUES (2,9)")
    st.caught_up()
    assert_same_rows(src, dst, ["gc1"])
    assert [r[0] for r in dst.execute("SELECT g FROM gc1 ORDER BY id")] == [6, 10]


def test_pt37_extensions_in_another_schema(pair):
    src, dst = pair
    src.execute("CREATE SCHEMA ext; CREATE EXTENSION hstore SCHEMA ext; CREATE EXTENSION citext SCHEMA ext;"
                "CREATE TABLE hx1 (id int PRIMARY KEY, h ext.hstore, c ext.citext UNIQUE);"
                "INSERT INTO hx1 VALUES (1,'a=>1,b=>NULL,\"x y\"=>\"q\\\"q\"','Foo')")
    st = Stream(src, dst, "s1", make_server(src, dst))
    with pytest.raises(psycopg2.Error) as e:
        st.start()
    assert e.value.pgcode == "SL001"
    assert "hstore" in e.value.diag.message_detail and "citext" in e.value.diag.message_detail
    dst.execute("CREATE SCHEMA ext; CREATE EXTENSION hstore SCHEMA ext; CREATE EXTENSION citext SCHEMA ext")
    st.start()
    st.caught_up()
    src.execute("INSERT INTO hx1 VALUES (2,'','foo2')")
    st.caught_up()
    assert_same_rows(src, dst, ["hx1"])
    assert dst.error("INSERT INTO hx1 VALUES (3, '', 'FOO2')").pgcode == "23505"


def test_pt38_collation_that_equates(pair):
    src, dst = pair
    src.execute("CREATE COLLATION ci (provider=icu, locale='und-u-ks-level2', deterministic=false);"
                "CREATE TABLE co1 (k text COLLATE ci PRIMARY KEY, v int);"
                "INSERT INTO co1 VALUES ('Abc',1)")
    st = make_stream(src, dst)
    assert_same_rows(src, dst, ["co1"])
    src.execute("UPDATE co1 SET k='ABC'")
    st.caught_up()
    assert dst.execute("SELECT k, v FROM co1") == [("ABC", 1)]


@pytest.fixture(scope="module")
def eighteen():
    server = MajorServer(18, name="pg18-pt").start()
    yield server
    server.stop()


def test_pt31_virtual_columns_of_18(eighteen, target):
    """PT-31: 15 has no virtual columns, which is said before the start; made
    as a stored one, the column is computed here."""
    src = eighteen.fresh_db("pt31")
    dst = target.fresh_db("pt31", extension=True)
    src.execute("CREATE TABLE gv1 (id int PRIMARY KEY, a int, s int GENERATED ALWAYS AS (a+1) STORED,"
                " v int GENERATED ALWAYS AS (a+2) VIRTUAL);"
                "INSERT INTO gv1(id,a) VALUES (1,1)")
    st = Stream(src, dst, "s1", make_server(src, dst, user="postgres"))
    with pytest.raises(psycopg2.Error) as e:
        st.start()
    assert e.value.pgcode == "SL001"
    assert "virtual" in e.value.diag.message_detail and "gv1" in e.value.diag.message_detail
    dst.execute("CREATE TABLE gv1 (id int PRIMARY KEY, a int, s int GENERATED ALWAYS AS (a+1) STORED,"
                " v int GENERATED ALWAYS AS (a+2) STORED)")
    st.start()
    st.caught_up()
    assert_same_rows(src, dst, ["gv1"])
    src.execute("INSERT INTO gv1(id,a) VALUES (2,2); UPDATE gv1 SET a = 7 WHERE id = 1")
    st.caught_up()
    assert_same_rows(src, dst, ["gv1"])
    assert dst.execute("SELECT s, v FROM gv1 ORDER BY id") == [(8, 9), (3, 4)]
    dst.destroy()
    src.destroy()


# (made there, made here, type of the column, what is said)
OTHER_PARTS = [
    ("CREATE DOMAIN ty AS numeric(8,2)", "CREATE DOMAIN ty AS numeric(8,1)", "ty"),
    ("CREATE DOMAIN ty AS float8", "CREATE DOMAIN ty AS float4", "ty[]"),
    ("CREATE DOMAIN ty AS varchar(9)", "CREATE DOMAIN ty AS varchar(5)", "ty"),
    ("CREATE TYPE ty AS (a int, b int)", "CREATE TYPE ty AS (b int, a int)", "ty"),
    ("CREATE TYPE ty AS (a timestamp)", "CREATE TYPE ty AS (a timestamp(0))", "ty[]"),
    ("CREATE TYPE ty AS RANGE (subtype = float8)", "CREATE TYPE ty AS RANGE (subtype = float4)", "ty"),
    ("CREATE DOMAIN ty AS int", "CREATE TYPE ty AS ENUM ('1')", "ty"),
]


def test_types_of_one_name_made_of_other_parts(pair):
    """A value would change without a word."""
    src, dst = pair
    for i, (there, here, column) in enumerate(OTHER_PARTS):
        for db, sql in (src, there), (dst, here):
            db.execute("CREATE SCHEMA s%d; SET search_path = s%d; %s; CREATE TABLE t (id int"
                       " PRIMARY KEY, v %s)" % (i, i, sql, column))
    server = make_server(src, dst)
    said = [r["detail"] for r in dst.rows("SELECT * FROM sluice.preflight(%s)", server)
            if not r["ok"] and r["check_name"] == "shape"]
    assert len(said) == len(OTHER_PARTS), said
    for i, line in enumerate(sorted(said)):
        assert line.startswith("[type-differs] s%d.t.v: " % i), line


@pytest.mark.long
def test_pt32_huge_values(pair):
    """PT-32: one change of nearly a gigabyte."""
    src, dst = pair
    src.execute("CREATE TABLE hu1 (id int PRIMARY KEY, a bytea, b bytea);"
                "ALTER TABLE hu1 REPLICA IDENTITY FULL")
    st = make_stream(src, dst)
    src.execute("INSERT INTO hu1 VALUES (1, convert_to(repeat('x',300*1024*1024),'UTF8'),"
                " convert_to(repeat('y',200*1024*1024),'UTF8'))")
    st.caught_up(timeout="300 s")
    src.execute("UPDATE hu1 SET a=b WHERE id=1")
    st.caught_up(timeout="300 s")
    sums = "SELECT id, md5(a), md5(b) FROM hu1"
    assert src.execute(sums) == dst.execute(sums)


@pytest.mark.long
def test_pt32_larger_than_a_message(pair):
    """Text doubles a bytea: the change has no message to travel in."""
    src, dst = pair
    src.execute("CREATE TABLE hu2 (id int PRIMARY KEY, a bytea, b bytea, x xml)")
    st = make_stream(src, dst)
    src.execute("INSERT INTO hu2 VALUES (1, convert_to(repeat('x',300*1024*1024),'UTF8'),"
                " convert_to(repeat('y',300*1024*1024),'UTF8'))")
    row = st.wait_refused("VALUE-UNREPRESENTABLE", timeout=300)
    assert "exclude_tables" in row["hint"]
