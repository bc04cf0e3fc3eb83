/*
 * judge_retype.c
 *	  A changed type as a statement and, where that may not be all, a copy.
 *
 * NOTES
 *	  How the source's values were converted is not on the wire: the statement
 *	  may have had any USING.  Where the pair of types alone does not tell that
 *	  the values are the same, they are copied from the source by key.
 */
#include "postgres.h"

#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "pgext/column_ddl.h"
#include "pgext/judge_int.h"
#include "pgext/judge_source.h"
#include "pgext/judge_types.h"
#include "pgext/pgcompat.h"

/* The target's column as it is. */
typedef struct Present
{
	Oid			typid;
	int32		typmod;
	Oid			collation;
} Present;

static Present
present_type(const SlJudging *j, int16 attnum)
{
	Present		p;

	get_atttypetypmodcoll(j->target, attnum, &p.typid, &p.typmod, &p.collation);
	return p;
}

/* The type alone, as text for the target; NULL and a refusal if it has none. */
static SlColumnDdl *
type_ddl(SlJudging *j, const SlColumn *now)
{
	SlColumn	col = *now;
	SlColumnDdl *d;

	col.flags &= ~(SL_COL_DEFAULT | SL_COL_IDENTITY);
	col.dflt = NULL;
	d = sl_column_ddl(j->stream, &col);
	if (d->fault == NULL)
		return d;
	sl_judge_refuse(j, now, "column-type", d->fault, NULL);
	if (d->fix)
		sl_judge_hint(j, d->fix);
	return NULL;
}

/* See judge_int.h. */
void
sl_judge_remedy_type(SlJudging *j, const SlColumn *now, int16 attnum)
{
	Present		here = present_type(j, attnum);

	if (sl_type_converts(here.typid, here.typmod, now))
		sl_judge_remedy_on(j, attnum, psprintf("ALTER COLUMN %s TYPE %s", quote_identifier(now->name),
											   sl_column_type_text(now)));
	else
		sl_judge_prose(j, psprintf("Change the type of %s of target table %s to %s, with the USING that the source's statement had, and copy its values from the source by key.",
								   quote_identifier(now->name), sl_judge_target_name(j),
								   sl_column_type_text(now)));
}

static void
refuse_type(SlJudging *j, const SlColumn *now, int16 attnum, const char *why)
{
	sl_judge_refuse(j, now, "column-type", why, NULL);
	sl_judge_remedy_type(j, now, attnum);
}

/* Values can be copied by the primary key, and so not those of it. */
static bool
check_copy(SlJudging *j, const SlColumn *now, int16 attnum)
{
	if ((now->flags & SL_COL_PRIMARY) != 0)
		refuse_type(j, now, attnum, "how its values were converted is not known, and rows are found by them");
	else if ((now->flags & SL_COL_KEY) != 0 && j->after->replident != 'f')
		refuse_type(j, now, attnum, "how its values were converted is not known, and rows are found by them: it is part of the replica identity");
	else if (!j->asked->can_copy)
		refuse_type(j, now, attnum, "how its values were converted is not known, and the table has no primary key to copy them by");
	else
		return true;
	return false;
}

/* The column's type on the target, and its collation; NULL and a refusal if there is none. */
static char *
new_type(SlJudging *j, const SlColumn *now, int after, const char **collate)
{
	SlColumnDdl *d;

	*collate = "";
	if (now->typid == 0 && sl_source_is_enum(now->source_type))
		return sl_judge_enum_type(j, now, after);
	d = type_ddl(j, now);
	if (d)
		*collate = d->collate;
	return d ? d->type : NULL;
}

/* MySQL's booleans are numbers.  (Oids of a PostgreSQL source say nothing here.) */
static char *
using(const Present *here, const SlColumn *now, const char *name, const char *type)
{
	if (now->source_type && now->typid != 0 && sl_type_casts_by_int4(here->typid, now->typid))
		return psprintf(" USING %s::pg_catalog.int4::%s", name, type);
	return psprintf(" USING %s::%s", name, type);
}

/* See judge_int.h. */
void
sl_judge_retype(SlJudging *j, const SlOpen *o)
{
	const SlColumn *was = &j->before->cols[o->before];
	const SlColumn *now = &j->after->cols[o->after];
	const char *name = quote_identifier(now->name);
	Present		here = present_type(j, o->attnum);
	bool		wide = sl_type_holds(now, here.typid, here.typmod) &&
	!sl_judge_is_type(j, o->attnum, was);
	SlTypeChange verdict = sl_type_change(was, now, j->asked->rewrite);
	bool		copies = verdict == SL_TYPE_COPY;
	char	   *reason = sl_type_change_reason(verdict, was, now);
	const char *collate;
	char	   *type;
	bool		local;
	SlAction   *a;

	if (reason)
		refuse_type(j, now, o->attnum, reason);
	if (reason || (copies && !check_copy(j, now, o->attnum)) || (!copies && wide))
		return;
	type = new_type(j, now, o->after, &collate);
	if (type == NULL)
		return;
	/* a column that was made wider here keeps its type */
	if (wide)
		type = format_type_extended(here.typid, here.typmod,
									FORMAT_TYPE_TYPEMOD_GIVEN | FORMAT_TYPE_FORCE_QUALIFY);
	/* values that are copied need only get into it: no cast may stumble */
	a = sl_judge_action(j, SL_ACTION_ALTER_TYPE, sl_judge_home(j, o->attnum, &local),
						psprintf("ALTER COLUMN %s TYPE %s%s%s", name, type,
								 wide ? "" : collate, copies ? using(&here, now, name, type) : ""),
						now->name, o->after);
	a->copy_values = copies;
}
