/*
 * catalog_json.c
 *	  A source's catalog as JSON: for people, and for whom it is handed to.
 */
#include "bridge/catalog.h"
#include "bridge/json_out.h"

static void
default_json(StringInfo out, const BrColumn *col)
{
	if (col->default_kind == BR_DEFAULT_NONE)
		return;
	br_json_text(out, col->default_kind == BR_DEFAULT_VALUE ? "default" : "default_expression",
				 col->default_text);
}

static void
type_json(StringInfo out, const BrColumn *col)
{
	MyTarget	target;
	SlError		err = {0};

	br_json_text(out, "source_type", col->type_text);
	if (col->type == NULL)
	{
		br_json_text(out, "unsupported", col->type_error);
		return;
	}
	if (!my_type_target(col->type, NULL, NULL, &target, &err))
	{
		br_json_text(out, "unsupported", err.detail);
		return;
	}
	br_json_text(out, "type", target.type_name);
	if (target.note)
		br_json_text(out, "note", target.note);
	if (col->type->collation)
		br_json_text(out, "collation", col->type->collation);
}

static void
column_json(StringInfo out, const BrColumn *col)
{
	br_json_comma(out);
	appendStringInfoChar(out, '{');
	br_json_text(out, "name", col->name);
	type_json(out, col);
	br_json_bool(out, "not_null", !col->nullable);
	default_json(out, col);
	if (col->on_update)
		br_json_text(out, "on_update", col->on_update);
	if (col->auto_increment)
		br_json_bool(out, "auto_increment", true);
	if (col->invisible)
		br_json_bool(out, "invisible", true);
	if (col->generated != BR_PLAIN)
		br_json_text(out, col->generated == BR_STORED ? "stored" : "virtual", col->generation);
	if (col->comment[0])
		br_json_text(out, "comment", col->comment);
	appendStringInfoChar(out, '}');
}

static void
part_json(StringInfo out, const BrTable *t, const BrIndexPart *part)
{
	br_json_comma(out);
	appendStringInfoChar(out, '{');
	if (part->column >= 0)
		br_json_text(out, "column", t->cols[part->column].name);
	else
		br_json_text(out, "expression", part->expression);
	if (part->prefix)
		br_json_number(out, "prefix", part->prefix);
	if (part->descending)
		br_json_bool(out, "descending", true);
	appendStringInfoChar(out, '}');
}

static void
index_json(StringInfo out, const BrTable *t, const BrIndex *x)
{
	br_json_comma(out);
	appendStringInfoChar(out, '{');
	br_json_text(out, "name", x->name);
	br_json_text(out, "kind", br_index_kinds[x->kind]);
	br_json_bool(out, "unique", x->unique);
	if (!x->visible)
		br_json_bool(out, "invisible", true);
	br_json_name(out, "parts");
	appendStringInfoChar(out, '[');
	for (int i = 0; i < x->nparts; i++)
		part_json(out, t, &x->parts[i]);
	appendStringInfoString(out, "]}");
}

static void
fk_json(StringInfo out, const BrForeignKey *fk)
{
	br_json_comma(out);
	appendStringInfoChar(out, '{');
	br_json_text(out, "name", fk->name);
	br_json_texts(out, "columns", fk->columns, fk->ncols);
	br_json_text(out, "references_database", fk->ref_database);
	br_json_text(out, "references_table", fk->ref_table);
	br_json_texts(out, "references_columns", fk->ref_columns, fk->ncols);
	br_json_text(out, "on_delete", fk->on_delete);
	br_json_text(out, "on_update", fk->on_update);
	appendStringInfoChar(out, '}');
}

static void
check_json(StringInfo out, const BrCheck *k)
{
	br_json_comma(out);
	appendStringInfoChar(out, '{');
	br_json_text(out, "name", k->name);
	br_json_text(out, "clause", k->clause);
	br_json_bool(out, "enforced", k->enforced);
	appendStringInfoChar(out, '}');
}

/* See catalog.h. */
void
br_table_json(StringInfo out, const BrTable *t)
{
	br_json_comma(out);
	appendStringInfoChar(out, '{');
	br_json_text(out, "name", t->name);
	br_json_text(out, "kind", t->kind);
	br_json_text(out, "engine", t->engine);
	br_json_number(out, "rows", (int64) t->rows);
	br_json_number(out, "bytes", (int64) t->bytes);
	if (t->auto_increment)
	{
		br_json_name(out, "auto_increment");
		appendStringInfo(out, UINT64_FORMAT, t->auto_increment);
	}
	if (t->partitioned)
		br_json_bool(out, "partitioned", true);
	if (t->comment && t->comment[0])
		br_json_text(out, "comment", t->comment);
	br_json_name(out, "columns");
	appendStringInfoChar(out, '[');
	for (int i = 0; i < t->ncols; i++)
		column_json(out, &t->cols[i]);
	appendStringInfoChar(out, ']');
	br_json_name(out, "indexes");
	appendStringInfoChar(out, '[');
	for (int i = 0; i < t->nindexes; i++)
		index_json(out, t, &t->indexes[i]);
	appendStringInfoChar(out, ']');
	br_json_name(out, "foreign_keys");
	appendStringInfoChar(out, '[');
	for (int i = 0; i < t->nfks; i++)
		fk_json(out, &t->fks[i]);
	appendStringInfoChar(out, ']');
	br_json_name(out, "checks");
	appendStringInfoChar(out, '[');
	for (int i = 0; i < t->nchecks; i++)
		check_json(out, &t->checks[i]);
	appendStringInfoString(out, "]}");
}
