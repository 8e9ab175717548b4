#!/bin/sh
# generate.sh [PROGRAM] - everything in the tree that is made of tables, made again.
#
# Tests compare these files with their source byte for byte; whoever changed a table runs this. Golden
# files are the tests' own: GOLDEN_UPDATE=1 ctest --preset default -L unit, then read the difference.
set -eu
cd "$(dirname "$0")/.."
program=${1:-build/default/inference-spoa}
[ -x "$program" ] || {
	echo "generate.sh: $program: no such program; build it first: cmake --build --preset default" >&2
	exit 1
}

# A program that fails half way must not leave half a file.
make() {
	file=$1
	shift
	"$@" >"$file.new" || {
		rm -f "$file.new"
		exit 1
	}
	if cmp -s "$file.new" "$file"; then
		rm "$file.new"
	else
		mv "$file.new" "$file"
		echo "$file: made anew"
	fi
}

make policies/policy.schema.json "$program" schema
make docs/options.md "$program" options --markdown
make docs/metrics.md "$program" metrics
make docs/wire.md "$program" haproxy wire
make haproxy/haproxy.cfg "$program" haproxy config
make haproxy/routing.cfg "$program" haproxy routing
make haproxy/spoe.cfg "$program" haproxy spoe --for 2.6
make haproxy/spoe-3.cfg "$program" haproxy spoe --for 3.0
make haproxy/split/upper.cfg "$program" haproxy config --topology upper
make haproxy/split/lower.cfg "$program" haproxy config --topology lower
make docs/requirements.md .ci/requirements.sh
