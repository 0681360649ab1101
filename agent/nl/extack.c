// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel's answer in words. It names an attribute by its offset in the
 * request, or, when it is missing, by its number and the offset of the nest
 * it is missing from; so the request is kept and walked again.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "codec.h"

/* Where in the grammar an attribute of the request stands. */
enum level { IN_TOP, IN_GROUP, IN_MEMBERS, IN_MEMBER };

struct place {
	const struct nlattr *attr;
	enum level level;
	bool has_rank;		/* of the member that holds it */
	uint32_t rank;
};

static bool extack_inside(const struct nlattr *a, enum level level)
{
	switch (level) {
	case IN_TOP:
		return nla_type(a) == GAGG_A_GROUP;
	case IN_GROUP:
		return nla_type(a) == GAGG_GA_MEMBERS;
	case IN_MEMBERS:
		return nla_type(a) == GAGG_MA_MEMBER;
	case IN_MEMBER:
		break;
	}
	return false;
}

/* The attribute at @target; the grammar is four levels deep, no more. */
static bool extack_find(struct nlattr *head, int len, enum level level,
			const char *target, struct place *p)
{
	struct nlattr *a;
	int rem;

	nla_for_each_attr(a, head, len, rem) {
		if ((const char *)a == target) {
			p->attr = a;
			p->level = level;
			return true;
		}
		if (!extack_inside(a, level))
			continue;
		if (level == IN_MEMBERS) {
			struct nlattr *r = nla_find(nla_data(a), nla_len(a),
						    GAGG_MA_RANK);

			p->has_rank = r && nla_len(r) == 4;
			p->rank = p->has_rank ? nla_get_u32(r) : 0;
		}
		if (extack_find(nla_data(a), nla_len(a), level + 1, target, p))
			return true;
	}
	return false;
}

static bool extack_place_of(const struct nlmsghdr *sent, uint32_t offset,
			    struct place *p)
{
	struct nlmsghdr *hdr = (struct nlmsghdr *)sent;

	memset(p, 0, sizeof(*p));
	if (!sent || !nlmsg_valid_hdr(hdr, GENL_HDRLEN))
		return false;
	return extack_find(nlmsg_attrdata(hdr, GENL_HDRLEN),
			   nlmsg_attrlen(hdr, GENL_HDRLEN), IN_TOP,
			   (const char *)sent + offset, p);
}

/* What the user calls attribute @type at @level: "ring", "member 3 address". */
static void extack_call(char *buf, size_t size, enum level level, unsigned int type,
			const struct place *p)
{
	const char *name = "";

	if (level == IN_TOP)
		name = type == GAGG_A_GROUP ? "group" : "?";
	else if (level == IN_GROUP)
		name = nl_group_attr_name(type);
	else if (level == IN_MEMBER)
		name = nl_member_attr_name(type);

	if (level >= IN_MEMBERS && p->has_rank)
		snprintf(buf, size, "member %u%s%s", p->rank, *name ? " " : "",
			 name);
	else
		snprintf(buf, size, "%s%s%s",
			 level >= IN_MEMBERS ? "member" : "",
			 level == IN_MEMBER ? " " : "", name);
}

/* A member's own nest: its rank is only known once one looks inside. */
static void extack_look_inside(struct place *p)
{
	struct nlattr *r;

	if (p->level != IN_MEMBERS)
		return;
	r = nla_find(nla_data(p->attr), nla_len(p->attr), GAGG_MA_RANK);
	p->has_rank = r && nla_len(r) == 4;
	p->rank = p->has_rank ? nla_get_u32(r) : 0;
}

/* " (1 to 1024)" when the kernel says what it would have taken. */
static void extack_allowed(const struct nlattr *policy, char *buf, size_t size)
{
	struct nlattr *tb[NL_POLICY_TYPE_ATTR_MAX + 1];
	struct nlattr *min, *max;

	buf[0] = 0;
	if (!policy || nla_parse(tb, NL_POLICY_TYPE_ATTR_MAX, nla_data(policy),
				 nla_len(policy), NULL) < 0)
		return;
	min = tb[NL_POLICY_TYPE_ATTR_MIN_VALUE_U];
	max = tb[NL_POLICY_TYPE_ATTR_MAX_VALUE_U];
	if (min && nla_len(min) == 8 && max && nla_len(max) == 8)
		snprintf(buf, size, " (%llu to %llu)",
			 (unsigned long long)nla_get_u64(min),
			 (unsigned long long)nla_get_u64(max));
}

static void extack_blame(struct nlattr *tlv[], const struct nlmsghdr *sent,
			 char *buf, size_t size)
{
	struct place p = { .level = IN_TOP };
	struct nlattr *a;

	buf[0] = 0;
	a = tlv[NLMSGERR_ATTR_MISS_TYPE];
	if (a && nla_len(a) == 4) {
		struct nlattr *nest = tlv[NLMSGERR_ATTR_MISS_NEST];
		enum level level = IN_TOP;

		if (nest && nla_len(nest) == 4) {
			if (!extack_place_of(sent, nla_get_u32(nest), &p) ||
			    !extack_inside(p.attr, p.level))
				return;
			extack_look_inside(&p);
			level = p.level + 1;
		}
		extack_call(buf, size, level, nla_get_u32(a), &p);
		return;
	}
	a = tlv[NLMSGERR_ATTR_OFFS];
	if (!a || nla_len(a) != 4 || !extack_place_of(sent, nla_get_u32(a), &p))
		return;
	extack_look_inside(&p);
	extack_call(buf, size, p.level, nla_type(p.attr), &p);
}

/*
 * NLMSG_ERROR holds struct nlmsgerr, then, unless capped, the payload of the
 * request; NLMSG_DONE holds an int. The TLVs follow either.
 */
static int extack_tlv_offset(const struct nlmsghdr *hdr, int *err)
{
	const struct nlmsgerr *e = nlmsg_data(hdr);
	int off = sizeof(int);

	*err = 0;
	if (hdr->nlmsg_type == NLMSG_DONE) {
		if (nlmsg_datalen(hdr) >= off)
			memcpy(err, nlmsg_data(hdr), sizeof(*err));
		return off;
	}
	if (nlmsg_datalen(hdr) < (int)sizeof(*e)) {
		*err = -EBADMSG;
		return nlmsg_datalen(hdr);
	}
	*err = e->error;
	off = sizeof(*e);
	if (hdr->nlmsg_flags & NLM_F_CAPPED)
		return off;
	if (e->msg.nlmsg_len > (uint32_t)nlmsg_datalen(hdr))
		return nlmsg_datalen(hdr);
	if (e->msg.nlmsg_len > sizeof(e->msg))
		off += NLMSG_ALIGN(e->msg.nlmsg_len) - sizeof(e->msg);
	return off;
}

int nl_parse_ack(struct nlmsghdr *hdr, const struct nlmsghdr *sent,
		 char text[NL_SENTENCE_MAX])
{
	struct nlattr *tlv[NLMSGERR_ATTR_MAX + 1];
	const char *said = NULL;
	char name[64], range[64];
	int err, off, len;

	text[0] = 0;
	off = extack_tlv_offset(hdr, &err);
	len = nlmsg_datalen(hdr) - off;
	if (err >= 0 || !(hdr->nlmsg_flags & NLM_F_ACK_TLVS) || len <= 0 ||
	    nla_parse(tlv, NLMSGERR_ATTR_MAX,
		      (struct nlattr *)((char *)nlmsg_data(hdr) + off), len,
		      NULL) < 0)
		return err < 0 ? err : 0;

	extack_blame(tlv, sent, name, sizeof(name));
	extack_allowed(tlv[NLMSGERR_ATTR_POLICY], range, sizeof(range));
	if (tlv[NLMSGERR_ATTR_MSG])
		said = nla_data(tlv[NLMSGERR_ATTR_MSG]);
	len = said ? strnlen(said, nla_len(tlv[NLMSGERR_ATTR_MSG])) : 0;
	if (said)
		snprintf(text, NL_SENTENCE_MAX, "%s%s%.*s%s", name,
			 *name ? ": " : "", len, said, range);
	else if (*name)
		snprintf(text, NL_SENTENCE_MAX, "%s: %s", name,
			 tlv[NLMSGERR_ATTR_MISS_TYPE] ? "is missing" :
			 strerror(-err));
	return err;
}
