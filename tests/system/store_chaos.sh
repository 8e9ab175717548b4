#!/bin/bash
# store_chaos.sh - 300 requests/s through three pairs while their store is killed, frozen, filled, emptied, demoted, locked and slow:
# no request fails or waits, decisions take what they took before, each fault has its metric and its log line, and afterwards the
# counts are 0 and the agents agree again. Proves R081, R086, R126, P019, P104.
#
#   CHAOS_SECONDS  goes on with the faults, round and round, for so long: then memory must be flat, too
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/pairs.sh"
RATE=${CHAOS_RATE:-100} # of each pair
start_engines 4 --speed 100 --prefill-rate 1000000 --max-running 256
start_store
# Small tables: pages of large ones count only once they are used, and look like a leak until all are.
echo '{"defaults": {"prefix": {"max-records": 16384}, "max-inflight": 1024}}' >"$FOLDER/policy.json"
start_pairs 3 --policy "$FOLDER/policy.json" --redis "redis://127.0.0.1:$STORE_PORT/0"
linked() { [ "$(metric store_up)" = 1 ] && [ "$(metric store_peers)" = $((PAIRS - 1)) ]; }
wait_for 10 "all agents to know each other" everywhere linked

log_lines() { cat "$FOLDER"/[123]/agent.log | grep -c -E "$1" || true; }
counted() { # LABEL: commands that ended so and links lost so, of all agents
	local pair
	for pair in 1 2 3; do
		at $pair metric store_ops_total "result=\"$1\""
		at $pair metric store_faults_total "fault=\"$1\""
	done | awk '{ n += $1 } END { print n + 0 }'
}
# The histogram of decisions of all agents, cumulative: "LE COUNT" lines.
decisions() {
	local pair
	for pair in 1 2 3; do at $pair metrics; done |
		awk '/^inference_spoa_decision_duration_seconds_bucket/ { le = $0; sub(/.*le="/, "", le); sub(/".*/, "", le); n[le] += $NF }
			END { for (le in n) print (le == "+Inf" ? 1 : le), n[le] }' | sort -g
}
# p99 BEFORE AFTER: of the decisions between two looks, in us; between two bounds it is taken as even.
p99() {
	paste "$1" "$2" | awk '{ le[NR] = $1; n[NR] = $4 - $2 } END { want = 0.99 * n[NR]
		for (i = 1; i <= NR; i++) if (n[i] >= want) {
			low = i > 1 ? le[i - 1] : 0; below = i > 1 ? n[i - 1] : 0
			printf "%.0f", 1e6 * (low + (le[i] - low) * (n[i] > below ? (want - below) / (n[i] - below) : 1)); exit } }'
}
decided() { awk 'END { print $2 }' "$1"; }

TOTAL=0 WORST=0
# phase NAME SECONDS FAULT UNDO: the fault comes with the load, and ends under it.
phase() {
	local name=$1 seconds=$2 fault=$3 undo=$4 pair status bad waited count=$((RATE * $2))
	decisions >"$FOLDER/before"
	for pair in 1 2 3; do
		"$PLAYER" requests --to "127.0.0.1:$((PORTS_OF[$pair]))" --count $count --rate "$RATE" --parallel 64 --body-bytes 6000 --same-prefix 4800 \
			--groups 100 --max-tokens 4 --stream --seed 5 --timeout 10 --deadline 60 --expect-all-200 --output "$FOLDER/played.$pair" \
			2>"$FOLDER/player.$pair.log" &
		PIDS[player$pair]=$!
	done
	sleep 0.5
	$fault
	sleep $((seconds - 2))
	$undo
	for pair in 1 2 3; do
		wait "${PIDS[player$pair]}" || fail "$name: requests failed: $(cat "$FOLDER/player.$pair.log")"
		unset "PIDS[player$pair]"
	done
	decisions >"$FOLDER/after"
	bad=$(cat "$FOLDER"/played.? | jq -s 'map(select(.status != 200)) | length')
	waited=$(cat "$FOLDER"/played.? | jq -s 'map(.total_us) | sort | .[length * 0.99 | floor]')
	P99=$(p99 "$FOLDER/before" "$FOLDER/after")
	DECIDED=$(($(decided "$FOLDER/after") - $(decided "$FOLDER/before")))
	TOTAL=$((TOTAL + 3 * count))
	say "$name: $bad of $((3 * count)) failed, $DECIDED decided, decision p99 $P99 us, answer p99 $((waited / 1000)) ms"
	[ "$bad" = 0 ] || fail "requests failed"
	# But for those that a machine with other work made HAProxy decide.
	[ "$DECIDED" -ge $((3 * count - 3 * count / 100)) ] || fail "only $DECIDED were decided"
	[ "$WORST" -ge "$P99" ] || WORST=$P99
}

declare -A COUNTED=()
# notice PATTERN-OF-THE-LOG LABEL...: how things are before the fault; noticed, with the same, is true if both said more since.
notice() {
	local label
	LINES_BEFORE=$(log_lines "$1")
	for label in "${@:2}"; do COUNTED[$label]=$(counted "$label"); done
}
noticed() {
	local label
	# A kind of line is written once in a while only.
	[ "$(log_lines "$1")" -gt "$LINES_BEFORE" ] || [ "${rounds:-0}" -gt 0 ] || return 1
	for label in "${@:2}"; do [ "$(counted "$label")" -le "${COUNTED[$label]}" ] || return 0; done
	return 1
}
# Who holds what, by each agent: a line of it is a replica and how many records are its.
holders() { at "$1" metrics | grep '^inference_spoa_replica_prefix_records'; }
alike() { [ "$(holders 1)" = "$(holders 2)" ] && [ "$(holders 2)" = "$(holders 3)" ]; }
told_it_all() { [ "$(metric store_queue_entries)" = 0 ]; }
forget_bindings() { "$AGENT_PROGRAM" flush prefix svc-a --server "unix:$T/admin.sock" >/dev/null; }
# faulty NAME SECONDS FAULT UNDO LOG-PATTERN RESULT-LABEL...
faulty() {
	local name=$1 seconds=$2 fault=$3 undo=$4
	shift 4
	notice "$@"
	phase "$name" "$seconds" "$fault" "$undo"
	wait_for 3 "log lines ($1) and counters (${*:2})" noticed "$@"
	# Agents that waited longest try again within a back-off of 10 s.
	wait_for 15 "all agents to be linked again after '$name'" everywhere linked
	wait_for 5 "the agents to agree on who holds what after '$name'" alike
}

nothing() { :; }
kill_store() { stop store KILL; }
freeze() { kill -STOP "${PIDS[store]}"; }
thaw() { kill -CONT "${PIDS[store]}"; }
fill() { store config set maxmemory 1 >/dev/null; }
unfill() { store config set maxmemory 0 >/dev/null; }
empty() { stop store KILL; start_store; }
demote() { store replicaof 127.0.0.1 1 >/dev/null; }
promote() { store replicaof no one >/dev/null; }
lock() { store config set requirepass secret >/dev/null; store -a secret --no-auth-warning client kill type normal skipme yes >/dev/null; }
unlock() { store -a secret --no-auth-warning config set requirepass '' >/dev/null; }
slow() {
	stop store KILL
	local behind
	behind=$(free_ports 1)
	STORE_PORT=$behind start_store # here alone
	python3 "$HERE/slow_store.py" "$STORE_PORT" "$behind" 0.5 2>>"$FOLDER/slow.log" &
	PIDS[slow]=$!
	# After so many faults a link may rest for ten seconds before it tries again.
	wait_for 15 "agent 1 to be linked through it" at 1 is_up
	SLOW_BEFORE=$(op_ms)
}
is_up() { [ "$(metric store_up)" = 1 ]; }
op_ms() { # the mean of the commands to tell, of the first agent, since it started
	at 1 metrics | awk '/^inference_spoa_store_op_duration_seconds_sum.*xadd/ { s += $NF } /^inference_spoa_store_op_duration_seconds_count.*xadd/ { n += $NF }
		END { print s + 0, n + 0 }'
}
fast() {
	SLOWEST=$(echo "$SLOW_BEFORE $(op_ms)" | awk '{ printf "%d", ($4 > $2) ? 1000 * ($3 - $1) / ($4 - $2) : 0 }')
	stop slow
	stop store KILL
	start_store
}

faults() {
	faulty killed 4 kill_store start_store 'store: away' closed reset
	faulty frozen 6 freeze thaw 'store: away \(silent' silent
	faulty full 4 fill unfill OOM oom
	faulty emptied 4 empty nothing 'store: away' closed reset
	faulty demoted 4 demote promote 'READONLY|replica' readonly not-primary
	faulty locked 4 lock unlock 'store: away \(auth' auth
	faulty slow 5 slow fast 'store: away' closed reset
	say "a command to the slow store took $SLOWEST ms"
	[ "$SLOWEST" -ge 400 ] || fail "nobody saw that the store is slow"
}
resident() { awk '/^VmRSS/ { print $2 }' "/proc/${PIDS[$1]}/status"; }
memory() { for process in agent1 agent2 agent3 store; do printf '%s %s KB, ' $process "$(resident $process)"; done; }

phase warm-up 2 nothing nothing
phase "without a fault" 5 nothing nothing
BASE=$P99 WORST=0
if [ "${CHAOS_SECONDS:-0}" -gt 0 ]; then
	until=$((SECONDS + CHAOS_SECONDS)) rounds=0
	# Tables of the last 65536 requests are full before we begin to look.
	for pair in 1 2 3; do
		at $pair eval '"$BUILD/tests/bench/agent_load" --spop "127.0.0.1:$SPOP_PORT" --log "127.0.0.1:$LOG_PORT" --engine-port "$ENGINE_PORT" \
			--requests 80000 --seconds 120' >>"$FOLDER/agent_load.log" || fail "agent_load: $(cat "$FOLDER/agent_load.log")"
	done
	wait_for 10 "all slots to come back" everywhere all_slots_are_back
	# At that rate more than half of what they bound is dropped untold, and what nobody tells nobody can agree on.
	wait_for 10 "all to be told" everywhere told_it_all
	everywhere forget_bindings
	while [ $SECONDS -lt $until ]; do
		faults
		rounds=$((rounds + 1))
		say "round $rounds, $TOTAL requests: $(memory)bindings $(for pair in 1 2 3; do at $pair metric replica_prefix_records; done | paste -sd ' ')"
		for process in agent1 agent2 agent3; do resident $process; done | tr '\n' ' ' >>"$FOLDER/resident"
		echo >>"$FOLDER/resident"
	done
	# What is there after the first third of the rounds does not grow by a fiftieth until the end.
	awk '{ for (i = 1; i <= 3; i++) kb[NR, i] = $i } END { first = int(NR / 3) + 1
		for (i = 1; i <= 3; i++) if (kb[NR, i] > 1.02 * kb[first, i]) exit 1 }' "$FOLDER/resident" || fail "memory grows: $(cat "$FOLDER/resident")"
else
	faults
fi

say "afterwards:"
phase "without a fault" 5 nothing nothing
BASE=$(((BASE + P99) / 2))
say "decision p99 $BASE us without faults, at most $WORST us with one"
# A bucket of the histogram is as wide as what is below it.
[ "$WORST" -le $((2 * BASE + 100)) ] || fail "decisions take longer while the store is at fault"
wait_for 5 "all slots to come back" everywhere all_slots_are_back
none_elsewhere() { [ "$(metric replica_peers_requests)" = 0 ]; }
wait_for 5 "all counts to be 0" everywhere none_elsewhere
wait_for 15 "the agents to agree on who holds what" alike
for pair in 1 2 3; do
	say "agent $pair: $(at $pair metric prefix_records) records, $(at $pair metric store_told_again_total) told again, $(at $pair metric store_dropped_total) dropped, $(at $pair metric loop_stalls_total) stalls; $(resident agent$pair) KB"
done
say "ok: $TOTAL requests, none failed"
