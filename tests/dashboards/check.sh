#!/bin/bash
# check.sh PROGRAM - alerts and dashboard: promtool takes them, each alert fires when it should, and no metric is named that
# there is none of. Proves B056 in part.
set -euo pipefail
cd "$(dirname "$0")/../.."
program=$1
command -v promtool >/dev/null || { echo "check.sh: promtool is missing: apt-get install prometheus" >&2; exit 77; }
promtool check rules dashboards/alerts.yml
promtool test rules tests/dashboards/alerts_test.yml
jq -n -f dashboards/overview.jq | diff -q - dashboards/overview.json || { echo "overview.json is not overview.jq's: run .ci/generate.sh"; exit 1; }

made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
# Every expression of the dashboard, as rules, so that promtool reads them.
jq -r '[.panels[].targets[].expr | gsub("\\$__rate_interval"; "5m")] | to_entries
	| { groups: [{ name: "dashboard", rules: [.[] | { record: "panel:\(.key)", expr: .value }] }] }' \
	dashboards/overview.json >"$made/panels.yml"
promtool check rules "$made/panels.yml"

"$program" metrics | sed -n 's/^| `\([a-z_]*\)`.*/\1/p' | sort >"$made/known"
{ cat dashboards/alerts.yml; jq -r '.panels[].targets[].expr' dashboards/overview.json; } |
	grep -o -E '(^|[^:a-z_])inference_spoa_[a-z_]+' | grep -o 'inference_spoa_[a-z_]*' | sed 's/_bucket$//' | sort -u >"$made/used"
if unknown=$(comm -23 "$made/used" "$made/known") && [ -n "$unknown" ]; then
	echo "no such metrics: $unknown"
	exit 1
fi
echo "$(wc -l <"$made/used") metrics, all known"

# Each alert says where the runbook has it, and the runbook has no entry of an alert that is gone.
awk '$2 == "alert:" { name = $3 } $1 == "runbook:" { print name, $2 }' dashboards/alerts.yml | sort >"$made/links"
awk '$2 == "alert:" { print $3, "docs/runbook.md#" tolower($3) }' dashboards/alerts.yml | sort >"$made/wanted"
diff "$made/wanted" "$made/links" || { echo "alerts without their link to the runbook"; exit 1; }
sed -n 's/^## \(InferenceSpoa[A-Za-z]*\)$/\1/p' docs/runbook.md | sort >"$made/entries"
cut -d' ' -f1 "$made/wanted" | diff - "$made/entries" || { echo "docs/runbook.md and dashboards/alerts.yml have other alerts"; exit 1; }
echo "$(wc -l <"$made/links") alerts, each in the runbook"
