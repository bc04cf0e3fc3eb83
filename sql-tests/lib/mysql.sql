-- Shorthands for the suites of schema changes from MySQL and MariaDB; after lib/feed.sql.
CREATE SERVER my FOREIGN DATA WRAPPER sluice OPTIONS (driver 'mysql', host 'db1', dbname 'shop');
CREATE USER MAPPING FOR CURRENT_USER SERVER my OPTIONS (user 'u', password 'p');
CREATE SCHEMA land;

-- A column as a bridge describes it: name, number, type here, type there; flags as words: key (primary key), nn,
-- auto; the default's text in "dflt", '?' for one without a translation.
CREATE FUNCTION t.c(name text, attnum int, typ text, src text, flags text = '', dflt text = NULL)
RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT jsonb_build_object('name', name, 'attnum', attnum, 'type', typ, 'source_type', src)
        || CASE WHEN typ LIKE 'land.%' THEN '{"typid": 0}' ELSE '{}' END::jsonb
        || CASE WHEN flags ~ 'key' THEN '{"key": true, "primary": true, "not_null": true}' ELSE '{}' END::jsonb
        || CASE WHEN flags ~ 'nn' THEN '{"not_null": true}' ELSE '{}' END::jsonb
        || CASE WHEN flags ~ 'auto' THEN '{"identity": true}' ELSE '{}' END::jsonb
        || CASE WHEN dflt = '?' THEN '{"default": true}'
           WHEN dflt IS NOT NULL THEN jsonb_build_object('default', dflt) ELSE '{}' END::jsonb
$$;
CREATE FUNCTION t.id() RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$ SELECT t.c('id', 1, 'int', 'int', 'key') $$;

-- Where the stream is: transaction n of file 1 begins at 256 n and ends at 256 n + 128.
CREATE TABLE t.at (n bigint);
INSERT INTO t.at VALUES (0);
CREATE FUNCTION t.group(n bigint, records jsonb) RETURNS jsonb LANGUAGE sql AS $$
    SELECT jsonb_build_array(jsonb_build_object('kind', 'begin', 'lsn', t.lsn(256 * n))) || records ||
        jsonb_build_object('kind', 'commit', 'lsn', t.lsn(256 * n), 'end', t.lsn(256 * n + 128),
            'position', jsonb_build_object('file', 'bin.000001', 'pos', 256 * n + 128)::text)
$$;
CREATE FUNCTION t.shape(tab text, relid int, cols jsonb) RETURNS jsonb LANGUAGE sql AS $$
    SELECT jsonb_build_object('kind', 'shape', 'wireid', relid, 'relid', relid, 'schema', 'shop', 'name', tab,
        'relkind', 'r', 'replident', CASE WHEN cols::text ~ '"key": true' THEN 'd' ELSE 'f' END,
        'natts', (SELECT max((c ->> 'attnum')::int) FROM jsonb_array_elements(cols) c), 'cols', cols)
$$;
CREATE FUNCTION t.layout(tab text, relid int, n bigint, statement text = NULL, door jsonb = NULL)
RETURNS jsonb LANGUAGE sql AS $$
    SELECT jsonb_build_object('kind', 'layout', 'wireid', relid, 'relid', relid, 'schema', 'shop', 'name', tab,
        'layout', 'layout ' || n, 'lsn', t.lsn(256 * n))
        || CASE WHEN statement IS NULL THEN '{}' ELSE jsonb_build_object('statement', statement) END
        || CASE WHEN door IS NULL THEN '{}' ELSE jsonb_build_object('door', door::text) END
$$;

-- Feed records as a session of their own would; refused ones are recorded and, with again, the stream is started
-- anew, where nothing is to be acknowledged.  A debt is struck off: nobody reads a source here.
CREATE FUNCTION t.send(records jsonb, again boolean = true) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    tok text;
    answer jsonb;
    out text;
    detail text;
    hint text;
BEGIN
    SELECT token INTO tok FROM sluice.feed_open('s', 4);
    BEGIN
        answer := sluice.feed(tok, t.my(VARIADIC ARRAY(SELECT jsonb_array_elements(records))));
        out := 'applied' || coalesce(': ' || nullif((SELECT string_agg(
            concat_ws(' ', d ->> 'decision', d ->> 'ddl', d ->> 'warning'), E'\n  ')
            FROM jsonb_array_elements(answer -> 'decisions') d), ''), '');
        SELECT out || coalesce(E'\nowed: ' || string_agg(c.column_name || CASE WHEN c.set_not_null THEN ' (NOT NULL)' ELSE '' END, ', '
            ORDER BY c.n), '') INTO out FROM sluice.debt d JOIN sluice.debt_column c ON c.debt_id = d.id WHERE NOT c.is_key;
        DELETE FROM sluice.debt;
    EXCEPTION WHEN OTHERS THEN
        GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
        out := t.error_text(sqlstate, sqlerrm, detail, hint);
    END;
    PERFORM sluice.feed_close(tok);
    IF out NOT LIKE 'applied%' AND out NOT LIKE 'SL210%' AND again THEN
        PERFORM sluice.sync_start('s');
    END IF;
    RETURN out;
END $$;
CREATE FUNCTION t.ack() RETURNS text LANGUAGE sql AS $$
    SELECT sluice.acknowledge('s', fingerprint, 'test') FROM sluice.health;
    SELECT state FROM sluice.sync_start('s');
$$;
CREATE FUNCTION t.next() RETURNS bigint LANGUAGE sql AS $$ UPDATE t.at SET n = n + 1 RETURNING n $$;

-- One statement of the source: the table's columns behind it, the list of its other objects, rows that follow.  The
-- stream knows the table from before it, as one that runs does.
CREATE TABLE t.last (relid int PRIMARY KEY, shape jsonb);
CREATE FUNCTION t.keep(relid int, shape jsonb) RETURNS void LANGUAGE sql AS $$
    INSERT INTO t.last VALUES (relid, shape) ON CONFLICT ON CONSTRAINT last_pkey DO UPDATE SET shape = EXCLUDED.shape
$$;
CREATE FUNCTION t.ddl(tab text, relid int, cols jsonb, statement text, door jsonb = NULL, VARIADIC rows jsonb[] = '{}')
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    n bigint := t.next();
    out text;
BEGIN
    out := t.send(coalesce((SELECT jsonb_build_array(l.shape) FROM t.last l WHERE l.relid = ddl.relid), '[]') ||
        t.group(n, jsonb_build_array(t.shape(tab, relid, cols), t.layout(tab, relid, n, statement, door))));
    IF out LIKE 'applied%' THEN
        PERFORM t.keep(relid, t.shape(tab, relid, cols));
    ELSE                       -- started anew, it has not met the table
        DELETE FROM t.last l WHERE l.relid = ddl.relid;
    END IF;
    IF rows <> '{}' AND out LIKE 'applied%' THEN
        out := out || E'\nrows ' || t.send(jsonb_build_array(t.shape(tab, relid, cols)) || t.group(t.next(), to_jsonb(rows)));
    END IF;
    RETURN out;
END $$;
CREATE FUNCTION t.rows(tab text, relid int, cols jsonb, VARIADIC rows jsonb[]) RETURNS text LANGUAGE sql AS $$
    SELECT t.send(jsonb_build_array(t.shape(tab, relid, cols)) || t.group(t.next(), to_jsonb(rows)))
$$;
CREATE FUNCTION t.cols(VARIADIC cols jsonb[]) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$ SELECT to_jsonb(cols) $$;

-- A table that has come with its first layout, and rows.
CREATE FUNCTION t.begin(tab text, relid int, cols jsonb, VARIADIC rows jsonb[] = '{}') RETURNS text LANGUAGE sql AS $$
    SELECT t.keep(relid, t.shape(tab, relid, cols));
    SELECT t.send(jsonb_build_array(t.shape(tab, relid, cols), t.layout(tab, relid, n)) || t.group(n, to_jsonb(rows)))
    FROM t.next() n
$$;
CREATE FUNCTION t.is(tab regclass) RETURNS SETOF text LANGUAGE sql AS $$
    SELECT concat_ws(' ', a.attname, format_type(a.atttypid, a.atttypmod), CASE WHEN a.attnotnull THEN 'NOT NULL' END,
        'DEFAULT ' || pg_get_expr(d.adbin, d.adrelid))
    FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
    WHERE a.attrelid = tab AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
$$;
