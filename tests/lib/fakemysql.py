"""A peer that speaks as much of the MySQL protocol as a test wants, and wrongly."""
import struct

from .util import Listener

CLIENT_SSL = 0x800
# PROTOCOL_41, SECURE_CONNECTION, PLUGIN_AUTH, TRANSACTIONS, CONNECT_WITH_DB, long flags
CAPABILITIES = 0x1 | 0x4 | 0x8 | 0x200 | 0x2000 | 0x8000 | 0x80000

OK = b"\0\0\0\2\0\0\0"
EOF = b"\xfe\0\0\2\0"


def packet(data, seq):
    """One packet with its head; data of at most 2^24 - 2 bytes."""
    return struct.pack("<I", len(data))[:3] + bytes([seq & 255]) + data


def lenenc(data):
    n = len(data)
    return (bytes([n]) if n < 251 else b"\xfc" + struct.pack("<H", n)) + data


def column(name, kind, collation=63, length=64, flags=0):
    return (lenenc(b"def") + lenenc(b"d") + lenenc(b"t") * 2 + lenenc(name) * 2 +
            b"\x0c" + struct.pack("<HIBHB", collation, length, kind, flags, 0) + b"\0\0")


class Link:
    """One connection as the peer has it."""

    def __init__(self, sock):
        self.sock = sock
        self.received = b""
        self.seq = 0

    def send(self, data):
        self.sock.sendall(packet(data, self.seq))
        self.seq += 1

    def raw(self, data):
        self.sock.sendall(data)

    def read(self):
        """The next packet from the client, b"" at its end."""
        head = self._exactly(4)
        if not head:
            return b""
        self.seq = head[3] + 1
        return self._exactly(int.from_bytes(head[:3], "little"))

    def _exactly(self, n):
        data = b""
        while len(data) < n:
            more = self.sock.recv(n - len(data))
            if not more:
                return b""
            data += more
            self.received += more
        return data

    def greet(self, plugin=b"caching_sha2_password", version=b"9.7.0", capabilities=CAPABILITIES):
        self.send(b"\x0a" + version + b"\0" + struct.pack("<I", 7) + b"scramble\0" +
                  struct.pack("<HBHHB", capabilities & 0xffff, 45, 2, capabilities >> 16, 21) +
                  bytes(10) + b"of12bytes...\0" + plugin + b"\0")

    def login(self, **kw):
        """Let the client in, whoever it is."""
        self.greet(**kw)
        self.read()
        self.send(b"\1\3")
        self.send(OK)

    def statements(self, answer):
        """Answer every statement with OK until answer(self, command) does not return False."""
        while True:
            command = self.read()
            if not command:
                return
            self.seq = 1
            if command[:1] == b"\x19":         # COM_STMT_CLOSE has no answer
                continue
            if answer(self, command) is False:
                self.send(OK)


class FakeMySql(Listener):
    """Listens on 127.0.0.1 and gives every connection to script(link)."""

    def __init__(self, script):
        self.script = script
        self.links = []
        super().__init__(self._converse)

    def _converse(self, sock):
        link = Link(sock)
        self.links.append(link)
        try:
            self.script(link)
        except OSError:
            pass
        sock.close()

    @property
    def received(self):
        """All that clients ever sent."""
        return b"".join(link.received for link in self.links)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
