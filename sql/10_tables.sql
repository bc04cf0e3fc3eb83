-- Control tables.  Code reads and writes them only through src/pgext/stream.c
-- and state.c.  What a user sees are the views of 50_views.sql.

CREATE TABLE sluice.stream (
    stream_id text COLLATE "C" PRIMARY KEY
        CHECK (stream_id ~ '^[a-z][a-z0-9_-]{0,39}$'),
    id integer GENERATED ALWAYS AS IDENTITY UNIQUE,
    owner regrole NOT NULL,
    source_server text,
    driver text NOT NULL,
    should_run boolean NOT NULL DEFAULT true,
    include_tables text[],
    exclude_tables text[],
    target_schema text,
    schema_changes text NOT NULL DEFAULT 'forward'
        CHECK (schema_changes IN ('forward', 'refuse')),
    row_filters jsonb,
    type_overrides jsonb,
    options jsonb NOT NULL DEFAULT '{}',
    slot_name text,
    publication_name text,
    own_publication boolean NOT NULL DEFAULT true,
    source_sysid text,
    source_timeline integer,
    source_dbname text,
    source_publication text,           -- of publication_pg.c, NULL = not known
    target_sysid text NOT NULL,
    target_timeline integer NOT NULL,
    target_database oid NOT NULL,
    target_control oid NOT NULL,
    target_inode bigint,               -- of the data directory's PG_VERSION
    created_at timestamptz NOT NULL DEFAULT pg_catalog.now()
);

-- Written by the stream's worker (or feeder) only.
CREATE TABLE sluice.stream_state (
    stream_id text COLLATE "C" PRIMARY KEY
        REFERENCES sluice.stream ON DELETE CASCADE,
    state text NOT NULL,
    state_since timestamptz NOT NULL DEFAULT pg_catalog.now(),
    marker text,
    sqlstate text,
    reason text,
    hint text,
    fingerprint text,
    last_error_at timestamptz
);

CREATE TABLE sluice.stream_position (
    stream_id text COLLATE "C" PRIMARY KEY
        REFERENCES sluice.stream ON DELETE CASCADE,
    lsn pg_lsn NOT NULL,
    position_text text,
    source_commit_at timestamptz,
    committed_at timestamptz NOT NULL
) WITH (fillfactor = 20);

CREATE TABLE sluice.stream_table (
    stream_id text COLLATE "C" NOT NULL
        REFERENCES sluice.stream ON DELETE CASCADE,
    schema_name text COLLATE "C" NOT NULL,
    table_name text COLLATE "C" NOT NULL,
    source_id oid,
    target_relid oid,
    state text NOT NULL
        CHECK (state IN ('pending', 'copying', 'established', 'dropped', 'abandoned')),
    snapshot_lsn pg_lsn,
    window_lsn pg_lsn,                 -- end of the snapshot's window, NULL = it has none
    rows_copied bigint NOT NULL DEFAULT 0,
    bytes_copied bigint NOT NULL DEFAULT 0,
    added_live boolean NOT NULL DEFAULT false,
    source_leaves text,                -- of leaves_pg.c, NULL = not known
    created boolean NOT NULL DEFAULT false,    -- the target table is our work
    rows_total bigint,                 -- as the source estimates
    bytes_total bigint,
    PRIMARY KEY (stream_id, schema_name, table_name)
);

-- Two streams never write one table.
CREATE UNIQUE INDEX stream_table_target ON sluice.stream_table (target_relid)
    WHERE state IN ('pending', 'copying', 'established');

CREATE INDEX stream_table_source ON sluice.stream_table (stream_id, source_id);

CREATE TABLE sluice.schema_history (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    stream_id text COLLATE "C" NOT NULL
        REFERENCES sluice.stream ON DELETE CASCADE,
    schema_name text COLLATE "C" NOT NULL,
    table_name text COLLATE "C" NOT NULL,
    lsn pg_lsn NOT NULL,
    fingerprint text NOT NULL,
    shape bytea NOT NULL,              -- src/common's wire form of one shape
    target_attnums smallint[] NOT NULL,
    recorded_at timestamptz NOT NULL DEFAULT pg_catalog.now()
);
CREATE INDEX schema_history_table ON sluice.schema_history
    (stream_id, schema_name, table_name, id);

CREATE TABLE sluice.schema_event (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    stream_id text COLLATE "C" NOT NULL
        REFERENCES sluice.stream ON DELETE CASCADE,
    schema_name text COLLATE "C" NOT NULL,
    table_name text COLLATE "C" NOT NULL,
    lsn pg_lsn,
    shape jsonb,
    decision text NOT NULL
        CHECK (decision IN ('forwarded', 'passed', 'warned', 'refused')),
    ddl text,
    marker text,
    recorded_at timestamptz NOT NULL DEFAULT pg_catalog.now()
);

CREATE TABLE sluice.refusal (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    stream_id text COLLATE "C" NOT NULL
        REFERENCES sluice.stream ON DELETE CASCADE,
    marker text NOT NULL,
    schema_name text,
    table_name text,
    column_name text,
    lsn pg_lsn,
    fingerprint text NOT NULL,
    recorded_at timestamptz NOT NULL DEFAULT pg_catalog.now(),
    last_at timestamptz NOT NULL DEFAULT pg_catalog.now(),
    refusal_text text NOT NULL,
    detail text,
    hint text,
    count integer NOT NULL DEFAULT 1,
    acknowledged_at timestamptz,
    acknowledged_by name,
    reason text,
    spent_at timestamptz,              -- the acknowledgement has had its effect
    UNIQUE (stream_id, fingerprint)
);

CREATE TABLE sluice.conflict (
    stream_id text COLLATE "C" NOT NULL
        REFERENCES sluice.stream ON DELETE CASCADE,
    schema_name text COLLATE "C" NOT NULL,
    table_name text COLLATE "C" NOT NULL,
    kind text NOT NULL,
    count bigint NOT NULL,
    last_key text,
    last_lsn pg_lsn,
    last_at timestamptz NOT NULL,
    PRIMARY KEY (stream_id, schema_name, table_name, kind)
);

-- Cumulative counters; flushed by the worker now and then and when it ends.
CREATE TABLE sluice.stream_stat (
    stream_id text COLLATE "C" PRIMARY KEY
        REFERENCES sluice.stream ON DELETE CASCADE,
    counters bigint[] NOT NULL,
    stats_reset timestamptz NOT NULL DEFAULT pg_catalog.now()
);

-- The cold start of a stream; the row is there from the making of its slot on.
CREATE TABLE sluice.copy_run (
    stream_id text COLLATE "C" PRIMARY KEY
        REFERENCES sluice.stream ON DELETE CASCADE,
    start_lsn pg_lsn NOT NULL,         -- consistent point of the slot
    phase text NOT NULL
        CHECK (phase IN ('schema', 'data', 'finish', 'done')),
    round integer NOT NULL DEFAULT 1,  -- snapshots taken
    last_snapshot pg_lsn NOT NULL,
    start_position text,               -- where a bridge begins to follow
    started_at timestamptz NOT NULL DEFAULT pg_catalog.now(),
    finished_at timestamptz
);

-- What the copy workers do; made anew by each run of a cold start.
CREATE TABLE sluice.copy_task (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    stream_id text COLLATE "C" NOT NULL
        REFERENCES sluice.stream ON DELETE CASCADE,
    kind text NOT NULL CHECK (kind IN ('rows', 'ddl')),
    stage integer NOT NULL,
    schema_name text COLLATE "C",
    table_name text COLLATE "C",
    source_relid oid,
    target_relid oid,
    first_block bigint,
    end_block bigint,
    range_id integer,                  -- a bridge's range, range_of the table has
    range_of integer,
    range_from text,                   -- keys, as the bridge writes them
    range_to text,
    copy_cursor text,                  -- last key that is here
    lsn pg_lsn,                        -- lowest snapshot and highest window that
    window_lsn pg_lsn,                 -- the range's rows were read under
    est_bytes bigint NOT NULL DEFAULT 0,
    est_rows bigint NOT NULL DEFAULT 0,
    object_id bigint,
    ddl text,
    state text NOT NULL DEFAULT 'pending'
        CHECK (state IN ('pending', 'done', 'again')),
    rows_done bigint NOT NULL DEFAULT 0,
    bytes_done bigint NOT NULL DEFAULT 0,
    finished_at timestamptz
);
CREATE INDEX copy_task_stream ON sluice.copy_task (stream_id);
CREATE UNIQUE INDEX copy_task_range ON sluice.copy_task
    (stream_id, schema_name, table_name, range_id) WHERE range_id IS NOT NULL;

-- Every object of the source that the cold start met, and what became of it.
CREATE TABLE sluice.schema_object (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    stream_id text COLLATE "C" NOT NULL
        REFERENCES sluice.stream ON DELETE CASCADE,
    kind text NOT NULL,
    stage integer NOT NULL,
    schema_name text COLLATE "C",
    object_name text COLLATE "C" NOT NULL,
    table_name text COLLATE "C",       -- on the target
    source_schema text COLLATE "C",    -- the stream's table
    source_table text COLLATE "C",
    state text NOT NULL
        CHECK (state IN ('planned', 'created', 'existing', 'not_carried')),
    ddl text,
    note text,
    after_window boolean NOT NULL DEFAULT false,   -- rows of a window may meet in it
    recorded_at timestamptz NOT NULL DEFAULT pg_catalog.now()
);
CREATE UNIQUE INDEX schema_object_name ON sluice.schema_object
    (stream_id, kind, (COALESCE(schema_name, '')), (COALESCE(table_name, '')), object_name);
CREATE INDEX schema_object_table ON sluice.schema_object (stream_id, schema_name, object_name)
    WHERE kind IN ('table', 'partition');

-- One statement each: every call updates the extension's own row.
DO $$
DECLARE
    t text;
BEGIN
    FOREACH t IN ARRAY ARRAY['stream', 'stream_state', 'stream_position',
        'stream_table', 'schema_history', 'schema_event', 'refusal',
        'conflict', 'stream_stat', 'copy_run', 'copy_task', 'schema_object',
        'stream_id_seq', 'schema_history_id_seq', 'schema_event_id_seq',
        'refusal_id_seq', 'copy_task_id_seq', 'schema_object_id_seq']
    LOOP
        PERFORM pg_catalog.pg_extension_config_dump(
            pg_catalog.format('sluice.%I', t)::pg_catalog.regclass, '');
    END LOOP;
END $$;
