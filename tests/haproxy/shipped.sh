#!/bin/sh
# shipped.sh DIR [SED-OPTION...] - the reference configuration as DIR/haproxy.cfg, made fit for a VTC.
#
# It listens on the socket VTC calls fe, names no place outside DIR, and does not check the engines,
# whose scripts count their requests. More edits come as options of sed. The line "# ANSWER" stands
# behind the rule that asks the agent, for tests that play its part.
set -eu
tree=$(cd "$(dirname "$0")/../.." && pwd)
dir=$1
shift
sed -e 's|"${INFER_BIND}"|"fd@${fe}"|' \
	-e "s|presetenv INFER_ETC .*|presetenv INFER_ETC $tree/haproxy|" \
	-e "s|presetenv INFER_RUN .*|presetenv INFER_RUN $dir|" \
	-e "s|presetenv INFER_SPOP .*|presetenv INFER_SPOP unix@$dir/spop.sock|" \
	-e "s|presetenv INFER_HTTP .*|presetenv INFER_HTTP unix@$dir/http.sock|" \
	-e "s|presetenv INFER_LOG .*|presetenv INFER_LOG 127.0.0.1:9|" \
	-e 's|default-server check inter 2s|default-server inter 2s|' \
	-e 's|^    # refuse, only if.*|    # ANSWER|' \
	"$@" "$tree/haproxy/haproxy.cfg" >"$dir/haproxy.cfg"
