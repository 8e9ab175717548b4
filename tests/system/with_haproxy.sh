#!/bin/bash
# with_haproxy.sh 2|3 TEST - runs a system test with Debian's HAProxy (2) or the one that HAPROXY3 names (3).
set -eu
case $1 in
2) HAPROXY_PROGRAM=${HAPROXY_PROGRAM:-haproxy} ;;
3)
	[ -n "${HAPROXY3:-}" ] || { echo "skipped: HAPROXY3 names no HAProxy 3.x"; exit 77; }
	HAPROXY_PROGRAM=$HAPROXY3
	;;
esac
export HAPROXY_PROGRAM
exec "$2"
