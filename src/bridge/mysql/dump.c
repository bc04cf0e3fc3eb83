/*
 * dump.c
 *	  Asking a source for its binary log, as a replica does.
 *
 * Rule: MySQL "COM_BINLOG_DUMP", "COM_BINLOG_DUMP_GTID"; MariaDB Knowledge
 * Base "Replication protocol".
 */
#include "bridge/mysql/conn_int.h"

#define COM_BINLOG_DUMP			0x12
#define COM_BINLOG_DUMP_GTID	0x1e

/* Flags of both commands. */
#define FLAG_NON_BLOCK			0x0001
#define FLAG_THROUGH_GTID		0x0004

/* Of MariaDB: knows GTID events and everything before them. */
#define MARIADB_CAPABILITY		4

#define HEADER_LEN				19	/* of an event */

#define NAME_MAX_LEN			511 /* bytes of a log file's name */

static const char *const ask_failed = "could not ask the source for its binary log";

static bool
check_request(MxConn *c, const MxDump *d, MxError *err)
{
	if (d->server_id == 0)
		return mx_fail(err, "a replica's server id is 1 or more");
	if (d->heartbeat <= 0)
		return mx_fail(err, "the heartbeat's period is 1 second or more");
	if (c->read_timeout > 0 && d->heartbeat >= c->read_timeout)
		return mx_fail(err, "a heartbeat every %d s would come too late for a read that ends after %d s",
					   d->heartbeat, c->read_timeout);
	if (d->by_gtid)
	{
		if (c->mariadb ? d->gtid_text == NULL : d->gtid_set == NULL)
			return mx_fail(err, "the GTIDs to start after are not given");
		return true;
	}
	if (d->file == NULL || strlen(d->file) > NAME_MAX_LEN)
		return mx_fail(err, "the log file to start in is not given, or its name is too long");
	if (d->pos < 4 || d->pos > PG_UINT32_MAX)
		return mx_fail(err, "a log cannot be asked for from position " UINT64_FORMAT
					   ": start from 4 to 4294967295, or by GTID", d->pos);
	return true;
}

/* Our side of the agreement: session variables that the dump looks at. */
static bool
set_variables(MxConn *c, const MxDump *d, MxError *err)
{
	StringInfoData sql;
	uint64		heartbeat = (uint64) d->heartbeat * 1000000000;
	bool		ok = true;

	initStringInfo(&sql);
	appendStringInfo(&sql, "SET @master_binlog_checksum = @@global.binlog_checksum, "
					 "@master_heartbeat_period = " UINT64_FORMAT, heartbeat);
	if (!c->mariadb)
		appendStringInfo(&sql, ", @source_binlog_checksum = @@global.binlog_checksum, "
						 "@source_heartbeat_period = " UINT64_FORMAT, heartbeat);
	else
	{
		appendStringInfo(&sql, ", @mariadb_slave_capability = %d", MARIADB_CAPABILITY);
		if (d->by_gtid)
		{
			appendStringInfoString(&sql, ", @slave_gtid_strict_mode = 1, "
								   "@slave_gtid_ignore_duplicates = 0, @slave_connect_state = ");
			ok = mx_append_literal(&sql, d->gtid_text, strlen(d->gtid_text));
		}
	}
	if (!ok)
		mx_fail(err, "the GTIDs to start after hold a zero byte");
	ok = ok && mx_exec(c, sql.data, err);
	pfree(sql.data);
	return ok;
}

static void
put_le(StringInfo buf, uint64 v, int n)
{
	for (int i = 0; i < n; i++)
		appendStringInfoCharMacro(buf, (char) (v >> (8 * i)));
}

/* MySQL by GTID: an empty name and position 4, the set says where. */
static void
put_by_gtid(StringInfo buf, const MxDump *d)
{
	put_le(buf, FLAG_THROUGH_GTID | (d->stop_at_end ? FLAG_NON_BLOCK : 0), 2);
	put_le(buf, d->server_id, 4);
	put_le(buf, 0, 4);
	put_le(buf, 4, 8);
	put_le(buf, d->gtid_set_len, 4);
	appendBinaryStringInfo(buf, d->gtid_set, (int) d->gtid_set_len);
}

/* By position; MariaDB by GTID too, whose state is in a session variable. */
static void
put_by_position(StringInfo buf, const MxDump *d)
{
	put_le(buf, d->by_gtid ? 4 : d->pos, 4);
	put_le(buf, d->stop_at_end ? FLAG_NON_BLOCK : 0, 2);
	put_le(buf, d->server_id, 4);
	if (!d->by_gtid)
		appendStringInfoString(buf, d->file);
}

bool
mx_dump_start(MxConn *c, const MxDump *d, MxError *err)
{
	StringInfoData buf;
	bool		encoded = d->by_gtid && !c->mariadb;
	bool		ok;

	if (!mx_usable(c, ask_failed, err) || !check_request(c, d, err) || !set_variables(c, d, err))
		return false;
	if (encoded && d->gtid_set_len > MX_RESULT_MAX)
		return mx_fail(err, "the GTIDs to start after have more than %d bytes", MX_RESULT_MAX);
	initStringInfo(&buf);
	if (encoded)
		put_by_gtid(&buf, d);
	else
		put_by_position(&buf, d);
	ok = mx_command(c, encoded ? COM_BINLOG_DUMP_GTID : COM_BINLOG_DUMP, buf.data, buf.len,
					ask_failed, err);
	pfree(buf.data);
	c->busy = ok;
	c->stop_at_end = d->stop_at_end;
	return ok;
}

int
mx_dump_next(MxConn *c, const char **data, size_t *len, MxError *err)
{
	const char *packet;
	size_t		n;

	if (!mx_packet(c, &packet, &n, "the source's binary log cannot be read", err))
	{
		c->lost = true;			/* the servers leave after any error */
		return -1;
	}
	if (mx_packet_is_end(packet, n))
	{
		c->lost = true;
		if (c->stop_at_end)
			return 0;

		/*
		 * a server that shuts down, or whose dump was killed, says it like
		 * this
		 */
		mx_fail(err, "the source ended its binary log's dump");
		err->number = MX_CR_LOST;
		err->lost = true;
		return -1;
	}
	if (n < 1 + HEADER_LEN || packet[0] != 0)
	{
		mx_malformed(c, err, "no event of the binary log");
		return -1;
	}
	*data = packet + 1;
	*len = n - 1;
	return 1;
}
