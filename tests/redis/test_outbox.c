/* test_outbox.c - what is learnt waits for its batch, by name, and is bounded.
 * Proves R050, R054, R055, R086. */
#include "redis/outbox.h"

#include "tests/redis/agent.h"

static struct policy policy;
static struct facts *facts;
static struct outbox *outbox;
static struct wire_writer *writer;
static struct wire_reader *reader;
static const struct share *share;
static uint32_t s1, s2;
static const uint64_t chain[] = { 11, 22, 33 };

static int begin(void **state)
{
	(void)state;
	facts = agent_facts(&policy, "10.0.0.1:1", "10.0.0.2:1");
	outbox = outbox_new(facts, 4096);
	writer = wire_writer_new(1);
	reader = wire_reader_new();
	share = outbox_share(outbox);
	s1 = agent_target(facts, "10.0.0.1:1");
	s2 = agent_target(facts, "10.0.0.2:1");
	outbox_tick(outbox, 100 * SECOND);
	return 0;
}

static int end(void **state)
{
	(void)state;
	outbox_free(outbox);
	wire_writer_free(writer);
	wire_reader_free(reader);
	facts_free(facts);
	return 0;
}

static void bound(uint32_t holder, uint32_t blocks)
{
	share->calls->bound(share->data, holder, chain, blocks, &policy.ladder);
}

/* What waits, opened for reading; the position behind it. */
static uint64_t fetch(enum keys_stream stream, uint64_t position)
{
	wire_begin(writer);
	position = outbox_fill(outbox, stream, position, writer);
	assert_int_equal(wire_open(reader, wire_end(writer, 1)), WIRE_RESULT_OK);
	return position;
}

static bool is(struct span span, const char *text)
{
	return span.len == strlen(text) && memcmp(span.at, text, span.len) == 0;
}

static void everything_is_told_in_its_stream_and_order(void **state)
{
	const struct pin_key key = { 7, 8 };
	struct wire_entry entry;

	(void)state;
	bound(s1, 3);
	share->calls->evicted(share->data, s2, chain, 2, &policy.ladder);
	share->calls->forgotten(share->data, s2);
	share->calls->pinned(share->data, &key, TARGET_NONE, s1);
	share->calls->pinned(share->data, &key, s1, s2);
	share->calls->ejected(share->data, s1, 10 * SECOND);
	share->calls->recovered(share->data, s1);
	assert_int_equal(outbox_waiting(outbox, KEYS_KEPT), 5);
	assert_int_equal(outbox_waiting(outbox, KEYS_LIVE), 2);

	(void)fetch(KEYS_KEPT, 0);
	assert_true(wire_next(reader, &entry));
	assert_int_equal(entry.kind, WIRE_BOUND);
	assert_true(is(entry.name, "10.0.0.1:1") && is(entry.chain.ladder, policy.ladder.id));
	assert_int_equal(entry.chain.blocks, 3);
	assert_memory_equal(entry.chain.hashes, chain, sizeof(chain));
	assert_true(wire_next(reader, &entry));
	assert_int_equal(entry.kind, WIRE_EVICTED);
	assert_int_equal(entry.chain.blocks, 2);
	assert_true(wire_next(reader, &entry));
	assert_int_equal(entry.kind, WIRE_FORGOTTEN);
	assert_true(is(entry.name, "10.0.0.2:1"));
	assert_true(wire_next(reader, &entry));
	assert_int_equal(entry.kind, WIRE_PINNED);
	assert_true(entry.pin.key.hash == 7 && entry.pin.key.check == 8 && !entry.pin.from.at);
	assert_true(wire_next(reader, &entry));
	assert_true(is(entry.pin.from, "10.0.0.1:1") && is(entry.name, "10.0.0.2:1"));
	assert_false(wire_next(reader, &entry));

	(void)fetch(KEYS_LIVE, 0);
	assert_true(wire_next(reader, &entry));
	assert_int_equal(entry.kind, WIRE_EJECTED);
	assert_int_equal(entry.length, 10 * SECOND);
	assert_true(wire_next(reader, &entry));
	assert_int_equal(entry.kind, WIRE_RECOVERED);
	assert_false(wire_next(reader, &entry));
}

static void an_instance_is_told_by_its_name(void **state)
{
	struct wire_entry entry;

	(void)state;
	bound(fleet_instance_at(facts->fleet, 0)->target->id, 1);
	(void)fetch(KEYS_KEPT, 0);
	assert_true(wire_next(reader, &entry));
	assert_true(is(entry.name, "@chat"));
}

/* What does not arrive is told again. */
static void nothing_is_forgotten_before_it_arrived(void **state)
{
	uint64_t first, second;
	struct wire_entry entry;

	(void)state;
	bound(s1, 1);
	first = fetch(KEYS_KEPT, 0);
	bound(s2, 2);
	second = fetch(KEYS_KEPT, first);
	assert_true(wire_next(reader, &entry));
	assert_int_equal(entry.chain.blocks, 2);
	assert_false(wire_next(reader, &entry));
	outbox_done(outbox, KEYS_KEPT, first);
	assert_int_equal(outbox_waiting(outbox, KEYS_KEPT), 1);
	assert_int_equal(fetch(KEYS_KEPT, 0), second);
	outbox_done(outbox, KEYS_KEPT, second);
	assert_int_equal(outbox_waiting(outbox, KEYS_KEPT), 0);
}

static void a_binding_is_told_anew_after_ten_seconds_only(void **state)
{
	const struct pin_key key = { 7, 8 };

	(void)state;
	bound(s1, 3);
	bound(s1, 3);
	outbox_tick(outbox, 110 * SECOND - 1);
	bound(s1, 3);
	assert_int_equal(outbox_waiting(outbox, KEYS_KEPT), 1);
	assert_int_equal(outbox_counts(outbox).spared, 2);
	bound(s2, 3); /* another holder, another depth */
	bound(s1, 2);
	assert_int_equal(outbox_waiting(outbox, KEYS_KEPT), 3);
	outbox_tick(outbox, 110 * SECOND);
	bound(s1, 3);
	assert_int_equal(outbox_waiting(outbox, KEYS_KEPT), 4);
	/* Pins are all told: who wrote them counts on reading them back. */
	share->calls->pinned(share->data, &key, s1, s1);
	share->calls->pinned(share->data, &key, s1, s1);
	assert_int_equal(outbox_waiting(outbox, KEYS_KEPT), 6);
}

/* All that was told arrives, and is lost there some time later. */
static void lose(enum keys_stream stream, usec_t now)
{
	outbox_done(outbox, stream, fetch(stream, 0));
	assert_int_equal(outbox_waiting(outbox, stream), 0);
	outbox_tick(outbox, now);
	outbox_again(outbox, stream);
	(void)fetch(stream, 0);
}

static void what_the_store_has_lost_is_told_again_as_old_as_it_is(void **state)
{
	struct wire_entry entry;

	(void)state;
	prefix_index_confirm(facts->prefix, s1, chain, 3, &policy.ladder, 100 * SECOND);
	bound(s1, 3);
	outbox_tick(outbox, 101 * SECOND);
	share->calls->evicted(share->data, s2, chain, 2, &policy.ladder);
	lose(KEYS_KEPT, 130 * SECOND);
	assert_true(wire_next(reader, &entry));
	assert_int_equal(entry.kind, WIRE_BOUND);
	assert_int_equal(entry.chain.blocks, 3);
	assert_memory_equal(entry.chain.hashes, chain, sizeof(chain));
	assert_true(is(entry.chain.ladder, policy.ladder.id) && is(entry.name, "10.0.0.1:1"));
	assert_int_equal(entry.age, 30 * SECOND);
	assert_true(wire_next(reader, &entry));
	assert_int_equal(entry.kind, WIRE_EVICTED);
	assert_int_equal(entry.age, 29 * SECOND);
	assert_false(wire_next(reader, &entry));
	assert_int_equal(outbox_counts(outbox).again, 2);
	assert_int_equal(outbox_counts(outbox).told, 2);
}

static void of_what_was_told_twice_the_later_is_told_again(void **state)
{
	struct wire_entry entry;

	(void)state;
	prefix_index_confirm(facts->prefix, s1, chain, 3, &policy.ladder, 100 * SECOND);
	bound(s1, 3);
	bound(s1, 2);
	outbox_tick(outbox, 120 * SECOND);
	bound(s1, 3);
	lose(KEYS_KEPT, 130 * SECOND);
	assert_true(wire_next(reader, &entry));
	assert_int_equal(entry.chain.blocks, 2);
	assert_int_equal(entry.age, 30 * SECOND);
	assert_true(wire_next(reader, &entry));
	assert_int_equal(entry.chain.blocks, 3);
	assert_int_equal(entry.age, 10 * SECOND);
	assert_false(wire_next(reader, &entry));
}

static void only_what_is_still_held_is_told_again(void **state)
{
	struct wire_entry entry;

	(void)state;
	prefix_index_confirm(facts->prefix, s1, chain, 2, &policy.ladder, 100 * SECOND);
	prefix_index_bind(facts->prefix, s1, chain, 3, &policy.ladder, 100 * SECOND);
	prefix_index_bind(facts->prefix, s2, chain, 3, &policy.ladder, 100 * SECOND);
	bound(s1, 3);
	bound(s2, 3);
	lose(KEYS_KEPT, 100 * SECOND);
	assert_true(wire_next(reader, &entry));
	assert_true(is(entry.name, "10.0.0.1:1"));
	assert_int_equal(entry.chain.blocks, 2);
	assert_true(is(entry.chain.ladder, policy.ladder.id));
	assert_false(wire_next(reader, &entry));
	/* And lost again, when it has expired here, too. */
	lose(KEYS_KEPT, 100 * SECOND + policy.prefix.ttl + SECOND);
	assert_false(wire_next(reader, &entry));
}

static void a_pin_is_told_again_where_it_is(void **state)
{
	const struct pin_key there = { 7, 8 }, moved = { 9, 8 }, gone = { 11, 8 };
	struct wire_entry entry;

	(void)state;
	(void)pins_hold(facts->sessions, there, s1, 100 * SECOND);
	(void)pins_hold(facts->sessions, moved, s2, 100 * SECOND);
	share->calls->pinned(share->data, &there, TARGET_NONE, s1);
	share->calls->pinned(share->data, &moved, TARGET_NONE, s1);
	share->calls->pinned(share->data, &gone, TARGET_NONE, s1);
	lose(KEYS_KEPT, 100 * SECOND);
	assert_true(wire_next(reader, &entry));
	assert_int_equal(entry.pin.key.hash, 7);
	assert_null(entry.pin.from.at);
	assert_false(wire_next(reader, &entry));
}

/* So that what our own requests did since stands until all that we wrote is read. */
static void a_pin_that_is_told_again_is_one_more_to_be_read(void **state)
{
	const struct pin_key key = { 7, 8 };
	const struct pin_entry claimed = { TARGET_NONE, s1, true };
	const usec_t now = 100 * SECOND;
	struct pin pin;

	(void)state;
	(void)pins_hold(facts->sessions, key, s1, now);
	share->calls->pinned(share->data, &key, TARGET_NONE, s1);
	(void)pins_heard(facts->sessions, key, &claimed, now, now);
	lose(KEYS_KEPT, now);
	assert_true(pins_move(facts->sessions, key, s1, s2, now));
	(void)pins_heard(facts->sessions, key, &claimed, now, now);
	assert_true(pins_find(facts->sessions, key, now, &pin));
	assert_int_equal(pin.target, s2);
}

/* Whoever looks at the engine has seen it meanwhile, and ejections pass. */
static void what_befell_a_target_is_told_again_for_a_while(void **state)
{
	struct wire_entry entry;

	(void)state;
	share->calls->forgotten(share->data, s1);
	share->calls->ejected(share->data, s2, 30 * SECOND);
	lose(KEYS_KEPT, 110 * SECOND - 1);
	assert_true(wire_next(reader, &entry));
	assert_int_equal(entry.kind, WIRE_FORGOTTEN);
	lose(KEYS_LIVE, 110 * SECOND - 1);
	assert_true(wire_next(reader, &entry));
	assert_int_equal(entry.kind, WIRE_EJECTED);
	assert_int_equal(entry.age, 9999 * MSEC);
	lose(KEYS_KEPT, 110 * SECOND);
	assert_false(wire_next(reader, &entry));
	lose(KEYS_LIVE, 110 * SECOND);
	assert_false(wire_next(reader, &entry));
}

/* As it is behind a store that was away. */
static void what_had_to_wait_says_for_how_long(void **state)
{
	struct wire_entry entry;

	(void)state;
	bound(s1, 1);
	outbox_tick(outbox, 101 * SECOND - 1);
	(void)fetch(KEYS_KEPT, 0);
	assert_true(wire_next(reader, &entry));
	assert_int_equal(entry.age, 0);
	outbox_tick(outbox, 101 * SECOND);
	(void)fetch(KEYS_KEPT, 0);
	assert_true(wire_next(reader, &entry));
	assert_int_equal(entry.age, SECOND);
	assert_int_equal(outbox_counts(outbox).again, 0);
}

static void what_is_told_again_is_looked_up_a_part_at_a_time(void **state)
{
	uint64_t position = 0;

	(void)state;
	outbox_free(outbox);
	outbox = outbox_new(facts, 65536);
	share = outbox_share(outbox);
	outbox_tick(outbox, 100 * SECOND);
	for (uint64_t i = 0; i < 300; i++) {
		prefix_index_confirm(facts->prefix, s1, &i, 1, &policy.ladder, 100 * SECOND);
		share->calls->bound(share->data, s1, &i, 1, &policy.ladder);
	}
	lose(KEYS_KEPT, 100 * SECOND);
	assert_int_equal(outbox_counts(outbox).again, 128);
	position = fetch(KEYS_KEPT, fetch(KEYS_KEPT, 0));
	outbox_done(outbox, KEYS_KEPT, position);
	assert_int_equal(outbox_waiting(outbox, KEYS_KEPT), 44);
}

/* Others have heard of the eviction, so they must hear that it is back. */
static void what_was_evicted_is_told_again_at_once(void **state)
{
	(void)state;
	bound(s1, 3);
	share->calls->evicted(share->data, s1, chain, 3, &policy.ladder);
	bound(s1, 3);
	assert_int_equal(outbox_waiting(outbox, KEYS_KEPT), 3);
	share->calls->forgotten(share->data, s1);
	bound(s1, 3);
	assert_int_equal(outbox_waiting(outbox, KEYS_KEPT), 5);
}

static void what_nobody_fetches_is_dropped_and_counted(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 1000; i++) {
		const uint64_t other[] = { i };

		share->calls->bound(share->data, s1, other, 1, &policy.ladder);
	}
	assert_in_range(outbox_waiting(outbox, KEYS_KEPT), 20, 60);
	assert_int_equal(outbox_counts(outbox).dropped + outbox_waiting(outbox, KEYS_KEPT), 1000);
	assert_int_equal(outbox_counts(outbox).told, 1000);
}

/* An id that means somebody else by now would bind the prompt to a stranger. */
static void who_is_gone_is_not_told_of(void **state)
{
	const struct server_fact servers[] = {
		{ SPAN("chat"), SPAN("s1"), SPAN("10.0.0.1:1"), .weight = 1, .up = true },
		{ SPAN("chat"), SPAN("s2"), SPAN("10.0.0.3:1"), .weight = 1, .up = true },
	};
	const struct pin_key key = { 7, 8 };
	struct wire_entry entry;

	(void)state;
	bound(s2, 1);
	share->calls->pinned(share->data, &key, s2, s1);
	(void)fleet_apply(facts->fleet, 0, servers, 2, 2 * SECOND, facts_forget, facts);
	(void)fetch(KEYS_KEPT, 0);
	assert_true(wire_next(reader, &entry));
	assert_int_equal(entry.kind, WIRE_PINNED);
	assert_null(entry.pin.from.at);
	assert_false(wire_next(reader, &entry));
	assert_int_equal(outbox_counts(outbox).gone, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(everything_is_told_in_its_stream_and_order),
		TEST(an_instance_is_told_by_its_name),
		TEST(nothing_is_forgotten_before_it_arrived),
		TEST(a_binding_is_told_anew_after_ten_seconds_only),
		TEST(what_the_store_has_lost_is_told_again_as_old_as_it_is),
		TEST(of_what_was_told_twice_the_later_is_told_again),
		TEST(only_what_is_still_held_is_told_again),
		TEST(a_pin_is_told_again_where_it_is),
		TEST(a_pin_that_is_told_again_is_one_more_to_be_read),
		TEST(what_befell_a_target_is_told_again_for_a_while),
		TEST(what_had_to_wait_says_for_how_long),
		TEST(what_is_told_again_is_looked_up_a_part_at_a_time),
		TEST(what_was_evicted_is_told_again_at_once),
		TEST(what_nobody_fetches_is_dropped_and_counted),
		TEST(who_is_gone_is_not_told_of),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
