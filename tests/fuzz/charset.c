/*
 * charset.c
 *	  Fuzz target: what comes of text in any character set is UTF-8 without
 *	  zero bytes, and of the text twice, the same twice.
 */
#include "bridge/types/charset.h"
#include "fuzz.h"
#include "mb/pg_wchar.h"

static const char *const names[] = {
	"utf8mb4", "utf8mb3", "ascii", "binary", "ucs2", "utf16", "utf16le", "utf32", "latin1", "cp1257", "swe7",
	"tis620", "hebrew", "big5", "gbk", "gb2312", "gb18030", "euckr", "sjis", "cp932", "ujis", "eucjpms"
};

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const MyCharset *cs;
	size_t		len = size - 1;
	char	   *copy;
	StringInfoData once;
	StringInfoData twice;
	SlError		err;

	if (size == 0)
		return 0;
	cs = my_charset_by_name(names[data[0] % lengthof(names)]);
	copy = malloc(2 * len + 1);
	memcpy(copy, data + 1, len);
	memcpy(copy + len, data + 1, len);
	initStringInfo(&once);
	initStringInfo(&twice);
	if (my_charset_to_utf8(cs, copy, len, &once, &err))
	{
		if (pg_encoding_verifymbstr(PG_UTF8, once.data, once.len) != once.len ||
			memchr(once.data, '\0', once.len) != NULL)
			abort();
		if (!my_charset_to_utf8(cs, copy, 2 * len, &twice, &err) || twice.len != 2 * once.len ||
			memcmp(twice.data, once.data, once.len) != 0 ||
			memcmp(twice.data + once.len, once.data, once.len) != 0)
			abort();
	}
	else if (err.code == SL_ERR_NONE || err.offset > len)
		abort();
	pfree(once.data);
	pfree(twice.data);
	free(copy);
	return 0;
}
