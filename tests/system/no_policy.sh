#!/bin/bash
# no_policy.sh - two commands and no policy: what the generator writes the checker accepts and HAProxy serves; backends, servers,
# models and kinds of engines are found, and prompts are routed by the default recipe. Proves B047, B048.
. "$(dirname "$0")/lib.sh"
begun=$(now_ms)
start_engines 3 --prefill-rate 2000000 --speed 20
write_haproxy_config
version=$("$HAPROXY_PROGRAM" -v | sed -n 's/^HAProxy version \([0-9.]*\).*/\1/p')
say "HAProxy $version, folder $T"

say "what the generator writes, the checker accepts:"
"$AGENT_PROGRAM" check --haproxy-config "$T/haproxy.cfg" --haproxy-version "$version" >"$T/check.out" || fail "$(cat "$T/check.out")"
! grep -E ': (error|warning): ' "$T/check.out" | grep -v -E '\[(bufsize|version|scaling|spop-check)\]' || fail "warnings of its own text"
sed '/option http-no-delay/d; /option abortonclose/d' "$T/haproxy.cfg" >"$T/worse.cfg"
status=0
"$AGENT_PROGRAM" check --haproxy-config "$T/worse.cfg" --haproxy-version "$version" >"$T/worse.out" || status=$?
[ $status = 2 ] && grep -q '\[http-no-delay\]' "$T/worse.out" && grep -q '\[abortonclose\]' "$T/worse.out" ||
	fail "exit $status, a stream in bursts is no error: $(cat "$T/worse.out")"

start_haproxy
start_agent
"$PLAYER" requests --to "127.0.0.1:$HTTP_PORT" --count 1 --body-bytes 6000 --stream --expect-all-200 --deadline 20 --output "$T/first" 2>"$T/player.log"
jq -e '.served != ""' "$T/first" >/dev/null || fail "the first request was not served"
say "first request routed $(($(now_ms) - begun)) ms after the first command"

say "what is found without being told:"
show() { "$AGENT_PROGRAM" show "$1" --json --server "127.0.0.1:$ADMIN_PORT"; }
models_are_known() { [ "$(curl -sS "http://127.0.0.1:$HTTP_PORT/v1/models" | jq '.data | length')" -ge 1 ]; }
kinds_are_known() { [ "$(show engines | jq '[.. | objects | .kind? // empty] | length')" = 3 ]; }
wait_for 10 "the models" models_are_known
wait_for 10 "the kinds of engines" kinds_are_known
curl -sS "http://127.0.0.1:$HTTP_PORT/v1/models" | jq -c '[.data[].id]'
show engines | jq -c '[.. | objects | .kind? // empty] | unique'
show instances | jq -e '[.. | objects | .strategy? // empty] | index("least-work")' >/dev/null || fail "the default recipe is not least-work"

say "prompts are routed:"
"$PLAYER" conversations --to "127.0.0.1:$HTTP_PORT" --count 20 --turns 3 --prompt-bytes 6000 --parallel 1 --seed 2 --max-tokens 4 --stream \
	--deadline 60 --expect-all-200 --output "$T/played" 2>"$T/player.log"
grep '^loyal' "$T/player.log"
grep -q '^loyal share=1.000' "$T/player.log" || fail "a later turn left its holder"
wait_for 5 "all slots to come back" all_slots_are_back
say "ok"
