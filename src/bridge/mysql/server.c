/*
 * server.c
 *	  Who a source is, and where its log stands.
 */
#include "bridge/mysql/conn_int.h"
#include "bridge/mysql/server.h"

/* SHOW MASTER STATUS has this name from here on. */
#define LOG_STATUS_RENAMED	80200

/* A GTID set is printed with line ends in it. */
static char *
one_line(const char *text)
{
	char	   *out = pstrdup(text != NULL ? text : "");
	char	   *to = out;

	for (const char *from = out; *from != '\0'; from++)
		if (*from != '\n' && *from != '\r')
			*to++ = *from;
	*to = '\0';
	return out;
}

static uint32
number(const char *text)
{
	return text != NULL ? (uint32) strtoul(text, NULL, 10) : 0;
}

bool
mx_server_read(MxConn *c, MxServer *s, MxError *err)
{
	MxResult   *r;

	r = mx_query(c, c->mariadb ?
				 "SELECT @@global.server_id, @@global.log_bin, @@global.gtid_binlog_pos, "
				 "@@global.gtid_domain_id, @@global.gtid_binlog_state" :
				 "SELECT @@global.server_id, @@global.log_bin, @@global.gtid_executed, "
				 "@@global.server_uuid, @@global.gtid_purged", err);
	if (r == NULL)
		return false;
	memset(s, 0, sizeof(*s));
	s->server_id = number(mx_value(r, 0, 0));
	s->log_bin = number(mx_value(r, 0, 1)) != 0;
	s->gtid = one_line(mx_value(r, 0, 2));
	if (c->mariadb)
		s->domain = number(mx_value(r, 0, 3));
	s->uuid = one_line(c->mariadb ? NULL : mx_value(r, 0, 3));
	s->gtid_state = one_line(c->mariadb ? mx_value(r, 0, 4) : NULL);
	s->gtid_purged = one_line(c->mariadb ? NULL : mx_value(r, 0, 4));
	mx_result_free(r);
	return true;
}

void
mx_server_free(MxServer *s)
{
	pfree(s->uuid);
	pfree(s->gtid);
	pfree(s->gtid_purged);
	pfree(s->gtid_state);
}

bool
mx_position_read(MxConn *c, MxPosition *p, MxError *err)
{
	MxResult   *r;
	bool		renamed = !c->mariadb && c->version >= LOG_STATUS_RENAMED;

	r = mx_query(c, renamed ? "SHOW BINARY LOG STATUS" : "SHOW MASTER STATUS", err);
	if (r == NULL)
		return false;
	memset(p, 0, sizeof(*p));
	if (r->nrows > 0)
	{
		snprintf(p->file, sizeof(p->file), "%s", mx_value(r, 0, 0) != NULL ? mx_value(r, 0, 0) : "");
		p->pos = mx_value(r, 0, 1) != NULL ? strtou64(mx_value(r, 0, 1), NULL, 10) : 0;
	}
	mx_result_free(r);
	return true;
}

bool
mx_snapshot_begin(MxConn *c, MxError *err)
{
	return mx_exec(c, "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ", err) &&
		mx_exec(c, "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY", err);
}

bool
mx_snapshot_position(MxConn *c, MxPosition *p, MxError *err)
{
	MxResult   *r = mx_query(c, "SHOW STATUS LIKE 'binlog_snapshot_%'", err);

	memset(p, 0, sizeof(*p));
	if (r == NULL)
		return false;
	for (int i = 0; i < r->nrows; i++)
	{
		const char *name = mx_value(r, i, 0);
		const char *value = mx_value(r, i, 1);

		if (name == NULL || value == NULL)
			continue;
		if (strcasecmp(name, "binlog_snapshot_file") == 0)
			strlcpy(p->file, value, sizeof(p->file));
		if (strcasecmp(name, "binlog_snapshot_position") == 0)
			p->pos = strtou64(value, NULL, 10);
	}
	mx_result_free(r);
	return true;
}

char *
mx_variable(MxConn *c, const char *name, MxError *err)
{
	StringInfoData sql;
	MxResult   *r;
	char	   *value = NULL;

	initStringInfo(&sql);
	appendStringInfoString(&sql, "SHOW GLOBAL VARIABLES WHERE Variable_name = ");
	if (!mx_append_literal(&sql, name, strlen(name)))
		mx_fail(err, "a variable's name holds a zero byte");
	else if ((r = mx_query(c, sql.data, err)) != NULL)
	{
		memset(err, 0, sizeof(*err));
		if (r->nrows > 0)
			value = pstrdup(mx_value(r, 0, 1) != NULL ? mx_value(r, 0, 1) : "");
		mx_result_free(r);
	}
	pfree(sql.data);
	return value;
}
