/*
 * codec.c
 *	  Fuzz target: a column's type, a field of the log, and values of it by both
 *	  protocols.  What a codec writes for a type of fixed width has that width,
 *	  and nothing is written where it refuses.
 *
 * Input: COLUMN_TYPE and an override, zero-terminated each; a byte of choices
 * (character set, JSON, policy for zero dates, SRID); the field's type and five
 * bytes of meta; the value.
 */
#include "bridge/types/codec.h"
#include "bridge/types/pgtype.h"
#include "common/sl_record.h"
#include "fuzz.h"

#define HEAD	7				/* choices, field, meta */

static const char *const charsets[] = {"utf8mb4", "latin1", "ucs2", "gbk"};

/* Bytes that every value of a type has; 0 = it depends. */
static int
width_of(PgKind kind)
{
	switch (kind)
	{
		case PG_BOOL:
			return 1;
		case PG_INT2:
			return 2;
		case PG_INT4:
		case PG_FLOAT4:
		case PG_DATE:
			return 4;
		case PG_INT8:
		case PG_FLOAT8:
		case PG_TIME:
		case PG_TIMESTAMP:
		case PG_TIMESTAMPTZ:
			return 8;
		case PG_INTERVAL:
		case PG_UUID:
			return 16;
		default:
			return 0;
	}
}

static void
check(const MyTarget *target, MyResult r, const StringInfoData *out, const SlError *err)
{
	int			width = target->form == SL_CELL_BINARY ? width_of(pg_kind_of(target)) : 0;

	if (r == MY_FAULT && (err->code == SL_ERR_NONE || err->detail[0] == '\0'))
		abort();
	if (r != MY_VALUE && out->len != 0)
		abort();
	if (r == MY_VALUE && width != 0 && out->len != width)
		abort();
	fuzz_bytes(out->data, out->len);
}

/* value is memory of exactly len bytes. */
static void
run(MyCodec *c, const MyTarget *target, const char *head, const char *value, size_t len)
{
	StringInfoData out;
	SlError		err = {0};
	BlField		field;
	size_t		used;

	initStringInfo(&out);
	check(target, my_codec_protocol(c, value, len, &out, &err), &out, &err);
	resetStringInfo(&out);
	if (bl_field_read((uint8) head[1], head + 2, 5, &used, &field, &err) &&
		my_codec_bind(c, &field, &err))
		check(target, my_codec_binlog(c, value, len, &out, &err), &out, &err);
	pfree(out.data);
}

/* A zero-terminated text at *data; NULL = there is none. */
static const char *
take_text(const uint8_t **data, size_t *size)
{
	const char *text = (const char *) *data;
	const uint8_t *end = *size > 0 ? memchr(*data, '\0', *size) : NULL;

	if (end == NULL)
		return NULL;
	*size -= end + 1 - *data;
	*data = end + 1;
	return text;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = take_text(&data, &size);
	const char *override = text != NULL ? take_text(&data, &size) : NULL;
	SlError		err = {0};
	MyPolicy	policy = {0};
	MyTarget	target;
	MyType	   *t;
	MyCodec    *c;
	char	   *value;

	if (override == NULL || size < HEAD)
		return 0;
	t = my_type_parse(text, charsets[data[0] & 3], NULL, "", data[0] & 0x40 ? 4326 : -1,
					  (data[0] & 0x04) != 0, &err);
	if (t == NULL)
		return 0;
	policy.zero_dates = (data[0] >> 4 & 3) % 3;
	value = malloc(size - HEAD + 1);
	memcpy(value, data + HEAD, size - HEAD);
	value = realloc(value, size > HEAD ? size - HEAD : 1);
	if (my_type_target(t, *override != '\0' ? override : NULL, data[0] & 0x08 ? "e" : NULL, &target, &err) &&
		(c = my_codec_create(t, &target, &policy, &err)) != NULL)
	{
		run(c, &target, (const char *) data, value, size - HEAD);
		my_codec_free(c);
	}
	free(value);
	my_type_free(t);
	return 0;
}
