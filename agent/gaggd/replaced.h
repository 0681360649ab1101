/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Checkpoints that have lost their name to a newer one, and are on the disk for as long as
 * they are being sent to somebody. They count for the limits of their group.
 */
#ifndef GAGGD_REPLACED_H
#define GAGGD_REPLACED_H

#include <stdbool.h>
#include <stdint.h>

#include "loop.h"

/**
 * struct replaced - all of them; all zero but for @loop
 * @loop: closes them
 * @first: list
 * @timer: to look again
 * @armed: @timer
 */
struct replaced {
	struct loop *loop;
	struct replaced_file *first;
	struct loop_event timer;
	bool armed;
};

/*
 * The file @fd, which is given up to this function, has lost its name. It is closed within a
 * second of when nobody else has it open.
 */
void replaced_add(struct replaced *all, const char *group, int fd);

/* What is still there of a group: so many, of so many bytes. */
void replaced_count(struct replaced *all, const char *group, uint64_t *files, uint64_t *bytes);

/* After loop_exit(). */
void replaced_exit(struct replaced *all);

#endif
