/*
 * coldstart_rows.c
 *	  Rows that a target table has before its copy, and emptying it.
 */
#include "postgres.h"

#include "access/table.h"
#include "catalog/heap.h"
#include "catalog/pg_class.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "pgext/coldstart_int.h"
#include "pgext/errutil.h"
#include "pgext/spi_util.h"
#include "pgext/pgcompat.h"

static char *
target_name(Oid relid)
{
	return quote_qualified_identifier(get_namespace_name(get_rel_namespace(relid)),
									  get_rel_name(relid));
}

static Oid
owner_of(Oid relid)
{
	Relation	rel = table_open(relid, AccessShareLock);
	Oid			owner = rel->rd_rel->relowner;

	table_close(rel, NoLock);
	return owner;
}

static void
run_as(Oid role, const char *sql)
{
	SlUserSwitch user;

	sl_become_role(role, &user);
	sl_spi_enter();
	sl_spi_exec(sql, SPI_OK_UTILITY, 0, NULL);
	sl_spi_leave();
	sl_become_back(&user);
}

/* See coldstart_int.h. */
void
sl_cold_drop_relation(Oid target)
{
	if (get_rel_name(target) != NULL)
		run_as(owner_of(target), psprintf("DROP TABLE %s RESTRICT", target_name(target)));
}

static bool
has_rows(Oid target)
{
	SlUserSwitch user;
	bool		found;

	sl_become_role(owner_of(target), &user);
	sl_spi_enter();
	found = sl_spi_exec(psprintf("SELECT 1 FROM %s%s LIMIT 1",
								 get_rel_relkind(target) == RELKIND_RELATION ? "ONLY " : "",
								 target_name(target)),
						SPI_OK_SELECT, 0, NULL) > 0;
	sl_spi_leave();
	sl_become_back(&user);
	return found;
}

/* See coldstart_int.h. */
void
sl_cold_judge_filled(SlStream *s, SlColdTable *tables, int n)
{
	char	   *mode = sl_stream_opt_text(s, SL_O_EXISTING_ROWS);

	for (int i = 0; i < n; i++)
	{
		SlColdTable *t = &tables[i];
		bool		ours = t->created || strcmp(t->state, "pending") != 0;

		if (sl_cold_done(t))
			continue;
		t->filled = has_rows(t->target);
		if (ours || !t->filled)
			continue;
		if (strcmp(mode, "refuse") == 0)
		{
			SlRefusal	r = {.marker = SL_M_PREFLIGHT_FAILED, .schema = t->src.schema,
				.table = t->src.name,
			.hint = "Empty the table, or pass options {\"existing_rows\": \"truncate\"}."};

			sl_refuse(&r, "target table of \"%s.%s\" has rows before the copy",
					  t->src.schema, t->src.name);
		}
		t->adopt = strcmp(mode, "adopt") == 0;
	}
}

/* ONLY where children have rows of their own. */
static char *
only_name(Oid target)
{
	return psprintf("%s%s", get_rel_relkind(target) == RELKIND_RELATION ? "ONLY " : "",
					target_name(target));
}

static void
delete_rows(Oid target)
{
	SlUserSwitch user;

	sl_become_role(owner_of(target), &user);
	sl_spi_enter();
	sl_spi_exec(psprintf("DELETE FROM %s", only_name(target)), SPI_OK_DELETE, 0, NULL);
	sl_spi_leave();
	sl_become_back(&user);
}

/* One TRUNCATE for all tables of one owner, so that foreign keys allow it. */
static void
truncate_owned(SlColdTable *tables, int n, bool *todo, Oid owner)
{
	StringInfoData sql;

	initStringInfo(&sql);
	for (int i = 0; i < n; i++)
	{
		SlColdTable *t = &tables[i];

		if (!todo[i] || owner_of(t->target) != owner)
			continue;
		appendStringInfo(&sql, "%s%s", sql.len ? ", " : "TRUNCATE TABLE ",
						 only_name(t->target));
		todo[i] = false;
	}
	run_as(owner, sql.data);
}

/*
 * Take in the tables that are to be emptied anyway and reference one of todo.
 * False when others reference one, or the tables have several owners.
 */
static bool
truncate_together(SlColdTable *tables, int n, bool *todo)
{
	List	   *relids = NIL;
	Oid			owner = InvalidOid;
	bool		one_owner = true;
	bool		more;

	do
	{
		List	   *refs;

		more = false;
		list_free(relids);
		relids = NIL;
		for (int i = 0; i < n; i++)
			if (todo[i])
				relids = lappend_oid(relids, tables[i].target);
		refs = heap_truncate_find_FKs(relids);
		for (int i = 0; i < n; i++)
			if (!todo[i] && tables[i].empties && tables[i].filled &&
				list_member_oid(refs, tables[i].target))
				more = todo[i] = true;
		if (!more && refs != NIL)
			return false;
	} while (more);
	for (int i = 0; i < n; i++)
	{
		Oid			o = todo[i] ? owner_of(tables[i].target) : owner;

		one_owner &= !OidIsValid(owner) || o == owner;
		owner = o;
	}
	return one_owner;
}

/*
 * See coldstart_int.h.  Where TRUNCATE would have to take along what is not to be
 * emptied, rows are deleted: no trigger of a foreign key fires in replica role.
 */
void
sl_cold_empty_all(SlColdTable *tables, int n, bool *todo)
{
	bool		together = truncate_together(tables, n, todo);

	for (int i = 0; i < n; i++)
	{
		Oid			target = tables[i].target;

		if (!todo[i])
			continue;
		if (together || heap_truncate_find_FKs(list_make1_oid(target)) == NIL)
			truncate_owned(tables, n, todo, owner_of(target));
		else
			delete_rows(target);
		todo[i] = false;
	}
}

/*
 * See coldstart_int.h.  copy_task.c empties a table in the transaction that
 * copies it on just these conditions.
 */
void
sl_cold_note_empties(SlColdTable *t, const SlCopyTask *tasks, int n)
{
	t->empties = t->created && n == 1 && tasks->first_block < 0 &&
		tasks->target_relid == t->target &&
		get_rel_relkind(t->target) == RELKIND_RELATION &&
		heap_truncate_find_FKs(list_make1_oid(t->target)) == NIL;
}

/* See coldstart_int.h. */
void
sl_cold_empty(SlColdTable *t)
{
	if (!has_rows(t->target))
		return;
	if (heap_truncate_find_FKs(list_make1_oid(t->target)) == NIL)
		run_as(owner_of(t->target), psprintf("TRUNCATE TABLE %s", only_name(t->target)));
	else
		delete_rows(t->target);
}
