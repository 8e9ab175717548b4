/* test_peers.c - what others have counts as long as they say so, and not a second longer than it
 * may. Proves P058. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "policies/state/ledger_look.h"
#include "policies/state/peers.h"
#include "tests/failing_calloc.h"

enum { S1, S2, TARGETS };
enum { ANNA = 1, BERT = 2 };

static const usec_t noon = 1000 * SECOND;

struct bench {
	struct ledger *ledger;
	struct peers *peers;
};

static int set_up(void **state)
{
	struct bench *bench = calloc(1, sizeof(*bench));

	bench->ledger = ledger_new(TARGETS, 5 * SECOND, 600 * SECOND);
	bench->peers = peers_new(TARGETS, bench->ledger);
	*state = bench;
	return bench->ledger && bench->peers ? 0 : -1;
}

static int tear_down(void **state)
{
	struct bench *bench = *state;

	peers_free(bench->peers);
	ledger_free(bench->ledger);
	free(bench);
	return 0;
}

static struct peer_load load_of(uint32_t running)
{
	return (struct peer_load){ .work = { .running = running } };
}

static void says(struct bench *bench, uint64_t agent, uint64_t sequence, uint32_t target,
                 uint32_t running, usec_t now)
{
	struct peer_load load = load_of(running);

	assert_int_equal(peers_hear(bench->peers, agent, sequence, now, now), PEER_NEWS);
	peers_load(bench->peers, agent, target, &load);
}

static double running(const struct bench *bench, uint32_t target, usec_t now)
{
	return ledger_running(bench->ledger, target, now);
}

static void the_sum_of_all_agents_is_what_runs(void **state)
{
	struct bench *bench = *state;

	for (int i = 0; i < 3; i++)
		(void)ledger_acquire(bench->ledger, S1, 0, 0, noon);
	says(bench, ANNA, 1, S1, 20, noon);
	says(bench, BERT, 1, S1, 5, noon);
	says(bench, BERT, 2, S2, 1, noon);
	assert_true(running(bench, S1, noon) == 28);
	assert_true(running(bench, S2, noon) == 1);
	assert_int_equal(peers_work(bench->peers, S1).running, 25);
	assert_int_equal(ledger_work(bench->ledger, S1, noon).running, 3);
	assert_int_equal(peers_count(bench->peers), 2);
	assert_int_equal(peers_at(bench->peers, 1).agent, BERT);
	assert_int_equal(peers_at(bench->peers, 1).loads, 2);
	assert_int_equal(peers_at(bench->peers, 1).batches, 2);
	assert_int_equal(peers_at(bench->peers, 0).loads, 1);
}

static void what_is_said_replaces_what_was_said(void **state)
{
	struct bench *bench = *state;

	says(bench, ANNA, 1, S1, 20, noon);
	says(bench, ANNA, 2, S1, 7, noon + SECOND);
	assert_true(running(bench, S1, noon + SECOND) == 7);
	says(bench, ANNA, 3, S1, 0, noon + 2 * SECOND);
	assert_true(running(bench, S1, noon + 2 * SECOND) == 0);
}

static void a_batch_that_was_there_before_is_not_news(void **state)
{
	struct bench *bench = *state;

	says(bench, ANNA, 5, S1, 20, noon);
	assert_int_equal(peers_hear(bench->peers, ANNA, 5, noon, noon), PEER_SEEN);
	assert_int_equal(peers_hear(bench->peers, ANNA, 4, noon, noon), PEER_SEEN);
	assert_int_equal(peers_hear(bench->peers, ANNA, 7, noon, noon), PEER_NEWS);
}

static void what_is_too_old_to_count_makes_nobody_known(void **state)
{
	struct bench *bench = *state;
	struct peer_load load = load_of(20);

	assert_int_equal(peers_hear(bench->peers, ANNA, 1, noon, noon + PEER_SILENCE + 1),
	                 PEER_OLD);
	peers_load(bench->peers, ANNA, S1, &load);
	assert_true(running(bench, S1, noon) == 0);
	assert_int_equal(peers_count(bench->peers), 0);
	assert_int_equal(peers_hear(bench->peers, ANNA, 1, noon, noon + PEER_SILENCE), PEER_NEWS);
}

static void who_is_silent_for_three_seconds_is_forgotten_with_all_counts(void **state)
{
	struct bench *bench = *state;

	says(bench, ANNA, 1, S1, 20, noon);
	says(bench, BERT, 1, S1, 5, noon + SECOND);
	assert_int_equal(peers_sweep(bench->peers, noon + 3 * SECOND), 0);
	assert_true(running(bench, S1, noon + 3 * SECOND) == 25);
	assert_int_equal(peers_sweep(bench->peers, noon + 3 * SECOND + 1), 1);
	assert_true(running(bench, S1, noon + 3 * SECOND + 1) == 5);
	assert_int_equal(peers_count(bench->peers), 1);
	assert_int_equal(peers_sweep(bench->peers, noon + 5 * SECOND), 1);
	assert_true(running(bench, S1, noon + 5 * SECOND) == 0);
}

static void a_count_that_is_not_repeated_is_dropped_while_its_agent_goes_on(void **state)
{
	struct bench *bench = *state;

	says(bench, ANNA, 1, S1, 20, noon);
	for (uint64_t i = 1; i <= 4; i++)
		says(bench, ANNA, 1 + i, S2, 2, noon + i * SECOND);
	assert_int_equal(peers_sweep(bench->peers, noon + 3 * SECOND), 0);
	assert_true(running(bench, S1, noon + 3 * SECOND) == 20);
	(void)peers_sweep(bench->peers, noon + 4 * SECOND);
	assert_true(running(bench, S1, noon + 4 * SECOND) == 0);
	assert_true(running(bench, S2, noon + 4 * SECOND) == 2);
}

static void a_goodbye_takes_all_counts_at_once(void **state)
{
	struct bench *bench = *state;

	says(bench, ANNA, 1, S1, 20, noon);
	says(bench, BERT, 1, S1, 5, noon);
	peers_bye(bench->peers, ANNA);
	peers_bye(bench->peers, ANNA);
	peers_bye(bench->peers, 99);
	peers_bye(bench->peers, 0);
	assert_true(running(bench, S1, noon) == 5);
	assert_int_equal(peers_count(bench->peers), 1);
}

static void a_target_that_is_somebody_else_by_now_has_nothing(void **state)
{
	struct bench *bench = *state;

	says(bench, ANNA, 1, S1, 20, noon);
	peers_forget(bench->peers, S1);
	assert_true(running(bench, S1, noon) == 0);
	says(bench, ANNA, 2, S1, 3, noon);
	assert_true(running(bench, S1, noon) == 3);
	peers_bye(bench->peers, ANNA);
	assert_true(running(bench, S1, noon) == 0);
}

static void the_sixty_fifth_agent_is_not_heard(void **state)
{
	struct bench *bench = *state;
	struct peer_load load = load_of(1);

	for (uint64_t agent = 1; agent <= PEERS_MAX; agent++)
		says(bench, agent, 1, S1, 1, noon);
	assert_int_equal(peers_hear(bench->peers, PEERS_MAX + 1, 1, noon, noon), PEER_FULL);
	assert_int_equal(peers_hear(bench->peers, 0, 1, noon, noon), PEER_FULL);
	peers_load(bench->peers, PEERS_MAX + 1, S1, &load);
	assert_true(running(bench, S1, noon) == PEERS_MAX);
	peers_bye(bench->peers, 7);
	says(bench, PEERS_MAX + 1, 1, S1, 1, noon);
	assert_true(running(bench, S1, noon) == PEERS_MAX);
}

static void numbers_from_outside_do_not_overflow_a_sum(void **state)
{
	struct bench *bench = *state;
	struct peer_load most = { .work = { UINT32_MAX, UINT32_MAX, UINT64_MAX, UINT64_MAX },
		                  .acquired = UINT64_MAX };
	struct load_seen seen;

	for (uint64_t agent = 1; agent <= PEERS_MAX; agent++) {
		assert_int_equal(peers_hear(bench->peers, agent, 1, noon, noon), PEER_NEWS);
		peers_load(bench->peers, agent, S1, &most);
	}
	assert_true(ledger_load(bench->ledger, S1, noon, &seen) == PEERS_MAX * 1048576.0);
	assert_int_equal(seen.own, 0);
	assert_true(seen.prefill_tokens == (double)(PEERS_MAX * (float)UINT32_MAX));
	assert_true(seen.resident_tokens == (double)(PEERS_MAX * (float)UINT32_MAX));
	for (uint64_t agent = 1; agent <= PEERS_MAX; agent++)
		says(bench, agent, 2, S1, 0, noon);
	assert_true(running(bench, S1, noon) == 0);
	assert_int_equal(peers_work(bench->peers, S1).prefill_tokens, 0);
}

static void tokens_of_others_count_with_ours(void **state)
{
	struct bench *bench = *state;
	struct peer_load load = { .work = { 2, 1, 4000, 9000 } };
	struct load_seen seen;

	(void)ledger_acquire(bench->ledger, S1, 1000, 2256, noon);
	assert_int_equal(peers_hear(bench->peers, ANNA, 1, noon, noon), PEER_NEWS);
	peers_load(bench->peers, ANNA, S1, &load);
	assert_true(ledger_load(bench->ledger, S1, noon, &seen) == 3);
	assert_int_equal(seen.own, 1);
	assert_true(seen.prefill_tokens == 5000);
	assert_true(seen.resident_tokens == 11256);
	assert_int_equal(peers_work(bench->peers, S1).awaiting, 1);
}

static void drift_is_of_our_own_haproxy_and_comes_on_top(void **state)
{
	struct bench *bench = *state;

	(void)ledger_acquire(bench->ledger, S1, 0, 0, noon);
	says(bench, ANNA, 1, S1, 4, noon);
	for (usec_t i = 0; i < 3; i++)
		ledger_reconcile(bench->ledger, S1, 3, noon + i * SECOND);
	assert_true(running(bench, S1, noon + 2 * SECOND) == 1 + 4 + 2);
}

static void how_fast_others_take_slots_is_known_and_fades(void **state)
{
	struct bench *bench = *state;
	struct peer_load load = { .acquired = 1000 };
	usec_t now = noon;

	/* Ten per 100 ms; the first number says only where it begins. */
	for (uint64_t i = 1; i <= 200; i++, now += 100 * MSEC, load.acquired += 10) {
		assert_int_equal(peers_hear(bench->peers, ANNA, i, now, now), PEER_NEWS);
		peers_load(bench->peers, ANNA, S1, &load);
		if (i == 1)
			assert_true(peers_rate(bench->peers, S1, now) == 0);
	}
	now -= 100 * MSEC;
	assert_true(fabs(peers_rate(bench->peers, S1, now) - 100) < 5);
	assert_true(fabs(peers_rate(bench->peers, S1, now + PEER_RATE_FADE) -
	                 peers_rate(bench->peers, S1, now) * exp(-1)) < 1e-9);
	assert_true(peers_rate(bench->peers, S2, now) == 0);
}

static void an_agent_that_counts_anew_took_what_it_says(void **state)
{
	struct bench *bench = *state;
	struct peer_load load = { .acquired = 1000 };

	assert_int_equal(peers_hear(bench->peers, ANNA, 1, noon, noon), PEER_NEWS);
	peers_load(bench->peers, ANNA, S1, &load);
	load.acquired = 4;
	assert_int_equal(peers_hear(bench->peers, ANNA, 2, noon, noon), PEER_NEWS);
	peers_load(bench->peers, ANNA, S1, &load);
	assert_true(fabs(peers_rate(bench->peers, S1, noon) - 5 / 2.0) < 1e-9);
}

static void the_age_is_the_mean_of_what_is_known(void **state)
{
	struct bench *bench = *state;

	assert_true(peers_age(bench->peers, noon) == 0);
	says(bench, ANNA, 1, S1, 20, noon);
	says(bench, BERT, 1, S1, 5, noon + SECOND);
	assert_true(fabs(peers_age(bench->peers, noon + 2 * SECOND) - 1.5) < 1e-9);
	assert_true(fabs(peers_age(bench->peers, noon + SECOND) - 0.5) < 1e-9);
}

/* Two slots a second by us, six by others: each of ours stands for three that are not heard of yet.
 */
static void what_we_do_the_others_are_taken_to_do_until_they_say(void **state)
{
	struct bench *bench = *state;
	struct peer_load load = { .acquired = 0 };
	struct load_seen seen;
	struct slot slot;
	usec_t now = noon;

	for (uint64_t i = 1; i <= 200; i++, now += 100 * MSEC) {
		if (i % 5 == 0) {
			for (int k = 0; k < 2; k++) {
				slot = ledger_acquire(bench->ledger, S2, 0, 0, now);
				assert_true(ledger_release(bench->ledger, slot, now));
			}
			load.acquired++;
		}
		assert_int_equal(peers_hear(bench->peers, ANNA, i, now - 200 * MSEC, now),
		                 PEER_NEWS);
		peers_load(bench->peers, ANNA, S2, &load);
		(void)peers_sweep(bench->peers, now);
	}
	slot = ledger_acquire(bench->ledger, S1, 100, 1000, now);
	assert_true(fabs(ledger_load(bench->ledger, S1, now, &seen) - 1.5) < 0.05);
	assert_true(fabs(seen.prefill_tokens - 150) < 5);
	assert_true(fabs(seen.resident_tokens - 1500) < 50);
	ledger_first_byte(bench->ledger, &slot, now);
	assert_true(fabs(ledger_load(bench->ledger, S1, now, &seen) - 1.5) < 0.05);
	assert_true(fabs(seen.prefill_tokens) < 1);
	/* What is said is as of 200 ms ago: what we took since is not in it. */
	now += 100 * MSEC;
	says(bench, ANNA, 201, S1, 0, now);
	(void)peers_sweep(bench->peers, now);
	assert_int_equal(peers_hear(bench->peers, ANNA, 202, now - 200 * MSEC, now), PEER_NEWS);
	load = (struct peer_load){ .work = { .running = 5 } };
	peers_load(bench->peers, ANNA, S1, &load);
	assert_true(fabs(running(bench, S1, now) - (1 + 5 + 0.5)) < 0.15);
	/* And later it is. */
	now += 400 * MSEC;
	says(bench, ANNA, 203, S1, 5, now);
	(void)peers_sweep(bench->peers, now);
	assert_true(fabs(running(bench, S1, now) - (1 + 5)) < 1e-6);
	peers_bye(bench->peers, ANNA);
	(void)peers_sweep(bench->peers, now);
	assert_true(running(bench, S1, now) == 1);
	slot = ledger_acquire(bench->ledger, S1, 0, 0, now);
	assert_true(running(bench, S1, now) == 2);
}

/* Who has little to do does not take itself for the measure of all. */
static void a_slot_stands_for_one_of_each_agent_at_most(void **state)
{
	struct bench *bench = *state;
	struct peer_load load = { .acquired = 0 };
	usec_t now = noon;

	for (uint64_t i = 1; i <= 50; i++, now += 100 * MSEC, load.acquired += 100) {
		assert_int_equal(peers_hear(bench->peers, ANNA, i, now, now), PEER_NEWS);
		peers_load(bench->peers, ANNA, S2, &load);
		(void)peers_sweep(bench->peers, now);
	}
	(void)ledger_acquire(bench->ledger, S1, 0, 0, now);
	assert_true(running(bench, S1, now) == 2);
}

struct heard {
	uint32_t room, count;
	uint32_t targets[8];
	struct work works[8];
	uint64_t acquired[8];
};

static bool hear(void *data, uint32_t target, const struct work *own, uint64_t acquired)
{
	struct heard *heard = data;

	if (heard->count == heard->room)
		return false;
	heard->targets[heard->count] = target;
	heard->works[heard->count] = *own;
	heard->acquired[heard->count++] = acquired;
	return true;
}

static struct heard told(struct bench *bench, bool whole, uint32_t room)
{
	struct heard heard = { .room = room };

	ledger_tell(bench->ledger, noon, whole, hear, &heard);
	return heard;
}

static void only_what_changed_is_told(void **state)
{
	struct bench *bench = *state;
	struct slot slot = ledger_acquire(bench->ledger, S2, 100, 300, noon);
	struct heard heard = told(bench, false, 8);

	assert_int_equal(heard.count, 1);
	assert_int_equal(heard.targets[0], S2);
	assert_int_equal(heard.works[0].running, 1);
	assert_int_equal(heard.works[0].awaiting, 1);
	assert_int_equal(heard.works[0].prefill_tokens, 100);
	assert_int_equal(heard.works[0].resident_tokens, 300);
	assert_int_equal(heard.acquired[0], 1);
	assert_int_equal(told(bench, false, 8).count, 0);
	assert_int_equal(told(bench, true, 8).count, 1);
	ledger_first_byte(bench->ledger, &slot, noon);
	assert_int_equal(told(bench, false, 8).works[0].awaiting, 0);
	assert_true(ledger_release(bench->ledger, slot, noon));
	heard = told(bench, false, 8);
	assert_int_equal(heard.count, 1);
	assert_int_equal(heard.works[0].running, 0);
	assert_int_equal(heard.acquired[0], 1);
	assert_int_equal(told(bench, true, 8).count, 0);
	/* Taken and given back within a tick: the counts are the same, and yet there was one. */
	assert_true(
	        ledger_release(bench->ledger, ledger_acquire(bench->ledger, S2, 0, 0, noon), noon));
	assert_int_equal(told(bench, false, 8).acquired[0], 2);
}

static void who_moves_is_taken_there_and_counts_of_others_are_never_told(void **state)
{
	struct bench *bench = *state;
	struct slot slot = ledger_acquire_unseen(bench->ledger, S1, 0, 0, noon);
	struct heard heard;

	ledger_move(bench->ledger, &slot, S2, noon);
	ledger_move(bench->ledger, &slot, S2, noon);
	says(bench, ANNA, 1, S1, 20, noon);
	heard = told(bench, true, 8);
	assert_int_equal(heard.count, 2);
	assert_int_equal(heard.works[0].running, 0);
	assert_int_equal(heard.acquired[0], 1);
	assert_int_equal(heard.works[1].running, 1);
	assert_int_equal(heard.acquired[1], 1);
}

static void a_reader_with_little_room_comes_to_all(void **state)
{
	struct bench *bench = *state;
	struct heard heard;

	(void)ledger_acquire(bench->ledger, S1, 0, 0, noon);
	(void)ledger_acquire(bench->ledger, S2, 0, 0, noon);
	assert_int_equal(told(bench, false, 0).count, 0);
	heard = told(bench, true, 1);
	assert_int_equal(heard.targets[0], S1);
	heard = told(bench, true, 1);
	assert_int_equal(heard.targets[0], S2);
	heard = told(bench, true, 1);
	assert_int_equal(heard.targets[0], S1);
	assert_int_equal(told(bench, false, 8).count, 0);
}

static void out_of_memory_is_told(void **state)
{
	struct bench *bench = *state;

	for (int next = 1; next <= 5; next++) {
		failing = next;
		assert_null(peers_new(TARGETS, bench->ledger));
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(the_sum_of_all_agents_is_what_runs),
		TEST(what_is_said_replaces_what_was_said),
		TEST(a_batch_that_was_there_before_is_not_news),
		TEST(what_is_too_old_to_count_makes_nobody_known),
		TEST(who_is_silent_for_three_seconds_is_forgotten_with_all_counts),
		TEST(a_count_that_is_not_repeated_is_dropped_while_its_agent_goes_on),
		TEST(a_goodbye_takes_all_counts_at_once),
		TEST(a_target_that_is_somebody_else_by_now_has_nothing),
		TEST(the_sixty_fifth_agent_is_not_heard),
		TEST(numbers_from_outside_do_not_overflow_a_sum),
		TEST(tokens_of_others_count_with_ours),
		TEST(drift_is_of_our_own_haproxy_and_comes_on_top),
		TEST(how_fast_others_take_slots_is_known_and_fades),
		TEST(an_agent_that_counts_anew_took_what_it_says),
		TEST(the_age_is_the_mean_of_what_is_known),
		TEST(what_we_do_the_others_are_taken_to_do_until_they_say),
		TEST(a_slot_stands_for_one_of_each_agent_at_most),
		TEST(only_what_changed_is_told),
		TEST(who_moves_is_taken_there_and_counts_of_others_are_never_told),
		TEST(a_reader_with_little_room_comes_to_all),
		TEST(out_of_memory_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
