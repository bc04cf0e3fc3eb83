-- What a changed type does to stored values: verdicts on pairs of types, and
-- that the class is closed: every conversion that ALTER TYPE does without USING
-- has one, and none says that values stay where the server rewrites the table.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS sluice;
CREATE FUNCTION verdict_of(from_type oid, from_mod int, to_type oid, to_mod int, kept bool) RETURNS text
    AS '$libdir/sluice', 'sluice_type_change' LANGUAGE C STABLE;

-- Two columns of one table give oids and modifiers.
CREATE FUNCTION verdict(a text, b text, kept bool = true) RETURNS text
    LANGUAGE plpgsql AS $$
DECLARE
    answer text;
BEGIN
    EXECUTE format('CREATE TABLE pair (a %s, b %s)', a, b);
    SELECT verdict_of(f.atttypid, f.atttypmod, t.atttypid, t.atttypmod, kept) INTO answer
    FROM pg_attribute f, pg_attribute t
    WHERE f.attrelid = 'pair'::regclass AND f.attname = 'a' AND t.attrelid = 'pair'::regclass AND t.attname = 'b';
    DROP TABLE pair;
    RETURN answer;
END $$;

CREATE TYPE mood AS ENUM ('sad', 'ok');
CREATE TYPE zoned AS (n int, at timestamptz[]);
CREATE TYPE plain AS (n int, at timestamp);
CREATE DOMAIN day_zoned AS timestamptz;
CREATE DOMAIN free AS text;
CREATE DOMAIN bound AS text CHECK (value <> '');
CREATE DOMAIN zoned_list AS day_zoned[];

SELECT a, b, verdict(a, b) AS kept, verdict(a, b, false) AS "not known"
FROM (VALUES
    -- nothing, and what never needs a rewrite
    ('int', 'int'), ('varchar(10)', 'varchar(10)'), ('varchar(10)', 'varchar(20)'), ('varchar(10)', 'varchar'),
    ('varchar(10)', 'text'), ('numeric(10,2)', 'numeric(12,2)'), ('numeric(10,2)', 'numeric'),
    ('varbit(3)', 'varbit(5)'), ('timestamp(3)', 'timestamp(6)'), ('timestamptz(3)', 'timestamptz'),
    ('time(0)', 'time(3)'), ('timetz(0)', 'timetz(3)'), ('text', 'free'), ('free', 'text'), ('cidr', 'inet'),
    ('xml', 'text'), ('oid', 'int4'),
    -- rewritten
    ('int', 'bigint'), ('bigint', 'int'), ('int', 'numeric'), ('numeric(10,2)', 'numeric(10,4)'),
    ('numeric(12,2)', 'numeric(10,2)'), ('numeric', 'numeric(10,2)'), ('varchar(20)', 'varchar(10)'),
    ('text', 'varchar(10)'), ('char(3)', 'char(5)'), ('char(3)', 'text'), ('bit(3)', 'bit(5)'),
    ('real', 'float8'), ('timestamp(6)', 'timestamp(3)'), ('timestamptz', 'timestamptz(3)'),
    ('timestamp', 'date'), ('date', 'timestamp'), ('json', 'jsonb'), ('text', 'bound'), ('inet', 'cidr'),
    ('int', 'text'), ('money', 'text'), ('mood', 'text'), ('int[]', 'bigint[]'), ('varchar(5)[]', 'text[]'),
    ('int4range', 'text'), ('plain', 'text'),
    -- without a rewrite, and another value
    ('regclass', 'oid'), ('oid', 'regclass'),
    -- through the time zone of a session
    ('timestamptz', 'timestamp'), ('timestamp', 'timestamptz'), ('timestamptz(3)', 'text'), ('timestamptz', 'date'),
    ('timestamptz', 'time'), ('timestamptz', 'timetz'), ('date', 'timestamptz'), ('text', 'timestamptz'),
    ('timestamptz', 'bigint'), ('timestamptz[]', 'timestamp[]'), ('timestamp[]', 'timestamptz[]'),
    ('timestamptz[]', 'text'), ('day_zoned', 'timestamp'), ('timestamp', 'day_zoned'), ('zoned_list', 'text[]'),
    ('tstzrange', 'text'), ('tstzrange', 'tsrange'), ('tstzmultirange', 'text'), ('zoned', 'text'), ('text', 'zoned'),
    ('time', 'timetz'), ('time[]', 'timetz[]'), ('text', 'timetz'),
    -- and not
    ('timetz', 'time'), ('timetz[]', 'time[]'), ('timetz', 'text'), ('timestamptz', 'day_zoned'),
    ('day_zoned', 'timestamptz'), ('timestamptz[]', 'timestamptz(3)[]'),
    -- only the modifier shows it
    ('interval', 'interval(3)'), ('interval(3)', 'interval'), ('interval(3)', 'interval(6)'),
    ('interval(6)', 'interval(3)'), ('interval day to second(2)', 'interval day to second(3)'),
    ('interval day to hour', 'interval day to minute'), ('interval day', 'interval'), ('interval', 'interval day'),
    ('interval(3)[]', 'interval(6)[]'), ('numeric(10,2)[]', 'numeric(12,2)[]'), ('varchar(5)[]', 'varchar(9)[]'),
    ('varchar', 'text'), ('text', 'varchar'),
    -- no conversion without USING
    ('text', 'int'), ('int', 'date'), ('bool', 'int'), ('mood', 'int'), ('int', 'int[]')) AS v(a, b);

-- Types that are not here, and modifiers of types that are not built in.
SELECT verdict_of(90001, -1, 90001, -1, true) AS same, verdict_of(90001, -1, 25, -1, true) AS gone,
    verdict_of('mood'::regtype, -1, 'mood'::regtype, 5, true) AS modifier,
    verdict_of('mood[]'::regtype, -1, 'mood[]'::regtype, 5, true) AS of_elements, verdict_of(0, -1, 0, -1, true) AS none;

-- Nothing changed is nothing changed, for every type that a column can have.
SELECT count(*) > 150 AS types, count(*) FILTER (WHERE verdict_of(oid, m, oid, m, k) <> 'same') AS wrong
FROM pg_type, unnest('{-1,0,1,6,14,655366}'::int[]) AS m, unnest('{t,f}'::bool[]) AS k
WHERE typtype <> 'p';

-- Every pair of built-in types (and of some modifiers) that ALTER TYPE converts.
CREATE TABLE kinds AS
SELECT format_type(oid, -1) AS kind FROM pg_type
WHERE typnamespace = 'pg_catalog'::regnamespace AND typtype IN ('b', 'r', 'm')
    AND (typarray <> 0 OR typname IN ('_int4', '_int8', '_text', '_varchar', '_numeric', '_timestamptz', '_timestamp',
        '_timetz', '_time', '_interval')) AND typname !~ '^pg_|^_reg|^_pg'
UNION SELECT unnest('{varchar(5),varchar(9),char(5),char(9),bit(3),varbit(3),varbit(5),"numeric(10,2)","numeric(12,2)",
    timestamp(3),timestamptz(3),time(3),timetz(3),interval(3),interval(5),interval day,"interval day to second(3)",
    varchar(5)[],varchar(9)[],"numeric(10,2)[]","numeric(12,2)[]",interval(3)[]}'::text[]);
ALTER TABLE kinds ADD oid oid, ADD mod int, ADD number serial;
DO $$
BEGIN
    EXECUTE (SELECT 'CREATE TABLE one_of_each (' || string_agg(format('c%s %s', number, kind), ', ') || ')' FROM kinds);
END $$;
UPDATE kinds SET oid = atttypid, mod = atttypmod
FROM pg_attribute WHERE attrelid = 'one_of_each'::regclass AND attname = 'c' || number;
CREATE TABLE judged (a text, b text, kept text, unknown text, altered text);
DO $$
DECLARE
    x kinds;
    y kinds;
    before oid;
    outcome text;
BEGIN
    FOR x IN SELECT * FROM kinds LOOP
        EXECUTE format('CREATE TABLE altered (c %s)', x.kind);
        before := (SELECT relfilenode FROM pg_class WHERE oid = 'altered'::regclass);
        FOR y IN SELECT * FROM kinds LOOP
            BEGIN
                EXECUTE format('ALTER TABLE altered ALTER c TYPE %s', y.kind);
                outcome := CASE (SELECT relfilenode FROM pg_class WHERE oid = 'altered'::regclass)
                    WHEN before THEN 'kept' ELSE 'rewritten' END;
                RAISE EXCEPTION USING errcode = 'ZZ001';
            EXCEPTION
                WHEN datatype_mismatch THEN CONTINUE;
                WHEN sqlstate 'ZZ001' THEN NULL;
            END;
            INSERT INTO judged VALUES (x.kind, y.kind, verdict_of(x.oid, x.mod, y.oid, y.mod, true),
                verdict_of(x.oid, x.mod, y.oid, y.mod, false), outcome);
        END LOOP;
        DROP TABLE altered;
    END LOOP;
END $$;
SELECT count(*) > 500 AS many, count(*) FILTER (WHERE kept = 'refuse unknown') AS without_verdict,
    count(*) FILTER (WHERE kept IN ('same', 'preserving') AND altered = 'rewritten') AS moved_unseen,
    count(*) FILTER (WHERE unknown = 'preserving') AS on_faith,
    count(*) FILTER (WHERE (kept = 'same' OR unknown = 'same') <> (a = b)) AS same,
    count(*) FILTER (WHERE kept LIKE 'refuse%' AND kept <> unknown) AS softened
FROM judged;
-- Those that the server does without a rewrite, and that are not forwarded as such.
SELECT kept, a, b FROM judged WHERE altered = 'kept' AND kept NOT IN ('same', 'preserving')
ORDER BY kept, a COLLATE "C", b COLLATE "C";
-- Nothing that names a type with a zone on one side gets through but these.
SELECT kept, a, b FROM judged
WHERE (a ~ 'with time zone|tstz') <> (b ~ 'with time zone|tstz') AND kept <> 'refuse session'
ORDER BY kept, a COLLATE "C", b COLLATE "C";
