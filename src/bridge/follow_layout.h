/*
 * follow_layout.h
 *	  The tables that a stream follows, each with its layout as of the place in
 *	  the log that is read.
 *
 * follow_tables keeps them and finds them by name, follow_layout makes of a
 * layout what rows are carried by; both do no I/O.
 */
#ifndef BR_FOLLOW_LAYOUT_H
#define BR_FOLLOW_LAYOUT_H

#include "bridge/follow_int.h"
#include "bridge/replay/replay.h"

typedef struct BrTracked
{
	BrFlowTable *t;				/* NULL = to be made of the layout */
	SlShape    *shape;			/* the one made last, or on record; NULL =
								 * none */
	uint32		wireid;
	uint64		from;			/* rows and statements below are in its copy */
	uint64		window;			/* the layout is as of there; what lies
								 * between both may be in the copy */
	bool		whole;			/* one snapshot gave all of the copy */
	bool		first;			/* the layout was read from the catalog by
								 * this process */
	bool		unproven;		/* nothing says what rows below window are */
	bool		vacated;		/* the name of a column was given up */
	bool		unsettled;		/* the statement in hand does not tell all of
								 * it */
	bool		recorded;		/* the target has the layout */
	bool		look;			/* to be held against the catalog … */
	bool		read;			/* … which was read for it */
	bool		doubt;			/* it differed when it was read before */
	bool		summed;			/* follow_sum.c: the catalog's columns … */
	uint64		sum;			/* … had this sum when they were looked at */
} BrTracked;

typedef struct BrTables
{
	const BrStream *s;
	const BrFacts *facts;
	int			n;
	BrLayout  **layouts;		/* side by side with tracked; NULL = given up */
	BrTracked  *tracked;
	uint32		relid;			/* the highest that was given */
	uint32		room;			/* places of the hash table of names */
	int		   *places;			/* index + 1; 0 = free */
	int			ncats;
	BrCatalog  *cats;			/* of the followed tables of a database */
	bool		linked;			/* cats are those of the layouts */
} BrTables;

/* ---------- follow_tables.c ---------- */

extern BrTables *br_tables_create(const BrStream *s, const BrFacts *facts);

/* Add one; l and shape (may be NULL) become its own.  What is returned is valid until the next one. */
extern BrTracked *br_tables_add(BrTables *ts, BrLayout *l, SlShape *shape);

/* A layout in the place of another; l becomes its own. */
extern void br_tables_replace(BrTables *ts, int i, BrLayout *l);

/* Its index; -1: it is not followed. */
extern int	br_tables_find(const BrTables *ts, const char *database, const char *name);

/* Has any of them that name, in whatever case and database? */
extern bool br_tables_have(const BrTables *ts, const char *name);

/* The followed tables of a database, with the columns that foreign keys join. */
extern const BrCatalog *br_tables_catalog(BrTables *ts, const char *database);

/* A new flow begins: nothing was announced. */
extern void br_tables_begin(BrTables *ts);

/* ---------- follow_layout.c ---------- */

/* What rows of the table are carried by, made where it is not there yet.  NULL: *stop. */
extern BrFlowTable *br_tables_flow(BrTables *ts, int i, BrStop *stop);

/* ---------- what follow_catalog, follow_head and follow_replay share ---------- */

struct BrFollowed
{
	BrStream   *s;
	MxConn	   *c;
	bool		(*flush) (void *arg);
	void	   *flush_arg;
	BrFlow	   *flow;
	BrFacts    *facts;
	BrTables   *tables;
	BrAhead    *ahead;
	int			unput;			/* tables whose layout the target may not have */
	int			nlook;			/* tables that are to be looked at */
	int64		looked;			/* when catalogs were read last, milliseconds */
	int64		sums_due;		/* when follow_sum.c looks again, milliseconds */
	bool		reading;		/* catalogs were read for some of them, … */
	uint64		read_to;		/* … when the log ended there */
	const BrCatalog **read;		/* of those tables, side by side with them */
	StringInfoData created;		/* names of tables that are not followed,
								 * though the stream's patterns have them */
	int			ncreated;
};

/* A table's definition in the catalog now, and where the log ended before and behind that.  *t NULL: it is not there. */
extern bool br_followed_read(BrFollowed *d, const char *database, const char *name, const BrCatalog **cat, uint64 *from,
							 uint64 *to, BrStop *stop);

/* The end of the last statement behind "here" and up to "to" that names the table; 0 = there is none.  False: *stop. */
extern bool br_followed_ahead(BrFollowed *d, uint64 here, uint64 to, const char *name, uint64 *last, BrStop *stop);

/* Look at the table again, once the stream is at the head. */
extern void br_head_due(BrFollowed *d, int i);

/* follow_sum.c: now and then, has one changed that no statement named?  Then it is due.  False: *stop. */
extern bool br_sums_look(BrFollowed *d, BrStop *stop);

/* Wait until the source is done with a statement on the table that its log has already.  False: *stop. */
extern bool br_head_settle(BrFollowed *d, int i, BrStop *stop);

/* A statement named the table: what was read of it before says nothing. */
extern void br_head_changed(BrFollowed *d, int i);

/* follow_replay.c: an owner's statement, and a table's layout as a record.  False: f->stop. */
extern bool br_replay_statement(void *arg, BrFlow *f, const BrStatement *st);
extern bool br_put_layout(BrFollowed *d, BrFlow *f, int i, const char *statement, uint64 lsn);

/* A table is not followed though the stream's patterns have it: tell. */
extern void br_followed_created(BrFollowed *d, const char *database, const char *name);

#endif							/* BR_FOLLOW_LAYOUT_H */
