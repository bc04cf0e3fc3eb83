/*
 * ddl_text.h
 *	  What sl_ddl_parse found, as a line of text.
 */
#ifndef TEST_DDL_TEXT_H
#define TEST_DDL_TEXT_H

#include "common/sl_mysql_ddl.h"

static inline void
ddl_names(StringInfo out, const char **names, int n)
{
	appendStringInfoChar(out, '(');
	for (int i = 0; i < n; i++)
		appendStringInfo(out, "%s%s", i > 0 ? "," : "", names[i]);
	appendStringInfoChar(out, ')');
}

static inline void
ddl_table(StringInfo out, const SlDdlTableName *t)
{
	appendStringInfo(out, " %s.%s", t->database, t->name);
}

static inline void
ddl_default(StringInfo out, const char *word, const SlDdlDefault *d)
{
	if (d->kind == SL_DDL_DEFAULT_NULL)
		appendStringInfo(out, " %s NULL", word);
	else if (d->kind == SL_DDL_DEFAULT_EXPRESSION)
		appendStringInfo(out, " %s {%s}", word, d->text);
	else if (d->kind == SL_DDL_DEFAULT_LITERAL)
	{
		const char *mark = d->constant == SL_MY_STRING ? "'" : d->constant == SL_MY_HEX ? "x" : d->constant == SL_MY_BITS ? "b" : "";

		appendStringInfo(out, " %s %s%s%s", word, mark, d->text, d->constant == SL_MY_STRING ? "'" : "");
	}
}

static inline void
ddl_references(StringInfo out, const SlDdlForeignKey *f)
{
	static const char *const actions[] = {"", "restrict", "cascade", "set null", "no action", "set default"};

	appendStringInfoString(out, " ->");
	ddl_table(out, &f->table);
	ddl_names(out, f->referenced, f->nreferenced);
	if (f->on_delete != SL_DDL_ACTION_NONE)
		appendStringInfo(out, " delete:%s", actions[f->on_delete]);
	if (f->on_update != SL_DDL_ACTION_NONE)
		appendStringInfo(out, " update:%s", actions[f->on_update]);
}

static inline void
ddl_check(StringInfo out, const SlDdlCheck *k)
{
	appendStringInfo(out, " check %s {%s}%s", k->constraint != NULL ? k->constraint : "-", k->expression, k->not_enforced ? " off" : "");
}

static inline void
ddl_type(StringInfo out, const SlDdlType *t)
{
	if (t->column_type != NULL)
		appendStringInfo(out, " %s", t->column_type);
	else
		appendStringInfo(out, " ?%s", t->name);
	if (t->charset != NULL)
		appendStringInfo(out, " charset:%s", t->charset);
	if (t->collation != NULL)
		appendStringInfo(out, " collate:%s", t->collation);
	if (t->binary_order)
		appendStringInfoString(out, " binary");
	if (t->has_srid)
		appendStringInfo(out, " srid:%u", t->srid);
}

static inline void
ddl_flags(StringInfo out, const SlDdlColumn *c)
{
	static const char *const generated[] = {"", " virtual", " stored", " row-start", " row-end"};

	appendStringInfo(out, "%s%s%s%s%s%s%s%s", c->not_null ? " not-null" : "", c->null ? " null" : "", c->auto_increment ? " auto" : "",
					 generated[c->generated], c->primary ? " primary" : "", c->unique ? " unique" : "",
					 c->invisible ? " invisible" : "", c->without_versioning ? " unversioned" : "");
}

static inline void
ddl_column(StringInfo out, const SlDdlColumn *c)
{
	appendStringInfo(out, " %s", c->name);
	ddl_type(out, &c->type);
	ddl_flags(out, c);
	ddl_default(out, "default", &c->dflt);
	if (c->on_update != NULL)
		appendStringInfo(out, " update {%s}", c->on_update);
	if (c->generation != NULL)
		appendStringInfo(out, " as {%s}", c->generation);
	if (c->comment != NULL)
		appendStringInfo(out, " comment '%s'", c->comment);
	for (int i = 0; i < c->nchecks; i++)
		ddl_check(out, &c->checks[i]);
	if (c->references != NULL)
		ddl_references(out, c->references);
	if (c->first)
		appendStringInfoString(out, " first");
	if (c->after != NULL)
		appendStringInfo(out, " after:%s", c->after);
}

static inline void
ddl_key(StringInfo out, const SlDdlKey *k)
{
	static const char *const kinds[] = {"plain", "primary", "unique", "fulltext", "spatial", "vector"};

	appendStringInfo(out, " %s %s(", kinds[k->kind], k->name != NULL ? k->name : "-");
	for (int i = 0; i < k->nparts; i++)
	{
		const SlDdlKeyPart *part = &k->parts[i];

		if (part->column != NULL)
			appendStringInfo(out, "%s%s", i > 0 ? "," : "", part->column);
		else
			appendStringInfo(out, "%s{%s}", i > 0 ? "," : "", part->expression);
		if (part->prefix > 0)
			appendStringInfo(out, ":%u", part->prefix);
		appendStringInfo(out, "%s%s", part->descending ? " desc" : "", part->without_overlaps ? " period" : "");
	}
	appendStringInfo(out, ")%s", k->invisible ? " invisible" : "");
	if (k->constraint != NULL)
		appendStringInfo(out, " constraint:%s", k->constraint);
}

static inline void
ddl_clause(StringInfo out, const SlDdlClause *c)
{
	appendStringInfoString(out, sl_ddl_clause_name(c->kind));
	if (c->if_exists || c->if_not_exists)
		appendStringInfoString(out, " maybe");
	if (c->name != NULL && (c->column == NULL || c->kind == SL_DDL_CHANGE_COLUMN) && c->key == NULL)
		appendStringInfo(out, " %s", c->name);
	if (c->to != NULL && c->column == NULL)
		appendStringInfo(out, " -> %s", c->to);
	if (c->column != NULL)
		ddl_column(out, c->column);
	ddl_default(out, "=", &c->dflt);
	if (c->key != NULL)
		ddl_key(out, c->key);
	if (c->foreign != NULL)
	{
		appendStringInfoChar(out, ' ');
		ddl_names(out, c->foreign->columns, c->foreign->ncolumns);
		ddl_references(out, c->foreign);
	}
	if (c->check != NULL)
		ddl_check(out, c->check);
	if (c->table.name != NULL)
		ddl_table(out, &c->table);
	if (c->charset != NULL)
		appendStringInfo(out, " %s", c->charset);
	if (c->collation != NULL)
		appendStringInfo(out, " collate:%s", c->collation);
	if (c->nnames > 0)
		ddl_names(out, c->names, c->nnames);
	if (c->off)
		appendStringInfoString(out, " off");
}

/* "what flags: table, table -> table [clause; clause]"; "UNKNOWN offset reason". */
static inline char *
ddl_text(const SlDdl *d)
{
	StringInfoData out;

	initStringInfo(&out);
	if (d->kind == SL_DDL_UNKNOWN)
	{
		appendStringInfo(&out, "UNKNOWN %zu %s", d->err.offset, d->err.detail);
		return out.data;
	}
	appendStringInfo(&out, "%s%s", d->kind == SL_DDL_OTHER ? "OTHER " : "", d->what);
	if (d->database != NULL)
		appendStringInfo(&out, " %s", d->database);
	appendStringInfo(&out, "%s%s%s%s%s%s", d->temporary ? " temporary" : "", d->or_replace ? " replace" : "",
					 d->if_exists || d->if_not_exists ? " maybe" : "", d->ignore ? " ignore" : "",
					 d->as_select ? " select" : "", d->starts_transaction ? " transaction" : "");
	for (int i = 0; i < d->neffects; i++)
	{
		const SlDdlEffect *e = &d->effects[i];

		appendStringInfoString(&out, i > 0 ? "," : ":");
		ddl_table(&out, &e->table);
		if (e->to.name != NULL)
		{
			appendStringInfoString(&out, d->kind == SL_DDL_CREATE_LIKE ? " like" : " ->");
			ddl_table(&out, &e->to);
		}
		for (int j = 0; j < e->nclauses; j++)
		{
			appendStringInfoString(&out, j > 0 ? "; " : " | ");
			ddl_clause(&out, &e->clauses[j]);
		}
	}
	return out.data;
}

#endif							/* TEST_DDL_TEXT_H */
