/*
 * child.c
 *	  The process that compares: sessions, snapshots, table by table, answers.
 */
#include <unistd.h>

#include "bridge/json_out.h"
#include "bridge/schema/schema_int.h"
#include "bridge/verify/verify_int.h"

/* See verify_int.h. */
bool
br_verify_fail(BrVerify *v, const char *fmt,...)
{
	va_list		args;

	if (v->message[0] != '\0')
		return false;
	va_start(args, fmt);
	vsnprintf(v->message, sizeof(v->message), fmt, args);
	va_end(args);
	return false;
}

/* ---------- answers ---------- */

/* See verify_int.h. */
bool
br_verify_answer(BrVerify *v, const char *json)
{
	char	   *ticket = psprintf(INT64_FORMAT, v->ticket);
	BrParam		params[3] = {{.data = v->s->token}, {.data = ticket}, {.data = json}};
	BrError		err;
	BrRows	   *r = br_target_query(v->control, "SELECT sluice.feed_verified($1, $2, $3)", params, 3, &err);

	pfree(ticket);
	if (r == NULL)
		return br_verify_fail(v, "the target: %s", err.message);
	v->unwanted = r->values[0] == NULL || r->values[0][0] != 't';
	br_rows_free(r);
	return !v->unwanted;
}

/* Members behind "kind" are in members, which may be empty. */
static bool
answer_kind(BrVerify *v, const char *kind, const char *members)
{
	char	   *json = psprintf("{\"kind\": \"%s\"%s%s}", kind, *members ? ", " : "", members);
	bool		ok = br_verify_answer(v, json);

	pfree(json);
	return ok;
}

static void
answer_failed(BrVerify *v)
{
	StringInfoData out;

	initStringInfo(&out);
	br_json_text(&out, "message", v->message);
	if (v->hint[0] != '\0')
		br_json_text(&out, "hint", v->hint);
	(void) answer_kind(v, "failed", out.data);
	br_log(v->s, "the comparison failed: %s", v->message);
}

/* ---------- sessions ---------- */

static bool
connect_all(BrVerify *v)
{
	BrError		why;
	MxError		err;

	v->control = br_target_connect(v->s->conninfo, "sluice-bridge verify", &why);
	if (v->control == NULL)
		return br_verify_fail(v, "the target: %s", why.message);
	if (!answer_kind(v, "holding", ""))
		return false;
	v->data = br_target_connect(v->s->conninfo, "sluice-bridge verify: rows", &why);
	if (v->data == NULL)
		return br_verify_fail(v, "the target: %s", why.message);
	v->source = br_stream_connect(v->s, &v->s->source, false, &err);
	v->catalog = v->source == NULL ? NULL : br_stream_connect(v->s, &v->s->source, true, &err);
	if (v->catalog == NULL)
		return br_verify_fail(v, "the source: %s", err.message);
	return true;
}

/* ---------- tables ---------- */

typedef struct Wanted
{
	const char *schema;			/* the source's database */
	const char *table;
	const char *target_schema;
	const char *target_table;
	BrCatalog  *cat;
	const BrTable *def;			/* NULL = the source has no such table */
} Wanted;

static bool
read_wanted(BrVerify *v, const BrJson *tables, Wanted *w)
{
	for (int i = 0; i < tables->n; i++)
	{
		const BrJson *t = tables->items[i];
		MxError		err;

		w[i].schema = br_json_get_text(t, "schema");
		w[i].table = br_json_get_text(t, "table");
		w[i].target_schema = br_json_get_text(t, "target_schema");
		w[i].target_table = br_json_get_text(t, "target_table");
		if (w[i].schema == NULL || w[i].table == NULL || w[i].target_schema == NULL || w[i].target_table == NULL)
			return br_verify_fail(v, "the request is not one that this release understands");
		for (int j = 0; j < i && w[i].cat == NULL; j++)
			if (strcmp(w[i].schema, w[j].schema) == 0)
				w[i].cat = w[j].cat;
		if (w[i].cat == NULL)
			w[i].cat = br_catalog_read(v->catalog, w[i].schema, NULL, &err);
		if (w[i].cat == NULL)
			return br_verify_fail(v, "the source: %s", err.message);
		w[i].def = br_catalog_table(w[i].cat, w[i].table);
	}
	return true;
}

/* The names of the tables for the locks of both sides. */
static void
names(const Wanted *w, int n, StringInfo source, StringInfo target)
{
	for (int i = 0; i < n; i++)
	{
		if (w[i].def == NULL)
			continue;
		appendStringInfoString(source, source->len ? ", " : "");
		mx_append_table(source, w[i].schema, w[i].table);
		appendStringInfoString(source, " READ");
		appendStringInfo(target, "%s%s", target->len ? ", " : "",
						 br_qualified(w[i].target_schema, w[i].target_table));
	}
}

/* What was read of the source's catalog before the snapshot must be what the snapshot has. */
static bool
touch_tables(BrVerify *v, const Wanted *w, int n)
{
	for (int i = 0; i < n; i++)
	{
		StringInfoData sql;
		MxError		err;
		MxResult   *r;

		if (w[i].def == NULL)
			continue;
		initStringInfo(&sql);
		appendStringInfoString(&sql, "SELECT 1 FROM ");
		mx_append_table(&sql, w[i].schema, w[i].table);
		appendStringInfoString(&sql, " LIMIT 0");
		r = mx_query(v->source, sql.data, &err);
		pfree(sql.data);
		if (r == NULL)
			return br_verify_fail(v, "the source, table \"%s\".\"%s\": %s", w[i].schema, w[i].table, err.message);
		mx_result_free(r);
	}
	return true;
}

static bool
compare_one(BrVerify *v, const Wanted *w)
{
	BrVerifyTable t;
	StringInfoData out;
	bool		ok = true;

	initStringInfo(&out);
	br_json_text(&out, "schema", w->schema);
	br_json_text(&out, "table", w->table);
	if (!answer_kind(v, "comparing", out.data))
		return false;
	if (w->def == NULL)
		br_json_text(&out, "skip", "the table does not exist on the source");
	else if (!br_verify_plan(v, w->cat, w->def, w->target_schema, w->target_table, &t))
		ok = false;
	else if (t.skip[0] != '\0')
		br_json_text(&out, "skip", t.skip);
	else
		ok = br_verify_compare(v, &t, &out);
	ok = ok && answer_kind(v, "table", out.data);
	pfree(out.data);
	return ok;
}

/* Of a cutover; nothing is compared and nothing held. */
static bool
tell_identities(BrVerify *v, const BrJson *tables)
{
	BrError		why;
	MxError		err;

	v->control = br_target_connect(v->s->conninfo, "sluice-bridge cutover", &why);
	if (v->control == NULL)
		return br_verify_fail(v, "the target: %s", why.message);
	v->catalog = mx_connect(&v->s->source, true, &err);
	if (v->catalog == NULL)
		return br_verify_fail(v, "the source: %s", err.message);
	return br_verify_identities(v, tables) && answer_kind(v, "done", "");
}

static bool
compare_all(BrVerify *v, const BrJson *request)
{
	const BrJson *tables = br_json_get(request, "tables");
	const char *mode = br_json_get_text(request, "mode");
	Wanted	   *w;
	StringInfoData source,
				target;

	if (tables == NULL || tables->kind != BR_JSON_ARRAY || mode == NULL)
		return br_verify_fail(v, "the request is not one that this release understands");
	if (strcmp(mode, "cutover") == 0)
		return tell_identities(v, tables);
	v->counts_only = strcmp(mode, "count") == 0;
	w = palloc0((tables->n + 1) * sizeof(Wanted));
	initStringInfo(&source);
	initStringInfo(&target);
	if (!connect_all(v) || !read_wanted(v, tables, w))
		return false;
	names(w, tables->n, &source, &target);
	if (source.len > 0 && (!br_verify_snapshots(v, source.data, target.data) || !touch_tables(v, w, tables->n)))
		return false;
	for (int i = 0; i < tables->n; i++)
		if (!compare_one(v, &w[i]))
			return false;
	return answer_kind(v, "done", "");
}

/* See verify_int.h. */
void
br_verify_run(const BrStream *s, const BrJson *request, int64 ticket, int fd)
{
	BrVerify	v = {.s = s, .ticket = ticket, .fd = fd};

	if (!compare_all(&v, request) && !v.unwanted && v.control != NULL && v.message[0] != '\0')
		answer_failed(&v);
	else if (v.control == NULL)
		br_log(s, "the comparison failed: %s", v.message);
	br_target_close(v.data);
	br_target_close(v.control);
	mx_close(v.source);
	mx_close(v.catalog);
	_exit(0);
}
