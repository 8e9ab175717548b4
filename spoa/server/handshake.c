/* handshake.c - how large frames may be, each way.
 *
 * We answer the smaller of HAProxy's size and ours, but take frames up to the
 * size HAProxy announced: 3.1.0 to 3.1.7 ignore what was negotiated. */
#include "spoa/server/handshake.h"

#include "policies/core/bug.h"
#include "spoa/server/dispatch.h"
#include "spoa/server/state.h"
#include "spoa/spop/hello.h"

enum spop_error handshake(struct connection *connection, const struct frame *frame,
                          struct spop_output *out)
{
	struct spop_server *server = connection->server;
	uint32_t ours = server->options.max_frame_size;
	struct hello hello;
	enum spop_error error = hello_read(frame->payload, &hello);

	if (error != SPOP_NONE)
		return error;
	if (hello.health_check && server->leaving) {
		dispatch_goodbye(connection, SPOP_RESOURCE, out);
		server->counters.checks++;
		return SPOP_NONE;
	}
	/* Whatever we answer must fit. */
	if (hello.max_frame_size < ANSWER_ROOM)
		return SPOP_BAD_FRAME_SIZE;
	connection->frame_limit =
	        hello.max_frame_size < FRAME_SIZE_MAX ? hello.max_frame_size : FRAME_SIZE_MAX;
	if (ours > connection->frame_limit)
		ours = connection->frame_limit;
	BUG_ON(!hello_write_answer(out, ours, hello.pipelining));
	server->counters.frames[FRAME_AGENT_HELLO]++;
	connection->phase = hello.health_check ? PHASE_CLOSING : PHASE_OPEN;
	if (hello.health_check)
		server->counters.checks++;
	else
		server->counters.accepted++;
	return SPOP_NONE;
}
