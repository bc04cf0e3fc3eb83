/*
 * checksum.h
 *	  The CRC-32 that ends events of the binary log.
 */
#ifndef BL_CHECKSUM_H
#define BL_CHECKSUM_H

#include "common/sl_common.h"

/*
 * That of ISO 3309 and zlib, of len bytes behind those that crc is of (0: none).
 * The result is the same on every processor.
 */
extern uint32 bl_crc32(uint32 crc, const void *data, size_t len);

#endif							/* BL_CHECKSUM_H */
