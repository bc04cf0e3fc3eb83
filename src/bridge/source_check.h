/*
 * source_check.h
 *	  Is a MySQL or MariaDB server set up so that its log can be followed?
 *
 * Rule: the servers' references of replication options and variables, and of
 * privileges.  Everything is looked at, and only looked at.
 */
#ifndef BR_SOURCE_CHECK_H
#define BR_SOURCE_CHECK_H

#include "bridge/mysql/conn.h"

typedef struct BrSourceCheck
{
	const char *name;
	bool		required;		/* else advice: a stream runs without it */
	bool		ok;
	char	   *detail;			/* what was found, and why it matters when it
								 * is not ok */
	char	   *fix_sql;		/* for the source, to paste: statements, or
								 * "-- " and what to do by hand; NULL = ok */
} BrSourceCheck;

typedef struct BrSourceChecks
{
	int			n;
	BrSourceCheck *list;
} BrSourceChecks;

/*
 * Append a check; name is a constant, detail and fix (NULL = none) are palloc'd and
 * become the list's.
 */
extern void br_check_add(BrSourceChecks *out, const char *name, bool required, bool ok,
						 char *detail, char *fix);

/*
 * Append every check of the server to out.  database: what is to be read, NULL = all.  server_id: the
 * replica's that the bridge will be, 0 = not known.  False when the connection
 * fails; a fact that may not be looked at is a check that is not ok.
 */
extern bool br_source_check(MxConn *c, const char *database, uint32 server_id,
							BrSourceChecks *out, MxError *err);
extern void br_source_checks_free(BrSourceChecks *checks);

/* ---------- source_grant.c ---------- */

/* Append what a GRANT on all of database (NULL = on everything) names: `a\_b`.* */
extern void br_grant_scope(StringInfo buf, const char *database);

/*
 * Does the result of SHOW GRANTS give privilege, on everything or on all of
 * database (NULL = only on everything)?  A later REVOKE for the database takes it back.
 */
extern bool br_grants_have(const MxResult *grants, const char *privilege, const char *database);

/* `user`@`host` of the account that this login got, quoted; palloc'd, NULL at a fault. */
extern char *br_source_account(MxConn *c, MxError *err);

#endif							/* BR_SOURCE_CHECK_H */
