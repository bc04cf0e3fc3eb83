/*
 * kind.c
 *	  The registry of event kinds, by number.
 */
#include "bridge/binlog/kind.h"

#define WRITERS_MYSQL	.mysql = true
#define WRITERS_MARIADB	.mariadb = true
#define WRITERS_BOTH	.mysql = true, .mariadb = true
#define ENTRY(number, label, writers, holds) \
	[number] = {.name = #label, .class = BL_CLASS_##holds, WRITERS_##writers},

static const BlKindInfo kinds[BL_EV_COUNT] = {
	BL_KINDS(ENTRY)
};

const BlKindInfo *
bl_kind_info(BlFlavor flavor, uint8 kind)
{
	const BlKindInfo *k;

	if (kind >= BL_EV_COUNT)
		return NULL;
	k = &kinds[kind];
	return (flavor == BL_MARIADB ? k->mariadb : k->mysql) ? k : NULL;
}
