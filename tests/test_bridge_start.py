"""What the cold start of a MariaDB source meets: rows that the target has already,
and tables that change while others are copied."""
import pytest

from lib import make_bridged_stream, wait_until
from lib.mycold import assert_same_tables

GRANTS = ["SELECT, REPLICATION SLAVE, REPLICATION CLIENT, LOCK TABLES, REFERENCES, TRIGGER, EVENT,"
          " SHOW VIEW, EXECUTE ON *.*"]

pytestmark = pytest.mark.long


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


def test_a_table_is_dropped_before_its_copy_begins(src, dst, make_bridge, login):
    stream, bridge = while_copying(src, dst, make_bridge, login, "DROP TABLE small")
    streams(stream, bridge)
    stream.caught_up()
    assert_same_tables(src, dst, ["big"])
    assert dst.value("SELECT to_regclass('small') IS NULL") is True


def test_a_table_is_renamed_before_its_copy_begins(src, dst, make_bridge, login):
    stream, bridge = while_copying(src, dst, make_bridge, login, "RENAME TABLE small TO other")
    streams(stream, bridge)
    stream.caught_up()
    assert_same_tables(src, dst, ["big", "other"])
    assert dst.value("SELECT to_regclass('small') IS NULL") is True
    src.execute("INSERT INTO other VALUES (3, 3)")
    stream.caught_up()
    assert_same_tables(src, dst, ["other"])


def test_two_tables_change_places_before_their_copy_begins(src, dst, make_bridge, login):
    """As schema changes online do: the name holds another table."""
    src.execute("CREATE TABLE ghost (id int PRIMARY KEY, v int); INSERT INTO ghost VALUES (7, 7)")
    stream, bridge = while_copying(src, dst, make_bridge, login,
                                   "RENAME TABLE small TO small_old, ghost TO small")
    streams(stream, bridge)
    stream.caught_up()
    assert_same_tables(src, dst, ["big", "small", "small_old"])
    assert dst.value("SELECT to_regclass('ghost') IS NULL") is True


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
