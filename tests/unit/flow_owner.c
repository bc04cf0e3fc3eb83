/*
 * flow_owner.c
 *	  Half of a flow's owner: statements are put as they are.
 */
#include "flow_owner.h"

int			flow_statements;

/* See flow_owner.h. */
bool
flow_statement(void *arg, BrFlow *f, const BrStatement *st)
{
	SlRecord	rec = {.kind = SL_REC_DDL};

	flow_statements++;
	rec.u.message.transactional = true;
	rec.u.message.prefix = st->query->database;
	rec.u.message.len = (uint32) st->len;
	rec.u.message.data = st->text;
	return br_flow_begin(f, NULL) && br_flow_put(f, &rec);
}
