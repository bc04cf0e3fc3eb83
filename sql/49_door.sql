-- What a table has of what a change stream does not carry, and what moved.

CREATE FUNCTION sluice.door_objects(tbl regclass)
    RETURNS jsonb
    LANGUAGE c STRICT VOLATILE PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'sluice_door_objects';

COMMENT ON FUNCTION sluice.door_objects(regclass) IS
    'constraints, row security, policies, column attributes and indexes of a table here, as sluice.baseline has a source''s';

CREATE FUNCTION sluice.door_check(tbl regclass, before jsonb, after jsonb, target jsonb)
    RETURNS TABLE (
        line text,
        matches boolean,
        statement text)
    LANGUAGE c STRICT VOLATILE PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'sluice_door_check';

COMMENT ON FUNCTION sluice.door_check(regclass, jsonb, jsonb, jsonb) IS
    'what moved between two descriptions of a source''s table, and whether a target that is described too has it';
