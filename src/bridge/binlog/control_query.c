/*
 * control_query.c
 *	  QUERY events: statements, with the session's settings that the server
 *	  logged for them.
 *
 * Rule: MySQL source Query_event, MariaDB source Query_log_event.  A setting
 * that is not known stops the read: its length cannot be told, and what it
 * changes neither.
 */
#include "bridge/binlog/control_int.h"

/* Settings of a statement ("status variables") by number. */
enum
{
	Q_FLAGS2, Q_SQL_MODE, Q_CATALOG, Q_AUTO_INCREMENT, Q_CHARSET, Q_TIME_ZONE,
	Q_CATALOG_NZ, Q_LC_TIME_NAMES, Q_CHARSET_DATABASE, Q_TABLE_MAP_FOR_UPDATE,
	Q_MASTER_DATA_WRITTEN, Q_INVOKER, Q_UPDATED_DB_NAMES, Q_MICROSECONDS,
	Q_COMMIT_TS, Q_COMMIT_TS2, Q_EXPLICIT_DEFAULTS_FOR_TIMESTAMP,
	Q_DDL_LOGGED_WITH_XID, Q_DEFAULT_COLLATION_FOR_UTF8MB4,
	Q_SQL_REQUIRE_PRIMARY_KEY, Q_DEFAULT_TABLE_ENCRYPTION,
	Q_MYSQL_21,					/* 9.x: a byte with changes that are logged as
								 * statements */
	Q_HRNOW = 128, Q_XID, Q_GTID_FLAGS3, Q_CHARACTER_SET_COLLATIONS,
	Q_DUMMY = 255				/* MariaDB: fills a place up */
};

#define MANY_DATABASES	254		/* more than are listed */

/* A string after a byte of length. */
static const char *
get_short_string(SlCursor *c, uint8 *len, const char *what)
{
	*len = sl_get_u8(c, what);
	return bl_get_bytes(c, *len, what);
}

static void
read_time_zone(BlBody *b, SlCursor *v, BlQuery *q)
{
	uint8		len;
	const char *zone = get_short_string(v, &len, "a time zone");

	if (!sl_ok(v))
		return;
	bl_copy_string(b, b->control->time_zone, sizeof(b->control->time_zone), zone, len,
				   "a time zone");
	q->time_zone = b->control->time_zone;
}

static void
read_charsets(SlCursor *v, BlQuery *q)
{
	q->client_charset = bl_get_le16(v, "a statement's character sets");
	q->connection_collation = bl_get_le16(v, "a statement's character sets");
	q->server_collation = bl_get_le16(v, "a statement's character sets");
}

/* Names of databases that the statement touches. */
static void
skip_databases(SlCursor *v)
{
	uint8		n = sl_get_u8(v, "a statement's databases");

	if (n == MANY_DATABASES)
		return;
	for (; n > 0 && sl_ok(v); n--)
		sl_get_cstring(v, 256, "a database's name");
}

/* Flags of the group's GTID, repeated; an ALTER's end names its start. */
static void
skip_gtid_flags(SlCursor *v)
{
	if ((sl_get_u8(v, "a statement's flags") & 0x0c) != 0)
		bl_get_le64(v, "the GTID of an ALTER's start");
}

/* Settings that say nothing that a reader of rows and DDL could use: bytes to pass by, -1 = not one of them. */
static int
idle_setting_length(uint8 setting)
{
	switch (setting)
	{
		case Q_AUTO_INCREMENT:
		case Q_MASTER_DATA_WRITTEN:
			return 4;
		case Q_LC_TIME_NAMES:
		case Q_CHARSET_DATABASE:
			return 2;
		case Q_TABLE_MAP_FOR_UPDATE:
			return 8;
		case Q_MICROSECONDS:
		case Q_HRNOW:
			return 3;
		case Q_DUMMY:
			return 0;
		case Q_DEFAULT_TABLE_ENCRYPTION:
		case Q_MYSQL_21:
			return 1;
		default:
			return -1;
	}
}

static void
read_setting(BlBody *b, SlCursor *v, BlQuery *q)
{
	const char *at = v->p;
	uint8		setting = sl_get_u8(v, "a statement's setting");
	int			idle = idle_setting_length(setting);
	uint8		len;

	if (idle >= 0)
	{
		bl_get_bytes(v, idle, "a statement's setting");
		return;
	}
	switch (setting)
	{
		case Q_FLAGS2:
			q->flags2 = bl_get_le32(v, "a statement's options");
			q->has_flags2 = true;
			break;
		case Q_SQL_MODE:
			q->sql_mode = bl_get_le64(v, "a statement's SQL mode");
			q->has_sql_mode = true;
			break;
		case Q_CATALOG:			/* zero-terminated besides */
			get_short_string(v, &len, "a catalog");
			sl_get_u8(v, "a catalog");
			break;
		case Q_CATALOG_NZ:
			get_short_string(v, &len, "a catalog");
			break;
		case Q_CHARSET:
			read_charsets(v, q);
			break;
		case Q_TIME_ZONE:
			read_time_zone(b, v, q);
			break;
		case Q_INVOKER:			/* user, host */
			get_short_string(v, &len, "a statement's user");
			get_short_string(v, &len, "a statement's host");
			break;
		case Q_UPDATED_DB_NAMES:
			skip_databases(v);
			break;
		case Q_DDL_LOGGED_WITH_XID:
		case Q_XID:
			q->xid = bl_get_le64(v, "a statement's transaction");
			break;
		case Q_SQL_REQUIRE_PRIMARY_KEY:
			q->sql_require_primary_key = sl_get_u8(v, "a statement's setting");
			break;
		case Q_GTID_FLAGS3:
			skip_gtid_flags(v);
			break;
		case Q_EXPLICIT_DEFAULTS_FOR_TIMESTAMP:
			q->explicit_defaults = sl_get_u8(v, "a statement's setting") != 0;
			break;
		case Q_DEFAULT_COLLATION_FOR_UTF8MB4:
			q->utf8mb4_collation = bl_get_le16(v, "a statement's character sets");
			break;
		case Q_CHARACTER_SET_COLLATIONS:
			q->ncollations = sl_get_u8(v, "collations");
			q->collations = bl_get_bytes(v, 4 * (uint64) q->ncollations, "collations");
			break;
		default:
			sl_fail_at(v, at, SL_ERR_UNSUPPORTED, "setting %u of a statement is not known",
					   setting);
			break;
	}
}

/* Head, settings, database, text; post has what the kind's head holds beyond a query's. */
static void
read_statement(BlBody *b, uint8 kind, size_t head, BlQuery *q, SlCursor *post)
{
	uint8		database_len;
	uint16		settings_len;
	const char *settings;
	const char *database;
	SlCursor	v;

	memset(q, 0, sizeof(*q));
	q->sql_require_primary_key = q->explicit_defaults = 0xff;
	q->database = b->control->database;
	q->sql = "";
	b->control->database[0] = '\0';
	if (!bl_post_header(b, kind, head, post))
		return;
	q->thread_id = bl_get_le32(post, "a statement's head");
	q->exec_time = bl_get_le32(post, "a statement's head");
	database_len = sl_get_u8(post, "a statement's head");
	q->error_code = bl_get_le16(post, "a statement's head");
	settings_len = bl_get_le16(post, "a statement's head");
	settings = bl_get_bytes(&b->c, settings_len, "a statement's settings");
	database = bl_get_bytes(&b->c, database_len, "a statement's database");
	if (sl_get_u8(&b->c, "a statement's database") != 0)
		sl_fail_at(&b->c, b->c.p - 1, SL_ERR_MALFORMED, "a database's name has no end");
	bl_copy_string(b, b->control->database, sizeof(b->control->database), database,
				   database_len, "a database's name");
	v = b->c;
	v.p = settings;
	v.end = settings + (sl_ok(&b->c) ? settings_len : 0);
	while (sl_ok(&v) && sl_left(&v) > 0)
		read_setting(b, &v, q);
	q->sql_len = sl_left(&b->c);
	q->sql = bl_get_bytes(&b->c, q->sql_len, "a statement");
	/* a failure elsewhere has not parked this cursor */
	b->c.p = b->c.end;
}

void
bl_read_query(BlBody *b)
{
	SlCursor	post;

	read_statement(b, BL_EV_QUERY, 13, &b->item->u.query, &post);
}

/* LOAD DATA, logged as a statement: the text, whose file came in the blocks before. */
void
bl_read_execute_load_query(BlBody *b)
{
	SlCursor	post;
	BlQuery		q;

	read_statement(b, BL_EV_EXECUTE_LOAD_QUERY, 26, &q, &post);
	b->item->u.text.database = q.database;
	b->item->u.text.data = q.sql;
	b->item->u.text.len = q.sql_len;
}
