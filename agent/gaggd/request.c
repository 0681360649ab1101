// SPDX-License-Identifier: GPL-2.0
/*
 * Checks of a request.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "request.h"

static int refuse(int error, char *msg, size_t size, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

static int refuse(int error, char *msg, size_t size, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(msg, size, fmt, ap);
	va_end(ap);
	return error;
}

/* The same set as the kernel's; also keeps control characters from the log. */
static bool name_valid(const char *name)
{
	return *name &&
	       strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-") ==
		       strlen(name);
}

int request_check(const void *buf, size_t have, size_t len,
		  struct broker_request *out, char *msg, size_t size)
{
	/* Version before size: another version may have another size. */
	memset(out, 0, sizeof(*out));
	memcpy(out, buf, have < sizeof(*out) ? have : sizeof(*out));
	if (len >= 2 * sizeof(uint32_t) && out->version != BROKER_VERSION)
		return refuse(EPROTONOSUPPORT, msg, size,
			      "the program speaks version %u of the session protocol, gaggd speaks %u: update the older of the two",
			      out->version, BROKER_VERSION);
	if (len != sizeof(*out) || out->size != sizeof(*out))
		return refuse(EINVAL, msg, size,
			      "a request is %zu bytes, this one is %zu and says %u",
			      sizeof(*out), len, out->size);
	if (!memchr(out->group, 0, sizeof(out->group)))
		return refuse(EINVAL, msg, size,
			      "the group's name does not end within %zu bytes",
			      sizeof(out->group));
	if (!name_valid(out->group))
		return refuse(EINVAL, msg, size,
			      "a group's name is 1 to %d of A-Z a-z 0-9 . _ -",
			      GAGG_NAME_MAX - 1);
	if (out->rank >= GAGG_RANKS_MAX && out->rank != BROKER_RANK_ANY)
		return refuse(EINVAL, msg, size,
			      "rank %u: ranks are 0 to %d", out->rank,
			      GAGG_RANKS_MAX - 1);
	if (out->reserved)
		return refuse(EINVAL, msg, size,
			      "the request's reserved field is not zero");
	return 0;
}

static bool peer_in_group(const struct peer *p, gid_t gid)
{
	if (p->gid == gid)
		return true;
	for (size_t i = 0; i < p->ngroups; i++)
		if (p->groups[i] == gid)
			return true;
	return false;
}

bool access_allowed(const struct peer *p, uid_t uid, gid_t gid,
		    unsigned int mode)
{
	if (p->uid == 0)
		return true;
	if (p->uid == uid)
		return (mode & 0600) == 0600;
	if (peer_in_group(p, gid))
		return (mode & 0060) == 0060;
	return (mode & 0006) == 0006;
}

static bool is_session_rank(const struct nl_member *m)
{
	return m->local && m->roles & GAGG_ROLE_WORKER;
}

static int refuse_rank(const struct nl_group *g, uint32_t rank, char *msg,
		       size_t size)
{
	char ip[NL_IP_MAX];

	for (unsigned int i = 0; i < g->n_members; i++) {
		const struct nl_member *m = &g->members[i];

		if (m->rank != rank)
			continue;
		if (!m->local)
			return refuse(EINVAL, msg, size,
				      "rank %u of group \"%s\" is at %s, not on this host",
				      rank, g->name, nl_ip_format(&m->addr, ip));
		return refuse(EINVAL, msg, size,
			      "rank %u of group \"%s\" is an aggregator only, and sessions are for workers",
			      rank, g->name);
	}
	return refuse(EINVAL, msg, size, "group \"%s\" has no rank %u", g->name,
		      rank);
}

int rank_candidates(const struct nl_group *g, uint32_t rank, uint32_t *out,
		    unsigned int *n, char *msg, size_t size)
{
	*n = 0;
	for (unsigned int i = 0; i < g->n_members; i++) {
		const struct nl_member *m = &g->members[i];
		unsigned int at;

		if (!is_session_rank(m) ||
		    (rank != BROKER_RANK_ANY && m->rank != rank))
			continue;
		for (at = *n; at && out[at - 1] > m->rank; at--)
			out[at] = out[at - 1];
		out[at] = m->rank;
		++*n;
	}
	if (*n)
		return 0;
	if (rank != BROKER_RANK_ANY)
		return refuse_rank(g, rank, msg, size);
	return refuse(EINVAL, msg, size,
		      "group \"%s\" has no worker on this host", g->name);
}
