/*
 * pattern.c
 *	  Fuzz target: table patterns.  Input: pattern, schema and table, with a
 *	  line end between them.
 */
#include "common/sl_pattern.h"
#include "common/sl_shape.h"
#include "fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char	   *part[3];
	size_t		at = 0;
	SlPattern  *p;
	SlError		err;

	for (int i = 0; i < 3; i++)
	{
		size_t		n = 0;

		while (at + n < size && data[at + n] != '\0' &&
			   (data[at + n] != '\n' || i == 2))
			n++;
		part[i] = malloc(n + 1);
		if (n > 0)
			memcpy(part[i], data + at, n);
		part[i][n] = '\0';
		at += n < size - at ? n + 1 : n;
	}
	p = sl_pattern_parse(part[0], &err);
	if ((p == NULL) != (err.code != SL_ERR_NONE))
		abort();
	if (p != NULL)
	{
		StringInfoData quoted;
		SlPattern  *exact;

		(void) sl_pattern_match(p, part[1], part[2]);
		sl_pattern_free(p);

		/* A quoted name matches itself. */
		initStringInfo(&quoted);
		appendStringInfoChar(&quoted, '"');
		for (const char *s = part[2]; *s != '\0'; s++)
		{
			if (*s == '"')
				appendStringInfoChar(&quoted, '"');
			appendStringInfoChar(&quoted, *s);
		}
		appendStringInfoChar(&quoted, '"');
		exact = sl_pattern_parse(quoted.data, &err);
		if (exact == NULL ?
			(part[2][0] != '\0' && quoted.len <= 4096) :
			!sl_pattern_match(exact, part[1], part[2]))
			abort();
		sl_pattern_free(exact);
		pfree(quoted.data);
	}

	for (int i = 0; i < 3; i++)
	{
		StringInfoData ident;

		initStringInfo(&ident);
		sl_append_ident(&ident, part[i]);
		for (const char *s = ident.data; *s != '\0'; s++)
		{
			if ((uint8) *s < 0x20 || *s == 0x7F)
				abort();
		}
		pfree(ident.data);
		free(part[i]);
	}
	return 0;
}
