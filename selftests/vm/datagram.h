/* SPDX-License-Identifier: GPL-2.0 */
/*
 * UDP datagrams from whatever address, IPv4 and IPv6, and fields of their gagg
 * header.
 */
#ifndef DATAGRAM_H
#define DATAGRAM_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/gagg_wire.h>
#include <linux/udp.h>

union address {
	struct sockaddr sa;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

/* sin_port and sin6_port are at one place */
_Static_assert(offsetof(struct sockaddr_in, sin_port) ==
	       offsetof(struct sockaddr_in6, sin6_port), "ports");

/* false: @text is no address */
bool address_parse(const char *text, uint16_t port, union address *a);
socklen_t address_size(const union address *a);
bool address_equal(const union address *a, const union address *b);

/* a field of struct gagg_hdr, or of what follows it; "cookie" is half of the tag */
struct field {
	const char *name;
	size_t at;
	size_t size;
};

extern const struct field header_fields[];
extern const size_t header_fields_count;

/* NULL: there is no field of this name, which has @n characters */
const struct field *field_find(const char *name, size_t n);
/* little-endian, as this machine */
uint64_t field_get(const struct field *f, const uint8_t *payload);
void field_set(const struct field *f, uint8_t *payload, uint64_t value);

/*
 * udp_seal - make the header of a datagram, its checksum included
 * @udp: header and @length bytes of payload that follow it
 */
void udp_seal(struct udphdr *udp, size_t length, const union address *from,
	      const union address *to);

/*
 * udp_socket - a socket that sends from any address, and its port
 * @raw: it takes UDP headers, and sends from any port
 * Returns a file descriptor, or -1 and errno.
 */
int udp_socket(const union address *from, bool raw);

/* a socket that sees all IP packets of an interface; -1 and errno */
int watch_socket(const char *interface);

/*
 * udp_find - the UDP datagram in a packet that begins with its IP header
 * Returns its payload and sets @length, @from and @to; NULL: there is none.
 */
const uint8_t *udp_find(const uint8_t *packet, size_t size, size_t *length,
			union address *from, union address *to);

#endif
