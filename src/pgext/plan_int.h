/*
 * plan_int.h
 *	  What the files of the plan share.
 *
 * The catalog is read first, one query for each kind of object; then the gate
 * is told all names; only then text is passed through it and statements are
 * made.  Names of PlanRel and PlanType are the source's, but for tschema.
 */
#ifndef SL_PLAN_INT_H
#define SL_PLAN_INT_H

#include "nodes/pg_list.h"
#include "utils/hsearch.h"

#include "pgext/gate.h"
#include "pgext/plan.h"
#include "pgext/sequence_pg.h"

/* Separates the members of a list in a field of a result. */
#define SL_LIST_SEP "\001"

typedef struct PlanColumn
{
	char	   *name;
	int			attnum;
	Oid			typid;
	char	   *type;
	char	   *coll_schema;	/* NULL = the type's own */
	char	   *coll_name;
	bool		notnull;
	char		identity;		/* a d, 0 none */
	char		generated;		/* s v, 0 none */
	char	   *expr;			/* default or generation expression */
	char		storage;		/* 0 = the type's own */
	char		type_storage;	/* what the type's own is */
	char		compression;	/* p l, 0 none */
	int			stattarget;		/* -1 = the default */
	char	   *options;		/* list */
	bool		islocal;
	bool		printed;		/* part of CREATE TABLE */
	char	   *nn_name;		/* of a named NOT NULL constraint */
	bool		nn_noinherit;
} PlanColumn;

typedef struct PlanConstraint
{
	Oid			oid;
	char		type;			/* c f p u x n */
	char	   *name;
	char	   *def;
	char	   *expr;			/* of a CHECK */
	bool		validated;
	bool		noinherit;
	bool		islocal;
	Oid			index;
	Oid			confrelid;
	char	   *confrel;		/* its name */
	Oid			parent;
	bool		deferrable;
	bool		deferred;
	bool		enforced;
	bool		period;
	int			column;			/* attnum of a NOT NULL */
} PlanConstraint;

typedef struct PlanRel
{
	Oid			oid;
	char	   *schema;
	char	   *name;
	char	   *tschema;
	struct PlanRel *root;		/* the stream's table */
	Oid			parent;			/* of a partition, when the plan has it */
	bool		is_partition;
	char		relkind;
	char		persistence;
	char		replident;
	char	   *am;
	char	   *tablespace;
	char	   *options;		/* list */
	char	   *toast_options;
	char	   *bound;
	char	   *partkey;
	Oid			oftype;
	bool		row_security;
	bool		force_row_security;
	List	   *inherits;		/* of PlanRel *: parents in the plan, in order */
	bool		apart;			/* made without them, then given to them */
	int			ncols;
	PlanColumn *cols;
	List	   *constraints;	/* of PlanConstraint * */

	bool		build;			/* the plan makes it, or did in an earlier run */
	bool		there;			/* it did */
	bool		visited;
} PlanRel;

typedef struct PlanType
{
	Oid			oid;
	char	   *schema;
	char	   *name;
	char	   *tschema;
	char		typtype;		/* b c d e r m p; A array */
	Oid			elem;			/* of an array; the range of a multirange */
	Oid			typrelid;
	char		relkind;		/* of typrelid */
	char	   *base;			/* of a domain */
	bool		notnull;
	char	   *dflt;
	char	   *coll_schema;	/* differing from the base type's */
	char	   *coll_name;
	char	   *extension;		/* member of */
	char	   *sub;			/* of a range */
	char	   *sub_opclass;	/* NULL = the default */
	char	   *sub_opclass_schema;
	char	   *canonical;
	char	   *canonical_schema;
	char	   *diff;
	char	   *diff_schema;
	char	   *multirange;
	List	   *parts;			/* of PlanPart *: labels, attributes, checks */
	bool		needed;
	bool		used;			/* by a table that is built */
	bool		visited;
} PlanType;

/* Label of an enum, attribute of a composite type, CHECK of a domain. */
typedef struct PlanPart
{
	char	   *name;
	char	   *text;			/* type, or expression */
	char	   *coll_schema;
	char	   *coll_name;
	bool		validated;
} PlanPart;

typedef struct PlanIndex
{
	Oid			oid;
	PlanRel    *rel;
	char	   *name;
	char	   *def;
	bool		valid;
	bool		clustered;
	bool		replident;
	Oid			parent;			/* index of the parent table */
	char	   *tablespace;
	char		relkind;
	char	   *stats;			/* list of attnum:target */
	PlanConstraint *con;		/* that it belongs to, NULL = none */
	bool		carried;
} PlanIndex;

typedef struct PlanBuild
{
	SlConn	   *c;
	SlStream   *s;
	SlGate	   *gate;
	MemoryContext gate_cxt;
	const SlSourceTable *tables;
	int			ntables;
	bool		all;			/* no include list: types and sequences too */
	bool		row_security;	/* option */
	char	   *oids;			/* of every relation that is built: "{1,2}" */
	List	   *rels;			/* of PlanRel *, by name */
	HTAB	   *rel_by_oid;
	HTAB	   *rel_by_name;
	List	   *types;			/* of PlanType * */
	HTAB	   *type_by_oid;
	HTAB	   *needs;			/* oid of a table or type to List of the types
								 * named in it */
	List	   *schemas;		/* names on the target that are asked for */
	HTAB	   *recorded;		/* objects that an earlier run created */
	HTAB	   *names;			/* of relations and types planned: collisions */
	HTAB	   *added;			/* objects by kind and name */
	HTAB	   *type_text;		/* source's text to target's, or fault */
	int			nseqs;
	SlSequence *seqs;
	HTAB	   *identities;		/* sequences of columns: schema, table, column */
	List	   *indexes;		/* of PlanIndex * */
	List	   *objects;		/* of SlObject * */
} PlanBuild;

/* plan.c */
extern SlObject *sl_plan_add(PlanBuild *b, SlObjectKind kind, int stage,
							 const PlanRel *rel, const char *tschema,
							 const char *name);
extern void sl_plan_ddl(PlanBuild *b, SlObject *o, char *ddl);
extern void sl_plan_fault(SlObject *o, const char *fmt,...)
			pg_attribute_printf(2, 3);
extern void sl_plan_note(SlObject *o, const char *fmt,...)
			pg_attribute_printf(2, 3);
extern SlObject *sl_plan_left(PlanBuild *b, SlObjectKind kind, const PlanRel *rel,
							  const char *tschema, const char *name,
							  const char *note);

extern SlObject *sl_plan_known(PlanBuild *b, SlObjectKind kind, const char *schema,
							   const char *table, const char *name);

/* The same, when this stream makes it or has made it. */
extern SlObject *sl_plan_ours(PlanBuild *b, SlObjectKind kind, const char *schema,
							  const char *table, const char *name);

/* A schema of the target that an object goes to. */
extern void sl_plan_need_schema(PlanBuild *b, const char *tschema);

/* Two objects of one name on the target: adds the fault.  what: r t c s. */
extern void sl_plan_claim(PlanBuild *b, SlObject *o, char what, const char *name);

/* Text through the gate; on a fault NULL, and what and why are o's fault. */
extern char *sl_plan_expr(PlanBuild *b, SlObject *o, const char *expr,
						  const char *what);
extern char *sl_plan_type(PlanBuild *b, SlObject *o, const char *type,
						  const char *what);
extern char *sl_plan_statement(PlanBuild *b, SlObject *o, NodeTag tag,
							   const char *sql);
extern char *sl_plan_bound(PlanBuild *b, SlObject *o, const char *bound);

/* COLLATE clause with a space before it; "" for none. */
extern char *sl_plan_collate(PlanBuild *b, SlObject *o, const char *schema,
							 const char *name);

/* "name = 'value', …" of a list of options; prefix before each name. */
extern char *sl_plan_options(const char *list, const char *prefix);

/* Was it created by an earlier run? */
extern bool sl_plan_recorded(PlanBuild *b, SlObjectKind kind,
							 const char *schema, const char *table,
							 const char *name);

/* Source query with $1 = the relations that are built. */
extern PGresult *sl_plan_query(PlanBuild *b, const char *sql);
extern char *sl_plan_field(const PGresult *res, int row, int col);
extern Oid sl_plan_oid(const PGresult *res, int row, int col);
extern bool sl_plan_bool(const PGresult *res, int row, int col);
extern char sl_plan_char(const PGresult *res, int row, int col);
extern List *sl_plan_list(const char *list);

extern HTAB *sl_plan_oid_hash(const char *name);
extern void sl_plan_oid_put(HTAB *h, Oid oid, void *ptr);
extern void *sl_plan_oid_get(HTAB *h, Oid oid);

extern HTAB *sl_plan_name_hash(const char *name);
extern void sl_plan_name_put(HTAB *h, const char *schema, const char *table,
							 const char *name, void *ptr);
extern void *sl_plan_name_get(HTAB *h, const char *schema, const char *table,
							  const char *name);

/* schema.name and name as in a statement. */
extern char *sl_plan_qualified(const char *schema, const char *name);
#define sl_plan_relname(rel) sl_plan_qualified((rel)->tschema, (rel)->name)

/* plan_rel.c: reading tables */
extern void sl_plan_read_rels(PlanBuild *b);
extern void sl_plan_read_columns(PlanBuild *b);
extern void sl_plan_read_constraints(PlanBuild *b);

/* plan_table.c */
extern void sl_plan_table(PlanBuild *b, PlanRel *rel);

/* plan_type.c: reading types; plan_type_ddl.c */
extern void sl_plan_read_types(PlanBuild *b);
extern void sl_plan_type_object(PlanBuild *b, PlanType *t);

/* plan_need.c: what tables need, and the order that follows from it */
extern void sl_plan_read_needs(PlanBuild *b);
extern void sl_plan_collations(PlanBuild *b);
extern void sl_plan_extensions(PlanBuild *b);
extern void sl_plan_order(PlanBuild *b);	/* types and tables */

/*
 * FROM clause that maps an object of pg_depend d to o.owner, the table or type
 * that it belongs to.
 */
#define SL_OWNER_FROM \
	"pg_catalog.pg_depend d " \
	"LEFT JOIN pg_catalog.pg_class k ON d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass " \
	"  AND k.oid = d.objid " \
	"LEFT JOIN pg_catalog.pg_index ix ON ix.indexrelid = k.oid " \
	"LEFT JOIN pg_catalog.pg_attrdef ad ON d.classid = 'pg_catalog.pg_attrdef'::pg_catalog.regclass " \
	"  AND ad.oid = d.objid " \
	"LEFT JOIN pg_catalog.pg_constraint con " \
	"  ON d.classid = 'pg_catalog.pg_constraint'::pg_catalog.regclass AND con.oid = d.objid " \
	"LEFT JOIN pg_catalog.pg_statistic_ext se " \
	"  ON d.classid = 'pg_catalog.pg_statistic_ext'::pg_catalog.regclass AND se.oid = d.objid " \
	"LEFT JOIN pg_catalog.pg_type ty ON d.classid = 'pg_catalog.pg_type'::pg_catalog.regclass " \
	"  AND ty.oid = d.objid " \
	"CROSS JOIN LATERAL (SELECT CASE WHEN k.relkind = 'c' THEN k.reltype " \
	"  WHEN k.relkind IN ('r', 'p', 'i', 'I') THEN coalesce(ix.indrelid, k.oid) " \
	"  ELSE coalesce(ad.adrelid, nullif(con.conrelid, 0), con.contypid, se.stxrelid, ty.oid) " \
	"  END AS owner) AS o "

/* plan_sequence.c */
extern void sl_plan_sequences(PlanBuild *b);
extern char *sl_plan_identity(PlanBuild *b, SlObject *o, const PlanRel *rel,
							  const PlanColumn *col);
extern void sl_plan_sequence_owners(PlanBuild *b);

/* plan_index.c, plan_constraint.c, plan_misc.c, plan_left.c */
extern void sl_plan_indexes(PlanBuild *b);
extern void sl_plan_constraints(PlanBuild *b);
extern void sl_plan_misc(PlanBuild *b);
extern void sl_plan_comments(PlanBuild *b);
extern void sl_plan_not_carried(PlanBuild *b);

/* plan_inherit.c */
extern const PlanColumn *sl_plan_inherited(const PlanRel *rel, const char *name);
extern const char *sl_plan_inherited_default(const PlanRel *rel, const char *name);
extern bool sl_plan_parents_not_null(const PlanRel *rel, const char *name);
extern void sl_plan_mark_printed(PlanRel *rel);
extern void sl_plan_inherit(PlanBuild *b, const PlanRel *rel);

#endif							/* SL_PLAN_INT_H */
