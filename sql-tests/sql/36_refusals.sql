-- Every refusal of the apply engine, reached; nothing of the batch is left.
\set ECHO none
\getenv dir PG_ABS_SRCDIR
\set lib :dir '/lib/feed.sql'
\i :lib
\set ECHO all
\pset format unaligned
\pset tuples_only on
SELECT state FROM sluice.sync_start('s', options => '{"feed": true}');
CREATE TABLE a (id int PRIMARY KEY, v int, u text UNIQUE, CHECK (v < 100));
SELECT t.try(t.batch(t.shape('a'), t.i('{1,1,x}')));

-- UNIQUE-KEY-CONFLICT-OTHER-ROW: insert, update, key onto another row
SELECT t.try(t.batch(t.shape('a'), t.i('{2,1,y}'), t.i('{3,1,x}')));
SELECT t.try(t.batch(t.shape('a'), t.i('{2,1,y}'), t.u('{2,1,x}')));
SELECT t.try(t.batch(t.shape('a'), t.i('{2,1,y}'), t.u('{1,1,y}', '{2,NULL,NULL}')));
TABLE a;

-- TARGET-CONSTRAINT-VIOLATED: check, not null, exclusion, code
SELECT t.try(t.batch(t.shape('a'), t.i('{2,100,y}')));
SELECT t.try(t.batch(t.shape('a', 1, '{"evidence": "wire"}'), t.i('{2,2,y}'), t.i('{3,3,NULL}')));
CREATE TABLE nn (id int PRIMARY KEY, v text NOT NULL);
SELECT t.try(t.batch(t.shape('nn', 2), t.i('{1,NULL}', 2)));
CREATE TABLE ex (id int PRIMARY KEY, r int4range, EXCLUDE USING gist (r WITH &&));
SELECT t.try(t.batch(t.shape('ex', 3), t.i('{1,"[1,5)"}', 3), t.i('{2,"[4,8)"}', 3)));
CREATE FUNCTION no() RETURNS bool LANGUAGE plpgsql AS 'BEGIN RAISE ''secret value''; END';
CREATE TABLE code (id int PRIMARY KEY CHECK (public.no()));
SELECT t.try(t.batch(t.shape('code', 4), t.i('{1}', 4)));
CREATE DOMAIN small AS int CHECK (VALUE < 10);
CREATE TABLE dom (id int PRIMARY KEY, d small);
SELECT t.try(t.batch(t.shape('dom', 5), t.i('{1,9}', 5), t.i('{2,10}', 5)));

-- VALUE-UNREPRESENTABLE: range, syntax, encoding, length, binary of another type
CREATE TABLE vr (id int PRIMARY KEY, i smallint, d date, t varchar(3), j jsonb);
\set vr 't.shape(''vr'', 6)'
SELECT t.try(t.batch(:vr, t.i('{1,99999,NULL,NULL,NULL}', 6)));
SELECT t.try(t.batch(:vr, t.i('{1,NULL,2024-02-30,NULL,NULL}', 6)));
SELECT t.try(t.batch(:vr, t.i('{1,NULL,NULL,four,NULL}', 6)));
SELECT t.try(t.batch(:vr, t.i('{1,NULL,NULL,NULL,"{"}', 6)));
SELECT t.try(t.batch(:vr, '{"kind": "insert", "rel": 6, "new": [{"binary": "\\x00000001"}, {"binary": "\\x000102"}, null, null, null]}'));
SELECT t.try(t.batch(:vr, '{"kind": "insert", "rel": 6, "new": [{"binary": "\\x00000001"}, null, null, {"binary": "\\xff"}, null]}'));
SELECT t.try(t.batch(:vr, '{"kind": "insert", "rel": 6, "new": [{"binary": "\\x00000001"}, null, null, {"binary": "\\x610062"}, null]}'));
SELECT t.try(t.batch(:vr, '{"kind": "insert", "rel": 6, "new": [{"binary": "\\x00000001"}, null, {"binary": "\\x0000000000"}, null, null]}'));
-- the key is told only where the log may have it
SET sluice.log_keys = on;
SELECT t.try(t.batch(:vr, t.i('{1,5,NULL,NULL,NULL}', 6), t.u('{1,99999,NULL,NULL,NULL}', rel => 6)));
RESET sluice.log_keys;
CREATE TABLE wide (id int PRIMARY KEY, v bigint);
SELECT t.try(t.batch(t.shape('wide', 7, '{"cols": [{"name": "id", "type": "integer", "key": true, "not_null": true}, {"name": "v", "type": "integer"}]}'),
    '{"kind": "insert", "rel": 7, "new": ["1", {"binary": "\\x00000001"}]}'));
TABLE vr;

-- UNCHANGED-VALUE-MISSING
SELECT t.try(t.batch(t.shape('nn', 2), t.i('{1,~}', 2)));

-- KEY-COLLATION-MERGE: insert, update, delete
CREATE COLLATION nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TABLE ci (k text COLLATE nocase PRIMARY KEY, v int);
SELECT t.try(t.batch(t.shape('ci', 8), t.i('{a,1}', 8)));
SELECT t.try(t.batch(t.shape('ci', 8), t.i('{A,2}', 8)));
SELECT t.try(t.batch(t.shape('ci', 8), t.u('{A,2}', rel => 8)));
SELECT t.try(t.batch(t.shape('ci', 8), t.d('{A,NULL}', rel => 8)));
SELECT t.try(t.batch(t.shape('ci', 8), t.u('{A,3}', '{a,NULL}', rel => 8)));
TABLE ci;
-- an index that is coarser than its column
CREATE TABLE ci2 (k text, v int);
CREATE UNIQUE INDEX ON ci2 (k COLLATE nocase);
SELECT t.try(t.batch(t.shape('ci2', 9, '{"cols": [{"name": "k", "type": "text", "key": true}, {"name": "v", "type": "integer"}]}'), t.i('{a,1}', 9), t.i('{A,2}', 9)));

-- a deferrable key is not enforced in replica role and finds, but proves, nothing
CREATE TABLE df (id int PRIMARY KEY DEFERRABLE INITIALLY DEFERRED, v int);
SELECT t.try(t.batch(t.shape('df', 10), t.i('{1,1}', 10), t.i('{2,2}', 10), t.u('{1,11}', rel => 10), t.d('{2,NULL}', rel => 10)));
TABLE df;

-- TARGET-TABLE-MISSING: table, schema; also when it goes while the stream runs
SELECT t.try(t.batch(t.shape('a', 11, '{"name": "nowhere"}')));
SELECT t.try(t.batch(t.shape('a', 11, '{"schema": "app copy"}')));
CREATE SCHEMA app;
CREATE TABLE app.m (id int PRIMARY KEY);
SELECT token AS tok FROM sluice.feed_open('s', 3) \gset
SELECT sluice.feed(:'tok', t.batch(t.shape('app.m', 12), t.i('{1}', 12)));
ALTER SCHEMA app RENAME TO app_old;
SELECT sluice.feed(:'tok', t.batch(t.i('{2}', 12)));
SELECT sluice.feed_close(:'tok');
ALTER SCHEMA app_old RENAME TO app;
SELECT stream_id FROM sluice.sync_start('s');
DROP TABLE app.m;
CREATE TABLE app.m (id int PRIMARY KEY);
SELECT t.try(t.batch(t.shape('app.m', 12), t.i('{3}', 12)));
DROP TABLE app.m;
SELECT t.try(t.batch(t.shape('a', 12, '{"schema": "app", "name": "m"}'), t.i('{3}', 12)));

-- TARGET-KIND-UNSUPPORTED
CREATE VIEW vw AS SELECT 1 AS id;
CREATE MATERIALIZED VIEW mv AS SELECT 1 AS id;
CREATE UNLOGGED TABLE ul (id int PRIMARY KEY);
CREATE TABLE rl (id int PRIMARY KEY);
CREATE RULE r AS ON INSERT TO rl DO INSTEAD NOTHING;
CREATE SEQUENCE sq;
SELECT name, t.try(t.batch(t.shape('rl', 13, jsonb_build_object('name', name))))
FROM unnest('{vw,mv,ul,rl,sq}'::text[]) AS u (name);
SELECT t.try(t.batch(t.shape('rl', 13, '{"schema": "pg_catalog", "name": "pg_class"}')));
SELECT t.try(t.batch(t.shape('rl', 13, '{"schema": "sluice", "name": "stream"}')));
ALTER TABLE rl DISABLE RULE r;
SELECT t.try(t.batch(t.shape('rl', 13), t.i('{1}', 13)));

-- PROTOCOL-VIOLATION: a table that is not the stream's
SELECT stream_id FROM sluice.sync_start('f', include_tables => '{public.a}', options => '{"feed": true}');

SELECT token AS tok FROM sluice.feed_open('f', 3) \gset
SELECT sluice.feed(:'tok', t.batch(t.shape('nn', 2)));
SELECT sluice.feed_close(:'tok');
SELECT stream_id FROM sluice.sync_start('f');
-- one target table, two streams
SELECT token AS tok FROM sluice.feed_open('f', 3) \gset
SELECT sluice.feed(:'tok', t.batch(t.shape('a'), t.i('{50,1,f}')));
SELECT sluice.feed_close(:'tok');
SELECT sluice.sync_stop('f');
SELECT sluice.sync_drop('f');

SELECT marker, "table", count FROM t.refusal ORDER BY marker COLLATE "C", "table" COLLATE "C", count;
SELECT sluice.sync_stop('s');
SELECT sluice.sync_drop('s');
