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

/* what is known of the group, read at once */
struct view {
	struct gagg_ioc_status st;	/* zero before the group is complete */
	u64 now;
};

static void encode_view_of(struct gagg_group *grp, struct view *v)
{
	memset(v, 0, sizeof(*v));
	v->now = ktime_get_ns();
	if (grp->ep)
		gagg_epoch_status(grp, &v->st);
}

static void encode_facts_of(struct gagg_group *grp, const struct view *v, u32 rank,
			    struct gagg_facts *f)
{
	struct gagg_endpoint *ep = grp->ep;
	u32 node = grp->cfg.member[rank].node;

	memset(f, 0, sizeof(*f));
	if (ep) {
		spin_lock_bh(&grp->join_lock);
		gagg_facts_host(f, grp->join, &grp->geom, node, v->now);
		spin_unlock_bh(&grp->join_lock);
		/* that of shard 0, of all */
		spin_lock_bh(&ep->port[0].lock);
		gagg_facts_path(f, &grp->part[0].core->path[node]);
		spin_unlock_bh(&ep->port[0].lock);
	}
	spin_lock_bh(&grp->times_lock);
	gagg_facts_times(f, &grp->times[rank], v->now);
	spin_unlock_bh(&grp->times_lock);
	gagg_facts_state(f, &v->st, rank);
}

static int encode_put_times(struct sk_buff *skb, const struct gagg_ioc_times *t)
{
	struct nlattr *nest = nla_nest_start(skb, GAGG_MA_TIMES);

	if (!nest ||
	    nla_put_u64_64bit(skb, GAGG_TA_COMPUTE, t->compute_ns, GAGG_TA_PAD) ||
	    nla_put_u64_64bit(skb, GAGG_TA_WAIT, t->wait_ns, GAGG_TA_PAD) ||
	    nla_put_u64_64bit(skb, GAGG_TA_OPS, t->ops, GAGG_TA_PAD))
		return -EMSGSIZE;
	if (t->batch && (nla_put_u32(skb, GAGG_TA_SHARE, t->share) ||
			 nla_put_u32(skb, GAGG_TA_BATCH, t->batch)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int encode_put_facts(struct sk_buff *skb, const struct gagg_facts *f)
{
	u32 attr;

	for (attr = 0; attr <= GAGG_MA_MAX; attr++)
		if (f->set & GAGG_BIT(attr) && nla_put_u32(skb, attr, f->number[attr]))
			return -EMSGSIZE;
	return f->mismatch ? nla_put_string(skb, GAGG_MA_MISMATCH, f->mismatch) : 0;
}

static int encode_put_member(struct sk_buff *skb, struct gagg_group *grp, const struct view *v,
			     u32 rank, bool times)
{
	const struct gagg_member *m = &grp->cfg.member[rank];
	struct nlattr *nest = nla_nest_start(skb, GAGG_MA_MEMBER);
	struct gagg_facts f;

	if (!nest)
		return -EMSGSIZE;
	encode_facts_of(grp, v, rank, &f);
	if (nla_put_u32(skb, GAGG_MA_RANK, rank) ||
	    encode_put_addr(skb, GAGG_MA_ADDRESS, &m->addr) ||
	    nla_put_u32(skb, GAGG_MA_ROLES, m->roles) ||
	    (m->local && nla_put_flag(skb, GAGG_MA_LOCAL)) ||
	    encode_put_facts(skb, &f) ||
	    (times && f.timed && encode_put_times(skb, &f.times)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int encode_put_group_facts(struct sk_buff *skb, struct gagg_group *grp, const struct view *v)
{
	u32 attr, mtu = grp->ep ? gagg_epoch_mtu(grp) : 0;
	struct gagg_group_facts f;

	gagg_facts_group(&f, &grp->geom, grp->ep ? &v->st : NULL, mtu);
	for (attr = 0; attr <= GAGG_GA_MAX; attr++)
		if (f.set & GAGG_BIT(attr) && nla_put_u32(skb, attr, f.number[attr]))
			return -EMSGSIZE;
	if (nla_put_u64_64bit(skb, GAGG_GA_EPOCH, f.epoch, GAGG_GA_PAD))
		return -EMSGSIZE;
	return f.mismatch ? nla_put_string(skb, GAGG_GA_MISMATCH, f.mismatch) : 0;
}

int gagg_encode_group(struct sk_buff *skb, struct gagg_group *grp)
{
	struct nlattr *group, *members;
	struct view v;
	u32 r;

	encode_view_of(grp, &v);
	group = nla_nest_start(skb, GAGG_A_GROUP);
	if (!group || encode_put_config(skb, &grp->cfg, grp->gn->net->user_ns) ||
	    encode_put_group_facts(skb, grp, &v))
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
