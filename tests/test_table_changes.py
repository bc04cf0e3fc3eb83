"""Changes of whole tables and of types on the source: one verdict each."""
import pytest

from lib import assert_same_rows, make_stream, wait_until
from lib.streams import both, caught_up_same, cold_stream

FORWARD = dict(schema_changes="forward", options={"heartbeat_interval": "1 s"})
REFUSE = dict(schema_changes="refuse", options={"heartbeat_interval": "1 s"})


def events(dst, name):
    return [(r["decision"], r["ddl"]) for r in dst.rows(
        "SELECT decision, ddl FROM sluice.schema_event WHERE table_name = %s"
        " ORDER BY id", name)]


def labels(db, name):
    return db.value("SELECT string_agg(enumlabel, ',' ORDER BY enumsortorder)"
                    " FROM pg_enum WHERE enumtypid = %s::regtype", name)


# ---------- tables ----------

def test_dropped_and_created(pair):
    """A table that is dropped leaves the stream; one created again is another."""
    src, dst = pair
    src.execute("CREATE TABLE a (id int PRIMARY KEY); CREATE TABLE b (id int PRIMARY KEY);"
                "INSERT INTO a VALUES (1); INSERT INTO b VALUES (1)")
    st = cold_stream(src, dst, **FORWARD)
    mark = dst.server.log_mark()
    src.execute("INSERT INTO a VALUES (2)")
    src.execute("DROP TABLE a")
    st.stop()
    st.start()
    wait_until(lambda: dst.value("SELECT state FROM sluice.tables WHERE table_name = 'a'")
               == "dropped", 60, "the table is dropped")
    assert 'table "public.a" was dropped on the source' in dst.server.log_text(mark)
    assert dst.value("SELECT count(*) FROM a") == 2
    assert events(dst, "a") == [("warned", None)]
    assert st.health()["skipped_tables"] == 1
    src.execute("INSERT INTO b VALUES (2); CREATE TABLE c (id int PRIMARY KEY);"
                "INSERT INTO c VALUES (1)")
    caught_up_same(st, "b")
    st.stop()
    st.start()
    wait_until(lambda: st.health()["skipped_tables"] == 2, 60, "the new table is counted")
    assert events(dst, "c") == [("warned", None)]
    st.stop()
    src.execute("CREATE TABLE a (id int PRIMARY KEY)")
    st.start()
    row = st.wait_refused("TABLE-IDENTITY-CHANGED")
    assert "[table-recreated]" in row["reason"]
    assert_same_rows(src, dst, ["b"])


def test_rewritten_in_place(pair):
    """ALTER ... USING that keeps the types: the values are copied by key."""
    src, dst = pair
    src.execute("""
        CREATE TABLE t (id int PRIMARY KEY, v text, w int);
        CREATE TABLE p (id int PRIMARY KEY, v text) PARTITION BY RANGE (id);
        CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (100);
        INSERT INTO t SELECT i, 'v' || i, i FROM generate_series(1, 50) AS i;
        INSERT INTO p SELECT i, 'v' || i FROM generate_series(1, 50) AS i""")
    st = cold_stream(src, dst, **FORWARD)
    src.execute("ALTER TABLE t ALTER v TYPE text USING upper(v)")
    src.execute("INSERT INTO t VALUES (100, 'after', 1)")
    wait_until(lambda: dst.value("SELECT v FROM t WHERE id = 1") == "V1", 60, "values copied")
    caught_up_same(st, "t")
    st.stop()
    src.execute("UPDATE p SET v = v || '.'; ALTER TABLE p ALTER v TYPE text USING upper(v)")
    src.execute("UPDATE p SET v = 'last' WHERE id = 2")
    st.start()
    wait_until(lambda: dst.value("SELECT v FROM p WHERE id = 1") == "V1.", 60, "values copied")
    caught_up_same(st, "p", "t")
    # the key itself: rows cannot be told apart by it
    src.execute("ALTER TABLE t ALTER id TYPE int USING id + 1000")
    row = st.wait_refused("SCHEMA-CHANGE-REFUSED")
    assert "[table-rewritten]" in row["reason"] and "primary key" in row["reason"]


def test_rewritten_where_nothing_is_forwarded(pair):
    src, dst = pair
    src.execute("CREATE TABLE t (id int PRIMARY KEY, v text); INSERT INTO t VALUES (1, 'a')")
    st = cold_stream(src, dst, **REFUSE)
    src.execute("ALTER TABLE t ALTER v TYPE text USING upper(v)")
    src.execute("INSERT INTO t VALUES (2, 'after')")
    assert "[table-rewritten]" in st.wait_refused("SCHEMA-CHANGE-REFUSED")["reason"]
    st.start()
    st.caught_up()


# ---------- types ----------

def test_enum_labels(pair):
    """ADD VALUE commits before its rows; RENAME VALUE at its place in the stream."""
    src, dst = pair
    src.execute("CREATE TYPE mood AS ENUM ('sad', 'ok');"
                "CREATE DOMAIN moods AS mood[]; CREATE TYPE pair AS (m mood, n int);"
                "CREATE TABLE t (id int PRIMARY KEY, m mood, a moods, c pair);"
                "INSERT INTO t VALUES (1, 'ok', '{sad}', '(ok,1)')")
    st = cold_stream(src, dst, **FORWARD)
    src.execute("ALTER TYPE mood ADD VALUE 'great'; ALTER TYPE mood ADD VALUE 'mid' BEFORE 'ok'")
    src.execute("ALTER TYPE mood ADD VALUE 'it''s\n\\' BEFORE 'sad'")
    src.execute("INSERT INTO t VALUES (2, 'great', '{mid}', '(mid,1)'), (3, 'it''s\n\\', NULL, NULL)")
    caught_up_same(st, "t")
    assert labels(src, "mood") == labels(dst, "mood")
    assert {d for d, _ in events(dst, "mood")} == {"forwarded"}
    # renamed while rows with the old name are on their way
    st.stop()
    src.execute("INSERT INTO t VALUES (4, 'sad')")
    src.execute("ALTER TYPE mood RENAME VALUE 'sad' TO 'blue'")
    src.execute("INSERT INTO t VALUES (5, 'blue'); UPDATE t SET m = 'blue' WHERE id = 1")
    st.start()
    caught_up_same(st, "t")
    assert labels(src, "mood") == labels(dst, "mood")
    # a type that moves is the same by its oid
    both(src, dst, "CREATE SCHEMA s2")
    src.execute("ALTER TYPE mood RENAME TO state; ALTER TYPE state SET SCHEMA s2;"
                "ALTER TYPE s2.state ADD VALUE 'new'")
    src.execute("INSERT INTO t VALUES (7, 'new')")
    caught_up_same(st, "t")
    st.stop()
    st.start()
    src.execute("ALTER TABLE t ADD x int; INSERT INTO t VALUES (8, 'new')")
    caught_up_same(st, "t")
    assert labels(dst, "s2.state") == labels(src, "s2.state")


def test_enum_labels_where_nothing_is_forwarded(pair):
    src, dst = pair
    src.execute("CREATE TYPE mood AS ENUM ('sad', 'ok');"
                "CREATE TABLE t (id int PRIMARY KEY, m mood); INSERT INTO t VALUES (1, 'ok')")
    st = cold_stream(src, dst, **REFUSE)
    src.execute("ALTER TYPE mood ADD VALUE 'mid' BEFORE 'ok'")
    src.execute("INSERT INTO t VALUES (2, 'mid')")
    row = st.wait_refused("SCHEMA-CHANGE-REFUSED")
    assert "[enum-label-added] public.mood: 'mid'" in row["reason"]
    dst.execute(row["hint"])
    st.start()
    caught_up_same(st, "t")
    assert labels(src, "mood") == labels(dst, "mood")
    src.execute("ALTER TYPE mood RENAME VALUE 'mid' TO 'so'; INSERT INTO t VALUES (3, 'so')")
    row = st.wait_refused("SCHEMA-CHANGE-REFUSED")
    assert "[enum-label-renamed]" in row["reason"]
    dst.execute(row["hint"])
    st.start()
    caught_up_same(st, "t")


def test_enum_label_that_takes_the_name_of_another(pair):
    """Only names are sent: whose it is in a row cannot be told."""
    src, dst = pair
    src.execute("CREATE TYPE mood AS ENUM ('sad', 'ok');"
                "CREATE TABLE t (id int PRIMARY KEY, m mood); INSERT INTO t VALUES (1, 'ok')")
    st = cold_stream(src, dst, **FORWARD)
    st.stop()
    renames = ("ALTER TYPE mood RENAME VALUE 'sad' TO 'blue'",
               "ALTER TYPE mood RENAME VALUE 'ok' TO 'sad'")
    src.execute("; ".join(renames))
    src.execute("INSERT INTO t VALUES (2, 'sad')")
    st.start()
    row = st.wait_refused("SCHEMA-CHANGE-REFUSED")
    assert "[enum-label-reused] public.mood: 'sad'" in row["reason"]
    dst.execute("; ".join(renames))
    st.start()
    caught_up_same(st, "t")


def test_enum_label_removed(pair):
    src, dst = pair
    src.execute("CREATE TYPE mood AS ENUM ('sad', 'ok', 'odd');"
                "CREATE TABLE t (id int PRIMARY KEY, m mood); INSERT INTO t VALUES (1, 'ok')")
    st = cold_stream(src, dst, **FORWARD)
    st.stop()
    src.execute("DELETE FROM pg_enum WHERE enumlabel = 'odd'")
    st.start()
    assert "[enum-label-removed] public.mood: 'odd'" in \
        st.wait_refused("SCHEMA-CHANGE-REFUSED")["reason"]


@pytest.mark.parametrize("change, kind", [
    ("ALTER DOMAIN d ADD CHECK (VALUE < 1000)", "domain-changed"),
    ("ALTER DOMAIN d SET NOT NULL", "domain-changed"),
    ("ALTER TYPE c RENAME ATTRIBUTE a TO z", "composite-changed"),
])
def test_types_that_are_not_forwarded(pair, change, kind):
    src, dst = pair
    src.execute("CREATE DOMAIN d AS int CHECK (VALUE > 0); CREATE TYPE c AS (a int, b text);"
                "CREATE TABLE t (id int PRIMARY KEY, v d, w c); INSERT INTO t VALUES (1, 1, '(1,x)')")
    st = cold_stream(src, dst, **FORWARD)
    st.stop()
    src.execute(change)
    st.start()
    row = st.wait_refused("UNFORWARDED-SCHEMA-CHANGE")
    assert "[%s] public." % kind in row["reason"]
    dst.execute(change)
    st.start(accept_unforwarded_schema_change=row["fingerprint"])
    src.execute("INSERT INTO t VALUES (2, 2, '(2,y)')")
    caught_up_same(st, "t")
    # made on both sides, the target first: nothing to say
    both(dst, src, "ALTER DOMAIN d ADD CONSTRAINT both_sides CHECK (VALUE < 500)")
    src.execute("INSERT INTO t VALUES (3, 3, '(3,z)')")
    caught_up_same(st, "t")
    st.stop()
    st.start()
    st.caught_up()
