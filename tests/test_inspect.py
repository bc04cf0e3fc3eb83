"""slot_list, slot_drop and remedies on real servers."""
from lib import both, make_server, make_stream, wait_until


def test_slots(pair):
    """Only sluice's own slots, and none that a stream here uses."""
    src, dst = pair
    both(src, dst, "CREATE TABLE t (id int PRIMARY KEY)")
    stream = make_stream(src, dst)
    src.execute("SELECT pg_catalog.pg_create_logical_replication_slot(n, 'pgoutput')"
                " FROM pg_catalog.unnest(ARRAY['theirs', 'sluice_left_over']) AS n")
    rows = {r["slot_name"]: r for r in dst.rows(
        "SELECT * FROM sluice.slot_list(%s) WHERE database = %s", stream.server, src.name)}
    own = stream.health()["slot_name"]
    assert set(rows) == {"theirs", "sluice_left_over", own}
    assert (rows[own]["stream_id"], rows[own]["own"], rows[own]["active"]) == ("s1", True, True)
    assert (rows["theirs"]["stream_id"], rows["theirs"]["own"]) == (None, False)
    assert rows["sluice_left_over"]["own"] and rows["sluice_left_over"]["stream_id"] is None
    assert rows[own]["plugin"] == "pgoutput" and rows[own]["wal_status"] == "reserved"

    drop = "SELECT sluice.slot_drop(%s, %s)"
    assert dst.error(drop, stream.server, "theirs").pgcode == "42501"
    assert dst.error(drop, stream.server, "sluice_none").pgcode == "42704"
    e = dst.error(drop, stream.server, own)
    assert e.pgcode == "55006" and "s1" in str(e)
    dst.execute(drop, stream.server, "sluice_left_over")
    assert src.value("SELECT count(*) FROM pg_catalog.pg_replication_slots"
                     " WHERE slot_name = 'sluice_left_over'") == 0
    src.execute("SELECT pg_catalog.pg_drop_replication_slot('theirs')")
    stream.stop()
    stream.drop()


def test_remedies_of_schema_change(pair):
    """What remedies prints, run in order, brings the stream back."""
    src, dst = pair
    both(src, dst, "CREATE TABLE t (id int PRIMARY KEY)")
    stream = make_stream(src, dst, schema_changes="refuse")
    assert dst.rows("SELECT * FROM sluice.remedies('s1')") == []
    src.execute("ALTER TABLE t ADD COLUMN note text; INSERT INTO t VALUES (1, 'x')")
    stream.wait_state("refused")
    rows = dst.rows("SELECT * FROM sluice.remedies('s1')")
    assert [r["step"] for r in rows] == list(range(1, len(rows) + 1))
    harmless = [r["destructive"] for r in rows]
    assert harmless == sorted(harmless), "the harmless ones stand first"
    assert rows[-1]["destructive"] and "truncate" in rows[-1]["statement"]
    dst.execute("ALTER TABLE t ADD COLUMN note text")
    starts = [r["statement"] for r in rows
              if r["statement"] and not r["destructive"] and "sync_start" in r["statement"]]
    dst.execute(starts[0])
    stream.caught_up()
    assert dst.value("SELECT note FROM t") == "x"
    # or the stream makes the change itself
    src.execute("ALTER TABLE t ADD COLUMN more text; INSERT INTO t VALUES (2, 'y', 'z')")
    stream.wait_refused("SCHEMA-CHANGE-REFUSED")
    dst.execute(starts[1])
    stream.caught_up()
    assert dst.value("SELECT more FROM t WHERE id = 2") == "z"
    stream.stop()
    stream.drop()


def test_remedies_of_lost_slot(pair):
    """A stream whose slot is gone can only begin anew; the statement does."""
    src, dst = pair
    both(src, dst, "CREATE TABLE t (id int PRIMARY KEY); CREATE TABLE \"T 2\" (id int PRIMARY KEY)")
    src.execute("INSERT INTO t VALUES (1)")
    stream = make_stream(src, dst, include_tables=["t", '"T 2"'],
                         options={"heartbeat_interval": "5 s"})
    slot = stream.health()["slot_name"]
    stream.stop()
    src.execute("SELECT pg_catalog.pg_drop_replication_slot(%s)", slot)
    src.execute("INSERT INTO t VALUES (2)")
    stream.start(source=False)
    stream.wait_refused("SLOT-MISSING")
    rows = dst.rows("SELECT * FROM sluice.remedies('s1')")
    assert [r["destructive"] for r in rows] == [True]
    dst.psql(rows[0]["statement"])
    stream.caught_up()
    assert dst.value("SELECT count(*) FROM t") == 2
    assert dst.value("SELECT options ->> 'heartbeat_interval' FROM sluice.stream") == "5 s"
    stream.stop()
    stream.drop()


def test_remedies_of_target(pair):
    """The cure of a target's fault is a statement to paste."""
    src, dst = pair
    both(src, dst, "CREATE TABLE t (id int PRIMARY KEY, v text UNIQUE)")
    src.execute("INSERT INTO t VALUES (1, 'a')")
    stream = make_stream(src, dst)
    src.execute("ALTER TABLE t REPLICA IDENTITY NOTHING")
    src.execute("INSERT INTO t VALUES (2, 'b')")
    row = wait_until(lambda: (lambda h: h if h["state"] == "refused" else None)(stream.health()),
                     30, lambda: stream.health())
    rows = dst.rows("SELECT * FROM sluice.remedies('s1')")
    fix = [r for r in rows if r["run_on"] == "source" and r["statement"]]
    assert row["marker"] == "SOURCE-REPLICA-IDENTITY" and fix, (row, rows)
    for r in rows:
        if r["statement"] and not r["destructive"]:
            (src if r["run_on"] == "source" else dst).execute(r["statement"])
    stream.caught_up()
    assert dst.value("SELECT count(*) FROM t") == 2
    stream.stop()
    stream.drop()


def test_remedies_need_the_owner(pair):
    src, dst = pair
    both(src, dst, "CREATE TABLE t (id int PRIMARY KEY)")
    server = make_server(src, dst)
    dst.execute("SELECT sluice.sync_start('s1', %s)", server)
    dst.execute("DROP ROLE IF EXISTS insp_other; CREATE ROLE insp_other LOGIN;"
                " GRANT EXECUTE ON FUNCTION sluice.remedies TO insp_other")
    assert dst.error("SELECT sluice.remedies('s1')", user="insp_other").pgcode == "42501"
    dst.execute("GRANT pg_monitor TO insp_other")
    dst.execute("SELECT sluice.remedies('s1')", user="insp_other")
    assert dst.error("SELECT sluice.remedies('none')").pgcode == "42704"
    assert dst.error("SELECT sluice.remedies(NULL)").pgcode == "22004"
    dst.execute("DROP OWNED BY insp_other; DROP ROLE insp_other")
