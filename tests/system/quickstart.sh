#!/bin/bash
# quickstart.sh - a newcomer's first command, from a clean copy of the tree: twice in a row, with its favourite ports taken, over an
# engine started by hand, and ended by Ctrl-C. Nothing is left behind. Proves B047.
. "$(dirname "$0")/lib.sh"
copy=$BUILD/../quickstart-copy # kept, since its build is
mkdir -p "$copy"
find "$copy" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
cd "$HERE/../.."
if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then git ls-files -z; else find . -path ./build -prune -o -type f -print0; fi |
	tar -c --null -T - | tar -x -C "$copy"
mkdir "$T/tmp"
export TMPDIR=$T/tmp

nothing_is_left() {
	[ -z "$(ls -A "$T/tmp")" ] || fail "files are left: $(find "$T/tmp" | head)"
	! grep -als -- "$T/tmp" /proc/[0-9]*/cmdline >"$T/left" || fail "processes are left: $(cat "$T/left")"
}
# Later turns go where the prefix is; two of twelve may miss it, since a busy machine can be later than HAProxy waits.
conversations_are_kept() { # OUTPUT
	awk 'NF > 6 && $(NF - 1) ~ /^[0-9]+\/[0-9]+$/ && $(NF - 5) > 1 { later++; if ($(NF - 2) == "prefix" && int($(NF - 1)) > 0) kept++ }
		END { printf "%d of %d later turns found their prefix cached\n", kept, later; exit !(later == 12 && kept >= 10) }' "$1" ||
		fail "later turns left their replica: $(cat "$1")"
}

for port in 8080 9000 9514 9901 29010; do # somebody else may have one of them: as good
	"$SIM" --listen "127.0.0.1:$port" --ready-file "$T/taken.$port" >"$T/taken.log" 2>&1 &
	PIDS[taken$port]=$!
	is_taken() { test -s "$T/taken.$port" || tcp_open "$port"; }
	wait_for 10 "port $port to be taken" is_taken
done
for run in first second; do
	begun=$SECONDS
	"$copy/haproxy/quickstart.sh" --once >"$T/$run.out" 2>"$T/$run.log" || fail "the $run run: $(cat "$T/$run.out" "$T/$run.log")"
	say "$run run: $((SECONDS - begun)) s"
	conversations_are_kept "$T/$run.out"
	nothing_is_left
done
grep -q "port 8080 is taken" "$T/first.out" || fail "it does not say that 8080 is taken"

start_engines 1 --model by-hand
setsid env --default-signal=INT "$copy/haproxy/quickstart.sh" --engine "127.0.0.1:$ENGINE_PORT" >"$T/endless.out" 2>"$T/endless.log" &
PIDS[quickstart]=$!
wait_for 60 "the endless form to be ready" grep -q "until Ctrl-C" "$T/endless.out"
grep "serves by-hand" "$T/endless.out" || fail "the engine's model is not named"
curl=$(sed -n '/^curl -N/,/hello/p' "$T/endless.out")
bash -c "${curl/curl/curl -s}" >"$T/hello" || fail "the command it shows fails: $curl"
grep -q "^data: \[DONE\]" "$T/hello" || fail "no answer to the command it shows: $(cat "$T/hello")"
grep -qi "^x-infer-served:" "$T/hello" || fail "no x-infer-served: $(cat "$T/hello")"
kill -INT -- "-${PIDS[quickstart]}" # as a terminal does: to the whole group
status=0
wait "${PIDS[quickstart]}" || status=$?
unset "PIDS[quickstart]"
[ $status = 130 ] || fail "after Ctrl-C it ended with $status: $(cat "$T/endless.log")"
grep -q "nothing is left behind" "$T/endless.out" || fail "no last word"
nothing_is_left
say "ended by Ctrl-C"

# What is no engine is said at once.
if "$copy/haproxy/quickstart.sh" --once --engine 127.0.0.1:1 >"$T/none.out" 2>&1; then fail "an engine that is not there was taken"; fi
grep -q "127.0.0.1:1 does not answer" "$T/none.out" || fail "which engine is not there is not said: $(cat "$T/none.out")"
nothing_is_left
say "ok"
