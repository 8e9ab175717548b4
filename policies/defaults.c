/* defaults.c - the policy without any configuration. */
#include "policies/defaults.h"

#include <string.h>

#include "policies/classes.h"
#include "policies/core/bug.h"
#include "policies/lora.h"
#include "policies/phases.h"
#include "policies/pickers/picker.h"
#include "policies/queue.h"
#include "policies/strategies.h"

static const char *const session_headers[] = {
	"x-infer-session",   "x-aibrix-session-key", "x-claude-code-session-id", "session-id",
	"session_id",        "x-session-id",         "x-session-affinity",       "x-session-token",
	"x-smg-routing-key", "x-client-request-id",
};
_Static_assert(sizeof(session_headers) / sizeof(session_headers[0]) <= SESSION_HEADERS_MAX,
               "a policy has room for all of them");

const char *session_header_at(size_t i)
{
	return i < sizeof(session_headers) / sizeof(session_headers[0]) ? session_headers[i] : NULL;
}

static void default_session_headers(struct session_policy *session)
{
	const char *name;

	for (uint32_t i = 0; (name = session_header_at(i)); i++) {
		struct session_header *header = &session->headers[session->header_count++];

		memcpy(header->name, name, strlen(name));
		header->argument = i;
	}
}

void entry_use(struct entry_policy *entry, const struct strategy *strategy)
{
	BUG_ON(strategy->picker->settings_size > sizeof(entry->picker_settings));
	entry->strategy = strategy;
	if (strategy->has_settings)
		memcpy(entry->picker_settings, strategy->picker_settings,
		       sizeof(entry->picker_settings));
	else
		options_reset(strategy->picker->options, entry->picker_settings);
}

void entry_default(struct entry_policy *ret_entry, const struct strategy *strategy)
{
	*ret_entry = (struct entry_policy){ .relax_on_hit = 0 };
	options_reset(entry_options, ret_entry);
	options_reset(limits_options, &ret_entry->admit);
	options_reset(limits_options, &ret_entry->hard);
	phase_defaults(&ret_entry->pair);
	entry_use(ret_entry, strategy);
}

void entry_default_replicas(struct entry_policy *ret_entry, const struct strategy *strategy)
{
	entry_default(ret_entry, strategy);
	ret_entry->prefer_serving_below = 0;
}

void policy_default(struct policy *ret_policy)
{
	const struct strategy *strategy = strategy_named((struct span){ "default", 7 });
	struct error error = { "" };

	*ret_policy = (struct policy){ .rule_count = 0 };
	options_reset(policy_options, ret_policy);
	options_reset(prefix_options, &ret_policy->prefix);
	options_reset(health_options, &ret_policy->health);
	options_reset(session_options, &ret_policy->session);
	options_reset(sharing_options, &ret_policy->sharing);
	default_session_headers(&ret_policy->session);
	options_reset(blend_options, &ret_policy->blend);
	options_reset(lora_options, &ret_policy->lora);
	options_reset(queue_options, &ret_policy->queue);
	ret_policy->default_class = class_named(ret_policy, (struct span){ "default", 7 });
	BUG_ON(!ladder_parse((struct span){ LADDER_DEFAULT, sizeof(LADDER_DEFAULT) - 1 },
	                     &ret_policy->ladder, &error));
	entry_default(&ret_policy->default_rule.chain[0], strategy);
	ret_policy->default_rule.chain_count = 1;
	options_reset(instance_options, &ret_policy->default_instance);
	entry_default_replicas(&ret_policy->default_instance.chain[0], strategy);
	ret_policy->default_instance.chain_count = 1;
}
