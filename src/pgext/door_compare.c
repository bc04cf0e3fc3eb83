/*
 * door_compare.c
 *	  What moved on a source table that pgoutput does not carry, and whether
 *	  the target has it too.
 *
 * NOTES
 *	  Objects are the same by oid (a column's by attnum), and where the oid is
 *	  new by definition: what was dropped and made again is no change, and a
 *	  constraint that has another name is renamed.  The target is asked by
 *	  definition, never by oid or name alone.
 *
 *	  The catalog tells of now, the stream may be behind.  A column that is not
 *	  yet what the catalog says (or not there) is not settled: what is on it
 *	  keeps its former record, and is judged when the stream gets there.
 */
#include "postgres.h"

#include "pgext/door_int.h"
#include "pgext/schema_diff.h"
#include "pgext/pgcompat.h"

typedef struct Compare
{
	const SlStream *s;
	const SlDoorSet *before;
	const SlDoorSet *now;
	const SlDoorSet *target;
	const SlShape *shape;
	const SlShape *former;		/* what the stream knew until now, or NULL */
	bool		owing;
	bool	   *paired;			/* of before's items: found again */
	SlDoorResult *res;
} Compare;

static bool
of_column(SlDoorKind kind)
{
	return (kind >= SL_DOOR_COLUMN && kind <= SL_DOOR_GENERATED) || kind == SL_DOOR_ON_UPDATE;
}

static const SlDoorItem *
find_id(const SlDoorSet *set, SlDoorKind kind, int64 id)
{
	for (int i = 0; i < set->n; i++)
		if (set->items[i].kind == kind && set->items[i].id == id)
			return &set->items[i];
	return NULL;
}

static const SlDoorItem *
find_name(const SlDoorSet *set, SlDoorKind kind, const char *name)
{
	for (int i = 0; i < set->n; i++)
		if (set->items[i].kind == kind && strcmp(set->items[i].name, name) == 0)
			return &set->items[i];
	return NULL;
}

/* ---------- columns ---------- */

/* raw is type/typmod and, of a generated column, the kind of generation. */
static bool
is_generated(const SlDoorItem *column)
{
	char		last = column->raw[0] ? column->raw[strlen(column->raw) - 1] : '0';

	return last < '0' || last > '9';
}

static const SlColumn *
shape_column(const SlShape *shape, const SlDoorItem *column)
{
	for (int i = 0; i < shape->ncols; i++)
	{
		const SlColumn *c = &shape->cols[i];

		if (c->attnum != 0 ? c->attnum == column->id : strcmp(c->name, column->name) == 0)
			return c;
	}
	return NULL;
}

/*
 * Is the column, as the catalog has it now, what the stream has reached?
 * Generated ones are not sent, so nothing can be behind.
 */
static bool
settled(const Compare *c, int64 attnum)
{
	const SlDoorItem *column = find_id(c->now, SL_DOOR_COLUMN, attnum);
	const SlColumn *col;

	if (column == NULL || c->shape == NULL || is_generated(column))
		return true;
	col = shape_column(c->shape, column);
	return col && strcmp(col->name, column->name) == 0 &&
		strcmp(psprintf("%u/%d", col->typid, col->typmod), column->raw) == 0;
}

static bool
gone(const Compare *c, int64 attnum)
{
	return find_id(c->now, SL_DOOR_COLUMN, attnum) == NULL;
}

static bool
fresh(const Compare *c, int64 attnum)
{
	return find_id(c->before, SL_DOOR_COLUMN, attnum) == NULL;
}

/*
 * Did the stream carry the column before this?  Then its attributes, of which
 * the catalog told nothing at that time, did not come with it.
 */
static bool
known(const Compare *c, int64 attnum)
{
	const SlDoorItem *column = find_id(c->now, SL_DOOR_COLUMN, attnum);

	return c->former != NULL && column != NULL && shape_column(c->former, column) != NULL;
}

static bool
retyped_column(const Compare *c, int64 attnum)
{
	const SlDoorItem *a = find_id(c->before, SL_DOOR_COLUMN, attnum);
	const SlDoorItem *b = find_id(c->now, SL_DOOR_COLUMN, attnum);

	return a && b && strcmp(a->raw, b->raw) != 0;
}

/* Does the test hold for one of the item's columns? */
static bool
any_key(const Compare *c, const SlDoorItem *item, bool (*test) (const Compare *, int64))
{
	if (of_column(item->kind))
		return test(c, item->id);
	for (int i = 0; i < item->nkeys; i++)
		if (item->keys[i] > 0 && test(c, item->keys[i]))
			return true;
	return false;
}

static bool
unsettled(const Compare *c, int64 attnum)
{
	return !settled(c, attnum);
}

/* ---------- definitions ---------- */

/* The part of pg_get_indexdef that is not a name. */
static const char *
index_core(const char *def)
{
	const char *p = strstr(def, " USING ");

	return p ? p : def;
}

/* Have the two the same definition, a source's and one of the target? */
static bool
same_def(const Compare *c, const SlDoorItem *source, const SlDoorItem *other)
{
	if (source->def == NULL || other->def == NULL)
		return false;
	if (source->kind == SL_DOOR_INDEX)
		return (strncmp(source->def, "CREATE UNIQUE", 13) == 0) ==
			(strncmp(other->def, "CREATE UNIQUE", 13) == 0) &&
			sl_schema_same(c->s, index_core(source->def), index_core(other->def));
	return sl_schema_same(c->s, source->def, other->def);
}

/* One on the target with this definition; of a column's, on that column. */
static const SlDoorItem *
on_target(const Compare *c, const SlDoorItem *item)
{
	/* a table has one number on both sides here: see sl_door_limit_parents */
	if (item->kind == SL_DOOR_INHERITS)
		return find_id(c->target, item->kind, item->id);
	for (int i = 0; i < c->target->n; i++)
	{
		const SlDoorItem *t = &c->target->items[i];

		if (t->kind == item->kind && same_def(c, item, t) &&
			(!of_column(item->kind) || strcmp(t->name, item->name) == 0))
			return t;
	}
	return NULL;
}

/* Has the source another that is just the same? */
static bool
still_on_source(const Compare *c, const SlDoorItem *item)
{
	for (int i = 0; i < c->now->n; i++)
		if (c->now->items[i].kind == item->kind && item->def && c->now->items[i].def &&
			strcmp(c->now->items[i].def, item->def) == 0)
			return true;
	return false;
}

/*
 * What the target has of something that the source has no more: under its
 * name, where no other object of the source has that now, or as it was.
 */
static const SlDoorItem *
left_on_target(const Compare *c, const SlDoorItem *item)
{
	const SlDoorItem *found;

	if (item->kind == SL_DOOR_INHERITS)
		return on_target(c, item);
	/* dropped and made again, it is another column's */
	if (item->kind == SL_DOOR_GENERATED && gone(c, item->id) &&
		find_name(c->now, item->kind, item->name) != NULL)
		return NULL;
	if (item->kind == SL_DOOR_ROW_SECURITY || item->kind == SL_DOOR_FORCED ||
		of_column(item->kind))
		return find_name(c->target, item->kind, item->name);
	found = still_on_source(c, item) ? NULL : on_target(c, item);
	if (found == NULL && find_name(c->now, item->kind, item->name) == NULL)
		found = find_name(c->target, item->kind, item->name);
	return found;
}

/* ---------- findings ---------- */

static void
keep(Compare *c, const SlDoorItem *item)
{
	c->res->next.items[c->res->next.n++] = *item;
}

/* Nothing of it is judged now. */
static void
defer(Compare *c, const SlDoorItem *before)
{
	c->res->deferred = true;
	if (before)
		keep(c, before);
}

static void
judge(const Compare *c, SlDoorFinding *f)
{
	const SlDoorItem *was = f->before ? left_on_target(c, f->before) : NULL;
	const SlDoorItem *has = f->after ? on_target(c, f->after) : NULL;

	f->target = was;
	switch (f->move)
	{
		case SL_DOOR_ADDED:
			f->matches = has != NULL;
			break;
		case SL_DOOR_DROPPED:
			f->matches = was == NULL;
			break;
		case SL_DOOR_RENAMED:
			f->matches = true;
			break;
		case SL_DOOR_CHANGED:
			f->matches = has != NULL &&
				(of_column(f->after->kind) || was == NULL || was == has);
			/* made again for a column's new type, and never on the target */
			if (has == NULL && was == NULL && any_key(c, f->after, retyped_column))
				f->matches = true;
			break;
	}
}

static void
find(Compare *c, SlDoorMove move, const SlDoorItem *before, const SlDoorItem *after)
{
	SlDoorFinding f = {.move = move, .before = before, .after = after};
	const SlDoorItem *item = after ? after : before;

	judge(c, &f);
	if (item->kind == SL_DOOR_GENERATED)
	{
		f.column = find_id(c->now, SL_DOOR_COLUMN, item->id);
		if (f.target == NULL && after)
			f.target = find_name(c->target, item->kind, item->name);
	}
	/* a debt sets these when it is paid */
	if (!f.matches && c->owing && after &&
		(item->kind == SL_DOOR_NOT_NULL || item->kind == SL_DOOR_DEFAULT))
	{
		defer(c, before);
		return;
	}
	if (after)
		keep(c, after);
	if (!f.matches && item->kind != SL_DOOR_INDEX)
		c->res->refuse = true;
	c->res->findings[c->res->n++] = f;
}

static bool
same_name(const SlDoorItem *a, const SlDoorItem *b)
{
	return strcmp(a->name, b->name) == 0;
}

/* The item's counterpart in before, or NULL: by id, by definition, by name. */
static const SlDoorItem *
counterpart(Compare *c, const SlDoorItem *item)
{
	const SlDoorItem *by_name = NULL;
	const SlDoorItem *found = NULL;

	for (int i = 0; i < c->before->n && found == NULL; i++)
	{
		const SlDoorItem *b = &c->before->items[i];

		if (b->kind != item->kind || c->paired[i])
			continue;
		if (item->kind == SL_DOOR_INDEX ? strcmp(b->raw, item->raw) == 0 : b->id == item->id)
			found = b;
		else if (of_column(item->kind) || item->kind == SL_DOOR_INHERITS ||
				 (b->id && find_id(c->now, b->kind, b->id)))
			continue;			/* another's */
		else if (b->def && item->def && strcmp(b->def, item->def) == 0)
			by_name = b;
		else if (by_name == NULL && item->kind != SL_DOOR_INDEX && same_name(b, item))
			by_name = b;
	}
	if (found == NULL)
		found = by_name;
	if (found)
		c->paired[found - c->before->items] = true;
	return found;
}

static bool
same_object(const SlDoorItem *a, const SlDoorItem *b)
{
	if (a->id == b->id && strcmp(a->raw, b->raw) == 0)
		return true;
	return a->def && b->def && strcmp(a->def, b->def) == 0;
}

/* An object that the source has now. */
static void
take(Compare *c, const SlDoorItem *item)
{
	const SlDoorItem *before = counterpart(c, item);

	if (any_key(c, item, unsettled))
		defer(c, before);
	else if (item->kind == SL_DOOR_COLUMN)
		keep(c, item);
	else if (before == NULL && of_column(item->kind) && item->kind != SL_DOOR_GENERATED &&
			 fresh(c, item->id) && !known(c, item->id))
		keep(c, item);			/* came with its column */
	else if (before == NULL)
		find(c, SL_DOOR_ADDED, NULL, item);
	else if (!same_object(before, item))
		find(c, SL_DOOR_CHANGED, before, item);
	else if (!of_column(item->kind) && item->kind != SL_DOOR_INDEX && !same_name(before, item))
		find(c, SL_DOOR_RENAMED, before, item);
	else
		keep(c, item);
}

/* An object that the source has no more. */
static void
miss(Compare *c, const SlDoorItem *before)
{
	if (before->kind == SL_DOOR_COLUMN)
		return;
	if (any_key(c, before, gone) && before->kind != SL_DOOR_GENERATED)
		return;					/* went with its column */
	if (any_key(c, before, unsettled))
		defer(c, before);
	else
		find(c, SL_DOOR_DROPPED, before, NULL);
}

SlDoorResult *
sl_door_compare(const SlStream *s, const SlDoorSet *before, const SlDoorSet *now,
				const SlDoorSet *target, const SlShape *shape,
				const SlShape *former, bool owing)
{
	Compare		c = {.s = s, .before = before, .now = now, .target = target,
	.shape = shape, .former = former, .owing = owing};
	int			most = before->n + now->n + 1;

	c.res = palloc0_object(SlDoorResult);
	c.res->findings = palloc0_array(SlDoorFinding, most);
	c.res->next.items = palloc0_array(SlDoorItem, most);
	c.paired = palloc0_array(bool, before->n + 1);
	for (int i = 0; i < now->n; i++)
		take(&c, &now->items[i]);
	for (int i = 0; i < before->n; i++)
		if (!c.paired[i])
			miss(&c, &before->items[i]);
	return c.res;
}
