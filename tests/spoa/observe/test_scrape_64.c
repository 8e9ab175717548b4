/* test_scrape_64.c - sixty-four engines scraped each second, one frozen, one that sends
 * garbage, one with a page of 10 MB: what the others say is never old, no turn of the loop
 * is long, and decisions are as quick as ever. Proves B035, P019, P086. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "policies/pipeline.h"
#include "spoa/observe/scraper.h"
#include "tests/spoa/observe/engines.h"

enum { MANY = 64, FROZEN = 7, GARBAGE = 23, HUGE = 40 };
enum { GARBAGE_BYTES = 300 * 1024, HUGE_BYTES = 10 * 1024 * 1024 };

static const double run_s = 6;
#ifdef __SANITIZE_ADDRESS__
static const usec_t longest_turn = 50 * MSEC; /* all is slower there */
#else
static const usec_t longest_turn = 5 * MSEC;
#endif
static const usec_t oldest = 2 * SECOND;

static struct peer many[MANY];
static char addresses[MANY][ADDRESS_MAX_BYTES];

/* Headers, then a body of so many bytes that repeats the text. */
static void repeat(struct peer *peer, const char *text, size_t bytes)
{
	size_t length = strlen(text), used;
	char *answer = malloc(bytes + 256);

	if (!answer)
		abort();
	used = (size_t)snprintf(answer, 256, "HTTP/1.1 200 OK\r\ncontent-length: %zu\r\n\r\n",
	                        bytes);
	for (size_t i = 0; i < bytes; i++)
		answer[used + i] = text[i % length];
	peer->answer = answer;
	peer->answer_bytes = used + bytes;
}

/* A page as long as a busy engine's: what we read stands between histograms. */
static void say_page(struct peer *peer, const char *fixture_text)
{
	static const char bucket[] = "vllm:request_prompt_tokens_bucket{engine=\"0\",le=\"1000.0\","
	                             "model_name=\"m\"} 812.0\n";
	enum { TIMES = 600 };
	size_t room = sizeof(bucket) * TIMES + 2 * strlen(fixture_text) + 256;
	char *answer = malloc(room), *body = malloc(room);
	size_t used = 0;

	if (!answer || !body)
		abort();
	for (int i = 0; i < TIMES; i++)
		used += (size_t)snprintf(body + used, room - used, "%s", bucket);
	used += (size_t)snprintf(body + used, room - used, "%s", fixture_text);
	(void)snprintf(answer, room, "HTTP/1.1 200 OK\r\ncontent-length: %zu\r\n\r\n%s", used,
	               body);
	peer_say(peer, answer);
	free(body);
}

/* The engines, in a process of their own: their work is not ours. */
static void serve(void)
{
	struct ev_loop *loop = ev_loop_new(EVFLAG_AUTO);
	struct span page = fixture("engine-vllm-0.33.txt");
	char *text = strndup(page.at, page.len);

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (size_t i = 0; i < MANY; i++) {
		int fd = many[i].io.fd;

		many[i].loop = loop;
		many[i].http = true;
		many[i].manners = i == FROZEN ? PEER_STALLS : PEER_KEEPS;
		if (i == GARBAGE)
			repeat(&many[i], "\x01\xff{\"vllm:num_requests_running{{{\n\" 9 \x80",
			       GARBAGE_BYTES);
		else if (i == HUGE)
			repeat(&many[i], "vllm:bucket{le=\"1\",model_name=\"m\"} 1.5\n",
			       HUGE_BYTES);
		else
			say_page(&many[i], text);
		peer_start_on(&many[i], fd);
	}
	ev_run(loop, 0);
}

struct scene {
	struct ev_loop *loop;
	struct world world;
	struct engine_profiles *profiles;
	struct fetch *fetch;
	struct scraper *scraper;
	struct decider *decider;
	uint32_t ids[MANY];
	pid_t engines;
	ev_prepare before; /* the loop sleeps */
	ev_check after;    /* it has woken */
	ev_timer look, end;
	usec_t woken, longest; /* processor time of a turn */
	usec_t worst_age;
	bool begun;               /* all that can have been read once */
	usec_t decided, deciding; /* how many, and their processor time */
};

static usec_t processor_time(void)
{
	struct timespec time;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (usec_t)time.tv_sec * SECOND + (usec_t)time.tv_nsec / 1000;
}

static void on_after(struct ev_loop *loop, ev_check *check, int events)
{
	struct scene *scene = check->data;

	(void)loop;
	(void)events;
	scene->woken = processor_time();
}

static void on_before(struct ev_loop *loop, ev_prepare *prepare, int events)
{
	struct scene *scene = prepare->data;
	usec_t took = scene->woken ? processor_time() - scene->woken : 0;

	(void)loop;
	(void)events;
	if (took > scene->longest)
		scene->longest = took;
}

static bool is_good(size_t engine)
{
	return engine != FROZEN && engine != GARBAGE && engine != HUGE;
}

static void decide_some(struct scene *scene)
{
	usec_t from = processor_time();

	for (int i = 0; i < 20; i++) {
		char id[32];
		struct request request = { 0 };
		struct decision decision;

		(void)snprintf(id, sizeof(id), "id-%llu", (unsigned long long)scene->decided++);
		request.id = span_of(id);
		decider_decide(scene->decider, &request, loop_now(), &decision);
		assert_int_equal(decision.outcome, OUTCOME_ROUTED);
		(void)inflight_end(scene->world.facts->inflight, flight_id_of(request.id),
		                   loop_now(), &(struct flight){ 0 });
	}
	scene->deciding += processor_time() - from;
}

/* Twenty times a second: the ages of what is known, and some decisions. */
static void on_look(struct ev_loop *loop, ev_timer *timer, int events)
{
	struct scene *scene = timer->data;
	usec_t now = loop_now(), worst = 0;

	(void)loop;
	(void)events;
	for (size_t i = 0; i < MANY; i++) {
		const struct engine_page *page =
		        engines_page(scene->world.facts->engines, scene->ids[i], now, 0);

		if (!is_good(i))
			continue;
		if (!page)
			worst = UINT64_MAX;
		else if (worst != UINT64_MAX && now - page->at > worst)
			worst = now - page->at;
	}
	scene->begun = scene->begun || worst != UINT64_MAX;
	if (scene->begun && worst > scene->worst_age)
		scene->worst_age = worst;
	decide_some(scene);
}

static void on_end(struct ev_loop *loop, ev_timer *timer, int events)
{
	(void)timer;
	(void)events;
	ev_break(loop, EVBREAK_ONE);
}

static void list_engines(struct scene *scene)
{
	static char names[MANY][8];
	struct server_fact servers[MANY];

	for (size_t i = 0; i < MANY; i++) {
		(void)snprintf(names[i], sizeof(names[i]), "s%zu", i);
		servers[i] = (struct server_fact){ .backend = span_of("svc"),
			                           .server = span_of(names[i]),
			                           .address = span_of(addresses[i]),
			                           .weight = 100,
			                           .up = true };
	}
	(void)fleet_apply(scene->world.facts->fleet, 0, servers, MANY, loop_now(), facts_forget,
	                  scene->world.facts);
	for (size_t i = 0; i < MANY; i++)
		scene->ids[i] = world_target(&scene->world, addresses[i]);
}

static void open_scene(struct scene *scene)
{
	struct scraper_options options = { .backoff_max = SECOND, .seed = 1 };

	for (size_t i = 0; i < MANY; i++) {
		many[i].io.fd = loop_listen(&many[i].port);
		(void)snprintf(addresses[i], ADDRESS_MAX_BYTES, "127.0.0.1:%u", many[i].port);
	}
	scene->engines = fork();
	if (scene->engines == 0) {
		serve();
		_exit(0);
	}
	scene->loop = ev_loop_new(EVFLAG_AUTO);
	world_open(&scene->world);
	list_engines(scene);
	scene->profiles = engines_profiles();
	scene->fetch = fetch_new(scene->loop, 128);
	scene->scraper = scraper_new(&(struct observe){ .loop = scene->loop,
	                                                .facts = scene->world.facts,
	                                                .now = loop_now },
	                             scene->fetch, scene->profiles, &options);
	scene->decider = decider_new(scene->world.facts, 1);
	assert_true(scene->engines > 0 && scene->scraper && scene->decider);
	ev_prepare_init(&scene->before, on_before);
	ev_check_init(&scene->after, on_after);
	ev_timer_init(&scene->look, on_look, 0.05, 0.05);
	scene->before.data = scene->after.data = scene->look.data = scene;
	ev_set_priority(&scene->after, EV_MAXPRI);
}

static void run_for(struct scene *scene, double seconds)
{
	ev_timer_init(&scene->end, on_end, seconds, 0);
	ev_timer_start(scene->loop, &scene->end);
	ev_run(scene->loop, 0);
}

static void close_scene(struct scene *scene)
{
	scraper_free(scene->scraper);
	fetch_free(scene->fetch);
	engine_profiles_free(scene->profiles);
	decider_free(scene->decider);
	world_close(&scene->world);
	ev_loop_destroy(scene->loop);
	(void)kill(scene->engines, SIGKILL);
	(void)waitpid(scene->engines, NULL, 0);
	for (size_t i = 0; i < MANY; i++)
		(void)close(many[i].io.fd);
}

static void one_that_is_bad_holds_up_nobody(void **state)
{
	static struct scene scene;
	struct scraper_counts counts;
	double alone, beside;

	(void)state;
	open_scene(&scene);
	ev_timer_start(scene.loop, &scene.look);
	run_for(&scene, 1);
	alone = (double)scene.deciding / (double)scene.decided;
	scene.decided = scene.deciding = 0;
	ev_prepare_start(scene.loop, &scene.before);
	ev_check_start(scene.loop, &scene.after);
	scraper_start(scene.scraper);
	run_for(&scene, run_s);
	beside = (double)scene.deciding / (double)scene.decided;
	counts = scraper_counts(scene.scraper);
	print_message("oldest value %.2f s, longest turn %.2f ms, a decision %.1f us (%.1f us "
	              "without)\ngood %llu, late %llu, refused %llu, no page %llu\n",
	              (double)scene.worst_age / 1e6, (double)scene.longest / 1e3, beside, alone,
	              (unsigned long long)counts.good, (unsigned long long)counts.late,
	              (unsigned long long)counts.refused, (unsigned long long)counts.no_page);
	assert_true(scene.begun);
	assert_true(scene.worst_age <= oldest);
	assert_true(scene.longest <= longest_turn);
	assert_true(beside <= 2 * alone + 5);
	assert_true(counts.late >= 2 && counts.refused >= 2 && counts.no_page >= 2);
	assert_true(counts.good >= (MANY - 3) * 4);
	assert_null(engines_page(scene.world.facts->engines, scene.ids[HUGE], loop_now(), 0));
	assert_null(engines_page(scene.world.facts->engines, scene.ids[FROZEN], loop_now(), 0));
	close_scene(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(one_that_is_bad_holds_up_nobody) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
