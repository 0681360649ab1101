/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The changes that give the kernel the groups of the file. A pure function: the same lists give the
 * same changes.
 */
#ifndef GAGG_CONF_DIFF_H
#define GAGG_CONF_DIFF_H

#include "../nl/nl.h"

enum change_kind {
	CHANGE_NEW,		/* the whole group */
	CHANGE_SET,		/* fields that are not free to change */
	CHANGE_ACCESS,		/* uid, gid, mode: any time */
	CHANGE_REPLACE,		/* delete and make again: the host's address */
	CHANGE_DEL,
	CHANGE_MEMBER_ADD,
	CHANGE_MEMBER_SET,
	CHANGE_MEMBER_DEL,
};

/**
 * struct change - one netlink call (CHANGE_REPLACE: two)
 * @group:	name and fields to send; for members, members[0] is sent
 * @was:	the kernel's values of what is changed
 * @busy:	CHANGE_REPLACE: a local rank is attached, and the deletion would
 *		end its training
 * @busy_rank:	the lowest such rank
 */
struct change {
	enum change_kind kind;
	struct nl_group group;
	struct nl_group was;
	bool busy;
	uint32_t busy_rank;
};

struct change_list {
	unsigned int n;
	struct change *v;
};

/**
 * struct group_list - groups of the file, or of the kernel
 * @v:	the groups; the caller's
 * @n:	number of @v
 */
struct group_list {
	const struct nl_group *v;
	unsigned int n;
};

/**
 * diff_groups() - from what is to what shall be
 * @want: groups of the file, resolved (host_resolve())
 * @have: groups of the kernel with their members
 * @owned: was the group of this name made from this file
 * @arg: for @owned
 * @out: the changes in the order to make them, for diff_free()
 *
 * A group of the file without a local member is not made. If the kernel has
 * it, it goes only when it was made from this file and the file does not name
 * its local address any more: an interface that is down for a moment must not
 * end a training.
 *
 * Return: 0 or -ENOMEM.
 */
int diff_groups(const struct group_list *want, const struct group_list *have,
		bool (*owned)(void *arg, const char *name), void *arg,
		struct change_list *out);

void diff_free(struct change_list *list);

/* 'group "a": set window 2048 -> 4096', of at most @size bytes */
const char *diff_describe(const struct change *c, char *buf, size_t size);

#endif
