/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Pages of files that trainers may hold are given back, by another process.
 *
 * To punch a hole takes the file's lock (inode_lock()), without a way to give up. A trainer
 * holds it for as long as it likes: it write()s to the file from memory whose pages it does
 * not provide (userfaultfd(2), FUSE). So each file has a process of its own, which holds
 * nothing but the file; the twin passes it on and waits for nobody.
 */
#ifndef GAGG_TWIN_SWEEP_H
#define GAGG_TWIN_SWEEP_H

#include <stdbool.h>

/*
 * The process that starts them; it ends with the twin. To be called before there are threads,
 * and files that are anybody else's. Returns a socket, or -1 with errno.
 */
int sweep_start(void);
/*
 * All pages of the file @fd go, soon, or, where the locks of sixteen others are held, when
 * nobody has it open; the caller may close it. false: the latter
 */
bool sweep_file(int sweeper, int fd);

#endif
