/* SPDX-License-Identifier: GPL-2.0 */
#ifndef GAGG_COMPAT_URING_H
#define GAGG_COMPAT_URING_H

#ifdef GAGG_HAVE_URING_CMD_H
#include <linux/io_uring/cmd.h>
#else
#include <linux/io_uring.h>
#endif

/* the 16 bytes of the SQE; user memory until the command is held */
static inline const void *gagg_compat_uring_arg(const struct io_uring_cmd *cmd)
{
#ifdef GAGG_HAVE_URING_SQE_CMD
	return cmd->sqe->cmd;
#else
	return cmd->cmd;
#endif
}

/* the ring wants to get rid of a held command */
static inline bool gagg_compat_uring_cancels(unsigned int flags)
{
#ifdef GAGG_HAVE_URING_CANCEL
	return flags & IO_URING_F_CANCEL;
#else
	return false;
#endif
}

static inline void gagg_compat_uring_cancelable(struct io_uring_cmd *cmd, unsigned int flags)
{
#ifdef GAGG_HAVE_URING_CANCEL
	io_uring_cmd_mark_cancelable(cmd, flags);
#endif
}

static inline void gagg_compat_uring_done(struct io_uring_cmd *cmd, int ret,
					  unsigned int flags)
{
#ifdef GAGG_HAVE_URING_CMD_DONE32
	io_uring_cmd_done(cmd, ret, flags);
#else
	io_uring_cmd_done(cmd, ret, 0, flags);
#endif
}

/* @name(), for io_uring_cmd_complete_in_task(), calls @fn(cmd, flags) */
#ifdef GAGG_HAVE_URING_TW_REQ
#define GAGG_COMPAT_URING_WORK(name, fn)					\
static void name(struct io_tw_req req, io_tw_token_t token)			\
{										\
	fn(io_uring_cmd_from_tw(req), IO_URING_CMD_TASK_WORK_ISSUE_FLAGS);	\
}
#else
#define GAGG_COMPAT_URING_WORK(name, fn)					\
static void name(struct io_uring_cmd *cmd, unsigned int flags)			\
{										\
	fn(cmd, flags);								\
}
#endif

#endif
