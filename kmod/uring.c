// SPDX-License-Identifier: GPL-2.0
/*
 * io_uring commands. A command that has to wait is held in a list of its session. The task that
 * takes it out of the list, under uring_lock, completes it, in the context of the submitter's task.
 *
 * 1. A held command refers to the file, so the session lives longer.
 * 2. It holds a reference to the seat that it waits for.
 * 3. It may be completed before the call that holds it returns. The session still exists then: a
 *    worker of the ring has a reference to the request, and a task that issues a command completes
 *    none at the same time.
 */
#include <linux/fdtable.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include "compat/uring.h"
#include "op.h"
#include "session.h"
#include "uring.h"

/* held commands of a session: a poll looks at each of them whenever something is done */
#define HELD_MAX	4096

struct held {
	struct list_head list;
	struct io_uring_cmd *cmd;
	struct gagg_wish wish;
	fl_owner_t owner;	/* files struct of the submitter */
	int ret;
};

/* process context: dropping the last reference to a seat frees its memory */
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

/* @err: result of commands that are not fulfilled, if @owner submitted them; NULL: of all */
static void uring_finish(struct gagg_session *ses, int err, fl_owner_t owner)
{
	struct held *h, *next;
	LIST_HEAD(ready);

	/* pairs with the barrier in uring_hold(): that sees what was done, or we see the command */
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
	/* each may be freed as soon as it is completed */
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
 * Will this process still flush the file? A file leaves the table of files before it is flushed. A
 * command may find the file in other ways: a worker before a thread closes it, a ring that has it
 * registered.
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
	/* workers of the ring share the files struct */
	h->owner = current->files;
	*uring_held_of(cmd) = h;
	gagg_compat_uring_cancelable(cmd, flags);
	spin_lock_bh(&ses->uring_lock);
	list_add_tail(&h->list, &ses->uring);
	ses->nheld++;
	spin_unlock_bh(&ses->uring_lock);
	/*
	 * From here on the command may be completed at any time. Its wish may be fulfilled already.
	 * The barrier in uring_finish() also comes before the look at the table: if the file has
	 * left the table, either its flush sees the command, or we see that it has left.
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
	/* else another task completes it */
	if (mine) {
		uring_held_free(mine);
		gagg_compat_uring_done(cmd, -ECANCELED, flags);
	}
	return 0;
}

static int uring_lock_session(struct gagg_session *ses, unsigned int flags)
{
	/* -EAGAIN: io_uring repeats the call from a worker that may sleep */
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
	/* the SQE may be user memory: each field is read once */
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
