/* classes.c - classes by name, and what can be said of one. */
#include "policies/classes.h"

#include "policies/core/name.h"

#define OF_CLASS(field)     offsetof(struct class_policy, field)
#define OF_OBJECTIVE(field) offsetof(struct objectives, field)

const struct option class_options[] = {
	{ "priority", OPTION_NUMBER, OF_CLASS(priority), -CLASS_PRIORITY_MAX, CLASS_PRIORITY_MAX, 0,
	  "", "Place among the classes, a whole number; lower goes first.", NULL, false },
	{ 0 },
};

const struct option objective_options[] = {
	{ "ttft", OPTION_MSEC, OF_OBJECTIVE(ttft_ms), 0, 1e7, 0, "",
	  "Time within which the first token is to come; 0 for nothing said.", NULL, false },
	{ "tpot", OPTION_MSEC, OF_OBJECTIVE(tpot_ms), 0, 1e6, 0, "",
	  "Time from token to token; 0 for nothing said.", NULL, false },
	{ "e2e", OPTION_MSEC, OF_OBJECTIVE(e2e_ms), 0, 1e8, 0, "",
	  "Time within which the whole answer is to be there; 0 for nothing said.", NULL, false },
	{ 0 },
};

/* As far apart as leaves room between and around them. */
static const struct class_policy builtin[] = {
	{ .name = "interactive", .priority = -10 },
	{ .name = "default", .priority = 0 },
	{ .name = "batch", .priority = 10 },
};

const struct class_policy *class_builtin(size_t i)
{
	return i < sizeof(builtin) / sizeof(builtin[0]) ? &builtin[i] : NULL;
}

const struct class_policy *class_named(const struct policy *policy, struct span name)
{
	size_t i = 0;

	for (uint32_t k = 0; k < policy->class_count; k++) {
		if (name_is(policy->classes[k].name, name))
			return &policy->classes[k];
	}
	while (class_builtin(i) && !name_is(class_builtin(i)->name, name))
		i++;
	return class_builtin(i);
}
