"""Releases of MySQL that no test can run: what a server is asked has to be of its own time.

A relay says that the server is an older one; what comes of that is in the server's general log."""
import socket
import struct
import threading

import pytest

from lib import make_bridged_stream
from lib.bridge import login_of, probe, probed
from lib.util import Listener

# what came with which release
CAME = {"srs_id": 80003, "information_schema_stats_expiry": 80003, "resultset_metadata": 80003, "is_visible": 80000,
        "expression AS e": 80013, "check_constraints": 80016, "show_gipk_in_create_table": 80030, "max_execution_time": 50708}


# what the server here has no more, and what it calls that
RENAMED = {"SHOW MASTER STATUS": "SHOW BINARY LOG STATUS", "SHOW SLAVE HOSTS": "SHOW REPLICAS"}


class Older(Listener):
    """Forwards connections to a server, whose greeting has another version.

    plain   without TLS: statements that the server knows no more get the names that they have now
    """

    def __init__(self, port, version, plain=False):
        self.to, self.version, self.plain = port, version, plain
        super().__init__(self._relay)

    def _relay(self, client):
        server = socket.create_connection(("127.0.0.1", self.to))
        head = server.recv(4, socket.MSG_WAITALL)
        body = server.recv(int.from_bytes(head[:3], "little"), socket.MSG_WAITALL)
        body = body[:1] + self.version.encode() + body[body.index(0, 1):]
        client.sendall(struct.pack("<I", len(body))[:3] + head[3:] + body)
        threading.Thread(target=self._forward, args=(server, client, False), daemon=True).start()
        threading.Thread(target=self._forward, args=(client, server, self.plain), daemon=True).start()

    def _piece(self, sock):
        """A packet, with its statement as the server has it."""
        head = sock.recv(4, socket.MSG_WAITALL)
        body = sock.recv(int.from_bytes(head[:3], "little"), socket.MSG_WAITALL)
        if body[:1] == b"\3":
            for old, new in RENAMED.items():
                body = body.replace(old.encode(), new.encode())
        return struct.pack("<I", len(body))[:3] + head[3:] + body if head else b""

    def _forward(self, a, b, packets):
        try:
            while data := self._piece(a) if packets else a.recv(65536):
                b.sendall(data)
        except OSError:
            pass
        for sock in (a, b):
            try:
                sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


@pytest.fixture
def asked(mysql9):
    """asked(): all that the bridge has asked of the server since the last call."""
    mysql9.execute("TRUNCATE mysql.general_log; SET GLOBAL log_output = 'TABLE', GLOBAL general_log = ON")

    def ask():
        rows = mysql9.query("SELECT argument FROM mysql.general_log WHERE user_host LIKE '%repl%'")
        mysql9.execute("TRUNCATE mysql.general_log")
        return b"\n".join(bytes(row[0]) for row in rows).decode(errors="replace")
    yield ask
    mysql9.execute("SET GLOBAL general_log = OFF, GLOBAL log_output = DEFAULT")


def newer(text, version):
    """What in it is not of that version."""
    number = int("%d%02d%02d" % tuple(map(int, version.split("."))))
    return [name for name, since in CAME.items() if since > number and name in text]


def test_nothing_newer_is_asked_of_an_old_server(mysql9, asked):
    db = mysql9.fresh_db("older")
    db.execute("CREATE TABLE t (id int AUTO_INCREMENT PRIMARY KEY, v varchar(9) DEFAULT 'x', p point, a int, g int AS (a + 1),"
               " KEY (v)); INSERT INTO t (v) VALUES ('a')")
    def said(version):
        relay = Older(mysql9.port, version)
        login = dict(login_of(mysql9), port=relay.port)
        lines = [probed(login, "--catalog", db.name), probed(login, "--plan", db.name)]
        relay.close()
        return lines
    now = said(mysql9.value("SELECT version()"))
    text = asked()
    assert [name for name in CAME if name not in text] == []
    for version in ("5.7.8", "5.7.44", "8.0.11", "8.0.15", "8.0.29"):
        assert said(version) == now, version
        text = asked()
        assert "information_schema.columns" in text and newer(text, version) == [], version
    db.destroy()


@pytest.mark.parametrize("which, version, ok", [
    ("mysql9", "5.6.51", False), ("mysql9", "5.7.7-rc", False), ("mysql9", "5.7.8", True),
    ("mariadb10", "5.5.5-10.5.28-MariaDB", False), ("mariadb10", "5.5.5-10.6.0-MariaDB-log", True)])
def test_servers_that_are_too_old(request, which, version, ok):
    server = request.getfixturevalue(which)
    probed(login_of(server))
    relay = Older(server.port, version, plain=not server.is_mariadb)
    done = probe(login_of(server, port=relay.port, sslmode="disable"), "--check")
    relay.close()
    lines = [line for line in done.stdout.splitlines() if "\trelease\t" in line]
    text = version.replace("5.5.5-", "")
    assert lines == ["ok\trelease\tthe server is %s %s" % ("MariaDB" if server.is_mariadb else "MySQL", text) if ok else
                     "not ok\trelease\tthe server is %s %s: its catalog and log are not read" % (
                         "MariaDB" if server.is_mariadb else "MySQL", text)], done.stdout + done.stderr
    assert ("-- use MySQL 5.7.8 or later" in done.stdout) != ok


@pytest.mark.parametrize("version", ["5.7.44", pytest.param("8.0.44", marks=pytest.mark.long)])
def test_a_stream_of_an_old_server(mysql9, dst, make_bridge, asked, version):
    """It is checked, copied and followed with what such a server has; its log is believed to have no row that a foreign key
    changed."""
    db = mysql9.fresh_db("old_stream")
    db.execute("CREATE TABLE p (id int PRIMARY KEY, v int); CREATE TABLE c (id int PRIMARY KEY, p int, d datetime,"
               " CONSTRAINT fk FOREIGN KEY (p) REFERENCES p (id) ON DELETE CASCADE);"
               " INSERT INTO p VALUES (1, 1), (2, 2); INSERT INTO c VALUES (1, 1, '2020-01-01'), (2, 2, NULL)")
    probed(login_of(mysql9))        # from here on a proof is enough
    asked()
    relay = Older(mysql9.port, version, plain=True)
    stream = make_bridged_stream(db, dst, server_options={"port": relay.port, "sslmode": "disable"})
    make_bridge(dst)
    stream.wait_refused("PREFLIGHT-FAILED")
    assert 'foreign_key_cascade: `%s`.`c`, foreign key "fk" is ON DELETE CASCADE' % db.name in stream.refusals()[-1]["detail"]
    for statement, in dst.query("SELECT statement FROM sluice.remedies('s1') WHERE statement LIKE 'ALTER TABLE%'"):
        db.execute(statement.partition(" -- ")[0])
    stream.start()
    stream.wait("streaming")
    db.execute("UPDATE c SET d = '2021-02-03 04:05:06' WHERE id = 1; DELETE FROM c WHERE p = 2; DELETE FROM p WHERE id = 2;"
               " INSERT INTO p VALUES (3, 3)")
    stream.caught_up()
    assert dst.query("SELECT id, v FROM p ORDER BY id") == [(1, 1), (3, 3)]
    assert dst.query("SELECT id, p, d::text FROM c") == [(1, 1, "2021-02-03 04:05:06")]
    assert newer(asked(), version) == []
    stream.stop()
    relay.close()
    db.destroy()
