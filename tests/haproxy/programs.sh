# programs.sh - sourced: the HAProxy programs to test with, in $programs.
# shellcheck shell=sh
#
# HAPROXY_PROGRAMS (blanks between) says which; else Debian's own, and the 3.x of HAPROXY3 or of
# get_haproxy3.sh if it is there.
PATH=$PATH:/usr/sbin
programs=${HAPROXY_PROGRAMS:-}
if [ -z "$programs" ]; then
	programs=$(command -v haproxy)
	for three in "${HAPROXY3:-}" "$(dirname "$0")/../../build/haproxy/trixie/haproxy"; do
		if [ -n "$three" ] && [ -x "$three" ]; then
			programs="$programs $three"
			break
		fi
	done
fi
