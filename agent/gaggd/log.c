// SPDX-License-Identifier: GPL-2.0
/*
 * gaggd's log, and gagg-twin's.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <systemd/sd-journal.h>

#include "log.h"

#define LIMIT_LINES	20
#define LIMIT_SECONDS	5
#define LIMIT_WHOM	16	/* those that are told apart */

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
static int log_fd = STDERR_FILENO;
static bool log_is_socket;
static unsigned int log_lost;

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

/*
 * O_NONBLOCK belongs to the file description, which others may share: a pipe is opened
 * once more, for a description of our own. Files do not block, sockets have MSG_DONTWAIT.
 */
static void open_stderr(void)
{
	struct stat st;
	int fd;

	if (log_fd != STDERR_FILENO)
		close(log_fd);
	log_fd = STDERR_FILENO;
	log_is_socket = false;
	if (fstat(STDERR_FILENO, &st))
		return;
	log_is_socket = S_ISSOCK(st.st_mode);
	if (!S_ISFIFO(st.st_mode))
		return;
	fd = open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0)
		log_fd = fd;
}

/* false: nobody makes room for it */
static bool put(const char *text, size_t len)
{
	ssize_t n = log_is_socket ? send(log_fd, text, len, MSG_DONTWAIT | MSG_NOSIGNAL) :
				    write(log_fd, text, len);

	return n >= 0 || errno != EAGAIN;
}

static void to_stderr(enum log_level level, const char *line)
{
	char text[1200];
	int n;

	if (log_lost) {
		n = snprintf(text, sizeof(text), "%s: warning: %u lines were lost: nobody read them\n",
			     program_invocation_short_name, log_lost);
		if (!put(text, (size_t)n)) {
			log_lost++;
			return;
		}
		log_lost = 0;
	}
	n = snprintf(text, sizeof(text), "%.80s: %s: %s\n", program_invocation_short_name,
		     level_name(level), line);
	log_lost += !put(text, (size_t)n);
}

void log_open(enum log_target target, enum log_level level)
{
	log_target = target;
	log_max = level;
	signal(SIGPIPE, SIG_IGN);
	open_stderr();
}

static void log_line(enum log_level level, const char *line)
{
	if (level > log_max)
		return;
	if (log_target == LOG_T_JOURNAL &&
	    sd_journal_send("MESSAGE=%s", line, "PRIORITY=%i", (int)level,
			    "SYSLOG_IDENTIFIER=%s", program_invocation_short_name, NULL) == 0)
		return;
	to_stderr(level, line);
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

/* what somebody has had written of late */
struct account {
	uint64_t whom;
	time_t since;
	unsigned int lines, dropped;
};

/* his account, or the oldest, which becomes his */
static struct account *account_of(uint64_t whom)
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
	struct account *a = account_of(whom);
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
