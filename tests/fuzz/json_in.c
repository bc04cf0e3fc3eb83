/*
 * json_in.c
 *	  Fuzz target: JSON that a target answers, and positions.  What is read as a
 *	  tree reads the same again when it is written, and so does a position.
 *
 * Input: a byte that chooses the server, then the text.
 */
#include "bridge/json_in.h"
#include "bridge/json_out.h"
#include "bridge/position.h"
#include "arena.h"
#include "fuzz.h"

static void
write_tree(const BrJson *json, StringInfo out)
{
	char		close = json->kind == BR_JSON_OBJECT ? '}' : ']';

	br_json_comma(out);
	switch (json->kind)
	{
		case BR_JSON_NULL:
			appendStringInfoString(out, "null");
			break;
		case BR_JSON_STRING:
			br_json_string(out, json->text);
			break;
		case BR_JSON_ARRAY:
		case BR_JSON_OBJECT:
			appendStringInfoChar(out, json->kind == BR_JSON_OBJECT ? '{' : '[');
			for (int i = 0; i < json->n; i++)
			{
				if (json->kind == BR_JSON_OBJECT)
					br_json_name(out, json->names[i]);
				write_tree(json->items[i], out);
			}
			appendStringInfoChar(out, close);
			break;
		default:
			appendStringInfoString(out, json->text);
	}
}

/* Members by name, as whoever takes an answer apart looks for them. */
static void
look_up(const BrJson *json)
{
	int64		n;

	for (int i = 0; json->kind == BR_JSON_OBJECT && i < Min(json->n, 16); i++)
	{
		fuzz_text(br_json_get_text(json, json->names[i]));
		fuzz_sum += br_json_get_int64(json, json->names[i], &n);
		fuzz_sum += br_json_get_true(json, json->names[i]);
	}
}

static void
check_tree(const char *text)
{
	StringInfoData once;
	StringInfoData twice;
	SlError		err;
	BrJson	   *json = br_json_parse(text, &err);

	if ((json == NULL) != (err.code != SL_ERR_NONE) || (json == NULL && err.offset > strlen(text)))
		abort();
	if (json == NULL)
		return;
	look_up(json);
	initStringInfo(&once);
	write_tree(json, &once);
	br_json_free(json);
	json = br_json_parse(once.data, &err);
	if (json == NULL)
		abort();
	initStringInfo(&twice);
	write_tree(json, &twice);
	if (strcmp(once.data, twice.data) != 0)
		abort();
	br_json_free(json);
}

static void
check_position(const char *text, bool mariadb)
{
	StringInfoData once;
	StringInfoData twice;
	BrPosition	p;
	uint64		lsn;
	SlError		err;

	if (!br_position_parse(text, mariadb, &p, &err))
	{
		if (err.code == SL_ERR_NONE)
			abort();
		return;
	}
	if (br_position_lsn(p.file, p.pos, 0, &lsn) && (uint32) lsn != p.pos)
		abort();
	initStringInfo(&once);
	br_position_text(&p, &once);
	if (!br_position_parse(once.data, mariadb, &p, &err))
		abort();
	initStringInfo(&twice);
	br_position_text(&p, &twice);
	if (strcmp(once.data, twice.data) != 0)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char	   *text;

	if (size < 1)
		return 0;
	text = malloc(size);
	memcpy(text, data + 1, size - 1);
	text[size - 1] = '\0';
	check_tree(text);
	check_position(text, data[0] & 1);
	free(text);
	arena_free_all();
	return 0;
}
