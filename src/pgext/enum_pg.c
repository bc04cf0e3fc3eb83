/*
 * enum_pg.c
 *	  Labels of an enum that the source added or renamed.
 *
 * NOTES
 *	  Labels are told apart by the oids of their rows of pg_enum.  A new one is
 *	  made on the target at its place and commits before the row that has it,
 *	  which it may have to be read twice for (worker_end.c).
 */
#include "postgres.h"

#include "utils/builtins.h"

#include "pgext/judge_source.h"
#include "pgext/types_int.h"
#include "pgext/pgcompat.h"

typedef struct Label
{
	Oid			oid;
	char	   *name;
} Label;

/* What happens to one enum. */
typedef struct EnumCase
{
	SlPgLook   *look;
	SlTypeNow  *n;
	List	   *now;			/* of Label *, in order */
	List	   *was;
	List	   *target;			/* of char * */
	bool		waiting;		/* something is left for a later look */
	bool		ran;			/* statements were run */
} EnumCase;

/* One line a label: oid, name; line ends and backslashes of it escaped. */
static List *
parse(const char *text)
{
	List	   *labels = NIL;

	while (*text)
	{
		Label	   *l = palloc0(sizeof(Label));
		StringInfoData name;
		char	   *p;

		l->oid = (Oid) strtoul(text, &p, 10);
		initStringInfo(&name);
		for (text = p + 1; *text && *text != '\n'; text++)
		{
			if (*text == '\\')
				text++;
			appendStringInfoChar(&name, *text == 'n' && text[-1] == '\\' ? '\n' : *text);
		}
		text += *text == '\n';
		l->name = name.data;
		labels = lappend(labels, l);
	}
	return labels;
}

static void
append_label(StringInfo buf, Oid oid, const char *name)
{
	appendStringInfo(buf, "%s%u ", buf->len ? "\n" : "", oid);
	for (const char *p = name; *p; p++)
	{
		if (*p == '\\' || *p == '\n')
			appendStringInfoChar(buf, '\\');
		appendStringInfoChar(buf, *p == '\n' ? 'n' : *p);
	}
}

static int
place_of(const List *labels, Oid oid)
{
	for (int i = 0; i < list_length(labels); i++)
		if (((const Label *) list_nth(labels, i))->oid == oid)
			return i;
	return -1;
}

static const Label *
of_oid(const List *labels, Oid oid)
{
	int			i = place_of(labels, oid);

	return labels == NIL || i < 0 ? NULL : list_nth(labels, i);
}

static char *
quoted(const char *name)
{
	return quote_literal_cstr(name);
}

static void
run(EnumCase *c, const char *ddl)
{
	sl_pg_alter_type(c->look, c->n, ddl);
	c->ran = true;
}

/* A label that is gone, or labels in another order: no ALTER TYPE does that. */
static const char *
impossible(const EnumCase *c)
{
	const ListCell *lc;
	int			last = -1;

	foreach(lc, c->was)
		if (of_oid(c->now, ((const Label *) lfirst(lc))->oid) == NULL)
		return sl_pg_type_line(c->n, "enum-label-removed",
							   quoted(((const Label *) lfirst(lc))->name));
	foreach(lc, c->now)
	{
		const Label *l = lfirst(lc);
		int			at = place_of(c->was, l->oid);

		if (at < 0)
			continue;
		if (at < last)
			return sl_pg_type_line(c->n, "enum-reordered", quoted(l->name));
		last = at;
	}
	return NULL;
}

static bool
same_labels(const EnumCase *c)
{
	if (list_length(c->now) != list_length(c->target))
		return false;
	for (int i = 0; i < list_length(c->now); i++)
		if (strcmp(((const Label *) list_nth(c->now, i))->name, list_nth(c->target, i)) != 0)
			return false;
	return true;
}

/*
 * A name that another label had.  Rows with it that came since may have the
 * wrong one here, because only the name is sent: not to be put right by
 * renaming.  Made on the target by hand it passes.
 */
static const char *
reused(const EnumCase *c)
{
	const ListCell *lc;

	foreach(lc, c->now)
	{
		const Label *now = lfirst(lc);
		const ListCell *w;

		foreach(w, c->was)
		{
			const Label *was = lfirst(w);

			if (was->oid != now->oid && strcmp(was->name, now->name) == 0)
				return same_labels(c) ? NULL :
					sl_pg_type_line(c->n, "enum-label-reused",
									psprintf("%s was the name of another label", quoted(now->name)));
		}
	}
	return NULL;
}

/*
 * The type of the name was made again.  Values that the target has must mean
 * the same: its labels in their order are among the source's.
 */
static const char *
made_again(const EnumCase *c)
{
	const ListCell *lc;
	int			found = 0;

	if (c->n->was != NULL || c->n->former == NULL)
		return NULL;
	foreach(lc, c->now)
		if (found < list_length(c->target) &&
			strcmp(list_nth(c->target, found), ((const Label *) lfirst(lc))->name) == 0)
		found++;
	return found == list_length(c->target) ? NULL :
		sl_pg_type_line(c->n, "type-recreated",
						psprintf("label %s of the target is not among its labels, or in another place",
								 quoted(list_nth(c->target, found))));
}

/* Give the target's label its new name, in c->target too. */
static void
rename_label(EnumCase *c, const char *ddl, const char *from, const char *to)
{
	ListCell   *lc;

	run(c, ddl);
	foreach(lc, c->target)
		if (strcmp(lfirst(lc), from) == 0)
		lfirst(lc) = pstrdup(to);
}

static void
judge_renamed(EnumCase *c, const Label *was, const Label *now)
{
	char	   *ddl = psprintf("ALTER TYPE %s RENAME VALUE %s TO %s",
							   format_type_be_qualified(c->n->t.target), quoted(was->name),
							   quoted(now->name));
	bool		old_there = sl_label_in(c->target, was->name);
	bool		new_there = sl_label_in(c->target, now->name);
	char	   *line;

	if (strcmp(was->name, now->name) == 0 || (new_there && !old_there))
		return;
	line = sl_pg_type_line(c->n, "enum-label-renamed",
						   psprintf("%s -> %s", quoted(was->name), quoted(now->name)));
	if (!sl_pg_look_found(c->look, line))
	{
		c->waiting = true;
		return;
	}
	if (!sl_pg_forwards(c->look) || new_there || !old_there)
		sl_pg_refuse_type(c->n, SL_M_SCHEMA_CHANGE_REFUSED, line, ddl);
	rename_label(c, ddl, was->name, now->name);
}

static void
judge_renames(EnumCase *c)
{
	const ListCell *lc;

	foreach(lc, c->now)
	{
		const Label *was = of_oid(c->was, ((const Label *) lfirst(lc))->oid);

		if (was != NULL)
			judge_renamed(c, was, lfirst(lc));
	}
}

/* What the target calls it, NULL when it does not have it. */
static const char *
name_there(const EnumCase *c, const Label *l)
{
	const Label *was = of_oid(c->was, l->oid);

	if (sl_label_in(c->target, l->name))
		return l->name;
	return was && sl_label_in(c->target, was->name) ? was->name : NULL;
}

/* "ADD VALUE 'x' AFTER 'y'" */
static char *
add_ddl(const EnumCase *c, int at)
{
	const Label *l = list_nth(c->now, at);
	const char *type = format_type_be_qualified(c->n->t.target);

	if (at > 0 && name_there(c, list_nth(c->now, at - 1)))
		return psprintf("ALTER TYPE %s ADD VALUE %s AFTER %s", type, quoted(l->name),
						quoted(name_there(c, list_nth(c->now, at - 1))));
	for (int i = at + 1; i < list_length(c->now); i++)
		if (name_there(c, list_nth(c->now, i)))
			return psprintf("ALTER TYPE %s ADD VALUE %s BEFORE %s", type, quoted(l->name),
							quoted(name_there(c, list_nth(c->now, i))));
	return psprintf("ALTER TYPE %s ADD VALUE %s", type, quoted(l->name));
}

static void
judge_added(EnumCase *c)
{
	for (int i = 0; i < list_length(c->now); i++)
	{
		const Label *l = list_nth(c->now, i);
		char	   *ddl;
		char	   *line;

		if (name_there(c, l))
			continue;
		ddl = add_ddl(c, i);
		if (sl_pg_forwards(c->look))
		{
			run(c, ddl);
			c->target = lappend(c->target, pstrdup(l->name));
			continue;
		}
		line = sl_pg_type_line(c->n, "enum-label-added", quoted(l->name));
		if (sl_pg_look_found(c->look, line))
			sl_pg_refuse_type(c->n, SL_M_SCHEMA_CHANGE_REFUSED, line, ddl);
		c->waiting = true;
	}
}

/* The labels of now; those whose new names wait with their old ones. */
static char *
settled(const EnumCase *c)
{
	StringInfoData buf;
	const ListCell *lc;

	initStringInfo(&buf);
	foreach(lc, c->now)
	{
		const Label *l = lfirst(lc);
		const char *there = name_there(c, l);

		if (there)
			append_label(&buf, l->oid, there);
	}
	return buf.data;
}

/* See types_int.h. */
void
sl_pg_judge_enum(SlPgLook *look, SlTypeNow *n)
{
	EnumCase	c = {.look = look, .n = n, .now = parse(n->t.definition)};
	const char *line;

	if (n->was)
		c.was = parse(n->was->definition);
	c.target = sl_enum_labels(n->t.target);
	line = impossible(&c);
	if (line == NULL)
		line = made_again(&c);
	if (reused(&c) != NULL)
		sl_pg_refuse_type(n, SL_M_SCHEMA_CHANGE_REFUSED, reused(&c), NULL);
	if (line != NULL)
	{
		if (sl_pg_look_found(look, line))
			sl_pg_refuse_type(n, SL_M_SCHEMA_CHANGE_REFUSED, line, NULL);
		return;
	}
	judge_renames(&c);
	judge_added(&c);
	if (n->was != NULL && !c.ran && !c.waiting)
		sl_schema_event(look->st->s->stream_id, n->t.schema, n->t.name,
						look->st->fb.received, NULL, "passed", NULL, SL_M_NONE);
	if (n->was != NULL || !c.waiting)
		sl_pg_put_type(look, n, settled(&c));
}
