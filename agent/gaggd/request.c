// SPDX-License-Identifier: GPL-2.0
/*
 * Checks of a request.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "request.h"
#include "../archive/name.h"

static int request_refuse(int error, char msg[BROKER_MESSAGE_MAX], const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static int request_refuse(int error, char msg[BROKER_MESSAGE_MAX], const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(msg, BROKER_MESSAGE_MAX, fmt, ap);
	va_end(ap);
	return error;
}

static int request_check_group(const struct broker_request *r, char msg[BROKER_MESSAGE_MAX])
{
	if (!memchr(r->group, 0, sizeof(r->group)))
		return request_refuse(EINVAL, msg,
				      "the group's name does not end within %zu bytes",
				      sizeof(r->group));
	if (!name_valid(r->group))
		return request_refuse(EINVAL, msg,
				      "a group's name is 1 to %d of A-Z a-z 0-9 . _ -",
				      GAGG_NAME_MAX - 1);
	return 0;
}

static int request_check_open(const struct broker_request *r, char msg[BROKER_MESSAGE_MAX])
{
	static const char none[GAGG_NAME_MAX];

	if (r->rank >= GAGG_RANKS_MAX && r->rank != BROKER_RANK_ANY)
		return request_refuse(EINVAL, msg, "rank %u: ranks are 0 to %d", r->rank,
				      GAGG_RANKS_MAX - 1);
	if (r->bytes || memcmp(r->name, none, sizeof(none)))
		return request_refuse(EINVAL, msg,
				      "a request for a session has bytes or a name: both are a checkpoint's");
	return 0;
}

/* Both names are a file's: see name.h. */
static int request_check_checkpoint(const struct broker_request *r, char msg[BROKER_MESSAGE_MAX])
{
	if (!memchr(r->name, 0, sizeof(r->name)) || !name_kept(r->name))
		return request_refuse(EINVAL, msg,
				      "a checkpoint's name is 1 to %d of A-Z a-z 0-9 . _ -, the first neither . nor -",
				      GAGG_NAME_MAX - 1);
	if (!name_kept(r->group))
		return request_refuse(EINVAL, msg,
				      "group \"%s\": no checkpoints are kept of a group with a name that begins with . or -",
				      r->group);
	if (r->rank || (r->bytes && r->op != BROKER_OP_SAVE))
		return request_refuse(EINVAL, msg,
				      "a request about a checkpoint has a rank, or bytes that are not to be saved");
	if (r->op == BROKER_OP_SAVE && (!r->bytes || r->bytes % sizeof(uint64_t)))
		return request_refuse(EINVAL, msg,
				      "a checkpoint has whole words of 8 bytes, not %llu bytes",
				      (unsigned long long)r->bytes);
	return 0;
}

/* what gaggctl asks of gagg-twin */
static int request_check_question(const struct broker_request *r, char msg[BROKER_MESSAGE_MAX])
{
	static const char none[GAGG_NAME_MAX];

	if (r->bytes || memcmp(r->name, none, sizeof(none)))
		return request_refuse(EINVAL, msg,
				      "a question about groups has bytes or a name: both are a checkpoint's");
	if (r->rank && *r->group)
		return request_refuse(EINVAL, msg,
				      "a question about group \"%s\" has a position: either of them says which group is meant",
				      r->group);
	return 0;
}

int request_check(const void *buf, size_t have, size_t len,
		  struct broker_request *out, char msg[BROKER_MESSAGE_MAX])
{
	int ret;

	/* Version before size: another version may have another size. */
	memset(out, 0, sizeof(*out));
	memcpy(out, buf, have < sizeof(*out) ? have : sizeof(*out));
	if (len >= 2 * sizeof(uint32_t) && out->version != BROKER_VERSION)
		return request_refuse(EPROTONOSUPPORT, msg,
				      "the program speaks version %u of the session protocol, gaggd speaks %u: update the older of the two",
				      out->version, BROKER_VERSION);
	if (len != sizeof(*out) || out->size != sizeof(*out))
		return request_refuse(EINVAL, msg,
				      "a request is %zu bytes, this one is %zu and says %u",
				      sizeof(*out), len, out->size);
	/* or a position instead of it */
	ret = out->op == BROKER_OP_GROUP && !*out->group ? 0 : request_check_group(out, msg);
	if (ret)
		return ret;
	switch (out->op) {
	case BROKER_OP_OPEN:
		return request_check_open(out, msg);
	case BROKER_OP_SAVE:
	case BROKER_OP_COMMIT:
	case BROKER_OP_LOAD:
		return request_check_checkpoint(out, msg);
	case BROKER_OP_TWIN:
	case BROKER_OP_GROUP:
	case BROKER_OP_STATS:
		return request_check_question(out, msg);
	}
	return request_refuse(EINVAL, msg, "request %u is none that gaggd knows", out->op);
}

static bool request_peer_in_group(const struct peer *p, gid_t gid)
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
	if (request_peer_in_group(p, gid))
		return (mode & 0060) == 0060;
	return (mode & 0006) == 0006;
}

static bool request_is_session_rank(const struct nl_member *m)
{
	return m->local && m->roles & GAGG_ROLE_WORKER;
}

static int request_refuse_rank(const struct nl_group *g, uint32_t rank,
			       char msg[BROKER_MESSAGE_MAX])
{
	char ip[NL_IP_MAX];

	for (unsigned int i = 0; i < g->n_members; i++) {
		const struct nl_member *m = &g->members[i];

		if (m->rank != rank)
			continue;
		if (!m->local)
			return request_refuse(EINVAL, msg,
					      "rank %u of group \"%s\" is at %s, not on this host",
					      rank, g->name, nl_ip_format(&m->addr, ip));
		return request_refuse(EINVAL, msg,
				      "rank %u of group \"%s\" is an aggregator only, and sessions are for workers",
				      rank, g->name);
	}
	return request_refuse(EINVAL, msg, "group \"%s\" has no rank %u", g->name,
			      rank);
}

int rank_candidates(const struct nl_group *g, uint32_t rank, uint32_t *out,
		    unsigned int *n, char msg[BROKER_MESSAGE_MAX])
{
	*n = 0;
	for (unsigned int i = 0; i < g->n_members; i++) {
		const struct nl_member *m = &g->members[i];
		unsigned int at;

		if (!request_is_session_rank(m) ||
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
		return request_refuse_rank(g, rank, msg);
	return request_refuse(EINVAL, msg,
			      "group \"%s\" has no worker on this host", g->name);
}
