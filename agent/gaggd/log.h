/* SPDX-License-Identifier: GPL-2.0 */
/* Where gaggd's sentences go: standard error or the journal. */
#ifndef GAGGD_LOG_H
#define GAGGD_LOG_H

#include <stdbool.h>

/* As in syslog(3), so that the journal needs no translation. */
enum log_level {
	LOG_L_ERR	= 3,
	LOG_L_WARN	= 4,
	LOG_L_INFO	= 6,
	LOG_L_DEBUG	= 7,
};

enum log_target {
	LOG_T_STDERR,
	LOG_T_JOURNAL,
};

void log_open(enum log_target target, enum log_level level);

/* false: not a level; names are "error", "warning", "info", "debug" */
bool log_level_parse(const char *name, enum log_level *out);
bool log_target_parse(const char *name, enum log_target *out);

void log_at(enum log_level level, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * For lines that an unprivileged process can cause: at most 20 in 5 s, and
 * one line that counts those that were left out.
 */
void log_limited(enum log_level level, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#define log_err(...)	log_at(LOG_L_ERR, __VA_ARGS__)
#define log_warn(...)	log_at(LOG_L_WARN, __VA_ARGS__)
#define log_info(...)	log_at(LOG_L_INFO, __VA_ARGS__)
#define log_debug(...)	log_at(LOG_L_DEBUG, __VA_ARGS__)

#endif
