// SPDX-License-Identifier: GPL-2.0
/* links: core selftests/fuzz/ring.c selftests/fuzz/ring_check.c selftests/fuzz/hosts.c selftests/fuzz/hosts_play.c selftests/fuzz/hosts_step.c selftests/fuzz/hosts_check.c kmod/core/path.c kmod/core/cwnd.c; libs: -DGAGG_NODES=4 -DGAGG_RANKS=4 -DGAGG_LOCALS=2 -DGAGG_OPS=4 -DGAGG_PATH_LOG=512 */
/*
 * The input is a shape of hosts with a ring, and a schedule, see hosts_play.c.
 * hosts.h and ring.h say what must hold.
 */
#include "hosts.h"
