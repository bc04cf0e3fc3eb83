/*
 * api_preview.c
 *	  sluice.schema_preview: the plan of a cold start, as rows.
 */
#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

#include "pgext/plan.h"
#include "pgext/start_args.h"
#include "pgext/pgcompat.h"

PG_FUNCTION_INFO_V1(sluice_schema_preview);

static const char *
stage_name(int stage)
{
	switch (stage)
	{
		case SL_STAGE_BEFORE:
			return "before rows";
		case SL_STAGE_INDEX:
			return "index";
		case SL_STAGE_CONSTRAINT:
			return "constraint";
		case SL_STAGE_ATTACH:
			return "attach";
		case SL_STAGE_FOREIGN_KEY:
			return "foreign key";
		case SL_STAGE_VALIDATE:
			return "validate";
		default:
			return "last";
	}
}

static const char *
state_name(SlObjectState state)
{
	switch (state)
	{
		case SL_OBJECT_PLANNED:
			return "planned";
		case SL_OBJECT_EXISTS:
			return "existing";
		case SL_OBJECT_REFUSED:
			return "refused";
		default:
			return "not_carried";
	}
}

/* What there is to say: why it is refused comes first. */
static char *
note_of(const SlObject *o)
{
	StringInfoData buf;

	if (o->fault == NULL)
		return o->note;
	initStringInfo(&buf);
	appendStringInfoString(&buf, o->fault);
	if (o->fix)
		appendStringInfo(&buf, "; fix: %s;", o->fix);
	if (o->note)
		appendStringInfo(&buf, "; %s", o->note);
	return buf.data;
}

static void
put_row(ReturnSetInfo *rsinfo, int ordinal, const SlObject *o)
{
	char	   *note = note_of(o);
	Datum		values[8] = {0};
	bool		nulls[8] = {0};

	values[0] = Int32GetDatum(ordinal);
	values[1] = CStringGetTextDatum(stage_name(o->stage));
	values[2] = CStringGetTextDatum(sl_object_kind_name(o->kind));
	nulls[3] = o->schema == NULL;
	if (o->schema)
		values[3] = CStringGetTextDatum(o->schema);
	values[4] = CStringGetTextDatum(o->name);
	values[5] = CStringGetTextDatum(state_name(o->state));
	nulls[6] = o->ddl == NULL;
	if (o->ddl)
		values[6] = CStringGetTextDatum(o->ddl);
	nulls[7] = note == NULL;
	if (note)
		values[7] = CStringGetTextDatum(note);
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

/*
 * sluice.schema_preview(source, ...): every object that a cold start with
 * these arguments would make, find, refuse or leave, and the statement.
 * Nothing is created.  Raises what reaching the source raises.
 */
Datum
sluice_schema_preview(PG_FUNCTION_ARGS)
{
	SlStartArgs *a = sl_start_args_read(fcinfo, false);
	SlSource   *src;
	SlStream   *s = sl_start_look(a, &src);
	SlConn	   *c;
	SlSourceTable *tables;
	SlPlan	   *plan;
	int			n;

	sl_driver_require_postgres(s->driver, "sluice.schema_preview()");
	c = sl_conn_open(src, false, "the source's catalog", NULL, CurrentMemoryContext);
	PQclear(sl_conn_query(c, PGRES_COMMAND_OK,
						  "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY", 0, NULL));
	n = sl_pg_tables(c, s, &tables);
	plan = sl_plan_build(c, s, tables, n);
	sl_conn_close(c);
	InitMaterializedSRF(fcinfo, 0);
	for (int i = 0; i < plan->n; i++)
		put_row((ReturnSetInfo *) fcinfo->resultinfo, i + 1, &plan->objects[i]);
	return (Datum) 0;
}
