
-- Rows of source and target compared at one position while the stream runs.
CREATE FUNCTION sluice.verify(
    stream_id text,
    tables text[] DEFAULT NULL,
    mode text DEFAULT 'checksum',
    OUT schema_name text,
    OUT table_name text,
    OUT status text,
    OUT source_rows bigint,
    OUT target_rows bigint,
    OUT different_rows bigint,
    OUT sample_keys text[],
    OUT reason text)
RETURNS SETOF record
LANGUAGE c VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'sluice_verify';

COMMENT ON FUNCTION sluice.verify(text, text[], text) IS
'compare the rows of source and target at one position: mode count, checksum or sample';
