/*
 * wire.c
 *	  Fuzz target: what the wire reader takes must come out the same when
 *	  written again in its version, byte for byte.
 */
#include "common/sl_wire.h"
#include "fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char	   *copy = malloc(size > 0 ? size : 1);
	SlWireReader *r;
	uint16		version = SL_WIRE_VERSION;
	StringInfoData again;
	SlRecord	rec;
	SlError		err;
	SlError		put_err;

	if (size > 0)
		memcpy(copy, data, size);
	r = sl_wire_reader(copy, size);
	initStringInfo(&again);
	while (sl_wire_next(r, &rec, &err))
	{
		fuzz_record(&rec);
		if (rec.kind == SL_REC_HEADER)
			version = rec.u.header.version;
		if (!sl_wire_put_version(&again, &rec, version, &put_err) ||
			(size_t) again.len > size || memcmp(again.data, copy, again.len) != 0)
			abort();
	}
	if (err.code == SL_ERR_NONE && (size_t) again.len != size)
		abort();
	if (err.code != SL_ERR_NONE && err.offset > size)
		abort();
	pfree(again.data);
	sl_wire_reader_free(r);
	free(copy);
	return 0;
}
