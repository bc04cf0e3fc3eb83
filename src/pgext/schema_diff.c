/*
 * schema_diff.c
 *	  sluice.schema_diff: in what the target's tables differ from the source's.
 *
 * NOTES
 *	  One statement (schema_diff_sql.c) describes the objects on each side; the
 *	  rows are sorted the same way here and walked side by side.  Only catalogs
 *	  are read, so no row's value can come out.  For a source that sluice-bridge
 *	  reads, its side is what the bridge would make of it (schema_diff_bridge.c).
 */
#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/tuplestore.h"

#include "pgext/api.h"
#include "pgext/schema_diff_int.h"
#include "pgext/sequence_pg.h"
#include "pgext/source_mysql.h"
#include "pgext/spi_util.h"
#include "pgext/pgcompat.h"

PG_FUNCTION_INFO_V1(sluice_schema_diff);

/* See schema_diff_int.h. */
char *
sl_diff_array(const char *const *texts, int n)
{
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfoChar(&buf, '{');
	for (int i = 0; i < n; i++)
	{
		appendStringInfoString(&buf, i ? ",\"" : "\"");
		for (const char *p = texts[i]; *p; p++)
		{
			if (*p == '"' || *p == '\\')
				appendStringInfoChar(&buf, '\\');
			appendStringInfoChar(&buf, *p);
		}
		appendStringInfoChar(&buf, '"');
	}
	appendStringInfoChar(&buf, '}');
	return buf.data;
}

/* Of one member of the objects. */
static char *
array_of(const SlDiffObject *objects, int n, size_t member)
{
	const char **texts = palloc(sizeof(char *) * (n + 1));

	for (int i = 0; i < n; i++)
		texts[i] = *(const char *const *) ((const char *) &objects[i] + member);
	return sl_diff_array(texts, n);
}

static SlDiffItems
no_items(void)
{
	SlDiffItems list = {.room = 256};

	list.items = palloc(sizeof(SlDiffItem) * list.room);
	return list;
}

/* See schema_diff_int.h. */
SlDiffItem *
sl_diff_add(SlDiffItems *to)
{
	SlDiffItem *item;

	if (to->n == to->room)
	{
		to->room *= 2;
		to->items = repalloc_huge(to->items, sizeof(SlDiffItem) * to->room);
	}
	item = &to->items[to->n++];
	memset(item, 0, sizeof(*item));
	return item;
}

static void
parameters(const SlDiff *d, size_t schema, size_t name, const char **params)
{
	params[0] = array_of(d->tables, d->ntables, schema);
	params[1] = array_of(d->tables, d->ntables, name);
	params[2] = array_of(d->sequences, d->nsequences, schema);
	params[3] = array_of(d->sequences, d->nsequences, name);
}

static void
fill_item(SlDiffItem *item, char **fields)
{
	item->ord = pg_strtoint32(fields[SL_SCHEMA_ORD]);
	item->rel_schema = item->key_schema = fields[SL_SCHEMA_REL_SCHEMA];
	item->rel_name = fields[SL_SCHEMA_REL_NAME];
	item->rank = pg_strtoint32(fields[SL_SCHEMA_RANK]);
	item->kind = fields[SL_SCHEMA_KIND];
	item->name = fields[SL_SCHEMA_NAME];
	item->definition = fields[SL_SCHEMA_DEFINITION];
}

static void
read_source(const SlDiff *d, SlConn *c, SlDiffItems *to)
{
	const char *params[4];
	PGresult   *res;
	int			n;

	parameters(d, offsetof(SlDiffObject, schema), offsetof(SlDiffObject, name), params);
	res = sl_conn_query(c, PGRES_TUPLES_OK, sl_schema_sql, lengthof(params), params);
	n = PQntuples(res);
	for (int i = 0; i < n; i++)
	{
		char	   *fields[SL_SCHEMA_COLUMNS];
		SlDiffItem *item = sl_diff_add(to);

		for (int f = 0; f < SL_SCHEMA_COLUMNS; f++)
			fields[f] = PQgetisnull(res, i, f) ? NULL : pstrdup(PQgetvalue(res, i, f));
		fill_item(item, fields);
		if (fields[SL_SCHEMA_REL_SCHEMA])
			item->key_schema = sl_stream_target_schema(d->s, fields[SL_SCHEMA_REL_SCHEMA]);
	}
	PQclear(res);
}

/* See schema_diff_int.h. */
void
sl_diff_describe(const SlDiff *d, const char *const *params, SlDiffItems *to)
{
	SlUserSwitch sw;
	uint64		n;

	sl_become_extension_owner(&sw);
	sl_spi_enter();
	n = sl_spi_exec(sl_schema_sql, SPI_OK_SELECT, 4, params);
	for (uint64 i = 0; i < n; i++)
	{
		char	   *fields[SL_SCHEMA_COLUMNS];

		for (int f = 0; f < SL_SCHEMA_COLUMNS; f++)
			fields[f] = sl_spi_text(i, f + 1, d->cxt);
		fill_item(sl_diff_add(to), fields);
	}
	sl_spi_leave();
	sl_become_back(&sw);
}

static void
read_target(const SlDiff *d, SlDiffItems *to)
{
	const char *params[4];

	parameters(d, offsetof(SlDiffObject, target_schema),
			   offsetof(SlDiffObject, target_name), params);
	sl_diff_describe(d, params, to);
}

static int
compare_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

static int
compare_relations(const SlDiffItem *a, const SlDiffItem *b)
{
	int			d;

	if (a->ord != b->ord)
	{
		/* tables in their order, then sequences in theirs */
		if ((a->ord > 0) != (b->ord > 0))
			return a->ord > 0 ? -1 : 1;
		return abs(a->ord) < abs(b->ord) ? -1 : 1;
	}
	d = compare_text(a->key_schema, b->key_schema);
	return d ? d : compare_text(a->rel_name, b->rel_name);
}

static int
compare_items(const void *x, const void *y)
{
	const SlDiffItem *a = x;
	const SlDiffItem *b = y;
	int			d = compare_relations(a, b);

	if (d == 0)
		d = a->rank - b->rank;
	return d ? d : compare_text(a->name, b->name);
}

/* A partition that both sides have is shown under its name on the source. */
static void
name_as_source(const SlDiffItem *source, int nsource, SlDiffItem *target, int ntarget)
{
	for (int j = 0; j < ntarget; j++)
	{
		SlDiffItem	key = target[j];
		const SlDiffItem *found;

		if (key.rel_schema == NULL)
			continue;
		key.rank = 0;
		key.name = NULL;
		found = bsearch(&key, source, nsource, sizeof(SlDiffItem), compare_items);
		if (found)
			target[j].rel_schema = found->rel_schema;
	}
}

/* Show an item of either side; source, target: its definition there, NULL where a side lacks it. */
static void
emit(const SlDiff *d, const SlDiffItem *item, const char *difference, const char *source,
	 const char *target)
{
	const SlDiffObject *o = item->ord > 0 ? &d->tables[item->ord - 1] :
	&d->sequences[-item->ord - 1];
	const char *schema = item->rel_schema ? item->rel_schema : o->schema;
	const char *table = item->rel_name ? item->rel_name : o->name;
	const char *texts[7] = {schema, item->ord > 0 ? table : NULL, item->kind,
		item->name ? item->name : table,
	difference, source, target};
	Datum		values[lengthof(texts)] = {0};
	bool		nulls[lengthof(texts)] = {0};

	for (int i = 0; i < lengthof(texts); i++)
	{
		nulls[i] = texts[i] == NULL;
		if (!nulls[i])
			values[i] = CStringGetTextDatum(texts[i]);
	}
	tuplestore_putvalues(d->rsinfo->setResult, d->rsinfo->setDesc, values, nulls);
}

/* Behind everything of the relation at i. */
static int
skip_relation(const SlDiffItem *items, int n, int i)
{
	int			j = i + 1;

	while (j < n && compare_relations(&items[i], &items[j]) == 0)
		j++;
	return j;
}

/*
 * Walk both sides.  A relation that one side lacks is one row: its columns and
 * keys are not listed as well.
 */
static void
walk(const SlDiff *d, const SlDiffItem *a, int na, const SlDiffItem *b, int nb)
{
	int			i = 0;
	int			j = 0;

	while (i < na || j < nb)
	{
		int			c = i == na ? 1 : j == nb ? -1 : compare_items(&a[i], &b[j]);

		if (c == 0)
		{
			bool		fault = a[i].fault;

			if (!sl_schema_same(d->s, a[i].definition, b[j].definition))
				emit(d, &a[i], "different", a[i].definition, b[j].definition);
			i = fault ? skip_relation(a, na, i) : i + 1;
			j = fault ? skip_relation(b, nb, j) : j + 1;
		}
		else if (c < 0)
		{
			emit(d, &a[i], "missing on the target", a[i].definition, NULL);
			i = a[i].rank == 0 ? skip_relation(a, na, i) : i + 1;
		}
		else
		{
			emit(d, &b[j], "only on the target", NULL, b[j].definition);
			j = b[j].rank == 0 ? skip_relation(b, nb, j) : j + 1;
		}
		CHECK_FOR_INTERRUPTS();
	}
}

static void
find_tables(SlDiff *d)
{
	SlStreamTable *tables;
	int			n = sl_stream_tables(d->s->stream_id, &tables);

	d->tables = palloc0_array(SlDiffObject, n + 1);
	for (int i = 0; i < n; i++)
	{
		SlDiffObject *o = &d->tables[d->ntables];
		char	   *name = OidIsValid(tables[i].target_relid) ?
		get_rel_name(tables[i].target_relid) : NULL;

		if (strcmp(tables[i].state, "dropped") == 0 ||
			strcmp(tables[i].state, "abandoned") == 0)
			continue;
		o->schema = tables[i].schema;
		o->name = tables[i].table;
		o->target_name = name ? name : tables[i].table;
		o->target_schema = name ?
			get_namespace_name(get_rel_namespace(tables[i].target_relid)) :
			sl_stream_target_schema(d->s, tables[i].schema);
		d->ntables++;
	}
}

static void
find_sequences(SlDiff *d, SlConn *c)
{
	SlSourceTable *tables;
	SlSequence *seqs;
	int			ntables = sl_pg_tables(c, d->s, &tables);
	int			n = sl_pg_sequences(c, d->s, tables, ntables, &seqs);

	d->sequences = palloc0_array(SlDiffObject, n + 1);
	for (int i = 0; i < n; i++)
	{
		SlDiffObject *o = &d->sequences[d->nsequences];

		if (seqs[i].own_table)
			continue;
		o->schema = seqs[i].schema;
		o->name = o->target_name = seqs[i].name;
		o->target_schema = sl_stream_target_schema(d->s, seqs[i].schema);
		d->nsequences++;
	}
}

/* What the source says of its tables. */
static void
read_pg(SlDiff *d, const SlSource *src, SlDiffItems *source)
{
	SlConn	   *c = sl_conn_open(src, false, "the source's catalog", NULL, CurrentMemoryContext);

	find_tables(d);
	find_sequences(d, c);
	read_source(d, c, source);
	sl_conn_close(c);
}

static void
compare(const SlDiff *d, SlDiffItems *source, SlDiffItems *target)
{
	qsort(source->items, source->n, sizeof(SlDiffItem), compare_items);
	qsort(target->items, target->n, sizeof(SlDiffItem), compare_items);
	name_as_source(source->items, source->n, target->items, target->n);
	walk(d, source->items, source->n, target->items, target->n);
}

/*
 * sluice.schema_diff(stream_id text): a row for each object that differs.
 * Raises 42501 for who is no member of the owner, 0A000 for a stream without a
 * source, and what connecting or asking a bridge raises.
 */
Datum
sluice_schema_diff(PG_FUNCTION_ARGS)
{
	SlDiff		d = {.s = sl_stream_load(sl_arg_text(fcinfo, 0, "stream_id"), false),
	.cxt = CurrentMemoryContext};
	SlDiffItems source = no_items();
	SlDiffItems target = no_items();
	SlSource   *src;

	sl_require_owner(d.s);
	if (d.s->source_server == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("stream \"%s\" has no source to compare with", d.s->stream_id),
				 errhint("Compare the schemas with a tool of the source's own.")));
	InitMaterializedSRF(fcinfo, 0);
	d.rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	src = sl_source_resolve(d.s->source_server, d.s->owner);
	if (sl_driver_is_bridged(d.s->driver))
	{
		find_tables(&d);
		sl_diff_read_bridged(&d, src, &source, &target);
	}
	else
		read_pg(&d, src, &source);
	read_target(&d, &target);
	compare(&d, &source, &target);
	return (Datum) 0;
}
