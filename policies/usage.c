/* usage.c - from who asks for what to who pays how much for it. */
#include "policies/usage.h"

#include <string.h>

#include "policies/core/pattern.h"
#include "policies/outcome.h"

static const char anonymous[] = "anonymous";

static bool limits_nothing(const struct quota *quota)
{
	return quota->requests.per_second <= 0 && quota->tokens.per_second <= 0 &&
	       quota->max_inflight == 0;
}

/* What is said of the model; NULL: nothing. */
static const struct quota *quota_of(const struct model_quota *quotas, uint32_t count,
                                    struct span model)
{
	const struct quota *best = NULL;
	size_t closest = 0;

	for (uint32_t i = 0; i < count; i++) {
		size_t fit = pattern_fit(quotas[i].model, model);

		if (fit > closest) {
			best = &quotas[i].quota;
			closest = fit;
		}
	}
	return best;
}

static void limit_by(struct limit_check *check, enum limit_of of, const struct quota *quota,
                     struct span tenant, struct span model)
{
	if (!quota || limits_nothing(quota))
		return;
	if (of == LIMIT_OF_TENANT)
		model = (struct span){ NULL, 0 };
	if (of == LIMIT_OF_MODEL)
		tenant = (struct span){ NULL, 0 };
	check->subjects[check->count++] = (struct limit_subject){
		.of = of,
		.key = limits_key(of, tenant, model),
		.quota = quota,
		.tenant = tenant,
		.model = model,
	};
}

void usage_check(const struct facts *facts, const struct request *request,
                 const struct prompt *prompt, uint64_t tenant, struct span model,
                 struct limit_check *ret_check)
{
	const struct policy *policy = facts->policy;
	const struct tenant_policy *own;
	struct span name = request->tenant;

	*ret_check = (struct limit_check){ .refused = LIMIT_NONE };
	if (policy->tenant_count == 0 && policy->quota_count == 0)
		return;
	ret_check->tokens = prompt->tokens + prompt->output_tokens;
	if (name.len == 0)
		name = (struct span){ anonymous, sizeof(anonymous) - 1 };
	own = tenants_policy(facts->tenants, tenant, name);
	if (own) {
		limit_by(ret_check, LIMIT_OF_TENANT, &own->quota, name, model);
		limit_by(ret_check, LIMIT_OF_BOTH, quota_of(own->models, own->model_count, model),
		         name, model);
	}
	limit_by(ret_check, LIMIT_OF_MODEL, quota_of(policy->quotas, policy->quota_count, model),
	         name, model);
}

static const struct quota *own_quota(const struct tenant_policy *own, enum limit_of of,
                                     struct span model)
{
	if (!own)
		return NULL;
	return of == LIMIT_OF_TENANT ? &own->quota : quota_of(own->models, own->model_count, model);
}

bool usage_limits(const struct facts *facts, const struct limit_use *use,
                  struct limit_subject *ret_subject)
{
	const struct policy *policy = facts->policy;
	struct span tenant = { use->tenant, strlen(use->tenant) };
	struct span model = { use->model, strlen(use->model) };
	const struct quota *quota;

	if (use->of == LIMIT_OF_MODEL)
		quota = quota_of(policy->quotas, policy->quota_count, model);
	else
		quota = own_quota(tenants_policy(facts->tenants, tenant_key(tenant), tenant),
		                  use->of, model);
	if (!quota || limits_nothing(quota))
		return false;
	*ret_subject = (struct limit_subject){
		.of = use->of, .key = use->key, .quota = quota, .tenant = tenant, .model = model
	};
	return true;
}

void usage_charge(struct facts *facts, const struct reservation *reservation, struct flight *flight)
{
	const struct prompt *prompt = reservation->prompt;
	struct limit_receipt receipt = { .count = 0 };

	tenants_charge(facts->tenants, reservation->tenant, reservation->request->tenant,
	               prompt->tokens, prompt->output_tokens, reservation->now);
	if (reservation->check->count > 0)
		limits_charge(facts->limits, reservation->check, flight != NULL, reservation->now,
		              &receipt);
	if (!flight)
		return;
	flight->receipt = receipt;
	flight->input = prompt->tokens;
	flight->output = prompt->output_tokens;
}

/* The caller got nothing for it: nobody served, the client left before the first byte, or
 * the engine could not. */
static bool came_to_nothing(const struct stream_end *end, const struct serving *by)
{
	if (outcome_is_abort(end))
		return outcome_is_early_abort(end);
	return by->instance == TARGET_NONE || end->status < 100 || end->status == 429 ||
	       end->status >= 500;
}

static void give_back(struct facts *facts, struct flight *flight, usec_t now)
{
	limits_refund(facts->limits, &flight->receipt);
	tenants_correct(facts->tenants, flight->tenant, -flight->input, -flight->output,
	                flight->decided_at, now);
}

/* So many tokens of input and output it was. */
static void settle(struct facts *facts, struct flight *flight, double input, double output,
                   usec_t now)
{
	limits_settle(facts->limits, &flight->receipt, input + output);
	tenants_correct(facts->tenants, flight->tenant, input - flight->input,
	                output - flight->output, flight->decided_at, now);
}

void usage_end(struct facts *facts, const struct stream_end *end, struct flight *flight,
               const struct serving *by, usec_t now)
{
	double bytes_per_token;

	if (flight->input <= 0 && flight->receipt.count == 0)
		return;
	if (came_to_nothing(end, by))
		give_back(facts, flight, now);
	else if (!outcome_is_answer(end->status)) /* the engine refused to compute it */
		settle(facts, flight, 0, 0, now);
	else if (by->instance != TARGET_NONE &&
	         answers_bytes_per_token(facts->answers, by->instance, &bytes_per_token))
		settle(facts, flight, flight->input, (double)end->bytes_out / bytes_per_token, now);
	else
		settle(facts, flight, flight->input, flight->output, now);
}

void usage_close(struct facts *facts, struct flight *flight)
{
	limits_release(facts->limits, &flight->receipt);
	flight->receipt.count = 0;
}
