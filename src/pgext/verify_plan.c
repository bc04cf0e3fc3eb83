/*
 * verify_plan.c
 *	  The statements that verify runs on both sides.
 *
 * NOTES
 *	  A row's text form is ROW(c1, c2, ...)::text: every column by its type's
 *	  output function, as pgoutput sends it; NULL is nothing and '' is "".
 *	  Both sides have the same pinned settings, so equal values have equal
 *	  forms, and values that only compare equal (1.0 and 1.00, 0 and -0) have
 *	  not.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "storage/bufmgr.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "common/sl_shape.h"
#include "pgext/verify.h"
#include "pgext/pgcompat.h"

/* A column of the source as its catalog has it now. */
typedef struct PlanColumn
{
	char	   *name;
	bool		generated;
	Oid			typid;
	int32		typmod;
	int			keypos;			/* 1-based position in the key; 0 = none */
} PlanColumn;

static const char *const table_sql =
"SELECT c.oid FROM pg_catalog.pg_class c"
" JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace"
" WHERE n.nspname = $1 AND c.relname = $2 AND c.relkind IN ('r', 'p')";

/* Key: primary key, else the index that is the replica identity. */
static const char *const columns_sql =
"SELECT a.attname, a.attgenerated <> '', a.atttypid, a.atttypmod,"
" coalesce(pg_catalog.array_position("
"  (SELECT (i.indkey::pg_catalog.int2[])[0:i.indnkeyatts - 1]"
"   FROM pg_catalog.pg_index i"
"   WHERE i.indrelid = a.attrelid AND i.indisvalid AND i.indpred IS NULL"
"    AND i.indexprs IS NULL"
"    AND (i.indisprimary OR (i.indisreplident AND i.indisunique))"
"   ORDER BY i.indisprimary DESC LIMIT 1), a.attnum), 0),"
" c.relkind, pg_catalog.getdatabaseencoding()"
" FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid"
" WHERE a.attrelid = $1::pg_catalog.oid AND a.attnum > 0 AND NOT a.attisdropped"
" ORDER BY a.attnum";

static const char *const filter_sql =
"SELECT pg_catalog.pg_get_expr(r.prqual, r.prrelid)"
" FROM pg_catalog.pg_publication_rel r"
" JOIN pg_catalog.pg_publication p ON p.oid = r.prpubid"
" WHERE p.pubname = $1 AND r.prrelid = $2::pg_catalog.oid";

void
sl_verify_lock_source(SlConn *c, SlVerifyTable *t)
{
	const char *params[2];
	char	   *oid;
	char	   *rel;

	params[0] = t->schema;
	params[1] = t->table;
	oid = sl_conn_query_text(c, table_sql, 2, params);
	if (oid == NULL)
	{
		t->skip = pstrdup("the table does not exist on the source");
		return;
	}
	rel = psprintf("%s.%s", quote_identifier(t->schema),
				   quote_identifier(t->table));
	PQclear(sl_conn_query(c, PGRES_COMMAND_OK,
						  psprintf("LOCK TABLE %s IN ACCESS SHARE MODE", rel),
						  0, NULL));
	oid = sl_conn_query_text(c, table_sql, 2, params);
	if (oid == NULL)
	{
		t->skip = pstrdup("the table does not exist on the source");
		return;
	}
	t->source_oid = (Oid) strtoul(oid, NULL, 10);
}

/* Columns of the source table, a List of PlanColumn *. */
static List *
plan_source_columns(SlConn *c, Oid relid, char *relkind, int *encoding)
{
	List	   *cols = NIL;
	char	   *oid = psprintf("%u", relid);
	const char *params[1];
	PGresult   *res;

	params[0] = oid;
	res = sl_conn_query(c, PGRES_TUPLES_OK, columns_sql, 1, params);
	for (int i = 0; i < PQntuples(res); i++)
	{
		PlanColumn *col = palloc0(sizeof(PlanColumn));

		col->name = pstrdup(PQgetvalue(res, i, 0));
		col->generated = PQgetvalue(res, i, 1)[0] == 't';
		col->typid = (Oid) strtoul(PQgetvalue(res, i, 2), NULL, 10);
		col->typmod = strtol(PQgetvalue(res, i, 3), NULL, 10);
		col->keypos = strtol(PQgetvalue(res, i, 4), NULL, 10);
		*relkind = PQgetvalue(res, i, 5)[0];
		*encoding = pg_char_to_encoding(PQgetvalue(res, i, 6));
		cols = lappend(cols, col);
	}
	PQclear(res);
	return cols;
}

static int
plan_scale(int32 typmod)
{
	/* as numeric.c packs it; only for the scales both sides may have */
	return (((typmod - (int32) VARHDRSZ) & 0x7ff) ^ 1024) - 1024;
}

/*
 * Does the target's type write the same value in another way without losing
 * any of it?  Then the source's value is cast to the target's type first.
 */
static bool
plan_needs_cast(const PlanColumn *col, Oid typid, int32 typmod)
{
	if (col->typid == JSONOID && typid == JSONBOID)
		return true;
	if (typid == NUMERICOID && typmod >= (int32) VARHDRSZ)
	{
		if (col->typid == INT2OID || col->typid == INT4OID ||
			col->typid == INT8OID)
			return plan_scale(typmod) > 0;
		if (col->typid == NUMERICOID && col->typmod >= (int32) VARHDRSZ)
			return plan_scale(typmod) > plan_scale(col->typmod);
	}
	if (typid == BPCHAROID && col->typid == BPCHAROID)
		return typmod > col->typmod && col->typmod >= (int32) VARHDRSZ;
	return false;
}

/* Append a column to ROW( ... on both sides. */
static void
plan_append(StringInfo src, StringInfo dst, const PlanColumn *col,
			Form_pg_attribute att)
{
	const char *comma = src->data[src->len - 1] == '(' ? "" : ", ";

	appendStringInfo(dst, "%s%s", comma, quote_identifier(col->name));
	appendStringInfo(src, "%s%s", comma, quote_identifier(col->name));
	if (plan_needs_cast(col, att->atttypid, att->atttypmod))
		appendStringInfo(src, "::%s",
						 format_type_extended(att->atttypid, att->atttypmod,
											  FORMAT_TYPE_TYPEMOD_GIVEN |
											  FORMAT_TYPE_FORCE_QUALIFY));
}

static Form_pg_attribute
plan_target_att(Relation rel, const char *name)
{
	TupleDesc	desc = RelationGetDescr(rel);

	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);

		if (!att->attisdropped && strcmp(NameStr(att->attname), name) == 0)
			return att;
	}
	return NULL;
}

/* Is the column compared?  Fills *att with the target's. */
static bool
plan_takes(Relation rel, const SlShape *shape, const PlanColumn *col,
		   Form_pg_attribute *att, SlVerifyTable *t)
{
	*att = plan_target_att(rel, col->name);
	if (col->generated)
		return *att != NULL && (*att)->attgenerated != '\0';
	if (shape != NULL && sl_shape_find(shape, col->name) < 0)
	{
		t->skip = psprintf("column %s of the source is new, or has another name, and no row has come since",
						   quote_identifier(col->name));
		return false;
	}
	if (*att == NULL)
		t->skip = psprintf("the target has no column %s",
						   quote_identifier(col->name));
	return *att != NULL;
}

static int
plan_cmp_key(const ListCell *a, const ListCell *b)
{
	return ((PlanColumn *) lfirst(a))->keypos - ((PlanColumn *) lfirst(b))->keypos;
}

/* Key expressions, or none: then the row itself is the key. */
static void
plan_key(Relation rel, SlVerifyTable *t, List *keys, bool complete)
{
	StringInfoData src,
				dst;
	ListCell   *lc;

	t->keyless = keys == NIL || !complete;
	if (t->keyless)
	{
		t->source.key = t->source.row;
		t->local.key = t->local.row;
		return;
	}
	list_sort(keys, plan_cmp_key);
	t->nkeys = list_length(keys);
	initStringInfo(&src);
	initStringInfo(&dst);
	appendStringInfoString(&src, "ROW(");
	appendStringInfoString(&dst, "ROW(");
	foreach(lc, keys)
	{
		PlanColumn *col = lfirst(lc);

		plan_append(&src, &dst, col, plan_target_att(rel, col->name));
	}
	t->source.key = psprintf("%s)::pg_catalog.text", src.data);
	t->local.key = psprintf("%s)::pg_catalog.text", dst.data);
}

/* A column that the stream's last row had and the source has no more. */
static void
plan_missing(const SlShape *shape, List *cols, SlVerifyTable *t)
{
	for (int i = 0; shape != NULL && t->skip == NULL && i < shape->ncols; i++)
	{
		bool		found = false;
		ListCell   *lc;

		foreach(lc, cols)
			found |= strcmp(((PlanColumn *) lfirst(lc))->name, shape->cols[i].name) == 0;
		if (!found)
			t->skip = psprintf("column %s is dropped or has another name on the source, and no row has come since",
							   quote_identifier(shape->cols[i].name));
	}
}

static void
plan_expressions(Relation rel, const SlShape *shape, List *cols, SlVerifyTable *t)
{
	StringInfoData src,
				dst;
	List	   *keys = NIL;
	bool		complete = true;
	ListCell   *lc;

	initStringInfo(&src);
	initStringInfo(&dst);
	appendStringInfoString(&src, "ROW(");
	appendStringInfoString(&dst, "ROW(");
	foreach(lc, cols)
	{
		PlanColumn *col = lfirst(lc);
		Form_pg_attribute att;
		bool		taken = plan_takes(rel, shape, col, &att, t);

		if (t->skip != NULL)
			return;
		if (taken)
			plan_append(&src, &dst, col, att);
		if (col->keypos > 0)
		{
			keys = lappend(keys, col);
			complete = complete && taken;
		}
	}
	t->source.row = psprintf("%s)::pg_catalog.text", src.data);
	t->local.row = psprintf("%s)::pg_catalog.text", dst.data);
	plan_key(rel, t, keys, complete);
}

/* Leaves of a partitioned target, and an upper guess of its rows. */
static void
plan_size(Relation rel, SlVerifyTable *t)
{
	BlockNumber blocks = 0;
	ListCell   *lc;

	if (rel->rd_rel->relkind != RELKIND_PARTITIONED_TABLE)
		blocks = RelationGetNumberOfBlocks(rel);
	else
	{
		foreach(lc, find_all_inheritors(RelationGetRelid(rel), AccessShareLock, NULL))
		{
			Relation	leaf = table_open(lfirst_oid(lc), NoLock);

			if (leaf->rd_rel->relkind == RELKIND_RELATION)
			{
				t->leaves = lappend_oid(t->leaves, lfirst_oid(lc));
				blocks += RelationGetNumberOfBlocks(leaf);
			}
			table_close(leaf, NoLock);
		}
	}
	t->est_rows = (int64) blocks * (BLCKSZ / 64);
	t->digits = 0;
	while (t->digits < SL_VERIFY_MAX_DIGITS &&
		   (t->est_rows >> (4 * t->digits)) > 1000)
		t->digits++;
}

void
sl_verify_plan(SlConn *c, const SlStream *s, SlVerifyTable *t)
{
	Relation	rel = try_table_open(t->target, AccessShareLock);
	SlShape    *shape;
	List	   *cols;
	char		relkind = 'r';
	int			encoding = -1;

	if (rel == NULL)
	{
		t->skip = pstrdup("the table does not exist on the target");
		return;
	}
	cols = plan_source_columns(c, t->source_oid, &relkind, &encoding);
	shape = sl_shape_load(s->stream_id, t->schema, t->table, NULL);
	plan_missing(shape, cols, t);
	if (t->skip == NULL)
		plan_expressions(rel, shape, cols, t);
	if (t->skip == NULL)
	{
		plan_size(rel, t);
		t->source.rel = psprintf("%s%s.%s", relkind == 'p' ? "" : "ONLY ",
								 quote_identifier(t->schema),
								 quote_identifier(t->table));
		t->local.rel = psprintf("%s%s",
								rel->rd_rel->relkind == RELKIND_PARTITIONED_TABLE ? "" : "ONLY ",
								quote_qualified_identifier(get_namespace_name(RelationGetNamespace(rel)),
														   RelationGetRelationName(rel)));
		t->source.convert = t->local.convert = encoding != GetDatabaseEncoding();
		if (c->server_version >= 150000 && s->publication_name != NULL)
		{
			const char *params[2];

			params[0] = s->publication_name;
			params[1] = psprintf("%u", t->source_oid);
			t->source.filter = sl_conn_query_text(c, filter_sql, 2, params);
		}
	}
	table_close(rel, NoLock);
}

/* md5 of an expression's bytes, the same on both sides. */
static char *
plan_md5(const SlVerifySide *side, const char *expr)
{
	if (side->convert)
		return psprintf("pg_catalog.md5(pg_catalog.convert_to(%s, 'UTF8'))", expr);
	return psprintf("pg_catalog.md5(%s)", expr);
}

static void
plan_where(StringInfo buf, const SlVerifySide *side)
{
	if (side->filter != NULL)
		appendStringInfo(buf, " WHERE (%s)", side->filter);
}

/*
 * (kh, rh [, k]): hash of the key, hash of the row, start of the key's text.
 * OFFSET 0 keeps the planner from computing a hash once per use.
 */
static char *
plan_hashes(const SlVerifyTable *t, const SlVerifySide *side, bool with_key)
{
	StringInfoData buf;

	initStringInfo(&buf);
	if (t->keyless)
		appendStringInfo(&buf, "SELECT rh AS kh, rh%s FROM (SELECT %s AS rh",
						 with_key ? ", k" : "", plan_md5(side, side->row));
	else
		appendStringInfo(&buf, "SELECT %s AS kh, %s AS rh",
						 plan_md5(side, side->key), plan_md5(side, side->row));
	if (with_key)
		appendStringInfo(&buf, ", pg_catalog.\"left\"(%s, %d) AS k",
						 side->key, SL_VERIFY_KEY_BYTES);
	appendStringInfo(&buf, " FROM %s", side->rel);
	plan_where(&buf, side);
	appendStringInfoString(&buf, " OFFSET 0");
	if (t->keyless)
		appendStringInfoString(&buf, ") h OFFSET 0");
	return buf.data;
}

/* Number of rows. */
char *
sl_verify_count_sql(const SlVerifySide *side)
{
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfo(&buf, "SELECT pg_catalog.count(*) FROM %s", side->rel);
	plan_where(&buf, side);
	return buf.data;
}

/*
 * Per bucket: its prefix, number of rows, and a signature that is the same
 * only for the same multiset of rows (count and the sums of both halves of
 * their hashes; a sum, unlike exclusive or, sees a doubled row).
 */
char *
sl_verify_buckets_sql(const SlVerifyTable *t, const SlVerifySide *side)
{
	return psprintf("SELECT pg_catalog.\"left\"(kh, %d), pg_catalog.count(*),"
					" pg_catalog.count(*)::pg_catalog.text || ':' ||"
					" pg_catalog.sum(('x' || pg_catalog.\"left\"(rh, 16))::pg_catalog.bit(64)::pg_catalog.int8)::pg_catalog.text || ':' ||"
					" pg_catalog.sum(('x' || pg_catalog.\"right\"(rh, 16))::pg_catalog.bit(64)::pg_catalog.int8)::pg_catalog.text"
					" FROM (%s) q GROUP BY 1",
					t->digits, plan_hashes(t, side, false));
}

/* (key hash, row hash, key text) of the buckets, in the order of the hashes. */
char *
sl_verify_rows_sql(const SlVerifyTable *t, const SlVerifySide *side,
				   const char *buckets)
{
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfo(&buf, "SELECT kh, rh, k FROM (%s) q",
					 plan_hashes(t, side, true));
	if (buckets != NULL)
		appendStringInfo(&buf, " WHERE pg_catalog.\"left\"(kh, %d) = ANY ('%s'::pg_catalog.text[])",
						 t->digits, buckets);
	appendStringInfoString(&buf, " ORDER BY kh COLLATE pg_catalog.\"C\", rh COLLATE pg_catalog.\"C\"");
	return buf.data;
}
