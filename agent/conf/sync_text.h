/* SPDX-License-Identifier: GPL-2.0 */
/* Sync modes as people write them: "bsp", "ssp:4", "rounds-0x85:3" (agent/lib/sync_name.h). */
#ifndef GAGG_SYNC_TEXT_H
#define GAGG_SYNC_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "../lib/sync_name.h"
#include "sync/sync.h"

/* what parameter @i of @mode may be: as the table says, or, of what hosts carry out, the core */
struct gagg_sync_range sync_text_range(const struct sync_mode *mode, u32 i);

/*
 * The inverse of sync_print(), and a mode that hosts can carry out. False: @wrong, of @size bytes,
 * which may be none, has a sentence that says why not.
 */
bool sync_text_parse(const char *text, struct gagg_sync_param *p, char *wrong, size_t size);

#endif
