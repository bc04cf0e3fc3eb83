
-- What a cold start makes on the target.

CREATE FUNCTION sluice.schema_preview(
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
        ordinal integer,
        stage text,
        kind text,
        schema_name text,
        object_name text,
        state text,
        ddl text,
        note text)
    LANGUAGE c VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'sluice_schema_preview';

COMMENT ON FUNCTION sluice.schema_preview IS
    'what a cold start with these arguments would make on the target, with the statements; makes nothing';

CREATE VIEW sluice.schema_objects AS
SELECT o.stream_id::text, o.kind, o.schema_name::text, o.object_name::text,
       o.table_name::text, o.state, o.ddl, o.note, o.recorded_at
FROM sluice.schema_object o;

COMMENT ON VIEW sluice.schema_objects IS
    'every object of the source that a cold start met, and what became of it';
