// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <unistd.h>

#include "pace.h"

bool pace_parse(struct pace *p, const char *text)
{
	char rest;

	return sscanf(text, "%u:%u%c", &p->percent, &p->times, &rest) == 2 &&
	       p->percent <= 100 && p->times >= 1 && p->times <= 1000;
}

/* xorshift64* (Vigna 2016), apart from the one that all ranks share */
static uint32_t draw(struct pace *p)
{
	p->state ^= p->state >> 12;
	p->state ^= p->state << 25;
	p->state ^= p->state >> 27;
	return (uint32_t)(p->state * 0x2545f4914f6cdd1dULL >> 32);
}

void pace_wait(struct pace *p, unsigned int n)
{
	unsigned int us = p->slow * n;

	if (!us)
		return;
	if (p->percent && draw(p) % 100 < p->percent)
		us *= p->times;
	usleep(us);
}
