/* command.h - what the program can be asked to do, one file cmd_<name>.c each.
 *
 * COMMAND(name, arguments, help). The list drives dispatch, --help and the
 * manual page. A command parses its own options from argv[1] on (argv[0] is its
 * name) and returns an exit code. */
#pragma once

#define COMMANDS(COMMAND)                                                                          \
	COMMAND(run, "[options]", "Runs the agent in the foreground.")                             \
	COMMAND(check, "[-c FILE] [--haproxy-config FILE]... [--live --haproxy SOCKET]",           \
	        "Checks a policy, a haproxy.cfg and its SPOE file, and says what is wrong.")       \
	COMMAND(show, "WHAT [--server ADDRESS] [--json]", "Shows what a running agent knows.")     \
	COMMAND(explain, "--id ID | [--model M] [--body FILE] [options]",                          \
	        "Shows why a request went where it did, or where one would go now.")               \
	COMMAND(drain, "TARGET [--wait TIME]",                                                     \
	        "Sends no new requests to a replica or instance, and waits until none runs.")      \
	COMMAND(enable, "TARGET", "Sends requests there again.")                                   \
	COMMAND(eject, "TARGET", "Takes a replica out of service until probes bring it back.")     \
	COMMAND(flush, "prefix|sessions|averages TARGET",                                          \
	        "Forgets what is believed of a replica or instance.")                              \
	COMMAND(reload, "", "Reads the policy and the profiles of engines again.")                 \
	COMMAND(replay, "[FILE] [--strategy A,B,C] [options]",                                     \
	        "Plays recorded requests through simulated engines and compares strategies.")      \
	COMMAND(haproxy, "config|routing|spoe|log-format|ingress|ingress-service|wire [options]",  \
	        "Prints what HAProxy reads.")                                                      \
	COMMAND(options, "[--markdown]", "Prints every knob of the policy.")                       \
	COMMAND(strategies, "[--names|--markdown]",                                                \
	        "Prints the strategies, signals and pickers there are.")                           \
	COMMAND(schema, "", "Prints the JSON schema of the policy.")                               \
	COMMAND(engines, "[NAME]",                                                                 \
	        "Prints the kinds of engines that are known, or one's profile.")                   \
	COMMAND(metrics, "", "Prints the names of all metrics, as docs/metrics.md has them.")      \
	COMMAND(version, "", "Prints the version.")

enum exit_code {
	EXIT_OK = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,       /* usage, bad policy, check found errors */
	EXIT_UNREACHABLE = 3, /* the agent does not answer */
	EXIT_TIMED_OUT = 4,
};

#define AS_FUNCTION(name, arguments, help) int cmd_##name(int argc, char **argv);
COMMANDS(AS_FUNCTION)
#undef AS_FUNCTION
