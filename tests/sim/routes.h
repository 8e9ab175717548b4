/* routes.h - which path is answered by whom. */
#pragma once

struct connection;
struct request;

/* Answers, or sees to it that it will be answered. */
void routes_serve(struct connection *connection, const struct request *request);
