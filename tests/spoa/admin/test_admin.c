/* test_admin.c - every page over a real socket, as curl and Prometheus ask for it. */
#include "tests/spoa/admin/admin_world.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ev.h>
#include <fcntl.h>
#include <jansson.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "spoa/admin/admin.h"
#include "spoa/admin/admin_parts.h"
#include "spoa/web/listen.h"
#include "tests/spoa/golden.h"

struct scene {
	struct world *world;
	struct ev_loop *loop;
	struct admin *admin;
	struct admin_context context;
	char folder[64], path[96], address[112];
};

static struct scene scene;
static bool agent_ready;

static usec_t now(void)
{
	return scene.world->now;
}

static int64_t wall(void)
{
	return wall_ms;
}

static void fill(void *data, struct agent_counters *ret_counters)
{
	fill_agent(data, ret_counters);
	ret_counters->ready = agent_ready;
}

static int start(void **state)
{
	const char *addresses[] = { "127.0.0.1:0", scene.address };
	struct admin_options options = { addresses, 2 };
	struct error error = { "" };

	(void)state;
	agent_ready = true;
	(void)snprintf(scene.folder, sizeof(scene.folder), "/tmp/test_admin.XXXXXX");
	assert_non_null(mkdtemp(scene.folder));
	(void)snprintf(scene.path, sizeof(scene.path), "%s/admin.sock", scene.folder);
	(void)snprintf(scene.address, sizeof(scene.address), "unix:%s", scene.path);
	scene.world = admin_world();
	scene.loop = ev_loop_new(EVFLAG_AUTO);
	scene.context = (struct admin_context){ .facts = scene.world->facts,
		                                .decisions = decision_log_new(16),
		                                .fill = fill,
		                                .now = now,
		                                .wall_ms = wall,
		                                .stages = { pipeline_stage, name_of_stage } };
	scene.admin = admin_new(scene.loop, &options, &scene.context, &error);
	assert_string_equal(error.text, "");
	assert_non_null(scene.admin);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	admin_free(scene.admin);
	ev_loop_destroy(scene.loop);
	decision_log_free(scene.context.decisions);
	world_free(scene.world);
	return rmdir(scene.folder);
}

static int connect_admin(bool over_unix)
{
	struct sockaddr_in in = { .sin_family = AF_INET,
		                  .sin_port = htons(admin_port(scene.admin, 0)),
		                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	int fd = socket(over_unix ? AF_UNIX : AF_INET, SOCK_STREAM, 0);

	(void)snprintf(un.sun_path, sizeof(un.sun_path), "%s", scene.path);
	assert_true(fd >= 0);
	if (over_unix)
		assert_int_equal(connect(fd, (struct sockaddr *)&un, sizeof(un)), 0);
	else
		assert_int_equal(connect(fd, (struct sockaddr *)&in, sizeof(in)), 0);
	assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	return fd;
}

static char heard[1 << 20];

/* The status; the body is then at ret_body. */
static int ask(bool over_unix, const char *method, const char *target, const char **ret_body)
{
	int fd = connect_admin(over_unix);
	char text[256];
	size_t len = 0;
	ssize_t n =
	        snprintf(text, sizeof(text),
	                 "%s %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", method, target);

	assert_int_equal(write(fd, text, (size_t)n), n);
	while ((n = read(fd, heard + len, sizeof(heard) - 1 - len)) != 0) {
		if (n > 0) {
			len += (size_t)n;
		} else {
			assert_int_equal(errno, EAGAIN);
			ev_run(scene.loop, EVRUN_ONCE);
		}
	}
	(void)close(fd);
	heard[len] = '\0';
	*ret_body = strstr(heard, "\r\n\r\n");
	assert_non_null(*ret_body);
	*ret_body += 4;
	return (int)strtol(heard + strlen("HTTP/1.1 "), NULL, 10);
}

static json_t *ask_json(const char *target)
{
	const char *body;
	json_t *object;

	assert_int_equal(ask(true, "GET", target, &body), 200);
	assert_non_null(strstr(heard, "Content-Type: application/json\r\n"));
	object = json_loads(body, 0, NULL);
	assert_non_null(object);
	return object;
}

static void every_page_is_answered_over_both_sockets(void **state)
{
	static const char *const paths[] = { "/healthz",
		                             "/readyz",
		                             "/metrics",
		                             "/v1/models",
		                             "/v1/models/llama70b",
		                             "/api/v1/agent",
		                             "/api/v1/instances",
		                             "/api/v1/replicas",
		                             "/api/v1/prefix",
		                             "/api/v1/sessions",
		                             "/api/v1/haproxy",
		                             "/api/v1/decisions",
		                             "/api/v1/config" };
	const char *body;

	(void)state;
	for (size_t i = 0; i < COUNT(paths); i++) {
		assert_int_equal(ask(false, "GET", paths[i], &body), 200);
		assert_true(body[0] != '\0');
		assert_int_equal(ask(true, "GET", paths[i], &body), 200);
		assert_int_equal(ask(true, "HEAD", paths[i], &body), 200);
		assert_string_equal(body, "");
		assert_int_equal(ask(true, "POST", paths[i], &body), 405);
		assert_non_null(strstr(heard, "Allow: GET, HEAD\r\n"));
	}
}

static void what_is_not_there_is_a_404(void **state)
{
	static const char *const paths[] = { "/",           "/metricsx",   "/v1/models/nobody",
		                             "/v1/models/", "/api/v1/x",   "/api/v1/decisions?id=7",
		                             "/healthz/",   "/../healthz", "/v1/models/a/b" };
	const char *body;

	(void)state;
	for (size_t i = 0; i < COUNT(paths); i++) {
		assert_int_equal(ask(true, "GET", paths[i], &body), 404);
		assert_non_null(strstr(body, "\"status\":404"));
	}
}

static void ready_means_listening_with_a_policy(void **state)
{
	const char *body;

	(void)state;
	agent_ready = false;
	assert_int_equal(ask(true, "GET", "/readyz", &body), 503);
	assert_int_equal(ask(true, "GET", "/healthz", &body), 200);
}

static void prometheus_gets_its_content_type(void **state)
{
	const char *body;

	(void)state;
	assert_int_equal(ask(false, "GET", "/metrics", &body), 200);
	assert_non_null(
	        strstr(heard, "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
	assert_non_null(strstr(heard, "Cache-Control: no-store\r\n"));
	assert_non_null(
	        strstr(body, "\ninference_spoa_instance_inflight_requests{instance=\"a\"} 3\n"));
	/* This page itself is counted in the next. */
	assert_null(strstr(body, "admin_requests_total{"));
	assert_int_equal(ask(false, "GET", "/metrics", &body), 200);
	assert_non_null(strstr(body, "admin_requests_total{path=\"/metrics\",code=\"2xx\"} 1\n"));
}

/* The peer cannot be made foreign on loopback: the handler is asked directly. */
static void strangers_get_numbers_and_models_only(void **state)
{
	static const struct {
		const char *path;
		unsigned status;
	} asked[] = { { "/metrics", 200 },       { "/v1/models", 200 },
		      { "/healthz", 200 },       { "/api/v1/agent", 403 },
		      { "/api/v1/config", 403 }, { "/api/v1/decisions", 403 } };

	(void)state;
	for (size_t i = 0; i < COUNT(asked); i++) {
		struct web_request request = {
			.method = "GET", .path = asked[i].path, .accept = "", .peer = WEB_PEER_OTHER
		};
		struct web_answer answer = { 0 };

		routes_answer(scene.admin, &request, &answer);
		assert_int_equal(answer.status, asked[i].status);
		free(answer.body);
	}
}

static void golden_json(const char *name, const char *target)
{
	json_t *object = ask_json(target);
	char *text = json_dumps(object, JSON_INDENT(2) | JSON_SORT_KEYS | JSON_REAL_PRECISION(12));

	assert_non_null(text);
	golden_compare(name, text, strlen(text));
	free(text);
	json_decref(object);
}

static void objects_are_as_agreed(void **state)
{
	(void)state;
	golden_json("instances.json", "/api/v1/instances");
	golden_json("replicas.json", "/api/v1/replicas");
	golden_json("haproxy.json", "/api/v1/haproxy");
	golden_json("prefix.json", "/api/v1/prefix");
	golden_json("sessions.json", "/api/v1/sessions");
	golden_json("models.json", "/v1/models");
}

static void the_agent_page_knows_its_policy(void **state)
{
	json_t *agent = ask_json("/api/v1/agent");
	json_t *policy = json_object_get(agent, "policy");

	(void)state;
	assert_string_equal(json_string_value(json_object_get(policy, "hash")), "000000000000001f");
	assert_string_equal(json_string_value(json_object_get(agent, "version")), "1.2.3");
	assert_int_equal(json_array_size(json_object_get(agent, "alarms")), 1);
	assert_true(json_real_value(json_object_get(agent, "uptime_s")) == 3600.5);
	json_decref(agent);
}

static void replicas_of_one_instance(void **state)
{
	json_t *object = ask_json("/api/v1/replicas?instance=b");

	(void)state;
	assert_int_equal(json_array_size(json_object_get(object, "replicas")), 2);
	json_decref(object);
	object = ask_json("/api/v1/replicas?instance=none");
	assert_int_equal(json_array_size(json_object_get(object, "replicas")), 0);
	json_decref(object);
}

static void the_config_names_every_option(void **state)
{
	json_t *config = ask_json("/api/v1/config");
	json_t *options = json_object_get(config, "options");
	json_t *chain = json_object_get(json_object_get(config, "default-rule"), "chain");

	(void)state;
	for (const struct option *option = policy_options; option->name; option++)
		assert_non_null(json_object_get(options, option->name));
	for (const struct option *option = prefix_options; option->name; option++)
		assert_non_null(json_object_get(json_object_get(config, "prefix"), option->name));
	for (const struct option *option = health_options; option->name; option++)
		assert_non_null(json_object_get(json_object_get(config, "health"), option->name));
	assert_string_equal(
	        json_string_value(json_object_get(json_array_get(chain, 0), "strategy")),
	        scene.world->policy.default_rule.chain[0].strategy->name);
	json_decref(config);
}

static void a_decision_is_found_by_its_id(void **state)
{
	struct request request = world_ask(scene.world);
	struct decision decision = world_decide(scene.world, request);
	json_t *found;

	(void)state;
	decision_log_decided(scene.context.decisions, &request, &decision, scene.world->now, 3);
	found = ask_json("/api/v1/decisions?id=id-1");
	assert_string_equal(json_string_value(json_object_get(found, "id")), "id-1");
	json_decref(found);
	found = ask_json("/api/v1/decisions?n=5");
	assert_int_equal(json_array_size(json_object_get(found, "decisions")), 1);
	json_decref(found);
}

static void an_address_that_is_taken_is_an_error(void **state)
{
	const char *address = scene.address;
	struct admin_options options = { &address, 1 };
	struct error error = { "" };

	(void)state;
	assert_null(admin_new(scene.loop, &options, &scene.context, &error));
	assert_non_null(strstr(error.text, "another process serves it"));
}

static void a_fleet_of_nobody_is_no_error(void **state)
{
	struct world *empty = world_new(0, 0);
	json_t *models;

	(void)state;
	scene.context.facts = empty->facts;
	models = ask_json("/v1/models");
	assert_int_equal(json_array_size(json_object_get(models, "data")), 0);
	json_decref(models);
	json_decref(ask_json("/api/v1/instances"));
	scene.context.facts = scene.world->facts;
	world_free(empty);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
	const struct CMUnitTest admin[] = {
		TEST(every_page_is_answered_over_both_sockets),
		TEST(what_is_not_there_is_a_404),
		TEST(ready_means_listening_with_a_policy),
		TEST(prometheus_gets_its_content_type),
		TEST(strangers_get_numbers_and_models_only),
		TEST(objects_are_as_agreed),
		TEST(the_agent_page_knows_its_policy),
		TEST(replicas_of_one_instance),
		TEST(the_config_names_every_option),
		TEST(a_decision_is_found_by_its_id),
		TEST(an_address_that_is_taken_is_an_error),
		TEST(a_fleet_of_nobody_is_no_error),
	};
#undef TEST

	return cmocka_run_group_tests(admin, NULL, NULL);
}
