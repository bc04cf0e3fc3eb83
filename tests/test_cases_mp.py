"""Positions in MySQL's and MariaDB's binary logs, GTIDs, purged and new logs: what has broken tools like this one.

Each test is a case of the field, on every kind of server that can produce it: what failed there, and what
must happen here.  Not here:

MP-01, MP-02, and MP-13 on another server
       fail-over, which needs replicas: test_bridge_failover.py.  Of MP-02 there is no acknowledgement: transactions of
       other tables do not matter, those of the stream's tables refuse.
MP-17  a log kept inside InnoDB: no server of the tests has it (MariaDB 10.11 and 11.8 know no binlog_storage_engine);
       where the variable is there and not empty, check binlog_storage_engine refuses.
"""
import json
import uuid

import pytest

from lib import wait_until
from lib.mycases import (KINDS, ON_ALL, ON_MARIADB, again, assert_followed, assert_stands, copy_anew, here, make_ground,
                         set_global)

T = "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(100))"

whole_ground, ground = make_ground("mp")


def add(stream, number, text, before="", behind=""):
    """A row, in a session of its own."""
    stream.src.execute("%s INSERT INTO t VALUES (%d, '%s'); %s" % (before, number, text, behind))


def ids(stream):
    return [row[0] for row in here(stream, "t", "id")]


def gtid(stream):
    """The set or position that the stream has come to."""
    return json.loads(stream.health()["position"]).get("gtid")


# ---------- GTIDs ----------

def test_transactions_without_gtids_among_others(ground):
    """MP-04: no stream begins in a mode that permits them; one that runs stops at the first, and is not led past
    it by the mode being set back."""
    server = ground.server("mysql")
    stream = ground.begin("mysql", "anonymous", T)
    server.execute("SET GLOBAL gtid_mode = ON_PERMISSIVE")
    try:
        add(stream, 1, "gtid")
        assert_followed(stream, "t")
        place = server.position()
        add(stream, 2, "anon", "SET SESSION gtid_next = 'ANONYMOUS';", "SET SESSION gtid_next = 'AUTOMATIC'")
        row = stream.wait_refused("PROTOCOL-VIOLATION")
        assert "without a GTID" in row["reason"] and "gtid_mode" in row["hint"], row
        refused = ground.prepare("mysql", "permissive", T)
        refused.start(**refused.args)
        stream.start(source=False)
        for one in (refused, stream):
            one.wait_refused("PREFLIGHT-FAILED")
            assert "gtid_mode: " in one.refusals()[-1]["detail"]
    finally:
        server.execute("SET GLOBAL gtid_mode = ON")
    add(stream, 3, "gtid")
    stream.start(source=False)
    stream.wait_refused("PROTOCOL-VIOLATION")
    assert_stands(stream, place)
    assert ids(stream) == [1]
    copy_anew(stream)
    add(stream, 4, "gtid")
    assert_followed(stream, "t")
    assert ids(stream) == [1, 2, 3, 4]


def test_tagged_gtids(ground):
    """MP-05: a kind of event of its own, and sets with tags in them."""
    stream = ground.begin("mysql", "tagged", T)
    tagged = "SET SESSION gtid_next = 'AUTOMATIC:app_tag';"
    add(stream, 4, "tagged", tagged)
    add(stream, 5, "plain")
    assert_followed(stream, "t")
    assert ":app_tag:" in gtid(stream)
    again(stream, lambda: add(stream, 6, "tagged", tagged))
    add(stream, 7, "plain")
    assert_followed(stream, "t")
    assert ids(stream) == [4, 5, 6, 7]
    # a copy that begins with such a set
    other = ground.begin("mysql", "tagged", T)
    assert ":app_tag:" in gtid(other)
    again(other, lambda: add(other, 1, "tagged", tagged))
    assert_followed(other, "t")


def test_sets_with_gaps(ground):
    """MP-07, MP-08: several sources, several intervals: what fills a gap later is applied when it comes, while the
    stream runs and while it does not."""
    u1, u2 = sorted(str(uuid.uuid4()) for _ in range(2))
    src = ground.server("mysql").fresh_db("elsewhere")
    src.execute(T)

    def commit(source, number, where=None):
        source = "SET SESSION gtid_next = '%s:%d';" % (source, number)
        (where or src).execute("%s INSERT INTO t VALUES (%d, 'x'); SET SESSION gtid_next = 'AUTOMATIC'" % (
            source, number if u1 in source else 100 + number))

    for n in (1, 2, 3, 4, 5, 8, 9, 12):
        commit(u1, n)
    for n in (1, 2, 3):
        commit(u2, n)
    assert "\n" in src.server.value("SELECT @@global.gtid_executed")
    stream = ground.begin("mysql", "gaps", T)
    assert "%s:1-5:8-9:12" % u1 in gtid(stream) and "%s:1-3" % u2 in gtid(stream)
    commit(u1, 6, stream.src)
    assert_followed(stream, "t")
    assert ids(stream) == [6] and "%s:1-6:8-9:12" % u1 in gtid(stream)
    again(stream, lambda: [commit(u1, 7, stream.src), commit(u2, 9, stream.src)])
    commit(u1, 10, stream.src)
    assert_followed(stream, "t")
    assert ids(stream) == [6, 7, 10, 109]
    assert "%s:1-10:12" % u1 in gtid(stream) and "%s:1-3:9" % u2 in gtid(stream)
    again(stream, lambda: commit(u1, 11, stream.src))
    assert_followed(stream, "t")
    assert ids(stream) == [6, 7, 10, 11, 109] and "%s:1-12" % u1 in gtid(stream)


@ON_MARIADB
def test_several_domains(ground, kind):
    """MP-10: a position has the last GTID of each domain; and it holds where one comes out of order."""
    stream = ground.begin(kind, "domains", T)
    for domain in (1, 2, 1, 77):
        number = len(ids(stream)) + 1
        add(stream, number, "d%d" % domain, "SET SESSION gtid_domain_id = %d;" % domain)
        assert_followed(stream, "t")
        again(stream)
    domains = [part.split("-")[0] for part in gtid(stream).split(",")]
    assert {"1", "2", "77"} <= set(domains) and len(domains) == len(set(domains)), domains
    assert ids(stream) == [1, 2, 3, 4]
    # both while the stream is away, and numbers that go back
    again(stream, lambda: [add(stream, n, "d", "SET SESSION gtid_domain_id = %d;" % d)
                           for n, d in ((5, 2), (6, 1), (7, 0))])
    assert_followed(stream, "t")
    before = "SET SESSION gtid_domain_id = 9; SET SESSION gtid_seq_no = %d;"
    back = set_global(stream.src.server, "gtid_strict_mode", "0")
    try:
        add(stream, 8, "high", before % 1000)
        add(stream, 9, "low", before % 900)
        assert_followed(stream, "t")
        again(stream, lambda: add(stream, 10, "lower", before % 800))
        assert_followed(stream, "t")
    finally:
        back()
    assert ids(stream) == list(range(1, 11))


# ---------- logs that are gone ----------

@ON_ALL
def test_purged_behind_a_stopped_stream(ground, kind):
    """MP-11: what is missing is named, nothing is green, and only a copy that is asked for goes on."""
    stream = ground.begin(kind, "purged", T)
    add(stream, 8, "here")
    stream.caught_up()
    stream.stop()
    place = stream.src.server.position()
    add(stream, 9, "lost?")
    stream.src.server.flush_logs()
    add(stream, 10, "kept")
    stream.src.server.purge_logs()
    for _ in range(2):      # nor does trying again help
        stream.start(source=False)
        row = stream.wait_refused("SOURCE-LOG-PURGED")
        assert ("purged and not applied" if kind == "mysql" else place[0]) in row["reason"], row
        assert_stands(stream, place)
        assert ids(stream) == [8]
    copy_anew(stream)
    assert_followed(stream, "t")
    assert ids(stream) == [8, 9, 10]


def test_purged_while_tables_are_copied(ground):
    """MP-14: a server that keeps less than it says: it is said before it is too late, and once it is the copy ends."""
    streams = []
    for kind in KINDS:
        ground.server(kind).purge_logs()
        ground.server(kind).flush_logs()        # the file before is the first to go
        stream = ground.prepare(kind, "long_copy", T, "CREATE TABLE seq (i INT PRIMARY KEY)")
        stream.src.execute("INSERT INTO seq VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9);"
                           "INSERT INTO t SELECT a.i + 10 * b.i + 100 * c.i + 1000 * d.i, REPEAT('x', 90)"
                           " FROM seq a, seq b, seq c, seq d; DROP TABLE seq")
        stream.start(options={"copy_bytes_per_second": 5000, "copy_workers": 1}, **stream.args)
        streams.append(stream)
    for stream in streams:
        wait_until(lambda: stream.dst.value("SELECT count(*) FROM sluice.progress WHERE phase = 'copying'"
                                            " AND rows_done > 0 AND stream_id = %s", stream.id), 60, "the copy")
    for stream in streams:
        purge_to(stream.src.server, stream.src.server.position()[0])
    for stream in streams:
        ground.bridge.wait_log(r"%s\b.*warning: the source removes files of its log" % stream.id)
        # … where it is looked for
        wait_until(lambda: stream.health()["reason"] is not None, 60, stream.health)
        row = stream.health()
        assert row["state"] == "copying" and not row["healthy"], row
        assert "the source removes files of its log" in row["reason"] and "binlog_expire_logs_seconds" in row["hint"], row
        assert stream.dst.query("SELECT name, urgent FROM sluice.source_warnings WHERE stream_id = %s",
                                stream.id) == [("log_kept", True)]
        add(stream, 100000, "lost?")
        stream.src.server.purge_logs()
    for stream in streams:
        row = stream.wait_refused("SOURCE-LOG-PURGED")
        assert not row["healthy"] and "binlog_expire_logs_seconds" in row["hint"]
        assert stream.dst.value("SELECT count(*) FROM sluice.source_warnings WHERE stream_id = %s", stream.id) == 0


def purge_to(server, file):
    """Remove the files before that one."""
    def purge():
        # MariaDB keeps a file until the engines' checkpoint is past it
        server.execute("PURGE BINARY LOGS TO '%s'" % file)
        return server.log_files()[0].endswith(file)
    wait_until(purge, 30, "%s: logs stay" % server.name)


@ON_ALL
@pytest.mark.parametrize("regrown", [False, True], ids=["shorter", "regrown"])
def test_a_log_that_was_begun_anew(ground, kind, regrown):
    """MP-16: the numbers that are applied will be given again, to other transactions."""
    stream = ground.begin(kind, "reset", T)
    for number in range(5):
        add(stream, number, "before")
    assert_followed(stream, "t")
    stream.stop()
    server = stream.src.server
    place = server.position()
    server.execute("RESET MASTER" if server.is_mariadb else "RESET BINARY LOGS AND GTIDS")
    # as long as it was, in transactions and in bytes
    for number in range(5, 60 if regrown else 7):
        add(stream, number, "behind")
    stream.start(source=False)
    row = stream.wait_refused("SOURCE-BEHIND-POSITION")
    assert "new" in row["hint"], row
    assert_stands(stream, place)
    assert ids(stream) == list(range(5))


@ON_ALL
def test_a_table_that_changed_before_a_start(ground, kind):
    """MP-13: what the log holds from before is read by the form that the table had then."""
    stream = ground.begin(kind, "changed", T)
    stream.stop()
    add(stream, 1, "old form")
    stream.src.execute("ALTER TABLE t ADD COLUMN z INT")
    stream.src.execute("INSERT INTO t VALUES (2, 'new form', 3)")
    stream.start(source=False)
    stream.caught_up()
    assert ids(stream) == [1, 2]
    assert sorted(map(tuple, here(stream, "t", "id, z"))) == [(1, None), (2, 3)]
