"""What a bridge is asked without a stream: sluice.preflight of a MySQL or MariaDB source."""
import threading

import psycopg2
import pytest

from lib import wait_until
from lib.bridge import login_of, probe
from lib.bridgerun import make_my_server

BOTH = pytest.mark.parametrize("my_server", ["mariadb10", "mysql9"], indirect=True)


def checks(dst, server, args="", user="postgres"):
    """check_name → row, of those of the source; several of one name: the last that is not ok."""
    rows = dst.rows("SELECT * FROM sluice.preflight('%s'%s)" % (server, args), user=user)
    assert [r["check_name"] for r in rows if r["side"] == "target"] == ["shared_preload_libraries"]
    found = {}
    for row in rows:
        if row["side"] == "source" and not (row["ok"] and row["check_name"] in found):
            found[row["check_name"]] = row
    return found


@pytest.mark.quick
@BOTH
def test_preflight(my_db, dst, make_bridge):
    my_db.execute("GRANT REFERENCES ON `%s`.* TO repl@'%%'" % my_db.name)
    my_db.execute("CREATE TABLE good (id int PRIMARY KEY); CREATE TABLE keyless (v int);"
                  "CREATE TABLE t (id int PRIMARY KEY, c char(0), b tinyint(1)); INSERT INTO t VALUES (1, '', 7)")
    make_my_server(my_db, dst, "shop")
    bridge = make_bridge(dst)
    found = checks(dst, "shop")
    assert {n for n, row in found.items() if not row["ok"]} == {"column_type", "boolean_range", "table_key"}, found
    assert "column `c` of type char(0)" in found["column_type"]["detail"]
    assert found["boolean_range"]["fix_sql"]
    # all that the program says by itself, and what belongs to the stream
    done = probe(login_of(my_db.server, dbname=my_db.name), "--check", "--values")
    names = {line.split("\t")[1] for line in done.stdout.splitlines() if not line.startswith("\t")}
    assert set(found) == names | {"connect", "driver"}
    # arguments count, and nothing is made
    accept = ", options => '{\"accept_keyless\": [\"keyless\"]}'"
    accepted = checks(dst, "shop", ", exclude_tables => '{t}'" + accept)
    assert all(row["ok"] for row in accepted.values())
    # what a stream can do without is ok, and says so
    assert accepted["table_key"]["detail"].startswith("advice: ") and accepted["table_key"]["fix_sql"]
    assert {n for n, row in checks(dst, "shop", ", type_overrides => '{\"t.b\": \"smallint\", \"t.c\": \"text\"}'" + accept).items()
            if not row["ok"]} == set()
    assert not checks(dst, "shop", ", include_tables => '{none}'")["tables"]["ok"]
    assert dst.value("SELECT count(*) FROM sluice.health") == 0
    assert dst.value("SELECT count(*) FROM pg_class WHERE relname IN ('good', 't')") == 0
    assert bridge.is_running() and my_db.server.repl_password not in bridge.log_text()


@BOTH
def test_a_source_that_does_not_take_the_login(my_db, dst, make_bridge):
    make_my_server(my_db, dst, "shop", password="wrong-S3cret")
    make_my_server(my_db, dst, "other", driver="mysql" if my_db.server.is_mariadb else "mariadb")
    make_bridge(dst)
    found = checks(dst, "shop")
    assert set(found) == {"connect"} and not found["connect"]["ok"]
    assert "S3cret" not in str(found) and "ccess denied" in found["connect"]["detail"]
    found = checks(dst, "other")
    assert not found["driver"]["ok"] and "ALTER SERVER" in found["driver"]["fix_sql"]


def asked(dst, user):
    return [r[0] for r in dst.query("SELECT ticket FROM sluice.bridge_requests()", user=user)]


def test_who_may_answer(dst, target):
    """Only who may act for the one who asks sees it, gets the login, and answers."""
    functions = ("sluice.bridge_requests(), sluice.bridge_request(bigint), sluice.bridge_answer(bigint, jsonb)")
    dst.execute("CREATE ROLE ask_owner LOGIN; CREATE ROLE ask_bridge LOGIN; CREATE ROLE ask_other LOGIN;"
                "CREATE ROLE ask_none LOGIN; GRANT ask_owner TO ask_bridge;"
                "GRANT EXECUTE ON FUNCTION %s TO ask_bridge, ask_other;"
                "GRANT EXECUTE ON FUNCTION sluice.preflight TO ask_owner;"
                "CREATE SERVER shop FOREIGN DATA WRAPPER sluice OPTIONS (driver 'mysql', host 'db1', dbname 'shop');"
                "GRANT USAGE ON FOREIGN SERVER shop TO ask_owner;"
                "CREATE USER MAPPING FOR ask_owner SERVER shop OPTIONS (user 'u', password 'S3cret')" % functions)
    try:
        conn = dst.connect("ask_owner")
        result = []

        def ask():
            with conn.cursor() as cur:
                try:
                    cur.execute("SELECT side, check_name, ok, detail, fix_sql FROM sluice.preflight('shop')")
                    result.append(cur.fetchall())
                except psycopg2.Error as e:
                    result.append(e)
        asker = threading.Thread(target=ask)
        asker.start()
        ticket = wait_until(lambda: asked(dst, "ask_bridge"), 20, "nothing is asked")[0]
        assert asked(dst, "ask_other") == []
        assert dst.query("SELECT * FROM sluice.bridge_request(%s)" % ticket, user="ask_other") == [(None, None, None)]
        assert dst.value("SELECT sluice.bridge_answer(%s, '{\"kind\": \"done\"}')" % ticket, user="ask_other") is False
        for call in ("bridge_requests()", "bridge_request(1)", "bridge_answer(1, '{}')"):
            assert dst.error("SELECT sluice." + call, user="ask_none").pgcode == "42501"
        assert "S3cret" not in str(dst.query("SELECT query FROM pg_stat_activity"))

        bridge = dst.connect("ask_bridge")
        with bridge.cursor() as cur:
            cur.execute("SELECT kind, connection, configuration FROM sluice.bridge_request(%s)", (ticket,))
            kind, connection, configuration = cur.fetchone()
            assert kind == "preflight" and connection["password"] == "S3cret"
            assert configuration["target_schema"] == "public" and configuration["cold"] is None
            # once, to one session
            assert asked(dst, "ask_bridge") == []
            assert dst.query("SELECT kind FROM sluice.bridge_request(%s)" % ticket, user="ask_bridge") == [(None,)]
            answers = ['{"kind": "check", "name": "a\\u0007", "ok": false, "detail": "d", "fix": "f"}',
                       '{"kind": "check", "name": "b", "ok": false, "required": false, "detail": "e"}',
                       '{"kind": "done"}', '{"kind": "done"}']
            took = []
            for answer in answers:
                cur.execute("SELECT sluice.bridge_answer(%s, %s)", (ticket, answer))
                took.append(cur.fetchone()[0])
        assert took == [True, True, True, False]
        bridge.close()
        asker.join(30)
        assert [r for r in result[0] if r[0] == "source"] == [("source", "a\\0007", False, "d", "f"),
                                                               ("source", "b", True, "advice: e", None)], result
        conn.close()
    finally:
        dst.execute("DROP SERVER shop CASCADE; DROP OWNED BY ask_owner, ask_bridge, ask_other, ask_none;"
                    "DROP ROLE ask_owner, ask_bridge, ask_other, ask_none")


@pytest.mark.parametrize("answer,text", [('{"kind": "failed", "message": "no disk"}', "could not answer: no disk"),
                                         ('{"kind": "what"}', 'invalid value of key "kind"'),
                                         (None, "went away")])
def test_answers_that_are_none(dst, answer, text):
    dst.execute("CREATE SERVER shop FOREIGN DATA WRAPPER sluice OPTIONS (driver 'mysql', host 'db1', dbname 'shop');"
                "CREATE USER MAPPING FOR CURRENT_USER SERVER shop OPTIONS (user 'u')")
    errors = []
    asker = threading.Thread(target=lambda: errors.append(dst.error("SELECT * FROM sluice.preflight('shop')")))
    asker.start()
    ticket = wait_until(lambda: asked(dst, "postgres"), 20, "nothing is asked")[0]
    conn = dst.connect()
    with conn.cursor() as cur:
        cur.execute("SELECT kind FROM sluice.bridge_request(%s)", (ticket,))
        if answer:
            cur.execute("SELECT sluice.bridge_answer(%s, %s)", (ticket, answer))
    if answer is None:
        conn.close()
    asker.join(60)
    assert errors and text in str(errors[0]), errors
    conn.close()
