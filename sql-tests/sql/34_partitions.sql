-- Targets that are partitioned, otherwise than the source perhaps.
\set ECHO none
\getenv dir PG_ABS_SRCDIR
\set lib :dir '/lib/feed.sql'
\i :lib
\set ECHO all
SELECT state FROM sluice.sync_start('s', options => '{"feed": true}');
SELECT token AS tok FROM sluice.feed_open('s', 3) \gset
CREATE TABLE pa1 (id int, d date, v int, PRIMARY KEY (id, d)) PARTITION BY RANGE (d);
CREATE TABLE pa1_24 PARTITION OF pa1 FOR VALUES FROM ('2024-01-01') TO ('2025-01-01');
CREATE TABLE pa1_25 PARTITION OF pa1 FOR VALUES FROM ('2025-01-01') TO ('2026-01-01') PARTITION BY LIST (id);
CREATE TABLE pa1_25x (v int, id int NOT NULL, d date NOT NULL);
ALTER TABLE pa1_25 ATTACH PARTITION pa1_25x DEFAULT;
SELECT sluice.feed(:'tok', t.batch(t.shape('pa1'), t.i('{1,2024-05-05,1}'), t.i('{4,2024-06-06,4}'), t.i('{5,2025-01-01,5}')));
SELECT tableoid::regclass, * FROM pa1 ORDER BY id;
-- an update moves the row to the leaf it belongs to here
SELECT sluice.feed(:'tok', t.batch(t.u('{4,2025-06-06,44}', '{4,2024-06-06,NULL}'), t.u('{5,2025-01-01,55}'), t.d('{1,2024-05-05,NULL}')));
SELECT tableoid::regclass, * FROM pa1 ORDER BY id;
-- missing rows, and old rows that no partition could hold
SELECT sluice.feed(:'tok', t.batch(t.u('{9,2024-01-01,1}'), t.d('{9,2030-01-01,NULL}')));
TABLE t.conflict;
-- the same key again: an upsert, in its leaf and across leaves
SELECT sluice.feed(:'tok', t.batch(t.i('{5,2025-01-01,56}')));
SELECT * FROM pa1 ORDER BY id;

CREATE TABLE pb1 (id int PRIMARY KEY, v int) PARTITION BY HASH (id);
CREATE TABLE pb1_0 PARTITION OF pb1 FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE pb1_1 PARTITION OF pb1 FOR VALUES WITH (MODULUS 2, REMAINDER 1);
SELECT sluice.feed(:'tok', t.batch(VARIADIC ARRAY[t.shape('pb1', 2)] || (SELECT array_agg(t.i(ARRAY[i, i]::text[], 2) ORDER BY i) FROM generate_series(1, 100) i)));
SELECT sluice.feed(:'tok', t.batch(VARIADIC (SELECT array_agg(t.u(ARRAY[i + 1000, i]::text[], ARRAY[i, NULL]::text[], rel => 2) ORDER BY i) FROM generate_series(1, 50) i)));
SELECT count(*), min(id), max(id), count(*) FILTER (WHERE id > 1000) AS moved FROM pb1;
SELECT count(*) > 30 AS spread FROM pb1_0;

-- a new partition while the stream runs
CREATE TABLE pd1 (id int, k int, PRIMARY KEY (id, k)) PARTITION BY LIST (k);
CREATE TABLE pd1_def PARTITION OF pd1 DEFAULT;
CREATE TABLE pd1_null PARTITION OF pd1 FOR VALUES IN (7);
SELECT sluice.feed(:'tok', t.batch(t.shape('pd1', 3), t.i('{1,1}', 3), t.i('{7,7}', 3)));
CREATE TABLE pd1_2 PARTITION OF pd1 FOR VALUES IN (2);
SELECT sluice.feed(:'tok', t.batch(t.i('{2,2}', 3)));
SELECT tableoid::regclass, * FROM pd1 ORDER BY id;

-- the source's key does not tell the target's partition
CREATE TABLE src (id int PRIMARY KEY, region text, v int);
SELECT t.shape('src', 4, '{"name": "px1"}') AS px_shape \gset
DROP TABLE src;
CREATE TABLE px1 (id int, region text, v int) PARTITION BY LIST (region);
CREATE TABLE px1_eu PARTITION OF px1 FOR VALUES IN ('eu');
CREATE TABLE px1_us PARTITION OF px1 FOR VALUES IN ('us', NULL);
CREATE UNIQUE INDEX ON px1_eu (id);
SELECT sluice.feed(:'tok', t.batch(:'px_shape', t.i('{1,eu,1}', 4), t.i('{2,us,2}', 4), t.i('{3,NULL,3}', 4),
    t.u('{1,us,11}', rel => 4), t.u('{2,eu,22}', rel => 4), t.d('{3,NULL,NULL}', rel => 4)));
SELECT tableoid::regclass, * FROM px1 ORDER BY id;

-- partitioned by an expression; columns that only the target has
CREATE TABLE pe1 (id int, at timestamp, extra text DEFAULT 'here', tail int GENERATED ALWAYS AS (id * 2) STORED) PARTITION BY RANGE (date_trunc('year', at));
CREATE TABLE pe1_24 PARTITION OF pe1 FOR VALUES FROM ('2024-01-01') TO ('2025-01-01');
CREATE TABLE pe1_rest PARTITION OF pe1 DEFAULT;
ALTER TABLE pe1 REPLICA IDENTITY FULL;
SELECT jsonb_set(t.shape('pe1', 5), '{cols}', (SELECT jsonb_agg(c) FROM jsonb_array_elements(t.shape('pe1', 5) -> 'cols') c WHERE c ->> 'name' <> 'extra')) AS pe_shape \gset
SELECT sluice.feed(:'tok', t.batch(:'pe_shape', t.i('{1,2024-03-03}', 5), t.i('{2,2023-01-01}', 5), t.i('{3,NULL}', 5)));
UPDATE pe1 SET extra = 'kept' WHERE id = 1;
SELECT sluice.feed(:'tok', t.batch(t.u('{1,2021-03-03}', '{1,2024-03-03}', 'full', 5)));
SELECT tableoid::regclass, * FROM pe1 ORDER BY id;

-- a leaf with an owner of its own is written with that owner's rights
CREATE ROLE regress_leaf;
GRANT USAGE, CREATE ON SCHEMA public TO regress_leaf;
CREATE TABLE po1 (id int PRIMARY KEY) PARTITION BY RANGE (id);
CREATE TABLE po1_a PARTITION OF po1 FOR VALUES FROM (0) TO (10);
CREATE TABLE po1_b PARTITION OF po1 FOR VALUES FROM (10) TO (20);
CREATE FUNCTION who(int) RETURNS bool LANGUAGE plpgsql AS $$BEGIN INSERT INTO seen VALUES (current_user, $1); RETURN true; END$$;
CREATE TABLE seen (who name, id int);
GRANT INSERT ON seen TO regress_leaf;
ALTER TABLE po1_b ADD CHECK (public.who(id));
ALTER TABLE po1_a ADD CHECK (public.who(id));
ALTER TABLE po1_b OWNER TO regress_leaf;
ALTER FUNCTION who(int) SET search_path = public;
SELECT sluice.feed(:'tok', t.batch(t.shape('po1', 6), t.i('{1}', 6), t.i('{11}', 6), t.i('{2}', 6)));
TABLE seen;

-- no partition for a new row
SELECT sluice.feed(:'tok', t.batch(t.i('{1,2027-01-01,1}')));
SELECT sluice.feed_close(:'tok');
TABLE t.refusal;
-- leaves that are no tables of ours
SELECT stream_id FROM sluice.sync_start('s');
SELECT token AS tok FROM sluice.feed_open('s', 3) \gset
CREATE FOREIGN DATA WRAPPER nothing;
CREATE SERVER nowhere FOREIGN DATA WRAPPER nothing;
CREATE FOREIGN TABLE px1_f PARTITION OF px1 FOR VALUES IN ('af') SERVER nowhere;
SELECT sluice.feed(:'tok', t.batch(:'px_shape', t.i('{4,eu,4}', 4)));
SELECT sluice.feed_close(:'tok');
SELECT sluice.sync_stop('s');
SELECT sluice.sync_drop('s');
DROP TABLE po1, pa1, seen;
DROP OWNED BY regress_leaf;
DROP ROLE regress_leaf;
