/*
 * schema_diff.h
 *	  What the catalogs of source and target say of the stream's tables, in a
 *	  form that can be compared.
 */
#ifndef SL_SCHEMA_DIFF_H
#define SL_SCHEMA_DIFF_H

#include "pgext/stream.h"

/* A policy, row l of pg_policy, as it would be written. */
#define SL_SCHEMA_POLICY_SQL \
	"  CASE WHEN l.polpermissive THEN 'AS PERMISSIVE' ELSE 'AS RESTRICTIVE' END" \
	"  || CASE l.polcmd WHEN 'r' THEN ' FOR SELECT' WHEN 'a' THEN ' FOR INSERT'" \
	"      WHEN 'w' THEN ' FOR UPDATE' WHEN 'd' THEN ' FOR DELETE' ELSE ' FOR ALL' END" \
	"  || ' TO ' || (SELECT pg_catalog.string_agg(COALESCE(pg_catalog.quote_ident(o.rolname), 'PUBLIC'), ', '" \
	"      ORDER BY o.rolname COLLATE pg_catalog.\"C\") FROM unnest(l.polroles) AS m (oid)" \
	"      LEFT JOIN pg_catalog.pg_roles o ON o.oid = m.oid)" \
	"  || COALESCE(' USING (' || pg_catalog.pg_get_expr(l.polqual, l.polrelid) || ')', '')" \
	"  || COALESCE(' WITH CHECK (' || pg_catalog.pg_get_expr(l.polwithcheck, l.polrelid) || ')', '')"

/*
 * One statement for both sides.  Parameters: schemas and names of the tables,
 * schemas and names of sequences that no table owns, as text arrays of the
 * same length each.
 */
extern const char *const sl_schema_sql;

/* Its columns, and the object that a row describes. */
enum
{
	SL_SCHEMA_ORD,				/* 1 …: of the table; -1 …: of the
								 * sequence */
	SL_SCHEMA_REL_SCHEMA,		/* the partition it belongs to; NULL for the */
	SL_SCHEMA_REL_NAME,			/* table itself */
	SL_SCHEMA_RANK,				/* order of the kinds */
	SL_SCHEMA_KIND,
	SL_SCHEMA_NAME,
	SL_SCHEMA_DEFINITION,
	SL_SCHEMA_COLUMNS
};

/*
 * Are two definitions the same, where a schema's name on the source counts as
 * the one that it is mapped to?
 */
extern bool sl_schema_same(const SlStream *s, const char *source, const char *target);

#endif							/* SL_SCHEMA_DIFF_H */
