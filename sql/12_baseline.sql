-- What a table on the source had of what its change stream does not carry,
-- when it was last looked at.  Columns are named in src/pgext/baseline.c only.

CREATE TABLE sluice.baseline (
    stream_id text COLLATE "C" NOT NULL,
    schema_name text COLLATE "C" NOT NULL,
    table_name text COLLATE "C" NOT NULL,
    signature text NOT NULL,           -- of all objects; '' = compare each
    objects jsonb NOT NULL,            -- kind, id, name, keys, raw, def
    has_text boolean NOT NULL,         -- def is filled in
    lsn pg_lsn,
    recorded_at timestamptz NOT NULL,
    PRIMARY KEY (stream_id, schema_name, table_name),
    FOREIGN KEY (stream_id, schema_name, table_name)
        REFERENCES sluice.stream_table ON UPDATE CASCADE ON DELETE CASCADE
);

SELECT pg_catalog.pg_extension_config_dump('sluice.baseline', '');
