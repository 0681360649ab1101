/* SPDX-License-Identifier: GPL-2.0 */
/* Reports what keeps a group from training, to trainers and in the log. Control thread. */
#ifndef GAGG_TWIN_NEWS_H
#define GAGG_TWIN_NEWS_H

struct group;

/* the state of another host has changed */
void news_tell(struct group *g);

#endif
