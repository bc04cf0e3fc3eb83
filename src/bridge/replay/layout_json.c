/*
 * layout_json.c
 *	  A layout as JSON.
 *
 * NOTES
 *	  What is false, zero or absent is left out.  A column's type is its text with
 *	  what else my_type_parse takes.  Indexes name their columns by place.
 */
#include "bridge/replay/replay_int.h"
#include "bridge/json_out.h"

static void
put_text(StringInfo out, const char *name, const char *value)
{
	if (value != NULL)
		br_json_text(out, name, value);
}

static void
put_flag(StringInfo out, const char *name, bool value)
{
	if (value)
		br_json_bool(out, name, true);
}

static void
put_number(StringInfo out, const char *name, uint64 value)
{
	if (value == 0)
		return;
	br_json_name(out, name);
	appendStringInfo(out, UINT64_FORMAT, value);
}

static void
type_json(StringInfo out, const BrColumn *c)
{
	put_text(out, "type", c->type_text);
	put_text(out, "type_error", c->type_error);
	if (c->type == NULL)
		return;
	put_text(out, "charset", c->type->charset);
	put_text(out, "collation", c->type->collation);
	if (c->type->srid >= 0)
		br_json_number(out, "srid", c->type->srid);
	put_flag(out, "json", c->type->kind == MY_JSON && strncmp(c->type_text, "json", 4) != 0);
}

static void
column_json(StringInfo out, const BrColumn *c, int32 attnum)
{
	br_json_comma(out);
	appendStringInfoChar(out, '{');
	put_text(out, "name", c->name);
	br_json_number(out, "attnum", attnum);
	type_json(out, c);
	put_flag(out, "nullable", c->nullable);
	put_flag(out, "auto_increment", c->auto_increment);
	put_flag(out, "invisible", c->invisible);
	if (c->default_kind != BR_DEFAULT_NONE)
		put_text(out, c->default_kind == BR_DEFAULT_VALUE ? "default" : "default_expression", c->default_text);
	put_text(out, "on_update", c->on_update);
	if (c->generated != BR_PLAIN)
		br_json_text(out, c->generated == BR_STORED ? "stored" : "virtual", c->generation);
	put_text(out, "comment", c->comment);
	appendStringInfoChar(out, '}');
}

static void
index_json(StringInfo out, const BrIndex *x)
{
	br_json_comma(out);
	appendStringInfoChar(out, '{');
	put_text(out, "name", x->name);
	put_flag(out, "primary", x->primary);
	put_flag(out, "unique", x->unique);
	put_flag(out, "invisible", !x->visible);
	put_text(out, "kind", br_index_kinds[x->kind]);
	put_text(out, "comment", x->comment);
	br_json_name(out, "parts");
	appendStringInfoChar(out, '[');
	for (int i = 0; i < x->nparts; i++)
	{
		const BrIndexPart *part = &x->parts[i];

		br_json_comma(out);
		appendStringInfoChar(out, '{');
		if (part->column >= 0)
			br_json_number(out, "column", part->column);
		put_text(out, "expression", part->expression);
		put_number(out, "prefix", part->prefix);
		put_flag(out, "descending", part->descending);
		appendStringInfoChar(out, '}');
	}
	appendStringInfoString(out, "]}");
}

static void
foreign_key_json(StringInfo out, const BrForeignKey *f)
{
	br_json_comma(out);
	appendStringInfoChar(out, '{');
	put_text(out, "name", f->name);
	br_json_texts(out, "columns", f->columns, f->ncols);
	put_text(out, "database", f->ref_database);
	put_text(out, "table", f->ref_table);
	br_json_texts(out, "referenced", f->ref_columns, f->ncols);
	put_text(out, "on_delete", f->on_delete);
	put_text(out, "on_update", f->on_update);
	appendStringInfoChar(out, '}');
}

static void
check_json(StringInfo out, const BrCheck *k)
{
	br_json_comma(out);
	appendStringInfoChar(out, '{');
	put_text(out, "name", k->name);
	put_text(out, "clause", k->clause);
	put_flag(out, "enforced", k->enforced);
	put_flag(out, "of_column", k->of_column);
	appendStringInfoChar(out, '}');
}

static void
table_json(StringInfo out, const BrTable *t)
{
	put_text(out, "database", t->database);
	put_text(out, "name", t->name);
	put_text(out, "engine", t->engine);
	put_text(out, "kind", t->kind);
	put_text(out, "comment", t->comment);
	put_text(out, "table_collation", t->collation);
	put_flag(out, "partitioned", t->partitioned);
	put_number(out, "rows", t->rows);
	put_number(out, "bytes", t->bytes);
	put_number(out, "auto_increment", t->auto_increment);
}

/* See replay.h. */
void
br_layout_json(StringInfo out, const BrLayout *l)
{
	const BrTable *t = l->t;

	br_json_comma(out);
	appendStringInfo(out, "{\"version\":%d", BR_LAYOUT_VERSION);
	br_json_number(out, "relid", l->relid);
	br_json_number(out, "natts", l->natts);
	put_text(out, "charset", l->charset);
	put_text(out, "collation", l->collation);
	put_flag(out, "unsure", l->unsure);
	put_text(out, "why", l->why);
	table_json(out, t);
	br_json_name(out, "columns");
	appendStringInfoChar(out, '[');
	for (int i = 0; i < t->ncols; i++)
		column_json(out, &t->cols[i], l->attnums[i]);
	appendStringInfoChar(out, ']');
	br_json_name(out, "indexes");
	appendStringInfoChar(out, '[');
	for (int i = 0; i < t->nindexes; i++)
		index_json(out, &t->indexes[i]);
	appendStringInfoChar(out, ']');
	br_json_name(out, "foreign_keys");
	appendStringInfoChar(out, '[');
	for (int i = 0; i < t->nfks; i++)
		foreign_key_json(out, &t->fks[i]);
	appendStringInfoChar(out, ']');
	br_json_name(out, "checks");
	appendStringInfoChar(out, '[');
	for (int i = 0; i < t->nchecks; i++)
		check_json(out, &t->checks[i]);
	appendStringInfoString(out, "]}");
}
