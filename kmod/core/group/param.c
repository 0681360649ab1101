// SPDX-License-Identifier: GPL-2.0
#include <linux/gagg.h>
#include <linux/gagg_netlink.h>
#include "geom.h"
#include "group/param.h"
#include "path.h"

static const char *const lane_types[] = {
	[GAGG_LANE_TYPE_INT32] = "int32",
	[GAGG_LANE_TYPE_INT64] = "int64",
	NULL,
};

static const char *const placements[] = {
	[GAGG_PLACE_STRIPED] = "striped",
	[GAGG_PLACE_ROOT] = "root",
	[GAGG_PLACE_TENSOR] = "tensor",
	NULL,
};

static const char *const wire_formats[] = {
	[GAGG_WIRE_INT32] = "int32",
	[GAGG_WIRE_INT16] = "int16",
	[GAGG_WIRE_INT8] = "int8",
	NULL,
};

#define FIELD(name)	.at = offsetof(struct gagg_params, name)
#define APART		.at = GAGG_PARAM_APART

/* in the order in which programs list them */
const struct gagg_param gagg_param_table[] = {
	{
		.name = "port", FIELD(port), .attr = GAGG_GA_PORT, .bits = 16,
		.min = 1, .max = 65535, .fallback = GAGG_WIRE_PORT,
		.digest = GAGG_DG_PORT,
		.wrong = "port must be from 1 to 65536 minus shards",
		.value = "N", .about = "base UDP port",
	},
	{
		.name = "id", FIELD(id), .attr = GAGG_GA_ID, .bits = 32,
		.min = 1, .max = ~0U,
		.wrong = "id 0 is reserved",
		.value = "N", .about = "id on the wire [hash of the name]",
	},
	{
		.name = "uid", APART, .attr = GAGG_GA_UID, .bits = 32,
		.kind = GAGG_PARAM_USER, .max = ~0U - 1, .any_time = true,
		.value = "USER", .about = "who may train",
	},
	{
		.name = "gid", APART, .attr = GAGG_GA_GID, .bits = 32,
		.kind = GAGG_PARAM_GROUP, .max = ~0U - 1, .any_time = true,
		.value = "GROUP", .about = "which group may",
	},
	{
		.name = "mode", FIELD(mode), .attr = GAGG_GA_MODE, .bits = 32,
		.kind = GAGG_PARAM_BITS, .max = 0666, .fallback = 0600, .any_time = true,
		.wrong = "mode must have read and write bits only",
		.value = "OCTAL", .about = "read and write bits of those",
	},
	{
		.name = "lanes", FIELD(lanes), .attr = GAGG_GA_LANES, .bits = 16,
		.kind = GAGG_PARAM_AUTO, .min = 8, .max = GAGG_WIRE_LANES_MAX, .step = 8,
		.digest = GAGG_DG_LANES,
		.wrong = "lanes must be a multiple of 8 from 8 to 2240, or 0: auto",
		.value = "N|auto",
		.about = "32-bit lanes a datagram; auto: what fits, at most 344",
	},
	{
		.name = "lane-type", FIELD(lane_type), .attr = GAGG_GA_LANE_TYPE, .bits = 32,
		.kind = GAGG_PARAM_WORD, .max = GAGG_LANE_TYPE_INT64,
		.fallback = GAGG_LANE_TYPE_INT32, .digest = GAGG_DG_LANE_TYPE,
		.wrong = "unknown lane type; this version has: int32, int64",
		.noun = "lane type", .words = lane_types,
		.about = "what a store adds; int64 fills two lanes",
	},
	{
		.name = "ring", FIELD(ring), .attr = GAGG_GA_RING, .bits = 32,
		.kind = GAGG_PARAM_SIZE, .min = 64, .max = 1U << 22, .fallback = 49152,
		.digest = GAGG_DG_RING,
		.wrong = "ring must be a multiple of window, at most 4194304 chunks",
		.value = "N|SIZE", .about = "chunks in the ring, or bytes: 64M",
	},
	{
		.name = "window", FIELD(window), .attr = GAGG_GA_WINDOW, .bits = 32,
		.min = 64, .max = 16384, .power = true, .fallback = 2048,
		.digest = GAGG_DG_WINDOW,
		.wrong = "window must be a power of two from 64 to 16384",
		.value = "N", .about = "chunks under way",
	},
	{
		.name = "stripe", FIELD(stripe), .attr = GAGG_GA_STRIPE, .bits = 16,
		.min = 1, .max = 64, .fallback = 8,
		.digest = GAGG_DG_STRIPE,
		.wrong = "stripe must be from 1 to 64 chunks",
		.value = "N", .about = "chunks in a row with one home",
	},
	{
		.name = "shards", FIELD(shards), .attr = GAGG_GA_SHARDS, .bits = 16,
		.min = 1, .max = GAGG_SHARDS_MAX, .fallback = 1,
		.digest = GAGG_DG_SHARDS,
		.wrong = "shards must be from 1 to 16",
		.value = "N", .about = "UDP sockets",
	},
	{
		.name = "channels", FIELD(channels), .attr = GAGG_GA_CHANNELS, .bits = 16,
		.min = 1, .max = GAGG_CHANNELS_MAX, .fallback = 16, .any_time = true,
		.wrong = "channels must be from 1 to 64",
		.value = "N", .about = "most channels",
	},
	{
		.name = "cwnd", FIELD(cwnd), .attr = GAGG_GA_CWND, .bits = 32,
		.min = 4, .max = GAGG_PATH_SPAN, .fallback = 256,
		.wrong = "cwnd must be from 4 to 448 datagrams",
		.value = "N", .about = "most datagrams under way to a host",
	},
	{
		.name = "idle-after", FIELD(idle_after), .attr = GAGG_GA_IDLE_AFTER, .bits = 32,
		.max = 600000,
		.wrong = "idle-after must be from 0 to 600000 ms",
		.value = "MS", .about = "pause that halves the window of a path, at least a timeout",
	},
	{
		.name = "dead-after", FIELD(dead_after), .attr = GAGG_GA_DEAD_AFTER, .bits = 32,
		.min = 100, .max = 600000, .fallback = 5000,
		.digest = GAGG_DG_DEAD_AFTER,
		.wrong = "dead-after must be from 100 to 600000 ms",
		.value = "MS", .about = "silence after which a host is dead",
	},
	{
		.name = "sync", APART, .attr = GAGG_GA_SYNC,
		.kind = GAGG_PARAM_SYNC, .digest = GAGG_DG_SYNC,
		.value = "MODE", .about = "sync mode, see gaggctl sync list [bsp]",
	},
	{
		.name = "placement", FIELD(placement), .attr = GAGG_GA_PLACEMENT, .bits = 32,
		.kind = GAGG_PARAM_WORD, .max = GAGG_PLACE_TENSOR,
		.fallback = GAGG_PLACE_STRIPED, .digest = GAGG_DG_PLACEMENT,
		.wrong = "unknown placement; this version has: striped, root, tensor",
		.noun = "placement", .words = placements,
		.about = "where chunks are added up",
	},
	{
		.name = "multicast", APART, .attr = GAGG_GA_MULTICAST,
		.kind = GAGG_PARAM_MULTICAST,
		.value = "ADDRESS|none",
		.about = "where results that all hosts want are sent once [none]",
	},
	{
		.name = "wire", FIELD(wire), .attr = GAGG_GA_WIRE, .bits = 32,
		.kind = GAGG_PARAM_WORD, .max = GAGG_WIRE_INT8,
		.fallback = GAGG_WIRE_INT32, .digest = GAGG_DG_WIRE,
		.wrong = "unknown wire format; this version has: int32, int16, int8",
		.noun = "wire format", .words = wire_formats,
		.about = "how sums of floating point travel",
	},
	{ .name = NULL },
};

bool gagg_param_fits(const struct gagg_param *p, u32 value)
{
	if (p->kind == GAGG_PARAM_AUTO && !value)
		return true;
	if (p->kind == GAGG_PARAM_BITS)
		return !(value & ~p->max);
	return value >= p->min && value <= p->max && !(p->step && value % p->step) &&
	       !(p->power && (value & (value - 1)));
}

void gagg_params_default(struct gagg_params *v)
{
	const struct gagg_param *p;

	for (p = gagg_param_table; p->name; p++)
		if (!gagg_param_is_apart(p))
			gagg_param_set(p, v, p->fallback);
}

const char *gagg_params_check(const struct gagg_params *v)
{
	const struct gagg_param *p;

	for (p = gagg_param_table; p->name; p++)
		if (!gagg_param_is_apart(p) && !gagg_param_fits(p, gagg_param_get(p, v)))
			return p->wrong;
	return NULL;
}

bool gagg_params_same_shape(const struct gagg_params *a, const struct gagg_params *b)
{
	const struct gagg_param *p;

	for (p = gagg_param_table; p->name; p++)
		if (!gagg_param_is_apart(p) && !p->any_time &&
		    gagg_param_get(p, a) != gagg_param_get(p, b))
			return false;
	return true;
}

void gagg_params_change(struct gagg_params *v, const struct gagg_params *from)
{
	const struct gagg_param *p;

	for (p = gagg_param_table; p->name; p++)
		if (!gagg_param_is_apart(p) && p->any_time)
			gagg_param_set(p, v, gagg_param_get(p, from));
}

void gagg_params_geom(const struct gagg_params *v, struct gagg_geom *g)
{
	g->group = v->id;
	g->room = v->lanes ? (u16)v->lanes : GAGG_WIRE_LANES;
	g->lanes = g->room;
	g->automatic = !v->lanes;
	g->wide = v->lane_type == GAGG_LANE_TYPE_INT64;
	g->ring = v->ring;
	g->window = v->window;
	g->stripe = (u16)v->stripe;
	g->shards = (u16)v->shards;
	g->cwnd = v->cwnd;
	g->dead_after = v->dead_after * GAGG_MSEC;
	g->idle_after = v->idle_after * GAGG_MSEC;
	g->wire = (u8)v->wire;
	g->single = v->placement == GAGG_PLACE_TENSOR;
}
