// SPDX-License-Identifier: GPL-2.0
/*
 * Events of the module in words.
 */
#include <inttypes.h>
#include <stdio.h>
#include <linux/gagg_wire.h>

#include "notify.h"

/* Only these reasons are about a certain rank. */
static bool notify_reason_has_rank(uint32_t reason)
{
	switch (reason) {
	case GAGG_R_BYE:
	case GAGG_R_DIED:
	case GAGG_R_SILENT:
	case GAGG_R_RESTART:
	case GAGG_R_DESYNC:
	case GAGG_R_DELETED:
		return true;
	default:
		return false;
	}
}

static enum log_level notify_describe_end(const struct nl_group *g, char *buf,
					  size_t size)
{
	bool planned = g->reason == GAGG_R_BYE || g->reason == GAGG_R_ADMIN;
	char rank[32] = "";

	if (notify_reason_has_rank(g->reason))
		snprintf(rank, sizeof(rank), ", rank %u", g->reason_rank);
	snprintf(buf, size, "group \"%s\": epoch %" PRIu64 " ended: %s%s",
		 g->name, g->epoch, nl_reason_name(g->reason), rank);
	return planned ? LOG_L_INFO : LOG_L_WARN;
}

static void notify_describe_member(const struct nl_event *e, char *buf, size_t size)
{
	const struct nl_member *m = &e->group.members[0];
	char ip[NL_IP_MAX];

	snprintf(buf, size, "group \"%s\": rank %u at %s: %s%s", e->group.name,
		 m->rank, nl_ip_format(&m->addr, ip),
		 e->event == GAGG_EV_MEMBER_STATE ? "" : "event ",
		 e->event == GAGG_EV_MEMBER_STATE ?
			 nl_member_state_name(m->state) :
			 nl_event_name(e->event));
}

static void notify_describe_mismatch(const struct nl_event *e, char *buf, size_t size)
{
	const struct nl_group *g = &e->group;
	const struct nl_member *m = &g->members[0];
	char ip[NL_IP_MAX], what[NL_MISMATCH_MAX];

	if (e->is_member)
		snprintf(buf, size,
			 "group \"%s\": host %s (rank %u) is configured differently: %s",
			 g->name, nl_ip_format(&m->addr, ip), m->rank,
			 nl_mismatch_format(m, what));
	else
		snprintf(buf, size,
			 "group \"%s\": a host is configured differently: %s",
			 g->name, g->mismatch);
}

enum log_level notify_describe(const struct nl_event *e, char *buf, size_t size)
{
	const struct nl_group *g = &e->group;

	switch (e->event) {
	case GAGG_EV_EPOCH_START:
		snprintf(buf, size, "group \"%s\": epoch %" PRIu64 " started",
			 g->name, g->epoch);
		return LOG_L_INFO;
	case GAGG_EV_EPOCH_END:
		return notify_describe_end(g, buf, size);
	case GAGG_EV_MISMATCH:
		notify_describe_mismatch(e, buf, size);
		return LOG_L_WARN;
	default:
		break;
	}
	if (e->is_member)
		notify_describe_member(e, buf, size);
	else
		snprintf(buf, size, "group \"%s\": event %s", g->name,
			 nl_event_name(e->event));
	return LOG_L_DEBUG;
}

bool notify_frees(const struct nl_event *e)
{
	return e->event == GAGG_EV_EPOCH_END || e->event == GAGG_EV_DEL ||
	       (e->event == GAGG_EV_MEMBER_STATE &&
		e->group.members[0].state < GAGG_MS_ATTACHED);
}
