#!/bin/bash
# take_over.sh - two hosts with HAProxy and agent each behind one address of keepalived, with the file that docs/ has: one host is lost,
# the other has the address within seconds, the next turns reach who served the first, and the lost host's counts are gone; it comes
# back and takes nothing away. Proves B009.
#
# The hosts are network name spaces, so that nothing outside sees them. Needs root, ip and keepalived.
PATH=$PATH:/usr/sbin
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/pairs.sh"
[ "$(id -u)" = 0 ] || { say "take_over.sh: needs root, for name spaces"; exit 77; }
for program in ip keepalived; do command -v $program >/dev/null || { say "take_over.sh: $program is missing"; exit 77; }; done
NAME=infer$$ NET=10.231.7 SHARED=$NET.10 ENGINES=4
declare -A HOSTS=()
undo() { for host in "${HOSTS[@]}"; do ip netns del "$host"; done; }
host() { # LETTER: a name space
	ip netns add "$NAME-$1" 2>/dev/null || { say "no network name spaces here"; exit 77; }
	HOSTS[$1]=$NAME-$1
	on "$1" ip link set lo up
}
on() { # HOST COMMAND...
	local host=${HOSTS[$1]}
	shift
	ip netns exec "$host" "$@"
}

say "a network of three hosts, and one address:"
host lan
on lan ip link add bridge type bridge
on lan ip addr add $NET.1/24 dev bridge
on lan ip link set bridge up
for letter in a b; do
	host $letter
	on lan ip link add to-$letter type veth peer name eth0 netns "${HOSTS[$letter]}"
	on lan ip link set to-$letter master bridge up
	on $letter ip addr add $NET.1$([ $letter = a ] && echo 1 || echo 2)/24 dev eth0
	on $letter ip link set eth0 up
done

listen="" list=""
for ((i = 0; i < ENGINES; i++)); do listen+=" --listen $NET.1:$((8000 + i))" list+=,$NET.1:$((8000 + i)); done
# shellcheck disable=SC2086 # several words
ip netns exec "${HOSTS[lan]}" "$SIM" $listen --step-us 20000 --decode-us 0 --prefill-rate 1000000 --output-tokens 100000 \
	--ready-file "$T/engines.ready" >"$T/engines.log" 2>&1 &
PIDS[engines]=$!
wait_for 10 "the engines" test -s "$T/engines.ready"
ip netns exec "${HOSTS[lan]}" "$STORE_PROGRAM" --port 6379 --bind $NET.1 --protected-mode no --dir "$T" --save '' --appendonly no >"$T/store.log" 2>&1 &
PIDS[store]=$!

HTTP_PORT=8080 SPOP_PORT=9000 LOG_PORT=9514 ADMIN_PORT=9901
of() { # HOST COMMAND...: a function of lib.sh for the pair there
	local HOST=$1 PAIR=$1 T=$FOLDER/$1
	shift
	"$@"
}
metrics() { on "$HOST" curl -sS --max-time 5 "http://127.0.0.1:$ADMIN_PORT/metrics"; }
for letter in a b; do
	mkdir "$T/$letter"
	for file in "$HERE"/../../haproxy/spoe*.cfg; do sed 's/timeout     processing .*/timeout     processing 500ms/' "$file" >"$T/$letter/${file##*/}"; done
	echo "# model backend" >"$T/$letter/models.map"
	"$AGENT_PROGRAM" haproxy config --instance "svc-a=${list#,}" >"$T/$letter/haproxy.cfg"
	INFER_ETC=$T/$letter INFER_RUN=$T/$letter ip netns exec "${HOSTS[$letter]}" "$HAPROXY_PROGRAM" -db -f "$T/$letter/haproxy.cfg" >"$T/$letter/haproxy.log" 2>&1 &
	PIDS[haproxy$letter]=$!
	wait_for 10 "HAProxy" test -S "$T/$letter/infer.sock"
	ip netns exec "${HOSTS[$letter]}" "$AGENT_PROGRAM" run --haproxy "$T/$letter/infer.sock" --redis "redis://$NET.1:6379/0" >"$T/$letter/agent.out" 2>"$T/$letter/agent.log" &
	PIDS[agent$letter]=$!
	wait_for 10 "HAProxy to see the agent" of $letter agent_is_up
	wait_for 10 "the agent to know the servers" of $letter fleet_is_known
	# As the file says: its own addresses are the reader's.
	me=$NET.1$([ $letter = a ] && echo 1 || echo 2) other=$NET.1$([ $letter = a ] && echo 2 || echo 1)
	sed "s/10\.0\.0\.11/$me/; s/10\.0\.0\.12/$other/; s/10\.0\.0\.10/$SHARED/; s/router_id infer-a/router_id infer-$letter/
		s/priority 100/priority $([ $letter = a ] && echo 100 || echo 90)/" "$HERE/../../docs/keepalived.conf" >"$T/$letter/keepalived.conf"
done
has_it() { on "$1" ip -br addr show dev eth0 | has "$SHARED/"; }
for letter in a b; do
	# Another host's name space, in which it may write its process numbers.
	ip netns exec "${HOSTS[$letter]}" keepalived --dont-fork --log-console --use-file "$T/$letter/keepalived.conf" --pid="$T/$letter/keepalived.pid" \
		--vrrp_pid="$T/$letter/vrrp.pid" --checkers_pid="$T/$letter/checkers.pid" >"$T/$letter/keepalived.log" 2>&1 &
	PIDS[keepalived$letter]=$!
	[ $letter = b ] || wait_for 20 "a to have the address" has_it a
done
! has_it b || fail "both have it"
know_each_other() { [ "$(of a metric store_peers)" = 1 ] && [ "$(of b metric store_peers)" = 1 ]; }
wait_for 10 "the agents to know each other" know_each_other

turn() { # CONVERSATION TURN: the port of the engine that served
	local messages i
	messages="{\"role\":\"user\",\"content\":\"$1 $(printf '%020000d' "$1")\"}"
	for ((i = 2; i <= $2; i++)); do messages+=",{\"role\":\"assistant\",\"content\":\"aha\"},{\"role\":\"user\",\"content\":\"and $i?\"}"; done
	on lan curl -sS --max-time 10 -o /dev/null -D - -H content-type:application/json "http://$SHARED:8080/v1/chat/completions" \
		-d "{\"model\":\"sim\",\"stream\":true,\"max_tokens\":2,\"messages\":[$messages]}" | tr -d '\r' | awk 'tolower($1) == "x-sim-engine:" { print $2 }'
}
declare -A HOME_OF=()
for c in $(seq 8); do
	HOME_OF[$c]=$(turn "$c" 1)
	[ -n "${HOME_OF[$c]}" ] || fail "turn 1 of $c was not served"
done
ip netns exec "${HOSTS[lan]}" "$PLAYER" requests --to "$SHARED:8080" --stream --timeout 60 --deadline 60 --count 6 --parallel 6 --max-tokens 10000 --output "$T/streams" 2>"$T/player.log" &
PIDS[streams]=$!
own() { of "$1" metric replica_inflight_requests; }
others() { of "$1" metric replica_peers_requests; }
open_at_a() { [ "$(own a)" = 6 ] && [ "$(others b)" = 6 ]; }
wait_for 10 "6 streams through a, known to b" open_at_a

say "a is cut off:"
on lan ip link set to-a down
cut=$(now_ms)
answers_there() { on lan curl -s --max-time 0.5 -o /dev/null "http://$SHARED:8080/v1/models"; }
wait_for 20 "b to have the address" has_it b
wait_for 20 "b to answer there" answers_there
took=$(($(now_ms) - cut))
for c in $(seq 8); do
	[ "$(turn "$c" 2)" = "${HOME_OF[$c]}" ] || fail "turn 2 of conversation $c left its replica"
done
none() { [ "$(others b)" = 0 ]; }
wait_for 10 "a's counts to be gone" none
say "b serves after $took ms; 8 of 8 second turns reached the first one's replica; a's 6 streams count no more"
[ $took -le 10000 ] || fail "it took too long"

say "a is back:"
on lan ip link set to-a up
wait_for 20 "the agents to know each other again" know_each_other
sleep 3 # advertisements
has_it b && ! has_it a || fail "the address moved back"
for c in $(seq 8); do
	[ "$(turn "$c" 3)" = "${HOME_OF[$c]}" ] || fail "turn 3 of conversation $c left its replica"
done

say "b's HAProxy ends:"
stop haproxyb
wait_for 20 "a to have the address" has_it a
wait_for 20 "a to answer there" answers_there
for c in $(seq 8); do
	[ "$(turn "$c" 4)" = "${HOME_OF[$c]}" ] || fail "turn 4 of conversation $c left its replica"
done
say "ok"
