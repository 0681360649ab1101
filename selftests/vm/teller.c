// SPDX-License-Identifier: GPL-2.0
/*
 * One rank of a group with a store in which others tell lies: it updates and reads
 * for as long as it is let, and believes what it sees.
 *
 *	teller GROUP RANK
 *
 * Ends when it is told that it cannot go on, or gets no answer for a few seconds.
 * Says "strange" once it has read what no rank has added.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <gagg.h>

#define COUNT	9000

static struct gagg_comm *comm;

static int die(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, gagg_last_error(comm));
	return 1;
}

/* all elements are moved by one a clock by each rank, and no rank is far ahead */
static bool is_strange(const int32_t *value, int clock)
{
	int i;

	for (i = 0; i < COUNT; i++)
		if (value[i] < 0 || value[i] > gagg_size(comm) * (clock + 1000))
			return true;
	return false;
}

int main(int argc, char **argv)
{
	static int32_t one[COUNT], value[COUNT];
	struct gagg_table *table;
	bool strange = false;
	int fd, i, clock;

	if (argc != 3)
		return 2;
	for (i = 0; i < COUNT; i++)
		one[i] = 1;
	fd = gagg_open_rank(argv[1], (uint32_t)atoi(argv[2]));
	if (fd < 0 || gagg_init_fd(&comm, fd, 8000))
		return die("init");
	if (gagg_table_create(comm, COUNT, GAGG_INT32, 1, &table))
		return die("table");
	for (clock = 0; ; clock++) {
		/* also at a fence, and of copies those of others */
		if (clock % 8 == 7 ? gagg_snapshot(table, value) : gagg_get(table, value))
			return die("read");
		if (!strange && is_strange(value, clock)) {
			strange = true;
			printf("strange\n");
			fflush(stdout);
		}
		if (gagg_inc(table, one) || gagg_clock(comm))
			return die("update");
	}
}
