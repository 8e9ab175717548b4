/* test_apply.c - entries count from when they were so, however late they were told or heard.
 * Proves R050, R086. */
#include "redis/apply.h"

#include "tests/redis/agent.h"

enum { US = 1, OTHER = 2 };

static const usec_t noon = 50000 * SECOND;

static struct policy policy;
static struct facts *facts;
static struct apply *apply;
static struct wire_writer *writer;
static uint64_t chain[4];

static int begin(void **state)
{
	(void)state;
	facts = agent_facts(&policy, "10.0.0.1:1", "10.0.0.2:1");
	apply = apply_new(facts, US);
	writer = wire_writer_new(OTHER);
	wire_begin(writer);
	agent_chain(chain, 1);
	return 0;
}

static int end(void **state)
{
	(void)state;
	wire_writer_free(writer);
	apply_free(apply);
	facts_free(facts);
	return 0;
}

/* Of the first engine. */
static struct wire_entry entry_of(enum wire_kind kind, usec_t age)
{
	struct wire_entry entry = { .kind = kind, .name = SPAN("10.0.0.1:1"), .age = age };

	entry.chain.ladder = (struct span){ policy.ladder.id, strlen(policy.ladder.id) };
	entry.chain.blocks = 4;
	memcpy(entry.chain.hashes, chain, sizeof(chain));
	return entry;
}

/* Told at that time, and heard a second later. */
static void hear(enum keys_stream stream, const struct wire_entry *entry, usec_t told)
{
	wire_begin(writer);
	assert_true(wire_put(writer, entry));
	assert_true(apply_open(apply, stream, wire_end(writer, 1), told, told + SECOND));
	while (apply_step(apply, 16, told + SECOND))
		;
}

static uint32_t held(usec_t now)
{
	return agent_held(facts, agent_target(facts, "10.0.0.1:1"), chain, now);
}

static void a_binding_lives_from_when_it_was_so(void **state)
{
	const struct wire_entry bound = entry_of(WIRE_BOUND, 60 * SECOND);

	(void)state;
	hear(KEYS_KEPT, &bound, noon);
	assert_int_equal(held(noon), 4);
	assert_int_equal(held(noon - 60 * SECOND + policy.prefix.ttl), 4);
	assert_int_equal(held(noon - 59 * SECOND + policy.prefix.ttl), 0);
}

static void an_eviction_takes_nothing_that_was_confirmed_after_it(void **state)
{
	const struct wire_entry evicted = entry_of(WIRE_EVICTED, 60 * SECOND);
	uint32_t s1 = agent_target(facts, "10.0.0.1:1");

	(void)state;
	prefix_index_confirm(facts->prefix, s1, chain, 4, &policy.ladder, noon - 70 * SECOND);
	prefix_index_confirm(facts->prefix, s1, chain, 2, &policy.ladder, noon - 50 * SECOND);
	hear(KEYS_KEPT, &evicted, noon);
	assert_int_equal(held(noon), 2);
}

static void a_restart_that_was_seen_is_no_news_later(void **state)
{
	const struct wire_entry forgotten = entry_of(WIRE_FORGOTTEN, 60 * SECOND);
	uint32_t s1 = agent_target(facts, "10.0.0.1:1");

	(void)state;
	prefix_index_confirm(facts->prefix, s1, chain, 4, &policy.ladder, noon - 70 * SECOND);
	prefix_index_forget(facts->prefix, s1);
	prefix_index_confirm(facts->prefix, s1, chain, 4, &policy.ladder, noon - 50 * SECOND);
	hear(KEYS_KEPT, &forgotten, noon);
	assert_int_equal(held(noon), 4);
}

static void a_pin_lives_from_when_it_was_so(void **state)
{
	struct wire_entry pinned = entry_of(WIRE_PINNED, 60 * SECOND);
	struct pin pin;

	(void)state;
	pinned.pin.key = (struct pin_key){ 7, 8 };
	hear(KEYS_KEPT, &pinned, noon);
	assert_true(pins_find(facts->sessions, pinned.pin.key, noon, &pin));
	assert_int_equal(pin.used_at, noon - 60 * SECOND);
}

static void an_ejection_is_over_when_it_is_there(void **state)
{
	struct wire_entry ejected = entry_of(WIRE_EJECTED, 60 * SECOND);

	(void)state;
	ejected.length = 50 * SECOND;
	hear(KEYS_LIVE, &ejected, noon);
	assert_int_equal(apply_counts(apply)->taken[WIRE_EJECTED], 0);
	assert_int_equal(apply_counts(apply)->left[WIRE_EJECTED], 1);
}

/* More than our clock has run. */
static void no_age_is_too_large(void **state)
{
	const struct wire_entry bound = entry_of(WIRE_BOUND, UINT32_MAX * MSEC);

	(void)state;
	hear(KEYS_KEPT, &bound, noon);
	assert_int_equal(apply_counts(apply)->left[WIRE_BOUND], 1);
	assert_int_equal(held(noon), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_binding_lives_from_when_it_was_so),
		TEST(an_eviction_takes_nothing_that_was_confirmed_after_it),
		TEST(a_restart_that_was_seen_is_no_news_later),
		TEST(a_pin_lives_from_when_it_was_so),
		TEST(an_ejection_is_over_when_it_is_there),
		TEST(no_age_is_too_large),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
