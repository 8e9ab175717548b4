#!/bin/sh
# vtc.sh FILE [OPTION...] - runs one VTC file with every HAProxy (programs.sh); the first failure is shown.
set -eu
. "$(dirname "$0")/programs.sh"
file=$1
shift
tree=$(cd "$(dirname "$0")/../.." && pwd)
for program in $programs; do
	version=$("$program" -v | sed -n 1p)
	echo "== $(basename "$file") with $version"
	HAPROXY_PROGRAM=$program varnishtest -q -b 32M -t "${VTC_SECONDS:-30}" \
		-D "haproxy_dir=$tree/haproxy" -D "shipped=$tree/tests/haproxy/shipped.sh" "$@" "$file"
done
