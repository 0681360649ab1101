// SPDX-License-Identifier: GPL-2.0
/*
 * Speaking: HELLO, START and ABORT leave from a work, in process context. The work must not wait
 * for memory, or others would take this host for dead. So its queue has a rescuer.
 */
#include <linux/workqueue.h>
#include "epoch.h"
#include "faults.h"
#include "group.h"
#include "speak.h"

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

static void speak_work_fn(struct work_struct *work)
{
	gagg_faults_work_begin();
	gagg_epoch_speak(container_of(work, struct gagg_group, speak_work));
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
