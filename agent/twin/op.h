/* SPDX-License-Identifier: GPL-2.0 */
/* Ops of a session: starting them, reporting their ends. */
#ifndef GAGG_TWIN_OP_H
#define GAGG_TWIN_OP_H

#include <stdint.h>
#include <linux/gagg.h>

#include "twin_proto.h"
#include "core/core.h"

struct seat;
struct session;

/* times of an epoch begin, or end; control thread */
void times_begin(struct session *s);
void times_end(struct session *s);

/* control thread: fill in the answers to GAGG_IOC_STATUS and GAGG_IOC_TIMES */
int session_status(struct session *s, struct gagg_ioc_status *arg);
int session_times(struct session *s, struct gagg_ioc_times *arg);

/* takes submissions; from worker 0, which holds its lock */
void session_take(struct session *s);
/* ops of a seat up to @number are done in @shard; from a worker that holds its lock */
void seat_done(struct seat *seat, unsigned int shard, u64 number);
/* chunks of the seat's channel are done; from a worker that holds its lock */
void seat_progress(struct seat *seat);
/* to a trainer that has asked for events: @n more ops are done; 0: the epoch is over; any thread */
void session_tell(struct session *s, u64 n);
/* wakes all that wait on the seat: they look again; any thread */
void seat_ring(struct twin_seat *shared);
void futex_ring(uint32_t *bell);

#endif
