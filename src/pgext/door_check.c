/*
 * door_check.c
 *	  sluice.door_objects and sluice.door_check: the door's reading and its
 *	  comparison, for tests and support.
 */
#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/tuplestore.h"

#include "pgext/door_int.h"
#include "pgext/pgcompat.h"

PG_FUNCTION_INFO_V1(sluice_door_objects);
PG_FUNCTION_INFO_V1(sluice_door_check);

/* sluice.door_objects(regclass): the objects of a table here. */
Datum
sluice_door_objects(PG_FUNCTION_ARGS)
{
	Oid			relid = PG_GETARG_OID(0);
	SlDoorSet  *set = sl_door_read_here(&relid, 1);

	PG_RETURN_DATUM(DirectFunctionCall1(jsonb_in,
										CStringGetDatum(sl_door_set_to_json(set))));
}

static SlDoorSet *
arg_set(FunctionCallInfo fcinfo, int arg)
{
	Jsonb	   *j = PG_GETARG_JSONB_P(arg);

	return sl_door_set_from_json(JsonbToCString(NULL, &j->root, VARSIZE(j)));
}

static void
put(ReturnSetInfo *rsinfo, const SlDoorTable *t, const SlDoorFinding *f)
{
	char	   *statement = f->matches ? NULL : sl_door_statement(t, f);
	Datum		values[3] = {CStringGetTextDatum(sl_door_line(t, f)),
	BoolGetDatum(f->matches), 0};
	bool		nulls[3] = {false, false, statement == NULL};

	if (statement)
		values[2] = CStringGetTextDatum(statement);
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
}

/*
 * sluice.door_check(tbl, before, after, target): tbl stands for the table on
 * both sides.  A stream that has no columns to wait for, owes nothing and maps no
 * schema.
 */
Datum
sluice_door_check(PG_FUNCTION_ARGS)
{
	Oid			relid = PG_GETARG_OID(0);
	SlStream	s = {.stream_id = "", .owner = GetUserId()};
	SlDoorTable t = {.stream = &s, .target = relid};
	SlDoorResult *res;

	InitMaterializedSRF(fcinfo, 0);
	t.table = get_rel_name(relid);
	if (t.table == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("there is no table with oid %u", relid)));
	t.schema = get_namespace_name(get_rel_namespace(relid));
	s.options = DatumGetJsonbP(DirectFunctionCall1(jsonb_in, CStringGetDatum("{}")));
	res = sl_door_compare(&s, arg_set(fcinfo, 1), arg_set(fcinfo, 2), arg_set(fcinfo, 3),
						  NULL, NULL, false);
	for (int i = 0; i < res->n; i++)
		put((ReturnSetInfo *) fcinfo->resultinfo, &t, &res->findings[i]);
	return (Datum) 0;
}
