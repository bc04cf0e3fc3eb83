-- Change records as JSON and in their wire form, in the backend.  That the
-- bytes are right is tested by tests/unit/wire_test.c; here it is the same code
-- as the server has it, and the spelling as JSON.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS sluice;
SET timezone = 'America/New_York';
SET datestyle = 'SQL, DMY';

-- One of each kind, with everything that can be said.
CREATE TABLE batch (records jsonb);
INSERT INTO batch VALUES ('[
 {"kind": "header", "server_version": "15.20", "system_identity": "7123"},
 {"kind": "shape", "wireid": 7, "relid": 16400, "schema": "shop", "name": "orders", "lsn": "1/A0",
  "evidence": "now", "replident": "i", "relkind": "p", "natts": 9, "cols": [
  {"name": "id", "attnum": 1, "type": "bigint", "key": true, "not_null": true, "identity": true, "primary": true},
  {"name": "v", "attnum": 3, "type": "varchar(10)", "collation": "pg_catalog.\"C\"", "default": true},
  {"name": "g", "type": "numeric", "typmod": 655366, "generated": true},
  {"name": "odd", "typid": 99999, "type": "mood", "virtual": true},
  {"name": "d", "type": "int", "default": "(1 + 2)"},
  {"name": "p", "type": "int", "partial": true}]},
 {"kind": "type", "typid": 99999, "schema": "shop", "name": "mood"},
 {"kind": "begin", "lsn": "1/B0", "time": "2026-02-03 04:05:06.789+00", "xid": 55},
 {"kind": "origin", "lsn": "0/5", "name": "elsewhere"},
 {"kind": "insert", "rel": 7, "new": ["1", "a", null, ""]},
 {"kind": "update", "rel": 7, "old": {"key": ["1", null, null, null]},
  "new": ["2", {"unchanged": true}, {"binary": "\\x00ff"}, {"null": true}]},
 {"kind": "update", "rel": 7, "old": {"full": ["2", "a", null, ""]}, "new": [2, -1.50, 1e2, "x"]},
 {"kind": "update", "rel": 7, "new": []},
 {"kind": "delete", "rel": 7, "old": {"full": ["2", "a", null, ""]}},
 {"kind": "truncate", "rels": [7, 4294967295], "cascade": true, "restart_seqs": true},
 {"kind": "ddl", "prefix": "shop", "data": "ALTER TABLE orders ADD x int"},
 {"kind": "message", "transactional": false, "lsn": "0/7", "prefix": "p", "data": {"binary": "\\x00ff"}},
 {"kind": "message", "data": "text"},
 {"kind": "commit", "lsn": "1/B0", "end": "1/C0", "time": "infinity", "position": "gtid:1-5"},
 {"kind": "gone", "relid": 16400},
 {"kind": "layout", "wireid": 7, "relid": 3, "schema": "shop", "name": "orders", "layout": "{\"n\": 1}",
  "door": "[]", "statement": "ALTER TABLE orders ADD x int", "lsn": "1/B0"},
 {"kind": "heartbeat", "lsn": "FFFFFFFF/FFFFFFFF", "time": "1999-12-31 23:59:59.999999+00", "position": "x"}]');
SELECT r - 'cols' AS record
FROM batch, jsonb_array_elements(sluice.feed_decode(sluice.feed_encode(records))) AS r;
SELECT c AS column
FROM batch, jsonb_array_elements(sluice.feed_decode(sluice.feed_encode(records))) AS r,
    jsonb_array_elements(r -> 'cols') AS c;
-- What was decoded is encoded to the same bytes.
SELECT sluice.feed_encode(sluice.feed_decode(b)) = b AS same, length(b)
FROM (SELECT sluice.feed_encode(records) FROM batch) AS e(b);

-- What need not be said.
SELECT r AS record
FROM jsonb_array_elements(sluice.feed_decode(sluice.feed_encode('[
 {"kind": "header"},
 {"kind": "shape", "name": "t", "cols": [{"name": "a", "key": true}, {"name": "b", "type": "int"},
  {"name": "c", "typid": 1184}, {"name": "d", "typid": 0}]},
 {"kind": "shape", "wireid": 2, "name": "bare", "relkind": "", "replident": ""},
 {"kind": "begin"}, {"kind": "insert", "new": ["x", 1]}, {"kind": "delete", "old": {"key": ["x", null]}},
 {"kind": "ddl"}, {"kind": "message"}, {"kind": "origin"}, {"kind": "gone"}, {"kind": "heartbeat"},
 {"kind": "layout", "name": "t"}, {"kind": "commit", "lsn": "0/10"}]'))) AS r;
SELECT sluice.feed_encode(NULL) IS NULL, sluice.feed_decode(NULL) IS NULL;

-- The form of the version before, which has no layouts.
SELECT r AS record
FROM jsonb_array_elements(sluice.feed_decode(sluice.feed_encode('[{"kind": "header", "version": 3},
 {"kind": "shape", "name": "t", "cols": [{"name": "a", "default": true}, {"name": "b", "default": false}]}]'))) AS r;

-- Every fault of a batch as JSON names what is wrong.
CREATE FUNCTION fault_of(record text, head text = '{"kind": "header"},') RETURNS text
    LANGUAGE plpgsql AS $$
DECLARE
    message text;
    hint text;
BEGIN
    PERFORM sluice.feed_encode(('[' || head || record || ']')::jsonb);
    RETURN 'none';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT;
    RETURN sqlstate || ': ' || message || '; ' || hint;
END $$;
SELECT record, fault_of(record) FROM (VALUES
    ('1'), ('[]'), ('null'), ('{}'),
    ('{"kind": 1}'), ('{"kind": ""}'), ('{"kind": "Insert"}'),
    ('{"kind": "insert"}'), ('{"kind": "insert", "new": null}'), ('{"kind": "insert", "new": "x"}'),
    ('{"kind": "insert", "new": ["a"], "old": {"key": []}}'),
    ('{"kind": "insert", "rel": -1, "new": []}'), ('{"kind": "insert", "rel": 4294967296, "new": []}'),
    ('{"kind": "insert", "rel": "1", "new": []}'), ('{"kind": "insert", "rel": 1e30, "new": []}'),
    ('{"kind": "insert", "new": [true]}'), ('{"kind": "insert", "new": [[]]}'),
    ('{"kind": "insert", "new": [{}]}'), ('{"kind": "insert", "new": [{"null": false}]}'),
    ('{"kind": "insert", "new": [{"null": true, "unchanged": true}]}'),
    ('{"kind": "insert", "new": [{"binary": "\\xzz"}]}'), ('{"kind": "insert", "new": [{"text": "a"}]}'),
    ('{"kind": "delete"}'), ('{"kind": "delete", "old": []}'), ('{"kind": "delete", "old": {}}'),
    ('{"kind": "delete", "old": {"key": [], "full": []}}'), ('{"kind": "delete", "old": {"new": []}}'),
    ('{"kind": "truncate"}'), ('{"kind": "truncate", "rels": []}'), ('{"kind": "truncate", "rels": ["1"]}'),
    ('{"kind": "truncate", "rels": [1], "cascade": 1}'),
    ('{"kind": "shape", "cols": []}'), ('{"kind": "shape", "name": "t", "cols": [1]}'),
    ('{"kind": "shape", "name": "t", "cols": [{"type": "int"}]}'),
    ('{"kind": "shape", "name": "t", "cols": [{"name": "a", "typ": "int"}]}'),
    ('{"kind": "shape", "name": "t", "cols": [{"name": "a", "attnum": 40000}]}'),
    ('{"kind": "shape", "name": "t", "cols": [{"name": "a", "default": 1}]}'),
    ('{"kind": "shape", "name": "t", "natts": -1}'),
    ('{"kind": "shape", "name": "t", "replident": "x"}'), ('{"kind": "shape", "name": "t", "relkind": "rp"}'),
    ('{"kind": "shape", "name": "t", "evidence": "none"}'),
    ('{"kind": "begin", "lsn": "x"}'), ('{"kind": "begin", "lsn": 5}'), ('{"kind": "begin", "time": "noon?"}'),
    ('{"kind": "header"}')) AS v(record);
SELECT fault_of('{"kind": "layout", "name": "t"}', '{"kind": "header", "version": 3},');
SELECT fault_of('{"kind": "layout"}'), fault_of('{"kind": "layout", "name": "t", "door": []}'), fault_of('{"kind": "layout", "name": "t", "position": "x"}');
SELECT fault_of('', ''), fault_of('{"kind": "begin"}', ''), fault_of('{"kind": "header", "version": 70000}', '');
SELECT sluice.feed_encode('{"kind": "header"}');
SELECT sluice.feed_encode('"header"');

-- Limits of the wire form.
SELECT fault_of(jsonb_build_object('kind', 'insert', 'new',
    (SELECT jsonb_agg(i) FROM generate_series(1, 1665) AS i))::text);
SELECT fault_of(jsonb_build_object('kind', 'type', 'name', repeat('n', 1025))::text);
SELECT fault_of(jsonb_build_object('kind', 'ddl', 'data', repeat('n', 1048577))::text);
SELECT fault_of(jsonb_build_object('kind', 'layout', 'name', 't', 'layout', repeat('n', 16777217))::text);
SELECT fault_of(jsonb_build_object('kind', 'layout', 'name', 't', 'statement', repeat('n', 2001))::text);

-- Bytes that are no batch.
SELECT sluice.feed_decode('');
SELECT sluice.feed_decode('\x7f454c46');
SELECT sluice.feed_decode(sluice.feed_encode('[{"kind": "header"}]') || '\x3f00');
SELECT sluice.feed_decode(sluice.feed_encode('[{"kind": "header", "version": 5}]'));
SELECT sluice.feed_decode(sluice.feed_encode('[{"kind": "header", "encoding": "KLINGON"}]'));

-- Text is verified in the batch's encoding and converted from it.
CREATE FUNCTION cell_of(value bytea, encoding text) RETURNS text
    LANGUAGE plpgsql AS $$
BEGIN
    RETURN sluice.feed_decode(sluice.feed_encode(jsonb_build_array(
        jsonb_build_object('kind', 'header', 'encoding', encoding))) ||
        '\x4905010102'::bytea || set_byte('\x00', 0, length(value)) || value) #>> '{1,new,0}';
EXCEPTION WHEN OTHERS THEN
    RETURN sqlstate;
END $$;
SELECT cell_of('\x61', 'UTF8'), cell_of('\xe9', 'LATIN1') = U&'\00e9' AS converted,
    cell_of('\xe9', 'UTF8') AS invalid, cell_of('\x00', 'UTF8') AS zero, cell_of('\x00', 'SQL_ASCII') AS zero;

-- Cut at any byte, only whole records are read; with any bit turned, the bytes
-- are read or refused, and the server lives.
CREATE FUNCTION outcome_of(b bytea) RETURNS text
    LANGUAGE plpgsql AS $$
DECLARE
    decoded jsonb;
BEGIN
    decoded := sluice.feed_decode(b);
    RETURN 'read ' || jsonb_array_length(decoded);
EXCEPTION WHEN OTHERS THEN
    RETURN sqlstate;
END $$;
SELECT outcome, count(*)
FROM batch, sluice.feed_encode(records) AS b, generate_series(0, length(b)) AS n,
    outcome_of(substr(b, 1, n)) AS outcome
GROUP BY 1 ORDER BY length(outcome), outcome COLLATE "C";
SELECT bit, outcome
FROM batch, sluice.feed_encode(records) AS b, generate_series(0, length(b) * 8 - 1) AS bit,
    outcome_of(set_bit(b, bit, 1 - get_bit(b, bit))) AS outcome
WHERE outcome NOT IN ('read 18', '22P03', '22021', '22008', '42704');
SELECT count(DISTINCT outcome) AS outcomes
FROM batch, sluice.feed_encode(records) AS b, generate_series(0, length(b) * 8 - 1) AS bit,
    outcome_of(set_bit(b, bit, 1 - get_bit(b, bit))) AS outcome;

-- Many records, every width of row and length of value.
WITH many AS (
    SELECT jsonb_build_array('{"kind": "header"}'::jsonb) || jsonb_agg(jsonb_build_object(
        'kind', 'insert', 'rel', i, 'new', coalesce((
            SELECT jsonb_agg(CASE (i + c) % 4 WHEN 0 THEN NULL WHEN 1 THEN '{"unchanged": true}'
                WHEN 2 THEN to_jsonb(repeat(chr(c), i)) ELSE '{"binary": "\\x00"}' END)
            FROM generate_series(1, i % 40) AS c), '[]'))) AS records
    FROM generate_series(1, 600) AS i)
SELECT (sluice.feed_decode(b) #- '{0}') = (records #- '{0}') AS same,
    sluice.feed_encode(sluice.feed_decode(b)) = b AS same_bytes, length(b) > 100000 AS large
FROM many, sluice.feed_encode(records) AS b;
