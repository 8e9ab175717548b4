#!/bin/sh
# get_haproxy3.sh [RELEASE] - puts the HAProxy 3.x of a newer Debian (trixie) below build/ and prints the path of a program that
# runs it; set HAPROXY3 to another 3.x where that does not work. Not for -W, which executes itself again.
exec "$(dirname "$0")/../newer_debian.sh" haproxy usr/sbin/haproxy "${1:-trixie}"
