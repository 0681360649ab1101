/* SPDX-License-Identifier: GPL-2.0 */
/* The destination of gaggd's sentences: standard error or the journal. */
#ifndef GAGGD_LOG_H
#define GAGGD_LOG_H

#include <stdbool.h>
#include <stdint.h>

/* Numbers as in syslog(3), so that the journal needs no translation. */
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

/*
 * From here on a reader that does not read cannot stop the program: a line that finds no room in a
 * pipe or socket is counted, and the number is written with the next line that finds room.
 */
void log_open(enum log_target target, enum log_level level);

/* false: not a level; names are "error", "warning", "info", "debug" */
bool log_level_parse(const char *name, enum log_level *out);
bool log_target_parse(const char *name, enum log_target *out);

void log_at(enum log_level level, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * For lines that an unprivileged process can cause: at most 20 in 5 s for each @whom, and one line
 * with the number of those that were left out.
 */
void log_limited(uint64_t whom, enum log_level level, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#define LOG_OF_UID(uid)		((uint64_t)(uid))
#define LOG_OF_GROUP(id)	(1ULL << 32 | (id))
#define LOG_OF_ANY		UINT64_MAX

#define log_err(...)	log_at(LOG_L_ERR, __VA_ARGS__)
#define log_warn(...)	log_at(LOG_L_WARN, __VA_ARGS__)
#define log_info(...)	log_at(LOG_L_INFO, __VA_ARGS__)
#define log_debug(...)	log_at(LOG_L_DEBUG, __VA_ARGS__)

#endif
