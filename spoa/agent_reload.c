/* agent_reload.c - a new policy, and new profiles of engines, beside the running ones, then one
 * in place of the other.
 *
 * The swap happens between two requests, since all of this is one turn of the
 * loop. What was learnt is keyed by address and stays; a bad policy changes
 * nothing but an alarm. */
#include <string.h>

#include "spoa/agent_parts.h"
#include "spoa/clock.h"

static void say_problems(struct agent *agent, struct problems *problems)
{
	const struct problem *problem;

	for (size_t i = 0; (problem = problems_at(problems, i)) != NULL; i++) {
		char line[512];

		(void)snprintf(line, sizeof(line), "%s:%u:%u: %s: %s%s%s [%s]",
		               problem->place.file ? problem->place.file : "policy",
		               problem->place.line, problem->place.column,
		               severity_name(problem->severity), problem->path,
		               *problem->path ? ": " : "", problem->text, problem->rule);
		/* One kind each: none of a file's problems may be kept back. */
		journal_line(&agent->journal,
		             problem->severity == SEVERITY_ERROR     ? LOGGED_ERROR
		             : problem->severity == SEVERITY_WARNING ? LOGGED_WARNING
		                                                     : LOGGED_NOTICE,
		             line);
	}
}

struct policy_file *agent_load_policy(struct agent *agent)
{
	struct problems *problems = problems_new();
	struct policy_file *file;

	if (!problems)
		return NULL;
	file = policy_load(agent->options.policy, problems);
	say_problems(agent, problems);
	problems_free(problems);
	if (file || agent->facts || strcmp(agent->options.on_bad_policy, "defaults") != 0)
		return file;
	journal_say(&agent->journal, LOGGED_ERROR,
	            "the policy is bad, the embedded default routes instead");
	agent->policy_refused = true;
	problems = problems_new();
	if (!problems)
		return NULL;
	file = policy_load(NULL, problems);
	problems_free(problems);
	return file;
}

void agent_read_credential(struct agent *agent)
{
	const struct policy *policy = policy_file_policy(agent->policy_file);
	struct error error = { "" };

	if (!credential_read(&agent->credential, policy->engine_credential_file, &error))
		journal_say(&agent->journal, LOGGED_ERROR,
		            "engines are asked without a new credential: %s", error.text);
}

struct engine_profiles *agent_load_profiles(struct agent *agent)
{
	struct problems *problems = problems_new();
	struct engine_profiles *profiles;

	if (!problems)
		return NULL;
	profiles = engine_profiles_load(agent->options.engine_profiles, problems);
	say_problems(agent, problems);
	problems_free(problems);
	return profiles;
}

static void say_change(void *data, const struct policy_change *change)
{
	struct agent *agent = data;
	char line[512];

	(void)snprintf(line, sizeof(line), "policy: %s: %s -> %s%s", change->path,
	               change->before ? change->before : "(none)",
	               change->after ? change->after : "(none)",
	               change->restart ? " (takes effect at the next start)" : "");
	journal_line(&agent->journal, change->restart ? LOGGED_WARNING : LOGGED_NOTICE, line);
}

/* The new policy is in force, or not: either way we answer as before. */
static void tell_reloaded(const struct agent *agent)
{
	notify_tell(&agent->notify, "READY=1\nSTATUS=policy %s%s",
	            policy_file_name(agent->policy_file),
	            agent->policy_refused ? "; what is in its file now was refused" : "");
}

/* NULL: those of the program, which do not change. */
static void use_profiles(struct agent *agent, struct engine_profiles *profiles)
{
	struct engine_profiles *old = agent->profiles;

	if (!profiles)
		return;
	scraper_set_profiles(agent->scraper, profiles);
	agent->profiles = profiles;
	engine_profiles_free(old);
}

/* Both, or neither. */
static void swap(struct agent *agent, struct policy_file *file, struct engine_profiles *profiles)
{
	struct policy_file *old = agent->policy_file;
	size_t changes;

	if (!file || (agent->options.engine_profiles && !profiles)) {
		policy_file_free(file);
		engine_profiles_free(profiles);
		agent->reloads_refused++;
		agent->policy_refused = true;
		journal_say(&agent->journal, LOGGED_ERROR,
		            "the new policy is refused, the old one goes on");
		return;
	}
	changes = policy_diff(old, file, say_change, agent);
	facts_set_policy(agent->facts, policy_file_policy(file));
	probe_set_policy(agent->probe);
	agent->policy_file = file;
	agent_store_set_policy(agent);
	use_profiles(agent, profiles);
	agent_read_credential(agent);
	policy_file_free(old);
	agent->reloads_ok++;
	agent->policy_refused = false;
	agent->reloaded_ms = (int64_t)(clock_wall() / MSEC);
	journal_say(&agent->journal, LOGGED_NOTICE, "policy %s is in force, %zu values changed",
	            policy_file_name(file), changes);
}

bool agent_reload(struct agent *agent)
{
	notify_tell(&agent->notify, "RELOADING=1\nMONOTONIC_USEC=%llu",
	            (unsigned long long)clock_monotonic());
	swap(agent, agent_load_policy(agent),
	     agent->options.engine_profiles ? agent_load_profiles(agent) : NULL);
	tell_reloaded(agent);
	return !agent->policy_refused;
}
