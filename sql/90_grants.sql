
-- Nothing for everybody but the right to look names up; pg_monitor reads.

DO $$
DECLARE
    r record;
BEGIN
    FOR r IN SELECT p.oid::pg_catalog.regprocedure AS signature
             FROM pg_catalog.pg_proc p
             WHERE p.pronamespace = 'sluice'::pg_catalog.regnamespace
    LOOP
        EXECUTE pg_catalog.format('REVOKE ALL ON ROUTINE %s FROM PUBLIC', r.signature);
    END LOOP;
    FOR r IN SELECT c.oid::pg_catalog.regclass AS name
             FROM pg_catalog.pg_class c
             WHERE c.relnamespace = 'sluice'::pg_catalog.regnamespace
               AND c.relkind IN ('r', 'v', 'S')
    LOOP
        EXECUTE pg_catalog.format('REVOKE ALL ON %s FROM PUBLIC', r.name);
    END LOOP;
END $$;

GRANT USAGE ON SCHEMA sluice TO PUBLIC;

GRANT SELECT ON sluice.health, sluice.tables, sluice.progress,
    sluice.schema_events, sluice.refusals, sluice.stat_stream,
    sluice.conflicts, sluice.metrics, sluice.schema_objects,
    sluice.source_changes, sluice.source_warnings TO pg_monitor;
GRANT EXECUTE ON FUNCTION sluice.stream_runtime(), sluice.verify_runtime(),
    sluice.copy_runtime(), sluice.version(), sluice.library_version() TO pg_monitor;
GRANT EXECUTE ON PROCEDURE sluice.sync_wait(text, text, interval) TO pg_monitor;
