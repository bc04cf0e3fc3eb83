"""Connections of the bridge to MariaDB and MySQL: logins, TLS, rows, the dump."""
import hashlib
import os
import random
import re
import struct
import subprocess

import pytest

from lib import MySqlServer, free_port, wait_until
from lib.bridge import as_lines, login_of, probe, probed, start_bridge
from lib.fakemysql import EOF, OK, FakeMySql, column, lenenc

SECRET = "sEcReT0f-a\\'pass"


@pytest.fixture(scope="module", params=["mariadb10.11", pytest.param("mariadb11.8", marks=pytest.mark.long), "mysql"])
def own(request):
    """A server of each kind that tests of this file may kill and set up: they leave it running."""
    server = MySqlServer(request.param).start()
    yield server
    server.destroy()


def fails(done, *patterns):
    """The probe failed, with these patterns in what it said, and without the password."""
    said = done.stdout + done.stderr
    assert done.returncode == 1, said
    for pattern in patterns:
        assert re.search(pattern, done.stderr), "%r not in %r" % (pattern, done.stderr)
    assert "sEcReT" not in said
    return done.stderr


def lost(done, *patterns):
    return fails(done, "the connection is lost: try again", *patterns)


def account(server, name, **kw):
    """A user of its own for this test on a shared server; its parameters."""
    server.execute("DROP USER IF EXISTS `%s`@`%%`" % name)
    server.create_user(name, SECRET.replace("\\", "\\\\").replace("'", "\\'"), **kw)
    return {"user": name, "password": SECRET}


def files(tmp_path, server, **params):
    """A file of parameters, for probes that read standard input."""
    path = tmp_path / "source"
    path.write_text(as_lines(login_of(server, **params)))
    path.chmod(0o600)
    return path


# -- who is there -----------------------------------------------------------

def test_describes_the_server(my_server):
    said = dict(line.split(": ", 1) for line in probed(login_of(my_server)))
    kind = "mariadb" if my_server.is_mariadb else "mysql"
    assert said["server"] == "%s %s" % (kind, my_server.value("SELECT version()"))
    major, minor, patch = re.match(r"(\d+)\.(\d+)\.(\d+)", said["server"].split()[1]).groups()
    assert int(said["version"]) == int(major) * 10000 + int(minor) * 100 + int(patch)
    assert said["tls"].startswith("TLS_")
    assert said["server_id"] == str(my_server.value("SELECT @@server_id"))
    assert said["log_bin"] == "on"
    assert (said["log_file"], int(said["log_pos"])) == my_server.position()
    assert said["gtid"] == my_server.gtid()
    if my_server.is_mariadb:
        assert said["gtid_domain_id"] == "0"
    else:
        assert said["server_uuid"] == my_server.value("SELECT @@server_uuid")


def test_unix_socket(my_server):
    said = probed(login_of(my_server, host=my_server.socket))
    assert "tls: none" in said
    # where TLS is asked for by name a socket has it too
    said = probed(login_of(my_server, host=my_server.socket, sslmode="require"))
    assert any(line.startswith("tls: TLS_") for line in said)


# -- logins -----------------------------------------------------------------

def test_wrong_password(my_server):
    done = probe(login_of(my_server, password="sEcReTwrong"))
    fails(done, r"Access denied .*\(error 1045\)", "the login was refused")


def test_unknown_user_and_database(my_server):
    fails(probe(login_of(my_server, user="nobody")), "the login was refused")
    fails(probe(login_of(my_server, dbname="no_such_database")), "the login was refused")


def test_account_that_needs_tls(my_server):
    who = account(my_server, "tls_only", require="SSL",
                  grants=["REPLICATION CLIENT ON *.*"])
    probed(login_of(my_server, **who))
    fails(probe(login_of(my_server, sslmode="disable", **who)), "the login was refused")


def test_locked_account(my_server):
    who = account(my_server, "locked")
    my_server.execute("ALTER USER locked@'%' ACCOUNT LOCK")
    fails(probe(login_of(my_server, **who)), "the login was refused")


@pytest.mark.parametrize("plugin", ["caching_sha2_password", "sha256_password"])
def test_password_needs_a_private_way(mysql9, plugin):
    """A login that sends the password does so through TLS or a socket only."""
    who = account(mysql9, "cold_" + plugin[:7], plugin=plugin, grants=["REPLICATION CLIENT ON *.*"])
    plain = login_of(mysql9, sslmode="disable", **who)
    fails(probe(plain), "the connection is not encrypted; use TLS", "the login was refused")
    if plugin == "caching_sha2_password":
        probed(login_of(mysql9, host=mysql9.socket, **who))
        probed(plain)                           # known now: a proof is enough
        mysql9.execute("FLUSH PRIVILEGES")      # forget what was cached
        fails(probe(plain), "is not encrypted")
        probed(login_of(mysql9, **who))
        probed(plain)
    else:
        # the server does not take a socket for a private way
        fails(probe(login_of(mysql9, host=mysql9.socket, **who)), "is not encrypted; use TLS")
        probed(login_of(mysql9, host=mysql9.socket, sslmode="require", **who))
        probed(login_of(mysql9, **who))
        fails(probe(plain), "is not encrypted")


@pytest.mark.parametrize("which", ["mariadb10", "mariadb11"])
def test_native_password(which, request):
    server = request.getfixturevalue(which)
    who = account(server, "native", plugin="mysql_native_password",
                  grants=["REPLICATION CLIENT ON *.*"])
    for how in ({}, {"sslmode": "disable"}, {"host": server.socket}):
        probed(login_of(server, **dict(how, **who)))


def test_empty_password(my_server):
    my_server.execute("DROP USER IF EXISTS no_pass@'%'")
    my_server.execute("CREATE USER no_pass@'%' IDENTIFIED BY ''")
    my_server.execute("GRANT REPLICATION CLIENT ON *.* TO no_pass@'%'")
    probed(login_of(my_server, user="no_pass", password=""))


# -- nobody there -----------------------------------------------------------

def test_unknown_host():
    lost(probe({"host": "no-such-host.invalid", "user": "x"}), "error 200[25]")


def test_nobody_listens(tmp_path):
    lost(probe({"host": "127.0.0.1", "port": free_port(), "user": "x"}), r"error 200[23]")
    lost(probe({"host": str(tmp_path / "s"), "user": "x"}), r"error 2002")


@pytest.mark.parametrize("params, pattern", [
    ({"host": "a=b", "user": "x"}, "no name or address of one host"),
    ({"host": "a,b", "user": "x"}, "no name or address of one host"),
    ({"host": "h"}, "no user is given"),
    ({"user": "x"}, "neither a host nor a socket"),
    ({"host": "h", "user": "x", "sslmode": "verify-ca"}, "verify-ca needs sslrootcert"),
])
def test_parameters_are_checked(params, pattern):
    fails(probe(params), pattern)


@pytest.mark.parametrize("params, pattern", [
    ({"sslmode": "prefer"}, "give verify-full, verify-ca, require or disable"),
    ({"port": "x"}, "port must be a number"),
    ({"passwort": "sEcReT"}, "is no parameter"),
])
def test_parameters_are_known(params, pattern):
    done = probe(params)
    assert done.returncode == 64 and re.search(pattern, done.stderr), done.stderr
    assert "sEcReT" not in done.stderr


def test_file_that_others_may_read(tmp_path, mysql9):
    path = files(tmp_path, mysql9)
    assert start_and_end("--file", path)[0] == 0
    path.chmod(0o640)
    code, _, said = start_and_end("--file", path)
    assert code != 0 and "its owner alone may read" in said


def start_and_end(*argv):
    proc = start_bridge("probe", *argv)
    out, err = proc.communicate("")
    return proc.returncode, out, err


# -- TLS --------------------------------------------------------------------

def make_ca(folder, name="other CA"):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:P-256", "-nodes", "-days", "3650", "-subj", "/CN=" + name,
                    "-keyout", folder / "ca-key.pem", "-out", folder / "ca.pem"],
                   check=True, stderr=subprocess.DEVNULL)
    return folder / "ca.pem"


def make_cert(folder, san, start="20200101000000Z", end="20990101000000Z"):
    """A certificate of the folder's CA for san; (certificate, key)."""
    config = folder / "ca.cnf"
    config.write_text("""
[ca]
default_ca = one
[one]
database = %(d)s/index
serial = %(d)s/serial
new_certs_dir = %(d)s
default_md = sha256
policy = any
x509_extensions = names
unique_subject = no
[any]
commonName = supplied
[names]
subjectAltName = %(san)s
""" % {"d": folder, "san": san})
    (folder / "index").write_text("")
    (folder / "serial").write_text("01\n")
    subprocess.run(["openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                    "-nodes", "-subj", "/CN=server", "-keyout", folder / "key.pem",
                    "-out", folder / "csr.pem"], check=True, stderr=subprocess.DEVNULL)
    subprocess.run(["openssl", "ca", "-batch", "-config", config, "-in", folder / "csr.pem",
                    "-out", folder / "cert.pem", "-cert", folder / "ca.pem", "-keyfile",
                    folder / "ca-key.pem", "-startdate", start, "-enddate", end, "-notext"],
                   check=True, stderr=subprocess.DEVNULL)
    return folder / "cert.pem", folder / "key.pem"


def test_certificate_of_another_ca(my_server, tmp_path):
    other = make_ca(tmp_path)
    for mode in ("verify-full", "verify-ca"):
        fails(probe(login_of(my_server, sslrootcert=other, sslmode=mode)),
              r"certificate.*\(error 2026\)")
    probed(login_of(my_server, sslrootcert=other, sslmode="require"))
    # no CA of ours: the system's do not know it
    fails(probe(login_of(my_server, sslrootcert=None)), r"certificate.*\(error 2026\)")


def test_file_of_the_ca_is_missing(mysql9, tmp_path):
    fails(probe(login_of(mysql9, sslrootcert=tmp_path / "none")), r"error 2026")


def test_certificates_of_another_host_and_expired(make_mysql, tmp_path):
    """The server's certificate as it is, for another name, out of date."""
    server = make_mysql("mariadb10.11", "tls")
    ca = make_ca(tmp_path)

    def present(san, **dates):
        made = make_cert(tmp_path, san, **dates)
        for path, name in zip(made, ("cert.pem", "key.pem")):
            with open(server.base + "/" + name, "wb") as f:
                f.write(path.read_bytes())
        for name in ("cert.pem", "key.pem"):
            subprocess.run(["chown", "64100:64100", server.base + "/" + name], check=True)
        server.restart(**{"ssl-cert": server.inside(server.base + "/cert.pem"),
                          "ssl-key": server.inside(server.base + "/key.pem")})

    def result(mode):
        return probe(login_of(server, sslrootcert=ca, sslmode=mode))
    present("IP:127.0.0.1")
    for mode in ("verify-full", "verify-ca", "require"):
        assert result(mode).returncode == 0, mode
    present("DNS:db.example")
    fails(result("verify-full"), "error 2026")
    for mode in ("verify-ca", "require"):
        assert result(mode).returncode == 0, mode
    present("IP:127.0.0.1", end="20210101000000Z")
    for mode in ("verify-full", "verify-ca"):
        fails(result(mode), r"certificate has expired.*\(error 2026\)")
    assert result("require").returncode == 0


# -- the session ------------------------------------------------------------

def test_session_is_pinned(own):
    """Defaults of the server that would change what is read do not."""
    db = own.fresh_db("pinned")
    db.execute("SET sql_mode = '', time_zone = '+00:00'; "
               "CREATE TABLE t (id int AUTO_INCREMENT PRIMARY KEY, c char(10), "
               "ts timestamp NULL) CHARACTER SET latin1; "
               "INSERT INTO t (c, ts) VALUES ('a', '2024-01-02 03:04:05'), ('é', NULL), ('', NULL)")
    own.execute("SET GLOBAL sql_mode = 'PAD_CHAR_TO_FULL_LENGTH,ANSI_QUOTES,NO_BACKSLASH_ESCAPES', "
                "GLOBAL time_zone = '-03:30', GLOBAL init_connect = 'SET sql_auto_is_null = 1', "
                "GLOBAL sql_select_limit = 2, " +
                ("GLOBAL max_statement_time = 0.2" if own.is_mariadb
                 else "GLOBAL max_execution_time = 200"))
    who = login_of(own)
    rows = [line.split("\t") for line in
            probed(who, "--query", "SELECT c, ts FROM `%s`.t ORDER BY id" % db.name)]
    assert [bytes.fromhex(r[0].split(":")[1]) for r in rows] == [b"a", b"\xe9", b""]
    assert bytes.fromhex(rows[0][1].split(":")[1]) == b"2024-01-02 03:04:05"
    utf8 = probed(who, "--utf8", "--query", "SELECT c FROM `%s`.t ORDER BY id" % db.name)
    assert bytes.fromhex(utf8[1].split(":")[1]).decode() == "é"
    # longer than the server's limit for a statement
    assert len(probed(who, "--query", "SELECT sleep(0.6) FROM `%s`.t WHERE id = 1" % db.name)) == 1
    own.restart()


# -- rows -------------------------------------------------------------------

def test_large_rows_in_both_protocols(my_db):
    size = 40 * 1024 * 1024
    my_db.execute("SET SESSION sql_log_bin = 0; CREATE TABLE t (id int PRIMARY KEY, v longblob)")
    my_db.execute("SET SESSION sql_log_bin = 0; INSERT INTO t VALUES (1, REPEAT('xyz0', %d)), (2, 'b')"
                  % (size // 4))
    want = "%d:sha256:%s" % (size, hashlib.sha256(b"xyz0" * (size // 4)).hexdigest())
    sql = "SELECT v FROM `%s`.t ORDER BY id" % my_db.name
    assert probed(login_of(my_db.server), "--query", sql) == [want, "1:62"]
    assert probed(login_of(my_db.server), "--rows", sql)[1:] == [want, "1:62"]


def test_refused_statement(my_db):
    who = login_of(my_db.server)
    fails(probe(who, "--query", "SELECT 1 FROM no_such.t"), r"\(error 1146|1049|1142\)")
    fails(probe(who, "--rows", "SELECT 1 FROM no_such.t"), r"\(error 1146|1049|1142\)")
    fails(probe(who, "--rows", "SET @a = 1"), "has no columns")
    # one that fails after its first rows
    fails(probe(who, "--rows", "SELECT id, (SELECT 1 UNION SELECT id) FROM "
                "(SELECT 1 id UNION SELECT 2) x"), r"\(error 1242\)")


def fill(db, rows, width):
    db.execute("SET SESSION sql_log_bin = 0; CREATE TABLE t (id int AUTO_INCREMENT PRIMARY KEY, v longblob)")
    db.execute("SET SESSION sql_log_bin = 0; INSERT INTO t (v) VALUES (REPEAT('x', %d))" % width)
    have = 1
    while have < rows:
        db.execute("SET SESSION sql_log_bin = 0; INSERT INTO t (v) SELECT v FROM t LIMIT %d" % min(have, rows - have))
        have += min(have, rows - have)


def test_server_killed_in_the_rows(own, tmp_path):
    db = own.fresh_db("t")
    fill(db, 64, 1 << 20)
    proc = start_bridge("probe", "--file", files(tmp_path, own), "--step", "--rows",
                        "SELECT * FROM `%s`.t" % db.name)
    assert proc.stdout.readline().startswith("# id:")
    own.kill9()
    out, err = proc.communicate("\n")
    own.start()
    assert proc.returncode == 1 and "the connection is lost: try again" in err, err
    assert len(out.splitlines()) < 64


def test_server_ends_in_the_dump(own, tmp_path):
    """Killed, or shut down, which MySQL says like the end of a log."""
    for end in (own.kill9, own.stop):
        proc = start_bridge("probe", "--file", files(tmp_path, own), "--dump", "1000",
                            "--heartbeat", "1")
        assert proc.stdout.readline().startswith("ROTATE ")
        end()
        _, err = proc.communicate()
        own.start()
        assert proc.returncode == 1 and "the connection is lost: try again" in err, err


def test_woken_by_a_signal(my_server, tmp_path):
    proc = start_bridge("probe", "--file", files(tmp_path, my_server), "--dump", "100000",
                        "--heartbeat", "3600")
    assert proc.stdout.readline().startswith("ROTATE ")
    proc.terminate()
    _, err = proc.communicate()
    assert proc.returncode == 1 and "the connection is lost" in err, err


def test_slow_reader(own, tmp_path):
    """A reader that pauses for longer than the server's net_write_timeout."""
    own.execute("SET GLOBAL net_write_timeout = 2")
    db = own.fresh_db("t")
    fill(db, 64, 1 << 20)
    proc = start_bridge("probe", "--file", files(tmp_path, own), "--step", "--rows",
                        "SELECT * FROM `%s`.t" % db.name)
    assert proc.stdout.readline().startswith("# id:")
    # a session that is not pinned, which stops reading at the same time
    other = own.connect(db.name)
    other._execute_command(3, "SELECT * FROM t")

    def seconds(thread):
        return own.value("SELECT TIME FROM information_schema.PROCESSLIST "
                         "WHERE ID = %s AND COMMAND <> 'Sleep'", thread)
    wait_until(lambda: seconds(other.thread_id()) is None, 60, "the other reader is still served")
    ours = own.value("SELECT ID FROM information_schema.PROCESSLIST WHERE USER = 'repl'")
    wait_until(lambda: seconds(ours) is None or seconds(ours) >= 5, 60, "no pause")
    out, err = proc.communicate("\n")
    own.restart()
    assert proc.returncode == 0, err
    assert len(out.splitlines()) == 64


# -- the dump ---------------------------------------------------------------

def kinds_of(lines):
    return [line.split()[0] for line in lines]


def changes(db):
    db.execute("CREATE TABLE t (id int PRIMARY KEY, v text)")
    before = db.server.position(), db.server.gtid()
    db.execute("INSERT INTO t VALUES (1, 'a')")
    db.execute("UPDATE t SET v = 'b'")
    return before


def row_kinds(kinds):
    return [re.sub(r"_V[12]$", "", k) for k in kinds if "_ROWS_V" in k]


def test_dump_by_position(my_db):
    (name, pos), _ = changes(my_db)
    lines = probed(login_of(my_db.server), "--dump", 1000000, "--stop-at-end",
                   "--from", "%s:%d" % (name, pos))
    kinds = kinds_of(lines)
    start = next(i for i, line in enumerate(lines) if line.startswith("ROTATE"))
    assert kinds[start:start + 2] == ["ROTATE", "FORMAT_DESCRIPTION"]
    assert lines[-1] == "end"
    assert row_kinds(kinds) == ["WRITE_ROWS", "UPDATE_ROWS"]


def test_dump_by_gtid(my_db):
    _, gtid = changes(my_db)
    lines = probed(login_of(my_db.server), "--dump", 1000000, "--stop-at-end", "--gtid", gtid)
    assert lines[-1] == "end"
    assert row_kinds(kinds_of(lines)) == ["WRITE_ROWS", "UPDATE_ROWS"]


def test_dump_of_a_large_event(my_db):
    size = 40 * 1024 * 1024
    my_db.execute("CREATE TABLE t (id int PRIMARY KEY, v longblob)")
    at = my_db.server.position()
    my_db.execute("INSERT INTO t VALUES (1, REPEAT('x', %d))" % size)
    lines = probed(login_of(my_db.server), "--dump", 1000, "--stop-at-end", "--from", "%s:%d" % at)
    rows = [int(re.search(r"length (\d+)", line)[1]) for line in lines if "WRITE_ROWS" in line]
    assert len(rows) == 1 and size < rows[0] < size + 200


def test_heartbeats_of_an_idle_server(own, tmp_path):
    """A read time limit above the heartbeat's period is not reached, one of a frozen server is."""
    path = files(tmp_path, own, read_timeout=5)
    proc = start_bridge("probe", "--file", path, "--dump", "100", "--heartbeat", "1")
    seen = []
    while seen.count("HEARTBEAT") < 7:
        line = proc.stdout.readline()
        assert line, proc.communicate()[1]
        seen.append(line.split()[0])
    own.freeze()
    _, err = proc.communicate()
    own.thaw()
    assert proc.returncode == 1 and "the connection is lost" in err, err
    code, _, err = start_and_end("--file", path, "--dump", "1", "--heartbeat", "5")
    assert code == 1 and "would come too late" in err


def test_purged_log(own):
    """Error 1236 comes with its number and the server's own words."""
    db = own.fresh_db("t")
    (name, pos), gtid = changes(db)
    own.purge_logs()
    who = login_of(own)
    by_file = fails(probe(who, "--dump", 100, "--stop-at-end", "--from", "%s:%d" % (name, pos)),
                    r"\(error 1236\)", "[Cc]ould not find first log file name")
    assert "the connection is lost" not in by_file
    fails(probe(who, "--dump", 100, "--stop-at-end", "--gtid", gtid),
          r"\(error 1236\)", "purged|Could not find GTID state")


def test_dump_needs_its_privilege(my_server):
    who = account(my_server, "no_dump", grants=["REPLICATION CLIENT ON *.*"])
    fails(probe(login_of(my_server, **who), "--dump", 1), r"\(error 1227\)")


def test_second_replica_with_the_same_id(my_server, tmp_path):
    proc = start_bridge("probe", "--file", files(tmp_path, my_server), "--dump", "1000000",
                        "--server-id", "4711", "--heartbeat", "3600")
    assert proc.stdout.readline().startswith("ROTATE ")
    probed(login_of(my_server), "--dump", 2, "--server-id", 4711)
    _, err = proc.communicate()
    assert proc.returncode == 1, err
    assert re.search("same server_(uuid/server_)?id", err), err


# -- values -----------------------------------------------------------------

COLUMNS = [      # (definition, values as SQL)
    ("tinyint", "-128, 127, 0"), ("tinyint unsigned", "255, 0"), ("smallint", "-32768, 32767"),
    ("mediumint", "-8388608, 8388607"), ("mediumint unsigned", "16777215"),
    ("int", "-2147483648, 2147483647"), ("int unsigned", "4294967295"),
    ("bigint", "-9223372036854775808, 9223372036854775807"),
    ("bigint unsigned", "18446744073709551615"),
    ("decimal(65,30)", "-12345678901234567890123456789012345.000000000000000000000000000001, 0"),
    ("double", "-1.7976931348623157e308, 2.5, 0"), ("float", "1.5, -0.25"),
    ("bit(10)", "b'1000000011', b'0'"), ("year", "1901, 0, 2155"),
    ("date", "'0000-00-00', '2024-02-29', '9999-12-31', '2024-00-10'"),
    ("time", "'00:00:00', '-838:59:59', '12:34:56'"),
    ("time(6)", "'-00:00:00.000001', '838:59:58.999999', '00:00:01'"),
    ("datetime", "'0000-00-00', '2024-01-02 03:04:05', '2024-01-02'"),
    ("datetime(6)", "'2024-01-02 03:04:05.000001', '2024-01-02', '9999-12-31 23:59:59.999999'"),
    ("timestamp(3) NULL", "'2024-03-31 02:30:00.123', '1970-01-01 00:00:01'"),
    ("char(10)", "'ab', '', 'é€😀'"), ("varchar(300)", "'x', REPEAT('y', 300), ''"),
    ("char(5) CHARACTER SET latin1", "'é', ''"), ("varchar(9) CHARACTER SET ucs2", "'é€'"),
    ("binary(4)", "'a', x'00', x'ffffffff'"), ("varbinary(300)", "x'00ff', REPEAT('z', 251)"),
    ("tinytext", "'t'"), ("text", "REPEAT('t', 65535)"), ("mediumtext", "REPEAT('m', 70000)"),
    ("longblob", "REPEAT(x'00', 16777300)"), ("enum('a','ü')", "'ü', 'a'"), ("set('p','q')", "'p,q', ''"),
    ("point", "ST_GeomFromText('POINT(10 20)')"),
]
OF_MARIADB = [("uuid", "'123e4567-e89b-12d3-a456-426655440000'"), ("inet6", "'::1'"), ("json", "'{\"a\": 1}'")]
OF_MYSQL = [("json", "'{\"a\": [1, 2.5, null]}', '\"x\"'"), ("vector(2)", "TO_VECTOR('[1,2]')")]


def as_text(column, data):
    """A value of the binary protocol as the text protocol has it."""
    name, kind, flags, _, decimals = column.split(":")
    kind, unsigned, decimals = int(kind), int(flags) & 32, int(decimals)
    if kind in (1, 2, 3, 8, 9, 13):
        number = int.from_bytes(data, "little", signed=not unsigned and kind != 13)
        return b"%04d" % number if kind == 13 else b"%d" % number
    if kind == 4:
        return b"%g" % struct.unpack("<f", data)[0]
    if kind == 5:
        return re.sub(r"\.0$", "", repr(struct.unpack("<d", data)[0])).replace("e+", "e").encode()
    if kind in (10, 7, 12):
        return datetime_text(kind, decimals, data)
    if kind == 11:
        return time_text(decimals, data)
    return data


def datetime_text(kind, decimals, data):
    year, month, day, hour, minute, second, micro = struct.unpack("<HBBBBBI", data + bytes(11 - len(data)))
    out = "%04d-%02d-%02d" % (year, month, day)
    if kind != 10:
        out += " %02d:%02d:%02d" % (hour, minute, second)
        out += ".%06d" % micro if decimals else ""
    return (out[:len(out) - 6 + decimals] if decimals else out).encode()


def time_text(decimals, data):
    negative, days, hour, minute, second, micro = struct.unpack("<BIBBBI", data + bytes(12 - len(data)))
    out = "%s%02d:%02d:%02d" % ("-" if negative else "", days * 24 + hour, minute, second)
    return (out + (".%06d" % micro)[:decimals + 1] if decimals else out).encode()


def shown(value):
    """What the probe prints of a value."""
    if value is None:
        return "\\N"
    return "%d:%s" % (len(value), value.hex() if len(value) <= 256
                      else "sha256:" + hashlib.sha256(value).hexdigest())


def test_values_of_both_protocols(my_db):
    """Every type's values in the binary protocol are those of the text protocol."""
    server = my_db.server
    columns = COLUMNS + (OF_MARIADB if server.is_mariadb else OF_MYSQL)
    my_db.execute("SET SESSION sql_log_bin = 0, sql_mode = 'ALLOW_INVALID_DATES', time_zone = '+00:00'; " + "; ".join(
        "CREATE TABLE t%d (id int AUTO_INCREMENT PRIMARY KEY, v %s) CHARACTER SET utf8mb4; "
        "INSERT INTO t%d (v) VALUES (NULL), (%s)" % (i, kind, i, "), (".join(split_values(values)))
        for i, (kind, values) in enumerate(columns)))
    for i, (kind, values) in enumerate(columns):
        sql = "SELECT v, 1 AS one, v AS again FROM `%s`.t%d ORDER BY id" % (my_db.name, i)
        head, *rows = probed(login_of(server), "--rows", sql)
        text = probed(login_of(server), "--query", sql)
        assert len(rows) == len(text) == len(split_values(values)) + 1, kind
        column = head[2:].split("\t")[0]
        for row, want in zip(rows, text):
            value, one, again = row.split("\t")
            assert value == again and re.fullmatch("[48]:01(00)+", one), row
            if value != "\\N" and "sha256" not in value:
                value = shown(as_text(column, bytes.fromhex(value.split(":")[1])))
            assert value == want.split("\t")[0], kind


def split_values(values):
    """At commas outside of parentheses and quotes."""
    return [v.strip() for v in re.findall(r"(?:[^,('\[]|\((?:[^()]|\([^()]*\))*\)|'[^']*')+", values)]


# -- peers that are no servers ----------------------------------------------

def fake(port, **params):
    return dict({"host": "127.0.0.1", "port": port, "user": "uSeR", "password": SECRET,
                 "connect_timeout": 20, "read_timeout": 60}, **params)


def never_told(peer):
    assert SECRET.encode() not in peer.received
    assert b"sEcReT" not in peer.received


@pytest.mark.parametrize("mode", ["verify-full", "require"])
def test_peer_without_tls_learns_nothing(mode):
    """Where TLS is wanted and not offered, not even the user's name is sent."""
    for plugin in (b"caching_sha2_password", b"mysql_native_password", b"sha256_password"):
        with FakeMySql(lambda link: link.login(plugin=plugin)) as peer:
            fails(probe(fake(peer.port, sslmode=mode)), "does not offer TLS")
            assert peer.received == b""


@pytest.mark.parametrize("method", [b"mysql_clear_password", b"dialog", b"mysql_old_password",
                                    b"auth_gssapi_client", b"sha256_password"])
def test_peer_that_wants_the_password(method):
    def ask(link):
        link.greet(plugin=b"mysql_native_password")
        link.read()
        link.send(b"\xfe" + method + b"\0" + b"twenty random bytes.\0")
        link.read()
        link.send(OK)
    with FakeMySql(ask) as peer:
        fails(probe(fake(peer.port, sslmode="disable")))
        never_told(peer)


def test_peer_that_sends_a_key():
    """caching_sha2_password's full login: no key of the peer's is taken."""
    def ask(link):
        link.greet()
        link.read()
        link.send(b"\1\4")
        assert link.read() == b""
    with FakeMySql(ask) as peer:
        fails(probe(fake(peer.port, sslmode="disable")), "the connection is not encrypted")
        never_told(peer)


GREETINGS = [
    b"", b"\x0a", b"\x0a9.7", b"\x0a9.7.0\0", b"\x0a9.7.0\0\1\0\0\0scramble", b"\x09old\0", b"\xff",
    b"\xff\x10\x04Too many connections", b"\0" * 40, b"\xfe" * 40, b"HTTP/1.1 400 Bad Request",
    b"\x0a" + b"9" * 5000 + b"\0",
]


@pytest.mark.parametrize("greeting", GREETINGS, ids=range(len(GREETINGS)))
def test_malformed_greeting(greeting):
    with FakeMySql(lambda link: link.send(greeting)) as peer:
        done = probe(fake(peer.port, sslmode="disable"))
        fails(done, "could not connect")


def test_peer_that_says_nothing():
    def hold(link):
        link.sock.settimeout(30)
        link.sock.recv(1)
    with FakeMySql(hold) as peer:
        lost(probe(fake(peer.port, sslmode="disable", connect_timeout=1)))


def query_answers(answer):
    """A peer that lets in, and gives answer(link, command) to all but the session's set-up."""
    def script(link):
        link.login()

        def reply(link, command):
            return False if command[1:4].upper() == b"SET" else answer(link, command)
        link.statements(reply)
    return FakeMySql(script)


def statement_rows(columns, *rows):
    """Prepared, run: these columns, these raw packets for rows."""
    def answer(link, command):
        if command[:1] == b"\x16":
            link.send(b"\0\1\0\0\0" + struct.pack("<HHBH", len(columns), 0, 0, 0))
        elif command[:1] == b"\x17":
            link.send(bytes([len(columns)]))
        else:
            return False
        for one in columns:
            link.send(one)
        link.send(EOF)
        if command[:1] == b"\x17":
            for row in rows:
                link.send(row)
            link.send(EOF)
    return query_answers(answer)


INT, DATETIME, TEXT = (column(b"c", kind) for kind in (3, 12, 253))
BAD_ROWS = [
    (INT, b""), (INT, b"\0"), (INT, b"\0\0"), (INT, b"\0\0abc"), (INT, b"\0\0abcde"), (INT, b"\1\0abcd"),
    (INT, b"\0\4x"), (TEXT, b"\0\0"), (TEXT, b"\0\0\5abcd"), (TEXT, b"\0\0\xfb"), (TEXT, b"\0\0\xff"),
    (TEXT, b"\0\0\xfc\1"), (TEXT, b"\0\0\xfd\xff\xff\xff"), (TEXT, b"\0\0\xfe" + b"\xff" * 8),
    (TEXT, b"\0\0\xfe" + b"\xff" * 7), (TEXT, b"\0\0\4abcde"), (DATETIME, b"\0\0\5abcde"),
    (DATETIME, b"\0\0\x0cabcdefghijkl"), (TEXT, b"\xfe" * 40),
]


@pytest.mark.parametrize("shape, row", BAD_ROWS, ids=range(len(BAD_ROWS)))
def test_malformed_row(shape, row):
    with statement_rows([shape], row) as peer:
        # an empty packet is how the client library sees a connection's end
        fails(probe(fake(peer.port, sslmode="disable"), "--rows", "SELECT 1"),
              "no packet of its protocol" if row else "connection")


def test_rows_of_the_fake_peer():
    """What the malformed rows differ from is taken."""
    with statement_rows([INT, TEXT], b"\0\0\1\0\0\0\3abc", b"\0\x0c") as peer:
        assert probed(fake(peer.port, sslmode="disable"), "--rows", "SELECT 1")[1:] == [
            "4:01000000\t3:616263", "\\N\t\\N"]


@pytest.mark.parametrize("event", [b"", b"\0", b"\0" + b"x" * 18, b"\1" + b"x" * 30, b"\xef" + b"x" * 40])
def test_malformed_event(event):
    def answer(link, command):
        if command[:1] == b"\x12":
            link.send(event)
        else:
            return False
    with query_answers(answer) as peer:
        fails(probe(fake(peer.port, sslmode="disable"), "--dump", 5, "--from", "f:4", "--heartbeat", 1),
              "no packet of its protocol" if event else "connection")


def test_peer_that_announces_much():
    """A packet's size is believed as far as its bytes come."""
    def answer(link, command):
        if command[:1] != b"\x12":
            return False
        for seq in range(3):
            link.raw(b"\xff\xff\xff" + bytes([seq + 1]) + bytes(1 << 20 if seq == 2 else 0xffffff))
        link.sock.close()
    with query_answers(answer) as peer:
        proc = start_bridge("probe", "--dump", "5", "--from", "f:4", "--heartbeat", "1")
        proc.stdin.write(as_lines(fake(peer.port, sslmode="disable")))
        proc.stdin.close()
        err = proc.stderr.read()
        _, status, used = os.wait4(proc.pid, 0)
        assert os.waitstatus_to_exitcode(status) == 1 and "the connection is lost" in err, err
    assert used.ru_maxrss < 150 * 1024          # kB


def test_endless_result():
    """A small result that does not end is cut."""
    value = b"\xfd\xff\xff\x0f" + bytes(0x0fffff)

    def answer(link, command):
        link.send(b"\1")
        link.send(TEXT)
        link.send(EOF)
        for _ in range(1024):
            link.send(value)
    with query_answers(answer) as peer:
        fails(probe(fake(peer.port, sslmode="disable"), "--query", "SELECT 1"),
              "has more than 268435456 bytes")


def test_errors_of_peers_are_printable():
    """Whatever bytes a peer's error has, what is said is one line of valid UTF-8."""
    def refuse(link, command):
        link.send(b"\xff\x10\x04#08004" + b"a\x80\xc3(\xed\xa0\x80\n\x1b[2J\xe2\x82\xac" + b"\xe2\x82")
    with query_answers(refuse) as peer:
        said = lost(probe(fake(peer.port, sslmode="disable"), "--query", "SELECT 1"))
        assert "a??(??? " in said and " [2J€?? (error 1040)" in said


def test_random_answers():
    """Answers with random bytes changed: an error or an end, never a crash."""
    rngs = {}

    def change(rng, data):
        data = bytearray(data)
        for _ in range(rng.randint(1, 3)):
            at = rng.randrange(len(data) + 1)
            data[at:at + rng.randint(0, 2)] = rng.randbytes(rng.randint(0, 2))
        return bytes(data)

    def answer(link, command):
        # each connection has its own numbers: they do not depend on who is faster
        rng = rngs.setdefault(link, random.Random(len(rngs)))
        if command[:1] in b"\x16\x17":
            head = b"\0\1\0\0\0\1\0\0\0\0\0\0" if command[:1] == b"\x16" else b"\1"
            sent = [head, TEXT, EOF] + ([b"\0\0\3abc", EOF] if command[:1] == b"\x17" else [])
        else:
            sent = [b"\1", TEXT, EOF, lenenc(b"abc"), lenenc(b"de"), EOF]
        bad = rng.randrange(len(sent) + 2)
        for i, one in enumerate(sent):
            link.send(change(rng, one) if i == bad else one)
        if bad < len(sent):
            link.sock.close()
    with query_answers(answer) as peer:
        for i in range(60):
            done = probe(fake(peer.port, sslmode="disable"), "--rows" if i % 2 else "--query", "SELECT 1")
            assert done.returncode in (0, 1), (i, done.returncode, done.stderr)
