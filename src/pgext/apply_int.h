/*
 * apply_int.h
 *	  What the files of the apply engine share and nobody else sees.
 *
 * NOTES
 *	  SlRelMap lives across target transactions: how a source table's columns
 *	  enter a target table.  SlRelState lives in one target transaction: the
 *	  open relation with its executor state.  A partition that rows are routed
 *	  to has an SlRelState of its own, child of its root's.
 */
#ifndef SL_APPLY_INT_H
#define SL_APPLY_INT_H

#include "access/attmap.h"
#include "access/genam.h"
#include "access/skey.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "nodes/execnodes.h"
#include "utils/rel.h"
#include "utils/snapshot.h"

#include "pgext/apply.h"
#include "pgext/careful_in.h"
#include "pgext/feed_fault.h"
#include "pgext/judge.h"

/* Ways a value enters without a call of the type's function. */
typedef enum SlFastIn
{
	SL_FAST_NONE,
	SL_FAST_BOOL,
	SL_FAST_INT2,
	SL_FAST_INT4,				/* int4, date */
	SL_FAST_INT8,				/* int8, timestamp, timestamptz, time */
	SL_FAST_TEXT				/* text, varchar without a limit */
} SlFastIn;

typedef struct SlColumnIn
{
	AttrNumber	attnum;			/* of the target's root */
	Oid			typid;
	int32		typmod;
	SlFastIn	fast;
	SlCare		care;			/* … of its text, which its input lacks */
	bool		binary_ok;		/* same type on both sides, for all we know */
	bool		domain;			/* its input function judges NULL too */
	bool		key;			/* part of what identifies an old row */
	FmgrInfo	in;
	Oid			in_param;
	FmgrInfo	recv;
	Oid			recv_param;
} SlColumnIn;

/* Conflicts met in one target transaction, by kind. */
typedef enum SlConflictKind
{
	SL_CONFLICT_UPDATE_MISSING,
	SL_CONFLICT_UPDATE_MISSING_TOAST,
	SL_CONFLICT_DELETE_MISSING,
	SL_CONFLICT_INSERT_EXISTS,
	SL_CONFLICT_IDENTITY_FALLBACK,
	SL_CONFLICTS
} SlConflictKind;

struct SlRelState;

typedef struct SlRelMap
{
	uint32		wireid;			/* hash key */
	MemoryContext cxt;			/* of everything below */
	SlShape    *shape;			/* as the wire last said */
	Oid			target;
	bool		valid;			/* cols fit the target as it is now */
	bool		recorded;		/* shape is the recorded one, pairs are filled */
	bool		met;			/* judged once since the start, or the last
								 * abort */
	XLogRecPtr	wrote;			/* commit LSN of the source transaction that
								 * last changed a row of it */
	int16	   *pairs;			/* target attnum of each source column */
	MemoryContext colcxt;		/* of cols */
	SlColumnIn *cols;			/* shape->ncols of them */
	bool		full;			/* REPLICA IDENTITY FULL */
	int			nkeys;			/* target attnums that identify an old row */
	AttrNumber *keys;
	int			ninskeys;		/* … and that an insert looks for first */
	AttrNumber *inskeys;
	AttrNumber *owed;			/* columns whose values are owed to rows
								 * (debt.h), zero-terminated; NULL = none */
	AttrNumber *owed_keys;		/* … and by which key they are copied */
	bool		owed_moved;		/* a row changed that key and kept such a
								 * value */
	bool		snapshot_known;
	XLogRecPtr	snapshot_lsn;	/* changes committed before it were copied … */
	XLogRecPtr	window_lsn;		/* … and those before this one perhaps; 0 =
								 * none */
	bool		window;			/* the change in hand is one of those */
	struct SlRelState *state;	/* in the target transaction, or NULL */
	int64		nconflicts[SL_CONFLICTS];
	char	   *conflict_key[SL_CONFLICTS]; /* in the transaction's context */
} SlRelMap;

/* How old rows are found in one relation. */
typedef struct SlLookup
{
	Relation	index;			/* NULL: by reading the table */
	IndexScanDesc scan;			/* kept, under dirty */
	SnapshotData dirty;
	bool		unique;			/* no second row can match the scan keys */
	bool		inserts;		/* … made of the insert's key only */
	int			nkeys;
	ScanKeyData key[INDEX_MAX_KEYS];
	AttrNumber	att[INDEX_MAX_KEYS];	/* table column of each scan key */
	FmgrInfo   *eq;				/* by attnum - 1; fn_oid 0 not yet, or none */
} SlLookup;

typedef struct SlRelState
{
	SlApply    *ap;
	SlRelMap   *map;
	struct SlRelState *root;	/* NULL for the table the map names */
	Relation	rel;
	Oid			owner;
	EState	   *estate;
	ResultRelInfo *rri;
	EPQState	epq;
	bool		partitioned;
	bool		fires;			/* row triggers that fire in replica role */
	TupleTableSlot *want;		/* row to look for */
	TupleTableSlot *row;		/* row to write */
	TupleTableSlot *found;
	TupleTableSlot *spare;		/* as found, made at need */
	uint8	   *sent;			/* by attnum - 1: SL_SENT_* */
	int			ndefaults;		/* columns the source does not send */
	AttrNumber *default_att;
	ExprState **default_expr;
	AttrMap    *from_root;		/* NULL: same layout as the root */
	int			nkeys;			/* map's, as attnums of this relation */
	AttrNumber *keys;
	int			ninskeys;
	AttrNumber *inskeys;
	SlLookup	look;
	HTAB	   *children;		/* partition oid to SlRelState */
	bool		route_all;		/* the identity does not tell the partition */
	int			clean;			/* inserts in a row that met no row of their
								 * key */
} SlRelState;

#define SL_SENT_NOT			0	/* the source does not send this column */
#define SL_SENT_VALUE		1
#define SL_SENT_UNCHANGED	2

struct SlApply
{
	MemoryContext cxt;			/* long-lived */
	MemoryContextCallback gone; /* of cxt: invalidations reach us no more */
	MemoryContext xactcxt;		/* reset with each target transaction */
	SlStream   *stream;
	SlSlot	   *slot;
	bool		goes_on;		/* see sl_apply_go_on */
	bool		feed;			/* pin the session within a GUC level */
	bool		bridged;		/* sluice-bridge reads the source */
	SlSourceServer server;		/* that the batch in hand is of */
	HTAB	   *maps;
	char	  **accept_triggers;
	char	  **insert_only;
	int			ncopied;		/* the stream's tables, as they were when
								 * these were read … */
	SlStreamTable *copied;
	XLogRecPtr	last_snapshot;	/* … and the latest snapshot of one, or the
								 * end of its window */
	MemoryContext copiedcxt;	/* of them */
	bool		copied_stale;	/* they may be others by now */

	/* target transaction */
	bool		in_xact;
	int			guc_level;		/* of the pinned settings, 0 = none */
	bool		snapshot_pushed;
	bool		trigger_query;
	List	   *states;			/* open SlRelStates, roots and partitions */
	Oid			acting;			/* owner we act as, InvalidOid = ourselves */
	int			acting_level;	/* GUC level of that */
	Oid			save_user;
	int			save_context;
	int64		delta[SL_COUNTERS];
	StringInfo	decisions;		/* the judge's, as JSON objects; NULL = none */
	bool		hopeful;		/* see sl_apply_hope */
	bool		unlooked;		/* the last insert did not look for its key */

	/* source transaction */
	bool		in_source;
	bool		skipping;		/* it is applied already */
	XLogRecPtr	in_hand;		/* its commit LSN */

	/* position */
	XLogRecPtr	position;		/* of the last boundary seen */
	char	   *position_text;
	TimestampTz position_time;
	bool		position_moved;
	XLogRecPtr	stored;			/* committed, for all that is known here */
	XLogRecPtr	finished;		/* written, its commit not confirmed yet */
	int			npending;
	int64		pending_bytes;

	/* what an error would speak of */
	SlRelState *at_state;
	const SlChange *at_change;
	int			at_column;		/* of the shape, -1 = none */
};

/* apply.c */

/* Close every relation and fire what is queued: a table is to be altered. */
extern void sl_apply_settle(SlApply *ap);

/* relmap.c */
extern SlRelMap *sl_relmap_put(SlApply *ap, const SlShape *shape);
extern SlRelMap *sl_relmap_get(SlApply *ap, uint32 wireid);
extern void sl_relmap_prepare(SlApply *ap, SlRelMap *map);
extern void sl_relmap_watch(SlApply *ap);
extern void sl_relmap_unwatch(SlApply *ap);
extern void sl_relmap_forget(SlApply *ap);
extern void sl_relmap_recheck(SlApply *ap);
extern void sl_relmap_load_snapshots(SlApply *ap);
extern bool sl_relmap_in_copy(SlApply *ap, SlRelMap *map);

/*
 * wedge.c: such a refusal names the way out: the stream makes the change in its place, or
 * copies again what it cannot carry.
 */
struct SlRefusal;
extern void sl_relmap_tell_wedge(SlApply *ap, const SlRelMap *map, const SlCase *asked,
								 struct SlRefusal *r);

/* cells.c */
extern void sl_cells_init(SlColumnIn *in, const SlColumn *col, Form_pg_attribute att,
						  bool feed);
extern void sl_cells_read(SlRelState *rs, const SlRow *row, bool keys_only,
						  TupleTableSlot *slot, uint8 *sent);
extern char *sl_key_text(SlRelState *rs, TupleTableSlot *slot);

/* relstate.c */
extern SlRelState *sl_relstate_get(SlApply *ap, SlRelMap *map);
extern void sl_act_as(SlApply *ap, Oid owner);
extern void sl_relstate_act(SlRelState *rs);
extern void sl_act_back(SlApply *ap);
extern void sl_relstate_close_all(SlApply *ap);
extern void sl_relstate_reset_row(SlRelState *rs);

/* route.c */
extern SlRelState *sl_route(SlRelState *root, TupleTableSlot *slot);
extern List *sl_route_all(SlRelState *root);
extern bool sl_route_known(Relation root, const AttrNumber *keys, int nkeys);
extern TupleTableSlot *sl_to_leaf(SlRelState *leaf, TupleTableSlot *rootslot,
								  TupleTableSlot *leafslot);
extern SlRelState *sl_relstate_child(SlRelState *root, Oid leaf);

/* lookup.c */
typedef enum SlFound
{
	SL_FOUND_NONE,
	SL_FOUND_SAME,				/* byte for byte */
	SL_FOUND_EQUAL				/* by the types' equality only */
} SlFound;

extern void sl_lookup_open(SlRelState *rs);
extern SlFound sl_lookup_find(SlRelState *rs, const AttrNumber *atts, int natts,
							  bool sure);
extern bool sl_lookup_lock(SlRelState *rs);

/* apply_row.c */
extern void sl_row_insert(SlRelState *rs, const SlChange *c);
extern void sl_row_update(SlRelState *rs, const SlChange *c);
extern void sl_row_delete(SlRelState *rs, const SlChange *c);

typedef enum SlFilled
{
	SL_FILLED_MISSING,			/* no such row here */
	SL_FILLED_SAME,				/* nothing to write */
	SL_FILLED_WRITTEN
} SlFilled;

extern SlFilled sl_row_fill(SlRelState *rs, const SlChange *c);

/* apply.c: the same through a map of the caller's own, errors as a row's. */
extern SlFilled sl_apply_fill(SlApply *ap, SlRelMap *map, const SlChange *c);

/* truncate.c */
extern void sl_apply_truncate(SlApply *ap, const SlTruncate *t);

/* guard.c */
extern void sl_guard_target(SlStream *s, Relation rel);
extern Oid sl_target_lookup(SlStream *s, const char *schema, const char *table);
extern bool sl_guard_row_triggers(Relation rel);
extern bool sl_guard_truncate_triggers(Relation rel);
extern SL_NORETURN void sl_row_error(SlApply *ap, bool inserting);
extern SL_NORETURN void sl_refuse_rel(Relation rel, SlMarker marker,
									  const char *column, const char *constraint,
									  const char *detail, const char *hint,
									  const char *fmt,...) pg_attribute_printf(7, 8);
extern void sl_conflict(SlRelState *rs, SlConflictKind kind, TupleTableSlot *slot);

/* feed.c */
extern void sl_apply_pin(SlApply *ap);

#endif							/* SL_APPLY_INT_H */
