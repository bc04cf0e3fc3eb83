/*
 * plan_name.c
 *	  Names of relations, types and constraints: those that are taken, and those
 *	  that are made.
 *
 * NOTES
 *	  An index's name is its table's in MySQL and its schema's in PostgreSQL.
 */
#include "bridge/schema/plan_int.h"

#include "common/hashfn.h"

/* Where the name is or would be in the set. */
static uint32
place_of(const BrPlanBuild *b, const char *key)
{
	uint32		at = hash_bytes((const unsigned char *) key, (int) strlen(key)) & (b->room - 1);

	while (b->names[at] != NULL && strcmp(b->names[at], key) != 0)
		at = (at + 1) & (b->room - 1);
	return at;
}

/* Room for one name more, at most half of it taken. */
static void
make_room(BrPlanBuild *b)
{
	char	  **old = b->names;
	uint32		n = b->room;

	if (b->nnames < b->room / 2)
		return;
	b->room = Max(n * 2, 256);
	b->names = palloc0(b->room * sizeof(char *));
	for (uint32 i = 0; i < n; i++)
		if (old[i] != NULL)
			b->names[place_of(b, old[i])] = old[i];
	if (old != NULL)
		pfree(old);
}

/* See plan_int.h. */
bool
br_plan_claim(BrPlanBuild *b, const char *schema, const char *name)
{
	char	   *key = psprintf("%s\001%s", schema, name);
	uint32		at;

	make_room(b);
	at = place_of(b, key);
	if (b->names[at] != NULL)
		return false;
	b->names[at] = key;
	b->nnames++;
	return true;
}

/* See plan_int.h. */
char *
br_plan_index_name(BrPlanTable *p, const char *name)
{
	const char *table = p->t->name;
	size_t		len = strlen(table);
	char	   *full;

	if (strcmp(name, "PRIMARY") == 0)
		full = psprintf("%s_pkey", table);
	else if (strncmp(name, table, len) == 0 && name[len] == '_')
		full = pstrdup(name);
	else
		full = psprintf("%s_%s", table, name);
	if (strlen(full) <= BR_NAME_BYTES && br_plan_claim(p->b, p->schema, full))
		return full;
	full = br_hashed_name(full, psprintf("%s\001%s", table, name));
	(void) br_plan_claim(p->b, p->schema, full);
	return full;
}

/* See plan_int.h. */
char *
br_plan_constraint_name(BrPlanTable *p, const char *name)
{
	char	   *own = pstrdup(name);

	if (strlen(own) > BR_NAME_BYTES)
		own = br_hashed_name(own, name);
	for (int i = 0; i < p->nconstraints; i++)
		if (strcmp(p->constraints[i], own) == 0)
			own = br_hashed_name(own, psprintf("%s\001%d", name, i));
	p->constraints = p->constraints ?
		repalloc(p->constraints, (p->nconstraints + 1) * sizeof(char *)) : palloc(sizeof(char *));
	p->constraints[p->nconstraints++] = own;
	return own;
}
