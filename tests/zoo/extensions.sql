-- On both sides, in different schemas where the extension allows it.
CREATE SCHEMA ext;
CREATE EXTENSION hstore SCHEMA ext;
CREATE EXTENSION citext;
CREATE EXTENSION pgcrypto SCHEMA ext;
CREATE EXTENSION ltree SCHEMA ext;
CREATE EXTENSION btree_gist;
CREATE EXTENSION pg_trgm SCHEMA ext;
CREATE EXTENSION postgis;
