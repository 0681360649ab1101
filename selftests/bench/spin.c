// SPDX-License-Identifier: GPL-2.0
/*
 * Counts what is left when nothing else wants the CPU: for a guest with one CPU
 * whose clock counts instructions (vm/run --icount).
 *
 *	spin FILE
 *
 * A number of 64 bits in FILE, ns, grows for ever. What the clock says has passed,
 * less what this has grown, is instructions that somebody has asked for. It knows
 * nothing of how the kernel accounts time; and a CPU that never idles never makes
 * the clock jump to the next timer.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>
#include <sys/mman.h>

int main(int argc, char **argv)
{
	struct sched_param param = { 0 };
	uint64_t *counter;
	int fd;

	if (argc != 2) {
		fprintf(stderr, "spin FILE\n");
		return 2;
	}
	fd = open(argv[1], O_RDWR | O_CREAT, 0644);
	if (fd < 0 || ftruncate(fd, sizeof(*counter)) ||
	    sched_setscheduler(0, SCHED_IDLE, &param)) {
		perror(argv[1]);
		return 1;
	}
	counter = mmap(NULL, sizeof(*counter), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (counter == MAP_FAILED) {
		perror(argv[1]);
		return 1;
	}
	/* two instructions, two nanoseconds */
	__asm__ volatile("1: addq $2, (%0)\n\tjmp 1b" : : "r"(counter) : "memory");
	__builtin_unreachable();
}
