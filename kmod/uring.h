/* SPDX-License-Identifier: GPL-2.0 */
/* Submitting and waiting by io_uring. */
#ifndef GAGG_URING_H
#define GAGG_URING_H

#include <linux/fs.h>

struct gagg_session;
struct io_uring_cmd;

int gagg_uring_cmd_handler(struct io_uring_cmd *cmd, unsigned int flags);
/* completes commands that are fulfilled; if @err is not 0, all commands, with @err; any context */
void gagg_uring_complete(struct gagg_session *ses, int err);
/* ends the commands that a process has submitted that now closes the file */
void gagg_uring_flush(struct gagg_session *ses, fl_owner_t owner);

#endif
