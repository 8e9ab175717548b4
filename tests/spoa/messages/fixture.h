/* fixture.h - a context whose decider says what the test wants, and remembers
 * what it was asked. Stands in for the policies behind the messages: include it
 * in one file of a program. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "policies/pipeline.h"
#include "spoa/messages/messages.h"
#include "spoa/spop/ack.h"
#include "spoa/spop/notify.h"

enum { STUB_TEXT_MAX = 300 };

static struct {
	struct policy policy;
	struct counters counters;
	struct facts facts;
	struct instance instance;
	struct replica replica;
	struct target target;
	char replica_names[SOURCES_MAX][NAME_MAX_BYTES];
	struct decision decision; /* what decider_decide() answers */
	struct feedback feedback; /* what feedback_first_byte() answers */
	usec_t now;

	unsigned int decided, first_bytes, late;
	struct request request; /* the last asked; its spans only while it is asked */
	struct first_byte event;
	char id[STUB_TEXT_MAX], session[STUB_TEXT_MAX], tenant[STUB_TEXT_MAX];
	char model[STUB_TEXT_MAX], strategy[STUB_TEXT_MAX], backend[STUB_TEXT_MAX];
	char address[STUB_TEXT_MAX], server[STUB_TEXT_MAX], late_id[STUB_TEXT_MAX];
	void (*on_decide)(void);
} stub;

/* "-" where there is none, so that nothing and empty differ. */
static void stub_copy(char to[STUB_TEXT_MAX], struct span text)
{
	size_t length = text.len < STUB_TEXT_MAX ? text.len : STUB_TEXT_MAX - 1;

	memcpy(to, text.at ? text.at : "-", text.at ? length : 1);
	to[text.at ? length : 1] = '\0';
}

void decider_decide(struct decider *decider, const struct request *request, usec_t now,
                    struct decision *ret_decision)
{
	assert_non_null(decider);
	assert_true(now == stub.now);
	stub.decided++;
	stub.request = *request;
	stub_copy(stub.id, request->id);
	stub_copy(stub.session, request->session);
	stub_copy(stub.tenant, request->tenant);
	stub_copy(stub.model, request->model);
	stub_copy(stub.strategy, request->strategy);
	stub_copy(stub.backend, request->backend);
	if (stub.on_decide)
		stub.on_decide();
	*ret_decision = stub.decision;
}

struct feedback feedback_first_byte(struct facts *facts, const struct first_byte *event, usec_t now)
{
	assert_ptr_equal(facts, &stub.facts);
	assert_true(now == stub.now);
	stub.first_bytes++;
	stub.event = *event;
	stub_copy(stub.id, event->id);
	stub_copy(stub.backend, event->by.backend);
	stub_copy(stub.server, event->by.server);
	stub_copy(stub.address, event->by.address);
	return stub.feedback;
}

void feedback_late(struct facts *facts, struct span id, usec_t now)
{
	assert_ptr_equal(facts, &stub.facts);
	(void)now;
	stub.late++;
	stub_copy(stub.late_id, id);
}

const char *fleet_replica_name(const struct replica *replica, uint32_t source)
{
	return replica->name[source];
}

static usec_t stub_now(void)
{
	return stub.now;
}

/* A context that routes to svc-a, a1, with a slot. */
__attribute__((unused)) static struct message_context stub_context(void)
{
	struct message_context context = { .facts = &stub.facts,
		                           .decider = (struct decider *)&stub,
		                           .now = stub_now };

	memset(&stub, 0, sizeof(stub));
	stub.now = 5 * SECOND;
	stub.facts.policy = &stub.policy;
	stub.facts.counters = &stub.counters;
	(void)strcpy(stub.policy.ladder.id, LADDER_DEFAULT);
	stub.policy.ladder.count = 32;
	for (uint32_t i = 0; i < 10; i++)
		stub.policy.session.headers[i].argument = i;
	stub.policy.session.header_count = 10;
	(void)strcpy(stub.instance.name, "svc-a");
	stub.replica.target = &stub.target;
	stub.replica.name = (const char(*)[NAME_MAX_BYTES])stub.replica_names;
	(void)strcpy(stub.replica_names[0], "a1");
	(void)strcpy(stub.replica_names[1], "b7");
	stub.decision = (struct decision){ .outcome = OUTCOME_ROUTED,
		                           .reason = REASON_PREFIX,
		                           .instance = &stub.instance,
		                           .replica = &stub.replica,
		                           .slot = true };
	return context;
}

/* --- writing the messages of a NOTIFY ---------------------------------------- */

struct stub_notify {
	uint8_t bytes[16384];
	struct spop_output out;
	uint8_t *count; /* of the message begun last */
};

__attribute__((unused)) static void notify_start(struct stub_notify *notify)
{
	notify->out = (struct spop_output){ notify->bytes, notify->bytes + sizeof(notify->bytes) };
}

__attribute__((unused)) static void put_message(struct stub_notify *notify, const char *name)
{
	assert_true(notify_write_message(&notify->out, name, 0));
	notify->count = notify->out.at - 1;
}

__attribute__((unused)) static void put(struct stub_notify *notify, const char *name,
                                        struct spop_value value)
{
	assert_true(pair_write(&notify->out, name, &value));
	++*notify->count;
}

__attribute__((unused)) static void put_text(struct stub_notify *notify, const char *name,
                                             const char *text)
{
	put(notify, name, value_string(text_of(text)));
}

__attribute__((unused)) static void put_null(struct stub_notify *notify, const char *name)
{
	put(notify, name, (struct spop_value){ .type = SPOP_TYPE_NULL });
}

__attribute__((unused)) static struct spop_input notify_end(const struct stub_notify *notify)
{
	return (struct spop_input){ notify->bytes, notify->out.at };
}

/* infer-route as the reference configuration sends it: 61 arguments, the first
 * `hashes` of the 32 hashes not NULL. */
__attribute__((unused)) static void put_route(struct stub_notify *notify, const char *id,
                                              int hashes)
{
	static const char *const nulls[] = { "prio", "strat", "rstrat", "excl", "cid", "retry",
		                             "tmo",  "s0",    "s1",     "s2",   "s3",  "s4",
		                             "s5",   "s6",    "s7",     "s8",   "s9" };

	put_message(notify, CONTRACT_ROUTE);
	put(notify, "v", value_int64(1));
	put_text(notify, "id", id);
	put_null(notify, "be");
	put_text(notify, "method", "POST");
	put_text(notify, "host", "llm.example");
	put_text(notify, "path", "/v1/chat/completions");
	put_text(notify, "model", "llama");
	put(notify, "tenant", value_int64(-1));
	for (size_t i = 0; i < sizeof(nulls) / sizeof(nulls[0]); i++)
		put_null(notify, nulls[i]);
	put(notify, "blen", value_int64(9000));
	put(notify, "bsize", value_int64(9100));
	put(notify, "plen", value_int64(8900));
	put_text(notify, "lid", LADDER_DEFAULT);
	for (int i = 0; i < 32; i++) {
		char name[4] = { 'h', (char)(i < 10 ? '0' + i : '0' + i / 10),
			         (char)(i < 10 ? '\0' : '0' + i % 10), '\0' };

		if (i < hashes)
			put(notify, name, value_int64(-1205034819632174695 + i));
		else
			put_null(notify, name);
	}
}

/* --- reading the actions of an ACK ------------------------------------------- */

struct stub_answer {
	uint8_t bytes[MESSAGES_ANSWER_MAX];
	struct spop_output out;
};

__attribute__((unused)) static struct message_result
run(struct message_context *context, const struct stub_notify *notify, struct stub_answer *answer)
{
	answer->out = (struct spop_output){ answer->bytes, answer->bytes + sizeof(answer->bytes) };
	return messages_run(context, 0, notify_end(notify), &answer->out);
}

static bool find_action(struct spop_input in, const char *name, struct ack_action *ret_action)
{
	while (in.at < in.end) {
		struct ack_action action;

		assert_int_equal(ack_read(&in, &action), SPOP_NONE);
		assert_int_equal(action.scope, ACK_SCOPE_TRANSACTION);
		if (text_is(action.name, name)) {
			*ret_action = action;
			return true;
		}
	}
	return false;
}

__attribute__((unused)) static bool has(const struct stub_answer *answer, const char *name)
{
	struct ack_action action;
	struct spop_input in = { answer->bytes, answer->out.at };

	return find_action(in, name, &action);
}

__attribute__((unused)) static void assert_text(const struct stub_answer *answer, const char *name,
                                                const char *text)
{
	struct ack_action action = { .set = false };
	struct spop_input in = { answer->bytes, answer->out.at };

	assert_true(find_action(in, name, &action));
	assert_true(action.set);
	assert_int_equal(action.value.type, SPOP_TYPE_STRING);
	assert_true(text_is(action.value.text, text));
}

__attribute__((unused)) static void assert_number(const struct stub_answer *answer,
                                                  const char *name, int64_t number)
{
	struct ack_action action = { .set = false };
	struct spop_input in = { answer->bytes, answer->out.at };

	assert_true(find_action(in, name, &action));
	assert_int_equal(action.value.type, SPOP_TYPE_INT64);
	assert_int_equal(action.value.integer, number);
}
