/*
 * sl_error.c
 *	  Failures of pure code, reported by value.
 */
#include "common/sl_error.h"

/*
 * Fill err and return false.  A detail that does not fit is cut; its bytes may
 * come from the input only through the callers' own formats, none of which
 * prints input text.
 */
bool
sl_error_set(SlError *err, SlErrorCode code, size_t offset,
			 const char *fmt,...)
{
	va_list		args;

	err->code = code;
	err->offset = offset;
	va_start(args, fmt);
	vsnprintf(err->detail, sizeof(err->detail), fmt, args);
	va_end(args);
	return false;
}

/* A code's name for messages and tests. */
const char *
sl_error_code_name(SlErrorCode code)
{
	switch (code)
	{
		case SL_ERR_NONE:
			return "none";
		case SL_ERR_TRUNCATED:
			return "truncated";
		case SL_ERR_MALFORMED:
			return "malformed";
		case SL_ERR_UNSUPPORTED:
			return "unsupported";
		case SL_ERR_LIMIT:
			return "limit";
	}
	return "unrecognized";
}
