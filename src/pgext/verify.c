/*
 * verify.c
 *	  sluice.verify(): source and target compared at one position.
 *
 * NOTES
 *	  Course: lock the tables on the source; hold the stream; take a snapshot
 *	  of the source with a temporary slot, which says at what position it is;
 *	  let the stream run to that position; lock the tables here and take the
 *	  target's snapshot; let the stream go; compare.  The locks matter: TRUNCATE
 *	  and rewrites do not keep old snapshots whole.  The hold ends whatever
 *	  happens, also when the session is terminated.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_type.h"
#include "common/pg_prng.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "common/sl_pattern.h"
#include "pgext/errutil.h"
#include "pgext/source_mysql.h"
#include "pgext/source_pg.h"
#include "pgext/spi_util.h"
#include "pgext/verify.h"
#include "pgext/verify_request.h"
#include "pgext/pgcompat.h"

#define VERIFY_COLUMNS 8

PG_FUNCTION_INFO_V1(sluice_verify);

typedef struct Verify
{
	SlStream   *stream;
	SlSlot	   *slot;
	SlVerifyMode mode;
	SlVerifyTable *tables;
	int			ntables;
	SlConn	   *locks;			/* catalog and table locks of the source */
	SlConn	   *data;			/* transaction with the source's snapshot */
	Snapshot	snapshot;		/* the target's, registered */
	MemoryContext cxt;
} Verify;

static SlVerifyMode
verify_mode(const char *name)
{
	if (strcmp(name, "count") == 0)
		return SL_VERIFY_COUNT;
	if (strcmp(name, "checksum") == 0)
		return SL_VERIFY_CHECKSUM;
	if (strcmp(name, "sample") == 0)
		return SL_VERIFY_SAMPLE;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("unrecognized verify mode \"%s\"", name),
			 errhint("The modes are count, checksum and sample.")));
}

/* Who may, and when: membership in the owner's role, and a fresh snapshot. */
static void
verify_check_caller(const SlStream *s)
{
	if (!is_member_of_role(GetUserId(), s->owner))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied for stream \"%s\"", s->stream_id),
				 errhint("Only members of the role that owns the stream may verify it.")));
	if (s->source_server == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("stream \"%s\" has no source that could be compared",
						s->stream_id),
				 errhint("Compare the rows with a tool of the source's own.")));
	if (sl_driver_is_bridged(s->driver))
		return;
	if (IsolationUsesXactSnapshot())
		ereport(ERROR,
				(errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
				 errmsg("sluice.verify cannot run in a REPEATABLE READ or SERIALIZABLE transaction"),
				 errdetail("It needs a snapshot that is newer than the transaction's."),
				 errhint("Call it in a READ COMMITTED transaction.")));
}

/* Parsed patterns of the argument "tables"; NULL for every table. */
static SlPattern **
verify_patterns(ArrayType *arr, char ***texts, int *n)
{
	Datum	   *elems;
	bool	   *nulls;
	SlPattern **pats;

	deconstruct_array(arr, TEXTOID, -1, false, TYPALIGN_INT, &elems, &nulls, n);
	pats = palloc0(sizeof(SlPattern *) * (*n + 1));
	*texts = palloc0(sizeof(char *) * (*n + 1));
	for (int i = 0; i < *n; i++)
	{
		SlError		err;

		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("table pattern must not be null")));
		(*texts)[i] = TextDatumGetCString(elems[i]);
		pats[i] = sl_pattern_parse((*texts)[i], &err);
		if (pats[i] == NULL)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("invalid table pattern \"%s\": %s", (*texts)[i],
							err.detail)));
	}
	return pats;
}

static void
verify_take_table(Verify *v, const SlStreamTable *st)
{
	SlVerifyTable *t = &v->tables[v->ntables++];

	t->schema = st->schema;
	t->table = st->table;
	t->target = st->target_relid;
	if (strcmp(st->state, "established") != 0)
		t->skip = psprintf("the table is %s", st->state);
}

/* The stream's tables that the patterns take in, into v->tables. */
static void
verify_choose_tables(Verify *v, ArrayType *arr)
{
	SlStreamTable *all;
	int			nall = sl_stream_tables(v->stream->stream_id, &all);
	SlPattern **pats = NULL;
	char	  **texts = NULL;
	bool	   *used = NULL;
	int			npats = 0;

	if (arr != NULL)
	{
		pats = verify_patterns(arr, &texts, &npats);
		used = palloc0(npats + 1);
	}
	v->tables = palloc0(sizeof(SlVerifyTable) * (nall + 1));
	for (int i = 0; i < nall; i++)
	{
		bool		take = arr == NULL;

		for (int j = 0; j < npats; j++)
		{
			if (sl_pattern_match(pats[j], all[i].schema, all[i].table))
				take = used[j] = true;
		}
		if (take)
			verify_take_table(v, &all[i]);
	}
	for (int j = 0; j < npats; j++)
	{
		if (!used[j])
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_TABLE),
					 errmsg("table pattern \"%s\" matches no table of stream \"%s\"",
							texts[j], v->stream->stream_id),
					 errhint("The stream's tables are in sluice.tables.")));
	}
}

/* Connect for catalog and locks; the tables cannot be rewritten from here on. */
static void
verify_lock_source(Verify *v, const SlSource *src)
{
	v->locks = sl_conn_open(src, false, "the source's catalog", NULL, v->cxt);
	PQclear(sl_conn_query(v->locks, PGRES_COMMAND_OK, "BEGIN READ ONLY", 0, NULL));
	for (int i = 0; i < v->ntables; i++)
	{
		if (v->tables[i].skip == NULL)
			sl_verify_lock_source(v->locks, &v->tables[i]);
	}
}

/*
 * Take the source's snapshot; returns its position.  The temporary slot goes
 * with its connection as soon as the snapshot is in use.
 */
static XLogRecPtr
verify_source_snapshot(Verify *v, const SlSource *src)
{
	SlConn	   *repl = sl_conn_open(src, true, "the source", NULL, v->cxt);
	XLogRecPtr	lsn = InvalidXLogRecPtr;
	uint64		tag = pg_prng_uint64(&pg_global_prng_state);
	char	   *slot;
	char	   *snap;

	slot = psprintf("sluice_verify_%08x%08x", (uint32) (tag >> 32),
					(uint32) tag);
	snap = sl_pg_slot_create(repl, slot, true, false, &lsn);
	v->data = sl_conn_open(src, false, "the source", NULL, v->cxt);
	PQclear(sl_conn_query(v->data, PGRES_COMMAND_OK,
						  "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
						  0, NULL));
	PQclear(sl_conn_query(v->data, PGRES_COMMAND_OK,
						  psprintf("SET TRANSACTION SNAPSHOT %s",
								   sl_conn_literal(v->data, snap)),
						  0, NULL));
	sl_conn_close(repl);
	return lsn;
}

/* Lock the target's tables and their partitions, then look. */
static void
verify_target_snapshot(Verify *v)
{
	for (int i = 0; i < v->ntables; i++)
	{
		SlVerifyTable *t = &v->tables[i];

		if (t->skip != NULL)
			continue;
		LockRelationOid(t->target, AccessShareLock);
		if (!SearchSysCacheExists1(RELOID, ObjectIdGetDatum(t->target)))
			t->skip = pstrdup("the table does not exist on the target");
		else
			(void) find_all_inheritors(t->target, AccessShareLock, NULL);
	}
	v->snapshot = RegisterSnapshot(GetLatestSnapshot());
}

static void
verify_release(int code, Datum arg)
{
	sl_hold_release((SlSlot *) DatumGetPointer(arg));
	sl_verify_told((SlSlot *) DatumGetPointer(arg));
}

/* Both snapshots at one position; the stream is held in between. */
static void
verify_take_snapshots(Verify *v, const SlSource *src)
{
	const char *id = v->stream->stream_id;

	sl_verify_tell(v->slot, InvalidOid, 0);
	sl_hold_ask(v->slot, id);
	sl_hold_run_to(v->slot, id, verify_source_snapshot(v, src));
	verify_target_snapshot(v);
	sl_hold_release(v->slot);
}

/* Text forms on the target as conn.c pins them on the source. */
static void
pin_settings(void)
{
	static const char *const pins[][2] = {
		{"search_path", "pg_catalog, pg_temp"},
		{"TimeZone", "UTC"},
		{"DateStyle", "ISO"},
		{"IntervalStyle", "postgres"},
		{"extra_float_digits", "3"},
		{"bytea_output", "hex"},
		{"lc_monetary", "C"},
		{"xmloption", "content"},
		{"row_security", "off"},
	};

	for (int i = 0; i < lengthof(pins); i++)
		(void) set_config_option(pins[i][0], pins[i][1], PGC_USERSET,
								 PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
}

static void
verify_plan_tables(Verify *v)
{
	for (int i = 0; i < v->ntables; i++)
	{
		if (v->tables[i].skip == NULL)
			sl_verify_plan(v->locks, v->stream, &v->tables[i]);
	}
}

/*
 * Act as the owner of a table, as the stream's worker does: its partition
 * bounds may call its owner's functions.
 */
void
sl_verify_act(const SlStream *s, Oid relid, SlUserSwitch *sw)
{
	HeapTuple	tup = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	Oid			owner;

	if (!HeapTupleIsValid(tup))
		elog(ERROR, "cache lookup failed for relation %u", relid);
	owner = ((Form_pg_class) GETSTRUCT(tup))->relowner;
	ReleaseSysCache(tup);
	if (!sl_compat_can_set_role(s->owner, owner))
	{
		SlRefusal	r = {.marker = SL_M_TARGET_PERMISSION,
			.schema = get_namespace_name(get_rel_namespace(relid)),
		.table = get_rel_name(relid)};

		sl_refuse(&r, "the stream's owner may not SET ROLE to the owner of table \"%s.%s\"",
				  r.schema, r.table);
	}
	sl_become_role(owner, sw);
	pin_settings();
}

static void
verify_compare_tables(Verify *v)
{
	int64		rows = 0;

	PushActiveSnapshot(v->snapshot);
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	for (int i = 0; i < v->ntables; i++)
	{
		SlUserSwitch sw;

		CHECK_FOR_INTERRUPTS();
		if (v->tables[i].skip != NULL)
			continue;
		sl_verify_tell(v->slot, v->tables[i].target, rows);
		sl_verify_act(v->stream, v->tables[i].target, &sw);
		sl_verify_compare(v->data, v->stream, &v->tables[i], v->mode, v->cxt);
		sl_become_back(&sw);
		rows += v->tables[i].target_rows;
	}
	if (SPI_finish() != SPI_OK_FINISH)
		elog(ERROR, "SPI_finish failed");
	PopActiveSnapshot();
}

static void
verify_withdraw(int code, Datum arg)
{
	sl_request_withdraw((SlSlot *) DatumGetPointer(arg));
	sl_verify_told((SlSlot *) DatumGetPointer(arg));
}

/* A source that this server cannot read. */
static void
verify_by_bridge(Verify *v)
{
	sl_request_require_feeder(v->slot, v->stream->stream_id, SL_REQUEST_VERIFY);
	PG_ENSURE_ERROR_CLEANUP(verify_withdraw, PointerGetDatum(v->slot));
	{
		sl_verify_bridged(v->slot, v->stream->stream_id, v->mode, v->tables, v->ntables);
	}
	PG_END_ENSURE_ERROR_CLEANUP(verify_withdraw, PointerGetDatum(v->slot));
	verify_withdraw(0, PointerGetDatum(v->slot));
}

/* A PostgreSQL source. */
static void
verify_by_worker(Verify *v)
{
	SlSource   *src = sl_source_resolve(v->stream->source_server, v->stream->owner);

	sl_hold_require_streaming(v->slot, v->stream->stream_id);
	verify_lock_source(v, src);
	PG_ENSURE_ERROR_CLEANUP(verify_release, PointerGetDatum(v->slot));
	{
		verify_take_snapshots(v, src);
		verify_plan_tables(v);
		verify_compare_tables(v);
	}
	PG_END_ENSURE_ERROR_CLEANUP(verify_release, PointerGetDatum(v->slot));
	sl_verify_told(v->slot);
	UnregisterSnapshot(v->snapshot);
	sl_conn_close(v->data);
	sl_conn_close(v->locks);
}

/* "2 rows with other values, 1 row missing on the target"; NULL for nothing. */
static char *
verify_reason(const SlVerifyTable *t)
{
	const struct
	{
		int64		n;
		const char *what;
	}			parts[] = {
		{t->changed, "with other values"},
		{t->missing, "missing on the target"},
		{t->extra, "only on the target"},
		{t->misrouted, "in a partition that is not theirs"},
	};
	StringInfoData buf;

	initStringInfo(&buf);
	for (int i = 0; i < lengthof(parts); i++)
	{
		if (parts[i].n > 0)
			appendStringInfo(&buf, "%s" INT64_FORMAT " %s %s",
							 buf.len > 0 ? ", " : "", parts[i].n,
							 parts[i].n == 1 ? "row" : "rows", parts[i].what);
	}
	if (buf.len == 0 && t->source_rows != t->target_rows)
		appendStringInfoString(&buf, "the numbers of rows differ");
	return buf.len > 0 ? buf.data : NULL;
}

/* Keys as text[]; only the owner and superusers see them. */
static Datum
verify_samples(const Verify *v, const SlVerifyTable *t)
{
	Datum	   *elems = palloc(sizeof(Datum) * SL_VERIFY_KEYS);
	bool		show = has_privs_of_role(GetUserId(), v->stream->owner);

	for (int i = 0; i < t->nsamples; i++)
		elems[i] = CStringGetTextDatum(show ? t->samples[i] : "***");
	return PointerGetDatum(construct_array(elems, t->nsamples, TEXTOID, -1,
										   false, TYPALIGN_INT));
}

static void
verify_emit(const Verify *v, const SlVerifyTable *t, ReturnSetInfo *rsinfo)
{
	Datum		values[VERIFY_COLUMNS] = {0};
	bool		nulls[VERIFY_COLUMNS] = {0};
	char	   *reason = t->skip != NULL ? t->skip : verify_reason(t);
	int64		different = t->changed + t->missing + t->extra + t->misrouted;
	const char *status = "equal";

	if (t->skip != NULL)
		status = "skipped";
	else if (reason != NULL)
		status = "different";
	if (different == 0 && t->source_rows != t->target_rows)
		different = Max(t->source_rows, t->target_rows) -
			Min(t->source_rows, t->target_rows);
	values[0] = CStringGetTextDatum(t->schema);
	values[1] = CStringGetTextDatum(t->table);
	values[2] = CStringGetTextDatum(status);
	values[3] = Int64GetDatum(t->source_rows);
	values[4] = Int64GetDatum(t->target_rows);
	values[5] = Int64GetDatum(different);
	nulls[3] = nulls[4] = nulls[5] = t->skip != NULL;
	if (t->nsamples > 0)
		values[6] = verify_samples(v, t);
	else
		nulls[6] = true;
	if (reason != NULL)
		values[7] = CStringGetTextDatum(reason);
	else
		nulls[7] = true;
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

/*
 * sluice.verify(stream_id text, tables text[], mode text).  Raises 42501 for
 * who is no member of the owner, 55000 for a stream that does not stream,
 * 25001 in a transaction with a fixed snapshot, 55P03 when the stream does not
 * reach the position in time; the columns are those of the SQL surface.
 */
Datum
sluice_verify(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	Verify		v = {0};
	MemoryContext old;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(2))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("stream_id and mode must not be null")));
	sl_require_preload();
	InitMaterializedSRF(fcinfo, 0);
	v.cxt = AllocSetContextCreate(CurrentMemoryContext, "sluice verify",
								  ALLOCSET_DEFAULT_SIZES);
	old = MemoryContextSwitchTo(v.cxt);
	v.mode = verify_mode(text_to_cstring(PG_GETARG_TEXT_PP(2)));
	v.stream = sl_stream_load(text_to_cstring(PG_GETARG_TEXT_PP(0)), false);
	verify_check_caller(v.stream);
	verify_choose_tables(&v, PG_ARGISNULL(1) ? NULL : PG_GETARG_ARRAYTYPE_P(1));
	v.slot = sl_slot_find(MyDatabaseId, v.stream->stream_id, false);
	if (v.slot == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("stream \"%s\" is not running", v.stream->stream_id),
				 errhint("Start it with SELECT sluice.sync_start('%s').",
						 v.stream->stream_id)));
	if (sl_driver_is_bridged(v.stream->driver))
		verify_by_bridge(&v);
	else
		verify_by_worker(&v);
	for (int i = 0; i < v.ntables; i++)
		verify_emit(&v, &v.tables[i], rsinfo);
	MemoryContextSwitchTo(old);
	MemoryContextDelete(v.cxt);
	return (Datum) 0;
}

PG_FUNCTION_INFO_V1(sluice_verify_runtime);

/* (stream_id, pid, relid, phase, rows_done, started_at) of each verify. */
Datum
sluice_verify_runtime(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;

	InitMaterializedSRF(fcinfo, 0);
	for (int i = 0; i < sl_shmem_nslots(); i++)
	{
		SlSlot	   *slot = sl_shmem_slot(i);
		SlSlot		s;
		Datum		values[6];
		bool		nulls[6] = {0};

		SpinLockAcquire(&slot->mutex);
		memcpy(&s, slot, sizeof(s));
		SpinLockRelease(&slot->mutex);
		if (!s.in_use || s.dboid != MyDatabaseId || s.verify_pid == 0)
			continue;
		values[0] = CStringGetTextDatum(s.stream_id);
		values[1] = Int32GetDatum(s.verify_pid);
		values[2] = ObjectIdGetDatum(s.verify_relid);
		nulls[2] = !OidIsValid(s.verify_relid);
		values[3] = CStringGetTextDatum(nulls[2] ? "holding" : "verifying");
		values[4] = Int64GetDatum(s.verify_rows);
		values[5] = TimestampTzGetDatum(s.verify_since);
		tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	}
	return (Datum) 0;
}
