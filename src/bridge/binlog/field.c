/*
 * field.c
 *	  Types of a table map and the sizes of their values.
 *
 * The meta of a field, as BlField.meta keeps it:
 *
 *	CHAR, BINARY, VARCHAR, VARBINARY	bytes at most; with one more for the
 *										header if COMPRESSED
 *	blobs, JSON, GEOMETRY, VECTOR		bytes of the length prefix
 *	DECIMAL								digits << 8 | scale
 *	BIT									bits
 *	FLOAT, DOUBLE						bytes of the value
 *	TIME, DATETIME, TIMESTAMP			digits of the fraction
 *	ENUM, SET							bytes of the value
 */
#include "bridge/binlog/field.h"
#include "bridge/binlog/le.h"

#define MAX_DIGITS		65		/* of DECIMAL */
#define MAX_SCALE		38		/* MariaDB's; MySQL has 30 */
#define MAX_FRACTION	6		/* digits of a second */

static bool
bad_meta(SlCursor *c, uint8 type)
{
	return sl_fail_at(c, c->start, SL_ERR_MALFORMED,
					  "the table map's meta of a column of type %u is impossible", type);
}

/* Bytes of n decimal digits when packed: four for nine, the rest in as few as hold it. */
static int
packed_digits(int n)
{
	static const uint8 rest[] = {0, 1, 1, 2, 2, 3, 3, 4, 4};

	return n / 9 * 4 + rest[n % 9];
}

/* A value after a length of its own; max_len is what the column's type allows. */
static void
counted(BlField *f, int prefix, uint32 max_len)
{
	f->prefix = (uint8) prefix;
	f->max_len = max_len;
}

static bool
read_decimal(SlCursor *c, BlField *f)
{
	f->precision = sl_get_u8(c, "meta of a decimal");
	f->scale = sl_get_u8(c, "meta of a decimal");
	if (!sl_ok(c))
		return false;
	if (f->precision == 0 || f->precision > MAX_DIGITS || f->scale > MAX_SCALE ||
		f->scale > f->precision)
		return bad_meta(c, f->type);
	f->meta = f->precision << 8 | f->scale;
	f->fixed = (uint8) (packed_digits(f->precision - f->scale) + packed_digits(f->scale));
	return true;
}

static bool
read_bit(SlCursor *c, BlField *f)
{
	uint8		bits = sl_get_u8(c, "meta of bits");
	uint8		bytes = sl_get_u8(c, "meta of bits");

	if (!sl_ok(c))
		return false;
	if (bits > 7 || bytes * 8 + bits == 0 || bytes * 8 + bits > 64)
		return bad_meta(c, f->type);
	f->meta = bytes * 8 + bits;
	f->max_len = f->meta;
	f->fixed = (uint8) (bytes + (bits > 0));
	return true;
}

/* One byte: how many bytes the length before a value has. */
static bool
read_blob(SlCursor *c, BlField *f)
{
	f->meta = sl_get_u8(c, "meta of a blob");
	if (!sl_ok(c))
		return false;
	if (f->meta < 1 || f->meta > 4)
		return bad_meta(c, f->type);
	counted(f, f->meta, f->meta);
	return true;
}

static bool
read_varchar(SlCursor *c, BlField *f)
{
	f->meta = bl_get_le16(c, "meta of a varchar");
	counted(f, f->meta > 255 ? 2 : 1, f->meta);
	return sl_ok(c);
}

/*
 * CHAR, BINARY, ENUM and SET come as one type, and the first byte of meta says
 * which.  A CHAR of more than 255 bytes has two bits of its length there too,
 * inverted, in the place of two that are set in every such type.
 */
static bool
read_string(SlCursor *c, BlField *f)
{
	uint8		first = sl_get_u8(c, "meta of a string");
	uint8		second = sl_get_u8(c, "meta of a string");
	bool		is_set;

	if (!sl_ok(c))
		return false;
	f->type = first | 0x30;
	f->meta = second;
	if (f->type == BL_T_STRING)
	{
		f->meta |= ((first & 0x30) ^ 0x30) << 4;
		counted(f, f->meta > 255 ? 2 : 1, f->meta);
		return true;
	}
	is_set = f->type == BL_T_SET;
	if (first != f->type || (!is_set && f->type != BL_T_ENUM))
		return bad_meta(c, BL_T_STRING);
	if (is_set ? second == 0 || (second > 4 && second != 8) : second < 1 || second > 2)
		return bad_meta(c, f->type);
	f->max_len = f->fixed = second;
	return true;
}

/* Temporal types with a fraction of 0 to 6 digits, two to a byte. */
static bool
read_fraction(SlCursor *c, BlField *f, int whole)
{
	f->precision = sl_get_u8(c, "meta of a temporal type");
	if (!sl_ok(c))
		return false;
	if (f->precision > MAX_FRACTION)
		return bad_meta(c, f->type);
	f->meta = f->precision;
	f->fixed = (uint8) (whole + (f->precision + 1) / 2);
	return true;
}

static bool
read_float(SlCursor *c, BlField *f, int size)
{
	f->meta = sl_get_u8(c, "meta of a floating-point number");
	if (!sl_ok(c))
		return false;
	if (f->meta != size)
		return bad_meta(c, f->type);
	f->fixed = (uint8) size;
	return true;
}

/* Bytes of the types that have no meta; -1: not one of them. */
static int
plain_size(uint8 type)
{
	switch (type)
	{
		case BL_T_NULL:
			return 0;
		case BL_T_TINY:
		case BL_T_YEAR:
			return 1;
		case BL_T_SHORT:
			return 2;
		case BL_T_INT24:
		case BL_T_DATE:
		case BL_T_NEWDATE:
		case BL_T_TIME:
			return 3;
		case BL_T_LONG:
		case BL_T_TIMESTAMP:
			return 4;
		case BL_T_LONGLONG:
		case BL_T_DATETIME:
			return 8;
		default:
			return -1;
	}
}

static bool
read_meta(SlCursor *c, BlField *f)
{
	switch (f->type)
	{
		case BL_T_FLOAT:
			return read_float(c, f, 4);
		case BL_T_DOUBLE:
			return read_float(c, f, 8);
		case BL_T_NEWDECIMAL:
			return read_decimal(c, f);
		case BL_T_BIT:
			return read_bit(c, f);
		case BL_T_TIME2:
			return read_fraction(c, f, 3);
		case BL_T_TIMESTAMP2:
			return read_fraction(c, f, 4);
		case BL_T_DATETIME2:
			return read_fraction(c, f, 5);
		case BL_T_VARCHAR:
		case BL_T_VARCHAR_COMPRESSED:
			return read_varchar(c, f);
		case BL_T_STRING:
			return read_string(c, f);
		case BL_T_TINY_BLOB:
		case BL_T_MEDIUM_BLOB:
		case BL_T_LONG_BLOB:
		case BL_T_BLOB:
		case BL_T_BLOB_COMPRESSED:
		case BL_T_JSON:
		case BL_T_GEOMETRY:
		case BL_T_VECTOR:
			return read_blob(c, f);
		default:
			return sl_fail(c, SL_ERR_UNSUPPORTED, "columns of type %u are not known", f->type);
	}
}

bool
bl_field_read(uint8 type, const char *meta, size_t left, size_t *used,
			  BlField *f, SlError *err)
{
	SlCursor	c;
	int			size = plain_size(type);

	bl_cursor(&c, meta, left, err);
	memset(f, 0, sizeof(BlField));
	f->type = type;
	*used = 0;
	if (size >= 0)
	{
		f->fixed = (uint8) size;
		return true;
	}
	if (!read_meta(&c, f))
		return false;
	*used = c.p - c.start;
	return true;
}

/* Does max_len say how long the value itself may be? */
static bool
has_limit(const BlField *f)
{
	return f->type == BL_T_VARCHAR || f->type == BL_T_STRING ||
		f->type == BL_T_VARCHAR_COMPRESSED;
}

bool
bl_field_size(const BlField *f, const char *data, size_t left,
			  size_t *skip, size_t *len, SlError *err)
{
	uint64		n;

	err->code = SL_ERR_NONE;
	if (f->prefix == 0)
		n = f->fixed;
	else if (left < f->prefix)
		return sl_error_set(err, SL_ERR_TRUNCATED, 0, "input ends inside a value's length");
	else
	{
		n = bl_load_le(data, f->prefix);
		if (has_limit(f) && n > f->max_len)
			return sl_error_set(err, SL_ERR_MALFORMED, 0,
								"a value of %llu bytes is in a column of %u",
								(unsigned long long) n, f->max_len);
	}
	if (n > left - f->prefix)
		return sl_error_set(err, SL_ERR_TRUNCATED, f->prefix,
							"input ends inside a value of %llu bytes",
							(unsigned long long) n);
	*skip = f->prefix;
	*len = (size_t) n;
	return true;
}
