/* credential.c - the first line of a file becomes a header. */
#include "spoa/observe/credential.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Spaces around it are the editor's. */
static char *trimmed(char *text)
{
	size_t len = strcspn(text, "\r\n");

	while (len > 0 && (text[len - 1] == ' ' || text[len - 1] == '\t'))
		len--;
	text[len] = '\0';
	return text + strspn(text, " \t");
}

static bool can_be_sent(const char *token)
{
	for (const char *at = token; *at; at++) {
		if (*at <= ' ' || *at == 0x7f)
			return false;
	}
	return *token != '\0';
}

bool credential_read(struct credential *credential, const char *path, struct error *error)
{
	char text[CREDENTIAL_MAX + 1] = "";
	const char *token;
	FILE *file;

	if (*path == '\0') {
		credential->line[0] = '\0';
		return true;
	}
	file = fopen(path, "re");
	if (!file)
		return error_set(error, "%s: %s", path, strerror(errno));
	token = fgets(text, sizeof(text), file) ? trimmed(text) : "";
	(void)fclose(file);
	if (!can_be_sent(token))
		return error_set(error, "%s: its first line is no token", path);
	(void)snprintf(credential->line, sizeof(credential->line), "authorization: Bearer %s",
	               token);
	explicit_bzero(text, sizeof(text));
	return true;
}
