/* test_adapter.c - the replicas that an adapter is spread over. Proves B064. */
#include "policies/decider.h"
#include "tests/near.h"
#include "tests/policies/adapted.h"

static int begin(void **state)
{
	*state = adapted_new(1, 8, 4);
	return 0;
}

static int end(void **state)
{
	adapted_free(*state);
	return 0;
}

/* What explain says of it. */
static struct decision look(struct adapted *adapted, struct request request)
{
	struct decision decision;

	decider_explain(adapted->world->decider, &request, adapted->world->now, &decision);
	return decision;
}

static void busy_all(struct adapted *adapted, uint32_t requests)
{
	char server[8];

	for (int i = 1; i <= 8; i++) {
		snprintf(server, sizeof(server), "s%d", i);
		world_busy(adapted->world, "a", server, requests);
	}
}

/* So many of its requests are in flight, wherever. */
static void heat(struct adapted *adapted, uint32_t i, uint32_t requests)
{
	uint32_t instance = world_instance(adapted->world, "a")->target->id;
	uint64_t lora = lora_id(SPAN(adapted->adapters[i].name));
	usec_t cooling = adapted->world->policy.lora.cooling;

	for (uint32_t n = 0; n < requests; n++)
		assert_true(adapters_begin(adapted->world->facts->adapters, lora, instance,
		                           adapted->world->now, cooling));
}

static const struct candidate *candidate(const struct decision *decision, const char *server)
{
	const struct level_trace *trace = &decision->levels[1];

	for (size_t i = 0; i < trace->count; i++)
		if (strcmp(fleet_replica_name(trace->pool[i].replica, 0), server) == 0)
			return &trace->pool[i];
	fail();
	return NULL;
}

static bool fell(const struct decision *decision, const char *server)
{
	return candidate(decision, server)->dropped_by == &stage_adapter;
}

static void expect_first(struct adapted *adapted, uint32_t i, uint32_t count)
{
	struct decision decision = look(adapted, adapted_ask(adapted, i));

	assert_int_equal(decision.levels[1].adapter.wanted, count);
	assert_false(decision.levels[1].adapter.spilled);
	for (uint32_t place = 0; place < 8; place++)
		assert_int_equal(fell(&decision, adapted_order(adapted, i, place)), place >= count);
}

/* Of adapter 0 the one at this place stands alone. */
static void expect_only(struct adapted *adapted, uint32_t place)
{
	struct decision decision = look(adapted, adapted_ask(adapted, 0));

	assert_int_equal(decision.levels[1].standing, 1);
	expect_server(&decision, adapted_order(adapted, 0, place));
}

static void a_cold_adapter_goes_to_one_of_its_own(void **state)
{
	struct adapted *adapted = *state;
	bool differ = false;

	for (uint32_t i = 0; i < 4; i++) {
		expect_first(adapted, i, 1);
		differ |= strcmp(adapted_order(adapted, i, 0), adapted_order(adapted, 0, 0)) != 0;
	}
	assert_true(differ);
	assert_int_equal(look(adapted, world_ask(adapted->world)).levels[1].adapter.wanted, 0);
}

/* The formula. 80 in flight on 8: an 81st, with 25 of them of one adapter, is worth
 * 25 / 10.125 = 2.47 replicas; of 16, 16 / 10.125 = 1.58; of 10, one. */
static void who_has_a_share_of_the_load_has_that_of_the_replicas(void **state)
{
	struct adapted *adapted = *state;

	busy_all(adapted, 10);
	heat(adapted, 0, 24);
	heat(adapted, 1, 15);
	heat(adapted, 2, 9);
	assert_near(look(adapted, adapted_ask(adapted, 0)).levels[1].adapter.heat, 25);
	expect_first(adapted, 0, 3);
	expect_first(adapted, 1, 2);
	expect_first(adapted, 2, 1);
}

/* Of a fleet that is almost idle: one replica for each four requests. */
static void a_few_requests_are_no_reason_for_another(void **state)
{
	struct adapted *adapted = *state;

	heat(adapted, 0, 3);
	expect_first(adapted, 0, 1);
	heat(adapted, 0, 1);
	expect_first(adapted, 0, 2);
	heat(adapted, 0, 4);
	expect_first(adapted, 0, 3);
	adapted->world->policy.lora.max_replicas = 2;
	expect_first(adapted, 0, 2);
	adapted->world->policy.lora.max_replicas = 0;
	heat(adapted, 0, 1000);
	assert_int_equal(look(adapted, adapted_ask(adapted, 0)).levels[1].adapter.wanted, 8);
	adapted->world->policy.lora.requests = 0; /* one each: of an idle fleet, its own share */
	assert_int_equal(look(adapted, adapted_ask(adapted, 1)).levels[1].adapter.wanted, 8);
}

/* 40 of ours and 40 of others': the adapter is in theirs, too. 13 x 81 / 41 / 10.125 = 2.54. */
static void what_other_agents_send_counts_alike(void **state)
{
	struct adapted *adapted = *state;
	char server[8];

	busy_all(adapted, 5);
	heat(adapted, 0, 12);
	expect_first(adapted, 0, 3); /* 13 / 5.125 */
	for (int i = 1; i <= 8; i++) {
		snprintf(server, sizeof(server), "s%d", i);
		for (usec_t poll = 0; poll < 3; poll++)
			ledger_reconcile(adapted->world->facts->ledger,
			                 adapted_target(adapted, server), 10,
			                 adapted->world->now + poll * SECOND);
	}
	expect_first(adapted, 0, 3);
	heat(adapted, 0, 3); /* 16 x 1.9756 / 10.125 = 3.12; without the others' 16 / 10.125 */
	expect_first(adapted, 0, 4);
}

static void heat_is_forgotten_slowly(void **state)
{
	struct adapted *adapted = *state;
	uint32_t instance = world_instance(adapted->world, "a")->target->id;

	heat(adapted, 0, 11);
	expect_first(adapted, 0, 3);
	for (int n = 0; n < 11; n++)
		adapters_end(adapted->world->facts->adapters, lora_id(SPAN("l0")), instance,
		             adapted->world->now, 60 * SECOND);
	expect_first(adapted, 0, 3); /* 11 / 4 */
	adapted->world->now += 60 * SECOND;
	expect_first(adapted, 0, 2); /* 5.5 / 4 */
	adapted->world->now += 60 * SECOND;
	expect_first(adapted, 0, 1);
}

/* Five more than the idlest: four are allowed. */
static void when_all_of_them_are_too_busy_there_is_one_more(void **state)
{
	struct adapted *adapted = *state;
	struct decision decision;

	world_busy(adapted->world, "a", adapted_order(adapted, 0, 0), 4);
	expect_first(adapted, 0, 1);
	world_busy(adapted->world, "a", adapted_order(adapted, 0, 0), 1);
	decision = look(adapted, adapted_ask(adapted, 0));
	assert_true(decision.levels[1].adapter.spilled);
	assert_false(fell(&decision, adapted_order(adapted, 0, 0)));
	assert_false(fell(&decision, adapted_order(adapted, 0, 1)));
	assert_true(fell(&decision, adapted_order(adapted, 0, 2)));
	expect_server(&decision, adapted_order(adapted, 0, 1));
	/* The next one is as busy: the one behind it. */
	world_busy(adapted->world, "a", adapted_order(adapted, 0, 1), 5);
	decision = look(adapted, adapted_ask(adapted, 0));
	assert_true(fell(&decision, adapted_order(adapted, 0, 1)));
	expect_server(&decision, adapted_order(adapted, 0, 2));
	/* Who has it already goes first. */
	adapters_sent(adapted->world->facts->adapters,
	              adapted_target(adapted, adapted_order(adapted, 0, 6)), lora_id(SPAN("l0")),
	              adapted->world->now);
	decision = look(adapted, adapted_ask(adapted, 0));
	assert_true(fell(&decision, adapted_order(adapted, 0, 2)));
	expect_server(&decision, adapted_order(adapted, 0, 6));
	assert_int_equal(adapted->world->facts->counters->adapters_spilled, 0);
	(void)adapted_send(adapted, 0);
	assert_int_equal(adapted->world->facts->counters->adapters_spilled, 1);
}

/* One of two is enough for nobody else to be asked. */
static void one_that_is_not_too_busy_will_do(void **state)
{
	struct adapted *adapted = *state;
	struct decision decision;

	heat(adapted, 0, 4);
	world_busy(adapted->world, "a", adapted_order(adapted, 0, 0), 9);
	decision = look(adapted, adapted_ask(adapted, 0));
	assert_false(decision.levels[1].adapter.spilled);
	expect_server(&decision, adapted_order(adapted, 0, 1));
}

static void admission_lets_it_go_anywhere(void **state)
{
	struct adapted *adapted = *state;
	struct decision decision;
	char server[8];

	world_entry(adapted->world)->admit.running = 3;
	world_busy(adapted->world, "a", adapted_order(adapted, 0, 0), 3);
	decision = look(adapted, adapted_ask(adapted, 0));
	assert_int_equal(decision.outcome, OUTCOME_ROUTED);
	assert_true(decision.levels[1].adapter.spilled);
	assert_string_not_equal(server_of(&decision), adapted_order(adapted, 0, 0));
	assert_int_equal(decision.reason, REASON_LOAD);
	/* Nobody admits it: that is an overload, as of any request. */
	busy_all(adapted, 9);
	for (int i = 1; i <= 8; i++) {
		snprintf(server, sizeof(server), "s%d", i);
		ledger_reconcile(adapted->world->facts->ledger, adapted_target(adapted, server), 9,
		                 adapted->world->now);
	}
	decision = look(adapted, adapted_ask(adapted, 0));
	assert_int_equal(decision.outcome, OUTCOME_REJECTED);
	assert_int_equal(decision.status, 429);
}

/* Its conversation lies elsewhere, where it was when it was hot. */
static void who_has_the_conversation_and_the_adapter_stands(void **state)
{
	struct adapted *adapted = *state;
	const char *holder = adapted_order(adapted, 0, 5);
	struct request request = adapted_ask(adapted, 0);
	struct decision decision;

	prompt_set(&request, 40000, 40000, 1, 1);
	decision = look(adapted, request);
	prefix_index_bind(adapted->world->facts->prefix, adapted_target(adapted, holder),
	                  adapted->world->decider->prompt.chain, 12, &adapted->world->policy.ladder,
	                  adapted->world->now);
	decision = look(adapted, request);
	assert_true(fell(&decision, holder)); /* it may have the adapter no more */
	adapters_sent(adapted->world->facts->adapters, adapted_target(adapted, holder),
	              lora_id(SPAN("l0")), adapted->world->now);
	decision = look(adapted, request);
	assert_false(fell(&decision, holder));
	assert_false(fell(&decision, adapted_order(adapted, 0, 0)));
	expect_server(&decision, holder);
	/* What its own replica has as well is no reason. */
	prefix_index_bind(adapted->world->facts->prefix,
	                  adapted_target(adapted, adapted_order(adapted, 0, 0)),
	                  adapted->world->decider->prompt.chain, 12, &adapted->world->policy.ladder,
	                  adapted->world->now);
	decision = look(adapted, request);
	assert_true(fell(&decision, holder));
}

static void a_session_stays_where_the_adapter_is_still(void **state)
{
	struct adapted *adapted = *state;
	struct world *world = adapted->world;
	const char *pinned = adapted_order(adapted, 0, 4);
	struct request request = adapted_ask(adapted, 0);
	struct decision decision;

	world_entry(world)->session_mode = SESSION_HARD;
	request.session = SPAN("conversation");
	adapters_sent(world->facts->adapters, adapted_target(adapted, pinned), lora_id(SPAN("l0")),
	              world->now);
	decision = look(adapted, request);
	expect_server(&decision, adapted_order(adapted, 0, 0));
	for (uint32_t place = 0; place < 8; place++)
		if (place != 4)
			world_server(world, "a", adapted_order(adapted, 0, place))->maintenance =
			        true;
	world_apply(world);
	(void)world_decide(world, request);
	for (size_t i = 0; i < world->count; i++)
		world->servers[i].maintenance = false;
	world_apply(world);
	decision = look(adapted, request);
	assert_true(decision.levels[1].session.kept);
	expect_server(&decision, pinned);
	adapters_lost(world->facts->adapters, adapted_target(adapted, pinned), lora_id(SPAN("l0")));
	decision = look(adapted, request);
	expect_server(&decision, adapted_order(adapted, 0, 0));
}

static void spread_asks_all(void **state)
{
	struct adapted *adapted = *state;
	struct decision decision;

	adapted->world->policy.lora.spread = true;
	decision = look(adapted, adapted_ask(adapted, 0));
	assert_int_equal(decision.levels[1].standing, 8);
	assert_int_equal(decision.levels[1].adapter.wanted, 0);
}

/* Its first two say that all their slots are in use, and then all do. */
static void who_has_no_room_is_passed_over(void **state)
{
	struct adapted *adapted = *state;
	struct engines *engines = adapted->world->facts->engines;
	struct engine_page page = engine_page_blank(adapted->world->now);

	page.lora_slots = page.lora_used = 2;
	for (uint32_t place = 0; place < 2; place++)
		engines_put(engines, adapted_target(adapted, adapted_order(adapted, 0, place)),
		            &page);
	expect_only(adapted, 2);
	adapters_sent(adapted->world->facts->adapters,
	              adapted_target(adapted, adapted_order(adapted, 0, 1)), lora_id(SPAN("l0")),
	              adapted->world->now);
	expect_only(adapted, 1);
	adapters_lost(adapted->world->facts->adapters,
	              adapted_target(adapted, adapted_order(adapted, 0, 1)), lora_id(SPAN("l0")));
	for (uint32_t place = 2; place < 8; place++)
		engines_put(engines, adapted_target(adapted, adapted_order(adapted, 0, place)),
		            &page);
	expect_only(adapted, 0);
	heat(adapted, 0, 8);
	expect_first(adapted, 0, 3);
}

/* Ten agents, each with another heat: the longest list has all others in it. */
static void agents_agree_without_a_word(void **state)
{
	struct adapted *adapted = *state;

	for (uint32_t agent = 0; agent < 10; agent++) {
		heat(adapted, 0, 3);
		adapted->world->now += SECOND;
		world_decider(adapted->world, agent + 1);
		expect_first(adapted, 0,
		             look(adapted, adapted_ask(adapted, 0)).levels[1].adapter.wanted);
	}
}

/* A replica that goes takes only its own place along. */
static void who_goes_is_replaced_by_the_next(void **state)
{
	struct adapted *adapted = *state;
	const char *next = adapted_order(adapted, 0, 1);
	struct decision decision;

	world_server(adapted->world, "a", adapted_order(adapted, 0, 0))->maintenance = true;
	world_apply(adapted->world);
	decision = look(adapted, adapted_ask(adapted, 0));
	expect_server(&decision, next);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_cold_adapter_goes_to_one_of_its_own),
		TEST(who_has_a_share_of_the_load_has_that_of_the_replicas),
		TEST(a_few_requests_are_no_reason_for_another),
		TEST(what_other_agents_send_counts_alike),
		TEST(heat_is_forgotten_slowly),
		TEST(when_all_of_them_are_too_busy_there_is_one_more),
		TEST(one_that_is_not_too_busy_will_do),
		TEST(admission_lets_it_go_anywhere),
		TEST(who_has_the_conversation_and_the_adapter_stands),
		TEST(a_session_stays_where_the_adapter_is_still),
		TEST(spread_asks_all),
		TEST(who_has_no_room_is_passed_over),
		TEST(agents_agree_without_a_word),
		TEST(who_goes_is_replaced_by_the_next),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
