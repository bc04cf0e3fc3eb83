"""What sluice-bridge says of a server that is not set up for it, and that its cure cures."""
import pytest

from lib import MySqlServer
from lib.bridge import login_of, probe

KINDS = ["mariadb10.11", "mariadb11.8", "mysql"]
ADVICE = {"time_zones", "sql_mode"}      # what a new server leaves to be advised


def checks(server, **params):
    """{check: cure} of those that fail or advise, and the exit code."""
    done = probe(login_of(server, **params), "--check")
    failing, name = {}, None
    for line in done.stdout.splitlines():
        verdict, *rest = line.split("\t")
        if verdict == "":
            failing[name] = rest[0]
        else:
            name = rest[0]
            assert verdict in ("ok", "not ok", "advice") and rest[1], line
            if verdict != "ok":
                failing[name] = None
    assert done.returncode in (0, 1) and not done.stderr, done.stderr
    assert None not in failing.values(), failing
    return failing, done.returncode


def cure(server, fix):
    """Do what the check says: statements, or lines of the option file and a restart."""
    if not fix.startswith("-- in the server's option file"):
        return server.execute(fix.partition(" -- ")[0])
    todo = fix.partition("restart it: ")[2]
    for name in ("skip-log-bin", "binlog_do_db", "log_slave_updates"):
        server.conf.pop(name, None)
    return server.restart(**({} if todo.startswith("remove") else dict([todo.split(" = ")])))


def set_up(server):
    if not server.is_mariadb:
        server.execute("GRANT XA_RECOVER_ADMIN ON *.* TO repl@'%'")
    server.execute("CREATE DATABASE d; CREATE TABLE d.t (id int PRIMARY KEY)")
    return server


@pytest.fixture(scope="module", params=KINDS)
def server(request):
    """A server of each kind; every test leaves it as it should be."""
    one = set_up(MySqlServer(request.param).start())
    yield one
    one.destroy()


def fails_and_is_cured(server, before, *names, required):
    failing, code = checks(server)
    assert set(failing) - set(before) == set(names)
    assert code == (1 if required else 0)
    cure(server, failing[names[0]])
    assert checks(server) == (before, 0), names


SETTINGS = [     # (kinds, what goes wrong by a statement, check, required)
    (KINDS, "SET GLOBAL binlog_format = 'MIXED'", "binlog_format", True),
    (KINDS, "SET GLOBAL binlog_format = 'STATEMENT'", "binlog_format", True),
    (KINDS, "SET GLOBAL binlog_row_image = 'MINIMAL'", "binlog_row_image", True),
    (KINDS, "SET GLOBAL binlog_row_image = 'NOBLOB'", "binlog_row_image", True),
    (KINDS, "SET GLOBAL binlog_row_metadata = 'MINIMAL'", "binlog_row_metadata", False),
    (["mariadb11.8", "mysql"], "SET GLOBAL binlog_expire_logs_seconds = 3600", "retention", False),
    (["mariadb11.8"], "SET GLOBAL max_binlog_total_size = 1048576", "retention", False),
    (["mariadb11.8"], "SET GLOBAL wsrep_forced_binlog_format = 'STATEMENT'",
     "wsrep_forced_binlog_format", True),
    (["mysql"], "SET GLOBAL binlog_row_value_options = 'PARTIAL_JSON'", "binlog_row_value_options", True),
    (["mysql"], "SET GLOBAL gtid_mode = ON_PERMISSIVE", "gtid_mode", True),
    (["mysql"], "SET GLOBAL server_id = 0", "server_id", True),
]


def test_settings(server):
    before, code = checks(server)
    assert code == 0 and set(before) <= {"time_zones"}
    for kinds, statement, name, required in SETTINGS:
        if server.kind in kinds:
            server.execute(statement)
            fails_and_is_cured(server, before, name, required=required)
    if server.kind == "mysql":
        server.execute("SET GLOBAL gtid_mode = ON_PERMISSIVE; SET GLOBAL enforce_gtid_consistency = OFF")
        fails_and_is_cured(server, before, "gtid_mode", "enforce_gtid_consistency", required=True)
        server.execute("SET GLOBAL gtid_mode = ON_PERMISSIVE; SET GLOBAL gtid_mode = OFF_PERMISSIVE; "
                       "SET GLOBAL gtid_mode = OFF")
        fails_and_is_cured(server, before, "gtid_mode", required=False)


def test_settings_of_the_option_file(server):
    before, _ = checks(server)
    server.restart(log_slave_updates="OFF")
    fails_and_is_cured(server, before, "log_replica_updates", required=False)
    server.restart(binlog_do_db="other")
    fails_and_is_cured(server, before, "log_filter", required=True)
    server.restart(**{"skip-log-bin": None})
    failing, code = checks(server)
    # a server without a log does not log what it receives either
    assert code == 1 and {"log_bin"} <= set(failing) - set(before) <= {"log_bin", "log_replica_updates"}
    cure(server, failing["log_bin"])
    assert checks(server) == (before, 0)


def test_grants(server):
    """An account that lacks one privilege is told which, and gets it by the statement."""
    server.execute("CREATE DATABASE `a_b`; CREATE DATABASE axb; CREATE TABLE a_b.t (id int PRIMARY KEY)")
    every = {"grant_replication_slave": "REPLICATION SLAVE ON *.*",
             "grant_replication_client": "REPLICATION CLIENT ON *.*", "grant_select": "SELECT ON `a\\_b`.*"}
    for i, lacking in enumerate(every):
        user = "u%d" % i
        server.create_user(user, "pw", grants=[g for name, g in every.items() if name != lacking] + (
            ["XA_RECOVER_ADMIN ON *.*"] if server.kind == "mysql" else []))
        login = {"user": user, "password": "pw", "dbname": "a_b" if lacking != "grant_select" else None}
        failing, code = checks(server, **login)
        extra = {"log_filter"} if lacking == "grant_replication_client" else set()
        assert code == 1 and set(failing) - ADVICE == {lacking} | extra
        server.execute(failing[lacking].replace(" ON *.* ", " ON `a\\_b`.* ")
                       if lacking == "grant_select" else failing[lacking])
        failing, code = checks(server, **dict(login, dbname="a_b"))
        assert code == 0 and set(failing) <= ADVICE, failing
    # a pattern that only looks like the name, one table, some columns: not all of the database
    for user, grant in (("v1", "SELECT ON `a\\_c`.*"), ("v2", "SELECT ON a_b.t"),
                        ("v3", "SELECT (id) ON a_b.t")):
        server.create_user(user, "pw", grants=[grant, "REPLICATION SLAVE, REPLICATION CLIENT ON *.*",
                                               "SELECT ON `axb`.*"])
        assert "grant_select" in checks(server, user=user, password="pw")[0], grant
    failing, _ = checks(server, user="u0", password="pw", dbname="d")
    server.execute(failing["grant_select"])
    assert "grant_select" not in checks(server, user="u0", password="pw", dbname="d")[0]
    server.execute("GRANT SELECT ON `%`.* TO v1@'%'")
    assert "grant_select" not in checks(server, user="v1", password="pw", dbname="d")[0]


def test_partial_revoke(make_mysql):
    server = set_up(make_mysql("mysql"))
    server.execute("SET GLOBAL partial_revokes = ON; REVOKE SELECT ON d.* FROM repl@'%'")
    assert "grant_select" in checks(server, dbname="d")[0]
    assert "grant_select" not in checks(server, dbname="other")[0]


def test_prepared_transactions(server):
    before, _ = checks(server)
    conn = server.connect("d")
    with conn.cursor() as cur:
        for statement in ("XA START 'it''s', 'b', 7", "INSERT INTO t VALUES (1)",
                          "XA END 'it''s', 'b', 7", "XA PREPARE 'it''s', 'b', 7"):
            cur.execute(statement)
    conn.close()
    fails_and_is_cured(server, before, "xa_prepared", required=False)
    assert server.value("SELECT id FROM d.t") == 1


def test_time_zones(server):
    assert "time_zones" in checks(server)[0]
    server.execute("INSERT INTO mysql.time_zone (Use_leap_seconds) VALUES ('N'); "
                   "SET @id = LAST_INSERT_ID(); "
                   "INSERT INTO mysql.time_zone_name (Name, Time_zone_id) VALUES ('UTC', @id); "
                   "INSERT INTO mysql.time_zone_transition_type (Time_zone_id, Transition_type_id, "
                   "`Offset`, Is_DST, Abbreviation) VALUES (@id, 0, 0, 0, 'UTC')")
    assert checks(server) == ({}, 0)


def test_server_id_is_the_bridges(my_server):
    theirs = my_server.value("SELECT @@server_id")
    done = probe(login_of(my_server), "--check", "--server-id", theirs)
    assert done.returncode == 1
    assert "not ok\tserver_id\tserver_id is %d: the bridge would come with the same" % theirs in done.stdout
