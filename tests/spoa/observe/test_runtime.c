/* test_runtime.c - HAProxy's runtime socket, well and badly mannered. Proves P115
 * (asked with little, answered in bounds). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "spoa/observe/runtime.h"
#include "tests/spoa/observe/fixture.h"
#include "tests/spoa/observe/peer.h"

enum { ANSWER_MAX = 1024 * 1024 };

struct stage {
	struct ev_loop *loop;
	struct peer peer;
	struct runtime *runtime;
	unsigned answers, again; /* again: how often to ask from inside the callback */
	enum runtime_status status;
	char text[256], error[128];
	size_t bytes;
	usec_t elapsed;
};

static void on_answer(void *data, const struct runtime_answer *answer)
{
	struct stage *stage = data;

	stage->answers++;
	stage->status = answer->status;
	stage->bytes = answer->text.len;
	stage->elapsed = answer->elapsed;
	(void)snprintf(stage->text, sizeof(stage->text), "%.*s",
	               answer->text.len < 200 ? (int)answer->text.len : 200, answer->text.at);
	(void)snprintf(stage->error, sizeof(stage->error), "%s",
	               answer->error ? answer->error : "");
	if (stage->again > 0) {
		stage->again--;
		assert_true(runtime_ask(stage->runtime, "again", on_answer, stage));
	}
}

static struct runtime *runtime_to(struct stage *stage, const char *address)
{
	struct observe observe = { .loop = stage->loop, .now = loop_now };
	struct runtime_options options = { .address = address,
		                           .deadline = 200 * MSEC,
		                           .answer_max = ANSWER_MAX };
	struct error error = { "" };

	return runtime_new(&observe, &options, &error);
}

static void open_stage(struct stage *stage, enum manners manners, bool tcp)
{
	char address[160];

	memset(stage, 0, sizeof(*stage));
	stage->loop = ev_loop_new(EVFLAG_AUTO);
	stage->peer.loop = stage->loop;
	stage->peer.manners = manners;
	peer_say(&stage->peer, "answer\n\n");
	if (tcp) {
		peer_start(&stage->peer);
		(void)snprintf(address, sizeof(address), "127.0.0.1:%u", stage->peer.port);
	} else {
		peer_path(stage->peer.path, sizeof(stage->peer.path), "runtime");
		peer_start_unix(&stage->peer);
		(void)snprintf(address, sizeof(address), "%s", stage->peer.path);
	}
	stage->runtime = runtime_to(stage, address);
	assert_non_null(stage->runtime);
}

static void close_stage(struct stage *stage)
{
	runtime_free(stage->runtime);
	peer_stop(&stage->peer);
	ev_loop_destroy(stage->loop);
}

static bool idle(void *data)
{
	struct stage *stage = data;

	return !runtime_asking(stage->runtime);
}

static void ask(struct stage *stage)
{
	assert_true(runtime_ask(stage->runtime, "show info;show servers state", on_answer, stage));
	assert_int_equal(stage->answers, 0);
	assert_true(loop_until(stage->loop, idle, stage, 5));
}

static void each_question_is_one_connection(void **state)
{
	static struct stage stage;

	(void)state;
	for (int tcp = 0; tcp < 2; tcp++) {
		open_stage(&stage, PEER_ANSWERS, tcp);
		stage.again = 2;
		ask(&stage);
		assert_int_equal(stage.answers, 3);
		assert_int_equal(stage.status, RUNTIME_OK);
		assert_string_equal(stage.text, "answer\n\n");
		assert_string_equal(stage.peer.last, "again\n");
		assert_int_equal(stage.peer.connections, 3);
		close_stage(&stage);
	}
}

static void one_question_at_a_time(void **state)
{
	static struct stage stage;

	(void)state;
	open_stage(&stage, PEER_ANSWERS, false);
	assert_true(runtime_ask(stage.runtime, "one", on_answer, &stage));
	assert_true(runtime_asking(stage.runtime));
	assert_false(runtime_ask(stage.runtime, "two", on_answer, &stage));
	assert_true(loop_until(stage.loop, idle, &stage, 5));
	assert_string_equal(stage.peer.last, "one\n");
	assert_int_equal(stage.answers, 1);
	close_stage(&stage);
}

static void silence_ends_at_the_deadline(void **state)
{
	static struct stage stage;

	(void)state;
	open_stage(&stage, PEER_STALLS, false);
	ask(&stage);
	assert_int_equal(stage.status, RUNTIME_LATE);
	assert_in_range(stage.elapsed, 190 * MSEC, 2 * SECOND);
	loop_for(stage.loop, 0.02);
	assert_int_equal(stage.peer.open, 0); /* we hung up */
	close_stage(&stage);
}

static void an_answer_without_end_is_too_big(void **state)
{
	static struct stage stage;

	(void)state;
	open_stage(&stage, PEER_FLOODS, false);
	ask(&stage);
	assert_int_equal(stage.status, RUNTIME_TOO_BIG);
	assert_int_equal(stage.bytes, 0);
	loop_for(stage.loop, 0.05);
	assert_int_equal(stage.peer.open, 0);
	close_stage(&stage);
}

static void the_largest_answer_is_taken(void **state)
{
	static char text[ANSWER_MAX + 1];
	static struct stage stage;

	(void)state;
	memset(text, 'x', ANSWER_MAX);
	for (size_t over = 0; over < 2; over++) {
		open_stage(&stage, PEER_ANSWERS, false);
		stage.peer.answer = text;
		stage.peer.answer_bytes = ANSWER_MAX - 1 + over;
		ask(&stage);
		assert_int_equal(stage.status, over ? RUNTIME_TOO_BIG : RUNTIME_OK);
		assert_int_equal(stage.bytes, over ? 0 : ANSWER_MAX - 1);
		close_stage(&stage);
	}
}

static void a_close_without_a_word_is_no_answer(void **state)
{
	static struct stage stage;

	(void)state;
	open_stage(&stage, PEER_CLOSES, false);
	ask(&stage);
	assert_int_equal(stage.status, RUNTIME_FAILED);
	close_stage(&stage);
}

static void nobody_there_is_refused_and_told_from_the_loop(void **state)
{
	static struct stage stage;

	(void)state;
	for (int tcp = 0; tcp < 2; tcp++) {
		open_stage(&stage, PEER_ANSWERS, tcp);
		peer_stop(&stage.peer);
		ask(&stage);
		assert_int_equal(stage.status, RUNTIME_REFUSED);
		assert_true(strlen(stage.error) > 0);
		/* And when it is back it is asked as ever. */
		stage.answers = 0;
		tcp ? peer_start(&stage.peer) : peer_start_unix(&stage.peer);
		ask(&stage);
		assert_int_equal(stage.status, RUNTIME_OK);
		close_stage(&stage);
	}
}

static void freeing_gives_up_without_a_call(void **state)
{
	static struct stage stage;

	(void)state;
	open_stage(&stage, PEER_STALLS, false);
	assert_true(runtime_ask(stage.runtime, "one", on_answer, &stage));
	loop_for(stage.loop, 0.02);
	runtime_free(stage.runtime);
	stage.runtime = NULL;
	loop_for(stage.loop, 0.3);
	assert_int_equal(stage.answers, 0);
	close_stage(&stage);
}

static void addresses_that_cannot_be_are_refused(void **state)
{
	static const char *const bad[] = { "", "nowhere", "host.invalid:99999", ":80", "unix:" };
	static struct stage stage;

	(void)state;
	open_stage(&stage, PEER_ANSWERS, false);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_null(runtime_to(&stage, bad[i]));
	close_stage(&stage);
}

int main(void)
{
	const struct CMUnitTest runtime[] = {
		cmocka_unit_test(each_question_is_one_connection),
		cmocka_unit_test(one_question_at_a_time),
		cmocka_unit_test(silence_ends_at_the_deadline),
		cmocka_unit_test(an_answer_without_end_is_too_big),
		cmocka_unit_test(the_largest_answer_is_taken),
		cmocka_unit_test(a_close_without_a_word_is_no_answer),
		cmocka_unit_test(nobody_there_is_refused_and_told_from_the_loop),
		cmocka_unit_test(freeing_gives_up_without_a_call),
		cmocka_unit_test(addresses_that_cannot_be_are_refused),
	};

	return cmocka_run_group_tests(runtime, NULL, NULL);
}
