-- The tables of a source that a bridge reads, as it replays them from the statements of the log: kept with
-- the position and given back when the bridge is started again.  Columns are named in
-- src/pgext/feed_layout.c only.

CREATE TABLE sluice.source_layout (
    stream_id text COLLATE "C" NOT NULL
        REFERENCES sluice.stream ON DELETE CASCADE,
    relid oid NOT NULL,                -- the table's number, never used again
    schema_name text COLLATE "C" NOT NULL,     -- on the source, when it was made
    table_name text COLLATE "C" NOT NULL,
    layout text NOT NULL,              -- in the bridge's own words
    lsn pg_lsn,                        -- of the statement that made it
    recorded_at timestamptz NOT NULL DEFAULT pg_catalog.now(),
    PRIMARY KEY (stream_id, relid)
);

SELECT pg_catalog.pg_extension_config_dump('sluice.source_layout', '');

