/*
 * table_meta.c
 *	  Optional metadata of TABLE_MAP events: a list of fields, each a type byte,
 *	  a length-encoded length and its value.
 *
 * Most fields speak of the columns of one class, in the order of the table,
 * and name none.  Bits stand highest first.
 */
#include "bridge/binlog/table_map_int.h"

#define MAX_ENUM_LABELS 65535
#define MAX_SET_LABELS	64

enum
{
	META_SIGNEDNESS = 1,
	META_DEFAULT_CHARSET = 2,
	META_COLUMN_CHARSET = 3,
	META_COLUMN_NAME = 4,
	META_SET_LABELS = 5,
	META_ENUM_LABELS = 6,
	META_GEOMETRY_TYPE = 7,
	META_PRIMARY_KEY = 8,
	META_PRIMARY_KEY_WITH_PREFIX = 9,
	META_LABELS_DEFAULT_CHARSET = 10,
	META_LABELS_COLUMN_CHARSET = 11,
	META_VISIBILITY = 12,
	META_VECTOR_DIMENSIONALITY = 13
};

/* ---------- classes of columns ---------- */

typedef bool (*ColumnClass) (const BlField *f);

static bool
has_sign(const BlField *f)
{
	switch (f->type)
	{
		case BL_T_TINY:
		case BL_T_SHORT:
		case BL_T_INT24:
		case BL_T_LONG:
		case BL_T_LONGLONG:
		case BL_T_FLOAT:
		case BL_T_DOUBLE:
		case BL_T_NEWDECIMAL:
		case BL_T_YEAR:
			return true;
		default:
			return false;
	}
}

static bool
has_charset(const BlField *f)
{
	switch (f->type)
	{
		case BL_T_STRING:
		case BL_T_VARCHAR:
		case BL_T_VARCHAR_COMPRESSED:
		case BL_T_TINY_BLOB:
		case BL_T_MEDIUM_BLOB:
		case BL_T_LONG_BLOB:
		case BL_T_BLOB:
		case BL_T_BLOB_COMPRESSED:
		case BL_T_VECTOR:
			return true;
		default:
			return false;
	}
}

static bool
is_geometry(const BlField *f)
{
	return f->type == BL_T_GEOMETRY;
}

/* MariaDB counts geometries among the columns with a collation, MySQL does not. */
static bool
has_charset_mariadb(const BlField *f)
{
	return has_charset(f) || is_geometry(f);
}

static bool
is_set(const BlField *f)
{
	return f->type == BL_T_SET;
}

static bool
is_enum(const BlField *f)
{
	return f->type == BL_T_ENUM;
}

static bool
has_labels(const BlField *f)
{
	return is_set(f) || is_enum(f);
}

static bool
is_vector(const BlField *f)
{
	return f->type == BL_T_VECTOR;
}

static bool
is_column(const BlField *f)
{
	return true;
}

/* The first column of the class from number i on; NULL: there is none. */
static BlColumn *
next_of(BlTableMap *map, ColumnClass class, int *i)
{
	while (*i < map->ncols)
	{
		BlColumn   *col = &map->cols[(*i)++];

		if (class(&col->field))
			return col;
	}
	return NULL;
}

/* ---------- values ---------- */

static uint32
get_number(SlCursor *c, const char *what)
{
	const char *at = c->p;
	uint64		n = bl_get_lenenc(c, what);

	if (n <= PG_UINT32_MAX)
		return (uint32) n;
	sl_fail_at(c, at, SL_ERR_MALFORMED, "%s is beyond 32 bits", what);
	return 0;
}

/* One bit for each column of a class: the bits, of which there are exactly enough. */
static const char *
get_bits(BlTableMap *map, SlCursor *c, ColumnClass class, const char *what)
{
	int			n = 0;

	for (int i = 0; next_of(map, class, &i) != NULL;)
		n++;
	return bl_get_bytes(c, (n + 7) / 8, what);
}

static bool
bit_at(const char *bits, int n)
{
	return (bits[n / 8] >> (7 - n % 8)) & 1;
}

static void
read_signedness(BlTableMap *map, SlCursor *c)
{
	const char *bits = get_bits(map, c, has_sign, "signedness");
	BlColumn   *col;
	int			n = 0;

	if (!sl_ok(c))
		return;
	for (int i = 0; (col = next_of(map, has_sign, &i)) != NULL; n++)
	{
		col->has_sign = true;
		col->is_unsigned = bit_at(bits, n);
	}
}

static void
read_visibility(BlTableMap *map, SlCursor *c)
{
	const char *bits = get_bits(map, c, is_column, "column visibility");

	for (int i = 0; sl_ok(c) && i < map->ncols; i++)
		map->cols[i].invisible = !bit_at(bits, i);
}

/* A number for each column of a class. */
static void
read_numbers(BlTableMap *map, SlCursor *c, ColumnClass class,
			 void (*put) (BlColumn *col, uint32 n), const char *what)
{
	BlColumn   *col;

	for (int i = 0; (col = next_of(map, class, &i)) != NULL;)
		put(col, get_number(c, what));
}

static void
put_collation(BlColumn *col, uint32 n)
{
	col->collation = n;
}

static void
put_geometry(BlColumn *col, uint32 n)
{
	col->geometry_type = (int) n;
}

static void
put_dimensions(BlColumn *col, uint32 n)
{
	col->vector_dims = n;
}

/*
 * A collation for all columns of a class, then pairs for those that have
 * another: which of the class, counted from 0 and ascending, and its collation.
 */
static void
read_default_charset(BlTableMap *map, SlCursor *c, ColumnClass class)
{
	uint32		dflt = get_number(c, "a default collation");
	BlColumn   *col;
	int			i = 0;

	while ((col = next_of(map, class, &i)) != NULL)
		col->collation = dflt;
	i = 0;
	for (uint32 next = 0; sl_ok(c) && sl_left(c) > 0; next++)
	{
		const char *at = c->p;
		uint32		which = get_number(c, "a column with a collation of its own");
		uint32		collation = get_number(c, "a column's collation");

		col = which < next || which >= (uint32) map->ncols ? NULL : next_of(map, class, &i);
		for (; col != NULL && next < which; next++)
			col = next_of(map, class, &i);
		if (col == NULL)
		{
			sl_fail_at(c, at, SL_ERR_MALFORMED,
					   "a collation is of no column, or of one that had its own");
			return;
		}
		col->collation = collation;
	}
}

static void
read_names(MapMemory *m, SlCursor *c)
{
	for (int i = 0; i < m->map.ncols; i++)
	{
		size_t		len;
		const char *data = bl_get_lenenc_bytes(c, &len, "a column's name");

		m->map.cols[i].name = map_name(m, c, data, len, "a column's name");
	}
	m->map.has_names = sl_ok(c);
}

/* The labels of one ENUM or SET: their number, then each with its length. */
static void
read_label_list(MapMemory *m, SlCursor *c, BlColumn *col)
{
	uint64		max = is_set(&col->field) ? MAX_SET_LABELS : MAX_ENUM_LABELS;
	uint64		n = bl_get_lenenc(c, "a number of labels");
	const char **labels;
	size_t	   *lens;

	if (n > max)
		sl_fail(c, SL_ERR_LIMIT, "a column has more than %d labels", (int) max);
	else if (n > sl_left(c))
		sl_fail(c, SL_ERR_TRUNCATED, "input ends inside %d labels", (int) n);
	if (!sl_ok(c))
		return;
	col->labels = labels = palloc(sizeof(char *) * (n + 1));
	col->label_lens = lens = palloc(sizeof(size_t) * (n + 1));
	for (int i = 0; i < (int) n; i++)
	{
		const char *data = bl_get_lenenc_bytes(c, &lens[i], "a label");

		if (!sl_ok(c))
			return;
		labels[i] = map_text(m, data, lens[i]);
	}
	col->nlabels = (int) n;
}

static void
read_labels(MapMemory *m, SlCursor *c, ColumnClass class)
{
	BlColumn   *col;

	for (int i = 0; sl_ok(c) && (col = next_of(&m->map, class, &i)) != NULL;)
		read_label_list(m, c, col);
}

/* Columns' numbers from 0, with_prefix each followed by its prefix. */
static void
read_key(BlTableMap *map, SlCursor *c, bool with_prefix)
{
	while (sl_ok(c) && sl_left(c) > 0)
	{
		const char *at = c->p;
		uint32		i = get_number(c, "a key's column");
		uint32		prefix = with_prefix ? get_number(c, "a key's prefix") : 0;

		if (i >= (uint32) map->ncols || map->cols[i].in_key)
		{
			sl_fail_at(c, at, SL_ERR_MALFORMED, "a key has a column twice, or one that is not there");
			return;
		}
		map->cols[i].in_key = true;
		map->cols[i].key_prefix = prefix;
		map->has_key = true;
	}
}

/* ---------- the list ---------- */

/* One field's value, all of c; what is not known is skipped. */
static void
read_field(MapMemory *m, SlCursor *c, BlFlavor flavor, uint8 type)
{
	BlTableMap *map = &m->map;
	ColumnClass charset = flavor == BL_MARIADB ? has_charset_mariadb : has_charset;

	switch (type)
	{
		case META_SIGNEDNESS:
			read_signedness(map, c);
			break;
		case META_DEFAULT_CHARSET:
			read_default_charset(map, c, charset);
			break;
		case META_COLUMN_CHARSET:
			read_numbers(map, c, charset, put_collation, "a column's collation");
			break;
		case META_COLUMN_NAME:
			read_names(m, c);
			break;
		case META_SET_LABELS:
			read_labels(m, c, is_set);
			break;
		case META_ENUM_LABELS:
			read_labels(m, c, is_enum);
			break;
		case META_GEOMETRY_TYPE:
			read_numbers(map, c, is_geometry, put_geometry, "a geometry type");
			break;
		case META_PRIMARY_KEY:
			read_key(map, c, false);
			break;
		case META_PRIMARY_KEY_WITH_PREFIX:
			read_key(map, c, true);
			break;
		case META_LABELS_DEFAULT_CHARSET:
			read_default_charset(map, c, has_labels);
			break;
		case META_LABELS_COLUMN_CHARSET:
			read_numbers(map, c, has_labels, put_collation, "a column's collation");
			break;
		case META_VISIBILITY:
			read_visibility(map, c);
			break;
		case META_VECTOR_DIMENSIONALITY:
			read_numbers(map, c, is_vector, put_dimensions, "a vector's dimensions");
			break;
		default:
			c->p = c->end;
	}
}

bool
table_meta_read(MapMemory *m, SlCursor *c, BlFlavor flavor)
{
	uint32		seen = 0;

	while (sl_ok(c) && sl_left(c) > 0)
	{
		const char *at = c->p;
		uint8		type = sl_get_u8(c, "optional metadata");
		size_t		len;
		const char *value = bl_get_lenenc_bytes(c, &len, "optional metadata");
		SlCursor	field = *c;

		if (!sl_ok(c))
			return false;
		if (type < 32 && (seen >> type & 1) != 0)
			return sl_fail_at(c, at, SL_ERR_MALFORMED,
							  "optional metadata of type %u comes twice", type);
		if (type < 32)
			seen |= (uint32) 1 << type;
		field.p = value;
		field.end = value + len;
		read_field(m, &field, flavor, type);
		if (sl_ok(c) && sl_left(&field) > 0)
			return sl_fail_at(c, field.p, SL_ERR_MALFORMED,
							  "%zu bytes of optional metadata of type %u are left over",
							  sl_left(&field), type);
	}
	return sl_ok(c);
}
