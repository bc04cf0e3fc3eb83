"""How the bridge's password leaves where no server here can ask for it: peers that speak a method's side of it."""
from lib import ed25519
from lib.bridge import probe
from lib.fakemysql import OK, FakeMySql

SECRET = "sEcReT0f-a\\'pass"


def test_ed25519_is_a_proof():
    """MariaDB's method signs what the server sends, by the password, which stays here."""
    nonce, proofs = bytes(range(100, 132)), []

    def ask(link):
        link.greet(plugin=b"mysql_native_password", version=b"5.5.5-11.8.3-MariaDB")
        link.read()
        link.send(b"\xfeclient_ed25519\0" + nonce)
        proofs.append(link.read())
        link.send(OK)
    with FakeMySql(ask) as peer:
        done = probe({"host": "127.0.0.1", "port": peer.port, "user": "uSeR", "password": SECRET, "sslmode": "disable",
                      "connect_timeout": 20, "read_timeout": 60})
        assert done.returncode == 1 and "sEcReT" not in done.stdout + done.stderr
        assert b"sEcReT" not in peer.received
    assert ed25519.proves(SECRET.encode(), nonce, proofs[0]), done.stderr
    assert not ed25519.proves(b"other", nonce, proofs[0])
