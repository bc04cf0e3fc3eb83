"""Columns added on the source with a DEFAULT, while the stream runs.

The default is never on the wire.  What the rows that were there got from it on
the source must be what they have on the target: constants by the default
itself, anything else by the source's values or not at all.
"""
from lib import assert_same_rows, both, caught_up_same, follow, wait_until
from lib.pairs import database_pair, server_pair
from lib.rounds import FAST

TABLE = "CREATE TABLE t (id int PRIMARY KEY, v text)"
ROWS = "INSERT INTO t SELECT i, 'row ' || i FROM generate_series(1, 200) AS i"
FILLS = """
SELECT a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod), a.attnotnull,
    a.attidentity, pg_catalog.pg_get_expr(d.adbin, d.adrelid)
FROM pg_catalog.pg_attribute a
LEFT JOIN pg_catalog.pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
WHERE a.attrelid = %s::pg_catalog.regclass AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attname"""


servers = server_pair("defaults", conf=FAST)
dbs = database_pair("defaults")


def forwarding(src, dst, *ddl, **args):
    return follow(src, dst, *ddl, schema_changes="forward", **args)


def fills(db, table="t"):
    """What each column is and what fills it, by the same settings anywhere."""
    with db.connect() as conn, conn.cursor() as cur:
        cur.execute("SET datestyle = 'ISO'; SET intervalstyle = 'postgres'; SET timezone = 'UTC'")
        cur.execute("SET bytea_output = 'hex'; SET extra_float_digits = 1; SET search_path = public")
        cur.execute(FILLS, (table,))
        return cur.fetchall()


def crossed(stream, table="t", there=None, **kw):
    """Caught up; equal rows, and columns that fill themselves alike."""
    stream.caught_up()
    assert_same_rows(stream.src, stream.dst, [table], **kw)
    assert fills(stream.src, table) == fills(stream.dst, there or table)


def refused(stream, marker="SCHEMA-CHANGE-REFUSED"):
    """The text of the refusal that stopped the stream."""
    stream.wait_refused(marker)
    row = stream.refusals()[-1]
    return "%s\n%s\n%s" % (row["refusal_text"], row["detail"], row["hint"])


# type and DEFAULT: what the parser makes a constant of, and what computes one
CONSTANT = [
    ("int", "0"), ("int NOT NULL", "-5"), ("bigint NOT NULL", "9223372036854775807"),
    ("smallint", "'7'"), ("numeric(10,2)", "1.50"), ("numeric", "1e-20"),
    ("real", "1.5"), ("float8", "'NaN'"), ("float8", "0.1::float8 + 0.2::float8"),
    ("boolean NOT NULL", "false"), ("text NOT NULL", "''"), ("text", "'it''s \"x\" \\ é'"),
    ("text", "'now'"), ("varchar(20)", "'active'"), ("char(5)", "'ab'"), ("bytea", "'\\x00ff'"),
    ("text COLLATE \"C\"", "'c'"), ("date", "'2020-02-29'"), ("time", "'10:00'"),
    ("timetz", "'10:00+02'"), ("timestamp", "'2020-01-01 00:00:00.123456'"),
    ("timestamptz", "'2020-01-01 00:00:00+05:30'"), ("timestamptz(3)", "'infinity'"),
    ("interval", "'1 mon -2 days 03:04:05.6'"), ("interval day to second(3)", "'1 day'"),
    ("uuid", "'00000000-0000-0000-0000-00000000000a'"), ("json", "'{\"a\": [1, null]}'"),
    ("jsonb NOT NULL", "'{}'"), ("jsonb", "'{\"b\": 1.0, \"a\": \"now\"}'"), ("inet", "'10.0.0.1/8'"),
    ("int[] NOT NULL", "'{}'"), ("int[]", "ARRAY[1, 2, NULL]"), ("text[]", "ARRAY['a', 'b,c', 'now']"),
    ("timestamptz[]", "'{\"2020-01-01 00:00+00\"}'"), ("bit(3)", "B'101'"), ("varbit", "B'1'"),
    ("int4range", "'[1,5)'"), ("tstzrange", "'[2020-01-01 00:00+00,)'"), ("point", "'(1,2)'"),
    ("mood", "'glad'"), ("mood NOT NULL", "'sad'::mood"), ("mood[]", "'{sad,glad}'"),
    ("mood[]", "ARRAY['sad'::mood]"), ("pair", "'(1,x)'"), ("pair", "ROW(1, 'x')"), ("positive", "3"),
    ("positive NOT NULL", "(1 + 1)"), ("seven", None), ("seven", "8"), ("text", None), ("text", "NULL"),
    ("text", "lower('ABC') || repeat('x', 3)"), ("int", "length('abc') * 2"),
    ("text", "CASE WHEN 1 > 2 THEN 'a' ELSE COALESCE(NULL, 'b') END"), ("text", "md5('x')"),
    ("date", "make_date(2020, 1, 2)"), ("regclass", "'t'::regclass"), ("\"char\"", "'x'"),
]
TYPES = ["CREATE TYPE mood AS ENUM ('sad', 'glad')", "CREATE TYPE pair AS (a int, b text)",
         "CREATE DOMAIN positive AS int CHECK (VALUE > 0)", "CREATE DOMAIN seven AS int DEFAULT 7"]


SETTINGS = {
    "source": {"datestyle": "'German, DMY'", "intervalstyle": "sql_standard", "timezone": "'Asia/Kolkata'",
               "bytea_output": "escape", "extra_float_digits": "-5", "search_path": "nowhere, public"},
    "target": {"datestyle": "'SQL, MDY'", "intervalstyle": "iso_8601", "timezone": "'America/New_York'",
               "search_path": "elsewhere, public", "array_nulls": "off", "transform_null_equals": "on"},
}


def test_constants(dbs):
    """All at once, and some alone, whatever is set on either side."""
    src, dst = dbs
    for db, side in (src, "source"), (dst, "target"):
        for name, value in SETTINGS[side].items():
            db.server.execute('ALTER DATABASE "%s" SET %s = %s' % (db.name, name, value))
    both(src, dst, *TYPES)
    stream = forwarding(src, dst, TABLE)
    src.execute(ROWS)
    stream.caught_up()
    added = ["ADD COLUMN c%d %s%s" % (i, t, "" if d is None else " DEFAULT %s" % d)
             for i, (t, d) in enumerate(CONSTANT)]
    src.execute("ALTER TABLE t %s" % ", ".join(added))
    src.execute("INSERT INTO t (id, v) VALUES (1000, 'after')")
    crossed(stream)
    for i in range(0, len(CONSTANT), 6):
        src.execute("ALTER TABLE t %s" % added[i].replace("COLUMN c", "COLUMN d"))
        src.execute("INSERT INTO t (id, v) VALUES (%s, 'after')", 1001 + i)
    crossed(stream)
    # the default is there for a writer of the target's own
    dst.execute("INSERT INTO t (id) VALUES (-1)")
    src.execute("INSERT INTO t (id) VALUES (-1)")
    assert_same_rows(src, dst, ["t"])


REMEDY = "SELECT sluice.sync_start('s1', options => '{\"volatile_defaults\": \"copy\"}');"
SEQUENCE = "CREATE SEQUENCE numbers"
COMPUTED = [
    # the cases of volatile defaults replayed as text
    "u uuid DEFAULT gen_random_uuid()",
    "r float8 DEFAULT random()",
    "c timestamptz DEFAULT clock_timestamp()",
    "s bigint NOT NULL DEFAULT nextval('numbers')",
    "w int GENERATED BY DEFAULT AS IDENTITY",
    "t timestamptz NOT NULL DEFAULT now()",
    "who text DEFAULT current_user",
    # nested, cast, qualified, in other clothes
    "n1 timestamptz DEFAULT COALESCE(NULL, pg_catalog.now())",
    "n2 date NOT NULL DEFAULT ('now'::text)::date",
    "n3 text DEFAULT md5(random()::text || clock_timestamp()::text)",
    "n4 timestamp DEFAULT (now() AT TIME ZONE 'utc')",
    "n5 tstzrange DEFAULT tstzrange(now(), NULL)",
    "n6 timestamptz[] DEFAULT ARRAY[now()]",
    "n7 hourly DEFAULT '2020-01-01 00:00+00'",
    "n8 today",
    "n9 today DEFAULT now()",
]


def test_computed_refused_then_copied(dbs):
    """Each stops the stream before a row; with the option its values are copied."""
    src, dst = dbs
    both(src, dst, SEQUENCE,
         "CREATE DOMAIN hourly AS timestamptz CHECK (VALUE < now() + interval '1 year')",
         "CREATE DOMAIN today AS timestamptz DEFAULT now()")
    stream = forwarding(src, dst, TABLE)
    src.execute(ROWS)
    stream.caught_up()
    for i, column in enumerate(COMPUTED):
        name = column.split()[0]
        src.execute("INSERT INTO t (id, v) VALUES (%s, 'before')", 1000 + 2 * i)
        stream.caught_up()
        src.execute("ALTER TABLE t ADD COLUMN %s" % column)
        src.execute("INSERT INTO t (id, v) VALUES (%s, 'after')", 1001 + 2 * i)
        text = refused(stream)
        assert "[column-default] public.t.%s: " % name in text, text
        assert dst.value("SELECT max(id) FROM t") == 1000 + 2 * i
        assert name not in [r[0] for r in fills(dst)]
        assert REMEDY in text
        dst.execute(REMEDY)
        stream.caught_up()
        stream.stop()
        stream.start(options={"volatile_defaults": "refuse"})
    crossed(stream)
    assert dst.value("SELECT count(DISTINCT u) FROM t") == 200 + 2 * len(COMPUTED)


def test_copied_at_once(dbs):
    """Several columns in one statement, rows changing meanwhile."""
    src, dst = dbs
    both(src, dst, SEQUENCE)
    stream = forwarding(src, dst, TABLE, options={"volatile_defaults": "copy"})
    src.execute(ROWS)
    src.execute("ALTER TABLE t ADD COLUMN u uuid NOT NULL DEFAULT gen_random_uuid(),"
                " ADD COLUMN k int DEFAULT 5, ADD COLUMN s bigint DEFAULT nextval('numbers'),"
                " ADD COLUMN w bigint GENERATED ALWAYS AS IDENTITY")
    src.execute("UPDATE t SET v = 'new', u = gen_random_uuid() WHERE id % 3 = 0")
    src.execute("DELETE FROM t WHERE id % 7 = 0")
    src.execute("INSERT INTO t (id) SELECT generate_series(1000, 1050)")
    caught_up_same(stream, "t")
    assert [r[:3] + r[4:] for r in fills(src)] == [r[:3] + r[4:] for r in fills(dst)]
    # what writes here takes its numbers from a sequence of the target's
    assert dst.value("SELECT pg_get_serial_sequence('t', 'w')") == "public.t_w_seq"


def test_missing_sequence(dbs):
    """bigserial: the sequence is new too; the statement that makes it is shown."""
    src, dst = dbs
    stream = forwarding(src, dst, TABLE, options={"volatile_defaults": "copy"})
    src.execute(ROWS)
    src.execute("ALTER TABLE t ADD COLUMN n bigserial")
    src.execute("INSERT INTO t (id) VALUES (1000)")
    text = refused(stream)
    assert "sequence public.t_n_seq does not exist on the target" in text
    assert "CREATE SEQUENCE public.t_n_seq;" in text
    dst.execute("CREATE SEQUENCE public.t_n_seq")
    stream.start()
    crossed(stream)


def test_new_type(dbs):
    """The type was made just before: the refusal says where its statement is."""
    src, dst = dbs
    stream = forwarding(src, dst, TABLE)
    src.execute(ROWS)
    src.execute("CREATE TYPE fresh AS ENUM ('a', 'b')")
    src.execute("ALTER TABLE t ADD COLUMN f fresh DEFAULT 'b'")
    src.execute("INSERT INTO t (id) VALUES (1000)")
    text = refused(stream)
    assert "type public.fresh does not exist on the target" in text
    hint = next(line for line in text.split(";") if "schema_preview" in line).strip()
    ddl = dst.value(hint[hint.index("SELECT"):])
    assert ddl.startswith("CREATE TYPE public.fresh AS ENUM"), ddl
    dst.execute(ddl)
    stream.start()
    crossed(stream)


def test_django_add_field(dbs):
    """Its default is gone in the next statement, in one transaction or in two."""
    src, dst = dbs
    stream = forwarding(src, dst, TABLE)
    src.execute(ROWS)
    stream.caught_up()
    src.execute("BEGIN; ALTER TABLE t ADD COLUMN a varchar(10) DEFAULT 'new' NOT NULL;"
                " ALTER TABLE t ALTER COLUMN a DROP DEFAULT; COMMIT")
    src.execute("INSERT INTO t (id, a) VALUES (1000, 'x')")
    crossed(stream)
    src.execute("ALTER TABLE t ADD COLUMN b timestamptz DEFAULT now() NOT NULL")
    src.execute("ALTER TABLE t ALTER COLUMN b DROP DEFAULT")
    src.execute("INSERT INTO t (id, a, b) VALUES (1001, 'x', '2020-01-01')")
    crossed(stream)


def test_default_changed_before(dbs):
    """The catalog says what the default is now, the rows what it was."""
    src, dst = dbs
    stream = forwarding(src, dst, TABLE)
    src.execute(ROWS)
    stream.caught_up()
    stream.stop()
    src.execute("ALTER TABLE t ADD COLUMN a int DEFAULT 1")
    src.execute("INSERT INTO t (id) VALUES (1000)")
    src.execute("ALTER TABLE t ALTER COLUMN a SET DEFAULT 2")
    src.execute("INSERT INTO t (id) VALUES (1001)")
    stream.start()
    crossed(stream)
    stream.stop()
    src.execute("ALTER TABLE t ADD COLUMN b float8 DEFAULT random()")
    src.execute("ALTER TABLE t ALTER COLUMN b SET DEFAULT 0")
    src.execute("INSERT INTO t (id) VALUES (1002)")
    stream.start()
    crossed(stream)
    stream.stop()
    src.execute("ALTER TABLE t ADD COLUMN c float8 DEFAULT 0")
    src.execute("ALTER TABLE t ALTER COLUMN c SET DEFAULT random()")
    src.execute("INSERT INTO t (id) VALUES (1003)")
    stream.start()
    assert "default random()" in refused(stream, "RESUME-SCHEMA-DIVERGENCE")


def test_renamed_before(dbs):
    """The column has another name when the stream gets there, and its fills still."""
    src, dst = dbs
    stream = forwarding(src, dst, TABLE)
    src.execute(ROWS)
    stream.caught_up()
    stream.stop()
    src.execute("ALTER TABLE t ADD COLUMN a text COLLATE \"C\" NOT NULL DEFAULT 'x'")
    src.execute("INSERT INTO t (id) VALUES (1000)")
    src.execute("ALTER TABLE t RENAME COLUMN a TO b")
    src.execute("INSERT INTO t (id) VALUES (1001)")
    stream.start()
    crossed(stream)
    stream.stop()
    src.execute("ALTER TABLE t ADD COLUMN c timestamptz NOT NULL DEFAULT now()")
    src.execute("INSERT INTO t (id) VALUES (1002)")
    src.execute("ALTER TABLE t RENAME COLUMN c TO d")
    src.execute("INSERT INTO t (id) VALUES (1003)")
    stream.start()
    assert "default now()" in refused(stream, "RESUME-SCHEMA-DIVERGENCE")


def test_functions_of_users(dbs):
    """The gate lets no function of a user through, though it is here too."""
    src, dst = dbs
    both(src, dst, "CREATE FUNCTION public.one() RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 1'")
    stream = forwarding(src, dst, TABLE, options={"volatile_defaults": "copy"})
    src.execute(ROWS)
    src.execute("ALTER TABLE t ADD COLUMN a int DEFAULT public.one()")
    src.execute("INSERT INTO t (id) VALUES (1000)")
    assert "calls function public.one, which is not" in refused(stream)
    # by hand, as it would be for any change that is refused
    dst.execute("ALTER TABLE t ADD COLUMN a int DEFAULT public.one()")
    stream.start()
    crossed(stream)


def test_mapped_schema(dbs):
    """A default of a type of a schema that has another name here."""
    src, dst = dbs
    src.execute("CREATE SCHEMA app; CREATE TYPE app.mood AS ENUM ('sad', 'glad');"
                " CREATE TABLE app.t (id int PRIMARY KEY, v text)")
    dst.execute("CREATE SCHEMA \"Here\"; CREATE TYPE \"Here\".mood AS ENUM ('sad', 'glad');"
                " CREATE TABLE \"Here\".t (id int PRIMARY KEY, v text)")
    stream = forwarding(src, dst, options={"schema_map": {"app": "Here"}})
    src.execute(ROWS.replace("t SELECT", "app.t SELECT"))
    src.execute("ALTER TABLE app.t ADD COLUMN m app.mood NOT NULL DEFAULT 'glad',"
                " ADD COLUMN a app.mood[] DEFAULT ARRAY['sad'::app.mood]")
    src.execute("INSERT INTO app.t (id) VALUES (1000)")
    caught_up_same(stream, "app.t", target_of=lambda name: ("Here", "t"))
    assert [r[4] for r in fills(dst, '"Here".t')] == [
        "ARRAY['sad'::\"Here\".mood]", None, "'glad'::\"Here\".mood", None]


def test_without_a_key(dbs):
    """No key to copy by: nothing of a computed default can be carried."""
    src, dst = dbs
    both(src, dst, "CREATE TABLE t (id int, v text)", "ALTER TABLE t REPLICA IDENTITY FULL")
    stream = forwarding(src, dst, options={"volatile_defaults": "copy"})
    src.execute(ROWS)
    src.execute("ALTER TABLE t ADD COLUMN c timestamptz DEFAULT now()")
    src.execute("INSERT INTO t (id) VALUES (1000)")
    text = refused(stream)
    assert "key" in text, text
    wait_until(lambda: dst.value("SELECT count(*) FROM t") == 200, 30, "rows written")


def test_domain_that_takes_no_null(dbs):
    """It cannot be added without the default; what is in the way is named."""
    src, dst = dbs
    both(src, dst, "CREATE DOMAIN present AS timestamptz NOT NULL",
         "CREATE DOMAIN given AS int CHECK (VALUE IS NOT NULL)")
    stream = forwarding(src, dst, TABLE, options={"volatile_defaults": "copy"})
    src.execute(ROWS)
    src.execute("ALTER TABLE t ADD COLUMN a given DEFAULT 1, ADD COLUMN b present DEFAULT '2020-01-01 00:00+00'")
    src.execute("INSERT INTO t (id) VALUES (1000)")
    crossed(stream)
    src.execute("ALTER TABLE t ADD COLUMN c present DEFAULT now()")
    src.execute("INSERT INTO t (id) VALUES (1001)")
    assert "[column-added] public.t.c public.present\nSQLSTATE 23502" in refused(stream)


def test_extension_that_is_not_here(dbs):
    """The type of an extension, made here when the refusal names it."""
    src, dst = dbs
    src.execute("CREATE EXTENSION citext")
    stream = forwarding(src, dst, TABLE)
    src.execute(ROWS)
    src.execute("ALTER TABLE t ADD COLUMN c citext DEFAULT 'X'")
    src.execute("INSERT INTO t (id) VALUES (1000)")
    text = refused(stream)
    assert "type public.citext does not exist on the target" in text
    dst.execute("CREATE EXTENSION citext")
    stream.start()
    crossed(stream)


def test_retyped_before(dbs):
    """A column that was added and retyped before the stream got there.

    The catalog has nothing to say of what it was when it was added; what it
    is in the end is not lost for that: NOT NULL comes with the values, and the
    door asks for the default.
    """
    src, dst = dbs
    stream = forwarding(src, dst, TABLE)
    src.execute(ROWS)
    stream.caught_up()
    stream.stop()
    src.execute("ALTER TABLE t ADD COLUMN b int NOT NULL DEFAULT 5")
    src.execute("INSERT INTO t (id) VALUES (1001)")
    src.execute("ALTER TABLE t ALTER COLUMN b TYPE bigint")
    src.execute("INSERT INTO t (id) VALUES (1002)")
    stream.start()
    row = stream.wait_refused("UNFORWARDED-SCHEMA-CHANGE")
    assert "[default-set] public.t.b" in row["reason"], row
    assert "[not-null-set]" not in row["reason"], row
    assert dst.value("SELECT attnotnull FROM pg_attribute WHERE attrelid = 't'::regclass"
                     " AND attname = 'b'")
    for statement in row["hint"].split("\n"):
        if statement.startswith("ALTER"):
            dst.execute(statement)
    stream.start(accept_unforwarded_schema_change=row["fingerprint"])
    crossed(stream)
