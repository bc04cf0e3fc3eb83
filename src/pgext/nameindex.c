/*
 * nameindex.c
 *	  Two hash tables: by schema and name, and by oid.
 */
#include "postgres.h"

#include "common/hashfn.h"
#include "utils/hsearch.h"
#include "utils/memutils.h"

#include "pgext/nameindex.h"
#include "pgext/pgcompat.h"

typedef struct NameKey
{
	const char *schema;
	const char *name;
} NameKey;

typedef struct NameEntry
{
	NameKey		key;
	int			i;
} NameEntry;

typedef struct OidEntry
{
	Oid			key;
	int			i;
} OidEntry;

struct SlNameIndex
{
	HTAB	   *names;
	HTAB	   *oids;
};

static uint32
hash_name(const void *key, Size size)
{
	const NameKey *k = key;

	return hash_combine(hash_bytes((const unsigned char *) k->schema, strlen(k->schema)),
						hash_bytes((const unsigned char *) k->name, strlen(k->name)));
}

static int
compare_names(const void *a, const void *b, Size size)
{
	const NameKey *x = a;
	const NameKey *y = b;

	return strcmp(x->name, y->name) != 0 || strcmp(x->schema, y->schema) != 0;
}

SlNameIndex *
sl_name_index_create(int n)
{
	SlNameIndex *x = palloc0(sizeof(SlNameIndex));
	HASHCTL		names = {.keysize = sizeof(NameKey), .entrysize = sizeof(NameEntry),
	.hash = hash_name, .match = compare_names, .hcxt = CurrentMemoryContext};
	HASHCTL		oids = {.keysize = sizeof(Oid), .entrysize = sizeof(OidEntry),
	.hcxt = CurrentMemoryContext};

	x->names = hash_create("sluice names", Max(n, 16), &names,
						   HASH_ELEM | HASH_FUNCTION | HASH_COMPARE | HASH_CONTEXT);
	x->oids = hash_create("sluice oids", Max(n, 16), &oids,
						  HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	return x;
}

void
sl_name_index_add(SlNameIndex *x, const char *schema, const char *name,
				  Oid relid, int i)
{
	NameKey		key = {.schema = schema, .name = name};
	bool		found;

	if (name != NULL)
	{
		NameEntry  *e = hash_search(x->names, &key, HASH_ENTER, &found);

		if (!found)
			e->i = i;
	}
	if (OidIsValid(relid))
	{
		OidEntry   *e = hash_search(x->oids, &relid, HASH_ENTER, &found);

		if (!found)
			e->i = i;
	}
}

int
sl_name_index_find(const SlNameIndex *x, const char *schema, const char *name)
{
	NameKey		key = {.schema = schema, .name = name};
	NameEntry  *e = hash_search(x->names, &key, HASH_FIND, NULL);

	return e ? e->i : -1;
}

int
sl_name_index_find_oid(const SlNameIndex *x, Oid relid)
{
	OidEntry   *e = hash_search(x->oids, &relid, HASH_FIND, NULL);

	return e ? e->i : -1;
}
