/*
 * plan_table.c
 *	  CREATE TABLE and what completes a table before its rows come.
 *
 * NOTES
 *	  A partition is made as a table of its own and attached afterwards, so
 *	  that it keeps its own columns' order, defaults and constraints.  A table
 *	  of INHERITS declares what is its own, and overrides afterwards
 *	  (plan_inherit.c).
 */
#include "postgres.h"

#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "pgext/plan_int.h"
#include "pgext/pgcompat.h"

static bool
inherited_check(const PlanRel *rel, const char *name)
{
	ListCell   *lc;
	ListCell   *c;

	if (rel->apart)
		return false;
	foreach(lc, rel->inherits)
		foreach(c, ((PlanRel *) lfirst(lc))->constraints)
	{
		const PlanConstraint *con = lfirst(c);

		if (con->type == 'c' && strcmp(con->name, name) == 0 &&
			!con->noinherit && (con->validated || !con->enforced))
			return true;
	}
	return false;
}

static const char *
compression_clause(SlObject *o, const PlanColumn *col)
{
	if (col->compression == 'p')
		return " COMPRESSION pglz";
	if (col->compression != 'l')
		return "";
#ifdef USE_LZ4
	return " COMPRESSION lz4";
#else
	sl_plan_note(o, "column %s is compressed with lz4 on the source, which this server was built without",
				 quote_identifier(col->name));
	return "";
#endif
}

/* An identity column of a partition is its root's, where releases do so. */
static bool
has_own_identity(PlanBuild *b, const PlanRel *rel, const PlanColumn *col)
{
	if (col->identity == 0)
		return false;
	return !rel->is_partition ||
		(b->c->server_version < 170000 && !SL_COMPAT_PARTITIONS_SHARE_IDENTITY);
}

/* Does CREATE TABLE take the default of an inherited column away? */
static bool
hides_default(const PlanRel *rel, const PlanColumn *col)
{
	const PlanColumn *parent = sl_plan_inherited(rel, col->name);

	return col->expr == NULL && parent && parent->generated == 0 &&
		sl_plan_inherited_default(rel, col->name) != NULL;
}

static void
append_value(PlanBuild *b, SlObject *o, StringInfo buf, const PlanRel *rel,
			 const PlanColumn *col)
{
	char	   *what = psprintf("%s of column %s",
								col->generated ? "the expression" : "the default",
								quote_identifier(col->name));
	char	   *expr;

	if (has_own_identity(b, rel, col))
		appendStringInfo(buf, " GENERATED %s AS IDENTITY%s",
						 col->identity == 'a' ? "ALWAYS" : "BY DEFAULT",
						 sl_plan_identity(b, o, rel, col));
	else if (col->expr)
	{
		expr = sl_plan_expr(b, o, col->expr, what);
		if (col->generated == 'v' && !SL_COMPAT_VIRTUAL_COLUMNS)
			sl_plan_fault(o, "column %s is a virtual generated column, which this server's release does not have",
						  quote_identifier(col->name));
		if (expr && col->generated)
			appendStringInfo(buf, " GENERATED ALWAYS AS (%s) %s", expr,
							 col->generated == 'v' ? "VIRTUAL" : "STORED");
		else if (expr)
			appendStringInfo(buf, " DEFAULT %s", expr);
	}
	else if (hides_default(rel, col))
		appendStringInfoString(buf, " DEFAULT NULL");
}

static void
append_not_null(StringInfo buf, const PlanRel *rel, const PlanColumn *col)
{
	if (!col->notnull && !(rel->apart && sl_plan_parents_not_null(rel, col->name)))
		return;
	if (SL_COMPAT_NAMED_NOT_NULL && col->nn_name &&
		(col->nn_noinherit ||
		 strcmp(col->nn_name, psprintf("%s_%s_not_null", rel->name, col->name)) != 0))
		appendStringInfo(buf, " CONSTRAINT %s", quote_identifier(col->nn_name));
	appendStringInfoString(buf, " NOT NULL");
	if (SL_COMPAT_NAMED_NOT_NULL && col->nn_noinherit)
		appendStringInfoString(buf, " NO INHERIT");
}

static void
append_type(PlanBuild *b, SlObject *o, StringInfo buf, const PlanColumn *col)
{
	char	   *type;

	type = sl_plan_type(b, o, col->type,
						psprintf("the type of column %s", quote_identifier(col->name)));
	appendStringInfo(buf, " %s%s%s", type ? type : "", compression_clause(o, col),
					 sl_plan_collate(b, o, col->coll_schema, col->coll_name));
}

/*
 * CHECKs that hold for all rows are part of CREATE TABLE; one that does not is
 * added after the rows (plan_constraint.c).
 */
static char *
check_clause(PlanBuild *b, SlObject *o, const PlanRel *rel, const PlanConstraint *con)
{
	char	   *expr;

	if (con->type != 'c' || (!con->validated && con->enforced))
		return NULL;
	if (!con->islocal && !rel->is_partition && inherited_check(rel, con->name))
		return NULL;
	expr = sl_plan_expr(b, o, con->expr,
						psprintf("check constraint %s", quote_identifier(con->name)));
	if (!con->enforced && !SL_COMPAT_NOT_ENFORCED)
	{
		sl_plan_note(o, "check constraint %s is not enforced on the source and not carried",
					 quote_identifier(con->name));
		return NULL;
	}
	return expr ? psprintf("CONSTRAINT %s CHECK (%s)%s%s", quote_identifier(con->name), expr,
						   con->noinherit ? " NO INHERIT" : "",
						   con->enforced ? "" : " NOT ENFORCED") : NULL;
}

/* Columns and checks; of a typed table only what its type does not say. */
static char *
body(PlanBuild *b, SlObject *o, const PlanRel *rel)
{
	StringInfoData buf;
	bool		typed = OidIsValid(rel->oftype);
	ListCell   *lc;

	initStringInfo(&buf);
	for (int i = 0; i < rel->ncols; i++)
	{
		const PlanColumn *col = &rel->cols[i];
		StringInfoData one;

		if (!col->printed)
			continue;
		initStringInfo(&one);
		if (!typed)
			append_type(b, o, &one, col);
		append_value(b, o, &one, rel, col);
		append_not_null(&one, rel, col);
		if (one.len > 0)
			appendStringInfo(&buf, "%s%s%s", buf.len ? ", " : "",
							 quote_identifier(col->name), one.data);
	}
	foreach(lc, rel->constraints)
	{
		char	   *check = check_clause(b, o, rel, lfirst(lc));

		if (check)
			appendStringInfo(&buf, "%s%s", buf.len ? ", " : "", check);
	}
	return buf.data;
}

/* PARTITION BY as the gate gives it back. */
static char *
partition_by(PlanBuild *b, SlObject *o, const PlanRel *rel)
{
	char	   *sql = psprintf("CREATE TABLE %s () PARTITION BY %s",
							   sl_plan_qualified(rel->schema, rel->name), rel->partkey);
	char	   *prefix = psprintf("CREATE TABLE %s () ", sl_plan_relname(rel));

	sql = sl_plan_statement(b, o, T_CreateStmt, sql);
	if (sql == NULL)
		return "";
	if (strncmp(sql, prefix, strlen(prefix)) != 0)
	{
		sl_plan_fault(o, "has a partition key that could not be read");
		return "";
	}
	return psprintf(" %s", sql + strlen(prefix));
}

static char *
storage_clause(const PlanRel *rel)
{
	char	   *own = sl_plan_options(rel->options, "");
	char	   *toast = sl_plan_options(rel->toast_options, "toast.");

	if (own[0] == '\0' && toast[0] == '\0')
		return "";
	return psprintf(" WITH (%s%s%s)", own, own[0] && toast[0] ? ", " : "", toast);
}

static char *
inherits_clause(const PlanRel *rel)
{
	StringInfoData buf;
	ListCell   *lc;

	if (rel->inherits == NIL || rel->apart)
		return "";
	initStringInfo(&buf);
	foreach(lc, rel->inherits)
		appendStringInfo(&buf, "%s%s", buf.len ? ", " : " INHERITS (",
						 sl_plan_relname((PlanRel *) lfirst(lc)));
	appendStringInfoChar(&buf, ')');
	return buf.data;
}

static void
create_table(PlanBuild *b, SlObject *o, const PlanRel *rel)
{
	StringInfoData buf;
	const PlanType *of = sl_plan_oid_get(b->type_by_oid, rel->oftype);
	char	   *cols;

	if (rel->am && strcmp(rel->am, "heap") != 0)
		sl_plan_fault(o, "uses table access method %s", quote_identifier(rel->am));
	if (rel->tablespace)
		sl_plan_note(o, "tablespace %s is not carried", quote_identifier(rel->tablespace));

	cols = body(b, o, rel);
	initStringInfo(&buf);
	appendStringInfo(&buf, "CREATE %sTABLE %s", rel->persistence == 'u' ? "UNLOGGED " : "",
					 sl_plan_relname(rel));
	if (of)
		appendStringInfo(&buf, " OF %s", sl_plan_qualified(of->tschema, of->name));
	if (of == NULL || cols[0])
		appendStringInfo(&buf, " (%s)", cols);
	appendStringInfoString(&buf, inherits_clause(rel));
	if (rel->partkey)
		appendStringInfoString(&buf, partition_by(b, o, rel));
	appendStringInfoString(&buf, storage_clause(rel));
	sl_plan_ddl(b, o, buf.data);
}

static void
attach_partition(PlanBuild *b, const PlanRel *rel)
{
	const PlanRel *parent = sl_plan_oid_get(b->rel_by_oid, rel->parent);
	SlObject   *o;
	char	   *bound;

	o = sl_plan_add(b, SL_OBJ_PARTITION, SL_STAGE_BEFORE, rel, rel->tschema, rel->name);
	bound = sl_plan_bound(b, o, rel->bound);
	if (bound)
		sl_plan_ddl(b, o, psprintf("ALTER TABLE ONLY %s ATTACH PARTITION %s %s",
								   sl_plan_relname(parent), sl_plan_relname(rel), bound));
}

static const char *
storage_name(char storage)
{
	switch (storage)
	{
		case 'p':
			return "PLAIN";
		case 'e':
			return "EXTERNAL";
		case 'm':
			return "MAIN";
		default:
			return "EXTENDED";
	}
}

static void
append_setting(StringInfo buf, const PlanColumn *col, const char *what)
{
	appendStringInfo(buf, "%sALTER COLUMN %s %s", buf->len ? ", " : "",
					 quote_identifier(col->name), what);
}

static const char *
compression_name(const PlanColumn *col)
{
	if (col->compression == 'p')
		return "pglz";
#ifdef USE_LZ4
	if (col->compression == 'l')
		return "lz4";
#endif
	return "default";
}

/* NOT NULL where it is not what the parents have. */
static void
append_null(StringInfo buf, const PlanRel *rel, const PlanColumn *col,
			const PlanColumn *parent)
{
	bool		given = sl_plan_parents_not_null(rel, col->name);

	if (parent && !col->printed && col->notnull && !given)
		append_setting(buf, col, "SET NOT NULL");
	if (!col->notnull && given && !SL_COMPAT_NAMED_NOT_NULL)
		append_setting(buf, col, "DROP NOT NULL");
}

/* What CREATE TABLE cannot say of columns, in one ALTER TABLE. */
static void
column_settings(PlanBuild *b, const PlanRel *rel)
{
	SlObject   *o = NULL;
	StringInfoData buf;

	initStringInfo(&buf);
	for (int i = 0; i < rel->ncols; i++)
	{
		const PlanColumn *col = &rel->cols[i];
		const PlanColumn *parent = sl_plan_inherited(rel, col->name);

		if (col->storage || (parent && parent->storage))
			append_setting(&buf, col, psprintf("SET STORAGE %s",
											   storage_name(col->storage ? col->storage : col->type_storage)));
		if (parent && col->compression != parent->compression)
			append_setting(&buf, col, psprintf("SET COMPRESSION %s", compression_name(col)));
		if (col->stattarget >= 0)
			append_setting(&buf, col, psprintf("SET STATISTICS %d", col->stattarget));
		if (col->options)
			append_setting(&buf, col, psprintf("SET (%s)", sl_plan_options(col->options, "")));
		append_null(&buf, rel, col, parent);
	}
	if (buf.len == 0)
		return;
	o = sl_plan_add(b, SL_OBJ_COLUMN, SL_STAGE_BEFORE, rel, rel->tschema, rel->name);
	sl_plan_ddl(b, o, psprintf("ALTER TABLE ONLY %s %s", sl_plan_relname(rel), buf.data));
}

static bool
same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Defaults and identities that a child of INHERITS has of its own. */
static void
own_defaults(PlanBuild *b, const PlanRel *rel)
{
	for (int i = 0; i < rel->ncols; i++)
	{
		const PlanColumn *col = &rel->cols[i];
		const PlanColumn *parent = col->printed ? NULL : sl_plan_inherited(rel, col->name);
		StringInfoData buf;
		SlObject   *o;
		char	   *expr = NULL;

		if (parent == NULL || col->generated ||
			(same_text(col->expr, sl_plan_inherited_default(rel, col->name)) && !col->identity))
			continue;
		o = sl_plan_add(b, SL_OBJ_DEFAULT, SL_STAGE_BEFORE, rel, rel->tschema, col->name);
		initStringInfo(&buf);
		appendStringInfo(&buf, "ALTER TABLE ONLY %s ALTER COLUMN %s ",
						 sl_plan_relname(rel), quote_identifier(col->name));
		if (col->identity)
			appendStringInfo(&buf, "ADD GENERATED %s AS IDENTITY%s",
							 col->identity == 'a' ? "ALWAYS" : "BY DEFAULT",
							 sl_plan_identity(b, o, rel, col));
		else if (col->expr == NULL)
			appendStringInfoString(&buf, "DROP DEFAULT");
		else if ((expr = sl_plan_expr(b, o, col->expr, "the default")) != NULL)
			appendStringInfo(&buf, "SET DEFAULT %s", expr);
		sl_plan_ddl(b, o, buf.data);
	}
}

/*
 * The objects of one table before its rows: the table, its place in its tree,
 * settings of its columns.
 */
void
sl_plan_table(PlanBuild *b, PlanRel *rel)
{
	SlObject   *o;

	if (!rel->build && rel->root != rel)
		return;
	if (rel->relkind == 'f')
	{
		sl_plan_left(b, SL_OBJ_FOREIGN_TABLE, rel, rel->tschema, rel->name,
					 "a foreign table as a partition");
		return;
	}
	sl_plan_need_schema(b, rel->tschema);
	o = sl_plan_add(b, SL_OBJ_TABLE, SL_STAGE_BEFORE, rel, rel->tschema, rel->name);
	if (rel->there || !rel->build)
		o->state = SL_OBJECT_EXISTS;
	sl_plan_claim(b, o, 'r', rel->name);
	if (!rel->build)
		return;
	if (o->state == SL_OBJECT_PLANNED)
		create_table(b, o, rel);
	if (rel->is_partition)
		attach_partition(b, rel);
	else if (rel->apart)
		sl_plan_inherit(b, rel);
	column_settings(b, rel);
	own_defaults(b, rel);
}
