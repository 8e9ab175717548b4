/* test_address.c - where to listen, in words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <netinet/in.h>

#include "spoa/server/address.h"

static struct listen_address good(const char *text)
{
	struct listen_address address;
	struct error error = { "" };

	if (!address_parse(text, &address, &error))
		fail_msg("%s", error.text);
	return address;
}

static void bad(const char *text, const char *why)
{
	struct listen_address address = { .fd = 77 };
	struct error error = { "" };

	assert_false(address_parse(text, &address, &error));
	assert_int_equal(address.fd, 77);
	if (!strstr(error.text, why))
		fail_msg("%s: %s", text, error.text);
}

static void ipv4_has_a_port(void **state)
{
	struct listen_address address = good("127.0.0.1:9000");
	const struct sockaddr_in *ip = (const struct sockaddr_in *)&address.socket;

	(void)state;
	assert_int_equal(ip->sin_family, AF_INET);
	assert_int_equal(ntohs(ip->sin_port), 9000);
	assert_int_equal(ntohl(ip->sin_addr.s_addr), 0x7f000001);
	assert_int_equal(address.length, sizeof(*ip));
	assert_int_equal(address.fd, -1);
	assert_null(address_path(&address));
}

static void ipv6_stands_in_brackets(void **state)
{
	struct listen_address address = good("[::1]:65535");
	const struct sockaddr_in6 *ip = (const struct sockaddr_in6 *)&address.socket;

	(void)state;
	assert_int_equal(ip->sin6_family, AF_INET6);
	assert_int_equal(ntohs(ip->sin6_port), 65535);
	assert_int_equal(ip->sin6_addr.s6_addr[15], 1);
	bad("::1:9000", "expected 127.0.0.1:9000");
	bad("[127.0.0.1]:9000", "expected");
}

static void a_unix_socket_is_an_absolute_path(void **state)
{
	struct listen_address address = good("unix:/run/x.sock");
	char longest[200] = "unix:/";

	(void)state;
	assert_string_equal(address_path(&address), "/run/x.sock");
	address = good("unix@/run/y.sock");
	assert_string_equal(address_path(&address), "/run/y.sock");
	bad("unix:run/x.sock", "absolute");
	bad("unix@", "absolute");
	memset(longest + 6, 'x', 106);
	(void)good(longest); /* 107 bytes of path */
	longest[6 + 106] = 'x';
	bad(longest, "longer than 107");
}

static void an_inherited_descriptor_is_a_number(void **state)
{
	(void)state;
	assert_int_equal(good("fd@3").fd, 3);
	bad("fd@", "number of a descriptor");
	bad("fd@-1", "number of a descriptor");
	bad("fd@3x", "number of a descriptor");
}

static void what_is_none_of_these_says_what_was_expected(void **state)
{
	char longest[100];

	(void)state;
	bad("", "expected a port");
	bad("127.0.0.1", "expected a port");
	bad("127.0.0.1:", "expected a port");
	bad("127.0.0.1:65536", "expected a port");
	bad("127.0.0.1:99999999999999999999", "expected a port");
	bad("127.0.0.1: 9", "expected a port");
	bad("localhost:9000", "expected 127.0.0.1:9000");
	bad(":9000", "expected 127.0.0.1:9000");
	bad("[]:9000", "expected 127.0.0.1:9000");
	bad("[:9000", "expected 127.0.0.1:9000");
	memset(longest, '1', sizeof(longest));
	memcpy(longest + sizeof(longest) - 3, ":9", 3);
	bad(longest, "no address");
}

int main(void)
{
	const struct CMUnitTest addresses[] = {
		cmocka_unit_test(ipv4_has_a_port),
		cmocka_unit_test(ipv6_stands_in_brackets),
		cmocka_unit_test(a_unix_socket_is_an_absolute_path),
		cmocka_unit_test(an_inherited_descriptor_is_a_number),
		cmocka_unit_test(what_is_none_of_these_says_what_was_expected),
	};

	return cmocka_run_group_tests(addresses, NULL, NULL);
}
