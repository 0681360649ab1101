// SPDX-License-Identifier: GPL-2.0
/*
 * Random calls of /dev/gagg, by processes that come and go.
 *
 *	fuzz_ioctl SECONDS SEED SEAT... [-- NAME...]
 *
 * SEAT is NETNS:GROUP:RANK. For each there is a process that opens and attaches it as a
 * trainer does, and then calls whatever there is, with arguments that are right,
 * nearly right, or noise, in threads that share files, memory and arguments. After
 * a while it is killed, or leaves, and another takes its place. NAMEs of groups
 * may exist: they are opened as well.
 *
 * Exit status 1: a kind of call was not made, or never succeeded where it has to
 * at times, or a process does not die.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <linux/gagg.h>
#include <linux/gagg_wire.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "dice.h"
#include "tally.h"

#define FILES	6
#define ARGS	8
#define MAPS	16
#define SLOT	(4UL << 20)	/* for a mapping; larger than any region here */
#define THREADS	2
#define SEATS	8
#define NAMES	16

enum kind {
	K_FEATURES, K_OPEN, K_ATTACH, K_DETACH, K_CHANNEL, K_CHANNEL_FREE, K_SUBMIT,
	K_WAIT, K_STATUS, K_TIMES, K_NOISE, K_MMAP, K_MEMORY, K_FILL, K_POLL, K_READ,
	K_FILE, K_REOPEN, K_URING_SUBMIT, K_URING_WAIT, K_URING_ODD, K_URING_OTHER, K_FORK,
	K_EPOCH, KINDS,
};

static const char *const kinds[] = {
	"+features", "+open", "+attach", "detach", "+channel", "channel-free",
	"+submit", "+wait", "+status", "+times", "ioctl noise", "+mmap",
	"other memory", "+fill", "+poll", "read", "+other file", "+reopen", "uring submit",
	"uring wait", "uring noise", "+uring other", "+fork", "+epoch", NULL,
};

/* how often: the first ten have the number of their ioctl */
static const uint8_t weight[KINDS] = {
	[K_FEATURES] = 1, [K_OPEN] = 3, [K_ATTACH] = 2, [K_DETACH] = 1, [K_CHANNEL] = 3,
	[K_CHANNEL_FREE] = 2, [K_SUBMIT] = 12, [K_WAIT] = 8, [K_STATUS] = 2,
	[K_TIMES] = 2,
	[K_NOISE] = 4, [K_MMAP] = 8, [K_MEMORY] = 6, [K_FILL] = 16, [K_POLL] = 3,
	[K_READ] = 3, [K_FILE] = 4, [K_REOPEN] = 2, [K_URING_SUBMIT] = 6,
	[K_URING_WAIT] = 6, [K_URING_ODD] = 3, [K_URING_OTHER] = 4, [K_FORK] = 1,
	[K_EPOCH] = 1,
};

struct seat {
	const char *netns;
	const char *group;
	uint32_t rank;
};

static struct tally *tally;
static struct seat seats[SEATS];
static int nseats;
static const char *names[NAMES];
static int nnames;

/* --- what the threads of a process share -------------------------------- */

static int files[FILES];
/* read by the kernel while others write */
static union arg {
	uint32_t size;
	struct gagg_ioc_features features;
	struct gagg_ioc_open open;
	struct gagg_ioc_attach attach;
	struct gagg_ioc_detach detach;
	struct gagg_ioc_channel channel;
	struct gagg_ioc_channel_free channel_free;
	struct gagg_ioc_submit submit;
	struct gagg_ioc_wait wait;
	struct gagg_ioc_status status;
	struct gagg_ioc_times times;
	uint8_t raw[4096];
} args[ARGS];
/* each at a place of its own, where nothing else is ever mapped */
static struct map {
	char *at;
	size_t length;		/* 0: nothing is mapped */
	int region;
} maps[MAPS];
/* a file through which memory is read and written that may be unmapped meanwhile */
static int content;
static struct gagg_geometry shape;
static uint64_t filled;
static struct seat self;

static const struct {
	unsigned int cmd;
	uint32_t size;
} ioctls[] = {
#define CALL(nr, type)	[_IOC_NR(GAGG_IOC_##nr)] = { GAGG_IOC_##nr, sizeof(struct gagg_ioc_##type) }
	CALL(FEATURES, features), CALL(OPEN, open), CALL(ATTACH, attach),
	CALL(DETACH, detach), CALL(CHANNEL, channel), CALL(CHANNEL_FREE, channel_free),
	CALL(SUBMIT, submit), CALL(WAIT, wait), CALL(STATUS, status),
	CALL(TIMES, times),
};

static int dev(void)
{
	return open("/dev/gagg", O_RDWR | O_CLOEXEC | O_NONBLOCK);
}

/* half of the time the one with which the process has joined */
static int file(struct dice *d)
{
	return files[one_in(d, 2) ? 0 : below(d, FILES)];
}

static void count(enum kind kind, long ret)
{
	tally_add(tally, kind, ret < 0 ? errno : 0);
}

/* --- arguments ----------------------------------------------------------- */

static uint32_t some_channel(struct dice *d)
{
	return one_in(d, 16) ? (uint32_t)odd_number(d, 32) : (uint32_t)below(d, 4);
}

static void fill_open(struct dice *d, struct gagg_ioc_open *o)
{
	const struct seat *s = one_in(d, 2) ? &self : &seats[below(d, nseats)];

	snprintf(o->name, sizeof(o->name), "%s", s->group);
	o->rank = s->rank;
	if (nnames && one_in(d, 3)) {
		snprintf(o->name, sizeof(o->name), "%s", names[below(d, nnames)]);
		o->rank = (uint32_t)below(d, 3);
	}
}

static void fill_channel(struct dice *d, struct gagg_ioc_channel *c)
{
	c->channel = some_channel(d);
	c->members = one_in(d, 3) ? 1ULL << self.rank : shape.members;
}

static void fill_submit(struct dice *d, struct gagg_ioc_submit *s)
{
	static const uint8_t laneops[] = {
		GAGG_LANEOP(GAGG_LANE_S32, GAGG_OP_ADD), GAGG_LANEOP(GAGG_LANE_S32, GAGG_OP_MIN),
		GAGG_LANEOP(GAGG_LANE_S32, GAGG_OP_MAX), GAGG_LANEOP(GAGG_LANE_U8, GAGG_OP_MAX),
		GAGG_LANEOP(GAGG_LANE_S64, GAGG_OP_ADD),
	};

	s->channel = some_channel(d);
	s->kind = (uint8_t)(1 + below(d, 6));
	s->laneop = laneops[below(d, sizeof(laneops))];
	s->flags = (uint32_t)below(d, 2);
	s->last_lanes = s->kind == GAGG_K_BARRIER ? 0 : 1 + (uint32_t)below(d, 344);
	s->chunks = s->kind == GAGG_K_BARRIER ? 1 : 1 + below(d, 40);
	/* mostly what other ranks say, too: else the epoch ends */
	s->count = one_in(d, 50);
	if (!one_in(d, 50)) {
		s->kind = GAGG_K_ALLREDUCE;
		s->laneop = 0;
		s->flags = 1;
		s->last_lanes = 344;
		s->chunks = 8;
	}
}

static void fill_times(struct dice *d, struct gagg_ioc_times *t)
{
	t->flags = (uint32_t)below(d, 2);
	t->batch = t->flags ? 1 + (uint32_t)below(d, 1000) : 0;
	t->share = (uint32_t)below(d, t->batch + 1);
}

static void fill_wait(struct dice *d, struct gagg_ioc_wait *w)
{
	w->channel = one_in(d, 4) ? GAGG_WAIT_EPOCH : some_channel(d);
	if (w->channel != GAGG_WAIT_EPOCH && one_in(d, 2))
		w->op = below(d, 8);
	else if (w->channel != GAGG_WAIT_EPOCH)
		w->chunk = below(d, 64);
	/* ever so often until the process dies */
	w->timeout_ns = one_in(d, 100) ? ~0ULL : below(d, 3000000);
}

/* right as far as one can tell; then, at times, not */
static void fill(struct dice *d, enum kind kind, union arg *a)
{
	uint32_t n = ioctls[kind].size, times;

	memset(a->raw, 0, n + 64);
	a->size = n;
	switch (kind) {
	case K_OPEN:
		fill_open(d, &a->open);
		break;
	case K_CHANNEL:
		fill_channel(d, &a->channel);
		break;
	case K_CHANNEL_FREE:
		a->channel_free.channel = some_channel(d);
		break;
	case K_SUBMIT:
		fill_submit(d, &a->submit);
		break;
	case K_WAIT:
		fill_wait(d, &a->wait);
		break;
	case K_TIMES:
		fill_times(d, &a->times);
		break;
	default:
		break;
	}
	/* ranks that disagree end the epoch */
	if (!one_in(d, kind == K_SUBMIT || kind == K_DETACH ? 16 : 4))
		return;
	for (times = 1 + (uint32_t)below(d, 2); times; times--) {
		uint32_t bits = 8 << below(d, 4), at;
		uint64_t v = odd_number(d, bits);

		/* the size less often: nothing else is looked at then */
		at = (uint32_t)below(d, n / 4) * 4;
		if (!at && !one_in(d, 8))
			at = 4;
		memcpy(a->raw + at, &v, bits / 8);
	}
}

static void *somewhere(struct dice *d, void *right)
{
	switch (below(d, 32)) {
	case 0:
		return NULL;
	case 1:
		return (void *)(uintptr_t)odd_number(d, 64);
	case 2:
		return maps[below(d, MAPS)].at;
	case 3:
		return (char *)right + below(d, 8);
	default:
		return right;
	}
}

static void do_ioctl(struct dice *d, enum kind kind)
{
	union arg *a = &args[below(d, ARGS)];
	int fd = file(d);

	fill(d, kind, a);
	count(kind, ioctl(fd, ioctls[kind].cmd, somewhere(d, a)));
	/* last one's geometry serves for mmap() */
	if (kind == K_ATTACH && a->attach.geo.ring)
		shape = a->attach.geo;
}

static void do_noise(struct dice *d)
{
	union arg *a = &args[below(d, ARGS)];
	uint32_t nr = (uint32_t)below(d, 12);
	unsigned int cmd = nr < 10 && one_in(d, 2) ? ioctls[nr].cmd : 0;

	scatter(d, a->raw, 256);
	if (one_in(d, 2))
		a->size = (uint32_t)odd_number(d, 13);
	if (!cmd)
		cmd = one_in(d, 4) ? (unsigned int)odd_number(d, 32) :
		      _IOC(below(d, 4), GAGG_IOC_MAGIC, nr, odd_number(d, 14));
	count(K_NOISE, ioctl(file(d), cmd, somewhere(d, a)));
}

/* --- memory -------------------------------------------------------------- */

/* as a trainer does; the first maps are of the first regions */
static void map_all(void)
{
	int i;

	for (i = 0; i < GAGG_REG_COUNT; i++) {
		const struct gagg_region *r = &shape.region[i];
		int prot = i < GAGG_REG_DONE ? PROT_READ | PROT_WRITE : PROT_READ;

		if (r->length > SLOT || mmap(maps[i].at, r->length, prot, MAP_SHARED | MAP_FIXED,
					     files[0], (off_t)r->offset) == MAP_FAILED)
			continue;
		maps[i].length = r->length;
		maps[i].region = i;
	}
}

static void do_mmap(struct dice *d)
{
	struct gagg_region r = { .offset = odd_number(d, 64) & ~4095ULL, .length = 4096 };
	int prot = PROT_READ, flags = MAP_SHARED, region = (int)below(d, GAGG_REG_COUNT);
	struct map *m = &maps[GAGG_REG_COUNT + below(d, MAPS - GAGG_REG_COUNT)];
	void *p;

	if (!one_in(d, 8))
		r = shape.region[region];
	/* of another channel */
	if (one_in(d, 8))
		r.offset += (uint64_t)below(d, 5) << (36 + below(d, 8));
	if (one_in(d, 16))
		r.offset += odd_number(d, 64) & ~4095ULL;
	if (one_in(d, 16))
		r.length = odd_number(d, 40);
	if (region < GAGG_REG_DONE)
		prot |= PROT_WRITE;
	if (one_in(d, 8))
		prot = (int)below(d, 8);
	if (one_in(d, 16))
		flags = MAP_PRIVATE;
	if (one_in(d, 8))
		flags |= MAP_POPULATE;
	if (r.length <= SLOT)
		flags |= MAP_FIXED;
	p = mmap(m->at, r.length, prot, flags, file(d), r.offset);
	count(K_MMAP, p == MAP_FAILED ? -1 : 0);
	if (p == MAP_FAILED)
		return;
	if (p != m->at) {
		munmap(p, r.length);
		return;
	}
	m->length = r.length;
	m->region = region;
}

static void *reserve(void *at, size_t n)
{
	return mmap(at, n, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
		    (at ? MAP_FIXED : 0), -1, 0);
}

static void do_memory(struct dice *d)
{
	static const int advice[] = {
		MADV_NORMAL, MADV_DONTNEED, MADV_REMOVE, MADV_DONTFORK, MADV_DOFORK,
		MADV_HUGEPAGE, MADV_MERGEABLE, MADV_DODUMP, MADV_FREE, MADV_COLD,
		MADV_PAGEOUT, MADV_POPULATE_READ, MADV_POPULATE_WRITE, MADV_WILLNEED,
	};
	struct map m = maps[below(d, MAPS)];
	size_t n = one_in(d, 2) ? 4096 : m.length;
	char *at;
	long ret;

	if (!m.length)
		return;
	at = m.at + below(d, (m.length + 4095) / 4096) * 4096;
	if (at + n > m.at + SLOT)
		return;
	switch (below(d, 7)) {
	case 0:
		ret = mprotect(at, n, (int)below(d, 8));
		break;
	case 1:
		ret = mremap(at, n, n + below(d, 3) * 4096, 0) == MAP_FAILED ? -1 : 0;
		break;
	case 2:
		ret = reserve(at, n) == MAP_FAILED ? -1 : 0;
		break;
	case 3:
		ret = madvise(at, n, advice[below(d, sizeof(advice) / sizeof(advice[0]))]);
		break;
	case 4:
		ret = one_in(d, 2) ? mlock(at, n) : munlock(at, n);
		break;
	case 5:
		ret = msync(at, n, MS_SYNC);
		break;
	default:
		ret = pwrite(content, at, 256, 4096);
	}
	count(K_MEMORY, ret);
}

/* into a region; by the kernel, since others may unmap it at any time */
static void do_fill(struct dice *d)
{
	struct map m = maps[one_in(d, 2) ? 0 : below(d, MAPS)];
	uint64_t words[32], n = 1 + below(d, 32);
	char *at = m.at;
	off_t from = (off_t)below(d, 16) * 256;

	if (!m.length)
		return;
	scatter(d, words, sizeof(words));
	if (m.region == GAGG_REG_PUSH && !one_in(d, 4)) {
		/* as a trainer does */
		filled += one_in(d, 16) ? odd_number(d, 64) : below(d, 16);
		words[0] = filled;
		n = 1;
	} else {
		at += below(d, m.length + 8);
	}
	if (pwrite(content, words, n * 8, from) < 0)
		return;
	count(K_FILL, pread(content, at, n * 8, from));
}

/* --- files --------------------------------------------------------------- */

static void do_poll(struct dice *d)
{
	static int epfd = -1;
	struct epoll_event ev = { .events = (uint32_t)odd_number(d, 32) };
	struct pollfd p = { file(d), (short)odd_number(d, 16), 0 };

	if (!one_in(d, 3)) {
		count(K_POLL, poll(&p, 1, (int)below(d, 3)));
		return;
	}
	if (epfd < 0)
		epfd = epoll_create1(EPOLL_CLOEXEC);
	ev.data.fd = p.fd;
	if (one_in(d, 2))
		count(K_POLL, epoll_ctl(epfd, 1 + (int)below(d, 3), p.fd, &ev));
	else
		count(K_POLL, epoll_wait(epfd, &ev, 1, (int)below(d, 3)));
}

static void do_read(struct dice *d)
{
	union arg *a = &args[below(d, ARGS)];

	count(K_READ, read(file(d), somewhere(d, a), one_in(d, 4) ? odd_number(d, 20) : 8));
}

static void do_file(struct dice *d)
{
	int fd = file(d), other;
	long ret;

	switch (below(d, 7)) {
	case 0:
		ret = write(fd, args, 8);
		break;
	case 1:
		ret = lseek(fd, (off_t)odd_number(d, 63), (int)below(d, 5));
		break;
	case 2:
		ret = fsync(fd);
		break;
	case 3:
		/* sometimes it blocks */
		ret = fcntl(fd, F_SETFL, one_in(d, 20) ? 0 : O_NONBLOCK);
		break;
	case 4:
		ret = fcntl(fd, F_SETFL, O_NONBLOCK | O_ASYNC);
		break;
	case 5:
		ret = posix_fallocate(fd, 0, 4096);
		errno = (int)ret;
		ret = -!!ret;
		break;
	default:
		other = dup(fd);
		ret = other;
		if (other >= 0)
			close(other);
	}
	count(K_FILE, ret);
}

static void do_reopen(struct dice *d)
{
	int *f = &files[one_in(d, 16) ? 0 : below(d, FILES)], was = *f, fd = one_in(d, 4) ? dup(file(d)) : dev();

	count(K_REOPEN, fd);
	if (fd < 0)
		return;
	*f = fd;
	close(was);
}

/* --- io_uring ------------------------------------------------------------ */

struct queue {
	struct io_uring ring;
	bool up;
};

static void harvest(struct queue *q)
{
	struct io_uring_cqe *cqe;

	while (!io_uring_peek_cqe(&q->ring, &cqe)) {
		tally_add(tally, (enum kind)cqe->user_data, cqe->res < 0 ? -cqe->res : 0);
		io_uring_cqe_seen(&q->ring, cqe);
	}
}

static void command(struct dice *d, struct io_uring_sqe *sqe, enum kind kind)
{
	enum kind what = kind == K_URING_SUBMIT ? K_SUBMIT : K_WAIT;
	union arg *a = &args[below(d, ARGS)];
	struct gagg_uring_cmd u = { .addr = (uintptr_t)a };

	fill(d, what, a);
	if (what == K_WAIT && !one_in(d, 8))
		a->wait.timeout_ns = ~0ULL;
	u.addr = (uintptr_t)somewhere(d, a);
	u.len = a->size;
	sqe->opcode = IORING_OP_URING_CMD;
	sqe->fd = file(d);
	sqe->cmd_op = ioctls[what].cmd;
	if (kind == K_URING_ODD) {
		u.len = (uint32_t)odd_number(d, 13);
		u.reserved = (uint32_t)below(d, 2);
		sqe->cmd_op = one_in(d, 2) ? ioctls[below(d, 10)].cmd :
			      (uint32_t)odd_number(d, 32);
		sqe->rw_flags = one_in(d, 4) ? (int)odd_number(d, 32) : 0;
		sqe->ioprio = one_in(d, 8) ? (uint16_t)odd_number(d, 16) : 0;
	}
	memcpy(sqe->cmd, &u, sizeof(u));
}

static void do_uring(struct dice *d, struct queue *q, enum kind kind)
{
	struct io_uring_sqe *sqe;

	if (!q->up)
		q->up = !io_uring_queue_init(16, &q->ring,
					     one_in(d, 4) ? IORING_SETUP_SQE128 : 0);
	if (!q->up)
		return;
	sqe = io_uring_get_sqe(&q->ring);
	if (!sqe)
		return;
	memset(sqe, 0, sizeof(*sqe));
	if (kind != K_URING_OTHER)
		command(d, sqe, kind);
	else if (one_in(d, 3))
		io_uring_prep_poll_add(sqe, file(d), POLLIN);
	else if (one_in(d, 2))
		io_uring_prep_read(sqe, file(d), &args[below(d, ARGS)], 8, 0);
	else
		io_uring_prep_cancel64(sqe, K_URING_WAIT + below(d, 2), IORING_ASYNC_CANCEL_ALL);
	sqe->user_data = kind;
	sqe->flags |= one_in(d, 4) ? IOSQE_ASYNC : 0;
	sqe->flags |= one_in(d, 8) ? IOSQE_IO_LINK : 0;
	sqe->flags |= one_in(d, 16) ? IOSQE_IO_DRAIN : 0;
	io_uring_submit(&q->ring);
	harvest(q);
	if (one_in(d, 50)) {
		io_uring_queue_exit(&q->ring);
		q->up = false;
	}
}

/* --- processes ----------------------------------------------------------- */

static void call(struct dice *d, struct queue *q, enum kind kind);

/* it has the files and, but for its regions, the memory */
static void do_fork(struct dice *d)
{
	static int alive;
	struct queue none = { 0 };
	int calls = (int)below(d, 30);
	pid_t pid;

	if (alive && waitpid(-1, NULL, WNOHANG) > 0)
		alive--;
	if (alive > 1)
		return;
	pid = fork();
	count(K_FORK, pid);
	if (pid) {
		alive += pid > 0;
		return;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (calls--)
		call(d, &none, below(d, K_URING_SUBMIT));
	if (one_in(d, 2))
		usleep((useconds_t)below(d, 300000));
	_exit(0);
}

/* as a trainer: a process does it first, and at times again */
static void do_join(uint64_t patience)
{
	struct gagg_ioc_attach attach = { .size = sizeof(attach) };
	struct gagg_ioc_wait wait = { .size = sizeof(wait), .channel = GAGG_WAIT_EPOCH,
				      .timeout_ns = patience };
	struct gagg_ioc_open o = { .size = sizeof(o), .rank = self.rank };

	snprintf(o.name, sizeof(o.name), "%s", self.group);
	if ((ioctl(files[0], GAGG_IOC_OPEN, &o) && errno != EBUSY) ||
	    ioctl(files[0], GAGG_IOC_ATTACH, &attach))
		return;
	shape = attach.geo;
	map_all();
	count(K_EPOCH, ioctl(files[0], GAGG_IOC_WAIT, &wait));
}

static void call(struct dice *d, struct queue *q, enum kind kind)
{
	switch (kind) {
	case K_NOISE:
		do_noise(d);
		break;
	case K_MMAP:
		do_mmap(d);
		break;
	case K_MEMORY:
		do_memory(d);
		break;
	case K_FILL:
		do_fill(d);
		break;
	case K_POLL:
		do_poll(d);
		break;
	case K_READ:
		do_read(d);
		break;
	case K_FILE:
		do_file(d);
		break;
	case K_REOPEN:
		do_reopen(d);
		break;
	case K_URING_SUBMIT:
	case K_URING_WAIT:
	case K_URING_ODD:
	case K_URING_OTHER:
		do_uring(d, q, kind);
		break;
	case K_FORK:
		do_fork(d);
		break;
	case K_EPOCH:
		do_join(300000000);
		break;
	default:
		do_ioctl(d, kind);
	}
}

static enum kind some_kind(struct dice *d)
{
	uint64_t n = 0;
	int i;

	for (i = 0; i < KINDS; i++)
		n += weight[i];
	n = below(d, n);
	for (i = 0; n >= weight[i]; i++)
		n -= weight[i];
	return (enum kind)i;
}

static void *calls(void *arg)
{
	struct dice d = { .state = (uintptr_t)arg };
	struct queue q = { 0 };

	for (;;) {
		call(&d, &q, some_kind(&d));
		/* others want to run, too */
		if (one_in(&d, 8))
			usleep((useconds_t)below(&d, 10000));
	}
	return NULL;
}

static void enter(const char *netns)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/run/netns/%s", netns);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET)) {
		perror(path);
		_exit(2);
	}
	close(fd);
}

/*
 * A mapping that fails leaves a hole where it should have been; a ring that is
 * made then may lie there until another mapping replaces it.
 */
static void replaced(int sig)
{
	(void)sig;
	_exit(0);
}

static void process(const struct seat *seat, uint64_t seed)
{
	struct dice d = { .state = seed };
	pthread_t thread;
	int i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGSEGV, replaced);
	signal(SIGBUS, replaced);
	self = *seat;
	enter(seat->netns);
	content = memfd_create("fuzz", MFD_CLOEXEC);
	for (i = 0; i < MAPS; i++) {
		maps[i].at = reserve(NULL, SLOT);
		if (maps[i].at == MAP_FAILED)
			_exit(2);
	}
	for (i = 0; i < FILES; i++)
		files[i] = dev();
	do_join(2000000000);
	for (i = 0; i < THREADS; i++)
		pthread_create(&thread, NULL, calls, (void *)(uintptr_t)roll(&d));
	for (;;)
		pause();
}

static pid_t begin(const struct seat *seat, uint64_t seed)
{
	pid_t pid = fork();

	if (pid < 0) {
		perror("fork");
		exit(2);
	}
	if (!pid)
		process(seat, seed);
	return pid;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* false: it does not die */
static bool end(pid_t pid, int sig)
{
	double until = now() + 60;

	kill(pid, sig);
	while (waitpid(pid, NULL, WNOHANG) != pid) {
		if (now() > until) {
			printf("# ioctl: process %d does not die\n", pid);
			return false;
		}
		usleep(10000);
	}
	return true;
}

int main(int argc, char **argv)
{
	struct { pid_t pid; double until; } child[SEATS] = { 0 };
	struct dice d = { 0 };
	bool good = true;
	double start;
	int i, seconds;

	if (argc < 4) {
		fprintf(stderr, "see the top of selftests/vm/fuzz_ioctl.c\n");
		return 2;
	}
	seconds = atoi(argv[1]);
	d.state = strtoull(argv[2], NULL, 0);
	for (i = 3; i < argc && strcmp(argv[i], "--") && nseats < SEATS; i++) {
		struct seat *s = &seats[nseats++];
		char *rest = argv[i];

		s->netns = strsep(&rest, ":");
		s->group = strsep(&rest, ":");
		if (!rest)
			return 2;
		s->rank = (uint32_t)atoi(rest);
	}
	for (i++; i < argc && nnames < NAMES; i++)
		names[nnames++] = argv[i];
	tally = tally_new();
	start = now();
	while (good && (now() < start + seconds ||
			(!tally_complete(tally, kinds) &&
			 now() < start + TALLY_PATIENCE * seconds))) {
		for (i = 0; good && i < nseats; i++) {
			if (child[i].pid && now() < child[i].until)
				continue;
			if (child[i].pid)
				good = end(child[i].pid, one_in(&d, 2) ? SIGKILL : SIGTERM);
			child[i].pid = begin(&seats[i], roll(&d));
			child[i].until = now() + 3 + (double)below(&d, 9000) / 1000;
		}
		usleep(20000);
	}
	for (i = 0; i < nseats; i++)
		good &= end(child[i].pid, SIGKILL);
	return !(tally_report(tally, "device", kinds) && good);
}
