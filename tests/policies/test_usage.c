/* test_usage.c - limits in the walk, what is charged for a request, and that it is settled
 * once, whatever comes and in whatever order. Proves R179, B041, B043, P103. */
#include "tests/policies/sent.h"

static struct tenant_policy tenant;
static struct model_quota model;

/* Of the tenant acme, and of model m; both say nothing until they are told to. */
static int open_limited(void **state)
{
	struct world *world = world_new(2, 3);

	tenant = (struct tenant_policy){ .name = "acme", .weight = 1 };
	model = (struct model_quota){ .model = "m" };
	world->policy.tenants = &tenant;
	world->policy.tenant_count = 1;
	world->policy.quotas = &model;
	world->policy.quota_count = 1;
	facts_set_policy(world->facts, &world->policy);
	*state = world;
	return 0;
}

static struct request ask(struct world *world, const char *name)
{
	struct request request = world_ask(world);

	request.tenant = SPAN(name);
	return request;
}

/* 1000 tokens of prompt, and 256 of answer. */
static struct request ask_1000(struct world *world, const char *name)
{
	struct request request = world_ask_long(world, 4000, 4000, 1, 0);

	request.tenant = SPAN(name);
	return request;
}

/* What is used of the tenant's limit, in tokens at 1000 a second. */
static double used(struct world *world)
{
	for (uint32_t i = 0; i < limits_count(world->facts->limits); i++) {
		struct limit_view view = limits_at(world->facts->limits, i, world->now);

		if (view.of == LIMIT_OF_TENANT)
			return 1000 * view.reset_s[LIMIT_TOKENS];
	}
	return -1;
}

static uint32_t open_of(struct world *world)
{
	uint32_t open = 0;

	for (uint32_t i = 0; i < limits_count(world->facts->limits); i++)
		open += limits_at(world->facts->limits, i, world->now).inflight;
	return open;
}

static double v_of(struct world *world, const char *name)
{
	return tenants_tokens(world->facts->tenants, tenant_key(SPAN(name)), world->now);
}

static void limit_tokens(void)
{
	tenant.quota = (struct quota){ .tokens = { 1000, 1 }, .tokens_burst = 100000 };
}

static void of_a_hundred_at_once_as_many_pass_as_there_is_budget_for(void **state)
{
	struct world *world = *state;
	struct decision decision;
	int passed = 0;

	tenant.quota = (struct quota){ .tokens = { 1000, 1 }, .tokens_burst = 10 * 1256 };
	for (int i = 0; i < 100; i++) {
		decision = world_decide(world, ask_1000(world, "acme"));
		passed += decision.outcome == OUTCOME_ROUTED;
	}
	assert_int_equal(passed, 10);
	assert_int_equal(decision.outcome, OUTCOME_REJECTED);
	assert_int_equal(decision.reason, REASON_LIMIT);
	assert_int_equal(decision.status, 429);
	assert_int_equal(decision.retry_after, 2); /* 1.256 s */
	assert_int_equal(decision.limit, LIMIT_TOKENS);
	assert_int_equal(decision.limit_of, LIMIT_OF_TENANT);
	assert_int_equal(open_of(world), 10);
	assert_int_equal(world->facts->counters->rejected[REASON_LIMIT], 90);
	/* Others are not held to it. */
	assert_int_equal(world_decide(world, ask_1000(world, "other")).outcome, OUTCOME_ROUTED);
	assert_int_equal(world_decide(world, world_ask(world)).outcome, OUTCOME_ROUTED);
	pass(world, 1256 * MSEC);
	assert_int_equal(world_decide(world, ask_1000(world, "acme")).outcome, OUTCOME_ROUTED);
	assert_int_equal(world_decide(world, ask_1000(world, "acme")).outcome, OUTCOME_REJECTED);
}

static void requests_are_limited_and_a_client_learns_what_is_left(void **state)
{
	struct world *world = *state;
	struct decision decision;

	tenant.quota = (struct quota){ .requests = { 0.5, 60 }, .requests_burst = 3 };
	decision = world_decide(world, ask(world, "acme"));
	assert_true(decision.left[LIMIT_REQUESTS].limited);
	assert_near(decision.left[LIMIT_REQUESTS].limit, 3);
	assert_near(decision.left[LIMIT_REQUESTS].left, 2);
	assert_near(decision.left[LIMIT_REQUESTS].reset_s, 2);
	assert_false(decision.left[LIMIT_TOKENS].limited);
	(void)world_decide(world, ask(world, "acme"));
	decision = world_decide(world, ask(world, "acme"));
	assert_near(decision.left[LIMIT_REQUESTS].left, 0);
	decision = world_decide(world, ask(world, "acme"));
	assert_int_equal(decision.outcome, OUTCOME_REJECTED);
	assert_int_equal(decision.retry_after, 2);
	assert_int_equal(decision.limit, LIMIT_REQUESTS);
	assert_near(decision.left[LIMIT_REQUESTS].left, 0);
	assert_near(decision.left[LIMIT_REQUESTS].reset_s, 6);
	decision = world_decide(world, ask(world, "other"));
	assert_false(decision.left[LIMIT_REQUESTS].limited);
}

static void who_waits_longer_than_most_is_told_so(void **state)
{
	struct world *world = *state;

	tenant.quota = (struct quota){ .requests = { 1.0 / 3600, 3600 } };
	(void)world_decide(world, ask(world, "acme"));
	assert_int_equal(world_decide(world, ask(world, "acme")).retry_after, 3600);
	pass(world, 3600 * SECOND);
	tenant.quota = (struct quota){ .requests = { 1e-12, 86400 } };
	(void)world_decide(world, ask(world, "acme"));
	assert_true(world_decide(world, ask(world, "acme")).retry_after > 1000000);
}

static void a_model_is_limited_over_all_tenants_and_by_the_name_of_the_policy(void **state)
{
	struct alias alias = { .name = "alias", .model = "m" };
	struct world *world = *state;
	struct request request;

	world->policy.aliases = &alias;
	world->policy.alias_count = 1;
	facts_set_policy(world->facts, &world->policy);
	model.quota = (struct quota){ .requests = { 1, 1 }, .requests_burst = 2 };
	request = ask(world, "acme");
	request.model = SPAN("m");
	assert_int_equal(world_decide(world, request).outcome, OUTCOME_ROUTED);
	request = ask(world, "other");
	request.model = SPAN("alias");
	assert_int_equal(world_decide(world, request).outcome, OUTCOME_ROUTED);
	request = world_ask(world);
	request.model = SPAN("m");
	assert_int_equal(world_decide(world, request).limit_of, LIMIT_OF_MODEL);
	assert_int_equal(world_decide(world, request).outcome, OUTCOME_REJECTED);
	request.model = SPAN("n");
	assert_int_equal(world_decide(world, request).outcome, OUTCOME_ROUTED);
}

static void a_tenants_use_of_one_model_has_a_limit_of_its_own(void **state)
{
	struct model_quota list[] = { { .model = "*", .quota = { .requests = { 1, 1 } } },
		                      { .model = "m", .quota = { .requests = { 2, 1 } } } };
	struct world *world = *state;
	struct request request = ask(world, "acme");

	tenant.models = list;
	tenant.model_count = 2;
	request.model = SPAN("m");
	for (int i = 0; i < 2; i++)
		assert_int_equal(world_decide(world, request).outcome, OUTCOME_ROUTED);
	assert_int_equal(world_decide(world, request).limit_of, LIMIT_OF_BOTH);
	assert_int_equal(world_decide(world, request).outcome, OUTCOME_REJECTED);
	/* Each model by itself. */
	request.model = SPAN("n");
	assert_int_equal(world_decide(world, request).outcome, OUTCOME_ROUTED);
	assert_int_equal(world_decide(world, request).outcome, OUTCOME_REJECTED);
	request.model = SPAN("o");
	assert_int_equal(world_decide(world, request).outcome, OUTCOME_ROUTED);
	request.tenant = SPAN("other");
	request.model = SPAN("m");
	for (int i = 0; i < 5; i++)
		assert_int_equal(world_decide(world, request).outcome, OUTCOME_ROUTED);
}

/* Everybody without a name is one caller; whom a star fits each has its own. */
static void a_star_is_everyone_and_nobody_is_anonymous(void **state)
{
	struct world *world = *state;

	strcpy(tenant.name, "*");
	tenant.quota = (struct quota){ .requests = { 1, 1 } };
	facts_set_policy(world->facts, &world->policy);
	assert_int_equal(world_decide(world, ask(world, "a")).outcome, OUTCOME_ROUTED);
	assert_int_equal(world_decide(world, ask(world, "b")).outcome, OUTCOME_ROUTED);
	assert_int_equal(world_decide(world, ask(world, "a")).outcome, OUTCOME_REJECTED);
	assert_int_equal(world_decide(world, world_ask(world)).outcome, OUTCOME_ROUTED);
	assert_int_equal(world_decide(world, world_ask(world)).outcome, OUTCOME_REJECTED);
	assert_int_equal(world_decide(world, ask(world, "anonymous")).outcome, OUTCOME_REJECTED);
}

static void a_cap_holds_to_the_end_of_the_streams(void **state)
{
	struct world *world = *state;
	struct sent sent[4];
	struct decision decision;

	tenant.quota.max_inflight = 4;
	for (int i = 0; i < 4; i++)
		sent[i] = send_to(world, ask(world, "acme"));
	decision = world_decide(world, ask(world, "acme"));
	assert_int_equal(decision.limit, LIMIT_INFLIGHT);
	assert_int_equal(decision.retry_after, 1);
	/* Headers and first bytes end nothing. */
	for (int i = 0; i < 4; i++)
		(void)first_byte(&sent[i], &sent[i].by, 200);
	for (int i = 0; i < 20; i++)
		assert_int_equal(world_decide(world, ask(world, "acme")).outcome, OUTCOME_REJECTED);
	(void)ends(&sent[1], "----", 200);
	(void)ends(&sent[1], "----", 200);
	assert_int_equal(world_decide(world, ask(world, "acme")).outcome, OUTCOME_ROUTED);
	assert_int_equal(world_decide(world, ask(world, "acme")).outcome, OUTCOME_REJECTED);
}

/* Where nothing tells how many bytes a token has, what was expected stands. */
static void what_was_expected_stands_until_bytes_can_be_told_in_tokens(void **state)
{
	struct world *world = *state;
	struct stream_end end;
	struct sent sent;

	limit_tokens();
	sent = send_to(world, ask_1000(world, "acme"));
	assert_near(used(world), 1256);
	assert_near(v_of(world, "acme"), 1000 + 2 * 256);
	end = end_of(&sent, "----", 200);
	end.bytes_out = 100000;
	(void)tell(&sent, &end);
	assert_near(used(world), 1256);
	assert_near(v_of(world, "acme"), 1000 + 2 * 256);
	assert_int_equal(open_of(world), 0);
}

static void an_answer_is_paid_by_its_bytes(void **state)
{
	const struct growth growth = { .seconds = 10, .generated = 2000, .finished = 20 };
	struct world *world = *state;
	struct stream_end end;
	struct sent sent;
	double expected;

	limit_tokens();
	/* 100 tokens an answer, 400 bytes an answer. */
	answers_learn(world->facts->answers, world_instance(world, "a")->target->id, &growth,
	              world->now);
	answers_sent(world->facts->answers, world_instance(world, "a")->target->id, 400,
	             world->now);
	sent = send_to(world, ask_1000(world, "acme"));
	expected = used(world);
	assert_true(expected > 1000);
	end = end_of(&sent, "----", 200);
	end.bytes_out = 400;
	(void)tell(&sent, &end);
	assert_near(used(world), 1100);
	assert_near(v_of(world, "acme"), 1000 + 2 * 100);
}

static void assert_costs(struct world *world, const char *termination, int status, uint64_t bytes,
                         double tokens)
{
	struct stream_end end;
	struct sent sent;
	double before, v;

	pass(world, 20 * SECOND); /* who was busy is not any more */
	before = used(world) > 0 ? used(world) : 0;
	v = v_of(world, "acme");
	sent = send_to(world, ask_1000(world, "acme"));
	end = end_of(&sent, termination, status);
	end.bytes_out = bytes;
	(void)tell(&sent, &end);
	(void)tell(&sent, &end);
	if (fabs(used(world) - before - tokens) > 1e-6)
		fail_msg("%.4s %d cost %g", termination, status, used(world) - before);
	assert_near(v_of(world, "acme") - v, tokens > 0 ? 1000 + 2 * 256 : 0);
	assert_int_equal(open_of(world), 0);
}

static void what_came_to_nothing_costs_nothing(void **state)
{
	struct world *world = *state;

	limit_tokens();
	assert_costs(world, "----", 200, 3000, 1256);
	assert_costs(world, "CH--", -1, 0, 0);       /* gone before the first byte */
	assert_costs(world, "CH--", 400, 345, 0);    /* as HAProxy tells it */
	assert_costs(world, "CQ--", 400, 345, 0);    /* gone while it waited */
	assert_costs(world, "CD--", 200, 0, 0);      /* headers had come, no more */
	assert_costs(world, "CL--", 200, 1, 1256);   /* gone at the end */
	assert_costs(world, "CD--", 200, 1, 1256);   /* gone after it */
	assert_costs(world, "SD--", 200, 500, 1256); /* cut, but something came */
	assert_costs(world, "SC--", 503, 200, 0);
	assert_costs(world, "----", 500, 200, 0);
	assert_costs(world, "----", 429, 200, 0);
	assert_costs(world, "----", 400, 200, 0); /* it was refused, not computed */
	assert_costs(world, "sQ--", 503, 200, 0);
	assert_costs(world, "SH--", -1, 0, 0);
}

/* A request that the engine refuses is one of those in a time all the same. */
static void who_asks_for_nonsense_is_limited_in_requests(void **state)
{
	struct world *world = *state;
	struct sent sent;

	tenant.quota = (struct quota){ .requests = { 1, 1 }, .requests_burst = 2 };
	for (int i = 0; i < 2; i++) {
		sent = send_to(world, ask(world, "acme"));
		(void)ends(&sent, "----", 400);
	}
	assert_int_equal(world_decide(world, ask(world, "acme")).outcome, OUTCOME_REJECTED);
	pass(world, 1 * SECOND);
	for (int i = 0; i < 10; i++) {
		sent = send_to(world, ask(world, "acme"));
		(void)ends(&sent, "SC--", 503);
	}
}

static void who_was_told_to_come_again_may_come_again(void **state)
{
	struct world *world = *state;

	tenant.quota = (struct quota){ .requests = { 1.0 / 3600, 3600 } };
	for (int i = 0; i < 3; i++) {
		struct sent sent = send_to(world, ask(world, "acme"));

		(void)ends(&sent, "----", 429);
		pass(world, 20 * SECOND);
	}
}

static void who_is_served_by_nobody_we_know_pays_nothing(void **state)
{
	struct world *world = *state;
	struct stream_end end;
	struct sent sent;

	limit_tokens();
	sent = send_to(world, ask_1000(world, "acme"));
	end = end_of(&sent, "PR--", 400);
	end.by = (struct served){ .backend = SPAN("fe") };
	(void)tell(&sent, &end);
	assert_near(used(world), 0);
	assert_int_equal(open_of(world), 0);
}

/* Nobody serves the model, or there is nobody: nothing to charge, nothing to refuse. */
static void what_nobody_can_serve_is_not_a_matter_of_limits(void **state)
{
	const struct span served = SPAN("m");
	struct world *world = *state;
	struct request request;

	tenant.quota = (struct quota){ .requests = { 1, 1 } };
	(void)world_decide(world, ask(world, "acme"));
	for (uint32_t i = 0; i < fleet_targets_max(world->facts->fleet); i++) {
		const struct target *target = fleet_target(world->facts->fleet, i);

		if (target && target->kind == TARGET_REPLICA)
			(void)fleet_models(world->facts->fleet, i, &served, NULL, 1);
	}
	request = ask(world, "acme");
	request.model = SPAN("nobody's");
	assert_int_equal(world_decide(world, request).outcome, OUTCOME_UNANSWERED);
	request.backend = SPAN("nobody");
	assert_int_equal(world_decide(world, request).outcome, OUTCOME_UNANSWERED);
}

/* All are down: whoever would be sent there all the same is held to its limits. */
static void limits_hold_where_the_walk_ended_before_them(void **state)
{
	struct world *world = *state;
	struct request request;

	tenant.quota = (struct quota){ .requests = { 1, 1 } };
	for (size_t i = 0; i < world->count; i++)
		world->servers[i].up = false;
	world_apply(world);
	assert_int_equal(world_decide(world, ask(world, "acme")).reason, REASON_FAIL_OPEN);
	assert_int_equal(world_decide(world, ask(world, "acme")).reason, REASON_LIMIT);
	assert_int_equal(world_decide(world, ask(world, "other")).reason, REASON_FAIL_OPEN);
	request = ask(world, "acme");
	request.backend = SPAN("a");
	assert_int_equal(world_decide(world, request).reason, REASON_LIMIT);
}

static void it_is_asked_once_whatever_levels_there_are(void **state)
{
	static const enum levels_mode modes[] = { LEVELS_BOTH, LEVELS_INSTANCE, LEVELS_REPLICA };
	struct world *world = *state;

	tenant.quota = (struct quota){ .requests = { 1, 1 }, .requests_burst = 2 };
	for (size_t i = 0; i < COUNT(modes); i++) {
		world->policy.levels = modes[i];
		pass(world, 10 * SECOND);
		for (int n = 0; n < 3; n++) {
			struct request request = ask(world, "acme");
			struct decision decision;

			if (modes[i] == LEVELS_REPLICA)
				request.backend = SPAN("b");
			decision = world_decide(world, request);
			assert_int_equal(decision.outcome,
			                 n < 2 ? OUTCOME_ROUTED : OUTCOME_REJECTED);
			assert_int_equal(decision.levels[1].walked,
			                 modes[i] == LEVELS_REPLICA ||
			                         (modes[i] == LEVELS_BOTH && n < 2));
		}
	}
}

static void to_explain_charges_nothing_and_says_the_same(void **state)
{
	struct world *world = *state;
	struct request request = ask_1000(world, "acme");
	struct decision decision;

	limit_tokens();
	for (int i = 0; i < 5; i++) {
		decider_explain(world->decider, &request, world->now, &decision);
		assert_int_equal(decision.outcome, OUTCOME_ROUTED);
		assert_near(decision.left[LIMIT_TOKENS].left, 100000);
	}
	assert_near(v_of(world, "acme"), 0);
	tenant.quota = (struct quota){ .requests = { 1, 1 } };
	(void)world_decide(world, ask(world, "acme"));
	decider_explain(world->decider, &request, world->now, &decision);
	assert_int_equal(decision.reason, REASON_LIMIT);
	assert_int_equal(decision.limit, LIMIT_REQUESTS);
	assert_int_equal(decision.levels[0].standing, 0);
	assert_ptr_equal(decision.levels[0].pool[0].dropped_by, &stage_limits);
}

/* A new policy finds what is used where it was. */
static void what_is_used_outlives_a_new_policy(void **state)
{
	static struct policy next;
	static struct tenant_policy again;
	struct world *world = *state;

	tenant.quota = (struct quota){ .requests = { 1, 1 }, .max_inflight = 2 };
	(void)world_decide(world, ask(world, "acme"));
	next = world->policy;
	again = tenant;
	next.tenants = &again;
	memset(&tenant, 0xff, sizeof(tenant));
	facts_set_policy(world->facts, &next);
	assert_int_equal(world_decide(world, ask(world, "acme")).outcome, OUTCOME_REJECTED);
	again.quota.requests.per_second = 0;
	assert_int_equal(world_decide(world, ask(world, "acme")).outcome, OUTCOME_ROUTED);
	assert_int_equal(world_decide(world, ask(world, "acme")).limit, LIMIT_INFLIGHT);
}

/* A reload swaps the pointers: facts_set_policy() is told the policy at its old place. */
static void without_limits_nothing_is_kept_but_what_was_had(void **state)
{
	struct world *world = *state;

	world->policy.tenant_count = world->policy.quota_count = 0;
	facts_set_policy(world->facts, &world->policy);
	for (int i = 0; i < 10; i++)
		(void)world_decide(world, ask_1000(world, "acme"));
	assert_int_equal(limits_count(world->facts->limits), 0);
	assert_near(v_of(world, "acme"), 10 * 1512);
	(void)world_decide(world, world_ask(world));
	assert_int_equal(tenants_count(world->facts->tenants), 1);
}

static void nothing_expired(void *data, uint32_t target, uint32_t slots)
{
	(void)data;
	(void)target;
	(void)slots;
}

/* One event, of those that may come to a request, in whatever order. */
static void any_event(struct world *world, struct rng *rng, const char *id)
{
	static const char *const terminations[] = {
		"----", "CD--", "CH--", "SD--", "sH--", "SC--"
	};
	static const int statuses[] = { 200, 200, 400, 429, 500, -1 };
	struct sent sent = { .world = world, .id = SPAN(id) };
	struct stream_end end;

	sent.by = rng_below(rng, 8) == 0
	                  ? (struct served){ .backend = SPAN("a") }
	                  : served_by(world_instance(world, "a"), world_replica(world, "a", "s1"));
	switch (rng_below(rng, 8)) {
	case 0:
	case 1:
		(void)first_byte(&sent, &sent.by, 200);
		break;
	case 2:
	case 3:
	case 4:
		end = end_of(&sent, terminations[rng_below(rng, COUNT(terminations))],
		             statuses[rng_below(rng, COUNT(statuses))]);
		end.bytes_out = rng_below(rng, 3) * 1000;
		(void)tell(&sent, &end);
		break;
	case 5:
		feedback_late(world->facts, SPAN(id), world->now);
		break;
	case 6:
		if (rng_below(rng, 30) == 0)
			(void)feedback_process_gone(world->facts, 0, world->now);
		break;
	case 7:
		pass(world, rng_below(rng, 2000) * MSEC);
		feedback_sweep(world->facts, world->now, nothing_expired, NULL);
		break;
	}
}

/* Ids come again, ends come first, twice, or never: whatever was decided and not yet ended
 * is counted once for tenant, model and both, and in the end nothing is. */
static void whatever_comes_in_whatever_order_is_settled_once(void **state)
{
	struct model_quota both = { .model = "*", .quota = { .max_inflight = 1000 } };
	struct world *world = *state;
	struct rng rng = { 7 };
	char id[32];

	tenant.quota = (struct quota){ .requests = { 1000, 1 }, .max_inflight = 20 };
	tenant.models = &both;
	tenant.model_count = 1;
	model.quota = (struct quota){ .tokens = { 1e6, 1 }, .max_inflight = 30 };
	for (int i = 0; i < 20000; i++) {
		uint32_t open;

		snprintf(id, sizeof(id), "r%u", (unsigned)rng_below(&rng, 400) + (unsigned)i / 100);
		if (rng_below(&rng, 3) == 0) {
			struct request request =
			        ask_1000(world, rng_below(&rng, 4) ? "acme" : "other");

			request.id = SPAN(id);
			request.backend = SPAN("a");
			request.model = SPAN("m");
			(void)world_decide(world, request);
		} else {
			any_event(world, &rng, id);
		}
		open = open_of(world);
		assert_true(open <= 20 + 20 + 30);
		assert_true(open <= 3 * inflight_count(world->facts->inflight));
	}
	pass(world, world->policy.ledger_ttl + SECOND);
	feedback_sweep(world->facts, world->now, nothing_expired, NULL);
	assert_int_equal(inflight_count(world->facts->inflight), 0);
	assert_int_equal(open_of(world), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_limited, close_world)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(of_a_hundred_at_once_as_many_pass_as_there_is_budget_for),
		TEST(requests_are_limited_and_a_client_learns_what_is_left),
		TEST(who_waits_longer_than_most_is_told_so),
		TEST(a_model_is_limited_over_all_tenants_and_by_the_name_of_the_policy),
		TEST(a_tenants_use_of_one_model_has_a_limit_of_its_own),
		TEST(a_star_is_everyone_and_nobody_is_anonymous),
		TEST(a_cap_holds_to_the_end_of_the_streams),
		TEST(what_was_expected_stands_until_bytes_can_be_told_in_tokens),
		TEST(an_answer_is_paid_by_its_bytes),
		TEST(what_came_to_nothing_costs_nothing),
		TEST(who_asks_for_nonsense_is_limited_in_requests),
		TEST(who_was_told_to_come_again_may_come_again),
		TEST(who_is_served_by_nobody_we_know_pays_nothing),
		TEST(what_nobody_can_serve_is_not_a_matter_of_limits),
		TEST(limits_hold_where_the_walk_ended_before_them),
		TEST(it_is_asked_once_whatever_levels_there_are),
		TEST(to_explain_charges_nothing_and_says_the_same),
		TEST(what_is_used_outlives_a_new_policy),
		TEST(without_limits_nothing_is_kept_but_what_was_had),
		TEST(whatever_comes_in_whatever_order_is_settled_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
