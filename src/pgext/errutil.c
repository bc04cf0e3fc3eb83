/*
 * errutil.c
 *	  Raising refusals, and reading markers back from caught errors.
 */
#include "postgres.h"

#include "pgext/errutil.h"
#include "pgext/pgcompat.h"

static int
marker_errcode(const SlMarkerInfo *info)
{
	const char *s = info->sqlstate;

	return MAKE_SQLSTATE(s[0], s[1], s[2], s[3], s[4]);
}

/* Fill one of the error's object fields, if there is something to fill in. */
static int
object_field(int field, const char *value)
{
	return value ? err_generic_string(field, value) : 0;
}

/* The remedy of the registry as a sentence. */
static char *
remedy_sentence(const char *remedy)
{
	char	   *s = psprintf("%s.", remedy);

	s[0] = pg_toupper((unsigned char) s[0]);
	return s;
}

/* See errutil.h. */
char *
sl_vpsprintf(const char *fmt, va_list args)
{
	StringInfoData buf;

	initStringInfo(&buf);
	for (;;)
	{
		va_list		again;
		int			needed;

		va_copy(again, args);
		needed = appendStringInfoVA(&buf, fmt, again);
		va_end(again);
		if (needed == 0)
			return buf.data;
		enlargeStringInfo(&buf, needed);
	}
}

void
sl_refuse(const SlRefusal *r, const char *fmt,...)
{
	const SlMarkerInfo *info = sl_marker_info(r->marker);
	const char *hint = r->hint ? r->hint : remedy_sentence(info->remedy);
	char	   *msg;
	va_list		args;

	va_start(args, fmt);
	msg = sl_vpsprintf(fmt, args);
	va_end(args);

	ereport(ERROR,
			(errcode(marker_errcode(info)),
			 errmsg_internal("%s: %s", info->text, msg),
			 r->detail ? errdetail_internal("%s", r->detail) : 0,
			 errhint("%s", hint),
			 object_field(PG_DIAG_SCHEMA_NAME, r->schema),
			 object_field(PG_DIAG_TABLE_NAME, r->table),
			 object_field(PG_DIAG_COLUMN_NAME, r->column),
			 object_field(PG_DIAG_CONSTRAINT_NAME, r->constraint)));
	pg_unreachable();
}

SlMarker
sl_marker_of(const ErrorData *edata)
{
	return sl_marker_by_sqlstate(unpack_sql_state(edata->sqlerrcode));
}

void
sl_raise_decode_error(const char *what, const SlError *err)
{
	SlRefusal	r = {.marker = SL_M_PROTOCOL_VIOLATION};

	sl_refuse(&r, "cannot decode a %s: %s at byte %zu (%s)",
			  what, err->detail, err->offset, sl_error_code_name(err->code));
	pg_unreachable();
}

/* Classes whose every member goes away by itself or by the operator's hand. */
static bool
is_transient_class(int sqlerrcode)
{
	switch (ERRCODE_TO_CATEGORY(sqlerrcode))
	{
		case MAKE_SQLSTATE('0', '8', '0', '0', '0'):	/* connection */
		case MAKE_SQLSTATE('2', '8', '0', '0', '0'):	/* login */
		case MAKE_SQLSTATE('5', '3', '0', '0', '0'):	/* resources */
			return true;
		default:
			return false;
	}
}

SlErrorClass
sl_classify_sqlstate(int sqlerrcode)
{
	SlMarker	m = sl_marker_by_sqlstate(unpack_sql_state(sqlerrcode));

	if (m != SL_M_NONE)
		return sl_marker_info(m)->end == SL_END_RETRIED ?
			SL_CLASS_TRANSIENT : SL_CLASS_REFUSAL;
	if (is_transient_class(sqlerrcode))
		return SL_CLASS_TRANSIENT;

	switch (sqlerrcode)
	{
		case ERRCODE_ADMIN_SHUTDOWN:
		case ERRCODE_CRASH_SHUTDOWN:
		case ERRCODE_CANNOT_CONNECT_NOW:
		case ERRCODE_DATABASE_DROPPED:
		case ERRCODE_IDLE_SESSION_TIMEOUT:
		case ERRCODE_QUERY_CANCELED:
		case ERRCODE_T_R_SERIALIZATION_FAILURE:
		case ERRCODE_T_R_DEADLOCK_DETECTED:
		case ERRCODE_LOCK_NOT_AVAILABLE:
		case ERRCODE_OBJECT_IN_USE:
		case ERRCODE_READ_ONLY_SQL_TRANSACTION:
			return SL_CLASS_TRANSIENT;
		default:
			return SL_CLASS_FATAL;
	}
}
