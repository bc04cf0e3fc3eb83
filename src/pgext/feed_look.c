/*
 * feed_look.c
 *	  The plan of a cold start, asked of a bridge by a session that only looks.
 *
 * Rule: docs/internals/bridge.md, "Without a stream".
 */
#include "postgres.h"

#include "pgext/apply_int.h"
#include "pgext/bridge_request.h"
#include "pgext/feed_plan.h"
#include "pgext/json_object.h"
#include "pgext/pgcompat.h"

static void
append_part(SlFeedPlan *all, const SlFeedPlan *part)
{
	int			n = all->plan.n + part->plan.n;

	if (part->first)
	{
		all->first = true;
		all->ntables = part->ntables;
		all->tables = part->tables;
	}
	all->last = part->last;
	all->plan.objects = all->plan.objects ?
		repalloc_huge(all->plan.objects, sizeof(SlObject) * (n + 1)) :
		palloc(sizeof(SlObject) * (n + 1));
	memcpy(all->plan.objects + all->plan.n, part->plan.objects, sizeof(SlObject) * part->plan.n);
	all->plan.n = n;
}

static bool
take_answer(const char *kind, JsonbContainer *answer, void *arg)
{
	SlFeedPlan *all = arg;
	JsonbValue	part;

	if (strcmp(kind, "plan") != 0 && (strcmp(kind, "done") != 0 || !all->first || !all->last))
		sl_json_raise("kind", "plan until the last part of it, then done");
	if (strcmp(kind, "done") == 0)
		return false;
	sl_json_keys(answer, "an answer with a plan", " kind plan ");
	if (!sl_json_find(answer, "plan", &part))
		sl_json_raise("plan", "a JSON object");
	append_part(all, sl_feed_plan_read(JsonbValueToJsonb(&part)));
	return true;
}

/* See feed_plan.h. */
SlFeedPlan *
sl_feed_plan_ask(SlStream *s, const SlSource *src)
{
	SlFeedPlan *all = palloc0(sizeof(SlFeedPlan));

	sl_bridge_request("plan", s, src, take_answer, all);
	return all;
}

/* See feed_plan.h. */
SlColdTable *
sl_feed_plan_tables(SlStream *s, const SlFeedPlan *p)
{
	SlColdTable *tables = palloc0(sizeof(SlColdTable) * (p->ntables + 1));

	for (int i = 0; i < p->ntables; i++)
	{
		tables[i].src = p->tables[i];
		tables[i].state = pstrdup("pending");
		tables[i].target = sl_target_lookup(s, p->tables[i].schema, p->tables[i].name);
	}
	return tables;
}
