/* generate_backends.c - the backends that are instances.
 *
 * One instance is one backend, its servers are the replicas; above another
 * HAProxy a server is the address of the lower one. */
#include "spoa/config/generate_parts.h"

#include <ctype.h>
#include <string.h>

#include "spoa/messages/contract.h"

/* A rule of tcp-response runs for each try, also of those that are made again. On 2.6.12 a
 * request was lost, not tried again, when its server closed behind a 503 (7 of 60). */
void generate_first_try(const struct generate *generate, FILE *out)
{
	if (generate->version != 0 && generate->version < 300)
		return;
	if (generate->version == 0)
		(void)fputs("    .if version_atleast(3.0)\n", out);
	(void)fputs(
	        "    tcp-response inspect-delay 1h                 # what the first try said\n"
	        "    tcp-response content set-var-fmt(txn.infer_f1) "
	        "\"%[status]/%[res.fhdr(retry-after),add(0)]/%[srv_name]\" if { status ge 400 } "
	        "!{ var(txn.infer_f1) -m found }\n",
	        out);
	if (generate->version == 0)
		(void)fputs("    .endif\n", out);
}

void generate_pin(FILE *out)
{
	(void)fputs(
	        "    use-server %[var(txn.infer.replica)] if { var(txn.infer.replica) -m found } "
	        "{ be_name,strcmp(txn.infer.instance) eq 0 }\n",
	        out);
}

/* What all servers of a backend have. */
static void server_defaults(const struct generate *generate, FILE *out, const char *words)
{
	(void)fprintf(out, "    default-server %s", words);
	if (generate->agent_check)
		(void)fprintf(out, " agent-addr %.*s agent-port %u agent-inter 2s",
		              (int)generate->agent_check_host.len, generate->agent_check_host.at,
		              generate->agent_check_port);
	(void)fputc('\n', out);
}

/* The end of a server's line. What it sends is what it is called here: the agent looks it up by
 * that name and answers with weight and maxconn. */
static void server_end(const struct generate *generate, FILE *out, struct span backend,
                       const char *server)
{
	if (generate->agent_check)
		(void)fprintf(out, " agent-check agent-send \"%.*s/%s\\n\"", (int)backend.len,
		              backend.at, server);
	(void)fputc('\n', out);
}

static void head(const struct generate *generate, FILE *out, struct span name)
{
	(void)fprintf(
	        out,
	        "backend %.*s\n"
	        "    balance leastconn                             # when the agent is silent\n",
	        (int)name.len, name.at);
	generate_first_try(generate, out);
	generate_pin(out);
	(void)fprintf(out, "    option httpchk GET /health\n"
	                   "    timeout check 5s\n");
	server_defaults(generate, out,
	                "check inter 2s fastinter 500ms fall 3 rise 2 weight 100 maxconn 256 "
	                "maxqueue 32 pool-purge-delay 2s");
}

static void replicas(const struct generate *generate, FILE *out, char letter, unsigned count)
{
	const char text[] = { 's', 'v', 'c', '-', letter };
	const struct span name = { text, sizeof(text) };
	char server[16];

	head(generate, out, name);
	for (unsigned i = 0; i < count; i++) {
		(void)snprintf(server, sizeof(server), "%c%u", letter, i);
		(void)fprintf(out, "    server %s \"${INFER_%c%u}\"", server,
		              toupper((unsigned char)letter), i);
		server_end(generate, out, name, server);
	}
}

/* "NAME=ADDRESS,ADDRESS...": servers r0, r1, ... */
static void given(const struct generate *generate, FILE *out, const char *instance)
{
	const struct span name = { instance, strcspn(instance, "=") };
	const char *at = instance + name.len + 1;
	char server[16];

	head(generate, out, name);
	for (unsigned i = 0; *at; i++) {
		size_t length = strcspn(at, ",");

		(void)snprintf(server, sizeof(server), "r%u", i);
		if (length > 0) {
			(void)fprintf(out, "    server %s %.*s", server, (int)length, at);
			server_end(generate, out, name, server);
		}
		at += length + (at[length] == ',');
	}
}

static void cluster(const struct generate *generate, FILE *out, char letter)
{
	const char name[] = { 's', 'v', 'c', '-', letter };

	(void)fprintf(
	        out,
	        "backend %.*s\n"
	        "    balance leastconn                             # when the agent is silent\n"
	        "    retry-on conn-failure                         # the lower one has made its "
	        "own retries\n"
	        "    option httpchk GET /infer-health\n"
	        "    timeout check 5s\n",
	        (int)sizeof(name), name);
	server_defaults(generate, out,
	                "check inter 1s fall 2 rise 1 weight 100 maxconn 1024 pool-purge-delay 2s");
	(void)fprintf(out, "    server low0 \"${INFER_%c0}\"", toupper((unsigned char)letter));
	server_end(generate, out, (struct span){ name, sizeof(name) }, "low0");
}

static void instances(const struct generate *generate, FILE *out)
{
	(void)fprintf(out, "\n# one instance = one backend; its servers are %s\n",
	              generate->topology == GENERATE_UPPER ? "the lower HAProxy of a cluster"
	                                                   : "the replicas");
	for (size_t i = 0; i < generate->instance_count; i++) {
		if (i > 0)
			(void)fputc('\n', out);
		given(generate, out, generate->instances[i]);
	}
	if (generate->instance_count > 0)
		return;
	switch (generate->topology) {
	case GENERATE_COMBINED:
		replicas(generate, out, 'a', 3);
		(void)fputc('\n', out);
		replicas(generate, out, 'b', 2);
		break;
	case GENERATE_UPPER:
		cluster(generate, out, 'a');
		(void)fputc('\n', out);
		cluster(generate, out, 'b');
		break;
	case GENERATE_LOWER:
		replicas(generate, out, 'a', 3);
		break;
	}
}

void generate_backends(const struct generate *generate, FILE *out)
{
	instances(generate, out);
	generate_agents(generate, out);
}
