"""Formats of MySQL's and MariaDB's binary logs that have broken tools like this one.

Each test is a case of the field, on every kind of server that can produce it: what failed there, and what
must happen here.  Decoders by themselves: test_binlog_*.py, tests/unit, tests/fuzz.
"""
import json
import os

import pytest

from lib import wait_until
from lib.mycases import (ON_ALL, ON_MARIADB, ON_MYSQL, again, assert_followed, assert_stands, here, make_ground,
                         set_global, there)

T = "CREATE TABLE t (id INT PRIMARY KEY, v INT, w INT)"
CARRIED = [
    T, "CREATE TABLE ct1 (id INT PRIMARY KEY, v VARCHAR(200))",
    "CREATE TABLE d1 (id INT PRIMARY KEY, d JSON, e JSON, t VARCHAR(10))",
    "CREATE TABLE tr1 (id INT PRIMARY KEY)", "CREATE TABLE xa_out (id INT PRIMARY KEY)",
    "CREATE TABLE mc1 (id INT PRIMARY KEY, s VARCHAR(500))",
    "CREATE TABLE large (id INT PRIMARY KEY, s LONGTEXT)",
]

whole_ground, ground = make_ground("mb")


@pytest.fixture(scope="module")
def carrying(whole_ground):
    """carrying(kind): the stream that the cases share whose outcome is that changes arrive."""
    streams = {}

    def of(kind):
        if kind not in streams:
            streams[kind] = whole_ground.begin(kind, "carried", *CARRIED, exclude_tables=["xa_out"])
            whole_ground._streams.remove(streams[kind])
        return streams[kind]
    return of


def logged(src, since):
    """Kinds of the events behind a position of the source's log, in their order."""
    return [row[2] for row in src.server.execute("SHOW BINLOG EVENTS IN '%s' FROM %d" % since)]


def refused_again(stream, marker):
    """What was refused is, once more, after a start."""
    stream.start(source=False)
    wait_until(lambda: stream.refusals()[-1]["count"] > 1, 60, stream.refusals)
    return stream.wait_refused(marker)


# ---------- compression ----------

@ON_MYSQL
@pytest.mark.parametrize("scope", ["GLOBAL", "SESSION"])
def test_compressed_transactions(carrying, kind, scope):
    """MB-01, MB-02: a transaction that travels as one payload, by a setting of all or of one session."""
    stream = carrying(kind)
    src = stream.src
    since = src.server.position()
    own = "SET %s binlog_transaction_compression = %s;" % (scope, "%s")
    try:
        src.execute(own % "ON" + ("" if scope == "GLOBAL" else "INSERT INTO ct1 VALUES (3, REPEAT('c', 200))"))
        if scope == "GLOBAL":
            src.execute("INSERT INTO ct1 VALUES (1, REPEAT('a', 200)), (2, REPEAT('b', 200))")
    finally:
        src.execute("SET GLOBAL binlog_transaction_compression = OFF")
    assert "Transaction_payload" in logged(src, since)
    assert_followed(stream, "ct1")
    assert len(here(stream, "ct1")) == (2 if scope == "GLOBAL" else 3)


@ON_MARIADB
def test_compressed_events(carrying, kind):
    """MB-19: MariaDB compresses single events, whose kinds have numbers of their own."""
    stream = carrying(kind)
    src = stream.src
    since = src.server.position()
    back = [set_global(src.server, "log_bin_compress", "ON"),
            set_global(src.server, "log_bin_compress_min_len", "10")]
    try:
        src.execute("INSERT INTO mc1 VALUES (1, REPEAT('z', 500)), (2, 'short')")
        assert_followed(stream, "mc1")
        src.execute("UPDATE mc1 SET s = REPEAT('y', 500)")
        assert_followed(stream, "mc1")
        src.execute("DELETE FROM mc1 WHERE id = 1; ALTER TABLE xa_out COMMENT '%s'" % ("c" * 300))
        assert_followed(stream, "mc1")
    finally:
        for undo in back:
            undo()
    kinds = logged(src, since)
    for part in ("Write_rows", "Update_rows", "Delete_rows", "Query"):
        assert any(k.startswith(part) and "ompressed" in k for k in kinds), kinds
    assert here(stream, "mc1") == [(2, "y" * 500)]


# ---------- images of rows without all columns ----------

# the setting, what is whole in spite of it, and what is not; the rows that are here then
IMAGES = [
    ("MB-04", "MINIMAL", [], "UPDATE i SET c1 = 11 WHERE id = 1", [1, 2]),
    ("MB-05", "MINIMAL", ["DELETE FROM i WHERE id = 2"], "UPDATE i SET doc = 'z' WHERE id = 1", [1]),
    ("MB-07", "NOBLOB", [], "UPDATE i SET c1 = 2 WHERE id = 1", [1, 2]),
]
IMAGE_TABLE = ("CREATE TABLE i (id INT PRIMARY KEY, c1 INT, c2 INT, doc TEXT);"
               "INSERT INTO i VALUES (1, 10, 20, 'keep me'), (2, 20, 30, 'y')")


@ON_ALL
def test_images_without_all_columns(ground, kind):
    """MB-04, MB-05, MB-07: no stream begins while the server logs such images, and one that runs stops at the
    first: on the path from the copy, and on that from a restart."""
    server = ground.server(kind)
    for image in ("MINIMAL", "NOBLOB"):
        back = set_global(server, "binlog_row_image", "'%s'" % image)
        try:
            stream = ground.prepare(kind, "image", IMAGE_TABLE)
            stream.start(**stream.args)
            stream.wait_refused("PREFLIGHT-FAILED")
            assert "binlog_row_image" in stream.refusals()[-1]["detail"]
        finally:
            back()
    streams = [ground.begin(kind, case[0], IMAGE_TABLE) for case in IMAGES]
    for stream, (_, image, whole, change, _) in zip(streams, IMAGES):
        back = set_global(server, "binlog_row_image", "'%s'" % image)
        try:
            for statement in whole:
                stream.src.execute(statement)       # in a session of its own
            stream.place = server.position()
            stream.src.execute(change)
        finally:
            back()
    for stream, (case, _, _, _, left) in zip(streams, IMAGES):
        row = stream.wait_refused("SOURCE-REPLICA-IDENTITY")
        assert '"%s.i"' % stream.src.name in row["reason"] and "binlog_row_image" in row["hint"], row
        # a start reads the same event again, with the setting long back
        refused_again(stream, "SOURCE-REPLICA-IDENTITY")
        assert_stands(stream, stream.place)
        assert here(stream, "i") == [r for r in ((1, 10, 20, "keep me"), (2, 20, 30, "y")) if r[0] in left], case


@ON_ALL
def test_an_image_without_all_columns_of_one_session(ground, kind):
    """MB-08: flipped behind the preflight's back while the stream runs, and while it is stopped and the server
    has long been as it should be when it starts."""
    table = "CREATE TABLE ri4 (id INT PRIMARY KEY, v INT, w INT); INSERT INTO ri4 VALUES (1, 1, 1)"
    change = "SET SESSION binlog_row_image = 'MINIMAL'; UPDATE ri4 SET v = 5 WHERE id = 1"
    stopped, running = [ground.begin(kind, "ri4", table) for _ in range(2)]
    stopped.stop()
    for stream in (stopped, running):
        stream.place = stream.src.server.position()
        stream.src.execute(change)
        stream.src.execute("UPDATE ri4 SET w = 9 WHERE id = 1")
    stopped.start(source=False)
    for stream in (stopped, running):
        row = stream.wait_refused("SOURCE-REPLICA-IDENTITY")
        assert '"%s.ri4"' % stream.src.name in row["reason"]
        assert "binlog.0" in stream.refusals()[-1]["detail"], stream.refusals()
        assert_stands(stream, stream.place)
        assert here(stream, "ri4") == [(1, 1, 1)]


# ---------- statements in the place of rows ----------

ST1 = "CREATE TABLE st1 (id INT PRIMARY KEY, v INT); INSERT INTO st1 VALUES (7, 0)"


@ON_ALL
def test_statements_in_the_place_of_rows(ground, kind):
    """MB-10, MB-11: of a session that sets binlog_format, of one that was there when it was set for all; and no
    stream begins while it is not ROW."""
    server = ground.server(kind)
    for value in ("STATEMENT", "MIXED"):
        back = set_global(server, "binlog_format", value)
        try:
            old = server.connect()
            stream = ground.prepare(kind, "st1", ST1)
            stream.start(**stream.args)
            stream.wait_refused("PREFLIGHT-FAILED")
            assert "binlog_format: " in stream.refusals()[-1]["detail"]
        finally:
            back()
        if value != "MIXED":
            old.close()
    insert, update = [ground.begin(kind, "st1", ST1) for _ in range(2)]
    for stream in (insert, update):
        stream.place = server.position()
    insert.src.execute("SET SESSION binlog_format = 'STATEMENT'; INSERT INTO st1 VALUES (1, 1);"
                       " UPDATE st1 SET v = v + 1")
    with old.cursor() as cur:
        cur.execute("USE `%s`" % update.src.name)
        cur.execute("UPDATE st1 SET v = 7 WHERE id = 7")
    old.close()
    for stream, word in ((insert, "INSERT"), (update, "UPDATE")):
        row = stream.wait_refused("PROTOCOL-VIOLATION")
        assert "(%s)" % word in row["reason"] and "binlog_format" in row["hint"], row
        assert "binlog.0" in stream.refusals()[-1]["detail"], stream.refusals()
        assert_stands(stream, stream.place)
        assert here(stream, "st1") == [(7, 0)]


# ---------- differences of JSON ----------

@ON_MYSQL
def test_differences_of_json(ground, carrying, kind):
    """MB-13, MB-14: applied to the value that is here; no stream begins while all sessions write them."""
    stream = carrying(kind)
    src = stream.src
    since = src.server.position()
    one = {"a": [1, 2, 3], "b": "long long long value", "pad": "x" * 40}
    src.execute("INSERT INTO d1 VALUES (1, %s, '{\"x\": 1}', 'tail'), (2, %s, NULL, 'tail')",
                json.dumps(one), json.dumps(one))
    own = "SET SESSION binlog_row_value_options = 'PARTIAL_JSON'; "
    src.execute(own + "UPDATE d1 SET d = JSON_SET(d, '$.a[0]', 2) WHERE id = 2")
    src.execute(own + "UPDATE d1 SET d = JSON_REMOVE(JSON_SET(d, '$.a[1]', 9), '$.b'), t = 'tail2' WHERE id = 1")
    again(stream)
    src.execute(own + "UPDATE d1 SET d = JSON_INSERT(JSON_REPLACE(d, '$.pad', 'y'), '$.n', NULL) WHERE id = 2")
    assert logged(src, since).count("Update_rows_partial") == 3
    stream.caught_up()
    assert here(stream, "d1") == [
        (1, {"a": [1, 9, 3], "pad": "x" * 40}, {"x": 1}, "tail2"),
        (2, {"a": [2, 2, 3], "b": one["b"], "pad": "y", "n": None}, None, "tail")]
    back = set_global(src.server, "binlog_row_value_options", "'PARTIAL_JSON'")
    try:
        refused = ground.prepare(kind, "pj", T)
        refused.start(**refused.args)
        refused.wait_refused("PREFLIGHT-FAILED")
        assert "binlog_row_value_options" in refused.refusals()[-1]["detail"]
    finally:
        back()


# ---------- statements ----------

TRUNCATES = [
    "/* app:worker */ TRUNCATE TABLE tr1", "TRUNCATE tr1", "truncate table `tr1`", "TRUNCATE TABLE `%(db)s`.`tr1`",
    "truncate %(db)s.tr1 -- done", "TRUNCATE/**/TABLE/**/tr1 /* trailing */", "# app\nTRUNCATE\n\tTABLE\ntr1",
    "-- V12__clean.sql\nTRUNCATE TABLE tr1", "/*!40000 TRUNCATE TABLE tr1 */", "TRUNCATE TABLE `%(db)s` . tr1",
]


@ON_ALL
def test_truncate_in_any_dress(carrying, kind):
    """MB-17: comments before, between and behind, with and without TABLE, quoted, with its database."""
    stream = carrying(kind)
    for i, text in enumerate(TRUNCATES):
        stream.src.execute("INSERT INTO tr1 VALUES (1), (2)")
        conn = stream.src.connect()
        with conn.cursor() as cur:
            cur.execute(text % {"db": stream.src.name})
        conn.close()
        stream.src.execute("INSERT INTO tr1 VALUES (%d)" % (10 + i))
        stream.caught_up()
        assert here(stream, "tr1") == [(10 + i,)], text


@ON_ALL
def test_a_statement_as_the_last_before_a_stop(carrying, kind):
    """MB-22: what follows it is not skipped by the next start."""
    stream = carrying(kind)
    src = stream.src
    other = src.server.fresh_db("noise")
    first, second = (90, 91)
    src.execute("INSERT INTO t VALUES (%d, 0, 0)" % first)
    stream.caught_up()
    other.execute("CREATE TABLE noise (a INT)")
    stream.caught_up()
    again(stream, lambda: src.execute("INSERT INTO t VALUES (%d, 0, 0)" % second))
    assert_followed(stream, "t")
    assert [row[0] for row in here(stream, "t")][-2:] == [first, second]
    other.destroy()


# ---------- transactions ----------

@ON_ALL
def test_xa_transactions_elsewhere(ground, carrying, kind):
    """MB-16: of tables that are left out they stop nothing; where they stop a stream, what it says helps."""
    stream = carrying(kind)
    xa = "XA START '%s'; INSERT INTO %s VALUES (%s); XA END '%s'; XA PREPARE '%s'; XA COMMIT '%s'"
    stream.src.execute(xa % ("x4", "xa_out", "1", "x4", "x4", "x4"))
    stream.src.execute("INSERT INTO t VALUES (50, 1, 1)")
    assert_followed(stream, "t")
    again(stream)
    stream.src.execute("INSERT INTO t VALUES (51, 1, 1)")
    assert_followed(stream, "t")


@ON_ALL
def test_a_reader_killed_within_a_group(whole_ground, carrying, kind):
    """MB-20: part of a transaction is with the target, uncommitted, when the reader is killed; its rows come
    once, and the position never goes back."""
    stream = carrying(kind)
    src, dst = stream.src, stream.dst
    position = stream.health()["position"]
    lock = dst.connect()
    lock.autocommit = False
    with lock.cursor() as cur:
        cur.execute("LOCK TABLE %s.large IN SHARE MODE" % stream.schema)
    src.execute("BEGIN; INSERT INTO large VALUES (10, REPEAT('a', 5000000)); INSERT INTO large VALUES (11, 'b');"
                " COMMIT; INSERT INTO large VALUES (12, 'c')")
    waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = '%s.large'::regclass" % stream.schema
    wait_until(lambda: dst.value(waiting) == 1, 60, "rows of the transaction at the target")
    whole_ground.bridge.kill9()
    lock.rollback()
    lock.close()
    assert stream.health()["position"] == position
    assert here(stream, "large") == []
    whole_ground.bridge.start()
    stream.caught_up()
    look = "id, length(s), left(s, 1)"
    assert here(stream, "large", look) == there(stream, "large", look)
    assert len(here(stream, "large")) == 3
    was, now = [json.loads(p) for p in (position, stream.health()["position"])]
    assert (now["file"], now["pos"]) > (was["file"], was["pos"]) and not stream.conflicts()


# ---------- checksums ----------

@ON_ALL
def test_checksums_that_change(carrying, kind):
    """MB-23: the server may begin and end to write them while it is read."""
    stream = carrying(kind)
    src = stream.src
    for i, value in enumerate(("NONE", "CRC32", "NONE", "CRC32")):
        src.execute("INSERT INTO t VALUES (%d, 1, 1)" % (60 + 2 * i))
        src.server.execute("SET GLOBAL binlog_checksum = '%s'" % value)
        src.execute("INSERT INTO t VALUES (%d, 1, 1)" % (61 + 2 * i))
        if i == 1:
            again(stream)
    assert_followed(stream, "t")


@ON_ALL
def test_a_checksum_that_does_not_match(ground, kind):
    """MB-23: a byte that changed on the source's disk; the link being encrypted says nothing of it."""
    stream = ground.begin(kind, "damaged", T)
    src = stream.src
    stream.stop()
    src.server.flush_logs()
    file = src.server.position()[0]
    src.execute("INSERT INTO t VALUES (1, 1, 1414743380)")      # TEST, as bytes
    src.server.flush_logs()
    path = os.path.join(src.server.data, file)
    with open(path, "r+b") as f:
        data = f.read()
        assert data.count(b"TEST") == 1
        f.seek(data.index(b"TEST"))
        f.write(b"TOST")
    stream.start(source=False)
    row = stream.wait_refused("PROTOCOL-VIOLATION")
    assert "checksum" in row["reason"] and file in row["reason"], row
    assert here(stream, "t") == []
