/*
 * follow_output.c
 *	  The records that a flow has made and that were not handed over yet.
 *
 * NOTES
 *	  Offsets (BrFlow.base) count all output ever, so that what they point at may be
 *	  handed over in the meantime.
 */
#include "bridge/follow_int.h"
#include "common/sl_wire.h"

bool
br_flow_put(BrFlow *f, const SlRecord *rec)
{
	SlError		err;

	if (sl_wire_put(f->out, rec, &err))
		return true;
	return br_stop(&f->stop, "PROTOCOL-VIOLATION", "what the source's log holds at %s has no form for the target: %s",
				   br_flow_place(f), err.detail);
}

int64
br_flow_end(const BrFlow *f)
{
	return f->base + f->out->len;
}

void
br_flow_cut(BrFlow *f, int64 at)
{
	int			n = 0;

	f->out->len = (int) (Max(at, f->base) - f->base);
	f->out->data[f->out->len] = '\0';
	for (int i = 0; i < f->nannounced; i++)
	{
		if (f->announced[i]->announced >= at)
			f->announced[i]->announced = -1;
		else
			f->announced[n++] = f->announced[i];
	}
	f->nannounced = n;
}

void
br_flow_forget_shapes(BrFlow *f)
{
	for (int i = 0; i < f->nannounced; i++)
		f->announced[i]->announced = -1;
	f->nannounced = 0;
}

static bool
announce(BrFlow *f, BrFlowTable *t)
{
	SlRecord	rec = {.kind = SL_REC_SHAPE};

	if (f->nannounced == f->room_announced)
	{
		f->room_announced = Max(f->room_announced * 2, 16);
		f->announced = f->announced == NULL ? palloc(sizeof(BrFlowTable *) * f->room_announced) :
			repalloc(f->announced, sizeof(BrFlowTable *) * f->room_announced);
	}
	f->announced[f->nannounced++] = t;
	t->announced = br_flow_end(f);
	rec.u.shape = *t->shape;
	rec.u.shape.lsn = f->group.lsn;
	return br_flow_put(f, &rec);
}

bool
br_flow_begin(BrFlow *f, BrFlowTable *t)
{
	if (f->group.kind == BR_GROUP_NONE)
		return br_stop(&f->stop, "PROTOCOL-VIOLATION", "the source's log holds a change outside of any transaction at %s",
					   br_flow_place(f));
	if (f->group.at < 0)
	{
		SlRecord	rec = {.kind = SL_REC_BEGIN};

		f->group.at = br_flow_end(f);
		rec.u.begin.final_lsn = f->group.lsn;
		rec.u.begin.commit_time = f->group.time != 0 ? f->group.time : f->time;
		if (!br_flow_put(f, &rec))
			return false;
	}
	return t == NULL || t->announced >= 0 || announce(f, t);
}

/* Offsets in all of the output stay what they are for what is left. */
void
br_flow_handed(BrFlow *f, int n, const char *head, int len)
{
	int			rest = f->out->len - n;

	if (len > n)
		enlargeStringInfo(f->out, len - n);
	memmove(f->out->data + len, f->out->data + n, rest);
	memcpy(f->out->data, head, len);
	f->out->len = len + rest;
	f->out->data[f->out->len] = '\0';
	f->base += n - len;
	f->settled = f->base + len;
	f->whole = len;
	f->commit = -1;
}

/* ---------- positions ---------- */

uint64
br_flow_lsn_of(const BrFlow *f, const char *file, uint64 pos)
{
	uint64		lsn;

	/* the file's last transaction may end far behind where any begins */
	return br_position_lsn(file, Min(pos, PG_UINT32_MAX), f->at.files, &lsn) ? lsn : 0;
}

uint64
br_flow_lsn(const BrFlow *f)
{
	return f->at.file[0] != '\0' ? br_flow_lsn_of(f, f->at.file, f->at.pos) : 0;
}

char *
br_flow_place(const BrFlow *f)
{
	return psprintf("%s:" UINT64_FORMAT, f->file, f->event_pos);
}

bool
br_flow_is_between(const BrFlow *f)
{
	return f->group.kind == BR_GROUP_NONE;
}

/*
 * The record grows by the position; what is behind it, of the group in hand, moves.  The position may be further than the
 * transaction's end, by groups that had nothing for the target: the number goes with the text, or the next process, which has
 * only the text, would not know where the stream is.
 */
bool
br_flow_seal(BrFlow *f)
{
	StringInfoData text;
	StringInfoData rest;
	SlRecord	rec = {.kind = SL_REC_COMMIT};
	bool		ok;

	if (f->commit < 0)
		return true;
	initStringInfo(&text);
	initStringInfo(&rest);
	f->committed.end_lsn = Max(f->committed.end_lsn, br_flow_lsn(f));
	f->lsn = Max(f->lsn, f->committed.end_lsn);
	br_position_text(&f->at, &text);
	appendBinaryStringInfo(&rest, f->out->data + f->whole, f->out->len - f->whole);
	f->out->len = f->commit;
	rec.u.commit = f->committed;
	rec.u.commit.position = text.data;
	ok = br_flow_put(f, &rec);
	f->base -= f->out->len - f->whole;
	f->whole = f->out->len;
	appendBinaryStringInfo(f->out, rest.data, rest.len);
	f->commit = -1;
	f->moved = false;
	pfree(text.data);
	pfree(rest.data);
	return ok;
}

bool
br_flow_heartbeat(BrFlow *f, bool again)
{
	StringInfoData text;
	SlRecord	rec = {.kind = SL_REC_HEARTBEAT};
	uint64		lsn = br_flow_lsn(f);
	bool		ok;

	if (lsn == 0 || (!again && (!f->moved || lsn <= f->lsn)))
		return true;
	initStringInfo(&text);
	br_position_text(&f->at, &text);
	rec.u.heartbeat.lsn = lsn;
	rec.u.heartbeat.time = f->time;
	rec.u.heartbeat.position = text.data;
	ok = br_flow_put(f, &rec);
	f->whole = f->out->len;
	f->commit = -1;
	f->moved = false;
	f->lsn = Max(f->lsn, lsn);
	pfree(text.data);
	return ok;
}
