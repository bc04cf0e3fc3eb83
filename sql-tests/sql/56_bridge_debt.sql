-- Values that a change of a MySQL source owes to rows: feed_debts() and feed_debt().
\set ECHO none
\getenv dir PG_ABS_SRCDIR
\set lib :dir '/lib/feed.sql'
\i :lib
\set lib :dir '/lib/mysql.sql'
\i :lib
-- Rows as of feed_copy, all values as text; a cursor of texts, and its members.
CREATE FUNCTION t.bytes(n int) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$ SELECT int4send(n) $$;
CREATE FUNCTION t.values(v text[]) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
    SELECT int2send(cardinality(v)::int2) || string_agg(
        CASE WHEN x IS NULL THEN '\xffffffff'::bytea ELSE t.bytes(octet_length(x)) || convert_to(x, getdatabaseencoding()) END, '' ORDER BY o)
    FROM unnest(v) WITH ORDINALITY AS u (x, o)
$$;
CREATE FUNCTION t.page(cursor text, VARIADIC rows text[] = '{}') RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
    SELECT '\x00'::bytea || coalesce(t.bytes(octet_length(cursor)) || convert_to(cursor, getdatabaseencoding()), '\xffffffff')
        || coalesce(string_agg(t.values(r::text[]), '' ORDER BY o), '') FROM unnest(rows) WITH ORDINALITY AS u (r, o)
$$;
-- What a call comes to, in the caller's transaction.
CREATE FUNCTION t.call(tok text, debt jsonb, batch bytea = NULL) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    out text;
    detail text;
    hint text;
BEGIN
    RETURN sluice.feed_debt(tok, debt, batch);
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
    RETURN t.error_text(sqlstate, sqlerrm, detail, hint);
END $$;
-- The same in a session of its own; what is refused is recorded, and the stream is started again.
CREATE FUNCTION t.bad(debt jsonb, batch bytea) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    tok text;
    out text;
BEGIN
    SELECT token INTO tok FROM sluice.feed_open('s', 4);
    out := t.call(tok, debt, batch);
    PERFORM sluice.feed_close(tok, 'failed');
    IF (SELECT state FROM sluice.health) = 'refused' THEN
        PERFORM sluice.sync_start('s');
    END IF;
    RETURN out;
END $$;
CREATE FUNCTION t.form(id bigint, n int, more jsonb = '{}') RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT jsonb_build_object('id', id, 'key', '[1]'::jsonb, 'forms', (SELECT jsonb_agg('text'::text) FROM generate_series(1, n))) || more
$$;
CREATE FUNCTION t.feed(tok text, VARIADIC records jsonb[]) RETURNS jsonb LANGUAGE sql AS $$
    SELECT sluice.feed(tok, t.my(VARIADIC records)) - '{bytes,position,decisions,transactions}'::text[]
$$;
CREATE FUNCTION t.change(tok text, cols jsonb, statement text) RETURNS jsonb LANGUAGE sql AS $$
    SELECT t.feed(tok, VARIADIC ARRAY(SELECT jsonb_array_elements(t.group(n, jsonb_build_array(t.shape('t', 7, cols),
        t.layout('t', 7, n, statement)))))) FROM t.next() n
$$;
CREATE FUNCTION t.beat(tok text, n bigint) RETURNS jsonb LANGUAGE sql AS $$
    SELECT t.feed(tok, jsonb_build_object('kind', 'heartbeat', 'lsn', t.lsn(n), 'position', '{}'))
$$;
CREATE VIEW t.debt AS SELECT id, pass, cursor_key, rows_done, rows_filled, until_lsn, again FROM sluice.debt ORDER BY id;
\set ECHO all
\set VERBOSITY default
SET client_min_messages = error;
CREATE TABLE land.t (id int PRIMARY KEY, a int);
SELECT state FROM sluice.sync_start('s', 'my', target_schema => 'land');
\set A t.c('''a''', 2, '''int''', '''int''')
SELECT t.begin('t', 7, t.cols(t.id(), :A), t.i('{1,10}', 7), t.i('{2,20}', 7), t.i('{3,30}', 7), t.i('{4,40}', 7));

-- nothing is owed
SELECT token AS tok FROM sluice.feed_open('s', 4) \gset
SELECT t.beat(:'tok', 500);
SELECT sluice.feed_debts(:'tok');
SELECT t.call(:'tok', t.form(1, 2), NULL);
SELECT t.call(:'tok', '{"idd": 1}');
SELECT t.call('x', '{"id": 1}');

-- a column is added: its values are owed, and come by key in pages
\set B t.c('''b''', 3, '''text''', '''text''', '''nn''', '''''''d''''''')
SELECT t.change(:'tok', t.cols(t.id(), :A, :B), 'ALTER TABLE t ADD b TEXT NOT NULL');
SELECT jsonb_pretty(sluice.feed_debts(:'tok'));
SELECT id AS debt FROM sluice.debt \gset
SELECT t.call(:'tok', t.form(:debt, 2, '{"rows": 40}'), t.page('["2"]', '{1,one}', '{2,two}'));
SELECT * FROM t.debt;
SELECT phase, rows_done, rows_total FROM sluice.progress;
SELECT * FROM land.t ORDER BY id;
-- as told, but for the cursor
SELECT d -> 'cursor', d -> 'key', d -> 'rows' FROM jsonb_array_elements(sluice.feed_debts(:'tok') -> 'debts') d;
-- rows and cursor are one transaction's
BEGIN;
SELECT t.call(:'tok', t.form(:debt, 2), t.page('["3"]', '{3,three}'));
ROLLBACK;
SELECT cursor_key FROM t.debt;
SELECT b FROM land.t WHERE id = 3;
-- what is not as it should be: nothing of it is written
SELECT sluice.feed_close(:'tok');
SELECT t.bad(t.form(:debt, 3), t.page('["3"]', '{3,three}'));
SELECT t.bad(t.form(:debt, 2), t.page('["3"]', '{3,three,3}'));
SELECT t.bad(t.form(:debt, 2), t.page('3', '{3,three}'));
SELECT t.bad(t.form(:debt, 2, '{"key": [1, 2]}'), t.page('["3"]', '{3,three}'));
SELECT t.bad(t.form(:debt, 2, '{"forms": ["text", "words"]}'), t.page('["3"]', '{3,three}'));
SELECT t.bad(t.form(:debt, 2), '\x01');
SELECT t.bad(t.form(:debt + 1, 2), t.page('["3"]', '{3,three}'));
SELECT * FROM t.debt;
SELECT b FROM land.t WHERE id = 3;
SELECT token AS tok FROM sluice.feed_open('s', 4) \gset
-- a row that is not here is passed over; the rest, in binary: NOT NULL follows
SELECT t.call(:'tok', t.form(:debt, 2, '{"forms": ["binary", "text"]}'), t.page('["9"]') || int2send(2::int2) || t.bytes(4) || t.bytes(3) || t.bytes(1) || 'c');
SELECT t.call(:'tok', t.form(:debt, 2), t.page(NULL, '{8,eight}', '{4,four}'));
SELECT t.call(:'tok', t.form(:debt, 2, '{"last": "0/400"}'));
SELECT * FROM t.debt;
SELECT * FROM t.is('land.t');
SELECT * FROM land.t ORDER BY id;

-- a row without a value that the source deleted waits for the stream
\set C t.c('''c''', 4, '''int''', '''int''', '''nn''')
SELECT t.change(:'tok', t.cols(t.id(), :A, :B, :C), 'ALTER TABLE t ADD c INT NOT NULL');
SELECT id AS debt FROM sluice.debt \gset
SELECT t.call(:'tok', t.form(:debt, 2, '{"last": "0/800"}'), t.page('["3"]', '{1,1}', '{2,2}', '{3,3}'));
SELECT * FROM t.debt;
SELECT t.beat(:'tok', 1025);
SELECT sluice.feed_debts(:'tok');
SELECT t.feed(:'tok', VARIADIC ARRAY(SELECT jsonb_array_elements(jsonb_build_array(t.shape('t', 7, t.cols(t.id(), :A, :B, :C))) ||
    t.group(7, jsonb_build_array(t.d('{4,NULL,NULL,NULL}', 'key', 7))))));
SELECT t.beat(:'tok', 2048);
SELECT sluice.feed_debts(:'tok');
SELECT * FROM t.is('land.t');
SELECT t.beat(:'tok', 2049);
UPDATE t.at SET n = 8;

-- a row that does not fit yet is left, the others are not; it comes in the next pass
ALTER TABLE land.t ADD CHECK (a <> 11);
\set A t.c('''a''', 2, '''smallint''', '''smallint''')
SELECT t.change(:'tok', t.cols(t.id(), :A, :B, :C), 'ALTER TABLE t MODIFY a SMALLINT');
SELECT id AS debt FROM sluice.debt \gset
SELECT t.call(:'tok', t.form(:debt, 2), t.page('["3"]', '{1,100}', '{2,11}', '{3,300}'));
SELECT t.call(:'tok', t.form(:debt, 2, '{"last": "0/B00"}'));
SELECT * FROM t.debt;
SELECT id, a FROM land.t ORDER BY id;
SELECT t.beat(:'tok', 2816);
SELECT d -> 'pass', d -> 'cursor' FROM jsonb_array_elements(sluice.feed_debts(:'tok') -> 'debts') d;
-- two rows that exchange a unique value let go of it first
ALTER TABLE land.t ADD UNIQUE (a);
SELECT t.call(:'tok', t.form(:debt, 2), t.page('["3"]', '{1,300}', '{2,200}', '{3,100}'));
SELECT id, a FROM land.t ORDER BY id;
SELECT t.call(:'tok', t.form(:debt, 2, '{"last": "0/B00"}'));
SELECT d -> 'pass', d -> 'cursor' FROM jsonb_array_elements(sluice.feed_debts(:'tok') -> 'debts') d;
SELECT t.call(:'tok', t.form(:debt, 2), t.page('["3"]', '{1,300}', '{2,200}', '{3,100}'));
SELECT t.call(:'tok', t.form(:debt, 2, '{"last": "0/B00"}'));
SELECT * FROM t.debt;
SELECT id, a FROM land.t ORDER BY id;
UPDATE t.at SET n = 11;

-- the bridge knows that the table changes further on: not before the stream is there, from the beginning
SELECT t.change(:'tok', t.cols(t.id(), :A, :B, t.c('c', 4, 'bigint', 'bigint', 'nn')), 'ALTER TABLE t MODIFY c BIGINT');
SELECT count(*) FROM t.debt;
SELECT t.change(:'tok', t.cols(t.id(), :A, :B, t.c('c', 4, 'text', 'text', 'nn')), 'ALTER TABLE t MODIFY c TEXT');
SELECT id AS debt FROM sluice.debt \gset
SELECT t.call(:'tok', t.form(:debt, 2, '{"wait": "0/F80"}'));
SELECT * FROM t.debt;
SELECT sluice.feed_debts(:'tok');
SELECT t.beat(:'tok', 3968);
SELECT d -> 'pass', d -> 'cursor' FROM jsonb_array_elements(sluice.feed_debts(:'tok') -> 'debts') d;
-- a column that is dropped meanwhile is owed no more
UPDATE t.at SET n = 16;
SELECT t.change(:'tok', t.cols(t.id(), :A, :B), 'ALTER TABLE t DROP c');
SELECT sluice.feed_debts(:'tok');
SELECT t.beat(:'tok', 5000);
UPDATE t.at SET n = 20;

-- values that cannot be read any more refuse, with the repair; acknowledged, they are taken as filled
\set D t.c('''d''', 5, '''int''', '''int''', '''nn''')
SELECT t.change(:'tok', t.cols(t.id(), :A, :B, :D), 'ALTER TABLE t ADD d INT NOT NULL');
SELECT id AS debt FROM sluice.debt \gset
SELECT t.call(:'tok', jsonb_build_object('id', :debt, 'fault', 'the table is gone on the source'));
SELECT sluice.feed_close(:'tok', 'failed');
SELECT state, marker, reason, hint FROM sluice.health;
SELECT fingerprint AS f FROM sluice.health \gset
UPDATE land.t SET d = 7;
SELECT sluice.acknowledge('s', :'f', 'filled by hand');
SELECT state FROM sluice.sync_start('s');
SELECT token AS tok FROM sluice.feed_open('s', 4) \gset
SELECT t.call(:'tok', jsonb_build_object('id', :debt, 'fault', 'the table is gone on the source'));
SELECT * FROM t.debt;
SELECT * FROM t.is('land.t');
-- so does a key that is another one by now
SELECT t.change(:'tok', t.cols(t.id(), :A, :B, :D, t.c('e', 6, 'int', 'int')), 'ALTER TABLE t ADD e INT');
UPDATE sluice.debt_column SET source_attnum = 2 WHERE is_key;
SELECT sluice.feed_debts(:'tok');
SELECT sluice.feed_close(:'tok', 'failed');
SELECT sluice.sync_stop('s');
SELECT sluice.sync_drop('s');
