/* log_line.c - one pass over the line; a table says which reader takes which field.
 *
 * Names and their order are END_FIELDS of the contract; readers[] says where each
 * goes. What is read goes into a copy first, so that half a line leaves nothing
 * behind. */
#include "spoa/observe/log_line.h"

#include <stddef.h>
#include <string.h>

#include "spoa/messages/contract.h"

#define AS_TEXT(id, text) [LOG_LINE_##id] = (text),
static const char *const texts[] = { LOG_LINE_RESULTS(AS_TEXT) };
#undef AS_TEXT

const char *log_line_text(enum log_line_result result)
{
	return result < LOG_LINE_RESULT_COUNT ? texts[result] : "unknown";
}

static bool is(struct span span, const char *text)
{
	return span.len == strlen(text) && memcmp(span.at, text, span.len) == 0;
}

/* HAProxy writes "-" for what it does not have. */
static bool absent(struct span value)
{
	return value.len == 0 || is(value, "-");
}

static bool number(struct span value, uint64_t most, uint64_t *ret_number)
{
	uint64_t sum = 0;

	if (value.len == 0 || value.len > 19)
		return false;
	for (size_t i = 0; i < value.len; i++) {
		if (value.at[i] < '0' || value.at[i] > '9')
			return false;
		sum = sum * 10 + (uint64_t)(value.at[i] - '0');
	}
	if (sum > most)
		return false;
	*ret_number = sum;
	return true;
}

static struct span skip(struct span value, size_t bytes)
{
	return (struct span){ value.at + bytes, value.len - bytes };
}

/* The readers. Each gets the place in struct log_line that its field fills. */

static enum log_line_result read_nothing(struct span value, void *place)
{
	(void)value;
	(void)place;
	return LOG_LINE_OK;
}

static enum log_line_result read_text(struct span value, void *place)
{
	struct span *text = place;

	*text = absent(value) ? (struct span){ NULL, 0 } : value;
	return LOG_LINE_OK;
}

/* Times in ms; -1 and absent are both "never reached". */
static enum log_line_result read_ms(struct span value, void *place)
{
	int32_t *ms = place;
	uint64_t count;

	*ms = -1;
	if (absent(value) || is(value, "-1"))
		return LOG_LINE_OK;
	if (value.at[0] == '+')
		return LOG_LINE_EARLY;
	if (!number(value, INT32_MAX, &count))
		return LOG_LINE_VALUE;
	*ms = (int32_t)count;
	return LOG_LINE_OK;
}

static enum log_line_result read_epoch(struct span value, void *place)
{
	int64_t *ms = place;
	uint64_t count = 0;

	if (!absent(value) && !number(value, INT64_MAX, &count))
		return LOG_LINE_VALUE;
	*ms = (int64_t)count;
	return LOG_LINE_OK;
}

static enum log_line_result read_bytes(struct span value, void *place)
{
	if (value.len > 0 && value.at[0] == '+')
		return LOG_LINE_EARLY;
	return absent(value) || number(value, INT64_MAX, place) ? LOG_LINE_OK : LOG_LINE_VALUE;
}

static enum log_line_result read_event(struct span value, void *place)
{
	(void)place;
	return is(value, "end") ? LOG_LINE_OK : LOG_LINE_EVENT;
}

/* Without it nobody can tell whose end this is. */
static enum log_line_result read_id(struct span value, void *place)
{
	return absent(value) ? LOG_LINE_VALUE : read_text(value, place);
}

/* <NOSRV>, <STATS>: nobody we route to. */
static enum log_line_result read_server(struct span value, void *place)
{
	if (value.len > 0 && value.at[0] == '<')
		value.len = 0;
	return read_text(value, place);
}

/* "ip:port", split at the last colon: IPv6 comes without brackets, and gets the
 * form the fleet is keyed by. "-:-" and "unix:1" are no addresses. */
static enum log_line_result read_address(struct span value, void *place)
{
	struct log_line *line = place;
	const char *colon = value.len > 0 ? memrchr(value.at, ':', value.len) : NULL;
	struct span host, port;
	uint64_t unused;

	if (absent(value))
		return LOG_LINE_OK;
	if (!colon)
		return LOG_LINE_VALUE;
	host = (struct span){ value.at, (size_t)(colon - value.at) };
	port = skip(value, host.len + 1);
	if (absent(host) || is(host, "unix") || is(port, "-"))
		return LOG_LINE_OK;
	if (!number(port, UINT16_MAX, &unused))
		return LOG_LINE_VALUE;
	line->end.by.address = value;
	if (!memchr(host.at, ':', host.len) || host.at[0] == '[')
		return LOG_LINE_OK;
	if (value.len + 2 > sizeof(line->address))
		return LOG_LINE_VALUE;
	line->address[0] = '[';
	memcpy(line->address + 1, host.at, host.len);
	line->address[1 + host.len] = ']';
	memcpy(line->address + 2 + host.len, colon, port.len + 1);
	line->end.by.address = (struct span){ line->address, value.len + 2 };
	return LOG_LINE_OK;
}

static enum log_line_result read_status(struct span value, void *place)
{
	int *status = place;
	uint64_t count;

	*status = -1;
	if (absent(value) || is(value, "-1"))
		return LOG_LINE_OK;
	if (!number(value, 999, &count))
		return LOG_LINE_VALUE;
	*status = (int)count;
	return LOG_LINE_OK;
}

static enum log_line_result read_termination(struct span value, void *place)
{
	enum { LETTERS = sizeof(((struct stream_end *)0)->termination) };

	if (value.len != 2 && value.len != LETTERS)
		return LOG_LINE_VALUE;
	memset(place, '-', LETTERS);
	memcpy(place, value.at, value.len);
	return LOG_LINE_OK;
}

static enum log_line_result read_retries(struct span value, void *place)
{
	struct log_line *line = place;
	uint64_t retries = 0;

	line->end.redispatched = value.len > 0 && value.at[0] == '+';
	if (line->end.redispatched)
		value = skip(value, 1);
	if (!absent(value) && !number(value, UINT32_MAX, &retries))
		return LOG_LINE_VALUE;
	line->end.retries = (uint32_t)retries;
	return LOG_LINE_OK;
}

/* Our answer was applied if there was no error and it names an instance. */
static enum log_line_result read_error(struct span value, void *place)
{
	struct log_line *line = place;

	line->end.applied = absent(value) && line->end.instance.len > 0;
	return LOG_LINE_OK;
}

static enum log_line_result read_decided(struct span value, void *place)
{
	struct log_line *line = place;

	line->end.routed = !absent(value);
	return read_epoch(value, &line->end.decided_ms);
}

/* The engine's word, so anything may stand here; a day is enough. */
static enum log_line_result read_retry_after(struct span value, void *place)
{
	enum { DAY = 86400 };
	uint32_t *retry_after = place;
	uint64_t seconds = 0;

	if (!number(value, INT64_MAX, &seconds))
		seconds = 0;
	*retry_after = seconds > DAY ? DAY : (uint32_t)seconds;
	return LOG_LINE_OK;
}

/* "503/7/gpu1", "500/-/gpu1". A word of an engine is in it, so what is odd says nothing. */
static enum log_line_result read_first_try(struct span value, void *place)
{
	struct log_line *line = place;
	const char *first = value.len > 0 ? memchr(value.at, '/', value.len) : NULL;
	const char *last =
	        first ? memchr(first + 1, '/', value.len - (size_t)(first + 1 - value.at)) : NULL;
	struct span status, wait, server;
	uint64_t number_of = 0;

	if (!last)
		return LOG_LINE_OK;
	status = (struct span){ value.at, (size_t)(first - value.at) };
	wait = (struct span){ first + 1, (size_t)(last - first) - 1 };
	server = skip(value, (size_t)(last + 1 - value.at));
	if (!number(status, 999, &number_of))
		return LOG_LINE_OK;
	line->end.first_status = (int)number_of;
	(void)read_retry_after(wait, &line->end.first_retry_after);
	return read_server(server, &line->end.first_server);
}

#define AS_ENUM(id, name, expression, help) FIELD_##id,
enum field { END_FIELDS(AS_ENUM) FIELD_COUNT };
#undef AS_ENUM

_Static_assert((int)FIELD_FIRST_TRY == (int)END_FIELDS_AT_FIRST, "a later field may be missing");

#define AS_NAME(id, name, expression, help) name,
static const char *const names[] = { END_FIELDS(AS_NAME) };
#undef AS_NAME

#define OF(field) offsetof(struct log_line, field)

static const struct {
	enum log_line_result (*read)(struct span value, void *place);
	size_t offset;
} readers[FIELD_COUNT] = {
	[FIELD_EVENT] = { read_event, 0 },
	[FIELD_ID] = { read_id, OF(end.id) },
	[FIELD_PROCESS] = { read_text, OF(process) },
	[FIELD_BACKEND] = { read_text, OF(end.by.backend) },
	[FIELD_SERVER] = { read_server, OF(end.by.server) },
	[FIELD_ADDRESS] = { read_address, 0 },
	[FIELD_STATUS] = { read_status, OF(end.status) },
	[FIELD_TERMINATION] = { read_termination, OF(end.termination) },
	[FIELD_RETRIES] = { read_retries, 0 },
	[FIELD_INSTANCE] = { read_text, OF(end.instance) },
	[FIELD_REPLICA] = { read_text, OF(end.replica) },
	[FIELD_ACTION] = { read_text, OF(end.action) },
	[FIELD_REASON] = { read_text, OF(end.reason) },
	[FIELD_ERROR] = { read_error, 0 },
	[FIELD_PROCESSING] = { read_nothing, 0 },
	[FIELD_DECIDED] = { read_decided, 0 },
	[FIELD_FIRST_BYTE] = { read_epoch, OF(end.first_byte_ms) },
	[FIELD_RETRY_AFTER] = { read_retry_after, OF(end.retry_after) },
	[FIELD_QUEUE_MS] = { read_ms, OF(end.queue_ms) },
	[FIELD_CONNECT_MS] = { read_ms, OF(end.connect_ms) },
	[FIELD_RESPONSE_MS] = { read_ms, OF(end.response_ms) },
	[FIELD_DATA_MS] = { read_ms, OF(end.data_ms) },
	[FIELD_TOTAL_MS] = { read_ms, OF(end.total_ms) },
	[FIELD_BYTES_IN] = { read_bytes, OF(end.bytes_in) },
	[FIELD_BYTES_OUT] = { read_bytes, OF(end.bytes_out) },
	[FIELD_SERVER_QUEUE] = { read_nothing, 0 },
	[FIELD_BACKEND_QUEUE] = { read_nothing, 0 },
	[FIELD_FIRST_TRY] = { read_first_try, 0 },
};

/* Takes "name=value" and the space behind it off the line; false when another
 * name, or nothing, stands there. */
static bool take(struct span *rest, const char *name, struct span *ret_value)
{
	size_t prefix = strlen(name);
	const char *end;

	if (rest->len <= prefix || memcmp(rest->at, name, prefix) != 0 || rest->at[prefix] != '=')
		return false;
	*rest = skip(*rest, prefix + 1);
	end = memchr(rest->at, ' ', rest->len);
	*ret_value = (struct span){ rest->at, end ? (size_t)(end - rest->at) : rest->len };
	*rest = skip(*rest, ret_value->len + (end ? 1 : 0));
	return true;
}

enum log_line_result log_line_read(struct span line, struct log_line *ret_line)
{
	static const char prefix[] = CONTRACT_END_PREFIX;
	struct log_line read = { 0 };
	enum log_line_result early = LOG_LINE_OK;

	if (line.len < sizeof(prefix) - 1 || memcmp(line.at, prefix, sizeof(prefix) - 1) != 0)
		return LOG_LINE_FOREIGN;
	line = skip(line, sizeof(prefix) - 1);
	for (size_t i = 0; i < FIELD_COUNT; i++) {
		struct span value;
		enum log_line_result result;

		if (!take(&line, names[i], &value)) {
			if (i >= END_FIELDS_AT_FIRST)
				break;
			return LOG_LINE_FIELD;
		}
		result = readers[i].read(value, (char *)&read + readers[i].offset);
		if (result == LOG_LINE_EARLY)
			early = result; /* but a worse fault behind it is told rather */
		else if (result != LOG_LINE_OK)
			return result;
	}
	if (early != LOG_LINE_OK)
		return early;
	*ret_line = read;
	if (read.end.by.address.at == read.address)
		ret_line->end.by.address.at = ret_line->address;
	return LOG_LINE_OK;
}
