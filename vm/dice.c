// SPDX-License-Identifier: GPL-2.0
/*
 * User-mode Linux draws its random numbers from the host, by getrandom() of libc. Loaded
 * before libc, this one returns what follows from GAGG_SEED alone, so that a kernel with
 * virtual time does the same again (vm/run --seed). SplitMix64 (Steele, Lea, Flood: Fast
 * Splittable Pseudorandom Number Generators, OOPSLA 2014).
 */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

static uint64_t dice_state;

__attribute__((constructor))
static void dice_seed(void)
{
	const char *seed = getenv("GAGG_SEED");

	dice_state = seed ? strtoull(seed, NULL, 0) : 0;
}

static uint64_t dice_next(void)
{
	uint64_t z = dice_state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

ssize_t getrandom(void *buf, size_t len, unsigned int flags)
{
	size_t done, n;
	uint64_t word;

	(void)flags;
	for (done = 0; done < len; done += n) {
		word = dice_next();
		n = len - done < sizeof(word) ? len - done : sizeof(word);
		memcpy((char *)buf + done, &word, n);
	}
	return len;
}
