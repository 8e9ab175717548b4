#!/bin/bash
# with_store.sh redis|valkey TEST - runs a system test with Debian's Redis or with the Valkey that VALKEY names or get_valkey.sh got.
set -eu
case $1 in
redis) STORE_PROGRAM=${STORE_PROGRAM:-redis-server} ;;
valkey)
	STORE_PROGRAM=${VALKEY:-$(dirname "$0")/../../build/valkey-server/trixie/valkey-server}
	[ -x "$STORE_PROGRAM" ] || { echo "skipped: no Valkey; tests/redis/get_valkey.sh gets one"; exit 77; }
	;;
esac
command -v "$STORE_PROGRAM" >/dev/null || { echo "skipped: there is no $STORE_PROGRAM"; exit 77; }
export STORE_PROGRAM
exec "$2"
