/* state_limits.c - who uses how much, as JSON.
 *
 * Tables that hold thousands are not told whole: those in use, and those with most. */
#include "policies/core/policy.h"
#include "spoa/admin/state.h"
#include "spoa/admin/text_json.h"

enum { LIMITS_SHOWN = 500, TENANTS_SHOWN = 100 };

/* null where there is no such limit. */
static json_t *unit_json(const struct limit_view *view, enum limit_kind unit)
{
	if (!view->limited[unit])
		return json_null();
	return json_pack("{s:f, s:f, s:f}", "limit", view->burst[unit], "used", view->used[unit],
	                 "reset_s", view->reset_s[unit]);
}

static json_t *text_or_null(const char *text)
{
	return text[0] != '\0' ? name_json(text) : json_null();
}

static bool in_use(const struct limit_view *view)
{
	return view->inflight > 0 || view->reset_s[LIMIT_REQUESTS] > 0 ||
	       view->reset_s[LIMIT_TOKENS] > 0;
}

static json_t *limit_json(const struct limit_view *view)
{
	return json_pack("{s:s, s:o, s:o, s:o, s:o, s:i, s:o}", "of", limit_of_names[view->of],
	                 "tenant", text_or_null(view->tenant), "model", text_or_null(view->model),
	                 "requests", unit_json(view, LIMIT_REQUESTS), "tokens",
	                 unit_json(view, LIMIT_TOKENS), "inflight", (int)view->inflight,
	                 "max_inflight",
	                 view->max_inflight > 0 ? json_integer(view->max_inflight) : json_null());
}

json_t *state_limits(const struct sources *sources)
{
	const struct limit_table *limits = sources->facts->limits;
	json_t *list = json_array();
	uint32_t used = 0;

	for (uint32_t i = 0; i < limits_count(limits); i++) {
		struct limit_view view = limits_at(limits, i, sources->now);

		if (in_use(&view) && used++ < LIMITS_SHOWN)
			(void)json_array_append_new(list, limit_json(&view));
	}
	return json_pack("{s:o, s:i, s:i, s:i, s:I}", "limits", list, "in_use", (int)used, "keys",
	                 (int)limits_count(limits), "capacity", LIMIT_KEYS_MAX, "not_limited",
	                 (json_int_t)limits_full(limits));
}

/* The places of those with most, most first. */
static uint32_t find_most(const struct tenants *tenants, usec_t now, uint32_t places[TENANTS_SHOWN])
{
	double values[TENANTS_SHOWN];
	uint32_t found = 0;

	for (uint32_t i = 0; i < tenants_count(tenants); i++) {
		double value = tenants_at(tenants, i, now).tokens;
		uint32_t at = found;

		if (found == TENANTS_SHOWN && value <= values[found - 1])
			continue;
		found += found < TENANTS_SHOWN;
		at = at < TENANTS_SHOWN ? at : TENANTS_SHOWN - 1;
		for (; at > 0 && values[at - 1] < value; at--) {
			values[at] = values[at - 1];
			places[at] = places[at - 1];
		}
		values[at] = value;
		places[at] = i;
	}
	return found;
}

static json_t *tenant_json(const struct tenant_view *view, usec_t now)
{
	return json_pack("{s:o, s:o, s:f, s:f, s:I, s:f}", "tenant", name_json(view->name),
	                 "policy", text_or_null(view->policy ? view->policy->name : ""), "weight",
	                 view->policy ? view->policy->weight : 1, "tokens", view->tokens,
	                 "requests", (json_int_t)view->requests, "seen_s",
	                 seconds_between(view->seen, now));
}

json_t *state_tenants(const struct sources *sources)
{
	const struct tenants *tenants = sources->facts->tenants;
	struct tenants_range range = tenants_range(tenants, sources->now);
	uint32_t places[TENANTS_SHOWN];
	uint32_t found = find_most(tenants, sources->now, places);
	json_t *list = json_array();

	for (uint32_t i = 0; i < found; i++) {
		struct tenant_view view = tenants_at(tenants, places[i], sources->now);

		(void)json_array_append_new(list, tenant_json(&view, sources->now));
	}
	return json_pack("{s:o, s:i, s:i, s:i, s:f, s:f, s:I}", "tenants", list, "known",
	                 (int)tenants_count(tenants), "capacity", TENANTS_MAX, "active",
	                 (int)range.active, "least", range.least, "most", range.most, "dropped",
	                 (json_int_t)tenants_dropped(tenants));
}
