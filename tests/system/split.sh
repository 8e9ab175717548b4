#!/bin/bash
# split.sh - two levels in two places: a HAProxy with an agent that chooses the cluster, above two HAProxys with agents that choose
# the engine, three engines each. Conversations stay where their prefix is; a lost cluster costs nothing once it is seen, and is
# used again when it is back; one that hangs behind a cut line holds up only whom it had, until the line is whole. Proves R004, R008.
. "$(dirname "$0")/lib.sh"
start_engines 6 --speed 50 --prefill-rate 1000000
for file in "$HERE"/../../haproxy/spoe*.cfg; do
	sed "s/timeout     processing .*/timeout     processing ${PROCESSING:-500ms}/" "$file" >"$T/${file##*/}"
done
echo "# model backend" >"$T/models.map"
echo '{"defaults": {"levels": "instance"}}' >"$T/upper.json"
echo '{"defaults": {"levels": "replica"}}' >"$T/lower.json"

# site NAME: its four ports in a row from PORTS[NAME]: HTTP, decisions, end lines, admin; its folder.
declare -A PORTS=()
PORTS[up]=$(free_ports 12)
PORTS[a]=$((PORTS[up] + 4))
PORTS[b]=$((PORTS[up] + 8))
start_site_haproxy() { # NAME [VARIABLE=VALUE...]
	local name=$1 base=${PORTS[$1]} kind=lower
	shift
	[ "$name" != up ] || kind=upper
	mkdir -p "$T/$name"
	env INFER_ETC="$T" INFER_RUN="$T/$name" INFER_BIND="127.0.0.1:$base" INFER_SPOP="127.0.0.1:$((base + 1))" \
		INFER_LOG="127.0.0.1:$((base + 2))" INFER_HTTP="127.0.0.1:$((base + 3))" INFER_SEED=7 "$@" \
		"$HAPROXY_PROGRAM" -db -f "$HERE/../../haproxy/split/$kind.cfg" >>"$T/haproxy-$name.log" 2>&1 &
	PIDS[haproxy-$name]=$!
	wait_for 10 "HAProxy $name" test -S "$T/$name/infer.sock"
	wait_for 10 "the port of HAProxy $name" tcp_open "$base"
}
start_site_agent() { # NAME
	local name=$1 base=${PORTS[$1]} kind=lower
	[ "$name" != up ] || kind=upper
	"$AGENT_PROGRAM" run --policy "$T/$kind.json" --haproxy "$T/$name/infer.sock" --spop "127.0.0.1:$((base + 1))" \
		--log-listen "127.0.0.1:$((base + 2))" --admin "127.0.0.1:$((base + 3))" --ready-file "$T/$name/ready" \
		>>"$T/agent-$name.log" 2>&1 &
	PIDS[agent-$name]=$!
	wait_for 10 "agent $name" test -s "$T/$name/ready"
	agent_is_seen() { [ "$(stat "$name" infer-agents agent 18)" = UP ]; }
	wait_for 10 "HAProxy $name to see its agent" agent_is_seen
}
stat() { # NAME BACKEND SERVER FIELD-NUMBER
	echo "show stat" | socat - "UNIX-CONNECT:$T/$1/infer.sock" | awk -F, -v b="$2" -v s="$3" -v f="$4" '$1 == b && $2 == s { print $f }'
}
start_cluster() { # NAME FIRST-ENGINE
	start_site_haproxy "$1" INFER_A0="127.0.0.1:$((ENGINE_PORT + $2))" INFER_A1="127.0.0.1:$((ENGINE_PORT + $2 + 1))" \
		INFER_A2="127.0.0.1:$((ENGINE_PORT + $2 + 2))"
}
start_cluster a 0
start_cluster b 3
start_site_agent a
start_site_agent b
start_site_haproxy up INFER_A0="127.0.0.1:${PORTS[a]}" INFER_B0="127.0.0.1:${PORTS[b]}"
start_site_agent up
cluster_is() { [ "$(stat up "svc-$1" low0 18)" = "$2" ]; }
number() { curl -sS --max-time 5 "http://127.0.0.1:$((PORTS[$1] + 3))/metrics" | awk -v n="inference_spoa_$2" '{ m = $1; sub(/[{].*/, "", m) } m == n { s += $NF } END { print s + 0 }'; }
knows() { [ "$(number "$1" instance_replicas_total)" != x ] && curl -sS --max-time 5 "http://127.0.0.1:$((PORTS[$1] + 3))/api/v1/replicas" | has '"up"'; }
for name in up a b; do wait_for 10 "agent $name to know its servers" knows "$name"; done
for name in a b; do wait_for 10 "cluster $name to be up" cluster_is "$name" UP; done

play() { # NAME COUNT PARALLEL
	"$PLAYER" conversations --to "127.0.0.1:${PORTS[up]}" --count "$2" --turns 3 --prompt-bytes 4200 --parallel "$3" --seed "${#1}" \
		--max-tokens 4 --stream --deadline 120 --expect-all-200 --output "$T/$1" 2>"$T/$1.log" || fail "$1: requests failed: $(cat "$T/$1.log")"
}
# The upper agent knows what its HAProxy knows.
upper_says() { # CLUSTER STATE
	curl -sS --max-time 5 "http://127.0.0.1:$((PORTS[up] + 3))/metrics" | grep "^inference_spoa_replica_state{instance=\"svc-$1\"" | has "state=\"$2\"} 1"
}
served() { stat up "svc-$1" low0 8; }
play first 60 1
for name in a b; do
	for server in a0 a1 a2; do
		[ "$(stat "$name" svc-a "$server" 8)" -gt 0 ] || fail "engine $server of cluster $name served nothing"
	done
done
kept=$(jq -s '
	(map(.turn) | min) as $f | (map(select(.turn == $f)) | map({key: (.conversation | tostring), value: .served}) | from_entries) as $home
	| map(select(.turn > $f)) | map(select(.served == $home[.conversation | tostring])) | length' "$T/first")
[ "$kept" = 120 ] || fail "$kept of 120 later turns stayed at the engine that holds the first"
say "both clusters serve ($(served a) and $(served b) requests), all three engines of each; 120 of 120 later turns kept their engine"

curl -sS --max-time 5 "http://127.0.0.1:${PORTS[a]}/metrics" | has '^inference_spoa_instance_inflight_requests{' ||
	fail "cluster a does not show its load to the upper agent"

stop haproxy-a
wait_for 10 "the upper HAProxy to see the loss" cluster_is a DOWN
wait_for 5 "the upper agent to see the loss" upper_says a down
before=$(served b)
play lost 20 4
[ "$(served b)" -ge $((before + 60)) ] || fail "svc-b served only $(($(served b) - before)) of 60"
say "without cluster a: 60 requests at b, none failed"

start_cluster a 0
wait_for 15 "the upper HAProxy to see cluster a again" cluster_is a UP
back() { ! upper_says a down; }
wait_for 5 "the upper agent to see cluster a again" back
before=$(served a)
play again-a 40 8
[ "$(served a)" -gt "$before" ] || fail "cluster a is back, and gets nothing"
are_back() { for name in up a b; do [ "$(number "$name" instance_inflight_requests)" = 0 ] || return 1; done; }
wait_for 5 "all slots to come back" are_back
say "cluster a is back: $(($(served a) - before)) of 120 requests"

# Both processes of cluster a stand still, as behind a line that swallows everything: connections are taken, nothing is answered.
"$PLAYER" requests --to "127.0.0.1:${PORTS[up]}" --count 200 --rate 25 --parallel 200 --body-bytes 2000 --max-tokens 4 --stream --deadline 60 \
	--expect-all-200 --output "$T/cut" 2>"$T/cut.log" &
PIDS[player]=$!
for name in haproxy-a agent-a; do kill -STOP "${PIDS[$name]}"; done
wait_for 15 "the upper HAProxy to see the cut" cluster_is a DOWN
wait_for 5 "the upper agent to see the cut" upper_says a down
before=$(served b)
play cut-off 20 4
[ "$(served b)" -ge $((before + 60)) ] || fail "svc-b served only $(($(served b) - before)) of 60"
jq -s -e 'map(.total_us) | max < 2000000' "$T/cut-off" >/dev/null || fail "a request waited for the cluster that is cut off"
for name in haproxy-a agent-a; do kill -CONT "${PIDS[$name]}"; done
wait_for 15 "the upper HAProxy to see cluster a again" cluster_is a UP
wait_for 5 "the upper agent to see cluster a again" back
wait "${PIDS[player]}" || fail "requests failed: $(cat "$T/cut.log")"
unset "PIDS[player]"
before=$(served a)
play whole 40 8
[ "$(served a)" -gt "$before" ] || fail "the line is whole, and cluster a gets nothing"
wait_for 5 "all slots to come back" are_back
say "cut off from cluster a: $(jq -s 'map(select(.total_us > 1000000)) | length' "$T/cut") of 200 requests waited for it, none failed; 60 at b meanwhile; then $(($(served a) - before)) of 120 at a"

# Its agent alone stands still: the page that is its load grows old, HAProxy there balances by itself.
kill -STOP "${PIDS[agent-a]}"
play blind 20 4
kill -CONT "${PIDS[agent-a]}"
say "without the agent of cluster a: 60 requests, none failed"
