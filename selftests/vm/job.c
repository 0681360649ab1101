// SPDX-License-Identifier: GPL-2.0
/*
 * A rank of a job that makes its own group: its ranks meet in a folder.
 *
 *	job FOLDER ID RANKS RANK [WHAT [MS]]
 *
 * WHAT:
 *	mean	says the mean of all ranks' vectors (default)
 *	wait	says "ready", and waits for an all-reduce that the highest rank never makes
 *	again	as mean, 20 times, with a job of its own each: FOLDER/0 to FOLDER/19 are there
 *
 * MS: of struct gagg_job and of the folder (60000). Exit status: 0; 1 after an error, with its
 * sentence.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gagg_job.h"

#define N	20000

static int job_fails(const struct gagg_job *job, const struct gagg_comm *comm)
{
	printf("rank %u failed: %s\n", job->rank, gagg_last_error(comm));
	return 1;
}

static int job_mean(const struct gagg_job *job, struct gagg_comm *comm)
{
	static float x[N];
	int i;

	for (i = 0; i < N; i++)
		x[i] = (float)(job->rank + 1) * (float)(i % 8);
	if (gagg_allreduce(x, x, N, GAGG_FLOAT32, GAGG_MEAN, comm, NULL))
		return job_fails(job, comm);
	printf("rank %u of %u: x[1] is %g, x[%d] is %g\n", job->rank, job->ranks, x[1], N - 1, x[N - 1]);
	return 0;
}

static int job_wait(const struct gagg_job *job, struct gagg_comm *comm)
{
	int x = 1;

	if (gagg_barrier(comm))
		return job_fails(job, comm);
	printf("rank %u is ready\n", job->rank);
	fflush(stdout);
	if (job->rank == job->ranks - 1)
		pause();
	if (gagg_allreduce(&x, &x, 1, GAGG_INT32, GAGG_SUM, comm, NULL))
		return job_fails(job, comm);
	return 0;
}

static int job_run(struct gagg_job *job, const char *what)
{
	struct gagg_comm *comm;

	if (gagg_init_job(&comm, job))
		return job_fails(job, NULL);
	if (strcmp(what, "wait") ? job_mean(job, comm) : job_wait(job, comm)) {
		gagg_abort(comm);
		return 1;
	}
	return gagg_finalize(comm) ? job_fails(job, NULL) : 0;
}

static int job_again(struct gagg_job *job, struct gagg_job_folder *folder)
{
	const char *path = folder->path;
	char name[4096];
	int i, err = 0;

	folder->path = name;
	for (i = 0; i < 20 && !err; i++) {
		snprintf(name, sizeof(name), "%s/%d", path, i);
		folder->round = 0;
		err = job_run(job, "mean");
	}
	return err;
}

int main(int argc, char **argv)
{
	struct gagg_job_folder folder = { 0 };
	struct gagg_job job = { .size = sizeof(job), .all_gather = gagg_job_folder, .of = &folder };
	const char *what = argc > 5 ? argv[5] : "mean";

	if (argc < 5) {
		fprintf(stderr, "see the top of selftests/vm/job.c\n");
		return 2;
	}
	job.timeout_ms = folder.timeout_ms = argc > 6 ? atoi(argv[6]) : 60000;
	job.rendezvous = getenv("RENDEZVOUS");
	folder.path = argv[1];
	job.id = argv[2];
	job.ranks = folder.ranks = (uint32_t)atoi(argv[3]);
	job.rank = folder.rank = (uint32_t)atoi(argv[4]);
	return strcmp(what, "again") ? job_run(&job, what) : job_again(&job, &folder);
}
