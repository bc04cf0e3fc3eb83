/*
 * catalog_pg.h
 *	  What the catalog of a PostgreSQL source says, as of now or under the
 *	  snapshot the connection has.
 */
#ifndef SL_CATALOG_PG_H
#define SL_CATALOG_PG_H

#include "nodes/pg_list.h"

#include "pgext/conn.h"

typedef struct SlSourceInfo
{
	char	   *sysid;
	int32		timeline;
	XLogRecPtr	lsn;			/* current write position */
	char	   *dbname;
	char	   *encoding;
	char	   *version;		/* text */
	bool		in_recovery;
} SlSourceInfo;

/* c is a replication connection (IDENTIFY_SYSTEM) or an ordinary one. */
extern SlSourceInfo *sl_pg_identify(SlConn *c);

typedef struct SlSourceTable
{
	Oid			relid;
	char	   *schema;
	char	   *name;
	char		relkind;		/* r p v m f S … */
	char		persistence;	/* p u t */
	bool		is_partition;
	Oid			parent;			/* of a partition */
	List	   *unsent;			/* of SlSourceTable *: leaves of a partitioned
								 * table whose changes are in no WAL */
	char		replident;
	bool		identity_ok;	/* has a usable replica identity */
	char	   *identity_fault; /* why not: "no primary key" … */
	bool		can_select;
	bool		rls_applies;
	bool		schema_usage;
	int64		est_bytes;
	int64		est_rows;
} SlSourceTable;

/*
 * Every table that the stream's patterns take in.  Partitions of a table that
 * is itself in scope are left out (they are published through the root).
 */
extern int	sl_pg_tables(SlConn *c, SlStream *s, SlSourceTable **tables);

/* All user tables regardless of scope, for "matches nothing" checks. */
extern int	sl_pg_all_tables(SlConn *c, SlSourceTable **tables);

/*
 * Shape of one table by oid, evidence SL_EVIDENCE_NOW (or SL_EVIDENCE_CHANGE
 * when under_snapshot), columns as pgoutput would send them (no generated
 * columns) with their defaults' texts, read without a lock on the table; NULL
 * when the table is gone.
 */
extern SlShape *sl_pg_shape(SlConn *c, Oid relid, bool under_snapshot);

/*
 * Complete a wire shape from the catalog, which may have moved on since: to
 * SL_EVIDENCE_NOW iff the attnums of all columns are proven (sl_change_prove)
 * or, where the columns are called as before, suspected (sl_change_suspect);
 * else it stays SL_EVIDENCE_WIRE and has none.  before: the shape on record,
 * of an earlier moment than wire, or NULL.  xid: the transaction whose rows wire
 * comes before, 0 = not known.  Returns a palloc'd copy.
 *
 * Names, types, key flags and replica identity are the wire's, as of the
 * change.  Where the catalog still has the column under that name and with that
 * type, its type name, collation, default and other flags are added, as of now.
 * Where it has not (renamed, retyped or dropped since) the column gets
 * SL_COL_PARTIAL: its attnum is proven, and of the rest nothing is known.  "Not
 * known" means for the judge: it neither differs nor agrees; NOT NULL is not
 * asked of the target nor set there, no default is set, and an added column
 * takes its values from rows and from the debt alone.  What is
 * missing then is for the door, and for the boundary of the later change.
 * (SL_COL_PRIMARY stays for a column that is still there.)
 */
extern SlShape *sl_pg_complete(SlConn *c, const SlShape *wire,
							   const SlShape *before, uint32 xid);

#endif							/* SL_CATALOG_PG_H */
