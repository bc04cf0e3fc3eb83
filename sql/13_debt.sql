
-- Values that a forwarded schema change owes to rows that were here before it.
CREATE TABLE sluice.debt (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    stream_id text COLLATE "C" NOT NULL
        REFERENCES sluice.stream ON DELETE CASCADE,
    schema_name text COLLATE "C" NOT NULL,     -- of the source, when it was made
    table_name text COLLATE "C" NOT NULL,
    source_id oid NOT NULL,
    target_relid oid NOT NULL,
    lsn pg_lsn,                        -- of the change
    pass integer NOT NULL DEFAULT 1,
    cursor_key text[],                 -- rows up to this key are done
    cursor_attnums integer[],          -- columns of that key, on the source
    rows_done bigint NOT NULL DEFAULT 0,       -- read in this pass
    rows_filled bigint NOT NULL DEFAULT 0,     -- written, in all passes
    rows_total bigint,                 -- as the source estimates
    until_lsn pg_lsn,                  -- copied; settled once this is applied
    again boolean NOT NULL DEFAULT false,      -- … but by one more pass
    made_at timestamptz NOT NULL DEFAULT pg_catalog.now()
);
CREATE INDEX debt_stream ON sluice.debt (stream_id);

-- The columns that are owed, and those of the primary key.
CREATE TABLE sluice.debt_column (
    debt_id bigint NOT NULL REFERENCES sluice.debt ON DELETE CASCADE,
    n integer NOT NULL,
    is_key boolean NOT NULL,
    column_name text COLLATE "C" NOT NULL,     -- of the source, when it was made
    source_attnum integer NOT NULL,    -- 0 = not known
    source_typid oid NOT NULL,
    source_typmod integer NOT NULL,
    target_attnum smallint NOT NULL,
    set_not_null boolean DEFAULT false,        -- NULL = if the source has it so when it is paid
    then_ddl text,
    PRIMARY KEY (debt_id, n)
);

SELECT pg_catalog.pg_extension_config_dump('sluice.debt', '');
SELECT pg_catalog.pg_extension_config_dump('sluice.debt_column', '');
SELECT pg_catalog.pg_extension_config_dump('sluice.debt_id_seq', '');
