/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Another process frees the pages of files that trainers may hold.
 *
 * Punching a hole takes the file's lock (inode_lock()), and cannot give up. A trainer can hold that
 * lock for as long as it likes: it calls write() on the file from memory whose pages it does not
 * provide (userfaultfd(2), FUSE). So each file gets a process of its own, which holds nothing but
 * the file. The twin passes the file on and waits for nobody.
 */
#ifndef GAGG_TWIN_SWEEP_H
#define GAGG_TWIN_SWEEP_H

#include <stdbool.h>

/*
 * Starts the process that starts them; it ends with the twin. Call it before there are threads, and
 * before files that others may hold are open. Returns a socket, or -1 with errno.
 */
int sweep_start(void);
/*
 * Frees all pages of the file @fd soon; the caller may close it. If the locks of sixteen other
 * files are held, returns false: the pages go when no process has the file open.
 */
bool sweep_file(int sweeper, int fd);

#endif
