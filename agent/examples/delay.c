// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "delay.h"
#include "samples.h"

bool delay_parse(struct delay *d, const char *text)
{
	char rest;

	return sscanf(text, "%u:%u%c", &d->percent, &d->times, &rest) == 2 &&
	       d->percent <= 100 && d->times >= 1 && d->times <= 1000;
}

void delay_seed(struct delay *d, uint64_t seed, int rank)
{
	/* odd: of no two alike, and of none 0 */
	d->state = (seed * 64 + (uint64_t)rank + 1) * 0x9e3779b97f4a7c15ULL;
}

void delay_second(const struct delay *d)
{
	struct timespec t;

	if (d->scatter < 0)
		return;
	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_sec++;
	t.tv_nsec = 0;
	while (clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &t, NULL))
		;
}

void delay_begin(struct delay *d)
{
	if (d->scatter > 0)
		usleep(random_of(&d->state) % (unsigned int)d->scatter);
}

void delay_wait(struct delay *d, unsigned int n)
{
	unsigned int us = d->slow * n;

	if (!us)
		return;
	if (d->percent && random_of(&d->state) % 100 < d->percent)
		us *= d->times;
	usleep(us);
}
