// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>

#include "report.h"
#include "stat.h"

struct value {
	enum { NOTHING, WORD, INTEGER, REAL } kind;
	const char *word;
	long long integer;
	double real;
};

struct context {
	const struct bench_system *sys;
	const struct bench_row *row;
};

static struct value report_word(const char *w)
{
	return (struct value){ .kind = w ? WORD : NOTHING, .word = w };
}

static struct value report_integer(long long i)
{
	return (struct value){ .kind = INTEGER, .integer = i };
}

static struct value report_real(double x)
{
	return (struct value){ .kind = REAL, .real = x };
}

static struct value report_nothing(void)
{
	return (struct value){ .kind = NOTHING };
}

static struct value report_counter(const struct bench_row *row, double x)
{
	return row->counted ? report_real(x) : report_nothing();
}

static double report_algbw(const struct bench_row *row)
{
	return row->time_us > 0 ? (double)row->bytes / row->time_us / 1e3 : 0;
}

#define GET(name, expression)						\
	static struct value get_##name(const struct context *c)		\
	{								\
		return expression;					\
	}

GET(system, report_word(c->sys->name))
GET(op, report_word(bench_kind_name(c->row->op.kind)))
GET(n, report_integer(c->sys->size))
GET(bytes, report_integer((long long)c->row->bytes))
GET(count, report_integer((long long)c->row->op.count))
GET(type, report_word(bench_dtype_name(c->row->op.dtype)))
GET(redop, report_word(bench_reduces(c->row->op.kind) ? bench_redop_name(c->row->op.redop) :
							"none"))
GET(root, report_integer(c->row->op.kind == BENCH_BROADCAST ? c->row->op.root : -1))
GET(wire, report_word(c->sys->wire))
GET(algorithm, report_word(c->row->algorithm))
GET(ops, report_integer((long long)c->row->ops))
GET(time, report_real(c->row->time_us))
GET(algbw, report_real(report_algbw(c->row)))
GET(busbw, report_real(report_algbw(c->row) * bench_bus_factor(c->row->op.kind, c->sys->size)))
GET(wrong, report_integer((long long)c->row->wrong))
GET(p50, report_real(c->row->p50_us))
GET(p99, report_real(c->row->p99_us))
GET(max, report_real(c->row->max_us))
GET(cpu, c->row->cpu_s_per_gb > 0 ? report_real(c->row->cpu_s_per_gb) : report_nothing())
GET(datagrams, report_counter(c->row, c->row->datagrams))
GET(resent, report_counter(c->row, c->row->resent))
GET(switches, report_real(c->row->switches))
GET(machine_switches, report_real(c->row->machine_switches))
GET(comm, report_real(c->row->comm_us))
GET(compute, report_real(c->row->compute_us))
GET(ratio, report_real(c->row->p50_us / (c->row->comm_us > c->row->compute_us ?
					 c->row->comm_us : c->row->compute_us)))

/**
 * struct column - one value of a row
 * @key:	in JSON
 * @title:	above the column; NULL: only in JSON
 * @unit:	below the title
 * @width:	of the column
 * @decimals:	of a real number
 * @get:	the value
 */
struct column {
	const char *key;
	const char *title;
	const char *unit;
	int width;
	int decimals;
	struct value (*get)(const struct context *c);
};

static const struct column collective[] = {
	{ "system", NULL, "", 0, 0, get_system },
	{ "op", NULL, "", 0, 0, get_op },
	{ "n", NULL, "", 0, 0, get_n },
	{ "bytes", "size", "(B)", 11, 0, get_bytes },
	{ "count", "count", "(elements)", 11, 0, get_count },
	{ "type", "type", "", 9, 0, get_type },
	{ "redop", "redop", "", 6, 0, get_redop },
	{ "root", "root", "", 5, 0, get_root },
	{ "wire", NULL, "", 0, 0, get_wire },
	{ "algorithm", NULL, "", 0, 0, get_algorithm },
	{ "ops", NULL, "", 0, 0, get_ops },
	{ "time_us", "time", "(us)", 10, 1, get_time },
	{ "algbw", "algbw", "(GB/s)", 8, 3, get_algbw },
	{ "busbw", "busbw", "(GB/s)", 8, 3, get_busbw },
	{ "wrong", "#wrong", "", 7, 0, get_wrong },
	{ "p50_us", "p50", "(us)", 10, 1, get_p50 },
	{ "p99_us", "p99", "(us)", 10, 1, get_p99 },
	{ "max_us", "max", "(us)", 10, 1, get_max },
	{ "cpu_s_per_gb", "cpu", "(s/GB)", 8, 3, get_cpu },
	{ "datagrams", "dgrams", "(/op)", 9, 1, get_datagrams },
	{ "resent", "resent", "(/op)", 8, 1, get_resent },
	{ "switches", "csw", "(/op)", 7, 1, get_switches },
	{ "machine_switches", NULL, "", 0, 1, get_machine_switches },
	{ 0 }
};

static const struct column overlap[] = {
	{ "system", NULL, "", 0, 0, get_system },
	{ "op", NULL, "", 0, 0, get_op },
	{ "n", NULL, "", 0, 0, get_n },
	{ "bytes", "size", "(B)", 11, 0, get_bytes },
	{ "count", "count", "(elements)", 11, 0, get_count },
	{ "type", "type", "", 9, 0, get_type },
	{ "redop", "redop", "", 6, 0, get_redop },
	{ "wire", NULL, "", 0, 0, get_wire },
	{ "algorithm", NULL, "", 0, 0, get_algorithm },
	{ "ops", NULL, "", 0, 0, get_ops },
	{ "comm_us", "comm", "(us)", 10, 1, get_comm },
	{ "compute_us", "compute", "(us)", 10, 1, get_compute },
	{ "p50_us", "both", "(us)", 10, 1, get_p50 },
	{ "p99_us", "p99", "(us)", 10, 1, get_p99 },
	{ "max_us", "max", "(us)", 10, 1, get_max },
	{ "ratio", "ratio", "", 7, 3, get_ratio },
	{ "wrong", "#wrong", "", 7, 0, get_wrong },
	{ 0 }
};

static bool first_row;

static const struct column *report_columns(const struct bench_args *args)
{
	return args->kind == BENCH_OVERLAP ? overlap : collective;
}

static void report_heading(const struct column *c, bool units)
{
	const char *mark = "#";

	for (; c->key; c++) {
		if (!c->title)
			continue;
		printf("%s%*s", mark, c->width, units ? c->unit : c->title);
		mark = " ";
	}
	putchar('\n');
}

static void report_text_value(const struct column *c, const struct value *v)
{
	switch (v->kind) {
	case NOTHING:
		printf(" %*s", c->width, "-");
		break;
	case WORD:
		printf(" %*s", c->width, v->word);
		break;
	case INTEGER:
		printf(" %*lld", c->width, v->integer);
		break;
	case REAL:
		printf(" %*.*f", c->width, c->decimals, v->real);
		break;
	}
}

/* words have no characters that must be escaped */
static void report_json_value(const struct column *c, const struct value *v)
{
	printf("\"%s\": ", c->key);
	switch (v->kind) {
	case NOTHING:
		printf("null");
		break;
	case WORD:
		printf("\"%s\"", v->word);
		break;
	case INTEGER:
		printf("%lld", v->integer);
		break;
	case REAL:
		printf("%.4f", v->real);
		break;
	}
}

void row_fill(struct bench_row *row, const struct bench_total *t, int ranks)
{
	double ops = (double)t->n;

	stat_sort(t->times, t->n);
	row->ops = t->n;
	row->wrong = t->wrong;
	row->time_us = stat_mean(t->times, t->n);
	row->p50_us = stat_percentile(t->times, t->n, 50);
	row->p99_us = stat_percentile(t->times, t->n, 99);
	row->max_us = t->times[t->n - 1];
	/* seconds per GB are nanoseconds per byte */
	row->cpu_s_per_gb = (double)t->busy / (ops * (double)row->bytes);
	row->counted = t->counted;
	row->datagrams = (double)t->c.datagrams / ops;
	row->resent = (double)t->c.resent / ops;
	row->switches = (double)t->own / ops / ranks;
	row->machine_switches = (double)t->switches / ops;
}

void report_begin(const struct bench_args *args, const struct bench_system *sys)
{
	if (sys->rank)
		return;
	first_row = true;
	if (args->json) {
		printf("[");
		return;
	}
	printf("# %s: %s, %d ranks, wire %s\n", sys->name, bench_kind_name(args->kind),
	       sys->size, sys->wire);
	report_heading(report_columns(args), false);
	report_heading(report_columns(args), true);
}

void report_row(const struct bench_args *args, const struct bench_system *sys,
		const struct bench_row *row)
{
	const struct context context = { sys, row };
	const struct column *c;

	if (sys->rank)
		return;
	if (args->json)
		printf("%s\n{", first_row ? "" : ",");
	for (c = report_columns(args); c->key; c++) {
		struct value v = c->get(&context);

		if (args->json) {
			printf("%s", c == report_columns(args) ? "" : ", ");
			report_json_value(c, &v);
		} else if (c->title) {
			report_text_value(c, &v);
		}
	}
	printf(args->json ? "}" : "\n");
	first_row = false;
	fflush(stdout);
}

void report_end(const struct bench_args *args, const struct bench_system *sys)
{
	if (sys->rank)
		return;
	if (args->json)
		printf("\n]\n");
	fflush(stdout);
}
