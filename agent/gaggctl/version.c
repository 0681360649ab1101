// SPDX-License-Identifier: GPL-2.0
/* gaggctl version: of this program, the netlink family and /dev/gagg, or a gagg-twin. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "gaggctl.h"

static const char usage[] =
	"Usage: gaggctl version\n"
	"\n"
	"The version of gaggctl, of the netlink family, and what /dev/gagg offers; or of\n"
	"gagg-twin.\n";

static const char *const feature_names[] = {
	"bsp", "ipv6", "uring", "channels", "store", "times", "copies",
};

/*
 * If a version cannot be read, the reason is printed; that is no failure. @nl: NULL: there is none
 */
static void version_print_netlink(const struct nl *nl)
{
	print_object("netlink");
	if (nl)
		print_u64("version", "netlink version ",
			  nl_family_version(nl), "\n");
	else
		print_str("error", "netlink: ", nl_error(NULL), "\n");
	print_close();
}

static void version_print_features(uint64_t features)
{
	size_t n = sizeof(feature_names) / sizeof(feature_names[0]);

	print_array("features");
	for (size_t i = 0; i < n; i++)
		if (features & 1ULL << i)
			print_str(NULL, " ", feature_names[i], "");
	print_close();
	features &= ~((1ULL << n) - 1);
	if (features)
		print_u64("unknown-features", " unknown ", features, "");
}

static void version_print_device(void)
{
	struct gagg_ioc_features f = { .size = sizeof(f) };
	int fd = open("/dev/gagg", O_RDWR | O_CLOEXEC);
	int err = 0;

	if (fd < 0 || ioctl(fd, GAGG_IOC_FEATURES, &f))
		err = errno;
	if (fd >= 0)
		close(fd);
	print_object("device");
	if (err) {
		print_str("error", "/dev/gagg: ", strerror(err), "\n");
	} else {
		print_u64("abi", "/dev/gagg abi ", f.abi, "");
		print_u64("wire-min", " wire ", f.wire_min, "");
		print_u64("wire-max", " to ", f.wire_max, "");
		print_text(" features");
		version_print_features(f.features);
		print_text("\n");
	}
	print_close();
}

static void version_print_twin(const struct nl_twin *twin)
{
	print_object("twin");
	if (twin) {
		print_str("version", "gagg-twin ", twin->version, "");
		print_str("socket", " at ", twin->path, "");
		print_str("config", " of ", twin->config, "");
		print_u64("wire-min", " wire ", twin->wire_min, "");
		print_u64("wire-max", " to ", twin->wire_max, "\n");
	} else {
		print_str("error", "gagg-twin: ", nl_error(NULL), "\n");
	}
	print_close();
}

static void version_print_module(void)
{
	struct nl *nl = nl_open();
	bool absent = !nl && errno == ENOENT;

	version_print_netlink(nl);
	version_print_device();
	nl_free(nl);
	nl = absent ? nl_open_twin(ctl_usual_twin()) : NULL;
	if (nl)
		version_print_twin(nl_twin(nl));
	nl_free(nl);
}

enum ctl_exit version_command(struct args *a)
{
	struct nl *nl;

	if (ctl_help(a, usage))
		return CTL_OK;
	if (!args_end(a))
		return CTL_USAGE;
	print_object(NULL);
	print_str("gaggctl", "gaggctl ", GAGGCTL_VERSION, "\n");
	if (a->twin) {
		nl = nl_open_twin(a->twin);
		version_print_twin(nl ? nl_twin(nl) : NULL);
		nl_free(nl);
	} else {
		version_print_module();
	}
	print_close();
	return CTL_OK;
}
