-- Columns added on the source: what fills the rows that are here.
\set ECHO none
\getenv dir PG_ABS_SRCDIR
\set lib :dir '/lib/feed.sql'
\i :lib
\set ECHO all
\pset format unaligned
\pset tuples_only on
CREATE TYPE mood AS ENUM ('sad', 'glad');
CREATE DOMAIN today AS date DEFAULT CURRENT_DATE;
CREATE DOMAIN seven AS int DEFAULT 7;
CREATE SEQUENCE here;
CREATE TABLE d (id int PRIMARY KEY);
INSERT INTO d VALUES (-1);
SELECT stream_id FROM sluice.sync_start('s', options => '{"feed": true}', schema_changes => 'forward');
-- the columns added so far, and one more; then a row
CREATE TABLE t.added (n serial, col jsonb);
CREATE FUNCTION t.feed(col jsonb) RETURNS text LANGUAGE sql SET search_path = pg_catalog AS $$
    SELECT t.try(t.batch(jsonb_build_object('kind', 'shape', 'wireid', 1, 'relid', 7001, 'schema', 'public', 'name', 'd',
        'relkind', 'r', 'replident', 'd', 'evidence', 'now', 'natts', 1 + coalesce(max(o), 0), 'cols',
        '[{"name": "id", "type": "int4", "attnum": 1, "key": true, "not_null": true, "primary": true}]'::jsonb
        || coalesce(jsonb_agg(c || jsonb_build_object('attnum', 1 + o) ORDER BY o), '[]')),
        t.i(ARRAY[nextval('t.clock')::text] || array_fill(NULL::text, ARRAY[coalesce(max(o), 0)::int]))))
    FROM (SELECT a.col, row_number() OVER (ORDER BY a.n) FROM (
        SELECT n, added.col FROM t.added UNION ALL SELECT 999, feed.col) a
        WHERE a.col IS NOT NULL) x (c, o) $$;
CREATE FUNCTION t.add(name text, type text, dflt jsonb = NULL, more jsonb = '{}') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    col jsonb := jsonb_build_object('name', name, 'type', type, 'default', coalesce(dflt, 'false')) || more;
    out text := t.feed(col);
BEGIN
    IF out LIKE 'applied%' THEN
        INSERT INTO t.added (col) VALUES (col);
        out := out || coalesce(E'\n' || (SELECT e.ddl FROM sluice.schema_events e ORDER BY e.recorded_at DESC, e."position" DESC LIMIT 1), '')
            || coalesce(E'\nowed' || (SELECT string_agg(concat_ws(' | ', '', CASE WHEN c.set_not_null THEN 'not null' END, c.then_ddl), '')
                FROM sluice.debt_column c WHERE NOT c.is_key AND c.column_name = name), '');
    END IF;
    RETURN out;
END $$;

SELECT t.feed(NULL);
SELECT t.add('plain', 'text');
SELECT t.add('zero', 'int4', '"0"', '{"not_null": true}');
SELECT t.add('feeling', 'public.mood', '"''glad''::public.mood"');
SELECT t.add('seventh', 'public.seven');
SELECT t.add('Odd "n', 'varchar(5)', '"''it''''s''::character varying"');
-- computed: one line, and what by hand
SELECT t.add('at', 'timestamptz', '"now()"', '{"not_null": true}');
SELECT t.add('uid', 'uuid', '"gen_random_uuid()"');
SELECT t.add('n', 'int8', '"nextval(''public.here''::regclass)"');
SELECT t.add('w', 'int4', NULL, '{"identity": true, "not_null": true}');
SELECT t.add('day', 'public.today');
SELECT t.add('day', 'public.today', '"CURRENT_DATE"');
SELECT t.add('deep', 'text', '"COALESCE(NULL::text, (lower((CURRENT_USER)::text)))"');
SELECT t.add('long', 'text', to_jsonb('(''' || repeat('x', 300) || '''::text || (random())::text)'));
-- not known, or not to be made
SELECT t.add('unread', 'int4', 'true');
SELECT t.add('serial', 'int8', '"nextval(''public.gone''::regclass)"', '{"not_null": true}');
SELECT t.add('new', 'public.fresh', '"''a''::public.fresh"');
SELECT t.add('f', 'int4', '"public.f()"');
SELECT t.add('q', 'int4', '"(SELECT 1)"');
SELECT t.add('bad', 'public.mood', '"''mad''::public.mood"');
SELECT t.add('coll', 'text', NULL, '{"collation": "public.fr"}');
-- copied
SELECT sluice.sync_stop('s');
SELECT stream_id FROM sluice.sync_start('s', options => '{"volatile_defaults": "copy"}');
SELECT t.add('at', 'timestamptz', '"now()"', '{"not_null": true}');
SELECT t.add('n', 'int8', '"nextval(''public.here''::regclass)"');
SELECT t.add('w', 'int4', NULL, '{"identity": true, "not_null": true}');
SELECT t.add('day', 'public.today');
SELECT t.add('day2', 'public.today', '"CURRENT_DATE"');
SELECT t.add('coll', 'text', '"''c''::text"', '{"collation": "pg_catalog.\"C\""}');
SELECT t.add('unread', 'int4', 'true');
SELECT t.add('serial', 'int8', '"nextval(''public.gone''::regclass)"', '{"not_null": true}');
SELECT t.add('f', 'int4', '"public.f()"');
-- no values are to be copied: by hand only
SELECT sluice.sync_stop('s');
SELECT stream_id FROM sluice.sync_start('s', options => '{"backfill_added_column": false}');
SELECT t.add('late', 'public.today', '"CURRENT_DATE"');
SELECT t.add('later', 'int4', '"5"');
-- nothing is computed here for the rows that are here
SELECT zero, feeling, seventh, at, n, w, day, day2, coll FROM d WHERE id = -1;
SELECT attname, attnotnull, pg_get_expr(adbin, adrelid) FROM pg_attribute
LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum WHERE attrelid = 'd'::regclass AND attnum > 0 ORDER BY attnum;
SELECT sluice.sync_stop('s');
SELECT sluice.sync_drop('s');
