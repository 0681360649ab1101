// SPDX-License-Identifier: LGPL-2.1-only OR MIT
#include <string.h>

#include "gagg_uring.h"
#include "request.h"
#include "sys.h"

int gagg_prep_wait(struct io_uring_sqe *sqe, struct gagg_request *r)
{
	struct gagg_comm *c = r->comm;
	struct gagg_uring_cmd cmd = { .len = sizeof(r->wait) };
	__u64 user_data = sqe->user_data;
	bool done;

	if (!c)
		return error_set(GAGG_ERR_INVALID, "the request is done");
	if (!sys_in_kernel(c->session->fd))
		return comm_error(c, GAGG_ERR_UNSUPPORTED,
				  "gagg-twin accepts no io_uring commands: poll gagg_fd()");
	comm_check(c);
	pthread_mutex_lock(&c->lock);
	if (!r->done)
		request_step(c, UINT64_MAX);
	done = r->done;
	if (!done)
		request_wish(r, &r->wait);
	pthread_mutex_unlock(&c->lock);
	if (done)
		return comm_error(c, GAGG_ERR_INVALID, "the request is done");
	cmd.addr = (uintptr_t)&r->wait;
	memset(sqe, 0, sizeof(*sqe));
	sqe->opcode = IORING_OP_URING_CMD;
	sqe->fd = c->session->fd;
	sqe->cmd_op = GAGG_IOC_WAIT;
	sqe->user_data = user_data;
	memcpy(sqe->cmd, &cmd, sizeof(cmd));
	return GAGG_OK;
}
