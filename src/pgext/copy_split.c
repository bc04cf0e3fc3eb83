/*
 * copy_split.c
 *	  The rows of a table as tasks: leaves, and ranges of a large relation.
 *
 * NOTES
 *	  A leaf is written to the leaf of the target only where every row of it
 *	  certainly belongs there: same name, same bounds and keys all the way up,
 *	  and a rule that means the same on both sides.  A hash may differ with the
 *	  encoding, the order of texts with the collation; such rows go through the
 *	  root, which costs a little and cannot go wrong.  So do those of a leaf with
 *	  another owner: the stream's rights were judged by the root.
 *
 *	  A range is of blocks: it needs no key, and under a snapshot every row
 *	  version stays in its block.  Whatever moves rows (a rewrite) is noticed by
 *	  the file (copy_pg.c).
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_class.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "pgext/copy_run.h"
#include "pgext/spi_util.h"
#include "pgext/pgcompat.h"

/* A relation of more bytes is split, into ranges of about so many. */
#define SPLIT_BYTES (INT64CONST(160) * 1024 * 1024)
#define RANGE_MIN_BYTES (INT64CONST(64) * 1024 * 1024)
#define RANGE_MAX_BYTES (INT64CONST(1024) * 1024 * 1024)

/* Wait for a lock on a relation whose size is not known, in ms. */
#define SIZE_LOCK_MS 1000

/* Ranges of a relation that each worker gets, so that all end together. */
#define RANGES_PER_WORKER 3

/*
 * The leaves of a tree with the rules that lead to each: keys and bounds from
 * the root down.  sure: each rule means the same on every server.  $1: root.
 */
#define TREE_SQL \
	"WITH RECURSIVE tree (relid, kind, sure, rules) AS (" \
	"SELECT c.oid, c.relkind, true, ''::text COLLATE pg_catalog.\"C\" FROM pg_catalog.pg_class c " \
	"WHERE c.oid = $1::pg_catalog.oid " \
	"UNION ALL " \
	"SELECT c.oid, c.relkind, t.sure AND (p.partstrat = 'l' " \
	"  OR p.partstrat = 'r' AND NOT EXISTS (SELECT FROM " \
	"    pg_catalog.unnest(p.partcollation::pg_catalog.oid[]) AS l (oid) " \
	"    WHERE l.oid NOT IN (0, 950, 951)) " \
	"  OR p.partstrat = 'h' AND NOT EXISTS (SELECT FROM " \
	"    pg_catalog.unnest(p.partattrs::pg_catalog.int2[]) AS k (att) " \
	"    WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_attribute a " \
	"      WHERE a.attrelid = t.relid AND a.attnum = k.att AND a.attnum > 0 " \
	"      AND a.atttypid IN (20, 21, 23, 26, 1082, 1114, 1184, 2950)))), " \
	"  t.rules || '/' || pg_catalog.pg_get_partkeydef(t.relid) || ' ' " \
	"    || pg_catalog.pg_get_expr(c.relpartbound, 0) " \
	"FROM tree t JOIN pg_catalog.pg_partitioned_table p ON p.partrelid = t.relid " \
	"JOIN pg_catalog.pg_inherits i ON i.inhparent = t.relid " \
	"JOIN pg_catalog.pg_class c ON c.oid = i.inhrelid WHERE t.kind = 'p') " \
	"SELECT t.relid, n.nspname, c.relname, t.sure, t.rules, " \
	"  GREATEST(c.reltuples, 0)::int8, " \
	"  c.relowner = (SELECT r.relowner FROM pg_catalog.pg_class r " \
	"    WHERE r.oid = $1::pg_catalog.oid) " \
	"FROM tree t JOIN pg_catalog.pg_class c ON c.oid = t.relid " \
	"JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace " \
	"WHERE t.kind <> 'p' ORDER BY t.relid"

/* Bytes by the statistics; below zero for values out of line not counted. */
#define PAGES_SQL \
	"SELECT c.relpages::int8 * b.size, CASE WHEN c.reltoastrelid = 0 THEN 0 " \
	"  WHEN t.relpages = 0 THEN -1 ELSE t.relpages::int8 * b.size END " \
	"FROM pg_catalog.pg_class c " \
	"LEFT JOIN pg_catalog.pg_class t ON t.oid = c.reltoastrelid " \
	"CROSS JOIN (SELECT pg_catalog.current_setting('block_size')::int8) AS b (size) " \
	"WHERE c.oid = %u"

#define SIZES_SQL \
	"SELECT pg_catalog.pg_relation_size(c.oid), CASE WHEN c.reltoastrelid = 0 " \
	"  THEN 0 ELSE pg_catalog.pg_relation_size(c.reltoastrelid) END " \
	"FROM pg_catalog.pg_class c WHERE c.oid = %u AND c.relkind = 'r'"

enum
{
	COL_RELID, COL_SCHEMA, COL_NAME, COL_SURE, COL_RULES, COL_ROWS, COL_OWNED
};

typedef struct Leaf
{
	Oid			relid;
	char	   *schema;
	char	   *name;
	char	   *rules;
	bool		owned;			/* by the root's owner */
} Leaf;

/* What all tasks of one table share. */
typedef struct Split
{
	SlPgStream *st;
	SlConn	   *c;
	const SlSourceTable *t;
	List	   *tasks;
} Split;

static SlCopyTask *
add_task(Split *s, Oid source, Oid target, int64 bytes, int64 rows)
{
	SlCopyTask *task = palloc0(sizeof(*task));

	task->kind = SL_TASK_ROWS;
	task->stage = SL_STAGE_ROWS;
	task->schema = s->t->schema;
	task->table = s->t->name;
	task->source_relid = source;
	task->target_relid = target;
	task->first_block = task->end_block = -1;
	task->est_bytes = bytes;
	task->est_rows = rows;
	s->tasks = lappend(s->tasks, task);
	return task;
}

/* Bytes of a relation and of its values out of line. */
typedef struct Sizes
{
	int64		heap;
	int64		toast;
} Sizes;

/* The two numbers of a result's row, and clear it; false when it has none. */
static bool
take_sizes(PGresult *res, Sizes *z)
{
	bool		ok = PQresultStatus(res) == PGRES_TUPLES_OK && PQntuples(res) == 1;

	if (ok)
	{
		z->heap = strtoll(PQgetvalue(res, 0, 0), NULL, 10);
		z->toast = strtoll(PQgetvalue(res, 0, 1), NULL, 10);
	}
	PQclear(res);
	return ok;
}

/*
 * Sizes as the statistics have them, else as they are.  The function that
 * tells locks the relation as a reader does; one that is locked for long
 * counts as small.
 */
static Sizes
sizes_of(Split *s, Oid relid)
{
	Sizes		z = {0};
	PGresult   *res;

	(void) take_sizes(sl_conn_query(s->c, PGRES_TUPLES_OK,
									psprintf(PAGES_SQL, relid), 0, NULL), &z);
	if (z.heap > 0 && z.toast >= 0)
		return z;
	z.heap = z.toast = 0;
	(void) take_sizes(sl_conn_simple(s->c, psprintf("SAVEPOINT sluice_size; SET LOCAL lock_timeout = %d; "
													SIZES_SQL, SIZE_LOCK_MS, relid)), &z);
	res = sl_conn_simple(s->c, "ROLLBACK TO SAVEPOINT sluice_size; RELEASE SAVEPOINT sluice_size");
	if (PQresultStatus(res) != PGRES_COMMAND_OK)
		sl_conn_raise(s->c, res, "query");
	PQclear(res);
	return z;
}

/* Size of a range in bytes; 0 = the relation is one task. */
static int64
range_bytes(const Split *s, int64 bytes)
{
	int64		workers = sl_stream_opt_int(s->st->s, SL_O_COPY_WORKERS);
	int64		range;

	if (workers < 0)
		workers = 4;
	/* before 14 a range is found by reading all of the relation */
	if (bytes < SPLIT_BYTES || workers < 2 || s->c->server_version < 140000)
		return 0;
	range = bytes / (workers * RANGES_PER_WORKER);
	return Min(Max(range, RANGE_MIN_BYTES), RANGE_MAX_BYTES);
}

/* One relation; the last range is open, for blocks that came since. */
static void
add_relation(Split *s, Oid source, Oid target, int64 rows)
{
	Sizes		z = sizes_of(s, source);
	int64		bytes = z.heap + z.toast;
	int64		blocks = z.heap / BLCKSZ;
	int64		range = range_bytes(s, bytes);
	int64		n;

	if (range == 0 || blocks < 2)
	{
		add_task(s, source, target, bytes, rows);
		return;
	}
	n = Min(Max(bytes / range, 1), blocks);
	for (int64 i = 0; i < n; i++)
	{
		SlCopyTask *task = add_task(s, source, target, bytes / n, rows / n);

		task->first_block = blocks * i / n;
		task->end_block = i + 1 < n ? blocks * (i + 1) / n : -1;
	}
}

/* The target's leaves below root; in a transaction. */
static int
target_leaves(Oid root, Leaf * *leaves)
{
	MemoryContext cxt = CurrentMemoryContext;
	char	   *text = psprintf("%u", root);
	const char *params[1] = {text};
	int			n;

	sl_spi_enter();
	n = (int) sl_spi_exec(TREE_SQL, SPI_OK_SELECT, 1, params);
	*leaves = MemoryContextAllocZero(cxt, sizeof(Leaf) * Max(n, 1));
	for (int i = 0; i < n; i++)
	{
		Leaf	   *l = &(*leaves)[i];

		l->relid = (Oid) sl_spi_int64(i, COL_RELID + 1, NULL);
		l->schema = sl_spi_text(i, COL_SCHEMA + 1, cxt);
		l->name = sl_spi_text(i, COL_NAME + 1, cxt);
		l->rules = sl_spi_text(i, COL_RULES + 1, cxt);
		l->owned = sl_spi_bool(i, COL_OWNED + 1);
	}
	sl_spi_leave();
	return n;
}

static int
compare_leaves(const void *a, const void *b)
{
	const		Leaf *x = a;
	const		Leaf *y = b;
	int			d = strcmp(x->schema, y->schema);

	return d ? d : strcmp(x->name, y->name);
}

/* The relation that a leaf is written to. */
static Oid
target_of(const Split *s, const PGresult *res, int row, Oid root,
		  const Leaf * leaves, int n)
{
	Leaf		key = {.schema = sl_stream_target_schema(s->st->s, PQgetvalue(res, row, COL_SCHEMA)),
	.name = PQgetvalue(res, row, COL_NAME)};
	const		Leaf *found;

	if (PQgetvalue(res, row, COL_SURE)[0] != 't')
		return root;
	found = bsearch(&key, leaves, n, sizeof(Leaf), compare_leaves);
	if (found == NULL || !found->owned || get_rel_relkind(found->relid) != RELKIND_RELATION ||
		strcmp(found->rules, PQgetvalue(res, row, COL_RULES)) != 0)
		return root;
	return found->relid;
}

static void
split_tree(Split *s, Oid target)
{
	char	   *text = psprintf("%u", s->t->relid);
	const char *params[1] = {text};
	PGresult   *res = sl_conn_query(s->c, PGRES_TUPLES_OK, TREE_SQL, 1, params);
	bool		ours = !IsTransactionState();
	MemoryContext cxt = CurrentMemoryContext;
	Leaf	   *leaves;
	int			n;

	if (ours)
		StartTransactionCommand();
	MemoryContextSwitchTo(cxt);
	n = target_leaves(target, &leaves);
	qsort(leaves, n, sizeof(Leaf), compare_leaves);
	for (int i = 0; i < PQntuples(res); i++)
		add_relation(s, (Oid) strtoul(PQgetvalue(res, i, COL_RELID), NULL, 10),
					 target_of(s, res, i, target, leaves, n),
					 strtoll(PQgetvalue(res, i, COL_ROWS), NULL, 10));
	PQclear(res);
	if (ours)
		CommitTransactionCommand();
	MemoryContextSwitchTo(cxt);
}

/*
 * Works with a transaction open or not.  A partitioned table without leaves
 * has no rows, and still a task, so that it is seen to be done.
 */
List *
sl_copy_split(SlPgStream *st, SlConn *c, const SlSourceTable *t, Oid target,
			  List *tasks)
{
	Split		s = {.st = st, .c = c, .t = t, .tasks = tasks};
	int			before = list_length(tasks);

	if (t->relkind == RELKIND_PARTITIONED_TABLE)
	{
		split_tree(&s, target);
		if (list_length(s.tasks) == before)
			add_task(&s, t->relid, target, 0, 0);
		return s.tasks;
	}
	add_relation(&s, t->relid, target, t->est_rows);
	return s.tasks;
}
