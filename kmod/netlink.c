// SPDX-License-Identifier: GPL-2.0
/*
 * Generic netlink: requests. A request is parsed into a configuration, which is checked as a whole.
 * Then it takes effect, or nothing changes. gagg_net.lock is held over look-up, check and effect.
 *
 * Longer than 600 lines: each command has its parser, policy and handler beside one another.
 */
#include <linux/nospec.h>
#include <linux/slab.h>
#include "compat/genl.h"
#include "config.h"
#include "encode.h"
#include "endpoint.h"
#include "group.h"
#include "multicast.h"
#include "netlink.h"
#include "netns.h"
#include "notify.h"

static const struct nla_policy member_policy[GAGG_MA_MAX + 1] = {
	[GAGG_MA_RANK] = NLA_POLICY_MAX(NLA_U32, GAGG_RANKS - 1),
	[GAGG_MA_ADDRESS] = NLA_POLICY_RANGE(NLA_BINARY, 4, 16),
	[GAGG_MA_ROLES] = NLA_POLICY_RANGE(NLA_U32, 1, 3),
	[GAGG_MA_LOCAL] = { .type = NLA_FLAG },
};

static const struct nla_policy members_policy[GAGG_MA_MAX + 1] = {
	[GAGG_MA_MEMBER] = NLA_POLICY_NESTED(member_policy),
};

/* numbers: gagg_netlink_init() */
static struct nla_policy group_policy[GAGG_GA_MAX + 1] __ro_after_init = {
	[GAGG_GA_NAME] = { .type = NLA_NUL_STRING, .len = GAGG_NAME_MAX - 1 },
	[GAGG_GA_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[GAGG_GA_LOCAL] = NLA_POLICY_RANGE(NLA_BINARY, 4, 16),
	[GAGG_GA_PORT] = NLA_POLICY_MIN(NLA_U16, 1),
	[GAGG_GA_SYNC] = NLA_POLICY_EXACT_LEN(sizeof(struct gagg_sync_param)),
	[GAGG_GA_KEY] = { .type = NLA_BINARY },
	[GAGG_GA_MEMBERS] = NLA_POLICY_NESTED(members_policy),
	[GAGG_GA_MULTICAST] = { .type = NLA_BINARY, .len = 16 },
};

static const struct nla_policy top_policy[GAGG_A_MAX + 1] = {
	[GAGG_A_GROUP] = NLA_POLICY_NESTED(group_policy),
};

/* a request: the group's attributes, name checked */
static int nl_parse_top(struct genl_info *info, struct nlattr **tb)
{
	struct nlattr *attr = info->attrs[GAGG_A_GROUP];
	int err;

	if (!attr) {
		NL_SET_ERR_MSG(info->extack, "the attribute GROUP is missing");
		return -EINVAL;
	}
	err = nla_parse_nested(tb, GAGG_GA_MAX, attr, group_policy, info->extack);
	if (err)
		return err;
	if (!tb[GAGG_GA_NAME]) {
		NL_SET_ERR_MSG(info->extack, "the name of the group is missing");
		return -EINVAL;
	}
	if (!gagg_name_fits(nla_data(tb[GAGG_GA_NAME]), GAGG_NAME_MAX)) {
		NL_SET_ERR_MSG_ATTR(info->extack, tb[GAGG_GA_NAME],
				    "a name has 1 to 31 letters, digits, dots, underscores or dashes");
		return -EINVAL;
	}
	return 0;
}

static int nl_parse_addr_bytes(const struct nlattr *attr, union gagg_addr *addr,
			       struct netlink_ext_ack *extack)
{
	memset(addr, 0, sizeof(*addr));
	if (nla_len(attr) == GAGG_ADDR_V4) {
		addr->in.sin_family = AF_INET;
		addr->in.sin_addr.s_addr = nla_get_in_addr(attr);
	} else if (nla_len(attr) == GAGG_ADDR_V6) {
		addr->in6.sin6_family = AF_INET6;
		addr->in6.sin6_addr = nla_get_in6_addr(attr);
	} else {
		NL_SET_ERR_MSG_ATTR(extack, attr, "an address has 4 or 16 bytes");
		return -EINVAL;
	}
	return 0;
}

static int nl_parse_addr(const struct nlattr *attr, union gagg_addr *addr,
			 struct netlink_ext_ack *extack)
{
	int err = nl_parse_addr_bytes(attr, addr, extack);

	if (err)
		return err;
	if (!gagg_addr_is_host(nla_data(attr), nla_len(attr))) {
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "the address must be a unicast address that is not link-local");
		return -EADDRNOTAVAIL;
	}
	return 0;
}

/* an empty attribute: no multicast */
static int nl_parse_multicast(const struct nlattr *attr, union gagg_addr *addr,
			      struct netlink_ext_ack *extack)
{
	int err;

	memset(addr, 0, sizeof(*addr));
	if (!nla_len(attr))
		return 0;
	err = nl_parse_addr_bytes(attr, addr, extack);
	if (err)
		return err;
	if (!gagg_addr_is_multicast(nla_data(attr), nla_len(attr))) {
		NL_SET_ERR_MSG_ATTR(extack, attr,
				    "the address must be a multicast address that leaves the host: of IPv4 from 224.0.0.0 to 239.255.255.255, of IPv6 with a scope above 1, as ff02::");
		return -EADDRNOTAVAIL;
	}
	return 0;
}

static int nl_parse_roles(const struct nlattr *attr, struct gagg_member *m)
{
	m->roles = nla_get_u32(attr);
	return 0;
}

/* attributes of one member into @m */
static int nl_parse_member(struct nlattr **tb, struct gagg_member *m,
			   struct netlink_ext_ack *extack)
{
	int err = 0;

	if (tb[GAGG_MA_ADDRESS])
		err = nl_parse_addr(tb[GAGG_MA_ADDRESS], &m->addr, extack);
	if (!err && tb[GAGG_MA_ROLES])
		err = nl_parse_roles(tb[GAGG_MA_ROLES], m);
	return err;
}

static int nl_add_member(struct gagg_config *cfg, struct nlattr **tb,
			 struct netlink_ext_ack *extack)
{
	u32 rank = nla_get_u32(tb[GAGG_MA_RANK]);
	struct gagg_member *m = &cfg->member[rank];

	if (m->present) {
		NL_SET_ERR_MSG_ATTR(extack, tb[GAGG_MA_RANK], "a member has this rank already");
		return -EEXIST;
	}
	if (!tb[GAGG_MA_ADDRESS]) {
		NL_SET_ERR_MSG_ATTR(extack, tb[GAGG_MA_RANK], "the member's address is missing");
		return -EINVAL;
	}
	m->present = 1;
	m->roles = GAGG_ROLE_WORKER | GAGG_ROLE_AGGREGATOR;
	m->local = !!tb[GAGG_MA_LOCAL];
	return nl_parse_member(tb, m, extack);
}

static int nl_del_member(struct gagg_config *cfg, struct nlattr **tb,
			 struct netlink_ext_ack *extack)
{
	struct gagg_member *m = &cfg->member[nla_get_u32(tb[GAGG_MA_RANK])];

	if (!m->present) {
		NL_SET_ERR_MSG_ATTR(extack, tb[GAGG_MA_RANK], "no member has this rank");
		return -ENOENT;
	}
	memset(m, 0, sizeof(*m));
	return 0;
}

static int nl_set_member(struct gagg_config *cfg, struct nlattr **tb,
			 struct netlink_ext_ack *extack)
{
	struct gagg_member *m = &cfg->member[nla_get_u32(tb[GAGG_MA_RANK])];

	if (!m->present) {
		NL_SET_ERR_MSG_ATTR(extack, tb[GAGG_MA_RANK], "no member has this rank");
		return -ENOENT;
	}
	/* with another address the member is local only if the request repeats that */
	if (tb[GAGG_MA_ADDRESS] || tb[GAGG_MA_LOCAL])
		m->local = !!tb[GAGG_MA_LOCAL];
	return nl_parse_member(tb, m, extack);
}

typedef int (*member_fn)(struct gagg_config *cfg, struct nlattr **tb,
			 struct netlink_ext_ack *extack);

static int nl_each_member(const struct nlattr *members, struct gagg_config *cfg, member_fn fn,
			  struct netlink_ext_ack *extack)
{
	struct nlattr *tb[GAGG_MA_MAX + 1], *attr;
	int rem, err;

	nla_for_each_nested(attr, members, rem) {
		if (nla_type(attr) != GAGG_MA_MEMBER) {
			NL_SET_ERR_MSG_ATTR(extack, attr, "only members belong here");
			return -EINVAL;
		}
		err = nla_parse_nested(tb, GAGG_MA_MAX, attr, member_policy, extack);
		if (err)
			return err;
		if (!tb[GAGG_MA_RANK]) {
			NL_SET_ERR_MSG_ATTR(extack, attr, "the member's rank is missing");
			return -EINVAL;
		}
		err = fn(cfg, tb, extack);
		if (err)
			return err;
	}
	return 0;
}

static int nl_parse_owner(struct genl_info *info, struct nlattr **tb, struct gagg_config *cfg)
{
	struct user_namespace *ns = genl_info_net(info)->user_ns;

	if (tb[GAGG_GA_UID]) {
		cfg->uid = make_kuid(ns, nla_get_u32(tb[GAGG_GA_UID]));
		if (!uid_valid(cfg->uid)) {
			NL_SET_ERR_MSG_ATTR(info->extack, tb[GAGG_GA_UID],
					    "the user id means nothing in this namespace");
			return -EINVAL;
		}
	}
	if (tb[GAGG_GA_GID]) {
		cfg->gid = make_kgid(ns, nla_get_u32(tb[GAGG_GA_GID]));
		if (!gid_valid(cfg->gid)) {
			NL_SET_ERR_MSG_ATTR(info->extack, tb[GAGG_GA_GID],
					    "the group id means nothing in this namespace");
			return -EINVAL;
		}
	}
	return 0;
}

/* refuses a value that this version does not know: an older module knows fewer of them */
static int nl_parse_param(const struct gagg_param *p, const struct nlattr *attr,
			  struct gagg_params *v, struct netlink_ext_ack *extack)
{
	u32 value = p->bits == 16 ? nla_get_u16(attr) : nla_get_u32(attr);

	if (p->words && !gagg_param_fits(p, value)) {
		/* a literal of the core: as NL_SET_ERR_MSG_ATTR() requires */
		extack->_msg = p->wrong;
		NL_SET_BAD_ATTR(extack, attr);
		return -EOPNOTSUPP;
	}
	gagg_param_set(p, v, value);
	return 0;
}

static int nl_parse_params(struct nlattr **tb, struct gagg_params *v,
			   struct netlink_ext_ack *extack)
{
	const struct gagg_param *p;
	int err = 0;

	for (p = gagg_param_table; p->name && !err; p++)
		if (tb[p->attr] && !gagg_param_is_apart(p))
			err = nl_parse_param(p, tb[p->attr], v, extack);
	return err;
}

/*
 * The mode becomes an index of the core's: no table is read beyond the numbers that there can be,
 * not even ahead of a check (Spectre v1).
 */
static void nl_parse_sync(const struct nlattr *a, struct gagg_sync_param *sync)
{
	nla_memcpy(sync, a, sizeof(*sync));
	sync->mode = sync->mode > GAGG_SYNC_ROUNDS_MAX ? GAGG_SYNC_ROUNDS_MAX + 1 :
		     array_index_nospec(sync->mode, GAGG_SYNC_ROUNDS_MAX + 1);
}

static int nl_parse_policy(struct nlattr **tb, struct gagg_config *cfg,
			   struct netlink_ext_ack *extack)
{
	if (tb[GAGG_GA_KEY]) {
		NL_SET_ERR_MSG_ATTR(extack, tb[GAGG_GA_KEY],
				    "this version has no keys: leave the key out");
		return -EOPNOTSUPP;
	}
	if (tb[GAGG_GA_SYNC]) {
		const char *wrong;

		nl_parse_sync(tb[GAGG_GA_SYNC], &cfg->sync);
		wrong = gagg_sync_check(&cfg->sync);
		if (wrong) {
			/* a constant of the core: as NL_SET_ERR_MSG_ATTR() requires */
			extack->_msg = wrong;
			NL_SET_BAD_ATTR(extack, tb[GAGG_GA_SYNC]);
			return -EOPNOTSUPP;
		}
	}
	return 0;
}

/* everything but name and members */
static int nl_parse_config(struct genl_info *info, struct nlattr **tb, struct gagg_config *cfg)
{
	int err;

	err = nl_parse_params(tb, &cfg->param, info->extack);
	if (err)
		return err;
	if (tb[GAGG_GA_LOCAL]) {
		err = nl_parse_addr(tb[GAGG_GA_LOCAL], &cfg->local, info->extack);
		if (err)
			return err;
	}
	if (tb[GAGG_GA_MULTICAST]) {
		err = nl_parse_multicast(tb[GAGG_GA_MULTICAST], &cfg->multicast, info->extack);
		if (err)
			return err;
	}
	err = nl_parse_owner(info, tb, cfg);
	if (err)
		return err;
	return nl_parse_policy(tb, cfg, info->extack);
}

static int nl_no_group(struct genl_info *info, struct nlattr **tb)
{
	NL_SET_ERR_MSG_ATTR(info->extack, tb[GAGG_GA_NAME], "no group has this name here");
	return -ENOENT;
}

static int nl_check_sync(const struct gagg_config *cfg, struct netlink_ext_ack *extack)
{
	struct gagg_roster roster;
	const char *wrong;
	u32 workers;

	gagg_config_roster(cfg, &roster);
	wrong = gagg_fit_workers(&cfg->sync, &roster, &workers);
	if (!wrong)
		return 0;
	/* a constant of the core: as NL_SET_ERR_MSG() requires */
	extack->_msg = wrong;
	return -EINVAL;
}

static int nl_group_new(struct sk_buff *skb, struct genl_info *info)
{
	struct gagg_net *gn = gagg_net_of(genl_info_net(info));
	struct nlattr *tb[GAGG_GA_MAX + 1];
	struct gagg_config *cfg;
	int err;

	err = nl_parse_top(info, tb);
	if (err)
		return err;
	cfg = kmalloc(sizeof(*cfg), GFP_KERNEL_ACCOUNT);
	if (!cfg)
		return -ENOMEM;
	gagg_config_default(cfg, nla_data(tb[GAGG_GA_NAME]), genl_info_net(info)->user_ns);
	err = nl_parse_config(info, tb, cfg);
	if (!err && tb[GAGG_GA_MEMBERS])
		err = nl_each_member(tb[GAGG_GA_MEMBERS], cfg, nl_add_member, info->extack);
	if (!err)
		err = gagg_config_check(cfg, info->extack);
	if (!err)
		err = nl_check_sync(cfg, info->extack);
	if (err)
		goto out;
	mutex_lock(&gn->lock);
	if (gagg_group_find(gn, cfg->name)) {
		NL_SET_ERR_MSG_ATTR(info->extack, tb[GAGG_GA_NAME],
				    "a group has this name already: use set, or delete it first");
		err = -EEXIST;
	} else {
		err = gagg_group_create(gn, cfg, info->extack);
	}
	if (!err)
		gagg_notify_group(gagg_group_find(gn, cfg->name), GAGG_EV_NEW);
	mutex_unlock(&gn->lock);
out:
	kfree(cfg);
	return err;
}

static int nl_group_del(struct sk_buff *skb, struct genl_info *info)
{
	struct gagg_net *gn = gagg_net_of(genl_info_net(info));
	struct nlattr *tb[GAGG_GA_MAX + 1];
	struct gagg_group *grp;
	int err;

	err = nl_parse_top(info, tb);
	if (err)
		return err;
	mutex_lock(&gn->lock);
	grp = gagg_group_find(gn, nla_data(tb[GAGG_GA_NAME]));
	if (grp) {
		gagg_notify_group(grp, GAGG_EV_DEL);
		gagg_group_kill(grp);
	} else {
		err = nl_no_group(info, tb);
	}
	mutex_unlock(&gn->lock);
	return err;
}

/* changes a copy of the configuration, checks it, and puts it into effect */
static int nl_change(struct genl_info *info, member_fn fn)
{
	struct gagg_net *gn = gagg_net_of(genl_info_net(info));
	struct nlattr *tb[GAGG_GA_MAX + 1];
	struct gagg_group *grp;
	struct gagg_config *cfg;
	int err;

	err = nl_parse_top(info, tb);
	if (err)
		return err;
	if (fn && !tb[GAGG_GA_MEMBERS]) {
		NL_SET_ERR_MSG(info->extack, "the member is missing");
		return -EINVAL;
	}
	if (!fn && tb[GAGG_GA_MEMBERS]) {
		NL_SET_ERR_MSG_ATTR(info->extack, tb[GAGG_GA_MEMBERS],
				    "members are changed with the member commands");
		return -EINVAL;
	}
	cfg = kmalloc(sizeof(*cfg), GFP_KERNEL_ACCOUNT);
	if (!cfg)
		return -ENOMEM;
	mutex_lock(&gn->lock);
	grp = gagg_group_find(gn, nla_data(tb[GAGG_GA_NAME]));
	if (!grp) {
		err = nl_no_group(info, tb);
		goto out;
	}
	*cfg = grp->cfg;
	err = fn ? nl_each_member(tb[GAGG_GA_MEMBERS], cfg, fn, info->extack) :
		   nl_parse_config(info, tb, cfg);
	if (!err)
		err = gagg_config_check(cfg, info->extack);
	if (!err && !fn)
		err = nl_check_sync(cfg, info->extack);
	if (!err)
		err = gagg_group_change(grp, cfg, info->extack);
	if (!err)
		gagg_notify_group(gagg_group_find(gn, cfg->name), GAGG_EV_SET);
out:
	mutex_unlock(&gn->lock);
	kfree(cfg);
	return err;
}

static int nl_group_set(struct sk_buff *skb, struct genl_info *info)
{
	return nl_change(info, NULL);
}

static int nl_member_add(struct sk_buff *skb, struct genl_info *info)
{
	return nl_change(info, nl_add_member);
}

static int nl_member_del(struct sk_buff *skb, struct genl_info *info)
{
	return nl_change(info, nl_del_member);
}

static int nl_member_set(struct sk_buff *skb, struct genl_info *info)
{
	return nl_change(info, nl_set_member);
}

/* answers with what @encode writes about the named group */
static int nl_answer(struct genl_info *info, u8 cmd,
		     int (*encode)(struct sk_buff *skb, struct gagg_group *grp))
{
	struct gagg_net *gn = gagg_net_of(genl_info_net(info));
	struct nlattr *tb[GAGG_GA_MAX + 1];
	struct gagg_group *grp;
	struct sk_buff *skb;
	void *hdr;
	int err;

	err = nl_parse_top(info, tb);
	if (err)
		return err;
	skb = genlmsg_new(GAGG_MSG_MAX, GFP_KERNEL);
	if (!skb)
		return -ENOMEM;
	hdr = genlmsg_put_reply(skb, info, &gagg_family, 0, cmd);
	if (!hdr) {
		err = -EMSGSIZE;
		goto out;
	}
	mutex_lock(&gn->lock);
	grp = gagg_group_find(gn, nla_data(tb[GAGG_GA_NAME]));
	err = grp ? encode(skb, grp) : nl_no_group(info, tb);
	mutex_unlock(&gn->lock);
	if (err)
		goto out;
	genlmsg_end(skb, hdr);
	return genlmsg_reply(skb, info);
out:
	nlmsg_free(skb);
	return err;
}

static int nl_group_get(struct sk_buff *skb, struct genl_info *info)
{
	return nl_answer(info, GAGG_CMD_GROUP_GET, gagg_encode_group);
}

static int nl_stats_get(struct sk_buff *skb, struct genl_info *info)
{
	return nl_answer(info, GAGG_CMD_STATS_GET, gagg_encode_stats);
}

static void *nl_put_dump(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd)
{
	return genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq, &gagg_family,
			   NLM_F_MULTI, cmd);
}

/* a group of 64 members must fit into one message */
static int nl_dump_start(struct netlink_callback *cb)
{
	cb->min_dump_alloc = GAGG_MSG_MAX;
	return 0;
}

/* args[0]: number of the last group written; the list is in the order of these numbers */
static int nl_group_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct gagg_net *gn = gagg_net_of(sock_net(skb->sk));
	struct gagg_group *grp;
	int err = 0;
	void *hdr;

	mutex_lock(&gn->lock);
	list_for_each_entry(grp, &gn->groups, list) {
		if (grp->number <= cb->args[0])
			continue;
		err = -EMSGSIZE;
		hdr = nl_put_dump(skb, cb, GAGG_CMD_GROUP_GET);
		if (!hdr)
			break;
		if (gagg_encode_group(skb, grp)) {
			genlmsg_cancel(skb, hdr);
			break;
		}
		genlmsg_end(skb, hdr);
		cb->args[0] = grp->number;
		err = 0;
	}
	mutex_unlock(&gn->lock);
	return skb->len ?: err;
}

/* args[0]: next rank */
static int nl_member_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct gagg_net *gn = gagg_net_of(sock_net(skb->sk));
	struct nlattr *attr = gagg_compat_dump_attrs(cb)[GAGG_A_GROUP];
	struct nlattr *tb[GAGG_GA_MAX + 1];
	struct gagg_group *grp;
	void *hdr;
	int err;

	if (!attr) {
		NL_SET_ERR_MSG(cb->extack, "the attribute GROUP is missing");
		return -EINVAL;
	}
	err = nla_parse_nested(tb, GAGG_GA_MAX, attr, group_policy, cb->extack);
	if (err)
		return err;
	if (!tb[GAGG_GA_NAME]) {
		NL_SET_ERR_MSG(cb->extack, "the name of the group is missing");
		return -EINVAL;
	}
	mutex_lock(&gn->lock);
	grp = gagg_group_find(gn, nla_data(tb[GAGG_GA_NAME]));
	if (!grp) {
		mutex_unlock(&gn->lock);
		NL_SET_ERR_MSG(cb->extack, "no group has this name here");
		return -ENOENT;
	}
	for (; cb->args[0] < GAGG_RANKS; cb->args[0]++) {
		if (!grp->cfg.member[cb->args[0]].present)
			continue;
		hdr = nl_put_dump(skb, cb, GAGG_CMD_MEMBER_GET);
		if (!hdr)
			break;
		if (gagg_encode_member(skb, grp, cb->args[0])) {
			genlmsg_cancel(skb, hdr);
			break;
		}
		genlmsg_end(skb, hdr);
	}
	mutex_unlock(&gn->lock);
	return skb->len;
}

static const struct genl_ops gagg_genl_ops[] = {
	{ .cmd = GAGG_CMD_GROUP_NEW, .doit = nl_group_new, .flags = GENL_UNS_ADMIN_PERM },
	{ .cmd = GAGG_CMD_GROUP_DEL, .doit = nl_group_del, .flags = GENL_UNS_ADMIN_PERM },
	{ .cmd = GAGG_CMD_GROUP_SET, .doit = nl_group_set, .flags = GENL_UNS_ADMIN_PERM },
	{ .cmd = GAGG_CMD_GROUP_GET, .doit = nl_group_get, .start = nl_dump_start,
	  .dumpit = nl_group_dump },
	{ .cmd = GAGG_CMD_MEMBER_ADD, .doit = nl_member_add, .flags = GENL_UNS_ADMIN_PERM },
	{ .cmd = GAGG_CMD_MEMBER_DEL, .doit = nl_member_del, .flags = GENL_UNS_ADMIN_PERM },
	{ .cmd = GAGG_CMD_MEMBER_SET, .doit = nl_member_set, .flags = GENL_UNS_ADMIN_PERM },
	{ .cmd = GAGG_CMD_MEMBER_GET, .dumpit = nl_member_dump },
	{ .cmd = GAGG_CMD_STATS_GET, .doit = nl_stats_get },
};

static const struct genl_multicast_group gagg_mcgrps[] = {
	{ .name = GAGG_MCGRP_NAME, .flags = GENL_MCAST_CAP_NET_ADMIN },
};

struct genl_family gagg_family __ro_after_init = {
	.name = GAGG_GENL_NAME,
	.version = GAGG_GENL_VERSION,
	.maxattr = GAGG_A_MAX,
	.policy = top_policy,
	.netnsok = true,
	/* commands run under gagg_net.lock, at times for several RCU grace periods */
	.parallel_ops = true,
	.module = THIS_MODULE,
	.ops = gagg_genl_ops,
	.n_ops = ARRAY_SIZE(gagg_genl_ops),
	.resv_start_op = GAGG_CMD_GROUP_NEW,
	.mcgrps = gagg_mcgrps,
	.n_mcgrps = ARRAY_SIZE(gagg_mcgrps),
};

int __init gagg_netlink_init(void)
{
	const struct gagg_param *p;

	for (p = gagg_param_table; p->name; p++)
		if (p->bits)
			group_policy[p->attr].type = p->bits == 16 ? NLA_U16 : NLA_U32;
	return genl_register_family(&gagg_family);
}

void gagg_netlink_exit(void)
{
	genl_unregister_family(&gagg_family);
}
