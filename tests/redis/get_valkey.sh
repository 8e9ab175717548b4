#!/bin/sh
# get_valkey.sh [RELEASE] - puts the Valkey of a newer Debian (trixie) below build/ and prints the path of its server; the command
# line and the Sentinel of Debian 12's Redis speak to it.
exec "$(dirname "$0")/../newer_debian.sh" valkey-server usr/bin/valkey-server "${1:-trixie}"
