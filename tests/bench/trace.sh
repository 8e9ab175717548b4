# trace.sh - how well the library routes a recorded trace, in virtual time; sourced.
# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared among the parts

measure_trace() {
	if [ ! -r "$trace" ]; then
		note "routing quality is skipped: no $(basename "$trace") in $(basename "$shared")/traces"
		return
	fi
	progress "routing quality: a recorded trace in virtual time"
	"$BUILD/tests/bench/route_trace" "$trace" >"$T/quality"
	awk '$1 == "oracle" { oracle[$2] = $3 }
	$1 == "least-work" {
		printf "trace, least-work over oracle, mean TTFT, load x%s\t%.3f\tx\t1\t<= 1.05\n", $2, $8
		printf "trace, least-work, most over mean requests, load x%s\t%.3f\tx\t1\t<= 1.5\n", $2, $7
	}
	NR > 1 && $1 != "oracle" { printf "trace, %s, mean TTFT, load x%s\t%.3f\ts\t%.3f\t\n", $1, $2, $3, oracle[$2] }
	$1 == "least-work" {
		printf "trace, %s, p99 TTFT, load x%s\t%.3f\ts\t\t\n", $1, $2, $5
		printf "trace, %s, hit share, load x%s\t%.3f\tshare\t\t\n", $1, $2, $6
	}' "$T/quality" >"$T/quality.rows"
	while IFS='|' read -r name value unit baseline target; do
		row "$name" "$value" "$unit" "$baseline" "$target"
	done < <(tr '\t' '|' <"$T/quality.rows")
	note "trace: 8 simulated engines, prompts hashed as HAProxy would; the baseline is a greedy oracle that sees every cache and queue"
}
