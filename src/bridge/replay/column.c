/*
 * column.c
 *	  A column's definition in a statement, as the catalog shows it afterwards.
 *
 * Rule: MySQL manual "Silent Column Specification Changes", "Automatic
 * Initialization and Updating for TIMESTAMP and DATETIME", "ALTER TABLE"
 * (CONVERT TO CHARACTER SET); MariaDB "TIMESTAMP", "JSON Data Type".
 */
#include "bridge/replay/replay_int.h"
#include "common/sl_scan.h"

#define MAX_VARCHAR		65535	/* bytes; what is longer becomes a text */

/* ---------- types ---------- */

/* See replay_int.h. */
void
br_draft_type(BrDraft *d, BrColumn *c, const char *text, const char *charset, const char *collation,
			  int64 srid, bool is_json)
{
	SlError		err = {0};
	MyType	   *t = my_type_parse(text, charset, collation, c->auto_increment ? "auto_increment" : "", srid, is_json, &err);

	c->type_text = br_arena_text(d->arena, text);
	c->type = br_layout_type(d->arena, t);
	c->type_error = t == NULL ? br_arena_text(d->arena, err.detail) : NULL;
	my_type_free(t);
}

static bool
is_text(const SlDdlType *t)
{
	static const char *const texts[] = {"char", "varchar", "tinytext", "text", "mediumtext", "longtext", "enum", "set", NULL};

	return sl_one_of(t->name, texts);
}

/* The smallest text, or of CHARACTER SET binary BLOB, that holds so many bytes. */
static const char *
text_for(uint64 bytes, bool binary)
{
	static const char *const texts[] = {"tinytext", "text", "mediumtext", "longtext"};
	static const char *const blobs[] = {"tinyblob", "blob", "mediumblob", "longblob"};
	int			i = bytes < 256 ? 0 : bytes < 65536 ? 1 : bytes < 16777216 ? 2 : 3;

	return binary ? blobs[i] : texts[i];
}

/* Bytes that a text type holds. */
static uint64
text_room(const char *name)
{
	return strncmp(name, "tiny", 4) == 0 ? 0xff : strncmp(name, "medium", 6) == 0 ? 0xffffff :
		strncmp(name, "long", 4) == 0 ? 0xffffffff : 0xffff;
}

/* The type's text once its character set is known; NULL: it does not say enough. */
static const char *
text_type(BrDraft *d, const SlDdlType *t, const char *charset)
{
	bool		binary = strcmp(charset, "binary") == 0;
	uint64		width = br_charset_width(charset);
	bool		sized = t->has_length && (t->length > 0 || !d->mariadb);
	const char *compressed = t->compressed ? " /*M!100301 COMPRESSED*/" : "";
	uint32		length = t->has_length ? t->length : 1;

	if (strcmp(t->name, "char") == 0)
		return br_arena_printf(d->arena, "%s(%u)", binary ? "binary" : "char", length);
	if (strcmp(t->name, "varchar") == 0)
	{
		if (width == 0 && (uint64) length * 4 > MAX_VARCHAR)
			return NULL;
		if (length * width > MAX_VARCHAR)
			return br_arena_printf(d->arena, "%s%s", text_for(length * width, binary), compressed);
		return br_arena_printf(d->arena, "%s(%u)%s", binary ? "varbinary" : "varchar", length, compressed);
	}
	if (strcmp(t->name, "text") == 0 && sized)
		return width == 0 ? NULL : br_arena_printf(d->arena, "%s%s", text_for(t->length * width, binary), compressed);
	if (binary && t->nmembers == 0)
		return br_arena_printf(d->arena, "%s%s", text_for(text_room(t->name), true), compressed);
	return t->column_type;
}

/* Its character set is that which is said, or the table's. */
static void
define_text(BrDraft *d, BrColumn *c, const SlDdlType *t, bool is_json)
{
	const char *charset = t->charset;
	const char *collation = t->collation;
	const char *text;

	if (!br_charset_resolve(d, charset, collation, t->binary_order, &charset, &collation))
	{
		br_draft_unsure(d, "the character set and collation of column \"%s\" are not known", c->name);
		charset = "utf8mb4";
		collation = NULL;
	}
	text = text_type(d, t, charset);
	if (text == NULL)
	{
		br_draft_unsure(d, "the type of column \"%s\" is not known", c->name);
		text = t->name;
	}
	/* MySQL's catalog shows none for bytes, labels neither */
	if (strcmp(charset, "binary") == 0 && !d->mariadb)
		charset = collation = NULL;
	br_draft_type(d, c, text, charset, collation, -1, is_json && strcmp(text, "longtext") == 0);
}

/* MariaDB's JSON is a text with a check, unless a character set is said. */
static void
define_json(BrDraft *d, BrColumn *c, const SlDdlType *t, bool is_json)
{
	const char *charset = "utf8mb4";
	const char *collation = "utf8mb4_bin";

	if (t->charset != NULL || t->collation != NULL)
		(void) br_charset_resolve(d, t->charset, t->collation, t->binary_order, &charset, &collation);
	br_draft_type(d, c, "longtext", charset, collation, -1, is_json);
}

/* Does the definition make it JSON: by name, or by its check? */
static bool
is_json(BrDraft *d, const SlDdlColumn *def)
{
	if (!d->mariadb)
		return false;
	if (def->nchecks > 0)
		return br_expression_is_json_valid(d, def->checks[def->nchecks - 1].expression, def->name);
	return strcmp(def->type.name, "json") == 0;
}

static void
define_type(BrDraft *d, BrColumn *c, const SlDdlColumn *def)
{
	const SlDdlType *t = &def->type;

	/* MariaDB shows 0 for a geometry of any kind, and keeps what is not */
	int64		srid = t->has_srid && (!d->mariadb || t->srid != 0) ? (int64) t->srid : -1;

	if (d->mariadb && strcmp(t->name, "json") == 0)
		define_json(d, c, t, is_json(d, def));
	else if (strcmp(t->name, "varbinary") == 0 && t->length > MAX_VARCHAR)
		br_draft_type(d, c, text_for(t->length, true), NULL, NULL, -1, false);
	else if (is_text(t))
		define_text(d, c, t, is_json(d, def));
	else if (t->column_type != NULL)
		br_draft_type(d, c, t->column_type, NULL, NULL, srid, false);
	if (c->type_text == NULL)
		br_draft_type(d, c, t->name, NULL, NULL, srid, false);
	if (t->column_type == NULL && !is_text(t))
		br_draft_unsure(d, "the type of column \"%s\" is not known", c->name);
	if (t->raw_members)
		br_draft_unsure(d, "members of column \"%s\" are in another character set", c->name);
}

/* ---------- the definition ---------- */

static void
define_generation(BrDraft *d, BrColumn *c, const SlDdlColumn *def)
{
	if (def->generated == SL_DDL_VIRTUAL)
		c->generated = BR_VIRTUAL;
	else if (def->generated != SL_DDL_NOT_GENERATED)
		c->generated = BR_STORED;
	if (def->generation != NULL)
		c->generation = br_expression_written(d, def->generation);
}

/* See replay_int.h. */
void
br_draft_define(BrDraft *d, BrDraftColumn *dc, const SlDdlColumn *def)
{
	BrColumn   *c = &dc->c;
	const char *name = def->name;
	bool		timestamp = strcmp(def->type.name, "timestamp") == 0;

	memset(c, 0, sizeof(*c));
	c->name = name;
	c->auto_increment = def->auto_increment;
	c->invisible = def->invisible;
	c->comment = def->comment != NULL ? def->comment : "";
	define_type(d, c, def);
	define_generation(d, c, def);
	dc->legacy_timestamp = timestamp && !d->s->explicit_defaults_for_timestamp && !def->null && c->generated == BR_PLAIN;
	c->nullable = !def->not_null && !def->auto_increment && !dc->legacy_timestamp;
	if (c->generated != BR_PLAIN)
		return;
	br_draft_default(d, c, &def->dflt);
	if (def->on_update != NULL)
	{
		c->on_update = br_draft_now(d, def->on_update);
		if (c->on_update == NULL)
			c->on_update = br_expression_written(d, def->on_update);
	}
}

/* ---------- TIMESTAMP that says nothing of its default ---------- */

static const char *
moment_of(BrDraft *d, const BrColumn *c, const char *what)
{
	if (c->type->decimals == 0)
		return what;
	return br_arena_printf(d->arena, "%.*s(%u)", (int) strcspn(what, "("), what, c->type->decimals);
}

/* The first one of the table follows the row's changes. */
static void
promote_timestamp(BrDraft *d, BrColumn *c)
{
	const char *now = d->mariadb ? "current_timestamp()" : "CURRENT_TIMESTAMP";

	c->default_kind = BR_DEFAULT_EXPRESSION;
	c->default_text = c->on_update = moment_of(d, c, now);
}

/* See replay_int.h. */
void
br_draft_timestamps(BrDraft *d)
{
	bool		first = !d->s->explicit_defaults_for_timestamp;

	for (int i = 0; i < d->ncols; i++)
	{
		BrDraftColumn *dc = &d->cols[i];
		BrColumn   *c = &dc->c;
		bool		bare = c->default_kind == BR_DEFAULT_NONE;

		if (c->type == NULL || c->type->kind != MY_TIMESTAMP || c->nullable)
			continue;
		/* MariaDB looks at those of the statement alone */
		if (first && bare && c->on_update == NULL && c->generated == BR_PLAIN && (dc->legacy_timestamp || !d->mariadb))
			promote_timestamp(d, c);
		else if (dc->legacy_timestamp && bare)
		{
			c->default_kind = BR_DEFAULT_VALUE;
			c->default_text = c->type->decimals == 0 ? "0000-00-00 00:00:00" :
				br_arena_printf(d->arena, "0000-00-00 00:00:00.%0*d", c->type->decimals, 0);
		}
		first = false;
	}
}

/* ---------- CONVERT TO CHARACTER SET ---------- */

/* A text becomes one with room for as many characters; none gets smaller. */
static const char *
converted_text(BrDraft *d, const MyType *t, uint64 from, uint64 to, bool binary)
{
	uint64		bytes = from == 0 ? 0 : t->length / from * to;

	return text_for(Max(bytes, t->length), binary);
}

static bool
labels_are_ascii(const MyType *t)
{
	for (int i = 0; i < t->nlabels; i++)
		for (const char *p = t->labels[i]; *p != '\0'; p++)
			if ((*p & 0x80) != 0)
				return false;
	return true;
}

/* See replay_int.h.  Both servers read a label's bytes in the new character set, in which they are another text. */
void
br_draft_convert(BrDraft *d, BrDraftColumn *dc)
{
	BrColumn   *c = &dc->c;
	const MyType *t = c->type;
	const char *charset = d->convert_charset;
	bool		binary = strcmp(charset, "binary") == 0;
	uint64		to = br_charset_width(charset);
	const char *text = c->type_text;
	const char *compressed;
	const char *collation;

	if (t == NULL || t->charset == NULL || strcmp(t->charset, "binary") == 0 || (t->nlabels > 0 && t->collation == NULL))
		return;
	compressed = t->compressed ? " /*M!100301 COMPRESSED*/" : "";
	if (t->nlabels > 0 && !labels_are_ascii(t) && strcmp(t->charset, charset) != 0)
		br_draft_unsure(d, "the server changes members of column \"%s\" that are not of ASCII", c->name);
	else if (to == 0)
		br_draft_unsure(d, "character set \"%s\" is not known", charset);
	else if (t->kind == MY_CHAR && binary)
		text = br_arena_printf(d->arena, "binary(%u)", t->length);
	else if (t->kind == MY_VARCHAR && t->length * to > MAX_VARCHAR)
		text = br_arena_printf(d->arena, "%s%s", text_for(t->length * to, binary), compressed);
	else if (t->kind == MY_VARCHAR && binary)
		text = br_arena_printf(d->arena, "varbinary(%u)%s", t->length, compressed);
	else if (t->kind == MY_TEXT || t->kind == MY_JSON)
		text = br_arena_printf(d->arena, "%s%s", converted_text(d, t, br_charset_width(t->charset), to, binary), compressed);
	collation = dc->def != NULL && dc->def->type.binary_order && !binary ? br_arena_printf(d->arena, "%s_bin", charset) :
		d->convert_collation;
	binary = binary && !d->mariadb;
	br_draft_type(d, c, text, binary ? NULL : charset, binary ? NULL : collation, -1,
				  t->kind == MY_JSON && strcmp(text, "longtext") == 0);
}
