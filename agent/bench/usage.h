/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a machine has used: CPU time and context switches.
 *
 * CPU time is all time that was not idle, of every process, with interrupts: work in softirq or in
 * a thread of the kernel counts, wherever it is accounted. So nothing else should run on the
 * machine.
 */
#ifndef BENCH_USAGE_H
#define BENCH_USAGE_H

#include <stdint.h>

/**
 * struct usage_where - which ranks share a machine or a network namespace
 * @machine:	the same number on the same machine
 * @net:	the same number in the same network namespace
 */
struct usage_where {
	uint64_t machine;
	uint64_t net;
};

/**
 * struct usage - what was used up to now
 * @busy:	CPU time of the machine, ns
 * @switches:	its context switches
 * @own:	context switches of the calling process
 */
struct usage {
	int64_t busy;
	int64_t switches;
	int64_t own;
};

/*
 * Idle time is read from /proc/stat, in ticks of 10 ms; or from @idle_file, where a program that
 * runs whenever nothing else does counts it in ns, as a number of 64 bits. If @idle_file is a
 * character device, it is asked for the busy time instead: it answers an empty line with a line
 * that has the ns. That is for a guest with wrong accounts. NULL: /proc/stat. Returns 0 or -errno.
 */
int usage_init(const char *idle_file);

void usage_where(struct usage_where *w);

/*
 * usage_machine() fills in the machine's part of @u, which requires reading /proc/stat unless there
 * is an idle file
 */
void usage_machine(struct usage *u);
void usage_own(struct usage *u);

/* monotonic, ns */
int64_t usage_clock(void);

#endif
