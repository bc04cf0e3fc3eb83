/*
 * checksum.c
 *	  The CRC-32 that ends events of the binary log.
 *
 * Most events are of a hundred bytes or so, where a CRC by tables costs as much
 * as all else that is done with them.  Where the processor multiplies without
 * carries, 16 bytes are taken at a time, as in V. Gopal et al., "Fast CRC
 * Computation for Generic Polynomials Using PCLMULQDQ Instruction" (Intel,
 * 2009), in its form for reflected bits: the polynomial of 16 bytes is replaced
 * by a congruent one that many bits further on, and the last by what is left of
 * it by Barrett's reduction.
 */
#include <zlib.h>

#include "bridge/binlog/checksum.h"

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>

#define LANE			16		/* bytes */
#define CARRYLESS		__attribute__((target("pclmul,sse4.1")))

/* x^n mod P, bits reflected, for 512 bits on, 128, 64; and what reduces */
#define X_512_PLUS_32	INT64CONST(0x0154442bd4)
#define X_512_MINUS_32	INT64CONST(0x01c6e41596)
#define X_128_PLUS_32	INT64CONST(0x01751997d0)
#define X_128_MINUS_32	INT64CONST(0x00ccaa009e)
#define X_64			INT64CONST(0x0163cd6124)
#define POLYNOMIAL		INT64CONST(0x01db710641)
#define QUOTIENT		INT64CONST(0x01f7011641)

CARRYLESS static inline __m128i
load(const unsigned char *p)
{
	return _mm_loadu_si128((const void *) p);
}

/* What is congruent to a, as far on as by says, and b that is there. */
CARRYLESS static inline __m128i
fold(__m128i a, __m128i by, __m128i b)
{
	return _mm_xor_si128(b, _mm_xor_si128(_mm_clmulepi64_si128(a, by, 0x00),
										  _mm_clmulepi64_si128(a, by, 0x11)));
}

CARRYLESS static inline uint32
reduce(__m128i a, __m128i by)
{
	const		__m128i low = _mm_set_epi32(0, -1, 0, -1);
	const		__m128i barrett = _mm_set_epi64x(QUOTIENT, POLYNOMIAL);
	__m128i		q;

	a = _mm_xor_si128(_mm_srli_si128(a, 8), _mm_clmulepi64_si128(a, by, 0x10));
	a = _mm_xor_si128(_mm_srli_si128(a, 4),
					  _mm_clmulepi64_si128(_mm_and_si128(a, low), _mm_set_epi64x(0, X_64), 0x00));
	q = _mm_clmulepi64_si128(_mm_and_si128(a, low), barrett, 0x10);
	q = _mm_clmulepi64_si128(_mm_and_si128(q, low), barrett, 0x00);
	return (uint32) _mm_extract_epi32(_mm_xor_si128(a, q), 1);
}

/* Of whole lanes, one at least; crc is inverted before and behind. */
CARRYLESS static uint32
crc_of_lanes(uint32 crc, const unsigned char *p, size_t lanes)
{
	const		__m128i far = _mm_set_epi64x(X_512_MINUS_32, X_512_PLUS_32);
	const		__m128i next = _mm_set_epi64x(X_128_MINUS_32, X_128_PLUS_32);
	const unsigned char *end = p + lanes * LANE;
	__m128i		a = _mm_xor_si128(load(p), _mm_cvtsi32_si128((int) crc));

	if (lanes >= 4)
	{
		__m128i		b = load(p + LANE);
		__m128i		c = load(p + 2 * LANE);
		__m128i		d = load(p + 3 * LANE);

		for (p += 4 * LANE; end - p >= 4 * LANE; p += 4 * LANE)
		{
			a = fold(a, far, load(p));
			b = fold(b, far, load(p + LANE));
			c = fold(c, far, load(p + 2 * LANE));
			d = fold(d, far, load(p + 3 * LANE));
		}
		a = fold(fold(fold(a, next, b), next, c), next, d);
	}
	else
		p += LANE;
	for (; p < end; p += LANE)
		a = fold(a, next, load(p));
	return reduce(a, next);
}

/* See checksum.h. */
uint32
bl_crc32(uint32 crc, const void *data, size_t len)
{
	const unsigned char *p = data;
	size_t		whole = len - len % LANE;

	if (whole > 0 && __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1"))
	{
		crc = ~crc_of_lanes(~crc, p, whole / LANE);
		p += whole;
		len -= whole;
	}
	return len > 0 ? (uint32) crc32_z(crc, p, len) : crc;
}

#else

/* See checksum.h. */
uint32
bl_crc32(uint32 crc, const void *data, size_t len)
{
	return len > 0 ? (uint32) crc32_z(crc, data, len) : crc;
}

#endif
