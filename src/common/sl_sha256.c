/*
 * sl_sha256.c
 *	  SHA-256 of one buffer.
 */
#include "common/sl_sha256.h"

#include "port/pg_bswap.h"

#define BLOCK_BYTES 64

/* Fractions of the cube roots of the first 64 primes. */
static const uint32 round_key[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
	0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
	0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
	0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
	0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
	0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
	0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
	0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2
};

/* Fractions of the square roots of the first 8 primes. */
static const uint32 initial[8] = {
	0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c,
	0x1f83d9ab, 0x5be0cd19
};

static inline uint32
rotate(uint32 x, int n)
{
	return (x >> n) | (x << (32 - n));
}

static void
sha256_block(uint32 *state, const uint8 *block)
{
	uint32		w[64];
	uint32		v[8];

	for (int i = 0; i < 16; i++)
	{
		uint32		word;

		memcpy(&word, block + i * 4, sizeof(word));
		w[i] = pg_ntoh32(word);
	}
	for (int i = 16; i < 64; i++)
	{
		uint32		a = w[i - 15];
		uint32		b = w[i - 2];

		w[i] = w[i - 16] + w[i - 7] +
			(rotate(a, 7) ^ rotate(a, 18) ^ (a >> 3)) +
			(rotate(b, 17) ^ rotate(b, 19) ^ (b >> 10));
	}

	/* v[0] to v[7] are the standard's a to h. */
	memcpy(v, state, sizeof(v));
	for (int i = 0; i < 64; i++)
	{
		uint32		e = v[4];
		uint32		a = v[0];
		uint32		t1 = v[7] + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) +
		((e & v[5]) ^ (~e & v[6])) + round_key[i] + w[i];
		uint32		t2 = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) +
		((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));

		memmove(v + 1, v, 7 * sizeof(uint32));
		v[4] += t1;
		v[0] = t1 + t2;
	}
	for (int i = 0; i < 8; i++)
		state[i] += v[i];
}

/* Digest of len bytes at data into digest (SL_SHA256_BYTES). */
void
sl_sha256(const char *data, size_t len, uint8 *digest)
{
	const uint8 *p = (const uint8 *) data;
	uint64		bits = pg_hton64((uint64) len * 8);
	uint8		tail[2 * BLOCK_BYTES] = {0};
	size_t		rest = len % BLOCK_BYTES;
	size_t		ntail = rest < BLOCK_BYTES - 8 ? BLOCK_BYTES : 2 * BLOCK_BYTES;
	uint32		state[8];

	memcpy(state, initial, sizeof(state));
	for (size_t i = 0; i + BLOCK_BYTES <= len; i += BLOCK_BYTES)
		sha256_block(state, p + i);

	/* The rest, one bit, zeros, and the length in bits. */
	if (rest > 0)
		memcpy(tail, p + (len - rest), rest);
	tail[rest] = 0x80;
	memcpy(tail + ntail - sizeof(bits), &bits, sizeof(bits));
	for (size_t i = 0; i < ntail; i += BLOCK_BYTES)
		sha256_block(state, tail + i);

	for (int i = 0; i < 8; i++)
	{
		uint32		word = pg_hton32(state[i]);

		memcpy(digest + i * 4, &word, sizeof(word));
	}
}
