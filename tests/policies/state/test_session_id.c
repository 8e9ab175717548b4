/* test_session_id.c - ids that name a replica, and whom a key falls to.
 * Proves R160, R162, R163, B020, B053. */
#include "policies/state/session_id.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define SPAN(text) ((struct span){ (text), strlen(text) })

static const char *const addresses[] = { "10.0.0.1:8000", "10.0.0.2:8000", "10.0.0.3:8000" };
static const struct session_policy by_address = { .format = SESSION_ADDRESS };
static const struct session_policy opaque = { .format = SESSION_OPAQUE, .seed = 42 };

static void expect_weights(const char *key, uint64_t first, uint64_t second, uint64_t third)
{
	struct rendezvous rendezvous;

	rendezvous_begin(&rendezvous, SPAN(key));
	assert_true(rendezvous_weight(&rendezvous, addresses[0]) == first);
	assert_true(rendezvous_weight(&rendezvous, addresses[1]) == second);
	assert_true(rendezvous_weight(&rendezvous, addresses[2]) == third);
}

/* The published vectors: other agents, and other programs, must come to the same. */
static void the_vectors_of_keys(void **state)
{
	(void)state;
	expect_weights("s-1", 0xff9e2450d4360096, 0x94df05c613c19b4f, 0xa622ddfb04cb4024);
	expect_weights("s-2", 0xb8c485b1793fd90d, 0xe480508625b6f397, 0x88f4c945e4423305);
}

static void the_vectors_of_ids(void **state)
{
	char text[SESSION_ID_MAX];

	(void)state;
	assert_int_equal(session_id_write(&by_address, addresses[0], text), 20);
	assert_string_equal(text, "MTAuMC4wLjE6ODAwMA==");
	assert_int_equal(session_id_write(&opaque, addresses[0], text), 16);
	assert_string_equal(text, "5db438e50fd5578e");
}

/* A key and an address do not run into each other, and a longer address than before
 * leaves nothing behind. */
static void weights_are_of_key_and_address_apart(void **state)
{
	struct rendezvous one, other;
	uint64_t weight;

	(void)state;
	rendezvous_begin(&one, SPAN("ab"));
	rendezvous_begin(&other, SPAN("a"));
	assert_true(rendezvous_weight(&one, "c:1") != rendezvous_weight(&other, "bc:1"));
	weight = rendezvous_weight(&one, "c:1");
	(void)rendezvous_weight(&one, "longer:8000");
	assert_true(rendezvous_weight(&one, "c:1") == weight);
}

/* 30 000 keys over three, each a third: a fourth takes a quarter from each, and no
 * key goes from one old to another. */
static void keys_are_spread_and_stay(void **state)
{
	static const char fourth[] = "10.0.0.4:8000";
	unsigned int counts[4] = { 0 };

	(void)state;
	for (unsigned int i = 0; i < 30000; i++) {
		struct rendezvous rendezvous;
		uint64_t most = 0;
		size_t best = 0;
		char key[16];

		snprintf(key, sizeof(key), "k%u", i);
		rendezvous_begin(&rendezvous, SPAN(key));
		for (size_t a = 0; a < 3; a++) {
			uint64_t weight = rendezvous_weight(&rendezvous, addresses[a]);

			best = weight > most ? a : best;
			most = weight > most ? weight : most;
		}
		counts[rendezvous_weight(&rendezvous, fourth) > most ? 3 : best]++;
	}
	/* 4 x sqrt(p (1 - p) N) of a quarter is 300. */
	for (size_t a = 0; a < 4; a++)
		assert_in_range(counts[a], 7200, 7800);
}

static void a_written_id_is_read_and_named(void **state)
{
	static const char *const all[] = { "10.0.0.1:8000",      "10.0.0.12:80", "10.0.0.123:8000",
		                           "[2001:db8::1]:8000", "[::1]:1",      "10.0.0.1:8000#0",
		                           "10.0.0.1:8000#13" };
	const struct session_policy *const policies[] = { &by_address, &opaque };

	(void)state;
	for (size_t p = 0; p < 2; p++) {
		for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
			char text[SESSION_ID_MAX];
			struct session_id id;

			(void)session_id_write(policies[p], all[i], text);
			assert_true(session_id_read(SPAN(text), &id));
			for (size_t j = 0; j < sizeof(all) / sizeof(all[0]); j++)
				assert_true(session_id_names(policies[p], &id, all[j]) == (i == j));
			/* The other form is an id, but nobody's. */
			assert_false(session_id_names(policies[1 - p], &id, all[i]));
		}
	}
}

static void expect_no_id(const char *text, size_t len)
{
	struct session_id id = { .number = 7 };

	assert_false(session_id_read((struct span){ text, len }, &id));
	assert_true(id.number == 7);
}

#define EXPECT_NO_ID(text) expect_no_id(text, sizeof(text) - 1)

static void what_has_no_form_of_an_id_is_a_key(void **state)
{
	(void)state;
	EXPECT_NO_ID("");
	EXPECT_NO_ID("my-chat-17");
	EXPECT_NO_ID("MTAuMC4wLjE6ODAwMA"); /* no padding */
	EXPECT_NO_ID("MTAuMC4wLjE6ODAwMA=");
	EXPECT_NO_ID("MTAuMC4wLjE6ODAwMA===");
	EXPECT_NO_ID("MTAuMC4wLjE6ODAwMB=="); /* bits behind the end */
	EXPECT_NO_ID("MTAuMC4wLjE6ODAw=A==");
	EXPECT_NO_ID("MTAuMC4wLjE6ODAwMA==\n");
	EXPECT_NO_ID("MTAuMC4wLjE6ODA*MA==");
	EXPECT_NO_ID("MTAuMC4wLjE=");             /* 10.0.0.1, no port */
	EXPECT_NO_ID("OjgwMDA=");                 /* :8000 */
	EXPECT_NO_ID("MTAuMC4wLjE6");             /* 10.0.0.1: */
	EXPECT_NO_ID("MTAuMC4wLjE6ODAwMDAw");     /* a port of six digits */
	EXPECT_NO_ID("MTAuMC4wLjE6ODAwMCM=");     /* 10.0.0.1:8000#, no rank */
	EXPECT_NO_ID("MTAuMC4wLjE6ODAwMCMxMjM="); /* a rank of three digits */
	EXPECT_NO_ID("MTAuMC4wLjEjMQ==");         /* 10.0.0.1#1, no port */
	EXPECT_NO_ID("IzE=");
	EXPECT_NO_ID("aG9zdDo4MDAw");    /* host:8000 */
	EXPECT_NO_ID("5db438e50fd5578"); /* 15 digits */
	EXPECT_NO_ID("5db438e50fd5578e0");
	EXPECT_NO_ID("5DB438E50FD5578E");
	EXPECT_NO_ID("5db438e50fd5578g");
	EXPECT_NO_ID("%00");
	expect_no_id("AAAA\0AAA", 8);
}

/* Base64 of 63 digits and a port is the longest that may be an address; it needs no
 * more room than there is. */
static void a_long_id_has_room_or_is_none(void **state)
{
	char address[ADDRESS_MAX_BYTES + 4], text[SESSION_ID_MAX];
	struct session_id id;

	(void)state;
	memset(address, '1', sizeof(address));
	memcpy(address + ADDRESS_MAX_BYTES - 1 - 5, ":8000", 6);
	assert_int_equal(strlen(address), ADDRESS_MAX_BYTES - 1);
	(void)session_id_write(&by_address, address, text);
	assert_true(session_id_read(SPAN(text), &id));
	assert_string_equal(id.address, address);
	/* 61 ones and ":80" are 64 bytes. */
	EXPECT_NO_ID("MTExMTExMTExMTExMTExMTExMTExMTExMTExMTExMTExMTExMTExMTExMTEx"
	             "MTExMTExMTExMTExMTExMTo4MA==");
}

static void a_secret_is_a_number_or_a_text(void **state)
{
	(void)state;
	assert_true(session_seed("42") == 42);
	assert_true(session_seed("0") == 0);
	assert_true(session_seed("9999999999999999999") == 9999999999999999999u);
	assert_true(session_seed("42 ") != 42);
	assert_true(session_seed("swordfish") != session_seed("swordfisi"));
	assert_true(session_seed("99999999999999999999") != session_seed("99999999999999999998"));
}

static void a_key_longer_than_any_is_cut(void **state)
{
	static char key[SESSION_KEY_MAX + 100];
	struct rendezvous one, other;

	(void)state;
	memset(key, 'A', sizeof(key));
	rendezvous_begin(&one, (struct span){ key, sizeof(key) });
	rendezvous_begin(&other, (struct span){ key, SESSION_KEY_MAX });
	assert_true(rendezvous_weight(&one, "c:1") == rendezvous_weight(&other, "c:1"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_vectors_of_keys),
		cmocka_unit_test(the_vectors_of_ids),
		cmocka_unit_test(weights_are_of_key_and_address_apart),
		cmocka_unit_test(keys_are_spread_and_stay),
		cmocka_unit_test(a_written_id_is_read_and_named),
		cmocka_unit_test(what_has_no_form_of_an_id_is_a_key),
		cmocka_unit_test(a_long_id_has_room_or_is_none),
		cmocka_unit_test(a_secret_is_a_number_or_a_text),
		cmocka_unit_test(a_key_longer_than_any_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
