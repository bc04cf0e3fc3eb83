/*
 * follow_xa.c
 *	  XA transactions: a group that is prepared changes nothing, and is read again
 *	  when the group that commits it comes.
 *
 * Rule: MySQL manual "XA Transactions", MariaDB Knowledge Base "XA Transactions":
 * both log the rows of such a transaction in a group that ends with XA_PREPARE,
 * and XA COMMIT or XA ROLLBACK, which name it, in a group of their own.  Its locks
 * are held in between, also over a restart of the server, so that no other change
 * of these rows, and no statement that changes their table, lies between the two.
 *
 * NOTES
 *	  Only where a prepared group begins is kept, and that it changes a table of the
 *	  stream.  What is not known, as after a restart, prepared.c finds in the log.
 */
#include "bridge/follow_int.h"

#define MAX_EVENT		((size_t) 1024 * 1024 * 1024)

/* ---------- their names ---------- */

static void
append_part(StringInfo out, const char *data, uint32 len)
{
	appendStringInfoString(out, "X'");
	for (uint32 i = 0; i < len; i++)
		appendStringInfo(out, "%02x", (unsigned char) data[i]);
	appendStringInfoString(out, "',");
}

char *
br_xa_name(const BlItem *item)
{
	StringInfoData out;

	initStringInfo(&out);
	append_part(&out, item->u.xa.gtrid, item->u.xa.gtrid_len);
	append_part(&out, item->u.xa.bqual, item->u.xa.bqual_len);
	appendStringInfo(&out, "%u", item->u.xa.format_id);
	return out.data;
}

static void
skip_blank(const char **p, const char *end)
{
	while (*p < end && isspace((unsigned char) **p))
		(*p)++;
}

/* X'hex', in lower case, and a comma. */
static bool
take_part(const char **p, const char *end, StringInfo out)
{
	skip_blank(p, end);
	if (end - *p < 3 || ((*p)[0] != 'X' && (*p)[0] != 'x') || (*p)[1] != '\'')
		return false;
	*p += 2;
	appendStringInfoString(out, "X'");
	for (; *p < end && isxdigit((unsigned char) **p); (*p)++)
		appendStringInfoChar(out, (char) tolower((unsigned char) **p));
	if (*p >= end || **p != '\'')
		return false;
	(*p)++;
	appendStringInfoString(out, "',");
	skip_blank(p, end);
	if (*p >= end || **p != ',')
		return false;
	(*p)++;
	return true;
}

char *
br_xa_name_of_statement(const char *sql, size_t len)
{
	const char *end = sql + len;
	StringInfoData out;
	BrWords		w;
	bool		ok;

	br_words_init(&w, sql, len);
	ok = br_words_next(&w);		/* XA */
	ok = ok && br_words_next(&w);	/* COMMIT */
	initStringInfo(&out);
	ok = ok && take_part(&w.p, end, &out) && take_part(&w.p, end, &out);
	skip_blank(&w.p, end);
	if (ok && w.p < end && isdigit((unsigned char) *w.p))
	{
		for (; w.p < end && isdigit((unsigned char) *w.p); w.p++)
			appendStringInfoChar(&out, *w.p);
		return out.data;
	}
	pfree(out.data);
	return NULL;
}

/* ---------- those that are prepared ---------- */

BrPrepared *
br_flow_prepared(const BrFlow *f, const char *name)
{
	for (int i = 0; i < f->nprepared; i++)
		if (strcmp(f->prepared[i].name, name) == 0)
			return &f->prepared[i];
	return NULL;
}

void
br_flow_forget_prepared(BrFlow *f, const char *name)
{
	BrPrepared *p = br_flow_prepared(f, name);

	if (p == NULL)
		return;
	pfree(p->name);
	pfree(p->file);
	*p = f->prepared[--f->nprepared];
}

void
br_flow_add_prepared(BrFlow *f, const char *name, const char *file, uint64 pos, bool ours)
{
	BrPrepared *p;

	br_flow_forget_prepared(f, name);
	if (f->nprepared == f->room_prepared)
	{
		f->room_prepared = Max(f->room_prepared * 2, 16);
		f->prepared = f->prepared == NULL ? palloc(sizeof(BrPrepared) * f->room_prepared) :
			repalloc(f->prepared, sizeof(BrPrepared) * f->room_prepared);
	}
	p = &f->prepared[f->nprepared++];
	*p = (BrPrepared) {pstrdup(name), pstrdup(file), pos, ours};
}

/* ---------- the group that prepares ---------- */

bool
br_flow_prepare(BrFlow *f, const BlItem *item)
{
	char	   *name = br_xa_name(item);

	br_flow_add_prepared(f, name, f->file, f->group.lsn & PG_UINT32_MAX, f->group.touched);
	pfree(name);
	return br_flow_take_back(f);
}

/* ---------- the group that ends it ---------- */

bool
br_flow_end_prepared(BrFlow *f, const BlQuery *q, bool commit)
{
	char	   *name = br_xa_name_of_statement(q->sql, q->sql_len);
	const BrPrepared *p;

	if (name == NULL)
		return br_stop(&f->stop, "PROTOCOL-VIOLATION", "the source's log ends an XA transaction at %s that has no name",
					   br_flow_place(f));
	p = br_flow_prepared(f, name);
	if (commit && (p == NULL || p->ours))
	{
		f->due = name;
		return true;
	}
	br_flow_forget_prepared(f, name);
	pfree(name);
	return br_flow_commit(f);
}

bool
br_flow_settle_due(BrFlow *f)
{
	br_flow_forget_prepared(f, f->due);
	pfree(f->due);
	f->due = NULL;
	return br_flow_commit(f);
}

/* ---------- reading a prepared group again ---------- */

void
br_flow_replay(BrFlow *f, const BrPrepared *p)
{
	BrReplay   *r = palloc0(sizeof(BrReplay));

	r->decoder = f->decoder;
	r->pos = f->pos;
	r->event_pos = f->event_pos;
	r->item = f->item;
	r->time = f->time;
	strlcpy(r->file, f->file, sizeof(r->file));
	f->replay = r;
	f->decoder = bl_decoder_create(f->verify, MAX_EVENT);
	strlcpy(f->file, p->file, sizeof(f->file));
	f->pos = p->pos;
	memset(f->maps, 0, sizeof(f->maps));
}

void
br_flow_end_replay(BrFlow *f)
{
	BrReplay   *r = f->replay;

	bl_decoder_free(f->decoder);
	f->decoder = r->decoder;
	f->pos = r->pos;
	f->event_pos = r->event_pos;
	f->item = r->item;
	f->time = r->time;
	strlcpy(f->file, r->file, sizeof(f->file));
	memset(f->maps, 0, sizeof(f->maps));
	pfree(r);
	f->replay = NULL;
}

/* What is there is not the group that was prepared. */
static bool
stop_at_replay(BrFlow *f)
{
	return br_stop(&f->stop, "PROTOCOL-VIOLATION", "the source's log does not hold the prepared XA transaction %s at %s any more",
				   f->due, br_flow_place(f));
}

bool
br_flow_replay_begins(BrFlow *f)
{
	if (f->replay->begun)
		return stop_at_replay(f);
	f->replay->begun = true;
	return true;
}

bool
br_flow_replay_ends(BrFlow *f, const BlItem *item)
{
	char	   *name = item->kind == BL_ITEM_XA_PREPARE ? br_xa_name(item) : NULL;

	if (name == NULL || strcmp(name, f->due) != 0)
		return stop_at_replay(f);
	pfree(name);
	f->replay->ended = true;
	return true;
}
