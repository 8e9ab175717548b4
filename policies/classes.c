/* classes.c - classes by name. */
#include "policies/classes.h"

#include "policies/core/name.h"

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
