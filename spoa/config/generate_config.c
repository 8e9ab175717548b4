/* generate_config.c - a whole haproxy.cfg that runs as it stands.
 *
 * Every place it names can be overridden from the environment: that is how the
 * tests run the very files that are shipped. Chroot and certificates are the
 * distribution's and the operator's own. */
#include "spoa/config/generate_parts.h"

#include "spoa/messages/contract.h"

static void heading(const struct generate *generate, FILE *out)
{
	static const char *const arguments[] = {
		[GENERATE_COMBINED] = "",
		[GENERATE_UPPER] = " --topology upper",
		[GENERATE_LOWER] = " --topology lower",
	};
	static const char *const what[] = {
		[GENERATE_COMBINED] = "one HAProxy, one agent, both levels",
		[GENERATE_UPPER] = "level 1, above the HAProxy of each cluster",
		[GENERATE_LOWER] = "level 2, in one cluster",
	};

	(void)fprintf(out,
	              "# Reference configuration of inference-spoa, contract %d: %s.\n"
	              "# Printed by \"inference-spoa haproxy config%s",
	              CONTRACT_VERSION, what[generate->topology], arguments[generate->topology]);
	if (generate->user)
		(void)fprintf(out, " --user %s", generate->user);
	if (generate->agent_check)
		(void)fprintf(out, " --agent-check %s", generate->agent_check);
	(void)fputs("\".", out);
	if (generate->version == 0)
		(void)fputs(" Loads unchanged on HAProxy 2.6, 3.0 and newer.\n", out);
	else
		(void)fprintf(out, " For HAProxy %u.%u.\n", generate->version / 100,
		              generate->version % 100);
}

static void engines(const struct generate *generate, FILE *out)
{
	if (generate->instance_count > 0)
		return;
	if (generate->topology == GENERATE_UPPER) {
		(void)fputs("    presetenv INFER_A0   127.0.0.1:8081           # the lower HAProxy "
		            "of cluster a\n"
		            "    presetenv INFER_B0   127.0.0.1:8082           # and of b\n",
		            out);
		return;
	}
	(void)fputs("    presetenv INFER_A0   127.0.0.1:8000           # engines of svc-a\n"
	            "    presetenv INFER_A1   127.0.0.1:8001\n"
	            "    presetenv INFER_A2   127.0.0.1:8002\n",
	            out);
	if (generate->topology == GENERATE_COMBINED)
		(void)fputs("    presetenv INFER_B0   127.0.0.1:8003           # engines of svc-b\n"
		            "    presetenv INFER_B1   127.0.0.1:8004\n",
		            out);
}

static void global(const struct generate *generate, FILE *out)
{
	(void)fputs(
	        "global\n"
	        "    # every place this file names; the environment overrides each\n"
	        "    presetenv INFER_ETC  /etc/haproxy/infer       # the SPOE files, models.map\n"
	        "    presetenv INFER_RUN  /run/haproxy\n"
	        "    presetenv INFER_BIND :8080\n"
	        "    presetenv INFER_SPOP 127.0.0.1:9000           # agent: decisions (or "
	        "unix@PATH, inside any chroot)\n"
	        "    presetenv INFER_LOG  127.0.0.1:9514           # agent: end-of-stream lines, "
	        "UDP and TCP on one port number\n"
	        "    presetenv INFER_HTTP 127.0.0.1:9901           # agent: /v1/models, /readyz\n"
	        "    presetenv INFER_SEED 1                        # seed of the tenant hash: set "
	        "a secret number of your own\n",
	        out);
	engines(generate, out);
	if (generate->user)
		(void)fprintf(out, "    user %s\n    group %s\n", generate->user, generate->user);
	(void)fputs("    maxconn 4096\n"
	            "    hard-stop-after 30m                           # longest life of an old "
	            "process, so of a stream across a reload\n"
	            "    stats socket \"${INFER_RUN}/infer.sock\" mode 660 level user    # agent: "
	            "servers, states, scur; nothing can be changed here\n"
	            "    tune.bufsize 131072                           # bytes of a prompt that "
	            "can be hashed and of a request that can be sent twice\n",
	            out);
}

static void defaults(FILE *out)
{
	(void)fputs("\n"
	            "defaults\n"
	            "    mode http\n"
	            "    timeout http-request    10s\n"
	            "    timeout http-keep-alive 75s\n"
	            "    timeout client          75s                   # uploads, and clients that "
	            "stop reading; never cuts a stream\n"
	            "    timeout connect         2s\n"
	            "    timeout queue           30s                   # queue + server + 5 s must "
	            "not exceed the ledger's TTL (600 s)\n"
	            "    timeout server          540s                  # longest silence of an "
	            "engine, prefill included\n"
	            "    option abortonclose                           # here, never in a frontend "
	            "(fatal on 3.2)\n"
	            "    option redispatch 1\n"
	            "    retries 2\n"
	            "    retry-on conn-failure empty-response 500 502 503\n"
	            "    unique-id-format %[uuid()]                    # the key that ties "
	            "decision, first byte and end\n",
	            out);
	generate_own_errors(out);
}

void generate_config(const struct generate *generate, FILE *out)
{
	heading(generate, out);
	global(generate, out);
	defaults(out);
	(void)fputs("\nfrontend llm\n    bind \"${INFER_BIND}\"\n", out);
	generate_routing(generate, out);
	generate_backends(generate, out);
}
