/*
 * control.h
 *	  The bodies of all events but table maps and rows, into items.
 *
 * Rule: MySQL source documentation of mysql::binlog::event (control_events.h,
 * statement_events.h, load_data_events.h), MariaDB Knowledge Base
 * "Replication Protocol".
 */
#ifndef BL_CONTROL_H
#define BL_CONTROL_H

#include "bridge/binlog/decoder.h"
#include "bridge/binlog/kind.h"
#include "bridge/binlog/le.h"

#define BL_FILE_MAX	512			/* bytes of a log file's name */

/* What the strings of an item point to until the next one. */
typedef struct BlControl
{
	char		file[BL_FILE_MAX + 1];
	char		database[256];
	char		time_zone[256];
	StringInfoData text;
	BlGtidSet  *set;
} BlControl;

extern void bl_control_init(BlControl *c);
extern void bl_control_clear(BlControl *c);

/*
 * The item of item->event, whose kind and frame are set: fills item->kind and
 * item->u.  *known is false, and nothing else done, for kinds that are not
 * read here.  Errors as of decoders everywhere: offsets count from the body.
 */
extern bool bl_control_read(BlControl *c, const BlFormat *format, BlItem *item,
							bool *known, SlError *err);

#endif							/* BL_CONTROL_H */
