/*
 * follow_catalog.c
 *	  The tables that are followed, from what the target has on record of them;
 *	  and the source's catalog, where it has nothing.
 *
 * NOTES
 *	  The catalog is of now, the log of before.  A layout that is read there is
 *	  believed from behind the last statement that names the table and lies before
 *	  the end that the log had then.
 */
#include "bridge/follow_layout.h"
#include "bridge/warning.h"

#define READ_TIMEOUT	60		/* seconds without a byte of the source's */
#define MAX_CREATED		20		/* tables that are named */

BrFollowed *
br_followed_create(BrStream *s, MxConn *c)
{
	BrFollowed *d = palloc0(sizeof(BrFollowed));

	d->s = s;
	d->c = c;
	d->ahead = br_ahead_create(s);
	initStringInfo(&d->created);
	return d;
}

void
br_followed_free(BrFollowed *d)
{
	for (int i = 0; d->tables != NULL && i < d->tables->n; i++)
		if (d->tables->tracked[i].t != NULL)
			br_flow_table_free(d->tables->tracked[i].t);
	mx_close(d->c);
	br_ahead_free(d->ahead);
	pfree(d->created.data);
	pfree(d);
}

/* See follow_int.h. */
void
br_followed_flushes(BrFollowed *d, bool (*flush) (void *arg), void *arg)
{
	d->flush = flush;
	d->flush_arg = arg;
}

/* ---------- the source ---------- */

MxConn *
br_followed_source(BrFollowed *d, BrStop *stop)
{
	MxParams	p = d->s->source;
	MxError		err;

	if (d->c != NULL && mx_exec(d->c, "DO 0", &err))
		return d->c;
	mx_close(d->c);
	p.read_timeout = READ_TIMEOUT;
	d->c = br_stream_connect(d->s, &p, true, &err);
	if (d->c == NULL)
		br_stop_source(stop, &err);
	return d->c;
}

/* See follow_int.h. */
bool
br_log_end(MxConn *c, int64 files, uint64 *lsn, BrStop *stop)
{
	MxPosition	end;
	MxError		err;

	if (!mx_position_read(c, &end, &err))
		return br_stop_source(stop, &err);
	if (!br_position_lsn(end.file, Min(end.pos, PG_UINT32_MAX), files, lsn))
		return br_stop(stop, NULL, "the source has no binary log");
	return true;
}

/* See follow_layout.h. */
bool
br_followed_read(BrFollowed *d, const char *database, const char *name, const BrCatalog **cat, uint64 *from, uint64 *to,
				 BrStop *stop)
{
	MxConn	   *c = br_followed_source(d, stop);
	MxError		err;

	if (c == NULL || !br_log_end(c, d->flow->at.files, from, stop))
		return false;
	*cat = br_catalog_read(c, database, name, &err);
	if (*cat == NULL)
		return br_stop_source(stop, &err);
	return br_log_end(c, d->flow->at.files, to, stop);
}

/* See follow_layout.h. */
bool
br_followed_ahead(BrFollowed *d, uint64 here, uint64 to, const char *name, uint64 *last, BrStop *stop)
{
	*last = 0;
	if (here >= to)
		return true;
	if (!br_ahead_read(d->ahead, &d->flow->at, br_flow_lsn(d->flow), to, stop))
		return false;
	*last = br_ahead_names(d->ahead, name, here, to);
	return true;
}

/* ---------- what the target has on record ---------- */

static bool
stop_at_record(BrStop *stop, const BrStreamTable *t, const SlError *err)
{
	br_stop(stop, "PROTOCOL-VIOLATION", "the layout that the target has on record of table \"%s.%s\" cannot be read: %s",
			t->schema, t->table, err->detail);
	br_stop_table(stop, t->schema, t->table, NULL);
	br_stop_hint(stop, "Use the sluice-bridge of the extension's release; or drop the stream and start it anew.");
	return false;
}

/* A table that is followed; without a layout on record *missing grows. */
static bool
take_table(BrFollowed *d, const BrStreamTable *t, int *missing, BrStop *stop)
{
	BrLayout   *l;
	BrTracked  *tr;
	SlError		err = {SL_ERR_NONE};

	if (strcmp(t->state, "established") != 0)
		return true;
	if (t->layout == NULL)
	{
		(*missing)++;
		return true;
	}
	l = br_layout_parse(t->layout, strlen(t->layout), &err);
	if (l == NULL)
		return stop_at_record(stop, t, &err);
	tr = br_tables_add(d->tables, l, t->shape);
	tr->from = t->lsn;
	tr->window = Max(t->lsn, t->window_lsn);
	tr->whole = t->whole;
	tr->recorded = true;
	br_head_due(d, d->tables->n - 1);
	return true;
}

/* ---------- tables without a layout ---------- */

static bool
stop_at_missing(BrStop *stop, const BrStreamTable *t)
{
	br_stop(stop, "TABLE-IDENTITY-CHANGED", "table \"%s.%s\" is not on the source any more", t->schema, t->table);
	br_stop_table(stop, t->schema, t->table, NULL);
	br_stop_hint(stop, "It was dropped or renamed since. Leave it out with exclude_tables, or drop the stream and start it "
				 "anew.");
	return false;
}

/* From where on is what the catalog says the table's form? */
static bool
add_from_catalog(BrFollowed *d, const BrStreamTable *t, const BrCatalog *cat, uint64 from, uint64 to, BrStop *stop)
{
	const BrTable *def = br_catalog_table(cat, t->table);
	uint64		here = br_flow_lsn(d->flow);
	uint64		last;
	BrTracked  *tr;

	if (def == NULL)
		return stop_at_missing(stop, t);
	if (!br_followed_ahead(d, here, to, t->table, &last, stop))
		return false;
	if (last > from)
		return br_stop(stop, NULL, "table \"%s.%s\" was changed while its definition was read", t->schema, t->table);
	tr = br_tables_add(d->tables, br_layout_new(def, t->relid != 0 ? t->relid : d->tables->relid + 1, NULL, NULL), t->shape);
	tr->from = t->lsn;
	tr->window = Max(Max(t->lsn, t->window_lsn), last);
	tr->unproven = last > 0;
	tr->first = true;
	d->unput++;
	br_head_due(d, d->tables->n - 1);
	return true;
}

/* Of one database at a time: its catalog is read once. */
static bool
take_missing(BrFollowed *d, BrStop *stop)
{
	char	  **databases = br_stream_databases(d->s);

	for (int i = 0; databases[i] != NULL; i++)
	{
		const BrCatalog *cat = NULL;
		uint64		from = 0;
		uint64		to = 0;

		for (int k = 0; k < d->s->ntables; k++)
		{
			const BrStreamTable *t = &d->s->tables[k];

			if (t->layout != NULL || strcmp(t->state, "established") != 0 || strcmp(t->schema, databases[i]) != 0)
				continue;
			if (cat == NULL && !br_followed_read(d, databases[i], NULL, &cat, &from, &to, stop))
				return false;
			if (!add_from_catalog(d, t, cat, from, to, stop))
				return false;
		}
	}
	return true;
}

/* ---------- begin ---------- */

static bool
take_tables(BrFollowed *d, BrStop *stop)
{
	MxConn	   *c = br_followed_source(d, stop);
	MxError		err;
	int			missing = 0;

	if (c == NULL)
		return false;
	d->facts = br_facts_read(c, &err);
	if (d->facts == NULL)
		return br_stop_source(stop, &err);
	d->tables = br_tables_create(d->s, d->facts);
	for (int i = 0; i < d->s->ntables; i++)
	{
		d->tables->relid = Max(d->tables->relid, d->s->tables[i].relid);
		if (!take_table(d, &d->s->tables[i], &missing, stop))
			return false;
	}
	return missing == 0 || take_missing(d, stop);
}

/* See follow_int.h. */
bool
br_followed_begin(BrFollowed *d, BrFlow *f, BrStop *stop)
{
	d->flow = f;
	d->reading = false;
	for (int i = 0; d->tables != NULL && i < d->tables->n; i++)
		if (d->tables->tracked[i].first)
		{
			/* whether it came there with the flow before is not known */
			d->tables->tracked[i].recorded = false;
			d->unput++;
		}
	if (d->tables != NULL)
		br_tables_begin(d->tables);
	return d->tables != NULL || take_tables(d, stop);
}

/* ---------- what the flow asks ---------- */

/* One that is not followed any more. */
static bool
is_on_record(const BrStream *s, const char *database, const char *name)
{
	for (int i = 0; i < s->ntables; i++)
		if (strcmp(s->tables[i].table, name) == 0 && strcmp(s->tables[i].schema, database) == 0)
			return true;
	return false;
}

static bool
table(void *arg, const char *database, const char *name, BrFlowTable **t, BrStop *stop)
{
	BrFollowed *d = arg;
	int			i = br_tables_find(d->tables, database, name);

	*t = NULL;
	if (i < 0)
	{
		if (br_stream_has(d->s, database, name) && !is_on_record(d->s, database, name))
			br_followed_created(d, database, name);
		return true;
	}
	*t = br_tables_flow(d->tables, i, stop);
	return *t != NULL;
}

/* See follow_layout.h. */
void
br_followed_created(BrFollowed *d, const char *database, const char *name)
{
	char	   *entry = psprintf("\"%s.%s\"", database, name);
	char	   *message;

	if (strstr(d->created.data, entry) == NULL && d->ncreated < MAX_CREATED)
	{
		appendStringInfo(&d->created, "%s%s", d->ncreated++ > 0 ? ", " : "", entry);
		message = psprintf("tables were made on the source since the stream was started, and are not followed: %s%s",
						   d->created.data, d->ncreated == MAX_CREATED ? ", ..." : "");
		br_warn(d->s, BR_WARNING_CREATED, false, message,
				"Nothing of them is on the target. To have them, start a stream of their own with include_tables, or drop the stream and start it anew.");
		pfree(message);
	}
	pfree(entry);
}

/* Its default database is the stream's, or it names one that is. */
static bool
touches(void *arg, const char *database, const char *sql, size_t len)
{
	BrFollowed *d = arg;
	BrWords		w;

	if (database == NULL || (*database != '\0' && br_stream_schema(d->s, database) != NULL))
		return true;
	br_words_init(&w, sql, len);
	while (br_words_next(&w))
		if (w.word[0] != '\0' && br_stream_schema(d->s, w.word) != NULL)
			return true;
	return false;
}

BrFlowOwner
br_followed_owner(BrFollowed *d)
{
	return (BrFlowOwner) {d, table, br_replay_statement, touches};
}
