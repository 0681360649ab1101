// SPDX-License-Identifier: LGPL-2.1-only OR MIT
/*
 * The collectives: check the arguments, make a request, start it, and in the blocking forms wait
 * for it.
 */
#include <stdlib.h>
#include <string.h>

#include "op.h"
#include "progress.h"
#include "quant.h"
#include "store.h"

struct gagg_request *op_new(struct gagg_comm *c, enum gagg_kind kind,
			    const struct transfer *how, uint8_t laneop, int *err)
{
	struct gagg_request *r;

	if (store_is(c)) {
		*err = comm_error(c, GAGG_ERR_UNSUPPORTED,
				  "the group's sync mode has a store: no collectives");
		return NULL;
	}
	r = comm_check(c) ? NULL : calloc(1, sizeof(*r));
	if (!r) {
		*err = c->failed ? c->failed :
		       comm_error(c, GAGG_ERR_NOMEM, "no memory for a request");
		return NULL;
	}
	r->comm = c;
	r->how = how;
	r->owner = -1;
	r->result.nonfinite_rank = -1;
	r->submit.size = sizeof(r->submit);
	r->submit.channel = c->region.geo.channel;
	r->submit.kind = (uint8_t)kind;
	r->submit.laneop = laneop;
	if (how != &transfer_sum)
		r->submit.flags = GAGG_SUBMIT_RAW;
	return r;
}

/* elements of a floating-point sum are packed in the group's wire format */
int op_cut(struct gagg_request *r, uint64_t parts, uint64_t length)
{
	uint32_t packed = r->how == &transfer_sum ? comm_packed(r->comm) : 1;
	uint64_t bytes;

	if (__builtin_mul_overflow(r->part_bytes, parts, &bytes) ||
	    !partition_init(&r->cut, parts, length, r->comm->region.geo.lanes * packed))
		return comm_error(r->comm, GAGG_ERR_INVALID, "the operation is too long");
	r->submit.chunks = r->cut.chunks;
	r->submit.last_lanes = (r->cut.tail + packed - 1) / packed;
	return GAGG_OK;
}

int op_run(struct gagg_request *r)
{
	struct gagg_comm *c = r->comm;

	request_start(r);
	if (!request_wait(r, session_deadline(c->session)))
		comm_fail_late(c);
	return request_reap(r);
}

/*
 * The end of every form. Blocking: @req is NULL. @empty: there are no elements, so there is nothing
 * to do.
 */
static int op_go(struct gagg_request *r, bool empty, struct gagg_request **req)
{
	struct gagg_comm *c = r->comm;

	if (empty) {
		request_skip(r);
		if (!req)
			return request_reap(r);
	} else if (!req) {
		return op_run(r);
	} else {
		request_start(r);
		request_fill(c);
		progress_start(c);
	}
	*req = r;
	return GAGG_OK;
}

/* comm_enter() of every form */
static int op_enter(struct gagg_comm *c, struct gagg_request **req)
{
	if (req)
		*req = NULL;
	return comm_enter(c);
}

static bool op_is_float(enum gagg_dtype t)
{
	return t == GAGG_FLOAT32 || t == GAGG_FLOAT16 || t == GAGG_BFLOAT16;
}

static int op_check_reduction(struct gagg_comm *c, enum gagg_dtype dtype, enum gagg_op op)
{
	if (op != GAGG_SUM && op != GAGG_MEAN && op != GAGG_MIN && op != GAGG_MAX)
		return comm_error(c, GAGG_ERR_INVALID, "unknown operator %d", (int)op);
	if ((dtype == GAGG_INT32 || dtype == GAGG_INT64) && op == GAGG_MEAN)
		return comm_error(c, GAGG_ERR_UNSUPPORTED, "no mean of integers: divide the sum");
	if (dtype == GAGG_INT64 && op != GAGG_SUM)
		return comm_error(c, GAGG_ERR_UNSUPPORTED, "of int64 there are sums only: no minimum, no maximum");
	if (dtype == GAGG_FLOAT64)
		return comm_error(c, GAGG_ERR_UNSUPPORTED,
				  "float64 is for elements of tables: reduce float32, or whole steps as int64");
	if (dtype != GAGG_INT32 && dtype != GAGG_INT64 && !op_is_float(dtype))
		return comm_error(c, GAGG_ERR_UNSUPPORTED, "no reduction of element type %d",
				  (int)dtype);
	return GAGG_OK;
}

static int op_check_plan(struct gagg_comm *c, struct gagg_plan *plan, uint64_t count,
			 enum gagg_dtype dtype)
{
	if (!plan)
		return GAGG_OK;
	if (plan_busy(plan))
		return comm_error(c, GAGG_ERR_BUSY, PLAN_BUSY);
	if (plan->count != count || plan->dtype != dtype)
		return comm_error(c, GAGG_ERR_INVALID,
				  "the plan was made for other elements");
	return plan_fit(c, plan);
}

static const struct transfer *op_reduction_transfer(enum gagg_dtype dtype, enum gagg_op op)
{
	if (dtype == GAGG_INT32)
		return &transfer_int;
	if (dtype == GAGG_INT64)
		return &transfer_wide;
	return op == GAGG_SUM || op == GAGG_MEAN ? &transfer_sum : &transfer_order;
}

static uint8_t op_reduction_laneop(const struct gagg_comm *c, enum gagg_dtype dtype,
				   enum gagg_op op)
{
	if (dtype == GAGG_INT64)
		return GAGG_LANEOP(GAGG_LANE_S64, GAGG_OP_ADD);
	if (op_reduction_transfer(dtype, op) == &transfer_sum && comm_packed(c) > 1)
		return GAGG_LANEOP(comm_packed(c) == 2 ? GAGG_LANE_S16 : GAGG_LANE_S8,
				   GAGG_OP_ADD);
	return GAGG_LANEOP(GAGG_LANE_S32, op == GAGG_MIN ? GAGG_OP_MIN :
			   op == GAGG_MAX ? GAGG_OP_MAX : GAGG_OP_ADD);
}

/*
 * The first results are written before the last elements are read. @recvbuf is not at a place in
 * @sendbuf that gagg.h allows, nor the reverse: so they must not overlap.
 */
static int op_check_apart(struct gagg_comm *c, const void *sendbuf, uint64_t sent,
			  const void *recvbuf, uint64_t received)
{
	uintptr_t send = (uintptr_t)sendbuf, recv = (uintptr_t)recvbuf;

	if (send < recv ? recv - send >= sent : send - recv >= received)
		return GAGG_OK;
	return comm_error(c, GAGG_ERR_INVALID,
			  "sendbuf (%llu bytes) and recvbuf (%llu bytes), which begins %lld bytes after it, overlap: pass one buffer twice, or two that do not",
			  (unsigned long long)sent, (unsigned long long)received,
			  (long long)(intptr_t)(recv - send));
}

/* "in place" means: the whole @sendbuf, or the part that becomes this rank's result */
static int op_check_reduction_place(struct gagg_comm *c, const void *sendbuf, uint64_t parts,
				    const void *recvbuf, uint64_t bytes)
{
	const unsigned char *own = sendbuf;

	if (parts > 1)
		own += (uint64_t)c->rank * bytes;
	if (!bytes || recvbuf == sendbuf || recvbuf == own)
		return GAGG_OK;
	return op_check_apart(c, sendbuf, parts * bytes, recvbuf, bytes);
}

static int op_start_reduction(struct gagg_comm *c, const struct op_reduction *a,
			      struct gagg_request **req)
{
	uint64_t parts = a->kind == GAGG_K_REDUCE_SCATTER ? (uint64_t)c->size : 1;
	enum gagg_dtype dtype = a->dtype;
	struct op_mean *by = a->by;
	struct gagg_request *r;
	size_t count = a->count;
	int err;

	err = op_check_reduction(c, dtype, a->op);
	if (err)
		return err;
	if (count > UINT64_MAX / 8 / GAGG_RANKS_MAX || (count && (!a->send || !a->recv)))
		return comm_error(c, GAGG_ERR_INVALID, "no buffer, or too long a one");
	err = op_check_reduction_place(c, a->send, parts, a->recv, count * dtype_size(dtype));
	if (err)
		return err;
	r = op_new(c, a->kind, op_reduction_transfer(dtype, a->op),
		   op_reduction_laneop(c, dtype, a->op), &err);
	if (!r)
		return err;
	r->send = a->send;
	r->recv = a->recv;
	r->dtype = dtype;
	r->part_bytes = count * dtype_size(dtype);
	r->mean = a->op == GAGG_MEAN;
	r->by = by ? &by->total : NULL;
	r->submit.dtype = (uint8_t)dtype;
	r->submit.count = count;
	/* not the lanes' operator: it does not tell a sum from a mean */
	r->submit.root = a->op;
	if (r->how == &transfer_sum) {
		err = op_check_plan(c, a->plan, count * parts, dtype);
		r->plan = err ? NULL : a->plan;
	}
	if (!err && count)
		err = op_cut(r, parts, (uint64_t)count * dtype_lanes(dtype));
	if (!err && count && r->plan && r->cut.chunks > r->plan->chunks)
		err = comm_error(c, GAGG_ERR_INVALID, "the plan was made for another communicator");
	if (!err && count && r->how == &transfer_sum && !r->plan && !req)
		err = op_agree(r);
	if (!err && by)
		err = gagg_iallreduce(&by->samples, &by->total, 1, GAGG_INT32, GAGG_SUM, c,
				      NULL, &by->req);
	if (err) {
		free(r);
		return err;
	}
	return op_go(r, !count, req);
}

/* Blocking: @req is NULL */
static int op_reduce(struct gagg_comm *c, const struct op_reduction *a, struct gagg_request **req)
{
	int err = op_enter(c, req);

	if (err)
		return err;
	err = op_start_reduction(c, a, req);
	comm_exit(c);
	return err;
}

int op_mean_by(struct gagg_comm *c, const struct op_reduction *a)
{
	struct gagg_result res;
	int err, counted;

	a->by->req = NULL;
	err = op_reduce(c, a, NULL);
	/* it has ended before the sums have, and is not what the caller asks about */
	res = c->result;
	counted = gagg_wait(&a->by->req, GAGG_FOREVER);
	c->result = res;
	return err ? err : counted;
}

static int op_start_allgather(const void *sendbuf, size_t bytes, void *recvbuf,
			      struct gagg_comm *c, struct gagg_request **req)
{
	struct gagg_request *r;
	unsigned char *own;
	int err;

	if (bytes > UINT64_MAX / 4 / GAGG_RANKS_MAX || (bytes && (!sendbuf || !recvbuf)))
		return comm_error(c, GAGG_ERR_INVALID, "no buffer, or too long a one");
	own = (unsigned char *)recvbuf + (size_t)c->rank * bytes;
	err = !bytes || own == sendbuf ? GAGG_OK :
	      op_check_apart(c, sendbuf, bytes, recvbuf, bytes * (uint64_t)c->size);
	if (err)
		return err;
	r = op_new(c, GAGG_K_ALLGATHER, &transfer_copy,
		   GAGG_LANEOP(GAGG_LANE_S32, GAGG_OP_ADD), &err);
	if (!r)
		return err;
	r->send = sendbuf;
	r->recv = recvbuf;
	r->part_bytes = bytes;
	r->submit.dtype = GAGG_BYTE;
	r->submit.count = bytes;
	err = bytes ? op_cut(r, (uint64_t)c->size, (bytes + 3) / 4) : GAGG_OK;
	if (err) {
		free(r);
		return err;
	}
	if (bytes && own != sendbuf)
		memcpy(own, sendbuf, bytes);
	return op_go(r, !bytes, req);
}

static int op_allgather(const void *sendbuf, size_t bytes, void *recvbuf, struct gagg_comm *c,
			struct gagg_request **req)
{
	int err = op_enter(c, req);

	if (err)
		return err;
	err = op_start_allgather(sendbuf, bytes, recvbuf, c, req);
	comm_exit(c);
	return err;
}

static int op_start_broadcast(void *buf, size_t bytes, int root, struct gagg_comm *c,
			      struct gagg_request **req)
{
	struct gagg_request *r;
	int err;

	if (root < 0 || root >= c->size)
		return comm_error(c, GAGG_ERR_INVALID, "root %d is not a rank of %d", root,
				  c->size);
	if (bytes > UINT64_MAX / 4 / GAGG_RANKS_MAX || (bytes && !buf))
		return comm_error(c, GAGG_ERR_INVALID, "no buffer, or too long a one");
	r = op_new(c, GAGG_K_BROADCAST, &transfer_copy,
		   GAGG_LANEOP(GAGG_LANE_S32, GAGG_OP_ADD), &err);
	if (!r)
		return err;
	r->send = buf;
	r->recv = buf;
	r->part_bytes = bytes;
	r->owner = root;
	r->submit.dtype = GAGG_BYTE;
	r->submit.count = bytes;
	r->submit.root = c->ranks[root];
	err = bytes ? op_cut(r, 1, (bytes + 3) / 4) : GAGG_OK;
	if (err) {
		free(r);
		return err;
	}
	return op_go(r, !bytes, req);
}

static int op_broadcast(void *buf, size_t bytes, int root, struct gagg_comm *c,
			struct gagg_request **req)
{
	int err = op_enter(c, req);

	if (err)
		return err;
	err = op_start_broadcast(buf, bytes, root, c, req);
	comm_exit(c);
	return err;
}

static int op_start_barrier(struct gagg_comm *c, struct gagg_request **req)
{
	struct gagg_request *r;
	int err;

	r = op_new(c, GAGG_K_BARRIER, &transfer_none,
		   GAGG_LANEOP(GAGG_LANE_S32, GAGG_OP_ADD), &err);
	if (!r)
		return err;
	/* one chunk without lanes */
	r->cut.lanes = c->region.geo.lanes;
	r->cut.per_part = 1;
	r->cut.chunks = 1;
	r->submit.chunks = 1;
	return op_go(r, false, req);
}

static int op_barrier(struct gagg_comm *c, struct gagg_request **req)
{
	int err = op_enter(c, req);

	if (err)
		return err;
	err = op_start_barrier(c, req);
	comm_exit(c);
	return err;
}

int gagg_allreduce(const void *sendbuf, void *recvbuf, size_t count, enum gagg_dtype dtype,
		   enum gagg_op op, struct gagg_comm *comm, struct gagg_plan *plan)
{
	return op_reduce(comm, &(struct op_reduction){
		.kind = GAGG_K_ALLREDUCE, .dtype = dtype, .op = op, .send = sendbuf,
		.recv = recvbuf, .count = count, .plan = plan,
	}, NULL);
}

int gagg_iallreduce(const void *sendbuf, void *recvbuf, size_t count, enum gagg_dtype dtype,
		    enum gagg_op op, struct gagg_comm *comm, struct gagg_plan *plan,
		    struct gagg_request **req)
{
	return op_reduce(comm, &(struct op_reduction){
		.kind = GAGG_K_ALLREDUCE, .dtype = dtype, .op = op, .send = sendbuf,
		.recv = recvbuf, .count = count, .plan = plan,
	}, req);
}

int gagg_reduce_scatter(const void *sendbuf, void *recvbuf, size_t recvcount,
			enum gagg_dtype dtype, enum gagg_op op, struct gagg_comm *comm,
			struct gagg_plan *plan)
{
	return op_reduce(comm, &(struct op_reduction){
		.kind = GAGG_K_REDUCE_SCATTER, .dtype = dtype, .op = op, .send = sendbuf,
		.recv = recvbuf, .count = recvcount, .plan = plan,
	}, NULL);
}

int gagg_ireduce_scatter(const void *sendbuf, void *recvbuf, size_t recvcount,
			 enum gagg_dtype dtype, enum gagg_op op, struct gagg_comm *comm,
			 struct gagg_plan *plan, struct gagg_request **req)
{
	return op_reduce(comm, &(struct op_reduction){
		.kind = GAGG_K_REDUCE_SCATTER, .dtype = dtype, .op = op, .send = sendbuf,
		.recv = recvbuf, .count = recvcount, .plan = plan,
	}, req);
}

int gagg_allgather(const void *sendbuf, size_t sendbytes, void *recvbuf,
		   struct gagg_comm *comm)
{
	return op_allgather(sendbuf, sendbytes, recvbuf, comm, NULL);
}

int gagg_iallgather(const void *sendbuf, size_t sendbytes, void *recvbuf,
		    struct gagg_comm *comm, struct gagg_request **req)
{
	return op_allgather(sendbuf, sendbytes, recvbuf, comm, req);
}

int gagg_broadcast(void *buf, size_t bytes, int root, struct gagg_comm *comm)
{
	return op_broadcast(buf, bytes, root, comm, NULL);
}

int gagg_ibroadcast(void *buf, size_t bytes, int root, struct gagg_comm *comm,
		    struct gagg_request **req)
{
	return op_broadcast(buf, bytes, root, comm, req);
}

int gagg_barrier(struct gagg_comm *comm)
{
	return op_barrier(comm, NULL);
}

int gagg_ibarrier(struct gagg_comm *comm, struct gagg_request **req)
{
	return op_barrier(comm, req);
}
