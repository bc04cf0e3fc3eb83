/*
 * coldstart_reset.c
 *	  Beginning a stream anew: restart_from_scratch and reset_target_data.
 *
 * NOTES
 *	  What destroys asks twice (sql-api): the first call raises what it would
 *	  do with a fingerprint over it, the second passes that.  A table that
 *	  changed in between, or a new dependent, makes another fingerprint.
 *	  Nothing cascades: what depends on a table and is not the stream's is an
 *	  error that names it.
 */
#include "postgres.h"

#include "access/table.h"
#include "catalog/pg_class.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "common/sl_shape.h"
#include "pgext/coldstart.h"
#include "pgext/errutil.h"
#include "pgext/spi_util.h"
#include "pgext/pgcompat.h"

/* The stream's tables on the target, with the partitions of each. */
#define OURS \
	"WITH RECURSIVE ours (root, relid) AS (" \
	"SELECT c.oid, c.oid FROM sluice.stream_table t " \
	"JOIN pg_catalog.pg_class c ON c.oid = t.target_relid " \
	"WHERE t.stream_id = $1 AND t.state IN ('pending', 'copying', 'established') " \
	"UNION SELECT o.root, i.inhrelid FROM ours o " \
	"JOIN pg_catalog.pg_inherits i ON i.inhparent = o.relid " \
	"JOIN pg_catalog.pg_class c ON c.oid = i.inhrelid AND c.relispartition) "

#define TABLES_SQL \
	OURS \
	"SELECT o.root, n.nspname, c.relname, " \
	"pg_catalog.sum(pg_catalog.pg_relation_size(o.relid))::pg_catalog.int8, " \
	"pg_catalog.pg_size_pretty(pg_catalog.sum(pg_catalog.pg_total_relation_size(o.relid))) " \
	"FROM ours o JOIN pg_catalog.pg_class c ON c.oid = o.root " \
	"JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace " \
	"GROUP BY 1, 2, 3 ORDER BY 2, 3"

/* Kind 'f' hinders TRUNCATE, any kind hinders DROP. */
#define DEPENDENTS_SQL \
	OURS \
	"SELECT DISTINCT k, what || ' depends on ' || onto::pg_catalog.regclass FROM (" \
	"SELECT 'f', 'foreign key ' || pg_catalog.quote_ident(f.conname) || ' of ' || " \
	"  f.conrelid::pg_catalog.regclass, f.confrelid FROM pg_catalog.pg_constraint f " \
	"WHERE f.contype = 'f' AND f.confrelid IN (SELECT relid FROM ours) " \
	"  AND f.conrelid NOT IN (SELECT relid FROM ours) AND f.conparentid = 0 " \
	"UNION ALL " \
	"SELECT 'v', CASE v.relkind WHEN 'v' THEN 'view ' WHEN 'm' THEN 'materialized view ' " \
	"  ELSE 'rule of ' END || v.oid::pg_catalog.regclass, d.refobjid " \
	"FROM pg_catalog.pg_depend d JOIN pg_catalog.pg_rewrite r ON r.oid = d.objid " \
	"JOIN pg_catalog.pg_class v ON v.oid = r.ev_class " \
	"WHERE d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass " \
	"  AND d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass " \
	"  AND d.refobjid IN (SELECT relid FROM ours) " \
	"  AND r.ev_class NOT IN (SELECT relid FROM ours) " \
	"UNION ALL " \
	"SELECT 'p', pg_catalog.pg_describe_object(d.classid, d.objid, 0), d.refobjid " \
	"FROM pg_catalog.pg_depend d " \
	"WHERE d.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass " \
	"  AND d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass " \
	"  AND d.refobjid IN (SELECT relid FROM ours) " \
	"UNION ALL " \
	"SELECT 'i', 'table ' || i.inhrelid::pg_catalog.regclass, i.inhparent " \
	"FROM pg_catalog.pg_inherits i WHERE i.inhparent IN (SELECT relid FROM ours) " \
	"  AND i.inhrelid NOT IN (SELECT relid FROM ours)" \
	") AS d (k, what, onto) ORDER BY 1, 2"

/* What the stream made for its tables alone, once they are gone and nobody else uses it. */
#define LEFT_SQL \
	"SELECT pg_catalog.format('DROP FUNCTION %I.%I() RESTRICT', n.nspname, p.proname) " \
	"FROM sluice.schema_object o JOIN pg_catalog.pg_namespace n ON n.nspname = o.schema_name " \
	"JOIN pg_catalog.pg_proc p ON p.pronamespace = n.oid AND p.proname = o.object_name AND p.pronargs = 0 " \
	"WHERE o.stream_id = $1 AND o.kind = 'function' AND o.state = 'created' " \
	"AND p.proowner = $2::pg_catalog.oid " \
	"AND NOT EXISTS (SELECT FROM pg_catalog.pg_trigger t WHERE t.tgfoid = p.oid) " \
	"UNION ALL SELECT pg_catalog.format('DROP TYPE %I.%I RESTRICT', n.nspname, t.typname) " \
	"FROM sluice.schema_object o JOIN pg_catalog.pg_namespace n ON n.nspname = o.schema_name " \
	"JOIN pg_catalog.pg_type t ON t.typnamespace = n.oid AND t.typname = o.object_name " \
	"WHERE o.stream_id = $1 AND o.kind = 'enum' AND o.state = 'created' " \
	"AND t.typtype = 'e' AND t.typowner = $2::pg_catalog.oid " \
	"AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.refobjid IN (t.oid, t.typarray) " \
	"  AND d.refclassid = 'pg_catalog.pg_type'::pg_catalog.regclass AND d.deptype <> 'i')"

typedef struct ResetPlan
{
	MemoryContext cxt;
	const SlStream *s;
	const char *argument;
	bool		drops;
	int			n;
	Oid		   *tables;
	int			nhinders;		/* dependents that make it impossible */
	StringInfoData tables_text;
	StringInfoData hinders;
	StringInfoData others;
	StringInfoData print;		/* what the fingerprint is over */
} ResetPlan;

static void
add_line(StringInfo buf, const char *kind, const char *text)
{
	appendStringInfo(buf, "%s[%s] ", buf->len ? "\n" : "", kind);
	sl_append_visible(buf, text);
}

static void
add_tables(ResetPlan *p)
{
	MemoryContext cxt = p->cxt;
	const char *id = p->s->stream_id;
	uint64		n = sl_spi_exec(TABLES_SQL, SPI_OK_SELECT, 1, &id);

	p->tables = MemoryContextAllocZero(cxt, sizeof(Oid) * (n + 1));
	p->n = (int) n;
	for (uint64 i = 0; i < n; i++)
	{
		char	   *name = quote_qualified_identifier(sl_spi_text(i, 2, cxt),
													  sl_spi_text(i, 3, cxt));

		p->tables[i] = (Oid) sl_spi_int64(i, 1, NULL);
		add_line(&p->tables_text, "table",
				 psprintf("%s, %s", name, sl_spi_text(i, 5, cxt)));
		appendStringInfo(&p->print, "%u %s " INT64_FORMAT "\n", p->tables[i], name,
						 sl_spi_int64(i, 4, NULL));
	}
}

static void
add_dependents(ResetPlan *p)
{
	MemoryContext cxt = p->cxt;
	const char *id = p->s->stream_id;
	uint64		n = sl_spi_exec(DEPENDENTS_SQL, SPI_OK_SELECT, 1, &id);

	for (uint64 i = 0; i < n; i++)
	{
		char	   *what = sl_spi_text(i, 2, cxt);
		bool		hinders = p->drops || sl_spi_text(i, 1, cxt)[0] == 'f';

		add_line(hinders ? &p->hinders : &p->others, "dependent", what);
		p->nhinders += hinders;
		appendStringInfo(&p->print, "%s\n", what);
	}
}

static ResetPlan *
make_plan(const SlStream *s, const char *argument, bool drops)
{
	ResetPlan  *p = palloc0(sizeof(ResetPlan));
	SlUserSwitch sw;

	p->cxt = CurrentMemoryContext;
	p->s = s;
	p->argument = argument;
	p->drops = drops;
	initStringInfo(&p->tables_text);
	initStringInfo(&p->hinders);
	initStringInfo(&p->others);
	initStringInfo(&p->print);
	appendStringInfo(&p->print, "%s %s\n", argument, s->stream_id);
	sl_become_extension_owner(&sw);
	sl_spi_enter();
	add_tables(p);
	add_dependents(p);
	sl_spi_leave();
	sl_become_back(&sw);
	return p;
}

static void
raise_hindered(const ResetPlan *p)
{
	ereport(ERROR,
			(errcode(ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST),
			 errmsg("cannot %s the tables of stream \"%s\", because %d other objects depend on them",
					p->drops ? "drop" : "empty", p->s->stream_id, p->nhinders),
			 errdetail_internal("%s", p->hinders.data),
			 errhint("Drop what is named first, if it is not needed; nothing is dropped by CASCADE.")));
}

/* Raises unless confirm is the fingerprint of what would be done. */
static void
ask(const ResetPlan *p, const char *confirm)
{
	char		fingerprint[13];
	SlRefusal	r = {.marker = SL_M_CONFIRMATION_REQUIRED};

	if (p->nhinders > 0)
		raise_hindered(p);
	sl_fingerprint(p->print.data, p->print.len, fingerprint);
	if (confirm && strcmp(confirm, fingerprint) == 0)
		return;
	r.detail = psprintf("%s%s%s", p->tables_text.len ? p->tables_text.data : "[table] none",
						p->others.len ? "\n" : "", p->others.data);
	r.hint = psprintf("SELECT * FROM sluice.sync_start('%s', %s => true, confirm => '%s');",
					  p->s->stream_id, p->argument, fingerprint);
	sl_refuse(&r, "%s of stream \"%s\" %s %d tables%s", p->argument, p->s->stream_id,
			  p->drops ? "drops" : "copies anew the rows of", p->n,
			  confirm ? "; the fingerprint given is not, or no longer, the one of that" : "");
}

/* Control statements as the extension's owner, one parameter: the stream. */
static void
forget(const SlStream *s, const char *const *sql, int n)
{
	const char *id = s->stream_id;
	SlUserSwitch sw;

	sl_become_extension_owner(&sw);
	sl_spi_enter();
	for (int i = 0; i < n; i++)
		sl_spi_exec(sql[i], strncmp(sql[i], "DELETE", 6) == 0 ? SPI_OK_DELETE : SPI_OK_UPDATE,
					1, &id);
	sl_spi_leave();
	sl_become_back(&sw);
}

static void
forget_copy(const SlStream *s)
{
	static const char *const sql[] = {
		"DELETE FROM sluice.stream_position WHERE stream_id = $1",
		"DELETE FROM sluice.copy_run WHERE stream_id = $1",
		"DELETE FROM sluice.copy_task WHERE stream_id = $1",
		"DELETE FROM sluice.debt WHERE stream_id = $1",
		"DELETE FROM sluice.source_layout WHERE stream_id = $1",
		/* a bridge numbers the tables anew */
		"UPDATE sluice.stream_table t SET source_id = NULL FROM sluice.stream s"
		" WHERE t.stream_id = $1 AND s.stream_id = $1 AND s.driver IN ('mysql', 'mariadb')",
		"UPDATE sluice.stream_table SET state = 'copying', snapshot_lsn = NULL,"
		" window_lsn = NULL, source_leaves = NULL, rows_copied = 0, bytes_copied = 0"
		" WHERE stream_id = $1 AND state IN ('pending', 'copying', 'established')",
		"UPDATE sluice.stream SET source_sysid = NULL, source_timeline = NULL,"
		" source_dbname = NULL, source_publication = NULL WHERE stream_id = $1",
	};

	forget(s, sql, lengthof(sql));
}

/* See coldstart.h. */
void
sl_restart_from_scratch(SlStream *s, const char *confirm)
{
	ask(make_plan(s, "restart_from_scratch", false), confirm);
	forget_copy(s);
}

static Oid
owner_of(const SlStream *s, Oid relid)
{
	Relation	rel = table_open(relid, AccessExclusiveLock);
	Oid			owner = rel->rd_rel->relowner;

	if (!is_member_of_role(s->owner, owner))
	{
		SlRefusal	r = {.marker = SL_M_TARGET_PERMISSION,
			.schema = get_namespace_name(RelationGetNamespace(rel)),
			.table = RelationGetRelationName(rel),
			.hint = psprintf("GRANT %s TO %s;",
							 quote_identifier(GetUserNameFromId(owner, false)),
							 quote_identifier(GetUserNameFromId(s->owner, false)))};

		sl_refuse(&r, "the stream's owner may not act as the owner of table \"%s.%s\"",
				  r.schema, r.table);
	}
	table_close(rel, NoLock);
	return owner;
}

/* One DROP for all tables of one owner: they may depend on each other. */
static void
drop_tables(const ResetPlan *p)
{
	Oid		   *owners = palloc(sizeof(Oid) * Max(p->n, 1));

	for (int i = 0; i < p->n; i++)
		owners[i] = owner_of(p->s, p->tables[i]);
	for (int i = 0; i < p->n; i++)
	{
		StringInfoData sql;
		SlUserSwitch user;
		Oid			owner = owners[i];

		if (!OidIsValid(owner))
			continue;
		initStringInfo(&sql);
		for (int j = i; j < p->n; j++)
		{
			if (owners[j] != owner)
				continue;
			appendStringInfo(&sql, "%s%s", sql.len ? ", " : "DROP TABLE ",
							 quote_qualified_identifier(get_namespace_name(get_rel_namespace(p->tables[j])),
														get_rel_name(p->tables[j])));
			owners[j] = InvalidOid;
		}
		appendStringInfoString(&sql, " RESTRICT");
		sl_become_role(owner, &user);
		sl_spi_enter();
		sl_spi_exec(sql.data, SPI_OK_UTILITY, 0, NULL);
		sl_spi_leave();
		sl_become_back(&user);
	}
}

/* Types and functions that only the dropped tables had: others may have to come in their place. */
static void
drop_left(const SlStream *s)
{
	const char *params[] = {s->stream_id, psprintf("%u", s->owner)};
	List	   *statements = sl_control_texts(LEFT_SQL, lengthof(params), params);
	SlUserSwitch user;
	ListCell   *lc;

	sl_become_role(s->owner, &user);
	sl_spi_enter();
	foreach(lc, statements)
		sl_spi_exec(lfirst(lc), SPI_OK_UTILITY, 0, NULL);
	sl_spi_leave();
	sl_become_back(&user);
}

/* See coldstart.h. */
void
sl_reset_target_data(SlStream *s, const char *confirm)
{
	static const char *const sql[] = {
		"DELETE FROM sluice.schema_object WHERE stream_id = $1",
		"DELETE FROM sluice.schema_history WHERE stream_id = $1",
		"UPDATE sluice.stream_table SET state = 'pending', target_relid = NULL,"
		" created = false WHERE stream_id = $1"
		" AND state IN ('pending', 'copying', 'established')",
	};
	ResetPlan  *p = make_plan(s, "reset_target_data", true);

	ask(p, confirm);
	forget_copy(s);
	drop_tables(p);
	drop_left(s);
	forget(s, sql, lengthof(sql));
}
