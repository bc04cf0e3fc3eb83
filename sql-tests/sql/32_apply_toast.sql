-- Values out of line that an UPDATE does not send keep what is stored.
\set ECHO none
\getenv dir PG_ABS_SRCDIR
\set lib :dir '/lib/feed.sql'
\i :lib
\set ECHO all
SELECT state FROM sluice.sync_start('s', options => '{"feed": true}');
SELECT token AS tok FROM sluice.feed_open('s', 3) \gset
CREATE TABLE to1 (id int PRIMARY KEY, v int, doc text, j jsonb);
ALTER TABLE to1 ALTER doc SET STORAGE EXTERNAL;
CREATE TABLE to2 (id int PRIMARY KEY, v int, a int[], t text[], b bytea, j jsonb, h numeric[]);
SELECT array_to_string(array_agg('ALTER TABLE to2 ALTER ' || c || ' SET STORAGE EXTERNAL'), ';') AS ddl
FROM unnest('{a,t,b,j,h}'::text[]) c \gset
:ddl;
SELECT sluice.feed(:'tok', t.batch(t.shape('to1'), t.i(ARRAY['1', '1', repeat('x', 50000), jsonb_build_object('k', repeat('y', 50000))::text]),
    t.i(ARRAY['4', '1', repeat('q', 50000), NULL]))) ->> 'transactions' AS n;
SELECT sluice.feed(:'tok', t.batch(t.shape('to2', 2), t.i(ARRAY['1', '1',
    (SELECT array_agg(i)::text FROM generate_series(1, 5000) i),
    (SELECT array_agg(i::text)::text FROM generate_series(1, 5000) i),
    '\x' || repeat('7a', 9000),
    (SELECT jsonb_agg(i)::text FROM generate_series(1, 5000) i),
    (SELECT array_agg(i::numeric)::text FROM generate_series(1, 5000) i)], 2))) ->> 'transactions' AS n;
CREATE TABLE before1 AS TABLE to1;
CREATE TABLE before2 AS TABLE to2;
-- another column, the literal texts of other tools, the key itself
SELECT sluice.feed(:'tok', t.batch(t.u('{1,2,~,~}'), t.u('{1,3,~,~}'),
    t.i('{2,1,unchanged-toast-datum,"{}"}'), t.i('{3,1,__debezium_unavailable_value,NULL}'),
    t.u('{104,1,~,NULL}', '{4,NULL,NULL,NULL}')));
SELECT sluice.feed(:'tok', t.batch(t.u('{1,2,~,~,~,~,~}', rel => 2), t.u('{7,2,~,~,~,~,~}', '{1,NULL,NULL,NULL,NULL,NULL,NULL}', rel => 2)));
SELECT id, v, length(doc), CASE WHEN length(doc) < 99 THEN doc END AS short FROM to1 ORDER BY id;
SELECT n.doc = o.doc AS doc, n.j = o.j AS j FROM to1 n JOIN before1 o USING (id) WHERE id = 1;
SELECT n.doc = o.doc AS doc FROM to1 n, before1 o WHERE n.id = 104 AND o.id = 4;
SELECT n.id, n.v, n.a = o.a AS a, n.t = o.t AS t, n.b = o.b AS b, n.j = o.j AS j, n.h = o.h AS h FROM to2 n, before2 o;
-- a value set to NULL is no unchanged value
SELECT sluice.feed(:'tok', t.batch(t.u('{1,3,NULL,~}')));
SELECT id, doc IS NULL AS doc, length(j ->> 'k') FROM to1 WHERE id = 1;

-- under FULL the old image has the value, the row keeps its own
CREATE TABLE tf (a int, doc text);
ALTER TABLE tf REPLICA IDENTITY FULL;
SELECT sluice.feed(:'tok', t.batch(t.shape('tf', 3), t.i(ARRAY['1', repeat('f', 40000)], 3),
    t.u('{2,~}', ARRAY['1', repeat('f', 40000)], 'full', 3))) ->> 'transactions' AS n;
SELECT a, length(doc) FROM tf;

-- a partition to move to stores its own copy
CREATE TABLE tp (id int, k int, doc text, PRIMARY KEY (id, k)) PARTITION BY LIST (k);
CREATE TABLE tp1 (doc text, k int NOT NULL, gone int, id int NOT NULL);
ALTER TABLE tp1 DROP COLUMN gone;
ALTER TABLE tp ATTACH PARTITION tp1 FOR VALUES IN (1);
CREATE TABLE tp2 PARTITION OF tp FOR VALUES IN (2);
ALTER TABLE tp1 ALTER doc SET STORAGE EXTERNAL;
SELECT sluice.feed(:'tok', t.batch(t.shape('tp', 4), t.i(ARRAY['1', '1', repeat('p', 60000)], 4))) ->> 'transactions' AS n;
SELECT sluice.feed(:'tok', t.batch(t.u('{1,1,~}', rel => 4), t.u('{1,2,~}', '{1,1,NULL}', rel => 4)));
SELECT tableoid::regclass, id, k, length(doc) FROM tp;
DROP TABLE before1, before2;

-- a row that is missing cannot get its value: said, not silent
SELECT sluice.feed(:'tok', t.batch(t.u('{9,9,~,~}'), t.u('{9,9,x,NULL}')));
TABLE t.conflict;
-- and an INSERT that lacks one is refused
SELECT sluice.feed(:'tok', t.batch(t.i('{10,1,~,NULL}')));
SELECT count(*) FROM to1;
SELECT sluice.feed_close(:'tok');
SELECT sluice.sync_stop('s');
SELECT sluice.sync_drop('s');
