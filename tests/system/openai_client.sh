#!/bin/bash
# openai_client.sh - the official OpenAI client for Python sees what it expects, refusals too. Proves B044, P084; of B058 that there is one list.
. "$(dirname "$0")/lib.sh"
venv=$BUILD/../venv/openai
version=3.57.0
if [ "$("$venv/bin/python" -c 'import openai; print(openai.__version__)' 2>/dev/null)" != $version ]; then
	mkdir -p "${venv%/*}"
	{ python3 -m venv "$venv" && "$venv/bin/pip" install -q --disable-pip-version-check --timeout 20 --retries 1 openai==$version; } \
		>"$T/pip.log" 2>&1 || { say "skipped: pip cannot install openai $version here: $(tail -n 1 "$T/pip.log")" && exit 77; }
fi

start_engines 2 --model demo
write_haproxy_config
start_haproxy
cat >"$T/policy.json" <<-JSON
	{"defaults": {"reject-unknown-model": true, "hard-limits": {"max-running": 1}, "admit": {"max-running": 1}}}
JSON
start_agent --policy "$T/policy.json"
models_are_known() { curl -sf "http://127.0.0.1:$HTTP_PORT/v1/models" | jq -e '.data | length == 1'; }
wait_for 10 "the engines' list of models" models_are_known

"$venv/bin/python" "$HERE/openai_client.py" "http://127.0.0.1:$HTTP_PORT/v1" "http://127.0.0.1:$ENGINE_PORT/v1" demo
wait_for 5 "all slots to come back" all_slots_are_back

# How long a refusal takes, without the client's own time.
"$PLAYER" requests --to "127.0.0.1:$HTTP_PORT" --count 2 --parallel 2 --model demo --stream --max-tokens 400 --output "$T/busy" 2>"$T/player.log" &
PIDS[player]=$!
is_full() { [ "$(metric replica_inflight_requests)" = 2 ]; }
wait_for 5 "both engines to be busy" is_full
for _ in 1 2 3 4 5 6 7; do
	curl -s -o "$T/refusal" -w '%{http_code} %{time_total}\n' "http://127.0.0.1:$HTTP_PORT/v1/chat/completions" \
		-H 'content-type: application/json' -d '{"model":"demo","messages":[{"role":"user","content":"hello"}]}'
done | sort -k 2 -n | head -n 1 | tee "$T/fastest"
awk '{ exit !($1 == 429 && $2 < 0.02) }' "$T/fastest" || fail "the fastest of seven refusals: $(cat "$T/fastest")"
jq -e .error.type "$T/refusal" >/dev/null || fail "no error.type: $(cat "$T/refusal")"
wait "${PIDS[player]}" || fail "the two requests under way: $(cat "$T/player.log")"
unset "PIDS[player]"
wait_for 5 "all slots to come back" all_slots_are_back
say "ok"
