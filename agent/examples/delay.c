// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <unistd.h>

#include "delay.h"
#include "samples.h"

bool delay_parse(struct delay *d, const char *text)
{
	char rest;

	return sscanf(text, "%u:%u%c", &d->percent, &d->times, &rest) == 2 &&
	       d->percent <= 100 && d->times >= 1 && d->times <= 1000;
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
