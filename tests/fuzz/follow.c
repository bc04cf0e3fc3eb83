/*
 * follow.c
 *	  Fuzz target: a whole binary log file as records for the target, its tables
 *	  followed as they stand in the log.  What is handed over is read back, and
 *	  where it ends a reason is given.
 *
 * Input: a byte of choices (server, zero dates, key, engine, statements, pace),
 * then the file.  Checksums are not compared.
 */
#include "bridge/binlog/le.h"
#include "bridge/follow_int.h"
#include "bridge/types/charset.h"
#include "arena.h"
#include "fuzz.h"

#define MAX_TABLES	32

/* Choices. */
#define MARIADB		0x01
#define ZERO_DATES	0x06
#define KEYLESS		0x08
#define PLAIN		0x10		/* tables without transactions */
#define TOUCHES		0x20		/* any statement may change a table */
#define IN_PARTS	0x40		/* groups are handed over in parts */

static struct
{
	uint8		choices;
	int			n;
	BrTable		defs[MAX_TABLES];
	BrFlowTable *tables[MAX_TABLES];	/* NULL = not followed */
} known;

/* ---------- tables as the log has them ---------- */

static const char *const fixed_types[256] = {
	[BL_T_TINY] = "tinyint",[BL_T_SHORT] = "smallint",[BL_T_LONG] = "int",[BL_T_FLOAT] = "float",
	[BL_T_DOUBLE] = "double",[BL_T_LONGLONG] = "bigint",[BL_T_INT24] = "mediumint",[BL_T_DATE] = "date",
	[BL_T_NEWDATE] = "date",[BL_T_YEAR] = "year(4)",[BL_T_JSON] = "json",[BL_T_GEOMETRY] = "geometry"
};

static const char *const timed_types[256] = {
	[BL_T_TIMESTAMP2] = "timestamp",[BL_T_DATETIME2] = "datetime",[BL_T_TIME2] = "time"
};

static const char *
labels_type(const BlColumn *col)
{
	StringInfoData text;

	initStringInfo(&text);
	appendStringInfoString(&text, col->field.type == BL_T_ENUM ? "enum(" : "set(");
	for (int i = 0; i < Max(col->nlabels, 1); i++)
		appendStringInfo(&text, "%s'%d'", i > 0 ? "," : "", i);
	appendStringInfoChar(&text, ')');
	return text.data;
}

/* COLUMN_TYPE of a column that the log could have, NULL = none comes to mind. */
static const char *
type_of(const BlColumn *col, bool is_text)
{
	static const char *const blobs[2][5] = {
		{NULL, "tinyblob", "blob", "mediumblob", "longblob"},
		{NULL, "tinytext", "text", "mediumtext", "longtext"}
	};
	const BlField *f = &col->field;

	if (fixed_types[f->type] != NULL)
		return psprintf("%s%s", fixed_types[f->type], col->is_unsigned ? " unsigned" : "");
	if (timed_types[f->type] != NULL)
		return psprintf("%s(%u)", timed_types[f->type], f->precision);
	switch (f->type)
	{
		case BL_T_NEWDECIMAL:
			return psprintf("decimal(%u,%u)", f->precision, f->scale);
		case BL_T_BIT:
			return psprintf("bit(%u)", f->max_len);
		case BL_T_VARCHAR:
		case BL_T_VAR_STRING:
			return psprintf(is_text ? "varchar(%u)" : "varbinary(%u)", f->max_len);
		case BL_T_STRING:
			return psprintf(is_text ? "char(%u)" : "binary(%u)", f->max_len);
		case BL_T_VARCHAR_COMPRESSED:
			return psprintf("varbinary(%u) /*M!100301 COMPRESSED*/", f->max_len - 1);
		case BL_T_BLOB_COMPRESSED:
			return psprintf("%s /*M!100301 COMPRESSED*/", blobs[is_text][Min(f->max_len, 4)]);
		case BL_T_BLOB:
			return blobs[is_text][Min(f->max_len, 4)];
		case BL_T_ENUM:
		case BL_T_SET:
			return labels_type(col);
		case BL_T_VECTOR:
			return psprintf("vector(%u)", col->vector_dims);
		default:
			return NULL;
	}
}

static bool
make_column(BrColumn *def, const BlColumn *col, int i)
{
	const MyCharset *cs = my_charset_by_collation(col->collation != 0 ? col->collation : 45);
	const char *charset = cs != NULL && col->collation != 63 ? my_charset_name(cs) : NULL;
	SlError		err;

	def->name = col->name != NULL ? pstrdup(col->name) : psprintf("c%d", i);
	def->type_text = type_of(col, charset != NULL);
	def->type = def->type_text == NULL ? NULL :
		my_type_parse(def->type_text, charset, charset, "", -1, false, &err);
	return def->type != NULL;
}

/* A catalog has no two columns of a name. */
static void
make_table(const BlTableMap *map)
{
	BrTable    *def = &known.defs[known.n];
	SlShape    *shape = palloc0(sizeof(SlShape));
	MyTarget   *targets = palloc0(sizeof(MyTarget) * (map->ncols + 1));
	MyPolicy   *policies = palloc0(sizeof(MyPolicy) * (map->ncols + 1));
	MyZeroDates zero = (known.choices & ZERO_DATES) >> 1 & 1 ? MY_ZERO_NULL : MY_ZERO_REFUSE;
	BrStop		stop = {BR_STOP_NONE};
	SlError		err;
	bool		ok = true;

	memset(def, 0, sizeof(*def));
	def->database = pstrdup(map->database);
	def->name = pstrdup(map->table);
	def->engine = known.choices & PLAIN ? "MyISAM" : "InnoDB";
	def->ncols = map->ncols;
	def->cols = palloc0(sizeof(BrColumn) * (map->ncols + 1));
	if ((known.choices & ZERO_DATES) == ZERO_DATES)
		zero = MY_ZERO_INSTANT;
	shape->schema = "public";
	shape->name = "t";
	shape->wireid = known.n + 1;
	shape->replident = known.choices & KEYLESS ? 'f' : 'd';
	shape->ncols = map->ncols;
	shape->cols = palloc0(sizeof(SlColumn) * (map->ncols + 1));
	for (int i = 0; ok && i < map->ncols; i++)
	{
		ok = make_column(&def->cols[i], &map->cols[i], i) && br_table_column(def, def->cols[i].name) == i &&
			my_type_target(def->cols[i].type, NULL, NULL, &targets[i], &err);
		policies[i].zero_dates = zero;
		shape->cols[i].name = def->cols[i].name;
		shape->cols[i].type_name = targets[i].type_name;
		shape->cols[i].flags = i == 0 && !(known.choices & KEYLESS) ? SL_COL_KEY : 0;
	}
	known.tables[known.n++] = ok ? br_flow_table(def, shape, targets, policies, &stop) : NULL;
}

/* -1 = not seen */
static int
find_table(const char *database, const char *name)
{
	for (int i = 0; i < known.n; i++)
		if (strcmp(known.defs[i].database, database) == 0 && strcmp(known.defs[i].name, name) == 0)
			return i;
	return -1;
}

/* ---------- the flow's owner ---------- */

static bool
table(void *arg, const char *database, const char *name, BrFlowTable **t, BrStop *stop)
{
	int			i = find_table(database, name);

	*t = i >= 0 ? known.tables[i] : NULL;
	return true;
}

static void
look(const char *database, const char *sql, size_t len)
{
	fuzz_text(database);
	fuzz_bytes(sql, len);
	for (int i = 0; i < known.n; i++)
		fuzz_sum += br_words_have(sql, len, known.defs[i].name);
}

static bool
statement(void *arg, BrFlow *f, const BrStatement *st)
{
	look(st->query->database, st->text, st->len);
	return true;
}

static bool
touches(void *arg, const char *database, const char *sql, size_t len)
{
	look(database, sql, len);
	return (known.choices & TOUCHES) != 0;
}

/* ---------- what comes of it ---------- */

/* The first len bytes of the output are a batch that can be read. */
static void
read_back(const BrFlow *f, int len)
{
	StringInfoData batch;
	SlRecord	rec = {.kind = SL_REC_HEADER, .u.header = {SL_WIRE_VERSION, "UTF8", "mysql", NULL, NULL}};
	SlWireReader *r;
	SlError		err;

	initStringInfo(&batch);
	if (!sl_wire_put(&batch, &rec, &err))
		abort();
	appendBinaryStringInfo(&batch, f->out->data, len);
	r = sl_wire_reader(batch.data, batch.len);
	while (sl_wire_next(r, &rec, &err))
		fuzz_record(&rec);
	if (err.code != SL_ERR_NONE)
	{
		fprintf(stderr, "not read back: %s\n", err.detail);
		abort();
	}
	sl_wire_reader_free(r);
	pfree(batch.data);
}

static void
hand_over(BrFlow *f)
{
	int			n;

	if (f->discarded)
	{
		br_flow_forget_shapes(f);
		f->discarded = false;
		return;
	}
	if (!br_flow_seal(f))
		return;
	n = known.choices & IN_PARTS ? f->out->len : f->whole;
	read_back(f, n);
	br_flow_handed(f, n, "", 0);
}

/* Look at an event before the flow does: the maps in it are the catalog. */
static void
learn(BlDecoder *d, const char *data, size_t len)
{
	BlItem		item;
	SlError		err;

	if (!bl_decoder_put(d, data, len, &err))
		return;
	while (bl_decoder_next(d, &item, &err))
		if (item.kind == BL_ITEM_TABLE_MAP && known.n < MAX_TABLES && item.u.map->fault.code == SL_ERR_NONE &&
			find_table(item.u.map->database, item.u.map->table) < 0)
			make_table(item.u.map);
}

static bool
one_event(BrFlow *f, BlDecoder *d, const uint8_t *data, size_t len)
{
	char	   *copy = malloc(len);
	bool		ok;

	memcpy(copy, data, len);
	learn(d, copy, len);
	ok = br_flow_event(f, copy, len);
	free(copy);
	if (ok)
		hand_over(f);
	else if (f->stop.kind == BR_STOP_NONE || (f->stop.kind == BR_STOP_FAULT && f->stop.fault.message == NULL))
		abort();
	return ok;
}

/* The length of what stands there, as an event. */
static size_t
event_length(const uint8_t *data, size_t size, size_t pos)
{
	size_t		len = size - pos;

	if (len >= BL_HEADER_LEN)
		len = Min(len, Max((size_t) bl_load_le((const char *) data + pos + 9, 4), 1));
	return len;
}

/* What XA COMMIT makes final is read again, behind the log's first event. */
static bool
settle(BrFlow *f, BlDecoder *d, const uint8_t *data, size_t size)
{
	const BrPrepared *p = br_flow_prepared(f, f->due);
	size_t		pos = p != NULL ? p->pos + 1 : size;
	bool		ok;

	if (pos >= size)
		return false;
	br_flow_replay(f, p);
	ok = one_event(f, d, data + 5, event_length(data, size, 5));
	while (ok && !f->replay->ended && pos < size)
	{
		size_t		len = event_length(data, size, pos);

		ok = one_event(f, d, data + pos, len);
		pos += len;
	}
	ok = ok && f->replay->ended;
	br_flow_end_replay(f);
	return ok && br_flow_settle_due(f);
}

extern int	LLVMFuzzerInitialize(int *argc, char ***argv);

/* Character sets make their tables when they are met first, and keep them: outside of any input's time and memory. */
int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	StringInfoData text;
	SlError		err;

	initStringInfo(&text);
	for (uint32 i = 1; i < 400; i++)
	{
		const MyCharset *cs = my_charset_by_collation(i);

		if (cs != NULL)
			(void) my_charset_to_utf8(cs, "a", 1, &text, &err);
	}
	arena_keep();
	return 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	BrFlowOwner owner = {NULL, table, statement, touches};
	BrPosition	from = {"binlog.000007", 4};
	BlDecoder  *d;
	BrFlow	   *f;
	size_t		pos = 5;

	if (size < 1)
		return 0;
	memset(&known, 0, sizeof(known));
	known.choices = data[0];
	from.gtid = bl_gtid_set_create((data[0] & MARIADB) != 0);
	d = bl_decoder_create(false, (size_t) 1024 * 1024);
	f = br_flow_create(&owner, (data[0] & MARIADB) != 0, false, &from, 0);
	while (pos < size)
	{
		size_t		len = event_length(data, size, pos);

		if (!one_event(f, d, data + pos, len) || (f->due != NULL && !settle(f, d, data, size)))
			break;
		pos += len;
	}
	if (br_flow_is_between(f))
		(void) br_flow_heartbeat(f, true);
	if (!f->discarded && f->stop.kind == BR_STOP_NONE && br_flow_seal(f))
		read_back(f, f->whole);
	br_flow_free(f);
	bl_decoder_free(d);
	arena_free_all();
	return 0;
}
