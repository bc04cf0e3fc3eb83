"""Every kind of object comes across: pg_dump of both sides is the oracle."""
import os
import re

import psycopg2
import pytest

from lib import assert_same_rows
from lib.majors import MajorServer
from lib.streams import Stream, make_server, make_stream

ZOO = os.path.join(os.path.dirname(os.path.abspath(__file__)), "zoo")


def zoo(name):
    with open(os.path.join(ZOO, name)) as f:
        return f.read()


def statements(db):
    """What pg_dump says of a database's schemas, one statement each, sorted."""
    text = db.server.run("pg_dump", "--schema-only", "--no-owner", "--no-privileges",
                         "--no-publications", "--no-subscriptions",
                         "--exclude-schema=code", "--exclude-schema=sluice",
                         "-U", "postgres", "-h", db.server.sockdir,
                         "-p", str(db.server.port), "-d", db.name).stdout
    lines = [line for line in text.splitlines()
             if line and not line.startswith(("--", "SET ", "SELECT pg_catalog.set_config",
                                              "\\restrict", "\\unrestrict"))]
    found = re.split(r"(?<=;)\n", "\n".join(lines))
    return sorted(one for one in found
                  if not re.match(r"(CREATE (TRIGGER|RULE|EVENT TRIGGER|SERVER|USER MAPPING)|"
                                  r"(CREATE|COMMENT ON) EXTENSION)", one))


def differences(src, dst, mapped=lambda statement: statement):
    """Statements that only one side has; mapped: the source's as it must be."""
    left, right = [mapped(one) for one in statements(src)], statements(dst)
    assert len(left) > 5
    return (["- " + one for one in left if one not in right] +
            ["+ " + one for one in right if one not in left])


def preview(dst, server, **args):
    given = "".join(", %s => %%s" % k for k in args)
    return dst.rows("SELECT * FROM sluice.schema_preview(%s" + given + ")",
                    server, *args.values())


def build(dst, rows):
    """Run the statements of a plan by hand."""
    conn = dst.connect()
    with conn.cursor() as cur:
        cur.execute("SET search_path = pg_catalog, pg_temp")
        for row in rows:
            if row["state"] != "planned":
                continue
            try:
                cur.execute(row["ddl"])
            except psycopg2.Error as e:
                raise AssertionError("%s\n%s" % (row["ddl"], e))
    conn.close()


def test_preview_builds_zoo(pair):
    """What the preview prints, run by hand, makes the same schema."""
    src, dst = pair
    src.psql(zoo("extensions.sql") + zoo("source.sql") + zoo("extension_types.sql"))
    dst.psql(zoo("extensions.sql"))
    server = make_server(src, dst)
    rows = preview(dst, server, options='{"row_security": true}')
    refused = [r for r in rows if r["state"] == "refused"]
    assert not refused, refused
    build(dst, rows)
    assert differences(src, dst) == []


LEFT = {("view", "v"), ("materialized view", "mv"), ("trigger", "not_carried"),
        ("rule", "not_carried"), ("event trigger", "zoo_event"),
        ("publication", "zoo_pub"), ("grant", "customers"),
        ("function", "f(integer, VARIADIC text[])"), ("function", "p()"),
        ("function", "agg(integer)"), ("other", "text search configuration ts"),
        ("other", "operator ## (integer, integer)")}


def tables(src):
    """Every table that holds rows of its own."""
    return src.query(
        "SELECT n.nspname, c.relname FROM pg_catalog.pg_class c "
        "JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
        "WHERE c.relkind = 'r' AND n.nspname IN ('app', 'Odd \"name\"') ORDER BY 1, 2")


def test_zoo_is_copied(pair):
    """sync_start against an empty target: schema, rows, and what is left out."""
    src, dst = pair
    src.psql(zoo("extensions.sql") + zoo("source.sql") + zoo("extension_types.sql"))
    dst.psql(zoo("extensions.sql"))
    stream = make_stream(src, dst, options={"row_security": True})
    stream.caught_up("120 s")
    assert differences(src, dst) == []
    assert_same_rows(src, dst, tables(src))
    left = set((r["kind"], r["object_name"]) for r in dst.rows(
        "SELECT * FROM sluice.schema_objects WHERE state = 'not_carried'"))
    assert LEFT <= left
    assert dst.value("SELECT count(*) FROM sluice.schema_objects WHERE state = 'planned'") == 0
    src.execute("INSERT INTO app.customers VALUES (3, 'new')")
    src.execute("INSERT INTO app.measures (id, day, kind) VALUES (9, '2020-03-03', 'a')")
    src.execute("UPDATE app.all_kinds SET v = 'changed'")
    stream.caught_up()
    assert_same_rows(src, dst, tables(src))
    stream.stop()
    stream.drop()


def test_mapped_schemas(pair):
    """Names inside of defaults, checks, indexes and keys follow the map."""
    src, dst = pair
    src.psql("""
        CREATE SCHEMA one; CREATE SCHEMA two;
        CREATE TYPE one.mood AS ENUM ('a', 'b');
        CREATE DOMAIN two.few AS one.mood[] CHECK (array_length(VALUE, 1) < 3 AND VALUE[1] <> 'b'::one.mood);
        CREATE TYPE one.span AS RANGE (subtype = integer);
        CREATE SEQUENCE two.counter;
        CREATE TABLE one.t (id serial PRIMARY KEY, m one.mood DEFAULT 'a'::one.mood,
            f two.few, n bigint DEFAULT nextval('two.counter'), s one.span DEFAULT '[1,2)'::one.span,
            CHECK (m <> 'b'::one.mood OR n > 0));
        CREATE INDEX ON one.t ((m::one.mood), n) WHERE m = 'a'::one.mood;
        CREATE STATISTICS one.st ON (m = 'a'::one.mood), n FROM one.t;
        CREATE TABLE two.u (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, t integer REFERENCES one.t);
        CREATE TABLE two.p (id integer PRIMARY KEY, x text) PARTITION BY RANGE (id);
        CREATE TABLE one.p1 PARTITION OF two.p FOR VALUES FROM (1) TO (10);
        CREATE TABLE one.kid () INHERITS (two.u);
        ALTER TABLE one.kid REPLICA IDENTITY FULL;
        INSERT INTO one.t (f) VALUES ('{a}'); INSERT INTO two.u (t) VALUES (1);
        INSERT INTO two.p VALUES (5, 'five');""")
    stream = make_stream(src, dst, options={"schema_map": {"one": "One.1", "two": "2"}})
    stream.caught_up()
    here = differences(src, dst, lambda s: re.sub(
        r"\bone\.", '"One.1".', re.sub(r"\btwo\.", '"2".', s)).replace(
        "CREATE SCHEMA one", 'CREATE SCHEMA "One.1"').replace("CREATE SCHEMA two", 'CREATE SCHEMA "2"'))
    assert here == []
    assert dst.value('SELECT count(*) FROM ONLY "One.1".t') == 1
    assert dst.value('INSERT INTO "One.1".t DEFAULT VALUES RETURNING id') == 2
    stream.stop()
    stream.drop()


KIDS = """
    CREATE TABLE a (id int, c text, d int DEFAULT 1, e text);
    CREATE TABLE b (id int, c text DEFAULT 'b', d int DEFAULT 1);
    CREATE TABLE second_default (PRIMARY KEY (id)) INHERITS (a, b);
    CREATE TABLE no_default (PRIMARY KEY (id)) INHERITS (a, b);
    ALTER TABLE no_default ALTER c DROP DEFAULT;
    CREATE TABLE nullable (PRIMARY KEY (id)) INHERITS (a);
    INSERT INTO nullable VALUES (1);
    CREATE TABLE later_child (n int, e text DEFAULT 'e', d int, c text, id int PRIMARY KEY);
    ALTER TABLE later_child INHERIT b;
    ALTER TABLE later_child INHERIT a;
    ALTER TABLE ONLY a ALTER c SET NOT NULL, ADD CONSTRAINT positive CHECK (d > 0) NO INHERIT;
    CREATE TABLE with_options (own int, PRIMARY KEY (id)) INHERITS (a);
    ALTER TABLE a ALTER e SET STORAGE EXTERNAL;
    ALTER TABLE ONLY with_options ALTER e SET STORAGE EXTENDED, ALTER e SET COMPRESSION pglz;
    ALTER TABLE a ADD later int DEFAULT 5, ADD CONSTRAINT id_check CHECK (id > 0);
    ALTER TABLE a ADD CONSTRAINT unproven CHECK (d < 9) NOT VALID;
    ALTER TABLE with_options VALIDATE CONSTRAINT unproven;
    ALTER TABLE ONLY b ALTER d SET DEFAULT 2;
    CREATE TABLE grandchild (g int, PRIMARY KEY (id)) INHERITS (with_options);
    ALTER TABLE a REPLICA IDENTITY FULL;
    ALTER TABLE b REPLICA IDENTITY FULL;
    CREATE TABLE of_child (id int PRIMARY KEY, w with_options);
    INSERT INTO with_options VALUES (2, 'c', 3, 'e', 4, 5);
    INSERT INTO of_child SELECT id, with_options FROM with_options;"""

KID_COLUMNS = """
    SELECT a.attrelid::regclass::text, row_number() OVER (PARTITION BY attrelid ORDER BY attnum),
           attname::text, attnotnull, attstorage::text, attcompression::text, attinhcount,
           pg_get_expr(adbin, adrelid)
    FROM pg_attribute a LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
    JOIN pg_class c ON c.oid = attrelid
    WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND attnum > 0 AND NOT attisdropped
    ORDER BY 1, 2"""

KID_CHECKS = """
    SELECT conrelid::regclass::text, conname::text, coninhcount, convalidated, connoinherit,
           pg_get_constraintdef(oid)
    FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND contype = 'c' ORDER BY 1, 2"""


def test_children_that_were_altered(pair):
    """Columns of INHERITS keep order, default, NOT NULL and storage, whatever ALTER made of them."""
    src, dst = pair
    src.execute(KIDS)
    stream = make_stream(src, dst)
    stream.caught_up()
    for sql in (KID_COLUMNS, KID_CHECKS,
                "SELECT inhrelid::regclass::text, inhparent::regclass::text, inhseqno"
                " FROM pg_inherits ORDER BY 1, 3"):
        here, there = src.query(sql), dst.query(sql)
        assert here and [r for r in here if r not in there] == [] == \
            [r for r in there if r not in here]
    assert dst.query("SELECT object_name::text FROM sluice.schema_objects"
                     " WHERE kind = 'inheritance' AND note ~ 'stay' ORDER BY 1") == \
        [("later_child",), ("no_default",), ("second_default",), ("with_options",)]
    assert_same_rows(src, dst, ["nullable", "with_options", "of_child"])
    stream.stop()
    stream.drop()


def test_what_refuses(pair):
    """Every fault of a plan is named, with what it is of, and nothing is made."""
    src, dst = pair
    src.psql("""
        CREATE EXTENSION hstore;
        CREATE FUNCTION f(integer) RETURNS integer IMMUTABLE LANGUAGE sql AS 'SELECT $1';
        CREATE TYPE mood AS ENUM ('a', 'b');
        CREATE TABLE calls (id integer PRIMARY KEY DEFAULT f(1), CHECK (f(id) > 0));
        CREATE TABLE index_calls (id integer PRIMARY KEY);
        CREATE INDEX calling ON index_calls (f(id));
        CREATE TABLE moody (id integer PRIMARY KEY, m mood);
        CREATE TABLE needs (id integer PRIMARY KEY, h hstore);
        CREATE TABLE taken (id integer PRIMARY KEY, t text);
        CREATE INDEX taken_name ON taken (t);
        CREATE STATISTICS taken_stats ON id, t FROM taken; CREATE STATISTICS twice ON id, t FROM taken;
        CREATE SCHEMA other; CREATE TABLE other.moody (id integer PRIMARY KEY);
        CREATE STATISTICS other.twice ON id, m FROM moody;""")
    dst.psql("CREATE TYPE mood AS ENUM ('b', 'a'); CREATE TABLE taken_name (a integer, b integer);"
             "CREATE STATISTICS taken_stats ON a, b FROM taken_name;")
    server = make_server(src, dst)
    rows = preview(dst, server, target_schema="public")
    refused = {(r["kind"], r["object_name"]): r["note"] for r in rows if r["state"] == "refused"}
    assert "default of column id calls function" in refused.pop(("table", "calls"))
    assert "calls function" in refused.pop(("index", "calling"))
    assert "another definition" in refused.pop(("enum", "mood"))
    assert "CREATE EXTENSION hstore SCHEMA public;" in refused.pop(("extension", "hstore"))
    assert "another relation" in refused.pop(("index", "taken_name"))
    assert refused.pop(("statistics", "taken_stats")) == "the target has other statistics of that name"
    assert "same name" in refused.pop(("statistics", "twice"))
    assert refused.pop(("table", "needs"))
    assert "same name" in refused.pop(("table", "moody (2)"))
    assert "same name" in refused.pop(("index", "moody_pkey (2)"))
    assert refused == {}
    assert all(r["ddl"] is None for r in rows if r["state"] == "refused")
    before = dst.value("SELECT count(*) FROM pg_catalog.pg_class")
    with pytest.raises(psycopg2.Error) as e:
        Stream(src, dst, "s1", server).start(target_schema="public")
    assert "hstore" in str(e.value) and "calls function" in str(e.value)
    assert dst.value("SELECT count(*) FROM pg_catalog.pg_class") == before


def test_existing_is_left_alone(pair):
    """Of a table that is there nothing is made; of the others all."""
    src, dst = pair
    src.psql("""
        CREATE TYPE mood AS ENUM ('a', 'b');
        CREATE DOMAIN few AS mood[] DEFAULT '{a}' NOT NULL CHECK (array_length(VALUE, 1) < 3);
        CREATE TYPE pair AS (m mood, f few, "N n" numeric(5,2)); CREATE TYPE span AS RANGE (subtype = float8);
        CREATE TABLE uses (id integer PRIMARY KEY, p pair, s span);
        INSERT INTO uses VALUES (1, ROW('a', '{b}', 1.5), '[1,2)');
        CREATE TABLE there (id serial PRIMARY KEY, m mood DEFAULT 'a', t text DEFAULT 'x');
        CREATE INDEX of_there ON there (t);
        CREATE TABLE tree (id integer PRIMARY KEY) PARTITION BY RANGE (id);
        CREATE TABLE leaf PARTITION OF tree FOR VALUES FROM (1) TO (10);
        CREATE TABLE made (id integer PRIMARY KEY, there integer REFERENCES there);
        INSERT INTO there (t) VALUES ('one'); INSERT INTO tree VALUES (3);
        INSERT INTO made VALUES (1, 1);""")
    dst.psql("""
        CREATE TYPE mood AS ENUM ('a', 'b');
        CREATE DOMAIN few AS mood[] DEFAULT '{a}' NOT NULL CHECK (array_length(VALUE, 1) < 3);
        CREATE TYPE pair AS (m mood, f few, "N n" numeric(5,2)); CREATE TYPE span AS RANGE (subtype = float8);
        CREATE TABLE there (id integer PRIMARY KEY, m mood, t text);
        CREATE TABLE tree (id integer PRIMARY KEY);""")
    stream = make_stream(src, dst)
    stream.caught_up()
    assert_same_rows(src, dst, ["there", "tree", "made", "uses"])
    assert dst.query("SELECT c.relname FROM pg_catalog.pg_class c WHERE c.relnamespace = "
                     "'public'::pg_catalog.regnamespace AND c.relkind IN ('r', 'p', 'i', 'S') "
                     "ORDER BY 1") == [("made",), ("made_pkey",), ("there",), ("there_pkey",),
                                       ("tree",), ("tree_pkey",), ("uses",), ("uses_pkey",)]
    assert dst.value("SELECT count(*) FROM pg_catalog.pg_attrdef "
                     "WHERE adrelid = 'there'::pg_catalog.regclass") == 0
    assert dst.value("SELECT count(*) FROM pg_catalog.pg_constraint WHERE contype = 'f' "
                     "AND convalidated AND conrelid = 'made'::pg_catalog.regclass") == 1
    stream.stop()
    stream.drop()


def test_existing_sequence_must_be_the_same(pair):
    """A sequence with other parameters is named with the statement that cures it."""
    src, dst = pair
    src.psql("""
        CREATE SEQUENCE same INCREMENT -2 MAXVALUE 9 CACHE 7; CREATE SEQUENCE kind AS integer;
        CREATE SEQUENCE step INCREMENT 5 CYCLE; CREATE SEQUENCE low MINVALUE 0 START 3;
        CREATE TABLE t (id bigint PRIMARY KEY DEFAULT nextval('step'));""")
    dst.psql("""
        CREATE SEQUENCE same INCREMENT -2 MAXVALUE 9; CREATE SEQUENCE kind; CREATE SEQUENCE step;
        CREATE SEQUENCE low MAXVALUE 99;""")
    server = make_server(src, dst)
    found = {r["object_name"]: r for r in preview(dst, server) if r["kind"] == "sequence"}
    assert found["same"]["state"] == "existing"
    with pytest.raises(psycopg2.Error) as e:
        Stream(src, dst, "s1", server).start()
    assert "[target schema]" in str(e.value) and "ALTER SEQUENCE public.kind AS integer" in str(e.value)
    for name, why in (("kind", "AS bigint instead of integer, MAXVALUE 9223372036854775807 instead of 2147483647"),
                      ("step", "INCREMENT 1 instead of 5, NO CYCLE instead of CYCLE"),
                      ("low", "START 1 instead of 3, MINVALUE 1 instead of 0, MAXVALUE 99 instead of"
                              " 9223372036854775807")):
        assert found[name]["state"] == "refused"
        fault, fix = found[name]["note"].split("; fix: ")
        assert fault == "exists on the target with other parameters: " + why
        dst.execute(fix)
    stream = Stream(src, dst, "s1", server)
    stream.start()
    stream.caught_up()
    stream.stop()
    stream.drop()


def test_existing_collation_must_be_the_same(pair):
    """Another provider, locale or determinism would sort or compare otherwise."""
    src, dst = pair
    made = "CREATE COLLATION {} (provider = {}, locale = '{}', deterministic = {});"
    src.psql("".join(made.format(*one) for one in (
        ("same", "icu", "de_AT", True), ("libc_same", "libc", "C", True), ("provider", "icu", "de", True),
        ("locale", "icu", "de", True), ("posix", "libc", "C", True), ("loose", "icu", "und", False))))
    src.psql("CREATE COLLATION unused (provider = icu, locale = 'de'); CREATE TABLE t (id integer PRIMARY KEY"
             ", a text COLLATE same, b text COLLATE libc_same, c text COLLATE provider,"
             " d text COLLATE locale, e text COLLATE posix, f text COLLATE loose)")
    dst.psql("".join(made.format(*one) for one in (
        ("same", "icu", "de-AT", True), ("libc_same", "libc", "C", True), ("provider", "libc", "C", True),
        ("locale", "icu", "de-u-co-phonebk", True), ("posix", "libc", "POSIX", True),
        ("loose", "icu", "und", True), ("unused", "icu", "fr", True))))
    found = {r["object_name"]: (r["state"], r["note"]) for r in preview(dst, make_server(src, dst))
             if r["kind"] == "collation"}
    other = "exists on the target with another "
    assert found == {"same": ("existing", None), "libc_same": ("existing", None),
                     "provider": ("refused", other + "provider"),
                     "locale": ("refused", other + "locale"), "posix": ("refused", other + "locale"),
                     "loose": ("refused", other + "determinism")}


def test_only_what_is_listed(pair):
    """With include_tables: types and sequences that these tables need, no others."""
    src, dst = pair
    src.psql("""
        CREATE TYPE needed AS ENUM ('a'); CREATE TYPE part AS (n needed);
        CREATE DOMAIN dom AS part[]; CREATE TYPE unneeded AS ENUM ('a');
        CREATE SEQUENCE seq; CREATE SEQUENCE unneeded_seq;
        CREATE TYPE in_check AS ENUM ('x');
        CREATE TABLE other (id integer PRIMARY KEY, u unneeded);
        CREATE TABLE wanted (id integer PRIMARY KEY DEFAULT nextval('seq'), d dom,
            o integer REFERENCES other, CHECK ('x'::text::in_check = 'x'));
        CREATE TABLE leaf_parent (id integer PRIMARY KEY) PARTITION BY RANGE (id);
        CREATE TABLE wanted_leaf PARTITION OF leaf_parent FOR VALUES FROM (1) TO (10);""")
    server = make_server(src, dst)
    rows = preview(dst, server, include_tables=["wanted", "wanted_leaf"])
    assert [r["ddl"] for r in rows if r["kind"] == "column settings"] == []
    planned = {(r["kind"], r["object_name"]) for r in rows if r["state"] == "planned"}
    assert planned == {("enum", "needed"), ("enum", "in_check"), ("composite type", "part"),
                       ("domain", "dom"), ("sequence", "seq"), ("table", "wanted"),
                       ("index", "wanted_pkey"), ("key constraint", "wanted_pkey"),
                       ("table", "wanted_leaf"), ("index", "wanted_leaf_pkey"),
                       ("key constraint", "wanted_leaf_pkey")}
    left = [(r["kind"], r["object_name"], r["note"]) for r in rows if r["state"] == "not_carried"]
    assert left == [("foreign key", "wanted_o_fkey",
                     "references public.other, which is not part of the stream")]


def test_names_that_the_target_does_not_have(pair):
    """A reg... value is a value like others: table and column are named, it is not."""
    src, dst = pair
    src.psql("""
        CREATE VIEW secret_view AS SELECT 1 AS one;
        CREATE TABLE t (id integer PRIMARY KEY, r regclass);
        INSERT INTO t VALUES (1, 'pg_class'), (2, 'secret_view');""")
    stream = make_stream(src, dst, wait=None)
    row = stream.wait_refused("VALUE-UNREPRESENTABLE")
    assert 'public.t' in row["reason"] and '"r"' in row["reason"]
    assert "secret" not in str(row)
    dst.execute("CREATE VIEW secret_view AS SELECT 1 AS one")
    stream.start()
    stream.caught_up()
    assert_same_rows(src, dst, ["t"])
    stream.stop()
    stream.drop()


# One line for each object, in words that every release has.
CATALOG = """
SELECT 'column', c.relname, a.attname, format_type(a.atttypid, a.atttypmod),
    concat_ws(' ', a.attnotnull, a.attidentity, a.attgenerated, a.attstorage, co.collname,
              replace(pg_get_expr(d.adbin, d.adrelid), '::regconfig', ''))
FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
LEFT JOIN pg_collation co ON co.oid = a.attcollation
WHERE c.relnamespace = 'app'::regnamespace AND c.relkind IN ('r', 'p') AND a.attnum > 0
    AND NOT a.attisdropped
UNION ALL
SELECT 'constraint', c.conrelid::regclass::text, c.conname, pg_get_constraintdef(c.oid), c.convalidated::text
FROM pg_constraint c WHERE c.connamespace = 'app'::regnamespace AND c.contype <> 'n'
    AND c.conrelid <> 0 AND c.conparentid = 0
UNION ALL
SELECT 'index', i.indrelid::regclass::text, i.indexrelid::regclass::text,
    replace(pg_get_indexdef(i.indexrelid), '::text', ''), i.indisvalid::text
FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE c.relnamespace = 'app'::regnamespace
UNION ALL
SELECT 'partition', c.relname, '', coalesce(pg_get_partkeydef(c.oid), ''),
    coalesce(pg_get_expr(c.relpartbound, c.oid), '')
FROM pg_class c WHERE c.relnamespace = 'app'::regnamespace AND (c.relispartition OR c.relkind = 'p')
UNION ALL
SELECT 'sequence', c.relname, format_type(s.seqtypid, NULL),
    concat_ws(' ', s.seqstart, s.seqincrement, s.seqmax, s.seqmin, s.seqcache, s.seqcycle), ''
FROM pg_sequence s JOIN pg_class c ON c.oid = s.seqrelid WHERE c.relnamespace = 'app'::regnamespace
ORDER BY 1, 2, 3, 4"""


@pytest.mark.parametrize("major", [18])
def test_zoo_of_another_major(major, target):
    """From 18: the same objects, but for what this release does not have."""
    server = MajorServer(major).start()
    src = server.fresh_db("zoo")
    dst = target.fresh_db("zoo", extension=True)
    for part in ["CREATE EXTENSION btree_gist"] + zoo("source.sql").split("--;") + [zoo("of_18.sql")]:
        src.execute(part)
    dst.execute("CREATE EXTENSION btree_gist")
    stream = make_stream(src, dst, user="postgres", options={"row_security": True})
    stream.caught_up("120 s")
    assert_same_rows(src, dst, tables(src))
    here = set(src.query("SET search_path = pg_catalog; " + CATALOG))
    there = set(dst.query("SET search_path = pg_catalog; " + CATALOG))
    lost = sorted(row[2] for row in here - there)
    # b: NOT NULL NOT VALID; id: an identity that the leaf has of its own
    assert lost == ["b", "id", "loose", "loose_key"], sorted(here - there) + sorted(there - here)
    assert sorted(row[2] for row in there - here) == ["b", "id"]
    notes = {r["object_name"]: r["note"] for r in dst.rows(
        "SELECT object_name, note FROM sluice.schema_objects WHERE note IS NOT NULL")}
    assert "not enforced" in notes["loosely"] and "not enforced" in notes["loose_key"]
    assert "not valid" in notes["later"]
    src.execute("INSERT INTO app.part_identity (t) VALUES ('y')")
    stream.caught_up()
    assert_same_rows(src, dst, tables(src))
    stream.stop()
    stream.drop()
    dst.destroy()
    src.destroy()
    server.stop()


def test_virtual_column_refuses(target):
    """A virtual generated column cannot be made here: named before anything is."""
    server = MajorServer(18).start()
    src = server.fresh_db("virtual")
    dst = target.fresh_db("virtual", extension=True)
    src.execute("CREATE TABLE v (id integer PRIMARY KEY, twice integer GENERATED ALWAYS AS (id * 2) VIRTUAL)")
    rows = preview(dst, make_server(src, dst, user="postgres"))
    assert [(r["object_name"], r["note"]) for r in rows if r["state"] == "refused"] == [
        ("v", "column twice is a virtual generated column, which this server's release does not have")]
    dst.destroy()
    src.destroy()
    server.stop()
