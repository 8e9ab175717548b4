/* sharing.c - what a policy file says of the store.
 *
 * A policy is shown, compared and logged, so it may not carry a password. */
#include "spoa/config/sharing.h"

#include "policies/defaults.h"
#include "redis/keys.h"
#include "redis/url.h"
#include "spoa/config/tables.h"

static void check_url(const struct loading *loading, const struct node *node,
                      const struct sharing_policy *sharing)
{
	struct error error = { .text = "" };
	struct redis_url url;

	if (!redis_url_read(sharing->url, &url, &error))
		loading_error(loading, node, "url", "%s", error.text);
	else if (url.password[0] != '\0')
		loading_error(loading, node, "url", "a password belongs into a password-file");
	else if (url.user[0] != '\0' && sharing->password_file[0] == '\0')
		loading_error(loading, node, "url", "a user needs a password-file");
}

void sharing_load(const struct loading *loading, const struct node *object,
                  struct sharing_policy *sharing)
{
	const struct node *url = node_named(object, "url");
	const struct node *space = node_named(object, "space");
	struct error error = { .text = "" };
	struct keys keys;

	table_load(sharing_options, sharing, object);
	if (url && sharing->url[0] != '\0')
		check_url(loading, url, sharing);
	if (space && sharing->space[0] != '\0' && !keys_make(sharing->space, &keys, &error))
		loading_error(loading, space, "range", "%s", error.text);
}
