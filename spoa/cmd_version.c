/* cmd_version.c - prints the version and what the program was built with. */
#include <curl/curl.h>
#include <ev.h>
#include <jansson.h>
#include <microhttpd.h>
#include <stdio.h>
#include <string.h>

#include "spoa/command.h"
#include "spoa/messages/contract.h"

int cmd_version(int argc, char **argv)
{
	(void)printf("inference-spoa " INFERENCE_SPOA_VERSION "\n");
	if (argc > 1 && strcmp(argv[1], "--verbose") == 0) {
		(void)printf("contract %d with HAProxy 2.6 and newer\n", CONTRACT_VERSION);
		(void)printf("libev %d.%d, libmicrohttpd %s, jansson %s, %s\n", ev_version_major(),
		             ev_version_minor(), MHD_get_version(), JANSSON_VERSION,
		             curl_version());
	}
	return EXIT_OK;
}
