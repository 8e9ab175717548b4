/* quota.c - what is left of a limit, as a client reads it.
 *
 * One text for three headers, split by HAProxy: three variables would cost it three times as
 * much. The time is written as OpenAI writes it, which is how Go writes durations. */
#include "spoa/messages/quota.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>

static const double most = 1e15; /* of a number that is written in full */
static const double rounding = 1e-6;

static long long whole(double value)
{
	return (long long)(value < most ? value : most);
}

static int write_time(double seconds, char *ret_text, size_t room)
{
	long long ms = whole(ceil(seconds * 1000 - rounding));
	long long s = (ms + 999) / 1000;

	if (ms < 1000)
		return snprintf(ret_text, room, "%lldms", ms);
	if (ms < 60000) /* 8.64s, and 9s */
		return snprintf(ret_text, room, "%.5gs", (double)ms / 1000);
	if (s < 3600)
		return snprintf(ret_text, room, "%lldm%llds", s / 60, s % 60);
	return snprintf(ret_text, room, "%lldh%lldm%llds", s / 3600, s / 60 % 60, s % 60);
}

size_t quota_write(const struct limit_left *left, char ret_text[QUOTA_TEXT_MAX])
{
	int len = snprintf(ret_text, QUOTA_TEXT_MAX, "%lld;%lld;", whole(left->limit),
	                   whole(left->left + rounding));

	return (size_t)(len +
	                write_time(left->reset_s, ret_text + len, QUOTA_TEXT_MAX - (size_t)len));
}
