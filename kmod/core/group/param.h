/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parameters of a group: each has one row in one table, from which hosts and programs
 * derive defaults, ranges, attributes, options and digests.
 *
 * To add a number: an attribute in linux/gagg_netlink.h, a field below, a row in param.c, a
 * paragraph in gagg.conf(5). gagg_params_geom() hands it to the core.
 */
#ifndef GAGG_CORE_PARAM_H
#define GAGG_CORE_PARAM_H

#include "types.h"

struct gagg_geom;

/* how a value is written; a parameter that is no number has no field below */
enum gagg_param_kind {
	GAGG_PARAM_NUMBER,
	GAGG_PARAM_AUTO,	/* a number, or "auto", which is 0 */
	GAGG_PARAM_SIZE,	/* a number, or bytes, from which programs compute it */
	GAGG_PARAM_BITS,	/* octal: any bits of the maximum */
	GAGG_PARAM_WORD,	/* one of @words */
	GAGG_PARAM_USER,	/* a name or number; each host keeps it in its own way */
	GAGG_PARAM_GROUP,	/* the same */
	GAGG_PARAM_SYNC,	/* a sync mode with its parameters: no number */
	GAGG_PARAM_MULTICAST,	/* an address, or "none": no number */
};

/**
 * struct gagg_param - a parameter
 * @name:	option of gaggctl, key in gagg.conf, name of what differs; NULL ends the table
 * @about:	what it is, for a usage
 * @value:	what stands for a value in a usage; NULL: @words
 * @noun:	what one of @words is called
 * @words:	words for @min and the numbers after it, then NULL; or NULL
 * @wrong:	what is said of a value outside the range, or one that others do not fit: a literal
 * @min:	least value
 * @max:	greatest value
 * @step:	values are multiples of it; 0: all are
 * @fallback:	value if nobody sets one. It is outside the range if it depends on others
 * @at:		offset of the field in struct gagg_params, or GAGG_PARAM_APART
 * @attr:	GAGG_GA_*
 * @kind:	how a value is written
 * @bits:	of the attribute: 16 or 32; 0: it is no number
 * @digest:	GAGG_DG_* if hosts must have the same value; 0: they need not. (0 is
 *		GAGG_DG_MEMBERS, which is no parameter.)
 * @power:	values are powers of two
 * @any_time:	it may change while ranks are attached
 */
struct gagg_param {
	const char *name;
	const char *about;
	const char *value;
	const char *noun;
	const char *const *words;
	const char *wrong;
	u32 min;
	u32 max;
	u32 step;
	u32 fallback;
	u16 at;
	u16 attr;
	u8 kind;
	u8 bits;
	u8 digest;
	bool power;
	bool any_time;
};

/*
 * The values that hosts hold alike. A host's own struct of a configuration has the same
 * fields in a union with struct gagg_params, so that cfg->window is a name and the table
 * can reach it.
 */
#define GAGG_PARAM_FIELDS						\
	u32 id;			/* on the wire */			\
	u32 port;		/* the first of as many as shards */	\
	u32 mode;							\
	u32 lanes;		/* 0: auto */				\
	u32 lane_type;		/* enum gagg_lane_type */		\
	u32 ring;							\
	u32 window;							\
	u32 stripe;							\
	u32 shards;							\
	u32 channels;							\
	u32 cwnd;							\
	u32 dead_after;		/* ms */				\
	u32 idle_after;		/* ms; at least a timeout */		\
	u32 placement;		/* enum gagg_placement */		\
	u32 wire		/* enum gagg_wire_lane */

struct gagg_params {
	GAGG_PARAM_FIELDS;
};

/* @at of what is no field: a sync mode, an address, users as a kernel has them */
#define GAGG_PARAM_APART	0xffff

extern const struct gagg_param gagg_param_table[];

static inline bool gagg_param_is_apart(const struct gagg_param *p)
{
	return p->at == GAGG_PARAM_APART;
}

/* of one that is not apart */
static inline u32 gagg_param_get(const struct gagg_param *p, const struct gagg_params *v)
{
	return *(const u32 *)((const char *)v + p->at);
}

static inline void gagg_param_set(const struct gagg_param *p, struct gagg_params *v, u32 value)
{
	*(u32 *)((char *)v + p->at) = value;
}

/* is @value in the range of a number? */
bool gagg_param_fits(const struct gagg_param *p, u32 value);

/* all but the id, which is 0: a group's own default depends on its name */
void gagg_params_default(struct gagg_params *v);

/* which is out of its range: @wrong of one of them, or NULL */
const char *gagg_params_check(const struct gagg_params *v);

/* do only those differ that may change any time? */
bool gagg_params_same_shape(const struct gagg_params *a, const struct gagg_params *b);

/* those that may change any time from @from; nothing else of @v is written */
void gagg_params_change(struct gagg_params *v, const struct gagg_params *from);

/* what the core needs of them; members and the sync mode are the caller's to add */
void gagg_params_geom(const struct gagg_params *v, struct gagg_geom *g);

#endif
