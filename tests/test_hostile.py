"""A source that is hostile to the target, and roles of the target that are to the stream.

Code that somebody else wrote reports itself: spy() adds a row to "ran" with the
role that it runs as.  It must never run.
"""
import psycopg2
import pytest

from lib import assert_same_rows, make_server, make_stream

SPY = """
    CREATE SCHEMA {schema};
    CREATE TABLE {schema}.ran (who name);
    GRANT USAGE ON SCHEMA {schema} TO PUBLIC;
    GRANT ALL ON {schema}.ran TO PUBLIC;
    CREATE FUNCTION {schema}.spy(anyelement) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS
        $$BEGIN INSERT INTO {schema}.ran VALUES (current_user); RETURN true; END$$;
"""


@pytest.fixture
def evil(pair):
    """A role of the target that wants the stream's owner's rights; and the pair."""
    src, dst = pair
    dst.execute("DROP ROLE IF EXISTS hs_evil")
    dst.execute("CREATE ROLE hs_evil LOGIN")
    dst.execute('GRANT CREATE ON DATABASE "%s" TO hs_evil' % dst.name)
    dst.execute("GRANT CREATE ON SCHEMA public TO hs_evil")
    yield src, dst
    dst.execute("DROP OWNED BY hs_evil CASCADE")
    dst.execute("DROP ROLE hs_evil")


def failed(dst, server, user="postgres", **args):
    given = "".join(", %s => %%s" % k for k in args)
    return [c for c in dst.rows("SELECT * FROM sluice.preflight(%s" + given + ")",
                                server, *args.values(), user=user) if not c["ok"]]


def test_expressions_of_the_source(pair):
    """Every place for an expression, each with a function of the source's own."""
    src, dst = pair
    src.execute(SPY.format(schema="app"))
    src.execute("""
        CREATE DOMAIN app.d AS int CHECK (app.spy(VALUE));
        CREATE TABLE app.t_domain (id int PRIMARY KEY, d app.d);
        CREATE TABLE app.t_default (id int PRIMARY KEY, b boolean DEFAULT app.spy(1));
        CREATE TABLE app.t_check (id int PRIMARY KEY, CHECK (app.spy(id)));
        CREATE TABLE app.t_generated (id int PRIMARY KEY, g boolean GENERATED ALWAYS AS (app.spy(id)) STORED);
        CREATE TABLE app.t_index (id int PRIMARY KEY);
        CREATE INDEX ON app.t_index (app.spy(id));
        CREATE TABLE app.t_partial (id int PRIMARY KEY);
        CREATE INDEX ON app.t_partial (id) WHERE app.spy(id);
        CREATE TABLE app.t_partition (id int) PARTITION BY LIST ((app.spy(id)));
        ALTER TABLE app.t_partition REPLICA IDENTITY FULL;
        CREATE TABLE app.t_statistics (id int PRIMARY KEY, v int);
        CREATE STATISTICS app.st ON id, (app.spy(v)) FROM app.t_statistics;
        CREATE TABLE app.t_policy (id int PRIMARY KEY);
        CREATE POLICY p ON app.t_policy USING (app.spy(id));
    """)
    # the same names here, of somebody else
    dst.execute(SPY.format(schema="app"))
    server = make_server(src, dst)
    found = failed(dst, server, exclude_tables=["app.ran"])
    assert {c["check_name"] for c in found} == {"schema"}, found
    text = "\n".join(c["detail"] for c in found)
    for name in ("domain app.d:", "t_default", "t_check", "t_generated", "t_index", "t_partial",
                 "t_partition", "app.st"):
        assert name in text, (name, text)
    assert "app.spy" in text
    with pytest.raises(psycopg2.Error) as e:
        make_stream(src, dst, exclude_tables=["app.ran"])
    assert e.value.pgcode == "SL001"
    assert dst.value("SELECT count(*) FROM app.ran") == 0


def test_names_of_the_source(pair):
    """Names and constants that end a statement where they are not quoted."""
    src, dst = pair
    src.execute(r"""
        CREATE SCHEMA "s; DROP TABLE x; --";
        CREATE TYPE "s; DROP TABLE x; --"."e'"" t" AS ENUM ('a''; DROP TABLE x; --', 'b\', '$$', '/*');
        CREATE DOMAIN "s; DROP TABLE x; --"."d
            " AS text CHECK (VALUE <> '''; DROP TABLE x; --' AND VALUE <> '\');
        CREATE TABLE "s; DROP TABLE x; --"."t""'); --" (
            "id
            " int PRIMARY KEY,
            "c, d int); --" "s; DROP TABLE x; --"."e'"" t" DEFAULT 'a''; DROP TABLE x; --',
            "$$" "s; DROP TABLE x; --"."d
            " DEFAULT E'\\''; --',
            "ä/*" text COLLATE "C" DEFAULT '$a$' CHECK ("ä/*" <> '--' AND "ä/*" !~ '\d''$$'),
            "*/" text GENERATED ALWAYS AS ("ä/*" || ' */ '';') STORED);
        CREATE INDEX "i; --" ON "s; DROP TABLE x; --"."t""'); --" (lower("ä/*"), "$$") WHERE "$$" <> '--';
        COMMENT ON TABLE "s; DROP TABLE x; --"."t""'); --" IS E'it''s; DROP TABLE x; --\n\\';
        INSERT INTO "s; DROP TABLE x; --"."t""'); --" VALUES (1), (2);
        UPDATE "s; DROP TABLE x; --"."t""'); --" SET "c, d int); --" = 'b\';
    """)
    dst.execute("CREATE TABLE x (id int)")
    # what is set here must not change what a text says
    dst.execute('ALTER DATABASE "%s" SET standard_conforming_strings = off' % dst.name)
    dst.execute('ALTER DATABASE "%s" SET default_table_access_method = heap' % dst.name)
    stream = make_stream(src, dst)
    stream.caught_up()
    dst.execute('ALTER DATABASE "%s" RESET ALL' % dst.name)
    assert_same_rows(src, dst, [("s; DROP TABLE x; --", "t\"'); --")])
    assert dst.value("SELECT pg_catalog.to_regclass('public.x')") == "x"
    assert dst.value("SELECT pg_catalog.obj_description('\"s; DROP TABLE x; --\".\"t\"\"''); --\"'"
                     "::regclass)") == "it's; DROP TABLE x; --\n\\"


@pytest.mark.parametrize("member", [False, True])
def test_found_types_of_another_role(evil, member):
    """A domain with the source's name, made first by a role nobody trusts."""
    src, dst = evil
    src.execute("""
        CREATE SCHEMA app;
        CREATE DOMAIN app.email AS text;
        CREATE TYPE app.mood AS ENUM ('sad', 'glad');
        CREATE SEQUENCE app.seq;
        CREATE TABLE app.t (id int PRIMARY KEY DEFAULT nextval('app.seq'), e app.email, m app.mood);
        INSERT INTO app.t VALUES (1, 'x', 'sad')""")
    dst.execute("CREATE SCHEMA app; GRANT ALL ON SCHEMA app TO hs_evil")
    dst.execute("""CREATE DOMAIN app.email AS text; CREATE TYPE app.mood AS ENUM ('sad', 'glad');
        CREATE SEQUENCE app.seq""", user="hs_evil")
    server = make_server(src, dst)
    found = failed(dst, server)
    # the owner of the stream is a superuser, and so a member of every role
    assert {(c["check_name"], c["detail"].split(":")[0]) for c in found} == {
        ("schema", "domain app.email"), ("schema", "enum app.mood"), ("schema", "sequence app.seq")}, found
    assert all("hs_evil" in c["detail"] for c in found)
    if member:
        dst.execute("GRANT hs_evil TO postgres")
    else:
        for c in found:
            dst.psql(c["fix_sql"])
    assert failed(dst, server) == []
    if member:
        dst.execute("REVOKE hs_evil FROM postgres")
    # made after preflight: the worker's own plan sees it
    assert (failed(dst, server) != []) == member


def test_tables_of_another_role(evil):
    """A superuser's stream into tables of a role, with types of its: all theirs."""
    src, dst = evil
    ddl = """
        CREATE TYPE mood AS ENUM ('sad', 'glad');
        CREATE DOMAIN email AS text;
        CREATE SEQUENCE seq;
        CREATE TABLE t (id int PRIMARY KEY, m mood, e email)"""
    src.execute(ddl)
    dst.execute(ddl, user="hs_evil")
    src.execute("INSERT INTO t VALUES (1, 'sad', 'x')")
    make_stream(src, dst).caught_up()
    assert_same_rows(src, dst, ["t"])


def test_schema_of_another_role(evil):
    """A schema with the source's name: its owner could drop what is in it."""
    src, dst = evil
    src.execute("CREATE SCHEMA app; CREATE TABLE app.t (id int PRIMARY KEY)")
    dst.execute("CREATE SCHEMA app", user="hs_evil")
    server = make_server(src, dst)
    found = failed(dst, server)
    assert [c["check_name"] for c in found] == ["schema"] and "hs_evil" in found[0]["detail"], found
    dst.psql(found[0]["fix_sql"])
    assert failed(dst, server) == []


def test_changed_after_preflight(evil):
    """The worker plans again: what appeared since is judged as well."""
    src, dst = evil
    src.execute("CREATE SCHEMA app; CREATE DOMAIN app.email AS text;"
                "CREATE TABLE app.t (id int PRIMARY KEY, e app.email)")
    dst.execute("CREATE SCHEMA app; GRANT ALL ON SCHEMA app TO hs_evil")
    server = make_server(src, dst)
    conn = dst.connect(autocommit=False)
    with conn.cursor() as cur:
        cur.execute("SELECT * FROM sluice.sync_start('s1', source => %s)", (server,))
        # nothing has begun before this commits
        dst.execute("CREATE DOMAIN app.email AS text", user="hs_evil")
    conn.commit()
    conn.close()
    with pytest.raises(psycopg2.Error, match="^SCHEMA-NOT-CARRIED: ") as e:
        dst.execute("CALL sluice.sync_wait('s1', 'streaming')")
    assert "hs_evil" in e.value.diag.message_detail
    assert dst.value("SELECT pg_catalog.to_regclass('app.t')") is None


def test_overloads_beside(evil):
    """Functions, operators and types with names of pg_catalog, in every schema on the path."""
    src, dst = evil
    dst.execute(SPY.format(schema="evil"))
    dst.execute("ALTER SCHEMA evil OWNER TO hs_evil; ALTER TABLE evil.ran OWNER TO hs_evil;"
                "ALTER FUNCTION evil.spy(anyelement) OWNER TO hs_evil")
    for schema in ("evil", "public"):
        dst.execute("""
            CREATE FUNCTION {0}.lower(text) RETURNS text LANGUAGE sql IMMUTABLE
                AS 'SELECT CASE WHEN evil.spy($1) THEN $1 END';
            CREATE FUNCTION {0}.now() RETURNS timestamptz LANGUAGE sql IMMUTABLE
                AS 'SELECT CASE WHEN evil.spy(1) THEN NULL::timestamptz END';
            CREATE FUNCTION {0}.gt(integer, integer) RETURNS boolean LANGUAGE sql IMMUTABLE
                AS 'SELECT evil.spy($1)';
            CREATE OPERATOR {0}.> (LEFTARG = integer, RIGHTARG = integer, FUNCTION = {0}.gt);
            CREATE DOMAIN {0}.int4 AS pg_catalog.int4 CHECK (evil.spy(VALUE));
            CREATE DOMAIN {0}.text AS pg_catalog.text CHECK (evil.spy(VALUE));
        """.format(schema), user="hs_evil")
    dst.execute('ALTER DATABASE "%s" SET search_path = evil, public, pg_catalog' % dst.name)
    src.execute("""
        CREATE TABLE t (id int PRIMARY KEY, v text CHECK (lower(v) <> 'x'), at timestamptz DEFAULT now(),
            g text GENERATED ALWAYS AS (lower(v)) STORED, CHECK (id > 0));
        CREATE INDEX ON t (lower(v)) WHERE id > 1;
        INSERT INTO t VALUES (1, 'A'), (2, 'B')""")
    stream = make_stream(src, dst)
    src.execute("INSERT INTO t VALUES (3, 'C')")
    stream.caught_up()
    dst.execute('ALTER DATABASE "%s" RESET ALL' % dst.name)
    assert_same_rows(src, dst, ["public.t"])
    assert dst.value("SELECT count(*) FROM evil.ran") == 0
    assert dst.value("SELECT pg_catalog.count(*) FROM pg_catalog.pg_attribute WHERE attrelid ="
                     " 'public.t'::pg_catalog.regclass AND atttypid >= 16384") == 0


def test_member_added_to_an_extension(evil):
    """Who installed a trusted extension adds a function of his own to it."""
    src, dst = evil
    src.execute("CREATE EXTENSION pgcrypto; CREATE TABLE t (id int PRIMARY KEY, v text,"
                " h bytea GENERATED ALWAYS AS (public.digest(v, 'sha1')) STORED)")
    dst.execute("CREATE EXTENSION pgcrypto", user="hs_evil")
    server = make_server(src, dst)
    assert failed(dst, server) == []
    dst.execute("""CREATE FUNCTION public.digest(integer, text) RETURNS bytea LANGUAGE sql IMMUTABLE
        AS 'SELECT NULL::bytea'""", user="hs_evil")
    dst.execute("ALTER EXTENSION pgcrypto ADD FUNCTION public.digest(integer, text)", user="hs_evil")
    found = failed(dst, server)
    assert [c["check_name"] for c in found] == ["schema"] and "public.digest" in found[0]["detail"], found
    dst.execute("ALTER EXTENSION pgcrypto DROP FUNCTION public.digest(integer, text)", user="hs_evil")


def test_owner_without_rights(evil):
    """A stream's owner that may not create where it must; each cure cures."""
    src, dst = evil
    src.execute("CREATE SCHEMA app; CREATE TABLE app.t (id int PRIMARY KEY);"
                "CREATE SCHEMA other; CREATE TABLE other.t (id int PRIMARY KEY)")
    dst.execute("CREATE SCHEMA app")
    dst.execute("DROP ROLE IF EXISTS hs_owner; CREATE ROLE hs_owner LOGIN")
    server = make_server(src, dst, mapping_for="hs_owner")
    dst.execute('GRANT USAGE ON FOREIGN SERVER "%s" TO hs_owner;'
                'GRANT EXECUTE ON FUNCTION sluice.preflight TO hs_owner' % server)
    found = failed(dst, server, user="hs_owner")
    assert {c["check_name"] for c in found} == {"create_right"} and len(found) == 2, found
    for c in found:
        dst.psql(c["fix_sql"])
    assert failed(dst, server, user="hs_owner") == []
    dst.execute("DROP OWNED BY hs_owner; DROP ROLE hs_owner")
