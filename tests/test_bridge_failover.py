"""A stream whose source becomes another server: it goes on where that one provably has the same history,
and refuses by name where it has not."""
import re
import time

import psycopg2
import pytest

from lib import MySqlServer, make_bridged_stream, wait_until
from lib.bridgerun import begin_here
from lib.mycold import assert_same_tables
from lib.mysqlserver import MyDb
from lib.myxa import finish, prepare, prepared
from lib.proxy import Proxy

T = "CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20))"


class Pair:
    """A primary and its replica."""

    def __init__(self, kind):
        self.a = MySqlServer(kind, "primary", conf={"server_id": 1001})
        self.b = MySqlServer(kind, "replica", conf={"server_id": 1002})
        self.b.repl_password = self.a.repl_password
        self.a.start()
        self.b.start()
        if self.a.is_mariadb:
            self.b.execute("CHANGE MASTER TO MASTER_HOST = '127.0.0.1', MASTER_PORT = %d, MASTER_USER = 'repl',"
                           " MASTER_PASSWORD = '%s', MASTER_USE_GTID = slave_pos"
                           % (self.a.port, self.a.repl_password))
        else:
            self.b.execute("CHANGE REPLICATION SOURCE TO SOURCE_HOST = '127.0.0.1', SOURCE_PORT = %d, SOURCE_USER ="
                           " 'repl', SOURCE_PASSWORD = '%s', SOURCE_AUTO_POSITION = 1, SOURCE_SSL = 1"
                           % (self.a.port, self.a.repl_password))
        self.replicate(True)
        self.a.execute("GRANT LOCK TABLES, REFERENCES ON *.* TO repl@'%'")

    def replicate(self, on):
        self.b.execute("%s %s" % ("START" if on else "STOP", "SLAVE" if self.b.is_mariadb else "REPLICA"))

    def sync(self):
        """The replica has all that the primary has."""
        self.b.execute("SELECT MASTER_GTID_WAIT('%s', 60)" % self.a.gtid() if self.b.is_mariadb else
                       "SELECT WAIT_FOR_EXECUTED_GTID_SET('%s', 60)" % self.a.gtid())

    def identity(self, server):
        return ("server_id %d" % server.value("SELECT @@server_id") if server.is_mariadb
                else server.value("SELECT @@server_uuid"))

    def destroy(self):
        self.b.destroy()
        self.a.destroy()


@pytest.fixture(scope="module", params=["mariadb10.11", "mysql"])
def servers(request):
    pair = Pair(request.param)
    yield pair
    pair.destroy()


@pytest.fixture
def src(servers):
    db = servers.a.fresh_db("shop")
    db.execute(T)
    yield db
    for name in prepared(db):
        finish(db, name, "ROLLBACK")
    db.destroy()


@pytest.fixture
def stream(servers, src, dst, make_bridge):
    """Copied from the primary, with one change followed; the bridge is gone."""
    stream = make_bridged_stream(src, dst)
    stream.bridge = make_bridge(dst)
    stream.wait("streaming")
    insert(stream, 1)
    assert stream.bridge.stop() == 0
    servers.sync()
    return stream


def write(stream, key, apart=False):
    """On the primary; apart: counted by another domain of MariaDB, another tag of MySQL."""
    before = ""
    if apart:
        before = ("SET SESSION gtid_domain_id = 7;" if stream.src.server.is_mariadb
                  else "SET gtid_next = 'AUTOMATIC:apart';")
    stream.src.execute(before + "INSERT INTO t VALUES (%d, 'x')" % key)


def insert(stream, key, apart=False):
    """On the primary, and wait for it."""
    write(stream, key, apart)
    stream.caught_up()


def point_at(stream, server):
    """The DBA points the foreign server at another one; a bridge begins."""
    stream.dst.execute("ALTER SERVER src_s1 OPTIONS (SET port '%d')" % server.port)
    stream.bridge.start()


def keys(stream):
    return [row[0] for row in stream.dst.query("SELECT id FROM t ORDER BY id")]


def changes(stream):
    return stream.dst.query("SELECT old_source, new_source FROM sluice.source_changes ORDER BY recorded_at")


def test_it_goes_on_at_the_replica_and_back(servers, stream):
    """What was written in between is applied once; each change of the source is on record."""
    a, b = servers.identity(servers.a), servers.identity(servers.b)
    servers.b.flush_logs()
    stream.src.execute("INSERT INTO t VALUES (2, 'x'); UPDATE t SET v = 'y' WHERE id = 1")
    servers.sync()
    point_at(stream, servers.b)
    wait_until(lambda: keys(stream) == [1, 2], 60, "what was written in between")
    assert changes(stream) == [(a, b)]
    stream.src.execute("INSERT INTO t VALUES (3, 'x')")
    servers.sync()
    stream.caught_up()
    assert keys(stream) == [1, 2, 3]
    stream.bridge.stop()
    stream.bridge.start()
    insert(stream, 4)
    assert keys(stream) == [1, 2, 3, 4]
    stream.bridge.stop()
    point_at(stream, servers.a)
    insert(stream, 5)
    assert keys(stream) == [1, 2, 3, 4, 5]
    assert changes(stream) == [(a, b), (b, a)]
    assert not stream.conflicts()


def test_a_failover_behind_the_same_name(servers, src, dst, make_bridge):
    """The bridge runs meanwhile, and nobody tells it."""
    with Proxy(servers.a.port) as proxy:
        stream = make_bridged_stream(src, dst, server_options={"port": proxy.port})
        make_bridge(dst)
        stream.wait("streaming")
        insert(stream, 1)
        servers.sync()
        proxy.balance(servers.b.port)
        proxy.cut()
        wait_until(lambda: changes(stream), 60, "the change of the source")
        src.execute("INSERT INTO t VALUES (2, 'x')")
        servers.sync()
        stream.caught_up()
        assert keys(stream) == [1, 2]
        assert changes(stream) == [(servers.identity(servers.a), servers.identity(servers.b))]


def test_a_replica_that_lost_the_tail(servers, stream):
    """What is applied and is not there refuses, until it is there."""
    servers.replicate(False)
    stream.bridge.start()
    insert(stream, 2)
    stream.bridge.stop()
    point_at(stream, servers.b)
    row = stream.wait_refused("SOURCE-BEHIND-POSITION")
    assert servers.a.gtid().split(",")[-1].split(":")[0] in row["reason"], row
    assert "start it anew" in row["hint"]
    servers.replicate(True)
    servers.sync()
    stream.start()
    insert(stream, 3)
    assert keys(stream) == [1, 2, 3]


def test_a_replica_that_purged_what_is_next(servers, stream):
    stream.src.execute("INSERT INTO t VALUES (2, 'x')")
    servers.sync()
    servers.b.purge_logs()
    point_at(stream, servers.b)
    row = stream.wait_refused("SOURCE-LOG-PURGED")
    assert "start it anew" in row["hint"]
    assert keys(stream) == [1] and not changes(stream)


def on_the_replica_alone(servers, domain, *statements):
    b = servers.b
    b.execute("; ".join((["SET SESSION gtid_domain_id = %d" % domain] if b.is_mariadb else []) + list(statements)))
    return "%d-1002-" % domain if b.is_mariadb else servers.identity(b)


def test_transactions_of_the_replica_elsewhere(servers, stream):
    """MP-02: they leave the stream's tables alone: it goes on.  Going back, they are missing."""
    own = on_the_replica_alone(servers, 5, "CREATE DATABASE own", "CREATE TABLE own.t (id INT)", "INSERT INTO own.t VALUES (1)")
    stream.bridge.start()
    insert(stream, 2)
    stream.bridge.stop()
    servers.sync()
    point_at(stream, servers.b)
    insert(stream, 3)
    assert keys(stream) == [1, 2, 3]
    stream.bridge.stop()
    point_at(stream, servers.a)
    row = stream.wait_refused("SOURCE-BEHIND-POSITION")
    assert own in row["reason"]


def test_transactions_of_the_replica_in_the_stream_s_tables(servers, stream):
    """MP-01: applied behind what came after them, their rows would be older than what is here."""
    own = on_the_replica_alone(servers, 6, "INSERT INTO `%s`.t VALUES (99, 'x')" % stream.src.name)
    stream.bridge.start()
    insert(stream, 2)
    stream.bridge.stop()
    servers.sync()
    point_at(stream, servers.b)
    row = stream.wait_refused("SOURCE-IDENTITY-CHANGED")
    assert own in row["reason"] and stream.src.name in stream.refusals()[-1]["detail"]
    assert keys(stream) == [1, 2] and not changes(stream)


def test_a_table_that_changed_meanwhile(servers, stream):
    """MP-13: what the other server's log holds from before is read by the form that the table had then."""
    stream.src.execute("INSERT INTO t VALUES (2, 'x'); ALTER TABLE t ADD COLUMN z INT")
    stream.src.execute("INSERT INTO t VALUES (3, 'y', 3)")
    servers.sync()
    point_at(stream, servers.b)
    stream.caught_up()
    assert keys(stream) == [1, 2, 3]
    assert stream.dst.query("SELECT z FROM t ORDER BY 1") == [(3,), (None,), (None,)]


def test_a_stranger(servers, stream, request):
    other = request.getfixturevalue("mariadb10" if servers.a.is_mariadb else "mysql9")
    stream.dst.execute("ALTER USER MAPPING FOR postgres SERVER src_s1 OPTIONS (SET password '%s')" % other.repl_password)
    point_at(stream, other)
    row = stream.wait_refused("SOURCE-IDENTITY-CHANGED")
    assert servers.identity(other) in row["reason"] and servers.identity(servers.a) in row["reason"]
    assert "Point the foreign server" in row["hint"]
    assert keys(stream) == [1] and not changes(stream)


def test_a_position_without_gtids(servers, src, dst, make_bridge):
    dst.execute(T)
    stream = make_bridged_stream(src, dst)
    begin_here(stream, gtid=False)
    stream.bridge = make_bridge(dst)
    stream.wait("streaming")
    insert(stream, 1)
    stream.bridge.stop()
    servers.sync()
    point_at(stream, servers.b)
    row = stream.wait_refused("SOURCE-IDENTITY-CHANGED")
    assert "no GTIDs" in row["reason"]


# -- while tables are copied ---------------------------------------------------

def fill_big(src, *more):
    """A table that takes some time to copy beside t."""
    src.execute("INSERT INTO t VALUES (1, 'x'); CREATE TABLE d (i INT PRIMARY KEY);"
                "INSERT INTO d VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9);"
                "CREATE TABLE big (%s);"
                "INSERT INTO big (id, v) SELECT a.i + 10 * b.i + 100 * c.i, REPEAT('x', 1900) FROM d a, d b, d c; DROP TABLE d"
                % ", ".join(("id INT PRIMARY KEY, v VARCHAR(2000)",) + more))


@pytest.mark.long
def test_a_failover_while_tables_are_copied(servers, src, dst, make_bridge):
    """What was copied fits the log of one server: back to that, or from the beginning at the other."""
    fill_big(src)
    stream = make_bridged_stream(src, dst, options={"copy_workers": 1, "copy_bytes_per_second": 200000})
    stream.bridge = make_bridge(dst)

    def copied():
        return dst.value("SELECT max(copy_cursor) FROM sluice.copy_task WHERE table_name = 'big'")
    wait_until(copied, 60, stream.bridge.log_text)
    stream.bridge.stop()
    servers.sync()
    point_at(stream, servers.b)
    row = stream.wait_refused("SOURCE-IDENTITY-CHANGED")
    assert "still being copied" in row["reason"] and servers.identity(servers.b) in row["reason"], row
    assert "sync_start('s1', restart_from_scratch => true);" in row["hint"] and "the server that it was" in row["hint"], row
    was = copied()
    stream.bridge.stop()
    point_at(stream, servers.a)
    stream.start(source=False)
    wait_until(lambda: copied() != was, 60, stream.bridge.log_text)
    assert "goes on behind key" in stream.bridge.log_text()
    stream.bridge.stop()
    point_at(stream, servers.b)
    stream.wait_refused("SOURCE-IDENTITY-CHANGED")
    with pytest.raises(psycopg2.Error) as e:
        stream.start(source=False, restart_from_scratch=True)
    confirm = re.search(r"confirm => '(\w+)'", str(e.value)).group(1)
    stream.start(source=False, restart_from_scratch=True, confirm=confirm, options={"copy_bytes_per_second": 0})
    stream.wait("streaming")
    insert(stream, 2)
    servers.sync()
    wait_until(lambda: keys(stream) == [1, 2], 60, stream.bridge.log_text)
    assert_same_tables(src, dst, ["t", "big"])
    assert stream.dst.value("SELECT source_sysid FROM sluice.stream") == servers.identity(servers.b)


@pytest.mark.long
def test_a_failover_while_keys_are_built(servers, src, dst, make_bridge):
    """Behind the copy what is left to build needs no source."""
    fill_big(src, "t INT NOT NULL DEFAULT 1, FOREIGN KEY (t) REFERENCES t (id)")
    dst.execute("ALTER DATABASE \"%s\" SET sluice.lock_timeout = '300ms'" % dst.name)
    stream = make_bridged_stream(src, dst, options={"copy_workers": 2, "copy_bytes_per_second": 400000})
    stream.bridge = make_bridge(dst)
    wait_until(lambda: dst.value("SELECT count(*) FROM pg_constraint WHERE conname = 't_pkey'"), 60, stream.bridge.log_text)
    lock = dst.connect(autocommit=False)
    try:
        lock.cursor().execute("LOCK TABLE t IN ROW EXCLUSIVE MODE")
        stream.wait("streaming")
        insert(stream, 2)
        stream.bridge.stop()
        servers.sync()
        point_at(stream, servers.b)
        write(stream, 3)
        servers.sync()
        stream.caught_up()
        assert keys(stream) == [1, 2, 3] and len(changes(stream)) == 1
        assert dst.value("SELECT phase FROM sluice.copy_run") == "finish"
    finally:
        lock.close()
    wait_until(lambda: dst.value("SELECT phase FROM sluice.copy_run") == "done", 60, stream.bridge.log_text)
    assert dst.value("SELECT count(*) FROM pg_constraint WHERE conrelid = 'big'::regclass AND contype = 'f'"
                     " AND convalidated") == 1
    assert_same_tables(src, dst, ["t", "big"])


# -- counted apart, prepared, compared -----------------------------------------

@pytest.mark.long
def test_domains_and_tags(servers, stream):
    """Transactions that a server counts apart from the others go on, too; and each such count may have lost its tail."""
    stream.bridge.start()
    insert(stream, 2, apart=True)
    insert(stream, 3)
    insert(stream, 4, apart=True)
    stream.bridge.stop()
    write(stream, 5)
    write(stream, 6, apart=True)
    servers.sync()
    point_at(stream, servers.b)
    wait_until(lambda: keys(stream) == [1, 2, 3, 4, 5, 6], 60, stream.bridge.log_text)
    for key, apart in ((7, True), (8, False)):      # the place there is kept, too
        stream.bridge.stop()
        stream.bridge.start()
        write(stream, key, apart)
        servers.sync()
        stream.caught_up()
    stream.bridge.stop()
    point_at(stream, servers.a)
    insert(stream, 9, apart=True)
    assert keys(stream) == list(range(1, 10)) and not stream.conflicts()
    assert [row["status"] for row in stream.verify()] == ["equal"]
    servers.replicate(False)
    insert(stream, 10, apart=True)
    stream.bridge.stop()
    point_at(stream, servers.b)
    row = stream.wait_refused("SOURCE-BEHIND-POSITION")
    assert (" 7-1001-" if servers.a.is_mariadb else ":apart:") in row["reason"], row
    stream.bridge.stop()
    servers.replicate(True)
    servers.sync()


def test_a_comparison_at_the_other_server(servers, stream):
    servers.sync()
    point_at(stream, servers.b)
    write(stream, 2)
    servers.sync()
    stream.caught_up()
    assert [row["status"] for row in stream.verify()] == ["equal"]
    stream.dst.execute("UPDATE t SET v = 'y' WHERE id = 2")
    assert [row["status"] for row in stream.verify()] == ["different"]


def test_xa_transactions_that_are_prepared_at_the_switch(servers, stream):
    """They end at the other server, and are read again from its log, after a kill."""
    a, b, src = servers.a, servers.b, stream.src
    stream.bridge.start()
    prepare(src, "before", "INSERT INTO t VALUES (2, 'x')", "UPDATE t SET v = 'y' WHERE id = 1")
    prepare(src, "back", "INSERT INTO t VALUES (3, 'x')")
    prepare(src, "behind", "INSERT INTO t VALUES (4, 'x')")
    insert(stream, 5)
    stream.bridge.kill_tree()
    finish(src, "before")
    b.flush_logs()
    servers.sync()
    point_at(stream, b)
    wait_until(lambda: keys(stream) == [1, 2, 5], 60, stream.bridge.log_text)
    assert len(changes(stream)) == 1
    # from here on the other server is the primary
    servers.replicate(False)
    stream.bridge.kill_tree()
    apart = "SET SESSION gtid_domain_id = 8;" if b.is_mariadb else ""
    theirs = MyDb(b, src.name)
    finish(theirs, "back", "ROLLBACK", apart)
    b.flush_logs()
    finish(theirs, "behind", before=apart)
    stream.bridge.start()
    stream.caught_up()
    assert keys(stream) == [1, 2, 4, 5] and not stream.conflicts()
    assert_same_tables(theirs, stream.dst, ["t"])
    for name, how in (("back", "ROLLBACK"), ("behind", "COMMIT")):      # the pair is one again
        finish(src, name, how, "SET sql_log_bin = 0;")
    servers.replicate(True)


def as_the_primary(servers, number, sql):
    """Run on the replica what then seems to be the primary's transaction of that number; "apart": counted by itself."""
    apart = number == "apart"
    if servers.b.is_mariadb:
        servers.b.execute("SET SESSION gtid_domain_id = %d, server_id = 1001%s; %s" % (
            9 if apart else 0, "" if apart else ", gtid_seq_no = %d" % number, sql))
    else:
        servers.b.execute("SET gtid_next = '%s:%s'; %s; SET gtid_next = AUTOMATIC" % (
            servers.identity(servers.a), "forged:900000" if apart else number, sql))


def test_another_transaction_of_the_same_name(servers, stream):
    """As after RESET MASTER, or where two servers count alike.  The last test: the servers part."""
    a, b = servers.a, servers.b
    row_of = "INSERT INTO `%s`.t VALUES (%%d, 'x')" % stream.src.name
    servers.replicate(False)
    time.sleep(1.1)             # MariaDB's log has seconds
    number = int(re.search(r"\b0-1001-(\d+)" if a.is_mariadb else servers.identity(a) + r":1-(\d+)", a.gtid()).group(1))
    as_the_primary(servers, number + 1, row_of % 7)
    time.sleep(1.1)
    stream.bridge.start()
    insert(stream, 2)
    stream.bridge.stop()
    point_at(stream, b)
    row = stream.wait_refused("SOURCE-IDENTITY-CHANGED")
    assert "is not the one" in row["reason"], row
    assert keys(stream) == [1, 2] and not changes(stream)
    # one that is counted by itself, before the last: its number does not tell that it is younger
    stream.bridge.stop()
    point_at(stream, a)
    stream.start(source=False)
    insert(stream, 3)
    stream.bridge.stop()
    as_the_primary(servers, "apart", row_of % 99)
    as_the_primary(servers, number + 2, row_of % 3)
    point_at(stream, b)
    row = stream.wait_refused("SOURCE-IDENTITY-CHANGED")
    assert ("9-1001-" if a.is_mariadb else ":forged:900000") in row["reason"], row
    assert "changed table" in stream.refusals()[-1]["detail"]
    assert keys(stream) == [1, 2, 3] and not changes(stream)
