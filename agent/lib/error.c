// SPDX-License-Identifier: LGPL-2.1-only OR MIT
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "call.h"
#include "error.h"
#include "sync_name.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define RANKS_NAMED	8	/* missing ranks that are named; the others are counted */

static _Thread_local char thread_error[ERROR_MAX];

char *error_thread(void)
{
	return thread_error;
}

void error_clear(void)
{
	*thread_error = 0;
}

int error_set(int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(thread_error, sizeof(thread_error), fmt, ap);
	va_end(ap);
	return code;
}

const char *gagg_strerror(int code)
{
	static const char *const words[] = {
		[-GAGG_OK]		= "success",
		[-GAGG_ERR_INVALID]	= "invalid argument",
		[-GAGG_ERR_UNSUPPORTED]	= "not supported",
		[-GAGG_ERR_NOMEM]	= "out of memory",
		[-GAGG_ERR_BUSY]	= "in use by an operation in flight, or by another thread",
		[-GAGG_ERR_TIMEOUT]	= "time is over",
		[-GAGG_ERR_BROKER]	= "gaggd refuses or cannot be asked",
		[-GAGG_ERR_MISMATCH]	= "hosts have different configurations",
		[-GAGG_ERR_PEER]	= "the epoch has ended",
		[-GAGG_ERR_DESYNC]	= "ranks made different calls",
		[-GAGG_ERR_CLOSED]	= "communicator of an epoch that was left",
		[-GAGG_ERR_SYSTEM]	= "a system call failed",
	};

	/* -code of INT_MIN would overflow */
	if (code > 0 || code <= -(int)ARRAY_SIZE(words))
		return "unknown error";
	return words[-code];
}

/* "all-reduce of float32 (100 elements, sum)"; false: without the arguments, which are not known */
static bool error_say_call(char *buf, size_t size, uint32_t sig, uint32_t call)
{
	struct gagg_ioc_submit op;
	char name[CALL_MAX], values[CALL_MAX] = "";
	bool known = call_find(&op, sig, call);

	call_name(name, sizeof(name), sig);
	if (known)
		call_values(values, sizeof(values), &op);
	snprintf(buf, size, *values ? "%s (%s)" : "%s", name, values);
	return known;
}

static void error_desync(char *buf, size_t size, const struct gagg_ioc_status *st)
{
	char a[2 * CALL_MAX], b[2 * CALL_MAX];
	bool known = error_say_call(a, sizeof(a), st->sig, st->call);

	known &= error_say_call(b, sizeof(b), st->other_sig, st->other_call);
	if (known || CALL_NAME(st->sig) != CALL_NAME(st->other_sig))
		snprintf(buf, size,
			 "rank %u called %s where rank %u called %s (epoch %llu has ended)",
			 st->rank, a, st->other, b, st->epoch);
	else
		snprintf(buf, size,
			 "rank %u called %s with another length, root or operator than rank %u (epoch %llu has ended)",
			 st->rank, a, st->other, st->epoch);
}

int error_epoch(char *buf, size_t size, const struct gagg_ioc_status *st)
{
	static const char *const fmt[] = {
		[GAGG_R_BYE]	= "rank %u has left",
		[GAGG_R_DIED]	= "rank %u died",
		[GAGG_R_SILENT]	= "the host of rank %u is not heard any more",
		[GAGG_R_RESTART] = "the host of rank %u has lost its state",
		[GAGG_R_DELETED] = "the group was deleted or changed on the host of rank %u",
		[GAGG_R_ADMIN]	= "the administrator has intervened on the host of rank %u",
		[GAGG_R_MTU]	= "a chunk has become too long for an interface of the host of rank %u",
	};
	char why[ERROR_MAX / 2];

	if (st->reason == GAGG_R_DESYNC) {
		error_desync(buf, size, st);
		return GAGG_ERR_DESYNC;
	}
	if (st->reason == GAGG_R_BLOCKED)
		snprintf(why, sizeof(why),
			 "chunks from the host of rank %u do not reach the host of rank %u any more (MTU of the path, or a firewall)",
			 st->rank, st->other);
	else if (st->reason < ARRAY_SIZE(fmt) && fmt[st->reason])
		snprintf(why, sizeof(why), fmt[st->reason], st->rank);
	else
		snprintf(why, sizeof(why), "reason %u, rank %u", st->reason, st->rank);
	snprintf(buf, size, "%s (epoch %llu has ended)", why, st->epoch);
	return GAGG_ERR_PEER;
}

/*
 * the fields that hosts compare, by enum gagg_digest; with names of their first values, if there
 * are any
 */
static const struct field {
	const char *name;
	const char *words[3];
} fields[] = {
	[GAGG_DG_MEMBERS]	= { "number of members" },
	[GAGG_DG_ADDRESS]	= { "address of a member, or multicast," },
	[GAGG_DG_ROLE]		= { "role of a member" },
	[GAGG_DG_RULES]		= { "version of gagg" },
	[GAGG_DG_LANES]		= { "lanes", { "auto" } },
	[GAGG_DG_RING]		= { "ring" },
	[GAGG_DG_WINDOW]	= { "window" },
	[GAGG_DG_STRIPE]	= { "stripe" },
	[GAGG_DG_SHARDS]	= { "shards" },
	[GAGG_DG_PORT]		= { "port" },
	[GAGG_DG_SYNC]		= { "sync" },
	[GAGG_DG_PLACEMENT]	= { "placement", { "striped", "root", "tensor" } },
	[GAGG_DG_DEAD_AFTER]	= { "dead-after" },
	[GAGG_DG_KEY]		= { "key" },
	[GAGG_DG_LANE_TYPE]	= { "lane-type", { "int32", "int64" } },
	[GAGG_DG_WIRE]		= { "wire", { "int32", "int16", "int8" } },
	[GAGG_DG_COUNT]		= { "version of datagrams" },
};

static const char *error_field_value(uint32_t digest, uint32_t v, char buf[SYNC_NAME_MAX])
{
	const struct field *f = &fields[digest];

	if (digest == GAGG_DG_SYNC)
		return sync_name(v, buf);
	snprintf(buf, SYNC_NAME_MAX, "%u", v);
	return v < ARRAY_SIZE(f->words) && f->words[v] ? f->words[v] : buf;
}

void error_mismatch(char *buf, size_t size, const struct gagg_ioc_status *st)
{
	const uint32_t numbers = GAGG_DG_NUMBERS | 1U << GAGG_DG_COUNT;
	uint32_t digest = st->mismatch - 1;
	bool known = digest < ARRAY_SIZE(fields) && fields[digest].name;
	char there[SYNC_NAME_MAX], here[SYNC_NAME_MAX];

	if (known && numbers >> digest & 1)
		snprintf(buf, size, "config-mismatch: %s is %s on the host of rank %u, %s here",
			 fields[digest].name, error_field_value(digest, st->mismatch_there, there),
			 st->mismatch_node, error_field_value(digest, st->mismatch_here, here));
	else
		snprintf(buf, size, "config-mismatch: %s differs on the host of rank %u",
			 known ? fields[digest].name : "configuration", st->mismatch_node);
}

void error_blocked(char *buf, size_t size, const struct gagg_ioc_status *st)
{
	if (!st->blocked)
		snprintf(buf, size, "chunks did not pass between hosts for a while: try again");
	else
		snprintf(buf, size,
			 "the host of rank %u is heard, but chunks do not pass between it and another host: see gaggctl member list (MTU of the path, or a firewall)",
			 st->blocked - 1);
}

void error_absent(char *buf, size_t size, const struct gagg_ioc_status *st,
		  uint64_t members)
{
	/* the state of a host may have changed since it fell silent */
	uint64_t absent = members & ~(st->attached & st->heard);
	size_t n;
	unsigned int r;

	if (!absent) {
		snprintf(buf, size,
			 "all ranks have joined, but hosts do not know that of each other yet");
		return;
	}
	n = (size_t)snprintf(buf, size, "not joined yet:");
	for (r = 0; r < 64 && n < size; r++)
		if (absent >> r & 1)
			n += (size_t)snprintf(buf + n, size - n, "%s rank %u%s",
					      absent & ((1ULL << r) - 1) ? "," : "", r,
					      st->heard >> r & 1 ? "" : " (host not heard)");
}

void error_missing(char *buf, size_t size, uint64_t ranks, uint64_t others, const char *what)
{
	int left = __builtin_popcountll(ranks), n = 0;
	size_t len;

	if (ranks == others && left > 1) {
		snprintf(buf, size, "no other rank has %s", what);
		return;
	}
	len = (size_t)snprintf(buf, size, left > 1 ? "ranks" : "rank");
	for (; n < RANKS_NAMED && ranks && len < size; ranks &= ranks - 1, n++)
		len += (size_t)snprintf(buf + len, size - len, "%s %d", n ? "," : "",
					__builtin_ctzll(ranks));
	if (left > n && len < size)
		len += (size_t)snprintf(buf + len, size - len, " and %d more", left - n);
	if (len < size)
		snprintf(buf + len, size - len, " %s not %s", left > 1 ? "have" : "has", what);
}
