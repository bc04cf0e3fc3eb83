-- Stopping and dropping a stream that has no worker, the views, what may not
-- be dropped while a stream exists.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS sluice;
SET client_min_messages = notice;
\set SHOW_CONTEXT never
\set VERBOSITY default

-- the columns a user relies on, in their order
SELECT c.relname, string_agg(a.attname || ' ' || format_type(a.atttypid, a.atttypmod),
                             ', ' ORDER BY a.attnum) AS columns
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
WHERE c.oid IN ('sluice.health'::regclass, 'sluice.tables'::regclass,
                'sluice.progress'::regclass, 'sluice.schema_events'::regclass,
                'sluice.refusals'::regclass, 'sluice.stat_stream'::regclass,
                'sluice.conflicts'::regclass, 'sluice.metrics'::regclass)
GROUP BY c.relname ORDER BY c.relname;

-- arguments are checked
SELECT sluice.sync_stop(NULL);
SELECT sluice.sync_stop('v1');
SELECT sluice.sync_stop('v1', true, '-1 s');
SELECT sluice.sync_drop(NULL);
SELECT sluice.sync_drop('v1');
CALL sluice.sync_wait('v1');
CALL sluice.sync_wait(NULL);
CALL sluice.sync_wait('v1', 'happy');
CALL sluice.sync_wait('v1', 'streaming', '-1 s');
CALL sluice.sync_wait('v1', NULL);

SELECT stream_id, state, desired_state, healthy, pid
FROM sluice.sync_start('v1', options => '{"feed": true}');
SELECT stream_id, owner = current_user AS mine, driver, plugin, state, desired_state,
       healthy, marker, reason, "position", lag, lag_bytes, slot_name, pid,
       pending_tables, skipped_tables
FROM sluice.health WHERE stream_id = 'v1';
SELECT name, labels, value FROM sluice.metrics
WHERE labels ->> 'stream' = 'v1' AND name IN ('sluice_healthy', 'sluice_state') ORDER BY 1;
SELECT stream_id, transactions, inserts FROM sluice.stat_stream WHERE stream_id = 'v1';

-- a wait for what this transaction has not committed raises at once
BEGIN;
SELECT state FROM sluice.sync_start('v2', options => '{"feed": true}');
CALL sluice.sync_wait('v2', 'stopped', '1 h');
ROLLBACK;
DO $$
BEGIN
    PERFORM sluice.sync_start('v2', options => '{"feed": true}');
    CALL sluice.sync_wait('v2', 'stopped', '1 h');
END $$;
SELECT count(*) FROM sluice.health WHERE stream_id = 'v2';

-- what would strand it is refused
DROP EXTENSION sluice CASCADE;
SELECT sluice.sync_drop('v1');

-- stop: rolled back, then for good, then again
BEGIN;
SELECT sluice.sync_stop('v1', true);
SELECT state, desired_state FROM sluice.health WHERE stream_id = 'v1';
ROLLBACK;
SELECT state, desired_state FROM sluice.health WHERE stream_id = 'v1';
SELECT sluice.sync_stop('v1', true);
SELECT state, desired_state, healthy FROM sluice.health WHERE stream_id = 'v1';
SELECT sluice.sync_stop('v1');
CALL sluice.sync_wait('v1', 'stopped');
CALL sluice.sync_wait('v1', 'streaming', '1 h');

CALL sluice.sync_wait('v1', 'refused', '1 h');

-- conflicts: the key is for the owner
CREATE ROLE regress_sluice_watch IN ROLE pg_monitor;
INSERT INTO sluice.conflict VALUES
    ('v1', 'public', 't', 'update_missing', 3, '(id)=(7)', '0/10', '2026-01-01 00:00+00');
SELECT table_name, kind, count, last_key FROM sluice.conflicts;
SET ROLE regress_sluice_watch;
SELECT table_name, kind, count, last_key FROM sluice.conflicts;
SELECT state FROM sluice.health WHERE stream_id = 'v1';
SELECT count(*) > 5 AS many FROM sluice.metrics WHERE labels ->> 'stream' = 'v1';
SELECT count(*) FROM sluice.progress;
SELECT last_key FROM sluice.conflict;
RESET ROLE;
DROP ROLE regress_sluice_watch;

SELECT sluice.sync_drop('v1');
SELECT count(*) FROM sluice.health;
SELECT count(*) FROM sluice.conflicts;
