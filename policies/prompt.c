/* prompt.c - lengths and hashes of HAProxy, once per request.
 *
 * When the body did not fit HAProxy's buffer the rest of it counts as prompt, so
 * that a cut request is not mistaken for a short one; only blocks that were seen
 * whole have a hash that means anything. */
#include "policies/prompt.h"

#include "policies/state/prefix_index.h"

static uint64_t bytes_of(const struct request *request)
{
	uint64_t unseen = request->body_total > request->body_bytes
	                          ? request->body_total - request->body_bytes
	                          : 0;

	return request->has_prompt ? request->prompt_bytes + unseen : request->body_total;
}

static uint64_t name_space(const struct policy *policy, const struct model_names *model)
{
	struct span ladder = { policy->ladder.id, __builtin_strlen(policy->ladder.id) };
	struct span none = { NULL, 0 };

	return model->base.len > 0 ? prefix_name_space(&ladder, &model->base, &model->own, &none)
	                           : prefix_name_space(&ladder, &model->own, &none, &none);
}

void prompt_of(const struct request *request, const struct policy *policy,
               const struct prefix_index *index, const struct model_names *model,
               struct prompt *ret_prompt)
{
	uint32_t usable = ladder_usable(&policy->ladder, request->prompt_bytes);

	ret_prompt->total_bytes = bytes_of(request);
	ret_prompt->tokens = (double)ret_prompt->total_bytes / policy->bytes_per_token;
	ret_prompt->output_tokens = policy->default_output_tokens;
	ret_prompt->blocks = usable < request->hash_count ? usable : request->hash_count;
	if (!request->has_prompt)
		ret_prompt->blocks = 0;
	if (ret_prompt->blocks > 0)
		prefix_chain(index, name_space(policy, model), request->hashes, ret_prompt->blocks,
		             ret_prompt->chain);
}

static uint64_t mixed(uint64_t key, uint64_t value)
{
	key = (key ^ value) * 0x9e3779b97f4a7c15u;
	return key ^ key >> 29;
}

uint64_t prompt_key(const struct request *request, const struct prompt *prompt)
{
	uint64_t key =
	        mixed(prompt->total_bytes, prompt->blocks ? prompt->chain[prompt->blocks - 1] : 0);

	/* Blocks that are not usable tell short prompts apart all the same. */
	for (uint32_t i = prompt->blocks; i < request->hash_count; i++)
		key = mixed(key, request->hashes[i]);
	return key | 1;
}
