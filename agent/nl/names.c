// SPDX-License-Identifier: GPL-2.0
/* Words for the numbers of the family, in one place for text, JSON and files. */
#include <stdio.h>
#include <string.h>
#include <linux/gagg_wire.h>

#include "nl.h"
#include "../lib/sync_name.h"

_Static_assert(NL_VALUE_MAX >= SYNC_NAME_MAX, "sync_name() writes into it");

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

static const char *const roles[] = { "worker", "aggregator", "both", NULL };

const struct gagg_param nl_role = {
	.name = "role",
	.attr = GAGG_MA_ROLES,
	.kind = GAGG_PARAM_WORD,
	.noun = "role",
	.words = roles,
	.min = GAGG_ROLE_WORKER,
	.max = GAGG_ROLE_WORKER | GAGG_ROLE_AGGREGATOR,
	.fallback = GAGG_ROLE_WORKER | GAGG_ROLE_AGGREGATOR,
};

const struct gagg_param *nl_field_next(const struct gagg_param *f)
{
	for (f = f ? f + 1 : gagg_param_table; f->name; f++)
		if (f->bits)
			return f;
	return NULL;
}

const struct gagg_param *nl_field_find(const char *name)
{
	const struct gagg_param *f;

	nl_for_each_field(f)
		if (!strcmp(f->name, name))
			return f;
	return NULL;
}

void nl_field_write(struct nl_group *group, const struct gagg_param *f, uint32_t v)
{
	if (f->kind == GAGG_PARAM_USER)
		group->uid = v;
	else if (f->kind == GAGG_PARAM_GROUP)
		group->gid = v;
	else
		gagg_param_set(f, &group->param, v);
	group->set |= NL_SET(f->attr);
}

uint32_t nl_field_read(const struct nl_group *group, const struct gagg_param *f)
{
	if (f->kind == GAGG_PARAM_USER)
		return group->uid;
	if (f->kind == GAGG_PARAM_GROUP)
		return group->gid;
	return gagg_param_get(f, &group->param);
}

static const char word_auto[] = "auto";

const char *nl_field_word(const struct gagg_param *f, uint32_t v)
{
	if (f->kind == GAGG_PARAM_AUTO)
		return v ? NULL : word_auto;
	if (f->kind == GAGG_PARAM_WORD)
		return gagg_param_fits(f, v) ? f->words[v - f->min] : "?";
	return NULL;
}

bool nl_field_word_parse(const struct gagg_param *f, const char *text, uint32_t *out)
{
	if (f->kind == GAGG_PARAM_AUTO && !strcmp(text, word_auto)) {
		*out = 0;
		return true;
	}
	for (uint32_t i = 0; f->words && f->words[i]; i++) {
		if (!strcmp(f->words[i], text)) {
			*out = f->min + i;
			return true;
		}
	}
	return false;
}

bool nl_mismatch_values(const struct nl_member *m)
{
	const uint32_t both = NL_SET(GAGG_MA_MISMATCH_HERE) | NL_SET(GAGG_MA_MISMATCH_THERE);

	return m->mismatch[0] && (m->set & both) == both;
}

const char *nl_mismatch_word(const struct nl_member *m, uint32_t v, char buf[NL_VALUE_MAX])
{
	const struct gagg_param *f = nl_field_find(m->mismatch);
	const char *word;

	if (!strcmp(m->mismatch, "sync"))
		return sync_name(v, buf);
	word = f ? nl_field_word(f, v) : NULL;
	/* a number that this build has no word for is told as such */
	return word && strcmp(word, "?") ? word : NULL;
}

static const char *name_mismatch_value(const struct nl_member *m, uint32_t v,
				       char buf[NL_VALUE_MAX])
{
	const char *word = nl_mismatch_word(m, v, buf);

	if (word)
		return word;
	snprintf(buf, NL_VALUE_MAX, "%u", v);
	return buf;
}

const char *nl_mismatch_format(const struct nl_member *m, char buf[NL_MISMATCH_MAX])
{
	char there[NL_VALUE_MAX], here[NL_VALUE_MAX];

	if (nl_mismatch_values(m))
		snprintf(buf, NL_MISMATCH_MAX, "%s (%s there, %s here)", m->mismatch,
			 name_mismatch_value(m, m->mismatch_there, there),
			 name_mismatch_value(m, m->mismatch_here, here));
	else
		snprintf(buf, NL_MISMATCH_MAX, "%s", m->mismatch);
	return buf;
}

static const char *name_word(const char *const *words, size_t n, uint32_t i)
{
	return i < n && words[i] ? words[i] : "?";
}

#define WORDS(function, type, ...)					\
const char *function(type i)						\
{									\
	static const char *const words[] = { __VA_ARGS__ };		\
									\
	return name_word(words, ARRAY_SIZE(words), i);			\
}

/* what is no parameter */
static WORDS(group_attr_name, unsigned int,
	[GAGG_GA_NAME]		= "name",
	[GAGG_GA_LOCAL]		= "local",
	[GAGG_GA_KEY]		= "key",
	[GAGG_GA_MEMBERS]	= "members",
	[GAGG_GA_STATE]		= "state",
	[GAGG_GA_EPOCH]		= "epoch",
	[GAGG_GA_REASON]	= "reason",
	[GAGG_GA_REASON_RANK]	= "reason-rank",
	[GAGG_GA_MISMATCH]	= "mismatch",
	[GAGG_GA_MTU]		= "mtu",
	[GAGG_GA_MTU_NEEDED]	= "mtu-needed",
	[GAGG_GA_LANES_NOW]	= "lanes-now")

const char *nl_group_attr_name(unsigned int attr)
{
	const struct gagg_param *p;

	for (p = gagg_param_table; p->name; p++)
		if (p->attr == attr)
			return p->name;
	return group_attr_name(attr);
}

WORDS(nl_member_attr_name, unsigned int,
	[GAGG_MA_MEMBER]	= "member",
	[GAGG_MA_RANK]		= "rank",
	[GAGG_MA_ADDRESS]	= "address",
	[GAGG_MA_ROLES]		= "role",
	[GAGG_MA_RESERVED]	= "reserved",
	[GAGG_MA_LOCAL]		= "local",
	[GAGG_MA_STATE]		= "state",
	[GAGG_MA_MISMATCH]	= "mismatch",
	[GAGG_MA_RTT]		= "rtt",
	[GAGG_MA_CWND]		= "cwnd",
	[GAGG_MA_HEARD]		= "heard",
	[GAGG_MA_TIMES]		= "times",
	[GAGG_MA_BLOCKED_IN]	= "blocked-in",
	[GAGG_MA_BLOCKED_OUT]	= "blocked-out",
	[GAGG_MA_MISMATCH_HERE]	= "mismatch-here",
	[GAGG_MA_MISMATCH_THERE] = "mismatch-there")

WORDS(nl_group_state_name, uint32_t,
	[GAGG_GS_INCOMPLETE]	= "incomplete",
	[GAGG_GS_WAITING]	= "waiting",
	[GAGG_GS_MISMATCH]	= "config-mismatch",
	[GAGG_GS_RUNNING]	= "running",
	[GAGG_GS_BLOCKED]	= "blocked")

WORDS(nl_member_state_name, uint32_t,
	[GAGG_MS_UNHEARD]	= "unheard",
	[GAGG_MS_MISMATCH]	= "config-mismatch",
	[GAGG_MS_HEARD]		= "heard",
	[GAGG_MS_ATTACHED]	= "attached",
	[GAGG_MS_RUNNING]	= "running",
	[GAGG_MS_BLOCKED]	= "blocked")

WORDS(nl_reason_name, uint32_t,
	[GAGG_R_NONE]		= "none",
	[GAGG_R_BYE]		= "bye",
	[GAGG_R_DIED]		= "died",
	[GAGG_R_SILENT]		= "silent",
	[GAGG_R_RESTART]	= "restart",
	[GAGG_R_DESYNC]		= "desync",
	[GAGG_R_DELETED]	= "deleted",
	[GAGG_R_ADMIN]		= "admin",
	[GAGG_R_BLOCKED]	= "blocked",
	[GAGG_R_MTU]		= "mtu")

_Static_assert(GAGG_R_COUNT == GAGG_R_MTU + 1, "a reason without a word");

WORDS(nl_event_name, uint32_t,
	[GAGG_EV_NEW]		= "new",
	[GAGG_EV_DEL]		= "del",
	[GAGG_EV_SET]		= "set",
	[GAGG_EV_EPOCH_START]	= "epoch-start",
	[GAGG_EV_EPOCH_END]	= "epoch-end",
	[GAGG_EV_MISMATCH]	= "config-mismatch",
	[GAGG_EV_MEMBER_STATE]	= "member-state")

const char *nl_roles_name(uint32_t value)
{
	return nl_field_word(&nl_role, value);
}

static const struct {
	const char *name;
	const char *help;
} stats[] = {
#define STAT(a, n, h) [GAGG_SA_##a] = { n, h }
	STAT(ROUNDS, "rounds", "ops completed by local ranks"),
	STAT(CHUNKS, "chunks", "chunks published by this home"),
	STAT(TX_DATAGRAMS, "tx_datagrams", "datagrams sent"),
	STAT(TX_BYTES, "tx_bytes", "UDP payload sent"),
	STAT(RX_DATAGRAMS, "rx_datagrams", "datagrams received"),
	STAT(RX_BYTES, "rx_bytes", "UDP payload received"),
	STAT(CONTRIBUTIONS, "contributions", "contributions counted, local ones included"),
	STAT(RESULTS, "results", "results placed"),
	STAT(RETRANSMITS, "retransmits", "contributions sent again"),
	STAT(REPAIRS, "repairs", "results sent again"),
	STAT(QUERIES, "queries", "QUERY sent"),
	STAT(PULLS, "pulls", "PULL sent"),
	STAT(ACKS, "acks", "ACK sent"),
	STAT(VOIDS, "voids", "sums voided by a larger exponent"),
	STAT(DUPLICATES, "duplicates", "contributions that were counted already"),
	STAT(STALE, "stale", "contributions of an earlier round"),
	STAT(EPOCHS, "epochs", "epochs started"),
	STAT(NONFINITE, "nonfinite", "results with NaN or infinity"),
	STAT(OVERFLOW, "overflow", "results that may have wrapped"),
	STAT(DROP_SHORT, "drop_short", "dropped: too short, or lanes and length differ"),
	STAT(DROP_VERSION, "drop_version",
	     "dropped: magic, version, header length or unknown flag"),
	STAT(DROP_CHECKSUM, "drop_checksum", "dropped: UDP checksum"),
	STAT(DROP_TYPE, "drop_type", "dropped: unknown or misplaced type"),
	STAT(DROP_SOURCE, "drop_source", "dropped: address is not the member's"),
	STAT(DROP_EPOCH, "drop_epoch", "dropped: of another epoch"),
	STAT(DROP_COOKIE, "drop_cookie", "dropped: wrong cookie"),
	STAT(DROP_RANK, "drop_rank", "dropped: rank is not of the channel or not at that host"),
	STAT(DROP_CHANNEL, "drop_channel", "dropped: unknown channel"),
	STAT(DROP_CHUNK, "drop_chunk", "dropped: chunk out of range, or not homed here"),
	STAT(DROP_ROUND, "drop_round", "dropped: round out of range"),
	STAT(DROP_WINDOW, "drop_window", "dropped: beyond the window"),
	STAT(DROP_OP, "drop_op", "dropped: lane type or operator unknown, or lanes differ"),
	STAT(DROP_NOMEM, "drop_nomem", "dropped: no memory"),
	STAT(TX_ERRORS, "tx_errors", "datagrams that the stack did not accept"),
	STAT(LATE, "late", "first contributions to a round that was complete without them"),
#undef STAT
};

_Static_assert(ARRAY_SIZE(stats) == GAGG_SA_PAD, "a counter without a name");

const char *nl_stat_name(unsigned int attr)
{
	return attr < ARRAY_SIZE(stats) ? stats[attr].name : NULL;
}

const char *nl_stat_help(unsigned int attr)
{
	return attr < ARRAY_SIZE(stats) ? stats[attr].help : NULL;
}

bool nl_ip_parse(const char *text, struct nl_ip *out)
{
	struct nl_ip ip = { .family = AF_INET };

	if (inet_pton(AF_INET, text, ip.addr) != 1) {
		ip.family = AF_INET6;
		if (inet_pton(AF_INET6, text, ip.addr) != 1)
			return false;
	}
	*out = ip;
	return true;
}

const char *nl_ip_format(const struct nl_ip *ip, char buf[NL_IP_MAX])
{
	if (!ip->family || !inet_ntop(ip->family, ip->addr, buf, NL_IP_MAX))
		strcpy(buf, "-");
	return buf;
}

bool nl_multicast_parse(const char *text, struct nl_ip *out)
{
	struct nl_ip ip = { .family = 0 };

	if (strcmp(text, "none") &&
	    (!nl_ip_parse(text, &ip) || !gagg_addr_is_multicast(ip.addr, nl_ip_len(&ip))))
		return false;
	*out = ip;
	return true;
}

const char *nl_multicast_format(const struct nl_ip *ip, char buf[NL_IP_MAX])
{
	return ip->family ? nl_ip_format(ip, buf) : "none";
}

bool nl_ip_equal(const struct nl_ip *a, const struct nl_ip *b)
{
	size_t len = a->family == AF_INET ? 4 : 16;

	return a->family == b->family && !memcmp(a->addr, b->addr, len);
}
