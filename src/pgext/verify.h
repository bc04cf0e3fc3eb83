/*
 * verify.h
 *	  Source and target rows compared at one position while the stream runs.
 *
 * verify.c is the SQL function and its course, verify_hold.c the agreement
 * with the worker, verify_plan.c the statements for both sides,
 * verify_compare.c the comparison, and verify_bridge.c has a bridge make it, by
 * verify_request.c.
 */
#ifndef SL_VERIFY_H
#define SL_VERIFY_H

#include "pgext/conn.h"
#include "pgext/shmem.h"
#include "pgext/spi_util.h"
#include "pgext/stream.h"

/* Keys shown per table, and bytes shown of one key. */
#define SL_VERIFY_KEYS		10
#define SL_VERIFY_KEY_BYTES 200

/* Bucket digits: 16^0 to 16^4 buckets per table. */
#define SL_VERIFY_MAX_DIGITS 4

typedef enum SlVerifyMode
{
	SL_VERIFY_COUNT,			/* numbers of rows only */
	SL_VERIFY_CHECKSUM,			/* every value of every row */
	SL_VERIFY_SAMPLE			/* numbers of rows, every value of some rows */
} SlVerifyMode;

/* What differs from side to side in a statement. */
typedef struct SlVerifySide
{
	char	   *rel;			/* FROM item, quoted and qualified */
	char	   *row;			/* expression: text form of the row */
	char	   *key;			/* expression: text form of its key */
	char	   *filter;			/* row filter of the publication, or NULL */
	bool		convert;		/* hash the UTF8 form: encodings differ */
} SlVerifySide;

typedef struct SlVerifyTable
{
	char	   *schema;			/* on the source */
	char	   *table;
	Oid			source_oid;
	Oid			target;
	char	   *skip;			/* why it is not compared, or NULL */
	SlVerifySide source;
	SlVerifySide local;
	bool		keyless;		/* the row itself is the key */
	int			nkeys;
	List	   *leaves;			/* Oids of a partitioned target's leaves */
	int64		est_rows;		/* upper guess, for the number of buckets */
	int			digits;			/* buckets are 16^digits */

	/* results */
	int64		source_rows;
	int64		target_rows;
	int64		changed;		/* on both sides, with other values */
	int64		missing;		/* on the source only */
	int64		extra;			/* on the target only */
	int64		misrouted;		/* in a partition that is not theirs */
	bool		answered;		/* by a bridge */
	int			nsamples;
	char	   *samples[SL_VERIFY_KEYS];
} SlVerifyTable;

/*
 * Hold the stream of a slot.  Raises when it does not run or does not answer
 * before a deadline.  The caller releases it in every case; release is
 * harmless when nothing is held.
 */
extern void sl_hold_ask(SlSlot *slot, const char *stream_id);
extern void sl_hold_run_to(SlSlot *slot, const char *stream_id, XLogRecPtr lsn);
extern void sl_hold_release(SlSlot *slot);

/*
 * Say in shared memory which table is compared now, and how many rows were
 * before it; relid 0: the stream is being held.  Ends with sl_verify_told.
 */
extern void sl_verify_tell(SlSlot *slot, Oid relid, int64 rows);
extern void sl_verify_told(SlSlot *slot);

/* 55000 with what to do, when the slot's worker is not streaming. */
extern void sl_hold_require_streaming(SlSlot *slot, const char *stream_id);

/*
 * Fill t->source_oid, or t->skip when the source has no such table; then
 * lock it there against being rewritten or truncated.  c has an open
 * transaction.
 */
extern void sl_verify_lock_source(SlConn *c, SlVerifyTable *t);

/*
 * Fill both sides' expressions from the source's catalog (c), the recorded
 * shape and the target's catalog; t->skip says why it cannot be.  Needs the
 * locks on both sides.
 */
extern void sl_verify_plan(SlConn *c, const SlStream *s, SlVerifyTable *t);

/* The statements; every one is a palloc'd SQL text. */
extern char *sl_verify_count_sql(const SlVerifySide *side);
extern char *sl_verify_buckets_sql(const SlVerifyTable *t, const SlVerifySide *side);

/* buckets: array literal of the prefixes wanted, NULL for all. */
extern char *sl_verify_rows_sql(const SlVerifyTable *t, const SlVerifySide *side,
								const char *buckets);

/*
 * Compare one table; results go into t.  c is the connection that has the
 * source's snapshot; SPI is connected and the active snapshot is the target's.
 * cxt: where the samples live.
 */
extern void sl_verify_compare(SlConn *c, const SlStream *s, SlVerifyTable *t,
							  SlVerifyMode mode, MemoryContext cxt);

/*
 * Have the stream's bridge compare tables; results go into them.  Raises 55000 where
 * there is none, it goes away, or it cannot.  The caller withdraws the request
 * (sl_request_withdraw) and ends sl_verify_tell's in every case.
 */
extern void sl_verify_bridged(SlSlot *slot, const char *stream_id, SlVerifyMode mode,
							  SlVerifyTable *tables, int n);

/*
 * Become the owner of a target table with verify's settings pinned; refuses
 * TARGET-PERMISSION when the stream's owner may not.  Ends with
 * sl_become_back.
 */
extern void sl_verify_act(const SlStream *s, Oid relid, SlUserSwitch *sw);

#endif							/* SL_VERIFY_H */
