// SPDX-License-Identifier: GPL-2.0
/*
 * Events to subscribers. They are sent from process context: by netlink commands (under
 * gagg_net.lock) and by the works of a group, which gagg_groups_bury() waits for before group and
 * namespace go. At the end of the namespace no subscriber is left; at that of the module the family
 * is gone as well.
 */
#include "encode.h"
#include "group.h"
#include "netlink.h"
#include "netns.h"
#include "notify.h"

static void notify(struct gagg_group *grp, u8 cmd, u32 rank, enum gagg_event event)
{
	struct net *net = grp->gn->net;
	struct sk_buff *skb;
	void *hdr;

	if (READ_ONCE(grp->gn->dying) || !genl_has_listeners(&gagg_family, net, 0))
		return;
	skb = genlmsg_new(GAGG_MSG_MAX, GFP_KERNEL);
	if (!skb)
		return;
	hdr = genlmsg_put(skb, 0, 0, &gagg_family, 0, cmd);
	if (!hdr || nla_put_u32(skb, GAGG_A_EVENT, event) ||
	    (cmd == GAGG_CMD_GROUP_NTF ? gagg_encode_group(skb, grp) :
	     gagg_encode_member(skb, grp, rank))) {
		nlmsg_free(skb);
		return;
	}
	genlmsg_end(skb, hdr);
	genlmsg_multicast_netns(&gagg_family, net, skb, 0, 0, GFP_KERNEL);
}

void gagg_notify_group(struct gagg_group *grp, enum gagg_event event)
{
	notify(grp, GAGG_CMD_GROUP_NTF, 0, event);
}

void gagg_notify_member(struct gagg_group *grp, u32 rank, enum gagg_event event)
{
	notify(grp, GAGG_CMD_MEMBER_NTF, rank, event);
}
