// SPDX-License-Identifier: GPL-2.0
/* links: agent/twin/multicast.c agent/twin/port.c agent/twin/queue.c agent/twin/limit.c agent/twin/twin.c; libs: */
/*
 * Sockets of the twin at multicast addresses, on the loopback interface: what is sent to all
 * comes once to each port that has joined, and to no other socket.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <net/if.h>
#include <sys/ioctl.h>

#include <cmocka.h>

#include "twin_port.h"
#include "../../agent/twin/multicast.h"

#define ALL	1
#define OTHERS	2

/* @which of the addresses that nobody else on this host has, as nobody has the port */
static union address of_all(unsigned int which, in_port_t number)
{
	union address a = at("239.0.0.0", number);

	a.in.sin_addr.s_addr |= htonl(which << 16 | ntohs(number));
	return a;
}

/* as the kernel says */
static bool is_joined(const union address *a)
{
	char line[256], hex[16];
	bool found = false;
	FILE *f = fopen("/proc/net/igmp", "r");

	assert_non_null(f);
	snprintf(hex, sizeof(hex), "%08X", a->in.sin_addr.s_addr);
	while (fgets(line, sizeof(line), f))
		found |= strstr(line, hex) != NULL;
	fclose(f);
	return found;
}

static void say(const struct port *p, const union address *to)
{
	union address local = at("127.0.0.1", 0);

	assert_int_equal(multicast_leave_by(p->fd, &local, to), 0);
	assert_int_equal(sendto(p->fd, "all", 3, 0, &to->sa, address_length(to)), 3);
}

static void test_joined(void **state)
{
	struct port *a, *b, *deaf;
	struct multicast *mc;
	union address all, others;
	struct worker w[3];
	in_port_t n = 0;
	unsigned int i;

	(void)state;
	for (i = 0; i < 3; i++)
		worker_open(&w[i]);
	a = port_at(&w[0], "127.0.0.1", &n);
	b = port_at(&w[1], "127.0.0.2", &n);
	deaf = port_at(&w[2], "127.0.0.3", &n);
	all = of_all(ALL, n);
	others = of_all(OTHERS, n);
	assert_int_equal(multicast_join(a, &all), 0);
	assert_int_equal(multicast_join(b, &all), 0);
	mc = b->multicasts;
	assert_int_equal(multicast_join(b, &all), 0);
	assert_ptr_equal(b->multicasts, mc);
	assert_null(mc->next);
	assert_int_equal(multicast_join(b, &others), 0);
	assert_ptr_equal(b->multicasts->next, mc);
	assert_true(is_joined(&all));
	assert_true(is_joined(&others));

	say(deaf, &all);
	assert_int_equal(next_at(a->multicasts->fd, SOON_MS), 3);
	assert_int_equal(next_at(mc->fd, SOON_MS), 3);
	assert_int_equal(next_at(mc->fd, 0), 0);
	assert_int_equal(next_at(b->multicasts->fd, 0), 0);
	say(deaf, &others);
	assert_int_equal(next_at(b->multicasts->fd, SOON_MS), 3);
	assert_int_equal(next_at(mc->fd, 0), 0);
	assert_int_equal(next_at(a->fd, 0) + next_at(b->fd, 0) + next_at(deaf->fd, 0), 0);

	for (i = 0; i < 3; i++)
		worker_close(&w[i]);
	assert_false(is_joined(&all));
	assert_false(is_joined(&others));
}

/* a socket that has the port to itself is in the way, one that shares it is not */
static void test_taken(void **state)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	union address all;
	struct worker w;
	in_port_t n = 0;
	struct port *p;

	(void)state;
	worker_open(&w);
	p = port_at(&w, "127.0.0.1", &n);
	all = of_all(ALL, n);
	assert_int_equal(bind(fd, &all.sa, address_length(&all)), 0);
	assert_int_equal(multicast_join(p, &all), -1);
	assert_int_equal(errno, EADDRINUSE);
	assert_null(p->multicasts);
	assert_false(is_joined(&all));
	assert_int_equal(port_set_int(fd, SOL_SOCKET, SO_REUSEADDR, 1), 0);
	assert_int_equal(multicast_join(p, &all), 0);
	worker_close(&w);
	close(fd);
}

static void test_scope(void **state)
{
	union address lo = at("127.0.0.1", 0), nobody = at("192.0.2.1", 0), all = of_all(ALL, 0);
	struct ifreq r = { .ifr_name = "lo" };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	(void)state;
	assert_int_equal(ioctl(fd, SIOCGIFFLAGS, &r), 0);
	close(fd);
	assert_int_equal(multicast_scope(&lo, &all), !!(r.ifr_flags & IFF_MULTICAST));
	assert_false(multicast_scope(&nobody, &all));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_joined),
		cmocka_unit_test(test_taken),
		cmocka_unit_test(test_scope),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
