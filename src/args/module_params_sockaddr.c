/* Formats socket addresses. */
#include "config.h"
#include "args/module_params.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

#define SHOWN_MAX 32 /* maximum number of bytes shown of an address of an unknown family */

static void show_ipv4(struct formatter *s, const unsigned char *bytes)
{
	struct sockaddr_in in;
	char host[INET_ADDRSTRLEN];

	memcpy(&in, bytes, sizeof(in));
	inet_ntop(AF_INET, &in.sin_addr, host, sizeof(host));
	out_printf(&s->out, "%s:%u", host, ntohs(in.sin_port));
}

static void show_ipv6(struct formatter *s, const unsigned char *bytes)
{
	struct sockaddr_in6 in;
	char host[INET6_ADDRSTRLEN];

	memcpy(&in, bytes, sizeof(in));
	inet_ntop(AF_INET6, &in.sin6_addr, host, sizeof(host));
	out_printf(&s->out, "[%s", host);
	if (in.sin6_scope_id)
		out_printf(&s->out, "%%%" PRIu32, in.sin6_scope_id);
	out_printf(&s->out, "]:%u", ntohs(in.sin6_port));
}

/* A path ends at its first zero byte. An abstract name begins with a zero byte and ends with the socket address. */
static void show_unix(struct formatter *s, const unsigned char *path, size_t size)
{
	const bool is_abstract = size && !path[0];
	size_t length = is_abstract ? size - 1 : strnlen((const char *)path, size);

	if (is_abstract)
		out_add(&s->out, "@");
	show_quoted(s, path + is_abstract, length);
}

static const char *family_name(unsigned family)
{
	static const struct {
		unsigned family;
		const char *name;
	} families[] = {
		{AF_UNSPEC, "AF_UNSPEC"},   {AF_INET, "AF_INET"},           {AF_INET6, "AF_INET6"},
		{AF_NETLINK, "AF_NETLINK"}, {AF_PACKET, "AF_PACKET"},       {AF_ALG, "AF_ALG"},
		{AF_VSOCK, "AF_VSOCK"},     {AF_BLUETOOTH, "AF_BLUETOOTH"}, {AF_CAN, "AF_CAN"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(families); i++)
		if (families[i].family == family)
			return families[i].name;
	return NULL;
}

static void show_other(struct formatter *s, unsigned family, const unsigned char *bytes, size_t size)
{
	const char *name = family_name(family);

	if (name)
		out_add(&s->out, name);
	else
		out_printf(&s->out, "family %u", family);
	if (size)
		out_add(&s->out, " 0x");
	for (size_t i = 0; i < size && i < SHOWN_MAX; i++)
		out_printf(&s->out, "%02x", bytes[i]);
	if (size > SHOWN_MAX)
		out_add(&s->out, "...");
}

void show_sockaddr(struct formatter *s, uint64_t address, uint64_t length)
{
	const size_t head = offsetof(struct sockaddr, sa_data);
	const uint64_t size = length < sizeof(struct sockaddr_storage) ? length : sizeof(struct sockaddr_storage);
	unsigned char bytes[VALUE_BYTES];
	struct value_view view;
	sa_family_t family;

	if (!address || size < head) {
		show_address(s, address);
		return;
	}
	if (!formatter_read(s, address, size, bytes, &view) || view.size < head) {
		show_unreadable(s, address);
		return;
	}
	memcpy(&family, bytes, sizeof(family));
	if (family == AF_INET && view.size >= sizeof(struct sockaddr_in))
		show_ipv4(s, bytes);
	else if (family == AF_INET6 && view.size >= sizeof(struct sockaddr_in6))
		show_ipv6(s, bytes);
	else if (family == AF_UNIX)
		show_unix(s, bytes + head, (size_t)view.size - head);
	else
		show_other(s, family, bytes + head, (size_t)view.size - head);
}
