/*
 * verify_int.h
 *	  Between the files of the process that compares.
 */
#ifndef BR_VERIFY_INT_H
#define BR_VERIFY_INT_H

#include "bridge/schema/schema.h"
#include "bridge/types/codec.h"
#include "bridge/verify.h"
#include "bridge/verify/sum.h"

/* Words between the process that compares and the one that follows, one byte each. */
#define BR_WORD_STAND	'H'		/* stand still */
#define BR_WORD_REACH	'T'		/* come to the position whose 8 bytes follow */
#define BR_WORD_GO		'G'		/* go on */
#define BR_WORD_DONE	'd'		/* it stands there */
#define BR_WORD_PASSED	'p'		/* it is behind it already */

/* How a column's values are compared. */
typedef enum BrSame
{
	BR_SAME_BINARY,				/* by the send form */
	BR_SAME_TEXT,				/* by the text that the codec makes */
	BR_SAME_CAST				/* by the text that the target makes of that */
} BrSame;

typedef struct BrVerifyColumn
{
	const BrColumn *def;
	MyTarget	target;
	MyCodec    *codec;
	BrSame		same;
	bool		padded;			/* blanks at the end do not count */
	int			scale;			/* digits that the target's numeric has; -1 =
								 * those of the value */
	char	   *cast;			/* the type, for BR_SAME_CAST */
	bool		versioned;		/* a byte stands before the codec's text */
} BrVerifyColumn;

typedef struct BrVerifyTable
{
	const BrStream *s;
	const BrTable *def;
	const char *target;			/* FROM item, quoted */
	int			ncols;
	BrVerifyColumn *cols;
	int			nkeys;			/* 0 = the row is its own key */
	int		   *keys;			/* indexes into cols */
	char		skip[512];		/* why it is not compared; "" = it is */
} BrVerifyTable;

/* The sessions of a comparison. */
typedef struct BrVerify
{
	const BrStream *s;
	BrTarget   *control;		/* answers; and conversions */
	BrTarget   *data;			/* the target's snapshot */
	MxConn	   *source;			/* the source's snapshot */
	MxConn	   *catalog;
	int64		ticket;
	int			fd;				/* to the process that follows */
	bool		counts_only;
	bool		unwanted;		/* nobody waits for the answer any more */
	char		message[1024];	/* of a failure */
	char		hint[1024];
} BrVerify;

/* False, with the message (printf style). */
extern bool br_verify_fail(BrVerify *v, const char *fmt,...) pg_attribute_printf(2, 3);

/* One row: its key and itself, each as bytes that are the same for the same values.  False ends the reading. */
typedef bool (*BrVerifySink) (void *arg, const StringInfo key, const StringInfo row);

/* plan.c: what is compared of a table.  False: v->message; t->skip: it cannot be. */
extern bool br_verify_plan(BrVerify *v, const BrCatalog *cat, const BrTable *def, const char *schema,
						   const char *table, BrVerifyTable *t);

/* rows.c: each row of a side. */
extern bool br_verify_source(BrVerify *v, BrVerifyTable *t, BrVerifySink sink, void *arg);
extern bool br_verify_target(BrVerify *v, BrVerifyTable *t, BrVerifySink sink, void *arg);

/* A key's bytes for people; palloc'd, NULL: v->message. */
extern char *br_verify_key_text(BrVerify *v, const BrVerifyTable *t, const StringInfo key);

/* compare.c: one table; the answer's members into out. */
extern bool br_verify_compare(BrVerify *v, BrVerifyTable *t, StringInfo out);

/* place.c: both snapshots at one position, of the tables that are named "database.table" for the source and the target. */
extern bool br_verify_snapshots(BrVerify *v, const char *source_tables, const char *target_tables);

/* identity.c: where AUTO_INCREMENT of the request's tables stands and who still writes, as answers. */
extern bool br_verify_identities(BrVerify *v, const BrJson *tables);

/* child.c: hand an answer in.  False: nobody waits any more, or the target is gone. */
extern bool br_verify_answer(BrVerify *v, const char *json);

/* child.c: all of it; does not return. */
extern void br_verify_run(const BrStream *s, const BrJson *request, int64 ticket, int fd) SL_NORETURN;

#endif							/* BR_VERIFY_INT_H */
