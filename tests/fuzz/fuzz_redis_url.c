/* fuzz_redis_url.c - any text is a store's place or is not; what is read can be shown, and
 * never with its password. */
#include <stdlib.h>
#include <string.h>

#include "redis/url.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), shown[REDIS_URL_SHOWN_MAX];
	struct redis_url url;
	struct error error = { "" };

	if (!text)
		return 0;
	if (size > 0)
		memcpy(text, data, size);
	text[size] = '\0';
	if (redis_url_read(text, &url, &error)) {
		if (url.host_count > REDIS_HOSTS_MAX || url.db > REDIS_DB_MAX)
			abort();
		if ((url.host_count == 0) != (url.place == REDIS_AT_PATH))
			abort();
		for (unsigned i = 0; i < url.host_count; i++) {
			if (url.hosts[i].port == 0 || url.hosts[i].name[0] == '\0')
				abort();
		}
		redis_url_show(&url, shown);
		if (strlen(shown) >= sizeof(shown))
			abort();
	} else if (error.text[0] == '\0') {
		abort();
	}
	free(text);
	return 0;
}
