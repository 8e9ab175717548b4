#!/bin/bash
# shared.sh - three pairs of HAProxy and agent over one real store: the next turn of a conversation through any of them reaches who
# served the first, each sees the work of all, a limit, a session and an ejection are everybody's, a killed pair's counts are gone
# after 3 s, and an agent that starts knows what the others know. Proves R050, R054, R055, P058, B009, B022, B043.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/pairs.sh"
# The tenant is named by a header, as a map of credentials would.
HAPROXY_EDIT='s/set-var(txn.infer_tenant) "req.fhdr(authorization),xxh64(${INFER_SEED})"/set-var(txn.infer_tenant) req.fhdr(x-tenant)/
/set-var(txn.infer_tenant) "req.fhdr(x-api-key)/d'
start_engines 4 --step-us 20000 --decode-us 0 --prefill-rate 1000000 --output-tokens 100000 --max-running 256
# As docs/ has it, with the rights that it gives an agent; we ask as the default user.
STORE_CONFIG=$FOLDER/store.conf
sed '/^user default/d' "$HERE/../../docs/store.conf" >"$STORE_CONFIG"
start_store
echo '{"defaults": {"health": {"ejection-time": "4s", "probe-interval": "400ms", "ramp": "1s", "ramp-restored": "1s"}}, "tenants": {
	"tries": {"limits": {"requests": "1/d", "requests-burst": 60}},
	"six":   {"limits": {"max-inflight": 6}}}}' >"$FOLDER/policy.json"
URL=redis://infer:change-me@127.0.0.1:$STORE_PORT/0
start_pairs 3 --policy "$FOLDER/policy.json" --redis "$URL"
linked() { [ "$(metric store_up)" = 1 ] && [ "$(metric store_peers)" = $((PAIRS - 1)) ]; }
wait_for 10 "all agents to know each other" everywhere linked

# by_replica METRIC: "r0 N r1 N ..." of this pair's page.
by_replica() {
	metrics | awk -v name="inference_spoa_$1{" 'index($0, name) == 1 { r = $0; sub(/.*replica="/, "", r); sub(/".*/, "", r); n[r] += $NF }
		END { for (i = 0; ("r" i) in n; i++) printf "r%d %d ", i, n["r" i] }'
}
# own, others SUM of all replicas of one page in one look: "OWN SEEN"
own_and_seen() {
	metrics | awk '/^inference_spoa_replica_inflight_requests[{]/ { own += $NF } /^inference_spoa_replica_peers_requests[{]/ { others += $NF }
		END { print own + 0, own + others + 0 }'
}
sees() { [ "$(own_and_seen | cut -d' ' -f2)" = "$1" ]; }
has() { [ "$(own_and_seen | cut -d' ' -f1)" = "$1" ]; }
ms_until() { # MOST-SECONDS WHAT COMMAND...: how long it took, in TOOK
	local begun
	begun=$(now_ms)
	wait_for "$@"
	TOOK=$(($(now_ms) - begun))
}
streams() { # PAIR NAME COUNT [player options]: open until stopped
	local pair=$1 name=$2 count=$3
	shift 3
	"$PLAYER" requests --to "127.0.0.1:$((PORTS_OF[$pair]))" --stream --timeout 100 --deadline 100 --count "$count" --parallel "$count" \
		--max-tokens 10000 --body-bytes 2000 --seed $((pair * 1000 + count)) --output "$FOLDER/$name.out" "$@" 2>>"$FOLDER/player.log" &
	PIDS[$name]=$!
}

say "conversations: 12, each turn through another pair:"
# turn CONVERSATION TURN: the port of the engine that served; the prompt has all turns before it.
turn() {
	local messages i
	messages="{\"role\":\"user\",\"content\":\"$1 $(printf '%020000d' "$1")\"}"
	for ((i = 2; i <= $2; i++)); do messages+=",{\"role\":\"assistant\",\"content\":\"aha\"},{\"role\":\"user\",\"content\":\"and $i?\"}"; done
	curl -sS --max-time 10 -o /dev/null -D - -H content-type:application/json "http://127.0.0.1:$HTTP_PORT/v1/chat/completions" \
		-d "{\"model\":\"sim\",\"stream\":true,\"max_tokens\":2,\"messages\":[$messages]}" | tr -d '\r' | awk 'tolower($1) == "x-sim-engine:" { print $2 }'
}
turns() { # TURN: of all conversations, through the pair after the one before
	local c
	local players=()
	for c in $(seq 12); do
		at $(((c + $1) % 3 + 1)) turn "$c" "$1" >"$FOLDER/turn.$1.$c" &
		players+=($!)
	done
	wait "${players[@]}"
}
turns 1
sleep 1 # so long it may take
turns 2
turns 3
for c in $(seq 12); do
	home=$(cat "$FOLDER/turn.1.$c")
	[ -n "$home" ] || fail "the first turn of $c was not served"
	for i in 2 3; do [ "$(cat "$FOLDER/turn.$i.$c")" = "$home" ] || fail "turn $i of conversation $c went to $(cat "$FOLDER/turn.$i.$c"), not to $home"; done
done
wait_for 5 "all slots to come back" everywhere all_slots_are_back
records() { metric prefix_records; }
before=$(at 2 records)
at 1 turn 99 1 >/dev/null
more() { [ "$(records)" -gt "$before" ]; }
ms_until 5 "a binding to be known elsewhere" at 2 more
say "24 of 24 reached the first turn's replica; a binding is known elsewhere after $TOOK ms"
[ "$TOOK" -le 1000 ] || fail "later than a second"

say "an agent that starts:"
stop agent3
at 3 start_agent --policy "$FOLDER/policy.json" --redis "$URL"
knows_all() { [ "$(records)" = "$(at 2 records)" ]; }
ms_until 5 "the new agent to know all bindings" at 3 knows_all
for c in 1 5 9; do
	[ "$(at 3 turn "$c" 4)" = "$(cat "$FOLDER/turn.1.$c")" ] || fail "turn 4 of conversation $c left its replica"
done
say "knows $(at 3 records) records $TOOK ms after it was ready"
wait_for 10 "all agents to know each other" everywhere linked
wait_for 5 "nothing to be open" everywhere sees 0

say "counts, under load through all three:"
load() { # PAIR
	"$PLAYER" requests --to "127.0.0.1:$((PORTS_OF[$1]))" --count 100000 --rate 25 --parallel 64 --body-bytes 2000 --max-tokens 20 --stream \
		--seed "$1" --timeout 20 --deadline 60 --expect-all-200 --output "$FOLDER/load.$1" 2>"$FOLDER/load.$1.log" &
	PIDS[load$1]=$!
}
for pair in 1 2 3; do load $pair; done
is_busy() { [ "$(own_and_seen | cut -d' ' -f1)" -ge 3 ]; }
wait_for 10 "all three to be busy" everywhere is_busy
: >"$FOLDER/samples"
until=$(($(now_ms) + 5000))
while [ "$(now_ms)" -lt "$until" ]; do
	echo "$(now_ms) $(at 1 own_and_seen) $(at 2 own_and_seen) $(at 3 own_and_seen)" >>"$FOLDER/samples"
done
for pair in 1 2 3; do
	kill -USR1 "${PIDS[load$pair]}"
	wait "${PIDS[load$pair]}" || fail "player $pair: $(cat "$FOLDER/load.$pair.log")"
	unset "PIDS[load$pair]"
done
# What each saw must be a sum that there was within a second before it.
awk '{ at[NR] = $1; sum[NR] = $2 + $4 + $6; for (i = 1; i <= 3; i++) seen[NR, i] = $(2 * i + 1) }
	END { for (n = 1; n <= NR; n++) {
			if (at[n] - at[1] < 1000) continue
			low = high = sum[n]
			for (m = n; m > 0 && at[n] - at[m] <= 1000; m--) { if (sum[m] < low) low = sum[m]; if (sum[m] > high) high = sum[m] }
			for (i = 1; i <= 3; i++) { all++; if (seen[n, i] >= low - 1 && seen[n, i] <= high + 1) good++ } }
		printf "%d of %d looks saw a sum of the second before, give or take 1\n", good, all; exit !(all >= 30 && good * 10 >= all * 9) }' \
	"$FOLDER/samples" || fail "what is seen and what is open differ: $(cat "$FOLDER/samples")"
wait_for 5 "nothing to be open" everywhere sees 0
streams 1 open1 20
streams 2 open2 15
streams 3 open3 10
wait_for 5 "the streams to be open" at 1 has 20
wait_for 5 "the streams to be open" at 2 has 15
wait_for 5 "the streams to be open" at 3 has 10
ms_until 5 "each to see 45" everywhere sees 45
[ "$TOOK" -le 1000 ] || fail "$TOOK ms until each saw all 45"
say "45 streams through three pairs are 45 for each after $TOOK ms"
for i in 1 2 3; do stop "open$i"; done
wait_for 5 "nothing to be open" everywhere sees 0

say "a pair with 20 streams on one replica:"
streams 1 crowd 20 --header x-infer-exclude:r0,r2,r3
wait_for 5 "the streams to be open" at 1 has 20
ms_until 5 "each to see them" everywhere sees 20
[ "$TOOK" -le 1200 ] || fail "seen after $TOOK ms"
sees_at() { by_replica replica_peers_requests; }
[ "$(at 2 sees_at)" = "r0 0 r1 20 r2 0 r3 0 " ] || fail "seen: $(at 2 sees_at)"
for _ in $(seq 10); do
	at 2 expect "200 svc-a r[023] *"
	at 3 expect "200 svc-a r[023] *" routing-strategy:least-request
done
stop agent1 KILL
killed=$(now_ms)
stop haproxy1 KILL
wait "${PIDS[crowd]}" || true # its streams are cut
unset "PIDS[crowd]"
wait_for 10 "the killed pair's counts to be gone" everywhere sees 0
gone=$(($(now_ms) - killed))
say "seen after $TOOK ms and avoided, killed with its counts, gone after $gone ms"
[ $gone -le 3500 ] || fail "later than 3 s"
at 1 start_haproxy
at 1 start_agent --policy "$FOLDER/policy.json" --redis "$URL"
wait_for 10 "all agents to know each other" everywhere linked

say "limits: 60 requests of one tenant, by three at once:"
for pair in 1 2 3; do
	"$PLAYER" requests --to "127.0.0.1:$((PORTS_OF[$pair]))" --stream --timeout 20 --count 50 --rate 20 --parallel 50 --max-tokens 2 \
		--header x-tenant:tries --output "$FOLDER/tries.$pair" 2>>"$FOLDER/player.log" &
	PIDS[tries$pair]=$!
done
for pair in 1 2 3; do
	wait "${PIDS[tries$pair]}" || true
	unset "PIDS[tries$pair]"
done
passed=$(cat "$FOLDER"/tries.? | jq -s 'map(select(.status == 200)) | length')
refused=$(cat "$FOLDER"/tries.? | jq -s 'map(select(.status == 429)) | length')
[ $((passed + refused)) = 150 ] || fail "$passed passed and $refused were refused of 150"
# What comes in within a second at the two others: 2/3 of 60/s.
[ "$passed" -ge 60 ] && [ "$passed" -le 100 ] || fail "$passed passed of a budget of 60"
for pair in 1 2 3; do at $pair expect "429 - - limit" x-tenant:tries; done
for pair in 1 2 3; do streams $pair six$pair 2 --header x-tenant:six; done
wait_for 5 "each to see 6" everywhere sees 6
for pair in 1 2 3; do at $pair expect "429 - - limit" x-tenant:six; done
stop six2
wait_for 5 "each to see 4" everywhere sees 4
at 1 expect "200 svc-a *" x-tenant:six
at 3 expect "200 svc-a *" x-tenant:six
stop six1
stop six3
say "$passed passed, then none anywhere; 6 at a time through three are 6"

say "sessions: pinned through one pair, found through the others:"
for key in a b c d; do
	home=$(at 1 asked "x-infer-session: $key" routing-strategy:session-affinity | cut -d' ' -f3)
	# From there on not where the key alone would lead.
	pinned=$(at 1 asked "x-infer-session: $key" routing-strategy:session-affinity "x-infer-exclude: $home" | cut -d' ' -f3)
	[ "$pinned" != "$home" ] || fail "session $key stayed at $home, which was excluded"
	follows() { [ "$(asked "x-infer-session: $key" routing-strategy:session-affinity | cut -d' ' -f3)" = "$pinned" ]; }
	for pair in 2 3; do wait_for 5 "session $key to be at $pinned through pair $pair" at $pair follows; done
done
say "four of four"

say "ejection, by the failures that one pair saw:"
fault() { curl -sSf --max-time 5 -o /dev/null -d "{\"fault\":\"$2\"}" "http://127.0.0.1:$((ENGINE_PORT + $1))/sim/fault"; }
is() { [ "$(metric replica_state "replica=\"$1\",state=\"$2\"")" = 1 ]; }
fault 3 500
"$PLAYER" requests --to "127.0.0.1:$((PORTS_OF[1]))" --stream --timeout 20 --deadline 60 --count 100000 --rate 100 --parallel 64 --max-tokens 2 --body-bytes 1500 --header routing-strategy:random \
	--expect-all-200 --output "$FOLDER/failing" 2>"$FOLDER/failing.log" &
PIDS[failing]=$!
wait_for 20 "r3 to be ejected" at 1 is r3 ejected
ms_until 5 "r3 to be ejected everywhere" everywhere is r3 ejected
kill -USR1 "${PIDS[failing]}"
wait "${PIDS[failing]}" || fail "a failure was not retried elsewhere: $(cat "$FOLDER/failing.log")"
unset "PIDS[failing]"
for pair in 2 3; do [ "$(at $pair metric ejections_total 'cause="peer"')" = 1 ] || fail "$(at $pair metrics | grep ejections_total)"; done
for _ in $(seq 12); do at 2 expect "200 svc-a r[012] *"; done
fault 3 none
is_back() { asked >/dev/null && { is r3 up || is r3 ramp; }; } # it is tried by a request
wait_for 20 "r3 to be back everywhere" everywhere is_back
say "out everywhere $TOOK ms after it was there, and back"

say "in the store:"
wait_for 5 "all slots to come back" everywhere all_slots_are_back
[ "$(store info commandstats | grep -c -E 'cmdstat_(eval|evalsha|fcall|script)')" = 0 ] || fail "scripts were run"
for key in $(store --raw keys '*'); do
	[ "$(store pttl "$key")" -gt 0 ] || fail "$key never expires"
	say "$key: $(store xlen "$key") entries, $(store memory usage "$key") bytes, expires in $(($(store pttl "$key") / 1000)) s"
done
nothing_dropped() { [ "$(metric store_dropped_total)" = 0 ]; }
everywhere nothing_dropped || fail "something was dropped"
say "ok"
