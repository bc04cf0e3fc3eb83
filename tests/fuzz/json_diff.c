/*
 * json_diff.c
 *	  Fuzz target: differences applied to a document.  Two bytes of input are
 *	  the document's length; what is left are the differences.
 */
#include "bridge/types/json.h"
#include "fuzz.h"

static char *
copy_of(const uint8_t *data, size_t size)
{
	char	   *copy = malloc(size > 0 ? size : 1);

	if (size > 0)
		memcpy(copy, data, size);
	return copy;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t		len = size < 2 ? 0 : Min((size_t) data[0] << 8 | data[1], size - 2);
	size_t		diff_len = size < 2 ? 0 : size - 2 - len;
	char	   *before = copy_of(data + 2, len);
	char	   *diff = copy_of(data + 2 + len, diff_len);
	StringInfoData out;
	MyJsonLoss	loss = {0};
	SlError		err;

	initStringInfo(&out);
	if (my_json_apply(before, len, diff, diff_len, &out, &err))
	{
		if (!my_json_check_text(out.data, out.len, &loss, &err) && loss.kind != MY_JSON_ZERO_CHARACTER)
			abort();
	}
	else if (err.code == SL_ERR_NONE || err.offset > size)
		abort();
	resetStringInfo(&out);
	if (!my_json_diff_text(diff, diff_len, &out, &err) && err.code == SL_ERR_NONE)
		abort();
	pfree(out.data);
	free(before);
	free(diff);
	return 0;
}
