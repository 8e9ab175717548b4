/* session_id.c - base64 and hex by hand: both are strict, and neither allocates. */
#include "policies/state/session_id.h"

#define XXH_INLINE_ALL
#include <string.h>
#include <xxhash.h>

enum { OPAQUE_DIGITS = 16, SECRET_DIGITS_MAX = 19 };

static const char base64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

uint64_t session_seed(const char *secret)
{
	size_t len = strlen(secret);
	uint64_t number = 0;

	for (size_t i = 0; i < len; i++) {
		if (secret[i] < '0' || secret[i] > '9' || len > SECRET_DIGITS_MAX)
			return XXH64(secret, len, 0);
		number = 10 * number + (uint64_t)(secret[i] - '0');
	}
	return number;
}

static size_t write_base64(const char *at, size_t len, char *ret_text)
{
	size_t written = 0;

	for (size_t i = 0; i < len; i += 3) {
		size_t left = len - i;
		uint32_t bits = (uint32_t)(unsigned char)at[i] << 16;

		if (left > 1)
			bits |= (uint32_t)(unsigned char)at[i + 1] << 8;
		if (left > 2)
			bits |= (unsigned char)at[i + 2];
		ret_text[written++] = base64[bits >> 18];
		ret_text[written++] = base64[bits >> 12 & 63];
		ret_text[written++] = '=';
		ret_text[written++] = '=';
		if (left > 1)
			ret_text[written - 2] = base64[bits >> 6 & 63];
		if (left > 2)
			ret_text[written - 1] = base64[bits & 63];
	}
	ret_text[written] = '\0';
	return written;
}

static uint64_t opaque_of(const struct session_policy *policy, const char *address)
{
	return XXH64(address, strlen(address), policy->seed);
}

size_t session_id_write(const struct session_policy *policy, const char *address,
                        char ret_text[SESSION_ID_MAX])
{
	uint64_t number;

	if (policy->format == SESSION_ADDRESS)
		return write_base64(address, strlen(address), ret_text);
	number = opaque_of(policy, address);
	for (size_t i = OPAQUE_DIGITS; i-- > 0; number >>= 4)
		ret_text[i] = "0123456789abcdef"[number & 0xf];
	ret_text[OPAQUE_DIGITS] = '\0';
	return OPAQUE_DIGITS;
}

static bool read_opaque(struct span text, uint64_t *ret_number)
{
	uint64_t number = 0;

	if (text.len != OPAQUE_DIGITS)
		return false;
	for (size_t i = 0; i < text.len; i++) {
		char c = text.at[i];

		if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'f'))
			return false;
		number = number << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
	}
	*ret_number = number;
	return true;
}

/* 64 for what is no digit. */
static uint32_t digit_of(char c)
{
	uint32_t digit = 0;

	while (digit < 64 && base64[digit] != c)
		digit++;
	return digit;
}

/* Only as it is written: padded, and with nothing in the bits behind the end. False
 * too when there is no room. */
static bool read_base64(struct span text, char *ret_bytes, size_t room, size_t *ret_len)
{
	size_t padding = 0;
	uint32_t bits = 0;
	size_t len = 0;

	while (padding < 2 && padding < text.len && text.at[text.len - 1 - padding] == '=')
		padding++;
	if (text.len == 0 || text.len % 4 != 0 || text.len / 4 * 3 - padding >= room)
		return false;
	for (size_t i = 0; i < text.len - padding; i++) {
		uint32_t digit = digit_of(text.at[i]);

		if (digit == 64)
			return false;
		bits = bits << 6 | digit;
		if (i % 4 > 0)
			ret_bytes[len++] = (char)(bits >> (6 - 2 * (i % 4)) & 0xff);
	}
	*ret_len = len;
	return (bits & ((1u << (2 * padding)) - 1)) == 0;
}

/* Without "#" and the number of a rank. */
static size_t without_rank(const char *text, size_t len)
{
	size_t rank = len;

	while (rank > 0 && text[rank - 1] >= '0' && text[rank - 1] <= '9')
		rank--;
	return rank > 0 && rank < len && len - rank <= 2 && text[rank - 1] == '#' ? rank - 1 : len;
}

/* Digits, dots, colons and brackets, and a port behind the last colon; perhaps a rank. */
static bool is_address(const char *text, size_t whole)
{
	size_t len = without_rank(text, whole), port = len;

	for (size_t i = 0; i < len; i++) {
		char c = text[i];

		if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'f') && !(c >= 'A' && c <= 'F') &&
		    c != '.' && c != ':' && c != '[' && c != ']')
			return false;
	}
	while (port > 0 && text[port - 1] >= '0' && text[port - 1] <= '9')
		port--;
	return port > 1 && port < len && len - port <= 5 && text[port - 1] == ':';
}

bool session_id_read(struct span text, struct session_id *ret_id)
{
	struct session_id id = { .opaque = true };
	size_t len;

	if (read_opaque(text, &id.number)) {
		*ret_id = id;
		return true;
	}
	id.opaque = false;
	if (!read_base64(text, id.address, sizeof(id.address), &len) ||
	    !is_address(id.address, len))
		return false;
	id.address[len] = '\0';
	*ret_id = id;
	return true;
}

bool session_id_names(const struct session_policy *policy, const struct session_id *id,
                      const char *address)
{
	if (id->opaque != (policy->format == SESSION_OPAQUE))
		return false;
	return id->opaque ? id->number == opaque_of(policy, address)
	                  : strcmp(id->address, address) == 0;
}

void rendezvous_begin(struct rendezvous *rendezvous, struct span key)
{
	size_t len = key.len < SESSION_KEY_MAX ? key.len : SESSION_KEY_MAX;

	if (len > 0)
		memcpy(rendezvous->text, key.at, len);
	rendezvous->text[len] = '\0';
	rendezvous->key = len + 1;
}

uint64_t rendezvous_weight(struct rendezvous *rendezvous, const char *address)
{
	size_t len = strlen(address);

	len = len < ADDRESS_MAX_BYTES ? len : ADDRESS_MAX_BYTES;
	memcpy(rendezvous->text + rendezvous->key, address, len);
	return XXH64(rendezvous->text, rendezvous->key + len, 0);
}
