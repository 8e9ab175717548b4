# decisions.sh - the library alone: what a decision costs; sourced.
# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared among the parts

measure_decisions() {
	progress "decisions of the library alone, by replicas and index entries"
	while IFS=$'\t' read -r name value unit target; do
		row "$name" "$value" "$unit" "" "${target:+<= $target}"
	done < <("$BUILD/tests/bench/decide" && "$BUILD/tests/bench/large")
}
