/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The netlink family "gagg" for gaggctl and gaggd: groups and members as
 * plain structs, requests that return 0 or -errno with a sentence, dumps,
 * events. A gagg-twin is asked by the same functions. Link build/agent/nl/nl.a
 * and $(NL_LIBS).
 *
 * A struct nl holds two sockets, so that events never mix with answers; it
 * belongs to one thread.
 */
#ifndef GAGG_NL_H
#define GAGG_NL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <arpa/inet.h>
#include <sys/types.h>
#include <linux/gagg.h>
#include <linux/gagg_netlink.h>
#include <linux/gagg_wire.h>

#include "group/addr.h"
#include "group/param.h"

#define NL_FIELD_MAX	32		/* name of a field, with the final zero */
#define NL_IP_MAX	INET6_ADDRSTRLEN
#define NL_VALUE_MAX	64		/* a value of a field as a word, with the final zero */
#define NL_MISMATCH_MAX	176		/* a field and two values, with the final zero */

/* a bit of nl_group.set (GAGG_GA_*) and of nl_member.set (GAGG_MA_*) */
#define NL_SET(attr)	(1ULL << (attr))

struct nl_ip {
	uint16_t family;		/* AF_INET, AF_INET6; 0: none */
	uint8_t addr[16];		/* network order, 4 or 16 bytes used */
};

/**
 * struct nl_times - how long a rank has computed and waited in its last epoch
 * @compute_ns:	time without an op in flight
 * @wait_ns:	time with an op in flight
 * @ops:	ops done
 * @share:	this rank's samples of a batch
 * @batch:	samples of the batch; 0: its trainer has not set it
 */
struct nl_times {
	uint64_t compute_ns;
	uint64_t wait_ns;
	uint64_t ops;
	uint32_t share;
	uint32_t batch;
};

/**
 * struct nl_member - one rank of a group
 * @set:	NL_SET(GAGG_MA_*) of what holds a value; nothing else is sent
 * @local:	GAGG_MA_LOCAL; the flag is sent when this is true
 * @state:	out: enum gagg_member_state
 * @mismatch:	out: the field that differs, or ""
 * @mismatch_here: out: this host's value of it; not set: it is no number
 * @mismatch_there: out: the value of @rank's host
 * @rtt:	out: us
 * @cwnd:	out: datagrams
 * @heard_ms:	out: ms since its host was heard; not set: never
 * @blocked_in:	out: shards on which no chunks come from its host
 * @blocked_out: out: shards on which no chunks from here reach it
 * @times:	out: of nl_member_dump(), of local ranks that have begun an op
 */
struct nl_member {
	uint32_t set;
	uint32_t rank;
	struct nl_ip addr;
	uint32_t roles;
	bool local;
	uint32_t state;
	char mismatch[NL_FIELD_MAX];
	uint32_t mismatch_here;
	uint32_t mismatch_there;
	uint32_t rtt;
	uint32_t cwnd;
	uint32_t heard_ms;
	uint32_t blocked_in;
	uint32_t blocked_out;
	struct nl_times times;
};

/**
 * struct nl_group - a group, or what to change of one
 * @set:	NL_SET(GAGG_GA_*) of what holds a value; nothing else is sent.
 *		@name is always sent. @members are sent when @n_members is not 0
 * @param:	numbers that can be configured, as fields and as an array
 * @uid:	user that may train
 * @gid:	group of users that may train
 * @multicast:	address to which results for all are sent; no family: they are sent to each member
 * @state:	out: enum gagg_group_state
 * @reason:	out: enum gagg_reason of how the last epoch ended
 * @mismatch:	out: the field that differs, or ""
 * @mtu:	out: least MTU of this host's interfaces to the other members
 * @mtu_needed:	out: bytes that the path must carry
 * @lanes_now:	out: lanes of the epoch, or those that hosts have agreed on so far
 */
struct nl_group {
	uint64_t set;
	char name[GAGG_NAME_MAX];
	struct nl_ip local;
	union {
		struct gagg_params param;
		struct { GAGG_PARAM_FIELDS; };
	};
	uint32_t uid;
	uint32_t gid;
	struct gagg_sync_param sync;
	struct nl_ip multicast;
	uint32_t state;
	uint64_t epoch;
	uint32_t reason;
	uint32_t reason_rank;
	char mismatch[NL_FIELD_MAX];
	uint32_t mtu;
	uint32_t mtu_needed;
	uint32_t lanes_now;
	uint32_t n_members;
	struct nl_member members[GAGG_RANKS_MAX];
};

/**
 * struct nl_event - something has happened
 * @event:	enum gagg_event
 * @is_member:	the event is about @group.members[0]; only the name of the group is set
 * @group:	what GET would return
 */
struct nl_event {
	uint32_t event;
	bool is_member;
	struct nl_group group;
};

struct nl;

/*
 * nl_open() returns NULL with errno on failure (ENOENT: no module); then nl_error(NULL) has the
 * reason. nl_free() closes: the name nl_close() belongs to libnl.
 */
struct nl *nl_open(void);
void nl_free(struct nl *nl);

/**
 * struct nl_twin - a gagg-twin that is asked instead of the module
 * @path:	path of its socket
 * @version:	version of the program
 * @config:	file that it has read
 * @wire_min:	lowest version of datagrams that it speaks
 * @wire_max:	highest
 */
struct nl_twin {
	char path[108];
	char version[16];
	char config[240];
	uint32_t wire_min;
	uint32_t wire_max;
};

/*
 * The same for the gagg-twin at a socket. Requests that would change it, and events, fail with
 * -EOPNOTSUPP and a sentence. Each call waits at most nl_twin_ms.
 */
extern unsigned int nl_twin_ms;	/* tests have less */

struct nl *nl_open_twin(const char *path);
/* NULL: it is the module */
const struct nl_twin *nl_twin(const struct nl *nl);
unsigned int nl_family_version(const struct nl *nl);

/*
 * The error of the last call that failed on @nl: the request, the attribute that caused it and the
 * kernel's sentence, or strerror(). Valid until the next call.
 */
const char *nl_error(const struct nl *nl);

/* All of these return 0 or -errno. -ENOENT: no such group or member. */
int nl_group_new(struct nl *nl, const struct nl_group *group);
int nl_group_del(struct nl *nl, const struct nl_group *group);
int nl_group_set(struct nl *nl, const struct nl_group *group);
int nl_group_get(struct nl *nl, const char *name, struct nl_group *out);
int nl_member_add(struct nl *nl, const char *name, const struct nl_member *m);
int nl_member_del(struct nl *nl, const char *name, const struct nl_member *m);
int nl_member_set(struct nl *nl, const char *name, const struct nl_member *m);

/*
 * Dumps are complete before the first callback, so that a callback may use
 * @nl. A callback that does not return 0 ends the dump with that value.
 */
typedef int (*nl_group_cb)(const struct nl_group *group, void *arg);
typedef int (*nl_member_cb)(const struct nl_member *member, void *arg);

int nl_group_dump(struct nl *nl, nl_group_cb cb, void *arg);
int nl_member_dump(struct nl *nl, const char *name, nl_member_cb cb, void *arg);

/* counters are indexed by enum gagg_stats_attr; 0 and GAGG_SA_PAD are unused */
#define NL_STATS	(GAGG_SA_MAX + 1)

int nl_stats_get(struct nl *nl, const char *name, uint64_t values[NL_STATS]);

/*
 * The field that holds the attribute @attr of enum gagg_group_attr, or of enum gagg_member_attr;
 * NULL: it is no number, or a parameter (nl_field_read())
 */
uint32_t *nl_group_number(struct nl_group *g, int attr);
uint32_t *nl_member_number(struct nl_member *m, int attr);

/*
 * Writes an answer of gagg-twin, in the form of the module, as a whole message to @buf. Returns
 * bytes, or -errno; -EMSGSIZE: there are more than @room.
 */
ssize_t nl_write_group(void *buf, size_t room, const struct nl_group *group);
ssize_t nl_write_stats(void *buf, size_t room, const uint64_t values[NL_STATS]);

/*
 * Events. The descriptor does not block; poll it, then call nl_event_next()
 * until it returns 0 (nothing left). It returns 1 with an event, or -errno;
 * -ENOBUFS: events were lost, dump again. nl_fd() is -1 before nl_subscribe().
 */
int nl_subscribe(struct nl *nl);
int nl_fd(const struct nl *nl);
int nl_event_next(struct nl *nl, struct nl_event *out);

/* addresses in text; parse returns false when it is none */
bool nl_ip_parse(const char *text, struct nl_ip *out);
const char *nl_ip_format(const struct nl_ip *ip, char buf[NL_IP_MAX]);
/* a multicast address that others may hear, or "none", which has no family */
bool nl_multicast_parse(const char *text, struct nl_ip *out);
const char *nl_multicast_format(const struct nl_ip *ip, char buf[NL_IP_MAX]);

/* bytes of an address; 0: there is none */
static inline uint8_t nl_ip_len(const struct nl_ip *ip)
{
	if (!ip->family)
		return 0;
	return ip->family == AF_INET6 ? GAGG_ADDR_V6 : GAGG_ADDR_V4;
}

bool nl_ip_equal(const struct nl_ip *a, const struct nl_ip *b);

/* the numbers of a group that may be configured, users among them */
#define nl_for_each_field(f) \
	for ((f) = nl_field_next(NULL); (f); (f) = nl_field_next(f))

/* the first of them, and the one after @f; NULL: there is none */
const struct gagg_param *nl_field_next(const struct gagg_param *f);

/* what a member has of them, as rows of the same kind; they are no fields */
extern const struct gagg_param nl_role;

/* NULL: none has this name */
const struct gagg_param *nl_field_find(const char *name);
void nl_field_write(struct nl_group *group, const struct gagg_param *f, uint32_t v);
uint32_t nl_field_read(const struct nl_group *group, const struct gagg_param *f);

/*
 * The word for a value: NULL if it is written as a number, "?" if this build does not know it.
 * And backwards; false: it is no such word
 */
const char *nl_field_word(const struct gagg_param *f, uint32_t v);
bool nl_field_word_parse(const struct gagg_param *f, const char *text, uint32_t *out);

/* are both values of what differs known? Then the words for them, as above; made in @buf */
bool nl_mismatch_values(const struct nl_member *m);
const char *nl_mismatch_word(const struct nl_member *m, uint32_t v, char buf[NL_VALUE_MAX]);

/* "window (1024 there, 2048 here)", or the field alone */
const char *nl_mismatch_format(const struct nl_member *m, char buf[NL_MISMATCH_MAX]);

/* Words for numbers; "?" for what this build does not know. */
const char *nl_group_attr_name(unsigned int attr);
const char *nl_member_attr_name(unsigned int attr);
const char *nl_group_state_name(uint32_t state);
const char *nl_member_state_name(uint32_t state);
const char *nl_reason_name(uint32_t reason);
const char *nl_event_name(uint32_t event);
const char *nl_roles_name(uint32_t roles);

/* the lanes of a chunk that memory has room for */
static inline uint32_t nl_group_lanes(const struct nl_group *g)
{
	return g->lanes ? g->lanes : GAGG_WIRE_LANES;
}

/* Name and one line about a counter; NULL for 0, GAGG_SA_PAD and beyond. */
const char *nl_stat_name(unsigned int attr);
const char *nl_stat_help(unsigned int attr);

#endif
