"""PS-07: published tables are idle while everything else writes."""
import pytest

from lib import PgServer, make_stream, wait_until
from lib.rounds import FAST, check_confirmed, check_equal, confirmed, lsn


@pytest.fixture(scope="module")
def servers():
    source = PgServer("idle-source", preload="").start()
    target = PgServer("idle-target", conf=FAST).start()
    yield source, target
    target.destroy()
    source.destroy()


@pytest.fixture
def quiet(servers):
    """A stream of one idle table; busy is on the source only."""
    source, target = servers
    src = source.fresh_db("idle")
    dst = target.fresh_db("idle", extension=True)
    src.execute("CREATE TABLE quiet (id int PRIMARY KEY);"
                " CREATE TABLE busy (id bigserial PRIMARY KEY, p text)")
    dst.execute("CREATE TABLE quiet (id int PRIMARY KEY)")
    src.execute("INSERT INTO quiet VALUES (1)")
    stream = make_stream(src, dst, include_tables=["quiet"],
                         options={"heartbeat_interval": "500 ms"})
    stream.caught_up()
    yield stream
    dst.destroy()
    src.destroy()


def follows(stream, what):
    at = stream.src.lsn()
    # the walsender learns of the end of WAL with the next record at the latest
    wait_until(lambda: lsn(confirmed(stream)) >= lsn(at), 15,
               lambda: "%s: confirmed stays at %s, the source is at %s"
               % (what, confirmed(stream), at))
    check_confirmed(stream)


def write_much(db, mb=8):
    db.execute("INSERT INTO busy(p) SELECT repeat('x', 1000) FROM"
               " generate_series(1, %s)", mb * 1000)


def test_other_tables_write(quiet):
    for _ in range(3):
        write_much(quiet.src)
        follows(quiet, "another table writes")
    kept = quiet.src.value(
        "SELECT pg_current_wal_lsn() - restart_lsn FROM pg_replication_slots"
        " WHERE slot_name = %s", quiet.slot()["slot_name"])
    quiet.src.execute("CHECKPOINT")
    write_much(quiet.src, 1)
    wait_until(lambda: (quiet.health()["retained_bytes"] or 10 ** 9) < 64 * 1024 * 1024,
               20, lambda: "retained_bytes %r, really %r" % (quiet.health(), kept))
    row = quiet.health()
    assert row["healthy"] and row["lag"] is not None, row


def test_another_database_writes(quiet, servers):
    other = servers[0].fresh_db("busy")
    other.execute("CREATE TABLE busy (id bigserial PRIMARY KEY, p text)")
    for _ in range(2):
        write_much(other)
        follows(quiet, "another database writes")
    other.destroy()


def test_moved_idle_position_survives(quiet, servers):
    """What was confirmed while idle is stored here: no gap after a crash."""
    target = servers[1]
    write_much(quiet.src)
    follows(quiet, "before the crash")
    target.kill9()
    quiet.src.execute("INSERT INTO quiet VALUES (2)")
    target.start(**{"sluice.autostart": "off"})
    check_confirmed(quiet)
    target.reload(**{"sluice.autostart": "on"})
    row = quiet.wait_state("streaming", "refused", "failed")
    assert row["state"] == "streaming", row
    check_equal(quiet, ["quiet"])
    quiet.stop()
    write_much(quiet.src, 1)
    quiet.start()
    check_equal(quiet, ["quiet"])


def test_idle_stream_writes_little(quiet):
    """A heartbeat is not a flood: an idle stream leaves the target alone."""
    before = quiet.dst.lsn()
    at = quiet.stat()["batches"]
    seen = quiet.health()["source_seen_at"]
    wait_until(lambda: (quiet.health()["source_seen_at"] - seen).total_seconds() > 2,
               30, "the source is not heard of")
    assert lsn(quiet.dst.lsn()) - lsn(before) < 1024 * 1024
    assert quiet.stat()["batches"] - at < 20
