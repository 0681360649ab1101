// SPDX-License-Identifier: GPL-2.0
/*
 * A netlink request that no honest program makes.
 *
 *	odd_netlink COMMAND ATTRIBUTE...
 *
 * Sends it, whatever is in it (netmsg.h), and prints the error, the attribute
 * that is to blame, the sentence.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <linux/gagg_netlink.h>
#include <linux/netlink.h>
#include "netmsg.h"

static const char *error_name(int err)
{
	const char *name = strerrorname_np(err);

	return err ? name ? name : "?" : "OK";
}

int main(int argc, char **argv)
{
	const char *blamed = "-";
	char sentence[512] = "";
	uint16_t type;
	uint8_t cmd;
	int fd, i, err;

	if (argc < 2) {
		fprintf(stderr, "see the top of selftests/vm/odd_netlink.c\n");
		return 2;
	}
	fd = netmsg_open(&type);
	cmd = netmsg_command(argv[1]);
	genl_begin(type, cmd == GAGG_CMD_MEMBER_GET ? NLM_F_DUMP : NLM_F_ACK, cmd);
	for (i = 2; i < argc; i++)
		netmsg_attribute(argv[i]);
	err = genl_send(fd);
	if (!err)
		err = netmsg_answer(fd, sentence, sizeof(sentence), &blamed);
	printf("%s %s %s\n", error_name(err), blamed, sentence);
	return 0;
}
