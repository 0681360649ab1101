// SPDX-License-Identifier: GPL-2.0
/*
 * io_uring commands that wait for what never comes, and files that are closed
 * meanwhile: each command ends, none keeps the module.
 *
 *	held GROUP RANK [die]
 *
 * The epoch of GROUP must not start: another of its members is missing.
 * die: with commands that wait, by SIGKILL.
 */
#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <linux/userfaultfd.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/gagg.h>

/* an event that has to come does, however slow the machine is */
#define PATIENCE_S	30
#define PAGE		4096

static const char *group;
static uint32_t rank;
static struct io_uring ring;
static struct gagg_ioc_wait forever = {
	.size = sizeof(forever), .channel = GAGG_WAIT_EPOCH, .timeout_ns = ~0ULL,
};
static int bad;

static void die(const char *what)
{
	perror(what);
	exit(2);
}

static void result(bool good, const char *what)
{
	printf("%s: %s\n", good ? "right" : "WRONG", what);
	bad += !good;
}

/* a file whose rank waits for the epoch; that of before may still be on its way out */
static int attached(void)
{
	struct gagg_ioc_open open_arg = { .size = sizeof(open_arg), .rank = rank };
	struct gagg_ioc_attach attach = { .size = sizeof(attach) };
	int fd = open("/dev/gagg", O_RDWR | O_CLOEXEC), tries = PATIENCE_S * 100;

	if (fd < 0)
		die("/dev/gagg");
	snprintf(open_arg.name, sizeof(open_arg.name), "%s", group);
	while (ioctl(fd, GAGG_IOC_OPEN, &open_arg)) {
		if (errno != EBUSY || !tries--)
			die("open");
		usleep(10000);
	}
	if (ioctl(fd, GAGG_IOC_ATTACH, &attach))
		die("attach");
	return fd;
}

static void command(int fd, const void *arg, unsigned int flags)
{
	struct gagg_uring_cmd u = { .addr = (uintptr_t)arg, .len = sizeof(forever) };
	struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);

	if (!sqe)
		die("sqe");
	memset(sqe, 0, sizeof(*sqe));
	sqe->opcode = IORING_OP_URING_CMD;
	sqe->fd = fd;
	sqe->flags = (uint8_t)flags;
	sqe->cmd_op = GAGG_IOC_WAIT;
	memcpy(sqe->cmd, &u, sizeof(u));
	if (io_uring_submit(&ring) != 1)
		die("submit");
}

/* how the next command has ended; 1: not within so many seconds */
static int ending(unsigned int seconds)
{
	struct __kernel_timespec t = { .tv_sec = seconds };
	struct io_uring_cqe *cqe;
	int ret = io_uring_wait_cqe_timeout(&ring, &cqe, &t);

	if (ret == -ETIME)
		return 1;
	if (ret)
		die("wait");
	ret = cqe->res;
	io_uring_cqe_seen(&ring, cqe);
	return ret;
}

static bool canceled(void)
{
	int ret = ending(PATIENCE_S);

	printf("it ended with %d\n", ret);
	return ret == -ECANCELED;
}

/* --- a page that is not there until it is given --------------------------- */

struct late {
	int fd;
	void *page;
};

static void late_up(struct late *l)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };

	l->page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	l->fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	if (l->page == MAP_FAILED || l->fd < 0 || ioctl(l->fd, UFFDIO_API, &api))
		die("userfaultfd");
	reg.range.start = (uintptr_t)l->page;
	reg.range.len = PAGE;
	if (ioctl(l->fd, UFFDIO_REGISTER, &reg))
		die("UFFDIO_REGISTER");
}

/* somebody reads it */
static void late_wanted(const struct late *l)
{
	struct uffd_msg msg;

	if (read(l->fd, &msg, sizeof(msg)) != sizeof(msg) || msg.event != UFFD_EVENT_PAGEFAULT)
		die("userfaultfd read");
}

static void late_give(struct late *l)
{
	static union {
		struct gagg_ioc_wait wait;
		char page[PAGE];
	} source __attribute__((aligned(PAGE)));
	struct uffdio_copy copy = { .dst = (uintptr_t)l->page, .src = (uintptr_t)&source,
				    .len = PAGE };

	source.wait = forever;
	if (ioctl(l->fd, UFFDIO_COPY, &copy))
		die("UFFDIO_COPY");
	close(l->fd);
}

/* --- closing --------------------------------------------------------------- */

static void held_before(void)
{
	int fd = attached();

	command(fd, &forever, 0);
	close(fd);
	result(canceled(), "a command that waits ends when its file is closed");
}

/* a worker of the ring has the file, and not begun to wait when it is closed */
static void held_after(void)
{
	struct late l;
	int fd = attached();

	late_up(&l);
	command(fd, l.page, IOSQE_ASYNC);
	late_wanted(&l);
	close(fd);
	late_give(&l);
	result(canceled(), "so does one that begins to wait while its file is closed");
}

static void held_twice(void)
{
	int fd = attached(), other = dup(fd);

	command(fd, &forever, 0);
	close(other);
	result(canceled(), "one of two descriptors is closed: it ends");
	command(fd, &forever, 0);
	result(ending(1) == 1, "the next one waits, at the other descriptor");
	close(fd);
	result(canceled(), "until that is closed, too");
}

/* the ring refers to the file, too, but no process will ever close it there */
static void held_fixed(void)
{
	int fd = attached();

	if (io_uring_register_files(&ring, &fd, 1))
		die("register");
	close(fd);
	command(0, &forever, IOSQE_FIXED_FILE);
	result(canceled(), "a closed file that is registered with the ring: nobody waits");
	if (io_uring_unregister_files(&ring))
		die("unregister");
}

/* one waits, one is about to */
static void die_holding(void)
{
	struct late l;
	int fd = attached();

	command(fd, &forever, 0);
	late_up(&l);
	command(fd, l.page, IOSQE_ASYNC);
	late_wanted(&l);
	raise(SIGKILL);
}

int main(int argc, char **argv)
{
	if (argc < 3 || argc > 4) {
		fprintf(stderr, "see the top of selftests/vm/held.c\n");
		return 2;
	}
	group = argv[1];
	rank = (uint32_t)atoi(argv[2]);
	if (io_uring_queue_init(8, &ring, 0))
		die("io_uring");
	if (argc == 4)
		die_holding();
	held_before();
	held_after();
	held_twice();
	held_fixed();
	io_uring_queue_exit(&ring);
	return bad != 0;
}
