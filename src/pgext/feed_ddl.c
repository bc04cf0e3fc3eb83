/*
 * feed_ddl.c
 *	  DDL statements of a MySQL or MariaDB source, from a feeder that sends them as
 *	  they are.
 *
 * NOTES
 *	  Under which sql_mode a statement was run is not told, so "…" may be a name or a
 *	  string: it is read both ways, and what either takes for a table of the stream is one.
 *	  What cannot be read to its end touches every table that a word of it names.  What a
 *	  table became is judged from the shape that comes behind it.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "utils/builtins.h"

#include "common/sl_mysql_ddl.h"
#include "common/sl_shape.h"
#include "pgext/errutil.h"
#include "pgext/feed_fault.h"
#include "pgext/pgcompat.h"

/* A statement in hand. */
typedef struct Reading
{
	const SlMessage *m;
	const SlStreamTable *tables;	/* of the stream */
	int			ntables;
	SlMySession my;
} Reading;

/* See feed_fault.h. */
void
sl_source_server_read(const SlHeader *h, SlSourceServer * server)
{
	const char *p = h->server_version ? h->server_version : "";
	unsigned long part[3] = {0};

	for (int i = 0; i < lengthof(part) && *p >= '0' && *p <= '9'; i++)
	{
		char	   *end;

		part[i] = Min(strtoul(p, &end, 10), 99);
		p = *end == '.' ? end + 1 : end;
	}
	server->mariadb = h->server && strcmp(h->server, "mariadb") == 0;
	/* one that is not told is the newest */
	server->version = part[0] > 0 ? (uint32) (part[0] * 10000 + part[1] * 100 + part[2]) : 999999;
}

/* The table of the stream of that name; any database where none is told. */
static const SlStreamTable *
table_of(const Reading *r, const char *database, const char *name)
{
	for (int i = 0; name && i < r->ntables; i++)
		if (pg_strcasecmp(r->tables[i].table, name) == 0 &&
			(database == NULL || database[0] == '\0' || pg_strcasecmp(r->tables[i].schema, database) == 0))
			return &r->tables[i];
	return NULL;
}

static const SlStreamTable *
named(const Reading *r, const SlDdlTableName *name)
{
	return table_of(r, name->database, name->name);
}

static const SlStreamTable *
in_database(const Reading *r, const char *database)
{
	for (int i = 0; i < r->ntables; i++)
		if (pg_strcasecmp(r->tables[i].schema, database) == 0)
			return &r->tables[i];
	return NULL;
}

/* What could not be cut may hold a name anywhere. */
static const SlStreamTable *
any_text(const Reading *r, uint32 from)
{
	for (int i = 0; i < r->ntables; i++)
	{
		const char *name = r->tables[i].table;
		size_t		len = strlen(name);

		for (size_t at = from; at + len <= r->m->len; at++)
			if (pg_strncasecmp(r->m->data + at, name, len) == 0)
				return &r->tables[i];
	}
	return NULL;
}

/* A word that is the name of a table of the stream, behind the name of its database or none. */
static const SlStreamTable *
any_word(const Reading *r)
{
	SlMyTokens	t;

	sl_my_tokenize(r->m->data, r->m->len, &r->my, &t);
	for (int i = 0; i < t.n; i++)
	{
		bool		qualified = i >= 2 && sl_my_token_sign(&t, i - 1, ".");
		const SlStreamTable *found;

		if (t.tokens[i].kind != SL_MY_WORD && t.tokens[i].kind != SL_MY_NAME)
			continue;
		found = table_of(r, qualified ? sl_my_token_value(&t, i - 2, NULL) : r->my.database,
						 sl_my_token_value(&t, i, NULL));
		if (found)
			return found;
	}
	return t.err.code == SL_ERR_NONE ? NULL : any_text(r, t.tokens[t.n - 1].at);
}

/* The table that an ALTER TABLE changes, or whose name it takes, or with which it changes places. */
static const SlStreamTable *
altered(const Reading *r, const SlDdl *d, bool *another)
{
	const SlDdlEffect *e = &d->effects[0];
	const SlStreamTable *t = named(r, &e->table);

	if (t && (sl_ddl_changes(d) & (SL_DDL_COLUMNS | SL_DDL_KEYS | SL_DDL_ROWS | SL_DDL_NAME)) == 0)
		t = NULL;
	for (int i = 0; i < e->nclauses; i++)
	{
		const SlDdlClause *c = &e->clauses[i];

		if (c->kind == SL_DDL_RENAME_TABLE)
			*another = t != NULL || named(r, &c->table) != NULL;
		if (t == NULL && c->table.name)
			t = named(r, &c->table);
	}
	return t;
}

/* The first table of the stream whose name the statement gives away, or to another table. */
static const SlStreamTable *
any_effect(const Reading *r, const SlDdl *d)
{
	for (int i = 0; i < d->neffects; i++)
	{
		const SlStreamTable *t = named(r, &d->effects[i].table);

		if (t == NULL && d->kind == SL_DDL_RENAME_TABLES)
			t = named(r, &d->effects[i].to);
		if (t)
			return t;
	}
	return NULL;
}

/*
 * The table of the stream that the statement may change, NULL if it changes none.
 * *another: its name may hold another table afterwards, or none.
 */
static const SlStreamTable *
changed(const Reading *r, bool *another)
{
	SlDdl	   *d = sl_ddl_parse(r->m->data, r->m->len, &r->my);

	*another = false;
	switch (d->kind)
	{
		case SL_DDL_UNKNOWN:
			return any_word(r);
		case SL_DDL_OTHER:
		case SL_DDL_CREATE_DATABASE:
		case SL_DDL_ALTER_DATABASE:
			return NULL;
		case SL_DDL_ALTER_TABLE:
			return altered(r, d, another);
		case SL_DDL_TRUNCATE_TABLE:
			return any_effect(r, d);
		case SL_DDL_DROP_DATABASE:
			*another = true;
			return in_database(r, d->database);
		default:
			*another = true;
			/* what it makes under a name that is taken it does not make */
			return d->temporary || d->if_not_exists ? NULL : any_effect(r, d);
	}
}

static const SlStreamTable *
touched(const SlSourceServer * server, const SlMessage *m, const SlStreamTable *tables, int ntables,
		bool *another)
{
	Reading		r = {m, tables, ntables, {server->mariadb ? SL_MY_MARIADB : SL_MY_MYSQL, server->version}};
	const SlStreamTable *t;

	r.my.database = m->prefix;
	t = changed(&r, another);
	if (t || memchr(m->data, '"', m->len) == NULL)
		return t;
	r.my.ansi_quotes = true;
	return changed(&r, another);
}

static char *
shown_statement(const SlMessage *m)
{
	StringInfoData buf;
	int			len = Min(m->len, SL_MAX_STATEMENT);

	pg_verifymbstr(m->data, m->len, false);
	len = pg_mbcliplen(m->data, m->len, len);
	initStringInfo(&buf);
	sl_append_visible(&buf, pnstrdup(m->data, len));
	if (len < m->len)
		appendStringInfoString(&buf, " ...");
	return buf.data;
}

/* Leave out the tables whose copy was read behind the statement; how many stay. */
static int
not_in_copy(SlStreamTable *tables, int n, XLogRecPtr lsn)
{
	int			kept = 0;

	for (int i = 0; i < n; i++)
		if (lsn == 0 || lsn >= tables[i].snapshot_lsn)
			tables[kept++] = tables[i];
	return kept;
}

/* See feed_fault.h. */
void
sl_feed_judge_ddl(const SlStream *s, const SlSourceServer * server, const SlMessage *m, XLogRecPtr lsn)
{
	SlRefusal	r = {.marker = SL_M_SCHEMA_CHANGE_REFUSED};
	SlStreamTable *tables;
	int			n = sl_stream_tables(s->stream_id, &tables);
	bool		another;
	const SlStreamTable *t = touched(server, m, tables, not_in_copy(tables, n, lsn), &another);

	if (t == NULL)
		return;
	r.schema = t->schema;
	r.table = t->table;
	r.detail = psprintf("[statement] %s at %X/%X", shown_statement(m), LSN_FORMAT_ARGS(lsn));
	if (another)
	{
		r.marker = SL_M_TABLE_IDENTITY_CHANGED;
		sl_refuse(&r, "a statement on the source drops, makes or renames table \"%s.%s\"",
				  t->schema, t->table);
	}
	r.hint = psprintf("Make the same change on the target, if it is one of the table's columns or keys, then: SELECT state FROM sluice.sync_start(%s);",
					  quote_literal_cstr(s->stream_id));
	if (!sl_refusal_accept(s->stream_id, &r))
		sl_refuse(&r, "a statement on the source changes table \"%s.%s\" and is not forwarded",
				  t->schema, t->table);
	sl_schema_event(s->stream_id, t->schema, t->table, lsn, NULL, "passed", NULL,
					SL_M_SCHEMA_CHANGE_REFUSED);
}
