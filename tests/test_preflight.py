"""preflight: each failing check shown by a real server, and its cure run."""
import socket
import struct
import threading

import psycopg2
import pytest

from lib import Db, both, make_server, make_stream, wait_until
from lib.util import Listener

LOGIN = "pf_login"


def checks(dst, server, user="postgres", **args):
    """Rows of preflight as dicts."""
    casts = {"include_tables": "text[]", "exclude_tables": "text[]",
             "target_schema": "text", "options": "jsonb"}
    parts = ["%s"] + ["%s => %%s::%s" % (k, casts[k]) for k in args]
    return dst.rows("SELECT * FROM sluice.preflight(%s)" % ", ".join(parts),
                    server, *args.values(), user=user)


def failed(dst, server, **args):
    return [c for c in checks(dst, server, **args) if not c["ok"]]


def names(rows):
    return sorted({"%s %s" % (c["side"], c["check_name"]) for c in rows})


def cure(src, dst, rows):
    """Paste every fix where it says."""
    for c in rows:
        assert c["fix_sql"], c
        done = (src if c["side"] == "source" else dst)
        done.server.psql(c["fix_sql"], dbname=done.name)


def login(src, attributes=""):
    src.execute("SET log_min_error_statement = 'panic'; CREATE ROLE %s LOGIN PASSWORD '%s' %s"
                % (LOGIN, src.server.secret, attributes))


@pytest.fixture
def own_source(make_pg):
    """A source server of the test's own, with a database."""
    def make(**conf):
        return make_pg("pfsrc", conf=conf, preload="").fresh_db("pf")
    return make


@pytest.mark.quick
def test_nothing_wrong(pair):
    src, dst = pair
    both(src, dst, "CREATE TABLE t (id int PRIMARY KEY, v text)")
    server = make_server(src, dst)
    rows = checks(dst, server)
    assert [c for c in rows if not c["ok"]] == []
    assert {"source connect", "source wal_level", "source replication",
            "source publication", "source tables", "target tables",
            "target shared_preload_libraries"} <= set(names(rows))
    # nothing was made anywhere
    assert src.value("SELECT count(*) FROM pg_catalog.pg_publication") == 0
    assert not src.value("SELECT count(*) FROM pg_catalog.pg_replication_slots"
                         " WHERE database = pg_catalog.current_database()")
    assert dst.value("SELECT count(*) FROM sluice.stream") == 0


def test_source_all_at_once(own_source, target):
    """Every fault of the source is one list; the cures, run, empty it."""
    src = own_source(wal_level="replica", max_replication_slots=1,
                     max_wal_senders=1, max_prepared_transactions=4)
    dst = target.fresh_db("pf_all", extension=True)
    login(src)
    src.execute("ALTER ROLE %s SET output_plugin_libraries = test_decoding" % LOGIN
                if src.value("SELECT pg_catalog.current_setting('output_plugin_libraries', true)")
                else "SELECT")
    tables = """
        CREATE SCHEMA app;
        CREATE SCHEMA "Hid\nden";
        CREATE TABLE app.good (id int PRIMARY KEY);
        CREATE TABLE app.nokey (a int);
        CREATE TABLE app.nothing (a int PRIMARY KEY);
        CREATE TABLE app.gen (a int, id int GENERATED ALWAYS AS (a * 2) STORED PRIMARY KEY);
        CREATE TABLE app.rls (id int PRIMARY KEY);
        CREATE TABLE app.part (id int, k int) PARTITION BY LIST (k);
        CREATE TABLE app.part_1 PARTITION OF app.part FOR VALUES IN (1);
        CREATE TABLE "Hid\nden"."T ""quoted"" x" (id int PRIMARY KEY);
    """
    both(src, dst, tables)
    both(src, dst, "CREATE TABLE app.unl (id int PRIMARY KEY)")
    src.execute("""
        ALTER TABLE app.nothing REPLICA IDENTITY NOTHING;
        ALTER TABLE app.part REPLICA IDENTITY FULL;
        ALTER TABLE app.rls ENABLE ROW LEVEL SECURITY;
        CREATE POLICY p ON app.rls USING (id > 0);
        ALTER TABLE app.unl SET UNLOGGED;
        GRANT USAGE ON SCHEMA app TO %s;
        GRANT SELECT ON ALL TABLES IN SCHEMA app TO %s;
        REVOKE SELECT ON app.good FROM %s;
        """ % (LOGIN, LOGIN, LOGIN))
    conn = src.connect(autocommit=False)
    conn.cursor().execute("CREATE TABLE elsewhere (id int PRIMARY KEY)")
    conn.cursor().execute("PREPARE TRANSACTION 'old''one'")
    conn.close()
    server = make_server(src, dst, user=LOGIN)

    args = {"exclude_tables": ["elsewhere"]}
    found = failed(dst, server, **args)
    want = {"source exclude_tables", "source max_replication_slots",
            "source max_wal_senders", "source prepared_transaction",
            "source publication", "source replica_identity", "source replication",
            "source row_security", "source schema_usage", "source select",
            "source unlogged", "source wal_level"}
    if src.value("SELECT pg_catalog.current_setting('output_plugin_libraries', true)"):
        want.add("source output_plugin_libraries")
    assert set(names(found)) == want, found
    identity = " ".join(c["detail"] for c in found if c["check_name"] == "replica_identity")
    for table in ("app.nokey", "app.nothing", "app.gen", "app.part"):
        assert table in identity
    assert "app.part_1" in identity

    # the same list, raised at once, with nothing recorded
    e = dst.error("SELECT sluice.sync_start('pf', %s, exclude_tables => '{elsewhere}')", server)
    assert e.pgcode == "SL001" and e.pgerror.count("[source ") == len(found), e
    assert dst.value("SELECT count(*) FROM sluice.stream") == 0

    cure(src, dst, [c for c in found if c["check_name"] != "exclude_tables"])
    src.server.restart()
    name = [c for c in found if c["check_name"] == "publication"][0]["fix_sql"].split()[2]
    options = '{"publication_name": "%s"}' % name
    assert failed(dst, server, options=options, **args) == []
    dst.destroy()


def test_login_refused(pair):
    src, dst = pair
    login_sql = "source connect"
    server = make_server(src, dst, password="not the password")
    found = failed(dst, server)
    assert names(found) == [login_sql] and "password" in found[0]["detail"]
    dst.execute('ALTER SERVER "%s" OPTIONS (SET port %%s)' % server, "1")
    found = failed(dst, server)
    assert names(found) == [login_sql] and "onnect" in found[0]["detail"]
    dst.execute('ALTER SERVER "%s" OPTIONS (SET port \'%d\', SET sslmode \'verify-full\')'
                % (server, src.server.port))
    found = failed(dst, server)
    assert names(found) == [login_sql], "TLS must be asked for less: %r" % found
    dst.execute('ALTER SERVER "%s" OPTIONS (DROP sslmode)' % server)
    assert names(failed(dst, server)) == [login_sql]


def test_password_must_be_used(make_pg, target):
    """A source that lets everybody in is no way around the password."""
    pg = make_pg("trusting", preload="")
    pg._write("pg_hba.conf", "local all all trust\nhost all all 127.0.0.1/32 trust\n")
    pg.reload()
    src, dst = pg.fresh_db("pf"), target.fresh_db("pf_trust", extension=True)
    dst.execute("DROP ROLE IF EXISTS pf_user; CREATE ROLE pf_user LOGIN")
    server = make_server(src, dst, mapping_for="pf_user")
    dst.execute("""GRANT USAGE ON FOREIGN SERVER "%s" TO pf_user;
        GRANT EXECUTE ON FUNCTION sluice.preflight TO pf_user""" % server)
    found = [c for c in checks(dst, server, user="pf_user") if not c["ok"]]
    assert names(found) == ["source connect"] and "password is required" in found[0]["detail"]
    dst.destroy()
    target.execute("DROP ROLE pf_user")


def test_standby(make_pg, target):
    primary = make_pg("pfprim", preload="")
    src = primary.fresh_db("pf")
    src.execute("CREATE TABLE t (id int PRIMARY KEY)")
    standby = primary.standby()
    try:
        dst = target.fresh_db("pf_standby", extension=True)
        dst.execute("CREATE TABLE t (id int PRIMARY KEY)")
        server = make_server(src, dst)
        dst.execute('ALTER SERVER "%s" OPTIONS (SET port \'%d\')' % (server, standby.port))

        def there():
            found = [c for c in checks(dst, server) if c["check_name"] == "standby"]
            return found and not found[0]["ok"]
        wait_until(there, 30, "the standby is not told")
        dst.execute('ALTER SERVER "%s" OPTIONS (SET port \'%d\')' % (server, primary.port))
        assert failed(dst, server) == []
        dst.destroy()
    finally:
        standby.destroy()


class Pooler(Listener):
    """Forwards logins, but answers a replication login as poolers do."""

    def __init__(self, port):
        self.to = port
        super().__init__(lambda client: threading.Thread(target=self.log_in, args=(client,), daemon=True).start())

    def log_in(self, client):
        head = self.read(client, 4)
        body = self.read(client, struct.unpack("!I", head)[0] - 4)
        if b"replication\0" in body:
            text = b"SFATAL\0VFATAL\0C08P01\0Munsupported startup parameter: replication\0\0"
            client.sendall(b"E" + struct.pack("!I", len(text) + 4) + text)
            client.close()
            return
        server = socket.create_connection(("127.0.0.1", self.to))
        server.sendall(head + body)
        threading.Thread(target=self.pump, args=(server, client), daemon=True).start()
        self.pump(client, server)

    @staticmethod
    def read(sock, n):
        data = b""
        while len(data) < n:
            more = sock.recv(n - len(data))
            if not more:
                break
            data += more
        return data

    @staticmethod
    def pump(a, b):
        try:
            while True:
                data = a.recv(65536)
                if not data:
                    break
                b.sendall(data)
        except OSError:
            pass
        for s in (a, b):
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def test_pooler(pair):
    src, dst = pair
    both(src, dst, "CREATE TABLE t (id int PRIMARY KEY)")
    pooler = Pooler(src.server.port)
    server = make_server(src, dst, port=str(pooler.port))
    found = failed(dst, server)
    assert names(found) == ["source replication"] and "pooler" in found[0]["detail"]
    pooler.close()


def test_scope(pair):
    src, dst = pair
    both(src, dst, "CREATE TABLE t (id int PRIMARY KEY); CREATE TABLE u (id int PRIMARY KEY)")
    src.execute("CREATE VIEW v AS SELECT 1 AS x")
    server = make_server(src, dst)
    found = failed(dst, server, include_tables=["t", "no_such", "v"],
                   exclude_tables=["other.*"], options='{"insert_only": ["u"]}')
    assert [c["check_name"] for c in found] == [
        "include_tables", "include_tables", "exclude_tables", "insert_only"]
    assert "is a view" in found[1]["detail"]
    assert failed(dst, server, include_tables=["public.t"]) == []
    found = failed(dst, server, exclude_tables=["*"])
    assert names(found) == ["source scope"]


def test_insert_only(pair):
    src, dst = pair
    both(src, dst, "CREATE TABLE log (at timestamptz, what text)")
    server = make_server(src, dst)
    assert names(failed(dst, server)) == ["source replica_identity"]
    assert failed(dst, server, options='{"insert_only": ["log"]}') == []


def test_named_publication(pair):
    src, dst = pair
    both(src, dst, """CREATE TABLE a (id int PRIMARY KEY, v int);
         CREATE TABLE b (id int PRIMARY KEY, v int);
         CREATE TABLE c (id int PRIMARY KEY)""")
    server = make_server(src, dst)
    args = {"include_tables": ["a", "b"], "options": '{"publication_name": "My Pub"}'}

    def fault():
        found = failed(dst, server, **args)
        assert names(found) == ["source publication"], found
        return found
    found = fault()
    assert "does not exist" in found[0]["detail"]
    cure(src, dst, found)
    assert failed(dst, server, **args) == []

    src.execute("""ALTER PUBLICATION "My Pub" SET TABLE a, c;
                   ALTER PUBLICATION "My Pub" SET (publish = 'insert', publish_via_partition_root = false)""")
    found = fault()
    for word in ("public.c is published and not in scope", "public.b is not published",
                 "every kind of change", "partition roots"):
        assert word in found[0]["detail"]
    cure(src, dst, found)
    assert failed(dst, server, **args) == []

    src.execute('ALTER PUBLICATION "My Pub" SET TABLE a WHERE (id > 1), b (id)')
    found = fault()
    assert found[0]["detail"].count("in part only") == 2
    cure(src, dst, found)
    src.execute("""DROP PUBLICATION "My Pub"; CREATE PUBLICATION "My Pub" FOR ALL TABLES""")
    cure(src, dst, fault())
    assert failed(dst, server, **args) == []


def test_leftovers(pair):
    """A slot or a publication of the stream's own name is somebody's."""
    src, dst = pair
    both(src, dst, "CREATE TABLE t (id int PRIMARY KEY)")
    server = make_server(src, dst)
    src.execute("SELECT pg_catalog.pg_create_logical_replication_slot('taken', 'pgoutput')")
    found = failed(dst, server, options='{"slot_name": "taken"}')
    assert names(found) == ["source slot"]
    cure(src, dst, found)
    assert failed(dst, server, options='{"slot_name": "taken"}') == []


def test_notes(own_source, target):
    """Limits that end a slot are told and do not fail."""
    src = own_source(max_slot_wal_keep_size="1GB")
    dst = target.fresh_db("pf_notes", extension=True)
    both(src, dst, "CREATE TABLE t (id int PRIMARY KEY)")
    rows = checks(dst, make_server(src, dst))
    note = [c for c in rows if c["check_name"] == "max_slot_wal_keep_size"]
    assert note and note[0]["ok"] and "1GB" in note[0]["detail"]
    assert [c for c in rows if not c["ok"]] == []
    dst.destroy()


def test_target_server(make_pg, source):
    """Preload, workers and read-only are seen before anything is tried."""
    pg = make_pg("pftgt", preload="", conf={"max_worker_processes": 2})
    src, dst = source.fresh_db("pf_ts"), pg.fresh_db("pf", extension=True)
    both(src, dst, "CREATE TABLE t (id int PRIMARY KEY)")
    server = make_server(src, dst)
    pg.execute("ALTER DATABASE %s SET default_transaction_read_only = on" % dst.name)
    pg.execute("ALTER ROLE postgres IN DATABASE %s SET default_transaction_read_only = on" % dst.name)
    seen = set()
    for _ in range(5):
        found = failed(dst, server)
        if not found:
            break
        seen |= set(names(found))
        cure(src, dst, found)
        pg.restart()
    assert failed(dst, server) == []
    assert seen == {"target shared_preload_libraries", "target max_worker_processes",
                    "target default_transaction_read_only"}
    src.destroy()


def test_target_tables(pair):
    """Every fault of a target table has a cure that cures."""
    src, dst = pair
    src.execute("""
        CREATE SCHEMA app;
        CREATE TABLE app.missing (id bigint, v text NOT NULL, w varchar(10)[], PRIMARY KEY (id, v));
        CREATE TABLE narrow (id bigint PRIMARY KEY, v text, w varchar(20), x int);
        CREATE TABLE busy (id int PRIMARY KEY);
        CREATE TABLE trig (id int PRIMARY KEY);
        CREATE TABLE coll (v text PRIMARY KEY);
    """)
    dst.execute("""
        CREATE TABLE narrow (id int PRIMARY KEY, v text, w varchar(10));
        CREATE TABLE busy (id int PRIMARY KEY);
        INSERT INTO busy VALUES (1);
        CREATE TABLE trig (id int PRIMARY KEY);
        CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
        CREATE TRIGGER t BEFORE INSERT ON trig FOR EACH ROW EXECUTE FUNCTION f();
        ALTER TABLE trig ENABLE ALWAYS TRIGGER t;
        CREATE COLLATION ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
        CREATE TABLE coll (v text COLLATE ci PRIMARY KEY);
    """)
    server = make_server(src, dst)
    found = failed(dst, server)
    assert {"target shape", "target existing_rows",
            "target trigger", "target key_collation"} == set(names(found)), found
    cure(src, dst, found)
    assert failed(dst, server) == []
    dst.execute("INSERT INTO busy VALUES (1)")
    assert names(failed(dst, server)) == ["target existing_rows"]
    assert failed(dst, server, options='{"existing_rows": "truncate"}') == []
    dst.execute("ALTER TABLE trig ENABLE ALWAYS TRIGGER t; TRUNCATE busy")
    assert failed(dst, server, options='{"accept_triggers": ["public.trig.t"]}') == []


def test_rows_that_another_table_refers_to(pair):
    """TRUNCATE takes along the tables of the stream that refer to one, and no other."""
    src, dst = pair
    src.execute("CREATE TABLE a (id int PRIMARY KEY); CREATE TABLE b (id int PRIMARY KEY)")
    dst.execute("CREATE TABLE a (id int PRIMARY KEY); CREATE TABLE b (id int PRIMARY KEY REFERENCES a);"
                "INSERT INTO a VALUES (1); INSERT INTO b VALUES (1)")
    server = make_server(src, dst)
    found = failed(dst, server)
    assert [f["fix_sql"] for f in found] == ["TRUNCATE ONLY public.a, ONLY public.b;",
                                             "TRUNCATE ONLY public.b;"], found
    cure(src, dst, found)
    assert failed(dst, server) == []
    dst.execute("CREATE TABLE c (id int REFERENCES a); INSERT INTO a VALUES (1)")
    found = failed(dst, server)
    assert [f["fix_sql"] for f in found] == [None] and "public.c" in found[0]["detail"]


def test_target_kinds(pair):
    """What is no plain table of its owner's own is named."""
    src, dst = pair
    for name in ("a_view", "b_foreign", "c_rule", "d_rls", "e_matview"):
        src.execute("CREATE TABLE %s (id int PRIMARY KEY)" % name)
    dst.execute("""
        CREATE VIEW a_view AS SELECT 1 AS id;
        CREATE FOREIGN DATA WRAPPER nothing;
        CREATE SERVER nothing FOREIGN DATA WRAPPER nothing;
        CREATE FOREIGN TABLE b_foreign (id int) SERVER nothing;
        CREATE TABLE c_rule (id int PRIMARY KEY);
        CREATE RULE r AS ON DELETE TO c_rule DO INSTEAD NOTHING;
        CREATE TABLE d_rls (id int PRIMARY KEY);
        ALTER TABLE d_rls ENABLE ROW LEVEL SECURITY;
        ALTER TABLE d_rls FORCE ROW LEVEL SECURITY;
        CREATE MATERIALIZED VIEW e_matview AS SELECT 1 AS id;
        DROP ROLE IF EXISTS pf_rls; CREATE ROLE pf_rls;
        ALTER TABLE d_rls OWNER TO pf_rls;
    """)
    found = failed(dst, make_server(src, dst))
    detail = {c["detail"].split(".")[1].split('"')[0].split(" ")[0].strip(":;,"): c for c in found}
    assert set(detail) == {"a_view", "b_foreign", "c_rule", "d_rls", "e_matview"}, found
    assert {c["side"] for c in found} == {"target"}
    dst.execute("DROP TABLE d_rls; DROP ROLE pf_rls")


def test_target_owner(pair):
    """The stream's owner must be able to act as each table's owner."""
    src, dst = pair
    both(src, dst, "CREATE TABLE t (id int PRIMARY KEY)")
    dst.execute("DROP ROLE IF EXISTS pf_who; CREATE ROLE pf_who LOGIN")
    server = make_server(src, dst, mapping_for="pf_who")
    dst.execute("""GRANT USAGE ON FOREIGN SERVER "%s" TO pf_who;
        GRANT EXECUTE ON FUNCTION sluice.preflight TO pf_who""" % server)
    found = [c for c in checks(dst, server, user="pf_who") if not c["ok"]]
    assert names(found) == ["target permission"], found
    dst.execute("ALTER TABLE t OWNER TO pf_who")
    assert [c for c in checks(dst, server, user="pf_who") if not c["ok"]] == []
    dst.execute("DROP OWNED BY pf_who; DROP ROLE pf_who")


def test_other_stream(pair):
    """Two streams never write one table."""
    src, dst = pair
    both(src, dst, "CREATE TABLE t (id int PRIMARY KEY)")
    server = make_server(src, dst)
    dst.execute("""
        SELECT sluice.sync_start('first', options => '{"feed": true}');
        INSERT INTO sluice.stream_table (stream_id, schema_name, table_name, target_relid, state)
        VALUES ('first', 'public', 't', 'public.t'::regclass, 'established')""")
    found = failed(dst, server)
    assert names(found) == ["target other_stream"] and '"first"' in found[0]["detail"]
    dst.execute("SELECT sluice.sync_stop('first', true)")
    dst.execute("SELECT sluice.sync_drop('first')")
    assert failed(dst, server) == []


def test_cancel(pair):
    """A cancel goes through; it does not become a failed check."""
    src, dst = pair
    silent = socket.create_server(("127.0.0.1", 0))
    server = make_server(src, dst, port=str(silent.getsockname()[1]))
    conn = dst.connect()
    cur = conn.cursor()
    cur.execute("SET statement_timeout = '500ms'")
    with pytest.raises(psycopg2.errors.QueryCanceled):
        cur.execute("SELECT * FROM sluice.preflight(%s)", (server,))
    conn.close()
    silent.close()


def test_not_carried(pair):
    """What stays behind is one check that passes, and one NOTICE of sync_start."""
    src, dst = pair
    src.execute("""
        CREATE TABLE t (id int PRIMARY KEY);
        CREATE VIEW v AS SELECT * FROM t;
        CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1';
        """)
    server = make_server(src, dst)
    found = [c for c in checks(dst, server) if c["check_name"] == "not_carried"]
    assert len(found) == 1 and found[0]["ok"], found
    assert "view: 1 (public.v)" in found[0]["detail"] and "function: 1" in found[0]["detail"]
    conn = dst.connect()
    with conn.cursor() as cur:
        cur.execute("SELECT * FROM sluice.sync_start('s1', source => %s)", (server,))
    notices = [n for n in conn.notices if "not everything" in n]
    assert len(notices) == 1 and "public.v" in notices[0], conn.notices
    dst.execute("CALL sluice.sync_wait('s1', 'caught_up')")
    hint = notices[0].split("HINT:")[1].strip()
    with conn.cursor() as cur:
        cur.execute(hint)
        assert cur.rowcount >= 2
    conn.close()


def test_extension_missing(pair):
    """A type of an extension that the target does not have; the cure cures."""
    src, dst = pair
    src.execute("CREATE EXTENSION hstore; CREATE EXTENSION citext;"
                "CREATE TABLE t (id int PRIMARY KEY, h hstore); CREATE TABLE u (id public.citext PRIMARY KEY)")
    server = make_server(src, dst)
    found = failed(dst, server)
    assert {c["fix_sql"].split()[2] for c in found if c["fix_sql"]} == {"hstore", "citext"}, found
    cure(src, dst, [c for c in found if c["fix_sql"]])
    assert failed(dst, server) == []


def test_large_objects(pair):
    """PT-26: numbers of large objects are not copied without a word."""
    src, dst = pair
    src.execute("CREATE TABLE lo1 (id int PRIMARY KEY, doc oid)")
    server = make_server(src, dst)
    assert failed(dst, server) == []
    src.execute("INSERT INTO lo1 VALUES (1, lo_from_bytea(0, '\\xcafe'))")
    found = failed(dst, server)
    assert names(found) == ["source large_objects"] and "public.lo1.doc" in found[0]["detail"], found
    assert "1 of them" in found[0]["detail"]
    assert failed(dst, server, options='{"accept_large_objects": true}') == []
    # no column refers to them
    src.execute("CREATE TABLE plain (id int PRIMARY KEY)")
    rows = checks(dst, server, include_tables=["plain"])
    note = [c for c in rows if c["check_name"] == "large_objects"]
    assert len(note) == 1 and note[0]["ok"], rows


def test_key_collations(pair):
    """PT-38: what is equal must be equal on both sides; versions are told."""
    src, dst = pair
    ci = "CREATE COLLATION {} (provider = icu, locale = '{}', deterministic = false)"
    src.execute(ci.format("ci", "und-u-ks-level2"))
    src.execute("CREATE TABLE co1 (k text COLLATE ci PRIMARY KEY, v int);"
                "CREATE TABLE co2 (k text COLLATE \"C\" PRIMARY KEY, v int); INSERT INTO co1 VALUES ('Abc', 1)")
    server = make_server(src, dst)
    assert failed(dst, server) == []
    # the same name and another meaning, for a table that will be built
    dst.execute(ci.format("ci", "und-u-ks-level1"))
    found = failed(dst, server, include_tables=["co1"])
    assert "key_collation" in {c["check_name"] for c in found}, found
    dst.execute("DROP COLLATION ci")
    # tables that are there: the same, another locale, and one that equates more
    dst.execute(ci.format("ci", "und-u-ks-level2"))
    dst.execute("CREATE TABLE co1 (k text COLLATE ci PRIMARY KEY, v int)")
    assert failed(dst, server, include_tables=["co1"]) == []
    dst.execute(ci.format("ai", "und-u-ks-level1"))
    dst.execute("ALTER TABLE co1 ALTER k TYPE text COLLATE ai;"
                "CREATE TABLE co2 (k text COLLATE ci PRIMARY KEY, v int)")
    found = failed(dst, server)
    assert names(found) == ["target key_collation"] and len(found) == 2, found
    cure(src, dst, found)
    rows = checks(dst, server)
    assert [c for c in rows if not c["ok"]] == []
    assert [c for c in rows if c["check_name"] == "collation" and "und-u-ks-level2" in c["detail"]], rows
    dst.execute("DROP TABLE co1, co2")
    stream = make_stream(src, dst)
    src.execute("UPDATE co1 SET k = 'ABC'")
    stream.caught_up()
    assert dst.execute("SELECT k, v FROM co1") == [("ABC", 1)]


def test_encodings(source, target):
    """Texts of no encoding refuse; one that holds less is told."""
    made = {}
    for server, name in ((source, "SQL_ASCII"), (source, "UTF8"), (target, "LATIN1"),
                         (target, "SQL_ASCII"), (target, "UTF8")):
        db = "pf_enc_%s" % name.lower()
        server.execute("CREATE DATABASE %s TEMPLATE template0 ENCODING '%s' LOCALE 'C'" % (db, name))
        made[server, name] = Db(server, db)
        made[server, name].execute("CREATE TABLE t (id int PRIMARY KEY, v text)" if server is source
                                   else "CREATE EXTENSION sluice")

    def encoding(here, there):
        dst = made[target, there]
        rows = checks(dst, make_server(made[source, here], dst))
        assert [c for c in rows if not c["ok"] and c["check_name"] != "encoding"] == [], rows
        return [(c["side"], c["ok"]) for c in rows if c["check_name"] == "encoding"]

    assert encoding("SQL_ASCII", "UTF8") == [("source", False)]
    assert encoding("SQL_ASCII", "SQL_ASCII") == []
    assert encoding("UTF8", "LATIN1") == [("target", True)]
    assert encoding("UTF8", "UTF8") == []
    for db in made.values():
        db.destroy()


def test_partitions_that_send_nothing(pair):
    """Unlogged and foreign partitions, at any depth, also of a table that only gets inserts."""
    src, dst = pair
    src.execute("""
        CREATE FOREIGN DATA WRAPPER nothing; CREATE SERVER nothing FOREIGN DATA WRAPPER nothing;
        CREATE TABLE p (id int, v int) PARTITION BY RANGE (id);
        CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10);
        CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (10) TO (20) PARTITION BY RANGE (v);
        CREATE UNLOGGED TABLE p2a PARTITION OF p2 FOR VALUES FROM (0) TO (10);
        CREATE FOREIGN TABLE p2b PARTITION OF p2 FOR VALUES FROM (10) TO (20) SERVER nothing;
        ALTER TABLE p REPLICA IDENTITY FULL; ALTER TABLE p1 REPLICA IDENTITY FULL;
        ALTER TABLE p2a REPLICA IDENTITY FULL""")
    server = make_server(src, dst)
    found = failed(dst, server)
    assert names(found) == ["source foreign_partition", "source unlogged"], found
    assert sorted(c["fix_sql"] for c in found) == [
        "ALTER TABLE public.p2 DETACH PARTITION public.p2b;", "ALTER TABLE public.p2a SET LOGGED;"]
    assert all("a partition of public.p, is" in c["detail"] for c in found)
    assert names(failed(dst, server, options='{"insert_only": ["p"]}')) == names(found)
    noted = checks(dst, server, options='{"follow": false}')
    assert sorted(c["check_name"] for c in noted if c["ok"] and "partition of" in (c["detail"] or "")) == [
        "foreign_partition", "unlogged"], noted
    cure(src, dst, found)
    assert failed(dst, server) == []


def test_unlogged_is_copied_only(pair):
    """An unlogged table refuses where the stream follows, and else is a note."""
    src, dst = pair
    src.execute("CREATE UNLOGGED TABLE u (id int); CREATE TABLE t (id int PRIMARY KEY)")
    server = make_server(src, dst)
    assert "source unlogged" in names(failed(dst, server))
    rows = checks(dst, server, options='{"follow": false}')
    assert [c for c in rows if not c["ok"]] == []
    assert [c for c in rows if c["check_name"] == "unlogged" and c["ok"]]
