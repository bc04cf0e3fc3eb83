/*
 * follow_statement.c
 *	  Statements of the binary log: ends of groups, savepoints, DDL, and what
 *	  should have been logged as rows.
 */
#include "bridge/follow_int.h"
#include "bridge/types/charset.h"

#define UTF8MB4_COLLATION	45

typedef enum Kind
{
	EMPTY,
	BEGIN,
	COMMIT,
	ROLLBACK,
	SAVEPOINT,
	ROLLBACK_TO,
	XA_BEGIN,
	XA_END,
	XA_COMMIT,					/* of one that was prepared before, or of the
								 * group in hand */
	XA_ROLLBACK,
	CHANGE,						/* of rows, or of anything */
	OTHER						/* DDL, and what is like it */
} Kind;

/* Statements that change rows by themselves, or run what may. */
static const char *const changing[] = {
	"insert", "update", "delete", "replace", "load", "call", "do", "with", "select", "execute", "import",
	"handler", "table", "values"
};

/* SAVEPOINT a, ROLLBACK [WORK] TO [SAVEPOINT] a: the name is the last word. */
static void
last_word(BrWords *w, char *name, size_t size)
{
	snprintf(name, size, "%s", w->word);
	while (br_words_next(w))
		snprintf(name, size, "%s", w->word);
}

static Kind
rollback_kind(BrWords *w, char *name, size_t size)
{
	while (br_words_next(w))
		if (br_words_is(w, "to"))
		{
			last_word(w, name, size);
			return ROLLBACK_TO;
		}
	return ROLLBACK;
}

static Kind
xa_kind(BrWords *w)
{
	if (!br_words_next(w))
		return XA_END;
	if (br_words_is(w, "start") || br_words_is(w, "begin"))
		return XA_BEGIN;
	return br_words_is(w, "commit") ? XA_COMMIT : br_words_is(w, "rollback") ? XA_ROLLBACK : XA_END;
}

/* MariaDB's SET STATEMENT name = value FOR stands before what is done. */
static void
skip_settings(BrWords *w)
{
	BrWords		at = *w;

	if (!br_words_is(&at, "set") || !br_words_next(&at) || !br_words_is(&at, "statement"))
		return;
	while (br_words_next(&at))
		if (br_words_is(&at, "for"))
		{
			if (br_words_next(&at))
				*w = at;
			return;
		}
}

/* What a statement is by its first words; name: of the savepoint. */
static Kind
kind_of(const BlQuery *q, char *name, size_t size)
{
	BrWords		w;

	name[0] = '\0';
	br_words_init(&w, q->sql, q->sql_len);
	if (!br_words_next(&w))
		return EMPTY;
	skip_settings(&w);
	if (br_words_is(&w, "begin") || br_words_is(&w, "start"))
		return BEGIN;
	if (br_words_is(&w, "commit"))
		return COMMIT;
	if (br_words_is(&w, "rollback"))
		return rollback_kind(&w, name, size);
	if (br_words_is(&w, "xa"))
		return xa_kind(&w);
	if (br_words_is(&w, "savepoint"))
	{
		last_word(&w, name, size);
		return SAVEPOINT;
	}
	for (int i = 0; i < lengthof(changing); i++)
		if (br_words_is(&w, changing[i]))
			return CHANGE;
	return OTHER;
}

/* ---------- rows that were logged as a statement ---------- */

static bool
stop_at_change(BrFlow *f, const char *sql, size_t len)
{
	BrWords		w;

	br_words_init(&w, sql, len);
	if (!br_words_next(&w))
		w.word[0] = '\0';
	br_stop(&f->stop, "PROTOCOL-VIOLATION",
			"the source logged a statement (%s) instead of the rows that it changed", w.word);
	br_stop_detail(&f->stop, "It may have changed tables of the stream: a session wrote with a binlog_format other than ROW.");
	br_stop_hint(&f->stop, "See that no session sets binlog_format (sessions that were open keep what it was), then drop the stream and "
				 "start it anew.");
	br_stop_remedy(&f->stop, "SET GLOBAL binlog_format = 'ROW'");
	return false;
}

static bool
change(BrFlow *f, const char *database, const char *sql, size_t len)
{
	if (f->owner.touches(f->owner.arg, database, sql, len))
		return stop_at_change(f, sql, len);
	return true;
}

/* See follow_int.h. */
bool
br_flow_load(BrFlow *f, const char *database, const char *sql, size_t len)
{
	return change(f, database, sql, len);
}

/* ---------- DDL ---------- */

/* The statement in UTF-8.  *whole false: what is no text of its character set was replaced. */
static char *
utf8_text(const BlQuery *q, bool *whole)
{
	const MyCharset *cs = my_charset_by_collation(q->client_charset != 0 ? q->client_charset : UTF8MB4_COLLATION);
	StringInfoData text;
	SlError		err;
	size_t		done = 0;

	initStringInfo(&text);
	*whole = cs != NULL && my_charset_to_utf8(cs, q->sql, q->sql_len, &text, &err);
	if (*whole)
		return text.data;
	resetStringInfo(&text);
	cs = my_charset_by_collation(UTF8MB4_COLLATION);
	while (done < q->sql_len)
	{
		int			was = text.len;

		if (my_charset_to_utf8(cs, q->sql + done, q->sql_len - done, &text, &err))
			break;
		text.len = was;
		if (err.offset >= q->sql_len - done)
			break;
		appendBinaryStringInfo(&text, q->sql + done, (int) err.offset);
		appendStringInfoChar(&text, '?');
		done += err.offset + 1;
	}
	return text.data;
}

static bool
put_statement(BrFlow *f, const BlQuery *q)
{
	bool		whole;
	char	   *text = utf8_text(q, &whole);
	BrStatement st = {.query = q, .text = text, .len = strlen(text), .whole = whole};
	bool		ok = f->owner.statement(f->owner.arg, f, &st);

	memset(f->maps, 0, sizeof(f->maps));
	pfree(text);
	return ok;
}

/* ---------- dispatch ---------- */

/* A statement that is a group, or part of one. */
static bool
content(BrFlow *f, Kind kind, const BlQuery *q)
{
	bool		ok;

	if (f->group.alter == BL_ALTER_START || f->group.alter == BL_ALTER_ROLLBACK)
		ok = true;				/* nothing has changed */
	else if (kind == CHANGE)
		ok = change(f, q->database, q->sql, q->sql_len);
	else
		ok = kind == XA_END || put_statement(f, q);
	if (ok && (f->group.kind == BR_GROUP_SINGLE || f->group.kind == BR_GROUP_OPEN))
		return br_flow_commit(f);
	return ok;
}

/* Of a prepared group that is read again: what begins and ends it is said by others. */
static bool
replayed(BrFlow *f, Kind kind, const char *name, const BlQuery *q)
{
	switch (kind)
	{
		case EMPTY:
		case BEGIN:
		case XA_BEGIN:
		case XA_END:
			return true;
		case SAVEPOINT:
			return br_flow_savepoint(f, name);
		case ROLLBACK_TO:
			return br_flow_rollback_to(f, name);
		case CHANGE:
			return change(f, q->database, q->sql, q->sql_len);
		default:
			return br_stop(&f->stop, "PROTOCOL-VIOLATION", "the source's log holds a statement within a prepared XA transaction at %s",
						   br_flow_place(f));
	}
}

/* See follow_int.h. */
bool
br_flow_statement(BrFlow *f, const BlQuery *q)
{
	char		name[256];
	Kind		kind = kind_of(q, name, sizeof(name));

	if (f->replay != NULL)
		return replayed(f, kind, name, q);
	switch (kind)
	{
		case EMPTY:				/* MariaDB: in place of what we need not know */
			return true;
		case BEGIN:
			f->group.kind = BR_GROUP_TRANSACTION;
			return true;
		case XA_BEGIN:
			f->group.kind = BR_GROUP_XA;
			return true;
		case XA_COMMIT:
		case XA_ROLLBACK:
			if (f->group.kind != BR_GROUP_XA && f->group.at < 0)
				return br_flow_end_prepared(f, q, kind == XA_COMMIT);
			return kind == XA_COMMIT ? br_flow_commit(f) : br_flow_rollback(f);
		case COMMIT:
			return br_flow_commit(f);
		case ROLLBACK:
			return br_flow_rollback(f);
		case SAVEPOINT:
			return br_flow_savepoint(f, name);
		case ROLLBACK_TO:
			return br_flow_rollback_to(f, name);
		default:
			return content(f, kind, q);
	}
}
