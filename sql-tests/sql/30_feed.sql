-- The protocol of feed_open, feed and feed_close: tokens, boundaries, faults.
\set ECHO none
\getenv dir PG_ABS_SRCDIR
\set lib :dir '/lib/feed.sql'
\i :lib
\set ECHO all
CREATE ROLE regress_owner;
CREATE ROLE regress_bridge IN ROLE regress_owner;
CREATE ROLE regress_other;
GRANT EXECUTE ON FUNCTION sluice.feed_open(text, int), sluice.feed(text, bytea),
    sluice.feed_close(text, text) TO regress_bridge, regress_other;
CREATE TABLE a (id int PRIMARY KEY, v text);

-- what cannot be opened
SELECT * FROM sluice.feed_open('s', 3);
SELECT * FROM sluice.feed_open(NULL, 1);
SELECT state FROM sluice.sync_start('s', options => '{"feed": true}');
SELECT * FROM sluice.feed_open('s', 0);
SELECT * FROM sluice.feed_open('s', 99);
SELECT sluice.feed('00', '');
SELECT sluice.feed_close('00');
SELECT sluice.feed(NULL, '');
SET ROLE regress_other;
SELECT * FROM sluice.feed_open('s', 3);
RESET ROLE;
TABLE t.state;

-- an aborted feed_open leaves nothing behind
BEGIN;
SELECT length(token) FROM sluice.feed_open('s', 3);
ROLLBACK;
BEGIN;
SAVEPOINT p;
SELECT length(token) FROM sluice.feed_open('s', 3);
ROLLBACK TO p;
SELECT length(token) AS again FROM sluice.feed_open('s', 3);
ROLLBACK;

-- one at a time; a token is its session's
SELECT token AS tok, "position" IS NULL AS nothing_yet, tables
FROM sluice.feed_open('s', 3) \gset
\echo :nothing_yet :tables
TABLE t.state;
SELECT * FROM sluice.feed_open('s', 3);
\c
CALL t.wait_until_free();
SELECT token AS tok2 FROM sluice.feed_open('s', 3) \gset
SELECT sluice.feed(:'tok', t.batch(VARIADIC '{}'::jsonb[]));
SELECT :'tok' = :'tok2' AS same_token;
SELECT :'tok2' AS tok \gset

-- position and rows are of the caller's transaction
BEGIN;
SELECT sluice.feed(:'tok', t.batch(t.shape('a'), t.i('{1,x}')));
TABLE t.state;
ROLLBACK;
TABLE t.state;
TABLE a;
SELECT sluice.feed(:'tok', t.batch(t.shape('a'), t.i('{2,y}')));
TABLE t.state;
BEGIN;
SELECT sluice.feed(:'tok', t.batch(t.i('{3,z}')));
SAVEPOINT p;
SELECT sluice.feed(:'tok', t.batch(t.i('{4,z}')));
ROLLBACK TO p;
SELECT sluice.feed(:'tok', t.batch(t.i('{5,z}')));
COMMIT;
TABLE a ORDER BY id;
TABLE t.state;

-- several source transactions in one batch; heartbeats move the position
SELECT sluice.feed(:'tok', sluice.feed_encode(jsonb_build_array(t.header(),
    '{"kind": "begin", "lsn": "1/0"}'::jsonb, t.i('{6,p}'),
    '{"kind": "commit", "lsn": "1/0", "end": "1/10"}'::jsonb,
    '{"kind": "heartbeat", "lsn": "1/20"}'::jsonb,
    '{"kind": "begin", "lsn": "1/30"}'::jsonb, t.i('{7,q}'),
    '{"kind": "commit", "lsn": "1/30", "end": "1/40"}'::jsonb)));
SELECT sluice.feed(:'tok', sluice.feed_encode(jsonb_build_array(t.header(),
    '{"kind": "heartbeat", "lsn": "1/50"}'::jsonb)));
SELECT sluice.feed(:'tok', sluice.feed_encode(jsonb_build_array(t.header(),
    '{"kind": "heartbeat", "lsn": "1/45"}'::jsonb)));
TABLE t.state;
-- what is applied already is passed over, not applied twice
SELECT sluice.feed(:'tok', sluice.feed_encode(jsonb_build_array(t.header(),
    '{"kind": "begin", "lsn": "1/30"}'::jsonb, t.i('{7,q}'),
    '{"kind": "commit", "lsn": "1/30", "end": "1/40"}'::jsonb,
    '{"kind": "begin", "lsn": "1/60"}'::jsonb, t.i('{8,r}'),
    '{"kind": "commit", "lsn": "1/60", "end": "1/70"}'::jsonb)));
-- another engine's position is a text of its own
SELECT sluice.feed(:'tok', sluice.feed_encode(jsonb_build_array(t.header(),
    '{"kind": "begin", "lsn": "1/80"}'::jsonb, t.i('{9,s}'),
    '{"kind": "commit", "lsn": "1/80", "end": "1/90", "position": "binlog.000007:4711"}'::jsonb)));
SELECT count(*) FROM a;
TABLE t.conflict;
SELECT sluice.feed_close(:'tok');
SELECT token AS tok, "position", jsonb_path_query_array(tables, '$[*].shape.cols[*].name') AS names
FROM sluice.feed_open('s', 3) \gset
\echo :position :names
SELECT sluice.feed_close(:'tok');

-- batches that are none: raised, kept, and recorded at feed_close
CREATE FUNCTION t.refuse(batch bytea) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    tok text;
    msg text;
BEGIN
    SELECT token INTO tok FROM sluice.feed_open('s', 3);
    BEGIN
        PERFORM sluice.feed(tok, batch);
        msg := 'applied';
    EXCEPTION WHEN OTHERS THEN
        msg := sqlstate || ' ' || sqlerrm;
    END;
    PERFORM sluice.feed_close(tok);
    PERFORM sluice.sync_start('s');
    RETURN msg;
END $$;
CREATE FUNCTION t.raw(VARIADIC records jsonb[]) RETURNS bytea LANGUAGE sql AS $$
    SELECT sluice.feed_encode(to_jsonb(t.header() || records))
$$;
\set b '''{"kind": "begin", "lsn": "2/0"}'''
\set c '''{"kind": "commit", "lsn": "2/0", "end": "2/8"}'''
SELECT t.refuse('');
SELECT t.refuse('\x00');
SELECT t.refuse(substr(t.batch(t.i('{1,x}')), 1, 60));
SELECT t.refuse(t.raw(t.i('{1,x}')));
SELECT t.refuse(t.raw(:b, :b));
SELECT t.refuse(t.raw(:b, '{"kind": "heartbeat", "lsn": "2/0"}'));
SELECT t.refuse(t.raw(:c));
SELECT t.refuse(t.raw(:b, '{"kind": "commit", "lsn": "2/8", "end": "2/10"}'));
SELECT t.refuse(t.raw(:b, '{"kind": "commit", "lsn": "2/0", "end": "1/0"}'));
SELECT t.refuse(t.raw(:b, t.i('{1,x}', 77), :c));
SELECT t.refuse(t.raw(t.shape('a'), :b, t.i('{1}'), :c));
SELECT t.refuse(t.raw(t.header()));
SELECT t.refuse(sluice.feed_encode(jsonb_build_array(t.header() || '{"encoding": "LATIN1"}')));
SELECT t.refuse(sluice.feed_encode(jsonb_build_array(t.header() || '{"encoding": "no such"}')));
SELECT count(*), sum(count) FROM sluice.refusals;
SELECT count(*) FROM a;
UPDATE sluice.stream SET source_sysid = '41';
SELECT t.refuse(t.raw(VARIADIC '{}'::jsonb[]));
UPDATE sluice.stream SET source_sysid = NULL;

-- after a refusal nothing but feed_close; one that dies with its session is
-- met again
SELECT token AS tok FROM sluice.feed_open('s', 3) \gset
SELECT sluice.feed(:'tok', '\x00');
SELECT sluice.feed(:'tok', t.batch(VARIADIC '{}'::jsonb[]));
\c
CALL t.wait_until_free();
SELECT token AS tok FROM sluice.feed_open('s', 3) \gset
SELECT sluice.feed(:'tok', '\x00');
SELECT sluice.feed_close(:'tok', 'whatever');
SELECT sluice.feed_close(:'tok');
TABLE t.state;
SELECT * FROM sluice.feed_open('s', 3);
SELECT stream_id FROM sluice.sync_start('s');

-- as a member of the owner's role, whatever the session's settings are
ALTER TABLE a OWNER TO regress_owner;
GRANT USAGE ON SCHEMA public TO regress_owner;
UPDATE sluice.stream SET owner = 'regress_owner';
CREATE TABLE d (id int PRIMARY KEY, d date, i interval, x xml);
ALTER TABLE d OWNER TO regress_owner;
SELECT t.raw(t.shape('d', 2), '{"kind": "begin", "lsn": "5/0"}',
    t.i(ARRAY['1', '2026-02-03', '-1 days +02:00:00', 'no <b>document</b>'], 2),
    '{"kind": "commit", "lsn": "5/0", "end": "5/8"}') AS batch \gset
SET ROLE regress_bridge;
SET DateStyle = 'SQL, DMY';
SET IntervalStyle = 'sql_standard';
SET xmloption = document;
SELECT token AS tok FROM sluice.feed_open('s', 3) \gset
SELECT sluice.feed(:'tok', :'batch');
SHOW session_replication_role;
SHOW DateStyle;
SELECT current_user;
SELECT sluice.feed_close(:'tok', 'failed');
RESET ROLE;
RESET DateStyle;
RESET IntervalStyle;
TABLE d;
TABLE t.state;
SELECT sluice.sync_stop('s');
SELECT * FROM sluice.feed_open('s', 3);
SELECT sluice.sync_drop('s');
DROP OWNED BY regress_owner, regress_bridge, regress_other;
DROP ROLE regress_owner, regress_bridge, regress_other;
