-- What a MySQL source sends: shapes without numbers, rows in binary and text,
-- positions as text, statements, and what a bridge reports.
\set ECHO none
\getenv dir PG_ABS_SRCDIR
\set lib :dir '/lib/feed.sql'
\i :lib
\set ECHO all
\set VERBOSITY default
CREATE SERVER my FOREIGN DATA WRAPPER sluice OPTIONS (driver 'mysql', host 'db1', dbname 'shop');
CREATE USER MAPPING FOR CURRENT_USER SERVER my OPTIONS (user 'u', password 'p');
CREATE SCHEMA land;
CREATE TABLE land.t (id int PRIMARY KEY, n numeric(20), v varchar(20), e text, d timestamp(3));
SELECT state FROM sluice.sync_start('s', 'my', target_schema => 'land');
-- Transaction n of file 1: begins at 100 n, ends at 100 n + 50.
CREATE FUNCTION t.at(n int) RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT ('1/0'::pg_lsn + 100 * n)::text $$;
CREATE FUNCTION t.tx(n int, VARIADIC records jsonb[]) RETURNS jsonb[] LANGUAGE sql AS $$
    SELECT jsonb_build_object('kind', 'begin', 'lsn', t.at(n)) || records ||
        jsonb_build_object('kind', 'commit', 'lsn', t.at(n), 'end', ('1/0'::pg_lsn + 100 * n + 50)::text,
            'position', jsonb_build_object('file', 'bin.000001', 'pos', 100 * n + 50, 'gtid', 'u1:1-' || n)::text)
$$;
CREATE FUNCTION t.cols(VARIADIC cols jsonb[]) RETURNS jsonb LANGUAGE sql AS $$
    SELECT jsonb_build_object('kind', 'shape', 'schema', 'shop', 'name', 't', 'relid', 0, 'relkind', 'r',
        'cols', to_jsonb(cols))
$$;
CREATE FUNCTION t.col(name text, typ text, src text, more jsonb = '{}') RETURNS jsonb LANGUAGE sql AS $$
    SELECT jsonb_build_object('name', name, 'attnum', 0, 'type', typ, 'source_type', src) || more
$$;
CREATE FUNCTION t.t(e_src text = 'enum(''a'',''b'')', id_src text = 'int') RETURNS jsonb LANGUAGE sql AS $$
    SELECT t.cols(t.col('id', 'int', id_src, '{"key": true, "primary": true, "not_null": true}'),
        t.col('n', 'numeric(20)', 'bigint unsigned'), t.col('v', 'varchar(20)', 'varchar(20)'),
        t.col('e', 'text', e_src, '{"typid": 0}'), t.col('d', 'timestamp(3)', 'datetime(3)'))
$$;
CREATE FUNCTION t.feed(tok text, batch bytea) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    detail text;
    hint text;
BEGIN
    RETURN sluice.feed(tok, batch);
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
    RETURN t.error_text(sqlstate, sqlerrm, detail, hint);
END $$;
-- A batch that refuses, recorded; and a start after it.
CREATE FUNCTION t.refuse(batch bytea, start boolean = true) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    tok text;
    msg text;
BEGIN
    SELECT token INTO tok FROM sluice.feed_open('s', 3);
    msg := t.feed(tok, batch);
    PERFORM sluice.feed_close(tok);
    IF start THEN
        PERFORM sluice.sync_start('s');
    END IF;
    RETURN msg;
END $$;

-- a first shape is taken as it is; several transactions in one batch, cells of both kinds
SELECT token AS tok FROM sluice.feed_open('s', 3) \gset
SELECT sluice.feed(:'tok', t.my(VARIADIC ARRAY[t.t()] || t.tx(1, t.i('{1,18446744073709551615,one,a,2026-01-02 03:04:05.678}'),
    t.i('{2,2,two,b,NULL}')) || t.tx(2,
    '{"kind": "insert", "new": [{"binary": "\\x00000003"}, {"binary": "\\x0001000000000000002a"}, {"binary": "\\x7468726565"}, "b", {"binary": "\\x0002ea7e73ac1800"}]}',
    t.u('{2,22,zwei,a,NULL}', '{2,2,two,b,NULL}', 'full'), t.d('{1,18446744073709551615,one,a,2026-01-02 03:04:05.678}', 'full'))));
SELECT * FROM land.t ORDER BY id;
SELECT stream_id, schema_name, table_name, target_relid, state, source_id FROM sluice.tables;
SELECT "position" FROM sluice.health;
SELECT sluice.feed_close(:'tok');

-- resumed there, with the recorded shape; what is applied already is passed over
SELECT token AS tok, "position", jsonb_path_query_array(tables, '$[*].shape.cols[*].source_type') AS types
FROM sluice.feed_open('s', 3) \gset
\echo :position :types
SELECT sluice.feed(:'tok', t.my(VARIADIC ARRAY[t.t()] || t.tx(2, t.i('{9,9,nine,a,NULL}')) || t.tx(3, t.i('{4,4,four,a,NULL}'))));
-- conflicts are counted as for any source
SELECT sluice.feed(:'tok', t.my(VARIADIC ARRAY[t.t()] || t.tx(4, t.i('{4,4,four,b,NULL}'), t.d('{8,NULL,NULL,NULL,NULL}'),
    t.u('{7,7,seven,a,NULL}'))));
SELECT kind, count, last_key, last_position FROM sluice.conflicts ORDER BY kind;
SELECT id, e FROM land.t ORDER BY id;

-- a token of nobody, a protocol of nobody
SELECT sluice.feed('0123456789abcdef0123456789abcdef', t.my(VARIADIC '{}'));
SELECT sluice.feed_close(:'tok');
SELECT token FROM sluice.feed_open('s', 1);
SELECT token FROM sluice.feed_open('s', 5);

-- another type there that is the same here: more labels pass, others refuse once
SELECT t.refuse(t.my(VARIADIC ARRAY[t.t('enum(''a'',''b'',''c'')')] || t.tx(5, t.i('{5,5,five,c,NULL}'))));
SELECT t.refuse(t.my(VARIADIC ARRAY[t.t('enum(''a'',''b'',''c'')', 'mediumint')] || t.tx(6, t.i('{6,6,six,c,NULL}'))));
SELECT t.refuse(t.my(VARIADIC ARRAY[t.t('enum(''a'',''b'',''c'')', 'mediumint')] || t.tx(6, t.i('{6,6,six,c,NULL}'))));
SELECT t.refuse(t.my(VARIADIC ARRAY[t.t('enum(''b'',''a'')', 'mediumint')] || t.tx(7, VARIADIC '{}')));
-- … and the same change once more refuses again
SELECT t.refuse(t.my(VARIADIC ARRAY[t.t('enum(''a'',''b'',''c'')')] || t.tx(8, t.i('{8,8,eight,c,NULL}'))));
SELECT t.refuse(t.my(VARIADIC ARRAY[t.t('enum(''a'',''b'',''c'')', 'mediumint')] || t.tx(9, t.i('{9,9,nine,c,NULL}'))));
SELECT t.refuse(t.my(VARIADIC ARRAY[t.t('enum(''a'',''b'',''c'')', 'mediumint')] || t.tx(9, t.i('{9,9,nine,c,NULL}'))));
SELECT decision, table_name, marker FROM sluice.schema_events ORDER BY recorded_at;
SELECT id FROM land.t ORDER BY id;

-- statements: what names a table of the stream refuses once; the shape behind it is judged
CREATE FUNCTION t.ddl(n int, statement text, db text = 'shop', VARIADIC more jsonb[] = '{}') RETURNS bytea LANGUAGE sql AS $$
    SELECT t.my(VARIADIC t.tx(n, VARIADIC jsonb_build_object('kind', 'ddl', 'prefix', db, 'data', statement) || more))
$$;
SELECT t.refuse(t.ddl(10, 'CREATE TABLE other (t_id int) /* t */ -- t'));
SELECT t.refuse(t.ddl(11, 'ALTER TABLE t ADD x int', 'elsewhere'));
SELECT t.refuse(t.ddl(12, 'ALTER TABLE `elsewhere`.`t` ADD x int'));
SELECT t.refuse(t.ddl(13, 'ANALYZE TABLE t'));
SELECT t.refuse(t.ddl(14, 'CREATE INDEX i ON t (v)'));
SELECT t.refuse(t.ddl(15, 'ALTER TABLE other COMMENT ''t'''));
CREATE FUNCTION t.touched(VARIADIC statements text[]) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    tok text;
    s text;
    msg text;
BEGIN
    FOREACH s IN ARRAY statements LOOP
        SELECT token INTO tok FROM sluice.feed_open('s', 3);
        BEGIN
            PERFORM sluice.feed(tok, t.ddl(16, s));
            RAISE EXCEPTION 'passes';
        EXCEPTION WHEN OTHERS THEN
            msg := sqlerrm;
        END;
        PERFORM sluice.feed_close(tok);
        PERFORM sluice.sync_start('s');
        -- so that the next one is not taken as it is
        DELETE FROM sluice.refusal WHERE refusal_text LIKE '%a statement on%';
        RETURN NEXT rpad(split_part(msg, ':', 1), 26) || s;
    END LOOP;
END $$;
SET client_min_messages = warning;
SELECT * FROM t.touched('ALTER TABLE t ADD x int', 'alter table other add constraint foreign key (a) references t (id)',
    'ALTER TABLE t RENAME COLUMN a TO b', 'ALTER TABLE t RENAME TO t2', 'alter table `t` add x int, rename as t2',
    'RENAME TABLE t TO t_old, t_new TO t', 'RENAME TABLE a TO b', 'DROP TABLE IF EXISTS a, t', 'DROP TABLE a',
    'DROP TEMPORARY TABLE t', 'CREATE TABLE t (id int)', 'CREATE TABLE IF NOT EXISTS t (id int)', 'CREATE TABLE u LIKE t',
    'CREATE OR REPLACE TABLE shop.t AS SELECT 1', 'CREATE TEMPORARY TABLE t (id int)', 'CREATE UNIQUE INDEX i ON t (v)',
    'DROP INDEX i ON t', 'TRUNCATE t', 'set foreign_key_checks=0; ALTER TABLE t ADD x int',
    'CREATE DEFINER=`root`@`%` PROCEDURE p() BEGIN UPDATE t SET v = 1; DELETE FROM t; END',
    'CREATE OR REPLACE ALGORITHM=UNDEFINED DEFINER=`root`@`localhost` SQL SECURITY DEFINER VIEW `vv` AS SELECT * FROM t',
    'CREATE TRIGGER r BEFORE INSERT ON t FOR EACH ROW SET NEW.v = 1', 'DROP DATABASE shop', 'DROP DATABASE other',
    '/*!50100 ALTER TABLE t */ /*M!100200 ADD x int */', '/* t */ ALTER TABLE u -- t', 'ALTER TABLE u COMMENT ''it''''s t''',
    'ALTER TABLE u COMMENT ''\'' t''', 'ALTER TABLE "t" ADD x int', 'ALTER TABLE `t', '');
RESET client_min_messages;
SELECT t.refuse(t.ddl(16, 'ALTER TABLE ' || chr(10) || ' shop . `T` ADD x int'), false);
SELECT schema_name, table_name, marker, "position" FROM sluice.refusals WHERE refusal_text LIKE '%statement%';
SELECT step, run_on, statement, note FROM sluice.remedies('s');
SELECT state FROM sluice.sync_start('s');
\set more t.cols(t.col('''id''', '''int''', '''mediumint''', '''{"key": true, "primary": true, "not_null": true}'''), t.col('''n''', '''numeric(20)''', '''bigint unsigned'''), t.col('''v''', '''varchar(20)''', '''varchar(20)'''), t.col('''e''', '''text''', '''enum(''''a'''',''''b'''',''''c'''')''', '''{"typid": 0}'''), t.col('''d''', '''timestamp(3)''', '''datetime(3)'''), t.col('''x''', '''int''', '''int'''))
-- accepted by the start; but the target has not the column
SELECT t.refuse(t.my(VARIADIC t.tx(16, '{"kind": "ddl", "prefix": "shop", "data": "ALTER TABLE \n shop . `T` ADD x int"}')
    || :more || t.tx(17, t.i('{17,17,x,a,NULL,17}'))));
ALTER TABLE land.t ADD x int;
SELECT t.refuse(t.my(VARIADIC t.tx(16, '{"kind": "ddl", "prefix": "shop", "data": "ALTER TABLE \n shop . `T` ADD x int"}')
    || :more || t.tx(17, t.i('{17,17,x,a,NULL,17}'))));
SELECT * FROM land.t WHERE id = 17;
SELECT t.refuse(t.my('{"kind": "ddl", "prefix": "shop", "data": "ALTER TABLE t ADD x int"}'));
-- a second one of the same text is another one
SELECT t.refuse(t.my(VARIADIC t.tx(18, '{"kind": "ddl", "prefix": "shop", "data": "ALTER TABLE \n shop . `T` ADD x int"}')));

-- what a bridge finds it reports; the extension refuses by it
SELECT t.refuse(t.my('{"kind": "fault", "marker": "PREFLIGHT-FAILED", "message": "2 checks of the source failed",
    "detail": "[binlog_row_image] MINIMAL, not FULL\n[binlog_row_metadata] MINIMAL, not FULL",
    "remedies": ["SET PERSIST binlog_row_image = ''FULL''", "SET PERSIST binlog_row_metadata = ''FULL'';"]}'), false);
SELECT state, marker, reason, hint FROM sluice.health;
SELECT marker, refusal_text, detail FROM sluice.refusals WHERE marker = 'PREFLIGHT-FAILED';
SELECT step, run_on, statement, destructive FROM sluice.remedies('s');
CALL sluice.sync_wait('s', 'streaming', '1 s');
SELECT state FROM sluice.sync_start('s');
SELECT t.refuse(t.my('{"kind": "fault", "marker": "VALUE-UNREPRESENTABLE", "schema": "shop", "table": "t", "column": "d",
    "position": "bin.000001:1850", "message": "column \"d\" has a zero date", "hint": "Start with option zero_dates."}'), false);
SELECT schema_name, table_name, column_name, detail FROM sluice.refusals WHERE marker = 'VALUE-UNREPRESENTABLE';
SELECT state FROM sluice.sync_start('s', options => '{"zero_dates": "null"}');
SELECT t.refuse(t.my('{"kind": "fault", "marker": "SOURCE-LOG-PURGED", "message": "log file \"bin.000001\" is gone\u001b[2J"}'), false);
SELECT step, run_on, statement, note FROM sluice.remedies('s');
SELECT state FROM sluice.sync_start('s');
-- … if it may; a batch with one leaves nothing of itself behind
SELECT t.refuse(t.my('{"kind": "fault", "marker": "TARGET-MOVED", "message": "m"}'));
SELECT t.refuse(t.my('{"kind": "fault", "marker": "NO-SUCH", "message": "m"}'));
SELECT t.refuse(t.my(VARIADIC t.tx(30, t.t(), t.i('{30,30,x,a,NULL}'), '{"kind": "fault", "marker": "SOURCE-LOG-PURGED", "message": "m"}')));
SELECT count(*) FROM land.t WHERE id = 30;
SELECT sluice.feed_decode(sluice.feed_encode('[{"kind": "header"}, {"kind": "fault", "marker": "M", "message": "m", "remedies": ["a", "b"]}]')) -> 1 AS fault;
SELECT sluice.feed_encode('[{"kind": "header"}, {"kind": "fault", "marker": "M", "message": "m", "remedies": [1]}]');
SELECT sluice.sync_stop('s');
SELECT sluice.sync_drop('s');
