/*
 * wire_json_read.c
 *	  JSON objects to change records.
 *
 * NOTES
 *	  Every key of an object is held against the list of its kind, so that a
 *	  misspelled one is an error and not a default.  JSON null counts as absent,
 *	  but for cells, where it is NULL.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "common/sl_wire.h"
#include "fmgr.h"
#include "mb/pg_wchar.h"
#include "pgext/json_object.h"
#include "pgext/wire_json.h"
#include "utils/builtins.h"
#include "utils/numeric.h"
#include "utils/pg_lsn.h"
#include "utils/timestamp.h"
#include "pgext/pgcompat.h"

typedef struct KindInfo
{
	SlRecordKind kind;
	const char *name;
	const char *keys;			/* space around each */
} KindInfo;

static const KindInfo kinds[] = {
	{SL_REC_HEADER, "header", " kind version encoding server server_version system_identity "},
	{SL_REC_SHAPE, "shape", " kind wireid relid schema name relkind replident evidence lsn natts cols "},
	{SL_REC_GONE, "gone", " kind relid "},
	{SL_REC_BEGIN, "begin", " kind lsn time xid "},
	{SL_REC_INSERT, "insert", " kind rel new "},
	{SL_REC_UPDATE, "update", " kind rel old new "},
	{SL_REC_DELETE, "delete", " kind rel old "},
	{SL_REC_TRUNCATE, "truncate", " kind rels cascade restart_seqs "},
	{SL_REC_DDL, "ddl", " kind transactional lsn prefix data "},
	{SL_REC_MESSAGE, "message", " kind transactional lsn prefix data "},
	{SL_REC_TYPE, "type", " kind typid schema name "},
	{SL_REC_ORIGIN, "origin", " kind lsn name "},
	{SL_REC_HEARTBEAT, "heartbeat", " kind lsn time position "},
	{SL_REC_COMMIT, "commit", " kind lsn end time position "},
	{SL_REC_FAULT, "fault", " kind marker schema table column position message detail hint remedies "},
	{SL_REC_LAYOUT, "layout", " kind wireid relid schema name layout door statement lsn "},
};

static void raise_cell(const char *wanted) SL_NORETURN;

static const char column_keys[] =
" name attnum typid typmod type collation source_type key not_null generated virtual identity default primary partial ";

/* The word for a kind; "none" for one that has no wire form. */
const char *
sl_record_kind_name(SlRecordKind kind)
{
	for (size_t i = 0; i < lengthof(kinds); i++)
	{
		if (kinds[i].kind == kind)
			return kinds[i].name;
	}
	return "none";
}

static void
raise_cell(const char *wanted)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("invalid cell in a record"),
			 errhint("Write %s.", wanted)));
	pg_unreachable();
}

static uint32
get_id(JsonbContainer *object, const char *key, uint32 dflt)
{
	return (uint32) sl_json_number(object, key, 0, PG_UINT32_MAX, dflt);
}

/* Relations are numbered from 1, and 1 is what most batches use. */
static uint32
get_rel(JsonbContainer *object, const char *key)
{
	return get_id(object, key, 1);
}

static int64
get_time(JsonbContainer *object, const char *key)
{
	char	   *text = sl_json_text(object, key, NULL);

	if (text == NULL)
		return 0;
	return DatumGetTimestampTz(DirectFunctionCall3(timestamptz_in,
												   CStringGetDatum(text),
												   ObjectIdGetDatum(InvalidOid),
												   Int32GetDatum(-1)));
}

/* A letter of the list; 0 for an empty string. */
static char
get_letter(JsonbContainer *object, const char *key, const char *letters, char dflt)
{
	char	   *text = sl_json_text(object, key, NULL);

	if (text == NULL)
		return dflt;
	if (text[0] == '\0')
		return 0;
	if (text[1] != '\0' || strchr(letters, text[0]) == NULL)
		sl_json_raise(key, psprintf("one letter of \"%s\", or an empty string", letters));
	return text[0];
}

/* {"binary": "\\x00ff"} */
static void
get_bytes(JsonbContainer *object, const char **data, uint32 *len)
{
	bytea	   *bytes;

	bytes = DatumGetByteaPP(DirectFunctionCall1(byteain,
												CStringGetDatum(sl_json_need_text(object, "binary"))));
	*data = VARDATA_ANY(bytes);
	*len = VARSIZE_ANY_EXHDR(bytes);
}

static void
get_cell_object(JsonbContainer *object, SlCell *cell)
{
	JsonbValue	v;

	sl_json_keys(object, "a cell", " null unchanged binary ");
	if (JsonContainerSize(object) != 1)
		raise_cell("exactly one of null, unchanged and binary");
	if (sl_json_find(object, "binary", &v))
	{
		cell->kind = SL_CELL_BINARY;
		get_bytes(object, &cell->data, &cell->len);
	}
	else if (sl_json_bool(object, "unchanged", false))
		cell->kind = SL_CELL_UNCHANGED;
	else if (!sl_json_bool(object, "null", false))
		raise_cell("true for null or unchanged");
}

/* null, "text", a number, {"unchanged": true}, {"binary": "\\x..."}. */
static void
get_cell(const JsonbValue *v, SlCell *cell)
{
	memset(cell, 0, sizeof(*cell));
	cell->kind = SL_CELL_NULL;
	switch (v->type)
	{
		case jbvNull:
			break;
		case jbvString:
			cell->kind = SL_CELL_TEXT;
			cell->data = v->val.string.val;
			cell->len = v->val.string.len;
			break;
		case jbvNumeric:
			cell->kind = SL_CELL_TEXT;
			cell->data = DatumGetCString(DirectFunctionCall1(numeric_out,
															 NumericGetDatum(v->val.numeric)));
			cell->len = strlen(cell->data);
			break;
		case jbvBinary:
			if (JsonContainerIsObject(v->val.binary.data))
			{
				get_cell_object(v->val.binary.data, cell);
				break;
			}
			/* FALLTHROUGH */
		default:
			raise_cell("null, a string, a number or an object for a cell");
	}
}

static void
get_row(JsonbContainer *object, const char *key, SlRow *row)
{
	JsonbValue *elems = sl_json_array(object, key, &row->ncells);

	if (elems == NULL)
		sl_json_raise(key, "a JSON array of cells; the key is required");
	row->cells = palloc(sizeof(SlCell) * (row->ncells + 1));
	for (int i = 0; i < row->ncells; i++)
		get_cell(&elems[i], &row->cells[i]);
}

/* "old": {"key": [...]} or {"full": [...]}. */
static void
get_old(JsonbContainer *object, SlChange *ch)
{
	JsonbValue	v;
	JsonbValue	row;

	if (!sl_json_find(object, "old", &v))
		return;
	object = sl_json_object_of(&v, "old", "{\"key\": [...]} or {\"full\": [...]}");
	sl_json_keys(object, "an old row", " key full ");
	if (JsonContainerSize(object) != 1)
		sl_json_raise("old", "{\"key\": [...]} or {\"full\": [...]}");
	ch->old_kind = sl_json_find(object, "key", &row) ? 'K' : 'O';
	get_row(object, ch->old_kind == 'K' ? "key" : "full", &ch->oldrow);
}

static void
get_change(JsonbContainer *object, SlRecordKind kind, SlChange *ch)
{
	ch->wireid = get_rel(object, "rel");
	if (kind != SL_REC_INSERT)
		get_old(object, ch);
	if (kind == SL_REC_DELETE && ch->old_kind == 0)
		sl_json_raise("old", "{\"key\": [...]} or {\"full\": [...]}; the key is required");
	if (kind != SL_REC_DELETE)
		get_row(object, "new", &ch->newrow);
}

/*
 * Type by name, by oid, or both; text when there is neither.  A name that this
 * database knows becomes what format_type() calls it.
 */
static void
get_type(JsonbContainer *object, SlColumn *c)
{
	char	   *name = sl_json_text(object, "type", NULL);
	Oid			typid = TEXTOID;
	int32		typmod = -1;

	if (name != NULL && !sl_compat_parse_type(name, &typid, &typmod))
		typid = InvalidOid;		/* a type that only the source has */
	c->typid = get_id(object, "typid", typid);
	if (name == NULL)
		typid = c->typid;
	c->typmod = (int32) sl_json_number(object, "typmod", PG_INT32_MIN, PG_INT32_MAX, typmod);
	if (c->typid == typid && typid != InvalidOid)
		name = format_type_extended(c->typid, c->typmod,
									FORMAT_TYPE_TYPEMOD_GIVEN | FORMAT_TYPE_INVALID_AS_NULL);
	c->type_name = name;
}

/* The expression, or true for one whose text is not known. */
static void
get_default(JsonbContainer *object, SlColumn *c)
{
	JsonbValue	v;

	c->dflt = NULL;
	if (!sl_json_find(object, "default", &v))
		return;
	if (v.type == jbvString)
		c->dflt = pnstrdup(v.val.string.val, v.val.string.len);
	else if (v.type != jbvBool)
		sl_json_raise("default", "an expression as a JSON string, true or false");
	if (c->dflt != NULL || v.val.boolean)
		c->flags |= SL_COL_DEFAULT;
}

static void
get_column(JsonbValue *v, int number, SlColumn *c)
{
	static const struct
	{
		const char *key;
		uint8		flag;
	}			flags[] = {
		{"key", SL_COL_KEY}, {"not_null", SL_COL_NOT_NULL},
		{"generated", SL_COL_GENERATED}, {"virtual", SL_COL_VIRTUAL},
		{"identity", SL_COL_IDENTITY}, {"primary", SL_COL_PRIMARY},
		{"partial", SL_COL_PARTIAL},
	};
	JsonbContainer *object = sl_json_object_of(v, "cols", "a JSON array of objects");

	sl_json_keys(object, "a column", column_keys);
	c->name = sl_json_need_text(object, "name");
	c->attnum = (int32) sl_json_number(object, "attnum", 0, PG_INT16_MAX, number);
	get_type(object, c);
	c->collation = sl_json_text(object, "collation", NULL);
	c->source_type = sl_json_text(object, "source_type", NULL);
	c->flags = 0;
	for (size_t i = 0; i < lengthof(flags); i++)
	{
		if (sl_json_bool(object, flags[i].key, false))
			c->flags |= flags[i].flag;
	}
	get_default(object, c);
}

static void
get_shape(JsonbContainer *object, SlShape *s)
{
	char	   *evidence = sl_json_text(object, "evidence", "change");
	JsonbValue *elems;

	s->wireid = get_rel(object, "wireid");
	s->relid = get_id(object, "relid", s->wireid);
	s->schema = sl_json_text(object, "schema", "public");
	s->name = sl_json_need_text(object, "name");
	s->relkind = get_letter(object, "relkind", "rp", 'r');
	s->replident = get_letter(object, "replident", "dnfi", 'd');
	s->lsn = sl_json_lsn(object, "lsn", 0);
	s->natts = (int32) sl_json_number(object, "natts", 0, PG_INT16_MAX, 0);
	s->guessed = false;
	if (strcmp(evidence, "wire") == 0)
		s->evidence = SL_EVIDENCE_WIRE;
	else if (strcmp(evidence, "now") == 0)
		s->evidence = SL_EVIDENCE_NOW;
	else if (strcmp(evidence, "change") == 0)
		s->evidence = SL_EVIDENCE_CHANGE;
	else
		sl_json_raise("evidence", "\"wire\", \"now\" or \"change\"");

	elems = sl_json_array(object, "cols", &s->ncols);
	s->cols = palloc0(sizeof(SlColumn) * (s->ncols + 1));
	for (int i = 0; i < s->ncols; i++)
		get_column(&elems[i], i + 1, &s->cols[i]);
}

static void
get_truncate(JsonbContainer *object, SlTruncate *t)
{
	JsonbValue *elems = sl_json_array(object, "rels", &t->nrels);

	if (t->nrels == 0)
		sl_json_raise("rels", "a JSON array of relation numbers; the key is required");
	t->wireids = palloc(sizeof(uint32) * t->nrels);
	for (int i = 0; i < t->nrels; i++)
		t->wireids[i] = (uint32) sl_json_number_of(&elems[i], "rels", 0, PG_UINT32_MAX);
	if (sl_json_bool(object, "cascade", false))
		t->flags |= SL_TRUNCATE_CASCADE;
	if (sl_json_bool(object, "restart_seqs", false))
		t->flags |= SL_TRUNCATE_RESTART_SEQS;
}

static void
get_message(JsonbContainer *object, SlMessage *m)
{
	JsonbValue	v;

	m->transactional = sl_json_bool(object, "transactional", true);
	m->lsn = sl_json_lsn(object, "lsn", 0);
	m->prefix = sl_json_text(object, "prefix", NULL);
	m->data = "";
	if (!sl_json_find(object, "data", &v))
		return;
	if (v.type == jbvBinary && JsonContainerIsObject(v.val.binary.data))
	{
		sl_json_keys(v.val.binary.data, "data", " binary ");
		get_bytes(v.val.binary.data, &m->data, &m->len);
		return;
	}
	m->data = sl_json_text(object, "data", "");
	m->len = strlen(m->data);
}

static void
get_fault(JsonbContainer *object, SlFault *f)
{
	JsonbValue *elems = sl_json_array(object, "remedies", &f->nremedies);

	f->marker = sl_json_need_text(object, "marker");
	f->schema = sl_json_text(object, "schema", NULL);
	f->table = sl_json_text(object, "table", NULL);
	f->column = sl_json_text(object, "column", NULL);
	f->position = sl_json_text(object, "position", NULL);
	f->message = sl_json_need_text(object, "message");
	f->detail = sl_json_text(object, "detail", NULL);
	f->hint = sl_json_text(object, "hint", NULL);
	f->remedies = palloc(sizeof(char *) * (f->nremedies + 1));
	for (int i = 0; i < f->nremedies; i++)
	{
		if (elems[i].type != jbvString)
			sl_json_raise("remedies", "a JSON array of strings");
		f->remedies[i] = pnstrdup(elems[i].val.string.val, elems[i].val.string.len);
	}
}

static void
get_layout(JsonbContainer *object, SlLayout *l)
{
	l->wireid = get_rel(object, "wireid");
	l->relid = get_id(object, "relid", l->wireid);
	l->schema = sl_json_text(object, "schema", "public");
	l->name = sl_json_need_text(object, "name");
	l->layout = sl_json_text(object, "layout", NULL);
	l->door = sl_json_text(object, "door", NULL);
	l->statement = sl_json_text(object, "statement", NULL);
	l->lsn = sl_json_lsn(object, "lsn", 0);
}

static void
get_header(JsonbContainer *object, SlHeader *h)
{
	h->version = (uint16) sl_json_number(object, "version", 0, PG_UINT16_MAX,
										 SL_WIRE_VERSION);
	h->encoding = sl_json_text(object, "encoding", GetDatabaseEncodingName());
	h->server = sl_json_text(object, "server", "postgresql");
	h->server_version = sl_json_text(object, "server_version", NULL);
	h->system_identity = sl_json_text(object, "system_identity", NULL);
}

static const KindInfo *
find_kind(JsonbContainer *object)
{
	char	   *name = sl_json_need_text(object, "kind");

	for (size_t i = 0; i < lengthof(kinds); i++)
	{
		if (strcmp(kinds[i].name, name) == 0)
			return &kinds[i];
	}
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("unrecognized record kind \"%s\"", name),
			 errhint("The kinds are header, shape, gone, begin, insert, update, delete, truncate, ddl, message, type, origin, heartbeat, commit, fault and layout.")));
	pg_unreachable();
}

/* One record object to *rec; see wire_json.h. */
void
sl_record_from_json(JsonbContainer *object, SlRecord *rec)
{
	const KindInfo *kind = find_kind(object);

	sl_json_keys(object, psprintf("a record of kind \"%s\"", kind->name), kind->keys);
	memset(rec, 0, sizeof(*rec));
	rec->kind = kind->kind;
	switch (rec->kind)
	{
		case SL_REC_HEADER:
			get_header(object, &rec->u.header);
			break;
		case SL_REC_SHAPE:
			get_shape(object, &rec->u.shape);
			break;
		case SL_REC_GONE:
			rec->u.gone_relid = get_id(object, "relid", 1);
			break;
		case SL_REC_BEGIN:
			rec->u.begin.final_lsn = sl_json_lsn(object, "lsn", 0);
			rec->u.begin.commit_time = get_time(object, "time");
			rec->u.begin.xid = get_id(object, "xid", 0);
			break;
		case SL_REC_INSERT:
		case SL_REC_UPDATE:
		case SL_REC_DELETE:
			get_change(object, rec->kind, &rec->u.change);
			break;
		case SL_REC_TRUNCATE:
			get_truncate(object, &rec->u.truncate);
			break;
		case SL_REC_DDL:
		case SL_REC_MESSAGE:
			get_message(object, &rec->u.message);
			break;
		case SL_REC_TYPE:
			rec->u.type.typid = get_id(object, "typid", 0);
			rec->u.type.schema = sl_json_text(object, "schema", "public");
			rec->u.type.name = sl_json_need_text(object, "name");
			break;
		case SL_REC_ORIGIN:
			rec->u.origin.lsn = sl_json_lsn(object, "lsn", 0);
			rec->u.origin.name = sl_json_text(object, "name", NULL);
			break;
		case SL_REC_HEARTBEAT:
			rec->u.heartbeat.lsn = sl_json_lsn(object, "lsn", 0);
			rec->u.heartbeat.time = get_time(object, "time");
			rec->u.heartbeat.position = sl_json_text(object, "position", NULL);
			break;
		case SL_REC_FAULT:
			get_fault(object, &rec->u.fault);
			break;
		case SL_REC_LAYOUT:
			get_layout(object, &rec->u.layout);
			break;
		default:
			rec->u.commit.commit_lsn = sl_json_lsn(object, "lsn", 0);
			rec->u.commit.end_lsn = sl_json_lsn(object, "end", rec->u.commit.commit_lsn);
			rec->u.commit.commit_time = get_time(object, "time");
			rec->u.commit.position = sl_json_text(object, "position", NULL);
			break;
	}
}
