// SPDX-License-Identifier: GPL-2.0
#include <math.h>
#include <stdlib.h>

#include "stat.h"

static int stat_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void stat_sort(double *values, size_t n)
{
	qsort(values, n, sizeof(*values), stat_compare);
}

/* the least value that is not below @percent of all */
double stat_percentile(const double *sorted, size_t n, double percent)
{
	size_t rank = (size_t)ceil(percent / 100 * (double)n);

	return sorted[rank ? rank - 1 : 0];
}

double stat_mean(const double *values, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += values[i];
	return sum / (double)n;
}
