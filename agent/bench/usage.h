/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a machine has spent: CPU time and context switches.
 *
 * CPU time is all that was not idle, of every process, interrupts included:
 * work that is done for somebody in softirq or in a thread of the kernel counts,
 * wherever it is accounted. So nothing else should run on the machine.
 */
#ifndef BENCH_USAGE_H
#define BENCH_USAGE_H

#include <stdint.h>

/**
 * struct usage_where - who shares what with whom
 * @machine:	the same number on the same machine
 * @net:	the same number in the same network namespace
 */
struct usage_where {
	uint64_t machine;
	uint64_t net;
};

/**
 * struct usage - up to now
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
 * Idle time is what /proc/stat says, in ticks of 10 ms; or what a program that
 * runs whenever nothing else does has counted, in ns, as a number of 64 bits in
 * @idle_file. If that is a character device, somebody behind it knows what was
 * busy, and answers an empty line with a line of that in ns: for a guest whose own
 * accounts are wrong. NULL: /proc/stat. Returns 0 or -errno.
 */
int usage_init(const char *idle_file);

void usage_where(struct usage_where *w);

/* @u of the machine costs reading of /proc/stat unless there is an idle file */
void usage_machine(struct usage *u);
void usage_own(struct usage *u);

/* monotonic, ns */
int64_t usage_clock(void);

#endif
