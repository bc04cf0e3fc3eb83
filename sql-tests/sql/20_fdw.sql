-- Foreign-data wrapper sluice: what a server and a user mapping may hold.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS sluice;
\set VERBOSITY default
\set SHOW_CONTEXT never

-- options that are fine
CREATE SERVER fdw_shop FOREIGN DATA WRAPPER sluice
    OPTIONS (driver 'postgres', host 'db1', port '5432', dbname 'shop', sslmode 'verify-full');
CREATE SERVER fdw_all FOREIGN DATA WRAPPER sluice
    OPTIONS (hostaddr '10.0.0.1', channel_binding 'require',
             sslrootcert '/etc/ca.pem',
             target_session_attrs 'read-write');
CREATE USER MAPPING FOR CURRENT_USER SERVER fdw_shop
    OPTIONS (user 'sluice', password 'S3cret');
ALTER USER MAPPING FOR CURRENT_USER SERVER fdw_shop OPTIONS (SET password 'n3w');

-- secrets do not belong on a server
CREATE SERVER fdw_x FOREIGN DATA WRAPPER sluice OPTIONS (host 'db1', password 'S3cret');
CREATE SERVER fdw_x FOREIGN DATA WRAPPER sluice OPTIONS (sslkey '/k');
CREATE SERVER fdw_x FOREIGN DATA WRAPPER sluice OPTIONS (sslpassword 'S3cret');
CREATE SERVER fdw_x FOREIGN DATA WRAPPER sluice OPTIONS (user 'u');
CREATE SERVER fdw_x FOREIGN DATA WRAPPER sluice OPTIONS (passfile '/p');
ALTER SERVER fdw_shop OPTIONS (ADD password 'S3cret');

-- options that do not exist, or stand in the wrong place
CREATE SERVER fdw_x FOREIGN DATA WRAPPER sluice OPTIONS (hots 'db1');
CREATE SERVER fdw_x FOREIGN DATA WRAPPER sluice OPTIONS (application_name 'x');
ALTER USER MAPPING FOR CURRENT_USER SERVER fdw_shop OPTIONS (ADD host 'db2');
ALTER USER MAPPING FOR CURRENT_USER SERVER fdw_shop OPTIONS (ADD pasword 'x');
ALTER FOREIGN DATA WRAPPER sluice OPTIONS (ADD host 'db1');

-- values
CREATE SERVER fdw_x FOREIGN DATA WRAPPER sluice OPTIONS (driver 'oracle');
CREATE SERVER fdw_x FOREIGN DATA WRAPPER sluice OPTIONS (sslmode 'verify');
CREATE SERVER fdw_x FOREIGN DATA WRAPPER sluice OPTIONS (port '0');
CREATE SERVER fdw_x FOREIGN DATA WRAPPER sluice OPTIONS (port '5432,x');
CREATE SERVER fdw_x FOREIGN DATA WRAPPER sluice OPTIONS (port '65536');
CREATE SERVER fdw_x FOREIGN DATA WRAPPER sluice OPTIONS (dbname 'host=/tmp');
CREATE SERVER fdw_x FOREIGN DATA WRAPPER sluice OPTIONS (dbname 'postgres://db2/x');

-- what only a superuser may set
CREATE ROLE regress_sluice_fdw;
GRANT USAGE ON FOREIGN DATA WRAPPER sluice TO regress_sluice_fdw;
DO $$ BEGIN
    EXECUTE pg_catalog.format('GRANT CREATE ON DATABASE %I TO regress_sluice_fdw',
                              pg_catalog.current_database());
END $$;
SET ROLE regress_sluice_fdw;
CREATE SERVER fdw_u FOREIGN DATA WRAPPER sluice OPTIONS (service 's');
CREATE SERVER fdw_u FOREIGN DATA WRAPPER sluice OPTIONS (host '/tmp');
CREATE SERVER fdw_u FOREIGN DATA WRAPPER sluice OPTIONS (host 'db1,/tmp');
CREATE SERVER fdw_u FOREIGN DATA WRAPPER sluice OPTIONS (host '@abstract');
CREATE SERVER fdw_u FOREIGN DATA WRAPPER sluice OPTIONS (host 'db1', requirepeer 'postgres');
CREATE SERVER fdw_u FOREIGN DATA WRAPPER sluice OPTIONS (host 'db1', sslcert '/c');
CREATE SERVER fdw_u FOREIGN DATA WRAPPER sluice OPTIONS (host 'db1', dbname 'd');
CREATE USER MAPPING FOR CURRENT_USER SERVER fdw_u OPTIONS (user 'u', passfile '/p');
CREATE USER MAPPING FOR CURRENT_USER SERVER fdw_u OPTIONS (user 'u', sslkey '/k');
CREATE USER MAPPING FOR CURRENT_USER SERVER fdw_u OPTIONS (user 'u', password 'pw');
RESET ROLE;

DROP SERVER fdw_shop CASCADE;
DROP SERVER fdw_all, fdw_u CASCADE;
REVOKE ALL ON FOREIGN DATA WRAPPER sluice FROM regress_sluice_fdw;
DO $$ BEGIN
    EXECUTE pg_catalog.format('REVOKE CREATE ON DATABASE %I FROM regress_sluice_fdw',
                              pg_catalog.current_database());
END $$;
DROP ROLE regress_sluice_fdw;
