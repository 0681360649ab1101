/* SPDX-License-Identifier: GPL-2.0 */
/* Numbers of calls, as on most machines: nothing is called. */
#ifndef _LINUX_IOCTL_H
#define _LINUX_IOCTL_H

#define _IOWR(type, nr, arg)	(3U << 30 | (unsigned int)sizeof(arg) << 16 | (type) << 8 | (nr))

#endif
