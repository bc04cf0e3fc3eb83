/*
 * catalog_key.c
 *	  Indexes, foreign keys and CHECK constraints of the source's tables.
 *
 * NOTES
 *	  MariaDB's CHECK on the level of a column has the name that the column had when it got it.  MySQL
 *	  keeps a CHECK's table and whether it is enforced in TABLE_CONSTRAINTS.
 */
#include "bridge/catalog_int.h"

static const char indexes_mysql[] =
"SELECT table_name AS t, index_name AS i, non_unique AS u, column_name AS c, collation AS l,"
" sub_part AS p, index_type AS y, index_comment AS m, is_visible = 'YES' AS v, expression AS e"
" FROM information_schema.statistics WHERE table_schema = $D AND $T"
" ORDER BY BINARY table_name, index_name <> 'PRIMARY', BINARY index_name, seq_in_index";

/* An old MySQL has neither expressions nor invisible indexes. */
static const char indexes_old[] =
"SELECT table_name AS t, index_name AS i, non_unique AS u, column_name AS c, collation AS l,"
" sub_part AS p, index_type AS y, index_comment AS m, 1 AS v, NULL AS e"
" FROM information_schema.statistics WHERE table_schema = $D AND $T"
" ORDER BY BINARY table_name, index_name <> 'PRIMARY', BINARY index_name, seq_in_index";

static const char indexes_mariadb[] =
"SELECT table_name AS t, index_name AS i, non_unique AS u, column_name AS c, collation AS l,"
" sub_part AS p, index_type AS y, index_comment AS m, ignored = 'NO' AS v, NULL AS e"
" FROM information_schema.statistics WHERE table_schema = $D AND $T"
" ORDER BY BINARY table_name, index_name <> 'PRIMARY', BINARY index_name, seq_in_index";

enum
{
	I_TABLE, I_NAME, I_NON_UNIQUE, I_COLUMN, I_ORDER, I_PREFIX, I_TYPE, I_COMMENT,
	I_VISIBLE, I_EXPRESSION
};

/* LEFT, so that one whose actions we may not see is not taken for none. */
static const char fks_sql[] =
"SELECT k.table_name AS t, k.constraint_name AS n, k.column_name AS c,"
" k.referenced_table_schema AS d, k.referenced_table_name AS r, k.referenced_column_name AS f,"
" x.delete_rule AS o, x.update_rule AS u"
" FROM information_schema.key_column_usage k"
" LEFT JOIN information_schema.referential_constraints x"
" ON x.constraint_schema = $D AND x.constraint_name = k.constraint_name"
" AND x.table_name = k.table_name"
" WHERE k.table_schema = $D AND k.referenced_table_name IS NOT NULL AND $T"
" ORDER BY BINARY k.table_name, BINARY k.constraint_name, k.ordinal_position";

enum
{
	F_TABLE, F_NAME, F_COLUMN, F_REF_DATABASE, F_REF_TABLE, F_REF_COLUMN, F_DELETE, F_UPDATE
};

static const char checks_mysql[] =
"SELECT t.table_name AS t, c.constraint_name AS n, c.check_clause AS c, t.enforced = 'YES' AS e, 0 AS o"
" FROM information_schema.check_constraints c"
" JOIN information_schema.table_constraints t ON t.constraint_schema = c.constraint_schema"
" AND t.constraint_name = c.constraint_name AND t.constraint_type = 'CHECK'"
" WHERE c.constraint_schema = $D AND $T"
" ORDER BY BINARY t.table_name, BINARY c.constraint_name";

/* json_valid() belongs to the type there, it is not one of the user's.  It keeps its name when the column is renamed. */
static const char checks_mariadb[] =
"SELECT t.table_name AS t, t.constraint_name AS n, t.check_clause AS c, 1 AS e, t.level = 'Column' AS o"
" FROM information_schema.check_constraints t"
" WHERE t.constraint_schema = $D AND $T AND NOT (t.level = 'Column'"
" AND t.check_clause REGEXP '^json_valid[(]`([^`]|``)+`[)]$')"
" ORDER BY BINARY t.table_name, BINARY t.constraint_name";

enum
{
	K_TABLE, K_NAME, K_CLAUSE, K_ENFORCED, K_OF_COLUMN
};

static bool
is_one(const MxResult *res, int row, int col)
{
	const char *text = mx_value(res, row, col);

	return text && strcmp(text, "1") == 0;
}

static BrIndexKind
index_kind(const char *type)
{
	if (strcmp(type, "BTREE") == 0 || strcmp(type, "HASH") == 0 || strcmp(type, "RTREE") == 0)
		return type[0] == 'R' ? BR_INDEX_SPATIAL : BR_INDEX_BTREE;
	if (strcmp(type, "FULLTEXT") == 0)
		return BR_INDEX_FULLTEXT;
	return strcmp(type, "SPATIAL") == 0 ? BR_INDEX_SPATIAL : BR_INDEX_OTHER;
}

static BrIndex *
index_of(BrTable *t, const MxResult *res, int row)
{
	const char *name = mx_value(res, row, I_NAME);
	BrIndex    *x = t->nindexes > 0 ? &t->indexes[t->nindexes - 1] : NULL;

	if (x && strcmp(x->name, name) == 0)
		return x;
	t->indexes = br_catalog_grow(t->indexes, &t->nindexes, sizeof(BrIndex));
	x = &t->indexes[t->nindexes - 1];
	x->name = pstrdup(name);
	x->primary = strcmp(name, "PRIMARY") == 0;
	x->unique = !is_one(res, row, I_NON_UNIQUE);
	x->visible = is_one(res, row, I_VISIBLE);
	x->kind = index_kind(mx_value(res, row, I_TYPE));
	x->comment = br_catalog_copy(res, row, I_COMMENT);
	return x;
}

/* See catalog_int.h. */
bool
br_catalog_indexes(BrCatalogRead *r)
{
	bool		mariadb = mx_is_mariadb(r->c);
	MxResult   *res = br_catalog_query(r, mariadb ? indexes_mariadb :
									   mx_version(r->c) >= 80013 ? indexes_mysql : indexes_old,
									   "table_name");
	int			at = 0;

	if (res == NULL)
		return false;
	for (int i = 0; i < res->nrows; i++)
	{
		BrTable    *t = br_catalog_at(r, &at, mx_value(res, i, I_TABLE));
		const char *column = mx_value(res, i, I_COLUMN);
		const char *prefix = mx_value(res, i, I_PREFIX);
		const char *order = mx_value(res, i, I_ORDER);
		BrIndexPart *part;
		BrIndex    *x;

		if (t == NULL)
			continue;
		x = index_of(t, res, i);
		x->parts = br_catalog_grow(x->parts, &x->nparts, sizeof(BrIndexPart));
		part = &x->parts[x->nparts - 1];
		part->column = column ? br_table_column(t, column) : -1;
		if (mx_value(res, i, I_EXPRESSION) != NULL)
			part->expression = br_catalog_expression(mx_value(res, i, I_EXPRESSION));
		part->prefix = prefix ? (uint32) strtoul(prefix, NULL, 10) : 0;
		part->descending = order && order[0] == 'D';
	}
	mx_result_free(res);
	return true;
}

static BrForeignKey *
fk_of(BrTable *t, const MxResult *res, int row)
{
	const char *name = mx_value(res, row, F_NAME);
	BrForeignKey *fk = t->nfks > 0 ? &t->fks[t->nfks - 1] : NULL;

	if (fk && strcmp(fk->name, name) == 0)
		return fk;
	t->fks = br_catalog_grow(t->fks, &t->nfks, sizeof(BrForeignKey));
	fk = &t->fks[t->nfks - 1];
	fk->name = pstrdup(name);
	fk->ref_database = br_catalog_copy(res, row, F_REF_DATABASE);
	fk->ref_table = br_catalog_copy(res, row, F_REF_TABLE);
	fk->on_delete = br_catalog_copy(res, row, F_DELETE);
	fk->on_update = br_catalog_copy(res, row, F_UPDATE);
	return fk;
}

static void
take_fk_column(BrTable *t, const MxResult *res, int row)
{
	BrForeignKey *fk = fk_of(t, res, row);
	int			n = fk->ncols;

	fk->columns = br_catalog_grow(fk->columns, &fk->ncols, sizeof(char *));
	fk->columns[n] = br_catalog_copy(res, row, F_COLUMN);
	fk->ref_columns = br_catalog_grow(fk->ref_columns, &n, sizeof(char *));
	fk->ref_columns[n - 1] = br_catalog_copy(res, row, F_REF_COLUMN);
}

/*
 * MariaDB shows a foreign key's columns, and not what it does, to who has
 * nothing but SELECT on the table.
 */
static void
refuse_hidden(BrCatalogRead *r, const char *table)
{
	memset(r->err, 0, sizeof(*r->err));
	snprintf(r->err->message, sizeof(r->err->message),
			 "the login may not see the foreign keys of table \"%s.%s\": GRANT REFERENCES ON that database to it",
			 r->database, table);
}

/* See catalog_int.h. */
bool
br_catalog_foreign_keys(BrCatalogRead *r)
{
	MxResult   *res = br_catalog_query(r, fks_sql, "k.table_name");
	bool		hidden = false;
	int			at = 0;

	if (res == NULL)
		return false;
	for (int i = 0; i < res->nrows && !hidden; i++)
	{
		BrTable    *t = br_catalog_at(r, &at, mx_value(res, i, F_TABLE));

		if (t == NULL)
			continue;
		hidden = mx_value(res, i, F_DELETE) == NULL;
		if (hidden)
			refuse_hidden(r, t->name);
		else
			take_fk_column(t, res, i);
	}
	mx_result_free(res);
	return !hidden;
}

/* A server from before CHECK constraints has no such table. */
static bool
has_checks(const MxConn *c)
{
	return mx_is_mariadb(c) || mx_version(c) >= 80016;
}

/* See catalog_int.h. */
bool
br_catalog_checks(BrCatalogRead *r)
{
	MxResult   *res;
	int			at = 0;

	if (!has_checks(r->c))
		return true;
	res = br_catalog_query(r, mx_is_mariadb(r->c) ? checks_mariadb : checks_mysql,
						   "t.table_name");
	if (res == NULL)
		return false;
	for (int i = 0; i < res->nrows; i++)
	{
		BrTable    *t = br_catalog_at(r, &at, mx_value(res, i, K_TABLE));
		BrCheck    *k;

		if (t == NULL)
			continue;
		t->checks = br_catalog_grow(t->checks, &t->nchecks, sizeof(BrCheck));
		k = &t->checks[t->nchecks - 1];
		k->name = br_catalog_copy(res, i, K_NAME);
		k->clause = mx_is_mariadb(r->c) ? br_catalog_copy(res, i, K_CLAUSE) : br_catalog_expression(mx_value(res, i, K_CLAUSE));
		k->enforced = is_one(res, i, K_ENFORCED);
		k->of_column = is_one(res, i, K_OF_COLUMN);
	}
	mx_result_free(res);
	return true;
}
