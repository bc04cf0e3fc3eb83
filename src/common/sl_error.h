/*
 * sl_error.h
 *	  How pure code reports a failure: it fills an SlError and returns false.
 *
 * The caller makes the sentence for its own world (ereport in the backend, a
 * log line in the bridge).
 */
#ifndef SL_ERROR_H
#define SL_ERROR_H

#include "common/sl_common.h"

typedef enum SlErrorCode
{
	SL_ERR_NONE = 0,
	SL_ERR_TRUNCATED,			/* input ends inside a field */
	SL_ERR_MALFORMED,			/* a field has a value it cannot have */
	SL_ERR_UNSUPPORTED,			/* a kind or version this build does not know */
	SL_ERR_LIMIT				/* a length or count beyond its stated limit */
} SlErrorCode;

typedef struct SlError
{
	SlErrorCode code;
	size_t		offset;			/* byte of the input where it was seen */
	char		detail[200];	/* lower case fragment, no period */
} SlError;

/* Fill err (printf style); returns false so that callers can return it. */
extern bool sl_error_set(SlError *err, SlErrorCode code, size_t offset,
						 const char *fmt,...) pg_attribute_printf(4, 5);

/* A short name of the code, as "truncated". */
extern const char *sl_error_code_name(SlErrorCode code);

#endif							/* SL_ERROR_H */
