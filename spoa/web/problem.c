/* problem.c - an error as a body: application/problem+json (RFC 9457). */
#include <stdio.h>
#include <string.h>

#include "spoa/web/listen.h"

enum { DETAIL_MAX = 200 };

/* What a client sent may be in it: nothing that ends a JSON string stays. */
static void tame(const char *text, char ret_text[DETAIL_MAX])
{
	size_t i;

	for (i = 0; i < DETAIL_MAX - 1 && text[i] != '\0'; i++) {
		bool plain = text[i] >= 0x20 && text[i] < 0x7f && text[i] != '"' && text[i] != '\\';

		ret_text[i] = (char)(plain ? text[i] : '?');
	}
	ret_text[i] = '\0';
}

void web_problem(struct web_answer *ret_answer, unsigned status, const char *title,
                 const char *detail)
{
	char told[DETAIL_MAX] = "";
	int len;

	if (detail)
		tame(detail, told);
	*ret_answer =
	        (struct web_answer){ .status = status, .content_type = "application/problem+json" };
	len = asprintf(
	        &ret_answer->body,
	        "{\"type\":\"about:blank\",\"title\":\"%s\",\"status\":%u,\"detail\":\"%s\"}\n",
	        title, status, told);
	if (len < 0)
		ret_answer->body = NULL;
	else
		ret_answer->len = (size_t)len;
}

const char *web_argument_named(const struct web_request *request, const char *name)
{
	for (size_t i = 0; i < request->argument_count; i++)
		if (strcmp(request->arguments[i].name, name) == 0)
			return request->arguments[i].value;
	return NULL;
}
