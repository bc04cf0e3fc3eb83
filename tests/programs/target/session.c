/*
 * session.c
 *	  A session on a target, driven by lines of standard input:
 *
 *	  query SQL | pipeline DEPTH | send SQL | sync SQL | result | poll | end | reset | notified CHANNEL
 *
 *	  A line of output for each: "ok", a value, "none", or "fault SQLSTATE
 *	  [lost] MESSAGE".  The first argument is the conninfo.
 */
#include "bridge/target.h"

static BrTarget *t;
static BrError err;

static void
fault(void)
{
	printf("fault %s%s %s\n", err.sqlstate[0] ? err.sqlstate : "-", err.lost ? " lost" : "", err.message);
}

static void
verdict(bool ok)
{
	if (ok)
		printf("ok\n");
	else
		fault();
}

static void
query(const char *sql)
{
	BrRows	   *rows = br_target_query(t, sql, NULL, 0, &err);

	if (rows == NULL)
	{
		fault();
		return;
	}
	printf("%s\n", rows->nrows > 0 && rows->values[0] != NULL ? rows->values[0] : "none");
	br_rows_free(rows);
}

static void
result(bool wait)
{
	char	   *value;
	int			got = br_target_result(t, wait, &value, &err);

	if (got < 0)
		fault();
	else
		printf("%s\n", got == 0 ? "none" : value != NULL ? value : "ok");
	if (value != NULL)
		pfree(value);
}

static void
run(const char *word, const char *rest)
{
	if (strcmp(word, "query") == 0)
		query(rest);
	else if (strcmp(word, "pipeline") == 0)
		verdict(br_target_pipeline(t, (int) strtol(rest, NULL, 10), &err));
	else if (strcmp(word, "send") == 0 || strcmp(word, "sync") == 0)
		verdict(br_target_send(t, rest, NULL, 0, strcmp(word, "sync") == 0, &err));
	else if (strcmp(word, "result") == 0 || strcmp(word, "poll") == 0)
		result(strcmp(word, "result") == 0);
	else if (strcmp(word, "end") == 0)
		verdict(br_target_pipeline_end(t, &err));
	else if (strcmp(word, "reset") == 0)
		verdict(br_target_reset(t, &err));
	else if (strcmp(word, "notified") == 0)
		printf("%s\n", br_target_notified(t, rest) ? "yes" : "no");
	else
		printf("what?\n");
	fflush(stdout);
}

int
main(int argc, char **argv)
{
	char		line[4096];

	t = argc == 2 ? br_target_connect(argv[1], "session", &err) : NULL;
	if (t == NULL)
	{
		fault();
		return 1;
	}
	while (fgets(line, sizeof(line), stdin) != NULL)
	{
		char	   *space;

		line[strcspn(line, "\n")] = '\0';
		space = strchr(line, ' ');
		if (space != NULL)
			*space++ = '\0';
		run(line, space != NULL ? space : "");
	}
	br_target_close(t);
	return 0;
}
