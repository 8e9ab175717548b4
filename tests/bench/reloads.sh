# reloads.sh - a policy of 50 models, 200 instances and 2000 replicas is swapped while 500 requests a second go on; sourced.
# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared among the parts

play_rate() { # OUTPUT
	"$PLAYER" requests --to "127.0.0.1:${PORT[ours]}" --rate 500 --count 2500 --parallel 256 --body-bytes 2000 --max-tokens 1 --seed 5 \
		--expect-all-200 --deadline 60 --output "$1" 2>"$T/played" || fail "player: $(cat "$T/played")"
}
p99_ms() { jq -s 'map(.total_us) | sort | .[length * 0.99 | floor] / 1000' "$1"; }

measure_reloads() {
	local i
	declare -A RELOADS=()
	"$BUILD/tests/bench/large" --print >"$T/large.json"
	run_agent "$AGENT_PROGRAM" --policy "$T/large.json"
	for ((i = 0; i < repeat; i++)); do
		play_rate "$T/calm"
		least RELOADS calm "$(p99_ms "$T/calm")"
		play_rate "$T/swapped" &
		PIDS[rate]=$!
		while kill -0 "${PIDS[rate]}" 2>/dev/null; do
			kill -HUP "${PIDS[agent]}"
			sleep 0.5
		done
		wait "${PIDS[rate]}" || fail "requests failed while the policy was swapped"
		unset "PIDS[rate]"
		least RELOADS swapped "$(p99_ms "$T/swapped")"
	done
	row "2500 requests at 500/s, a policy of 200 instances swapped twice a second, p99" "${RELOADS[swapped]}" ms "${RELOADS[calm]}"
	note "reloads: the baseline is the same load without them; no request of either failed"
}
