/*
 * cutover_bridge.c
 *	  The cutover's look at a source that a bridge reads: the bridge looks.
 *
 * Rule: docs/internals/bridge.md, "Cutting over".
 */
#include "postgres.h"

#include "storage/ipc.h"
#include "utils/json.h"
#include "utils/jsonb.h"

#include "common/sl_shape.h"
#include "pgext/cutover.h"
#include "pgext/json_object.h"
#include "pgext/verify_request.h"
#include "pgext/pgcompat.h"

typedef struct Looked
{
	SlSequence *seqs;
	int			n;
	int			room;
	StringInfo	lines;			/* writers; NULL = they do not matter */
} Looked;

/*
 * AUTO_INCREMENT names the next value, a sequence the last one.  It counts by one here, whatever the
 * source's session settings are: those are the target's to choose.
 */
static void
take_identity(Looked *l, JsonbContainer *answer)
{
	int64		next = sl_json_number(answer, "next", 1, PG_INT64_MAX, 1);
	char	   *fault = sl_json_text(answer, "fault", NULL);
	SlSequence *q;

	if (l->n >= l->room)
		sl_json_raise("kind", "one identity for each table");
	q = &l->seqs[l->n++];
	memset(q, 0, sizeof(*q));
	q->own_schema = q->schema = sl_json_need_text(answer, "schema");
	q->own_table = sl_json_need_text(answer, "table");
	q->own_column = sl_json_text(answer, "column", "");
	q->name = psprintf("%s.%s", q->own_table, q->own_column);
	q->identity = q->schema_usage = true;
	q->increment = q->min = 1;
	q->max = PG_INT64_MAX;
	q->is_called = next > 1;
	q->last_value = next > 1 ? next - 1 : 1;
	q->has_value = fault == NULL;
	q->fault = sl_visible(fault);
}

static void
take_unseen(const char *stream_id, JsonbContainer *answer)
{
	ereport(WARNING,
			(errmsg("transactions of the source that are not over could not be looked at for stream \"%s\"",
					stream_id),
			 errdetail("The source says: %s", sl_visible(sl_json_need_text(answer, "message"))),
			 errhint("See yourself that nothing writes there any more, or GRANT PROCESS ON *.* to the account of the user mapping, on the source.")));
}

static SL_NORETURN void
raise_failed(const char *stream_id, JsonbContainer *answer)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("sluice-bridge could not look at the source of stream \"%s\": %s", stream_id,
					sl_visible(sl_json_need_text(answer, "message"))),
			 errhint("Nothing was changed. Call sluice.cutover again when that is cured; the log of sluice-bridge says more.")));
}

/* One answer; false: it was the last. */
static bool
take_answer(const char *stream_id, JsonbContainer *answer, Looked *l)
{
	const char *kind = sl_json_need_text(answer, "kind");

	sl_json_keys(answer, "an answer of cutover", " kind schema table column next fault message hint ");
	if (strcmp(kind, "identity") == 0)
		take_identity(l, answer);
	else if (strcmp(kind, "writer") == 0)
	{
		if (l->lines)
			sl_cut_line(l->lines, "[writer] %s", sl_visible(sl_json_need_text(answer, "message")));
	}
	else if (strcmp(kind, "unseen") == 0)
	{
		if (l->lines)
			take_unseen(stream_id, answer);
	}
	else if (strcmp(kind, "failed") == 0)
		raise_failed(stream_id, answer);
	else if (strcmp(kind, "done") != 0)
		sl_json_raise("kind", "identity, writer, unseen, failed or done");
	return strcmp(kind, "done") != 0;
}

/* Tables that are the stream's, as the request names them. */
static char *
request_text(const SlStreamTable *tables, int n)
{
	StringInfoData out;
	const char *comma = "";

	initStringInfo(&out);
	appendStringInfoString(&out, "\"mode\": \"cutover\", \"tables\": [");
	for (int i = 0; i < n; i++)
	{
		if (strcmp(tables[i].state, "established") != 0)
			continue;
		appendStringInfo(&out, "%s{\"schema\": ", comma);
		escape_json(&out, tables[i].schema);
		appendStringInfoString(&out, ", \"table\": ");
		escape_json(&out, tables[i].table);
		appendStringInfoChar(&out, '}');
		comma = ", ";
	}
	appendStringInfoChar(&out, ']');
	return out.data;
}

static void
withdraw(int code, Datum arg)
{
	sl_request_withdraw((SlSlot *) DatumGetPointer(arg));
}

/* See cutover.h. */
int
sl_cut_bridged_look(SlSlot *slot, const char *stream_id, const SlStreamTable *tables, int ntables,
					SlSequence **seqs, StringInfo lines)
{
	Looked		l = {.room = ntables, .lines = lines};
	Jsonb	   *answer;

	l.seqs = palloc0_array(SlSequence, ntables + 1);
	PG_ENSURE_ERROR_CLEANUP(withdraw, PointerGetDatum(slot));
	{
		sl_request_put(slot, stream_id, request_text(tables, ntables));
		do
		{
			answer = sl_request_next(slot, stream_id, SL_REQUEST_CUTOVER);
		} while (take_answer(stream_id, &answer->root, &l));
	}
	PG_END_ENSURE_ERROR_CLEANUP(withdraw, PointerGetDatum(slot));
	withdraw(0, PointerGetDatum(slot));
	*seqs = l.seqs;
	return l.n;
}
