/*
 * document.c
 *	  JSON, MySQL's and MariaDB's, and text that becomes json or jsonb.
 *
 * Rule: jsonb_recv() takes a version byte and the text.  jsonb keeps one value
 * of a repeated key and cannot hold the character of number 0: both are
 * refused here.  MySQL's own JSON has no repeated keys.
 */
#include "bridge/types/codec_int.h"
#include "bridge/types/json.h"

#define JSONB_VERSION	1

/* ---------- readers: data, len in UTF-8 ---------- */

/* MySQL's binary form; a value without bytes is what it shows as null. */
static bool
read_document(MyCodec *c, const char *data, size_t len, MyValue *v, SlError *err)
{
	resetStringInfo(&c->scratch);
	if (len == 0)
		appendStringInfoString(&c->scratch, "null");
	else if (!my_json_text(data, len, &c->scratch, err))
		return false;
	v->data = c->scratch.data;
	v->len = c->scratch.len;
	return true;
}

/* MySQL's own text of it, which is UTF-8 under any SET NAMES. */
static bool
read_document_text(MyCodec *c, const char *data, size_t len, MyValue *v, SlError *err)
{
	if (!my_text_whole(data, len, err))
		return false;
	v->data = data;
	v->len = len;
	return true;
}

static bool
read_text(MyCodec *c, const char *data, size_t len, MyValue *v, SlError *err)
{
	v->data = data;
	v->len = len;
	return true;
}

/* ---------- writers ---------- */

/* What jsonb cannot hold of a text, in a sentence with the way out. */
static MyResult
judge_text(const char *data, size_t len, SlError *err)
{
	static const char *const losses[] = {
		[MY_JSON_DUPLICATE_KEY] = "has a key twice, of which jsonb would keep one",
		[MY_JSON_ZERO_CHARACTER] = "holds \\u0000, which jsonb cannot",
		[MY_JSON_LONE_SURROGATE] = "holds half of a surrogate pair, which jsonb cannot",
		[MY_JSON_NUMBER_RANGE] = "holds a number beyond the range of jsonb's"
	};
	MyJsonLoss	loss;
	SlError		why;

	if (my_json_check_text(data, len, &loss, &why))
		return MY_VALUE;
	if (why.code == SL_ERR_UNSUPPORTED)
		return MISFIT(err, "the document %s; override the column's type with json", losses[loss.kind]);
	if (why.code == SL_ERR_LIMIT)
		return MISFIT(err, "%s; override the column's type with text", why.detail);
	return MISFIT(err, "the text is no JSON; override the column's type with text");
}

MyResult
my_write_document(MyCodec *c, const MyValue *v, StringInfo out, SlError *err)
{
	const char *data = v->data;
	size_t		len = v->len;
	int			start = out->len;
	bool		ours = c->type->kind == MY_JSON && c->type->charset == NULL;

	if (!ours && !(c->cs != NULL ? my_text_utf8(c, &data, &len, err) : my_text_whole(data, len, err)))
		return MY_FAULT;
	if (c->to == PG_JSONB)
	{
		if (!ours && judge_text(data, len, err) != MY_VALUE)
			return MY_FAULT;
		if (ours && my_json_has_zero(data, len))
			return MISFIT(err, "the document holds \\u0000, which jsonb cannot; "
						  "override the column's type with json");
		my_put8(out, JSONB_VERSION);
	}
	my_put(out, data, len);
	return c->to == PG_JSON || c->to == PG_JSONB ? MY_VALUE : my_text_end(c, out, start, err);
}

bool
my_document_parts(MyCodec *c)
{
	bool		is_text = c->type->charset != NULL;

	c->read_protocol = is_text ? read_text : read_document_text;
	c->read_log = is_text ? read_text : read_document;
	c->write = my_write_document;
	c->growth = is_text ? 4 : 6;
	return true;
}
