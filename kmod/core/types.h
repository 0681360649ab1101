/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The only file of the core that knows kernel from userspace.
 */
#ifndef GAGG_CORE_TYPES_H
#define GAGG_CORE_TYPES_H

#ifdef __KERNEL__
#include <linux/atomic.h>
#include <linux/types.h>
#include <linux/string.h>
#include <linux/compiler.h>
#include <asm/byteorder.h>
#include <asm/barrier.h>
#else
#include <linux/types.h>
#if __STDC_HOSTED__
#include <stdbool.h>
#include <stddef.h>
#else	/* -ffreestanding -nostdinc: proves that nothing else is taken */
typedef _Bool bool;
#define true		1
#define false		0
#define NULL		((void *)0)
#define offsetof(t, m)	__builtin_offsetof(t, m)
#endif
#define noinline	__attribute__((__noinline__))
typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s8 s8;
typedef __s16 s16;
typedef __s32 s32;
typedef __s64 s64;
void *memcpy(void *dst, const void *src, __SIZE_TYPE__ n);
void *memset(void *dst, int c, __SIZE_TYPE__ n);
int memcmp(const void *a, const void *b, __SIZE_TYPE__ n);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define le16_to_cpu(x)	((u16)(x))
#define le32_to_cpu(x)	((u32)(x))
#define le64_to_cpu(x)	((u64)(x))
#define cpu_to_le16(x)	((__le16)(x))
#define cpu_to_le32(x)	((__le32)(x))
#define cpu_to_le64(x)	((__le64)(x))
#else
#define le16_to_cpu(x)	__builtin_bswap16(x)
#define le32_to_cpu(x)	__builtin_bswap32(x)
#define le64_to_cpu(x)	__builtin_bswap64(x)
#define cpu_to_le16(x)	__builtin_bswap16(x)
#define cpu_to_le32(x)	__builtin_bswap32(x)
#define cpu_to_le64(x)	__builtin_bswap64(x)
#endif
#endif

/*
 * Positions that shards share (front.h).
 *
 * 1. gagg_tell_all() stores. A reader that sees the value sees all that was written before the
 *    call. What the caller reads afterwards is at least as new as its own store.
 * 2. gagg_look() reads.
 * 3. gagg_swap() stores @to at @at if *@at equals *@was. In either case *@was becomes what *@at was
 *    before.
 */
#ifdef __KERNEL__
static inline void gagg_tell_all(u64 *at, u64 value)
{
	smp_store_release(at, value); /* 1. above */
	smp_mb(); /* 1. above: what is read next */
}

static inline u64 gagg_look(const u64 *at)
{
	return READ_ONCE(*at);
}

static inline bool gagg_swap(u64 *at, u64 *was, u64 to)
{
	u64 is = cmpxchg64(at, *was, to);
	bool swapped = is == *was;

	*was = is;
	return swapped;
}
#else
static inline void gagg_tell_all(u64 *at, u64 value)
{
	__atomic_store_n(at, value, __ATOMIC_SEQ_CST);
}

static inline u64 gagg_look(const u64 *at)
{
	return __atomic_load_n(at, __ATOMIC_SEQ_CST);
}

static inline bool gagg_swap(u64 *at, u64 *was, u64 to)
{
	return __atomic_compare_exchange_n(at, was, to, false, __ATOMIC_SEQ_CST,
					   __ATOMIC_SEQ_CST);
}
#endif

/*
 * What trainers read and write. A reader of what gagg_tell() stores sees what was written before;
 * what is looked at after gagg_heed() is as new as what that has read.
 */
#ifdef __KERNEL__
#define gagg_tell(at, value)	smp_store_release(at, value) /* see above */
#define gagg_heed(at)		smp_load_acquire(at) /* see above */
#else
#define gagg_tell(at, value)	__atomic_store_n(at, value, __ATOMIC_RELEASE)
#define gagg_heed(at)		__atomic_load_n(at, __ATOMIC_ACQUIRE)
#endif

#define GAGG_BIT(n)	(1ULL << (n))

/* times: nanoseconds of any monotonic clock, an argument of every call */
#define GAGG_NEVER	(~0ULL)
#define GAGG_USEC	1000ULL
#define GAGG_MSEC	1000000ULL
#define GAGG_SEC	1000000000ULL

static inline u64 gagg_min64(u64 a, u64 b)
{
	return a < b ? a : b;
}

static inline u64 gagg_max64(u64 a, u64 b)
{
	return a > b ? a : b;
}

/* bit @by becomes bit 0, ... */
static inline u64 gagg_rotate(u64 mask, u32 by)
{
	return by ? mask >> by | mask << (64 - by) : mask;
}

static inline u32 gagg_lowest(u64 mask)
{
	return (u32)__builtin_ctzll(mask);
}

static inline u32 gagg_weight64(u64 mask)
{
	/* sums of 2, 4 and 8 bits side by side, then of all bytes */
	mask -= mask >> 1 & 0x5555555555555555ULL;
	mask = (mask & 0x3333333333333333ULL) + (mask >> 2 & 0x3333333333333333ULL);
	mask = (mask + (mask >> 4)) & 0x0f0f0f0f0f0f0f0fULL;
	return (u32)(mask * 0x0101010101010101ULL >> 56);
}

#endif
