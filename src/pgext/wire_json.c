/*
 * wire_json.c
 *	  feed_encode and feed_decode: the wire as JSON, and records as JSON.
 */
#include "postgres.h"

#include "access/xlogdefs.h"
#include "catalog/pg_type.h"
#include "common/sl_wire.h"
#include "fmgr.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "pgext/wire_json.h"
#include "utils/builtins.h"
#include "utils/datetime.h"
#include "utils/json.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"
#include "pgext/pgcompat.h"

PG_FUNCTION_INFO_V1(sluice_feed_encode);
PG_FUNCTION_INFO_V1(sluice_feed_decode);

/* Comma before every member but an object's, array's or text's first. */
static void
put_comma(StringInfo out)
{
	char		last = out->len > 0 ? out->data[out->len - 1] : '[';

	if (last != '{' && last != '[' && last != ':')
		appendStringInfoChar(out, ',');
}

static void
put_key(StringInfo out, const char *key)
{
	put_comma(out);
	escape_json(out, key);
	appendStringInfoChar(out, ':');
}

/* len bytes in encoding as a JSON string. */
static void
put_string_value(StringInfo out, const char *s, size_t len, int encoding)
{
	char	   *text = pnstrdup(s, len);
	char	   *converted = pg_any_to_server(text, (int) len, encoding);

	escape_json(out, converted);
	if (converted != text)
		pfree(converted);
	pfree(text);
}

/* Nothing for NULL. */
static void
put_string(StringInfo out, const char *key, const char *s, int encoding)
{
	if (s == NULL)
		return;
	put_key(out, key);
	put_string_value(out, s, strlen(s), encoding);
}

static void
put_number(StringInfo out, const char *key, int64 v)
{
	put_key(out, key);
	appendStringInfo(out, INT64_FORMAT, v);
}

static void
put_true(StringInfo out, const char *key, bool v)
{
	if (!v)
		return;
	put_key(out, key);
	appendStringInfoString(out, "true");
}

static void
put_letter(StringInfo out, const char *key, char letter)
{
	if (letter == 0)
		return;
	put_key(out, key);
	appendStringInfo(out, "\"%c\"", letter);
}

static void
put_lsn(StringInfo out, const char *key, uint64 lsn)
{
	put_key(out, key);
	appendStringInfo(out, "\"%X/%X\"", LSN_FORMAT_ARGS(lsn));
}

/* ISO 8601 in UTC whatever the session's settings are. */
static void
put_time(StringInfo out, const char *key, int64 t)
{
	static const int utc = 0;
	char		text[MAXDATELEN + 1];

	put_key(out, key);
	JsonEncodeDateTime(text, TimestampTzGetDatum(t), TIMESTAMPTZOID, &utc);
	appendStringInfo(out, "\"%s\"", text);
}

static void
put_binary(StringInfo out, const char *data, uint32 len)
{
	appendStringInfoString(out, "{\"binary\":\"\\\\x");
	for (uint32 i = 0; i < len; i++)
	{
		static const char digits[] = "0123456789abcdef";

		appendStringInfoChar(out, digits[(uint8) data[i] >> 4]);
		appendStringInfoChar(out, digits[(uint8) data[i] & 15]);
	}
	appendStringInfoString(out, "\"}");
}

static void
put_row(StringInfo out, const char *key, const SlRow *row, int encoding)
{
	put_key(out, key);
	appendStringInfoChar(out, '[');
	for (int i = 0; i < row->ncells; i++)
	{
		const SlCell *cell = &row->cells[i];

		put_comma(out);
		switch (cell->kind)
		{
			case SL_CELL_NULL:
				appendStringInfoString(out, "null");
				break;
			case SL_CELL_UNCHANGED:
				appendStringInfoString(out, "{\"unchanged\":true}");
				break;
			case SL_CELL_TEXT:
				put_string_value(out, cell->data, cell->len, encoding);
				break;
			default:
				put_binary(out, cell->data, cell->len);
				break;
		}
	}
	appendStringInfoChar(out, ']');
}

static void
put_column(StringInfo out, const SlColumn *c, int encoding)
{
	put_comma(out);
	appendStringInfoChar(out, '{');
	put_string(out, "name", c->name, encoding);
	put_number(out, "attnum", c->attnum);
	put_number(out, "typid", c->typid);
	put_number(out, "typmod", c->typmod);
	put_string(out, "type", c->type_name, encoding);
	put_string(out, "collation", c->collation, encoding);
	put_string(out, "source_type", c->source_type, encoding);
	put_true(out, "key", c->flags & SL_COL_KEY);
	put_true(out, "not_null", c->flags & SL_COL_NOT_NULL);
	put_true(out, "generated", c->flags & SL_COL_GENERATED);
	put_true(out, "virtual", c->flags & SL_COL_VIRTUAL);
	put_true(out, "identity", c->flags & SL_COL_IDENTITY);
	if (c->dflt == NULL)
		put_true(out, "default", c->flags & SL_COL_DEFAULT);
	else
		put_string(out, "default", c->dflt, encoding);
	put_true(out, "primary", c->flags & SL_COL_PRIMARY);
	put_true(out, "partial", c->flags & SL_COL_PARTIAL);
	appendStringInfoChar(out, '}');
}

static void
put_shape(StringInfo out, const SlShape *s, int encoding)
{
	static const char *const evidence[] = {"wire", "now", "change"};

	put_number(out, "wireid", s->wireid);
	put_number(out, "relid", s->relid);
	put_string(out, "schema", s->schema, encoding);
	put_string(out, "name", s->name, encoding);
	put_letter(out, "relkind", s->relkind);
	put_letter(out, "replident", s->replident);
	put_key(out, "evidence");
	escape_json(out, evidence[s->evidence]);
	put_lsn(out, "lsn", s->lsn);
	if (s->natts != 0)
		put_number(out, "natts", s->natts);
	put_key(out, "cols");
	appendStringInfoChar(out, '[');
	for (int i = 0; i < s->ncols; i++)
		put_column(out, &s->cols[i], encoding);
	appendStringInfoChar(out, ']');
}

static void
put_change(StringInfo out, SlRecordKind kind, const SlChange *ch, int encoding)
{
	put_number(out, "rel", ch->wireid);
	if (ch->old_kind != 0)
	{
		put_key(out, "old");
		appendStringInfoChar(out, '{');
		put_row(out, ch->old_kind == 'K' ? "key" : "full", &ch->oldrow, encoding);
		appendStringInfoChar(out, '}');
	}
	if (kind != SL_REC_DELETE)
		put_row(out, "new", &ch->newrow, encoding);
}

static void
put_truncate(StringInfo out, const SlTruncate *t)
{
	put_key(out, "rels");
	appendStringInfoChar(out, '[');
	for (int i = 0; i < t->nrels; i++)
	{
		put_comma(out);
		appendStringInfo(out, "%u", t->wireids[i]);
	}
	appendStringInfoChar(out, ']');
	put_true(out, "cascade", t->flags & SL_TRUNCATE_CASCADE);
	put_true(out, "restart_seqs", t->flags & SL_TRUNCATE_RESTART_SEQS);
}

/* A message's bytes are text only if they happen to be. */
static void
put_message(StringInfo out, const SlMessage *m, int encoding)
{
	put_key(out, "transactional");
	appendStringInfoString(out, m->transactional ? "true" : "false");
	put_lsn(out, "lsn", m->lsn);
	put_string(out, "prefix", m->prefix, encoding);
	put_key(out, "data");
	if (pg_verify_mbstr(encoding, m->data, (int) m->len, true))
		put_string_value(out, m->data, m->len, encoding);
	else
		put_binary(out, m->data, m->len);
}

static void
put_fault(StringInfo out, const SlFault *f, int encoding)
{
	put_string(out, "marker", f->marker, encoding);
	put_string(out, "schema", f->schema, encoding);
	put_string(out, "table", f->table, encoding);
	put_string(out, "column", f->column, encoding);
	put_string(out, "position", f->position, encoding);
	put_string(out, "message", f->message, encoding);
	put_string(out, "detail", f->detail, encoding);
	put_string(out, "hint", f->hint, encoding);
	put_key(out, "remedies");
	appendStringInfoChar(out, '[');
	for (int i = 0; i < f->nremedies; i++)
	{
		put_comma(out);
		put_string_value(out, f->remedies[i], strlen(f->remedies[i]), encoding);
	}
	appendStringInfoChar(out, ']');
}

static void
put_layout(StringInfo out, const SlLayout *l, int encoding)
{
	put_number(out, "wireid", l->wireid);
	put_number(out, "relid", l->relid);
	put_string(out, "schema", l->schema, encoding);
	put_string(out, "name", l->name, encoding);
	put_string(out, "layout", l->layout, encoding);
	put_string(out, "door", l->door, encoding);
	put_string(out, "statement", l->statement, encoding);
	put_lsn(out, "lsn", l->lsn);
}

static void
put_body(StringInfo out, const SlRecord *rec, int encoding)
{
	switch (rec->kind)
	{
		case SL_REC_HEADER:
			put_number(out, "version", rec->u.header.version);
			put_string(out, "encoding", rec->u.header.encoding, encoding);
			put_string(out, "server", rec->u.header.server, encoding);
			put_string(out, "server_version", rec->u.header.server_version, encoding);
			put_string(out, "system_identity", rec->u.header.system_identity, encoding);
			break;
		case SL_REC_SHAPE:
			put_shape(out, &rec->u.shape, encoding);
			break;
		case SL_REC_GONE:
			put_number(out, "relid", rec->u.gone_relid);
			break;
		case SL_REC_BEGIN:
			put_lsn(out, "lsn", rec->u.begin.final_lsn);
			put_time(out, "time", rec->u.begin.commit_time);
			put_number(out, "xid", rec->u.begin.xid);
			break;
		case SL_REC_INSERT:
		case SL_REC_UPDATE:
		case SL_REC_DELETE:
			put_change(out, rec->kind, &rec->u.change, encoding);
			break;
		case SL_REC_TRUNCATE:
			put_truncate(out, &rec->u.truncate);
			break;
		case SL_REC_DDL:
		case SL_REC_MESSAGE:
			put_message(out, &rec->u.message, encoding);
			break;
		case SL_REC_TYPE:
			put_number(out, "typid", rec->u.type.typid);
			put_string(out, "schema", rec->u.type.schema, encoding);
			put_string(out, "name", rec->u.type.name, encoding);
			break;
		case SL_REC_ORIGIN:
			put_lsn(out, "lsn", rec->u.origin.lsn);
			put_string(out, "name", rec->u.origin.name, encoding);
			break;
		case SL_REC_HEARTBEAT:
			put_lsn(out, "lsn", rec->u.heartbeat.lsn);
			put_time(out, "time", rec->u.heartbeat.time);
			put_string(out, "position", rec->u.heartbeat.position, encoding);
			break;
		case SL_REC_COMMIT:
			put_lsn(out, "lsn", rec->u.commit.commit_lsn);
			put_lsn(out, "end", rec->u.commit.end_lsn);
			put_time(out, "time", rec->u.commit.commit_time);
			put_string(out, "position", rec->u.commit.position, encoding);
			break;
		case SL_REC_FAULT:
			put_fault(out, &rec->u.fault, encoding);
			break;
		case SL_REC_LAYOUT:
			put_layout(out, &rec->u.layout, encoding);
			break;
		default:
			/* Neither kind comes from the wire. */
			break;
	}
}

/* Append a record as a JSON object; see wire_json.h. */
void
sl_record_to_json(StringInfo out, const SlRecord *rec, int encoding)
{
	put_comma(out);
	appendStringInfoChar(out, '{');
	put_key(out, "kind");
	escape_json(out, sl_record_kind_name(rec->kind));
	put_body(out, rec, encoding);
	appendStringInfoChar(out, '}');
}

/* The encoding that a batch's header names. */
static int
header_encoding(const SlHeader *h)
{
	int			encoding = pg_char_to_encoding(h->encoding);

	if (encoding < 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("batch is in an encoding that this server does not know"),
				 errhint("Write the batch in an encoding that PostgreSQL supports, as UTF8.")));
	return encoding;
}

/*
 * sluice.feed_decode(bytea): a batch as a JSON array of its records.  Raises
 * 22P03 for bytes that are no batch and 22021 for invalid text in one.
 */
Datum
sluice_feed_decode(PG_FUNCTION_ARGS)
{
	bytea	   *batch = PG_GETARG_BYTEA_PP(0);
	SlWireReader *r = sl_wire_reader(VARDATA_ANY(batch), VARSIZE_ANY_EXHDR(batch));
	int			encoding = PG_SQL_ASCII;
	StringInfoData out;
	SlRecord	rec;
	SlError		err;

	initStringInfo(&out);
	appendStringInfoChar(&out, '[');
	while (sl_wire_next(r, &rec, &err))
	{
		CHECK_FOR_INTERRUPTS();
		if (rec.kind == SL_REC_HEADER)
			encoding = header_encoding(&rec.u.header);
		sl_record_to_json(&out, &rec, encoding);
	}
	if (err.code != SL_ERR_NONE)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("cannot decode the batch: %s at byte %zu (%s)", err.detail,
						err.offset, sl_error_code_name(err.code)),
				 errhint("Pass the bytes of one whole batch, as feed_encode() returns them.")));
	appendStringInfoChar(&out, ']');
	sl_wire_reader_free(r);
	PG_RETURN_DATUM(DirectFunctionCall1(jsonb_in, CStringGetDatum(out.data)));
}

/* Append the record that a JSON object describes; the header sets *version. */
static void
encode_record(StringInfo out, const JsonbValue *v, int number, uint16 *version)
{
	SlRecord	rec;
	SlError		err;

	if (v->type != jbvBinary || !JsonContainerIsObject(v->val.binary.data))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("record %d is not a JSON object", number),
				 errhint("Write every record as {\"kind\": ..., ...}.")));
	sl_record_from_json(v->val.binary.data, &rec);
	if (number == 1 && rec.kind != SL_REC_HEADER)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("first record of a batch is not a header"),
				 errhint("Begin the batch with {\"kind\": \"header\"}.")));
	if (rec.kind == SL_REC_HEADER)
		*version = rec.u.header.version;
	if (!sl_wire_put_version(out, &rec, *version, &err))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("cannot encode record %d: %s (%s)", number, err.detail,
						sl_error_code_name(err.code)),
				 errhint("Keep the record within the limits of the wire format.")));
}

/*
 * sluice.feed_encode(jsonb): a JSON array of records as a batch.  Raises 22023
 * for what is no record.
 */
Datum
sluice_feed_encode(PG_FUNCTION_ARGS)
{
	Jsonb	   *records = PG_GETARG_JSONB_P(0);
	int			number = 0;
	uint16		version = SL_WIRE_VERSION;
	StringInfoData out;
	JsonbIterator *it;
	JsonbValue	v;
	JsonbIteratorToken token;
	MemoryContext outer = CurrentMemoryContext;
	MemoryContext cxt;

	if (!JB_ROOT_IS_ARRAY(records) || JB_ROOT_IS_SCALAR(records))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("batch is not a JSON array"),
				 errhint("Write the batch as an array of records, a header first.")));

	initStringInfo(&out);
	appendStringInfoSpaces(&out, VARHDRSZ);
	cxt = AllocSetContextCreate(outer, "sluice record", ALLOCSET_DEFAULT_SIZES);
	it = JsonbIteratorInit(&records->root);
	while ((token = JsonbIteratorNext(&it, &v, true)) != WJB_DONE)
	{
		if (token != WJB_ELEM)
			continue;
		CHECK_FOR_INTERRUPTS();
		MemoryContextSwitchTo(cxt);
		encode_record(&out, &v, ++number, &version);
		MemoryContextSwitchTo(outer);
		MemoryContextReset(cxt);
	}
	MemoryContextDelete(cxt);
	if (number == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("batch is empty"),
				 errhint("Begin the batch with {\"kind\": \"header\"}.")));
	SET_VARSIZE(out.data, out.len);
	PG_RETURN_BYTEA_P(out.data);
}
