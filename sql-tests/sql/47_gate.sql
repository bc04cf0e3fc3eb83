-- The gate: what a text of a source's catalog may say, and what it may not.
SET client_min_messages = warning;
CREATE EXTENSION sluice;
\set SHOW_CONTEXT never
\set VERBOSITY terse
\pset format unaligned
\pset tuples_only on

CREATE ROLE regress_gate_evil;
CREATE ROLE regress_gate_owner;
CREATE SCHEMA ext;
CREATE EXTENSION citext SCHEMA public;
CREATE EXTENSION hstore SCHEMA ext;
CREATE EXTENSION pgcrypto SCHEMA public;
CREATE EXTENSION btree_gist SCHEMA ext;
CREATE EXTENSION tablefunc SCHEMA ext;

CREATE FUNCTION pg_temp.gate(kind text, VARIADIC txts text[]) RETURNS SETOF text
LANGUAGE sql AS $$
    SELECT coalesce('ok    ' || g.result, 'FAULT ' || t || ' : ' || g.fault)
    FROM unnest(txts) WITH ORDINALITY u(t, n),
        LATERAL sluice.gate_check(kind, t,
            ARRAY['r app.t', 'r app.u', 'r "My App"."T""x"', 'S app.seq', 't app.mood', 't app."Wü"', 'c app.de'],
            '{"schema_map": {"app": "App 2", "My App": "plain"}}') g
    ORDER BY n $$;

-- what deparsed expressions look like
SELECT pg_temp.gate('expression',
    '1', '(a + 1)', 'NULL::text', '''it''''s''::text', 'ARRAY[1, 2]', '''{}''::integer[]',
    'CASE WHEN (a > 1) THEN ''x''::text ELSE COALESCE(b, ''y''::text) END',
    'GREATEST(a, b)', 'NULLIF(a, b)', '(a IS NOT NULL)', '(a IS DISTINCT FROM b)',
    '((a >= 1) AND (a <= 10))', '(a = ANY (ARRAY[''p''::text, ''q''::text]))',
    '(a BETWEEN 1 AND 2)', '((v)::text ~~ ''x%''::text)', '(v SIMILAR TO ''a'')',
    'ROW(1, 2)', '(c).x', 'a[1:2]', 'EXTRACT(year FROM d)', '(d AT TIME ZONE ''UTC''::text)',
    'CURRENT_TIMESTAMP', 'CURRENT_USER', 'now()', 'clock_timestamp()', 'gen_random_uuid()', 'random()',
    'XMLELEMENT(NAME foo, a)', 'lower((v)::text)', 'float8(a)', 'jsonb_build_object(''k'', a)',
    'to_tsvector(''english''::regconfig, v)', '''pg_class''::regclass',
    'VALUE ~ ''^\d+$''::text', '''\x00ff''::bytea', 'E''a\nb''', 'TRIM(BOTH FROM v)');

-- names of the stream, with the target's schemas
SELECT pg_temp.gate('expression',
    'nextval(''app.seq''::regclass)', 'nextval(''app.seq'')', 'nextval((''app.seq''::text)::regclass)',
    '''glad''::app.mood', '''{glad}''::app.mood[]', '''é''::app."Wü"', '("ä" COLLATE app.de)',
    'pg_get_serial_sequence(''app.t'', ''a'')', '''"My App"."T""x"''::regclass',
    '(''a''::app.mood = ''b''::app.mood)', 'nextval(E''app.seq''::regclass)');
-- and names of no one
SELECT pg_temp.gate('expression',
    'nextval(''app.other''::regclass)', 'nextval(''seq''::regclass)', 'nextval(a)', 'nextval(''1259''::regclass)',
    'nextval(''db.app.seq''::regclass)', '''x''::app.other', 'v COLLATE app.fr', 'v COLLATE nowhere',
    '''app.x''::regclass', '''16384''::regclass', '''{app.t}''::regclass[]', '''now''::regproc',
    '''app''::regnamespace', '''app.english''::regconfig', 'app.f(a)', 'db.app.f(a)', 'app.t.a',
    '(a OPERATOR(app.+) b)', 'nosuch(a)', '''x''::pg_temp.y', '''a''::app.mood%TYPE',
    '''x''::SETOF app.mood', '''x''::cstring', '''x''::information_schema.sql_identifier');

-- extensions: wherever they are here, and only the listed ones
SELECT pg_temp.gate('expression',
    '(v)::public.citext', '((v)::public.citext OPERATOR(public.=) ''x''::public.citext)',
    'public.digest(v, ''sha1''::text)', 'public.gen_random_bytes(8)', '''a=>1''::public.hstore',
    '(h OPERATOR(public.->) ''a''::text)', '(h OPERATOR(ext.->) ''a''::text)', 'public.akeys(h)',
    'ext.crosstab(''SELECT 1'')', 'public.crosstab(''SELECT 1'')');

-- functions that do not what they look like
SELECT pg_temp.gate('expression',
    'set_config(''role'', ''postgres'', false)', 'pg_read_file(''/etc/passwd'')', 'lo_import(''/etc/passwd'')',
    'query_to_xml(''DELETE FROM t'', true, true, '''')', 'pg_catalog.table_to_xml(''t'', true, true, '''')',
    'cursor_to_xml(''c'', 1, true, true, '''')', 'ts_stat(''SELECT 1'')', 'ts_rewrite(q, ''SELECT 1'')',
    'pg_sleep(1)', 'pg_terminate_backend(1)', 'setval(''app.seq'', 1)', 'currval(''app.seq'')', 'lastval()',
    'pg_ls_dir(''.'')', 'domain_in(''x'', 1, 1)', 'array_in(''{}'', 1, 1)', 'txid_current()', 'count(*)',
    'sum(a)', 'row_number() OVER ()', 'sum(a) FILTER (WHERE true)', 'mode() WITHIN GROUP (ORDER BY a)',
    '(''x''::text).pg_read_file', 't.set_config', '(c).count', '(''app.seq''::text).nextval', 'pg_advisory_lock(1)',
    'dblink(''x'', ''y'')', 'pg_notify(''a'', ''b'')', 'pg_logical_emit_message(true, ''a'', ''b'')');

-- more than one expression, or none
SELECT pg_temp.gate('expression',
    '', ' ', '1; DROP TABLE t', '1 -- x', '1 /* x */', '1 /* /* */', '1)', '(1', '1, 2', '1 AS x', '1 x',
    '* FROM t', '1 FROM t', '1 WHERE true', '1 LIMIT 1', '1 ORDER BY 1', '1 UNION SELECT 2', 'DISTINCT 1',
    '1 INTO x', '(SELECT 1)', 'EXISTS (SELECT 1)', 'ARRAY(SELECT 1)', '$1', '$$x$$', '$a$x$a$',
    'U&''\0061''', 'U&"\0061"', '"a', '''a', 'DEFAULT', 'CURRENT OF c', 'GROUPING(a)',
    E'1\u00a0', E'1 \u2028', E'1 +\n-- \n2', 'a := 1', 'TABLE t', '1::', '''a'' ''b''',
    'NOT', '?', '1 OPERATOR(pg_catalog.+) 2 --', 'repeat', repeat('x', 64));
SELECT left(pg_temp.gate('expression', 'E''\'''), 100);

-- what a setting of this session says does not matter
SET standard_conforming_strings = off;
SET escape_string_warning = off;
SELECT pg_temp.gate('expression', E'\'a\\\' || b', E'\'\\\'::text || set_config(\'a\', \'b\', true)');
SHOW standard_conforming_strings;
RESET standard_conforming_strings;

-- deep, long
SELECT left(fault, 70) FROM sluice.gate_check('expression', repeat('(', 20000) || '1' || repeat(')', 20000));
SELECT left(fault, 70) FROM sluice.gate_check('expression', repeat('1+', 100000) || '1');
SELECT left(fault, 70) FROM sluice.gate_check('expression', '''' || repeat('x', 1100000) || '''');

-- types
SELECT pg_temp.gate('type', 'integer', 'character varying(20)', 'timestamp(3) with time zone', 'app.mood',
    'app.mood[]', 'app."Wü"', 'bit varying(5)[]', 'public.citext', 'public.hstore', 'app.t', 'interval day to second(3)',
    'numeric(10,2)', '"char"', 'app.other', 'other', 'SETOF integer', 'app.mood; DROP TABLE t',
    'app.mood DEFAULT 1', 'numeric(now())', 'anyelement', 'record', 'void', 'trigger', 'pg_temp.x', 'app.t.a%TYPE');

-- bounds
SELECT pg_temp.gate('bound', 'DEFAULT', 'FOR VALUES IN (''a'', NULL)', 'FOR VALUES IN (true)',
    'FOR VALUES FROM (MINVALUE, 1) TO (MAXVALUE, ''2020-01-01'')', 'FOR VALUES WITH (modulus 4, remainder 1)',
    'FOR VALUES IN (''x''::app.mood)', 'FOR VALUES IN (now())', 'FOR VALUES IN (1 + 1)', 'FOR VALUES IN ((SELECT 1))',
    'FOR VALUES IN (1), ADD COLUMN x int', 'DEFAULT; DROP TABLE t', '', 'DEFAULT -- ');

-- statements
SELECT pg_temp.gate('index',
    'CREATE UNIQUE INDEX i ON app.t USING btree (lower(a) COLLATE app.de text_pattern_ops DESC NULLS LAST, b) INCLUDE (c) WITH (fillfactor=''70'') WHERE (a > 1)',
    'CREATE INDEX i ON ONLY app.t USING btree (a)', 'CREATE INDEX i ON app.t USING gist (h public.gist_hstore_ops (siglen=''32''))',
    'CREATE INDEX "i;x" ON "My App"."T""x" USING hash (((a)::app.mood))',
    'CREATE INDEX i ON app.v USING btree (a)', 'CREATE INDEX i ON t USING btree (a)', 'CREATE INDEX i ON app.t USING nosuch (a)',
    'CREATE INDEX i ON app.t USING btree (a public.no_ops)', 'CREATE INDEX i ON app.t USING btree (app.f(a))',
    'CREATE INDEX i ON app.t USING btree (a) TABLESPACE x', 'CREATE INDEX CONCURRENTLY i ON app.t USING btree (a)',
    'CREATE INDEX i ON app.t USING btree (a); DROP TABLE app.t', 'DROP TABLE app.t', 'CREATE TABLE app.t (a int)');
SELECT pg_temp.gate('statistics',
    'CREATE STATISTICS app.st (ndistinct, mcv) ON a, b, lower(c) FROM app.t',
    'CREATE STATISTICS other.st ON a, b FROM app.t', 'CREATE STATISTICS app.st ON a, app.f(b) FROM app.t',
    'CREATE STATISTICS app.st ON a, b FROM app.t, app.u', 'CREATE STATISTICS app.st ON a, b FROM other.t');
SELECT pg_temp.gate('alter table',
    'ALTER TABLE ONLY app.t ADD CONSTRAINT c CHECK ((a > 0)) NOT VALID',
    'ALTER TABLE app.t ADD CONSTRAINT c UNIQUE NULLS NOT DISTINCT (a) DEFERRABLE INITIALLY DEFERRED',
    'ALTER TABLE app.t ADD CONSTRAINT c EXCLUDE USING gist (a WITH =, h WITH OPERATOR(public.&&)) WHERE ((a > 1))',
    'ALTER TABLE app.t ADD CONSTRAINT c EXCLUDE USING gist (a WITH =, h WITH OPERATOR(public.@>)) WHERE ((a > 1))',
    'ALTER TABLE app.t ADD CONSTRAINT c EXCLUDE USING gist (a ext.gist_int4_ops WITH OPERATOR(pg_catalog.=))',
    'ALTER TABLE app.t ADD CONSTRAINT c FOREIGN KEY (a) REFERENCES app.u(id) ON DELETE CASCADE',
    'ALTER TABLE app.t ADD CONSTRAINT c FOREIGN KEY (a) REFERENCES app.v(id)',
    'ALTER TABLE app.t ADD CONSTRAINT c CHECK (app.f(a))', 'ALTER TABLE app.t ADD CONSTRAINT c CHECK ((a > 0)), OWNER TO x',
    'ALTER TABLE app.t OWNER TO x', 'ALTER TABLE app.t DISABLE TRIGGER ALL', 'ALTER INDEX app.t ATTACH PARTITION app.u',
    'ALTER TABLE IF EXISTS app.t ADD CONSTRAINT c CHECK (true)');
SELECT pg_temp.gate('policy',
    'CREATE POLICY p ON app.t FOR SELECT TO PUBLIC USING ((EXISTS ( SELECT 1 FROM app.u x WHERE ((x.id = t.id) AND (x.n = CURRENT_USER)))))',
    'CREATE POLICY p ON app.t TO regress_gate_owner USING (a IN ( SELECT max(u.id) FROM (app.u u JOIN app.t t2 ON ((t2.a = u.id))) GROUP BY u.n))',
    'CREATE POLICY p ON app.t TO nobody_here USING (true)', 'CREATE POLICY p ON app.t USING ((SELECT 1 FROM other.u))',
    'CREATE POLICY p ON app.t USING ((SELECT 1 FROM pg_shadow))', 'CREATE POLICY p ON app.t USING ((WITH d AS (DELETE FROM app.u RETURNING 1) SELECT 1 FROM d))',
    'CREATE POLICY p ON app.t USING (EXISTS (SELECT 1 FROM app.u FOR UPDATE))', 'CREATE POLICY p ON app.t USING (EXISTS (SELECT 1 FROM pg_ls_dir(''.'')))');
SELECT pg_temp.gate('table',
    'CREATE TABLE app.t (a app.mood DEFAULT ''x''::app.mood NOT NULL, b integer GENERATED ALWAYS AS ((c + 1)) STORED, c integer GENERATED BY DEFAULT AS IDENTITY) PARTITION BY RANGE (lower(a) COLLATE app.de)',
    'CREATE TABLE app.t (LIKE app.u)', 'CREATE TEMP TABLE t (a int)', 'CREATE TABLE app.t (a int DEFAULT app.f())', 'CREATE TABLE IF NOT EXISTS app.t (a int)',
    'CREATE TABLE app.t (a int GENERATED ALWAYS AS IDENTITY (SEQUENCE NAME other.s))',
    'CREATE TABLE app.u PARTITION OF app.t FOR VALUES IN (''a''::app.mood)', 'CREATE TABLE app.u (a int) INHERITS (other.t)');
SELECT pg_temp.gate('domain', 'CREATE DOMAIN app.d AS text COLLATE app.de CHECK ((VALUE ~ ''^x''::text))',
    'CREATE DOMAIN app.d AS app.mood', 'CREATE DOMAIN other.d AS text', 'CREATE DOMAIN app.d AS text CHECK (app.f(VALUE))');
SELECT pg_temp.gate('alter domain', 'ALTER DOMAIN app.d ADD CONSTRAINT c CHECK ((VALUE > 0)) NOT VALID', 'ALTER DOMAIN app.d OWNER TO x', 'ALTER DOMAIN app.d ADD CONSTRAINT c CHECK (app.f(VALUE))');
SELECT pg_temp.gate('composite', 'CREATE TYPE app.c AS (a app.mood, b text COLLATE app.de)', 'CREATE TYPE app.c AS (a other.x)');

-- somebody else's function beside an extension's, or added to it
GRANT CREATE ON SCHEMA public TO regress_gate_evil;
SET ROLE regress_gate_evil;
CREATE FUNCTION public.digest(integer, text) RETURNS bytea LANGUAGE sql IMMUTABLE AS 'SELECT NULL::bytea';
CREATE FUNCTION public.fake_citext(text) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT $1';
CREATE FUNCTION public.lower(text) RETURNS text LANGUAGE sql IMMUTABLE AS 'SELECT $1';
CREATE FUNCTION public.eq(integer, integer) RETURNS boolean LANGUAGE sql IMMUTABLE AS 'SELECT true';
CREATE OPERATOR public.= (LEFTARG = integer, RIGHTARG = integer, FUNCTION = public.eq);
CREATE DOMAIN public.email AS text;
RESET ROLE;
SELECT pg_temp.gate('expression', 'public.digest(v, ''sha1''::text)', 'public.lower(v)', 'lower(v)',
    '((v)::public.citext OPERATOR(public.=) v)', '''x''::public.email');
-- the same by a member that its owner added
ALTER EXTENSION pgcrypto ADD FUNCTION public.digest(integer, text);
ALTER EXTENSION citext ADD FUNCTION public.fake_citext(text);
ALTER EXTENSION citext ADD DOMAIN public.email;
SELECT pg_temp.gate('expression', 'public.digest(v, ''sha1''::text)', 'public.fake_citext(v)', '''x''::public.email');
ALTER EXTENSION pgcrypto DROP FUNCTION public.digest(integer, text);
ALTER EXTENSION citext DROP FUNCTION public.fake_citext(text);
ALTER EXTENSION citext DROP DOMAIN public.email;
-- a superuser is a member of every role, and trusts none of them for that
SELECT rolsuper FROM pg_roles WHERE rolname = current_user;
-- whom the owner is a member of, it trusts
ALTER EXTENSION citext ADD FUNCTION public.fake_citext(text);
GRANT regress_gate_evil TO regress_gate_owner;
GRANT EXECUTE ON FUNCTION sluice.gate_check TO regress_gate_owner;
SET ROLE regress_gate_owner;
SELECT result, fault FROM sluice.gate_check('expression', 'public.fake_citext(v)');
RESET ROLE;
ALTER EXTENSION citext DROP FUNCTION public.fake_citext(text);
-- a right that was taken from everybody
REVOKE EXECUTE ON FUNCTION public.hmac(text, text, text) FROM PUBLIC;
SELECT pg_temp.gate('expression', 'public.hmac(v, ''k'', ''sha1'')');

-- random texts made of what texts are made of: one answer each, never an error,
-- and what came through comes through again
CREATE TEMP TABLE words (n serial, w text);
INSERT INTO words (w) SELECT unnest(ARRAY['a', 'b', '1', '''x''', '''app.seq''', '::', 'app', '.', 'mood', 'regclass',
    '(', ')', ',', 'nextval', 'lower', '+', '=', 'OPERATOR(', 'pg_catalog', 'CASE WHEN', 'THEN', 'ELSE', 'END', '[', ']',
    'ARRAY[', 'NOT', 'AND', 'IS NULL', 'IN', 'COLLATE', '"C"', '--', '/*', '*/', ';', '$1', '$$', 'E''\', '''', '"',
    'SELECT', 'FROM', 'U&''', E'\u00e9', E'\\', 'CAST(', 'AS', 'text', 'ROW(', 'now()', E'\n', '::app.mood', 'XMLPARSE(', 'JSON_ARRAY(']);
CREATE TEMP TABLE tried (txt text, result text, fault text);
DO $$
DECLARE
    state bigint := 20261129;
    txt text;
    r record;
    again record;
    list CONSTANT text[] := '{r app.t,S app.seq,t app.mood}';
BEGIN
    FOR i IN 1 .. 6000 LOOP
        txt := '';
        FOR k IN 1 .. 1 + i % 12 LOOP
            state := (state * 48271) % 2147483647;
            txt := txt || (SELECT w FROM words WHERE n = 1 + state % (SELECT count(*) FROM words))
                || CASE WHEN state % 3 = 0 THEN '' ELSE ' ' END;
        END LOOP;
        SELECT * INTO STRICT r FROM sluice.gate_check('expression', txt, list);
        IF (r.result IS NULL) = (r.fault IS NULL) THEN
            RAISE EXCEPTION 'two answers or none: %', txt;
        END IF;
        IF r.result IS NOT NULL THEN
            SELECT * INTO STRICT again FROM sluice.gate_check('expression', '(' || r.result || ')', list);
            IF again.result IS DISTINCT FROM '(' || r.result || ')' THEN
                RAISE EXCEPTION 'not the same again: % : %', r.result, again.fault;
            END IF;
        END IF;
        INSERT INTO tried VALUES (txt, r.result, r.fault);
        PERFORM * FROM unnest(ARRAY['type', 'bound', 'index', 'policy']) AS kind,
            LATERAL sluice.gate_check(kind, txt, list);
    END LOOP;
END $$;
SELECT count(*) = 6000, count(result) > 100, count(fault) > 100 FROM tried;
SELECT result FROM tried WHERE result ~ ';|--|/\*|\$\$|SELECT';

SELECT sluice.gate_check('nothing', '1');
SELECT sluice.gate_check('type', 'int', '{"x app.t"}');

DROP EXTENSION citext CASCADE;
DROP OWNED BY regress_gate_evil, regress_gate_owner CASCADE;
DROP ROLE regress_gate_evil, regress_gate_owner;
