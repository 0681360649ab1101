/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Events of a simulation by their time: a binary heap. Events of the same time come in the order of
 * their keys, which are random.
 */
#ifndef EVENT_HEAP_H
#define EVENT_HEAP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "types.h"

struct event {
	u64 at;
	u32 key;
	u32 what;
	u32 who;
	u32 where;
	u32 clock;
};

static struct event *heap;
static size_t heap_n, heap_room;

static bool event_before(const struct event *a, const struct event *b)
{
	return a->at < b->at || (a->at == b->at && a->key < b->key);
}

static void event_push(const struct event *e)
{
	size_t i = heap_n++;

	if (heap_n > heap_room) {
		heap_room = heap_n * 2;
		heap = realloc(heap, heap_room * sizeof(*heap));
		assert_non_null(heap);
	}
	for (; i && event_before(e, &heap[(i - 1) / 2]); i = (i - 1) / 2)
		heap[i] = heap[(i - 1) / 2];
	heap[i] = *e;
}

/* when the next one comes */
static inline u64 event_next(void)
{
	return heap_n ? heap[0].at : GAGG_NEVER;
}

/* false: there is none */
static bool event_pop(struct event *e)
{
	struct event last;
	size_t i = 0, k;

	if (!heap_n)
		return false;
	*e = heap[0];
	last = heap[--heap_n];
	for (; (k = 2 * i + 1) < heap_n; i = k) {
		k += k + 1 < heap_n && event_before(&heap[k + 1], &heap[k]);
		if (event_before(&last, &heap[k]))
			break;
		heap[i] = heap[k];
	}
	heap[i] = last;
	return true;
}

static void event_free(void)
{
	free(heap);
	heap = NULL;
	heap_n = 0;
	heap_room = 0;
}

#endif
