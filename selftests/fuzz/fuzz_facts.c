// SPDX-License-Identifier: GPL-2.0
/* links: agent/nl/codec.c agent/nl/events.c agent/nl/extack.c agent/nl/names.c agent/lib/sync_name.c kmod/core/group/param.c agent/nl/nl.c agent/nl/request.c agent/nl/twin.c agent/lib/message.c; libs: libnl-3.0 libnl-genl-3.0 */
/*
 * What a process that listens at the path of a gagg-twin may answer. The input is an answer. What
 * holds:
 *	- nothing beyond it is read
 *	- what is said of it, and what is taken from it, ends and can be printed
 *	- a group that is taken can be told again, and is the same
 */
#include <errno.h>
#include <stdbool.h>

#include "agent/lib/sync_name.h"
#include "agent/nl/codec.h"
#include "agent/nl/twin.h"
#include "fuzz.h"

static void check_text(const char *text, size_t room)
{
	const char *end = memchr(text, 0, room);

	fuzz_assert(end);
	for (; text < end; text++)
		fuzz_assert(*text >= ' ' && *text < 0x7f);
}

/* attributes that are no fields, and are not told again */
static bool is_same_member(const struct nl_member *a, const struct nl_member *b)
{
	uint32_t told = a->set & ~NL_SET(GAGG_MA_MEMBER) & ~NL_SET(0);

	return (b->set & told) == b->set && a->rank == b->rank && a->state == b->state &&
	       !strcmp(a->mismatch, b->mismatch) && a->times.ops == b->times.ops;
}

static void check_again(const struct nl_group *g)
{
	static uint64_t buf[NL_MESSAGE_MAX / sizeof(uint64_t)];
	struct nl_group again;
	uint32_t i;

	/* each member has a rank; one without anything that is told would be no nest to libnl */
	for (i = 0; i < g->n_members; i++)
		if (!(g->members[i].set & NL_SET(GAGG_MA_RANK)))
			return;
	if (nl_write_group(buf, sizeof(buf), g) < 0)
		return;
	if (nl_write_group(buf, sizeof(buf), g) < 0)
		return;
	fuzz_assert(!nl_parse_group((struct nlmsghdr *)buf, &again));
	fuzz_assert(!strcmp(g->name, again.name) && !strcmp(g->mismatch, again.mismatch));
	fuzz_assert(g->epoch == again.epoch && g->n_members == again.n_members);
	for (i = 0; i < g->n_members; i++)
		fuzz_assert(is_same_member(&g->members[i], &again.members[i]));
}

static void check_group(struct nlmsghdr *hdr)
{
	char sync[SYNC_NAME_MAX];
	struct nl_group g;
	uint32_t i;

	if (nl_parse_group(hdr, &g))
		return;
	check_text(g.name, sizeof(g.name));
	check_text(sync_print(&g.sync, sync), sizeof(sync));
	check_text(g.mismatch, sizeof(g.mismatch));
	fuzz_assert(g.n_members <= GAGG_RANKS_MAX);
	for (i = 0; i < g.n_members; i++)
		check_text(g.members[i].mismatch, sizeof(g.members[i].mismatch));
	check_again(&g);
}

static void check_more(const void *more, size_t n)
{
	struct nlmsghdr *hdr = twin_message(more, n);
	uint64_t values[NL_STATS];
	struct nl_twin twin;

	if (!twin_hello(more, n, &twin)) {
		check_text(twin.version, sizeof(twin.version));
		check_text(twin.config, sizeof(twin.config));
	}
	if (!hdr)
		return;
	check_group(hdr);
	nl_parse_stats(hdr, values);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* as long as it is: a byte too far is found */
	void *buf = malloc(size);
	struct broker_reply reply;
	const void *more;
	size_t n;
	int err;

	if (!buf)
		return 0;
	memcpy(buf, data, size);
	err = twin_answer(buf, size, &reply, &more, &n);
	if (!err) {
		fuzz_assert(n == size - sizeof(reply));
		check_more(more, n);
	} else if (size >= sizeof(reply)) {
		fuzz_assert(err == -EBADMSG || reply.error == -err);
		if (reply.error)
			check_text(reply.message, sizeof(reply.message));
	}
	free(buf);
	return 0;
}
