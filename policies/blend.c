/* blend.c - reads a text part by part, gathers signals, appends what the policy blends in. */
#include "policies/blend.h"

#include <string.h>

#include "policies/core/option.h"
#include "policies/pickers/least.h"
#include "policies/pickers/pickers.h"
#include "policies/signals/signals.h"
#include "policies/strategies.h"

struct part {
	struct span text;
	const struct strategy *strategy;
	uint32_t coefficient;
	bool bare; /* no coefficient was given */
};

struct parts {
	struct part of[BLEND_PARTS_MAX];
	size_t count;
};

static struct span trimmed(struct span text)
{
	while (text.len > 0 && (*text.at == ' ' || *text.at == '\t')) {
		text.at++;
		text.len--;
	}
	while (text.len > 0 && (text.at[text.len - 1] == ' ' || text.at[text.len - 1] == '\t'))
		text.len--;
	return text;
}

/* Up to the separator, which goes, or to the end. */
static struct span cut(struct span *rest, char separator)
{
	struct span piece = { rest->at, 0 };

	while (piece.len < rest->len && rest->at[piece.len] != separator)
		piece.len++;
	rest->at += piece.len;
	rest->len -= piece.len;
	if (rest->len > 0) {
		rest->at++;
		rest->len--;
	}
	return trimmed(piece);
}

static bool read_coefficient(struct span text, uint32_t *ret_coefficient)
{
	uint32_t number = 0;

	if (text.len == 0 || text.len > 7)
		return false;
	for (size_t i = 0; i < text.len; i++) {
		if (text.at[i] < '0' || text.at[i] > '9')
			return false;
		number = number * 10 + (uint32_t)(text.at[i] - '0');
	}
	if (number > BLEND_COEFFICIENT_MAX)
		return false;
	*ret_coefficient = number;
	return true;
}

static enum blend_fault read_part(const struct policy *policy, struct span text, struct part *part)
{
	struct span name, rest = text;
	bool bare = !memchr(text.at, ':', text.len);

	*part = (struct part){ .text = text, .coefficient = 1, .bare = bare };
	name = cut(&rest, ':');
	part->strategy = strategy_named_in(policy, name);
	if (!part->strategy)
		return BLEND_UNKNOWN;
	return bare || read_coefficient(trimmed(rest), &part->coefficient) ? BLEND_NONE
	                                                                   : BLEND_COEFFICIENT;
}

static bool is_there(const struct parts *parts, const struct strategy *strategy)
{
	for (size_t i = 0; i < parts->count; i++) {
		if (parts->of[i].strategy == strategy)
			return true;
	}
	return false;
}

static bool read_parts(const struct policy *policy, struct span text, struct parts *parts,
                       struct blend_problem *ret_problem)
{
	bool more = text.len > 0;

	parts->count = 0;
	if (!more)
		*ret_problem = (struct blend_problem){ BLEND_UNKNOWN, text };
	while (more) {
		struct part part;
		enum blend_fault fault;

		more = memchr(text.at, ',', text.len) != NULL;
		fault = read_part(policy, cut(&text, ','), &part);
		if (fault == BLEND_NONE && is_there(parts, part.strategy))
			fault = BLEND_TWICE;
		if (fault == BLEND_NONE && parts->count == BLEND_PARTS_MAX)
			fault = BLEND_TOO_MANY;
		if (fault != BLEND_NONE) {
			*ret_problem = (struct blend_problem){ fault, part.text };
			return false;
		}
		parts->of[parts->count++] = part;
	}
	return parts->count > 0;
}

/* The first that is used alone; NULL when there is none. */
static const struct part *exclusive_of(const struct parts *parts)
{
	for (size_t i = 0; i < parts->count; i++) {
		if (parts->of[i].strategy->mixing == MIX_EXCLUSIVE && parts->of[i].coefficient > 0)
			return &parts->of[i];
	}
	return NULL;
}

/* Adds to one that reads the same signal in the same way. False when there is no room. */
static bool add(struct strategy *strategy, const struct weighing *weighing, double weight)
{
	size_t i = 0;

	for (; i < WEIGHINGS_MAX && strategy->weighings[i].signal; i++) {
		struct weighing *other = &strategy->weighings[i];

		if (other->signal != weighing->signal || other->scale != weighing->scale ||
		    other->min_spread != weighing->min_spread || other->full != weighing->full)
			continue;
		other->weight += weight;
		return true;
	}
	if (i == WEIGHINGS_MAX)
		return false;
	strategy->weighings[i] = *weighing;
	strategy->weighings[i].weight = weight;
	strategy->weighings[i].told = false;
	return true;
}

static size_t count_of(const struct strategy *strategy, bool part)
{
	size_t most =
	        part && strategy->part_weighings > 0 ? strategy->part_weighings : WEIGHINGS_MAX;
	size_t count = 0;

	while (count < most && strategy->weighings[count].signal)
		count++;
	return count;
}

/* As if it were the whole of it; told: its first signal is missed when nobody has it. */
static bool add_signals(struct strategy *strategy, const struct strategy *from, double coefficient,
                        bool part)
{
	size_t count = count_of(from, part);
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += from->weighings[i].weight;
	for (size_t i = 0; i < count; i++) {
		const struct weighing *weighing = &from->weighings[i];

		if (!add(strategy, weighing, coefficient * weighing->weight / sum))
			return false;
	}
	for (size_t i = 0; part && i < WEIGHINGS_MAX && count > 0; i++) {
		if (strategy->weighings[i].signal == from->weighings[0].signal)
			strategy->weighings[i].told = true;
	}
	return true;
}

static bool append(struct strategy *strategy, const struct signal *signal, double weight)
{
	struct weighing weighing = { .signal = signal, .min_spread = -1 };

	if (weight <= 0)
		return true;
	strategy->blended = true;
	return add(strategy, &weighing, weight);
}

/* A picker that draws among k does so by what a blend adds. */
static void draw_by_load(struct strategy *strategy)
{
	const struct option *options = strategy->picker->options;
	const struct option *by = option_named(options, (struct span){ "by", 2 });
	struct error error = { "" };

	if (!by || !strategy->blended || strategy->has_settings)
		return;
	options_reset(options, strategy->picker_settings);
	strategy->has_settings =
	        option_set_number(by, strategy->picker_settings, BY_LOAD_BALANCE, &error);
}

const struct strategy *blend_alone(const struct policy *policy, const struct strategy *strategy,
                                   struct blend *room)
{
	const struct blend_policy *blend = &policy->blend;
	struct strategy *made = &room->strategy;

	if (strategy->blending == BLEND_NOTHING || blend->load_balance <= 0)
		return strategy;
	*made = *strategy;
	made->row = strategy->row ? strategy->row : strategy;
	memset(made->weighings, 0, sizeof(made->weighings));
	if (strategy->blending == BLEND_OWN) {
		(void)add_signals(made, strategy, blend->prefix_cache, true);
		made->weighings[0].told = false;
		(void)append(made, &signal_load_balance, blend->prefix_cache_load);
		return made;
	}
	/* Two more than a row or a recipe can have fit in. */
	(void)add_signals(made, strategy, 1, false);
	(void)append(made, &signal_load_balance, blend->load_balance);
	if (!strategy->counts_requests)
		(void)append(made, &signal_running, blend->least_request);
	draw_by_load(made);
	return made;
}

static bool gather(struct strategy *made, const struct parts *parts)
{
	for (size_t i = 0; i < parts->count; i++) {
		const struct part *part = &parts->of[i];
		const struct strategy *from = part->strategy;

		if (part->coefficient == 0)
			continue;
		if (!add_signals(made, from, part->coefficient, true))
			return false;
		made->gate |= from->gate;
		made->sigma |= from->sigma;
		made->counts_requests |= from->counts_requests;
		if (from->deepest > made->deepest)
			made->deepest = from->deepest;
	}
	return true;
}

static bool blend_in(const struct policy *policy, struct strategy *made, const struct parts *parts)
{
	const struct blend_policy *blend = &policy->blend;

	if (blend->load_balance <= 0)
		return true;
	if (!is_there(parts, strategy_load_balance()) &&
	    !append(made, &signal_load_balance, blend->load_balance))
		return false;
	return made->counts_requests || is_there(parts, strategy_least_request()) ||
	       append(made, &signal_running, blend->least_request);
}

static enum blend_fault mix(const struct policy *policy, const struct parts *parts,
                            struct strategy *made)
{
	size_t named = 0;

	*made = (struct strategy){ .help = "Several strategies at once.",
		                   .picker = &picker_best,
		                   .prefix = PREFIX_SCORE,
		                   .falls_to = strategy_least_request() };
	for (size_t i = 0; i < parts->count; i++)
		named += parts->of[i].coefficient > 0;
	if (named == 0)
		return BLEND_NOTHING_NAMED;
	if (!gather(made, parts) || !blend_in(policy, made, parts))
		return BLEND_TOO_MANY;
	return BLEND_NONE;
}

static void name_it(struct blend *room, struct span text)
{
	size_t len = text.len < sizeof(room->name) ? text.len : sizeof(room->name) - 1;

	memcpy(room->name, text.at, len);
	room->name[len] = '\0';
	room->strategy.name = room->name;
}

/* One that cannot be a part of several; NULL when all can. */
static const struct part *loner_of(const struct parts *parts)
{
	for (size_t i = 0; i < parts->count; i++) {
		if (parts->of[i].strategy->mixing == MIX_ALONE && parts->of[i].coefficient > 0)
			return &parts->of[i];
	}
	return NULL;
}

const struct strategy *blend_strategy(const struct policy *policy, struct span text,
                                      struct blend *room, struct blend_problem *ret_problem)
{
	const struct strategy *named = NULL;
	const struct part *part;
	struct parts parts;
	enum blend_fault fault;

	text = trimmed(text);
	if (text.len > 0)
		named = strategy_named_in(policy, text);
	if (named)
		return blend_alone(policy, named, room);
	if (!read_parts(policy, text, &parts, ret_problem))
		return NULL;
	part = exclusive_of(&parts);
	if (part)
		return part->strategy;
	part = loner_of(&parts);
	if (part && parts.count == 1)
		return part->strategy;
	fault = part ? BLEND_ALONE : mix(policy, &parts, &room->strategy);
	if (fault != BLEND_NONE) {
		*ret_problem = (struct blend_problem){ fault, part ? part->text : text };
		return NULL;
	}
	name_it(room, text);
	return &room->strategy;
}

const char *blend_fault_text(enum blend_fault fault)
{
#define AS_TEXT(id, text) text,
	static const char *const texts[] = { BLEND_FAULTS(AS_TEXT) };
#undef AS_TEXT

	return texts[fault];
}

struct line {
	char *at;
	size_t len, room;
};

static void put(struct line *line, char letter)
{
	if (line->len + 1 < line->room)
		line->at[line->len++] = letter;
	line->at[line->len] = '\0';
}

static void put_text(struct line *line, const char *text)
{
	for (; *text; text++)
		put(line, *text);
}

static void put_digits(struct line *line, uint64_t number)
{
	uint64_t unit = 1;

	while (number / unit >= 10)
		unit *= 10;
	for (; unit > 0; unit /= 10)
		put(line, (char)('0' + number / unit % 10));
}

/* Three decimals, without zeros at the end. */
static void put_number(struct line *line, double number)
{
	uint64_t thousandths = (uint64_t)(number * 1000 + 0.5);

	put_digits(line, thousandths / 1000);
	if (thousandths % 1000 == 0)
		return;
	put(line, '.');
	for (uint64_t unit = 100; unit > 0 && thousandths % (unit * 10) > 0; unit /= 10)
		put(line, (char)('0' + thousandths / unit % 10));
}

void blend_describe(const struct strategy *strategy, char ret_text[BLEND_TEXT_MAX])
{
	struct line line = { ret_text, 0, BLEND_TEXT_MAX };

	ret_text[0] = '\0';
	for (size_t i = 0; i < WEIGHINGS_MAX && strategy->weighings[i].signal; i++) {
		if (i > 0)
			put(&line, ',');
		put_text(&line, strategy->weighings[i].signal->name);
		put(&line, ':');
		put_number(&line, strategy->weighings[i].weight);
	}
}
