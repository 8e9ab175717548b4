/* client_retry.c - looked up only for a retry, written only for what did not end well:
 * a request that goes right costs nothing here. */
#include "policies/client_retry.h"

#include "policies/prompt.h"
#include "policies/stages/session.h"

static struct pin_key key_of(uint64_t prompt, uint64_t tenant)
{
	return (struct pin_key){ .hash = prompt ^ tenant, .check = (uint32_t)(tenant >> 32) };
}

uint32_t client_retry_previous(const struct facts *facts, const struct request *request,
                               const struct prompt *prompt, uint32_t model, usec_t now)
{
	struct pin pin;

	if (request->retry_count == 0)
		return TARGET_NONE;
	if (pins_find(facts->tries,
	              key_of(prompt_key(request, prompt), tenant_key(request->tenant)), now, &pin))
		return pin.target;
	if (session_is_key(request) &&
	    pins_find(facts->sessions, session_key(facts, request, model), now, &pin))
		return pin.target;
	return TARGET_NONE;
}

void client_retry_note(struct facts *facts, const struct flight *flight, uint32_t target,
                       usec_t now)
{
	if (flight->prompt != 0)
		pins_put(facts->tries, key_of(flight->prompt, flight->tenant), target, now);
}
