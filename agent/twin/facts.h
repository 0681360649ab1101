/* SPDX-License-Identifier: GPL-2.0 */
/* Answers to gaggctl about this twin. Control thread. */
#ifndef GAGG_TWIN_FACTS_H
#define GAGG_TWIN_FACTS_H

#include "../gaggd/broker.h"
#include "core/core.h"

/* adds what is known of a member to its description */
void facts_carry(const struct gagg_facts *f, struct nl_member *m);

/* as in struct broker_ops; @twin: struct twin */
size_t facts_tell(void *twin, const struct broker_request *req, struct broker_reply *reply,
		  void *more, size_t room);

#endif
