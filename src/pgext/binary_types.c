/*
 * binary_types.c
 *	  May a table's values travel in binary form?
 */
#include "postgres.h"

#include "catalog/pg_type_d.h"
#include "utils/lsyscache.h"

#include "common/sl_shape.h"
#include "pgext/binary_types.h"
#include "pgext/pgcompat.h"

/*
 * Types whose binary form means the same in every supported release.  Types
 * that travel as the name of an object (reg…), depend on a locale (money) or
 * carry an encoding (xml) are left out, and so is everything not built in.
 */
static const Oid binary_types[] = {
	BOOLOID, BYTEAOID, CHAROID, NAMEOID, INT8OID, INT2OID, INT4OID, TEXTOID,
	OIDOID, JSONOID, POINTOID, LSEGOID, BOXOID, FLOAT4OID, FLOAT8OID,
	CIRCLEOID, MACADDROID, INETOID, CIDROID, MACADDR8OID, BPCHAROID,
	VARCHAROID, DATEOID, TIMEOID, TIMESTAMPOID, TIMESTAMPTZOID, INTERVALOID,
	TIMETZOID, BITOID, VARBITOID, NUMERICOID, UUIDOID, JSONBOID,
	BOOLARRAYOID, BYTEAARRAYOID, INT2ARRAYOID, INT4ARRAYOID, INT8ARRAYOID,
	TEXTARRAYOID, BPCHARARRAYOID, VARCHARARRAYOID, FLOAT4ARRAYOID,
	FLOAT8ARRAYOID, TIMESTAMPARRAYOID, DATEARRAYOID, TIMESTAMPTZARRAYOID,
	NUMERICARRAYOID, UUIDARRAYOID, JSONARRAYOID, JSONBARRAYOID
};

bool
sl_types_binary_ok(SlConn *c, const SlShape *shape, Oid target)
{
	for (int i = 0; i < shape->ncols; i++)
	{
		AttrNumber	att = get_attnum(target, shape->cols[i].name);
		bool		known = false;

		if (att <= 0 || get_atttype(target, att) != shape->cols[i].typid)
			return false;
		for (int t = 0; t < lengthof(binary_types) && !known; t++)
			known = binary_types[t] == shape->cols[i].typid;
		if (!known)
			return false;
	}
	return true;
}
