/* generate_loggers.c - the first lines of a frontend: who is told of each end, and
 * the filter.
 *
 * UDP survives a reload of HAProxy, the ring a restart of the agent; both are
 * told. Under an ingress of 3.1 and newer the end line is a log profile, so that
 * the ingress keeps its own access log; before that the frontend has one format. */
#include "spoa/config/generate_parts.h"

#include "spoa/messages/contract.h"

bool generate_has_profile(const struct generate *generate)
{
	return generate->ingress.on && generate->version >= 301;
}

static void ingress_loggers(const struct generate *generate, FILE *out)
{
	const struct generate_ingress *ingress = &generate->ingress;
	const char *profile = generate_has_profile(generate) ? " profile infer" : "";

	(void)fputs("    unique-id-format %[uuid()]\n", out);
	if (ingress->agent_count == 0)
		(void)fprintf(out, "    log 127.0.0.1:9514 len 2048 format raw%s local0\n",
		              profile);
	for (size_t i = 0; i < ingress->agent_count; i++)
		(void)fprintf(out, "    log %.*s:9514 len 2048 format raw%s local0\n",
		              (int)ingress->agents[i].len, ingress->agents[i].at, profile);
	(void)fprintf(out, "    log ring@infer-log len 2048 format raw%s local0\n", profile);
}

void generate_loggers(const struct generate *generate, FILE *out)
{
	(void)fputs("    option http-no-delay                          # else streams come in "
	            "bursts of 200 ms\n",
	            out);
	if (generate->ingress.on)
		ingress_loggers(generate, out);
	else
		(void)fputs("    log \"${INFER_LOG}\" len 2048 format raw local0  # survives a "
		            "reload\n"
		            "    log ring@infer-log format raw local0          # survives the "
		            "agent's restart\n",
		            out);
	if (generate_has_profile(generate))
		return;
	(void)fputs("    log-format ", out);
	generate_log_format(out);
	(void)fputc('\n', out);
}

static void files_by_version(const struct generate *generate, FILE *out)
{
	static const char line[] =
	        "    filter spoe engine " CONTRACT_ENGINE " config \"${INFER_ETC}/%s\"\n";

	if (generate->version == 0)
		(void)fputs("    .if version_atleast(3.0)\n", out);
	if (generate->version == 0 || generate_head_form(generate->version))
		(void)fprintf(out, line, "spoe-3.cfg");
	if (generate->version == 0)
		(void)fputs("    .else\n", out);
	if (!generate_head_form(generate->version))
		(void)fprintf(out, line, "spoe.cfg");
	if (generate->version == 0)
		(void)fputs("    .endif\n", out);
}

void generate_filter(const struct generate *generate, FILE *out)
{
	struct span first = generate_first_instance(generate);

	if (generate->ingress.on) {
		(void)fputs("    filter spoe engine " CONTRACT_ENGINE
		            " config " GENERATE_INGRESS_SPOE "\n",
		            out);
		return;
	}
	files_by_version(generate, out);
	if (generate->topology == GENERATE_LOWER)
		(void)fprintf(out,
		              "    monitor-uri /infer-health                     # asked by the "
		              "upper HAProxy; not logged\n"
		              "    monitor fail if { nbsrv(%.*s) lt 1 }\n",
		              (int)first.len, first.at);
}
