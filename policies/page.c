/* page.c - each table that has something of it is told. */
#include "policies/page.h"

static void learn_answers(struct facts *facts, uint32_t target, const struct growth *growth,
                          usec_t now)
{
	for (size_t i = 0; i < fleet_instance_count(facts->fleet); i++) {
		const struct instance *instance = fleet_instance_at(facts->fleet, i);

		if (fleet_replica_of_target(facts->fleet, instance, target))
			answers_learn(facts->answers, instance->target->id, growth, now);
	}
}

bool page_read(struct facts *facts, uint32_t target, struct engine_page *page)
{
	struct growth growth;
	bool restarted = false;

	switch (rates_learn(facts->rates, target, page, &growth)) {
	case RATES_FIRST:
		break;
	case RATES_GREW:
		learn_answers(facts, target, &growth, page->at);
		break;
	case RATES_RESTARTED:
		facts_engine_restarted(facts, target, page->at);
		(void)rates_learn(facts->rates, target, page, &growth);
		restarted = true;
		break;
	}
	engines_counts(facts->engines, target, page);
	engines_put(facts->engines, target, page);
	return restarted;
}
