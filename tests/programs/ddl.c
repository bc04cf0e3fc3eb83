/*
 * ddl.c
 *	  Statements to what the parser of definitions makes of them.
 *
 *	ddl mysql|mariadb VERSION [ansi] [nobackslash] [fold] [real]
 *
 * A line of standard input is a statement in hexadecimal; a line of output what
 * it does, as ddl_text.h has it, with white space as one space.
 */
#include "ddl_text.h"

/* The line's bytes; NULL: it is no hexadecimal. */
static char *
from_hex(const char *line, size_t *len)
{
	char	   *out = palloc(strlen(line) / 2 + 1);

	*len = 0;
	for (; line[0] != '\0' && line[0] != '\n'; line += 2)
	{
		char		two[3] = {line[0], line[1], '\0'};
		char	   *end;

		out[(*len)++] = (char) strtoul(two, &end, 16);
		if (end != two + 2)
			return NULL;
	}
	return out;
}

static void
show(const char *text)
{
	for (; *text != '\0'; text++)
		putchar(*text == '\n' || *text == '\r' || *text == '\t' ? ' ' : *text);
	putchar('\n');
}

int
main(int argc, char **argv)
{
	SlMySession session = {.database = "test"};
	char	   *line = NULL;
	size_t		room = 0;

	if (argc < 3)
		return 2;
	session.server = strcmp(argv[1], "mariadb") == 0 ? SL_MY_MARIADB : SL_MY_MYSQL;
	session.version = (uint32) strtoul(argv[2], NULL, 10);
	for (int i = 3; i < argc; i++)
	{
		session.ansi_quotes |= strcmp(argv[i], "ansi") == 0;
		session.no_backslash_escapes |= strcmp(argv[i], "nobackslash") == 0;
		session.lower_case_table_names |= strcmp(argv[i], "fold") == 0;
		session.real_as_float |= strcmp(argv[i], "real") == 0;
	}
	while (getline(&line, &room, stdin) > 0)
	{
		size_t		len;
		char	   *text = from_hex(line, &len);

		if (text == NULL)
			return 2;
		show(ddl_text(sl_ddl_parse(text, len, &session)));
		fflush(stdout);
	}
	return 0;
}
