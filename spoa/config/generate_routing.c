/* generate_routing.c - the lines of a frontend, in the order HAProxy runs them.
 *
 * Everything the agent is told must have been computed before the group is sent,
 * everything it answers may be used only behind it; both is why no event sends
 * our messages. */
#include "spoa/config/generate_parts.h"

#include <string.h>

#include "spoa/config/steering.h"
#include "spoa/messages/contract.h"

#define PATHS   "/v1/ /generate /rerank /score"
#define MATCHED "var(txn.path_match),field(1,.)"

/* Behind a rule that must not touch what is not ours: under an ingress others live, too. */
static const char *of_ours(const struct generate *generate)
{
	return generate->ingress.on ? " if infer_ours" : "";
}

/* Under an ingress a backend is another's unless it is named, and what the controller's
 * rules matched says where a request would go without us. */
static void ours(const struct generate *generate, FILE *out)
{
	const struct generate_ingress *ingress = &generate->ingress;

	if (!ingress->on) {
		(void)fputs("    acl infer_path      path_beg " PATHS "\n", out);
		return;
	}
	(void)fputs(ingress->backend_count > 0
	                    ? "    acl infer_ours      " MATCHED " -m str"
	                    : "    acl infer_ours      var(txn.path_match) -m found",
	            out);
	for (size_t i = 0; i < ingress->backend_count; i++)
		(void)fprintf(out, " %s", ingress->backends[i]);
	(void)fputs("\n"
	            "    acl infer_path      var(txn.infer_in) -m found\n"
	            "    http-request set-var(txn.infer_in) int(1) if infer_ours { path_beg " PATHS
	            " }\n",
	            out);
}

static void conditions(const struct generate *generate, FILE *out)
{
	(void)fputs("\n"
	            "    # what is routed; all else passes untouched\n"
	            "    acl infer_post      method POST\n",
	            out);
	ours(generate, out);
	(void)fprintf(out,
	              "    acl infer_json      req.hdr(content-type) -m beg -i application/json\n"
	              "    acl infer_enc       req.hdr(content-encoding) -m found\n"
	              "    acl infer_anthropic path_beg /v1/messages\n"
	              "    acl infer_trusted   src 127.0.0.0/8           # who may steer; a lower "
	              "HAProxy names the upper one\n"
	              "    acl infer_up        nbsrv(" CONTRACT_BACKEND ") gt 0\n"
	              "    acl infer_asked     var(txn.infer_t0) -m found\n"
	              "\n"
	              "    # headers that steer: from trusted clients only\n"
	              "    http-request set-var(txn.infer_s0) req.fhdr(x-infer-session)\n"
	              "    http-request set-var(txn.infer_dbg) int(1) if infer_trusted { "
	              "req.fhdr(x-infer-debug) -m str 1 }\n"
	              "    http-request set-var(txn.infer_rs) req.fhdr(routing-strategy)\n"
	              "    http-request del-header x-infer- -m beg if !infer_trusted%s\n",
	              generate->ingress.on ? " infer_ours" : "");
}

/* Of whose session no header spoke. */
static void session_keys(const struct generate *generate, FILE *out)
{
	for (size_t i = 0; i < generate->session_key_count; i++)
		(void)fprintf(out,
		              "    http-request set-var(txn.infer_s0) req.body,json_query('$.%s') "
		              "if infer_post infer_path infer_json !infer_enc !{ "
		              "var(txn.infer_s0) -m found }\n",
		              generate->session_keys[i]);
}

static void computed(const struct generate *generate, FILE *out)
{
	struct span first = generate_first_instance(generate);
	(void)fputs(
	        "\n"
	        "    # body, model, tenant, prompt\n"
	        "    http-request wait-for-body time 30s if infer_post infer_path      # 408 "
	        "when it ends\n"
	        "    # the model mostly stands in front; only else is the whole body read\n"
	        "    http-request set-var(txn.infer_model) "
	        "req.body,bytes(0,2048),json_query('$.model') if infer_post infer_path infer_json "
	        "!infer_enc\n"
	        "    http-request set-var(txn.infer_model) req.body,json_query('$.model') if "
	        "infer_post infer_path infer_json !infer_enc !{ var(txn.infer_model) -m found }\n"
	        "    http-request set-var(txn.infer_model) req.fhdr(model) if infer_post "
	        "infer_path !{ var(txn.infer_model) -m found }\n",
	        out);
	if (!generate->ingress.on)
		(void)fputs("    http-request set-var(txn.infer_map) "
		            "\"var(txn.infer_model),map_str(${INFER_ETC}/models.map)\" if { "
		            "var(txn.infer_model) -m found }\n",
		            out);
	(void)fputs("    http-request set-var(txn.infer_tenant) "
	            "\"req.fhdr(authorization),xxh64(${INFER_SEED})\" if infer_post infer_path\n"
	            "    http-request set-var(txn.infer_tenant) "
	            "\"req.fhdr(x-api-key),xxh64(${INFER_SEED})\" if infer_post infer_path !{ "
	            "req.fhdr(authorization) -m found }\n",
	            out);
	session_keys(generate, out);
	generate_prompt(generate, out);
	if (generate->topology == GENERATE_LOWER && generate->ingress.on)
		(void)fputs("    http-request set-var(txn.infer_be) " MATCHED "\n", out);
	else if (generate->topology == GENERATE_LOWER)
		(void)fprintf(out,
		              "    http-request set-var(txn.infer_be) str(%.*s)     # the instance "
		              "is chosen: the agent answers the replica only\n",
		              (int)first.len, first.at);
}

/* Ours are set later. */
static void forgotten(const struct generate *generate, FILE *out)
{
#define AS_NAME(name, help) name,
	static const char *const names[] = { STEERING_HEADERS(AS_NAME) };
#undef AS_NAME

	(void)fputs("    # what steers an engine or its side-car comes from us, or from nobody\n",
	            out);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		(void)fprintf(out, "    http-request del-header %s%s%s\n", names[i],
		              names[i][strlen(names[i]) - 1] == '-' ? " -m beg" : "",
		              of_ours(generate));
}

static void asked(const struct generate *generate, FILE *out)
{
	(void)fprintf(out,
	              "\n"
	              "    # ask%s\n"
	              "    http-request set-var(txn.infer_t0) date(0,ms) if infer_post infer_path\n"
	              "    http-request send-spoe-group %s %s if infer_asked infer_up\n",
	              generate_head_form(generate->version)
	                      ? ""
	                      : "; the copy of the prompt goes at once",
	              CONTRACT_ENGINE, CONTRACT_ROUTE);
	if (!generate_head_form(generate->version))
		(void)fputs("    http-request unset-var(txn.infer_p)\n", out);
	forgotten(generate, out);
	(void)fputs("\n"
	            "    # refuse, only if the agent said so\n",
	            out);
	generate_refusals(out);
}

/* What the controller's own use_backend rules behind us look at. */
static void matched_anew(const struct generate *generate, FILE *out)
{
	const struct generate_ingress *ingress = &generate->ingress;

	(void)fputs("    http-request set-var(txn.path_match) str(infer-models) if METH_GET { path "
	            "/v1/models } infer_ours { nbsrv(infer-models) gt 0 }\n"
	            "    http-request set-var(txn.path_match) var(txn.infer.instance) if { "
	            "var(txn.infer.instance) -m found }",
	            out);
	if (ingress->backend_count > 0)
		(void)fputs(" { var(txn.infer.instance) -m str", out);
	for (size_t i = 0; i < ingress->backend_count; i++)
		(void)fprintf(out, " %s", ingress->backends[i]);
	(void)fputs(ingress->backend_count > 0 ? " }\n" : "\n", out);
}

static void backend_used(const struct generate *generate, FILE *out)
{
	struct span first = generate_first_instance(generate);

	(void)fputs("    use_backend infer-models if METH_GET { path /v1/models } { "
	            "nbsrv(infer-models) gt 0 }\n",
	            out);
	if (generate->topology == GENERATE_LOWER)
		(void)fputs(
		        "    use_backend infer-models if METH_GET { path /metrics }    # the upper "
		        "agent reads this cluster's load here\n",
		        out);
	(void)fputs("    use_backend %[var(txn.infer.instance)] if { var(txn.infer.instance) -m "
	            "found }\n"
	            "    use_backend %[var(txn.infer_map)] if { var(txn.infer_map) -m found }\n",
	            out);
	(void)fprintf(out, "    default_backend %.*s\n", (int)first.len, first.at);
}

static void routed(const struct generate *generate, FILE *out)
{
	(void)fprintf(out,
	              "\n"
	              "    # route\n"
	              "    http-request set-header x-infer-model %%[var(txn.infer.model)] if { "
	              "var(txn.infer.model) -m found }\n"
	              "    http-request set-header x-prefiller-host-port "
	              "%%[var(txn.infer.prefill)] if { var(txn.infer.prefill) -m found }\n"
	              "    http-request set-header x-data-parallel-rank %%[var(txn.infer.rank)] if "
	              "{ var(txn.infer.rank) -m found }\n"
	              "    http-request set-header x-request-id %%[unique-id] if !{ "
	              "req.fhdr(x-request-id) -m found }%s\n"
	              "    http-request set-priority-class var(txn.infer.priority) if { "
	              "var(txn.infer.priority) -m found }\n"
	              "    http-request set-priority-offset var(txn.infer.priority_offset) if { "
	              "var(txn.infer.priority_offset) -m found }\n",
	              generate->ingress.on ? " infer_asked" : "");
	if (generate->ingress.on)
		matched_anew(generate, out);
	else
		backend_used(generate, out);
}

static void answered(const struct generate *generate, FILE *out)
{
	(void)fprintf(
	        out,
	        "\n"
	        "    # first body byte of a stream: true TTFT, and a first-token deadline (504)\n"
	        "    acl infer_sse res.hdr(content-type) -m beg -i text/event-stream\n"
	        "    http-response set-var(txn.infer_ra) res.fhdr(retry-after),add(0) if { status "
	        "429 503 }\n"
	        "    http-response wait-for-body time 540s at-least 1 if infer_asked { status 200 "
	        "} infer_sse\n"
	        "    http-response set-var(txn.infer_t1) date(0,ms) if infer_asked { status 200 } "
	        "infer_sse { res.body_len gt 0 }\n"
	        "    # a session's id names who serves: of another than was chosen only the "
	        "agent knows it, and answers it with the first byte\n"
	        "    http-response unset-var(txn.infer.session) if { var(txn.infer.session) -m "
	        "found } !{ srv_name,strcmp(txn.infer.replica) eq 0 }\n"
	        "    http-response send-spoe-group %s %s if { var(txn.infer_t1) -m found } !{ "
	        "var(txn.infer.err) -m found } infer_up\n"
	        "    http-response set-header x-session-id %%[var(txn.infer.session)] if { "
	        "var(txn.infer.session) -m found }\n"
	        "    http-after-response set-header x-request-id %%[unique-id]%s\n",
	        CONTRACT_ENGINE, CONTRACT_FIRST, generate->ingress.on ? " if infer_asked" : "");
	generate_quotas(out);
	(void)fputs("    http-after-response set-header x-infer-instance "
	            "%[var(txn.infer.instance)] if { var(txn.infer_dbg) -m found }\n"
	            "    http-after-response set-header x-infer-replica %[var(txn.infer.replica)] "
	            "if { var(txn.infer_dbg) -m found }\n"
	            "    http-after-response set-header x-infer-reason %[var(txn.infer.reason)] if "
	            "{ var(txn.infer_dbg) -m found }\n"
	            "    http-after-response set-header x-infer-strategy "
	            "%[var(txn.infer.strategy)] if { var(txn.infer_dbg) -m found } { "
	            "var(txn.infer.strategy) -m found }\n"
	            "    http-after-response set-header routing-strategy %[var(txn.infer_rs)] if { "
	            "var(txn.infer_rs) -m found } { var(txn.infer.strategy) -m found }\n"
	            "    http-after-response set-header x-infer-served %[srv_name] if { "
	            "var(txn.infer_dbg) -m found }\n",
	            out);
}

void generate_routing(const struct generate *generate, FILE *out)
{
	generate_loggers(generate, out);
	generate_filter(generate, out);
	conditions(generate, out);
	computed(generate, out);
	asked(generate, out);
	routed(generate, out);
	answered(generate, out);
}
