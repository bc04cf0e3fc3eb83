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
