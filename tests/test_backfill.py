"""Values owed to rows that were here before a schema change, copied by key."""
import os
import random
import threading

import psycopg2
import pytest

from lib import PgServer, assert_same_rows, make_stream, wait_until
from lib.rounds import check_confirmed, fault_points, gone

SEED = os.environ.get("SLUICE_SEED", "1")
ROWS = 12000                    # more than one commit's worth

CONF = {"sluice.retry_min": "50ms", "sluice.retry_max": "400ms"}

KILLS = {}

COPY = {"schema_changes": "forward", "options": {"volatile_defaults": "copy"}}


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


class KeyWriter:
    """Rows of t that come, go, change and change their keys, in the background."""

    def __init__(self, db):
        self.db = db
        self.halt = threading.Event()
        self.fault = None
        self.thread = threading.Thread(target=self.run, daemon=True)

    def run(self):
        rng = random.Random("fill/%s" % SEED)
        conn = self.db.connect()
        fresh = 1000000
        try:
            while not self.halt.wait(0.002):
                fresh += 1
                key = rng.randint(1, 16000)
                with conn.cursor() as cur:
                    cur.execute(rng.choice([
                        "INSERT INTO t (id, v) VALUES (%(fresh)s, 'new')",
                        "UPDATE t SET v = 'changed' WHERE id = %(key)s",
                        "UPDATE t SET id = %(fresh)s WHERE id = %(key)s",
                        "DELETE FROM t WHERE id = %(key)s"]), {"fresh": fresh, "key": key})
        except Exception as e:
            self.fault = e
        finally:
            conn.close()

    def stop(self):
        self.halt.set()
        self.thread.join(30)
        assert self.fault is None, self.fault

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *args):
        self.halt.set()
        self.thread.join(30)


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


def filled(stream, timeout=60):
    """All that is owed was paid, and both sides are equal."""
    stream.caught_up()
    wait_until(lambda: debts(stream.dst) == 0, timeout, lambda: "%r %r" % (
        stream.health(), stream.dst.query("SELECT * FROM sluice.debt")))
    stream.caught_up()
    assert_same_rows(stream.src, stream.dst, ["t"])


def stopped_with(dbs, create, source_change, target_change, fill=None, **args):
    """A stream at rest, then each side changed on its own."""
    src, dst = dbs
    src.execute(create)
    if fill:
        src.execute(fill)
    stream = make_stream(src, dst, **dict(COPY, **args))
    stream.caught_up()
    stream.stop()
    src.execute(source_change)
    dst.execute(target_change)
    return stream


KEYS = {
    "int": ("id int PRIMARY KEY", "i", ["id"]),
    "text": ('id text COLLATE "en-x-icu" PRIMARY KEY', "md5(i::text)", ["id"]),
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
    filled(stream)
    assert stream.dst.value("SELECT attnotnull FROM pg_attribute WHERE attrelid = 't'::regclass"
                            " AND attname = 'c'")




def big(rows=ROWS):
    return "INSERT INTO t SELECT i, 'v' || i FROM generate_series(1, %d) AS i" % rows


PLAIN = "CREATE TABLE t (id int PRIMARY KEY, v text)"
UUID = "ALTER TABLE t ADD c uuid NOT NULL DEFAULT gen_random_uuid()"


def test_added_column_is_filled(dbs):
    """The source's own values, NOT NULL and the default once they are here."""
    src, dst = dbs
    src.execute(PLAIN)
    src.execute(big())
    stream = make_stream(src, dst, **COPY)
    mark = dst.server.log_mark()
    src.execute(UUID)
    src.execute("INSERT INTO t VALUES (0, 'new')")
    filled(stream)
    assert dst.query("SELECT attnotnull, pg_get_expr(d.adbin, 0) FROM pg_attribute a JOIN pg_attrdef d"
                     " ON d.adrelid = a.attrelid AND d.adnum = a.attnum WHERE a.attrelid ="
                     " 't'::regclass AND attname = 'c'") == [(True, "gen_random_uuid()")]
    dst.server.wait_log(r"filled %d of %d rows of table \"public.t\" from the source: c" % (
        ROWS, ROWS + 1), mark)
    assert stream.health()["healthy"]


def test_constant_default_is_only_read(dbs):
    src, dst = dbs
    src.execute(PLAIN)
    src.execute(big())
    stream = make_stream(src, dst, **COPY)
    mark = dst.server.log_mark()
    src.execute("ALTER TABLE t ADD c int NOT NULL DEFAULT 7")
    src.execute("INSERT INTO t VALUES (0, 'new')")
    filled(stream)
    dst.server.wait_log(r"filled 0 of %d rows" % (ROWS + 1), mark)


def test_partitioned_on_both_sides(dbs):
    """… and differently: the source by range, the target by hash."""
    src, dst = dbs
    src.execute("CREATE TABLE t (id int, day date, v text, PRIMARY KEY (id, day)) PARTITION BY RANGE (day)")
    dst.execute("CREATE TABLE t (id int, day date, v text, PRIMARY KEY (id, day)) PARTITION BY HASH (id)")
    for n in range(3):
        src.execute("CREATE TABLE t%d PARTITION OF t FOR VALUES FROM ('202%d-01-01') TO ('202%d-01-01')"
                    % (n, n, n + 1))
        # another order of columns
        dst.execute("CREATE TABLE t%d (v text, day date NOT NULL, id int NOT NULL)" % n)
        dst.execute("ALTER TABLE t ATTACH PARTITION t%d FOR VALUES WITH (MODULUS 3, REMAINDER %d)" % (n, n))
    src.execute("INSERT INTO t SELECT i, date '2020-01-01' + i %% 1000, 'v' FROM generate_series(1, %d) i" % ROWS)
    stream = make_stream(src, dst, **COPY)
    src.execute(UUID)
    src.execute("INSERT INTO t VALUES (0, '2020-01-01', 'new')")
    filled(stream)


def test_stop_in_the_middle(dbs):
    """A stop while rows are copied, then a start: from the cursor on."""
    src, dst = dbs
    src.execute(PLAIN)
    src.execute(big(60000))
    stream = make_stream(src, dst, **COPY)
    src.execute(UUID)
    src.execute("INSERT INTO t VALUES (0, 'new')")
    wait_until(lambda: dst.value("SELECT count(*) FROM sluice.debt WHERE rows_done > 0"), 60,
               "no page was copied")
    stream.stop()
    done = dst.value("SELECT sum(rows_done) FROM sluice.debt WHERE until_lsn IS NULL")
    assert done, "the copy was over before the stop"
    assert not stream.health()["healthy"]
    assert dst.value("SELECT count(*) FROM sluice.progress") == 0
    src.execute("DELETE FROM t WHERE id % 10 = 1")
    src.execute("UPDATE t SET v = 'changed' WHERE id % 10 = 2")
    mark = dst.server.log_mark()
    stream.start()
    filled(stream)
    dst.server.wait_log(r"filled \d+ of \d+ rows", mark)


@pytest.mark.parametrize("identity", ["DEFAULT", "FULL", "USING INDEX t_code"])
def test_key_change_with_a_value_out_of_line(dbs, identity):
    """A row that is found under neither key: its value is not sent again."""
    src, dst = dbs
    src.execute("CREATE TABLE t (id int PRIMARY KEY, code int NOT NULL, v text);"
                "CREATE UNIQUE INDEX t_code ON t (code);"
                "ALTER TABLE t REPLICA IDENTITY %s" % identity)
    src.execute("INSERT INTO t SELECT i, i, 'v' FROM generate_series(1, 500) AS i")
    stream = make_stream(src, dst, **COPY)
    stream.stop()
    src.execute("ALTER TABLE t ADD c text DEFAULT " + " || ".join(["md5(random()::text)"] * 120))
    assert src.value("SELECT count(*) FROM t WHERE pg_column_size(c) > 2500") == 500
    src.execute("UPDATE t SET id = id + 10000 WHERE id % 5 = 0")
    src.execute("UPDATE t SET v = 'changed' WHERE id % 7 = 0")
    src.execute("UPDATE t SET id = CASE id WHEN 1 THEN -2 ELSE -1 END WHERE id IN (1, 2)")
    src.execute("UPDATE t SET id = -id WHERE id IN (-1, -2)")
    src.execute("DELETE FROM t WHERE id % 11 = 0")
    stream.start()
    filled(stream)
    assert stream.conflicts() == []


def test_type_change_copies_values(dbs):
    """Only the source knows what USING did."""
    stream = stopped_with(
        dbs, "CREATE TABLE t (id int PRIMARY KEY, n int)",
        "ALTER TABLE t ALTER n TYPE bigint USING n * 1000000000000",
        "ALTER TABLE t ALTER n TYPE bigint",
        fill="INSERT INTO t SELECT i, i FROM generate_series(1, 3000) AS i")
    owe(stream, "t", ["id"], ["n"])
    stream.start()
    filled(stream)


def owing(dbs, change, create=PLAIN, fill=None, **args):
    """A stream that stopped before the change, so that what follows it is of the future."""
    src, dst = dbs
    src.execute(create)
    src.execute(fill or big(3000))
    stream = make_stream(src, dst, **dict(COPY, **args))
    stream.stop()
    src.execute(change)
    src.execute("UPDATE t SET v = 'after' WHERE id = 1")
    return stream


def test_renamed_meanwhile(dbs):
    """The column and the key, known again by their attnums; the table by its oid."""
    stream = stopped_with(dbs, PLAIN, UUID, "ALTER TABLE t ADD c uuid", fill=big(3000))
    src, dst = dbs
    owe(stream, "t", ["id"], ["c"], not_null=True)
    src.execute("ALTER TABLE t RENAME c TO d; ALTER TABLE t RENAME id TO key")
    dst.execute("ALTER TABLE t RENAME c TO d; ALTER TABLE t RENAME id TO key")
    stream.start()
    filled(stream)


def test_dropped_meanwhile(dbs):
    """Nothing to copy, and the drop is on its way."""
    stream = owing(dbs, UUID)
    stream.src.execute("ALTER TABLE t DROP c")
    stream.src.execute("UPDATE t SET v = 'later' WHERE id = 2")
    stream.start()
    filled(stream)


def test_retyped_meanwhile(dbs):
    """Filled once the stream has come to the change of its type."""
    src, dst = dbs
    stream = stopped_with(dbs, PLAIN, "ALTER TABLE t ADD c int", "ALTER TABLE t ADD c bigint",
                          fill=big(3000))
    owe(stream, "t", ["id"], ["c"])
    src.execute("ALTER TABLE t ALTER c TYPE bigint USING id * 2")
    mark = dst.server.log_mark()
    stream.start()
    dst.server.wait_log(r"fills column c of table \"public.t\" later", mark)
    assert not stream.health()["healthy"]
    # all that was sent is here, and the values of c are not
    with pytest.raises(psycopg2.Error) as error:
        stream.caught_up("5 s")
    assert "values that are owed to rows are not all copied yet" in str(error.value)
    src.execute("UPDATE t SET v = 'later' WHERE id = 1")
    filled(stream)


def test_not_null_of_a_column_retyped_since(dbs):
    """While the stream is behind, the catalog does not tell it of the column of
    then whether it was NOT NULL; of the one that is filled it does."""
    stream = owing(dbs, "ALTER TABLE t ADD c numeric(8,2) NOT NULL DEFAULT 7;"
                   " ALTER TABLE t ADD d numeric(8,2) DEFAULT 8")
    src, dst = dbs
    src.execute("ALTER TABLE t ALTER c TYPE numeric(12,2); UPDATE t SET v = 'one' WHERE id = 2")
    src.execute("ALTER TABLE t ALTER d TYPE numeric(12,2); UPDATE t SET v = 'two' WHERE id = 3")
    stream.start()
    filled(stream)
    assert dst.query("SELECT attname, attnotnull FROM pg_attribute WHERE attrelid = 't'::regclass"
                     " AND attname IN ('c', 'd') ORDER BY 1") == [("c", True), ("d", False)]


REPAIR = ("[unfilled-column] public.t: the source's primary key has other columns now\n"
          "Columns owed: c.")


def test_filled_by_hand(dbs):
    """Refused with the repair as statements; acknowledged, the stream goes on."""
    src, dst = dbs
    stream = stopped_with(dbs, PLAIN, "ALTER TABLE t ADD c int NOT NULL DEFAULT 7",
                          "ALTER TABLE t ADD c int", fill=big(3000))
    owe(stream, "t", ["id"], ["c"], not_null=True)
    for db in dbs:
        db.execute("ALTER TABLE t DROP CONSTRAINT t_pkey; ALTER TABLE t ADD PRIMARY KEY (id, v)")
    stream.start()
    row = stream.wait_refused("ADD-COLUMN-BACKFILL-INCOMPLETE")
    refusal = stream.refusals()[-1]
    assert (refusal["table_name"], refusal["detail"]) == ("t", REPAIR)
    assert not row["healthy"]
    path = os.path.join(dst.server.base, "rows.copy")
    with src.connect() as conn, conn.cursor() as cur, open(path, "w") as f:
        cur.copy_expert("COPY (SELECT id, c FROM t) TO STDOUT", f)
    os.chmod(path, 0o644)
    conn = dst.connect()
    with conn.cursor() as cur:
        for statement in refusal["hint"].replace("/path/of/rows.copy", path).split("; "):
            cur.execute(statement)
    conn.close()
    stream.start()
    filled(stream)
    assert dst.value("SELECT count(*) FROM sluice.schema_events WHERE marker ="
                     " 'ADD-COLUMN-BACKFILL-INCOMPLETE' AND decision = 'warned'") == 1
    assert dst.value("SELECT attnotnull FROM pg_attribute WHERE attrelid = 't'::regclass"
                     " AND attname = 'c'")


@pytest.mark.parametrize("change,what", [
    ("ALTER TABLE t DROP CONSTRAINT t_pkey; ALTER TABLE t REPLICA IDENTITY FULL",
     "the table has no primary key on the source any more"),
    ("ALTER TABLE t DROP CONSTRAINT t_pkey; ALTER TABLE t ADD PRIMARY KEY (id, v)",
     "the source's primary key has other columns now"),
    ("ALTER TABLE t ALTER id TYPE bigint",
     "the type of column id has changed on the source since"),
])
def test_key_gone_meanwhile(dbs, change, what):
    stream = stopped_with(dbs, PLAIN, UUID, "ALTER TABLE t ADD c uuid", fill=big(100))
    owe(stream, "t", ["id"], ["c"])
    for db in dbs:
        db.execute(change)
    stream.start()
    stream.wait_refused("ADD-COLUMN-BACKFILL-INCOMPLETE")
    assert what in stream.refusals()[-1]["detail"], stream.refusals()[-1]


def test_not_filled_by_option(dbs):
    src, dst = dbs
    src.execute(PLAIN)
    src.execute(big(100))
    stream = make_stream(src, dst, schema_changes="forward",
                         options={"backfill_added_column": False})
    mark = dst.server.log_mark()
    src.execute("ALTER TABLE t ADD c int DEFAULT 3")
    src.execute("UPDATE t SET c = 5 WHERE id = 1")
    stream.caught_up()
    assert_same_rows(src, dst, ["t"])
    dst.server.wait_log(r"public.t.c: added without its values on the source", mark)
    assert "of table \"public.t\" from the source" not in dst.server.log_text(mark)


def test_guards_of_the_target(dbs):
    """Generated columns follow, triggers that fire need their acceptance."""
    src, dst = dbs
    src.execute(PLAIN)
    src.execute(big(100))
    stream = make_stream(src, dst, **COPY)
    dst.execute("CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$;"
                "CREATE TRIGGER tr BEFORE UPDATE ON t FOR EACH ROW EXECUTE FUNCTION f();"
                "ALTER TABLE t ENABLE ALWAYS TRIGGER tr")
    src.execute(UUID)
    src.execute("INSERT INTO t VALUES (0, 'new')")
    stream.wait_refused("TARGET-TRIGGER")
    dst.execute("ALTER TABLE t DISABLE TRIGGER tr")
    stream.start()
    filled(stream)


def test_cutover_waits_for_it(dbs):
    stream = stopped_with(dbs, PLAIN, "ALTER TABLE t ADD c int DEFAULT 7", "ALTER TABLE t ADD c int",
                          fill=big(100))
    stream.start()
    stream.caught_up()
    owe(stream, "t", ["id"], ["c"])
    with pytest.raises(psycopg2.Error) as e:
        stream.dst.execute("SELECT * FROM sluice.cutover(%s)", stream.id)
    assert "[columns] values that are owed to rows are not all copied yet" in str(e.value)
    stream.stop()
    stream.start()
    filled(stream)


# ---------- kills ----------

def arm(target, point):
    mark = target.log_mark()
    target.reload(**{"sluice.fault_point": point, "restart_after_crash": "off"})
    return mark


def died_at(target, point, mark):
    target.wait_log(r'fault point "%s" reached' % point.split(":")[0], mark, timeout=120)
    gone(target)
    KILLS[point.split(":")[0]] = KILLS.get(point.split(":")[0], 0) + 1


def back(stream, target):
    target.start(**{"sluice.fault_point": "", "restart_after_crash": "on",
                    "sluice.autostart": "off"})
    check_confirmed(stream)
    target.reload(**{"sluice.autostart": "on"})


POINTS = ["backfill_begin", "backfill_page", "backfill_page:3", "backfill_commit",
          "backfill_commit:2", "backfill_end", "before_alter", "after_alter"]


@pytest.mark.parametrize("point", POINTS)
def test_kill_at(servers, dbs, point):
    """Killed there with writers running, it goes on by itself and ends equal."""
    src, dst = dbs
    target = servers[1]
    src.execute(PLAIN)
    src.execute(big(16000))
    stream = make_stream(src, dst, **COPY)
    with KeyWriter(src) as writer:
        mark = arm(target, point)
        src.execute(UUID)
        died_at(target, point, mark)
        back(stream, target)
        writer.stop()
    filled(stream)
    assert dst.value("SELECT attnotnull FROM pg_attribute WHERE attrelid = 't'::regclass"
                     " AND attname = 'c'")


def test_every_point_had_its_kill():
    mine = [p for p in fault_points() if p.startswith("backfill_")]
    assert len(mine) == 4, mine
    missing = [p for p in mine if not KILLS.get(p)]
    assert not missing, "no kill at %s; kills: %r" % (", ".join(missing), KILLS)
