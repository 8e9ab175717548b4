/* sidecar.c - one question at a time for each connection, over a connection of its own. */
#include "tests/sim/sidecar.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/client.h"
#include "tests/sim/connection.h"
#include "tests/sim/engine.h"

static const char header[] = "x-prefiller-host-port";

struct sidecar {
	struct client client;
	struct bytes head, body;
};

/* Headers that are the leg's own, or steer who asked us. */
static bool is_own(struct span name)
{
	static const char *const names[] = { "host",       "content-length", "transfer-encoding",
		                             "connection", "expect",         "x-sim-fault",
		                             header };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (span_is_like(name, names[i]))
			return true;
	}
	return false;
}

static bool address_of(struct span text, struct sockaddr_in *ret_address)
{
	const char *colon = text.len > 0 ? memrchr(text.at, ':', text.len) : NULL;
	char host[64] = "";
	int64_t port;

	if (!colon || colon - text.at >= (ptrdiff_t)sizeof(host))
		return false;
	memcpy(host, text.at, (size_t)(colon - text.at));
	port = span_number((struct span){ colon + 1, (size_t)(text.at + text.len - colon) - 1 });
	*ret_address = (struct sockaddr_in){ .sin_family = AF_INET };
	if (port <= 0 || port > 65535 || inet_pton(AF_INET, host, &ret_address->sin_addr) != 1)
		return false;
	ret_address->sin_port = htons((uint16_t)port);
	return true;
}

/* The last of several members of one name counts. */
static void write_body(struct bytes *out, struct span body)
{
	static const char made[] = ",\"stream\":false,\"min_tokens\":1,\"max_tokens\":1}";
	const char *brace = body.len > 0 ? memrchr(body.at, '}', body.len) : NULL;

	bytes_clear(out);
	if (brace) {
		bytes_add(out, body.at, (size_t)(brace - body.at));
		bytes_text(out, made);
	}
}

static void write_head(struct sidecar *sidecar, const struct request *request)
{
	const struct http_head *head = request->head;
	struct bytes *out = &sidecar->head;

	bytes_clear(out);
	bytes_text(out, "POST ");
	bytes_span_add(out, head->words[1]);
	bytes_format(out, " HTTP/1.1\r\nhost: prefill\r\ncontent-length: %zu\r\n",
	             bytes_len(&sidecar->body));
	for (int i = 0; i < head->field_count; i++) {
		if (is_own(head->fields[i].name))
			continue;
		bytes_span_add(out, head->fields[i].name);
		bytes_text(out, ": ");
		bytes_span_add(out, head->fields[i].value);
		bytes_text(out, "\r\n");
	}
	bytes_text(out, "\r\n");
}

static void on_answer(struct client *client, const struct client_outcome *outcome)
{
	struct connection *connection = client->user;
	bool computed = outcome->error == CLIENT_NONE && outcome->status == 200;

	connection->prompt = computed ? SIDECAR_COMPUTED : SIDECAR_FAILED;
	connection->engine->counts.prefill_failed += !computed;
	connection_begin_again(connection);
}

static bool same_address(const struct sockaddr_in *a, const struct sockaddr_in *b)
{
	return a->sin_port == b->sin_port && a->sin_addr.s_addr == b->sin_addr.s_addr;
}

/* Of the connection, towards that engine; NULL when out of memory. */
static struct sidecar *sidecar_to(struct connection *connection, const struct sockaddr_in *address)
{
	struct sidecar *sidecar = connection->sidecar;

	if (sidecar && same_address(&sidecar->client.address, address))
		return sidecar;
	if (!sidecar)
		sidecar = calloc(1, sizeof(*sidecar));
	else
		client_done(&sidecar->client);
	if (sidecar)
		client_init(&sidecar->client, connection->engine->loop, address, on_answer,
		            connection);
	connection->sidecar = sidecar;
	return sidecar;
}

bool sidecar_asks(struct connection *connection, const struct request *request)
{
	const struct sim_options *options = connection->engine->options;
	struct span named = http_field_named(request->head, header);
	struct client_request asked = { .timeout_s = options->sidecar_timeout_s };
	struct sockaddr_in address;
	struct sidecar *sidecar;

	if (!options->sidecar || !named.at || connection->prompt != SIDECAR_NOTHING)
		return false;
	connection->engine->counts.prefill_asked++;
	sidecar = address_of(named, &address) ? sidecar_to(connection, &address) : NULL;
	if (!sidecar) {
		connection->engine->counts.prefill_failed++;
		connection->prompt = SIDECAR_FAILED;
		return false;
	}
	write_body(&sidecar->body, request->body);
	write_head(sidecar, request);
	asked.head = bytes_span(&sidecar->head);
	asked.body = bytes_span(&sidecar->body);
	connection->prompt = SIDECAR_ASKING;
	connection_await(connection);
	client_begin(&sidecar->client, &asked);
	return true;
}

void sidecar_forget(struct connection *connection)
{
	if (connection->prompt == SIDECAR_ASKING)
		client_done(&connection->sidecar->client);
	connection->prompt = SIDECAR_NOTHING;
}

void sidecar_free(struct sidecar *sidecar)
{
	if (!sidecar)
		return;
	client_done(&sidecar->client);
	bytes_done(&sidecar->head);
	bytes_done(&sidecar->body);
	free(sidecar);
}
