/* cmd_run.c - the daemon, in the foreground. */
#include <curl/curl.h>
#include <signal.h>
#include <stdio.h>

#include "spoa/agent.h"
#include "spoa/command.h"

int cmd_run(int argc, char **argv)
{
	struct run_options options;
	int left = run_options_read(argc, argv, &options);
	struct agent *agent;

	if (left >= 0)
		return left;
	/* A peer that hangs up is an error of its write, not of the process. */
	(void)signal(SIGPIPE, SIG_IGN);
	(void)curl_global_init(CURL_GLOBAL_DEFAULT);
	agent = agent_new(&options, &left);
	if (agent)
		left = agent_run(agent);
	agent_free(agent);
	run_options_free(&options);
	curl_global_cleanup();
	return left;
}
