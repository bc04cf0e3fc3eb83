/*
 * careful_in.c
 *	  Input by text for the types whose input function would take a changed
 *	  value without a word.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "pgext/careful_in.h"
#include "pgext/pgcompat.h"

static bool
care_inside(Oid type)
{
	TupleDesc	desc;
	bool		found = false;

	check_stack_depth();
	if (OidIsValid(get_element_type(type)))
		return sl_care_of(get_element_type(type)) != SL_CARE_NONE;
	if (type_is_multirange(type))
		type = get_multirange_range(type);
	if (type_is_range(type))
		return sl_care_of(get_range_subtype(type)) != SL_CARE_NONE;
	if (get_typtype(type) != TYPTYPE_COMPOSITE)
		return false;
	desc = lookup_rowtype_tupdesc(type, -1);
	for (int i = 0; i < desc->natts && !found; i++)
		found = !TupleDescAttr(desc, i)->attisdropped &&
			sl_care_of(TupleDescAttr(desc, i)->atttypid) != SL_CARE_NONE;
	ReleaseTupleDesc(desc);
	return found;
}

SlCare
sl_care_of(Oid type)
{
	Oid			base = getBaseType(type);

	switch (base)
	{
		case CHAROID:
			return SL_CARE_CHAR;
		case NAMEOID:
			return SL_CARE_NAME;
		default:
			return care_inside(base) ? SL_CARE_INSIDE : SL_CARE_NONE;
	}
}

/* The one byte that text stands for, as text. */
static char *
byte_of(const char *text, size_t len)
{
	char	   *one = palloc0(2);

	if (len <= 1)
		one[0] = len ? text[0] : '\0';
	else if (len == 4 && text[0] == '\\' && strspn(text + 1, "01234567") == 3)
		one[0] = (char) (((text[1] - '0') << 6) | ((text[2] - '0') << 3) | (text[3] - '0'));
	else
		ereport(ERROR,
				(errcode(ERRCODE_UNTRANSLATABLE_CHARACTER),
				 errmsg("value of type \"char\" has %zu bytes", len)));
	return one;
}

/* Types of this kind are few and rare: see what became of the text. */
static void
check_text_stays(Oid type, Datum d, const char *text)
{
	Oid			fn;
	bool		varlena;

	getTypeOutputInfo(type, &fn, &varlena);
	if (strcmp(OidOutputFunctionCall(fn, d), text) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNTRANSLATABLE_CHARACTER),
				 errmsg("value would not have the same text here")));
}

Datum
sl_careful_in(SlCare care, Oid type, FmgrInfo *in, char *text, size_t len,
			  Oid param, int32 typmod)
{
	Datum		d;

	if (care == SL_CARE_CHAR)
		text = byte_of(text, len);
	if (care == SL_CARE_NAME && len >= NAMEDATALEN)
		ereport(ERROR,
				(errcode(ERRCODE_STRING_DATA_RIGHT_TRUNCATION),
				 errmsg("name has %zu bytes, more than %d", len, NAMEDATALEN - 1)));
	d = InputFunctionCall(in, text, param, typmod);
	if (care == SL_CARE_INSIDE)
		check_text_stays(type, d, text);
	return d;
}

/* What stands in for the input function of a column in a copy. */
typedef struct CopyIn
{
	SlCare		care;
	Oid			type;
	FmgrInfo	in;

	/* of the type that comes in binary form; fn_oid 0 = text comes */
	FmgrInfo	recv;
	Oid			recv_param;
	FmgrInfo	out;
} CopyIn;

static Datum
copy_in(PG_FUNCTION_ARGS)
{
	CopyIn	   *own = fcinfo->flinfo->fn_extra;
	char	   *text = PG_ARGISNULL(0) ? NULL : PG_GETARG_CSTRING(0);
	Oid			param = PG_GETARG_OID(1);
	int32		typmod = PG_GETARG_INT32(2);
	char		byte[2] = {0};

	if (text == NULL)
	{
		/* only a domain is asked about NULL */
		(void) InputFunctionCall(&own->in, NULL, param, typmod);
		PG_RETURN_NULL();
	}
	if (own->care != SL_CARE_CHAR)
		return sl_careful_in(own->care, own->type, &own->in, text, strlen(text),
							 param, typmod);
	byte[0] = (char) pg_strtoint32(text);
	return InputFunctionCall(&own->in, byte, param, typmod);
}

void
sl_careful_copy(FmgrInfo *in, TupleDesc desc)
{
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);
		SlCare		care = att->attisdropped ? SL_CARE_NONE : sl_care_of(att->atttypid);
		CopyIn	   *own;

		if (care == SL_CARE_NONE)
			continue;
		own = palloc(sizeof(CopyIn));
		own->care = care;
		own->type = att->atttypid;
		fmgr_info_copy(&own->in, &in[i], CurrentMemoryContext);
		in[i].fn_addr = copy_in;
		in[i].fn_extra = own;
	}
}

/* The value in buf as text, which is all of it; *len: its bytes. */
static char *
received_text(CopyIn * own, StringInfo buf, int *len)
{
	char	   *text = buf->data;
	Datum		d;

	if (!OidIsValid(own->recv.fn_oid))
	{
		*len = buf->len;
		buf->cursor = buf->len;
		/* a byte above 127 of "char" is in no encoding */
		if (own->care != SL_CARE_CHAR || *len > 1)
			pg_verifymbstr(text, *len, false);
		return text;
	}
	d = ReceiveFunctionCall(&own->recv, buf, own->recv_param, -1);
	text = OutputFunctionCall(&own->out, d);
	*len = strlen(text);
	return text;
}

/* A receive function by its form only. */
static Datum
copy_receive(PG_FUNCTION_ARGS)
{
	CopyIn	   *own = fcinfo->flinfo->fn_extra;
	StringInfo	buf = (StringInfo) PG_GETARG_POINTER(0);
	Oid			param = PG_GETARG_OID(1);
	int32		typmod = PG_GETARG_INT32(2);
	char	   *text;
	int			len;

	if (buf == NULL)
	{
		/* only a domain is asked about NULL */
		(void) InputFunctionCall(&own->in, NULL, param, typmod);
		PG_RETURN_NULL();
	}
	text = received_text(own, buf, &len);
	return own->care == SL_CARE_NONE ? InputFunctionCall(&own->in, text, param, typmod) :
		sl_careful_in(own->care, own->type, &own->in, text, len, param, typmod);
}

void
sl_careful_receive(FmgrInfo *recv, Oid * param, Form_pg_attribute att, Oid typid)
{
	CopyIn	   *own = palloc0(sizeof(CopyIn));
	bool		varlena;
	Oid			fn;

	own->care = sl_care_of(att->atttypid);
	own->type = att->atttypid;
	getTypeInputInfo(att->atttypid, &fn, param);
	fmgr_info(fn, &own->in);
	if (OidIsValid(typid))
	{
		getTypeBinaryInputInfo(typid, &fn, &own->recv_param);
		fmgr_info(fn, &own->recv);
		getTypeOutputInfo(typid, &fn, &varlena);
		fmgr_info(fn, &own->out);
	}
	recv->fn_addr = copy_receive;
	recv->fn_strict = own->in.fn_strict;
	recv->fn_extra = own;
}
