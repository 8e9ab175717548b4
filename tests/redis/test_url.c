/* test_url.c - all forms of a store's place, and what is said of those that are none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "redis/url.h"

static struct redis_url read_well(const char *text)
{
	struct redis_url url;
	struct error error = { "" };

	memset(&url, 0xff, sizeof(url));
	if (!redis_url_read(text, &url, &error))
		fail_msg("%s: %s", text, error.text);
	return url;
}

static void a_host_its_port_and_a_database(void **state)
{
	struct redis_url url = read_well("redis://store.example");

	(void)state;
	assert_int_equal(url.place, REDIS_AT_HOST);
	assert_false(url.tls);
	assert_int_equal(url.host_count, 1);
	assert_string_equal(url.hosts[0].name, "store.example");
	assert_int_equal(url.hosts[0].port, 6379);
	assert_int_equal(url.db, 0);
	assert_string_equal(url.user, "");
	assert_string_equal(url.password, "");
	url = read_well("redis://10.0.0.1:7000/3");
	assert_string_equal(url.hosts[0].name, "10.0.0.1");
	assert_int_equal(url.hosts[0].port, 7000);
	assert_int_equal(url.db, 3);
	url = read_well("redis://10.0.0.1/");
	assert_int_equal(url.db, 0);
	url = read_well("valkey://a/16383");
	assert_int_equal(url.db, 16383);
	assert_true(read_well("rediss://a").tls);
	assert_true(read_well("valkeys://a").tls);
}

static void an_ipv6_address(void **state)
{
	struct redis_url url = read_well("redis://:s@[fe80::1]:6380/1");

	(void)state;
	assert_string_equal(url.hosts[0].name, "fe80::1");
	assert_int_equal(url.hosts[0].port, 6380);
	url = read_well("redis://[::1]");
	assert_string_equal(url.hosts[0].name, "::1");
	assert_int_equal(url.hosts[0].port, 6379);
}

static void user_and_password(void **state)
{
	struct redis_url url = read_well("redis://agent:p%40ss%3Aw%2ford@h/2");

	(void)state;
	assert_string_equal(url.user, "agent");
	assert_string_equal(url.password, "p@ss:w/ord");
	assert_string_equal(url.hosts[0].name, "h");
	url = read_well("redis://:only@h");
	assert_string_equal(url.user, "");
	assert_string_equal(url.password, "only");
	url = read_well("redis://:a@b:c@h"); /* nobody encoded it */
	assert_string_equal(url.password, "a@b:c");
	url = read_well("redis://ag%40ent@h"); /* the password is in a file */
	assert_string_equal(url.user, "ag@ent");
	assert_string_equal(url.password, "");
	assert_string_equal(url.hosts[0].name, "h");
}

static void a_unix_socket(void **state)
{
	struct redis_url url = read_well("unix:///run/redis/redis.sock?db=4");

	(void)state;
	assert_int_equal(url.place, REDIS_AT_PATH);
	assert_string_equal(url.path, "/run/redis/redis.sock");
	assert_int_equal(url.db, 4);
	assert_int_equal(url.host_count, 0);
	url = read_well("unix:/run/r.sock");
	assert_string_equal(url.path, "/run/r.sock");
	url = read_well("unix://agent:secret@/run/r%20s.sock");
	assert_string_equal(url.path, "/run/r s.sock");
	assert_string_equal(url.user, "agent");
	assert_string_equal(url.password, "secret");
}

static void sentinels_and_the_primarys_name(void **state)
{
	struct redis_url url = read_well("redis+sentinel://:s@a,b:26380,[::1]:1/my%20primary/5");

	(void)state;
	assert_int_equal(url.place, REDIS_BY_SENTINEL);
	assert_int_equal(url.host_count, 3);
	assert_string_equal(url.hosts[0].name, "a");
	assert_int_equal(url.hosts[0].port, 26379);
	assert_int_equal(url.hosts[1].port, 26380);
	assert_string_equal(url.hosts[2].name, "::1");
	assert_string_equal(url.primary, "my primary");
	assert_int_equal(url.db, 5);
	assert_true(read_well("rediss+sentinel://a/p").tls);
	assert_int_equal(read_well("redis+sentinel://a/p/").db, 0);
}

static void several_nodes_of_a_cluster(void **state)
{
	struct redis_url url = read_well("redis://a:1,b:2,c:3,d,e,f,g,h");

	(void)state;
	assert_int_equal(url.host_count, 8);
	assert_int_equal(url.hosts[1].port, 2);
	assert_string_equal(url.hosts[7].name, "h");
}

/* Column and expectation; never what was between : and @. */
static void what_is_none(void **state)
{
	static const struct {
		const char *text, *says;
	} wrong[] = {
		{ "", "column 1: expected redis://, " },
		{ "redis", "column 1: expected redis://, " },
		{ "http://a", "column 1: expected redis://, " },
		{ "redis:/a", "column 1: expected redis://, " },
		{ "redis://", "column 9: expected a host" },
		{ "redis:///3", "column 9: expected a host" },
		{ "redis://:6379", "column 9: expected a host" },
		{ "redis://a:", "column 11: expected a port from 1 to 65535" },
		{ "redis://a:0", "column 11: expected a port from 1 to 65535" },
		{ "redis://a:65536", "column 11: expected a port from 1 to 65535" },
		{ "redis://a:63x", "column 13: expected a port from 1 to 65535" },
		{ "redis://a b", "column 10: expected a host" },
		{ "redis://[::1", "column 13: expected ] after an IPv6 address" },
		{ "redis://[::1]6379", "column 14: expected a colon and a port" },
		{ "redis://[ab!]", "column 12: expected an IPv6 address" },
		{ "redis://a/x", "column 11: expected a database from 0 to 16383" },
		{ "redis://a/16384", "column 11: expected a database from 0 to 16383" },
		{ "redis://a/3/4", "column 12: expected a database from 0 to 16383" },
		{ "redis://a?db=3", "column 10: expected / and a database, or the end" },
		{ "redis://@a", "column 9: expected a user or :password before @" },
		{ "redis://user:@a", "column 14: expected a password before @" },
		{ "redis://:%4@a", "column 10: expected %XX with two hex digits, not 00" },
		{ "redis://:%00@a", "column 10: expected %XX with two hex digits, not 00" },
		{ "redis://:a\nb@a", "column 11: expected no control character" },
		{ "redis://a,", "column 11: expected a host" },
		{ "redis://a,b,c,d,e,f,g,h,i", "column 25: expected at most 8 hosts" },
		{ "unix:", "column 6: expected an absolute path" },
		{ "unix:run/r", "column 6: expected an absolute path" },
		{ "unix:/", "column 7: expected a path" },
		{ "unix:///r?x=3", "column 10: expected ?db=N or the end" },
		{ "unix:///r?db=", "column 14: expected a database from 0 to 16383" },
		{ "redis+sentinel://a", "column 19: expected / and the primary's name" },
		{ "redis+sentinel://a/", "column 20: expected the primary's name" },
		{ "redis+sentinel://a//3", "column 20: expected the primary's name" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct redis_url url = { .db = 77 };
		struct error error = { "" };

		if (redis_url_read(wrong[i].text, &url, &error))
			fail_msg("%s was taken", wrong[i].text);
		if (!strstr(error.text, wrong[i].says))
			fail_msg("%s: %s", wrong[i].text, error.text);
		assert_int_equal(url.db, 77); /* as it was */
	}
}

static void too_long_is_said_and_nothing_else_happens(void **state)
{
	char text[1024];
	struct redis_url url;
	struct error error = { "" };

	(void)state;
	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	memcpy(text, "redis://", 8);
	assert_false(redis_url_read(text, &url, &error));
	assert_non_null(strstr(error.text, "at most 255 bytes"));
	memcpy(text, "unix:///", 8);
	error.text[0] = '\0';
	assert_false(redis_url_read(text, &url, &error));
	assert_non_null(strstr(error.text, "a shorter text"));
	memcpy(text, "redis://:", 9);
	text[900] = '@';
	error.text[0] = '\0';
	assert_false(redis_url_read(text, &url, &error));
	assert_null(strstr(error.text, "aaaa"));
}

static void shown_without_its_password(void **state)
{
	static const char *const pairs[][2] = {
		{ "redis://u:secret@h:7000/3", "redis://u:****@h:7000/3" },
		{ "redis://:secret@h", "redis://:****@h:6379" },
		{ "redis://u@h", "redis://u@h:6379" },
		{ "rediss://[::1]", "rediss://[::1]:6379" },
		{ "unix://:secret@/run/r.sock?db=2", "unix://:****@/run/r.sock?db=2" },
		{ "redis+sentinel://a,b:1/p/4", "redis+sentinel://a:26379,b:1/p/4" },
		{ "rediss+sentinel://a/p", "rediss+sentinel://a:26379/p" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		struct redis_url url = read_well(pairs[i][0]);
		char text[REDIS_URL_SHOWN_MAX];

		redis_url_show(&url, text);
		assert_string_equal(text, pairs[i][1]);
	}
}

static void shown_cut_if_it_is_long(void **state)
{
	struct redis_url url = { .place = REDIS_BY_SENTINEL, .host_count = 8 };
	char text[REDIS_URL_SHOWN_MAX];

	(void)state;
	for (int i = 0; i < 8; i++)
		memset(url.hosts[i].name, 'h', REDIS_HOST_MAX - 1);
	redis_url_show(&url, text);
	assert_int_equal(strlen(text), REDIS_URL_SHOWN_MAX - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_host_its_port_and_a_database),
		cmocka_unit_test(an_ipv6_address),
		cmocka_unit_test(user_and_password),
		cmocka_unit_test(a_unix_socket),
		cmocka_unit_test(sentinels_and_the_primarys_name),
		cmocka_unit_test(several_nodes_of_a_cluster),
		cmocka_unit_test(what_is_none),
		cmocka_unit_test(too_long_is_said_and_nothing_else_happens),
		cmocka_unit_test(shown_without_its_password),
		cmocka_unit_test(shown_cut_if_it_is_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
