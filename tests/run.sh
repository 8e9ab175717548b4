#!/bin/bash
# run.sh - installs what is needed, builds, and runs every test. Safe to repeat; leaves no process behind.
#   QUICK=1        the default build only: no sanitizers, no fuzzing
#   FUZZ_SECONDS   seconds per fuzz target, 6
#   JOBS           how many at once, the number of cores
set -euo pipefail
[ $# = 0 ] || { sed -n '2,5s/^# \{0,1\}//p' "$0" && exit 2; }
cd "$(dirname "$0")/.."
jobs=${JOBS:-$(nproc)}
export PATH=$PATH:/usr/sbin

step() { printf '\n== %s (%s s since the start)\n' "$1" "$SECONDS"; }

step "packages"
tests/packages.sh all

step "a HAProxy 3.x beside Debian's own"
if HAPROXY3=$(tests/haproxy/get_haproxy3.sh); then
	export HAPROXY3
	"$HAPROXY3" -v | sed -n 1p
else
	echo "no HAProxy 3.x: its tests fail below" >&2
fi
haproxy -v | sed -n 1p

step "a Valkey beside Debian's own Redis"
if VALKEY=$(tests/redis/get_valkey.sh); then
	export VALKEY
else
	echo "no Valkey: its tests are skipped below" >&2
fi
redis-server -v

step "tools for the chart: helm from its source, Kubernetes' schemas"
tests/helm/get_tools.sh || echo "no helm: the chart's tests are skipped below" >&2

step "build, warnings are errors"
cmake --preset default >/dev/null
cmake --build --preset default -j "$jobs" | grep -v '^\[' || true

step "tests: units, corpora, arrows, purity, drift"
ctest --preset default -j "$jobs" -LE 'haproxy|system' --progress

# What runs in real time on a machine with others on it may be tried twice; ctest says so.
step "tests with HAProxy 2.6 and 3.x"
ctest --preset default -L haproxy --repeat until-pass:2

step "whole system: HAProxy, agent, engines"
ctest --preset default -j "$jobs" -L system --repeat until-pass:2

if [ -z "${QUICK:-}" ]; then
	step "units under AddressSanitizer and UBSan"
	cmake --preset asan >/dev/null
	cmake --build --preset asan -j "$jobs" | grep -v '^\[' || true
	ctest --preset asan -j "$jobs" -L unit --progress

	step "fuzzing, ${FUZZ_SECONDS:-6} s a target"
	FUZZ_SECONDS=${FUZZ_SECONDS:-6} .ci/ci.sh fuzz
fi
step "all tests passed"
