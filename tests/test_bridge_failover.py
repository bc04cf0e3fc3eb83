"""A stream whose source becomes another server: it goes on where that one provably has the same history,
and refuses by name where it has not."""
import time

import pytest

from lib import MySqlServer, make_bridged_stream, wait_until
from lib.bridgerun import begin_here
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


def insert(stream, key):
    """On the primary, and wait for it."""
    stream.src.execute("INSERT INTO t VALUES (%d, 'x')" % key)
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
    """MP-13: what the other server's log holds from before is not read by the table's new form."""
    stream.src.execute("INSERT INTO t VALUES (2, 'x'); ALTER TABLE t ADD COLUMN z INT")
    stream.src.execute("INSERT INTO t VALUES (3, 'y', 3)")
    servers.sync()
    point_at(stream, servers.b)
    stream.wait_refused("SCHEMA-CHANGE-REFUSED")
    assert keys(stream) in ([1], [1, 2])


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


def test_another_transaction_of_the_same_name(servers, stream):
    """As after RESET MASTER, or where two servers count alike.  The last test: the servers part."""
    a, b = servers.a, servers.b
    servers.replicate(False)
    time.sleep(1.1)             # MariaDB's log has seconds
    if b.is_mariadb:
        domain, server_id, number = a.gtid().split(",")[0].split("-")
        b.execute("SET SESSION gtid_domain_id = %s, server_id = %s, gtid_seq_no = %d; INSERT INTO `%s`.t VALUES (7, 'x')"
                  % (domain, server_id, int(number) + 1, stream.src.name))
    else:
        number = int(a.gtid().rpartition("-")[2])
        b.execute("SET gtid_next = '%s:%d'; INSERT INTO `%s`.t VALUES (7, 'x'); SET gtid_next = AUTOMATIC"
                  % (servers.identity(a), number + 1, stream.src.name))
    time.sleep(1.1)
    stream.bridge.start()
    insert(stream, 2)
    stream.bridge.stop()
    point_at(stream, b)
    row = stream.wait_refused("SOURCE-IDENTITY-CHANGED")
    assert "is not the one" in row["reason"], row
    assert keys(stream) == [1, 2] and not changes(stream)
