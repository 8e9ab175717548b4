/* test_fetch.c - HTTP requests of our own: in time, in bounds, and given up cleanly.
 * Proves P086 (own deadline per transfer). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "spoa/web/fetch.h"
#include "tests/spoa/observe/peer.h"

enum { MOST = 4 };

struct stage {
	struct ev_loop *loop;
	struct peer peer;
	struct fetch *fetch;
	char url[64];
	unsigned done, again;
	int status;
	bool late;
	char body[256], error[256];
	size_t body_bytes;
	uint64_t elapsed_us;
	struct fetch_transfer *to_cancel;
};

static void open_stage(struct stage *stage, enum manners manners, const char *answer)
{
	memset(stage, 0, sizeof(*stage));
	stage->loop = ev_loop_new(EVFLAG_AUTO);
	stage->peer = (struct peer){ .loop = stage->loop, .manners = manners, .http = true };
	peer_say(&stage->peer, answer);
	peer_start(&stage->peer);
	(void)snprintf(stage->url, sizeof(stage->url), "http://127.0.0.1:%u/metrics?x=1",
	               stage->peer.port);
	stage->fetch = fetch_new(stage->loop, MOST);
	assert_non_null(stage->fetch);
}

static void close_stage(struct stage *stage)
{
	fetch_free(stage->fetch);
	peer_stop(&stage->peer);
	ev_loop_destroy(stage->loop);
}

static struct fetch_transfer *start(struct stage *stage);

static void on_done(void *data, const struct fetch_result *result)
{
	struct stage *stage = data;

	stage->done++;
	stage->status = result->status;
	stage->late = result->late;
	stage->elapsed_us = result->elapsed_us;
	stage->body_bytes = result->body_bytes;
	(void)snprintf(stage->body, sizeof(stage->body), "%.*s",
	               result->body_bytes < 200 ? (int)result->body_bytes : 200,
	               result->body_bytes ? result->body : "");
	(void)snprintf(stage->error, sizeof(stage->error), "%s",
	               result->error ? result->error : "");
	if (stage->to_cancel) {
		fetch_cancel(stage->to_cancel);
		stage->to_cancel = NULL;
	}
	if (stage->again > 0) {
		stage->again--;
		assert_non_null(start(stage));
	}
}

static struct fetch_transfer *start(struct stage *stage)
{
	struct fetch_request request = { .url = stage->url,
		                         .deadline_ms = 300,
		                         .answer_max = 100000 };

	return fetch_start(stage->fetch, &request, on_done, stage);
}

static bool idle(void *data)
{
	struct stage *stage = data;

	return fetch_open(stage->fetch) == 0;
}

static void wait_idle(struct stage *stage)
{
	assert_true(loop_until(stage->loop, idle, stage, 10));
}

#define OK_ANSWER "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello"

static void an_answer_comes_once_and_from_the_loop(void **state)
{
	static struct stage stage;

	(void)state;
	open_stage(&stage, PEER_KEEPS, OK_ANSWER);
	assert_non_null(start(&stage));
	assert_int_equal(stage.done, 0);
	assert_int_equal(fetch_open(stage.fetch), 1);
	wait_idle(&stage);
	loop_for(stage.loop, 0.02);
	assert_int_equal(stage.done, 1);
	assert_int_equal(stage.status, 200);
	assert_string_equal(stage.body, "hello");
	assert_string_equal(stage.error, "");
	assert_int_equal(strncmp(stage.peer.last, "GET /metrics?x=1 HTTP/1.1\r\n", 27), 0);
	assert_non_null(strstr(stage.peer.last, "inference-spoa/"));
	close_stage(&stage);
}

static void connections_are_used_again(void **state)
{
	static struct stage stage;

	(void)state;
	open_stage(&stage, PEER_KEEPS, OK_ANSWER);
	stage.again = 4;
	assert_non_null(start(&stage));
	wait_idle(&stage);
	assert_int_equal(stage.done, 5);
	assert_int_equal(stage.status, 200);
	assert_int_equal(stage.peer.requests, 5);
	assert_int_equal(stage.peer.connections, 1);
	close_stage(&stage);
}

static void a_page_that_hangs_ends_at_its_deadline(void **state)
{
	static struct stage stage;

	(void)state;
	open_stage(&stage, PEER_STALLS, "");
	assert_non_null(start(&stage));
	wait_idle(&stage);
	assert_int_equal(stage.done, 1);
	assert_int_equal(stage.status, 0);
	assert_true(stage.late);
	assert_true(strlen(stage.error) > 0);
	assert_in_range(stage.elapsed_us, 280000, 2000000);
	close_stage(&stage);
}

static void faults_are_told_in_words(void **state)
{
	static const struct {
		enum manners manners;
		const char *answer;
	} known[] = {
		{ PEER_CLOSES, "" },
		{ PEER_CUTS, "HTTP/1.1 200 OK\r\ncontent-length: "
		             "50\r\n\r\n12345678901234567890123456789012345" },
		{ PEER_FLOODS, "" },
		{ PEER_ANSWERS, "SSH-2.0-nothing\r\n" },
	};
	static struct stage stage;

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		open_stage(&stage, known[i].manners, known[i].answer);
		assert_non_null(start(&stage));
		wait_idle(&stage);
		assert_int_equal(stage.done, 1);
		assert_int_equal(stage.status, 0);
		assert_false(stage.late);
		assert_true(strlen(stage.error) > 0);
		close_stage(&stage);
	}
}

static void nobody_there_is_told_as_well(void **state)
{
	static struct stage stage;

	(void)state;
	open_stage(&stage, PEER_ANSWERS, OK_ANSWER);
	peer_stop(&stage.peer);
	assert_non_null(start(&stage));
	assert_int_equal(stage.done, 0);
	wait_idle(&stage);
	assert_int_equal(stage.done, 1);
	assert_int_equal(stage.status, 0);
	assert_false(stage.late);
	close_stage(&stage);
}

static void other_statuses_are_answers(void **state)
{
	static struct stage stage;

	(void)state;
	open_stage(&stage, PEER_ANSWERS, "HTTP/1.1 404 Not Found\r\ncontent-length: 3\r\n\r\nno\n");
	assert_non_null(start(&stage));
	wait_idle(&stage);
	assert_int_equal(stage.status, 404);
	assert_string_equal(stage.body, "no\n");
	close_stage(&stage);
	open_stage(&stage, PEER_ANSWERS,
	           "HTTP/1.1 302 Found\r\nlocation: /x\r\ncontent-length: 0\r\n\r\n");
	assert_non_null(start(&stage));
	wait_idle(&stage);
	assert_int_equal(stage.status, 302); /* not followed */
	assert_int_equal(stage.peer.requests, 1);
	close_stage(&stage);
}

static void an_answer_is_as_large_as_it_may_be(void **state)
{
	static char text[100200];
	static struct stage stage;

	(void)state;
	for (size_t over = 0; over < 2; over++) {
		int head =
		        snprintf(text, sizeof(text),
		                 "HTTP/1.1 200 OK\r\ncontent-length: %zu\r\n\r\n", 100000 + over);

		open_stage(&stage, PEER_ANSWERS, "");
		memset(text + head, 'x', 100000 + over);
		stage.peer.answer = text;
		stage.peer.answer_bytes = (size_t)head + 100000 + over;
		assert_non_null(start(&stage));
		wait_idle(&stage);
		assert_int_equal(stage.status, over ? 0 : 200);
		assert_int_equal(stage.body_bytes, over ? 0 : 100000);
		if (over)
			assert_string_equal(stage.error, "the answer is too big");
		close_stage(&stage);
	}
}

static void a_post_carries_its_body_and_headers(void **state)
{
	static const char *const headers[] = { "content-type: application/json", "x-a: b", NULL };
	static struct stage stage;
	struct fetch_request request = { .body = "{\"a\":1}",
		                         .body_bytes = 7,
		                         .headers = headers,
		                         .deadline_ms = 1000,
		                         .answer_max = 1000 };

	(void)state;
	open_stage(&stage, PEER_KEEPS, OK_ANSWER);
	request.url = stage.url;
	assert_non_null(fetch_start(stage.fetch, &request, on_done, &stage));
	wait_idle(&stage);
	assert_int_equal(stage.status, 200);
	assert_int_equal(strncmp(stage.peer.last, "POST /metrics", 13), 0);
	assert_non_null(strstr(stage.peer.last, "content-type: application/json\r\n"));
	assert_non_null(strstr(stage.peer.last, "x-a: b\r\n"));
	assert_non_null(strstr(stage.peer.last, "\r\n\r\n{\"a\":1}"));
	close_stage(&stage);
}

static void a_unix_socket_is_asked_by_its_path(void **state)
{
	static struct stage stage;
	struct peer peer = { .manners = PEER_ANSWERS, .http = true };
	struct fetch_request request = { .url = "http://agent/x",
		                         .deadline_ms = 1000,
		                         .answer_max = 1000 };

	(void)state;
	open_stage(&stage, PEER_ANSWERS, OK_ANSWER);
	peer.loop = stage.loop;
	peer_path(peer.path, sizeof(peer.path), "fetch");
	peer_say(&peer, OK_ANSWER);
	peer_start_unix(&peer);
	request.unix_socket = peer.path;
	assert_non_null(fetch_start(stage.fetch, &request, on_done, &stage));
	wait_idle(&stage);
	assert_int_equal(stage.status, 200);
	assert_int_equal(peer.requests, 1);
	peer_stop(&peer);
	/* The next of the same handle goes by TCP again. */
	assert_non_null(start(&stage));
	wait_idle(&stage);
	assert_int_equal(stage.peer.requests, 1);
	close_stage(&stage);
}

static void no_more_than_so_many_are_open(void **state)
{
	static struct stage stage;

	(void)state;
	open_stage(&stage, PEER_STALLS, "");
	for (unsigned i = 0; i < MOST; i++)
		assert_non_null(start(&stage));
	assert_null(start(&stage));
	assert_int_equal(fetch_open(stage.fetch), MOST);
	stage.again = 1; /* and one that ends makes room for another, in its own callback */
	wait_idle(&stage);
	assert_int_equal(stage.done, MOST + 1);
	assert_int_equal(stage.peer.most_open, MOST);
	close_stage(&stage);
}

static void a_transfer_given_up_is_not_heard_of(void **state)
{
	static struct stage stage;
	struct fetch_transfer *transfer;

	(void)state;
	open_stage(&stage, PEER_STALLS, "");
	transfer = start(&stage);
	loop_for(stage.loop, 0.05);
	fetch_cancel(transfer);
	assert_int_equal(fetch_open(stage.fetch), 0);
	loop_for(stage.loop, 0.4);
	assert_int_equal(stage.done, 0);
	assert_int_equal(stage.peer.open, 0);
	transfer = start(&stage);
	fetch_cancel(transfer); /* before anything was sent */
	loop_for(stage.loop, 0.05);
	assert_int_equal(stage.done, 0);
	close_stage(&stage);
}

static void one_callback_may_give_up_another(void **state)
{
	static struct stage stage;

	(void)state;
	open_stage(&stage, PEER_STALLS, "");
	assert_non_null(start(&stage));
	stage.to_cancel = start(&stage);
	wait_idle(&stage);
	assert_int_equal(stage.done, 1);
	close_stage(&stage);
}

static void freeing_gives_up_all(void **state)
{
	static struct stage stage;

	(void)state;
	open_stage(&stage, PEER_STALLS, "");
	for (unsigned i = 0; i < MOST; i++)
		assert_non_null(start(&stage));
	loop_for(stage.loop, 0.05);
	fetch_free(stage.fetch);
	stage.fetch = NULL;
	loop_for(stage.loop, 0.4);
	assert_int_equal(stage.done, 0);
	close_stage(&stage);
}

static void other_protocols_are_refused(void **state)
{
	static struct stage stage;

	(void)state;
	open_stage(&stage, PEER_ANSWERS, OK_ANSWER);
	(void)snprintf(stage.url, sizeof(stage.url), "file:///etc/hostname");
	if (start(&stage))
		wait_idle(&stage);
	assert_int_equal(stage.status, 0);
	assert_int_equal(stage.body_bytes, 0);
	close_stage(&stage);
}

enum { LONG = 2 * 1024 * 1024, TURN_MOST = 80 * 1024 };

/* Two that read the same long answer at once. */
struct reader {
	struct ev_loop *loop;
	size_t got, wrong;
	bool done;
	int status;
	const char *body;
};

struct turn {
	unsigned number;
	size_t bytes, most;
};
static struct turn turn;

static char letter(size_t i)
{
	return (char)('a' + i % 23);
}

static void on_piece(void *data, const char *bytes, size_t count)
{
	struct reader *reader = data;

	if (turn.number != ev_iteration(reader->loop))
		turn = (struct turn){ ev_iteration(reader->loop), 0, turn.most };
	turn.bytes += count;
	turn.most = turn.bytes > turn.most ? turn.bytes : turn.most;
	for (size_t i = 0; i < count; i++)
		reader->wrong += bytes[i] != letter(reader->got + i);
	reader->got += count;
}

static void on_read(void *data, const struct fetch_result *result)
{
	struct reader *reader = data;

	reader->done = true;
	reader->status = result->status;
	reader->body = result->body;
}

static void open_long(struct stage *stage, struct reader *readers,
                      struct fetch_transfer **transfers)
{
	static char answer[LONG + 100];
	int head = snprintf(answer, 100, "HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n", LONG);
	struct fetch_request request = { .deadline_ms = 20000,
		                         .answer_max = LONG,
		                         .on_piece = on_piece };

	for (size_t i = 0; i < LONG; i++)
		answer[(size_t)head + i] = letter(i);
	turn = (struct turn){ 0 };
	open_stage(stage, PEER_KEEPS, answer);
	request.url = stage->url;
	for (int i = 0; i < 2; i++) {
		readers[i] = (struct reader){ .loop = stage->loop };
		transfers[i] = fetch_start(stage->fetch, &request, on_read, &readers[i]);
		assert_non_null(transfers[i]);
	}
}

/* Whole and in order, and never much in one turn of the loop. */
static void long_answers_come_in_pieces_over_many_turns(void **state)
{
	static struct stage stage;
	struct reader readers[2];
	struct fetch_transfer *transfers[2];

	(void)state;
	open_long(&stage, readers, transfers);
	wait_idle(&stage);
	for (int i = 0; i < 2; i++) {
		assert_true(readers[i].done && readers[i].status == 200);
		assert_null(readers[i].body);
		assert_int_equal(readers[i].got, LONG);
		assert_int_equal(readers[i].wrong, 0);
	}
	assert_true(turn.most <= TURN_MOST);
	close_stage(&stage);
}

static bool half_read(void *data)
{
	const struct reader *readers = data;

	return readers[0].got > LONG / 2;
}

static void one_that_waits_can_be_given_up(void **state)
{
	static struct stage stage;
	struct reader readers[2];
	struct fetch_transfer *transfers[2];

	(void)state;
	open_long(&stage, readers, transfers);
	assert_true(loop_until(stage.loop, half_read, readers, 10));
	assert_true(readers[1].got > LONG / 16); /* one does not hold up the other */
	fetch_cancel(transfers[0]);
	wait_idle(&stage);
	assert_false(readers[0].done);
	assert_true(readers[1].done);
	assert_int_equal(readers[1].got, LONG);
	close_stage(&stage);
}

int main(void)
{
	const struct CMUnitTest fetch[] = {
		cmocka_unit_test(an_answer_comes_once_and_from_the_loop),
		cmocka_unit_test(connections_are_used_again),
		cmocka_unit_test(a_page_that_hangs_ends_at_its_deadline),
		cmocka_unit_test(faults_are_told_in_words),
		cmocka_unit_test(nobody_there_is_told_as_well),
		cmocka_unit_test(other_statuses_are_answers),
		cmocka_unit_test(an_answer_is_as_large_as_it_may_be),
		cmocka_unit_test(a_post_carries_its_body_and_headers),
		cmocka_unit_test(a_unix_socket_is_asked_by_its_path),
		cmocka_unit_test(no_more_than_so_many_are_open),
		cmocka_unit_test(a_transfer_given_up_is_not_heard_of),
		cmocka_unit_test(one_callback_may_give_up_another),
		cmocka_unit_test(freeing_gives_up_all),
		cmocka_unit_test(other_protocols_are_refused),
		cmocka_unit_test(long_answers_come_in_pieces_over_many_turns),
		cmocka_unit_test(one_that_waits_can_be_given_up),
	};

	(void)setenv("http_proxy", "http://127.0.0.1:1", 1); /* not to be used */
	return cmocka_run_group_tests(fetch, NULL, NULL);
}
