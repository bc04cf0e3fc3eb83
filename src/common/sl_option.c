/*
 * sl_option.c
 *	  Look-ups in the registry of options.
 */
#include "common/sl_option.h"

static const SlOptionInfo option_info[SL_O_COUNT] = {
#define SL_OPTION(sym, key, kind, built, dflt, meaning) \
	[SL_O_##sym] = {key, SL_OPT_##kind, built, dflt, meaning},
	SL_OPTION_LIST
#undef SL_OPTION
};

/* NULL for a number that is no option. */
const SlOptionInfo *
sl_option_info(SlOption o)
{
	if ((int) o < 0 || o >= SL_O_COUNT)
		return NULL;
	return &option_info[o];
}

/* The option with this key; keys are compared byte for byte. */
SlOption
sl_option_by_key(const char *key)
{
	for (int o = 0; o < SL_O_COUNT; o++)
	{
		if (strcmp(option_info[o].key, key) == 0)
			return (SlOption) o;
	}
	return SL_O_COUNT;
}
