// SPDX-License-Identifier: GPL-2.0
/*
 * One trainer: joins a group as a rank, carries out a script, checks every
 * result against reference.h.
 *
 *	rank [OPTION...] GROUP RANK WORD...
 *
 *	--socket PATH	ask gaggd there; default: open /dev/gagg directly
 *	--timeout MS	to join, and of blocking calls (120000)
 *	--seed N	of the elements (1)
 *	--repeat N	carry out the script N times; 0: for ever
 *	--quiet		no line for each operation
 *
 * All ranks get the same words. A word is for all of them, or for some:
 *
 *	@2,3:WORD	for ranks 2 and 3		!2:WORD	for all but 2
 *	at:5:WORD	in the fifth repetition only (outermost)
 *
 *	allreduce:TYPE:OP:COUNT		TYPE: float32 float16 bfloat16 int32 int64
 *	reduce_scatter:TYPE:OP:COUNT	OP: sum mean min max
 *	allgather:BYTES   broadcast:BYTES:ROOT   barrier
 *	iallreduce:... and so on	non-blocking; checked by
 *	wait				until all are done
 *	events				begin to count completions (gagg_fd())
 *	poll				as wait, asleep in poll()
 *	clog				let writes to that descriptor wait, and fill it
 *	progress			spin, without a call, until the kernel says
 *					in mapped memory that all chunks are done, or
 *					nothing has moved for a minute
 *	plan, noplan			reductions that follow
 *	split:COLOR			operations that follow are of that part
 *	world, part:I			... of all, of the I-th split, from 0
 *	free				gives the current part back
 *	data:random  data:zero  data:nan:AT  data:inf:AT	what is contributed
 *	scale:E				times 2^E (integers: E <= 0)
 *	slack:BITS			by which an error may exceed its bound
 *	fail				from here on an operation has to fail; the
 *					words up to the next reattach are skipped
 *	reattach			join the next epoch
 *	sleep:MS  touch:FILE  await:FILE  say:TEXT
 *	fork				a child that holds the file, and sleeps
 *	children			that leave: one aborts, one finalizes, one goes on
 *	unshare				leave the network namespace
 *	again				the next operation has the number of the last
 *	number:N			the next operation is number N + 1: for ranks
 *					that call in another order
 *	kill				SIGKILL to oneself
 *	leave				exit without a word
 *	abort				leave at once, in order
 *	exits				after a failure exit() without more, in place of that
 *
 * A line for each event begins with "rank N ". Exit status: 0; 1 a result is
 * wrong or an operation has failed, or has not where it had to; 2 usage; 3 could
 * not join.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <linux/gagg.h>
#include <linux/gagg_wire.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "comm.h"
#include "reference.h"
#include "sys.h"

#define PARTS_MAX	16
#define PENDING_MAX	64
#define PLANS_MAX	64

enum kind { ALLREDUCE, REDUCE_SCATTER, ALLGATHER, BROADCAST, BARRIER };

/* a collective in flight, and what it needs to be checked */
struct op {
	struct op *next;
	enum kind kind;
	enum gagg_dtype dtype;
	enum gagg_op redop;
	size_t count;
	int root;
	uint32_t number;
	struct gagg_comm *comm;
	struct gagg_request *req;
	char *send;
	char *recv;
	size_t bytes;		/* of recv */
	struct data data[RANKS];
	int slack;
	enum exponents exponents;
	char word[128];
	struct timespec begin;
};

struct plan {
	struct gagg_comm *comm;
	size_t count;
	enum gagg_dtype dtype;
	struct gagg_plan *plan;
};

static struct {
	const char *group;
	const char *socket;
	uint32_t rank;
	int timeout;
	uint64_t seed;
	long repeat;
	bool quiet;

	struct gagg_comm *world;
	struct gagg_comm *comm;		/* where operations go */
	struct gagg_comm *part[PARTS_MAX];
	int parts;
	struct op *pending;
	struct plan plan[PLANS_MAX];
	int plans;
	bool planned;
	uint32_t number;		/* of operations */
	struct data data[RANKS];
	int slack;
	int events;			/* of "events" */
	bool fail;			/* an operation has to */
	bool failed;			/* and one has */
	bool exits;			/* and then nothing but exit() */
	int status;
} me = { .timeout = 120000, .seed = 1, .repeat = 1 };

static void say(const char *fmt, ...)
{
	char line[1024];
	va_list ap;
	int n;

	n = snprintf(line, sizeof(line), "rank %u ", me.rank);
	va_start(ap, fmt);
	n += vsnprintf(line + n, sizeof(line) - n, fmt, ap);
	va_end(ap);
	if (n > (int)sizeof(line) - 2)
		n = sizeof(line) - 2;
	line[n++] = '\n';
	/* one write: lines of ranks that share a file do not mix */
	if (write(STDOUT_FILENO, line, n) != n)
		_exit(1);
}

static void usage(const char *what)
{
	fprintf(stderr, "rank: '%s'? See the top of selftests/vm/rank.c\n", what);
	exit(2);
}

static double since(const struct timespec *t)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec - t->tv_sec) * 1e3 + (now.tv_nsec - t->tv_nsec) / 1e6;
}

static void *buffer(size_t bytes)
{
	char *p = malloc(bytes + 8);

	if (!p) {
		say("FAILED no memory");
		exit(1);
	}
	memset(p, 0xa5, bytes + 8);
	return p;
}

/* the group's ranks of a communicator */
static int ranks_of(struct gagg_comm *c, int *ranks)
{
	int i, n = gagg_size(c);

	for (i = 0; i < n; i++)
		ranks[i] = gagg_group_rank(c, i);
	return n;
}

/* --- checking ------------------------------------------------------------- */

static bool check_reduction(const struct op *o, double *worst, char *why, size_t size)
{
	int ranks[RANKS], n = ranks_of(o->comm, ranks);
	struct sum s = {
		.seed = me.seed, .op = o->number, .dtype = o->dtype, .redop = o->redop,
		.ranks = ranks, .n = n, .data = o->data, .slack = o->slack,
		.wire = gagg_wire(o->comm), .chunk = comm_float_lanes(o->comm),
		.exponents = o->exponents,
	};
	size_t first = o->kind == ALLREDUCE ? 0 : o->count * gagg_rank(o->comm);

	return sum_check(&s, first, o->count, o->recv, worst, why, size);
}

static bool check_bytes(const struct op *o, char *why, size_t size)
{
	int ranks[RANKS], n = ranks_of(o->comm, ranks), i;
	uint8_t *want = buffer(o->count);
	bool ok = true;

	for (i = 0; ok && i < n; i++) {
		if (o->kind == BROADCAST && i != o->root)
			continue;
		data_fill(NULL, me.seed, o->number, ranks[i], GAGG_BYTE, 0, o->count, want);
		ok = !memcmp(want, o->recv + (o->kind == BROADCAST ? 0 : i * o->count),
			     o->count);
	}
	free(want);
	if (!ok)
		snprintf(why, size, "the bytes of rank %d are wrong", ranks[i - 1]);
	return ok;
}

static void op_free(struct op *o)
{
	if (o->send != o->recv)
		free(o->send);
	free(o->recv);
	free(o);
}

static void check(struct op *o)
{
	struct gagg_result res;
	double worst = 0, ms = since(&o->begin);
	char why[256] = "";
	bool ok = true;

	gagg_last_result(o->comm, &res);
	if (o->kind <= REDUCE_SCATTER)
		ok = check_reduction(o, &worst, why, sizeof(why));
	else if (o->kind != BARRIER)
		ok = check_bytes(o, why, sizeof(why));
	if (ok && o->count && (int)res.contributors != gagg_size(o->comm)) {
		snprintf(why, sizeof(why), "%u contributors", res.contributors);
		ok = false;
	}
	if (o->recv && memcmp(o->recv + o->bytes, "\xa5\xa5\xa5\xa5", 4)) {
		snprintf(why, sizeof(why), "the buffer has run over");
		ok = false;
	}
	if (!ok) {
		me.status = 1;
		say("FAILED op %u %s: %s", o->number, o->word, why);
	} else if (!me.quiet) {
		say("op %u %s ok digest %016llx nonfinite %d overflow %d error %.3f ms %.0f",
		    o->number, o->word, (unsigned long long)digest(o->recv, o->bytes),
		    res.nonfinite_rank, res.overflow, worst, ms);
	}
	op_free(o);
}

static void failed(struct gagg_comm *comm, const char *what, int err)
{
	struct gagg_failure f;

	gagg_failure(comm, &f);
	say("%s %s code %d reason %u rank %u other %u epoch %llu: %s",
	    me.fail ? "failed" : "FAILED", what, err, f.reason, f.rank,
	    f.other, (unsigned long long)f.epoch, gagg_last_error(comm));
	me.failed = true;
	if (!me.fail)
		me.status = 1;
}

static void op_failed(const struct op *o, int err)
{
	char what[256];

	snprintf(what, sizeof(what), "op %u %s", o->number, o->word);
	failed(o->comm, what, err);
}

/* --- operations ----------------------------------------------------------- */

static struct gagg_plan *plan_for(const struct op *o)
{
	size_t count = o->count * (o->kind == REDUCE_SCATTER ? gagg_size(o->comm) : 1);
	struct plan *p;
	int i;

	if (!me.planned || o->dtype == GAGG_INT32 || o->dtype == GAGG_INT64 ||
	    o->redop > GAGG_MEAN)
		return NULL;
	for (i = 0; i < me.plans; i++) {
		p = &me.plan[i];
		if (p->comm == o->comm && p->count == count && p->dtype == o->dtype)
			return p->plan;
	}
	if (me.plans == PLANS_MAX)
		usage("too many plans");
	p = &me.plan[me.plans++];
	*p = (struct plan){ o->comm, count, o->dtype, NULL };
	if (gagg_plan_create(o->comm, count, o->dtype, &p->plan))
		usage("plan");
	return p->plan;
}

/* every third operation in place */
static void op_buffers(struct op *o)
{
	const struct data *d = &o->data[me.rank];
	int n = gagg_size(o->comm), self = gagg_rank(o->comm);
	size_t size = dtype_bytes(o->dtype), in = o->count, out = o->count;

	if (o->kind == BARRIER)
		return;
	if (o->kind == REDUCE_SCATTER)
		in *= n;
	if (o->kind == ALLGATHER)
		out *= n;
	o->bytes = out * size;
	if (o->kind == BROADCAST || (o->kind == ALLREDUCE && o->number % 3 == 2)) {
		o->recv = o->send = buffer(o->bytes);
	} else {
		o->recv = buffer(o->bytes);
		o->send = buffer(in * size);
	}
	if (o->kind != BROADCAST || self == o->root)
		data_fill(d, me.seed, o->number, (int)me.rank, o->dtype, 0, in, o->send);
}

static int op_call(struct op *o, bool nb)
{
	struct gagg_plan *plan = o->kind <= REDUCE_SCATTER ? plan_for(o) : NULL;
	struct gagg_comm *c = o->comm;

	o->exponents = plan ? EXP_PREDICTED : nb ? EXP_OWN : EXP_AGREED;
	switch (o->kind) {
	case ALLREDUCE:
		return nb ? gagg_iallreduce(o->send, o->recv, o->count, o->dtype, o->redop, c,
					    plan, &o->req) :
			    gagg_allreduce(o->send, o->recv, o->count, o->dtype, o->redop, c,
					   plan);
	case REDUCE_SCATTER:
		return nb ? gagg_ireduce_scatter(o->send, o->recv, o->count, o->dtype,
						 o->redop, c, plan, &o->req) :
			    gagg_reduce_scatter(o->send, o->recv, o->count, o->dtype,
						o->redop, c, plan);
	case ALLGATHER:
		return nb ? gagg_iallgather(o->send, o->count, o->recv, c, &o->req) :
			    gagg_allgather(o->send, o->count, o->recv, c);
	case BROADCAST:
		return nb ? gagg_ibroadcast(o->recv, o->count, o->root, c, &o->req) :
			    gagg_broadcast(o->recv, o->count, o->root, c);
	default:
		return nb ? gagg_ibarrier(c, &o->req) : gagg_barrier(c);
	}
}

/* a system call that strace shows and nothing else makes */
static void mark(const char *text)
{
	if (write(-1, text, strlen(text)) >= 0)
		abort();
}

static enum gagg_dtype parse_dtype(const char *s)
{
	static const char *const names[] = {
		[GAGG_FLOAT32] = "float32", [GAGG_FLOAT16] = "float16",
		[GAGG_BFLOAT16] = "bfloat16", [GAGG_INT32] = "int32", [GAGG_INT64] = "int64",
	};
	int i;

	for (i = 1; i <= GAGG_INT64; i++)
		if (s && names[i] && !strcmp(s, names[i]))
			return i;
	usage(s ? s : "type");
	return 0;
}

static enum gagg_op parse_redop(const char *s)
{
	static const char *const names[] = { "", "sum", "mean", "min", "max" };
	int i;

	for (i = 1; i < 5; i++)
		if (s && !strcmp(s, names[i]))
			return i;
	usage(s ? s : "operator");
	return 0;
}

static size_t parse_number(const char *s)
{
	char *end;
	size_t n;

	if (!s)
		usage("a number is missing");
	n = strtoull(s, &end, 0);
	if (!*s || *end)
		usage(s);
	return n;
}

/* the arguments behind the first ':' */
static void op_parse(struct op *o, const char *word)
{
	char buf[128], *rest = buf;

	snprintf(buf, sizeof(buf), "%s", word);
	strsep(&rest, ":");
	o->dtype = GAGG_BYTE;
	if (o->kind <= REDUCE_SCATTER) {
		o->dtype = parse_dtype(strsep(&rest, ":"));
		o->redop = parse_redop(strsep(&rest, ":"));
	}
	if (o->kind != BARRIER)
		o->count = parse_number(strsep(&rest, ":"));
	if (o->kind == BROADCAST)
		o->root = (int)parse_number(strsep(&rest, ":"));
}

static void run_op(enum kind kind, bool nb, const char *word, bool mine)
{
	struct op *o, **end;
	int err;

	/* all ranks count alike */
	me.number++;
	if (!mine)
		return;
	o = calloc(1, sizeof(*o));
	if (!o)
		exit(1);
	o->kind = kind;
	o->number = me.number;
	o->comm = me.comm;
	o->slack = me.slack;
	memcpy(o->data, me.data, sizeof(o->data));
	snprintf(o->word, sizeof(o->word), "%s", word);
	op_parse(o, word);
	op_buffers(o);
	clock_gettime(CLOCK_MONOTONIC, &o->begin);
	mark("begin");
	err = op_call(o, nb);
	mark("end");
	if (err) {
		op_failed(o, err);
		op_free(o);
	} else if (nb) {
		for (end = &me.pending; *end; end = &(*end)->next)
			;
		*end = o;
	} else {
		check(o);
	}
}

static void wait_all(void)
{
	struct op *o;
	int err;

	while ((o = me.pending)) {
		me.pending = o->next;
		err = gagg_wait(&o->req, me.timeout);
		if (!err) {
			check(o);
			continue;
		}
		op_failed(o, err);
		if (err == GAGG_ERR_TIMEOUT)
			exit(1);
		op_free(o);
	}
}

/* operations that fit into the ring: nobody has to go on filling */
static void poll_all(void)
{
	struct pollfd p = { .fd = me.events, .events = POLLIN };
	uint64_t n, counted = 0;
	struct op *o;
	int err, done;

	while (me.pending) {
		if (poll(&p, 1, me.timeout) != 1) {
			say("FAILED poll: nothing has completed");
			exit(1);
		}
		/* or the epoch has ended */
		if (read(me.events, &n, sizeof(n)) == sizeof(n))
			counted += n;
		for (done = 1; done && (o = me.pending);) {
			err = gagg_test(&o->req, &done);
			if (!done)
				break;
			me.pending = o->next;
			if (!err)
				check(o);
			else
				op_failed(o, err);
		}
	}
	say("poll counted %llu", (unsigned long long)counted);
}

/* what its own end of a shared file description lets a trainer do to the other */
static void clog_events(void)
{
	uint64_t most = UINT64_MAX - 1, n;

	while (read(me.events, &n, sizeof(n)) > 0)
		;
	if (fcntl(me.events, F_SETFL, 0) || write(me.events, &most, sizeof(most)) < 0)
		say("clog: %s", strerror(errno));
}

/*
 * The DONE region of channel 0, which the library has mapped: the third of the
 * channel's mappings, in the order of their offsets.
 */
static const struct gagg_done *done_region(void)
{
	static const struct gagg_done *done;
	unsigned long long start, offset, found[4], at[4], t;
	int i, j, n = 0;
	char line[512];
	FILE *f;

	if (done)
		return done;
	f = fopen("/proc/self/maps", "r");
	if (!f)
		exit(1);
	while (fgets(line, sizeof(line), f))
		if (strstr(line, "/dev/gagg") && n < 4 &&
		    sscanf(line, "%llx-%*x %*s %llx", &start, &offset) == 2) {
			found[n] = start;
			at[n++] = offset;
		}
	fclose(f);
	if (n != 4)
		usage("progress: before any split");
	for (i = 0; i < n; i++)
		for (j = i + 1; j < n; j++)
			if (at[j] < at[i]) {
				t = at[i], at[i] = at[j], at[j] = t;
				t = found[i], found[i] = found[j], found[j] = t;
			}
	done = (const void *)(uintptr_t)found[GAGG_REG_DONE];
	return done;
}

/* the last chunk that there will be, from what was filled */
static void progress(void)
{
	const struct gagg_done *done = done_region();
	uint64_t was = __atomic_load_n(&done->completed, __ATOMIC_ACQUIRE), now = was, last;
	struct timespec begin;
	volatile double x = 1;
	int i, done_flag = 0, err;
	double moved;

	if (!me.pending || me.pending->next)
		usage("progress");
	last = me.pending->comm->cursor;
	clock_gettime(CLOCK_MONOTONIC, &begin);
	moved = 0;
	mark("spin");
	while (now != last && since(&begin) - moved < 60000) {
		for (i = 0; i < 100000; i++)
			x = x * 1.000001 + 1e-9;
		now = __atomic_load_n(&done->completed, __ATOMIC_ACQUIRE);
		if (now != was)
			moved = since(&begin);
		was = now;
	}
	mark("spun");
	/* takes what is there, and makes no call */
	err = gagg_test(&me.pending->req, &done_flag);
	mark("tested");
	say("progress %llu chunks ms %.0f complete %d", (unsigned long long)now, moved,
	    done_flag);
	if (!done_flag) {
		me.status = 1;
		return;
	}
	if (err)
		op_failed(me.pending, err);
	else
		check(me.pending);
	me.pending = NULL;
}

/* --- other words ---------------------------------------------------------- */

static void say_attached(void)
{
	struct gagg_ioc_status st = { .size = sizeof(st) };

	int err = sys_ioctl(me.world->session->fd, GAGG_IOC_STATUS, &st);

	if (err)
		say("FAILED status: %s", strerror(-err));
	say("attached epoch %llu size %d", (unsigned long long)st.epoch,
	    gagg_size(me.world));
}

static void join(void)
{
	struct gagg_config cfg = {
		.size = sizeof(cfg), .rank = me.rank, .group = me.group,
		.socket = me.socket, .timeout_ms = me.timeout,
	};
	int err, fd;

	if (me.socket) {
		err = gagg_init(&me.world, &cfg);
	} else {
		fd = gagg_open_rank(me.group, me.rank);
		err = fd < 0 ? fd : gagg_init_fd(&me.world, fd, me.timeout);
	}
	if (err) {
		say("%s join code %d: %s", me.fail ? "failed" : "FAILED", err,
		    gagg_last_error(NULL));
		exit(3);
	}
	me.comm = me.world;
	say_attached();
}

static void reattach(void)
{
	int err, i;

	me.failed = false;
	me.fail = false;
	wait_all();
	for (i = 0; i < me.parts; i++)
		gagg_comm_free(me.part[i]);
	me.parts = 0;
	me.comm = me.world;
	/* a twin that is being started again */
	for (i = 0, err = gagg_reattach(me.world); err == GAGG_ERR_BROKER && i < 600; i++) {
		usleep(100000);
		err = gagg_reattach(me.world);
	}
	if (err) {
		say("FAILED reattach code %d: %s", err, gagg_last_error(me.world));
		exit(3);
	}
	say_attached();
}

static void split(const char *arg)
{
	int err;

	if (me.parts == PARTS_MAX)
		usage("too many parts");
	err = gagg_comm_split(me.world, atoi(arg), 0, &me.part[me.parts]);
	if (err) {
		failed(me.world, "split", err);
		return;
	}
	me.comm = me.part[me.parts++];
}

static void free_part(void)
{
	int i, err;

	for (i = 0; i < me.parts; i++)
		if (me.part[i] == me.comm)
			break;
	if (i == me.parts)
		usage("free");
	err = gagg_comm_free(me.comm);
	if (err) {
		say("FAILED free code %d", err);
		me.status = 1;
	}
	me.part[i] = me.part[--me.parts];
	me.comm = me.world;
}

static void set_data(struct data *d, const char *arg)
{
	if (!strcmp(arg, "random"))
		d->pattern = DATA_RANDOM;
	else if (!strcmp(arg, "zero"))
		d->pattern = DATA_ZERO;
	else if (!strncmp(arg, "nan:", 4))
		d->pattern = DATA_NAN;
	else if (!strncmp(arg, "inf:", 4))
		d->pattern = DATA_INF;
	else
		usage(arg);
	if (d->pattern >= DATA_NAN)
		d->at = parse_number(arg + 4);
}

static void await(const char *file)
{
	struct stat st;

	while (stat(file, &st))
		usleep(10000);
}

static void touch(const char *file)
{
	FILE *f = fopen(file, "w");

	if (!f)
		usage(file);
	fclose(f);
}

static void fork_holder(void)
{
	pid_t pid;

	pid = fork();
	if (pid < 0)
		exit(1);
	if (!pid) {
		/* not a reader of the parent's output */
		fclose(stdout);
		close(STDOUT_FILENO);
		close(STDERR_FILENO);
		for (;;)
			pause();
	}
	say("forked %d", pid);
}

/* what a child's destructors do; 0: it is told that it is no rank */
static int child_leaves(int how)
{
	int err;

	if (how == 0) {
		gagg_abort(me.world);
		return 0;
	}
	err = how == 1 ? gagg_finalize(me.world) : gagg_barrier(me.world);
	return err != GAGG_ERR_CLOSED;
}

static void children(void)
{
	int how, status;
	pid_t pid;

	for (how = 0; how < 3; how++) {
		pid = fork();
		if (!pid)
			_exit(child_leaves(how));
		if (pid < 0 || waitpid(pid, &status, 0) != pid)
			exit(1);
		if (status) {
			say("FAILED child %d status %x", how, status);
			me.status = 1;
		}
	}
}

static void leave_netns(void)
{
	if (unshare(CLONE_NEWNET)) {
		say("FAILED unshare: %s", strerror(errno));
		exit(1);
	}
}

static void leave_in_order(void)
{
	gagg_abort(me.world);
	exit(me.status);
}

static bool selected(const char *list, size_t len, uint32_t rank)
{
	const char *end = list + len;

	while (list < end) {
		char *next;

		if (strtoul(list, &next, 10) == rank)
			return true;
		if (next == list)
			usage(list);
		list = next + (*next == ',');
	}
	return false;
}

static const char *argument(const char *word, const char *name)
{
	size_t n = strlen(name);

	if (strncmp(word, name, n))
		return NULL;
	if (word[n] == ':')
		return word + n + 1;
	return word[n] ? NULL : word + n;
}

static bool run_collective(const char *word, bool mine)
{
	static const char *const names[] = {
		"allreduce", "reduce_scatter", "allgather", "broadcast", "barrier",
	};
	bool nb = *word == 'i';
	int i;

	for (i = 0; i < 5; i++)
		if (argument(word + nb, names[i])) {
			run_op(i, nb, word, mine);
			return true;
		}
	return false;
}

/* words that set what all ranks know of each */
static bool run_data(const char *word, const bool *for_rank)
{
	const char *arg;
	int r;

	arg = argument(word, "data");
	if (arg) {
		for (r = 0; r < RANKS; r++)
			if (for_rank[r])
				set_data(&me.data[r], arg);
		return true;
	}
	arg = argument(word, "scale");
	if (arg)
		for (r = 0; r < RANKS; r++)
			if (for_rank[r])
				me.data[r].scale = atoi(arg);
	return arg;
}

static void run_other(const char *word)
{
	const char *a;

	if (argument(word, "wait"))
		wait_all();
	else if (argument(word, "events"))
		me.events = gagg_fd(me.world);
	else if (argument(word, "poll"))
		poll_all();
	else if (argument(word, "again"))
		me.number--;
	else if (argument(word, "clog"))
		clog_events();
	else if (argument(word, "progress"))
		progress();
	else if (argument(word, "plan"))
		me.planned = true;
	else if (argument(word, "noplan"))
		me.planned = false;
	else if ((a = argument(word, "split")))
		split(a);
	else if (argument(word, "world"))
		me.comm = me.world;
	else if ((a = argument(word, "part")))
		me.comm = me.part[parse_number(a) % PARTS_MAX];
	else if (argument(word, "free"))
		free_part();
	else if ((a = argument(word, "slack")))
		me.slack = atoi(a);
	else if (argument(word, "fail"))
		me.fail = true;
	else if ((a = argument(word, "sleep")))
		usleep(parse_number(a) * 1000);
	else if ((a = argument(word, "touch")))
		touch(a);
	else if ((a = argument(word, "await")))
		await(a);
	else if ((a = argument(word, "say")))
		say("%s", a);
	else if (argument(word, "fork"))
		fork_holder();
	else if (argument(word, "children"))
		children();
	else if (argument(word, "unshare"))
		leave_netns();
	else if ((a = argument(word, "number")))
		me.number = (uint32_t)parse_number(a);
	else if (argument(word, "kill"))
		raise(SIGKILL);
	else if (argument(word, "leave"))
		_exit(me.status);
	else if (argument(word, "abort"))
		leave_in_order();
	else if (argument(word, "exits"))
		me.exits = true;
	else
		usage(word);
}

static void run_word(const char *word, long round)
{
	bool for_rank[RANKS], mine;
	const char *end;
	int r;

	memset(for_rank, true, sizeof(for_rank));
	if (!strncmp(word, "at:", 3)) {
		end = strchr(word + 3, ':');
		if (!end || atol(word + 3) != round)
			return;
		word = end + 1;
	}
	if (*word == '@' || *word == '!') {
		end = strchr(word, ':');
		if (!end)
			usage(word);
		for (r = 0; r < RANKS; r++)
			for_rank[r] = selected(word + 1, end - word - 1, r) == (*word == '@');
		word = end + 1;
	}
	mine = for_rank[me.rank];
	if (argument(word, "reattach")) {
		if (!mine)
			return;
		if (me.fail && !me.failed) {
			say("FAILED: no operation has failed");
			me.status = 1;
		}
		reattach();
		return;
	}
	if (me.failed)
		mine = false;
	if (run_data(word, for_rank) || run_collective(word, mine))
		return;
	if (mine)
		run_other(word);
}

static void run(char **words)
{
	long round;
	char **w;

	for (round = 1; !me.repeat || round <= me.repeat; round++) {
		for (w = words; *w; w++)
			run_word(*w, round);
		if (me.failed)
			break;
	}
	wait_all();
}

int main(int argc, char **argv)
{
	int err;

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (; argc > 1 && argv[1][0] == '-'; argc--, argv++) {
		if (!strcmp(argv[1], "--quiet")) {
			me.quiet = true;
			continue;
		}
		if (argc < 3)
			usage(argv[1]);
		if (!strcmp(argv[1], "--socket"))
			me.socket = argv[2];
		else if (!strcmp(argv[1], "--timeout"))
			me.timeout = atoi(argv[2]);
		else if (!strcmp(argv[1], "--seed"))
			me.seed = parse_number(argv[2]);
		else if (!strcmp(argv[1], "--repeat"))
			me.repeat = (long)parse_number(argv[2]);
		else
			usage(argv[1]);
		argc--;
		argv++;
	}
	if (argc < 3)
		usage("");
	me.group = argv[1];
	me.rank = (uint32_t)parse_number(argv[2]);
	if (me.rank >= RANKS)
		usage(argv[2]);
	join();
	run(argv + 3);
	if (me.fail && !me.failed) {
		say("FAILED: no operation has failed");
		me.status = 1;
	}
	if (me.failed) {
		if (!me.exits)
			gagg_abort(me.world);
	} else {
		err = gagg_finalize(me.world);
		if (err) {
			say("FAILED finalize code %d: %s", err, gagg_last_error(NULL));
			me.status = 1;
		}
	}
	say("ends %d", me.status);
	return me.status;
}
