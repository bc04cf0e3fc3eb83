/*
 * follow_table.c
 *	  A followed table: its shape, a codec for each carried column, and whether
 *	  what the log says of it is what the catalog says.
 */
#include "bridge/follow_int.h"
#include "bridge/types/charset.h"

/* Marker of a table whose log and catalog differ. */
#define CHANGED		"SCHEMA-CHANGE-REFUSED"

static const char *const changed_hint =
"The table was changed while its rows waited in the source's log: drop the stream and start it anew.";

/* Engines whose rows stay when their transaction is rolled back. */
static bool
is_transactional(const BrTable *def)
{
	static const char *const plain[] = {
		"MyISAM", "MRG_MyISAM", "MEMORY", "HEAP", "CSV", "ARCHIVE", "BLACKHOLE", "Aria", "S3"
	};

	for (int i = 0; i < lengthof(plain); i++)
		if (def->engine != NULL && pg_strcasecmp(def->engine, plain[i]) == 0)
			return false;
	return true;
}

/* ---------- a table ---------- */

static int
cell_of(const SlShape *shape, const char *name)
{
	for (int i = 0; i < shape->ncols; i++)
		if (strcmp(shape->cols[i].name, name) == 0)
			return i;
	return -1;
}

static bool
make_column(BrFlowTable *t, int i, const MyTarget *target, const MyPolicy *policy, BrStop *stop)
{
	BrFlowColumn *c = &t->cols[i];
	SlError		err;

	c->def = &t->def->cols[i];
	c->cell = cell_of(t->shape, c->def->name);
	if (c->cell < 0)
		return true;
	c->key = (t->shape->cols[c->cell].flags & SL_COL_KEY) != 0;
	c->target = *target;
	c->codec = my_codec_create(c->def->type, &c->target, policy, &err);
	if (c->codec != NULL)
		return true;
	br_stop(stop, "SCHEMA-NOT-CARRIED", "column \"%s\" of table \"%s.%s\" cannot be carried: %s",
			c->def->name, t->def->database, t->def->name, err.detail);
	br_stop_table(stop, t->def->database, t->def->name, c->def->name);
	return false;
}

BrFlowTable *
br_flow_table(const BrTable *def, SlShape *shape, const MyTarget *targets, const MyPolicy *policies,
			  BrStop *stop)
{
	BrFlowTable *t = palloc0(sizeof(BrFlowTable));

	t->def = def;
	t->shape = shape;
	t->keyed = shape->replident != 'f';
	t->transactional = is_transactional(def);
	t->ncols = def->ncols;
	t->announced = -1;
	t->cols = palloc0(sizeof(BrFlowColumn) * Max(def->ncols, 1));
	t->before = palloc0(sizeof(BlCell) * Max(def->ncols, 1));
	t->after = palloc0(sizeof(BlCell) * Max(def->ncols, 1));
	t->oldcells = palloc0(sizeof(SlCell) * Max(shape->ncols, 1));
	t->newcells = palloc0(sizeof(SlCell) * Max(shape->ncols, 1));
	for (int i = 0; i < def->ncols; i++)
		if (!make_column(t, i, &targets[i], &policies[i], stop))
		{
			br_flow_table_free(t);
			return NULL;
		}
	return t;
}

void
br_flow_table_free(BrFlowTable *t)
{
	for (int i = 0; i < t->ncols; i++)
		my_codec_free(t->cols[i].codec);
	pfree(t->cols);
	pfree(t->before);
	pfree(t->after);
	pfree(t->oldcells);
	pfree(t->newcells);
	pfree(t);
}

/* ---------- what the log says of it ---------- */

static bool differs(const BrFlowTable *t, BrStop *stop, const char *column, const char *fmt,...)
			pg_attribute_printf(4, 5);

static bool
differs(const BrFlowTable *t, BrStop *stop, const char *column, const char *fmt,...)
{
	char		what[512];
	va_list		args;

	va_start(args, fmt);
	vsnprintf(what, sizeof(what), fmt, args);
	va_end(args);
	br_stop(stop, CHANGED, "the source's log holds rows of table \"%s.%s\" in another shape than the table has now: %s",
			t->def->database, t->def->name, what);
	br_stop_table(stop, t->def->database, t->def->name, column);
	br_stop_hint(stop, changed_hint);
	return false;
}

static bool
charset_fits(const BrFlowTable *t, const BrColumn *def, const BlColumn *col, BrStop *stop)
{
	const MyCharset *cs;

	if (def->type->charset == NULL || col->collation == 0)
		return true;
	cs = my_charset_by_collation(col->collation);
	if (cs == NULL || strcmp(my_charset_name(cs), def->type->charset) == 0)
		return true;
	return differs(t, stop, def->name, "column \"%s\" is in character set %s in the log, in %s now",
				   def->name, my_charset_name(cs), def->type->charset);
}

/* ENUM and SET: a value is the number of a label. */
static bool
labels_fit(const BrFlowTable *t, const BrColumn *def, const BlColumn *col, BrStop *stop)
{
	const MyCharset *cs;
	StringInfoData text;
	SlError		err;
	bool		same;

	if (col->labels == NULL || (def->type->kind != MY_ENUM && def->type->kind != MY_SET))
		return true;
	cs = col->collation != 0 ? my_charset_by_collation(col->collation) :
		def->type->charset != NULL ? my_charset_by_name(def->type->charset) : NULL;
	if (cs == NULL)
		return true;
	same = col->nlabels == def->type->nlabels;
	initStringInfo(&text);
	for (int i = 0; same && i < col->nlabels; i++)
	{
		resetStringInfo(&text);
		same = my_charset_to_utf8(cs, col->labels[i], col->label_lens[i], &text, &err) &&
			strcmp(text.data, def->type->labels[i]) == 0;
	}
	pfree(text.data);
	return same || differs(t, stop, def->name, "the labels of column \"%s\" are others", def->name);
}

static bool
bind_column(BrFlowTable *t, int i, const BlColumn *col, BrStop *stop)
{
	const BrColumn *def = t->cols[i].def;
	SlError		err;

	if (col->name != NULL && strcmp(col->name, def->name) != 0)
		return differs(t, stop, def->name, "column %d is called \"%s\" in the log, \"%s\" now",
					   i + 1, col->name, def->name);
	if (t->cols[i].codec == NULL)
		return true;
	if (!my_codec_bind(t->cols[i].codec, &col->field, &err))
		return differs(t, stop, def->name, "column \"%s\": %s", def->name, err.detail);
	if (col->has_sign && def->type->kind <= MY_DOUBLE && col->is_unsigned != def->type->is_unsigned)
		return differs(t, stop, def->name, "column \"%s\" is %s in the log and not now", def->name,
					   col->is_unsigned ? "UNSIGNED" : "signed");
	return charset_fits(t, def, col, stop) && labels_fit(t, def, col, stop);
}

/* See follow_int.h. */
bool
br_flow_bind(BrFlowTable *t, const BlTableMap *map, BrStop *stop)
{
	t->bound = 0;
	if (map->fault.code != SL_ERR_NONE)
	{
		br_stop(stop, "PROTOCOL-VIOLATION", "rows of table \"%s.%s\" cannot be read from the source's log: %s",
				map->database, map->table, map->fault.detail);
		br_stop_table(stop, map->database, map->table, NULL);
		return false;
	}
	if (map->ncols != t->ncols)
		return differs(t, stop, NULL, "it has %d columns in the log, %d now", map->ncols, t->ncols);
	for (int i = 0; i < t->ncols; i++)
		if (!bind_column(t, i, &map->cols[i], stop))
			return false;
	t->bound = map->serial;
	t->shape->evidence = map->has_names ? SL_EVIDENCE_CHANGE : SL_EVIDENCE_NOW;
	return true;
}
