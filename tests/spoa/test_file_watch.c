/* test_file_watch.c - a policy that a ConfigMap brings is read anew, once, and never half. Proves
 * B052. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "spoa/file_watch.h"

static char folder[64];

static const char *at(const char *name)
{
	static char paths[4][128];
	static unsigned turn;
	char *path = paths[turn++ % 4];

	(void)snprintf(path, 128, "%s/%s", folder, name);
	return path;
}

static void put(const char *name, const char *text)
{
	FILE *file = fopen(at(name), "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

/* As kubelet does: folders of contents, a link to the one in force, links into it. */
static void kubelet_puts(const char *version, const char *text)
{
	char name[64];

	assert_int_equal(mkdir(at(version), 0755), 0);
	(void)snprintf(name, sizeof(name), "%s/policy.json", version);
	put(name, text);
	assert_int_equal(symlink(version, at("..data_tmp")), 0);
	assert_int_equal(rename(at("..data_tmp"), at("..data")), 0);
}

static int setup(void **state)
{
	(void)state;
	(void)strcpy(folder, "/tmp/file_watch.XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int teardown(void **state)
{
	char command[128];

	(void)state;
	(void)snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	return system(command);
}

static void a_configmap_is_seen_anew_once(void **state)
{
	struct file_watch watch;

	(void)state;
	kubelet_puts("..one", "{}");
	assert_int_equal(symlink("..data/policy.json", at("policy.json")), 0);
	file_watch_init(&watch, at("policy.json"));
	assert_false(file_watch_look(&watch, at("policy.json")));
	kubelet_puts("..two", "{}"); /* of the same size, perhaps of the same time */
	assert_false(file_watch_look(&watch, at("policy.json")));
	assert_true(file_watch_look(&watch, at("policy.json")));
	assert_false(file_watch_look(&watch, at("policy.json")));
}

static void a_file_that_is_being_written_is_waited_for(void **state)
{
	struct file_watch watch;

	(void)state;
	put("plain.json", "{}");
	file_watch_init(&watch, at("plain.json"));
	put("plain.json", "{ \"defaults\"");
	assert_false(file_watch_look(&watch, at("plain.json")));
	put("plain.json", "{ \"defaults\": {} }");
	assert_false(file_watch_look(&watch, at("plain.json")));
	assert_true(file_watch_look(&watch, at("plain.json")));
}

static void a_file_that_is_gone_is_no_new_policy(void **state)
{
	struct file_watch watch;

	(void)state;
	put("gone.json", "{}");
	file_watch_init(&watch, at("gone.json"));
	assert_int_equal(unlink(at("gone.json")), 0);
	assert_false(file_watch_look(&watch, at("gone.json")));
	assert_false(file_watch_look(&watch, at("gone.json")));
	put("gone.json", "{ }");
	assert_false(file_watch_look(&watch, at("gone.json")));
	assert_true(file_watch_look(&watch, at("gone.json")));
}

static void what_went_back_to_what_it_was_is_not_read(void **state)
{
	struct file_watch watch;

	(void)state;
	put("a.json", "{}");
	put("b.json", "{ }");
	assert_int_equal(symlink("a.json", at("link.json")), 0);
	file_watch_init(&watch, at("link.json"));
	assert_int_equal(unlink(at("link.json")), 0);
	assert_int_equal(symlink("b.json", at("link.json")), 0);
	assert_false(file_watch_look(&watch, at("link.json")));
	assert_int_equal(unlink(at("link.json")), 0);
	assert_int_equal(symlink("a.json", at("link.json")), 0);
	assert_false(file_watch_look(&watch, at("link.json")));
	assert_false(file_watch_look(&watch, at("link.json")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_configmap_is_seen_anew_once),
		cmocka_unit_test(a_file_that_is_being_written_is_waited_for),
		cmocka_unit_test(a_file_that_is_gone_is_no_new_policy),
		cmocka_unit_test(what_went_back_to_what_it_was_is_not_read),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
