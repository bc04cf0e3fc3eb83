"""No secret of a stream stands in a log, view, process, query or dump."""
import secrets

import psycopg2
import pytest

from lib.secret import find_secret
from lib.streams import Stream, make_server, make_stream
from lib.util import wait_until


def make_login(src, name):
    """A login on the source with a secret of its own; returns the secret."""
    secret = "S3cret" + secrets.token_hex(8)
    src.execute("SET log_min_error_statement = 'panic'; DROP ROLE IF EXISTS %s; "
                "CREATE ROLE %s LOGIN SUPERUSER PASSWORD '%s'" % (name, name, secret))
    return secret


def drop_login(src, name):
    src.execute("DROP ROLE %s" % name)


def uri(src, user, secret, port=None):
    return "postgresql://%s:%s@127.0.0.1:%d/%s?sslmode=disable" % (
        user, secret, port or src.server.port, src.name)


def nowhere(secret, src, dst):
    found = find_secret(secret, [src.server, dst.server], [dst])
    assert found == [], found


def test_uri_that_fails(pair):
    """The statement that carried it is in no log and in no view, it failing."""
    src, dst = pair
    secret = make_login(src, "sec_uri")
    conn = dst.connect()
    cur = conn.cursor()
    for call in ("SELECT sluice.sync_start('s', '%s')",
                 "SELECT * FROM sluice.preflight('%s', include_tables => ARRAY['\"'])",
                 "SELECT sluice.sync_start('NOT AN ID', '%s')",
                 "SELECT * FROM sluice.slot_list('%s')",
                 "SELECT sluice.slot_drop('%s', 'theirs')"):
        with pytest.raises(psycopg2.Error) as e:
            cur.execute(call % uri(src, "sec_uri", secret, port=1))
        assert secret not in str(e.value)
        assert secret not in "".join(conn.notices)
        nowhere(secret, src, dst)
    for bad in ("host=127.0.0.1 user=u password=%s nonsense=1" % secret,
                "postgresql://u:%s@127.0.0.1:port/x" % secret,
                "postgresql://u:%%zz%s@127.0.0.1/x" % secret,
                "oracle://u:%s@127.0.0.1/x" % secret,
                "mysql://u:%s@127.0.0.1:port/x" % secret,
                "mysql://u:%s@127.0.0.1/x?nonsense=1" % secret):
        with pytest.raises(psycopg2.Error) as e:
            cur.execute("SELECT sluice.sync_start('s', '%s')" % bad)
        assert secret not in str(e.value)
    nowhere(secret, src, dst)
    assert dst.value("SELECT count(*) FROM pg_catalog.pg_foreign_server") == 0
    conn.close()
    drop_login(src, "sec_uri")


def test_uri_that_runs(pair):
    """It becomes a server and a user mapping, and a WARNING says where it was."""
    src, dst = pair
    for db in pair:
        db.execute("CREATE TABLE t (id int PRIMARY KEY)")
    secret = make_login(src, "sec_run")
    conn = dst.connect()
    conn.cursor().execute("SELECT sluice.sync_start('s1', '%s')" % uri(src, "sec_run", secret))
    assert any("WARNING" in n and "password" in n for n in conn.notices)
    stream = Stream(src, dst, "s1", "sluice_s1")
    stream.wait()
    # while the connection is open and idle its last query is shown
    nowhere(secret, src, dst)
    assert dst.value("SELECT srvoptions::text FROM pg_catalog.pg_foreign_server"
                     " WHERE srvname = 'sluice_s1'").count("sec") == 0
    # the same source again is no change; another one is
    conn.cursor().execute("SELECT sluice.sync_start('s1', '%s')" % uri(src, "sec_run", secret))
    with pytest.raises(psycopg2.Error) as e:
        conn.cursor().execute("SELECT sluice.sync_start('s1', '%s')"
                              % uri(src, "sec_run", "other", port=1))
    assert secret not in str(e.value)
    stream.stop()
    stream.drop()
    nowhere(secret, src, dst)
    conn.close()
    drop_login(src, "sec_run")


def test_bridged_uri(pair):
    """A MySQL source's secret goes into the user mapping too, and nowhere else."""
    src, dst = pair
    secret = "S3cret" + secrets.token_hex(8)
    conn = dst.connect()
    conn.cursor().execute("SELECT sluice.sync_start('s1', 'mysql://u:%s@127.0.0.1:1/x')" % secret)
    assert any("WARNING" in n and "password" in n for n in conn.notices)
    nowhere(secret, src, dst)
    assert secret in dst.value("SELECT umoptions::text FROM pg_catalog.pg_user_mappings"
                               " WHERE srvname = 'sluice_s1'")
    conn.close()
    dst.execute("SELECT sluice.sync_stop('s1'); SELECT sluice.sync_drop('s1');"
                " DROP SERVER sluice_s1 CASCADE")


def test_rotated_password(pair):
    """A refused login is retrying; the new password in the mapping just works."""
    src, dst = pair
    for db in pair:
        db.execute("CREATE TABLE t (id int PRIMARY KEY)")
    secret = make_login(src, "sec_rot")
    stream = make_stream(src, dst, user="sec_rot", password=secret)
    new = "S3cret" + secrets.token_hex(8)
    src.execute("SET log_min_error_statement = 'panic'; ALTER ROLE sec_rot PASSWORD '%s'" % new)
    src.execute("SELECT pg_catalog.pg_terminate_backend(pid) FROM"
                " pg_catalog.pg_stat_activity WHERE usename = 'sec_rot'")
    row = wait_until(lambda: (lambda h: h if h["state"] == "retrying" and
                              "authentication" in (h["reason"] or "") else None)(
                                  stream.health()), 60, lambda: stream.health())
    assert not row["healthy"]
    assert dst.value("SELECT sqlstate FROM sluice.stream_state WHERE stream_id = 's1'") == "28P01"
    steps = dst.rows("SELECT * FROM sluice.remedies('s1')")
    assert steps[0]["statement"].startswith("ALTER USER MAPPING FOR") and \
        not steps[0]["destructive"]
    nowhere(secret, src, dst)
    dst.execute("SET log_min_error_statement = 'panic'; "
                "ALTER USER MAPPING FOR CURRENT_USER SERVER \"%s\" OPTIONS (SET password '%s')"
                % (stream.server, new))
    src.execute("INSERT INTO t VALUES (1)")
    stream.caught_up("120 s")
    assert dst.value("SELECT count(*) FROM t") == 1
    nowhere(secret, src, dst)
    nowhere(new, src, dst)
    stream.stop()
    stream.drop()
    drop_login(src, "sec_rot")


def test_plain_owner(pair):
    """A role without privileges runs a stream with its own mapping."""
    src, dst = pair
    for db in pair:
        db.execute("CREATE TABLE t (id int PRIMARY KEY)")
    secret = make_login(src, "sec_src")
    dst.execute("DROP ROLE IF EXISTS sec_owner; CREATE ROLE sec_owner LOGIN")
    dst.execute("ALTER TABLE t OWNER TO sec_owner")
    server = make_server(src, dst, user="sec_src", password=secret, mapping_for="sec_owner")
    stream = Stream(src, dst, "s1", server)
    for grant in ("EXECUTE ON FUNCTION sluice.sync_start", "USAGE ON FOREIGN SERVER \"%s\"" % server,
                  "CREATE ON DATABASE \"%s\"" % dst.name):
        with pytest.raises(psycopg2.errors.InsufficientPrivilege):
            stream.start(user="sec_owner")
        dst.execute("GRANT %s TO sec_owner" % grant)
    stream.start(user="sec_owner")
    stream.wait()
    src.execute("INSERT INTO t VALUES (1)")
    stream.caught_up()
    assert dst.value("SELECT count(*) FROM t") == 1
    assert stream.health()["owner"] == "sec_owner"
    nowhere(secret, src, dst)
    stream.stop()
    stream.drop()
    dst.execute("DROP SERVER \"%s\" CASCADE; DROP OWNED BY sec_owner; DROP ROLE sec_owner" % server)
    drop_login(src, "sec_src")
