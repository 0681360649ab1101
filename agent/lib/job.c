// SPDX-License-Identifier: LGPL-2.1-only OR MIT
/*
 * The start of a job. All ranks do the same all-gathers, whatever is wrong on one of them:
 * 1. Cards: what a rank is and has. Each rank looks at all of them and comes to the same verdict.
 * 2. The lowest rank of each host starts a gagg-twin with the port that is in turn. All learn what
 *    came of it: if a port is in use on one host, all of them stop theirs, and the next port is in
 *    turn; with any other error all of them give up.
 * 3. Each rank opens its session, and all learn whether everybody has one. A gagg-twin does not end
 *    before it has had one, unless the rank has that has started it.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "broker.h"
#include "comm.h"
#include "deadline.h"
#include "error.h"
#include "gagg_job.h"
#include "job.h"
#include "session.h"
#include "sys.h"

#define JOB_ID_MAX	127
#define JOB_HOST_MAX	16	/* ranks; as many as a host of a group can have */
#define JOB_PORTS	17440	/* ephemeral ones begin at 32768 */
#define JOB_PORTS_LAST	17951
#define JOB_TRIES	64	/* ports: each job of the last seconds has one */
#define JOB_VERSION	1

/* what all ranks tell all others first, and compare; in the byte order of hosts, which is alike */
struct job_card {
	uint32_t version;
	uint32_t ranks;
	uint32_t rank;
	uint16_t first;		/* of the ports */
	uint16_t last;
	char id[JOB_ID_MAX + 1];
	uint8_t host[16];
	char address[JOB_ADDRESS];
	char why[JOB_TEXT];	/* not empty: this rank cannot take part */
	char reserved[50];
};

/* of all versions, so that another one can be told */
_Static_assert(sizeof(struct job_card) == 512, "a card has 512 bytes");

/* what has come of a host's gagg-twin */
struct job_start {
	uint32_t is_taken;	/* the port */
	char socket[JOB_PATH];
	char why[JOB_TEXT];	/* not empty: there is none */
};

/* a job that starts */
struct job {
	const struct gagg_job *of;
	struct job_card mine, *cards;
	struct job_start start, *starts;
	struct job_twin twin;
	struct gagg_config cfg;
	int fd;			/* session; -1: none */
	uint32_t tries;		/* ports, at most */
	uint32_t leader;	/* lowest rank on this host */
	uint64_t deadline;
};

static int job_check(const struct gagg_job *of)
{
	if (!of || of->size != sizeof(*of))
		return error_set(GAGG_ERR_INVALID, "gagg_job.size is not the size of this library's struct gagg_job");
	if (!of->id || !*of->id || strlen(of->id) > JOB_ID_MAX)
		return error_set(GAGG_ERR_INVALID, "a job's id has 1 to %d bytes", JOB_ID_MAX);
	if (!of->ranks || of->ranks > GAGG_RANKS_MAX)
		return error_set(GAGG_ERR_INVALID, "a job has 1 to %u ranks, not %u",
				 GAGG_RANKS_MAX, of->ranks);
	if (of->rank >= of->ranks)
		return error_set(GAGG_ERR_INVALID, "rank %u of a job of %u ranks: ranks are counted from 0",
				 of->rank, of->ranks);
	if (!of->all_gather)
		return error_set(GAGG_ERR_INVALID, "gagg_job.all_gather is NULL: ranks cannot find each other");
	return 0;
}

/* FIRST-LAST */
static int job_read_ports(struct job_card *card)
{
	const char *text = secure_getenv("GAGG_PORTS");
	unsigned int first, last;
	int end = 0;

	card->first = JOB_PORTS;
	card->last = JOB_PORTS_LAST;
	if (!text || !*text)
		return 0;
	if (sscanf(text, "%u-%u%n", &first, &last, &end) != 2 || text[end] || !first ||
	    first > last || last > UINT16_MAX) {
		snprintf(card->why, sizeof(card->why),
			 "GAGG_PORTS=%s is not FIRST-LAST, from 1 to 65535", text);
		return -1;
	}
	card->first = (uint16_t)first;
	card->last = (uint16_t)last;
	return 0;
}

static int job_gather(const struct gagg_job *of, const void *mine, void *all, size_t bytes)
{
	int err = of->all_gather(of->of, mine, all, bytes);

	if (!err)
		return 0;
	return error_set(err == -ETIMEDOUT ? GAGG_ERR_TIMEOUT : GAGG_ERR_SYSTEM,
			 "job \"%s\": ranks do not find each other: its all-gather returned %d%s%s%s",
			 of->id, err, err < 0 ? " (" : "", err < 0 ? strerror(-err) : "",
			 err < 0 ? ")" : "");
}

/* a card says the same job as this rank's own */
static int job_compare(const struct job *j, uint32_t rank)
{
	const struct job_card *c = &j->cards[rank], *m = &j->mine;

	if (c->version != JOB_VERSION)
		return error_set(GAGG_ERR_MISMATCH, "job \"%s\": rank %u has another version of libgagg",
				 j->of->id, rank);
	if (strncmp(c->id, m->id, sizeof(c->id)))
		return error_set(GAGG_ERR_MISMATCH, "rank %u is of job \"%.*s\", this one of job \"%s\"",
				 rank, JOB_ID_MAX, c->id, j->of->id);
	if (c->ranks != m->ranks)
		return error_set(GAGG_ERR_MISMATCH, "job \"%s\" has %u ranks on rank %u, %u here",
				 j->of->id, c->ranks, rank, m->ranks);
	if (c->rank != rank)
		return error_set(GAGG_ERR_MISMATCH, "job \"%s\": rank %u is there in place of rank %u",
				 j->of->id, c->rank, rank);
	if (*c->why)
		return error_set(GAGG_ERR_SYSTEM, "job \"%s\": rank %u cannot take part: %.*s",
				 j->of->id, rank, JOB_TEXT - 1, c->why);
	if (c->first != m->first || c->last != m->last)
		return error_set(GAGG_ERR_MISMATCH, "GAGG_PORTS is %u-%u on rank %u, %u-%u here",
				 c->first, c->last, rank, m->first, m->last);
	return 0;
}

static bool job_is_one_host(const struct job_card *a, const struct job_card *b)
{
	return !memcmp(a->host, b->host, sizeof(a->host));
}

static uint32_t job_leader(const struct job *j, uint32_t rank)
{
	uint32_t r = 0;

	while (!job_is_one_host(&j->cards[r], &j->cards[rank]))
		r++;
	return r;
}

static bool job_is_loopback(const char *address)
{
	return !strncmp(address, "127.", 4) || !strcmp(address, "::1");
}

/* hosts have addresses that differ, and that others reach; each has room for its ranks */
static int job_compare_hosts(const struct job *j, uint32_t rank)
{
	const struct job_card *c = &j->cards[rank];
	uint32_t r, here = 0;

	for (r = 0; r < j->of->ranks; r++) {
		const struct job_card *o = &j->cards[r];
		bool same = !strcmp(c->address, o->address);

		if (job_is_one_host(c, o)) {
			here++;
			if (!same)
				return error_set(GAGG_ERR_MISMATCH,
						 "ranks %u and %u are on one host, which has address %s for the one and %s for the other",
						 rank, r, c->address, o->address);
			continue;
		}
		if (same || job_is_loopback(c->address))
			return error_set(GAGG_ERR_INVALID,
					 "ranks %u and %u are on two hosts, and rank %u has address %s: set GAGG_ADDRESS or GAGG_SOCKET_IFNAME there",
					 rank, r, rank, c->address);
	}
	if (here > JOB_HOST_MAX)
		return error_set(GAGG_ERR_INVALID, "%u ranks are on the host of rank %u; a host has room for %u",
				 here, rank, JOB_HOST_MAX);
	return 0;
}

/* all come to the same verdict, unless two jobs meet: then each sees the other */
static int job_exchange_cards(struct job *j)
{
	struct job_card *m = &j->mine;
	uint32_t rank;
	int err;

	m->version = JOB_VERSION;
	m->ranks = j->of->ranks;
	m->rank = j->of->rank;
	strcpy(m->id, j->of->id);
	if (!job_read_ports(m) && job_address(j->of->rendezvous, m->address, m->host, m->why))
		*m->address = 0;
	err = job_gather(j->of, m, j->cards, sizeof(*m));
	for (rank = 0; !err && rank < j->of->ranks; rank++)
		err = job_compare(j, rank);
	for (rank = 0; !err && rank < j->of->ranks; rank++)
		err = job_compare_hosts(j, rank);
	return err;
}

/* FNV-1a, never 0 */
static uint32_t job_number(const char *id)
{
	uint32_t h = 2166136261U;

	while (*id)
		h = (h ^ (uint8_t)*id++) * 16777619U;
	return h ? h : 1;
}

/* "member 0 { address = ... }" of all; NULL: out of memory */
static char *job_members(const struct job *j)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	for (uint32_t rank = 0; rank < j->of->ranks; rank++)
		fprintf(f, "member %u { address = \"%s\" }\n", rank, j->cards[rank].address);
	if (fclose(f)) {
		free(text);
		return NULL;
	}
	return text;
}

/* this host's gagg-twin, with the port that is in turn */
static void job_start_twin(struct job *j, const char *members, uint32_t attempt)
{
	uint32_t id = job_number(j->of->id), ports = j->mine.last - j->mine.first + 1U;
	struct job_group g = {
		.id = id, .port = (uint16_t)(j->mine.first + (id + attempt) % ports),
		.address = j->mine.address, .members = members,
	};
	int err;

	memset(&j->start, 0, sizeof(j->start));
	if (j->leader != j->of->rank)
		return;
	err = job_twin_bind(g.address, g.port);
	if (err)
		snprintf(j->start.why, sizeof(j->start.why), "%s, UDP port %u: %s",
			 g.address, g.port, strerror(-err));
	else if (!job_twin_start(&j->twin, &g, j->deadline, j->start.why))
		strcpy(j->start.socket, j->twin.socket);
	else
		/* another job may have been faster */
		err = job_twin_bind(g.address, g.port);
	if (err == -EADDRINUSE) {
		*j->start.why = 0;
		j->start.is_taken = 1;
	}
}

/* 0: all hosts have one; 1: none is left, and another port may do */
static int job_look_at_starts(struct job *j)
{
	uint32_t rank;

	for (rank = 0; rank < j->of->ranks; rank++)
		if (*j->starts[rank].why)
			return error_set(GAGG_ERR_SYSTEM, "job \"%s\": no gagg-twin on the host of rank %u: %.*s",
					 j->of->id, rank, JOB_TEXT - 1, j->starts[rank].why);
	for (rank = 0; rank < j->of->ranks; rank++)
		if (j->starts[rank].is_taken)
			return 1;
	return 0;
}

static int job_start_twins(struct job *j)
{
	char *members = job_members(j);
	uint32_t attempt;
	int err = 1;

	j->tries = j->mine.last - j->mine.first + 1U;
	if (j->tries > JOB_TRIES)
		j->tries = JOB_TRIES;
	for (attempt = 0; err > 0 && attempt < j->tries; attempt++) {
		if (members)
			job_start_twin(j, members, attempt);
		else
			strcpy(j->start.why, "out of memory");
		err = job_gather(j->of, &j->start, j->starts, sizeof(j->start));
		if (!err)
			err = job_look_at_starts(j);
		if (err)
			job_twin_stop(&j->twin);
	}
	free(members);
	if (err > 0)
		return error_set(GAGG_ERR_BUSY,
				 "job \"%s\": %u UDP ports of %u-%u are in use, each on some host: set GAGG_PORTS to others",
				 j->of->id, j->tries, j->mine.first, j->mine.last);
	return err;
}

/* a session of each, or of none; what is wrong on one of them all learn */
static int job_open(struct job *j)
{
	uint32_t rank;
	int err;

	j->cfg = (struct gagg_config){
		.size = sizeof(j->cfg), .rank = j->of->rank, .group = JOB_GROUP,
		.socket = j->starts[j->leader].socket, .timeout_ms = j->of->timeout_ms,
	};
	j->fd = broker_open(j->cfg.socket, j->cfg.group, j->cfg.rank, j->cfg.timeout_ms);
	memset(&j->mine.why, 0, sizeof(j->mine.why));
	if (j->fd < 0)
		snprintf(j->mine.why, sizeof(j->mine.why), "%s", error_thread());
	err = job_gather(j->of, &j->mine, j->cards, sizeof(j->mine));
	for (rank = 0; !err && rank < j->of->ranks; rank++)
		err = job_compare(j, rank);
	return err;
}

static int job_join(struct job *j, struct gagg_comm **comm)
{
	int err = job_open(j);

	if (!err)
		return comm_join(comm, j->fd, &j->cfg);
	if (j->fd >= 0)
		sys_close(j->fd);
	job_twin_stop(&j->twin);
	return err;
}

int gagg_init_job(struct gagg_comm **comm, const struct gagg_job *of)
{
	struct job j = { .of = of };
	int err;

	error_clear();
	*comm = NULL;
	err = job_check(of);
	if (err)
		return err;
	j.deadline = deadline_in(session_timeout(of->timeout_ms));
	j.cards = calloc(of->ranks, sizeof(*j.cards));
	j.starts = calloc(of->ranks, sizeof(*j.starts));
	/* without it the others could not be told */
	err = j.cards && j.starts ? job_exchange_cards(&j) :
				    error_set(GAGG_ERR_NOMEM, "out of memory");
	if (!err) {
		j.leader = job_leader(&j, of->rank);
		err = job_start_twins(&j);
	}
	if (!err)
		err = job_join(&j, comm);
	free(j.cards);
	free(j.starts);
	return err;
}
