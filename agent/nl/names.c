// SPDX-License-Identifier: GPL-2.0
/* Words for the numbers of the family, in one place for text, JSON and files. */
#include <stdio.h>
#include <string.h>
#include <linux/gagg_wire.h>

#include "nl.h"
#include "../lib/sync_name.h"

_Static_assert(NL_VALUE_MAX >= SYNC_NAME_MAX, "sync_name() writes into it");

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#define FIELD(a, b, member, n) \
	{ GAGG_GA_##a, b, offsetof(struct nl_group, member), n }

const struct nl_field nl_fields[] = {
	FIELD(PORT, 16, port, "port"),
	FIELD(ID, 32, id, "id"),
	FIELD(UID, 32, uid, "uid"),
	FIELD(GID, 32, gid, "gid"),
	FIELD(MODE, 32, mode, "mode"),
	FIELD(LANES, 16, lanes, "lanes"),
	FIELD(RING, 32, ring, "ring"),
	FIELD(WINDOW, 32, window, "window"),
	FIELD(STRIPE, 16, stripe, "stripe"),
	FIELD(SHARDS, 16, shards, "shards"),
	FIELD(CHANNELS, 16, channels, "channels"),
	FIELD(CWND, 32, cwnd, "cwnd"),
	FIELD(DEAD_AFTER, 32, dead_after, "dead-after"),
	FIELD(PLACEMENT, 32, placement, "placement"),
	FIELD(LANE_TYPE, 32, lane_type, "lane-type"),
	FIELD(WIRE, 32, wire, "wire"),
	{ 0, 0, 0, NULL },
};

const struct nl_field *nl_field_find(const char *name)
{
	const struct nl_field *f;

	for (f = nl_fields; f->attr; f++)
		if (!strcmp(f->name, name))
			return f;
	return NULL;
}

void nl_field_write(struct nl_group *group, const struct nl_field *f, uint32_t v)
{
	memcpy((char *)group + f->offset, &v, sizeof(v));
	group->set |= NL_SET(f->attr);
}

uint32_t nl_field_read(const struct nl_group *group, const struct nl_field *f)
{
	uint32_t v;

	memcpy(&v, (const char *)group + f->offset, sizeof(v));
	return v;
}

static const char lanes_auto[] = "auto";

bool nl_lanes_parse(const char *text, uint32_t *out)
{
	*out = 0;
	return !strcmp(text, lanes_auto);
}

const char *nl_field_word(const struct nl_field *f, uint32_t v)
{
	switch (f->attr) {
	case GAGG_GA_LANES:
		return v ? NULL : lanes_auto;
	case GAGG_GA_PLACEMENT:
		return nl_placement_name(v);
	case GAGG_GA_LANE_TYPE:
		return nl_lane_type_name(v);
	case GAGG_GA_WIRE:
		return nl_wire_name(v);
	}
	return NULL;
}

bool nl_mismatch_values(const struct nl_member *m)
{
	const uint32_t both = NL_SET(GAGG_MA_MISMATCH_HERE) | NL_SET(GAGG_MA_MISMATCH_THERE);

	return m->mismatch[0] && (m->set & both) == both;
}

const char *nl_mismatch_word(const struct nl_member *m, uint32_t v, char buf[NL_VALUE_MAX])
{
	const struct nl_field *f = nl_field_find(m->mismatch);
	const char *word;

	if (!strcmp(m->mismatch, "sync"))
		return sync_name(v, buf);
	word = f ? nl_field_word(f, v) : NULL;
	/* a number that this build has no word for is told as such */
	return word && strcmp(word, "?") ? word : NULL;
}

static const char *mismatch_value(const struct nl_member *m, uint32_t v, char buf[NL_VALUE_MAX])
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
			 mismatch_value(m, m->mismatch_there, there),
			 mismatch_value(m, m->mismatch_here, here));
	else
		snprintf(buf, NL_MISMATCH_MAX, "%s", m->mismatch);
	return buf;
}

static const char *word(const char *const *words, size_t n, uint32_t i)
{
	return i < n && words[i] ? words[i] : "?";
}

#define WORDS(function, type, ...)					\
const char *function(type i)						\
{									\
	static const char *const words[] = { __VA_ARGS__ };		\
									\
	return word(words, ARRAY_SIZE(words), i);			\
}

WORDS(nl_group_attr_name, unsigned int,
	[GAGG_GA_NAME]		= "name",
	[GAGG_GA_ID]		= "id",
	[GAGG_GA_LOCAL]		= "local",
	[GAGG_GA_PORT]		= "port",
	[GAGG_GA_UID]		= "uid",
	[GAGG_GA_GID]		= "gid",
	[GAGG_GA_MODE]		= "mode",
	[GAGG_GA_LANES]		= "lanes",
	[GAGG_GA_RING]		= "ring",
	[GAGG_GA_WINDOW]	= "window",
	[GAGG_GA_STRIPE]	= "stripe",
	[GAGG_GA_SHARDS]	= "shards",
	[GAGG_GA_CHANNELS]	= "channels",
	[GAGG_GA_CWND]		= "cwnd",
	[GAGG_GA_DEAD_AFTER]	= "dead-after",
	[GAGG_GA_SYNC]		= "sync",
	[GAGG_GA_PLACEMENT]	= "placement",
	[GAGG_GA_KEY]		= "key",
	[GAGG_GA_MEMBERS]	= "members",
	[GAGG_GA_STATE]		= "state",
	[GAGG_GA_EPOCH]		= "epoch",
	[GAGG_GA_REASON]	= "reason",
	[GAGG_GA_REASON_RANK]	= "reason-rank",
	[GAGG_GA_MISMATCH]	= "mismatch",
	[GAGG_GA_LANE_TYPE]	= "lane-type",
	[GAGG_GA_MULTICAST]	= "multicast",
	[GAGG_GA_WIRE]		= "wire",
	[GAGG_GA_MTU]		= "mtu",
	[GAGG_GA_MTU_NEEDED]	= "mtu-needed",
	[GAGG_GA_LANES_NOW]	= "lanes-now")

WORDS(nl_member_attr_name, unsigned int,
	[GAGG_MA_MEMBER]	= "member",
	[GAGG_MA_RANK]		= "rank",
	[GAGG_MA_ADDRESS]	= "address",
	[GAGG_MA_ROLES]		= "role",
	[GAGG_MA_WEIGHT]	= "weight",
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

#define GAGG_ROLE_BOTH (GAGG_ROLE_WORKER | GAGG_ROLE_AGGREGATOR)

WORDS(nl_roles_name, uint32_t,
	[GAGG_ROLE_WORKER]	= "worker",
	[GAGG_ROLE_AGGREGATOR]	= "aggregator",
	[GAGG_ROLE_BOTH]	= "both")

WORDS(nl_placement_name, uint32_t,
	[GAGG_PLACE_STRIPED]	= "striped",
	[GAGG_PLACE_ROOT]	= "root")

WORDS(nl_lane_type_name, uint32_t,
	[GAGG_LANE_TYPE_INT32]	= "int32",
	[GAGG_LANE_TYPE_INT64]	= "int64")

WORDS(nl_wire_name, uint32_t,
	[GAGG_WIRE_INT32]	= "int32",
	[GAGG_WIRE_INT16]	= "int16",
	[GAGG_WIRE_INT8]	= "int8")

static bool parse(const char *(*name)(uint32_t), uint32_t from, uint32_t to,
		  const char *text, uint32_t *out)
{
	for (uint32_t i = from; i <= to; i++) {
		if (!strcmp(name(i), text)) {
			*out = i;
			return true;
		}
	}
	return false;
}

bool nl_roles_parse(const char *text, uint32_t *out)
{
	return parse(nl_roles_name, GAGG_ROLE_WORKER, GAGG_ROLE_BOTH, text, out);
}

bool nl_placement_parse(const char *text, uint32_t *out)
{
	return parse(nl_placement_name, GAGG_PLACE_STRIPED, GAGG_PLACE_ROOT,
		     text, out);
}

bool nl_lane_type_parse(const char *text, uint32_t *out)
{
	return parse(nl_lane_type_name, GAGG_LANE_TYPE_INT32, GAGG_LANE_TYPE_INT64,
		     text, out);
}

bool nl_wire_parse(const char *text, uint32_t *out)
{
	return parse(nl_wire_name, GAGG_WIRE_INT32, GAGG_WIRE_INT8, text, out);
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
	bool fits;

	if (strcmp(text, "none")) {
		if (!nl_ip_parse(text, &ip))
			return false;
		/* scope 1 of IPv6 does not leave the host */
		fits = ip.family == AF_INET ? ip.addr[0] >> 4 == 14 :
					      ip.addr[0] == 0xff && (ip.addr[1] & 15) > 1;
		if (!fits)
			return false;
	}
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
