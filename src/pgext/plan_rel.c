/*
 * plan_rel.c
 *	  Reading the tables of a plan, their columns and their constraints.
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "pgext/plan_int.h"
#include "pgext/spi_util.h"
#include "pgext/pgcompat.h"

/* Tables in scope and all partitions below them. */
#define RELS_SQL \
	"WITH RECURSIVE tree (relid, rootid, parent) AS (" \
	"  SELECT t.id, t.id, 0::pg_catalog.oid " \
	"  FROM pg_catalog.unnest($1::pg_catalog.oid[]) AS t (id) " \
	"  UNION ALL " \
	"  SELECT i.inhrelid, tree.rootid, tree.relid FROM tree " \
	"  JOIN pg_catalog.pg_inherits i ON i.inhparent = tree.relid " \
	"  JOIN pg_catalog.pg_class k ON k.oid = i.inhrelid AND k.relispartition) " \
	"SELECT c.oid, tree.rootid, tree.parent, n.nspname, c.relname, c.relkind, " \
	"  c.relpersistence, c.relreplident, am.amname, ts.spcname, " \
	"  pg_catalog.array_to_string(c.reloptions, pg_catalog.chr(1)), " \
	"  pg_catalog.array_to_string(tc.reloptions, pg_catalog.chr(1)), " \
	"  pg_catalog.pg_get_expr(c.relpartbound, c.oid), " \
	"  CASE WHEN c.relkind = 'p' THEN pg_catalog.pg_get_partkeydef(c.oid) END, " \
	"  c.reloftype, c.relrowsecurity, c.relforcerowsecurity, c.relispartition, " \
	"  (SELECT pg_catalog.string_agg(i.inhparent::text, pg_catalog.chr(1) ORDER BY i.inhseqno) " \
	"   FROM pg_catalog.pg_inherits i WHERE i.inhrelid = c.oid AND NOT c.relispartition) " \
	"FROM tree JOIN pg_catalog.pg_class c ON c.oid = tree.relid " \
	"JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace " \
	"LEFT JOIN pg_catalog.pg_class tc ON tc.oid = c.reltoastrelid " \
	"LEFT JOIN pg_catalog.pg_am am ON am.oid = c.relam " \
	"LEFT JOIN pg_catalog.pg_tablespace ts ON ts.oid = c.reltablespace " \
	"ORDER BY n.nspname COLLATE \"C\", c.relname COLLATE \"C\""

/* pg_attver is the server's own book-keeping in some minor releases. */
#define COLUMNS_SQL \
	"SELECT a.attrelid, a.attname, a.attnum, a.atttypid, " \
	"  pg_catalog.format_type(a.atttypid, a.atttypmod), cn.nspname, co.collname, " \
	"  a.attnotnull, a.attidentity, a.attgenerated, " \
	"  pg_catalog.pg_get_expr(d.adbin, d.adrelid), " \
	"  CASE WHEN a.attstorage <> t.typstorage THEN a.attstorage ELSE '' END, " \
	"  %s, coalesce(a.attstattarget, -1), " \
	"  nullif(pg_catalog.array_to_string(ARRAY(SELECT o.o " \
	"    FROM pg_catalog.unnest(a.attoptions) AS o (o) " \
	"    WHERE pg_catalog.split_part(o.o, '=', 1) <> 'pg_attver'), pg_catalog.chr(1)), ''), " \
	"  a.attislocal, t.typstorage " \
	"FROM pg_catalog.pg_attribute a " \
	"JOIN pg_catalog.pg_type t ON t.oid = a.atttypid " \
	"LEFT JOIN pg_catalog.pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum " \
	"LEFT JOIN pg_catalog.pg_collation co ON co.oid = a.attcollation " \
	"  AND a.attcollation <> t.typcollation " \
	"LEFT JOIN pg_catalog.pg_namespace cn ON cn.oid = co.collnamespace " \
	"WHERE a.attrelid = ANY ($1::pg_catalog.oid[]) AND a.attnum > 0 AND NOT a.attisdropped " \
	"ORDER BY a.attrelid, a.attnum"

#define CONSTRAINTS_SQL \
	"SELECT con.conrelid, con.oid, con.contype, con.conname, " \
	"  pg_catalog.pg_get_constraintdef(con.oid), " \
	"  CASE WHEN con.contype = 'c' THEN pg_catalog.pg_get_expr(con.conbin, con.conrelid) END, " \
	"  con.convalidated, con.connoinherit, con.conislocal, con.conindid, con.confrelid, " \
	"  con.conparentid, con.condeferrable, con.condeferred, %s, con.conkey[1], " \
	"  CASE WHEN con.confrelid <> 0 THEN con.confrelid::pg_catalog.regclass::text END " \
	"FROM pg_catalog.pg_constraint con " \
	"WHERE con.conrelid = ANY ($1::pg_catalog.oid[]) AND con.contype IN ('c', 'f', 'p', 'u', 'x', 'n') " \
	"ORDER BY con.conrelid, con.conname COLLATE \"C\""

static char *
oid_array(PlanBuild *b)
{
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfoChar(&buf, '{');
	if (b->rels == NIL)
		for (int i = 0; i < b->ntables; i++)
			appendStringInfo(&buf, "%s%u", i ? "," : "", b->tables[i].relid);
	else
	{
		ListCell   *lc;

		foreach(lc, b->rels)
		{
			PlanRel    *rel = lfirst(lc);

			if (rel->build)
				appendStringInfo(&buf, "%s%u", buf.len > 1 ? "," : "", rel->oid);
		}
	}
	appendStringInfoChar(&buf, '}');
	return buf.data;
}

static PlanRel *
read_rel(PlanBuild *b, const PGresult *res, int i)
{
	PlanRel    *rel = palloc0(sizeof(PlanRel));

	rel->oid = sl_plan_oid(res, i, 0);
	rel->parent = sl_plan_oid(res, i, 2);
	rel->schema = sl_plan_field(res, i, 3);
	rel->name = sl_plan_field(res, i, 4);
	rel->relkind = sl_plan_char(res, i, 5);
	rel->persistence = sl_plan_char(res, i, 6);
	rel->replident = sl_plan_char(res, i, 7);
	rel->am = sl_plan_field(res, i, 8);
	rel->tablespace = sl_plan_field(res, i, 9);
	rel->options = sl_plan_field(res, i, 10);
	rel->toast_options = sl_plan_field(res, i, 11);
	rel->bound = sl_plan_field(res, i, 12);
	rel->partkey = sl_plan_field(res, i, 13);
	rel->oftype = sl_plan_oid(res, i, 14);
	rel->row_security = sl_plan_bool(res, i, 15);
	rel->force_row_security = sl_plan_bool(res, i, 16);
	rel->is_partition = OidIsValid(rel->parent);
	rel->tschema = sl_stream_target_schema(b->s, rel->schema);
	return rel;
}

#define MADE_SQL \
	"SELECT schema_name, table_name FROM sluice.stream_table " \
	"WHERE stream_id = $1 AND created"

/* Mark what the stream has made on the target. */
static void
read_made(PlanBuild *b)
{
	const char *params[1] = {b->s->stream_id};
	MemoryContext cxt = CurrentMemoryContext;
	SlUserSwitch user;
	uint64		n;

	sl_become_extension_owner(&user);
	sl_spi_enter();
	n = sl_spi_exec(MADE_SQL, SPI_OK_SELECT, 1, params);
	for (uint64 i = 0; i < n; i++)
	{
		PlanRel    *rel = sl_plan_name_get(b->rel_by_name, sl_spi_text(i, 1, cxt), NULL,
										   sl_spi_text(i, 2, cxt));

		if (rel)
			rel->there = true;
	}
	sl_spi_leave();
	sl_become_back(&user);
}

/*
 * Is the table there, and did the stream make it?  A tree is built when its
 * root is not there or was made by this stream.
 */
static void
judge_existing(PlanBuild *b)
{
	ListCell   *lc;

	foreach(lc, b->rels)
	{
		PlanRel    *rel = lfirst(lc);
		Oid			nsp = get_namespace_oid(rel->tschema, true);
		Oid			relid = OidIsValid(nsp) ? get_relname_relid(rel->name, nsp) : InvalidOid;
		bool		made = rel->there ||
		sl_plan_recorded(b, SL_OBJ_TABLE, rel->tschema, rel->name, rel->name);

		rel->there = OidIsValid(relid) && made;
		rel->build = !OidIsValid(relid) || made;
	}
	foreach(lc, b->rels)
	{
		PlanRel    *rel = lfirst(lc);

		if (rel->root != rel)
			rel->build = rel->root->build;
	}
}

void
sl_plan_read_rels(PlanBuild *b)
{
	PGresult   *res;
	ListCell   *lc;
	int			i;

	b->rel_by_oid = sl_plan_oid_hash("sluice plan: tables");
	b->rel_by_name = sl_plan_name_hash("sluice plan: tables by name");
	b->oids = oid_array(b);
	res = sl_plan_query(b, RELS_SQL);
	for (i = 0; i < PQntuples(res); i++)
	{
		PlanRel    *rel = read_rel(b, res, i);

		b->rels = lappend(b->rels, rel);
		sl_plan_oid_put(b->rel_by_oid, rel->oid, rel);
		sl_plan_name_put(b->rel_by_name, rel->schema, NULL, rel->name, rel);
	}
	i = 0;
	foreach(lc, b->rels)
	{
		PlanRel    *rel = lfirst(lc);
		ListCell   *p;

		rel->root = sl_plan_oid_get(b->rel_by_oid, sl_plan_oid(res, i, 1));
		foreach(p, sl_plan_list(PQgetvalue(res, i, 18)))
		{
			PlanRel    *parent = sl_plan_oid_get(b->rel_by_oid,
												 (Oid) strtoul(lfirst(p), NULL, 10));

			if (parent)
				rel->inherits = lappend(rel->inherits, parent);
		}
		i++;
	}
	PQclear(res);
	read_made(b);
	judge_existing(b);
	b->oids = oid_array(b);
}

static void
read_column(PlanColumn *col, const PGresult *res, int i)
{
	col->name = sl_plan_field(res, i, 1);
	col->attnum = strtol(PQgetvalue(res, i, 2), NULL, 10);
	col->typid = sl_plan_oid(res, i, 3);
	col->type = sl_plan_field(res, i, 4);
	col->coll_schema = sl_plan_field(res, i, 5);
	col->coll_name = sl_plan_field(res, i, 6);
	col->notnull = sl_plan_bool(res, i, 7);
	col->identity = sl_plan_char(res, i, 8);
	col->generated = sl_plan_char(res, i, 9);
	col->expr = sl_plan_field(res, i, 10);
	col->storage = sl_plan_char(res, i, 11);
	col->compression = sl_plan_char(res, i, 12);
	col->stattarget = strtol(PQgetvalue(res, i, 13), NULL, 10);
	col->options = sl_plan_field(res, i, 14);
	col->islocal = sl_plan_bool(res, i, 15);
	col->type_storage = sl_plan_char(res, i, 16);
}

void
sl_plan_read_columns(PlanBuild *b)
{
	PGresult   *res = sl_plan_query(b, psprintf(COLUMNS_SQL,
												b->c->server_version >= 140000 ?
												"a.attcompression" : "''"));
	int			n = PQntuples(res);
	ListCell   *lc;

	for (int i = 0; i < n;)
	{
		Oid			relid = sl_plan_oid(res, i, 0);
		PlanRel    *rel = sl_plan_oid_get(b->rel_by_oid, relid);
		int			first = i;

		while (i < n && sl_plan_oid(res, i, 0) == relid)
			i++;
		rel->ncols = i - first;
		rel->cols = palloc0(sizeof(PlanColumn) * rel->ncols);
		for (int j = 0; j < rel->ncols; j++)
			read_column(&rel->cols[j], res, first + j);
	}
	PQclear(res);
	foreach(lc, b->rels)
		sl_plan_mark_printed(lfirst(lc));
}

/* A NOT NULL that is an object (18) is part of its column. */
static void
take_not_null(PlanRel *rel, const PlanConstraint *con)
{
	for (int i = 0; i < rel->ncols; i++)
		if (rel->cols[i].attnum == con->column)
		{
			rel->cols[i].nn_name = con->name;
			rel->cols[i].nn_noinherit = con->noinherit;
			if (!con->validated)
				rel->cols[i].notnull = false;
		}
}

void
sl_plan_read_constraints(PlanBuild *b)
{
	PGresult   *res = sl_plan_query(b, psprintf(CONSTRAINTS_SQL,
												b->c->server_version >= 180000 ?
												"con.conenforced, con.conperiod" : "true, false"));

	for (int i = 0; i < PQntuples(res); i++)
	{
		PlanRel    *rel = sl_plan_oid_get(b->rel_by_oid, sl_plan_oid(res, i, 0));
		PlanConstraint *con = palloc0(sizeof(PlanConstraint));

		con->oid = sl_plan_oid(res, i, 1);
		con->type = sl_plan_char(res, i, 2);
		con->name = sl_plan_field(res, i, 3);
		con->def = sl_plan_field(res, i, 4);
		con->expr = sl_plan_field(res, i, 5);
		con->validated = sl_plan_bool(res, i, 6);
		con->noinherit = sl_plan_bool(res, i, 7);
		con->islocal = sl_plan_bool(res, i, 8);
		con->index = sl_plan_oid(res, i, 9);
		con->confrelid = sl_plan_oid(res, i, 10);
		con->parent = sl_plan_oid(res, i, 11);
		con->deferrable = sl_plan_bool(res, i, 12);
		con->deferred = sl_plan_bool(res, i, 13);
		con->enforced = sl_plan_bool(res, i, 14);
		con->period = sl_plan_bool(res, i, 15);
		con->column = strtol(PQgetvalue(res, i, 16), NULL, 10);
		con->confrel = sl_plan_field(res, i, 17);
		rel->constraints = lappend(rel->constraints, con);
		if (con->type == 'n')
			take_not_null(rel, con);
	}
	PQclear(res);
}
