/*
 * leaf_read_pg.h
 *	  The leaves of the source's tables: as its catalog has them, and as they
 *	  stand on record (sluice.stream_table.source_leaves).
 */
#ifndef SL_LEAF_READ_PG_H
#define SL_LEAF_READ_PG_H

#include "pgext/conn.h"
#include "pgext/nameindex.h"
#include "pgext/stream.h"

typedef struct SlLeafColumn
{
	int			attnum;
	Oid			type;
	int			typmod;
	TransactionId stamp;
} SlLeafColumn;

typedef struct SlLeaf
{
	Oid			root;
	Oid			relid;
	Oid			file;
	Oid			toast;			/* its TOAST table; 0 = none, or not on record */
	char	   *link;			/* "" = the table itself */
	int			ncols;
	SlLeafColumn *cols;
	char	   *name;			/* as shown: quoted, no control characters */

	/* of now only, not on record */
	char	   *how;			/* of each link: "-" = made as a partition, or
								 * the command that attached */
	TransactionId born;			/* who created it */
	CommandId	born_at;		/* … by which command */
	char	   *above;			/* its parent, as shown; NULL = none */
	bool		unlogged;
	bool		blank;			/* no statistics */
	bool		same_toast;		/* its TOAST table is as old as itself */
	char	   *quoted;			/* for a statement */
	char		kind;			/* relkind */
} SlLeaf;

/*
 * The leaves of n tables of the source, in order of root; palloc'd.  Returns
 * their number.  Raises what the source raises.
 */
extern int	sl_leaves_read(SlConn *c, const SlStreamTable *tables, int n, SlLeaf **leaves);

/* One line a leaf: oid, file and TOAST table, link, columns, name. */
extern char *sl_leaves_encode(const SlLeaf *leaves, int n);
extern int	sl_leaves_decode(const char *text, SlLeaf **leaves);

/* By oid. */
extern SlNameIndex *sl_leaves_index(const SlLeaf *leaves, int n);

/*
 * May l, which is not among the nwas leaves of the last look, have rows that
 * it had when it became a part of its root?  False only where the catalog or
 * its rows show that it has none.  Reads the leaf, for which the source locks it
 * (ACCESS SHARE); raises 55P03 when that is not to be had within two seconds.
 */
extern bool sl_leaf_brought_rows(SlConn *c, const SlLeaf *l, const SlLeaf *was, int nwas);

#endif							/* SL_LEAF_READ_PG_H */
