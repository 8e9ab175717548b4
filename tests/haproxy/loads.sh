#!/bin/sh
# loads.sh PROGRAM - every file of haproxy/, and every text the generator can print, loads without a
# warning on every HAProxy; the shipped ones start for real, ring and all. Proves P030, P119.
set -eu
. "$(dirname "$0")/programs.sh"
tree=$(cd "$(dirname "$0")/../.." && pwd)
agent=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export INFER_ETC="$dir" INFER_RUN="$dir" INFER_BIND="unix@$dir/fe.sock" INFER_LOG=127.0.0.1:9 \
	INFER_SPOP="unix@$dir/spop.sock" INFER_HTTP="unix@$dir/http.sock" INFER_ENGINE=127.0.0.1:9
cp "$tree"/haproxy/*.cfg "$tree/haproxy/models.map" "$dir"

loads() {
	if ! "$1" -c -f "$2" >"$dir/out" 2>&1 || grep -qiE 'warning|alert' "$dir/out"; then
		echo "$2 does not load cleanly on $("$1" -v | sed -n 1p):" >&2
		cat "$dir/out" >&2
		exit 1
	fi
}

# A missing ring passes -c and stops the start.
starts() {
	"$1" -f "$2" -db >"$dir/out" 2>&1 &
	pid=$!
	for _ in $(seq 100); do
		[ -S "$dir/infer.sock" ] && break
		sleep .05
	done
	if ! kill -0 $pid 2>/dev/null || [ ! -S "$dir/infer.sock" ]; then
		echo "$2 does not start on $("$1" -v | sed -n 1p):" >&2
		cat "$dir/out" >&2
		exit 1
	fi
	kill $pid
	wait $pid 2>/dev/null || true
	rm -f "$dir/infer.sock" "$dir/fe.sock"
}

for program in $programs; do
	"$program" -v | sed -n 1p
	{
		"$agent" haproxy config | sed '/^frontend/,$d'
		printf 'frontend pasted\n    bind "${INFER_BIND}"\n'
		cat "$tree/haproxy/routing.cfg"
		"$agent" haproxy config | sed -n '/^# one instance/,$p'
	} >"$dir/pasted.cfg"
	for file in haproxy.cfg split/upper.cfg split/lower.cfg; do
		loads "$program" "$tree/haproxy/$file"
		starts "$program" "$tree/haproxy/$file"
	done
	loads "$program" "$dir/pasted.cfg"
	loads "$program" "$tree/haproxy/limits.cfg"
	versions="any 2.6"
	"$program" -v | grep -q 'version 2' || versions="$versions 3.0 3.2"
	for version in $versions; do
		for regex in any pcre posix; do
			for topology in combined upper lower; do
				"$agent" haproxy config --for "$version" --regex $regex --topology $topology >"$dir/made.cfg"
				loads "$program" "$dir/made.cfg"
			done
		done
	done
	"$agent" haproxy spoe --for 2.6 --ladder 64x2k >"$dir/spoe.cfg"
	"$agent" haproxy spoe --for 3.0 --ladder 64x2k >"$dir/spoe-3.cfg"
	loads "$program" "$tree/haproxy/haproxy.cfg"
	cp "$tree"/haproxy/spoe*.cfg "$dir"
done
