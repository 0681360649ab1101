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
	return io_uring_sqe_cmd(cmd->sqe);
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

#endif
