-- columns added: one, several, with a constant, NOT NULL
SELECT t.cell('{id int4 1}', '{id int4 1,a int4 2}', '{2,2}');
SELECT t.cell('{id int4 1}', ARRAY['id int4 1', 'a int4 2', 'Big numeric(9,2) 3', 'c timestamptz 4'], '{2,2,1.5,2026-01-01 00:00+00}');
SELECT t.cell('{id int4 1}', '{id int4 1,a int4 2 nn d=5}', '{2,2}');
SELECT t.cell('{id int4 1}', '{id int4 1,a text 2 nn}', '{2,x}');
-- … of a type that the target has not, or has
SELECT t.cell('{id int4 1}', ARRAY['id int4 1', 'a app.mood 2']);
-- … with a default that is not the same everywhere
SELECT t.cell('{id int4 1}', '{id int4 1,a timestamptz 2 d=now()}');
SELECT t.cell('{id int4 1}', '{id int4 1,a uuid 2 nn d=gen_random_uuid()}', '{2,e1a3c3de-0000-4000-8000-000000000000}');
SELECT t.cell('{id int4 1}', ARRAY['id int4 1', 'a float8 2 d=COALESCE(NULL::double precision, (random() * 2::double precision))']);
SELECT t.cell('{id int4 1}', '{id int4 1,a int8 2 nn identity}', '{2,2}');
-- … whose default is not known, or whose column the source has altered since
SELECT t.cell('{id int4 1}', '{id int4 1,a int4 2}', more => jsonb_build_object('cols', jsonb_build_array(t.col('id int4 1', true), t.col('a int4 2', false) || '{"default": true}')));
SELECT t.cell('{id int4 1}', '{id int4 1,a int4 2 partial}', more => '{"evidence": "now", "natts": 2}');
-- … to a table without a key to copy values by
SELECT t.cell('{id int4 1}', '{id int4 1,a int4 2}', keyless => true);
-- … that the target has already, all or some
SELECT t.cell('{id int4 1}', '{id int4 1,a int4 2}', here => 'ALTER TABLE %I ADD a int');
SELECT t.cell('{id int4 1}', '{id int4 1,a int4 2,b int4 3}', here => 'ALTER TABLE %I ADD a int');
SELECT t.cell('{id int4 1}', '{id int4 1,a int4 2}', here => 'ALTER TABLE %I ADD a smallint');

-- columns dropped: one, several, one that is gone here, the key
SELECT t.cell('{id int4 1,a int4 2}', '{id int4 1}');
SELECT t.cell('{id int4 1,a int4 2,b int4 3,c int4 4}', '{id int4 1,b int4 3}');
SELECT t.cell('{id int4 1,a int4 2,b int4 3}', '{id int4 1}', here => 'ALTER TABLE %I DROP a');
SELECT t.cell('{id int4 1,a int4 2}', '{a int4 2}', row_before => '{1,1}', more => '{"cols": [{"name": "a", "type": "int4", "attnum": 2}]}');

-- renamed: proven by its number; here already; its name taken here
SELECT t.cell('{id int4 1,a int4 2}', '{id int4 1,b int4 2}');
SELECT t.cell('{id int4 1,a int4 2}', '{key int4 1,a int4 2}');
SELECT t.cell('{id int4 1,a int4 2}', '{id int4 1,b int4 2}', here => 'ALTER TABLE %I RENAME a TO b');
SELECT t.cell('{id int4 1,a int4 2}', '{id int4 1,b int4 2}', here => 'ALTER TABLE %I ADD b int');
-- … or not proven
SELECT t.cell('{id int4 1,a int4 2}', '{id int4 0,b int4 0}', more => '{"evidence": "wire"}');

-- types: wider, narrower, of another family, the key
SELECT t.cell('{id int4 1,a int4 2}', '{id int4 1,a int8 2}');
SELECT t.cell('{id int4 1,a int8 2}', '{id int4 1,a int4 2}');
SELECT t.cell('{id int4 1,a varchar(10) 2}', '{id int4 1,a varchar(20) 2}');
SELECT t.cell('{id int4 1,a varchar(20) 2}', '{id int4 1,a varchar(10) 2}');
SELECT t.cell(ARRAY['id int4 1', 'a numeric(10,2) 2'], ARRAY['id int4 1', 'a numeric(12,4) 2']);
SELECT t.cell('{id int4 1,a text 2}', '{id int4 1,a jsonb 2}');
SELECT t.cell('{id int4 1,a int4 2}', '{id int4 1,a date 2}');
SELECT t.cell('{id int4 1,a timestamp(3) 2}', '{id int4 1,a timestamp(6) 2}');
SELECT t.cell('{id int4 1,a timetz 2}', '{id int4 1,a time 2}');
SELECT t.cell('{id int4 1}', '{id int8 1}');
SELECT t.cell('{id int4 1,a int4 2}', '{id int4 1,a int8 2}', keyless => true);
-- … through the time zone of a session
SELECT t.cell('{id int4 1,a timestamp 2}', '{id int4 1,a timestamptz 2}');
SELECT t.cell('{id int4 1,a timestamptz 2}', '{id int4 1,a text 2}');
SELECT t.cell('{id int4 1,a timestamptz[] 2}', '{id int4 1,a date[] 2}');
SELECT t.cell('{id int4 1,a time 2}', '{id int4 1,a timetz 2}');
SELECT t.cell('{id int4 1,a timestamp 2}', '{id int4 1,a timestamptz 2}', here => 'ALTER TABLE %I ALTER a TYPE timestamptz');
-- … that only a modifier shows
SELECT t.cell(ARRAY['id int4 1', 'a interval 2'], ARRAY['id int4 1', 'a interval(3) 2']);
SELECT t.cell(ARRAY['id int4 1', 'a interval(3) 2'], ARRAY['id int4 1', 'a interval(6) 2']);
SELECT t.cell(ARRAY['id int4 1', 'a numeric(10,2)[] 2'], ARRAY['id int4 1', 'a numeric(12,4)[] 2']);
SELECT t.cell('{id int4 1,a varchar[] 2}', '{id int4 1,a text[] 2}');
-- … that the target has already: the same, a wider one
SELECT t.cell('{id int4 1,a int4 2}', '{id int4 1,a int8 2}', here => 'ALTER TABLE %I ALTER a TYPE int8');
SELECT t.cell('{id int4 1,a int2 2}', '{id int4 1,a int4 2}', here => 'ALTER TABLE %I ALTER a TYPE int8');
SELECT t.cell('{id int4 1,a int8 2}', '{id int4 1,a int4 2}', here => 'ALTER TABLE %I ALTER a TYPE numeric');

-- several at once
SELECT t.cell('{id int4 1,a int4 2,b int4 3}', '{id int4 1,a int8 2,b int8 3}');
SELECT t.cell('{id int4 1,a int4 2}', '{id int4 1,b int4 2,c int4 3}');
SELECT t.cell('{id int4 1,a int4 2}', '{id int4 1,b int4 3}');
SELECT t.cell('{id int4 1,a int4 2}', '{id int4 1,b int8 2}');
SELECT t.cell('{id int4 1,a int4 2,b int4 3}', '{id int4 1,x int4 2,y int4 3}');
SELECT t.cell('{id int4 1,a int4 2}', '{id int4 1,b int4 3}', here => 'ALTER TABLE %I DROP a, ADD b int');

-- names exchanged: a swap, a rotation, done here too, done here alone
SELECT t.cell('{id int4 1,a int4 2,b int4 3}', '{id int4 1,b int4 2,a int4 3}');
SELECT t.cell('{id int4 1,a int4 2,b int4 3,c int4 4}', '{id int4 1,c int4 2,a int4 3,b int4 4}');
SELECT t.cell('{id int4 1,a int4 2,b int4 3}', '{id int4 1,b int4 2,a int4 3}',
    here => 'ALTER TABLE %1$I RENAME a TO z; ALTER TABLE %1$I RENAME b TO a; ALTER TABLE %1$I RENAME z TO b');
SELECT t.cell('{id int4 1,a int4 2,b int4 3}', '{id int4 1,a int4 2,b int4 3}',
    here => 'ALTER TABLE %1$I RENAME a TO z; ALTER TABLE %1$I RENAME b TO a; ALTER TABLE %1$I RENAME z TO b');
-- … places exchanged, numbers known and not
SELECT t.cell('{id int4 1,a int4 2,b int4 3}', '{id int4 1,b int4 3,a int4 2}');
SELECT t.cell('{id int4 1,a int4 0,b int4 0}', '{id int4 1,b int4 0,a int4 0}');
-- a name that holds another column now
SELECT t.cell('{id int4 1,a int4 2}', '{id int4 1,a int4 3}');
SELECT t.cell('{id int4 1,a int4 2}', '{id int4 1,a int4 3}', here => 'ALTER TABLE %I DROP a, ADD a int');
SELECT t.cell('{id int4 1,a int4 2,b int4 3}', '{id int4 1,a int4 3}');

-- nullability, identity, collation
SELECT t.cell('{id int4 1,a int4 2 nn}', '{id int4 1,a int4 2}', row_before => '{1,1}');
SELECT t.cell('{id int4 1,a int4 2}', '{id int4 1,a int4 2 nn}', '{2,2}');
SELECT t.cell('{id int4 1,a int4 2}', '{id int4 1,a int4 2}', more => '{"replident": "f"}');
SELECT t.cell('{id int4 1,a int4 2}', '{id int4 1,a int4 2}', more => '{"replident": "n"}');
SELECT t.cell(ARRAY['id text 1 c="C"', 'a int4 2'], ARRAY['id text 1 c=pg_catalog."POSIX"', 'a int4 2'], row_before => '{1,1}');
SELECT t.cell(ARRAY['id text 1 c=pg_catalog."C"'], ARRAY['id text 1 c=pg_catalog."POSIX"'], here => 'ALTER TABLE %I ALTER id TYPE text COLLATE "POSIX"');
SELECT t.cell(ARRAY['id int4 1', 'a text 2 c=pg_catalog."C"'], ARRAY['id int4 1', 'a text 2 c=pg_catalog."POSIX"']);

-- the table: renamed, in another schema, both, done here too, another one
CREATE SCHEMA app;
SELECT t.cell('{id int4 1}', '{id int4 1}', more => '{"name": "renamed"}');
SELECT t.cell('{id int4 1}', '{id int4 1}', more => '{"schema": "app"}');
SELECT t.cell('{id int4 1}', '{id int4 1}', more => '{"schema": "app", "name": "moved"}');
SELECT t.cell('{id int4 1}', '{id int4 1}', more => '{"schema": "nowhere"}');
SELECT t.cell('{id int4 1}', '{id int4 1}', more => '{"name": "taken"}', here => 'CREATE TABLE taken ()');
SELECT t.cell('{id int4 1}', '{id int4 1}', more => '{"name": "twice"}', here => 'ALTER TABLE %I RENAME TO twice');
SELECT t.cell('{id int4 1}', '{id int4 1}', more => '{"relid": 5}');

-- at the table's first row after a start
SELECT t.cell('{id int4 1,a int4 2}', '{id int4 1,a int4 2}', resume => true);
SELECT t.cell('{id int4 1}', '{id int4 1,a int4 2}', resume => true);
SELECT t.cell('{id int4 1,a int4 2}', '{id int4 1}', resume => true);
SELECT t.cell('{id int4 1,a int4 2}', '{id int4 1,b int4 2}', resume => true);
SELECT t.cell('{id int4 1,a int4 2}', '{id int4 1,a int8 2}', resume => true);
SELECT t.cell('{id int4 1,a int8 2}', '{id int4 1,a int4 2}', resume => true);
SELECT t.cell('{id int4 1,a int4 2}', '{id int4 1,b int4 3}', resume => true);
SELECT t.cell('{id int4 1,a int4 2,b int4 3}', '{id int4 1,a int8 2,b int8 3}', resume => true);
SELECT t.cell('{id int4 1,a int4 2,b int4 3}', '{id int4 1,b int4 2,a int4 3}', resume => true);
SELECT t.cell('{id int4 1,a int4 2}', '{id int4 1,a int4 3}', resume => true);
SELECT t.cell('{id int4 1,a timestamp 2}', '{id int4 1,a timestamptz 2}', resume => true);
-- … only the target was altered: wider, more, NOT NULL, narrower, less
SELECT t.cell('{id int4 1,a int4 2}', '{id int4 1,a int4 2}', resume => true, here => 'ALTER TABLE %I ALTER a TYPE int8');
SELECT t.cell('{id int4 1,a int4 2}', '{id int4 1,a int4 2}', resume => true, here => 'ALTER TABLE %I ADD mine int');
SELECT t.cell('{id int4 1,a int4 2}', '{id int4 1,a int4 2}', resume => true, here => 'ALTER TABLE %1$I ADD mine int NOT NULL DEFAULT 1; ALTER TABLE %1$I ALTER mine DROP DEFAULT');
SELECT t.cell('{id int4 1,a int4 2}', '{id int4 1,a int4 2}', resume => true, here => 'ALTER TABLE %I ALTER a TYPE int2');
SELECT t.cell('{id int4 1,a int4 2}', '{id int4 1,a int4 2}', resume => true, here => 'ALTER TABLE %I DROP a');
SELECT t.cell('{id int4 1,a int4 2}', '{id int4 1,a int4 2}', resume => true, here => 'ALTER TABLE %I RENAME a TO b');

SELECT decision, marker, count(*), count(ddl) FROM sluice.schema_events GROUP BY 1, 2 ORDER BY 1, 2;
SELECT sluice.sync_stop('s');
SELECT sluice.sync_drop('s');
