// SPDX-License-Identifier: GPL-2.0
/*
 * The configuration of a group: defaults, what is legal, the core's geometry, what hosts compare.
 * By value, without locks.
 */
#include <linux/ip.h>
#include <linux/udp.h>
#include <net/ipv6.h>
#include "config.h"
#include "endpoint.h"
#include "group.h"

void gagg_config_default(struct gagg_config *cfg, const char *name,
			 struct user_namespace *ns)
{
	kuid_t uid = make_kuid(ns, 0);
	kgid_t gid = make_kgid(ns, 0);

	memset(cfg, 0, sizeof(*cfg));
	strscpy(cfg->name, name, sizeof(cfg->name));
	gagg_params_default(&cfg->param);
	cfg->id = gagg_group_id(cfg->name);
	cfg->uid = uid_valid(uid) ? uid : GLOBAL_ROOT_UID;
	cfg->gid = gid_valid(gid) ? gid : GLOBAL_ROOT_GID;
}

/* an extended ack keeps the pointer: literals only */
#define bad(extack, err, why)			\
({						\
	NL_SET_ERR_MSG(extack, why);		\
	(err);					\
})

static int config_check_params(const struct gagg_config *cfg, struct netlink_ext_ack *extack)
{
	const char *wrong = gagg_params_check(&cfg->param);

	if (!wrong)
		return 0;
	/* a literal of the core, which the macro cannot check */
	if (extack)
		extack->_msg = wrong;
	return -ERANGE;
}

static void config_set_port(union gagg_addr *addr, u16 port)
{
	if (addr->sa.sa_family == AF_INET6)
		addr->in6.sin6_port = htons(port);
	else
		addr->in.sin_port = htons(port);
}

static void config_set_ports(struct gagg_config *cfg)
{
	u32 r;

	for (r = 0; r < GAGG_RANKS; r++)
		if (cfg->member[r].present)
			config_set_port(&cfg->member[r].addr, cfg->port);
	if (cfg->multicast.sa.sa_family)
		config_set_port(&cfg->multicast, cfg->port);
}

/* bytes of an address; 0: it is none */
static u8 config_addr_len(const union gagg_addr *addr)
{
	if (!addr->sa.sa_family)
		return 0;
	return addr->sa.sa_family == AF_INET6 ? sizeof(addr->in6.sin6_addr) :
						sizeof(addr->in.sin_addr);
}

static const void *config_addr_bytes(const union gagg_addr *addr)
{
	if (addr->sa.sa_family == AF_INET6)
		return &addr->in6.sin6_addr;
	return &addr->in.sin_addr;
}

void gagg_config_roster(const struct gagg_config *cfg, struct gagg_roster *roster)
{
	u32 r;

	memset(roster, 0, sizeof(*roster));
	roster->local_len = config_addr_len(&cfg->local);
	roster->multicast_len = config_addr_len(&cfg->multicast);
	roster->multicast = config_addr_bytes(&cfg->multicast);
	for (r = 0; r < GAGG_RANKS; r++) {
		const struct gagg_member *m = &cfg->member[r];

		if (!m->present)
			continue;
		gagg_roster_enter(roster, r, m->roles, config_addr_bytes(&m->addr),
				  config_addr_len(&m->addr));
		if (m->local)
			roster->here |= GAGG_BIT(r);
	}
}

static int config_misfit_error(enum gagg_misfit_kind kind)
{
	switch (kind) {
	case GAGG_MISFIT_BAD:
		return -EINVAL;
	case GAGG_MISFIT_RANGE:
		return -ERANGE;
	case GAGG_MISFIT_FAMILY:
		return -EAFNOSUPPORT;
	case GAGG_MISFIT_MANY:
		return -E2BIG;
	}
	return -EINVAL;
}

static int config_check_fit(const struct gagg_config *cfg, struct netlink_ext_ack *extack)
{
	struct gagg_roster roster;
	struct gagg_fit fit = { .v = &cfg->param, .sync = &cfg->sync, .roster = &roster };
	struct gagg_misfit wrong;

	gagg_config_roster(cfg, &roster);
	if (!gagg_fit_next(&fit, &wrong))
		return 0;
	/* the same */
	if (extack)
		extack->_msg = wrong.why;
	return config_misfit_error(wrong.kind);
}

static int config_check_members(const struct gagg_config *cfg, struct netlink_ext_ack *extack)
{
	u32 r;

	for (r = 0; r < GAGG_RANKS; r++) {
		const struct gagg_member *m = &cfg->member[r];
		bool here = m->present && gagg_addr_equal(&m->addr, &cfg->local);

		if (!m->present)
			continue;
		if (here != m->local)
			return here ?
				bad(extack, -EINVAL,
				    "a member has this host's address and is not marked local") :
				bad(extack, -EINVAL,
				    "a member is marked local and has another host's address");
		if (!m->roles || (m->roles & ~(GAGG_ROLE_WORKER | GAGG_ROLE_AGGREGATOR)))
			return bad(extack, -EINVAL, "roles must be worker, aggregator or both");
	}
	return 0;
}

int gagg_config_check(struct gagg_config *cfg, struct netlink_ext_ack *extack)
{
	int err;

	if (!cfg->local.sa.sa_family)
		return bad(extack, -EINVAL, "the local address is missing");
	config_set_ports(cfg);
	err = config_check_params(cfg, extack);
	if (!err)
		err = config_check_fit(cfg, extack);
	return err ? err : config_check_members(cfg, extack);
}

bool gagg_config_geom(struct gagg_config *cfg, struct gagg_geom *g, struct gagg_node *node)
{
	struct gagg_roster roster;
	u32 r;

	gagg_config_roster(cfg, &roster);
	gagg_roster_geom(&roster, &cfg->param, &cfg->sync, g);
	for (r = 0; r < GAGG_RANKS; r++) {
		struct gagg_member *m = &cfg->member[r];

		if (!m->present)
			continue;
		m->node = g->node_of[r];
		node[m->node].addr = m->addr;
	}
	return roster.here && gagg_geom_complete(g);
}

bool gagg_config_same_shape(const struct gagg_config *a, const struct gagg_config *b)
{
	/* both were zeroed at first, so padding compares equal */
	return !memcmp(a, b, offsetof(struct gagg_config, uid)) &&
	       gagg_params_same_shape(&a->param, &b->param);
}

void gagg_config_change(struct gagg_config *cfg, const struct gagg_config *from)
{
	cfg->uid = from->uid;
	cfg->gid = from->gid;
	gagg_params_change(&cfg->param, &from->param);
}
