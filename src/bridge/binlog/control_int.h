/*
 * control_int.h
 *	  What the files of control share.
 */
#ifndef BL_CONTROL_INT_H
#define BL_CONTROL_INT_H

#include "bridge/binlog/control.h"

/* What a reader gets: a cursor over the body, and where its strings go. */
typedef struct BlBody
{
	BlControl  *control;
	const BlFormat *format;
	BlItem	   *item;
	SlCursor	c;
} BlBody;

/* Reads the body into the item; faults are the cursor's. */
typedef void (*BlReader) (BlBody *b);

/* control_gtid.c */
extern void bl_read_gtid(BlBody *b);
extern void bl_read_gtid_tagged(BlBody *b);
extern void bl_read_mariadb_gtid(BlBody *b);
extern void bl_read_previous_gtids(BlBody *b);
extern void bl_read_gtid_list(BlBody *b);

/* control_query.c */
extern void bl_read_query(BlBody *b);
extern void bl_read_execute_load_query(BlBody *b);

/* control_statement.c */
extern void bl_read_intvar(BlBody *b);
extern void bl_read_rand(BlBody *b);
extern void bl_read_user_var(BlBody *b);
extern void bl_read_load_block(BlBody *b);
extern void bl_read_delete_file(BlBody *b);

/* len bytes of the input as a zero-terminated copy in dest, which has room for size. */
extern void bl_copy_string(BlBody *b, char *dest, size_t size, const char *data,
						   size_t len, const char *what);

/* Make the control's text the item's. */
extern void bl_text_item(BlBody *b);

/* Fixed part of the body: at least min bytes by the format description; what it has beyond is skipped. */
extern bool bl_post_header(BlBody *b, uint8 kind, size_t min, SlCursor *post);

#endif							/* BL_CONTROL_INT_H */
