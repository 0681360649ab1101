// SPDX-License-Identifier: GPL-2.0
#include <linux/genetlink.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include "chardev.h"
#include "faults.h"
#include "netlink.h"
#include "netns.h"
#include "simd.h"
#include "speak.h"

static struct miscdevice gagg_misc = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "gagg",
	.fops = &gagg_fops,
	.mode = 0600,
};

static int __init gagg_init(void)
{
	int err;

	gagg_simd_init();
	gagg_faults_init();
	err = gagg_speak_init();
	if (err)
		goto out_faults;
	err = gagg_netns_init();
	if (err)
		goto out_speak;
	err = gagg_netlink_init();
	if (err)
		goto out_netns;
	err = misc_register(&gagg_misc);
	if (err)
		goto out_netlink;
	return 0;

out_netlink:
	gagg_netlink_exit();
out_netns:
	gagg_netns_exit();
out_speak:
	gagg_speak_exit();
out_faults:
	gagg_faults_exit();
	return err;
}

/*
 * No file is open (fops.owner pins the module), so there is no session. The family goes first, so
 * that nothing is created any more. Then every namespace kills its groups and endpoints, which
 * waits for polls, timers and works. rcu_barrier() waits for the memory.
 */
static void __exit gagg_exit(void)
{
	misc_deregister(&gagg_misc);
	gagg_netlink_exit();
	gagg_netns_exit();
	gagg_speak_exit();
	gagg_faults_exit();
	rcu_barrier();
}

module_init(gagg_init);
module_exit(gagg_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("In-kernel aggregation of gradients for distributed training");
MODULE_VERSION("0.1.0");
/*
 * No alias for the family: with one, any user could load the module by asking for the family. Only
 * root loads it (gaggd.service does).
 */
