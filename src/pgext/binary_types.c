/*
 * binary_types.c
 *	  May a table's values travel in binary form?
 *
 * NOTES
 *	  They may where the send function there and the receive function here
 *	  agree, whatever the two releases, and where the value that comes of it has
 *	  the bytes that it would have by way of text: an old row is looked for by
 *	  its bytes, and may come the other way than the row did.  Text inside of
 *	  binary values is converted to our encoding by the send functions.
 *
 *	  Not in the list of fixed types, and therefore as text:
 *	  reg...      an oid in binary, which means something else here
 *	  xml         keeps its encoding declaration in binary, loses it as text
 *	  aclitem, box2d and others without a binary form
 *	  int2vector, oidvector: the receive function refuses an empty one
 *	  tsquery     likewise, in the newer releases
 *	  interval    where only one side is 17 or later: infinity came with 17,
 *	              and has the bytes of a finite value of before
 *	  Arrays and composites carry the oids of their elements, which the receive
 *	  function compares with its own: fixed types only.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "catalog/dependency.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "common/sl_shape.h"
#include "pgext/binary_types.h"
#include "pgext/pgcompat.h"

static const Oid stable_types[] = {
	BOOLOID, BYTEAOID, CHAROID, NAMEOID, INT8OID, INT2OID,
	INT4OID, TEXTOID, OIDOID, TIDOID, XIDOID, CIDOID, JSONOID,
	XID8OID, POINTOID, LSEGOID, PATHOID, BOXOID, POLYGONOID, LINEOID,
	FLOAT4OID, FLOAT8OID, CIRCLEOID, MONEYOID, MACADDROID, INETOID, CIDROID,
	MACADDR8OID, BPCHAROID, VARCHAROID, DATEOID, TIMEOID, TIMESTAMPOID,
	TIMESTAMPTZOID, INTERVALOID, TIMETZOID, BITOID, VARBITOID, NUMERICOID,
	REFCURSOROID, UUIDOID, PG_LSNOID, TSVECTOROID, JSONBOID,
	JSONPATHOID, TXID_SNAPSHOTOID, PG_SNAPSHOTOID
};

/* Types of extensions whose binary form has not changed since they have one. */
static const char *const stable_members[][2] = {
	{"citext", "citext"}, {"hstore", "hstore"}, {"cube", "cube"},
	{"ltree", "ltree"}, {"ltree", "lquery"}, {"ltree", "ltxtquery"},
	{"vector", "vector"}, {"vector", "halfvec"}, {"vector", "sparsevec"},
	{"postgis", "geometry"}, {"postgis", "geography"}
};

typedef struct Sides
{
	const SlSourceTypes *types; /* of the source */
	bool		intervals;		/* both sides agree about infinity */
} Sides;

/* A fixed type, whose parts are the same on both sides. */
static bool
fixed_ok(const Sides * s, Oid type)
{
	Oid			element = get_element_type(type);

	if (OidIsValid(element))
		return fixed_ok(s, element);
	if (type_is_multirange(type))
		return fixed_ok(s, get_multirange_range(type));
	if (type_is_range(type))
		return fixed_ok(s, get_range_subtype(type));
	if (type == INTERVALOID && !s->intervals)
		return false;
	for (int i = 0; i < lengthof(stable_types); i++)
		if (stable_types[i] == type)
			return true;
	return false;
}

bool
sl_type_receives(Oid type, const char *name)
{
	HeapTuple	tup = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type));
	Form_pg_type form;
	bool		does;

	if (!HeapTupleIsValid(tup))
		return false;
	form = (Form_pg_type) GETSTRUCT(tup);
	does = OidIsValid(form->typreceive) &&
		(name == NULL || strcmp(NameStr(form->typname), name) == 0);
	ReleaseSysCache(tup);
	return does;
}

/* Same attributes in the same order, all of the same fixed types. */
static bool
composite_ok(const Sides * s, const SlSourceType *from, Oid to)
{
	TupleDesc	desc = lookup_rowtype_tupdesc(to, -1);
	int			n = 0;
	bool		ok = true;

	for (int i = 0; i < desc->natts && ok; i++)
	{
		Form_pg_attribute att = TupleDescAttr(desc, i);

		if (att->attisdropped)
			continue;
		ok = n < from->nparts && SL_TYPE_IS_FIXED(att->atttypid) &&
			from->part[n] == att->atttypid && fixed_ok(s, att->atttypid) &&
			strcmp(from->part_name[n], NameStr(att->attname)) == 0;
		n++;
	}
	ReleaseTupleDesc(desc);
	return ok && n == from->nparts;
}

/* The same type of the same extension, and one that we know. */
static bool
member_ok(const SlSourceType *from, Oid to)
{
	Oid			extension = getExtensionOfObject(TypeRelationId, to);
	char	   *extname = OidIsValid(extension) ? get_extension_name(extension) : NULL;

	if (from->extension == NULL || extname == NULL ||
		strcmp(from->extension, extname) != 0 ||
		!sl_type_receives(to, from->name))
		return false;
	for (int i = 0; i < lengthof(stable_members); i++)
		if (strcmp(stable_members[i][0], extname) == 0 &&
			strcmp(stable_members[i][1], from->name) == 0)
			return true;
	return false;
}

static bool
type_ok(const Sides * s, Oid from_oid, Oid to)
{
	const SlSourceType *from;

	check_stack_depth();
	to = getBaseType(to);
	if (SL_TYPE_IS_FIXED(from_oid))
		return from_oid == to && fixed_ok(s, to);
	from = sl_source_type(s->types, from_oid);
	if (from == NULL)
		return false;
	if (from->kind == TYPTYPE_DOMAIN)
		return from->nparts == 1 && type_ok(s, from->part[0], to);
	if (!from->sends || from->array || !sl_type_receives(to, NULL) || get_typtype(to) != from->kind)
		return false;
	switch (from->kind)
	{
		case TYPTYPE_ENUM:
			return true;
		case TYPTYPE_RANGE:
			return from->nparts == 1 && type_ok(s, from->part[0], get_range_subtype(to));
		case TYPTYPE_MULTIRANGE:
			return from->nparts == 1 &&
				type_ok(s, from->part[0], get_range_subtype(get_multirange_range(to)));
		case TYPTYPE_COMPOSITE:
			return composite_ok(s, from, to);
		default:
			return member_ok(from, to);
	}
}

bool
sl_types_binary_ok(SlConn *c, const SlShape *shape, Oid target)
{
	Sides		s = {
		.types = sl_source_types(c, shape),
		.intervals = SL_COMPAT_INFINITE_INTERVALS == (c->server_version >= 170000)
	};

	for (int i = 0; i < shape->ncols; i++)
	{
		AttrNumber	att = get_attnum(target, shape->cols[i].name);

		if (att <= 0 || !type_ok(&s, shape->cols[i].typid, get_atttype(target, att)))
			return false;
	}
	return true;
}
