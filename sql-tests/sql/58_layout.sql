-- Layouts that a bridge replays: kept with the position, given back, forgotten.
\set ECHO none
\getenv dir PG_ABS_SRCDIR
\set lib :dir '/lib/feed.sql'
\i :lib
\set lib :dir '/lib/mysql.sql'
\i :lib
\set ECHO all
\set VERBOSITY default
SET client_min_messages = error;
CREATE TABLE land.a (id int PRIMARY KEY, v int);
CREATE TABLE land.b (id int PRIMARY KEY);
SELECT state FROM sluice.sync_start('s', 'my', target_schema => 'land');
CREATE VIEW t.kept AS SELECT relid, schema_name, table_name, layout, lsn FROM sluice.source_layout ORDER BY relid;
CREATE FUNCTION t.open() RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    r record;
BEGIN
    SELECT token, tables INTO r FROM sluice.feed_open('s', 4);
    PERFORM sluice.feed_close(r.token);
    RETURN QUERY SELECT concat_ws(' ', x ->> 'table', x ->> 'relid', x ->> 'layout', (x -> 'shape' ->> 'natts')) FROM jsonb_array_elements(r.tables) x;
END $$;
\set A t.cols(t.id(), t.c('''v''', 2, '''int''', '''int'''))
\set B t.cols(t.id())
-- a stream of an earlier release knows no numbers; the first layout gives them, the shape its columns'
SELECT t.send(jsonb_build_array('{"kind": "shape", "wireid": 7, "relid": 0, "schema": "shop", "name": "a", "natts": 0, "cols": [
    {"name": "id", "attnum": 0, "type": "int", "source_type": "int", "key": true, "primary": true, "not_null": true},
    {"name": "v", "attnum": 0, "type": "int", "source_type": "int"}]}'::jsonb) || t.group(t.next(), jsonb_build_array(t.i('{1,1}', 7))));
SELECT * FROM t.open();
SELECT t.begin('a', 7, :A, t.i('{2,2}', 7));
SELECT t.begin('b', 8, :B, t.i('{1}', 8));
SELECT * FROM t.open();
SELECT t.ddl('a', 7, t.cols(t.id(), t.c('w', 2, 'int', 'int')), 'ALTER TABLE a RENAME COLUMN v TO w');
TABLE t.kept;
-- one of an earlier place does not come back: below the position, or outside of a transaction with an older place
SELECT t.send(jsonb_build_array(t.shape('a', 7, t.cols(t.id(), t.c('w', 2, 'int', 'int')))) || t.group(2, jsonb_build_array(t.layout('a', 7, 2))));
SELECT t.send(jsonb_build_array(t.layout('a', 7, 1)));
SELECT t.send(jsonb_build_array(t.layout('a', 7, 9)));
TABLE t.kept;
-- what is no layout of the stream's
SELECT t.send(jsonb_build_array(t.layout('nobody', 9, 9)));
SELECT t.send(jsonb_build_array(t.layout('b', 9, 9)));
SELECT t.send(jsonb_build_array(t.layout('b', 0, 9)));
SELECT t.send(jsonb_build_array(t.layout('b', 8, 9) || jsonb_build_object('layout', NULL, 'door', '[')));
-- one that refuses keeps nothing
SELECT t.send(t.group(t.next(), jsonb_build_array(t.layout('b', 8, 10), t.layout('b', 9, 10))));
TABLE t.kept;
-- a table that is not followed any more
SELECT t.send(t.group(t.next(), jsonb_build_array(t.layout('b', 8, 11, 'DROP TABLE b') - 'layout')));
TABLE t.kept;
-- renamed, with its number
SELECT t.ddl('c', 7, t.cols(t.id(), t.c('w', 2, 'int', 'int')), 'RENAME TABLE a TO c');
TABLE t.kept;
SELECT * FROM t.open();
-- beginning anew forgets them, and the numbers
SELECT sluice.sync_stop('s');
CREATE FUNCTION t.confirmed(VARIADIC what text[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    hint text;
    call text := format('SELECT state FROM sluice.sync_start(''s'', %s => true%%s)', what[1]);
BEGIN
    EXECUTE format(call, '');
    RETURN 'not asked';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
    EXECUTE format(call, format(', confirm => %L', (regexp_match(hint, 'confirm => ''([0-9a-f]+)'''))[1]));
    RETURN 'begun anew';
END $$;
SELECT t.confirmed('restart_from_scratch');
TABLE t.kept;
SELECT table_name, source_id, state FROM sluice.tables ORDER BY 1;
SELECT sluice.sync_stop('s');
SELECT sluice.sync_drop('s');
-- a feeder that is no bridge has none
SELECT state FROM sluice.sync_start('f', options => '{"feed": true}');
SELECT token AS tok FROM sluice.feed_open('f', 4) \gset
SELECT sluice.feed(:'tok', sluice.feed_encode(jsonb_build_array(t.header(), t.layout('a', 7, 1))));
SELECT sluice.feed_close(:'tok');
SELECT sluice.sync_stop('f');
SELECT sluice.sync_drop('f');
