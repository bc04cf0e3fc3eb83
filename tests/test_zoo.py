"""Every kind of object comes across: pg_dump of both sides is the oracle."""
import os
import re

import psycopg2
import pytest

from lib import assert_same_rows
from lib.streams import make_server, make_stream

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


def differences(src, dst):
    """Statements that only one side has."""
    left, right = statements(src), statements(dst)
    assert len(left) > 50
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
    src.psql(zoo("extensions.sql") + zoo("source.sql"))
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
    src.psql(zoo("extensions.sql") + zoo("source.sql"))
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
