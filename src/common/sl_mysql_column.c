/*
 * sl_mysql_column.c
 *	  A column's definition: type, default, generation, and what else belongs to it.
 *
 * Rule: MySQL manual "CREATE TABLE Statement" (column_definition), MariaDB
 * "CREATE TABLE".  The attributes come in any order.
 */
#include "common/sl_mysql_parse.h"

/* ---------- expressions ---------- */

static SlMyTokenKind
next_kind(const SlMyParse *p)
{
	return p->t.tokens[Min(p->at + 1, p->t.n - 1)].kind;
}

static bool
is_constant(SlMyTokenKind kind)
{
	return kind >= SL_MY_STRING && kind <= SL_MY_FLOAT;
}

/* CASE … END */
static bool
case_expression(SlMyParse *p)
{
	int			depth = 0;

	do
	{
		SlMyTokenKind kind = sl_my_kind(p);

		if (kind == SL_MY_END || kind == SL_MY_FAULT)
			return sl_my_unexpected(p, "END was expected");
		depth += sl_my_is(p, "case") ? 1 : sl_my_is(p, "end") ? -1 : 0;
		p->at++;
	} while (depth > 0);
	return true;
}

/* NEXT VALUE FOR and PREVIOUS VALUE FOR a sequence, behind their first word. */
static bool
sequence_value(SlMyParse *p)
{
	SlDdlTableName name;

	p->at++;
	return sl_my_expect(p, "value") && sl_my_expect(p, "for") && sl_my_table_name(p, &name);
}

/* A name, with points in it, and arguments where it is a function's. */
static bool
call(SlMyParse *p)
{
	const char *name;

	do
	{
		if (!sl_my_name(p, &name))
			return false;
	} while (sl_my_take_sign(p, "."));
	return !sl_my_is_sign(p, "(") || sl_my_parentheses(p, NULL);
}

/* What can stand without parentheses: a constant, a function, a name, in parentheses, CASE … END. */
static bool
primary(SlMyParse *p)
{
	static const char *const temporal[] = {"date", "time", "timestamp", NULL};

	while (sl_my_take_sign(p, "-") || sl_my_take_sign(p, "+"))
		;
	if (sl_my_is_sign(p, "("))
		return sl_my_parentheses(p, NULL);
	if (sl_my_take_sign(p, "{"))
		return sl_my_is_name(p, 0) && is_constant(next_kind(p)) && (p->at += 2, sl_my_expect_sign(p, "}"));
	if (sl_my_is(p, "case"))
		return case_expression(p);
	if ((sl_my_is(p, "next") || sl_my_is(p, "previous")) && sl_my_next_is(p, 1, "value"))
		return sequence_value(p);
	if (sl_my_kind(p) == SL_MY_WORD && next_kind(p) == SL_MY_STRING &&
		(sl_my_which(p, temporal) >= 0 || p->t.text[p->t.tokens[p->at].at] == '_'))
		p->at++;
	if (sl_my_kind(p) == SL_MY_VARIABLE)
	{
		p->at++;
		return true;
	}
	if (!is_constant(sl_my_kind(p)))
		return call(p);
	while (is_constant(sl_my_kind(p)))
	{
		p->at++;
		if (sl_my_kind(p) != SL_MY_STRING)
			break;
	}
	return true;
}

/* The text of what was passed since first, without parentheses around all of it. */
static const char *
text_since(const SlMyParse *p, int first)
{
	int			depth = 0;

	for (int i = first; i < p->at; i++)
	{
		depth += sl_my_token_sign(&p->t, i, "(") ? 1 : sl_my_token_sign(&p->t, i, ")") ? -1 : 0;
		if (depth == 0 && (i == first || i == p->at - 1))
			return i == p->at - 1 && i > first ? sl_my_tokens_text(&p->t, first + 1, i) : sl_my_tokens_text(&p->t, first, p->at);
		if (depth == 0)
			break;
	}
	return sl_my_tokens_text(&p->t, first, p->at);
}

/* ---------- DEFAULT ---------- */

/* [sign] constant and nothing more; false: it is something else, and nothing is passed. */
static bool
literal(SlMyParse *p, SlDdlDefault *d, bool *ok)
{
	bool		minus = sl_my_is_sign(p, "-");
	bool		introduced = sl_my_kind(p) == SL_MY_WORD && p->t.text[p->t.tokens[p->at].at] == '_';
	int			skip = minus || sl_my_is_sign(p, "+") || introduced ? 1 : 0;
	SlMyTokenKind kind = p->t.tokens[Min(p->at + skip, p->t.n - 1)].kind;

	*ok = true;
	if (!is_constant(kind) || (kind == SL_MY_STRING && skip > 0 && !introduced))
		return false;
	p->at += skip;
	d->kind = SL_DDL_DEFAULT_LITERAL;
	d->constant = kind;
	if (kind == SL_MY_STRING)
	{
		*ok = sl_my_string(p, &d->text);
		return true;
	}
	d->text = sl_my_token_value(&p->t, p->at++, NULL);
	if (minus)
		d->text = psprintf("-%s", d->text);
	return true;
}

/* Behind DEFAULT. */
bool
sl_my_default(SlMyParse *p, SlDdlDefault *d)
{
	int			first = p->at;
	bool		ok;

	memset(d, 0, sizeof(*d));
	if (sl_my_take(p, "null"))
	{
		d->kind = SL_DDL_DEFAULT_NULL;
		return true;
	}
	/* the constants that are words */
	if (sl_my_is(p, "true") || sl_my_is(p, "false"))
	{
		d->kind = SL_DDL_DEFAULT_LITERAL;
		d->constant = SL_MY_INTEGER;
		d->text = sl_my_is(p, "true") ? "1" : "0";
		p->at++;
		return true;
	}
	if (literal(p, d, &ok))
		return ok;
	d->kind = SL_DDL_DEFAULT_EXPRESSION;
	if (!primary(p))
		return sl_my_unexpected(p, "a default was expected");
	d->text = text_since(p, first);
	return true;
}

/* ---------- attributes ---------- */

/* Behind AS: (expression) [VIRTUAL | STORED | PERSISTENT], or ROW START | END. */
static bool
generation(SlMyParse *p, SlDdlColumn *c)
{
	if (sl_my_take(p, "row"))
	{
		c->generated = sl_my_is(p, "start") ? SL_DDL_ROW_START : SL_DDL_ROW_END;
		if (sl_my_take(p, "start") || sl_my_take(p, "end"))
			return true;
		return sl_my_unexpected(p, "START or END was expected");
	}
	c->generated = SL_DDL_VIRTUAL;
	if (!sl_my_parentheses(p, &c->generation))
		return false;
	if (sl_my_take(p, "stored") || sl_my_take(p, "persistent"))
		c->generated = SL_DDL_STORED;
	else
		(void) sl_my_take(p, "virtual");
	return true;
}

static bool
check(SlMyParse *p, SlDdlColumn *c, const char *constraint)
{
	SlDdlCheck *k;
	bool		is;

	if (c->nchecks >= SL_DDL_MAX_LIST)
		return sl_my_unexpected(p, "a column has too many checks");
	c->checks = sl_my_room(c->checks, c->nchecks, sizeof(SlDdlCheck));
	k = &c->checks[c->nchecks++];
	memset(k, 0, sizeof(*k));
	k->constraint = constraint;
	return sl_my_expect(p, "check") && sl_my_parentheses(p, &k->expression) && sl_my_enforced(p, &k->not_enforced, &is);
}

static bool
references(SlMyParse *p, SlDdlColumn *c, const char *constraint)
{
	c->references = palloc0(sizeof(SlDdlForeignKey));
	c->references->constraint = constraint;
	return sl_my_references(p, c->references);
}

/* [CONSTRAINT [name]] CHECK (…) or REFERENCES … */
static bool
constraint(SlMyParse *p, SlDdlColumn *c)
{
	const char *name = NULL;

	if (sl_my_take(p, "constraint") && !sl_my_is(p, "check") && !sl_my_is(p, "references") && !sl_my_name(p, &name))
		return false;
	return sl_my_is(p, "references") ? references(p, c, name) : check(p, c, name);
}

static bool
word_value(SlMyParse *p)
{
	const char *word;

	(void) sl_my_take_sign(p, "=");
	return sl_my_word_or_text(p, &word);
}

/* What says nothing about the column's values.  *is: it was one of these. */
static bool
storage_attribute(SlMyParse *p, bool *is)
{
	*is = true;
	if (sl_my_take(p, "column_format") || sl_my_take(p, "storage") || sl_my_take(p, "engine_attribute") ||
		sl_my_take(p, "secondary_engine_attribute"))
		return word_value(p);
	if (sl_my_take2(p, "masking", "policy"))
		return word_value(p);
	if (sl_my_take2(p, "not", "secondary"))
		return true;
	if (sl_my_take2(p, "with", "system"))
		return sl_my_expect(p, "versioning");
	*is = false;
	return true;
}

/* MariaDB's engines have options of columns: word = value. */
static bool
engine_option(SlMyParse *p, bool *is)
{
	*is = sl_my_is_name(p, 0) && sl_my_next_sign(p, 1, "=");
	if (!*is)
		return true;
	p->at += 2;
	if (is_constant(sl_my_kind(p)) || sl_my_is_name(p, 0))
	{
		p->at++;
		return true;
	}
	return sl_my_unexpected(p, "a value was expected");
}

/* NULL, keys, visibility: single words and pairs of them.  false: none of these. */
static bool
word_attribute(SlMyParse *p, SlDdlColumn *c)
{
	if (sl_my_take2(p, "not", "null"))
		c->not_null = true;
	else if (sl_my_take(p, "null"))
		c->null = true;
	else if (sl_my_take(p, "auto_increment"))
		c->auto_increment = true;
	else if (sl_my_is(p, "serial") && sl_my_next_is(p, 1, "default") && sl_my_next_is(p, 2, "value"))
	{
		p->at += 3;
		c->not_null = c->auto_increment = c->unique = true;
	}
	else if (sl_my_take(p, "unique"))
	{
		c->unique = true;
		if (!sl_my_take(p, "key"))
			(void) sl_my_take(p, "index");
	}
	else if (sl_my_take2(p, "primary", "key") || sl_my_take(p, "key"))
		c->primary = c->not_null = true;
	else if (sl_my_take(p, "invisible"))
		c->invisible = true;
	else if (sl_my_take(p, "visible"))
		c->invisible = false;
	else if (sl_my_is(p, "without") && sl_my_next_is(p, 1, "system") && sl_my_next_is(p, 2, "versioning"))
	{
		p->at += 3;
		c->without_versioning = true;
	}
	else
		return false;
	return true;
}

/* What may stand behind other attributes, too; *is: one of these. */
static bool
text_attribute(SlMyParse *p, SlDdlColumn *c, bool *is)
{
	if (!sl_my_collation(p, &c->type.collation, is))
		return false;
	if (!*is && !sl_my_charset(p, &c->type.charset, is))
		return false;
	return *is || sl_my_compressed(p, &c->type, is);
}

static bool
on_update(SlMyParse *p, SlDdlColumn *c)
{
	int			first = p->at;

	if (!primary(p))
		return sl_my_unexpected(p, "an expression was expected");
	c->on_update = text_since(p, first);
	return true;
}

/* One attribute; *is: there was one. */
static bool
attribute(SlMyParse *p, SlDdlColumn *c, bool *is)
{
	*is = true;
	if (word_attribute(p, c))
		return true;
	if (sl_my_take(p, "default"))
		return sl_my_default(p, &c->dflt);
	if (sl_my_take2(p, "on", "update"))
		return on_update(p, c);
	if (sl_my_take(p, "comment"))
		return (sl_my_take_sign(p, "="), sl_my_string(p, &c->comment));
	if (sl_my_take(p, "as"))
		return generation(p, c);
	if (sl_my_take(p, "generated"))
		return sl_my_expect(p, "always") && sl_my_expect(p, "as") && generation(p, c);
	if (sl_my_is(p, "constraint") || sl_my_is(p, "check") || sl_my_is(p, "references"))
		return constraint(p, c);
	if (sl_my_take(p, "srid"))
		return (c->type.has_srid = true, sl_my_number(p, &c->type.srid));
	if (!text_attribute(p, c, is))
		return false;
	if (*is)
		return true;
	if (!storage_attribute(p, is))
		return false;
	return *is || engine_option(p, is);
}

/* ---------- the definition ---------- */

static void
implied(SlDdlColumn *c, bool serial)
{
	if (serial)
		c->not_null = c->auto_increment = c->unique = true;
	if (c->generated == SL_DDL_ROW_START || c->generated == SL_DDL_ROW_END)
		c->not_null = true;
}

bool
sl_my_column_definition(SlMyParse *p, SlDdlColumn *c)
{
	int			first = p->at;
	bool		serial = sl_my_is(p, "serial");
	bool		is;

	if (!sl_my_type(p, &c->type))
		return false;
	do
	{
		if (!attribute(p, c, &is))
			return sl_my_unexpected(p, "an attribute of a column was not understood");
	} while (is);
	implied(c, serial);
	sl_my_type_normal(p, &c->type);
	c->definition = sl_my_tokens_text(&p->t, first, p->at);
	return true;
}

bool
sl_my_column(SlMyParse *p, SlDdlColumn *c)
{
	const char *one;
	const char *two;

	memset(c, 0, sizeof(*c));
	if (!sl_my_name(p, &c->name))
		return false;
	/* a column may be named with its table and database */
	if (sl_my_take_sign(p, "."))
	{
		if (!sl_my_name(p, &one))
			return false;
		c->name = one;
		if (sl_my_take_sign(p, "."))
		{
			if (!sl_my_name(p, &two))
				return false;
			c->name = two;
		}
	}
	return sl_my_column_definition(p, c);
}

bool
sl_my_place(SlMyParse *p, SlDdlColumn *c)
{
	if (sl_my_take(p, "first"))
		c->first = true;
	else if (sl_my_take(p, "after"))
		return sl_my_name(p, &c->after);
	return true;
}
