
-- Starting a stream.  A function grows through its options, never through a
-- new argument: a second overload would make every call ambiguous.

CREATE FUNCTION sluice.sync_start(
    stream_id text,
    source text DEFAULT NULL,
    driver text DEFAULT NULL,
    include_tables text[] DEFAULT NULL,
    exclude_tables text[] DEFAULT NULL,
    target_schema text DEFAULT NULL,
    schema_changes text DEFAULT NULL,
    row_filters jsonb DEFAULT NULL,
    type_overrides jsonb DEFAULT NULL,
    restart_from_scratch boolean DEFAULT false,
    reset_target_data boolean DEFAULT false,
    confirm text DEFAULT NULL,
    accept_unforwarded_schema_change text DEFAULT NULL,
    accept_target_only_unique_key text[] DEFAULT NULL,
    accept_table_rename jsonb DEFAULT NULL,
    options jsonb DEFAULT NULL)
    RETURNS TABLE (
        stream_id text,
        owner text,
        driver text,
        plugin text,
        state text,
        desired_state text,
        state_since timestamptz,
        healthy boolean,
        marker text,
        reason text,
        hint text,
        fingerprint text,
        "position" text,
        lag_bytes numeric,
        lag interval,
        retained_bytes bigint,
        wal_status text,
        slot_name text,
        last_commit_at timestamptz,
        last_error_at timestamptz,
        source_seen_at timestamptz,
        restarts integer,
        pid integer,
        pending_tables bigint,
        skipped_tables bigint)
    LANGUAGE c VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'sluice_sync_start';

COMMENT ON FUNCTION sluice.sync_start IS
    'starts a new stream, or resumes a known one; returns its row of sluice.health';

CREATE FUNCTION sluice.preflight(
    source text,
    driver text DEFAULT NULL,
    include_tables text[] DEFAULT NULL,
    exclude_tables text[] DEFAULT NULL,
    target_schema text DEFAULT NULL,
    schema_changes text DEFAULT NULL,
    row_filters jsonb DEFAULT NULL,
    type_overrides jsonb DEFAULT NULL,
    restart_from_scratch boolean DEFAULT false,
    reset_target_data boolean DEFAULT false,
    confirm text DEFAULT NULL,
    accept_unforwarded_schema_change text DEFAULT NULL,
    accept_target_only_unique_key text[] DEFAULT NULL,
    accept_table_rename jsonb DEFAULT NULL,
    options jsonb DEFAULT NULL)
    RETURNS TABLE (
        side text,
        check_name text,
        ok boolean,
        detail text,
        fix_sql text)
    LANGUAGE c VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'sluice_preflight';

COMMENT ON FUNCTION sluice.preflight IS
    'every check of sync_start without starting, with a statement that cures what fails';
