/* test_store.c - two agents over a real store: what one learns the other knows, at a bounded number
 * of commands, whatever becomes of the store. Skipped where there is no redis-server.
 * Proves R050, R054, R055, R086, B038, P058, P072, P110. */
#include "redis/store.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/redis/agent.h"

#define S1 "10.0.0.1:1"
#define S2 "10.0.0.2:1"

static char folder[] = "/tmp/infer.store.XXXXXX";
static char url[128], socket_path[96];
static pid_t server;
static struct ev_loop *loop;

struct agent {
	struct policy policy;
	struct facts *facts;
	struct store *store;
	uint32_t s1, s2;
	char said[4096];
};

static usec_t test_now(void)
{
	struct timespec at;

	(void)clock_gettime(CLOCK_MONOTONIC, &at);
	/* Long after the start of the machine, so that ages can be subtracted. */
	return (usec_t)(at.tv_sec + 100000) * SECOND + (usec_t)at.tv_nsec / 1000;
}

static void start_server(void)
{
	server = fork();
	if (server == 0) {
		(void)execlp("redis-server", "redis-server", "--port", "0", "--unixsocket",
		             socket_path, "--dir", folder, "--save", "", "--appendonly", "no",
		             "--logfile", "store.log", NULL);
		_exit(127);
	}
}

static void stop_server(void)
{
	(void)kill(server, SIGKILL);
	(void)waitpid(server, NULL, 0);
	(void)unlink(socket_path);
}

/* What the command line tool of the store prints. */
static void ask(const char *words, char *ret_text, size_t room)
{
	char line[512];
	FILE *pipe;
	size_t read;

	(void)snprintf(line, sizeof(line), "redis-cli -s %s %s", socket_path, words);
	pipe = popen(line, "r");
	assert_non_null(pipe);
	read = fread(ret_text, 1, room - 1, pipe);
	ret_text[read] = '\0';
	(void)pclose(pipe);
}

static void say(void *data, int level, const char *text)
{
	struct agent *agent = data;
	size_t at = strlen(agent->said);

	(void)level;
	(void)snprintf(agent->said + at, sizeof(agent->said) - at, "%s\n", text);
}

static struct agent *start(const char *second)
{
	struct agent *agent = calloc(1, sizeof(*agent));
	struct store_options options = { .space = "test",
		                         .kept_bytes = 1e6,
		                         .loads = true,
		                         .kept_life = 1800 * SECOND,
		                         .now = test_now };
	struct store_log log = { say, agent };
	struct error error = { "" };

	assert_non_null(agent);
	agent->facts = agent_facts(&agent->policy, S1, second);
	agent->s1 = agent_target(agent->facts, S1);
	agent->s2 = agent_target(agent->facts, second);
	assert_true(redis_url_read(url, &options.link.url, &error));
	agent->store = store_new(loop, agent->facts, &options, &log, &error);
	assert_non_null(agent->store);
	assert_true(store_start(agent->store, &error));
	return agent;
}

/* As one that is killed: without a word. */
static void end(struct agent *agent)
{
	store_free(agent->store);
	facts_free(agent->facts);
	free(agent);
}

static void on_over(struct ev_loop *at, ev_timer *timer, int events)
{
	(void)events;
	*(bool *)timer->data = true;
	ev_break(at, EVBREAK_ONE);
}

/* Runs the loop until it is so; fails after so many ms. */
static void wait_until(bool (*so)(void *), void *data, int most_ms)
{
	bool over = false;
	ev_timer timer;

	ev_timer_init(&timer, on_over, most_ms / 1e3, 0.);
	timer.data = &over;
	ev_timer_start(loop, &timer);
	while (!so(data) && !over)
		ev_run(loop, EVRUN_ONCE);
	ev_timer_stop(loop, &timer);
	if (!so(data))
		fail_msg("waited %d ms in vain", most_ms);
}

static bool never(void *data)
{
	(void)data;
	return false;
}

static void run_for(int ms)
{
	bool over = false;
	ev_timer timer;

	ev_timer_init(&timer, on_over, ms / 1e3, 0.);
	timer.data = &over;
	ev_timer_start(loop, &timer);
	while (!never(NULL) && !over)
		ev_run(loop, EVRUN_ONCE);
	ev_timer_stop(loop, &timer);
}

static bool follows(void *data)
{
	struct agent *agent = data;
	struct store_view view = store_view(agent->store);

	return view.tells.up && view.follows.up && view.follower.phase == FOLLOWER_FOLLOWING;
}

static struct agent *started(const char *second)
{
	struct agent *agent = start(second);

	wait_until(follows, agent, 10000);
	return agent;
}

struct expected {
	struct agent *agent;
	uint32_t target, count;
	const uint64_t *chain;
};

static bool others_run(void *data)
{
	const struct expected *expected = data;

	return peers_work(expected->agent->facts->peers, expected->target).running ==
	       expected->count;
}

static bool holds(void *data)
{
	const struct expected *expected = data;

	return agent_held(expected->agent->facts, expected->target, expected->chain, test_now()) ==
	       expected->count;
}

static void confirm(struct agent *agent, uint32_t holder, const uint64_t *chain)
{
	const struct share *share = agent->facts->share;

	prefix_index_confirm(agent->facts->prefix, holder, chain, 4, &agent->policy.ladder,
	                     test_now());
	share->calls->bound(share->data, holder, chain, 4, &agent->policy.ladder);
}

static int begin(void **state)
{
	(void)state;
	start_server();
	return 0;
}

static int over(void **state)
{
	(void)state;
	stop_server();
	return 0;
}

/* --- */

static void what_one_has_in_flight_counts_at_the_other(void **state)
{
	struct agent *a = started(S2), *b = started(S2);
	struct expected expected = { b, b->s1, 3, NULL };
	struct slot slots[3];

	(void)state;
	for (int i = 0; i < 3; i++)
		slots[i] = ledger_acquire(a->facts->ledger, a->s1, 10, 20, test_now());
	wait_until(others_run, &expected, 3000);
	assert_int_equal(ledger_running(b->facts->ledger, b->s1, test_now()), 3);
	assert_int_equal(ledger_work(b->facts->ledger, b->s1, test_now()).running, 0);
	assert_int_equal(peers_work(a->facts->peers, a->s1).running, 0); /* not his own again */
	assert_true(ledger_release(a->facts->ledger, slots[0], test_now()));
	expected.count = 2;
	wait_until(others_run, &expected, 3000);
	/* He says goodbye: what he has counts no more, at once. */
	store_stop(a->store);
	expected.count = 0;
	wait_until(others_run, &expected, 2500);
	assert_int_equal(peers_count(b->facts->peers), 0);
	assert_true(store_is_done(a->store));
	end(a);
	end(b);
}

static void who_falls_silent_is_forgotten_after_three_seconds(void **state)
{
	struct agent *a = started(S2), *b = started(S2);
	struct expected expected = { b, b->s1, 1, NULL };
	usec_t died;

	(void)state;
	(void)ledger_acquire(a->facts->ledger, a->s1, 10, 20, test_now());
	wait_until(others_run, &expected, 3000);
	end(a);
	died = test_now();
	expected.count = 0;
	wait_until(others_run, &expected, 6000);
	assert_in_range(test_now() - died, 1500 * MSEC, 5 * SECOND);
	assert_int_equal(store_view(b->store).peers_lost, 1);
	end(b);
}

static void what_one_binds_the_other_and_a_newcomer_know(void **state)
{
	struct agent *a = started(S2), *b = started("10.0.0.9:1"), *c;
	uint64_t chain[4], other[4], gone[4];
	struct expected expected = { b, b->s1, 4, chain };

	(void)state;
	agent_chain(chain, 1);
	agent_chain(other, 2);
	agent_chain(gone, 3);
	confirm(a, a->s1, gone);
	confirm(a, a->s2, other); /* b does not have that one */
	confirm(a, a->s1, chain);
	wait_until(holds, &expected, 3000);
	assert_int_equal(store_view(b->store).applied->strangers, 1);
	assert_int_equal(store_view(b->store).outbox.told, 0); /* not told again */
	(void)prefix_index_evict(a->facts->prefix, a->s1, gone, 4);
	a->facts->share->calls->evicted(a->facts->share->data, a->s1, gone, 4, &a->policy.ladder);
	expected.chain = gone;
	expected.count = 0;
	wait_until(holds, &expected, 3000);
	end(a);
	/* Who starts knows all of it when it has warmed up. */
	c = started(S2);
	assert_int_equal(agent_held(c->facts, c->s1, chain, test_now()), 4);
	assert_int_equal(agent_held(c->facts, c->s2, other, test_now()), 4);
	assert_int_equal(agent_held(c->facts, c->s1, gone, test_now()), 0);
	assert_non_null(strstr(c->said, "warmed up"));
	end(b);
	end(c);
}

static void a_store_that_begins_anew_is_followed_again(void **state)
{
	struct agent *a = started(S2), *b = started(S2);
	struct expected load = { b, b->s1, 1, NULL };
	uint64_t chain[4];
	struct expected bound = { b, b->s1, 4, chain };

	(void)state;
	(void)ledger_acquire(a->facts->ledger, a->s1, 10, 20, test_now());
	wait_until(others_run, &load, 3000);
	stop_server();
	load.count = 0;
	wait_until(others_run, &load, 6000);
	agent_chain(chain, 4);
	confirm(a, a->s1, chain); /* learnt while it is away */
	assert_int_equal(store_view(a->store).outbox.told, 1);
	start_server();
	load.count = 1;
	wait_until(others_run, &load, 25000);
	wait_until(holds, &bound, 3000);
	assert_non_null(strstr(a->said, "store: away"));
	end(a);
	end(b);
}

/* And it knows that. */
static bool all_arrived(void *data)
{
	struct agent *agent = data;

	return store_view(agent->store).waiting[KEYS_KEPT] == 0;
}

static bool told_again(void *data)
{
	const struct expected *expected = data;

	return store_view(expected->agent->store).outbox.again >= expected->count &&
	       follows(expected->agent);
}

/* It begins anew, and somebody else is the first to write there. */
static void restart_and_write(void)
{
	char text[256];

	stop_server();
	start_server();
	do
		ask("xadd infer:1:{test}:kept '*' x y 2>&1", text, sizeof(text));
	while (!strchr(text, '-'));
}

/* Told and taken, and gone with the store, though by its ids it goes on: another has written there
 * before we came back. A newcomer hears of it all the same. */
static void what_a_store_lost_is_told_again(void **state)
{
	struct agent *a = started(S2), *b = started(S2), *c;
	uint64_t chain[4], gone[4];
	struct expected bound = { b, b->s1, 4, chain }, again = { a, 0, 1, NULL };

	(void)state;
	agent_chain(chain, 5);
	agent_chain(gone, 6);
	confirm(a, a->s1, gone);
	confirm(a, a->s1, chain);
	wait_until(holds, &bound, 3000);
	wait_until(all_arrived, a, 3000);
	(void)prefix_index_evict(a->facts->prefix, a->s1, gone, 4);
	restart_and_write();
	wait_until(told_again, &again, 9000);
	assert_true(store_view(a->store).follower.restarts > 0);
	assert_int_equal(store_view(b->store).outbox.again, 0); /* it told nothing */
	c = started(S2);
	bound.agent = c;
	bound.target = c->s1;
	wait_until(holds, &bound, 2000);
	assert_int_equal(agent_held(c->facts, c->s1, gone, test_now()), 0);
	assert_int_equal(store_view(a->store).outbox.again, 1);
	assert_non_null(strstr(a->said, "has lost what we told last"));
	end(a);
	end(b);
	end(c);
}

static bool saw_it_begin_anew(void *data)
{
	struct agent *agent = data;

	return store_view(agent->store).follower.restarts > 0 && follows(agent);
}

/* It does not keep what holds waiting. */
static void what_holds_no_more_is_passed_over_quickly(void **state)
{
	struct agent *a = started(S2);
	struct expected again = { a, 0, 1, NULL };
	uint64_t chain[4];

	(void)state;
	for (uint64_t i = 0; i < 6000; i++) {
		agent_chain(chain, 100 + i);
		confirm(a, a->s1, chain);
		if (i % 500 == 0)
			run_for(50);
	}
	wait_until(all_arrived, a, 5000);
	prefix_index_forget(a->facts->prefix, a->s1);
	confirm(a, a->s1, chain);
	confirm(a, a->s2, chain);
	wait_until(all_arrived, a, 3000);
	restart_and_write();
	wait_until(saw_it_begin_anew, a, 9000);
	wait_until(told_again, &again, 2500); /* 47 batches of 128, four each 100 ms */
	wait_until(all_arrived, a, 1000);
	end(a);
}

static void claim(struct agent *agent, struct pin_key key, uint32_t target)
{
	const struct share *share = agent->facts->share;

	(void)pins_hold(agent->facts->sessions, key, target, test_now());
	share->calls->pinned(share->data, &key, TARGET_NONE, target);
}

static const struct pin_key session = { 21, 22 };

static bool is_pinned(void *data)
{
	const struct expected *expected = data;
	struct pin pin;

	return pins_find(expected->agent->facts->sessions, session, test_now(), &pin) &&
	       pin.target == expected->target;
}

/* What was agreed on by entries that are lost binds nobody. */
static void a_claim_counts_in_a_store_that_began_anew(void **state)
{
	struct agent *a = started(S2), *b = started(S2);
	struct expected pinned = { a, a->s1, 0, NULL };

	(void)state;
	claim(b, session, b->s1);
	wait_until(is_pinned, &pinned, 3000);
	wait_until(all_arrived, b, 3000);
	pins_forget(b->facts->sessions, b->s1);
	restart_and_write();
	wait_until(saw_it_begin_anew, a, 9000);
	wait_until(saw_it_begin_anew, b, 9000);
	claim(b, session, b->s2);
	pinned.target = a->s2;
	wait_until(is_pinned, &pinned, 3000);
	end(a);
	end(b);
}

static bool came_back(void *data)
{
	const struct expected *expected = data;
	struct store_view view = store_view(expected->agent->store);

	return view.tells.counters->ups >= expected->count &&
	       view.follows.counters->ups >= expected->count && follows(expected->agent);
}

/* A link that is lost is no store that lost anything. */
static void a_store_that_has_it_all_is_told_nothing_again(void **state)
{
	struct agent *a = started(S2), *b = started(S2);
	uint64_t chain[4];
	struct expected bound = { b, b->s1, 4, chain };
	struct expected back = { a, 0, 2, NULL };
	char text[256];

	(void)state;
	agent_chain(chain, 7);
	confirm(a, a->s1, chain);
	wait_until(holds, &bound, 3000);
	ask("client kill type normal skipme yes", text, sizeof(text));
	wait_until(came_back, &back, 5000);
	run_for(300);
	assert_int_equal(store_view(a->store).outbox.again, 0);
	assert_int_equal(store_view(a->store).follower.restarts, 0);
	end(a);
	end(b);
}

/* Keys of others in our streams, and what is none of ours. */
static void whatever_somebody_writes_there_is_left_out(void **state)
{
	struct agent *a = started(S2), *b = started(S2);
	struct expected load = { b, b->s1, 1, NULL };
	char text[256];

	(void)state;
	ask("xadd infer:1:{test}:live '*' b nonsense", text, sizeof(text));
	ask("xadd infer:1:{test}:kept '*' x y", text, sizeof(text));
	ask("xadd infer:1:{test}:kept '*' b \"$(printf '\\335\\377\\377\\377\\377')\"", text,
	    sizeof(text));
	(void)ledger_acquire(a->facts->ledger, a->s1, 10, 20, test_now());
	wait_until(others_run, &load, 3000);
	run_for(200);
	assert_int_equal(store_view(b->store).applied->batches[WIRE_RESULT_NOT_MSGPACK], 2);
	ask("flushall", text, sizeof(text));
	(void)ledger_acquire(a->facts->ledger, a->s1, 10, 20, test_now());
	load.count = 2;
	wait_until(others_run, &load, 3000);
	end(a);
	end(b);
}

static void a_thousand_bindings_a_second_are_few_commands(void **state)
{
	static const char *const known[] = { "xadd",  "xread",          "xrevrange",      "pexpire",
		                             "time",  "client|setname", "config",         "info",
		                             "hello", "ping",           "client|setinfo", "select",
		                             "role",  "command|docs" };
	struct agent *a = started(S2);
	struct store_view view = store_view(a->store);
	char text[4096], *line, *rest = NULL;
	uint64_t number = 0, commands = view.tells.counters->sent + view.follows.counters->sent;
	const int ticks = 150; /* of 20 ms */

	(void)state;
	for (int i = 0; i < ticks; i++) {
		for (int j = 0; j < 20; j++) {
			uint64_t chain[4];

			agent_chain(chain, number++);
			confirm(a, a->s1, chain);
			(void)ledger_acquire(a->facts->ledger, j % 2 ? a->s1 : a->s2, 1, 1,
			                     test_now());
		}
		run_for(20);
	}
	view = store_view(a->store);
	commands = view.tells.counters->sent + view.follows.counters->sent - commands;
	print_message("%llu commands for %llu bindings in 3 s\n", (unsigned long long)commands,
	              (unsigned long long)number);
	assert_true(commands <= 200 * 3);
	assert_int_equal(view.outbox.dropped, 0);
	ask("info commandstats", text, sizeof(text));
	for (line = strtok_r(text, "\r\n", &rest); line; line = strtok_r(NULL, "\r\n", &rest)) {
		bool found = strncmp(line, "cmdstat_", 8) != 0;

		for (size_t i = 0; !found && i < sizeof(known) / sizeof(known[0]); i++)
			found = strncmp(line + 8, known[i], strlen(known[i])) == 0 &&
			        line[8 + strlen(known[i])] == ':';
		if (!found)
			fail_msg("a command that should not be: %s", line);
	}
	end(a);
}

static bool is_there(const char *program)
{
	char line[64];

	(void)snprintf(line, sizeof(line), "command -v %s >/dev/null", program);
	return system(line) == 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, over)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_one_has_in_flight_counts_at_the_other),
		TEST(who_falls_silent_is_forgotten_after_three_seconds),
		TEST(what_one_binds_the_other_and_a_newcomer_know),
		TEST(a_store_that_begins_anew_is_followed_again),
		TEST(what_a_store_lost_is_told_again),
		TEST(what_holds_no_more_is_passed_over_quickly),
		TEST(a_claim_counts_in_a_store_that_began_anew),
		TEST(a_store_that_has_it_all_is_told_nothing_again),
		TEST(whatever_somebody_writes_there_is_left_out),
		TEST(a_thousand_bindings_a_second_are_few_commands),
	};
	int failed;

	if (!is_there("redis-server") || !is_there("redis-cli") || !mkdtemp(folder))
		return 0;
	(void)snprintf(socket_path, sizeof(socket_path), "%s/store.sock", folder);
	(void)snprintf(url, sizeof(url), "unix://%s", socket_path);
	loop = ev_loop_new(EVFLAG_AUTO);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	ev_loop_destroy(loop);
	(void)snprintf(url, sizeof(url), "%s/store.log", folder);
	(void)unlink(url);
	(void)rmdir(folder);
	return failed;
}
