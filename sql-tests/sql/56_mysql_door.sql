-- The door of a MySQL source: what its tables have beside their columns, as of each statement.
\set ECHO none
\getenv dir PG_ABS_SRCDIR
\set lib :dir '/lib/feed.sql'
\i :lib
\set lib :dir '/lib/mysql.sql'
\i :lib
\set ECHO all
\set VERBOSITY default
SET client_min_messages = error;
CREATE FUNCTION t.o(kind text, name text, columns int[], def text, target text = NULL) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT jsonb_build_object('kind', kind, 'name', name, 'columns', columns, 'def', def)
        || CASE WHEN target IS NULL THEN '{}' ELSE jsonb_build_object('target', target) END
$$;
CREATE FUNCTION t.has(VARIADIC objects jsonb[]) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$ SELECT to_jsonb(objects) $$;
CREATE TABLE land.p (id int PRIMARY KEY);
CREATE TABLE land.t (id int PRIMARY KEY, a int DEFAULT 5, b varchar(10), g int GENERATED ALWAYS AS (a + 1) STORED);
SELECT state FROM sluice.sync_start('s', 'my', target_schema => 'land');
\set A t.c('''a''', 2, '''int''', '''int''', '''''', '''5''')
\set B t.c('''b''', 3, '''varchar(10)''', '''varchar(10)''')
\set T t.cols(t.id(), :A, :B)
\set PK t.o('''primary''', '''PRIMARY''', '''{1}''', '''(id)''', '''PRIMARY KEY (id)''')
\set DA t.o('''default''', '''a''', '''{2}''', '''5''', '''5''')
\set G t.o('''generated''', '''g''', '''{4}''', '''a + 1''', '''a + 1''')
SELECT t.begin('p', 6, t.cols(t.id()), t.i('{1}', 6));
SELECT t.begin('t', 7, :T, t.i('{1,1,x}', 7));
-- the first list is the baseline; the same again says nothing, in other words neither
SELECT t.ddl('t', 7, :T, NULL, t.has(:PK, :DA, :G));
SELECT jsonb_pretty(objects), signature FROM sluice.baseline WHERE table_name = 't';
SELECT t.ddl('t', 7, :T, 'ALTER TABLE t COMMENT ''x''', t.has(:G, :PK, :DA));
SELECT t.ddl('t', 7, :T, 'ALTER TABLE t ADD CHECK (a > 0) -- respelled', t.has(:PK, :DA, t.o('generated', 'g', '{4}', 'a+1', '(a + 1)')));
-- a list that is none
SELECT t.ddl('t', 7, :T, 'x', '{}');
SELECT t.ddl('t', 7, :T, 'x', t.has('{"kind": "trigger"}'));
SELECT t.ddl('t', 7, :T, 'x', t.has('{"kind": "default", "columns": [1, 2]}'));
SELECT t.ddl('t', 7, :T, 'x', t.has('{"kind": "default", "columns": [1], "odd": 1}'));

-- each kind, not on the target: refused, with the statement where there is one
CREATE FUNCTION t.try(objects jsonb, statement text, fix text = NULL) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    print text;
    n bigint;
    cols jsonb := t.cols(t.id(), t.c('a', 2, 'int', 'int', '', '5'), t.c('b', 3, 'varchar(10)', 'varchar(10)'));
BEGIN
    n := t.next();
    RETURN NEXT t.send(t.group(n, jsonb_build_array(t.shape('t', 7, cols), t.layout('t', 7, n, statement, objects))), false);
    SELECT fingerprint INTO print FROM sluice.health WHERE marker IS NOT NULL;
    IF print IS NOT NULL THEN
        -- every start says it again, until it is acknowledged
        BEGIN
            PERFORM sluice.sync_start('s');
            RETURN NEXT 'started again';
        EXCEPTION WHEN OTHERS THEN
            RETURN NEXT 'again: ' || sqlstate || CASE WHEN sqlerrm LIKE '%not in the stream%' THEN '' ELSE ' ' || sqlerrm END;
        END;
        IF fix IS NOT NULL THEN
            EXECUTE fix;
        END IF;
        PERFORM sluice.acknowledge('s', print, 'test');
        PERFORM sluice.sync_start('s');
        RETURN NEXT t.send(t.group(n, jsonb_build_array(t.shape('t', 7, cols), t.layout('t', 7, n, statement, objects))));
    END IF;
END $$;
SELECT * FROM t.try(t.has(:PK, :DA, :G, t.o('unique', 'b', '{3}', '(b)', 'UNIQUE (b)')), 'ALTER TABLE t ADD UNIQUE (b)',
    'ALTER TABLE land.t ADD CONSTRAINT b UNIQUE (b)');
SELECT * FROM t.try(t.has(:PK, :DA, :G, t.o('unique', 'b', '{3}', '(b(4))')), 'ALTER TABLE t DROP KEY b, ADD UNIQUE (b(4))');
SELECT * FROM t.try(t.has(:PK, :DA, :G, t.o('foreign', 'f', '{2}', '(a) REFERENCES shop.p (id)', 'FOREIGN KEY (a) REFERENCES land.p(id) ON DELETE CASCADE')),
    'ALTER TABLE t DROP KEY b, ADD FOREIGN KEY f (a) REFERENCES p (id) ON DELETE CASCADE', 'ALTER TABLE land.t DROP CONSTRAINT b');
SELECT * FROM t.try(t.has(:PK, :DA, :G, t.o('foreign', 'f', '{2}', '(a) REFERENCES shop.p (id)', 'FOREIGN KEY (a) REFERENCES land.p(id) ON DELETE CASCADE'),
    t.o('check', 'c', '{2}', 'a > 0', 'a > 0')), 'ALTER TABLE t ADD CONSTRAINT c CHECK (a > 0)', 'ALTER TABLE land.t ADD CONSTRAINT other CHECK (0 < a)');
SELECT * FROM t.try(t.has(:PK, :DA, :G, t.o('check', 'c', '{2}', 'a > 0', 'a > 0')), 'ALTER TABLE t DROP FOREIGN KEY f');
SELECT * FROM t.try(t.has(:PK, :DA, :G, t.o('check', 'c', '{2}', 'a > 1', 'a > 1')), 'ALTER TABLE t DROP CHECK c, ADD CONSTRAINT c CHECK (a > 1)');
SELECT * FROM t.try(t.has(:PK, :DA, :G), 'ALTER TABLE t DROP CHECK c');
SELECT * FROM t.try(t.has(:DA, :G), 'ALTER TABLE t DROP PRIMARY KEY');
SELECT * FROM t.try(t.has(:PK, :DA, :G), 'ALTER TABLE t ADD PRIMARY KEY (id)');
SELECT * FROM t.try(t.has(:PK, t.o('default', 'a', '{2}', 'crc32(7)'), :G), 'ALTER TABLE t ALTER a SET DEFAULT (crc32(7))');
SELECT * FROM t.try(t.has(:PK, t.o('default', 'a', '{2}', '6', '6'), :G), 'ALTER TABLE t ALTER a SET DEFAULT 6', 'ALTER TABLE land.t ALTER a SET DEFAULT 6');
SELECT * FROM t.try(t.has(:PK, :G), 'ALTER TABLE t ALTER a DROP DEFAULT');
SELECT * FROM t.try(t.has(:PK, :DA, :G, t.o('on_update', 'b', '{3}', 'CURRENT_TIMESTAMP')), 'ALTER TABLE t MODIFY b TIMESTAMP ON UPDATE NOW()');
SELECT * FROM t.try(t.has(:PK, :DA, :G, t.o('identity', 'a', '{2}', 'AUTO_INCREMENT', 'GENERATED BY DEFAULT AS IDENTITY')), 'ALTER TABLE t MODIFY a INT AUTO_INCREMENT');
SELECT * FROM t.try(t.has(:PK, :DA, t.o('generated', 'g', '{4}', 'a + 2', 'a + 2')), 'ALTER TABLE t MODIFY g INT AS (a + 2) STORED');
SELECT * FROM t.try(t.has(:PK, :DA, :G, t.o('not_null', 'b', '{3}', 'NOT NULL', 'NOT NULL')), 'ALTER TABLE t MODIFY b VARCHAR(10) NOT NULL');
SELECT * FROM t.try(t.has(:PK, :DA, :G, t.o('index', 'i', '{2}', '(a)')), 'CREATE INDEX i ON t (a)');
SELECT decision, ddl, marker FROM sluice.schema_events WHERE decision = 'warned';
-- ON UPDATE by the stream's own triggers
CREATE FUNCTION t.now() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE TRIGGER on_update_1 BEFORE UPDATE OF b ON land.t FOR EACH ROW EXECUTE FUNCTION t.now();
SELECT * FROM t.try(t.has(:PK, :DA, :G, t.o('on_update', 'b', '{3}', 'CURRENT_TIMESTAMP')), 'ALTER TABLE t MODIFY b TIMESTAMP ON UPDATE NOW()');
SELECT * FROM t.try(t.has(:PK, :DA, :G, t.o('on_update', 'b', '{3}', 'CURRENT_TIMESTAMP(3)')), 'ALTER TABLE t MODIFY b TIMESTAMP(3) ON UPDATE NOW(3)');
SELECT * FROM t.try(t.has(:PK, :DA, :G), 'ALTER TABLE t MODIFY b TIMESTAMP', 'DROP TRIGGER on_update_1 ON land.t');
-- expressions of the same meaning are the same
SELECT * FROM t.try(t.has(:PK, :DA, :G, t.o('check', 'c', '{2}', 'a > 0', '("a" > 0)')), 'ALTER TABLE t ADD CONSTRAINT c CHECK (a > 0)', 'ALTER TABLE land.t ADD CHECK (a > 0)');
SELECT * FROM t.try(t.has(:PK, :DA, :G, t.o('check', 'd', '{2}', 'a > 0', 'a>0')), 'ALTER TABLE t DROP CHECK c, ADD CONSTRAINT d CHECK (a > 0)');
SELECT * FROM t.try(t.has(:PK, :DA, :G, t.o('check', 'd', '{2}', 'no_such(a)', 'no_such(a)')), 'ALTER TABLE t ADD CHECK (no_such(a))');
SELECT * FROM t.try(t.has(:PK, :DA, :G), 'ALTER TABLE t DROP CHECK d');

-- what belongs to a column that comes or goes with the statement is no change of its own; a constraint is
\set N t.c('''n''', 5, '''int''', '''int''', '''nn''', '''9''')
SELECT t.ddl('t', 7, t.cols(t.id(), :A, :B, :N), 'ALTER TABLE t ADD n INT NOT NULL DEFAULT 9',
    t.has(:PK, :DA, :G, t.o('default', 'n', '{5}', '9', '9'), t.o('not_null', 'n', '{5}', 'NOT NULL', 'NOT NULL')));
SELECT t.ddl('t', 7, t.cols(t.id(), :A, :B, :N, t.c('q', 6, 'int', 'int')), 'ALTER TABLE t ADD q INT, ADD UNIQUE (q)',
    t.has(:PK, :DA, :G, t.o('default', 'n', '{5}', '9', '9'), t.o('not_null', 'n', '{5}', 'NOT NULL', 'NOT NULL'), t.o('unique', 'q', '{6}', '(q)', 'UNIQUE (q)')));
SELECT t.ack();
SELECT t.ddl('t', 7, t.cols(t.id(), :A, :B, :N, t.c('q', 6, 'int', 'int')), 'ALTER TABLE t ADD q INT, ADD UNIQUE (q)',
    t.has(:PK, :DA, :G, t.o('default', 'n', '{5}', '9', '9'), t.o('not_null', 'n', '{5}', 'NOT NULL', 'NOT NULL'), t.o('unique', 'q', '{6}', '(q)', 'UNIQUE (q)')));
SELECT t.ddl('t', 7, t.cols(t.id(), :A, :B), 'ALTER TABLE t DROP n, DROP q', t.has(:PK, :DA, :G));
-- a list is left out where it is as before: a column that came then is known, and its default is the door's
SELECT t.ddl('t', 7, t.cols(t.id(), :A, :B, t.c('r', 8, 'int', 'int')), 'ALTER TABLE t ADD r INT');
SELECT t.ddl('t', 7, t.cols(t.id(), :A, :B, t.c('r', 8, 'int', 'int', '', '?')), 'ALTER TABLE t ALTER r SET DEFAULT (crc32(1))', t.has(:PK, :DA, :G, t.o('default', 'r', '{8}', 'crc32(1)')));
SELECT t.ack();
SELECT t.ddl('t', 7, t.cols(t.id(), :A, :B, t.c('r', 8, 'int', 'int', '', '?')), 'ALTER TABLE t ALTER r SET DEFAULT (crc32(1))', t.has(:PK, :DA, :G, t.o('default', 'r', '{8}', 'crc32(1)')));
-- forwarded with the shape, it is there when the list is compared; renamed, the table keeps its baseline
SELECT t.ddl('t', 7, t.cols(t.id(), t.c('a', 2, 'int', 'int', 'nn', '8'), :B, t.c('r', 8, 'int', 'int', '', '?')), 'ALTER TABLE t MODIFY a INT NOT NULL DEFAULT 8',
    t.has(:PK, t.o('default', 'a', '{2}', '8', '8'), t.o('not_null', 'a', '{2}', 'NOT NULL', 'NOT NULL'), :G, t.o('default', 'r', '{8}', 'crc32(1)')));
SELECT t.ddl('u', 7, t.cols(t.id(), t.c('a', 2, 'int', 'int', 'nn', '8'), :B, t.c('r', 8, 'int', 'int', '', '?')), 'RENAME TABLE t TO u');
SELECT t.ddl('u', 7, t.cols(t.id(), t.c('a', 2, 'int', 'int', 'nn', '8'), :B, t.c('r', 8, 'int', 'int', '', '?')), 'ALTER TABLE u COMMENT ''y''',
    t.has(:PK, t.o('default', 'a', '{2}', '8', '8'), t.o('not_null', 'a', '{2}', 'NOT NULL', 'NOT NULL'), :G, t.o('default', 'r', '{8}', 'crc32(1)')));
SELECT decision, ddl, marker FROM sluice.schema_events WHERE decision = 'passed' ORDER BY recorded_at;
SELECT sluice.sync_stop('s');
SELECT sluice.sync_drop('s');
