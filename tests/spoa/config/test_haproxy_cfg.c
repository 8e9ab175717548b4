/* test_haproxy_cfg.c - a haproxy.cfg is read as HAProxy reads it. Proves P119 in part. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "spoa/config/haproxy_cfg.h"
#include "spoa/config/haproxy_condition.h"

static const char *home_only(const void *data, struct span name)
{
	(void)data;
	return name.len == 4 && memcmp(name.at, "HOME", 4) == 0 ? "/home" : NULL;
}

static const struct haproxy_environment environment = { home_only, NULL };

static struct arena *arena;

static int open_arena(void **state)
{
	(void)state;
	arena = arena_new();
	return arena ? 0 : -1;
}

static int close_arena(void **state)
{
	(void)state;
	arena_free(arena);
	return 0;
}

static const struct haproxy_cfg *read_of(const char *text, uint32_t version)
{
	const struct haproxy_cfg *cfg =
	        haproxy_cfg_read((struct span){ text, strlen(text) }, version, &environment, arena);

	assert_non_null(cfg);
	return cfg;
}

/* The words of a line, joined by bars. */
static const char *words_of(const char *line)
{
	static char joined[HAPROXY_WORDS_TEXT_MAX];
	struct haproxy_words words;
	const char *at = words.text;

	haproxy_words_split((struct span){ line, strlen(line) }, &environment, &words);
	joined[0] = '\0';
	for (uint32_t i = 0; i < words.count; i++, at += strlen(at) + 1) {
		(void)strncat(joined, i ? "|" : "", sizeof(joined) - strlen(joined) - 1);
		(void)strncat(joined, at, sizeof(joined) - strlen(joined) - 1);
	}
	return joined;
}

static void words_end_at_blanks_and_comments(void **state)
{
	(void)state;
	assert_string_equal(words_of("  timeout  client\t75s   # uploads"), "timeout|client|75s");
	assert_string_equal(words_of(""), "");
	assert_string_equal(words_of("   # nothing"), "");
	assert_string_equal(words_of("a\\ b c\\#d \\\\"), "a b|c#d|\\");
	assert_string_equal(words_of("x\\x41\\n"), "xA\n");
	assert_string_equal(words_of("a\\"), "a");
}

static void quotes_keep_what_haproxy_keeps(void **state)
{
	(void)state;
	assert_string_equal(words_of("'a b' \"c d\" '' e'f g'h"), "a b|c d||ef gh");
	assert_string_equal(words_of("'regsub(\"(?s)\\x22\\s*\",\"\")'"),
	                    "regsub(\"(?s)\\x22\\s*\",\"\")");
	assert_string_equal(words_of("\"a \\\"b\\\" \\$HOME \\d\""), "a \"b\" $HOME \\d");
	assert_string_equal(words_of("'# no comment' \"# nor here\""), "# no comment|# nor here");
	assert_string_equal(words_of("\"open to the end"), "open to the end");
}

static void variables_expand_in_double_quotes_only(void **state)
{
	(void)state;
	assert_string_equal(words_of("\"${HOME}/x\" \"$HOME/x\""), "/home/x|/home/x");
	assert_string_equal(words_of("'$HOME' $HOME"), "$HOME|$HOME");
	assert_string_equal(words_of("\"${NONE-other}/x\" \"${HOME-other}\""), "other/x|/home");
	assert_string_equal(words_of("\"${NONE}/x\""), "${NONE}/x");
	assert_string_equal(words_of("\"$.model ${HOME\""), "$.model ${HOME");
}

static void more_words_than_fit_are_cut(void **state)
{
	static char line[4 * HAPROXY_WORDS_MAX];
	struct haproxy_words words;

	(void)state;
	for (size_t i = 0; i + 1 < sizeof(line); i += 2)
		memcpy(line + i, "a ", 2);
	haproxy_words_split((struct span){ line, sizeof(line) - 2 }, &environment, &words);
	assert_int_equal(words.count, HAPROXY_WORDS_MAX);
	assert_true(words.cut);
}

static void sections_have_their_lines(void **state)
{
	const struct haproxy_cfg *cfg = read_of("stray\nglobal\n  maxconn 1\n\nfrontend f\n"
	                                        "  bind :1\n  mode http\n[infer]\nspoe-agent a\n",
	                                        2006012);

	(void)state;
	assert_int_equal(cfg->count, 4);
	assert_string_equal(cfg->sections[0].type, "global");
	assert_string_equal(cfg->sections[0].name, "");
	assert_int_equal(cfg->sections[0].count, 1);
	assert_string_equal(cfg->sections[1].name, "f");
	assert_int_equal(cfg->sections[1].count, 2);
	assert_int_equal(cfg->sections[1].head->number, 5);
	assert_int_equal(cfg->sections[1].lines[1].number, 7);
	assert_string_equal(cfg->sections[1].lines[1].words[1], "http");
	assert_string_equal(cfg->sections[2].type, "[infer]");
	assert_string_equal(cfg->sections[3].name, "a");
}

static void only_the_branch_of_the_version_is_read(void **state)
{
	static const char text[] = "global\n.if version_atleast(3.0)\n new\n .if feature(LUA)\n"
	                           " lua\n .else\n plain\n .endif\n.elif version_before(2.8)\n"
	                           " old\n.else\n middle\n.endif\n end\n";
	const struct haproxy_cfg *cfg = read_of(text, 3000011);

	(void)state;
	assert_int_equal(cfg->sections[0].count, 3);
	assert_string_equal(cfg->sections[0].lines[0].words[0], "new");
	assert_string_equal(cfg->sections[0].lines[1].words[0], "plain");
	assert_string_equal(cfg->sections[0].lines[2].words[0], "end");
	assert_int_equal(cfg->sections[0].lines[2].number, 14);
	assert_string_equal(read_of(text, 2006012)->sections[0].lines[0].words[0], "old");
	assert_string_equal(read_of(text, 2008000)->sections[0].lines[0].words[0], "middle");
}

static bool holds(const char *text)
{
	const struct haproxy_cfg *cfg;
	char file[256] = "global\n.if ";

	(void)strncat(file, text, 200);
	(void)strncat(file, "\n yes\n.endif\n", 20);
	cfg = read_of(file, 2006012);
	return cfg->sections[0].count == 1;
}

static void conditions_are_weighed_as_haproxy_does(void **state)
{
	(void)state;
	assert_true(holds("version_atleast(2.6.12)"));
	assert_false(holds("version_atleast(2.6.13)"));
	assert_true(holds("!version_atleast(3.0)"));
	assert_true(holds("feature(PCRE2) || feature(PCRE2_JIT)"));
	assert_false(holds("feature(PCRE2) && feature(LUA)"));
	assert_true(holds("feature(LUA) || feature(PCRE2)"));
	assert_true(holds("true && ! false"));
	assert_false(holds("0"));
	assert_true(holds("1"));
	assert_false(holds(""));
	assert_true(holds("streq(a,a)"));
	assert_false(holds("streq(a,ab)"));
	assert_true(holds("strneq(a,b)"));
	assert_true(holds("defined(HOME)"));
	assert_false(holds("defined(NONE)"));
	assert_true(holds("something(new)"));
}

static void presetenv_yields_and_setenv_does_not(void **state)
{
	const struct haproxy_cfg *cfg = read_of("global\n presetenv HOME /a\n setenv X 1\n"
	                                        " presetenv X 2\n log \"$HOME\" \"$X\" \"$Y\"\n"
	                                        " setenv HOME /b\n log \"$HOME\"\n",
	                                        2006012);
	const struct haproxy_line *lines = cfg->sections[0].lines;

	(void)state;
	assert_string_equal(lines[3].words[1], "/home");
	assert_string_equal(lines[3].words[2], "1");
	assert_string_equal(lines[3].words[3], "$Y");
	assert_string_equal(lines[5].words[1], "/b");
}

static void comments_silence_the_next_line_or_the_file(void **state)
{
	const struct haproxy_cfg *cfg = read_of("# inference-spoa: ignore ttl\nglobal\n"
	                                        "  # inference-spoa: ignore seed\n"
	                                        "  # inference-spoa: ignore bufsize level\n"
	                                        "  # another\n  maxconn 1\n  nbthread 1\n",
	                                        2006012);

	(void)state;
	assert_string_equal(cfg->ignored, "ttl ");
	assert_string_equal(cfg->sections[0].lines[0].ignored, "seed bufsize level ");
	assert_string_equal(cfg->sections[0].lines[1].ignored, "");
}

static void versions_are_numbers(void **state)
{
	(void)state;
	assert_int_equal(haproxy_condition_version((struct span){ "2.6.12-1+deb12u4", 16 }),
	                 2006012);
	assert_int_equal(haproxy_condition_version((struct span){ "3.4-dev1", 8 }), 3004000);
	assert_int_equal(haproxy_condition_version((struct span){ "", 0 }), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_end_at_blanks_and_comments),
		cmocka_unit_test(quotes_keep_what_haproxy_keeps),
		cmocka_unit_test(variables_expand_in_double_quotes_only),
		cmocka_unit_test(more_words_than_fit_are_cut),
		cmocka_unit_test(sections_have_their_lines),
		cmocka_unit_test(only_the_branch_of_the_version_is_read),
		cmocka_unit_test(conditions_are_weighed_as_haproxy_does),
		cmocka_unit_test(presetenv_yields_and_setenv_does_not),
		cmocka_unit_test(comments_silence_the_next_line_or_the_file),
		cmocka_unit_test(versions_are_numbers),
	};

	return cmocka_run_group_tests(tests, open_arena, close_arena);
}
