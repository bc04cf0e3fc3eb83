/*
 * watch_server.c
 *	  The source's settings while a stream runs.
 *
 * NOTES
 *	  None of them stops the stream: what a setting does to the log stops it there,
 *	  and sessions that are open keep theirs.  They are said before that.
 */
#include "bridge/warning.h"
#include "bridge/watch.h"

static const BrSourceCheck *
check_named(const BrSourceChecks *checks, const char *name)
{
	for (int i = 0; i < checks->n; i++)
		if (strcmp(checks->list[i].name, name) == 0)
			return &checks->list[i];
	return NULL;
}

static void
compare(BrStream *s, const BrSourceChecks *before, const BrSourceChecks *now)
{
	for (int i = 0; i < now->n; i++)
	{
		const BrSourceCheck *check = &now->list[i];
		const BrSourceCheck *old = check_named(before, check->name);

		if (old == NULL || old->ok == check->ok)
			continue;
		if (!check->ok)
			br_warn(s, check->name, check->required,
					psprintf("check \"%s\" of the source fails now: %s", check->name, check->detail), check->fix_sql);
		else
		{
			br_log(s, "check \"%s\" of the source is met again: %s", check->name, check->detail);
			br_warn_end(s, check->name);
		}
	}
}

/* See watch.h. */
bool
br_watch_server(BrStream *s, MxConn *c, MxError *err)
{
	BrSourceChecks now = {0};
	char	  **databases = br_stream_databases(s);
	bool		one = databases[0] != NULL && databases[1] == NULL;
	bool		ok = br_source_check(c, one ? databases[0] : NULL, s->server_id, &now, err);

	pfree(databases);
	if (!ok)
	{
		br_source_checks_free(&now);
		return false;
	}
	if (s->watch == NULL)
		s->watch = palloc0(sizeof(BrWatch));
	compare(s, &s->watch->checks, &now);
	br_source_checks_free(&s->watch->checks);
	s->watch->checks = now;
	return true;
}
