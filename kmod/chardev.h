/* SPDX-License-Identifier: GPL-2.0 */
/* /dev/gagg */
#ifndef GAGG_CHARDEV_H
#define GAGG_CHARDEV_H

#include <linux/fs.h>

extern const struct file_operations gagg_fops;

#endif
