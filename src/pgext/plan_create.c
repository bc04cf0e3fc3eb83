/*
 * plan_create.c
 *	  Building what a plan has before any row, and the record of the plan.
 *
 * NOTES
 *	  A statement and its row in sluice.schema_object commit together, so that
 *	  whatever kills the run, the record says what there is.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "pgext/errutil.h"
#include "pgext/fault.h"
#include "pgext/gate.h"
#include "pgext/plan.h"
#include "pgext/spi_util.h"
#include "pgext/pgcompat.h"

/* Objects built in one transaction: it holds a lock on each. */
#define BATCH 200

/* Lines of a refusal's detail. */
#define MAX_FAULTS 100

#define RECORD_SQL \
	"INSERT INTO sluice.schema_object AS o (stream_id, kind, stage, schema_name, object_name, " \
	"  table_name, source_schema, source_table, state, ddl, note, after_window) " \
	"SELECT $1, k, g, s, n, t, ss, st, a, d, o, w = 't' FROM unnest($2::text[], $3::integer[], $4::text[], $5::text[], " \
	"  $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::text[]) " \
	"  AS u (k, g, s, n, t, ss, st, a, d, o, w) " \
	"ON CONFLICT (stream_id, kind, (COALESCE(schema_name, '')), (COALESCE(table_name, '')), " \
	"  object_name) DO UPDATE SET stage = EXCLUDED.stage, ddl = COALESCE(EXCLUDED.ddl, o.ddl), " \
	"  note = EXCLUDED.note, source_schema = EXCLUDED.source_schema, " \
	"  source_table = EXCLUDED.source_table, after_window = EXCLUDED.after_window, " \
	"  state = CASE WHEN EXCLUDED.state = 'existing' AND o.state = 'created' " \
	"    THEN 'created' ELSE EXCLUDED.state END"

#define FORGET_SQL \
	"DELETE FROM sluice.schema_object WHERE stream_id = $1 AND state <> 'created'"

enum
{
	F_KIND, F_STAGE, F_SCHEMA, F_NAME, F_TABLE, F_SRC_SCHEMA, F_SRC_TABLE,
	F_STATE, F_DDL, F_NOTE, F_AFTER_WINDOW, F_COUNT
};

static const char *
field_of(const SlObject *o, int f, const char *state)
{
	switch (f)
	{
		case F_KIND:
			return sl_object_kind_name(o->kind);
		case F_STAGE:
			return psprintf("%d", o->stage);
		case F_SCHEMA:
			return o->schema;
		case F_NAME:
			return o->name;
		case F_TABLE:
			return o->table;
		case F_SRC_SCHEMA:
			return o->src_schema;
		case F_SRC_TABLE:
			return o->src_table;
		case F_STATE:
			return state;
		case F_DDL:
			return o->ddl;
		case F_AFTER_WINDOW:
			return o->after_window ? "t" : "f";
		default:
			return o->note;
	}
}

static const char *
state_name(const SlObject *o)
{
	switch (o->state)
	{
		case SL_OBJECT_EXISTS:
			return "existing";
		case SL_OBJECT_NOT_CARRIED:
			return "not_carried";
		default:
			return "planned";
	}
}

/* One array of texts as a parameter. */
static Datum
text_array(SlObject *const *objects, int n, int f, const char *state)
{
	Datum	   *elems = palloc(sizeof(Datum) * n);
	bool	   *nulls = palloc(sizeof(bool) * n);
	int			dims[1] = {n};
	int			lbs[1] = {1};

	for (int i = 0; i < n; i++)
	{
		const char *text = field_of(objects[i], f, state ? state : state_name(objects[i]));

		nulls[i] = text == NULL;
		elems[i] = text ? CStringGetTextDatum(text) : (Datum) 0;
	}
	return PointerGetDatum(construct_md_array(elems, nulls, 1, dims, lbs, TEXTOID, -1,
											  false, TYPALIGN_INT));
}

/* See plan.h. */
void
sl_plan_record(const SlStream *s, SlObject *const *objects, int n, const char *state)
{
	Oid			types[F_COUNT + 1];
	Datum		values[F_COUNT + 1];
	SlUserSwitch user;
	int			rc;

	if (n == 0)
		return;
	types[0] = TEXTOID;
	values[0] = CStringGetTextDatum(s->stream_id);
	for (int f = 0; f < F_COUNT; f++)
	{
		types[f + 1] = TEXTARRAYOID;
		values[f + 1] = text_array(objects, n, f, state);
	}
	sl_become_extension_owner(&user);
	sl_spi_enter();
	rc = SPI_execute_with_args(RECORD_SQL, F_COUNT + 1, types, values, NULL, false, 0);
	if (rc != SPI_OK_INSERT)
		elog(ERROR, "recording the plan ended with %s", SPI_result_code_string(rc));
	sl_spi_leave();
	sl_become_back(&user);
}

static void
begin(MemoryContext cxt)
{
	StartTransactionCommand();
	MemoryContextSwitchTo(cxt);
}

static void
commit(MemoryContext cxt)
{
	CommitTransactionCommand();
	MemoryContextSwitchTo(cxt);
}

/* The whole plan as it is before anything is built. */
static void
record_plan(SlStream *s, SlPlan *plan, MemoryContext cxt)
{
	const char *params[1] = {s->stream_id};
	SlObject  **all = palloc(sizeof(SlObject *) * Max(plan->n, 1));
	SlUserSwitch user;

	for (int i = 0; i < plan->n; i++)
		all[i] = &plan->objects[i];
	begin(cxt);
	sl_become_extension_owner(&user);
	sl_spi_enter();
	sl_spi_exec(FORGET_SQL, SPI_OK_DELETE, 1, params);
	sl_spi_leave();
	sl_become_back(&user);
	sl_plan_record(s, all, plan->n, NULL);
	commit(cxt);
}

/* See plan.h. */
void
sl_plan_refuse_faults(const SlPlan *plan)
{
	SlRefusal	r = {.marker = SL_M_SCHEMA_NOT_CARRIED};
	StringInfoData lines;
	int			shown = 0;

	initStringInfo(&lines);
	for (int i = 0; i < plan->n; i++)
	{
		const SlObject *o = &plan->objects[i];

		if (o->state != SL_OBJECT_REFUSED)
			continue;
		if (shown++ == MAX_FAULTS)
			break;
		appendStringInfo(&lines, "%s%s %s: %s", lines.len ? "\n" : "",
						 sl_object_kind_name(o->kind),
						 quote_qualified_identifier(o->schema, o->name), o->fault);
		if (r.table == NULL && o->table)
		{
			r.schema = o->schema;
			r.table = o->table;
		}
		if (r.hint == NULL && o->fix)
			r.hint = psprintf("%s;", o->fix);
	}
	if (plan->nfaults > MAX_FAULTS)
		appendStringInfo(&lines, "\nand %d more", plan->nfaults - MAX_FAULTS);
	r.detail = lines.data;
	sl_refuse(&r, "%d objects of the source cannot be made on the target", plan->nfaults);
}

/* See plan.h. */
void
sl_plan_create(SlStream *s, SlPlan *plan)
{
	MemoryContext cxt = CurrentMemoryContext;
	SlObject   *batch[BATCH];
	int			n = 0;

	if (plan->nfaults > 0)
		sl_plan_refuse_faults(plan);
	record_plan(s, plan, cxt);
	for (int i = 0; i < plan->n; i++)
	{
		SlObject   *o = &plan->objects[i];

		if (o->stage != SL_STAGE_BEFORE || o->state != SL_OBJECT_PLANNED)
			continue;
		if (n == 0)
			begin(cxt);
		sl_ddl_run(s, InvalidOid, o->ddl);
		batch[n++] = o;
		if (n < BATCH)
			continue;
		sl_plan_record(s, batch, n, "created");
		commit(cxt);
		SL_FAULT("schema_mid");
		n = 0;
	}
	if (n > 0)
	{
		sl_plan_record(s, batch, n, "created");
		commit(cxt);
	}
	for (int i = 0; i < plan->n; i++)
		if (plan->objects[i].stage == SL_STAGE_BEFORE &&
			plan->objects[i].state == SL_OBJECT_PLANNED)
			plan->objects[i].state = SL_OBJECT_EXISTS;
	SL_FAULT("schema_done");
}
