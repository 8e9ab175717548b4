#!/bin/sh
# selftest.sh ENGINE_SIM PLAYER - the simulator and the player against each other: cached tokens
# grow over a conversation, faults come as asked for, clients that leave are noticed.
set -eu
engine_sim=$1 player=$2
folder=$(mktemp -d)
engine_pid=
second_pid=
finish() {
	[ -z "$engine_pid" ] || kill "$engine_pid" 2>/dev/null || :
	[ -z "$second_pid" ] || kill "$second_pid" 2>/dev/null || :
	rm -rf "$folder"
}
trap finish EXIT

fail() {
	echo "selftest: $*" >&2
	exit 1
}

start() { # NAME OPTION...: until it is ready; its pid is in $started, its addresses are in $folder/NAME
	name=$1
	shift
	"$engine_sim" --model tiny "$@" --ready-file "$folder/$name" >/dev/null &
	started=$!
	until [ -f "$folder/$name" ]; do
		kill -0 "$started" || fail "the engine '$name' has ended"
		sleep .01
	done
}

start ready --listen 127.0.0.1:0 --listen 127.0.0.1:0 --block-tokens 16 \
	--output-tokens 8 --speed 20 --max-running 4 --max-waiting 4 --keep-alive 5
engine_pid=$started
one=$(sed -n 1p "$folder/ready")
two=$(sed -n 2p "$folder/ready")

state() { # ENGINE NAME
	curl -s "$1/sim/state" | grep -o "\"$2\":[0-9]*" | cut -d: -f2
}

is() { # ENGINE NAME VALUE: at once, or within some seconds
	for _ in $(seq 500); do
		[ "$(state "$1" "$2")" != "$3" ] || return 0
		sleep .01
	done
	fail "$2 is $(state "$1" "$2"), not $3"
}

field() { # NAME FILE: its values, one a line
	grep -o "\"$1\":[-\"a-z0-9]*" "$2" | cut -d: -f2 | tr -d '"'
}

play() { # MODE OPTION...: the lines are in $folder/lines
	mode=$1
	shift
	"$player" "$mode" --to "$one" --model tiny --deadline 20 --output "$folder/lines" "$@" \
		2>"$folder/summary"
}

# A conversation: what was said before is cached, plain and as a stream.
for stream in "" --stream; do
	# shellcheck disable=SC2086 # an empty word is no option
	play conversations --count 1 --turns 3 --prompt-bytes 1024 --seed "1${#stream}" \
		--expect-all-200 $stream || fail "a conversation: $(cat "$folder/summary")"
	field cached_tokens "$folder/lines" | tr '\n' ' ' >"$folder/cached"
	[ "$(cat "$folder/cached")" = "0 256 528 " ] || fail "cached tokens: $(cat "$folder/cached")"
done
grep -q 'loyal share=1.000 of 2 later turns' "$folder/summary" || fail "turns went elsewhere"
is "$one" served 6
is "$one" running 0
is "$two" requests 0

# Faults, by header: what the client sees.
fault() { # FAULT STATUS ERROR OPTION...
	wanted="$2 $3"
	asked=$1
	shift 3
	play requests --count 1 --header "x-sim-fault: $asked" "$@" || :
	[ "$(field status "$folder/lines") $(field error "$folder/lines")" = "$wanted" ] ||
		fail "$asked: $(cat "$folder/lines")"
}
fault 500 500 none
fault 503:7 503 none
fault reset 0 reset
fault reset-mid 200 cut
fault reset-mid 200 cut --stream
fault hang 0 timeout --timeout .2
fault hang-mid 200 timeout --timeout 1 --stream
fault slow:50 200 none
fault close 200 none
play requests --count 2 --header 'x-sim-fault: slow:100'
[ "$(field total_us "$folder/lines" | grep -c '^[1-9][0-9]\{5,\}$')" = 2 ] || fail "both are slow"
play requests --count 9 --header 'x-sim-fault: close' --expect-all-200 || fail "none was sent again"
fault none 200 none
curl -s -D - -o "$folder/body" -H 'x-sim-fault: 429:7' -d '{"model":"tiny","prompt":"x"}' \
	"$one/v1/completions" | grep -qi '^retry-after: 7' || fail "no Retry-After"

# Faults, by order: as often as asked for, on the path asked for.
curl -s -d '{"fault":"503","count":2}' "$one/sim/fault" >"$folder/body"
play requests --count 4
[ "$(field status "$folder/lines" | tr '\n' ' ')" = "503 503 200 200 " ] || fail "two of four"
curl -s -d '{"fault":"500","path":"/health"}' "$one/sim/fault" >"$folder/body"
for path in health metrics; do
	curl -s -o "$folder/body" -w '%{http_code}\n' "$one/$path"
done >"$folder/codes"
[ "$(tr '\n' ' ' <"$folder/codes")" = "500 200 " ] || fail "health and metrics"
grep -q "^vllm:prefix_cache_hits_total{.*} $(state "$one" cached_tokens)\$" "$folder/body" || fail "hits on the metric page"
curl -s -d '{}' "$one/sim/reset" >"$folder/body"

# What reached the engine.
curl -s -H 'x-told: 1' -d '{"model":"tiny","prompt":"told"}' "$one/v1/completions" >"$folder/body"
curl -s "$one/sim/last" >"$folder/last"
grep -q '"body_bytes":32.*"x-told":"1"' "$folder/last" || fail "the last: $(cat "$folder/last")"
[ "$(curl -s -o "$folder/body" -w '%{http_code}' -d '{"model":"big"}' "$one/v1/completions")" = 404 ] ||
	fail "a model that is not there"

# Clients that leave, while they wait and while they read.
play requests --count 3 --parallel 3 --timeout .4 --max-tokens 8 --header 'x-sim-fault: slow:5000' || :
is "$one" aborted 3
curl -s -d '{}' "$one/sim/reset" >"$folder/body"
for stream in false true; do
	curl -s -m .5 -d "{\"model\":\"tiny\",\"prompt\":\"x\",\"min_tokens\":40000,\"stream\":$stream}" \
		"$one/v1/completions" >"$folder/body" && fail "it should go on for long"
done
is "$one" running 0
is "$one" aborted 2
is "$one" blocks_used 0

# More than there is room for.
play requests --count 12 --parallel 12 --body-bytes 120000 || :
field status "$folder/lines" | sort | uniq -c | tr -s ' \n' ' ' >"$folder/codes"
[ "$(cat "$folder/codes")" = " 8 200 4 503 " ] || fail "room for eight: $(cat "$folder/codes")"

# All at once, in a seeded order: nobody fails but those who should. Four at a time, so that there
# is a place also while the engine has not seen yet that somebody left.
play chaos --count 60 --parallel 4 --max-tokens 4 --stream --body-bytes 2048 --seed 7 --expect-all-200 ||
	fail "chaos: $(cat "$folder/summary")"
is "$one" running 0
is "$one" hanging 0

# Adapters: one slot, so that each other one has to be loaded; the page names who is asked for.
start adapted --listen 127.0.0.1:0 --adapter sql --adapter tone --lora-slots 1 --lora-load 100 \
	--step-us 20000 --output-tokens 40
second_pid=$started
three=$(cat "$folder/adapted")
adapted() { # MODEL [TOKENS]
	curl -s -o "$folder/body" -w '%{http_code}' -d "{\"model\":\"$1\",\"max_tokens\":${2:-1},\"prompt\":\"hello\"}" "$three/v1/completions"
}
curl -s "$three/v1/models" | grep -q '"id":"sql",.*"parent":"tiny"' || fail "adapters in the list of models"
for model in sql sql tone sql tiny; do
	[ "$(adapted $model)" = 200 ] || fail "$model: $(cat "$folder/body")"
done
[ "$(adapted none)" = 404 ] || fail "an adapter that there is not"
is "$three" lora_loads 3
adapted sql 40 >"$folder/code" &
asked=$!
page_says() { # RUNNING WAITING
	for _ in $(seq 500); do
		curl -s "$three/metrics" >"$folder/body"
		! grep -q "^vllm:lora_requests_info{max_lora=\"1\",running_lora_adapters=\"$1\",waiting_lora_adapters=\"$2\"} [0-9.]*\$" "$folder/body" || return 0
		sleep .01
	done
	fail "the page says: $(grep lora "$folder/body")"
}
page_says sql ""
adapted tone >"$folder/other" &
other=$!
page_says sql tone
wait "$asked" "$other"
page_says "" ""
is "$three" lora_loads 4
kill "$second_pid"
wait "$second_pid" || fail "the engine with adapters ended with $?"

# A side-car asks the engine that is named for the prompt, and its own for the answer.
start decoder --listen 127.0.0.1:0 --block-tokens 16 --output-tokens 8 --speed 20 --sidecar \
	--sidecar-timeout .3
second_pid=$started
three=$(cat "$folder/decoder")
curl -s -d '{}' "$one/sim/reset" >"$folder/body"
told() { # OPTION...: a prompt of 64 tokens to the decode engine
	curl -s "$@" -d "{\"model\":\"tiny\",\"max_tokens\":5,\"stream\":true,\"prompt\":\"$(printf %0256d 7)\"}" \
		"$three/v1/completions" >"$folder/body"
}
told -H "x-prefiller-host-port: $one" -H 'authorization: Bearer it'
is "$one" served 1
is "$one" generated_tokens 1
is "$three" generated_tokens 5
curl -s "$one/sim/last" >"$folder/last"
grep -q '"authorization":"Bearer it"' "$folder/last" && ! grep -q prefiller "$folder/last" || fail "the prefill leg: $(cat "$folder/last")"
curl -s -d '{"fault":"500","count":1}' "$one/sim/fault" >"$folder/body"
told -H "x-prefiller-host-port: $one"
curl -s -d '{"fault":"hang","count":1}' "$one/sim/fault" >"$folder/body"
told -H "x-prefiller-host-port: $one"
told -H "x-prefiller-host-port: 127.0.0.1:1"
told -H "x-prefiller-host-port: nobody"
told
is "$three" served 6
is "$three" prefill_asked 5
is "$three" prefill_failed 4
# A client that leaves takes the question along.
curl -s -d '{}' "$one/sim/reset" >"$folder/body"
curl -s -d '{"fault":"hang","count":1}' "$one/sim/fault" >"$folder/body"
told -H "x-prefiller-host-port: $one" -m .1 || :
is "$one" aborted 1
is "$one" hanging 0
is "$three" aborted 1
kill "$second_pid"
wait "$second_pid" || fail "the engine with a side-car ended with $?"
second_pid=

kill "$engine_pid"
wait "$engine_pid" || fail "engine_sim ended with $?"
engine_pid=
