// SPDX-License-Identifier: GPL-2.0
/* gaggctl group: makes, changes and shows groups in a network namespace. */
#include <stdio.h>
#include <string.h>

#include "gaggctl.h"
#include "../conf/ports.h"
#include "../lib/sync_name.h"

#define MEMORY_SAID	(256ULL << 20)	/* nearly twice the default */

#define USAGE_MAX	4096

static const char usage_head[] =
	"Usage: gaggctl group create NAME local ADDRESS [OPTION]... [member MEMBER]...\n"
	"       gaggctl group set NAME OPTION...\n"
	"       gaggctl group delete NAME\n"
	"       gaggctl group show [NAME]\n"
	"       gaggctl group list\n"
	"\n"
	"  MEMBER := RANK=ADDRESS[,worker|aggregator|both]\n"
	"  OPTION :=\n"
	"    local ADDRESS            this host's address\n";

static const char usage_tail[] =
	"\n"
	"Create the group with the same members on every host. Only uid, gid and mode\n"
	"can be set while a rank is attached.\n";

/* "port N", "placement striped|root" */
static void group_usage_option(const struct gagg_param *p, char *buf, size_t size)
{
	size_t used = snprintf(buf, size, "%s %s", p->name, p->value ? p->value : "");

	for (uint32_t i = 0; !p->value && p->words[i] && used < size; i++)
		used += snprintf(buf + used, size - used, "%s%s", i ? "|" : "", p->words[i]);
}

/* " [2048]"; nothing if the default depends on other values */
static void group_usage_default(const struct gagg_param *p, char *buf, size_t size)
{
	const char *word = nl_field_word(p, p->fallback);

	*buf = 0;
	if (!p->bits || !gagg_param_fits(p, p->fallback))
		return;
	if (word)
		snprintf(buf, size, " [%s]", word);
	else
		snprintf(buf, size, p->kind == GAGG_PARAM_BITS ? " [%04o]" : " [%u]", p->fallback);
}

/* a line for each parameter of the table; shell completion reads them, too */
static const char *group_usage(void)
{
	char option[64], fallback[32];
	const struct gagg_param *p;
	static char text[USAGE_MAX];
	size_t used;

	used = snprintf(text, sizeof(text), "%s", usage_head);
	for (p = gagg_param_table; p->name; p++) {
		group_usage_option(p, option, sizeof(option));
		group_usage_default(p, fallback, sizeof(fallback));
		used += snprintf(text + used, sizeof(text) - used, "    %-24s %s%s\n", option,
				 p->about, fallback);
	}
	snprintf(text + used, sizeof(text) - used, "%s", usage_tail);
	return text;
}

/* options: the parameters, and two more. Each parameter has an attribute of its own */
#define WORDS_MAX	(GAGG_GA_MAX + 3)

static void group_list_words(const char *words[WORDS_MAX])
{
	const struct gagg_param *p;
	size_t n = 0;

	words[n++] = "local";
	for (p = gagg_param_table; p->name; p++)
		words[n++] = p->name;
	words[n++] = "member";
	words[n] = NULL;
}

/* What a command line specifies of a group. */
struct spec {
	struct nl_group g;
	struct ring_size ring;
};

static bool group_take_member(struct args *a, const char *text, struct nl_group *g)
{
	if (g->n_members == GAGG_RANKS_MAX)
		return args_fail(a, "more than %d members", GAGG_RANKS_MAX);
	return args_member(a, text, &g->members[g->n_members++]);
}

static bool group_take_number(struct args *a, const struct gagg_param *p, const char *text,
			      uint32_t *v)
{
	uint64_t big;

	if (!args_number(a, p->name, text, p->bits == 16 ? UINT16_MAX : UINT32_MAX, &big))
		return false;
	*v = big;
	return true;
}

static bool group_take_ring(struct args *a, const char *text, struct ring_size *ring, uint32_t *v)
{
	bool ok = args_ring(a, text, ring);

	*v = ring->chunks;
	return ok;
}

static bool group_take_field(struct args *a, const struct gagg_param *p, const char *text,
			     struct spec *s)
{
	uint32_t v = 0;
	bool ok;

	switch (p->kind) {
	case GAGG_PARAM_USER:
		ok = args_uid(a, text, &v);
		break;
	case GAGG_PARAM_GROUP:
		ok = args_gid(a, text, &v);
		break;
	case GAGG_PARAM_BITS:
		ok = args_octal(a, p->name, text, &v);
		break;
	case GAGG_PARAM_AUTO:
		ok = args_auto(a, p, text, &v);
		break;
	case GAGG_PARAM_WORD:
		ok = args_word(a, p, text, &v);
		break;
	case GAGG_PARAM_SIZE:
		ok = group_take_ring(a, text, &s->ring, &v);
		break;
	default:
		ok = group_take_number(a, p, text, &v);
	}
	if (ok)
		nl_field_write(&s->g, p, v);
	return ok;
}

static bool group_take_param(struct args *a, const struct gagg_param *p, const char *text,
			     struct spec *s)
{
	switch (p->kind) {
	case GAGG_PARAM_SYNC:
		return args_sync(a, text, &s->g.sync);
	case GAGG_PARAM_MULTICAST:
		return args_multicast(a, text, &s->g.multicast);
	default:
		return group_take_field(a, p, text, s);
	}
}

/* option @w of group_list_words(): the first one, a parameter, or the last one */
static bool group_take_option(struct args *a, int w, const char *const *words, struct spec *s)
{
	const struct gagg_param *p = w && words[w + 1] ? &gagg_param_table[w - 1] : NULL;
	uint64_t bit = p ? NL_SET(p->attr) : w ? 0 : NL_SET(GAGG_GA_LOCAL);
	const char *text = "";
	bool ok;

	if (s->g.set & bit)
		return args_fail(a, "%s is there twice", words[w]);
	if (!args_take(a, words[w], &text))
		return args_fail(a, "%s needs a value", words[w]);
	if (p)
		ok = group_take_param(a, p, text, s);
	else if (w)
		ok = group_take_member(a, text, &s->g);
	else
		ok = args_ip(a, words[w], text, &s->g.local);
	s->g.set |= bit;
	return ok;
}

static bool group_parse(struct args *a, struct spec *s)
{
	const char *words[WORDS_MAX];

	group_list_words(words);
	memset(s, 0, sizeof(*s));
	if (!args_group(a, s->g.name))
		return false;
	while (*a->next) {
		int w = args_match(a, "option", *a->next++, words);

		if (w < 0 || !group_take_option(a, w, words, s))
			return false;
	}
	return true;
}

/* The kernel compares this mark with the addresses; it does not infer it. */
static void group_mark_local(struct nl_group *g)
{
	for (uint32_t i = 0; i < g->n_members; i++)
		g->members[i].local = nl_ip_equal(&g->members[i].addr,
						  &g->local);
}

static bool group_ring_by_size(struct args *a, struct spec *s, uint32_t lanes,
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

/* memory for contributions, and as much for results */
static void group_warn_of_memory(const struct nl_group *g)
{
	uint64_t ring = (uint64_t)g->ring * nl_group_lanes(g) * 4;

	if (2 * ring >= MEMORY_SAID)
		ctl_say("note: group \"%s\": each trainer needs %llu MB of memory; with ring 64M, as by default, it needs 134",
			g->name, (unsigned long long)(2 * ring / 1000000));
}

static void group_warn_of_ports(const struct nl_group *g)
{
	char msg[256];

	if (ports_warning(g, msg, sizeof(msg)))
		ctl_say("warning: group \"%s\": %s", g->name, msg);
}

void group_warn(const struct nl_group *g)
{
	group_warn_of_ports(g);
	group_warn_of_memory(g);
}

#define OF_PORTS	(NL_SET(GAGG_GA_PORT) | NL_SET(GAGG_GA_SHARDS) | NL_SET(GAGG_GA_MODE))
#define OF_MEMORY	(NL_SET(GAGG_GA_RING) | NL_SET(GAGG_GA_LANES))

/* warns of the group as the kernel has made it, defaults included, if it depends on one of @set */
static void group_warn_of(struct nl *nl, const char *name, uint64_t set)
{
	struct nl_group now;

	if (!(set & (OF_PORTS | OF_MEMORY)) || nl_group_get(nl, name, &now))
		return;
	if (set & OF_PORTS)
		group_warn_of_ports(&now);
	if (set & OF_MEMORY)
		group_warn_of_memory(&now);
}

static enum ctl_exit group_create(struct args *a)
{
	struct spec s;
	struct nl *nl;
	int err;

	if (ctl_help(a, group_usage()))
		return CTL_OK;
	if (!group_parse(a, &s))
		return CTL_USAGE;
	if (!(s.g.set & NL_SET(GAGG_GA_LOCAL))) {
		args_fail(a, "local ADDRESS is missing: which of the members' addresses is this host's?");
		return CTL_USAGE;
	}
	if (!group_ring_by_size(a, &s, GAGG_WIRE_LANES, nl_field_find("window")->fallback))
		return CTL_USAGE;
	group_mark_local(&s.g);
	nl = ctl_open();
	if (!nl)
		return CTL_FAILED;
	err = nl_group_new(nl, &s.g);
	if (!err)
		group_warn_of(nl, s.g.name, OF_PORTS | OF_MEMORY);
	return ctl_close(nl, err);
}

static enum ctl_exit group_set(struct args *a)
{
	struct nl_group now = { .set = 0 };
	struct spec s;
	struct nl *nl;
	int err = 0;

	if (ctl_help(a, group_usage()))
		return CTL_OK;
	if (!group_parse(a, &s))
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
	if (!err && !group_ring_by_size(a, &s, nl_group_lanes(&now), now.window)) {
		nl_free(nl);
		return CTL_USAGE;
	}
	if (!err)
		err = nl_group_set(nl, &s.g);
	if (!err)
		group_warn_of(nl, s.g.name, s.g.set);
	return ctl_close(nl, err);
}

static enum ctl_exit group_delete(struct args *a)
{
	struct nl_group g = { .set = 0 };
	struct nl *nl;

	if (ctl_help(a, group_usage()))
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

static void group_print_mtu(const struct nl_group *g)
{
	if (g->set & NL_SET(GAGG_GA_LANES_NOW))
		print_u64("lanes-now", " lanes ", g->lanes_now, ",");
	if (g->set & NL_SET(GAGG_GA_MTU_NEEDED))
		print_u64("mtu-needed", " path MTU ", g->mtu_needed, " needed");
	if (g->set & NL_SET(GAGG_GA_MTU))
		print_u64("mtu", ", interface ", g->mtu, "");
}

/* Text is in the form of arguments of "group create". */
static void group_print_config(const struct nl_group *g)
{
	const struct gagg_param *f;
	char ip[NL_IP_MAX], sync[SYNC_NAME_MAX];

	print_text("   ");
	if (g->set & NL_SET(GAGG_GA_LOCAL))
		print_str("local", " local ", nl_ip_format(&g->local, ip), "");
	nl_for_each_field(f) {
		uint32_t v = nl_field_read(g, f);

		if (f->attr == GAGG_GA_LANES)
			print_text("\n   ");
		if (!(g->set & NL_SET(f->attr)))
			continue;
		print_text(" ");
		print_text(f->name);
		if (f->kind == GAGG_PARAM_BITS)
			print_octal(f->name, " ", v, "");
		else if (nl_field_word(f, v))
			print_str(f->name, " ", nl_field_word(f, v), "");
		else
			print_u64(f->name, " ", v, "");
	}
	if (g->set & NL_SET(GAGG_GA_SYNC))
		print_str("sync", " sync ", sync_print(&g->sync, sync), "");
	if (g->multicast.family)
		print_str("multicast", " multicast ", nl_ip_format(&g->multicast, ip), "");
	print_text("\n");
}

static int group_show_one(const struct nl_group *g, void *arg)
{
	(void)arg;
	print_object(NULL);
	print_str("name", "", g->name, ":");
	group_print_state(g);
	group_print_mtu(g);
	print_text("\n");
	group_print_config(g);
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

static int group_list_one(const struct nl_group *g, void *arg)
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

static enum ctl_exit group_show(struct args *a)
{
	char name[GAGG_NAME_MAX] = "";
	struct nl_group g;
	struct nl *nl;
	int err;

	if (ctl_help(a, group_usage()))
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
			group_show_one(&g, NULL);
	} else {
		err = nl_group_dump(nl, group_show_one, NULL);
	}
	print_close();
	return ctl_close(nl, err);
}

static enum ctl_exit group_list(struct args *a)
{
	struct nl *nl;
	int err;

	if (ctl_help(a, group_usage()))
		return CTL_OK;
	if (!args_end(a))
		return CTL_USAGE;
	nl = ctl_open();
	if (!nl)
		return CTL_FAILED;
	print_array(NULL);
	err = nl_group_dump(nl, group_list_one, NULL);
	print_close();
	return ctl_close(nl, err);
}

enum ctl_exit group_command(struct args *a)
{
	static const struct command table[] = {
		{ "create", group_create },
		{ "delete", group_delete },
		{ "set", group_set },
		{ "show", group_show },
		{ "list", group_list },
		{ NULL, NULL },
	};

	return ctl_dispatch(a, table, group_usage());
}
