/* test_outcome.c - every way a stream may end.
 * Proves R055 in part, P090. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "policies/outcome.h"

static struct stream_end ended(const char *termination, int status)
{
	struct stream_end end = { .status = status,
		                  .by = { .backend = { "a", 1 },
		                          .server = { "s1", 2 },
		                          .address = { "10.0.0.1:80", 11 } } };

	memcpy(end.termination, termination, strlen(termination));
	return end;
}

struct row {
	const char *what;
	const char *termination;
	int status;
	bool nobody;
	enum outcome_class class;
	enum termination cause;
};

static const struct row rows[] = {
	{ "normal", "----", 200, false, CLASS_OK, TERM_COMPLETE },
	{ "bad request", "----", 400, false, CLASS_OK, TERM_COMPLETE },
	{ "a bad key", "----", 401, false, CLASS_DENIED, TERM_COMPLETE },
	{ "not allowed", "----", 403, false, CLASS_DENIED, TERM_COMPLETE },
	{ "not found", "----", 404, false, CLASS_OK, TERM_COMPLETE },
	{ "engine is full", "----", 429, false, CLASS_BUSY, TERM_COMPLETE },
	{ "engine is full", "----", 503, false, CLASS_BUSY, TERM_COMPLETE },
	{ "engine fails", "----", 500, false, CLASS_FAILURE, TERM_COMPLETE },
	{ "engine fails", "----", 502, false, CLASS_FAILURE, TERM_COMPLETE },
	{ "engine fails", "----", 504, false, CLASS_FAILURE, TERM_COMPLETE },
	{ "cannot", "----", 501, false, CLASS_OK, TERM_COMPLETE },
	{ "cannot", "----", 505, false, CLASS_OK, TERM_COMPLETE },
	{ "client leaves in mid-stream", "CD--", 200, false, CLASS_CLIENT, TERM_CLIENT },
	{ "client leaves before headers", "CH--", 400, false, CLASS_CLIENT, TERM_CLIENT },
	{ "client leaves in the queue", "CQ--", -1, false, CLASS_CLIENT, TERM_CLIENT },
	{ "client leaves while we decide", "CC--", -1, true, CLASS_CLIENT, TERM_CLIENT },
	{ "client leaves during upload", "CR--", -1, true, CLASS_CLIENT, TERM_CLIENT },
	{ "body too slow", "cR--", 408, true, CLASS_CLIENT, TERM_CLIENT },
	{ "engine resets in mid-stream", "SD--", 200, false, CLASS_FAILURE, TERM_SERVER },
	{ "engine closes before headers", "SH--", 502, false, CLASS_FAILURE, TERM_SERVER },
	{ "connection refused", "SC--", 503, false, CLASS_FAILURE, TERM_SERVER },
	{ "no server up", "SC--", 503, true, CLASS_LOCAL, TERM_SERVER },
	{ "engine went down", "DD--", 200, false, CLASS_FAILURE, TERM_SERVER },
	{ "queue timeout", "sQ--", 503, false, CLASS_BUSY, TERM_QUEUE },
	{ "server timeout before headers", "sH--", 504, false, CLASS_FAILURE, TERM_TIMEOUT },
	{ "no first byte in time", "sR--", 504, false, CLASS_FAILURE, TERM_TIMEOUT },
	{ "server timeout in mid-stream", "sD--", 200, false, CLASS_FAILURE, TERM_TIMEOUT },
	{ "connect timeout", "sC--", 503, false, CLASS_FAILURE, TERM_TIMEOUT },
	{ "connect timeout of nobody", "sC--", 503, true, CLASS_LOCAL, TERM_TIMEOUT },
	{ "refused by us", "LR--", 429, true, CLASS_LOCAL, TERM_LOCAL },
	{ "bad request", "PR--", 400, true, CLASS_LOCAL, TERM_LOCAL },
	{ "an answer that is none", "PH--", 502, false, CLASS_FAILURE, TERM_LOCAL },
	{ "an answer of nobody", "PH--", 502, true, CLASS_LOCAL, TERM_LOCAL },
	{ "killed by hand", "KD--", 200, false, CLASS_LOCAL, TERM_LOCAL },
	{ "out of memory", "RC--", 500, false, CLASS_LOCAL, TERM_LOCAL },
	{ "answered by HAProxy", "----", 503, true, CLASS_LOCAL, TERM_COMPLETE },
	{ "nothing was said", "", -1, false, CLASS_LOCAL, TERM_LOCAL },
};

static void every_end_has_its_class_and_cause(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct stream_end end = ended(rows[i].termination, rows[i].status);

		if (rows[i].nobody)
			end.by = (struct served){ .source = 0 };
		if (stream_class(&end) != rows[i].class ||
		    stream_termination(&end) != rows[i].cause)
			fail_msg("%s (%s %d)", rows[i].what, rows[i].termination, rows[i].status);
	}
}

static bool is_connect_error(const char *termination)
{
	struct stream_end end = ended(termination, 503);

	return outcome_is_connect_error(&end);
}

static void connect_errors_are_told_from_others(void **state)
{
	(void)state;
	assert_true(is_connect_error("SC--"));
	assert_true(is_connect_error("sC--"));
	assert_false(is_connect_error("CC--"));
	assert_false(is_connect_error("SH--"));
	assert_false(is_connect_error("----"));
}

static void statuses_are_told_apart(void **state)
{
	(void)state;
	assert_true(outcome_is_success(200) && outcome_is_success(299));
	assert_false(outcome_is_success(199) || outcome_is_success(300) || outcome_is_success(-1));
	assert_true(outcome_is_answer(200) && outcome_is_answer(399));
	assert_false(outcome_is_answer(199) || outcome_is_answer(400) || outcome_is_answer(0));
}

int main(void)
{
	const struct CMUnitTest outcome[] = {
		cmocka_unit_test(every_end_has_its_class_and_cause),
		cmocka_unit_test(connect_errors_are_told_from_others),
		cmocka_unit_test(statuses_are_told_apart),
	};

	return cmocka_run_group_tests(outcome, NULL, NULL);
}
