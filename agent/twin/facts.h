/* SPDX-License-Identifier: GPL-2.0 */
/* What gaggctl may know of this twin. All of it: control thread. */
#ifndef GAGG_TWIN_FACTS_H
#define GAGG_TWIN_FACTS_H

#include "../gaggd/broker.h"

/* what is told of a host that differs; nothing of one that does not */
void facts_mismatch(const struct gagg_mismatch *bad, struct nl_member *m);

/* as of struct broker_ops; @twin: struct twin */
size_t facts_tell(void *twin, const struct broker_request *req, struct broker_reply *reply,
		  void *more, size_t room);

#endif
