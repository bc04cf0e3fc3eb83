/*
 * follow_table.c
 *	  A followed table: its shape, a codec for each carried column, and whether
 *	  what the log says of it is what the catalog says.
 */
#include "bridge/follow_int.h"
#include "bridge/types/charset.h"

#define DEFERRED	"DEFERRED-SCHEMA-CHANGE"

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

/* See follow_int.h. */
const char *
br_collation_name(const BrFacts *facts, uint32 id)
{
	int			low = 0,
				high = facts->ncollations - 1;

	while (low <= high)
	{
		int			mid = (low + high) / 2;

		if (facts->collations[mid].id == id)
			return facts->collations[mid].name;
		if (facts->collations[mid].id < id)
			low = mid + 1;
		else
			high = mid - 1;
	}
	return NULL;
}

/* What lets the log say by itself what its rows are. */
static void
advise_names(const BrFlowTable *t, const BlTableMap *map, BrStop *stop)
{
	br_stop_hint(stop, "The table was changed by a statement that is not in the log (sql_log_bin = 0), or differently from what its "
				 "statements say: call sync_start with restart_from_scratch => true, and run statements that change tables with binary logging on.");
	if (map->has_names)
		return;
	if (t->facts != NULL && !t->facts->mariadb)
		br_stop_remedy(stop, "SET PERSIST binlog_row_metadata = 'FULL'");
	else
		br_stop_remedy(stop, "SET GLOBAL binlog_row_metadata = 'FULL'; -- and binlog_row_metadata = FULL under [mariadbd] in the option file");
}

/* A map in hand, and where to say what is wrong with it. */
typedef struct Binding
{
	BrFlowTable *t;
	const BlTableMap *map;
	BrStop	   *stop;
} Binding;

static bool differs(const Binding *b, const char *column, const char *fmt,...)
			pg_attribute_printf(3, 4);

static bool
differs(const Binding *b, const char *column, const char *fmt,...)
{
	const BrFlowTable *t = b->t;
	char		what[512];
	va_list		args;

	va_start(args, fmt);
	vsnprintf(what, sizeof(what), fmt, args);
	va_end(args);
	br_stop(b->stop, DEFERRED, "the source's log holds rows of table \"%s.%s\" in another shape than the statements before them made: %s",
			t->def->database, t->def->name, what);
	br_stop_table(b->stop, t->def->database, t->def->name, column);
	advise_names(t, b->map, b->stop);
	return false;
}

static bool
charset_fits(const Binding *b, const BrColumn *def, const BlColumn *col)
{
	const MyCharset *cs;

	if (def->type->charset == NULL || col->collation == 0)
		return true;
	cs = my_charset_by_collation(col->collation);
	if (cs == NULL || strcmp(my_charset_name(cs), def->type->charset) == 0)
		return true;
	return differs(b, def->name, "column \"%s\" is in character set %s in the log, in %s by the statements",
				   def->name, my_charset_name(cs), def->type->charset);
}

static bool
collation_fits(const Binding *b, const BrColumn *def, const BlColumn *col)
{
	const char *name;

	if (def->type->collation == NULL || def->type->charset == NULL || col->collation == 0 || b->t->facts == NULL)
		return true;
	name = br_collation_name(b->t->facts, col->collation);
	if (name == NULL)
		return br_stop(b->stop, NULL, "COLLATION-NAMES-UNAVAILABLE: the source does not name collation %u, which column \"%s\" of table \"%s.%s\" has in its log",
					   col->collation, def->name, b->t->def->database, b->t->def->name);
	if (strcmp(name, def->type->collation) == 0)
		return true;
	differs(b, def->name, "column \"%s\" has collation %s in the log, %s by the statements", def->name, name, def->type->collation);
	br_stop_detail(b->stop, psprintf("COLLATION-CHANGE-UNANNOUNCED: no statement that changes the collation of column \"%s\" is in the log.",
									 def->name));
	return false;
}

/* ENUM and SET: a value is the number of a label. */
static bool
labels_fit(const Binding *b, const BrColumn *def, const BlColumn *col)
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
	return same || differs(b, def->name, "the labels of column \"%s\" are others", def->name);
}

static bool
bind_column(const Binding *b, int i)
{
	BrFlowColumn *c = &b->t->cols[i];
	const BlColumn *col = &b->map->cols[i];
	const BrColumn *def = c->def;
	SlError		err;

	if (col->name != NULL && strcmp(col->name, def->name) != 0)
		return differs(b, def->name, "column %d is called \"%s\" in the log, \"%s\" by the statements",
					   i + 1, col->name, def->name);
	if (c->codec == NULL)
		return true;
	if (!my_codec_bind(c->codec, &col->field, &err))
		return differs(b, def->name, "column \"%s\": %s", def->name, err.detail);
	if (col->has_sign && def->type->kind <= MY_DOUBLE && col->is_unsigned != def->type->is_unsigned)
		return differs(b, def->name, "column \"%s\" is %s in the log and not by the statements", def->name,
					   col->is_unsigned ? "UNSIGNED" : "signed");
	return charset_fits(b, def, col) && collation_fits(b, def, col) && labels_fit(b, def, col);
}

/* See follow_int.h. */
bool
br_flow_bind(BrFlowTable *t, const BlTableMap *map, BrStop *stop)
{
	Binding		b = {t, map, stop};

	t->bound = 0;
	if (map->fault.code != SL_ERR_NONE)
	{
		br_stop(stop, "PROTOCOL-VIOLATION", "rows of table \"%s.%s\" cannot be read from the source's log: %s",
				map->database, map->table, map->fault.detail);
		br_stop_table(stop, map->database, map->table, NULL);
		return false;
	}
	if (map->ncols != t->ncols)
		return differs(&b, NULL, "it has %d columns in the log, %d by the statements", map->ncols, t->ncols);
	for (int i = 0; i < t->ncols; i++)
		if (!bind_column(&b, i))
			return false;
	t->bound = map->serial;
	return true;
}
