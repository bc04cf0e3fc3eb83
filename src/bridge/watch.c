/*
 * watch.c
 *	  Rows of the log whose foreign keys changed others without the log.
 *
 * Rule: MySQL manual "Replication and Foreign Keys": a rows event says whether
 * the server that wrote it did what foreign keys do as statements would.
 */
#include "bridge/watch.h"

/* See watch.h. */
bool
br_action_writes(const char *action)
{
	return action != NULL && (pg_strncasecmp(action, "CASCADE", 7) == 0 || pg_strncasecmp(action, "SET ", 4) == 0);
}

/* See watch.h. */
void
br_watch_add(BrWatch *w, const BrTable *child, const BrForeignKey *fk, bool on_delete, bool on_update)
{
	BrCascade  *c;

	w->cascades = w->cascades == NULL ? palloc(sizeof(BrCascade)) :
		repalloc(w->cascades, sizeof(BrCascade) * (w->n + 1));
	c = &w->cascades[w->n++];
	c->database = fk->ref_database;
	c->table = fk->ref_table;
	c->ncols = fk->ncols;
	c->columns = fk->ref_columns;
	c->child_database = child->database;
	c->child_table = child->name;
	c->name = fk->name;
	c->on_delete = on_delete;
	c->on_update = on_update;
}

/* Did the row's referenced columns change?  A log that does not name its columns does not tell. */
static bool
key_changed(const BrCascade *c, const BlTableMap *map, const BlCell *before, const BlCell *after)
{
	for (int i = 0; i < map->ncols; i++)
	{
		if (bl_same_cell(&before[i], &after[i]))
			continue;
		if (map->cols[i].name == NULL)
			return true;
		for (int k = 0; k < c->ncols; k++)
			if (pg_strcasecmp(map->cols[i].name, c->columns[k]) == 0)
				return true;
	}
	return false;
}

/* Does any row of the event change the referenced columns?  Rows that cannot be read may. */
static bool
keys_change(const BrCascade *c, const BlTableMap *map, const BlRows *rows)
{
	BlRows		copy = *rows;
	BlCell	   *before = palloc0(sizeof(BlCell) * Max(map->ncols, 1));
	BlCell	   *after = palloc0(sizeof(BlCell) * Max(map->ncols, 1));
	bool		change = false;
	SlError		err = {SL_ERR_NONE};

	while (!change && bl_rows_next(&copy, map, before, after, &err))
		change = key_changed(c, map, before, after);
	change = change || err.code != SL_ERR_NONE;
	pfree(before);
	pfree(after);
	return change;
}

/* See watch.h. */
const BrCascade *
br_watch_rows(const BrWatch *w, const BlTableMap *map, const BlRows *rows)
{
	if (w == NULL || rows->op == BL_ROWS_INSERT ||
		(rows->flags & (BL_ROWS_SQL_FOREIGN_KEYS | BL_ROWS_NO_FOREIGN_KEYS)) != 0)
		return NULL;
	for (int i = 0; i < w->n; i++)
	{
		const BrCascade *c = &w->cascades[i];

		if (strcmp(c->table, map->table) != 0 || strcmp(c->database, map->database) != 0)
			continue;
		if (rows->op == BL_ROWS_DELETE ? c->on_delete : c->on_update && keys_change(c, map, rows))
			return c;
	}
	return NULL;
}
