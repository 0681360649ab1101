// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <zlib.h>

#include "samples.h"

static uint64_t random_state;

void random_seed(uint64_t seed)
{
	random_state = seed;
}

/* xorshift64* (Vigna 2016) */
uint32_t random_of(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return (uint32_t)(*state * 0x2545f4914f6cdd1dULL >> 32);
}

uint32_t random32(void)
{
	return random_of(&random_state);
}

void shuffle(int *order, int n)
{
	int i;

	for (i = n - 1; i > 0; i--) {
		int k = (int)(random32() % (uint32_t)(i + 1)), t = order[i];

		order[i] = order[k];
		order[k] = t;
	}
}

static bool sample_parse(const char *line, struct sample *s)
{
	int i, n;

	for (i = 0; i <= PIXELS; i++) {
		int v;

		if (sscanf(line, "%d%n", &v, &n) != 1)
			return false;
		line += n;
		line += *line == ',';
		if (i < PIXELS)
			s->pixel[i] = (float)v / 16;
		else
			s->class = v;
	}
	return s->class >= 0 && s->class < CLASSES;
}

bool load(struct data *d, const char *path, int least)
{
	gzFile f = gzopen(path, "rb");
	char line[512];

	if (!f)
		return false;
	while (d->samples < SAMPLES_MAX && gzgets(f, line, sizeof(line)))
		if (sample_parse(line, &d->sample[d->samples]))
			d->samples++;
	gzclose(f);
	d->train = d->samples - d->samples / 5;
	return d->train >= least;
}

void split(struct data *d)
{
	int i;

	for (i = 0; i < d->samples; i++)
		d->order[i] = i;
	shuffle(d->order, d->samples);
}
