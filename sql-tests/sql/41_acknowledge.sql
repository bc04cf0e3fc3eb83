-- Recorded refusals that wait to be acknowledged: raised again, accepted once.
\set ECHO none
\getenv dir PG_ABS_SRCDIR
\set lib :dir '/lib/feed.sql'
\i :lib
-- what a call says, without the moment at which it did
CREATE FUNCTION t.call(sql text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    out text;
    detail text;
    hint text;
BEGIN
    EXECUTE sql INTO out;
    RETURN 'done: ' || coalesce(out, '');
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
    RETURN regexp_replace(t.error_text(sqlstate, sqlerrm, detail, hint),
        '\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[+-]\d\d', 'TIME', 'g');
END $$;
-- what a worker records before it ends
CREATE PROCEDURE t.refused(fp text, marker text, what text, hint text)
LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO sluice.refusal (stream_id, marker, schema_name, table_name, lsn,
        fingerprint, refusal_text, detail, hint)
    VALUES ('s', marker, 'public', 'a', '0/100', fp, marker || ': ' || what,
        '[constraint-added] public.a ' || what, hint);
    UPDATE sluice.stream_state s SET state = 'refused', fingerprint = fp,
        hint = refused.hint || ' and so on', reason = what, marker = refused.marker
    WHERE stream_id = 's';
END $$;
\set ECHO all
\pset format unaligned
\pset tuples_only on
SELECT state FROM sluice.sync_start('s', options => '{"feed": true}');
SELECT state FROM sluice.sync_start('other', options => '{"feed": true}');

-- nothing to accept
SELECT t.call($$ SELECT state FROM sluice.sync_start('new', options => '{"feed": true}', accept_unforwarded_schema_change => '0123456789ab') $$);
SELECT t.call($$ SELECT count(*) FROM sluice.preflight('x', accept_unforwarded_schema_change => '0123456789ab') $$);
SELECT t.call($$ SELECT sluice.acknowledge('s', '0123456789ab', 'why') $$);
SELECT t.call($$ SELECT sluice.acknowledge('s', '', 'why') $$);
SELECT t.call($$ SELECT sluice.acknowledge('s', NULL, 'why') $$);
SELECT t.call($$ SELECT sluice.acknowledge('s', '0123456789ab', NULL) $$);
SELECT t.call($$ SELECT sluice.acknowledge('s', '0123456789ab', '') $$);
SELECT t.call($$ SELECT sluice.acknowledge('nowhere', '0123456789ab', 'why') $$);

CALL t.refused('111111111111', 'UNFORWARDED-SCHEMA-CHANGE', 'constraint c', 'ALTER TABLE public.a ADD CONSTRAINT c CHECK (v > 0);');
CALL t.refused('222222222222', 'SCHEMA-CHANGE-REFUSED', 'column v', 'ALTER TABLE public.a ADD COLUMN v integer;');

-- raised again by every start, resets included, in its own words
SELECT t.call($$ SELECT state FROM sluice.sync_start('s') $$);
SELECT t.call($$ SELECT state FROM sluice.sync_start('s', restart_from_scratch => true) $$);
SELECT t.call($$ SELECT state FROM sluice.sync_start('s', reset_target_data => true) $$);
SELECT t.call($$ SELECT state FROM sluice.sync_start('s', accept_unforwarded_schema_change => '') $$);
SELECT t.call($$ SELECT state FROM sluice.sync_start('s', accept_unforwarded_schema_change => 'x') $$);
-- of another stream, of a marker that cannot be
SELECT t.call($$ SELECT sluice.acknowledge('other', '111111111111', 'why') $$);
SELECT t.call($$ SELECT sluice.acknowledge('s', '222222222222', 'why') $$);

-- by whom
CREATE ROLE regress_ack_none;
GRANT USAGE ON SCHEMA t TO regress_ack_none;
GRANT EXECUTE ON FUNCTION sluice.acknowledge(text, text, text) TO regress_ack_none;
SET ROLE regress_ack_none;
SELECT t.call($$ SELECT sluice.acknowledge('s', '111111111111', 'why') $$);
RESET ROLE;

-- accepted once, by name
\set VERBOSITY default
SELECT step, run_on, statement, destructive FROM sluice.remedies('s') ORDER BY 1;
UPDATE sluice.stream_state SET marker = 'UNFORWARDED-SCHEMA-CHANGE', fingerprint = '111111111111' WHERE stream_id = 's';
SELECT step, run_on, statement, destructive FROM sluice.remedies('s') ORDER BY 1;
SELECT sluice.acknowledge('s', '111111111111', 'the check is there, ticket 17');
SELECT step, run_on, statement, destructive FROM sluice.remedies('s') ORDER BY 1;
SELECT hint FROM sluice.health WHERE stream_id = 's';
SELECT fingerprint, acknowledged_at IS NOT NULL, acknowledged_by = session_user, reason FROM sluice.refusals ORDER BY 1;
SELECT replace(t.call($$ SELECT sluice.acknowledge('s', '111111111111', 'again') $$), session_user, 'USER');
SELECT state FROM sluice.sync_start('s');

-- by the start, which keeps nothing of it
CALL t.refused('333333333333', 'ADD-COLUMN-BACKFILL-INCOMPLETE', 'column n', 'Copy the column.');
CALL t.refused('444444444444', 'UNFORWARDED-SCHEMA-CHANGE', 'policy p', NULL);
SELECT t.call($$ SELECT state FROM sluice.sync_start('s', accept_unforwarded_schema_change => '444444444444') $$);
SELECT fingerprint, acknowledged_at IS NOT NULL FROM sluice.refusals WHERE fingerprint > '3' ORDER BY 1;
SELECT sluice.acknowledge('s', '333333333333', 'copied');
SELECT state FROM sluice.sync_start('s', accept_unforwarded_schema_change => '444444444444');
SELECT replace(t.call($$ SELECT state FROM sluice.sync_start('s', accept_unforwarded_schema_change => '444444444444') $$), session_user, 'USER');
SELECT fingerprint, reason FROM sluice.refusals WHERE fingerprint > '3' ORDER BY 1;

SELECT sluice.sync_stop('s'), sluice.sync_stop('other');
SELECT sluice.sync_drop('s'), sluice.sync_drop('other');
DROP OWNED BY regress_ack_none;
DROP ROLE regress_ack_none;
