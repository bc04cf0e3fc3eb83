"""ON UPDATE CURRENT_TIMESTAMP by a trigger (option on_update_triggers): silent while changes are applied, and as the source
does it once the target is written to."""
import pytest

from lib import wait_until
from lib.bridgerun import make_bridged_stream

BOTH = pytest.mark.parametrize("my_server", ["mariadb10", "mysql9"], indirect=True)
OLD = "2001-02-03 04:05:06"

TABLE = """
CREATE TABLE t (id int PRIMARY KEY, v varchar(20), f double, n decimal(10,2), j json,
    a timestamp NOT NULL DEFAULT '%(old)s' ON UPDATE CURRENT_TIMESTAMP,
    `b;1 c` datetime(3) NULL ON UPDATE CURRENT_TIMESTAMP(3), g int GENERATED ALWAYS AS (char_length(v)) STORED,
    plain timestamp NULL);
INSERT INTO t (id, v, f, n, j, `b;1 c`) VALUES (1, 'x', 0, 1.5, '{"k": 1}', '%(old)s'), (2, 'y', 1, NULL, NULL, NULL)
""" % {"old": OLD}

# what is set of row 1 and 2, and where; the same text for both servers but for the quoting of a name
STATEMENTS = [
    "v = 'z'", "v = v", "v = 'x'", "v = 'X'", "n = 1.50", "n = 1.51", "f = 0", "id = id", "v = NULL", "plain = '2020-01-01'",
    "a = a", "a = a, v = 'z'", "a = '%s'" % OLD, "a = '2020-01-01 00:00:00', v = 'z'", "a = '2020-01-01 00:00:00'",
    "%(b)s = %(b)s, v = 'z'", "a = a, %(b)s = %(b)s, v = 'z'", "%(b)s = NULL", "%(b)s = '2020-01-01 00:00:00', v = 'z'",
    "v = v, %(b)s = %(b)s", "j = '{\"k\": 2}'", "j = '{\"k\": 1}'",
]


def effect(now, before):
    """Of a and b: "kept", "clock", or what was given."""
    return ["kept" if n == b else "clock" if n is not None and n > "2024" else n for n, b in zip(now, before)]


def my_effects(src, statement):
    with src.connect() as conn:
        conn.autocommit(False)
        with conn.cursor() as cur:
            look = "SELECT CAST(a AS char(19)), CAST(`b;1 c` AS char(19)) FROM t ORDER BY id"
            cur.execute(look)
            before = cur.fetchall()
            cur.execute("UPDATE t SET " + statement % {"b": "`b;1 c`"})
            cur.execute(look)
            after = cur.fetchall()
        conn.rollback()
    return [effect(now, was) for now, was in zip(after, before)]


def pg_effects(cur, statement):
    look = "SELECT to_char(a, 'YYYY-MM-DD HH24:MI:SS'), to_char(\"b;1 c\", 'YYYY-MM-DD HH24:MI:SS') FROM t ORDER BY id"
    cur.execute(look)
    before = cur.fetchall()
    cur.execute("UPDATE t SET " + statement % {"b": '"b;1 c"'})
    cur.execute(look)
    return [effect(now, was) for now, was in zip(cur.fetchall(), before)]


@pytest.mark.quick
@BOTH
def test_on_update(my_db, dst, make_bridge):
    my_db.execute("SET time_zone = '+00:00', sql_mode = CONCAT(@@sql_mode, ',NO_BACKSLASH_ESCAPES'); " + TABLE)
    make_bridge(dst)
    stream = make_bridged_stream(my_db, dst, wait="streaming", options={"on_update_triggers": True})
    wait_until(lambda: dst.value("SELECT count(*) FROM sluice.schema_objects WHERE state = 'planned'") == 0, 60, "not all is built")
    made = dst.query("SELECT kind, object_name FROM sluice.schema_objects WHERE kind IN ('function', 'trigger') AND state = 'created' ORDER BY 1, 2")
    assert made == [("function", "t_on_update"), ("trigger", "on_update_1"), ("trigger", "on_update_2"), ("trigger", "on_update_now")]
    assert dst.query("SELECT proowner::regrole::text, proconfig FROM pg_proc WHERE proname = 't_on_update'") == \
        [("postgres", ["search_path=pg_catalog, pg_temp"])]
    # what the stream writes stays what the source has
    my_db.execute("UPDATE t SET v = 'streamed', a = a, `b;1 c` = `b;1 c` WHERE id = 1; UPDATE t SET v = 'y2' WHERE id = 2")
    stream.caught_up()
    stamps = [tuple(str(v)[:19] for v in row) for row in my_db.execute("SET time_zone = '+00:00'; SELECT a, `b;1 c` FROM t ORDER BY id")]
    assert stamps[0] == (OLD, OLD) and stamps[1] > ("2024",)
    assert dst.query("SET timezone = 'UTC'; SELECT left(a::text, 19), left(\"b;1 c\"::text, 19) FROM t ORDER BY id") == stamps
    stream.stop()
    conn = dst.connect()
    conn.autocommit = False
    with conn.cursor() as cur:
        cur.execute("SET timezone = 'UTC'")
        for statement in STATEMENTS:
            cur.execute("SAVEPOINT s")
            assert pg_effects(cur, statement) == my_effects(my_db, statement), statement
            cur.execute("ROLLBACK TO s")
        # one transaction, several statements: the clock is the statement's; what one keeps, the next one does not
        cur.execute("UPDATE t SET a = a, v = '1' WHERE id = 1; SELECT a = '%s+00' FROM t WHERE id = 1" % OLD)
        assert cur.fetchone() == (True,)
        cur.execute("UPDATE t SET v = '2' WHERE id = 1")
        cur.execute("SELECT a > now() - interval '1 hour', date_trunc('second', a) = a,"
                    " date_trunc('milliseconds', \"b;1 c\") = \"b;1 c\", current_setting('on_update.kept') FROM t WHERE id = 1")
        assert cur.fetchone() == (True, True, True, "")
        cur.execute("INSERT INTO t (id, v, a) VALUES (2, 'c', '%s+00') ON CONFLICT (id) DO UPDATE SET a = EXCLUDED.a, v = 'c'" % OLD)
        cur.execute("SELECT a = '%s+00' FROM t WHERE id = 2" % OLD)
        assert cur.fetchone() == (True,)
    conn.rollback()
    conn.close()
    # nothing of it is the extension's
    stream.drop()
    dst.execute("DROP EXTENSION sluice CASCADE")
    dst.execute("UPDATE t SET v = 'after'")
    assert dst.value("SELECT bool_and(a > now() - interval '1 hour') FROM t")


@BOTH
def test_on_update_made_anew(my_db, dst, make_bridge):
    """The function and its triggers go with the table, and come again; without the option they are named."""
    my_db.execute(TABLE)
    make_bridge(dst)
    dst.execute("CREATE FUNCTION t_on_update() RETURNS int LANGUAGE sql AS 'SELECT 1'")
    stream = make_bridged_stream(my_db, dst, options={"on_update_triggers": True})
    reason = stream.wait_refused("SCHEMA-NOT-CARRIED")
    assert "t_on_update" in str(reason)
    dst.execute("DROP FUNCTION t_on_update()")
    stream.start()
    stream.wait("streaming", "60 s")
    count = "SELECT count(*) FROM pg_trigger WHERE tgrelid = 't'::regclass AND NOT tgisinternal"
    wait_until(lambda: dst.value(count) == 3, 60, "not built")
    stream.stop()
    my_db.execute("ALTER TABLE t ADD c timestamp NULL ON UPDATE CURRENT_TIMESTAMP")
    error = dst.error("SELECT sluice.sync_start('s1', reset_target_data => true)")
    stream.start(reset_target_data=True, confirm=error.diag.message_hint.split("confirm => '")[1].split("'")[0])
    stream.wait("streaming", "60 s")
    wait_until(lambda: dst.value(count) == 4, 60, "not built anew")
    stream.stop()
    error = dst.error("SELECT sluice.sync_start('s1', reset_target_data => true, options => '{\"on_update_triggers\": false}')")
    stream.start(reset_target_data=True, options={"on_update_triggers": False},
                 confirm=error.diag.message_hint.split("confirm => '")[1].split("'")[0])
    stream.wait("streaming", "60 s")
    assert dst.value(count) == 0
    assert dst.value("SELECT count(*) FROM pg_proc WHERE proname = 't_on_update'") == 0
    assert dst.value("SELECT count(*) FROM sluice.schema_objects WHERE kind = 'column settings' AND state = 'not_carried'") == 3
