#!/bin/bash
# quickstart.sh - HAProxy, the agent and engines on this machine, with a few conversations routed before your eyes.
#
#   haproxy/quickstart.sh [--once] [--engine HOST:PORT]... [--engines N] [--port PORT]
#     --once              ends by itself after the conversations; else everything runs until Ctrl-C
#     --engine HOST:PORT  a real engine (vLLM, SGLang, llama.cpp, ...) instead of simulated ones; repeatable
#     --engines N         how many simulated engines, 4
#     --port PORT         where HAProxy listens, 8080, or the next free one
#
# Installs what is missing, builds, and cleans up after itself: files in a temporary folder, processes by pid.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$here/..
PATH=$PATH:/usr/sbin
export no_proxy='*' NO_PROXY='*' # all that curl asks is on this machine, or an engine
once="" engines=4 real="" port=8080
while [ $# -gt 0 ]; do
	case $1 in
	--once) once=yes ;;
	--engine) real+="${real:+,}$2" && shift ;;
	--engines) engines=$2 && shift ;;
	--port) port=$2 && shift ;;
	*) sed -n '2,9s/^# \{0,1\}//p' "$0" && exit 2 ;;
	esac
	shift
done

scratch=$(mktemp -d)
pids=()
finish() {
	status=$?
	trap - EXIT INT TERM
	set +e
	if [ ${#pids[@]} -gt 0 ]; then
		kill "${pids[@]}" 2>/dev/null
		wait "${pids[@]}" 2>/dev/null
	fi
	if [ $status != 0 ] && [ $status != 130 ]; then
		echo "quickstart failed; the last lines of the logs:" >&2
		tail -n 15 "$scratch"/*.log >&2
	fi
	rm -rf "$scratch"
	[ $status = 130 ] && echo && echo "ended; nothing is left behind"
	exit $status
}
trap finish EXIT
trap 'exit 130' INT TERM

step() { printf '\n== %s\n' "$*"; }
busy() { # TCP or UDP
	(: <"/dev/tcp/127.0.0.1/$1") 2>/dev/null || grep -qs ":$(printf %04X "$1") " /proc/net/udp /proc/net/udp6
}
taken=" " # by us
free_port() { # FROM [COUNT]: sets found to the first of so many free ones in a row
	local try=$1 count=${2:-1} i
	for ((i = 0; i < count; i++)); do
		if [[ $taken == *" $((try + i)) "* ]] || busy $((try + i)); then
			try=$((try + i + 1)) i=-1
		fi
	done
	for ((i = 0; i < count; i++)); do taken+="$((try + i)) "; done
	found=$try
}
wait_for() { # WHAT COMMAND...
	local what=$1 until=$((SECONDS + 20))
	shift
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $until ] || { echo "waited in vain for $what" >&2 && exit 1; }
		sleep 0.05
	done
}

step "packages and build"
"$root/tests/packages.sh" run
[ -x "$root/build/quickstart/inference-spoa" ] || echo "building for the first time: about half a minute"
cmake -S "$root" -B "$root/build/quickstart" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DBUILD_TESTING=OFF >/dev/null
# How far it is; on a terminal in one line, else only what is no progress.
cmake --build "$root/build/quickstart" -j "$(nproc)" |
	if [ -t 1 ]; then awk '/^\[/ { printf "\r%s", $1 $2; fflush(); next } { print } END { printf "\r       \r" }'; else sed '/^\[/d'; fi
agent=$root/build/quickstart/inference-spoa
"$agent" version

free_port "$port"
[ "$found" = "$port" ] || echo "port $port is taken: HAProxy listens on $found"
port=$found
free_port 9000 && spop=$found
free_port 9514 && log=$found
free_port 9901 && admin=$found

if [ -n "$real" ]; then
	step "engines: $real"
	for engine in ${real//,/ }; do
		if list=$(curl -s --max-time 5 "http://$engine/v1/models") && names=$(jq -er '[.data[].id] | join(", ")' <<<"$list" 2>/dev/null); then
			echo "$engine serves $names"
		else
			echo "$engine does not answer /v1/models" >&2 && exit 1
		fi
	done
else
	free_port 29010 "$engines" && first=$found
	"$root/build/quickstart/tests/sim/engine_sim" --port-base "$first" --engines "$engines" --model demo \
		--prefill-rate 4000 --ready-file "$scratch/engines.ready" >"$scratch/engines.log" 2>&1 &
	pids+=($!)
	wait_for "the engines" test -s "$scratch/engines.ready"
	for ((i = 0; i < engines; i++)); do real+="${real:+,}127.0.0.1:$((first + i))"; done
	step "$engines simulated engines: $real"
fi

step "HAProxy at http://127.0.0.1:$port, the agent beside it"
export INFER_ETC=$scratch INFER_RUN=$scratch INFER_BIND=127.0.0.1:$port INFER_SPOP=127.0.0.1:$spop
export INFER_LOG=127.0.0.1:$log INFER_HTTP=127.0.0.1:$admin INFER_SEED=$RANDOM$RANDOM
cp "$here"/spoe*.cfg "$scratch/"
echo "# model backend" >"$scratch/models.map"
"$agent" haproxy config --instance "pool=$real" >"$scratch/haproxy.cfg"
haproxy -db -f "$scratch/haproxy.cfg" >"$scratch/haproxy.log" 2>&1 &
pids+=($!)
wait_for "HAProxy" test -S "$scratch/infer.sock"
"$agent" run --haproxy "$scratch/infer.sock" --spop "127.0.0.1:$spop" --log-listen "127.0.0.1:$log" \
	--admin "127.0.0.1:$admin" --ready-file "$scratch/agent.ready" 2>"$scratch/agent.log" &
pids+=($!)
wait_for "the agent" test -s "$scratch/agent.ready"
models() { curl -sf "http://127.0.0.1:$admin/v1/models" | jq -e '.data | length > 0'; }
wait_for "the engines' list of models" models
haproxy_sees_it() { [ "$(curl -so /dev/null -w '%{http_code}' "http://127.0.0.1:$port/v1/models")" = 200 ]; }
wait_for "HAProxy to see the agent" haproxy_sees_it
model=$(curl -sf "http://127.0.0.1:$admin/v1/models" | jq -r '.data[0].id')
echo "model: $model; no policy was needed: servers come from HAProxy, models from the engines"

step "conversations: each turn repeats all before it, so only the replica that holds it is fast"
cat <<TEXT
replica: whom the agent chose; served: who answered; why: "prefix" = it holds the prompt's beginning, "load" = it has least work
cached/prompt: tokens, by the engine's own word; TTFT: time to the first token, as the client sees it

TEXT
printf '%-22s %-4s %-8s %-8s %-8s %15s %9s\n' conversation turn replica served why "cached/prompt" "TTFT ms"
ask() { # FILE-OF-MESSAGES: prints "replica served why cached prompt ttft-ms"; the answer is in $scratch/answer
	jq -c --arg model "$model" \
		'{model: $model, messages: ., max_tokens: 24, stream: true, stream_options: {include_usage: true}}' \
		"$1" >"$scratch/body"
	curl -sSN --max-time 120 -D "$scratch/headers" -o "$scratch/events" -w '%{time_starttransfer}' \
		-H 'content-type: application/json' -H 'x-infer-debug: 1' --data-binary "@$scratch/body" \
		"http://127.0.0.1:$port/v1/chat/completions" >"$scratch/ttft"
	header() { # its value, or - if there is none
		local value
		value=$(tr -d '\r' <"$scratch/headers" | sed -n "s/^$1: //Ip" | tail -n 1)
		echo "${value:--}"
	}
	if ! grep -q '^HTTP/[0-9.]* 200' "$scratch/headers"; then
		echo "the answer to a prompt: $(head -n 1 "$scratch/headers" | tr -d '\r'): $(head -c 300 "$scratch/events")" >&2
		return 1
	fi
	sed -n 's/^data: \({.*\)/\1/p' "$scratch/events" >"$scratch/chunks"
	jq -rj '.choices[0].delta.content // empty' "$scratch/chunks" >"$scratch/answer"
	cached=$(jq -s '[.[].usage // empty] | last | .prompt_tokens_details.cached_tokens // "?"' "$scratch/chunks")
	prompt=$(jq -s '[.[].usage // empty] | last | .prompt_tokens // "?"' "$scratch/chunks")
	printf '%s %s %s %s %s %s\n' "$(header x-infer-replica)" "$(header x-infer-served)" "$(header x-infer-reason)" \
		"$cached" "$prompt" "$(awk '{ printf "%.0f", $1 * 1000 }' "$scratch/ttft")"
}
count=$(jq length "$here/quickstart.json")
turns=$(jq '.[0].turns | length' "$here/quickstart.json")
for ((c = 0; c < count; c++)); do
	jq -c "[{role: \"system\", content: .[$c].document}]" "$here/quickstart.json" >"$scratch/messages.$c"
done
for ((turn = 0; turn < turns; turn++)); do
	for ((c = 0; c < count; c++)); do
		title=$(jq -r ".[$c].title" "$here/quickstart.json")
		jq -c --arg ask "$(jq -r ".[$c].turns[$turn]" "$here/quickstart.json")" \
			'. + [{role: "user", content: $ask}]' "$scratch/messages.$c" >"$scratch/now"
		ask "$scratch/now" >"$scratch/line" # not in $(), where its failure would be lost
		read -r replica served why cached prompt ttft <"$scratch/line"
		printf '%-22s %-4s %-8s %-8s %-8s %15s %9s\n' "$title" $((turn + 1)) "$replica" "$served" "$why" \
			"$cached/$prompt" "$ttft"
		echo "$why $ttft" >>"$scratch/times"
		jq -c --rawfile answer "$scratch/answer" '. + [{role: "assistant", content: $answer}]' \
			"$scratch/now" >"$scratch/messages.$c"
	done
done
awk '{ n[$1 == "prefix"]++; sum[$1 == "prefix"] += $2 }
	END {
		if (n[0]) printf "\nfirst token: %.0f ms where nothing was cached (%d turns)", sum[0] / n[0], n[0]
		if (n[1]) printf ", %.0f ms where the prefix was held (%d turns)", sum[1] / n[1], n[1]
		print ""
	}' "$scratch/times"

step "what the agent knows: inference-spoa show replicas"
"$agent" show replicas --server "127.0.0.1:$admin"

if [ -n "$once" ]; then
	step "done; nothing is left behind"
	exit 0
fi
cat <<TEXT

== everything runs until Ctrl-C. Try:
curl -N http://127.0.0.1:$port/v1/chat/completions -H 'content-type: application/json' -H 'x-infer-debug: 1' -i \\
  -d '{"model":"$model","stream":true,"messages":[{"role":"user","content":"hello"}]}'
$agent show decisions --server 127.0.0.1:$admin
curl http://127.0.0.1:$admin/metrics
HAProxy's configuration: $scratch/haproxy.cfg
TEXT
wait -n "${pids[@]}" || true
echo "one of the programs has ended by itself" >&2
exit 1
