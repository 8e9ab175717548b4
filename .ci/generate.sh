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

# The tables of a page that is otherwise written by hand: what stands between its two marks.
spliced() {
	"$program" "$1" --markdown >"$2.table"
	awk -v table="$2.table" '/^<!-- end of the tables -->/ { skip = 0 }
		!skip
		/^<!-- begin of the tables/ { skip = 1; while ((getline line <table) > 0) print line }' "$2"
	rm -f "$2.table"
}

make docs/strategies.md spliced strategies docs/strategies.md
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
chart=helm/inference-spoa
make $chart/examples/kubernetes-ingress-values.yaml "$program" haproxy ingress --for 3.2
make $chart/examples/service-annotations.yaml "$program" haproxy ingress-service --for 3.2
make $chart/files/spoe.cfg cat haproxy/spoe.cfg
make $chart/files/spoe-3.cfg cat haproxy/spoe-3.cfg
make $chart/files/alerts.yml cat dashboards/alerts.yml
make docs/requirements.md .ci/requirements.sh
make dashboards/overview.json jq -n -f dashboards/overview.jq
make $chart/files/overview.json cat dashboards/overview.json

# Numbers of a simulation: the same on each machine but for the last digits.
replayed() {
	cat <<'END'
# All strategies, replayed

Made by `.ci/generate.sh` with `inference-spoa replay --markdown`; do not edit. The trace is the one the program makes up: 3000 requests of
conversations on top of six system prompts, over about 18 minutes. Eight engines are simulated, all alike: 10 000 prompt tokens per second,
64 sequences at once, 3000 blocks of 512 tokens of KV cache. Each strategy is asked for as a client's header would, so that what is blended into it is in.

END
	"$program" replay --markdown 2>/dev/null
	cat <<'END'

- *hit*: prompt tokens found in an engine's cache. *TTFT*, *E2E*: seconds to the first and to the last token.
- *load*: requests in flight on the fullest engine over the mean, when a request comes. *requests*: of the engine that got most, over the mean.
- *balanced after*: requests until each engine had between a half and one and a half of its part of the last 200; 0: never.
- *spilled*: holders of the prompt were too busy. *gate*: some engine had far too many. *degraded*: the strategy lacked its data and fell back.

Your own traffic answers better than this: `inference-spoa run --log-decisions all` writes what `inference-spoa replay FILE` reads; public traces can be read too
(`inference-spoa replay --help`). What other routers would make of a public trace is in [measured.md](measured.md).
END
}
make docs/replay.md replayed
