"""Refusals of a running stream: loud, at the boundary, nothing applied past
it; with the cause gone, sync_start resumes."""
import psycopg2
import pytest

from lib import PgServer, make_stream, wait_until
from lib.rounds import FAST, arm, check_confirmed, check_equal, died_at, refused_start

TABLES = """
CREATE TABLE sl1 (id int PRIMARY KEY, v text);
CREATE TABLE other (id int PRIMARY KEY, v text);
"""


@pytest.fixture(scope="module")
def servers():
    source = PgServer("refuse-source", preload="").start()
    target = PgServer("refuse-target", conf=FAST).start()
    yield source, target
    target.destroy()
    source.destroy()


@pytest.fixture
def dbs(servers):
    src = servers[0].fresh_db("refuse")
    dst = servers[1].fresh_db("refuse", extension=True)
    for db in (src, dst):
        db.execute(TABLES)
    src.execute("INSERT INTO sl1 SELECT i, 'copied' FROM generate_series(1, 20) AS i")
    yield src, dst
    dst.destroy()
    src.destroy()


@pytest.fixture
def stream(dbs):
    stream = make_stream(*dbs, schema_changes="refuse")
    stream.caught_up()
    return stream


def loud(stream, marker, table=None):
    """The refusal is in health, in refusals and raised by who waits."""
    row = stream.wait_refused(marker)
    assert not row["healthy"] and row["reason"].startswith(marker + ":"), row
    assert row["hint"] and row["fingerprint"], row
    kept = stream.refusals()[-1]
    assert kept["marker"] == marker and kept["fingerprint"] == row["fingerprint"]
    if table:
        assert kept["table_name"] == table, kept
    with pytest.raises(psycopg2.Error, match="^%s:" % marker) as e:
        stream.wait("caught_up", "10 s")
    assert e.value.pgcode.startswith("SL")
    check_confirmed(stream)
    return row


CHANGES = [
    # source, the same on the target, marker, what the reason names
    ("ALTER TABLE sl1 ADD extra int", None, "SCHEMA-CHANGE-REFUSED", "extra"),
    ("ALTER TABLE sl1 DROP v", None, "SCHEMA-CHANGE-REFUSED", "v"),
    ("ALTER TABLE sl1 RENAME v TO w", None, "SCHEMA-CHANGE-REFUSED", "w"),
    ("ALTER TABLE sl1 ALTER v TYPE varchar(30)", None, "SCHEMA-CHANGE-REFUSED", "v"),
    ("ALTER TABLE sl1 DROP v, ADD v text", None, "COLUMN-IDENTITY-CHANGED", "v"),
    # … and the row that shows it is the same transaction's
    ("ALTER TABLE sl1 DROP v, ADD v text; INSERT INTO sl1 (id) VALUES (102)",
     "ALTER TABLE sl1 DROP v, ADD v text", "COLUMN-IDENTITY-CHANGED", "v"),
]


@pytest.mark.parametrize("change,same,marker,named", CHANGES)
def test_schema_change_stops_and_resumes(stream, change, same, marker, named):
    """The boundary holds; the same change on the target lets it go on."""
    src, dst = stream.src, stream.dst
    src.execute("INSERT INTO sl1 VALUES (100, 'before')")
    src.execute(change)
    src.execute("INSERT INTO sl1 (id) VALUES (101)")
    src.execute("INSERT INTO other VALUES (1, 'after')")
    row = loud(stream, marker, "sl1")
    assert "sl1" in row["reason"] and named in row["reason"], row["reason"]
    assert dst.value("SELECT count(*) FROM sl1") == 21
    assert dst.value("SELECT count(*) FROM other") == 0
    again = refused_start(stream, marker, "PREFLIGHT-FAILED")
    assert "sl1" in again[1]
    assert dst.value("SELECT count(*) FROM sl1") == 21
    dst.execute(same or change)
    if marker == "COLUMN-IDENTITY-CHANGED":
        src.execute("UPDATE sl1 SET v = 'set again'")
        dst.execute("UPDATE sl1 SET v = NULL")
    stream.start()
    check_equal(stream, ["sl1", "other"])
    assert stream.health()["healthy"], stream.health()


def test_target_changed_first(stream):
    """The change is on the target already: nothing to refuse."""
    stream.dst.execute("ALTER TABLE sl1 ADD extra int")
    stream.src.execute("INSERT INTO sl1 VALUES (100, 'a')")
    stream.caught_up()
    stream.src.execute("ALTER TABLE sl1 ADD extra int")
    stream.src.execute("INSERT INTO sl1 VALUES (101, 'a', 1)")
    check_equal(stream, ["sl1"])


def test_table_created_again(stream):
    stream.src.execute("DROP TABLE sl1; CREATE TABLE sl1 (id int PRIMARY KEY, v text)")
    stream.src.execute("INSERT INTO sl1 VALUES (1, 'another')")
    stream.stop()
    refused_start(stream, "TABLE-IDENTITY-CHANGED", "PUBLICATION-DRIFT")
    assert stream.dst.value("SELECT count(*) FROM sl1") == 20


def test_table_created_again_and_published(stream):
    """The new one is put into the publication: its rows are not our table's."""
    publication = stream.src.value("SELECT pubname FROM pg_publication")
    stream.src.execute("DROP TABLE sl1; CREATE TABLE sl1 (id int PRIMARY KEY, v text)")
    stream.src.execute("ALTER PUBLICATION \"%s\" ADD TABLE sl1" % publication)
    stream.src.execute("INSERT INTO sl1 VALUES (500, 'another')")
    loud(stream, "TABLE-IDENTITY-CHANGED", "sl1")
    assert stream.dst.value("SELECT count(*) FROM sl1") == 20


def test_table_renamed(stream):
    stream.src.execute("ALTER TABLE sl1 RENAME TO sl2")
    stream.src.execute("INSERT INTO sl2 VALUES (100, 'a')")
    row = stream.wait_state("refused", timeout=60)
    assert row["marker"] in ("SCHEMA-CHANGE-REFUSED", "TABLE-IDENTITY-CHANGED",
                             "PROTOCOL-VIOLATION"), row
    assert "sl2" in row["reason"]
    stream.src.execute("ALTER TABLE sl2 RENAME TO sl1")
    assert stream.dst.value("SELECT count(*) FROM sl1") == 20


def test_publication_drift(stream):
    """A table taken out of the publication: rows would be missed in silence."""
    publication = stream.src.value("SELECT pubname FROM pg_publication")
    stream.src.execute('ALTER PUBLICATION "%s" DROP TABLE sl1' % publication)
    stream.stop()
    marker, text = refused_start(stream, "PUBLICATION-DRIFT")
    assert "sl1" in text
    stream.src.execute('ALTER PUBLICATION "%s" ADD TABLE sl1' % publication)
    stream.start()
    stream.src.execute("INSERT INTO sl1 VALUES (100, 'a')")
    check_equal(stream, ["sl1"])


def test_publication_changed_and_put_back(stream):
    """What it is now does not tell what was not published meanwhile."""
    publication = '"%s"' % stream.src.value("SELECT pubname FROM pg_publication")
    every = f"ALTER PUBLICATION {publication} SET (publish = 'insert, update, delete, truncate')"
    stream.stop()
    stream.start()                  # nothing of the stream's own making counts
    stream.caught_up()
    stream.stop()
    stream.src.execute(f"ALTER PUBLICATION {publication} SET (publish = 'insert')")
    stream.src.execute("DELETE FROM sl1 WHERE id = 1")
    stream.src.execute(every)
    _, text = refused_start(stream, "PUBLICATION-DRIFT")
    assert f"[publication-altered] {publication.strip(chr(34))} was altered" in text
    assert "changes of rows in between may be lost" in text
    stream.dst.execute("DELETE FROM sl1 WHERE id = 1")
    stream.start()                  # taken as done
    check_equal(stream, ["sl1"])
    stream.stop()
    stream.src.execute(f"ALTER PUBLICATION {publication} DROP TABLE sl1")
    stream.src.execute("INSERT INTO sl1 VALUES (100, 'a')")
    stream.src.execute(f"ALTER PUBLICATION {publication} ADD TABLE sl1")
    _, text = refused_start(stream, "PUBLICATION-DRIFT")
    assert "[publication-relisted] public.sl1 was taken out and put in again" in text
    assert "[publication-altered]" not in text and "other" not in text.replace("another", "")
    stream.dst.execute("INSERT INTO sl1 VALUES (100, 'a')")
    stream.start()
    check_equal(stream, ["sl1"])


def test_publication_changed_and_put_back_while_running(stream):
    """Found by the next look, and by one that is asked for."""
    publication = stream.src.value("SELECT pubname FROM pg_publication")
    stream.src.execute('ALTER PUBLICATION "%s" DROP TABLE other' % publication)
    stream.src.execute('ALTER PUBLICATION "%s" ADD TABLE other' % publication)
    row = loud(stream, "PUBLICATION-DRIFT")
    assert "[publication-relisted] public.other was taken out" in row["reason"]
    stream.start()
    check_equal(stream, ["sl1", "other"])


def test_publication_given_to_another_owner(stream, servers):
    """Nothing that is sent depends on it; what was altered after it does."""
    src = stream.src
    publication = '"%s"' % src.value("SELECT pubname FROM pg_publication")
    owner = src.value("SELECT pg_get_userbyid(pubowner) FROM pg_publication")
    src.execute("DROP ROLE IF EXISTS heir; CREATE ROLE heir SUPERUSER")
    try:
        for to in ("heir", "postgres", owner):
            stream.stop()
            mark = servers[1].log_mark()
            src.execute(f"ALTER PUBLICATION {publication} OWNER TO {to}")
            stream.start()
            stream.wait()
            if to != src.value("SELECT current_user") or owner != to:
                servers[1].wait_log("was given to another owner on the source", mark)
            check_equal(stream, ["sl1"])
        assert stream.refusals() == []
        stream.stop()
        src.execute(f"ALTER PUBLICATION {publication} OWNER TO heir")
        src.execute(f"ALTER PUBLICATION {publication} SET (publish = 'insert')")
        src.execute(f"ALTER PUBLICATION {publication} SET (publish = 'insert, update, delete, truncate')")
        _, text = refused_start(stream, "PUBLICATION-DRIFT")
        assert "[publication-altered]" in text
    finally:
        src.execute(f"ALTER PUBLICATION {publication} OWNER TO postgres; DROP ROLE heir")


@pytest.mark.parametrize("what", ["ALL TABLES", "TABLES IN SCHEMA public"])
def test_publication_of_everything(dbs, what):
    """One that lists no tables; taken out of it is a schema, not a table."""
    src, dst = dbs
    every = "WITH (publish_via_partition_root)"
    src.execute(f"CREATE PUBLICATION every FOR {what} {every}")
    stream = make_stream(src, dst, options={"publication_name": "every"})
    stream.caught_up()
    for _ in range(2):
        stream.stop()
        stream.start()
        check_equal(stream, ["sl1"])
    assert stream.refusals() == []
    stream.stop()
    if what == "ALL TABLES":
        src.execute(f"DROP PUBLICATION every; CREATE PUBLICATION every FOR {what} {every}")
        line = "[publication-recreated] every was created again (oid "
    else:
        src.execute("ALTER PUBLICATION every DROP TABLES IN SCHEMA public;"
                    "ALTER PUBLICATION every ADD TABLES IN SCHEMA public")
        line = "[publication-relisted] schema public was taken out and put in again (entry "
    _, text = refused_start(stream, "PUBLICATION-DRIFT")
    assert line in text
    stream.start()
    check_equal(stream, ["sl1"])


def test_publication_changed_during_the_copy(servers, dbs):
    """A table that is copied already loses what is not published while the copy rests."""
    src, dst = dbs
    src.execute("INSERT INTO other SELECT n, 'copied' FROM generate_series(1, 199999) AS n")
    target = servers[1]
    mark = arm(target, "cold_table_copied:2")
    stream = make_stream(src, dst, wait=None)
    died_at(target, "cold_table_copied:2", mark)
    target.start(**{"sluice.fault_point": "", "restart_after_crash": "on", "sluice.autostart": "off"})
    try:
        assert dst.query("SELECT table_name::text FROM sluice.stream_table"
                         " WHERE state = 'established'") == [("sl1",)]
        stream.stop()
    finally:
        target.reload(**{"sluice.autostart": "on"})
    publication = src.value("SELECT pubname FROM pg_publication")
    for table in ("sl1", "other"):
        src.execute('ALTER PUBLICATION "%s" DROP TABLE %s' % (publication, table))
        src.execute("INSERT INTO %s VALUES (200000, 'not sent')" % table)
    _, text = refused_start(stream, "PUBLICATION-DRIFT")
    assert "[publication-relisted] public.sl1 was taken out" in text and "public.other" not in text
    dst.execute("INSERT INTO sl1 VALUES (200000, 'not sent')")
    stream.start()
    stream.wait()
    check_equal(stream, ["sl1", "other"])
    stream.stop()
    stream.start()
    stream.wait()
    assert len(stream.refusals()) == 1


@pytest.mark.parametrize("change", [
    "ALTER PUBLICATION \"{p}\" SET (publish = 'insert')",
    "ALTER PUBLICATION \"{p}\" SET TABLE sl1 WHERE (id > 5), other",
    "ALTER PUBLICATION \"{p}\" SET TABLE sl1 (id), other",
])
def test_publication_that_hides(stream, change):
    """Filters, column lists and left-out kinds of change."""
    publication = stream.src.value("SELECT pubname FROM pg_publication")
    stream.stop()
    stream.src.execute(change.format(p=publication))
    refused_start(stream, "PUBLICATION-DRIFT")


def test_publication_drift_while_running(stream):
    """Seen while the stream runs, too."""
    publication = stream.src.value("SELECT pubname FROM pg_publication")
    stream.src.execute('ALTER PUBLICATION "%s" DROP TABLE sl1' % publication)
    loud(stream, "PUBLICATION-DRIFT")


def test_publication_dropped(stream):
    publication = stream.src.value("SELECT pubname FROM pg_publication")
    stream.src.execute('DROP PUBLICATION "%s"' % publication)
    stream.src.execute("INSERT INTO sl1 VALUES (100, 'a')")
    row = stream.wait_state("refused", timeout=60)
    assert row["marker"] == "PUBLICATION-DRIFT", row


def test_scope_drift(stream):
    """Another list of tables at a restart; and a table that came into scope."""
    stream.stop()
    marker, text = refused_start(stream, "INCLUDE-TABLE-SCOPE-DRIFT",
                                 include_tables=["sl1"])
    assert "include_tables" in text
    refused_start(stream, "INCLUDE-TABLE-SCOPE-DRIFT", exclude_tables=["other"])
    stream.start()
    stream.wait("streaming")
    stream.stop()
    stream.src.execute("CREATE TABLE newcomer (id int PRIMARY KEY)")
    stream.src.execute('ALTER PUBLICATION "%s" ADD TABLE newcomer'
                       % stream.src.value("SELECT pubname FROM pg_publication"))
    refused_start(stream, "PUBLICATION-DRIFT")
    stream.src.execute("DROP TABLE newcomer")
    stream.start()
    stream.src.execute("INSERT INTO sl1 VALUES (100, 'a')")
    check_equal(stream, ["sl1"])


def test_option_drift(stream, servers):
    """Other arguments: an error that shows the difference, and no change."""
    with pytest.raises(psycopg2.Error, match="^OPTION-DRIFT:") as e:
        stream.start(options={"retry_limit": 7})
    assert "retry_limit" in e.value.diag.message_detail
    with pytest.raises(psycopg2.Error, match="^OPTION-DRIFT:"):
        stream.start(target_schema="elsewhere")
    stream.start()
    stream.stop()
    refused_start(stream, "OPTION-DRIFT", target_schema="elsewhere")
    stream.start(options={"retry_limit": 7})
    stream.caught_up()


def test_replica_identity_lost(stream):
    stream.src.execute("ALTER TABLE sl1 REPLICA IDENTITY NOTHING")
    stream.stop()
    refused_start(stream, "SOURCE-REPLICA-IDENTITY", "PREFLIGHT-FAILED",
                  "SCHEMA-CHANGE-REFUSED")
    stream.src.execute("ALTER TABLE sl1 REPLICA IDENTITY DEFAULT")
    stream.start()
    stream.src.execute("UPDATE sl1 SET v = 'u'")
    check_equal(stream, ["sl1"])


def test_target_table_renamed_away(stream):
    """While running: the target's table is gone; named back, it resumes."""
    stream.dst.execute("ALTER TABLE other RENAME TO away")
    stream.src.execute("INSERT INTO other VALUES (1, 'x')")
    loud(stream, "TARGET-TABLE-MISSING", "other")
    stream.dst.execute("ALTER TABLE away RENAME TO other")
    stream.start()
    check_equal(stream, ["sl1", "other"])


def test_target_table_created_again(stream):
    """Another table of the same name does not hold what was applied."""
    stream.dst.execute("DROP TABLE sl1; CREATE TABLE sl1 (id int PRIMARY KEY, v text)")
    stream.src.execute("INSERT INTO sl1 VALUES (100, 'x')")
    loud(stream, "TARGET-TABLE-SHAPE-MISMATCH", "sl1")
    assert stream.dst.value("SELECT count(*) FROM sl1") == 0


def test_value_that_does_not_fit(dbs):
    """A target column narrowed after the start: no value is cut."""
    src, dst = dbs
    stream = make_stream(src, dst)
    stream.caught_up()
    dst.execute("ALTER TABLE sl1 ALTER v TYPE varchar(10)")
    src.execute("INSERT INTO sl1 VALUES (100, 'longer than ten characters')")
    row = stream.wait_state("refused")
    assert row["marker"] in ("VALUE-UNREPRESENTABLE", "TARGET-TABLE-SHAPE-MISMATCH",
                             "SCHEMA-CHANGE-REFUSED"), row
    assert "longer than" not in row["reason"], "a row's value in the reason"
    dst.execute("ALTER TABLE sl1 ALTER v TYPE text")
    stream.start()
    check_equal(stream, ["sl1"])


def test_conflict_through_another_key(dbs):
    """A row of the target holds the value of a unique key: refused by name."""
    src, dst = dbs
    dst.execute("CREATE UNIQUE INDEX other_v ON other (v)")
    stream = make_stream(src, dst)
    stream.caught_up()
    dst.execute("INSERT INTO other VALUES (900, 'taken')")
    src.execute("INSERT INTO other VALUES (1, 'free'), (2, 'taken')")
    row = loud(stream, "UNIQUE-KEY-CONFLICT-OTHER-ROW", "other")
    assert "other_v" in row["reason"]
    assert dst.value("SELECT count(*) FROM other") == 1, "half a transaction"
    dst.execute("DELETE FROM other WHERE id = 900")
    stream.start()
    check_equal(stream, ["sl1", "other"])


def test_constraint_of_the_target(dbs):
    src, dst = dbs
    stream = make_stream(src, dst)
    stream.caught_up()
    dst.execute("ALTER TABLE other ADD CONSTRAINT small CHECK (id < 100)")
    src.execute("INSERT INTO other VALUES (100, 'x')")
    row = loud(stream, "TARGET-CONSTRAINT-VIOLATED", "other")
    assert "small" in row["reason"]
    dst.execute("ALTER TABLE other DROP CONSTRAINT small")
    stream.start()
    check_equal(stream, ["other"])


def test_truncate_out_of_scope(dbs):
    """A referencing table that is not in scope is never emptied."""
    src, dst = dbs
    stream = make_stream(src, dst)
    stream.caught_up()
    dst.execute("CREATE TABLE theirs (sl int REFERENCES sl1)")
    dst.execute("INSERT INTO theirs VALUES (1)")
    src.execute("TRUNCATE sl1")
    loud(stream, "TRUNCATE-OUT-OF-SCOPE", "theirs")
    assert dst.value("SELECT count(*) FROM theirs") == 1
    dst.execute("DROP TABLE theirs")
    stream.start()
    check_equal(stream, ["sl1"])
    assert dst.value("SELECT count(*) FROM sl1") == 0


def test_one_refusal_stops_one_stream(dbs):
    """Two streams of one database: the other goes on."""
    src, dst = dbs
    one = make_stream(src, dst, "one", include_tables=["sl1"], schema_changes="refuse")
    two = make_stream(src, dst, "two", include_tables=["other"])
    src.execute("ALTER TABLE sl1 ADD extra int; INSERT INTO sl1 VALUES (100, 'a', 1)")
    loud(one, "SCHEMA-CHANGE-REFUSED", "sl1")
    src.execute("INSERT INTO other VALUES (1, 'goes on')")
    check_equal(two, ["other"])


def test_refusal_survives_a_kill(stream, servers):
    """Killed between the refusal and whatever follows: refuses again."""
    target = servers[1]
    stream.src.execute("ALTER TABLE sl1 ADD extra int;"
                       " INSERT INTO sl1 VALUES (100, 'a', 1)")
    row = loud(stream, "SCHEMA-CHANGE-REFUSED", "sl1")
    target.kill9()
    target.start()
    after = stream.wait_refused("SCHEMA-CHANGE-REFUSED")
    assert after["fingerprint"] == row["fingerprint"]
    assert after["pid"] is None, "a refused stream was started again"
    refused_start(stream, "SCHEMA-CHANGE-REFUSED", "PREFLIGHT-FAILED")
    counted = [r for r in stream.refusals() if r["marker"] == "SCHEMA-CHANGE-REFUSED"]
    assert counted, stream.refusals()
    stream.dst.execute("ALTER TABLE sl1 ADD extra int")
    stream.start()
    check_equal(stream, ["sl1"])


def test_remedies_name_the_way_out(stream):
    stream.src.execute("ALTER TABLE sl1 ADD extra int; INSERT INTO sl1 VALUES (100, 'a', 1)")
    loud(stream, "SCHEMA-CHANGE-REFUSED", "sl1")
    rows = stream.dst.rows("SELECT * FROM sluice.remedies(%s) ORDER BY step", stream.id)
    assert rows and not rows[0]["destructive"], rows
    wait_until(lambda: all(r["statement"] or r["note"] for r in rows), 1)


def test_caught_up_raises_the_refusal_at_once(stream):
    """A wait that began before the refusal ends with it."""
    import threading
    got = []

    def waiter():
        try:
            while True:
                stream.wait("caught_up", "30 s")
        except psycopg2.Error as e:
            got.append(e)
    thread = threading.Thread(target=waiter)
    thread.start()
    stream.src.execute("ALTER TABLE sl1 ADD extra int; INSERT INTO sl1 VALUES (100, 'a', 1)")
    thread.join(60)
    assert got and str(got[0]).startswith("SCHEMA-CHANGE-REFUSED:"), got


def test_key_that_merges(dbs):
    """A target key under a collation that equates what the source tells
    apart: 'a' and 'A' stay two rows, or it refuses."""
    src, dst = dbs
    for db in (src, dst):
        db.execute("CREATE TABLE words (w text PRIMARY KEY, n int)")
    stream = make_stream(src, dst)
    src.execute("INSERT INTO words VALUES ('a', 1)")
    stream.caught_up()
    dst.execute("CREATE COLLATION ci (provider = icu, locale = 'und-u-ks-level2',"
                " deterministic = false);"
                " ALTER TABLE words ALTER w TYPE text COLLATE ci")
    src.execute("INSERT INTO words VALUES ('A', 2)")
    row = loud(stream, "KEY-COLLATION-MERGE", "words")
    assert "words_pkey" in row["reason"] or "words" in row["reason"]
    assert dst.query("SELECT w, n FROM words") == [("a", 1)]
    assert "deterministic" in row["hint"], row["hint"]
    dst.execute("ALTER TABLE words ALTER w TYPE text COLLATE \"C\"")
    stream.start()
    check_equal(stream, ["words"])


def test_those_before_the_culprit_land(stream):
    """Transactions that came together are done again one by one: all before
    the one that refuses are here, none after it."""
    src, dst = stream.src, stream.dst
    dst.execute("ALTER TABLE other ADD CONSTRAINT no_seven CHECK (id <> 7)")
    stream.stop()
    for n in range(1, 12):
        src.execute("INSERT INTO other VALUES (%s, 'x')", n)
    stream.start()
    loud(stream, "TARGET-CONSTRAINT-VIOLATED", "other")
    assert [r[0] for r in dst.query("SELECT id FROM other ORDER BY 1")] == list(range(1, 7))
    dst.execute("ALTER TABLE other DROP CONSTRAINT no_seven")
    stream.start()
    check_equal(stream, ["sl1", "other"])
