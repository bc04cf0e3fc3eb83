"""What the cold start of a MariaDB source meets: rows that the target has already,
tables that change under the copy, keys and indexes that cannot be built behind it."""
import pytest

from lib import make_bridged_stream, wait_until
from lib.mycold import assert_same_tables

GRANTS = ["SELECT, REPLICATION SLAVE, REPLICATION CLIENT, LOCK TABLES, REFERENCES, TRIGGER, EVENT,"
          " SHOW VIEW, EXECUTE ON *.*"]


@pytest.fixture(scope="module")
def login(mariadb11):
    mariadb11.create_user("starts", "pw", grants=GRANTS)
    return {"user": "starts", "password": "pw"}


@pytest.fixture
def src(mariadb11, request):
    db = mariadb11.fresh_db("start")
    yield db
    db.destroy()


def until(stream, bridge, *states):
    return wait_until(lambda: (lambda h: h if h["state"] in states else None)(stream.health()), 60,
                      lambda: "%r\n%s" % (stream.health(), bridge.log_text()[-3000:]))


def streams(stream, bridge):
    row = until(stream, bridge, "streaming", "refused", "failed")
    assert row["state"] == "streaming", "%r\n%s" % (row, bridge.log_text()[-3000:])


# -- rows that are there -------------------------------------------------------

def both_have(src, dst):
    """A table on both sides, with rows that differ, and one that is empty on the target."""
    src.execute("CREATE TABLE t (id int PRIMARY KEY, v varchar(20));"
                "INSERT INTO t VALUES (1, 'source'), (2, 'source');"
                "CREATE TABLE e (id int PRIMARY KEY); INSERT INTO e VALUES (1), (2)")
    dst.execute("CREATE TABLE t (id integer PRIMARY KEY, v varchar(20)); CREATE TABLE e (id integer PRIMARY KEY);"
                "INSERT INTO t VALUES (1, 'here'), (2, 'here'), (9, 'here')")


@pytest.mark.long
def test_rows_that_are_there_are_refused(src, dst, make_bridge, login):
    both_have(src, dst)
    stream = make_bridged_stream(src, dst, **login)
    bridge = make_bridge(dst)
    row = stream.wait_refused("PREFLIGHT-FAILED")
    assert ".t" in row["reason"] and "existing_rows" in row["hint"], row
    assert dst.value("SELECT string_agg(v, ',') FROM t") == "here,here,here"
    assert dst.value("SELECT count(*) FROM e") == 0
    dst.execute("DELETE FROM t")
    stream.start(source=False)
    streams(stream, bridge)
    stream.caught_up()
    assert_same_tables(src, dst, ["t", "e"])


@pytest.mark.long
def test_rows_that_are_there_are_given_up(src, dst, make_bridge, login):
    both_have(src, dst)
    stream = make_bridged_stream(src, dst, options={"existing_rows": "truncate"}, **login)
    bridge = make_bridge(dst)
    streams(stream, bridge)
    src.execute("INSERT INTO t VALUES (3, 'later')")
    stream.caught_up()
    assert_same_tables(src, dst, ["t", "e"])
    # only before the copy: a start later takes nothing away
    stream.stop()
    stream.start(source=False)
    streams(stream, bridge)
    assert dst.value("SELECT count(*) FROM t") == 3


@pytest.mark.long
def test_rows_that_are_there_are_taken_as_the_copy(src, dst, make_bridge, login):
    both_have(src, dst)
    stream = make_bridged_stream(src, dst, options={"existing_rows": "adopt"}, **login)
    bridge = make_bridge(dst)
    streams(stream, bridge)
    stream.caught_up()
    # nothing of t was read, the empty one was copied
    assert dst.value("SELECT string_agg(id || v, ',' ORDER BY id) FROM t") == "1here,2here,9here"
    assert_same_tables(src, dst, ["e"])
    found = {r["table_name"]: r["status"] for r in stream.verify()}
    assert (found["t"], found["e"]) == ("different", "equal"), found
    src.execute("UPDATE t SET v = 'changed' WHERE id = 1; INSERT INTO t VALUES (4, 'new')")
    stream.caught_up()
    assert dst.value("SELECT string_agg(id || v, ',' ORDER BY id) FROM t") == "1changed,2here,4new,9here"


# -- statements while it copies ------------------------------------------------

BIG = ("CREATE TABLE big (id int PRIMARY KEY, v varchar(200));"
       "INSERT INTO big SELECT seq, repeat('b', 180) FROM seq_1_to_3000")
SMALL = "CREATE TABLE small (id int PRIMARY KEY, v int); INSERT INTO small VALUES (1, 1), (2, 2)"


def while_copying(src, dst, make_bridge, login, sql):
    """Run sql while big is being copied and small is not yet."""
    src.execute(BIG)
    src.execute(SMALL)
    stream = make_bridged_stream(src, dst, options={"copy_workers": 1, "copy_bytes_per_second": 150000}, **login)
    bridge = make_bridge(dst)
    wait_until(lambda: dst.value("SELECT count(*) FROM sluice.copy_task WHERE table_name = 'big'"
                                 " AND copy_cursor IS NOT NULL"), 60, bridge.log_text)
    assert dst.value("SELECT state FROM sluice.stream_table WHERE table_name = 'big'") == "copying"
    src.execute(sql)
    return stream, bridge


@pytest.mark.long
def test_a_table_is_altered_before_its_copy_begins(src, dst, make_bridge, login):
    """Planned anew, with what it has become; nothing of it is made of the old plan."""
    stream, bridge = while_copying(src, dst, make_bridge, login,
                                   "ALTER TABLE small MODIFY v bigint, ADD w varchar(9) DEFAULT 'x'")
    streams(stream, bridge)
    stream.caught_up()
    assert_same_tables(src, dst, ["big", "small"])
    assert dst.value("SELECT format_type(atttypid, atttypmod) FROM pg_attribute"
                     " WHERE attrelid = 'small'::regclass AND attname = 'v'") == "bigint"
    src.execute("INSERT INTO small VALUES (3, 10000000000, 'y')")
    stream.caught_up()
    assert_same_tables(src, dst, ["small"])


@pytest.mark.long
def test_a_table_is_dropped_before_its_copy_begins(src, dst, make_bridge, login):
    stream, bridge = while_copying(src, dst, make_bridge, login, "DROP TABLE small")
    streams(stream, bridge)
    stream.caught_up()
    assert_same_tables(src, dst, ["big"])
    assert dst.value("SELECT to_regclass('small') IS NULL") is True


@pytest.mark.long
def test_a_table_is_renamed_before_its_copy_begins(src, dst, make_bridge, login):
    stream, bridge = while_copying(src, dst, make_bridge, login, "RENAME TABLE small TO other")
    streams(stream, bridge)
    stream.caught_up()
    assert_same_tables(src, dst, ["big", "other"])
    assert dst.value("SELECT to_regclass('small') IS NULL") is True
    src.execute("INSERT INTO other VALUES (3, 3)")
    stream.caught_up()
    assert_same_tables(src, dst, ["other"])


@pytest.mark.long
def test_two_tables_change_places_before_their_copy_begins(src, dst, make_bridge, login):
    """As schema changes online do: the name holds another table."""
    src.execute("CREATE TABLE ghost (id int PRIMARY KEY, v int); INSERT INTO ghost VALUES (7, 7)")
    stream, bridge = while_copying(src, dst, make_bridge, login,
                                   "RENAME TABLE small TO small_old, ghost TO small")
    streams(stream, bridge)
    stream.caught_up()
    assert_same_tables(src, dst, ["big", "small", "small_old"])
    assert dst.value("SELECT to_regclass('ghost') IS NULL") is True


@pytest.mark.long
def test_a_table_changes_its_engine_before_its_copy_begins(src, dst, make_bridge, login):
    """Of another engine the snapshot would say nothing: it is seen, and refused by the checks of the next try."""
    stream, bridge = while_copying(src, dst, make_bridge, login, "ALTER TABLE small ENGINE = MyISAM")
    health = stream.wait_refused("PREFLIGHT-FAILED", timeout=120)
    assert "small" in str(stream.refusals()[-1]) and "engine" in health["reason"] + str(stream.refusals()[-1]), health
    assert dst.value("SELECT state FROM sluice.stream_table WHERE table_name = 'small'") != "established"
    src.execute("ALTER TABLE small ENGINE = InnoDB")
    stream.start(source=False)
    streams(stream, bridge)
    assert_same_tables(src, dst, ["big", "small"])


@pytest.mark.long
@pytest.mark.parametrize("sql,marker", [
    ("DROP TABLE small", "TABLE-IDENTITY-CHANGED"),
    ("CREATE TABLE ghost LIKE small; RENAME TABLE small TO small_old, ghost TO small", "TABLE-IDENTITY-CHANGED"),
], ids=["dropped", "swapped"])
def test_a_copied_table_changes_while_others_are_copied(src, dst, make_bridge, login, sql, marker):
    """The stream meets the statement behind the copy, and stops in front of it."""
    src.execute(SMALL.replace("small", "later"))
    src.execute(SMALL)
    src.execute("INSERT INTO small SELECT seq + 10, 1 FROM seq_1_to_3000;"
                "INSERT INTO later SELECT seq + 10, 1 FROM seq_1_to_2000; ANALYZE TABLE small, later")
    src.execute(BIG.replace("3000", "20"))
    stream = make_bridged_stream(src, dst, options={"copy_workers": 1, "copy_bytes_per_second": 20000}, **login)
    bridge = make_bridge(dst)
    wait_until(lambda: dst.value("SELECT count(*) FROM sluice.stream_table WHERE table_name = 'small'"
                                 " AND state = 'established'"), 90, bridge.log_text)
    src.execute(sql)
    row = stream.wait_refused(marker, 90)
    assert "small" in row["reason"], row
    assert dst.value("SELECT count(*) FROM small") == 3002


@pytest.mark.long
def test_a_table_is_swapped_while_its_ranges_are_copied(src, dst, make_bridge, login):
    """What is left of them would be of another table: the stream never comes to follow."""
    src.execute("CREATE TABLE two (id int PRIMARY KEY, v varchar(250));"
                "INSERT INTO two SELECT seq, repeat('b', 240) FROM seq_1_to_12000; ANALYZE TABLE two")
    stream = make_bridged_stream(src, dst, options={"copy_workers": 2, "copy_bytes_per_second": 300000}, **login)
    bridge = make_bridge(dst)
    wait_until(lambda: dst.value("SELECT count(*) FROM sluice.copy_task WHERE copy_cursor IS NOT NULL"), 60,
               bridge.log_text)
    bridge.kill_tree()
    assert dst.value("SELECT count(*) FROM sluice.copy_task WHERE state <> 'done'") > 0
    assert dst.value("SELECT count(*) FROM sluice.copy_task") == 2
    src.execute("CREATE TABLE ghost (id int PRIMARY KEY, v varchar(250));"
                "INSERT INTO ghost SELECT seq, 'ghost' FROM seq_1_to_12000;"
                "RENAME TABLE two TO two_old, ghost TO two")
    bridge.start()
    stream.wait_refused("TABLE-IDENTITY-CHANGED", 90)
    assert "ghost" in stream.refusals()[-1]["detail"]


# -- objects behind the rows ---------------------------------------------------

def is_built(dst, bridge):
    wait_until(lambda: dst.value("SELECT phase FROM sluice.copy_run") == "done", 60, bridge.log_text)


def test_a_key_that_rows_do_not_allow_is_built_once_they_do(src, dst, make_bridge, login):
    """The foreign key waits for the stream, and for its cure; no row is copied again."""
    src.execute("CREATE TABLE base (id int PRIMARY KEY); INSERT INTO base VALUES (1), (2);"
                "CREATE TABLE leaf (id int PRIMARY KEY, base int, FOREIGN KEY (base) REFERENCES base (id));"
                "INSERT INTO leaf VALUES (1, 1), (2, 2);"
                "SET foreign_key_checks = 0; INSERT INTO leaf VALUES (3, 3)")
    stream = make_bridged_stream(src, dst, options={"check_values": False}, **login)
    bridge = make_bridge(dst)
    row = stream.wait_refused("TARGET-CONSTRAINT-VIOLATED")
    assert "leaf" in row["reason"], row
    dst.execute("INSERT INTO base VALUES (4)")
    for _ in range(2):      # nothing is cured: the same again
        stream.start(source=False)
        stream.wait_refused("TARGET-CONSTRAINT-VIOLATED")
    dst.execute("DELETE FROM base WHERE id = 4; DELETE FROM leaf WHERE id = 3")
    src.execute("DELETE FROM leaf WHERE id = 3")
    stream.start(source=False)
    streams(stream, bridge)
    is_built(dst, bridge)
    stream.caught_up()
    assert_same_tables(src, dst, ["base", "leaf"])
    assert bridge.log_text().count("copied 3 rows of %s.leaf" % src.name) == 1
    assert dst.value("SELECT count(*) FROM pg_constraint WHERE conrelid = 'leaf'::regclass AND contype = 'f'"
                     " AND convalidated") == 1


def test_a_unique_index_that_rows_do_not_allow_is_built_once_they_do(src, dst, make_bridge, login):
    """Somebody has written to the target while it was copied."""
    src.execute("CREATE TABLE u (id int PRIMARY KEY, v varchar(20), UNIQUE KEY u_v (v));"
                "INSERT INTO u VALUES (1, 'seven'), (2, 'eight')")
    bridge = make_bridge(dst)
    bridge.kill_tree()
    bridge.arm("cold_establish")        # each time: the rows are here, and nothing is built
    stream = make_bridged_stream(src, dst, **login)
    bridge.start()
    bridge.wait_log('"cold_establish" reached')
    bridge.kill_tree()
    dst.execute("INSERT INTO u VALUES (100000, 'seven')")
    bridge.arm()
    bridge.start()
    row = stream.wait_refused("TARGET-CONSTRAINT-VIOLATED")
    text = "%r %r" % (row, stream.refusals())
    assert "u_v" in row["reason"] and "seven" not in text, text
    dst.execute("DELETE FROM u WHERE id = 100000")
    stream.start(source=False)
    streams(stream, bridge)
    is_built(dst, bridge)
    stream.caught_up()
    assert_same_tables(src, dst, ["u"])
    assert bridge.log_text().count("copied 2 rows of %s.u" % src.name) == 1
    assert dst.value("SELECT count(*) FROM pg_index WHERE indrelid = 'u'::regclass AND indisunique") == 2


def test_an_index_that_the_target_cannot_build_is_refused_by_name(src, dst, make_bridge, login):
    """Its entry is too large for a page here, and was not there."""
    src.execute("CREATE TABLE wide (id int PRIMARY KEY, v varchar(3000) CHARACTER SET latin1, KEY wide_v (v));"
                "INSERT INTO wide VALUES (1, 'a');"
                "INSERT INTO wide SELECT 2, group_concat(sha2(seq, 256) SEPARATOR '') FROM seq_1_to_46")
    stream = make_bridged_stream(src, dst, **login)
    bridge = make_bridge(dst)
    row = stream.wait_refused("SCHEMA-NOT-CARRIED")
    assert "wide" in row["reason"] and "sync_start" in row["hint"], row
    assert dst.value("SELECT count(*) FROM wide") == 2
    dst.execute("DELETE FROM wide WHERE id = 2")
    src.execute("DELETE FROM wide WHERE id = 2")
    stream.start(source=False)
    streams(stream, bridge)
    is_built(dst, bridge)
    assert bridge.log_text().count("copied 2 rows of %s.wide" % src.name) == 1
    stream.caught_up()
    assert_same_tables(src, dst, ["wide"])


@pytest.mark.long
def test_what_is_built_waits_for_a_lock_and_the_stream_goes_on(src, dst, make_bridge, login):
    """A process that builds is tried again; killed, another one begins."""
    src.execute("CREATE TABLE base (id int PRIMARY KEY);"
                "CREATE TABLE leaf (id int PRIMARY KEY, base int, v varchar(200), FOREIGN KEY (base) REFERENCES base (id));"
                "INSERT INTO base VALUES (1); INSERT INTO leaf SELECT seq, 1, repeat('v', 180) FROM seq_1_to_3000;"
                "ANALYZE TABLE base, leaf")
    dst.execute("ALTER DATABASE \"%s\" SET sluice.lock_timeout = '300ms'" % dst.name)
    bridge = make_bridge(dst)
    bridge.kill_tree()
    bridge.arm("finish_begun")          # the process that builds, each time that one begins
    stream = make_bridged_stream(src, dst, options={"copy_workers": 2, "copy_bytes_per_second": 100000}, **login)
    bridge.start()
    wait_until(lambda: dst.value("SELECT count(*) FROM pg_constraint WHERE conname = 'base_pkey'"), 60, bridge.log_text)
    conn = dst.connect(autocommit=False)
    try:
        conn.cursor().execute("LOCK TABLE base IN ROW EXCLUSIVE MODE")
        wait_until(lambda: bridge.log_text().count('"finish_begun" reached') >= 2, 90, bridge.log_text)
        src.execute("INSERT INTO base VALUES (2); INSERT INTO leaf VALUES (10000, 2, NULL)")
        stream.caught_up()
        assert_same_tables(src, dst, ["base", "leaf"])
        assert dst.value("SELECT phase FROM sluice.copy_run") == "finish"
        bridge.kill_tree()
        bridge.arm()
        bridge.start()
        wait_until(lambda: dst.value("SELECT count(*) FROM pg_stat_activity"
                                     " WHERE application_name = 'sluice-bridge build'"), 60, bridge.log_text)
        src.execute("INSERT INTO base VALUES (3); INSERT INTO leaf VALUES (10001, 3, NULL)")
        stream.caught_up()
        bridge.wait_log("is built later")
        assert dst.value("SELECT phase FROM sluice.copy_run") == "finish"
    finally:
        conn.close()
    is_built(dst, bridge)
    assert dst.value("SELECT count(*) FROM pg_constraint WHERE conrelid = 'leaf'::regclass AND contype = 'f'"
                     " AND convalidated") == 1
    assert_same_tables(src, dst, ["base", "leaf"])
