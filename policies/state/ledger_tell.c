/* ledger_tell.c - our own work at each target, for whom it is of interest elsewhere.
 *
 * Compared with what was told last, so that who changes often costs as much as who changes
 * once in a tick. */
#include "policies/state/ledger_look.h"

static bool is_as_told(const struct told *told, const struct work *work)
{
	return told->acquired == told->acquired_told && told->work.running == work->running &&
	       told->work.awaiting == work->awaiting &&
	       told->work.prefill_tokens == work->prefill_tokens &&
	       told->work.resident_tokens == work->resident_tokens;
}

void ledger_tell(struct ledger *ledger, usec_t now, bool whole,
                 bool (*tell)(void *data, uint32_t target, const struct work *own,
                              uint64_t acquired),
                 void *data)
{
	for (uint32_t i = 0; i < ledger->targets; i++) {
		uint32_t target = ledger->next_told;
		struct told *told = &ledger->told[target];
		struct work work = ledger_work(ledger, target, now);

		if (!is_as_told(told, &work) || (whole && work.running > 0)) {
			if (!tell(data, target, &work, told->acquired))
				return;
			told->work = work;
			told->acquired_told = told->acquired;
		}
		ledger->next_told = (target + 1) % ledger->targets;
	}
}
