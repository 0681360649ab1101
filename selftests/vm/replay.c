// SPDX-License-Identifier: GPL-2.0
/*
 * Carries out a trace of the module (gagg:* events, kmod/trace.h) with the core
 * in userspace: every call with the arguments that it had, every question about
 * a trainer's memory answered as it was. The core must ask the same, give the
 * same verdicts and the same actions, one after the other.
 *
 *	replay FILE		FILE: what tracefs' "trace" shows, made with
 *				trace_clock "counter"
 *
 * Prints how much it has compared, by type of action. The first difference ends
 * it, with status 1: the line of the trace, and what the core does instead.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "traced.h"

#define HOSTS		64
#define CHANS		64
#define SHARDS		16
#define OURS		1	/* stands for the epoch's cookie */
#define ASKED		8192	/* answers that one call may take */

typedef unsigned long long ull;

/* what the trainer's memory has said */
struct answer {
	bool filled;		/* else a description */
	u32 channel, local, slot;
	u64 value;
	struct gagg_cdesc desc;
};

struct part {
	struct gagg_shard *core;
	struct gagg_act act[GAGG_ACTS];	/* what the core has done and the trace not yet */
	u32 nacts, at;
	struct answer answer[ASKED];
	u32 nanswers, asked;
};

struct host {
	struct gagg_geom g;
	struct part part[SHARDS];
	struct {
		u32 id;
		struct gagg_chan *part[SHARDS];
	} chan[CHANS];
	u32 nchans;
	u32 trip[GAGG_NODES];
};

struct ctx {
	struct host *h;
	u32 shard;
};

static struct host *hosts[HOSTS];
static u32 nhosts;
static u64 calls, datagrams, epochs, acts[GAGG_ACT_READ + 1], line_number, skipped;
static char *line;		/* that is carried out: event and fields */

__attribute__((noreturn, format(printf, 1, 2)))
static void differs(const char *fmt, ...)
{
	va_list ap;

	printf("line %llu: %s\n", (ull)line_number, line);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	exit(1);
}

/* --- fields of a line -------------------------------------------------- */

/* what stands behind " key=" */
static const char *field(const char *key)
{
	u64 len = strlen(key);
	const char *s;

	for (s = strchr(line, ' '); s; s = strchr(s + 1, ' '))
		if (!strncmp(s + 1, key, len) && s[len + 1] == '=')
			return s + len + 2;
	differs("has no field %s", key);
}

static u64 number(const char *key)
{
	return strtoull(field(key), NULL, 0);
}

/* hexadecimal digits; returns the number of bytes */
static u32 bytes(const char *key, void *to, u32 size)
{
	const char *s = field(key);
	u32 n, byte;

	for (n = 0; sscanf(s + 2 * n, "%2x", &byte) == 1 && s[2 * n] > ' '; n++) {
		if (n == size)
			differs("%s is longer than %u bytes", key, size);
		((u8 *)to)[n] = (u8)byte;
	}
	return n;
}

/* --- objects ----------------------------------------------------------- */

/* the host that an event is about; NULL before its first epoch in the trace */
static struct host *host_of_line(void)
{
	u64 group = number("group"), self = number("self");
	u32 i;

	for (i = 0; i < nhosts; i++)
		if (hosts[i]->g.group == group && hosts[i]->g.self == self)
			return hosts[i];
	return NULL;
}

static u32 shard_of_line(const struct host *h)
{
	u64 s = number("shard");

	if (s >= h->g.shards)
		differs("there are %u shards", h->g.shards);
	return (u32)s;
}

static struct gagg_chan *find_chan(const struct host *h, u32 id, u32 shard)
{
	u32 i;

	for (i = 0; i < h->nchans; i++)
		if (h->chan[i].id == id)
			return h->chan[i].part[shard];
	return NULL;
}

static struct gagg_chan *chan_of_line(const struct host *h, u32 shard)
{
	struct gagg_chan *ch = find_chan(h, (u32)number("channel"), shard);

	if (!ch)
		differs("there is no such channel");
	return ch;
}

static void drop_channels(struct host *h)
{
	u32 s;

	while (h->nchans--)
		for (s = 0; s < h->g.shards; s++)
			free(h->chan[h->nchans].part[s]);
	h->nchans = 0;
}

static void read_geometry(struct gagg_geom *g)
{
	u32 r;

	memset(g, 0, sizeof(*g));
	g->group = (u32)number("group");
	g->self = (u8)number("self");
	g->nodes = (u8)number("nodes");
	g->lanes = (u16)number("lanes");
	g->stripe = (u16)number("stripe");
	g->shards = (u16)number("shards");
	g->ring = (u32)number("ring");
	g->window = (u32)number("window");
	g->cwnd = (u32)number("cwnd");
	g->wide = (u8)number("wide");
	g->wire = (u8)number("wire");
	g->single = (u8)number("single");
	g->workers = number("workers");
	g->aggregators = number("aggregators");
	if (g->shards > SHARDS || g->nodes > GAGG_NODES ||
	    bytes("node_of", g->node_of, GAGG_RANKS) != GAGG_RANKS)
		differs("is no geometry");
	for (r = 0; r < GAGG_RANKS; r++)
		if (g->node_of[r] < g->nodes)
			g->ranks_of[g->node_of[r]] |= GAGG_BIT(r);
}

/* --- what the core asks and does --------------------------------------- */

static struct gagg_chan *env_chan(void *ctx, u16 id)
{
	struct ctx *c = ctx;

	return find_chan(c->h, id, c->shard);
}

static const struct answer *answer(struct ctx *c, const struct gagg_chan *ch, u32 local,
				   bool filled, u32 slot)
{
	struct part *p = &c->h->part[c->shard];
	const struct answer *a = &p->answer[p->asked];

	if (p->asked == p->nanswers || a->filled != filled || a->channel != ch->id ||
	    a->local != local || a->slot != slot)
		differs("before that the core asks local %u of channel %u for %s %u, question %u of %u",
			local, ch->id, filled ? "filled" : "slot", slot, p->asked, p->nanswers);
	p->asked++;
	return a;
}

static u64 env_filled(void *ctx, struct gagg_chan *ch, u32 local)
{
	return answer(ctx, ch, local, true, 0)->value;
}

static struct gagg_cdesc env_desc(void *ctx, struct gagg_chan *ch, u32 local, u32 slot)
{
	return answer(ctx, ch, local, false, slot)->desc;
}

static void print_act(const struct gagg_act *a)
{
	struct gagg_traced_act t;

	gagg_traced_act(a, &t);
	printf("the core: act=%u type=%u flags=%#x epoch=%u channel=%u src=%u sig=%#x laneop=%#x slot=%u round=%u run=%u lanes=%u exp=%u want=%u weight=%u pn=%u aux=%#x node=%u local=%u nodes=%#llx locals=%#x from=%u\n",
	       a->type, t.type, t.flags, t.epoch, a->channel, t.src, t.sig, t.laneop, t.slot,
	       t.round, t.run, t.lanes, t.exp, t.want, t.weight, t.pn, t.aux, a->node, a->local,
	       (ull)t.nodes, t.locals, t.from);
}

/* all that the core has done so far has been in the trace */
static void settled(struct part *p, const char *when)
{
	if (p->at < p->nacts) {
		print_act(&p->act[p->at]);
		differs("%s, the core has %u actions that the trace lacks", when,
			p->nacts - p->at);
	}
	if (p->asked < p->nanswers)
		differs("%s, the core has asked %u questions, not %u", when, p->asked,
			p->nanswers);
	p->nacts = 0;
	p->at = 0;
	p->nanswers = 0;
	p->asked = 0;
}

static void take_actions(struct part *p)
{
	const struct gagg_act *a;

	while ((a = gagg_shard_act(p->core)))
		p->act[p->nacts++] = *a;
	calls++;
}

static const struct {
	const char *name;
	u32 at, size;
} fields[] = {
#define FIELD(name) { #name, offsetof(struct gagg_traced_act, name), \
		      sizeof(((struct gagg_traced_act *)NULL)->name) }
	FIELD(nodes), FIELD(epoch), FIELD(sig), FIELD(slot), FIELD(round), FIELD(pn),
	FIELD(aux), FIELD(locals), FIELD(src), FIELD(flags), FIELD(run), FIELD(lanes),
	FIELD(weight), FIELD(type), FIELD(laneop), FIELD(exp), FIELD(want), FIELD(from),
#undef FIELD
};

static void same(const struct gagg_act *a, const char *name, u64 ours)
{
	u64 theirs = number(name);

	if (ours == theirs)
		return;
	print_act(a);
	differs("%s is %llu, of the core %llu", name, (ull)theirs, (ull)ours);
}

static void on_act(struct host *h)
{
	struct part *p = &h->part[shard_of_line(h)];
	const struct gagg_act *a = &p->act[p->at];
	struct gagg_traced_act t;
	u8 body[sizeof(a->ack)];
	u32 i, len;

	if (p->at == p->nacts)
		differs("the core has no such action");
	p->at++;
	same(a, "act", a->type);
	same(a, "channel", a->channel);
	same(a, "node", a->node);
	same(a, "local", a->local);
	gagg_traced_act(a, &t);
	for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		u64 ours = 0;	/* little-endian, as the wire */

		memcpy(&ours, (const u8 *)&t + fields[i].at, fields[i].size);
		same(a, fields[i].name, ours);
	}
	len = bytes("body", body, sizeof(body));
	if (len != gagg_traced_len(&a->m) || memcmp(body, &a->ack, len)) {
		print_act(a);
		differs("the core has another body");
	}
	acts[a->type]++;
}

/* --- what happens ------------------------------------------------------ */

static void on_start(struct host *h)
{
	struct gagg_sync_param sync = { .mode = (u32)number("sync") };
	struct gagg_geom g;
	u32 s;

	read_geometry(&g);
	if (!gagg_sync_get(sync.mode) ||
	    sscanf(field("args"), "{%x,%x,%x,%x}", &sync.arg[0], &sync.arg[1], &sync.arg[2],
		   &sync.arg[3]) != GAGG_SYNC_ARGS)
		differs("is no sync mode");
	gagg_sync_apply(&g, &sync);
	if (!h) {
		if (nhosts == HOSTS)
			differs("more than %u hosts", HOSTS);
		h = calloc(1, sizeof(*h));
		hosts[nhosts++] = h;
	}
	drop_channels(h);
	for (s = 0; s < g.shards; s++) {
		struct part *p = &h->part[s];

		settled(p, "before this epoch");
		/* as new ones: an epoch is all that counts */
		free(p->core);
		p->core = calloc(1, gagg_shard_bytes(&g));
		gagg_shard_init(p->core, &g, s);
		gagg_shard_start(p->core, &g, number("epoch"), OURS);
	}
	memset(h->trip, 0, sizeof(h->trip));
	h->g = g;
	epochs++;
}

static void on_stop(struct host *h)
{
	u32 s;

	for (s = 0; s < h->g.shards; s++) {
		settled(&h->part[s], "before the end of this epoch");
		gagg_shard_stop(h->part[s].core);
	}
}

static void on_trip(struct host *h)
{
	u32 s;

	if (number("node") >= h->g.nodes)
		differs("is no node");
	h->trip[number("node")] = (u32)number("ns");
	/* the last one comes with all others */
	for (s = 0; s < h->g.shards; s++)
		gagg_shard_trips(h->part[s].core, &h->g, h->trip);
}

static void on_channel(struct host *h)
{
	u64 members = number("members");
	u32 s, i = h->nchans++;

	if (i == CHANS)
		differs("more than %u channels", CHANS);
	h->chan[i].id = (u32)number("channel");
	for (s = 0; s < h->g.shards; s++)
		h->chan[i].part[s] = gagg_chan_init(calloc(1, gagg_chan_bytes(&h->g, members)),
						    &h->g, s, (u16)h->chan[i].id, members);
}

static void on_submit(struct host *h)
{
	u32 s, local = (u32)number("local");

	for (s = 0; s < h->g.shards; s++) {
		struct gagg_chan *ch = chan_of_line(h, s);
		u64 op;

		if (local >= ch->nlocals)
			differs("there are %u local ranks", ch->nlocals);
		/* "copy" is where other ops have their last lanes */
		if (h->g.store)
			op = gagg_store_submit(ch, local, &(struct gagg_op){
				.start = number("first"), .flags = (u8)number("flags"),
				.end = number("first") + number("chunks"),
				.copy = (u16)number("last_lanes"),
			});
		else
			op = gagg_ring_submit(ch, local, &(struct gagg_op){
				.sig = (u32)number("sig"), .laneop = (u8)number("laneop"),
				.flags = (u8)number("flags"),
				.last_lanes = (u16)number("last_lanes"),
			}, number("chunks"));
		if (op)
			ch->local[local].op[op % GAGG_OPS].call = (u32)number("call");
		if (op != number("number"))
			differs("in shard %u it is number %llu", s, (ull)op);
	}
}

static struct answer *on_answer(struct host *h)
{
	struct part *p = &h->part[shard_of_line(h)];
	struct answer *a = &p->answer[p->nanswers];

	if (p->at < p->nacts || p->nanswers == ASKED)
		settled(p, "before this question");
	memset(a, 0, sizeof(*a));
	a->channel = (u32)number("channel");
	a->local = (u32)number("local");
	p->nanswers++;
	return a;
}

static void on_filled(struct host *h)
{
	struct answer *a = on_answer(h);

	a->filled = true;
	a->value = number("filled");
}

static void on_desc(struct host *h)
{
	struct answer *a = on_answer(h);

	a->slot = (u32)number("slot");
	a->desc.exp = (u8)number("exp");
	a->desc.want = (u8)number("want");
	a->desc.flags = (u8)number("flags");
}

static void on_call(struct host *h)
{
	struct ctx c = { .h = h, .shard = shard_of_line(h) };
	struct gagg_env env = {
		.ctx = &c, .chan = env_chan, .filled = env_filled, .desc = env_desc,
	};
	struct part *p = &h->part[c.shard];
	u64 now = number("now");
	bool more = false;

	if (p->at < p->nacts)
		settled(p, "before this call");
	p->nacts = 0;
	p->at = 0;
	switch (number("call")) {
	case GAGG_WORK_TIMER:
		gagg_shard_timer(p->core, &h->g, &env, now);
		break;
	case GAGG_WORK_CHAN_TIMER:
		gagg_chan_timer(p->core, &h->g, chan_of_line(h, c.shard), now);
		break;
	case GAGG_WORK_REFILL:
		more = gagg_chan_refill(p->core, &h->g, &env, chan_of_line(h, c.shard), now);
		break;
	case GAGG_WORK_FLUSH:
		gagg_shard_flush(p->core, &h->g);
		break;
	default:
		differs("is no call of the core");
	}
	if (p->asked < p->nanswers)
		settled(p, "after this call");
	if (more != number("more"))
		differs("the core returns %u", more);
	take_actions(p);
}

static void on_rx(struct host *h)
{
	struct ctx c = { .h = h, .shard = shard_of_line(h) };
	struct gagg_env env = {
		.ctx = &c, .chan = env_chan, .filled = env_filled, .desc = env_desc,
	};
	struct part *p = &h->part[c.shard];
	struct gagg_msg m = {
		.type = (u8)number("type"), .laneop = (u8)number("laneop"),
		.flags = (u16)number("flags"), .group = h->g.group,
		.epoch = (u32)number("epoch"), .channel = (u16)number("channel"),
		.src = (u16)number("src"), .sig = (u32)number("sig"),
		.chunk = (u32)number("chunk"), .round = (u32)number("round"),
		.run = (u16)number("run"), .lanes = (u16)number("lanes"),
		.exp = (u8)number("exp"), .want = (u8)number("want"),
		.pn = (u32)number("pn"), .aux = (u32)number("aux"),
		.cookie = number("ours") ? OURS : ~OURS,
	};
	struct gagg_arrival in = {
		.vis = { .sh = p->core, .g = &h->g, .now = number("now") },
		.node = (u32)number("node"), .ce = number("ce"),
	};
	struct gagg_ack body;
	enum gagg_rx rx;

	/* of the join object, which is no shard's */
	if (gagg_wire_joins(&m))
		return;
	settled(p, "before this datagram");
	m.len = bytes("body", &body, sizeof(body));
	if (in.node >= h->g.nodes || m.len != gagg_traced_len(&m))
		differs("is no datagram");
	rx = gagg_shard_rx(&in, &env, &m, &body);
	if (rx != number("verdict") || (rx == GAGG_RX_DROP && in.todo.drop != number("drop")))
		differs("the core's verdict is %u, drop %u", rx, in.todo.drop);
	if (rx == GAGG_RX_ADD || rx == GAGG_RX_PLACE)
		gagg_shard_commit(&in);
	take_actions(p);
	datagrams++;
}

static const struct {
	const char *name;
	void (*handle)(struct host *h);
} events[] = {
	{ "gagg_stop:", on_stop }, { "gagg_trip:", on_trip }, { "gagg_channel:", on_channel },
	{ "gagg_submit:", on_submit },
	{ "gagg_filled:", on_filled }, { "gagg_desc:", on_desc }, { "gagg_call:", on_call },
	{ "gagg_rx:", on_rx }, { "gagg_act:", on_act },
};

static void take_line(void)
{
	struct host *h = host_of_line();
	u32 i;

	if (!strncmp(line, "gagg_start:", 11)) {
		on_start(h);
		return;
	}
	for (i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		if (!strncmp(line, events[i].name, strlen(events[i].name)))
			break;
	if (i == sizeof(events) / sizeof(events[0]))
		differs("is no event that is known");
	if (h)
		events[i].handle(h);
	else
		skipped++;
}

/* the header says how much of what was written is still there */
static void check_whole(const char *text)
{
	const char *s = strstr(text, "entries-in-buffer/entries-written: ");
	ull kept, written;

	if (s && sscanf(s, "%*s %llu/%llu", &kept, &written) == 2 && kept != written) {
		printf("the trace has %llu of %llu events: give it a larger buffer\n", kept,
		       written);
		exit(1);
	}
	if (strstr(text, "LOST")) {
		printf("the trace has lost events: %s", text);
		exit(1);
	}
}

int main(int argc, char **argv)
{
	static const char *const names[] = {
		"SEND_CONTRIB", "SEND_RESULT", "SEND_CTRL", "PUBLISH", "OP_DONE", "DESYNC", "OPEN",
		"FOLD", "ADD_LOCAL", "READ",
	};
	static char text[4096];
	u64 total = 0;
	u32 i, s;
	FILE *f;

	f = argc == 2 ? fopen(argv[1], "r") : NULL;
	if (!f)
		return fprintf(stderr, "usage: replay FILE\n"), 2;
	while (fgets(text, sizeof(text), f)) {
		line_number++;
		line = strstr(text, ": gagg_");
		if (!line || text[0] == '#') {
			check_whole(text);
			continue;
		}
		line += 2;
		line[strcspn(line, "\n")] = 0;
		take_line();
	}
	fclose(f);
	line = (char *)"the end";
	for (i = 0; i < nhosts; i++)
		for (s = 0; s < hosts[i]->g.shards; s++)
			settled(&hosts[i]->part[s], "in the end");
	for (i = 0; i < sizeof(acts) / sizeof(acts[0]); i++) {
		printf("%s %llu\n", names[i], (ull)acts[i]);
		total += acts[i];
	}
	printf("the same: %llu actions of %llu calls, %llu of them datagrams, on %u hosts in %llu epochs\n",
	       (ull)total, (ull)calls, (ull)datagrams, nhosts, (ull)epochs);
	if (!total) {
		printf("nothing to compare\n");
		return 1;
	}
	if (skipped)
		printf("%llu events were before the first epoch of their host\n", (ull)skipped);
	return 0;
}
