-- verify of a stream that a bridge feeds: the request in feed()'s answer, the answers
-- by feed_verified, and the ends of both sides.  Another session asks; this one plays the bridge.
\set ECHO none
\getenv dir PG_ABS_SRCDIR
\set lib :dir '/lib/feed.sql'
\i :lib
CREATE EXTENSION dblink;
\set ECHO all
\set VERBOSITY default
CREATE SERVER my FOREIGN DATA WRAPPER sluice OPTIONS (driver 'mysql', host 'db1', dbname 'shop');
CREATE USER MAPPING FOR CURRENT_USER SERVER my OPTIONS (user 'u', password 'p');
CREATE SCHEMA land;
CREATE TABLE land.t (id int PRIMARY KEY, v text);
CREATE TABLE land.u (id int PRIMARY KEY, v text);
CREATE FUNCTION t.shape_of(name text) RETURNS jsonb LANGUAGE sql AS $$
    SELECT jsonb_build_object('kind', 'shape', 'schema', 'shop', 'name', name, 'relid', 0, 'relkind', 'r', 'wireid', ascii(name),
        'cols', '[{"name": "id", "attnum": 0, "type": "int", "source_type": "int", "key": true, "primary": true, "not_null": true},
                  {"name": "v", "attnum": 0, "type": "text", "source_type": "text"}]'::jsonb)
$$;
-- What that session waits for, or how it ended.
CREATE FUNCTION t.asked(tok text) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    found jsonb;
BEGIN
    FOR i IN 1 .. 300 LOOP
        found := sluice.feed(tok, t.my(VARIADIC '{}')) -> 'verify';
        EXIT WHEN found IS NOT NULL;
        PERFORM pg_sleep(0.1);
    END LOOP;
    RETURN found;
END $$;
CREATE FUNCTION t.outcome(session text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    detail text;
    hint text;
BEGIN
    RETURN QUERY SELECT concat_ws(' | ', r.s, r.t, r.st, r.n, r.m, r.d, r.k, r.why)
        FROM dblink_get_result(session) AS r (s text, t text, st text, n bigint, m bigint, d bigint, k text, why text);
EXCEPTION WHEN OTHERS OR query_canceled THEN
    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
    RETURN NEXT sqlstate || ' ' || sqlerrm;
    RETURN NEXT '> ' || hint;
END $$;
CREATE FUNCTION t.here() RETURNS text LANGUAGE sql AS $$
    SELECT format('host=%s port=%s dbname=%s', current_setting('unix_socket_directories'), current_setting('port'), current_database())
$$;
SELECT dblink_connect('a', t.here());
SELECT dblink_connect('b', t.here());

-- nobody feeds it
SELECT state FROM sluice.sync_start('s', 'my', target_schema => 'land');
SELECT * FROM sluice.verify('s');

SELECT token AS tok FROM sluice.feed_open('s', 3) \gset
SELECT sluice.feed(:'tok', t.my(t.shape_of('t'), t.shape_of('u'),
    '{"kind": "begin", "lsn": "1/64"}', '{"kind": "insert", "rel": 116, "new": ["1", "x"]}', '{"kind": "insert", "rel": 117, "new": ["1", "x"]}',
    '{"kind": "commit", "lsn": "1/64", "end": "1/96", "position": "{\"file\": \"bin.000001\", \"pos\": 150}"}')) ? 'verify' AS asks;
SELECT schema_name, table_name, target_relid, state FROM sluice.tables;

-- a whole course; both tables at once, one of them different
SELECT dblink_send_query('a', $$SELECT * FROM sluice.verify('s')$$);
SELECT jsonb_pretty(t.asked(:'tok') - 'ticket');
SELECT t.asked(:'tok') ->> 'ticket' AS ticket \gset
SELECT stream_id, relid, phase, rows_done FROM sluice.progress;
SELECT sluice.feed_verified(:'tok', :ticket, '{"kind": "holding"}');
-- it is answered: asked no more
SELECT sluice.feed(:'tok', t.my(VARIADIC '{}')) ? 'verify' AS asks;
SELECT sluice.feed_verified(:'tok', :ticket, '{"kind": "comparing", "schema": "shop", "table": "t"}');
SELECT sluice.feed_verified(:'tok', :ticket, '{"kind": "table", "schema": "shop", "table": "t", "source_rows": 1, "target_rows": 1}');
SELECT sluice.feed_verified(:'tok', :ticket, '{"kind": "table", "schema": "shop", "table": "u", "source_rows": 3, "target_rows": 3,
    "changed": 1, "missing": 1, "extra": 1, "keys": ["2", "a\u0007b", "4"]}');
SELECT sluice.feed_verified(:'tok', :ticket, '{"kind": "done"}');
SELECT sluice.feed_verified(:'tok', :ticket, '{"kind": "done"}') AS again;
SELECT * FROM t.outcome('a');
SELECT * FROM t.outcome('a');

-- some tables, another mode; a table that cannot be compared
SELECT dblink_send_query('a', $$SELECT * FROM sluice.verify('s', '{shop.u}', 'count')$$);
SELECT t.asked(:'tok') AS asked \gset
SELECT :'asked'::jsonb ->> 'mode', :'asked'::jsonb ->> 'tables';
SELECT :'asked'::jsonb ->> 'ticket' AS ticket \gset
SELECT sluice.feed_verified(:'tok', :ticket, '{"kind": "table", "schema": "shop", "table": "u", "skip": "column \"v\" is of another type"}'),
    sluice.feed_verified(:'tok', :ticket, '{"kind": "done"}');
SELECT * FROM t.outcome('a');
SELECT * FROM t.outcome('a');

-- it cannot compare, or says less or more than it was asked for
CREATE FUNCTION t.answer(tok text, VARIADIC answers jsonb[]) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    ticket bigint;
    a jsonb;
BEGIN
    PERFORM dblink_send_query('a', $q$SELECT * FROM sluice.verify('s', '{shop.t}')$q$);
    ticket := t.asked(tok) ->> 'ticket';
    FOREACH a IN ARRAY answers LOOP
        PERFORM sluice.feed_verified(tok, ticket, a);
    END LOOP;
    RETURN QUERY SELECT * FROM t.outcome('a');
    PERFORM * FROM t.outcome('a');
END $$;
SELECT * FROM t.answer(:'tok', '{"kind": "failed", "message": "table \"t\" is locked", "hint": "Try again."}');
SELECT * FROM t.answer(:'tok', '{"kind": "done"}');
SELECT * FROM t.answer(:'tok', '{"kind": "table", "schema": "shop", "table": "u"}', '{"kind": "done"}');
-- its fault, not the asker's: what is no answer is told to it
SELECT sluice.feed_verified(:'tok', 1, '{"kind": "what"}');
SELECT sluice.feed_verified(:'tok', 1, '{"kind": "table", "schema": "shop"}');
SELECT sluice.feed_verified(:'tok', 1, '{"kind": "table", "schema": "shop", "table": "t", "rows": 1}');
SELECT sluice.feed_verified(:'tok', 1, '{"kind": "table", "schema": "shop", "table": "t", "changed": -1}');
SELECT sluice.feed_verified(:'tok', 1, '{"kind": "table", "schema": "shop", "table": "t", "keys": [1]}');
SELECT sluice.feed_verified(:'tok', 1, '{"kind": "table", "schema": "shop", "table": "t", "keys": ["1","2","3","4","5","6","7","8","9","10","11"]}');
SELECT sluice.feed_verified(:'tok', 1, '[]');
SELECT sluice.feed_verified('0123456789abcdef0123456789abcdef', 1, '{"kind": "done"}');
SELECT sluice.feed_verified(:'tok', 999, '{"kind": "done"}');

-- who asks goes away: the answer is not wanted any more
SELECT dblink_send_query('a', $$SELECT * FROM sluice.verify('s')$$);
SELECT t.asked(:'tok') ->> 'ticket' AS ticket \gset
SELECT sluice.feed_verified(:'tok', :ticket, '{"kind": "holding"}');
SELECT dblink_cancel_query('a');
SELECT * FROM t.outcome('a');
SELECT * FROM t.outcome('a');
SELECT sluice.feed_verified(:'tok', :ticket, '{"kind": "done"}');
SELECT count(*) FROM sluice.progress;

-- two at once: the second one waits for its turn
SELECT dblink_send_query('a', $$SELECT * FROM sluice.verify('s', '{shop.t}')$$);
SELECT t.asked(:'tok') ->> 'ticket' AS ticket \gset
SELECT dblink_send_query('b', $$SELECT * FROM sluice.verify('s', '{shop.u}')$$);
SELECT t.asked(:'tok') -> 'tables' -> 0 ->> 'table' AS asked;
SELECT sluice.feed_verified(:'tok', :ticket, '{"kind": "table", "schema": "shop", "table": "t"}'),
    sluice.feed_verified(:'tok', :ticket, '{"kind": "done"}');
SELECT * FROM t.outcome('a');
SELECT t.asked(:'tok') -> 'tables' -> 0 ->> 'table' AS asked;
SELECT t.asked(:'tok') ->> 'ticket' AS ticket \gset
SELECT * FROM t.outcome('a');
SELECT sluice.feed_verified(:'tok', :ticket, '{"kind": "table", "schema": "shop", "table": "u"}'),
    sluice.feed_verified(:'tok', :ticket, '{"kind": "done"}');
SELECT * FROM t.outcome('b');
SELECT * FROM t.outcome('b');

-- who answers goes away
SELECT dblink_send_query('a', $$SELECT * FROM sluice.verify('s', '{shop.t}')$$);
SELECT t.asked(:'tok') ->> 'ticket' AS ticket \gset
SELECT * FROM dblink('b', format('SELECT sluice.feed_verified(%L, %s, ''{"kind": "holding"}'')', :'tok', :ticket)) AS r (wanted boolean);
SELECT dblink_disconnect('b');
SELECT * FROM t.outcome('a');
SELECT * FROM t.outcome('a');
-- nobody answers in time
SELECT dblink_exec('a', 'SET sluice.query_timeout = ''200ms''');
SELECT dblink_send_query('a', $$SELECT * FROM sluice.verify('s', '{shop.t}')$$);
SELECT * FROM t.outcome('a');
SELECT * FROM t.outcome('a');
SELECT dblink_exec('a', 'RESET sluice.query_timeout');
-- who feeds goes away
SELECT dblink_send_query('a', $$SELECT * FROM sluice.verify('s', '{shop.t}')$$);
SELECT t.asked(:'tok') IS NOT NULL AS asked;
SELECT sluice.feed_close(:'tok');
SELECT * FROM t.outcome('a');
SELECT * FROM t.outcome('a');

-- a table that is not here; none at all
SELECT token AS tok FROM sluice.feed_open('s', 3) \gset
SELECT sluice.feed(:'tok', t.my(VARIADIC '{}')) ? 'verify' AS asks;
DROP TABLE land.u;
SELECT dblink_send_query('a', $$SELECT * FROM sluice.verify('s', '{shop.u}')$$);
SELECT t.asked(:'tok') AS asked \gset
SELECT :'asked'::jsonb -> 'tables';
SELECT :'asked'::jsonb ->> 'ticket' AS ticket \gset
SELECT sluice.feed_verified(:'tok', :ticket, '{"kind": "done"}');
SELECT * FROM t.outcome('a');
SELECT * FROM t.outcome('a');
SELECT sluice.feed_close(:'tok');
SELECT dblink_disconnect('a');
SELECT sluice.sync_stop('s');
SELECT * FROM sluice.verify('s');
SELECT sluice.sync_drop('s');
