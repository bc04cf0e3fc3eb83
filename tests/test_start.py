"""sync_start on new, running and stopped streams with real servers."""
import threading

import psycopg2
import pytest

from lib import Stream, both, make_server, make_stream


def fails(stream, code, **args):
    with pytest.raises(psycopg2.Error) as e:
        stream.start(**args)
    assert e.value.pgcode == code, e.value
    return str(e.value)


def test_running_and_restart(pair):
    """Same arguments: no change.  Others: named.  Stopped: options merge."""
    src, dst = pair
    both(src, dst, "CREATE TABLE a (id int PRIMARY KEY); CREATE TABLE b (id int PRIMARY KEY)")
    stream = make_stream(src, dst, include_tables=["a"], options={"apply_batch_bytes": "1MB"})
    pid = stream.pid()
    stream.start(source=False)
    stream.start(include_tables=["a"], options={"apply_batch_bytes": "1MB"})
    assert stream.pid() == pid
    said = fails(stream, "SL006", include_tables=["a", "b"], options={"retry_limit": 2})
    assert "recorded a, given a, b" in said and "options.retry_limit" in said
    other = make_server(src, dst, "another")
    assert "another" in fails(Stream(src, dst, "s1", other), "SL006")
    assert stream.pid() == pid and stream.state == "streaming"

    stream.stop()
    assert "include_tables" in fails(stream, "SL204", include_tables=["a", "b"])
    assert "exclude_tables" in fails(stream, "SL204", exclude_tables=["b"])
    assert "another" in fails(Stream(src, dst, "s1", other), "SL006")
    fails(stream, "SL006", options={"slot_name": "other"})
    fails(stream, "22023", driver="nothing", source=False, options={"no": 1})
    assert stream.state == "stopped"
    src.execute("INSERT INTO a VALUES (1)")
    row = stream.start(options={"retry_limit": 2, "apply_batch_bytes": None})
    assert row["state"] == "starting" and row["desired_state"] == "running"
    stream.caught_up()
    assert dst.value("SELECT count(*) FROM a") == 1
    assert dst.value("SELECT options FROM sluice.stream") == {"retry_limit": 2}
    stream.stop()
    stream.drop()


def test_nothing_before_commit(pair):
    """What is rolled back leaves nothing, here or there."""
    src, dst = pair
    both(src, dst, "CREATE TABLE t (id int PRIMARY KEY)")
    server = make_server(src, dst)
    conn = dst.connect(autocommit=False)
    conn.cursor().execute("SELECT sluice.sync_start('s1', %s)", (server,))
    assert src.value("SELECT count(*) FROM pg_catalog.pg_publication") == 0
    conn.rollback()
    conn.close()
    stream = Stream(src, dst, "s1", server)
    assert stream.health() is None
    stream.start()
    stream.wait()
    stream.stop()
    stream.drop()
    assert src.value("SELECT count(*) FROM pg_catalog.pg_publication") == 0


def test_two_callers(pair):
    """Of two sessions that start one stream at once, one does."""
    src, dst = pair
    both(src, dst, "CREATE TABLE t (id int PRIMARY KEY)")
    server = make_server(src, dst)
    first = dst.connect(autocommit=False)
    first.cursor().execute("SELECT sluice.sync_start('s1', %s)", (server,))
    second = []

    def other():
        try:
            dst.execute("SELECT sluice.sync_start('s1', %s)", server)
            second.append(None)
        except psycopg2.Error as e:
            second.append(e.pgcode)
    thread = threading.Thread(target=other)
    thread.start()
    first.commit()
    thread.join(60)
    assert not thread.is_alive() and second in ([None], ["42710"]), second
    stream = Stream(src, dst, "s1", server)
    stream.wait()
    assert dst.value("SELECT count(*) FROM sluice.stream") == 1
    first.close()
    stream.stop()
    stream.drop()


def test_existing_rows(pair):
    """Rows there before the copy refuse, or are emptied when asked."""
    src, dst = pair
    both(src, dst, "CREATE TABLE t (id int PRIMARY KEY)")
    src.execute("INSERT INTO t SELECT generate_series(1, 100)")
    dst.execute("INSERT INTO t VALUES (1), (7777)")
    stream = make_stream(src, dst, start=False)
    assert "existing_rows" in fails(stream, "SL001")
    assert stream.health() is None
    stream.start(options={"existing_rows": "truncate"})
    stream.caught_up()
    assert dst.value("SELECT count(*) || '/' || max(id) FROM t") == "100/100"
    stream.stop()
    stream.drop()


def test_names_and_schemas(pair):
    """target_schema, schema_map, an own slot name and a publication by name."""
    src, dst = pair
    src.execute("""CREATE SCHEMA "Sales ""EU"; CREATE SCHEMA hr;
        CREATE TABLE "Sales ""EU"."T.x" (id int PRIMARY KEY);
        CREATE TABLE hr.t (id int PRIMARY KEY);
        CREATE PUBLICATION "My Pub" FOR TABLE "Sales ""EU"."T.x", hr.t
            WITH (publish_via_partition_root = true);
        INSERT INTO hr.t VALUES (1)""")
    dst.execute("""CREATE SCHEMA eu; CREATE SCHEMA "Human";
        CREATE TABLE eu."T.x" (id int PRIMARY KEY);
        CREATE TABLE "Human".t (id int PRIMARY KEY)""")
    stream = make_stream(src, dst, options={
        "schema_map": {'Sales "EU': "eu", "hr": "Human"},
        "slot_name": "mine_1", "publication_name": "My Pub"})
    src.execute("""INSERT INTO "Sales ""EU"."T.x" VALUES (2)""")
    stream.caught_up()
    assert dst.value('SELECT id FROM "Human".t') == 1
    assert dst.value('SELECT id FROM eu."T.x"') == 2
    assert stream.slot()["slot_name"] == "mine_1"
    stream.stop()
    stream.drop()
    # a publication that was named is never dropped, a slot that was made is
    assert src.value("SELECT count(*) FROM pg_catalog.pg_publication") == 1
    assert src.value("SELECT count(*) FROM pg_catalog.pg_replication_slots"
                     " WHERE slot_name = 'mine_1'") == 0

    dst.execute("""CREATE SCHEMA one; CREATE TABLE one."T.x" (id int PRIMARY KEY);
        CREATE TABLE one.t (id int PRIMARY KEY)""")
    stream = Stream(src, dst, "s2", stream.server)
    stream.start(target_schema="one")
    stream.caught_up()
    assert dst.value('SELECT id FROM one."T.x"') == 2
    stream.stop()
    stream.drop()
