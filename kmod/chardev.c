// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/gagg: arguments in, arguments out, mapping, polling, closing.
 *
 * User memory is never touched under session.lock: mmap() takes that lock under mmap_lock, and a
 * fault would take the two in the other order. Nor is any lock taken under session.lock whose
 * holder may wait for mmap_lock: rtnl_lock, and hence gagg_net.lock.
 */
#include <linux/compat.h>
#include <linux/module.h>
#include <linux/nospec.h>
#include <linux/poll.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include "channel.h"
#include "chardev.h"
#include "compat/mm.h"
#include "core/ask.h"
#include "core/refusal.h"
#include "group.h"
#include "memory.h"
#include "op.h"
#include "session.h"
#include "uring.h"

#define FEATURES_HERE	(IS_ENABLED(CONFIG_IO_URING) ? GAGG_FEAT_URING : 0)

static int chardev_do_open(struct gagg_session *ses, const struct gagg_ioc_open *arg)
{
	if (arg->flags || memchr_inv(arg->reserved, 0, sizeof(arg->reserved)))
		return -EINVAL;
	return gagg_session_open(ses, arg);
}

static int chardev_do_wait(struct gagg_session *ses, const struct gagg_ioc_wait *arg)
{
	struct gagg_wish wish;
	int err;

	if (mutex_lock_interruptible(&ses->lock))
		return -EINTR;
	err = gagg_op_wish(ses, arg, &wish);
	mutex_unlock(&ses->lock);
	if (err)
		return err;
	err = gagg_op_wait(&wish, arg->timeout_ns);
	gagg_seat_put(wish.seat);
	return err;
}

/* the commands that run under session.lock */
static int chardev_do_locked(struct gagg_session *ses, unsigned int cmd, union gagg_ask *arg)
{
	switch (cmd) {
	case GAGG_IOC_ATTACH:
		return gagg_session_attach(ses, &arg->attach);
	case GAGG_IOC_DETACH:
		return gagg_session_detach(ses, GAGG_R_BYE);
	case GAGG_IOC_CHANNEL:
		return gagg_session_channel(ses, &arg->channel);
	case GAGG_IOC_CHANNEL_FREE:
		return gagg_session_channel_free(ses, arg->channel_free.channel);
	case GAGG_IOC_SUBMIT:
		return gagg_op_submit(ses, &arg->submit, true);
	case GAGG_IOC_STATUS:
		return gagg_op_status(ses, &arg->status);
	case GAGG_IOC_TIMES:
		return gagg_op_times(ses, &arg->times);
	}
	return -ENOTTY;
}

/*
 * The commands with the size of their argument; a shorter one is refused. A caller that did not
 * know the lanes of GAGG_IOC_STATUS would cut its operations into other chunks than other ranks.
 */
static const u32 chardev_cmds[] = {
	[_IOC_NR(GAGG_IOC_FEATURES)] = GAGG_IOC_FEATURES,
	[_IOC_NR(GAGG_IOC_OPEN)] = GAGG_IOC_OPEN,
	[_IOC_NR(GAGG_IOC_ATTACH)] = GAGG_IOC_ATTACH,
	[_IOC_NR(GAGG_IOC_DETACH)] = GAGG_IOC_DETACH,
	[_IOC_NR(GAGG_IOC_CHANNEL)] = GAGG_IOC_CHANNEL,
	[_IOC_NR(GAGG_IOC_CHANNEL_FREE)] = GAGG_IOC_CHANNEL_FREE,
	[_IOC_NR(GAGG_IOC_SUBMIT)] = GAGG_IOC_SUBMIT,
	[_IOC_NR(GAGG_IOC_WAIT)] = GAGG_IOC_WAIT,
	[_IOC_NR(GAGG_IOC_STATUS)] = GAGG_IOC_STATUS,
	[_IOC_NR(GAGG_IOC_TIMES)] = GAGG_IOC_TIMES,
};

static long chardev_ioctl(struct file *file, unsigned int cmd, unsigned long uarg)
{
	struct gagg_session *ses = file->private_data;
	void __user *user = (void __user *)uarg;
	unsigned int nr = _IOC_NR(cmd);
	union gagg_ask arg;
	u32 size;
	int err;

	/* the size bits of the number follow the caller's version: @size decides */
	if (_IOC_TYPE(cmd) != GAGG_IOC_MAGIC || nr >= ARRAY_SIZE(chardev_cmds) ||
	    _IOC_DIR(cmd) != (_IOC_READ | _IOC_WRITE))
		return -ENOTTY;
	cmd = chardev_cmds[array_index_nospec(nr, ARRAY_SIZE(chardev_cmds))];
	if (get_user(size, (u32 __user *)user))
		return -EFAULT;
	if (size < _IOC_SIZE(cmd))
		return -EINVAL;
	if (size > PAGE_SIZE)
		return -E2BIG;
	memset(&arg, 0, sizeof(arg));
	err = copy_struct_from_user(&arg, _IOC_SIZE(cmd), user, size);
	if (err)
		return err;
	/* user memory may have changed between the two reads */
	arg.size = size;
	err = gagg_refusal_error(gagg_ask_check(cmd, &arg));
	if (err)
		return err;

	if (cmd == GAGG_IOC_WAIT)
		return chardev_do_wait(ses, &arg.wait);
	if (cmd == GAGG_IOC_FEATURES) {
		gagg_ask_tell_features(&arg.features, FEATURES_HERE);
	} else if (cmd == GAGG_IOC_OPEN) {
		err = chardev_do_open(ses, &arg.open);
	} else {
		if (mutex_lock_interruptible(&ses->lock))
			return -EINTR;
		err = chardev_do_locked(ses, cmd, &arg);
		mutex_unlock(&ses->lock);
	}
	if (!err && copy_to_user(user, &arg, _IOC_SIZE(cmd)))
		err = -EFAULT;
	return err;
}

/* session.lock held */
static struct gagg_mem *chardev_region(struct gagg_session *ses, u64 offset, bool *writable)
{
	struct gagg_seat *seat;
	u32 index, id;

	if (!gagg_region_of(offset, &index, &id))
		return NULL;
	seat = ses->seat[array_index_nospec(index, GAGG_CHANNELS_MAX)];
	if (!seat)
		return NULL;
	*writable = gagg_region_is_theirs(id);
	return gagg_seat_region(seat, id);
}

static int chardev_mmap_locked(struct gagg_session *ses, struct vm_area_struct *vma)
{
	struct gagg_mem *mem;
	bool writable;

	mem = chardev_region(ses, (u64)vma->vm_pgoff << PAGE_SHIFT, &writable);
	if (!mem || vma_pages(vma) != mem->npages)
		return -EINVAL;
	if (!writable) {
		if (vma->vm_flags & VM_WRITE)
			return -EPERM;
		vm_flags_clear(vma, VM_MAYWRITE);
	}
	vm_flags_clear(vma, VM_MAYEXEC);
	vm_flags_set(vma, VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP);
	return gagg_mem_map(mem, vma);
}

static int chardev_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct gagg_session *ses = file->private_data;
	int err;

	/* a private mapping would be a copy that the module neither reads nor writes */
	if (!(vma->vm_flags & VM_MAYSHARE))
		return -EINVAL;
	if (vma->vm_flags & VM_EXEC)
		return -EPERM;
	if (mutex_lock_killable(&ses->lock))
		return -EINTR;
	err = chardev_mmap_locked(ses, vma);
	mutex_unlock(&ses->lock);
	return err;
}

static __poll_t chardev_poll(struct file *file, struct poll_table_struct *table)
{
	struct gagg_session *ses = file->private_data;
	enum gagg_session_state state;
	__poll_t mask = 0;

	poll_wait(file, &ses->wq, table);
	state = READ_ONCE(ses->state);
	if (atomic64_read(&ses->unread))
		mask |= EPOLLIN | EPOLLRDNORM;
	if (!gagg_state_is_attached(state))
		mask |= EPOLLHUP;
	return mask;
}

static bool chardev_readable(const struct gagg_session *ses)
{
	enum gagg_session_state state = READ_ONCE(ses->state);

	return atomic64_read(&ses->unread) || !gagg_state_is_attached(state);
}

/* like an eventfd: the number of ops completed since the last read */
static ssize_t chardev_read(struct file *file, char __user *buf, size_t len, loff_t *pos)
{
	struct gagg_session *ses = file->private_data;
	u64 n;

	if (len < sizeof(n))
		return -EINVAL;
	for (;;) {
		/* read first: ops that were done before the end are reported before it */
		enum gagg_session_state state = READ_ONCE(ses->state);

		n = atomic64_xchg(&ses->unread, 0);
		if (n)
			break;
		if (!gagg_state_is_attached(state))
			return gagg_refusal_error(gagg_state_runs(state));
		if (file->f_flags & O_NONBLOCK)
			return -EAGAIN;
		if (wait_event_interruptible(ses->wq, chardev_readable(ses)))
			return -ERESTARTSYS;
	}
	if (copy_to_user(buf, &n, sizeof(n))) {
		atomic64_add(n, &ses->unread);
		return -EFAULT;
	}
	return sizeof(n);
}

static int chardev_open(struct inode *inode, struct file *file)
{
	struct gagg_session *ses = kzalloc(sizeof(*ses), GFP_KERNEL_ACCOUNT);

	if (!ses)
		return -ENOMEM;
	mutex_init(&ses->lock);
	init_waitqueue_head(&ses->wq);
	init_waitqueue_head(&ses->chunk_wq);
	spin_lock_init(&ses->uring_lock);
	INIT_LIST_HEAD(&ses->uring);
	file->private_data = ses;
	return nonseekable_open(inode, file);
}

/*
 * Ends held io_uring commands. They refer to the file, so ->release would never come: they end
 * here, when their submitter closes the file. A command that comes later does not wait
 * (uring_will_flush()). And a trainer that exits has left, even if another task still holds the
 * file.
 */
static int chardev_flush(struct file *file, fl_owner_t id)
{
	struct gagg_session *ses = file->private_data;

	if (!id)
		return 0;
	gagg_uring_flush(ses, id);
	if (READ_ONCE(ses->owner) == id && (current->flags & PF_EXITING)) {
		mutex_lock(&ses->lock);
		if (ses->group)
			gagg_session_orphan(ses);
		mutex_unlock(&ses->lock);
	}
	return 0;
}

static int chardev_release(struct inode *inode, struct file *file)
{
	struct gagg_session *ses = file->private_data;

	gagg_session_release(ses);
	mutex_destroy(&ses->lock);
	kfree(ses);
	return 0;
}

const struct file_operations gagg_fops = {
	.owner = THIS_MODULE,
	.open = chardev_open,
	.flush = chardev_flush,
	.release = chardev_release,
	.unlocked_ioctl = chardev_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.mmap = chardev_mmap,
	.poll = chardev_poll,
	.read = chardev_read,
	.uring_cmd = gagg_uring_cmd_handler,
};
