/* snapshot.c - reads an answer again with more room when it had too little. */
#include "spoa/observe/snapshot.h"

#include <stdlib.h>
#include <string.h>

enum { ROOM_FIRST = 256, ROOM_MAX = 65536 };

void snapshot_done(struct snapshot *snapshot)
{
	free(snapshot->read.servers);
	free(snapshot->facts);
	*snapshot = (struct snapshot){ 0 };
}

/* False when there is no more to be had. */
static bool make_room(struct snapshot *snapshot, size_t wanted)
{
	struct runtime_server *servers;
	struct server_fact *facts;

	wanted = wanted > ROOM_MAX ? ROOM_MAX : wanted;
	if (wanted <= snapshot->read.room)
		return false;
	facts = realloc(snapshot->facts, wanted * sizeof(*facts));
	if (!facts)
		return false;
	snapshot->facts = facts;
	servers = realloc(snapshot->read.servers, wanted * sizeof(*servers));
	if (!servers)
		return false;
	snapshot->read.servers = servers;
	snapshot->read.room = wanted;
	return true;
}

static struct server_fact fact_of(const struct runtime_server *server)
{
	return (struct server_fact){
		.backend = server->backend,
		.server = server->name,
		.address = { server->address, strlen(server->address) },
		.weight = server->weight,
		.maintenance = runtime_server_maintenance(server),
		.draining = runtime_server_draining(server),
		.up = runtime_server_up(server),
		.max_running = server->limit,
	};
}

bool snapshot_read(struct snapshot *snapshot, struct span text)
{
	if (snapshot->read.room == 0)
		(void)make_room(snapshot, ROOM_FIRST);
	do {
		if (!runtime_text_read(text, &snapshot->read))
			return false;
	} while (snapshot->read.left_out > 0 &&
	         make_room(snapshot, snapshot->read.count + snapshot->read.left_out));
	for (size_t i = 0; i < snapshot->read.count; i++)
		snapshot->facts[i] = fact_of(&snapshot->read.servers[i]);
	return true;
}
