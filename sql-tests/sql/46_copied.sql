-- A table that was copied under a snapshot: what its copy has is not applied
-- again.  Rule: as PostgreSQL's table synchronisation, a change is applied iff
-- the snapshot's position is at or before its commit record.
\set ECHO none
\getenv dir PG_ABS_SRCDIR
\set lib :dir '/lib/feed.sql'
\i :lib
\set ECHO all
\pset format unaligned
\pset tuples_only on
CREATE TABLE c (id int PRIMARY KEY, v text);
CREATE TABLE o (id int PRIMARY KEY, v text);
SELECT stream_id FROM sluice.sync_start('s', options => '{"feed": true}');
-- One transaction whose commit record is at n.
CREATE FUNCTION t.at(n bigint, VARIADIC recs jsonb[]) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    RETURN t.try(sluice.feed_encode(jsonb_build_array(t.header(),
        jsonb_build_object('kind', 'begin', 'lsn', t.lsn(n), 'xid', n, 'time', '2026-01-01 00:00:00+00')) ||
        to_jsonb(recs) ||
        jsonb_build_object('kind', 'commit', 'lsn', t.lsn(n), 'end', t.lsn(n + 1), 'time', '2026-01-01 00:00:00+00')));
END $$;
SELECT t.at(1000, t.shape('c'), t.i('{1,copied}'), t.shape('o', 2), t.i('{1,first}', 2));
UPDATE sluice.stream_table SET snapshot_lsn = t.lsn(2000)::pg_lsn WHERE table_name = 'c';

-- below the snapshot: changes, TRUNCATE and shapes of the table are skipped,
-- whatever they say; other tables' are applied
SELECT t.at(1500, t.shape('c'), t.i('{2,no}'), t.d('{1,NULL}'), t.shape('o', 2), t.i('{2,yes}', 2));
SELECT t.at(1600, t.shape('c', 1, '{"cols": [{"name": "former", "attnum": 1, "type": "bytea", "key": true}]}'), t.i('{3}'));
SELECT t.at(1700, t.shape('c', 1, '{"relid": 77}'), t.i('{4,of a former table}'));
SELECT t.at(1800, t.shape('c'), t.shape('o', 2), jsonb_build_object('kind', 'truncate', 'rels', '[1, 2]'::jsonb));
SELECT t.at(1850, t.shape('c'), t.i('{5,no}'));
SELECT * FROM c;
SELECT * FROM o;
SELECT t.at(1900, t.shape('o', 2), t.i('{9,again}', 2));
SELECT * FROM o;
-- one byte below, and at the snapshot
SELECT t.at(1999, t.shape('c'), t.i('{6,no}'));
SELECT t.at(2000, t.shape('c'), t.i('{7,at}'), t.u('{1,updated}'));
SELECT * FROM c ORDER BY id;
SELECT t.at(2001, t.shape('c'), t.i('{8,above}'));
-- a shape at or above it is judged as ever
SELECT t.at(2100, t.shape('c', 1, '{"cols": [{"name": "former", "attnum": 1, "type": "bytea", "key": true}]}'), t.i('{3}'));
SELECT * FROM c ORDER BY id;
