/* SPDX-License-Identifier: GPL-2.0 */
/* <linux/gagg.h> includes it for numbers that the core never uses. */
