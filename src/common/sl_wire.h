/*
 * sl_wire.h
 *	  Compact binary encoding of change records (docs/internals/wire.md).
 *
 * A batch is a header record followed by any number of records.  Each record
 * is tag byte, varint body length, body; a reader can skip a record whose tag
 * it does not know only by refusing it (SL_ERR_UNSUPPORTED).
 */
#ifndef SL_WIRE_H
#define SL_WIRE_H

#include "common/sl_error.h"
#include "common/sl_record.h"

#define SL_WIRE_MAGIC	"SLUI"
#define SL_WIRE_VERSION	4		/* what we write */
#define SL_WIRE_OLDEST	3		/* what we still read: one release back */

/*
 * Append one record to buf.  The record must be within the limits of
 * sl_record.h (asserted).  SL_REC_NONE and the never-asked-for pgoutput kinds
 * have no encoding: returns false and fills err.
 */
extern bool sl_wire_put(StringInfo buf, const SlRecord *rec, SlError *err);

/*
 * Same, in the form of an older version (or a newer one: then in ours).  What
 * that version cannot say is SL_ERR_UNSUPPORTED.
 */
extern bool sl_wire_put_version(StringInfo buf, const SlRecord *rec,
								uint16 version, SlError *err);

typedef struct SlWireReader SlWireReader;

/* Start reading a batch of len bytes at data, which must outlive the reader. */
extern SlWireReader *sl_wire_reader(const char *data, size_t len);
extern void sl_wire_reader_free(SlWireReader *r);

/*
 * Next record into *rec.  Returns false at the end (err->code SL_ERR_NONE) or
 * on a fault.  The first record must be a header of a version within
 * SL_WIRE_OLDEST .. SL_WIRE_VERSION.  Memory of *rec is reused by the next
 * call.
 */
extern bool sl_wire_next(SlWireReader *r, SlRecord *rec, SlError *err);

#endif							/* SL_WIRE_H */
