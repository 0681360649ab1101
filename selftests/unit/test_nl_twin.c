// SPDX-License-Identifier: GPL-2.0
/* links: agent/nl/codec.c agent/nl/events.c agent/nl/extack.c agent/nl/names.c agent/lib/sync_name.c kmod/core/group/param.c agent/nl/nl.c agent/nl/request.c agent/nl/twin.c agent/lib/message.c; libs: libnl-3.0 libnl-genl-3.0 */
/*
 * A gagg-twin, and what only listens where one could, as gaggctl finds them: a child that
 * answers each question on a connection of its own, right or wrong.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <linux/netlink.h>

#include "../../agent/lib/broker_proto.h"
#include "../../agent/nl/nl.h"

static char dir[64], path[96];
static pid_t child;

struct answer {
	struct broker_reply reply;
	uint64_t more[1024];
};

/* bytes to answer with; 0: hang up */
typedef size_t (*answer_fn)(const struct broker_request *req, struct answer *a);

static size_t hello(struct answer *a)
{
	struct broker_twin t = {
		.size = sizeof(t), .wire_min = 1, .wire_max = 2, .version = "7.8",
		.config = "/etc/a.conf",
	};

	memcpy(a->more, &t, sizeof(t));
	return sizeof(a->reply) + sizeof(t);
}

static size_t refusal(struct answer *a, int error, const char *message)
{
	a->reply.error = error;
	strcpy(a->reply.message, message);
	return sizeof(a->reply);
}

/* Group i of three is "g<i>", of i members. */
static size_t group(struct answer *a, uint32_t i)
{
	struct nl_group g = { .set = NL_SET(GAGG_GA_EPOCH), .epoch = 1000 + i };

	snprintf(g.name, sizeof(g.name), "g%u", i);
	for (uint32_t k = 0; k < i; k++)
		g.members[g.n_members++] = (struct nl_member){
			.set = NL_SET(GAGG_MA_RANK), .rank = k + 5,
		};
	a->reply.rank = 3;
	return sizeof(a->reply) + (size_t)nl_write_group(a->more, sizeof(a->more), &g);
}

static size_t stats(struct answer *a)
{
	uint64_t values[NL_STATS] = { [GAGG_SA_CHUNKS] = 4711 };

	return sizeof(a->reply) + (size_t)nl_write_stats(a->more, sizeof(a->more), values);
}

static size_t right(const struct broker_request *req, struct answer *a)
{
	uint32_t i = req->rank;

	if (req->size != sizeof(*req) || req->version != BROKER_VERSION)
		return 0;
	if (req->op == BROKER_OP_TWIN)
		return hello(a);
	if (*req->group && (req->group[0] != 'g' || req->group[2]))
		return refusal(a, ENOENT, "there is no such group");
	if (req->op == BROKER_OP_STATS)
		return stats(a);
	return group(a, *req->group ? (uint32_t)req->group[1] - '0' : i);
}

static void serve(int fd, answer_fn fn)
{
	for (;;) {
		struct answer a = { .reply.size = sizeof(a.reply) };
		int c = accept(fd, NULL, NULL);
		struct broker_request req;
		size_t n = 0;

		memset(&req, 0, sizeof(req));
		if (recv(c, &req, sizeof(req), 0) > 0)
			n = fn(&req, &a);
		if (n)
			send(c, &a, n, MSG_NOSIGNAL);
		close(c);
	}
}

static void begin(answer_fn fn)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);

	strcpy(addr.sun_path, path);
	unlink(path);
	assert_int_equal(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	assert_int_equal(listen(fd, 8), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		serve(fd, fn);
	}
	close(fd);
}

static void end(void)
{
	if (!child)
		return;
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	child = 0;
}

static void said(const struct nl *nl, const char *part)
{
	if (!strstr(nl_error(nl), part))
		fail_msg("no '%s' in: %s", part, nl_error(nl));
	for (const char *c = nl_error(nl); *c; c++)
		assert_true(*c >= ' ' && *c < 0x7f);
}

static struct nl *open_right(void)
{
	struct nl *nl;

	begin(right);
	nl = nl_open_twin(path);
	assert_non_null(nl);
	return nl;
}

static int count(const struct nl_group *g, void *arg)
{
	unsigned int *n = arg;
	char name[8];

	snprintf(name, sizeof(name), "g%u", *n);
	assert_string_equal(g->name, name);
	assert_int_equal(g->n_members, *n);
	++*n;
	return 0;
}

static int add_rank(const struct nl_member *m, void *arg)
{
	*(unsigned int *)arg += m->rank;
	return 0;
}

static void twin__tells(void **state)
{
	struct nl *nl = open_right();
	uint64_t values[NL_STATS];
	unsigned int n = 0;
	struct nl_group g;

	(void)state;
	assert_string_equal(nl_twin(nl)->path, path);
	assert_string_equal(nl_twin(nl)->version, "7.8");
	assert_string_equal(nl_twin(nl)->config, "/etc/a.conf");
	assert_int_equal(nl_twin(nl)->wire_max, 2);
	assert_int_equal(nl_group_dump(nl, count, &n), 0);
	assert_int_equal(n, 3);
	assert_int_equal(nl_group_get(nl, "g2", &g), 0);
	assert_int_equal(g.epoch, 1002);
	n = 0;
	assert_int_equal(nl_member_dump(nl, "g2", add_rank, &n), 0);
	assert_int_equal(n, 5 + 6);
	assert_int_equal(nl_stats_get(nl, "g1", values), 0);
	assert_int_equal(values[GAGG_SA_CHUNKS], 4711);
	assert_int_equal(nl_stats_get(nl, "other", values), -ENOENT);
	said(nl, "cannot read counters of group 'other': there is no such group");
	nl_free(nl);
}

static void twin__is_not_changed(void **state)
{
	struct nl_group g = { .name = "g1" };
	struct nl_member m = { .rank = 3 };
	struct nl *nl = open_right();

	(void)state;
	assert_int_equal(nl_group_new(nl, &g), -EOPNOTSUPP);
	said(nl, "cannot create group 'g1': gagg-twin at ");
	said(nl, " has its groups from /etc/a.conf: edit that, and restart gagg-twin");
	assert_int_equal(nl_group_del(nl, &g), -EOPNOTSUPP);
	assert_int_equal(nl_group_set(nl, &g), -EOPNOTSUPP);
	assert_int_equal(nl_member_add(nl, "g1", &m), -EOPNOTSUPP);
	assert_int_equal(nl_member_del(nl, "g1", &m), -EOPNOTSUPP);
	assert_int_equal(nl_member_set(nl, "g1", &m), -EOPNOTSUPP);
	assert_int_equal(nl_subscribe(nl), -EOPNOTSUPP);
	said(nl, "gagg-twin tells none");
	assert_int_equal(nl_fd(nl), -1);
	nl_free(nl);
}

static void refused(answer_fn fn, const char *part)
{
	begin(fn);
	assert_null(nl_open_twin(path));
	said(NULL, path);
	said(NULL, part);
	end();
}

static size_t hangs_up(const struct broker_request *req, struct answer *a)
{
	(void)req;
	(void)a;
	return 0;
}

static size_t is_short(const struct broker_request *req, struct answer *a)
{
	(void)req;
	return sizeof(a->reply) - 1;
}

static size_t has_another_size(const struct broker_request *req, struct answer *a)
{
	a->reply.size++;
	return right(req, a);
}

static size_t has_no_errno(const struct broker_request *req, struct answer *a)
{
	(void)req;
	return refusal(a, -7, "x");
}

static size_t says_nothing_of_itself(const struct broker_request *req, struct answer *a)
{
	(void)req;
	return sizeof(a->reply);
}

static size_t has_odd_words(const struct broker_request *req, struct answer *a)
{
	size_t n = right(req, a);

	((struct broker_twin *)a->more)->config[3] = '\033';
	return n;
}

static size_t has_endless_words(const struct broker_request *req, struct answer *a)
{
	size_t n = right(req, a);

	memset(((struct broker_twin *)a->more)->version, '7', 16);
	return n;
}

static size_t is_older(const struct broker_request *req, struct answer *a)
{
	(void)req;
	return refusal(a, EINVAL, "request 5 is none\033[2J that gaggd knows");
}

static size_t is_gaggd(const struct broker_request *req, struct answer *a)
{
	(void)req;
	return refusal(a, EOPNOTSUPP, "gaggd keeps its groups in the kernel");
}

/* @message has no end */
static size_t talks_on(const struct broker_request *req, struct answer *a)
{
	(void)req;
	a->reply.error = EPERM;
	memset(a->reply.message, 'a', sizeof(a->reply.message));
	return sizeof(a->reply);
}

static void stranger__is_told(void **state)
{
	static const char none[] = "gives no answer that this gaggctl understands";

	(void)state;
	refused(hangs_up, "has hung up without an answer");
	refused(is_short, none);
	refused(has_another_size, none);
	refused(has_no_errno, none);
	refused(says_nothing_of_itself, none);
	refused(has_odd_words, none);
	refused(has_endless_words, none);
	refused(is_older, " is older than this gaggctl, or no gagg-twin: request 5 is none?[2J that gaggd knows");
	refused(is_gaggd, "sock: gaggd keeps its groups in the kernel");
	refused(talks_on, "aaaaaaaa");
}

static size_t (*then)(struct answer *a);	/* to what comes after the greeting */

static size_t greets(const struct broker_request *req, struct answer *a)
{
	return req->op == BROKER_OP_TWIN ? hello(a) : then(a);
}

static void spoilt(size_t (*fn)(struct answer *a), int err, const char *part)
{
	uint64_t values[NL_STATS];
	unsigned int n = 0;
	struct nl *nl;

	then = fn;
	begin(greets);
	nl = nl_open_twin(path);
	assert_non_null(nl);
	assert_int_equal(nl_stats_get(nl, "g1", values), err);
	said(nl, part);
	assert_int_equal(nl_group_dump(nl, count, &n), err);
	said(nl, part);
	nl_free(nl);
	end();
}

static size_t nothing(struct answer *a)
{
	return sizeof(a->reply);
}

static size_t cut(struct answer *a)
{
	return group(a, 2) - 4;
}

static size_t too_long(struct answer *a)
{
	size_t n = group(a, 2);

	((struct nlmsghdr *)a->more)->nlmsg_len += 4;
	return n;
}

static size_t neither(struct answer *a)
{
	struct nlmsghdr *hdr = (struct nlmsghdr *)a->more;

	hdr->nlmsg_len = NLMSG_HDRLEN + 4;
	return sizeof(a->reply) + hdr->nlmsg_len;
}

static size_t gone(struct answer *a)
{
	(void)a;
	return 0;
}

static void stranger__answers(void **state)
{
	(void)state;
	spoilt(nothing, -EBADMSG, "makes no sense");
	spoilt(cut, -EBADMSG, "makes no sense");
	spoilt(too_long, -EBADMSG, "makes no sense");
	spoilt(neither, -ENODATA, "makes no sense");
	spoilt(gone, -EIO, "has hung up");
}

static size_t crowd(struct answer *a)
{
	size_t n = group(a, 0);

	a->reply.rank = UINT32_MAX;
	return n;
}

static void stranger__has_endless_groups(void **state)
{
	unsigned int n = 0;
	struct nl *nl;

	(void)state;
	then = crowd;
	begin(greets);
	nl = nl_open_twin(path);
	assert_non_null(nl);
	assert_int_equal(nl_group_dump(nl, count, &n), -EBADMSG);
	said(nl, "says that it has 4294967295 groups");
	nl_free(nl);
}

static size_t drip(struct answer *a)
{
	size_t n = group(a, 0);

	usleep(150000);
	a->reply.rank = 4000;
	return n;
}

/* all pages together have the deadline */
static void stranger__is_slow(void **state)
{
	unsigned int n = 0;
	struct nl *nl;

	(void)state;
	then = drip;
	begin(greets);
	nl = nl_open_twin(path);
	assert_non_null(nl);
	nl_twin_ms = 1000;
	assert_int_equal(nl_group_dump(nl, count, &n), -ETIMEDOUT);
	said(nl, "has not answered within 1 s");
	assert_int_equal(n, 0);
	kill(child, SIGSTOP);
	assert_null(nl_open_twin(path));
	said(NULL, "has not answered within 1 s");
	nl_free(nl);
}

static void nobody__is_there(void **state)
{
	char longest[200];
	int fd;

	(void)state;
	assert_null(nl_open_twin(path));
	assert_int_equal(errno, ENOENT);
	said(NULL, "no gagg-twin listens at ");
	fd = open(path, O_CREAT | O_WRONLY, 0600);
	close(fd);
	assert_null(nl_open_twin(path));
	assert_int_equal(errno, ECONNREFUSED);
	said(NULL, "no gagg-twin listens at ");
	unlink(path);
	memset(longest, 'a', sizeof(longest));
	longest[108] = 0;
	assert_null(nl_open_twin(longest));
	said(NULL, "is no path of a socket");
	assert_null(nl_open_twin(""));
	said(NULL, "is no path of a socket");
}

static void stream__is_no_twin(void **state)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	(void)state;
	strcpy(addr.sun_path, path);
	assert_int_equal(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	assert_int_equal(listen(fd, 8), 0);
	assert_null(nl_open_twin(path));
	said(NULL, "sock is no socket of gagg-twin");
	close(fd);
}

static int setup(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/gagg-nl-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/sock", dir);
	/* a machine may be slow */
	nl_twin_ms = 60000;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	end();
	unlink(path);
	return rmdir(dir);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(twin__tells),
		TEST(twin__is_not_changed),
		TEST(stranger__is_told),
		TEST(stranger__answers),
		TEST(stranger__has_endless_groups),
		TEST(stranger__is_slow),
		TEST(nobody__is_there),
		TEST(stream__is_no_twin),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("nl_twin", tests, NULL, NULL);
}
