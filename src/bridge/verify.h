/*
 * verify.h
 *	  sluice.verify() of a stream: a process of its own compares, the one that
 *	  follows brings the stream to the position at which it does.
 *
 * Rule: docs/internals/bridge.md, "Comparing".
 */
#ifndef BR_VERIFY_H
#define BR_VERIFY_H

#include "bridge/json_in.h"
#include "bridge/stream.h"

typedef struct BrVerifier BrVerifier;

extern BrVerifier *br_verifier_create(BrStream *s);

/* End what compares. */
extern void br_verifier_free(BrVerifier *v);

/* The member "verify" of an answer of feed(): what it asks for is begun, once. */
extern void br_verifier_take(BrVerifier *v, const BrJson *request);

/* What the process that compares waits for. */
typedef enum BrVerifyWish
{
	BR_WISH_NONE,
	BR_WISH_STAND,				/* stand still, between transactions */
	BR_WISH_REACH				/* come to br_verifier_lsn, exactly */
} BrVerifyWish;

/* Looks whether it has said something. */
extern BrVerifyWish br_verifier_wish(BrVerifier *v);
extern uint64 br_verifier_lsn(const BrVerifier *v);

/* All that lies before the place is committed on the target, and nothing behind it; passed: it was too late for that. */
extern void br_verifier_fulfil(BrVerifier *v, bool passed);

/* Must the stream stand still still?  No longer than some time. */
extern bool br_verifier_holds(BrVerifier *v);

/* To wait for what it says; -1 = nothing compares. */
extern int	br_verifier_socket(const BrVerifier *v);

#endif							/* BR_VERIFY_H */
