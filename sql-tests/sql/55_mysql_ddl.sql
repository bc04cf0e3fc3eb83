-- Schema changes of a MySQL source, statement by statement: which are made on the target, and which refuse.
\set ECHO none
\getenv dir PG_ABS_SRCDIR
\set lib :dir '/lib/feed.sql'
\i :lib
\set lib :dir '/lib/mysql.sql'
\i :lib
\set ECHO all
\set VERBOSITY default
SET client_min_messages = error;
CREATE TABLE land.t (id int PRIMARY KEY, a int, b varchar(10));
SELECT state FROM sluice.sync_start('s', 'my', target_schema => 'land');
\set A t.c('''a''', 2, '''int''', '''int''')
\set B t.c('''b''', 3, '''varchar(10)''', '''varchar(10)''')
SELECT t.begin('t', 7, t.cols(t.id(), :A, :B), t.i('{1,10,x}', 7), t.i('{2,20,y}', 7));

-- columns added: with a default, without, in another place, several at once
SELECT t.ddl('t', 7, t.cols(t.id(), :A, :B, t.c('c', 4, 'int', 'int', '', '5')), 'ALTER TABLE t ADD c INT DEFAULT 5', NULL, t.i('{3,30,z,6}', 7));
SELECT t.ddl('t', 7, t.cols(t.c('d', 5, 'text', 'text'), t.id(), :A, :B, t.c('c', 4, 'int', 'int', '', '5')), 'ALTER TABLE t ADD d TEXT FIRST',
    NULL, t.i('{dd,4,40,zz,6}', 7));
\set C t.c('''c''', 4, '''int''', '''int''', '''''', '''5''')
\set D t.c('''d''', 5, '''text''', '''text''')
SELECT t.ddl('t', 7, t.cols(:D, t.id(), t.c('e', 6, 'int', 'int', 'nn'), :A, :B, t.c('f', 7, 'varchar(8)', 'varchar(8)', 'nn', '''gold'''), :C),
    'ALTER TABLE t ADD e INT NOT NULL AFTER id, ADD f VARCHAR(8) NOT NULL DEFAULT ''gold'' AFTER b');
SELECT * FROM t.is('land.t');
SELECT * FROM land.t ORDER BY id;
-- the same place is nothing new: a batch again, and a start
SELECT t.rows('t', 7, t.cols(:D, t.id(), t.c('e', 6, 'int', 'int', 'nn'), :A, :B, t.c('f', 7, 'varchar(8)', 'varchar(8)', 'nn', '''gold'''), :C),
    t.i('{d5,5,1,50,five,iron,7}', 7));

-- dropped: one, several
SELECT t.ddl('t', 7, t.cols(t.id(), t.c('e', 6, 'int', 'int', 'nn'), :A, :B, t.c('f', 7, 'varchar(8)', 'varchar(8)', 'nn', '''gold'''), :C),
    'ALTER TABLE t DROP d');
SELECT t.ddl('t', 7, t.cols(t.id(), :A, :B), 'ALTER TABLE t DROP c, DROP e, DROP f', NULL, t.i('{6,60,six}', 7));

-- renamed, proven by the number; a chain of three statements through a temporary name is three of them
SELECT t.ddl('t', 7, t.cols(t.id(), t.c('a2', 2, 'int', 'int'), :B), 'ALTER TABLE t RENAME COLUMN a TO a2', NULL, t.u('{1,11,x}', NULL, 'key', 7));
SELECT t.ddl('t', 7, t.cols(t.id(), t.c('tmp', 2, 'int', 'int'), :B), 'ALTER TABLE t CHANGE a2 tmp INT');
SELECT t.ddl('t', 7, t.cols(t.id(), t.c('tmp', 2, 'int', 'int'), t.c('a2', 3, 'varchar(10)', 'varchar(10)')), 'ALTER TABLE t RENAME COLUMN b TO a2');
SELECT t.ddl('t', 7, t.cols(t.id(), t.c('b', 2, 'int', 'int'), t.c('a2', 3, 'varchar(10)', 'varchar(10)')), 'ALTER TABLE t RENAME COLUMN tmp TO b', NULL,
    t.i('{7,70,seven}', 7));
SELECT t.ddl('t', 7, t.cols(t.id(), t.c('a', 2, 'int', 'int'), t.c('a2', 3, 'varchar(10)', 'varchar(10)')), 'ALTER TABLE t RENAME COLUMN b TO a');
SELECT t.ddl('t', 7, t.cols(t.id(), :A, :B), 'ALTER TABLE t RENAME COLUMN a2 TO b');
SELECT * FROM land.t ORDER BY id;

-- a pure reorder passes, and is on record; so it does with an added column, and with a type
SELECT t.ddl('t', 7, t.cols(t.id(), :B, :A), 'ALTER TABLE t MODIFY a INT AFTER b', NULL, t.i('{8,eight,80}', 7));
SELECT decision, marker FROM sluice.schema_events ORDER BY recorded_at DESC LIMIT 1;
SELECT t.ddl('t', 7, t.cols(t.id(), t.c('a', 2, 'bigint', 'bigint'), :B), 'ALTER TABLE t MODIFY a BIGINT AFTER id', NULL, t.i('{9,90,nine}', 7));
\set A t.c('''a''', 2, '''bigint''', '''bigint''')
SELECT id, a, b FROM land.t ORDER BY id;

-- the table renamed, by its number; to and fro
SELECT t.ddl('t2', 7, t.cols(t.id(), :A, :B), 'RENAME TABLE t TO t2', NULL, t.i('{10,100,ten}', 7));
SELECT to_regclass('land.t'), to_regclass('land.t2'), (SELECT count(*) FROM land.t2);
SELECT schema_name, table_name, source_id FROM sluice.tables;
SELECT relid, table_name, layout, lsn FROM sluice.source_layout;
SELECT t.ddl('t', 7, t.cols(t.id(), :A, :B), 'ALTER TABLE t2 RENAME t');
-- another number under the name is another table
SELECT t.ddl('t', 8, t.cols(t.id(), :A, :B), 'CREATE OR REPLACE TABLE t (id INT PRIMARY KEY, a BIGINT, b VARCHAR(10))');

-- nullability: a property of the column; evidence of the change
SELECT t.ddl('t', 7, t.cols(t.id(), t.c('a', 2, 'bigint', 'bigint', 'nn'), :B), 'ALTER TABLE t MODIFY a BIGINT NOT NULL');
SELECT * FROM t.is('land.t');
SELECT t.ddl('t', 7, t.cols(t.id(), :A, :B), 'ALTER TABLE t MODIFY a BIGINT', NULL, t.i('{11,NULL,eleven}', 7));
SELECT * FROM t.is('land.t');
-- a row here that does not fit
SELECT t.ddl('t', 7, t.cols(t.id(), t.c('a', 2, 'bigint', 'bigint', 'nn'), :B), 'ALTER TABLE t MODIFY a BIGINT NOT NULL');
DELETE FROM land.t WHERE id = 11;
SELECT t.ddl('t', 7, t.cols(t.id(), t.c('a', 2, 'bigint', 'bigint', 'nn'), :B), 'ALTER TABLE t MODIFY a BIGINT NOT NULL');

-- defaults: forwarded with their text, dropped; one without a translation is left to the door
SELECT t.ddl('t', 7, t.cols(t.id(), t.c('a', 2, 'bigint', 'bigint', 'nn', '5'), :B), 'ALTER TABLE t ALTER a SET DEFAULT 5');
SELECT t.ddl('t', 7, t.cols(t.id(), t.c('a', 2, 'bigint', 'bigint', 'nn', '''7'''), :B), 'ALTER TABLE t ALTER a SET DEFAULT 7');
SELECT * FROM t.is('land.t');
SELECT t.ddl('t', 7, t.cols(t.id(), t.c('a', 2, 'bigint', 'bigint', 'nn', '?'), :B), 'ALTER TABLE t ALTER a SET DEFAULT (crc32(1))');
SELECT t.ddl('t', 7, t.cols(t.id(), t.c('a', 2, 'bigint', 'bigint', 'nn'), :B), 'ALTER TABLE t ALTER a DROP DEFAULT');
SELECT t.ddl('t', 7, t.cols(t.id(), t.c('a', 2, 'bigint', 'bigint', 'nn', 'now()'), :B), 'a default that is none');
SELECT * FROM t.is('land.t');
SELECT t.ddl('t', 7, t.cols(t.id(), t.c('a', 2, 'bigint', 'bigint', 'nn', '5'), :B), 'ALTER TABLE t ALTER a SET DEFAULT 5');

-- one column's type, nullability, default and name are one change
SELECT t.ddl('t', 7, t.cols(t.id(), t.c('a', 2, 'numeric(20)', 'decimal(20,0)'), :B), 'ALTER TABLE t CHANGE a a DECIMAL(20)', NULL,
    t.i('{12,NULL,twelve}', 7));
SELECT * FROM t.is('land.t');
SELECT t.ddl('t', 7, t.cols(t.id(), t.c('a3', 2, 'numeric(22,2)', 'decimal(22,2)', '', '1.5'), :B), 'ALTER TABLE t CHANGE a a3 DECIMAL(22,2) DEFAULT 1.5');
SELECT * FROM t.is('land.t');
SELECT id, a3 FROM land.t WHERE id IN (1, 12);
SELECT t.ddl('t', 7, t.cols(t.id(), t.c('a', 2, 'numeric(22,2)', 'decimal(22,2)', '', '1.5'), :B), 'ALTER TABLE t RENAME COLUMN a3 TO a');
\set A t.c('''a''', 2, '''numeric(22,2)''', '''decimal(22,2)''', '''''', '''1.5''')
-- values that are to be copied come before NOT NULL
SELECT t.ddl('t', 7, t.cols(t.id(), :A, t.c('b', 3, 'varchar(5)', 'varchar(5)', 'nn', '''q''')), 'ALTER TABLE t MODIFY b VARCHAR(5) NOT NULL DEFAULT ''q''');
SELECT * FROM t.is('land.t');
SELECT t.ddl('t', 7, t.cols(t.id(), :A, t.c('b', 3, 'varchar(12)', 'varchar(12)', 'nn', '''q''')), 'ALTER TABLE t MODIFY b VARCHAR(12) NOT NULL DEFAULT ''q''');
ALTER TABLE land.t ALTER b SET NOT NULL;
\set B t.c('''b''', 3, '''varchar(12)''', '''varchar(12)''', '''nn''', '''''''q''''''')

-- more than one column at once refuses, and names them all
SELECT t.ddl('t', 7, t.cols(t.id(), t.c('a', 2, 'numeric(22,2)', 'decimal(22,2)', 'nn', '1.5'), t.c('b', 3, 'varchar(20)', 'varchar(20)', 'nn', '''q''')),
    'ALTER TABLE t MODIFY a DECIMAL(22,2) NOT NULL DEFAULT 1.5, MODIFY b VARCHAR(20) NOT NULL DEFAULT ''q''');
SELECT t.ddl('t', 7, t.cols(t.id(), :A, t.c('c', 8, 'int', 'int')), 'ALTER TABLE t DROP b, ADD c INT');
SELECT t.ddl('t', 7, t.cols(t.id(), t.c('x', 2, 'numeric(22,2)', 'decimal(22,2)', '', '1.5'), t.c('y', 3, 'varchar(12)', 'varchar(12)', 'nn', '''q''')),
    'ALTER TABLE t RENAME COLUMN a TO x, RENAME COLUMN b TO y');
-- columns that exchange their names, in one statement
SELECT t.ddl('t', 7, t.cols(t.id(), t.c('b', 2, 'numeric(22,2)', 'decimal(22,2)', '', '1.5'), t.c('a', 3, 'varchar(12)', 'varchar(12)', 'nn', '''q''')),
    'ALTER TABLE t RENAME COLUMN a TO b, RENAME COLUMN b TO a');
-- … whose remedy lets it pass
ALTER TABLE land.t RENAME a TO sluice_spare_0;
ALTER TABLE land.t RENAME b TO a;
ALTER TABLE land.t RENAME sluice_spare_0 TO b;
SELECT t.ddl('t', 7, t.cols(t.id(), t.c('b', 2, 'numeric(22,2)', 'decimal(22,2)', '', '1.5'), t.c('a', 3, 'varchar(12)', 'varchar(12)', 'nn', '''q''')),
    'ALTER TABLE t RENAME COLUMN a TO b, RENAME COLUMN b TO a');
SELECT t.ddl('t', 7, t.cols(t.id(), t.c('x', 2, 'numeric(22,2)', 'decimal(22,2)', '', '1.5'), t.c('a', 3, 'varchar(12)', 'varchar(12)', 'nn', '''q''')),
    'ALTER TABLE t RENAME COLUMN b TO x');
SELECT t.ddl('t', 7, t.cols(t.id(), t.c('x', 2, 'numeric(22,2)', 'decimal(22,2)', '', '1.5'), t.c('b', 3, 'varchar(12)', 'varchar(12)', 'nn', '''q''')),
    'ALTER TABLE t RENAME COLUMN a TO b');
SELECT t.ddl('t', 7, t.cols(t.id(), :A, :B), 'ALTER TABLE t RENAME COLUMN x TO a');
-- a name that holds another column: dropped and added in one statement, renamed onto
SELECT t.ddl('t', 7, t.cols(t.id(), :A, t.c('b', 9, 'varchar(12)', 'varchar(12)', 'nn', '''q''')), 'ALTER TABLE t DROP b, ADD b VARCHAR(12) NOT NULL DEFAULT ''q''');
SELECT t.ddl('t', 7, t.cols(t.id(), t.c('b', 2, 'numeric(22,2)', 'decimal(22,2)', '', '1.5')), 'ALTER TABLE t DROP b, RENAME COLUMN a TO b');
SELECT t.ddl('t', 7, t.cols(t.id(), :A, t.c('old', 3, 'varchar(12)', 'varchar(12)', 'nn', '''q'''), t.c('b', 9, 'int', 'int')), 'ALTER TABLE t RENAME COLUMN b TO old, ADD b INT');
-- in two statements it is a drop and an addition
SELECT t.ddl('t', 7, t.cols(t.id(), :A), 'ALTER TABLE t DROP b');
SELECT t.ddl('t', 7, t.cols(t.id(), :A, t.c('b', 9, 'varchar(12)', 'varchar(12)')), 'ALTER TABLE t ADD b VARCHAR(12)');
SELECT id, a, b FROM land.t WHERE id < 3 ORDER BY id;
\set B t.c('''b''', 9, '''varchar(12)''', '''varchar(12)''')

-- defaults of added columns that say another thing each time
SELECT t.ddl('t', 7, t.cols(t.id(), :A, :B, t.c('m', 10, 'timestamp(0)', 'datetime', '', 'now()')), 'ALTER TABLE t ADD m DATETIME DEFAULT NOW()');
SELECT t.ddl('t', 7, t.cols(t.id(), :A, :B, t.c('m', 10, 'uuid', 'uuid', '', 'gen_random_uuid()')), 'ALTER TABLE t ADD m UUID DEFAULT UUID()');
SELECT t.ddl('t', 7, t.cols(t.id(), :A, :B, t.c('m', 10, 'int', 'int', '', '?')), 'ALTER TABLE t ADD m INT DEFAULT (crc32(7))');
SELECT t.ddl('t', 7, t.cols(t.id(), :A, :B, t.c('m', 10, 'bigint', 'bigint', 'nn auto')), 'ALTER TABLE t ADD m BIGINT AUTO_INCREMENT, ADD KEY (m)');
SELECT sluice.sync_stop('s');
SELECT state FROM sluice.sync_start('s', options => '{"volatile_defaults": "copy"}');
SELECT t.ddl('t', 7, t.cols(t.id(), :A, :B, t.c('m', 10, 'timestamp(0)', 'datetime', '', 'now()')), 'ALTER TABLE t ADD m DATETIME DEFAULT NOW()');
SELECT t.ddl('t', 7, t.cols(t.id(), :A, :B), 'ALTER TABLE t DROP m');

-- mode refuse: nothing is made; what the target holds passes
SELECT sluice.sync_stop('s');
SELECT state FROM sluice.sync_start('s', schema_changes => 'refuse');
SELECT t.ddl('t', 7, t.cols(t.id(), :A, :B, t.c('c', 11, 'int', 'int')), 'ALTER TABLE t ADD c INT');
ALTER TABLE land.t ADD c int;
SELECT t.ddl('t', 7, t.cols(t.id(), :A, :B, t.c('c', 11, 'int', 'int')), 'ALTER TABLE t ADD c INT', NULL, t.i('{20,1,x,3}', 7));
SELECT t.ddl('t', 7, t.cols(t.id(), :A, :B, t.c('c', 11, 'bigint', 'bigint')), 'ALTER TABLE t MODIFY c BIGINT');
SELECT t.ddl('t', 7, t.cols(t.id(), :B, t.c('c', 11, 'int', 'int', 'nn'), :A), 'ALTER TABLE t MODIFY c INT NOT NULL AFTER b');
ALTER TABLE land.t ALTER c SET NOT NULL;
SELECT t.ddl('t', 7, t.cols(t.id(), :B, t.c('c', 11, 'int', 'int'), :A), 'ALTER TABLE t MODIFY c INT');
ALTER TABLE land.t ALTER c DROP NOT NULL;
SELECT t.ddl('t', 7, t.cols(t.id(), :B, t.c('c', 11, 'int', 'int'), :A), 'ALTER TABLE t MODIFY c INT');
SELECT sluice.sync_stop('s');
SELECT state FROM sluice.sync_start('s', schema_changes => 'forward');

-- the target's own changes: a column that it lost is made again at a start, one of its own must fill itself
ALTER TABLE land.t DROP c;
SELECT t.rows('t', 7, t.cols(t.id(), :B, t.c('c', 11, 'int', 'int'), :A), t.i('{21,x,3,4}', 7));
ALTER TABLE land.t ADD own int NOT NULL DEFAULT 0;
ALTER TABLE land.t ALTER own DROP DEFAULT;
SELECT t.rows('t', 7, t.cols(t.id(), :B, t.c('c', 11, 'int', 'int'), :A), t.i('{22,x,3,4}', 7));

SELECT decision, marker, count(*) FROM sluice.schema_events GROUP BY 1, 2 ORDER BY 1, 2;
SELECT sluice.sync_stop('s');
SELECT sluice.sync_drop('s');
SELECT count(*) FROM sluice.source_layout;
