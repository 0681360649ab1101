/* SPDX-License-Identifier: LGPL-2.1-only OR MIT */
/*
 * libgagg: jobs, whose ranks make their own group. Nobody configures anything beforehand, and
 * nothing is of root: the lowest rank of each host starts a gagg-twin there as its user, which ends
 * with the job. The group has the sync mode bsp.
 *
 * UDP ports of jobs are above 1023, and any user of a host may have them: other hosts take that
 * user for the member. Run jobs on hosts whose users trust each other.
 *
 * Ranks find each other by an all-gather that their launcher has: of a c10d store, of MPI, of PMIx,
 * or of a folder that all of them see (gagg_job_folder()).
 */
#ifndef GAGG_LIB_JOB_H
#define GAGG_LIB_JOB_H

#include "gagg.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct gagg_job - a job, as one of its ranks knows it
 * @size:	sizeof(struct gagg_job)
 * @id:		what no other job has, nor the same one when it is started again: 1 to 127
 *		bytes, the same on all ranks
 * @ranks:	ranks of the job, 1 to 64, of which at most 16 are on a host. The same on all ranks
 * @rank:	this one, from 0; it becomes this rank of the group
 * @timeout_ms:	as in struct gagg_config; how long a host's gagg-twin may need to start as well
 * @rendezvous:	address of the host where ranks meet, in digits: each host takes part with the
 *		address that it has towards that one. NULL: with that of its first interface that
 *		is up
 * @all_gather:	collective: puts @bytes of each rank into @all, in the order of ranks; @mine are
 *		this one's. Returns 0, or what gagg_init_job() shows in its sentence. Has a timeout
 *		of its own
 * @of:		its first argument
 */
struct gagg_job {
	size_t size;
	const char *id;
	uint32_t ranks;
	uint32_t rank;
	int timeout_ms;
	const char *rendezvous;
	int (*all_gather)(void *of, const void *mine, void *all, size_t bytes);
	void *of;
};

/**
 * gagg_init_job() - become a rank of a job
 * @comm:	receives the communicator of all ranks; NULL on error
 * @job:	which; used until this returns
 *
 * Collective among all ranks of the job. What is wrong on one of them (no address, no gagg-twin,
 * another job, another number of ranks) all others are told, with its rank, and none becomes one.
 * Wrong values in @job, and a lack of memory, are told to the caller alone.
 *
 * Environment, ignored in a program with more rights than its caller:
 *
 * - $GAGG_ADDRESS: this host's address
 * - $GAGG_SOCKET_IFNAME: interfaces that may have it, as beginnings of names with commas between;
 *   after ^: those that may not; after =: whole names
 * - $GAGG_PORTS: UDP ports of which a job needs one, the same on all its hosts: FIRST-LAST
 *   [17440-17951]
 * - $GAGG_TWIN: the program [gagg-twin, where $PATH finds it]
 *
 * A gagg-twin is a child of the rank that has started it, in a session of its own; that rank waits
 * for it only if the start fails. It ends when nobody on its host has been a rank for three
 * seconds, and so with the job, however that ends; until then it holds that rank's standard error.
 *
 * Return: GAGG_OK; GAGG_ERR_MISMATCH: ranks have different jobs; GAGG_ERR_INVALID; otherwise as
 * gagg_init(). gagg_last_error(NULL) has the sentence.
 */
int gagg_init_job(struct gagg_comm **comm, const struct gagg_job *job);

/**
 * struct gagg_job_folder - ranks that meet in a folder
 * @path:	a folder that all ranks see, on one host or on a file system that hosts share. Files
 *		stay there; of a job before they must be gone
 * @ranks:	as in struct gagg_job
 * @rank:	as in struct gagg_job
 * @timeout_ms:	longest wait for the others, as in struct gagg_config
 * @round:	0 at first; counts calls
 */
struct gagg_job_folder {
	const char *path;
	uint32_t ranks;
	uint32_t rank;
	int timeout_ms;
	uint32_t round;
};

/**
 * gagg_job_folder() - an all-gather by files
 * @of:		struct gagg_job_folder
 * @mine:	@bytes of this rank
 * @all:	receives those of all ranks
 * @bytes:	the same on all ranks
 *
 * Return: 0, or a negative errno: -ETIMEDOUT when a rank does not come.
 */
int gagg_job_folder(void *of, const void *mine, void *all, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
