/* answer.c - one SET-VAR a fact, and never a name that HAProxy may not know. */
#include "spoa/messages/answer.h"

#include <string.h>

#include "policies/blend.h"
#include "policies/core/bug.h"
#include "policies/state/fleet.h"
#include "policies/state/session_id.h"
#include "spoa/messages/contract.h"
#include "spoa/messages/quota.h"

enum variable_type { VARIABLE_string, VARIABLE_integer };

#define AS_ENUM(id, ...) VARIABLE_##id,
enum variable { VARIABLES(AS_ENUM) };
#undef AS_ENUM

#define AS_NAME(id, name, ...) name,
static const char *const names[] = { VARIABLES(AS_NAME) };
#undef AS_NAME

#define AS_TYPE(id, name, type, ...) VARIABLE_##type,
static const enum variable_type types[] = { VARIABLES(AS_TYPE) };
#undef AS_TYPE

/* Room is promised by the caller, and names are no longer than the fleet's and
 * the policy's may be. */
static void set_text(struct spop_output *out, enum variable variable, const char *at, size_t length)
{
	struct spop_value value = value_string((struct spop_text){ at, length });

	BUG_ON(types[variable] != VARIABLE_string);
	BUG_ON(!ack_set(out, ACK_SCOPE_TRANSACTION, names[variable], &value));
}

static void set_word(struct spop_output *out, enum variable variable, const char *word)
{
	set_text(out, variable, word, strlen(word));
}

static void set_number(struct spop_output *out, enum variable variable, int64_t number)
{
	struct spop_value value = value_int64(number);

	BUG_ON(types[variable] != VARIABLE_integer);
	BUG_ON(!ack_set(out, ACK_SCOPE_TRANSACTION, names[variable], &value));
}

void answer_write_session(struct spop_output *out, const struct session_policy *policy,
                          const char *address)
{
	char id[SESSION_ID_MAX];

	set_text(out, VARIABLE_SESSION, id, session_id_write(policy, address, id));
}

/* Only where the client or the model's profile chose it: who runs the policy knows it. And
 * not beside a header that was not followed: HAProxy would tell the client that it was. */
static void write_strategy(struct spop_output *out, const struct decision *decision)
{
	const struct level_trace *trace = &decision->levels[decision->levels[1].walked];
	bool profile = decision->by_profile && decision->asked == ASKED_NOTHING;
	char text[BLEND_TEXT_MAX];

	if ((decision->asked != ASKED_TAKEN && !profile) || !trace->walked || !trace->strategy)
		return;
	blend_describe(trace->strategy, text);
	set_word(out, VARIABLE_STRATEGY, text[0] ? text : trace->strategy->name);
}

/* Of a replica that was named: which rank of it, and who computes the prompt for it. */
static void write_whom(struct spop_output *out, const struct decision *decision)
{
	const struct target *target = decision->replica->target;
	struct span prefill;

	if (target->ranks > 0)
		set_number(out, VARIABLE_RANK, target->rank);
	if (!decision->prefill)
		return;
	prefill = target_address(decision->prefill->target);
	set_text(out, VARIABLE_PREFILL, prefill.at, prefill.len);
}

static void write_routed(struct spop_output *out, const struct decision *decision, uint32_t source)
{
	const char *replica =
	        decision->replica ? fleet_replica_name(decision->replica, source) : "";

	set_word(out, VARIABLE_ACTION, "route");
	set_word(out, VARIABLE_INSTANCE, decision->instance->name);
	if (replica[0] != '\0')
		set_word(out, VARIABLE_REPLICA, replica);
	write_strategy(out, decision);
	if (decision->session && decision->replica)
		answer_write_session(out, decision->session, decision->replica->target->label);
	if (replica[0] != '\0')
		write_whom(out, decision);
	if (decision->upstream_model.at)
		set_text(out, VARIABLE_MODEL, decision->upstream_model.at,
		         decision->upstream_model.len);
}

/* What 0 says, HAProxy does without being told. */
static void write_place(struct spop_output *out, const struct decision *decision)
{
	if (decision->priority != 0)
		set_number(out, VARIABLE_PRIORITY, decision->priority);
	if (decision->priority_offset_ms != 0)
		set_number(out, VARIABLE_PRIORITY_OFFSET, decision->priority_offset_ms);
}

static void write_refused(struct spop_output *out, const struct decision *decision)
{
	set_word(out, VARIABLE_ACTION, "reject");
	set_number(out, VARIABLE_STATUS, decision->status);
	if (decision->retry_after > 0)
		set_number(out, VARIABLE_RETRY_AFTER, decision->retry_after);
	if (decision->reason == REASON_LIMIT)
		set_word(out, VARIABLE_CODE, limit_kind_codes[decision->limit]);
	else if (decision->reason == REASON_OVERLOAD)
		set_word(out, VARIABLE_CODE, "server_overloaded");
}

static void write_quotas(struct spop_output *out, const struct decision *decision)
{
	static const enum variable variables[LIMIT_UNITS] = { VARIABLE_QUOTA_REQUESTS,
		                                              VARIABLE_QUOTA_TOKENS };
	char text[QUOTA_TEXT_MAX];

	for (size_t unit = 0; unit < LIMIT_UNITS; unit++) {
		if (decision->left[unit].limited)
			set_text(out, variables[unit], text,
			         quota_write(&decision->left[unit], text));
	}
}

void answer_write(struct spop_output *out, const struct decision *decision, uint32_t source,
                  bool observe)
{
	if (observe) {
		set_word(out, VARIABLE_ACTION, "observe");
		return;
	}
	if (decision->outcome == OUTCOME_ROUTED && decision->instance) {
		write_routed(out, decision, source);
	} else if (decision->outcome == OUTCOME_REJECTED) {
		write_refused(out, decision);
	} else {
		set_word(out, VARIABLE_ACTION, "default");
	}
	if (decision->outcome != OUTCOME_REJECTED)
		write_place(out, decision);
	set_word(out, VARIABLE_REASON, reason_name(decision->reason));
	write_quotas(out, decision);
}

void answer_write_nothing(struct spop_output *out)
{
	BUG_ON(!ack_unset(out, ACK_SCOPE_TRANSACTION, names[VARIABLE_RETRY_AFTER]));
}
