/*
 * judge_types.c
 *	  Can a column of the target hold every value of a column of the source?
 *
 * NOTES
 *	  "Hold" means: the same value with the same text form, so that both sides
 *	  compare equal.  char(3) in char(5) or numeric(8,1) in numeric(8,2) is
 *	  therefore a fault.  What is not provably wide enough is a fault.  Oids
 *	  assigned by hand in PostgreSQL's catalog data mean the same on every
 *	  server; other types (those of information_schema too) are matched by name.
 */
#include "postgres.h"

#include "access/relation.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "common/sl_shape.h"
#include "pgext/apply.h"
#include "pgext/judge_types.h"
#include "pgext/source_type.h"
#include "pgext/pgcompat.h"

static int
digits_of(int32 typmod)
{
	return ((typmod - VARHDRSZ) >> 16) & 0xffff;
}

static int
scale_of(int32 typmod)
{
	return (((typmod - VARHDRSZ) & 0x7ff) ^ 1024) - 1024;
}

/* An integer of that many digits, in numeric with typmod. */
static bool
integer_in_numeric(int digits, int32 typmod)
{
	return typmod < 0 ||
		(scale_of(typmod) == 0 && digits_of(typmod) >= digits);
}

static bool
numeric_in_numeric(int32 from, int32 to)
{
	if (to < 0)
		return true;
	return from >= 0 && scale_of(from) == scale_of(to) &&
		digits_of(from) <= digits_of(to);
}

/* A typmod that is a limit: no limit, or one not below the source's. */
static bool
limit_holds(int32 from, int32 to)
{
	return to < 0 || (from >= 0 && from <= to);
}

static bool
characters_hold(Oid from, int32 from_mod, Oid to, int32 to_mod)
{
	if (from == BPCHAROID && to == BPCHAROID)
		return from_mod == to_mod;
	if (to == TEXTOID)
		return true;
	if (to != VARCHAROID)
		return from == to;
	if (from == NAMEOID || from == TEXTOID)
		return to_mod < 0;
	return limit_holds(from_mod, to_mod);
}

static bool
integer_holds(Oid from, Oid to, int32 to_mod)
{
	int			digits = from == INT2OID ? 5 : from == INT4OID ? 10 : 19;

	switch (to)
	{
		case INT8OID:
			return true;
		case INT4OID:
			return from != INT8OID;
		case INT2OID:
			return from == INT2OID;
		case NUMERICOID:
			return integer_in_numeric(digits, to_mod);
		default:
			return false;
	}
}

static bool
builtin_holds(Oid from, int32 from_mod, Oid to, int32 to_mod)
{
	Oid			from_element = get_element_type(from);
	Oid			to_element = get_element_type(to);

	if (OidIsValid(from_element) && OidIsValid(to_element))
		return builtin_holds(from_element, from_mod, to_element, to_mod);
	switch (from)
	{
		case INT2OID:
		case INT4OID:
		case INT8OID:
			return integer_holds(from, to, to_mod);
		case NUMERICOID:
			return to == NUMERICOID && numeric_in_numeric(from_mod, to_mod);
		case FLOAT4OID:
			return to == FLOAT4OID || to == FLOAT8OID;
		case TEXTOID:
		case VARCHAROID:
		case BPCHAROID:
		case NAMEOID:
			return characters_hold(from, from_mod, to, to_mod);
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
		case TIMEOID:
		case TIMETZOID:
			return to == from && limit_holds(from_mod, to_mod);
		case VARBITOID:
			return to == VARBITOID && limit_holds(from_mod, to_mod);
		case BITOID:
			if (to == VARBITOID)
				return limit_holds(from_mod, to_mod);
			return to == BITOID && from_mod == to_mod;
		default:
			return to == from && (from_mod == to_mod || to_mod < 0);
	}
}

/* What follows the last dot outside quotes: the name without its schema. */
static const char *
bare_name(const char *name)
{
	bool		quoted = false;
	const char *bare = name;

	for (const char *p = name; *p; p++)
	{
		if (*p == '"')
			quoted = !quoted;
		else if (*p == '.' && !quoted)
			bare = p + 1;
	}
	return bare;
}

/*
 * Source column against a target type.  A domain of the target counts as its
 * base type: what its constraints reject is refused row by row.
 */
bool
sl_type_holds(const SlColumn *from, Oid to, int32 to_mod)
{
	Oid			base;
	int32		base_mod = to_mod;

	if (from->typid == 0)
		return true;			/* another engine's: its bridge mapped it */
	if (!SL_TYPE_IS_FIXED(from->typid))
	{
		const char *name = from->type_name;

		if (name == NULL)
			return false;
		return strcmp(bare_name(name),
					  bare_name(format_type_extended(to, to_mod,
													 FORMAT_TYPE_TYPEMOD_GIVEN |
													 FORMAT_TYPE_FORCE_QUALIFY))) == 0;
	}
	base = getBaseTypeAndTypmod(to, &base_mod);
	return builtin_holds(from->typid, from->typmod, base, base_mod);
}

/* "numeric(10,2)"; by number where the name is not known. */
char *
sl_column_type_text(const SlColumn *c)
{
	if (c->type_name)
		return pstrdup(c->type_name);
	if (SL_TYPE_IS_FIXED(c->typid))
		return format_type_with_typemod(c->typid, c->typmod);
	return psprintf("type %u", c->typid);
}

static void
fault(StringInfo faults, const char *kind, Relation rel, const char *column,
	  const char *text)
{
	if (faults->len > 0)
		appendStringInfoChar(faults, '\n');
	appendStringInfo(faults, "[%s] ", kind);
	sl_append_ident(faults, get_namespace_name(RelationGetNamespace(rel)));
	appendStringInfoChar(faults, '.');
	sl_append_ident(faults, RelationGetRelationName(rel));
	appendStringInfoChar(faults, '.');
	sl_append_ident(faults, column);
	appendStringInfo(faults, ": %s", text);
}

/* See judge_types.h. */
int
sl_type_check_column(Relation rel, const SlShape *shape, const SlColumn *c,
					 bool nulls, StringInfo faults)
{
	AttrNumber	num = get_attnum(RelationGetRelid(rel), c->name);
	Form_pg_attribute att;
	int			n = 0;

	if (num <= 0)
	{
		fault(faults, "column-missing", rel, c->name,
			  psprintf("the target has no such column for %s", sl_column_type_text(c)));
		return 1;
	}
	att = TupleDescAttr(RelationGetDescr(rel), num - 1);
	if (att->attgenerated)
	{
		fault(faults, "column-generated", rel, c->name,
			  "the target computes it, the source sends it");
		n++;
	}
	if (!sl_type_holds(c, att->atttypid, att->atttypmod))
	{
		fault(faults, "column-narrower", rel, c->name,
			  psprintf("%s cannot hold %s",
					   format_type_with_typemod(att->atttypid, att->atttypmod),
					   sl_column_type_text(c)));
		n++;
	}
	if (nulls && att->attnotnull && shape->evidence != SL_EVIDENCE_WIRE &&
		(c->flags & (SL_COL_NOT_NULL | SL_COL_PRIMARY | SL_COL_PARTIAL)) == 0)
	{
		fault(faults, "column-not-null", rel, c->name,
			  "NOT NULL on the target, nullable on the source");
		n++;
	}
	return n;
}

/* See judge_types.h. */
bool
sl_type_check_own(Relation rel, Form_pg_attribute att, StringInfo faults)
{
	if (!att->attnotnull || att->atthasdef || att->attidentity || att->attgenerated)
		return true;
	fault(faults, "column-unfilled", rel, NameStr(att->attname),
		  "NOT NULL without a default, and the source does not send it");
	return false;
}

int
sl_target_check_shape(SlStream *s, Oid target, const SlShape *shape,
					  StringInfo faults)
{
	Relation	rel = relation_open(target, AccessShareLock);
	TupleDesc	desc = RelationGetDescr(rel);
	int			n = 0;

	for (int i = 0; i < shape->ncols; i++)
		if ((shape->cols[i].flags & (SL_COL_GENERATED | SL_COL_VIRTUAL)) == 0)
			n += sl_type_check_column(rel, shape, &shape->cols[i], true, faults);
	for (int i = 0; i < desc->natts; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);

		if (!att->attisdropped && sl_shape_find(shape, NameStr(att->attname)) < 0 &&
			!sl_type_check_own(rel, att, faults))
			n++;
	}
	relation_close(rel, NoLock);
	return n;
}
