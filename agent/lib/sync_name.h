/* SPDX-License-Identifier: LGPL-2.1-only OR MIT */
/*
 * The sync modes as people write and read them: a name and, behind a colon each, the parameters,
 * as in "ssp:4". One table for libgagg and all programs; the kernel has numbers only.
 *
 * An algorithm over rounds that is not in the table is "rounds-0x85:3": its number, and its
 * parameters up to the last that is not 0.
 */
#ifndef GAGG_LIB_SYNC_NAME_H
#define GAGG_LIB_SYNC_NAME_H

#include <stdbool.h>
#include <stdint.h>
#include <linux/gagg.h>
#include <linux/gagg_wire.h>

#define SYNC_NAME_MAX	64	/* a name and GAGG_SYNC_ARGS parameters, with the final zero */

/**
 * struct sync_arg - a parameter
 * @name:	as in the form of its mode, "S" of "ssp:S"; NULL behind the last
 * @unit:	of its values, in words; NULL: none
 * @min:	least value, of an algorithm over rounds; of other modes the kernel has it
 * @max:	largest value, likewise
 * @decimals:	it has decimals: they are the number behind it (struct gagg_sync_param)
 */
struct sync_arg {
	const char *name;
	const char *unit;
	uint32_t min;
	uint32_t max;
	bool decimals;
};

/**
 * struct sync_mode - a sync mode
 * @number:	enum gagg_sync_mode
 * @name:	what its text begins with
 * @about:	what it is, for people
 * @example:	a text of it, if it has parameters
 * @optional:	so many of its last parameters may be left out, and are 0 then
 * @together:	what is wrong with parameters that do not fit each other, or with one that has
 *		decimals; NULL: they always fit
 * @arg:	its parameters
 */
struct sync_mode {
	uint32_t number;
	const char *name;
	const char *about;
	const char *example;
	uint32_t optional;
	const char *together;
	struct sync_arg arg[GAGG_SYNC_ARGS];
};

/* all that have names; behind the last @name is NULL */
extern const struct sync_mode sync_modes[];

/* is it the number of an algorithm over rounds? */
static inline bool sync_is_algorithm(uint32_t number)
{
	return number >= GAGG_SYNC_ROUNDS && number <= GAGG_SYNC_ROUNDS_MAX;
}

/* NULL: it has no name */
const struct sync_mode *sync_mode_find(uint32_t number);

/* how many parameters it has */
uint32_t sync_mode_args(const struct sync_mode *mode);

/* "ssp:S"; what may be left out is in brackets: "r2sp:G:P[:K]" */
const char *sync_mode_form(const struct sync_mode *mode, char text[SYNC_NAME_MAX]);

/* "ssp:4"; of a number that no mode can have "mode 77:4" */
const char *sync_print(const struct gagg_sync_param *p, char text[SYNC_NAME_MAX]);

/* the same of a digest, GAGG_DG_SYNC; parameters that were hashed are '#' and the hash */
const char *sync_name(uint32_t digest, char text[SYNC_NAME_MAX]);

#endif
