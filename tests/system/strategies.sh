#!/bin/bash
# strategies.sh - every strategy there is, asked for by header through real HAProxy: requests are served, the decision record says
# that it was really used and of what it is made, and the client sees the name it asked for. Then a string, an unknown name, a
# locked policy and the profile of a model. Proves R130, R133, R134, R167, B030.
. "$(dirname "$0")/lib.sh"
start_engines 4 --speed 50 --prefill-rate 1000000
echo '{"models": {"sim": {"profile": {"strategy": "predicted-ttft"}}}}' >"$T/policy.json"
start_haproxy
start_agent --policy "$T/policy.json" --log-decisions all
explained() { "$AGENT_PROGRAM" explain --server "127.0.0.1:$ADMIN_PORT" --id "$1" --json; }
header() { tr -d '\r' <"$T/head" | awk -v name="$1:" 'tolower($1) == name { $1 = ""; sub(/^ /, ""); print }'; }
# Pages of all engines have been read, so that strategies that need them have something.
pages_are_read() { [ "$(metrics | grep -c 'replica_engine_running_requests{')" -ge 4 ]; }
wait_for 10 "the engines' pages" pages_are_read

# A prompt of some length and its own start, so that it has blocks; three requests each.
body() { printf '{"model":"sim","max_tokens":2,"messages":[{"role":"user","content":"%06000d"}]}' "$1"; }
ask() { # STRATEGY NUMBER
	curl -sS --max-time 10 -o "$T/body" -D "$T/head" -w '%{http_code}' -H content-type:application/json -H "x-infer-debug: 1" \
		${1:+-H "routing-strategy: $1"} "http://127.0.0.1:$HTTP_PORT/v1/chat/completions" -d "$(body "$2")"
}

count=0
while read -r name; do
	count=$((count + 1))
	for i in 1 2 3; do
		status=$(ask "$name" $((count * 10 + i)))
		[ "$status" = 200 ] || fail "$name: status $status: $(cat "$T/body")"
	done
	id=$(header x-request-id)
	record=$(explained "$id")
	echo "$record" | jq -e --arg name "$name" '.asked == "header" and .action == "route" and .asked_strategy == $name and
		all(.levels[]; .strategy == $name or .instead_of == $name)' >/dev/null || fail "$name was not used: $record"
	[ "$(header routing-strategy)" = "$name" ] || fail "$name: the client sees '$(header routing-strategy)'"
	[ -n "$(header x-infer-strategy)" ] || fail "$name: nothing says what it is made of"
	lacked=$(echo "$record" | jq -r 'if any(.levels[]; .degraded) then " (lacked its data)" else "" end')
	used+="$name: $(header x-infer-strategy)$lacked"$'\n'
done < <("$AGENT_PROGRAM" strategies --names)
say "$used"
[ "$count" -ge 19 ] || fail "only $count strategies"
[ "$(metric strategy_headers_total 'result="taken"')" = $((3 * count)) ] || fail "$(metrics | grep strategy_headers)"
grep -q '^least-request: running:1,load-balance:1' <<<"$used" || fail "nothing is blended into least-request"

[ "$(ask 'prefix-cache:2, least-request' 1)" = 200 ] || fail "a string is not served"
[ "$(header x-infer-strategy)" = "prefix:2,running:1,load-balance:1" ] || fail "a string is $(header x-infer-strategy)"
[ "$(header routing-strategy)" = "prefix-cache:2, least-request" ] || fail "a string is called $(header routing-strategy)"
[ "$(ask no-such-strategy 1)" = 200 ] || fail "an unknown strategy is not served"
[ "$(header x-infer-reason)" = unknown-strategy ] || fail "an unknown strategy is reason $(header x-infer-reason)"
[ -z "$(header routing-strategy)" ] || fail "an unknown strategy is said to be used"
[ "$(ask "" 1)" = 200 ] && [ "$(header x-infer-strategy)" = predicted-ttft:1 ] ||
	fail "the profile gives '$(header x-infer-strategy)'"

reloaded() { [ "$(metric config_reload_total 'result="ok"')" -ge "$1" ]; }
before=$(metric config_reload_total 'result="ok"')
echo '{"defaults": {"reject-unknown-strategy": true}}' >"$T/policy.json"
kill -HUP "${PIDS[agent]}"
wait_for 10 "the new policy" reloaded $((before + 1))
[ "$(ask no-such-strategy 1)" = 400 ] || fail "an unknown strategy is not refused"
jq -e '.error.code == "unknown-strategy"' "$T/body" >/dev/null || fail "the refusal says $(cat "$T/body")"
echo '{"defaults": {"lock-strategy": true, "reject-unknown-strategy": true}}' >"$T/policy.json"
kill -HUP "${PIDS[agent]}"
wait_for 10 "the new policy" reloaded $((before + 2))
[ "$(ask least-request 1)" = 200 ] || fail "a locked policy refuses"
explained "$(header x-request-id)" | jq -e '.asked == "locked" and all(.levels[]; .strategy == "least-work")' >/dev/null ||
	fail "a locked policy listens to a header"
[ "$(ask no-such-strategy 1)" = 200 ] || fail "a locked policy looks at the header's name"
[ "$(metric strategy_headers_total 'result="locked"')" = 2 ] || fail "$(metrics | grep strategy_headers)"
say "ok: $count strategies"
