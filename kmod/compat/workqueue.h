/* SPDX-License-Identifier: GPL-2.0 */
#ifndef GAGG_COMPAT_WORKQUEUE_H
#define GAGG_COMPAT_WORKQUEUE_H

#include <linux/workqueue.h>

/* of works that run on any CPU; queueing on the old name is warned of */
static inline struct workqueue_struct *gagg_compat_unbound_wq(void)
{
#ifdef GAGG_HAVE_SYSTEM_DFL_WQ
	return system_dfl_wq;
#else
	return system_unbound_wq;
#endif
}

#endif
