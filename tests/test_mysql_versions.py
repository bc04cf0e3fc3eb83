"""Releases of MySQL that no test can run: what a server is asked has to be of its own time.

A relay says that the server is an older one; what comes of that is in the server's general log."""
import socket
import struct
import threading

import pytest

from lib.bridge import login_of, probed

# what came with which release
CAME = {"srs_id": 80003, "information_schema_stats_expiry": 80003, "resultset_metadata": 80003, "is_visible": 80000,
        "expression AS e": 80013, "check_constraints": 80016, "show_gipk_in_create_table": 80030, "max_execution_time": 50708}


class Older:
    """Forwards connections to a server, whose greeting has another version."""

    def __init__(self, port, version):
        self.to, self.version = port, version
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", self.to))
            head = server.recv(4, socket.MSG_WAITALL)
            body = server.recv(int.from_bytes(head[:3], "little"), socket.MSG_WAITALL)
            body = body[:1] + self.version.encode() + body[body.index(0, 1):]
            client.sendall(struct.pack("<I", len(body))[:3] + head[3:] + body)
            for a, b in ((client, server), (server, client)):
                threading.Thread(target=self._forward, args=(a, b), daemon=True).start()

    @staticmethod
    def _forward(a, b):
        try:
            while data := a.recv(65536):
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
    """asked(db, version): all that the bridge asks of a server of that version about a database."""
    mysql9.execute("SET GLOBAL log_output = 'TABLE', GLOBAL general_log = ON")

    def ask(db, version):
        mysql9.execute("TRUNCATE mysql.general_log")
        relay = Older(mysql9.port, version)
        login = dict(login_of(mysql9), port=relay.port)
        said = [probed(login, "--catalog", db.name), probed(login, "--plan", db.name)]
        relay.listener.close()
        rows = mysql9.query("SELECT argument FROM mysql.general_log WHERE user_host LIKE '%repl%'")
        return b"\n".join(bytes(row[0]) for row in rows).decode(), said
    yield ask
    mysql9.execute("SET GLOBAL general_log = OFF, GLOBAL log_output = DEFAULT")


def test_nothing_newer_is_asked_of_an_old_server(mysql9, asked):
    db = mysql9.fresh_db("older")
    db.execute("CREATE TABLE t (id int AUTO_INCREMENT PRIMARY KEY, v varchar(9) DEFAULT 'x', p point, a int, g int AS (a + 1),"
               " KEY (v)); INSERT INTO t (v) VALUES ('a')")
    text, now = asked(db, mysql9.value("SELECT version()"))
    assert [name for name in CAME if name not in text] == []
    for version in ("5.7.8", "5.7.44", "8.0.11", "8.0.15", "8.0.29"):
        number = int("%d%02d%02d" % tuple(map(int, version.split("."))))
        text, said = asked(db, version)
        assert "information_schema.columns" in text
        assert [name for name, since in CAME.items() if since > number and name in text] == [], version
        assert said == now, version
    db.destroy()
