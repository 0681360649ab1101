/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the fuzz targets share: the fuzzer's bytes, taken one by one (zeros when
 * they are used up), and how a target says that something is wrong.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
	const uint8_t *at;
	size_t left;
};

static inline uint8_t take8(struct input *in)
{
	if (!in->left)
		return 0;
	in->left--;
	return *in->at++;
}

static inline uint16_t take16(struct input *in)
{
	uint16_t low = take8(in);

	return (uint16_t)(low | take8(in) << 8);
}

static inline uint64_t take64(struct input *in)
{
	uint64_t v = 0;
	int i;

	for (i = 0; i < 8; i++)
		v |= (uint64_t)take8(in) << 8 * i;
	return v;
}

/* libFuzzer keeps the input of a program that aborts */
#define fuzz_fail(...)					\
do {							\
	fprintf(stderr, "fuzz: " __VA_ARGS__);		\
	fputc('\n', stderr);				\
	abort();					\
} while (0)

#define fuzz_assert(x)					\
do {							\
	if (!(x))					\
		fuzz_fail("%s:%d: not so: %s", __FILE__, __LINE__, #x); \
} while (0)

#endif
