/* test_runtime_text.c - what HAProxy answers on its runtime socket. Proves R100,
 * P115. The fixtures are answers of HAProxy 2.6.12 and 3.0.11 to one connection. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "spoa/observe/runtime_text.h"
#include "tests/spoa/observe/fixture.h"

enum { ROOM = 32 };

static const struct runtime_server *named(const struct runtime_facts *facts, const char *backend,
                                          const char *name)
{
	for (size_t i = 0; i < facts->count; i++)
		if (span_is(facts->servers[i].backend, backend) &&
		    span_is(facts->servers[i].name, name))
			return &facts->servers[i];
	fail_msg("no %s/%s", backend, name);
	return NULL;
}

static void real_answers_are_read(void **state)
{
	static const struct {
		const char *file, *version;
		unsigned port;
	} known[] = {
		{ "runtime-2.6.txt", "2.6.12-1+deb12u4", 31100 },
		{ "runtime-3.0.txt", "3.0.11-1+deb13u4", 31200 },
	};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct span text = fixture(known[i].file);
		struct runtime_server servers[ROOM];
		struct runtime_facts facts = { .servers = servers, .room = ROOM };
		const struct runtime_server *server;
		char address[ADDRESS_MAX_BYTES];

		assert_true(runtime_text_read(text, &facts));
		assert_true(facts.info.pid > 1);
		assert_true(span_is(facts.info.version, known[i].version));
		assert_true(span_is(facts.info.node, "vm"));
		assert_false(facts.info.stopping);
		assert_int_equal(facts.info.dropped_logs, 0);
		assert_int_equal(facts.count, 16);
		assert_int_equal(facts.left_out, 0);

		server = named(&facts, "svc-a", "a0");
		(void)snprintf(address, sizeof(address), "127.0.0.1:%u", known[i].port + 10);
		assert_string_equal(server->address, address);
		assert_true(server->counted);
		assert_int_equal(server->current, 5);
		assert_int_equal(server->queued, 0);
		assert_int_equal(server->limit, 256);
		assert_true(server->weight == 100);
		assert_true(runtime_server_up(server));
		assert_false(runtime_server_maintenance(server));
		assert_false(runtime_server_draining(server));

		server = named(&facts, "svc-a", "a1");
		(void)snprintf(address, sizeof(address), "[::1]:%u", known[i].port + 11);
		assert_string_equal(server->address, address);
		assert_true(server->weight == 40);

		assert_true(runtime_server_draining(named(&facts, "svc-a", "a2")));
		/* What the file disabled and an operator made ready serves. */
		assert_false(runtime_server_maintenance(named(&facts, "svc-a", "a3")));
		assert_true(runtime_server_up(named(&facts, "svc-a", "a3")));
		server = named(&facts, "svc-a", "SRV_1");
		assert_true(runtime_server_maintenance(server));
		assert_string_equal(server->address, "127.0.0.1:1");
		assert_false(runtime_server_up(named(&facts, "svc-b", "b0")));
		assert_true(named(&facts, "svc-b", "b1")->weight == 0);
		assert_int_equal(named(&facts, "svc-b", "b1")->limit, 1);
		/* A name that does not resolve, and a unix socket: no address. */
		assert_true(runtime_server_maintenance(named(&facts, "svc-b", "b2")));
		assert_string_equal(named(&facts, "svc-b", "b2")->address, "");
		assert_string_equal(named(&facts, "svc-b", "b3")->address, "");
		assert_int_equal(named(&facts, "svc-c", "c0")->current, 1);
		assert_true(runtime_server_maintenance(named(&facts, "svc-c", "c1")));
		free((void *)(uintptr_t)text.at);
	}
}

static void an_answer_cut_anywhere_is_none(void **state)
{
	struct span text = fixture("runtime-3.0.txt");
	struct runtime_server servers[ROOM];
	size_t tables = (size_t)(strstr(text.at, "\n1\n#") - text.at);
	size_t stat = (size_t)(strstr(text.at, "\n# pxname") - text.at);

	(void)state;
	for (size_t length = 0; length + 1 < text.len; length++) {
		struct runtime_facts facts = { .servers = servers, .room = ROOM };
		bool read = runtime_text_read((struct span){ text.at, length }, &facts);

		/* Between the tables it is whole, but for the counts. */
		if (length <= tables || length >= stat + 10 || length < stat - 1)
			assert_false(read);
	}
	free((void *)(uintptr_t)text.at);
}

/* The text is exactly as long as it says, so that reading beyond would be seen. */
static bool read_text(const char *text, struct runtime_facts *facts)
{
	return runtime_text_read(span_of(text), facts);
}

#define INFO  "Name: HAProxy\nPid: 77\nStopping: 1\nDroppedLogs: 12\n\n"
#define STATE "1\n# be_name srv_name srv_addr srv_port srv_op_state srv_admin_state srv_uweight\n"
#define STAT  "# pxname,svname,qcur,scur,slim,\n"

static void columns_are_found_by_name(void **state)
{
	struct runtime_server servers[ROOM];
	struct runtime_facts facts = { .servers = servers, .room = ROOM };

	(void)state;
	assert_true(read_text(INFO
	                      "1\n# new srv_uweight srv_admin_state srv_name srv_port be_name more "
	                      "srv_addr srv_op_state\nx 7 16 s1 80 b y 10.0.0.1 3\n\n"
	                      "# slim,svname,new,pxname,scur,qcur,\n9,s1,\"a,\"\"b\",b,4,2,\n\n",
	                      &facts));
	assert_int_equal(facts.info.pid, 77);
	assert_true(facts.info.stopping);
	assert_int_equal(facts.info.dropped_logs, 12);
	assert_int_equal(facts.count, 1);
	assert_string_equal(servers[0].address, "10.0.0.1:80");
	assert_true(servers[0].weight == 7);
	assert_true(runtime_server_draining(&servers[0]));
	assert_int_equal(servers[0].operation, 3);
	assert_true(servers[0].counted);
	assert_int_equal(servers[0].current, 4);
	assert_int_equal(servers[0].queued, 2);
	assert_int_equal(servers[0].limit, 9);
}

/* A newer HAProxy may say more; what it says twice is what it said first. */
static void of_two_columns_of_a_name_the_first_counts(void **state)
{
	struct runtime_server servers[ROOM];
	struct runtime_facts facts = { .servers = servers, .room = ROOM };

	(void)state;
	assert_true(read_text(INFO "1\n# be_name srv_name srv_addr srv_port srv_op_state "
	                           "srv_admin_state srv_uweight srv_port\n"
	                           "b s1 10.0.0.1 80 2 0 1 81\n\n" STAT "\n",
	                      &facts));
	assert_int_equal(facts.count, 1);
	assert_string_equal(servers[0].address, "10.0.0.1:80");
}

static void counts_find_their_servers_in_any_order(void **state)
{
	struct runtime_server servers[ROOM];
	struct runtime_facts facts = { .servers = servers, .room = ROOM };

	(void)state;
	assert_true(read_text(INFO STATE "b s1 1.1.1.1 80 2 0 1\nb s2 1.1.1.2 80 2 0 1\n"
	                                 "c s1 1.1.1.3 80 2 0 1\n\n" STAT
	                                 "c,s1,0,3,,\nb,s2,0,2,,\nb,s1,0,1,,\nb,s9,0,9,,\n\n",
	                      &facts));
	assert_int_equal(servers[0].current, 1);
	assert_int_equal(servers[1].current, 2);
	assert_int_equal(servers[2].current, 3);
}

static void each_way_to_rest_is_seen(void **state)
{
	struct runtime_server server = { .operation = 2 };

	(void)state;
	assert_false(runtime_server_draining(&server));
	for (unsigned bit = 0; bit < 8; bit++) {
		server.administration = (uint8_t)(1u << bit);
		assert_int_equal(runtime_server_draining(&server), bit == 3 || bit == 4);
		assert_int_equal(runtime_server_maintenance(&server),
		                 bit == 0 || bit == 1 || bit == 5);
	}
	server.administration = 0;
	for (uint8_t operation = 0; operation < 4; operation++) {
		server.operation = operation;
		assert_int_equal(runtime_server_draining(&server), operation == 3);
		assert_int_equal(runtime_server_up(&server), operation != 0);
	}
}

static void where_an_agent_check_sets_the_weight_the_configured_one_counts(void **state)
{
	struct runtime_server servers[ROOM];
	struct runtime_facts facts = { .servers = servers, .room = ROOM };

	(void)state;
	assert_true(read_text(INFO "# be_name srv_name srv_addr srv_port srv_op_state "
	                           "srv_admin_state srv_uweight srv_iweight srv_agent_state\n"
	                           "b s1 1.1.1.1 80 2 0 40 100 22\n"
	                           "b s2 1.1.1.2 80 2 0 40 100 0\n\n" STAT "\n",
	                      &facts));
	assert_true(named(&facts, "b", "s1")->weight == 100);
	assert_true(named(&facts, "b", "s2")->weight == 40);
}

static void servers_without_counts_are_servers(void **state)
{
	struct runtime_server servers[ROOM];
	struct runtime_facts facts = { .servers = servers, .room = ROOM };

	(void)state;
	assert_true(read_text(INFO STATE "b s1 1.1.1.1 80 2 0 1\n\nPermission denied\n\n", &facts));
	assert_int_equal(facts.count, 1);
	assert_false(servers[0].counted);
}

static void what_finds_no_room_is_counted(void **state)
{
	struct runtime_server servers[1];
	struct runtime_facts facts = { .servers = servers, .room = 1 };

	(void)state;
	assert_true(
	        read_text(INFO STATE "b s1 1.1.1.1 80 2 0 1\nb s2 1.1.1.1 81 2 0 1\n\n", &facts));
	assert_int_equal(facts.count, 1);
	assert_int_equal(facts.left_out, 1);
}

static void what_is_not_an_answer_is_refused(void **state)
{
	struct runtime_server servers[ROOM];
	struct runtime_facts facts = { .servers = servers, .room = ROOM };

	(void)state;
	assert_false(read_text("", &facts));
	assert_false(read_text("Permission denied\n\n", &facts));
	assert_false(read_text(INFO, &facts));
	assert_false(read_text(STATE "b s1 1.1.1.1 80 2 0 1\n\n", &facts));    /* no pid */
	assert_false(read_text(INFO "# be_name srv_name\nb s1\n\n", &facts));  /* no addresses */
	assert_false(read_text(INFO STATE "b s1 1.1.1.1 80 2 0 1\n", &facts)); /* cut */
	/* One column twice does not make up for another (found by fuzzing). */
	assert_false(read_text(INFO "# be_name srv_port srv_addr srv_port srv_op_state "
	                            "srv_admin_state srv_uweight\nb 80 1.1.1.1 80 2 0 1\n\n",
	                       &facts));
	assert_false(read_text("HTTP/1.0 400 Bad request\r\n\r\n", &facts));
}

static void odd_rows_do_no_harm(void **state)
{
	struct runtime_server servers[ROOM];
	struct runtime_facts facts = { .servers = servers, .room = ROOM };

	(void)state;
	assert_true(read_text(INFO STATE
	                      "b short\nb s1 1.1.1.1 99999 2 0 1\nb s2 host.name 80 2 0 1\n"
	                      "b s3 1.1.1.1 80 2 0 99999999999999999999999\n\n" STAT
	                      "b,s3,\"99999999999999999999999\n\n",
	                      &facts));
	assert_int_equal(facts.count, 3);
	assert_string_equal(servers[0].address, "");
	assert_string_equal(servers[1].address, "");
	assert_string_equal(servers[2].address, "1.1.1.1:80");
}

int main(void)
{
	const struct CMUnitTest runtime_text[] = {
		cmocka_unit_test(real_answers_are_read),
		cmocka_unit_test(an_answer_cut_anywhere_is_none),
		cmocka_unit_test(columns_are_found_by_name),
		cmocka_unit_test(of_two_columns_of_a_name_the_first_counts),
		cmocka_unit_test(counts_find_their_servers_in_any_order),
		cmocka_unit_test(each_way_to_rest_is_seen),
		cmocka_unit_test(where_an_agent_check_sets_the_weight_the_configured_one_counts),
		cmocka_unit_test(servers_without_counts_are_servers),
		cmocka_unit_test(what_finds_no_room_is_counted),
		cmocka_unit_test(what_is_not_an_answer_is_refused),
		cmocka_unit_test(odd_rows_do_no_harm),
	};

	return cmocka_run_group_tests(runtime_text, NULL, NULL);
}
