// SPDX-License-Identifier: GPL-2.0
/*
 * Speaking: HELLO, START and ABORT leave from a work, in process context. The work must not wait
 * for memory, or others would take this host for dead. So its queue has a rescuer.
 */
#include <linux/workqueue.h>
#include "epoch.h"
#include "faults.h"
#include "group.h"
#include "route.h"
#include "speak.h"
#include "tx.h"

static struct workqueue_struct *speak_wq;

int __init gagg_speak_init(void)
{
	speak_wq = alloc_workqueue("gagg", WQ_UNBOUND | WQ_HIGHPRI | WQ_MEM_RECLAIM, 0);
	return speak_wq ? 0 : -ENOMEM;
}

void gagg_speak_exit(void)
{
	destroy_workqueue(speak_wq);
}

/* the datagram is made under the lock, and sent without it */
static void speak_to(struct gagg_group *grp, u32 node, u8 type)
{
	struct gagg_word w;
	bool sent = true;

	spin_lock_bh(&grp->join_lock);
	gagg_join_say(grp->join, &grp->geom, type, node, &w);
	spin_unlock_bh(&grp->join_lock);
	for (; w.shards; w.shards &= w.shards - 1)
		sent &= !gagg_tx_control(grp, gagg_lowest(w.shards), node, &w);
	if (type != GAGG_JOIN_SEND_WIDE || !sent)
		return;
	spin_lock_bh(&grp->join_lock);
	gagg_join_sent(grp->join, node);
	spin_unlock_bh(&grp->join_lock);
}

void gagg_speak_now(struct gagg_group *grp, struct gagg_due *taken)
{
	u32 node;
	u8 type;

	while ((type = gagg_due_next(taken, &node)) != GAGG_JOIN_TYPES)
		speak_to(grp, node, type);
}

/*
 * The most lanes that fit the MTUs of this host. Read before each HELLO, which tells it to others:
 * one a second, and one when an epoch has ended because a chunk did not fit.
 */
static void speak_limit(struct gagg_group *grp)
{
	u32 mtu = gagg_route_least_mtu(grp);

	if (mtu)
		gagg_epoch_limit(grp, gagg_wire_fit(mtu, grp->cfg.local.sa.sa_family == AF_INET6));
}

static void speak(struct gagg_group *grp)
{
	struct gagg_due taken;

	if (!grp->cfg.lanes)
		speak_limit(grp);
	spin_lock_bh(&grp->join_lock);
	gagg_due_take(&grp->due, GAGG_DUE_SAY, &taken);
	spin_unlock_bh(&grp->join_lock);
	gagg_speak_now(grp, &taken);
}

static void speak_work_fn(struct work_struct *work)
{
	gagg_faults_work_begin();
	speak(container_of(work, struct gagg_group, speak_work));
	gagg_faults_work_end();
}

void gagg_speak_setup(struct gagg_group *grp)
{
	INIT_WORK(&grp->speak_work, speak_work_fn);
}

void gagg_speak_queue(struct gagg_group *grp)
{
	queue_work(speak_wq, &grp->speak_work);
}
