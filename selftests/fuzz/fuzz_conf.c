// SPDX-License-Identifier: GPL-2.0
/* links: agent/conf/config.c agent/conf/parse.c agent/conf/roster.c agent/conf/ring.c agent/conf/value.c agent/nl/names.c kmod/core/geom.c kmod/core/group/param.c kmod/core/group/roster.c kmod/core/group/fit.c sync; libs: libconfuse */
/*
 * The configuration file. The input is its text. What holds:
 *	- a file that is refused is so for reasons, each on a line that begins with
 *	  "f:N: ", of which those that fit are told
 *	- what is read is within the limits that are told when something is not
 *	- read a second time it is the same; so it is when it was written down again
 */
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdbool.h>

#include "agent/conf/config.h"
#include "agent/conf/sync_text.h"
#include "fuzz.h"

/* no files of this host: they would be the slowest part */
struct passwd *getpwnam(const char *name)
{
	static struct passwd root = { .pw_name = "root" };

	return strcmp(name, "root") ? NULL : &root;
}

struct group *getgrnam(const char *name)
{
	static struct group root = { .gr_name = "root" };

	return strcmp(name, "root") ? NULL : &root;
}

static void check_complaints(const char *err, size_t room)
{
	const char *line = err, *end = memchr(err, 0, room);
	int digits;

	fuzz_assert(end);
	while (*line) {
		fuzz_assert(!strncmp(line, "f:", 2));
		digits = (int)strspn(line + 2, "0123456789");
		fuzz_assert(digits && !strncmp(line + 2 + digits, ": ", 2));
		line += strcspn(line, "\n");
		if (*line)
			fuzz_assert(*++line);	/* no newline at the end */
	}
}

static void check_member(const struct nl_group *g, uint32_t i)
{
	const struct nl_member *m = &g->members[i];
	uint32_t k;

	fuzz_assert(m->rank < GAGG_RANKS_MAX);
	fuzz_assert(m->addr.family == AF_INET || m->addr.family == AF_INET6);
	fuzz_assert(m->addr.family == g->members[0].addr.family);
	fuzz_assert(m->roles && !(m->roles & ~(GAGG_ROLE_WORKER | GAGG_ROLE_AGGREGATOR)));
	for (k = 0; k < i; k++)
		fuzz_assert(g->members[k].rank != m->rank);
}

static void check_group(const struct config *cfg, const struct nl_group *g)
{
	const struct nl_group *other;
	uint32_t i;

	fuzz_assert(*g->name && memchr(g->name, 0, sizeof(g->name)));
	/* or auto */
	fuzz_assert(!g->lanes || (g->lanes >= 8 && g->lanes <= 2240 && g->lanes % 8 == 0));
	fuzz_assert(g->window >= 64 && g->window <= 16384 && !(g->window & (g->window - 1)));
	fuzz_assert(g->ring && g->ring % g->window == 0);
	fuzz_assert(g->stripe >= 1 && g->stripe <= 64);
	fuzz_assert(g->shards >= 1 && g->shards <= 16);
	fuzz_assert(g->port >= 1 && g->port + g->shards <= 65536);
	fuzz_assert(g->channels >= 1 && g->channels <= 64);
	fuzz_assert(g->cwnd >= 4 && g->cwnd <= 448);
	fuzz_assert(g->dead_after >= 100 && g->dead_after <= 600000);
	fuzz_assert(!(g->mode & ~0666U) && g->uid != UINT32_MAX && g->gid != UINT32_MAX);
	fuzz_assert(!gagg_sync_check(&g->sync));
	fuzz_assert(g->lane_type == GAGG_LANE_TYPE_INT32 || gagg_sync_get(g->sync.mode)->store);
	fuzz_assert(g->wire == GAGG_WIRE_INT32 || gagg_sync_get(g->sync.mode)->narrow);
	fuzz_assert(g->lane_type <= GAGG_LANE_TYPE_INT64 && g->wire <= GAGG_WIRE_INT8);
	if (g->multicast.family) {
		fuzz_assert(!gagg_sync_get(g->sync.mode)->store);
		fuzz_assert(g->multicast.family == g->members[0].addr.family);
	}
	fuzz_assert(g->n_members >= 1 && g->n_members <= GAGG_RANKS_MAX);
	for (i = 0; i < g->n_members; i++)
		check_member(g, i);
	for (other = cfg->groups; other < g; other++) {
		fuzz_assert(strcmp(other->name, g->name));
		if (g->set & other->set & NL_SET(GAGG_GA_ID))
			fuzz_assert(other->id && other->id != g->id);
	}
}

static void print_ip(FILE *f, const char *what, const struct nl_ip *ip)
{
	char text[NL_IP_MAX];

	fprintf(f, "%s = \"%s\"\n", what,
		inet_ntop(ip->family, ip->addr, text, sizeof(text)) ? text : "?");
}

static void print_group(FILE *f, const struct nl_group *g)
{
	const struct gagg_param *field;
	char sync[SYNC_NAME_MAX];
	uint32_t i;

	fprintf(f, "group %s {\n", g->name);
	nl_for_each_field(field) {
		uint32_t v = nl_field_read(g, field);

		if (!(g->set & NL_SET(field->attr)))
			continue;
		if (nl_field_word(field, v))
			fprintf(f, "%s = %s\n", field->name, nl_field_word(field, v));
		else
			fprintf(f, field->attr == GAGG_GA_MODE ? "%s = %04o\n" : "%s = %u\n",
				field->name, v);
	}
	fprintf(f, "sync = \"%s\"\n", sync_print(&g->sync, sync));
	if (g->multicast.family)
		print_ip(f, "multicast", &g->multicast);
	for (i = 0; i < g->n_members; i++) {
		const struct nl_member *m = &g->members[i];

		fprintf(f, "member %u {\nrole = %s\n", m->rank,
			nl_roles_name(m->roles));
		print_ip(f, "address", &m->addr);
		fprintf(f, "}\n");
	}
	fprintf(f, "}\n");
}

static char *print_config(const struct config *cfg)
{
	char *text = NULL;
	unsigned int i;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		exit(0);
	if (cfg->local.family)
		print_ip(f, "local", &cfg->local);
	for (i = 0; i < cfg->n_groups; i++)
		print_group(f, &cfg->groups[i]);
	fclose(f);
	return text;
}

static void check_same(const struct config *a, const struct config *b, const char *how)
{
	if (a->n_groups != b->n_groups || memcmp(&a->local, &b->local, sizeof(a->local)) ||
	    (a->n_groups && memcmp(a->groups, b->groups, a->n_groups * sizeof(*a->groups))))
		fuzz_fail("%s is something else", how);
}

static void check_config(const char *text, const struct config *cfg)
{
	struct config again = { .n_groups = 0 };
	char err[1024], *written;
	unsigned int i;

	for (i = 0; i < cfg->n_groups; i++)
		check_group(cfg, &cfg->groups[i]);
	fuzz_assert(!config_parse(text, "f", &again, err, sizeof(err)));
	check_same(cfg, &again, "the same text");
	config_free(&again);
	written = print_config(cfg);
	if (config_parse(written, "f", &again, err, sizeof(err)))
		fuzz_fail("written down it is refused: %s\n%s", err, written);
	check_same(cfg, &again, "what was written down");
	config_free(&again);
	free(written);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* sometimes hardly any of the complaints fits */
	size_t room = size % 8 ? 4096 : 1 + size % 120;
	struct config cfg = { .n_groups = 0 };
	char *text = malloc(size + 1), *err = malloc(room);
	int ret;

	if (!text || !err)
		exit(0);
	if (size)
		memcpy(text, data, size);
	text[size] = 0;
	/* config_load() refuses others */
	if (strlen(text) == size) {
		ret = config_parse(text, "f", &cfg, err, room);
		if (ret) {
			fuzz_assert(ret == -EINVAL);
			fuzz_assert(room < 4096 || *err);
			check_complaints(err, room);
		} else {
			fuzz_assert(!*err);
			check_config(text, &cfg);
			config_free(&cfg);
		}
	}
	free(text);
	free(err);
	return 0;
}
