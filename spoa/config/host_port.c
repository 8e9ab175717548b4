/* host_port.c - the last colon parts host and port. */
#include "spoa/config/host_port.h"

#include <stdlib.h>
#include <string.h>

/* Letters of a name, of IPv4 or of IPv6: all that needs no quotes in a haproxy.cfg. */
static bool is_host(struct span host, bool bracketed)
{
	static const char allowed[] =
	        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.:";

	return host.len > 0 && strspn(host.at, allowed) >= host.len &&
	       (bracketed || !memchr(host.at, ':', host.len));
}

bool host_port_read(const char *text, struct span *ret_host, unsigned *ret_port,
                    struct error *error)
{
	const char *colon = strrchr(text, ':');
	struct span host = { text, colon ? (size_t)(colon - text) : 0 };
	const char *digits = colon ? colon + 1 : "";
	size_t length = strlen(digits);
	unsigned long port = strtoul(digits, NULL, 10);
	bool bracketed = host.len > 2 && host.at[0] == '[' && host.at[host.len - 1] == ']';

	if (bracketed)
		host = (struct span){ host.at + 1, host.len - 2 };
	if (!is_host(host, bracketed) || length > 5 || strspn(digits, "0123456789") != length ||
	    port < 1 || port > 65535)
		return error_set(error, "\"%s\" is not HOST:PORT, such as 127.0.0.1:9902", text);
	*ret_host = host;
	*ret_port = (unsigned)port;
	return true;
}
