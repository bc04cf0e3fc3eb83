/*
 * shape_test.c
 *	  Shapes: copy, look-up, differences, fingerprints, names.
 */
#include "common/sl_sha256.h"
#include "common/sl_shape.h"
#include "unit.h"

#define KNOWN SL_EVIDENCE_NOW

static SlShape
shape_of(SlColumn *cols, int ncols)
{
	SlShape		s = {.wireid = 1, .relid = 100, .schema = "public", .name = "t",
	.relkind = 'r', .replident = 'd', .evidence = KNOWN, .ncols = ncols, .cols = cols};

	return s;
}

#define COL(n, num, oid, type) \
	{.name = n, .attnum = num, .typid = oid, .typmod = -1, .type_name = type}

static void
copies(void)
{
	SlColumn	cols[] = {COL("id", 1, 23, "integer"), COL("v", 2, 25, NULL)};
	SlShape		s = shape_of(cols, 2);
	SlShape    *copy;
	char		name[] = "t";

	s.name = name;
	cols[0].flags = SL_COL_KEY;
	cols[1].collation = "pg_catalog.\"C\"";
	cols[1].dflt = "'x'::text";
	cols[1].source_type = "tinytext";
	s.natts = 5;
	copy = sl_shape_copy(&s);
	name[0] = 'x';
	memset(cols, 0, sizeof(cols));
	CHECK(strcmp(copy->name, "t") == 0 && strcmp(copy->schema, "public") == 0);
	CHECK(copy->ncols == 2 && copy->relid == 100 && copy->replident == 'd');
	CHECK(strcmp(copy->cols[0].name, "id") == 0 && copy->cols[0].flags == SL_COL_KEY);
	CHECK(strcmp(copy->cols[0].type_name, "integer") == 0);
	CHECK(copy->cols[1].type_name == NULL);
	CHECK(strcmp(copy->cols[1].collation, "pg_catalog.\"C\"") == 0);
	CHECK(strcmp(copy->cols[1].dflt, "'x'::text") == 0 && copy->cols[0].dflt == NULL);
	CHECK(strcmp(copy->cols[1].source_type, "tinytext") == 0 && copy->cols[0].source_type == NULL);
	CHECK(copy->natts == 5);
	CHECK(sl_shape_find(copy, "v") == 1 && sl_shape_find(copy, "V") == -1);
	sl_shape_free(copy);
	sl_shape_free(NULL);

	s = shape_of(NULL, 0);
	copy = sl_shape_copy(&s);
	CHECK(copy->ncols == 0 && sl_shape_find(copy, "id") == -1);
	sl_shape_free(copy);
}

static void
same_on_wire(void)
{
	SlColumn	a_cols[] = {COL("id", 1, 23, "integer"), COL("v", 2, 25, "text")};
	SlColumn	b_cols[] = {COL("id", 0, 23, NULL), COL("v", 0, 25, NULL)};
	SlShape		a = shape_of(a_cols, 2);
	SlShape		b = shape_of(b_cols, 2);

	b.relid = 0;
	b.evidence = SL_EVIDENCE_WIRE;
	a_cols[0].flags = SL_COL_KEY | SL_COL_NOT_NULL | SL_COL_PRIMARY;
	b_cols[0].flags = SL_COL_KEY;
	CHECK(sl_shape_same_on_wire(&a, &b));

#define DIFFERS(set, reset) \
	do { set; CHECK(!sl_shape_same_on_wire(&a, &b)); \
		CHECK(!sl_shape_same_on_wire(&b, &a)); reset; \
		CHECK(sl_shape_same_on_wire(&a, &b)); } while (0)
	DIFFERS(b_cols[0].flags = 0, b_cols[0].flags = SL_COL_KEY);
	DIFFERS(b_cols[1].typmod = 5, b_cols[1].typmod = -1);
	DIFFERS(b_cols[1].typid = 1043, b_cols[1].typid = 25);
	DIFFERS(b_cols[1].name = "w", b_cols[1].name = "v");
	DIFFERS(b.replident = 'f', b.replident = 'd');
	DIFFERS(b.ncols = 1, b.ncols = 2);
	DIFFERS(b.name = "u", b.name = "t");
	DIFFERS(b.schema = "p", b.schema = "public");
}

/* Differences from a to b as their lines, each ended by a semicolon. */
static char *
lines(const SlShape *a, const SlShape *b)
{
	StringInfoData buf;
	SlDiff	   *diffs;
	int			n = sl_shape_diff(a, b, &diffs);

	initStringInfo(&buf);
	CHECK((n == 0) == (diffs == NULL));
	for (int i = 0; i < n; i++)
	{
		sl_diff_line(&buf, &diffs[i]);
		appendStringInfoChar(&buf, ';');
	}
	return buf.data;
}

static void
check_lines(const SlShape *a, const SlShape *b, const char *want)
{
	char	   *got = lines(a, b);

	CHECK_AT(strcmp(got, want) == 0, "got %s, wanted %s", got, want);
	pfree(got);
}

static void
differences(void)
{
	SlColumn	base[] = {COL("id", 1, 23, "integer"), COL("v", 2, 25, "text"),
	COL("n", 3, 1700, "numeric(10,2)")};
	SlColumn	c[4];
	SlShape		a = shape_of(base, 3);
	SlShape		b = shape_of(c, 3);
	static const SlColumn extra = COL("New", 4, 16, "boolean");

	base[0].flags = SL_COL_KEY | SL_COL_NOT_NULL;
	base[1].collation = "pg_catalog.\"default\"";

#define FRESH() (memcpy(c, base, sizeof(base)), b = shape_of(c, 3))
	FRESH();
	check_lines(&a, &b, "");

	FRESH();
	c[3] = extra;
	b.ncols = 4;
	check_lines(&a, &b, "[column-added] public.t.\"New\" boolean;");
	check_lines(&b, &a, "[column-dropped] public.t.\"New\" boolean;");

	FRESH();
	c[1].name = "w";
	check_lines(&a, &b, "[column-renamed] public.t.v v -> w;");

	/* Dropped and added again: only the attnum tells. */
	FRESH();
	c[1].attnum = 4;
	check_lines(&a, &b, "[column-replaced] public.t.v column 2, text -> column 4, text;");

	/* Two names swapped are two renames, not nothing. */
	FRESH();
	c[1].name = "n";
	c[2].name = "v";
	check_lines(&a, &b, "[column-renamed] public.t.v v -> n;"
				"[column-renamed] public.t.n n -> v;");

	/* v dropped and n renamed to v. */
	FRESH();
	c[1] = c[2];
	c[1].name = "v";
	b.ncols = 2;
	check_lines(&a, &b, "[column-renamed] public.t.n n -> v;"
				"[column-dropped] public.t.v text;");

	FRESH();
	c[2].typmod = 655366;
	c[2].type_name = "numeric(10,2) ";
	check_lines(&a, &b, "[column-type] public.t.n numeric(10,2) -> numeric(10,2) ;");
	FRESH();
	c[1].typid = 50000;			/* a type of the same name */
	check_lines(&a, &b, "[column-type] public.t.v text (oid 25, typmod -1) -> "
				"text (oid 50000, typmod -1);");

	FRESH();
	c[1].typid = 50000;
	c[1].type_name = "\"my\ntype\"";	/* nothing breaks a line */
	check_lines(&a, &b, "[column-type] public.t.v text -> \"my\\000Atype\";");

	FRESH();
	c[1].flags = SL_COL_NOT_NULL;
	check_lines(&a, &b, "[column-nullability] public.t.v null -> not null;");
	FRESH();
	c[1].flags = SL_COL_GENERATED;
	check_lines(&a, &b, "[column-generated] public.t.v not generated -> stored;");
	FRESH();
	c[1].flags = SL_COL_GENERATED | SL_COL_VIRTUAL;
	check_lines(&a, &b, "[column-generated] public.t.v not generated -> virtual;");
	FRESH();
	c[1].collation = "public.ci";
	check_lines(&a, &b, "[column-collation] public.t.v pg_catalog.\"default\" -> public.ci;");

	FRESH();
	c[0] = base[1];
	c[1] = base[0];
	check_lines(&a, &b, "[column-order] public.t;");

	FRESH();
	b.replident = 'f';
	check_lines(&a, &b, "[replica-identity] public.t default (id) -> full;");
	FRESH();
	c[0].flags &= ~SL_COL_KEY;
	c[1].flags |= SL_COL_KEY;
	check_lines(&a, &b, "[replica-identity] public.t default (id) -> default (v);");
	FRESH();
	c[0].flags &= ~SL_COL_KEY;
	b.replident = 'n';
	check_lines(&a, &b, "[replica-identity] public.t default (id) -> nothing;");
	FRESH();
	c[0].name = "key";			/* the same column still */
	check_lines(&a, &b, "[column-renamed] public.t.id id -> key;");

	FRESH();
	b.name = "u";
	check_lines(&a, &b, "[table-renamed] public.t public.t -> public.u;");
	FRESH();
	b.relid = 200;
	check_lines(&a, &b, "[table-recreated] public.t oid 100 -> oid 200;");

	/* Worst first. */
	FRESH();
	b.relid = 200;
	b.name = "u";
	c[1].name = "w";
	c[2].typid = 20;
	c[2].type_name = "bigint";
	c[0].flags &= ~SL_COL_NOT_NULL;
	check_lines(&a, &b, "[table-recreated] public.t oid 100 -> oid 200;"
				"[table-renamed] public.t public.t -> public.u;"
				"[column-renamed] public.t.v v -> w;"
				"[column-type] public.t.n numeric(10,2) -> bigint;"
				"[column-nullability] public.t.id not null -> null;");
}

/* What one side does not know is no difference. */
static void
unknowns(void)
{
	SlColumn	base[] = {COL("id", 1, 23, "integer"), COL("v", 2, 25, "text")};
	SlColumn	c[] = {COL("id", 0, 23, NULL), COL("v", 0, 25, NULL)};
	SlShape		a = shape_of(base, 2);
	SlShape		b = shape_of(c, 2);

	base[0].flags = SL_COL_KEY | SL_COL_NOT_NULL;
	c[0].flags = SL_COL_KEY;
	b.evidence = SL_EVIDENCE_WIRE;
	b.relid = 0;
	check_lines(&a, &b, "");
	check_lines(&b, &a, "");
	b.replident = 0;
	c[0].flags = 0;
	check_lines(&a, &b, "");

	/* Without attnums a rename is a drop and an add. */
	b.replident = 'd';
	c[0].flags = SL_COL_KEY;
	c[1].name = "w";
	check_lines(&a, &b, "[column-dropped] public.t.v text;"
				"[column-added] public.t.w type 25, typmod -1;");

	/* Other engines have no type oids. */
	c[1].name = "v";
	c[1].typid = 0;
	c[1].type_name = "varchar(10)";
	check_lines(&a, &b, "[column-type] public.t.v text -> varchar(10);");
	c[1].type_name = "text";
	check_lines(&a, &b, "");

	/* ... but types of their own, of which several are one here */
	base[1].source_type = "text";
	check_lines(&a, &b, "");
	c[1].source_type = "text";
	check_lines(&a, &b, "");
	c[1].source_type = "tinytext";
	check_lines(&a, &b, "[column-source-type] public.t.v text -> tinytext;");
	c[1].type_name = "varchar(10)";
	check_lines(&a, &b, "[column-type] public.t.v text -> varchar(10);");
}

static void
widest(void)
{
	SlColumn   *a_cols = palloc0(sizeof(SlColumn) * SL_MAX_COLUMNS);
	SlColumn   *b_cols = palloc0(sizeof(SlColumn) * SL_MAX_COLUMNS);
	char		names[2][SL_MAX_COLUMNS][8];
	SlShape		a = shape_of(a_cols, SL_MAX_COLUMNS);
	SlShape		b = shape_of(b_cols, SL_MAX_COLUMNS);
	SlDiff	   *diffs;

	for (int i = 0; i < SL_MAX_COLUMNS; i++)
	{
		snprintf(names[0][i], sizeof(names[0][i]), "a%d", i);
		snprintf(names[1][i], sizeof(names[1][i]), "b%d", i);
		a_cols[i].name = names[0][i];
		b_cols[i].name = names[1][i];
		a_cols[i].attnum = b_cols[SL_MAX_COLUMNS - 1 - i].attnum = i + 1;
		a_cols[i].typid = 23;
		b_cols[i].typid = 25;
		a_cols[i].flags = SL_COL_GENERATED | SL_COL_KEY;
		b_cols[i].flags = SL_COL_NOT_NULL;
		a_cols[i].collation = "x";
		b_cols[i].collation = "y";
	}
	a.relid = 5;
	a.name = "other";
	/* Per column renamed, type, nullability, generated, collation. */
	CHECK(sl_shape_diff(&a, &b, &diffs) == 5 * SL_MAX_COLUMNS + 4);
	CHECK(diffs[0].kind == SL_DIFF_TABLE_RECREATED);
	CHECK(diffs[5 * SL_MAX_COLUMNS + 3].kind == SL_DIFF_COLUMN_ORDER);
}

static void
fingerprints(void)
{
	SlColumn	cols[] = {COL("id", 1, 23, "integer"), COL("v", 2, 25, "text")};
	SlShape		s = shape_of(cols, 2);
	char		first[13];
	char		f[13];

	sl_shape_fingerprint(&s, first);
	CHECK(strlen(first) == 12 && strspn(first, "0123456789abcdef") == 12);

	/* Object ids, attnums, position and evidence are not in it. */
	s.relid = 7;
	s.wireid = 8;
	s.lsn = 9;
	s.evidence = SL_EVIDENCE_CHANGE;
	cols[0].attnum = 5;
	sl_shape_fingerprint(&s, f);
	CHECK(strcmp(first, f) == 0);

#define CHANGES(set, reset) \
	do { set; sl_shape_fingerprint(&s, f); CHECK(strcmp(first, f) != 0); \
		reset; sl_shape_fingerprint(&s, f); CHECK(strcmp(first, f) == 0); } while (0)
	CHANGES(cols[0].name = "i", cols[0].name = "id");
	CHANGES(cols[0].typid = 20, cols[0].typid = 23);
	CHANGES(cols[0].typmod = 4, cols[0].typmod = -1);
	CHANGES(cols[0].flags = SL_COL_KEY, cols[0].flags = 0);
	CHANGES(cols[0].type_name = NULL, cols[0].type_name = "integer");
	CHANGES(cols[0].collation = "x", cols[0].collation = NULL);
	CHANGES(cols[0].source_type = "x", cols[0].source_type = NULL);
	CHANGES(s.replident = 'f', s.replident = 'd');
	CHANGES(s.ncols = 1, s.ncols = 2);
	CHANGES(s.schema = "p", s.schema = "public");

	/* Texts cannot run into each other. */
	CHANGES((s.schema = "publict", s.name = ""), (s.schema = "public", s.name = "t"));
}

static void
sha256_vectors(void)
{
	static const struct
	{
		const char *text;
		const char *prefix;		/* twelve digits of the digest */
	}			rows[] = {
		{"", "e3b0c44298fc"},
		{"abc", "ba7816bf8f01"},
		{"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", "248d6a61d206"},
		{"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
		"hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu", "cf5b16a778af"},
	};
	char		out[13];
	char	   *million = palloc(1000000);
	uint8		digest[SL_SHA256_BYTES];

	for (size_t i = 0; i < lengthof(rows); i++)
	{
		sl_fingerprint(rows[i].text, strlen(rows[i].text), out);
		CHECK_AT(strcmp(out, rows[i].prefix) == 0, "%s: %s", rows[i].text, out);
	}
	memset(million, 'a', 1000000);
	sl_sha256(million, 1000000, digest);
	CHECK(digest[0] == 0xcd && digest[1] == 0xc7 && digest[2] == 0x6e &&
		  digest[30] == 0x2c && digest[31] == 0xd0);

	/* Lengths around a block: the tail takes one block or two. */
	sl_fingerprint(million, 55, out);
	CHECK(strcmp(out, "9f4390f8d30c") == 0);
	sl_fingerprint(million, 56, out);
	CHECK(strcmp(out, "b35439a4ac6f") == 0);
	sl_fingerprint(million, 64, out);
	CHECK(strcmp(out, "ffe054fe7ae0") == 0);
	pfree(million);
}

static void
identifiers(void)
{
	static const struct
	{
		const char *ident;
		const char *want;
	}			rows[] = {
		{"plain", "plain"},
		{"_a1", "_a1"},
		{"1a", "\"1a\""},
		{"Upper", "\"Upper\""},
		{"with space", "\"with space\""},
		{"with\"quote", "\"with\"\"quote\""},
		{"", "\"\""},
		{"select", "\"select\""},	/* reserved */
		{"values", "\"values\""},	/* not as a function or type */
		{"abort", "abort"},		/* not reserved */
		{"\xC3\xA9t\xC3\xA9", "\"\xC3\xA9t\xC3\xA9\""},
		{"a\nb", "U&\"a\\000Ab\""},
		{"a\\\nb", "U&\"a\\\\\\000Ab\""},
		{"a\\b", "\"a\\b\""},
		{"a\x7F", "U&\"a\\007F\""},
		{"a\xC2\x9B", "U&\"a\\009B\""}, /* C1 */
		{"a\xE2\x80\xAE\"", "U&\"a\\202E\"\"\""},	/* turns the line */
		{"a\xEF\xBB\xBF", "U&\"a\\FEFF\""},
		{"a\xE2\x80", "\"a\xE2\x80\""}, /* cut short: left alone */
		{"\x1b[2J", "U&\"\\001B[2J\""},
	};

	for (size_t i = 0; i < lengthof(rows); i++)
	{
		StringInfoData buf;

		initStringInfo(&buf);
		sl_append_ident(&buf, rows[i].ident);
		CHECK_AT(strcmp(buf.data, rows[i].want) == 0, "row %zu: %s", i, buf.data);
		pfree(buf.data);
	}
}

int
main(void)
{
	RUN(copies);
	RUN(same_on_wire);
	RUN(differences);
	RUN(unknowns);
	RUN(widest);
	RUN(fingerprints);
	RUN(sha256_vectors);
	RUN(identifiers);
	return UNIT_END();
}
