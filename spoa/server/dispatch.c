/* dispatch.c - which frame may come when, and who answers it. */
#include "spoa/server/dispatch.h"

#include "policies/core/bug.h"
#include "spoa/server/handshake.h"
#include "spoa/server/state.h"
#include "spoa/spop/ack.h"
#include "spoa/spop/disconnect.h"

enum { PEER_CODES = 100 };

void dispatch_goodbye(struct connection *connection, enum spop_error error, struct spop_output *out)
{
	struct spop_server *server = connection->server;

	BUG_ON(!disconnect_write(out, FRAME_AGENT_DISCONNECT, error));
	server->counters.frames[FRAME_AGENT_DISCONNECT]++;
	server->counters.errors[error]++;
	connection->phase = PHASE_CLOSING;
}

void dispatch_refuse(struct connection *connection, enum spop_error error, struct spop_output *out)
{
	struct spop_server *server = connection->server;
	bool stranger = connection->phase == PHASE_HELLO;

	if (stranger)
		server->counters.refused++;
	notices_say(&server->notices, stranger ? NOTICE_OF_BAD_HANDSHAKE : NOTICE_OF_BAD_FRAME,
	            connection->read_at, "spop: %s refused: %s", stranger ? "handshake" : "frame",
	            spop_error_text(error));
	dispatch_goodbye(connection, error, out);
}

static enum spop_error on_notify(struct connection *connection, const struct frame *frame,
                                 struct spop_output *out)
{
	struct spop_server *server = connection->server;
	struct message_result result;
	uint8_t *mark;

	BUG_ON(!frame_begin(out, FRAME_AGENT_ACK, frame->stream, frame->id, &mark));
	result = messages_run(server->context, connection->source, frame->payload, out);
	if (result.error != SPOP_NONE) {
		out->at = mark;
		return result.error;
	}
	frame_end(out, mark);
	server->counters.frames[FRAME_AGENT_ACK]++;
	if (result.decided.at)
		server->batch[server->batch_count++] =
		        (struct answered){ result.decided, (uint32_t)(out->at - server->answers) };
	return SPOP_NONE;
}

static enum spop_error on_disconnect(struct connection *connection, const struct frame *frame,
                                     struct spop_output *out)
{
	struct spop_server *server = connection->server;
	struct disconnect disconnect;
	enum spop_error error = disconnect_read(frame->payload, &disconnect);
	uint32_t status;

	if (error != SPOP_NONE)
		return error;
	status = disconnect.status < PEER_CODES ? disconnect.status : PEER_CODES;
	server->counters.peer_errors[status]++;
	if (status != SPOP_NONE)
		notices_say(&server->notices, NOTICE_OF_PEER_ERROR, connection->read_at,
		            "spop: HAProxy ended a connection with status %u: %.*s",
		            disconnect.status, (int)disconnect.message.length,
		            disconnect.message.at ? disconnect.message.at : "");
	dispatch_goodbye(connection, SPOP_NONE, out);
	return SPOP_NONE;
}

/* We take no fragments, so every frame is its own end, and there is nothing to
 * abort. */
static enum spop_error check(const struct connection *connection, const struct frame *frame)
{
	bool hello = frame->type == FRAME_HAPROXY_HELLO;
	bool goodbye = frame->type == FRAME_HAPROXY_DISCONNECT;

	if (!(frame->flags & FRAME_FIN))
		return SPOP_FRAGMENTED;
	if (frame->flags & FRAME_ABORT)
		return SPOP_NO_FRAME_ID;
	if (!hello && !goodbye && frame->type != FRAME_HAPROXY_NOTIFY)
		return SPOP_INVALID;
	return hello == (connection->phase == PHASE_HELLO) || goodbye ? SPOP_NONE : SPOP_INVALID;
}

void dispatch_frame(struct connection *connection, const struct frame *frame,
                    struct spop_output *out)
{
	struct spop_server *server = connection->server;
	enum spop_error error = check(connection, frame);

	if (frame->type <= FRAME_HAPROXY_NOTIFY && frame->type != FRAME_UNSET)
		server->counters.frames[frame->type]++;
	else
		server->counters.unknown_frames++;
	if (error == SPOP_NONE && frame->type == FRAME_HAPROXY_HELLO)
		error = handshake(connection, frame, out);
	else if (error == SPOP_NONE && frame->type == FRAME_HAPROXY_NOTIFY)
		error = on_notify(connection, frame, out);
	else if (error == SPOP_NONE)
		error = on_disconnect(connection, frame, out);
	if (error != SPOP_NONE)
		dispatch_refuse(connection, error, out);
}
