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
sl_compat_parse_type(const char *text, Oid * typid, int32 *typmod)
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

/* 17: intervals can be infinite. */
#define SL_COMPAT_INFINITE_INTERVALS (PG_VERSION_NUM >= 170000)

/* 16: permissions leave the range table; 18: pruned relations are told. */
#if PG_VERSION_NUM >= 180000
#define sl_compat_init_range_table(estate_, rte_, updated_) \
	do { \
		List	   *perms_ = NIL; \
		addRTEPermissionInfo(&perms_, rte_)->updatedCols = (updated_); \
		ExecInitRangeTable(estate_, list_make1(rte_), perms_, \
						   bms_make_singleton(1)); \
	} while (0)
#elif PG_VERSION_NUM >= 160000
#define sl_compat_init_range_table(estate_, rte_, updated_) \
	do { \
		List	   *perms_ = NIL; \
		addRTEPermissionInfo(&perms_, rte_)->updatedCols = (updated_); \
		ExecInitRangeTable(estate_, list_make1(rte_), perms_); \
	} while (0)
#else
#define sl_compat_init_range_table(estate_, rte_, updated_) \
	do { \
		(rte_)->updatedCols = (updated_); \
		ExecInitRangeTable(estate_, list_make1(rte_)); \
	} while (0)
#endif

/* 16: EvalPlanQualInit is told the result relations. */
#if PG_VERSION_NUM >= 160000
#define sl_compat_epq_init(epq_, estate_) \
	EvalPlanQualInit(epq_, estate_, NULL, NIL, -1, NIL)
#else
#define sl_compat_epq_init(epq_, estate_) \
	EvalPlanQualInit(epq_, estate_, NULL, NIL, -1)
#endif

/* 18: index scans count what they do, if asked to. */
#if PG_VERSION_NUM >= 180000
#define sl_compat_index_beginscan(heap_, index_, snapshot_, nkeys_, norder_) \
	index_beginscan(heap_, index_, snapshot_, NULL, nkeys_, norder_)
#else
#define sl_compat_index_beginscan(heap_, index_, snapshot_, nkeys_, norder_) \
	index_beginscan(heap_, index_, snapshot_, nkeys_, norder_)
#endif

/* 16: build_attrmap_by_name_if_req may let columns be missing. */
#if PG_VERSION_NUM >= 160000
#define sl_compat_attrmap_if_req(in_, out_) \
	build_attrmap_by_name_if_req(in_, out_, false)
#else
#define sl_compat_attrmap_if_req(in_, out_) \
	build_attrmap_by_name_if_req(in_, out_)
#endif

/* 16: SET ROLE is a right of its own, apart from membership. */
#if PG_VERSION_NUM >= 160000
#define sl_compat_can_set_role(member_, role_) member_can_set_role(member_, role_)
#else
#define sl_compat_can_set_role(member_, role_) is_member_of_role(member_, role_)
#endif

/* 16: object_aclcheck, for schemas. */
#if PG_VERSION_NUM >= 160000
#define sl_compat_schema_aclcheck(nsp_, role_, mode_) \
	object_aclcheck(NamespaceRelationId, nsp_, role_, mode_)
#else
#define sl_compat_schema_aclcheck(nsp_, role_, mode_) \
	pg_namespace_aclcheck(nsp_, role_, mode_)
#endif

/* 16: truncation can run each table's triggers as its owner. */
#if PG_VERSION_NUM >= 160000
#define sl_compat_truncate_guts(rels_, relids_, logged_) \
	ExecuteTruncateGuts(rels_, relids_, logged_, DROP_RESTRICT, false, false)
#else
#define sl_compat_truncate_guts(rels_, relids_, logged_) \
	ExecuteTruncateGuts(rels_, relids_, logged_, DROP_RESTRICT, false)
#endif

/*
 * 16: SQL/JSON constructors; 17: its query functions.  Those that aggregate,
 * select or make tables are left out.
 */
#if PG_VERSION_NUM >= 170000
#define SL_COMPAT_JSON_NODES \
	case T_JsonFormat: \
	case T_JsonReturning: \
	case T_JsonValueExpr: \
	case T_JsonIsPredicate: \
	case T_JsonOutput: \
	case T_JsonKeyValue: \
	case T_JsonObjectConstructor: \
	case T_JsonArrayConstructor: \
	case T_JsonArgument: \
	case T_JsonBehavior: \
	case T_JsonFuncExpr: \
	case T_JsonParseExpr: \
	case T_JsonScalarExpr: \
	case T_JsonSerializeExpr:
#elif PG_VERSION_NUM >= 160000
#define SL_COMPAT_JSON_NODES \
	case T_JsonFormat: \
	case T_JsonReturning: \
	case T_JsonValueExpr: \
	case T_JsonIsPredicate: \
	case T_JsonOutput: \
	case T_JsonKeyValue: \
	case T_JsonObjectConstructor: \
	case T_JsonArrayConstructor:
#else
#define SL_COMPAT_JSON_NODES
#endif

/*
 * 16: the tree walkers are macros around functions with a prototype; before,
 * their header has declarations without one.
 */
struct Node;
#if PG_VERSION_NUM >= 160000
extern bool raw_expression_tree_walker_impl(struct Node *node,
											bool (*walker) (struct Node *, void *),
											void *context);
#define sl_compat_raw_walk raw_expression_tree_walker_impl
extern bool expression_tree_walker_impl(struct Node *node,
										bool (*walker) (struct Node *, void *),
										void *context);
#define sl_compat_expr_walk expression_tree_walker_impl
#else
extern bool raw_expression_tree_walker(struct Node *node,
									   bool (*walker) (struct Node *, void *),
									   void *context);
#define sl_compat_raw_walk raw_expression_tree_walker
extern bool expression_tree_walker(struct Node *node,
								   bool (*walker) (struct Node *, void *),
								   void *context);
#define sl_compat_expr_walk expression_tree_walker
#endif

/* 16: the strategy of a partition spec is a char, before it was a word. */
#if PG_VERSION_NUM >= 160000
#define SL_COMPAT_PARTITION_BY_HASH(spec_) ((spec_)->strategy == 'h')
#else
#define SL_COMPAT_PARTITION_BY_HASH(spec_) (strcmp((spec_)->strategy, "hash") == 0)
#endif

/* 17: partitions have their root's identity column. */
#define SL_COMPAT_PARTITIONS_SHARE_IDENTITY (PG_VERSION_NUM >= 170000)

/* 18: virtual generated columns, NOT NULL as a named constraint, NOT ENFORCED. */
#define SL_COMPAT_VIRTUAL_COLUMNS (PG_VERSION_NUM >= 180000)
#define SL_COMPAT_NAMED_NOT_NULL (PG_VERSION_NUM >= 180000)
#define SL_COMPAT_NOT_ENFORCED (PG_VERSION_NUM >= 180000)

#endif							/* SL_PGCOMPAT_H */
