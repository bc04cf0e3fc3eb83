-- Shorthands for feeding batches; included by the suites of the apply engine.
CREATE EXTENSION sluice;
CREATE SCHEMA t;
CREATE SEQUENCE t.clock;

-- A table's shape as a source would send it: the target's own columns but the
-- generated ones, its primary key (or all columns under FULL) as identity.
CREATE FUNCTION t.shape(tab regclass, rel int = 1, more jsonb = '{}')
RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object('kind', 'shape', 'wireid', rel, 'relid', 1000 + rel,
        'schema', n.nspname, 'name', c.relname, 'relkind', c.relkind,
        'replident', c.relreplident, 'cols', (
            SELECT jsonb_agg(jsonb_build_object('name', a.attname, 'attnum', a.attnum,
                'type', format_type(a.atttypid, a.atttypmod), 'not_null', a.attnotnull,
                'primary', coalesce(a.attnum = ANY (i.indkey), false),
                'key', c.relreplident = 'f' OR coalesce(a.attnum = ANY (k.indkey), false))
                ORDER BY a.attnum)
            FROM pg_attribute a
            WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
              AND a.attgenerated = '')) || more
    FROM pg_class c
    JOIN pg_namespace n ON n.oid = c.relnamespace
    LEFT JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary
    LEFT JOIN pg_index k ON k.indrelid = c.oid AND
        CASE c.relreplident WHEN 'i' THEN k.indisreplident ELSE k.indisprimary END
    WHERE c.oid = tab
$$;

-- '~' stands for an unchanged out-of-line value.
CREATE FUNCTION t.cells(v text[]) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce(jsonb_agg(CASE WHEN x = '~' THEN '{"unchanged": true}'
        ELSE coalesce(to_jsonb(x), 'null') END ORDER BY o), '[]')
    FROM unnest(v) WITH ORDINALITY AS u (x, o)
$$;

CREATE FUNCTION t.i(new text[], rel int = 1) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT jsonb_build_object('kind', 'insert', 'rel', rel, 'new', t.cells(new))
$$;
CREATE FUNCTION t.u(new text[], old text[] = NULL, how text = 'key', rel int = 1)
RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT jsonb_build_object('kind', 'update', 'rel', rel, 'new', t.cells(new)) ||
        CASE WHEN old IS NULL THEN '{}'
        ELSE jsonb_build_object('old', jsonb_build_object(how, t.cells(old))) END
$$;
CREATE FUNCTION t.d(old text[], how text = 'key', rel int = 1)
RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT jsonb_build_object('kind', 'delete', 'rel', rel,
        'old', jsonb_build_object(how, t.cells(old)))
$$;

CREATE FUNCTION t.header() RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object('kind', 'header', 'encoding', getdatabaseencoding(),
        'server', 'postgresql', 'server_version', '15.0', 'system_identity', '42')
$$;

-- What a bridge to a MySQL source sends: a batch of these records.
CREATE FUNCTION t.my(VARIADIC records jsonb[]) RETURNS bytea LANGUAGE sql AS $$
    SELECT sluice.feed_encode(to_jsonb('{"kind": "header", "server": "mysql", "server_version": "8.4", "system_identity": "u1"}'::jsonb || records))
$$;

-- An error as lines: SQLSTATE and message, the detail, the hint.
CREATE FUNCTION t.error_text(state text, message text, detail text, hint text)
RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT concat_ws(E'\n', state || ' ' || message,
        '| ' || replace(nullif(detail, ''), E'\n', E'\n| '),
        '> ' || replace(nullif(hint, ''), E'\n', E'\n> '))
$$;

CREATE FUNCTION t.lsn(n bigint) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT ('0/0'::pg_lsn + n)::text
$$;

-- A batch of one transaction with these records; every call is 256 bytes on.
CREATE FUNCTION t.batch(VARIADIC records jsonb[]) RETURNS bytea LANGUAGE plpgsql AS $$
DECLARE
    n bigint := 256 * nextval('t.clock');
BEGIN
    RETURN sluice.feed_encode(jsonb_build_array(t.header(),
        jsonb_build_object('kind', 'begin', 'lsn', t.lsn(n), 'xid', 7,
            'time', '2026-01-01 00:00:00+00')) || to_jsonb(records) ||
        jsonb_build_object('kind', 'commit', 'lsn', t.lsn(n), 'end', t.lsn(n + 16),
            'time', '2026-01-01 00:00:00+00'));
END $$;

CREATE VIEW t.state AS SELECT stream_id, state, marker, "position" FROM sluice.health;
CREATE VIEW t.refusal AS SELECT marker, schema_name AS schema, table_name AS table,
    "position", refusal_text, count FROM sluice.refusals;
CREATE VIEW t.conflict AS SELECT table_name AS table, kind, count, last_key
    FROM sluice.conflicts ORDER BY 1, 2;
-- Feed one batch as a session of its own would; what is refused is recorded,
-- and the stream is started again.  The answer is the outcome.
CREATE FUNCTION t.try(batch bytea) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    tok text;
    out text;
    detail text;
    hint text;
BEGIN
    SELECT token INTO tok FROM sluice.feed_open('s', 3);
    BEGIN
        out := 'applied' || coalesce(nullif(': ' || (
            SELECT string_agg(d ->> 'decision', ', ')
            FROM jsonb_array_elements(sluice.feed(tok, batch) -> 'decisions') d), ': '), '');
    EXCEPTION WHEN OTHERS THEN
        GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
        out := t.error_text(sqlstate, sqlerrm, detail, hint);
    END;
    PERFORM sluice.feed_close(tok);
    IF out NOT LIKE 'applied%' THEN
        PERFORM sluice.sync_start('s');
    END IF;
    RETURN out;
END $$;

-- A session that has gone lets go of its stream a moment later.
CREATE PROCEDURE t.wait_until_free() LANGUAGE plpgsql AS $$
DECLARE
    deadline timestamptz := pg_catalog.clock_timestamp() + '60 s';
BEGIN
    WHILE EXISTS (SELECT FROM pg_catalog.pg_locks
                  WHERE locktype = 'object' AND classid = 'sluice.stream'::regclass
                    AND pid <> pg_catalog.pg_backend_pid()) LOOP
        IF pg_catalog.clock_timestamp() > deadline THEN
            RAISE EXCEPTION 'the stream is still held';
        END IF;
        PERFORM pg_catalog.pg_sleep(0.01);
    END LOOP;
END $$;
