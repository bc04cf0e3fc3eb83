"""The cold start: what it builds and copies, how it resumes, how it ends."""
import threading

import psycopg2
import pytest

from lib import assert_same_rows, make_stream, wait_until

SHOP = """
CREATE TABLE parent (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, t text NOT NULL);
CREATE TABLE child (id serial PRIMARY KEY, parent bigint REFERENCES parent, u text UNIQUE);
CREATE TABLE keyless (a int, b text);
ALTER TABLE keyless REPLICA IDENTITY FULL;
INSERT INTO parent (t) SELECT 't' || i FROM generate_series(1, 500) AS i;
INSERT INTO child (parent, u) SELECT i, 'u' || i FROM generate_series(1, 500) AS i;
INSERT INTO keyless SELECT i % 10, 'k' FROM generate_series(1, 100) AS i;
"""
TABLES = ["parent", "child", "keyless"]


@pytest.fixture
def empty(source, target):
    """A source with tables, and a target without any."""
    src = source.fresh_db("cold")
    dst = target.fresh_db("cold", extension=True)
    src.execute(SHOP)
    yield src, dst
    for row in dst.rows("SELECT stream_id FROM sluice.health"):
        dst.execute("SELECT sluice.sync_stop(%s, true)", row["stream_id"])
        dst.execute("SELECT sluice.sync_drop(%s)", row["stream_id"])
    dst.destroy()
    src.destroy()


def left_on_source(src):
    return src.query("SELECT slot_name::text FROM pg_replication_slots"
                     " WHERE database = current_database()"
                     " UNION ALL SELECT pubname::text FROM pg_publication")


def hold(dst):
    """A connection that keeps a copy waiting, once it has its snapshot."""
    conn = dst.connect(autocommit=False)
    conn.cursor().execute("LOCK TABLE sluice.copy_task IN SHARE MODE")
    return conn


def hold_after(dst, statement, *params):
    """Run what begins a copy, and keep that copy waiting as hold() does: the lock is
    asked for before the statement commits, so that nothing comes between."""
    first, conn = dst.connect(autocommit=False), dst.connect(autocommit=False)
    first.cursor().execute(statement, params)
    locks = threading.Thread(
        target=lambda: conn.cursor().execute("LOCK TABLE sluice.copy_task IN SHARE MODE"))
    locks.start()
    held(dst)
    first.commit()
    locks.join()
    first.close()
    return conn


def held(dst):
    """The copy has its snapshot and copies nothing yet."""
    wait_until(lambda: dst.value(
        "SELECT count(*) FROM pg_locks WHERE NOT granted"
        " AND relation = 'sluice.copy_task'::regclass"), 60, "the copy does not begin")


def states(dst):
    return dict(dst.query("SELECT table_name, state FROM sluice.tables"))


def keys(db):
    return db.query("SELECT conname::text, convalidated FROM pg_constraint WHERE contype"
                    " IN ('p', 'f', 'u') AND connamespace = 'public'::regnamespace ORDER BY 1")


# Copied after all others; refused until the target's constraint is dropped.
LAST = "CREATE TABLE zlast (a int PRIMARY KEY); INSERT INTO zlast VALUES (1)"


def interrupted(src, dst, **args):
    """A copy that ended at its last table; all others are copied."""
    src.execute(LAST)
    dst.execute("CREATE TABLE zlast (a int PRIMARY KEY CONSTRAINT no CHECK (a <> 1))")
    # by one process, so that the order is always the same
    args.setdefault("options", {})["copy_workers"] = 0
    stream = make_stream(src, dst, wait=None, **args)
    stream.wait_refused("TARGET-CONSTRAINT-VIOLATED")
    assert states(dst)["child"] == "established", states(dst)
    dst.execute("ALTER TABLE zlast DROP CONSTRAINT no")
    return stream


@pytest.mark.quick
def test_from_empty_target(empty):
    src, dst = empty
    stream = make_stream(src, dst)
    src.execute("INSERT INTO child (parent, u) VALUES (1, 'late')")
    stream.caught_up()
    assert_same_rows(src, dst, TABLES)
    assert keys(src) == keys(dst)
    assert dst.query("SELECT phase, round FROM sluice.copy_run") == [("done", 1)]


def test_without_following(empty):
    src, dst = empty
    stream = make_stream(src, dst, options={"follow": False}, wait="stopped")
    assert_same_rows(src, dst, TABLES)
    assert keys(src) == keys(dst)
    assert left_on_source(src) == []
    stream.start()              # there is nothing left to do
    stream.wait("stopped")
    assert left_on_source(src) == []


@pytest.mark.quick
def test_migrate(empty):
    src, dst = empty
    stream = make_stream(src, dst, start=False)
    dst.execute("CALL sluice.migrate(%s)", stream.server)
    assert_same_rows(src, dst, TABLES)
    assert left_on_source(src) == []
    assert dst.query("SELECT stream_id, state FROM sluice.health") == \
        [("migrate_" + stream.server, "stopped")]
    assert "has copied everything already" in dst.notices("CALL sluice.migrate(%s)", stream.server)
    error = dst.error("CALL sluice.migrate(%s, options => '{\"follow\": true}',"
                      " restart_from_scratch => true)", stream.server)
    assert error.pgcode == "22023"


def test_migrate_raises_what_the_stream_raised(empty):
    src, dst = empty
    stream = make_stream(src, dst, start=False)
    dst.execute("CREATE TABLE keyless (a int, b text CHECK (b <> 'k'))")
    error = dst.error("CALL sluice.migrate(%s)", stream.server)
    assert "TARGET-CONSTRAINT-VIOLATED" in str(error)
    dst.execute("ALTER TABLE keyless DROP CONSTRAINT keyless_b_check")
    dst.execute("CALL sluice.migrate(%s)", stream.server)
    assert_same_rows(src, dst, TABLES)


@pytest.mark.quick
def test_resume_keeps_finished_tables(empty):
    """What is established stays; the rest has a later snapshot of its own."""
    src, dst = empty
    stream = interrupted(src, dst)
    before = dst.query("SELECT xmin, ctid FROM child")
    src.execute("INSERT INTO parent (t) VALUES ('new'); INSERT INTO child (parent, u)"
                " VALUES (501, 'new'); UPDATE keyless SET b = 'x'")
    stream.start(source=False)
    stream.wait("streaming")
    stream.caught_up()
    assert_same_rows(src, dst, TABLES)
    assert set(before) <= set(dst.query("SELECT xmin, ctid FROM child"))
    assert dst.value("SELECT count(DISTINCT snapshot_lsn) FROM sluice.stream_table") == 2
    wait_until(lambda: dst.value("SELECT phase FROM sluice.copy_run") == "done", 60,
               lambda: "%r" % dst.query("SELECT * FROM sluice.schema_object"))
    assert keys(src) == keys(dst)


def test_drop_of_an_unfinished_copy_says_so(empty):
    """What was built stays without keys, and a later stream takes it as it is."""
    src, dst = empty
    stream = interrupted(src, dst)
    said = dst.notices("SELECT sluice.sync_drop('s1')")
    assert "WARNING" in said and "was not complete" in said, said
    assert left_on_source(src) == []
    stream = make_stream(src, dst, "s2", options={"existing_rows": "truncate"})
    stream.stop()
    assert "not complete" not in dst.notices("SELECT sluice.sync_drop('s2')")


def test_resume_without_following(empty):
    """Ends once the last snapshot is passed and the foreign key is built."""
    src, dst = empty
    stream = interrupted(src, dst, options={"follow": False})
    src.execute("INSERT INTO parent (t) VALUES ('new'); INSERT INTO child (parent, u)"
                " VALUES (501, 'new')")
    stream.start(source=False)
    stream.wait("stopped")
    assert_same_rows(src, dst, TABLES)
    assert keys(src) == keys(dst)
    assert left_on_source(src) == []


def test_resume_sees_what_changed_meanwhile(empty):
    """Tables created again, altered, new and dropped between two rounds."""
    src, dst = empty
    src.execute("CREATE TABLE going (id int PRIMARY KEY);"
                " CREATE TABLE zmore (id int PRIMARY KEY, v text)")
    stream = interrupted(src, dst)
    assert states(dst)["zmore"] == "copying"
    src.execute("""
        ALTER TABLE zmore DROP COLUMN v, ADD COLUMN more int DEFAULT 7;
        INSERT INTO zmore VALUES (1);
        DROP TABLE keyless;
        CREATE TABLE keyless (a int, b text, c int);
        ALTER TABLE keyless REPLICA IDENTITY FULL;
        INSERT INTO keyless VALUES (1, 'again', 1);
        CREATE TABLE coming (id int PRIMARY KEY);
        INSERT INTO coming VALUES (1);
        INSERT INTO going VALUES (1);
        DROP TABLE going""")
    stream.start(source=False)
    stream.wait("streaming")
    src.execute("INSERT INTO keyless VALUES (2, 'more', 2); INSERT INTO coming VALUES (2)")
    stream.caught_up()
    assert_same_rows(src, dst, TABLES + ["coming", "zmore", "zlast"])
    assert dst.value("SELECT to_regclass('going')") is None
    assert states(dst)["going"] == "dropped"


def test_table_that_is_emptied_under_the_copy(empty):
    src, dst = empty
    conn = hold(dst)
    stream = make_stream(src, dst, wait=None)
    held(dst)
    src.execute("TRUNCATE keyless; INSERT INTO keyless VALUES (1, 'new')")
    conn.close()
    stream.wait("streaming")
    stream.caught_up()
    assert_same_rows(src, dst, TABLES)
    assert dst.value("SELECT round FROM sluice.copy_run") > 1


def test_slot_that_is_gone_refuses(empty):
    src, dst = empty
    stream = interrupted(src, dst)
    src.execute("SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots"
                " WHERE database = current_database()")
    stream.start(source=False)
    row = stream.wait_refused("COLD-START-INCOMPLETE")
    assert "restart_from_scratch" in row["hint"]
    again(stream, "restart_from_scratch")
    stream.wait("streaming")
    stream.caught_up()
    assert_same_rows(src, dst, TABLES)


def asked(stream, argument):
    """What is answered without a confirmation, and the one it asks for."""
    with pytest.raises(psycopg2.Error) as e:
        stream.start(source=False, **{argument: True})
    assert e.value.pgcode == "SL007" and "CONFIRMATION-REQUIRED" in str(e.value)
    return e.value, e.value.diag.message_hint.split("confirm => '")[1].split("'")[0]


def again(stream, argument):
    """Ask, then confirm; returns the first answer."""
    answer, confirm = asked(stream, argument)
    stream.start(source=False, confirm=confirm, **{argument: True})
    return answer


def test_restart_from_scratch(empty):
    src, dst = empty
    stream = make_stream(src, dst)
    stream.caught_up()
    with pytest.raises(psycopg2.Error, match="is running"):
        stream.start(source=False, restart_from_scratch=True)
    stream.stop()
    dst.execute("UPDATE child SET u = 'wrong ' || u; DELETE FROM keyless;"
                " CREATE VIEW seen AS SELECT * FROM child")
    with pytest.raises(psycopg2.Error) as e:
        stream.start(source=False, restart_from_scratch=True, confirm="000000000000")
    assert e.value.pgcode == "SL007"
    first = again(stream, "restart_from_scratch")
    assert "[table] public.child, " in first.diag.message_detail
    assert "view public.seen depends on public.child" in first.diag.message_detail
    stream.wait("streaming")
    src.execute("INSERT INTO keyless VALUES (99, 'after')")
    stream.caught_up()
    assert_same_rows(src, dst, TABLES)
    assert keys(src) == keys(dst)
    assert dst.value("SELECT count(*) FROM seen") == 500


def test_fingerprint_goes_out_of_date(empty):
    src, dst = empty
    stream = make_stream(src, dst)
    stream.stop()
    with pytest.raises(psycopg2.Error) as e:
        stream.start(source=False, restart_from_scratch=True)
    confirm = e.value.diag.message_hint.split("confirm => '")[1].split("'")[0]
    dst.execute("CREATE VIEW seen AS SELECT * FROM child")
    with pytest.raises(psycopg2.Error) as e:
        stream.start(source=False, restart_from_scratch=True, confirm=confirm)
    assert e.value.pgcode == "SL007" and "no longer" in str(e.value)
    assert stream.state == "stopped"


def test_dependents_are_named_and_kept(empty):
    src, dst = empty
    stream = make_stream(src, dst)
    stream.stop()
    dst.execute("CREATE TABLE mine (id int REFERENCES child);"
                " CREATE VIEW seen AS SELECT * FROM parent")
    with pytest.raises(psycopg2.Error) as e:
        stream.start(source=False, restart_from_scratch=True)
    assert e.value.pgcode == "2BP01" and "mine_id_fkey" in e.value.diag.message_detail
    with pytest.raises(psycopg2.Error) as e:
        stream.start(source=False, reset_target_data=True)
    assert e.value.pgcode == "2BP01"
    assert "view public.seen" in e.value.diag.message_detail
    assert "mine_id_fkey" in e.value.diag.message_detail


def test_reset_target_data(empty):
    src, dst = empty
    stream = make_stream(src, dst)
    stream.caught_up()
    stream.stop()
    dst.execute("ALTER TABLE child ADD COLUMN own int")
    was = dst.value("SELECT 'child'::regclass::oid")
    again(stream, "reset_target_data")
    stream.wait("streaming")
    stream.caught_up()
    assert_same_rows(src, dst, TABLES)
    assert dst.value("SELECT 'child'::regclass::oid") != was
    assert keys(src) == keys(dst)


def test_adopted_rows_are_the_copy(empty):
    """Rows that are there are taken; an empty table is copied all the same."""
    src, dst = empty
    dst.execute("CREATE TABLE child (id int PRIMARY KEY, parent bigint, u text);"
                " CREATE TABLE keyless (a int, b text)")
    dst.execute("INSERT INTO child SELECT i, i, 'u' || i FROM generate_series(1, 500) AS i")
    stream = make_stream(src, dst, options={"existing_rows": "adopt"})
    src.execute("UPDATE child SET u = 'changed' WHERE id = 7")
    stream.caught_up()
    assert_same_rows(src, dst, TABLES)
    assert dst.value("SELECT rows_copied FROM sluice.tables WHERE table_name = 'child'") == 0


def test_old_rows_stay_until_the_new_copy_commits(empty):
    """A table of the stream's own keeps its rows while it is copied again."""
    src, dst = empty
    stream = make_stream(src, dst)
    stream.caught_up()
    stream.stop()
    conn = hold_after(dst, "SELECT sluice.sync_start(%s, restart_from_scratch => true, confirm => %s)",
                      stream.id, asked(stream, "restart_from_scratch")[1])
    held(dst)
    assert dst.value("SELECT count(*) FROM keyless") == 100
    conn.close()
    stream.wait("streaming")
    stream.caught_up()
    assert_same_rows(src, dst, TABLES)
