/*
 * source_pg.h
 *	  Slot and publication of a stream on a PostgreSQL source.
 */
#ifndef SL_SOURCE_PG_H
#define SL_SOURCE_PG_H

#include "pgext/catalog_pg.h"

/* "sluice_<id>_<8 hex of target system and database>"; palloc'd. */
extern char *sl_pg_object_name(const SlStream *s);

typedef struct SlSlotInfo
{
	bool		exists;
	char	   *plugin;
	char	   *database;
	bool		temporary;
	bool		active;
	int			active_pid;
	char	   *active_by;		/* application_name of active_pid */
	char	   *wal_status;		/* reserved extended unreserved lost */
	char	   *invalidation;	/* 17+: reason, else NULL */
	XLogRecPtr	restart_lsn;
	XLogRecPtr	confirmed_lsn;
	int64		retained_bytes;
} SlSlotInfo;

extern SlSlotInfo *sl_pg_slot_info(SlConn *c, const char *slot_name);

/*
 * On the replication connection, outside any transaction: create the slot and
 * export its snapshot (name returned, valid until the next command there).
 */
extern char *sl_pg_slot_create(SlConn *repl, const char *slot_name,
							   bool temporary, bool failover, XLogRecPtr *consistent);
extern void sl_pg_slot_drop(SlConn *c, const char *slot_name);	/* quiet when absent */

/* Publication that lists exactly these tables, through the root. */
extern void sl_pg_publication_create(SlConn *c, const char *name,
									 SlSourceTable *tables, int ntables);

/* Make it list exactly these instead of what it lists. */
extern void sl_pg_publication_set(SlConn *c, const char *name,
								  SlSourceTable *tables, int ntables);
extern void sl_pg_publication_drop(SlConn *c, const char *name);

/*
 * Difference between the publication and the stream's recorded tables, as
 * lines for a DETAIL; NULL when there is none.  there: the source's tables,
 * recorded ones that are not among them need not be published; NULL = all need.
 */
extern char *sl_pg_publication_diff(SlConn *c, SlStream *s,
									const SlSourceTable *there, int nthere);

#endif							/* SL_SOURCE_PG_H */
