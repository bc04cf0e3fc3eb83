/*
 * bridge_request.h
 *	  What a bridge of this database is asked about a source that no stream has yet.
 *
 * Rule: docs/internals/bridge.md, "Without a stream".
 */
#ifndef SL_BRIDGE_REQUEST_H
#define SL_BRIDGE_REQUEST_H

#include "pgext/source.h"
#include "utils/jsonb.h"

/* Takes what an answer says (its root is an object); false: it was the last. */
typedef bool (*SlBridgeTake) (const char *kind, JsonbContainer *answer, void *arg);

/*
 * Ask, and hand every answer to take.  kind: "preflight" or "plan"; s: as sync_start would make it, of the caller's.  Raises
 * 55000 where no bridge that may act for s->owner looks at the database within some seconds, begins within
 * sluice.query_timeout, goes away, or fails; 53400 when too much is asked at once.
 */
extern void sl_bridge_request(const char *kind, const SlStream *s, const SlSource *src,
							  SlBridgeTake take, void *arg);

#endif							/* SL_BRIDGE_REQUEST_H */
