
-- Where sources and their secrets live: foreign servers (readable by all) and
-- user mappings (readable by nobody but their owner).  No tables hang on them.

CREATE FUNCTION sluice.fdw_validator(options text[], catalog oid)
    RETURNS void
    LANGUAGE c STRICT VOLATILE PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'sluice_fdw_validator';

CREATE FOREIGN DATA WRAPPER sluice VALIDATOR sluice.fdw_validator;

COMMENT ON FOREIGN DATA WRAPPER sluice IS
    'sources of sluice: one server per source, its login in a user mapping';
