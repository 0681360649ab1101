// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include "inject.h"

#define DEBUG	"/sys/kernel/debug/"
#define MANY	1000000L	/* failures that a kind may have */

/* every failure counts one off a kind's "times" */
static const char *const kind[] = { "failslab", "fail_page_alloc", "fail_usercopy" };
static const char *const kind_name[] = { "slab", "page", "copy" };
#define KINDS	3

/* how it is armed: files that are open for writing */
static int nth = -1, probability = -1, space = -1;
static const char *left_file;	/* what is left of it, in DEBUG; NULL: nth itself */
static int times[KINDS];
static long hits[KINDS];

static int open_file(const char *dir, const char *name, int flags)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s%s", dir, name);
	fd = open(path, flags | O_CLOEXEC);
	if (fd < 0) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		exit(2);
	}
	return fd;
}

/* the write may be what fails: again */
static void write_text(int fd, const char *text)
{
	int i;

	for (i = 0; i < 100; i++)
		if (write(fd, text, strlen(text)) == (ssize_t)strlen(text))
			return;
	perror("fault injection");
	exit(2);
}

static void write_number(int fd, long n)
{
	char text[32];

	snprintf(text, sizeof(text), "%ld", n);
	write_text(fd, text);
}

/* debugfs tells the first reader of an open file only */
static long read_number(const char *name)
{
	int fd = open_file(DEBUG, name, O_RDONLY);
	char text[32] = "";

	if (read(fd, text, sizeof(text) - 1) <= 0) {
		perror(name);
		exit(2);
	}
	close(fd);
	return strtol(text, NULL, 0);
}

static const char *name_of(int k, const char *attribute)
{
	static char name[64];

	snprintf(name, sizeof(name), "%s/%s", kind[k], attribute);
	return name;
}

static void set(int k, const char *attribute, const char *value)
{
	int fd = open_file(DEBUG, name_of(k, attribute), O_WRONLY);

	write_text(fd, value);
	close(fd);
}

static void no_faults(int k)
{
	set(k, "probability", "0");
	set(k, "interval", "1");
	set(k, "verbose", "0");
	set(k, "task-filter", "Y");
	if (times[k] <= 0)
		times[k] = open_file(DEBUG, name_of(k, "times"), O_WRONLY);
	write_number(times[k], MANY);
}

static void fail_from(int k)
{
	int me = open_file("/proc/self/", "make-it-fail", O_WRONLY);

	write_text(me, "1");
	close(me);
	probability = open_file(DEBUG, name_of(k, "probability"), O_WRONLY);
	space = open_file(DEBUG, name_of(k, "space"), O_WRONLY);
	left_file = k ? "fail_page_alloc/space" : "failslab/space";
}

void inject_open(enum inject_mode mode)
{
	int k;

	close(nth);
	close(probability);
	close(space);
	nth = -1;
	left_file = NULL;
	for (k = 0; k < KINDS; k++) {
		no_faults(k);
		hits[k] = 0;
	}
	/* what may sleep, and every size; but never the pages that we map */
	set(0, "ignore-gfp-wait", "N");
	set(0, "cache-filter", "N");
	set(1, "ignore-gfp-wait", "N");
	set(1, "ignore-gfp-highmem", "Y");
	set(1, "min-order", "0");

	switch (mode) {
	case INJECT_NTH:
		nth = open_file("/proc/self/", "fail-nth", O_RDWR);
		break;
	case INJECT_WORKS:
		left_file = "gagg/work-fail-nth";
		nth = open_file(DEBUG, left_file, O_WRONLY);
		break;
	case INJECT_SLAB:
		fail_from(0);
		break;
	case INJECT_PAGES:
		fail_from(1);
		break;
	}
	if (mlockall(MCL_CURRENT))
		perror("mlockall");
}

void inject_arm(unsigned int n)
{
	if (nth < 0) {
		write_number(space, n);
		write_number(probability, 100);
	} else {
		write_number(nth, n);
	}
}

/* the read is what fails when 1 was left */
static long nth_left(void)
{
	char text[32] = "1";

	if (pread(nth, text, sizeof(text) - 1, 0) < 0)
		return 1;
	return strtol(text, NULL, 0);
}

unsigned int inject_disarm(unsigned int *left)
{
	unsigned int n = 0;
	long rest = 0;
	int k;

	if (!left_file)
		rest = nth_left();
	if (nth < 0)
		write_number(probability, 0);
	else if (!left_file)
		write_number(nth, 0);
	if (left_file)
		rest = read_number(left_file);
	if (nth >= 0)
		write_number(nth, 0);
	*left = (unsigned int)rest;
	for (k = 0; k < KINDS; k++) {
		long used = MANY - read_number(name_of(k, "times"));

		/* then it was one of our own */
		if (nth >= 0 && rest)
			used = 0;
		hits[k] += used;
		n += (unsigned int)used;
		if (used)
			write_number(times[k], MANY);
	}
	return n;
}

const char *inject_kinds(void)
{
	static char text[128];
	size_t at = 0;
	int k;

	for (k = 0; k < KINDS; k++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s %ld", k ? " " : "",
				       kind_name[k], hits[k]);
	return text;
}
