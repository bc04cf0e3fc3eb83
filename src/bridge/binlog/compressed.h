/*
 * compressed.h
 *	  MariaDB's compressed events (log_bin_compress), made plain ones.
 *
 * Rule: MariaDB Knowledge Base "Compressing Events to Reduce Size of the Binary Log"; source binlog_buf_compress().
 */
#ifndef BL_COMPRESSED_H
#define BL_COMPRESSED_H

#include "bridge/binlog/buffer.h"
#include "bridge/binlog/event.h"

/* Is it one of them? */
extern bool bl_is_compressed(uint8 kind);

/*
 * Make a compressed event the plain one it stands for: its kind, and its body,
 * which is in buf until the next call.  The frame's length stays that of the
 * log.  More than max bytes of body are SL_ERR_LIMIT before memory is asked for.
 */
extern bool bl_uncompress_event(const BlFormat *format, BlEvent *ev, size_t max,
								BlBuffer *buf, SlError *err);

#endif							/* BL_COMPRESSED_H */
