/* shape.c - what a policy file looks like. */
#include "spoa/config/shape.h"

#include "policies/classes.h"
#include "policies/defaults.h"
#include "policies/lora.h"
#include "policies/queue.h"
#include "spoa/config/instances.h"
#include "spoa/config/profile.h"
#include "spoa/config/recipe.h"

static const struct shape text = { .kind = SHAPE_TEXT };
static const struct shape later = { .kind = SHAPE_LATER };
static const struct shape ladder = { .kind = SHAPE_LADDER };
static const struct shape picker = { .kind = SHAPE_PICKER };
static const struct shape texts = { .name = "texts", .kind = SHAPE_LIST, .element = &text };
static const struct shape rule_names = { .name = "instance-names",
	                                 .kind = SHAPE_LIST,
	                                 .element = &text,
	                                 .least = 1,
	                                 .most = RULE_INSTANCES_MAX };
static const struct shape model_names = {
	.name = "model-names", .kind = SHAPE_LIST, .element = &text, .most = INSTANCE_MODELS_MAX
};

static const struct shape weighing = { .name = "weighing",
	                               .kind = SHAPE_OBJECT,
	                               .tables = { weighing_options } };
static const struct shape signals = {
	.name = "signals", .kind = SHAPE_SIGNALS, .element = &weighing, .most = RECIPE_SIGNALS_MAX
};

static const struct field recipe_fields[] = {
	{ "signals", &signals, "Which signals count, and how much: a weight each, or an object." },
	{ "picker", &picker, "Who takes one of the scored candidates; best if not given." },
	{ 0 },
};
static const struct shape recipe = { .name = "recipe",
	                             .kind = SHAPE_OBJECT,
	                             .fields = recipe_fields,
	                             .tables = { recipe_options },
	                             .picker_options = true };
static const struct shape recipes = { .name = "recipes", .kind = SHAPE_MAP, .element = &recipe };
static const struct shape strategy = { .kind = SHAPE_STRATEGY, .element = &recipe };

static const struct shape limits = { .name = "limits",
	                             .kind = SHAPE_OBJECT,
	                             .tables = { limits_options } };

static const struct shape quota = { .name = "quota",
	                            .kind = SHAPE_OBJECT,
	                            .tables = { quota_options } };
static const struct shape quotas = { .name = "quotas", .kind = SHAPE_MAP, .element = &quota };
static const struct field tenant_fields[] = {
	{ "class", &text, "The class of the tenant's requests." },
	{ "limits", &quota, "What the tenant may use, of all models together." },
	{ "models", &quotas, "What it may use of single models; m* for each that begins so." },
	{ 0 },
};
static const struct shape tenant = { .name = "tenant",
	                             .kind = SHAPE_OBJECT,
	                             .fields = tenant_fields,
	                             .tables = { tenant_options } };
static const struct shape tenants = { .name = "tenants", .kind = SHAPE_MAP, .element = &tenant };

static const struct shape values = { .name = "values",
	                             .kind = SHAPE_LIST,
	                             .element = &text,
	                             .least = 1,
	                             .most = AFFINITY_VALUES_MAX };
static const struct shape share = { .kind = SHAPE_SHARE };
static const struct shape split = { .name = "split",
	                            .kind = SHAPE_MAP,
	                            .element = &share,
	                            .least = 1,
	                            .most = RULE_INSTANCES_MAX };
static const struct field affinity_fields[] = {
	{ "exact", &text, "The rule is for this value of the feature." },
	{ "one-of", &values, "The rule is for these values." },
	{ "prefix", &text, "The rule is for values that begin so." },
	{ "none-of", &values, "The rule is for all other values, and for none." },
	{ "only", &rule_names, "No other instance may serve; several such rules intersect." },
	{ "never", &rule_names, "These instances may not serve." },
	{ "split", &split,
	  "Instances and their shares: the same value always goes to the same one of them." },
	{ 0 },
};
static const struct shape affinity = { .name = "affinity-rule",
	                               .kind = SHAPE_OBJECT,
	                               .fields = affinity_fields,
	                               .tables = { affinity_options } };
static const struct shape affinities = { .name = "affinity",
	                                 .kind = SHAPE_LIST,
	                                 .element = &affinity,
	                                 .least = 1,
	                                 .most = RULE_INSTANCES_MAX };

static const struct shape prefill_strategy = { .kind = SHAPE_STRATEGY,
	                                       .element = &recipe,
	                                       .role = ROLE_PREFILL };
static const struct shape decode_strategy = { .kind = SHAPE_STRATEGY,
	                                      .element = &recipe,
	                                      .role = ROLE_DECODE };
static const struct field prefill_fields[] = {
	{ "strategy", &prefill_strategy,
	  "How a prefill replica is chosen: the name of a way to price it, or a strategy." },
	{ 0 },
};
static const struct field decode_fields[] = {
	{ "strategy", &decode_strategy,
	  "How a decode replica is chosen: the name of a way to price it, or a strategy." },
	{ 0 },
};
static const struct shape prefill = { .name = "prefill",
	                              .kind = SHAPE_OBJECT,
	                              .fields = prefill_fields };
static const struct shape decode = { .name = "decode",
	                             .kind = SHAPE_OBJECT,
	                             .fields = decode_fields };

#define ENTRY_FIELDS                                                                               \
	{ "strategy", &strategy, "How a target is chosen: a strategy's name, or a recipe." },      \
	        { "prefill", &prefill, "Strategy pd: of its prefill replicas." },                  \
	        { "decode", &decode, "Strategy pd: of its decode replicas." },                     \
	        { "admit", &limits, "Limits under which a target takes another request." },        \
	{                                                                                          \
		"hard-limits", &limits,                                                            \
		        "Limits over which a request may be refused; admit times relax-on-hit if " \
		        "not given."                                                               \
	}
#define LEVEL_FIELDS                                                                               \
	ENTRY_FIELDS,                                                                              \
	{                                                                                          \
		"chain", &chain, "Entries that are tried in order until one chooses a target."     \
	}
#define RULE_FIELDS                                                                                \
	LEVEL_FIELDS,                                                                              \
	        { "instances", &rule_names,                                                        \
		  "Instances that may serve; all that have the model if not given." },             \
	        { "fallback-services", &rule_names,                                                \
		  "Instances to fall back to when nothing else takes the request." },              \
	        { "class", &text, "The class of its requests, where their tenant has none." },     \
	        { "upstream-model", &text,                                                         \
		  "The model's name at the engines, where the instance gives none." },             \
	{                                                                                          \
		"affinity", &affinities,                                                           \
		        "Rules that bind requests to instances or keep them away, beside those "   \
		        "of the whole policy."                                                     \
	}

static const struct field entry_fields[] = { ENTRY_FIELDS, { 0 } };
static const struct shape entry = { .name = "entry",
	                            .kind = SHAPE_OBJECT,
	                            .fields = entry_fields,
	                            .tables = { entry_options },
	                            .picker_options = true };
static const struct shape chain = {
	.name = "chain", .kind = SHAPE_LIST, .element = &entry, .least = 1, .most = CHAIN_MAX
};

static const struct field level_fields[] = { LEVEL_FIELDS, { 0 } };
static const struct shape level1 = { .name = "level1",
	                             .kind = SHAPE_OBJECT,
	                             .fields = level_fields,
	                             .tables = { entry_options },
	                             .picker_options = true };
static const struct shape level2 = { .name = "level2",
	                             .kind = SHAPE_OBJECT,
	                             .fields = level_fields,
	                             .tables = { entry_options, instance_options },
	                             .picker_options = true };

static const struct shape prefix = { .name = "prefix",
	                             .kind = SHAPE_OBJECT,
	                             .tables = { prefix_options } };

static const struct shape outcomes = { .name = "outcomes", .kind = SHAPE_LIST, .element = &text };
static const struct shape headers = {
	.name = "headers", .kind = SHAPE_MAP, .element = &text, .most = PROBE_HEADERS_MAX
};
static const struct field health_fields[] = {
	{ "eject-on", &outcomes,
	  "Which outcomes count as failures, instead of the usual ones: connect-error, "
	  "connection-lost, timeout, server-error, busy, denied, 4xx, 5xx, or a status." },
	{ "probe-headers", &headers, "Headers that probes send; never credentials." },
	{ 0 },
};
static const struct shape blend = { .name = "blend",
	                            .kind = SHAPE_OBJECT,
	                            .tables = { blend_options } };
static const struct shape lora = { .name = "lora",
	                           .kind = SHAPE_OBJECT,
	                           .tables = { lora_options } };
static const struct shape queue = { .name = "queue",
	                            .kind = SHAPE_OBJECT,
	                            .tables = { queue_options, objective_options } };

static const struct shape class = { .name = "class",
	                            .kind = SHAPE_OBJECT,
	                            .tables = { class_options, objective_options } };
static const struct shape classes = { .name = "classes", .kind = SHAPE_MAP, .element = &class };

static const struct shape health = { .name = "health",
	                             .kind = SHAPE_OBJECT,
	                             .fields = health_fields,
	                             .tables = { health_options } };

static const struct shape session_headers = {
	.name = "session-headers", .kind = SHAPE_LIST, .element = &text, .most = SESSION_HEADERS_MAX
};
static const struct field session_fields[] = {
	{ "headers", &session_headers,
	  "Request headers that may carry a session key; the first of them that came counts." },
	{ 0 },
};
static const struct shape session = { .name = "session",
	                              .kind = SHAPE_OBJECT,
	                              .fields = session_fields,
	                              .tables = { session_options } };

static const struct field defaults_fields[] = {
	LEVEL_FIELDS,
	{ "ladder", &ladder,
	  "The blocks into which HAProxy cuts a prompt; a change needs a restart." },
	{ "prefix", &prefix, "What the index of prompt prefixes believes and how much it keeps." },
	{ "blend", &blend, "What is added to strategies, so that none is blind to load." },
	{ "lora", &lora, "Over how many replicas a LoRA adapter is spread." },
	{ "health", &health, "When a replica is taken out of service, and how it comes back." },
	{ "session", &session, "How requests of one session are known, and kept together." },
	{ "queue", &queue,
	  "What HAProxy's queue is told, who may say so, and what requests are to be served "
	  "within." },
	{ "level1", &level1, "How an instance is chosen, where this differs from level 2." },
	{ "level2", &level2, "How a replica is chosen, where this differs from level 1." },
	{ 0 },
};
static const struct shape defaults = { .name = "defaults",
	                               .kind = SHAPE_OBJECT,
	                               .fields = defaults_fields,
	                               .tables = { policy_options, entry_options },
	                               .picker_options = true };

static const struct field profile_step_fields[] = {
	{ "strategy", &strategy, "How a target is chosen for such a prompt." },
	{ 0 },
};
static const struct shape profile_step = { .name = "profile-step",
	                                   .kind = SHAPE_OBJECT,
	                                   .fields = profile_step_fields,
	                                   .tables = { profile_step_options } };
static const struct shape profile_steps = { .name = "profile-steps",
	                                    .kind = SHAPE_LIST,
	                                    .element = &profile_step,
	                                    .least = 1,
	                                    .most = CHAIN_MAX };
static const struct field profile_fields[] = {
	{ "strategy", &strategy, "How a target is chosen, whatever the rule says." },
	{ "by-length", &profile_steps, "Other strategies for longer prompts, the shortest first." },
	{ 0 },
};
static const struct shape profile = { .name = "profile",
	                              .kind = SHAPE_OBJECT,
	                              .fields = profile_fields };

static const struct field model_fields[] = {
	RULE_FIELDS,
	{ "aliases", &texts, "Other names that clients may use for the model." },
	{ "adapters", &texts,
	  "LoRA adapters that any engine of the model loads when they are asked for; what an "
	  "engine "
	  "lists itself, as a model with a parent, need not be named." },
	{ "limits", &quota, "What may be used of the model, by all tenants together." },
	{ "profile", &profile,
	  "The strategy of the model's requests, whatever rule they match; a header that asks for "
	  "one counts more." },
	{ 0 },
};
static const struct shape model = { .name = "model",
	                            .kind = SHAPE_OBJECT,
	                            .fields = model_fields,
	                            .tables = { entry_options },
	                            .picker_options = true };
static const struct shape models = { .name = "models", .kind = SHAPE_MAP, .element = &model };

static const struct shape replica = { .name = "replica",
	                              .kind = SHAPE_OBJECT,
	                              .tables = { replica_options } };
static const struct shape replicas = { .name = "replicas", .kind = SHAPE_MAP, .element = &replica };

static const struct field instance_fields[] = {
	LEVEL_FIELDS,
	{ "models", &model_names, "Models it serves; its engines are asked if not given." },
	{ "replicas", &replicas, "Settings of single servers, by name or address." },
	{ "rewrite-model", &text,
	  "How its engines learn of the upstream-model: header, by x-infer-model." },
	{ "engine", &later, "What the engines are." },
	{ 0 },
};
static const struct shape instance = { .name = "instance",
	                               .kind = SHAPE_OBJECT,
	                               .fields = instance_fields,
	                               .tables = { entry_options, instance_options },
	                               .picker_options = true };
static const struct shape instances = { .name = "instances",
	                                .kind = SHAPE_MAP,
	                                .element = &instance };

static const struct field rule_fields[] = {
	{ "host", &text, "The host it is for; *.x for all that end in .x; any if not given." },
	{ "path", &text, "The path it is for, and all paths below; any if not given." },
	{ "model", &text, "The model it is for; m* for all that begin so; any if not given." },
	RULE_FIELDS,
	{ 0 },
};
static const struct shape rule = { .name = "rule",
	                           .kind = SHAPE_OBJECT,
	                           .fields = rule_fields,
	                           .tables = { entry_options },
	                           .picker_options = true };
static const struct shape rules = { .name = "rules", .kind = SHAPE_LIST, .element = &rule };

static const struct shape sharing = { .name = "redis",
	                              .kind = SHAPE_OBJECT,
	                              .tables = { sharing_options } };

static const struct field check_fields[] = {
	{ "ignore", &texts, "Rules that the command check is silent about." },
	{ 0 },
};
static const struct shape check = { .name = "check", .kind = SHAPE_OBJECT, .fields = check_fields };

static const struct field policy_fields[] = {
	{ "$schema", &text, "Where editors find the schema." },
	{ "defaults", &defaults,
	  "What holds for the whole process and wherever nothing else is said." },
	{ "strategies", &recipes, "Recipes of your own, by name." },
	{ "models", &models, "The models, as clients name them." },
	{ "instances", &instances, "The instances: HAProxy backends, by name." },
	{ "rules", &rules,
	  "Which instances serve a host, path or model, and how one is chosen; the most specific "
	  "rule counts: by host, then by path, then by model." },
	{ "affinity", &affinities,
	  "Rules that bind requests of a tenant, session or header to instances, or keep them "
	  "away." },
	{ "classes", &classes,
	  "Classes of requests: who goes first in HAProxy's queue, and within what they are to be "
	  "served; interactive, default and batch are there without being said." },
	{ "check", &check, "What the command check is told." },
	{ "include", &later, "Other files." },
	{ "tenants", &tenants,
	  "The callers, by what HAProxy sends as tenant; t* for each that begins so, * for each "
	  "other." },
	{ "headers", &later, "Names of request headers." },
	{ "redis", &sharing, "The store by which agents share what they know." },
	{ 0 },
};
const struct shape shape_policy = { .name = "policy",
	                            .kind = SHAPE_OBJECT,
	                            .fields = policy_fields };
