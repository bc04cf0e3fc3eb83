/*
 * pgcompat.h
 *	  Every difference between PostgreSQL 15, 16, 17 and 18, and nothing else.
 *
 * Include it last and only from .c files.  A shim has a name of its own
 * (sl_compat_*) and says which release brought the change.  No other file may
 * test PG_VERSION_NUM (lint).
 */
#ifndef SL_PGCOMPAT_H
#define SL_PGCOMPAT_H

#if PG_VERSION_NUM < 150000 || PG_VERSION_NUM >= 190000
#error "sluice needs PostgreSQL 15, 16, 17 or 18"
#endif

#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

/* 18: PG_MODULE_MAGIC_EXT names the module. */
#if PG_VERSION_NUM >= 180000
#define SL_COMPAT_MODULE_MAGIC(name_, version_) \
	PG_MODULE_MAGIC_EXT(.name = name_, .version = version_)
#else
#define SL_COMPAT_MODULE_MAGIC(name_, version_) PG_MODULE_MAGIC
#endif

/* 16: object_aclcheck replaces the check per kind of object. */
#if PG_VERSION_NUM >= 160000
#define sl_compat_server_aclcheck(server_, role_) \
	object_aclcheck(ForeignServerRelationId, server_, role_, ACL_USAGE)
#define sl_compat_database_aclcheck(db_, role_, mode_) \
	object_aclcheck(DatabaseRelationId, db_, role_, mode_)
#else
#define sl_compat_server_aclcheck(server_, role_) \
	pg_foreign_server_aclcheck(server_, role_, ACL_USAGE)
#define sl_compat_database_aclcheck(db_, role_, mode_) \
	pg_database_aclcheck(db_, role_, mode_)
#endif

/* 16: parseTypeString reports a missing type through an ErrorSaveContext. */
#if PG_VERSION_NUM >= 160000
#include "nodes/miscnodes.h"
#endif
#include "parser/parse_type.h"

static inline bool
sl_compat_parse_type(const char *text, Oid *typid, int32 *typmod)
{
#if PG_VERSION_NUM >= 160000
	ErrorSaveContext soft = {T_ErrorSaveContext};

	return parseTypeString(text, typid, typmod, (Node *) &soft) &&
		!soft.error_occurred;
#else
	parseTypeString(text, typid, typmod, true);
	return OidIsValid(*typid);
#endif
}

#endif							/* SL_PGCOMPAT_H */
