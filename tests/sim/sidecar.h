/* sidecar.h - what stands before a decode engine where prompts are computed elsewhere: it asks the
 * engine that x-prefiller-host-port names for the prompt, then its own for the answer.
 *
 * So does the side-car of llm-d. Ours is part of the engine: with --sidecar each engine has one.
 * The prefill engine is asked the same with one token to make and no stream; headers go along. When
 * it fails, or says nothing for --sidecar-timeout, the engine computes the prompt by itself (local)
 * or the client is told 503 (strict). A client that leaves takes its question to the prefill engine
 * along. */
#pragma once

#include <stdbool.h>

struct connection;
struct request;

/* What is known of the prompt of the request at the front of a connection. */
enum sidecar_state {
	SIDECAR_NOTHING,  /* nobody was asked */
	SIDECAR_ASKING,   /* the answer comes to the connection, which then begins again */
	SIDECAR_COMPUTED, /* its KV cache is here */
	SIDECAR_FAILED,
};

struct sidecar;

/* True when the prefill engine has to be asked first: it is being asked. */
bool sidecar_asks(struct connection *connection, const struct request *request);

/* The request is over, or its client gone. Keeps the connection to the prefill engine. */
void sidecar_forget(struct connection *connection);
void sidecar_free(struct sidecar *sidecar);
