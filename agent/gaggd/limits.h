/* SPDX-License-Identifier: GPL-2.0 */
#ifndef GAGGD_LIMITS_H
#define GAGGD_LIMITS_H

/*
 * As many descriptors as the hard limit allows. The soft one, 1024 as a rule, also limits
 * how many that were passed may lie unread, of all processes of the user together.
 */
void limits_raise(void);

#endif
