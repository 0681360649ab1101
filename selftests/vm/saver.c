// SPDX-License-Identifier: GPL-2.0
/*
 * Checkpoints that say which one they are.
 *
 *	saver save GROUP SOCKET NAME COUNT	COUNT of them, "kept N" for each that is
 *						acknowledged; the elements of the Nth are N
 *	saver look FILE				which one it is, if it is whole
 *
 * Exit status 1: refused, or not whole; why is on standard error.
 */
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/socket.h>

#include "broker.h"
#include "checkpoint_file.h"
#include "error.h"
#include "gagg.h"

#define ELEMENTS	20000
#define WORDS		(CKP_WORDS + CKP_TABLE_WORDS + ELEMENTS)

static uint64_t file[WORDS];

static void fill(uint64_t n)
{
	uint64_t digest = CKP_DIGEST;
	size_t i;

	memcpy(&file[0], CKP_MAGIC, sizeof(file[0]));
	file[1] = htole64(1);
	file[2] = htole64(GAGG_INT64);
	file[3] = htole64(0x3ff0000000000000);
	file[4] = htole64(ELEMENTS);
	for (i = 5; i < WORDS - 1; i++)
		file[i] = htole64(n);
	for (i = 0; i < WORDS - 1; i++)
		digest = ckp_digest(digest, file[i]);
	file[WORDS - 1] = htole64(digest);
}

static int send_all(int fd)
{
	const char *at = (const char *)file;
	size_t left = sizeof(file);
	ssize_t n;

	for (; left; left -= (size_t)n, at += n) {
		n = send(fd, at, left, MSG_NOSIGNAL);
		if (n < 0)
			return -1;
	}
	return 0;
}

static int save(const char *group, const char *path, const char *name, uint64_t count)
{
	const struct broker_checkpoint k = { path, group, name, sizeof(file) };
	int connection, fd;
	uint64_t n;

	for (n = 1; n <= count; n++) {
		fill(n);
		fd = broker_save(&k, 0, &connection);
		if (fd < 0)
			break;
		/* COMMIT has the reason why it did not take them */
		send_all(fd);
		close(fd);
		if (broker_commit(connection, &k))
			break;
		printf("kept %llu\n", (unsigned long long)n);
		fflush(stdout);
	}
	if (n > count)
		return 0;
	fprintf(stderr, "%s\n", error_thread());
	return 1;
}

static int look(const char *name)
{
	FILE *f = fopen(name, "r");
	uint64_t n;

	if (!f) {
		perror(name);
		return 1;
	}
	if (fread(file, 1, sizeof(file), f) != sizeof(file) || fgetc(f) != EOF) {
		fprintf(stderr, "%s: not the size of a checkpoint\n", name);
		return 1;
	}
	fclose(f);
	n = le64toh(file[5]);
	for (size_t i = 5; i < WORDS - 1; i++)
		if (le64toh(file[i]) != n) {
			fprintf(stderr, "%s: element %zu is of another\n", name, i - 5);
			return 1;
		}
	printf("%llu\n", (unsigned long long)n);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "look"))
		return look(argv[2]);
	if (argc != 6 || strcmp(argv[1], "save"))
		return 2;
	return save(argv[2], argv[3], argv[4], (uint64_t)atoll(argv[5]));
}
