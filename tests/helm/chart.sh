#!/bin/bash
# chart.sh PROGRAM - the chart: lint, render, schemas, bad values, what is rendered. Needs the tools of get_tools.sh, and says so.
# Proves B061, P118.
#
# With kubeconform there (get_tools.sh kubeconform) everything is validated a second time, by another validator.
set -euo pipefail
cd "$(dirname "$0")/../.."
program=$(realpath "$1")
tools=${XDG_CACHE_HOME:-$HOME/.cache}/inference-spoa/chart-tools/bin
chart=helm/inference-spoa
[ -x "$tools/helm" ] && [ -x "$tools/python" ] || { echo "chart.sh: no helm: run tests/helm/get_tools.sh" >&2; exit 77; }
# No configuration of whoever runs this.
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
export HELM_CONFIG_HOME=$made HELM_CACHE_HOME=$made HELM_DATA_HOME=$made KUBECONFIG=/dev/null

"$tools/python" -W error::ResourceWarning tests/helm/chart.py "$tools/helm" "$program"

if [ -x "$tools/helm-docs" ]; then
	"$tools/helm-docs" --log-level error --chart-search-root "$chart" --dry-run >"$made/README.md"
	diff "$chart/README.md" "$made/README.md" || { echo "README.md is not what helm-docs says: run .ci/ci.sh chart_docs" >&2; exit 1; }
	echo "helm-docs: no difference"
fi

if [ -x "$tools/kubeconform" ]; then
	"$tools/python" tests/helm/schemas.py 1.31 "$made/schemas"
	for values in "$chart"/ci/*.yaml; do
		"$tools/helm" template r "$chart" -f "$values" --kube-version 1.31.0 --api-versions monitoring.coreos.com/v1 |
			"$tools/kubeconform" -strict -kubernetes-version 1.31.0 -skip ServiceMonitor,PodMonitor,PrometheusRule,ScaledObject \
				-schema-location "$made/schemas/{{ .ResourceKind }}{{ .KindSuffix }}.json"
	done
	echo "kubeconform: all valid"
fi
