/* hello.c - read what HAProxy offers, answer what we take.
 *
 * Nothing is required beyond what the protocol requires: the HELLO of a health
 * check has an empty list of capabilities, and newer HAProxy dropped some. Only
 * "pipelining" is ever answered, and only if offered: announcing more than was
 * offered has crashed peers. */
#include "spoa/spop/hello.h"

#include <string.h>

#define VERSION         "2.0"
#define PIPELINING      "pipelining"
#define KEY_VERSIONS    "supported-versions"
#define KEY_VERSION     "version"
#define KEY_FRAME_SIZE  "max-frame-size"
#define KEY_ABILITIES   "capabilities"
#define KEY_HEALTHCHECK "healthcheck"
#define KEY_ENGINE_ID   "engine-id"

struct offer {
	struct hello hello;
	struct spop_text versions, capabilities;
	bool has_versions, has_frame_size, has_capabilities;
	uint64_t frame_size;
};

/* Is the word one of a comma-separated list? Blanks around entries do not count. */
static bool lists(struct spop_text list, const char *word)
{
	const char *at = list.at, *end = list.at + list.length;

	while (at < end) {
		const char *comma = memchr(at, ',', (size_t)(end - at));
		const char *next = comma ? comma + 1 : end;
		const char *stop = comma ? comma : end;

		while (at < stop && *at == ' ')
			at++;
		while (stop > at && stop[-1] == ' ')
			stop--;
		if (text_is((struct spop_text){ at, (size_t)(stop - at) }, word))
			return true;
		at = next;
	}
	return false;
}

static bool is_integer(const struct spop_value *value)
{
	return value->type == SPOP_TYPE_INT32 || value->type == SPOP_TYPE_UINT32 ||
	       value->type == SPOP_TYPE_INT64 || value->type == SPOP_TYPE_UINT64;
}

/* An entry of another type than it should have is as good as none. */
static void take(struct offer *offer, struct spop_text name, const struct spop_value *value)
{
	if (text_is(name, KEY_VERSIONS) && value->type == SPOP_TYPE_STRING) {
		offer->versions = value->text;
		offer->has_versions = true;
	} else if (text_is(name, KEY_FRAME_SIZE) && is_integer(value)) {
		offer->frame_size = value->number;
		offer->has_frame_size = true;
	} else if (text_is(name, KEY_ABILITIES) && value->type == SPOP_TYPE_STRING) {
		offer->capabilities = value->text;
		offer->has_capabilities = true;
	} else if (text_is(name, KEY_HEALTHCHECK) && value->type == SPOP_TYPE_BOOL) {
		offer->hello.health_check = value->boolean;
	} else if (text_is(name, KEY_ENGINE_ID) && value->type == SPOP_TYPE_STRING) {
		offer->hello.engine_id = value->text;
	}
}

static enum spop_error judge(const struct offer *offer)
{
	if (!offer->has_versions)
		return SPOP_NO_VERSION;
	if (!lists(offer->versions, VERSION))
		return SPOP_BAD_VERSION;
	if (!offer->has_frame_size)
		return SPOP_NO_FRAME_SIZE;
	if (offer->frame_size < FRAME_SIZE_MIN || offer->frame_size > UINT32_MAX)
		return SPOP_BAD_FRAME_SIZE;
	return offer->has_capabilities ? SPOP_NONE : SPOP_NO_CAPABILITIES;
}

enum spop_error hello_read(struct spop_input payload, struct hello *ret_hello)
{
	struct offer offer = { .has_versions = false };
	enum spop_error error;

	while (payload.at < payload.end) {
		struct spop_text name;
		struct spop_value value;

		error = pair_read(&payload, &name, &value);
		if (error != SPOP_NONE)
			return error;
		take(&offer, name, &value);
	}
	error = judge(&offer);
	if (error != SPOP_NONE)
		return error;
	offer.hello.max_frame_size = (uint32_t)offer.frame_size;
	offer.hello.pipelining = lists(offer.capabilities, PIPELINING);
	*ret_hello = offer.hello;
	return SPOP_NONE;
}

static bool word_write(struct spop_output *out, const char *name, const char *word)
{
	struct spop_value value = value_string(text_of(word));

	return pair_write(out, name, &value);
}

bool hello_write_answer(struct spop_output *out, uint32_t max_frame_size, bool pipelining)
{
	struct spop_output rest = *out;
	struct spop_value size = value_uint32(max_frame_size);
	uint8_t *mark;

	if (!frame_begin(&rest, FRAME_AGENT_HELLO, 0, 0, &mark) ||
	    !word_write(&rest, KEY_VERSION, VERSION) || !pair_write(&rest, KEY_FRAME_SIZE, &size) ||
	    !word_write(&rest, KEY_ABILITIES, pipelining ? PIPELINING : ""))
		return false;
	frame_end(&rest, mark);
	*out = rest;
	return true;
}

bool hello_write(struct spop_output *out, uint32_t max_frame_size, const char *capabilities,
                 bool health_check, const char *engine_id)
{
	struct spop_output rest = *out;
	struct spop_value size = value_uint32(max_frame_size);
	struct spop_value yes = value_bool(true);
	uint8_t *mark;

	if (!frame_begin(&rest, FRAME_HAPROXY_HELLO, 0, 0, &mark) ||
	    !word_write(&rest, KEY_VERSIONS, VERSION) ||
	    !pair_write(&rest, KEY_FRAME_SIZE, &size) ||
	    !word_write(&rest, KEY_ABILITIES, capabilities))
		return false;
	if (health_check && !pair_write(&rest, KEY_HEALTHCHECK, &yes))
		return false;
	if (engine_id && !word_write(&rest, KEY_ENGINE_ID, engine_id))
		return false;
	frame_end(&rest, mark);
	*out = rest;
	return true;
}

enum spop_error hello_read_answer(struct spop_input payload, struct hello_answer *ret_answer)
{
	struct hello_answer answer = { .max_frame_size = 0 };

	while (payload.at < payload.end) {
		struct spop_text name;
		struct spop_value value;
		enum spop_error error = pair_read(&payload, &name, &value);

		if (error != SPOP_NONE)
			return error;
		if (text_is(name, KEY_VERSION) && value.type == SPOP_TYPE_STRING)
			answer.version = value.text;
		else if (text_is(name, KEY_FRAME_SIZE) && value.type == SPOP_TYPE_UINT32)
			answer.max_frame_size = (uint32_t)value.number;
		else if (text_is(name, KEY_ABILITIES) && value.type == SPOP_TYPE_STRING)
			answer.capabilities = value.text;
	}
	if (!answer.version.at)
		return SPOP_NO_VERSION;
	if (answer.max_frame_size == 0)
		return SPOP_NO_FRAME_SIZE;
	if (!answer.capabilities.at)
		return SPOP_NO_CAPABILITIES;
	*ret_answer = answer;
	return SPOP_NONE;
}
