/*
 * wire_json.h
 *	  Change records as JSON, for tests and support.
 *
 * The spelling is in docs/internals/wire.md, "As JSON".
 */
#ifndef SL_WIRE_JSON_H
#define SL_WIRE_JSON_H

#include "common/sl_record.h"
#include "utils/jsonb.h"

/* The word for a kind, as "insert"; "none" for one without a wire form. */
extern const char *sl_record_kind_name(SlRecordKind kind);

/* One record object to a record; raises 22023 when it cannot be one. */
extern void sl_record_from_json(JsonbContainer *object, SlRecord *rec);

/*
 * Append a record as a JSON object.  encoding: that of its texts, which are
 * converted to the database's and so verified.
 */
extern void sl_record_to_json(StringInfo out, const SlRecord *rec, int encoding);

#endif							/* SL_WIRE_JSON_H */
