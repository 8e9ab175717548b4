/* metrics_each.h - a line for each replica, or each instance. Of the files metrics_*.c only. */
#pragma once

#include "spoa/admin/page.h"
#include "spoa/admin/sources.h"

/* False: this replica has no such value, and so no line. */
typedef bool read_value(const struct sources *sources, const struct replica *replica,
                        double *ret_value);
void metrics_each_replica(struct page *page, const struct sources *sources, read_value *read);

/* The replica may belong to several instances; so what needs its instance has it as well. */
typedef bool read_member(const struct sources *sources, const struct instance *instance,
                         const struct replica *replica, double *ret_value);
void metrics_each_member(struct page *page, const struct sources *sources, read_member *read);

/* Lines of its own making: more than one, or none. labels: instance and replica. */
typedef void print_replica(struct page *page, const struct sources *sources,
                           const struct replica *replica, const char *const labels[2]);
void metrics_each_printed(struct page *page, const struct sources *sources, print_replica *print);

typedef bool read_instance(const struct sources *sources, const struct instance *instance,
                           double *ret_value);
void metrics_each_instance(struct page *page, const struct sources *sources, read_instance *read);
