-- Streams that sluice-bridge feeds: start, who may feed, stop, wait, drop.
\set ECHO none
\getenv dir PG_ABS_SRCDIR
\set lib :dir '/lib/feed.sql'
\i :lib
\set ECHO all
\set VERBOSITY default
CREATE ROLE regress_my_owner;
CREATE ROLE regress_my_bridge IN ROLE regress_my_owner;
CREATE ROLE regress_my_other;
GRANT EXECUTE ON FUNCTION sluice.feed_open(text, int), sluice.feed(text, bytea),
    sluice.feed_close(text, text), sluice.bridge_streams() TO regress_my_bridge, regress_my_other;
GRANT EXECUTE ON FUNCTION sluice.sync_start, sluice.sync_stop, sluice.sync_drop TO regress_my_owner;
SELECT format('GRANT CREATE ON DATABASE %I TO regress_my_owner', current_database()) \gexec
CREATE VIEW t.health AS
    SELECT state, desired_state AS desired, healthy AS ok, plugin, reason,
        hint, pid IS NOT NULL AS fed, "position"
    FROM sluice.health;

-- what a server of a MySQL source may say
CREATE SERVER my_pg FOREIGN DATA WRAPPER sluice OPTIONS (driver 'mysql', host 'db1', dbname 'shop', target_session_attrs 'any');
CREATE SERVER my_two FOREIGN DATA WRAPPER sluice OPTIONS (driver 'mysql', host 'db1,db2', dbname 'shop');
CREATE SERVER my_tls FOREIGN DATA WRAPPER sluice OPTIONS (driver 'mysql', host 'db1', dbname 'shop', sslmode 'prefer');
CREATE SERVER my_addr FOREIGN DATA WRAPPER sluice OPTIONS (driver 'mysql', hostaddr '10.0.0.1', dbname 'shop');
CREATE SERVER my_nohost FOREIGN DATA WRAPPER sluice OPTIONS (driver 'mariadb', dbname 'shop');
CREATE SERVER my_nodb FOREIGN DATA WRAPPER sluice OPTIONS (driver 'mysql', host 'db1');
CREATE SERVER my_shop FOREIGN DATA WRAPPER sluice OPTIONS (driver 'mysql', host 'db1', port '3307', dbname 'shop', sslrootcert '/etc/ca.pem');
DO $$
DECLARE
    s name;
BEGIN
    FOR s IN SELECT srvname FROM pg_foreign_server LOOP
        EXECUTE format('CREATE USER MAPPING FOR PUBLIC SERVER %I OPTIONS (user ''u'', password ''S3cret'')', s);
    END LOOP;
END $$;
SELECT state FROM sluice.sync_start('s', 'my_pg');
SELECT state FROM sluice.sync_start('s', 'my_two');
SELECT state FROM sluice.sync_start('s', 'my_tls');
SELECT state FROM sluice.sync_start('s', 'my_addr');
SELECT state FROM sluice.sync_start('s', 'my_nohost');
SELECT state FROM sluice.sync_start('s', 'my_nodb');
ALTER USER MAPPING FOR PUBLIC SERVER my_shop OPTIONS (DROP user);
SELECT state FROM sluice.sync_start('s', 'my_shop');
ALTER USER MAPPING FOR PUBLIC SERVER my_shop OPTIONS (ADD user 'u');

-- arguments and options that mean nothing there, or are not built
SELECT state FROM sluice.sync_start('s', 'my_shop', 'mariadb');
SELECT state FROM sluice.sync_start('s', 'my_shop', options => '{"slot_name": "x"}');
SELECT state FROM sluice.sync_start('s', 'my_shop', options => '{"zero_dates": "never"}');
SELECT state FROM sluice.sync_start('s', 'my_shop', options => '{"zero_dates": "now"}');
SELECT state FROM sluice.sync_start('s', 'my_shop', options => '{"zero_dates": "2025-02-31"}');
SELECT state FROM sluice.sync_start('s', 'my_shop', options => '{"zero_date_columns": {"d": "null"}}');
SELECT state FROM sluice.sync_start('s', 'my_shop', options => '{"zero_date_columns": {"t.d": "never"}}');
SELECT state FROM sluice.sync_start('s', 'my_shop', options => '{"zero_date_columns": "null"}');
SELECT state FROM sluice.sync_start('s', options => '{"feed": true, "zero_date_columns": {"t.d": "null"}}');
SELECT state FROM sluice.sync_start('s', options => '{"feed": true, "zero_dates": "null"}');
SELECT state FROM sluice.sync_start('s', options => '{"feed": true}', type_overrides => '{"t.c": "text"}');
SELECT state FROM sluice.sync_start('s', 'my_shop', type_overrides => '[]');
SELECT state FROM sluice.sync_start('s', 'my_shop', type_overrides => '{"t.c": 1}');
SELECT state FROM sluice.sync_start('s', 'my_shop', type_overrides => '{"t": "text"}');
SELECT state FROM sluice.sync_start('s', 'my_shop', type_overrides => '{"a.b.c.d": "text"}');
SELECT state FROM sluice.sync_start('s', 'my_shop', type_overrides => '{"t.[c": "text"}');
SELECT state FROM sluice.sync_start('s', 'my_shop', type_overrides => '{"t.c": "no_such"}');
SELECT state FROM sluice.sync_start('s', 'my_shop', type_overrides => '{"t.c": "text); DROP TABLE x; --"}');
SELECT state FROM sluice.sync_start('s', 'my_shop', type_overrides => '{"t.c": "anyelement"}');
SELECT state FROM sluice.sync_start('s', 'my_shop', type_overrides => '{"t.c": ""}');
SELECT slot_name FROM sluice.slot_list('my_shop');
CALL sluice.migrate('my_shop', options => '{"follow": true}');
SELECT count(*) FROM sluice.health;

-- a URI, with libpq's names for TLS
SELECT state FROM sluice.sync_start('u', 'mysql://u:S3cret@db1:3307/shop?sslmode=require&sslcert=/c.pem');
SELECT state FROM sluice.sync_start('v', 'mysql://u@db1/shop?connect_timeout=3');
SELECT state FROM sluice.sync_start('v', 'postgres://u@db1/shop', 'mysql');
SELECT state FROM sluice.sync_start('v', 'mysql://u@db1/shop?sslcrl=/c');
SELECT srvname, srvoptions FROM pg_foreign_server WHERE srvname LIKE 'sluice%';
SELECT sluice.sync_stop('u');
SELECT sluice.sync_drop('u');

-- recorded, nothing contacted; the bridges are told
LISTEN sluice_bridge;
\o | sed -E 's/PID [0-9]+/PID/'
SELECT state, plugin, reason, hint, healthy, slot_name
FROM sluice.sync_start('s', 'my_shop', options => '{"zero_dates": "1970-01-01 00:00", "copy_workers": 2}');
\o
UNLISTEN sluice_bridge;
SELECT driver, target_schema, schema_changes, options, slot_name, publication_name
FROM sluice.stream;
TABLE t.health;
SELECT state FROM sluice.sync_start('s', 'my_shop');
SELECT state FROM sluice.sync_start('s', options => '{"zero_dates": "null"}');
SELECT state FROM sluice.sync_start('s', restart_from_scratch => true);
SELECT state FROM sluice.sync_start('s', type_overrides => '{"t.c": "text"}');

-- whose it is: a member of the owner's role feeds it
SELECT * FROM sluice.bridge_streams();
SELECT sluice.sync_stop('s');
TABLE t.health;
SELECT * FROM sluice.bridge_streams();
UPDATE sluice.stream SET owner = 'regress_my_owner';
GRANT USAGE ON FOREIGN SERVER my_shop TO regress_my_owner;
SET ROLE regress_my_owner;
SELECT state FROM sluice.sync_start('s');
SET ROLE regress_my_other;
SELECT * FROM sluice.bridge_streams();
SELECT * FROM sluice.feed_open('s', 3);
SET ROLE regress_my_bridge;
SELECT * FROM sluice.bridge_streams();
SELECT token AS tok, "position", tables, connection, configuration FROM sluice.feed_open('s', 3) \gset
\echo :position :tables
\echo :connection
\echo :configuration
SELECT stream_id, driver, state, pid = pg_backend_pid() AS ours FROM sluice.bridge_streams();
RESET ROLE;
TABLE t.health;

-- who the source is, its first batch says
CREATE FUNCTION t.my(identity text, VARIADIC records jsonb[]) RETURNS bytea LANGUAGE sql AS $$
    SELECT sluice.feed_encode(to_jsonb(t.header() ||
        jsonb_build_object('server', 'mysql', 'system_identity', identity) || records))
$$;
CREATE FUNCTION t.tx(lsn text, upto text, pos text, VARIADIC records jsonb[]) RETURNS jsonb[] LANGUAGE sql AS $$
    SELECT jsonb_build_object('kind', 'begin', 'lsn', lsn) || records ||
        jsonb_build_object('kind', 'commit', 'lsn', lsn, 'end', upto, 'position', pos)
$$;
GRANT USAGE ON SCHEMA t TO regress_my_owner;
SELECT sluice.feed(:'tok', sluice.feed_encode(jsonb_build_array(t.header())));
SELECT sluice.feed_close(:'tok');
TABLE t.health;
SELECT state FROM sluice.sync_start('s');
SELECT token AS tok FROM sluice.feed_open('s', 3) \gset
BEGIN;
SELECT sluice.feed(:'tok', t.my('uuid-a', VARIADIC '{}'));
ROLLBACK;
SELECT sluice.feed(:'tok', t.my('uuid-b', '{"kind": "heartbeat", "lsn": "1/4", "position": "{\"file\": \"bin.000001\", \"pos\": 4}"}'));
SELECT source_sysid FROM sluice.stream;
SELECT healthy, lag_bytes, lag, "position" FROM sluice.health;
SELECT sluice.feed(:'tok', t.my('uuid-a', VARIADIC '{}'));
SELECT sluice.feed_close(:'tok');
SELECT marker, state FROM sluice.health;
SELECT state FROM sluice.sync_start('s');

\set VERBOSITY terse
-- a stop is passed on to the feeder, and confirmed by feed_close
SELECT token AS tok FROM sluice.feed_open('s', 3) \gset
SELECT sluice.feed(:'tok', t.my('uuid-b', VARIADIC '{}'));
SELECT sluice.sync_stop('s', true, '0 s');
SELECT state FROM sluice.sync_start('s');
SELECT sluice.feed(:'tok', t.my('uuid-b', VARIADIC '{}'));
SELECT sluice.feed_close(:'tok');
TABLE t.health;
SELECT sluice.sync_stop('s', true, '1 s');
SELECT * FROM sluice.feed_open('s', 3);

-- a wait for what the source has by now is answered by a message
SELECT state FROM sluice.sync_start('s');
SELECT token AS tok FROM sluice.feed_open('s', 3) \gset
-- … which streams once it is fed
SELECT state FROM sluice.health;
SELECT sluice.feed(:'tok', t.my('uuid-b', VARIADIC '{}')) -> 'transactions' AS n;
CALL sluice.sync_wait('s', 'streaming', '1 s');
CALL sluice.sync_wait('s', 'caught_up', '0 s');
SELECT sluice.feed(:'tok', t.my('uuid-b', VARIADIC '{}')) AS asked;
SELECT sluice.feed(:'tok', t.my('uuid-b', '{"kind": "message", "transactional": false, "prefix": "sluice_caught_up", "data": "1"}')) AS answered;
SELECT sluice.feed(:'tok', t.my('uuid-b', VARIADIC '{}')) AS nothing_asked;

-- what passes by itself is shown until the next feeder comes
SELECT sluice.feed_close(:'tok', 'failed: ');
SELECT sluice.feed_close(:'tok', 'failed: could not connect to the source');
TABLE t.health;
SELECT state, pid FROM sluice.bridge_streams();

-- a feeder that goes without a word leaves nothing behind
SELECT token AS tok FROM sluice.feed_open('s', 3) \gset
SELECT fed FROM t.health;
\c
CALL t.wait_until_free();
SELECT state, fed FROM t.health;
BEGIN;
SELECT token AS tok FROM sluice.feed_open('s', 3) \gset
SELECT fed FROM t.health;
ROLLBACK;
SELECT fed FROM t.health;
BEGIN;
SELECT token AS tok FROM sluice.feed_open('s', 3) \gset
SELECT sluice.feed_close(:'tok');
SELECT token AS tok FROM sluice.feed_open('s', 3) \gset
COMMIT;
SELECT fed FROM t.health;

-- what a feeder warns of is shown while it feeds, and goes with it
CREATE FUNCTION t.warning(data text) RETURNS bytea LANGUAGE sql AS $$
    SELECT t.my('uuid-b', jsonb_build_object('kind', 'message', 'transactional', false,
                                             'prefix', 'sluice_warning', 'data', data)) $$;
CREATE VIEW t.warnings AS
    SELECT w.name, w.urgent, w.message, w.hint, h.healthy, h.reason, h.hint AS health_hint
    FROM sluice.source_warnings w JOIN sluice.health h USING (stream_id);
SELECT sluice.feed(:'tok', t.warning('{"name": "retention", "message": "logs go soon", "hint": "keep them"}')) -> 'transactions' AS n;
SELECT * FROM t.warnings ORDER BY name;
SELECT sluice.feed(:'tok', t.warning('{"name": "log_bin", "urgent": true, "message": "it is\u0007 off", "hint": "-- set it"}')) -> 'transactions' AS n;
SELECT sluice.feed(:'tok', t.warning('{"name": "retention", "message": "logs go very soon"}')) -> 'transactions' AS n;
SELECT * FROM t.warnings ORDER BY name;
SELECT sluice.feed(:'tok', t.warning('{"name": "log_bin"}')) -> 'transactions' AS n;
SELECT * FROM t.warnings ORDER BY name;
SELECT sluice.feed(:'tok', t.warning('{"name": "never"}')) -> 'transactions' AS n;
SELECT sluice.feed(:'tok', t.warning('no json'));
SELECT sluice.feed(:'tok', t.warning('[]'));
SELECT sluice.feed(:'tok', t.warning('{"name": "a", "message": "b", "more": 1}'));
SELECT sluice.feed(:'tok', t.warning('{"message": "b"}'));
SELECT sluice.feed(:'tok', t.warning(jsonb_build_object('name', repeat('n', 64), 'message', 'b')::text));
SELECT count(*) FROM t.warnings;
SELECT sluice.feed_close(:'tok', 'failed: gone');
SELECT count(*) FROM t.warnings;
SELECT token AS tok FROM sluice.feed_open('s', 3) \gset
SELECT sluice.feed(:'tok', t.warning('{"name": "log_bin", "urgent": true, "message": "off"}')) -> 'transactions' AS n;
SELECT * FROM t.warnings;
\c
CALL t.wait_until_free();
SELECT name, reason, healthy FROM t.warnings;
SELECT token AS tok FROM sluice.feed_open('s', 3) \gset
SELECT count(*) FROM t.warnings;

-- forgotten, with nothing to clean at the source
SELECT sluice.sync_drop('s');
SELECT sluice.sync_stop('s');
SELECT sluice.feed(:'tok', t.my('uuid-b', VARIADIC '{}')) -> 'stop' AS stop;
SELECT sluice.feed_close(:'tok');
SELECT sluice.sync_drop('s');
SELECT count(*) FROM sluice.health;
DROP OWNED BY regress_my_owner, regress_my_bridge, regress_my_other;
DROP ROLE regress_my_owner, regress_my_bridge, regress_my_other;
