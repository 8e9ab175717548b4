/* answers.c - tokens by the engines' counters, bytes by HAProxy's end lines. */
#include "policies/state/answers.h"

#include <math.h>
#include <stdlib.h>

#include "policies/core/bug.h"
#include "policies/state/average.h"

static const usec_t tau = 600 * SECOND;
static const double tokens_to_trust = 1000;

struct record {
	struct average tokens; /* of a finished request, by engines that count those */
	double carried;        /* generated since one last finished */
	struct average bytes;  /* of a stream that ended */
	/* Of engines that do not count what they finished; both fade. */
	double uncounted, sent;
	usec_t at;
	double seen; /* tokens, ever */
};

struct answers {
	uint32_t targets;
	struct record *of;
};

struct answers *answers_new(uint32_t targets)
{
	struct answers *answers = calloc(1, sizeof(*answers));

	BUG_ON(targets == 0);
	if (!answers)
		return NULL;
	answers->targets = targets;
	answers->of = calloc(targets, sizeof(*answers->of));
	if (!answers->of) {
		answers_free(answers);
		return NULL;
	}
	return answers;
}

void answers_free(struct answers *answers)
{
	if (!answers)
		return;
	free(answers->of);
	free(answers);
}

static struct record *record_of(const struct answers *answers, uint32_t instance)
{
	BUG_ON(instance >= answers->targets);
	return &answers->of[instance];
}

static void fade(struct record *record, usec_t now)
{
	double left = exp(-seconds_between(record->at, now) * 1e6 / (double)tau);

	record->uncounted *= left;
	record->sent *= left;
	if (now > record->at)
		record->at = now;
}

/* Tokens of a second in which nothing finished belong to what finishes later. */
void answers_learn(struct answers *answers, uint32_t instance, const struct growth *growth,
                   usec_t now)
{
	struct record *record = record_of(answers, instance);

	if (growth->generated < 0)
		return;
	record->seen += growth->generated;
	if (growth->finished < 0) {
		fade(record, now);
		record->uncounted += growth->generated;
		return;
	}
	record->carried += growth->generated;
	if (growth->finished <= 0)
		return;
	average_add_many(&record->tokens, record->carried / growth->finished, growth->finished, tau,
	                 now);
	record->carried = 0;
}

void answers_sent(struct answers *answers, uint32_t instance, uint64_t bytes, usec_t now)
{
	struct record *record = record_of(answers, instance);

	fade(record, now);
	record->sent += (double)bytes;
	average_add(&record->bytes, (double)bytes, tau, now);
}

void answers_forget(struct answers *answers, uint32_t instance)
{
	*record_of(answers, instance) = (struct record){ 0 };
}

bool answers_tokens(const struct answers *answers, uint32_t instance, usec_t now,
                    double *ret_tokens)
{
	return average_plain(&record_of(answers, instance)->tokens, now, ret_tokens);
}

bool answers_bytes_per_token(const struct answers *answers, uint32_t instance, double *ret_bytes)
{
	const struct record *record = record_of(answers, instance);
	double bytes = record->bytes.value, tokens = record->tokens.value;

	if (record->tokens.weight <= 0) {
		bytes = record->sent;
		tokens = record->uncounted;
	}
	if (record->seen < tokens_to_trust || tokens <= 0 || bytes <= 0)
		return false;
	*ret_bytes = bytes / tokens;
	return true;
}
