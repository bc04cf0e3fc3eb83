
-- What the source's types are made of that the stream's tables use, as last
-- judged (src/pgext/type_record.c).

CREATE TABLE sluice.source_type (
    stream_id text COLLATE "C" NOT NULL
        REFERENCES sluice.stream ON DELETE CASCADE,
    source_id oid NOT NULL,
    schema_name text COLLATE "C" NOT NULL,
    type_name text COLLATE "C" NOT NULL,
    kind text NOT NULL CHECK (kind IN ('e', 'c', 'd')),
    target_id oid NOT NULL,
    definition text NOT NULL,          -- of types_pg.c
    PRIMARY KEY (stream_id, source_id)
);

SELECT pg_catalog.pg_extension_config_dump('sluice.source_type', '');
