-- Rows are written with the rights of the table's owner, and no more.
\set ECHO none
\getenv dir PG_ABS_SRCDIR
\set lib :dir '/lib/feed.sql'
\i :lib
\set ECHO all
\pset format unaligned
\pset tuples_only on
CREATE ROLE regress_streamer;
CREATE ROLE regress_mallory;
CREATE ROLE regress_alice;
GRANT regress_mallory, regress_alice TO regress_streamer;
GRANT USAGE, CREATE ON SCHEMA public TO regress_streamer, regress_mallory, regress_alice;
GRANT CREATE ON DATABASE :DBNAME TO regress_streamer;
SELECT stream_id FROM sluice.sync_start('s', options => '{"feed": true}');
UPDATE sluice.stream SET owner = 'regress_streamer';

-- who runs defaults, checks, generated columns and index expressions
SET ROLE regress_mallory;
CREATE TABLE log (what text, who name, session name, path text);
GRANT INSERT ON log TO PUBLIC;
CREATE FUNCTION spy(what text, v int) RETURNS int LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    INSERT INTO public.log VALUES (what, current_user, session_user, current_setting('search_path'));
    RETURN v;
END $$;
CREATE FUNCTION spy_i(what text, v int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    PERFORM public.spy(what, v);
    RETURN v;
END $$;
CREATE TABLE m (id int PRIMARY KEY, v int CHECK (public.spy('check', v) > 0),
    d int DEFAULT public.spy('default', 7), g int GENERATED ALWAYS AS (public.spy_i('generated', v)) STORED);
CREATE INDEX ON m (public.spy_i('index', v));
TRUNCATE log;
RESET ROLE;
SELECT jsonb_set(t.shape('m'), '{cols}', (SELECT jsonb_agg(c) FROM jsonb_array_elements(t.shape('m') -> 'cols') c WHERE c ->> 'name' IN ('id', 'v'))) AS m \gset
SELECT t.try(t.batch(:'m', t.i('{1,1}'), t.u('{1,2}'), t.d('{1,NULL}'), t.i('{2,2}')));
SELECT DISTINCT what, who, path FROM log ORDER BY 1, 2, 3;
TABLE m;

-- an evil trigger: named and refused; accepted, it fails with the owner's rights
SET ROLE regress_mallory;
CREATE TABLE sl1 (id int PRIMARY KEY);
CREATE FUNCTION evil() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN EXECUTE 'ALTER ROLE regress_mallory SUPERUSER'; RETURN NEW; END $$;
CREATE TRIGGER z BEFORE INSERT ON sl1 FOR EACH ROW EXECUTE FUNCTION evil();
RESET ROLE;
SELECT t.try(t.batch(t.shape('sl1', 2), t.i('{93}', 2)));
ALTER TABLE sl1 ENABLE ALWAYS TRIGGER z;
SELECT t.try(t.batch(t.shape('sl1', 2), t.i('{94}', 2)));
SELECT stream_id FROM sluice.sync_stop('s') AS stream_id;
UPDATE sluice.stream SET options = options || '{"accept_triggers": ["public.sl1.z"]}';
SELECT stream_id FROM sluice.sync_start('s');
SELECT t.try(t.batch(t.shape('sl1', 2), t.i('{94}', 2)));
SELECT rolsuper FROM pg_roles WHERE rolname = 'regress_mallory';
TABLE sl1;
-- accepted triggers fire: rows before and after, with what they see
SET ROLE regress_mallory;
CREATE OR REPLACE FUNCTION evil() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO public.log SELECT tg_when || ' ' || tg_op || ' ' || count(*), current_user, '', '' FROM public.sl1;
    IF tg_op = 'DELETE' THEN RETURN OLD; END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER y AFTER INSERT OR UPDATE OR DELETE ON sl1 FOR EACH ROW EXECUTE FUNCTION evil();
ALTER TABLE sl1 ENABLE REPLICA TRIGGER y;
TRUNCATE log;
RESET ROLE;
SELECT t.try(t.batch(t.shape('sl1', 2), t.i('{95}', 2)));
SELECT sluice.sync_stop('s');
UPDATE sluice.stream SET options = options || '{"accept_triggers": ["public.sl1.z", "public.sl1.y"]}';
SELECT stream_id FROM sluice.sync_start('s');
SELECT t.try(t.batch(t.shape('sl1', 2), t.i('{95}', 2), t.i('{96}', 2), t.u('{97}', '{96}', rel => 2), t.d('{95}', rel => 2)));
SELECT what, who FROM log;
TABLE sl1;
-- a deferrable one would run at commit: never
SET ROLE regress_mallory;
CREATE CONSTRAINT TRIGGER x AFTER INSERT ON sl1 DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION evil();
ALTER TABLE sl1 ENABLE ALWAYS TRIGGER x;
RESET ROLE;
SELECT sluice.sync_stop('s');
UPDATE sluice.stream SET options = options || '{"accept_triggers": ["public.sl1.z", "public.sl1.y", "public.sl1.x"]}';
SELECT stream_id FROM sluice.sync_start('s');
SELECT t.try(t.batch(t.shape('sl1', 2), t.i('{98}', 2)));

-- a trigger that is enabled, and a right that goes, while the stream runs
SET ROLE regress_alice;
CREATE TABLE al (id int PRIMARY KEY);
CREATE FUNCTION nop() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE TRIGGER late BEFORE INSERT ON al FOR EACH ROW EXECUTE FUNCTION nop();
CREATE TRIGGER stmt AFTER TRUNCATE ON al EXECUTE FUNCTION nop();
RESET ROLE;
SELECT token AS tok FROM sluice.feed_open('s', 3) \gset
SELECT sluice.feed(:'tok', t.batch(t.shape('al', 3), t.i('{1}', 3)));
ALTER TABLE al ENABLE ALWAYS TRIGGER late;
SELECT sluice.feed(:'tok', t.batch(t.i('{2}', 3)));
SELECT sluice.feed_close(:'tok');
ALTER TABLE al DISABLE TRIGGER late;
ALTER TABLE al ENABLE ALWAYS TRIGGER stmt;
SELECT stream_id FROM sluice.sync_start('s');
SELECT t.try(t.batch(t.shape('al', 3), t.i('{2}', 3)));
ALTER TABLE al DISABLE TRIGGER stmt;
SELECT token AS tok FROM sluice.feed_open('s', 3) \gset
SELECT sluice.feed(:'tok', t.batch(t.shape('al', 3), t.i('{3}', 3)));
REVOKE INSERT ON al FROM regress_alice;
SELECT sluice.feed(:'tok', t.batch(t.i('{4}', 3)));
SELECT sluice.feed_close(:'tok');
GRANT INSERT ON al TO regress_alice;
SELECT stream_id FROM sluice.sync_start('s');
SELECT t.try(t.batch(t.shape('al', 3), t.i('{4}', 3)));
REVOKE USAGE ON SCHEMA public FROM regress_alice, PUBLIC;
SELECT t.try(t.batch(t.shape('al', 3), t.i('{5}', 3)));
GRANT USAGE ON SCHEMA public TO PUBLIC;
SELECT token AS tok FROM sluice.feed_open('s', 3) \gset
SELECT sluice.feed(:'tok', t.batch(t.shape('al', 3), t.i('{6}', 3)));
REVOKE regress_alice FROM regress_streamer;
SELECT sluice.feed(:'tok', t.batch(t.i('{7}', 3)));
SELECT sluice.feed_close(:'tok');
GRANT regress_alice TO regress_streamer;
SELECT stream_id FROM sluice.sync_start('s');
SELECT * FROM al ORDER BY id;

-- row-level security that would apply
ALTER TABLE al ENABLE ROW LEVEL SECURITY;
CREATE POLICY p ON al USING (false);
SELECT t.try(t.batch(t.shape('al', 3), t.i('{8}', 3)));
ALTER TABLE al FORCE ROW LEVEL SECURITY;
SELECT t.try(t.batch(t.shape('al', 3), t.i('{9}', 3)));

-- settings of one owner's code do not reach another owner's
SET ROLE regress_mallory;
CREATE TABLE setter (id int PRIMARY KEY CHECK (set_config('search_path', 'evil', false) IS NOT NULL));
RESET ROLE;
SET ROLE regress_alice;
CREATE TABLE getter (id int PRIMARY KEY, p text DEFAULT current_setting('search_path'), who name DEFAULT current_user);
RESET ROLE;
SELECT jsonb_set(t.shape('getter', 5), '{cols}', (SELECT jsonb_agg(c) FROM jsonb_array_elements(t.shape('getter', 5) -> 'cols') c WHERE c ->> 'name' = 'id')) AS getter \gset
SELECT t.try(t.batch(t.shape('setter', 4), :'getter', t.i('{1}', 4), t.i('{1}', 5), t.i('{2}', 4), t.i('{2}', 5)));
TABLE getter;
SHOW search_path;
SELECT current_user = session_user;
-- nor can it become somebody else
SET ROLE regress_mallory;
CREATE FUNCTION climb() RETURNS bool LANGUAGE plpgsql AS 'BEGIN RESET ROLE; RETURN true; END';
CREATE TABLE climber (id int PRIMARY KEY CHECK (public.climb()));
RESET ROLE;
SELECT t.try(t.batch(t.shape('climber', 6), t.i('{1}', 6)));

-- nor reach into the feed that runs it
SET ROLE regress_mallory;
CREATE FUNCTION again() RETURNS bool LANGUAGE plpgsql AS 'BEGIN PERFORM sluice.feed_close(repeat(''0'', 32)); RETURN true; END';
CREATE TABLE nested (id int PRIMARY KEY CHECK (public.again()));
RESET ROLE;
GRANT EXECUTE ON FUNCTION sluice.feed_close(text, text) TO regress_mallory;
SELECT t.try(t.batch(t.shape('nested', 7), t.i('{1}', 7)));
-- truncation triggers run as the one owner of what is truncated, or not at all
SET ROLE regress_mallory;
CREATE TABLE tt1 (id int PRIMARY KEY);
CREATE FUNCTION noted() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN INSERT INTO public.log VALUES (tg_op, current_user, '''', ''''); RETURN NULL; END';
CREATE TRIGGER tt BEFORE TRUNCATE ON tt1 EXECUTE FUNCTION noted();
ALTER TABLE tt1 ENABLE ALWAYS TRIGGER tt;
TRUNCATE log;
SET ROLE regress_alice;
CREATE TABLE tt2 (id int PRIMARY KEY);
RESET ROLE;
SELECT sluice.sync_stop('s');
UPDATE sluice.stream SET options = options || '{"accept_triggers": ["public.tt1.tt"]}';
SELECT stream_id FROM sluice.sync_start('s');
SELECT t.try(t.batch(t.shape('tt1', 8), t.shape('tt2', 9), t.i('{1}', 8), '{"kind": "truncate", "rels": [8]}'));
SELECT what, who FROM log;
SELECT t.try(t.batch(t.shape('tt1', 8), t.shape('tt2', 9), t.i('{2}', 8), '{"kind": "truncate", "rels": [8, 9]}'));

SELECT sluice.sync_stop('s');
SELECT sluice.sync_drop('s');
DROP OWNED BY regress_mallory, regress_alice, regress_streamer;
DROP ROLE regress_mallory, regress_alice, regress_streamer;
