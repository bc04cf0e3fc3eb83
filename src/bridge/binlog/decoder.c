/*
 * decoder.c
 *	  A stream of raw events to items.
 *
 * An event is given whole; what comes out of it is one item, or for a
 * transaction payload one for itself and one for each of its events.  The
 * first fault ends the decoder: every later call repeats it, so that nothing
 * behind a gap can be taken for what follows it.
 */
#include "bridge/binlog/compressed.h"
#include "bridge/binlog/control.h"
#include "bridge/binlog/maps.h"
#include "bridge/binlog/payload.h"

struct BlDecoder
{
	bool		verify;
	size_t		max_event;
	bool		has_format;
	BlFormat	format;
	BlEvent		event;			/* what was put */
	bool		waiting;		/* nobody has read it yet */
	bool		in_payload;		/* it is a payload whose events are being read */
	bool		statement_over; /* the item that was read last ended it */
	BlControl	control;
	BlMaps	   *maps;
	BlPayload  *payload;
	BlBuffer	plain;			/* the event that was compressed by itself */
	char		name[32];		/* of a kind without one */
	SlError		fault;			/* the first; code SL_ERR_NONE = none */
};

BlDecoder *
bl_decoder_create(bool verify, size_t max_event)
{
	BlDecoder  *d = palloc0(sizeof(BlDecoder));

	d->verify = verify;
	d->max_event = max_event;
	d->maps = bl_maps_create();
	d->payload = bl_payload_create(max_event);
	bl_control_init(&d->control);
	return d;
}

void
bl_decoder_free(BlDecoder *d)
{
	bl_maps_free(d->maps);
	bl_payload_free(d->payload);
	bl_control_clear(&d->control);
	bl_buffer_free(&d->plain);
	pfree(d);
}

const BlFormat *
bl_decoder_format(const BlDecoder *d)
{
	return d->has_format ? &d->format : NULL;
}

/* ---------- names and faults ---------- */

static const BlKindInfo *
kind_info(const BlDecoder *d, uint8 kind)
{
	/* before the format is known only kinds that both flavors have can come */
	return bl_kind_info(d->has_format ? d->format.flavor : BL_MYSQL, kind);
}

static const char *
kind_name(BlDecoder *d, uint8 kind)
{
	const BlKindInfo *info = kind_info(d, kind);

	if (info != NULL)
		return info->name;
	snprintf(d->name, sizeof(d->name), "UNKNOWN_%u", kind);
	return d->name;
}

/* The fault that ended it, if one did.  A failure's text is not cleared where there is none: this runs for every event. */
static bool
is_over(const BlDecoder *d, SlError *err)
{
	err->code = SL_ERR_NONE;
	if (d->fault.code == SL_ERR_NONE)
		return false;
	*err = d->fault;
	return true;
}

/* Say which event it was; its end is what the servers' tools call it by. */
static bool
fault(BlDecoder *d, const BlEvent *ev, const SlError *why, SlError *err)
{
	char		where[64] = "";

	if (d->event.next_pos != 0)
		snprintf(where, sizeof(where), " that ends at %u", d->event.next_pos);
	sl_error_set(&d->fault, why->code, why->offset, "%s event%s: %s",
				 kind_name(d, ev->kind), where, why->detail);
	*err = d->fault;
	return false;
}

/* ---------- one event to one item ---------- */

/* May it stand in a transaction payload? */
static bool
may_be_inner(const BlKindInfo *info, uint8 kind)
{
	switch (kind)
	{
		case BL_EV_TRANSACTION_PAYLOAD:
			return false;
		case BL_EV_XID:
		case BL_EV_XA_PREPARE:
			return true;
		default:
			return info == NULL || info->class != BL_CLASS_CONTROL;
	}
}

static bool
read_format(BlDecoder *d, BlItem *item, SlError *err)
{
	BlFormat	format;

	if (!bl_format_read(item->event.body, item->event.len, &format, err))
		return false;
	d->format = format;
	d->has_format = true;
	bl_maps_end_statement(d->maps);
	bl_maps_forget(d->maps);
	item->kind = BL_ITEM_FORMAT;
	item->u.format = &d->format;
	return true;
}

static bool
read_payload(BlDecoder *d, BlItem *item, SlError *err)
{
	item->kind = BL_ITEM_PAYLOAD;
	if (!bl_payload_open(d->payload, item->event.body, item->event.len,
						 &item->u.payload.compressed, &item->u.payload.uncompressed, err))
		return false;
	d->in_payload = true;
	return true;
}

static bool
read_table_map(BlDecoder *d, BlItem *item, SlError *err)
{
	item->kind = BL_ITEM_TABLE_MAP;
	item->u.map = bl_maps_add(d->maps, &d->format, &item->event, err);
	return item->u.map != NULL;
}

/*
 * Rows must have a map.  An event without rows whose only sense is that the
 * statement ends may name a table that has none.
 */
static bool
read_rows(BlDecoder *d, BlItem *item, SlError *err)
{
	BlRows	   *rows = &item->u.rows.rows;

	if (!bl_rows_read(&d->format, &item->event, rows, err))
		return false;
	item->kind = BL_ITEM_ROWS;
	item->u.rows.map = bl_maps_find(d->maps, rows->table_id);
	d->statement_over = (rows->flags & BL_ROWS_STMT_END) != 0;
	if (item->u.rows.map == NULL && d->statement_over && rows->p == rows->end)
		item->kind = BL_ITEM_IGNORED;
	else if (item->u.rows.map == NULL)
		return sl_error_set(err, SL_ERR_MALFORMED, 0,
							"no table map of the statement has the number " UINT64_FORMAT,
							rows->table_id);
	return true;
}

static bool
read_other(BlDecoder *d, BlItem *item, const BlKindInfo *info, SlError *err)
{
	uint8		kind = item->event.kind;
	bool		known;

	memset(&item->u, 0, sizeof(item->u));	/* of what was not sent */
	if (info != NULL)
	{
		if (!bl_control_read(&d->control, &d->format, item, &known, err))
			return false;
		if (known)
		{
			/* whatever else comes, the rows' statement is over */
			if (info->class != BL_CLASS_INERT)
				bl_maps_end_statement(d->maps);
			return true;
		}
	}
	item->kind = BL_ITEM_IGNORED;
	if (info != NULL ? info->class == BL_CLASS_INERT : (item->event.flags & BL_FLAG_IGNORABLE) != 0)
		return true;
	return sl_error_set(err, SL_ERR_UNSUPPORTED, 4,
						info != NULL ? "events of kind %u may hold changes and are not read" :
						"kind %u of events is not known, and whether it holds changes neither",
						kind);
}

static bool
read_item(BlDecoder *d, BlItem *item, SlError *err)
{
	const BlKindInfo *info = kind_info(d, item->event.kind);

	if (item->inner && !may_be_inner(info, item->event.kind))
		return sl_error_set(err, SL_ERR_MALFORMED, 4, "it cannot be inside of a payload");
	if (info != NULL && bl_is_compressed(item->event.kind) &&
		!bl_uncompress_event(&d->format, &item->event, d->max_event, &d->plain, err))
		return false;
	switch (info != NULL ? item->event.kind : 0)
	{
		case BL_EV_FORMAT_DESCRIPTION:
			return read_format(d, item, err);
		case BL_EV_TRANSACTION_PAYLOAD:
			return read_payload(d, item, err);
		case BL_EV_TABLE_MAP:
			return read_table_map(d, item, err);
		case BL_EV_WRITE_ROWS_V1:
		case BL_EV_UPDATE_ROWS_V1:
		case BL_EV_DELETE_ROWS_V1:
		case BL_EV_WRITE_ROWS_V2:
		case BL_EV_UPDATE_ROWS_V2:
		case BL_EV_DELETE_ROWS_V2:
		case BL_EV_PARTIAL_UPDATE_ROWS:
			return read_rows(d, item, err);
		default:
			return read_other(d, item, info, err);
	}
}

/* ---------- the stream ---------- */

bool
bl_decoder_put(BlDecoder *d, const char *data, size_t len, SlError *err)
{
	SlError		why;

	if (is_over(d, err))
		return false;
	why.code = SL_ERR_NONE;
	memset(&d->event, 0, sizeof(d->event));
	d->event.kind = len > 4 ? (uint8) data[4] : 0;	/* for the fault's text */
	if (d->waiting || d->in_payload)
		sl_error_set(&why, SL_ERR_MALFORMED, 0, "it comes before the last one was read");
	else if (len > d->max_event)
		sl_error_set(&why, SL_ERR_LIMIT, 0, "%zu bytes are more than the limit of %zu",
					 len, d->max_event);
	else
		bl_event_read(bl_decoder_format(d), data, len, d->verify, &d->event, &why);
	d->waiting = why.code == SL_ERR_NONE;
	return d->waiting || fault(d, &d->event, &why, err);
}

/* The next event: the one that was put and nobody has read, or one of its payload.  False at the payload's end or a fault. */
static bool
next_event(BlDecoder *d, BlItem *item, SlError *why)
{
	const char *data;
	size_t		len;

	item->event = d->event;		/* for a payload's, what a fault names */
	if (!d->in_payload)
	{
		d->waiting = false;
		return true;
	}
	if (!bl_payload_next(d->payload, &data, &len, why))
	{
		d->in_payload = false;
		return false;
	}
	item->inner = true;
	return bl_event_read_inner(data, len, &item->event, why);
}

bool
bl_decoder_next(BlDecoder *d, BlItem *item, SlError *err)
{
	SlError		why;

	if (is_over(d, err))
		return false;
	if (d->statement_over)
		bl_maps_end_statement(d->maps);
	d->statement_over = false;
	if (!d->waiting && !d->in_payload)
		return false;
	why.code = SL_ERR_NONE;
	item->inner = false;
	if (next_event(d, item, &why))
	{
		/* a compressed event keeps its name */
		item->name = kind_name(d, item->event.kind);
		if (read_item(d, item, &why))
			return true;
	}
	if (why.code == SL_ERR_NONE)
		return false;
	return fault(d, &item->event, &why, err);
}
