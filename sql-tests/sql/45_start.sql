-- sync_start and preflight: every argument that cannot be.  No network.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS sluice;
RESET client_min_messages;
\set VERBOSITY default
\set SHOW_CONTEXT never

-- stream ids
SELECT state FROM sluice.sync_start(NULL, 'x');
SELECT state FROM sluice.sync_start('', 'x');
SELECT state FROM sluice.sync_start('Shop', 'x');
SELECT state FROM sluice.sync_start('1shop', 'x');
SELECT state FROM sluice.sync_start('shop.a', 'x');
SELECT state FROM sluice.sync_start('a23456789012345678901234567890123456789012', 'x');

-- arguments of later releases; their defaults are fine
SELECT state FROM sluice.sync_start('s', 'x', row_filters => '{"t": "a = 1"}');
SELECT state FROM sluice.sync_start('s', 'x', restart_from_scratch => true);
SELECT state FROM sluice.sync_start('s', 'x', reset_target_data => true);
SELECT state FROM sluice.sync_start('s', 'x', confirm => 'abc');
SELECT state FROM sluice.sync_start('s', 'x', accept_unforwarded_schema_change => 'abc');
SELECT state FROM sluice.sync_start('s', 'x', accept_target_only_unique_key => '{k}');
SELECT state FROM sluice.sync_start('s', 'x', accept_table_rename => '{"a": "b"}');
SELECT state FROM sluice.sync_start('s', 'x', schema_changes => 'forward');
SELECT state FROM sluice.sync_start('s', 'x', schema_changes => 'ignore');
SELECT state FROM sluice.sync_start('s', 'nowhere', schema_changes => 'refuse',
    row_filters => '{}', type_overrides => '{}', restart_from_scratch => NULL,
    reset_target_data => NULL, accept_target_only_unique_key => '{}',
    accept_table_rename => '{}', options => '{}');

-- patterns and names
SELECT state FROM sluice.sync_start('s', 'x', include_tables => '{a,NULL}');
SELECT state FROM sluice.sync_start('s', 'x', include_tables => '{{a,b},{c,d}}');
SELECT state FROM sluice.sync_start('s', 'x', include_tables => ARRAY['a.b.c']);
SELECT state FROM sluice.sync_start('s', 'x', exclude_tables => ARRAY['"a']);
SELECT state FROM sluice.sync_start('s', 'x', exclude_tables => ARRAY['']);
SELECT state FROM sluice.sync_start('s', 'x', target_schema => '');

-- options
SELECT state FROM sluice.sync_start('s', 'x', options => '[]');
SELECT state FROM sluice.sync_start('s', 'x', options => '"feed"');
SELECT state FROM sluice.sync_start('s', 'x', options => '{"fed": true}');
SELECT state FROM sluice.sync_start('s', 'x', options => '{"confirm_after": "flush"}');
SELECT state FROM sluice.sync_start('s', 'x', options => '{"confirm_after": null}');
SELECT state FROM sluice.sync_start('s', 'x', options => '{"feed": "true"}');
SELECT state FROM sluice.sync_start('s', 'x', options => '{"retry_limit": -1}');
SELECT state FROM sluice.sync_start('s', 'x', options => '{"retry_limit": 1.5}');
SELECT state FROM sluice.sync_start('s', 'x', options => '{"retry_limit": 9007199254740993}');
SELECT state FROM sluice.sync_start('s', 'x', options => '{"apply_batch_bytes": "8 apples"}');
SELECT state FROM sluice.sync_start('s', 'x', options => '{"apply_batch_bytes": "-8MB"}');
SELECT state FROM sluice.sync_start('s', 'x', options => '{"apply_batch_bytes": true}');
SELECT state FROM sluice.sync_start('s', 'x', options => '{"apply_batch_interval": 20}');
SELECT state FROM sluice.sync_start('s', 'x', options => '{"apply_batch_interval": "soon"}');
SELECT state FROM sluice.sync_start('s', 'x', options => '{"apply_batch_interval": "-1 s"}');
SELECT state FROM sluice.sync_start('s', 'x', options => '{"existing_rows": "keep"}');
SELECT state FROM sluice.sync_start('s', 'x', options => '{"plugin": "sluice"}');
SELECT state FROM sluice.sync_start('s', 'x', options => '{"plugin": "wal2json"}');
SELECT state FROM sluice.sync_start('s', 'x', options => '{"slot_name": "Upper"}');
SELECT state FROM sluice.sync_start('s', 'x', options => '{"publication_name": ""}');
SELECT state FROM sluice.sync_start('s', 'x', options => '{"insert_only": "t"}');
SELECT state FROM sluice.sync_start('s', 'x', options => '{"insert_only": ["t", 1]}');
SELECT state FROM sluice.sync_start('s', 'x', options => '{"schema_map": {"a": 1}}');
SELECT state FROM sluice.sync_start('s', 'x', options => '{"schema_map": []}');

-- sources
CREATE FOREIGN DATA WRAPPER start_other;
CREATE SERVER start_other FOREIGN DATA WRAPPER start_other;
CREATE SERVER start_pg FOREIGN DATA WRAPPER sluice OPTIONS (host 'db1', dbname 'd');
CREATE SERVER start_my FOREIGN DATA WRAPPER sluice OPTIONS (driver 'mysql', host 'db1');
CREATE SERVER start_trigger FOREIGN DATA WRAPPER sluice OPTIONS (driver 'postgres-trigger', host 'db1');
CREATE USER MAPPING FOR PUBLIC SERVER start_my OPTIONS (user 'u', password 'p');
CREATE USER MAPPING FOR PUBLIC SERVER start_trigger OPTIONS (user 'u', password 'p');
SELECT state FROM sluice.sync_start('s');
SELECT state FROM sluice.sync_start('s', 'start_other');
SELECT state FROM sluice.sync_start('s', 'start_my');
SELECT state FROM sluice.sync_start('s', 'start_trigger');
SELECT state FROM sluice.sync_start('s', 'start_my', 'postgres');
SELECT state FROM sluice.sync_start('s', 'start_pg', 'oracle');
SELECT state FROM sluice.sync_start('s', 'start_pg', 'sqlite-trigger');
SELECT state FROM sluice.sync_start('s', 'vitess://u:S3cret@db1/d');
SELECT state FROM sluice.sync_start('s', 'oracle://u:S3cret@db1/d');
SELECT state FROM sluice.sync_start('s', 'postgres://u:S3cret@db1:port/d?x=y');
SELECT state FROM sluice.sync_start('s', 'host=db1 passwort=S3cret');
SELECT state FROM sluice.sync_start('s', 'host=db1 options=-csearch_path=x');
SELECT check_name FROM sluice.preflight(NULL);
SELECT check_name FROM sluice.preflight('nowhere');
SELECT check_name FROM sluice.preflight('start_trigger');
SELECT check_name FROM sluice.preflight('postgres://u@db1/d', options => '{"zero_dates": "null"}');
SELECT check_name FROM sluice.preflight('x', options => '{"feed": true}');
SELECT check_name FROM sluice.preflight('x', options => '{"no": true}');

-- who may
CREATE ROLE regress_sluice_start;
SET ROLE regress_sluice_start;
SELECT state FROM sluice.sync_start('s', 'start_pg');
RESET ROLE;
GRANT USAGE ON SCHEMA sluice TO regress_sluice_start;
GRANT EXECUTE ON FUNCTION sluice.sync_start TO regress_sluice_start;
SET ROLE regress_sluice_start;
SELECT state FROM sluice.sync_start('s', 'start_pg');
RESET ROLE;
DO $$ BEGIN
    EXECUTE pg_catalog.format('GRANT CREATE ON DATABASE %I TO regress_sluice_start',
                              pg_catalog.current_database());
END $$;
SET ROLE regress_sluice_start;
SELECT state FROM sluice.sync_start('s', 'start_pg');
SELECT state FROM sluice.sync_start('s', 'postgres://u:S3cret@db1/d');
RESET ROLE;
GRANT USAGE ON FOREIGN SERVER start_pg TO regress_sluice_start;
SET ROLE regress_sluice_start;
SELECT state FROM sluice.sync_start('s', 'start_pg');
CREATE USER MAPPING FOR CURRENT_USER SERVER start_pg OPTIONS (user 'u');
SELECT state FROM sluice.sync_start('s', 'start_pg');
ALTER USER MAPPING FOR CURRENT_USER SERVER start_pg OPTIONS (ADD password 'p');
RESET ROLE;
ALTER SERVER start_pg OPTIONS (SET host '/tmp');
SET ROLE regress_sluice_start;
SELECT state FROM sluice.sync_start('s', 'start_pg');
RESET ROLE;
ALTER SERVER start_pg OPTIONS (SET host 'db1', ADD service 'x');
SET ROLE regress_sluice_start;
SELECT state FROM sluice.sync_start('s', 'start_pg');
RESET ROLE;
SELECT pg_catalog.count(*) FROM sluice.stream;

-- a stream that is fed needs no source
SELECT state FROM sluice.sync_start('fed', 'start_pg', options => '{"feed": true}');
SET ROLE regress_sluice_start;
SELECT stream_id, owner, driver, state, desired_state, marker FROM sluice.sync_start('fed',
    include_tables => '{a,"public.*"}', exclude_tables => '{c}',
    options => '{"feed": true, "apply_batch_bytes": "8MB", "retry_limit": 3}');
-- what is rolled back was never there
RESET ROLE;
BEGIN;
SELECT state FROM sluice.sync_start('gone', options => '{"feed": true}');
SAVEPOINT a;
SELECT state FROM sluice.sync_start('gone2', options => '{"feed": true}');
ROLLBACK TO a;
SELECT stream_id FROM sluice.stream WHERE stream_id LIKE 'gone%';
ROLLBACK;
SELECT pg_catalog.count(*) FROM sluice.stream WHERE stream_id LIKE 'gone%';
BEGIN READ ONLY;
SELECT state FROM sluice.sync_start('gone', options => '{"feed": true}');
ROLLBACK;
SET ROLE regress_sluice_start;
-- the same again is no change
SELECT state FROM sluice.sync_start('fed');
SELECT state FROM sluice.sync_start('fed', include_tables => '{a,"public.*"}',
    options => '{"retry_limit": 3}');
-- anything else is named
SELECT state FROM sluice.sync_start('fed', include_tables => '{}', driver => 'mysql',
    target_schema => 'app', options => '{"retry_limit": null, "feed": false}');
SELECT state FROM sluice.sync_start('fed', 'start_pg');
SELECT state FROM sluice.sync_start('fed', options => '{}');
RESET ROLE;
SELECT include_tables, exclude_tables, schema_changes, options, source_server
FROM sluice.stream WHERE stream_id = 'fed';
CREATE ROLE regress_sluice_other;
GRANT USAGE ON SCHEMA sluice TO regress_sluice_other;
GRANT EXECUTE ON FUNCTION sluice.sync_start TO regress_sluice_other;
SET ROLE regress_sluice_other;
SELECT state FROM sluice.sync_start('fed');
RESET ROLE;

-- stopped: options merge, scope and place stay
UPDATE sluice.stream_state SET state = 'stopped' WHERE stream_id = 'fed';
UPDATE sluice.stream SET should_run = false WHERE stream_id = 'fed';
SELECT state FROM sluice.sync_start('fed', include_tables => '{a}');
SELECT state FROM sluice.sync_start('fed', exclude_tables => '{}');
SELECT state FROM sluice.sync_start('fed', target_schema => 'app');
SELECT state FROM sluice.sync_start('fed', options => '{"schema_map": {"a": "b"}}');
SELECT state FROM sluice.sync_start('fed',
    options => '{"retry_limit": null, "heartbeat_interval": "5 s"}');
SELECT options FROM sluice.stream WHERE stream_id = 'fed';
UPDATE sluice.stream_state SET state = 'cut_over' WHERE stream_id = 'fed';
SELECT state FROM sluice.sync_start('fed');

-- another target
UPDATE sluice.stream_state SET state = 'stopped' WHERE stream_id = 'fed';
UPDATE sluice.stream SET target_sysid = '1' WHERE stream_id = 'fed';
DO $$
DECLARE
    hint text;
    detail text;
BEGIN
    PERFORM sluice.sync_start('fed');
EXCEPTION WHEN SQLSTATE 'SL003' THEN
    GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT, detail = PG_EXCEPTION_DETAIL;
    RAISE NOTICE '%', SQLERRM;
    RAISE NOTICE '%', detail ~ '^Recorded: system 1, database';
    EXECUTE (pg_catalog.regexp_match(hint, 'gone for good: (.*)$'))[1];
END $$;
SELECT target_sysid <> '1' AS adopted, options FROM sluice.stream WHERE stream_id = 'fed';
UPDATE sluice.stream SET target_control = 1 WHERE stream_id = 'fed';
\set VERBOSITY terse
SELECT state FROM sluice.sync_start('fed', options => '{"adopt": "000000000000"}');
\set VERBOSITY default

SET client_min_messages = warning;
UPDATE sluice.stream_state SET state = 'stopped' WHERE stream_id = 'fed';
SELECT sluice.sync_drop('fed');
DROP SERVER start_my, start_pg, start_trigger, start_other CASCADE;
DROP FOREIGN DATA WRAPPER start_other;
DROP OWNED BY regress_sluice_start, regress_sluice_other;
DROP ROLE regress_sluice_start, regress_sluice_other;
