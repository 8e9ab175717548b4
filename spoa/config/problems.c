/* problems.c - what is wrong with the operator's files: collected, then shown. */
#include "spoa/config/problems.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { SEVERITIES = 3, FILES_MAX = 64 };

struct problems {
	struct problem *list;
	size_t count;
	size_t capacity;
	size_t added[SEVERITIES];
	char *files[FILES_MAX]; /* in order of appearance */
	size_t file_count;
	bool sorted;
};

struct problems *problems_new(void)
{
	return calloc(1, sizeof(struct problems));
}

static void forget(struct problem *problem)
{
	free(problem->path);
	free(problem->rule);
	free(problem->text);
}

void problems_free(struct problems *problems)
{
	if (!problems)
		return;
	for (size_t i = 0; i < problems->count; i++)
		forget(&problems->list[i]);
	for (size_t i = 0; i < problems->file_count; i++)
		free(problems->files[i]);
	free(problems->list);
	free(problems);
}

/* Our own copy of the name; one a file. NULL when there is no room. */
static const char *file_of(struct problems *problems, const char *file)
{
	if (!file)
		return NULL;
	for (size_t i = 0; i < problems->file_count; i++) {
		if (strcmp(problems->files[i], file) == 0)
			return problems->files[i];
	}
	if (problems->file_count == FILES_MAX)
		return NULL;
	problems->files[problems->file_count] = strdup(file);
	if (!problems->files[problems->file_count])
		return NULL;
	return problems->files[problems->file_count++];
}

static bool grow(struct problems *problems)
{
	size_t capacity = problems->capacity ? 2 * problems->capacity : 16;
	struct problem *list;

	if (problems->count < problems->capacity)
		return true;
	list = realloc(problems->list, capacity * sizeof(*list));
	if (!list)
		return false;
	problems->list = list;
	problems->capacity = capacity;
	return true;
}

void problems_add(struct problems *problems, struct place place, enum severity severity,
                  const char *path, const char *rule, const char *format, ...)
{
	struct problem problem = { .place = place, .severity = severity };
	va_list arguments;

	problems->added[severity]++;
	if (problems->count == PROBLEMS_MAX || !grow(problems))
		return;
	va_start(arguments, format);
	if (vasprintf(&problem.text, format, arguments) < 0)
		problem.text = NULL;
	va_end(arguments);
	problem.path = strdup(path ? path : "");
	problem.rule = strdup(rule);
	if (!problem.text || !problem.path || !problem.rule) {
		forget(&problem);
		return;
	}
	problem.place.file = file_of(problems, place.file);
	problem.order = problems->count;
	problems->list[problems->count++] = problem;
	problems->sorted = false;
}

void problems_ignore(struct problems *problems, const char *rule)
{
	size_t kept = 0;

	for (size_t i = 0; i < problems->count; i++) {
		if (strcmp(problems->list[i].rule, rule) == 0) {
			problems->added[problems->list[i].severity]--;
			forget(&problems->list[i]);
		} else {
			problems->list[kept++] = problems->list[i];
		}
	}
	problems->count = kept;
}

size_t problems_count(const struct problems *problems, enum severity severity)
{
	return problems->added[severity];
}

static size_t file_order(const struct problems *problems, const struct problem *problem)
{
	size_t i = 0;

	while (i < problems->file_count && problems->files[i] != problem->place.file)
		i++;
	return i;
}

static int compare_numbers(size_t a, size_t b)
{
	return (a > b) - (a < b);
}

static int compare(const void *left, const void *right, void *context)
{
	const struct problem *a = left;
	const struct problem *b = right;
	int order = compare_numbers(file_order(context, a), file_order(context, b));

	if (order == 0)
		order = compare_numbers(a->place.line, b->place.line);
	if (order == 0)
		order = compare_numbers(a->place.column, b->place.column);
	return order ? order : compare_numbers(a->order, b->order);
}

const struct problem *problems_at(struct problems *problems, size_t i)
{
	if (!problems->sorted && problems->count > 0)
		qsort_r(problems->list, problems->count, sizeof(problems->list[0]), compare,
		        problems);
	problems->sorted = true;
	return i < problems->count ? &problems->list[i] : NULL;
}

const char *severity_name(enum severity severity)
{
	switch (severity) {
	case SEVERITY_ERROR:
		return "error";
	case SEVERITY_WARNING:
		return "warning";
	case SEVERITY_NOTE:
		return "note";
	}
	return "?";
}

static void print_one(const struct problem *problem, FILE *out)
{
	if (problem->place.file)
		(void)fprintf(out, "%s:", problem->place.file);
	if (problem->place.line > 0)
		(void)fprintf(out, "%u:", problem->place.line);
	if (problem->place.column > 0)
		(void)fprintf(out, "%u:", problem->place.column);
	(void)fprintf(out, "%s%s: ", problem->place.file ? " " : "",
	              severity_name(problem->severity));
	if (problem->path[0])
		(void)fprintf(out, "%s: ", problem->path);
	(void)fprintf(out, "%s [%s]\n", problem->text, problem->rule);
}

void problems_print(struct problems *problems, FILE *out)
{
	const struct problem *problem;
	const char *comma = "";
	size_t all = 0;

	for (size_t i = 0; (problem = problems_at(problems, i)); i++)
		print_one(problem, out);
	for (size_t s = 0; s < SEVERITIES; s++)
		all += problems->added[s];
	if (all > problems->count)
		(void)fprintf(out, "and %zu more\n", all - problems->count);
	for (size_t s = 0; s < SEVERITIES; s++) {
		if (problems->added[s] == 0)
			continue;
		(void)fprintf(out, "%s%zu %s%s", comma, problems->added[s],
		              severity_name((enum severity)s), problems->added[s] > 1 ? "s" : "");
		comma = ", ";
	}
	if (all > 0)
		(void)fprintf(out, "\n");
}

void problems_print_json(struct problems *problems, FILE *out)
{
	json_t *list = json_array();
	const struct problem *problem;
	json_t *object;

	for (size_t i = 0; (problem = problems_at(problems, i)); i++) {
		(void)json_array_append_new(
		        list, json_pack("{ss* sI sI ss ss ss ss}", "file", problem->place.file,
		                        "line", (json_int_t)problem->place.line, "column",
		                        (json_int_t)problem->place.column, "severity",
		                        severity_name(problem->severity), "path", problem->path,
		                        "text", problem->text, "rule", problem->rule));
	}
	object = json_pack("{so sI sI sI}", "problems", list, "errors",
	                   (json_int_t)problems->added[SEVERITY_ERROR], "warnings",
	                   (json_int_t)problems->added[SEVERITY_WARNING], "notes",
	                   (json_int_t)problems->added[SEVERITY_NOTE]);
	if (object && json_dumpf(object, out, JSON_INDENT(2)) == 0)
		(void)fputc('\n', out);
	json_decref(object);
}
