/*
 * api_acknowledge.c
 *	  sluice.acknowledge: accept a recorded refusal without starting.
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "tcop/utility.h"
#include "utils/builtins.h"

#include "pgext/api.h"
#include "pgext/refusal.h"
#include "pgext/pgcompat.h"

PG_FUNCTION_INFO_V1(sluice_acknowledge);

/*
 * sluice.acknowledge(stream_id, fingerprint, reason): members of the role that
 * owns the stream.
 */
Datum
sluice_acknowledge(PG_FUNCTION_ARGS)
{
	char	   *stream_id = sl_arg_text(fcinfo, 0, "stream_id");
	char	   *fingerprint = sl_arg_text(fcinfo, 1, "fingerprint");
	char	   *reason = sl_arg_text(fcinfo, 2, "reason");
	SlStream   *s;

	PreventCommandIfReadOnly("sluice.acknowledge()");
	PreventCommandDuringRecovery("sluice.acknowledge()");
	if (reason[0] == '\0')
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the reason of an acknowledgement must not be empty"),
				 errhint("It is kept in sluice.refusals for those who look later.")));
	s = sl_stream_load(stream_id, false);
	sl_require_owner(s);
	sl_refusal_acknowledge(s, fingerprint, reason);
	PG_RETURN_VOID();
}
