/*
 * codec_int.h
 *	  What the parts of the codec share: a value between its reader (one per
 *	  kind and protocol) and its writer (one per target type).
 *
 * Readers fill the members of MyValue that belong to the kind's class and say
 * so in a comment there; writers look at no other.  Both are chosen once, at
 * my_codec_create and my_codec_bind.
 */
#ifndef MY_CODEC_INT_H
#define MY_CODEC_INT_H

#include "bridge/binlog/le.h"
#include "bridge/types/charset.h"
#include "bridge/types/calendar.h"
#include "bridge/types/codec.h"
#include "bridge/types/pgtype.h"

#define MY_DECIMAL_MAX	128		/* digits of one side, zeros for display
								 * included */


typedef struct MyDecimal
{
	int			nint;			/* digits before the point, no zeros in front */
	int			nfrac;			/* after it */
	char		digits[MY_DECIMAL_MAX]; /* both, as characters */
} MyDecimal;

typedef struct MyValue
{
	bool		neg;			/* integers, decimals */
	uint64		u;				/* integers, bits: magnitude; ENUM: index;
								 * SET: mask */
	union
	{
		double		d;
		float		f;
	};
	int64		us;				/* TIME; moments that are not civil: since
								 * 2000 */
	bool		civil;			/* the moment is in at */
	MyMoment	at;
	MyDecimal	dec;
	const char *data;			/* strings, bytes, documents */
	size_t		len;
} MyValue;

/* False: err says why. */
typedef bool (*MyRead) (MyCodec *c, const char *data, size_t len, MyValue *v, SlError *err);
typedef MyResult (*MyWrite) (MyCodec *c, const MyValue *v, StringInfo out, SlError *err);

typedef enum MyFast
{
	MY_SLOW,
	MY_FAST_16,					/* integers of one width here and there */
	MY_FAST_32,
	MY_FAST_64,
	MY_FAST_UTF8				/* text that needs a look for zero bytes only */
} MyFast;

typedef struct MyLabels MyLabels;

struct MyCodec
{
	const MyType *type;
	const MyTarget *target;
	MyPolicy	policy;
	PgKind		to;
	MyFast		fast;			/* protocol; the log too when log_fast */
	bool		log_fast;
	int			growth;			/* bytes out for one byte in, at most */
	uint32		max_chars;		/* of text; 0 = as many as come */
	int			width;			/* bytes of an integer in the protocol */
	int			log_width;		/* in the log */
	int			unit;			/* microseconds that the target cannot part; 1
								 * = none */
	const MyCharset *cs;
	bool		utf8;
	bool		bound;
	bool		inflate;		/* the field is of a COMPRESSED column */
	BlField		field;
	MyRead		read_protocol;
	MyRead		read_log;
	MyWrite		write;
	MyLabels   *labels;
	StringInfoData scratch;		/* text on the way, until the next value */
	StringInfoData inflated;
};

/* ---------- failures ---------- */

/* PostgreSQL has no room for this value. */
#define MISFIT(err, ...) \
	(sl_error_set(err, SL_ERR_UNSUPPORTED, 0, __VA_ARGS__), MY_FAULT)

/* The source cannot have such a value: damage, or a shape that is not this one. */
#define BROKEN(err, ...)	sl_error_set(err, SL_ERR_MALFORMED, 0, __VA_ARGS__)

static inline bool
my_wrong_length(const MyCodec *c, size_t len, SlError *err)
{
	return BROKEN(err, "a value of %s has %zu bytes, which it cannot have",
				  my_kind_name(c->type->kind), len);
}

/* ---------- output; the dispatcher has seen to the total ---------- */

static inline char *
my_room(StringInfo out, int n)
{
	if (unlikely(out->maxlen - out->len <= n))
		enlargeStringInfo(out, n);
	return out->data + out->len;
}

static inline void
my_put(StringInfo out, const void *data, size_t n)
{
	memcpy(my_room(out, (int) n), data, n);
	out->len += (int) n;
}

static inline void
my_put8(StringInfo out, uint8 v)
{
	*my_room(out, 1) = (char) v;
	out->len++;
}

static inline void
my_put16(StringInfo out, uint16 v)
{
	v = pg_hton16(v);
	my_put(out, &v, sizeof(v));
}

static inline void
my_put32(StringInfo out, uint32 v)
{
	v = pg_hton32(v);
	my_put(out, &v, sizeof(v));
}

static inline void
my_put64(StringInfo out, uint64 v)
{
	v = pg_hton64(v);
	my_put(out, &v, sizeof(v));
}

/* Is the text that was put from start on within max_chars?  MY_VALUE or a fault. */
extern MyResult my_text_end(MyCodec *c, StringInfo out, int start, SlError *err);

/* Zero bytes in text that is UTF-8 already. */
extern bool my_text_whole(const char *data, size_t len, SlError *err);

/* Text of the column's character set as UTF-8: in place, or in c->scratch. */
extern bool my_text_utf8(MyCodec *c, const char **data, size_t *len, SlError *err);

/* ---------- the parts: readers and writers of a kind; false = there are none ---------- */

extern bool my_integer_parts(MyCodec *c);
extern bool my_bit_parts(MyCodec *c);
extern bool my_decimal_parts(MyCodec *c);
extern bool my_float_parts(MyCodec *c);
extern bool my_temporal_parts(MyCodec *c);
extern bool my_string_parts(MyCodec *c);
extern bool my_bytes_parts(MyCodec *c);
extern bool my_label_parts(MyCodec *c);
extern bool my_document_parts(MyCodec *c);
extern bool my_geometry_parts(MyCodec *c);
extern bool my_vector_parts(MyCodec *c);
extern bool my_network_parts(MyCodec *c);

/* Readers that depend on the field's type in the log (temporal.c). */
extern MyRead my_temporal_log(uint8 field_type);

/* Writers of moments (moment.c), of integers as numeric (decimal.c). */
extern MyWrite my_moment_writer(const MyCodec *c);
extern MyResult my_write_numeric(MyCodec *c, const MyValue *v, StringInfo out, SlError *err);
extern MyResult my_write_whole_numeric(MyCodec *c, const MyValue *v, StringInfo out, SlError *err);

/* Integers to what integers can become (integer.c). */
extern MyWrite my_integer_writer(PgKind to);

/* Documents and bytes as text of another type's (document.c). */
extern MyResult my_write_document(MyCodec *c, const MyValue *v, StringInfo out, SlError *err);

extern void my_labels_free(MyLabels *labels);

/* A COMPRESSED column's bytes, undone into c->inflated (inflate.c). */
extern bool my_inflate(MyCodec *c, const char **data, size_t *len, SlError *err);

#endif							/* MY_CODEC_INT_H */
