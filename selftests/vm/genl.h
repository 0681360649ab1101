/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Requests to the netlink family gagg, written attribute by attribute, right or
 * wrong. A program has one at a time.
 */
#ifndef GENL_H
#define GENL_H

#include <stddef.h>
#include <stdint.h>
#include <linux/gagg_netlink.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>

#define GENL_ATTRS	256

extern struct genl_msg {
	union {
		struct nlmsghdr h;
		char raw[16384];
	} u;
	size_t len;
	size_t attr[GENL_ATTRS];	/* where the attributes begin */
	int attrs;
} genl_msg;

/* with errno */
void genl_die(const char *what);

/* an empty request of a netlink family; NLM_F_REQUEST is added to @flags */
void genl_begin(uint16_t family, uint16_t flags, uint8_t cmd);
struct nlattr *genl_attr(uint16_t type);
/* behind what the attribute holds already; only to the last one */
void genl_add(struct nlattr *a, const void *data, size_t n);
/* a nest ends where the request ends now */
void genl_nest_end(struct nlattr *a);
/* 0 or an errno */
int genl_send(int fd);

/* id of the family gagg; asks with genl_msg */
uint16_t genl_family(int fd);

#endif
