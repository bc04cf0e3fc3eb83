/*
 * target_error.c
 *	  A fault that is ours, in the form of the target's.  Pure.
 */
#include "bridge/target.h"

/* See target.h. */
bool
br_error_set(BrError *err, const char *fmt,...)
{
	va_list		args;

	memset(err, 0, sizeof(*err));
	va_start(args, fmt);
	vsnprintf(err->message, sizeof(err->message), fmt, args);
	va_end(args);
	return false;
}
