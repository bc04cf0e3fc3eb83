/*
 * schema_diff_bridge.c
 *	  sluice.schema_diff for a source that sluice-bridge reads.
 *
 * NOTES
 *	  The bridge tells what the source's tables would become.  Each is made in a
 *	  schema for the moment and described by the same statement as the target's,
 *	  so that both texts are PostgreSQL's own; then it is rolled back.  One table
 *	  at a time, so that few locks are held.  Foreign keys would lock tables that
 *	  are in use: their text is put together here.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_collation.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "parser/parser.h"
#include "tcop/utility.h"
#include "utils/builtins.h"
#include "utils/json.h"
#include "utils/jsonb.h"
#include "utils/resowner.h"

#include "pgext/errutil.h"
#include "pgext/feed_plan.h"
#include "pgext/schema_diff_int.h"
#include "pgext/spi_util.h"
#include "pgext/pgcompat.h"

/* Behind those of the statement. */
#define RANK_FOREIGN_KEY	6
#define RANK_ENUM			12

typedef struct Trial
{
	SlDiff	   *d;
	SlFeedPlan *plan;
	SlGate	   *gate;			/* with the target's names */
	SlGate	   *away;			/* … with those of the moment */
	int			nschemas;
	char	  **schemas;		/* of the target */
	char	  **moments;		/* and what stands for each of them */
	SlDiffItems *source;
	SlDiffItems *target;
} Trial;

/* ---------- the schemas for the moment ---------- */

static int
schema_number(const Trial *t, const char *schema)
{
	for (int i = 0; i < t->nschemas; i++)
		if (strcmp(t->schemas[i], schema) == 0)
			return i;
	return -1;
}

static void
find_schemas(Trial *t)
{
	const SlPlan *plan = &t->plan->plan;

	t->schemas = palloc(sizeof(char *) * (plan->n + 1));
	t->moments = palloc(sizeof(char *) * (plan->n + 1));
	for (int i = 0; i < plan->n; i++)
	{
		char	   *schema = plan->objects[i].schema;

		if (schema == NULL || schema_number(t, schema) >= 0)
			continue;
		t->schemas[t->nschemas] = schema;
		t->moments[t->nschemas] = psprintf("sluice_diff_%d_%d", MyProcPid, t->nschemas);
		t->nschemas++;
	}
}

static void
create_schemas(const Trial *t)
{
	char	   *owner = GetUserNameFromId(t->d->s->owner, false);
	SlUserSwitch sw;

	sl_become_extension_owner(&sw);
	sl_spi_enter();
	for (int i = 0; i < t->nschemas; i++)
		sl_spi_exec(psprintf("CREATE SCHEMA %s AUTHORIZATION %s", t->moments[i],
							 quote_identifier(owner)), SPI_OK_UTILITY, 0, NULL);
	sl_spi_leave();
	sl_become_back(&sw);
}

/* The stream, as if its tables went to the schemas for the moment. */
static SlStream *
stream_away(const Trial *t)
{
	SlStream   *s = palloc(sizeof(SlStream));
	StringInfoData options;

	*s = *t->d->s;
	s->target_schema = NULL;
	initStringInfo(&options);
	appendStringInfoString(&options, "{\"schema_map\": {");
	for (int i = 0; i < t->nschemas; i++)
	{
		if (i > 0)
			appendStringInfoChar(&options, ',');
		escape_json(&options, t->schemas[i]);
		appendStringInfo(&options, ": \"%s\"", t->moments[i]);
	}
	appendStringInfoString(&options, "}}");
	s->options = DatumGetJsonbP(DirectFunctionCall1(jsonb_in, CStringGetDatum(options.data)));
	return s;
}

static char *
replaced(const char *definition, const char *from, const char *to)
{
	return TextDatumGetCString(DirectFunctionCall3Coll(replace_text, C_COLLATION_OID,
													   CStringGetTextDatum(definition),
													   CStringGetTextDatum(from),
													   CStringGetTextDatum(to)));
}

/* A definition with the target's names. */
static char *
brought_back(const Trial *t, char *definition)
{
	for (int i = 0; i < t->nschemas; i++)
		if (strstr(definition, t->moments[i]) != NULL)
			definition = replaced(definition, psprintf("%s.", t->moments[i]),
								  psprintf("%s.", quote_identifier(t->schemas[i])));
	return definition;
}

/* ---------- statements ---------- */

static const Node *
parsed(const char *sql)
{
	return linitial_node(RawStmt, raw_parser(sql, RAW_PARSE_DEFAULT))->stmt;
}

/* The object's statement, for the schema of the moment; NULL with *fault. */
static char *
moved(const Trial *t, const SlObject *o, char **fault)
{
	char	   *ddl = sl_feed_statement(t->gate, o, fault);

	return ddl ? sl_gate_statement(t->away, nodeTag(parsed(ddl)), ddl, fault) : NULL;
}

static void
create_enums(const Trial *t)
{
	const SlPlan *plan = &t->plan->plan;

	for (int i = 0; i < plan->n; i++)
	{
		const SlObject *o = &plan->objects[i];
		char	   *fault;
		char	   *ddl;

		if (o->kind != SL_OBJ_ENUM || o->state != SL_OBJECT_PLANNED)
			continue;
		ddl = moved(t, o, &fault);
		if (ddl)
			sl_ddl_run(t->d->s, InvalidOid, ddl);
	}
}

/* Is it part of the table's definition, apart from foreign keys? */
static bool
is_of_table(const SlObject *o)
{
	switch (o->kind)
	{
		case SL_OBJ_ENUM:
		case SL_OBJ_TABLE:
		case SL_OBJ_INDEX:
		case SL_OBJ_KEY:
		case SL_OBJ_CHECK:
			return o->state == SL_OBJECT_PLANNED;
		default:
			return false;
	}
}

/* The statements of a table in their order; NIL with *fault where one cannot be. */
static List *
statements_of(const Trial *t, SlObject *const *objects, int n, char **fault)
{
	List	   *ddls = NIL;

	*fault = NULL;
	for (int i = 0; i < n && *fault == NULL; i++)
	{
		char	   *ddl;

		if (objects[i]->state == SL_OBJECT_REFUSED)
			*fault = objects[i]->fault;
		if (!is_of_table(objects[i]))
			continue;
		ddl = moved(t, objects[i], fault);
		/* enums are there already */
		if (ddl && objects[i]->kind != SL_OBJ_ENUM)
			ddls = lappend(ddls, ddl);
	}
	return *fault ? NIL : ddls;
}

/* ---------- a table ---------- */

static void
describe(const Trial *t, const SlObject *table, int ord)
{
	const char *schema = t->moments[schema_number(t, table->schema)];
	const char *name = table->name;
	const char *params[4] = {sl_diff_array(&schema, 1), sl_diff_array(&name, 1), "{}", "{}"};
	int			before = t->source->n;

	sl_diff_describe(t->d, params, t->source);
	for (int i = before; i < t->source->n; i++)
	{
		SlDiffItem *item = &t->source->items[i];

		item->ord = ord;
		if (item->definition)
			item->definition = brought_back(t, item->definition);
	}
}

/*
 * Make it, describe it, and roll it back.  NULL, or why it cannot be made.
 */
static char *
try_table(const Trial *t, const SlObject *table, List *ddls, int ord)
{
	MemoryContext cxt = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	ErrorData  *volatile e = NULL;
	int			before = t->source->n;
	ListCell   *lc;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(cxt);
	PG_TRY();
	{
		foreach(lc, ddls)
			sl_ddl_run(t->d->s, InvalidOid, lfirst(lc));
		describe(t, table, ord);
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(cxt);
		e = CopyErrorData();
		FlushErrorState();
	}
	PG_END_TRY();
	RollbackAndReleaseCurrentSubTransaction();
	MemoryContextSwitchTo(cxt);
	CurrentResourceOwner = owner;
	if (e == NULL)
		return NULL;
	if (sl_marker_of(e) != SL_M_NONE || sl_classify_sqlstate(e->sqlerrcode) != SL_CLASS_FATAL)
		ReThrowError(e);
	t->source->n = before;
	return brought_back(t, e->message);
}

static void
add_fault(const Trial *t, int ord, const char *fault)
{
	SlDiffItem *item = sl_diff_add(t->source);

	item->ord = ord;
	item->kind = pstrdup("table");
	item->definition = psprintf("cannot be made: %s", fault);
	item->fault = true;
}

static void
append_names(StringInfo out, const List *names)
{
	ListCell   *lc;

	foreach(lc, names)
		appendStringInfo(out, "%s%s", lc == list_head(names) ? "" : ", ",
						 quote_identifier(strVal(lfirst(lc))));
}

static const char *
action_name(char action)
{
	switch (action)
	{
		case FKCONSTR_ACTION_RESTRICT:
			return "RESTRICT";
		case FKCONSTR_ACTION_CASCADE:
			return "CASCADE";
		case FKCONSTR_ACTION_SETNULL:
			return "SET NULL";
		case FKCONSTR_ACTION_SETDEFAULT:
			return "SET DEFAULT";
		default:
			return NULL;
	}
}

/* As pg_get_constraintdef has it, once it is validated. */
static char *
foreign_key_text(const Constraint * con)
{
	const char *on_update = action_name(con->fk_upd_action);
	const char *on_delete = action_name(con->fk_del_action);
	StringInfoData out;

	initStringInfo(&out);
	appendStringInfoString(&out, "FOREIGN KEY (");
	append_names(&out, con->fk_attrs);
	appendStringInfo(&out, ") REFERENCES %s(",
					 quote_qualified_identifier(con->pktable->schemaname, con->pktable->relname));
	append_names(&out, con->pk_attrs);
	appendStringInfoChar(&out, ')');
	if (on_update)
		appendStringInfo(&out, " ON UPDATE %s", on_update);
	if (on_delete)
		appendStringInfo(&out, " ON DELETE %s", on_delete);
	return out.data;
}

static void
add_foreign_key(const Trial *t, const SlObject *o, int ord)
{
	char	   *fault;
	char	   *ddl = sl_feed_statement(t->gate, o, &fault);
	SlDiffItem *item = sl_diff_add(t->source);
	const		AlterTableCmd *cmd;

	item->ord = ord;
	item->rank = RANK_FOREIGN_KEY;
	item->kind = pstrdup("foreign key");
	item->name = o->name;
	item->definition = ddl ? NULL : psprintf("cannot be made: %s", fault);
	if (ddl == NULL)
		return;
	cmd = linitial_node(AlterTableCmd, ((const AlterTableStmt *) parsed(ddl))->cmds);
	item->definition = foreign_key_text(castNode(Constraint, cmd->def));
}

static void
add_enum_side(const Trial *t, SlDiffItems *to, const SlObject *o, int ord, char *definition)
{
	SlDiffItem *item;

	if (definition == NULL)
		return;
	item = sl_diff_add(to);
	item->ord = ord;
	item->rank = RANK_ENUM;
	item->kind = pstrdup("enum");
	item->name = o->name;
	item->definition = definition;
}

/* The objects of one table. */
static void
read_table(const Trial *t, SlObject *const *objects, int n, int ord)
{
	char	   *fault;
	List	   *ddls = statements_of(t, objects, n, &fault);
	const SlObject *table = NULL;

	for (int i = 0; i < n && table == NULL; i++)
		if (objects[i]->kind == SL_OBJ_TABLE && objects[i]->state == SL_OBJECT_PLANNED)
			table = objects[i];
	if (fault == NULL && table != NULL)
		fault = try_table(t, table, ddls, ord);
	if (fault != NULL)
	{
		add_fault(t, ord, fault);
		return;
	}
	for (int i = 0; i < n; i++)
	{
		if (objects[i]->state != SL_OBJECT_PLANNED)
			continue;
		if (objects[i]->kind == SL_OBJ_FOREIGN_KEY)
			add_foreign_key(t, objects[i], ord);
		if (objects[i]->kind != SL_OBJ_ENUM)
			continue;
		add_enum_side(t, t->source, objects[i], ord, sl_feed_describe_enum(objects[i]));
		add_enum_side(t, t->target, objects[i], ord, sl_feed_enum_there(objects[i]));
	}
}

/* ---------- all of them ---------- */

/* By table; within one in the plan's order. */
static int
by_table(const void *x, const void *y)
{
	const SlObject *a = *(const SlObject *const *) x;
	const SlObject *b = *(const SlObject *const *) y;
	int			c = strcmp(a->src_schema, b->src_schema);

	if (c == 0)
		c = strcmp(a->src_table, b->src_table);
	return c ? c : (a > b) - (a < b);
}

static bool
is_same_table(const SlObject *a, const SlObject *b)
{
	return strcmp(a->src_schema, b->src_schema) == 0 && strcmp(a->src_table, b->src_table) == 0;
}

/* Of the stream's tables, from 1; 0 = it is none of them (yet). */
static int
ord_of(const SlDiff *d, const SlObject *o)
{
	for (int i = 0; i < d->ntables; i++)
		if (strcmp(d->tables[i].name, o->src_table) == 0 &&
			strcmp(d->tables[i].schema, o->src_schema) == 0)
			return i + 1;
	return 0;
}

static void
read_tables(const Trial *t)
{
	SlPlan	   *plan = &t->plan->plan;
	SlObject  **objects = palloc(sizeof(SlObject *) * (plan->n + 1));
	int			n = 0;

	for (int i = 0; i < plan->n; i++)
		if (plan->objects[i].src_table)
			objects[n++] = &plan->objects[i];
	qsort(objects, n, sizeof(SlObject *), by_table);
	for (int i = 0, j; i < n; i = j)
	{
		int			ord = ord_of(t->d, objects[i]);

		for (j = i + 1; j < n && is_same_table(objects[i], objects[j]); j++)
			;
		CHECK_FOR_INTERRUPTS();
		if (ord > 0)
			read_table(t, objects + i, j - i, ord);
	}
}

/* See schema_diff_int.h. */
void
sl_diff_read_bridged(SlDiff *d, const SlSource *src, SlDiffItems *source, SlDiffItems *target)
{
	Trial		t = {.d = d, .source = source, .target = target};
	MemoryContext cxt = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	SlColdTable *tables;

	PreventCommandIfReadOnly("sluice.schema_diff()");
	PreventCommandDuringRecovery("sluice.schema_diff()");
	t.plan = sl_feed_plan_ask(d->s, src);
	tables = sl_feed_plan_tables(d->s, t.plan);
	find_schemas(&t);
	t.gate = sl_feed_gate(d->s);
	sl_feed_tell_gate(d->s, t.gate, &t.plan->plan, tables, t.plan->ntables);
	t.away = sl_gate_create(stream_away(&t));
	sl_feed_tell_gate(d->s, t.away, &t.plan->plan, tables, t.plan->ntables);
	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(cxt);
	create_schemas(&t);
	create_enums(&t);
	read_tables(&t);
	RollbackAndReleaseCurrentSubTransaction();
	MemoryContextSwitchTo(cxt);
	CurrentResourceOwner = owner;
}
