/*
 * types_pg.c
 *	  Types of users that changed on the source.
 *
 * NOTES
 *	  No relcache entry changes with ALTER TYPE or ALTER DOMAIN, so pgoutput
 *	  says nothing of them.  What the types of the stream's columns are made of
 *	  is on record, by oid, and compared at every start, at the periodic look,
 *	  and when a row cannot be read.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "common/sl_shape.h"
#include "pgext/gate.h"
#include "pgext/plan.h"
#include "pgext/refusal.h"
#include "pgext/types_int.h"
#include "pgext/pgcompat.h"

/*
 * The types of the columns and all that they are made of.  Extensions' types
 * are the extensions' own business.  pg_range has rngmultitypid since 14.
 */
#define COLLATE_SQL(collation_, type_) \
	"(SELECT 'COLLATE ' || pg_catalog.quote_ident(ln.nspname) || '.' " \
	"  || pg_catalog.quote_ident(l.collname) FROM pg_catalog.pg_collation l " \
	"  JOIN pg_catalog.pg_namespace ln ON ln.oid = l.collnamespace " \
	"  JOIN pg_catalog.pg_type y ON y.oid = " type_ " AND y.typcollation <> l.oid " \
	"  WHERE l.oid = " collation_ ")"

#define TYPES_SQL \
	"WITH RECURSIVE u (oid) AS (" \
	"  SELECT a.atttypid FROM pg_catalog.pg_attribute a " \
	"  WHERE a.attrelid = ANY ($1::pg_catalog.oid[]) AND a.attnum > 0 AND NOT a.attisdropped " \
	"  UNION SELECT x.oid FROM u JOIN pg_catalog.pg_type p ON p.oid = u.oid, LATERAL (" \
	"    SELECT p.typbasetype WHERE p.typtype = 'd' " \
	"    UNION ALL SELECT e.oid FROM pg_catalog.pg_type e " \
	"      WHERE e.oid = p.typelem AND e.typarray = p.oid " \
	"    UNION ALL SELECT r.rngsubtype FROM pg_catalog.pg_range r " \
	"      WHERE r.rngtypid = p.oid OR p.oid = " \
	"        (pg_catalog.to_jsonb(r) ->> 'rngmultitypid')::pg_catalog.oid " \
	"    UNION ALL SELECT a.atttypid FROM pg_catalog.pg_attribute a " \
	"      WHERE p.typtype = 'c' AND a.attrelid = p.typrelid AND a.attnum > 0 " \
	"        AND NOT a.attisdropped) AS x (oid)) " \
	"SELECT t.oid, n.nspname, t.typname, t.typtype, CASE t.typtype " \
	"WHEN 'e' THEN (SELECT pg_catalog.string_agg(e.oid || ' ' || pg_catalog.replace(" \
	"    pg_catalog.replace(e.enumlabel::text, pg_catalog.chr(92), pg_catalog.chr(92) || pg_catalog.chr(92)), " \
	"    pg_catalog.chr(10), pg_catalog.chr(92) || 'n'), pg_catalog.chr(10) ORDER BY e.enumsortorder) " \
	"  FROM pg_catalog.pg_enum e WHERE e.enumtypid = t.oid) " \
	"WHEN 'c' THEN (SELECT pg_catalog.string_agg(pg_catalog.concat_ws(' ', a.attnum, " \
	"    pg_catalog.quote_ident(a.attname), pg_catalog.format_type(a.atttypid, a.atttypmod), " \
	COLLATE_SQL("a.attcollation", "a.atttypid") "), ', ' ORDER BY a.attnum) " \
	"  FROM pg_catalog.pg_attribute a " \
	"  WHERE a.attrelid = t.typrelid AND a.attnum > 0 AND NOT a.attisdropped) " \
	"ELSE pg_catalog.concat_ws(' ', pg_catalog.format_type(t.typbasetype, t.typtypmod), " \
	COLLATE_SQL("t.typcollation", "t.typbasetype") ", " \
	"    CASE WHEN t.typnotnull THEN 'NOT NULL' END, " \
	"    'DEFAULT ' || pg_catalog.pg_get_expr(t.typdefaultbin, 0), " \
	"    (SELECT pg_catalog.string_agg('CHECK (' || pg_catalog.pg_get_expr(c.conbin, 0) || ')', " \
	"        ' ' ORDER BY pg_catalog.pg_get_expr(c.conbin, 0) COLLATE pg_catalog.\"C\") " \
	"      FROM pg_catalog.pg_constraint c " \
	"      WHERE c.contypid = t.oid AND c.contype = 'c')) END " \
	"FROM u JOIN pg_catalog.pg_type t ON t.oid = u.oid " \
	"JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace " \
	"WHERE t.typtype IN ('e', 'c', 'd') " \
	"  AND n.nspname NOT IN ('pg_catalog', 'information_schema') " \
	"  AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d " \
	"    WHERE d.classid = 'pg_catalog.pg_type'::pg_catalog.regclass " \
	"      AND d.objid = t.oid AND d.deptype = 'e') " \
	"ORDER BY t.oid"

struct SlPgTypes
{
	int			n;
	SlTypeNow  *types;
	int			nwas;
	SlTypeRecord *was;
};

/* ---------- reading ---------- */

static Oid
type_of_name(SlStream *s, const SlTypeRecord *t)
{
	Oid			nsp = get_namespace_oid(sl_stream_target_schema(s, t->schema), true);

	if (!OidIsValid(nsp))
		return InvalidOid;
	return GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid, CStringGetDatum(t->name),
						   ObjectIdGetDatum(nsp));
}

/* Of the types on record, the one of the oid, or of the name and another oid. */
static void
find_record(SlPgTypes *set, SlTypeNow *n)
{
	for (int i = 0; i < set->nwas; i++)
	{
		SlTypeRecord *was = &set->was[i];

		if (was->source == n->t.source)
			n->was = was;
		else if (strcmp(was->schema, n->t.schema) == 0 && strcmp(was->name, n->t.name) == 0)
			n->former = was;
	}
}

/* See look_pg.h. */
SlPgTypes *
sl_pg_load_types(SlConn *c, const char *stream_id, const Oid * tables, int n)
{
	SlPgTypes  *set = palloc0(sizeof(SlPgTypes));
	StringInfoData oids;
	const char *params[1];
	PGresult   *res;

	initStringInfo(&oids);
	for (int i = 0; i < n; i++)
		appendStringInfo(&oids, "%c%u", i ? ',' : '{', tables[i]);
	appendStringInfoString(&oids, n ? "}" : "{}");
	params[0] = oids.data;
	res = sl_conn_query(c, PGRES_TUPLES_OK, TYPES_SQL, 1, params);
	set->n = PQntuples(res);
	set->types = palloc0_array(SlTypeNow, set->n + 1);
	set->nwas = sl_type_records(stream_id, &set->was);
	for (int i = 0; i < set->n; i++)
	{
		SlTypeNow  *now = &set->types[i];

		now->t.source = (Oid) strtoul(PQgetvalue(res, i, 0), NULL, 10);
		now->t.schema = pstrdup(PQgetvalue(res, i, 1));
		now->t.name = pstrdup(PQgetvalue(res, i, 2));
		now->t.kind = PQgetvalue(res, i, 3)[0];
		now->t.definition = pstrdup(PQgetvalue(res, i, 4));
		find_record(set, now);
	}
	PQclear(res);
	return set;
}

/* ---------- what enum_pg.c shares ---------- */

bool
sl_pg_forwards(const SlPgLook *look)
{
	return strcmp(look->st->s->schema_changes, "forward") == 0;
}

char *
sl_pg_type_line(const SlTypeNow *n, const char *kind, const char *text)
{
	StringInfoData line;

	initStringInfo(&line);
	appendStringInfo(&line, "[%s] ", kind);
	sl_append_ident(&line, n->t.schema);
	appendStringInfoChar(&line, '.');
	sl_append_ident(&line, n->t.name);
	appendStringInfoString(&line, ": ");
	sl_append_visible(&line, text);
	return line.data;
}

static SlRefusal
refusal(const SlTypeNow *n, SlMarker marker, const char *line, const char *ddl)
{
	return (SlRefusal) {
						.marker = marker, .schema = n->t.schema, .table = n->t.name, .detail = line,
						.hint = ddl ? psprintf("%s;", ddl) : NULL
		};
}

void
sl_pg_refuse_type(const SlTypeNow *n, SlMarker marker, const char *line, const char *ddl)
{
	SlRefusal	r = refusal(n, marker, line, ddl);

	sl_refuse(&r, "type \"%s.%s\" changed on the source", n->t.schema, n->t.name);
}

/* What a person must see to is a refusal that names it. */
static void
run_ddl(SlPgLook *look, const SlTypeNow *n, const char *ddl)
{
	MemoryContext cxt = CurrentMemoryContext;

	PG_TRY();
	{
		sl_ddl_alter_type(look->st->s, n->t.target, ddl);
	}
	PG_CATCH();
	{
		ErrorData  *e;

		if (sl_classify_sqlstate(geterrcode()) != SL_CLASS_FATAL)
			PG_RE_THROW();
		MemoryContextSwitchTo(cxt);
		e = CopyErrorData();
		FlushErrorState();
		sl_pg_refuse_type(n, SL_M_SCHEMA_CHANGE_REFUSED,
						  sl_pg_type_line(n, "type-not-altered", e->message), ddl);
	}
	PG_END_TRY();
}

void
sl_pg_alter_type(SlPgLook *look, const SlTypeNow *n, const char *ddl)
{
	SlPgStream *st = look->st;

	run_ddl(look, n, ddl);
	look->carried++;
	sl_schema_event(st->s->stream_id, n->t.schema, n->t.name, st->fb.received, NULL,
					"forwarded", ddl, SL_M_NONE);
	ereport(LOG,
			(errmsg("stream \"%s\" forwarded a change of type \"%s.%s\": %s",
					st->s->stream_id, n->t.schema, n->t.name, ddl)));
}

void
sl_pg_put_type(SlPgLook *look, SlTypeNow *n, char *definition)
{
	SlTypeRecord *t = palloc(sizeof(SlTypeRecord));

	*t = n->t;
	t->definition = definition;
	sl_type_record_put(look->st->s->stream_id, t);
	n->was = t;
}

/* ---------- the other kinds ---------- */

/* The end of an attribute of a composite's definition: ", ", not in quotes. */
static size_t
attribute_length(const char *text)
{
	bool		quoted = false;
	size_t		i;

	for (i = 0; text[i]; i++)
	{
		quoted ^= text[i] == '"';
		if (!quoted && strncmp(&text[i], ", ", 2) == 0)
			break;
	}
	return i;
}

/*
 * The statement for attributes that were added behind those that were there, a
 * definition being "1 x integer, 2 y text"; NULL where more changed.
 */
static char *
added_attributes(const SlTypeNow *n, const char *was)
{
	size_t		len = strlen(was);
	const char *text = n->t.definition;
	StringInfoData sql;

	if (len == 0 || strncmp(text, was, len) != 0 || strncmp(text + len, ", ", 2) != 0)
		return NULL;
	for (const char *p = text; *p; p++)
		if ((unsigned char) *p < ' ')
			return NULL;
	initStringInfo(&sql);
	appendStringInfo(&sql, "ALTER TYPE %s", format_type_be_qualified(n->t.target));
	for (text += len; *text; text += attribute_length(text))
	{
		text += 2;
		text += strspn(text, "0123456789 ");
		appendStringInfo(&sql, " ADD ATTRIBUTE %.*s",
						 (int) attribute_length(text), text);
		if (text[attribute_length(text)])
			appendStringInfoChar(&sql, ',');
	}
	appendStringInfoChar(&sql, ';');
	return sql.data;
}

static SL_NORETURN void
refuse_made_of(const SlTypeNow *n, SlRefusal *r)
{
	const char *type = format_type_be_qualified(n->t.target);
	char	   *added = n->was && n->t.kind != TYPTYPE_DOMAIN ?
	added_attributes(n, n->was->definition) : NULL;

	if (added != NULL)
		r->hint = added;
	else if (n->t.kind == TYPTYPE_DOMAIN)
		r->hint = psprintf("Make the same change to %s of the target with ALTER DOMAIN, then call sync_start.",
						   type);
	else
		r->hint = psprintf("Make the same change to %s of the target with ALTER TYPE, and copy the columns of that type from the source by key, because rows that came since have the new attributes in the old ones' places; then call sync_start.",
						   type);
	sl_refuse(r, "type \"%s.%s\" changed on the source, which is not forwarded",
			  n->t.schema, n->t.name);
}

/* Domains and composites: their values may not mean, or fit, the same. */
static void
judge_made_of(SlPgLook *look, SlConn *c, SlTypeNow *n)
{
	SlStream   *s = look->st->s;
	bool		domain = n->t.kind == TYPTYPE_DOMAIN;
	SlMarker	marker = SL_M_NONE;
	SlRefusal	r;
	char	   *line;

	if (n->was == NULL && n->former == NULL)
	{
		sl_pg_put_type(look, n, n->t.definition);
		return;
	}
	line = sl_pg_type_line(n, domain ? "domain-changed" : "composite-changed",
						   psprintf("%s, was %s", n->t.definition,
									(n->was ? n->was : n->former)->definition));
	r = refusal(n, SL_M_UNFORWARDED_SCHEMA_CHANGE, line, NULL);
	if (!sl_plan_type_same(c, s, n->t.source, n->t.target))
	{
		/* what was acknowledged needs no second look */
		if (!sl_refusal_acknowledged(s->stream_id, &r))
		{
			if (sl_pg_look_found(look, line))
				refuse_made_of(n, &r);
			return;
		}
		marker = SL_M_UNFORWARDED_SCHEMA_CHANGE;
	}
	sl_schema_event(s->stream_id, n->t.schema, n->t.name, look->st->fb.received, NULL,
					"passed", line, marker);
	sl_pg_put_type(look, n, n->t.definition);
}

/* A table's row type goes by its table. */
static bool
is_free_standing(Oid type)
{
	Oid			rel = get_typ_typrelid(type);

	return !OidIsValid(rel) || get_rel_relkind(rel) == RELKIND_COMPOSITE_TYPE;
}

/* Another name or schema: by oid it is the same type. */
static void
judge_name(SlPgLook *look, SlTypeNow *n)
{
	SlStream   *s = look->st->s;
	char	   *want_nsp = sl_stream_target_schema(s, n->t.schema);
	HeapTuple	tup = SearchSysCache1(TYPEOID, ObjectIdGetDatum(n->t.target));
	Form_pg_type form = (Form_pg_type) GETSTRUCT(tup);
	char	   *nsp = get_namespace_name(form->typnamespace);
	char	   *name = pstrdup(NameStr(form->typname));
	char	   *line;
	char	   *ddl[2];
	int			nddl = 0;

	ReleaseSysCache(tup);
	if (strcmp(name, n->t.name) != 0)
		ddl[nddl++] = psprintf("ALTER TYPE %s RENAME TO %s", quote_qualified_identifier(nsp, name),
							   quote_identifier(n->t.name));
	if (strcmp(nsp, want_nsp) != 0)
		ddl[nddl++] = psprintf("ALTER TYPE %s SET SCHEMA %s",
							   quote_qualified_identifier(nsp, n->t.name),
							   quote_identifier(want_nsp));
	if (!is_free_standing(n->t.target))
		return;
	for (int i = 0; i < nddl; i++)
		if (sl_pg_forwards(look))
			sl_pg_alter_type(look, n, ddl[i]);
		else
		{
			line = sl_pg_type_line(n, "type-renamed",
								   psprintf("was %s.%s", n->was->schema, n->was->name));
			if (!sl_pg_look_found(look, line))
				return;
			sl_pg_refuse_type(n, SL_M_SCHEMA_CHANGE_REFUSED, line, ddl[i]);
		}
	sl_pg_put_type(look, n, n->was->definition);
}

static void
judge_one(SlPgLook *look, SlConn *c, SlTypeNow *n)
{
	if (n->was && SearchSysCacheExists1(TYPEOID, ObjectIdGetDatum(n->was->target)))
		n->t.target = n->was->target;
	else
		n->t.target = type_of_name(look->st->s, &n->t);
	if (!OidIsValid(n->t.target) || get_typtype(n->t.target) != n->t.kind)
		return;					/* the judge of the table speaks of it */
	if (n->was && (strcmp(n->was->schema, n->t.schema) != 0 ||
				   strcmp(n->was->name, n->t.name) != 0))
		judge_name(look, n);
	if (n->was && strcmp(n->was->definition, n->t.definition) == 0)
		return;
	if (n->t.kind == TYPTYPE_ENUM)
		sl_pg_judge_enum(look, n);
	else if (!look->enums_only)
		judge_made_of(look, c, n);
}

/* Records of types that no column has any more, and no type of the name waits. */
static void
forget_unused(SlPgLook *look, SlPgTypes *set)
{
	for (int i = 0; i < set->nwas; i++)
	{
		SlTypeRecord *was = &set->was[i];
		bool		used = false;

		for (int k = 0; k < set->n && !used; k++)
			used = set->types[k].t.source == was->source ||
				(set->types[k].former == was && set->types[k].was == NULL);
		if (!used)
			sl_type_record_delete(look->st->s->stream_id, was->source);
	}
}

/* See look_pg.h. */
void
sl_pg_judge_types(SlPgLook *look, SlConn *c, SlPgTypes *set)
{
	for (int i = 0; i < set->n; i++)
		judge_one(look, c, &set->types[i]);
	if (!look->enums_only)
		forget_unused(look, set);
}

/* See stream_pg.h. */
void
sl_pg_record_types(SlPgStream *st, SlConn *c, bool anew, const Oid * tables, int n)
{
	SlPgLook	look = {.st = st};

	initStringInfo(&look.found);
	if (anew)
		sl_type_records_clear(st->s->stream_id);
	sl_pg_judge_types(&look, c, sl_pg_load_types(c, st->s->stream_id, tables, n));
}

/* See stream_pg.h. */
bool
sl_pg_carry_types(SlPgStream *st)
{
	SlPgLook	look = {.st = st, .act = true, .enums_only = true};
	Oid		   *oids;

	StartTransactionCommand();
	initStringInfo(&look.found);
	oids = palloc0_array(Oid, st->ntables + 1);
	for (int i = 0; i < st->ntables; i++)
		oids[i] = st->tables[i].source_id;
	sl_pg_judge_types(&look, st->cat,
					  sl_pg_load_types(st->cat, st->s->stream_id, oids, st->ntables));
	CommitTransactionCommand();
	MemoryContextSwitchTo(st->cxt);
	return look.carried > 0;
}

/* See stream_pg.h. */
void
sl_pg_explain_value(SlPgStream *st, const char *schema, const char *table)
{
	SlPgLook	look = {.st = st, .act = true};
	SlPgTypes  *set;

	StartTransactionCommand();
	initStringInfo(&look.found);
	for (int i = 0; i < st->ntables; i++)
	{
		SlStreamTable *t = &st->tables[i];
		char	   *name = get_rel_name(t->target_relid);

		if (name == NULL || strcmp(name, table) != 0 ||
			strcmp(get_namespace_name(get_rel_namespace(t->target_relid)), schema) != 0)
			continue;
		set = sl_pg_load_types(st->cat, st->s->stream_id, &t->source_id, 1);
		for (int k = 0; k < set->n; k++)
			if (set->types[k].t.kind != TYPTYPE_ENUM && set->types[k].was != NULL)
				judge_one(&look, st->cat, &set->types[k]);
	}
	CommitTransactionCommand();
	MemoryContextSwitchTo(st->cxt);
}
