/*
 * preflight_int.h
 *	  Between the files that check a source.
 */
#ifndef BR_PREFLIGHT_INT_H
#define BR_PREFLIGHT_INT_H

#include <time.h>

#include "bridge/catalog_int.h"
#include "bridge/preflight.h"

typedef struct BrPreflight
{
	const BrStream *s;
	MxConn	   *c;
	bool		mariadb;
	bool		logs_cascades;	/* what foreign keys do is in the log */
	int			ncats;
	BrCatalog **cats;			/* of the databases in scope */
	int			seconds;		/* for a table's rows */
	bool		texts;			/* … those of texts too */
	time_t		began;			/* of looking at rows; 0 = not yet */
	int			unread;			/* tables whose rows were left to the copy */
	BrSourceChecks *out;
	MxError    *err;
} BrPreflight;

/* preflight.c: is a copy to be made? */
extern bool br_preflight_copies(const BrStream *s);

/* Is it a table of the stream? */
extern bool br_preflight_has(const BrPreflight *p, const BrTable *t);

/* `database`.`table`, palloc'd. */
extern char *br_preflight_name(const BrTable *t);

/* preflight_table.c: from the catalog alone */
extern void br_preflight_tables(BrPreflight *p);

/* preflight_cascade.c: changes that foreign keys make */
extern void br_preflight_cascade(BrPreflight *p, const BrCatalog *cat, const BrTable *t);

/* preflight_rows.c: values; false when the connection fails */
extern bool br_preflight_rows(BrPreflight *p);

#endif							/* BR_PREFLIGHT_INT_H */
