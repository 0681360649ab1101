/* SPDX-License-Identifier: GPL-2.0 */
#ifndef GAGGD_LIMITS_H
#define GAGGD_LIMITS_H

/*
 * Allows as many descriptors as the hard limit does. The soft limit, usually 1024, also bounds the
 * descriptors that were passed and not read, of all processes of the user together.
 */
void limits_raise(void);

#endif
