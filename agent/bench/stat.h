/* SPDX-License-Identifier: GPL-2.0 */
#ifndef BENCH_STAT_H
#define BENCH_STAT_H

#include <stddef.h>

/* for @n > 0 values; percentiles require sorted values, and are by nearest rank */
void stat_sort(double *values, size_t n);
double stat_percentile(const double *sorted, size_t n, double percent);
double stat_mean(const double *values, size_t n);

#endif
