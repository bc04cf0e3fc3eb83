/*
 * session.c
 *	  What a session must be, whatever the server's defaults are.
 *
 * A default of the server may end a long read, leave rows out, or change how a
 * stored value or a name is printed; each is set for our session alone.  Rule:
 * the servers' references of system variables.
 */
#include "bridge/mysql/conn_int.h"

/* Versions from which a variable is there; NEVER for a server that has none. */
#define ALWAYS	0
#define NEVER	PG_UINT32_MAX

typedef struct Pin
{
	const char *name;
	const char *value;
	uint32		mysql;			/* first version */
	uint32		mariadb;
} Pin;

static const Pin pins[] = {
	/* values as they are stored */
	{"sql_mode", "''", ALWAYS, ALWAYS}, /* PAD_CHAR_TO_FULL_LENGTH,
										 * ANSI_QUOTES, NO_BACKSLASH_ESCAPES … */
	{"time_zone", "'+00:00'", ALWAYS, ALWAYS},
	{"sql_auto_is_null", "0", ALWAYS, ALWAYS},
	{"sql_quote_show_create", "1", ALWAYS, ALWAYS},
	{"system_versioning_asof", "DEFAULT", NEVER, 100304},
	{"show_gipk_in_create_table_and_information_schema", "ON", 80030, NEVER},
	{"resultset_metadata", "FULL", 80003, NEVER},
	/* AUTO_INCREMENT and estimates as they are, not as of yesterday */
	{"information_schema_stats_expiry", "0", 80003, NEVER},
	/* all rows of a table */
	{"sql_select_limit", "18446744073709551615", ALWAYS, ALWAYS},
	{"sql_big_selects", "1", ALWAYS, ALWAYS},
	/* as long as it takes: seconds */
	{"net_write_timeout", "86400", ALWAYS, ALWAYS},
	{"net_read_timeout", "86400", ALWAYS, ALWAYS},
	{"wait_timeout", "86400", ALWAYS, ALWAYS},
	{"max_execution_time", "0", 50708, NEVER},
	{"max_statement_time", "0", NEVER, 100101},
	{"idle_transaction_timeout", "0", NEVER, 100300},
	{"idle_readonly_transaction_timeout", "0", NEVER, 100300},
	/* init_connect may have said otherwise */
	{"autocommit", "1", ALWAYS, ALWAYS},
};

/*
 * Names and SQL are utf8mb4.  Results without text_utf8 are "binary": every
 * column's text comes in its own character set, as it is in the log, while
 * literals stay utf8mb4 and compare under the column's collation.
 */
bool
mx_session_pin(MxConn *c, bool text_utf8, MxError *err)
{
	StringInfoData sql;
	bool		ok;

	if (!mx_exec(c, "SET NAMES utf8mb4", err))
		return false;
	initStringInfo(&sql);
	appendStringInfo(&sql, "SET SESSION character_set_results = %s",
					 text_utf8 ? "utf8mb4" : "binary");
	for (int i = 0; i < lengthof(pins); i++)
		if (c->version >= (c->mariadb ? pins[i].mariadb : pins[i].mysql))
			appendStringInfo(&sql, ", SESSION %s = %s", pins[i].name, pins[i].value);
	ok = mx_exec(c, sql.data, err);
	pfree(sql.data);
	return ok;
}
