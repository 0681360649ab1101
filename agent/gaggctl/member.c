// SPDX-License-Identifier: GPL-2.0
/* gaggctl member: the members of a group, and what this host knows of them. */
#include <stdio.h>
#include <string.h>

#include "gaggctl.h"

static const char usage[] =
	"Usage: gaggctl member add GROUP RANK=ADDRESS[,worker|aggregator|both]\n"
	"       gaggctl member set GROUP RANK [address ADDRESS] [role ROLE]\n"
	"       gaggctl member delete GROUP RANK\n"
	"       gaggctl member list GROUP\n"
	"\n"
	"States: unheard, config-mismatch FIELD (with both values, if it is a number or a word),\n"
	"heard (its host is up), attached, running, blocked (its host is up, but datagrams as long as a chunk do not pass:\n"
	"the line says between which, and on which UDP ports). Members can be changed only while no rank is attached, and have to be\n"
	"the same on every host.\n";

/*
 * Members at the group's local address have the local flag, and no others have it. So whenever an
 * address is sent, the group must be asked for its local address.
 */
static int member_mark_local(struct nl *nl, const char *name, struct nl_member *m)
{
	struct nl_group g;
	int err;

	if (!(m->set & NL_SET(GAGG_MA_ADDRESS)))
		return 0;
	err = nl_group_get(nl, name, &g);
	m->local = !err && nl_ip_equal(&m->addr, &g.local);
	return err;
}

typedef int (*change_fn)(struct nl *nl, const char *name,
			 const struct nl_member *m);

static enum ctl_exit member_change(const char *name, struct nl_member *m,
				   change_fn fn)
{
	struct nl *nl = ctl_open();
	int err;

	if (!nl)
		return CTL_FAILED;
	err = member_mark_local(nl, name, m);
	if (!err)
		err = fn(nl, name, m);
	return ctl_close(nl, err);
}

static bool member_take_rank(struct args *a, struct nl_member *m)
{
	const char *text = "";
	uint64_t v = 0;

	if (!args_take(a, "RANK", &text) ||
	    !args_number(a, "rank", text, UINT32_MAX, &v))
		return false;
	memset(m, 0, sizeof(*m));
	m->rank = v;
	m->set = NL_SET(GAGG_MA_RANK);
	return true;
}

static enum ctl_exit member_add(struct args *a)
{
	char name[GAGG_NAME_MAX];
	const char *text = "";
	struct nl_member m;

	if (ctl_help(a, usage))
		return CTL_OK;
	if (!args_group(a, name) ||
	    !args_take(a, "RANK=ADDRESS", &text) ||
	    !args_member(a, text, &m) || !args_end(a))
		return CTL_USAGE;
	return member_change(name, &m, nl_member_add);
}

static enum ctl_exit member_delete(struct args *a)
{
	char name[GAGG_NAME_MAX];
	struct nl_member m;

	if (ctl_help(a, usage))
		return CTL_OK;
	if (!args_group(a, name) || !member_take_rank(a, &m) || !args_end(a))
		return CTL_USAGE;
	return member_change(name, &m, nl_member_del);
}

static bool member_take_changes(struct args *a, struct nl_member *m)
{
	static const char *const words[] = { "address", "role", NULL };
	static const uint16_t attrs[] = { GAGG_MA_ADDRESS, GAGG_MA_ROLES };

	while (*a->next) {
		const char *text = "";
		bool ok;
		int w = args_match(a, "option", *a->next++, words);

		if (w < 0)
			return false;
		if (m->set & NL_SET(attrs[w]))
			return args_fail(a, "%s is there twice", words[w]);
		if (!args_take(a, words[w], &text))
			return args_fail(a, "%s needs a value", words[w]);
		if (attrs[w] == GAGG_MA_ADDRESS)
			ok = args_ip(a, words[w], text, &m->addr);
		else
			ok = args_word(a, &nl_role, text, &m->roles);
		if (!ok)
			return false;
		m->set |= NL_SET(attrs[w]);
	}
	return m->set != NL_SET(GAGG_MA_RANK) ||
	       args_fail(a, "what to set is missing");
}

static enum ctl_exit member_set(struct args *a)
{
	char name[GAGG_NAME_MAX];
	struct nl_member m;

	if (ctl_help(a, usage))
		return CTL_OK;
	if (!args_group(a, name) || !member_take_rank(a, &m) || !member_take_changes(a, &m))
		return CTL_USAGE;
	return member_change(name, &m, nl_member_set);
}

static void member_print_value(const struct nl_member *m, uint32_t v, const char *key,
			       const char *before, const char *after)
{
	char buf[NL_VALUE_MAX];
	const char *word = nl_mismatch_word(m, v, buf);

	if (word)
		print_str(key, before, word, after);
	else
		print_u64(key, before, v, after);
}

static void member_print_mismatch(const struct nl_member *m)
{
	if (!m->mismatch[0])
		return;
	print_str("mismatch", " ", m->mismatch, "");
	if (!nl_mismatch_values(m))
		return;
	member_print_value(m, m->mismatch_there, "mismatch-there", " (", " there");
	member_print_value(m, m->mismatch_here, "mismatch-here", ", ", " here)");
}

void member_print(const struct nl_member *m)
{
	char ip[NL_IP_MAX];

	print_u64("rank", "", m->rank, "");
	if (m->set & NL_SET(GAGG_MA_ADDRESS))
		print_str("address", "=", nl_ip_format(&m->addr, ip), "");
	if (m->set & NL_SET(GAGG_MA_ROLES))
		print_str("role", ",", nl_roles_name(m->roles), "");
	print_flag("local", " local", m->local);
	if (m->set & NL_SET(GAGG_MA_STATE))
		print_str("state", " ", nl_member_state_name(m->state), "");
	member_print_mismatch(m);
	if (m->set & NL_SET(GAGG_MA_RTT))
		print_u64("rtt-us", " rtt ", m->rtt, "us");
	if (m->set & NL_SET(GAGG_MA_CWND))
		print_u64("cwnd", " cwnd ", m->cwnd, "");
	if (m->set & NL_SET(GAGG_MA_HEARD))
		print_u64("heard-ms", " heard ", m->heard_ms, "ms ago");
}

/* "UDP port 7440, 7441" */
static void member_name_ports(const struct nl_group *g, uint32_t shards, char *buf, size_t size)
{
	size_t n = (size_t)snprintf(buf, size, "UDP port");
	const char *comma = "";
	uint32_t i;

	for (i = 0; i < 32 && n < size; i++) {
		if (!(shards >> i & 1))
			continue;
		n += (size_t)snprintf(buf + n, size - n, "%s %u", comma, g->port + i);
		comma = ",";
	}
}

/* prints what does not pass, and possible reasons */
static void member_print_blocked(const struct nl_group *g, const struct nl_member *m)
{
	uint32_t all = g->shards < 32 ? (1U << g->shards) - 1 : ~0U;
	char ports[256], text[512], why[128];

	if (m->state != GAGG_MS_BLOCKED)
		return;
	if (!m->blocked_in && !m->blocked_out) {
		print_str("blocked", ": ",
			  "chunks do not pass between it and another host: see member list there",
			  "");
		return;
	}
	member_name_ports(g, m->blocked_in | m->blocked_out, ports, sizeof(ports));
	if ((m->blocked_in | m->blocked_out) == all)
		snprintf(why, sizeof(why),
			 "the path's MTU is less than %u, or a firewall is in the way",
			 g->mtu_needed);
	else
		snprintf(why, sizeof(why), "is a firewall in the way?");
	snprintf(text, sizeof(text), "it is heard, but chunks do not pass %s on %s: %s",
		 !m->blocked_out ? "from it to this host" :
		 !m->blocked_in ? "from this host to it" : "between it and this host",
		 ports, why);
	print_str("blocked", ": ", text, "");
}

static int member_list_one(const struct nl_member *m, void *arg)
{
	print_object(NULL);
	member_print(m);
	member_print_blocked(arg, m);
	print_text("\n");
	print_close();
	return 0;
}

enum ctl_exit member_each(struct args *a, const char *how, nl_member_cb print)
{
	char name[GAGG_NAME_MAX];
	struct nl_group g;
	struct nl *nl;
	int err;

	if (ctl_help(a, how))
		return CTL_OK;
	if (!args_group(a, name) || !args_end(a))
		return CTL_USAGE;
	nl = ctl_open();
	if (!nl)
		return CTL_FAILED;
	print_array(NULL);
	err = nl_group_get(nl, name, &g);
	if (!err)
		err = nl_member_dump(nl, name, print, &g);
	print_close();
	return ctl_close(nl, err);
}

static enum ctl_exit member_list(struct args *a)
{
	return member_each(a, usage, member_list_one);
}

enum ctl_exit member_command(struct args *a)
{
	static const struct command table[] = {
		{ "add", member_add },
		{ "delete", member_delete },
		{ "set", member_set },
		{ "list", member_list },
		{ NULL, NULL },
	};

	return ctl_dispatch(a, table, usage);
}
