/* generate_agents.c - the agent's backends, and the ring of end lines.
 *
 * The agent's servers are checked fast, since nbsrv() is what keeps a dead agent
 * from costing anyone a timeout. Under an ingress the addresses stand in the file
 * itself: a side-car's, or those of agents with a Deployment of their own. Of
 * several the first decides while it lives, and all of them are told each end. */
#include "spoa/config/generate_parts.h"

#include "spoa/messages/contract.h"

/* A server line an agent; rest stands behind the address. */
static void servers(const struct generate *generate, FILE *out, const char *variable, unsigned port,
                    const char *rest, bool decides)
{
	const struct generate_ingress *ingress = &generate->ingress;

	if (!ingress->on)
		(void)fprintf(out, "    server agent \"${%s}\"%s\n", variable, rest);
	else if (ingress->agent_count == 0)
		(void)fprintf(out, "    server agent 127.0.0.1:%u%s\n", port, rest);
	else
		for (size_t i = 0; i < ingress->agent_count; i++)
			(void)fprintf(out, "    server agent%zu %.*s:%u%s%s\n", i,
			              (int)ingress->agents[i].len, ingress->agents[i].at,
			              decides ? ingress->agent_ports[i] : port, rest,
			              decides && i > 0 ? " backup" : "");
}

void generate_agents(const struct generate *generate, FILE *out)
{
	(void)fputs("\n"
	            "# the agent: its list of models, its SPOP port, its log port\n"
	            "backend infer-models\n"
	            "    option httpchk GET /readyz\n",
	            out);
	servers(generate, out, "INFER_HTTP", 9901, " check inter 1s fall 2 rise 1", false);
	(void)fputs(
	        "\n"
	        "backend " CONTRACT_BACKEND "\n"
	        "    mode tcp                                      # 3.1+ makes it \"spop\" by "
	        "itself; \"mode spop\" is fatal before 3.1\n"
	        "    no option http-no-delay\n"
	        "    no option abortonclose\n"
	        "    balance roundrobin\n"
	        "    option spop-check\n"
	        "    option redispatch 1\n"
	        "    retries 1                                     # never 0 before 3.1\n"
	        "    timeout connect 200ms\n"
	        "    timeout server  3m\n"
	        "    timeout check   200ms\n"
	        "    # marked down: its connections end, so that no stream waits on (2.6 can lose "
	        "the "
	        "timeout of a message)\n"
	        "    default-server check inter 500ms fastinter 100ms fall 2 rise 1 on-marked-down "
	        "shutdown-sessions    # never maxconn\n",
	        out);
	servers(generate, out, "INFER_SPOP", GENERATE_SPOP_PORT, "", true);
	(void)fputs("\n"
	            "ring infer-log\n"
	            "    format raw\n"
	            "    maxlen 2048\n"
	            "    size 1048576\n"
	            "    timeout connect 1s\n"
	            "    timeout server 10s\n",
	            out);
	servers(generate, out, "INFER_LOG", 9514, "", false);
}
