#!/bin/bash
# end_to_end.sh [bookworm|trixie] [TEST...] - tests/system, all of it or what is named, in a clean Debian that has the package installed: by its
# program, by that release's HAProxy, Redis and Valkey, on a host of its own (boot.sh). About a quarter of an hour for all.
. "$(dirname "$0")/../system/lib.sh"
. "$(dirname "$0")/deb.sh"
. "$TREE/tests/package/booted.sh"
[ $# = 0 ] || shift
make_deb
stores=redis
[ "$RELEASE" = bookworm ] || stores="redis valkey"
root_for tested systemd systemd-sysv dbus adduser init-system-helpers haproxy ${stores/valkey/valkey-server} redis-server redis-tools keepalived curl \
	iproute2 procps socat jq python3 openssl ca-certificates valgrind
programs=$BUILD
is_this_machines_release || programs=$BUILDER/src/build
mkdir -p "$ROOT/src" "$ROOT/build"
git -C "$TREE" archive HEAD | tar -x -C "$ROOT/src"
for program in $test_programs; do install -D "$programs/$program" "$ROOT/build/$program"; done
cp "$programs/CMakeCache.txt" "$ROOT/build/"
ln -s /usr/bin/inference-spoa "$ROOT/build/inference-spoa"
cp "$DEB" "$ROOT/root/"

# What fetches from elsewhere cannot run there, nor what builds.
all() { sed -n -E 's/^ *(system|store)_test\(([a-z_]+)[ )].*/\2/p' "$TREE/tests/system/CMakeLists.txt" | grep -v -x -E 'quickstart|openai_client'; }
is_a_store_test() { grep -q "^ *store_test($1 " "$TREE/tests/system/CMakeLists.txt"; }
[ $# -gt 0 ] || mapfile -t tests < <(all)
[ $# = 0 ] || tests=("$@")

boot
on_host sh -c 'cd /root && apt-get install ./inference-spoa_*.deb' >"$T/install.log" 2>&1 || fail "$(cat "$T/install.log")"
on_host systemctl stop inference-spoa.socket inference-spoa-log.socket inference-spoa haproxy
failed=""
run() { # NAME COMMAND...: twice if need be, as tests/run.sh does
	local began status try
	for try in 1 2; do
		status=0 began=$(now_ms)
		on_host env BUILD=/build "${@:2}" >"$T/run.log" 2>&1 || status=$?
		[ $status != 0 ] && [ $status != 77 ] || break
		[ $try = 2 ] || say "  $1: failed, once more: $(grep -m 1 FAILED "$T/run.log")"
	done
	case $status in
	0) say "  $1: passed, $((($(now_ms) - began) / 1000)) s" ;;
	77) say "  $1: skipped: $(tail -n 1 "$T/run.log")" ;;
	*)
		failed+=" $1"
		say "  $1: FAILED"
		sed 's/^/    /' "$T/run.log"
		;;
	esac
}
for test in "${tests[@]}"; do
	if is_a_store_test "$test"; then
		for store in $stores; do run "$test, $store" env STORE_PROGRAM=$store-server /src/tests/system/"$test".sh; done
	else
		run "$test" /src/tests/system/"$test".sh
	fi
done
[ -z "$failed" ] || fail "$RELEASE:$failed"
say "all ${#tests[@]} passed or were skipped"
