/*
 * api_preview.c
 *	  sluice.schema_preview: the plan of a cold start, as rows.
 */
#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

#include "pgext/feed_plan.h"
#include "pgext/plan.h"
#include "pgext/source_mysql.h"
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

/* The plan as the source's catalog gives it now. */
static SlPlan *
plan_pg(SlStream *s, const SlSource *src)
{
	SlConn	   *c = sl_conn_open(src, false, "the source's catalog", NULL, CurrentMemoryContext);
	SlSourceTable *tables;
	SlPlan	   *plan;
	int			n;

	PQclear(sl_conn_query(c, PGRES_COMMAND_OK,
						  "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY", 0, NULL));
	n = sl_pg_tables(c, s, &tables);
	plan = sl_plan_build(c, s, tables, n);
	sl_conn_close(c);
	return plan;
}

/* The plan as a bridge makes it, held against what the target has. */
static SlPlan *
plan_bridged(SlStream *s, const SlSource *src)
{
	SlFeedPlan *p = sl_feed_plan_ask(s, src);

	sl_feed_objects_look(s, &p->plan, sl_feed_plan_tables(s, p), p->ntables);
	return &p->plan;
}

/*
 * sluice.schema_preview(source, ...): every object that a cold start with
 * these arguments would make, find, refuse or leave, and the statement.
 * Nothing is created.  Raises what reaching the source raises, or what asking a bridge does.
 */
Datum
sluice_schema_preview(PG_FUNCTION_ARGS)
{
	SlStartArgs *a = sl_start_args_read(fcinfo, false);
	SlSource   *src;
	SlStream   *s = sl_start_look(a, &src);
	SlPlan	   *plan = sl_driver_is_bridged(s->driver) ? plan_bridged(s, src) : plan_pg(s, src);

	InitMaterializedSRF(fcinfo, 0);
	for (int i = 0; i < plan->n; i++)
		put_row((ReturnSetInfo *) fcinfo->resultinfo, i + 1, &plan->objects[i]);
	return (Datum) 0;
}
