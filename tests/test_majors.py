"""Sources of the other majors: 17 and 18 into the installed release."""
import pytest

from lib import assert_same_rows, make_stream, wait_until
from lib.majors import MajorServer

TABLES = ("CREATE TABLE plain (id int PRIMARY KEY, n numeric, at timestamptz, doc text);"
          "CREATE TABLE keyless (a int, b text);"
          "ALTER TABLE keyless REPLICA IDENTITY FULL;"
          "CREATE TABLE parted (id int, k int, v text, PRIMARY KEY (id, k))"
          " PARTITION BY LIST (k);"
          "CREATE TABLE parted_1 PARTITION OF parted FOR VALUES IN (1);"
          "CREATE TABLE parted_x PARTITION OF parted DEFAULT;"
          "CREATE TABLE made (id int PRIMARY KEY, a int,"
          " twice int GENERATED ALWAYS AS (a * 2) STORED);")

FILL = ("INSERT INTO plain SELECT i, i / 7.0, '2026-01-01Z', repeat('x', i)"
        " FROM generate_series(1, 500) i;"
        "INSERT INTO keyless SELECT i % 3, 'k' FROM generate_series(1, 9) i;"
        "INSERT INTO parted SELECT i, i % 3, 'v' FROM generate_series(1, 30) i;"
        "INSERT INTO made (id, a) SELECT i, i FROM generate_series(1, 20) i;")

CHANGES = ("BEGIN; UPDATE plain SET n = n + 1 WHERE id % 5 = 0;"
           "SAVEPOINT s; DELETE FROM plain; ROLLBACK TO s;"
           "DELETE FROM plain WHERE id % 7 = 0; COMMIT;"
           "UPDATE keyless SET b = 'z' WHERE ctid = (SELECT ctid FROM keyless LIMIT 1);"
           "UPDATE parted SET k = k + 1; UPDATE made SET a = -a;"
           "INSERT INTO plain SELECT i, 'NaN', 'infinity', NULL"
           " FROM generate_series(1001, 1100) i;")

NAMES = ["plain", "keyless", "parted", "made"]


@pytest.fixture(scope="module", params=[17, 18])
def other(request):
    server = MajorServer(request.param).start()
    yield server
    server.stop()


@pytest.fixture
def sides(other, target):
    src = other.fresh_db("majors")
    dst = target.fresh_db("majors", extension=True)
    src.execute(TABLES)
    dst.execute(TABLES)
    yield src, dst
    dst.destroy()
    src.destroy()


def test_copy_follow_stop_resume(sides):
    src, dst = sides
    src.execute(FILL)
    st = make_stream(src, dst, user="postgres")
    src.execute(CHANGES)
    st.caught_up()
    st.stop()
    src.execute("UPDATE plain SET doc = 'later' WHERE id < 100; TRUNCATE keyless;")
    st.start()
    st.caught_up()
    assert_same_rows(src, dst, NAMES)
    assert not [r for r in st.verify() if r["status"] != "equal"]
    slot = st.slot()
    assert slot["failover"], "17 and later have failover slots; ours is one"
    st.stop()
    st.drop()
    assert src.query("SELECT slot_name::text FROM pg_replication_slots"
                     " WHERE database = current_database()") == []
    assert src.value("SELECT count(*) FROM pg_publication") == 0


def test_schema_diff_and_cutover(sides):
    """Both sides' definitions read the same; sequences are found and set."""
    src, dst = sides
    more = """CREATE TABLE seqs (id serial PRIMARY KEY, i int GENERATED ALWAYS AS IDENTITY,
        n numeric(5,2) NOT NULL DEFAULT 1.5 CHECK (n > 0), t text, d date);
        CREATE INDEX seqs_t ON seqs (lower(t)) INCLUDE (n) WHERE d IS NOT NULL;
        CREATE STATISTICS seqs_st ON n, t FROM seqs;
        CREATE TABLE refs (id int PRIMARY KEY REFERENCES seqs NOT NULL);
        CREATE SEQUENCE lone INCREMENT -3"""
    for side in sides:
        side.execute(more)
    st = make_stream(src, dst, user="postgres")
    assert st.dst.rows("SELECT * FROM sluice.schema_diff('s1')") == []
    src.execute("SELECT setval('lone', -4); INSERT INTO seqs (t) VALUES ('a'), ('b')")
    st.caught_up()
    rows = dst.rows("SELECT sequence, target_after, action FROM sluice.cutover('s1', 10)")
    assert [tuple(r.values()) for r in rows] == [
        ("public.lone", -16, "set"), ("public.seqs_i_seq", 12, "set"),
        ("public.seqs_id_seq", 12, "set")]
    st.drop()


@pytest.fixture
def impatient():
    """An 18 that gives up slots that nobody uses."""
    server = MajorServer(18).start()
    server.stop()
    server.start(idle_replication_slot_timeout="1min", checkpoint_timeout="30s")
    yield server
    server.stop()


@pytest.mark.long
def test_idle_slot_timeout_refuses(impatient, target):
    """PS-29: a stopped stream's slot was given up for being idle."""
    src = impatient.fresh_db("idle")
    dst = target.fresh_db("idle", extension=True)
    for side in src, dst:
        side.execute("CREATE TABLE t (id int PRIMARY KEY)")
    st = make_stream(src, dst, user="postgres")
    st.stop()
    src.execute("INSERT INTO t VALUES (1)")

    def given_up():
        src.execute("SELECT pg_switch_wal()")
        src.execute("INSERT INTO t SELECT max(id) + 1 FROM t")
        src.execute("CHECKPOINT")
        return st.slot()["invalidation_reason"] == "idle_timeout"
    wait_until(given_up, 180, "the slot stays valid")
    st.start()
    row = st.wait_refused("SLOT-LOST")
    assert "idle_timeout" in row["reason"]
    st.drop()
