-- Every cell of what a table's shape can change to, under the mode in :mode.
-- Included by the suites of the judge; a cell is one table of its own.

-- A column is "name type attnum", then any of: nn (NOT NULL), identity,
-- partial, c=collation, d=default (to the end).
CREATE FUNCTION t.col(c text, key boolean) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT jsonb_strip_nulls(jsonb_build_object('name', w[1], 'type', w[2],
        'attnum', nullif(w[3], '')::int, 'key', key, 'primary', key,
        'not_null', key OR 'nn' = ANY (w), 'identity', 'identity' = ANY (w),
        'partial', 'partial' = ANY (w), 'collation', substring(c FROM ' c=(\S+)'),
        'default', substring(c FROM ' d=(.*)$')))
    FROM string_to_array(c, ' ') AS w
$$;
CREATE FUNCTION t.shape_of(rel int, cols text[], more jsonb = '{}') RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT jsonb_build_object('kind', 'shape', 'wireid', rel, 'relid', 7000 + rel,
        'schema', 'public', 'name', 'c' || rel, 'relkind', 'r', 'replident', 'd',
        'cols', (SELECT jsonb_agg(t.col(c, o = 1 AND NOT more ? 'keyless') ORDER BY o)
                 FROM unnest(cols) WITH ORDINALITY u (c, o))) || (more - 'keyless')
$$;

-- What became of it: the decisions with their statements, or the refusal.
CREATE FUNCTION t.feed(tok text, batch bytea) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    detail text;
    hint text;
BEGIN
    RETURN (SELECT coalesce(string_agg(concat_ws(E'\n! ', concat_ws(': ', d ->> 'decision', d ->> 'ddl'), replace(d ->> 'warning', E'\n', E'\n! ')), E'\n' ORDER BY o), 'same')
            FROM jsonb_array_elements(sluice.feed(tok, batch) -> 'decisions') WITH ORDINALITY AS u (d, o));
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
    RETURN t.error_text(sqlstate, sqlerrm, detail, hint);
END $$;

-- The target's table, as lines.
CREATE FUNCTION t.here(tab regclass) RETURNS text LANGUAGE sql AS $$
    SELECT '= ' || tab || ' (' || string_agg(concat_ws(' ', quote_ident(attname),
        format_type(atttypid, atttypmod), CASE WHEN attnotnull THEN 'not null' END,
        'default ' || pg_get_expr(adbin, adrelid)), ', ' ORDER BY attnum) || ')'
    FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
    WHERE attrelid = tab AND attnum > 0 AND NOT attisdropped
$$;
-- What it owes, and leave the next cell without debts.
CREATE FUNCTION t.owed() RETURNS text LANGUAGE sql AS $$
    WITH gone AS (DELETE FROM sluice.debt RETURNING id)
    SELECT '+ ' || string_agg(concat_ws(' ', 'copies', quote_ident(column_name),
        CASE WHEN set_not_null THEN 'then NOT NULL' END, 'then ' || then_ddl), E'\n+ ' ORDER BY n)
    FROM sluice.debt_column WHERE NOT is_key AND debt_id IN (SELECT id FROM gone)
$$;

SET client_min_messages = error;
CREATE SEQUENCE t.rel;
-- A row under shape "before", then one under "after", in one session; with
-- resume, in two, so that the second is the table's first after a start.
CREATE FUNCTION t.cell(before text[], after text[], row_after text[] = NULL,
    row_before text[] = NULL, here text = NULL, more jsonb = '{}', keyless boolean = false,
    resume boolean = false) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    rel int := nextval('t.rel');
    tab text := 'c' || rel;
    key jsonb := CASE WHEN keyless THEN '{"keyless": true, "replident": "f"}' ELSE '{}' END;
    tok text;
    said text;
BEGIN
    EXECUTE format('CREATE TABLE public.%I (%s)', tab, (
        SELECT string_agg(format('%I %s%s%s%s', w[1], w[2],
            coalesce(' COLLATE ' || substring(c FROM ' c=(\S+)'), ''),
            CASE WHEN o = 1 AND NOT keyless THEN ' PRIMARY KEY' WHEN 'nn' = ANY (w) THEN ' NOT NULL' ELSE '' END,
            coalesce(' DEFAULT ' || substring(c FROM ' d=(.*)$'), '')), ', ' ORDER BY o)
        FROM unnest(before) WITH ORDINALITY u (c, o), string_to_array(c, ' ') AS w));
    SELECT token INTO tok FROM sluice.feed_open('s', 3);
    said := t.feed(tok, t.batch(t.shape_of(rel, before, key),
        t.i(coalesce(row_before, '{1}' || array_fill(NULL::text, ARRAY[cardinality(before) - 1])), rel)));
    IF said <> 'same' AND said NOT LIKE 'warned%' THEN
        RAISE EXCEPTION 'the first shape: %', said;
    END IF;
    IF resume THEN
        PERFORM sluice.feed_close(tok);
        SELECT token INTO tok FROM sluice.feed_open('s', 3);
    END IF;
    IF here IS NOT NULL THEN
        EXECUTE format(here, tab);
    END IF;
    said := t.feed(tok, t.batch(t.shape_of(rel, after, key || more),
        t.i(coalesce(row_after, '{2}' || array_fill(NULL::text, ARRAY[cardinality(after) - 1])), rel)));
    PERFORM sluice.feed_close(tok);
    IF said LIKE 'SL%' THEN
        PERFORM sluice.sync_start('s');
    END IF;
    RETURN concat_ws(E'\n', said, t.owed(), t.here((
        SELECT target_relid FROM sluice.tables WHERE stream_id = 's' ORDER BY target_relid DESC LIMIT 1)));
END $$;

SELECT stream_id FROM sluice.sync_start('s', schema_changes => :'mode', options => '{"feed": true}');
