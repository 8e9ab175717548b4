/* generate_ingress.c - values for haproxytech's Kubernetes ingress: the same lines
 * as everywhere, put where its chart wants them.
 *
 * The frontend's lines are a snippet between the controller's variables and its
 * use_backend rules; which backend is used is changed by the variable that those
 * look at. The agent's backend and the ring stand in the auxiliary file, a second
 * -f of HAProxy. A snippet is freed of comments: it goes through a controller
 * before HAProxy reads it. */
#include "spoa/config/generate_parts.h"

#include <stdlib.h>
#include <string.h>

#include "spoa/messages/contract.h"

typedef void part_fn(const struct generate *generate, FILE *out);

/* HAProxy's text as a block of YAML, without comments; of several sections with the
 * indentation they have. */
static void indented(FILE *out, const char *text, const char *indentation, bool sections)
{
	while (*text != '\0') {
		size_t length = strcspn(text, "\n");
		const char *words = text + strspn(text, " ");
		const char *line = sections ? text : words;
		const char *comment = strstr(words, "  #");
		const char *end = text + length;

		text += length + (text[length] == '\n');
		if (comment && comment < end)
			end = comment;
		while (end > words && end[-1] == ' ')
			end--;
		if (end > words && *words != '#')
			(void)fprintf(out, "%s%.*s\n", indentation, (int)(end - line), line);
	}
}

static void auxiliary(const struct generate *generate, FILE *out)
{
	generate_agents(generate, out);
	if (!generate_has_profile(generate))
		return;
	(void)fputs("log-profile infer\n"
	            "    on any drop\n"
	            "    on close format ",
	            out);
	generate_log_format(out);
	(void)fputc('\n', out);
}

MUST_CHECK static bool block(const struct generate *generate, FILE *out, part_fn *part,
                             const char *indentation, struct error *error)
{
	char *text = NULL;
	size_t size = 0;
	FILE *memory = open_memstream(&text, &size);

	if (!memory)
		return error_set(error, "out of memory");
	part(generate, memory);
	if (fclose(memory) != 0) {
		free(text);
		return error_set(error, "out of memory");
	}
	indented(out, text, indentation, part == auxiliary);
	free(text);
	return true;
}

static void heading(const struct generate *generate, FILE *out)
{
	const struct generate_ingress *ingress = &generate->ingress;

	(void)fprintf(out,
	              "# Values for the chart kubernetes-ingress of haproxytech, HAProxy %u.%u, "
	              "contract %d.\n"
	              "# Printed by \"inference-spoa haproxy ingress --for %u.%u",
	              generate->version / 100, generate->version % 100, CONTRACT_VERSION,
	              generate->version / 100, generate->version % 100);
	if (generate->topology == GENERATE_LOWER)
		(void)fputs(" --topology lower", out);
	for (size_t i = 0; i < ingress->backend_count; i++)
		(void)fprintf(out, " --backend %s", ingress->backends[i]);
	for (size_t i = 0; i < ingress->agent_count; i++)
		(void)fprintf(out, " --agent %.*s:%u", (int)ingress->agents[i].len,
		              ingress->agents[i].at, ingress->agent_ports[i]);
	(void)fprintf(out,
	              "\"; print it again rather than edit it.\n"
	              "# The ConfigMaps are those of the chart inference-spoa, release %s. Install "
	              "it first.\n",
	              ingress->name);
}

/* What serves while the agent is silent, and times that fit a model that thinks. */
static void settings(FILE *out)
{
	(void)fputs("controller:\n"
	            "  config:\n"
	            "    scale-server-slots: \"16\"\n"
	            "    load-balance: leastconn          # when the agent is silent\n"
	            "    abortonclose: \"true\"             # else every backend says \"no option "
	            "abortonclose\": engines work for clients that left\n"
	            "    timeout-connect: 2s\n"
	            "    timeout-queue: 30s               # queue + server + 5 s must not exceed "
	            "the ledger's TTL (600 s)\n"
	            "    timeout-server: 540s             # longest silence of an engine, prefill "
	            "included\n"
	            "    timeout-client: 75s              # uploads, and clients that stop "
	            "reading; never cuts a stream\n"
	            "    hard-stop-after: 30m             # longest life of a stream across a "
	            "reload\n",
	            out);
}

static void global(const struct generate *generate, FILE *out)
{
	(void)fputs("presetenv INFER_SEED 1\n"
	            "tune.bufsize 131072\n",
	            out);
	if (generate->ingress.agent_count > 0)
		(void)fputs("stats socket ipv4@:9999 level user\n", out);
	else
		(void)fputs("stats socket /run/inference-spoa-hap.sock mode 660 level user\n", out);
}

static void seed(const struct generate *generate, FILE *out)
{
	(void)fprintf(
	        out,
	        "  extraEnvs:\n"
	        "    - name: INFER_SEED               # of the tenant hash: a secret number of "
	        "your own\n"
	        "      valueFrom: {secretKeyRef: {name: %s-seed, key: seed, optional: true}}\n",
	        generate->ingress.name);
}

static void volumes(const struct generate *generate, FILE *out)
{
	const char *name = generate->ingress.name;

	(void)fprintf(out,
	              "  extraVolumes:\n"
	              "    - name: inference-spoa-haproxy\n"
	              "      configMap: {name: %s-haproxy}\n",
	              name);
	if (generate->ingress.agent_count == 0)
		(void)fprintf(out,
		              "    - name: inference-spoa-policy\n"
		              "      configMap: {name: %s-policy}\n"
		              "    - name: inference-spoa-redis\n"
		              "      secret: {secretName: %s-redis, optional: true}\n",
		              name, name);
	(void)fputs("  extraVolumeMounts:                 # directories: a subPath would not "
	            "be updated\n"
	            "    - {name: inference-spoa-haproxy, mountPath: " GENERATE_INGRESS_ETC
	            ", readOnly: true}\n",
	            out);
}

/* Of other Services the agent neither asks for models nor reads pages. */
static void instances(const struct generate *generate, FILE *out)
{
	const struct generate_ingress *ingress = &generate->ingress;

	for (size_t i = 0; i < ingress->backend_count; i++)
		(void)fprintf(out, "%s%s", i == 0 ? "        - --only-backend=" : ",",
		              ingress->backends[i]);
	if (ingress->backend_count > 0)
		(void)fputc('\n', out);
}

/* No readinessProbe: an agent that is not ready must not take its ingress out of service. */
static void side_car(const struct generate *generate, FILE *out)
{
	(void)fputs("  extraContainers:\n"
	            "    - name: inference-spoa\n"
	            "      image: inference-spoa:" INFERENCE_SPOA_VERSION
	            "          # from your registry; the steps are in Containerfile\n"
	            "      args:\n"
	            "        - run\n"
	            "        - --policy=/etc/inference-spoa/policy/policy.json\n"
	            "        - --watch-policy\n"
	            "        - --on-bad-policy=defaults\n"
	            "        - --haproxy=/run/inference-spoa-hap.sock\n"
	            "        - --spop=127.0.0.1:9000\n"
	            "        - --log-listen=127.0.0.1:9514\n"
	            "        - --admin=0.0.0.0:9901\n",
	            out);
	instances(generate, out);
	(void)fprintf(
	        out,
	        "      envFrom:\n"
	        "        - configMapRef: {name: %s-options, optional: true}\n"
	        "      ports:\n"
	        "        - {name: infer-admin, containerPort: 9901}\n"
	        "      livenessProbe:                 # no readinessProbe: it would take the "
	        "ingress out of service with the agent\n"
	        "        httpGet: {path: /healthz, port: infer-admin}\n"
	        "        periodSeconds: 10\n"
	        "      securityContext:\n"
	        "        allowPrivilegeEscalation: false\n"
	        "        readOnlyRootFilesystem: true\n"
	        "        runAsNonRoot: true\n"
	        "        runAsUser: 1000              # HAProxy's own, whose sockets it reads\n"
	        "        runAsGroup: 1000\n"
	        "        capabilities: {drop: [ALL]}\n"
	        "        seccompProfile: {type: RuntimeDefault}\n"
	        "      resources:\n"
	        "        requests: {cpu: 100m, memory: 64Mi}\n"
	        "        limits: {memory: 256Mi}\n"
	        "      volumeMounts:\n"
	        "        - {name: tmp, mountPath: /run, subPath: run}\n"
	        "        - {name: inference-spoa-policy, mountPath: /etc/inference-spoa/policy, "
	        "readOnly: true}\n"
	        "        - {name: inference-spoa-redis, mountPath: /etc/inference-spoa/redis, "
	        "readOnly: true}\n",
	        generate->ingress.name);
}

/* As asked, but for the version: a snippet stands in one HAProxy only, whose it is. */
static struct generate of_ingress(const struct generate *generate)
{
	struct generate of = *generate;

	of.ingress.on = true;
	if (of.version == 0)
		of.version = GENERATE_INGRESS_VERSION;
	return of;
}

bool generate_ingress(const struct generate *generate, FILE *out, struct error *error)
{
	const struct generate of = of_ingress(generate);

	if (of.topology == GENERATE_UPPER)
		return error_set(error, "the ingress' servers are pods: --topology upper is for a "
		                        "HAProxy above it");
	heading(&of, out);
	settings(out);
	(void)fputs("    global-config-snippet: |\n", out);
	if (!block(&of, out, global, "      ", error))
		return false;
	(void)fputs("    frontend-config-snippet: |\n", out);
	if (!block(&of, out, generate_routing, "      ", error))
		return false;
	(void)fputs("  auxiliaryConfig: |\n", out);
	if (!block(&of, out, auxiliary, "    ", error))
		return false;
	seed(&of, out);
	volumes(&of, out);
	if (of.ingress.agent_count == 0)
		side_car(&of, out);
	return true;
}

static void service(const struct generate *generate, FILE *out)
{
	generate_first_try(generate, out);
	generate_pin(out);
	(void)fputs("    option redispatch 1\n"
	            "    retries 2\n"
	            "    retry-on conn-failure empty-response 500 502 503\n"
	            "    default-server fastinter 500ms maxqueue 32 pool-purge-delay 2s\n",
	            out);
	generate_own_errors(out);
}

bool generate_ingress_service(const struct generate *generate, FILE *out, struct error *error)
{
	const struct generate of = of_ingress(generate);

	(void)fprintf(
	        out,
	        "# Annotations of a Service whose pods are replicas, HAProxy %u.%u.\n"
	        "# Printed by \"inference-spoa haproxy ingress-service --for %u.%u\".\n"
	        "metadata:\n"
	        "  annotations:\n"
	        "    haproxy.org/pod-maxconn: \"256\"   # the engine's longest batch and a little; "
	        "the controller divides it by its pods\n"
	        "    haproxy.org/check-http: /health\n"
	        "    haproxy.org/timeout-check: 5s    # some engines answer /health with a token\n"
	        "    haproxy.org/backend-config-snippet: |\n",
	        of.version / 100, of.version % 100, of.version / 100, of.version % 100);
	return block(&of, out, service, "      ", error);
}
