/*
 * preflight_table.c
 *	  Are the source's tables such that they can be copied and followed?
 *
 * From the catalog alone.  What the target makes of keys, defaults and checks
 * is in the plan (schema.h), which the extension judges.
 */
#include "bridge/preflight_int.h"
#include "bridge/schema/schema.h"

#define PG_NAME_MAX		63		/* bytes of a name that PostgreSQL keeps */

typedef void (*TableLook) (BrPreflight *p, const BrCatalog *cat, const BrTable *t);

/* A check, and what is said when no table fails it. */
typedef struct TableCheck
{
	const char *name;
	TableLook	look;
	const char *fine;
	void		(*also) (BrPreflight *p);	/* besides, once; NULL = nothing */
} TableCheck;

/* See preflight_int.h. */
char *
br_preflight_name(const BrTable *t)
{
	StringInfoData buf;

	initStringInfo(&buf);
	mx_append_table(&buf, t->database, t->name);
	return buf.data;
}

static char *
ident(const char *name)
{
	StringInfoData buf;

	initStringInfo(&buf);
	mx_append_ident(&buf, name);
	return buf.data;
}

/* ---------- engines ---------- */

static void
check_engine(BrPreflight *p, const BrCatalog *cat, const BrTable *t)
{
	static const char *const unsafe[] = {"MyISAM", "Aria", "CSV", "ARCHIVE", "MEMORY"};
	const char *engine = t->engine != NULL ? t->engine : "none";
	const char *why = "it is not known whether a snapshot and the log hold what its rows are";
	char	   *name = br_preflight_name(t);

	if (pg_strcasecmp(engine, "InnoDB") == 0)
		return;
	for (int i = 0; i < lengthof(unsafe); i++)
		if (pg_strcasecmp(engine, unsafe[i]) == 0)
			why = "it has no transactions, so that no snapshot holds its rows still while they are copied";
	br_check_add(p->out, "engine", br_preflight_copies(p->s), false,
				 psprintf("%s has engine %s: %s", name, engine, why),
				 psprintf("ALTER TABLE %s ENGINE = InnoDB;", name));
}

/* The log has the history too: a row that was deleted comes as an update of the time it ended. */
static void
check_versioning(BrPreflight *p, const BrCatalog *cat, const BrTable *t)
{
	char	   *name = br_preflight_name(t);

	if (strcmp(t->kind, "SYSTEM VERSIONED") == 0)
		br_check_add(p->out, "system_versioning", true, false,
					 psprintf("%s is system-versioned: the log has the rows of its history among the others", name),
					 psprintf("ALTER TABLE %s DROP SYSTEM VERSIONING; -- its history is lost; "
							  "or leave the table out by exclude_tables", name));
}

/* ---------- columns ---------- */

static void
check_types(BrPreflight *p, const BrCatalog *cat, const BrTable *t)
{
	for (int i = 0; i < t->ncols; i++)
	{
		const BrColumn *c = &t->cols[i];
		MyTarget	target;
		SlError		bad = {0};

		if (c->type != NULL && br_column_target(p->s, cat, t, c, &target, &bad))
			continue;
		br_check_add(p->out, "column_type", true, false,
					 psprintf("%s, column %s of type %s: %s", br_preflight_name(t), ident(c->name), c->type_text,
							  c->type == NULL ? c->type_error : bad.detail),
					 pstrdup("-- start the stream with another type in type_overrides, or leave the table out by exclude_tables"));
	}
}

static void
check_policies(BrPreflight *p, const BrCatalog *cat, const BrTable *t)
{
	MyPolicy	policy;

	for (int i = 0; i < t->ncols; i++)
		if (!br_column_policy(p->s, t, &t->cols[i], &policy))
			br_check_add(p->out, "zero_date_columns", true, false,
						 psprintf("%s, column %s: two entries of option zero_date_columns name it and say different things",
								  br_preflight_name(t), ident(t->cols[i].name)),
						 pstrdup("-- start the stream with one of the two entries"));
}

static bool
names_a_column(const BrPreflight *p, const BrColumnPolicy *entry)
{
	for (int i = 0; i < p->ncats; i++)
		for (int k = 0; k < p->cats[i]->ntables; k++)
		{
			const BrTable *t = &p->cats[i]->tables[k];

			for (int c = 0; br_preflight_has(p, t) && c < t->ncols; c++)
				if (br_zero_dates_named(entry, t, &t->cols[c]))
					return true;
		}
	return false;
}

/* A name that is spelled wrong would leave a column to another policy. */
static void
check_policy_entries(BrPreflight *p)
{
	for (int i = 0; i < p->s->npolicies; i++)
		if (!names_a_column(p, &p->s->policies[i]))
			br_check_add(p->out, "zero_date_columns", true, false,
						 psprintf("\"%s\" of option zero_date_columns names no DATE, DATETIME or TIMESTAMP in scope", p->s->policies[i].column),
						 pstrdup("-- start the stream without that entry, or with the column's name: table.column or database.table.column"));
}

static void
check_invisible(BrPreflight *p, const BrCatalog *cat, const BrTable *t)
{
	for (int i = 0; i < t->ncols; i++)
		if (t->cols[i].invisible)
			br_check_add(p->out, "invisible_column", false, true,
						 psprintf("%s, column %s is invisible there: a column like any other on the target",
								  br_preflight_name(t), ident(t->cols[i].name)), NULL);
}

/* What the target computes is not sent, and must come out the same; the rest is a column like any other. */
/*
 * A MariaDB whose log leaves generated columns out of the rows of updates and deletes, with binlog_row_image = FULL too: 11.8
 * does, 10.11 does not.
 */
#define MARIADB_LEAVES_OUT	110800

static void
check_generated(BrPreflight *p, const BrCatalog *cat, const BrTable *t)
{
	bool		left_out = p->mariadb && mx_version(p->c) >= MARIADB_LEAVES_OUT;
	bool		updated = p->s->follows && !br_stream_inserts_only(p->s, t->database, t->name);

	for (int i = 0; i < t->ncols; i++)
	{
		bool		carried = br_column_is_carried(p->s, cat, t, &t->cols[i]);
		char	   *name = br_preflight_name(t);

		if (t->cols[i].generation != NULL)
			br_check_add(p->out, "generated_column", carried && left_out && updated, !(carried && left_out),
						 psprintf("%s, column %s is generated there: %s", name, ident(t->cols[i].name),
								  !carried ? "the target computes it, by the same expression" :
								  left_out ? "the target cannot compute it, and this server's log leaves it out of updates, which stop the stream" :
								  "a plain column on the target, which the stream writes"),
						 psprintf("ALTER TABLE %s DROP COLUMN %s; -- or leave the table out by exclude_tables; "
								  "if it only ever gets inserts, name it in option insert_only", name, ident(t->cols[i].name)));
	}
}

/* ---------- names ---------- */

/* The other column whose name is the same up to where PostgreSQL cuts it; NULL = none. */
static const char *
same_when_cut(const BrTable *t, int column)
{
	for (int i = 0; i < t->ncols; i++)
		if (i != column && strncmp(t->cols[i].name, t->cols[column].name, PG_NAME_MAX) == 0)
			return t->cols[i].name;
	return NULL;
}

static void
check_names(BrPreflight *p, const BrCatalog *cat, const BrTable *t)
{
	static const char *const taken[] = {"tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"};
	char	   *name = br_preflight_name(t);

	if (strlen(t->name) > PG_NAME_MAX)
		br_check_add(p->out, "name", true, false,
					 psprintf("the name of %s has %zu bytes, PostgreSQL keeps %d", name, strlen(t->name), PG_NAME_MAX),
					 psprintf("-- give it a shorter one: RENAME TABLE %s TO ...", name));
	for (int i = 0; i < t->ncols; i++)
	{
		const char *column = t->cols[i].name;
		size_t		len = strlen(column);
		const char *other = len > PG_NAME_MAX ? same_when_cut(t, i) : NULL;
		bool		system = false;

		for (int k = 0; k < lengthof(taken); k++)
			system = system || strcmp(column, taken[k]) == 0;
		if (len <= PG_NAME_MAX && !system)
			continue;
		br_check_add(p->out, "name", true, false,
					 system ? psprintf("%s, column %s: PostgreSQL has a system column of that name", name, ident(column)) :
					 psprintf("%s, the name of column %s has %zu bytes, PostgreSQL keeps %d%s%s", name, ident(column), len,
							  PG_NAME_MAX, other ? ", the same as of column " : "", other ? ident(other) : ""),
					 psprintf("-- give it another name: ALTER TABLE %s RENAME COLUMN %s TO ...", name, ident(column)));
	}
}

/* The first table in scope, of another database, that becomes the same one; NULL = none. */
static const BrTable *
same_target(const BrPreflight *p, const BrTable *t)
{
	const char *schema = br_stream_schema(p->s, t->database);

	for (int i = 0; i < p->ncats; i++)
	{
		const BrTable *other = br_catalog_table(p->cats[i], t->name);
		const char *there;

		if (other == t)
			return NULL;		/* the later of two is named */
		if (other == NULL || !br_stream_has(p->s, other->database, other->name))
			continue;
		there = br_stream_schema(p->s, other->database);
		if (schema != NULL && there != NULL && strcmp(schema, there) == 0)
			return other;
	}
	return NULL;
}

static void
check_collision(BrPreflight *p, const BrCatalog *cat, const BrTable *t)
{
	const BrTable *other = same_target(p, t);

	if (other != NULL)
		br_check_add(p->out, "name_collision", true, false,
					 psprintf("%s and %s are both to become table \"%s\" of schema \"%s\"", br_preflight_name(other),
							  br_preflight_name(t), t->name, br_stream_schema(p->s, t->database)),
					 pstrdup("-- start the stream with a schema of its own for each database, by option schema_map"));
}

/* ---------- keys ---------- */

static void
check_key(BrPreflight *p, const BrCatalog *cat, const BrTable *t)
{
	char	   *name = br_preflight_name(t);
	bool		inserts = br_stream_inserts_only(p->s, t->database, t->name);
	bool		accepted = inserts || !p->s->follows || br_stream_accepts_keyless(p->s, t->database, t->name);

	if (br_table_identity(t) != NULL)
		return;
	br_check_add(p->out, "table_key", !accepted, false,
				 psprintf("%s has no key of NOT NULL columns: %s, and the copy cannot be divided", name,
						  inserts ? "an update or delete will stop the stream" :
						  "each update or delete has to look for its row by all columns"),
				 psprintf("ALTER TABLE %s ADD COLUMN row_id bigint NOT NULL AUTO_INCREMENT PRIMARY KEY; "
						  "-- or name it in option accept_keyless, or in insert_only", name));
}

static const TableCheck checks[] = {
	{"engine", check_engine, "every table is InnoDB's"},
	{"system_versioning", check_versioning, "no table is system-versioned"},
	{"column_type", check_types, "every column's type has a counterpart"},
	{"zero_date_columns", check_policies, "option zero_date_columns names columns of dates, each once", check_policy_entries},
	{"invisible_column", check_invisible, "no column is invisible"},
	{"generated_column", check_generated, "no column is generated"},
	{"name", check_names, "PostgreSQL can have every name"},
	{"name_collision", check_collision, "no two tables become one"},
	{"table_key", check_key, "every table has a key"},
	{"foreign_key_cascade", br_preflight_cascade, "no foreign key changes rows without the log having it"},
};

static void
each_table(BrPreflight *p, TableLook look)
{
	for (int i = 0; i < p->ncats; i++)
		for (int k = 0; k < p->cats[i]->ntables; k++)
		{
			const BrTable *t = &p->cats[i]->tables[k];

			if (br_preflight_has(p, t))
				look(p, p->cats[i], t);
		}
}

/* See preflight_int.h. */
void
br_preflight_tables(BrPreflight *p)
{
	for (int i = 0; i < lengthof(checks); i++)
	{
		int			before = p->out->n;

		each_table(p, checks[i].look);
		if (checks[i].also != NULL)
			checks[i].also(p);
		if (p->out->n == before)
			br_check_add(p->out, checks[i].name, false, true, pstrdup(checks[i].fine), NULL);
	}
}
