
-- Where sources and their secrets live: foreign servers (readable by all) and
-- user mappings (readable by nobody but their owner).  No tables hang on them.

CREATE FUNCTION sluice.fdw_validator(options text[], catalog oid)
    RETURNS void
    LANGUAGE c STRICT VOLATILE PARALLEL UNSAFE
    AS 'MODULE_PATHNAME', 'sluice_fdw_validator';

COMMENT ON FUNCTION sluice.fdw_validator(text[], oid) IS
    'checks the options of servers and user mappings of the wrapper sluice';

CREATE FOREIGN DATA WRAPPER sluice VALIDATOR sluice.fdw_validator;

COMMENT ON FOREIGN DATA WRAPPER sluice IS
    'sources of sluice: one server per source, its login in a user mapping';
