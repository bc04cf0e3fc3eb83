
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

CREATE FUNCTION sluice.column_check(type text, dflt text DEFAULT NULL,
        coll text DEFAULT NULL, identity boolean DEFAULT false,
        options jsonb DEFAULT NULL)
    RETURNS TABLE (
        target_type text,
        collate_clause text,
        target_default text,
        volatility text,
        bare text,
        afterwards text,
        fault text,
        fix text)
    LANGUAGE c CALLED ON NULL INPUT VOLATILE PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'sluice_column_check';

COMMENT ON FUNCTION sluice.column_check(text, text, text, boolean, jsonb) IS
    'what an added column of the source becomes on the target, how constant its default is, or why it cannot be added';
