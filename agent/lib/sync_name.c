// SPDX-License-Identifier: LGPL-2.1-only OR MIT
#include <stdio.h>

#include "sync_name.h"

const struct sync_mode sync_modes[] = {
	{
		.number = GAGG_SYNC_BSP, .name = "bsp",
		.about = "bulk-synchronous rounds: collectives, complete when all have contributed",
	},
	{
		.number = GAGG_SYNC_ASP, .name = "asp",
		.about = "asynchronous store: nobody waits, staleness has no bound",
	},
	{
		.number = GAGG_SYNC_SSP, .name = "ssp", .example = "ssp:4",
		.about = "stale-synchronous store: no reader is more than S clocks ahead of the slowest",
		.arg = { { .name = "S", .unit = "clocks" } },
	},
	{
		.number = GAGG_SYNC_DSSP, .name = "dssp", .example = "dssp:3:15",
		.about = "ssp:L, and the fastest may run on to U where it then waits less",
		.together = "U must be L at least, and 1024 clocks above it at most",
		.arg = { { .name = "L", .unit = "clocks" }, { .name = "U", .unit = "clocks" } },
	},
	{
		.number = GAGG_SYNC_DSSP_LITERAL, .name = "dssp-literal",
		.example = "dssp-literal:3:15",
		.about = "dssp as printed: the upper bound does not hold",
		.together = "U must be L at least, and 1024 clocks above it at most",
		.arg = { { .name = "L", .unit = "clocks" }, { .name = "U", .unit = "clocks" } },
	},
	{
		.number = GAGG_SYNC_R2SP, .name = "r2sp", .example = "r2sp:80:5000",
		.about = "workers take turns, G % of an even share apart, K updates at a time; one that is P ms late is passed over",
		.optional = 1,
		.arg = {
			{ .name = "G", .unit = "% of an even share" },
			{ .name = "P", .unit = "ms (0: no end)" },
			{ .name = "K", .unit = "updates (0: one more than there are homes)" },
		},
	},
	{
		.number = GAGG_SYNC_BSP_QUORUM, .name = "bsp-quorum", .example = "bsp-quorum:3:1",
		.about = "rounds of all-reduces are complete with K contributions; CARRY 1: late ones count in the next call of their plan, 0: not at all",
		.arg = { { .name = "K", .unit = "ranks" }, { .name = "CARRY" } },
	},
	{
		.number = GAGG_SYNC_BSP_DEADLINE, .name = "bsp-deadline",
		.example = "bsp-deadline:2:50:1",
		.about = "the same, with all contributions, or MS milliseconds after the first with K at least",
		.arg = {
			{ .name = "K", .unit = "ranks" },
			{ .name = "MS", .unit = "milliseconds" },
			{ .name = "CARRY" },
		},
	},
	{
		.number = GAGG_SYNC_BSP_ADAPTIVE, .name = "bsp-adaptive",
		.example = "bsp-adaptive:2:4:1",
		.about = "the same, with a deadline of the median of recent delays plus M times their median absolute deviation",
		.arg = { { .name = "K", .unit = "ranks" }, { .name = "M" }, { .name = "CARRY" } },
	},
	{
		.number = GAGG_SYNC_AKO, .name = "ako", .example = "ako:4:2",
		.about = "replicas everywhere: each clock one of P partitions to each other rank, S clocks late at most",
		.arg = { { .name = "P", .unit = "partitions" }, { .name = "S", .unit = "clocks" } },
	},
	{
		.number = GAGG_SYNC_GOSSIP_PULL, .name = "gossip-pull", .example = "gossip-pull:4",
		.about = "replicas: every TAU steps a rank takes the mean of its own and a random other's",
		.arg = { { .name = "TAU", .unit = "steps" } },
	},
	{
		.number = GAGG_SYNC_GOSSIP_PUSH, .name = "gossip-push",
		.example = "gossip-push:4:2",
		.about = "replicas: every TAU steps a rank sends its own to a random other, which takes the mean",
		.arg = { { .name = "TAU", .unit = "steps" }, { .name = "S", .unit = "exchanges" } },
	},
	{
		.number = GAGG_SYNC_GOSSIP_PAIR, .name = "gossip-pair", .example = "gossip-pair:4",
		.about = "replicas: every TAU steps random pairs of ranks take the mean of both",
		.arg = { { .name = "TAU", .unit = "steps" } },
	},
	{
		.number = GAGG_SYNC_PUSH_SUM, .name = "push-sum", .example = "push-sum:4",
		.about = "replicas: every TAU steps a rank sends half of its own, and of its weight, to a random other",
		.arg = { { .name = "TAU", .unit = "steps" } },
	},
	{
		.number = GAGG_SYNC_EASGD, .name = "easgd", .example = "easgd:4:20",
		.about = "replicas: every TAU steps each gives a common centre ALPHA percent of its distance to it, at least 0.0016, waiting for nobody",
		.together = "ALPHA of easgd:TAU:ALPHA must be from 0.0016 to 100 percent, with at most 4 decimals",
		.arg = {
			{ .name = "TAU", .unit = "steps" },
			{ .name = "ALPHA", .unit = "percent", .decimals = true },
		},
	},

	/* algorithms over rounds */
	{
		.number = GAGG_SYNC_LOCALSGD, .name = "localsgd", .example = "localsgd:8",
		.about = "replicas: each trains alone, every TAU steps they take the mean of all",
		.arg = { { .name = "TAU", .unit = "steps", .min = 1, .max = 1000000 } },
	},
	{
		.number = GAGG_SYNC_EASGD_SYNC, .name = "easgd-sync", .example = "easgd-sync:10:90",
		.about = "replicas: every TAU steps each of n gives a common centre BETA/n percent of its distance to it",
		.arg = {
			{ .name = "TAU", .unit = "steps", .min = 1, .max = 1000000 },
			{ .name = "BETA", .unit = "percent", .min = 1, .max = 100 },
		},
	},
	{
		.number = GAGG_SYNC_HPSGD, .name = "hpsgd", .example = "hpsgd:8",
		.about = "replicas: an all-reduce is always under way, during at most S local steps",
		.arg = { { .name = "S", .unit = "steps", .min = 1, .max = 1000000 } },
	},
	{ .name = NULL },
};

const struct sync_mode *sync_mode_find(uint32_t number)
{
	const struct sync_mode *m;

	for (m = sync_modes; m->name; m++)
		if (m->number == number)
			return m;
	return NULL;
}

uint32_t sync_mode_args(const struct sync_mode *mode)
{
	uint32_t n = 0;

	while (n < GAGG_SYNC_ARGS && mode->arg[n].name)
		n++;
	return n;
}

const char *sync_mode_form(const struct sync_mode *mode, char text[SYNC_NAME_MAX])
{
	uint32_t n = sync_mode_args(mode), i;
	int at = snprintf(text, SYNC_NAME_MAX, "%s", mode->name);

	for (i = 0; i < n; i++)
		at += snprintf(text + at, SYNC_NAME_MAX - (size_t)at,
			       i < n - mode->optional ? ":%s" : "[:%s]", mode->arg[i].name);
	return text;
}

static int sync_name_of(uint32_t number, char text[SYNC_NAME_MAX])
{
	const struct sync_mode *m = sync_mode_find(number);

	if (m)
		return snprintf(text, SYNC_NAME_MAX, "%s", m->name);
	if (sync_is_algorithm(number))
		return snprintf(text, SYNC_NAME_MAX, "rounds-0x%x", number);
	return snprintf(text, SYNC_NAME_MAX, "mode %u", number);
}

/* the decimals of a parameter, @n GAGG_SYNC_DECIMALS-ths of its unit, as far as they tell */
static int sync_name_decimals(uint32_t n, char *text, size_t size)
{
	int at = n ? snprintf(text, size, ".%04u", n) : 0;

	while (at && text[at - 1] == '0')
		text[--at] = 0;
	return at;
}

/* with @n parameters, or more if there are more to tell */
static const char *sync_name_print(const struct gagg_sync_param *p, uint32_t n,
				   char text[SYNC_NAME_MAX])
{
	const struct sync_mode *m = sync_mode_find(p->mode);
	int at = sync_name_of(p->mode, text);
	uint32_t i;

	if (m && n < sync_mode_args(m) - m->optional)
		n = sync_mode_args(m) - m->optional;
	for (i = n; i < GAGG_SYNC_ARGS; i++)
		if (p->arg[i])
			n = i + 1;
	for (i = 0; i < n; i++) {
		at += snprintf(text + at, SYNC_NAME_MAX - (size_t)at, ":%u", p->arg[i]);
		if (m && m->arg[i].decimals) {
			i++;
			at += sync_name_decimals(p->arg[i], text + at, SYNC_NAME_MAX - (size_t)at);
		}
	}
	return text;
}

const char *sync_print(const struct gagg_sync_param *p, char text[SYNC_NAME_MAX])
{
	return sync_name_print(p, 0, text);
}

const char *sync_name(uint32_t digest, char text[SYNC_NAME_MAX])
{
	uint32_t n = GAGG_DG_SYNC_ARGS(digest), bits = GAGG_DG_SYNC_BITS(n), i;
	struct gagg_sync_param p = { .mode = GAGG_DG_SYNC_MODE(digest) };
	int at;

	if (digest & GAGG_DG_SYNC_HASHED) {
		at = sync_name_of(p.mode, text);
		snprintf(text + at, SYNC_NAME_MAX - (size_t)at, ":#%x",
			 digest & (GAGG_DG_SYNC_HASHED - 1));
		return text;
	}
	for (i = 0; i < n; i++)
		p.arg[i] = digest >> (n - 1 - i) * bits & ((1U << bits) - 1);
	return sync_name_print(&p, n, text);
}
