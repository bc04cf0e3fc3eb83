/*
 * change_test.c
 *	  What happened between two shapes, a cell each; and that attnums are claimed
 *	  only where they are true, over random histories of a table.
 *
 * A shape is written "id:1:k a:2 b:0:T5": name, attnum, and letters: k key,
 * p primary, n not null, d default, i identity, c another collation, x partial,
 * T and a digit another type, M and a digit another modifier.
 */
#include "common/sl_change.h"
#include "unit.h"

#define WIRE	SL_EVIDENCE_WIRE
#define NOW		SL_EVIDENCE_NOW
#define CHANGE	SL_EVIDENCE_CHANGE

static void
set_letter(SlColumn *c, const char **p)
{
	static const struct
	{
		char		letter;
		uint8		flag;
	}			flags[] = {{'k', SL_COL_KEY}, {'p', SL_COL_PRIMARY}, {'n', SL_COL_NOT_NULL},
	{'d', SL_COL_DEFAULT}, {'i', SL_COL_IDENTITY}, {'x', SL_COL_PARTIAL}};

	for (size_t i = 0; i < lengthof(flags); i++)
		if (flags[i].letter == **p)
			c->flags |= flags[i].flag;
	if (**p == 'd')
		c->dflt = "1";
	if (**p == 'c')
		c->collation = "pg_catalog.\"C\"";
	if (**p == 'T')
		c->typid = 100 + *++*p;
	else if (**p == 'M')
		c->typmod = *++*p;
}

static SlShape *
shape_of(const char *text, SlEvidence evidence)
{
	SlShape    *s = palloc0(sizeof(SlShape));

	s->relid = 7;
	s->schema = "public";
	s->name = "t";
	s->replident = 'd';
	s->evidence = evidence;
	s->cols = palloc0(sizeof(SlColumn) * 20);
	while (*text != '\0')
	{
		SlColumn   *c = &s->cols[s->ncols++];
		size_t		len = strcspn(text, ":");
		char	   *name = palloc0(len + 1);

		memcpy(name, text, len);
		c->name = name;
		c->typid = 25;
		c->typmod = -1;
		c->collation = "pg_catalog.\"default\"";
		c->attnum = (int32) strtol(text + len + 1, (char **) &text, 10);
		if (*text == ':')
			for (text++; *text != ' ' && *text != '\0'; text++)
				set_letter(c, &text);
		text += *text == ' ';
	}
	return s;
}

static const char *
kinds_of(const SlChangeSet *set)
{
	StringInfoData buf;

	initStringInfo(&buf);
	for (int i = 0; i < set->n; i++)
		appendStringInfo(&buf, "%s%d:%d>%d", i > 0 ? " " : "", (int) set->columns[i].kind,
						 set->columns[i].before, set->columns[i].after);
	return buf.data;
}

static void
classes(void)
{
	static const struct
	{
		const char *what;
		const char *before;
		const char *after;
		SlEvidence	of_before;
		SlEvidence	of_after;
		SlChangeClass class;
		int			n;
	}			tests[] = {
		{"nothing", "id:1:k a:2", "id:1:k a:2", NOW, NOW, SL_CHANGE_NONE, 0},
		{"no columns", "", "", NOW, NOW, SL_CHANGE_NONE, 0},
		{"default and identity are the door's", "id:1:k a:2", "id:1:ki a:2:d", CHANGE, CHANGE, SL_CHANGE_NONE, 0},
		{"nothing by name", "id:1:k a:2", "id:0:k a:0", NOW, WIRE, SL_CHANGE_NONE, 0},

		{"add", "id:1:k", "id:1:k a:2", NOW, NOW, SL_CHANGE_ADD, 1},
		{"add of all", "", "a:1", NOW, NOW, SL_CHANGE_ADD, 1},
		{"several adds", "id:1:k", "id:1:k a:3 b:4", NOW, NOW, SL_CHANGE_ADD, 2},
		{"add behind a drop of long ago", "id:1:k b:3", "id:1:k b:3 c:5", CHANGE, NOW, SL_CHANGE_ADD, 1},
		{"drop", "id:1:k a:2 b:3", "id:1:k b:3", NOW, NOW, SL_CHANGE_DROP, 1},
		{"several drops", "id:1:k a:2 b:3", "id:1:k", NOW, NOW, SL_CHANGE_DROP, 2},
		{"type", "id:1:k a:2", "id:1:k a:2:T1", NOW, NOW, SL_CHANGE_TYPE, 1},
		{"typmod", "id:1:k a:2:M1", "id:1:k a:2:M2", NOW, NOW, SL_CHANGE_TYPE, 1},
		{"type with its collation", "id:1:k a:2", "id:1:k a:2:T1c", NOW, NOW, SL_CHANGE_TYPE, 1},
		{"collation", "id:1:k a:2", "id:1:k a:2:c", NOW, NOW, SL_CHANGE_COLLATION, 1},
		{"collations", "id:1:k a:2 b:3", "id:1:k a:2:c b:3:c", NOW, NOW, SL_CHANGE_COLLATION, 2},
		{"collation of a partial column", "id:1:k a:2", "id:1:k a:2:cx", NOW, NOW, SL_CHANGE_NONE, 0},
		{"collation that the wire does not have", "id:1:k a:2", "id:0:k a:0:c", NOW, WIRE, SL_CHANGE_NONE, 0},
		{"nullability", "id:1:k a:2", "id:1:k a:2:n", CHANGE, CHANGE, SL_CHANGE_NULLABILITY, 1},
		{"nullability the other way", "id:1:k a:2:n", "id:1:k a:2", CHANGE, CHANGE, SL_CHANGE_NULLABILITY, 1},
		{"nullability as of now", "id:1:k a:2", "id:1:k a:2:n", NOW, NOW, SL_CHANGE_NONE, 0},
		{"nullability before as of now", "id:1:k a:2", "id:1:k a:2:n", NOW, CHANGE, SL_CHANGE_NONE, 0},
		{"nullability after as of now", "id:1:k a:2", "id:1:k a:2:n", CHANGE, NOW, SL_CHANGE_NONE, 0},
		{"two nullabilities", "id:1:k a:2 b:3", "id:1:k a:2:n b:3:n", CHANGE, CHANGE, SL_CHANGE_SEVERAL, 2},
		{"rename", "id:1:k a:2", "id:1:k b:2", NOW, NOW, SL_CHANGE_RENAME, 1},
		{"rename of the key", "id:1:k a:2", "no:1:k a:2", NOW, NOW, SL_CHANGE_RENAME, 1},
		{"rename to what was dropped long ago", "id:1:k a:3", "id:1:k b:3", NOW, NOW, SL_CHANGE_RENAME, 1},
		{"two renames", "id:1:k a:2 b:3", "id:1:k c:2 d:3", NOW, NOW, SL_CHANGE_SEVERAL, 2},

		{"swap", "id:1:k a:2 b:3", "id:1:k b:2 a:3", NOW, NOW, SL_CHANGE_ORDER, 2},
		{"rotation", "id:1:k a:2 b:3 c:4", "id:1:k b:2 c:3 a:4", NOW, NOW, SL_CHANGE_ORDER, 3},
		{"rotation the other way", "id:1:k a:2 b:3 c:4", "id:1:k c:2 a:3 b:4", NOW, NOW, SL_CHANGE_ORDER, 3},
		{"rotation of four", "a:1 b:2 c:3 d:4", "d:1 a:2 b:3 c:4", NOW, NOW, SL_CHANGE_ORDER, 4},
		{"two swaps", "a:1 b:2 c:3 d:4", "b:1 a:2 d:3 c:4", NOW, NOW, SL_CHANGE_ORDER, 4},
		{"swap by name", "id:1:k a:2 b:3", "id:0:k b:0 a:0", NOW, WIRE, SL_CHANGE_ORDER, 2},
		{"reorder of an engine that can", "id:1:k a:2 b:3", "id:1:k b:3 a:2", CHANGE, CHANGE, SL_CHANGE_NONE, 0},
		{"... by name", "id:0:k a:0 b:0", "id:0:k b:0 a:0", NOW, NOW, SL_CHANGE_ORDER, 2},
		{"... and a type", "a:1 b:2 c:3", "b:2:T1 c:3 a:1", CHANGE, CHANGE, SL_CHANGE_TYPE, 1},
		{"... and an added column", "id:1:k a:2 b:3", "c:4 b:3 id:1:k a:2", CHANGE, CHANGE, SL_CHANGE_ADD, 1},
		{"one moved to the end", "a:1 b:2 c:3", "b:2 c:3 a:1", CHANGE, CHANGE, SL_CHANGE_NONE, 0},
		{"swap and add", "a:1 b:2", "b:1 a:2 c:3", NOW, NOW, SL_CHANGE_SEVERAL, 3},
		{"swap and type", "a:1 b:2", "b:1 a:2:T1", NOW, NOW, SL_CHANGE_SEVERAL, 3},

		{"drop and add again", "id:1:k a:2", "id:1:k a:3", NOW, NOW, SL_CHANGE_REPLACED, 2},
		{"drop and add again with a type", "id:1:k a:2", "id:1:k a:3:T2", NOW, NOW, SL_CHANGE_REPLACED, 2},
		{"two added again", "id:1:k a:2 b:3", "id:1:k a:4 b:5", NOW, NOW, SL_CHANGE_REPLACED, 4},
		{"drop, and rename to it", "id:1:k a:2 b:3", "id:1:k a:3", NOW, NOW, SL_CHANGE_REPLACED, 2},
		{"rename, and add what it was", "id:1:k a:2", "id:1:k b:2 a:3", NOW, NOW, SL_CHANGE_REPLACED, 2},
		{"chain of renames", "id:1:k a:2 b:3", "id:1:k b:2 c:3", NOW, NOW, SL_CHANGE_REPLACED, 2},
		{"chain that ends in a drop", "a:1 b:2 c:3", "b:1 c:2", NOW, NOW, SL_CHANGE_REPLACED, 3},
		{"drop, rename to it, add what that was", "a:1 b:2", "a:2 b:3", NOW, NOW, SL_CHANGE_REPLACED, 3},
		{"added again and added", "id:1:k a:2", "id:1:k a:3 b:4", NOW, NOW, SL_CHANGE_SEVERAL, 3},

		{"add and drop", "id:1:k a:2", "id:1:k b:3", NOW, NOW, SL_CHANGE_SEVERAL, 2},
		{"add and rename", "id:1:k a:2", "id:1:k b:2 c:3", NOW, NOW, SL_CHANGE_SEVERAL, 2},
		{"drop and rename", "id:1:k a:2 b:3", "id:1:k c:3", NOW, NOW, SL_CHANGE_SEVERAL, 2},
		{"add and type", "id:1:k a:2", "id:1:k a:2:T1 b:3", NOW, NOW, SL_CHANGE_SEVERAL, 2},
		{"drop and type", "id:1:k a:2 b:3", "id:1:k a:2:T1", NOW, NOW, SL_CHANGE_SEVERAL, 2},
		{"two types", "a:1 b:2", "a:1:T1 b:2:T1", NOW, NOW, SL_CHANGE_SEVERAL, 2},
		{"rename and type of one column", "id:1:k a:2", "id:1:k b:2:T1", NOW, NOW, SL_CHANGE_SEVERAL, 2},
		{"type and nullability", "a:1", "a:1:T1n", CHANGE, CHANGE, SL_CHANGE_SEVERAL, 2},
		{"type and collation of another", "a:1 b:2", "a:1:T1 b:2:c", NOW, NOW, SL_CHANGE_SEVERAL, 2},
		{"collation and nullability", "a:1", "a:1:cn", CHANGE, CHANGE, SL_CHANGE_SEVERAL, 2},
		{"add and collation", "a:1", "a:1:c b:2", NOW, NOW, SL_CHANGE_SEVERAL, 2},

		{"another key", "id:1:k a:2", "id:1 a:2:k", NOW, NOW, SL_CHANGE_IDENTITY, 0},
		{"key gone", "id:1:k a:2", "id:1 a:2", NOW, NOW, SL_CHANGE_IDENTITY, 0},
		{"key by name", "id:1:k a:2", "id:0:k a:0:k", NOW, WIRE, SL_CHANGE_IDENTITY, 0},
		{"primary key with its NOT NULL", "id:1 a:2", "id:1:kpn a:2", CHANGE, CHANGE, SL_CHANGE_IDENTITY, 0},
		{"add to the key", "id:1:k", "id:1:k a:2:k", NOW, NOW, SL_CHANGE_SEVERAL, 1},
		{"drop of the key", "id:1:k a:2", "a:2", NOW, NOW, SL_CHANGE_SEVERAL, 1},

		{"add by name", "id:1:k", "id:0:k a:0", NOW, WIRE, SL_CHANGE_UNPROVEN, 1},
		{"two adds by name", "id:1:k", "id:0:k a:0 b:0", NOW, WIRE, SL_CHANGE_UNPROVEN, 2},
		{"drop by name", "id:1:k a:2", "id:0:k", NOW, WIRE, SL_CHANGE_UNPROVEN, 1},
		{"type by name", "id:1:k a:2", "id:0:k a:0:T1", NOW, WIRE, SL_CHANGE_UNPROVEN, 1},
		{"perhaps a rename", "id:1:k a:2", "id:0:k b:0", NOW, WIRE, SL_CHANGE_UNPROVEN, 2},
		{"perhaps a rename, unknown before", "id:0:k a:0", "id:1:k b:2", WIRE, NOW, SL_CHANGE_UNPROVEN, 2},
		{"three columns by name", "id:1:k a:2 b:3", "id:0:k c:0", NOW, WIRE, SL_CHANGE_SEVERAL, 3},
		{"two for two by name", "a:1 b:2", "c:0 d:0", NOW, WIRE, SL_CHANGE_SEVERAL, 4},
		{"add and type by name", "a:1", "a:0:T1 b:0", NOW, WIRE, SL_CHANGE_SEVERAL, 2},
		{"perhaps a rename, and a type", "a:1 b:2", "a:0:T1 c:0", NOW, WIRE, SL_CHANGE_SEVERAL, 3},
		{"rename that one side proves", "id:1:k a:2", "id:1:k b:2", CHANGE, NOW, SL_CHANGE_RENAME, 1},
	};

	for (size_t i = 0; i < lengthof(tests); i++)
	{
		SlShape    *a = shape_of(tests[i].before, tests[i].of_before);
		SlShape    *b = shape_of(tests[i].after, tests[i].of_after);
		SlChangeSet *set = sl_change_classify(a, b);

		CHECK_AT(set->class == tests[i].class, "%s: %s", tests[i].what,
				 sl_change_class_name(set->class));
		CHECK_AT(set->n == tests[i].n, "%s: %s", tests[i].what, kinds_of(set));
		/* what is nothing from one side is nothing from the other */
		set = sl_change_classify(b, a);
		CHECK_AT((set->class == SL_CHANGE_NONE) == (tests[i].class == SL_CHANGE_NONE),
				 "%s, backwards: %s", tests[i].what, sl_change_class_name(set->class));
	}
}

/* Several changes of one column, and what is none. */
static void
one_column(void)
{
	static const struct
	{
		const char *before;
		const char *after;
		bool		one;
	}			tests[] = {
		{"id:1:k a:2", "id:1:k a:2:T1n", true},
		{"id:1:k a:2", "id:1:k b:2:T1n", true},
		{"id:1:k a:2", "id:1:k a:2:cn", true},
		{"id:1:k a:2 b:3", "b:3:T1n a:2 id:1:k", true},
		{"id:1:k a:2", "id:1:k a:2:T1", false},
		{"id:1:k a:2 b:3", "id:1:k a:2:T1 b:3:n", false},
		{"id:1:k a:2 b:3", "id:1:k a:2:T1", false},
		{"id:1:k a:2", "id:1:k a:2:T1 b:3", false},
		{"id:1:k a:2", "id:1 a:2:T1k", false},
		{"id:1:k a:2 b:3", "id:1:k b:2:T1", false},
		{"id:1:k a:0", "id:1:k a:0:T1n", false},
	};

	for (size_t i = 0; i < lengthof(tests); i++)
	{
		SlChangeSet *set = sl_change_classify(shape_of(tests[i].before, CHANGE),
											  shape_of(tests[i].after, CHANGE));

		CHECK_AT(set->one_column == tests[i].one, "%s, %s", tests[i].before, tests[i].after);
		CHECK_AT(!set->one_column || set->class == SL_CHANGE_SEVERAL, "%s: %s", tests[i].after,
				 sl_change_class_name(set->class));
	}
}

/* Changes of the table itself, alone and with a column's. */
static void
tables(void)
{
	SlShape    *a = shape_of("id:1:k a:2", NOW);
	SlShape    *b = shape_of("id:1:k a:2", NOW);
	SlShape    *wider = shape_of("id:1:k a:2 b:3", NOW);

#define CLASS_IS(x, y, class_) CHECK_AT(sl_change_classify(x, y)->class == (class_), "%s", \
		sl_change_class_name(sl_change_classify(x, y)->class))
	b->name = wider->name = "u";
	CLASS_IS(a, b, SL_CHANGE_TABLE_NAME);
	CLASS_IS(a, wider, SL_CHANGE_SEVERAL);
	b->name = "t";
	b->schema = "other";
	CLASS_IS(a, b, SL_CHANGE_TABLE_NAME);
	b->relid = wider->relid = 8;
	CLASS_IS(a, b, SL_CHANGE_TABLE_RECREATED);
	CLASS_IS(a, wider, SL_CHANGE_TABLE_RECREATED);
	CHECK(sl_change_classify(a, wider)->n == 0);
	b->schema = "public";
	CLASS_IS(a, b, SL_CHANGE_TABLE_RECREATED);
	b->relid = 0;
	CLASS_IS(a, b, SL_CHANGE_NONE);
	b->replident = 'f';
	CLASS_IS(a, b, SL_CHANGE_IDENTITY);
	a->replident = 'f';
	a->cols[0].flags = 0;
	CLASS_IS(a, b, SL_CHANGE_NONE);
	b->replident = 0;
	CLASS_IS(a, b, SL_CHANGE_NONE);
	b->replident = 'n';
	CLASS_IS(a, b, SL_CHANGE_IDENTITY);
}

/* Types of another engine are known by name, or not at all. */
static void
named_types(void)
{
	SlShape    *a = shape_of("id:1:k", CHANGE);
	SlShape    *b = shape_of("id:1:k", CHANGE);

	a->cols[0].typid = 0;
	CLASS_IS(a, b, SL_CHANGE_NONE);
	a->cols[0].type_name = "int";
	b->cols[0].type_name = "bigint";
	CLASS_IS(a, b, SL_CHANGE_TYPE);
	b->cols[0].type_name = "int";
	CLASS_IS(a, b, SL_CHANGE_NONE);
}

/* Which columns, and how: indexes of before and after. */
static void
changed_columns(void)
{
	SlChangeSet *set = sl_change_classify(shape_of("id:1:k a:2 b:3", NOW),
										  shape_of("id:1:k c:3:T1 d:4", NOW));
	StringInfoData want;

	initStringInfo(&want);
	appendStringInfo(&want, "%d:1>-1 %d:2>1 %d:2>1 %d:-1>2", SL_DIFF_COLUMN_DROPPED,
					 SL_DIFF_COLUMN_RENAMED, SL_DIFF_COLUMN_TYPE, SL_DIFF_COLUMN_ADDED);
	CHECK_AT(set->class == SL_CHANGE_SEVERAL && strcmp(kinds_of(set), want.data) == 0, "%s",
			 kinds_of(set));
	for (int c = 0; c < SL_CHANGE_CLASSES; c++)
		CHECK(sl_change_class_name((SlChangeClass) c) != NULL);
}

/* "1:id -2@9 3:a": live with its name, dropped; and with its stamp. */
static int
catalog_of(const char *text, SlCatalogColumn *cat)
{
	int			n = 0;

	while (*text != '\0')
	{
		SlCatalogColumn *c = &cat[n++];
		long		num = strtol(text, (char **) &text, 10);

		*c = (SlCatalogColumn) {.attnum = (int32) labs(num), .typid = 25, .typmod = -1};
		if (num > 0)
		{
			size_t		len = strcspn(++text, "@ ");
			char	   *name = palloc0(len + 1);

			memcpy(name, text, len);
			c->name = name;
			text += len;
		}
		if (*text == '@')
			c->stamp = (uint32) strtoul(text + 1, (char **) &text, 10);
		text += *text == ' ';
	}
	return n;
}

static void
proofs(void)
{
	static const struct
	{
		const char *what;
		const char *before;		/* NULL = none */
		int			natts;		/* of before */
		const char *wire;
		const char *cat;
		const char *attnums;	/* NULL = not proven */
		int			after;		/* natts */
		uint32		xid;
	}			tests[] = {
		{"as the catalog has it", NULL, 0, "id:0 a:0", "1:id 2:a", "1 2", 2},
		{"no columns", NULL, 0, "", "", "", 0},
		{"dropped long ago, nothing on record", NULL, 0, "id:0 a:0", "1:id -2 3:a", NULL, 0},
		{"dropped long ago", "id:1 a:3", 3, "id:0 a:0", "1:id -2 3:a", "1 3", 3},
		{"dropped long ago, recorded without natts", "id:1 a:3", 0, "id:0 a:0", "1:id -2 3:a", "1 3", 3},
		{"add", "id:1", 1, "id:0 a:0", "1:id 2:a", "1 2", 2},
		{"add behind dropped ones", "id:1", 3, "id:0 a:0", "1:id -2 -3 4:a", "1 4", 4},
		{"add, recorded without natts", "id:1", 0, "id:0 a:0", "1:id -2 -3 4:a", NULL, 0},
		{"renamed since", "id:1 a:2", 2, "id:0 a:0", "1:id 2:b", "1 2", 2},
		{"swapped since", "id:1 a:2 b:3", 3, "id:0 a:0 b:0", "1:id 2:b 3:a", "1 2 3", 3},
		{"added since", "id:1", 1, "id:0", "1:id 2:a", "1", 1},
		{"added, and another since", "id:1", 1, "id:0 a:0", "1:id 2:a 3:b", "1 2", 2},
		{"added, renamed since", "id:1", 1, "id:0 a:0", "1:id 2:b", "1 2", 2},
		{"added, renamed since, another since", "id:1", 1, "id:0 a:0", "1:id 2:b 3:c", NULL, 0},
		{"dropped since", "id:1 a:2", 2, "id:0 a:0", "1:id -2", "1 2", 2},
		{"added and dropped since", "id:1", 1, "id:0 a:0", "1:id -2", "1 2", 2},
		{"dropped, another since", "id:1 a:2 b:3", 3, "id:0 b:0", "1:id -2 -3", NULL, 0},
		{"both dropped since", "id:1 a:2 b:3", 3, "id:0 a:0 b:0", "1:id -2 -3", "1 2 3", 3},
		{"added, dropped, added again since", "id:1", 1, "id:0 c:0", "1:id -2 3:c", NULL, 0},
		{"the same behind a dropped one", "id:1", 2, "id:0 c:0", "1:id -2 -3 4:c", NULL, 0},
		{"before all that", "id:1", 2, "id:0", "1:id -2 -3 4:c", "1", 2},
		{"replaced, another record", "id:1 c:4", 4, "id:0 c:0", "1:id -2 -3 4:c", "1 4", 4},
		{"fewer than there must be", "id:1 a:2", 2, "id:0", "1:id 2:a", NULL, 0},
		{"more than there can be", "id:1", 1, "id:0 a:0 b:0", "1:id 2:a", NULL, 0},
		{"record that does not know attnums", "id:0 a:0", 0, "id:0 a:0", "1:id -2 3:a", NULL, 0},
		{"generated then, ordinary now", "id:1 c:3", 3, "id:0 c:0", "1:id 2:g 3:c", NULL, 0},
		{"generated, and ordinary since", "id:1 c:3", 3, "id:0 g:0 c:0", "1:id 2:g 3:c", "1 2 3", 3},
		{"newer column generated then", "id:1", 1, "id:0 c:0", "1:id 2:g 3:c", NULL, 0},
		{"add, and another and a drop since", "id:1 a:2", 2, "id:0 a:0 b:0", "1:id@1 -2@9 3:b@4 4:c@8", "1 2 3", 3, 5},
		{"add and a drop, and another since", "id:1 a:2", 2, "id:0 b:0", "1:id@1 -2@4 3:b@3 4:c@8", "1 3", 3, 5},
		{"a drop and an add", "id:1 a:2 n:3", 3, "id:0 n:0 c:0", "1:id@1 -2@4 3:n@1 4:c@4", "1 3 4", 4, 5},
		{"the same by the row's own transaction", "id:1 a:2 n:3", 3, "id:0 n:0 c:0", "1:id@1 -2@5 3:n@1 4:c@5", NULL, 0, 5},
		{"the same, transaction not known", "id:1 a:2", 2, "id:0 a:0 b:0", "1:id@1 -2@9 3:b@4 4:c@8", NULL, 0, 0},
		{"the same, a stamp not known", "id:1 a:2", 2, "id:0 a:0 b:0", "1:id@1 -2 3:b@4 4:c@8", NULL, 0, 5},
		{"the same round the end of numbers", "id:1 a:2", 2, "id:0 a:0 b:0",
		"1:id@4294967290 -2@9 3:b@4294967291 4:c@8", "1 2 3", 3, 4294967295U},
		{"dropped by the row's own transaction", "id:1 a:2", 2, "id:0 a:0 b:0", "1:id@1 -2@5 3:b@4 4:c@8", NULL, 0, 5},
		{"added, dropped, added again, with stamps", "id:1", 1, "id:0 c:0", "1:id@1 -2@8 3:c@9", NULL, 0, 5},
		{"renamed, dropped, added under the new name", "id:1 b:2", 2, "id:0 c:0", "1:id@1 -2@8 3:c@9", NULL, 0, 5},
		{"names moved on since", "id:1 a:2", 2, "id:0 a:0 n:0", "1:id@1 -2@8 3:a@8 4:n@9", NULL, 0, 5},
		{"renamed into a dropped one's name before the row", "id:1 b:2 n:3", 3, "id:0 b:0", "1:id@1 -2@3 3:b@4", "1 3", 3, 5},
		{"added, and renamed into a dropped one's name since", "id:1 b:2", 2, "id:0 b:0 n:0", "1:id@1 -2@8 3:b@9", "1 2 3", 3, 5},
		{"an older one left over", "id:1 a:2", 2, "id:0 a:0 b:0", "1:id@1 -2@9 3:b@4 4:c@3", NULL, 0, 5},
		{"replaced", "id:1 a:2", 2, "id:0 a:0", "1:id@1 -2@4 3:a@4", "1 3", 3, 5},
		{"to be replaced", "id:1 a:2", 2, "id:0 a:0", "1:id@1 -2@8 3:a@8", NULL, 0, 5},
		{"replaced by the row's own transaction", "id:1 a:2", 2, "id:0 a:0", "1:id@1 -2@5 3:a@5", "1 3", 3, 5},
		{"replaced, transaction not known", "id:1 a:2", 2, "id:0 a:0", "1:id@1 -2@8 3:a@8", "1 3", 3, 0},
		{"replaced, a stamp not known", "id:1 a:2", 2, "id:0 a:0", "1:id@1 -2 3:a", "1 3", 3, 5},
		{"replaced twice", "id:1 a:2", 2, "id:0 a:0", "1:id@1 -2@3 -3@4 4:a@4", "1 4", 4, 5},
		{"replaced, and another since", "id:1 a:2", 2, "id:0 a:0", "1:id@1 -2@4 3:a@4 4:b@9", "1 3", 3, 5},
		{"newer column generated then, the sent one gone", "id:1", 1, "id:0 c:0", "1:id 2:g -3", NULL, 0},
	};

	for (size_t i = 0; i < lengthof(tests); i++)
	{
		SlShape    *before = tests[i].before ? shape_of(tests[i].before, CHANGE) : NULL;
		SlShape    *wire = shape_of(tests[i].wire, WIRE);
		SlCatalogColumn cat[20];
		int			ncat = catalog_of(tests[i].cat, cat);
		int32		attnums[20] = {-1};
		int32		natts = -1;
		uint32		xid = tests[i].xid;
		bool		proven;
		StringInfoData got;

		if (before)
			before->natts = tests[i].natts;
		proven = sl_change_prove(before, wire, xid, cat, ncat, attnums, &natts);
		CHECK_AT(proven == (tests[i].attnums != NULL), "%s", tests[i].what);
		if (!proven)
		{
			CHECK_AT(attnums[0] == -1 && natts == -1, "%s", tests[i].what);
			continue;
		}
		initStringInfo(&got);
		for (int k = 0; k < wire->ncols; k++)
			appendStringInfo(&got, "%s%d", k > 0 ? " " : "", attnums[k]);
		CHECK_AT(tests[i].attnums && strcmp(got.data, tests[i].attnums) == 0 &&
				 natts == tests[i].after, "%s: %s, %d", tests[i].what, got.data, natts);
		/* a record of another table of the name proves nothing */
		if (before == NULL || tests[i].natts < 2)
			continue;
		before->relid = 8;
		CHECK_AT(!sl_change_prove(before, wire, xid, cat, ncat, attnums, &natts) ||
				 natts <= tests[i].after, "%s, recreated", tests[i].what);
	}
}

/* A table with a history; a state of it is kept after every step. */
#define MAX_ATTS	24
#define MAX_STEPS	10

typedef struct Attribute
{
	bool		live;
	bool		generated;
	bool		was_generated;
	int			name;
	int			type;
	uint32		stamp;
} Attribute;

typedef struct Toy
{
	uint32		now;			/* number of the last statement */
	int			natts;
	Attribute	atts[MAX_ATTS];
} Toy;

static uint64 seed;

static int
pick(int n)
{
	seed = seed * UINT64CONST(6364136223846793005) + UINT64CONST(1442695040888963407);
	return (int) ((seed >> 33) % (uint64) n);
}

static bool
name_is_used(const Toy *t, int name)
{
	for (int i = 0; i < t->natts; i++)
		if (t->atts[i].live && t->atts[i].name == name)
			return true;
	return false;
}

/* From few names, so that they come back; or one that was never used. */
static int
free_name(const Toy *t, bool fresh)
{
	static int	next = 1000;
	int			name;

	if (fresh)
		return next++;
	do
		name = pick(8);
	while (name_is_used(t, name));
	return name;
}

static void
add_attribute(Toy *t, bool generated, bool fresh)
{
	if (t->natts == MAX_ATTS)
		return;
	t->atts[t->natts] = (Attribute) {.generated = generated, .was_generated = generated,
									 .name = free_name(t, fresh), .type = pick(2), .stamp = t->now};
	t->atts[t->natts++].live = true;
}

static void
swap_names(Toy *t, Attribute *a)
{
	Attribute  *b = &t->atts[pick(t->natts)];
	int			name = a->name;

	if (!b->live)
		return;
	a->name = b->name;
	b->name = name;
	b->stamp = t->now;
}

typedef enum Mode
{
	PLAIN,						/* names come back and are swapped */
	GENERATED,					/* some columns are; names do not come back */
	OVERLAPPING					/* stamps say nothing; names do not come back */
} Mode;

/* One random DDL statement (a swap is three renames). */
static void
step(Toy *t, Mode mode)
{
	int			live = 0;
	Attribute  *a;

	t->now += 10;
	for (int i = 0; i < t->natts; i++)
		live += t->atts[i].live;
	if (live < 5 && (live == 0 || pick(2) == 0))
	{
		add_attribute(t, mode == GENERATED && pick(3) == 0, mode != PLAIN);
		return;
	}
	do
		a = &t->atts[pick(t->natts)];
	while (!a->live);
	a->stamp = t->now;
	switch (pick(mode == PLAIN ? 5 : 4))
	{
		case 0:
		case 1:
			/* the limit that sl_prove.c names */
			a->live = a->was_generated && !a->generated;
			break;
		case 2:
			a->name = free_name(t, mode != PLAIN);
			break;
		case 3:
			if (a->generated)
				a->generated = false;
			else
				a->type = pick(2);
			break;
		default:
			swap_names(t, a);
			break;
	}
}

/* What is sent of a state; attnums only where it is a record. */
static SlShape *
sent(const Toy *t, bool record, int32 *attnums)
{
	SlShape    *s = palloc0(sizeof(SlShape));

	s->relid = 7;
	s->schema = "public";
	s->name = "t";
	s->natts = record ? t->natts : 0;
	s->cols = palloc0(sizeof(SlColumn) * MAX_ATTS);
	for (int i = 0; i < t->natts; i++)
	{
		const Attribute *a = &t->atts[i];
		SlColumn   *c = &s->cols[s->ncols];

		if (!a->live || a->generated)
			continue;
		attnums[s->ncols++] = i + 1;
		*c = (SlColumn) {.name = psprintf("c%d", a->name), .typid = 20 + a->type,
						 .typmod = -1, .attnum = record ? i + 1 : 0};
	}
	return s;
}

static int
catalog(const Toy *t, SlCatalogColumn *cat)
{
	int			n = 0;

	for (int i = 0; i < t->natts; i++)
	{
		const Attribute *a = &t->atts[i];

		if (a->live && a->generated)
			continue;
		cat[n++] = (SlCatalogColumn) {.attnum = i + 1, .typid = a->live ? 20 + a->type : 0,
									  .typmod = -1, .name = a->live ? psprintf("c%d", a->name) : NULL,
									  .stamp = a->stamp};
	}
	return n;
}

/*
 * Three moments of a history: the record's, the wire's, now.  What is claimed is
 * true, and all is claimed where at most one statement lies between.
 */
static void
random_history(Mode mode, int *claimed, int *unclaimed)
{
	Toy			states[MAX_STEPS + 1];
	int			steps = pick(MAX_STEPS + 1);
	int			recorded;
	int			wired;
	int32		unused[MAX_ATTS];
	int32		truth[MAX_ATTS];
	int32		attnums[MAX_ATTS];
	int32		natts = 0;
	SlCatalogColumn cat[MAX_ATTS];
	SlShape    *before;
	SlShape    *wire;
	uint32		xid;
	bool		proven;

	memset(&states[0], 0, sizeof(Toy));
	for (int i = pick(6); i > 0; i--)
		step(&states[0], mode);
	for (int i = 0; i < steps; i++)
	{
		states[i + 1] = states[i];
		step(&states[i + 1], mode);
	}
	wired = pick(steps + 1);
	recorded = pick(wired + 1);
	before = pick(5) == 0 ? NULL : sent(&states[recorded], true, unused);
	if (before && pick(8) == 0)
		before->natts = 0;		/* as version 1 recorded it */
	if (before == NULL && mode == GENERATED)
		return;
	wire = sent(&states[wired], false, truth);
	xid = mode == OVERLAPPING ? pick(states[steps].now + 20) : states[wired].now + 5;
	proven = sl_change_prove(before, wire, xid, cat,
							 catalog(&states[steps], cat), attnums, &natts);
	*(proven ? claimed : unclaimed) += 1;
	if (proven)
	{
		CHECK(memcmp(attnums, truth, sizeof(int32) * wire->ncols) == 0);
		CHECK(natts <= states[wired].natts);
		for (int i = 0; i < wire->ncols; i++)
			CHECK(natts >= truth[i]);
	}
	else if (mode != GENERATED && before && before->natts > 0)
		CHECK_AT(steps - recorded > 1, "%d steps", steps - recorded);
}

static void
random_mode(Mode mode, int at_least)
{
	int			claimed = 0;
	int			unclaimed = 0;

	seed = 7 + mode;
	for (int i = 0; i < 100000; i++)
		random_history(mode, &claimed, &unclaimed);
	CHECK_AT(claimed > at_least && unclaimed > 5000, "%d claimed, %d not", claimed, unclaimed);
}

static void
random_histories(void)
{
	random_mode(PLAIN, 30000);
}

static void
random_histories_with_generated_columns(void)
{
	random_mode(GENERATED, 20000);
}

static void
random_histories_of_overlapping_transactions(void)
{
	random_mode(OVERLAPPING, 30000);
}

int
main(void)
{
	RUN(classes);
	RUN(one_column);
	RUN(tables);
	RUN(named_types);
	RUN(changed_columns);
	RUN(proofs);
	RUN(random_histories);
	RUN(random_histories_with_generated_columns);
	RUN(random_histories_of_overlapping_transactions);
	return UNIT_END();
}
