// SPDX-License-Identifier: GPL-2.0
/*
 * What no honest trainer asks of /dev/gagg.
 *
 *	odd_ioctl GROUP RANK PEERS LOCAL REMOTE AGGREGATOR
 *
 * Every ioctl, mmap(), io_uring command and so on in a way that has to fail. GROUP has only RANK;
 * PEERS is a group that waits for others, with ranks that are a worker here, one
 * elsewhere, an aggregator. Exit status 1: something was accepted, or the error
 * is another.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/gagg.h>
#include <linux/gagg_wire.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>

static void die(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(2);
}

static const char *error_name(int err)
{
	const char *name = strerrorname_np(err);

	return err ? name ? name : "?" : "OK";
}

static int bad, good;

static void want(int line, const char *what, long ret, int err)
{
	int got = ret < 0 ? errno : 0;

	if (got == err) {
		good++;
		return;
	}
	printf("line %d: %s: %s instead of %s\n", line, what, error_name(got),
	       error_name(err));
	bad++;
}

/* what is done with @x, a struct of its ioctl with its size set */
#define TRY(fd, cmd, err, type, ...)						\
do {										\
	struct type x = { .size = sizeof(x), __VA_ARGS__ };			\
										\
	want(__LINE__, #cmd " " #__VA_ARGS__, ioctl(fd, GAGG_IOC_##cmd, &x), err); \
} while (0)

#define IS(call, err)	want(__LINE__, #call, (long)(call), err)

static int dev(void)
{
	int fd = open("/dev/gagg", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		die("/dev/gagg");
	return fd;
}

static const struct {
	unsigned int cmd;
	uint32_t size;
} calls[] = {
#define CALL(nr, type)	{ GAGG_IOC_##nr, sizeof(struct gagg_ioc_##type) }
	CALL(FEATURES, features), CALL(OPEN, open), CALL(ATTACH, attach),
	CALL(DETACH, detach), CALL(CHANNEL, channel), CALL(CHANNEL_FREE, channel_free),
	CALL(SUBMIT, submit), CALL(WAIT, wait), CALL(STATUS, status),
	CALL(TIMES, times),
};

/* sizes and pointers, of every call; nothing gets as far as its meaning */
static void try_sizes(int fd)
{
	static uint32_t x[4096];
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			  0);
	size_t i;

	mprotect(page + 4096, 4096, PROT_NONE);
	for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		unsigned int cmd = calls[i].cmd;
		uint32_t n = calls[i].size;

		memset(x, 0, sizeof(x));
		x[0] = 0;
		IS(ioctl(fd, cmd, x), EINVAL);
		x[0] = n - 1;
		IS(ioctl(fd, cmd, x), EINVAL);
		x[0] = 4;
		IS(ioctl(fd, cmd, x), EINVAL);
		x[0] = n + 4;
		x[n / 4] = 1;
		IS(ioctl(fd, cmd, x), E2BIG);
		x[n / 4] = 0;
		x[0] = 4096;
		((char *)x)[4095] = 1;
		IS(ioctl(fd, cmd, x), E2BIG);
		((char *)x)[4095] = 0;
		x[0] = 4097;
		IS(ioctl(fd, cmd, x), E2BIG);
		x[0] = ~0U;
		IS(ioctl(fd, cmd, x), E2BIG);
		IS(ioctl(fd, cmd, NULL), EFAULT);
		/* the size can be read, what follows cannot */
		*(uint32_t *)(page + 4092) = n;
		IS(ioctl(fd, cmd, page + 4092), EFAULT);
		IS(ioctl(fd, _IOC(_IOC_WRITE, GAGG_IOC_MAGIC, i, n), x), ENOTTY);
		IS(ioctl(fd, _IOC(_IOC_READ | _IOC_WRITE, 'G', i, n), x), ENOTTY);
	}
	x[0] = 64;
	IS(ioctl(fd, _IOWR(GAGG_IOC_MAGIC, 10, char[64]), x), ENOTTY);
	IS(ioctl(fd, _IOWR(GAGG_IOC_MAGIC, 255, char[64]), x), ENOTTY);
	munmap(page, 8192);
}

static void try_features(int fd)
{
	static struct {
		struct gagg_ioc_features f;
		char tail[64];
	} longer = { .f = { .size = sizeof(longer) } };
	struct gagg_ioc_features *ro;

	TRY(fd, FEATURES, 0, gagg_ioc_features);
	TRY(fd, FEATURES, EINVAL, gagg_ioc_features, .reserved = { 1 });
	TRY(fd, FEATURES, EINVAL, gagg_ioc_features, .reserved = { 0, 1 });
	IS(ioctl(fd, GAGG_IOC_FEATURES, &longer), 0);
	ro = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ro->size = sizeof(*ro);
	mprotect(ro, 4096, PROT_READ);
	IS(ioctl(fd, GAGG_IOC_FEATURES, ro), EFAULT);
}

#define MMAP(fd, offset, length, prot, flags)	\
	(mmap(NULL, length, prot, flags, fd, offset) == MAP_FAILED ? -1 : 0)

/* a file that is bound to nothing */
static void try_unbound(int fd)
{
	struct pollfd p = { fd, POLLIN, 0 };
	uint64_t n;

	TRY(fd, ATTACH, ENOTCONN, gagg_ioc_attach);
	TRY(fd, DETACH, ENOTCONN, gagg_ioc_detach);
	TRY(fd, CHANNEL, ENOTCONN, gagg_ioc_channel, .channel = 1, .members = 1);
	TRY(fd, CHANNEL_FREE, ENOENT, gagg_ioc_channel_free, .channel = 1);
	TRY(fd, SUBMIT, ENOTCONN, gagg_ioc_submit, .kind = 1, .last_lanes = 1, .chunks = 1);
	TRY(fd, WAIT, ENOTCONN, gagg_ioc_wait, .channel = GAGG_WAIT_EPOCH);
	TRY(fd, STATUS, ENOTCONN, gagg_ioc_status);
	TRY(fd, TIMES, ENOTCONN, gagg_ioc_times);
	IS(MMAP(fd, 0, 4096, PROT_READ, MAP_SHARED), EINVAL);
	IS(read(fd, &n, 8), ENOTCONN);
	IS(read(fd, &n, 7), EINVAL);
	IS(write(fd, &n, 8), EINVAL);
	IS(lseek(fd, 0, SEEK_SET), ESPIPE);
	IS(poll(&p, 1, 0) == 1 && p.revents == POLLHUP ? 0 : -1, 0);
}

static void set_name(struct gagg_ioc_open *o, const char *name)
{
	memset(o, 0, sizeof(*o));
	o->size = sizeof(*o);
	snprintf(o->name, sizeof(o->name), "%s", name);
}

static int open_as(const char *name, uint32_t rank, int fd)
{
	struct gagg_ioc_open o;

	set_name(&o, name);
	o.rank = rank;
	return ioctl(fd, GAGG_IOC_OPEN, &o);
}

/* what no user may but the administrator */
static void try_nobody(int fd, const char *name, uint32_t rank)
{
	int status;

	fflush(stdout);
	if (!fork()) {
		bad = 0;
		if (setgid(65534) || setuid(65534))
			die("setuid");
		IS(open_as(name, rank, fd), EPERM);
		IS(open("/dev/gagg", O_RDWR), EACCES);
		fflush(stdout);
		_exit(bad);
	}
	wait(&status);
	bad += WIFEXITED(status) ? WEXITSTATUS(status) : 1;
	good += 2;
}

static void try_open(int fd, char **argv)
{
	struct gagg_ioc_open o;
	int other = dev(), i;

	for (i = 0; i < 4; i++) {
		set_name(&o, argv[2]);
		o.rank = atoi(argv[3]);
		if (i == 3)
			o.flags = 1;
		else
			o.reserved[i] = 1;
		IS(ioctl(fd, GAGG_IOC_OPEN, &o), EINVAL);
	}
	set_name(&o, "");
	IS(ioctl(fd, GAGG_IOC_OPEN, &o), ENOENT);
	memset(o.name, 'a', sizeof(o.name));
	IS(ioctl(fd, GAGG_IOC_OPEN, &o), EINVAL);
	IS(open_as("nosuch", 0, fd), ENOENT);
	IS(open_as(argv[2], 63, fd), EINVAL);
	IS(open_as(argv[2], 64, fd), EINVAL);
	IS(open_as(argv[2], ~0U, fd), EINVAL);
	IS(open_as(argv[2], atoi(argv[4]), fd), EINVAL);
	IS(open_as(argv[2], atoi(argv[5]), fd), EINVAL);
	try_nobody(fd, argv[2], atoi(argv[3]));
	/* nothing of that has bound it */
	TRY(fd, STATUS, ENOTCONN, gagg_ioc_status);
	IS(open_as(argv[2], atoi(argv[3]), fd), 0);
	IS(open_as(argv[2], atoi(argv[3]), fd), EBUSY);
	IS(open_as(argv[2], atoi(argv[3]), other), EBUSY);
	close(other);
}

static void try_bound(int fd)
{
	uint64_t n;

	TRY(fd, STATUS, 0, gagg_ioc_status);
	TRY(fd, STATUS, EINVAL, gagg_ioc_status, .blocked = 1);
	TRY(fd, STATUS, 0, gagg_ioc_status, .channel = 9, .op = 1);
	TRY(fd, STATUS, 0, gagg_ioc_status, .op = ~0ULL);
	TRY(fd, TIMES, ENOTCONN, gagg_ioc_times);
	TRY(fd, DETACH, ENOTCONN, gagg_ioc_detach);
	TRY(fd, WAIT, ENOTCONN, gagg_ioc_wait, .channel = GAGG_WAIT_EPOCH);
	TRY(fd, SUBMIT, ENOTCONN, gagg_ioc_submit, .kind = 1, .last_lanes = 1, .chunks = 1);
	TRY(fd, CHANNEL, ENOTCONN, gagg_ioc_channel, .channel = 1, .members = 1);
	TRY(fd, CHANNEL_FREE, EINVAL, gagg_ioc_channel_free);
	TRY(fd, ATTACH, EINVAL, gagg_ioc_attach, .flags = 1);
	TRY(fd, ATTACH, EINVAL, gagg_ioc_attach, .reserved = 1);
	IS(MMAP(fd, 0, 4096, PROT_READ, MAP_SHARED), EINVAL);
	IS(read(fd, &n, 8), ENOTCONN);
}

/* it waits for ranks that never come */
static void try_waiting(int fd)
{
	uint64_t n;

	TRY(fd, ATTACH, 0, gagg_ioc_attach);
	TRY(fd, ATTACH, EBUSY, gagg_ioc_attach);
	TRY(fd, TIMES, 0, gagg_ioc_times);
	TRY(fd, TIMES, EINVAL, gagg_ioc_times, .reserved = 1);
	TRY(fd, TIMES, EINVAL, gagg_ioc_times, .flags = 2);
	TRY(fd, TIMES, EINVAL, gagg_ioc_times, .share = 1);
	TRY(fd, TIMES, EINVAL, gagg_ioc_times, .batch = 1);
	TRY(fd, TIMES, EINVAL, gagg_ioc_times, .flags = GAGG_TIMES_SHARE);
	TRY(fd, TIMES, EINVAL, gagg_ioc_times, .flags = GAGG_TIMES_SHARE, .share = 5, .batch = 4);
	TRY(fd, TIMES, 0, gagg_ioc_times, .flags = GAGG_TIMES_SHARE, .share = 4, .batch = 4);
	TRY(fd, WAIT, ETIMEDOUT, gagg_ioc_wait, .channel = GAGG_WAIT_EPOCH);
	TRY(fd, WAIT, ETIMEDOUT, gagg_ioc_wait, .channel = GAGG_WAIT_EPOCH,
	    .timeout_ns = 10000000);
	TRY(fd, WAIT, EINVAL, gagg_ioc_wait, .channel = GAGG_WAIT_EPOCH, .op = 1);
	TRY(fd, WAIT, EINVAL, gagg_ioc_wait, .channel = GAGG_WAIT_EPOCH, .chunk = 1);
	TRY(fd, WAIT, ENOENT, gagg_ioc_wait, .channel = 7);
	TRY(fd, SUBMIT, ENOTCONN, gagg_ioc_submit, .kind = 1, .last_lanes = 1, .chunks = 1);
	TRY(fd, CHANNEL, ENOTCONN, gagg_ioc_channel, .channel = 1, .members = 1);
	fcntl(fd, F_SETFL, O_NONBLOCK);
	IS(read(fd, &n, 8), EAGAIN);
	TRY(fd, DETACH, EINVAL, gagg_ioc_detach, .flags = 1);
	TRY(fd, DETACH, 0, gagg_ioc_detach);
	TRY(fd, DETACH, ENOTCONN, gagg_ioc_detach);
}

#define SUBMIT(err, ...)						\
	TRY(fd, SUBMIT, err, gagg_ioc_submit, .kind = GAGG_K_ALLREDUCE, \
	    .last_lanes = 1, .chunks = 1, ##__VA_ARGS__)

static void try_submit(int fd, const struct gagg_geometry *geo)
{
	int i;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverride-init"
	for (i = 1; i < 32; i++)
		SUBMIT(EINVAL, .flags = 1U << i);
	SUBMIT(EINVAL, .reserved = 1);
	SUBMIT(EINVAL, .kind = 0);
	SUBMIT(EOPNOTSUPP, .kind = GAGG_K_UPDATE);
	SUBMIT(EOPNOTSUPP, .kind = GAGG_K_READ);
	SUBMIT(EINVAL, .kind = GAGG_K_READ + 1);
	SUBMIT(EINVAL, .kind = 255);
	SUBMIT(EINVAL, .laneop = GAGG_LANEOP(0, 3));
	SUBMIT(EINVAL, .laneop = GAGG_LANEOP(2, 0));
	SUBMIT(EINVAL, .laneop = 0xff);
	SUBMIT(EINVAL, .dtype = 16);
	SUBMIT(EINVAL, .last_lanes = 0);
	SUBMIT(EINVAL, .last_lanes = geo->lanes + 1);
	SUBMIT(EINVAL, .last_lanes = ~0U);
	SUBMIT(EINVAL, .chunks = 0);
	SUBMIT(EINVAL, .chunks = ~0ULL);
	SUBMIT(EINVAL, .chunks = (1ULL << 62) + 1);
	SUBMIT(EINVAL, .count = ~0ULL);
	SUBMIT(EINVAL, .kind = GAGG_K_BARRIER);
	SUBMIT(EINVAL, .kind = GAGG_K_BARRIER, .last_lanes = 0, .chunks = 2);
	SUBMIT(ENOENT, .channel = 9);
	SUBMIT(ENOENT, .channel = ~0U);
#pragma GCC diagnostic pop
	TRY(fd, WAIT, EINVAL, gagg_ioc_wait, .op = 1);
	TRY(fd, WAIT, EINVAL, gagg_ioc_wait, .op = ~0ULL);
	TRY(fd, WAIT, EINVAL, gagg_ioc_wait, .chunk = 1);
	TRY(fd, WAIT, EINVAL, gagg_ioc_wait, .chunk = ~0ULL);
	TRY(fd, WAIT, ENOENT, gagg_ioc_wait, .channel = 9);
}

/* the group has two channels at most; self is the only member */
static void try_channel(int fd, uint32_t rank)
{
	uint64_t self = 1ULL << rank;

	TRY(fd, CHANNEL, EINVAL, gagg_ioc_channel, .members = self);
	TRY(fd, CHANNEL, EINVAL, gagg_ioc_channel, .channel = 65536, .members = self);
	TRY(fd, CHANNEL, EINVAL, gagg_ioc_channel, .channel = ~0U, .members = self);
	TRY(fd, CHANNEL, EINVAL, gagg_ioc_channel, .channel = 5);
	TRY(fd, CHANNEL, EINVAL, gagg_ioc_channel, .channel = 5, .members = ~self);
	TRY(fd, CHANNEL, EINVAL, gagg_ioc_channel, .channel = 5, .members = ~0ULL);
	TRY(fd, CHANNEL, EINVAL, gagg_ioc_channel, .channel = 5, .members = self, .flags = 1);
	TRY(fd, CHANNEL, EINVAL, gagg_ioc_channel, .channel = 5, .members = self,
	    .reserved = 1);
	TRY(fd, CHANNEL, 0, gagg_ioc_channel, .channel = 5, .members = self);
	TRY(fd, CHANNEL, EEXIST, gagg_ioc_channel, .channel = 5, .members = self);
	TRY(fd, CHANNEL, ENOSPC, gagg_ioc_channel, .channel = 6, .members = self);
	TRY(fd, CHANNEL_FREE, EINVAL, gagg_ioc_channel_free);
	TRY(fd, CHANNEL_FREE, ENOENT, gagg_ioc_channel_free, .channel = 6);
	TRY(fd, SUBMIT, 0, gagg_ioc_submit, .channel = 5, .kind = 1, .last_lanes = 1,
	    .chunks = 1);
	TRY(fd, CHANNEL_FREE, EBUSY, gagg_ioc_channel_free, .channel = 5);
}

static void try_mmap(int fd, const struct gagg_geometry *geo)
{
	const int rw = PROT_READ | PROT_WRITE;
	int i;

	for (i = 0; i < GAGG_REG_COUNT; i++) {
		uint64_t at = geo->region[i].offset, n = geo->region[i].length;
		bool writable = i == GAGG_REG_PUSH || i == GAGG_REG_CONTRIB;
		char *p;

		IS(MMAP(fd, at, n - 4096, PROT_READ, MAP_SHARED), EINVAL);
		IS(MMAP(fd, at, n + 4096, PROT_READ, MAP_SHARED), EINVAL);
		IS(MMAP(fd, at, 4096, PROT_READ, MAP_SHARED), n == 4096 ? 0 : EINVAL);
		IS(MMAP(fd, at + 4096, n, PROT_READ, MAP_SHARED), EINVAL);
		IS(MMAP(fd, at + 100, n, PROT_READ, MAP_SHARED), EINVAL);
		IS(MMAP(fd, at, n, PROT_READ, MAP_PRIVATE), EINVAL);
		IS(MMAP(fd, at, n, PROT_READ | PROT_EXEC, MAP_SHARED), EPERM);
		IS(MMAP(fd, at, n, PROT_WRITE, MAP_SHARED), writable ? 0 : EPERM);
		IS(MMAP(fd, at, n, rw, MAP_SHARED), writable ? 0 : EPERM);
		p = mmap(NULL, n, PROT_READ, MAP_SHARED, fd, at);
		IS(p == MAP_FAILED ? -1 : 0, 0);
		IS(mprotect(p, n, PROT_READ | PROT_EXEC), EACCES);
		IS(mprotect(p, n, rw), writable ? 0 : EACCES);
		IS(mremap(p, n, n + 4096, MREMAP_MAYMOVE) == MAP_FAILED ? -1 : 0, EFAULT);
	}
	/* other channels, beyond the last, beyond all */
	IS(MMAP(fd, geo->region[0].offset + (4ULL << 40), 4096, PROT_READ, MAP_SHARED), EINVAL);
	IS(MMAP(fd, 1ULL << 62, 4096, PROT_READ, MAP_SHARED), EINVAL);
	IS(MMAP(fd, geo->region[3].offset + (1ULL << 36), geo->region[3].length, PROT_READ,
		MAP_SHARED), EINVAL);
}

/* nothing that a trainer writes into its memory is trusted */
static void try_memory(int fd, const struct gagg_geometry *geo)
{
	uint64_t n = geo->region[GAGG_REG_PUSH].length, i;
	struct gagg_push *push = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
				      geo->region[GAGG_REG_PUSH].offset);
	struct gagg_ioc_submit op = { .size = sizeof(op), .kind = 1, .last_lanes = 1,
				      .chunks = 1 };

	if (push == MAP_FAILED)
		die("push");
	IS(ioctl(fd, GAGG_IOC_SUBMIT, &op), 0);
	TRY(fd, WAIT, ETIMEDOUT, gagg_ioc_wait, .op = op.op, .timeout_ns = 1000000);
	for (i = 0; i < n - GAGG_DESC_OFFSET; i++)
		((uint8_t *)push)[GAGG_DESC_OFFSET + i] = (uint8_t)(i * 37 + 200);
	__atomic_store_n(&push->filled, ~0ULL, __ATOMIC_RELEASE);
	TRY(fd, WAIT, 0, gagg_ioc_wait, .op = op.op, .timeout_ns = 60000000000);
	for (i = 0; i < 2 * geo->ring; i += 64) {
		op.chunks = 64;
		__atomic_store_n(&push->filled, i * 0x9e3779b97f4a7c15, __ATOMIC_RELEASE);
		IS(ioctl(fd, GAGG_IOC_SUBMIT, &op), 0);
		__atomic_store_n(&push->filled, ~0ULL, __ATOMIC_RELEASE);
		TRY(fd, WAIT, 0, gagg_ioc_wait, .op = op.op, .timeout_ns = 60000000000);
	}
	__atomic_store_n(&push->filled, 0, __ATOMIC_RELEASE);
	/* too many of them that wait */
	for (i = 0; i < 100000; i++)
		if (ioctl(fd, GAGG_IOC_SUBMIT, &op))
			break;
	IS(-1, E2BIG);
	op.chunks = 1ULL << 62;
	IS(ioctl(fd, GAGG_IOC_SUBMIT, &op), EOVERFLOW);
}

static struct io_uring ring;

/* the result of one io_uring command */
static long command(int fd, uint32_t op, uint64_t addr, uint32_t len, uint32_t reserved)
{
	struct gagg_uring_cmd u = { .addr = addr, .len = len, .reserved = reserved };
	struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);
	struct io_uring_cqe *cqe;
	int ret;

	if (!sqe)
		die("io_uring");
	memset(sqe, 0, sizeof(*sqe));
	sqe->opcode = IORING_OP_URING_CMD;
	sqe->fd = fd;
	sqe->cmd_op = op;
	memcpy(sqe->cmd, &u, sizeof(u));
	if (io_uring_submit_and_wait(&ring, 1) < 0 || io_uring_wait_cqe(&ring, &cqe))
		die("io_uring");
	ret = cqe->res;
	io_uring_cqe_seen(&ring, cqe);
	errno = -ret;
	return ret < 0 ? -1 : ret;
}

#define COMMAND(op, arg, size)	command(fd, op, (uintptr_t)(arg), size, 0)

/* @err: what a file in this state says to a right one */
static void try_commands(int fd, int err)
{
	struct gagg_ioc_submit op = { .size = sizeof(op), .kind = 1, .last_lanes = 1,
				      .chunks = 1 };
	struct gagg_ioc_wait w = { .size = sizeof(w), .channel = GAGG_WAIT_EPOCH,
				   .timeout_ns = ~0ULL };
	uint32_t i;

	for (i = 0; i < 256; i++)
		if (i != _IOC_NR(GAGG_IOC_SUBMIT) && i != _IOC_NR(GAGG_IOC_WAIT))
			IS(COMMAND(_IOWR(GAGG_IOC_MAGIC, i, op), &op, sizeof(op)), ENOTTY);
	IS(COMMAND(_IOWR('G', _IOC_NR(GAGG_IOC_WAIT), w), &w, sizeof(w)), ENOTTY);
	IS(command(fd, GAGG_IOC_WAIT, (uintptr_t)&w, sizeof(w), 1), EINVAL);
	IS(COMMAND(GAGG_IOC_WAIT, NULL, sizeof(w)), EFAULT);
	IS(COMMAND(GAGG_IOC_WAIT, ~0ULL - 8, sizeof(w)), EFAULT);
	IS(COMMAND(GAGG_IOC_WAIT, &w, 0), EINVAL);
	IS(COMMAND(GAGG_IOC_WAIT, &w, sizeof(w) - 1), EINVAL);
	IS(COMMAND(GAGG_IOC_WAIT, &w, 4097), E2BIG);
	w.size--;
	IS(COMMAND(GAGG_IOC_WAIT, &w, sizeof(w)), EINVAL);
	w.size++;
	w.timeout_ns = 5;
	IS(COMMAND(GAGG_IOC_WAIT, &w, sizeof(w)), EINVAL);
	IS(COMMAND(GAGG_IOC_SUBMIT, NULL, sizeof(op)), EFAULT);
	IS(COMMAND(GAGG_IOC_SUBMIT, &op, sizeof(op) + 1), E2BIG);
	op.chunks = 0;
	IS(COMMAND(GAGG_IOC_SUBMIT, &op, sizeof(op)), EINVAL);
	op.chunks = 1;
	op.channel = 9;
	IS(COMMAND(GAGG_IOC_SUBMIT, &op, sizeof(op)), err ? err : ENOENT);
	w.timeout_ns = ~0ULL;
	w.channel = 9;
	IS(COMMAND(GAGG_IOC_WAIT, &w, sizeof(w)), err ? err : ENOENT);
	w.channel = 0;
	w.op = 1ULL << 40;
	IS(COMMAND(GAGG_IOC_WAIT, &w, sizeof(w)), err ? err : EINVAL);
}

static void try_ended(int fd)
{
	TRY(fd, DETACH, 0, gagg_ioc_detach);
	TRY(fd, DETACH, ENOTCONN, gagg_ioc_detach);
	TRY(fd, SUBMIT, ENOTCONN, gagg_ioc_submit, .kind = 1, .last_lanes = 1, .chunks = 1);
	TRY(fd, WAIT, ENOTCONN, gagg_ioc_wait);
	TRY(fd, CHANNEL, ENOTCONN, gagg_ioc_channel, .channel = 1, .members = 1);
	IS(MMAP(fd, 0, 4096, PROT_READ, MAP_SHARED), EINVAL);
}

int main(int argc, char **argv)
{
	struct gagg_ioc_attach attach = { .size = sizeof(attach) };
	int fd = dev();

	if (argc != 7) {
		fprintf(stderr, "see the top of selftests/vm/odd_ioctl.c\n");
		return 2;
	}
	argv++;
	if (io_uring_queue_init(8, &ring, 0))
		die("io_uring");
	try_sizes(fd);
	try_features(fd);
	try_unbound(fd);
	try_open(fd, argv);
	try_sizes(fd);
	try_commands(fd, ENOTCONN);
	try_bound(fd);
	try_waiting(fd);
	close(fd);

	fd = dev();
	IS(open_as(argv[0], atoi(argv[1]), fd), 0);
	IS(ioctl(fd, GAGG_IOC_ATTACH, &attach), 0);
	TRY(fd, WAIT, 0, gagg_ioc_wait, .channel = GAGG_WAIT_EPOCH,
	    .timeout_ns = 20000000000);
	try_sizes(fd);
	try_commands(fd, 0);
	try_submit(fd, &attach.geo);
	try_mmap(fd, &attach.geo);
	try_channel(fd, atoi(argv[1]));
	try_memory(fd, &attach.geo);
	try_ended(fd);
	printf("%d as they have to be, %d not\n", good, bad);
	return bad != 0;
}
