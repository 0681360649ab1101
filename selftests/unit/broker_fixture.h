/* SPDX-License-Identifier: GPL-2.0 */
/* A valid request, and the group that it names. */
#ifndef BROKER_FIXTURE_H
#define BROKER_FIXTURE_H

#include "../../agent/lib/broker_proto.h"
#include "../../agent/nl/nl.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

static inline struct broker_request good(void)
{
	struct broker_request r = {
		.size = sizeof(r),
		.version = BROKER_VERSION,
		.op = BROKER_OP_OPEN,
		.group = "test-broker.a",
		.rank = BROKER_RANK_ANY,
	};

	return r;
}

static inline struct nl_group group(void)
{
	struct nl_group g = { .name = "test-broker.a", .n_members = 5 };
	static const struct {
		uint32_t rank, roles;
		bool local;
	} m[] = {
		{ 9, GAGG_ROLE_WORKER, true },
		{ 2, GAGG_ROLE_WORKER | GAGG_ROLE_AGGREGATOR, false },
		{ 1, GAGG_ROLE_AGGREGATOR, true },
		{ 4, GAGG_ROLE_WORKER | GAGG_ROLE_AGGREGATOR, true },
		{ 6, GAGG_ROLE_WORKER, true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(m); i++) {
		g.members[i].rank = m[i].rank;
		g.members[i].roles = m[i].roles;
		g.members[i].local = m[i].local;
		nl_ip_parse(m[i].local ? "10.0.0.1" : "10.0.0.2",
			    &g.members[i].addr);
	}
	return g;
}

#endif
