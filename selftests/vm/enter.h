/* SPDX-License-Identifier: GPL-2.0 */
/* How a program becomes a rank. */
#ifndef ENTER_H
#define ENTER_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <gagg.h>

/* ms: longer than any dead-after of a test (60 s, in chaos), so that silence has a name */
#define ENTER_PATIENCE	150000

/* by gaggd or gagg-twin at $GAGG_SOCKET, or by /dev/gagg; ends the program if it fails */
static inline struct gagg_comm *enter(const char *group, int rank)
{
	struct gagg_config cfg = {
		.size = sizeof(cfg), .rank = (uint32_t)rank, .group = group,
		.socket = getenv("GAGG_SOCKET"), .timeout_ms = ENTER_PATIENCE,
	};
	struct gagg_comm *comm;
	int fd, err;

	if (cfg.socket && *cfg.socket) {
		err = gagg_init(&comm, &cfg);
	} else {
		fd = gagg_open_rank(group, cfg.rank);
		err = fd < 0 ? fd : gagg_init_fd(&comm, fd, ENTER_PATIENCE);
	}
	if (!err)
		return comm;
	fprintf(stderr, "rank %d: init: %s\n", rank, gagg_last_error(NULL));
	exit(1);
}

#endif
