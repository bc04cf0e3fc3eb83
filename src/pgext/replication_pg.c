/*
 * replication_pg.c
 *	  START_REPLICATION: what is asked of the source's walsender.
 */
#include "postgres.h"

#include "access/xact.h"
#include "utils/memutils.h"

#include "pgext/binary_types.h"
#include "pgext/errutil.h"
#include "pgext/guc.h"
#include "pgext/stream_pg.h"
#include "pgext/pgcompat.h"

/*
 * Binary is asked for only where every column of every table has a type whose
 * binary form is the same on both sides, as recorded and as of now: what is
 * still to come may be of either time.
 */
static bool
all_binary_ok(SlPgStream *st)
{
	SlStreamTable *t;
	int			n;
	bool		ok = st->cat->server_version >= 140000;

	StartTransactionCommand();
	n = sl_stream_tables(st->s->stream_id, &t);
	for (int i = 0; i < n && ok; i++)
	{
		SlShape    *recorded;
		SlShape    *now;

		if (strcmp(t[i].state, "established") != 0)
			continue;
		recorded = sl_shape_load(st->s->stream_id, t[i].schema, t[i].table, NULL);
		now = sl_pg_shape(st->cat, t[i].source_id, false);
		ok = recorded && now &&
			sl_types_binary_ok(st->cat, recorded, t[i].target_relid) &&
			sl_types_binary_ok(st->cat, now, t[i].target_relid);
	}
	CommitTransactionCommand();
	MemoryContextSwitchTo(st->cxt);
	return ok;
}

/* The replication grammar knows '' and no other escape. */
static char *
repl_literal(const char *text)
{
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfoChar(&buf, '\'');
	for (const char *p = text; *p; p++)
	{
		if (*p == '\'')
			appendStringInfoChar(&buf, '\'');
		appendStringInfoChar(&buf, *p);
	}
	appendStringInfoChar(&buf, '\'');
	return buf.data;
}

void
sl_pg_start_replication(SlPgStream *st, XLogRecPtr position)
{
	int			version = st->repl->server_version;
	char	   *names = repl_literal(sl_conn_ident(st->repl, st->s->publication_name));
	char	   *sql;

	st->proto_version = version >= 160000 ? 4 : version >= 150000 ? 3 :
		version >= 140000 ? 2 : 1;
	st->binary = all_binary_ok(st);
	st->repl->timeout_ms = sl_guc_query_timeout;
	sql = psprintf("START_REPLICATION SLOT %s LOGICAL %X/%X "
				   "(proto_version '%d', publication_names %s%s)",
				   sl_conn_ident(st->repl, st->s->slot_name),
				   LSN_FORMAT_ARGS(position), st->proto_version, names,
				   st->binary ? ", binary 'true'" : "");
	PG_TRY();
	{
		PQclear(sl_conn_query(st->repl, PGRES_COPY_BOTH, sql, 0, NULL));
	}
	PG_CATCH();
	{
		ErrorData  *edata;

		/* what was true of the slot a moment ago may have changed since */
		MemoryContextSwitchTo(st->cxt);
		edata = CopyErrorData();
		FlushErrorState();
		if (sl_classify_sqlstate(edata->sqlerrcode) == SL_CLASS_FATAL)
			sl_pg_check_slot(st, position);
		ReThrowError(edata);
	}
	PG_END_TRY();
}
