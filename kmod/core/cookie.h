/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The cookie: the secret number that the datagrams of an epoch carry.
 *
 * A sender that knows the cookie may contribute, ask for repairs, and end the epoch. Results by
 * multicast reach hosts that are no members. So the results of a group with a multicast address
 * carry another value: SipHash-2-4 of a constant, keyed with the cookie. From that value the cookie
 * can be found only by trying all cookies.
 */
#ifndef GAGG_CORE_COOKIE_H
#define GAGG_CORE_COOKIE_H

#include "types.h"

static inline u64 gagg_rotl64(u64 x, u32 n)
{
	return x << n | x >> (64 - n);
}

static inline void gagg_sipround(u64 v[4])
{
	v[0] += v[1];
	v[1] = gagg_rotl64(v[1], 13) ^ v[0];
	v[0] = gagg_rotl64(v[0], 32);
	v[2] += v[3];
	v[3] = gagg_rotl64(v[3], 16) ^ v[2];
	v[0] += v[3];
	v[3] = gagg_rotl64(v[3], 21) ^ v[0];
	v[2] += v[1];
	v[1] = gagg_rotl64(v[1], 17) ^ v[2];
	v[2] = gagg_rotl64(v[2], 32);
}

/* SipHash-2-4 of one word of 8 bytes */
static inline u64 gagg_siphash(u64 k0, u64 k1, u64 word)
{
	u64 v[4] = {
		k0 ^ 0x736f6d6570736575ULL, k1 ^ 0x646f72616e646f6dULL,
		k0 ^ 0x6c7967656e657261ULL, k1 ^ 0x7465646279746573ULL,
	};
	const u64 length = 8ULL << 56;
	u32 i;

	v[3] ^= word;
	gagg_sipround(v);
	gagg_sipround(v);
	v[0] ^= word;
	v[3] ^= length;
	gagg_sipround(v);
	gagg_sipround(v);
	v[0] ^= length;
	v[2] ^= 0xff;
	for (i = 0; i < 4; i++)
		gagg_sipround(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* what results carry that other hosts may hear; the word is "results" and a zero, little-endian */
static inline u64 gagg_cookie_of_results(u64 cookie)
{
	return gagg_siphash(cookie, 0, 0x0073746c75736572ULL);
}

#endif
