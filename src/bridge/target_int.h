/*
 * target_int.h
 *	  What the files of a session on the target know of each other.
 */
#ifndef BR_TARGET_INT_H
#define BR_TARGET_INT_H

#include "libpq-fe.h"

#include "bridge/target.h"

#define BR_MAX_PARAMS	16		/* of one statement */
#define BR_MAX_DEPTH	64		/* statements in flight */

#define BR_PREPARED		"sluice_bridge"

/* What came of a statement. */
typedef struct BrAnswer
{
	bool		ok;
	char	   *value;			/* of its first column; NULL = none */
	BrError		err;			/* unless ok */
} BrAnswer;

/* What of the oldest statement's answer comes next. */
typedef enum BrStage
{
	BR_WANT_RESULT,
	BR_WANT_END,
	BR_WANT_SYNC
} BrStage;

struct BrTarget
{
	PGconn	   *conn;
	char	   *piece;			/* of a COPY, libpq's; NULL = none */
	const volatile bool *give_up;	/* NULL = statements are waited for */
	char	   *prepared;		/* statement that is, as BR_PREPARED; NULL =
								 * none */
	int			depth;			/* of the pipeline; 0 = there is none */
	int			first;			/* oldest in flight, in a ring */
	int			flying;			/* how many are */
	bool		synced[BR_MAX_DEPTH];	/* a sync follows that statement */
	bool		asked;			/* the server will send the results of all
								 * that was sent */
	BrStage		stage;
	BrAnswer	hand;			/* of the oldest in flight, as far as it came */
	int			ntaken;			/* answers that a send had to wait for */
	BrAnswer   *taken[BR_MAX_DEPTH];
};

/* A statement's parameters in libpq's form. */
typedef struct BrBound
{
	Oid			types[BR_MAX_PARAMS];
	const char *values[BR_MAX_PARAMS];
	int			lengths[BR_MAX_PARAMS];
	int			formats[BR_MAX_PARAMS];
} BrBound;

/* ---------- target.c ---------- */

extern bool br_target_bind(const BrParam *params, int n, BrBound *bound, BrError *err);

/* Fill err with what is wrong with the session, or (res) a statement; false. */
extern bool br_target_failed(BrTarget *t, const PGresult *res, BrError *err);

#endif							/* BR_TARGET_INT_H */
