
-- What the session that feeds a stream warns of, as it last said.  Goes with that session.

CREATE TABLE sluice.source_warning (
    stream_id text COLLATE "C" NOT NULL
        REFERENCES sluice.stream ON DELETE CASCADE,
    name text COLLATE "C" NOT NULL,
    urgent boolean NOT NULL,           -- what stops the stream unless somebody does something
    message text NOT NULL,
    hint text,
    since timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    PRIMARY KEY (stream_id, name)
);

SELECT pg_catalog.pg_extension_config_dump('sluice.source_warning', '');
