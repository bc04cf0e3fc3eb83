-- Every change of a shape, under schema_changes 'forward'.
\set ECHO none
\getenv dir PG_ABS_SRCDIR
\set lib :dir '/lib/feed.sql'
\i :lib
\set mode forward
\set lib :dir '/lib/matrix.sql'
\i :lib
\set ECHO all
\pset format unaligned
\pset tuples_only on
\set lib :dir '/lib/cells.sql'
\i :lib
