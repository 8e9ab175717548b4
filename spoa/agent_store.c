/* agent_store.c - the store by which agents share what they know: options, reload, end.
 *
 * Without a URL there is none, and nothing of it costs anything. With one the agent starts
 * all the same while the store is away. */
#include <stdio.h>
#include <string.h>

#include "spoa/agent_parts.h"
#include "spoa/clock.h"

static const usec_t leave_deadline = 1 * SECOND;

static const struct sharing_policy *sharing_of(const struct agent *agent)
{
	return &policy_file_policy(agent->policy_file)->sharing;
}

static void say(void *data, int level, const char *text)
{
	journal_line(data, level, text);
}

static void copy(char *to, size_t room, const char *from)
{
	(void)snprintf(to, room, "%.*s", (int)room - 1, from);
}

static bool read_options(const struct agent *agent, const char *url, struct store_options *options,
                         struct error *error)
{
	const struct policy *policy = policy_file_policy(agent->policy_file);
	const struct sharing_policy *sharing = &policy->sharing;
	struct redis_options *link = &options->link;

	*options = (struct store_options){ .kept_bytes = sharing->memory,
		                           .loads = sharing->loads,
		                           .kept_life = policy->prefix.ttl,
		                           .now = clock_monotonic };
	copy(options->space, sizeof(options->space),
	     sharing->space[0] ? sharing->space : "default");
	copy(link->password_file, sizeof(link->password_file), sharing->password_file);
	copy(link->sentinel_password_file, sizeof(link->sentinel_password_file),
	     sharing->sentinel_password_file);
	copy(link->tls.ca_file, sizeof(link->tls.ca_file), sharing->ca_file);
	copy(link->tls.cert_file, sizeof(link->tls.cert_file), sharing->cert_file);
	copy(link->tls.key_file, sizeof(link->tls.key_file), sharing->key_file);
	link->seed = agent->options.seed;
	return redis_url_read(url, &link->url, error);
}

bool agent_store_start(struct agent *agent, struct error *error)
{
	const char *url = agent->options.redis ? agent->options.redis : sharing_of(agent)->url;
	struct store_log log = { .say = say, .data = &agent->journal };
	struct store_options options;

	if (url[0] == '\0')
		return true;
	if (!read_options(agent, url, &options, error))
		return false;
	agent->store = store_new(agent->loop, agent->facts, &options, &log, error);
	return agent->store && store_start(agent->store, error);
}

void agent_store_set_policy(struct agent *agent)
{
	const struct policy *policy = policy_file_policy(agent->policy_file);

	if (agent->store)
		store_set(agent->store, policy->sharing.memory, policy->sharing.loads,
		          policy->prefix.ttl);
}

void agent_store_leave(struct agent *agent)
{
	agent->left_at = clock_monotonic();
	if (agent->store)
		store_stop(agent->store);
}

bool agent_store_left(const struct agent *agent, usec_t now)
{
	return !agent->store || store_is_done(agent->store) ||
	       now >= agent->left_at + leave_deadline;
}
