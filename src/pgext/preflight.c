/*
 * preflight.c
 *	  The checks before a stream starts, all of them at once.
 *
 * NOTES
 *	  Every check adds rows to one list; none raises.  A check that cannot be
 *	  made, because a query of it failed, is a failed check.  Nothing is
 *	  created on either side.
 *
 *	  A stream that has a position already (warm) is checked for what its
 *	  worker could not report: the login and this server's own resources.
 *	  Slot, publication, identity and shapes are judged by the worker, which
 *	  records what it refuses.
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/resowner.h"

#include "pgext/errutil.h"
#include "pgext/preflight_int.h"
#include "pgext/pgcompat.h"

/* See preflight_int.h. */
void
sl_check_add(SlPreflight *p, const char *side, const char *name, bool ok,
			 char *detail, char *fix)
{
	MemoryContext old = MemoryContextSwitchTo(p->cxt);
	SlCheck    *c = palloc0(sizeof(SlCheck));

	c->side = pstrdup(side);
	c->name = pstrdup(name);
	c->ok = ok;
	c->detail = detail ? pstrdup(detail) : NULL;
	c->fix_sql = fix ? pstrdup(fix) : NULL;
	p->checks = lappend(p->checks, c);
	MemoryContextSwitchTo(old);
}

/* See preflight_int.h. */
char *
sl_check_error_text(const ErrorData *edata)
{
	return psprintf("%s%s%s", edata->message ? edata->message : "no message",
					edata->detail ? "; " : "", edata->detail ? edata->detail : "");
}

/* See preflight_int.h. */
ErrorData *
sl_check_try(SlPreflight *p, SlTryFn fn, void *arg)
{
	MemoryContext cxt = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	ErrorData  *volatile edata = NULL;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(cxt);
	PG_TRY();
	{
		fn(p, arg);
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(cxt);
		edata = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
		MemoryContextSwitchTo(cxt);
		CurrentResourceOwner = owner;
		if (edata->sqlerrcode == ERRCODE_QUERY_CANCELED ||
			edata->sqlerrcode == ERRCODE_ADMIN_SHUTDOWN)
			ReThrowError(edata);
	}
	PG_END_TRY();
	MemoryContextSwitchTo(cxt);
	CurrentResourceOwner = owner;
	return edata;
}

static void
call_check(SlPreflight *p, void *arg)
{
	(*(SlCheckFn *) arg) (p);
}

/* See preflight_int.h. */
bool
sl_check_run(SlPreflight *p, const char *side, const char *name, SlCheckFn fn)
{
	ErrorData  *edata = sl_check_try(p, call_check, &fn);

	if (edata)
		sl_check_add(p, side, name, false, sl_check_error_text(edata), NULL);
	return edata == NULL;
}

/* See preflight_int.h. */
char *
sl_paste_ident(const char *name)
{
	StringInfoData buf;
	bool		control = false;

	for (const char *c = name; *c; c++)
		if ((unsigned char) *c < 0x20 || *c == 0x7f)
			control = true;
	if (!control)
		return pstrdup(quote_identifier(name));

	initStringInfo(&buf);
	appendStringInfoString(&buf, "U&\"");
	for (const char *c = name; *c; c++)
	{
		if ((unsigned char) *c < 0x20 || *c == 0x7f)
			appendStringInfo(&buf, "\\%04X", (unsigned char) *c);
		else if (*c == '"' || *c == '\\')
			appendStringInfo(&buf, "%c%c", *c, *c);
		else
			appendStringInfoChar(&buf, *c);
	}
	appendStringInfoChar(&buf, '"');
	return buf.data;
}

/* See preflight_int.h. */
char *
sl_paste_table(const char *schema, const char *table)
{
	return psprintf("%s.%s", sl_paste_ident(schema), sl_paste_ident(table));
}

/* See preflight_int.h. */
char *
sl_paste_literal(const char *text)
{
	return quote_literal_cstr(text);
}

static void
load_tables(SlPreflight *p)
{
	MemoryContext old = MemoryContextSwitchTo(p->cxt);

	p->ntables = sl_pg_tables(p->conn, p->stream, &p->tables);
	p->nall = sl_pg_all_tables(p->conn, &p->all);
	MemoryContextSwitchTo(old);
}

/* See preflight.h. */
List *
sl_preflight(SlStream *s, const SlSource *src, bool warm)
{
	SlPreflight *p = palloc0(sizeof(SlPreflight));

	p->stream = s;
	p->src = src;
	p->warm = warm;
	p->cxt = CurrentMemoryContext;

	sl_check_run(p, "target", "server", sl_check_target_server);
	if (!sl_check_run(p, "source", "connect", sl_check_source_login) ||
		p->conn == NULL || warm)
		goto done;
	sl_check_run(p, "source", "server", sl_check_source_server);
	if (!sl_check_run(p, "source", "tables", load_tables))
		goto done;
	sl_check_run(p, "source", "tables", sl_check_source_tables);
	sl_check_run(p, "source", "sequences", sl_check_source_sequences);
	sl_check_run(p, "source", "publication", sl_check_publication);
	sl_check_run(p, "target", "schema", sl_check_plan);
	if (sl_check_run(p, "target", "tables", sl_check_target_tables))
		sl_check_run(p, "target", "key_collation", sl_check_collations);
done:
	sl_conn_close(p->conn);
	return p->checks;
}

/* See preflight.h. */
void
sl_preflight_notice(List *checks, const char *stream_id)
{
	ListCell   *lc;

	foreach(lc, checks)
	{
		SlCheck    *c = lfirst(lc);

		if (strcmp(c->name, "not_carried") == 0)
			ereport(NOTICE,
					(errmsg("not everything of the source is carried to the target: %s",
							c->detail),
					 errhint("SELECT * FROM sluice.schema_objects WHERE stream_id = %s AND state = 'not_carried';",
							 quote_literal_cstr(stream_id))));
	}
}

/* See preflight.h. */
void
sl_preflight_raise(List *checks)
{
	SlRefusal	r = {.marker = SL_M_PREFLIGHT_FAILED};
	StringInfoData lines;
	int			failed = 0;
	ListCell   *lc;

	initStringInfo(&lines);
	foreach(lc, checks)
	{
		SlCheck    *c = lfirst(lc);

		if (c->ok)
			continue;
		appendStringInfo(&lines, "%s[%s %s] %s", failed++ ? "\n" : "", c->side,
						 c->name, c->detail ? c->detail : "failed");
		if (c->fix_sql)
			appendStringInfo(&lines, "\n    on the %s: %s", c->side, c->fix_sql);
	}
	if (failed == 0)
		return;
	r.detail = lines.data;
	sl_refuse(&r, "%d of %d checks failed", failed, list_length(checks));
}
