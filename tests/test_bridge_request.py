"""What a bridge is asked beside its streams: preflight, schema_preview and schema_diff of a MySQL or MariaDB source."""
import threading

import psycopg2
import pytest

from lib import wait_until
from lib.bridge import login_of, probe
from lib.bridgerun import make_bridged_stream, make_my_server

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


SHOP = """
CREATE TABLE parent (id bigint unsigned AUTO_INCREMENT PRIMARY KEY, name varchar(20) NOT NULL DEFAULT 'x',
    mood enum('sad', 'glad'), g int GENERATED ALWAYS AS (char_length(name)) STORED, CONSTRAINT long_enough CHECK (char_length(name) > 0)) COMMENT 'c';
CREATE TABLE child (id int PRIMARY KEY, p bigint unsigned, n decimal(10,2) DEFAULT 1.50, at timestamp(3) NULL,
    UNIQUE KEY u (n), KEY p (p, n DESC), CONSTRAINT fk FOREIGN KEY (p) REFERENCES parent (id));
CREATE TABLE `Odd "t` (`A b` int PRIMARY KEY, `select` varchar(9) DEFAULT 'a.b"c', KEY `x y` (`select`(3)))
"""


def preview(dst, server="shop", args=""):
    return dst.rows("SELECT * FROM sluice.schema_preview('%s'%s)" % (server, args))


@pytest.mark.quick
@BOTH
def test_schema_preview(my_db, dst, make_bridge):
    """What the cold start makes afterwards, to the letter; what is there; what cannot be."""
    my_db.execute("GRANT REFERENCES, SHOW VIEW ON `%s`.* TO repl@'%%'" % my_db.name)
    my_db.execute(SHOP + "; CREATE TABLE t (id int PRIMARY KEY, c char(0)); CREATE VIEW v AS SELECT 1 AS a")
    make_my_server(my_db, dst, "shop")
    make_bridge(dst)
    rows = preview(dst)
    assert [r["ordinal"] for r in rows] == list(range(1, len(rows) + 1))
    refused = [r for r in rows if r["state"] == "refused"]
    assert [r["object_name"] for r in refused] == ["t"] and "char(0)" in refused[0]["note"], refused
    assert {"view"} <= {r["kind"] for r in rows if r["state"] == "not_carried"}
    assert dst.value("SELECT count(*) FROM pg_class WHERE relname IN ('parent', 'child', 't')") == 0
    assert dst.value("SELECT count(*) FROM sluice.schema_objects") == 0

    rows = preview(dst, args=", exclude_tables => '{t}', target_schema => 'new'")
    planned = {r["ddl"] for r in rows if r["state"] == "planned"}
    assert {"refused"}.isdisjoint(r["state"] for r in rows) and "CREATE SCHEMA new" in planned
    assert {r["stage"] for r in rows} >= {"before rows", "index", "constraint", "foreign key", "validate", "last"}
    stream = make_bridged_stream(my_db, dst, exclude_tables=["t"], target_schema="new", wait="streaming")
    wait_until(lambda: dst.value("SELECT count(*) FROM sluice.schema_objects WHERE state = 'planned'") == 0, 60, "not all is built")
    made = {r[0] for r in dst.query("SELECT ddl FROM sluice.schema_objects WHERE state = 'created'")}
    assert made == planned

    rows = preview(dst, args=", exclude_tables => '{t}', target_schema => 'new'")
    assert {r["state"] for r in rows if r["stage"] != "last" or r["kind"] == "comment"} == {"existing"}, rows
    # an enum that is another one, and a name that is taken, do not fit
    stream.stop()
    dst.execute("CREATE TYPE parent_mood_enum AS ENUM ('else'); CREATE TABLE child_p ()")
    rows = preview(dst, args=", exclude_tables => '{t}'")
    assert {(r["kind"], r["object_name"]) for r in rows if r["state"] == "refused"} == \
        {("enum", "parent_mood_enum"), ("index", "child_p")}, rows


@BOTH
def test_preview_of_many_objects(my_db, dst, make_bridge):
    """More than one part."""
    my_db.execute("; ".join("CREATE TABLE t%d (id int PRIMARY KEY, v int, KEY (v))" % i for i in range(70)))
    make_my_server(my_db, dst, "shop")
    make_bridge(dst)
    rows = preview(dst)
    assert len([r for r in rows if r["kind"] == "table"]) == 70 and len(rows) > 270
    assert {r["state"] for r in rows} == {"planned", "existing"}     # schema public is there


# statement on the target, the row it makes: table, kind, name, difference, what both definitions have in them
PLANTED = [
    ("ALTER TABLE child ADD extra int", ("child", "column", "extra", "only on the target", None, "integer")),
    ("ALTER TABLE child ALTER n TYPE numeric(12,2), ALTER n DROP DEFAULT",
     ("child", "column", "n", "different", "numeric(10,2) DEFAULT 1.50", "numeric(12,2)")),
    ("ALTER TABLE child DROP CONSTRAINT fk",
     ("child", "foreign key", "fk", "missing on the target", "FOREIGN KEY (p) REFERENCES public.parent(id)", None)),
    ("DROP INDEX child_p", ("child", "index", "child_p", "missing on the target", "USING btree (p, n DESC", None)),
    ("CREATE INDEX more ON child (id)", ("child", "index", "more", "only on the target", None, "USING btree (id)")),
    ("ALTER TABLE parent ALTER g DROP EXPRESSION", ("parent", "column", "g", "different", "GENERATED ALWAYS AS", "integer")),
    ("ALTER TABLE parent ALTER name DROP NOT NULL",
     ("parent", "column", "name", "different", "character varying(20) NOT NULL DEFAULT 'x'::character varying",
      "character varying(20) DEFAULT 'x'::character varying")),
    ("ALTER TABLE parent DROP CONSTRAINT long_enough", ("parent", "check constraint", "long_enough", "missing on the target", "CHECK", None)),
    ("ALTER TYPE parent_mood_enum ADD VALUE 'new'",
     ("parent", "enum", "parent_mood_enum", "different", "enum 'sad','glad'", "enum 'sad','glad','new'")),
]


DIFF = ("SELECT table_name, object_kind, object_name, difference, source_definition, target_definition"
        " FROM sluice.schema_diff('s1')")


def difference(dst):
    return dst.query(DIFF)


def is_like(found, wanted):
    return found[:4] == wanted[:4] and all((f is None) == (w is None) and (w or "") in (f or "")
                                           for f, w in zip(found[4:], wanted[4:]))


@pytest.mark.quick
@BOTH
def test_schema_diff(my_db, dst, make_bridge):
    """Each planted difference, and nothing else; nothing is left behind."""
    my_db.execute("GRANT REFERENCES ON `%s`.* TO repl@'%%'" % my_db.name)
    my_db.execute(SHOP + "; CREATE TABLE gone (id int PRIMARY KEY)")
    make_bridge(dst)
    stream = make_bridged_stream(my_db, dst, wait="streaming")
    wait_until(lambda: dst.value("SELECT count(*) FROM sluice.schema_objects WHERE state = 'planned'") == 0, 60, "not all is built")
    assert difference(dst) == []
    conn = dst.connect()
    conn.autocommit = False
    with conn.cursor() as cur:
        cur.execute("; ".join(statement for statement, _ in PLANTED))
        cur.execute(DIFF)
        found = cur.fetchall()
    conn.rollback()
    conn.close()
    assert len(found) == len(PLANTED) and all(is_like(f, wanted) for f, (_, wanted) in zip(found, PLANTED)), found
    # the source's side: stopped or not
    stream.stop()
    my_db.execute("ALTER TABLE child ADD later int DEFAULT 3; DROP TABLE gone; ALTER TABLE parent ADD c char(0)")
    found = difference(dst)
    assert [f[:4] for f in found] == [("child", "column", "later", "missing on the target"), ("gone", "table", "gone", "only on the target"),
                                      ("parent", "table", "parent", "different")], found
    assert found[0][4] == "integer DEFAULT 3"
    assert found[2][4].startswith("cannot be made: ") and "char(0)" in found[2][4]
    assert dst.value("SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'sluice_diff%'") == 0


def test_answers_with_a_plan_that_are_none(dst):
    """A plan that is not whole, or about another table, is told from one."""
    dst.execute("CREATE SERVER shop FOREIGN DATA WRAPPER sluice OPTIONS (driver 'mysql', host 'db1', dbname 'shop');"
                "CREATE USER MAPPING FOR CURRENT_USER SERVER shop OPTIONS (user 'u')")
    table = '{"kind": "table", "schema": "public", "name": "t", "table": "t", "source_schema": "shop", "source_table": "t",' \
            ' "stage": 0, "ddl": "CREATE TABLE public.t (a %s)"}'
    part = '{"kind": "plan", "plan": {"last": %s, "tables": [{"schema": "shop", "table": "t"}], "objects": [%s]}}'
    for answers, text in [(['{"kind": "done"}'], 'invalid value of key "kind"'),
                          ([part % ("false", table % "int"), '{"kind": "done"}'], 'invalid value of key "kind"'),
                          ([part % ("true", table % "int"), part % ("true", table % "int"), '{"kind": "done"}'], "comes twice"),
                          ([part % ("true", (table % "int").replace("shop", "other")), '{"kind": "done"}'], "not the stream's"),
                          ([part % ("true", table % "int DEFAULT lo_import('x')"), '{"kind": "done"}'], None)]:
        result = []

        def ask():
            try:
                result.append(preview(dst))
            except psycopg2.Error as e:
                result.append(str(e))
        asker = threading.Thread(target=ask)
        asker.start()
        ticket = wait_until(lambda: asked(dst, "postgres"), 20, "nothing is asked")[0]
        conn = dst.connect()
        with conn.cursor() as cur:
            cur.execute("SELECT kind FROM sluice.bridge_request(%s)", (ticket,))
            assert cur.fetchone() == ("plan",)
            for answer in answers:
                cur.execute("SELECT sluice.bridge_answer(%s, %s)", (ticket, answer))
        asker.join(60)
        conn.close()
        if text:
            assert text in str(result[0]), (text, result)
        else:
            assert [(r["kind"], r["state"]) for r in result[0]] == [("table", "refused")] and "lo_import" in result[0][0]["note"]
