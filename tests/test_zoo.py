"""Every kind of object comes across: pg_dump of both sides is the oracle."""
import os
import re

import psycopg2
import pytest

from lib.streams import make_server

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
