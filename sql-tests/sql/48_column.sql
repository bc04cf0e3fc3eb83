-- A column that is added on the source: its type, collation and default here,
-- and how constant the default is.
SET client_min_messages = warning;
CREATE EXTENSION sluice;
\set SHOW_CONTEXT never
\set VERBOSITY terse
\pset format unaligned
\pset tuples_only on
\pset null ''
SET timezone = 'UTC';

CREATE ROLE regress_column_evil;
CREATE ROLE regress_column_owner;
CREATE SCHEMA app;
CREATE SCHEMA "App 2";
CREATE SCHEMA ext;
CREATE EXTENSION citext SCHEMA public;
CREATE EXTENSION hstore SCHEMA ext;
CREATE EXTENSION pgcrypto SCHEMA public;
CREATE EXTENSION "uuid-ossp" SCHEMA public;
CREATE TYPE app.mood AS ENUM ('sad', 'glad');
CREATE TYPE "App 2".mood AS ENUM ('sad', 'glad');
CREATE TYPE app.pair AS (a integer, b text);
CREATE TYPE app.stamped AS (a integer, at timestamptz);
CREATE TYPE app.stamps AS RANGE (subtype = timestamptz);
CREATE TYPE app.shell;
CREATE DOMAIN app.pos AS integer CHECK (VALUE > 0);
CREATE DOMAIN app.past AS timestamptz CHECK (VALUE < now() + interval '1 year');
CREATE DOMAIN app.odd AS integer CHECK (VALUE > random());
CREATE DOMAIN app.odds AS app.odd[];
CREATE DOMAIN app.oldest AS app.odd CHECK (VALUE < 100);
CREATE DOMAIN app.with_const AS integer DEFAULT 7;
CREATE DOMAIN app.with_now AS timestamptz DEFAULT now();
CREATE DOMAIN app.with_random AS float8 DEFAULT random();
CREATE DOMAIN app.german AS text COLLATE "C";
CREATE DOMAIN app.day AS date;
CREATE COLLATION app.de (LOCALE = 'C');
CREATE COLLATION "App 2".de (LOCALE = 'C');
CREATE SEQUENCE app.seq;
CREATE TABLE app.t (a integer, at timestamp);
CREATE FUNCTION app.f() RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT 1';
-- of a listed extension, so that the gate lets them through
CREATE FUNCTION public.late(a integer, b timestamptz DEFAULT now()) RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT $1';
CREATE FUNCTION public.dice(a integer, b float8 DEFAULT random()) RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT $1';
CREATE FUNCTION public.plain(a integer, b integer DEFAULT 1) RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT $1';
CREATE FUNCTION public.steady(a integer) RETURNS integer LANGUAGE sql STABLE AS 'SELECT $1';
CREATE OPERATOR public.### (RIGHTARG = integer, FUNCTION = public.steady);
ALTER EXTENSION citext ADD FUNCTION public.late(integer, timestamptz);
ALTER EXTENSION citext ADD FUNCTION public.dice(integer, float8);
ALTER EXTENSION citext ADD FUNCTION public.plain(integer, integer);
ALTER EXTENSION citext ADD FUNCTION public.steady(integer);
ALTER EXTENSION citext ADD OPERATOR public.###(NONE, integer);
-- conversions of types, that a default makes use of without a word
CREATE FUNCTION app.to_pair(integer) RETURNS app.pair LANGUAGE sql VOLATILE AS 'SELECT ROW($1, random()::text)::app.pair';
CREATE CAST (integer AS app.pair) WITH FUNCTION app.to_pair(integer) AS ASSIGNMENT;

-- one line for each expression: what was expected, unless it is so
CREATE TEMP TABLE expect (n serial, want text, type text, dflt text);
CREATE FUNCTION pg_temp.judge() RETURNS SETOF text LANGUAGE sql AS $$
    SELECT format('%s, expected %s: %s DEFAULT %s', coalesce(got, 'none'), want, type, dflt)
    FROM (SELECT e.*, CASE WHEN c.fault IS NULL THEN c.volatility ELSE 'fault ' || c.fault END AS got
          FROM expect e, LATERAL sluice.column_check(e.type, e.dflt) c) x
    WHERE left(coalesce(got, 'none'), length(want)) <> want ORDER BY n $$;

-- constants
INSERT INTO expect (want, type, dflt) VALUES
    ('i', 'integer', '0'), ('i', 'integer', '''-1''::integer'), ('i', 'integer', '(-5)'), ('i', 'bigint', '0'),
    ('i', 'smallint', '1'), ('i', 'numeric(10,2)', '1.50'), ('i', 'numeric', '0'), ('i', 'real', '1.5'),
    ('i', 'double precision', '''Infinity''::double precision'), ('i', 'boolean', 'true'), ('i', 'boolean', 'false'),
    ('i', 'text', '''active''::text'), ('i', 'text', '''''::text'), ('i', 'text', '''it''''s''::text'),
    ('i', 'character varying(20)', '''x''::character varying'), ('i', 'character(3)', '''x''::bpchar'),
    ('i', '"char"', '''x''::"char"'), ('i', 'name', '''x''::name'), ('i', 'bytea', '''\x00ff''::bytea'),
    ('i', 'text', 'NULL::text'), ('i', 'integer', 'NULL'), ('i', 'integer', 'NULL::integer'),
    ('i', 'date', '''2020-01-01''::date'), ('i', 'time without time zone', '''10:00:00''::time without time zone'),
    ('i', 'time with time zone', '''10:00:00+02''::time with time zone'),
    ('i', 'timestamp without time zone', '''2020-01-01 00:00:00''::timestamp without time zone'),
    ('i', 'timestamp with time zone', '''2020-01-01 00:00:00+00''::timestamp with time zone'),
    ('i', 'timestamp with time zone', '''infinity''::timestamp with time zone'),
    ('i', 'timestamp(3) with time zone', '''2020-01-01 00:00:00.123456+00''::timestamp with time zone'),
    ('i', 'interval', '''1 day''::interval'), ('i', 'interval day to second(3)', '''01:00:00''::interval'),
    ('i', 'uuid', '''00000000-0000-0000-0000-000000000000''::uuid'), ('i', 'json', '''{"a": 1}''::json'),
    ('i', 'jsonb', '''{"now": "now"}''::jsonb'), ('i', 'xml', '''<a/>''::xml'), ('i', 'inet', '''10.0.0.1''::inet'),
    ('i', 'cidr', '''10.0.0.0/8''::cidr'), ('i', 'macaddr', '''08:00:2b:01:02:03''::macaddr'), ('i', 'bit(3)', '''101''::"bit"'),
    ('i', 'bit varying(5)', '''101''::"bit"'), ('i', 'point', '''(1,2)''::point'), ('i', 'money', '''$1.00''::money'),
    ('i', 'tsvector', '''a b''::tsvector'), ('i', 'pg_lsn', '''0/0''::pg_lsn'), ('i', 'oid', '0'),
    ('i', 'int4range', '''[1,2)''::int4range'), ('i', 'tstzrange', '''empty''::tstzrange'),
    ('i', 'int4multirange', '''{[1,2)}''::int4multirange'), ('i', 'integer[]', '''{}''::integer[]'),
    ('i', 'integer[]', 'ARRAY[1, 2]'), ('i', 'text[]', '''{now,today}''::text[]'), ('i', 'text[]', 'ARRAY[]::text[]'),
    ('i', 'timestamp with time zone[]', '''{"2020-01-01 00:00:00+00"}''::timestamp with time zone[]'),
    ('i', 'app.mood', '''sad''::app.mood'), ('i', 'app.mood[]', '''{sad,glad}''::app.mood[]'),
    ('i', 'app.mood[]', 'ARRAY[''sad''::app.mood]'), ('i', 'app.pair', '''(1,x)''::app.pair'),
    ('i', 'app.pair', 'ROW(1, ''x''::text)'), ('i', 'app.pos', '1'), ('i', 'app.pos', '(1)::app.pos'), ('i', 'app.day', '''2020-01-01''::date'),
    ('i', 'app.with_now', 'NULL::timestamp with time zone'), ('i', 'public.citext', '''x''::public.citext'),
    ('i', 'public.hstore', '''a=>1''::public.hstore'), ('i', 'regclass', '''app.t''::regclass'), ('i', 'app.german', '''x''::text');
-- computed, and the same every time
INSERT INTO expect (want, type, dflt) VALUES
    ('i', 'integer', '(1 + 1)'), ('i', 'integer', 'length(''abc''::text)'), ('i', 'text', 'lower(''A''::text)'),
    ('i', 'text', 'COALESCE(NULL::text, ''x''::text)'), ('i', 'integer', 'GREATEST(1, 2)'), ('i', 'integer', 'NULLIF(1, 2)'),
    ('i', 'text', 'CASE WHEN true THEN ''a''::text ELSE ''b''::text END'), ('i', 'text', 'md5(''x''::text)'),
    ('s', 'jsonb', 'jsonb_build_array()'), ('i', 'text', '(1)::text'), ('i', 'bigint', '(1)::smallint'),
    ('i', 'text', '((1)::numeric)::text'), ('i', 'integer', '(''5''::text)::integer'), ('i', 'boolean', '(1 > 2)'),
    ('i', 'boolean', '(NOT true)'), ('i', 'integer', 'pg_catalog.abs(''-1''::integer)'), ('i', 'date', 'make_date(2020, 1, 1)'),
    ('i', 'interval', 'make_interval(days => 1)'), ('i', 'interval', '(''1 day''::interval * (2)::double precision)'),
    ('i', 'timestamp without time zone', '(''2020-01-01 00:00:00+00''::timestamp with time zone AT TIME ZONE ''UTC''::text)'),
    ('i', 'timestamp without time zone', '(''2020-01-01''::date + ''1 day''::interval)'),
    ('i', 'bytea', 'decode(''00''::text, ''hex''::text)'), ('i', 'jsonb', 'jsonb_set(''{}''::jsonb, ''{a}''::text[], ''1''::jsonb)'),
    ('i', 'bytea', 'public.digest(''x''::text, ''sha1''::text)'), ('i', 'integer', 'public.plain(1)'),
    ('i', 'integer', '("substring"(''12''::text, 1, 1))::integer'), ('i', 'tsvector', 'to_tsvector(''english''::regconfig, ''a''::text)'),
    ('i', 'boolean', '(''a''::text = ANY (ARRAY[''a''::text, ''b''::text]))'), ('i', 'integer', '(ARRAY[1, 2])[1]'),
    ('s', 'xml', 'XMLELEMENT(NAME a)');
-- of the statement's time, user, settings
INSERT INTO expect (want, type, dflt) VALUES
    ('s', 'timestamp with time zone', 'now()'), ('s', 'timestamp with time zone', 'pg_catalog.now()'),
    ('s', 'timestamp with time zone', 'CURRENT_TIMESTAMP'), ('s', 'timestamp(3) with time zone', 'CURRENT_TIMESTAMP(3)'),
    ('s', 'date', 'CURRENT_DATE'), ('s', 'time with time zone', 'CURRENT_TIME'), ('s', 'time without time zone', 'LOCALTIME'),
    ('s', 'timestamp without time zone', 'LOCALTIMESTAMP'), ('s', 'timestamp without time zone', 'now()'),
    ('s', 'date', 'now()'), ('s', 'timestamp without time zone', '(now() AT TIME ZONE ''utc''::text)'),
    ('s', 'timestamp with time zone', 'transaction_timestamp()'), ('s', 'timestamp with time zone', 'statement_timestamp()'),
    ('s', 'timestamp with time zone', '(now() + ''1 day''::interval)'), ('s', 'double precision', 'EXTRACT(epoch FROM now())'),
    ('s', 'bigint', '((EXTRACT(epoch FROM now()) * (1000)::numeric))::bigint'), ('s', 'text', '(now())::text'),
    ('s', 'timestamp with time zone', 'COALESCE(NULL::timestamp with time zone, now())'),
    ('s', 'timestamp with time zone', 'CASE WHEN true THEN now() ELSE NULL::timestamp with time zone END'),
    ('s', 'timestamp with time zone[]', 'ARRAY[now()]'), ('s', 'tstzrange', 'tstzrange(now(), NULL::timestamp with time zone)'),
    ('s', 'text', 'CURRENT_USER'), ('s', 'name', 'CURRENT_USER'), ('s', 'text', 'SESSION_USER'), ('s', 'text', 'CURRENT_SCHEMA'),
    ('s', 'text', 'CURRENT_CATALOG'), ('s', 'text', 'current_database()'), ('s', 'text', 'CURRENT_ROLE'),
    ('s', 'text', 'current_setting(''TimeZone''::text)'), ('s', 'text', 'current_setting(''x.tenant''::text, true)'),
    ('s', 'inet', 'inet_client_addr()'), ('s', 'text', 'to_char(now(), ''YYYY''::text)'),
    ('s', 'timestamp with time zone', '(''now''::text)::timestamp with time zone'), ('s', 'date', '(''now''::text)::date'),
    ('s', 'date', '(''2020-01-01''::text)::date'), ('s', 'timestamp without time zone', '(''2020-01-01 00:00:00+00''::timestamp with time zone)::timestamp without time zone'),
    ('s', 'text', '(''2020-01-01 00:00:00+00''::timestamp with time zone)::text'), ('s', 'text', '(''2020-01-01''::date)::text'),
    ('s', 'timestamp with time zone', '(''2020-01-01''::date)::timestamp with time zone'), ('s', 'timestamp with time zone', '''2020-01-01''::date'),
    ('s', 'regclass', '(''app.t''::text)::regclass'), ('s', 'text', '(''{1}''::integer[])::text'), ('s', 'integer[]', '(''{1}''::text)::integer[]'),
    ('s', 'tsvector', 'to_tsvector(''a''::text)'), ('s', 'jsonb', 'to_jsonb(now())'), ('s', 'json', 'to_json(1)'), ('s', 'jsonb', 'jsonb_build_object(''a'', 1)'),
    ('s', 'app.past', '''2020-01-01 00:00:00+00''::timestamp with time zone'), ('s', 'integer', 'public.late(1)'),
    ('i', 'integer', 'public.late(1, ''2020-01-01 00:00:00+00''::timestamp with time zone)'), ('s', 'integer', 'public.steady(1)'),
    ('s', 'integer', '(OPERATOR(public.###) 1)'), ('s', 'app.with_const', 'date_part(''year''::text, now())'),
    ('s', 'app.pair', 'ROW(1, (CURRENT_USER)::text)'), ('s', 'text', 'concat(''a'', 1)'), ('s', 'text', 'format(''%s''::text, 1)'),
    ('s', 'text', '(''a''::text || now())'), ('s', 'timestamp with time zone', '(((now())::text)::timestamp with time zone)'),
    ('s', 'boolean', '(now() > ''2020-01-01 00:00:00+00''::timestamp with time zone)'), ('s', 'timestamp with time zone', 'date_trunc(''day''::text, now())'),
    ('s', 'interval', 'age(''2020-01-01 00:00:00''::timestamp without time zone)'), ('s', 'xid8', 'pg_current_xact_id_if_assigned()');
-- the clock in a literal
INSERT INTO expect (want, type, dflt) VALUES
    ('s', 'timestamp with time zone', '''now''::timestamp with time zone'), ('s', 'timestamp with time zone', '''now'''),
    ('s', 'timestamp without time zone', '''NOW''::timestamp without time zone'), ('s', 'date', '''today''::date'), ('s', 'date', '''tomorrow'''),
    ('s', 'date', '''yesterday''::date'), ('s', 'time without time zone', '''now''::time without time zone'),
    ('s', 'time with time zone', '''now''::time with time zone'), ('s', 'date[]', '''{today}''::date[]'), ('s', 'tstzrange', '''[now,)''::tstzrange'),
    ('s', 'tstzmultirange', '''{[now,)}''::tstzmultirange'), ('s', 'app.stamps', '''[now,)''::app.stamps'), ('s', 'app.stamped', '''(1,now)''::app.stamped'),
    ('s', 'app.t', '''(1,now)''::app.t'), ('s', 'app.day', '''today''::app.day'), ('s', 'app.day', '''today'''), ('s', 'timestamp with time zone[]', 'ARRAY[''now''::timestamp with time zone]'),
    ('s', 'timestamp with time zone', 'COALESCE(NULL::timestamp with time zone, ''now''::timestamp with time zone)'),
    ('i', 'text', '''now''::text'), ('i', 'text', '''today'''), ('i', 'app.pair', '''(1,now)''::app.pair'), ('i', 'text[]', '''{now}''');
-- another value each time
INSERT INTO expect (want, type, dflt) VALUES
    ('v', 'uuid', 'gen_random_uuid()'), ('v', 'double precision', 'random()'), ('v', 'timestamp with time zone', 'clock_timestamp()'),
    ('v', 'text', 'timeofday()'), ('v', 'bigint', 'nextval(''app.seq''::regclass)'), ('v', 'integer', 'nextval(''app.seq''::regclass)'),
    ('v', 'text', '(nextval(''app.seq''::regclass))::text'), ('v', 'text', '(gen_random_uuid())::text'), ('v', 'uuid', 'public.uuid_generate_v4()'),
    ('v', 'uuid', 'public.uuid_generate_v1()'), ('v', 'bytea', 'public.gen_random_bytes(8)'), ('v', 'text', 'encode(public.gen_random_bytes(8), ''hex''::text)'),
    ('v', 'integer', '((random() * (100)::double precision))::integer'), ('v', 'uuid', 'COALESCE(NULL::uuid, gen_random_uuid())'),
    ('v', 'text', 'md5((random())::text)'), ('v', 'text', '(''a''::text || (random())::text)'), ('v', 'double precision[]', 'ARRAY[random()]'),
    ('v', 'app.pair', 'ROW(1, (random())::text)'), ('v', 'app.pair', '1'), ('v', 'app.odd', '1'), ('v', 'app.odds', '''{1}''::integer[]'),
    ('v', 'app.oldest', '1'), ('v', 'integer', 'public.dice(1)'), ('i', 'integer', 'public.dice(1, (2)::double precision)'),
    ('v', 'double precision', 'CASE WHEN (random() > (0.5)::double precision) THEN 1 ELSE 2 END'), ('v', 'boolean', '(random() > (0.5)::double precision)'),
    ('v', 'date', '(clock_timestamp())::date'), ('v', 'timestamp with time zone', '(now() + (random() * ''1 day''::interval))'),
    ('v', 'text', 'public.gen_salt(''md5''::text)'), ('v', 'double precision', 'GREATEST(random(), (0)::double precision)');
-- not to be judged, or not to be made
INSERT INTO expect (want, type, dflt) VALUES
    ('fault its default calls function app.f,', 'integer', 'app.f()'), ('fault its default calls function setval', 'bigint', 'setval(''app.seq''::regclass, 1)'),
    ('fault its default calls function nosuch', 'integer', 'nosuch()'), ('fault its default calls function pg_sleep', 'text', '(pg_sleep(1))::text'),
    ('fault sequence app.other does not exist on the target', 'bigint', 'nextval(''app.other''::regclass)'),
    ('fault type app.other does not exist on the target', 'text', '(''x''::app.other)::text'), ('fault type app.other does not exist on the target', 'app.other', '1'),
    ('fault type app.other does not exist on the target', 'app.other[]', NULL), ('fault type nowhere.x does not exist on the target', 'nowhere.x', NULL),
    ('fault it has type nosuch', 'nosuch', NULL), ('fault type app.shell does not exist', 'app.shell', NULL),
    ('fault relation app.gone does not exist on the target', 'regclass', '''app.gone''::regclass'),
    ('fault it has pseudo-type', 'anyelement', NULL), ('fault a column cannot have', 'record', NULL), ('fault it has a type', 'SETOF integer', NULL),
    ('fault its type', 'integer; DROP TABLE t', NULL), ('fault its type', 'integer DEFAULT 1', NULL), ('fault its type', '', NULL), ('fault its type numeric(2000,0)', 'numeric(2000,0)', NULL),
    ('fault its default is not one', 'integer', '1, 2'), ('fault its default is not one', 'integer', ''), ('fault its default contains a semicolon', 'integer', '1; DROP TABLE t'),
    ('fault its default contains a query', 'integer', '(SELECT 1)'), ('fault its default contains a comment', 'integer', '1 -- x'),
    ('fault its default 1 cannot be judged here', 'app.mood', '1'), ('fault its default ''x''::text cannot be judged here', 'integer', '''x''::text'),
    ('fault its default ''mad''::app.mood cannot be judged here', 'app.mood', '''mad''::app.mood'), ('fault its default ''x'' cannot', 'integer', '''x'''),
    ('fault its default c cannot', 'integer', 'c'), ('fault its default calls', 'bigint', 'count(*)'), ('fault its default (1 + true)', 'integer', '(1 + true)'),
    ('fault its default a.b cannot', 'integer', 'a.b'), ('fault its default calls', 'bigint', 'row_number() OVER ()'), ('fault its default', 'integer', '$1');
SELECT count(*) >= 120 AS enough FROM expect;
SELECT pg_temp.judge();

-- what a statement then says
SELECT concat_ws(' | ', t, d, k, target_type || collate_clause, target_default, volatility, 'bare' || bare, afterwards, 'fault ' || fault, 'fix ' || fix)
FROM (VALUES
    ('text', NULL, NULL, false), ('integer', '1', NULL, false), ('app.with_const', NULL, NULL, false), ('app.with_now', NULL, NULL, false),
    ('app.with_random', NULL, NULL, false), ('app.with_random', '(1)::double precision', NULL, false), ('app.with_now', 'now()', NULL, false), ('app.odd', NULL, NULL, false),
    ('integer', NULL, NULL, true), ('text', NULL, 'pg_catalog."default"', false), ('text', '''x''::text', 'pg_catalog."C"', false),
    ('app.german', NULL, 'pg_catalog."C"', false), ('app.german', NULL, 'pg_catalog."default"', false), ('text[]', NULL, 'app.de', false),
    ('text', NULL, 'app.fr', false), ('text', NULL, 'pg_catalog.nosuch', false), ('text', NULL, 'de', false), ('name', NULL, 'pg_catalog."C"', false),
    ('integer', NULL, 'pg_catalog."C"', false), ('bigint', 'nextval(''app.other''::regclass)', NULL, false)
    ) v(t, d, k, i), LATERAL sluice.column_check(t, d, k, i);

-- names of a mapped schema
SELECT concat_ws(' | ', target_type || collate_clause, target_default, volatility, afterwards, 'fault ' || fault, 'fix ' || fix)
FROM (VALUES
    ('s.mood', '''sad''::s.mood', NULL), ('s.mood[]', 'ARRAY[''sad''::s.mood, (''glad''::text)::s.mood]', NULL), ('text', '(''x''::text COLLATE s.de)', 's.de'),
    ('bigint', 'nextval(''s.seq''::regclass)', NULL), ('s.pos', NULL, NULL), ('other.mood', NULL, NULL), ('bigint', 'nextval(''s."Se""q"''::regclass)', NULL)
    ) v(t, d, k), LATERAL sluice.column_check(t, d, k, false, '{"schema_map": {"s": "App 2"}}');

-- what is there may be anybody's
GRANT CREATE ON SCHEMA app TO regress_column_evil;
SET ROLE regress_column_evil;
CREATE DOMAIN app.theirs AS text;
CREATE SEQUENCE app.their_seq;
RESET ROLE;
SELECT fault FROM sluice.column_check('app.theirs');
SELECT fault FROM sluice.column_check('bigint', 'nextval(''app.their_seq''::regclass)');
SELECT fault FROM sluice.column_check('text', '(''x''::app.theirs)::text');
-- whom the owner is a member of, it trusts
GRANT regress_column_evil TO regress_column_owner;
GRANT USAGE ON SCHEMA app, sluice TO regress_column_owner;
GRANT EXECUTE ON FUNCTION sluice.column_check TO regress_column_owner;
SET ROLE regress_column_owner;
SELECT target_type, fault FROM sluice.column_check('app.theirs');
RESET ROLE;
-- this session's settings do not matter, and stay
SET search_path = app, public;
SET standard_conforming_strings = off;
SET escape_string_warning = off;
SELECT target_default, volatility, fault FROM sluice.column_check('text', E'\'a\\\'::text');
SELECT fault FROM sluice.column_check('mood');
SHOW search_path;
SHOW standard_conforming_strings;
RESET search_path;
RESET standard_conforming_strings;
-- an error inside leaves nothing behind
BEGIN;
SELECT fault FROM sluice.column_check('integer', '''x''::text');
SELECT current_user = session_user, volatility FROM sluice.column_check('integer', '1');
COMMIT;

-- deep, long
SELECT left(fault, 60) FROM sluice.column_check('integer', repeat('(', 20000) || '1' || repeat(')', 20000));
SELECT left(fault, 20) FROM sluice.column_check('integer', repeat('1+', 50000) || '1');
SELECT left(fault, 60) FROM sluice.column_check(repeat('x', 1100000));

-- random texts made of what defaults are made of: one answer each, never an
-- error, and what was judged is a default here
CREATE TEMP TABLE words (n serial, w text);
INSERT INTO words (w) SELECT unnest(ARRAY['1', '-1', '''x''', '''now''', '''{1,2}''', '''app.seq''', '::', '::', 'app.mood', 'app.pos',
    'integer', 'text', 'timestamptz', 'date', 'app.past', 'regclass', '(', '(', ')', ')', ',', 'nextval', 'now()', 'random()', '||', '+', '=',
    'CASE WHEN', 'THEN', 'ELSE', 'END', 'ARRAY[', ']', 'NULL', 'true', 'COALESCE(', 'CURRENT_USER', 'COLLATE', '"C"', 'AT TIME ZONE',
    'lower(', 'public.late(', 'ROW(', 'a', '.', 'to_json(', '[]', 'IS NULL', 'NOT', 'pg_catalog.', 'interval', 'E''\''']);
CREATE TEMP TABLE tried (type text, txt text, volatility text, fault text);
DO $$
DECLARE
    state bigint := 20261130;
    txt text;
    kind text;
    r record;
    types CONSTANT text[] := '{integer,text,timestamptz,date[],app.mood,app.pos,app.past,app.pair,jsonb,regclass}';
BEGIN
    FOR i IN 1 .. 4000 LOOP
        txt := '';
        FOR k IN 1 .. 1 + i % 7 LOOP
            state := (state * 48271) % 2147483647;
            txt := txt || (SELECT w FROM words WHERE n = 1 + state % (SELECT count(*) FROM words))
                || CASE WHEN state % 3 = 0 THEN '' ELSE ' ' END;
        END LOOP;
        kind := types[1 + state % 10];
        SELECT * INTO STRICT r FROM sluice.column_check(kind, txt);
        IF r.volatility IS NULL AND r.fault IS NULL THEN
            RAISE EXCEPTION 'no answer: % DEFAULT %', kind, txt;
        END IF;
        INSERT INTO tried VALUES (kind, txt, r.volatility, r.fault);
        IF r.fault IS NULL THEN
            EXECUTE format('CREATE TEMP TABLE made (c %s DEFAULT %s)', r.target_type, r.target_default);
            EXECUTE 'DROP TABLE made';
        END IF;
    END LOOP;
END $$;
SELECT count(*) = 4000, count(volatility) > 20, count(DISTINCT volatility), count(fault) > 100 FROM tried;
SELECT type, txt FROM tried WHERE volatility = 'i' AND txt ~* 'now\(|random|nextval|current';

-- the option
SELECT sluice.sync_start('s', 'nowhere', options => '{"volatile_defaults": "carry"}');
SELECT sluice.sync_start('s', 'nowhere', options => '{"volatile_defaults": true}');

DROP SCHEMA app CASCADE;
DROP SCHEMA "App 2" CASCADE;
DROP SCHEMA ext CASCADE;
DROP EXTENSION citext CASCADE;
DROP EXTENSION pgcrypto;
DROP EXTENSION "uuid-ossp";
DROP EXTENSION sluice CASCADE;
REVOKE regress_column_evil FROM regress_column_owner;
DROP OWNED BY regress_column_evil, regress_column_owner;
DROP ROLE regress_column_evil, regress_column_owner;
