/*
 * follow_catalog.c
 *	  The source's tables as its catalog has them, looked up when they come in the
 *	  log.
 *
 * NOTES
 *	  The catalog is of now, the log of before.  Where the log names columns and
 *	  their types (binlog_row_metadata=FULL) the two are compared.  Where it does
 *	  not, equal types are no proof, because columns may have been swapped or
 *	  renamed: then the log is read ahead to where it stood when the catalog was
 *	  read, and rows before the last statement that names the table are not
 *	  trusted.
 */
#include "bridge/follow_int.h"
#include "bridge/schema/schema.h"

#define READ_TIMEOUT	60		/* seconds without a byte of the source's */

/* A database's catalog, and between which ends of the log it was read. */
typedef struct Database
{
	char	   *name;
	BrCatalog  *cat;
	uint64		from;
	uint64		to;
	bool		stale;
} Database;

typedef struct Known
{
	char	   *database;
	char	   *name;
	BrFlowTable *t;
	uint32		wireid;
	bool		stale;			/* to be looked up again */
	bool		proven;			/* without names, see trusted_from */
} Known;

struct BrFollowed
{
	BrStream   *s;
	MxConn	   *c;
	const BrFlow *flow;
	int			ndatabases;
	Database   *databases;
	int			nknown;
	Known	   *known;
	BrAhead    *ahead;
};

BrFollowed *
br_followed_create(BrStream *s, MxConn *c)
{
	BrFollowed *d = palloc0(sizeof(BrFollowed));

	d->s = s;
	d->c = c;
	d->ahead = br_ahead_create(s);
	return d;
}

void
br_followed_free(BrFollowed *d)
{
	for (int i = 0; i < d->nknown; i++)
		if (d->known[i].t != NULL)
			br_flow_table_free(d->known[i].t);
	br_ahead_free(d->ahead);
	mx_close(d->c);
	pfree(d);
}

void
br_followed_by(BrFollowed *d, const BrFlow *f)
{
	d->flow = f;
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

static bool
read_database(BrFollowed *d, Database *b, BrStop *stop)
{
	MxConn	   *c = br_followed_source(d, stop);
	MxError		err;

	if (c == NULL || !br_log_end(c, d->flow->at.files, &b->from, stop))
		return false;
	b->cat = br_catalog_read(c, b->name, NULL, &err);
	if (b->cat == NULL)
		return br_stop_source(stop, &err);
	b->stale = false;
	return br_log_end(c, d->flow->at.files, &b->to, stop);
}

/* The catalog of a database; NULL: *stop. */
static Database *
database_of(BrFollowed *d, const char *name, BrStop *stop)
{
	Database   *b = NULL;

	for (int i = 0; i < d->ndatabases; i++)
		if (strcmp(d->databases[i].name, name) == 0)
			b = &d->databases[i];
	if (b == NULL)
	{
		d->databases = d->databases == NULL ? palloc(sizeof(Database)) :
			repalloc(d->databases, sizeof(Database) * (d->ndatabases + 1));
		b = &d->databases[d->ndatabases++];
		memset(b, 0, sizeof(*b));
		b->name = pstrdup(name);
	}
	if ((b->cat == NULL || b->stale) && !read_database(d, b, stop))
		return NULL;
	return b;
}

/* ---------- a table ---------- */

static Known *
known_of(BrFollowed *d, const char *database, const char *name)
{
	Known	   *k;

	for (int i = 0; i < d->nknown; i++)
		if (strcmp(d->known[i].name, name) == 0 && strcmp(d->known[i].database, database) == 0)
			return &d->known[i];
	d->known = d->known == NULL ? palloc(sizeof(Known)) :
		repalloc(d->known, sizeof(Known) * (d->nknown + 1));
	k = &d->known[d->nknown++];
	memset(k, 0, sizeof(*k));
	k->database = pstrdup(database);
	k->name = pstrdup(name);
	k->wireid = d->nknown;
	k->stale = true;
	return k;
}

static bool
stop_at_definition(BrStop *stop, const BrTable *def, const char *column, const SlError *err)
{
	br_stop(stop, "SCHEMA-NOT-CARRIED", "table \"%s.%s\" cannot be followed: %s", def->database, def->name, err->detail);
	br_stop_table(stop, def->database, def->name, column);
	br_stop_hint(stop, "Give the column a type by option type_overrides, or leave the table out with exclude_tables.");
	return false;
}

/* Build it anew from the catalog.  Its old form stays in memory: output may still be taken back that announced it. */
static bool
define(BrFollowed *d, Known *k, const BrCatalog *cat, const BrTable *def, BrStop *stop)
{
	MyTarget   *targets = palloc0(sizeof(MyTarget) * Max(def->ncols, 1));
	MyPolicy   *policies = palloc0(sizeof(MyPolicy) * Max(def->ncols, 1));
	SlShape    *shape;
	SlError		err = {SL_ERR_NONE};

	shape = br_table_shape(d->s, cat, def, &err);
	if (shape == NULL)
		return stop_at_definition(stop, def, NULL, &err);
	shape->wireid = k->wireid;
	for (int i = 0; i < def->ncols; i++)
		if (br_column_is_carried(d->s, cat, def, &def->cols[i]) &&
			!br_column_target(d->s, cat, def, &def->cols[i], &targets[i], &err))
			return stop_at_definition(stop, def, def->cols[i].name, &err);
	for (int i = 0; i < def->ncols; i++)
		(void) br_column_policy(d->s, def, &def->cols[i], &policies[i]);
	k->t = br_flow_table(def, shape, targets, policies, stop);
	pfree(targets);
	pfree(policies);
	k->stale = k->t == NULL;
	k->proven = false;
	if (k->t != NULL)
		k->t->inserts_only = !k->t->keyed && br_stream_inserts_only(d->s, def->database, def->name);
	return k->t != NULL;
}

static bool
stop_at_missing(BrStop *stop, const Known *k)
{
	br_stop(stop, "TABLE-IDENTITY-CHANGED", "the source's log holds changes of table \"%s.%s\", which is not there any more",
			k->database, k->name);
	br_stop_table(stop, k->database, k->name, NULL);
	br_stop_hint(stop, "It was dropped or renamed since. Leave it out with exclude_tables, or drop the stream and start it "
				 "anew.");
	return false;
}

static bool
look_up(BrFollowed *d, Known *k, BrStop *stop)
{
	Database   *b = database_of(d, k->database, stop);
	const BrTable *def = b != NULL ? br_catalog_table(b->cat, k->name) : NULL;

	if (b == NULL)
		return false;
	if (def == NULL && !b->stale)
	{
		/* it may be younger than the catalog */
		b->stale = true;
		b = database_of(d, k->database, stop);
		if (b == NULL)
			return false;
		def = br_catalog_table(b->cat, k->name);
	}
	if (def == NULL)
		return stop_at_missing(stop, k);
	return define(d, k, b->cat, def, stop);
}

/* ---------- proof ---------- */

/* From where on is the table's form that of the catalog, when the log does not say? */
static bool
prove(BrFollowed *d, Known *k, BrStop *stop)
{
	Database   *b = database_of(d, k->database, stop);
	uint64		here = br_flow_lsn(d->flow);

	if (b == NULL)
		return false;
	k->t->trusted_from = 0;
	k->proven = true;
	if (here >= b->to)
		return true;
	if (!br_ahead_read(d->ahead, &d->flow->at, here, b->to, stop))
		return false;
	if (br_ahead_names(d->ahead, k->name, Max(here, b->from), b->to) != 0)
		return br_stop(stop, NULL, "table \"%s.%s\" was changed while its definition was read", k->database, k->name);
	k->t->trusted_from = br_ahead_names(d->ahead, k->name, here, b->to);
	return true;
}

/* ---------- what the flow asks ---------- */

static bool
table(void *arg, const char *database, const char *name, bool named, BrFlowTable **t, BrStop *stop)
{
	BrFollowed *d = arg;
	Known	   *k;

	*t = NULL;
	if (!br_stream_has(d->s, database, name))
		return true;
	k = known_of(d, database, name);
	if (k->stale && !look_up(d, k, stop))
		return false;
	if (!named && !k->proven && !prove(d, k, stop))
		return false;
	*t = k->t;
	return true;
}

static void
changed(void *arg, const char *database, const char *sql, size_t len)
{
	BrFollowed *d = arg;

	for (int i = 0; i < d->nknown; i++)
	{
		Known	   *k = &d->known[i];

		if (k->stale || !br_words_have(sql, len, k->name))
			continue;
		k->stale = true;
		for (int j = 0; j < d->ndatabases; j++)
			if (strcmp(d->databases[j].name, k->database) == 0)
				d->databases[j].stale = true;
	}
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
	return (BrFlowOwner) {d, table, changed, touches};
}
