/*
 * preflight_bridge.c
 *	  The checks of a source that sluice-bridge reads, which makes them.
 *
 * Rule: docs/sources-mysql.md, "Checks".
 */
#include "postgres.h"

#include "common/sl_shape.h"
#include "pgext/bridge_request.h"
#include "pgext/json_object.h"
#include "pgext/preflight_int.h"
#include "pgext/pgcompat.h"

/* What a stream can do without is no failure, as for other sources. */
static void
take_check(SlPreflight *p, JsonbContainer *answer)
{
	bool		required = sl_json_bool(answer, "required", true);
	bool		ok = sl_json_bool(answer, "ok", false);
	char	   *detail = sl_visible(sl_json_text(answer, "detail", NULL));

	if (!required && !ok && detail)
		detail = psprintf("advice: %s", detail);
	sl_check_add(p, "source", sl_visible(sl_json_need_text(answer, "name")), ok || !required,
				 detail, sl_visible(sl_json_text(answer, "fix", NULL)));
}

static bool
take_answer(const char *kind, JsonbContainer *answer, void *arg)
{
	if (strcmp(kind, "done") == 0)
		return false;
	if (strcmp(kind, "check") != 0)
		sl_json_raise("kind", "check, failed or done");
	sl_json_keys(answer, "an answer of preflight", " kind name required ok detail fix ");
	take_check(arg, answer);
	return true;
}

/* See preflight.h. */
List *
sl_preflight_bridged(SlStream *s, const SlSource *src)
{
	SlPreflight *p = palloc0(sizeof(SlPreflight));

	p->stream = s;
	p->src = src;
	p->cxt = CurrentMemoryContext;
	sl_check_run(p, "target", "server", sl_check_target_fed);
	sl_bridge_request("preflight", s, src, take_answer, p);
	return p->checks;
}
