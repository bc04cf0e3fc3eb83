/*
 * stream_json.c
 *	  Fuzz target: a stream as the target describes it.  What is taken is whole:
 *	  whoever uses it need not look again; what is not has a reason.
 *
 * Input: the columns of feed_open's answer, a zero byte between two; a column that
 * is the byte 1 is NULL, as those are that are missing.
 */
#include "bridge/stream_int.h"
#include "common/sl_pattern.h"
#include "arena.h"
#include "fuzz.h"

static void
check_list(char *const *list, bool patterns)
{
	for (; list != NULL && *list != NULL; list++)
	{
		SlError		err;

		fuzz_text(*list);
		if (patterns && sl_pattern_parse(*list, &err) == NULL)
			abort();
	}
}

static void
check_stream(const BrStream *s)
{
	static const char *const phases[] = {"schema", "data", "finish", "done"};
	bool		known = s->cold == NULL;

	if (s->token == NULL || s->target_schema == NULL || s->source.database != NULL || s->server_kind == NULL ||
		strcmp(s->server_kind, s->mariadb ? "mariadb" : "mysql") != 0)
		abort();
	if (s->copy_workers < 1 || s->copy_workers > 1024 || s->copy_rate < 0 || s->source.port < 0 || s->source.port > 65535)
		abort();
	for (int i = 0; i < lengthof(phases); i++)
		known = known || strcmp(s->cold, phases[i]) == 0;
	if (!known || (s->source.host != NULL && s->source.socket != NULL))
		abort();
	check_list(s->include, true);
	check_list(s->exclude, true);
	check_list(s->accept_cascades, true);
	for (int i = 0; i < s->nmap; i++)
		fuzz_sum += (uint32) (strlen(s->map_from[i]) + strlen(s->map_to[i]));
	for (int i = 0; i < s->noverrides; i++)
		fuzz_sum += (uint32) (strlen(s->override_of[i]) + strlen(s->override_to[i]));
	for (int i = 0; i < s->ntables; i++)
		fuzz_sum += (uint32) (strlen(s->tables[i].schema) + strlen(s->tables[i].table) + strlen(s->tables[i].state));
	fuzz_text(s->source.host);
	fuzz_text(s->source.socket);
	fuzz_text(s->source.user);
	fuzz_text(s->source.password);
	fuzz_text(s->source.tls_ca);
	fuzz_text(s->source.tls_cert);
	fuzz_text(s->source.tls_key);
	fuzz_text(s->database);
	fuzz_text(s->known);
	fuzz_text(s->position);

	/* what asks about tables takes them as they are */
	fuzz_sum += br_stream_has(s, "shop", "t");
	fuzz_sum += br_stream_accepts_cascades(s, "shop", "t");
	fuzz_text(br_stream_schema(s, "shop"));
	check_list(br_stream_databases(s), false);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char	   *columns[BR_OPEN_NCOLUMNS] = {NULL};
	const char *end = (const char *) data + size;
	const char *p = (const char *) data;
	BrStream	s = {0};
	BrError		err = {0};

	for (int i = 0; i < BR_OPEN_NCOLUMNS && p < end; i++)
	{
		columns[i] = pnstrdup(p, end - p);
		p += strlen(columns[i]) + 1;
		if (strcmp(columns[i], "\1") == 0)
			columns[i] = NULL;
	}
	if (br_stream_take(&s, columns, &err))
		check_stream(&s);
	else if (err.message[0] == '\0')
		abort();
	arena_free_all();
	return 0;
}
