/* SPDX-License-Identifier: GPL-2.0 */
/* Submitting and waiting by io_uring. */
#ifndef GAGG_URING_H
#define GAGG_URING_H

#include <linux/fs.h>

struct gagg_session;
struct io_uring_cmd;

int gagg_uring_cmd_handler(struct io_uring_cmd *cmd, unsigned int flags);
/* complete what is fulfilled, or all with @err when it is not 0; any context */
void gagg_uring_complete(struct gagg_session *ses, int err);
/* end those that were submitted by a process that closes the file */
void gagg_uring_flush(struct gagg_session *ses, fl_owner_t owner);

#endif
