-- Rows are found by what identifies them: keys, indexes, whole images.
\set ECHO none
\getenv dir PG_ABS_SRCDIR
\set lib :dir '/lib/feed.sql'
\i :lib
\set ECHO all
SELECT state FROM sluice.sync_start('s', options => '{"feed": true}');
SELECT token AS tok, "position" IS NULL AS at_start, tables FROM sluice.feed_open('s', 3) \gset
\echo :at_start :tables

-- insert, update, delete by primary key
CREATE TABLE pk1 (id int PRIMARY KEY, v text);
SELECT sluice.feed(:'tok', t.batch(t.shape('pk1'), t.i('{1,a}'), t.i('{2,b}'), t.i('{3,c}')));
SELECT sluice.feed(:'tok', t.batch(t.u('{1,A}'), t.d('{2,NULL}')));
TABLE pk1 ORDER BY id;
-- a key change is an update of the key, in any order of the rows
SELECT sluice.feed(:'tok', t.batch(t.u('{11,A}', '{1,NULL}'), t.u('{13,c}', '{3,NULL}')));
TABLE pk1 ORDER BY id;
-- the same row changed often in one transaction, and in the next one
SELECT sluice.feed(:'tok', t.batch(t.i('{5,x}'), t.u('{5,y}'), t.u('{6,y}', '{5,NULL}'),
    t.u('{6,z}'), t.d('{6,NULL}'), t.i('{6,w}')));
SELECT sluice.feed(:'tok', t.batch(t.u('{6,ww}')));
TABLE pk1 ORDER BY id;

-- two columns, in another order than the index
CREATE TABLE pk2 (a text, b int, v text, PRIMARY KEY (b, a));
SELECT sluice.feed(:'tok', t.batch(t.shape('pk2', 2), t.i('{x,1,p}', 2), t.i('{x,2,q}', 2),
    t.u('{x,1,pp}', rel => 2), t.d('{x,2,NULL}', rel => 2)));
TABLE pk2;

-- REPLICA IDENTITY USING INDEX: the primary key is data
CREATE TABLE ui1 (id int PRIMARY KEY, code text NOT NULL, v int);
CREATE UNIQUE INDEX ui1_code ON ui1 (code);
ALTER TABLE ui1 REPLICA IDENTITY USING INDEX ui1_code;
SELECT sluice.feed(:'tok', t.batch(t.shape('ui1', 3), t.i('{1,a,1}', 3),
    t.u('{2,a,1}', rel => 3), t.u('{2,b,1}', '{NULL,a,NULL}', rel => 3)));
TABLE ui1;

-- FULL without any key: one of equal rows, not all of them
CREATE TABLE nk1 (a int, b text);
ALTER TABLE nk1 REPLICA IDENTITY FULL;
SELECT sluice.feed(:'tok', t.batch(t.shape('nk1', 4), t.i('{1,x}', 4), t.i('{1,x}', 4), t.i('{1,x}', 4),
    t.i('{NULL,x}', 4), t.i('{NULL,NULL}', 4)));
SELECT sluice.feed(:'tok', t.batch(t.d('{1,x}', 'full', 4), t.u('{1,y}', '{1,x}', 'full', 4),
    t.u('{NULL,z}', '{NULL,x}', 'full', 4), t.d('{NULL,NULL}', 'full', 4)));
SELECT * FROM nk1 ORDER BY a, b;

-- FULL with a key: the index finds candidates, the image decides
CREATE TABLE fk1 (id int PRIMARY KEY, f float8, j json, n numeric);
ALTER TABLE fk1 REPLICA IDENTITY FULL;
SELECT sluice.feed(:'tok', t.batch(t.shape('fk1', 5), t.i('{1,0,"{\"a\": 1}",1.0}', 5),
    t.i('{2,-0,"{}",1.00}', 5)));
SELECT sluice.feed(:'tok', t.batch(t.u('{1,1,"{\"a\":2}",1.0}', '{1,0,"{\"a\": 1}",1.0}', 'full', 5),
    t.u('{2,5,"{}",2}', '{2,-0,"{}",1.00}', 'full', 5)));
TABLE fk1 ORDER BY id;
TABLE t.conflict;
-- equal by type, not by bytes: found, and recorded
INSERT INTO fk1 VALUES (3, 0, '{}', 1.0);
SELECT sluice.feed(:'tok', t.batch(t.u('{3,7,"{}",1}', '{3,-0,"{}",1.00}', 'full', 5)));
SELECT * FROM fk1 WHERE id = 3;
TABLE t.conflict;
-- another row behind the same key is not the row
SELECT sluice.feed(:'tok', t.batch(t.d('{3,8,"{}",1}', 'full', 5)));
SELECT count(*) FROM fk1;
TABLE t.conflict;

-- FULL, among equal keys of an index that is not unique
CREATE TABLE fi1 (k int, v text);
CREATE INDEX ON fi1 (k);
ALTER TABLE fi1 REPLICA IDENTITY FULL;
SELECT sluice.feed(:'tok', t.batch(t.shape('fi1', 6), t.i('{1,a}', 6), t.i('{1,b}', 6), t.i('{1,c}', 6),
    t.i('{NULL,d}', 6), t.u('{1,B}', '{1,b}', 'full', 6), t.d('{NULL,d}', 'full', 6)));
SELECT * FROM fi1 ORDER BY v COLLATE "C";

-- the target's index covers only a part of the key, or more than it
CREATE TABLE part (a int, b int, v text, PRIMARY KEY (a, b));
SELECT t.shape('part', 7) AS part_shape \gset
ALTER TABLE part DROP CONSTRAINT part_pkey;
CREATE UNIQUE INDEX ON part (a, b, v);
SELECT sluice.feed(:'tok', t.batch(:'part_shape', t.i('{1,1,x}', 7), t.i('{1,2,y}', 7),
    t.u('{1,2,Y}', rel => 7), t.d('{1,1,NULL}', rel => 7)));
TABLE part;

-- no index at all: the table is read
CREATE TABLE noix (id int PRIMARY KEY, v text);
SELECT t.shape('noix', 8) AS noix_shape \gset
ALTER TABLE noix DROP CONSTRAINT noix_pkey;
SELECT sluice.feed(:'tok', t.batch(:'noix_shape', t.i('{1,x}', 8), t.i('{2,y}', 8),
    t.u('{2,Y}', rel => 8), t.d('{1,NULL}', rel => 8)));
TABLE noix;

-- unique values that move between rows, in the order of the source
CREATE TABLE ur1 (id int PRIMARY KEY, u text UNIQUE);
SELECT sluice.feed(:'tok', t.batch(t.shape('ur1', 9), t.i('{1,a}', 9)));
SELECT sluice.feed(:'tok', t.batch(t.u('{1,b}', rel => 9), t.i('{2,a}', 9), t.d('{2,NULL}', rel => 9),
    t.u('{1,a}', rel => 9)));
SELECT sluice.feed(:'tok', t.batch(t.d('{1,NULL}', rel => 9), t.i('{2,a}', 9)));
TABLE ur1;
CREATE TABLE fu2 (id int PRIMARY KEY, slot int, active bool);
CREATE UNIQUE INDEX ON fu2 (slot) WHERE active;
SELECT sluice.feed(:'tok', t.batch(t.shape('fu2', 10), t.i('{1,7,t}', 10), t.i('{2,7,f}', 10)));
SELECT sluice.feed(:'tok', t.batch(t.u('{1,7,f}', rel => 10), t.u('{2,7,t}', rel => 10)));
TABLE fu2 ORDER BY id;
SELECT id FROM fu2 WHERE slot = 7 AND active;

-- insert-only without an identity, by option
CREATE TABLE io (a int);
ALTER TABLE io REPLICA IDENTITY NOTHING;
BEGIN;
SELECT sluice.feed(:'tok', t.batch(t.shape('io', 11), t.i('{1}', 11)));
ROLLBACK;
SELECT sluice.feed_close(:'tok');
TABLE t.refusal;
SELECT stream_id FROM sluice.sync_start('s', options => '{"feed": true, "insert_only": ["io"]}');
SELECT token AS tok FROM sluice.feed_open('s', 3) \gset
SELECT sluice.feed(:'tok', t.batch(t.shape('io', 11), t.i('{1}', 11), t.i('{1}', 11)));
TABLE io;
SELECT sluice.feed_close(:'tok');
TABLE t.state;
SELECT sluice.sync_stop('s');
SELECT sluice.sync_drop('s');
