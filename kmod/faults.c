// SPDX-License-Identifier: GPL-2.0
/*
 * Faults on purpose (faults.h), for tests.
 *
 * Network. An skb that passes a port, in either direction, is lost, passed twice, held back for a
 * while, or held back until the next skb has overtaken it. Which of these happens to the k-th skb
 * is a pure function of seed, address, port number, direction, k and the rates. So the same seed
 * does the same to the same number of skbs, whatever the time between them. An skb is a burst, as
 * the stack has it; "segs" is the maximum of datagrams in a burst.
 *
 * Lifetime of an skb that is held back:
 * 1. It belongs to its direction ("way") of a port.
 * 2. It refers to no group, since the group may be gone before it goes on. A received skb is looked
 *    up when it goes on. One that is to be sent forgets whose counters it is for (dev_scratch).
 * 3. Its route does refer to a device. So it is freed at the death of the endpoint, when no poll
 *    runs any more, which is before the namespace and its devices go (endpoint.c).
 * 4. There is no timer but the port's own, whose poll looks for skbs that are due.
 *
 * Works. /proc/PID/fail-nth makes a task fail, but works do some of what the task asks for:
 * sockets, channels. The value in work-fail-nth becomes the fail-nth of the next of these works
 * that runs. The work takes the value, and puts back what it has not used up: 0 afterwards means
 * that an allocation has failed. Reading or writing the file waits for works that run, so none of
 * them has the value then.
 */
#include <linux/debugfs.h>
#include <linux/jhash.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/wait.h>
#include "faults.h"

#define PER_MILLE	1000
#define HELD_MAX	1024U	/* skbs per way: 64 MiB if all are bursts */

enum fault {
	DROP,
	DUP,
	DELAY,
	REORDER,
	NFAULTS,
	NONE = NFAULTS,
};

enum { RX, TX, NWAYS };

struct way {
	u64 key;
	u64 passed;			/* skbs that passed */
	u64 hit[NFAULTS];
	u64 spared;			/* faults that found no room or memory */
	struct sk_buff_head held;	/* ordered by tstamp, the time at which they go on */
	struct sk_buff *overtaken;	/* an skb of held that goes on after the next one */
};

/* port.faults; lists and files under ports_lock, ways under the port's lock */
struct gagg_faults {
	struct list_head list;
	struct gagg_port *port;
	struct way way[NWAYS];
};

static LIST_HEAD(ports);
static DEFINE_MUTEX(ports_lock);

/* set by the files; each use reads it once */
static u64 seed;
static u32 rate[NWAYS][NFAULTS];	/* per mille */
static u32 delay_us = 1000;		/* at most */
static u32 segs;			/* 0: as always */
static atomic_t work_nth = ATOMIC_INIT(0);
/*
 * Works that run. A counter, not a lock: works wait for other locks, whose holders may wait for the
 * works. And a work that began behind a writer would wait as well.
 */
static atomic_t works = ATOMIC_INIT(0);
static DECLARE_WAIT_QUEUE_HEAD(works_over);

static const char *const way_name[] = { "rx", "tx" };
static const char *const fault_name[] = { "drop", "dup", "delay", "reorder" };

static enum fault fault_draw(const struct way *w, const u32 *rates, u64 r)
{
	u32 at = r % PER_MILLE, f;

	for (f = 0; f < NFAULTS; f++) {
		u32 p = READ_ONCE(rates[f]);

		if (at < p)
			return f;
		at -= p;
	}
	return NONE;
}

static void fault_hold(struct way *w, struct sk_buff *skb, u64 until)
{
	struct sk_buff *p = skb_peek_tail(&w->held);

	skb->tstamp = ns_to_ktime(until);
	while (p && ktime_after(p->tstamp, skb->tstamp))
		p = skb_queue_is_first(&w->held, p) ? NULL : skb_queue_prev(&w->held, p);
	if (p)
		__skb_queue_after(&w->held, p, skb);
	else
		__skb_queue_head(&w->held, skb);
}

static void fault_overtake(struct way *w)
{
	struct sk_buff *skb = w->overtaken;

	if (!skb)
		return;
	w->overtaken = NULL;
	__skb_unlink(skb, &w->held);
	fault_hold(w, skb, 0);
}

/* the first skb that is held back, if its time has come */
static struct sk_buff *fault_due(struct way *w, u64 now)
{
	struct sk_buff *skb = skb_peek(&w->held);

	if (!skb || ktime_to_ns(skb->tstamp) > now)
		return NULL;
	if (skb == w->overtaken)
		w->overtaken = NULL;
	__skb_unlink(skb, &w->held);
	skb->tstamp = 0;
	return skb;
}

/*
 * A copy that goes on next to the original. A received skb is only read, so the copy shares its
 * data. One that is sent needs headers of its own, since the layers below write them; it shares the
 * pages behind them.
 */
static struct sk_buff *fault_twin(u32 dir, struct sk_buff *skb)
{
	return dir == RX ? skb_clone(skb, GFP_ATOMIC | __GFP_NOWARN) :
			   pskb_copy(skb, GFP_ATOMIC | __GFP_NOWARN);
}

/*
 * Clears dev_scratch of an skb that is sent: it names the counters of a group. In a received skb it
 * stays: it holds notes of the socket's queue, which consuming the skb reads.
 */
static void fault_forget(u32 dir, struct sk_buff *skb)
{
	if (dir == TX)
		skb->dev_scratch = 0;
}

static void fault_lose(struct sk_buff *skb)
{
	skb->dev = NULL;	/* held notes */
	kfree_skb(skb);
}

/* true: the skb does not go on now */
static bool fault_befall(struct gagg_port *port, u32 dir, struct sk_buff *skb, u64 now)
{
	struct way *w = &port->faults->way[dir];
	u64 r = gagg_mix64(w->key, w->passed++);
	u64 delay = (u64)READ_ONCE(delay_us) * NSEC_PER_USEC;
	bool full = skb_queue_len(&w->held) >= HELD_MAX;
	enum fault f = fault_draw(w, rate[dir], r);
	struct sk_buff *copy = NULL;

	if (f != NONE)
		w->hit[f]++;
	if (f == DUP && !full)
		copy = fault_twin(dir, skb);
	if (f > DROP && f < NONE && (full || (f == DUP && !copy))) {
		w->spared++;
		f = NONE;
	}
	if (f != DROP)
		fault_overtake(w);
	switch (f) {
	case DROP:
		fault_lose(skb);
		return true;
	case DUP:
		fault_forget(dir, copy);
		fault_hold(w, copy, now);
		return false;
	case DELAY:
		fault_forget(dir, skb);
		fault_hold(w, skb, now + mul_u64_u32_shr(delay, r >> 32, 32));
		return true;
	case REORDER:
		fault_forget(dir, skb);
		fault_hold(w, skb, now + delay);
		w->overtaken = skb;
		return true;
	case NONE:
		break;
	}
	return false;
}

struct sk_buff *gagg_faults_due(struct gagg_port *port, u64 now)
{
	return fault_due(&port->faults->way[RX], now);
}

bool gagg_faults_rx(struct gagg_port *port, struct sk_buff *skb, u64 now)
{
	return fault_befall(port, RX, skb, now);
}

void gagg_faults_tx(struct gagg_port *port, struct sk_buff_head *out, u64 now)
{
	struct way *w = &port->faults->way[TX];
	struct sk_buff_head in;
	struct sk_buff *skb;

	__skb_queue_head_init(&in);
	skb_queue_splice_init(out, &in);
	do {
		skb = __skb_dequeue(&in);
		if (skb && !fault_befall(port, TX, skb, now))
			__skb_queue_tail(out, skb);
		while ((skb = fault_due(w, now)))
			__skb_queue_tail(out, skb);
	} while (!skb_queue_empty(&in));
}

u64 gagg_faults_deadline(const struct gagg_port *port)
{
	u64 at = GAGG_NEVER;
	u32 dir;

	for (dir = 0; dir < NWAYS; dir++) {
		const struct sk_buff *skb = skb_peek(&port->faults->way[dir].held);

		if (skb)
			at = min_t(u64, at, ktime_to_ns(skb->tstamp));
	}
	return at;
}

u32 gagg_faults_segs(u32 most)
{
	u32 n = READ_ONCE(segs);

	return n ? min(n, most) : most;
}

static u64 fault_addr_hash(const union gagg_addr *a)
{
	if (a->sa.sa_family == AF_INET6)
		return jhash(&a->in6.sin6_addr, sizeof(a->in6.sin6_addr), 6);
	return jhash(&a->in.sin_addr, sizeof(a->in.sin_addr), 4);
}

/* port lock held */
static void fault_restart(struct gagg_faults *fs)
{
	const struct gagg_port *port = fs->port;
	u64 which = fault_addr_hash(&port->ep->addr) << 16 |
		    (gagg_base_port(&port->ep->addr) + port->index);
	u32 dir;

	for (dir = 0; dir < NWAYS; dir++) {
		struct way *w = &fs->way[dir];

		w->key = gagg_mix64(gagg_mix64(seed, which), dir);
		w->passed = 0;
		w->spared = 0;
		memset(w->hit, 0, sizeof(w->hit));
	}
}

int gagg_faults_open(struct gagg_port *port)
{
	struct gagg_faults *fs = kzalloc(sizeof(*fs), GFP_KERNEL_ACCOUNT);
	u32 dir;

	if (!fs)
		return -ENOMEM;
	fs->port = port;
	for (dir = 0; dir < NWAYS; dir++)
		__skb_queue_head_init(&fs->way[dir].held);
	mutex_lock(&ports_lock);
	fault_restart(fs);
	list_add_tail(&fs->list, &ports);
	mutex_unlock(&ports_lock);
	port->faults = fs;
	return 0;
}

void gagg_faults_close(struct gagg_port *port)
{
	struct gagg_faults *fs = port->faults;
	struct sk_buff *skb;
	u32 dir;

	mutex_lock(&ports_lock);
	list_del(&fs->list);
	mutex_unlock(&ports_lock);
	port->faults = NULL;
	for (dir = 0; dir < NWAYS; dir++)
		while ((skb = __skb_dequeue(&fs->way[dir].held)))
			fault_lose(skb);
	kfree(fs);
}

void gagg_faults_work_begin(void)
{
	atomic_inc(&works);
	current->fail_nth = atomic_xchg(&work_nth, 0);
}

void gagg_faults_work_end(void)
{
	atomic_add(current->fail_nth, &work_nth);
	current->fail_nth = 0;
	if (atomic_dec_and_test(&works))
		wake_up_all(&works_over);
}

static int fault_wait_for_works(void)
{
	return wait_event_interruptible(works_over, !atomic_read(&works));
}

static int fault_work_nth_get(void *data, u64 *value)
{
	int err = fault_wait_for_works();

	*value = atomic_read(&work_nth);
	return err;
}

static int fault_work_nth_set(void *data, u64 value)
{
	int err = fault_wait_for_works();

	if (!err)
		atomic_set(&work_nth, value);
	return err;
}

DEFINE_DEBUGFS_ATTRIBUTE(work_nth_fops, fault_work_nth_get, fault_work_nth_set, "%llu\n");

static int fault_seed_get(void *data, u64 *value)
{
	*value = seed;
	return 0;
}

/* all ways count skbs from 0 again */
static int fault_seed_set(void *data, u64 value)
{
	struct gagg_faults *fs;

	mutex_lock(&ports_lock);
	seed = value;
	list_for_each_entry(fs, &ports, list) {
		spin_lock_bh(&fs->port->lock);
		fault_restart(fs);
		spin_unlock_bh(&fs->port->lock);
	}
	mutex_unlock(&ports_lock);
	return 0;
}

DEFINE_DEBUGFS_ATTRIBUTE(seed_fops, fault_seed_get, fault_seed_set, "%llu\n");

/* one line per way: ADDRESS PORT DIRECTION, then name and value of each counter */
static int fault_counts_show(struct seq_file *m, void *unused)
{
	struct gagg_faults *fs;
	u32 dir, f;

	mutex_lock(&ports_lock);
	list_for_each_entry(fs, &ports, list) {
		struct gagg_port *port = fs->port;

		spin_lock_bh(&port->lock);
		for (dir = 0; dir < NWAYS; dir++) {
			const struct way *w = &fs->way[dir];

			seq_printf(m, "%pISc %u %s passed %llu", &port->ep->addr,
				   gagg_base_port(&port->ep->addr) + port->index,
				   way_name[dir], w->passed);
			for (f = 0; f < NFAULTS; f++)
				seq_printf(m, " %s %llu", fault_name[f], w->hit[f]);
			seq_printf(m, " spared %llu held %u\n", w->spared,
				   skb_queue_len(&w->held));
		}
		spin_unlock_bh(&port->lock);
	}
	mutex_unlock(&ports_lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(fault_counts);

static struct dentry *files;

/* errors are ignored: a test notices that a file is missing */
void gagg_faults_init(void)
{
	char name[16];
	u32 d, f;

	files = debugfs_create_dir("gagg", NULL);
	debugfs_create_file("seed", 0600, files, NULL, &seed_fops);
	debugfs_create_file("counts", 0400, files, NULL, &fault_counts_fops);
	debugfs_create_u32("delay-us", 0600, files, &delay_us);
	debugfs_create_u32("segs", 0600, files, &segs);
	debugfs_create_file("work-fail-nth", 0600, files, NULL, &work_nth_fops);
	for (d = 0; d < NWAYS; d++)
		for (f = 0; f < NFAULTS; f++) {
			snprintf(name, sizeof(name), "%s-%s", way_name[d], fault_name[f]);
			debugfs_create_u32(name, 0600, files, &rate[d][f]);
		}
}

/* waits for readers and writers of the files */
void gagg_faults_exit(void)
{
	debugfs_remove(files);
}
