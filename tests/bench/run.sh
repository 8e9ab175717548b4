#!/bin/bash
# run.sh - measures what a decision, the agent and HAProxy with it cost, and how well it routes.
#
#   tests/bench/run.sh [--json FILE] [--markdown FILE] [--quick] [--peers] [--against COMMIT]
#     --json FILE      writes [{name, value, unit, baseline, target, met}, ...]; null is none
#     --markdown FILE  writes a page of the same numbers (docs/measured.md is made so)
#     --quick          one short repetition: shows that all works, says little
#     --peers          SGLang's router beside us even where its kit is absent (pip installs it)
#     --against COMMIT the agent of that commit too, built below build/: is ours dearer by more than a tenth?
#   REPEAT, SECONDS_EACH       repetitions (3) and seconds (3) of each load
#   HAPROXY_PROGRAM, HAPROXY3  the HAProxy to use, and a 3.x to load beside it
#   INFERENCE_SPOA_SHARED      folder with traces/ and bench/, by default "shared" beside the project
#
# Prints a table; progress goes to standard error. CPU is user + system of a process from /proc, of
# all its threads, in grains of 10 ms, and the least of the repetitions: what the machine's other
# work adds is no cost of ours. Everything compared is loaded in turn in one run, by the same load.
# Compare within one run: absolute numbers are of this machine and this hour.
# shellcheck disable=SC2034 # variables are read by the parts
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
json="" markdown="" peers="" quick="" against=""
while [ $# -gt 0 ]; do
	case $1 in
	--json) json=$2 && shift ;;
	--markdown) markdown=$2 && shift ;;
	--quick) quick=yes ;;
	--peers) peers=yes ;;
	--against) against=$2 && shift ;;
	*) sed -n '4,12s/^# \{0,1\}//p' "$0" && exit 2 ;;
	esac
	shift
done
repeat=${REPEAT:-${quick:+1}} repeat=${repeat:-3}
seconds=${SECONDS_EACH:-${quick:+1}} seconds=${seconds:-3}
shared=${INFERENCE_SPOA_SHARED:-$root/../shared}
trace=$shared/traces/mooncake-conversation.jsonl
began=$SECONDS

progress() { printf '%4d s  %s\n' $((SECONDS - began)) "$*" >&2; }

progress "packages and build"
"$root/tests/packages.sh" run >&2
cmake -S "$root" --preset default >/dev/null
built=$(cmake --build "$root/build/default" -j "$(nproc)" --target \
	inference-spoa engine_sim player decide large agent_load route_trace 2>&1) || { echo "$built" >&2 && exit 1; }

# shellcheck source=tests/system/lib.sh
. "$root/tests/system/lib.sh"
for part in rows cpu decisions agent store against reloads proxies peer trace; do
	# shellcheck source=/dev/null
	. "$here/$part.sh"
done

rows_begin
measure_decisions
proxies_start
peer_start
measure_costs
measure_latency
measure_stream
measure_idle
measure_agent
measure_store
measure_start
measure_against "$against"
measure_reloads
measure_trace
rows_table
[ -z "$json" ] || rows_json >"$json"
[ -z "$markdown" ] || rows_markdown >"$markdown"
progress "done"
