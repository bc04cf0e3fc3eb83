/*
 * payload.h
 *	  TRANSACTION_PAYLOAD events: a transaction's events, compressed together.
 *
 * Rule: MySQL source Transaction_payload_event and its codec.  Events come out
 * one by one, so that memory is that of the largest, not of the transaction.
 */
#ifndef BL_PAYLOAD_H
#define BL_PAYLOAD_H

#include "common/sl_error.h"

typedef struct BlPayload BlPayload;

/* max_event: bytes of the longest event that is taken. */
extern BlPayload *bl_payload_create(size_t max_event);
extern void bl_payload_free(BlPayload *p);

/*
 * Begin with an event's body, which must outlive the calls of bl_payload_next.
 * Sizes in bytes.  A compression that is not known is SL_ERR_UNSUPPORTED.
 */
extern bool bl_payload_open(BlPayload *p, const char *data, size_t len,
							uint64 *compressed, uint64 *uncompressed, SlError *err);

/*
 * The next event, from its header on, until the next call.  False at the end
 * (err->code SL_ERR_NONE) and at a fault: a frame that is cut, is longer or
 * shorter than stated, or an event beyond the limit.
 */
extern bool bl_payload_next(BlPayload *p, const char **data, size_t *len, SlError *err);

#endif							/* BL_PAYLOAD_H */
