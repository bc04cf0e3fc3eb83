/*
 * warning.c
 *	  What the target is told of a source that is not refused yet.
 */
#include "bridge/json_out.h"
#include "bridge/warning.h"
#include "common/sl_wire.h"

#define PREFIX_WARNING	"sluice_warning"

typedef struct BrWarnings
{
	StringInfoData unsent;		/* records */
	int			n;
	char	  **names;			/* of those that are not over */
} BrWarnings;

static int
find_name(const BrWarnings *w, const char *name)
{
	for (int i = 0; w != NULL && i < w->n; i++)
		if (strcmp(w->names[i], name) == 0)
			return i;
	return -1;
}

static void
put(BrWarnings *w, StringInfo json)
{
	SlRecord	rec = {.kind = SL_REC_MESSAGE};
	SlError		bad;

	appendStringInfoChar(json, '}');
	rec.u.message.prefix = PREFIX_WARNING;
	rec.u.message.data = json->data;
	rec.u.message.len = json->len;
	(void) sl_wire_put(&w->unsent, &rec, &bad);
	pfree(json->data);
}

static void
begin(StringInfo json, const char *name)
{
	initStringInfo(json);
	appendStringInfoChar(json, '{');
	br_json_text(json, "name", name);
}

/* See warning.h. */
void
br_warn(BrStream *s, const char *name, bool urgent, const char *message, const char *hint)
{
	BrWarnings *w = s->warnings;
	StringInfoData json;

	br_log(s, "%s: %s; cure: %s", urgent ? "warning" : "advice", message, hint);
	if (w == NULL)
	{
		w = s->warnings = palloc0(sizeof(BrWarnings));
		initStringInfo(&w->unsent);
	}
	if (find_name(w, name) < 0)
	{
		w->names = w->names == NULL ? palloc(sizeof(char *)) : repalloc(w->names, sizeof(char *) * (w->n + 1));
		w->names[w->n++] = pstrdup(name);
	}
	begin(&json, name);
	br_json_bool(&json, "urgent", urgent);
	br_json_text(&json, "message", message);
	br_json_text(&json, "hint", hint);
	put(w, &json);
}

/* See warning.h. */
void
br_warn_end(BrStream *s, const char *name)
{
	BrWarnings *w = s->warnings;
	int			at = find_name(w, name);
	StringInfoData json;

	if (at < 0)
		return;
	pfree(w->names[at]);
	w->names[at] = w->names[--w->n];
	begin(&json, name);
	put(w, &json);
}

/* See warning.h. */
StringInfo
br_warnings_unsent(const BrStream *s)
{
	return s->warnings != NULL && s->warnings->unsent.len > 0 ? &s->warnings->unsent : NULL;
}
