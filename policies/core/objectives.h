/* objectives.h - what a request is to be served within, in ms; 0: nothing was said. */
#pragma once

struct objectives {
	double ttft_ms; /* to the first token */
	double tpot_ms; /* from token to token */
	double e2e_ms;  /* of the whole request */
};
