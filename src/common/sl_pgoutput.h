/*
 * sl_pgoutput.h
 *	  Decoder of pgoutput's messages, protocol versions 1 to 4, without I/O.
 *
 * Rule: PostgreSQL documentation, "Logical Replication Message Formats".
 */
#ifndef SL_PGOUTPUT_H
#define SL_PGOUTPUT_H

#include "common/sl_error.h"
#include "common/sl_record.h"

typedef struct SlPgoutput SlPgoutput;

/* proto_version: the one asked for at START_REPLICATION (1 to 4). */
extern SlPgoutput *sl_pgoutput_create(int proto_version);
extern void sl_pgoutput_free(SlPgoutput *d);

/*
 * Decode one message (the payload of a 'w' CopyData message, after its 24
 * byte head).  Fills *rec; a Relation message becomes SL_REC_SHAPE with
 * evidence SL_EVIDENCE_WIRE, wireid = relid, attnum 0.  Returns false and
 * fills err on anything unknown or malformed, trailing bytes included: the
 * stream must then stop.  Memory of *rec is reused by the next call.
 */
extern bool sl_pgoutput_decode(SlPgoutput *d, const char *data, size_t len,
							   SlRecord *rec, SlError *err);

#endif							/* SL_PGOUTPUT_H */
