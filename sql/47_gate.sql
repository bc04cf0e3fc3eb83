
-- What a text of a source's catalog must pass before it runs here.

CREATE FUNCTION sluice.gate_check(kind text, txt text,
        allowed text[] = '{}', options jsonb = '{}')
    RETURNS TABLE (
        result text,
        fault text)
    LANGUAGE c STRICT VOLATILE PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'sluice_gate_check';

COMMENT ON FUNCTION sluice.gate_check(text, text, text[], jsonb) IS
    'an expression, type or statement with the target''s names, or why a cold start refuses it';
