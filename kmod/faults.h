/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Faults on purpose: what a network does to datagrams, and works that run out of memory. Only in
 * builds with CONFIG_GAGG_FAULTS (see Kbuild); there /sys/kernel/debug/gagg sets and counts them.
 * Other builds contain nothing of it.
 */
#ifndef GAGG_FAULTS_H
#define GAGG_FAULTS_H

#include <linux/skbuff.h>
#include "endpoint.h"

#ifdef CONFIG_GAGG_FAULTS

/* at load and unload of the module */
void gagg_faults_init(void);
void gagg_faults_exit(void);

/*
 * open: before a port's first poll; close: after its last one, frees skbs that are held back; both
 * sleep
 */
int gagg_faults_open(struct gagg_port *port);
void gagg_faults_close(struct gagg_port *port);

/* a received skb that was held back until now, or NULL; port lock held */
struct sk_buff *gagg_faults_due(struct gagg_port *port, u64 now);
/* a received skb; true: it is lost or held back. Port lock held */
bool gagg_faults_rx(struct gagg_port *port, struct sk_buff *skb, u64 now);
/* applies faults to the skbs that are to be sent; port lock held */
void gagg_faults_tx(struct gagg_port *port, struct sk_buff_head *out, u64 now);
/* when the next skb that is held back goes on; port lock held */
u64 gagg_faults_deadline(const struct gagg_port *port);
/* most datagrams in a burst: @most without a fault */
u32 gagg_faults_segs(u32 most);

/* around the body of a work: its allocations fail as the file work-fail-nth says */
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
