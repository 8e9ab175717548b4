/* generate_refusals.c - HAProxy's answers in the words of OpenAI and Anthropic.
 *
 * "status" takes no variable, so each code needs its rules; Anthropic's path
 * comes first. A retry-after that is empty would be left out by HAProxy. */
#include "spoa/config/generate_parts.h"

#include <stdbool.h>
#include <stddef.h>

#include "spoa/config/refusals.h"

#define REASON_TEXT "%[var(txn.infer.reason)]"

struct refusal {
	int status;
	const char *type;
	const char *code; /* NULL: the reason */
	const char *param;
	const char *anthropic;
	const char *overloaded; /* the same where the fleet is overloaded; NULL: no other */
	const char *message;    /* NULL: "refused: " and the reason */
	bool retry;
};

static void refusal_head(FILE *out, const struct refusal *refusal)
{
	(void)fprintf(out, "    http-request return status %d content-type application/json ",
	              refusal->status);
	if (refusal->retry)
		(void)fputs("hdr retry-after \"%[var(txn.infer.retry_after)]\" ", out);
	(void)fprintf(out, "hdr x-should-retry %s lf-string ", refusal->retry ? "true" : "false");
}

static void refusal_rules(FILE *out, const struct refusal *refusal)
{
	const char *message = refusal->message ? refusal->message : "refused: " REASON_TEXT;

	if (refusal->overloaded) {
		refusal_head(out, refusal);
		(void)fprintf(
		        out,
		        "'{\"type\":\"error\",\"error\":{\"type\":\"%s\",\"message\":\"%s\"}}' "
		        "if { var(txn.infer.status) -m int %d } { var(txn.infer.reason) -m str "
		        "overload } infer_anthropic\n",
		        refusal->overloaded, message, refusal->status);
	}
	refusal_head(out, refusal);
	(void)fprintf(out,
	              "'{\"type\":\"error\",\"error\":{\"type\":\"%s\",\"message\":\"%s\"}}' "
	              "if { var(txn.infer.status) -m int %d } infer_anthropic\n",
	              refusal->anthropic, message, refusal->status);
	refusal_head(out, refusal);
	(void)fprintf(
	        out,
	        "'{\"error\":{\"message\":\"%s\",\"type\":\"%s\",\"param\":%s,\"code\":\"%s\"}}' "
	        "if { var(txn.infer.status) -m int %d }\n",
	        message, refusal->type, refusal->param, refusal->code ? refusal->code : REASON_TEXT,
	        refusal->status);
}

void generate_refusals(FILE *out)
{
#define AS_ROW(...) { __VA_ARGS__ },
	static const struct refusal refusals[] = { REFUSALS(AS_ROW) };
#undef AS_ROW

	for (unsigned i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++)
		refusal_rules(out, &refusals[i]);
}

/* One variable of three parts each: limit, left, time until all is there again. */
void generate_quotas(FILE *out)
{
	static const char *const units[] = { "requests", "tokens" };
	static const char *const parts[] = { "limit", "remaining", "reset" };

	for (unsigned unit = 0; unit < sizeof(units) / sizeof(units[0]); unit++) {
		for (unsigned part = 0; part < sizeof(parts) / sizeof(parts[0]); part++)
			(void)fprintf(out,
			              "    http-after-response set-header x-ratelimit-%s-%s "
			              "%%[var(txn.infer.quota_%s),field(%u,;)] if { "
			              "var(txn.infer.quota_%s) -m found }\n",
			              parts[part], units[unit], units[unit], part + 1, units[unit]);
	}
}

static void own_error(FILE *out, int status, unsigned retry_after, const char *type,
                      const char *code, const char *message)
{
	(void)fprintf(out,
	              "    http-error status %d content-type application/json "
	              "hdr x-should-retry %s ",
	              status, retry_after ? "true" : "false");
	if (retry_after)
		(void)fprintf(out, "hdr retry-after %u ", retry_after);
	(void)fprintf(out,
	              "string '{\"error\":{\"message\":\"%s\",\"type\":\"%s\",\"param\":null,"
	              "\"code\":\"%s\"}}'\n",
	              message, type, code);
}

void generate_own_errors(FILE *out)
{
	own_error(out, 408, 0, "invalid_request_error", "body_timeout", "request body too slow");
	own_error(out, 502, 1, "service_unavailable", "bad_gateway", "replica failed");
	own_error(out, 503, 5, "service_unavailable", "no_capacity",
	          "no replica can serve this now");
	own_error(out, 504, 1, "service_unavailable", "first_token_timeout",
	          "no first token in time");
}
