/* test_greeting.c - who the link is, where it goes, and what it does not take: passwords and
 * their files, databases, redirections, sentinels, names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <netdb.h>

#include "tests/redis/linked.h"

/* Data is what the store wants behind AUTH: a password, or a user, a blank and a password. */
static bool want_password(void *data, struct fake_peer *peer, const char *name,
                          const struct redis_reply *command)
{
	char said[128] = "";

	if (strcmp(name, "AUTH") != 0)
		return false;
	for (size_t i = 1; i < command->count; i++)
		(void)snprintf(said + strlen(said), sizeof(said) - strlen(said), "%s%s",
		               i > 1 ? " " : "", redis_reply_text(redis_reply_at(command, i)).at);
	fake_say(peer, strcmp(said, data) == 0 ? "+OK\r\n"
	                                       : "-WRONGPASS invalid username-password pair\r\n");
	return true;
}

static struct linked *that_wants(char *password)
{
	struct linked *linked = linked_open();

	linked->store.answer = want_password;
	linked->store.data = password;
	return linked;
}

static void start(struct linked *linked, const char *before, const char *after)
{
	char url[128];

	(void)snprintf(url, sizeof(url), "redis://%s127.0.0.1:%u%s", before,
	               (unsigned)linked->store.port, after);
	linked_start_at(linked, url);
}

static void all_of_it_in_order(void **state)
{
	char wanted[] = "agent secret";
	struct linked *linked = that_wants(wanted);

	(void)state;
	start(linked, "agent:secret@", "/3");
	assert_true(reaches(linked, &linked->ups, 1));
	assert_string_equal(linked->store.heard, "AUTH CLIENT SELECT PING ");
	linked_close(linked);
}

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	must(file != NULL);
	(void)fputs(text, file);
	(void)fclose(file);
}

/* A new one; ret_path ends in XXXXXX, and is where it is. */
static void new_file(char *ret_path, const char *text)
{
	int fd = mkstemp(ret_path);

	assert_true(fd >= 0);
	(void)close(fd);
	write_file(ret_path, text);
}

static void the_password_is_read_at_each_greeting(void **state)
{
	char password[] = "second";
	struct linked *linked = that_wants(password);
	char path[] = "/tmp/test_greeting.XXXXXX";

	(void)state;
	new_file(path, "first\n");
	(void)snprintf(linked->options.password_file, REDIS_FILE_MAX, "%s", path);
	start(linked, ":ignored@", "");
	assert_true(reaches(linked, &linked->downs, 2));
	assert_int_equal(linked->fault, REDIS_FAULT_AUTH);
	assert_non_null(strstr(linked->text, "WRONGPASS"));
	assert_null(strstr(linked->text, "first"));
	write_file(path, "\n");
	linked->downs = 0;
	assert_true(reaches(linked, &linked->downs, 2));
	assert_int_equal(linked->fault, REDIS_FAULT_PASSWORD_FILE);
	assert_non_null(strstr(linked->text, "first line"));
	write_file(path, "second\r\nand more\n");
	assert_true(reaches(linked, &linked->ups, 1));
	(void)unlink(path);
	fake_kick_all(&linked->store);
	linked->downs = 0;
	assert_true(reaches(linked, &linked->downs, 2));
	assert_int_equal(linked->fault, REDIS_FAULT_PASSWORD_FILE);
	assert_non_null(strstr(linked->text, "No such file"));
	linked_close(linked);
}

static void a_user_of_the_url_goes_with_the_password_of_the_file(void **state)
{
	char wanted[] = "agent secret", path[] = "/tmp/test_greeting.XXXXXX";
	struct linked *linked = that_wants(wanted);

	(void)state;
	new_file(path, "secret\n");
	(void)snprintf(linked->options.password_file, REDIS_FILE_MAX, "%s", path);
	start(linked, "agent@", "");
	assert_true(reaches(linked, &linked->ups, 1));
	assert_string_equal(linked->store.heard, "AUTH CLIENT PING ");
	(void)unlink(path);
	linked_close(linked);
}

static void a_user_without_a_password_is_said_and_not_left_out(void **state)
{
	struct linked *linked = linked_open();

	(void)state;
	start(linked, "agent@", "");
	assert_true(reaches(linked, &linked->downs, 1));
	assert_int_equal(linked->fault, REDIS_FAULT_PASSWORD_FILE);
	assert_non_null(strstr(linked->text, "no password"));
	linked_close(linked);
}

/* What the store says to one word of the greeting. */
struct saying {
	const char *to, *says;
	enum redis_fault fault; /* COUNT: none, it comes up */
};

static bool say(void *data, struct fake_peer *peer, const char *name,
                const struct redis_reply *command)
{
	const struct saying *saying = data;

	(void)command;
	if (strcmp(name, saying->to) != 0)
		return false;
	fake_say(peer, saying->says);
	return true;
}

static void what_the_store_may_say(void **state)
{
	static const struct saying sayings[] = {
		{ "PING", "-LOADING Redis is loading the dataset in memory\r\n",
		  REDIS_FAULT_LOADING },
		{ "PING", "-NOAUTH Authentication required.\r\n", REDIS_FAULT_AUTH },
		{ "PING", "-MASTERDOWN Link with MASTER is down\r\n", REDIS_FAULT_NOT_PRIMARY },
		{ "PING", "-BUSY Redis is busy running a script\r\n", REDIS_FAULT_REFUSES },
		{ "PING", "-ERR max number of clients reached\r\n", REDIS_FAULT_REFUSES },
		{ "PING", "-NOPERM this user has no permissions to run ping\r\n",
		  REDIS_FAULT_COUNT },
		{ "PING", "-MISCONF Redis is configured to save\r\n", REDIS_FAULT_COUNT },
		{ "CLIENT", "-NOPERM no permissions\r\n", REDIS_FAULT_COUNT },
		{ "CLIENT", "-ERR unknown command\r\n", REDIS_FAULT_COUNT },
		{ "SELECT", "-ERR DB index is out of range\r\n", REDIS_FAULT_REFUSES },
		{ "AUTH", "-ERR invalid password\r\n", REDIS_FAULT_AUTH },
		{ "AUTH", "-ERR AUTH <password> called without any password configured\r\n",
		  REDIS_FAULT_AUTH },
		{ "AUTH", "-ERR max number of clients reached\r\n", REDIS_FAULT_REFUSES },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(sayings) / sizeof(sayings[0]); i++) {
		struct linked *linked = linked_open();
		struct saying saying = sayings[i];

		linked->store.answer = say;
		linked->store.data = &saying;
		start(linked, ":secret@", "/1");
		if (saying.fault == REDIS_FAULT_COUNT) {
			assert_true(reaches(linked, &linked->ups, 1));
			assert_int_equal(linked->downs, 0);
		} else {
			assert_true(reaches(linked, &linked->downs, 1));
			if (linked->fault != saying.fault)
				fail_msg("%s: %s", saying.says, redis_fault_label(linked->fault));
			assert_int_equal(linked->ups, 0);
			saying.to = "nothing";
			assert_true(reaches(linked, &linked->ups, 1));
		}
		linked_close(linked);
	}
}

/* The store sends whoever asks to another one. */
static bool send_away(void *data, struct fake_peer *peer, const char *name,
                      const struct redis_reply *command)
{
	const struct fake_store *other = data;
	char text[64];

	(void)command;
	if (strcmp(name, "WHAT") != 0)
		return false;
	(void)snprintf(text, sizeof(text), "-MOVED 866 127.0.0.1:%u\r\n", (unsigned)other->port);
	fake_say(peer, text);
	return true;
}

static void a_cluster_sends_us_to_another_node(void **state)
{
	struct linked *linked = linked_open();
	struct fake_store other;
	char address[64];

	(void)state;
	fake_open(&other, linked->loop);
	linked->store.answer = send_away;
	linked->store.data = &other;
	linked_start(linked);
	assert_true(reaches(linked, &linked->ups, 1));
	assert_true(linked_send(linked, "WHAT", SECOND));
	assert_true(reaches(linked, &linked->ups, 2));
	assert_int_equal(linked->result, REDIS_RESULT_MOVED);
	assert_int_equal(linked->fault, REDIS_FAULT_MOVED);
	assert_int_equal(linked->retry_in, 0);
	(void)snprintf(address, sizeof(address), "127.0.0.1:%u", (unsigned)other.port);
	assert_string_equal(linked->address, address);
	assert_true(linked_send(linked, "WHAT", SECOND));
	assert_true(reaches(linked, &linked->replies, 2));
	assert_int_equal(linked->result, REDIS_RESULT_OK);
	fake_close(&other); /* and then it is asked again who has the key */
	assert_true(reaches(linked, &linked->ups, 3));
	(void)snprintf(address, sizeof(address), "127.0.0.1:%u", (unsigned)linked->store.port);
	assert_string_equal(linked->address, address);
	linked_close(linked);
}

static void sent_in_circles_it_rests(void **state)
{
	struct linked *linked = linked_open();
	struct fake_store other;
	unsigned rests = 0;

	(void)state;
	fake_open(&other, linked->loop);
	linked->store.answer = other.answer = send_away;
	linked->store.data = &other;
	other.data = &linked->store;
	linked_start(linked);
	for (unsigned i = 1; i <= 12; i++) {
		assert_true(reaches(linked, &linked->ups, i));
		assert_true(linked_send(linked, "WHAT", SECOND));
		assert_true(reaches(linked, &linked->downs, i));
		rests += linked->retry_in > 0;
	}
	assert_int_equal(rests, 7); /* the first five are followed at once */
	fake_close(&other);
	linked_close(linked);
}

static void the_next_host_is_tried(void **state)
{
	struct linked *linked = linked_open();
	struct fake_store other;
	char url[128];

	(void)state;
	fake_open(&other, linked->loop);
	(void)snprintf(url, sizeof(url), "redis://127.0.0.1:%u,127.0.0.1:%u", (unsigned)other.port,
	               (unsigned)linked->store.port);
	fake_close(&other);
	linked_start_at(linked, url);
	assert_true(reaches(linked, &linked->ups, 1));
	assert_int_equal(linked->downs, 1);
	linked_close(linked);
}

static void a_name_is_looked_up(void **state)
{
	struct linked *linked = linked_open();
	struct addrinfo *found = NULL;
	char url[64];

	(void)state;
	if (getaddrinfo("localhost", NULL, NULL, &found) != 0) { /* a root without /etc/hosts */
		linked_close(linked);
		skip();
	}
	freeaddrinfo(found);
	(void)snprintf(url, sizeof(url), "redis://localhost:%u", (unsigned)linked->store.port);
	linked->options.connect_deadline = 3 * SECOND;
	linked_start_at(linked, url); /* ::1 may come first, and is refused */
	assert_true(reaches(linked, &linked->ups, 1));
	assert_int_equal(linked->downs, 0);
	linked_close(linked);
}

static void a_name_that_has_no_address(void **state)
{
	struct linked *linked = linked_open();

	(void)state;
	linked->options.connect_deadline = 3 * SECOND;
	linked_start_at(linked, "redis://no-such-host.invalid");
	assert_true(reaches(linked, &linked->downs, 2));
	assert_int_equal(linked->fault, REDIS_FAULT_NAME);
	linked_close(linked);
}

static void freed_while_a_name_is_looked_up(void **state)
{
	(void)state;
	for (int i = 0; i < 20; i++) {
		struct linked *linked = linked_open();

		linked_start_at(linked, "redis://no-such-host.invalid");
		for (int turn = 0; turn < i % 4; turn++)
			ev_run(linked->loop, EVRUN_ONCE);
		linked_close(linked);
	}
}

/* A sentinel that names one of two stores; data is the port. */
struct named {
	struct fake_store sentinel;
	uint16_t port; /* 0: it does not know */
};

static bool name_primary(void *data, struct fake_peer *peer, const char *name,
                         const struct redis_reply *command)
{
	const struct named *named = data;
	char text[64], port[8];

	if (strcmp(name, "SENTINEL") != 0)
		return false;
	must(strcmp(redis_reply_text(redis_reply_at(command, 2)).at, "ours") == 0);
	(void)snprintf(port, sizeof(port), "%u", (unsigned)named->port);
	(void)snprintf(text, sizeof(text), "*2\r\n$9\r\n127.0.0.1\r\n$%zu\r\n%s\r\n", strlen(port),
	               port);
	fake_say(peer, named->port ? text : "*-1\r\n");
	return true;
}

static void start_by_sentinel(struct linked *linked, struct named *named)
{
	char url[64];

	fake_open(&named->sentinel, linked->loop);
	named->sentinel.answer = name_primary;
	named->sentinel.data = named;
	(void)snprintf(url, sizeof(url), "redis+sentinel://127.0.0.1:%u/ours",
	               (unsigned)named->sentinel.port);
	linked_start_at(linked, url);
}

static void a_sentinel_names_the_primary_and_then_another(void **state)
{
	struct linked *linked = linked_open();
	struct named named = { .port = linked->store.port };
	struct fake_store other;
	char address[64];

	(void)state;
	fake_open(&other, linked->loop);
	start_by_sentinel(linked, &named);
	assert_true(reaches(linked, &linked->ups, 1));
	assert_string_equal(linked->store.heard, "CLIENT ROLE PING ");
	named.port = other.port;
	assert_true(reaches(linked, &linked->ups, 2));
	assert_int_equal(linked->fault, REDIS_FAULT_CHANGED);
	(void)snprintf(address, sizeof(address), "127.0.0.1:%u", (unsigned)other.port);
	assert_string_equal(linked->address, address);
	fake_close(&other);
	fake_close(&named.sentinel);
	linked_close(linked);
}

static void the_sentinels_have_a_password_of_their_own(void **state)
{
	char path[] = "/tmp/test_greeting.XXXXXX";
	struct linked *linked = linked_open();
	struct named named = { .port = linked->store.port };

	(void)state;
	new_file(path, "theirs\n");
	(void)snprintf(linked->options.sentinel_password_file, REDIS_FILE_MAX, "%s", path);
	start_by_sentinel(linked, &named);
	assert_true(reaches(linked, &linked->ups, 1));
	assert_string_equal(linked->store.heard, "CLIENT ROLE PING ");
	assert_memory_equal(named.sentinel.heard, "AUTH ", strlen("AUTH "));
	(void)unlink(path);
	fake_close(&named.sentinel);
	linked_close(linked);
}

static void a_sentinel_that_knows_nothing_or_is_away(void **state)
{
	struct linked *linked = linked_open();
	struct named named = { .port = 0 };

	(void)state;
	start_by_sentinel(linked, &named);
	assert_true(reaches(linked, &linked->downs, 4));
	assert_int_equal(linked->fault, REDIS_FAULT_SENTINEL);
	assert_non_null(strstr(linked->text, "does not know"));
	named.port = linked->store.port;
	assert_true(reaches(linked, &linked->ups, 1));
	fake_close(&named.sentinel);
	fake_kick_all(&linked->store); /* who was named last is still one to try */
	assert_true(reaches(linked, &linked->ups, 2));
	linked_close(linked);
}

static void a_replica_is_not_taken_for_the_primary(void **state)
{
	struct linked *linked = linked_open();
	struct named named = { .port = linked->store.port };
	struct saying saying = {
		.to = "ROLE",
		.says = "*5\r\n$5\r\nslave\r\n$1\r\na\r\n:1\r\n$9\r\nconnected\r\n:1\r\n"
	};

	(void)state;
	linked->store.answer = say;
	linked->store.data = &saying;
	start_by_sentinel(linked, &named);
	do
		assert_true(reaches(linked, &linked->downs, linked->downs + 1));
	while (linked->fault == REDIS_FAULT_SENTINEL);
	assert_int_equal(linked->fault, REDIS_FAULT_NOT_PRIMARY);
	assert_int_equal(linked->ups, 0);
	saying.says = "-NOPERM no\r\n"; /* hidden by an ACL: the sentinel's word is taken */
	assert_true(reaches(linked, &linked->ups, 1));
	fake_close(&named.sentinel);
	linked_close(linked);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_of_it_in_order),
		cmocka_unit_test(the_password_is_read_at_each_greeting),
		cmocka_unit_test(a_user_of_the_url_goes_with_the_password_of_the_file),
		cmocka_unit_test(a_user_without_a_password_is_said_and_not_left_out),
		cmocka_unit_test(what_the_store_may_say),
		cmocka_unit_test(a_cluster_sends_us_to_another_node),
		cmocka_unit_test(sent_in_circles_it_rests),
		cmocka_unit_test(the_next_host_is_tried),
		cmocka_unit_test(a_name_is_looked_up),
		cmocka_unit_test(a_name_that_has_no_address),
		cmocka_unit_test(freed_while_a_name_is_looked_up),
		cmocka_unit_test(a_sentinel_names_the_primary_and_then_another),
		cmocka_unit_test(the_sentinels_have_a_password_of_their_own),
		cmocka_unit_test(a_sentinel_that_knows_nothing_or_is_away),
		cmocka_unit_test(a_replica_is_not_taken_for_the_primary),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
