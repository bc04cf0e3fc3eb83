-- What the target has and should not have, or the other way round: counted, told.
\set ECHO none
\getenv dir PG_ABS_SRCDIR
\set lib :dir '/lib/feed.sql'
\i :lib
\set ECHO all
SELECT state FROM sluice.sync_start('s', options => '{"feed": true}');
CREATE TABLE dn1 (id int PRIMARY KEY, v int, note text DEFAULT 'mine');
SELECT t.try(t.batch(t.shape('dn1'), t.i('{1,1,a}'), t.i('{12,1,b}'), t.i('{13,1,c}')));
-- rows changed and removed here
UPDATE dn1 SET v = 99 WHERE id = 1;
DELETE FROM dn1 WHERE id > 11;
SELECT t.try(t.batch(t.shape('dn1'), t.u('{1,3,a}'), t.u('{12,3,b}'), t.d('{12,NULL,NULL}'), t.d('{13,NULL,NULL}'), t.d('{14,NULL,NULL}')));
TABLE dn1;
TABLE t.conflict;
-- a row that is here already is brought to what the source has
INSERT INTO dn1 VALUES (20, 0, 'local');
SELECT t.try(t.batch(t.shape('dn1'), t.i('{20,5,src}'), t.i('{21,5,src}'), t.i('{21,6,twice}')));
SELECT * FROM dn1 WHERE id >= 20 ORDER BY id;
TABLE t.conflict;
-- columns only the target has: default on insert, kept on update and upsert
CREATE TABLE own (id int PRIMARY KEY, v int, note text DEFAULT 'mine', at int DEFAULT 1 + 1, twice int GENERATED ALWAYS AS (v * 2) STORED, seq serial);
SELECT jsonb_set(t.shape('own', 2), '{cols}', (SELECT jsonb_agg(c) FROM jsonb_array_elements(t.shape('own', 2) -> 'cols') c WHERE c ->> 'name' IN ('id', 'v'))) AS own_shape \gset
SELECT t.try(t.batch(:'own_shape', t.i('{1,10}', 2), t.i('{2,20}', 2)));
UPDATE own SET note = 'changed';
SELECT t.try(t.batch(:'own_shape', t.u('{1,11}', rel => 2), t.i('{2,22}', 2), t.i('{3,30}', 2)));
SELECT * FROM own ORDER BY id;
-- first an update, then an insert: generated columns are computed for both
CREATE TABLE gen (id int PRIMARY KEY, v int, own int DEFAULT 7, g int GENERATED ALWAYS AS (own + 1) STORED);
SELECT jsonb_set(t.shape('gen', 3), '{cols}', (SELECT jsonb_agg(c) FROM jsonb_array_elements(t.shape('gen', 3) -> 'cols') c WHERE c ->> 'name' IN ('id', 'v'))) AS gen_shape \gset
INSERT INTO gen (id, v) VALUES (1, 1);
SELECT t.try(t.batch(:'gen_shape', t.u('{1,2}', rel => 3), t.i('{2,2}', 3)));
SELECT * FROM gen ORDER BY id;
-- identity columns take the source's values
CREATE TABLE ident (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, v int);
SELECT t.try(t.batch(t.shape('ident', 4), t.i('{5,1}', 4), t.u('{6,1}', '{5,NULL}', rel => 4)));
TABLE ident;
-- the last key and the position of each kind, and the counters
SELECT table_name, kind, count, last_key, last_position, last_at IS NOT NULL AS timed FROM sluice.conflicts ORDER BY 1, 2;
-- nothing of an aborted transaction is counted
SELECT token AS tok FROM sluice.feed_open('s', 3) \gset
BEGIN;
SELECT sluice.feed(:'tok', t.batch(t.shape('dn1'), t.d('{77,NULL,NULL}')));
ROLLBACK;
SELECT sum(count) FROM t.conflict WHERE kind = 'delete_missing';
SELECT sluice.feed_close(:'tok');
SELECT sluice.sync_stop('s');
SELECT sluice.sync_drop('s');
