/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Faults on purpose: what a network does to datagrams, and works that run out
 * of memory. Only in builds with CONFIG_GAGG_FAULTS (see Kbuild), where
 * /sys/kernel/debug/gagg sets and counts them; in others nothing is left of it.
 */
#ifndef GAGG_FAULTS_H
#define GAGG_FAULTS_H

#include <linux/skbuff.h>
#include "endpoint.h"

#ifdef CONFIG_GAGG_FAULTS

/* of the module */
void gagg_faults_init(void);
void gagg_faults_exit(void);

/* of a port: before its first poll and after its last one; sleep. What is held
 * back is freed at the latter
 */
int gagg_faults_open(struct gagg_port *port);
void gagg_faults_close(struct gagg_port *port);

/* a received skb that was held back and goes on by now, or NULL; port lock held */
struct sk_buff *gagg_faults_due(struct gagg_port *port, u64 now);
/* a received skb; true: it is lost or held back. Port lock held */
bool gagg_faults_rx(struct gagg_port *port, struct sk_buff *skb, u64 now);
/* what is to be sent becomes what is sent; port lock held */
void gagg_faults_tx(struct gagg_port *port, struct sk_buff_head *out, u64 now);
/* when the next skb that is held back goes on; port lock held */
u64 gagg_faults_deadline(const struct gagg_port *port);
/* datagrams in a burst, @most without a fault */
u32 gagg_faults_segs(u32 most);

/* around what a work does: its allocations fail as the file work-fail-nth says */
void gagg_faults_work_begin(void);
void gagg_faults_work_end(void);

#else

static inline void gagg_faults_init(void)
{
}

static inline void gagg_faults_exit(void)
{
}

static inline int gagg_faults_open(struct gagg_port *port)
{
	return 0;
}

static inline void gagg_faults_close(struct gagg_port *port)
{
}

static inline struct sk_buff *gagg_faults_due(struct gagg_port *port, u64 now)
{
	return NULL;
}

static inline bool gagg_faults_rx(struct gagg_port *port, struct sk_buff *skb, u64 now)
{
	return false;
}

static inline void gagg_faults_tx(struct gagg_port *port, struct sk_buff_head *out,
				  u64 now)
{
}

static inline u64 gagg_faults_deadline(const struct gagg_port *port)
{
	return GAGG_NEVER;
}

static inline u32 gagg_faults_segs(u32 most)
{
	return most;
}

static inline void gagg_faults_work_begin(void)
{
}

static inline void gagg_faults_work_end(void)
{
}

#endif

#endif
