/* check_pulling.c - requests that shall wait for any server, and wait for one.
 *
 * A strategy that pulls names no replica where all would be late: the first that is free is
 * to take the request from the backend's queue. As long as a server's own queue has room by its
 * maxqueue, leastconn lets the request wait there instead, however long that server is busy
 * (2.6.12 and 3.0.11); without maxqueue it skips who is full. */
#include <string.h>

#include "policies/core/policy.h"
#include "spoa/config/check_rules.h"

/* What is not said of the instance is said of all. */
static const struct instance_policy *policy_of(const struct policy *policy, const char *name)
{
	const struct instance_policy *named = policy_instance(policy, name);

	return named ? named : &policy->default_instance;
}

static bool pulls(const struct instance_policy *policy)
{
	for (uint32_t i = 0; i < policy->chain_count; i++)
		if (policy->chain[i].strategy->pulls)
			return true;
	return false;
}

void check_pulling(const struct facts *facts)
{
	const struct policy *policy = facts->options->policy;

	for (uint32_t i = 0; policy && i < facts->proxy_count; i++) {
		const struct proxy *proxy = &facts->proxies[i];
		const struct haproxy_line *server = proxy_server(proxy, 0);
		const struct haproxy_line *balance = proxy_setting(proxy, "balance", NULL);
		const char *queue = server ? proxy_server_word(proxy, server, "maxqueue") : NULL;

		if (proxy->instance && queue && strcmp(queue, "0") != 0 && balance &&
		    line_has(balance, "leastconn") &&
		    pulls(policy_of(policy, proxy->section->name)))
			report(facts, server, proxy, SEVERITY_WARNING, "pulling",
			       "maxqueue %s: a request that is late everywhere waits for one "
			       "server "
			       "instead of the first that is free; leave maxqueue out here",
			       queue);
	}
}
