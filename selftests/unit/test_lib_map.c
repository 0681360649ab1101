// SPDX-License-Identifier: GPL-2.0
/* links: agent/lib/region.c agent/lib/wait.c agent/lib/known.c agent/lib/carry.c agent/lib/call.c agent/lib/error.c agent/lib/sync_name.c agent/lib/lanes.c agent/lib/narrow.c agent/lib/quant.c agent/lib/quant_avx2.c agent/lib/quant_form.c */
/*
 * libgagg's arithmetic: virtual chunk to address, operation to chunks, how many
 * system calls an operation takes, signature to sentence.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "error.h"
#include "partition.h"
#include "request.h"
#include "sys.h"

/* --- what the linked files call, and these tests do not reach -------------- */

static unsigned int mapped;
static unsigned int map_fails_at;

void *sys_map(int fd, uint64_t offset, size_t length, bool write)
{
	(void)fd;
	(void)offset;
	(void)write;
	if (++mapped == map_fails_at) {
		errno = ENOMEM;
		mapped--;
		return NULL;
	}
	return calloc(1, length);
}

void sys_unmap(void *addr, size_t length)
{
	(void)length;
	mapped--;
	free(addr);
}

int sys_ioctl(int fd, unsigned long request, void *arg)
{
	(void)fd;
	(void)request;
	(void)arg;
	return -ENOTTY;
}

bool sys_in_kernel(int fd)
{
	(void)fd;
	return true;
}

int comm_check(struct gagg_comm *c)
{
	return c->failed;
}

int comm_enter(struct gagg_comm *c)
{
	(void)c;
	return GAGG_OK;
}

void comm_exit(struct gagg_comm *c)
{
	(void)c;
}

int comm_fail(struct gagg_comm *c, int code)
{
	(void)c;
	return code;
}

int comm_wait_late(struct gagg_comm *c, int timeout_ms)
{
	(void)c, (void)timeout_ms;
	return GAGG_ERR_TIMEOUT;
}

void comm_tell_late(struct gagg_comm *c)
{
	(void)c;
}

uint64_t session_notice_at(const struct session *s)
{
	(void)s;
	return UINT64_MAX;
}

int comm_fail_epoch(struct gagg_comm *c)
{
	(void)c;
	return GAGG_ERR_PEER;
}

int comm_error(struct gagg_comm *c, int code, const char *fmt, ...)
{
	(void)c;
	(void)fmt;
	return code;
}

/* --- virtual chunk to address --------------------------------------------- */

static struct gagg_geometry geometry(void)
{
	struct gagg_geometry geo = {
		.rank = 2, .members = 0xf, .ring = 10, .window = 4,
		.lanes = 8, .stride = 40, .per_block = 3, .block = 128, .homes = 1,
	};
	int i;

	/* 10 chunks in blocks of 3: 4 blocks */
	for (i = 0; i < GAGG_REG_COUNT; i++)
		geo.region[i].length = 512;
	geo.region[GAGG_REG_PUSH].length = 4096 + 10 * sizeof(struct gagg_cdesc);
	geo.region[GAGG_REG_DONE].length = 4096 + 10 * sizeof(struct gagg_rdesc);
	return geo;
}

static void region_check__accepts(void **state)
{
	struct gagg_geometry geo = geometry();

	(void)state;
	assert_true(region_check(&geo));
}

static void region_check__refuses(void **state)
{
	struct gagg_geometry geo;

	(void)state;
#define REFUSED(change) do { geo = geometry(); change; assert_false(region_check(&geo)); } while (0)
	REFUSED(geo.ring = 0);
	REFUSED(geo.window = 0);
	REFUSED(geo.window = 11);
	REFUSED(geo.lanes = 0);
	REFUSED(geo.lanes = 11);
	REFUSED(geo.lanes = 0x40000000);
	REFUSED(geo.stride = 42);
	REFUSED(geo.stride = 44);	/* three of them exceed the block */
	REFUSED(geo.per_block = 0);
	REFUSED(geo.homes = 0);
	REFUSED(geo.homes = GAGG_RANKS_MAX + 1);
	REFUSED(geo.block = 119);
	REFUSED(geo.block = 1ULL << 33);
	REFUSED(geo.rank = 4);
	REFUSED(geo.rank = 64);
	REFUSED(geo.region[GAGG_REG_CONTRIB].length--);
	REFUSED(geo.region[GAGG_REG_RESULT].length--);
	REFUSED(geo.region[GAGG_REG_PUSH].length--);
	REFUSED(geo.region[GAGG_REG_DONE].length--);
	REFUSED(geo.ring = 13);
}

static void region_map__undone(void **state)
{
	struct gagg_geometry geo = geometry();
	struct region r;

	(void)state;
	for (map_fails_at = 1; map_fails_at <= GAGG_REG_COUNT; map_fails_at++) {
		assert_int_equal(region_map(&r, 3, &geo), -ENOMEM);
		assert_int_equal(mapped, 0);
	}
	map_fails_at = 0;
	geo.ring = 0;
	assert_int_equal(region_map(&r, 3, &geo), -EPROTO);
	assert_int_equal(mapped, 0);
}

static void region__addresses(void **state)
{
	struct gagg_geometry geo = geometry();
	struct region r;

	(void)state;
	assert_int_equal(region_map(&r, 3, &geo), 0);
	assert_int_equal(region_slot(&r, 0), 0);
	assert_int_equal(region_round(&r, 0), 1);
	assert_int_equal(region_slot(&r, 9), 9);
	assert_int_equal(region_round(&r, 9), 1);
	assert_int_equal(region_slot(&r, 10), 0);
	assert_int_equal(region_round(&r, 10), 2);
	/* beyond 32 bits */
	assert_int_equal(region_slot(&r, 100000000007ULL), 7);
	assert_int_equal(region_round(&r, 40000000000ULL), 4000000001U);

	assert_int_equal(region_offset(&geo, 0), 0);
	assert_int_equal(region_offset(&geo, 2), 80);
	assert_int_equal(region_offset(&geo, 3), 128);
	assert_int_equal(region_offset(&geo, 9), 384);
	assert_ptr_equal(region_contrib(&r, 4), r.contrib + 128 + 40);
	assert_ptr_equal(region_result(&r, 4), r.result + 128 + 40);
	/* the last chunk's last byte, seen by the sanitizer */
	memset(region_contrib(&r, 9), 1, 32);
	region_unmap(&r);
	region_unmap(&r);
	assert_int_equal(mapped, 0);
}

static void region_published__rounds(void **state)
{
	struct gagg_geometry geo = geometry();
	struct gagg_rdesc *d;
	struct region r;

	(void)state;
	assert_int_equal(region_map(&r, 3, &geo), 0);
	r.epoch = 5;
	d = (struct gagg_rdesc *)(uintptr_t)r.rdesc;
	assert_false(region_published(&r, 3));
	d[3].published = 4ULL << 32 | 9;	/* of an earlier epoch */
	assert_false(region_published(&r, 3));
	d[3].published = 5ULL << 32 | 1;
	assert_true(region_published(&r, 3));
	assert_false(region_published(&r, 13));
	assert_false(region_published(&r, 4));
	d[3].published = 5ULL << 32 | 2;
	assert_true(region_published(&r, 3));
	assert_true(region_published(&r, 13));
	region_unmap(&r);
}

/* --- operation to chunks --------------------------------------------------- */

/* every lane of every part is in exactly one piece, in order */
static void partition_covers(uint64_t parts, uint64_t length, uint32_t lanes)
{
	uint64_t i, part = 0, next = 0;
	struct partition p;

	assert_true(partition_init(&p, parts, length, lanes));
	assert_int_equal(p.per_part, (length + lanes - 1) / lanes);
	for (i = 0; i < p.chunks; i++) {
		struct piece c = partition_piece(&p, i);

		assert_int_equal(c.part, part);
		assert_int_equal(c.first, next);
		assert_in_range(c.n, 1, lanes);
		/* the kernel is told of one short chunk: the last */
		assert_int_equal(c.wire, i + 1 == p.chunks ? c.n : lanes);
		next += c.n;
		if (next == length) {
			part++;
			next = 0;
		}
	}
	assert_int_equal(part, parts);
	assert_int_equal(next, 0);
}

static void partition__covers(void **state)
{
	uint64_t parts, length;

	(void)state;
	for (parts = 1; parts <= 4; parts++)
		for (length = 1; length <= 33; length++)
			partition_covers(parts, length, 8);
	partition_covers(3, 344 * 5 + 1, 344);
}

static void partition__bounds(void **state)
{
	struct partition p;

	(void)state;
	assert_true(partition_init(&p, 64, 1ULL << 40, 344));
	assert_false(partition_init(&p, 64, UINT64_MAX, 1));
	assert_false(partition_init(&p, 1, 1ULL << 60, 8));
}

/* --- padding ------------------------------------------------------------------ */

/* what an earlier operation left in the ring does not travel with this one */
static void transfer__pads(void **state)
{
	static const struct {
		const struct transfer *how;
		enum gagg_dtype dtype;
	} cases[] = {
		{ &transfer_sum, GAGG_FLOAT32 }, { &transfer_sum, GAGG_BFLOAT16 },
		{ &transfer_order, GAGG_FLOAT32 }, { &transfer_int, GAGG_INT32 },
		{ &transfer_wide, GAGG_INT64 },
		{ &transfer_copy, GAGG_BYTE }, { &transfer_bytes, GAGG_BYTE },
	};
	struct gagg_comm c = { .size = 2 };
	unsigned char data[32];
	size_t k, i;

	(void)state;
	memset(data, 1, sizeof(data));
	for (k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
		struct gagg_request r = {
			.comm = &c, .how = cases[k].how, .dtype = cases[k].dtype,
			.send = data, .owner = -1,
		};
		struct gagg_cdesc d = { 0 };
		int32_t lanes[8];
		/* two parts of 3 lanes (int64: 4); of bytes, the last lane is half used */
		bool bytes = r.dtype == GAGG_BYTE;
		unsigned int n = r.dtype == GAGG_INT64 ? 4 : 3;

		r.part_bytes = bytes ? 10 : n / dtype_lanes(r.dtype) * dtype_size(r.dtype);
		assert_true(partition_init(&r.cut, 2, n, 8));
		memset(lanes, 0x5a, sizeof(lanes));
		r.how->fill(&r, 0, lanes, &d);
		assert_int_equal(d.flags & (GAGG_C_ZERO | GAGG_C_NONFINITE), 0);
		for (i = bytes ? 10 : 4 * n; i < sizeof(lanes); i++)
			assert_int_equal(((unsigned char *)lanes)[i], 0);
		assert_int_not_equal(((unsigned char *)lanes)[9] |
				     ((unsigned char *)lanes)[11], 0);
	}
}

/* --- system calls ------------------------------------------------------------ */

/*
 * Waits of an operation of @chunks whose every sleep ends exactly when its wish
 * is fulfilled, the worst case: nothing more has come meanwhile.
 */
static unsigned int count_waits(uint64_t chunks, uint32_t ring)
{
	unsigned int n = 0;
	uint64_t taken = 0;

	while (taken < chunks) {
		uint64_t limit = taken + ring < chunks ? taken + ring : chunks;
		uint64_t t = wait_target(taken, limit, chunks, ring);

		assert_true(t > taken && t <= limit);
		taken = t;
		n++;
	}
	return n;
}

static void wait_target__budget(void **state)
{
	uint64_t chunks;

	(void)state;
	/* 64 MiB in the default ring: SUBMIT and a wait */
	assert_int_equal(count_waits(48771, 49152), 1);
	for (chunks = 1; chunks <= 64; chunks++)
		assert_int_equal(count_waits(chunks, 64), 1);
	for (chunks = 1; chunks <= 4096; chunks += 7)
		assert_in_range(count_waits(chunks, 256), 1, 4 * (chunks / 256) + 1);
	/* more is to be filled: a quarter of the ring, but no more than can come */
	assert_int_equal(wait_target(10, 60, 1000, 64), 26);
	assert_int_equal(wait_target(10, 12, 1000, 64), 12);
	/* rings of less than four chunks still move */
	assert_in_range(count_waits(20, 1), 20, 20);
}

/* --- sentences --------------------------------------------------------------- */

#define SIG(kind, dtype, digest) ((uint32_t)(kind) << 28 | (uint32_t)(dtype) << 24 | (digest))

static void sentence(const struct gagg_ioc_status *st, int code, const char *expected)
{
	char buf[ERROR_MAX];

	assert_int_equal(error_epoch(buf, sizeof(buf), st), code);
	assert_string_equal(buf, expected);
}

static void error_epoch__reasons(void **state)
{
	struct gagg_ioc_status st = { .epoch = 5, .rank = 2 };

	(void)state;
	st.reason = GAGG_R_DIED;
	sentence(&st, GAGG_ERR_PEER, "rank 2 died (epoch 5 has ended)");
	st.reason = GAGG_R_BYE;
	sentence(&st, GAGG_ERR_PEER, "rank 2 has left (epoch 5 has ended)");
	st.reason = GAGG_R_SILENT;
	sentence(&st, GAGG_ERR_PEER,
		 "the host of rank 2 is not heard any more (epoch 5 has ended)");
	st.reason = GAGG_R_BLOCKED;
	st.other = 4;
	sentence(&st, GAGG_ERR_PEER,
		 "chunks from the host of rank 2 do not reach the host of rank 4 any more (MTU of the path, or a firewall) (epoch 5 has ended)");
	for (st.reason = 0; st.reason <= GAGG_R_COUNT; st.reason++) {
		char buf[ERROR_MAX];

		error_epoch(buf, sizeof(buf), &st);
		assert_non_null(strstr(buf, "rank 2"));
	}
}

static void error_epoch__desync(void **state)
{
	struct gagg_ioc_status st = {
		.epoch = 7, .rank = 3, .other = 0, .reason = GAGG_R_DESYNC,
		.sig = SIG(GAGG_K_ALLGATHER, GAGG_BYTE, 1),
		.other_sig = SIG(GAGG_K_ALLREDUCE, GAGG_FLOAT32, 2),
	};

	(void)state;
	sentence(&st, GAGG_ERR_DESYNC,
		 "rank 3 called all-gather where rank 0 called all-reduce of float32 (epoch 7 has ended)");
	st.sig = SIG(GAGG_K_ALLREDUCE, GAGG_FLOAT16, 2);
	sentence(&st, GAGG_ERR_DESYNC,
		 "rank 3 called all-reduce of float16 where rank 0 called all-reduce of float32 (epoch 7 has ended)");
	st.sig = SIG(GAGG_K_ALLREDUCE, GAGG_FLOAT32, 3);
	sentence(&st, GAGG_ERR_DESYNC,
		 "rank 3 called all-reduce of float32 with another length, root or operator than rank 0 (epoch 7 has ended)");
	st.sig = SIG(GAGG_K_EXPONENTS, GAGG_FLOAT32, 3);
	sentence(&st, GAGG_ERR_DESYNC,
		 "rank 3 called a blocking reduction of float32 without a plan where rank 0 called all-reduce of float32 (epoch 7 has ended)");
	st.sig = SIG(15, 15, 3);
	sentence(&st, GAGG_ERR_DESYNC,
		 "rank 3 called unknown operation 15 where rank 0 called all-reduce of float32 (epoch 7 has ended)");
}

static void mismatch_says(const struct gagg_ioc_status *st, const char *expected)
{
	static const char prefix[] = "config-mismatch: ";
	char buf[ERROR_MAX];

	error_mismatch(buf, sizeof(buf), st);
	assert_memory_equal(buf, prefix, sizeof(prefix) - 1);
	assert_string_equal(buf + sizeof(prefix) - 1, expected);
}

static void error_mismatch__field(void **state)
{
	struct gagg_ioc_status st = { .mismatch_node = 2, .mismatch_here = 1 };
	char buf[ERROR_MAX];

	(void)state;
	for (st.mismatch = 1; st.mismatch <= 1 + GAGG_DG_COUNT; st.mismatch++) {
		error_mismatch(buf, sizeof(buf), &st);
		assert_null(strstr(buf, ": configuration"));
	}
	mismatch_says(&st, "configuration differs on the host of rank 2");
	st.mismatch = 0;
	mismatch_says(&st, "configuration differs on the host of rank 2");
	/* what one rank is, another may be: there is no one number */
	st.mismatch = 1 + GAGG_DG_ADDRESS;
	mismatch_says(&st, "address of a member, or multicast, differs on the host of rank 2");
}

static void error_mismatch__values(void **state)
{
	struct gagg_ioc_status st = {
		.mismatch = 1 + GAGG_DG_WINDOW,
		.mismatch_node = 2,
		.mismatch_here = 2048,
		.mismatch_there = UINT32_MAX,
	};

	(void)state;
	mismatch_says(&st, "window is 4294967295 on the host of rank 2, 2048 here");
	st.mismatch = 1 + GAGG_DG_MEMBERS;
	mismatch_says(&st, "number of members is 4294967295 on the host of rank 2, 2048 here");
	st.mismatch = 1 + GAGG_DG_SYNC;
	st.mismatch_there = 2 << 24 | 1 << 21 | 3;
	st.mismatch_here = GAGG_DG_SYNC_HASHED | 0x800;
	mismatch_says(&st, "sync is ssp:3 on the host of rank 2, bsp:#800 here");
	st.mismatch = 1 + GAGG_DG_MEMBERS;
	st.mismatch_there = UINT32_MAX;
	st.mismatch_here = 1;
	st.mismatch_there = 2;
	st.mismatch = 1 + GAGG_DG_COUNT;
	mismatch_says(&st, "version of datagrams is 2 on the host of rank 2, 1 here");
	st.mismatch = 1 + GAGG_DG_WIRE;
	mismatch_says(&st, "wire is int8 on the host of rank 2, int16 here");
	st.mismatch_there = 0;
	st.mismatch = 1 + GAGG_DG_LANE_TYPE;
	mismatch_says(&st, "lane-type is int32 on the host of rank 2, int64 here");
	st.mismatch = 1 + GAGG_DG_PLACEMENT;
	mismatch_says(&st, "placement is striped on the host of rank 2, root here");
	/* what has no name here */
	st.mismatch_there = 3;
	mismatch_says(&st, "placement is 3 on the host of rank 2, root here");
	st.mismatch = 1 + GAGG_DG_LANES;
	st.mismatch_there = 344;
	st.mismatch_here = 0;
	mismatch_says(&st, "lanes is 344 on the host of rank 2, auto here");
}

static void error_absent__ranks(void **state)
{
	struct gagg_ioc_status st = { .attached = 0x1, .heard = 0x5 };
	char buf[ERROR_MAX];

	(void)state;
	error_absent(buf, sizeof(buf), &st, 0x7);
	assert_string_equal(buf, "not joined yet: rank 1 (host not heard), rank 2");
	/* that had joined before its host fell silent */
	st.attached = 0x7;
	error_absent(buf, sizeof(buf), &st, 0x7);
	assert_string_equal(buf, "not joined yet: rank 1 (host not heard)");
	/* START is on its way */
	st.heard = 0x7;
	error_absent(buf, sizeof(buf), &st, 0x7);
	assert_string_equal(buf, "all ranks have joined, but hosts do not know that of each other yet");
	/* more ranks than fit */
	error_absent(buf, sizeof(buf), &st, UINT64_MAX);
	assert_int_equal(strlen(buf), sizeof(buf) - 1);
}

static void missing(uint64_t ranks, const char *expected)
{
	char buf[ERROR_MAX];

	error_missing(buf, sizeof(buf), ranks, ~1ULL, "come");
	assert_string_equal(buf, expected);
}

static void error_missing__ranks(void **state)
{
	char buf[24];

	(void)state;
	missing(1ULL << 63, "rank 63 has not come");
	missing(0x24, "ranks 2, 5 have not come");
	missing(0x1fe, "ranks 1, 2, 3, 4, 5, 6, 7, 8 have not come");
	missing(~3ULL, "ranks 2, 3, 4, 5, 6, 7, 8, 9 and 54 more have not come");
	missing(~1ULL, "no other rank has come");
	error_missing(buf, sizeof(buf), 4, 4, "come");
	assert_string_equal(buf, "rank 2 has not come");
	error_missing(buf, sizeof(buf), ~3ULL, 0, "come");
	assert_string_equal(buf, "ranks 2, 3, 4, 5, 6, 7,");
}

static void gagg_strerror__codes(void **state)
{
	int code;

	(void)state;
	for (code = GAGG_ERR_SYSTEM; code <= 0; code++)
		assert_string_not_equal(gagg_strerror(code), "unknown error");
	assert_string_equal(gagg_strerror(GAGG_ERR_SYSTEM - 1), "unknown error");
	assert_string_equal(gagg_strerror(1), "unknown error");
	assert_string_equal(gagg_strerror(-2147483647 - 1), "unknown error");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(region_check__accepts),
		cmocka_unit_test(region_check__refuses),
		cmocka_unit_test(region_map__undone),
		cmocka_unit_test(region__addresses),
		cmocka_unit_test(region_published__rounds),
		cmocka_unit_test(partition__covers),
		cmocka_unit_test(partition__bounds),
		cmocka_unit_test(transfer__pads),
		cmocka_unit_test(wait_target__budget),
		cmocka_unit_test(error_epoch__reasons),
		cmocka_unit_test(error_epoch__desync),
		cmocka_unit_test(error_mismatch__field),
		cmocka_unit_test(error_mismatch__values),
		cmocka_unit_test(error_absent__ranks),
		cmocka_unit_test(error_missing__ranks),
		cmocka_unit_test(gagg_strerror__codes),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
