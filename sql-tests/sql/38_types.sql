-- What a target column can hold of a source column; values in both forms.
\set ECHO none
\getenv dir PG_ABS_SRCDIR
\set lib :dir '/lib/feed.sql'
\i :lib
\set ECHO all
SELECT stream_id FROM sluice.sync_start('s', options => '{"feed": true}');
CREATE TYPE mood AS ENUM ('sad', 'glad');
CREATE SCHEMA other;
CREATE TYPE other.mood AS ENUM ('sad', 'glad');
CREATE DOMAIN posint AS int CHECK (VALUE > 0);
CREATE DOMAIN vc5 AS varchar(5);
CREATE SEQUENCE t.n;
-- 'holds', or what the judge says of a source column of type "from" and a target column of type "to"
CREATE FUNCTION t.holds("from" text, "to" text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    n bigint := nextval('t.n');
    r text;
BEGIN
    EXECUTE format('CREATE TABLE h%s (id int PRIMARY KEY, c %s)', n, "to");
    r := t.try(t.batch(jsonb_build_object('kind', 'shape', 'wireid', 1, 'relid', 5000 + n,
        'schema', 'public', 'name', 'h' || n, 'relkind', 'r', 'replident', 'd', 'cols', jsonb_build_array(
            '{"name": "id", "type": "int4", "key": true, "not_null": true, "primary": true}'::jsonb,
            jsonb_build_object('name', 'c', 'type', "from")))));
    EXECUTE format('DROP TABLE h%s', n);
    RETURN CASE WHEN r = 'applied' THEN 'holds'
        ELSE regexp_replace(r, '.*\| \[(.*)\] public.h\d+.c: (.*?)\n.*', '\1: \2') END;
END $$;
SELECT f AS "from", string_agg(x, ', ') FILTER (WHERE h = 'holds') AS holds, string_agg(x, ', ') FILTER (WHERE h <> 'holds') AS not
FROM (VALUES
    (1, 'int2', 'int2 int4 int8 numeric numeric(5) numeric(4) numeric(7,2) float8 text bool'),
    (2, 'int4', 'int2 int4 int8 numeric numeric(10) numeric(9) oid posint'),
    (3, 'int8', 'int4 int8 numeric numeric(19) numeric(18) posint'),
    (4, 'numeric(8,2)', 'numeric(8,2) numeric(9,2) numeric(7,2) numeric(9,3) numeric float8 int8'),
    (5, 'numeric', 'numeric numeric(100,50) float8'),
    (6, 'float4', 'float4 float8 numeric'), (7, 'float8', 'float4 float8 numeric'),
    (8, 'varchar(5)', 'varchar(5) varchar(4) varchar text char(5) vc5 name'),
    (9, 'varchar', 'varchar varchar(5) text'), (10, 'text', 'text varchar varchar(9) name bytea'),
    (11, 'char(3)', 'char(3) char(5) varchar(3) varchar(2) text'), (12, 'name', 'name text varchar(63)'),
    (13, 'timestamp(3)', 'timestamp(3) timestamp timestamp(2) timestamptz date'),
    (14, 'timestamptz', 'timestamptz timestamptz(3) timestamp'), (15, 'date', 'date timestamp timestamptz'),
    (16, 'time(0)', 'time(0) time(3) timetz'), (17, 'interval', 'interval interval(0)'),
    (18, 'bit(4)', 'bit(4) bit(5) varbit varbit(4) varbit(3)'), (19, 'varbit(4)', 'varbit(4) varbit(8) varbit(3) bit(4)'),
    (20, 'bytea', 'bytea text'), (21, 'json', 'json jsonb text'), (22, 'jsonb', 'jsonb json'),
    (23, 'uuid', 'uuid text'), (24, 'inet', 'inet cidr'), (25, 'bool', 'bool int4'), (26, 'money', 'money numeric'),
    (27, 'int4[]', 'int4[] int8[] int2[] int4'), (28, 'varchar(5)[]', 'varchar(5)[] varchar(6)[] varchar(4)[] text[]'),
    (29, 'public.mood', 'public.mood other.mood text'), (30, 'public.mood[]', 'public.mood[] public.mood'),
    (31, 'public.posint', 'public.posint int4'), (32, 'nowhere.thing', 'text'), (33, 'int4range', 'int4range int8range')
    ) v (o, f, xs), unnest(string_to_array(xs, ' ')) WITH ORDINALITY u (x, n), t.holds(f, x) AS h
GROUP BY o, f ORDER BY o;
SELECT t.holds('int8', 'int4'), t.holds('numeric(8,2)', 'numeric(8,3)'), t.holds('varchar(5)[]', 'varchar(4)[]');
-- columns that do not fit for other reasons than their type
CREATE TABLE fit (id int PRIMARY KEY, v int NOT NULL, g int GENERATED ALWAYS AS (v) STORED, own int NOT NULL);
SELECT t.try(t.batch('{"kind": "shape", "wireid": 2, "relid": 6000, "schema": "public", "name": "fit", "relkind": "r", "replident": "d",
    "cols": [{"name": "id", "type": "int4", "key": true, "not_null": true}, {"name": "v", "type": "int4"},
             {"name": "g", "type": "int4"}, {"name": "Extra", "type": "text"}]}'));
ALTER TABLE fit ALTER v DROP NOT NULL, ALTER own SET DEFAULT 1, ALTER g DROP EXPRESSION, ADD "Extra" text;
SELECT t.try(t.batch('{"kind": "shape", "wireid": 2, "relid": 6000, "schema": "public", "name": "fit", "relkind": "r", "replident": "d",
    "cols": [{"name": "id", "type": "int4", "key": true, "not_null": true}, {"name": "v", "type": "int4"},
             {"name": "g", "type": "int4"}, {"name": "Extra", "type": "text"}]}', t.i('{1,2,3,4}', 2)));
TABLE fit;

-- every value arrives as it was, as text and as binary, as a source writes it
SET DateStyle = 'ISO';
SET TimeZone = 'UTC';
SET IntervalStyle = 'postgres';
CREATE TABLE val (id int PRIMARY KEY, i2 int2, i4 int4, i8 int8, b bool, n numeric, f4 float4, f8 float8, tx text, vc varchar(9),
    bp char(4), ba bytea, d date, ti time, ts timestamp, tz timestamptz, iv interval, u uuid, j json, jb jsonb, a int4[], ta text[],
    ip inet, m mood, r int4range, x xml, vb varbit(9), pt point, mo money, dom posint);
INSERT INTO val VALUES
    (1, -32768, -2147483648, -9223372036854775808, true, 'NaN', 'NaN', '-Infinity', '', '', '', '', '-infinity', '00:00', '-infinity', 'infinity',
     '-178000000 years', '00000000-0000-0000-0000-000000000000', 'null', 'null', '{}', '{}', '::/0', 'sad', 'empty', '', '', '(0,-0)', '0', 1),
    (2, 32767, 2147483647, 9223372036854775807, false, -0.000000000000000000000000000001, 1.1754944e-38, 5e-324, E'a\tb\n\\N "quoted" ''', 'ünïcödé€',
     'x ', '\x00ff', '4713-01-01 BC', '24:00', '294276-12-31 23:59:59.999999', '4714-11-24 00:00:00+00 BC', '1 mon -1 day 00:00:00.000001',
     'ffffffff-ffff-ffff-ffff-ffffffffffff', '{"a":1,  "a":2}', '{"a": 1e400}', '{NULL,1}', '{"NULL",NULL,"a,b","{}"}', '10.0.0.1/8', 'glad', '[1,)',
     '<a>&amp;</a>', '101010101', '(1e300,-1e-300)', '-92233720368547758.08', 2147483647),
    (3, 0, 0, 0, NULL, 12345678901234567890.123456789000, '-0', '-0', repeat('long ', 2000), NULL, NULL, decode(repeat('00', 5000), 'hex'),
     '5874897-12-31', '12:34:56.789', '0001-01-01', '2026-03-29 01:30:00+00', '00:00', NULL, '[]', '[]', '[0:1]={1,2}', '{{a,b},{c,d}}', 'fe80::1', NULL,
     '(,)', NULL, NULL, NULL, NULL, NULL);
CREATE TABLE expected AS TABLE val;
CREATE FUNCTION t.send(v anyelement) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    r bytea;
BEGIN
    IF v IS NULL THEN RETURN 'null'; END IF;
    EXECUTE format('SELECT %s($1)', (SELECT typsend::regproc FROM pg_type WHERE oid = pg_typeof(v))) INTO r USING v;
    RETURN jsonb_build_object('binary', r::text);
END $$;
SELECT jsonb_agg(t.i(ARRAY[id::text, i2::text, i4::text, i8::text, b::text, n::text, f4::text, f8::text, tx::text, vc::text, bp::text, ba::text, d::text, ti::text, ts::text, tz::text, iv::text, u::text, j::text, jb::text, a::text, ta::text, ip::text, m::text, r::text, x::text, vb::text, pt::text, mo::text, dom::text], 3) ORDER BY id) AS texts,
    jsonb_agg(jsonb_build_object('kind', 'insert', 'rel', 3, 'new', jsonb_build_array(t.send(id), t.send(i2), t.send(i4), t.send(i8), t.send(b), t.send(n), t.send(f4),
        t.send(f8), t.send(tx), t.send(vc), t.send(bp), t.send(ba), t.send(d), t.send(ti), t.send(ts), t.send(tz), t.send(iv), t.send(u), t.send(j), t.send(jb), t.send(a),
        t.send(ta), t.send(ip), m::text, t.send(r), t.send(x), t.send(vb), t.send(pt), t.send(mo), t.send(dom::int))) ORDER BY id) AS binaries FROM val \gset
-- the domain is sent as its base type, as its own type it may not come in binary
SELECT jsonb_set(t.shape('val', 3), '{cols,29,type}', '"integer"') AS val_shape \gset
TRUNCATE val;
SELECT t.try(t.batch(VARIADIC ARRAY[:'val_shape'::jsonb] || (SELECT array_agg(e) FROM jsonb_array_elements(:'texts') e)));
SELECT count(*) AS differ FROM val v FULL JOIN expected e USING (id) WHERE NOT (v *= e) IS TRUE;
SELECT v.id FROM val v JOIN expected e USING (id) WHERE v::text <> e::text;
TRUNCATE val;
SELECT t.try(t.batch(VARIADIC ARRAY[:'val_shape'::jsonb] || (SELECT array_agg(e) FROM jsonb_array_elements(:'binaries') e)));
SELECT count(*) AS differ FROM val v FULL JOIN expected e USING (id) WHERE NOT (v *= e) IS TRUE;
-- the same through FULL images of every type
ALTER TABLE val DROP CONSTRAINT val_pkey, REPLICA IDENTITY FULL;
SELECT t.try(t.batch(VARIADIC ARRAY[jsonb_set(t.shape('val', 3), '{cols,29,type}', '"integer"')] || (SELECT array_agg(jsonb_build_object('kind', 'delete', 'rel', 3, 'old', jsonb_build_object('full', e -> 'new'))) FROM jsonb_array_elements(:'texts') e)));
SELECT count(*) FROM val;
TABLE t.conflict;
SELECT sluice.sync_stop('s');
SELECT sluice.sync_drop('s');
