/* generate_prompt.c - the rules that find the prompt in a body.
 *
 * What follows the first "messages":, "prompt": or "input": is the prompt, to
 * the end of what is visible. Without such a key the whole body is; that is
 * still the same for equal bodies. PCRE needs (?s) to cross lines; libc's regex
 * has no lazy match, so its form cuts only where no [ stands before the key.
 * Single quotes: within double ones HAProxy would take $ and \x22 for its own. */
#include "spoa/config/generate.h"

#define WHEN "if infer_post infer_path infer_json !infer_enc"

static void prompt_form(FILE *out, const char *pattern)
{
	(void)fprintf(out,
	              "    http-request set-var(txn.infer_p) 'req.body,regsub(\"%s\",\"\")' " WHEN
	              "\n",
	              pattern);
}

static void head_form(FILE *out, const char *pattern)
{
	(void)fprintf(out,
	              "    http-request set-var(txn.infer_hl) "
	              "'req.body,bytes(0,%d),regsub(\"%s\",\"\"),length' " WHEN "\n",
	              GENERATE_HEAD, pattern);
}

static void by_regex(enum generate_regex regex, FILE *out,
                     void (*form)(FILE *out, const char *pattern))
{
	static const char pcre[] = "(?s)^.*?\\x22(messages|prompt|input)\\x22\\s*:\\s*";
	static const char posix[] =
	        "^[^[]*[[:punct:]](messages|prompt|input)[[:punct:]][[:space:]]*:[[:space:]]*";

	if (regex == GENERATE_REGEX_ANY)
		(void)fputs("    .if feature(PCRE2) || feature(PCRE2_JIT) || feature(PCRE) || "
		            "feature(PCRE_JIT)\n",
		            out);
	if (regex != GENERATE_REGEX_POSIX)
		form(out, pcre);
	if (regex == GENERATE_REGEX_ANY)
		(void)fputs("    .else\n", out);
	if (regex != GENERATE_REGEX_PCRE)
		form(out, posix);
	if (regex == GENERATE_REGEX_ANY)
		(void)fputs("    .endif\n", out);
}

static void prompt_rules(enum generate_regex regex, FILE *out)
{
	by_regex(regex, out, prompt_form);
	(void)fputs("    http-request set-var(txn.infer_plen) var(txn.infer_p),length if { "
	            "var(txn.infer_p) -m found }\n",
	            out);
}

static void head_rules(enum generate_regex regex, FILE *out)
{
	by_regex(regex, out, head_form);
	(void)fprintf(
	        out,
	        "    http-request set-var(txn.infer_o0) "
	        "req.body,bytes(0,%d),length,sub(txn.infer_hl) if { var(txn.infer_hl) -m "
	        "found }\n"
	        "    http-request set-var(txn.infer_plen) req.body_len,sub(txn.infer_o0) if { "
	        "var(txn.infer_o0) -m found }\n",
	        GENERATE_HEAD);
}

void generate_prompt(const struct generate *generate, FILE *out)
{
	if (generate->version == 0)
		(void)fputs("    .if version_atleast(3.0)\n", out);
	if (generate->version == 0 || generate_head_form(generate->version))
		head_rules(generate->regex, out);
	if (generate->version == 0)
		(void)fputs("    .else\n", out);
	if (!generate_head_form(generate->version))
		prompt_rules(generate->regex, out);
	if (generate->version == 0)
		(void)fputs("    .endif\n", out);
}
