-- Installing: a schema that is somebody else's, versions, what is there.
SET client_min_messages = warning;
DROP EXTENSION IF EXISTS sluice CASCADE;
\set SHOW_CONTEXT never

-- a schema with something in it
CREATE SCHEMA sluice;
CREATE TABLE sluice.planted (a int);
CREATE EXTENSION sluice;
DROP SCHEMA sluice CASCADE;

-- a schema of another role
CREATE ROLE regress_sluice_other;
CREATE SCHEMA sluice AUTHORIZATION regress_sluice_other;
CREATE EXTENSION sluice;
DROP SCHEMA sluice;

-- one that others may create in
CREATE SCHEMA sluice;
GRANT CREATE ON SCHEMA sluice TO regress_sluice_other;
CREATE EXTENSION sluice;
DROP SCHEMA sluice;
DROP ROLE regress_sluice_other;

-- not into another schema
CREATE SCHEMA elsewhere;
CREATE EXTENSION sluice SCHEMA elsewhere;
DROP SCHEMA elsewhere;

-- only a superuser
CREATE ROLE regress_sluice_nobody;
SET ROLE regress_sluice_nobody;
CREATE EXTENSION sluice;
RESET ROLE;
DROP ROLE regress_sluice_nobody;

CREATE EXTENSION sluice;
SELECT sql = library AS same_version, bridge, source_plugin FROM sluice.version();
ALTER EXTENSION sluice SET SCHEMA public;

-- every table of configuration is dumped
SELECT c.relname
FROM pg_class c
WHERE c.relnamespace = 'sluice'::regnamespace AND c.relkind = 'r'
  AND c.oid <> ALL (SELECT unnest(extconfig) FROM pg_extension WHERE extname = 'sluice')
ORDER BY 1;

-- every public object says what it is
SELECT p.proname
FROM pg_proc p
WHERE p.pronamespace = 'sluice'::regnamespace
  AND obj_description(p.oid, 'pg_proc') IS NULL
ORDER BY 1;

-- names are not ambiguous: one function a name
SELECT proname FROM pg_proc WHERE pronamespace = 'sluice'::regnamespace
GROUP BY proname HAVING count(*) > 1;

-- it goes, but for the schema (core leaves that), and comes again
DROP EXTENSION sluice;
SELECT count(*) FROM pg_depend
WHERE refclassid = 'pg_namespace'::regclass AND refobjid = 'sluice'::regnamespace;
CREATE EXTENSION sluice;
