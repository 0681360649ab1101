// SPDX-License-Identifier: LGPL-2.1-only OR MIT
/*
 * Dividing a communicator: each rank sends color, key and a channel number that it has free; the
 * number of the lowest member counts.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "comm.h"
#include "sys.h"

/* what a rank says */
struct vote {
	int32_t color;
	int32_t key;
	int32_t number;
};

/* a rank of the new communicator */
struct seat {
	int32_t key;
	int32_t old;	/* rank in the old one */
};

static int split_by_key(const void *a, const void *b)
{
	const struct seat *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->old - y->old;
}

/*
 * All ranks of a color succeed, or none: the others would wait for a rank without memory in their
 * first operation.
 */
static int split_agree(struct gagg_comm *c, int color, int err, struct gagg_comm **newcomm)
{
	struct outcome {
		int32_t color;
		int32_t err;
	} mine = { color, err }, all[GAGG_RANKS_MAX];
	int i, ret;

	if (err && c->failed)
		return err;
	ret = gagg_allgather(&mine, sizeof(mine), all, c);
	for (i = 0; !ret && !err && i < c->size; i++)
		if (all[i].color == color && all[i].err)
			ret = comm_error(c, all[i].err, "rank %d: %s", c->ranks[i],
					 gagg_strerror(all[i].err));
	if (ret || err) {
		gagg_comm_free(*newcomm);
		*newcomm = NULL;
	}
	return ret ? ret : err;
}

/* the id of a channel, see struct gagg_ioc_channel */
static uint32_t split_channel(int lowest, int number)
{
	return (uint32_t)(1 + lowest * SESSION_CHANNELS + number);
}

static int split_open(struct gagg_comm *c, uint64_t members, int number,
		      struct gagg_comm **newcomm)
{
	struct gagg_ioc_channel arg = {
		.size = sizeof(arg), .members = members,
		.channel = split_channel(__builtin_ctzll(members), number),
	};
	int err;

	err = sys_command(c->session->fd, GAGG_IOC_CHANNEL, &arg);
	if (err == -EPIPE || err == -ENOTCONN)
		return comm_fail_epoch(c);
	if (err == -ENOSPC)
		return comm_error(c, GAGG_ERR_NOMEM,
				  "the group has no more channels (more: gaggctl group set NAME channels N)");
	if (err == -EDQUOT)
		return comm_error(c, GAGG_ERR_NOMEM, SESSION_NO_QUOTA);
	if (err)
		return comm_error(c, err == -ENOMEM ? GAGG_ERR_NOMEM : GAGG_ERR_SYSTEM,
				  "make channel %u: %s", arg.channel, strerror(-err));
	*newcomm = comm_new(c->session, &arg.geo, &err);
	return err ? comm_error_take(c, err) : GAGG_OK;
}

/* The ranks of one color; returns how many. */
static int split_seats(const struct gagg_comm *c, const struct vote *votes, int color,
		       struct seat *seats)
{
	int i, n = 0;

	for (i = 0; i < c->size; i++) {
		if (votes[i].color != color)
			continue;
		seats[n].key = votes[i].key;
		seats[n++].old = i;
	}
	qsort(seats, (size_t)n, sizeof(*seats), split_by_key);
	return n;
}

static int split_join(struct gagg_comm *c, const struct vote *votes, int color,
		      struct gagg_comm **newcomm)
{
	struct seat seats[GAGG_RANKS_MAX];
	int i, n = split_seats(c, votes, color, seats), lowest = seats[0].old;
	uint64_t members = 0;
	int err;

	for (i = 0; i < n; i++) {
		members |= 1ULL << c->ranks[seats[i].old];
		if (c->ranks[seats[i].old] < c->ranks[lowest])
			lowest = seats[i].old;
	}
	if (votes[lowest].number < 0)
		return comm_error(c, GAGG_ERR_NOMEM, "rank %d has made %d channels in this epoch",
				  c->ranks[lowest], SESSION_CHANNELS);
	err = split_open(c, members, votes[lowest].number, newcomm);
	if (err)
		return err;
	for (i = 0; i < n; i++) {
		(*newcomm)->ranks[i] = c->ranks[seats[i].old];
		if (seats[i].old == c->rank)
			(*newcomm)->rank = i;
	}
	return GAGG_OK;
}

/* the home with the fewest bytes of tensors, the first of equals */
static uint32_t split_light_home(const struct gagg_comm *c, uint32_t homes)
{
	uint32_t h, best = 0;

	for (h = 1; h < homes; h++)
		if (c->placed[h] < c->placed[best])
			best = h;
	return best;
}

/* a number of which the channel has home @home of @homes, if there is one; else any */
static int split_number_at(const struct gagg_comm *c, uint32_t home, uint32_t homes)
{
	uint32_t least = split_channel((int)c->session->rank, 0) % homes;
	int number = session_channel_number(c->session, (home + homes - least) % homes, homes);

	return number >= 0 ? number : session_channel_number(c->session, 0, 1);
}

static int split(struct gagg_comm *c, const struct vote *mine, struct gagg_comm **newcomm)
{
	struct vote votes[GAGG_RANKS_MAX];
	int color = mine->color, err;

	err = gagg_allgather(mine, sizeof(*mine), votes, c);
	if (err)
		return err;
	if (color >= 0)
		err = split_join(c, votes, color, newcomm);
	return split_agree(c, color, err, newcomm);
}

int gagg_comm_split(struct gagg_comm *c, int color, int key, struct gagg_comm **newcomm)
{
	struct vote mine = { color, key, -1 };
	int err = comm_enter(c);

	*newcomm = NULL;
	if (err)
		return err;
	if (color >= 0)
		mine.number = session_channel_number(c->session, 0, 1);
	err = split(c, &mine, newcomm);
	comm_exit(c);
	return err;
}

static int split_tensor(struct gagg_comm *c, uint64_t bytes, struct gagg_comm **newcomm)
{
	struct vote mine = { 0, c->rank, -1 };
	uint32_t homes;
	int err = comm_check(c);

	if (err)
		return err;
	/* not 0: region_check() has seen those of a communicator that has not failed */
	homes = c->region.geo.homes;
	mine.number = split_number_at(c, split_light_home(c, homes), homes);
	err = split(c, &mine, newcomm);
	if (!err)
		c->placed[(*newcomm)->region.geo.channel % homes] += bytes;
	return err;
}

int gagg_comm_tensor(struct gagg_comm *c, uint64_t bytes, struct gagg_comm **newcomm)
{
	int err = comm_enter(c);

	*newcomm = NULL;
	if (err)
		return err;
	err = split_tensor(c, bytes, newcomm);
	comm_exit(c);
	return err;
}
