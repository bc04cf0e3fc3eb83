/*
 * plan_index.c
 *	  Indexes, the keys and exclusion constraints that are made of them, and
 *	  the marks that name an index.
 *
 * NOTES
 *	  A key's index is built as an index, side by side with others, and becomes
 *	  the constraint afterwards.  On a partitioned table both are made ONLY
 *	  there and the partitions' own are attached, so that every one keeps its
 *	  name.
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "pgext/plan_int.h"
#include "pgext/pgcompat.h"

#define INDEXES_SQL \
	"SELECT i.indexrelid, i.indrelid, ic.relname, pg_catalog.pg_get_indexdef(i.indexrelid), " \
	"  i.indisvalid AND i.indisready AND i.indislive, i.indisclustered, i.indisreplident, " \
	"  coalesce(h.inhparent, 0), ts.spcname, ic.relkind, " \
	"  (SELECT pg_catalog.string_agg(a.attnum::text || ':' || a.attstattarget::text, " \
	"     pg_catalog.chr(1) ORDER BY a.attnum) FROM pg_catalog.pg_attribute a " \
	"   WHERE a.attrelid = i.indexrelid AND a.attstattarget >= 0) " \
	"FROM pg_catalog.pg_index i " \
	"JOIN pg_catalog.pg_class ic ON ic.oid = i.indexrelid " \
	"LEFT JOIN pg_catalog.pg_inherits h ON h.inhrelid = i.indexrelid " \
	"LEFT JOIN pg_catalog.pg_tablespace ts ON ts.oid = ic.reltablespace " \
	"WHERE i.indrelid = ANY ($1::pg_catalog.oid[]) " \
	"ORDER BY i.indrelid, ic.relname COLLATE \"C\""

static PlanConstraint *
constraint_of(const PlanRel *rel, Oid index)
{
	ListCell   *lc;

	foreach(lc, rel->constraints)
	{
		PlanConstraint *con = lfirst(lc);

		if (con->index == index && strchr("pux", con->type))
			return con;
	}
	return NULL;
}

static void
read_indexes(PlanBuild *b, HTAB *by_oid)
{
	PGresult   *res = sl_plan_query(b, INDEXES_SQL);

	for (int i = 0; i < PQntuples(res); i++)
	{
		PlanIndex  *x = palloc0(sizeof(PlanIndex));

		x->oid = sl_plan_oid(res, i, 0);
		x->rel = sl_plan_oid_get(b->rel_by_oid, sl_plan_oid(res, i, 1));
		x->name = sl_plan_field(res, i, 2);
		x->def = sl_plan_field(res, i, 3);
		x->valid = sl_plan_bool(res, i, 4);
		x->clustered = sl_plan_bool(res, i, 5);
		x->replident = sl_plan_bool(res, i, 6);
		x->parent = sl_plan_oid(res, i, 7);
		x->tablespace = sl_plan_field(res, i, 8);
		x->relkind = sl_plan_char(res, i, 9);
		x->stats = sl_plan_field(res, i, 10);
		x->con = constraint_of(x->rel, x->oid);
		b->indexes = lappend(b->indexes, x);
		sl_plan_oid_put(by_oid, x->oid, x);
	}
	PQclear(res);
}

/* Is the name of an index to be made taken on the target? */
static void
check_free(SlObject *o)
{
	Oid			nsp = get_namespace_oid(o->schema, true);

	if (o->state == SL_OBJECT_PLANNED && OidIsValid(nsp) &&
		OidIsValid(get_relname_relid(o->name, nsp)))
		sl_plan_fault(o, "the target has another relation of that name");
}

/* Constraint as the source says it: on a partitioned table, or of exclusion. */
static void
direct_constraint(PlanBuild *b, PlanIndex *x)
{
	PlanRel    *rel = x->rel;
	SlObject   *o;
	char	   *sql;

	o = sl_plan_add(b, x->con->type == 'x' ? SL_OBJ_EXCLUSION : SL_OBJ_KEY,
					SL_STAGE_CONSTRAINT, rel, rel->tschema, x->con->name);
	check_free(o);
	sl_plan_claim(b, o, 'r', x->con->name);
	sql = psprintf("ALTER TABLE ONLY %s ADD CONSTRAINT %s %s",
				   sl_plan_qualified(rel->schema, rel->name),
				   quote_identifier(x->con->name), x->con->def);
	sql = sl_plan_statement(b, o, T_AlterTableStmt, sql);
	sl_plan_ddl(b, o, sql);
}

static void
key_of_index(PlanBuild *b, PlanIndex *x)
{
	const PlanConstraint *con = x->con;
	SlObject   *o = sl_plan_add(b, SL_OBJ_KEY, SL_STAGE_CONSTRAINT, x->rel,
								x->rel->tschema, con->name);

	sl_plan_ddl(b, o, psprintf("ALTER TABLE ONLY %s ADD CONSTRAINT %s %s USING INDEX %s%s%s",
							   sl_plan_relname(x->rel), quote_identifier(con->name),
							   con->type == 'p' ? "PRIMARY KEY" : "UNIQUE",
							   quote_identifier(x->name),
							   con->deferrable ? " DEFERRABLE" : "",
							   con->deferred ? " INITIALLY DEFERRED" : ""));
}

static void
plan_index(PlanBuild *b, PlanIndex *x)
{
	SlObject   *o;

	if (x->relkind == 'i' && !x->valid)
	{
		sl_plan_left(b, SL_OBJ_INDEX, x->rel, x->rel->tschema, x->name,
					 "is not valid on the source");
		return;
	}
	x->carried = true;
	if (x->con && (x->relkind == 'I' || x->con->type == 'x' || x->con->period))
	{
		direct_constraint(b, x);
		return;
	}
	o = sl_plan_add(b, SL_OBJ_INDEX, SL_STAGE_INDEX, x->rel, x->rel->tschema, x->name);
	check_free(o);
	sl_plan_claim(b, o, 'r', x->name);
	if (x->tablespace)
		sl_plan_note(o, "tablespace %s is not carried", quote_identifier(x->tablespace));
	sl_plan_ddl(b, o, sl_plan_statement(b, o, T_IndexStmt, x->def));
	if (x->con)
		key_of_index(b, x);
}

static void
index_statistics(PlanBuild *b, const PlanIndex *x)
{
	StringInfoData buf;
	SlObject   *o;
	ListCell   *lc;

	if (x->stats == NULL)
		return;
	initStringInfo(&buf);
	foreach(lc, sl_plan_list(x->stats))
	{
		char	   *colon;
		long		attnum = strtol(lfirst(lc), &colon, 10);

		if (*colon == ':')
			appendStringInfo(&buf, "%sALTER COLUMN %ld SET STATISTICS %ld",
							 buf.len ? ", " : "", attnum, strtol(colon + 1, NULL, 10));
	}
	o = sl_plan_add(b, SL_OBJ_COLUMN, SL_STAGE_CONSTRAINT, x->rel, x->rel->tschema, x->name);
	sl_plan_ddl(b, o, psprintf("ALTER INDEX %s %s",
							   sl_plan_qualified(x->rel->tschema, x->name), buf.data));
}

static void
attach_index(PlanBuild *b, const PlanIndex *x, const PlanIndex *parent)
{
	SlObject   *o;

	if (parent == NULL || !parent->carried || !x->carried)
		return;
	o = sl_plan_add(b, SL_OBJ_INDEX_PARTITION, SL_STAGE_ATTACH, x->rel,
					x->rel->tschema, x->name);
	sl_plan_ddl(b, o, psprintf("ALTER INDEX %s ATTACH PARTITION %s",
							   sl_plan_qualified(parent->rel->tschema, parent->name),
							   sl_plan_qualified(x->rel->tschema, x->name)));
}

/* What names an index of the table, or says that none serves. */
static void
replica_identity(PlanBuild *b, const PlanRel *rel, const PlanIndex *x)
{
	SlObject   *o;
	char	   *what;

	if (rel->replident == 'd' || (rel->replident == 'i' && x == NULL))
		return;
	what = rel->replident == 'f' ? "FULL" : rel->replident == 'n' ? "NOTHING" :
		psprintf("USING INDEX %s", quote_identifier(x->name));
	o = sl_plan_add(b, SL_OBJ_REPLICA_IDENTITY,
					rel->relkind == RELKIND_PARTITIONED_TABLE ? SL_STAGE_LAST : SL_STAGE_CONSTRAINT,
					rel, rel->tschema, rel->name);
	sl_plan_ddl(b, o, psprintf("ALTER TABLE ONLY %s REPLICA IDENTITY %s",
							   sl_plan_relname(rel), what));
}

static void
cluster_mark(PlanBuild *b, const PlanIndex *x)
{
	SlObject   *o;

	if (!x->clustered || x->relkind != 'i')
		return;
	o = sl_plan_add(b, SL_OBJ_CLUSTER, SL_STAGE_CONSTRAINT, x->rel, x->rel->tschema,
					x->rel->name);
	sl_plan_ddl(b, o, psprintf("ALTER TABLE %s CLUSTER ON %s", sl_plan_relname(x->rel),
							   quote_identifier(x->name)));
}

void
sl_plan_indexes(PlanBuild *b)
{
	HTAB	   *by_oid = sl_plan_oid_hash("sluice plan: indexes");
	HTAB	   *identity = sl_plan_oid_hash("sluice plan: identities");
	ListCell   *lc;

	read_indexes(b, by_oid);
	foreach(lc, b->indexes)
	{
		PlanIndex  *x = lfirst(lc);

		plan_index(b, x);
		if (!x->carried)
			continue;
		index_statistics(b, x);
		if (x->replident)
			sl_plan_oid_put(identity, x->rel->oid, x);
	}
	foreach(lc, b->rels)
	{
		PlanRel    *rel = lfirst(lc);

		if (rel->build && rel->relkind != 'f')
			replica_identity(b, rel, sl_plan_oid_get(identity, rel->oid));
	}
	foreach(lc, b->indexes)
	{
		PlanIndex  *x = lfirst(lc);

		if (x->carried)
			cluster_mark(b, x);
		attach_index(b, x, sl_plan_oid_get(by_oid, x->parent));
	}
}
