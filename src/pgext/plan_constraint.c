/*
 * plan_constraint.c
 *	  Constraints that are no part of CREATE TABLE and no index: foreign keys,
 *	  and those that old rows need not fulfil.
 *
 * NOTES
 *	  A foreign key is added NOT VALID and validated by a statement of its own,
 *	  which takes no lock that stops writers.  A partitioned table takes only
 *	  the whole at once.
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_constraint.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "pgext/plan_int.h"
#include "pgext/pgcompat.h"

/* A recorded foreign key is gone when its other table was made again. */
static void
check_recorded(SlObject *o, const PlanRel *rel)
{
	Oid			nsp = get_namespace_oid(rel->tschema, true);
	Oid			relid = OidIsValid(nsp) ? get_relname_relid(rel->name, nsp) : InvalidOid;

	if (o->state == SL_OBJECT_EXISTS && OidIsValid(relid) &&
		!OidIsValid(get_relation_constraint_oid(relid, o->name, true)))
		o->state = SL_OBJECT_PLANNED;
}

/* What was validated before counts only for a key that is still there. */
static void
validation(PlanBuild *b, const PlanRel *rel, const PlanConstraint *con, bool again)
{
	SlObject   *o = sl_plan_add(b, SL_OBJ_VALIDATION, SL_STAGE_VALIDATE, rel,
								rel->tschema, con->name);

	if (again)
		o->state = SL_OBJECT_PLANNED;
	sl_plan_ddl(b, o, psprintf("ALTER TABLE ONLY %s VALIDATE CONSTRAINT %s",
							   sl_plan_relname(rel), quote_identifier(con->name)));
}

static void
foreign_key(PlanBuild *b, const PlanRel *rel, const PlanConstraint *con)
{
	bool		whole = rel->relkind == RELKIND_PARTITIONED_TABLE;
	bool		later = con->validated && con->enforced && !whole;
	SlObject   *o;

	if (OidIsValid(con->parent))
		return;
	if (sl_plan_oid_get(b->rel_by_oid, con->confrelid) == NULL)
	{
		sl_plan_left(b, SL_OBJ_FOREIGN_KEY, rel, rel->tschema, con->name,
					 psprintf("references %s, which is not part of the stream", con->confrel));
		return;
	}
	o = sl_plan_add(b, SL_OBJ_FOREIGN_KEY, SL_STAGE_FOREIGN_KEY, rel, rel->tschema, con->name);
	check_recorded(o, rel);
	if (!con->enforced && !SL_COMPAT_NOT_ENFORCED)
	{
		o->state = SL_OBJECT_NOT_CARRIED;
		sl_plan_note(o, "is not enforced on the source, which this server's release does not have");
		return;
	}
	sl_plan_ddl(b, o, sl_plan_statement(b, o, T_AlterTableStmt,
										psprintf("ALTER TABLE %s%s ADD CONSTRAINT %s %s%s",
												 whole ? "" : "ONLY ",
												 sl_plan_qualified(rel->schema, rel->name),
												 quote_identifier(con->name), con->def,
												 later ? " NOT VALID" : "")));
	if (later && o->state != SL_OBJECT_REFUSED)
		validation(b, rel, con, o->state == SL_OBJECT_PLANNED);
}

/* CHECK … NOT VALID: new rows must fulfil it, those copied need not. */
static void
unproven_check(PlanBuild *b, const PlanRel *rel, const PlanConstraint *con)
{
	SlObject   *o = sl_plan_add(b, SL_OBJ_CHECK, SL_STAGE_CONSTRAINT, rel,
								rel->tschema, con->name);

	sl_plan_ddl(b, o, sl_plan_statement(b, o, T_AlterTableStmt,
										psprintf("ALTER TABLE %s ADD CONSTRAINT %s %s",
												 sl_plan_qualified(rel->schema, rel->name),
												 quote_identifier(con->name), con->def)));
}

static void
unproven_not_null(PlanBuild *b, const PlanRel *rel, const PlanConstraint *con)
{
	SlObject   *o = sl_plan_add(b, SL_OBJ_CHECK, SL_STAGE_CONSTRAINT, rel,
								rel->tschema, con->name);

	if (!SL_COMPAT_NAMED_NOT_NULL)
	{
		o->state = SL_OBJECT_NOT_CARRIED;
		sl_plan_note(o, "is a NOT NULL constraint that is not valid, which this server's release does not have");
		return;
	}
	for (int i = 0; i < rel->ncols; i++)
		if (rel->cols[i].attnum == con->column)
			sl_plan_ddl(b, o, psprintf("ALTER TABLE %s ADD CONSTRAINT %s NOT NULL %s NOT VALID",
									   sl_plan_relname(rel), quote_identifier(con->name),
									   quote_identifier(rel->cols[i].name)));
}

void
sl_plan_constraints(PlanBuild *b)
{
	ListCell   *lc;
	ListCell   *c;

	foreach(lc, b->rels)
	{
		const PlanRel *rel = lfirst(lc);

		if (!rel->build || rel->relkind == 'f')
			continue;
		foreach(c, rel->constraints)
		{
			const PlanConstraint *con = lfirst(c);
			bool		unproven = con->islocal && !con->validated && con->enforced;

			if (con->type == 'f')
				foreign_key(b, rel, con);
			else if (con->type == 'c' && unproven)
				unproven_check(b, rel, con);
			else if (con->type == 'n' && unproven)
				unproven_not_null(b, rel, con);
		}
	}
}
