/*
 * sl_shape.c
 *	  Shapes: copy, look-up, equality on the wire, fingerprint.
 */
#include "common/sl_shape.h"

#include "common/sl_sha256.h"

/* NULL counts as equal to NULL only. */
static bool
same_text(const char *a, const char *b)
{
	if (a == NULL || b == NULL)
		return a == b;
	return strcmp(a, b) == 0;
}

static size_t
text_bytes(const char *s)
{
	return s == NULL ? 0 : strlen(s) + 1;
}

/* Copies s to *to and moves it; NULL stays NULL. */
static const char *
put_text(char **to, const char *s)
{
	char	   *at = *to;
	size_t		n = text_bytes(s);

	if (n == 0)
		return NULL;
	memcpy(at, s, n);
	*to += n;
	return at;
}

/* Deep copy in one chunk: head, columns, texts. */
SlShape *
sl_shape_copy(const SlShape *shape)
{
	size_t		head = MAXALIGN(sizeof(SlShape));
	size_t		cols = shape->ncols * sizeof(SlColumn);
	size_t		text = text_bytes(shape->schema) + text_bytes(shape->name);
	SlShape    *copy;
	char	   *to;

	for (int i = 0; i < shape->ncols; i++)
	{
		const SlColumn *c = &shape->cols[i];

		text += text_bytes(c->name) + text_bytes(c->type_name) +
			text_bytes(c->collation) + text_bytes(c->dflt) +
			text_bytes(c->source_type);
	}

	copy = palloc(head + cols + text);
	*copy = *shape;
	copy->cols = (SlColumn *) ((char *) copy + head);
	to = (char *) copy->cols + cols;
	copy->schema = put_text(&to, shape->schema);
	copy->name = put_text(&to, shape->name);
	for (int i = 0; i < shape->ncols; i++)
	{
		SlColumn   *c = &copy->cols[i];

		*c = shape->cols[i];
		c->name = put_text(&to, c->name);
		c->type_name = put_text(&to, c->type_name);
		c->collation = put_text(&to, c->collation);
		c->dflt = put_text(&to, c->dflt);
		c->source_type = put_text(&to, c->source_type);
	}
	return copy;
}

/* NULL is allowed. */
void
sl_shape_free(SlShape *shape)
{
	if (shape != NULL)
		pfree(shape);
}

/* Index of the column with this name, -1 when there is none. */
int
sl_shape_find(const SlShape *shape, const char *name)
{
	for (int i = 0; i < shape->ncols; i++)
	{
		if (strcmp(shape->cols[i].name, name) == 0)
			return i;
	}
	return -1;
}

/* Equal in all that a pgoutput Relation message carries. */
bool
sl_shape_same_on_wire(const SlShape *a, const SlShape *b)
{
	if (a->ncols != b->ncols ||
		a->replident != b->replident ||
		!same_text(a->schema, b->schema) ||
		!same_text(a->name, b->name))
		return false;
	for (int i = 0; i < a->ncols; i++)
	{
		const SlColumn *ca = &a->cols[i];
		const SlColumn *cb = &b->cols[i];

		if (ca->typid != cb->typid ||
			ca->typmod != cb->typmod ||
			((ca->flags ^ cb->flags) & SL_COL_KEY) != 0 ||
			!same_text(ca->name, cb->name))
			return false;
	}
	return true;
}

/* Length first, so that no two shapes have one canonical text. */
static void
add_text(StringInfo buf, const char *s)
{
	if (s == NULL)
		appendStringInfoString(buf, "-;");
	else
		appendStringInfo(buf, "%d:%s;", (int) strlen(s), s);
}

/* Fingerprint of a shape into out (13 bytes). */
void
sl_shape_fingerprint(const SlShape *shape, char *out)
{
	StringInfoData buf;

	initStringInfo(&buf);
	add_text(&buf, shape->schema);
	add_text(&buf, shape->name);
	appendStringInfo(&buf, "%d;%d;%d;", shape->relkind, shape->replident,
					 shape->ncols);
	for (int i = 0; i < shape->ncols; i++)
	{
		const SlColumn *c = &shape->cols[i];

		add_text(&buf, c->name);
		add_text(&buf, c->type_name);
		add_text(&buf, c->collation);
		appendStringInfo(&buf, "%u;%d;%d;", c->typid, c->typmod, c->flags);
		/* of none the text is what it was before there were any */
		if (c->source_type != NULL)
			add_text(&buf, c->source_type);
	}
	sl_fingerprint(buf.data, buf.len, out);
	pfree(buf.data);
}

/* Fingerprint of any bytes into out (13 bytes). */
void
sl_fingerprint(const char *data, size_t len, char *out)
{
	static const char digits[] = "0123456789abcdef";
	uint8		digest[SL_SHA256_BYTES];

	sl_sha256(data, len, digest);
	for (int i = 0; i < 6; i++)
	{
		*out++ = digits[digest[i] >> 4];
		*out++ = digits[digest[i] & 15];
	}
	*out = '\0';
}
