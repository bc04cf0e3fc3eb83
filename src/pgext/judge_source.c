/*
 * judge_source.c
 *	  Types of other engines, where the type they became here is the same.
 */
#include "postgres.h"

#include "pgext/judge_source.h"
#include "pgext/pgcompat.h"

/* "varchar(20) unsigned ..." taken apart. */
typedef struct TypeText
{
	char		name[32];
	int64		length;			/* the number in parentheses, -1 = none */
	bool		is_unsigned;
} TypeText;

/* Types in order: whatever one holds, the next ones of its row hold. */
static const char *const ladders[][6] = {
	{"tinyint", "smallint", "mediumint", "int", "bigint", NULL},
	{"tinytext", "text", "mediumtext", "longtext", NULL},
	{"tinyblob", "blob", "mediumblob", "longblob", NULL},
	{"varchar", NULL}, {"varbinary", NULL},
};

static void
take_apart(const char *text, TypeText *t)
{
	size_t		n = strspn(text, "abcdefghijklmnopqrstuvwxyz");

	memset(t, 0, sizeof(*t));
	strlcpy(t->name, text, Min(n + 1, sizeof(t->name)));
	t->length = text[n] == '(' ? strtoll(text + n + 1, NULL, 10) : -1;
	t->is_unsigned = strstr(text + n, "unsigned") != NULL;
}

/* Row of ladders that has the type, and its place; -1 where none has it. */
static int
rung(const char *name, int *place)
{
	for (int i = 0; i < lengthof(ladders); i++)
		for (*place = 0; ladders[i][*place]; (*place)++)
			if (strcmp(ladders[i][*place], name) == 0)
				return i;
	return -1;
}

/* "enum('a','b')" to "enum('a','b','c')": labels appended, none moved. */
static bool
labels_appended(const char *before, const char *after)
{
	size_t		n = strlen(before);

	return n > 1 && before[n - 1] == ')' && strncmp(before, after, n - 1) == 0 &&
		after[n - 1] == ',';
}

/* See judge_source.h. */
bool
sl_source_type_widens(const char *before, const char *after)
{
	TypeText	b;
	TypeText	a;
	int			from;
	int			to;
	int			row;

	if (strncmp(before, "enum(", 5) == 0 || strncmp(before, "set(", 4) == 0)
		return labels_appended(before, after);
	take_apart(before, &b);
	take_apart(after, &a);
	row = rung(b.name, &from);
	if (row < 0 || row != rung(a.name, &to) || b.is_unsigned != a.is_unsigned)
		return false;
	/* an integer's number is its width on a screen */
	if (row > 0 && from == to)
		return b.length <= a.length;
	return from <= to;
}
