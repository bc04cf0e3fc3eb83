/*
 * column_ddl.c
 *	  A column of the source as text of a statement on the target.
 *
 * NOTES
 *	  The text goes through the gate first; what the target has by the mapped
 *	  name may be named.  Then the type is looked up and the default analysed
 *	  as ALTER TABLE would, in a subtransaction with the stream owner's rights,
 *	  because reading a literal runs the input function of its type.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/heap.h"
#include "catalog/namespace.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "nodes/parsenodes.h"
#include "parser/parse_node.h"
#include "parser/parser.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/varlena.h"

#include "common/sl_shape.h"
#include "pgext/column_ddl_int.h"
#include "pgext/errutil.h"
#include "pgext/gate_int.h"
#include "pgext/source_type.h"
#include "pgext/spi_util.h"
#include "pgext/volatility.h"
#include "pgext/pgcompat.h"

/* Bytes of a default in a message. */
#define DEFAULT_SHOWN 200

typedef struct Making
{
	SlStream   *s;
	SlGate	   *gate;
	const SlColumn *col;
	SlColumnDdl *d;
	Oid			type;			/* on the target */
	int32		typmod;
} Making;

static void column_fault(Making *m, const char *fmt,...) pg_attribute_printf(2, 3);

static void
column_fault(Making *m, const char *fmt,...)
{
	va_list		args;

	if (m->d->fault)
		return;
	va_start(args, fmt);
	m->d->fault = sl_vpsprintf(fmt, args);
	va_end(args);
	/* a parser's message quotes the text */
	for (char *c = m->d->fault; *c; c++)
		if ((unsigned char) *c < 0x20 || *c == 0x7f)
			*c = '?';
}

/* Where the statement that makes a type of the source can be read. */
static char *
preview_query(const SlStream *s, const char *schema, const char *name)
{
	StringInfoData buf;

	if (s->source_server == NULL || sl_stream_is_fed(s))
		return NULL;
	initStringInfo(&buf);
	appendStringInfo(&buf, "SELECT ddl FROM sluice.schema_preview(%s",
					 quote_literal_cstr(s->source_server));
	if (s->target_schema)
		appendStringInfo(&buf, ", target_schema => %s", quote_literal_cstr(s->target_schema));
	if (s->options && JB_ROOT_COUNT(s->options) > 0)
		appendStringInfo(&buf, ", options => %s",
						 quote_literal_cstr(JsonbToCString(NULL, &s->options->root,
														   VARSIZE(s->options))));
	appendStringInfo(&buf, ") WHERE schema_name = %s AND object_name = %s",
					 quote_literal_cstr(schema), quote_literal_cstr(name));
	return buf.data;
}

/* The gate's fault; of what the target lacks it says so, and how to make it. */
static void
gate_fault(Making *m, const char *what, const char *fault)
{
	char	   *schema;
	char	   *name;
	char	   *shown;
	char		kind;

	if (!sl_gate_missing(m->gate, &kind, &schema, &name))
	{
		if (strcmp(what, "default") != 0 && strncmp(fault, "has ", 4) == 0)
			column_fault(m, "it %s", fault);
		else
			column_fault(m, "its %s %s", what, fault);
		return;
	}
	shown = sl_gate_show(schema, name);
	column_fault(m, "%s %s does not exist on the target",
				 kind == 't' ? "type" : kind == 'S' ? "sequence" :
				 kind == 'c' ? "collation" : "relation", shown);
	if (kind == 'S')
		m->d->fix = psprintf("CREATE SEQUENCE %s", quote_qualified_identifier(schema, name));
	else
		m->d->fix = preview_query(m->s, schema, name);
}

/* See column_ddl_int.h. */
char *
sl_try_as_owner(const SlStream *s, void (*fn) (void *), void *arg)
{
	MemoryContext cxt = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	SlUserSwitch sw;
	char	   *volatile error = NULL;
	int			nest;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(cxt);
	PG_TRY();
	{
		sl_become_role(s->owner, &sw);
		nest = NewGUCNestLevel();
		(void) set_config_option("search_path", "pg_catalog, pg_temp", PGC_USERSET,
								 PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
		(void) set_config_option("standard_conforming_strings", "on", PGC_USERSET,
								 PGC_S_SESSION, GUC_ACTION_SAVE, true, 0, false);
		fn(arg);
		AtEOXact_GUC(true, nest);
		sl_become_back(&sw);
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		ErrorData  *edata;

		MemoryContextSwitchTo(cxt);
		edata = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
		MemoryContextSwitchTo(cxt);
		CurrentResourceOwner = owner;
		if (sl_gate_error_is_ours(edata->sqlerrcode))
			ReThrowError(edata);
		error = edata->message ? edata->message : "no message";
	}
	PG_END_TRY();
	MemoryContextSwitchTo(cxt);
	CurrentResourceOwner = owner;
	return error;
}

static void
look_up_type(void *arg)
{
	Making	   *m = arg;

	if (!sl_compat_parse_type(m->d->type, &m->type, &m->typmod))
		column_fault(m, "type %s does not exist on the target", m->d->type);
	else if (get_typtype(m->type) == TYPTYPE_PSEUDO)
		column_fault(m, "a column cannot have its type %s", m->d->type);
}

static void
make_type(Making *m)
{
	const SlColumn *col = m->col;
	const char *text = col->type_name;
	char	   *fault;
	char	   *error;

	if (text == NULL && SL_TYPE_IS_FIXED(col->typid) && get_typtype(col->typid) != '\0')
		text = format_type_with_typemod(col->typid, col->typmod);
	if (text == NULL)
	{
		column_fault(m, "its type, number %u on the source, is not known by name",
					 col->typid);
		return;
	}
	m->d->type = sl_gate_type(m->gate, text, &fault);
	if (m->d->type == NULL)
	{
		gate_fault(m, "type", fault);
		return;
	}
	error = sl_try_as_owner(m->s, look_up_type, m);
	if (error)
		column_fault(m, "its type %s cannot be made here: %s", m->d->type, error);
}

/* Only where it is not the type's own. */
static void
make_collation(Making *m)
{
	Oid			own = get_typcollation(m->type);
	List	   *parts;
	char	   *fault;
	char	   *clause;
	char	   *target;
	Oid			oid;

	if (!OidIsValid(own) || m->col->collation == NULL)
		return;
	if (!SplitIdentifierString(pstrdup(m->col->collation), '.', &parts) ||
		list_length(parts) != 2)
	{
		column_fault(m, "its collation %s is not one name", m->col->collation);
		return;
	}
	/* as part of an expression the gate knows a collation */
	clause = psprintf("'' COLLATE %s", quote_qualified_identifier(linitial(parts), lsecond(parts)));
	clause = sl_gate_expr(m->gate, clause, &fault);
	if (clause == NULL)
	{
		gate_fault(m, "collation", fault);
		return;
	}
	target = strcmp(linitial(parts), "pg_catalog") == 0 ? "pg_catalog" :
		sl_stream_target_schema(m->s, linitial(parts));
	oid = get_collation_oid(list_make2(makeString(target), makeString(lsecond(parts))), true);
	if (oid != own)
		m->d->collate = pstrdup(clause + strlen("''"));
}

/* As ALTER TABLE reads a default: as an assignment to the column. */
static void
analyse_default(void *arg)
{
	Making	   *m = arg;
	ParseState *pstate = make_parsestate(NULL);
	RawStmt    *raw;
	Node	   *expr;

	raw = linitial_node(RawStmt, raw_parser(m->d->dflt, RAW_PARSE_PLPGSQL_EXPR));
	expr = linitial_node(ResTarget, castNode(SelectStmt, raw->stmt)->targetList)->val;
	pstate->p_sourcetext = m->d->dflt;
	m->d->volatility = sl_expr_volatility(cookDefault(pstate, copyObject(expr), m->type, m->typmod,
													  m->col->name, 0),
										  sl_clock_literals(expr));
	free_parsestate(pstate);
}

/* A domain's, which ADD COLUMN takes where there is no other. */
static void
analyse_type_default(void *arg)
{
	Making	   *m = arg;
	Node	   *expr = get_typdefault(m->type);

	if (expr == NULL)
		return;
	m->d->volatility = sl_expr_volatility(expr, NIL);
	m->d->bare = " DEFAULT NULL";
	m->d->then = "DROP DEFAULT";
	m->d->what = "type's default";
}

/* "default …", however long it is. */
static char *
show_default(const char *expr)
{
	StringInfoData buf;
	int			len = strlen(expr);
	int			shown = pg_mbcliplen(expr, len, DEFAULT_SHOWN);

	initStringInfo(&buf);
	appendStringInfoString(&buf, "default ");
	sl_append_visible(&buf, pnstrdup(expr, shown));
	if (shown < len)
		appendStringInfoString(&buf, "...");
	return buf.data;
}

static void
make_default(Making *m)
{
	SlColumnDdl *d = m->d;
	char	   *fault;
	char	   *error;

	d->what = "default";
	d->dflt = sl_gate_expr(m->gate, m->col->dflt, &fault);
	if (d->dflt == NULL)
	{
		gate_fault(m, "default", fault);
		if (m->gate->missing == 'S')
			d->volatility = PROVOLATILE_VOLATILE;	/* of nextval */
		return;
	}
	d->what = show_default(d->dflt);
	d->then = psprintf("SET DEFAULT %s", d->dflt);
	if (!OidIsValid(m->type))
		return;
	if (get_typdefault(m->type))
		d->bare = " DEFAULT NULL";
	error = sl_try_as_owner(m->s, analyse_default, m);
	if (error)
		column_fault(m, "its %s cannot be judged here: %s", d->what, error);
}

static void
make_value(Making *m)
{
	const SlColumn *col = m->col;
	char	   *error;

	if (col->flags & SL_COL_IDENTITY)
	{
		m->d->volatility = PROVOLATILE_VOLATILE;
		m->d->what = "identity's sequence";
		m->d->then = "ADD GENERATED BY DEFAULT AS IDENTITY";
	}
	else if (col->dflt)
		make_default(m);
	else if (col->flags & SL_COL_DEFAULT)
		column_fault(m, col->source_type ? "its default has no translation" :
					 "its default could not be read");
	else if (OidIsValid(m->type))
	{
		error = sl_try_as_owner(m->s, analyse_type_default, m);
		if (error)
			column_fault(m, "the default of its type %s cannot be judged here: %s",
						 m->d->type, error);
	}
}

/* See column_ddl_int.h. */
SlColumnDdl *
sl_column_ddl_gate(SlStream *s, SlGate *g, const SlColumn *col)
{
	Making		m = {s, g, col, palloc0(sizeof(SlColumnDdl)), InvalidOid, -1};

	m.d->collate = "";
	m.d->bare = "";
	make_type(&m);
	if (m.d->fault)
		m.type = InvalidOid;
	if (OidIsValid(m.type))
		make_collation(&m);
	make_value(&m);
	return m.d;
}

/* See column_ddl.h. */
SlColumnDdl *
sl_column_ddl(SlStream *s, const SlColumn *col)
{
	SlGate	   *g = sl_gate_create(s);

	sl_gate_allow_existing(g);
	return sl_column_ddl_gate(s, g, col);
}
