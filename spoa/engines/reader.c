/* reader.c - lines are put together from pieces, and their values into terms.
 *
 * Values that no engine can mean (negative, not a number) are as good as absent. A line
 * that is longer than any of ours could be is passed over. */
#include "spoa/engines/reader.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "spoa/engines/exposition.h"

enum { LINE_MAX_BYTES = 8192 };

struct engine_reader {
	const struct engine_profiles *profiles;
	const struct term *terms;
	uint32_t term_count;
	const struct engine_profile *profile; /* NULL: not yet recognised */
	int rank;                             /* negative: all of them */
	double newest; /* time of the series of adapters that was read; negative: none */
	struct engine_loras loras;
	double slots;  /* of adapters */
	bool too_long; /* the line that is held */
	size_t held;
	char line[LINE_MAX_BYTES];
	double values[]; /* of each term; -1: not seen */
};

static void begin(struct engine_reader *reader)
{
	reader->profile = NULL;
	reader->newest = reader->slots = -1;
	reader->loras = (struct engine_loras){ 0 };
	reader->too_long = false;
	reader->held = 0;
	for (uint32_t i = 0; i < reader->term_count; i++)
		reader->values[i] = -1;
}

struct engine_reader *engine_reader_new(const struct engine_profiles *profiles)
{
	uint32_t count;
	const struct term *terms = engine_profiles_terms(profiles, &count);
	struct engine_reader *reader =
	        calloc(1, sizeof(*reader) + count * sizeof(reader->values[0]));

	if (!reader)
		return NULL;
	reader->profiles = profiles;
	reader->terms = terms;
	reader->term_count = count;
	reader->rank = -1;
	begin(reader);
	return reader;
}

void engine_reader_free(struct engine_reader *reader)
{
	free(reader);
}

static bool is(struct span span, const char *text)
{
	return span.len == strlen(text) && memcmp(span.at, text, span.len) == 0;
}

/* A label that is a number; false for "None" and the like. */
static bool label_number(struct span labels, const char *name, double *ret_number)
{
	char text[32];
	struct span value;
	char *end;

	if (!exposition_label(labels, name, &value) || value.len == 0 || value.len >= sizeof(text))
		return false;
	memcpy(text, value.at, value.len);
	text[value.len] = 0;
	*ret_number = strtod(text, &end);
	return *end == 0 && isfinite(*ret_number);
}

static bool value_of(const struct term *term, const struct exposition_sample *sample,
                     double *ret_value)
{
	double value = sample->value, factors[2];
	struct span label;

	if (term->label &&
	    !(exposition_label(sample->labels, term->label, &label) && is(label, term->is)))
		return false;
	if (term->factors[0]) {
		if (!label_number(sample->labels, term->factors[0], &factors[0]) ||
		    !label_number(sample->labels, term->factors[1], &factors[1]))
			return false;
		value = factors[0] * factors[1];
	}
	value *= term->scale;
	if (!isfinite(value) || value < 0)
		return false;
	*ret_value = value;
	return true;
}

/* It says what the series of rank 0 says. */
static bool repeats(const struct engine_profile *profile, struct span labels)
{
	struct span rank;

	for (size_t i = 0; i < profile->repeats.count; i++)
		if (exposition_label(labels, profile->repeats.at[i], &rank) && rank.len > 0 &&
		    !is(rank, "0"))
			return true;
	return false;
}

/* It says something of another rank than the one that is asked for. */
static bool is_of_another(const struct engine_profile *profile, int rank, struct span labels)
{
	double number;

	for (size_t i = 0; rank >= 0 && i < profile->rank_labels.count; i++)
		if (label_number(labels, profile->rank_labels.at[i], &number) &&
		    (number < rank || number > rank))
			return true;
	return false;
}

static void put(struct engine_reader *reader, uint32_t first,
                const struct exposition_sample *sample)
{
	for (uint32_t i = first; i != TERM_NONE; i = reader->terms[i].next) {
		const struct term *term = &reader->terms[i];
		const struct engine_profile *profile =
		        engine_profiles_at(reader->profiles, term->profile);
		double *sum = &reader->values[i], value;

		if (repeats(profile, sample->labels) ||
		    is_of_another(profile, reader->rank, sample->labels) ||
		    !value_of(term, sample, &value))
			continue;
		if (*sum < 0)
			*sum = value;
		else
			*sum = term->largest ? fmax(*sum, value) : *sum + value;
	}
}

static uint32_t read_list(struct span list, uint64_t *ids)
{
	uint32_t count = 0;

	while (list.len > 0 && count < ENGINE_LORAS_MAX) {
		const char *comma = memchr(list.at, ',', list.len);
		struct span name = { list.at, comma ? (size_t)(comma - list.at) : list.len };
		size_t used = name.len + (comma ? 1 : 0);

		while (name.len > 0 && name.at[0] == ' ')
			name = (struct span){ name.at + 1, name.len - 1 };
		if (name.len > 0)
			ids[count++] = lora_id(name);
		list = (struct span){ list.at + used, list.len - used };
	}
	return count;
}

/* Of several series the newest counts; their value is the time. */
static void read_adapters(struct engine_reader *reader, const struct adapters *adapters,
                          const struct exposition_sample *sample)
{
	struct span list;

	if (!(sample->value > reader->newest) || !isfinite(sample->value))
		return;
	reader->newest = sample->value;
	reader->loras = (struct engine_loras){ .at = 1 };
	reader->slots = -1;
	if (exposition_label(sample->labels, adapters->running, &list))
		reader->loras.active_count = read_list(list, reader->loras.active);
	if (adapters->waiting && exposition_label(sample->labels, adapters->waiting, &list))
		reader->loras.waiting_count = read_list(list, reader->loras.waiting);
	if (adapters->slots &&
	    (!label_number(sample->labels, adapters->slots, &reader->slots) || reader->slots < 0))
		reader->slots = -1;
}

static void recognise(struct engine_reader *reader, struct span name)
{
	for (size_t i = 0; i < engine_profiles_count(reader->profiles); i++) {
		const struct engine_profile *profile = engine_profiles_at(reader->profiles, i);

		for (size_t k = 0; k < profile->prefixes.count; k++) {
			size_t length = strlen(profile->prefixes.at[k]);

			if (name.len < length ||
			    memcmp(name.at, profile->prefixes.at[k], length) != 0)
				continue;
			reader->profile = profile;
			return;
		}
	}
}

/* The name alone tells for most lines that nobody asks for them. */
static bool wanted(void *data, struct span name)
{
	struct engine_reader *reader = data;
	const struct engine_profile *profile;

	if (!reader->profile)
		recognise(reader, name);
	profile = reader->profile;
	return engine_profiles_term(reader->profiles, name) != TERM_NONE ||
	       (profile && profile->adapters.name && is(name, profile->adapters.name));
}

static void read_lines(struct engine_reader *reader, struct span lines)
{
	struct exposition exposition = { .rest = lines, .wanted = wanted, .data = reader };
	struct exposition_sample sample;

	while (exposition_next(&exposition, &sample)) {
		const struct engine_profile *profile = reader->profile;

		put(reader, engine_profiles_term(reader->profiles, sample.name), &sample);
		if (profile && profile->adapters.name && is(sample.name, profile->adapters.name))
			read_adapters(reader, &profile->adapters, &sample);
	}
}

/* The begin of a line whose end is not here yet. */
static void hold(struct engine_reader *reader, struct span piece)
{
	if (piece.len > sizeof(reader->line) - reader->held) {
		reader->too_long = true;
		reader->held = 0;
	}
	if (reader->too_long)
		return;
	memcpy(reader->line + reader->held, piece.at, piece.len);
	reader->held += piece.len;
}

static void read_held(struct engine_reader *reader)
{
	if (!reader->too_long)
		read_lines(reader, (struct span){ reader->line, reader->held });
	reader->too_long = false;
	reader->held = 0;
}

void engine_reader_of_rank(struct engine_reader *reader, int rank)
{
	reader->rank = rank;
}

void engine_reader_feed(struct engine_reader *reader, struct span piece)
{
	const char *end = piece.len > 0 ? memchr(piece.at, '\n', piece.len) : NULL;
	const char *last;

	if (!end) {
		hold(reader, piece);
		return;
	}
	if (reader->held > 0 || reader->too_long) {
		size_t rest = (size_t)(end - piece.at) + 1;

		hold(reader, (struct span){ piece.at, rest });
		read_held(reader);
		piece = (struct span){ piece.at + rest, piece.len - rest };
	}
	last = piece.len > 0 ? memrchr(piece.at, '\n', piece.len) : NULL;
	if (last) {
		size_t whole = (size_t)(last - piece.at) + 1;

		read_lines(reader, (struct span){ piece.at, whole });
		piece = (struct span){ piece.at + whole, piece.len - whole };
	}
	hold(reader, piece);
}

/* The alternate that begins at this term; -1 when it is not on the page. */
static double alternate(const struct engine_reader *reader, uint32_t first, uint32_t end)
{
	double value = reader->values[first];

	for (uint32_t i = first + 1; i < end && reader->terms[i].part != TERM_FIRST; i++) {
		double part = reader->values[i];

		if (reader->terms[i].part == TERM_TIMES && part < 0)
			return -1;
		if (reader->terms[i].part == TERM_TIMES)
			value *= part;
		else if (part > 0)
			value += part;
	}
	return value;
}

static void sum_up(const struct engine_reader *reader, struct engine_reading *reading)
{
	const struct engine_profile *profile = reader->profile;
	uint32_t end = profile->first + profile->terms;

	for (uint32_t i = profile->first; i < end; i++) {
		double *value = &reading->values[reader->terms[i].field];

		if (reader->terms[i].part == TERM_FIRST && reader->values[i] >= 0 && *value < 0)
			*value = alternate(reader, i, end);
	}
	if (reading->values[ENGINE_KV_USAGE] > 1)
		reading->values[ENGINE_KV_USAGE] = 1;
	if (reader->newest < 0)
		return;
	reading->loras = reader->loras;
	if (reading->values[ENGINE_LORA_SLOTS] < 0)
		reading->values[ENGINE_LORA_SLOTS] = reader->slots;
	if (reading->values[ENGINE_LORA_USED] < 0)
		reading->values[ENGINE_LORA_USED] = reader->loras.active_count;
}

void engine_reader_end(struct engine_reader *reader, struct engine_reading *ret_reading)
{
	if (reader->held > 0)
		read_held(reader);
	*ret_reading = (struct engine_reading){ .profile = reader->profile };
	for (size_t field = 0; field < ENGINE_FIELD_COUNT; field++)
		ret_reading->values[field] = -1;
	if (reader->profile)
		sum_up(reader, ret_reading);
	begin(reader);
}
