"""Binary logs by `sluice-bridge decode`: files kept from real servers, whose
output is known, and files that servers write now, against what they say."""
import glob
import os
import struct

import pytest

from lib import logtext
from lib.mysqlserver import KINDS, MySqlServer

GOLDEN = os.path.join(os.path.dirname(__file__), "bridge", "golden")
FILES = sorted(os.path.basename(p)[:-7] for p in glob.glob(GOLDEN + "/*.binlog"))


def golden(name):
    with open(os.path.join(GOLDEN, name), "rb") as f:
        return f.read()


def test_all_are_there():
    assert len(FILES) > 50
    assert {f.split("-")[0] for f in FILES} == set(KINDS)
    texts = {os.path.basename(p)[:-4] for p in glob.glob(GOLDEN + "/*.txt")}
    assert texts == set(FILES)


@pytest.mark.parametrize("kind", KINDS)
def test_golden_files(kind):
    for name in (f for f in FILES if f.split("-")[0] == kind):
        text, code, error = logtext.decode(os.path.join(GOLDEN, name + ".binlog"), "--verify")
        want = golden(name + ".txt").decode()
        assert text == want, name
        assert (code, error) == (0, ""), name


def events(data):
    """(offset, length) of a file's events."""
    at = 4
    while at < len(data):
        length = struct.unpack_from("<I", data, at + 9)[0]
        yield at, length
        at += length


def test_every_cut_is_told(tmp_path):
    """A file that ends inside an event: what is whole is printed, then the fault."""
    data = golden("mysql-payload.binlog")
    path = str(tmp_path / "cut")
    for at, length in list(events(data))[:8]:
        for end in (at + 1, at + 18, at + length - 1):
            with open(path, "wb") as f:
                f.write(data[:end])
            text, code, error = logtext.decode(path, "--verify")
            assert code == 1 and "the file ends inside an event" in error, error
            places = {int(i.place.split(".")[0]) for i in logtext.items(text)}
            assert all(p < at for p in places)


def test_a_changed_byte_is_noticed(tmp_path):
    """Checksums: no byte of any event can change unseen with --verify."""
    data = golden("mariadb10.11-compressed.binlog")
    path = str(tmp_path / "changed")
    for at, length in list(events(data))[1:9]:
        for offset in (0, 5, 13, 19, length - 1):
            changed = bytearray(data)
            changed[at + offset] ^= 0x40
            with open(path, "wb") as f:
                f.write(changed)
            _, code, error = logtext.decode(path, "--verify")
            assert code == 1 and "checksum" in error, (at, offset, error)


@pytest.mark.parametrize("begin, says", [
    (b"", "no binary log"), (b"\xfebi", "no binary log"), (b"PGDMP", "no binary log"),
    (b"\xfdbin" + bytes(600), "the file is encrypted"),
])
def test_what_is_no_binary_log(tmp_path, begin, says):
    path = str(tmp_path / "file")
    with open(path, "wb") as f:
        f.write(begin)
    text, code, error = logtext.decode(path)
    assert (text, code) == ("", 1) and says in error


def with_event(data, kind, flags, body):
    """data with one more event, without a checksum's worth."""
    return data + struct.pack("<IBIIIH", 0, kind, 1, 19 + len(body) + 4, 0, flags) + body + bytes(4)


@pytest.mark.parametrize("file, kind, flags, outcome", [
    ("mysql-nothing", 200, 0, "UNKNOWN_200 event: kind 200 of events is not known"),
    ("mysql-nothing", 200, 0x80, None),
    ("mysql-nothing", 36, 0, None),
    ("mysql-nothing", 20, 0, "PRE_GA_WRITE_ROWS event: events of kind 20 may hold changes"),
    ("mysql-nothing", 162, 0, "UNKNOWN_162 event: kind 162"),
    ("mariadb10.11-nothing", 172, 0, "PARTIAL_ROW_DATA event: events of kind 172 may hold changes"),
    ("mariadb10.11-nothing", 40, 0, "UNKNOWN_40 event: kind 40"),
])
def test_what_is_not_understood(tmp_path, file, kind, flags, outcome):
    """What may hold changes stops; what cannot is ignored by its name."""
    path = str(tmp_path / "file")
    with open(path, "wb") as f:
        f.write(with_event(golden(file + ".binlog"), kind, flags, b"body"))
    text, code, error = logtext.decode(path)
    if outcome is None:
        assert code == 0 and logtext.items(text)[-1].rest.endswith("ignored"), error
    else:
        assert code == 1 and "unsupported: " + outcome in error


def test_encrypted_after_its_head(tmp_path):
    """MariaDB's files begin in the clear."""
    path = str(tmp_path / "file")
    data = golden("mariadb10.11-nothing.binlog")
    at = list(events(data))[1][0]
    with open(path, "wb") as f:
        f.write(with_event(data[:at], 164, 0, b"\x01" + bytes(16)) + os.urandom(300))
    text, code, error = logtext.decode(path)
    assert logtext.items(text)[-1].name == "START_ENCRYPTION"
    assert code == 1 and "what follows is encrypted" in error


# -- a log that is written now ----------------------------------------------------

MIX = """
CREATE TABLE mix (id int PRIMARY KEY AUTO_INCREMENT, i bigint unsigned, d decimal(20,6), f float,
  g double, s varchar(200), l varchar(50) CHARACTER SET latin1, b varbinary(300), t datetime(6),
  z timestamp(3) NULL, m time(4), e enum('a','b','c'), x set('p','q','r'), y year, bi bit(17));
"""


def fill(conn, rounds):
    with conn.cursor() as cur:
        for n in range(rounds):
            cur.execute(
                "INSERT INTO mix (i, d, f, g, s, l, b, t, z, m, e, x, y, bi) VALUES"
                " (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)",
                (18446744073709551615 - n * 977, "-%d.%06d" % (n * n, n), n / 7, -n / 3,
                 "s'\\\n%d\u00e9\U0001f600" % n * 3, "\u00fc" * (n % 40), bytes(range(n % 250)),
                 "2%03d-02-0%d 01:02:03.%06d" % (n % 1000, 1 + n % 9, n), "2025-03-30 02:30:00.125",
                 "-%d:00:00.0001" % n, 1 + n % 3, n % 8, 1901 + n % 250, n * 37 % 131072))
            if n % 3 == 0:
                cur.execute("UPDATE mix SET s = NULL, d = d + 1, l = 'x' WHERE id %% 7 = %s",
                            (n % 7,))
            if n % 5 == 0:
                cur.execute("DELETE FROM mix WHERE id %% 11 = %s", (n % 11,))


@pytest.mark.parametrize("kind, settings", [
    ("mariadb10.11", "SET SESSION binlog_row_image = 'FULL'"),
    ("mariadb11.8", "SET GLOBAL log_bin_compress = 1, GLOBAL log_bin_compress_min_len = 10"),
    ("mysql", "SET SESSION binlog_transaction_compression = 0"),
    ("mysql", "SET SESSION binlog_transaction_compression = 1"),
])
def test_a_fresh_log(kind, settings):
    """Every event's place and kind as SHOW BINLOG EVENTS has them, and rows that
    make what SELECT shows."""
    server = MySqlServer(kind).start()
    try:
        server.execute("CREATE DATABASE g CHARACTER SET utf8mb4")
        name = server.flush_logs()
        server.execute(MIX, dbname="g")
        conn = server.connect("g")
        with conn.cursor() as cur:
            cur.execute(settings)
        conn.close()
        conn = server.connect("g", init_command=settings)
        fill(conn, 120)
        conn.close()
        server.flush_logs()
        path = [p for p in server.log_files() if p.endswith(name)][0]
        assert logtext.differences(server, path, name, ["g.mix"]) == []
        if kind != "mariadb10.11" and not settings.endswith("= 0"):
            names = {i.name for i in logtext.items(logtext.decode(path)[0])}
            assert names & {"TRANSACTION_PAYLOAD", "WRITE_ROWS_COMPRESSED_V1"}
    finally:
        server.destroy()
