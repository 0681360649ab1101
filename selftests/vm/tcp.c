// SPDX-License-Identifier: GPL-2.0
/*
 * A TCP flow beside which something else is to be measured.
 *
 *	tcp sink PORT				reads what comes, for ever
 *	tcp send ADDRESS PORT CC WARM SECONDS	sends with congestion control CC; prints how
 *						many bytes were acknowledged in SECONDS
 *						that begin after WARM seconds
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <linux/sockios.h>

static char buf[65536];

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int sink(int port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1, from;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof(a)) || listen(fd, 64))
		die("listen");
	for (;;) {
		from = accept(fd, NULL, NULL);
		if (from < 0)
			die("accept");
		if (fork()) {
			close(from);
			continue;
		}
		while (read(from, buf, sizeof(buf)) > 0)
			;
		return 0;
	}
}

static uint64_t acknowledged(int fd, uint64_t sent)
{
	int left = 0;

	if (ioctl(fd, SIOCOUTQ, &left))
		die("SIOCOUTQ");
	return sent - (uint64_t)left;
}

static int send_to(char **argv)
{
	struct sockaddr_in a = {
		.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(argv[1])),
	};
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	double begin, end;
	uint64_t sent = 0, before = 0;
	ssize_t n;

	if (inet_pton(AF_INET, argv[0], &a.sin_addr) != 1)
		return 2;
	if (setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, argv[2], (socklen_t)strlen(argv[2])))
		die(argv[2]);
	if (connect(fd, (struct sockaddr *)&a, sizeof(a)))
		die("connect");
	begin = seconds() + atof(argv[3]);
	end = begin + atof(argv[4]);
	while (seconds() < end) {
		n = send(fd, buf, sizeof(buf), MSG_NOSIGNAL);
		if (n < 0)
			die("send");
		sent += (uint64_t)n;
		if (!before && seconds() >= begin)
			before = acknowledged(fd, sent);
	}
	printf("%llu\n", (unsigned long long)(acknowledged(fd, sent) - before));
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "sink"))
		return sink(atoi(argv[2]));
	if (argc == 7 && !strcmp(argv[1], "send"))
		return send_to(argv + 2);
	return 2;
}
