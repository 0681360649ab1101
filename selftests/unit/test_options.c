// SPDX-License-Identifier: GPL-2.0
/* links: agent/gaggd/options.c agent/gaggd/log.c agent/gaggd/outlet.c agent/nl/names.c agent/lib/sync_name.c kmod/core/group/param.c; libs: libsystemd */
/*
 * The command line of gaggd and gagg-twin.
 */
#include <getopt.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../agent/gaggd/options.h"

static struct options opt;

/* up to three words; what options_parse() returns */
static int parse(const char *a, const char *b, const char *c)
{
	char *argv[] = { "gaggd", (char *)a, (char *)b, (char *)c, NULL };
	int argc = 1 + !!a + !!b + !!c;
	FILE *was = stderr;
	int ret;

	stderr = fopen("/dev/null", "w");
	assert_non_null(stderr);
	optind = 0;
	ret = options_parse(&opt, "gaggd", "usage", argc, argv);
	fclose(stderr);
	stderr = was;
	return ret;
}

static void options__defaults(void **state)
{
	(void)state;
	assert_int_equal(parse(NULL, NULL, NULL), OPTIONS_GO_ON);
	assert_string_equal(opt.socket, BROKER_SOCKET);
	assert_null(opt.config);
	assert_null(opt.state);
	assert_int_equal(opt.checkpoints, 0);
	assert_int_equal(opt.checkpoint_bytes, 0);
}

static void options__of_checkpoints(void **state)
{
	static const struct {
		const char *text;
		uint64_t bytes;		/* 0: refused */
	} t[] = {
		{ "1", 1 }, { "4096", 4096 }, { "3K", 3072 }, { "2M", 2 << 20 },
		{ "64G", 64ULL << 30 }, { "1T", 1ULL << 40 }, { "16777215T", 16777215ULL << 40 },
		{ "0", 0 }, { "", 0 }, { "-1", 0 }, { "+1", 0 }, { " 1", 0 }, { "1KB", 0 },
		{ "1k", 0 }, { "K", 0 }, { "16777216T", 0 }, { "18446744073709551616", 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		int ret = parse("--checkpoint-bytes", t[i].text, NULL);

		if (ret != (t[i].bytes ? OPTIONS_GO_ON : 2) ||
		    (t[i].bytes && opt.checkpoint_bytes != t[i].bytes))
			fail_msg("'%s': %d, %llu", t[i].text, ret,
				 (unsigned long long)opt.checkpoint_bytes);
	}
	assert_int_equal(parse("--checkpoints", "3", "--state=/srv"), OPTIONS_GO_ON);
	assert_int_equal(opt.checkpoints, 3);
	assert_string_equal(opt.state, "/srv");
	assert_int_equal(parse("--checkpoints", "3K", NULL), 2);
	assert_int_equal(parse("--checkpoints", "0", NULL), 2);
}

static void options__nonsense(void **state)
{
	(void)state;
	assert_int_equal(parse("what", NULL, NULL), 2);
	assert_int_equal(parse("--what", NULL, NULL), 2);
	assert_int_equal(parse("--local", "here", NULL), 2);
	assert_int_equal(parse("--log-level", "loud", NULL), 2);
	assert_int_equal(parse("--log", "paper", NULL), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options__defaults),
		cmocka_unit_test(options__of_checkpoints),
		cmocka_unit_test(options__nonsense),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("options", tests, NULL, NULL);
}
