// SPDX-License-Identifier: GPL-2.0
/*
 * gaggd's log, and gagg-twin's.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <systemd/sd-journal.h>

#include "log.h"

#define LIMIT_LINES	20
#define LIMIT_SECONDS	5

static const struct {
	const char *name;
	enum log_level level;
} levels[] = {
	{ "error", LOG_L_ERR },
	{ "warning", LOG_L_WARN },
	{ "info", LOG_L_INFO },
	{ "debug", LOG_L_DEBUG },
};

static enum log_target log_target = LOG_T_STDERR;
static enum log_level log_max = LOG_L_INFO;

static const char *level_name(enum log_level level)
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

void log_open(enum log_target target, enum log_level level)
{
	log_target = target;
	log_max = level;
	setvbuf(stderr, NULL, _IOLBF, 0);
}

static void log_line(enum log_level level, const char *line)
{
	if (level > log_max)
		return;
	if (log_target == LOG_T_JOURNAL &&
	    sd_journal_send("MESSAGE=%s", line, "PRIORITY=%i", (int)level,
			    "SYSLOG_IDENTIFIER=%s", program_invocation_short_name, NULL) == 0)
		return;
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, level_name(level),
		line);
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

void log_limited(enum log_level level, const char *fmt, ...)
{
	static unsigned int lines, dropped;
	static time_t since;
	char line[1024];
	struct timespec now;
	va_list ap;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (now.tv_sec - since >= LIMIT_SECONDS) {
		if (dropped)
			log_at(level, "%u more lines like these", dropped);
		since = now.tv_sec;
		lines = 0;
		dropped = 0;
	}
	if (lines++ >= LIMIT_LINES) {
		dropped++;
		return;
	}
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	log_line(level, line);
}
