"""Applying to the target: row identity, unchanged values, local writers.

Each test is a case of the field: what failed there, and what must happen here.
The finer grain is in the SQL suites 30 to 39, through sluice.feed().
"""
import threading

import psycopg2
import pytest

from lib import both, caught_up_same as same, conflicts, follow, make_stream, wait_until

TO1 = ("CREATE TABLE to1 (id int PRIMARY KEY, v int, doc text, j jsonb);"
       " ALTER TABLE to1 ALTER doc SET STORAGE EXTERNAL")
PK1 = "CREATE TABLE pk1 (id int PRIMARY KEY, v text)"


# ---------- unchanged values out of line ----------

def test_unchanged_toast(pair):
    """PR-01, PR-02, PR-05, PR-08: kept, whatever the texts say."""
    src, dst = pair
    st = follow(src, dst, TO1)
    src.execute("INSERT INTO to1 SELECT i, 1, repeat('x', 50000),"
                " jsonb_build_object('k', (SELECT string_agg(md5(n::text), '')"
                " FROM generate_series(1, 2000) n)) FROM generate_series(1, 4) i")
    st.caught_up()
    src.execute("UPDATE to1 SET v = 2 WHERE id = 1")
    src.execute("UPDATE to1 SET v = 3 WHERE id = 1;"
                " INSERT INTO to1 VALUES (5, 1, 'unchanged-toast-datum'),"
                " (6, 1, '__debezium_unavailable_value')")
    src.execute("UPDATE to1 SET v = 5; UPDATE to1 SET id = 104 WHERE id = 4;"
                " UPDATE to1 SET doc = NULL WHERE id = 2;"
                " UPDATE to1 SET id = 103, doc = repeat('y', 60000) WHERE id = 3")
    same(st, "to1")
    assert dst.value("SELECT length(doc) FROM to1 WHERE id = 104") == 50000
    assert not st.conflicts()


def test_unchanged_arrays_and_bytes(pair):
    """PR-04: every type that can be out of line."""
    src, dst = pair
    st = follow(src, dst,
                "CREATE TABLE to2 (id int PRIMARY KEY, v int, a int[], t text[],"
                " b bytea, j jsonb, h numeric[])",
                "ALTER TABLE to2 ALTER a SET STORAGE EXTERNAL, ALTER t SET STORAGE"
                " EXTERNAL, ALTER b SET STORAGE EXTERNAL, ALTER j SET STORAGE"
                " EXTERNAL, ALTER h SET STORAGE EXTERNAL")
    src.execute("INSERT INTO to2 SELECT 1, 1, array_agg(i), array_agg(i::text),"
                " convert_to(repeat('z', 9000), 'UTF8'), jsonb_agg(i),"
                " array_agg(i::numeric) FROM generate_series(1, 5000) i")
    src.execute("UPDATE to2 SET v = 2")
    src.execute("UPDATE to2 SET id = 7")
    same(st, "to2")


def test_unchanged_toast_of_a_missing_row(pair):
    src, dst = pair
    st = follow(src, dst, TO1)
    src.execute("INSERT INTO to1 VALUES (1, 1, repeat('x', 50000))")
    st.caught_up()
    dst.execute("DELETE FROM to1")
    src.execute("UPDATE to1 SET v = 2")
    st.caught_up()
    assert conflicts(st) == {("to1", "update_missing_toast"): 1}
    assert dst.value("SELECT count(*) FROM to1") == 0


# ---------- identities ----------

def test_primary_keys_change(pair):
    """PR-07: no row stays under its old key."""
    src, dst = pair
    st = follow(src, dst, PK1)
    src.execute("INSERT INTO pk1 SELECT i, 'v' || i FROM generate_series(1, 50) i")
    src.execute("UPDATE pk1 SET id = id + 100")
    # one by one, so that none meets another on the way
    src.execute("UPDATE pk1 SET id = id + 1 WHERE id = 150;"
                " UPDATE pk1 SET id = 150 WHERE id = 149")
    same(st, "pk1")


def test_keyless_table_under_full(pair):
    """PR-10: one of equal rows, also when the stream stops in the middle."""
    src, dst = pair
    st = follow(src, dst, "CREATE TABLE nk1 (a int, b text)",
                "ALTER TABLE nk1 REPLICA IDENTITY FULL")
    src.execute("INSERT INTO nk1 VALUES (1, 'x'), (1, 'x'), (1, 'x'), (NULL, NULL)")
    src.execute("DELETE FROM nk1 WHERE ctid IN (SELECT ctid FROM nk1 WHERE a = 1 LIMIT 1)")
    st.caught_up()
    st.stop()
    src.execute("UPDATE nk1 SET b = 'y' WHERE ctid = (SELECT min(ctid) FROM nk1 WHERE a = 1)")
    src.execute("DELETE FROM nk1 WHERE a IS NULL")
    st.start()
    same(st, "nk1")
    assert dst.rows("SELECT b FROM nk1 ORDER BY b") == [{"b": "x"}, {"b": "y"}]
    assert not st.conflicts()


def test_identity_using_index(pair):
    """PR-13: the identity is another index than the primary key."""
    src, dst = pair
    st = follow(src, dst, "CREATE TABLE ui1 (id int PRIMARY KEY, code text NOT NULL, v int)",
                "CREATE UNIQUE INDEX ui1_code ON ui1 (code)",
                "ALTER TABLE ui1 REPLICA IDENTITY USING INDEX ui1_code")
    src.execute("INSERT INTO ui1 VALUES (1, 'a', 1)")
    src.execute("UPDATE ui1 SET id = 2; UPDATE ui1 SET code = 'b'")
    same(st, "ui1")


def test_unique_values_that_move(pair):
    """PR-17, PR-19: in the order of the source, in one transaction or many."""
    src, dst = pair
    st = follow(src, dst, "CREATE TABLE pl1 (id int PRIMARY KEY, u text UNIQUE)",
                "CREATE TABLE fu2 (id int PRIMARY KEY, slot int, active bool)",
                "CREATE UNIQUE INDEX ON fu2 (slot) WHERE active")
    src.execute("INSERT INTO fu2 VALUES (1, 7, true), (2, 7, false)")
    src.execute("BEGIN; UPDATE fu2 SET active = false WHERE id = 1;"
                " UPDATE fu2 SET active = true WHERE id = 2; COMMIT")
    conn = src.connect()
    with conn.cursor() as cur:
        cur.execute("INSERT INTO pl1 VALUES (0, 'x')")
        for i in range(200):
            cur.execute("BEGIN; DELETE FROM pl1 WHERE id = %s;"
                        " INSERT INTO pl1 VALUES (%s, 'x'); COMMIT", (i, i + 1))
        for i in range(200, 260):
            cur.execute("DELETE FROM pl1 WHERE id = %s", (i,))
            cur.execute("INSERT INTO pl1 VALUES (%s, 'x')", (i + 1,))
    conn.close()
    same(st, "pl1", "fu2")


def test_replayed_chain_of_unique_values(make_pg, source):
    """PR-16: the position is in the commit of the rows, so nothing comes twice."""
    target = make_pg("applycrash")
    src = source.fresh_db("chain")
    dst = target.fresh_db("chain", extension=True)
    st = follow(src, dst, "CREATE TABLE ur1 (id int PRIMARY KEY, u text UNIQUE)")
    src.execute("INSERT INTO ur1 VALUES (1, 'a')")
    for _ in range(3):
        src.execute("UPDATE ur1 SET u = 'b' WHERE id = 1; INSERT INTO ur1 VALUES (2, 'a')")
        src.execute("DELETE FROM ur1 WHERE id = 2")
        src.execute("UPDATE ur1 SET u = 'a' WHERE id = 1")
        target.kill9()
        target.start()
        st.wait("streaming")
    same(st, "ur1")
    assert not st.conflicts()


# ---------- rows that are not as they should be ----------

def test_missing_and_extra_rows(pair):
    """PR-14, PA-19: recorded with kind, key and position; the stream goes on."""
    src, dst = pair
    st = follow(src, dst, PK1)
    src.execute("INSERT INTO pk1 SELECT i, 'v' FROM generate_series(1, 20) i")
    st.caught_up()
    dst.execute("DELETE FROM pk1 WHERE id IN (11, 12); UPDATE pk1 SET v = 'local' WHERE id = 1;"
                " INSERT INTO pk1 VALUES (30, 'local')")
    src.execute("DELETE FROM pk1 WHERE id = 11")
    src.execute("UPDATE pk1 SET v = 'c' WHERE id IN (1, 12)")
    src.execute("INSERT INTO pk1 VALUES (30, 'source')")
    st.caught_up()
    assert conflicts(st) == {("pk1", "delete_missing"): 1, ("pk1", "update_missing"): 1,
                             ("pk1", "insert_exists"): 1}
    keys = {r["kind"]: r["last_key"] for r in st.conflicts()}
    assert keys["delete_missing"] == "(id)=(11)"
    assert all(r["last_position"] for r in st.conflicts())
    stat = st.stat()
    assert (stat["update_missing"], stat["delete_missing"], stat["insert_exists"]) == (1, 1, 1)
    assert dst.value("SELECT string_agg(v, ' ' ORDER BY id) FROM pk1"
                     " WHERE id IN (1, 12, 30)") == "c source"
    assert st.state == "streaming"


def test_local_writers_and_locks(pair):
    """PA-14: whoever holds a row is waited for; a deadlock is tried again."""
    src, dst = pair
    st = follow(src, dst, "CREATE TABLE lw (id int PRIMARY KEY, v int, w int DEFAULT 0)")
    src.execute("INSERT INTO lw SELECT i, 0 FROM generate_series(1, 10) i")
    st.caught_up()
    # an uncommitted change, then a committed one, of the row to be changed
    conn = dst.connect(autocommit=False)
    cur = conn.cursor()
    cur.execute("UPDATE lw SET w = 1 WHERE id = 1")
    src.execute("UPDATE lw SET v = 1 WHERE id = 1")
    pid = st.pid()
    wait_until(lambda: dst.value("SELECT count(*) FROM pg_locks WHERE pid = %s"
                                 " AND NOT granted", pid), 20, "the worker waits")
    conn.commit()
    st.caught_up()
    assert dst.value("SELECT v FROM lw WHERE id = 1") == 1
    # deadlock: one of both is cancelled, the stream gets through
    cur.execute("SET deadlock_timeout = '10ms'")
    cur.execute("UPDATE lw SET w = 2 WHERE id = 2")
    src.execute("BEGIN; UPDATE lw SET v = 2 WHERE id = 1; UPDATE lw SET v = 2 WHERE id = 2; COMMIT")
    wait_until(lambda: dst.value("SELECT count(*) FROM pg_locks WHERE NOT granted"
                                 " AND pid <> pg_backend_pid()"), 20, "the worker waits")
    done = []

    def other():
        try:
            cur.execute("UPDATE lw SET w = 2 WHERE id = 1")
        except Exception as e:  # noqa: BLE001
            done.append(e.pgcode)
        conn.rollback()

    t = threading.Thread(target=other)
    t.start()
    t.join(60)
    assert not t.is_alive()
    conn.close()
    same(st, "lw", columns=["id", "v"])


def test_row_deleted_under_our_hands(pair):
    """The holder deletes the row it was waited for: missing, and recorded."""
    src, dst = pair
    st = follow(src, dst, PK1)
    src.execute("INSERT INTO pk1 VALUES (1, 'a'), (2, 'b')")
    st.caught_up()
    conn = dst.connect(autocommit=False)
    cur = conn.cursor()
    cur.execute("DELETE FROM pk1 WHERE id = 1")
    src.execute("UPDATE pk1 SET v = 'c' WHERE id = 1")
    pid = st.pid()
    wait_until(lambda: dst.value("SELECT count(*) FROM pg_locks WHERE pid = %s"
                                 " AND NOT granted", pid), 20, "the worker waits")
    conn.commit()
    conn.close()
    st.caught_up()
    assert conflicts(st) == {("pk1", "update_missing"): 1}


# ---------- what the target is ----------

TG1 = "CREATE TABLE tg1 (id int PRIMARY KEY, n int DEFAULT 0)"
TRIGGER = ("CREATE TABLE tg1_audit (id int);"
           " CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN"
           " INSERT INTO public.tg1_audit VALUES (NEW.id); NEW.n := NEW.n + 1;"
           " RETURN NEW; END$$;"
           " CREATE TRIGGER t BEFORE INSERT OR UPDATE ON tg1 FOR EACH ROW EXECUTE FUNCTION f()")


def test_ordinary_triggers_do_not_fire(pair):
    """PA-01: neither in the copy nor in the stream nor after a restart."""
    src, dst = pair
    both(src, dst, TG1)
    dst.execute(TRIGGER)
    src.execute("INSERT INTO tg1 SELECT i, i FROM generate_series(1, 2000) i")
    st = make_stream(src, dst, include_tables=["tg1"])
    src.execute("UPDATE tg1 SET n = n + 1 WHERE id <= 500")
    st.caught_up()
    st.stop()
    src.execute("INSERT INTO tg1 VALUES (3000, 1)")
    st.start()
    same(st, "tg1")
    assert dst.value("SELECT count(*) FROM tg1_audit") == 0


def test_always_trigger_refuses(pair):
    """PA-02: at the start, and when it is enabled while the stream runs."""
    src, dst = pair
    both(src, dst, TG1)
    dst.execute(TRIGGER)
    st = make_stream(src, dst, include_tables=["tg1"])
    src.execute("INSERT INTO tg1 VALUES (1, 5)")
    st.caught_up()
    dst.execute("ALTER TABLE tg1 ENABLE ALWAYS TRIGGER t")
    src.execute("INSERT INTO tg1 VALUES (2, 5)")
    row = st.wait_refused("TARGET-TRIGGER")
    assert "trigger t" in row["reason"]
    # not cured: the start refuses, or the row does again
    count = st.refusals()[0]["count"]
    try:
        st.start()
        wait_until(lambda: st.refusals()[0]["count"] > count, 30, "it refuses again")
    except psycopg2.Error as e:
        assert "trigger" in str(e)
    dst.execute("ALTER TABLE tg1 DISABLE TRIGGER t")
    st.start()
    same(st, "tg1")


def test_right_revoked(pair):
    """PA-04: the refusal names the table; granted again, the row arrives."""
    src, dst = pair
    st = follow(src, dst, PK1)
    dst.execute("REVOKE INSERT ON pk1 FROM CURRENT_USER")
    owner = dst.value("SELECT relowner::regrole::text FROM pg_class WHERE oid = 'pk1'::regclass")
    assert owner
    # a superuser needs no right: give the table to somebody who does
    dst.execute("CREATE ROLE applier_%s" % dst.name)
    dst.execute("GRANT USAGE ON SCHEMA public TO applier_%s" % dst.name)
    dst.execute("ALTER TABLE pk1 OWNER TO applier_%s" % dst.name)
    dst.execute("REVOKE INSERT ON pk1 FROM applier_%s" % dst.name)
    src.execute("INSERT INTO pk1 VALUES (90, 'x')")
    row = st.wait_refused("TARGET-PERMISSION")
    assert "pk1" in row["reason"]
    dst.execute("GRANT INSERT ON pk1 TO applier_%s" % dst.name)
    st.start()
    same(st, "pk1")
    st.stop()
    st.drop()
    dst.execute("DROP OWNED BY applier_%s; DROP ROLE applier_%s" % (dst.name, dst.name))


def test_target_schema_renamed(pair):
    """PA-05: rows do not follow the relation into another schema."""
    src, dst = pair
    src.execute(PK1)
    dst.execute("CREATE SCHEMA app_copy; CREATE TABLE app_copy.pk1 (id int PRIMARY KEY, v text)")
    st = make_stream(src, dst, target_schema="app_copy")
    src.execute("INSERT INTO pk1 VALUES (1, 'x')")
    st.caught_up()
    dst.execute("ALTER SCHEMA app_copy RENAME TO app_old")
    src.execute("INSERT INTO pk1 VALUES (91, 'x')")
    row = st.wait_refused("TARGET-TABLE-MISSING")
    assert "app_copy" in row["reason"]
    assert dst.value("SELECT count(*) FROM app_old.pk1") == 1
    dst.execute("ALTER SCHEMA app_old RENAME TO app_copy")
    st.start()
    st.caught_up()
    assert dst.value("SELECT count(*) FROM app_copy.pk1") == 2


@pytest.mark.parametrize("ddl", [
    "CREATE RULE r AS ON INSERT TO pk1 DO INSTEAD NOTHING",
    "ALTER TABLE pk1 SET UNLOGGED",
])
def test_kind_of_target(pair, ddl):
    """PA-16: what would swallow rows is refused while the stream runs."""
    src, dst = pair
    st = follow(src, dst, PK1)
    src.execute("INSERT INTO pk1 VALUES (1, 'x')")
    st.caught_up()
    dst.execute(ddl)
    src.execute("INSERT INTO pk1 VALUES (93, 'x')")
    row = st.wait_refused("TARGET-KIND-UNSUPPORTED")
    assert "pk1" in row["reason"]


def test_owner_code_has_owner_rights_only(pair):
    """PX-01: a trigger of the table's owner cannot climb."""
    src, dst = pair
    mallory = "mallory_%s" % dst.name
    both(src, dst, "CREATE TABLE sl1 (id int PRIMARY KEY)")
    dst.execute("CREATE ROLE {0}; GRANT USAGE, CREATE ON SCHEMA public TO {0};"
                " ALTER TABLE sl1 OWNER TO {0}; SET ROLE {0};"
                " CREATE FUNCTION evil() RETURNS trigger LANGUAGE plpgsql AS"
                " $$BEGIN EXECUTE 'ALTER ROLE {0} SUPERUSER'; RETURN NEW; END$$;"
                " CREATE TRIGGER z BEFORE INSERT ON sl1 FOR EACH ROW EXECUTE FUNCTION evil();"
                " ALTER TABLE sl1 ENABLE ALWAYS TRIGGER z; RESET ROLE".format(mallory))
    st = make_stream(src, dst, options={"accept_triggers": ["public.sl1.z"]})
    src.execute("INSERT INTO sl1 VALUES (94)")
    row = st.wait_refused("TARGET-PERMISSION")
    assert "z" in row["reason"] and "sl1" in row["reason"]
    assert not dst.value("SELECT rolsuper FROM pg_roles WHERE rolname = %s", mallory)
    assert dst.value("SELECT count(*) FROM sl1") == 0
    st.stop()
    st.drop()
    dst.execute("DROP OWNED BY {0}; DROP ROLE {0}".format(mallory))
