/*
 * flow_owner.h
 *	  Half of a flow's owner: statements are put as they are.
 */
#ifndef FLOW_OWNER_H
#define FLOW_OWNER_H

#include "bridge/follow_int.h"

extern int	flow_statements;	/* counted */

extern bool flow_statement(void *arg, BrFlow *f, const BrStatement *st);

#endif							/* FLOW_OWNER_H */
