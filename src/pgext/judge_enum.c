/*
 * judge_enum.c
 *	  Labels of another engine's ENUM whose column has an enum type here.
 *
 * NOTES
 *	  The type belongs to the column alone, and keeps the name that it was given
 *	  when that was made, whatever the column is called since.  A label that is
 *	  added cannot be used in the transaction that adds it: a feeder ends its batch
 *	  with the statement's group.
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "pgext/gate.h"
#include "pgext/judge_int.h"
#include "pgext/judge_source.h"
#include "pgext/spi_util.h"
#include "pgext/pgcompat.h"

/* See judge_source.h. */
List *
sl_enum_labels(Oid type)
{
	const char *params[1] = {psprintf("%u", type)};

	return sl_control_texts("SELECT e.enumlabel::pg_catalog.text FROM pg_catalog.pg_enum e"
							" WHERE e.enumtypid = $1::pg_catalog.oid ORDER BY e.enumsortorder",
							lengthof(params), params);
}

/* See judge_source.h. */
bool
sl_label_in(const List *names, const char *name)
{
	const ListCell *lc;

	foreach(lc, names)
		if (strcmp(lfirst(lc), name) == 0)
		return true;
	return false;
}

/* The enum type of a column of the target, or InvalidOid. */
static Oid
enum_of(const SlJudging *j, int16 attnum)
{
	Oid			type = getBaseType(get_atttype(j->target, attnum));

	return get_typtype(type) == TYPTYPE_ENUM ? type : InvalidOid;
}

/* See judge_int.h. */
bool
sl_judge_labels_missing(const SlJudging *j, const SlColumn *now, int16 attnum)
{
	Oid			type;
	List	   *here;
	const ListCell *lc;

	if (!sl_source_is_enum(now->source_type) || !OidIsValid(type = enum_of(j, attnum)))
		return false;
	here = sl_enum_labels(type);
	foreach(lc, sl_source_labels(now->source_type))
		if (!sl_label_in(here, lfirst(lc)))
		return true;
	return false;
}

/* "ALTER TYPE t ADD VALUE 'c' AFTER 'b'" for each label that the type lacks. */
static List *
label_statements(Oid type, const SlColumn *now)
{
	List	   *here = sl_enum_labels(type);
	List	   *statements = NIL;
	const char *last = NULL;
	const ListCell *lc;
	char	   *name = format_type_extended(type, -1, FORMAT_TYPE_FORCE_QUALIFY);

	foreach(lc, sl_source_labels(now->source_type))
	{
		const char *label = lfirst(lc);

		if (!sl_label_in(here, label))
		{
			statements = lappend(statements,
								 psprintf("ALTER TYPE %s ADD VALUE %s%s", name, quote_literal_cstr(label),
										  last ? psprintf(" AFTER %s", quote_literal_cstr(last)) : ""));
			here = lappend(here, pstrdup(label));
		}
		last = label;
	}
	return statements;
}

/* See judge_int.h. */
void
sl_judge_forward_labels(SlJudging *j, const SlOpen *o)
{
	const SlColumn *now = &j->after->cols[o->after];
	Oid			type = enum_of(j, o->attnum);
	const ListCell *lc;

	foreach(lc, label_statements(type, now))
		sl_judge_run(j, SL_ACTION_ALTER_ENUM, type, lfirst(lc), now->name, o->after);
}

/* See judge_int.h. */
void
sl_judge_remedy_labels(SlJudging *j, const SlOpen *o)
{
	const ListCell *lc;

	foreach(lc, label_statements(enum_of(j, o->attnum), &j->after->cols[o->after]))
		sl_judge_hint(j, lfirst(lc));
}

/* ---------- a type that is to be made ---------- */

static bool
same_labels(const List *a, const List *b)
{
	if (list_length(a) != list_length(b))
		return false;
	for (int i = 0; i < list_length(a); i++)
		if (strcmp(list_nth(a, i), list_nth(b, i)) != 0)
			return false;
	return true;
}

static char *
create_statement(const char *name, const List *labels)
{
	StringInfoData buf;
	const ListCell *lc;

	initStringInfo(&buf);
	appendStringInfo(&buf, "CREATE TYPE %s AS ENUM (", name);
	foreach(lc, labels)
		appendStringInfo(&buf, "%s%s", lc == list_head(labels) ? "" : ", ",
						 quote_literal_cstr(lfirst(lc)));
	appendStringInfoChar(&buf, ')');
	return buf.data;
}

/* A type of that name is taken if it has just these labels, and an owner whom the stream trusts. */
static bool
fits(const SlJudging *j, Oid type, const List *labels)
{
	HeapTuple	tup;
	Oid			owner;

	if (get_typtype(type) != TYPTYPE_ENUM || !same_labels(sl_enum_labels(type), labels))
		return false;
	tup = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type));
	owner = ((Form_pg_type) GETSTRUCT(tup))->typowner;
	ReleaseSysCache(tup);
	return sl_gate_trusts_owner(j->stream, owner);
}

/* The name, or the name with a number behind it: its columns may have been dropped and another made. */
static const char *
numbered(const char *name, int n)
{
	char		number[12];

	if (n == 1)
		return name;
	snprintf(number, sizeof(number), "_%d", n);
	return psprintf("%.*s%s", pg_mbcliplen(name, strlen(name), NAMEDATALEN - 1 - strlen(number)), name,
					number);
}

/* See judge_int.h. */
char *
sl_judge_enum_type(SlJudging *j, const SlColumn *now, int after)
{
	List	   *labels = sl_source_labels(now->source_type);
	char	   *wanted = sl_stream_target_schema(j->stream, j->after->schema);
	Oid			nsp = get_namespace_oid(wanted, true);
	char	   *schema = NULL;
	char	   *name = NULL;
	char	   *qualified;

	if (now->type_name == NULL || labels == NIL || !OidIsValid(nsp) ||
		!sl_type_name_parts(now->type_name, &schema, &name) || schema == NULL ||
		strcmp(schema, wanted) != 0 || name[0] == '\0' || strlen(name) >= NAMEDATALEN)
	{
		sl_judge_refuse(j, now, "column-type", "no type of labels can be made of it", NULL);
		return NULL;
	}
	for (int n = 1;; n++)
	{
		const char *free = numbered(name, n);
		Oid			type = GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid, CStringGetDatum(free),
										   ObjectIdGetDatum(nsp));

		qualified = quote_qualified_identifier(schema, free);
		if (OidIsValid(type) && fits(j, type, labels))
			return qualified;
		if (!OidIsValid(type))
			break;
	}
	sl_judge_run(j, SL_ACTION_CREATE_ENUM, nsp, create_statement(qualified, labels), now->name, after)->type = qualified;
	return qualified;
}

/* See judge_int.h. */
char *
sl_judge_enum_default(const SlColumn *now)
{
	const char *p = now->dflt;
	StringInfoData value;

	if (p == NULL || *p != '\'')
		return NULL;
	initStringInfo(&value);
	for (p++; *p; p++)
	{
		if (*p == '\'' && *++p != '\'')
			break;
		appendStringInfoChar(&value, *p);
	}
	return sl_label_in(sl_source_labels(now->source_type), value.data) ? quote_literal_cstr(value.data) : NULL;
}
