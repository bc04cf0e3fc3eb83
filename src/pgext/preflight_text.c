/*
 * preflight_text.c
 *	  Preflight: do texts mean the same here?  Encodings, and the collations of
 *	  unique keys.
 *
 * NOTES
 *	  Under a deterministic collation equal is equal byte for byte, whatever its
 *	  provider and version, so a key means the same everywhere and only sorts
 *	  differently.  Under another one the collation says what is equal: it must
 *	  then be the same on the source.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "common/sl_shape.h"
#include "pgext/preflight_int.h"
#include "pgext/spi_util.h"
#include "pgext/pgcompat.h"

/*
 * What a collation l of database d is.  to_jsonb answers NULL for columns that
 * a release does not have; the parameter is the version of the database's own
 * collation, a function since 15.
 */
#define COLLATION_COLUMNS(version) \
	"pg_catalog.quote_ident(ln.nspname) || '.' || pg_catalog.quote_ident(l.collname), " \
	"ln.nspname, l.collname, " \
	"CASE WHEN l.collprovider <> 'd' THEN l.collprovider::pg_catalog.text " \
	"  ELSE coalesce(pg_catalog.to_jsonb(d) ->> 'datlocprovider', 'c') END, " \
	"CASE WHEN l.collprovider <> 'd' THEN coalesce(pg_catalog.to_jsonb(l) ->> 'colllocale', " \
	"    pg_catalog.to_jsonb(l) ->> 'colliculocale', l.collcollate::pg_catalog.text) " \
	"  ELSE coalesce(pg_catalog.to_jsonb(d) ->> 'datlocale', " \
	"    pg_catalog.to_jsonb(d) ->> 'daticulocale', d.datcollate::pg_catalog.text) END, " \
	"l.collisdeterministic, " \
	"CASE WHEN l.collprovider <> 'd' THEN pg_catalog.pg_collation_actual_version(l.oid) " \
	"  ELSE " version " END"

#define COLLATION_FROM \
	"pg_catalog.pg_collation l " \
	"JOIN pg_catalog.pg_namespace ln ON ln.oid = l.collnamespace " \
	"JOIN pg_catalog.pg_database d ON d.datname = pg_catalog.current_database() "

#define VERSION_15 "pg_catalog.pg_database_collation_actual_version(d.oid)"
#define VERSION_14 "NULL::pg_catalog.text"

/* Columns of unique keys of a list of tables, and their collations. */
#define KEYS_SQL(version) \
	"SELECT DISTINCT " COLLATION_COLUMNS(version) ", i.indrelid, a.attname, " \
	"i.indexrelid::pg_catalog.regclass::pg_catalog.text, " \
	"pg_catalog.format_type(a.atttypid, a.atttypmod) " \
	"FROM pg_catalog.pg_index i CROSS JOIN LATERAL " \
	"ROWS FROM (pg_catalog.unnest(i.indkey::smallint[]), pg_catalog.unnest(i.indcollation::oid[])) AS k(attnum, coll) " \
	"JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum " \
	"JOIN " COLLATION_FROM "ON l.oid = k.coll " \
	"WHERE i.indrelid = ANY ($1::pg_catalog.oid[]) AND i.indisunique"

#define BY_NAME_SQL \
	"SELECT " COLLATION_COLUMNS(VERSION_15) " FROM " COLLATION_FROM \
	"WHERE ln.nspname = $1 AND l.collname = $2 " \
	"AND l.collencoding IN (-1, d.encoding)"

enum
{
	COL_SHOWN, COL_SCHEMA, COL_NAME, COL_PROVIDER, COL_LOCALE,
	COL_DETERMINISTIC, COL_VERSION, COL_RELID, COL_COLUMN, COL_INDEX, COL_TYPE,
	NCOLS
};

typedef struct KeyColumn
{
	char	   *v[NCOLS];
	Oid			relid;
} KeyColumn;

static bool
same(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static bool
deterministic(const KeyColumn *k)
{
	return k->v[COL_DETERMINISTIC] && k->v[COL_DETERMINISTIC][0] == 't';
}

/* "icu und-u-ks-level2, version 153.14" */
static char *
show_collation(const KeyColumn *k)
{
	const char *provider = k->v[COL_PROVIDER];

	return psprintf("%s (%s %s, %s, version %s)", k->v[COL_SHOWN],
					provider[0] == 'i' ? "icu" : provider[0] == 'c' ? "libc" : "builtin",
					k->v[COL_LOCALE] ? k->v[COL_LOCALE] : "-",
					deterministic(k) ? "deterministic" : "not deterministic",
					k->v[COL_VERSION] ? k->v[COL_VERSION] : "unknown");
}

static List *
source_keys(SlPreflight *p)
{
	const char *params[1] = {sl_table_oids(p)};
	PGresult   *res = sl_conn_query(p->conn, PGRES_TUPLES_OK,
									p->conn->server_version >= 150000 ?
									KEYS_SQL(VERSION_15) : KEYS_SQL(VERSION_14),
									1, params);
	List	   *list = NIL;

	for (int r = 0; r < PQntuples(res); r++)
	{
		KeyColumn  *k = palloc0(sizeof(KeyColumn));

		for (int c = 0; c < NCOLS; c++)
			k->v[c] = PQgetisnull(res, r, c) ? NULL : pstrdup(PQgetvalue(res, r, c));
		k->relid = (Oid) strtoul(k->v[COL_RELID], NULL, 10);
		list = lappend(list, k);
	}
	PQclear(res);
	return list;
}

/* Rows of one of the statements above on this server. */
static List *
target_rows(const char *sql, int ncols, int nparams, const char *const *params)
{
	MemoryContext cxt = CurrentMemoryContext;
	SlUserSwitch sw;
	List	   *list = NIL;
	uint64		n;

	sl_become_extension_owner(&sw);
	sl_spi_enter();
	n = sl_spi_exec(sql, SPI_OK_SELECT, nparams, params);
	for (uint64 r = 0; r < n; r++)
	{
		MemoryContext old = MemoryContextSwitchTo(cxt);
		KeyColumn  *k = palloc0(sizeof(KeyColumn));

		for (int c = 0; c < ncols; c++)
			k->v[c] = sl_spi_text(r, c + 1, cxt);
		if (ncols > COL_RELID)
			k->relid = (Oid) strtoul(k->v[COL_RELID], NULL, 10);
		list = lappend(list, k);
		MemoryContextSwitchTo(old);
	}
	sl_spi_leave();
	sl_become_back(&sw);
	return list;
}

static List *
target_keys(const SlPreflight *p)
{
	StringInfoData oids;
	const char *param;

	initStringInfo(&oids);
	for (int i = 0; i < p->ntables; i++)
		if (OidIsValid(p->targets[i]))
			appendStringInfo(&oids, "%c%u", oids.len ? ',' : '{', p->targets[i]);
	if (oids.len == 0)
		return NIL;
	appendStringInfoChar(&oids, '}');
	param = oids.data;
	return target_rows(KEYS_SQL(VERSION_15), NCOLS, 1, &param);
}

/* What the source compares that column's keys by, NULL when by none. */
static const KeyColumn *
same_column(SlPreflight *p, List *source, const KeyColumn *t)
{
	ListCell   *lc;

	foreach(lc, source)
	{
		KeyColumn  *k = lfirst(lc);

		if (strcmp(k->v[COL_COLUMN], t->v[COL_COLUMN]) != 0)
			continue;
		for (int i = 0; i < p->ntables; i++)
			if (p->tables[i].relid == k->relid && p->targets[i] == t->relid)
				return k;
	}
	return NULL;
}

/* Is what the target calls equal also equal on the source, but for versions? */
static bool
means_the_same(const KeyColumn *source, const KeyColumn *target)
{
	if (deterministic(target))
		return true;
	return source && !deterministic(source) &&
		same(source->v[COL_PROVIDER], target->v[COL_PROVIDER]) &&
		same(source->v[COL_LOCALE], target->v[COL_LOCALE]);
}

/* Note a pair that differs, once. */
static void
note_difference(const KeyColumn *source, const KeyColumn *target, List **notes)
{
	char	   *note;
	ListCell   *lc;

	if (source == NULL || (same(source->v[COL_PROVIDER], target->v[COL_PROVIDER]) &&
						   same(source->v[COL_LOCALE], target->v[COL_LOCALE]) &&
						   same(source->v[COL_VERSION], target->v[COL_VERSION]) &&
						   deterministic(source) == deterministic(target)))
		return;
	note = psprintf("%s on the source, %s here", show_collation(source), show_collation(target));
	foreach(lc, *notes)
		if (strcmp(lfirst(lc), note) == 0)
		return;
	*notes = lappend(*notes, note);
}

static char *
name_of(Oid relid)
{
	return sl_paste_table(get_namespace_name(get_rel_namespace(relid)),
						  get_rel_name(relid));
}

/* Keys of tables that are there. */
static void
check_existing(SlPreflight *p, List *source, List **notes)
{
	ListCell   *lc;

	foreach(lc, target_keys(p))
	{
		KeyColumn  *t = lfirst(lc);
		const KeyColumn *k = same_column(p, source, t);

		if (means_the_same(k, t))
			note_difference(k, t, notes);
		else
			sl_check_add(p, "target", "key_collation", false,
						 psprintf("%s: unique key %s compares column %s by collation %s, which equates different texts; on the source %s",
								  name_of(t->relid), t->v[COL_INDEX],
								  quote_identifier(t->v[COL_COLUMN]), show_collation(t),
								  k ? psprintf("it is %s", show_collation(k)) :
								  "that is no key"),
						 psprintf("ALTER TABLE %s ALTER COLUMN %s TYPE %s COLLATE pg_catalog.\"C\";",
								  name_of(t->relid), sl_paste_ident(t->v[COL_COLUMN]),
								  t->v[COL_TYPE]));
	}
}

/* Keys of tables that will be built, whose collations are there. */
static void
check_planned(SlPreflight *p, List *source, List **notes)
{
	ListCell   *lc;

	foreach(lc, source)
	{
		KeyColumn  *k = lfirst(lc);
		const char *params[2];
		List	   *found;
		int			i;

		for (i = 0; i < p->ntables && p->tables[i].relid != k->relid; i++)
			;
		if (i == p->ntables || OidIsValid(p->targets[i]))
			continue;
		params[0] = strcmp(k->v[COL_SCHEMA], "pg_catalog") == 0 ? k->v[COL_SCHEMA] :
			sl_stream_target_schema(p->stream, k->v[COL_SCHEMA]);
		params[1] = k->v[COL_NAME];
		found = target_rows(BY_NAME_SQL, COL_RELID, 2, params);
		if (found == NIL)
			continue;
		if (means_the_same(k, linitial(found)))
			note_difference(k, linitial(found), notes);
		else
			sl_check_add(p, "target", "key_collation", false,
						 psprintf("%s: unique key %s would compare column %s by %s; on the source it is %s",
								  sl_show_table(p->tables[i].schema, p->tables[i].name),
								  k->v[COL_INDEX], quote_identifier(k->v[COL_COLUMN]),
								  show_collation(linitial(found)), show_collation(k)),
						 NULL);
	}
}

/* See preflight_int.h. */
void
sl_check_collations(SlPreflight *p)
{
	List	   *source = source_keys(p);
	List	   *notes = NIL;
	ListCell   *lc;

	check_existing(p, source, &notes);
	check_planned(p, source, &notes);
	foreach(lc, notes)
		sl_check_add(p, "target", "collation", true, lfirst(lc), NULL);
}

/* See preflight_int.h. */
void
sl_check_encoding(SlPreflight *p, const char *source)
{
	int			from = pg_char_to_encoding(source);
	int			here = GetDatabaseEncoding();

	if (from == here || here == PG_SQL_ASCII)
		return;
	if (from == PG_SQL_ASCII)
		sl_check_add(p, "source", "encoding", false,
					 psprintf("the source's encoding is SQL_ASCII, so nobody knows what its texts mean in %s; the target's database must be of encoding SQL_ASCII too",
							  GetDatabaseEncodingName()),
					 NULL);
	else if (here != PG_UTF8)
		sl_check_add(p, "target", "encoding", true,
					 psprintf("the source's encoding is %s; a text with a character that %s does not have stops the stream",
							  source, GetDatabaseEncodingName()), NULL);
}
