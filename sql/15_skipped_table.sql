
-- Tables of the source that are in scope and came after the copy: not part of
-- the stream (src/pgext/skipped.c).

CREATE TABLE sluice.skipped_table (
    stream_id text COLLATE "C" NOT NULL
        REFERENCES sluice.stream ON DELETE CASCADE,
    source_id oid NOT NULL,
    schema_name text COLLATE "C" NOT NULL,
    table_name text COLLATE "C" NOT NULL,
    seen_at timestamptz NOT NULL DEFAULT pg_catalog.now(),
    PRIMARY KEY (stream_id, source_id)
);

SELECT pg_catalog.pg_extension_config_dump('sluice.skipped_table', '');
