/* models.c - /v1/models. */
#include "spoa/admin/models.h"

#include <stdlib.h>
#include <string.h>

#include "spoa/admin/text_json.h"

static bool served(const struct fleet *fleet, const char *name)
{
	size_t count = 0;
	uint32_t id = fleet_model_id(fleet, (struct span){ name, strlen(name) });

	if (id == TARGET_NONE || id == 0)
		return false;
	(void)fleet_serving(fleet, id, &count);
	return count > 0;
}

static json_t *model_json(const struct sources *sources, const char *name)
{
	return json_pack("{s:o, s:s, s:I, s:s}", "id", name_json(name), "object", "model",
	                 "created", (json_int_t)(sources->agent.started_ms / 1000), "owned_by",
	                 "inference-spoa");
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

json_t *models_list(const struct sources *sources)
{
	const struct fleet *fleet = sources->facts->fleet;
	const char **names = calloc(fleet_model_count(fleet) + 1, sizeof(*names));
	json_t *data = json_array();
	size_t count = 0;

	for (uint32_t id = 1; names && id <= fleet_model_count(fleet); id++) {
		const char *name = fleet_model_name(fleet, id);

		if (name && served(fleet, name))
			names[count++] = name;
	}
	if (names)
		qsort(names, count, sizeof(*names), by_name);
	for (size_t i = 0; i < count; i++)
		(void)json_array_append_new(data, model_json(sources, names[i]));
	free(names);
	return json_pack("{s:s, s:o}", "object", "list", "data", data);
}

json_t *models_one(const struct sources *sources, const char *name)
{
	return served(sources->facts->fleet, name) ? model_json(sources, name) : NULL;
}
