/*
 * gate_check.c
 *	  sluice.gate_check: the gate as a function, for tests and support.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/varlena.h"

#include "pgext/gate_int.h"
#include "pgext/pgcompat.h"

PG_FUNCTION_INFO_V1(sluice_gate_check);

static const struct
{
	const char *name;
	NodeTag		tag;
}			statements[] = {
	{"index", T_IndexStmt},
	{"statistics", T_CreateStatsStmt},
	{"alter table", T_AlterTableStmt},
	{"policy", T_CreatePolicyStmt},
	{"table", T_CreateStmt},
	{"domain", T_CreateDomainStmt},
	{"alter domain", T_AlterDomainStmt},
	{"composite", T_CompositeTypeStmt},
};

/* One entry of the list: "r app.t". */
static void
allow(SlGate *g, char *entry)
{
	List	   *parts;

	if (strlen(entry) < 3 || strchr("trSc", entry[0]) == NULL || entry[1] != ' ' ||
		!SplitIdentifierString(entry + 2, '.', &parts) || list_length(parts) != 2)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid entry of the list of allowed names: \"%s\"", entry),
				 errhint("Write 't', 'r', 'S' or 'c', a space, and schema.name.")));
	sl_gate_allow(g, entry[0], linitial(parts), lsecond(parts));
}

static char *
run(SlGate *g, const char *kind, const char *text, char **fault)
{
	if (strcmp(kind, "expression") == 0)
		return sl_gate_expr(g, text, fault);
	if (strcmp(kind, "type") == 0)
		return sl_gate_type(g, text, fault);
	if (strcmp(kind, "bound") == 0)
		return sl_gate_bound(g, text, fault);
	for (int i = 0; i < lengthof(statements); i++)
		if (strcmp(kind, statements[i].name) == 0)
			return sl_gate_statement(g, statements[i].tag, text, fault);
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("unknown kind of text: \"%s\"", kind),
			 errhint("It is one of expression, type, bound, index, statistics, alter table, policy, table, domain, alter domain and composite.")));
	return NULL;				/* keep compiler quiet */
}

/*
 * sluice.gate_check(kind, txt, allowed, options): see sql/47_gate.sql.  Names
 * are judged for the caller, as if it owned the stream.
 */
Datum
sluice_gate_check(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *rsinfo = (ReturnSetInfo *) fcinfo->resultinfo;
	SlStream	s = {0};
	SlGate	   *g;
	Datum	   *entries;
	int			n;
	char	   *fault = NULL;
	char	   *result;
	Datum		values[2] = {0};
	bool		nulls[2];

	InitMaterializedSRF(fcinfo, 0);
	s.owner = GetUserId();
	s.options = PG_GETARG_JSONB_P(3);
	g = sl_gate_create(&s);
	deconstruct_array(PG_GETARG_ARRAYTYPE_P(2), TEXTOID, -1, false, TYPALIGN_INT,
					  &entries, NULL, &n);
	for (int i = 0; i < n; i++)
		allow(g, TextDatumGetCString(entries[i]));
	result = run(g, text_to_cstring(PG_GETARG_TEXT_PP(0)),
				 text_to_cstring(PG_GETARG_TEXT_PP(1)), &fault);
	nulls[0] = result == NULL;
	nulls[1] = fault == NULL;
	if (result)
		values[0] = CStringGetTextDatum(result);
	if (fault)
		values[1] = CStringGetTextDatum(fault);
	tuplestore_putvalues(rsinfo->setResult, rsinfo->setDesc, values, nulls);
	return (Datum) 0;
}
