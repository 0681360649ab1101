// SPDX-License-Identifier: GPL-2.0
/*
 * Groups, members and counters as netlink attributes. The group stays alive during each call: the
 * caller holds gagg_net.lock, or is a work of the group.
 */
#include "encode.h"
#include "epoch.h"
#include "group.h"
#include "netns.h"

static int encode_put_addr(struct sk_buff *skb, int type, const union gagg_addr *addr)
{
	if (addr->sa.sa_family == AF_INET6)
		return nla_put_in6_addr(skb, type, &addr->in6.sin6_addr);
	return nla_put_in_addr(skb, type, addr->in.sin_addr.s_addr);
}

/* no family: nothing is written */
static int encode_put_multicast(struct sk_buff *skb, const union gagg_addr *addr)
{
	if (!addr->sa.sa_family)
		return nla_put(skb, GAGG_GA_MULTICAST, 0, NULL);
	return encode_put_addr(skb, GAGG_GA_MULTICAST, addr);
}

static int encode_put_params(struct sk_buff *skb, const struct gagg_params *v)
{
	const struct gagg_param *p;
	u32 value;
	int err;

	for (p = gagg_param_table; p->name; p++) {
		if (gagg_param_is_apart(p))
			continue;
		value = gagg_param_get(p, v);
		err = p->bits == 16 ? nla_put_u16(skb, p->attr, value) :
				      nla_put_u32(skb, p->attr, value);
		if (err)
			return err;
	}
	return 0;
}

/* ids as the user namespace of the network namespace counts them */
static int encode_put_config(struct sk_buff *skb, const struct gagg_config *cfg,
			     struct user_namespace *ns)
{
	return nla_put_string(skb, GAGG_GA_NAME, cfg->name) ||
	       encode_put_addr(skb, GAGG_GA_LOCAL, &cfg->local) ||
	       encode_put_params(skb, &cfg->param) ||
	       nla_put_u32(skb, GAGG_GA_UID, from_kuid_munged(ns, cfg->uid)) ||
	       nla_put_u32(skb, GAGG_GA_GID, from_kgid_munged(ns, cfg->gid)) ||
	       nla_put(skb, GAGG_GA_SYNC, sizeof(cfg->sync), &cfg->sync) ||
	       encode_put_multicast(skb, &cfg->multicast);
}

/* what is known of each rank, read under one lock */
struct view {
	struct gagg_ioc_status st;
	enum gagg_group_state state;
	u64 now;
};

static void encode_view_of(struct gagg_group *grp, struct view *v)
{
	memset(v, 0, sizeof(*v));
	v->state = gagg_group_state(grp);
	v->now = ktime_get_ns();
	if (grp->ep)
		gagg_epoch_status(grp, &v->st);
}

static void encode_reach_of(struct gagg_group *grp, const struct view *v, u32 node,
			    struct gagg_reach *r)
{
	spin_lock_bh(&grp->join_lock);
	gagg_state_reach(grp->join, &grp->geom, node, v->now, r);
	spin_unlock_bh(&grp->join_lock);
}

static enum gagg_member_state encode_member_state(struct gagg_group *grp, const struct view *v,
						  const struct gagg_reach *r, u32 rank)
{
	if (!grp->ep)
		return GAGG_MS_UNHEARD;
	return gagg_state_member(&v->st, rank, r->mismatch.field, r->blocked);
}

/* with both values, if the field is a number */
static int encode_put_mismatch(struct sk_buff *skb, const struct gagg_mismatch *bad)
{
	u32 digest = bad->field - 1;

	if (!bad->field)
		return 0;
	if (nla_put_string(skb, GAGG_MA_MISMATCH, gagg_digest_name(digest)))
		return -EMSGSIZE;
	if (gagg_digest_is_number(digest) &&
	    (nla_put_u32(skb, GAGG_MA_MISMATCH_HERE, bad->here) ||
	     nla_put_u32(skb, GAGG_MA_MISMATCH_THERE, bad->there)))
		return -EMSGSIZE;
	return 0;
}

/* round trip and window of the path to a node, from shard 0 */
static int encode_put_path(struct sk_buff *skb, struct gagg_group *grp, u32 node)
{
	struct gagg_port *port = &grp->ep->port[0];
	u64 srtt;
	u32 cwnd;

	spin_lock_bh(&port->lock);
	srtt = grp->part[0].core->path[node].srtt;
	cwnd = grp->part[0].core->path[node].cwnd;
	spin_unlock_bh(&port->lock);
	if (srtt && nla_put_u32(skb, GAGG_MA_RTT, div_u64(srtt, NSEC_PER_USEC)))
		return -EMSGSIZE;
	return nla_put_u32(skb, GAGG_MA_CWND, cwnd);
}

static int encode_put_reach(struct sk_buff *skb, struct gagg_group *grp,
			    const struct gagg_reach *r, u32 node)
{
	if (!r->other)
		return 0;
	if (encode_put_mismatch(skb, &r->mismatch))
		return -EMSGSIZE;
	if (r->heard && nla_put_u32(skb, GAGG_MA_HEARD, r->heard_ms))
		return -EMSGSIZE;
	if ((r->on.in && nla_put_u32(skb, GAGG_MA_BLOCKED_IN, r->on.in)) ||
	    (r->on.out && nla_put_u32(skb, GAGG_MA_BLOCKED_OUT, r->on.out)))
		return -EMSGSIZE;
	return encode_put_path(skb, grp, node);
}

/* writes nothing before the first op */
static int encode_put_times(struct sk_buff *skb, struct gagg_group *grp, u64 now, u32 rank)
{
	struct gagg_ioc_times told;
	struct gagg_times t;
	struct nlattr *nest;

	spin_lock_bh(&grp->times_lock);
	t = grp->times[rank];
	spin_unlock_bh(&grp->times_lock);
	if (!gagg_times_show(&t, &told, now))
		return 0;
	nest = nla_nest_start(skb, GAGG_MA_TIMES);
	if (!nest ||
	    nla_put_u64_64bit(skb, GAGG_TA_COMPUTE, told.compute_ns, GAGG_TA_PAD) ||
	    nla_put_u64_64bit(skb, GAGG_TA_WAIT, told.wait_ns, GAGG_TA_PAD) ||
	    nla_put_u64_64bit(skb, GAGG_TA_OPS, told.ops, GAGG_TA_PAD))
		return -EMSGSIZE;
	if (told.batch && (nla_put_u32(skb, GAGG_TA_SHARE, told.share) ||
			   nla_put_u32(skb, GAGG_TA_BATCH, told.batch)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int encode_put_member(struct sk_buff *skb, struct gagg_group *grp, const struct view *v,
			     u32 rank, bool times)
{
	const struct gagg_member *m = &grp->cfg.member[rank];
	struct nlattr *nest = nla_nest_start(skb, GAGG_MA_MEMBER);
	struct gagg_reach reach = { };

	if (!nest)
		return -EMSGSIZE;
	if (grp->ep)
		encode_reach_of(grp, v, m->node, &reach);
	if (nla_put_u32(skb, GAGG_MA_RANK, rank) ||
	    encode_put_addr(skb, GAGG_MA_ADDRESS, &m->addr) ||
	    nla_put_u32(skb, GAGG_MA_ROLES, m->roles) ||
	    (m->local && nla_put_flag(skb, GAGG_MA_LOCAL)) ||
	    nla_put_u32(skb, GAGG_MA_STATE, encode_member_state(grp, v, &reach, rank)) ||
	    encode_put_reach(skb, grp, &reach, m->node) ||
	    (times && encode_put_times(skb, grp, v->now, rank)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int encode_put_mtu(struct sk_buff *skb, struct gagg_group *grp, u32 lanes)
{
	bool v6 = grp->cfg.local.sa.sa_family == AF_INET6;
	u32 mtu = grp->ep ? gagg_epoch_mtu(grp) : 0;

	if (mtu && nla_put_u32(skb, GAGG_GA_MTU, mtu))
		return -EMSGSIZE;
	if (nla_put_u32(skb, GAGG_GA_LANES_NOW, lanes))
		return -EMSGSIZE;
	return nla_put_u32(skb, GAGG_GA_MTU_NEEDED, gagg_wire_needs(lanes, v6));
}

int gagg_encode_group(struct sk_buff *skb, struct gagg_group *grp)
{
	struct nlattr *group, *members;
	struct view v;
	u32 r;

	encode_view_of(grp, &v);
	group = nla_nest_start(skb, GAGG_A_GROUP);
	if (!group || encode_put_config(skb, &grp->cfg, grp->gn->net->user_ns) ||
	    nla_put_u32(skb, GAGG_GA_STATE, v.state) ||
	    nla_put_u64_64bit(skb, GAGG_GA_EPOCH, v.st.epoch, GAGG_GA_PAD) ||
	    nla_put_u32(skb, GAGG_GA_REASON, v.st.reason) ||
	    nla_put_u32(skb, GAGG_GA_REASON_RANK, v.st.rank) ||
	    encode_put_mtu(skb, grp, grp->ep ? v.st.lanes : grp->geom.room))
		return -EMSGSIZE;
	if (v.st.mismatch &&
	    nla_put_string(skb, GAGG_GA_MISMATCH, gagg_digest_name(v.st.mismatch - 1)))
		return -EMSGSIZE;
	members = nla_nest_start(skb, GAGG_GA_MEMBERS);
	if (!members)
		return -EMSGSIZE;
	for (r = 0; r < GAGG_RANKS; r++)
		if (grp->cfg.member[r].present && encode_put_member(skb, grp, &v, r, false))
			return -EMSGSIZE;
	nla_nest_end(skb, members);
	nla_nest_end(skb, group);
	return 0;
}

int gagg_encode_member(struct sk_buff *skb, struct gagg_group *grp, u32 rank)
{
	struct nlattr *group, *members;
	struct view v;

	encode_view_of(grp, &v);
	group = nla_nest_start(skb, GAGG_A_GROUP);
	if (!group || nla_put_string(skb, GAGG_GA_NAME, grp->cfg.name))
		return -EMSGSIZE;
	members = nla_nest_start(skb, GAGG_GA_MEMBERS);
	if (!members || encode_put_member(skb, grp, &v, rank, true))
		return -EMSGSIZE;
	nla_nest_end(skb, members);
	nla_nest_end(skb, group);
	return 0;
}

int gagg_encode_stats(struct sk_buff *skb, struct gagg_group *grp)
{
	u64 value[GAGG_SA_MAX + 1] = { };
	struct nlattr *nest;
	u32 i;

	for (i = 0; grp->ep && i < grp->cfg.shards; i++) {
		spin_lock_bh(&grp->ep->port[i].lock);
		gagg_stats_add(&grp->part[i].stats, grp->part[i].core, value);
		spin_unlock_bh(&grp->ep->port[i].lock);
	}
	value[GAGG_SA_EPOCHS] = READ_ONCE(grp->epochs);
	nest = nla_nest_start(skb, GAGG_A_STATS);
	if (!nest)
		return -EMSGSIZE;
	for (i = GAGG_SA_UNSPEC + 1; i < GAGG_SA_PAD; i++)
		if (nla_put_u64_64bit(skb, i, value[i], GAGG_SA_PAD))
			return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}
