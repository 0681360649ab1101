// SPDX-License-Identifier: GPL-2.0
#include "work.h"

_Static_assert(GAGG_CHANNELS_MAX == 64, "a mask has a bit for each channel");

enum work_stage {
	WORK_TIMER,
	WORK_CHANNELS,
	WORK_FLUSH,
	WORK_OVER,
};

static bool work_called(struct gagg_work *w, enum gagg_work_call call, u16 id, bool again)
{
	w->call = (u8)call;
	w->id = id;
	w->again = again;
	return true;
}

/* the next turn begins with the channel behind index @at */
static void work_pass(struct gagg_work *w, u32 at)
{
	w->sh->turn = (u8)((at + 1) % GAGG_CHANNELS_MAX);
}

/* each channel comes first in turn, so that a busy one does not starve the others */
static void work_line_up(struct gagg_work *w)
{
	w->first = w->sh->turn;
	w->left = gagg_rotate(w->channels, w->first);
	if (w->left)
		work_pass(w, w->first + gagg_lowest(w->left));
}

static bool work_timer(struct gagg_work *w)
{
	w->stage = WORK_CHANNELS;
	work_line_up(w);
	if (gagg_shard_deadline(w->sh, w->g) > w->now)
		return false;
	gagg_shard_timer(w->sh, w->g, w->env, w->now);
	return work_called(w, GAGG_WORK_TIMER, 0, false);
}

/* moves to the next channel in line; false: there is none */
static bool work_next(struct gagg_work *w)
{
	if (!w->left)
		return false;
	w->at = (u8)((w->first + gagg_lowest(w->left)) % GAGG_CHANNELS_MAX);
	w->left &= w->left - 1;
	w->chan = w->channel[w->at];
	w->timed = false;
	return true;
}

static bool work_refill(struct gagg_work *w)
{
	u16 id = w->chan->id;
	bool again = gagg_chan_refill(w->sh, w->g, w->env, w->chan, w->now);

	if (!again) {
		w->chan = NULL;
	} else if (++w->refills == GAGG_WORK_REFILLS) {
		work_pass(w, w->at);
		w->more = true;
		w->stage = WORK_FLUSH;
	}
	return work_called(w, GAGG_WORK_REFILL, id, again);
}

static bool work_channels(struct gagg_work *w)
{
	if (!w->chan && !work_next(w)) {
		w->stage = WORK_FLUSH;
		return false;
	}
	if (!w->timed) {
		w->timed = true;
		if (gagg_chan_deadline(w->chan) <= w->now) {
			gagg_chan_timer(w->sh, w->g, w->chan, w->now);
			return work_called(w, GAGG_WORK_CHAN_TIMER, w->chan->id, false);
		}
	}
	return work_refill(w);
}

static bool work_flush(struct gagg_work *w)
{
	w->stage = WORK_OVER;
	gagg_shard_flush(w->sh, w->g);
	return work_called(w, GAGG_WORK_FLUSH, 0, false);
}

bool gagg_work_step(struct gagg_work *w)
{
	if (!w->sh->running)
		return false;
	if (w->stage == WORK_TIMER && work_timer(w))
		return true;
	if (w->stage == WORK_CHANNELS && work_channels(w))
		return true;
	return w->stage == WORK_FLUSH && work_flush(w);
}

u64 gagg_work_deadline(const struct gagg_work *w)
{
	u64 at = gagg_shard_deadline(w->sh, w->g);
	u64 left = w->sh->running ? w->channels : 0;

	for (; left; left &= left - 1)
		at = gagg_min64(at, gagg_chan_deadline(w->channel[gagg_lowest(left)]));
	return at;
}
