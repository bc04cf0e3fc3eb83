"""Schema changes of the source that cross to the target while the stream runs.

Live, with pgoutput: what is forwarded, inside of transactions and behind them,
who owns the target, who is in the way, and kills around the ALTER.
"""
import threading

import pytest

import lib
from lib import PgServer, assert_same_rows, both, caught_up_same, wait_until
from lib.rounds import FAST, check_equal, gone

TABLE = "CREATE TABLE t (id int PRIMARY KEY, v text)"
COLUMNS = """
SELECT a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod)
FROM pg_catalog.pg_attribute a WHERE a.attrelid = %s::pg_catalog.regclass
AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attname"""

KILLS = {}


@pytest.fixture(scope="module")
def servers():
    source = PgServer("forward-source", preload="").start()
    target = PgServer("forward-target", conf=FAST).start()
    yield source, target
    target.destroy()
    source.destroy()


@pytest.fixture
def dbs(servers):
    source, target = servers
    src = source.fresh_db("forward")
    dst = target.fresh_db("forward", extension=True)
    yield src, dst
    if not target.is_running():
        target.start()
    target.reload(**{"sluice.fault_point": "", "sluice.autostart": "on",
                     "sluice.alter_retries": "10"})
    dst.destroy()
    src.destroy()


def make_stream(src, dst, *args, **kw):
    return lib.make_stream(src, dst, *args, schema_changes="forward", **kw)


def follow(src, dst, *ddl, **kw):
    return lib.follow(src, dst, *ddl, schema_changes="forward", **kw)


def same_columns(stream, table="t", there=None):
    """The table has the same columns on both sides."""
    assert stream.src.query(COLUMNS, table) == stream.dst.query(COLUMNS, there or table)


def events(stream):
    """[(decision, ddl)] in the order in which they were recorded."""
    return [(r["decision"], r["ddl"]) for r in stream.dst.rows(
        "SELECT decision, ddl FROM sluice.schema_event WHERE stream_id = %s"
        " ORDER BY id", stream.id)]


def forwarded(stream):
    """The statements that ran on the target; nothing else was decided."""
    found = events(stream)
    assert [d for d, _ in found] == ["forwarded"] * len(found), found
    return [ddl for _, ddl in found]


def crossed(stream, *tables):
    """Caught up, equal rows and columns."""
    caught_up_same(stream, *(tables or ("t",)))
    for table in tables or ("t",):
        same_columns(stream, table)


CHANGES = [
    # what the source does, and whether its rows are written again
    "ALTER TABLE t ADD COLUMN a int",
    "ALTER TABLE t ADD COLUMN b text, ADD COLUMN c date, ADD COLUMN \"D e\" int",
    "ALTER TABLE t RENAME COLUMN b TO \"B 2\"",
    "ALTER TABLE t ALTER COLUMN a TYPE bigint",
    "ALTER TABLE t DROP COLUMN c",
    "ALTER TABLE t ADD COLUMN n numeric(6,2)",
    "ALTER TABLE t ALTER COLUMN n TYPE numeric(12,2)",
    "ALTER TABLE t ADD COLUMN w varchar(5)",
    "ALTER TABLE t ALTER COLUMN w TYPE varchar(50)",
    "ALTER TABLE t DROP COLUMN a, DROP COLUMN w",
]


def test_each_change(dbs):
    src, dst = dbs
    stream = follow(src, dst, TABLE)
    mark = dst.server.log_mark()
    for i, ddl in enumerate(CHANGES):
        src.execute("INSERT INTO t (id, v) VALUES (%s, 'before')", 10 * i)
        src.execute(ddl)
        src.execute("INSERT INTO t (id, v) VALUES (%s, 'after')", 10 * i + 1)
        crossed(stream)
    ran = forwarded(stream)
    assert len(ran) >= len(CHANGES)
    for ddl in ran:
        assert ddl in dst.server.log_text(mark)
    assert dst.value("SELECT count(*) FROM sluice.schema_events WHERE \"position\""
                     " IS NULL") == 0


def test_values_of_new_columns_follow(dbs):
    src, dst = dbs
    stream = follow(src, dst, TABLE)
    src.execute("INSERT INTO t SELECT i, 'old' FROM generate_series(1, 500) AS i")
    src.execute("ALTER TABLE t ADD COLUMN a int")
    src.execute("UPDATE t SET a = id * 7 WHERE id % 3 = 0")
    src.execute("DELETE FROM t WHERE id % 5 = 0")
    src.execute("ALTER TABLE t RENAME COLUMN a TO b")
    src.execute("UPDATE t SET b = b + 1, v = 'new' WHERE id % 2 = 0")
    crossed(stream)


def test_nothing_new_is_no_boundary(dbs):
    """The source describes a table again after ANALYZE: nothing is decided."""
    src, dst = dbs
    stream = follow(src, dst, TABLE)
    for i in range(5):
        src.execute("INSERT INTO t VALUES (%s, 'x')", i)
        src.execute("ANALYZE t")
    src.execute("BEGIN; INSERT INTO t VALUES (10, 'x'); ANALYZE t;"
                " INSERT INTO t VALUES (11, 'x'); COMMIT")
    crossed(stream)
    assert events(stream) == []


def test_stream_far_behind(dbs):
    """Several changes lie between the stream and the source's catalog."""
    src, dst = dbs
    stream = follow(src, dst, TABLE)
    src.execute("INSERT INTO t VALUES (0, 'first')")
    stream.caught_up()
    stream.stop()
    for i, ddl in enumerate(["ALTER TABLE t ADD COLUMN a int",
                             "ALTER TABLE t ADD COLUMN b text",
                             "ALTER TABLE t ADD COLUMN c int"]):
        src.execute("INSERT INTO t (id, v) VALUES (%s, 'x')", 10 * i + 1)
        src.execute(ddl)
        src.execute("INSERT INTO t (id, v) VALUES (%s, 'y')", 10 * i + 2)
    src.execute("UPDATE t SET a = id, b = 'b', c = 1 WHERE id > 5")
    stream.start()
    crossed(stream)
    assert len(forwarded(stream)) == 3


def test_commit_that_is_not_seen_yet(dbs):
    """The source sends a commit before it is over there: it is tried again."""
    src, dst = dbs
    stream = follow(src, dst, TABLE)
    src.server.reload(synchronous_standby_names="nobody")
    conn = src.connect(autocommit=False)
    try:
        with conn.cursor() as cur:
            cur.execute("SET synchronous_commit = on; ALTER TABLE t ADD COLUMN a int;"
                        " INSERT INTO t VALUES (1, 'a', 2)")
        waits = threading.Thread(target=conn.commit)
        waits.start()
        wait_until(lambda: "is not over on the source" in (stream.health()["reason"] or ""),
                   60, lambda: "not waited for: %r" % stream.health())
    finally:
        src.server.reload(synchronous_standby_names="")
        waits.join()
        conn.close()
    crossed(stream)
    assert len(forwarded(stream)) == 1


TRANSACTIONS = {
    "between rows": "INSERT INTO t VALUES (1, 'a'); ALTER TABLE t ADD COLUMN a int;"
                    " INSERT INTO t VALUES (2, 'b', 5)",
    "before rows": "ALTER TABLE t ADD COLUMN a int; INSERT INTO t VALUES (2, 'b', 5)",
    "after rows": "INSERT INTO t VALUES (1, 'a'); ALTER TABLE t ADD COLUMN a int",
    "two, with rows": "INSERT INTO t VALUES (1, 'a'); ALTER TABLE t ADD COLUMN a int;"
                      " INSERT INTO t VALUES (2, 'b', 5); ALTER TABLE t ADD COLUMN b int;"
                      " INSERT INTO t VALUES (3, 'c', 6, 7); UPDATE t SET b = 1 WHERE id = 1",
    "added and dropped": "INSERT INTO t VALUES (10, 'a');"
                         " ALTER TABLE t ADD COLUMN y int DEFAULT 5;"
                         " INSERT INTO t VALUES (11, 'b', 6); ALTER TABLE t DROP COLUMN y;"
                         " INSERT INTO t VALUES (12, 'c')",
    "rolled back": "INSERT INTO t VALUES (1, 'a'); SAVEPOINT s; ALTER TABLE t ADD COLUMN a int;"
                   " INSERT INTO t VALUES (2, 'b', 5); ROLLBACK TO s; INSERT INTO t VALUES (3, 'c')",
    "truncated": "INSERT INTO t VALUES (1, 'a'); TRUNCATE t; ALTER TABLE t ADD COLUMN a int;"
                 " INSERT INTO t VALUES (2, 'b', 5)",
    "altered, truncated": "ALTER TABLE t ADD COLUMN a int; TRUNCATE t;"
                          " INSERT INTO t VALUES (2, 'b', 5)",
    "large": "INSERT INTO t SELECT i, repeat('x', 100) FROM generate_series(1, 20000) AS i;"
             " ALTER TABLE t ADD COLUMN a int;"
             " INSERT INTO t SELECT i, 'y', i FROM generate_series(20001, 30000) AS i;"
             " UPDATE t SET a = 1 WHERE id % 100 = 0",
}


def test_in_transactions(dbs):
    src, dst = dbs
    tables = ["t_%d" % i for i in range(len(TRANSACTIONS))]
    ddl = [TABLE.replace(" t ", " %s " % t) for t in tables + ["other"]]
    stream = follow(src, dst, *ddl)
    for table in tables:
        src.execute("INSERT INTO %s VALUES (100000, 'old')" % table)
    for table, sql in zip(tables, TRANSACTIONS.values()):
        sql = sql.replace(" t ", " %s " % table).replace(" t;", " %s;" % table)
        src.execute("BEGIN; INSERT INTO other SELECT count(*), 'o' FROM other;"
                    " %s; COMMIT" % sql)
        src.execute("INSERT INTO %s (id, v) VALUES (100001, 'later')" % table)
        try:
            crossed(stream, table, "other")
        except AssertionError:
            raise AssertionError("after: " + sql)


def test_partitioned(dbs):
    src, dst = dbs
    stream = follow(src, dst,
                    "CREATE TABLE t (id int, v text, PRIMARY KEY (id)) PARTITION BY RANGE (id)",
                    "CREATE TABLE t1 PARTITION OF t FOR VALUES FROM (0) TO (100)",
                    "CREATE TABLE t2 (v text, id int NOT NULL)",
                    "ALTER TABLE t ATTACH PARTITION t2 FOR VALUES FROM (100) TO (200)")
    for i, ddl in enumerate(["ADD COLUMN a int", "ADD COLUMN b text", "RENAME COLUMN a TO c",
                             "DROP COLUMN b", "ALTER COLUMN c TYPE bigint"]):
        src.execute("INSERT INTO t (id, v) VALUES (%s, 'x'), (%s, 'y')", i, 100 + i)
        src.execute("ALTER TABLE t " + ddl)
        src.execute("INSERT INTO t (id, v) VALUES (%s, 'x'), (%s, 'y')", 10 + i, 110 + i)
        crossed(stream, "t")
    for leaf in ("t1", "t2"):
        same_columns(stream, leaf)
    src.execute("UPDATE t SET c = id")
    crossed(stream, "t")


def test_another_schema(dbs):
    """The change goes to the table that the rows go to, whatever a search_path says."""
    src, dst = dbs
    src.execute("CREATE SCHEMA app; CREATE TABLE app.t (id int PRIMARY KEY, v text)")
    dst.execute("CREATE SCHEMA here; CREATE TABLE here.t (id int PRIMARY KEY, v text);"
                "CREATE SCHEMA app; CREATE TABLE app.t (id int); CREATE TABLE t (id int);"
                "CREATE TABLE pg_temp.t (id int)")
    stream = make_stream(src, dst, include_tables=["app.t"], target_schema="here")
    src.execute("SET search_path = app; ALTER TABLE t ADD COLUMN z int")
    src.execute("INSERT INTO app.t VALUES (1, 'a', 2)")
    stream.caught_up()
    src.execute("SET search_path = ''; ALTER TABLE app.t RENAME COLUMN z TO y")
    src.execute("INSERT INTO app.t VALUES (2, 'b', 3)")
    stream.caught_up()
    same_columns(stream, "app.t", "here.t")
    assert_same_rows(src, dst, ["app.t"], target_of=lambda name: "here.t")
    assert [ddl for ddl in forwarded(stream) if "here.t" not in ddl] == []
    assert dst.query(COLUMNS, "app.t") == dst.query(COLUMNS, "public.t") == [("id", "integer")]


def test_mapped_schemas(dbs):
    src, dst = dbs
    for schema, there in (("a", "x"), ("b", "y")):
        src.execute("CREATE SCHEMA %s; CREATE TABLE %s.t (id int PRIMARY KEY)" % (schema, schema))
        dst.execute("CREATE SCHEMA %s; CREATE TABLE %s.t (id int PRIMARY KEY)" % (there, there))
    stream = make_stream(src, dst, options={"schema_map": {"a": "x", "b": "y"}})
    src.execute("BEGIN; ALTER TABLE a.t ADD COLUMN one int; INSERT INTO a.t VALUES (1, 1);"
                " ALTER TABLE b.t ADD COLUMN two text; INSERT INTO b.t VALUES (1, '2'); COMMIT")
    stream.caught_up()
    for schema, there in (("a", "x"), ("b", "y")):
        same_columns(stream, schema + ".t", there + ".t")
        assert_same_rows(src, dst, [schema + ".t"], target_of=lambda name: there + ".t")


def test_two_streams_of_one_table(dbs):
    src, dst = dbs
    src.execute(TABLE)
    for schema in ("one", "two"):
        dst.execute("CREATE SCHEMA %s; CREATE TABLE %s.t (id int PRIMARY KEY, v text)"
                    % (schema, schema))
    streams = [make_stream(src, dst, name, target_schema=name) for name in ("one", "two")]
    src.execute("BEGIN; INSERT INTO t VALUES (1, 'a'); ALTER TABLE t ADD COLUMN a int;"
                " INSERT INTO t VALUES (2, 'b', 5); COMMIT")
    for stream in streams:
        stream.caught_up()
        there = stream.id + ".t"
        same_columns(stream, "t", there)
        assert_same_rows(src, dst, ["t"], target_of=lambda name: there)


def test_already_there(dbs):
    """The target has the change already: it passes, nothing is run."""
    src, dst = dbs
    stream = follow(src, dst, TABLE)
    src.execute("INSERT INTO t VALUES (1, 'a')")
    stream.caught_up()
    both(src, dst, "ALTER TABLE t ADD COLUMN a int")
    src.execute("INSERT INTO t VALUES (2, 'b', 3)")
    crossed(stream)
    assert [d for d, _ in events(stream)] == ["passed"]


# ---------- whose table it is, and who is in the way ----------

def test_as_the_owner(dbs):
    """The statement runs as the table's owner, not as the worker."""
    src, dst = dbs
    both(src, dst, TABLE)
    dst.execute("CREATE ROLE fwd_table; GRANT ALL ON SCHEMA public TO fwd_table;"
                " ALTER TABLE t OWNER TO fwd_table")
    try:
        dst.execute("""
            CREATE TABLE who (role name);
            GRANT INSERT ON who TO PUBLIC;
            CREATE FUNCTION note() RETURNS event_trigger LANGUAGE plpgsql AS
            $$BEGIN INSERT INTO public.who VALUES (current_user); END$$;
            CREATE EVENT TRIGGER note ON ddl_command_start WHEN TAG IN ('ALTER TABLE')
            EXECUTE FUNCTION note();
            ALTER EVENT TRIGGER note ENABLE ALWAYS""")
        stream = make_stream(src, dst, include_tables=["t"])
        src.execute("ALTER TABLE t ADD COLUMN a int; INSERT INTO t VALUES (1, 'a', 2)")
        crossed(stream)
        assert dst.query("SELECT DISTINCT role FROM who") == [("fwd_table",)]
    finally:
        dst.destroy()
        dst.server.execute("DROP ROLE fwd_table")


def hold(dst, sql="SELECT * FROM t LIMIT 0"):
    """A session whose open transaction reads the target's table."""
    conn = dst.connect(autocommit=False)
    with conn.cursor() as cur:
        cur.execute(sql)
    return conn


@pytest.mark.parametrize("rows_before", [False, True])
def test_waits_for_a_lock(dbs, rows_before):
    """A reader holds the table: retrying, by name; it goes through afterwards."""
    src, dst = dbs
    stream = follow(src, dst, TABLE)
    src.execute("INSERT INTO t VALUES (1, 'a')")
    stream.caught_up()
    reader = hold(dst)
    try:
        src.execute("BEGIN; %s ALTER TABLE t ADD COLUMN a int;"
                    " INSERT INTO t VALUES (3, 'c', 4); COMMIT"
                    % ("INSERT INTO t VALUES (2, 'b');" if rows_before else ""))
        stream.wait_state("retrying")
        wait_until(lambda: "process %d of role postgres" % reader.info.backend_pid
                   in (stream.health()["reason"] or ""), 30,
                   lambda: "no blocker in %r" % stream.health())
        assert dst.value("SELECT count(*) FROM t") == 1
    finally:
        reader.close()
    crossed(stream)
    assert len(forwarded(stream)) == 1


def test_waits_not_for_ever(dbs):
    src, dst = dbs
    dst.server.reload(**{"sluice.alter_retries": "1"})
    stream = follow(src, dst, TABLE)
    reader = hold(dst)
    try:
        src.execute("ALTER TABLE t ADD COLUMN a int; INSERT INTO t VALUES (3, 'c', 4)")
        row = stream.wait_refused("SCHEMA-CHANGE-REFUSED")
        assert "process %d of role postgres" % reader.info.backend_pid in row["reason"], row
        assert "ADD COLUMN a" in row["hint"], row
    finally:
        reader.close()
    stream.start()
    crossed(stream)


def test_dependent_view(dbs):
    """What depends on the column is named, and nothing was written."""
    src, dst = dbs
    stream = follow(src, dst, "CREATE TABLE t (id int PRIMARY KEY, v text, w int)")
    dst.execute("CREATE VIEW \"look at\" AS SELECT id, w FROM t")
    for change in ("ALTER COLUMN w TYPE bigint", "DROP COLUMN w"):
        src.execute("ALTER TABLE t " + change)
        src.execute("INSERT INTO t (id, v) VALUES ((SELECT count(*) FROM t), 'x')")
        row = stream.wait_refused("SCHEMA-CHANGE-REFUSED")
        assert '"look at"' in row["reason"], row
        assert change.split()[-1] in row["hint"], row
        dst.execute('DROP VIEW "look at"')
        stream.start()
        crossed(stream)
        dst.execute('CREATE VIEW "look at" AS SELECT * FROM t')


def test_stopped_while_it_waits(dbs):
    """A stop is served while the lock is not to be had; the change comes later."""
    src, dst = dbs
    stream = follow(src, dst, TABLE)
    reader = hold(dst)
    try:
        src.execute("ALTER TABLE t ADD COLUMN a int; INSERT INTO t VALUES (3, 'c', 4)")
        stream.wait_state("retrying")
        stream.stop()
        assert stream.state == "stopped"
    finally:
        reader.close()
    assert events(stream) == []
    stream.start()
    crossed(stream)


def test_row_that_does_not_fit(dbs):
    """A value here cannot be cast as the source's was: it is not shown."""
    src, dst = dbs
    stream = follow(src, dst, "CREATE TABLE t (id int PRIMARY KEY, v json)")
    src.execute(r"""INSERT INTO t VALUES (1, '{"hush": "\u0000"}')""")
    stream.caught_up()
    mark = dst.server.log_mark()
    ddl = "ALTER TABLE t ALTER COLUMN v TYPE jsonb USING '{}'"
    src.execute(ddl + "; INSERT INTO t VALUES (3, '[1]')")
    row = stream.wait_refused("SCHEMA-CHANGE-REFUSED")
    assert "22P05" in row["reason"] and "hush" not in row["reason"], row
    assert "ALTER COLUMN v TYPE jsonb" in row["hint"], row
    assert "hush" not in dst.server.log_text(mark)
    assert dst.value("SELECT count(*) FROM t") == 1
    dst.execute(ddl)
    stream.start()
    crossed(stream)


def test_code_that_objects(dbs):
    """An event trigger forbids it: refused, and its words, which may quote a row, stay out."""
    src, dst = dbs
    stream = follow(src, dst, TABLE)
    dst.execute("""
        CREATE FUNCTION no() RETURNS event_trigger LANGUAGE plpgsql AS
        $$BEGIN RAISE 'hush'; END$$;
        CREATE EVENT TRIGGER no ON ddl_command_start WHEN TAG IN ('ALTER TABLE')
        EXECUTE FUNCTION no();
        ALTER EVENT TRIGGER no ENABLE ALWAYS""")
    src.execute("ALTER TABLE t ADD COLUMN a int; INSERT INTO t VALUES (3, 'c', 4)")
    row = stream.wait_refused("SCHEMA-CHANGE-REFUSED")
    assert "P0001" in row["reason"] and "hush" not in row["reason"], row
    dst.execute("DROP EVENT TRIGGER no")
    stream.start()
    crossed(stream)


def test_only_another_copy_helps(dbs):
    """A column that cannot be proven is no remedy's to add: every later start would
    find it unproven.  The remedy is the copy, and it does end the refusal."""
    src, dst = dbs
    stream = follow(src, dst, TABLE)
    src.execute("INSERT INTO t VALUES (1, 'a')")
    src.execute("ALTER TABLE t ADD c int DEFAULT 1; INSERT INTO t VALUES (2);"
                " ALTER TABLE t DROP c; ALTER TABLE t ADD c int DEFAULT 2; INSERT INTO t VALUES (3)")
    row = stream.wait_refused("SCHEMA-CHANGE-REFUSED")
    remedy = "SELECT state FROM sluice.sync_start('s1', restart_from_scratch => true);"
    assert row["hint"] == remedy
    ways = dst.rows("SELECT * FROM sluice.remedies('s1')")
    assert (ways[0]["statement"], ways[0]["destructive"]) == (remedy, True)
    assert not any("ALTER TABLE" in w["statement"] for w in ways)
    dst.execute("ALTER TABLE t ADD c int")
    stream.start()
    assert stream.wait_refused("RESUME-SCHEMA-DIVERGENCE")["hint"] == remedy
    asked = dst.error(remedy)
    dst.execute(asked.diag.message_hint)
    caught_up_same(stream, "t")


def test_key_dropped_with_what_refers_to_it(dbs):
    """CASCADE took the foreign key along on the source: the hint drops it first."""
    src, dst = dbs
    stream = follow(src, dst, "CREATE TABLE t (id int PRIMARY KEY, v text);"
                    "CREATE TABLE r (id int PRIMARY KEY, t int CONSTRAINT r_t REFERENCES t)")
    src.execute("INSERT INTO t VALUES (1, 'a'), (2, 'b'); INSERT INTO r VALUES (1, 1)")
    stream.caught_up()
    src.execute("ALTER TABLE t DROP COLUMN id CASCADE; ALTER TABLE t REPLICA IDENTITY FULL;"
                "UPDATE t SET v = 'c' WHERE v = 'b'")
    row = stream.wait_refused("SCHEMA-CHANGE-REFUSED")
    assert row["hint"] == ("ALTER TABLE public.r DROP CONSTRAINT r_t;\n"
                           "ALTER TABLE public.t DROP COLUMN id;")
    dst.execute(dst.rows("SELECT * FROM sluice.remedies('s1')")[0]["statement"])
    stream.start()
    caught_up_same(stream, "t", "r")


def test_right_that_is_gone(dbs):
    """The table's owner may not use its schema any more."""
    src, dst = dbs
    both(src, dst, TABLE)
    dst.execute("CREATE ROLE fwd_table; GRANT ALL ON SCHEMA public TO fwd_table;"
                " ALTER TABLE t OWNER TO fwd_table")
    try:
        stream = make_stream(src, dst)
        src.execute("INSERT INTO t VALUES (1, 'a')")
        stream.caught_up()
        dst.execute("REVOKE USAGE ON SCHEMA public FROM PUBLIC; REVOKE ALL ON SCHEMA public"
                    " FROM fwd_table")
        src.execute("ALTER TABLE t ADD COLUMN a int; INSERT INTO t VALUES (3, 'c', 4)")
        row = stream.wait_refused("TARGET-PERMISSION")
        assert "GRANT USAGE ON SCHEMA public TO fwd_table" in row["hint"], row
        dst.execute("GRANT USAGE ON SCHEMA public TO fwd_table")
        stream.start()
        crossed(stream)
    finally:
        dst.destroy()
        dst.server.execute("DROP ROLE fwd_table")


# ---------- kills ----------

@pytest.mark.parametrize("point", ["before_alter", "after_alter"])
@pytest.mark.parametrize("rows_before", [False, True])
def test_kill_inside(servers, dbs, point, rows_before):
    """kill -9 around the ALTER: it lands once, with the rows around it."""
    src, dst = dbs
    target = servers[1]
    stream = follow(src, dst, TABLE)
    src.execute("INSERT INTO t VALUES (1, 'a')")
    stream.caught_up()
    mark = target.log_mark()
    target.reload(**{"sluice.fault_point": point, "restart_after_crash": "off"})
    src.execute("BEGIN; %s ALTER TABLE t ADD COLUMN a int;"
                " INSERT INTO t VALUES (3, 'c', 4); COMMIT"
                % ("INSERT INTO t VALUES (2, 'b');" if rows_before else ""))
    target.wait_log('fault point "%s" reached' % point, mark, timeout=60)
    gone(target)
    KILLS[point] = KILLS.get(point, 0) + 1
    target.start(**{"sluice.fault_point": "", "restart_after_crash": "on",
                    "sluice.autostart": "off"})
    assert dst.query(COLUMNS, "t") == [("id", "integer"), ("v", "text")]
    assert dst.query("SELECT id FROM t") == [(1,)]
    target.reload(**{"sluice.autostart": "on"})
    check_equal(stream, ["t"])
    same_columns(stream)
    assert len(forwarded(stream)) == 1


@pytest.mark.parametrize("commit", [1, 2, 3])
def test_kill_between_commits(servers, dbs, commit):
    """The change's own commit, and those around it: it is made once, the rows too."""
    src, dst = dbs
    target = servers[1]
    stream = follow(src, dst, TABLE)
    src.execute("INSERT INTO t VALUES (1, 'a')")
    stream.caught_up()
    mark = target.log_mark()
    target.reload(**{"sluice.fault_point": "after_commit:%d" % commit,
                     "restart_after_crash": "off"})
    src.execute("BEGIN; ALTER TABLE t ADD COLUMN a int DEFAULT 7;"
                " INSERT INTO t VALUES (3, 'c', 4); COMMIT; INSERT INTO t VALUES (4, 'd')")
    target.wait_log('fault point "after_commit" reached', mark, timeout=60)
    gone(target)
    target.start(**{"sluice.fault_point": "", "restart_after_crash": "on"})
    check_equal(stream, ["t"])
    same_columns(stream)
    assert len(forwarded(stream)) == 1


def test_each_point_had_its_kills():
    assert KILLS == {"before_alter": 2, "after_alter": 2}, KILLS
