/*
 * label.c
 *	  ENUM and SET: numbers in the log, labels in the protocol.
 *
 * Rule: ENUM's index counts from 1, 0 is the value that was not valid and shows
 * as ''; SET's bit i is its label i.  The labels of the protocol are looked up
 * among the column's, so that both protocols end in the same number.
 */
#include "bridge/types/codec_int.h"

/* UTF-8 labels by a hash of theirs; open addressing, half full at most. */
struct MyLabels
{
	uint32		mask;
	uint32	   *lens;			/* of label i */
	int			empty;			/* the index of ''; 0 = there is none */
	uint32		slots[FLEXIBLE_ARRAY_MEMBER];	/* index from 1; 0 = free */
};

static uint32
hash_bytes(const char *p, size_t len)
{
	uint32		h = 2166136261U;

	for (size_t i = 0; i < len; i++)
		h = (h ^ (uint8) p[i]) * 16777619U;
	return h ^ h >> 15;
}

/* The index of a label; 0 = none. */
static uint32
find_label(const MyCodec *c, const char *label, size_t len)
{
	const MyLabels *l = c->labels;
	uint32		at = hash_bytes(label, len) & l->mask;

	for (; l->slots[at] != 0; at = (at + 1) & l->mask)
	{
		uint32		i = l->slots[at] - 1;

		if (l->lens[i] == len && memcmp(c->type->labels[i], label, len) == 0)
			return i + 1;
	}
	return 0;
}

static void
build_labels(MyCodec *c)
{
	int			n = c->type->nlabels;
	uint32		size = 4;
	MyLabels   *l;

	while (size < 2 * (uint32) n + 1)
		size *= 2;
	l = palloc0(offsetof(MyLabels, slots) + sizeof(uint32) * size);
	l->mask = size - 1;
	l->lens = palloc(sizeof(uint32) * (n + 1));
	c->labels = l;
	for (int i = 0; i < n; i++)
	{
		const char *label = c->type->labels[i];
		uint32		at;

		l->lens[i] = (uint32) strlen(label);
		at = hash_bytes(label, l->lens[i]) & l->mask;
		while (l->slots[at] != 0)
			at = (at + 1) & l->mask;
		l->slots[at] = i + 1;
		if (l->lens[i] == 0)
			l->empty = i + 1;
	}
}

void
my_labels_free(MyLabels *labels)
{
	if (labels == NULL)
		return;
	pfree(labels->lens);
	pfree(labels);
}

/* ---------- readers: u ---------- */

static bool
unknown_label(const MyCodec *c, SlError *err)
{
	return BROKEN(err, "a value of %s is none of the column's labels", my_kind_name(c->type->kind));
}

static bool
read_number(MyCodec *c, const char *data, size_t len, MyValue *v, SlError *err)
{
	if (len != c->log_width)
		return my_wrong_length(c, len, err);
	v->u = bl_load_le(data, c->log_width);
	return true;
}

static bool
read_index(MyCodec *c, const char *data, size_t len, MyValue *v, SlError *err)
{
	if (!read_number(c, data, len, v, err))
		return false;
	if (v->u > c->type->nlabels)
		return unknown_label(c, err);
	if (v->u == 0)
		v->u = c->labels->empty;
	return true;
}

static bool
read_mask(MyCodec *c, const char *data, size_t len, MyValue *v, SlError *err)
{
	if (!read_number(c, data, len, v, err))
		return false;
	if (c->type->nlabels < 64 && v->u >> c->type->nlabels != 0)
		return unknown_label(c, err);
	return true;
}

static bool
read_label(MyCodec *c, const char *data, size_t len, MyValue *v, SlError *err)
{
	if (!my_text_utf8(c, &data, &len, err))
		return false;
	v->u = find_label(c, data, len);
	return v->u != 0 || len == 0 || unknown_label(c, err);
}

static bool
read_labels(MyCodec *c, const char *data, size_t len, MyValue *v, SlError *err)
{
	const char *end;

	if (!my_text_utf8(c, &data, &len, err))
		return false;
	end = data + len;
	v->u = 0;
	while (data < end || (len > 0 && data == end))
	{
		const char *comma = data < end ? memchr(data, ',', end - data) : NULL;
		const char *stop = comma != NULL ? comma : end;
		uint32		i = find_label(c, data, stop - data);

		if (i == 0)
			return unknown_label(c, err);
		v->u |= UINT64CONST(1) << (i - 1);
		data = stop + 1;
	}
	return true;
}

/* ---------- writers ---------- */

static MyResult
write_label(MyCodec *c, const MyValue *v, StringInfo out, SlError *err)
{
	int			start = out->len;

	if (v->u > 0)
		my_put(out, c->type->labels[v->u - 1], c->labels->lens[v->u - 1]);
	else if (c->to == PG_NAMED)
		return MISFIT(err, "the ENUM holds the value that marks an invalid one (''), which is no label; "
					  "correct it at the source, or override the column's type with text");
	return my_text_end(c, out, start, err);
}

/* As SELECT prints it. */
static MyResult
write_set_text(MyCodec *c, const MyValue *v, StringInfo out, SlError *err)
{
	int			start = out->len;
	bool		first = true;

	for (int i = 0; i < c->type->nlabels; i++)
	{
		if (!(v->u >> i & 1))
			continue;
		if (!first)
			my_put8(out, ',');
		first = false;
		my_put(out, c->type->labels[i], c->labels->lens[i]);
	}
	return my_text_end(c, out, start, err);
}

#define TEXT_OID	25

/* array_recv(): dimensions, nulls, element's oid, then each dimension and element. */
static MyResult
write_set_array(MyCodec *c, const MyValue *v, StringInfo out, SlError *err)
{
	uint32		n = 0;

	for (int i = 0; i < c->type->nlabels; i++)
		n += v->u >> i & 1;
	my_put32(out, n > 0 ? 1 : 0);
	my_put32(out, 0);
	my_put32(out, TEXT_OID);
	if (n == 0)
		return MY_VALUE;
	my_put32(out, n);
	my_put32(out, 1);
	for (int i = 0; i < c->type->nlabels; i++)
	{
		if (!(v->u >> i & 1))
			continue;
		my_put32(out, c->labels->lens[i]);
		my_put(out, c->type->labels[i], c->labels->lens[i]);
	}
	return MY_VALUE;
}

bool
my_label_parts(MyCodec *c)
{
	bool		is_set = c->type->kind == MY_SET;
	int			n = c->type->nlabels;
	int			bytes = (n + 7) / 8;

	build_labels(c);
	c->read_protocol = is_set ? read_labels : read_label;
	c->read_log = is_set ? read_mask : read_index;
	c->log_width = !is_set ? (n < 256 ? 1 : 2) : bytes > 4 ? 8 : bytes;
	c->growth = 4;
	if (!is_set)
		c->write = write_label;
	else
		c->write = c->to == PG_TEXT_ARRAY ? write_set_array : write_set_text;
	return true;
}
