/*
 * plan.c
 *	  What of a table is compared, and how.
 *
 * NOTES
 *	  Most values are compared by PostgreSQL's send form, which the codec makes as
 *	  the stream does.  Where the target writes a value in its own way (jsonb, types
 *	  of extensions), it is asked for that.
 */
#include "common/sl_record.h"
#include "bridge/schema/schema_int.h"
#include "bridge/types/pgtype.h"
#include "bridge/verify/verify_int.h"

/* A column's base type and modifier, through domains. */
static const char *const columns_sql =
"WITH RECURSIVE b (attname, typid, typmod) AS ("
" SELECT a.attname, a.atttypid, a.atttypmod FROM pg_catalog.pg_attribute a"
" JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) a.attrelid"
" JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace"
" WHERE n.nspname OPERATOR(pg_catalog.=) $1::pg_catalog.name AND c.relname OPERATOR(pg_catalog.=) $2::pg_catalog.name"
" AND a.attnum OPERATOR(pg_catalog.>) 0 AND NOT a.attisdropped"
" UNION ALL SELECT b.attname, t.typbasetype, t.typtypmod FROM b"
" JOIN pg_catalog.pg_type t ON t.oid OPERATOR(pg_catalog.=) b.typid WHERE t.typtype OPERATOR(pg_catalog.=) 'd')"
" SELECT b.attname, b.typid, b.typmod, pg_catalog.format_type(b.typid, b.typmod), t.typtype"
" FROM b JOIN pg_catalog.pg_type t ON t.oid OPERATOR(pg_catalog.=) b.typid WHERE t.typtype OPERATOR(pg_catalog.<>) 'd'";

static const char *const kind_sql =
"SELECT c.relkind FROM pg_catalog.pg_class c"
" JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace"
" WHERE n.nspname OPERATOR(pg_catalog.=) $1::pg_catalog.name AND c.relname OPERATOR(pg_catalog.=) $2::pg_catalog.name";

static bool
skip(BrVerifyTable *t, const char *fmt,...)
{
	va_list		args;

	va_start(args, fmt);
	vsnprintf(t->skip, sizeof(t->skip), fmt, args);
	va_end(args);
	return false;
}

/* Row of the target's column; -1 = none. */
static int
find(const BrRows *r, const char *name)
{
	for (int i = 0; i < r->nrows; i++)
		if (strcmp(r->values[i * r->ncols], name) == 0)
			return i;
	return -1;
}

static int
scale_of(int32 typmod)
{
	/* as numeric packs it; never negative here */
	return typmod < 4 ? -1 : (typmod - 4) & 0x7ff;
}

/* How it is compared, with the target's type: row of columns_sql.  False: t->skip. */
static bool
choose(BrVerifyTable *t, BrVerifyColumn *c, char *const *row)
{
	uint32		typid = (uint32) strtoul(row[1], NULL, 10);
	int32		typmod = (int32) strtol(row[2], NULL, 10);
	PgKind		kind = pg_kind_of(&c->target);

	if (c->target.typid != 0 && c->target.typid != typid)
		return skip(t, "column \"%s\" is of type %s on the target, where the stream has %s",
					c->def->name, row[3], c->target.type_name);
	c->scale = kind == PG_NUMERIC && c->target.typid != 0 ? scale_of(typmod) : -1;
	c->padded = kind == PG_BPCHAR;
	if (kind == PG_JSONB || (c->target.typid == 0 && row[4][0] != 'e'))
	{
		c->same = BR_SAME_CAST;
		c->cast = pstrdup(row[3]);
		c->versioned = kind == PG_JSONB;
	}
	else if (c->padded || c->target.form == SL_CELL_TEXT)
		c->same = BR_SAME_TEXT;
	return true;
}

static bool
add_column(BrVerify *v, BrVerifyTable *t, const BrCatalog *cat, const BrColumn *def, const BrRows *r)
{
	BrVerifyColumn *c = &t->cols[t->ncols];
	int			row = find(r, def->name);
	MyPolicy	policy;
	SlError		err;

	memset(c, 0, sizeof(*c));
	c->def = def;
	if (row < 0)
		return !br_column_is_carried(t->s, cat, t->def, def) ||
			skip(t, "the target has no column \"%s\"", def->name);
	if (!br_column_target(t->s, cat, t->def, def, &c->target, &err))
		return skip(t, "column \"%s\": %s", def->name, err.detail);
	if (!choose(t, c, &r->values[row * r->ncols]))
		return false;
	(void) br_column_policy(t->s, t->def, def, &policy);
	c->codec = my_codec_create(def->type, &c->target, &policy, &err);
	if (c->codec == NULL)
		return skip(t, "column \"%s\": %s", def->name, err.detail);
	t->ncols++;
	return true;
}

/* The key is whole, or the row is its own. */
static void
choose_key(BrVerifyTable *t)
{
	const BrIndex *index = br_table_identity(t->def);

	t->nkeys = 0;
	if (index == NULL)
		return;
	t->keys = palloc0(index->nparts * sizeof(int));
	for (int i = 0; i < index->nparts; i++)
	{
		int			at = -1;

		for (int j = 0; j < t->ncols; j++)
			if (t->cols[j].def == &t->def->cols[index->parts[i].column])
				at = j;
		if (at < 0)
		{
			t->nkeys = 0;
			return;
		}
		t->keys[t->nkeys++] = at;
	}
}

/* See verify_int.h. */
bool
br_verify_plan(BrVerify *v, const BrCatalog *cat, const BrTable *def, const char *schema,
			   const char *table, BrVerifyTable *t)
{
	BrParam		params[2] = {{.data = schema}, {.data = table}};
	BrError		err;
	BrRows	   *kind = br_target_query(v->data, kind_sql, params, 2, &err);
	BrRows	   *r = kind != NULL ? br_target_query(v->data, columns_sql, params, 2, &err) : NULL;
	bool		ok = true;

	memset(t, 0, sizeof(*t));
	t->s = v->s;
	t->def = def;
	if (r == NULL)
		return br_verify_fail(v, "the target: %s", err.message);
	t->target = psprintf("%s%s", kind->nrows > 0 && kind->values[0][0] == 'r' ? "ONLY " : "",
						 br_qualified(schema, table));
	t->cols = palloc0((def->ncols + 1) * sizeof(BrVerifyColumn));
	for (int i = 0; i < def->ncols && ok; i++)
		ok = add_column(v, t, cat, &def->cols[i], r);
	choose_key(t);
	br_rows_free(kind);
	br_rows_free(r);
	return true;
}
