#!/bin/sh
# shipped.sh alone|asking DIR [SED-OPTION...] - the reference configuration as DIR/haproxy.cfg, made fit
# for a VTC.
#
# It listens on the socket VTC calls fe, names no place outside DIR, and does not check the engines,
# whose scripts count their requests. More edits come as options of sed. The line "# ANSWER" stands
# behind the rule that asks the agent. With "alone" that rule never asks: the test plays the agent's part.
set -eu
tree=$(cd "$(dirname "$0")/../.." && pwd)
asks=infer_up
[ "$1" = asking ] || asks="{ always_false }"
dir=$2
shift 2
sed -e 's|"${INFER_BIND}"|"fd@${fe}"|' \
	-e "s|presetenv INFER_ETC .*|presetenv INFER_ETC $tree/haproxy|" \
	-e "s|presetenv INFER_RUN .*|presetenv INFER_RUN $dir|" \
	-e "s|presetenv INFER_SPOP .*|presetenv INFER_SPOP unix@$dir/spop.sock|" \
	-e "s|presetenv INFER_HTTP .*|presetenv INFER_HTTP unix@$dir/http.sock|" \
	-e "s|presetenv INFER_LOG .*|presetenv INFER_LOG 127.0.0.1:9|" \
	-e 's|default-server check inter 2s|default-server inter 2s|' \
	-e "s|infer_asked infer_up\$|infer_asked $asks|" \
	-e 's|^    # refuse, only if.*|    # ANSWER|' \
	"$@" "$tree/haproxy/haproxy.cfg" >"$dir/haproxy.cfg"
