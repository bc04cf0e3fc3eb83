/*
 * pgoutput.c
 *	  Fuzz target: the pgoutput decoder over a sequence of messages.
 *
 * Input as capture.py writes it: protocol version, then messages, each with
 * its length in four bytes.
 */
#include "common/sl_pgoutput.h"
#include "fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	SlPgoutput *d;
	size_t		at = 1;

	if (size < 1)
		return 0;
	d = sl_pgoutput_create(data[0] % 5);
	while (at + 4 <= size)
	{
		size_t		len = (size_t) data[at] << 24 | (size_t) data[at + 1] << 16 |
		(size_t) data[at + 2] << 8 | data[at + 3];
		SlRecord	rec;
		SlError		err;

		at += 4;
		if (len > size - at)
			len = size - at;
		fuzz_message(d, (const char *) data + at, len, &rec, &err);
		at += len;
	}
	sl_pgoutput_free(d);
	return 0;
}
