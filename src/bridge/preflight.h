/*
 * preflight.h
 *	  What must hold of a source before its tables are copied and followed:
 *	  everything at once, each with the statement that cures it.
 *
 * Rule: docs/sources-mysql.md, "Checks".  Looked at is the source only; what
 * the target's tables can hold is the extension's to judge.
 */
#ifndef BR_PREFLIGHT_H
#define BR_PREFLIGHT_H

#include "bridge/source_check.h"
#include "bridge/stream.h"

/*
 * Check the source of a stream that feed_open has given, on a connection of its
 * own: the server's settings and grants, the tables in scope and, while nothing
 * was copied yet, their rows.  What must hold and does not becomes one fault
 * PREFLIGHT-FAILED on t, which holds the token; what is only advice is logged.
 * True: go on.  False: *out says how it ended.
 */
#define BR_PREFLIGHT_SECONDS	60	/* of a stream, for a table */

extern bool br_preflight(BrStream *s, BrTarget *t, BrOutcome *out);

/*
 * The same checks into out, which the caller frees (br_source_checks_free).
 * seconds: for how long to look in a table for values that the target cannot hold, which reads it once; 0 = not.
 * texts: for zero bytes too, though most texts have none and reading them takes as long as a good part of a copy, which
 * refuses them as well.  False when the connection fails (*err).
 */
extern bool br_preflight_run(const BrStream *s, MxConn *c, int seconds, bool texts, BrSourceChecks *out, MxError *err);

#endif							/* BR_PREFLIGHT_H */
