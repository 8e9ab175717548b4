/* control.h - the pages by which a test steers an engine and sees what it saw. */
#pragma once

struct connection;
struct request;

void control_state(struct connection *connection, const struct request *request);
void control_last(struct connection *connection, const struct request *request);
void control_fault(struct connection *connection, const struct request *request);
void control_reset(struct connection *connection, const struct request *request);
