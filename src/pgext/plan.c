/*
 * plan.c
 *	  The plan of a cold start: reads, orders, and keeps the list of objects.
 *
 * NOTES
 *	  Nothing that the source sends is put into a statement as it is: names are
 *	  quoted here, options' values too, and every other text passes the gate.
 *
 *	  A table of the target that this stream did not make is taken as it is, and
 *	  nothing of it is planned.  What sluice.schema_object has as created is
 *	  believed only as long as its table is there.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/namespace.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "pgext/errutil.h"
#include "pgext/plan_int.h"
#include "pgext/spi_util.h"
#include "pgext/pgcompat.h"

static const char *const kind_names[] = {
#define SL_OBJECT(sym, name) name,
	SL_OBJECT_LIST
#undef SL_OBJECT
};

const char *
sl_object_kind_name(SlObjectKind k)
{
	return k >= 0 && k < SL_OBJ_COUNT ? kind_names[k] : "object";
}

SlObjectKind
sl_object_kind_by_name(const char *name)
{
	SlObjectKind k = 0;

	while (k < SL_OBJ_COUNT && strcmp(kind_names[k], name) != 0)
		k++;
	return k;
}

/* --------------------------------------------------------------------------
 * Hashes
 */

typedef struct OidEntry
{
	Oid			oid;
	void	   *ptr;
} OidEntry;

HTAB *
sl_plan_oid_hash(const char *name)
{
	HASHCTL		ctl = {.keysize = sizeof(Oid), .entrysize = sizeof(OidEntry),
	.hcxt = CurrentMemoryContext};

	return hash_create(name, 256, &ctl, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

void
sl_plan_oid_put(HTAB *h, Oid oid, void *ptr)
{
	OidEntry   *e = hash_search(h, &oid, HASH_ENTER, NULL);

	e->ptr = ptr;
}

void *
sl_plan_oid_get(HTAB *h, Oid oid)
{
	OidEntry   *e = hash_search(h, &oid, HASH_FIND, NULL);

	return e ? e->ptr : NULL;
}

/* Key of an object: kind, schema, table and name, each at most NAMEDATALEN. */
#define TEXT_KEY 512

typedef struct TextEntry
{
	char		key[TEXT_KEY];
	void	   *ptr;
} TextEntry;

static HTAB *
text_hash(const char *name)
{
	HASHCTL		ctl = {.keysize = TEXT_KEY, .entrysize = sizeof(TextEntry),
	.hcxt = CurrentMemoryContext};

	return hash_create(name, 256, &ctl, HASH_ELEM | HASH_STRINGS | HASH_CONTEXT);
}

static void
object_key(char *key, const char *kind, const char *schema, const char *table,
		   const char *name)
{
	snprintf(key, TEXT_KEY, "%s%s%s%s%s%s%s", kind, SL_LIST_SEP, schema ? schema : "",
			 SL_LIST_SEP, table ? table : "", SL_LIST_SEP, name);
}

HTAB *
sl_plan_name_hash(const char *name)
{
	return text_hash(name);
}

void
sl_plan_name_put(HTAB *h, const char *schema, const char *table,
				 const char *name, void *ptr)
{
	char		key[TEXT_KEY];
	TextEntry  *e;

	object_key(key, "", schema, table, name);
	e = hash_search(h, key, HASH_ENTER, NULL);
	e->ptr = ptr;
}

void *
sl_plan_name_get(HTAB *h, const char *schema, const char *table, const char *name)
{
	char		key[TEXT_KEY];
	TextEntry  *e;

	object_key(key, "", schema, table, name);
	e = hash_search(h, key, HASH_FIND, NULL);
	return e ? e->ptr : NULL;
}

/* --------------------------------------------------------------------------
 * Fields of results
 */

PGresult *
sl_plan_query(PlanBuild *b, const char *sql)
{
	const char *params[1] = {b->oids};
	bool		takes = strstr(sql, "$1") != NULL;

	return sl_conn_query(b->c, PGRES_TUPLES_OK, sql, takes ? 1 : 0,
						 takes ? params : NULL);
}

char *
sl_plan_field(const PGresult *res, int row, int col)
{
	return PQgetisnull(res, row, col) ? NULL : pstrdup(PQgetvalue(res, row, col));
}

Oid
sl_plan_oid(const PGresult *res, int row, int col)
{
	return (Oid) strtoul(PQgetvalue(res, row, col), NULL, 10);
}

bool
sl_plan_bool(const PGresult *res, int row, int col)
{
	return PQgetvalue(res, row, col)[0] == 't';
}

char
sl_plan_char(const PGresult *res, int row, int col)
{
	return PQgetvalue(res, row, col)[0];
}

/* Members of a list, palloc'd. */
List *
sl_plan_list(const char *list)
{
	List	   *members = NIL;

	while (list && *list)
	{
		size_t		len = strcspn(list, SL_LIST_SEP);

		members = lappend(members, pnstrdup(list, len));
		list += len + (list[len] ? 1 : 0);
	}
	return members;
}

char *
sl_plan_qualified(const char *schema, const char *name)
{
	return quote_qualified_identifier(schema, name);
}

char *
sl_plan_options(const char *list, const char *prefix)
{
	StringInfoData buf;
	ListCell   *lc;

	initStringInfo(&buf);
	foreach(lc, sl_plan_list(list))
	{
		char	   *name = lfirst(lc);
		char	   *value = strchr(name, '=');

		if (value)
			*value++ = '\0';
		appendStringInfo(&buf, "%s%s%s = %s", buf.len ? ", " : "", prefix,
						 quote_identifier(name), quote_literal_cstr(value ? value : "true"));
	}
	return buf.data;
}

/* --------------------------------------------------------------------------
 * Objects
 */

SlObject *
sl_plan_add(PlanBuild *b, SlObjectKind kind, int stage, const PlanRel *rel,
			const char *tschema, const char *name)
{
	SlObject   *o = palloc0(sizeof(SlObject));
	char		key[TEXT_KEY];
	TextEntry  *e;
	bool		found;

	o->kind = kind;
	o->state = SL_OBJECT_PLANNED;
	o->stage = stage;
	o->schema = tschema ? pstrdup(tschema) : NULL;
	o->name = pstrdup(name);
	if (rel)
	{
		o->table = rel->name;
		o->src_schema = rel->root->schema;
		o->src_table = rel->root->name;
	}
	if (rel ? rel->there : kind == SL_OBJ_COMMENT)
		if (sl_plan_recorded(b, kind, o->schema, o->table, name))
			o->state = SL_OBJECT_EXISTS;
	for (int i = 2;; i++)
	{
		object_key(key, sl_object_kind_name(kind), o->schema, o->table, o->name);
		e = hash_search(b->added, key, HASH_ENTER, &found);
		if (!found)
			break;
		o->name = psprintf("%s (%d)", name, i);
	}
	e->ptr = o;
	b->objects = lappend(b->objects, o);
	return o;
}

/* The object of that name in the plan, or NULL. */
SlObject *
sl_plan_known(PlanBuild *b, SlObjectKind kind, const char *schema,
			  const char *table, const char *name)
{
	char		key[TEXT_KEY];
	TextEntry  *e;

	object_key(key, sl_object_kind_name(kind), schema, table, name);
	e = hash_search(b->added, key, HASH_FIND, NULL);
	return e ? e->ptr : NULL;
}

SlObject *
sl_plan_ours(PlanBuild *b, SlObjectKind kind, const char *schema,
			 const char *table, const char *name)
{
	SlObject   *o = sl_plan_known(b, kind, schema, table, name);

	if (o == NULL || o->state == SL_OBJECT_PLANNED)
		return o;
	return o->state == SL_OBJECT_EXISTS &&
		sl_plan_recorded(b, kind, schema, table, name) ? o : NULL;
}

static char *
append_clause(char *old, char *more)
{
	return old ? psprintf("%s; %s", old, more) : more;
}

void
sl_plan_fault(SlObject *o, const char *fmt,...)
{
	char	   *text;
	va_list		args;

	va_start(args, fmt);
	text = sl_vpsprintf(fmt, args);
	va_end(args);
	if (o->state == SL_OBJECT_EXISTS)
		return;
	o->state = SL_OBJECT_REFUSED;
	o->ddl = NULL;
	o->fault = append_clause(o->fault, text);
}

void
sl_plan_note(SlObject *o, const char *fmt,...)
{
	char	   *text;
	va_list		args;

	va_start(args, fmt);
	text = sl_vpsprintf(fmt, args);
	va_end(args);
	o->note = append_clause(o->note, text);
}

SlObject *
sl_plan_left(PlanBuild *b, SlObjectKind kind, const PlanRel *rel,
			 const char *tschema, const char *name, const char *note)
{
	SlObject   *o = sl_plan_add(b, kind, SL_STAGE_LAST, rel, tschema, name);

	o->state = SL_OBJECT_NOT_CARRIED;
	o->note = note ? pstrdup(note) : NULL;
	return o;
}

bool
sl_plan_recorded(PlanBuild *b, SlObjectKind kind, const char *schema,
				 const char *table, const char *name)
{
	char		key[TEXT_KEY];

	object_key(key, sl_object_kind_name(kind), schema, table, name);
	return hash_search(b->recorded, key, HASH_FIND, NULL) != NULL;
}

/* The statement of an object, unless it was refused or is built already. */
void
sl_plan_ddl(PlanBuild *b, SlObject *o, char *ddl)
{
	if (o->state != SL_OBJECT_PLANNED)
		return;
	o->ddl = ddl;
}

void
sl_plan_need_schema(PlanBuild *b, const char *tschema)
{
	ListCell   *lc;

	foreach(lc, b->schemas)
		if (strcmp(lfirst(lc), tschema) == 0)
		return;
	b->schemas = lappend(b->schemas, pstrdup(tschema));
}

void
sl_plan_claim(PlanBuild *b, SlObject *o, char what, const char *name)
{
	char		key[TEXT_KEY];
	char		kind[2] = {what, '\0'};
	bool		found;
	TextEntry  *e;

	object_key(key, kind, o->schema, NULL, name);
	e = hash_search(b->names, key, HASH_ENTER, &found);
	if (found)
		sl_plan_fault(o, "has the same name on the target as another %s of the source",
					  (const char *) e->ptr);
	else
		e->ptr = unconstify(char *, sl_object_kind_name(o->kind));
}

/* --------------------------------------------------------------------------
 * The gate
 */

/*
 * The gate leaves its parse trees behind: it works in a context of its own.
 */
static MemoryContext
gate_begin(PlanBuild *b)
{
	MemoryContextReset(b->gate_cxt);
	return MemoryContextSwitchTo(b->gate_cxt);
}

/* The gate's answer in the plan's own context. */
static char *
gate_end(MemoryContext cxt, char *text, char **fault)
{
	MemoryContextSwitchTo(cxt);
	*fault = text ? NULL : pstrdup(*fault);
	return text ? pstrdup(text) : NULL;
}

char *
sl_plan_expr(PlanBuild *b, SlObject *o, const char *expr, const char *what)
{
	char	   *fault = NULL;
	MemoryContext cxt = gate_begin(b);
	char	   *text = gate_end(cxt, sl_gate_expr(b->gate, expr, &fault), &fault);

	if (text == NULL)
		sl_plan_fault(o, "%s %s", what, fault);
	return text;
}

typedef struct TypeText
{
	char	   *text;
	char	   *fault;
} TypeText;

char *
sl_plan_type(PlanBuild *b, SlObject *o, const char *type, const char *what)
{
	char		key[TEXT_KEY];
	bool		found;
	TextEntry  *e;
	TypeText   *t;

	snprintf(key, sizeof(key), "%s", type);
	e = hash_search(b->type_text, key, HASH_ENTER, &found);
	if (!found)
	{
		MemoryContext cxt = CurrentMemoryContext;

		e->ptr = t = palloc0(sizeof(TypeText));
		gate_begin(b);
		t->text = gate_end(cxt, sl_gate_type(b->gate, type, &t->fault), &t->fault);
	}
	t = e->ptr;
	if (t->text == NULL)
		sl_plan_fault(o, "%s %s", what, t->fault);
	return t->text;
}

char *
sl_plan_statement(PlanBuild *b, SlObject *o, NodeTag tag, const char *sql)
{
	char	   *fault = NULL;
	MemoryContext cxt = gate_begin(b);
	char	   *text = gate_end(cxt, sl_gate_statement(b->gate, tag, sql, &fault), &fault);

	if (text == NULL)
		sl_plan_fault(o, "%s", fault);
	return text;
}

char *
sl_plan_bound(PlanBuild *b, SlObject *o, const char *bound)
{
	char	   *fault = NULL;
	MemoryContext cxt = gate_begin(b);
	char	   *text = gate_end(cxt, sl_gate_bound(b->gate, bound, &fault), &fault);

	if (text == NULL)
		sl_plan_fault(o, "the partition's bound %s", fault);
	return text;
}

char *
sl_plan_collate(PlanBuild *b, SlObject *o, const char *schema, const char *name)
{
	const char *tschema;

	if (name == NULL)
		return "";
	if (strcmp(schema, "pg_catalog") == 0)
	{
		if (!OidIsValid(get_collation_oid(list_make2(makeString(pstrdup(schema)),
													 makeString(pstrdup(name))), true)))
			sl_plan_fault(o, "collation %s does not exist on the target",
						  sl_plan_qualified(schema, name));
		tschema = schema;
	}
	else
		tschema = sl_stream_target_schema(b->s, schema);
	return psprintf(" COLLATE %s", sl_plan_qualified(tschema, name));
}

/* --------------------------------------------------------------------------
 * The whole
 */

#define RECORDED_SQL \
	"SELECT o.kind, o.schema_name, o.table_name, o.object_name " \
	"FROM sluice.schema_object o WHERE o.stream_id = $1 AND o.state = 'created'"

static void
load_recorded(PlanBuild *b)
{
	MemoryContext cxt = CurrentMemoryContext;
	const char *params[1] = {b->s->stream_id};
	SlUserSwitch user;
	uint64		n;

	b->recorded = text_hash("sluice plan: created");
	sl_become_extension_owner(&user);
	sl_spi_enter();
	n = sl_spi_exec(RECORDED_SQL, SPI_OK_SELECT, 1, params);
	for (uint64 i = 0; i < n; i++)
	{
		char		key[TEXT_KEY];

		object_key(key, sl_spi_text(i, 1, cxt), sl_spi_text(i, 2, cxt),
				   sl_spi_text(i, 3, cxt), sl_spi_text(i, 4, cxt));
		(void) hash_search(b->recorded, key, HASH_ENTER, NULL);
	}
	sl_spi_leave();
	sl_become_back(&user);
}

/* Schemas come first of all, though what needs them is known last. */
static void
plan_schemas(PlanBuild *b)
{
	List	   *rest = b->objects;
	ListCell   *lc;

	b->objects = NIL;
	foreach(lc, b->schemas)
	{
		char	   *name = lfirst(lc);
		SlObject   *o = sl_plan_add(b, SL_OBJ_SCHEMA, SL_STAGE_BEFORE, NULL, NULL, name);

		if (OidIsValid(get_namespace_oid(name, true)))
			o->state = SL_OBJECT_EXISTS;
		else if (strncmp(name, "pg_", 3) == 0)
			sl_plan_fault(o, "names with pg_ are the server's own");
		else
			sl_plan_ddl(b, o, psprintf("CREATE SCHEMA %s", quote_identifier(name)));
		if (strcmp(name, "sluice") == 0)
			sl_plan_fault(o, "belongs to the extension");
	}
	b->objects = list_concat(b->objects, rest);
}

static void
tell_gate(PlanBuild *b)
{
	ListCell   *lc;

	foreach(lc, b->rels)
	{
		PlanRel    *rel = lfirst(lc);

		sl_gate_allow(b->gate, 'r', rel->schema, rel->name);
	}
	foreach(lc, b->types)
	{
		PlanType   *t = lfirst(lc);

		if (t->needed && !t->extension)
			sl_gate_allow(b->gate, 't', t->schema, t->name);
		if (t->needed && !t->extension && t->multirange)
			sl_gate_allow(b->gate, 't', t->schema, t->multirange);
	}
}

static SlPlan *
finish(PlanBuild *b)
{
	static const int stages[] = {SL_STAGE_BEFORE, SL_STAGE_INDEX, SL_STAGE_CONSTRAINT,
	SL_STAGE_ATTACH, SL_STAGE_FOREIGN_KEY, SL_STAGE_VALIDATE, SL_STAGE_LAST};
	SlPlan	   *plan = palloc0(sizeof(SlPlan));
	ListCell   *lc;

	plan->objects = palloc0(sizeof(SlObject) * Max(list_length(b->objects), 1));
	for (int i = 0; i < lengthof(stages); i++)
		foreach(lc, b->objects)
	{
		SlObject   *o = lfirst(lc);

		if (o->stage != stages[i])
			continue;
		if (o->state == SL_OBJECT_REFUSED)
			plan->nfaults++;
		plan->objects[plan->n++] = *o;
	}
	return plan;
}

/* See plan.h. */
SlPlan *
sl_plan_build(SlConn *c, SlStream *s, const SlSourceTable *tables, int ntables)
{
	PlanBuild  *b = palloc0(sizeof(PlanBuild));
	SlPlan	   *plan;

	b->c = c;
	b->s = s;
	b->tables = tables;
	b->ntables = ntables;
	b->all = s->include == NULL;
	b->row_security = sl_stream_opt_bool(s, SL_O_ROW_SECURITY);
	b->gate = sl_gate_create(s);
	b->gate_cxt = AllocSetContextCreate(CurrentMemoryContext, "sluice plan: gate",
										ALLOCSET_DEFAULT_SIZES);
	b->added = text_hash("sluice plan: objects");
	b->names = text_hash("sluice plan: names");
	b->type_text = text_hash("sluice plan: types");
	load_recorded(b);

	sl_plan_read_rels(b);
	sl_plan_read_columns(b);
	sl_plan_read_constraints(b);
	sl_plan_read_types(b);
	sl_plan_read_needs(b);
	tell_gate(b);

	sl_plan_extensions(b);
	sl_plan_collations(b);
	sl_plan_sequences(b);
	sl_plan_order(b);
	sl_plan_sequence_owners(b);
	sl_plan_indexes(b);
	sl_plan_constraints(b);
	sl_plan_misc(b);
	sl_plan_not_carried(b);
	plan_schemas(b);
	plan = finish(b);
	sl_plan_judge_owners(s, plan);
	return plan;
}
