-- Changed types of a MySQL source: what a MODIFY does to the values that are there, under both engines' types.
\set ECHO none
\getenv dir PG_ABS_SRCDIR
\set lib :dir '/lib/feed.sql'
\i :lib
\set lib :dir '/lib/mysql.sql'
\i :lib
\set ECHO all
\set VERBOSITY default
SET client_min_messages = error;
SELECT state FROM sluice.sync_start('s', 'my', target_schema => 'land');
CREATE SEQUENCE t.relid START 100;
-- A column v of one type, then of another, in a table of its own; what comes of it.
CREATE FUNCTION t.retype(here text, src text, then_here text, then_src text, keyed boolean = true) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    rel int := nextval('t.relid');
    tab text := 't' || rel;
    id jsonb := CASE WHEN keyed THEN t.id() ELSE t.c('id', 1, 'int', 'int') END;
    out text;
BEGIN
    EXECUTE format('CREATE TABLE land.%I (id int %s, v %s)', tab, CASE WHEN keyed THEN 'PRIMARY KEY' ELSE '' END, here);
    out := t.begin(tab, rel, t.cols(id, t.c('v', 2, here, src)));
    IF out <> 'applied' THEN
        RETURN 'at first: ' || out;
    END IF;
    out := t.ddl(tab, rel, t.cols(id, t.c('v', 2, then_here, then_src)), 'ALTER TABLE t MODIFY v');
    out := replace(replace(out, 'land.' || tab, 'land.t'), 'shop.' || tab, 'shop.t');
    RETURN regexp_replace(regexp_replace(out, '0/[0-9A-F]+', 'X', 'g'), 'applied: forwarded ALTER TABLE land.t ALTER COLUMN v ', '');
END $$;
CREATE FUNCTION t.pairs(VARIADIC pairs text[]) RETURNS TABLE (was text, becomes text, outcome text) LANGUAGE plpgsql AS $$
DECLARE
    pair text;
    p text[];
BEGIN
    FOREACH pair IN ARRAY pairs LOOP
        p := string_to_array(pair, '|');
        was := p[2];
        becomes := p[4];
        outcome := t.retype(p[1], p[2], p[3], p[4]);
        outcome := CASE WHEN outcome LIKE 'TYPE%owed%' THEN 'altered, copied'
            WHEN outcome LIKE 'TYPE%' THEN 'altered' WHEN outcome LIKE 'applied%owed%' THEN 'copied'
            WHEN outcome LIKE 'applied%' THEN 'passes' ELSE 'refused: ' || (regexp_match(outcome, '\| \[[^]]*\] land.t.v: ([^+\n]*)'))[1] END;
        RETURN NEXT;
    END LOOP;
END $$;
-- integers: wider ones hold all, signs decide
SELECT * FROM t.pairs(
    'smallint|tinyint|smallint|smallint', 'smallint|smallint|int|int', 'int|int|bigint|bigint', 'int|mediumint|int|int',
    'int|int|int|mediumint', 'int|int(11)|int|int', 'smallint|tinyint unsigned|smallint|smallint', 'smallint|tinyint unsigned|smallint|tinyint',
    'int|smallint unsigned|bigint|int unsigned', 'bigint|int unsigned|bigint|bigint', 'bigint|int unsigned|numeric(20)|bigint unsigned',
    'bigint|bigint|numeric(20)|bigint unsigned', 'numeric(20)|bigint unsigned|bigint|bigint', 'numeric(20)|bigint unsigned|bigint|bigint unsigned', 'bigint|bigint|int|int',
    'int|int|numeric(12,2)|decimal(12,2)', 'int|int|numeric(9,0)|decimal(9,0)', 'boolean|tinyint(1)|smallint|tinyint(4)',
    'int|int|varchar(20)|varchar(20)', 'varchar(20)|varchar(20)|int|int', 'int|int(10) unsigned zerofill|int|int(8) unsigned zerofill');
-- decimals, floats, bits
SELECT * FROM t.pairs(
    'numeric(10,2)|decimal(10,2)|numeric(12,2)|decimal(12,2)', 'numeric(10,2)|decimal(10,2)|numeric(12,4)|decimal(12,4)',
    'numeric(10,2)|decimal(10,2)|numeric(10,4)|decimal(10,4)', 'numeric(10,2)|decimal(10,2)|numeric(10,1)|decimal(10,1)',
    'numeric(10,2)|decimal(10,2) unsigned|numeric(10,2)|decimal(10,2)', 'numeric(10,2)|decimal(10,2)|numeric(10,2)|decimal(10,2) unsigned',
    'real|float|double precision|double', 'double precision|double|real|float', 'real|float|real|float(7,4)', 'double precision|double(10,2)|double precision|double',
    'bit(8)|bit(8)|bit(16)|bit(16)');
-- strings and bytes
SELECT * FROM t.pairs(
    'varchar(10)|varchar(10)|varchar(20)|varchar(20)', 'varchar(20)|varchar(20)|varchar(10)|varchar(10)', 'varchar(10)|varchar(10)|text|tinytext',
    'varchar(100)|varchar(100)|text|tinytext', 'varchar(100)|varchar(100)|text|text', 'varchar(20000)|varchar(20000)|text|text', 'varchar(20000)|varchar(20000)|text|mediumtext',
    'text|text|text|mediumtext', 'text|mediumtext|text|text', 'text|longtext|varchar(50)|varchar(50)', 'char(5)|char(5)|char(9)|char(9)', 'char(5)|char(5)|char(3)|char(3)',
    'char(5)|char(5)|varchar(5)|varchar(5)', 'bytea|varbinary(10)|bytea|varbinary(20)', 'bytea|varbinary(20)|bytea|varbinary(10)', 'bytea|binary(10)|bytea|binary(20)',
    'bytea|binary(10)|bytea|varbinary(10)', 'bytea|varbinary(10)|bytea|blob', 'bytea|blob|bytea|tinyblob', 'bytea|blob|text|text', 'text|text|jsonb|json',
    'varchar(9)|varchar(9) charset latin1|varchar(9)|varchar(9) charset utf8mb4', 'varchar(9)|varchar(9) charset utf8mb4|varchar(9)|varchar(9) charset latin1',
    'text|text charset utf8mb4|text|mediumtext charset ascii', 'text|text charset latin1|text|text charset utf8mb3', 'text|text charset utf8mb4|text|text charset utf8mb3',
    'text|text charset utf8|text|text charset utf8mb3', 'text|text charset gb18030|text|text charset ucs2', 'text|text|text|text charset latin1');
-- moments: digits are added, a session's zone refuses either way
SELECT * FROM t.pairs(
    'timestamp(0)|datetime|timestamp(6)|datetime(6)', 'timestamp(6)|datetime(6)|timestamp(3)|datetime(3)', 'interval(0)|time|interval(3)|time(3)', 'interval(3)|time(3)|interval(0)|time',
    'timestamptz(0)|timestamp|timestamptz(3)|timestamp(3)', 'timestamptz(3)|timestamp(3)|timestamptz(0)|timestamp', 'timestamptz(0)|timestamp|timestamp(0)|datetime',
    'timestamp(0)|datetime|timestamptz(0)|timestamp', 'timestamp(0)|timestamp|timestamp(0)|datetime', 'timestamptz(0)|timestamp|varchar(30)|varchar(30)', 'bigint|bigint|timestamptz(0)|timestamp',
    'timestamptz(0)|timestamp|date|date', 'date|date|timestamp(0)|datetime', 'timestamp(0)|datetime|date|date', 'smallint|year|int|int', 'timestamp(0)|datetime|varchar(30)|varchar(30)');

-- the statements, where values must be copied and where not; a key is not converted but where nothing can change; no key, no copy
SELECT t.retype('varchar(20)', 'varchar(20)', 'varchar(10)', 'varchar(10)');
SELECT t.retype('varchar(20)', 'varchar(20)', 'int', 'int');
SELECT t.retype('varchar(20)', 'varchar(20)', 'varchar(10)', 'varchar(10)', false);
SELECT t.retype('text', 'mediumtext', 'text', 'text', false);
SELECT t.retype('varchar(10)', 'varchar(10)', 'varchar(20)', 'varchar(20)', false);
SELECT t.retype('timestamptz(0)', 'timestamp', 'timestamp(0)', 'datetime');
-- … but an added column whose values the statement tells needs none
CREATE TABLE land.n (id int);
SELECT t.begin('n', 4, t.cols(t.c('id', 1, 'int', 'int')), t.i('{1}', 4));
SELECT t.ddl('n', 4, t.cols(t.c('id', 1, 'int', 'int'), t.c('a', 2, 'int', 'int'), t.c('b', 3, 'varchar(9)', 'varchar(9)', 'nn', '''x''')), 'ALTER TABLE n ADD a INT, ADD b VARCHAR(9) NOT NULL DEFAULT ''x''');
SELECT t.ddl('n', 4, t.cols(t.c('id', 1, 'int', 'int'), t.c('a', 2, 'int', 'int'), t.c('b', 3, 'varchar(9)', 'varchar(9)', 'nn', '''x'''), t.c('c', 4, 'int', 'int', 'nn')), 'ALTER TABLE n ADD c INT NOT NULL');
SELECT t.ddl('n', 4, t.cols(t.c('id', 1, 'int', 'int'), t.c('a', 2, 'int', 'int'), t.c('b', 3, 'varchar(9)', 'varchar(9)', 'nn', '''x'''), t.c('c', 4, 'timestamp(0)', 'datetime', '', 'now()')), 'ALTER TABLE n ADD c DATETIME DEFAULT NOW()');
SELECT * FROM t.is('land.n');
TABLE land.n;
CREATE TABLE land.k (id int PRIMARY KEY, v int);
SELECT t.begin('k', 5, t.cols(t.id(), t.c('v', 2, 'int', 'int')), t.i('{7,1}', 5));
SELECT t.ddl('k', 5, t.cols(t.c('id', 1, 'bigint', 'bigint', 'key'), t.c('v', 2, 'int', 'int')), 'ALTER TABLE k MODIFY id BIGINT', NULL, t.u('{7,2}', NULL, 'key', 5), t.i('{5000000000,3}', 5));
SELECT t.ddl('k', 5, t.cols(t.c('id', 1, 'int', 'int', 'key'), t.c('v', 2, 'int', 'int')), 'ALTER TABLE k MODIFY id INT');
SELECT t.ddl('k', 5, t.cols(t.c('id', 1, 'bigint', 'bigint unsigned', 'key'), t.c('v', 2, 'int', 'int')), 'ALTER TABLE k MODIFY id BIGINT UNSIGNED');
SELECT * FROM land.k ORDER BY id;
-- the target was made wider before; changed by hand to the same, the values are copied all the same
CREATE TABLE land.w (id int PRIMARY KEY, v bigint);
SELECT t.begin('w', 9, t.cols(t.id(), t.c('v', 2, 'smallint', 'smallint')), t.i('{1,1}', 9));
SELECT t.ddl('w', 9, t.cols(t.id(), t.c('v', 2, 'int', 'int')), 'ALTER TABLE w MODIFY v INT');
ALTER TABLE land.w ALTER v TYPE varchar(9);
DELETE FROM t.last WHERE relid = 9;
SELECT t.ddl('w', 9, t.cols(t.id(), t.c('v', 2, 'varchar(9)', 'varchar(9)')), 'ALTER TABLE w MODIFY v VARCHAR(9)');

-- ENUM and SET as text: labels appended pass, others refuse, once
SELECT t.retype('text', 'enum(''a'',''b'')', 'text', 'enum(''a'',''b'',''c'',''it''''s'')');
SELECT t.retype('text', 'enum(''a'',''b'')', 'text', 'enum(''b'',''a'')');
SELECT t.retype('text', 'enum(''a'',''b'',''it''''s'')', 'text', 'enum(''a'',''b'')');
SELECT t.retype('text[]', 'set(''a'',''b'')', 'text[]', 'set(''a'',''b'',''c'')');
SELECT t.retype('text[]', 'set(''a'',''b'')', 'text[]', 'set(''b'',''a'')');
SELECT t.retype('text', 'enum(''a'',''b'')', 'varchar(10)', 'varchar(10)');

-- ENUM as an enum type: a label is made at its place, and used behind the statement
CREATE TYPE land.e_v_enum AS ENUM ('a', 'b');
CREATE TABLE land.e (id int PRIMARY KEY, v land.e_v_enum);
\set E t.c('''v''', 2, '''land.e_v_enum''', '''enum(''''a'''',''''b'''')''')
SELECT t.begin('e', 20, t.cols(t.id(), :E), t.i('{1,b}', 20));
SELECT t.ddl('e', 20, t.cols(t.id(), t.c('v', 2, 'land.e_v_enum', 'enum(''a'',''b'',''c'',''d'')')), 'ALTER TABLE e MODIFY v ENUM(''a'',''b'',''c'',''d'')');
SELECT t.rows('e', 20, t.cols(t.id(), t.c('v', 2, 'land.e_v_enum', 'enum(''a'',''b'',''c'',''d'')')), t.i('{2,d}', 20));
SELECT enum_range(NULL::land.e_v_enum), (SELECT string_agg(v::text, ' ' ORDER BY id) FROM land.e);
-- made by hand before, it passes; renamed, the column keeps its type, and so does the table
ALTER TYPE land.e_v_enum ADD VALUE 'e';
SELECT t.ddl('e', 20, t.cols(t.id(), t.c('v', 2, 'land.e_v_enum', 'enum(''a'',''b'',''c'',''d'',''e'')')), 'ALTER TABLE e MODIFY v ENUM(''a'',''b'',''c'',''d'',''e'')');
SELECT t.ddl('e', 20, t.cols(t.id(), t.c('w', 2, 'land.e_w_enum', 'enum(''a'',''b'',''c'',''d'',''e'')')), 'ALTER TABLE e RENAME COLUMN v TO w');
SELECT t.ddl('e', 20, t.cols(t.id(), t.c('w', 2, 'land.e_w_enum', 'enum(''a'',''b'',''c'',''d'',''e'',''f'')', 'nn')), 'ALTER TABLE e MODIFY w ENUM(''a'',''b'',''c'',''d'',''e'',''f'') NOT NULL');
SELECT t.rows('e', 20, t.cols(t.id(), t.c('w', 2, 'land.e_w_enum', 'enum(''a'',''b'',''c'',''d'',''e'',''f'')', 'nn')), t.i('{3,f}', 20));
SELECT t.ddl('e', 20, t.cols(t.id(), t.c('w', 2, 'land.e_w_enum', 'enum(''a'',''b'',''c'',''d'',''e'',''f'')', 'nn', '''f''')), 'ALTER TABLE e ALTER w SET DEFAULT ''f''');
-- a label that is added and the default at once: the default comes with the debt
SELECT t.ddl('e', 20, t.cols(t.id(), t.c('w', 2, 'land.e_w_enum', 'enum(''a'',''b'',''c'',''d'',''e'',''f'',''n'')', 'nn', '''n''')), 'ALTER TABLE e MODIFY w ENUM(''a'',''b'',''c'',''d'',''e'',''f'',''n'') NOT NULL DEFAULT ''n''');
ALTER TABLE land.e ALTER w SET DEFAULT 'n';
SELECT t.ddl('e', 20, t.cols(t.id(), t.c('w', 2, 'land.e_w_enum', 'enum(''a'',''b'',''c'',''d'',''e'',''f'',''n'')', 'nn', '''f''')), 'ALTER TABLE e ALTER w SET DEFAULT ''f''');
-- removed or moved: refused, by name
SELECT t.ddl('e', 20, t.cols(t.id(), t.c('w', 2, 'land.e_w_enum', 'enum(''a'',''c'',''b'',''d'',''e'',''f'')', 'nn', '''f''')), 'ALTER TABLE e MODIFY w ENUM(''a'',''c'',''b'',''d'',''e'',''f'')');
SELECT t.ddl('e', 20, t.cols(t.id(), t.c('w', 2, 'land.e_w_enum', 'enum(''b'',''g'')', 'nn', '''b''')), 'ALTER TABLE e MODIFY w ENUM(''b'',''g'')');
-- … which a start takes as it is, once what is missing is there
ALTER TYPE land.e_v_enum ADD VALUE 'g' AFTER 'b';
ALTER TABLE land.e ALTER COLUMN w SET DEFAULT 'b';
SELECT t.next();
SELECT t.send(t.group(n, jsonb_build_array(t.shape('e', 20, t.cols(t.id(), t.c('w', 2, 'land.e_w_enum', 'enum(''b'',''g'')', 'nn', '''b''')))))) FROM t.at;
SELECT t.send(t.group(n, jsonb_build_array(t.shape('e', 20, t.cols(t.id(), t.c('w', 2, 'land.e_w_enum', 'enum(''b'',''g'')', 'nn', '''b''')))))) FROM t.at;
SELECT t.next();
\set W t.c('''w''', 2, '''land.e_w_enum''', '''enum(''''b'''',''''g'''')''', '''nn''', '''''''b''''''')
-- a new column of labels brings its type, under another name where that is taken
SELECT t.ddl('e', 20, t.cols(t.id(), :W, t.c('x', 3, 'land.e_x_enum', 'enum(''p'',''it''''s'')', 'nn', '''it''''s''')),
    'ALTER TABLE e ADD x ENUM(''p'',''it''''s'') NOT NULL DEFAULT ''it''''s''', NULL, t.i('{4,b,p}', 20));
SELECT kind, object_name, state FROM sluice.schema_objects;
SELECT t.ddl('e', 20, t.cols(t.id(), :W), 'ALTER TABLE e DROP x');
SELECT t.ddl('e', 20, t.cols(t.id(), :W, t.c('x', 4, 'land.e_x_enum', 'enum(''p'')')),
    'ALTER TABLE e ADD x ENUM(''p'')');
SELECT t.ddl('e', 20, t.cols(t.id(), :W), 'ALTER TABLE e DROP x');
SELECT t.ddl('e', 20, t.cols(t.id(), :W, t.c('x', 5, 'elsewhere.x', 'enum(''p'')', '', '''p''')),
    'ALTER TABLE e ADD x ENUM(''p'')');
SELECT t.ddl('e', 20, t.cols(t.id(), :W, t.c('x', 6, 'land.y', 'enum(''p'')', '', '''q''')),
    'ALTER TABLE e ADD x ENUM(''p'') DEFAULT ''q''');
-- text becomes an ENUM, and an ENUM text
SELECT t.ddl('e', 20, t.cols(t.id(), t.c('w', 2, 'varchar(9)', 'varchar(9)', 'nn', '''b''')), 'ALTER TABLE e MODIFY w VARCHAR(9) NOT NULL DEFAULT ''b''');
SELECT t.ddl('e', 20, t.cols(t.id(), t.c('w', 2, 'land.e_new_enum', 'enum(''a'',''b'',''d'',''f'')', '', '''b''')), 'ALTER TABLE e MODIFY w ENUM(''a'',''b'',''d'',''f'') DEFAULT ''b''', NULL, t.i('{5,a}', 20));
SELECT * FROM t.is('land.e');
SELECT * FROM land.e ORDER BY id;
-- mode refuse names the statements
SELECT sluice.sync_stop('s');
SELECT state FROM sluice.sync_start('s', schema_changes => 'refuse');
SELECT t.ddl('e', 20, t.cols(t.id(), t.c('w', 2, 'land.e_new_enum', 'enum(''a'',''b'',''d'',''f'',''g'')', '', '''b''')), 'ALTER TABLE e MODIFY w ENUM(''a'',''b'',''d'',''f'',''g'') DEFAULT ''b''');
SELECT sluice.sync_stop('s');
SELECT sluice.sync_drop('s');
