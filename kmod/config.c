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
	/* @why is a literal of the core, which the macro cannot check */
	if (extack)
		extack->_msg = wrong;
	return -ERANGE;
}

static int config_check_sync(const struct gagg_config *cfg, struct netlink_ext_ack *extack)
{
	if (cfg->shards > 1 && gagg_sync_get(cfg->sync.mode)->whole)
		return bad(extack, -EINVAL, "the sync mode requires one shard");
	if (cfg->lane_type == GAGG_LANE_TYPE_INT64 && !gagg_sync_get(cfg->sync.mode)->store)
		return bad(extack, -EINVAL,
			   "lane-type int64 requires a sync mode with a store: without one, sums of int64 need no option");
	if (cfg->wire && !gagg_sync_get(cfg->sync.mode)->narrow)
		return bad(extack, -EINVAL,
			   "wire int16 and int8 require a sync mode that sums gradients in rounds: bsp, or one of bsp-...");
	return 0;
}

static void config_set_port(union gagg_addr *addr, u16 port)
{
	if (addr->sa.sa_family == AF_INET6)
		addr->in6.sin6_port = htons(port);
	else
		addr->in.sin_port = htons(port);
}

/* is @rank the first member with its address and one of these roles? */
static bool config_first_there(const struct gagg_config *cfg, u32 rank, u8 roles)
{
	u32 r;

	for (r = 0; r < rank; r++)
		if (cfg->member[r].present && (cfg->member[r].roles & roles) &&
		    gagg_addr_equal(&cfg->member[r].addr, &cfg->member[rank].addr))
			return false;
	return true;
}

static int config_check_members(struct gagg_config *cfg, struct netlink_ext_ack *extack)
{
	u32 r, hosts = 0, locals = 0;

	for (r = 0; r < GAGG_RANKS; r++) {
		struct gagg_member *m = &cfg->member[r];
		bool here;

		if (!m->present)
			continue;
		config_set_port(&m->addr, cfg->port);
		if (m->addr.sa.sa_family != cfg->local.sa.sa_family)
			return bad(extack, -EAFNOSUPPORT,
				   "all addresses of a group must be of one family");
		here = gagg_addr_equal(&m->addr, &cfg->local);
		if (here != m->local)
			return here ?
				bad(extack, -EINVAL,
				    "a member has this host's address and is not marked local") :
				bad(extack, -EINVAL,
				    "a member is marked local and has another host's address");
		if (!m->roles || (m->roles & ~(GAGG_ROLE_WORKER | GAGG_ROLE_AGGREGATOR)))
			return bad(extack, -EINVAL, "roles must be worker, aggregator or both");
		locals += here;
		hosts += config_first_there(cfg, r, ~0);
		if ((m->roles & GAGG_ROLE_WORKER) && gagg_sync_get(cfg->sync.mode)->copies &&
		    !config_first_there(cfg, r, GAGG_ROLE_WORKER))
			return bad(extack, -EINVAL,
				   "the sync mode requires hosts with one worker each");
	}
	if (locals > GAGG_LOCALS)
		return bad(extack, -E2BIG, "at most 16 ranks of a group on one host");
	if (cfg->ring < 2U * cfg->stripe * hosts * cfg->shards)
		return bad(extack, -ERANGE,
			   "ring must have at least 2 * stripe * shards chunks for every host");
	return 0;
}

static int config_check_multicast(struct gagg_config *cfg, struct netlink_ext_ack *extack)
{
	if (!cfg->multicast.sa.sa_family)
		return 0;
	config_set_port(&cfg->multicast, cfg->port);
	if (cfg->multicast.sa.sa_family != cfg->local.sa.sa_family)
		return bad(extack, -EAFNOSUPPORT,
			   "multicast must be an address of the members' family");
	if (gagg_sync_get(cfg->sync.mode)->store)
		return bad(extack, -EINVAL,
			   "multicast requires a sync mode without a store: what ranks read of one goes to each alone");
	return 0;
}

int gagg_config_check(struct gagg_config *cfg, struct netlink_ext_ack *extack)
{
	int err;

	if (!cfg->local.sa.sa_family)
		return bad(extack, -EINVAL, "the local address is missing");
	err = config_check_params(cfg, extack);
	if (!err)
		err = config_check_sync(cfg, extack);
	if (!err)
		err = config_check_multicast(cfg, extack);
	return err ? err : config_check_members(cfg, extack);
}

/* node of an address; a new node if there is none */
static u32 config_node_of(const struct gagg_geom *g, struct gagg_node *node,
			  const union gagg_addr *addr)
{
	u32 n;

	for (n = 0; n < g->nodes; n++)
		if (gagg_addr_equal(&node[n].addr, addr))
			return n;
	node[n].addr = *addr;
	return n;
}

bool gagg_config_geom(struct gagg_config *cfg, struct gagg_geom *g, struct gagg_node *node)
{
	bool here = false;
	u32 r;

	gagg_geom_init(g);
	gagg_params_geom(&cfg->param, g);
	gagg_sync_apply(g, &cfg->sync);
	g->heard_by_others = cfg->multicast.sa.sa_family != 0;
	for (r = 0; r < GAGG_RANKS; r++) {
		struct gagg_member *m = &cfg->member[r];

		if (!m->present)
			continue;
		m->node = config_node_of(g, node, &m->addr);
		gagg_geom_rank(g, r, m->node, m->roles, cfg->placement == GAGG_PLACE_ROOT);
		if (m->local) {
			g->self = m->node;
			here = true;
		}
	}
	return here && gagg_geom_complete(g);
}

static void config_digest_member(u64 *d, u32 rank, const struct gagg_member *m)
{
	if (m->addr.sa.sa_family == AF_INET6)
		gagg_digest_member(d, rank, &m->addr.in6.sin6_addr, 16, m->roles);
	else
		gagg_digest_member(d, rank, &m->addr.in.sin_addr, 4, m->roles);
}

void gagg_config_digest(const struct gagg_config *cfg, u32 digest[GAGG_DG_COUNT])
{
	u64 d[GAGG_DG_COUNT] = { };
	u32 r;

	for (r = 0; r < GAGG_RANKS; r++)
		if (cfg->member[r].present)
			config_digest_member(d, r, &cfg->member[r]);
	gagg_digest_params(d, &cfg->param, &cfg->sync);
	if (cfg->multicast.sa.sa_family == AF_INET6)
		gagg_digest_multicast(d, &cfg->multicast.in6.sin6_addr, 16);
	else if (cfg->multicast.sa.sa_family)
		gagg_digest_multicast(d, &cfg->multicast.in.sin_addr, 4);
	gagg_digest_fold_all(d, digest);
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
