/*
 * catalog.c
 *	  The source's tables, and what is there beside them.
 *
 * NOTES
 *	  information_schema is read table by table of its own, each in one query
 *	  ordered by the described table's name, and merged.  The names of the
 *	  columns are given by AS: MySQL 8 and later answer in upper case.
 */
#include "bridge/catalog_int.h"

static const char tables_sql[] =
"SELECT table_name AS t, table_type AS k, engine AS e, table_comment AS m,"
" table_rows AS n, COALESCE(data_length, 0) AS b, auto_increment AS a,"
" COALESCE(create_options, '') LIKE '%partitioned%' AS p, table_collation AS l"
" FROM information_schema.tables WHERE table_schema = $D AND $T"
" ORDER BY BINARY table_name";

static const char objects_sql[] =
"SELECT 'trigger', trigger_name FROM information_schema.triggers WHERE trigger_schema = $D"
" UNION ALL SELECT 'event', event_name FROM information_schema.events WHERE event_schema = $D"
" UNION ALL SELECT LOWER(routine_type), routine_name FROM information_schema.routines"
" WHERE routine_schema = $D"
" UNION ALL SELECT 'view', table_name FROM information_schema.views WHERE table_schema = $D"
" ORDER BY 1, 2";

enum
{
	T_NAME, T_KIND, T_ENGINE, T_COMMENT, T_ROWS, T_BYTES, T_AUTO, T_PARTITIONED, T_COLLATION
};

/* See catalog_int.h. */
void *
br_catalog_grow(void *array, int *n, size_t size)
{
	/* to the next power of two, by doubling when one is reached */
	if ((*n & (*n - 1)) == 0)
	{
		size_t		room = Max(*n * 2, 4) * size;

		array = array ? repalloc(array, room) : palloc(room);
	}
	memset((char *) array + *n * size, 0, size);
	(*n)++;
	return array;
}

/* See catalog_int.h. */
MxResult *
br_catalog_query(BrCatalogRead *r, const char *sql, const char *column)
{
	StringInfoData buf;
	MxResult   *res;

	initStringInfo(&buf);
	for (const char *p = sql; *p; p++)
	{
		if (p[0] != '$' || (p[1] != 'D' && p[1] != 'T'))
			appendStringInfoChar(&buf, *p);
		else if (*++p == 'D')
			(void) mx_append_literal(&buf, r->database, strlen(r->database));
		else if (r->table == NULL)
			appendStringInfoString(&buf, "TRUE");
		else
		{
			appendStringInfo(&buf, "%s = ", column);
			(void) mx_append_literal(&buf, r->table, strlen(r->table));
		}
	}
	res = mx_query(r->c, buf.data, r->err);
	pfree(buf.data);
	return res;
}

/* See catalog_int.h. */
BrTable *
br_catalog_at(BrCatalogRead *r, int *at, const char *name)
{
	while (*at < r->cat->ntables)
	{
		int			differs = strcmp(r->cat->tables[*at].name, name);

		if (differs == 0)
			return &r->cat->tables[*at];
		if (differs > 0)
			return NULL;
		(*at)++;
	}
	return NULL;
}

static uint64
number(const MxResult *res, int row, int col)
{
	const char *text = mx_value(res, row, col);

	return text ? strtou64(text, NULL, 10) : 0;
}

/* See catalog_int.h. */
const char *
br_catalog_copy(const MxResult *res, int row, int col)
{
	const char *text = mx_value(res, row, col);

	return text ? pstrdup(text) : NULL;
}

static bool
is_view(const char *kind)
{
	return strstr(kind, "VIEW") != NULL;
}

static bool
read_tables(BrCatalogRead *r)
{
	MxResult   *res = br_catalog_query(r, tables_sql, "table_name");
	BrCatalog  *cat = r->cat;

	if (res == NULL)
		return false;
	cat->tables = palloc0(Max(res->nrows, 1) * sizeof(BrTable));
	for (int i = 0; i < res->nrows; i++)
	{
		BrTable    *t = &cat->tables[cat->ntables];

		if (is_view(mx_value(res, i, T_KIND)))
			continue;
		t->database = r->database;
		t->name = br_catalog_copy(res, i, T_NAME);
		t->kind = br_catalog_copy(res, i, T_KIND);
		t->engine = br_catalog_copy(res, i, T_ENGINE);
		t->comment = br_catalog_copy(res, i, T_COMMENT);
		t->rows = number(res, i, T_ROWS);
		t->bytes = number(res, i, T_BYTES);
		t->auto_increment = number(res, i, T_AUTO);
		t->partitioned = number(res, i, T_PARTITIONED) != 0;
		t->collation = br_catalog_copy(res, i, T_COLLATION);
		cat->ntables++;
	}
	mx_result_free(res);
	return true;
}

static bool
read_objects(BrCatalogRead *r)
{
	MxResult   *res = br_catalog_query(r, objects_sql, "");
	BrCatalog  *cat = r->cat;

	if (res == NULL)
		return false;
	cat->objects = palloc0(Max(res->nrows, 1) * sizeof(BrObject));
	cat->nobjects = res->nrows;
	for (int i = 0; i < res->nrows; i++)
	{
		cat->objects[i].kind = br_catalog_copy(res, i, 0);
		cat->objects[i].name = br_catalog_copy(res, i, 1);
	}
	mx_result_free(res);
	return true;
}

/* See catalog.h. */
BrCatalog *
br_catalog_read(MxConn *c, const char *database, const char *table, MxError *err)
{
	BrCatalogRead r = {.c = c, .database = pstrdup(database), .table = table, .err = err};

	r.cat = palloc0(sizeof(BrCatalog));
	r.cat->database = r.database;
	if (!read_tables(&r) || !br_catalog_columns(&r) || !br_catalog_indexes(&r) ||
		!br_catalog_foreign_keys(&r) || !br_catalog_checks(&r))
		return NULL;
	if (table == NULL && !read_objects(&r))
		return NULL;
	br_catalog_link(r.cat);
	return r.cat;
}
