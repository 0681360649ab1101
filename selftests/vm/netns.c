// SPDX-License-Identifier: GPL-2.0
/*
 * Runs a command in a network namespace.
 *
 *	netns NAME COMMAND [ARGUMENT]...
 *
 * "ip netns exec" mounts a /sys of the namespace, too; emulated, that takes longer
 * than most commands of the tests.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char path[128];
	int fd;

	if (argc < 3) {
		fprintf(stderr, "see the top of selftests/vm/netns.c\n");
		return 2;
	}
	snprintf(path, sizeof(path), "/run/netns/%s", argv[1]);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWNET)) {
		perror(path);
		return 2;
	}
	execvp(argv[2], argv + 2);
	perror(argv[2]);
	return 127;
}
