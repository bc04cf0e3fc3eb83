-- Every change of a shape, under schema_changes 'refuse'.
\set ECHO none
\getenv dir PG_ABS_SRCDIR
\set lib :dir '/lib/feed.sql'
\i :lib
\set mode refuse
\set lib :dir '/lib/matrix.sql'
\i :lib
\set ECHO all
\pset format unaligned
\pset tuples_only on
\set lib :dir '/lib/cells.sql'
\i :lib
