/*
 * target.c
 *	  The one table from MySQL's types to PostgreSQL's: what a column becomes,
 *	  which overrides there are, what is lost.
 *
 * NOTES
 *	  A pair in the table holds every value, or refuses the values it cannot
 *	  hold one by one (the codec's writers).  A pair that is not in it would
 *	  change values, or has no meaning.  docs/types.md says the same to people.
 */
#include "bridge/types/pgtype.h"

#include "common/sl_record.h"

#define B(kind)		PG_BIT_OF(PG_##kind)
#define WHOLE		(B(INT2) | B(INT4) | B(INT8) | B(NUMERIC))
#define TEXTS		(B(TEXT) | B(VARCHAR))
#define PADDED		(TEXTS | B(BPCHAR))
#define FLOATS		(B(FLOAT4) | B(FLOAT8))
#define DOCUMENTS	(B(JSON) | B(JSONB))
#define NUMBER		(WHOLE | B(BOOL) | FLOATS | PADDED)
#define CHARS		(PADDED | B(BYTEA) | DOCUMENTS | B(UUID) | B(INET) | WHOLE | B(NAMED))
#define BYTES		(B(BYTEA) | B(UUID) | B(INET) | TEXTS | DOCUMENTS)

/* The PostgreSQL types that can hold a kind's values, all or one by one. */
static const uint32 pairs[MY_NKINDS] = {
	[MY_TINYINT] = NUMBER,
	[MY_SMALLINT] = NUMBER,
	[MY_MEDIUMINT] = NUMBER,
	[MY_INT] = NUMBER,
	[MY_BIGINT] = NUMBER,
	[MY_YEAR] = WHOLE | PADDED,
	[MY_DECIMAL] = WHOLE | B(BOOL) | TEXTS,
	[MY_FLOAT] = FLOATS | B(NUMERIC) | TEXTS,
	[MY_DOUBLE] = FLOATS | B(NUMERIC) | TEXTS,
	[MY_BIT] = B(BIT) | B(VARBIT) | B(BOOL) | WHOLE | B(BYTEA) | TEXTS,
	[MY_DATE] = B(DATE) | B(TIMESTAMP) | PADDED,
	[MY_TIME] = B(INTERVAL) | B(TIME) | PADDED,
	[MY_DATETIME] = B(TIMESTAMP) | B(TIMESTAMPTZ) | B(DATE) | PADDED,
	[MY_TIMESTAMP] = B(TIMESTAMPTZ) | B(TIMESTAMP) | PADDED,
	[MY_CHAR] = CHARS,
	[MY_VARCHAR] = CHARS,
	[MY_TEXT] = CHARS,
	[MY_BINARY] = BYTES,
	[MY_VARBINARY] = BYTES,
	[MY_BLOB] = BYTES,
	[MY_ENUM] = PADDED | B(NAMED),
	[MY_SET] = B(TEXT_ARRAY) | TEXTS,
	[MY_JSON] = DOCUMENTS | TEXTS,
	[MY_GEOMETRY] = B(NAMED) | B(BYTEA) | B(TEXT),
	[MY_VECTOR] = B(FLOAT4_ARRAY) | B(FLOAT8_ARRAY) | B(NAMED) | B(BYTEA) | B(TEXT),
	[MY_UUID] = B(UUID) | PADDED | B(BYTEA),
	[MY_INET4] = B(INET) | PADDED | B(BYTEA),
	[MY_INET6] = B(INET) | PADDED | B(BYTEA),
};

/* ---------- defaults ---------- */

static PgType
plain(PgKind kind)
{
	PgType		pg = {kind};

	return pg;
}

static PgType
sized(PgKind kind, int32 n)
{
	PgType		pg = {kind, 1, {n}};

	return pg;
}

static PgType
precise(int32 precision, int32 scale)
{
	PgType		pg = {PG_NUMERIC, 2, {precision, scale}};

	return pg;
}

static PgType
named(const char *name)
{
	PgType		pg = {PG_NAMED};

	pg.name = name;
	return pg;
}

static PgType
integer_default(const MyType *t)
{
	bool		u = t->is_unsigned;

	switch (t->kind)
	{
		case MY_TINYINT:
			return plain(t->display_one && !t->auto_increment ? PG_BOOL : PG_INT2);
		case MY_SMALLINT:
			return plain(u ? PG_INT4 : PG_INT2);
		case MY_MEDIUMINT:
			return plain(PG_INT4);
		case MY_INT:
			return plain(u ? PG_INT8 : PG_INT4);
		default:
			if (u && !t->auto_increment)
				return precise(20, 0);
			return plain(PG_INT8);
	}
}

/* PostGIS's names of what MySQL calls the same. */
static const char *
geometry_name(const char *mysql)
{
	static const char *const pairs_of[][2] = {
		{"point", "Point"}, {"linestring", "LineString"}, {"polygon", "Polygon"},
		{"multipoint", "MultiPoint"}, {"multilinestring", "MultiLineString"},
		{"multipolygon", "MultiPolygon"}, {"geometrycollection", "GeometryCollection"},
	};

	for (int i = 0; i < lengthof(pairs_of); i++)
		if (strcmp(pairs_of[i][0], mysql) == 0)
			return pairs_of[i][1];
	return "Geometry";
}

/* name: room for the name of a type that is not built in. */
static PgType
geometry_default(const MyType *t, char *name, size_t size)
{
	const char *kind = geometry_name(t->geometry);

	if (t->srid > 0)
		snprintf(name, size, "geometry(%s,%lld)", kind, (long long) t->srid);
	else if (strcmp(kind, "Geometry") == 0)
		snprintf(name, size, "geometry");
	else
		snprintf(name, size, "geometry(%s)", kind);
	return named(name);
}

static PgType
default_type(const MyType *t, const char *enum_name, char *name, size_t size)
{
	switch (t->kind)
	{
		case MY_TINYINT:
		case MY_SMALLINT:
		case MY_MEDIUMINT:
		case MY_INT:
		case MY_BIGINT:
			return integer_default(t);
		case MY_DECIMAL:
			return precise((int32) t->length, t->decimals);
		case MY_FLOAT:
			return plain(PG_FLOAT4);
		case MY_DOUBLE:
			return plain(PG_FLOAT8);
		case MY_BIT:
			return t->length == 1 ? plain(PG_BOOL) : sized(PG_BIT, (int32) t->length);
		case MY_YEAR:
			return plain(PG_INT2);
		case MY_DATE:
			return plain(PG_DATE);
		case MY_TIME:
			return sized(PG_INTERVAL, t->decimals);
		case MY_DATETIME:
			return sized(PG_TIMESTAMP, t->decimals);
		case MY_TIMESTAMP:
			return sized(PG_TIMESTAMPTZ, t->decimals);
		case MY_CHAR:
			return sized(PG_BPCHAR, (int32) t->length);
		case MY_VARCHAR:
			return sized(PG_VARCHAR, (int32) t->length);
		case MY_BINARY:
		case MY_VARBINARY:
		case MY_BLOB:
			return plain(PG_BYTEA);
		case MY_ENUM:
			if (enum_name != NULL)
			{
				snprintf(name, size, "%s", enum_name);
				return named(name);
			}
			return plain(PG_TEXT);
		case MY_SET:
			return plain(PG_TEXT_ARRAY);
		case MY_JSON:
			return plain(PG_JSONB);
		case MY_GEOMETRY:
			return geometry_default(t, name, size);
		case MY_VECTOR:
			return plain(PG_FLOAT4_ARRAY);
		case MY_UUID:
			return plain(PG_UUID);
		case MY_INET4:
		case MY_INET6:
			return plain(PG_INET);
		default:
			return plain(PG_TEXT);
	}
}

/* ---------- pairs that depend on more than the kinds ---------- */

static bool
impossible(SlError *err, const MyType *t, const PgType *pg, const char *why, const char *remedy)
{
	char		name[MY_TYPE_NAME];

	pg_type_name(pg, name, sizeof(name));
	return sl_error_set(err, SL_ERR_UNSUPPORTED, 0, "%s cannot become %.60s: %s; %s",
						my_kind_name(t->kind), name, why, remedy);
}

/* Names of the kinds in mask, as far as there is room. */
static void
list_kinds(uint32 mask, char *buf, size_t size)
{
	size_t		n = 0;

	buf[0] = '\0';
	for (int k = 0; k <= PG_NAMED && n < size; k++)
		if (mask & PG_BIT_OF(k))
			n += snprintf(buf + n, size - n, "%s%s", n > 0 ? ", " : "", pg_kind_name(k));
}

static bool
judge_numeric(const MyType *t, const PgType *pg, SlError *err)
{
	if (pg->nargs < 2)
		return true;
	if (t->kind == MY_FLOAT || t->kind == MY_DOUBLE)
		return impossible(err, t, pg, "values would be rounded", "override it with numeric");
	if (pg->args[1] < 0)
		return impossible(err, t, pg, "values would be rounded", "give it a scale from 0");
	return true;
}

static bool
judge_bits(const MyType *t, const PgType *pg, SlError *err)
{
	if (pg->kind == PG_BIT && pg->args[0] != (int32) t->length)
		return impossible(err, t, pg, "the number of bits differs", "override it with bit varying");
	if (pg->kind == PG_VARBIT && pg->nargs == 1 && pg->args[0] < (int32) t->length)
		return impossible(err, t, pg, "it has too few bits", "override it with bit varying");
	return true;
}

static bool
judge_enum(const MyType *t, const PgType *pg, SlError *err)
{
	for (int i = 0; i < t->nlabels; i++)
		if (strlen(t->labels[i]) > 63)
			return impossible(err, t, pg, "a label has more than 63 bytes", "override it with text");
	return true;
}

/* {} and {''} are one text at the source. */
static bool
judge_set(const MyType *t, const PgType *pg, SlError *err)
{
	for (int i = 0; i < t->nlabels; i++)
		if (t->labels[i][0] == '\0')
			return impossible(err, t, pg, "the empty label cannot be told from the empty set",
							  "override it with text");
	return true;
}

static bool
judge_geometry(const MyType *t, const PgType *pg, SlError *err)
{
	if (pg_strncasecmp(pg->name, "geometry", 8) != 0 && pg_strncasecmp(pg->name, "geography", 9) != 0 &&
		strchr(pg->name, '.') == NULL)
		return impossible(err, t, pg, "it is not a type of PostGIS", "override it with geometry or bytea");
	if (t->srid > 999999)
		return impossible(err, t, pg, "PostGIS has no SRID above 999999", "override it with bytea");
	return true;
}

static bool
judge_vector(const MyType *t, const PgType *pg, SlError *err)
{
	if (strstr(pg->name, "halfvec") != NULL || strstr(pg->name, "sparsevec") != NULL ||
		strstr(pg->name, "vector") == NULL)
		return impossible(err, t, pg, "it does not hold these numbers",
						  "override it with vector or real[]");
	return true;
}

/* CHAR(0): '' and NULL. */
static bool
judge_empty(const MyType *t, const PgType *pg, SlError *err)
{
	if (pg->kind == PG_BOOL || pg->kind == PG_TEXT)
		return true;
	return impossible(err, t, pg, "a length of 0 is none in PostgreSQL",
					  "override it with text, or boolean ('' is true)");
}

static bool
judge_pair(const MyType *t, const PgType *pg, SlError *err)
{
	char		list[120];

	if ((t->kind == MY_CHAR || t->kind == MY_VARCHAR) && t->length == 0)
		return judge_empty(t, pg, err);
	if (!(pairs[t->kind] & PG_BIT_OF(pg->kind)))
	{
		list_kinds(pairs[t->kind] & ~B(NAMED), list, sizeof(list));
		return sl_error_set(err, SL_ERR_UNSUPPORTED, 0, "%s cannot become %.24s; override it with %s",
							my_kind_name(t->kind),
							pg->kind == PG_NAMED ? pg->name : pg_kind_name(pg->kind), list);
	}
	if (pg->kind == PG_NUMERIC)
		return judge_numeric(t, pg, err);
	if (pg->kind == PG_BIT || pg->kind == PG_VARBIT)
		return judge_bits(t, pg, err);
	if (pg->kind == PG_TEXT_ARRAY)
		return judge_set(t, pg, err);
	if (pg->kind != PG_NAMED)
		return true;
	return t->kind == MY_ENUM ? judge_enum(t, pg, err) :
		t->kind == MY_GEOMETRY ? judge_geometry(t, pg, err) :
		t->kind == MY_VECTOR ? judge_vector(t, pg, err) : true;
}

/* Digits of a second in MariaDB's old storage are not described in the log. */
static bool
judge_storage(const MyType *t, SlError *err)
{
	if (t->old_mariadb)
		return sl_error_set(err, SL_ERR_UNSUPPORTED, 0,
							"%s in the storage of MariaDB 5.3 cannot be read from the binary log; "
							"SET GLOBAL mysql56_temporal_format = ON, then ALTER TABLE ... FORCE",
							my_kind_name(t->kind));
	return true;
}

/* ---------- what people should know ---------- */

static const char *
integer_note(const MyType *t, PgKind to)
{
	if (t->display_one && to == PG_BOOL)
		return "values other than 0 and 1 are refused; smallint holds them";
	if (to == PG_BOOL)
		return "values other than 0 and 1 are refused";
	if (t->kind == MY_BIGINT && t->is_unsigned && to == PG_INT8)
		return "values above 9223372036854775807 are refused; numeric(20,0) holds them";
	if (t->zerofill && !(PG_BIT_OF(to) & PADDED))
		return "leading zeros are not kept; text keeps them";
	if (t->is_unsigned)
		return "unsigned: the target also takes numbers below zero";
	return NULL;
}

static const char *
time_note(const MyType *t, PgKind to)
{
	if (PG_BIT_OF(to) & PADDED)
		return t->kind == MY_TIMESTAMP ? "in UTC" : NULL;
	switch (t->kind)
	{
		case MY_TIME:
			return to == PG_TIME ? "values below 00:00 and from 24:00 on are refused; interval holds them" : NULL;
		case MY_DATETIME:
			return to == PG_TIMESTAMPTZ ? "taken as UTC" :
				to == PG_DATE ? "values with a time of day are refused" : NULL;
		case MY_TIMESTAMP:
			return to == PG_TIMESTAMP ? "in UTC, without saying so" : NULL;
		default:
			return NULL;
	}
}

static const char *
note_of(const MyType *t, PgKind to)
{
	switch (t->kind)
	{
		case MY_TINYINT:
		case MY_SMALLINT:
		case MY_MEDIUMINT:
		case MY_INT:
		case MY_BIGINT:
			return integer_note(t, to);
		case MY_DATE:
		case MY_TIME:
		case MY_DATETIME:
		case MY_TIMESTAMP:
			return time_note(t, to);
		case MY_CHAR:
		case MY_VARCHAR:
		case MY_TEXT:
			return to == PG_BYTEA ? "the bytes of the source's character set" :
				to == PG_JSONB ? "a document with a repeated key is refused; json holds it" :
				"compared by the target's collation, not by the source's";
		case MY_ENUM:
			return to == PG_NAMED ? "an invalid value ('') is refused; text holds it" : NULL;
		case MY_JSON:
			return to == PG_JSONB && t->charset != NULL ?
				"a document with a repeated key is refused; json holds it" : NULL;
		case MY_GEOMETRY:
			return to == PG_NAMED ? NULL : "EWKB, X = longitude";
		default:
			return NULL;
	}
}

bool
my_type_target(const MyType *t, const char *override, const char *enum_name,
			   MyTarget *target, SlError *err)
{
	char		name[MY_TYPE_NAME];
	PgType		pg;

	if (override == NULL)
		pg = default_type(t, enum_name, name, sizeof(name));
	else if (!pg_type_parse(override, &pg, err))
		return false;
	if (!judge_storage(t, err) || !judge_pair(t, &pg, err))
		return false;
	target->typid = pg_type_oid(pg.kind);
	target->typmod = pg_type_typmod(&pg);
	pg_type_name(&pg, target->type_name, sizeof(target->type_name));
	target->form = SL_CELL_BINARY;

	/*
	 * Receive functions of types known by name are not the bridge's to
	 * choose.
	 */
	if (pg.kind == PG_NAMED)
		target->form = SL_CELL_TEXT;
	/* Text that another type's input function reads. */
	if (pairs[t->kind] == CHARS && !(PG_BIT_OF(pg.kind) & (PADDED | B(BYTEA) | DOCUMENTS | B(BOOL))))
		target->form = SL_CELL_TEXT;
	if (pg.kind == PG_NUMERIC && (t->kind == MY_FLOAT || t->kind == MY_DOUBLE))
		target->form = SL_CELL_TEXT;
	target->note = note_of(t, pg.kind);
	return true;
}
