/* learn.h - what an answer teaches: averages and bindings. Of feedback.c only. */
#pragma once

#include "policies/feedback.h"

/* Target ids of who served, TARGET_NONE where it is nobody we know. */
struct serving {
	uint32_t instance, replica;
};

/* TTFT of an answer in order, by whom we chose (of a pair, who computed the prompt): to the replica
 * and to the instance. Kept in the flight, for taking it back. */
void learn_ttft(struct facts *facts, struct flight *flight, const struct serving *by,
                double ttft_ms, usec_t now);
/* It was an aborted stream's, and no sample at all. */
void learn_no_ttft(struct facts *facts, const struct flight *flight, const struct serving *by);
void learn_e2e(struct facts *facts, const struct serving *by, double e2e_ms, usec_t now);
/* A failure is as slow as twice its time, or twice what the others take if that is
 * more: failing fast must not look fast. ttft: it came before any byte. */
void learn_failure(struct facts *facts, const struct serving *by, double elapsed_ms, bool ttft,
                   usec_t now);

/* The one who served holds the prompt, and so does who computed it for that one; who was
 * chosen instead does not. */
void learn_binding(struct facts *facts, const struct flight *flight, const struct serving *by,
                   usec_t now);
/* What was bound for this request and never confirmed goes. */
void learn_no_binding(struct facts *facts, const struct flight *flight);
/* The holder answered abnormally: all of the prompt's blocks go. */
void learn_lost_binding(struct facts *facts, const struct flight *flight, uint32_t holder);
