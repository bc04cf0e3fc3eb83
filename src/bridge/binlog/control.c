/*
 * control.c
 *	  Which reader an event has, and the readers of the short ones.
 */
#include "bridge/binlog/control_int.h"

void
bl_control_init(BlControl *c)
{
	memset(c, 0, sizeof(*c));
	initStringInfo(&c->text);
}

void
bl_control_clear(BlControl *c)
{
	if (c->set != NULL)
		bl_gtid_set_free(c->set);
	c->set = NULL;
	pfree(c->text.data);
	c->text.data = NULL;
}

void
bl_copy_string(BlBody *b, char *dest, size_t size, const char *data, size_t len,
			   const char *what)
{
	dest[0] = '\0';
	if (!sl_ok(&b->c))
		return;
	if (len >= size)
		sl_fail_at(&b->c, data, SL_ERR_LIMIT, "%s is longer than %zu bytes", what, size - 1);
	else if (memchr(data, '\0', len) != NULL)
		sl_fail_at(&b->c, data, SL_ERR_MALFORMED, "%s holds a zero byte", what);
	else
	{
		memcpy(dest, data, len);
		dest[len] = '\0';
	}
}

void
bl_text_item(BlBody *b)
{
	b->item->u.text.data = b->control->text.data;
	b->item->u.text.len = b->control->text.len;
}

bool
bl_post_header(BlBody *b, uint8 kind, size_t min, SlCursor *post)
{
	size_t		len = b->format->post_header_len[kind];
	const char *data;

	if (len < min)
		return sl_fail(&b->c, SL_ERR_UNSUPPORTED,
					   "the format description gives this kind a head of %zu bytes, not %zu",
					   len, min);
	data = bl_get_bytes(&b->c, len, "an event's head");
	*post = b->c;
	post->p = data;
	post->end = data + (sl_ok(&b->c) ? len : 0);
	return sl_ok(&b->c);
}

/* ---------- files ---------- */

/* All that is left as a log file's name. */
static void
read_file_name(BlBody *b)
{
	size_t		len = sl_left(&b->c);
	const char *data = bl_get_bytes(&b->c, len, "a log file's name");

	bl_copy_string(b, b->control->file, sizeof(b->control->file), data, len,
				   "a log file's name");
	b->item->u.rotate.file = b->control->file;
}

static void
read_rotate(BlBody *b)
{
	b->item->u.rotate.pos = bl_get_le64(&b->c, "a position");
	read_file_name(b);
	if (sl_ok(&b->c) && b->control->file[0] == '\0')
		sl_fail(&b->c, SL_ERR_MALFORMED, "a rotation names no file");
}

/*
 * The first version has the position in the header.  MariaDB puts one that
 * does not fit there before the name, and 0 in the header.
 */
static void
read_heartbeat(BlBody *b)
{
	b->item->u.rotate.pos = b->item->event.next_pos;
	if (b->format->flavor == BL_MARIADB && b->item->event.next_pos == 0)
		b->item->u.rotate.pos = bl_get_le64(&b->c, "a heartbeat's position");
	read_file_name(b);
}

static void
read_heartbeat_v2(BlBody *b)
{
	enum
	{
		END, FILE_NAME, POSITION
	};

	b->control->file[0] = '\0';
	b->item->u.rotate.file = b->control->file;
	b->item->u.rotate.pos = 0;
	while (sl_ok(&b->c) && sl_left(&b->c) > 0)
	{
		uint64		type = bl_get_lenenc(&b->c, "a heartbeat's field");
		size_t		len;
		const char *data;
		SlCursor	field;

		if (type == END)
			break;
		data = bl_get_lenenc_bytes(&b->c, &len, "a heartbeat's field");
		field = b->c;
		field.p = data;
		field.end = data + len;
		if (!sl_ok(&b->c))
			return;
		if (type == FILE_NAME)
			bl_copy_string(b, b->control->file, sizeof(b->control->file), data, len,
						   "a log file's name");
		else if (type == POSITION)
			b->item->u.rotate.pos = bl_get_lenenc(&field, "a heartbeat's position");
	}
}

static void
read_checkpoint(BlBody *b)
{
	uint32		len = bl_get_le32(&b->c, "a checkpoint's length");
	const char *data = bl_get_bytes(&b->c, len, "a checkpoint's file");

	bl_copy_string(b, b->control->file, sizeof(b->control->file), data, len,
				   "a log file's name");
	b->item->u.rotate.pos = 0;
	b->item->u.rotate.file = b->control->file;
}

static void
read_nothing(BlBody *b)
{
}

static void
read_start_encryption(BlBody *b)
{
	sl_get_u8(&b->c, "an encryption scheme");
	bl_get_le32(&b->c, "a key's version");
	bl_get_bytes(&b->c, 12, "a nonce");
}

/* ---------- transactions ---------- */

static void
read_xid(BlBody *b)
{
	b->item->u.xid = bl_get_le64(&b->c, "a transaction's number");
}

static void
read_xa_prepare(BlBody *b)
{
	BlItem	   *item = b->item;

	item->u.xa.one_phase = sl_get_u8(&b->c, "an XA transaction's phase") != 0;
	item->u.xa.format_id = bl_get_le32(&b->c, "an XA identifier");
	item->u.xa.gtrid_len = bl_get_le32(&b->c, "an XA identifier");
	item->u.xa.bqual_len = bl_get_le32(&b->c, "an XA identifier");
	if (sl_ok(&b->c) && (item->u.xa.gtrid_len > 64 || item->u.xa.bqual_len > 64))
		sl_fail(&b->c, SL_ERR_LIMIT, "a part of an XA identifier is longer than 64 bytes");
	item->u.xa.gtrid = bl_get_bytes(&b->c, item->u.xa.gtrid_len, "an XA identifier");
	item->u.xa.bqual = bl_get_bytes(&b->c, item->u.xa.bqual_len, "an XA identifier");
}

/* MySQL writes a second checksum behind the message. */
static void
read_incident(BlBody *b)
{
	BlItem	   *item = b->item;

	item->u.incident.number = bl_get_le16(&b->c, "an incident");
	item->u.incident.len = sl_get_u8(&b->c, "an incident's message");
	item->u.incident.message = bl_get_bytes(&b->c, item->u.incident.len,
											"an incident's message");
	if (b->format->flavor == BL_MYSQL && sl_left(&b->c) == BL_CHECKSUM_LEN)
		b->c.p = b->c.end;
}

/* The length byte is the text's length modulo 256: it says nothing. */
static void
read_rows_query(BlBody *b)
{
	sl_get_u8(&b->c, "a statement's length");
	b->item->u.text.len = sl_left(&b->c);
	b->item->u.text.data = bl_get_bytes(&b->c, sl_left(&b->c), "a statement");
}

static void
read_annotate_rows(BlBody *b)
{
	b->item->u.text.len = sl_left(&b->c);
	b->item->u.text.data = bl_get_bytes(&b->c, sl_left(&b->c), "a statement");
}

/* Group replication's: the view's name is all that anybody could want. */
static void
read_view_change(BlBody *b)
{
	const char *id = bl_get_bytes(&b->c, 40, "a view's name");

	b->item->u.text.data = id;
	b->item->u.text.len = sl_ok(&b->c) ? strnlen(id, 40) : 0;
	b->c.p = b->c.end;
}

/* ---------- who reads what ---------- */

static const struct
{
	BlReader	read;
	BlItemKind	item;
}			readers[BL_EV_COUNT] = {
	[BL_EV_QUERY] = {bl_read_query, BL_ITEM_QUERY},
	[BL_EV_STOP] = {read_nothing, BL_ITEM_STOP},
	[BL_EV_ROTATE] = {read_rotate, BL_ITEM_ROTATE},
	[BL_EV_INTVAR] = {bl_read_intvar, BL_ITEM_STATEMENT_PART},
	[BL_EV_APPEND_BLOCK] = {bl_read_load_block, BL_ITEM_LOAD},
	[BL_EV_DELETE_FILE] = {bl_read_delete_file, BL_ITEM_LOAD},
	[BL_EV_RAND] = {bl_read_rand, BL_ITEM_STATEMENT_PART},
	[BL_EV_USER_VAR] = {bl_read_user_var, BL_ITEM_STATEMENT_PART},
	[BL_EV_XID] = {read_xid, BL_ITEM_XID},
	[BL_EV_BEGIN_LOAD_QUERY] = {bl_read_load_block, BL_ITEM_LOAD},
	[BL_EV_EXECUTE_LOAD_QUERY] = {bl_read_execute_load_query, BL_ITEM_LOAD},
	[BL_EV_INCIDENT] = {read_incident, BL_ITEM_INCIDENT},
	[BL_EV_HEARTBEAT] = {read_heartbeat, BL_ITEM_HEARTBEAT},
	[BL_EV_ROWS_QUERY] = {read_rows_query, BL_ITEM_ROWS_QUERY},
	[BL_EV_GTID] = {bl_read_gtid, BL_ITEM_GTID},
	[BL_EV_ANONYMOUS_GTID] = {bl_read_gtid, BL_ITEM_ANONYMOUS},
	[BL_EV_PREVIOUS_GTIDS] = {bl_read_previous_gtids, BL_ITEM_PREVIOUS_GTIDS},
	[BL_EV_VIEW_CHANGE] = {read_view_change, BL_ITEM_VIEW_CHANGE},
	[BL_EV_XA_PREPARE] = {read_xa_prepare, BL_ITEM_XA_PREPARE},
	[BL_EV_HEARTBEAT_V2] = {read_heartbeat_v2, BL_ITEM_HEARTBEAT},
	[BL_EV_GTID_TAGGED] = {bl_read_gtid_tagged, BL_ITEM_GTID},
	[BL_EV_ANNOTATE_ROWS] = {read_annotate_rows, BL_ITEM_ROWS_QUERY},
	[BL_EV_BINLOG_CHECKPOINT] = {read_checkpoint, BL_ITEM_CHECKPOINT},
	[BL_EV_MARIADB_GTID] = {bl_read_mariadb_gtid, BL_ITEM_GTID},
	[BL_EV_GTID_LIST] = {bl_read_gtid_list, BL_ITEM_PREVIOUS_GTIDS},
	[BL_EV_START_ENCRYPTION] = {read_start_encryption, BL_ITEM_ENCRYPTED},
};

bool
bl_control_read(BlControl *control, const BlFormat *format, BlItem *item,
				bool *known, SlError *err)
{
	uint8		kind = item->event.kind;
	BlBody		b = {.control = control, .format = format, .item = item};

	*known = kind < BL_EV_COUNT && readers[kind].read != NULL;
	err->code = SL_ERR_NONE;
	if (!*known)
		return true;
	item->kind = readers[kind].item;
	bl_cursor(&b.c, item->event.body, item->event.len, err);
	resetStringInfo(&control->text);
	readers[kind].read(&b);
	return bl_at_end(&b.c, "an event's body");
}
