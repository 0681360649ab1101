// SPDX-License-Identifier: GPL-2.0
#include "datagram.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <string.h>
#include <unistd.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <sys/socket.h>

const struct field header_fields[] = {
#define FIELD(name) { #name, offsetof(struct gagg_hdr, name), \
		      sizeof(((struct gagg_hdr *)0)->name) }
	FIELD(magic), FIELD(ver), FIELD(type), FIELD(flags), FIELD(hdrlen), FIELD(laneop),
	FIELD(group), FIELD(epoch), FIELD(channel), FIELD(src), FIELD(sig), FIELD(chunk),
	FIELD(round), FIELD(run), FIELD(lanes), FIELD(exp), FIELD(want), FIELD(weight),
	FIELD(pn), FIELD(aux),
	{ "cookie", offsetof(struct gagg_hdr, tag), 8 },
};

const size_t header_fields_count = sizeof(header_fields) / sizeof(header_fields[0]);

bool address_parse(const char *text, uint16_t port, union address *a)
{
	memset(a, 0, sizeof(*a));
	a->in.sin_port = htons(port);
	if (inet_pton(AF_INET, text, &a->in.sin_addr) == 1)
		a->sa.sa_family = AF_INET;
	else if (inet_pton(AF_INET6, text, &a->in6.sin6_addr) == 1)
		a->sa.sa_family = AF_INET6;
	return a->sa.sa_family;
}

socklen_t address_size(const union address *a)
{
	return a->sa.sa_family == AF_INET6 ? sizeof(a->in6) : sizeof(a->in);
}

bool address_equal(const union address *a, const union address *b)
{
	if (a->sa.sa_family != b->sa.sa_family || a->in.sin_port != b->in.sin_port)
		return false;
	if (a->sa.sa_family == AF_INET6)
		return !memcmp(&a->in6.sin6_addr, &b->in6.sin6_addr, 16);
	return a->in.sin_addr.s_addr == b->in.sin_addr.s_addr;
}

const struct field *field_find(const char *name, size_t n)
{
	size_t i;

	for (i = 0; i < header_fields_count; i++)
		if (strlen(header_fields[i].name) == n &&
		    !strncmp(header_fields[i].name, name, n))
			return &header_fields[i];
	return NULL;
}

uint64_t field_get(const struct field *f, const uint8_t *payload)
{
	uint64_t v = 0;

	memcpy(&v, payload + f->at, f->size);
	return v;
}

void field_set(const struct field *f, uint8_t *payload, uint64_t value)
{
	memcpy(payload + f->at, &value, f->size);
}

static uint32_t sum16(uint32_t sum, const void *data, size_t n)
{
	const uint8_t *p = data;

	for (; n > 1; n -= 2, p += 2) {
		sum += p[0] << 8 | p[1];
		sum = (sum & 0xffff) + (sum >> 16);
	}
	return n ? sum + (p[0] << 8) : sum;
}

/* ones' complement sum with the pseudo header */
void udp_seal(struct udphdr *udp, size_t length, const union address *from,
	      const union address *to)
{
	size_t size = sizeof(*udp) + length;
	uint32_t sum = IPPROTO_UDP + (uint32_t)size;

	udp->source = from->in.sin_port;
	udp->dest = to->in.sin_port;
	udp->len = htons((uint16_t)size);
	udp->check = 0;
	if (from->sa.sa_family == AF_INET6) {
		sum = sum16(sum, &from->in6.sin6_addr, 16);
		sum = sum16(sum, &to->in6.sin6_addr, 16);
	} else {
		sum = sum16(sum, &from->in.sin_addr, 4);
		sum = sum16(sum, &to->in.sin_addr, 4);
	}
	sum = sum16(sum, udp, size);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	sum = ~sum & 0xffff;
	udp->check = htons(sum ? sum : 0xffff);
}

int udp_socket(const union address *from, bool raw)
{
	bool v6 = from->sa.sa_family == AF_INET6;
	union address a = *from;
	int on = 1, fd;

	/* raw IPv6 sockets take a protocol for a port */
	if (raw)
		a.in.sin_port = 0;
	fd = socket(a.sa.sa_family, raw ? SOCK_RAW : SOCK_DGRAM, IPPROTO_UDP);
	if (fd < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
	    setsockopt(fd, v6 ? IPPROTO_IPV6 : IPPROTO_IP,
		       v6 ? IPV6_TRANSPARENT : IP_TRANSPARENT, &on, sizeof(on)) ||
	    bind(fd, &a.sa, address_size(&a)))
		return -1;
	return fd;
}

int watch_socket(const char *interface)
{
	struct sockaddr_ll ll = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_ALL),
		.sll_ifindex = (int)if_nametoindex(interface),
	};
	int fd = socket(AF_PACKET, SOCK_DGRAM, htons(ETH_P_ALL));

	if (fd >= 0 && bind(fd, (struct sockaddr *)&ll, sizeof(ll)))
		return -1;
	return fd;
}

const uint8_t *udp_find(const uint8_t *packet, size_t size, size_t *length,
			union address *from, union address *to)
{
	const struct iphdr *ip4 = (const void *)packet;
	const struct ipv6hdr *ip6 = (const void *)packet;
	const struct udphdr *udp;
	size_t at;

	memset(from, 0, sizeof(*from));
	memset(to, 0, sizeof(*to));
	if (size >= sizeof(*ip4) && ip4->version == 4 && ip4->protocol == IPPROTO_UDP &&
	    !(ip4->frag_off & htons(0x3fff))) {
		at = ip4->ihl * 4;
		from->in.sin_family = AF_INET;
		from->in.sin_addr.s_addr = ip4->saddr;
		to->in.sin_family = AF_INET;
		to->in.sin_addr.s_addr = ip4->daddr;
	} else if (size >= sizeof(*ip6) && ip6->version == 6 && ip6->nexthdr == IPPROTO_UDP) {
		at = sizeof(*ip6);
		from->in6.sin6_family = AF_INET6;
		memcpy(&from->in6.sin6_addr, &ip6->saddr, 16);
		to->in6.sin6_family = AF_INET6;
		memcpy(&to->in6.sin6_addr, &ip6->daddr, 16);
	} else {
		return NULL;
	}
	if (size < at + sizeof(*udp))
		return NULL;
	udp = (const void *)(packet + at);
	from->in.sin_port = udp->source;
	to->in.sin_port = udp->dest;
	*length = size - at - sizeof(*udp);
	return packet + at + sizeof(*udp);
}
