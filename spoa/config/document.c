/* document.c - a JSON text with the place of every key and value.
 *
 * The pass has no stack of its own: a node knows its parent. What it relies on
 * is that the text is correct; jansson has said so before. */
#include "spoa/config/document.h"

#include <stdlib.h>
#include <string.h>

struct document {
	struct arena *arena;
	json_t *json;
	struct node *root;
};

struct scan {
	struct document *document;
	struct problems *problems;
	const char *file;
	const char *text;
	size_t len;
	size_t at;
	size_t line_start;
	uint32_t line;
	struct node *open; /* the object or array we are in */
	const char *key;   /* read, its value not yet */
	uint32_t key_line, key_column;
	size_t depth;
	size_t nodes;
	bool duplicates; /* jansson saw one */
	bool failed;
};

static struct place here(const struct scan *scan)
{
	return (struct place){ .file = scan->file,
		               .line = scan->line,
		               .column = (uint32_t)(scan->at - scan->line_start + 1) };
}

static void fail(struct scan *scan, const char *why)
{
	if (!scan->failed)
		problems_add(scan->problems, here(scan), SEVERITY_ERROR, NULL, "syntax", "%s", why);
	scan->failed = true;
}

/* From the opening quote to behind the closing one. */
static size_t string_end(const struct scan *scan)
{
	size_t at = scan->at + 1;

	while (at < scan->len && scan->text[at] != '"')
		at += scan->text[at] == '\\' ? 2 : 1;
	return at < scan->len ? at + 1 : scan->len;
}

static size_t word_end(const struct scan *scan)
{
	size_t at = scan->at;

	while (at < scan->len && !strchr(",:]} \t\r\n", scan->text[at]))
		at++;
	return at > scan->at ? at : at + 1;
}

/* A key as it is meant; jansson knows the escapes. */
static char *decoded(struct scan *scan, size_t end)
{
	const char *quoted = scan->text + scan->at;
	size_t len = end - scan->at;
	struct arena *arena = scan->document->arena;
	json_t *string;
	char *key = NULL;

	if (!memchr(quoted, '\\', len))
		return arena_text(arena, quoted + 1, len - 2);
	string = json_loadb(quoted, len, JSON_DECODE_ANY, NULL);
	if (string)
		key = arena_text(arena, json_string_value(string), json_string_length(string));
	json_decref(string);
	return key;
}

static const json_t *value_in(const struct node *parent, const char *key, size_t index)
{
	return key ? json_object_get(parent->value, key) : json_array_get(parent->value, index);
}

static struct node *add_node(struct scan *scan)
{
	struct node *node = arena_take(scan->document->arena, 1, sizeof(*node));
	struct node *open = scan->open;

	if (!node || ++scan->nodes > DOCUMENT_NODES_MAX) {
		fail(scan, node ? "too many values" : "no memory");
		return NULL;
	}
	node->name = scan->key;
	node->parent = open;
	node->line = here(scan).line;
	node->column = here(scan).column;
	node->key_line = scan->key ? scan->key_line : node->line;
	node->key_column = scan->key ? scan->key_column : node->column;
	if (!open) {
		node->value = scan->document->json;
		scan->document->root = node;
		return node;
	}
	node->index = !scan->key && open->last ? open->last->index + 1 : 0;
	node->value = value_in(open, scan->key, node->index);
	scan->key = NULL;
	if (node->name && strncmp(node->name, "//", 2) == 0)
		return node;
	if (open->last)
		open->last->next = node;
	else
		open->child = node;
	open->last = node;
	return node;
}

static void tell_duplicate(struct scan *scan, const struct node *first, const struct node *node)
{
	struct place place = { scan->file, node->key_line, node->key_column };
	char path[NODE_PATH_MAX];

	node_path(node, path);
	problems_add(scan->problems, place, SEVERITY_ERROR, path, "duplicate",
	             "is here again, first at line %u, column %u", first->key_line,
	             first->key_column);
}

/* The earlier of two namesakes loses its name, then its place. */
static void drop_duplicates(struct scan *scan, struct node *object)
{
	struct node **newest = calloc(node_count(object) + 1, sizeof(struct node *));
	json_t *places = json_object();
	struct node **link = &object->child;
	size_t count = 0;

	for (struct node *node = object->child; newest && node; node = node->next) {
		json_t *place = json_object_get(places, node->name);
		size_t i = place ? (size_t)json_integer_value(place) : count++;

		if (place) {
			tell_duplicate(scan, newest[i], node);
			newest[i]->name = NULL;
		} else {
			(void)json_object_set_new(places, node->name, json_integer((json_int_t)i));
		}
		newest[i] = node;
	}
	while (*link) {
		if ((*link)->name)
			link = &(*link)->next;
		else
			*link = (*link)->next;
	}
	free(newest);
	json_decref(places);
}

static void open_node(struct scan *scan)
{
	struct node *node = add_node(scan);

	if (!node)
		return;
	if (++scan->depth > DOCUMENT_DEPTH_MAX)
		fail(scan, "nested too deep");
	node->is_object = scan->text[scan->at] == '{';
	scan->open = node;
	scan->at++;
}

static void close_node(struct scan *scan)
{
	struct node *node = scan->open;

	if (!node) {
		fail(scan, "closes what is not open");
		return;
	}
	if (scan->duplicates && node->is_object)
		drop_duplicates(scan, node);
	scan->depth--;
	scan->open = node->parent;
	scan->at++;
}

static void read_string(struct scan *scan)
{
	size_t end = string_end(scan);

	if (scan->open && scan->open->is_object && !scan->key) {
		scan->key_line = scan->line;
		scan->key_column = here(scan).column;
		scan->key = decoded(scan, end);
		if (!scan->key)
			fail(scan, "no memory");
	} else {
		(void)add_node(scan);
	}
	scan->at = end;
}

static void scan_one(struct scan *scan)
{
	switch (scan->text[scan->at]) {
	case '\n':
		scan->line++;
		scan->line_start = scan->at + 1;
		scan->at++;
		break;
	case ' ':
	case '\t':
	case '\r':
	case ',':
	case ':':
		scan->at++;
		break;
	case '{':
	case '[':
		open_node(scan);
		break;
	case '}':
	case ']':
		close_node(scan);
		break;
	case '"':
		read_string(scan);
		break;
	default:
		(void)add_node(scan);
		scan->at = word_end(scan);
	}
}

/* jansson counts characters in its columns; we count bytes, as editors and
 * compilers do, and point at the token it could not use, not behind it. */
static void tell_syntax(struct problems *problems, const char *file, const char *text,
                        const json_error_t *error)
{
	size_t end = error->position > 0 ? (size_t)error->position : 0;
	const char *near = strstr(error->text, " near '");
	size_t token = near ? strlen(near + strlen(" near '")) - 1 : 0;
	size_t start = end;
	struct place place = { .file = file, .line = (uint32_t)error->line };

	if (token > 0 && token <= end && strncmp(text + end - token, near + 7, token) == 0)
		end -= token;
	while (start > 0 && text[start - 1] != '\n')
		start--;
	if (end >= start)
		place.column = (uint32_t)(end - start + 1);
	problems_add(problems, place, SEVERITY_ERROR, NULL, "syntax", "%s", error->text);
}

static json_t *load(const char *file, const char *text, size_t len, bool *ret_duplicates,
                    struct problems *problems)
{
	json_error_t error;
	json_t *json = json_loadb(text, len, JSON_REJECT_DUPLICATES, &error);

	*ret_duplicates = !json && json_error_code(&error) == json_error_duplicate_key;
	if (*ret_duplicates)
		json = json_loadb(text, len, 0, &error);
	if (!json)
		tell_syntax(problems, file, text, &error);
	return json;
}

/* jansson passes over a NUL behind a number. */
static bool has_nul(const char *file, const char *text, size_t len, struct problems *problems)
{
	const char *nul = memchr(text, '\0', len);
	struct place place = { .file = file, .line = 1, .column = 1 };

	for (const char *at = text; nul && at < nul; at++) {
		place.column++;
		if (*at == '\n') {
			place.line++;
			place.column = 1;
		}
	}
	if (nul)
		problems_add(problems, place, SEVERITY_ERROR, NULL, "syntax",
		             "a NUL byte in the text");
	return nul;
}

struct document *document_parse(const char *file, const char *text, size_t len,
                                struct problems *problems)
{
	struct document *document = calloc(1, sizeof(*document));
	struct scan scan = { .document = document,
		             .problems = problems,
		             .file = file,
		             .text = text,
		             .len = len,
		             .line = 1 };

	if (!document || has_nul(file, text, len, problems)) {
		free(document);
		return NULL;
	}
	document->arena = arena_new();
	document->json = load(file, text, len, &scan.duplicates, problems);
	if (!document->arena || !document->json) {
		document_free(document);
		return NULL;
	}
	while (scan.at < len && !scan.failed)
		scan_one(&scan);
	if (scan.failed) {
		document_free(document);
		return NULL;
	}
	return document;
}

void document_free(struct document *document)
{
	if (!document)
		return;
	json_decref(document->json);
	arena_free(document->arena);
	free(document);
}

const struct node *document_root(const struct document *document)
{
	return document->root;
}
