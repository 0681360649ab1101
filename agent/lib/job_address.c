// SPDX-License-Identifier: LGPL-2.1-only OR MIT
#define _GNU_SOURCE 1
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "job.h"

union job_ip {
	struct sockaddr sa;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static bool job_address_parse(const char *text, union job_ip *ip)
{
	memset(ip, 0, sizeof(*ip));
	if (inet_pton(AF_INET, text, &ip->v4.sin_addr) == 1)
		ip->sa.sa_family = AF_INET;
	else if (inet_pton(AF_INET6, text, &ip->v6.sin6_addr) == 1)
		ip->sa.sa_family = AF_INET6;
	return ip->sa.sa_family;
}

static void job_address_format(const union job_ip *ip, char address[JOB_ADDRESS])
{
	const void *at = ip->sa.sa_family == AF_INET ? (const void *)&ip->v4.sin_addr :
						       (const void *)&ip->v6.sin6_addr;

	inet_ntop(ip->sa.sa_family, at, address, JOB_ADDRESS);
}

/*
 * The same boot, the same namespaces for networks and for processes: gagg-twin watches the
 * processes of its ranks.
 */
static int job_address_host(uint8_t host[16], char *why)
{
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");
	struct stat net, pid;
	unsigned int i, byte;

	memset(host, 0, 16);
	for (i = 0; f && i < 16; i++) {
		int dash = fgetc(f);

		if (dash != '-')
			ungetc(dash, f);
		if (fscanf(f, "%2x", &byte) != 1)
			break;
		host[i] = (uint8_t)byte;
	}
	if (f)
		fclose(f);
	if (!f || i < 16 || stat("/proc/self/ns/net", &net) ||
	    stat("/proc/self/ns/pid", &pid)) {
		snprintf(why, JOB_TEXT, "/proc does not tell boot_id, ns/net and ns/pid of this host");
		return -1;
	}
	for (i = 0; i < 8; i++) {
		host[i] ^= (uint8_t)((uint64_t)net.st_ino >> 8 * i);
		host[8 + i] ^= (uint8_t)((uint64_t)pid.st_ino >> 8 * i);
	}
	return 0;
}

/* of a list with commas between, as NCCL_SOCKET_IFNAME is; NULL: any but the loopback */
static bool job_address_may_be_of(const char *name, const char *list)
{
	bool excluded = list && *list == '^', exact;
	const char *end;

	if (!list || !*list)
		return strcmp(name, "lo");
	list += excluded;
	exact = *list == '=';
	list += exact;
	for (;; list = end + 1) {
		size_t n;

		end = strchrnul(list, ',');
		n = (size_t)(end - list);
		if (n && !strncmp(name, list, n) && (!exact || !name[n]))
			return !excluded;
		if (!*end)
			return excluded && strcmp(name, "lo");
	}
}

static bool job_address_is_usable(const struct ifaddrs *a, int family)
{
	const union job_ip *ip = (const union job_ip *)a->ifa_addr;

	if (!ip || ip->sa.sa_family != family || !(a->ifa_flags & IFF_UP))
		return false;
	return family == AF_INET || !IN6_IS_ADDR_LINKLOCAL(&ip->v6.sin6_addr);
}

/* the first one of an interface that may have it; IPv4 if there is any */
static int job_address_of_interfaces(const char *list, union job_ip *ip)
{
	static const int families[] = { AF_INET, AF_INET6 };
	struct ifaddrs *all, *a;
	int found = -1;

	if (getifaddrs(&all))
		return -1;
	for (int i = 0; i < 2 && found; i++)
		for (a = all; a && found; a = a->ifa_next)
			if (job_address_is_usable(a, families[i]) &&
			    job_address_may_be_of(a->ifa_name, list)) {
				memcpy(ip, a->ifa_addr, families[i] == AF_INET ? sizeof(ip->v4) :
									       sizeof(ip->v6));
				found = 0;
			}
	freeifaddrs(all);
	return found;
}

/* no datagram is sent: the kernel looks up the route */
static int job_address_towards(const char *rendezvous, union job_ip *ip)
{
	socklen_t len = sizeof(*ip);
	int fd, err;

	if (!job_address_parse(rendezvous, ip)) {
		errno = EINVAL;
		return -1;
	}
	ip->v4.sin_port = htons(9);
	fd = socket(ip->sa.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	err = connect(fd, &ip->sa, sizeof(*ip)) || getsockname(fd, &ip->sa, &len) ? errno : 0;
	close(fd);
	errno = err;
	return err ? -1 : 0;
}

int job_address(const char *rendezvous, char address[JOB_ADDRESS], uint8_t host[16], char *why)
{
	const char *said = secure_getenv("GAGG_ADDRESS");
	const char *list = secure_getenv("GAGG_SOCKET_IFNAME");
	union job_ip ip;

	if (job_address_host(host, why))
		return -1;
	if (said && *said) {
		if (!job_address_parse(said, &ip)) {
			snprintf(why, JOB_TEXT, "GAGG_ADDRESS=%s is no address in digits", said);
			return -1;
		}
	} else if (list && *list) {
		if (job_address_of_interfaces(list, &ip)) {
			snprintf(why, JOB_TEXT,
				 "GAGG_SOCKET_IFNAME=%s: no interface of that name is up with an address",
				 list);
			return -1;
		}
	} else if (rendezvous) {
		if (job_address_towards(rendezvous, &ip)) {
			snprintf(why, JOB_TEXT, "the host has no address towards %s: %s",
				 rendezvous, strerror(errno));
			return -1;
		}
	} else if (job_address_of_interfaces(NULL, &ip)) {
		job_address_parse("127.0.0.1", &ip);
	}
	job_address_format(&ip, address);
	return 0;
}
