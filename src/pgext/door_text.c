/*
 * door_text.c
 *	  What moved, as a line for people and as a statement for the target.
 */
#include "postgres.h"

#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"

#include "common/sl_shape.h"
#include "pgext/door_int.h"
#include "pgext/gate.h"
#include "pgext/pgcompat.h"

/* Words of a line's tag by move: added, dropped, changed, renamed. */
static const char *const tags[SL_DOOR_KINDS][4] = {
	[SL_DOOR_NOT_NULL] = {"not-null-set", "not-null-dropped", "not-null-changed", ""},
	[SL_DOOR_DEFAULT] = {"default-set", "default-dropped", "default-changed", ""},
	[SL_DOOR_IDENTITY] = {"identity-added", "identity-dropped", "identity-changed", ""},
	[SL_DOOR_GENERATED] = {"generated-added", "generated-dropped", "generated-changed", ""},
	[SL_DOOR_CONSTRAINT] = {"constraint-added", "constraint-dropped",
	"constraint-changed", "constraint-renamed"},
	[SL_DOOR_ROW_SECURITY] = {"row-security-enabled", "row-security-disabled", "", ""},
	[SL_DOOR_FORCED] = {"row-security-forced", "row-security-not-forced", "", ""},
	[SL_DOOR_POLICY] = {"policy-added", "policy-dropped", "policy-changed", "policy-renamed"},
	[SL_DOOR_INHERITS] = {"parent-added", "parent-dropped", "", ""},
	[SL_DOOR_INDEX] = {"index-added", "index-dropped", "index-changed", ""},
	[SL_DOOR_ON_UPDATE] = {"on-update-set", "on-update-dropped", "on-update-changed", ""},
};

static bool
of_column(SlDoorKind kind)
{
	return kind <= SL_DOOR_GENERATED || kind == SL_DOOR_ON_UPDATE;
}

/* Kinds whose name says all. */
static bool
has_no_text(SlDoorKind kind)
{
	return kind == SL_DOOR_NOT_NULL || kind == SL_DOOR_ROW_SECURITY || kind == SL_DOOR_FORCED;
}

/* In the source's words where there is no translation. */
static void
put_def(const SlDoorTable *t, StringInfo buf, const char *before, const SlDoorItem *item)
{
	const char *text = item->def == NULL && t->target_names ? item->raw : item->def;

	if (text == NULL || *text == '\0' || has_no_text(item->kind))
		return;
	appendStringInfoString(buf, before);
	sl_append_visible(buf, text);
}

char *
sl_door_line(const SlDoorTable *t, const SlDoorFinding *f)
{
	const SlDoorItem *item = f->after ? f->after : f->before;
	StringInfoData buf;

	initStringInfo(&buf);
	appendStringInfo(&buf, "[%s] ", tags[item->kind][f->move]);
	sl_append_ident(&buf, t->schema);
	appendStringInfoChar(&buf, '.');
	sl_append_ident(&buf, t->table);
	if (item->name[0])
	{
		appendStringInfoChar(&buf, of_column(item->kind) ? '.' : ' ');
		sl_append_ident(&buf, item->name);
	}
	if (f->move == SL_DOOR_RENAMED)
	{
		appendStringInfoString(&buf, ", was ");
		sl_append_ident(&buf, f->before->name);
		return buf.data;
	}
	if (f->after)
		put_def(t, &buf, " ", f->after);
	if (f->before)
		put_def(t, &buf, f->after ? ", was " : " ", f->before);
	return buf.data;
}

/* ---------- statements ---------- */

/* See door_int.h. */
SlStream *
sl_door_unmapped(const SlStream *s)
{
	SlStream   *same = palloc_object(SlStream);

	*same = *s;
	same->target_schema = NULL;
	same->options = DatumGetJsonbP(DirectFunctionCall1(jsonb_in, CStringGetDatum("{}")));
	return same;
}

/* What the target has of the stream, by its own names. */
static SlGate *
target_gate(const SlDoorTable *t)
{
	SlGate	   *g = sl_gate_create(sl_door_unmapped(t->stream));
	SlStreamTable *tables;
	int			n = sl_stream_tables(t->stream->stream_id, &tables);

	for (int i = 0; i < n; i++)
	{
		char	   *name = OidIsValid(tables[i].target_relid) ? get_rel_name(tables[i].target_relid) : NULL;

		if (name)
			sl_gate_allow(g, 'r', get_namespace_name(get_rel_namespace(tables[i].target_relid)), name);
	}
	sl_gate_allow_existing(g);
	return g;
}

static SlGate *
gate_of(const SlDoorTable *t)
{
	SlGate	   *g;
	SlStreamTable *tables;
	int			n;

	if (t->target_names)
		return target_gate(t);
	g = sl_gate_create(t->stream);
	n = sl_stream_tables(t->stream->stream_id, &tables);
	sl_gate_allow(g, 'r', t->schema, t->table);
	sl_gate_allow_existing(g);
	for (int i = 0; i < n; i++)
		sl_gate_allow(g, 'r', tables[i].schema, tables[i].table);
	return g;
}

static char *
target_name(const SlDoorTable *t)
{
	char	   *name = get_rel_name(t->target);

	return name == NULL ? NULL :
		quote_qualified_identifier(get_namespace_name(get_rel_namespace(t->target)), name);
}

/* Built with the source's names, and given the target's by the gate. */
static char *
source_statement(const SlDoorTable *t, NodeTag tag, const char *sql)
{
	char	   *fault = NULL;
	char	   *text = sl_gate_statement(gate_of(t), tag, sql, &fault);

	return text ? psprintf("%s;", text) : NULL;
}

static char *
source_name(const SlDoorTable *t)
{
	if (t->target_names)
		return target_name(t);
	return quote_qualified_identifier(t->schema, t->table);
}

static char *
drop_object(const SlDoorTable *t, const SlDoorFinding *f, const char *what)
{
	const SlDoorItem *item = f->target ? f->target : f->before;

	if (strcmp(what, "POLICY") == 0)
		return psprintf("DROP POLICY %s ON %s;", quote_identifier(item->name), target_name(t));
	return psprintf("ALTER TABLE %s DROP CONSTRAINT %s;", target_name(t),
					quote_identifier(item->name));
}

static char *
add_object(const SlDoorTable *t, const SlDoorFinding *f)
{
	const char *name = quote_identifier(f->after->name);

	if (f->after->def == NULL)
		return NULL;
	if (f->after->kind == SL_DOOR_POLICY)
		return source_statement(t, T_CreatePolicyStmt,
								psprintf("CREATE POLICY %s ON %s %s", name,
										 source_name(t), f->after->def));
	return source_statement(t, T_AlterTableStmt,
							psprintf("ALTER TABLE %s ADD CONSTRAINT %s %s",
									 source_name(t), name, f->after->def));
}

/* A constraint or policy: made, removed, or both. */
static char *
object_statement(const SlDoorTable *t, const SlDoorFinding *f)
{
	const char *what = (f->after ? f->after : f->before)->kind == SL_DOOR_POLICY ?
	"POLICY" : "CONSTRAINT";
	char	   *add;

	if (f->after == NULL)
		return drop_object(t, f, what);
	add = add_object(t, f);
	if (add && f->target)
		return psprintf("%s %s", drop_object(t, f, what), add);
	return add;
}

static char *
default_action(const SlDoorTable *t, const SlDoorFinding *f)
{
	char	   *fault = NULL;
	char	   *expr;

	if (f->after == NULL)
		return "DROP DEFAULT";
	if (f->after->def == NULL)
		return NULL;
	expr = sl_gate_expr(gate_of(t), f->after->def + strlen("DEFAULT "), &fault);
	return expr ? psprintf("SET DEFAULT %s", expr) : NULL;
}

static char *
identity_action(const SlDoorFinding *f)
{
	bool		always;

	if (f->after == NULL)
		return "DROP IDENTITY";
	always = f->after->raw[0] == 'a';
	if (f->target)
		return always ? "SET GENERATED ALWAYS" : "SET GENERATED BY DEFAULT";
	return psprintf("ADD GENERATED %s AS IDENTITY", always ? "ALWAYS" : "BY DEFAULT");
}

static char *
column_action(const SlDoorTable *t, const SlDoorFinding *f)
{
	switch ((f->after ? f->after : f->before)->kind)
	{
		case SL_DOOR_NOT_NULL:
			return f->after ? "SET NOT NULL" : "DROP NOT NULL";
		case SL_DOOR_DEFAULT:
			return default_action(t, f);
		case SL_DOOR_IDENTITY:
			return identity_action(f);
		default:
			return NULL;
	}
}

/*
 * A generated column is computed here, as the source's is there: it may go and
 * come, and be at another place.
 */
static char *
generated_statement(const SlDoorTable *t, const SlDoorFinding *f)
{
	char	   *drop = NULL;
	char	   *add;

	if (f->target)
		drop = psprintf("ALTER TABLE %s ALTER COLUMN %s DROP EXPRESSION;", target_name(t),
						quote_identifier(f->target->name));
	if (f->target && (f->column == NULL || f->after))
		drop = psprintf("ALTER TABLE %s DROP COLUMN %s;", target_name(t),
						quote_identifier(f->target->name));
	if (f->after == NULL)
		return drop;
	if (f->after->def == NULL || f->column == NULL || f->column->def == NULL)
		return NULL;
	add = source_statement(t, T_AlterTableStmt,
						   psprintf("ALTER TABLE %s ADD COLUMN %s %s %s STORED", source_name(t),
									quote_identifier(f->after->name), f->column->def,
									f->after->def));
	return add && drop ? psprintf("%s %s", drop, add) : add;
}

static char *
parent_statement(const SlDoorTable *t, const SlDoorFinding *f)
{
	const SlDoorItem *item = f->after ? f->after : f->before;
	const SlStreamTable *parent = sl_stream_table_by_id(t->stream->stream_id, (Oid) item->id);
	SlDoorTable p = {.target = parent ? parent->target_relid : InvalidOid};

	if (target_name(&p) == NULL)
		return NULL;
	return psprintf("ALTER TABLE %s %s %s;", target_name(t),
					f->after ? "INHERIT" : "NO INHERIT", target_name(&p));
}

static char *
flag_statement(const SlDoorTable *t, const SlDoorFinding *f)
{
	const char *action;

	if ((f->after ? f->after : f->before)->kind == SL_DOOR_FORCED)
		action = f->after ? "FORCE" : "NO FORCE";
	else
		action = f->after ? "ENABLE" : "DISABLE";
	return psprintf("ALTER TABLE %s %s ROW LEVEL SECURITY;", target_name(t), action);
}

char *
sl_door_statement(const SlDoorTable *t, const SlDoorFinding *f)
{
	const SlDoorItem *item = f->after ? f->after : f->before;
	char	   *action;

	if (target_name(t) == NULL || item->kind == SL_DOOR_INDEX)
		return NULL;
	if (item->kind == SL_DOOR_CONSTRAINT || item->kind == SL_DOOR_POLICY)
		return object_statement(t, f);
	if (item->kind == SL_DOOR_INHERITS)
		return parent_statement(t, f);
	if (item->kind == SL_DOOR_GENERATED)
		return generated_statement(t, f);
	if (!of_column(item->kind))
		return flag_statement(t, f);
	action = column_action(t, f);
	return action == NULL ? NULL :
		psprintf("ALTER TABLE %s ALTER COLUMN %s %s;", target_name(t),
				 quote_identifier(item->name), action);
}

static bool
is_foreign_key(const SlDoorItem *item)
{
	return item && item->kind == SL_DOOR_CONSTRAINT && item->def &&
		strncmp(item->def, "FOREIGN KEY", 11) == 0;
}

/*
 * What stands on something goes before it and comes after it: a foreign key on a
 * key, a primary key and an identity on NOT NULL, an identity where no default is,
 * a parent on its checks.
 */
int
sl_door_step(const SlDoorFinding *f)
{
	SlDoorKind	kind = (f->after ? f->after : f->before)->kind;

	if (f->after == NULL)
	{
		if (is_foreign_key(f->before) || is_foreign_key(f->target) || kind == SL_DOOR_POLICY ||
			kind == SL_DOOR_INHERITS)
			return 0;
		return kind == SL_DOOR_CONSTRAINT || kind == SL_DOOR_IDENTITY ? 1 : 2;
	}
	if (kind == SL_DOOR_NOT_NULL)
		return 3;
	return is_foreign_key(f->after) || kind == SL_DOOR_INHERITS ? 5 : 4;
}

char *
sl_door_index_ddl(const SlDoorTable *t, const SlDoorFinding *f)
{
	if (f->after)
		return f->after->def ? f->after->def :
			psprintf("CREATE INDEX %s ON %s ...", quote_identifier(f->after->name), source_name(t));
	return psprintf("DROP INDEX %s", quote_qualified_identifier(t->schema, f->before->name));
}
