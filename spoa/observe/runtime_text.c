/* runtime_text.c - three answers, told apart by what they look like.
 *
 * Several commands of one connection are answered one after the other, each with
 * an empty line behind it (seen on 2.6 and 3.0). So an answer is read line by
 * line: "name: value" is show info, a line that begins with '#' names the columns
 * of the table below it, and an empty line ends a table. A table without its
 * empty line was cut by the end of the connection: believing it would drop the
 * servers that are missing. */
#include "spoa/observe/runtime_text.h"

#include <stdio.h>
#include <string.h>

enum {
	COLUMNS_MAX = 255,
	NOT_WANTED = 255,
	/* srv_admin_state. 0x04 alone is only what the file said: such a server may
	 * serve. 0x20 waits for its name to be resolved. */
	ADMIN_MAINTENANCE = 0x01 | 0x02 | 0x20,
	ADMIN_DRAINING = 0x08 | 0x10,
	OPERATION_STOPPED = 0,
	OPERATION_RUNNING = 2,
	OPERATION_STOPPING = 3,
};

#define STATE_COLUMNS(COLUMN)                                                                      \
	COLUMN(BACKEND, "be_name")                                                                 \
	COLUMN(NAME, "srv_name")                                                                   \
	COLUMN(HOST, "srv_addr")                                                                   \
	COLUMN(PORT, "srv_port")                                                                   \
	COLUMN(OPERATION, "srv_op_state")                                                          \
	COLUMN(ADMINISTRATION, "srv_admin_state")                                                  \
	COLUMN(WEIGHT, "srv_uweight")                                                              \
	COLUMN(FIRST_WEIGHT, "srv_iweight") /* from here on they may be missing */                 \
	COLUMN(AGENT, "srv_agent_state")

#define STAT_COLUMNS(COLUMN)                                                                       \
	COLUMN(BACKEND, "pxname")                                                                  \
	COLUMN(NAME, "svname")                                                                     \
	COLUMN(QUEUED, "qcur")                                                                     \
	COLUMN(CURRENT, "scur")                                                                    \
	COLUMN(LIMIT, "slim")

#define AS_ENUM(id, name) STATE_##id,
enum { STATE_COLUMNS(AS_ENUM) STATE_COUNT };
#undef AS_ENUM
#define AS_ENUM(id, name) STAT_##id,
enum { STAT_COLUMNS(AS_ENUM) STAT_COUNT };
#undef AS_ENUM
#define AS_NAME(id, name) name,
static const char *const state_columns[] = { STATE_COLUMNS(AS_NAME) };
static const char *const stat_columns[] = { STAT_COLUMNS(AS_NAME) };
#undef AS_NAME

enum { CELLS_MAX = 12, AGENT_ENABLED = 0x04 };
_Static_assert(CELLS_MAX >= (int)STATE_COUNT && CELLS_MAX >= (int)STAT_COUNT, "cells");

enum part { PART_INFO, PART_STATE, PART_STAT, PART_UNKNOWN };

struct reading {
	struct runtime_facts *facts;
	struct runtime_info info;
	enum part part;
	unsigned char wanted_at[COLUMNS_MAX]; /* cell that the column goes to */
	size_t placed;                        /* wanted columns that the table has */
	char separator;
	size_t count, left_out, cursor;
	bool state_seen;
};

static bool is(struct span span, const char *text)
{
	return span.len == strlen(text) && memcmp(span.at, text, span.len) == 0;
}

static bool same(struct span a, struct span b)
{
	return a.len == b.len && memcmp(a.at, b.at, a.len) == 0;
}

static uint64_t number(struct span text)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < text.len && text.at[i] >= '0' && text.at[i] <= '9'; i++)
		sum = sum > UINT64_MAX / 16 ? sum : sum * 10 + (uint64_t)(text.at[i] - '0');
	return sum;
}

static uint32_t small_number(struct span text)
{
	uint64_t value = number(text);

	return value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}

static struct span until(struct span text, char mark)
{
	const char *end = text.len > 0 ? memchr(text.at, mark, text.len) : NULL;

	return (struct span){ text.at, end ? (size_t)(end - text.at) : text.len };
}

static struct span skip(struct span text, size_t bytes)
{
	bytes = bytes > text.len ? text.len : bytes;
	return (struct span){ text.at + bytes, text.len - bytes };
}

/* Takes the next cell off a row. A quoted cell may hold separators; its quotes
 * are cut off, and quotes inside stay doubled: none of our columns has any. */
static struct span take_cell(struct span *row, char separator)
{
	struct span cell;

	if (row->len > 0 && row->at[0] == '"' && separator == ',') {
		size_t i = 1;

		while (i < row->len &&
		       (row->at[i] != '"' || (i + 1 < row->len && row->at[i + 1] == '"')))
			i += row->at[i] == '"' ? 2 : 1;
		i = i > row->len ? row->len : i;
		cell = (struct span){ row->at + 1, i - 1 };
		*row = skip(*row, i);
		*row = skip(*row, until(*row, separator).len + 1);
		return cell;
	}
	cell = until(*row, separator);
	*row = skip(*row, cell.len + 1);
	return cell;
}

static bool all_of(const bool *placed, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!placed[i])
			return false;
	return true;
}

/* Where each wanted column is; false when one of the first `needed` is missing. Of two
 * with one name the first counts. */
static bool place_columns(struct reading *reading, struct span header, const char *const *names,
                          size_t count, size_t needed)
{
	bool placed[CELLS_MAX] = { false };

	reading->placed = 0;
	memset(reading->wanted_at, NOT_WANTED, sizeof(reading->wanted_at));
	for (size_t column = 0; column < COLUMNS_MAX && header.len > 0; column++) {
		struct span name = take_cell(&header, reading->separator);

		for (size_t i = 0; i < count; i++) {
			if (placed[i] || !is(name, names[i]))
				continue;
			reading->wanted_at[column] = (unsigned char)i;
			placed[i] = true;
			reading->placed++;
		}
	}
	return all_of(placed, needed);
}

static void read_header(struct reading *reading, struct span header)
{
	reading->separator = ',';
	reading->part = PART_STAT;
	if (place_columns(reading, header, stat_columns, STAT_COUNT, STAT_COUNT))
		return;
	reading->separator = ' ';
	reading->part = PART_STATE;
	if (place_columns(reading, header, state_columns, STATE_COUNT, STATE_FIRST_WEIGHT)) {
		reading->state_seen = true;
		return;
	}
	reading->part = PART_UNKNOWN;
}

/* Cells of columns that the table does not have are empty. */
static bool read_cells(const struct reading *reading, struct span row,
                       struct span ret_cells[CELLS_MAX])
{
	size_t found = 0;

	memset(ret_cells, 0, CELLS_MAX * sizeof(*ret_cells));
	for (size_t column = 0; column < COLUMNS_MAX && row.len > 0 && found < reading->placed;
	     column++) {
		struct span cell = take_cell(&row, reading->separator);

		if (reading->wanted_at[column] == NOT_WANTED)
			continue;
		ret_cells[reading->wanted_at[column]] = cell;
		found++;
	}
	return found == reading->placed;
}

static bool looks_like_ip(struct span host)
{
	for (size_t i = 0; i < host.len; i++)
		if (!memchr("0123456789abcdefABCDEF.:", host.at[i], 24))
			return false;
	return host.len > 1;
}

static void write_address(struct span host, struct span port, char *ret_address)
{
	bool six = host.len > 0 && memchr(host.at, ':', host.len) != NULL;
	uint32_t number_of_port = small_number(port);

	ret_address[0] = 0;
	if (!looks_like_ip(host) || number_of_port == 0 || number_of_port > UINT16_MAX ||
	    host.len + sizeof("[]:65535") > ADDRESS_MAX_BYTES)
		return;
	(void)snprintf(ret_address, ADDRESS_MAX_BYTES, six ? "[%.*s]:%u" : "%.*s:%u", (int)host.len,
	               host.at, number_of_port);
}

/* Where an agent-check sets the weight, it goes by what we learnt: that must not count
 * twice, so the configured one is taken. */
static int weight_column(const struct span *cells)
{
	return number(cells[STATE_AGENT]) & AGENT_ENABLED ? STATE_FIRST_WEIGHT : STATE_WEIGHT;
}

static void read_server(struct reading *reading, struct span row)
{
	struct runtime_facts *facts = reading->facts;
	struct span cells[CELLS_MAX];
	struct runtime_server *server;

	if (!read_cells(reading, row, cells))
		return;
	if (reading->count >= facts->room) {
		reading->left_out++;
		return;
	}
	server = &facts->servers[reading->count++];
	*server = (struct runtime_server){
		.backend = cells[STATE_BACKEND],
		.name = cells[STATE_NAME],
		.operation = (uint8_t)number(cells[STATE_OPERATION]),
		.administration = (uint8_t)number(cells[STATE_ADMINISTRATION]),
		.weight = (double)small_number(cells[weight_column(cells)]),
	};
	write_address(cells[STATE_HOST], cells[STATE_PORT], server->address);
}

/* Both tables have the servers in the same order, so the next one almost always
 * is the one; else all are looked at, once round. */
static struct runtime_server *find(struct reading *reading, struct span backend, struct span name)
{
	for (size_t i = 0; i < reading->count; i++) {
		size_t at = (reading->cursor + i) % reading->count;
		struct runtime_server *server = &reading->facts->servers[at];

		if (!same(server->name, name) || !same(server->backend, backend))
			continue;
		reading->cursor = at + 1;
		return server;
	}
	return NULL;
}

/* A backend's own row stands behind those of its servers. */
static void read_backend(struct reading *reading, struct span backend, uint32_t waiting)
{
	for (size_t i = reading->cursor; i > 0; i--) {
		struct runtime_server *server = &reading->facts->servers[i - 1];

		if (!same(server->backend, backend))
			return;
		server->waiting = waiting;
	}
}

static void read_counts(struct reading *reading, struct span row)
{
	struct span cells[CELLS_MAX];
	struct runtime_server *server;

	if (!read_cells(reading, row, cells))
		return;
	if (is(cells[STAT_NAME], "BACKEND")) {
		read_backend(reading, cells[STAT_BACKEND], small_number(cells[STAT_QUEUED]));
		return;
	}
	server = find(reading, cells[STAT_BACKEND], cells[STAT_NAME]);
	if (!server)
		return;
	server->counted = true;
	server->current = small_number(cells[STAT_CURRENT]);
	server->queued = small_number(cells[STAT_QUEUED]);
	server->limit = small_number(cells[STAT_LIMIT]);
}

static void read_info(struct reading *reading, struct span line)
{
	struct span name = until(line, ':');
	struct span value = skip(line, name.len + 1);

	while (value.len > 0 && value.at[0] == ' ')
		value = skip(value, 1);
	if (is(name, "Pid"))
		reading->info.pid = small_number(value);
	else if (is(name, "Version"))
		reading->info.version = value;
	else if (is(name, "node"))
		reading->info.node = value;
	else if (is(name, "Stopping"))
		reading->info.stopping = number(value) != 0;
	else if (is(name, "DroppedLogs"))
		reading->info.dropped_logs = number(value);
}

static void read_line(struct reading *reading, struct span line)
{
	if (line.len == 0) {
		reading->part = PART_INFO;
		return;
	}
	if (line.len > 2 && line.at[0] == '#' && line.at[1] == ' ') {
		read_header(reading, skip(line, 2));
		return;
	}
	switch (reading->part) {
	case PART_INFO:
		read_info(reading, line);
		break;
	case PART_STATE:
		read_server(reading, line);
		break;
	case PART_STAT:
		read_counts(reading, line);
		break;
	case PART_UNKNOWN:
		break;
	}
}

bool runtime_text_read(struct span answer, struct runtime_facts *facts)
{
	struct reading reading = { .facts = facts, .part = PART_INFO };

	while (answer.len > 0) {
		struct span line = until(answer, '\n');

		answer = skip(answer, line.len + 1);
		read_line(&reading, line);
	}
	if (reading.info.pid == 0 || !reading.state_seen || reading.part != PART_INFO)
		return false;
	facts->info = reading.info;
	facts->count = reading.count;
	facts->left_out = reading.left_out;
	return true;
}

bool runtime_server_up(const struct runtime_server *server)
{
	return server->operation != OPERATION_STOPPED;
}

bool runtime_server_maintenance(const struct runtime_server *server)
{
	return (server->administration & ADMIN_MAINTENANCE) != 0;
}

bool runtime_server_draining(const struct runtime_server *server)
{
	return (server->administration & ADMIN_DRAINING) != 0 ||
	       server->operation == OPERATION_STOPPING;
}
