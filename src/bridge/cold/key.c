/*
 * key.c
 *	  The key by which a table is copied in pieces.
 *
 * NOTES
 *	  A row comparison "(a, b) > (1, 2)" is not read from an index by MySQL, so
 *	  it is written out.  Literals of text carry their character set and no
 *	  collation: the column's applies, which is the index's.
 */
#include "bridge/binlog/le.h"
#include "bridge/cold/key.h"
#include "bridge/json_out.h"

/* ---------- which key ---------- */

static bool
form_of(const MyType *type, BrKeyForm *form)
{
	switch (type->kind)
	{
		case MY_TINYINT:
		case MY_SMALLINT:
		case MY_MEDIUMINT:
		case MY_INT:
		case MY_BIGINT:
		case MY_BIT:
			*form = BR_KEY_INTEGER;
			return true;
		case MY_DECIMAL:
			*form = BR_KEY_DECIMAL;
			return true;
		case MY_DATE:
			*form = BR_KEY_DATE;
			return true;
		case MY_TIME:
			*form = BR_KEY_TIME;
			return true;
		case MY_DATETIME:
		case MY_TIMESTAMP:
			*form = BR_KEY_DATETIME;
			return true;
		case MY_CHAR:
		case MY_VARCHAR:
		case MY_TEXT:
			*form = BR_KEY_TEXT;
			return type->charset != NULL;
		case MY_BINARY:
		case MY_VARBINARY:
		case MY_BLOB:
			*form = BR_KEY_BYTES;
			return true;
		case MY_UUID:
		case MY_INET4:
		case MY_INET6:
			*form = BR_KEY_WORD;
			return true;
		default:
			return false;
	}
}

/*
 * A unique index of long text is one of hashes on MariaDB, which has no order
 * (a primary key never is one).
 */
static bool
may_be_hash(const BrIndex *x, const MyType *type)
{
	return !x->primary && (type->kind == MY_BLOB || type->kind == MY_VARBINARY || type->charset != NULL) &&
		type->length > 191;
}

static bool
index_serves(const BrTable *t, const BrIndex *x)
{
	BrKeyForm	form;

	if (!x->unique || !x->visible || x->kind != BR_INDEX_BTREE || x->nparts == 0 ||
		x->nparts > BR_KEY_MAX_PARTS)
		return false;
	for (int i = 0; i < x->nparts; i++)
	{
		const BrIndexPart *p = &x->parts[i];
		const BrColumn *c = p->column >= 0 ? &t->cols[p->column] : NULL;

		if (c == NULL || p->prefix != 0 || p->descending || c->nullable || c->type == NULL ||
			!form_of(c->type, &form) || may_be_hash(x, c->type))
			return false;
	}
	return true;
}

/* See key.h.  A table's first one is what its rows are stored by. */
BrKey *
br_key_find(const BrTable *t)
{
	BrKey	   *key;
	const BrIndex *x = NULL;

	for (int i = 0; i < t->nindexes && x == NULL; i++)
	{
		if (index_serves(t, &t->indexes[i]))
			x = &t->indexes[i];
		else if (t->indexes[i].primary)
			return NULL;
	}
	if (x == NULL)
		return NULL;
	key = palloc0(sizeof(BrKey));
	key->table = t;
	key->index = x->name;
	key->n = x->nparts;
	key->parts = palloc0(sizeof(BrKeyPart) * x->nparts);
	for (int i = 0; i < x->nparts; i++)
	{
		key->parts[i].col = &t->cols[x->parts[i].column];
		(void) form_of(key->parts[i].col->type, &key->parts[i].form);
	}
	return key;
}

/* ---------- values of rows to text ---------- */

static bool
wrong_value(const BrKeyPart *p, SlError *err)
{
	return sl_error_set(err, SL_ERR_MALFORMED, 0, "a key's value of type %s cannot be read",
						my_kind_name(p->col->type->kind));
}

/* An integer's bytes are little-endian, a BIT's big-endian. */
static bool
integer_text(const BrKeyPart *p, const MxCell *cell, StringInfo out, SlError *err)
{
	const MyType *type = p->col->type;
	uint64		u = 0;
	int			unused;

	if (cell->len == 0 || cell->len > 8)
		return wrong_value(p, err);
	if (type->kind == MY_BIT)
		for (size_t i = 0; i < cell->len; i++)
			u = u << 8 | (uint8) cell->data[i];
	else
		u = bl_load_le(cell->data, (int) cell->len);
	if (type->kind == MY_BIT || type->is_unsigned)
		appendStringInfo(out, UINT64_FORMAT, u);
	else
	{
		unused = 64 - 8 * (int) cell->len;
		appendStringInfo(out, INT64_FORMAT, (int64) (u << unused) >> unused);
	}
	return true;
}

/* Year, month, day, hour, minute, second, microseconds; what is left out at the end is 0. */
static bool
moment_text(const BrKeyPart *p, const MxCell *cell, StringInfo out, SlError *err)
{
	uint8		b[11] = {0};

	if (cell->len > sizeof(b))
		return wrong_value(p, err);
	if (cell->len > 0)
		memcpy(b, cell->data, cell->len);
	appendStringInfo(out, "%04d-%02u-%02u", b[0] | b[1] << 8, b[2], b[3]);
	if (p->form == BR_KEY_DATETIME)
		appendStringInfo(out, " %02u:%02u:%02u.%06u", b[4], b[5], b[6],
						 (uint32) bl_load_le((const char *) b + 7, 4));
	return true;
}

/* Sign, days, hours, minutes, seconds, microseconds. */
static bool
time_text(const BrKeyPart *p, const MxCell *cell, StringInfo out, SlError *err)
{
	uint8		b[12] = {0};

	if (cell->len > sizeof(b))
		return wrong_value(p, err);
	if (cell->len > 0)
		memcpy(b, cell->data, cell->len);
	appendStringInfo(out, "%s%02u:%02u:%02u.%06u", b[0] ? "-" : "",
					 (uint32) bl_load_le((const char *) b + 1, 4) * 24 + b[5], b[6], b[7],
					 (uint32) bl_load_le((const char *) b + 8, 4));
	return true;
}

static void
hex_text(const MxCell *cell, StringInfo out)
{
	for (size_t i = 0; i < cell->len; i++)
		appendStringInfo(out, "%02x", (uint8) cell->data[i]);
}

/* A sign at the beginning only, one point at most, and a digit: anything else is arithmetic. */
static bool
is_number(const char *text, size_t len)
{
	size_t		digits = 0;
	size_t		points = 0;

	for (size_t i = text[0] == '-' ? 1 : 0; i < len; i++)
	{
		if (text[i] == '-')
			return false;
		points += text[i] == '.';
		digits += text[i] != '.';
	}
	return digits > 0 && points <= 1;
}

/* Is text of len bytes what a value of that form looks like? */
static bool
form_holds(BrKeyForm form, const char *text, size_t len)
{
	static const char *const allowed[] = {
		[BR_KEY_INTEGER] = "-0123456789",
		[BR_KEY_DECIMAL] = "-.0123456789",
		[BR_KEY_DATE] = "-0123456789",
		[BR_KEY_TIME] = "-:.0123456789",
		[BR_KEY_DATETIME] = "-:. 0123456789",
		[BR_KEY_TEXT] = "0123456789abcdef",
		[BR_KEY_BYTES] = "0123456789abcdef",
		[BR_KEY_WORD] = "-:.0123456789abcdefABCDEF",
	};

	if (form == BR_KEY_TEXT || form == BR_KEY_BYTES)
	{
		if (len % 2 != 0)
			return false;
	}
	else if (len == 0 || len > 100)
		return false;
	for (size_t i = 0; i < len; i++)
		if (text[i] == '\0' || strchr(allowed[form], text[i]) == NULL)
			return false;
	if (form == BR_KEY_INTEGER || form == BR_KEY_DECIMAL)
		return is_number(text, len);
	/* "--" would begin a comment */
	return memmem(text, len, "--", 2) == NULL;
}

static bool
value_text(const BrKeyPart *p, const MxCell *cell, StringInfo out, SlError *err)
{
	if (cell->is_null)
		return wrong_value(p, err);
	switch (p->form)
	{
		case BR_KEY_INTEGER:
			return integer_text(p, cell, out, err);
		case BR_KEY_DATE:
		case BR_KEY_DATETIME:
			return moment_text(p, cell, out, err);
		case BR_KEY_TIME:
			return time_text(p, cell, out, err);
		case BR_KEY_TEXT:
		case BR_KEY_BYTES:
			hex_text(cell, out);
			return true;
		default:
			if (!form_holds(p->form, cell->data, cell->len))
				return wrong_value(p, err);
			appendBinaryStringInfo(out, cell->data, (int) cell->len);
			return true;
	}
}

/* See key.h. */
bool
br_key_text(const BrKey *key, const MxCell *const *cells, StringInfo out, SlError *err)
{
	appendStringInfoChar(out, '[');
	for (int i = 0; i < key->n; i++)
	{
		appendStringInfoString(out, i > 0 ? ",\"" : "\"");
		if (!value_text(&key->parts[i], cells[i], out, err))
			return false;
		appendStringInfoChar(out, '"');
	}
	appendStringInfoChar(out, ']');
	return true;
}

/* ---------- text back to values ---------- */

static bool
no_key(const BrKey *key, size_t offset, SlError *err)
{
	return sl_error_set(err, SL_ERR_MALFORMED, offset, "a key on record is not one of table \"%s\" as it is now",
						key->table->name);
}

/* See key.h.  No value has a character that JSON would escape. */
bool
br_key_parse(const BrKey *key, const char *text, BrKeyValues *v, SlError *err)
{
	const char *p = text;

	memset(v, 0, sizeof(*v));
	if (text == NULL)
		return true;
	if (*p != '[')
		return no_key(key, 0, err);
	do
	{
		const char *end;

		do
			p++;
		while (*p == ' ');
		end = *p == '"' ? strchr(p + 1, '"') : NULL;
		if (end == NULL || v->n == key->n ||
			!form_holds(key->parts[v->n].form, p + 1, end - p - 1))
			return no_key(key, p - text, err);
		v->values[v->n++] = pnstrdup(p + 1, end - p - 1);
		p = end + 1;
	} while (*p == ',');
	return (p[0] == ']' && p[1] == '\0') || no_key(key, p - text, err);
}

/* ---------- conditions ---------- */

static void
append_column(const BrKey *key, int i, StringInfo sql)
{
	mx_append_ident(sql, key->parts[i].col->name);
}

static void
append_value(const BrKey *key, int i, const BrKeyValues *v, StringInfo sql)
{
	const BrKeyPart *p = &key->parts[i];

	switch (p->form)
	{
		case BR_KEY_INTEGER:
		case BR_KEY_DECIMAL:
			appendStringInfoString(sql, v->values[i]);
			break;
		case BR_KEY_TEXT:
			appendStringInfo(sql, "_%s X'%s'", p->col->type->charset, v->values[i]);
			break;
		case BR_KEY_BYTES:
			appendStringInfo(sql, "X'%s'", v->values[i]);
			break;
		default:
			appendStringInfo(sql, "'%s'", v->values[i]);
	}
}

/* Rows that are equal in the parts before i and compare by op in part i. */
static void
append_step(const BrKey *key, int i, const char *op, const BrKeyValues *v, StringInfo sql)
{
	for (int j = 0; j <= i; j++)
	{
		append_column(key, j, sql);
		appendStringInfoString(sql, j < i ? " = " : op);
		append_value(key, j, v, sql);
		if (j < i)
			appendStringInfoString(sql, " AND ");
	}
}

static void
append_condition(const BrKey *key, const BrKeyValues *v, const char *strict, const char *last,
				 StringInfo sql)
{
	appendStringInfoChar(sql, '(');
	for (int i = 0; i < v->n; i++)
	{
		appendStringInfoString(sql, i > 0 ? " OR (" : "(");
		append_step(key, i, i == v->n - 1 ? last : strict, v, sql);
		appendStringInfoChar(sql, ')');
	}
	appendStringInfoChar(sql, ')');
}

/* See key.h. */
void
br_key_behind(const BrKey *key, const BrKeyValues *v, StringInfo sql)
{
	if (v->n == 0)
		return;
	/* for a planner that sees nothing in the OR */
	if (v->n > 1)
	{
		append_column(key, 0, sql);
		appendStringInfoString(sql, " >= ");
		append_value(key, 0, v, sql);
		appendStringInfoString(sql, " AND ");
	}
	append_condition(key, v, " > ", " > ", sql);
}

/* See key.h. */
void
br_key_up_to(const BrKey *key, const BrKeyValues *v, StringInfo sql)
{
	if (v->n == 0)
		return;
	if (v->n > 1)
	{
		append_column(key, 0, sql);
		appendStringInfoString(sql, " <= ");
		append_value(key, 0, v, sql);
		appendStringInfoString(sql, " AND ");
	}
	append_condition(key, v, " < ", " <= ", sql);
}

/* See key.h. */
void
br_key_columns(const BrKey *key, StringInfo sql)
{
	for (int i = 0; i < key->n; i++)
	{
		if (i > 0)
			appendStringInfoString(sql, ", ");
		append_column(key, i, sql);
	}
}

/* See key.h. */
void
br_key_hint(const BrKey *key, const char *hint, StringInfo sql)
{
	appendStringInfo(sql, " %s INDEX (", hint);
	mx_append_ident(sql, key->index);
	appendStringInfoChar(sql, ')');
}
