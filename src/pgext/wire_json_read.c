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
	{SL_REC_HEADER, "header", " version encoding server server_version system_identity "},
	{SL_REC_SHAPE, "shape", " wireid relid schema name relkind replident evidence lsn natts cols "},
	{SL_REC_GONE, "gone", " relid "},
	{SL_REC_BEGIN, "begin", " lsn time xid "},
	{SL_REC_INSERT, "insert", " rel new "},
	{SL_REC_UPDATE, "update", " rel old new "},
	{SL_REC_DELETE, "delete", " rel old "},
	{SL_REC_TRUNCATE, "truncate", " rels cascade restart_seqs "},
	{SL_REC_DDL, "ddl", " transactional lsn prefix data "},
	{SL_REC_MESSAGE, "message", " transactional lsn prefix data "},
	{SL_REC_TYPE, "type", " typid schema name "},
	{SL_REC_ORIGIN, "origin", " lsn name "},
	{SL_REC_HEARTBEAT, "heartbeat", " lsn time position "},
	{SL_REC_COMMIT, "commit", " lsn end time position "},
	{SL_REC_FAULT, "fault", " marker schema table column position message detail hint remedies "},
};

static void raise_value(const char *key, const char *wanted) SL_NORETURN;
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

static SL_NORETURN void
raise_value(const char *key, const char *wanted)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("invalid value of key \"%s\" in a record", key),
			 errhint("Write %s.", wanted)));
	pg_unreachable();
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

/* Every key of the object is "kind" or in keys. */
static void
check_keys(JsonbContainer *object, const char *what, const char *keys)
{
	JsonbIterator *it = JsonbIteratorInit(object);
	JsonbValue	v;
	JsonbIteratorToken token;

	while ((token = JsonbIteratorNext(&it, &v, true)) != WJB_DONE)
	{
		char	   *key;

		if (token != WJB_KEY)
			continue;
		key = psprintf(" %.*s ", v.val.string.len, v.val.string.val);
		if (strstr(keys, key) == NULL && strcmp(key, " kind ") != 0)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("unrecognized key \"%.*s\" in %s", v.val.string.len,
							v.val.string.val, what),
					 errhint("The keys are:%s.", pnstrdup(keys, strlen(keys) - 1))));
		pfree(key);
	}
}

/* False when the key is absent or null. */
static bool
find(JsonbContainer *object, const char *key, JsonbValue *v)
{
	return getKeyJsonValueFromContainer(object, key, (int) strlen(key), v) != NULL &&
		v->type != jbvNull;
}

static char *
get_text(JsonbContainer *object, const char *key, const char *dflt)
{
	JsonbValue	v;

	if (!find(object, key, &v))
		return dflt == NULL ? NULL : pstrdup(dflt);
	if (v.type != jbvString)
		raise_value(key, "a JSON string");
	return pnstrdup(v.val.string.val, v.val.string.len);
}

static char *
need_text(JsonbContainer *object, const char *key)
{
	char	   *text = get_text(object, key, NULL);

	if (text == NULL || text[0] == '\0')
		raise_value(key, "a JSON string that is not empty; the key is required");
	return text;
}

static int64
number_of(const JsonbValue *v, const char *key, int64 min, int64 max)
{
	int64		n;

	if (v->type != jbvNumeric)
		raise_value(key, "a JSON number");
	n = DatumGetInt64(DirectFunctionCall1(numeric_int8,
										  NumericGetDatum(v->val.numeric)));
	if (n < min || n > max)
		raise_value(key, psprintf("a number from " INT64_FORMAT " to " INT64_FORMAT,
								  min, max));
	return n;
}

static int64
get_number(JsonbContainer *object, const char *key, int64 min, int64 max,
		   int64 dflt)
{
	JsonbValue	v;

	return find(object, key, &v) ? number_of(&v, key, min, max) : dflt;
}

static uint32
get_id(JsonbContainer *object, const char *key, uint32 dflt)
{
	return (uint32) get_number(object, key, 0, PG_UINT32_MAX, dflt);
}

/* Relations are numbered from 1, and 1 is what most batches use. */
static uint32
get_rel(JsonbContainer *object, const char *key)
{
	return get_id(object, key, 1);
}

static bool
get_bool(JsonbContainer *object, const char *key, bool dflt)
{
	JsonbValue	v;

	if (!find(object, key, &v))
		return dflt;
	if (v.type != jbvBool)
		raise_value(key, "true or false");
	return v.val.boolean;
}

static uint64
get_lsn(JsonbContainer *object, const char *key, uint64 dflt)
{
	char	   *text = get_text(object, key, NULL);

	if (text == NULL)
		return dflt;
	return DatumGetLSN(DirectFunctionCall1(pg_lsn_in, CStringGetDatum(text)));
}

static int64
get_time(JsonbContainer *object, const char *key)
{
	char	   *text = get_text(object, key, NULL);

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
	char	   *text = get_text(object, key, NULL);

	if (text == NULL)
		return dflt;
	if (text[0] == '\0')
		return 0;
	if (text[1] != '\0' || strchr(letters, text[0]) == NULL)
		raise_value(key, psprintf("one letter of \"%s\", or an empty string", letters));
	return text[0];
}

/* Elements of an array; NULL and *n = 0 when the key is absent. */
static JsonbValue *
get_array(JsonbContainer *object, const char *key, int *n)
{
	JsonbValue	v;
	JsonbIterator *it;
	JsonbValue *elems;
	JsonbIteratorToken token;

	*n = 0;
	if (!find(object, key, &v))
		return NULL;
	if (v.type != jbvBinary || !JsonContainerIsArray(v.val.binary.data))
		raise_value(key, "a JSON array");
	elems = palloc(sizeof(JsonbValue) * (JsonContainerSize(v.val.binary.data) + 1));
	it = JsonbIteratorInit(v.val.binary.data);
	while ((token = JsonbIteratorNext(&it, &v, true)) != WJB_DONE)
	{
		if (token == WJB_ELEM)
			elems[(*n)++] = v;
	}
	return elems;
}

/* {"binary": "\\x00ff"} */
static void
get_bytes(JsonbContainer *object, const char **data, uint32 *len)
{
	bytea	   *bytes;

	bytes = DatumGetByteaPP(DirectFunctionCall1(byteain,
												CStringGetDatum(need_text(object, "binary"))));
	*data = VARDATA_ANY(bytes);
	*len = VARSIZE_ANY_EXHDR(bytes);
}

static void
get_cell_object(JsonbContainer *object, SlCell *cell)
{
	JsonbValue	v;

	check_keys(object, "a cell", " null unchanged binary ");
	if (JsonContainerSize(object) != 1)
		raise_cell("exactly one of null, unchanged and binary");
	if (find(object, "binary", &v))
	{
		cell->kind = SL_CELL_BINARY;
		get_bytes(object, &cell->data, &cell->len);
	}
	else if (get_bool(object, "unchanged", false))
		cell->kind = SL_CELL_UNCHANGED;
	else if (!get_bool(object, "null", false))
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
	JsonbValue *elems = get_array(object, key, &row->ncells);

	if (elems == NULL)
		raise_value(key, "a JSON array of cells; the key is required");
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

	if (!find(object, "old", &v))
		return;
	if (v.type != jbvBinary || !JsonContainerIsObject(v.val.binary.data))
		raise_value("old", "{\"key\": [...]} or {\"full\": [...]}");
	object = v.val.binary.data;
	check_keys(object, "an old row", " key full ");
	if (JsonContainerSize(object) != 1)
		raise_value("old", "{\"key\": [...]} or {\"full\": [...]}");
	ch->old_kind = find(object, "key", &row) ? 'K' : 'O';
	get_row(object, ch->old_kind == 'K' ? "key" : "full", &ch->oldrow);
}

static void
get_change(JsonbContainer *object, SlRecordKind kind, SlChange *ch)
{
	ch->wireid = get_rel(object, "rel");
	if (kind != SL_REC_INSERT)
		get_old(object, ch);
	if (kind == SL_REC_DELETE && ch->old_kind == 0)
		raise_value("old", "{\"key\": [...]} or {\"full\": [...]}; the key is required");
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
	char	   *name = get_text(object, "type", NULL);
	Oid			typid = TEXTOID;
	int32		typmod = -1;

	if (name != NULL && !sl_compat_parse_type(name, &typid, &typmod))
		typid = InvalidOid;		/* a type that only the source has */
	c->typid = get_id(object, "typid", typid);
	if (name == NULL)
		typid = c->typid;
	c->typmod = (int32) get_number(object, "typmod", PG_INT32_MIN, PG_INT32_MAX, typmod);
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
	if (!find(object, "default", &v))
		return;
	if (v.type == jbvString)
		c->dflt = pnstrdup(v.val.string.val, v.val.string.len);
	else if (v.type != jbvBool)
		raise_value("default", "an expression as a JSON string, true or false");
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
	JsonbContainer *object;

	if (v->type != jbvBinary || !JsonContainerIsObject(v->val.binary.data))
		raise_value("cols", "a JSON array of objects");
	object = v->val.binary.data;
	check_keys(object, "a column", column_keys);
	c->name = need_text(object, "name");
	c->attnum = (int32) get_number(object, "attnum", 0, PG_INT16_MAX, number);
	get_type(object, c);
	c->collation = get_text(object, "collation", NULL);
	c->source_type = get_text(object, "source_type", NULL);
	c->flags = 0;
	for (size_t i = 0; i < lengthof(flags); i++)
	{
		if (get_bool(object, flags[i].key, false))
			c->flags |= flags[i].flag;
	}
	get_default(object, c);
}

static void
get_shape(JsonbContainer *object, SlShape *s)
{
	char	   *evidence = get_text(object, "evidence", "change");
	JsonbValue *elems;

	s->wireid = get_rel(object, "wireid");
	s->relid = get_id(object, "relid", s->wireid);
	s->schema = get_text(object, "schema", "public");
	s->name = need_text(object, "name");
	s->relkind = get_letter(object, "relkind", "rp", 'r');
	s->replident = get_letter(object, "replident", "dnfi", 'd');
	s->lsn = get_lsn(object, "lsn", 0);
	s->natts = (int32) get_number(object, "natts", 0, PG_INT16_MAX, 0);
	s->guessed = false;
	if (strcmp(evidence, "wire") == 0)
		s->evidence = SL_EVIDENCE_WIRE;
	else if (strcmp(evidence, "now") == 0)
		s->evidence = SL_EVIDENCE_NOW;
	else if (strcmp(evidence, "change") == 0)
		s->evidence = SL_EVIDENCE_CHANGE;
	else
		raise_value("evidence", "\"wire\", \"now\" or \"change\"");

	elems = get_array(object, "cols", &s->ncols);
	s->cols = palloc0(sizeof(SlColumn) * (s->ncols + 1));
	for (int i = 0; i < s->ncols; i++)
		get_column(&elems[i], i + 1, &s->cols[i]);
}

static void
get_truncate(JsonbContainer *object, SlTruncate *t)
{
	JsonbValue *elems = get_array(object, "rels", &t->nrels);

	if (t->nrels == 0)
		raise_value("rels", "a JSON array of relation numbers; the key is required");
	t->wireids = palloc(sizeof(uint32) * t->nrels);
	for (int i = 0; i < t->nrels; i++)
		t->wireids[i] = (uint32) number_of(&elems[i], "rels", 0, PG_UINT32_MAX);
	if (get_bool(object, "cascade", false))
		t->flags |= SL_TRUNCATE_CASCADE;
	if (get_bool(object, "restart_seqs", false))
		t->flags |= SL_TRUNCATE_RESTART_SEQS;
}

static void
get_message(JsonbContainer *object, SlMessage *m)
{
	JsonbValue	v;

	m->transactional = get_bool(object, "transactional", true);
	m->lsn = get_lsn(object, "lsn", 0);
	m->prefix = get_text(object, "prefix", NULL);
	m->data = "";
	if (!find(object, "data", &v))
		return;
	if (v.type == jbvBinary && JsonContainerIsObject(v.val.binary.data))
	{
		check_keys(v.val.binary.data, "data", " binary ");
		get_bytes(v.val.binary.data, &m->data, &m->len);
		return;
	}
	m->data = get_text(object, "data", "");
	m->len = strlen(m->data);
}

static void
get_fault(JsonbContainer *object, SlFault *f)
{
	JsonbValue *elems = get_array(object, "remedies", &f->nremedies);

	f->marker = need_text(object, "marker");
	f->schema = get_text(object, "schema", NULL);
	f->table = get_text(object, "table", NULL);
	f->column = get_text(object, "column", NULL);
	f->position = get_text(object, "position", NULL);
	f->message = need_text(object, "message");
	f->detail = get_text(object, "detail", NULL);
	f->hint = get_text(object, "hint", NULL);
	f->remedies = palloc(sizeof(char *) * (f->nremedies + 1));
	for (int i = 0; i < f->nremedies; i++)
	{
		if (elems[i].type != jbvString)
			raise_value("remedies", "a JSON array of strings");
		f->remedies[i] = pnstrdup(elems[i].val.string.val, elems[i].val.string.len);
	}
}

static void
get_header(JsonbContainer *object, SlHeader *h)
{
	h->version = (uint16) get_number(object, "version", 0, PG_UINT16_MAX,
									 SL_WIRE_VERSION);
	h->encoding = get_text(object, "encoding", GetDatabaseEncodingName());
	h->server = get_text(object, "server", "postgresql");
	h->server_version = get_text(object, "server_version", NULL);
	h->system_identity = get_text(object, "system_identity", NULL);
}

static const KindInfo *
find_kind(JsonbContainer *object)
{
	char	   *name = need_text(object, "kind");

	for (size_t i = 0; i < lengthof(kinds); i++)
	{
		if (strcmp(kinds[i].name, name) == 0)
			return &kinds[i];
	}
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("unrecognized record kind \"%s\"", name),
			 errhint("The kinds are header, shape, gone, begin, insert, update, delete, truncate, ddl, message, type, origin, heartbeat, commit and fault.")));
	pg_unreachable();
}

/* One record object to *rec; see wire_json.h. */
void
sl_record_from_json(JsonbContainer *object, SlRecord *rec)
{
	const KindInfo *kind = find_kind(object);

	check_keys(object, psprintf("a record of kind \"%s\"", kind->name), kind->keys);
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
			rec->u.begin.final_lsn = get_lsn(object, "lsn", 0);
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
			rec->u.type.schema = get_text(object, "schema", "public");
			rec->u.type.name = need_text(object, "name");
			break;
		case SL_REC_ORIGIN:
			rec->u.origin.lsn = get_lsn(object, "lsn", 0);
			rec->u.origin.name = get_text(object, "name", NULL);
			break;
		case SL_REC_HEARTBEAT:
			rec->u.heartbeat.lsn = get_lsn(object, "lsn", 0);
			rec->u.heartbeat.time = get_time(object, "time");
			rec->u.heartbeat.position = get_text(object, "position", NULL);
			break;
		case SL_REC_FAULT:
			get_fault(object, &rec->u.fault);
			break;
		default:
			rec->u.commit.commit_lsn = get_lsn(object, "lsn", 0);
			rec->u.commit.end_lsn = get_lsn(object, "end", rec->u.commit.commit_lsn);
			rec->u.commit.commit_time = get_time(object, "time");
			rec->u.commit.position = get_text(object, "position", NULL);
			break;
	}
}
