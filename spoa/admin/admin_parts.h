/* admin_parts.h - what the files of the admin share; nobody else looks in here. */
#pragma once

#include "spoa/admin/admin.h"
#include "spoa/admin/routes.h"
#include "spoa/admin/sources.h"

struct listener;

struct admin {
	struct admin_context *context;
	struct listener *listener;
	struct route_counts routes;
};

/* Asks everybody what a page is made of. */
void admin_gather(struct admin *admin, struct sources *ret_sources);
