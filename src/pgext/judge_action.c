/*
 * judge_action.c
 *	  What the source did and the target has not, as statements to be run.
 *
 * NOTES
 *	  Nothing here is taken on faith: an added column's values come from the
 *	  source's rows by key, whatever its default filled them with there, and the
 *	  default is carried only for rows to come.  What cannot be carried so
 *	  refuses, with the statement that would do it by hand.
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "catalog/pg_proc.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "common/sl_shape.h"
#include "pgext/column_ddl.h"
#include "pgext/judge_int.h"
#include "pgext/judge_source.h"
#include "pgext/judge_types.h"
#include "pgext/pgcompat.h"

/* See judge_int.h. */
SlAction *
sl_judge_action(SlJudging *j, SlActionKind kind, Oid table, const char *what,
				const char *column, int source_column)
{
	return sl_judge_run(j, kind, table,
						what ? psprintf("ALTER TABLE %s %s", sl_judge_table_name(table), what) : NULL,
						column, source_column);
}

/* See judge_int.h. */
SlAction *
sl_judge_run(SlJudging *j, SlActionKind kind, Oid table, const char *ddl, const char *column,
			 int source_column)
{
	SlAction   *a;

	/* an ENUM may get many labels at once */
	if (j->nactions % 16 == 0)
		j->actions = j->actions ? repalloc_array(j->actions, SlAction, j->nactions + 16) :
			palloc_array(SlAction, 16);
	a = &j->actions[j->nactions++];
	memset(a, 0, sizeof(*a));
	a->kind = kind;
	a->ddl = ddl ? pstrdup(ddl) : NULL;
	a->table = table;
	a->column = column ? pstrdup(column) : NULL;
	a->source_column = source_column;
	return a;
}

/* See judge_int.h. */
void
sl_judge_refuse(SlJudging *j, const SlColumn *now, const char *kind, const char *why,
				const char *by_hand)
{
	sl_judge_against(j, SL_M_SCHEMA_CHANGE_REFUSED, now->name);
	sl_judge_line(j, kind, now->name, why);
	if (by_hand)
		sl_judge_remedy(j, by_hand);
}

static bool
copies_volatile(const SlJudging *j)
{
	return strcmp(sl_stream_opt_text(j->stream, SL_O_VOLATILE_DEFAULTS), "copy") == 0;
}

/* An added column whose values are copied needs a key to copy them by. */
static bool
check_copy(SlJudging *j, const SlColumn *now, const char *bare)
{
	if (j->asked->can_copy)
		return true;
	sl_judge_refuse(j, now, "column-uncopied",
					"its values cannot be copied from the source: the table has no primary key to read them by",
					bare);
	return false;
}

/*
 * What would fill an added column's rows that are here already.  Returns false
 * when it may fill them with other values than the source's and nothing sets
 * that right; *later is then, if it is copied, what is left to do afterwards.
 */
static bool
judge_fill(SlJudging *j, const SlColumn *now, const SlColumnDdl *d, bool copies,
		   char **later)
{
	const char *name = quote_identifier(now->name);

	*later = NULL;
	if (d->volatility == 0 || d->volatility == PROVOLATILE_IMMUTABLE)
		return true;
	if (copies && copies_volatile(j))
	{
		if (d->then)
			*later = psprintf("ALTER TABLE %s ALTER COLUMN %s %s",
							  sl_judge_target_name(j), name, d->then);
		return true;
	}
	sl_judge_refuse(j, now, "column-default",
					psprintf("its %s is %s and would fill the target's rows with other values than the source's, which option volatile_defaults copies",
							 d->what, d->volatility == PROVOLATILE_STABLE ? "stable" : "volatile"),
					NULL);
	if (copies && j->asked->can_copy)
	{
		sl_judge_hint(j, psprintf("SELECT sluice.sync_start(%s, options => '{\"volatile_defaults\": \"copy\"}')",
								  quote_literal_cstr(j->stream->stream_id)));
		return false;
	}
	sl_judge_remedy(j, psprintf("ADD COLUMN %s %s%s%s", name, d->type, d->collate, d->bare));
	if (d->then)
		sl_judge_remedy(j, psprintf("ALTER COLUMN %s %s", name, d->then));
	return false;
}

static void
warn_bare(SlJudging *j, const SlColumn *now)
{
	sl_judge_warn(j, "column-not-filled", now->name,
				  "added without its values on the source (backfill_added_column is false)");
}

/*
 * The column without what its source's catalog no longer tells: a column that
 * was renamed, retyped or dropped since is made bare.
 */
static const SlColumn *
known(const SlColumn *col)
{
	SlColumn   *bare;

	if ((col->flags & SL_COL_PARTIAL) == 0)
		return col;
	bare = palloc(sizeof(SlColumn));
	*bare = *col;
	bare->flags &= SL_COL_KEY;
	bare->dflt = bare->collation = NULL;
	return bare;
}

/* A column of labels, whose type is to be made first; NULL = it is refused. */
static SlColumnDdl *
enum_ddl(SlJudging *j, const SlColumn *now, int after)
{
	SlColumnDdl *d;
	char	   *type = sl_judge_enum_type(j, now, after);

	if (type == NULL)
		return NULL;
	d = palloc0_object(SlColumnDdl);
	d->type = type;
	d->collate = d->bare = "";
	if ((now->flags & SL_COL_DEFAULT) == 0)
		return d;
	d->what = "default";
	d->volatility = PROVOLATILE_IMMUTABLE;
	d->dflt = sl_judge_enum_default(now);
	if (d->dflt == NULL)
		d->fault = "its default is none of its labels";
	return d;
}

/*
 * Does the target fill its rows with what the source's statement filled its own with?  A
 * default as of that statement, which is the same for every row, or NULL.
 */
static bool
fills_alike(const SlJudging *j, const SlColumn *now, const SlColumnDdl *d)
{
	if (!sl_judge_tells_columns(j) || (now->flags & SL_COL_IDENTITY) != 0)
		return false;
	if (d->dflt)
		return d->volatility == PROVOLATILE_IMMUTABLE;
	return d->volatility == 0 && (now->flags & (SL_COL_DEFAULT | SL_COL_NOT_NULL | SL_COL_PRIMARY)) == 0;
}

static void
forward_add(SlJudging *j, const SlOpen *o)
{
	const SlColumn *now = known(&j->after->cols[o->after]);
	bool		copies = sl_stream_opt_bool(j->stream, SL_O_BACKFILL_ADDED_COLUMN);
	bool		not_null = (now->flags & (SL_COL_NOT_NULL | SL_COL_PRIMARY)) != 0;
	bool		labels = now->typid == 0 && sl_source_is_enum(now->source_type);
	SlColumnDdl *d = labels ? enum_ddl(j, now, o->after) : sl_column_ddl(j->stream, now);
	SlAction   *a;
	bool		alike;
	char	   *what;
	char	   *later;

	if (d == NULL)
		return;
	if (d->fault)
	{
		sl_judge_refuse(j, now, "column-added", d->fault, NULL);
		if (d->fix)
			sl_judge_hint(j, d->fix);
		if ((d->type == NULL || judge_fill(j, now, d, copies, &later)) && d->fix == NULL)
			sl_judge_remedy(j, psprintf("ADD COLUMN %s %s", quote_identifier(now->name),
										sl_column_type_text(now)));
		return;
	}

	/*
	 * without a key to copy them by, the statement itself gives the values,
	 * where it can
	 */
	alike = copies && !j->asked->can_copy && fills_alike(j, now, d);
	copies = copies && !alike;
	what = psprintf("ADD COLUMN %s %s%s", quote_identifier(now->name), d->type, d->collate);
	if ((copies && !check_copy(j, now, what)) ||
		!judge_fill(j, now, d, copies, &later))
		return;
	if (later)
		what = psprintf("%s%s", what, d->bare);
	else if (d->dflt)
		what = psprintf("%s DEFAULT %s", what, d->dflt);
	if (not_null && !copies && d->dflt)
		what = psprintf("%s NOT NULL", what);
	a = sl_judge_action(j, SL_ACTION_ADD_COLUMN, j->target, what, now->name, o->after);
	a->copy_values = copies;
	a->set_not_null = copies && not_null;
	a->ask_not_null = copies && (j->after->cols[o->after].flags & SL_COL_PARTIAL) != 0;
	a->then_ddl = later;
	if (!copies && !alike)
		warn_bare(j, now);
}

static void
forward_rename(SlJudging *j, const SlOpen *o)
{
	const char *to = j->after->cols[o->after].name;

	bool		local;

	sl_judge_action(j, SL_ACTION_RENAME_COLUMN, sl_judge_home(j, o->attnum, &local),
					psprintf("RENAME COLUMN %s TO %s",
							 quote_identifier(sl_judge_target_column(j, o->attnum)),
							 quote_identifier(to)),
					to, o->after);
}

static void
forward_drop(SlJudging *j, const SlOpen *o)
{
	char	   *name = sl_judge_target_column(j, o->attnum);
	char	   *what = psprintf("DROP COLUMN %s", quote_identifier(name));
	bool		local;
	Oid			home = sl_judge_home(j, o->attnum, &local);

	sl_judge_action(j, SL_ACTION_DROP_COLUMN, home, what, name, -1);
	if (home != j->target && local)
		sl_judge_action(j, SL_ACTION_DROP_COLUMN, j->target, what, name, -1);
}

static void
forward_table(SlJudging *j, const SlOpen *o)
{
	char	   *schema = sl_stream_target_schema(j->stream, j->after->schema);
	Oid			nsp = get_namespace_oid(schema, true);
	SlAction   *a;

	if (!OidIsValid(nsp))
	{
		sl_judge_against(j, SL_M_SCHEMA_CHANGE_REFUSED, NULL);
		sl_judge_line(j, "schema-missing", NULL,
					  psprintf("the target has no schema %s", quote_identifier(schema)));
		sl_judge_hint(j, psprintf("CREATE SCHEMA %s", quote_identifier(schema)));
		return;
	}
	if (OidIsValid(get_relname_relid(j->after->name, nsp)))
	{
		sl_judge_against(j, SL_M_SCHEMA_CHANGE_REFUSED, NULL);
		sl_judge_line(j, "table-exists", NULL,
					  psprintf("the target has another relation %s",
							   quote_qualified_identifier(schema, j->after->name)));
		return;
	}
	if (o->kind == SL_OPEN_TABLE_SCHEMA)
	{
		sl_judge_action(j, SL_ACTION_SET_SCHEMA, j->target,
						psprintf("SET SCHEMA %s", quote_identifier(schema)), NULL, -1);
		return;
	}
	a = sl_judge_action(j, SL_ACTION_RENAME_TABLE, j->target, "", NULL, -1);
	/* it is in its new schema by then */
	a->ddl = psprintf("ALTER TABLE %s RENAME TO %s",
					  quote_qualified_identifier(schema, get_rel_name(j->target)),
					  quote_identifier(j->after->name));
}

/* See judge_int.h. */
bool
sl_judge_can_fill(const SlJudging *j, int after)
{
	uint8		flags = j->after->cols[after].flags;

	return j->forward && j->asked->can_copy && sl_judge_reads_source(j) &&
		(flags & SL_COL_PRIMARY) == 0 &&
		((flags & SL_COL_KEY) == 0 || j->after->replident == 'f');
}

/* See judge_int.h. */
void
sl_judge_fill(SlJudging *j, int after)
{
	if (!sl_judge_can_fill(j, after))
		return;
	if (j->fills == NULL)
		j->fills = palloc_array(int, j->after->ncols);
	j->fills[j->nfills++] = after;
}

/* See judge_int.h. */
void
sl_judge_fills(SlJudging *j)
{
	for (int i = 0; i < j->nfills; i++)
		sl_judge_action(j, SL_ACTION_FILL, j->target, NULL, j->after->cols[j->fills[i]].name,
						j->fills[i])->copy_values = true;
}

static void
forward_one(SlJudging *j, const SlOpen *o)
{
	switch (o->kind)
	{
		case SL_OPEN_ADD:
			forward_add(j, o);
			break;
		case SL_OPEN_DROP:
			forward_drop(j, o);
			break;
		case SL_OPEN_RENAME:
			forward_rename(j, o);
			break;
		case SL_OPEN_TYPE:
			sl_judge_retype(j, o);
			break;
		case SL_OPEN_LABELS:
			sl_judge_forward_labels(j, o);
			break;
		case SL_OPEN_TABLE_NAME:
		case SL_OPEN_TABLE_SCHEMA:
			forward_table(j, o);
			break;
		case SL_OPEN_NULL:
		case SL_OPEN_DEFAULT:
			break;
	}
}

/* See judge_int.h. */
void
sl_judge_forward(SlJudging *j)
{
	/* what follows speaks of the column by its new name */
	for (int i = 0; i < j->nopen; i++)
		if (j->open[i].kind == SL_OPEN_RENAME)
			forward_one(j, &j->open[i]);
	for (int i = 0; i < j->nopen; i++)
		sl_judge_forward_before(j, &j->open[i]);
	for (int i = 0; i < j->nopen; i++)
		if (j->open[i].kind != SL_OPEN_RENAME)
			forward_one(j, &j->open[i]);
	for (int i = 0; i < j->nopen; i++)
		sl_judge_forward_after(j, &j->open[i]);
}
