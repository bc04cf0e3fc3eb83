/*
 * verify_bridge.c
 *	  verify of a stream whose source a bridge reads: the bridge compares, this
 *	  asks and takes the answers.
 *
 * Rule: docs/internals/bridge.md, "Comparing".
 */
#include "postgres.h"

#include "fmgr.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/json.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"

#include "common/sl_shape.h"
#include "pgext/api.h"
#include "pgext/feed.h"
#include "pgext/json_object.h"
#include "pgext/verify.h"
#include "pgext/verify_request.h"
#include "pgext/pgcompat.h"

PG_FUNCTION_INFO_V1(sluice_feed_verified);

typedef enum AnswerKind
{
	ANSWER_HOLDING,				/* the stream is brought to one position */
	ANSWER_COMPARING,			/* that table now */
	ANSWER_TABLE,				/* and what came of it */
	ANSWER_FAILED,
	ANSWER_DONE,
	ANSWER_KINDS
} AnswerKind;

static const char *const kind_names[ANSWER_KINDS] = {
	"holding", "comparing", "table", "failed", "done"
};

typedef struct Answer
{
	AnswerKind	kind;
	char	   *schema;
	char	   *table;
	char	   *skip;			/* why it was not compared; NULL = it was */
	int64		source_rows;
	int64		target_rows;
	int64		changed;
	int64		missing;
	int64		extra;
	int			nkeys;
	char	   *keys[SL_VERIFY_KEYS];
	char	   *message;
	char	   *detail;
	char	   *hint;
} Answer;

#define ANSWER_KEYS \
	" kind schema table skip source_rows target_rows changed missing extra keys message detail hint "

static AnswerKind
kind_of(JsonbContainer *object)
{
	char	   *name = sl_json_need_text(object, "kind");

	for (int i = 0; i < ANSWER_KINDS; i++)
		if (strcmp(kind_names[i], name) == 0)
			return (AnswerKind) i;
	sl_json_raise("kind", "holding, comparing, table, failed or done");
}

static void
read_keys(JsonbContainer *object, Answer *a)
{
	JsonbValue *keys = sl_json_array(object, "keys", &a->nkeys);

	if (a->nkeys > SL_VERIFY_KEYS)
		sl_json_raise("keys", psprintf("at most %d of them", SL_VERIFY_KEYS));
	for (int i = 0; i < a->nkeys; i++)
	{
		if (keys[i].type != jbvString)
			sl_json_raise("keys", "an array of texts");
		a->keys[i] = pnstrdup(keys[i].val.string.val, keys[i].val.string.len);
	}
}

/* Raises 22023 for what is no answer. */
static void
read_answer(Jsonb *json, Answer *a)
{
	JsonbContainer *object = &json->root;

	memset(a, 0, sizeof(*a));
	if (!JB_ROOT_IS_OBJECT(json))
		sl_json_raise("result", "an object");
	sl_json_keys(object, "an answer of verify", ANSWER_KEYS);
	a->kind = kind_of(object);
	if (a->kind == ANSWER_COMPARING || a->kind == ANSWER_TABLE)
	{
		a->schema = sl_json_need_text(object, "schema");
		a->table = sl_json_need_text(object, "table");
	}
	if (a->kind == ANSWER_FAILED)
		a->message = sl_json_need_text(object, "message");
	a->detail = sl_json_text(object, "detail", NULL);
	a->hint = sl_json_text(object, "hint", NULL);
	a->skip = sl_json_text(object, "skip", NULL);
	a->source_rows = sl_json_number(object, "source_rows", 0, PG_INT64_MAX, 0);
	a->target_rows = sl_json_number(object, "target_rows", 0, PG_INT64_MAX, 0);
	a->changed = sl_json_number(object, "changed", 0, PG_INT64_MAX, 0);
	a->missing = sl_json_number(object, "missing", 0, PG_INT64_MAX, 0);
	a->extra = sl_json_number(object, "extra", 0, PG_INT64_MAX, 0);
	read_keys(object, a);
}

/* What answers a cutover; who asks reads it (cutover_bridge.c). */
static bool
is_of_cutover(Jsonb *json)
{
	static const char *const kinds[] = {"identity", "writer", "unseen"};
	char	   *kind = JB_ROOT_IS_OBJECT(json) ? sl_json_need_text(&json->root, "kind") : NULL;

	for (int i = 0; kind && i < lengthof(kinds); i++)
		if (strcmp(kinds[i], kind) == 0)
			return true;
	return false;
}

static Datum
verified(SlStream *s, FunctionCallInfo fcinfo)
{
	Answer		a = {.kind = ANSWER_HOLDING};
	SlSlot	   *slot = sl_slot_find(MyDatabaseId, s->stream_id, false);
	Jsonb	   *json;

	sl_arg_check(fcinfo, 1, "ticket");
	sl_arg_check(fcinfo, 2, "result");
	json = PG_GETARG_JSONB_P(2);
	if (!is_of_cutover(json))
		read_answer(json, &a);
	PG_RETURN_BOOL(slot != NULL &&
				   sl_ask_answer(&slot->ask, (uint64) PG_GETARG_INT64(1), json,
								 a.kind == ANSWER_FAILED || a.kind == ANSWER_DONE));
}

/* sluice.feed_verified(): see sql/30_feed.sql and docs/internals/bridge.md, "Comparing". */
Datum
sluice_feed_verified(PG_FUNCTION_ARGS)
{
	return sl_feed_hand(fcinfo, verified);
}

/* ---------- who asks ---------- */

static void
append_member(StringInfo out, const char *name, const char *value)
{
	appendStringInfo(out, "%s\"%s\": ", out->data[out->len - 1] == '{' ? "" : ", ", name);
	escape_json(out, value);
}

/* The request's members; tables that the target has not are skipped. */
static char *
request_text(SlVerifyMode mode, SlVerifyTable *tables, int n)
{
	static const char *const modes[] = {"count", "checksum", "sample"};
	StringInfoData out;
	const char *comma = "";

	initStringInfo(&out);
	appendStringInfo(&out, "\"mode\": \"%s\", \"tables\": [", modes[mode]);
	for (int i = 0; i < n; i++)
	{
		SlVerifyTable *t = &tables[i];
		char	   *name;

		if (t->skip != NULL)
			continue;
		name = OidIsValid(t->target) ? get_rel_name(t->target) : NULL;
		if (name == NULL)
		{
			t->skip = pstrdup("the table does not exist on the target");
			continue;
		}
		appendStringInfo(&out, "%s{", comma);
		append_member(&out, "schema", t->schema);
		append_member(&out, "table", t->table);
		append_member(&out, "target_schema", get_namespace_name(get_rel_namespace(t->target)));
		append_member(&out, "target_table", name);
		appendStringInfoChar(&out, '}');
		comma = ", ";
	}
	appendStringInfoChar(&out, ']');
	return out.data;
}

static SlVerifyTable *
find_table(SlVerifyTable *tables, int n, const Answer *a)
{
	for (int i = 0; i < n; i++)
		if (strcmp(tables[i].schema, a->schema) == 0 && strcmp(tables[i].table, a->table) == 0)
			return &tables[i];
	ereport(ERROR,
			(errcode(ERRCODE_DATA_EXCEPTION),
			 errmsg("sluice-bridge compared a table that it was not asked for"),
			 errhint("Its release must be the extension's.")));
}

/* A key as it is shown. */
static char *
shown_key(const char *key)
{
	StringInfoData buf;
	int			len = pg_mbcliplen(key, strlen(key), SL_VERIFY_KEY_BYTES);

	initStringInfo(&buf);
	sl_append_visible(&buf, pnstrdup(key, len));
	return buf.data;
}

static void
take_result(SlVerifyTable *t, const Answer *a)
{
	t->answered = true;
	t->skip = a->skip;
	t->source_rows = a->source_rows;
	t->target_rows = a->target_rows;
	t->changed = a->changed;
	t->missing = a->missing;
	t->extra = a->extra;
	t->nsamples = a->nkeys;
	for (int i = 0; i < a->nkeys; i++)
		t->samples[i] = shown_key(a->keys[i]);
}

/* The texts are the bridge's: one line each, and nothing hidden in it. */
static void
raise_failed(const char *stream_id, const Answer *a)
{
	StringInfoData message,
				detail,
				hint;

	initStringInfo(&message);
	initStringInfo(&detail);
	initStringInfo(&hint);
	sl_append_visible(&message, a->message);
	sl_append_visible(&detail, a->detail ? a->detail : "");
	sl_append_visible(&hint, a->hint ? a->hint : "Call sluice.verify again; the log of sluice-bridge says more.");
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("sluice-bridge could not compare stream \"%s\": %s", stream_id, message.data),
			 detail.len ? errdetail("%s", detail.data) : 0,
			 errhint("%s", hint.data)));
}

/* One answer; true: it was the last. */
static bool
take_answer(SlSlot *slot, const char *stream_id, SlVerifyTable *tables, int n, int64 *rows)
{
	Answer		a;

	read_answer(sl_request_next(slot, stream_id, SL_REQUEST_VERIFY), &a);
	switch (a.kind)
	{
		case ANSWER_HOLDING:
			break;
		case ANSWER_COMPARING:
			sl_verify_tell(slot, find_table(tables, n, &a)->target, *rows);
			break;
		case ANSWER_TABLE:
			take_result(find_table(tables, n, &a), &a);
			*rows += a.target_rows;
			break;
		case ANSWER_FAILED:
			raise_failed(stream_id, &a);
			break;
		case ANSWER_DONE:
			return true;
		case ANSWER_KINDS:
			break;
	}
	return false;
}

/* See verify.h. */
void
sl_verify_bridged(SlSlot *slot, const char *stream_id, SlVerifyMode mode, SlVerifyTable *tables, int n)
{
	int64		rows = 0;

	sl_verify_tell(slot, InvalidOid, 0);
	sl_request_put(slot, stream_id, request_text(mode, tables, n));
	while (!take_answer(slot, stream_id, tables, n, &rows))
		;
	for (int i = 0; i < n; i++)
	{
		if (tables[i].skip == NULL && !tables[i].answered)
			ereport(ERROR,
					(errcode(ERRCODE_DATA_EXCEPTION),
					 errmsg("sluice-bridge did not compare table \"%s.%s\"",
							tables[i].schema, tables[i].table),
					 errhint("Its release must be the extension's.")));
	}
}
