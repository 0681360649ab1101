/* SPDX-License-Identifier: LGPL-2.1-only OR MIT */
/* Parts of a job's start: this host's address, and its gagg-twin. */
#ifndef GAGG_JOB_H
#define GAGG_JOB_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define JOB_TEXT	256	/* of a sentence, with its end */
#define JOB_ADDRESS	46	/* INET6_ADDRSTRLEN */
#define JOB_PATH	108	/* of a socket */

/*
 * The address with which this host takes part, and 16 bytes that processes on one host have alike,
 * no others: of one boot, in one network and one PID namespace. 0, or -1 with a sentence in @why,
 * JOB_TEXT bytes.
 */
int job_address(const char *rendezvous, char address[JOB_ADDRESS], uint8_t host[16], char *why);

/**
 * struct job_twin - the gagg-twin of a host, for one job
 * @pid:	child; 0: there is none
 * @folder:	its own, with the two files
 * @config:	what it reads at its start
 * @socket:	where it is asked
 */
struct job_twin {
	pid_t pid;
	char folder[JOB_PATH - 16];
	char config[JOB_PATH];
	char socket[JOB_PATH];
};

/**
 * struct job_group - the group that it has
 * @id:		number, not 0
 * @port:	UDP port
 * @address:	of this host
 * @members:	text of its members in gagg.conf(5)
 */
struct job_group {
	uint32_t id;
	uint16_t port;
	const char *address;
	const char *members;
};

#define JOB_GROUP	"job"	/* its name */

/* Binds a UDP port of this host for a moment: 0, or a negative errno. */
int job_twin_bind(const char *address, uint16_t port);

/* Starts one, and returns 0 when it answers, or -1 with a sentence in @why. */
int job_twin_start(struct job_twin *t, const struct job_group *g, uint64_t deadline, char *why);

/* Ends it: at once, if it does not end when it is asked to. */
void job_twin_stop(struct job_twin *t);

#endif
