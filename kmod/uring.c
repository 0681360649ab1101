// SPDX-License-Identifier: GPL-2.0
/*
 * io_uring commands. A command that has to wait is held in a list of its
 * session; who takes it out of the list, under uring_lock, is the one who
 * completes it, in the task of the submitter.
 *
 * A held command refers to the file: the session outlives it. It holds a
 * reference to the seat it waits for. It may be completed before the call that
 * holds it returns, and the session is there until then, too: a worker of the
 * ring has a reference to the request, and a task that issues one completes
 * none meanwhile.
 */
#include <linux/fdtable.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include "compat/uring.h"
#include "op.h"
#include "session.h"
#include "uring.h"

/* in one session: a poll looks at each whenever something is done */
#define HELD_MAX	4096

struct held {
	struct list_head list;
	struct io_uring_cmd *cmd;
	struct gagg_wish wish;
	fl_owner_t owner;	/* files struct of the submitter */
	int ret;
};

/* process context: the last reference to a seat frees its memory */
static void uring_held_free(struct held *h)
{
	gagg_seat_put(h->wish.seat);
	kfree(h);
}

static struct held **uring_held_of(struct io_uring_cmd *cmd)
{
	BUILD_BUG_ON(sizeof(struct held *) > sizeof(cmd->pdu));
	return (struct held **)cmd->pdu;
}

static void uring_complete_held(struct io_uring_cmd *cmd, unsigned int flags)
{
	struct held *h = *uring_held_of(cmd);
	int ret = h->ret;

	uring_held_free(h);
	gagg_compat_uring_done(cmd, ret, flags);
}

GAGG_COMPAT_URING_WORK(complete_in_task, uring_complete_held)

/* @err: for those of @owner that are not fulfilled; NULL: of everybody */
static void uring_finish(struct gagg_session *ses, int err, fl_owner_t owner)
{
	struct held *h, *next;
	LIST_HEAD(ready);

	/* pairs with the barrier in uring_hold(): it sees what was done, or we see it */
	smp_mb();
	if (list_empty_careful(&ses->uring))
		return;
	spin_lock_bh(&ses->uring_lock);
	list_for_each_entry_safe(h, next, &ses->uring, list) {
		h->ret = gagg_op_wish_state(&h->wish);
		if (h->ret == -EAGAIN && err && (!owner || h->owner == owner))
			h->ret = err;
		if (h->ret == -EAGAIN)
			continue;
		list_move_tail(&h->list, &ready);
		ses->nheld--;
	}
	spin_unlock_bh(&ses->uring_lock);
	/* each may be gone as soon as its task knows */
	list_for_each_entry_safe(h, next, &ready, list)
		io_uring_cmd_complete_in_task(h->cmd, complete_in_task);
}

void gagg_uring_complete(struct gagg_session *ses, int err)
{
	uring_finish(ses, err, NULL);
}

void gagg_uring_flush(struct gagg_session *ses, fl_owner_t owner)
{
	uring_finish(ses, -ECANCELED, owner);
}

static int uring_is_file(const void *file, struct file *other, unsigned int fd)
{
	return other == file;
}

/*
 * Whether a flush by this process is still to come: a table has lost a file
 * before the file is flushed. Commands find files by other ways, too, a worker
 * before a thread closes it, a ring that has it registered.
 */
static bool uring_will_flush(const struct file *file)
{
	return iterate_fd(current->files, 0, uring_is_file, file);
}

static int uring_hold(struct gagg_session *ses, struct io_uring_cmd *cmd, struct held *h,
		      unsigned int flags)
{
	const struct file *file = cmd->file;
	int err = gagg_op_wish_state(&h->wish);

	if (err != -EAGAIN) {
		uring_held_free(h);
		return err;
	}
	h->cmd = cmd;
	/* workers of the ring share it */
	h->owner = current->files;
	*uring_held_of(cmd) = h;
	gagg_compat_uring_cancelable(cmd, flags);
	spin_lock_bh(&ses->uring_lock);
	list_add_tail(&h->list, &ses->uring);
	ses->nheld++;
	spin_unlock_bh(&ses->uring_lock);
	/*
	 * From here it may be completed at any time. It may be fulfilled already.
	 * The barrier in uring_finish() comes before the look at the table, too: the
	 * flush of whoever has left it sees the command, or we see that it has.
	 */
	gagg_uring_complete(ses, 0);
	if (!uring_will_flush(file))
		gagg_uring_flush(ses, current->files);
	return -EIOCBQUEUED;
}

static int uring_cancel(struct gagg_session *ses, struct io_uring_cmd *cmd, unsigned int flags)
{
	struct held *h, *mine = NULL;

	spin_lock_bh(&ses->uring_lock);
	list_for_each_entry(h, &ses->uring, list)
		if (h->cmd == cmd) {
			mine = h;
			list_del(&h->list);
			ses->nheld--;
			break;
		}
	spin_unlock_bh(&ses->uring_lock);
	/* else somebody is completing it */
	if (mine) {
		uring_held_free(mine);
		gagg_compat_uring_done(cmd, -ECANCELED, flags);
	}
	return 0;
}

static int uring_lock_session(struct gagg_session *ses, unsigned int flags)
{
	/* -EAGAIN: again from a worker that may sleep */
	if (flags & IO_URING_F_NONBLOCK)
		return mutex_trylock(&ses->lock) ? 0 : -EAGAIN;
	return mutex_lock_interruptible(&ses->lock) ? -EINTR : 0;
}

static int uring_get_arg(void *arg, u32 size, const struct gagg_uring_cmd *u)
{
	if (u->len < size)
		return -EINVAL;
	if (u->len > PAGE_SIZE)
		return -E2BIG;
	return copy_struct_from_user(arg, size, u64_to_user_ptr(u->addr), u->len);
}

static int uring_cmd_submit(struct gagg_session *ses, const struct gagg_uring_cmd *u,
			    struct gagg_wish *wish, unsigned int flags)
{
	struct gagg_ioc_submit __user *user = u64_to_user_ptr(u->addr);
	struct gagg_ioc_submit arg;
	int err;

	err = uring_get_arg(&arg, sizeof(arg), u);
	if (err)
		return err;
	if (arg.size != u->len)
		return -EINVAL;
	err = uring_lock_session(ses, flags);
	if (err)
		return err;
	err = gagg_op_submit(ses, &arg, !(flags & IO_URING_F_NONBLOCK));
	if (!err) {
		wish->ses = ses;
		wish->op = arg.op;
		wish->seat = gagg_seat_find(ses, arg.channel);
		kref_get(&wish->seat->ref);
	}
	mutex_unlock(&ses->lock);
	if (!err && put_user(arg.op, &user->op))
		err = -EFAULT;
	return err;
}

static int uring_cmd_wait(struct gagg_session *ses, const struct gagg_uring_cmd *u,
			  struct gagg_wish *wish, unsigned int flags)
{
	struct gagg_ioc_wait arg;
	int err;

	err = uring_get_arg(&arg, sizeof(arg), u);
	if (err)
		return err;
	if (arg.size != u->len || arg.timeout_ns != U64_MAX)
		return -EINVAL;
	err = uring_lock_session(ses, flags);
	if (err)
		return err;
	err = gagg_op_wish(ses, &arg, wish);
	mutex_unlock(&ses->lock);
	return err;
}

int gagg_uring_cmd_handler(struct io_uring_cmd *cmd, unsigned int flags)
{
	struct gagg_session *ses = cmd->file->private_data;
	const struct gagg_uring_cmd *sqe;
	struct gagg_uring_cmd u;
	struct held *h;
	int err;

	if (gagg_compat_uring_cancels(flags))
		return uring_cancel(ses, cmd, flags);
	/* user memory at first: each field is read once */
	sqe = gagg_compat_uring_arg(cmd);
	u.addr = READ_ONCE(sqe->addr);
	u.len = READ_ONCE(sqe->len);
	if (READ_ONCE(sqe->reserved))
		return -EINVAL;
	if (_IOC_TYPE(cmd->cmd_op) != GAGG_IOC_MAGIC)
		return -ENOTTY;
	if (READ_ONCE(ses->nheld) >= HELD_MAX)
		return -EBUSY;
	h = kzalloc(sizeof(*h), GFP_KERNEL_ACCOUNT);
	if (!h)
		return -ENOMEM;
	switch (_IOC_NR(cmd->cmd_op)) {
	case _IOC_NR(GAGG_IOC_SUBMIT):
		err = uring_cmd_submit(ses, &u, &h->wish, flags);
		break;
	case _IOC_NR(GAGG_IOC_WAIT):
		err = uring_cmd_wait(ses, &u, &h->wish, flags);
		break;
	default:
		err = -ENOTTY;
	}
	if (err) {
		uring_held_free(h);
		return err;
	}
	return uring_hold(ses, cmd, h, flags);
}
