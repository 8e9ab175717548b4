/* admin.c - the pages, and the addresses they are asked for at. */
#include "spoa/admin/admin.h"

#include <stdlib.h>

#include "spoa/admin/admin_parts.h"
#include "spoa/web/listen.h"

enum {
	CONNECTIONS_MAX = 32,
	TIMEOUT_S = 30,
	BODY_MAX = 1 << 20,
};

void admin_gather(struct admin *admin, struct sources *ret_sources)
{
	const struct admin_context *context = admin->context;

	*ret_sources = (struct sources){
		.facts = context->facts,
		.process = process_facts_read(),
		.decisions = context->decisions,
		.decider = context->decider,
		.store = context->store,
		.routes = &admin->routes,
		.stages = context->stages,
		.now = context->now(),
		.wall_ms = context->wall_ms(),
	};
	context->fill(context->data, &ret_sources->agent);
}

struct admin *admin_new(struct ev_loop *loop, const struct admin_options *options,
                        struct admin_context *context, struct error *error)
{
	struct admin *admin = calloc(1, sizeof(*admin));
	char reason[WEB_REASON_MAX] = "";
	const struct listen_options listen = {
		.addresses = options->addresses,
		.address_count = options->address_count,
		.connections = CONNECTIONS_MAX,
		.timeout = TIMEOUT_S,
		.body_max = BODY_MAX,
		.mode = 0660,
		.handle = routes_answer,
		.data = admin,
	};

	if (!admin) {
		(void)error_set(error, "admin: out of memory");
		return NULL;
	}
	admin->context = context;
	admin->listener = listen_new(loop, &listen, reason);
	if (!admin->listener) {
		(void)error_set(error, "admin: %s", reason);
		free(admin);
		return NULL;
	}
	return admin;
}

void admin_free(struct admin *admin)
{
	if (!admin)
		return;
	listen_free(admin->listener);
	free(admin);
}

uint16_t admin_port(const struct admin *admin, size_t i)
{
	return listen_port(admin->listener, i);
}
