-- The target takes over.
CREATE FUNCTION sluice.cutover(
    stream_id text,
    sequence_margin bigint DEFAULT 1000,
    dry_run boolean DEFAULT false,
    OUT sequence text,
    OUT source_value bigint,
    OUT target_before bigint,
    OUT target_after bigint,
    OUT action text)
RETURNS SETOF record
LANGUAGE c VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'sluice_cutover';

COMMENT ON FUNCTION sluice.cutover(text, bigint, boolean) IS
'sets the target''s sequences past the source''s and ends the stream: the target takes over';

-- In what the target's tables differ from the source's.
CREATE FUNCTION sluice.schema_diff(
    stream_id text,
    OUT schema_name text,
    OUT table_name text,
    OUT object_kind text,
    OUT object_name text,
    OUT difference text,
    OUT source_definition text,
    OUT target_definition text)
RETURNS SETOF record
LANGUAGE c VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'sluice_schema_diff';

COMMENT ON FUNCTION sluice.schema_diff(text) IS
'objects of the stream''s tables that differ between source and target: a row each';
