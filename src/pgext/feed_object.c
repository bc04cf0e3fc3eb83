/*
 * feed_object.c
 *	  The objects of a bridge's plan: judged, recorded, built.
 *
 * NOTES
 *	  What the target has already is held against the record, as for a PostgreSQL
 *	  source: a table that the stream did not make is taken as it is with
 *	  everything that belongs to it; one that it made is kept while the bridge
 *	  would make the same, and made anew otherwise.  Nothing of an established
 *	  table is looked at: its record was complete before its first row.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/namespace.h"
#include "catalog/pg_type.h"
#include "parser/parse_func.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "pgext/apply_int.h"
#include "pgext/errutil.h"
#include "pgext/feed_plan.h"
#include "pgext/spi_util.h"
#include "pgext/type_match.h"
#include "pgext/pgcompat.h"

#define RECORDED_SQL \
	"SELECT state = 'created', ddl FROM sluice.schema_object WHERE stream_id = $1" \
	" AND kind = $2 AND schema_name = $3 AND object_name = $4" \
	" AND COALESCE(table_name, '') = COALESCE($5, '')"

/* Does a column, a domain or the like use the type, or an array of it? */
#define USED_SQL \
	"SELECT FROM pg_catalog.pg_depend d JOIN pg_catalog.pg_type t" \
	" ON t.oid = $1::pg_catalog.oid AND d.refobjid IN (t.oid, t.typarray)" \
	" WHERE d.refclassid = 'pg_catalog.pg_type'::pg_catalog.regclass" \
	" AND d.deptype <> 'i' LIMIT 1"

typedef struct FeedObjects
{
	SlStream   *s;
	SlPlan	   *plan;
	SlGate	   *gate;
	SlColdTable *tables;
	int			ntables;
	bool		look;			/* nothing is recorded, and nothing made or
								 * dropped */

	/* of tables that are there and cannot hold what the source has */
	int			nunfit;
	const SlColdTable *unfit;	/* the first */
	StringInfoData faults;
} FeedObjects;

static void
breach(const SlObject *o, const char *what)
{
	sl_refuse(&(SlRefusal) {.marker = SL_M_PROTOCOL_VIOLATION},
			  "%s \"%s\" of the plan %s", sl_object_kind_name(o->kind), o->name, what);
}

static void
set_fault(SlObject *o, const char *fault)
{
	o->state = SL_OBJECT_REFUSED;
	o->ddl = NULL;
	o->fault = pstrdup(fault);
}

/* The stream's table that the object belongs to; NULL where it says none. */
static SlColdTable *
table_of(const FeedObjects *f, const SlObject *o)
{
	for (int i = 0; o->src_table && i < f->ntables; i++)
		if (strcmp(f->tables[i].src.name, o->src_table) == 0 &&
			strcmp(f->tables[i].src.schema, o->src_schema) == 0)
			return &f->tables[i];
	return NULL;
}

/* Is it a schema that the stream's tables land in? */
static bool
is_schema_of_stream(const FeedObjects *f, const char *schema)
{
	for (int i = 0; schema && i < f->ntables; i++)
		if (strcmp(sl_stream_target_schema(f->s, f->tables[i].src.schema), schema) == 0)
			return true;
	return false;
}

/* What a bridge that follows the contract never sends. */
static void
check_object(const FeedObjects *f, const SlObject *o)
{
	const SlColdTable *t = table_of(f, o);

	if (o->src_table && t == NULL)
		breach(o, "belongs to a table that is not the stream's");
	if (o->state != SL_OBJECT_PLANNED)
		return;
	if (!sl_feed_stage_fits(o))
		breach(o, psprintf("cannot be built at stage %d", o->stage));
	if (!is_schema_of_stream(f, o->schema))
		breach(o, "is in a schema that is not the stream's");
	if (o->kind == SL_OBJ_ENUM)
		return;
	if (t == NULL || o->table == NULL || strcmp(o->table, t->src.name) != 0 ||
		strcmp(sl_stream_target_schema(f->s, t->src.schema), o->schema) != 0)
		breach(o, "does not belong to the table that it says");
}

/* ---------- what there is ---------- */

/* Has the stream made it?  *ddl: how. */
static bool
is_recorded(const FeedObjects *f, const SlObject *o, char **ddl)
{
	MemoryContext cxt = CurrentMemoryContext;
	const char *params[] = {f->s->stream_id, sl_object_kind_name(o->kind), o->schema,
	o->name, o->table};
	bool		created = false;
	SlUserSwitch sw;

	*ddl = NULL;
	sl_become_extension_owner(&sw);
	sl_spi_enter();
	if (sl_spi_exec(RECORDED_SQL, SPI_OK_SELECT, lengthof(params), params) > 0)
	{
		created = sl_spi_bool(0, 1);
		*ddl = sl_spi_text(0, 2, cxt);
	}
	sl_spi_leave();
	sl_become_back(&sw);
	return created;
}

static bool
same_text(const char *a, const char *b)
{
	return a && b && strcmp(a, b) == 0;
}

/* A table that the stream made is kept while it would make the same again. */
static void
judge_table(FeedObjects *f, SlObject *o, SlColdTable *t)
{
	char	   *ddl;

	if (!OidIsValid(t->target))
		return;
	if (is_recorded(f, o, &ddl) && same_text(ddl, o->ddl))
	{
		o->state = SL_OBJECT_EXISTS;
		return;
	}
	sl_feed_drop_table(f->s, t);
}

/* Nobody would write a column of it that the bridge takes for generated. */
static void
judge_existing(FeedObjects *f, SlObject *o, const SlColdTable *t)
{
	bool		fits = true;
	ListCell   *lc;

	if (f->look)
		resetStringInfo(&f->faults);
	foreach(lc, o->generated)
		fits &= sl_target_check_not_sent(t->target, lfirst(lc), &f->faults);
	if (!fits && f->look)
		set_fault(o, f->faults.data);
	else if (!fits && f->nunfit++ == 0)
		f->unfit = t;
}

static void
refuse_unfit(const FeedObjects *f)
{
	SlRefusal	r = {.marker = SL_M_TARGET_SHAPE_MISMATCH, .detail = f->faults.data};

	if (f->nunfit == 0)
		return;
	r.schema = f->unfit->src.schema;
	r.table = f->unfit->src.name;
	sl_refuse(&r, "%d target tables cannot hold what the source has", f->nunfit);
}

/* The target's type of the object's name. */
static Oid
type_there(const SlObject *o)
{
	Oid			nsp = get_namespace_oid(o->schema, true);

	return OidIsValid(nsp) ? GetSysCacheOid2(TYPENAMENSP, Anum_pg_type_oid,
											 CStringGetDatum(o->name),
											 ObjectIdGetDatum(nsp)) : InvalidOid;
}

/* See feed_plan.h. */
char *
sl_feed_enum_there(const SlObject *o)
{
	Oid			type = type_there(o);

	return OidIsValid(type) ? sl_plan_describe_type(type) : NULL;
}

static void
drop_type(const FeedObjects *f, const SlObject *o)
{
	SlUserSwitch user;

	sl_become_role(f->s->owner, &user);
	sl_spi_enter();
	sl_spi_exec(psprintf("DROP TYPE %s RESTRICT",
						 quote_qualified_identifier(o->schema, o->name)),
				SPI_OK_UTILITY, 0, NULL);
	sl_spi_leave();
	sl_become_back(&user);
}

/*
 * An enum that is there must have the same labels, or be ours and free to go: its
 * own table, whose column is another one now, is made anew with it.
 */
static void
judge_enum(FeedObjects *f, SlObject *o, SlColdTable *t)
{
	Oid			type = type_there(o);
	const char *oid = psprintf("%u", type);
	bool		ours;
	char	   *ddl;

	if (!OidIsValid(type))
		return;
	if (same_text(sl_plan_describe_type(type), sl_feed_describe_enum(o)))
	{
		o->state = SL_OBJECT_EXISTS;
		return;
	}
	ours = !f->look && is_recorded(f, o, &ddl);
	if (ours && t && t->created && OidIsValid(t->target))
		sl_feed_drop_table(f->s, t);
	if (ours && sl_control_exec(USED_SQL, SPI_OK_SELECT, 1, &oid) == 0)
	{
		drop_type(f, o);
		return;
	}
	set_fault(o, "exists on the target as another type");
	o->fix = psprintf("DROP TYPE %s", quote_qualified_identifier(o->schema, o->name));
}

/* The target's function of the object's name, without arguments. */
static Oid
function_there(const SlObject *o)
{
	List	   *name = list_make2(makeString(o->schema), makeString(o->name));

	return LookupFuncName(name, 0, NULL, true);
}

static void
drop_function(const FeedObjects *f, const SlObject *o)
{
	SlUserSwitch user;

	sl_become_role(f->s->owner, &user);
	sl_spi_enter();
	sl_spi_exec(psprintf("DROP FUNCTION %s() RESTRICT",
						 quote_qualified_identifier(o->schema, o->name)),
				SPI_OK_UTILITY, 0, NULL);
	sl_spi_leave();
	sl_become_back(&user);
}

/*
 * A function that is there must be ours and the same, or is made anew with its
 * table, whose triggers call it.
 */
static void
judge_function(FeedObjects *f, SlObject *o, SlColdTable *t)
{
	bool		ours;
	char	   *ddl;

	if (!OidIsValid(get_namespace_oid(o->schema, true)) || !OidIsValid(function_there(o)))
		return;
	ours = !f->look && is_recorded(f, o, &ddl);
	if (ours && same_text(ddl, o->ddl))
	{
		o->state = SL_OBJECT_EXISTS;
		return;
	}
	if (!ours)
	{
		set_fault(o, "exists on the target");
		o->fix = psprintf("DROP FUNCTION %s()", quote_qualified_identifier(o->schema, o->name));
		return;
	}
	if (t && t->created && OidIsValid(t->target))
		sl_feed_drop_table(f->s, t);
	drop_function(f, o);
}

/* An index's name must be free: it is found out before rows are copied. */
static void
judge_index(SlObject *o)
{
	Oid			nsp = get_namespace_oid(o->schema, true);

	if (OidIsValid(nsp) && OidIsValid(get_relname_relid(o->name, nsp)))
		set_fault(o, "the target has another relation of that name");
}

/*
 * The key by which rows are found is built at once, as the primary key's index
 * always is: rows that were read at different times cannot meet in it.
 */
static void
judge_window(FeedObjects *f, SlObject *o)
{
	const char *primary;
	const char *params[] = {f->s->stream_id, o->schema, o->table, NULL};

	o->after_window &= sl_feed_holds_apart(o, &primary);
	if (primary == NULL)
		return;
	for (int i = 0; i < f->plan->n; i++)
		if (f->plan->objects[i].kind == SL_OBJ_INDEX &&
			same_text(f->plan->objects[i].schema, o->schema) &&
			same_text(f->plan->objects[i].table, o->table) &&
			strcmp(f->plan->objects[i].name, primary) == 0)
			f->plan->objects[i].after_window = false;
	params[3] = primary;
	sl_control_exec("UPDATE sluice.schema_object SET after_window = false WHERE stream_id = $1"
					" AND kind = 'index' AND schema_name = $2 AND table_name = $3"
					" AND object_name = $4", SPI_OK_UPDATE, lengthof(params), params);
}

/* Its statement through the gate; then what the target has of it. */
static void
judge_planned(FeedObjects *f, SlObject *o, SlColdTable *t)
{
	char	   *fault;
	char	   *ddl;

	if (t && OidIsValid(t->target) && !t->created)
	{
		o->state = SL_OBJECT_EXISTS;
		judge_existing(f, o, t);
		return;
	}
	o->ddl = sl_feed_statement(f->gate, o, &fault);
	if (o->ddl == NULL)
	{
		set_fault(o, fault);
		return;
	}
	if (!f->look && !o->own)
		judge_window(f, o);
	if (o->kind == SL_OBJ_TABLE)
		judge_table(f, o, t);
	else if (o->kind == SL_OBJ_ENUM)
		judge_enum(f, o, t);
	else if (o->kind == SL_OBJ_FUNCTION)
		judge_function(f, o, t);
	else if (t && !f->look && is_recorded(f, o, &ddl))
		o->state = SL_OBJECT_EXISTS;
	else if (o->kind == SL_OBJ_INDEX)
		judge_index(o);
}

static int
compare_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

static int
by_name(const void *x, const void *y)
{
	const SlObject *a = *(const SlObject *const *) x;
	const SlObject *b = *(const SlObject *const *) y;
	int			c = (int) a->kind - (int) b->kind;

	if (c == 0)
		c = strcmp(a->name, b->name);
	if (c == 0)
		c = compare_text(a->schema, b->schema);
	return c ? c : compare_text(a->table, b->table);
}

/* Two objects of one name are one row of the record. */
static void
check_unique(const FeedObjects *f)
{
	const SlObject **all = palloc(sizeof(SlObject *) * (f->plan->n + 1));

	for (int i = 0; i < f->plan->n; i++)
		all[i] = &f->plan->objects[i];
	qsort(all, f->plan->n, sizeof(SlObject *), by_name);
	for (int i = 1; i < f->plan->n; i++)
		if (by_name(&all[i - 1], &all[i]) == 0)
			breach(all[i], "comes twice");
	pfree(all);
}

/* Objects of an established table are on record as they were then. */
static void
leave_out_established(FeedObjects *f)
{
	int			n = 0;

	for (int i = 0; i < f->plan->n; i++)
	{
		const SlColdTable *t = table_of(f, &f->plan->objects[i]);

		if (t == NULL || !sl_cold_done(t))
			f->plan->objects[n++] = f->plan->objects[i];
	}
	f->plan->n = n;
}

/* ---------- the gate ---------- */

/* The types of type_overrides, which the stream's owner asked for. */
static void
allow_overrides(FeedObjects *f)
{
	JsonbIterator *it;
	JsonbIteratorToken tok;
	JsonbValue	v;

	if (f->s->type_overrides == NULL)
		return;
	it = JsonbIteratorInit(&f->s->type_overrides->root);
	while ((tok = JsonbIteratorNext(&it, &v, true)) != WJB_DONE)
	{
		Oid			typid = InvalidOid;
		int32		typmod;
		HeapTuple	tup;

		if (tok != WJB_VALUE || v.type != jbvString ||
			!sl_compat_parse_type(pnstrdup(v.val.string.val, v.val.string.len), &typid, &typmod))
			continue;
		tup = SearchSysCache1(TYPEOID, ObjectIdGetDatum(typid));
		if (!HeapTupleIsValid(tup))
			continue;
		if (sl_gate_trusts_owner(f->s, ((Form_pg_type) GETSTRUCT(tup))->typowner))
			sl_gate_allow(f->gate, 'T',
						  get_namespace_name(((Form_pg_type) GETSTRUCT(tup))->typnamespace),
						  NameStr(((Form_pg_type) GETSTRUCT(tup))->typname));
		ReleaseSysCache(tup);
	}
}

/* Names that the plan's text may have: the stream's tables, types made before. */
static void
tell_gate(FeedObjects *f)
{
	MemoryContext cxt = CurrentMemoryContext;
	const char *id = f->s->stream_id;
	SlUserSwitch sw;
	uint64		n;

	for (int i = 0; i < f->ntables; i++)
		sl_gate_allow(f->gate, 'r', sl_stream_target_schema(f->s, f->tables[i].src.schema),
					  f->tables[i].src.name);
	for (int i = 0; i < f->plan->n; i++)
		if (f->plan->objects[i].kind == SL_OBJ_ENUM && f->plan->objects[i].schema)
			sl_gate_allow(f->gate, 't', f->plan->objects[i].schema, f->plan->objects[i].name);
	allow_overrides(f);
	if (f->look)
		return;
	sl_become_extension_owner(&sw);
	sl_spi_enter();
	n = sl_spi_exec("SELECT schema_name, object_name FROM sluice.schema_object"
					" WHERE stream_id = $1 AND kind = 'enum' AND state <> 'not_carried'",
					SPI_OK_SELECT, 1, &id);
	for (uint64 i = 0; i < n; i++)
		sl_gate_allow(f->gate, 't', sl_spi_text(i, 1, cxt), sl_spi_text(i, 2, cxt));
	sl_spi_leave();
	sl_become_back(&sw);
}

/* See feed_plan.h. */
void
sl_feed_tell_gate(SlStream *s, SlGate *g, SlPlan *plan, SlColdTable *tables, int ntables)
{
	FeedObjects f = {.s = s, .plan = plan, .tables = tables, .ntables = ntables,
	.gate = g, .look = true};

	tell_gate(&f);
}

/* ---------- building ---------- */

/*
 * The target's objection to a statement that passed is one to the object: what
 * passes by itself goes on as it is.
 */
static void
build(FeedObjects *f, SlObject *o)
{
	MemoryContext cxt = CurrentMemoryContext;

	PG_TRY();
	{
		sl_ddl_run(f->s, InvalidOid, o->ddl);
	}
	PG_CATCH();
	{
		ErrorData  *edata;

		MemoryContextSwitchTo(cxt);
		edata = CopyErrorData();
		if (sl_marker_of(edata) != SL_M_NONE ||
			sl_classify_sqlstate(edata->sqlerrcode) != SL_CLASS_FATAL)
			PG_RE_THROW();
		FlushErrorState();
		set_fault(o, edata->message);
		f->plan->nfaults = 1;
		sl_plan_refuse_faults(f->plan);
	}
	PG_END_TRY();
	sl_plan_record(f->s, &o, 1, "created");
	CommandCounterIncrement();
}

/* A schema that is not there is made, and recorded, as others are. */
static void
add_schemas(FeedObjects *f)
{
	SlObject   *all = palloc0(sizeof(SlObject) * (f->plan->n + f->ntables + 1));
	int			n = 0;

	for (int i = 0; i < f->plan->n; i++)
	{
		const char *schema = f->plan->objects[i].schema;
		bool		known = f->plan->objects[i].state != SL_OBJECT_PLANNED;

		for (int j = 0; j < n && !known; j++)
			known = strcmp(all[j].name, schema) == 0;
		if (known)
			continue;
		all[n++] = (SlObject) {.kind = SL_OBJ_SCHEMA, .name = pstrdup(schema),
							   .state = OidIsValid(get_namespace_oid(schema, true)) ? SL_OBJECT_EXISTS : SL_OBJECT_PLANNED,
							   .ddl = psprintf("CREATE SCHEMA %s", quote_identifier(schema))};
		if (strcmp(schema, "sluice") == 0)
			set_fault(&all[n - 1], "belongs to the extension");
	}
	memcpy(all + n, f->plan->objects, sizeof(SlObject) * f->plan->n);
	f->plan->objects = all;
	f->plan->n += n;
}

static void
record_all(FeedObjects *f)
{
	SlObject  **all = palloc(sizeof(SlObject *) * (f->plan->n + 1));

	for (int i = 0; i < f->plan->n; i++)
		all[i] = &f->plan->objects[i];
	sl_plan_record(f->s, all, f->plan->n, NULL);
}

/* What becomes of each, and of the schemas that they are in. */
static void
judge_all(FeedObjects *f)
{
	SlPlan	   *plan = f->plan;

	for (int i = 0; i < plan->n; i++)
		check_object(f, &plan->objects[i]);
	initStringInfo(&f->faults);
	check_unique(f);
	leave_out_established(f);
	tell_gate(f);
	for (int i = 0; i < plan->n; i++)
		if (plan->objects[i].state == SL_OBJECT_PLANNED)
			judge_planned(f, &plan->objects[i], table_of(f, &plan->objects[i]));
	refuse_unfit(f);
	add_schemas(f);
	sl_plan_judge_owners(f->s, plan);
}

/* See feed_plan.h. */
void
sl_feed_objects_look(SlStream *s, SlPlan *plan, SlColdTable *tables, int ntables)
{
	FeedObjects f = {.s = s, .plan = plan, .tables = tables, .ntables = ntables,
	.gate = sl_feed_gate(s), .look = true};

	judge_all(&f);
}

/* See feed_plan.h. */
void
sl_feed_objects(SlStream *s, SlPlan *plan, SlColdTable *tables, int ntables)
{
	FeedObjects f = {.s = s, .plan = plan, .tables = tables, .ntables = ntables,
	.gate = sl_feed_gate(s)};

	judge_all(&f);
	if (plan->nfaults > 0)
		sl_plan_refuse_faults(plan);
	record_all(&f);
	for (int i = 0; i < plan->n; i++)
		if (plan->objects[i].stage == SL_STAGE_BEFORE &&
			plan->objects[i].state == SL_OBJECT_PLANNED)
			build(&f, &plan->objects[i]);
}
