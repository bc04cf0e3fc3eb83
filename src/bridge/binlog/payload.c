/*
 * payload.c
 *	  TRANSACTION_PAYLOAD events, event by event.
 */
#include <zstd.h>

#include "bridge/binlog/buffer.h"
#include "bridge/binlog/event.h"
#include "bridge/binlog/le.h"
#include "bridge/binlog/payload.h"

/* Memory grows by so much at a time: what is announced may never come. */
#define STEP	(256 * 1024)

enum
{
	COMPRESSION_ZSTD = 0, COMPRESSION_NONE = 255
};

struct BlPayload
{
	size_t		max_event;
	ZSTD_DStream *stream;		/* NULL until the first that needs it */
	ZSTD_inBuffer in;
	bool		plain;			/* not compressed */
	bool		frame_ended;	/* the last frame is whole */
	uint64		left;			/* uncompressed bytes that are still to come */
	BlBuffer	event;
};

BlPayload *
bl_payload_create(size_t max_event)
{
	BlPayload  *p = palloc0(sizeof(BlPayload));

	p->max_event = max_event;
	return p;
}

void
bl_payload_free(BlPayload *p)
{
	ZSTD_freeDStream(p->stream);
	bl_buffer_free(&p->event);
	pfree(p);
}

/* The fields before the payload; each may come once, those not known never. */
static bool
read_head(SlCursor *c, uint64 *size, uint64 *compression, uint64 *uncompressed)
{
	enum
	{
		END, PAYLOAD_SIZE, COMPRESSION_TYPE, UNCOMPRESSED_SIZE
	};
	uint64	   *to[] = {NULL, size, compression, uncompressed};
	bool		seen[4] = {false};

	for (;;)
	{
		const char *at = c->p;
		uint64		type = bl_get_lenenc(c, "a payload's head");
		size_t		len;
		const char *data;
		SlCursor	field;

		if (!sl_ok(c) || type == END)
			break;
		data = bl_get_lenenc_bytes(c, &len, "a payload's head");
		field = *c;
		field.p = data;
		field.end = data + len;
		if (type > UNCOMPRESSED_SIZE)
			return sl_fail_at(c, at, SL_ERR_UNSUPPORTED,
							  "field " UINT64_FORMAT " of a payload is not known", type);
		if (seen[type])
			return sl_fail_at(c, at, SL_ERR_MALFORMED, "a payload's head repeats a field");
		seen[type] = true;
		*to[type] = bl_get_lenenc(&field, "a payload's head");
		if (!bl_at_end(&field, "a payload's field"))
			return false;
	}
	if (sl_ok(c) && (!seen[PAYLOAD_SIZE] || !seen[COMPRESSION_TYPE]))
		return sl_fail(c, SL_ERR_MALFORMED, "a payload's head says no size or no compression");
	if (sl_ok(c) && !seen[UNCOMPRESSED_SIZE])
	{
		if (*compression != COMPRESSION_NONE)
			return sl_fail(c, SL_ERR_MALFORMED, "a payload's head says no uncompressed size");
		*uncompressed = *size;
	}
	return sl_ok(c);
}

static bool
begin_stream(BlPayload *p, SlError *err)
{
	size_t		rc;

	if (p->stream == NULL)
		p->stream = ZSTD_createDStream();
	if (p->stream == NULL)
		return sl_error_set(err, SL_ERR_LIMIT, 0, "no memory to decompress with");
	rc = ZSTD_initDStream(p->stream);
	if (ZSTD_isError(rc))
		return sl_error_set(err, SL_ERR_MALFORMED, 0, "zstd: %s", ZSTD_getErrorName(rc));
	p->frame_ended = true;
	return true;
}

bool
bl_payload_open(BlPayload *p, const char *data, size_t len, uint64 *compressed,
				uint64 *uncompressed, SlError *err)
{
	uint64		compression = 0;
	SlCursor	c;

	bl_cursor(&c, data, len, err);
	if (!read_head(&c, compressed, &compression, uncompressed))
		return false;
	if (*compressed != sl_left(&c))
		return sl_fail(&c, SL_ERR_MALFORMED, "a payload has %zu bytes, not as many as it states",
					   sl_left(&c));
	if (compression != COMPRESSION_ZSTD && compression != COMPRESSION_NONE)
		return sl_fail(&c, SL_ERR_UNSUPPORTED, "compression " UINT64_FORMAT
					   " of a payload is not known", compression);
	p->plain = compression == COMPRESSION_NONE;
	if (p->plain && *uncompressed != *compressed)
		return sl_fail(&c, SL_ERR_MALFORMED, "an uncompressed payload states another size");
	p->left = *uncompressed;
	p->in.src = c.p;
	p->in.size = sl_left(&c);
	p->in.pos = 0;
	return p->plain || begin_stream(p, err);
}

/* One step of the decompressor, into room bytes at dest; *got may be 0. */
static bool
decompress_step(BlPayload *p, char *dest, size_t room, size_t *got, SlError *err)
{
	ZSTD_outBuffer out = {.dst = dest, .size = room, .pos = 0};
	size_t		before = p->in.pos;
	size_t		rc;

	*got = 0;
	/* between frames there must be another one, or the end */
	if (p->frame_ended && p->in.pos == p->in.size)
		return room == 0 || sl_error_set(err, SL_ERR_TRUNCATED, p->in.pos,
										 "a payload ends before its stated size");
	rc = ZSTD_decompressStream(p->stream, &out, &p->in);
	if (ZSTD_isError(rc))
		return sl_error_set(err, SL_ERR_MALFORMED, p->in.pos, "zstd: %s", ZSTD_getErrorName(rc));
	p->frame_ended = rc == 0;
	*got = out.pos;
	if (out.pos == 0 && p->in.pos == before && !p->frame_ended)
		return sl_error_set(err, SL_ERR_TRUNCATED, p->in.pos, "a payload's frame is cut");
	return true;
}

/* The first to bytes of the event in hand, of which have are there. */
static bool
fill(BlPayload *p, size_t have, size_t to, SlError *err)
{
	while (have < to)
	{
		size_t		room = Min(to - have, STEP);
		size_t		got;

		bl_buffer_reserve(&p->event, have + room);
		if (!decompress_step(p, p->event.data + have, room, &got, err))
			return false;
		have += got;
	}
	return true;
}

/* All was stated: is there more? */
static bool
check_end(BlPayload *p, SlError *err)
{
	char		beyond;
	size_t		got;

	while (!p->frame_ended || p->in.pos < p->in.size)
	{
		if (!decompress_step(p, &beyond, 1, &got, err))
			return false;
		if (got > 0)
			return sl_error_set(err, SL_ERR_MALFORMED, p->in.pos,
								"a payload is longer than its stated size");
	}
	return true;
}

/* The length that the header at data states; it must fit what is left. */
static bool
event_length(BlPayload *p, const char *data, size_t *len, SlError *err)
{
	*len = (size_t) bl_load_le(data + 9, 4);
	if (*len < BL_HEADER_LEN || *len > p->left)
		return sl_error_set(err, SL_ERR_MALFORMED, p->in.pos,
							"an event of a payload states a length of %zu bytes", *len);
	if (*len > p->max_event)
		return sl_error_set(err, SL_ERR_LIMIT, p->in.pos,
							"an event of a payload has %zu bytes, more than the limit of %zu",
							*len, p->max_event);
	return true;
}

bool
bl_payload_next(BlPayload *p, const char **data, size_t *len, SlError *err)
{
	err->code = SL_ERR_NONE;
	if (p->left == 0)
	{
		if (!p->plain)
			check_end(p, err);
		return false;
	}
	if (p->left < BL_HEADER_LEN)
		return sl_error_set(err, SL_ERR_TRUNCATED, p->in.pos,
							"a payload ends inside an event's header");
	if (p->plain)
	{
		*data = (const char *) p->in.src + p->in.pos;
		if (!event_length(p, *data, len, err))
			return false;
		p->in.pos += *len;
	}
	else
	{
		if (!fill(p, 0, BL_HEADER_LEN, err) ||
			!event_length(p, p->event.data, len, err) ||
			!fill(p, BL_HEADER_LEN, *len, err))
			return false;
		*data = p->event.data;
	}
	p->left -= *len;
	return true;
}
