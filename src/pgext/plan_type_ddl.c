/*
 * plan_type_ddl.c
 *	  Statements of types, and whether the target's own type is the same.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "pgext/plan_int.h"
#include "pgext/spi_util.h"
#include "pgext/pgcompat.h"

/*
 * A type of the target in the form that describe_source() makes of one of the
 * source: types by oid and typmod, so that only expressions are compared as
 * text.
 */
#define DESCRIBE_SQL \
	"SELECT CASE t.typtype " \
	"WHEN 'e' THEN 'enum ' || (SELECT pg_catalog.string_agg( " \
	"    pg_catalog.quote_literal(e.enumlabel), ',' ORDER BY e.enumsortorder) " \
	"  FROM pg_catalog.pg_enum e WHERE e.enumtypid = t.oid) " \
	"WHEN 'c' THEN 'composite ' || (SELECT pg_catalog.string_agg( " \
	"    pg_catalog.quote_ident(a.attname) || ' ' || a.atttypid::text || ':' || a.atttypmod::text, " \
	"    ',' ORDER BY a.attnum) " \
	"  FROM pg_catalog.pg_attribute a " \
	"  WHERE a.attrelid = t.typrelid AND a.attnum > 0 AND NOT a.attisdropped) " \
	"WHEN 'd' THEN 'domain ' || t.typbasetype::text || ':' || t.typtypmod::text || " \
	"  CASE WHEN t.typnotnull THEN ' not null' ELSE '' END || " \
	"  coalesce(' default ' || pg_catalog.pg_get_expr(t.typdefaultbin, 0), '') || " \
	"  coalesce((SELECT pg_catalog.string_agg(' check ' || pg_catalog.pg_get_expr(c.conbin, 0), '' " \
	"      ORDER BY c.conname COLLATE \"C\") " \
	"    FROM pg_catalog.pg_constraint c WHERE c.contypid = t.oid AND c.contype = 'c'), '') " \
	"WHEN 'r' THEN 'range ' || (SELECT r.rngsubtype::text || ':-1' FROM pg_catalog.pg_range r " \
	"  WHERE r.rngtypid = t.oid) " \
	"END FROM pg_catalog.pg_type t WHERE t.oid = $1::pg_catalog.oid"

/* See plan.h. */
char *
sl_plan_describe_type(Oid typid)
{
	MemoryContext cxt = CurrentMemoryContext;
	const char *params[1] = {psprintf("%u", typid)};
	SlUserSwitch user;
	char	   *text = NULL;

	sl_become_extension_owner(&user);
	sl_spi_enter();
	if (sl_spi_exec(DESCRIBE_SQL, SPI_OK_SELECT, 1, params) == 1)
		text = sl_spi_text(0, 1, cxt);
	sl_spi_leave();
	sl_become_back(&user);
	return text;
}

/* Target's oid and typmod of a type as the gate gives it back. */
static char *
type_id(PlanBuild *b, const char *type)
{
	char	   *fault = NULL;
	char	   *text = sl_gate_type(b->gate, type, &fault);
	Oid			typid;
	int32		typmod;

	if (text == NULL || !sl_compat_parse_type(text, &typid, &typmod))
		return pstrdup("?");
	return psprintf("%u:%d", typid, typmod);
}

static char *
expr_text(PlanBuild *b, const char *expr)
{
	char	   *fault = NULL;
	char	   *text = sl_gate_expr(b->gate, expr, &fault);

	return text ? text : pstrdup("?");
}

static char *
describe_source(PlanBuild *b, const PlanType *t)
{
	StringInfoData buf;
	const char *sep = "";
	ListCell   *lc;

	initStringInfo(&buf);
	if (t->typtype == 'r')
		return psprintf("range %s", type_id(b, t->sub));
	if (t->typtype == 'd')
	{
		appendStringInfo(&buf, "domain %s%s", type_id(b, t->base),
						 t->notnull ? " not null" : "");
		if (t->dflt)
			appendStringInfo(&buf, " default %s", expr_text(b, t->dflt));
		foreach(lc, t->parts)
			appendStringInfo(&buf, " check %s", expr_text(b, ((PlanPart *) lfirst(lc))->text));
		return buf.data;
	}
	appendStringInfoString(&buf, t->typtype == 'e' ? "enum " : "composite ");
	foreach(lc, t->parts)
	{
		const PlanPart *part = lfirst(lc);

		if (t->typtype == 'e')
			appendStringInfo(&buf, "%s%s", sep, quote_literal_cstr(part->name));
		else
			appendStringInfo(&buf, "%s%s %s", sep, quote_identifier(part->name),
							 type_id(b, part->text));
		sep = ",";
	}
	return buf.data;
}

static char *
enum_ddl(const PlanType *t)
{
	StringInfoData buf;
	ListCell   *lc;

	initStringInfo(&buf);
	foreach(lc, t->parts)
		appendStringInfo(&buf, "%s%s", buf.len ? ", " : "",
						 quote_literal_cstr(((PlanPart *) lfirst(lc))->name));
	return psprintf("CREATE TYPE %s AS ENUM (%s)", sl_plan_relname(t), buf.data);
}

static char *
composite_ddl(PlanBuild *b, SlObject *o, const PlanType *t)
{
	StringInfoData buf;
	ListCell   *lc;

	initStringInfo(&buf);
	foreach(lc, t->parts)
	{
		const PlanPart *part = lfirst(lc);
		char	   *type = sl_plan_type(b, o, part->text,
										psprintf("the type of attribute %s",
												 quote_identifier(part->name)));

		appendStringInfo(&buf, "%s%s %s%s", buf.len ? ", " : "", quote_identifier(part->name),
						 type ? type : "",
						 sl_plan_collate(b, o, part->coll_schema, part->coll_name));
	}
	return psprintf("CREATE TYPE %s AS (%s)", sl_plan_relname(t), buf.data);
}

static char *
domain_ddl(PlanBuild *b, SlObject *o, const PlanType *t)
{
	StringInfoData buf;
	char	   *base = sl_plan_type(b, o, t->base, "its base type");
	ListCell   *lc;
	char	   *expr;

	initStringInfo(&buf);
	appendStringInfo(&buf, "CREATE DOMAIN %s AS %s%s", sl_plan_relname(t), base ? base : "",
					 sl_plan_collate(b, o, t->coll_schema, t->coll_name));
	if (t->dflt && (expr = sl_plan_expr(b, o, t->dflt, "its default")) != NULL)
		appendStringInfo(&buf, " DEFAULT %s", expr);
	if (t->notnull)
		appendStringInfoString(&buf, " NOT NULL");
	foreach(lc, t->parts)
	{
		const PlanPart *part = lfirst(lc);

		if (!part->validated)
			continue;
		expr = sl_plan_expr(b, o, part->text,
							psprintf("constraint %s", quote_identifier(part->name)));
		if (expr)
			appendStringInfo(&buf, " CONSTRAINT %s CHECK (%s)",
							 quote_identifier(part->name), expr);
	}
	return buf.data;
}

/* A domain's constraint that old values need not fulfil: after the rows. */
static void
domain_checks(PlanBuild *b, const PlanType *t)
{
	ListCell   *lc;

	foreach(lc, t->parts)
	{
		const PlanPart *part = lfirst(lc);
		SlObject   *o;
		char	   *expr;

		if (part->validated)
			continue;
		o = sl_plan_add(b, SL_OBJ_CHECK, SL_STAGE_LAST, NULL, t->tschema,
						psprintf("%s on domain %s", part->name, t->name));
		if (sl_plan_recorded(b, SL_OBJ_CHECK, o->schema, NULL, o->name))
			o->state = SL_OBJECT_EXISTS;
		expr = sl_plan_expr(b, o, part->text, "its expression");
		if (expr)
			sl_plan_ddl(b, o, psprintf("ALTER DOMAIN %s ADD CONSTRAINT %s CHECK (%s) NOT VALID",
									   sl_plan_relname(t), quote_identifier(part->name), expr));
	}
}

static void
append_function(SlObject *o, StringInfo buf, const char *what, const char *schema,
				const char *name)
{
	if (name == NULL)
		return;
	if (strcmp(schema, "pg_catalog") != 0)
		sl_plan_fault(o, "its %s function %s is no function of PostgreSQL itself", what,
					  sl_plan_qualified(schema, name));
	appendStringInfo(buf, ", %s = %s", what, sl_plan_qualified(schema, name));
}

static char *
range_ddl(PlanBuild *b, SlObject *o, const PlanType *t)
{
	StringInfoData buf;
	char	   *sub = sl_plan_type(b, o, t->sub, "its subtype");
	char	   *collate = sl_plan_collate(b, o, t->coll_schema, t->coll_name);

	initStringInfo(&buf);
	appendStringInfo(&buf, "CREATE TYPE %s AS RANGE (subtype = %s", sl_plan_relname(t),
					 sub ? sub : "");
	if (t->multirange)
		appendStringInfo(&buf, ", multirange_type_name = %s",
						 sl_plan_qualified(t->tschema, t->multirange));
	if (t->sub_opclass)
	{
		if (strcmp(t->sub_opclass_schema, "pg_catalog") != 0)
			sl_plan_fault(o, "its operator class %s is none of PostgreSQL itself",
						  sl_plan_qualified(t->sub_opclass_schema, t->sub_opclass));
		appendStringInfo(&buf, ", subtype_opclass = %s",
						 sl_plan_qualified(t->sub_opclass_schema, t->sub_opclass));
	}
	if (collate[0])
		appendStringInfo(&buf, ", collation = %s", collate + strlen(" COLLATE "));
	append_function(o, &buf, "canonical", t->canonical_schema, t->canonical);
	append_function(o, &buf, "subtype_diff", t->diff_schema, t->diff);
	appendStringInfoChar(&buf, ')');
	return buf.data;
}

static SlObjectKind
kind_of(const PlanType *t)
{
	switch (t->typtype)
	{
		case 'e':
			return SL_OBJ_ENUM;
		case 'c':
			return SL_OBJ_COMPOSITE;
		case 'd':
			return SL_OBJ_DOMAIN;
		case 'r':
			return SL_OBJ_RANGE;
		default:
			return SL_OBJ_TYPE;
	}
}

static Oid
target_type(const PlanType *t)
{
	Oid			nsp = get_namespace_oid(t->tschema, true);

	if (!OidIsValid(nsp))
		return InvalidOid;
	return GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid, CStringGetDatum(t->name),
						   ObjectIdGetDatum(nsp));
}

/* The target has a type of that name: is it the same? */
static void
judge_type(PlanBuild *b, SlObject *o, const PlanType *t, Oid typid)
{
	char	   *theirs;
	char	   *ours;

	if (sl_plan_recorded(b, o->kind, o->schema, NULL, o->name) || o->kind == SL_OBJ_TYPE)
	{
		o->state = SL_OBJECT_EXISTS;
		return;
	}
	theirs = sl_plan_describe_type(typid);
	ours = describe_source(b, t);
	if (theirs && strcmp(theirs, ours) == 0)
		o->state = SL_OBJECT_EXISTS;
	else if (t->used)
		sl_plan_fault(o, "exists on the target with another definition");
	else
	{
		o->state = SL_OBJECT_EXISTS;
		sl_plan_note(o, "the target's definition differs from the source's");
	}
}

/* The statement of one type. */
void
sl_plan_type_object(PlanBuild *b, PlanType *t)
{
	SlObject   *o;
	Oid			typid = target_type(t);

	sl_plan_need_schema(b, t->tschema);
	o = sl_plan_add(b, kind_of(t), SL_STAGE_BEFORE, NULL, t->tschema, t->name);
	o->used = t->used;
	sl_plan_claim(b, o, 't', t->name);
	if (OidIsValid(typid))
		judge_type(b, o, t, typid);
	if (o->state != SL_OBJECT_PLANNED)
		return;
	switch (t->typtype)
	{
		case 'e':
			sl_plan_ddl(b, o, enum_ddl(t));
			break;
		case 'c':
			sl_plan_ddl(b, o, composite_ddl(b, o, t));
			break;
		case 'd':
			sl_plan_ddl(b, o, domain_ddl(b, o, t));
			domain_checks(b, t);
			break;
		case 'r':
			sl_plan_ddl(b, o, range_ddl(b, o, t));
			break;
		default:
			sl_plan_fault(o, "is a type made of functions in C and is not on the target");
	}
}

/*
 * Is the target's type the same as one of the source, as its catalog is now?
 * What it is made of must pass the gate.
 */
bool
sl_plan_type_same(SlConn *c, SlStream *s, Oid source, Oid target)
{
	PlanBuild  *b = palloc0(sizeof(PlanBuild));
	PlanType   *t;
	char	   *theirs;
	ListCell   *lc;

	b->c = c;
	b->s = s;
	b->gate = sl_gate_create(s);
	sl_plan_read_types(b);
	foreach(lc, b->types)
	{
		const PlanType *each = lfirst(lc);

		if (!each->extension)
			sl_gate_allow(b->gate, 't', each->schema, each->name);
	}
	t = sl_plan_oid_get(b->type_by_oid, source);
	theirs = t ? sl_plan_describe_type(target) : NULL;
	return theirs != NULL && strcmp(theirs, describe_source(b, t)) == 0;
}
