/* large.c - a policy of 50 models, 200 instances and 2000 replicas: how long it takes to be read
 * and bound to the fleet, and what a decision over its largest rule, all 200 instances, costs.
 *
 * CPU time of the process, the median of several. Rows as decide.c prints them; --print prints the
 * policy itself, for reloads under load. The target of the decision is that of 1024 candidates, 30
 * us, for the 200 instances with their 2000 replicas, and the 10 replicas of the one chosen. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "policies/feedback.h"
#include "policies/pipeline.h"
#include "spoa/config/policy.h"

enum { MODELS = 50, INSTANCES = 200, REPLICAS = 10, LOADS = 15, BATCH = 16, BATCHES = 200 };

static char names[INSTANCES * REPLICAS][3][32]; /* backend, server, address */

static struct span text(const char *at)
{
	return (struct span){ at, strlen(at) };
}

static double cpu_ms(void)
{
	struct timespec at;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at);
	return (double)at.tv_sec * 1e3 + (double)at.tv_nsec / 1e6;
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static double median(double *values, size_t count)
{
	qsort(values, count, sizeof(*values), by_value);
	return values[count / 2];
}

/* The first model is served by all, each other one by eight. */
static void write_models(FILE *out)
{
	for (int model = 0; model < MODELS; model++) {
		int count = model == 0 ? INSTANCES : 8;

		(void)fprintf(out,
		              "%s\n\t\t\"model-%d\": {\"aliases\": [\"m%d\"], "
		              "\"admit\": {\"max-running\": 200, \"max-ttft\": \"5s\"}, "
		              "\"fallback-services\": [\"be-%d\"], \"instances\": [",
		              model ? "," : "", model, model, (model * 8 + 8) % INSTANCES);
		for (int i = 0; i < count; i++)
			(void)fprintf(out, "%s\"be-%d\"", i ? ", " : "",
			              (model * 8 + i) % INSTANCES);
		(void)fprintf(out, "]}");
	}
}

static void write_policy(FILE *out)
{
	(void)fprintf(out, "{\n\t\"defaults\": {\"strategy\": \"least-work\"},\n\t\"models\": {");
	write_models(out);
	(void)fprintf(out, "\n\t},\n\t\"instances\": {");
	for (int i = 0; i < INSTANCES; i++) {
		(void)fprintf(out, "%s\n\t\t\"be-%d\": {\"weight\": 1, \"replicas\": {",
		              i ? "," : "", i);
		for (int k = 0; k < REPLICAS; k++)
			(void)fprintf(out, "%s\"s%d\": {\"weight\": %d, \"slots\": 64}",
			              k ? ", " : "", k, 1 + k % 2);
		(void)fprintf(out, "}}");
	}
	(void)fprintf(out, "\n\t},\n\t\"affinity\": [");
	for (int i = 0; i < MODELS; i++)
		(void)fprintf(out,
		              "%s\n\t\t{\"on\": \"tenant\", \"exact\": \"tenant-%d\", \"never\": "
		              "[\"be-%d\"]}",
		              i ? "," : "", i, i);
	(void)fprintf(out, "\n\t]\n}\n");
}

static struct policy_file *load(const char *policy, size_t size)
{
	struct problems *problems = problems_new();
	struct policy_file *file =
	        problems ? policy_parse("large.json", policy, size, problems) : NULL;

	if (!file && problems)
		problems_print(problems, stderr);
	problems_free(problems);
	return file;
}

static void list_servers(struct facts *facts)
{
	static struct server_fact servers[INSTANCES * REPLICAS];

	for (int i = 0; i < INSTANCES * REPLICAS; i++) {
		(void)snprintf(names[i][0], sizeof(names[i][0]), "be-%d", i / REPLICAS);
		(void)snprintf(names[i][1], sizeof(names[i][1]), "s%d", i % REPLICAS);
		(void)snprintf(names[i][2], sizeof(names[i][2]), "10.0.%d.%d:8000", i / 200,
		               i % 200 + 1);
		servers[i] = (struct server_fact){ .backend = text(names[i][0]),
			                           .server = text(names[i][1]),
			                           .address = text(names[i][2]),
			                           .weight = 100,
			                           .up = true };
	}
	(void)fleet_apply(facts->fleet, 0, servers, INSTANCES * REPLICAS, SECOND, NULL, NULL);
}

/* Read beside the running one, and bound; as a reload does it. */
static double loading_ms(struct facts *facts, struct policy_file **file, const char *policy,
                         size_t size)
{
	double each[LOADS];

	for (int i = 0; i < LOADS; i++) {
		double begun = cpu_ms();
		struct policy_file *next = load(policy, size);

		if (!next)
			exit(1);
		facts_set_policy(facts, policy_file_policy(next));
		policy_file_free(*file);
		*file = next;
		each[i] = cpu_ms() - begun;
	}
	return median(each, LOADS);
}

static void finish(struct facts *facts, const char *id, usec_t now)
{
	struct stream_end end = { .id = text(id),
		                  .by = { .backend = text("be-0") },
		                  .status = 200,
		                  .termination = "----",
		                  .routed = true,
		                  .applied = true,
		                  .decided_ms = 1,
		                  .total_ms = 100 };

	(void)feedback_end(facts, &end, now);
}

static double deciding_us(struct facts *facts, struct decider *decider)
{
	static double each[BATCHES];
	static char ids[BATCH][32];
	struct rng rng = { 5 };
	usec_t now = 2 * SECOND;

	for (int b = -10; b < BATCHES; b++) {
		struct request requests[BATCH];
		struct decision decision;
		double begun;

		for (int i = 0; i < BATCH; i++) {
			(void)snprintf(ids[i], sizeof(ids[i]), "q%d", (b + 10) * BATCH + i);
			requests[i] = (struct request){ .id = text(ids[i]),
				                        .model = text("model-0"),
				                        .tenant = text("tenant-7"),
				                        .has_prompt = true,
				                        .prompt_bytes = 380928,
				                        .body_bytes = 380928,
				                        .body_total = 380928,
				                        .hash_count = 32 };
			for (int k = 0; k < 32; k++)
				requests[i].hashes[k] = rng_next(&rng);
		}
		now += 10 * MSEC;
		begun = cpu_ms();
		for (int i = 0; i < BATCH; i++) {
			decider_decide(decider, &requests[i], now, &decision);
			if (!decision.replica)
				exit(1);
		}
		if (b >= 0)
			each[b] = (cpu_ms() - begun) * 1e3 / BATCH;
		for (int i = 0; i < BATCH; i++)
			finish(facts, ids[i], now);
	}
	return median(each, BATCHES);
}

int main(int argc, char **argv)
{
	struct problems *problems = problems_new();
	struct policy_file *file = policy_load(NULL, problems);
	struct decider *decider;
	struct facts *facts;
	char *policy = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&policy, &size);

	problems_free(problems);
	if (!file || !out)
		return 1;
	write_policy(out);
	if (fclose(out) != 0)
		return 1;
	if (argc > 1 && strcmp(argv[1], "--print") == 0) {
		(void)fputs(policy, stdout);
	} else {
		facts = facts_new(policy_file_policy(file),
		                  &(struct fleet_limits){ 256, 4096, 128 });
		if (!facts)
			return 1;
		list_servers(facts);
		(void)printf("policy of %d models, %d instances, %d replicas, loaded\t%.1f\tms "
		             "CPU\t200\n",
		             MODELS, INSTANCES, INSTANCES * REPLICAS,
		             loading_ms(facts, &file, policy, size));
		decider = decider_new(facts, 3);
		if (!decider)
			return 1;
		(void)printf("decision over its largest rule, all %d instances\t%.2f\tus CPU\t65\n",
		             INSTANCES, deciding_us(facts, decider));
		decider_free(decider);
		facts_free(facts);
	}
	policy_file_free(file);
	free(policy);
	return 0;
}
