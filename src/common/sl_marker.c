/*
 * sl_marker.c
 *	  Look-ups in the registry of markers.
 */
#include "common/sl_marker.h"

static const SlMarkerInfo marker_info[SL_M_COUNT] = {
#define SL_MARKER(sym, text, state, end, keep, ack, remedy) \
	[SL_M_##sym] = {text, state, SL_END_##end, SL_KEEP_##keep, SL_ACK_##ack, remedy},
	SL_MARKER_LIST
#undef SL_MARKER
};

/* NULL for SL_M_NONE and for numbers that are no marker. */
const SlMarkerInfo *
sl_marker_info(SlMarker m)
{
	if (m <= SL_M_NONE || m >= SL_M_COUNT)
		return NULL;
	return &marker_info[m];
}

/* The marker with these five characters. */
SlMarker
sl_marker_by_sqlstate(const char *sqlstate)
{
	for (int m = SL_M_NONE + 1; m < SL_M_COUNT; m++)
	{
		if (strcmp(marker_info[m].sqlstate, sqlstate) == 0)
			return (SlMarker) m;
	}
	return SL_M_NONE;
}

/* The marker with this text, as "SLOT-LOST". */
SlMarker
sl_marker_by_text(const char *text)
{
	for (int m = SL_M_NONE + 1; m < SL_M_COUNT; m++)
	{
		if (strcmp(marker_info[m].text, text) == 0)
			return (SlMarker) m;
	}
	return SL_M_NONE;
}
