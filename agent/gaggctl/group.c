// SPDX-License-Identifier: GPL-2.0
/* gaggctl group: what an administrator creates in a network namespace. */
#include <stdio.h>
#include <string.h>

#include "gaggctl.h"
#include "../conf/ports.h"

#define MEMORY_SAID	(256ULL << 20)	/* nearly twice the default */
#define WINDOW_DEFAULT	2048	/* GAGG_GA_WINDOW */

static const char usage[] =
	"Usage: gaggctl group create NAME local ADDRESS [OPTION]... [member MEMBER]...\n"
	"       gaggctl group set NAME OPTION...\n"
	"       gaggctl group delete NAME\n"
	"       gaggctl group show [NAME]\n"
	"       gaggctl group list\n"
	"\n"
	"  MEMBER := RANK=ADDRESS[,worker|aggregator|both][,weight=N]\n"
	"  OPTION :=\n"
	"    local ADDRESS            this host's address\n"
	"    port N                   base UDP port [7440]\n"
	"    id N                     id on the wire [hash of the name]\n"
	"    uid USER, gid GROUP      who may train [0]\n"
	"    mode OCTAL               read and write bits of those [0600]\n"
	"    lanes N|auto             32-bit lanes a datagram; auto: what fits, at most 344 [auto]\n"
	"    lane-type int32|int64    what a store adds; int64 fills two lanes [int32]\n"
	"    ring N|SIZE              chunks in the ring [49152], or bytes: 64M\n"
	"    window N                 chunks under way [2048]\n"
	"    stripe N                 chunks in a row with one home [8]\n"
	"    shards N                 UDP sockets [1]\n"
	"    channels N               most channels [16]\n"
	"    cwnd N                   most datagrams under way to a host [256]\n"
	"    dead-after MS            silence after which a host is dead [5000]\n"
	"    sync MODE                sync mode, see gaggctl sync list [bsp]\n"
	"    placement striped|root   where chunks are added up [striped]\n"
	"    multicast ADDRESS|none   where results that all hosts want are sent once [none]\n"
	"    wire int32|int16|int8    how sums of floating point travel [int32]\n"
	"\n"
	"Create the group with the same members on every host. Only uid, gid and mode\n"
	"can be set while a rank is attached.\n";

enum word {
	W_LOCAL, W_PORT, W_ID, W_UID, W_GID, W_MODE, W_LANES, W_LANE_TYPE, W_RING, W_WINDOW,
	W_STRIPE, W_SHARDS, W_CHANNELS, W_CWND, W_DEAD_AFTER, W_SYNC,
	W_PLACEMENT, W_MULTICAST, W_WIRE, W_MEMBER,
};

static const char *const words[] = {
	[W_LOCAL]	= "local",
	[W_PORT]	= "port",
	[W_ID]		= "id",
	[W_UID]		= "uid",
	[W_GID]		= "gid",
	[W_MODE]	= "mode",
	[W_LANES]	= "lanes",
	[W_LANE_TYPE]	= "lane-type",
	[W_RING]	= "ring",
	[W_WINDOW]	= "window",
	[W_STRIPE]	= "stripe",
	[W_SHARDS]	= "shards",
	[W_CHANNELS]	= "channels",
	[W_CWND]	= "cwnd",
	[W_DEAD_AFTER]	= "dead-after",
	[W_SYNC]	= "sync",
	[W_PLACEMENT]	= "placement",
	[W_MULTICAST]	= "multicast",
	[W_WIRE]	= "wire",
	[W_MEMBER]	= "member",
	NULL,
};

static const uint16_t attrs[] = {
	[W_LOCAL]	= GAGG_GA_LOCAL,
	[W_SYNC]	= GAGG_GA_SYNC,
	[W_MULTICAST]	= GAGG_GA_MULTICAST,
	[W_MEMBER]	= 0,
};

/* What a command line says about a group. */
struct spec {
	struct nl_group g;
	struct ring_size ring;
};

static bool take_member(struct args *a, const char *text, struct nl_group *g)
{
	if (g->n_members == GAGG_RANKS_MAX)
		return args_fail(a, "more than %d members", GAGG_RANKS_MAX);
	return args_member(a, text, &g->members[g->n_members++]);
}

static bool take_field(struct args *a, enum word w, const char *text,
		       struct spec *s)
{
	const struct nl_field *f = nl_field_find(words[w]);
	uint32_t v = 0;
	uint64_t big;
	bool ok = true;

	switch (w) {
	case W_UID:
		ok = args_uid(a, text, &v);
		break;
	case W_GID:
		ok = args_gid(a, text, &v);
		break;
	case W_MODE:
		ok = args_octal(a, words[w], text, &v);
		break;
	case W_LANES:
		ok = args_lanes(a, text, &v);
		break;
	case W_PLACEMENT:
		ok = args_placement(a, text, &v);
		break;
	case W_LANE_TYPE:
		ok = args_lane_type(a, text, &v);
		break;
	case W_WIRE:
		ok = args_wire(a, text, &v);
		break;
	case W_RING:
		ok = args_ring(a, text, &s->ring);
		v = s->ring.chunks;
		break;
	default:
		ok = args_number(a, words[w], text,
				 f->bits == 16 ? UINT16_MAX : UINT32_MAX, &big);
		v = ok ? big : 0;
	}
	if (ok)
		nl_field_write(&s->g, f, v);
	return ok;
}

static bool take_value(struct args *a, enum word w, const char *text,
		       struct spec *s)
{
	switch (w) {
	case W_LOCAL:
		return args_ip(a, words[w], text, &s->g.local);
	case W_SYNC:
		return args_copy(a, words[w], text, s->g.sync,
				 sizeof(s->g.sync));
	case W_MULTICAST:
		return args_multicast(a, text, &s->g.multicast);
	case W_MEMBER:
		return take_member(a, text, &s->g);
	default:
		return take_field(a, w, text, s);
	}
}

static bool parse(struct args *a, struct spec *s)
{
	memset(s, 0, sizeof(*s));
	if (!args_group(a, s->g.name))
		return false;
	while (*a->next) {
		const struct nl_field *f;
		const char *text = "";
		uint32_t bit;
		int w = args_match(a, "option", *a->next++, words);

		if (w < 0)
			return false;
		f = nl_field_find(words[w]);
		bit = w == W_MEMBER ? 0 : NL_SET(f ? f->attr : attrs[w]);
		if (s->g.set & bit)
			return args_fail(a, "%s is there twice", words[w]);
		if (!args_take(a, words[w], &text))
			return args_fail(a, "%s needs a value", words[w]);
		if (!take_value(a, w, text, s))
			return false;
		s->g.set |= bit;
	}
	return true;
}

/* The kernel compares this mark with the addresses; it does not infer it. */
static void mark_local(struct nl_group *g)
{
	for (uint32_t i = 0; i < g->n_members; i++)
		g->members[i].local = nl_ip_equal(&g->members[i].addr,
						  &g->local);
}

static bool ring_by_size(struct args *a, struct spec *s, uint32_t lanes,
			 uint32_t window)
{
	if (s->g.set & NL_SET(GAGG_GA_LANES))
		lanes = nl_group_lanes(&s->g);
	if (s->g.set & NL_SET(GAGG_GA_WINDOW))
		window = s->g.window;
	return !s->ring.bytes || ring_chunks(s->ring.bytes, lanes, window, &s->g.ring) ||
	       args_fail(a, "ring: %llu bytes are too many chunks",
			 (unsigned long long)s->ring.bytes);
}

/* contributions, and as much for results */
static void warn_of_memory(const struct nl_group *g)
{
	uint64_t ring = (uint64_t)g->ring * nl_group_lanes(g) * 4;

	if (2 * ring >= MEMORY_SAID)
		ctl_say("note: group \"%s\": each trainer needs %llu MB of memory; with ring 64M, as by default, it needs 134",
			g->name, (unsigned long long)(2 * ring / 1000000));
}

static void warn_of_ports(const struct nl_group *g)
{
	char msg[256];

	if (ports_warning(g, msg, sizeof(msg)))
		ctl_say("warning: group \"%s\": %s", g->name, msg);
}

void group_warn(const struct nl_group *g)
{
	warn_of_ports(g);
	warn_of_memory(g);
}

#define OF_PORTS	(NL_SET(GAGG_GA_PORT) | NL_SET(GAGG_GA_SHARDS) | NL_SET(GAGG_GA_MODE))
#define OF_MEMORY	(NL_SET(GAGG_GA_RING) | NL_SET(GAGG_GA_LANES))

/* what the kernel has made of it, defaults included; of what depends on one of @set */
static void warn_of(struct nl *nl, const char *name, uint64_t set)
{
	struct nl_group now;

	if (!(set & (OF_PORTS | OF_MEMORY)) || nl_group_get(nl, name, &now))
		return;
	if (set & OF_PORTS)
		warn_of_ports(&now);
	if (set & OF_MEMORY)
		warn_of_memory(&now);
}

static enum ctl_exit create(struct args *a)
{
	struct spec s;
	struct nl *nl;
	int err;

	if (ctl_help(a, usage))
		return CTL_OK;
	if (!parse(a, &s))
		return CTL_USAGE;
	if (!(s.g.set & NL_SET(GAGG_GA_LOCAL))) {
		args_fail(a, "local ADDRESS is missing: which of the members' addresses is this host's?");
		return CTL_USAGE;
	}
	if (!ring_by_size(a, &s, GAGG_WIRE_LANES, WINDOW_DEFAULT))
		return CTL_USAGE;
	mark_local(&s.g);
	nl = ctl_open();
	if (!nl)
		return CTL_FAILED;
	err = nl_group_new(nl, &s.g);
	if (!err)
		warn_of(nl, s.g.name, OF_PORTS | OF_MEMORY);
	return ctl_close(nl, err);
}

static enum ctl_exit set(struct args *a)
{
	struct nl_group now = { .set = 0 };
	struct spec s;
	struct nl *nl;
	int err = 0;

	if (ctl_help(a, usage))
		return CTL_OK;
	if (!parse(a, &s))
		return CTL_USAGE;
	if (s.g.n_members) {
		args_fail(a, "members are changed by 'gaggctl member'");
		return CTL_USAGE;
	}
	if (!s.g.set) {
		args_fail(a, "what to set is missing");
		return CTL_USAGE;
	}
	nl = ctl_open();
	if (!nl)
		return CTL_FAILED;
	if (s.ring.bytes)
		err = nl_group_get(nl, s.g.name, &now);
	if (!err && !ring_by_size(a, &s, nl_group_lanes(&now), now.window)) {
		nl_free(nl);
		return CTL_USAGE;
	}
	if (!err)
		err = nl_group_set(nl, &s.g);
	if (!err)
		warn_of(nl, s.g.name, s.g.set);
	return ctl_close(nl, err);
}

static enum ctl_exit delete(struct args *a)
{
	struct nl_group g = { .set = 0 };
	struct nl *nl;

	if (ctl_help(a, usage))
		return CTL_OK;
	if (!args_group(a, g.name) || !args_end(a))
		return CTL_USAGE;
	nl = ctl_open();
	return nl ? ctl_close(nl, nl_group_del(nl, &g)) : CTL_FAILED;
}

void group_print_state(const struct nl_group *g)
{
	if (g->set & NL_SET(GAGG_GA_STATE))
		print_str("state", " ", nl_group_state_name(g->state), "");
	if (g->mismatch[0])
		print_str("mismatch", " ", g->mismatch, "");
	if (g->set & NL_SET(GAGG_GA_EPOCH))
		print_u64("epoch", " epoch ", g->epoch, "");
	if (g->set & NL_SET(GAGG_GA_REASON) && g->reason) {
		print_str("reason", " ended ", nl_reason_name(g->reason), "");
		if (g->set & NL_SET(GAGG_GA_REASON_RANK))
			print_u64("reason-rank", " rank ", g->reason_rank, "");
	}
}

static void print_mtu(const struct nl_group *g)
{
	if (g->set & NL_SET(GAGG_GA_LANES_NOW))
		print_u64("lanes-now", " lanes ", g->lanes_now, ",");
	if (g->set & NL_SET(GAGG_GA_MTU_NEEDED))
		print_u64("mtu-needed", " path MTU ", g->mtu_needed, " needed");
	if (g->set & NL_SET(GAGG_GA_MTU))
		print_u64("mtu", ", interface ", g->mtu, "");
}

/* Text is what "group create" takes. */
static void print_config(const struct nl_group *g)
{
	const struct nl_field *f;
	char ip[NL_IP_MAX];

	print_text("   ");
	if (g->set & NL_SET(GAGG_GA_LOCAL))
		print_str("local", " local ", nl_ip_format(&g->local, ip), "");
	for (f = nl_fields; f->attr; f++) {
		uint32_t v = nl_field_read(g, f);

		if (f->attr == GAGG_GA_LANES)
			print_text("\n   ");
		if (!(g->set & NL_SET(f->attr)))
			continue;
		print_text(" ");
		if (f->attr == GAGG_GA_MODE) {
			print_octal(f->name, "mode ", v, "");
			continue;
		}
		print_text(f->name);
		if (nl_field_word(f, v))
			print_str(f->name, " ", nl_field_word(f, v), "");
		else
			print_u64(f->name, " ", v, "");
	}
	if (g->set & NL_SET(GAGG_GA_SYNC))
		print_str("sync", " sync ", g->sync, "");
	if (g->multicast.family)
		print_str("multicast", " multicast ", nl_ip_format(&g->multicast, ip), "");
	print_text("\n");
}

static int show_one(const struct nl_group *g, void *arg)
{
	(void)arg;
	print_object(NULL);
	print_str("name", "", g->name, ":");
	group_print_state(g);
	print_mtu(g);
	print_text("\n");
	print_config(g);
	print_array("members");
	for (uint32_t i = 0; i < g->n_members; i++) {
		print_object(NULL);
		print_text("    member ");
		member_print(&g->members[i]);
		print_text("\n");
		print_close();
	}
	print_close();
	print_close();
	return 0;
}

static int list_one(const struct nl_group *g, void *arg)
{
	(void)arg;
	print_object(NULL);
	print_str("name", "", g->name, "");
	group_print_state(g);
	print_u64("ranks", " ranks ", g->n_members, "");
	print_text("\n");
	print_close();
	return 0;
}

static enum ctl_exit show(struct args *a)
{
	char name[GAGG_NAME_MAX] = "";
	struct nl_group g;
	struct nl *nl;
	int err;

	if (ctl_help(a, usage))
		return CTL_OK;
	if ((*a->next && !args_group(a, name)) || !args_end(a))
		return CTL_USAGE;
	nl = ctl_open();
	if (!nl)
		return CTL_FAILED;
	print_array(NULL);
	if (*name) {
		err = nl_group_get(nl, name, &g);
		if (!err)
			show_one(&g, NULL);
	} else {
		err = nl_group_dump(nl, show_one, NULL);
	}
	print_close();
	return ctl_close(nl, err);
}

static enum ctl_exit list(struct args *a)
{
	struct nl *nl;
	int err;

	if (ctl_help(a, usage))
		return CTL_OK;
	if (!args_end(a))
		return CTL_USAGE;
	nl = ctl_open();
	if (!nl)
		return CTL_FAILED;
	print_array(NULL);
	err = nl_group_dump(nl, list_one, NULL);
	print_close();
	return ctl_close(nl, err);
}

enum ctl_exit group_command(struct args *a)
{
	static const struct command table[] = {
		{ "create", create },
		{ "delete", delete },
		{ "set", set },
		{ "show", show },
		{ "list", list },
		{ NULL, NULL },
	};

	return ctl_dispatch(a, table, usage);
}
