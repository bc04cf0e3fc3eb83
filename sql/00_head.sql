\echo Use "CREATE EXTENSION sluice" to load this file. \quit

-- A schema of this name that somebody else made could hold objects planted for
-- us to call.
DO $$
BEGIN
    IF EXISTS (
        SELECT FROM pg_catalog.pg_namespace n
        JOIN pg_catalog.pg_extension e ON e.extnamespace = n.oid
        WHERE e.extname = 'sluice'
          AND (n.nspowner <> e.extowner
               OR EXISTS (SELECT FROM pg_catalog.aclexplode(n.nspacl) a
                          WHERE a.privilege_type = 'CREATE' AND a.grantee <> n.nspowner)
               OR EXISTS (SELECT FROM pg_catalog.pg_depend d
                          WHERE d.refclassid = 'pg_catalog.pg_namespace'::pg_catalog.regclass
                            AND d.refobjid = n.oid
                            AND d.classid <> 'pg_catalog.pg_extension'::pg_catalog.regclass)))
    THEN
        RAISE EXCEPTION USING
            ERRCODE = 'duplicate_schema',
            MESSAGE = 'schema "sluice" exists and is not the extension''s',
            HINT = 'Rename or drop the schema, then run CREATE EXTENSION sluice again.';
    END IF;
END $$;

