/* SPDX-License-Identifier: LGPL-2.1-only OR MIT */
/*
 * The protocol of libgagg and gagg-twin, the aggregator in userspace.
 *
 * The descriptor that the broker passes is a SOCK_SEQPACKET socket instead of a /dev/gagg file. A
 * request is struct twin_message and the argument struct of an ioctl of <linux/gagg.h>, the answer
 * the same with an error. Regions are files in memory, asked for one by one with TWIN_MAP. Starting
 * an op and waiting for one need no message: they use a page that both have mapped. An eventfd (the
 * bell) wakes an aggregator that sleeps, and a futex wakes a trainer that sleeps.
 *
 * The bell's file description is shared, and with it its O_NONBLOCK: only the
 * trainer reads and writes it, the aggregator waits for it with epoll. Messages about
 * ops go over a pair because there each end has a description of its own.
 *
 * Neither side trusts what the other can write: the aggregator reads each submission once, checks
 * it, and never reads back what it has written.
 */
#ifndef GAGG_TWIN_PROTO_H
#define GAGG_TWIN_PROTO_H

#include <stdint.h>
#include <linux/gagg.h>

/**
 * struct twin_message - header before the argument
 * @request: number of an ioctl, or TWIN_*
 * @error: answer: 0 or a negative errno
 */
struct twin_message {
	uint32_t request;
	int32_t error;
};

/*
 * TWIN_HELLO, without an argument, comes first. Its answer brings three descriptors: the page, the
 * bell, and an end of a pair of sockets. Once twin_page.events is set, a message of 8 bytes there
 * has the number of further ops that are done, or 0 when the epoch ends. TWIN_MAP has an offset as
 * its argument (uint64_t, as in struct gagg_region), and its answer brings the file of that region.
 */
#define TWIN_HELLO	1
#define TWIN_MAP	2
#define TWIN_FDS	3	/* most descriptors of an answer */

#define TWIN_SUBMITS	64	/* submissions that the aggregator has not taken */
#define TWIN_NEVER	UINT64_MAX

/* states of a session, by the numbers of enum gagg_session_state in the core */
enum twin_state {
	TWIN_BOUND,
	TWIN_ATTACHED,
	TWIN_RUNNING,
	TWIN_ENDED,
};

/**
 * struct twin_seat - a session's part of a channel
 * @channel:	id; valid while @present
 * @present:	the session has a seat on the channel
 * @completed:	ops done
 * @chunks:	all virtual chunks below are done
 * @store:	the channel has a store, whose ops have no virtual chunks
 * @bell:	futex; grows when the wanted op or chunk is done, or the state changes
 * @want_op:	written by the trainer: wake me when this op is done; TWIN_NEVER
 * @want_chunk:	written by the trainer: wake me when all virtual chunks below are done; TWIN_NEVER
 * @submitted:	used by the trainer only: ops submitted
 * @cursor:	used by the trainer only: virtual chunks of all ops
 */
struct twin_seat {
	uint32_t channel;
	uint32_t present;
	uint64_t completed;
	uint64_t chunks;
	uint32_t bell;
	uint32_t store;
	uint32_t reserved[8];
	uint64_t want_op;
	uint64_t want_chunk;
	uint64_t submitted;
	uint64_t cursor;
	uint64_t reserved2[4];
};

/**
 * struct twin_page - the page that a session and its aggregator share
 * @state:	enum twin_state
 * @mismatch:	a host's configuration differs: no epoch can start
 * @bell:	futex; grows when @state or @mismatch changes
 * @awake:	the aggregator looks at @head without the bell
 * @taken:	submissions that the aggregator has taken
 * @head:	written by the trainer: submissions made
 * @events:	written by the trainer: send messages about completed ops
 * @submit:	submission n is at n % TWIN_SUBMITS
 * @seat:	by index of the channel, as in region offsets
 */
struct twin_page {
	uint32_t state;
	uint32_t mismatch;
	uint32_t bell;
	uint32_t awake;
	uint64_t taken;
	uint64_t reserved[5];
	uint64_t head;
	uint32_t events;
	uint32_t reserved2;
	uint64_t reserved3[6];
	struct gagg_ioc_submit submit[TWIN_SUBMITS];
	struct twin_seat seat[GAGG_CHANNELS_MAX];
};

/* ops in flight on a channel, as in the module */
#define TWIN_OPS	32

#endif
