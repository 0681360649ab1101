// SPDX-License-Identifier: GPL-2.0
#include "mutate.h"

#include "datagram.h"

/* as the names of a tally, see tally.h */
const char *const mutations[] = {
	"+field", "+body", "+flag", "+lanes", "+type", "+bits", "+cut", "+longer",
	"+splice", NULL,
};

#define BODY(type, member) \
	{ #member, GAGG_WIRE_HDRLEN + offsetof(struct type, member), \
	  sizeof(((struct type *)0)->member) }

static const struct field hello[] = {
	BODY(gagg_hello, instance), BODY(gagg_hello, echo), BODY(gagg_hello, attached),
	BODY(gagg_hello, reserved0), BODY(gagg_hello, ver_min), BODY(gagg_hello, ver_max),
	BODY(gagg_hello, phase), BODY(gagg_hello, flags), BODY(gagg_hello, epoch_hi),
	BODY(gagg_hello, digest[0]), BODY(gagg_hello, digest[GAGG_DG_COUNT - 1]),
};

static const struct field start[] = {
	BODY(gagg_start, cookie), BODY(gagg_start, epoch_hi), BODY(gagg_start, nodes),
	BODY(gagg_start, instance[0]), BODY(gagg_start, instance[1]),
};

static const struct field abort_[] = {
	BODY(gagg_abort, reason), BODY(gagg_abort, rank), BODY(gagg_abort, other),
	BODY(gagg_abort, sig), BODY(gagg_abort, other_sig),
	BODY(gagg_abort, call), BODY(gagg_abort, other_call),
};

static const struct field ack[] = {
	BODY(gagg_ack, base), BODY(gagg_ack, largest), BODY(gagg_ack, map[0]),
	BODY(gagg_ack, map[GAGG_ACK_WORDS - 1]),
};

static const struct field open_[] = { BODY(gagg_open, members) };

static const struct shape {
	size_t size;
	const struct field *field;
	size_t fields;
} shapes[] = {
#define SHAPE(type, list) { sizeof(struct type), list, sizeof(list) / sizeof(list[0]) }
	[GAGG_T_HELLO] = SHAPE(gagg_hello, hello),
	[GAGG_T_START] = SHAPE(gagg_start, start),
	[GAGG_T_ABORT] = SHAPE(gagg_abort, abort_),
	[GAGG_T_ACK] = SHAPE(gagg_ack, ack),
	[GAGG_T_OPEN] = SHAPE(gagg_open, open_),
	[GAGG_T_WAITS] = { 0 },
};

static struct gagg_hdr *header(struct mutant *m)
{
	return (struct gagg_hdr *)m->payload;
}

static const struct shape *shape_of(const uint8_t *payload)
{
	static const struct shape none;
	uint8_t type = payload[offsetof(struct gagg_hdr, type)];

	return type < sizeof(shapes) / sizeof(shapes[0]) ? &shapes[type] : &none;
}

static bool has_lanes(const struct gagg_hdr *h)
{
	return (h->type == GAGG_T_CONTRIB || h->type == GAGG_T_RESULT) &&
	       !(h->flags & (GAGG_WF_ZERO | GAGG_WF_NONFINITE));
}

size_t datagram_length(const uint8_t *payload, size_t most)
{
	const struct gagg_hdr *h = (const void *)payload;
	size_t n = GAGG_WIRE_HDRLEN + shape_of(payload)->size;

	if (most < GAGG_WIRE_HDRLEN || h->magic != GAGG_WIRE_MAGIC)
		return 0;
	if (has_lanes(h))
		n += h->lanes * 4;
	if (h->type == GAGG_T_START)
		n = most;		/* as long as its list; never in a burst */
	return n <= most ? n : 0;
}

static void resize(struct dice *d, struct mutant *m, size_t n)
{
	if (n > MUTANT_MAX)
		n = MUTANT_MAX;
	if (n > m->length) {
		if (one_in(d, 2))
			memset(m->payload + m->length, 0, n - m->length);
		else
			scatter(d, m->payload + m->length, n - m->length);
	}
	m->length = n;
}

static void fit(struct dice *d, struct mutant *m)
{
	size_t n = GAGG_WIRE_HDRLEN + shape_of(m->payload)->size;

	if (has_lanes(header(m)))
		n += header(m)->lanes * 4;
	resize(d, m, n);
}

/* @other has the field, too */
static void spoil(struct dice *d, struct mutant *m, const struct field *f,
		  const struct mutant *other)
{
	uint64_t v = field_get(f, m->payload);

	switch (below(d, 5)) {
	case 0:
		v += 1 + below(d, 2);
		break;
	case 1:
		v -= 1 + below(d, 2);
		break;
	case 2:
		v ^= 1ULL << below(d, 8 * f->size);
		break;
	case 3:
		v = field_get(f, other->payload);
		break;
	default:
		v = odd_number(d, (unsigned int)(8 * f->size));
	}
	field_set(f, m->payload, v);
}

static void spoil_body(struct dice *d, struct mutant *m, const struct mutant *other)
{
	const struct shape *s = shape_of(m->payload);
	const struct field *f;

	if (!s->fields) {
		m->payload[below(d, m->length)] = (uint8_t)odd_number(d, 8);
		return;
	}
	f = &s->field[below(d, s->fields)];
	if (f->at + f->size <= m->length)
		spoil(d, m, f, other);
}

static void other_lanes(struct dice *d, struct mutant *m)
{
	static const uint16_t few[] = { 0, 1, 7, 8, 343, 344, 345, 352, 2239, 2240, 2241 };
	struct gagg_hdr *h = header(m);

	h->lanes = one_in(d, 3) ? (uint16_t)below(d, 2300) : few[below(d, 11)];
	if (one_in(d, 2))
		h->type = one_in(d, 2) ? GAGG_T_CONTRIB : GAGG_T_RESULT;
	fit(d, m);
}

static void splice(struct dice *d, struct mutant *m, const struct mutant *other)
{
	size_t at = below(d, m->length);

	if (at > other->length)
		return;
	memcpy(m->payload + at, other->payload + at, other->length - at);
	m->length = other->length;
}

void mutate(struct dice *d, enum mutation how, struct mutant *m,
	    const struct mutant *other)
{
	size_t n;

	if (m->length < GAGG_WIRE_HDRLEN)
		how = MUTATE_LONGER;
	switch (how) {
	case MUTATE_FIELD:
		spoil(d, m, &header_fields[below(d, header_fields_count)], other);
		break;
	case MUTATE_BODY:
		spoil_body(d, m, other);
		break;
	case MUTATE_FLAG:
		header(m)->flags ^= 1 << below(d, 16);
		if (one_in(d, 2))
			fit(d, m);
		break;
	case MUTATE_LANES:
		other_lanes(d, m);
		break;
	case MUTATE_TYPE:
		header(m)->type = (uint8_t)below(d, GAGG_T_WAITS + 2);
		fit(d, m);
		break;
	case MUTATE_BITS:
		for (n = 1 + below(d, 8); n; n--)
			m->payload[below(d, m->length)] ^= 1 << below(d, 8);
		break;
	case MUTATE_CUT:
		m->length = one_in(d, 2) ? below(d, m->length) :
			    GAGG_WIRE_HDRLEN - 1 + below(d, 3);
		break;
	case MUTATE_LONGER:
		/* now and then in fragments */
		resize(d, m, m->length + 1 + (one_in(d, 8) ? below(d, MUTANT_MAX) :
					      below(d, 64)));
		break;
	default:
		splice(d, m, other);
	}
}

void mutate_late(struct dice *d, struct mutant *m, const struct mutant *other)
{
	static const char *const late[] = {
		"chunk", "run", "sig", "lanes", "laneop", "aux",
	};
	uint64_t n = below(d, sizeof(late) / sizeof(late[0]) + 1);

	if (n < sizeof(late) / sizeof(late[0]))
		spoil(d, m, field_find(late[n], strlen(late[n])), other);
	else
		header(m)->flags ^= GAGG_WF_FATAL << below(d, 5);
	fit(d, m);
}

static bool is_known(const struct secrets *s, uint64_t v)
{
	unsigned int i;

	for (i = 0; i < s->n && i < SECRETS; i++)
		if (s->known[i] == v)
			return true;
	return false;
}

/* the next place of a secret after @at, where one of any type may have it; 0: none */
static size_t next_secret(const uint8_t *payload, size_t length, size_t at)
{
	size_t tag = offsetof(struct gagg_hdr, tag);
	uint8_t type;

	if (!at)
		return length >= GAGG_WIRE_HDRLEN ? tag : 0;
	at = at == tag ? GAGG_WIRE_HDRLEN : at + 8;
	type = payload[offsetof(struct gagg_hdr, type)];
	if (at + 8 > length ||
	    (type != GAGG_T_START &&
	     (type != GAGG_T_HELLO || at >= GAGG_WIRE_HDRLEN + 16)))
		return 0;
	return at;
}

void learn_secrets(struct secrets *s, const uint8_t *payload, size_t length)
{
	size_t at = 0;
	uint64_t v;

	while ((at = next_secret(payload, length, at))) {
		memcpy(&v, payload + at, 8);
		if (v && !is_known(s, v))
			s->known[s->n++ % SECRETS] = v;
	}
}

void forget_secrets(struct dice *d, struct mutant *m, const struct secrets *s)
{
	size_t at = 0;
	uint64_t v;

	while ((at = next_secret(m->payload, m->length, at))) {
		memcpy(&v, m->payload + at, 8);
		v = one_in(d, 3) ? 0 : one_in(d, 2) ? v ^ 1ULL << below(d, 64) : roll(d);
		while (is_known(s, v))
			v = roll(d);
		memcpy(m->payload + at, &v, 8);
	}
}
