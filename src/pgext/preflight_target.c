/*
 * preflight_target.c
 *	  Preflight: this server and the tables that the stream will write.
 *
 * NOTES
 *	  What a table must be is decided where rows are applied
 *	  (sl_target_resolve, sl_target_check_shape); here their refusals become
 *	  rows, each with a statement that cures it where one is known.
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/xact.h"
#include "catalog/heap.h"
#include "catalog/namespace.h"
#include "catalog/partition.h"
#include "commands/dbcommands.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/resowner.h"

#include "common/sl_shape.h"
#include "pgext/apply.h"
#include "pgext/errutil.h"
#include "pgext/preflight_int.h"
#include "pgext/spi_util.h"
#include "pgext/type_match.h"
#include "pgext/pgcompat.h"

/* Rows in the way of a copy are counted up to this. */
#define ROWS_COUNTED 1000

/* Background workers in use, as far as pg_stat_activity tells them. */
#define WORKERS_SQL \
	"SELECT pg_catalog.count(*) FROM pg_catalog.pg_stat_activity " \
	"WHERE backend_type NOT IN ('client backend', 'autovacuum launcher', " \
	"'autovacuum worker', 'checkpointer', 'background writer', 'walwriter', " \
	"'startup', 'walreceiver', 'walsender', 'archiver', 'walsummarizer', " \
	"'slotsync worker', 'io worker', 'logger', 'standalone backend')"

/* default_transaction_read_only for this owner in this database, narrowest first. */
#define READ_ONLY_SQL \
	"SELECT CASE WHEN setrole <> 0 THEN 'ROLE ' || pg_catalog.quote_ident(r.rolname) || " \
	"  CASE WHEN setdatabase <> 0 THEN ' IN DATABASE ' || pg_catalog.quote_ident(d.datname) ELSE '' END " \
	"  ELSE 'DATABASE ' || pg_catalog.quote_ident(d.datname) END " \
	"FROM pg_catalog.pg_db_role_setting s " \
	"LEFT JOIN pg_catalog.pg_roles r ON r.oid = s.setrole " \
	"LEFT JOIN pg_catalog.pg_database d ON d.oid = s.setdatabase " \
	"WHERE s.setrole IN (0, $1::pg_catalog.oid) " \
	"AND s.setdatabase IN (0, $2::pg_catalog.oid) " \
	"AND EXISTS (SELECT FROM pg_catalog.unnest(s.setconfig) AS c " \
	"  WHERE c ~ '^default_transaction_read_only=(on|true|yes|1)$')"

#define OTHER_STREAM_SQL \
	"SELECT stream_id FROM sluice.stream_table " \
	"WHERE target_relid = $1::pg_catalog.oid AND stream_id <> $2 " \
	"AND state IN ('pending', 'copying', 'established')"

/* Run as the extension's owner inside SPI; first column of the first row. */
static char *
catalog_text(const char *sql, int nparams, const char *const *params)
{
	MemoryContext cxt = CurrentMemoryContext;
	SlUserSwitch sw;
	char	   *value = NULL;

	sl_become_extension_owner(&sw);
	sl_spi_enter();
	if (sl_spi_exec(sql, SPI_OK_SELECT, nparams, params) > 0)
		value = sl_spi_text(0, 1, cxt);
	sl_spi_leave();
	sl_become_back(&sw);
	return value;
}

static void
check_preload(SlPreflight *p)
{
	const char *now = GetConfigOption("shared_preload_libraries", true, false);

	if (sl_shmem_ready())
	{
		sl_check_add(p, "target", "shared_preload_libraries", true, NULL, NULL);
		return;
	}
	sl_check_add(p, "target", "shared_preload_libraries", false,
				 pstrdup("the library sluice is not preloaded; the target must be restarted after the change"),
				 psprintf("ALTER SYSTEM SET shared_preload_libraries = %s;",
						  now && now[0] ? psprintf("%s, sluice", now) : "sluice"));
}

static void
check_workers(SlPreflight *p)
{
	char	   *used = catalog_text(WORKERS_SQL, 0, NULL);
	int			n = used ? pg_strtoint32(used) : 0;
	int64		copiers = sl_stream_opt_int(p->stream, SL_O_COPY_WORKERS);
	int			room = max_worker_processes - n - 1;
	bool		ok = room >= 0;
	const char *more = "";

	if (!ok)
		more = "; a stream needs one, and the target must be restarted after the change";
	else if (room < copiers)
		more = psprintf("; the copy wants " INT64_FORMAT " more and finds %d", copiers, room);
	sl_check_add(p, "target", "max_worker_processes", ok,
				 psprintf("%d of %d background workers are in use%s", n,
						  max_worker_processes, more),
				 ok ? NULL : psprintf("ALTER SYSTEM SET max_worker_processes = %d;",
									  max_worker_processes + 8));
}

static void
check_streams(SlPreflight *p)
{
	if (sl_shmem_ready() && !p->warm && !sl_slot_available())
		sl_check_add(p, "target", "max_streams", false,
					 psprintf("all %d places for streams are taken; the target must be restarted after the change",
							  sl_shmem_nslots()),
					 psprintf("ALTER SYSTEM SET sluice.max_streams = %d;",
							  sl_shmem_nslots() + 8));
}

static void
check_read_only(SlPreflight *p)
{
	const char *params[2];
	char	   *where;

	params[0] = psprintf("%u", p->stream->owner);
	params[1] = psprintf("%u", MyDatabaseId);
	where = catalog_text(READ_ONLY_SQL, 2, params);
	sl_check_add(p, "target", "default_transaction_read_only", where == NULL,
				 where ? psprintf("set for %s", where) : NULL,
				 where ? psprintf("BEGIN READ WRITE; ALTER %s SET default_transaction_read_only = off; COMMIT;", where) : NULL);
}

/* See preflight_int.h. */
void
sl_check_target_server(SlPreflight *p)
{
	check_preload(p);
	check_workers(p);
	check_streams(p);
	check_read_only(p);
}

/* See preflight_int.h. */
void
sl_check_target_fed(SlPreflight *p)
{
	check_preload(p);
	check_streams(p);
}

/*
 * A table of the shape's columns, types and key: enough to hold every value.
 * Indexes and constraints beyond the key are the user's.
 */
static char *
create_table_sql(SlPreflight *p, const SlShape *shape)
{
	char	   *schema = sl_stream_target_schema(p->stream, shape->schema);
	StringInfoData sql;
	StringInfoData key;

	initStringInfo(&sql);
	initStringInfo(&key);
	if (!OidIsValid(get_namespace_oid(schema, true)))
		appendStringInfo(&sql, "CREATE SCHEMA IF NOT EXISTS %s; ", sl_paste_ident(schema));
	appendStringInfo(&sql, "CREATE TABLE %s (", sl_paste_table(schema, shape->name));
	for (int i = 0; i < shape->ncols; i++)
	{
		const SlColumn *c = &shape->cols[i];

		appendStringInfo(&sql, "%s%s %s%s", i ? ", " : "", sl_paste_ident(c->name),
						 c->type_name ? c->type_name : "text",
						 c->flags & SL_COL_NOT_NULL ? " NOT NULL" : "");
		if (c->flags & SL_COL_PRIMARY)
			appendStringInfo(&key, "%s%s", key.len ? ", " : "", sl_paste_ident(c->name));
	}
	if (key.len)
		appendStringInfo(&sql, ", PRIMARY KEY (%s)", key.data);
	appendStringInfoString(&sql, ");");
	return sql.data;
}

/* A hint that is a statement can be pasted; a sentence cannot. */
static char *
statement_of_hint(const char *hint)
{
	size_t		len = hint ? strlen(hint) : 0;

	if (len > 0 && hint[len - 1] == ';')
		return pstrdup(hint);
	return NULL;
}

/* Refusal of sl_target_resolve as a check's name. */
static const char *
check_name_of(const ErrorData *edata)
{
	switch (sl_marker_of(edata))
	{
		case SL_M_TARGET_TABLE_MISSING:
			return "table_missing";
		case SL_M_TARGET_KIND_UNSUPPORTED:
			return "table_kind";
		case SL_M_TARGET_TRIGGER:
			return "trigger";
		case SL_M_TARGET_PERMISSION:
			return "permission";
		default:
			return "table";
	}
}

static void
failed_resolve(SlPreflight *p, const SlShape *shape, ErrorData *edata)
{
	char	   *fix = statement_of_hint(edata->hint);

	if (sl_marker_of(edata) == SL_M_TARGET_TABLE_MISSING)
	{
		if (sl_plan_has_table(p, shape->schema, shape->name))
			return;
		fix = create_table_sql(p, shape);
	}
	sl_check_add(p, "target", check_name_of(edata), false,
				 sl_check_error_text(edata), fix);
}

typedef struct Resolve
{
	const SlShape *shape;
	Oid			target;
} Resolve;

static void
try_resolve(SlPreflight *p, void *arg)
{
	Resolve    *r = arg;

	r->target = sl_target_resolve(p->stream, r->shape->schema, r->shape->name);
}

/* sl_target_resolve, its refusal as a row; InvalidOid then. */
static Oid
resolve(SlPreflight *p, const SlShape *shape)
{
	Resolve		r = {.shape = shape};
	ErrorData  *edata = sl_check_try(p, try_resolve, &r);

	if (edata)
		failed_resolve(p, shape, edata);
	return edata ? InvalidOid : r.target;
}

static char *
target_name(Oid relid)
{
	return sl_paste_table(get_namespace_name(get_rel_namespace(relid)),
						  get_rel_name(relid));
}

/*
 * The fix of one fault line of sl_target_check_shape,
 * "[kind] schema.table.column: ...": the source's type, or the column.
 */
static char *
shape_fix(Oid target, const SlShape *shape, const char *line)
{
	for (int i = 0; i < shape->ncols; i++)
	{
		const SlColumn *c = &shape->cols[i];
		char	   *part = psprintf(".%s:", quote_identifier(c->name));

		if (strstr(line, part) == NULL || c->type_name == NULL)
			continue;
		if (strncmp(line, "[type-differs]", 14) == 0)
			return NULL;
		if (get_attnum(target, c->name) == InvalidAttrNumber)
			return psprintf("ALTER TABLE %s ADD COLUMN %s %s;", target_name(target),
							sl_paste_ident(c->name), c->type_name);
		if (strncmp(line, "[column-not-null]", 17) == 0)
			return psprintf("ALTER TABLE %s ALTER COLUMN %s DROP NOT NULL;",
							target_name(target), sl_paste_ident(c->name));
		return psprintf("ALTER TABLE %s ALTER COLUMN %s TYPE %s;", target_name(target),
						sl_paste_ident(c->name), c->type_name);
	}
	return NULL;
}

static void
check_shape(SlPreflight *p, Oid target, const SlShape *shape)
{
	StringInfoData faults;
	char	   *line;
	size_t		len;

	initStringInfo(&faults);
	if (sl_target_check_shape(p->stream, target, shape, &faults) +
		sl_target_check_types(p->conn, shape, target, &faults) == 0)
		return;
	for (line = faults.data; *line; line += len + (line[len] ? 1 : 0))
	{
		char	   *one;

		len = strcspn(line, "\n");
		one = pnstrdup(line, len);
		sl_check_add(p, "target", "shape", false, one,
					 shape_fix(target, shape, one));
	}
}

/*
 * Rows of the target, up to ROWS_COUNTED + 1.  Asked as its owner: even planning may run the
 * code of index expressions.
 */
static int64
count_rows(Oid target, const char *from)
{
	Relation	rel = relation_open(target, AccessShareLock);
	Oid			owner = rel->rd_rel->relowner;
	SlUserSwitch sw;
	int64		found;

	relation_close(rel, NoLock);
	sl_become_role(owner, &sw);
	sl_spi_enter();
	found = sl_spi_exec(psprintf("SELECT 1 FROM %s LIMIT %d", from, ROWS_COUNTED + 1),
						SPI_OK_SELECT, 0, NULL);
	sl_spi_leave();
	sl_become_back(&sw);
	return found;
}

static const char *
only(Oid target)
{
	return get_rel_relkind(target) == RELKIND_PARTITIONED_TABLE ? "" : "ONLY ";
}

static bool
is_target(const SlPreflight *p, Oid relid)
{
	for (int i = 0; i < p->ntables; i++)
		if (p->targets[i] == relid)
			return true;
	return false;
}

/*
 * TRUNCATE of the table with those that refer to it, which it must take along;
 * NULL, and one's name, where a table is among them that the stream does not fill.
 */
static char *
truncate_sql(const SlPreflight *p, Oid target, char **outside)
{
	List	   *rels = list_make1_oid(target);
	List	   *named = NIL;
	List	   *more;
	StringInfoData sql;
	ListCell   *lc;

	while ((more = heap_truncate_find_FKs(rels)) != NIL)
		rels = list_concat_unique_oid(rels, more);
	initStringInfo(&sql);
	foreach(lc, rels)
	{
		Oid			relid = lfirst_oid(lc);

		if (get_rel_relispartition(relid) && !is_target(p, relid))
			relid = llast_oid(get_partition_ancestors(relid));
		if (list_member_oid(named, relid))
			continue;
		named = lappend_oid(named, relid);
		if (!is_target(p, relid))
		{
			*outside = target_name(relid);
			return NULL;
		}
		appendStringInfo(&sql, "%s %s%s", sql.len ? "," : "TRUNCATE", only(relid),
						 target_name(relid));
	}
	appendStringInfoChar(&sql, ';');
	return sql.data;
}

/* Rows that are there before the copy would be mixed with the source's. */
static void
check_empty(SlPreflight *p, Oid target)
{
	char	   *name = target_name(target);
	char	   *rule = sl_stream_opt_text(p->stream, SL_O_EXISTING_ROWS);
	char	   *outside = NULL;
	char	   *fix;
	int64		rows;

	if (strcmp(rule, "truncate") == 0 || strcmp(rule, "adopt") == 0)
		return;
	rows = count_rows(target, psprintf("%s%s", only(target), name));
	if (rows == 0)
		return;
	fix = truncate_sql(p, target, &outside);
	sl_check_add(p, "target", "existing_rows", false,
				 psprintf("%s has rows (%s%d); empty it, or start with option {\"existing_rows\": \"truncate\"}%s",
						  name, rows > ROWS_COUNTED ? "more than " : "",
						  (int) Min(rows, ROWS_COUNTED),
						  outside ? psprintf("; %s, which the stream does not fill, refers to it", outside) : ""),
				 fix);
}

static void
check_other_stream(SlPreflight *p, Oid target)
{
	const char *params[2];
	char	   *other;

	params[0] = psprintf("%u", target);
	params[1] = p->stream->stream_id;
	other = catalog_text(OTHER_STREAM_SQL, 2, params);
	if (other)
		sl_check_add(p, "target", "other_stream", false,
					 psprintf("%s is written by stream \"%s\"; exclude it, or drop that stream",
							  target_name(target), other),
					 psprintf("SELECT sluice.sync_stop(%s, wait => true); SELECT sluice.sync_drop(%s);",
							  sl_paste_literal(other), sl_paste_literal(other)));
}

/* Two tables of the source must not land in one of the target. */
static void
check_same_target(SlPreflight *p, const Oid * targets, int i)
{
	for (int j = 0; j < i; j++)
		if (targets[j] == targets[i])
		{
			sl_check_add(p, "target", "same_target", false,
						 psprintf("%s and %s of the source both land in %s; exclude one, or send them apart with option schema_map",
								  sl_show_table(p->tables[j].schema, p->tables[j].name),
								  sl_show_table(p->tables[i].schema, p->tables[i].name),
								  target_name(targets[i])),
						 NULL);
			return;
		}
}

/* See preflight_int.h. */
void
sl_check_target_tables(SlPreflight *p)
{
	int			before = list_length(p->checks);

	p->targets = MemoryContextAllocZero(p->cxt, sizeof(Oid) * Max(p->ntables, 1));
	for (int i = 0; i < p->ntables; i++)
	{
		SlShape    *shape = sl_pg_shape(p->conn, p->tables[i].relid, false);
		Oid			target;

		CHECK_FOR_INTERRUPTS();
		if (shape == NULL)
			continue;
		target = resolve(p, shape);
		if (!OidIsValid(target))
			continue;
		p->targets[i] = target;
		check_same_target(p, p->targets, i);
		check_shape(p, target, shape);
		check_other_stream(p, target);
	}
	for (int i = 0; i < p->ntables; i++)
		if (OidIsValid(p->targets[i]))
			check_empty(p, p->targets[i]);
	if (p->ntables > 0 && list_length(p->checks) == before)
		sl_check_add(p, "target", "tables", true,
					 psprintf("%d table%s can take the source's rows", p->ntables,
							  p->ntables == 1 ? "" : "s"), NULL);
}
