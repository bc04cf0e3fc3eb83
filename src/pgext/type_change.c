/*
 * type_change.c
 *	  What a changed type does to the values that rows have already.
 *
 * NOTES
 *	  Whether ALTER TYPE needs to rewrite the table is not looked up in a list:
 *	  the conversion that the server itself would use is built and simplified by
 *	  the planner, and what is left of it must be nothing but the column under
 *	  another type.  A list would be wrong for the next release.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "parser/parse_coerce.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"
#include "utils/typcache.h"

#include "pgext/judge_source.h"
#include "pgext/judge_types.h"
#include "pgext/source_type.h"
#include "pgext/type_change.h"
#include "pgext/pgcompat.h"

/* Reads one identifier of format_type's text, quoted or not, into *name. */
static const char *
read_ident(const char *p, char **name)
{
	StringInfoData buf;
	bool		quoted = *p == '"';

	initStringInfo(&buf);
	if (quoted)
		p++;
	for (; *p != '\0'; p++)
	{
		if (quoted ? *p == '"' : strchr(".([", *p) != NULL)
		{
			if (!quoted || p[1] != '"')
				break;
			p++;
		}
		appendStringInfoChar(&buf, *p);
	}
	*name = buf.data;
	return quoted && *p == '"' ? p + 1 : p;
}

/*
 * The type of this database that a source calls text (format_type under an
 * empty search_path; without a schema it is looked for in ours); InvalidOid when
 * there is none.  The modifier is skipped.
 */
static Oid
type_of_text(const char *text)
{
	char	   *schema = NULL;
	char	   *name;
	const char *p = read_ident(text, &name);
	Oid			type = InvalidOid;

	if (*p == '.')
	{
		schema = name;
		p = read_ident(p + 1, &name);
	}
	if (strlen(name) >= NAMEDATALEN)
		return InvalidOid;
	if (schema == NULL)
		type = TypenameGetTypid(name);
	else if (OidIsValid(get_namespace_oid(schema, true)))
		type = GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid, CStringGetDatum(name),
							   ObjectIdGetDatum(get_namespace_oid(schema, true)));
	if (strlen(p) >= 2 && strcmp(p + strlen(p) - 2, "[]") == 0)
		return OidIsValid(type) ? get_array_type(type) : InvalidOid;
	return type;
}

/* See type_change.h. */
Oid
sl_type_named(const char *text)
{
	return text ? type_of_text(text) : InvalidOid;
}

/* See type_change.h. */
bool
sl_type_name_parts(const char *text, char **schema, char **name)
{
	const char *p = read_ident(text, name);

	*schema = NULL;
	if (*p == '.')
	{
		*schema = *name;
		p = read_ident(p + 1, name);
	}
	return *p == '\0';
}

/* The column's type as this database has it, or InvalidOid. */
static Oid
local_type(const SlColumn *c)
{
	Oid			type = c->typid;

	if (!SL_TYPE_IS_FIXED(type))
		return c->type_name ? type_of_text(c->type_name) : InvalidOid;
	return SearchSysCacheExists1(TYPEOID, ObjectIdGetDatum(type)) ? type : InvalidOid;
}

/* Domains and arrays off, in whatever order they are around it. */
static Oid
bare_type(Oid type)
{
	for (;;)
	{
		Oid			base = getBaseType(type);
		Oid			element = get_element_type(base);

		if (!OidIsValid(element))
			return base;
		type = element;
	}
}

static bool contains_type(Oid type, Oid wanted);

static bool
attributes_contain(Oid type, Oid wanted)
{
	TupleDesc	desc = lookup_rowtype_tupdesc_noerror(type, -1, true);
	bool		found = false;

	if (desc == NULL)
		return false;
	for (int i = 0; i < desc->natts && !found; i++)
		found = !TupleDescAttr(desc, i)->attisdropped &&
			contains_type(TupleDescAttr(desc, i)->atttypid, wanted);
	ReleaseTupleDesc(desc);
	return found;
}

/* Is wanted what the type is made of, at any depth? */
static bool
contains_type(Oid type, Oid wanted)
{
	type = bare_type(type);
	if (type == wanted)
		return true;
	switch (get_typtype(type))
	{
		case TYPTYPE_RANGE:
			return contains_type(get_range_subtype(type), wanted);
		case TYPTYPE_MULTIRANGE:
			return contains_type(get_multirange_range(type), wanted);
		case TYPTYPE_COMPOSITE:
			return attributes_contain(type, wanted);
		default:
			return false;
	}
}

/*
 * timestamptz is stored as an instant and shown, and read, in the zone of a
 * session; timetz keeps its offset and takes one from the session only when it
 * is made.  Modifiers do not matter here.
 */
static bool
through_session(Oid from, Oid to)
{
	if (bare_type(from) == bare_type(to))
		return false;
	if (contains_type(from, TIMESTAMPTZOID) || contains_type(to, TIMESTAMPTZOID))
		return true;
	return contains_type(to, TIMETZOID) && !contains_type(from, TIMETZOID);
}

static bool
is_unbounded_text(const SlColumn *c)
{
	return c->typid == TEXTOID || (c->typid == VARCHAROID && c->typmod < 0);
}

/* See type_change.h. */
bool
sl_type_catalog_only(const SlColumn *from, const SlColumn *to)
{
	if (from->typid != to->typid)
		return is_unbounded_text(from) && is_unbounded_text(to);
	if (from->typid != INTERVALOID)
		return false;
	if (to->typmod < 0)
		return from->typmod < 0 || INTERVAL_RANGE(from->typmod) == INTERVAL_FULL_RANGE;
	if (from->typmod < 0 || INTERVAL_RANGE(from->typmod) != INTERVAL_RANGE(to->typmod))
		return false;
	return INTERVAL_PRECISION(from->typmod) <= INTERVAL_PRECISION(to->typmod);
}

/* Only what the raw modifier says changed, or nothing that has a name. */
static bool
is_invisible(const SlColumn *from, const SlColumn *to, Oid type)
{
	if (from->typid == to->typid)
		return from->typid == INTERVALOID || OidIsValid(get_element_type(type));
	return is_unbounded_text(from) && is_unbounded_text(to);
}

/* A type whose stored form is an oid of the server it is on. */
static bool
holds_oids(Oid type)
{
	switch (bare_type(type))
	{
		case REGPROCOID:
		case REGPROCEDUREOID:
		case REGOPEROID:
		case REGOPERATOROID:
		case REGCLASSOID:
		case REGCOLLATIONOID:
		case REGTYPEOID:
		case REGCONFIGOID:
		case REGDICTIONARYOID:
		case REGROLEOID:
		case REGNAMESPACEOID:
			return true;
		default:
			return false;
	}
}

/* How the server would convert a column when it is told no USING, simplified. */
static Node *
conversion(Oid from, int32 from_mod, Oid to, int32 to_mod)
{
	Var		   *var = makeVar(1, 1, from, from_mod, get_typcollation(from), 0);
	Node	   *expr = coerce_to_target_type(NULL, (Node *) var, from, to, to_mod,
											 COERCION_ASSIGNMENT,
											 COERCE_IMPLICIT_CAST, -1);

	return expr ? (Node *) expression_planner((Expr *) expr) : NULL;
}

/* Is the expression the column itself, under another type? */
static bool
is_column(Node *expr)
{
	for (;;)
	{
		if (IsA(expr, RelabelType))
			expr = (Node *) ((RelabelType *) expr)->arg;
		else if (IsA(expr, CoerceToDomain) &&
				 !DomainHasConstraints(((CoerceToDomain *) expr)->resulttype))
			expr = (Node *) ((CoerceToDomain *) expr)->arg;
		else
			return IsA(expr, Var);
	}
}

static SlTypeChange
judge_conversion(const SlColumn *from, Oid f, const SlColumn *to, Oid t,
				 SlRewrite rewrite)
{
	Node	   *expr;

	/* modifiers of a type that is not built in: only its own functions know */
	if (!SL_TYPE_IS_FIXED(from->typid) && from->typid == to->typid)
		return SL_TYPE_COPY;
	expr = conversion(f, from->typmod, t, to->typmod);
	if (expr == NULL)
		return SL_TYPE_REFUSE_UNKNOWN;
	if (rewrite == SL_REWRITE_NO && is_column(expr) &&
		holds_oids(f) == holds_oids(t))
		return SL_TYPE_PRESERVING;
	return SL_TYPE_COPY;
}

/* ---------- of other engines ---------- */

static bool
is_integer(Oid type)
{
	return type == INT2OID || type == INT4OID || type == INT8OID;
}

/*
 * The server's own conversion of a column to a type that holds all of its values,
 * in the same form that the other engine gives them?
 */
static bool
converts_exactly(const SlColumn *from, const SlColumn *to)
{
	if (from->typid == to->typid)
		return is_integer(from->typid) || from->typid == NUMERICOID || from->typid == BPCHAROID ||
			from->typid == VARCHAROID || from->typid == TEXTOID || from->typid == TIMESTAMPOID ||
			from->typid == TIMESTAMPTZOID || from->typid == TIMEOID || from->typid == INTERVALOID;
	if (is_integer(from->typid))
		return is_integer(to->typid) || to->typid == NUMERICOID;
	/* a BIGINT UNSIGNED that came to count: one that does not fit fails */
	if (from->typid == NUMERICOID && is_integer(to->typid))
		return from->typmod >= VARHDRSZ && ((from->typmod - VARHDRSZ) & 0x7ff) == 0;
	return (from->typid == VARCHAROID && to->typid == TEXTOID) ||
		(from->typid == DATEOID && to->typid == TIMESTAMPOID);
}

static bool
casts_directly(Oid from, Oid to)
{
	Oid			function;

	return from == to ||
		find_coercion_pathway(to, from, COERCION_EXPLICIT, &function) != COERCION_PATH_NONE;
}

/* See type_change.h. */
bool
sl_type_casts_by_int4(Oid from, Oid to)
{
	return !casts_directly(from, to) && (from == BOOLOID || to == BOOLOID) &&
		casts_directly(from, INT4OID) && casts_directly(INT4OID, to);
}

/* Does the server convert the one to the other, at least when it is told to? */
static bool
casts(Oid from, Oid to)
{
	return casts_directly(from, to) || sl_type_casts_by_int4(from, to);
}

/* See type_change.h. */
bool
sl_type_same_here(const SlColumn *from, const SlColumn *to)
{
	if (from->typid != to->typid)
		return false;
	if (from->typid != 0)
		return from->typmod == to->typmod;
	/* a type of its own, named after the column */
	if (sl_source_is_enum(from->source_type) && sl_source_is_enum(to->source_type))
		return true;
	return from->type_name && to->type_name && strcmp(from->type_name, to->type_name) == 0;
}

/* Where the type here says less than that of the engine that the values come from. */
static SlTypeChange
judge_engines(const SlColumn *from, const SlColumn *to)
{
	SlSourceChange source = sl_source_type_change(from->source_type, to->source_type);
	Oid			f;
	Oid			t;

	if (source == SL_SOURCE_SESSION)
		return SL_TYPE_REFUSE_SESSION;
	if (source == SL_SOURCE_LABELS)
		return SL_TYPE_REFUSE_LABELS;
	if (sl_type_same_here(from, to))
		return source == SL_SOURCE_SAME ? SL_TYPE_SAME :
			source == SL_SOURCE_PRESERVING ? SL_TYPE_PRESERVING : SL_TYPE_COPY;
	f = local_type(from);
	t = local_type(to);
	if (OidIsValid(f) && OidIsValid(t) && through_session(f, t))
		return SL_TYPE_REFUSE_SESSION;
	if (source <= SL_SOURCE_PRESERVING && converts_exactly(from, to))
		return SL_TYPE_PRESERVING;
	/* labels are read as text; a type of labels that is to be made takes it */
	if (from->typid == 0 && sl_source_is_enum(from->source_type))
		f = TEXTOID;
	if (to->typid == 0 && sl_source_is_enum(to->source_type))
		return OidIsValid(f) && casts(f, TEXTOID) ? SL_TYPE_COPY : SL_TYPE_REFUSE_UNKNOWN;
	return OidIsValid(f) && OidIsValid(t) && casts(f, t) ? SL_TYPE_COPY : SL_TYPE_REFUSE_UNKNOWN;
}

/* See type_change.h. */
SlTypeChange
sl_type_change(const SlColumn *from, const SlColumn *to, SlRewrite rewrite)
{
	Oid			f;
	Oid			t;

	if (from->source_type && to->source_type)
		return judge_engines(from, to);
	if (from->typid == 0 || to->typid == 0)
		return from->type_name && to->type_name &&
			strcmp(from->type_name, to->type_name) == 0
			? SL_TYPE_SAME : SL_TYPE_REFUSE_UNKNOWN;
	if (from->typid == to->typid && from->typmod == to->typmod)
		return SL_TYPE_SAME;
	f = local_type(from);
	t = local_type(to);
	if (!OidIsValid(f) || !OidIsValid(t))
		return SL_TYPE_REFUSE_UNKNOWN;
	if (from->typid != to->typid && f == t)
		return SL_TYPE_REFUSE_UNKNOWN;	/* made again under its name */
	if (through_session(f, t))
		return SL_TYPE_REFUSE_SESSION;
	if (is_invisible(from, to, f))
		return SL_TYPE_REFUSE_INVISIBLE;
	return judge_conversion(from, f, to, t, rewrite);
}

/* See type_change.h. */
bool
sl_type_converts(Oid from, int32 from_mod, const SlColumn *to)
{
	Oid			t = local_type(to);

	return !OidIsValid(t) || conversion(from, from_mod, t, to->typmod) != NULL;
}

/* See type_change.h. */
char *
sl_type_change_reason(SlTypeChange verdict, const SlColumn *from, const SlColumn *to)
{
	bool		engines = from->source_type && to->source_type;
	const char *f = engines ? from->source_type : sl_column_type_text(from);
	const char *t = engines ? to->source_type : sl_column_type_text(to);

	switch (verdict)
	{
		case SL_TYPE_REFUSE_LABELS:
			return psprintf("label %s is gone or has another place: rows that hold it say something else now, or nothing, and the source sends no row for that",
							quote_literal_cstr(sl_source_label_lost(from->source_type, to->source_type)));
		case SL_TYPE_REFUSE_SESSION:
			return psprintf("%s to %s goes through the time zone of the session that ran it, which the stream does not carry",
							f, t);
		case SL_TYPE_REFUSE_INVISIBLE:
			if (sl_type_catalog_only(from, to))
				return psprintf("%s to %s changes the catalog alone: unless it was given USING, no stored value changed",
								f, t);
			return psprintf("%s to %s changed stored values, and only the type's modifier shows it",
							f, t);
		case SL_TYPE_REFUSE_UNKNOWN:
			return psprintf("what %s to %s did to stored values is not known: there is no such conversion without USING, or a type is not on the target, or was made again",
							f, t);
		default:
			return NULL;
	}
}

/*
 * For tests, which make the SQL function themselves: the verdict on two types
 * by oid and modifier; "kept" says that the table was not rewritten.
 */
PG_FUNCTION_INFO_V1(sluice_type_change);

Datum
sluice_type_change(PG_FUNCTION_ARGS)
{
	static const char *const words[] = {"same", "preserving", "copy",
	"refuse session", "refuse labels", "refuse invisible", "refuse unknown"};
	SlColumn	from = {.typid = PG_GETARG_OID(0), .typmod = PG_GETARG_INT32(1)};
	SlColumn	to = {.typid = PG_GETARG_OID(2), .typmod = PG_GETARG_INT32(3)};
	bits16		qualified = FORMAT_TYPE_FORCE_QUALIFY | FORMAT_TYPE_INVALID_AS_NULL;
	SlTypeChange verdict;

	from.type_name = format_type_extended(from.typid, -1, qualified);
	to.type_name = format_type_extended(to.typid, -1, qualified);
	verdict = sl_type_change(&from, &to,
							 PG_GETARG_BOOL(4) ? SL_REWRITE_NO : SL_REWRITE_UNKNOWN);
	PG_RETURN_TEXT_P(cstring_to_text(psprintf("%s%s", words[verdict],
											  verdict == SL_TYPE_REFUSE_INVISIBLE &&
											  sl_type_catalog_only(&from, &to)
											  ? " (catalog only)" : "")));
}
