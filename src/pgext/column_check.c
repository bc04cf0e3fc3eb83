/*
 * column_check.c
 *	  sluice.column_check: what a forwarded column becomes, for tests and
 *	  support.
 */
#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"

#include "pgext/column_ddl.h"
#include "pgext/pgcompat.h"

PG_FUNCTION_INFO_V1(sluice_column_check);

static char *
text_arg(FunctionCallInfo fcinfo, int n)
{
	return PG_ARGISNULL(n) ? NULL : text_to_cstring(PG_GETARG_TEXT_PP(n));
}

/*
 * sluice.column_check(type, dflt, coll, identity, options): see
 * sql/47_gate.sql.  Names are judged for the caller, as if it owned the stream.
 */
Datum
sluice_column_check(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	SlStream	s = {0};
	SlColumn	col = {.name = "c", .typmod = -1};
	SlColumnDdl *d;
	char		volatility[2] = "";
	const char *fields[8];
	Datum		values[8] = {0};
	bool		nulls[8];

	InitMaterializedSRF(fcinfo, 0);
	s.owner = GetUserId();
	s.options = PG_ARGISNULL(4) ? NULL : PG_GETARG_JSONB_P(4);
	col.type_name = text_arg(fcinfo, 0);
	col.dflt = text_arg(fcinfo, 1);
	col.collation = text_arg(fcinfo, 2);
	if (col.dflt)
		col.flags |= SL_COL_DEFAULT;
	if (!PG_ARGISNULL(3) && PG_GETARG_BOOL(3))
		col.flags |= SL_COL_IDENTITY;
	d = sl_column_ddl(&s, &col);
	volatility[0] = d->volatility;
	fields[0] = d->type;
	fields[1] = d->collate;
	fields[2] = d->dflt;
	fields[3] = d->volatility ? volatility : NULL;
	fields[4] = d->bare;
	fields[5] = d->then;
	fields[6] = d->fault;
	fields[7] = d->fix;
	for (int i = 0; i < lengthof(fields); i++)
	{
		nulls[i] = fields[i] == NULL;
		if (fields[i])
			values[i] = CStringGetTextDatum(fields[i]);
	}
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	return (Datum) 0;
}
