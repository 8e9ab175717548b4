/* generate.c - what is asked of the generator, and how its words are read. */
#include "spoa/config/generate.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "policies/core/bug.h"
#include "spoa/config/host_port.h"

void generate_init(struct generate *generate)
{
	struct error error = { "" };

	*generate = (struct generate){ .version = 0, .ingress = { .name = "inference-spoa" } };
	if (!ladder_parse((struct span){ LADDER_DEFAULT, strlen(LADDER_DEFAULT) },
	                  &generate->ladder, &error))
		bug("the default ladder is a ladder", __FILE__, __LINE__);
}

bool generate_version(const char *text, unsigned *ret_version, struct error *error)
{
	char *end = NULL;
	unsigned long major, minor;

	if (strcmp(text, "any") == 0) {
		*ret_version = 0;
		return true;
	}
	major = strtoul(text, &end, 10);
	if (end == text || *end != '.' || major > 99)
		return error_set(error, "\"%s\" is no version of HAProxy, such as 2.6", text);
	text = end + 1;
	minor = strtoul(text, &end, 10);
	if (end == text || (*end != '\0' && *end != '.') || minor > 99)
		return error_set(error, "\"%s\" is no version of HAProxy, such as 2.6", text);
	if (major * 100 + minor < 206)
		return error_set(error, "HAProxy %lu.%lu is too old, 2.6 is the first", major,
		                 minor);
	*ret_version = (unsigned)(major * 100 + minor);
	return true;
}

bool generate_regex(const char *text, enum generate_regex *ret_regex, struct error *error)
{
	static const char *const names[] = { "any", "pcre", "posix" };

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(text, names[i]) == 0) {
			*ret_regex = (enum generate_regex)i;
			return true;
		}
	return error_set(error, "\"%s\" is not one of any, pcre, posix", text);
}

bool generate_topology(const char *text, enum generate_topology *ret_topology, struct error *error)
{
	static const char *const names[] = { "combined", "upper", "lower" };

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(text, names[i]) == 0) {
			*ret_topology = (enum generate_topology)i;
			return true;
		}
	return error_set(error, "\"%s\" is not one of combined, upper, lower", text);
}

/* Letters that HAProxy takes in the name of a backend. */
static bool is_name(const char *text, size_t length)
{
	static const char allowed[] =
	        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:";

	return length > 0 && strspn(text, allowed) >= length;
}

bool generate_instance(struct generate *generate, const char *text, struct error *error)
{
	static const char allowed[] =
	        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.:[],";
	size_t name = strcspn(text, "=");
	const char *addresses = text + name + 1;

	if (text[name] == '\0' || !is_name(text, name) || *addresses == '\0' ||
	    strspn(addresses, allowed) != strlen(addresses))
		return error_set(error, "\"%s\" is not NAME=HOST:PORT,HOST:PORT...", text);
	if (generate->instance_count == GENERATE_INSTANCES_MAX)
		return error_set(error, "more than %d instances", GENERATE_INSTANCES_MAX);
	generate->instances[generate->instance_count++] = text;
	return true;
}

bool generate_header(struct generate *generate, const char *text, struct error *error)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789-_";
	size_t length = strlen(text);

	if (length == 0 || length > 64 || strspn(text, allowed) != length)
		return error_set(error, "\"%s\" is not a header's name in small letters", text);
	if (generate->header_count == GENERATE_HEADERS_MAX)
		return error_set(error, "more than %d headers", GENERATE_HEADERS_MAX);
	generate->headers[generate->header_count++] = text;
	return true;
}

bool generate_session_key(struct generate *generate, const char *text, struct error *error)
{
	static const char allowed[] =
	        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";
	size_t length = strlen(text);

	if (length == 0 || length > 64 || strspn(text, allowed) != length || text[0] == '.' ||
	    text[length - 1] == '.')
		return error_set(error, "\"%s\" is no key of a body, such as prompt_cache_key",
		                 text);
	if (generate->session_key_count == GENERATE_SESSION_KEYS_MAX)
		return error_set(error, "more than %d keys of sessions", GENERATE_SESSION_KEYS_MAX);
	generate->session_keys[generate->session_key_count++] = text;
	return true;
}

bool generate_agent_check(struct generate *generate, const char *text, struct error *error)
{
	if (!host_port_read(text, &generate->agent_check_host, &generate->agent_check_port, error))
		return false;
	generate->agent_check = text;
	return true;
}

bool generate_backend(struct generate *generate, const char *text, struct error *error)
{
	struct generate_ingress *ingress = &generate->ingress;
	size_t bytes = strlen(text) + 1;

	for (size_t i = 0; i < ingress->backend_count; i++)
		bytes += strlen(ingress->backends[i]) + 1;
	if (!is_name(text, strlen(text)))
		return error_set(error, "\"%s\" is not the name of a backend", text);
	if (ingress->backend_count == GENERATE_BACKENDS_MAX || bytes > GENERATE_BACKENDS_BYTES)
		return error_set(
		        error,
		        "more than %d backends, or %d bytes of them: one line names them all",
		        GENERATE_BACKENDS_MAX, GENERATE_BACKENDS_BYTES);
	ingress->backends[ingress->backend_count++] = text;
	return true;
}

/* Addresses only: a name that cannot be looked up would keep HAProxy from starting. */
bool generate_agent(struct generate *generate, const char *text, struct error *error)
{
	struct generate_ingress *ingress = &generate->ingress;
	struct span host = { text, strcspn(text, ":") };
	unsigned port = GENERATE_SPOP_PORT;
	char address[INET_ADDRSTRLEN] = "";
	struct in_addr parsed;

	if (ingress->agent_count == GENERATE_AGENTS_MAX)
		return error_set(error, "more than %d agents", GENERATE_AGENTS_MAX);
	if (text[host.len] == ':' && !host_port_read(text, &host, &port, error))
		return false;
	if (host.len < sizeof(address))
		memcpy(address, host.at, host.len);
	if (inet_pton(AF_INET, address, &parsed) != 1)
		return error_set(error,
		                 "\"%s\" is not an IPv4 address, perhaps with a port; a name that "
		                 "cannot be looked up would keep HAProxy from starting",
		                 text);
	ingress->agents[ingress->agent_count] = host;
	ingress->agent_ports[ingress->agent_count++] = port;
	return true;
}

bool generate_user(struct generate *generate, const char *text, struct error *error)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789_-";
	size_t length = strlen(text);

	if (length == 0 || length > 32 || text[strspn(text, allowed)] != '\0' ||
	    strchr("0123456789-", *text))
		return error_set(error, "\"%s\" is not the name of a user", text);
	generate->user = text;
	return true;
}

bool generate_name(struct generate *generate, const char *text, struct error *error)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
	size_t length = strlen(text);

	if (length == 0 || length > 40 || text[strspn(text, allowed)] != '\0' || *text == '-' ||
	    text[length - 1] == '-')
		return error_set(error, "\"%s\" is not a name of Kubernetes", text);
	generate->ingress.name = text;
	return true;
}

struct span generate_first_instance(const struct generate *generate)
{
	const char *text = generate->instance_count > 0 ? generate->instances[0] : "svc-a=";

	return (struct span){ text, strcspn(text, "=") };
}

bool generate_head_form(unsigned version)
{
	return version >= GENERATE_HEAD_FORM_SINCE;
}
