/* rules.c - the most specific rule wins.
 *
 * Each of the three patterns of a rule either does not match, or does so more or
 * less exactly; the host counts first, the model last. Rules of one rank that say
 * the same do not get here: the loader refuses them. */
#include "policies/rules.h"

#include <string.h>

enum { NO_MATCH = 0, MATCH_ANY = 1, MATCH_EXACT = 2 * NAME_MAX_BYTES };

/* How exactly each pattern matches. */
struct fit {
	size_t host, path, model;
};

static char small(char letter)
{
	return letter >= 'A' && letter <= 'Z' ? (char)(letter + ('a' - 'A')) : letter;
}

/* The name alone: without the port, without the dot of the root. */
static struct span bare_host(struct span host)
{
	size_t end = host.len;

	while (end > 0 && host.at[end - 1] >= '0' && host.at[end - 1] <= '9')
		end--;
	/* Of an address in brackets only a colon behind them begins a port. */
	if (end > 0 && host.at[end - 1] == ':')
		host.len = end - 1;
	if (host.len > 0 && host.at[host.len - 1] == '.')
		host.len--;
	return host;
}

static bool ends_with(struct span host, const char *suffix, size_t len)
{
	if (host.len < len)
		return false;
	for (size_t i = 0; i < len; i++) {
		if (small(host.at[host.len - len + i]) != suffix[i])
			return false;
	}
	return true;
}

static size_t match_host(const char *pattern, struct span host)
{
	size_t len = strlen(pattern);

	if (len == 0)
		return MATCH_ANY;
	if (pattern[0] == '*')
		return host.len >= len && ends_with(host, pattern + 1, len - 1) ? MATCH_ANY + len
		                                                                : NO_MATCH;
	return host.len == len && ends_with(host, pattern, len) ? MATCH_EXACT : NO_MATCH;
}

static size_t match_path(const char *pattern, struct span path)
{
	size_t len = strlen(pattern);

	if (len == 0)
		return MATCH_ANY;
	if (path.len < len || memcmp(pattern, path.at, len) != 0)
		return NO_MATCH;
	return path.len == len || path.at[len] == '/' ? MATCH_ANY + len : NO_MATCH;
}

static size_t match_model(const char *pattern, struct span model)
{
	size_t len = strlen(pattern);

	if (len == 0)
		return MATCH_ANY;
	if (pattern[len - 1] == '*')
		return model.len >= len - 1 && memcmp(pattern, model.at, len - 1) == 0
		               ? MATCH_ANY + len
		               : NO_MATCH;
	return model.len == len && memcmp(pattern, model.at, len) == 0 ? MATCH_EXACT : NO_MATCH;
}

static bool is_more_specific(const struct fit *fit, const struct fit *than)
{
	if (fit->host != than->host)
		return fit->host > than->host;
	if (fit->path != than->path)
		return fit->path > than->path;
	return fit->model > than->model;
}

static const struct rule *rule_named(const struct policy *policy, const struct request *request,
                                     struct span model)
{
	const struct rule *best = &policy->default_rule;
	struct fit best_fit = { NO_MATCH, NO_MATCH, NO_MATCH };
	struct span host = bare_host(request->host);

	for (uint32_t i = 0; i < policy->rule_count; i++) {
		const struct rule *rule = &policy->rules[i];
		struct fit fit = { match_host(rule->host, host),
			           match_path(rule->path, request->path),
			           match_model(rule->model, model) };

		if (fit.host == NO_MATCH || fit.path == NO_MATCH || fit.model == NO_MATCH ||
		    !is_more_specific(&fit, &best_fit))
			continue;
		best = rule;
		best_fit = fit;
	}
	return best;
}

const struct rule *rule_for(const struct policy *policy, const struct request *request,
                            const struct model_names *model)
{
	const struct rule *rule = rule_named(policy, request, model->own);

	if (model->base.len > 0 && rule->model[0] == '\0')
		rule = rule_named(policy, request, model->base);
	return rule;
}
