/*
 * geometry.c
 *	  MySQL's geometries as PostGIS's EWKB.
 *
 * Rule: in every protocol four bytes of SRID, little-endian, and OGC WKB,
 * little-endian.  MySQL keeps X = longitude in these bytes whatever axis order
 * the SRS has: it swaps when it reads and prints.  EWKB has the SRID behind the
 * type of the outermost geometry, if there is one.
 */
#include "bridge/types/codec_int.h"

#define EWKB_HAS_SRID	0x20000000
#define POSTGIS_MAX_SRID	999999
#define MAX_DEPTH		64		/* collections in collections */

enum
{
	WKB_POINT = 1, WKB_LINESTRING, WKB_POLYGON, WKB_MULTIPOINT,
	WKB_MULTILINESTRING, WKB_MULTIPOLYGON, WKB_COLLECTION
};

static bool skip_geometry(SlCursor *c, uint32 wanted, int depth);

static bool
skip_points(SlCursor *c, uint32 n)
{
	if (sl_left(c) / 16 < n)
		return sl_fail(c, SL_ERR_MALFORMED, "a geometry ends among its points");
	c->p += 16 * (size_t) n;
	return true;
}

static bool
skip_parts(SlCursor *c, uint32 type, int depth)
{
	uint32		n = bl_get_le32(c, "a geometry's number of parts");

	for (uint32 i = 0; i < n && sl_ok(c); i++)
	{
		switch (type)
		{
			case WKB_POLYGON:
				skip_points(c, bl_get_le32(c, "a ring's number of points"));
				break;
			case WKB_COLLECTION:
				skip_geometry(c, 0, depth + 1);
				break;
			default:
				skip_geometry(c, type - 3, depth + 1);
		}
	}
	return sl_ok(c);
}

/* One geometry of the type wanted (0 = any). */
static bool
skip_geometry(SlCursor *c, uint32 wanted, int depth)
{
	uint8		order = sl_get_u8(c, "a geometry's byte order");
	uint32		type = bl_get_le32(c, "a geometry's type");

	if (!sl_ok(c))
		return false;
	if (order != 1)
		return sl_fail(c, SL_ERR_MALFORMED, "a geometry's byte order is %d", order);
	if (type < WKB_POINT || type > WKB_COLLECTION)
		return sl_fail(c, SL_ERR_UNSUPPORTED, "a geometry of the unknown type %u", type);
	if (wanted != 0 && type != wanted)
		return sl_fail(c, SL_ERR_MALFORMED, "a geometry of type %u has a part of type %u",
					   wanted + 3, type);
	if (depth > MAX_DEPTH)
		return sl_fail(c, SL_ERR_LIMIT, "geometries lie in each other more than %d deep", MAX_DEPTH);
	if (type == WKB_POINT)
		return skip_points(c, 1);
	if (type == WKB_LINESTRING)
		return skip_points(c, bl_get_le32(c, "a line's number of points"));
	return skip_parts(c, type, depth);
}

/* data, len: all of it, checked. */
static bool
read_geometry(MyCodec *c, const char *data, size_t len, MyValue *v, SlError *err)
{
	SlCursor	cur;

	bl_cursor(&cur, data, len, err);
	v->u = bl_get_le32(&cur, "a geometry's SRID");
	if (!skip_geometry(&cur, 0, 0) || !bl_at_end(&cur, "a geometry"))
		return false;
	v->data = data + 4;
	v->len = len - 4;
	return true;
}

static MyResult
check_srid(const MyCodec *c, uint32 srid, SlError *err)
{
	if (c->type->srid >= 0 && srid != c->type->srid)
		return MISFIT(err, "the geometry's SRID is %u, its column's %lld; correct it at the source",
					  srid, (long long) c->type->srid);
	if (c->to != PG_BYTEA && srid > POSTGIS_MAX_SRID)
		return MISFIT(err, "the geometry's SRID %u is above %d, PostGIS's limit; "
					  "override the column's type with bytea", srid, POSTGIS_MAX_SRID);
	return MY_VALUE;
}

static void
put_le32(char *p, uint32 v)
{
	for (int i = 0; i < 4; i++)
		p[i] = (char) (v >> (8 * i));
}

static void
put_hex(StringInfo out, const char *data, size_t len)
{
	static const char digits[] = "0123456789ABCDEF";
	char	   *p = my_room(out, (int) (2 * len));

	for (size_t i = 0; i < len; i++)
	{
		*p++ = digits[(uint8) data[i] >> 4];
		*p++ = digits[(uint8) data[i] & 15];
	}
	out->len += (int) (2 * len);
}

/* bytea: the bytes; every other target reads them as hexadecimal digits. */
static MyResult
write_geometry(MyCodec *c, const MyValue *v, StringInfo out, SlError *err)
{
	uint32		srid = (uint32) v->u;
	char		head[9];
	int			nhead = srid != 0 ? 9 : 5;

	if (check_srid(c, srid, err) != MY_VALUE)
		return MY_FAULT;
	memcpy(head, v->data, 5);
	if (srid != 0)
	{
		put_le32(head + 1, (uint32) bl_load_le(head + 1, 4) | EWKB_HAS_SRID);
		put_le32(head + 5, srid);
	}
	if (c->to == PG_BYTEA)
	{
		my_put(out, head, nhead);
		my_put(out, v->data + 5, v->len - 5);
		return MY_VALUE;
	}
	put_hex(out, head, nhead);
	put_hex(out, v->data + 5, v->len - 5);
	return MY_VALUE;
}

bool
my_geometry_parts(MyCodec *c)
{
	c->read_protocol = c->read_log = read_geometry;
	c->write = write_geometry;
	c->growth = 2;
	return true;
}
