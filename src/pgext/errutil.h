/*
 * errutil.h
 *	  Raising refusals, and reading markers back from caught errors.
 */
#ifndef SL_ERRUTIL_H
#define SL_ERRUTIL_H

#include "common/sl_error.h"
#include "common/sl_marker.h"

/* What a refusal speaks of.  Any pointer may be NULL. */
typedef struct SlRefusal
{
	SlMarker	marker;
	const char *schema;
	const char *table;
	const char *column;
	const char *constraint;
	const char *detail;			/* one line per object; full sentences or diff
								 * lines */
	const char *hint;			/* first remedy, as a statement; NULL = the
								 * registry's */
} SlRefusal;

/*
 * Raise ERROR with the marker's SQLSTATE.  The primary message becomes
 * "MARKER: <fmt...>"; schema, table and column fields are filled.  fmt begins
 * lower case and has no period (message style).  Never pass row values.
 */
extern void sl_refuse(const SlRefusal *r, const char *fmt,...)
			pg_attribute_printf(2, 3) SL_NORETURN;

/* Marker of a caught error, SL_M_NONE when it is an ordinary error. */
extern SlMarker sl_marker_of(const ErrorData *edata);

/* Raise a decoder's failure as PROTOCOL-VIOLATION; what = "pgoutput message". */
extern void sl_raise_decode_error(const char *what, const SlError *err)
			SL_NORETURN;

typedef enum SlErrorClass
{
	SL_CLASS_TRANSIENT,			/* retry with backoff */
	SL_CLASS_REFUSAL,			/* an SL marker that is terminal */
	SL_CLASS_FATAL				/* state failed */
} SlErrorClass;

/*
 * By SQLSTATE only, never by text: class 08, 53, 57P01-57P05, 40001, 40P01,
 * 55P03, 55006, 57014, 28xxx and 25006 are transient; markers are as
 * the registry says; anything else is fatal.
 */
extern SlErrorClass sl_classify_sqlstate(int sqlerrcode);

/* psprintf for a va_list, in the current memory context; args stays as it was. */
extern char *sl_vpsprintf(const char *fmt, va_list args) pg_attribute_printf(1, 0);

#endif							/* SL_ERRUTIL_H */
