/* SPDX-License-Identifier: GPL-2.0 */
/*
 * gaggd's connection to the module: opened when the module comes, closed when it goes, in whatever
 * order gaggd and the module are started.
 */
#ifndef GAGGD_KERNEL_H
#define GAGGD_KERNEL_H

#include "../nl/nl.h"
#include "loop.h"
#include "watch.h"

struct kernel {
	struct loop *loop;
	struct watch families;		/* events of generic netlink itself */
	struct loop_event event;
	struct nl *nl;
	int error;			/* why there is no @nl: -errno */
	bool armed;			/* @event polls nl_fd(nl) */
	bool closing;
	bool again;			/* closing: open again after that */
	void (*came)(struct kernel *k);
	/* called for each event; with NULL when some were lost */
	void (*heard)(struct kernel *k, const struct nl_event *e);
};

/* 0, also without the module; -errno when netlink itself fails. */
int kernel_init(struct kernel *k, struct loop *loop,
		void (*came)(struct kernel *k),
		void (*heard)(struct kernel *k, const struct nl_event *e));
void kernel_exit(struct kernel *k);

/* NULL: not now, and @error has the reason; -ENOENT: there is no module */
struct nl *kernel_nl(struct kernel *k);

#endif
