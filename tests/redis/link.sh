#!/bin/bash
# link.sh - the link with a real store: unix socket, password and its change, ACL user, database; frozen, full, killed,
# restarted; fail-over by Sentinel; a cluster; TLS. Proves P107 and P108 with Redis or Valkey.
#
#   PROBE         the program link_probe
#   REDIS_SERVER  the server; otherwise what with_store.sh chose, or redis-server
. "$(dirname "$0")/../system/lib.sh"
PROBE=${PROBE:-$BUILD/tests/redis/link_probe}
REDIS_SERVER=${REDIS_SERVER:-${STORE_PROGRAM:-redis-server}}
command -v "$REDIS_SERVER" redis-cli >/dev/null || { echo "link.sh: no redis-server or no redis-cli" >&2; exit 77; }

store() { # NAME ARGUMENT...: in the foreground of its own folder
	mkdir -p "$T/$1.d"
	"$REDIS_SERVER" "${@:2}" --save '' --dir "$T/$1.d" >"$T/$1.log" 2>&1 3>&- &
	PIDS[$1]=$!
}
end() { kill "-$2" "${PIDS[$1]}" && { wait "${PIDS[$1]}" 2>/dev/null || true; unset "PIDS[$1]"; }; }
cli() { redis-cli --no-auth-warning "$@"; }
answers() { [ "$(cli "$@" PING 2>/dev/null)" = PONG ]; }

# probe URL [OPTION...]: what it tells goes to $T/told.log
probe() {
	[ -z "${PIDS[probe]:-}" ] || { exec 3>&-; wait "${PIDS[probe]}" || fail "link_probe"; }
	rm -f "$T/asked" && mkfifo "$T/asked"
	"$PROBE" "$@" <"$T/asked" >"$T/told.log" 2>&1 3>&- &
	PIDS[probe]=$!
	exec 3>"$T/asked"
	SEEN=0
}
ask() { echo "$*" >&3; }
unseen() { tail -n "+$((SEEN + 1))" "$T/told.log" | grep -n "$1" >"$T/found"; }
# told WHAT: a line of it, after those that were waited for
told() {
	wait_for 20 "$1" unseen "$1"
	SEEN=$((SEEN + $(sed -n '1s/:.*//p' "$T/found")))
}

S=$T/r.sock
start_store() { store main --port 0 --unixsocket "$S" --requirepass first --user agent on '>secret' '~infer:*' -@all +xadd +xread; }
say "unix socket, password from a file, database:"
start_store
wait_for 10 "a store" answers -s "$S" -a first
echo first >"$T/password"
probe "unix://$S?db=3" password-file="$T/password" deadline=500
told "^up $S"
ask SET infer:a 1
told "^reply ok OK"
[ "$(cli -s "$S" -a first -n 3 GET infer:a)" = 1 ] || fail "not in database 3"
cli -s "$S" -a first CLIENT LIST | has name=link_probe || fail "no client name"

say "password changed while it runs:"
cli -s "$S" -a first CONFIG SET requirepass second >/dev/null
cli -s "$S" -a second CLIENT KILL TYPE normal >/dev/null
told "^down auth .*WRONGPASS"
echo second >"$T/password"
told "^up"

say "frozen, full, killed, restarted:"
kill -STOP "${PIDS[main]}"
ask PING
told "^reply late"
told "^down silent"
told "^down connect-late"
kill -CONT "${PIDS[main]}"
told "^up"
cli -s "$S" -a second CONFIG SET maxmemory 1 >/dev/null
ask XADD infer:s '*' b 1
told "^reply oom"
cli -s "$S" -a second CONFIG SET maxmemory 0 >/dev/null
ask XADD infer:s '*' b 1
told "^reply ok"
ask XREAD BLOCK 20000 STREAMS infer:s '$'
waits() { cli -s "$S" -a second INFO clients | has blocked_clients:1; }
wait_for 10 "a reader that waits" waits
end main KILL
told "^reply lost"
told "^down closed\|^down reset"
told "^down refused"
echo first >"$T/password"
start_store
told "^up"

say "a user who may do little:"
probe "unix://agent:secret@$S"
told "^up"
ask XADD infer:s '*' b 1
told "^reply ok"
ask SET infer:a 2
told "^reply noperm"
ask XADD other '*' b 1
told "^reply noperm"
end main TERM

say "fail-over by Sentinel:"
PORTS=$(free_ports 11)
P1=$PORTS P2=$((PORTS + 1))
store one --port "$P1" --bind 127.0.0.1
store two --port "$P2" --bind 127.0.0.1 --replicaof 127.0.0.1 "$P1"
synced() { cli -p "$P1" INFO replication | has 'slave0:.*state=online'; }
wait_for 20 "a replica" synced
for i in 2 3 4; do
	printf 'port %s\nbind 127.0.0.1\nsentinel monitor ours 127.0.0.1 %s 2\nsentinel down-after-milliseconds ours 500\nsentinel failover-timeout ours 4000\n' \
		$((PORTS + i)) "$P1" >"$T/sentinel$i.conf"
	"$REDIS_SERVER" "$T/sentinel$i.conf" --sentinel >"$T/sentinel$i.log" 2>&1 3>&- &
	PIDS[sentinel$i]=$!
done
S2=$((PORTS + 2))
probe "redis+sentinel://127.0.0.1:$((PORTS + 5)),127.0.0.1:$S2,127.0.0.1:$((PORTS + 3))/ours" # nobody is at the first
told "^up 127.0.0.1:$P1"
ask SET infer:a 1
told "^reply ok"
agreed() { [ "$(cli -p "$S2" SENTINEL ckquorum ours 2>/dev/null | cut -c1-2)" = OK ] && [ "$(cli -p "$S2" SENTINEL replicas ours | grep -c '^slave-priority')" = 1 ]; }
wait_for 20 "three sentinels that know each other and the replica" agreed
from=$(now_ms)
end one KILL
told "^up 127.0.0.1:$P2"
say "primary killed, the other one found after $(($(now_ms) - from)) ms"
ask SET infer:a 2
told "^reply ok"
for i in 2 3 4; do end "sentinel$i" TERM; done
end two TERM

say "a cluster of two:"
for i in 6 7; do store "node$i" --port $((PORTS + i)) --bind 127.0.0.1 --cluster-enabled yes --cluster-port $((PORTS + i + 3)); done
N1=$((PORTS + 6)) N2=$((PORTS + 7))
wait_for 10 "nodes" answers -p "$N1"
wait_for 10 "nodes" answers -p "$N2"
cli -p "$N1" CLUSTER ADDSLOTSRANGE 0 8191 >/dev/null
cli -p "$N2" CLUSTER ADDSLOTSRANGE 8192 16383 >/dev/null
cli -p "$N1" CLUSTER MEET 127.0.0.1 "$N2" "$((N2 + 3))" >/dev/null
formed() { cli -p "$N1" CLUSTER INFO | has cluster_state:ok && cli -p "$N2" CLUSTER INFO | has cluster_state:ok; }
wait_for 20 "a cluster" formed
probe "redis://127.0.0.1:$N1"
told "^up 127.0.0.1:$N1"
ask SET '{foo}:a' 1 # slot 12182
told "^reply moved"
told "^down moved"
told "^up 127.0.0.1:$N2"
ask SET '{foo}:a' 1
told "^reply ok"
end node6 TERM
end node7 TERM

if command -v openssl >/dev/null; then
	say "TLS:"
	cd "$T"
	openssl req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -days 2 -subj /CN=ca >/dev/null 2>&1
	openssl req -newkey rsa:2048 -nodes -keyout s.key -out s.csr -subj /CN=store >/dev/null 2>&1
	openssl x509 -req -in s.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -out s.pem -extfile <(echo subjectAltName=IP:127.0.0.1) >/dev/null 2>&1
	P=$((PORTS + 8))
	store tls --port 0 --tls-port "$P" --bind 127.0.0.1 --tls-cert-file "$T/s.pem" --tls-key-file "$T/s.key" --tls-ca-cert-file "$T/ca.pem" --tls-auth-clients no
	ready() { grep -q 'Ready to accept' "$T/tls.log" || ! kill -0 "${PIDS[tls]}" 2>/dev/null; }
	wait_for 10 "a store with TLS" ready
	kill -0 "${PIDS[tls]}" 2>/dev/null || { say "this store has no TLS"; exit 0; }
	probe "rediss://127.0.0.1:$P" ca-file="$T/ca.pem"
	told "^up 127.0.0.1:$P"
	ask SET infer:a "$(head -c 3000 /dev/zero | tr '\0' x)"
	told "^reply ok"
	for _ in $(seq 50); do ask GET infer:a; done # more than is read at once
	for _ in $(seq 50); do told "^reply ok xxx"; done
	probe "rediss://localhost:$P" ca-file="$T/ca.pem"
	told "^down tls .*mismatch"
	probe "rediss://127.0.0.1:$P"
	told "^down tls .*cert"
	probe "redis://127.0.0.1:$P" # who speaks without
	told "^down"
fi
say "all well"
