// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <linux/gagg.h>

#include "replaced.h"

#define SWEEP_MS	1000

struct replaced_file {
	struct replaced_file *next;
	char group[GAGG_NAME_MAX];
	uint64_t bytes;
	int fd;
};

/*
 * A lease to write is granted when nobody else has the file open (fcntl(2)). Whoever opens it
 * meanwhile has it open already, since it has no name. Where there are no leases nothing is
 * known, and it counts as free.
 */
static bool replaced_is_free(int fd)
{
	if (fcntl(fd, F_SETLEASE, F_WRLCK))
		return errno != EAGAIN;
	fcntl(fd, F_SETLEASE, F_UNLCK);
	return true;
}

static void replaced_sweep(struct replaced *all)
{
	struct replaced_file *r, **at = &all->first;

	while ((r = *at)) {
		if (!replaced_is_free(r->fd)) {
			at = &r->next;
			continue;
		}
		*at = r->next;
		loop_close(all->loop, r->fd);
		free(r);
	}
}

static void replaced_timed(struct loop_event *ev, int res)
{
	struct replaced *all = loop_container(ev, struct replaced, timer);

	(void)res;
	replaced_sweep(all);
	all->armed = all->first;
	if (all->armed)
		loop_timer(all->loop, ev, SWEEP_MS);
}

void replaced_add(struct replaced *all, const char *group, int fd)
{
	struct replaced_file *r = NULL;
	struct stat st;

	if (!replaced_is_free(fd) && !fstat(fd, &st))
		r = calloc(1, sizeof(*r));
	/* without memory it does not count */
	if (!r) {
		loop_close(all->loop, fd);
		return;
	}
	strncpy(r->group, group, sizeof(r->group) - 1);
	r->bytes = (uint64_t)st.st_size;
	r->fd = fd;
	r->next = all->first;
	all->first = r;
	if (all->armed || all->loop->stop)
		return;
	all->armed = true;
	all->timer.fire = replaced_timed;
	loop_timer(all->loop, &all->timer, SWEEP_MS);
}

void replaced_count(struct replaced *all, const char *group, uint64_t *files, uint64_t *bytes)
{
	const struct replaced_file *r;

	*files = 0;
	*bytes = 0;
	replaced_sweep(all);
	for (r = all->first; r; r = r->next)
		if (!strcmp(r->group, group)) {
			++*files;
			*bytes += r->bytes;
		}
}

void replaced_exit(struct replaced *all)
{
	struct replaced_file *r;

	while ((r = all->first)) {
		all->first = r->next;
		close(r->fd);
		free(r);
	}
}
