/*
 * sl_sha256.h
 *	  SHA-256 (FIPS 180-4) for fingerprints.
 *
 * Our own because the server's pg_cryptohash needs a resource owner, which a
 * worker between two transactions does not have, and because it may fail.
 */
#ifndef SL_SHA256_H
#define SL_SHA256_H

#include "common/sl_common.h"

#define SL_SHA256_BYTES 32

/* Digest of len bytes at data. */
extern void sl_sha256(const char *data, size_t len, uint8 *digest);

#endif							/* SL_SHA256_H */
