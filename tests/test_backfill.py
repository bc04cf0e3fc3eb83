"""Values owed to rows that were here before a schema change, copied by key."""
import os

import pytest

from lib import PgServer, assert_same_rows, make_stream, wait_until
from lib.rounds import check_confirmed, fault_points, gone

SEED = os.environ.get("SLUICE_SEED", "1")
ROWS = 12000                    # more than one commit's worth

CONF = {"sluice.retry_min": "50ms", "sluice.retry_max": "400ms"}

KILLS = {}


@pytest.fixture(scope="module")
def servers():
    source = PgServer("fill-source", preload="").start()
    target = PgServer("fill-target", conf=CONF).start()
    yield source, target
    target.destroy()
    source.destroy()


@pytest.fixture
def dbs(servers):
    source, target = servers
    src, dst = source.fresh_db("fill"), target.fresh_db("fill", extension=True)
    yield src, dst
    if not target.is_running():
        target.start()
    target.reload(**{"sluice.fault_point": "", "sluice.autostart": "on"})
    dst.destroy()
    src.destroy()


COLUMN = ("SELECT a.attnum, a.atttypid::bigint, a.atttypmod, c.oid::bigint FROM pg_attribute a"
          " JOIN pg_class c ON c.oid = a.attrelid WHERE c.oid = %s::regclass AND a.attname = %s")


def owe(stream, table, keys, columns, not_null=False, then=None):
    """Put a debt on record, as a forwarded change does."""
    src, dst = stream.src, stream.dst
    source_id = src.query(COLUMN, table, keys[0])[0][3]
    debt = dst.value(
        "INSERT INTO sluice.debt (stream_id, schema_name, table_name, source_id, target_relid,"
        " lsn) VALUES (%s, 'public', %s, %s, %s::regclass, '0/1') RETURNING id",
        stream.id, table, source_id, table)
    for n, name in enumerate(keys + columns):
        attnum, typid, typmod, _ = src.query(COLUMN, table, name)[0]
        there = dst.query(COLUMN, table, name)[0][0]
        dst.execute(
            "INSERT INTO sluice.debt_column VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s)",
            debt, n + 1, name in keys, name, attnum, typid, typmod, there,
            not_null and name in columns, then if name in columns else None)


def debts(dst):
    return dst.value("SELECT count(*) FROM sluice.debt")


def paid(stream, timeout=60):
    wait_until(lambda: debts(stream.dst) == 0, timeout, lambda: "%r %r" % (
        stream.health(), stream.dst.query("SELECT * FROM sluice.debt")))


def same(stream, *tables):
    stream.caught_up()
    assert_same_rows(stream.src, stream.dst, tables)


def stopped_with(dbs, create, source_change, target_change, fill=None, **args):
    """A stream at rest, then each side changed on its own."""
    src, dst = dbs
    src.execute(create)
    if fill:
        src.execute(fill)
    stream = make_stream(src, dst, **args)
    stream.caught_up()
    stream.stop()
    src.execute(source_change)
    dst.execute(target_change)
    return stream


KEYS = {
    "int": ("id int PRIMARY KEY", "i", ["id"]),
    "text": ('id text COLLATE "en_US.utf8" PRIMARY KEY', "md5(i::text)", ["id"]),
    "uuid": ("id uuid PRIMARY KEY", "md5(i::text)::uuid", ["id"]),
    "numeric": ("id numeric PRIMARY KEY", "i * 1.10", ["id"]),
    "timestamptz": ("id timestamptz PRIMARY KEY",
                    "timestamptz '2024-01-01' + i * interval '1.000001 s'", ["id"]),
    "composite": ("a int, b text, id date, PRIMARY KEY (b, a, id)",
                  "i % 7, 'x' || i % 100, date '2024-01-01' + i", ["a", "b", "id"]),
    "citext": ('id public.citext, "Two" int, PRIMARY KEY ("Two", id)',
               "CASE i % 2 WHEN 0 THEN 'a' ELSE 'B' END || i, i % 3", ["id", "Two"]),
    "domain": ("id posint PRIMARY KEY", "i", ["id"]),
    "order": ("id \"char\", n bpchar(8), PRIMARY KEY (id, n)",
              "chr(65 + i % 26)::\"char\", i::text", ["id", "n"]),
}


@pytest.mark.parametrize("kind", sorted(KEYS))
def test_keys(dbs, kind):
    columns, values, names = KEYS[kind]
    if kind == "citext":
        for db in dbs:
            db.execute("CREATE EXTENSION citext SCHEMA public")
    if kind == "domain":
        dbs[0].execute("CREATE DOMAIN posint AS int CHECK (VALUE > 0)")
    stream = stopped_with(
        dbs, "CREATE TABLE t (%s, v text)" % columns,
        "ALTER TABLE t ADD c text NOT NULL DEFAULT gen_random_uuid()", "ALTER TABLE t ADD c text",
        fill="INSERT INTO t SELECT %s, 'v' || i FROM generate_series(1, %d) AS i" % (values, ROWS))
    owe(stream, "t", names, ["c"], not_null=True)
    stream.start()
    paid(stream)
    same(stream, "t")
    assert stream.dst.value("SELECT attnotnull FROM pg_attribute WHERE attrelid = 't'::regclass"
                            " AND attname = 'c'")
