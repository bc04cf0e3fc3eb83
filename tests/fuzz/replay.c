/*
 * replay.c
 *	  Fuzz target: statements replayed on layouts, and layouts read from text.  Input:
 *	  a byte that chooses server and modes; then a statement for two tables made
 *	  here, or, where a zero byte divides it, a layout's JSON and a statement for that; with 0x80 in the first
 *	  byte all of it is JSON.
 */
#include "bridge/replay/replay.h"
#include "arena.h"
#include "fuzz.h"

static const char parent[] =
"{\"version\":1,\"relid\":1,\"natts\":4,\"charset\":\"utf8mb4\",\"collation\":\"utf8mb4_bin\",\"database\":\"shop\",\"name\":\"t\","
"\"engine\":\"InnoDB\",\"kind\":\"BASE TABLE\",\"comment\":\"\",\"table_collation\":\"utf8mb4_bin\",\"columns\":["
"{\"name\":\"id\",\"attnum\":1,\"type\":\"int\",\"auto_increment\":true,\"comment\":\"\"},"
"{\"name\":\"a\",\"attnum\":3,\"type\":\"varchar(20)\",\"charset\":\"utf8mb4\",\"collation\":\"utf8mb4_bin\",\"nullable\":true,\"default\":\"x\",\"comment\":\"\"},"
"{\"name\":\"b\",\"attnum\":2,\"type\":\"text\",\"charset\":\"latin1\",\"collation\":\"latin1_bin\",\"nullable\":true,\"comment\":\"\"},"
"{\"name\":\"g\",\"attnum\":4,\"type\":\"int\",\"nullable\":true,\"virtual\":\"`id` + 1\",\"comment\":\"\"}],"
"\"indexes\":[{\"name\":\"PRIMARY\",\"primary\":true,\"unique\":true,\"kind\":\"btree\",\"comment\":\"\",\"parts\":[{\"column\":0}]},"
"{\"name\":\"k\",\"kind\":\"btree\",\"comment\":\"\",\"parts\":[{\"column\":1,\"prefix\":3},{\"expression\":\"`id` * 2\"}]}],"
"\"foreign_keys\":[],\"checks\":[{\"name\":\"c\",\"clause\":\"`a` <> 'q'\",\"enforced\":true},"
"{\"name\":\"a\",\"clause\":\"`a` > 'b'\",\"enforced\":true,\"of_column\":true}]}";
static const char child[] =
"{\"version\":1,\"relid\":2,\"natts\":2,\"database\":\"shop\",\"name\":\"s\",\"columns\":["
"{\"name\":\"id\",\"attnum\":1,\"type\":\"timestamp(3)\"},{\"name\":\"t_id\",\"attnum\":2,\"type\":\"int\"}],\"indexes\":[],"
"\"foreign_keys\":[{\"name\":\"s_ibfk_1\",\"columns\":[\"t_id\"],\"database\":\"shop\",\"table\":\"t\",\"referenced\":[\"id\"],"
"\"on_delete\":\"CASCADE\",\"on_update\":\"RESTRICT\"}],\"checks\":[]}";

/* Written and read again it is the same text. */
static BrLayout *
through_text(const BrLayout *l)
{
	StringInfoData text;
	StringInfoData again;
	SlError		err;
	BrLayout   *copy;

	initStringInfo(&text);
	initStringInfo(&again);
	br_layout_json(&text, l);
	copy = br_layout_parse(text.data, text.len, &err);
	if (copy == NULL)
		abort();
	br_layout_json(&again, copy);
	if (strcmp(text.data, again.data) != 0 || br_layout_differs(l, copy->t) != NULL)
		abort();
	return copy;
}

/* Numbers of columns are never used twice, and indexes have columns that are there. */
static void
check_layout(const BrLayout *before, const BrLayout *l)
{
	if (l->natts < before->natts || l->relid != before->relid || l->unsure != (l->why != NULL))
		abort();
	for (int i = 0; i < l->t->ncols; i++)
	{
		if (l->attnums[i] < 1 || l->attnums[i] > l->natts || br_layout_column(l, l->attnums[i]) != i)
			abort();
		if (l->attnums[i] <= before->natts && br_layout_column(before, l->attnums[i]) < 0)
			abort();
	}
	for (int i = 0; i < l->t->nindexes; i++)
		for (int k = 0; k < l->t->indexes[i].nparts; k++)
			if (l->t->indexes[i].parts[k].column >= l->t->ncols)
				abort();
}

static void
replay(const SlDdl *ddl, const BrReplaySession *s, BrLayout **layouts, int n)
{
	BrReplayStep *steps;
	int			nsteps;

	br_replay(ddl, s, layouts, n, &steps, &nsteps);
	for (int i = 0; i < nsteps; i++)
	{
		const BrReplayStep *step = &steps[i];

		if (step->table >= n || step->takes >= n || step->name.name == NULL)
			abort();
		fuzz_text(step->why);
		if (step->next == NULL)
			continue;
		check_layout(layouts[step->table], step->next);
		br_layout_free(through_text(step->next));
	}
	br_replay_free(steps, nsteps);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	BrReplaySession s = {.my = {.version = 90704, .database = "shop"}, .database_collation = "utf8mb4_bin"};
	const char *text = (const char *) data + 1;
	const char *zero;
	BrLayout   *layouts[2];
	SlError		err;
	int			n = 2;

	if (size == 0)
		return 0;
	s.my.server = data[0] & 1 ? SL_MY_MARIADB : SL_MY_MYSQL;
	s.my.version = data[0] & 1 ? 110809 : 90704;
	s.my.ansi_quotes = (data[0] & 2) != 0;
	s.my.no_backslash_escapes = (data[0] & 4) != 0;
	s.my.lower_case_table_names = (data[0] & 8) != 0;
	s.explicit_defaults_for_timestamp = (data[0] & 16) != 0;
	size--;
	zero = data[0] & 0x80 ? text + size : memchr(text, '\0', size);
	layouts[0] = br_layout_parse(parent, strlen(parent), &err);
	layouts[1] = br_layout_parse(child, strlen(child), &err);
	if (layouts[0] == NULL || layouts[1] == NULL)
		abort();
	if (zero != NULL)
	{
		BrLayout   *l = br_layout_parse(text, zero - text, &err);

		if ((l == NULL) == (err.code == SL_ERR_NONE))
			abort();
		size -= Min(size, (size_t) (zero + 1 - text));
		text = zero + 1;
		if (l != NULL)
		{
			br_layout_free(layouts[1]);
			layouts[1] = through_text(l);
			br_layout_free(l);
		}
	}
	if (size > 0 && !(data[0] & 0x80))
		replay(sl_ddl_parse(text, size, &s.my), &s, layouts, n);
	br_layout_free(layouts[0]);
	br_layout_free(layouts[1]);
	arena_free_all();
	return 0;
}
