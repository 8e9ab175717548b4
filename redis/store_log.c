/* store_log.c - lines about the store. */
#include "redis/store_log.h"

#include <stdarg.h>
#include <stdio.h>

enum { ERROR = 3, WARNING = 4, NOTICE = 5, INFO = 6 /* syslog's */ };

enum { LINE_MAX_BYTES = 512, TEXT_SHOWN = 160 };

void said_text(struct said *said, int level, const char *format, ...)
{
	char line[LINE_MAX_BYTES];
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	if (said->log.say)
		said->log.say(said->log.data, level, line);
}

/* Not yet, or long ago. */
static bool is_due(const struct said *said, usec_t at)
{
	return at == 0 || said->now() - at >= SAID_AGAIN;
}

void said_up(struct said *said, const char *address)
{
	said->down = false;
	said->fault_at = 0;
	said_text(said, NOTICE, "store: up, at %s", address);
}

void said_down(struct said *said, const struct redis_down *down)
{
	if (said->down && said->fault == down->fault && !is_due(said, said->fault_at))
		return;
	said->down = true;
	said->fault = down->fault;
	said->fault_at = said->now();
	said_text(said, WARNING,
	          "store: away (%s: %s): %s; decisions go on with what is known here",
	          redis_fault_label(down->fault), redis_fault_meaning(down->fault), down->text);
}

void said_failed(struct said *said, enum op op, enum redis_result result, struct span text)
{
	int shown = text.len < TEXT_SHOWN ? (int)text.len : TEXT_SHOWN;

	if (!is_due(said, said->result_at[result]))
		return;
	said->result_at[result] = said->now();
	said_text(said, WARNING, "store: %s failed (%s: %s): %.*s", op_labels[op],
	          redis_result_label(result), redis_result_meaning(result), shown,
	          text.at ? text.at : "");
}

void said_restart(struct said *said, enum keys_stream stream)
{
	said_text(said, WARNING,
	          "store: stream %s has not what we read last (restarted, emptied, failed over, or "
	          "we "
	          "were away for long)",
	          keys_stream_names[stream]);
}

void said_lost(struct said *said, enum keys_stream stream, uint32_t again)
{
	if (again > 0)
		said_text(said, NOTICE,
		          "store: stream %s has lost what we told last; of %u things that we "
		          "remember "
		          "those that still hold are told again",
		          keys_stream_names[stream], again);
}

static void look_at_batches(struct said *said, const struct apply_counts *counts)
{
	uint64_t bad = 0;
	enum wire_result worst = WIRE_RESULT_OK;

	for (int i = WIRE_RESULT_OK + 1; i < WIRE_RESULT_COUNT; i++) {
		bad += counts->batches[i];
		if (counts->batches[i] > 0)
			worst = (enum wire_result)i;
	}
	if (bad == said->bad_batches || !is_due(said, said->batch_at))
		return;
	said->batch_at = said->now();
	said_text(said, WARNING,
	          "store: %llu entries are none that this version reads (%s): who else writes "
	          "there?",
	          (unsigned long long)(bad - said->bad_batches), wire_result_labels[worst]);
	said->bad_batches = bad;
}

static void look_at_drops(struct said *said, const struct outbox_counts *counts)
{
	if (counts->dropped == said->dropped || !is_due(said, said->drop_at))
		return;
	said->drop_at = said->now();
	said_text(said, WARNING, "store: %llu things learnt were dropped before they could be told",
	          (unsigned long long)(counts->dropped - said->dropped));
	said->dropped = counts->dropped;
}

void said_look(struct said *said, const struct store_view *view, uint32_t peers)
{
	look_at_batches(said, view->applied);
	look_at_drops(said, &view->outbox);
	if (peers != said->peers)
		said_text(said, NOTICE, "store: %u other agents are heard", peers);
	said->peers = peers;
	if (view->follower.phase == FOLLOWER_WARMING &&
	    (int)(view->follower.warmed * 10) > said->warmed) {
		said->warmed = (int)(view->follower.warmed * 10);
		said_text(said, INFO, "store: warming up, %d %%, %llu batches", said->warmed * 10,
		          (unsigned long long)view->follower.warm_read);
	}
}

void said_warm(struct said *said, const struct store_view *view)
{
	said_text(said, NOTICE,
	          "store: warmed up in %llu ms: %llu batches, %llu bindings and %llu pins taken",
	          (unsigned long long)(view->follower.warm_time / MSEC),
	          (unsigned long long)view->follower.warm_read,
	          (unsigned long long)view->applied->taken[WIRE_BOUND],
	          (unsigned long long)view->applied->taken[WIRE_PINNED]);
}
