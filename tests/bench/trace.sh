# trace.sh - how well the library routes a recorded trace, in virtual time; sourced.
# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared among the parts

measure_trace() {
	if [ ! -r "$trace" ]; then
		note "routing quality is skipped: no $(basename "$trace") in $(basename "$shared")/traces"
		return
	fi
	progress "routing quality: a recorded trace in virtual time"
	"$BUILD/tests/bench/route_trace" "$trace" >"$T/quality"
	awk '{ mean[$1, $2] = $3; p99[$1, $2] = $5; hit[$1, $2] = $6; most[$1, $2] = $7 }
	NR > 1 && !($1 in seen) { seen[$1]; names[++count] = $1 }
	END {
		split("1 1.5 2", speeds, " ")
		split("llm-d sglang aibrix least", peers, " ")
		for (s = 1; s <= 3; s++) {
			x = speeds[s]
			printf "trace, least-work over oracle, mean TTFT, load x%s\t%.3f\tx\t1\t<= 1.05\n", x, mean["least-work", x] / mean["oracle", x]
			printf "trace, least-work, most over mean requests, load x%s\t%.3f\tx\t1\t<= 1.5\n", x, most["least-work", x]
			for (p = 1; p <= 4; p++) {
				printf "trace, least-work over %s, mean TTFT, load x%s\t%.3f\tx\t1\t<= 1\n", peers[p], x, mean["least-work", x] / mean[peers[p], x]
				printf "trace, least-work over %s, p99 TTFT, load x%s\t%.3f\tx\t1\t<= 1\n", peers[p], x, p99["least-work", x] / p99[peers[p], x]
			}
			printf "trace, least-work, mean TTFT, load x%s\t%.3f\ts\t%.3f\t\n", x, mean["least-work", x], mean["oracle", x]
			printf "trace, least-work, p99 TTFT, load x%s\t%.3f\ts\t%.3f\t\n", x, p99["least-work", x], p99["oracle", x]
			printf "trace, least-work, hit share, load x%s\t%.3f\tshare\t%.3f\t\n", x, hit["least-work", x], hit["oracle", x]
		}
		for (n = 1; n <= count; n++)
			if (names[n] != "least-work" && names[n] != "oracle")
				printf "trace, %s, mean TTFT, load x1.5\t%.3f\ts\t%.3f\t\n", names[n], mean[names[n], 1.5], mean["oracle", 1.5]
	}' "$T/quality" >"$T/quality.rows"
	while IFS='|' read -r name value unit baseline target; do
		row "$name" "$value" "$unit" "$baseline" "$target"
	done < <(tr '\t' '|' <"$T/quality.rows")
	note "trace: 8 simulated engines, prompts hashed as HAProxy would; the baseline is a greedy oracle that sees every cache and queue"
	note "trace: llm-d, sglang and aibrix are our own readings of what these publish about their routing (tests/bench/peers.h), with metrics that are never late"
	note "trace: least-work-by-N is N agents that share nothing, each with every Nth request"
	note "trace: least-work-by-N-sharing-Lms is the same, but bindings and loads are told each 100 ms and heard L ms later"
}
