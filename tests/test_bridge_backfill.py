"""Values that a change of the schema owes to rows: read from a MySQL or MariaDB source by key."""
import pytest

from lib import make_bridged_stream, wait_until
from lib.bridgerun import Bridge
from lib.mycold import held_commit, held_commit_conf
from lib.rounds import FAST, arm, bridge_fault_points, died_at, fault_points

T = "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(40), n BIGINT)"


@pytest.fixture
def follow(dst, make_bridge):
    """follow(src, ddl, ...): a stream of new tables, copied and caught up; .bridge feeds it."""
    def begin(src, *ddl, **args):
        for statement in ddl:
            src.execute(statement)
        stream = make_bridged_stream(src, dst, **args)
        stream.bridge = make_bridge(dst)
        stream.wait("streaming")
        stream.caught_up()
        return stream
    return begin


@pytest.fixture
def fresh(request):
    """fresh(server): a database, dropped when the test ends."""
    made = []

    def make(server):
        made.append(server.fresh_db("debt"))
        return made[-1]
    yield make
    for db in made:
        db.destroy()


def fill(src, n):
    """Rows 1 to n of t."""
    src.execute("INSERT INTO t (id, v, n) VALUES (1, 'v1', 7)")
    have = 1
    while have < n:
        src.execute("INSERT INTO t (id, v, n) SELECT id + %d, CONCAT('v', id + %d), (id + %d) * 7 FROM t WHERE id <= %d"
                    % (have, have, have, n - have))
        have = min(2 * have, n)


def owe(stream, table, *columns):
    """A debt of these columns, as a change leaves it."""
    stream.dst.execute(
        "WITH d AS (INSERT INTO sluice.debt (stream_id, schema_name, table_name, source_id, target_relid, lsn)"
        " SELECT '%(id)s', t.schema_name, t.table_name, coalesce(t.source_id, 0), t.target_relid, '0/1'"
        " FROM sluice.stream_table t WHERE t.stream_id = '%(id)s' AND t.table_name = '%(table)s' RETURNING id, target_relid)"
        " INSERT INTO sluice.debt_column (debt_id, n, is_key, column_name, source_attnum, source_typid, source_typmod, target_attnum)"
        " SELECT d.id, a.attnum, i.indrelid IS NOT NULL, a.attname, 0, a.atttypid, a.atttypmod, a.attnum FROM d"
        " JOIN pg_attribute a ON a.attrelid = d.target_relid AND a.attnum > 0"
        " LEFT JOIN pg_index i ON i.indrelid = d.target_relid AND i.indisprimary AND a.attnum = ANY (i.indkey)"
        " WHERE i.indrelid IS NOT NULL OR a.attname = ANY ('{%(columns)s}')"
        % {"id": stream.id, "table": table, "columns": ",".join(columns)})


def paid(stream):
    wait_until(lambda: stream.dst.value("SELECT count(*) FROM sluice.debt") == 0, 60,
               lambda: "debts are left: %s\n%s" % (stream.dst.rows("SELECT * FROM sluice.debt"), stream.health()))


def assert_same(stream, table, order="1"):
    mine, theirs = [[tuple(r) for r in db.query("SELECT * FROM %s ORDER BY %s" % (table, order))]
                    for db in (stream.dst, stream.src)]
    assert mine == theirs


def leave(stream):
    """The bridge goes."""
    assert stream.bridge.stop() == 0
    wait_until(lambda: stream.health()["pid"] is None, 60, "the session's end")


# -- reading and writing ---------------------------------------------------------

def test_values_are_copied(my_db, follow):
    stream = follow(my_db, T)
    fill(my_db, 10000)
    stream.caught_up()
    stream.dst.execute("UPDATE t SET v = NULL, n = -1 WHERE id % 3 = 0")
    owe(stream, "t", "v", "n")
    paid(stream)
    assert_same(stream, "t")
    my_db.execute("UPDATE t SET v = 'later' WHERE id = 3")
    stream.caught_up()
    assert_same(stream, "t")


KEYS = {
    "k1": ("a VARCHAR(20), b DATE, PRIMARY KEY (b, a)", "'x', '2024-05-05'", "'X y', '2024-05-06'"),
    "k2": ("a ENUM('z', 'a') PRIMARY KEY", "'z'", "'a'"),
    "k3": ("a VARBINARY(8), b DECIMAL(10, 2), c BIGINT UNSIGNED, PRIMARY KEY (a, b, c)",
           "X'00ff', 1.50, 18446744073709551615", "X'', -7, 0"),
    "k4": ("a DATETIME(6), b TIME(3), PRIMARY KEY (a, b)", "'2024-02-29 23:59:59.999999', '-12:00:00.5'",
           "'2024-02-29', '12:00'"),
    "k5": ("a DOUBLE PRIMARY KEY", "0.1", "-1e300"),
}


def test_every_kind_of_key(my_db, follow):
    stream = follow(my_db, *["CREATE TABLE %s (%s, v JSON, w VARCHAR(10) CHARACTER SET latin1)" % (k, KEYS[k][0]) for k in KEYS],
                    *["INSERT INTO %s VALUES (%s, %s)" % (k, row, more) for k in KEYS
                      for row, more in zip(KEYS[k][1:], ("'{\"a\": 1}', 'é'", "NULL, NULL"))])
    expected = {k: stream.dst.query("SELECT * FROM %s t ORDER BY t::text" % k) for k in KEYS}
    for k in KEYS:
        assert len(expected[k]) == 2
        stream.dst.execute("UPDATE %s SET v = '[7]', w = 'wrong'" % k)
        owe(stream, k, "v", "w")
    paid(stream)
    for k in KEYS:
        assert stream.dst.query("SELECT * FROM %s t ORDER BY t::text" % k) == expected[k], k


def test_source_is_ahead_of_the_stream(mysql9, dst, fresh, follow):
    """What is read is of the source's present; the stream comes after it."""
    my_db = fresh(mysql9)
    stream = follow(my_db, T)
    fill(my_db, 1000)
    stream.caught_up()
    leave(stream)
    stream.dst.execute("UPDATE t SET v = NULL")
    owe(stream, "t", "v")
    my_db.execute("UPDATE t SET id = id + 5000, v = CONCAT(v, '!') WHERE id <= 100;"
                  "DELETE FROM t WHERE id BETWEEN 200 AND 300; INSERT INTO t VALUES (7, 'new', 0);"
                  "UPDATE t SET v = 'changed' WHERE id BETWEEN 400 AND 500")
    stream.bridge.start()
    stream.caught_up()
    paid(stream)
    assert_same(stream, "t")
    assert not stream.conflicts()


def test_a_row_that_does_not_fit_yet(mariadb11, dst, fresh, follow):
    """Two rows exchange a unique value on the source before the values are read."""
    src = fresh(mariadb11)
    stream = follow(src, "CREATE TABLE t (id INT PRIMARY KEY, v INT UNIQUE, w INT)",
                    "INSERT INTO t VALUES (1, 1, 1), (2, 2, 2), (3, 3, 3)")
    leave(stream)
    stream.dst.execute("UPDATE t SET w = NULL")
    owe(stream, "t", "v", "w")
    src.execute("UPDATE t SET v = 9 WHERE id = 1; UPDATE t SET v = 1 WHERE id = 2; UPDATE t SET v = 2 WHERE id = 1;"
                "UPDATE t SET v = 30, w = 30 WHERE id = 3")
    stream.bridge.start()
    stream.caught_up()
    paid(stream)
    assert_same(stream, "t")


def test_statement_further_on(mysql9, dst, fresh, follow):
    """A table that the log names further on is not read before the stream is there."""
    my_db = fresh(mysql9)
    stream = follow(my_db, T)
    fill(my_db, 100)
    stream.caught_up()
    leave(stream)
    stream.dst.execute("UPDATE t SET v = NULL")
    owe(stream, "t", "v")
    my_db.execute("INSERT INTO t VALUES (101, 'before', 1); ANALYZE TABLE t; INSERT INTO t VALUES (102, 'after', 1)")
    stream.bridge.start()
    stream.bridge.wait_log("are copied later: the source's log changes it again")
    stream.caught_up()
    paid(stream)
    assert_same(stream, "t")


def not_visible(src, dst, follow):
    """What the stream has applied and the source does not show yet is not overwritten by what it replaced."""
    stream = follow(src, T, "INSERT INTO t VALUES (1, 'old', 1), (2, 'two', 2)")
    with held_commit(src, "UPDATE t SET v = 'new' WHERE id = 1"):
        wait_until(lambda: dst.value("SELECT v FROM t WHERE id = 1") == "new", 60, "the transaction in the log")
        owe(stream, "t", "v")
        # a later pass, behind which the table was written
        dst.execute("UPDATE sluice.debt SET pass = 2")
        stream.bridge.wait_log("waits until the source shows what is in its log")
    paid(stream)
    assert_same(stream, "t")
    assert dst.value("SELECT v FROM t WHERE id = 1") == "new"


@pytest.mark.long
@pytest.mark.parametrize("kind", ["mariadb11.8", "mysql"])
def test_a_transaction_that_is_not_visible_yet(make_mysql, dst, follow, kind):
    server = make_mysql(kind, **held_commit_conf(kind))
    not_visible(server.fresh_db("held"), dst, follow)


@pytest.mark.long
def test_a_transaction_that_is_not_visible_yet_without_gtids(make_mysql, dst, follow):
    server = make_mysql("mysql", gtid_mode="OFF", enforce_gtid_consistency="OFF", **held_commit_conf("mysql"))
    src = server.fresh_db("held")
    server.execute("GRANT LOCK TABLES ON `%s`.* TO repl@'%%'" % src.name)
    not_visible(src, dst, follow)


def test_statement_further_on_in_another_character_set(mariadb11, dst, fresh, follow):
    src = fresh(mariadb11)
    stream = follow(src, "CREATE TABLE `té` (id INT PRIMARY KEY, v INT)", "INSERT INTO `té` VALUES (1, 1), (2, 2)")
    leave(stream)
    dst.execute('UPDATE "té" SET v = NULL')
    owe(stream, "té", "v")
    conn = src.connect()
    with conn.cursor() as cur:
        cur.execute("SET NAMES latin1")
        cur.execute("CREATE INDEX i ON té (v)".encode("latin1"))
    conn.close()
    stream.bridge.start()
    stream.bridge.wait_log("are copied later: the source's log changes it again")
    paid(stream)
    assert dst.query('SELECT * FROM "té" ORDER BY id') == [(1, 1), (2, 2)]


# -- what waits for the values ---------------------------------------------------

def test_not_null_and_statements_wait_for_the_values(mariadb11, dst, fresh, follow):
    src = fresh(mariadb11)
    stream = follow(src, "CREATE TABLE t (id INT PRIMARY KEY, v INT NOT NULL, w INT)", "INSERT INTO t VALUES (1, 1, 1), (2, 2, 2)")
    leave(stream)
    dst.execute("ALTER TABLE t ALTER v DROP NOT NULL; UPDATE t SET v = NULL")
    owe(stream, "t", "v")
    dst.execute("UPDATE sluice.debt_column SET set_not_null = true, then_ddl = 'ALTER TABLE public.t ALTER COLUMN w SET DEFAULT 5'"
                " WHERE NOT is_key")
    # here it has no value before the stream comes to its end
    src.execute("DELETE FROM t WHERE id = 1")
    stream.bridge.start()
    stream.caught_up()
    paid(stream)
    assert dst.value("SELECT attnotnull FROM pg_attribute WHERE attrelid = 't'::regclass AND attname = 'v'")
    assert dst.value("SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = 't'::regclass") == "5"
    assert_same(stream, "t")


# -- changes of the schema -----------------------------------------------------------

def test_added_column(my_db, follow):
    """The rows that are here get what the source's have, whatever has written those."""
    stream = follow(my_db, T)
    fill(my_db, 5000)
    stream.caught_up()
    my_db.execute("ALTER TABLE t ADD c VARCHAR(20) NOT NULL DEFAULT 'instant' AFTER id, ADD d DATETIME(3) NULL;"
                  "UPDATE t SET c = 'own', d = '2024-05-05 01:02:03.5' WHERE id % 10 = 0;"
                  "INSERT INTO t (id, v) VALUES (9999, 'new'); UPDATE t SET id = 10000 WHERE id = 1; DELETE FROM t WHERE id = 2")
    stream.caught_up()
    paid(stream)
    names = "id, v, n, c, d"
    assert stream.dst.query("SELECT %s FROM t ORDER BY id" % names) == [tuple(r) for r in my_db.query("SELECT %s FROM t ORDER BY id" % names)]
    assert stream.dst.value("SELECT attnotnull FROM pg_attribute WHERE attrelid = 't'::regclass AND attname = 'c'")
    assert not stream.conflicts()


def test_changed_type(my_db, follow):
    """How the source's statement converted values is its own affair."""
    stream = follow(my_db, "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(40), n DECIMAL(10, 3))")
    fill(my_db, 3000)
    my_db.execute("UPDATE t SET n = n + 0.555")
    stream.caught_up()
    my_db.execute("ALTER TABLE t MODIFY n DECIMAL(10, 1); ALTER TABLE t MODIFY n DOUBLE")
    stream.caught_up()
    paid(stream)
    assert_same(stream, "t")


def test_column_goes_on_changing(mariadb11, dst, fresh, follow):
    """Renamed, retyped, its name another one's by now: the stream is not there yet when it comes to the first of it."""
    my_db = fresh(mariadb11)
    stream = follow(my_db, T)
    fill(my_db, 2000)
    stream.caught_up()
    leave(stream)
    my_db.execute("ALTER TABLE t ADD c INT NOT NULL DEFAULT 5, ADD gone INT DEFAULT 6; UPDATE t SET c = id; INSERT INTO t (id) VALUES (5000);"
                  "ALTER TABLE t CHANGE c c2 BIGINT NOT NULL; ALTER TABLE t DROP gone; ALTER TABLE t CHANGE v c VARCHAR(40);"
                  "INSERT INTO t (id, c2) VALUES (5001, 7); ALTER TABLE t ADD e INT DEFAULT 9")
    stream.bridge.start()
    stream.caught_up()
    paid(stream)
    names = "id, c, n, c2, e"
    assert stream.dst.query("SELECT %s FROM t ORDER BY id" % names) == [tuple(r) for r in my_db.query("SELECT %s FROM t ORDER BY id" % names)]


def test_volatile_default(mysql9, dst, fresh, follow):
    src = fresh(mysql9)
    stream = follow(src, T, options={"volatile_defaults": "copy"})
    fill(src, 100)
    stream.caught_up()
    src.execute("ALTER TABLE t ADD c DATETIME(6) DEFAULT CURRENT_TIMESTAMP(6)")
    stream.caught_up()
    paid(stream)
    assert_same(stream, "t")
    src.execute("INSERT INTO t (id) VALUES (200)")
    stream.caught_up()
    assert_same(stream, "t")


@pytest.mark.long
def test_values_are_left_out_by_option(mariadb11, dst, fresh, follow):
    src = fresh(mariadb11)
    stream = follow(src, T, options={"backfill_added_column": False})
    fill(src, 10)
    stream.caught_up()
    src.execute("ALTER TABLE t ADD c INT NULL; UPDATE t SET c = 1")
    stream.caught_up()
    assert dst.value("SELECT count(*) FROM t WHERE c = 1") == 10
    src.execute("ALTER TABLE t ADD d INT DEFAULT 3")
    stream.caught_up()
    assert dst.value("SELECT count(*) FROM sluice.debt") == 0


def test_values_that_are_gone(mariadb11, dst, fresh, follow):
    """The column was dropped behind the log's back: a refusal with the repair, which is acknowledged."""
    src = fresh(mariadb11)
    stream = follow(src, T, "INSERT INTO t VALUES (1, 'a', 1), (2, 'b', 2)")
    leave(stream)
    dst.execute("UPDATE t SET v = NULL")
    owe(stream, "t", "v")
    src.execute("SET SESSION sql_log_bin = 0; ALTER TABLE t DROP COLUMN v")
    stream.bridge.start()
    row = stream.wait_refused("ADD-COLUMN-BACKFILL-INCOMPLETE")
    assert "is not on the source any more" in row["reason"] and "UPDATE public.t AS t SET v = f.v" in row["hint"]
    src.execute("SET SESSION sql_log_bin = 0; ALTER TABLE t ADD COLUMN v VARCHAR(40) AFTER id")
    dst.execute("UPDATE t SET v = 'by hand'; SELECT sluice.acknowledge('s1', '%s', 'filled by hand')" % row["fingerprint"])
    stream.start()
    paid(stream)


# -- interrupted -------------------------------------------------------------------

def test_stop_in_the_middle(mysql9, dst, fresh, follow):
    """What is left is for the next start; sync_stop does not wait for all of it."""
    src = fresh(mysql9)
    src.execute("CREATE TABLE t (id INT PRIMARY KEY, v TEXT, n BIGINT)")
    fill(src, 5000)
    src.execute("UPDATE t SET v = RPAD(v, 2000, 'x')")
    stream = follow(src)
    leave(stream)
    dst.execute("UPDATE t SET v = NULL")
    owe(stream, "t", "v")
    # a row that is locked holds the copy up behind some batches; a few are on their way
    holder = dst.connect(autocommit=False)
    holder.cursor().execute("SELECT FROM t WHERE id = 2000 FOR UPDATE")
    stream.bridge.start()
    wait_until(lambda: dst.value("SELECT rows_done FROM sluice.debt") > 1000, 60, "batches of rows")
    row = dst.rows("SELECT phase, rows_done, rows_total FROM sluice.progress")[0]
    assert row["phase"] == "filling columns" and row["rows_total"] > 0, row
    assert not stream.health()["healthy"]
    stream.stop(wait=False)
    holder.rollback()
    holder.close()
    stream.wait_state("stopped")
    assert 1000 < dst.value("SELECT rows_done FROM sluice.debt") < 5000
    stream.start()
    paid(stream)
    assert_same(stream, "t")
    assert dst.value("SELECT count(*) FROM sluice.debt") == 0


BRIDGE_POINTS = ["debt_begin", "debt_sent:3", "debt_answered:2", "debt_end"]
TARGET_POINTS = ["backfill_begin", "backfill_page:2", "backfill_commit:2", "backfill_end"]


@pytest.mark.long
def test_kill_at(mariadb11, fresh, make_pg):
    """Killed there, on either side, it goes on from the last page that was committed."""
    target = make_pg("debt", conf=FAST)
    src, dst = fresh(mariadb11), target.fresh_db("kill", extension=True)
    src.execute(T)
    fill(src, 20000)
    with Bridge(dst) as bridge:
        stream = make_bridged_stream(src, dst)
        stream.wait("streaming")
        stream.caught_up()
        bridge.stop()
        for n, point in enumerate(BRIDGE_POINTS):
            dst.execute("UPDATE t SET v = NULL WHERE id %% 5 = %d" % n)
            owe(stream, "t", "v")
            bridge.arm(point)
            bridge.start()
            bridge.wait_log('fault point "%s" reached' % point.split(":")[0])
            bridge.kill_tree()
        bridge.arm()
        for n, point in enumerate(TARGET_POINTS):
            dst.execute("UPDATE t SET v = NULL WHERE id %% 7 = %d" % n)
            owe(stream, "t", "v")
            mark = arm(target, point)
            if not bridge.is_running():
                bridge.start()
            died_at(target, point, mark)
            target.start(**{"sluice.fault_point": "", "restart_after_crash": "on"})
            paid(stream)
        assert_same(stream, "t")
        # with the statement itself, which the next start does not meet again
        bridge.stop()
        bridge.arm("debt_sent:3")
        bridge.start()
        src.execute("ALTER TABLE t ADD c INT NOT NULL DEFAULT 7; UPDATE t SET c = id WHERE id > 10000")
        wait_until(lambda: bridge.log_text().count('fault point "debt_sent" reached') > 1, 60, "a kill while the column is filled")
        bridge.kill_tree()
        bridge.arm()
        bridge.start()
        stream.caught_up()
        paid(stream)
        assert_same(stream, "t")
        assert dst.value("SELECT attnotnull FROM pg_attribute WHERE attrelid = 't'::regclass AND attname = 'c'")
        assert not stream.conflicts()


def test_every_point_has_its_kill():
    points = [p.split(":")[0] for p in BRIDGE_POINTS + TARGET_POINTS]
    assert sorted(points) == sorted([p for p in bridge_fault_points() if p.startswith("debt_")] +
                                    [p for p in fault_points() if p.startswith("backfill_")])
