/*
 * hooks.c
 *	  What would strand a stream is refused.
 */
#include "postgres.h"

#include "pgext/hooks.h"
#include "pgext/pgcompat.h"

void
sl_hooks_init(void)
{
}
