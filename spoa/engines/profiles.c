/* profiles.c - every profile, and all their metrics by name. */
#include "spoa/engines/profiles.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "spoa/config/near.h"
#include "spoa/config/text.h"
#include "spoa/engines/engine_files.h"
#include "spoa/engines/profile_file.h"

enum { HOMES = 2 * PROFILE_TERMS_MAX, PATH_BYTES = 1024, FILE_MAX = 1024 * 1024, PAGES_MAX = 64 };

struct engine_profiles {
	struct arena *arena;
	struct engine_profile list[PROFILES_MAX];
	size_t count;
	struct term terms[PROFILE_TERMS_MAX];
	uint32_t term_count;
	uint32_t homes[HOMES]; /* first term of a name; TERM_NONE: free */
	const char *pages[PAGES_MAX];
	size_t page_count;
};

static struct engine_profiles *make(struct problems *problems)
{
	struct engine_profiles *profiles = calloc(1, sizeof(*profiles));

	if (profiles)
		profiles->arena = arena_new();
	if (profiles && profiles->arena)
		return profiles;
	free(profiles);
	problems_add(problems, (struct place){ 0 }, SEVERITY_ERROR, NULL, "memory",
	             "there is no memory for the profiles of engines");
	return NULL;
}

void engine_profiles_free(struct engine_profiles *profiles)
{
	if (!profiles)
		return;
	arena_free(profiles->arena);
	free(profiles);
}

/* At its place, or that of the one it replaces. */
static void put(struct engine_profiles *profiles, const struct engine_profile *profile)
{
	size_t i = 0;

	while (i < profiles->count && near_distance(profiles->list[i].name, profile->name) != 0)
		i++;
	if (i == profiles->count)
		profiles->count++;
	for (uint32_t k = 0; k < profile->terms; k++)
		profiles->terms[profile->first + k].profile = (uint32_t)i;
	profiles->list[i] = *profile;
}

static bool add(struct engine_profiles *profiles, const char *file, const char *text, size_t bytes,
                struct problems *problems)
{
	struct loading loading = { .file = file, .problems = problems, .arena = profiles->arena };
	size_t before = problems_count(problems, SEVERITY_ERROR);
	struct document *document = document_parse(file, text, bytes, problems);
	struct terms terms = { profiles->terms, profiles->term_count, PROFILE_TERMS_MAX };
	struct engine_profile profile;
	bool good;

	if (!document)
		return false;
	loading.root = document_root(document);
	good = profile_file_read(&loading, 0, &terms, &profile) &&
	       problems_count(problems, SEVERITY_ERROR) == before; /* a key may be there twice */
	if (good && profiles->count == PROFILES_MAX) {
		loading_error(&loading, loading.root, "too-many", "more than %d engines",
		              PROFILES_MAX);
		good = false;
	}
	if (good) {
		profiles->term_count = terms.count;
		put(profiles, &profile);
	}
	document_free(document);
	return good;
}

static bool add_file(struct engine_profiles *profiles, const char *path, struct problems *problems)
{
	struct error error = { "" };
	const char *name = arena_text(profiles->arena, path, strlen(path));
	size_t bytes;
	char *text = name ? text_read(path, FILE_MAX, &bytes, &error) : NULL;
	bool good;

	if (!text) {
		problems_add(problems, (struct place){ .file = name }, SEVERITY_ERROR, NULL, "file",
		             "%s", error.text);
		return false;
	}
	good = add(profiles, name, text, bytes, problems);
	free(text);
	return good;
}

static int is_profile(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name);

	return entry->d_name[0] != '.' && length > 5 &&
	       strcmp(entry->d_name + length - 5, ".json") == 0;
}

/* In the order of their names. */
static bool add_directory(struct engine_profiles *profiles, const char *directory,
                          struct problems *problems)
{
	struct dirent **entries;
	int count = scandir(directory, &entries, is_profile, alphasort);
	bool good = count >= 0;

	if (count < 0)
		problems_add(problems, (struct place){ .file = directory }, SEVERITY_ERROR, NULL,
		             "file", "cannot read this directory: %s", strerror(errno));
	for (int i = 0; i < count; i++) {
		char path[PATH_BYTES];

		(void)snprintf(path, sizeof(path), "%s/%s", directory, entries[i]->d_name);
		good = add_file(profiles, path, problems) && good;
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	return good;
}

static uint32_t home_of(const struct engine_profiles *profiles, struct span name)
{
	uint32_t home = (uint32_t)(XXH64(name.at, name.len, 0) % HOMES);

	for (;; home = (home + 1) % HOMES) {
		uint32_t term = profiles->homes[home];

		if (term == TERM_NONE ||
		    (strlen(profiles->terms[term].name) == name.len &&
		     memcmp(profiles->terms[term].name, name.at, name.len) == 0))
			return home;
	}
}

/* Terms of profiles that were replaced are left out. */
static void make_index(struct engine_profiles *profiles)
{
	for (size_t i = 0; i < HOMES; i++)
		profiles->homes[i] = TERM_NONE;
	for (size_t i = 0; i < profiles->count; i++) {
		const struct engine_profile *profile = &profiles->list[i];

		for (uint32_t k = profile->first; k < profile->first + profile->terms; k++) {
			const char *name = profiles->terms[k].name;
			uint32_t home = home_of(profiles, (struct span){ name, strlen(name) });

			profiles->terms[k].next = profiles->homes[home];
			profiles->homes[home] = k;
		}
	}
}

static void add_page(struct engine_profiles *profiles, const char *page)
{
	for (size_t i = 0; i < profiles->page_count; i++)
		if (strcmp(profiles->pages[i], page) == 0)
			return;
	if (profiles->page_count < PAGES_MAX)
		profiles->pages[profiles->page_count++] = page;
}

static struct engine_profiles *finish(struct engine_profiles *profiles, bool good)
{
	if (!good) {
		engine_profiles_free(profiles);
		return NULL;
	}
	make_index(profiles);
	for (size_t i = 0; i < profiles->count; i++)
		for (size_t k = 0; k < profiles->list[i].pages.count; k++)
			add_page(profiles, profiles->list[i].pages.at[k]);
	return profiles;
}

struct engine_profiles *engine_profiles_load(const char *directory, struct problems *problems)
{
	struct engine_profiles *profiles = make(problems);
	bool good = profiles != NULL;

	for (const struct engine_file *file = engine_files; profiles && file->name; file++)
		good = add(profiles, file->name, file->text, file->bytes, problems) && good;
	if (profiles && directory)
		good = add_directory(profiles, directory, problems) && good;
	return finish(profiles, good);
}

struct engine_profiles *engine_profiles_parse(const char *file, const char *text, size_t bytes,
                                              struct problems *problems)
{
	struct engine_profiles *profiles = make(problems);

	return finish(profiles, profiles && add(profiles, file, text, bytes, problems));
}

size_t engine_profiles_count(const struct engine_profiles *profiles)
{
	return profiles->count;
}

const struct engine_profile *engine_profiles_at(const struct engine_profiles *profiles, size_t i)
{
	return &profiles->list[i];
}

const struct engine_profile *engine_profiles_named(const struct engine_profiles *profiles,
                                                   const char *name)
{
	for (size_t i = 0; i < profiles->count; i++)
		if (strcmp(profiles->list[i].name, name) == 0)
			return &profiles->list[i];
	return NULL;
}

const struct engine_profile *engine_profiles_owner(const struct engine_profiles *profiles,
                                                   struct span owner)
{
	for (size_t i = 0; i < profiles->count; i++) {
		const char *own = profiles->list[i].owner;

		if (own && owner.len > 0 && strlen(own) == owner.len &&
		    memcmp(own, owner.at, owner.len) == 0)
			return &profiles->list[i];
	}
	return NULL;
}

struct texts engine_profiles_pages(const struct engine_profiles *profiles)
{
	return (struct texts){ (const char **)(uintptr_t)profiles->pages, profiles->page_count };
}

const struct term *engine_profiles_terms(const struct engine_profiles *profiles,
                                         uint32_t *ret_count)
{
	*ret_count = profiles->term_count;
	return profiles->terms;
}

uint32_t engine_profiles_term(const struct engine_profiles *profiles, struct span name)
{
	return profiles->homes[home_of(profiles, name)];
}
