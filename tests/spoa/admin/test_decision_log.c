/* test_decision_log.c - decisions are kept, found, joined with their ends, and
 * streamed. Proves R029, R090, R091. */
#include "tests/spoa/admin/admin_world.h"

#include <fcntl.h>
#include <jansson.h>
#include <malloc.h>
#include <signal.h>
#include <unistd.h>

#include "spoa/admin/decision_log.h"

static bool memory_is_short;
static int callocs_left;

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);

void *__wrap_calloc(size_t count, size_t size)
{
	if (memory_is_short && callocs_left-- == 0)
		return NULL;
	return __real_calloc(count, size);
}

static struct decision_words words_of(const struct world *world)
{
	return (struct decision_words){ .now = world->now,
		                        .wall_ms = wall_ms,
		                        .stages = { pipeline_stage, name_of_stage },
		                        .ladder = &world->policy.ladder };
}

static void decide(struct world *world, struct decision_log *log, struct request request)
{
	struct decision decision = world_decide(world, request);

	decision_log_decided(log, &request, &decision, world->now, 3);
}

static void end(struct world *world, struct decision_log *log, const char *id)
{
	struct stream_end event = { .id = SPAN(id),
		                    .by = { SPAN("a"), SPAN("s2"), SPAN("10.0.0.2:8000"), 0 },
		                    .status = 200,
		                    .termination = { 's', 'D', '-', '-' },
		                    .queue_ms = -1,
		                    .retries = 1,
		                    .bytes_in = 10,
		                    .bytes_out = 1000 };
	struct feedback feedback = { .known = true, .moved = true, .ttft_ms = 120, .e2e_ms = -1 };

	decision_log_ended(log, &event, &feedback, world->now);
}

static const char *string_of(const json_t *object, const char *name)
{
	const char *value = json_string_value(json_object_get(object, name));

	return value ? value : "(none)";
}

static void a_decision_tells_policy_target_and_prefix(void **state)
{
	struct world *world = world_new(1, 2);
	struct decision_log *log = decision_log_new(4);
	struct decision_words words = words_of(world);
	struct request request = world_ask_long(world, 8192, 8192, 1, 2);
	json_t *found;

	(void)state;
	decide(world, log, request);
	world_first_byte(world, SPAN("id-1"));
	world_end(world, SPAN("id-1"));
	request = world_ask_long(world, 8192, 8192, 1, 2);
	request.path = SPAN("/v1/chat");
	request.session = SPAN("me");
	decide(world, log, request);
	found = decision_log_find(log, SPAN("id-2"), &words);
	assert_non_null(found);
	assert_string_equal(string_of(found, "ts"), "2025-11-30T00:00:00.123Z");
	assert_string_equal(string_of(found, "action"), "route");
	assert_string_equal(string_of(found, "reason"), "prefix");
	assert_string_equal(string_of(found, "instance"), "a");
	assert_string_equal(string_of(found, "replica"), "s1");
	assert_string_equal(string_of(found, "addr"), "10.0.0.1:8000");
	assert_string_equal(string_of(found, "path"), "/v1/chat");
	assert_int_equal(strlen(string_of(found, "session")), 16);
	assert_true(json_is_false(json_object_get(found, "fallback")));
	/* 8192 bytes are the fifth block's end: 4 x 1k and one of 4k. */
	assert_int_equal(json_integer_value(json_object_get(found, "matched")), 8192);
	assert_string_equal(string_of(found, "prefix_hash"), "0000000000010005");
	assert_string_equal(
	        string_of(json_array_get(json_object_get(found, "levels"), 1), "strategy"),
	        "least-work");
	json_decref(found);
	decision_log_free(log);
	world_free(world);
}

static void refusals_and_silence_have_their_action(void **state)
{
	struct world *world = world_new(1, 1);
	struct decision_log *log = decision_log_new(4);
	struct decision_words words = words_of(world);
	struct request request = world_ask(world);
	struct decision decision = { .outcome = OUTCOME_REJECTED,
		                     .reason = REASON_OVERLOAD,
		                     .status = 429,
		                     .retry_after = 7 };
	json_t *list;

	(void)state;
	decision_log_decided(log, &request, &decision, world->now, 1);
	decision =
	        (struct decision){ .outcome = OUTCOME_UNANSWERED, .reason = REASON_UNKNOWN_MODEL };
	decision_log_decided(log, &request, &decision, world->now, 1);
	decision.reason = REASON_OBSERVE;
	decision_log_decided(log, &request, &decision, world->now, 1);
	decision = (struct decision){ .outcome = OUTCOME_ROUTED,
		                      .reason = REASON_FALLBACK,
		                      .instance = world_instance(world, "a"),
		                      .upstream_model = SPAN("upstream") };
	decision_log_decided(log, &request, &decision, world->now, 1);
	list = decision_log_last(log, 9, true, &words);
	assert_int_equal(json_array_size(list), 4);
	assert_true(json_is_true(json_object_get(json_array_get(list, 0), "fallback")));
	assert_string_equal(string_of(json_array_get(list, 0), "upstream_model"), "upstream");
	assert_string_equal(string_of(json_array_get(list, 0), "replica"), "(none)");
	assert_string_equal(string_of(json_array_get(list, 1), "action"), "observe");
	assert_string_equal(string_of(json_array_get(list, 2), "action"), "default");
	assert_string_equal(string_of(json_array_get(list, 3), "action"), "reject");
	assert_int_equal(json_integer_value(json_object_get(json_array_get(list, 3), "status")),
	                 429);
	assert_int_equal(
	        json_integer_value(json_object_get(json_array_get(list, 3), "retry_after")), 7);
	json_decref(list);
	decision_log_free(log);
	world_free(world);
}

static void the_chosen_and_seven_others_are_kept(void **state)
{
	struct world *world = world_new(1, 20);
	struct decision_log *log = decision_log_new(4);
	struct decision_words words = words_of(world);
	json_t *found, *candidates, *dropped;

	(void)state;
	for (int i = 0; i < 19; i++)
		world->servers[i].up = i < 3 || i > 12;
	world_apply(world);
	for (int i = 1; i <= 19; i++) {
		char name[16];

		(void)snprintf(name, sizeof(name), "s%d", i);
		world_busy(world, "a", name, 5);
	}
	decide(world, log, world_ask(world));
	found = decision_log_find(log, SPAN("id-1"), &words);
	assert_string_equal(string_of(found, "replica"), "s20");
	candidates =
	        json_object_get(json_array_get(json_object_get(found, "levels"), 1), "candidates");
	dropped = json_object_get(json_array_get(json_object_get(found, "levels"), 1), "dropped");
	assert_int_equal(json_array_size(candidates), 8);
	assert_string_equal(string_of(json_array_get(candidates, 0), "name"), "s20");
	assert_true(json_is_true(json_object_get(json_array_get(candidates, 0), "chosen")));
	assert_null(json_object_get(json_array_get(candidates, 1), "chosen"));
	assert_int_equal(json_integer_value(json_object_get(dropped, "health")), 10);
	json_decref(found);
	decision_log_free(log);
	world_free(world);
}

static void its_class_and_place_in_the_queue_are_told(void **state)
{
	struct world *world = world_new(1, 2);
	struct decision_log *log = decision_log_new(4);
	struct decision_words words = words_of(world);
	struct request request = world_ask(world);
	json_t *found;

	(void)state;
	decide(world, log, request);
	world->policy.queue.client_priority = true;
	request = world_ask(world);
	request.priority = SPAN("batch");
	decide(world, log, request);
	world->policy.queue.priority_step = 0;
	request = world_ask(world);
	request.priority = SPAN("interactive");
	decide(world, log, request);
	found = decision_log_find(log, SPAN("id-1"), &words);
	assert_string_equal(string_of(found, "class"), "default");
	assert_null(json_object_get(found, "priority"));
	assert_null(json_object_get(found, "priority_offset_ms"));
	json_decref(found);
	found = decision_log_find(log, SPAN("id-2"), &words);
	assert_string_equal(string_of(found, "class"), "batch");
	assert_int_equal(json_integer_value(json_object_get(found, "priority_offset_ms")), 10000);
	json_decref(found);
	found = decision_log_find(log, SPAN("id-3"), &words);
	assert_string_equal(string_of(found, "class"), "interactive");
	assert_int_equal(json_integer_value(json_object_get(found, "priority")), -10);
	json_decref(found);
	decision_log_free(log);
	world_free(world);
}

static void an_end_joins_its_decision_once(void **state)
{
	struct world *world = world_new(1, 2);
	struct decision_log *log = decision_log_new(4);
	struct decision_words words = words_of(world);
	struct first_byte first = { .id = SPAN("id-1") };
	struct stream_end again = { .id = SPAN("id-1"), .status = 500 };
	struct feedback duplicate = { .duplicate = true };
	json_t *found, *ended;

	(void)state;
	decide(world, log, world_ask(world));
	decision_log_first_byte(log, &first, &duplicate, world->now + SECOND);
	decision_log_first_byte(log, &first, &(struct feedback){ .known = true },
	                        world->now + 250 * MSEC);
	decision_log_first_byte(log, &first, &(struct feedback){ .known = true },
	                        world->now + SECOND);
	end(world, log, "id-1");
	end(world, log, "nobody");
	decision_log_ended(log, &again, &duplicate, world->now);
	found = decision_log_find(log, SPAN("id-1"), &words);
	ended = json_object_get(found, "end");
	assert_true(json_real_value(json_object_get(found, "first_byte_ms")) == 250);
	assert_string_equal(string_of(ended, "served"), "s2");
	assert_string_equal(string_of(ended, "term"), "sD--");
	assert_true(json_is_true(json_object_get(ended, "moved")));
	assert_int_equal(json_integer_value(json_object_get(ended, "status")), 200);
	assert_true(json_real_value(json_object_get(ended, "ttft_ms")) == 120);
	assert_true(json_is_null(json_object_get(ended, "e2e_ms")));
	assert_true(json_is_null(json_object_get(ended, "queue_ms")));
	assert_int_equal(decision_log_counts(log).ended, 1);
	assert_int_equal(decision_log_counts(log).ended_unknown, 1);
	json_decref(found);
	decision_log_free(log);
	world_free(world);
}

/* A ring of 7 against a plain list, with ids that come again. */
static void exactly_the_last_ones_are_found(void **state)
{
	struct world *world = world_new(1, 2);
	struct decision_log *log = decision_log_new(7);
	struct decision_words words = words_of(world);
	struct rng rng = { .state = 3 };
	unsigned last[20] = { 0 };

	(void)state;
	for (unsigned i = 1; i <= 3000; i++) {
		unsigned id = (unsigned)(rng_next(&rng) % 20);
		struct request request = { .retry_count = i };
		struct decision decision = { .outcome = OUTCOME_UNANSWERED };
		char text[8];

		(void)snprintf(text, sizeof(text), "%u", id);
		request.id = SPAN(text);
		decision_log_decided(log, &request, &decision, world->now, 1);
		last[id] = i;
		for (unsigned k = 0; k < 20; k++) {
			json_t *found;

			(void)snprintf(text, sizeof(text), "%u", k);
			found = decision_log_find(log, SPAN(text), &words);
			assert_int_equal(found != NULL, last[k] > 0 && last[k] + 7 > i);
			if (found)
				assert_int_equal(
				        json_integer_value(json_object_get(found, "retry")),
				        last[k]);
			json_decref(found);
		}
	}
	assert_int_equal(decision_log_counts(log).records, 7);
	assert_int_equal(decision_log_counts(log).decided, 3000);
	decision_log_free(log);
	world_free(world);
}

static void texts_of_strangers_are_cut_and_tamed(void **state)
{
	struct world *world = world_new(1, 1);
	struct decision_log *log = decision_log_new(1);
	struct decision_words words = words_of(world);
	struct request request = world_ask(world);
	char path[500];
	json_t *found;

	(void)state;
	memset(path, 'p', sizeof(path));
	request.path = (struct span){ path, sizeof(path) };
	request.model = SPAN("\xff\xfe model \xc3\xa9");
	request.host = (struct span){ "a\0b", 3 };
	decide(world, log, request);
	found = decision_log_find(log, SPAN("id-1"), &words);
	assert_int_equal(strlen(string_of(found, "path")), 95);
	assert_string_equal(string_of(found, "model"), "?? model ??");
	assert_string_equal(string_of(found, "host"), "a");
	json_decref(found);
	decision_log_free(log);
	world_free(world);
}

/* Reads what is there; each line must be an object. How many of decisions and ends. */
static void read_lines(int fd, unsigned *ret_decisions, unsigned *ret_ends)
{
	static char text[8 << 20];
	ssize_t n = read(fd, text, sizeof(text) - 1);
	char *line = text;

	*ret_decisions = *ret_ends = 0;
	text[n > 0 ? n : 0] = '\0';
	while (*line) {
		char *newline = strchr(line, '\n');
		json_t *object;

		assert_non_null(newline);
		*newline = '\0';
		object = json_loads(line, 0, NULL);
		assert_non_null(object);
		*(json_object_get(object, "action") ? ret_decisions : ret_ends) += 1;
		json_decref(object);
		line = newline + 1;
	}
}

static void lines_tell_each_decision_and_then_its_end(void **state)
{
	struct world *world = world_new(1, 2);
	struct decision_log *log = decision_log_new(64);
	struct decision_words words = words_of(world);
	unsigned decisions, ends;
	int fds[2];

	(void)state;
	assert_int_equal(pipe2(fds, O_NONBLOCK), 0);
	decide(world, log, world_ask(world)); /* before: not told */
	decision_log_stream(log, fds[1], 1);
	for (int i = 0; i < 5; i++)
		decide(world, log, world_ask(world));
	end(world, log, "id-3");
	end(world, log, "id-1"); /* its end is news, even so */
	decision_log_flush(log, &words);
	read_lines(fds[0], &decisions, &ends);
	assert_int_equal(decisions, 5);
	assert_int_equal(ends, 2);
	decision_log_flush(log, &words);
	read_lines(fds[0], &decisions, &ends);
	assert_int_equal(decisions + ends, 0);
	assert_int_equal(decision_log_counts(log).lines, 7);
	assert_int_equal(decision_log_counts(log).dropped, 0);
	(void)close(fds[0]);
	(void)close(fds[1]);
	decision_log_free(log);
	world_free(world);
}

static void one_of_ten_is_told_with_its_end(void **state)
{
	struct world *world = world_new(1, 2);
	struct decision_log *log = decision_log_new(256);
	struct decision_words words = words_of(world);
	unsigned decisions, ends;
	int fds[2];

	(void)state;
	assert_int_equal(pipe2(fds, O_NONBLOCK), 0);
	assert_true(fcntl(fds[1], F_SETPIPE_SZ, 1 << 20) > 0);
	decision_log_stream(log, fds[1], 10);
	for (int i = 0; i < 100; i++) {
		decide(world, log, world_ask(world));
		end(world, log, world->id);
	}
	decision_log_flush(log, &words);
	read_lines(fds[0], &decisions, &ends);
	assert_int_equal(decisions, 10);
	assert_int_equal(ends, 10);
	(void)close(fds[0]);
	(void)close(fds[1]);
	decision_log_free(log);
	world_free(world);
}

/* A flush is bounded, so the end of a late record is there before its decision
 * was told. */
static void no_end_is_told_before_its_decision(void **state)
{
	struct world *world = world_new(1, 2);
	struct decision_log *log = decision_log_new(256);
	struct decision_words words = words_of(world);
	unsigned decisions = 0;
	unsigned ends = 0;
	int fds[2];

	(void)state;
	assert_int_equal(pipe2(fds, O_NONBLOCK), 0);
	assert_true(fcntl(fds[1], F_SETPIPE_SZ, 1 << 20) > 0);
	decision_log_stream(log, fds[1], 1);
	for (int i = 0; i < 62; i++)
		decide(world, log, world_ask(world));
	decision_log_flush(log, &words);
	read_lines(fds[0], &decisions, &ends);
	assert_int_equal(decisions, 62);
	for (int i = 0; i < 62; i++)
		decide(world, log, world_ask(world));
	end(world, log, "id-124"); /* the very last */
	for (int i = 0; i < 2; i++)
		decide(world, log, world_ask(world));
	end(world, log, "id-126");
	for (int i = 0; i < 61; i++)
		decide(world, log, world_ask(world));
	end(world, log, "id-187");
	decision_log_flush(log, &words); /* 64 decisions, and no room for an end */
	read_lines(fds[0], &decisions, &ends);
	assert_int_equal(decisions, 64);
	assert_int_equal(ends, 0);
	decision_log_flush(log, &words);
	read_lines(fds[0], &decisions, &ends);
	assert_int_equal(decisions, 61);
	assert_int_equal(ends, 3);
	(void)close(fds[0]);
	(void)close(fds[1]);
	decision_log_free(log);
	world_free(world);
}

/* Nobody reads: the ring goes on, what it lost is counted, and whoever reads
 * later gets whole lines only. */
static void a_slow_reader_loses_records_and_nothing_else(void **state)
{
	struct world *world = world_new(1, 2);
	struct decision_log *log = decision_log_new(100);
	struct decision_words words = words_of(world);
	struct decision_log_counts counts;
	unsigned decisions, ends, told = 0;
	int fds[2];

	(void)state;
	assert_int_equal(pipe2(fds, O_NONBLOCK), 0);
	decision_log_stream(log, fds[1], 1);
	for (int i = 0; i < 5000; i++) {
		decide(world, log, world_ask(world));
		if (i % 10 == 0)
			decision_log_flush(log, &words);
	}
	counts = decision_log_counts(log);
	assert_true(counts.dropped > 0);
	/* One line at a time may be cut by the pipe: it is read to its end. */
	for (int i = 0; i < 1000; i++) {
		static char rest[1 << 20];
		ssize_t n = read(fds[0], rest, sizeof(rest));

		for (ssize_t k = 0; k < n; k++)
			told += rest[k] == '\n';
		decision_log_flush(log, &words);
	}
	read_lines(fds[0], &decisions, &ends);
	counts = decision_log_counts(log);
	assert_int_equal(told + decisions, counts.lines);
	assert_int_equal(counts.lines + counts.dropped, 5000);
	(void)close(fds[0]);
	(void)close(fds[1]);
	decision_log_free(log);
	world_free(world);
}

static void a_reader_that_is_gone_stops_nothing(void **state)
{
	struct world *world = world_new(1, 2);
	struct decision_log *log = decision_log_new(10);
	struct decision_words words = words_of(world);
	int fds[2];

	(void)state;
	(void)signal(SIGPIPE, SIG_IGN);
	assert_int_equal(pipe2(fds, O_NONBLOCK), 0);
	(void)close(fds[0]);
	decision_log_stream(log, fds[1], 1);
	for (int i = 0; i < 100; i++) {
		decide(world, log, world_ask(world));
		decision_log_flush(log, &words);
	}
	assert_int_equal(decision_log_counts(log).decided, 100);
	(void)close(fds[1]);
	decision_log_free(log);
	world_free(world);
}

static void keeping_a_decision_allocates_nothing(void **state)
{
	struct world *world = world_new(2, 8);
	struct decision_log *log = decision_log_new(16);
	struct request request = world_ask_long(world, 400000, 400000, 1, 2);
	struct decision decision = world_decide(world, request);
	size_t used = mallinfo2().uordblks;

	(void)state;
	for (int i = 0; i < 1000; i++)
		decision_log_decided(log, &request, &decision, world->now, 3);
	end(world, log, "id-1");
	assert_int_equal(mallinfo2().uordblks, used);
	decision_log_free(log);
	world_free(world);
}

static void without_memory_there_is_no_log(void **state)
{
	(void)state;
	for (int allowed = 0; allowed < 4; allowed++) {
		memory_is_short = true;
		callocs_left = allowed;
		assert_null(decision_log_new(8));
		memory_is_short = false;
	}
	decision_log_free(decision_log_new(8));
	decision_log_free(NULL);
}

int main(void)
{
	const struct CMUnitTest log[] = {
		cmocka_unit_test(a_decision_tells_policy_target_and_prefix),
		cmocka_unit_test(refusals_and_silence_have_their_action),
		cmocka_unit_test(the_chosen_and_seven_others_are_kept),
		cmocka_unit_test(its_class_and_place_in_the_queue_are_told),
		cmocka_unit_test(an_end_joins_its_decision_once),
		cmocka_unit_test(exactly_the_last_ones_are_found),
		cmocka_unit_test(texts_of_strangers_are_cut_and_tamed),
		cmocka_unit_test(lines_tell_each_decision_and_then_its_end),
		cmocka_unit_test(one_of_ten_is_told_with_its_end),
		cmocka_unit_test(no_end_is_told_before_its_decision),
		cmocka_unit_test(a_slow_reader_loses_records_and_nothing_else),
		cmocka_unit_test(a_reader_that_is_gone_stops_nothing),
		cmocka_unit_test(keeping_a_decision_allocates_nothing),
		cmocka_unit_test(without_memory_there_is_no_log),
	};

	return cmocka_run_group_tests(log, NULL, NULL);
}
