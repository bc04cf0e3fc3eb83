/*
 * follow_head.c
 *	  Layouts against the source's catalog, where both are as of one place.
 *
 * NOTES
 *	  What the catalog said holds as of the log's end behind its reading, unless
 *	  a statement names the table up to there.  A server may log a statement before others see what it did: a
 *	  table that differs is waited for, by the lock that such a statement holds,
 *	  and read again before the difference counts.
 */
#include "bridge/child.h"
#include "bridge/follow_layout.h"

#define MANY	8				/* tables of a database that are read together
								 * with all others of it */
#define EVERY	1000			/* milliseconds between two readings */

/* See follow_layout.h. */
void
br_head_due(BrFollowed *d, int i)
{
	BrTracked  *tr = &d->tables->tracked[i];

	if (!tr->look)
		d->nlook++;
	tr->look = true;
}

/* See follow_layout.h. */
void
br_head_changed(BrFollowed *d, int i)
{
	d->tables->tracked[i].read = false;
	d->tables->tracked[i].doubt = false;
	br_head_due(d, i);
}

/* See follow_layout.h.  The table is opened, not read. */
bool
br_head_settle(BrFollowed *d, int i, BrStop *stop)
{
	const BrTable *t = d->tables->layouts[i]->t;
	MxConn	   *c = br_followed_source(d, stop);
	StringInfoData sql;
	MxResult   *r;
	MxError		err;
	bool		ok;

	if (c == NULL)
		return false;
	initStringInfo(&sql);
	appendStringInfoString(&sql, "SELECT 1 FROM ");
	mx_append_table(&sql, t->database, t->name);
	appendStringInfoString(&sql, " LIMIT 0");
	r = mx_query(c, sql.data, &err);
	/* one that is not there is told by the catalog */
	ok = r != NULL || (err.number != 0 && !err.lost) || br_stop_source(stop, &err);
	mx_result_free(r);
	pfree(sql.data);
	return ok;
}

/* ---------- reading ---------- */

static int
count_due(const BrFollowed *d, const char *database)
{
	int			n = 0;

	for (int i = 0; i < d->tables->n; i++)
		n += d->tables->tracked[i].look && d->tables->layouts[i] != NULL &&
			strcmp(d->tables->layouts[i]->t->database, database) == 0;
	return n;
}

/* All that is due of the table's database, or the table alone. */
static bool
read_one(BrFollowed *d, int i, BrStop *stop)
{
	const char *database = d->tables->layouts[i]->t->database;
	bool		all = count_due(d, database) > MANY;
	const BrCatalog *cat;
	uint64		from;

	if (d->tables->tracked[i].doubt && !br_head_settle(d, i, stop))
		return false;
	if (!br_followed_read(d, database, all ? NULL : d->tables->layouts[i]->t->name, &cat, &from, &d->read_to, stop))
		return false;
	for (int k = i; k < d->tables->n; k++)
		if (d->tables->tracked[k].look && d->tables->layouts[k] != NULL &&
			(k == i || (all && !d->tables->tracked[k].doubt && strcmp(d->tables->layouts[k]->t->database, database) == 0)))
		{
			d->read[k] = cat;
			d->tables->tracked[k].read = true;
		}
	return true;
}

static bool
read_due(BrFollowed *d, BrStop *stop)
{
	if (br_now_ms() - d->looked < EVERY)
		return true;
	d->looked = br_now_ms();
	if (d->read == NULL)
		d->read = palloc0(sizeof(BrCatalog *) * Max(d->tables->n, 1));
	for (int i = 0; i < d->tables->n; i++)
		d->tables->tracked[i].read = false;
	for (int i = 0; i < d->tables->n; i++)
		if (d->tables->tracked[i].look && !d->tables->tracked[i].read && d->tables->layouts[i] != NULL &&
			!read_one(d, i, stop))
			return false;
	d->reading = true;
	return true;
}

/* ---------- comparing ---------- */

static bool
stop_at_difference(BrStop *stop, const BrTable *t, const char *what)
{
	br_stop(stop, "SLUICE-E-CDC-SCHEMA-REPLAY-MISMATCH", "table \"%s.%s\" is not what the statements of the source's log make of it: %s",
			t->database, t->name, what);
	br_stop_table(stop, t->database, t->name, NULL);
	br_stop_hint(stop, "A statement changed it without the log having it (sql_log_bin = 0). Call sync_start with restart_from_scratch => true, and "
				 "run statements that change tables with binary logging on.");
	return false;
}

static bool
compare(BrFollowed *d, int i, BrStop *stop)
{
	BrTracked  *tr = &d->tables->tracked[i];
	const BrLayout *l = d->tables->layouts[i];
	const BrTable *now = br_catalog_table(d->read[i], l->t->name);
	char	   *what = now != NULL ? br_layout_differs(l, now) : pstrdup("it is not there");

	tr->read = false;
	if (what == NULL)
	{
		tr->look = tr->doubt = false;
		d->nlook--;
		return true;
	}
	if (tr->doubt)
		return stop_at_difference(stop, l->t, what);
	tr->doubt = true;
	pfree(what);
	return true;
}

/* Layouts that the target has none of yet. */
static bool
put_first(BrFollowed *d, BrStop *stop)
{
	BrFlow	   *f = d->flow;
	uint64		here = br_flow_lsn(f);

	d->unput = 0;
	for (int i = 0; i < d->tables->n; i++)
	{
		const BrTracked *tr = &d->tables->tracked[i];

		if (tr->recorded || d->tables->layouts[i] == NULL)
			continue;
		if (here < tr->window)
		{
			d->unput++;
			continue;
		}
		if (!br_flow_seal(f) || !br_put_layout(d, f, i, NULL, here))
			return false;
		f->whole = f->out->len;
		f->commit = -1;
	}
	return true;
}

/* See follow_int.h. */
bool
br_followed_look(BrFollowed *d, BrStop *stop)
{
	if (d->unput > 0 && br_flow_is_between(d->flow) && !put_first(d, stop))
		return false;
	if (!br_sums_look(d, stop))
		return false;
	if (d->nlook == 0)
		return true;
	if (!d->reading)
		return read_due(d, stop);
	if (br_flow_lsn(d->flow) < d->read_to)
		return true;
	d->reading = false;
	for (int i = 0; i < d->tables->n; i++)
		if (d->tables->tracked[i].read && d->tables->layouts[i] != NULL && !compare(d, i, stop))
			return false;
	return true;
}
