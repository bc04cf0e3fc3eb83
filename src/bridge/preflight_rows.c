/*
 * preflight_rows.c
 *	  Values that the target cannot hold: counted before the copy meets them.
 *
 * NOTES
 *	  One pass over each table that has a column that could hold one, which reads
 *	  these columns only, for at most p->seconds; after ALL_SECONDS the rest is
 *	  left to the copy, which refuses the same values.  TEXT, BLOB and JSON columns
 *	  are not read: their rows lie elsewhere and would cost a second table.
 */
#include <time.h>

#include "bridge/preflight_int.h"
#include "bridge/schema/schema.h"
#include "bridge/types/pgtype.h"

#define ALL_SECONDS		300

/* Errors that say that the time is up, of MySQL and MariaDB. */
#define ER_QUERY_TIMEOUT		3024
#define ER_STATEMENT_TIMEOUT	1969

/* What is wrong with the values that a condition finds. */
typedef struct Misfit
{
	const char *check;
	const char *what;
	const char *cure;			/* by hand; the column comes in front */
	char	   *condition;		/* true for a value that cannot be held */
	const BrColumn *column;
} Misfit;

typedef struct Scan
{
	BrPreflight *p;
	const BrCatalog *cat;
	const BrTable *t;
	int			n;
	Misfit	   *misfits;
} Scan;

static void
misfit(Scan *scan, const BrColumn *column, const char *check, const char *what, const char *cure, char *condition)
{
	Misfit	   *m;

	scan->misfits = br_catalog_grow(scan->misfits, &scan->n, sizeof(Misfit));
	m = &scan->misfits[scan->n - 1];
	m->check = check;
	m->what = what;
	m->cure = cure;
	m->condition = condition;
	m->column = column;
}

/* ---------- what a column could hold that its target cannot ---------- */

static void
look_at_date(Scan *scan, const BrColumn *c, const char *name)
{
	MyPolicy	policy;

	(void) br_column_policy(scan->p->s, scan->t, c, &policy);
	if (policy.zero_dates == MY_ZERO_REFUSE)
		misfit(scan, c, "zero_dates", "zero in year, month or day, which no date of PostgreSQL is",
			   "start the stream with option zero_dates or zero_date_columns, or change them",
			   psprintf("YEAR(%s) = 0 OR MONTH(%s) = 0 OR DAYOFMONTH(%s) = 0", name, name, name));
	else if (policy.zero_dates == MY_ZERO_NULL && !c->nullable)
		misfit(scan, c, "zero_dates", "zero in year, month or day, and the column is NOT NULL, so that zero_dates cannot make them NULL",
			   "start the stream with an instant for the column in option zero_date_columns, or let it be NULL",
			   psprintf("YEAR(%s) = 0 OR MONTH(%s) = 0 OR DAYOFMONTH(%s) = 0", name, name, name));
	if (c->type->kind != MY_TIMESTAMP)
		misfit(scan, c, "invalid_dates", "days that no calendar has",
			   "change them, or start the stream with the column as text in type_overrides",
			   psprintf("DAYOFMONTH(%s) > DAYOFMONTH(LAST_DAY(%s))", name, name));
}

/* Bits of the values of an integer column that are never negative: 63 for BIGINT. */
static int
magnitude_bits(const MyType *type)
{
	static const int bits[] = {[MY_TINYINT] = 8,[MY_SMALLINT] = 16,[MY_MEDIUMINT] = 24,[MY_INT] = 32,[MY_BIGINT] = 64};

	return bits[type->kind] - (type->is_unsigned ? 0 : 1);
}

static void
look_at_integer(Scan *scan, const BrColumn *c, const char *name, PgKind kind)
{
	int			room = kind == PG_INT2 ? 15 : kind == PG_INT4 ? 31 : 63;

	if (kind == PG_BOOL)
		misfit(scan, c, "boolean_range", "neither 0 nor 1, and the target is boolean",
			   "start the stream with the column as smallint in type_overrides",
			   psprintf("%s NOT IN (0, 1)", name));
	else if ((kind == PG_INT2 || kind == PG_INT4 || kind == PG_INT8) && magnitude_bits(c->type) > room)
		misfit(scan, c, "integer_range", "beyond what the target's type holds",
			   "start the stream with the column as numeric in type_overrides",
			   c->type->is_unsigned ? psprintf("%s > " UINT64_FORMAT, name, (UINT64CONST(1) << room) - 1) :
			   psprintf("%s NOT BETWEEN -" UINT64_FORMAT " AND " UINT64_FORMAT, name,
						UINT64CONST(1) << room, (UINT64CONST(1) << room) - 1));
}

/* Collations do not count a zero byte: compare bytes. */
static void
look_at_text(Scan *scan, const BrColumn *c, const char *name)
{
	misfit(scan, c, "zero_byte", "texts with a zero byte, which no text of PostgreSQL has",
		   "change them, or start the stream with the column as bytea in type_overrides",
		   psprintf("LOCATE(X'00', CAST(CONVERT(%s USING utf8mb4) AS BINARY)) > 0", name));
}

static void
look_at(Scan *scan, const BrColumn *c)
{
	MyTarget	target;
	SlError		bad = {0};
	StringInfoData quoted;
	PgKind		kind;

	if (c->type == NULL || !br_column_target(scan->p->s, scan->cat, scan->t, c, &target, &bad))
		return;
	initStringInfo(&quoted);
	mx_append_ident(&quoted, c->name);
	kind = pg_kind_of(&target);
	if (c->type->kind <= MY_BIGINT)
		look_at_integer(scan, c, quoted.data, kind);
	else if ((c->type->kind == MY_DATE || c->type->kind == MY_DATETIME || c->type->kind == MY_TIMESTAMP) &&
			 (kind == PG_DATE || kind == PG_TIMESTAMP || kind == PG_TIMESTAMPTZ))
		look_at_date(scan, c, quoted.data);
	else if (c->type->kind == MY_TIME && kind == PG_TIME)
		misfit(scan, c, "time_range", "below 00:00 or not below 24:00, and the target is time",
			   "start the stream with the column as interval in type_overrides",
			   psprintf("%s < TIME'00:00:00' OR %s >= TIME'24:00:00'", quoted.data, quoted.data));
	else if (c->type->kind == MY_ENUM && kind == PG_NAMED)
		misfit(scan, c, "enum_label", "the empty value of an invalid label",
			   "change them, or start the stream with the column as text in type_overrides",
			   psprintf("%s + 0 = 0", quoted.data));
	else if (scan->p->texts && (c->type->kind == MY_CHAR || c->type->kind == MY_VARCHAR) &&
			 (kind == PG_TEXT || kind == PG_VARCHAR || kind == PG_BPCHAR))
		look_at_text(scan, c, quoted.data);
}

/* ---------- looking ---------- */

static char *
scan_query(const Scan *scan)
{
	StringInfoData sql;

	initStringInfo(&sql);
	if (scan->p->mariadb)
		appendStringInfo(&sql, "SET STATEMENT max_statement_time = %d FOR SELECT ", scan->p->seconds);
	else
		appendStringInfo(&sql, "SELECT /*+ MAX_EXECUTION_TIME(%d) */ ", scan->p->seconds * 1000);
	for (int i = 0; i < scan->n; i++)
		appendStringInfo(&sql, "%sCOUNT(CASE WHEN %s THEN 1 END)", i > 0 ? ", " : "", scan->misfits[i].condition);
	appendStringInfo(&sql, " FROM %s", br_preflight_name(scan->t));
	return sql.data;
}

static void
report(const Scan *scan, const Misfit *m, const char *count)
{
	char	   *name = br_preflight_name(scan->t);
	StringInfoData quoted;

	initStringInfo(&quoted);
	mx_append_ident(&quoted, m->column->name);
	br_check_add(scan->p->out, m->check, true, false,
				 psprintf("%s, column %s: values that are %s (rows: %s)", name, quoted.data, m->what, count),
				 psprintf("-- %s: SELECT * FROM %s WHERE %s", m->cure, name, m->condition));
}

/* False when the connection fails. */
static bool
scan_table(Scan *scan)
{
	BrPreflight *p = scan->p;
	MxResult   *r = mx_query(p->c, scan_query(scan), p->err);

	if (r == NULL && (p->err->lost || p->err->number == 0))
		return false;
	if (r == NULL)
	{
		bool		late = p->err->number == ER_QUERY_TIMEOUT || p->err->number == ER_STATEMENT_TIMEOUT;

		br_check_add(p->out, "values", false, false,
					 late ? psprintf("%s was not read to its end in %d s: the copy finds what is left", br_preflight_name(scan->t), p->seconds) :
					 psprintf("%s could not be read: %s", br_preflight_name(scan->t), p->err->message),
					 pstrdup(late ? "-- nothing need be done" : "-- grant this account SELECT on the table"));
		return true;
	}
	for (int i = 0; i < scan->n; i++)
		if (mx_value(r, 0, i) != NULL && strcmp(mx_value(r, 0, i), "0") != 0)
			report(scan, &scan->misfits[i], mx_value(r, 0, i));
	mx_result_free(r);
	return true;
}

/* False when the connection fails. */
static bool
table_rows(BrPreflight *p, const BrCatalog *cat, const BrTable *t)
{
	Scan		scan = {.p = p, .cat = cat, .t = t};
	bool		ok;

	for (int i = 0; i < t->ncols; i++)
		if (br_column_is_carried(p->s, cat, t, &t->cols[i]))
			look_at(&scan, &t->cols[i]);
	if (scan.n == 0)
		return true;
	if (p->began == 0)
		p->began = time(NULL);
	if (time(NULL) - p->began >= ALL_SECONDS || (p->s->stop != NULL && *p->s->stop))
	{
		p->unread++;
		return true;
	}
	ok = scan_table(&scan);
	pfree(scan.misfits);
	return ok;
}

/* See preflight_int.h. */
bool
br_preflight_rows(BrPreflight *p)
{
	int			before = p->out->n;

	for (int i = 0; i < p->ncats; i++)
		for (int k = 0; k < p->cats[i]->ntables; k++)
			if (br_preflight_has(p, &p->cats[i]->tables[k]) &&
				!table_rows(p, p->cats[i], &p->cats[i]->tables[k]))
				return false;
	if (p->unread > 0)
		br_check_add(p->out, "values", false, false,
					 psprintf("%d tables were not read, the time of %d s is over: the copy finds what is there", p->unread, ALL_SECONDS),
					 pstrdup("-- nothing need be done"));
	else if (p->out->n == before)
		br_check_add(p->out, "values", false, true, pstrdup("the target can hold every value that was looked at"), NULL);
	return true;
}
