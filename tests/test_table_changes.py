"""Changes of whole tables and of types on the source: one verdict each."""
import threading

import pytest

from lib import Stream, assert_same_rows, make_server, make_stream, wait_until
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


def named(dst, oid):
    return dst.value("SELECT %s::oid::regclass::text", oid)


def test_renamed_and_moved(pair):
    """By its oid it is the same table: carried at its next row, or followed."""
    src, dst = pair
    both(src, dst, "CREATE SCHEMA s2")
    src.execute("CREATE TABLE a (id int PRIMARY KEY, v text);"
                "CREATE TABLE p (id int PRIMARY KEY, v text) PARTITION BY RANGE (id);"
                "CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (100);"
                "INSERT INTO a VALUES (1, 'a'); INSERT INTO p VALUES (1, 'p')")
    st = make_stream(src, dst, **FORWARD)
    a, p = (dst.value("SELECT %s::regclass::oid", t) for t in ("a", "p"))
    src.execute("ALTER TABLE a RENAME TO b")
    st.stop()
    st.start()                      # the look at a start leaves it to its row
    src.execute("INSERT INTO b VALUES (2, 'b')")
    caught_up_same(st, "b")
    assert named(dst, a) == "b"
    src.execute("ALTER TABLE b SET SCHEMA s2; ALTER TABLE s2.b RENAME TO c;"
                "INSERT INTO s2.c VALUES (3, 'c'); ALTER TABLE p RENAME TO q;"
                "INSERT INTO q VALUES (2, 'q')")
    caught_up_same(st, ("s2", "c"), "q")
    assert (named(dst, a), named(dst, p)) == ("s2.c", "q")
    st.stop()
    both(src, dst, "ALTER TABLE s2.c RENAME TO both_sides")
    src.execute("INSERT INTO s2.both_sides VALUES (4, 'd')")
    st.start()
    caught_up_same(st, ("s2", "both_sides"), "q")
    assert events(dst, "b")[0][0] == "forwarded"
    assert {d for d, _ in events(dst, "both_sides")} == {"passed"}
    # in the way on the target
    dst.execute("CREATE TABLE taken (id int)")
    src.execute("ALTER TABLE q RENAME TO taken; INSERT INTO taken VALUES (3, 'r')")
    row = st.wait_refused("RESUME-SCHEMA-DIVERGENCE")
    assert "[table-exists]" in row["reason"]
    assert named(dst, p) == "q"
    dst.execute("DROP TABLE taken")
    st.start()
    caught_up_same(st, "taken")


def test_renamed_where_it_is_not_followed(pair):
    src, dst = pair
    src.execute("CREATE TABLE a (id int PRIMARY KEY); CREATE TABLE b (id int PRIMARY KEY);"
                "INSERT INTO a VALUES (1); INSERT INTO b VALUES (2)")
    st = cold_stream(src, dst, include_tables=["a", "b"], **FORWARD)
    st.stop()
    src.execute("ALTER TABLE a RENAME TO elsewhere")
    st.start()
    row = st.wait_refused("SCHEMA-CHANGE-REFUSED")
    assert "[table-renamed] public.a" in row["reason"] and "not in scope" in row["reason"]
    # two that exchange their names
    src.execute("ALTER TABLE b RENAME TO a; ALTER TABLE elsewhere RENAME TO b")
    src.execute("INSERT INTO a VALUES (3); INSERT INTO b VALUES (3)")
    st.start()
    st.wait_refused("TABLE-IDENTITY-CHANGED")
    assert (dst.query("TABLE a"), dst.query("TABLE b")) == ([(1,)], [(2,)])


def test_renamed_where_nothing_is_forwarded(pair):
    src, dst = pair
    src.execute("CREATE TABLE a (id int PRIMARY KEY); INSERT INTO a VALUES (1)")
    st = cold_stream(src, dst, **REFUSE)
    st.stop()
    src.execute("ALTER TABLE a RENAME TO b")
    st.start()
    row = st.wait_refused("SCHEMA-CHANGE-REFUSED")
    assert row["hint"] == "ALTER TABLE public.a RENAME TO b;"
    dst.execute(row["hint"])
    src.execute("INSERT INTO b VALUES (2)")
    st.start()
    caught_up_same(st, "b")


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


def test_rewritten_right_after_a_change_of_its_type(pair):
    """One statement changes the type and is crossed, the next only the values,
    before anybody looks at the source's files."""
    src, dst = pair
    src.execute("CREATE TABLE t (id int PRIMARY KEY, a int, v varchar(10), z text);"
                " INSERT INTO t SELECT i, i, 'v' || i, 'z' FROM generate_series(1, 50) i")
    stream = cold_stream(src, dst, **FORWARD)
    for change in ("v TYPE varchar(20)", "a TYPE bigint"):
        src.execute("ALTER TABLE t ALTER %s; UPDATE t SET z = z || '.' WHERE id = 1" % change)
        stream.caught_up()
        src.execute("ALTER TABLE t ALTER v TYPE varchar(20) USING v || 'x',"
                    " ALTER a TYPE %s USING a + 1" % ("int" if "v TYPE" in change else "bigint"))
        wait_until(lambda: src.query("SELECT * FROM t ORDER BY id") ==
                   dst.query("SELECT * FROM t ORDER BY id"), 60,
                   lambda: "the new values are not here: %r" % stream.health())
    stream.caught_up()
    assert_same_rows(src, dst, ["t"])


def test_type_changed_before_the_key(pair):
    """ALTER TYPE writes the catalog's rows of the columns behind it too, here in a
    leaf whose key comes last: the key is not taken for rewritten."""
    src, dst = pair
    src.execute("""
        CREATE TABLE t (id int PRIMARY KEY, a text, b int) PARTITION BY RANGE (id);
        CREATE TABLE t1 PARTITION OF t FOR VALUES FROM (0) TO (100);
        CREATE TABLE t2 (b int, a text, id int NOT NULL);
        ALTER TABLE t ATTACH PARTITION t2 FOR VALUES FROM (100) TO (200);
        INSERT INTO t SELECT i, 'a' || i, i FROM generate_series(50, 149) AS i""")
    st = cold_stream(src, dst, **FORWARD)
    recorded = "SELECT source_leaves FROM sluice.stream_table WHERE table_name = 't'"
    before = dst.value(recorded)
    src.execute("ALTER TABLE t ALTER b TYPE bigint USING b * 10; UPDATE t SET a = 'z' WHERE id = 60")
    wait_until(lambda: st.health()["state"] != "streaming" or dst.value(recorded) != before,
               60, "the rewritten leaves are judged")
    caught_up_same(st, "t")


@pytest.mark.parametrize("mode", [FORWARD, REFUSE], ids=["forward", "refuse"])
def test_columns_behind_a_changed_one(pair, mode):
    """What a rewrite writes in the catalog for columns that it leaves as they are is no change."""
    src, dst = pair
    src.execute("""CREATE TABLE t (id int PRIMARY KEY, b int, d int DEFAULT 1, i int, e text);
        CREATE INDEX t_i ON t (i) INCLUDE (e);
        INSERT INTO t SELECT n, n, n, n, 'e' FROM generate_series(1, 20) AS n""")
    st = cold_stream(src, dst, **mode)

    def looked():
        st.stop()
        st.start()                  # each start looks
        caught_up_same(st, "t")
        assert ("forwarded", None) not in events(dst, "t") and st.refusals() == []
    for db in (dst, src):
        db.execute("ALTER TABLE t ALTER b TYPE bigint")
    src.execute("INSERT INTO t VALUES (30, 30)")
    looked()
    for db in (dst, src):
        db.execute("ALTER TABLE t ADD m text DEFAULT 'm'; ALTER TABLE t ALTER m DROP DEFAULT")
    src.execute("INSERT INTO t VALUES (31, 31)")
    looked()
    src.execute("VACUUM FULL t")
    looked()
    # and what does change them is seen
    for n, column in enumerate("di"):
        st.stop()
        src.execute("ALTER TABLE t ALTER %s TYPE int USING %s * 100" % (column, column))
        st.start()
        if mode is REFUSE:
            assert "[table-rewritten]" in st.wait_refused("SCHEMA-CHANGE-REFUSED")["reason"]
            dst.execute("UPDATE t SET %s = %s * 100" % (column, column))
            st.start()
        else:
            wait_until(lambda: events(dst, "t").count(("forwarded", None)) == n + 1, 60, "it is not seen")
        caught_up_same(st, "t")


def test_rewritten_where_nothing_is_forwarded(pair):
    src, dst = pair
    src.execute("CREATE TABLE t (id int PRIMARY KEY, v text); INSERT INTO t VALUES (1, 'a')")
    st = cold_stream(src, dst, **REFUSE)
    src.execute("ALTER TABLE t ALTER v TYPE text USING upper(v)")
    src.execute("INSERT INTO t VALUES (2, 'after')")
    assert "[table-rewritten]" in st.wait_refused("SCHEMA-CHANGE-REFUSED")["reason"]
    st.start()
    st.caught_up()


def test_replica_identity(pair):
    """One that still serves passes; a loss refuses by the table's next row."""
    src, dst = pair
    src.execute("CREATE TABLE t (id int PRIMARY KEY, k int NOT NULL, v text);"
                "CREATE UNIQUE INDEX t_k ON t (k); INSERT INTO t VALUES (1, 1, 'a')")
    st = cold_stream(src, dst, **FORWARD)
    for i, identity in enumerate(("FULL", "USING INDEX t_k", "DEFAULT")):
        src.execute("ALTER TABLE t REPLICA IDENTITY %s" % identity)
        src.execute("UPDATE t SET v = v || %s WHERE id = 1; INSERT INTO t VALUES (%s, %s, 'b')",
                    str(i), i + 10, i + 10)
        caught_up_same(st, "t")
    src.execute("ALTER TABLE t REPLICA IDENTITY NOTHING; INSERT INTO t VALUES (100, 100, 'c')")
    st.wait_refused("SOURCE-REPLICA-IDENTITY")
    assert dst.value("SELECT count(*) FROM t WHERE id = 100") == 0
    src.execute("ALTER TABLE t REPLICA IDENTITY DEFAULT; INSERT INTO t VALUES (101, 101, 'd')")
    st.start()
    caught_up_same(st, "t")


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


def test_enum_labels_under_load(pair):
    """Rows with new labels come before anybody looked; each lands once."""
    src, dst = pair
    src.execute("CREATE TYPE mood AS ENUM ('n0', 'old');"
                "CREATE TABLE t (id int PRIMARY KEY, m mood); CREATE TABLE u (id int PRIMARY KEY)")
    st = cold_stream(src, dst, **FORWARD)
    done = threading.Event()

    def write():
        i = 0
        while not done.is_set():
            src.execute("INSERT INTO u SELECT generate_series(%s, %s)", i, i + 9)
            i += 10

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for i in range(1, 9):
            src.execute("ALTER TYPE mood ADD VALUE 'n%d' %s 'n0'" % (i, "BEFORE" if i % 2 else "AFTER"))
            src.execute("INSERT INTO t VALUES (%s, %s::mood), (%s, %s)", i, "n%d" % i,
                        i + 100, "old" if i < 5 else "new")
            if i == 4:
                src.execute("ALTER TYPE mood RENAME VALUE 'old' TO 'new'")
    finally:
        done.set()
        writer.join()
    caught_up_same(st, "t", "u")
    assert labels(src, "mood") == labels(dst, "mood")


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


def test_attribute_that_a_row_has(pair):
    """The row is not what is wrong: the type is, and its statement cures it."""
    src, dst = pair
    src.execute('CREATE TYPE ct AS (x int, y text);'
                "CREATE TABLE t (id int PRIMARY KEY, a ct); INSERT INTO t VALUES (1, ROW(1, 'a'))")
    st = cold_stream(src, dst, **FORWARD)
    src.execute('ALTER TYPE ct ADD ATTRIBUTE z numeric(10,2), ADD ATTRIBUTE "w, v" int;'
                " INSERT INTO t VALUES (2, ROW(1, 'n', 3, 4))")
    row = st.wait_refused("UNFORWARDED-SCHEMA-CHANGE")
    statement = 'ALTER TYPE public.ct ADD ATTRIBUTE z numeric(10,2), ADD ATTRIBUTE "w, v" integer;'
    assert row["hint"].split("\n")[0] == statement
    way = dst.rows("SELECT * FROM sluice.remedies(%s)", st.id)[0]
    assert (way["run_on"], way["statement"]) == ("target", statement)
    dst.execute(statement)
    st.start(accept_unforwarded_schema_change=row["fingerprint"])
    caught_up_same(st, "t")


def test_types_accepted_as_they_are(pair):
    """Acknowledged, and not made on the target: the stream goes on, rows or none."""
    src, dst = pair
    src.execute("CREATE DOMAIN d AS int CHECK (VALUE > 0); CREATE TYPE c AS (a int, b text);"
                "CREATE TABLE t (id int PRIMARY KEY, v d, w c); INSERT INTO t VALUES (1, 1, '(1,x)')")
    st = cold_stream(src, dst, **FORWARD)
    for n, (change, line) in enumerate((
            ("ALTER DOMAIN d ADD CHECK (VALUE < 1000), ALTER DOMAIN d SET DEFAULT 7",
             "[domain-changed] public.d: integer DEFAULT 7 CHECK ((VALUE < 1000)) CHECK ((VALUE > 0)),"
             " was integer CHECK ((VALUE > 0))"),
            ("ALTER TYPE c RENAME ATTRIBUTE a TO z",
             "[composite-changed] public.c: 1 z integer, 2 b text, was 1 a integer, 2 b text"))):
        st.stop()
        src.execute(change.replace(", ALTER", "; ALTER"))
        src.execute("INSERT INTO t VALUES (%s, 2, '(2,y)')", 10 * n + 10)
        st.start()
        row = st.wait_refused("UNFORWARDED-SCHEMA-CHANGE")
        assert row["reason"].split("\n")[1] == line
        st.start(accept_unforwarded_schema_change=row["fingerprint"])
        src.execute("INSERT INTO t VALUES (%s, 2, '(2,y)')", 10 * n + 11)
        caught_up_same(st, "t")
        # looked at again at each start, and at what a row cannot be read for
        st.stop()
        src.execute("INSERT INTO t VALUES (%s, 2, '(2,y)')", 10 * n + 12)
        st.start()
        caught_up_same(st, "t")
    assert len(st.refusals()) == 2
    assert events(dst, "d")[-1] == ("passed", st.refusals()[0]["detail"])


def test_types_of_another_owner(pair):
    """The stream may not act as the types' owner: each statement is for a hand."""
    src, dst = pair
    both(src, dst, "CREATE TYPE mood AS ENUM ('sad', 'ok'); CREATE DOMAIN d AS int; CREATE TYPE c AS (a int);"
                   "CREATE TABLE t (id int PRIMARY KEY, m mood, v d, w c)")
    name = dst.name
    dst.execute("""CREATE ROLE {0}_st LOGIN; CREATE ROLE {0}_ty LOGIN;
        GRANT ALL ON SCHEMA public TO {0}_st, {0}_ty; ALTER TABLE t OWNER TO {0}_st;
        ALTER TYPE mood OWNER TO {0}_ty; ALTER DOMAIN d OWNER TO {0}_ty; ALTER TYPE c OWNER TO {0}_ty;
        GRANT EXECUTE ON ALL ROUTINES IN SCHEMA sluice TO {0}_st""".format(name))
    make_server(src, dst, "srv", mapping_for=name + "_st")
    dst.execute('GRANT USAGE ON FOREIGN SERVER srv TO {0}_st; GRANT CREATE ON DATABASE "{0}" TO {0}_st'
                .format(name))
    st = Stream(src, dst, "s1", "srv")
    st.start(user=name + "_st", **FORWARD)
    st.wait()
    src.execute("INSERT INTO t VALUES (1, 'ok', 1, '(1)')")
    caught_up_same(st, "t")
    for n, (change, label, statement) in enumerate((
            ("ALTER TYPE mood ADD VALUE 'mid' BEFORE 'ok'", "mid",
             "ALTER TYPE public.mood ADD VALUE 'mid' AFTER 'sad';"),
            ("ALTER TYPE mood RENAME VALUE 'mid' TO 'so'", "so",
             "ALTER TYPE public.mood RENAME VALUE 'mid' TO 'so';"),
            ("ALTER TYPE mood RENAME TO state", "so", "ALTER TYPE public.mood RENAME TO state;"),
            ("ALTER DOMAIN d RENAME TO e", "so", "ALTER TYPE public.d RENAME TO e;"),
            ("ALTER TYPE c RENAME TO f", "so", "ALTER TYPE public.c RENAME TO f;"))):
        if "RENAME TO" in change:
            st.stop()
        src.execute(change)
        src.execute("INSERT INTO t VALUES (%s, %s, 2, '(2)')", n + 2, label)
        if "RENAME TO" in change:
            st.start(user=name + "_st")
        row = st.wait_refused("SCHEMA-CHANGE-REFUSED")
        assert "the stream's owner may not act as %s_ty" % name in row["reason"]
        assert row["hint"] == statement
        dst.execute(row["hint"], user=name + "_ty")
        st.start(user=name + "_st")
        caught_up_same(st, "t")
    assert labels(dst, "state") == labels(src, "state")
    st.stop()
    src.execute("ALTER DOMAIN e ADD CHECK (VALUE < 100); ALTER TYPE f ADD ATTRIBUTE b int")
    st.start(user=name + "_st")
    row = st.wait_refused("UNFORWARDED-SCHEMA-CHANGE")
    # only members of the stream's owner may accept it
    assert dst.error("SELECT sluice.acknowledge('s1', %s, 'x')", row["fingerprint"],
                     user=name + "_ty").pgcode == "42501"
    dst.execute("ALTER DOMAIN e ADD CHECK (VALUE < 100); ALTER TYPE f ADD ATTRIBUTE b int", user=name + "_ty")
    st.start(user=name + "_st", accept_unforwarded_schema_change=row["fingerprint"])
    src.execute("INSERT INTO t VALUES (20, 'so', 3, '(3,4)')")
    caught_up_same(st, "t")
    st.stop()
    st.drop()
    dst.execute("DROP OWNED BY {0}_st, {0}_ty CASCADE; DROP ROLE {0}_st, {0}_ty".format(name))


# ---------- what no row announces, before the target is relied on ----------

def cut_over(stream):
    return stream.dst.execute("SELECT * FROM sluice.cutover(%s)", stream.id)


def test_cutover_waits_for_what_no_row_announced(pair):
    """Values rewritten in place, a label renamed: the next look would be too late."""
    src, dst = pair
    src.execute("CREATE TYPE mood AS ENUM ('sad', 'ok'); CREATE TABLE t (id int PRIMARY KEY, v int, m mood);"
                "INSERT INTO t SELECT g, g, 'ok' FROM generate_series(1, 1000) g")
    st = cold_stream(src, dst, schema_changes="forward")
    st.caught_up()
    src.execute("ALTER TABLE t ALTER v TYPE int USING v * 2")
    src.execute("ALTER TYPE mood RENAME VALUE 'ok' TO 'fine'")
    cut_over(st)
    assert_same_rows(src, dst, ["t"])
    assert st.state == "cut_over"


@pytest.mark.parametrize("change, marker", [
    ("ALTER TABLE t ADD CONSTRAINT c CHECK (v > 0)", "UNFORWARDED-SCHEMA-CHANGE"),
    ("ALTER DOMAIN d ADD CHECK (VALUE > 0)", "UNFORWARDED-SCHEMA-CHANGE"),
    ("TRUNCATE p1", "PARTITION-CHANGE-UNSENT"),
])
def test_cutover_is_refused_for_what_no_row_announced(pair, change, marker):
    src, dst = pair
    src.execute("CREATE DOMAIN d AS int; CREATE TABLE t (id int PRIMARY KEY, v int, w d);"
                "CREATE TABLE p (id int PRIMARY KEY) PARTITION BY RANGE (id);"
                "CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (100);"
                "INSERT INTO t VALUES (1, 1, 1); INSERT INTO p VALUES (1)")
    st = cold_stream(src, dst, schema_changes="forward")
    st.caught_up()
    src.execute(change)
    assert marker in str(dst.error("SELECT * FROM sluice.cutover(%s)", st.id))
    st.wait_refused(marker)


# ---------- partitions ----------

def trees(pair, *names):
    """Trees of two levels with rows up to 19; the target takes every row."""
    for n in names:
        both(*pair, f"CREATE TABLE {n} (id int PRIMARY KEY, v text) PARTITION BY RANGE (id);"
             f"CREATE TABLE {n}1 PARTITION OF {n} FOR VALUES FROM (0) TO (10)")
        pair[0].execute(
            f"CREATE TABLE {n}2 PARTITION OF {n} FOR VALUES FROM (10) TO (20) PARTITION BY RANGE (id);"
            f"CREATE TABLE {n}2a PARTITION OF {n}2 FOR VALUES FROM (10) TO (20);"
            f"INSERT INTO {n} SELECT i, 'x' FROM generate_series(1, 19) AS i")
        pair[1].execute(f"CREATE TABLE {n}d PARTITION OF {n} DEFAULT")


FILL = "INSERT INTO {0}n VALUES (20, 'n');"
ATTACH = "ALTER TABLE {0} ATTACH PARTITION {0}n FOR VALUES FROM (20) TO (30);"
LIKE = "CREATE TABLE {0}n (LIKE {0} INCLUDING ALL)"

# by root: what one transaction does, and the leaves it attaches with rows
FILLED = {
    "a": (LIKE + ";" + FILL + ATTACH, ["an"]),
    "b": (LIKE + "; SAVEPOINT s;" + FILL + "RELEASE s;" + ATTACH, ["bn"]),
    "c": (LIKE + ";" + ATTACH + "ALTER TABLE {0} DETACH PARTITION {0}n;" + FILL + ATTACH, ["cn"]),
    "d": (LIKE + " PARTITION BY RANGE (id);"
          "CREATE TABLE {0}na PARTITION OF {0}n FOR VALUES FROM (20) TO (25);"
          "CREATE TABLE {0}nb PARTITION OF {0}n FOR VALUES FROM (25) TO (30);" + FILL + ATTACH, ["dna"]),
    "e": (LIKE + "; WITH d AS (DELETE FROM {0}1 WHERE id >= 5 RETURNING *)"
          " INSERT INTO {0}n SELECT * FROM d; ALTER TABLE {0} DETACH PARTITION {0}1;"
          "ALTER TABLE {0} ATTACH PARTITION {0}1 FOR VALUES FROM (0) TO (5);"
          "ALTER TABLE {0} ATTACH PARTITION {0}n FOR VALUES FROM (5) TO (10);", ["e1", "en"]),
}


def test_filled_and_attached_in_one_transaction(pair):
    """The stream had nothing of the rows when they were written, whoever created the table."""
    src, dst = pair
    trees(pair, *FILLED)
    st = make_stream(src, dst, include_tables=list(FILLED))
    st.stop()
    for root, (change, _) in FILLED.items():
        src.execute("BEGIN;" + change.format(root) + "COMMIT")
        src.execute(f"INSERT INTO {root} VALUES (0, 'after')")
    for root, (_, leaves) in FILLED.items():
        st.start()                  # takes the refusal before it as done
        reason = st.wait_refused("PARTITION-CHANGE-UNSENT")["reason"]
        assert f'rows of "public.{root}" changed' in reason
        assert reason.count("[") == len(leaves), reason
        for leaf in leaves:
            assert f"[partition-attached] public.{leaf} (oid" in reason
    for root in "abcd":
        dst.execute(f"INSERT INTO {root} VALUES (20, 'n')")
    dst.execute("DELETE FROM e WHERE id >= 5 AND id < 10;"
                "INSERT INTO e SELECT i, 'x' FROM generate_series(5, 9) AS i")
    st.start()
    caught_up_same(st, *FILLED)


def test_new_partitions_that_lose_nothing(pair):
    """Made as one and filled at once, or attached empty, by whatever transaction."""
    src, dst = pair
    trees(pair, "p")
    st = make_stream(src, dst, include_tables=["p"])
    st.stop()
    src.execute("BEGIN; CREATE TABLE n2 PARTITION OF p FOR VALUES FROM (20) TO (30);"
                "INSERT INTO n2 VALUES (20, 'n'); INSERT INTO p VALUES (21, 'n'); COMMIT")
    src.execute("BEGIN; CREATE TABLE n3 (LIKE p INCLUDING ALL);"
                "ALTER TABLE p ATTACH PARTITION n3 FOR VALUES FROM (30) TO (40);"
                "INSERT INTO p VALUES (30, 'n'); SAVEPOINT s; INSERT INTO n3 VALUES (31, 'n'); COMMIT")
    src.execute("INSERT INTO p VALUES (32, 'n')")
    src.execute("CREATE TABLE n4 (LIKE p INCLUDING ALL)")
    src.execute("ALTER TABLE p ATTACH PARTITION n4 FOR VALUES FROM (40) TO (50)")
    src.execute("BEGIN; CREATE TABLE n5 (LIKE p INCLUDING ALL) PARTITION BY RANGE (id);"
                "CREATE TABLE n5a PARTITION OF n5 FOR VALUES FROM (50) TO (55);"
                "ALTER TABLE p ATTACH PARTITION n5 FOR VALUES FROM (50) TO (60); COMMIT")
    src.execute("INSERT INTO p VALUES (50, 'n')")
    src.execute("ALTER TABLE p ALTER v SET STATISTICS 10, ALTER id SET STATISTICS 10")
    st.start()
    caught_up_same(st, "p")
    st.stop()
    src.execute("CREATE TABLE n5b PARTITION OF n5 FOR VALUES FROM (55) TO (60)")
    src.execute("INSERT INTO p VALUES (41, 'n'), (56, 'n')")
    st.start()
    caught_up_same(st, "p")
    assert events(dst, "p") == []


def test_foreign_partition(pair):
    """Its rows are never in the stream, whatever the identity is worth."""
    src, dst = pair
    src.execute("""CREATE FOREIGN DATA WRAPPER nothing; CREATE SERVER nothing FOREIGN DATA WRAPPER nothing;
        CREATE TABLE p (id int) PARTITION BY RANGE (id);
        CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10)""")
    st = cold_stream(src, dst, options={"insert_only": ["p"]})
    st.stop()
    src.execute("CREATE FOREIGN TABLE p2 PARTITION OF p FOR VALUES FROM (10) TO (20) SERVER nothing")
    for _ in range(2):
        st.start()
        row = st.wait_refused("PARTITION-CHANGE-UNSENT")
        assert "[foreign] public.p2 (oid" in row["reason"], row
        assert "ALTER TABLE public.p DETACH PARTITION public.p2;" in row["hint"], row
    src.execute("ALTER TABLE p DETACH PARTITION p2; INSERT INTO p VALUES (1)")
    st.start()
    caught_up_same(st, "p")


def test_unlogged_partitions(pair):
    """Refused while there is one, and once more for what changed meanwhile."""
    src, dst = pair
    trees(pair, "p", "q")
    st = make_stream(src, dst, include_tables=["p", "q"])
    st.stop()
    src.execute("CREATE UNLOGGED TABLE pn PARTITION OF p FOR VALUES FROM (20) TO (30);"
                "INSERT INTO p VALUES (20, 'u')")
    src.execute("ALTER TABLE p1 SET UNLOGGED")
    src.execute("DELETE FROM p WHERE id = 1")
    src.execute("ALTER TABLE q1 SET UNLOGGED")
    src.execute("DELETE FROM q WHERE id = 1")
    src.execute("ALTER TABLE q1 SET LOGGED")
    for _ in range(2):              # it is not taken as done
        st.start()
        row = st.wait_refused("PARTITION-CHANGE-UNSENT")
        for leaf in ("p1", "pn"):
            assert f"[unlogged] public.{leaf} (oid" in row["reason"]
            assert f"ALTER TABLE public.{leaf} SET LOGGED;" in row["hint"]
    src.execute("ALTER TABLE p1 SET LOGGED")
    src.execute("ALTER TABLE pn SET LOGGED")
    for leaves in (["p1", "pn"], ["q1"]):
        st.start()
        reason = st.wait_refused("PARTITION-CHANGE-UNSENT")["reason"]
        assert reason.count("[partition-rewritten]") == len(leaves), reason
        assert all(f"[partition-rewritten] public.{leaf} (oid" in reason for leaf in leaves)
    dst.execute("DELETE FROM p WHERE id = 1; DELETE FROM q WHERE id = 1; INSERT INTO p VALUES (20, 'u')")
    src.execute("VACUUM FULL p2a")
    src.execute("CLUSTER q2a USING q2a_pkey")
    st.start()
    caught_up_same(st, "p", "q")
    assert events(dst, "p")[-1] == events(dst, "q")[-1] == ("warned", None)
