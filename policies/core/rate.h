/* rate.h - so much in such a time, as an operator writes it. */
#pragma once

/* What is written is kept: 600/m is not 10/s, for it may come in larger pieces. */
struct rate {
	double per_second; /* 0: none */
	double period_s;   /* 1, 60, 3600 or 86400 */
};
