/*
 * decode_item.c
 *	  Items of a binary log as lines.
 *
 * One line an item: place, name, time in UTC, what it says; below it, indented,
 * the columns of a table map, or a line for every row image: "-" before the
 * change, "+" after it.
 */
#include <time.h>

#include "bridge/decode.h"

static void
append_time(time_t seconds, StringInfo out)
{
	struct tm	tm;

	if (seconds == 0 || gmtime_r(&seconds, &tm) == NULL)
		appendStringInfoChar(out, '-');
	else
		appendStringInfo(out, "%04d-%02d-%02dT%02d:%02d:%02dZ", tm.tm_year + 1900,
						 tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec);
}

static void
append_flag(bool set, const char *name, StringInfo out)
{
	if (set)
		appendStringInfo(out, " %s", name);
}

static void
item_format(const BlFormat *f, StringInfo out)
{
	appendStringInfo(out, " %s %s checksum=%s kinds=%d",
					 f->flavor == BL_MARIADB ? "mariadb" : "mysql", f->server_version,
					 f->checksum == BL_CHECKSUM_CRC32 ? "crc32" : "none", f->nkinds);
}

static void
item_gtid(const BlItem *item, StringInfo out)
{
	static const char *const alter[] = {NULL, "alter_start", "alter_commit", "alter_rollback"};

	if (item->kind == BL_ITEM_GTID)
	{
		appendStringInfoChar(out, ' ');
		bl_gtid_text(&item->u.gtid.gtid, out);
	}
	append_flag(item->u.gtid.standalone, "standalone", out);
	append_flag(item->u.gtid.ddl, "ddl", out);
	append_flag(item->u.gtid.xa_prepare, "xa_prepare", out);
	append_flag(item->u.gtid.xa_complete, "xa_complete", out);
	append_flag(item->u.gtid.alter != BL_ALTER_WHOLE, alter[item->u.gtid.alter], out);
	if (item->u.gtid.commit_id != 0)
		appendStringInfo(out, " commit_id=" UINT64_FORMAT, item->u.gtid.commit_id);
	if (item->u.gtid.gtid.mariadb)
		return;
	appendStringInfo(out, " last=" INT64_FORMAT " sequence=" INT64_FORMAT,
					 item->u.gtid.last_committed, item->u.gtid.sequence_number);
	if (item->u.gtid.original_commit_us != 0)
	{
		appendStringInfoString(out, " committed=");
		append_time((time_t) (item->u.gtid.original_commit_us / 1000000), out);
		appendStringInfo(out, "+%uus", (uint32) (item->u.gtid.original_commit_us % 1000000));
	}
	if (item->u.gtid.transaction_length != 0)
		appendStringInfo(out, " length=" UINT64_FORMAT, item->u.gtid.transaction_length);
}

static void
item_query(const DecodeOptions *opt, const BlQuery *q, StringInfo out)
{
	DecodeOptions whole = {.full = true};

	appendStringInfo(out, " database='");
	decode_text(&whole, q->database, strlen(q->database), true, out);
	appendStringInfo(out, "' thread=%u", q->thread_id);
	if (q->error_code != 0)
		appendStringInfo(out, " error=%u", q->error_code);
	if (q->has_sql_mode)
		appendStringInfo(out, " sql_mode=0x%llx", (unsigned long long) q->sql_mode);
	if (q->has_flags2)
		appendStringInfo(out, " flags2=0x%x", q->flags2);
	if (q->client_charset != 0)
		appendStringInfo(out, " charset=%u,%u,%u", q->client_charset,
						 q->connection_collation, q->server_collation);
	if (q->time_zone != NULL)
	{
		appendStringInfoString(out, " time_zone='");
		decode_text(&whole, q->time_zone, strlen(q->time_zone), true, out);
		appendStringInfoChar(out, '\'');
	}
	if (q->xid != 0)
		appendStringInfo(out, " xid=" UINT64_FORMAT, q->xid);
	if (q->sql_require_primary_key != 0xff)
		appendStringInfo(out, " require_primary_key=%u", q->sql_require_primary_key);
	appendStringInfoString(out, ": ");
	decode_text(opt, q->sql, q->sql_len, true, out);
}

static void
append_table(const BlTableMap *map, StringInfo out)
{
	DecodeOptions whole = {.full = true};

	appendStringInfoChar(out, ' ');
	decode_text(&whole, map->database, strlen(map->database), true, out);
	appendStringInfoChar(out, '.');
	decode_text(&whole, map->table, strlen(map->table), true, out);
	appendStringInfo(out, " id=" UINT64_FORMAT, map->table_id);
}

static void
item_table_map(const BlTableMap *map, StringInfo out)
{
	append_table(map, out);
	if (map->flags != 0)
		appendStringInfo(out, " flags=0x%x", map->flags);
	for (int i = 0; i < map->ncols; i++)
	{
		appendStringInfoString(out, "\n    ");
		decode_column(&map->cols[i], i + 1, out);
	}
}

static void
append_image(const DecodeOptions *opt, const BlTableMap *map, char sign, const BlCell *cells,
			 StringInfo out)
{
	appendStringInfo(out, "\n  %c", sign);
	for (int i = 0; i < map->ncols; i++)
	{
		if (cells[i].kind == BL_CELL_ABSENT)
			continue;
		appendStringInfoChar(out, ' ');
		decode_column_name(&map->cols[i], i + 1, out);
		appendStringInfoChar(out, '=');
		decode_cell(opt, &map->cols[i], &cells[i], out);
	}
}

static bool
item_rows(const DecodeOptions *opt, BlItem *item, StringInfo out, SlError *err)
{
	static const char *const ops[] = {"insert", "update", "delete"};
	BlRows	   *rows = &item->u.rows.rows;
	const BlTableMap *map = item->u.rows.map;
	BlCell	   *before = palloc0(sizeof(BlCell) * map->ncols);
	BlCell	   *after = palloc0(sizeof(BlCell) * map->ncols);
	const char *why = NULL;		/* no row of it can be read */

	err->code = SL_ERR_NONE;

	appendStringInfo(out, " %s", ops[rows->op]);
	append_table(map, out);
	append_flag((rows->flags & BL_ROWS_STMT_END) != 0, "end", out);
	append_flag((rows->flags & BL_ROWS_NO_FOREIGN_KEYS) != 0, "no_foreign_keys", out);
	append_flag((rows->flags & BL_ROWS_RELAXED_UNIQUE) != 0, "relaxed_unique", out);
	if (map->fault.code != SL_ERR_NONE)
		why = map->fault.detail;
	else if (rows->npresent[0] + rows->npresent[1] == 0)
		why = "images without columns, of which nothing tells the number";
	if (why != NULL)
		appendStringInfo(out, " not read: %s", why);
	while (why == NULL && bl_rows_next(rows, map, before, after, err))
	{
		if (rows->op != BL_ROWS_INSERT)
			append_image(opt, map, '-', before, out);
		if (rows->op != BL_ROWS_DELETE)
			append_image(opt, map, '+', after, out);
	}
	pfree(before);
	pfree(after);
	return err->code == SL_ERR_NONE;
}

static void
item_xa(const DecodeOptions *opt, const BlItem *item, StringInfo out)
{
	appendStringInfo(out, " format=%u ", item->u.xa.format_id);
	decode_bytes(opt, item->u.xa.gtrid, item->u.xa.gtrid_len, out);
	appendStringInfoChar(out, ',');
	decode_bytes(opt, item->u.xa.bqual, item->u.xa.bqual_len, out);
	append_flag(item->u.xa.one_phase, "one_phase", out);
}

static void
item_place(const BlItem *item, StringInfo out)
{
	DecodeOptions whole = {.full = true};

	appendStringInfoChar(out, ' ');
	decode_text(&whole, item->u.rotate.file, strlen(item->u.rotate.file), true, out);
	if (item->kind != BL_ITEM_CHECKPOINT)
		appendStringInfo(out, ":" UINT64_FORMAT, item->u.rotate.pos);
}

static void
item_text(const DecodeOptions *opt, const BlItem *item, StringInfo out)
{
	appendStringInfoString(out, ": ");
	decode_text(opt, item->u.text.data, item->u.text.len, true, out);
}

static void
item_incident(const DecodeOptions *opt, const BlItem *item, StringInfo out)
{
	appendStringInfo(out, " %u: ", item->u.incident.number);
	decode_text(opt, item->u.incident.message, item->u.incident.len, true, out);
}

static void
item_set(const BlItem *item, StringInfo out)
{
	appendStringInfoChar(out, ' ');
	if (bl_gtid_set_is_empty(item->u.previous.set))
		appendStringInfoString(out, "none");
	else
		bl_gtid_set_text(item->u.previous.set, out);
}

static bool
append_details(const DecodeOptions *opt, BlItem *item, StringInfo out, SlError *err)
{
	switch (item->kind)
	{
		case BL_ITEM_FORMAT:
			item_format(item->u.format, out);
			break;
		case BL_ITEM_ROTATE:
		case BL_ITEM_HEARTBEAT:
		case BL_ITEM_CHECKPOINT:
			item_place(item, out);
			break;
		case BL_ITEM_GTID:
		case BL_ITEM_ANONYMOUS:
			item_gtid(item, out);
			break;
		case BL_ITEM_PREVIOUS_GTIDS:
			item_set(item, out);
			break;
		case BL_ITEM_QUERY:
			item_query(opt, &item->u.query, out);
			break;
		case BL_ITEM_XID:
			appendStringInfo(out, " " UINT64_FORMAT, item->u.xid);
			break;
		case BL_ITEM_XA_PREPARE:
			item_xa(opt, item, out);
			break;
		case BL_ITEM_TABLE_MAP:
			item_table_map(item->u.map, out);
			break;
		case BL_ITEM_ROWS:
			return item_rows(opt, item, out, err);
		case BL_ITEM_STATEMENT_PART:
		case BL_ITEM_LOAD:
		case BL_ITEM_ROWS_QUERY:
		case BL_ITEM_VIEW_CHANGE:
			item_text(opt, item, out);
			break;
		case BL_ITEM_INCIDENT:
			item_incident(opt, item, out);
			break;
		case BL_ITEM_PAYLOAD:
			appendStringInfo(out, " compressed=" UINT64_FORMAT " uncompressed=" UINT64_FORMAT,
							 item->u.payload.compressed, item->u.payload.uncompressed);
			break;
		case BL_ITEM_ENCRYPTED:
		case BL_ITEM_STOP:
			break;
		case BL_ITEM_IGNORED:
			appendStringInfoString(out, " ignored");
			break;
	}
	return true;
}

bool
decode_item(const DecodeOptions *opt, const char *place, BlItem *item, StringInfo out,
			SlError *err)
{
	bool		ok;

	appendStringInfo(out, "%s %s server=%u ", place, item->name, item->event.server_id);
	append_time((time_t) item->event.timestamp, out);
	append_flag((item->event.flags & BL_FLAG_ARTIFICIAL) != 0, "artificial", out);
	append_flag((item->event.flags & BL_FLAG_SKIP_REPLICATION) != 0, "skip_replication", out);
	ok = append_details(opt, item, out, err);
	appendStringInfoChar(out, '\n');
	return ok;
}
