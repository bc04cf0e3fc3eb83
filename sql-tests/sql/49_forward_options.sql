-- What the options say of added columns.
\set ECHO none
\getenv dir PG_ABS_SRCDIR
\set lib :dir '/lib/feed.sql'
\i :lib
\set mode forward
\set lib :dir '/lib/matrix.sql'
\i :lib
\set ECHO all
\pset format unaligned
\pset tuples_only on
-- volatile_defaults: added bare, copied, and the default is set then
SELECT sluice.sync_stop('s');
SELECT state FROM sluice.sync_start('s', options => '{"volatile_defaults": "copy"}');
SELECT t.cell('{id int4 1}', '{id int4 1,a timestamptz 2 nn d=now()}', '{2,2026-01-01 00:00+00}');
SELECT t.cell('{id int4 1}', '{id int4 1,a uuid 2 d=gen_random_uuid(),b int4 3 d=7}', '{2,e1a3c3de-0000-4000-8000-000000000000,1}');
SELECT t.cell('{id int4 1}', '{id int4 1,a int8 2 nn identity}', '{2,2}');
SELECT t.cell('{id int4 1}', '{id int4 1,a timestamptz 2 d=now()}', keyless => true);
-- backfill_added_column: without the values, by name; NOT NULL where the default fills all
SELECT sluice.sync_stop('s');
SELECT state FROM sluice.sync_start('s', options => '{"backfill_added_column": false}');
SELECT t.cell('{id int4 1}', '{id int4 1,a int4 2,b int4 3 nn d=7,c int4 4 nn}', '{2,2,7,1}');
SELECT t.cell('{id int4 1}', '{id int4 1,a int4 2}', keyless => true);
SELECT t.cell('{id int4 1}', '{id int4 1,a timestamptz 2 d=now()}');
SELECT sluice.sync_stop('s');
SELECT sluice.sync_drop('s');
