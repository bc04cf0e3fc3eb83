
-- Servers that took the place of a stream's source, found to go on with its history.

CREATE TABLE sluice.source_change (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    stream_id text COLLATE "C" NOT NULL
        REFERENCES sluice.stream ON DELETE CASCADE,
    old_source text NOT NULL,
    new_source text NOT NULL,
    evidence text NOT NULL,
    recorded_at timestamptz NOT NULL DEFAULT pg_catalog.now()
);
CREATE INDEX source_change_stream ON sluice.source_change (stream_id, id);

SELECT pg_catalog.pg_extension_config_dump('sluice.source_change', '');
SELECT pg_catalog.pg_extension_config_dump('sluice.source_change_id_seq', '');
