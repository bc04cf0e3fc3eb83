/*
 * json.c
 *	  Fuzz target: the text of a binary document is JSON that jsonb holds, but
 *	  for U+0000; the same bytes as JSON text must be judged without harm.
 */
#include "bridge/types/json.h"
#include "fuzz.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char	   *copy = malloc(size > 0 ? size : 1);
	StringInfoData out;
	MyJsonLoss	loss = {0};
	SlError		err;

	if (size > 0)
		memcpy(copy, data, size);
	initStringInfo(&out);
	if (my_json_text(copy, size, &out, &err))
	{
		bool		zero = my_json_has_zero(out.data, out.len);

		if (my_json_check_text(out.data, out.len, &loss, &err) ? zero :
			!zero || loss.kind != MY_JSON_ZERO_CHARACTER)
			abort();
	}
	else if (err.code == SL_ERR_NONE || err.offset > size)
		abort();
	/* what each byte of a document may become at most */
	if ((size_t) out.len > 128 + 32 * size)
		abort();
	if (!my_json_check_text(copy, size, &loss, &err))
	{
		if (err.code == SL_ERR_NONE || err.offset > size)
			abort();
		if (err.code == SL_ERR_UNSUPPORTED && loss.kind == MY_JSON_DUPLICATE_KEY)
			fuzz_bytes(loss.key, loss.key_len);
	}
	pfree(out.data);
	free(copy);
	return 0;
}
