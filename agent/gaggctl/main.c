// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "gaggctl.h"

int main(int argc, char **argv)
{
	int ret = ctl_run(argc, argv);

	if (fflush(stdout) || ferror(stdout)) {
		ctl_say("cannot write: %s", strerror(errno));
		return CTL_FAILED;
	}
	return ret;
}
