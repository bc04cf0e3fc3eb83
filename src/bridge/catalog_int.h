/*
 * catalog_int.h
 *	  Between the files that read a source's catalog.
 */
#ifndef BR_CATALOG_INT_H
#define BR_CATALOG_INT_H

#include "bridge/catalog.h"

/* One reading. */
typedef struct BrCatalogRead
{
	MxConn	   *c;
	const char *database;
	const char *table;			/* NULL = all */
	BrCatalog  *cat;
	MxError    *err;
} BrCatalogRead;

/*
 * Run a query whose first column is a table's name, and which is ordered by
 * it bytewise.  In it, $D stands for the database, $T for a condition on the
 * table's name, which the query calls as column says.
 */
extern MxResult *br_catalog_query(BrCatalogRead *r, const char *sql, const char *column);

/*
 * The table of a row; *at is where the last one was found (from 0), so that
 * ordered rows are met in one pass.  NULL: no such table.
 */
extern BrTable *br_catalog_at(BrCatalogRead *r, int *at, const char *name);

extern bool br_catalog_columns(BrCatalogRead *r);
extern bool br_catalog_indexes(BrCatalogRead *r);
extern bool br_catalog_foreign_keys(BrCatalogRead *r);
extern bool br_catalog_checks(BrCatalogRead *r);

/* A copy of a value of a result; NULL for SQL NULL. */
extern const char *br_catalog_copy(const MxResult *res, int row, int col);

/* A growing array in a table: room for one more of the element's size. */
extern void *br_catalog_grow(void *array, int *n, size_t size);

#endif							/* BR_CATALOG_INT_H */
