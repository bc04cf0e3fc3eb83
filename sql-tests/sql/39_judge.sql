-- What a new shape may be: passed where the target has it, refused by name else.
\set ECHO none
\getenv dir PG_ABS_SRCDIR
\set lib :dir '/lib/feed.sql'
\i :lib
\set ECHO all
\pset format unaligned
\pset tuples_only on
SELECT stream_id FROM sluice.sync_start('s', schema_changes => 'refuse', options => '{"feed": true}');
-- A shape by columns: "name type attnum", identity and key 1 unless told otherwise.
CREATE FUNCTION t.sh(name text, cols text[], more jsonb = '{}', rel int = 1) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT jsonb_build_object('kind', 'shape', 'wireid', rel, 'relid', 7000 + rel, 'schema', 'public', 'name', name,
        'relkind', 'r', 'replident', 'd', 'cols', (
            SELECT jsonb_agg(jsonb_build_object('name', split_part(c, ' ', 1), 'type', split_part(c, ' ', 2),
                'attnum', nullif(split_part(c, ' ', 3), '')::int, 'key', o = 1, 'not_null', o = 1, 'primary', o = 1) ORDER BY o)
            FROM unnest(cols) WITH ORDINALITY u (c, o))) || more
$$;
CREATE TABLE j (id int PRIMARY KEY, a int, b text);
SELECT t.try(t.batch(t.sh('j', '{id int4 1,a int4 2,b text 3}'), t.i('{1,1,x}')));
-- the same again, in another order, known by less evidence
SELECT t.try(t.batch(t.sh('j', '{id int4 1,a int4 2,b text 3}'), t.i('{2,1,x}')));
SELECT t.try(t.batch(t.sh('j', '{id int4 1,b text 3,a int4 2}'), t.i('{3,x,1}')));
SELECT t.try(t.batch(t.sh('j', '{id int4 1,a int4 2,b text 3}', '{"evidence": "wire"}'), t.i('{4,1,x}')));

-- column added: on the source only, then here too
SELECT t.try(t.batch(t.sh('j', ARRAY['id int4 1', 'a int4 2', 'b text 3', 'c numeric(9,2) 4']), t.i('{5,1,x,1.5}')));
ALTER TABLE j ADD COLUMN c numeric(9,2);
SELECT t.try(t.batch(t.sh('j', ARRAY['id int4 1', 'a int4 2', 'b text 3', 'c numeric(9,2) 4']), t.i('{5,1,x,1.5}')));

-- column dropped
SELECT t.try(t.batch(t.sh('j', '{id int4 1,a int4 2,b text 3}'), t.i('{6,1,x}')));
ALTER TABLE j DROP COLUMN c;
SELECT t.try(t.batch(t.sh('j', '{id int4 1,a int4 2,b text 3}'), t.i('{6,1,x}')));

-- dropped and added under the same name: the data is another's
SELECT t.try(t.batch(t.sh('j', '{id int4 1,b text 3,a int4 5}'), t.i('{7,x,1}')));
ALTER TABLE j DROP COLUMN a, ADD COLUMN a int;
SELECT t.try(t.batch(t.sh('j', '{id int4 1,b text 3,a int4 5}'), t.i('{7,x,1}')));
-- … on the target only
ALTER TABLE j DROP COLUMN a, ADD COLUMN a int;
SELECT t.try(t.batch(t.sh('j', '{id int4 1,b text 3,a int4 5}'), t.i('{8,x,1}')));
SELECT t.try(t.batch(t.sh('j', '{id int4 1,b text 3,a int4 6}'), t.i('{8,x,1}')));

-- renamed
SELECT t.try(t.batch(t.sh('j', '{id int4 1,b2 text 3,a int4 6}'), t.i('{9,x,1}')));
ALTER TABLE j RENAME b TO b2;
SELECT t.try(t.batch(t.sh('j', '{id int4 1,b2 text 3,a int4 6}'), t.i('{9,x,1}')));
-- … on the target only
ALTER TABLE j RENAME b2 TO b3;
SELECT t.try(t.batch(t.sh('j', '{id int4 1,b2 text 3,a int4 6}'), t.i('{10,x,1}')));
ALTER TABLE j RENAME b3 TO b2;
-- … two names swapped: the shapes alone look alike
CREATE TABLE sw (id int PRIMARY KEY, x int, y int);
SELECT t.try(t.batch(t.sh('sw', '{id int4 1,x int4 2,y int4 3}', rel => 2), t.i('{1,10,20}', 2)));
SELECT t.try(t.batch(t.sh('sw', '{id int4 1,y int4 2,x int4 3}', rel => 2), t.i('{2,10,20}', 2)));
ALTER TABLE sw RENAME x TO z;
ALTER TABLE sw RENAME y TO x;
ALTER TABLE sw RENAME z TO y;
SELECT t.try(t.batch(t.sh('sw', '{id int4 1,y int4 2,x int4 3}', rel => 2), t.i('{2,10,20}', 2)));
TABLE sw;

-- types: wider passes where it fits, anything else must be here too
CREATE TABLE ty (id int PRIMARY KEY, n bigint, v varchar(20), w text);
SELECT t.try(t.batch(t.sh('ty', '{id int4 1,n int2 2,v varchar(5) 3,w text 4}', rel => 3), t.i('{1,1,a,b}', 3)));
SELECT t.try(t.batch(t.sh('ty', '{id int4 1,n int4 2,v varchar(20) 3,w text 4}', rel => 3), t.i('{2,1,a,b}', 3)));
SELECT t.try(t.batch(t.sh('ty', '{id int4 1,n int4 2,v varchar(30) 3,w text 4}', rel => 3), t.i('{3,1,a,b}', 3)));
SELECT t.try(t.batch(t.sh('ty', '{id int4 1,n int4 2,v varchar(10) 3,w text 4}', rel => 3), t.i('{3,1,a,b}', 3)));
ALTER TABLE ty ALTER v TYPE varchar(10);
SELECT t.try(t.batch(t.sh('ty', '{id int4 1,n int4 2,v varchar(10) 3,w text 4}', rel => 3), t.i('{3,1,a,b}', 3)));
SELECT t.try(t.batch(t.sh('ty', '{id int4 1,n int4 2,v varchar(10) 3,w jsonb 4}', rel => 3), t.i('{4,1,a,"{}"}', 3)));
ALTER TABLE ty ALTER w TYPE jsonb USING '{}';
SELECT t.try(t.batch(t.sh('ty', '{id int4 1,n int4 2,v varchar(10) 3,w jsonb 4}', rel => 3), t.i('{4,1,a,"{}"}', 3)));
-- … narrowed on the target only
ALTER TABLE ty ALTER n TYPE smallint;
SELECT t.try(t.batch(t.sh('ty', '{id int4 1,n int4 2,v varchar(10) 3,w jsonb 4}', rel => 3), t.i('{5,1,a,"{}"}', 3)));
ALTER TABLE ty ALTER n TYPE numeric;
SELECT t.try(t.batch(t.sh('ty', '{id int4 1,n int4 2,v varchar(10) 3,w jsonb 4}', rel => 3), t.i('{5,1,a,"{}"}', 3)));

-- nullability: what the target would reject
CREATE TABLE nu (id int PRIMARY KEY, v int NOT NULL);
SELECT t.try(t.batch(jsonb_set(t.sh('nu', '{id int4 1,v int4 2}', rel => 4), '{cols,1,not_null}', 'true'), t.i('{1,1}', 4)));
SELECT t.try(t.batch(t.sh('nu', '{id int4 1,v int4 2}', rel => 4), t.i('{2,NULL}', 4)));
ALTER TABLE nu ALTER v DROP NOT NULL;
SELECT t.try(t.batch(t.sh('nu', '{id int4 1,v int4 2}', rel => 4), t.i('{2,NULL}', 4)));

-- replica identity: a change passes while rows can be told apart
SELECT t.try(t.batch(jsonb_set(t.sh('nu', '{id int4 1,v int4 2}', '{"replident": "f"}', 4), '{cols,1,key}', 'true'),
    t.u('{1,2}', '{1,1}', 'full', 4)));
SELECT t.try(t.batch(t.sh('nu', '{id int4 1,v int4 2}', '{"replident": "n"}', 4), t.i('{3,3}', 4)));
SELECT t.try(t.batch(jsonb_set(t.sh('nu', '{id int4 1,v int4 2}', '{"replident": "d"}', 4), '{cols,0,key}', 'false'), t.i('{3,3}', 4)));
SELECT t.try(t.batch(t.sh('nu', '{id int4 1,v int4 2}', rel => 4), t.u('{1,3}', rel => 4)));
TABLE nu;

-- another table under the same name
SELECT t.try(t.batch(t.sh('nu', '{id int4 1,v int4 2}', '{"relid": 9999}', 4), t.i('{3,3}', 4)));
-- the same table under another name: here too, or not
SELECT t.try(t.batch(t.sh('nu_new', '{id int4 1,v int4 2}', rel => 4), t.i('{3,3}', 4)));
ALTER TABLE nu RENAME TO nu_new;
SELECT t.try(t.batch(t.sh('nu_new', '{id int4 1,v int4 2}', rel => 4), t.i('{3,3}', 4)));
SELECT table_name, state FROM sluice.tables WHERE target_relid = 'nu_new'::regclass;

-- several differences at once: each its line
SELECT t.try(t.batch(t.sh('sw', '{id int8 1,y int4 2,New text 9}', rel => 2), t.i('{3,1,z}', 2)));
-- unproven: the catalog has moved on, a column without a number is not taken for another
ALTER TABLE sw ADD COLUMN k int;
SELECT t.try(t.batch(t.sh('sw', '{id int4 0,y int4 0,x int4 0,k int4 0}', '{"evidence": "wire"}', 2), t.i('{3,1,2,3}', 2)));
SELECT t.try(t.batch(t.sh('sw', '{id int4 0,y int4 0,x int4 0}', '{"evidence": "wire"}', 2), t.i('{3,1,2}', 2)));

-- within one transaction, rows before and after the boundary
CREATE TABLE tx (id int PRIMARY KEY, a int, b int);
SELECT t.try(t.batch(t.sh('tx', '{id int4 1,a int4 2}', rel => 5), t.i('{1,1}', 5), t.sh('tx', '{id int4 1,a int4 2,b int4 3}', rel => 5), t.i('{2,2,2}', 5)));
TABLE tx;

SELECT position, table_name, decision, marker FROM sluice.schema_events ORDER BY position, table_name, marker;
SELECT marker, "table", count FROM t.refusal ORDER BY 1, 2, 3;
SELECT sluice.sync_stop('s');
SELECT sluice.sync_drop('s');
