#!/bin/bash
# sessions.sh - sessions on a real HAProxy: requests of one key at once go together, an id names who served, a forged one leads
# nowhere else, a dead engine's session moves once and stays. Proves R160, R161, R162, R163, B019, B020, B045.
. "$(dirname "$0")/lib.sh"
ENGINES=4
ENGINE_PORT=$(free_ports $ENGINES)
start_engine() { # NUMBER
	rm -f "$T/engine.$1.ready"
	"$SIM" --port-base $((ENGINE_PORT + $1)) --engines 1 --speed 20 --prefill-rate 1000000 --max-running 256 --output-tokens 4 \
		--ready-file "$T/engine.$1.ready" >>"$T/engine.$1.log" 2>&1 &
	PIDS[engine$1]=$!
	wait_for 10 "engine $1" test -s "$T/engine.$1.ready"
}
for i in 0 1 2 3; do start_engine $i; done
# Steering headers are believed of 127.0.0.2 only.
HAPROXY_EDIT='s/acl infer_trusted .*/acl infer_trusted src 127.0.0.2/'
echo '{"defaults": {"strategy": "session-affinity"}}' >"$T/policy.json"
write_haproxy_config
start_haproxy # shellcheck disable=SC2119
start_agent --policy "$T/policy.json"
say "HAProxy $("$HAPROXY_PROGRAM" -v | sed -n 's/^HAProxy version \([^ ]*\).*/\1/p'), $ENGINES engines, folder $T"

is_up() { [ "$(haproxy_stat svc-a "$1" 18)" = UP ]; }

# ask [curl options]: sets STATUS, ENGINE (the number of who served) and ID (its x-session-id).
ask() {
	local port
	curl -sS --max-time 20 -o /dev/null -D "$T/headers" -H 'content-type: application/json' \
		-d '{"model":"sim","stream":true,"max_tokens":4,"messages":[{"role":"user","content":"hello"}]}' \
		"$@" "http://127.0.0.1:$HTTP_PORT/v1/chat/completions"
	STATUS=$(awk 'NR == 1 { print $2 }' "$T/headers")
	port=$(tr -d '\r' <"$T/headers" | awk 'tolower($1) == "x-sim-engine:" { print $2 }')
	ID=$(tr -d '\r' <"$T/headers" | awk 'tolower($1) == "x-session-id:" { print $2 }')
	[ "$STATUS" = 200 ] || fail "status $STATUS for $*"
	ENGINE=$((port - ENGINE_PORT))
	[ "$(base64 -d <<<"$ID")" = "127.0.0.1:$port" ] || fail "the id is $ID, but 127.0.0.1:$port served"
}

say "100 first requests at once with one key:"
"$PLAYER" requests --to "127.0.0.1:$HTTP_PORT" --count 100 --parallel 100 --body-bytes 200 --max-tokens 4 --stream \
	--header x-aibrix-session-key:crowd --expect-all-200 --output "$T/played" 2>"$T/player.log" || fail "player: $(cat "$T/player.log")"
jq -r .served "$T/played" | sort | uniq -c | tr -s ' \n' ' '
echo
[ "$(jq -r .served "$T/played" | sort -u | wc -l)" = 1 ] || fail "they did not stay together"

say "an id leads back to who gave it:"
ask
home=$ENGINE id=$ID
for _ in 1 2 3 4 5; do
	ask -H "x-session-id: $id"
	[ "$ENGINE $ID" = "$home $id" ] || fail "served by $ENGINE, not $home"
done
say "engine $home, $id"

say "a forged id leads nowhere else:"
long=$(head -c 10000 /dev/zero | tr '\0' A)
for id in MTI3LjAuMC4xOjIy '%00' '====' 0000000000000000 "$(printf '127.0.0.1:%s' "$LOG_PORT" | base64)" '127.0.0.1:22' "$long"; do
	ask -H "x-session-id: $id"
done
[ "$(metric session_lookups_total '"unnamed"')" = 3 ] || fail "$(metric session_lookups_total '"unnamed"') ids of nobody, not 3"

say "a client that tries again gets another, and a trusted one says whom it does not want:"
ask -H 'x-infer-session: me'
home=$ENGINE
ask -H 'x-infer-session: me' -H 'x-stainless-retry-count: 1'
[ "$ENGINE" != "$home" ] || fail "the retry went to $home again"
home=$ENGINE # there the session is now
ask -H 'x-infer-session: me' -H "x-infer-exclude: r$home"
[ "$ENGINE" = "$home" ] || fail "a stranger's x-infer-exclude was believed"
ask --interface 127.0.0.2 -H 'x-infer-session: you' -H "x-infer-exclude: r0, r2,127.0.0.1:$((ENGINE_PORT + 3))"
[ "$ENGINE" = 1 ] || fail "served by the excluded $ENGINE"

say "an engine dies: its session moves once, and stays:"
ask -H 'session_id: mover'
home=$ENGINE
moves=$(metric session_moves_total)
stop "engine$home" KILL
ask -H 'session_id: mover'
next=$ENGINE
[ "$next" != "$home" ] || fail "the dead engine served"
for _ in 1 2 3 4 5; do
	ask -H 'session_id: mover'
	[ "$ENGINE" = "$next" ] || fail "it moved again, to $ENGINE"
done
start_engine "$home"
wait_for 10 "the engine to be up again" is_up "r$home"
for _ in 1 2 3; do
	ask -H 'session_id: mover'
	[ "$ENGINE" = "$next" ] || fail "it moved back, to $ENGINE"
done
[ "$(metric session_moves_total)" = $((moves + 1)) ] || fail "moved $(($(metric session_moves_total) - moves)) times"
say "from $home to $next"

"$AGENT_PROGRAM" show sessions --server "127.0.0.1:$ADMIN_PORT" | tee "$T/shown" | sed -n 1,4p
grep -q '^7 of 100000 sessions pinned' "$T/shown" || fail "shown: $(cat "$T/shown")"
wait_for 5 "all slots to come back" all_slots_are_back
say "ok"
