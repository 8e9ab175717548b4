/* refusals.h - the statuses the agent may refuse with, and what a client gets.
 *
 * REFUSAL(status, OpenAI type, OpenAI code or NULL for the reason, param,
 *         Anthropic type, that of an overload or NULL, message, retryable). Official clients read
 * x-should-retry before anything else. The generator prints a rule a dialect
 * for each, the checker wants each status handled. */
#pragma once

#define REFUSALS(REFUSAL)                                                                          \
	REFUSAL(429, "rate_limit_exceeded", "%[var(txn.infer.code)]", "null", "rate_limit_error",  \
	        "overloaded_error", NULL, true)                                                    \
	REFUSAL(503, "service_unavailable", NULL, "null", "overloaded_error", NULL, NULL, true)    \
	REFUSAL(404, "model_not_found", "model_not_found", "\"model\"", "not_found_error", NULL,   \
	        "unknown model", false)                                                            \
	REFUSAL(400, "invalid_request_error", NULL, "null", "invalid_request_error", NULL, NULL,   \
	        false)
