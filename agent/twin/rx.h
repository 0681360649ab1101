/* SPDX-License-Identifier: GPL-2.0 */
/* Receiving: batches of a socket become calls of the core. */
#ifndef GAGG_TWIN_RX_H
#define GAGG_TWIN_RX_H

#include "core/core.h"

struct port;

/* what a worker receives into; NULL: no memory */
struct rx *rx_new(void);
void rx_free(struct rx *rx);

/*
 * Takes what has come, in bounds; true: there is more. @now: the time; out: that of the last that
 * was taken, since what follows in the turn must not be told an earlier one
 */
bool rx_port(struct port *p, u64 *now);

#endif
