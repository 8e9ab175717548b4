/* check_roles.c - servers that only compute prompts, where HAProxy would send it all.
 *
 * While the agent is silent HAProxy balances by itself, over all servers that are no
 * backup; and it moves a retry to any of them. What a prefill engine answers to a whole
 * request is at best slow. */
#include <stdio.h>
#include <string.h>

#include "policies/core/policy.h"
#include "spoa/config/check_rules.h"

/* The first word that fits counts, as it does when requests are routed. Servers of a
 * template are alike: the first speaks for all. */
static bool prefills(const struct instance_policy *policy, const struct haproxy_line *server)
{
	bool template = strcmp(server->words[0], "server-template") == 0;
	const char *address = server->words[template && server->count > 3 ? 3 : 2];
	const struct replica_policy *replica;
	char name[NAME_MAX_BYTES];

	(void)snprintf(name, sizeof(name), "%s%s", server->words[1], template ? "1" : "");
	replica = policy_replica(policy, (const char *const[]){ name, address }, 2);
	return replica && replica->role == ROLE_PREFILL;
}

static void check_backend(const struct facts *facts, const struct proxy *proxy,
                          const struct instance_policy *policy)
{
	const struct haproxy_line *server;

	for (uint32_t i = 0; (server = proxy_server(proxy, i)); i++)
		if (prefills(policy, server) && !proxy_server_word(proxy, server, "backup"))
			report(facts, server, proxy, SEVERITY_WARNING, "prefill-backup",
			       "server %s only computes prompts: without \"backup\" it is sent "
			       "whole requests while the agent is silent, and retries",
			       server->words[1]);
}

void check_roles(const struct facts *facts)
{
	const struct policy *policy = facts->options->policy;

	for (uint32_t i = 0; policy && i < facts->proxy_count; i++) {
		const struct proxy *proxy = &facts->proxies[i];
		const struct instance_policy *instance =
		        proxy->instance ? policy_instance(policy, proxy->section->name) : NULL;

		if (instance)
			check_backend(facts, proxy, instance);
	}
}
