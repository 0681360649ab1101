// SPDX-License-Identifier: GPL-2.0
/*
 * Something that is asked of the module, again and again, while each allocation
 * that it takes fails in turn, until it succeeds without.
 *
 *	nomem MODE,... [errors=N] netlink REQUEST... [undo REQUEST...]
 *	nomem MODE,... [errors=N] session GROUP RANK ACTION
 *	nomem MODE,... [errors=N] module FILE
 *
 * MODE: nth, works, slab, pages (inject.h). errors: from the last allocation
 * backwards, until N have led to an error: what is before them is not the module's.
 * REQUEST: netmsg.h. ACTION: open, bind, attach, mmap, channel, submit, uring,
 * epoch (attach, and an op when it has begun), elsewhere (an op on a channel that
 * other hosts do not know yet).
 *
 * Each attempt has to succeed, and is undone, or to fail with an error that says
 * so and to leave everything as it was before. When the answer itself cannot be
 * given (EFAULT, a lost acknowledgement), either. A line for each mode says how many
 * allocations there were (or bytes, or pages), how many of them were made to fail,
 * of what kinds they were and what errors they led to.
 * Exit status 1: an attempt did neither.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/gagg.h>
#include <linux/gagg_netlink.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include "inject.h"
#include "netmsg.h"

#define STEPS	32		/* of what fails from somewhere on */
#define SECOND	1000000000ULL

static unsigned int attempt, bad;

static void __attribute__((format(printf, 1, 2))) wrong(const char *format, ...)
{
	va_list args;

	printf("attempt %u: ", attempt);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	if (++bad == 10) {
		printf("and so on\n");
		exit(1);
	}
}

static void die(const char *what)
{
	fprintf(stderr, "attempt %u: %s: %s\n", attempt, what, strerror(errno));
	exit(2);
}

static const char *error_name(int err)
{
	const char *name = strerrorname_np(err);

	return err ? name ? name : "?" : "OK";
}

/*
 * What is done in an attempt. begin() brings about what act() needs; only act()
 * is hit; result() learns what became of it, an errno; end() looks whether all
 * is as it has to be, and undoes.
 */
struct action {
	const char *name;
	void (*begin)(void);
	int (*act)(void);
	int (*result)(int err);
	void (*end)(int err);
};

/* --- netlink ----------------------------------------------------------- */

static struct {
	char **word[2];			/* the request, what undoes it */
	int words[2];
	int fd;
	uint16_t type;
	bool told;			/* the acknowledgement has come */
	char before[65536];
	char after[65536];
} nl;

static void nl_build(int which)
{
	uint8_t cmd = netmsg_command(nl.word[which][0]);
	int i;

	genl_begin(nl.type, cmd == GAGG_CMD_MEMBER_GET ? NLM_F_DUMP : NLM_F_ACK, cmd);
	for (i = 1; i < nl.words[which]; i++)
		netmsg_attribute(nl.word[which][i]);
}

/* what changes by itself, or with every change; by depth of the nest */
static bool transient(int depth, int type)
{
	if (depth == 1)
		return type == GAGG_GA_STATE || type == GAGG_GA_EPOCH ||
		       type == GAGG_GA_REASON || type == GAGG_GA_REASON_RANK ||
		       type == GAGG_GA_MISMATCH || type == GAGG_GA_PAD;
	return depth == 3 && (type == GAGG_MA_STATE || type == GAGG_MA_MISMATCH ||
			      type == GAGG_MA_RTT || type == GAGG_MA_CWND ||
			      type == GAGG_MA_HEARD || type == GAGG_MA_TIMES ||
			      type == GAGG_MA_MISMATCH_HERE ||
			      type == GAGG_MA_MISMATCH_THERE);
}

static bool nested(int depth, int type)
{
	return depth == 0 || (depth == 1 && type == GAGG_GA_MEMBERS) || depth == 2;
}

static size_t keep(char *to, size_t room, const char *from, size_t len, int depth)
{
	size_t at, n = 0;

	for (at = 0; at + sizeof(struct nlattr) <= len;) {
		const struct nlattr *a = (const void *)(from + at);
		int type = a->nla_type & NLA_TYPE_MASK;

		if (nested(depth, type)) {
			n += keep(to + n, room - n, (const char *)(a + 1),
				  a->nla_len - sizeof(*a), depth + 1);
		} else if (!transient(depth, type)) {
			if (room - n < a->nla_len)
				die("state");
			memcpy(to + n, a, a->nla_len);
			n += a->nla_len;
		}
		at += (a->nla_len + 3U) & ~3U;
	}
	return n;
}

/* all groups of the namespace, on a socket of its own */
static void nl_state(char *to, size_t room)
{
	static char raw[65536];
	bool done = false;
	uint16_t type;
	int fd = netmsg_open(&type);
	size_t n = 0;

	memset(to, 0, room);
	genl_begin(type, NLM_F_DUMP, GAGG_CMD_GROUP_GET);
	if (genl_send(fd))
		die("dump");
	while (!done) {
		ssize_t len = recv(fd, raw, sizeof(raw), 0);
		struct nlmsghdr *h = (void *)raw;

		if (len < 0)
			die("dump");
		for (; NLMSG_OK(h, len); h = NLMSG_NEXT(h, len)) {
			if (h->nlmsg_type == NLMSG_DONE || h->nlmsg_type == NLMSG_ERROR)
				done = true;
			else
				n += keep(to + n, room - n,
					  (char *)NLMSG_DATA(h) + GENL_HDRLEN,
					  h->nlmsg_len - NLMSG_HDRLEN - GENL_HDRLEN, 0);
		}
	}
	close(fd);
}

static void nl_begin(void)
{
	nl_state(nl.before, sizeof(nl.before));
	nl_build(0);
}

static int nl_act(void)
{
	return genl_send(nl.fd);
}

static int nl_result(int err)
{
	const char *blamed;
	char text[512];

	/* then the kernel has not seen it */
	nl.told = true;
	if (err)
		return err;
	err = netmsg_answer(nl.fd, text, sizeof(text), &blamed);
	/* not an answer, but what became of the answer */
	nl.told = err != ENOBUFS;
	while (recv(nl.fd, text, sizeof(text), MSG_DONTWAIT | MSG_TRUNC) >= 0 ||
	       errno == ENOBUFS)
		;
	return err;
}

static bool nl_changed(void)
{
	nl_state(nl.after, sizeof(nl.after));
	return memcmp(nl.before, nl.after, sizeof(nl.after)) != 0;
}

static void nl_end(int err)
{
	bool changed = nl_changed();

	if (err && nl.told && changed)
		wrong("%s, and something has changed", error_name(err));
	if (!err && !changed && nl.words[1])
		wrong("OK, and nothing has changed");
	if (!changed)
		return;
	nl_build(1);
	err = nl_result(nl_act());
	if (err)
		wrong("%s instead of undoing it", error_name(err));
	if (nl_changed())
		wrong("it cannot be undone");
}

static const struct action nl_action = {
	"", nl_begin, nl_act, nl_result, nl_end
};

/* --- sessions ---------------------------------------------------------- */

static struct {
	const char *group;
	uint32_t rank;
	int fd;
	struct gagg_ioc_attach attach;
	struct gagg_ioc_channel channel;
	struct gagg_ioc_submit submit;
	uint64_t ops;
	void *map[GAGG_REG_COUNT];
	struct io_uring ring;
} s = { .fd = -1 };

static int call(unsigned long cmd, void *arg)
{
	return ioctl(s.fd, cmd, arg) ? errno : 0;
}

static int s_open(void)
{
	s.fd = open("/dev/gagg", O_RDWR | O_CLOEXEC);
	return s.fd < 0 ? errno : 0;
}

static int s_bind(void)
{
	struct gagg_ioc_open o = { .size = sizeof(o), .rank = s.rank };

	memcpy(o.name, s.group, strlen(s.group));
	return call(GAGG_IOC_OPEN, &o);
}

static int s_attach(void)
{
	s.attach = (struct gagg_ioc_attach){ .size = sizeof(s.attach) };
	s.ops = 0;
	return call(GAGG_IOC_ATTACH, &s.attach);
}

/* whatever is asked for, this rank has contributed nothing to it already */
static int filled(const struct gagg_geometry *geo)
{
	const struct gagg_region *r = &geo->region[GAGG_REG_PUSH];
	struct gagg_push *push = mmap(NULL, r->length, PROT_READ | PROT_WRITE, MAP_SHARED,
				      s.fd, (off_t)r->offset);

	if (push == MAP_FAILED)
		return errno;
	__atomic_store_n(&push->filled, ~0ULL, __ATOMIC_RELEASE);
	munmap(push, r->length);
	return 0;
}

static int wait_for(uint32_t channel, uint64_t op)
{
	struct gagg_ioc_wait w = { .size = sizeof(w), .channel = channel, .op = op,
				   .timeout_ns = 30 * SECOND };

	return call(GAGG_IOC_WAIT, &w);
}

static int s_epoch(void)
{
	int err = s_attach();

	return err ? err : wait_for(GAGG_WAIT_EPOCH, 0);
}

static int s_channel(void)
{
	s.channel = (struct gagg_ioc_channel){ .size = sizeof(s.channel), .channel = 5,
					       .members = 1ULL << s.rank };
	return call(GAGG_IOC_CHANNEL, &s.channel);
}

/* an op that needs no other rank and no memory */
static void barrier_on(uint32_t channel)
{
	s.submit = (struct gagg_ioc_submit){ .size = sizeof(s.submit), .channel = channel,
					     .kind = GAGG_K_BARRIER, .chunks = 1 };
}

static int s_submit(void)
{
	barrier_on(0);
	return call(GAGG_IOC_SUBMIT, &s.submit);
}

/* an epoch may have begun here that another host cannot begin: an op tells */
static int s_epoch_op(void)
{
	int err = s_epoch();

	if (!err)
		err = filled(&s.attach.geo);
	if (!err)
		err = s_submit();
	return err ? err : wait_for(0, s.submit.op);
}

static int s_elsewhere(void)
{
	int err = s_channel();

	barrier_on(5);
	if (!err)
		err = filled(&s.channel.geo);
	if (!err)
		err = call(GAGG_IOC_SUBMIT, &s.submit);
	return err ? err : wait_for(5, s.submit.op);
}

/* where nothing is: each needs tables of its own, down from the topmost */
static int s_mmap(void)
{
	uintptr_t at = 1UL << 44;
	int i;

	for (i = 0; i < GAGG_REG_COUNT; i++, at += 1UL << 39) {
		bool writable = i == GAGG_REG_PUSH || i == GAGG_REG_CONTRIB;

		s.map[i] = mmap((void *)at, s.attach.geo.region[i].length,
				PROT_READ | (writable ? PROT_WRITE : 0),
				MAP_SHARED | MAP_FIXED_NOREPLACE, s.fd,
				(off_t)s.attach.geo.region[i].offset);
		if (s.map[i] == MAP_FAILED)
			return errno;
	}
	return 0;
}

static int s_uring(void)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&s.ring);
	struct gagg_uring_cmd u = { .addr = (uintptr_t)&s.submit, .len = sizeof(s.submit) };
	int ret;

	if (!sqe)
		die("io_uring");
	barrier_on(0);
	memset(sqe, 0, sizeof(*sqe));
	sqe->opcode = IORING_OP_URING_CMD;
	sqe->fd = s.fd;
	sqe->cmd_op = GAGG_IOC_SUBMIT;
	memcpy(sqe->cmd, &u, sizeof(u));
	ret = io_uring_submit(&s.ring);
	return ret < 0 ? -ret : 0;
}

/* what the kernel did not take, it takes now */
static int s_uring_result(int err)
{
	struct io_uring_cqe *cqe;
	int ret;

	if (err && io_uring_submit(&s.ring) != 1)
		die("io_uring");
	if (io_uring_wait_cqe(&s.ring, &cqe))
		die("io_uring");
	ret = -cqe->res;
	io_uring_cqe_seen(&s.ring, cqe);
	if (err && ret)
		wrong("%s, and %s when repeated", error_name(err), error_name(ret));
	s.ops += err != 0;
	return err ? err : ret;
}

static void need(int err, const char *what)
{
	if (err) {
		errno = err;
		die(what);
	}
}

static void have_file(void)
{
	need(s_open(), "open");
}

static void have_rank(void)
{
	have_file();
	need(s_bind(), "GAGG_IOC_OPEN");
}

static void have_epoch(void)
{
	have_rank();
	need(s_epoch(), "GAGG_IOC_ATTACH");
	need(filled(&s.attach.geo), "filled");
}

/* and all hosts are in it: a host that adds has taken part in an op */
static void have_all(void)
{
	have_rank();
	need(s_epoch_op(), "an op");
}

static bool is_attached(void)
{
	struct gagg_ioc_status st = { .size = sizeof(st) };

	need(call(GAGG_IOC_STATUS, &st), "GAGG_IOC_STATUS");
	return st.attached >> s.rank & 1;
}

/* when nobody was told, it may have been done */
static bool either(int err)
{
	return err == EFAULT;
}

static void s_close(int err)
{
	(void)err;
	if (s.fd >= 0 && close(s.fd))
		wrong("close: %s", error_name(errno));
	s.fd = -1;
}

static void end_open(int err)
{
	if (err && s.fd >= 0)
		wrong("%s, and a file", error_name(err));
	s_close(0);
}

static void end_bind(int err)
{
	int again = s_bind();

	if (err && again && !either(err))
		wrong("%s, and %s when repeated", error_name(err), error_name(again));
	if (!err && again != EBUSY)
		wrong("bound, and again: %s", error_name(again));
	s_close(0);
}

static void detach(void)
{
	struct gagg_ioc_detach d = { .size = sizeof(d) };

	need(call(GAGG_IOC_DETACH, &d), "GAGG_IOC_DETACH");
	if (is_attached())
		wrong("attached after GAGG_IOC_DETACH");
}

static void end_attach(int err)
{
	if (!err && !is_attached())
		wrong("OK, and not attached");
	if (err && !either(err) && is_attached())
		wrong("%s, and attached", error_name(err));
	/* what it has said before it was interrupted counts, too */
	if (is_attached())
		detach();
	err = s_attach();
	if (err)
		wrong("%s when repeated", error_name(err));
	s_close(0);
}

static void end_mmap(int err)
{
	int i, again;

	for (i = 0; i < GAGG_REG_COUNT && s.map[i] != MAP_FAILED; i++)
		munmap(s.map[i], s.attach.geo.region[i].length);
	if (err) {
		again = s_mmap();
		if (again)
			wrong("%s when repeated", error_name(again));
		for (i = 0; i < GAGG_REG_COUNT && s.map[i] != MAP_FAILED; i++)
			munmap(s.map[i], s.attach.geo.region[i].length);
	}
	s_close(0);
}

static void end_channel(int err)
{
	int again = s_channel();

	if (err && again && !(either(err) && again == EEXIST))
		wrong("%s, and %s when repeated", error_name(err), error_name(again));
	if (!err && again != EEXIST)
		wrong("a channel, and again: %s", error_name(again));
	s_close(0);
}

/* ranks number the ops that they submit: none was lost, and the next one ends */
static void end_op(int err)
{
	uint64_t op;
	int again;

	s.ops += !err;
	again = s_submit();
	op = s.submit.op;
	if (again) {
		wrong("%s, and %s when repeated", error_name(err), error_name(again));
	} else {
		s.ops++;
		if (op != s.ops && !(either(err) && op == s.ops + 1))
			wrong("%s, and the next op has number %llu instead of %llu",
			      error_name(err), (unsigned long long)op,
			      (unsigned long long)s.ops);
		again = wait_for(0, op);
		if (again)
			wrong("%s, and the next op: %s", error_name(err), error_name(again));
	}
	s_close(0);
}

/* where no memory is, no epoch can be; but then the next one */
static void end_epoch(int err)
{
	if (err && err != EPIPE)
		wrong("%s instead of an epoch", error_name(err));
	detach();
	err = s_epoch_op();
	if (err)
		wrong("%s instead of the next epoch", error_name(err));
	s_close(0);
}

/* they ask again until there is memory */
static void end_elsewhere(int err)
{
	if (err)
		wrong("%s instead of a channel", error_name(err));
	s_close(0);
}

static const struct action s_actions[] = {
	{ "open", NULL, s_open, NULL, end_open },
	{ "bind", have_file, s_bind, NULL, end_bind },
	{ "attach", have_rank, s_attach, NULL, end_attach },
	{ "mmap", have_epoch, s_mmap, NULL, end_mmap },
	{ "channel", have_epoch, s_channel, NULL, end_channel },
	{ "submit", have_epoch, s_submit, NULL, end_op },
	{ "uring", have_epoch, s_uring, s_uring_result, end_op },
	{ "epoch", have_rank, s_epoch_op, NULL, end_epoch },
	{ "elsewhere", have_all, s_elsewhere, NULL, end_elsewhere },
};

/* --- the module -------------------------------------------------------- */

static int file = -1;

static int m_act(void)
{
	return syscall(SYS_finit_module, file, "", 0) ? errno : 0;
}

static void m_end(int err)
{
	bool there = !access("/sys/module/gagg", F_OK);

	if (there != !err)
		wrong("%s, and the module is%s there", error_name(err), there ? "" : " not");
	if (there && syscall(SYS_delete_module, "gagg", 0))
		wrong("it cannot be unloaded: %s", error_name(errno));
}

static const struct action m_action = { "module", NULL, m_act, NULL, m_end };

/* --- attempts ---------------------------------------------------------- */

static unsigned int errors[256];

struct outcome {
	unsigned int left;	/* allocations, or bytes or pages, that were not reached */
	bool hit;
	int err;
};

static struct outcome try(const struct action *a, unsigned int n)
{
	struct outcome o;

	attempt = n;
	if (a->begin)
		a->begin();
	inject_arm(n);
	o.err = a->act();
	o.hit = inject_disarm(&o.left) > 0;
	if (a->result)
		o.err = a->result(o.err);
	errors[o.err & 255] += o.hit;
	if (o.err && !o.hit)
		wrong("%s without a fault", error_name(o.err));
	a->end(o.err);
	return o;
}

/* how many of them were hit */
static unsigned int forwards(const struct action *a, unsigned int total, unsigned int step)
{
	unsigned int n = 1, hits = 0;

	/* works that run at once may let one of them pass */
	for (;; n += step) {
		struct outcome o = try(a, n);

		if (!o.hit && n >= total)
			return hits;
		hits += o.hit;
		if (n > 4 * total + 1000) {
			wrong("there is no end of allocations");
			return hits;
		}
	}
}

static unsigned int backwards(const struct action *a, unsigned int total, unsigned int some)
{
	unsigned int n, hits = 0;

	for (n = total; n && some; n--) {
		struct outcome o = try(a, n);

		hits += o.hit;
		some -= o.err != 0;
	}
	return hits;
}

static const char *const mode_name[] = { "nth", "works", "slab", "pages" };

static void run(const struct action *a, enum inject_mode mode, unsigned int some)
{
	unsigned int total, hits, step = 1, i;

	inject_open(mode);
	memset(errors, 0, sizeof(errors));
	/* the second time, since some is allocated once */
	try(a, INJECT_NEVER);
	total = INJECT_NEVER - try(a, INJECT_NEVER).left;
	if (mode == INJECT_SLAB || mode == INJECT_PAGES)
		step = total / STEPS + 1;
	hits = some ? backwards(a, total, some) : forwards(a, total, step);
	if (!hits)
		wrong("nothing was reached");
	printf("%s %s: %u, %u times failed (%s):", a->name, mode_name[mode], total, hits,
	       inject_kinds());
	for (i = 0; i < 256; i++)
		if (errors[i])
			printf(" %s %u", error_name((int)i), errors[i]);
	putchar('\n');
}

static const struct action *netlink_action(int argc, char **argv)
{
	const struct timeval patience = { .tv_sec = 10 };
	static struct action a;
	int i;

	nl.word[0] = argv;
	nl.words[0] = argc;
	for (i = 0; i < argc; i++) {
		if (strcmp(argv[i], "undo"))
			continue;
		nl.words[0] = i;
		nl.word[1] = argv + i + 1;
		nl.words[1] = argc - i - 1;
	}
	nl.fd = netmsg_open(&nl.type);
	setsockopt(nl.fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	a = nl_action;
	a.name = argv[0];
	return &a;
}

static const struct action *session_action(char **argv)
{
	size_t i;

	s.group = argv[0];
	s.rank = (uint32_t)atoi(argv[1]);
	if (io_uring_queue_init(8, &s.ring, 0))
		die("io_uring");
	for (i = 0; i < sizeof(s_actions) / sizeof(s_actions[0]); i++)
		if (!strcmp(argv[2], s_actions[i].name))
			return &s_actions[i];
	return NULL;
}

static const struct action *find_action(int argc, char **argv)
{
	if (argc >= 2 && !strcmp(argv[0], "netlink"))
		return netlink_action(argc - 1, argv + 1);
	if (argc == 4 && !strcmp(argv[0], "session"))
		return session_action(argv + 1);
	if (argc != 2 || strcmp(argv[0], "module"))
		return NULL;
	file = open(argv[1], O_RDONLY | O_CLOEXEC);
	if (file < 0)
		die(argv[1]);
	return &m_action;
}

static void run_all(const struct action *a, char *modes, unsigned int some)
{
	char *word;
	int m;

	for (word = strtok(modes, ","); word; word = strtok(NULL, ",")) {
		for (m = INJECT_NTH; m <= INJECT_PAGES; m++)
			if (!strcmp(word, mode_name[m]))
				break;
		if (m > INJECT_PAGES)
			die(word);
		run(a, m, some);
	}
}

int main(int argc, char **argv)
{
	const struct action *a = NULL;
	unsigned int some = 0;
	int at = 2;

	setvbuf(stdout, NULL, _IOLBF, 4096);
	if (argc > at && sscanf(argv[at], "errors=%u", &some) == 1)
		at++;
	if (argc > at)
		a = find_action(argc - at, argv + at);
	if (!a) {
		fprintf(stderr, "see the top of selftests/vm/nomem.c\n");
		return 2;
	}
	run_all(a, argv[1], some);
	return bad != 0;
}
