/*
 * type_match.c
 *	  What only the source's catalog tells of whether a target table can hold
 *	  what the source's has.
 *
 * NOTES
 *	  Types that are not built in are the same by name, and may still be made
 *	  of other parts: a domain over numeric(8,1) would round what comes of one
 *	  over numeric(8,2), a composite with its attributes in another order would
 *	  take the one's value for the other's.  A label that an enum lacks needs no
 *	  rule: its first row refuses.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "common/sl_shape.h"
#include "pgext/judge_types.h"
#include "pgext/source_type.h"
#include "pgext/type_match.h"
#include "pgext/pgcompat.h"

#define SL_GENERATED_SQL \
	"SELECT a.attname FROM pg_catalog.pg_attribute a " \
	"WHERE a.attrelid = $1::pg_catalog.oid AND a.attnum > 0 " \
	"  AND NOT a.attisdropped AND a.attgenerated <> '' ORDER BY a.attnum"

static bool parts_hold(const SlSourceTypes *types, Oid from, int32 from_mod,
					   Oid to, int32 to_mod);

/* Attributes in the same order, of the same names; each holds the other's. */
static bool
composite_holds(const SlSourceTypes *types, const SlSourceType *from, Oid to)
{
	TupleDesc	desc = lookup_rowtype_tupdesc(to, -1);
	int			n = 0;
	bool		ok = true;

	for (int i = 0; i < desc->natts && ok; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);

		if (att->attisdropped)
			continue;
		ok = n < from->nparts && strcmp(from->part_name[n], NameStr(att->attname)) == 0 &&
			parts_hold(types, from->part[n], from->part_typmod[n],
					   att->atttypid, att->atttypmod);
		n++;
	}
	ReleaseTupleDesc(desc);
	return ok && n == from->nparts;
}

static bool
parts_hold(const SlSourceTypes *types, Oid from_oid, int32 from_mod, Oid to, int32 to_mod)
{
	const SlSourceType *from = sl_source_type(types, from_oid);
	SlColumn	fixed = {.typid = from_oid, .typmod = from_mod};

	check_stack_depth();
	if (SL_TYPE_IS_FIXED(from_oid))
		return sl_type_holds(&fixed, to, to_mod);
	if (from == NULL)
		return false;
	to = getBaseTypeAndTypmod(to, &to_mod);
	if (from->kind == TYPTYPE_DOMAIN)
		return from->nparts == 1 &&
			parts_hold(types, from->part[0], from->part_typmod[0], to, to_mod);
	if (from->array)
		return OidIsValid(get_element_type(to)) && from->nparts == 1 &&
			parts_hold(types, from->part[0], from_mod, get_element_type(to), to_mod);
	if (get_typtype(to) != from->kind)
		return false;
	switch (from->kind)
	{
		case TYPTYPE_COMPOSITE:
			return composite_holds(types, from, to);
		case TYPTYPE_MULTIRANGE:
			to = get_multirange_range(to);
			/* FALLTHROUGH */
		case TYPTYPE_RANGE:
			return from->nparts == 1 &&
				parts_hold(types, from->part[0], -1, get_range_subtype(to), -1);
		default:
			return true;		/* the name was compared */
	}
}

static void
fault(StringInfo faults, const char *kind, Oid target, const char *column, const char *text)
{
	appendStringInfo(faults, "%s[%s] ", faults->len ? "\n" : "", kind);
	sl_append_ident(faults, get_namespace_name(get_rel_namespace(target)));
	appendStringInfoChar(faults, '.');
	sl_append_ident(faults, get_rel_name(target));
	appendStringInfoChar(faults, '.');
	sl_append_ident(faults, column);
	appendStringInfo(faults, ": %s", text);
}

/* See type_match.h. */
bool
sl_target_check_not_sent(Oid target, const char *column, StringInfo faults)
{
	AttrNumber	att = get_attnum(target, column);

	if (att <= 0 || get_attgenerated(target, att) != '\0')
		return true;
	fault(faults, "column-not-sent", target, column,
		  "the source computes it and does not send it, the target is to store it");
	return false;
}

/* pgoutput sends no generated column unless it is asked to, and we do not. */
static int
check_generated(SlConn *c, const SlShape *shape, Oid target, StringInfo faults)
{
	char	   *oid = psprintf("%u", shape->relid);
	const char *params[1] = {oid};
	PGresult   *res = sl_conn_query(c, PGRES_TUPLES_OK, SL_GENERATED_SQL, 1, params);
	int			n = 0;

	for (int i = 0; i < PQntuples(res); i++)
		n += !sl_target_check_not_sent(target, PQgetvalue(res, i, 0), faults);
	PQclear(res);
	return n;
}

int
sl_target_check_types(SlConn *c, const SlShape *shape, Oid target, StringInfo faults)
{
	SlSourceTypes *types = sl_source_types(c, shape);
	int			n = 0;

	for (int i = 0; i < shape->ncols; i++)
	{
		const SlColumn *col = &shape->cols[i];
		AttrNumber	att = get_attnum(target, col->name);
		Oid			typid;
		int32		typmod;
		Oid			collation;

		if (att <= 0 || SL_TYPE_IS_FIXED(col->typid))
			continue;
		get_atttypetypmodcoll(target, att, &typid, &typmod, &collation);
		/* a type of another name is a fault already */
		if (!sl_type_holds(col, typid, typmod) ||
			parts_hold(types, col->typid, col->typmod, typid, typmod))
			continue;
		fault(faults, "type-differs", target, col->name,
			  psprintf("%s is made of other parts on the target", sl_column_type_text(col)));
		n++;
	}
	return n + check_generated(c, shape, target, faults);
}
