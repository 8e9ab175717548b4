/* session.c - what a policy file says of sessions.
 *
 * A header's name means all that HAProxy sends under it: capitals do not matter,
 * nor does _ for -, so "session-id" is two arguments. Another name must be sent as
 * hdr.NAME. The secret stands in a file of its own, since whoever may read
 * policies, or the log of their changes, shall not know it. */
#include "spoa/config/session.h"

#include <stdlib.h>
#include <string.h>

#include "policies/defaults.h"
#include "policies/state/session_id.h"
#include "spoa/config/names.h"
#include "spoa/config/tables.h"
#include "spoa/config/text.h"

enum { SECRET_FILE_MAX = 4096 };

static void add(const struct loading *loading, const struct node *node,
                struct session_policy *session, const char *name, uint32_t argument)
{
	struct session_header *header = &session->headers[session->header_count];

	if (session->header_count == SESSION_HEADERS_MAX) {
		loading_error(loading, node, "range", "there are more than %d session headers",
		              SESSION_HEADERS_MAX);
		return;
	}
	name_copy(header->name, name);
	header->argument = argument;
	session->header_count++;
}

static char plain(char c)
{
	if (c >= 'A' && c <= 'Z')
		return (char)(c | 0x20);
	return c == '_' ? '-' : c;
}

static bool is_same(const char *a, const char *b)
{
	while (*a != '\0' && plain(*a) == plain(*b)) {
		a++;
		b++;
	}
	return *a == '\0' && *b == '\0';
}

static void load_header(const struct loading *loading, const struct node *node,
                        struct session_policy *session)
{
	const char *name = json_string_value(node->value);
	uint32_t before = session->header_count;
	const char *sent;

	for (uint32_t i = 0; name && (sent = session_header_at(i)); i++)
		if (is_same(sent, name))
			add(loading, node, session, sent, i);
	if (name && session->header_count == before)
		add(loading, node, session, name, SESSION_HEADER_OTHER);
}

/* The first line of the file. */
static void load_secret(const struct loading *loading, const struct node *node,
                        struct session_policy *session)
{
	struct error error = { .text = "" };
	size_t len;
	char *text = text_read(session->secret_file, SECRET_FILE_MAX, &len, &error);

	if (!text) {
		loading_error(loading, node, "secret", "%s", error.text);
		return;
	}
	text[strcspn(text, "\r\n")] = '\0';
	if (text[0] == '\0')
		loading_error(loading, node, "secret", "%s: its first line is empty",
		              session->secret_file);
	session->seed = session_seed(text);
	free(text);
}

void session_load(const struct loading *loading, const struct node *object,
                  struct session_policy *session)
{
	const struct node *list = node_named(object, "headers");
	const struct node *format = node_named(object, "format");
	const struct node *file = node_named(object, "secret-file");

	table_load(session_options, session, object);
	if (list && json_is_array(list->value)) {
		session->header_count = 0;
		for (const struct node *node = list->child; node; node = node->next)
			load_header(loading, node, session);
	}
	if (file && session->secret_file[0] != '\0')
		load_secret(loading, file, session);
	else if (format && session->format == SESSION_OPAQUE)
		loading_error(loading, format, "secret",
		              "opaque needs a secret-file, or anybody can work the ids out");
}
