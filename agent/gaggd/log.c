// SPDX-License-Identifier: GPL-2.0
/*
 * gaggd's log, and gagg-twin's.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <systemd/sd-journal.h>

#include "log.h"
#include "outlet.h"

#define LIMIT_LINES	20
#define LIMIT_SECONDS	5
#define LIMIT_WHOM	16	/* most origins that are told apart */

static const struct {
	const char *name;
	enum log_level level;
} levels[] = {
	{ "error", LOG_L_ERR },
	{ "warning", LOG_L_WARN },
	{ "info", LOG_L_INFO },
	{ "debug", LOG_L_DEBUG },
};

static enum log_level log_max = LOG_L_INFO;
static struct outlet out = { .fd = STDERR_FILENO };
static int journal = -1;
static unsigned int lost;

static const char *log_level_name(enum log_level level)
{
	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++)
		if (levels[i].level == level)
			return levels[i].name;
	return "?";
}

bool log_level_parse(const char *name, enum log_level *out)
{
	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
		if (!strcmp(levels[i].name, name)) {
			*out = levels[i].level;
			return true;
		}
	}
	return false;
}

bool log_target_parse(const char *name, enum log_target *out)
{
	if (!strcmp(name, "stderr"))
		*out = LOG_T_STDERR;
	else if (!strcmp(name, "journal"))
		*out = LOG_T_JOURNAL;
	else
		return false;
	return true;
}

/* The journal takes lines as a stream, each with its level. */
static int log_journal_connect(void)
{
	return sd_journal_stream_fd(program_invocation_short_name, LOG_L_INFO, 1);
}

/* without a journal it is standard error */
static void log_journal_open(void)
{
	if (journal >= 0)
		close(journal);
	else
		outlet_close(&out, STDERR_FILENO);
	journal = log_journal_connect();
	if (journal >= 0)
		out = (struct outlet){ .fd = journal, .socket = true };
	else
		outlet_open(&out, STDERR_FILENO);
}

/* 0; -EAGAIN: the reader makes no room; another error: there is no journal */
static int log_put(enum log_level level, const char *line)
{
	char text[1200];
	int n;

	if (journal >= 0)
		n = snprintf(text, sizeof(text), "<%d>%s\n", (int)level, line);
	else
		n = snprintf(text, sizeof(text), "%.80s: %s: %s\n",
			     program_invocation_short_name, log_level_name(level), line);
	return outlet_put(&out, text, (size_t)n);
}

static bool log_put_or_count(enum log_level level, const char *line)
{
	int err = log_put(level, line);

	if (err && err != -EAGAIN && journal >= 0) {
		/* the journal was started again */
		log_journal_open();
		err = log_put(level, line);
	}
	lost += err == -EAGAIN;
	return err != -EAGAIN;
}

static void log_tell_lost(void)
{
	unsigned int n = lost;
	char line[64];

	if (!n)
		return;
	snprintf(line, sizeof(line), "%u lines were lost: nobody read them", n);
	if (log_put_or_count(LOG_L_WARN, line))
		lost -= n;
	else
		lost--;
}

void log_open(enum log_target target, enum log_level level)
{
	log_max = level;
	signal(SIGPIPE, SIG_IGN);
	if (journal >= 0)
		close(journal);
	journal = -1;
	outlet_close(&out, STDERR_FILENO);
	outlet_open(&out, STDERR_FILENO);
	if (target == LOG_T_JOURNAL)
		log_journal_open();
}

static void log_line(enum log_level level, const char *line)
{
	if (level > log_max)
		return;
	log_tell_lost();
	log_put_or_count(level, line);
}

void log_at(enum log_level level, const char *fmt, ...)
{
	char line[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	log_line(level, line);
}

/* lines that one origin has caused recently */
struct account {
	uint64_t whom;
	time_t since;
	unsigned int lines, dropped;
};

/* the account of an origin, or the oldest one, which becomes that */
static struct account *log_account_of(uint64_t whom)
{
	static struct account all[LIMIT_WHOM];
	struct account *a, *oldest = all;

	for (a = all; a < all + LIMIT_WHOM; a++) {
		if (a->lines && a->whom == whom)
			return a;
		if (a->since < oldest->since)
			oldest = a;
	}
	*oldest = (struct account){ .whom = whom };
	return oldest;
}

void log_limited(uint64_t whom, enum log_level level, const char *fmt, ...)
{
	struct account *a = log_account_of(whom);
	char line[1024];
	struct timespec now;
	va_list ap;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (now.tv_sec - a->since >= LIMIT_SECONDS) {
		if (a->dropped)
			log_at(level, "%u more lines like these", a->dropped);
		*a = (struct account){ .whom = whom, .since = now.tv_sec };
	}
	if (a->lines++ >= LIMIT_LINES) {
		a->dropped++;
		return;
	}
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	log_line(level, line);
}
