// SPDX-License-Identifier: GPL-2.0
/*
 * The grammar of the configuration file, by libconfuse.
 *
 * All options are strings to libconfuse, so that every complaint about a value
 * is ours and names file, line, thing and what is allowed. Values are taken
 * in the validation callbacks, because only there the line is known; they
 * return success even for a bad value, so that the next bad line is found too.
 */
#define _GNU_SOURCE 1
#include <confuse.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parse.h"
#include "group/name.h"
#include "ring.h"
#include "roster.h"
#include "sync_text.h"
#include "value.h"
#include "../../kmod/core/group/fit.h"

/*
 * Stands after the text. libconfuse closes open sections at the end of the
 * file and takes it for complete; a file cut short would then delete members.
 * Inside a section this is no option, and inside a comment it is not seen.
 */
#define SENTINEL	"end-of-file"

/*
 * The file being parsed. Sections of one kind do not nest and end in order,
 * so the group and the member under construction are one each.
 */
static struct parse {
	const char *path;
	char *err;
	size_t errlen, errused;
	bool bad, failed;
	bool ended;			/* the sentinel was seen */
	bool newline;			/* a newline was added before it */
	struct config cfg;
	struct nl_group group;
	struct ring_size ring;		/* of the group */
	int group_lines[GAGG_GA_MAX + 1];	/* 0: not in the file */
	struct nl_member member;
	int member_lines[GAGG_MA_MAX + 1];
	int local_line;
} *parse;

static void parse_complain(int line, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void parse_complain(int line, const char *fmt, ...)
{
	struct parse *p = parse;
	char text[512];
	va_list ap;
	size_t len;
	int n;

	p->bad = true;
	n = snprintf(text, sizeof(text), "%s:%d: ", p->path, line);
	if (n >= 0 && (size_t)n < sizeof(text)) {
		va_start(ap, fmt);
		vsnprintf(text + n, sizeof(text) - n, fmt, ap);
		va_end(ap);
	}
	len = strlen(text);
	if (p->errused + !!p->errused + len >= p->errlen)
		return;
	if (p->errused)
		p->err[p->errused++] = '\n';
	memcpy(p->err + p->errused, text, len + 1);
	p->errused += len;
}

/* 'group "a": ' or 'member 0: ' */
static const char *parse_section(cfg_t *cfg, char buf[80])
{
	char quoted[48];

	snprintf(buf, 80, "%s \"%s\"", cfg_name(cfg),
		 value_quote(cfg_title(cfg) ? cfg_title(cfg) : "", quoted));
	return buf;
}

/* false: the option was there before */
static bool parse_first_time(cfg_t *cfg, cfg_opt_t *opt, int *line)
{
	char where[80];

	if (*line) {
		parse_complain(cfg->line, "%s: %s is set in line %d already",
			       parse_section(cfg, where), cfg_opt_name(opt), *line);
		return false;
	}
	*line = cfg->line;
	return true;
}

static bool parse_take(cfg_t *cfg, cfg_opt_t *opt, const struct gagg_param *p,
		       int *line, uint32_t *out)
{
	const char *text = cfg_opt_getnstr(opt, 0);
	char allowed[128], where[80], quoted[48];

	if (!parse_first_time(cfg, opt, line))
		return false;
	if (value_parse(p, text, out, allowed, sizeof(allowed)))
		return true;
	parse_complain(cfg->line, "%s: %s = \"%s\": allowed is %s",
		       parse_section(cfg, where), p->name, value_quote(text, quoted),
		       allowed);
	return false;
}

static void parse_take_param(const struct gagg_param *p, const char *text, uint32_t v)
{
	struct nl_group *g = &parse->group;

	if (p->bits)
		nl_field_write(g, p, v);
	if (p->kind == GAGG_PARAM_SYNC)
		sync_text_parse(text, &g->sync, NULL, 0);
	else if (p->kind == GAGG_PARAM_MULTICAST)
		nl_multicast_parse(text, &g->multicast);
	else if (p->kind == GAGG_PARAM_SIZE)
		ring_parse(text, &parse->ring);
}

static int parse_on_group_option(cfg_t *cfg, cfg_opt_t *opt)
{
	const struct gagg_param *p;
	uint32_t v = 0;

	for (p = gagg_param_table; p->name; p++)
		if (!strcmp(cfg_opt_name(opt), p->name) &&
		    parse_take(cfg, opt, p, &parse->group_lines[p->attr], &v))
			parse_take_param(p, cfg_opt_getnstr(opt, 0), v);
	return 0;
}

static int parse_on_role(cfg_t *cfg, cfg_opt_t *opt)
{
	parse_take(cfg, opt, &nl_role, &parse->member_lines[GAGG_MA_ROLES],
		   &parse->member.roles);
	return 0;
}

static bool parse_take_ip(cfg_t *cfg, const char *what, const char *text,
			  struct nl_ip *out)
{
	char quoted[48];

	if (nl_ip_parse(text, out) && gagg_addr_is_host(out->addr, nl_ip_len(out)))
		return true;
	parse_complain(cfg->line,
		       "%s = \"%s\": allowed is the IPv4 or IPv6 address of a host, not a link-local one",
		       what, value_quote(text, quoted));
	return false;
}

static int parse_on_address(cfg_t *cfg, cfg_opt_t *opt)
{
	char what[96], where[80];

	if (!parse_first_time(cfg, opt, &parse->member_lines[GAGG_MA_ADDRESS]))
		return 0;
	snprintf(what, sizeof(what), "%s: address", parse_section(cfg, where));
	parse_take_ip(cfg, what, cfg_opt_getnstr(opt, 0), &parse->member.addr);
	return 0;
}

static int parse_on_local(cfg_t *cfg, cfg_opt_t *opt)
{
	struct parse *p = parse;

	if (p->local_line)
		parse_complain(cfg->line, "local is set in line %d already",
			       p->local_line);
	p->local_line = cfg->line;
	parse_take_ip(cfg, "local", cfg_opt_getnstr(opt, 0), &p->cfg.local);
	return 0;
}

static void parse_member_begin(void)
{
	memset(parse->member_lines, 0, sizeof(parse->member_lines));
	parse->member = (struct nl_member) {
		.set = NL_SET(GAGG_MA_RANK) | NL_SET(GAGG_MA_ADDRESS) |
		       NL_SET(GAGG_MA_ROLES),
		.roles = nl_role.fallback,
	};
}

static int parse_on_member_end(cfg_t *cfg, cfg_opt_t *opt)
{
	cfg_t *sec = cfg_opt_getnsec(opt, cfg_opt_size(opt) - 1);
	struct nl_group *g = &parse->group;
	struct nl_member *m = &parse->member;
	char where[80];

	parse_section(sec, where);
	if (!value_number(cfg_title(sec), &m->rank) ||
	    m->rank >= GAGG_RANKS_MAX) {
		parse_complain(cfg->line, "%s, which ends here: a rank is a number from 0 to %d",
			       where, GAGG_RANKS_MAX - 1);
		goto next;
	}
	if (!parse->member_lines[GAGG_MA_ADDRESS])
		parse_complain(cfg->line, "%s, which ends here, has no address", where);
	/* libconfuse compares titles; 0 and 00 are one rank */
	for (unsigned int i = 0; i < g->n_members; i++) {
		if (g->members[i].rank == m->rank) {
			parse_complain(cfg->line, "%s, which ends here: rank %u is there already",
				       where, m->rank);
			goto next;
		}
	}
	/* ranks are distinct and below GAGG_RANKS_MAX: there is room */
	g->members[g->n_members++] = *m;
next:
	parse_member_begin();
	return 0;
}

static void parse_group_begin(void)
{
	struct nl_group *g = &parse->group;
	const struct gagg_param *p;

	memset(parse->group_lines, 0, sizeof(parse->group_lines));
	memset(&parse->ring, 0, sizeof(parse->ring));
	memset(g, 0, sizeof(*g));
	nl_for_each_field(p)
		if (p->attr != GAGG_GA_ID)
			nl_field_write(g, p, p->fallback);
	g->set |= NL_SET(GAGG_GA_SYNC) | NL_SET(GAGG_GA_MULTICAST);
	parse_member_begin();
}

/* Line of an option of the group, or of its end when the file has it not. */
static int parse_line_of(cfg_t *cfg, uint16_t attr)
{
	return parse->group_lines[attr] ? parse->group_lines[attr] : cfg->line;
}

/* lanes and window may stand behind it */
static void parse_take_ring(cfg_t *cfg, const char *where)
{
	struct nl_group *g = &parse->group;
	uint64_t bytes = parse->ring.bytes;
	uint32_t lanes = nl_group_lanes(g), most = nl_field_find("ring")->max;

	if (!bytes || (ring_chunks(bytes, lanes, g->window, &g->ring) && g->ring <= most))
		return;
	parse_complain(parse_line_of(cfg, GAGG_GA_RING),
		       "%s: ring = %llu bytes: of %u lanes these are more chunks than are allowed, %u",
		       where, (unsigned long long)bytes, lanes, most);
	g->ring = most;
}

/* the value of an option, as people write it */
static const char *parse_value(const struct nl_group *g, const struct gagg_param *p,
			       char buf[SYNC_NAME_MAX])
{
	_Static_assert(NL_IP_MAX <= SYNC_NAME_MAX, "an address has room");
	uint32_t v;

	if (p->kind == GAGG_PARAM_SYNC)
		return sync_print(&g->sync, buf);
	if (p->kind == GAGG_PARAM_MULTICAST)
		return nl_multicast_format(&g->multicast, buf);
	v = nl_field_read(g, p);
	if (nl_field_word(p, v))
		return nl_field_word(p, v);
	snprintf(buf, SYNC_NAME_MAX, "%u", v);
	return buf;
}

/* where the option is set; or where the group ends, if it is not, or is the members' fault */
static void parse_say_misfit(cfg_t *cfg, const char *where, const struct gagg_misfit *bad)
{
	const struct gagg_param *p = gagg_param_table;
	char value[SYNC_NAME_MAX], number[64] = "";

	if (bad->noun)
		snprintf(number, sizeof(number), " (%s: %u)", bad->noun, bad->number);
	while (p->name && p->attr != bad->attr)
		p++;
	if (p->name)
		parse_complain(parse_line_of(cfg, p->attr), "%s: %s = %s: %s%s", where, p->name,
			       parse_value(&parse->group, p, value), bad->why, number);
	else
		parse_complain(cfg->line, "%s, which ends here: %s%s", where, bad->why, number);
}

/*
 * What a mode is given that is wrong with it alone was said where it is set, and nothing of it was
 * taken.
 */
static void parse_check_sync(cfg_t *cfg, const char *where, const struct gagg_roster *roster)
{
	const struct gagg_sync_param *sync = &parse->group.sync;
	char text[SYNC_NAME_MAX];
	const char *wrong;
	u32 workers;

	wrong = gagg_fit_workers(sync, roster, &workers);
	if (wrong)
		parse_complain(parse_line_of(cfg, GAGG_GA_SYNC),
			       "%s: sync = %s: %s (there are %u)", where, sync_print(sync, text),
			       wrong, workers);
}

static void parse_check_fit(cfg_t *cfg, const char *where)
{
	const struct nl_group *g = &parse->group;
	struct gagg_roster roster;
	struct gagg_fit fit = { .v = &g->param, .sync = &g->sync, .roster = &roster };
	struct gagg_misfit bad;

	roster_of(g, &roster);
	parse_check_sync(cfg, where, &roster);
	while (gagg_fit_next(&fit, &bad))
		parse_say_misfit(cfg, where, &bad);
}

static void parse_check_members(cfg_t *cfg, const char *where)
{
	const struct nl_group *g = &parse->group;
	uint32_t roles = 0;

	for (unsigned int i = 0; i < g->n_members; i++)
		roles |= g->members[i].roles;
	if (!g->n_members)
		parse_complain(cfg->line, "%s, which ends here, has no member", where);
	else if (!(roles & GAGG_ROLE_WORKER))
		parse_complain(cfg->line, "%s, which ends here, has no worker", where);
	else if (!(roles & GAGG_ROLE_AGGREGATOR))
		parse_complain(cfg->line, "%s, which ends here, has no aggregator", where);
}

static int parse_on_group_end(cfg_t *cfg, cfg_opt_t *opt)
{
	cfg_t *sec = cfg_opt_getnsec(opt, cfg_opt_size(opt) - 1);
	struct config *c = &parse->cfg;
	struct nl_group *g = &parse->group;
	const char *name = cfg_title(sec);
	struct nl_group *groups;
	char where[80];

	parse_section(sec, where);
	if (!gagg_name_fits(name, sizeof(g->name)))
		parse_complain(cfg->line, "%s, which ends here: a name is 1 to %zu of A-Z a-z 0-9 . _ -",
			       where, sizeof(g->name) - 1);
	else
		strcpy(g->name, name);
	parse_take_ring(cfg, where);
	parse_check_members(cfg, where);
	parse_check_fit(cfg, where);
	for (unsigned int i = 0; i < c->n_groups; i++)
		if (g->set & c->groups[i].set & NL_SET(GAGG_GA_ID) &&
		    g->id == c->groups[i].id)
			parse_complain(parse_line_of(cfg, GAGG_GA_ID), "%s: id = %u is that of group \"%s\"",
				       where, g->id, c->groups[i].name);

	groups = realloc(c->groups, (c->n_groups + 1) * sizeof(*groups));
	if (groups) {
		c->groups = groups;
		c->groups[c->n_groups++] = *g;
	} else {
		parse->failed = true;
	}
	parse_group_begin();
	return 0;
}

static int parse_on_end(cfg_t *cfg, cfg_opt_t *opt)
{
	(void)cfg;
	(void)opt;
	parse->ended = true;
	return 0;
}

/* What libconfuse itself finds; it stops there. */
static void parse_on_error(cfg_t *cfg, const char *fmt, va_list ap)
{
	char text[256], quoted[48], allowed[256] = "", where[84] = "";
	size_t used = 0;

	vsnprintf(text, sizeof(text), fmt, ap);
	for (char *c = text; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
	if (cfg_title(cfg))
		snprintf(where, sizeof(where), "%s \"%s\": ", cfg_name(cfg),
			 value_quote(cfg_title(cfg), quoted));
	if (strstr(text, "'" SENTINEL "'")) {
		parse_complain(cfg->line - parse->newline,
			       "%sthe file ends before the section does: a } is missing",
			       where);
		return;
	}
	if (!strncmp(text, "no such option", 14)) {
		for (unsigned int i = 0; i < cfg_num(cfg); i++) {
			const char *name = cfg_opt_name(cfg_getnopt(cfg, i));

			if (strcmp(name, SENTINEL) && used < sizeof(allowed))
				used += snprintf(allowed + used,
						 sizeof(allowed) - used, "%s%s",
						 used ? ", " : "; allowed: ",
						 name);
		}
	}
	parse_complain(cfg->line, "%s%s%s", where, text, allowed);
}

static int parse_text(const char *text)
{
	cfg_opt_t member_opts[] = {
		CFG_STR("address", NULL, CFGF_NODEFAULT),
		CFG_STR("role", NULL, CFGF_NODEFAULT),
		CFG_END(),
	};
	cfg_opt_t group_opts[GAGG_GA_MAX + 2] = { 0 };
	cfg_opt_t root_opts[] = {
		CFG_STR("local", NULL, CFGF_NODEFAULT),
		CFG_SEC("group", group_opts,
			CFGF_MULTI | CFGF_TITLE | CFGF_NO_TITLE_DUPES),
		CFG_STR(SENTINEL, NULL, CFGF_NODEFAULT),
		CFG_END(),
	};
	const struct gagg_param *p;
	size_t n = 0;
	char path[64];
	cfg_t *cfg;
	int ret;

	/* there is room: each has an attribute of its own, and one is not a parameter */
	for (p = gagg_param_table; p->name; p++)
		group_opts[n++] = (cfg_opt_t)CFG_STR(p->name, NULL, CFGF_NODEFAULT);
	group_opts[n] = (cfg_opt_t)CFG_SEC("member", member_opts,
					   CFGF_MULTI | CFGF_TITLE |
						   CFGF_NO_TITLE_DUPES);
	group_opts[n + 1] = (cfg_opt_t)CFG_END();

	cfg = cfg_init(root_opts, CFGF_NONE);
	if (!cfg)
		return -ENOMEM;
	cfg_set_error_function(cfg, parse_on_error);
	cfg_set_validate_func(cfg, "local", parse_on_local);
	cfg_set_validate_func(cfg, SENTINEL, parse_on_end);
	cfg_set_validate_func(cfg, "group", parse_on_group_end);
	cfg_set_validate_func(cfg, "group|member", parse_on_member_end);
	cfg_set_validate_func(cfg, "group|member|address", parse_on_address);
	cfg_set_validate_func(cfg, "group|member|role", parse_on_role);
	for (p = gagg_param_table; p->name; p++) {
		snprintf(path, sizeof(path), "group|%s", p->name);
		cfg_set_validate_func(cfg, path, parse_on_group_option);
	}
	ret = cfg_parse_buf(cfg, text);
	if (ret == CFG_SUCCESS && !parse->ended)
		parse_complain(cfg->line, "the file ends before a comment does: a */ is missing");
	else if (ret != CFG_SUCCESS && !parse->bad)
		parse_complain(cfg->line, "not understood");
	cfg_free(cfg);
	return parse->failed ? -ENOMEM : parse->bad ? -EINVAL : 0;
}

int parse_config(const char *text, const char *path, struct config *out,
		 char *err, size_t errlen)
{
	struct parse p = { .path = path, .err = err, .errlen = errlen };
	size_t len = strlen(text);
	char *whole;
	int ret;

	/* A // comment must not swallow the sentinel. */
	p.newline = len && text[len - 1] != '\n';
	if (asprintf(&whole, "%s%s" SENTINEL " = 1", text,
		     p.newline ? "\n" : "") < 0)
		return -ENOMEM;
	parse = &p;
	parse_group_begin();
	ret = parse_text(whole);
	parse = NULL;
	free(whole);
	if (ret)
		free(p.cfg.groups);
	else
		*out = p.cfg;
	return ret;
}
