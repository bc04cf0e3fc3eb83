-- Who may do what: the role × function matrix, and what the functions say.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS sluice;
\set SHOW_CONTEXT never
\set VERBOSITY terse

CREATE ROLE regress_sluice_nobody;
CREATE ROLE regress_sluice_watch IN ROLE pg_monitor;
CREATE ROLE regress_sluice_owner;
CREATE ROLE regress_sluice_member IN ROLE regress_sluice_owner;
CREATE ROLE regress_sluice_other;

SELECT p.oid::regprocedure AS routine,
       has_function_privilege('regress_sluice_nobody', p.oid, 'EXECUTE') AS nobody,
       has_function_privilege('regress_sluice_watch', p.oid, 'EXECUTE') AS monitor,
       p.prosecdef AS definer, p.proconfig AS settings
FROM pg_proc p WHERE p.pronamespace = 'sluice'::regnamespace
ORDER BY p.proname::text COLLATE "C";

SELECT c.relname, c.relkind,
       has_any_column_privilege('regress_sluice_nobody', c.oid,
                                'SELECT, INSERT, UPDATE') AS nobody,
       has_table_privilege('regress_sluice_watch', c.oid, 'SELECT') AS monitor,
       has_table_privilege('regress_sluice_watch', c.oid,
                           'INSERT, UPDATE, DELETE, TRUNCATE') AS monitor_writes
FROM pg_class c
WHERE c.relnamespace = 'sluice'::regnamespace AND c.relkind IN ('r', 'v')
ORDER BY c.relname::text COLLATE "C";

SELECT has_schema_privilege('regress_sluice_nobody', 'sluice', 'USAGE') AS usage,
       has_schema_privilege('regress_sluice_nobody', 'sluice', 'CREATE') AS creates;

-- nobody
SET ROLE regress_sluice_nobody;
SELECT sluice.sync_start('p1', options => '{"feed": true}');
SELECT sluice.sync_stop('p1');
SELECT sluice.sync_drop('p1');
CALL sluice.sync_wait('p1');
SELECT * FROM sluice.health;
SELECT * FROM sluice.stream;
RESET ROLE;

-- EXECUTE alone does not make a stream: CREATE on the database is needed
GRANT EXECUTE ON FUNCTION sluice.sync_start, sluice.sync_stop, sluice.sync_drop
    TO regress_sluice_owner, regress_sluice_other;
GRANT EXECUTE ON PROCEDURE sluice.sync_wait TO regress_sluice_owner, regress_sluice_other;
SET ROLE regress_sluice_owner;
SELECT state FROM sluice.sync_start('p1', options => '{"feed": true}');
RESET ROLE;
SELECT format('GRANT CREATE ON DATABASE %I TO regress_sluice_owner', current_database()) \gexec
SET ROLE regress_sluice_owner;
SELECT state FROM sluice.sync_start('p1', options => '{"feed": true}');
-- its tables stay closed to it
SELECT * FROM sluice.stream;
RESET ROLE;

-- another one with EXECUTE changes nothing of it
SET ROLE regress_sluice_other;
SELECT sluice.sync_start('p1');
SELECT sluice.sync_stop('p1');
SELECT sluice.sync_drop('p1');
CALL sluice.sync_wait('p1', 'stopped', '1 h');
RESET ROLE;

-- the role cannot go while it owns a stream
DROP ROLE regress_sluice_owner;

-- a monitor may wait, and sees it end
SET ROLE regress_sluice_watch;
CALL sluice.sync_wait('p1', 'stopped', '0 s');
SELECT sluice.sync_stop('p1');
RESET ROLE;

-- a member of the owner's role may stop and drop it
SET ROLE regress_sluice_member;
SELECT sluice.sync_stop('p1');
CALL sluice.sync_wait('p1', 'stopped', '1 h');
SELECT sluice.sync_drop('p1');
RESET ROLE;

SELECT format('REVOKE CREATE ON DATABASE %I FROM regress_sluice_owner', current_database()) \gexec
DROP OWNED BY regress_sluice_owner, regress_sluice_other;
DROP ROLE regress_sluice_nobody, regress_sluice_watch, regress_sluice_member,
    regress_sluice_other, regress_sluice_owner;
